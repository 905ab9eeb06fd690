//! Messages over the viewports: what was done, and what went wrong.

use crate::session::Phase;
use crate::studio::Studio;
use crate::theme;
use egui::{Align2, Area, Color32, Frame, Id, Order, RichText, Ui, Vec2};

impl Studio {
    pub(crate) fn show_messages(&mut self, ui: &Ui, seconds: f64) {
        for message in &mut self.messages {
            message.seconds -= seconds;
        }
        self.messages.retain(|message| message.seconds > 0.0);
        if !self.messages.is_empty() {
            ui.ctx().request_repaint_after_secs(0.2);
        }

        // what has stopped the simulation stays until that goes on
        let stopped = self.status.stopped.clone().filter(|_| self.status.phase == Phase::Ready);
        let failed = match &self.status.phase {
            Phase::Failed(error) if self.session.is_some() => Some(error.clone()),
            _ => None,
        };
        if self.messages.is_empty() && stopped.is_none() && failed.is_none() {
            return;
        }
        let mut closed = None;
        Area::new(Id::unique("messages"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_BOTTOM, Vec2::new(0.0, -150.0))
            .show(ui.ctx(), |ui| {
                ui.set_max_width(560.0);
                if let Some(error) = failed {
                    boxed(ui, &error, theme::ERROR, |_| {});
                }
                if let Some(error) = stopped {
                    boxed(ui, &error, theme::ERROR, |ui| {
                        if self.status.can_undo && ui.button("Undo the last edit").clicked() {
                            self.send(crate::session::Command::Undo);
                        }
                    });
                }
                for (i, message) in self.messages.iter().enumerate() {
                    let color = if message.is_error { theme::ERROR } else { theme::CACHED };
                    boxed(ui, &message.text, color, |ui| {
                        if ui.button("Close").clicked() {
                            closed = Some(i);
                        }
                    });
                }
            });
        if let Some(i) = closed {
            self.messages.remove(i);
        }
    }
}

/// A text in a box with a coloured edge, and what can be done about it.
fn boxed(ui: &mut Ui, text: &str, color: Color32, actions: impl FnOnce(&mut Ui)) {
    Frame::popup(ui.style()).stroke(egui::Stroke::new(1.5, color)).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.vertical(|ui| {
                ui.set_max_width(440.0);
                ui.label(RichText::new(text).size(13.0));
            });
            actions(ui);
        });
    });
}

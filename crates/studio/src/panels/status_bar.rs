//! The line at the bottom: what is going on, how fast, and what is wrong.

use crate::session::Phase;
use crate::studio::Studio;
use crate::theme;
use egui::{Align, Layout, Panel, RichText, Ui};

impl Studio {
    pub(crate) fn status_bar(&mut self, ui: &mut Ui) {
        Panel::bottom("status bar").show(ui, |ui| {
            ui.horizontal(|ui| {
                self.status_text(ui);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| self.status_numbers(ui));
            });
        });
    }

    /// What is going on, and what the mouse does.
    fn status_text(&self, ui: &mut Ui) {
        match &self.status.phase {
            _ if self.session.is_none() => {
                ui.label("Open a character, or drop a file on the window");
            }
            Phase::Opening => {
                // nothing that moves by itself: it would take the time of what is awaited
                ui.label(&self.status.doing);
            }
            Phase::Failed(_) => {
                ui.label(RichText::new("could not be opened").color(theme::ERROR));
            }
            Phase::Ready => {
                let waits = self.playback.is_waiting;
                match &self.status.stopped {
                    Some(_) => ui.label(RichText::new("the simulation has stopped").color(theme::ERROR)),
                    None if self.status.is_held => ui.label("held: let go to keep what the hand did"),
                    None if waits => ui.label(
                        RichText::new(format!(
                            "waiting for the simulation, which runs at {:.2} × real time",
                            self.status.realtime_factor
                        ))
                        .color(theme::warning(ui.visuals())),
                    ),
                    None => ui.label(self.tool.hint()),
                };
            }
        }
    }

    /// Speed, solver and inverted flesh, from right to left.
    fn status_numbers(&mut self, ui: &mut Ui) {
        if !self.is_ready() {
            return;
        }
        let mut told = None;
        let (status, document) = (&self.status, self.document());
        if !status.notes.is_empty() {
            let count = status.notes.len();
            let text = if count == 1 { "1 note".to_owned() } else { format!("{count} notes") };
            let notes = status.notes.join("\n\n");
            let label =
                ui.label(RichText::new(text).color(theme::warning(ui.visuals()))).on_hover_text(&notes);
            if label.interact(egui::Sense::click()).clicked() {
                told = Some(notes);
            }
        }
        let tets = document.map_or(0, |document| document.model.elements().count());
        if status.max_inverted > 0 && tets > 0 {
            let percent = 100.0 * status.max_inverted as f64 / tets as f64;
            let text = RichText::new(format!("{percent:.1} % inverted")).color(theme::warning(ui.visuals()));
            ui.label(text).on_hover_text(
                "The largest part of the flesh that was inverted at the same time. Below 1 % it is hardly seen; more of it asks for gentler edits, implicit steps or a finer cage.",
            );
        }
        let mut report = format!("{}, {} sub-steps a frame", status.solver, status.report.substeps);
        if status.report.in_contact > 0 {
            report += &format!(", {} contacts", status.report.in_contact);
        }
        ui.label(report).on_hover_text("How time steps are taken, and how many the last frame took");
        if status.is_simulating {
            ui.label(format!("{:.2} × real time", status.realtime_factor))
                .on_hover_text("Simulated seconds for each second that passes");
        }
        if let Some(notes) = told {
            self.tell(notes);
        }
        ui.label(format!("{tets} tets"));
    }
}

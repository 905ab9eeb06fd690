//! Windows over the studio: opening, saving, baking, rendering, help. None of them blocks what is below.

mod bake;
mod files;
mod help;
mod preferences;
mod render;
mod scene_text;

use crate::open_dialogs::Dialog;
use crate::studio::Studio;
use egui::Ui;

impl Studio {
    pub(crate) fn show_dialogs(&mut self, ui: &mut Ui) {
        for dialog in self.dialogs.open.clone() {
            match dialog {
                Dialog::Open => self.open_dialog(ui),
                Dialog::SaveTake => self.save_dialog(ui),
                Dialog::Bake => self.bake_dialog(ui),
                Dialog::Render => self.render_dialog(ui),
                Dialog::SceneText => self.scene_text_dialog(ui),
                Dialog::Preferences => self.preferences_dialog(ui),
                Dialog::Help => self.help_dialog(ui),
                Dialog::Tour => self.tour_dialog(ui),
            }
        }
        self.recovery_dialog(ui);
        self.follow_job(ui);
    }
}

/// A window with a title in the middle of the studio; whether it stays open.
pub(crate) fn window(ui: &Ui, title: &str, width: f32, contents: impl FnOnce(&mut Ui)) -> bool {
    let mut is_open = true;
    egui::Window::new(title)
        .open(&mut is_open)
        .collapsible(false)
        .resizable(false)
        .default_width(width)
        .pivot(egui::Align2::CENTER_CENTER)
        .default_pos(ui.ctx().content_rect().center())
        .show(ui.ctx(), |ui| {
            ui.set_width(width);
            contents(ui);
        });
    is_open
}

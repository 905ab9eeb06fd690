//! Theme, scale and mouse.

use super::window;
use crate::open_dialogs::Dialog;
use crate::preferences::Navigation;
use crate::studio::Studio;
use egui::{Slider, Theme, Ui};

impl Studio {
    pub(super) fn preferences_dialog(&mut self, ui: &Ui) {
        let before = self.preferences.clone();
        let stays = window(ui, "Preferences", 340.0, |ui| {
            ui.horizontal(|ui| {
                ui.label("Theme");
                ui.selectable_value(&mut self.preferences.theme, Theme::Dark, "dark");
                ui.selectable_value(&mut self.preferences.theme, Theme::Light, "light");
            });
            ui.add(
                Slider::new(&mut self.preferences.scale, 0.75..=2.5).step_by(0.05).text("size of everything"),
            );
            ui.horizontal(|ui| {
                ui.label("Mouse");
                ui.selectable_value(&mut self.preferences.navigation, Navigation::Blender, "as in Blender");
                ui.selectable_value(&mut self.preferences.navigation, Navigation::Maya, "as in Maya");
            });
        });
        if self.preferences != before {
            self.apply_preferences(ui.ctx());
            self.dialogs.preferences_changed = true;
        }
        // as soon as the mouse lets go: the dialog may be left by any way
        if self.dialogs.preferences_changed && !ui.input(|input| input.pointer.any_down()) {
            self.dialogs.preferences_changed = false;
            if let Err(error) = self.preferences.save() {
                self.warn(format!("preferences were not saved: {error}"));
            }
        }
        if !stays {
            self.dialogs.hide(Dialog::Preferences);
        }
    }

    /// Takes preferences into effect.
    pub fn apply_preferences(&self, context: &egui::Context) {
        crate::theme::apply(context, self.preferences.theme);
        context.set_zoom_factor(self.preferences.scale);
    }
}

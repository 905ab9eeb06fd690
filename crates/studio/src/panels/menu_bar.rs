//! The menus at the top.

use crate::open_dialogs::Dialog;
use crate::session::{Command, Phase};
use crate::studio::{Arrangement, Studio};
use egui::{Button, MenuBar, Panel, Ui};

impl Studio {
    pub(crate) fn menu_bar(&mut self, ui: &mut Ui) {
        Panel::top("menu bar").show(ui, |ui| {
            MenuBar::new().ui(ui, |ui| {
                ui.menu_button("File", |ui| self.file_menu(ui));
                ui.menu_button("Edit", |ui| self.edit_menu(ui));
                ui.menu_button("View", |ui| self.view_menu(ui));
                ui.menu_button("Take", |ui| self.take_menu(ui));
                ui.menu_button("Help", |ui| self.help_menu(ui));
                if let Some(document) = self.document() {
                    ui.separator();
                    let (version, versions) = self.status.version;
                    ui.label(format!("{}, version {version} of {versions}", document.name));
                }
            });
        });
    }

    fn file_menu(&mut self, ui: &mut Ui) {
        if item(ui, "Open…", "Ctrl+O", true) {
            self.dialogs.show(Dialog::Open);
        }
        ui.menu_button("Built-in characters", |ui| {
            for character in sinew_zoo::catalog() {
                if ui.button(character.name).on_hover_text(character.description).clicked() {
                    self.open(std::path::Path::new(character.name));
                    ui.close();
                }
            }
        });
        let recent = self.preferences.recent.clone();
        ui.add_enabled_ui(!recent.is_empty(), |ui| {
            ui.menu_button("Recent", |ui| {
                for path in &recent {
                    let name =
                        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                    if ui.button(name).on_hover_text(path.display().to_string()).clicked() {
                        self.open(path);
                        ui.close();
                    }
                }
            });
        });
        let can_build = self.is_ready() && self.can_build();
        if item(ui, "Make a character of this mesh", "J", can_build) {
            self.tool = crate::Tool::Joints;
            self.playback.is_playing = false;
            self.playback.go_to(0);
        }
        ui.separator();
        let is_ready = self.is_ready();
        if item(ui, "Save take as…", "Ctrl+S", is_ready) {
            self.dialogs.show(Dialog::SaveTake);
        }
        if item(ui, "Bake…", "Ctrl+B", is_ready) {
            self.dialogs.show(Dialog::Bake);
        }
        if item(ui, "Render…", "Ctrl+R", is_ready) {
            self.dialogs.show(Dialog::Render);
        }
        if item(ui, "Scene as text…", "", is_ready) {
            self.dialogs.show(Dialog::SceneText);
        }
        ui.separator();
        if item(ui, "Close", "Ctrl+W", self.session.is_some()) {
            self.close();
        }
        if item(ui, "Quit", "Ctrl+Q", true) {
            ui.ctx().send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    fn edit_menu(&mut self, ui: &mut Ui) {
        if item(ui, "Undo", "Ctrl+Z", self.status.can_undo) {
            self.send(Command::Undo);
        }
        if item(ui, "Redo", "Ctrl+Shift+Z", self.status.can_redo) {
            self.send(Command::Redo);
        }
        ui.separator();
        if item(ui, "Preferences…", "", true) {
            self.dialogs.show(Dialog::Preferences);
        }
    }

    fn view_menu(&mut self, ui: &mut Ui) {
        for (arrangement, name, key) in [
            (Arrangement::One(0), "One viewport", "F5"),
            (Arrangement::Four, "Four viewports", "F6"),
            (Arrangement::Comparison, "Plain skinning beside flesh", "F7"),
        ] {
            if choice(ui, self.arrangement == arrangement, name, key) {
                self.arrangement = arrangement;
            }
        }
        ui.separator();
        self.overlay_checks(ui);
        ui.separator();
        ui.checkbox(&mut self.panels.outliner, "Outliner");
        ui.checkbox(&mut self.panels.inspector, "Inspector");
        ui.checkbox(&mut self.panels.curves, "Curves");
        ui.separator();
        if item(ui, "Frame selection", "F", self.is_ready()) {
            self.frame_selection();
        }
    }

    /// What is drawn on and in the surfaces.
    pub(crate) fn overlay_checks(&mut self, ui: &mut Ui) {
        let has_bones = self.document().is_some_and(|document| !document.model.rigs().is_empty());
        let has_files = self.document().is_some_and(|document| !document.opened.characters.is_empty());
        ui.add_enabled(has_bones, egui::Checkbox::new(&mut self.overlays.bones, "Bones"));
        ui.checkbox(&mut self.overlays.cage, "Cage");
        if ui.checkbox(&mut self.overlays.strain, "Strain").changed() && self.overlays.strain {
            self.overlays.softness = false;
        }
        let softness = egui::Checkbox::new(&mut self.overlays.softness, "Softness");
        if ui.add_enabled(has_files, softness).changed() && self.overlays.softness {
            self.overlays.strain = false;
        }
        ui.checkbox(&mut self.overlays.contacts, "Contact forces");
        let has_flesh =
            self.document().is_some_and(|document| document.opened.flesh_bodies().contains(&true));
        ui.add_enabled(has_flesh, egui::Checkbox::new(&mut self.show_skin, "Skin over flesh")).on_hover_text(
            "Elastic skin in place of the surface of flesh: it slides, and folds where flesh is compressed",
        );
        ui.checkbox(&mut self.show_ghosts, "Ghosts of the next second");
    }

    fn take_menu(&mut self, ui: &mut Ui) {
        let is_ready = self.is_ready();
        let name = if self.status.is_simulating { "Pause the simulation" } else { "Simulate" };
        if item(ui, name, "", is_ready) {
            self.send(Command::Simulate(!self.status.is_simulating));
        }
        let seconds = self.status.seconds + 2.0;
        if item(ui, "Make it two seconds longer", "", is_ready) {
            self.send(Command::Extend(seconds));
        }
        if item(ui, "Simulate again from the start", "", is_ready && !self.is_recorded_take()) {
            self.reopen_with(|_| {});
        }
    }

    fn help_menu(&mut self, ui: &mut Ui) {
        if item(ui, "Keys and mouse", "F1", true) {
            self.dialogs.show(Dialog::Help);
        }
        if item(ui, "Tour", "", true) {
            self.dialogs.show(Dialog::Tour);
        }
    }

    /// Whether there is something to play and edit.
    pub(crate) fn is_ready(&self) -> bool {
        self.session.is_some() && self.status.phase == Phase::Ready
    }
}

/// An entry of a menu with its key; whether it was chosen.
fn item(ui: &mut Ui, text: &str, key: &str, is_enabled: bool) -> bool {
    let chosen = ui.add_enabled(is_enabled, Button::new(text).shortcut_text(key)).clicked();
    if chosen {
        ui.close();
    }
    chosen
}

/// One of several entries that exclude each other; whether it was chosen.
fn choice(ui: &mut Ui, is_chosen: bool, text: &str, key: &str) -> bool {
    let chosen = ui.add(Button::selectable(is_chosen, text).shortcut_text(key)).clicked();
    if chosen {
        ui.close();
    }
    chosen
}

//! The scene as text, to copy into a file.

use super::window;
use crate::open_dialogs::Dialog;
use crate::session::Document;
use crate::studio::Studio;
use egui::{ScrollArea, TextEdit, Ui};
use sinew_io::SceneFile;
use sinew_io::tables::CharacterTable;

impl Studio {
    pub(super) fn scene_text_dialog(&mut self, ui: &Ui) {
        let Some(document) = self.document() else { return };
        let mut text = self.scene_text(&document);
        let stays = window(ui, "Scene as text", 560.0, |ui| {
            ui.weak("What a scene file of this take says; `sinew simulate` plays it. The keys are explained in docs/scenes.md.");
            ScrollArea::vertical().max_height(380.0).show(ui, |ui| {
                ui.add(
                    TextEdit::multiline(&mut text)
                        .code_editor()
                        .desired_width(f32::INFINITY)
                        .interactive(true),
                );
            });
            if ui.button("Copy").clicked() {
                ui.ctx().copy_text(text.clone());
            }
        });
        if !stays {
            self.dialogs.hide(Dialog::SceneText);
        }
    }

    /// The scene with its edits: the text of a scene file, or one that names the input.
    pub(crate) fn scene_text(&self, document: &Document) -> String {
        let input = &self.request.input;
        let is_scene = input.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
        let read = if is_scene {
            std::fs::read_to_string(input).ok().and_then(|text| SceneFile::of_text(&text).ok())
        } else {
            None
        };
        let mut file = match read {
            Some(read) => read.value,
            None => SceneFile {
                seconds: Some(self.status.seconds),
                fps: Some(document.fps),
                character: document
                    .opened
                    .characters
                    .iter()
                    .map(|_| CharacterTable {
                        file: Some(input.to_string_lossy().into_owned()),
                        jiggle: self.request.choice.jiggle,
                        softness_points: self
                            .request
                            .choice
                            .softness
                            .as_ref()
                            .map(|path| path.to_string_lossy().into_owned()),
                        animation: self.request.choice.animation.clone(),
                        ..CharacterTable::default()
                    })
                    .collect(),
                ..SceneFile::default()
            },
        };
        file.edit.clone_from(&self.status.edits);
        let text = file.to_text();
        if document.opened.characters.is_empty() && !is_scene {
            let name = &document.name;
            return format!(
                "# the built-in scene '{name}': `sinew zoo export {name} -o {name}` writes it whole; its edits are\n\n{text}"
            );
        }
        text
    }
}

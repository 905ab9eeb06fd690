//! What is in the scene: bodies, bones, muscles, obstacles and edits.

use super::timeline::shortened;
use crate::selection::Selection;
use crate::session::Document;
use crate::studio::Studio;
use egui::{CollapsingHeader, Panel, ScrollArea, Ui};
use sinew_skeleton::Skeleton;

impl Studio {
    pub(crate) fn outliner(&mut self, ui: &mut Ui) {
        Panel::left("outliner").default_size(164.0).size_range(140.0..=420.0).show(ui, |ui| {
            ui.take_available_width();
            ui.add_space(4.0);
            ui.heading("Scene");
            let Some(document) = self.document() else {
                ui.weak("Nothing is open");
                return;
            };
            ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
                let selected = self.selection == Selection::Scene;
                if ui.selectable_label(selected, &document.name).clicked() {
                    self.selection = Selection::Scene;
                }
                self.bodies(ui, &document);
                self.bones(ui, &document);
                self.muscles(ui, &document);
                self.obstacles(ui, &document);
                self.edit_list(ui, &document);
            });
        });
    }

    fn entry(&mut self, ui: &mut Ui, selection: Selection, name: &str) {
        if ui.selectable_label(self.selection == selection, name).clicked() {
            self.selection = selection;
        }
    }

    fn bodies(&mut self, ui: &mut Ui, document: &Document) {
        CollapsingHeader::new("Bodies").default_open(true).show(ui, |ui| {
            for (i, body) in document.model.bodies().iter().enumerate() {
                self.entry(ui, Selection::Body(i), &body.name);
            }
        });
    }

    fn bones(&mut self, ui: &mut Ui, document: &Document) {
        for (rig, skeleton) in document.model.rigs().iter().enumerate() {
            let title = format!("Bones of {}", skeleton.name);
            CollapsingHeader::new(title).id_salt(("bones", rig)).show(ui, |ui| {
                self.bones_below(ui, rig, &skeleton.skeleton, None, 0);
            });
        }
    }

    /// The children of a bone, each with its own below it.
    fn bones_below(
        &mut self,
        ui: &mut Ui,
        rig: usize,
        skeleton: &Skeleton,
        parent: Option<usize>,
        depth: usize,
    ) {
        let bones: Vec<(usize, String)> = skeleton
            .bones()
            .iter()
            .enumerate()
            .filter(|(_, bone)| bone.parent.map(|parent| parent.index()) == parent)
            .map(|(i, bone)| (i, bone.name.clone()))
            .collect();
        for (i, name) in bones {
            ui.horizontal(|ui| {
                ui.add_space(8.0 * depth.min(8) as f32);
                self.entry(ui, Selection::Bone(rig, i), &name);
            });
            self.bones_below(ui, rig, skeleton, Some(i), depth + 1);
        }
    }

    fn muscles(&mut self, ui: &mut Ui, document: &Document) {
        if document.model.muscles().is_empty() {
            return;
        }
        CollapsingHeader::new("Muscles").default_open(true).show(ui, |ui| {
            for (i, muscle) in document.model.muscles().iter().enumerate() {
                self.entry(ui, Selection::Muscle(i), &muscle.name);
            }
        });
    }

    fn obstacles(&mut self, ui: &mut Ui, document: &Document) {
        if document.model.obstacles().is_empty() {
            return;
        }
        CollapsingHeader::new("Obstacles").default_open(true).show(ui, |ui| {
            for (i, obstacle) in document.model.obstacles().iter().enumerate() {
                self.entry(ui, Selection::Obstacle(i), &obstacle.name);
            }
        });
    }

    /// The edits, in the order of their times.
    fn edit_list(&mut self, ui: &mut Ui, document: &Document) {
        CollapsingHeader::new("Edits").default_open(true).show(ui, |ui| {
            if self.status.edits.is_empty() {
                ui.weak("None yet: pull, bend or change something");
            }
            for (i, edit) in self.status.edits.clone().iter().enumerate() {
                let text = format!("{:.2} s  {}", edit.time, crate::edit_words::summary(edit));
                let response =
                    ui.selectable_label(self.selection == Selection::Edit(i), shortened(&text, 40));
                if response.on_hover_text(shortened(&edit.to_line(), 300)).clicked() {
                    self.selection = Selection::Edit(i);
                    self.playback.is_playing = false;
                    let frame = (edit.time * document.fps).round() as usize;
                    self.playback.go_to(frame.min(self.status.frames.saturating_sub(1)));
                }
            }
        });
    }
}

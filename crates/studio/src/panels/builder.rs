//! The panel and the mouse of a character that is being built.

use crate::builder::{self, Builder};
use crate::selection::Selection;
use crate::session::Document;
use crate::studio::Studio;
use crate::theme;
use egui::{Color32, ComboBox, DragValue, PointerButton, Response, Stroke, TextEdit, Ui};

/// How near the mouse must be to a joint (points).
const NEAR: f32 = 12.0;

impl Studio {
    /// Whether joints can be placed in what is open: a body without bones.
    pub(crate) fn can_build(&self) -> bool {
        self.document()
            .is_some_and(|document| document.model.rigs().is_empty() && !document.model.bodies().is_empty())
    }

    /// The joints so far, and what can be done with them.
    pub(crate) fn builder_panel(&mut self, ui: &mut Ui, document: &Document) {
        ui.heading("New character");
        ui.weak("Click into the body: a joint is placed in the middle of the flesh there, connected to the selected one. Drag joints to move them.");
        let mut removed = None;
        let names: Vec<String> = self.builder.joints.iter().map(|joint| joint.name.clone()).collect();
        for i in 0..self.builder.joints.len() {
            ui.horizontal(|ui| {
                let is_selected = self.builder.selected == Some(i);
                if ui
                    .selectable_label(is_selected, format!("{}", i + 1))
                    .on_hover_text("The next joint is connected to this one")
                    .clicked()
                {
                    self.builder.selected = Some(i);
                }
                let field =
                    ui.add(TextEdit::singleline(&mut self.builder.joints[i].name).desired_width(72.0));
                field.widget_info(|| {
                    egui::WidgetInfo::labeled(egui::Role::TextInput, true, format!("Name of joint {}", i + 1))
                });
                let parent = self.builder.joints[i].parent;
                let text = parent.map_or("world".to_owned(), |parent| names[parent].clone());
                let chosen =
                    ComboBox::from_id_salt(("parent", i)).width(64.0).selected_text(text).show_ui(ui, |ui| {
                        for (other, name) in names.iter().enumerate() {
                            if self.builder.is_below(other, i) {
                                continue;
                            }
                            if ui.selectable_label(parent == Some(other), name).clicked() {
                                self.builder.joints[i].parent = Some(other);
                            }
                        }
                    });
                chosen.response.widget_info(|| {
                    egui::WidgetInfo::labeled(
                        egui::Role::ComboBox,
                        true,
                        format!("Parent of joint {}", i + 1),
                    )
                });
                if ui.small_button("x").on_hover_text("Remove this joint").clicked() {
                    removed = Some(i);
                }
            });
        }
        if let Some(i) = removed {
            self.builder.remove(i);
        }
        ui.separator();
        if self.builder.cage_tets == 0 {
            self.builder.cage_tets = document.model.elements().count().max(200);
        }
        ui.horizontal(|ui| {
            ui.label("Cage of");
            ui.add(DragValue::new(&mut self.builder.cage_tets).speed(50).range(50..=500_000).suffix(" tets"));
        });
        let mass: f64 = document.model.bodies().iter().map(|body| body.mass).sum();
        ui.weak(format!("{mass:.2} kg of flesh"));
        let can = self.builder.joints.len() > 1;
        if ui.add_enabled(can, egui::Button::new("Build the character")).clicked() {
            self.build_character();
        }
    }

    /// Writes the character and opens it.
    pub fn build_character(&mut self) {
        let Some(document) = self.document() else { return };
        let folder = self.autosave.characters();
        match self.builder.write(&document, &folder) {
            Ok(path) => {
                let builder = std::mem::take(&mut self.builder);
                self.open(&path);
                // what was built can be posed
                self.builder = Builder {
                    joints: builder.joints,
                    keys: builder.keys,
                    built: builder.built,
                    cage_tets: builder.cage_tets,
                    ..Builder::default()
                };
                self.tool = crate::Tool::Select;
                self.overlays.bones = true;
            }
            Err(error) => self.warn(error),
        }
    }

    /// Places and moves joints.
    pub(crate) fn place_joints(&mut self, slot: usize, response: &Response) {
        let Some(at) = response.interact_pointer_pos() else { return };
        let view = &self.viewports[slot];
        if response.drag_started_by(PointerButton::Primary) {
            let pressed = response.ctx.input(|input| input.pointer.press_origin()).unwrap_or(at);
            self.builder.dragged = self.builder.joint_at(view, pressed, NEAR);
        }
        if let Some(joint) = self.builder.dragged {
            let place = self.builder.joints[joint].place;
            self.builder.joints[joint].place = view.at_depth_of(at, &place);
            self.builder.selected = Some(joint);
            if response.drag_stopped() {
                self.builder.dragged = None;
            }
        } else if response.clicked() {
            match (self.builder.joint_at(view, at, NEAR), builder::middle_under(&self.shown, view, at)) {
                (Some(joint), _) => self.builder.selected = Some(joint),
                (None, Some(place)) => self.builder.add(place),
                (None, None) => {
                    self.tell("Click where the body is closed, so that there are two sides to be between")
                }
            }
        }
    }

    /// Draws joints and the bones between them.
    pub(crate) fn draw_builder(&self, ui: &Ui, slot: usize) {
        let view = &self.viewports[slot];
        let painter = ui.painter_at(view.rect);
        let place = |i: usize| view.project(&self.builder.joints[i].place);
        for (i, joint) in self.builder.joints.iter().enumerate() {
            if let (Some(from), Some(to)) = (joint.parent.and_then(place), place(i)) {
                painter.line_segment([from, to], Stroke::new(4.0, Color32::from_black_alpha(140)));
                painter.line_segment([from, to], Stroke::new(2.0, Color32::from_rgb(245, 238, 214)));
            }
        }
        for i in 0..self.builder.joints.len() {
            if let Some(at) = place(i) {
                let fill = if self.builder.selected == Some(i) { theme::ACCENT } else { Color32::WHITE };
                painter.circle(at, 6.0, fill, Stroke::new(1.5, Color32::from_black_alpha(200)));
            }
        }
    }

    /// Key poses of a bone of a character that was built here.
    pub(crate) fn pose_panel(&mut self, ui: &mut Ui, bone: &str) {
        if self.builder.built.is_none() || !matches!(self.selection, Selection::Bone(..)) {
            return;
        }
        ui.separator();
        ui.strong("Key pose");
        let angles = &mut self.posed_angles;
        ui.horizontal(|ui| {
            for angle in angles.iter_mut() {
                ui.add(DragValue::new(angle).speed(1.0).range(-180.0..=180.0).suffix("°").max_decimals(0));
            }
        });
        let angles = *angles;
        if ui
            .button("Key it at this frame")
            .on_hover_text("Turns of the bone about x, y and z; a new take begins")
            .clicked()
        {
            let time = self.time();
            self.builder.set_key(time, bone, angles);
            self.build_character();
        }
    }
}

//! The properties of what is selected. A change takes effect from the shown frame on, as an edit.

use super::skin::skin_of;
use crate::drafts::{InspectorDraft, SkinDraft};
use crate::selection::Selection;
use crate::session::Document;
use crate::studio::Studio;
use egui::{ComboBox, DragValue, Grid, Panel, ScrollArea, Slider, SliderClamping, Ui};
use sinew_io::tables::{
    BodyEditTable, CharacterEditTable, CurveKey, DriveMode, KeyedNumber, MaterialChoice, MaterialTable,
    ObstacleEditTable, SolverChoice, SolverTable,
};
use sinew_io::{EditTable, SceneFile};

/// Modes of a character, with what they are called and mean.
const MODES: [(DriveMode, &str, &str); 6] = [
    (DriveMode::OneWay, "follows its motion", "Bones follow the animation, and flesh follows them"),
    (DriveMode::TwoWay, "free root", "The root is free, and flesh pushes back"),
    (DriveMode::Ragdoll, "limp", "All joints are limp"),
    (DriveMode::Reach, "reaches", "Joints follow the motion, bent so that goals are met"),
    (DriveMode::Servo, "servo", "Torques track the motion, joints give way"),
    (DriveMode::Direct, "direct", "Joints accelerate such that goals are met as well as physics allows"),
];

impl Studio {
    pub(crate) fn inspector(&mut self, ui: &mut Ui) {
        Panel::right("inspector").default_size(276.0).size_range(220.0..=460.0).show(ui, |ui| {
            // as wide whatever is selected, so that the picture stays where it is
            ui.take_available_width();
            ui.add_space(4.0);
            let Some(document) = self.document() else {
                ui.heading("Properties");
                ui.weak("Nothing is selected");
                return;
            };
            self.begin_draft(&document);
            ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| match self.selection {
                _ if self.tool == crate::Tool::Joints => self.builder_panel(ui, &document),
                _ if self.tool == crate::Tool::Paint => self.paint_panel(ui, &document),
                Selection::Scene => self.inspect_scene(ui, &document),
                Selection::Body(body) => self.inspect_body(ui, &document, body),
                Selection::Bone(rig, bone) => self.inspect_bone(ui, &document, rig, bone),
                Selection::Muscle(muscle) => self.inspect_muscle(ui, &document, muscle),
                Selection::Obstacle(obstacle) => self.inspect_obstacle(ui, &document, obstacle),
                Selection::Edit(edit) => self.inspect_edit(ui, edit),
            });
        });
    }

    /// Takes over the values of what is selected, once.
    fn begin_draft(&mut self, document: &Document) {
        // what was changed last stays, until it is undone or something else is selected
        let is_edit = matches!(self.selection, Selection::Edit(_));
        let revision = if is_edit || self.status.can_redo { self.status.revision } else { 0 };
        let of = Some((self.selection, revision));
        if self.dialogs.draft.of == of {
            return;
        }
        let gravity = document.model.gravity();
        let mut draft = InspectorDraft {
            of,
            // no zero has a sign
            gravity: gravity.map(|g| g + 0.0).into(),
            seconds: self.status.seconds,
            jiggle: self.choice().jiggle.unwrap_or(1.0),
            cage_tets: document.model.elements().count() / document.model.bodies().len().max(1),
            friction: 1.0,
            ..InspectorDraft::default()
        };
        match self.selection {
            Selection::Body(body) => {
                if let Some(body) = document.model.bodies().get(body) {
                    (draft.young, draft.damping) = (1e-3 * body.material.young, body.material.damping_ratio);
                }
                draft.skin = skin_of(document, body).map(SkinDraft::of).unwrap_or_default();
            }
            Selection::Muscle(muscle) => draft.muscle = self.muscle_draft(document, muscle),
            Selection::Obstacle(obstacle) => {
                draft.place = self.placed_at(document, obstacle).unwrap_or_default();
            }
            Selection::Edit(edit) => {
                if let Some(edit) = self.status.edits.get(edit) {
                    draft.text = edit_text(edit);
                    draft.metaphor = edit.metaphor.first().cloned().unwrap_or_default();
                }
            }
            _ => {}
        }
        self.dialogs.draft = draft;
    }

    /// Says that there is nothing to land on, where a character is let go.
    pub(super) fn warn_of_falls(&mut self, document: &Document, mode: DriveMode) {
        let falls =
            matches!(mode, DriveMode::TwoWay | DriveMode::Ragdoll | DriveMode::Servo | DriveMode::Direct);
        if falls && document.model.obstacles().is_empty() {
            self.tell("There is no floor to land on: select the scene and add one");
        }
    }

    /// An edit at the shown frame.
    fn edit_now(&self) -> EditTable {
        EditTable { time: self.time(), ..EditTable::default() }
    }

    fn inspect_scene(&mut self, ui: &mut Ui, document: &Document) {
        ui.heading(&document.name);
        Grid::new("facts").num_columns(2).show(ui, |ui| {
            let mass: f64 = document.model.bodies().iter().map(|body| body.mass).sum();
            for (name, value) in [
                ("flesh", format!("{mass:.2} kg")),
                ("tets", document.model.elements().count().to_string()),
                (
                    "bones",
                    document
                        .model
                        .rigs()
                        .iter()
                        .map(|rig| rig.skeleton.bones().len())
                        .sum::<usize>()
                        .to_string(),
                ),
                ("frames a second", format!("{}", document.fps)),
            ] {
                ui.weak(name);
                ui.label(value);
                ui.end_row();
            }
        });

        self.inspect_world(ui);
        self.inspect_whole_take(ui, document);
        if !self.is_recorded_take() {
            self.add_obstacles(ui, document);
        }
    }

    /// Gravity and the solver, from the shown frame on.
    fn inspect_world(&mut self, ui: &mut Ui) {
        ui.separator();
        ui.strong("From this frame on");
        let mut gravity = self.dialogs.draft.gravity;
        ui.label("Gravity (m/s²)");
        let mut done = false;
        ui.horizontal(|ui| {
            for (value, axis) in gravity.iter_mut().zip(["x ", "y ", "z "]) {
                let field = DragValue::new(value).prefix(axis).speed(0.1).range(-100.0..=100.0);
                done |= finished(&ui.add(field.max_decimals(2)));
            }
        });
        self.dialogs.draft.gravity = gravity;
        if done {
            self.add_edit(EditTable { gravity: Some(gravity.map(KeyedNumber::from)), ..self.edit_now() });
        }
        ui.horizontal(|ui| {
            ui.label("Steps");
            for (choice, name) in [(SolverChoice::Explicit, "explicit"), (SolverChoice::Implicit, "implicit")]
            {
                if ui.button(name).clicked() {
                    let solver = Some(SolverTable { kind: Some(choice), ..SolverTable::default() });
                    self.add_edit(EditTable { solver, ..self.edit_now() });
                }
            }
        });
    }

    /// Its length, and what begins a new take.
    fn inspect_whole_take(&mut self, ui: &mut Ui, document: &Document) {
        ui.separator();
        ui.strong("The whole take");
        ui.horizontal(|ui| {
            ui.label("Length");
            let response = ui.add(
                DragValue::new(&mut self.dialogs.draft.seconds)
                    .speed(0.1)
                    .range(0.1..=3600.0)
                    .clamp_existing_to_range(false)
                    .suffix(" s"),
            );
            if finished(&response) {
                self.send(crate::session::Command::Extend(self.dialogs.draft.seconds));
            }
        });
        if self.is_recorded_take() {
            ui.weak("A recorded take keeps its cage and its characters.");
            return;
        }
        ui.weak("These begin a new take:");
        let draft = &mut self.dialogs.draft;
        let is_character = !document.opened.characters.is_empty();
        let (mut begins, (jiggle, tets)) = (false, (&mut draft.jiggle, &mut draft.cage_tets));
        ui.add_enabled_ui(is_character, |ui| {
            begins |= finished(
                &ui.add(slider(jiggle, 0.0..=3.0).text("jiggle"))
                    .on_hover_text("How much flesh swings: 0 hardly, 1 as flesh does, 2 as in a cartoon"),
            );
        });
        let has_cage = document.model.elements().count() > 0;
        if has_cage {
            ui.horizontal(|ui| {
                ui.label("Cage of");
                // a coarser one than can be chosen is no change by itself
                let field = DragValue::new(tets).speed(50).range(50..=500_000).clamp_existing_to_range(false);
                begins |= finished(&ui.add(field.suffix(" tets")));
            });
        }
        let (jiggle, tets) = (self.dialogs.draft.jiggle, self.dialogs.draft.cage_tets);
        if begins {
            self.reopen_with(|request| {
                request.choice.jiggle = if is_character { Some(jiggle) } else { request.choice.jiggle };
                request.cage_tets = if has_cage { Some(tets) } else { request.cage_tets };
            });
        }
        let mut self_contact = self.request.self_contact;
        if ui.checkbox(&mut self_contact, "flesh collides with itself").changed() {
            self.reopen_with(|request| request.self_contact = self_contact);
        }
        if !document.model.rigs().is_empty() {
            self.choose_lead(ui);
        }
    }

    /// Who drives the skeletons from the start.
    fn choose_lead(&mut self, ui: &mut Ui) {
        use sinew_control::DriveMode as Lead;
        let leads = [
            (None, "as the scene says"),
            (Some(Lead::TwoWay), "free root, on a floor"),
            (Some(Lead::Ragdoll), "limp, on a floor"),
        ];
        let chosen =
            leads.iter().find(|(lead, _)| *lead == self.choice().lead).map_or("other", |(_, name)| name);
        let mut picked = None;
        ComboBox::from_label("bones").selected_text(chosen).show_ui(ui, |ui| {
            for (lead, name) in leads {
                if ui.selectable_label(lead == self.choice().lead, name).clicked() {
                    picked = Some(lead);
                }
            }
        });
        if let Some(lead) = picked {
            self.reopen_with(|request| request.choice.lead = lead);
        }
    }

    fn inspect_body(&mut self, ui: &mut Ui, document: &Document, index: usize) {
        if let Some(skin) = skin_of(document, index) {
            return self.inspect_skin(ui, document, index, skin);
        }
        let Some(body) = document.model.bodies().get(index) else { return };
        ui.heading(&body.name);
        ui.label(format!("{:.3} kg, {:.2} l, {} tets", body.mass, 1e3 * body.volume, body.tets.len()));
        if let Some(frequency) = body.frequency {
            let settles =
                if body.damping_rate > 0.0 { 3.0 / body.damping_rate * document.fps } else { f64::INFINITY };
            ui.weak(format!("swings at {frequency:.1} Hz, settles in about {settles:.0} frames"));
        }
        ui.separator();
        ui.strong("From this frame on");
        let draft = &mut self.dialogs.draft;
        let young = ui.add(
            slider(&mut draft.young, 0.1..=1000.0).logarithmic(true).text("stiffness (kPa)").max_decimals(2),
        );
        let young = young.on_hover_text("Young's modulus: fat has 2 to 6, muscle 10 to 60, rubber 100");
        let damping = ui.add(slider(&mut draft.damping, 0.0..=1.0).text("damping"));
        let damping = damping
            .on_hover_text("Fraction of critical damping: jelly 0.05, fat 0.15 to 0.25, flexed muscle 0.5");
        let friction = ui.add(slider(&mut draft.friction, 0.0..=3.0).text("× friction"));
        let (kpa, ratio, factor) = (draft.young, draft.damping, draft.friction);
        let of = |edit: BodyEditTable| vec![BodyEditTable { name: body.name.clone(), ..edit }];
        if finished(&young) || finished(&damping) {
            let table =
                MaterialTable { young: Some(1e3 * kpa), damping: Some(ratio), ..MaterialTable::default() };
            let material = Some(MaterialChoice::Table(table));
            self.add_edit(EditTable {
                body: of(BodyEditTable { material, ..BodyEditTable::default() }),
                ..self.edit_now()
            });
        }
        if finished(&friction) {
            let friction_factor = Some(KeyedNumber::from(factor));
            self.add_edit(EditTable {
                body: of(BodyEditTable { friction_factor, ..BodyEditTable::default() }),
                ..self.edit_now()
            });
        }
        ui.separator();
        ui.strong("Over time");
        ui.weak("A curve from here on, to shape below:");
        let time = self.time();
        let curve = || {
            let keys = vec![CurveKey::Row([time, 1.0]), CurveKey::Row([time + 1.0, 0.5])];
            Some(KeyedNumber::Curve(sinew_io::tables::CurveTable { keys, ..Default::default() }))
        };
        ui.horizontal(|ui| {
            if ui.button("stiffness").clicked() {
                let edit = BodyEditTable { stiffness_factor: curve(), ..BodyEditTable::default() };
                self.selection =
                    Selection::Edit(self.add_edit(EditTable { body: of(edit), ..self.edit_now() }));
                self.panels.curves = true;
            }
            if ui.button("damping").clicked() {
                let edit = BodyEditTable { damping_factor: curve(), ..BodyEditTable::default() };
                self.selection =
                    Selection::Edit(self.add_edit(EditTable { body: of(edit), ..self.edit_now() }));
                self.panels.curves = true;
            }
        });
    }

    fn inspect_bone(&mut self, ui: &mut Ui, document: &Document, rig: usize, index: usize) {
        let Some(rig) = document.model.rigs().get(rig) else { return };
        let Some(bone) = rig.skeleton.bones().get(index) else { return };
        ui.heading(&bone.name);
        ui.label(format!("bone of {}, {:.3} kg with the flesh on it", rig.name, bone.mass.mass));
        if let Some(parent) = bone.parent {
            ui.weak(format!("on {}", rig.skeleton.bones()[parent.index()].name));
        }
        ui.separator();
        ui.strong("From this frame on");
        ui.label(format!("{} …", rig.name));
        for (mode, name, hint) in MODES {
            if ui.button(name).on_hover_text(hint).clicked() {
                let character = vec![CharacterEditTable {
                    name: rig.name.clone(),
                    mode: Some(mode),
                    ..CharacterEditTable::default()
                }];
                self.add_edit(EditTable { character, ..self.edit_now() });
                self.warn_of_falls(document, mode);
            }
        }
        if bone.parent.is_some() {
            self.pose_panel(ui, &bone.name);
        }
    }

    fn inspect_obstacle(&mut self, ui: &mut Ui, document: &Document, index: usize) {
        let Some(obstacle) = document.model.obstacles().get(index) else { return };
        ui.heading(&obstacle.name);
        ui.separator();
        ui.strong("From this frame on");
        let friction = ui.add(slider(&mut self.dialogs.draft.friction, 0.0..=3.0).text("× friction"));
        let edit = ObstacleEditTable { name: obstacle.name.clone(), ..ObstacleEditTable::default() };
        if finished(&friction) {
            let friction_factor = Some(KeyedNumber::from(self.dialogs.draft.friction));
            let obstacle = vec![ObstacleEditTable { friction_factor, ..edit.clone() }];
            self.add_edit(EditTable { obstacle, ..self.edit_now() });
        }
        if ui.button("Stop its motion").clicked() {
            let obstacle = vec![ObstacleEditTable { still: Some(true), ..edit }];
            self.add_edit(EditTable { obstacle, ..self.edit_now() });
        }
        ui.weak("Drag its arrows to move it while time runs; at the first frame one that was added here is placed by them.");
        self.inspect_placed(ui, document, index);
    }

    fn inspect_edit(&mut self, ui: &mut Ui, index: usize) {
        let Some(edit) = self.status.edits.get(index).cloned() else {
            // one that is being made is there in a moment, one that was undone is gone
            ui.weak("No edit is selected");
            return;
        };
        ui.heading(format!("Edit at {:.2} s", edit.time));
        ui.label(crate::edit_words::summary(&edit));
        if !edit.metaphor.is_empty() {
            ui.separator();
            self.inspect_metaphor(ui, index, &edit);
        }
        ui.separator();
        ui.horizontal(|ui| {
            if ui.button("Curves").on_hover_text("Shape its numbers over time (C)").clicked() {
                self.panels.curves = true;
            }
            if ui.button("Remove").on_hover_text("Remove this edit (Delete)").clicked() {
                self.remove_edit(index);
            }
        });
        ui.collapsing("As text", |ui| {
            ui.add(
                egui::TextEdit::multiline(&mut self.dialogs.draft.text)
                    .code_editor()
                    .desired_rows(6)
                    .desired_width(f32::INFINITY),
            );
            if ui.button("Apply").clicked() {
                match SceneFile::of_text(&format!("[[edit]]\n{}\n", self.dialogs.draft.text)) {
                    Ok(read) if read.value.edit.len() == 1 => {
                        self.replace_edit(index, read.value.edit[0].clone())
                    }
                    Ok(_) => self.warn("one edit has the keys of one [[edit]]"),
                    Err(errors) => self.warn(errors.to_string()),
                }
            }
        });
    }

    /// The numbers of a metaphor; handles in the viewport change the same.
    fn inspect_metaphor(&mut self, ui: &mut Ui, index: usize, edit: &EditTable) {
        let table = &mut self.dialogs.draft.metaphor;
        let mut done = false;
        let mut strength = match &table.magnitude {
            Some(KeyedNumber::Constant(value)) => *value,
            Some(KeyedNumber::Curve(curve)) => strongest(&curve.keys),
            None => 1.0,
        };
        let before = strength;
        let response = ui.add(slider(&mut strength, -3.0..=3.0).text("magnitude"));
        done |= finished(&response.on_hover_text("1 is clearly visible; below 0 it does the opposite"));
        if strength != before {
            scale(&mut table.magnitude, before, strength);
        }
        for (name, value) in
            [("near", &mut table.near), ("far", &mut table.far), ("radius", &mut table.radius)]
        {
            if let Some(value) = value {
                done |= finished(
                    &ui.add(
                        DragValue::new(value)
                            .speed(0.002)
                            .range(0.0..=100.0)
                            .prefix(format!("{name} "))
                            .suffix(" m")
                            .max_decimals(3),
                    ),
                );
            }
        }
        let mut net = table.net.unwrap_or(false);
        if ui.checkbox(&mut net, "may move the whole body").changed() {
            table.net = net.then_some(true);
            done = true;
        }
        if done {
            let mut changed = edit.clone();
            changed.metaphor[0] = table.clone();
            self.replace_edit(index, changed);
        }
        ui.weak("Drag its handles in a viewport.");
    }
}

/// The value of the key that is farthest from 0.
fn strongest(keys: &[CurveKey]) -> f64 {
    let value = |key: &CurveKey| match key {
        CurveKey::Row([_, value]) => *value,
        CurveKey::Table(table) => table.value,
    };
    keys.iter().map(value).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

/// Multiplies a number over time such that what was `before` is `after`.
fn scale(number: &mut Option<KeyedNumber>, before: f64, after: f64) {
    match number {
        Some(KeyedNumber::Curve(curve)) if before != 0.0 => {
            let factor = after / before;
            for key in &mut curve.keys {
                match key {
                    CurveKey::Row([_, value]) => *value *= factor,
                    CurveKey::Table(table) => {
                        table.value *= factor;
                        table.slope = table.slope.map(|rate| rate * factor);
                        for handle in [&mut table.left, &mut table.right].into_iter().flatten() {
                            handle[1] *= factor;
                        }
                    }
                }
            }
        }
        Some(KeyedNumber::Curve(_)) => {}
        _ => *number = Some(KeyedNumber::Constant(after)),
    }
}

/// The keys of an edit, as they are below `[[edit]]`.
fn edit_text(edit: &EditTable) -> String {
    let text = SceneFile { edit: vec![edit.clone()], ..SceneFile::default() }.to_text();
    text.trim().strip_prefix("[[edit]]").unwrap_or(&text).trim().to_owned()
}

/// A slider that leaves a value alone that is beyond its ends: what is shown is no change.
pub(super) fn slider<Number: egui::emath::Numeric>(
    value: &mut Number,
    range: core::ops::RangeInclusive<Number>,
) -> Slider<'_> {
    Slider::new(value, range).clamping(SliderClamping::Edits)
}

/// Whether a value was changed and let go.
pub(super) fn finished(response: &egui::Response) -> bool {
    response.drag_stopped()
        || (response.changed() && !response.dragged())
        || (response.lost_focus() && response.changed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magnitude_of_a_curve_is_that_of_its_strongest_key() {
        let keys = vec![CurveKey::Row([0.0, 0.0]), CurveKey::Row([1.0, -2.0]), CurveKey::Row([2.0, 1.0])];
        assert_eq!(strongest(&keys), -2.0);
        let mut number =
            Some(KeyedNumber::Curve(sinew_io::tables::CurveTable { keys, ..Default::default() }));
        scale(&mut number, -2.0, 3.0);
        let Some(KeyedNumber::Curve(curve)) = number else { panic!("no curve") };
        assert_eq!(curve.keys[1..], [CurveKey::Row([1.0, 3.0]), CurveKey::Row([2.0, -1.5])]);
    }

    #[test]
    fn the_text_of_an_edit_reads_back() {
        let edit = EditTable {
            time: 0.5,
            gravity: Some([0.0, -1.6, 0.0].map(KeyedNumber::from)),
            ..EditTable::default()
        };
        let read = SceneFile::of_text(&format!("[[edit]]\n{}\n", edit_text(&edit))).unwrap();
        assert_eq!(read.value.edit, [edit]);
    }
}

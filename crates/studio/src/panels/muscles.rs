//! The properties of a muscle: what it is, how far it is activated, and how strong it is.

use super::inspector::{finished, slider};
use crate::drafts::MuscleDraft;
use crate::selection::Selection;
use crate::session::Document;
use crate::studio::Studio;
use egui::{Grid, Ui};
use sinew_control::Curve;
use sinew_io::tables::{CurveKey, CurveTable, KeyedNumber};
use sinew_io::{EditTable, edit_tables};
use sinew_sim::Muscle;
use sinew_take::{Scene, SceneChange, SceneEdit};
use std::collections::BTreeMap;

/// How long a new activation rises and falls (s).
const RISE: f64 = 0.5;

impl Studio {
    /// The numbers of a muscle at the shown frame.
    pub(super) fn muscle_draft(&self, document: &Document, index: usize) -> MuscleDraft {
        let Some(muscle) = document.model.muscles().get(index) else { return MuscleDraft::default() };
        let scale = if is_line(muscle) { 1.0 } else { 1e-3 };
        MuscleDraft {
            activation: self.activation_at(document, index),
            strength: scale * muscle.curve.max_stress,
            optimal: muscle.curve.optimal_stretch,
            passive: muscle.curve.passive,
        }
    }

    pub(super) fn inspect_muscle(&mut self, ui: &mut Ui, document: &Document, index: usize) {
        let Some(muscle) = document.model.muscles().get(index) else { return };
        ui.heading(&muscle.name);
        show_facts(ui, document, muscle);
        ui.separator();
        self.inspect_activation(ui, document, index, &muscle.name);
        if self.is_recorded_take() {
            return;
        }
        ui.separator();
        ui.strong("The whole take");
        ui.weak("These begin a new take:");
        let draft = &mut self.dialogs.draft.muscle;
        let strength = if is_line(muscle) {
            slider(&mut draft.strength, 1.0..=1e5).logarithmic(true).text("force (N)")
        } else {
            slider(&mut draft.strength, 1.0..=2000.0).logarithmic(true).text("stress (kPa)")
        };
        let hint = "At full activation and the best length: skeletal muscle has 200 to 400 kPa";
        let mut done = finished(&ui.add(strength.max_decimals(1)).on_hover_text(hint));
        let optimal = slider(&mut draft.optimal, 0.5..=2.0).text("best length").max_decimals(2);
        let hint = "The length at which it is strongest, as a fraction of that at rest";
        done |= finished(&ui.add(optimal).on_hover_text(hint));
        let passive = slider(&mut draft.passive, 0.0..=10.0).text("passive").max_decimals(2);
        done |= finished(&ui.add(passive).on_hover_text("How much it resists being stretched, as a factor"));
        if done {
            self.change_muscle(document, index, muscle);
        }
    }

    /// Its activation from the shown frame on, and over time.
    fn inspect_activation(&mut self, ui: &mut Ui, document: &Document, index: usize, name: &str) {
        let now = self.activation_at(document, index);
        ui.strong("From this frame on");
        let activation = &mut self.dialogs.draft.muscle.activation;
        let chosen = ui.add(slider(activation, 0.0..=1.0).text("activation").max_decimals(2));
        let activation = *activation;
        if finished(&chosen.on_hover_text("0 is relaxed, 1 pulls as hard as it can")) {
            self.add_edit(self.activation_edit(name, KeyedNumber::Constant(activation)));
        }
        ui.weak(format!("In this frame it is {now:.2}"));
        let drives = &document.opened.scene.curves.muscles;
        if drives.get(index).is_some_and(|drive| drive.joint.is_some()) {
            ui.weak("times what the angle of its joint says");
        }
        let hint = "Its activation as a curve, to shape below";
        if ui.button("Shape over time").on_hover_text(hint).clicked() {
            let number = self.shaped_activation(document, index, now);
            self.selection = Selection::Edit(self.add_edit(self.activation_edit(name, number)));
            self.panels.curves = true;
        }
    }

    fn activation_edit(&self, muscle: &str, number: KeyedNumber) -> EditTable {
        let activation = Some(BTreeMap::from([(muscle.to_owned(), number)]));
        EditTable { time: self.time(), activation, ..EditTable::default() }
    }

    /// The curve that activates a muscle in the shown frame: that of the last edit before it, else that of the scene.
    fn activation_curve(&self, document: &Document, index: usize) -> Curve {
        let muscles = &document.opened.scene.world.muscles;
        let Some(name) = muscles.get(index).map(|muscle| &muscle.name) else { return Curve::Constant(0.0) };
        let time = self.time() + 0.5 / document.fps;
        let edited = self.status.edits.iter().rev().filter(|edit| edit.time <= time);
        let number = edited.filter_map(|edit| edit.activation.as_ref()?.get(name)).next();
        let of_scene = || document.opened.scene.curves.muscles.get(index).map(|own| own.activation.clone());
        let curve = number.and_then(|number| number.curve().ok()).or_else(of_scene);
        curve.unwrap_or(Curve::Constant(0.0))
    }

    fn activation_at(&self, document: &Document, index: usize) -> f64 {
        self.activation_curve(document, index).value(self.time())
    }

    /// A curve to begin with: the one that is there, or up to full activation and back.
    fn shaped_activation(&self, document: &Document, index: usize, now: f64) -> KeyedNumber {
        let (curve, time) = (self.activation_curve(document, index), self.time());
        let keyed = (!curve.is_constant()).then(|| keyed_activation(curve)).flatten();
        keyed.unwrap_or_else(|| {
            let keys = [[time, now], [time + RISE, 1.0], [time + 2.0 * RISE, now]];
            let keys = keys.map(CurveKey::Row).to_vec();
            KeyedNumber::Curve(CurveTable { keys, ..CurveTable::default() })
        })
    }

    /// Begins a new take with the numbers of a muscle that differ from those it has.
    fn change_muscle(&mut self, document: &Document, index: usize, muscle: &Muscle) {
        let (draft, before) = (self.dialogs.draft.muscle.clone(), self.muscle_draft(document, index));
        let (name, is_line) = (muscle.name.clone(), is_line(muscle));
        self.change_scene(document, |copy| {
            let table = copy.muscle(&name, index)?;
            let changed = |new: f64, old: f64| (new != old).then_some(new);
            if let Some(strength) = changed(draft.strength, before.strength) {
                let own = if is_line { &mut table.force } else { &mut table.stress };
                *own = Some(if is_line { strength } else { 1e3 * strength });
            }
            table.optimal = changed(draft.optimal, before.optimal).or(table.optimal);
            table.passive = changed(draft.passive, before.passive).or(table.passive);
            Ok(())
        });
    }
}

fn is_line(muscle: &Muscle) -> bool {
    muscle.body.is_none()
}

fn show_facts(ui: &mut Ui, document: &Document, muscle: &Muscle) {
    let body = muscle.body.and_then(|body| document.model.bodies().get(body));
    let mut facts = vec![("in", body.map_or("a line over bones".into(), |body| body.name.clone()))];
    facts.push(("length", format!("{:.0} mm", 1e3 * muscle.length)));
    if body.is_some() {
        facts.push(("across", format!("{:.1} cm² on average", 1e4 * muscle.area())));
        facts.push(("tets", muscle.tet_count().to_string()));
    }
    facts.push(("pulls with", format!("up to {:.0} N", muscle.max_force())));
    Grid::new("muscle facts").num_columns(2).show(ui, |ui| {
        for (name, value) in facts {
            ui.weak(name);
            ui.label(value);
            ui.end_row();
        }
    });
}

/// A curve as the keys of an edit; none if edits have no keys for it.
fn keyed_activation(curve: Curve) -> Option<KeyedNumber> {
    let change = SceneChange::Activation { muscle: String::new(), curve };
    let edits = vec![SceneEdit { time: 0.0, changes: vec![change] }];
    let tables = edit_tables(&Scene { edits, ..Scene::default() }).ok()?;
    tables.into_iter().next()?.activation?.into_values().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_comes_back_from_its_keys() {
        let text = "[[edit]]\ntime = 0\nactivation = { a = { keys = [[0, 0], [1, 0.5], [2, 0.1]] } }\n";
        let edit = sinew_io::SceneFile::of_text(text).unwrap().value.edit.remove(0);
        let curve = edit.activation.unwrap()["a"].curve().unwrap();
        let again = keyed_activation(curve.clone()).unwrap().curve().unwrap();
        for time in [0.0, 0.3, 1.0, 1.7, 3.0] {
            assert_eq!(curve.value(time).to_bits(), again.value(time).to_bits());
        }
    }
}

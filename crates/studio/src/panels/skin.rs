//! The properties of elastic skin: how tight it is, the fat below it, and what ties it to its muscles.

use super::inspector::{finished, slider};
use crate::drafts::SkinDraft;
use crate::session::Document;
use crate::studio::Studio;
use crate::tools::Tool;
use egui::Ui;
use sinew_io::tables::{BandsTable, SkinTable};
use sinew_sim::desc::{ShapeDesc, SkinDesc};

impl SkinDraft {
    pub(super) fn of(skin: &SkinDesc) -> SkinDraft {
        let bands = skin.bands.clone().unwrap_or_default();
        SkinDraft {
            fat: 1e3 * skin.fat,
            pressure: skin.pressure,
            stretch: skin.fabric.stretch,
            bending: 1e3 * skin.fabric.bending,
            rest_length: skin.rest_length,
            friction: skin.friction,
            bands: if skin.bands.is_some() { bands.stiffness } else { 0.0 },
            slack: 1e3 * bands.slack,
        }
    }

    /// Writes what differs from `before` into a table.
    fn write(&self, before: &SkinDraft, table: &mut SkinTable) {
        let changed = |new: f64, old: f64, scale: f64| (new != old).then_some(scale * new);
        let numbers = [
            (&mut table.fat, changed(self.fat, before.fat, 1e-3)),
            (&mut table.pressure, changed(self.pressure, before.pressure, 1.0)),
            (&mut table.stretch, changed(self.stretch, before.stretch, 1.0)),
            (&mut table.bending, changed(self.bending, before.bending, 1e-3)),
            (&mut table.rest_length, changed(self.rest_length, before.rest_length, 1.0)),
            (&mut table.friction, changed(self.friction, before.friction, 1.0)),
        ];
        numbers.into_iter().for_each(|(own, new)| *own = new.or(*own));
        let stiffness = changed(self.bands, before.bands, 1.0);
        let slack = changed(self.slack, before.slack, 1e-3);
        if stiffness.is_some() || (slack.is_some() && table.bands.is_some()) {
            let bands = table.bands.get_or_insert_with(BandsTable::default);
            (bands.stiffness, bands.slack) = (stiffness.or(bands.stiffness), slack.or(bands.slack));
        }
    }
}

/// The skin of a body, if it is one.
pub(super) fn skin_of(document: &Document, body: usize) -> Option<&SkinDesc> {
    match &document.opened.scene.world.bodies.get(body)?.shape {
        ShapeDesc::Skin(skin) => Some(skin),
        _ => None,
    }
}

impl Studio {
    pub(super) fn inspect_skin(&mut self, ui: &mut Ui, document: &Document, index: usize, skin: &SkinDesc) {
        let Some(body) = document.model.bodies().get(index) else { return };
        ui.heading(&body.name);
        ui.label(format!("skin of {:.3} kg, {} points", body.mass, skin.surface.vertices.len()));
        let solids: Vec<&str> = skin.muscles.iter().map(|muscle| muscle.name.as_str()).collect();
        ui.weak(format!("slides over {}", solids.join(", ")));
        ui.separator();
        ui.strong("The whole take");
        if self.is_recorded_take() {
            ui.weak("A recorded take keeps its skin.");
            return;
        }
        ui.weak("These begin a new take:");
        let draft = &mut self.dialogs.draft.skin;
        let mut done = sheet_sliders(ui, draft);
        ui.add_space(4.0);
        ui.label("On the muscles");
        done |= layer_sliders(ui, draft);
        if done {
            let (draft, before, name) = (draft.clone(), SkinDraft::of(skin), body.name.clone());
            self.change_scene(document, |copy| {
                draft.write(&before, copy.skin(&name)?);
                Ok(())
            });
        }
        ui.add_space(4.0);
        let hint = "Where the fat is thicker or thinner";
        if ui.button("Paint its fat").on_hover_text(hint).clicked() {
            self.tool = Tool::Paint;
        }
    }
}

/// Numbers of the sheet; whether a change is complete.
fn sheet_sliders(ui: &mut Ui, draft: &mut SkinDraft) -> bool {
    let length = slider(&mut draft.rest_length, 0.3..=1.5).text("rest length").max_decimals(2);
    let mut done = finished(&ui.add(length).on_hover_text("Below 1 it is tight, above 1 loose"));
    let stretch =
        slider(&mut draft.stretch, 1.0..=1e5).logarithmic(true).text("stretch (N/m)").max_decimals(1);
    done |= finished(&ui.add(stretch).on_hover_text("Force per width and strain: skin has about 100"));
    let bending = slider(&mut draft.bending, 0.0..=1000.0)
        .logarithmic(true)
        .smallest_positive(0.001)
        .text("bending (mN m)")
        .max_decimals(3);
    done |= finished(&ui.add(bending).on_hover_text("How much it resists folds"));
    let pressure = slider(&mut draft.pressure, 0.0..=2000.0).text("pressure (Pa)").max_decimals(0);
    done | finished(&ui.add(pressure).on_hover_text("Of air inside, which falls as the skin grows"))
}

/// Numbers of what is between skin and muscles; whether a change is complete.
fn layer_sliders(ui: &mut Ui, draft: &mut SkinDraft) -> bool {
    let fat = slider(&mut draft.fat, 0.0..=100.0).text("fat (mm)").max_decimals(1);
    let mut done = finished(&ui.add(fat).on_hover_text("Between muscles and skin"));
    let friction = slider(&mut draft.friction, 0.0..=2.0).text("friction").max_decimals(2);
    done |= finished(&ui.add(friction).on_hover_text("Of skin on fat, in explicit steps"));
    let bands = slider(&mut draft.bands, 0.0..=1e5)
        .logarithmic(true)
        .smallest_positive(10.0)
        .text("bands (N/m³)")
        .max_decimals(0);
    done |= finished(&ui.add(bands).on_hover_text("Stiffness of connective tissue; 0 for none"));
    let slack = slider(&mut draft.slack, 0.0..=100.0).text("slack (mm)").max_decimals(1);
    let slack = ui.add_enabled(draft.bands > 0.0, slack);
    done | finished(&slack.on_hover_text("How far skin slides before bands pull it back"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_changed_is_written() {
        let before = SkinDraft::of(&SkinDesc::default());
        let mut table = SkinTable { stretch: Some(80.0), ..SkinTable::default() };
        before.write(&before, &mut table);
        assert_eq!(table, SkinTable { stretch: Some(80.0), ..SkinTable::default() });
        let changed = SkinDraft { fat: 25.0, bands: 300.0, slack: 4.0, ..before.clone() };
        changed.write(&before, &mut table);
        let bands = BandsTable { stiffness: Some(300.0), slack: Some(0.004), ..BandsTable::default() };
        let expected =
            SkinTable { stretch: Some(80.0), fat: Some(0.025), bands: Some(bands), ..SkinTable::default() };
        assert_eq!(table, expected);
    }
}

//! The panel and the mouse of what is painted: softness of flesh, fat under skin.

use crate::folders::file_stem;
use crate::painting::{BrushKind, MAX_VALUE, MirrorSide, Painting, Quantity};
use crate::scene_copy::SceneCopy;
use crate::selection::Selection;
use crate::session::Document;
use crate::studio::Studio;
use crate::viewport::{self, SurfaceHit, Viewport};
use egui::{Button, Color32, PointerButton, Pos2, Response, Slider, Stroke, Ui};
use sinew_io::SoftnessPoints;
use std::path::PathBuf;

/// Touches along the path of the mouse are this fraction of the brush apart.
const TOUCH_SPACING: f32 = 0.25;
/// And no more of them in a pass of the interface.
const MAX_TOUCHES: usize = 24;

impl Studio {
    /// Takes over what is painted already, once for each scene.
    pub(crate) fn begin_painting(&mut self, document: &Document) {
        if self.painting.is_some() {
            return;
        }
        let kept = self.kept_brush.take();
        let quantity = kept.map_or(Quantity::of(document)[0], |(quantity, _)| quantity);
        let mut painting = self.begin_painting_of(document, quantity);
        if let Some((_, brush)) = kept {
            painting.brush = brush;
        }
        self.painting = Some(painting);
    }

    /// Paints something else; what was painted so far is kept aside.
    fn switch_painting(&mut self, document: &Document, quantity: Quantity) {
        std::mem::swap(&mut self.painting, &mut self.painting_aside);
        if self.painting.is_none() {
            self.painting = Some(self.begin_painting_of(document, quantity));
        }
    }

    fn begin_painting_of(&mut self, document: &Document, quantity: Quantity) -> Painting {
        if quantity == Quantity::Fat {
            return Painting::of_fat(document);
        }
        let painted = self.choice().softness.clone().map(|path| SoftnessPoints::read(&path));
        let painted = match painted {
            Some(Ok(points)) => Some(points),
            Some(Err(error)) => {
                self.warn(format!(
                    "what was painted before cannot be read, and painting begins anew: {error}"
                ));
                None
            }
            None => None,
        };
        Painting::of_softness(document, painted.as_ref())
    }

    /// Brush, fill, smooth, mirror, and what becomes of it.
    pub(crate) fn paint_panel(&mut self, ui: &mut Ui, document: &Document) {
        self.begin_painting(document);
        let painted = self.painting.as_ref().map_or(Quantity::Softness, |painting| painting.quantity);
        ui.heading(format!("Paint {}", painted.name()));
        if self.is_recorded_take() {
            ui.weak("A recorded take keeps its flesh: open its character to paint it.");
            return;
        }
        self.choose_quantity(ui, document, painted);
        let body = self.painted_body();
        let Some(painting) = &mut self.painting else { return };
        ui.weak(match painting.quantity {
            Quantity::Softness => {
                "Drag over the surface. 1 is as soft as the character is, 0 is rigid. Hold Shift to smooth."
            }
            Quantity::Fat => {
                "Drag over the skin. 1 is as thick as its fat is, 0 is none. Hold Shift to smooth."
            }
        });
        ui.add_space(4.0);
        let (brush, name) = (&mut painting.brush, painting.quantity.name());
        ui.add(Slider::new(&mut brush.value, 0.0..=MAX_VALUE).text(name).max_decimals(2));
        ui.add(Slider::new(&mut brush.radius, 0.01..=0.5).logarithmic(true).text("radius").max_decimals(3))
            .on_hover_text("As a fraction of the body's size");
        ui.add(Slider::new(&mut brush.strength, 0.02..=1.0).text("strength").max_decimals(2));
        ui.horizontal(|ui| {
            for (kind, name) in [(BrushKind::Paint, "Paint"), (BrushKind::Smooth, "Smooth")] {
                ui.selectable_value(&mut brush.kind, kind, format!("{name} brush"));
            }
        });
        ui.separator();
        if let Some(body) = document.model.bodies().get(body) {
            ui.label(format!("All of {}", body.name));
        }
        ui.horizontal(|ui| {
            if ui.button("Fill").on_hover_text("All of it gets the number of the brush").clicked() {
                painting.begin_stroke();
                painting.fill(body);
            }
            if ui.button("Smooth all").clicked() {
                painting.begin_stroke();
                painting.smooth(body);
            }
        });
        ui.horizontal(|ui| {
            ui.label("Mirror");
            for (side, name, hint) in [
                (MirrorSide::Negative, "-x to +x", "Copies the half at negative x to the other"),
                (MirrorSide::Positive, "+x to -x", "Copies the half at positive x to the other"),
            ] {
                if ui.button(name).on_hover_text(hint).clicked() {
                    painting.begin_stroke();
                    painting.mirror(body, side);
                }
            }
        });
        ui.separator();
        let (can_undo, is_changed) = (painting.can_undo(), painting.is_changed);
        let is_changed = is_changed || self.painting_aside.as_ref().is_some_and(|aside| aside.is_changed);
        if ui.add_enabled(can_undo, Button::new("Take the last stroke back")).clicked() {
            painting.undo();
        }
        let hint = "Builds flesh and skin anew with what is painted; edits of the take are kept";
        if ui.add_enabled(is_changed, Button::new("Use it")).on_hover_text(hint).clicked() {
            self.use_painting(document);
        }
    }

    /// What is painted, where there is a choice.
    fn choose_quantity(&mut self, ui: &mut Ui, document: &Document, painted: Quantity) {
        let all = Quantity::of(document);
        if all.len() < 2 {
            return;
        }
        ui.horizontal(|ui| {
            for quantity in all {
                if ui.selectable_label(quantity == painted, quantity.name()).clicked() && quantity != painted
                {
                    self.switch_painting(document, quantity);
                }
            }
        });
    }

    /// The body that buttons act on: the selected one, or the first that has what is painted.
    fn painted_body(&self) -> usize {
        let is_on = |body: &usize| self.painting.as_ref().is_some_and(|painting| painting.is_on(*body));
        match self.selection {
            Selection::Body(body) if is_on(&body) => body,
            _ => (0..).take(self.shown.surfaces.surfaces.len()).find(is_on).unwrap_or(0),
        }
    }

    /// Writes what is painted, and begins a new take with it.
    pub(crate) fn use_painting(&mut self, document: &Document) {
        let kept = self.painting.as_ref().map(|painting| (painting.quantity, painting.brush));
        let all: Vec<Painting> = [self.painting.clone(), self.painting_aside.clone()]
            .into_iter()
            .flatten()
            .filter(|painting| painting.is_changed)
            .collect();
        let (mut softness, mut fat) = (None, None);
        for painting in &all {
            match (self.write_painting(document, painting), painting.quantity) {
                (Ok(path), Quantity::Softness) => softness = Some(path),
                (Ok(path), Quantity::Fat) => fat = Some(path),
                (Err(error), _) => return self.warn(error),
            }
        }
        let is_begun = match fat {
            Some(fat) => self.change_take(document, softness, |copy| copy.paint_fat(&fat)),
            None => {
                self.reopen_with(|request| request.choice.softness = softness);
                true
            }
        };
        self.kept_brush = kept.filter(|_| is_begun);
    }

    /// Writes the table of what is painted.
    fn write_painting(&mut self, document: &Document, painting: &Painting) -> Result<PathBuf, String> {
        let folder = self.autosave.characters();
        let name = painting.quantity.name();
        let path = folder.join(format!("{}-{name}.csv", file_stem(&document.name)));
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        painting.points().write(&path)?;
        self.tell(format!("Painted {name} is in {}", path.display()));
        Ok(path)
    }

    /// Begins a new take of a changed copy of the scene, with other softness if some was painted; whether it does.
    fn change_take(
        &mut self,
        document: &Document,
        softness: Option<PathBuf>,
        change: impl FnOnce(&mut SceneCopy) -> Result<(), String>,
    ) -> bool {
        let before = self.request.choice.softness.clone();
        if softness.is_some() {
            self.request.choice.softness = softness;
        }
        let is_begun = self.change_scene(document, change);
        if !is_begun {
            self.request.choice.softness = before;
        }
        is_begun
    }

    /// Paints where the mouse is, and from where it was before.
    pub(crate) fn paint_at(&mut self, ui: &Ui, slot: usize, response: &Response, at: Pos2) {
        let Some(document) = self.document().filter(|_| !self.is_recorded_take()) else { return };
        self.begin_painting(&document);
        let Some(painting) = &mut self.painting else { return };
        let view = &self.viewports[slot];
        let (shift, pressed) = ui.input(|input| (input.modifiers.shift, input.pointer.press_origin()));
        let kind = if shift { BrushKind::Smooth } else { painting.brush.kind };
        if response.drag_started_by(PointerButton::Primary) || response.clicked() {
            painting.begin_stroke();
            painting.last = pressed;
        }
        let size = |hit: &SurfaceHit| painting.brush.radius * document.body_size(hit.body);
        let under = viewport::pick_surface(&self.shown, view.ray(at)).filter(|hit| painting.is_on(hit.body));
        let circle =
            under.and_then(|hit| Some((view.project(&hit.point)?, points_at(view, &hit, size(&hit))?)));
        if response.dragged_by(PointerButton::Primary) || response.clicked() {
            self.playback.is_playing = false;
            let from = painting.last.unwrap_or(at);
            let spacing = circle.map_or(12.0, |(_, radius)| (TOUCH_SPACING * radius).max(2.0));
            let count = ((from.distance(at) / spacing) as usize).clamp(1, MAX_TOUCHES);
            for i in 1..=count {
                let place = from + (at - from) * (i as f32 / count as f32);
                if let Some(hit) = viewport::pick_surface(&self.shown, view.ray(place)) {
                    let radius = painting.brush.radius * document.body_size(hit.body);
                    painting.touch(&self.shown, &hit, kind, radius);
                }
            }
            painting.last = Some(at);
        }

        // the circle that it reaches
        if let Some((middle, radius)) = circle {
            let painter = ui.painter_at(view.rect);
            painter.circle_stroke(middle, radius, Stroke::new(3.0, Color32::from_black_alpha(110)));
            painter.circle_stroke(middle, radius, Stroke::new(1.5, Color32::WHITE));
        }
    }
}

/// How long a length at a place of a surface is in the window (points).
fn points_at(view: &Viewport, hit: &SurfaceHit, length: f64) -> Option<f32> {
    let [_, right] = view.camera.ray([1.0, 0.0], view.aspect());
    let [_, middle] = view.camera.ray([0.0, 0.0], view.aspect());
    let aside = (right - middle).try_normalize(0.0)?;
    Some(view.project(&hit.point)?.distance(view.project(&(hit.point + aside * length))?))
}

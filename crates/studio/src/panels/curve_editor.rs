//! The curves of the selected edit: keys that are dragged, added and removed.

use crate::drafts::{CurveDraft, CurvePart as Part};
use crate::selection::Selection;
use crate::studio::Studio;
use crate::theme;
use egui::{Align2, Color32, ComboBox, FontId, Panel, Pos2, Rect, Sense, Stroke, Ui, Vec2};
use sinew_io::EditTable;
use sinew_io::tables::{
    CurveKey, CurveKeyTable, CurveKind, CurveTable, KeyedNumber, KeyedVector, MotionTable,
};

/// How near the mouse must be to a key (points).
const NEAR: f32 = 9.0;
/// Points of a drawn curve.
const SAMPLES: usize = 200;
const COLORS: [Color32; 4] = [
    Color32::from_rgb(233, 130, 74),
    Color32::from_rgb(98, 154, 224),
    Color32::from_rgb(120, 190, 110),
    Color32::from_rgb(214, 120, 190),
];

/// A number of an edit that can be keyed.
struct Shaped<'a> {
    name: String,
    number: &'a mut KeyedNumber,
    /// The least and the largest value.
    range: [f64; 2],
}

const ANY: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
const FACTOR: [f64; 2] = [0.0, 1000.0];

/// The numbers of an edit that can be keyed, with their names.
fn numbers(edit: &mut EditTable) -> Vec<Shaped<'_>> {
    let mut found = Vec::new();
    let mut add = |name: String, number, range: [f64; 2]| found.push(Shaped { name, number, range });
    if let Some(gravity) = &mut edit.gravity {
        axes("gravity", gravity).for_each(|(name, number)| add(name, number, ANY));
    }
    for metaphor in &mut edit.metaphor {
        let name = format!("magnitude of {}", metaphor.name.as_deref().unwrap_or("metaphor"));
        add(name, metaphor.magnitude.get_or_insert(KeyedNumber::Constant(1.0)), ANY);
    }
    for (muscle, number) in edit.activation.iter_mut().flatten() {
        add(format!("activation of {muscle}"), number, [0.0, 1.0]);
    }
    for body in &mut edit.body {
        let keyed = [
            ("stiffness", &mut body.stiffness_factor, [0.001, 1000.0]),
            ("damping", &mut body.damping_factor, FACTOR),
            ("friction", &mut body.friction_factor, FACTOR),
            ("air drag", &mut body.air_drag, [0.0, f64::INFINITY]),
        ];
        let name = &body.name;
        for (word, number, range) in keyed {
            if let Some(number) = number {
                add(format!("{word} of {name}"), number, range);
            }
        }
        for load in body.load.iter_mut().flatten() {
            axes(&format!("force on {name}"), &mut load.force).for_each(|(name, own)| add(name, own, ANY));
        }
        for pin in &mut body.pin {
            let pinned = format!("pin {} of {name}", pin.number.unwrap_or(1));
            moved(&pinned, &mut pin.motion).for_each(|(name, own)| add(name, own, ANY));
        }
    }
    for constraint in &mut edit.constraint {
        let name = constraint.name.clone().unwrap_or_else(|| "constraint".into());
        moved(&name, &mut constraint.motion).for_each(|(name, own)| add(name, own, ANY));
    }
    for obstacle in &mut edit.obstacle {
        if let Some(number) = &mut obstacle.friction_factor {
            add(format!("friction of {}", obstacle.name), number, FACTOR);
        }
        moved(&obstacle.name, &mut obstacle.motion).for_each(|(name, own)| add(name, own, ANY));
    }
    found
}

/// The components of a vector with their names.
fn axes<'a>(name: &str, vector: &'a mut KeyedVector) -> impl Iterator<Item = (String, &'a mut KeyedNumber)> {
    let names = ["x", "y", "z"].map(|axis| format!("{name} {axis}"));
    names.into_iter().zip(vector)
}

/// The numbers of a keyed motion with their names.
fn moved<'a>(
    name: &str,
    motion: &'a mut Option<MotionTable>,
) -> impl Iterator<Item = (String, &'a mut KeyedNumber)> {
    let keyed = motion.as_mut().and_then(|motion| motion.keyed.as_mut());
    let vectors = keyed.map(|keyed| [("moves", &mut keyed.translation), ("turns", &mut keyed.turns)]);
    let vectors = vectors.into_iter().flatten().filter_map(|(word, own)| Some((word, own.as_mut()?)));
    let numbers = vectors.map(|(word, own)| axes(&format!("{name} {word}"), own).collect::<Vec<_>>());
    numbers.collect::<Vec<_>>().into_iter().flatten()
}

/// Time and value of a key.
fn place(key: &CurveKey) -> [f64; 2] {
    match key {
        CurveKey::Row(row) => *row,
        CurveKey::Table(table) => [table.time, table.value],
    }
}

fn put(key: &mut CurveKey, [time, value]: [f64; 2]) {
    match key {
        CurveKey::Row(row) => *row = [time, value],
        CurveKey::Table(table) => (table.time, table.value) = (time, value),
    }
}

impl Studio {
    pub(crate) fn curve_editor(&mut self, ui: &mut Ui) {
        Panel::bottom("curves").resizable(true).default_size(190.0).size_range(130.0..=420.0).show(ui, |ui| {
            let Selection::Edit(index) = self.selection else {
                ui.weak("Select an edit to shape its numbers over time: its magnitude, gravity, or a factor of stiffness");
                return;
            };
            let Some(own) = self.status.edits.get(index).cloned() else { return };
            let of = Some((index, self.status.revision));
            if self.dialogs.curves.of != of {
                self.dialogs.curves = CurveDraft { of, edit: own, ..CurveDraft::default() };
            }
            let mut draft = std::mem::take(&mut self.dialogs.curves);
            let is_done = self.show_curves(ui, &mut draft);
            let edit = draft.edit.clone();
            self.dialogs.curves = draft;
            if is_done {
                self.replace_edit(index, edit);
            }
        });
    }

    /// Shows the curves of a draft; whether a change is complete.
    fn show_curves(&self, ui: &mut Ui, draft: &mut CurveDraft) -> bool {
        let time = self.time();
        let mut all = numbers(&mut draft.edit);
        if all.is_empty() {
            ui.weak("This edit has no numbers over time");
            return false;
        }
        draft.chosen = draft.chosen.min(all.len() - 1);

        let (chosen, key) = (&mut draft.chosen, &mut draft.key);
        let mut is_done = curve_bar(ui, &mut all, chosen, key, time);

        // the curves
        let size = ui.available_size().max(Vec2::new(60.0, 60.0));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::GraphicsDocument, true, "Curves"));
        let plane = Plane::of(rect, self.length(), &all);
        plane.draw_grid(
            ui,
            self.playback.frame() as f64 / self.document().map_or(60.0, |document| document.fps),
        );
        for (i, Shaped { number, .. }) in all.iter().enumerate() {
            plane.draw_curve(ui, number, COLORS[i % COLORS.len()], i == draft.chosen);
        }
        let Shaped { number, range, .. } = &mut all[draft.chosen];
        let KeyedNumber::Curve(table) = &mut **number else { return is_done };
        let color = COLORS[draft.chosen % COLORS.len()];
        let hovered = plane.draw_keys(ui, table, draft.key, color, response.hover_pos());

        let (key, dragged) = (&mut draft.key, &mut draft.dragged);
        is_done |= follow_mouse(ui, &response, &plane, table, key, dragged, hovered);
        keep_within(table, *range);
        is_done
    }

    /// The length of the take (s).
    fn length(&self) -> f64 {
        self.status.seconds.max(0.1)
    }
}

/// Which curve is shaped, and how it runs; whether something changed.
fn curve_bar(
    ui: &mut Ui,
    all: &mut [Shaped],
    chosen: &mut usize,
    key: &mut Option<usize>,
    time: f64,
) -> bool {
    let mut is_done = false;
    ui.horizontal_wrapped(|ui| {
        for (i, Shaped { name, .. }) in all.iter().enumerate() {
            let text = egui::RichText::new(name);
            let text = if *chosen == i { text.strong() } else { text.color(COLORS[i % COLORS.len()]) };
            if ui.selectable_label(*chosen == i, text).clicked() {
                (*chosen, *key) = (i, None);
            }
        }
        ui.separator();
        let Shaped { number, range, .. } = &mut all[*chosen];
        match &mut **number {
            KeyedNumber::Constant(value) => {
                if ui.button("Key it").on_hover_text("Make it a curve").clicked() {
                    let keys = vec![CurveKey::Row([time, *value])];
                    **number = KeyedNumber::Curve(CurveTable { keys, ..CurveTable::default() });
                    is_done = true;
                }
            }
            KeyedNumber::Curve(table) => {
                is_done |= curve_buttons(ui, table, key, time);
                keep_within(table, *range);
            }
        }
    });
    is_done
}

/// Keeps the values of keys within a range.
fn keep_within(table: &mut CurveTable, [low, high]: [f64; 2]) {
    for key in &mut table.keys {
        let [time, value] = place(key);
        put(key, [time, value.max(low).min(high)]);
    }
}

/// Drags, adds and removes keys; whether a change is complete.
fn follow_mouse(
    ui: &Ui,
    response: &egui::Response,
    plane: &Plane,
    table: &mut CurveTable,
    key: &mut Option<usize>,
    dragged: &mut Option<(usize, Part)>,
    hovered: Option<(usize, Part)>,
) -> bool {
    let mut is_done = false;
    if response.drag_started() || response.clicked() {
        let at = ui.input(|input| input.pointer.press_origin()).or(response.interact_pointer_pos());
        let grabbed = at.and_then(|at| plane.part_at(table, *key, at)).or(hovered);
        *key = grabbed.map(|(key, _)| key);
        *dragged = grabbed.filter(|_| response.drag_started());
    }
    if let (Some((key, part)), Some(at)) = (*dragged, response.interact_pointer_pos()) {
        move_part(table, key, part, plane.value_at(at));
    }
    if response.drag_stopped() && dragged.take().is_some() {
        is_done = true;
    }
    if response.double_clicked()
        && hovered.is_none()
        && let Some(at) = response.interact_pointer_pos()
    {
        let [time, value] = plane.value_at(at);
        let index = table.keys.partition_point(|key| place(key)[0] < time);
        table.keys.insert(index, CurveKey::Row([time.max(0.0), value]));
        *key = Some(index);
        is_done = true;
    }
    if response.secondary_clicked()
        && table.keys.len() > 1
        && let Some((index, Part::Key)) = hovered
    {
        table.keys.remove(index);
        *key = None;
        is_done = true;
    }
    is_done
}

/// Buttons for a curve and its selected key; whether something changed.
fn curve_buttons(ui: &mut Ui, table: &mut CurveTable, key: &mut Option<usize>, time: f64) -> bool {
    let mut is_done = false;
    if ui.button("+ key").on_hover_text("A key at the play head").clicked() {
        let value = KeyedNumber::Curve(table.clone()).curve().map_or(0.0, |curve| curve.value(time));
        let index = table.keys.partition_point(|key| place(key)[0] < time);
        if table.keys.get(index).is_none_or(|key| (place(key)[0] - time).abs() > 1e-9) {
            table.keys.insert(index, CurveKey::Row([time, value]));
            *key = Some(index);
            is_done = true;
        }
    }
    let kind = table.interpolation.unwrap_or(CurveKind::Bezier);
    let names = [
        (CurveKind::Bezier, "Bézier"),
        (CurveKind::Linear, "straight"),
        (CurveKind::Step, "steps"),
        (CurveKind::KochanekBartels, "spline"),
    ];
    let shown = names.iter().find(|(other, _)| *other == kind).map_or("B-spline", |(_, name)| name);
    let chosen = ComboBox::from_id_salt("interpolation").width(80.0).selected_text(shown).show_ui(ui, |ui| {
        for (other, name) in names {
            if ui.selectable_label(other == kind, name).clicked() {
                table.interpolation = Some(other);
                if other != CurveKind::Bezier {
                    // only Bézier keys have handles
                    table.keys = table.keys.iter().map(|key| CurveKey::Row(place(key))).collect();
                }
                is_done = true;
            }
        }
    });
    chosen.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Interpolation"));
    let mut snap = table.snap.unwrap_or(false);
    if ui.checkbox(&mut snap, "frames").on_hover_text("Keys are at frames").changed() {
        table.snap = snap.then_some(true);
        is_done = true;
    }
    let Some(index) = key.filter(|key| *key < table.keys.len()) else { return is_done };
    ui.separator();
    let mut at = place(&table.keys[index]);
    let responses = [
        ui.add(egui::DragValue::new(&mut at[0]).speed(0.01).suffix(" s").max_decimals(3)),
        ui.add(egui::DragValue::new(&mut at[1]).speed(0.01).max_decimals(3)),
    ];
    if responses.iter().any(egui::Response::changed) {
        move_part(table, index, Part::Key, at);
    }
    is_done |= responses
        .iter()
        .any(|response| response.drag_stopped() || (response.lost_focus() && !response.dragged()));
    if kind == CurveKind::Bezier {
        let has_handles = matches!(table.keys[index], CurveKey::Table(_));
        let name = if has_handles { "automatic" } else { "handles" };
        if ui.button(name).on_hover_text("Whether the key has handles of its own").clicked() {
            let [time, value] = place(&table.keys[index]);
            table.keys[index] = if has_handles {
                CurveKey::Row([time, value])
            } else {
                CurveKey::Table(CurveKeyTable {
                    time,
                    value,
                    left: Some([-0.15, 0.0]),
                    right: Some([0.15, 0.0]),
                    ..CurveKeyTable::default()
                })
            };
            is_done = true;
        }
    }
    if table.keys.len() > 1 && ui.button("remove").clicked() {
        table.keys.remove(index);
        *key = None;
        is_done = true;
    }
    is_done
}

/// Moves a key or one of its handles. Keys stay in order.
fn move_part(table: &mut CurveTable, index: usize, part: Part, [time, value]: [f64; 2]) {
    let before = index.checked_sub(1).map_or(0.0, |i| place(&table.keys[i])[0] + 1e-3);
    let after = table.keys.get(index + 1).map_or(f64::INFINITY, |key| place(key)[0] - 1e-3);
    let Some(key) = table.keys.get_mut(index) else { return };
    let [own_time, own_value] = place(key);
    match (part, key) {
        (Part::Key, key) => put(key, [time.max(before).min(after), value]),
        (Part::Left, CurveKey::Table(key)) => {
            key.left = Some([(time - own_time).min(0.0), value - own_value])
        }
        (Part::Right, CurveKey::Table(key)) => {
            key.right = Some([(time - own_time).max(0.0), value - own_value])
        }
        _ => {}
    }
}

/// Where times and values are in the window.
struct Plane {
    rect: Rect,
    seconds: f64,
    low: f64,
    high: f64,
}

impl Plane {
    fn of(rect: Rect, seconds: f64, numbers: &[Shaped]) -> Plane {
        let (mut low, mut high) = (0.0f64, 1.0f64);
        for Shaped { number, .. } in numbers {
            match &**number {
                KeyedNumber::Constant(value) => (low, high) = (low.min(*value), high.max(*value)),
                KeyedNumber::Curve(table) => {
                    for value in table.keys.iter().map(|key| place(key)[1]) {
                        (low, high) = (low.min(value), high.max(value));
                    }
                }
            }
        }
        let margin = 0.15 * (high - low);
        Plane { rect: rect.shrink2(Vec2::new(8.0, 6.0)), seconds, low: low - margin, high: high + margin }
    }

    fn at(&self, [time, value]: [f64; 2]) -> Pos2 {
        let x = (time / self.seconds) as f32;
        let y = ((value - self.low) / (self.high - self.low)) as f32;
        Pos2::new(self.rect.left() + x * self.rect.width(), self.rect.bottom() - y * self.rect.height())
    }

    fn value_at(&self, at: Pos2) -> [f64; 2] {
        let x = f64::from((at.x - self.rect.left()) / self.rect.width());
        let y = f64::from((self.rect.bottom() - at.y) / self.rect.height());
        [x * self.seconds, self.low + y * (self.high - self.low)]
    }

    fn draw_grid(&self, ui: &Ui, now: f64) {
        let painter = ui.painter_at(self.rect.expand(8.0));
        let (visuals, rect) = (ui.visuals(), self.rect);
        painter.rect_filled(rect.expand(6.0), 4.0, visuals.extreme_bg_color);
        let faint = Stroke::new(1.0, visuals.faint_bg_color);
        let span = self.high - self.low;
        let step = [0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 100.0, 1000.0]
            .into_iter()
            .find(|step| span / step <= 6.0)
            .unwrap_or(1e4);
        let mut value = (self.low / step).ceil() * step;
        while value <= self.high {
            let y = self.at([0.0, value]).y;
            let stroke = if value.abs() < 1e-9 { Stroke::new(1.0, visuals.weak_text_color()) } else { faint };
            painter.line_segment([Pos2::new(rect.left(), y), Pos2::new(rect.right(), y)], stroke);
            // round-off about 0 has no sign
            let named = if value.abs() < 1e-9 { 0.0 } else { value };
            let text = format!("{named:.2}").trim_end_matches('0').trim_end_matches('.').to_owned();
            painter.text(
                Pos2::new(rect.left() + 2.0, y - 1.0),
                Align2::LEFT_BOTTOM,
                text,
                FontId::proportional(10.0),
                visuals.weak_text_color(),
            );
            value += step;
        }
        let x = self.at([now, 0.0]).x;
        painter.line_segment(
            [Pos2::new(x, rect.top()), Pos2::new(x, rect.bottom())],
            Stroke::new(1.5, theme::ACCENT),
        );
    }

    fn draw_curve(&self, ui: &Ui, number: &KeyedNumber, color: Color32, is_chosen: bool) {
        let Ok(curve) = number.curve() else { return };
        let point = |i: usize| {
            let time = self.seconds * i as f64 / (SAMPLES - 1) as f64;
            self.at([time, curve.value(time)])
        };
        let stroke =
            if is_chosen { Stroke::new(2.0, color) } else { Stroke::new(1.0, color.gamma_multiply(0.6)) };
        ui.painter_at(self.rect.expand(6.0)).line((0..SAMPLES).map(point).collect(), stroke);
    }

    /// Where the handles of a key are.
    fn handles(key: &CurveKey) -> [Option<[f64; 2]>; 2] {
        let CurveKey::Table(table) = key else { return [None, None] };
        let mirrored = |other: Option<[f64; 2]>| other.map(|[time, value]| [-time, -value]);
        let absolute = |offset: [f64; 2]| [table.time + offset[0], table.value + offset[1]];
        let (left, right) = (table.left.or(mirrored(table.right)), table.right.or(mirrored(table.left)));
        [left.map(absolute), right.map(absolute)]
    }

    /// The key or handle at a place of the window; handles are those of the selected key.
    fn part_at(&self, table: &CurveTable, chosen: Option<usize>, at: Pos2) -> Option<(usize, Part)> {
        if let Some((index, key)) = chosen.and_then(|index| Some((index, table.keys.get(index)?))) {
            let [left, right] = Plane::handles(key);
            for (handle, part) in [(left, Part::Left), (right, Part::Right)] {
                if handle.is_some_and(|handle| self.at(handle).distance(at) < NEAR) {
                    return Some((index, part));
                }
            }
        }
        let near = |key: &CurveKey| self.at(place(key)).distance(at) < NEAR;
        table.keys.iter().position(near).map(|index| (index, Part::Key))
    }

    /// Draws keys, and the handles of the selected one; returns what is under the mouse.
    fn draw_keys(
        &self,
        ui: &Ui,
        table: &CurveTable,
        chosen: Option<usize>,
        color: Color32,
        mouse: Option<Pos2>,
    ) -> Option<(usize, Part)> {
        let painter = ui.painter_at(self.rect.expand(8.0));
        let hovered = mouse.and_then(|mouse| self.part_at(table, chosen, mouse));
        for (i, key) in table.keys.iter().enumerate() {
            let at = self.at(place(key));
            if chosen == Some(i) {
                for handle in Plane::handles(key).into_iter().flatten() {
                    let end = self.at(handle);
                    painter.line_segment([at, end], Stroke::new(1.0, color));
                    painter.circle(end, 4.0, Color32::TRANSPARENT, Stroke::new(1.5, color));
                }
            }
            let is_hot = chosen == Some(i) || hovered == Some((i, Part::Key));
            painter.circle(
                at,
                5.0,
                if is_hot { Color32::WHITE } else { color },
                Stroke::new(1.0, Color32::from_black_alpha(200)),
            );
        }
        hovered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> CurveTable {
        let keys = [[0.0, 0.0], [1.0, 2.0], [2.0, 0.0]].map(CurveKey::Row).to_vec();
        CurveTable { keys, ..CurveTable::default() }
    }

    #[test]
    fn keys_stay_in_order_wherever_they_are_dragged() {
        let mut curve = table();
        move_part(&mut curve, 1, Part::Key, [5.0, -1.0]);
        assert!(place(&curve.keys[1])[0] < 2.0 && place(&curve.keys[1])[1] == -1.0);
        assert!(KeyedNumber::Curve(curve).curve().is_ok());
        let mut curve = table();
        move_part(&mut curve, 1, Part::Key, [-5.0, 1.0]);
        assert!(KeyedNumber::Curve(curve).curve().is_ok());
    }

    #[test]
    fn the_plane_maps_places_back() {
        let rect = Rect::from_min_size(Pos2::new(10.0, 20.0), Vec2::new(400.0, 150.0));
        let mut number = KeyedNumber::Curve(table());
        let plane = Plane::of(rect, 3.0, &[Shaped { name: "a".into(), number: &mut number, range: ANY }]);
        let [time, value] = plane.value_at(plane.at([1.2, 0.7]));
        // single precision of the window: 1e-7 of 400 points
        assert!((time - 1.2).abs() < 1e-5 && (value - 0.7).abs() < 1e-5);
        assert_eq!(plane.part_at(&table(), None, plane.at([1.0, 2.0])), Some((1, Part::Key)));
    }

    #[test]
    fn all_numbers_of_an_edit_can_be_shaped() {
        let text = "[[edit]]\ntime = 1\ngravity = [0, -9.81, 0]\nactivation = { biceps = 0.5 }\n[[edit.body]]\nname = \"a\"\nstiffness_factor = 2\n[[edit.body.load]]\nforce = [1, 0, 0]\nregion = { end = [0, 1, 0] }\n[[edit.obstacle]]\nname = \"b\"\nmotion = { keyed = { turns = [0, 0, 0] } }\n[[edit.metaphor]]\nbody = \"a\"\nkind = \"push\"\n";
        let mut edit = sinew_io::SceneFile::of_text(text).unwrap().value.edit.remove(0);
        let names: Vec<String> = numbers(&mut edit).into_iter().map(|shaped| shaped.name).collect();
        assert_eq!(
            names,
            [
                "gravity x",
                "gravity y",
                "gravity z",
                "magnitude of metaphor",
                "activation of biceps",
                "stiffness of a",
                "force on a x",
                "force on a y",
                "force on a z",
                "b turns x",
                "b turns y",
                "b turns z"
            ]
        );
    }

    #[test]
    fn values_stay_within_their_range() {
        let mut curve = table();
        keep_within(&mut curve, [0.0, 1.0]);
        assert_eq!(place(&curve.keys[1]), [1.0, 1.0]);
    }
}

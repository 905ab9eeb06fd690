//! Placing a control metaphor with a click, and shaping it with handles in the viewport.

use crate::body_frame;
use crate::drafts::{DraggedHandle, Handle};
use crate::selection::Selection;
use crate::session::{Command, GhostRequest};
use crate::studio::Studio;
use crate::theme;
use crate::viewport::{self, SurfaceHit};
use egui::{Color32, PointerButton, Pos2, Response, Stroke, Ui};
use sinew_io::EditTable;
use sinew_io::tables::{CurveKey, CurveTable, KeyedNumber, MetaphorChoice, MetaphorTable};
use sinew_math::Vec3;
use sinew_math::nalgebra::Isometry3;
use sinew_take::GhostSpan;

/// How near the mouse must be to a handle (points).
const NEAR: f32 = 12.0;
/// Points of a circle.
const CIRCLE: usize = 40;
/// Colours of nodes in the parts of a widget.
const NODES: [Color32; 3] =
    [Color32::from_rgb(40, 120, 190), Color32::from_rgb(190, 60, 50), Color32::from_rgb(60, 140, 70)];
/// The seconds over which a new metaphor rises, holds and fades.
const RISE: [f64; 3] = [0.25, 0.75, 1.0];

/// A metaphor with everything that is optional filled in.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Geometry {
    origin: Vec3,
    axis: Vec3,
    normal: Vec3,
    near: f64,
    far: f64,
    radius: f64,
}

impl Geometry {
    fn of(table: &MetaphorTable, size: f64) -> Geometry {
        let vector = |value: Option<[f64; 3]>, default: Vec3| value.map_or(default, Vec3::from);
        let axis = vector(table.axis, Vec3::y()).try_normalize(1e-12).unwrap_or(Vec3::y());
        let far = table.far.unwrap_or(0.3 * size);
        let across = vector(table.normal, if axis.x.abs() < 0.8 { Vec3::x() } else { Vec3::z() });
        let normal = (across - axis * axis.dot(&across)).try_normalize(1e-12).unwrap_or(Vec3::x());
        Geometry {
            origin: vector(table.origin, Vec3::zeros()),
            axis,
            normal,
            near: table.near.unwrap_or(far / 3.0),
            far,
            radius: table.radius.unwrap_or(0.2 * size),
        }
    }

    fn side(&self) -> Vec3 {
        self.axis.cross(&self.normal)
    }

    /// The part of the widget that a point at rest is in: its sides, and the middle of a bend.
    fn part_of(&self, kind: MetaphorChoice, point: &Vec3) -> Option<usize> {
        let r = point - self.origin;
        let along = r.dot(&self.axis);
        if kind == MetaphorChoice::Push {
            return (r.norm() <= self.radius).then_some(0);
        }
        let is_near_axis = (r - self.axis * along).norm() <= self.radius;
        match along.abs() {
            far if is_near_axis && far >= self.near && far <= self.far => Some(usize::from(along > 0.0)),
            near if is_near_axis && kind == MetaphorChoice::Bend && near <= 0.5 * self.near => Some(2),
            _ => None,
        }
    }

    fn place(&self, handle: Handle) -> Vec3 {
        match handle {
            Handle::Origin => self.origin,
            Handle::Far => self.origin + self.axis * self.far,
            Handle::Near => self.origin + self.axis * self.near,
            Handle::Radius => self.origin + self.side() * self.radius,
            Handle::Normal => self.origin + self.normal * (0.6 * self.far),
        }
    }
}

/// The handles of a kind.
fn handles(kind: MetaphorChoice) -> &'static [Handle] {
    match kind {
        MetaphorChoice::Push => &[Handle::Origin, Handle::Far, Handle::Radius],
        MetaphorChoice::Bend => &[Handle::Origin, Handle::Far, Handle::Near, Handle::Radius, Handle::Normal],
        _ => &[Handle::Origin, Handle::Far, Handle::Near, Handle::Radius],
    }
}

impl Studio {
    /// Adds a metaphor where the mouse is, fitted to the part of the body there.
    pub(crate) fn place_metaphor(&mut self, slot: usize, at: Pos2, kind: MetaphorChoice) {
        let Some(hit) = viewport::pick_surface(&self.shown, self.viewports[slot].ray(at)) else {
            self.tell("Click on the surface of a body");
            return;
        };
        let Some(table) = self.metaphor_at(&hit, kind) else { return };
        let edit = EditTable { time: self.time(), metaphor: vec![table], ..EditTable::default() };
        self.selection = Selection::Edit(self.add_edit(edit));
        self.panels.inspector = true;
    }

    /// A metaphor on the part of a body around a point.
    fn metaphor_at(&self, hit: &SurfaceHit, kind: MetaphorChoice) -> Option<MetaphorTable> {
        let document = self.document()?;
        let body = document.model.bodies().get(hit.body)?;
        let size = document.body_size(hit.body);
        let time = self.time();
        let names: Vec<String> = self
            .status
            .edits
            .iter()
            .flat_map(|edit| &edit.metaphor)
            .filter_map(|metaphor| metaphor.name.clone())
            .collect();
        let word = crate::tools::Tool::Metaphor(kind).name().to_lowercase();
        let name = (1..).map(|i| format!("{word} {i}")).find(|name| !names.contains(name));
        let keys = [(0.0, 0.0), (RISE[0], 1.0), (RISE[1], 1.0), (RISE[2], 0.0)];
        let keys = keys.map(|(after, value)| CurveKey::Row([time + after, value])).to_vec();
        let magnitude = KeyedNumber::Curve(CurveTable { keys, ..CurveTable::default() });
        let table = MetaphorTable {
            name,
            body: body.name.clone(),
            kind,
            magnitude: Some(magnitude),
            ..MetaphorTable::default()
        };
        if kind == MetaphorChoice::Push {
            let inverse = body_frame::fit(&self.shown, hit.body, &hit.rest, 0.15 * size)?.rotation.inverse();
            let axis = inverse * -hit.normal;
            return Some(MetaphorTable {
                origin: Some(hit.rest.into()),
                axis: Some(axis.into()),
                radius: Some(0.12 * size),
                ..table
            });
        }

        // the limb around a bone, if there is one near
        if let Some([from, to]) = self.bone_near(&hit.rest, 0.25 * size) {
            let (along, length) = (to - from, (to - from).norm());
            let axis = along / length;
            let off = hit.rest - from;
            let thick = (off - axis * off.dot(&axis)).norm();
            return Some(MetaphorTable {
                origin: Some((0.5 * (from + to)).into()),
                axis: Some(axis.into()),
                normal: (kind == MetaphorChoice::Bend).then(|| across(&axis).into()),
                near: Some(0.12 * length),
                far: Some(0.6 * length),
                radius: Some((1.6 * thick).max(0.03 * size)),
                ..table
            });
        }

        // the part around the point: as long as it is far from being the whole body
        let part: Vec<Vec3> =
            body.surface.vertices.iter().copied().filter(|p| (p - hit.rest).norm() < 0.25 * size).collect();
        let (middle, axes, extents) = body_frame::principal_axes(&part)
            .or_else(|| body_frame::principal_axes(&body.surface.vertices))?;
        Some(MetaphorTable {
            origin: Some(middle.into()),
            axis: Some(axes[0].into()),
            normal: (kind == MetaphorChoice::Bend).then(|| axes[2].into()),
            near: Some(0.3 * extents[0]),
            far: Some(1.05 * extents[0]),
            radius: Some(1.2 * extents[1].max(extents[2])),
            ..table
        })
    }

    /// The bone nearest to a point at rest, from its joint to the next, within a distance (m); none that is much shorter.
    fn bone_near(&self, point: &Vec3, within: f64) -> Option<[Vec3; 2]> {
        let document = self.document()?;
        let mut best: Option<(f64, [Vec3; 2])> = None;
        for rig in document.model.rigs() {
            for (i, bone) in rig.skeleton.bones().iter().enumerate() {
                let Some(parent) = bone.parent else { continue };
                let (Some(from), Some(to)) = (rig.rest_place(parent.index()), rig.rest_place(i)) else {
                    continue;
                };
                let along = to - from;
                if along.norm() < 0.2 * within {
                    continue;
                }
                let fraction = ((point - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
                let distance = (point - from - along * fraction).norm();
                if distance < within && best.is_none_or(|(nearest, _)| distance < nearest) {
                    best = Some((distance, [from, to]));
                }
            }
        }
        best.map(|(_, bone)| bone)
    }

    /// The selected edit with a metaphor: its index and table.
    pub(crate) fn selected_metaphor(&self) -> Option<(usize, MetaphorTable)> {
        let Selection::Edit(edit) = self.selection else { return None };
        self.status.edits.get(edit)?.metaphor.first().map(|table| (edit, table.clone()))
    }

    /// Draws the selected metaphor, and lets its handles be dragged.
    pub(crate) fn metaphor_widget(&mut self, ui: &Ui, slot: usize, response: &Response) {
        let Some((edit, own)) = self.selected_metaphor() else {
            self.dialogs.handle = None;
            return;
        };
        let dragged = self.dialogs.handle.clone().filter(|dragged| dragged.edit == edit);
        let table = dragged.as_ref().map_or(own, |dragged| dragged.table.clone());
        let Some(document) = self.document() else { return };
        let Some(body) = document.model.bodies().iter().position(|body| body.name == table.body) else {
            return;
        };
        let geometry = Geometry::of(&table, document.body_size(body));
        let Some(now) =
            body_frame::fit(&self.shown, body, &geometry.origin, geometry.far.max(geometry.radius))
        else {
            return;
        };
        self.draw_selected_nodes(ui, slot, body, table.kind, &geometry);
        self.draw_metaphor(ui, slot, table.kind, &geometry, &now);

        // handles
        let view = &self.viewports[slot];
        let world = |p: Vec3| now.rotation * p + now.translation.vector;
        let mouse = response.interact_pointer_pos().or(response.hover_pos());
        let pressed = ui.input(|input| input.pointer.press_origin()).or(mouse);
        let painter = ui.painter_at(view.rect);
        let mut under = None;
        for handle in handles(table.kind) {
            let Some(place) = view.project(&world(geometry.place(*handle))) else { continue };
            let is_near = mouse.is_some_and(|mouse| mouse.distance(place) < NEAR);
            let is_dragged = dragged.as_ref().is_some_and(|dragged| dragged.handle == *handle);
            let is_pressed = pressed.is_some_and(|pressed| pressed.distance(place) < NEAR);
            under = if is_pressed && under.is_none() { Some(*handle) } else { under };
            let fill = if is_near || is_dragged { Color32::WHITE } else { theme::ACCENT };
            painter.circle(place, 5.5, fill, Stroke::new(1.5, Color32::from_black_alpha(200)));
        }
        let Some(mouse) = mouse else { return };
        if response.drag_started_by(PointerButton::Primary)
            && let Some(handle) = under
        {
            self.playback.is_playing = false;
            self.dialogs.handle = Some(DraggedHandle { handle, edit, table: table.clone() });
        }
        let Some(dragged) = dragged else { return };
        if response.dragged_by(PointerButton::Primary) {
            let there = view.at_depth_of(mouse, &world(geometry.place(dragged.handle)));
            let at_rest = now.rotation.inverse() * (there - now.translation.vector);
            let table = moved(&table, &geometry, dragged.handle, &at_rest);
            self.dialogs.handle = Some(DraggedHandle { table: table.clone(), ..dragged });
            if table != own_of(&self.status.edits, edit) {
                self.preview_edit(edit, table);
            }
        } else if response.drag_stopped_by(PointerButton::Primary) {
            self.dialogs.handle = None;
            let mut changed = self.status.edits[edit].clone();
            changed.metaphor[0] = dragged.table;
            self.replace_edit(edit, changed);
        }
    }

    /// Shows ghosts of what an edit would do, while it is being shaped.
    pub(crate) fn preview_edit(&mut self, edit: usize, table: MetaphorTable) {
        if !self.show_ghosts {
            return;
        }
        let Some(document) = self.document() else { return };
        let mut edits = self.status.edits.clone();
        edits[edit].metaphor = vec![table];
        let frame = (edits[edit].time * document.fps).round() as usize;
        let span = GhostSpan { frames: document.fps as usize, every: (document.fps / 4.0).max(1.0) as usize };
        self.send(Command::Ghosts(Some(GhostRequest { frame, span, edits })));
    }

    /// The nodes of the cage that forces act on, a colour for each part.
    fn draw_selected_nodes(
        &self,
        ui: &Ui,
        slot: usize,
        body: usize,
        kind: MetaphorChoice,
        geometry: &Geometry,
    ) {
        let Some(document) = self.document() else { return };
        let (view, rest) = (&self.viewports[slot], document.model.node_rest());
        let painter = ui.painter_at(view.rect);
        for node in document.model.bodies()[body].nodes.clone() {
            let Some(part) = rest.get(node).and_then(|place| geometry.part_of(kind, place)) else { continue };
            if let Some(at) = self.shown.state.node_x.get(node).and_then(|place| view.project(place)) {
                painter.circle_filled(at, 1.8, NODES[part]);
            }
        }
    }

    fn draw_metaphor(
        &self,
        ui: &Ui,
        slot: usize,
        kind: MetaphorChoice,
        geometry: &Geometry,
        now: &Isometry3<f64>,
    ) {
        let view = &self.viewports[slot];
        let painter = ui.painter_at(view.rect);
        let world = |p: Vec3| now.rotation * p + now.translation.vector;
        let line = |a: Vec3, b: Vec3, stroke: Stroke| {
            if let (Some(a), Some(b)) = (view.project(&world(a)), view.project(&world(b))) {
                painter.line_segment([a, b], stroke);
            }
        };
        let circle = |middle: Vec3, u: Vec3, v: Vec3, stroke: Stroke| {
            let at = |i: usize| {
                let angle = core::f64::consts::TAU * i as f64 / CIRCLE as f64;
                middle
                    + (u * sinew_math::real::cos(angle) + v * sinew_math::real::sin(angle)) * geometry.radius
            };
            (0..CIRCLE).for_each(|i| line(at(i), at(i + 1), stroke));
        };
        let Geometry { origin, axis, normal, near, far, .. } = *geometry;
        let (strong, weak) =
            (Stroke::new(2.0, theme::ACCENT), Stroke::new(1.2, theme::ACCENT.gamma_multiply(0.7)));
        if kind == MetaphorChoice::Push {
            line(origin - axis * far, origin, strong);
            circle(origin, normal, geometry.side(), weak);
            circle(origin, axis, normal, weak);
            return;
        }
        line(origin - axis * far, origin + axis * far, strong);
        for end in [-far, -near, near, far] {
            circle(origin + axis * end, normal, geometry.side(), weak);
        }
        if kind == MetaphorChoice::Bend {
            line(origin, geometry.place(Handle::Normal), strong);
        }
    }
}

/// A direction across another.
fn across(axis: &Vec3) -> Vec3 {
    let other = if axis.x.abs() < 0.8 { Vec3::x() } else { Vec3::z() };
    (other - axis * axis.dot(&other)).normalize()
}

fn own_of(edits: &[EditTable], edit: usize) -> MetaphorTable {
    edits.get(edit).and_then(|edit| edit.metaphor.first()).cloned().unwrap_or_default()
}

/// A metaphor with a handle at another place at rest.
fn moved(table: &MetaphorTable, geometry: &Geometry, handle: Handle, place: &Vec3) -> MetaphorTable {
    let mut table = table.clone();
    let from_origin = place - geometry.origin;
    let along = from_origin.dot(&geometry.axis);
    match handle {
        Handle::Origin => table.origin = Some((*place).into()),
        Handle::Far => {
            if let Some(axis) = from_origin.try_normalize(1e-9) {
                table.axis = Some(axis.into());
                if table.kind != MetaphorChoice::Push {
                    table.far = Some(from_origin.norm());
                    table.near = Some(geometry.near.min(0.9 * from_origin.norm()));
                }
            }
        }
        Handle::Near => table.near = Some(along.clamp(0.0, 0.95 * geometry.far)),
        Handle::Radius => {
            let across = if table.kind == MetaphorChoice::Push {
                from_origin
            } else {
                from_origin - geometry.axis * along
            };
            table.radius = Some(across.norm().max(1e-4));
        }
        Handle::Normal => {
            if let Some(normal) = (from_origin - geometry.axis * along).try_normalize(1e-9) {
                table.normal = Some(normal.into());
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> MetaphorTable {
        MetaphorTable {
            kind: MetaphorChoice::Twist,
            origin: Some([0.0, 1.0, 0.0]),
            axis: Some([0.0, 0.0, 2.0]),
            near: Some(0.1),
            far: Some(0.4),
            radius: Some(0.2),
            ..MetaphorTable::default()
        }
    }

    #[test]
    fn nodes_are_in_the_parts_that_planes_and_radius_bound() {
        let geometry = Geometry::of(&table(), 1.0);
        let part = |kind, x, z| geometry.part_of(kind, &Vec3::new(x, 1.0, z));
        let twist = MetaphorChoice::Twist;
        assert_eq!([0.3, -0.3, 0.05, 0.5].map(|z| part(twist, 0.0, z)), [Some(1), Some(0), None, None]);
        assert_eq!(part(twist, 0.25, 0.3), None, "beyond the radius");
        assert_eq!(part(MetaphorChoice::Bend, 0.0, 0.04), Some(2));
        assert_eq!([0.15, 0.25].map(|x| part(MetaphorChoice::Push, x, 0.0)), [Some(0), None]);
    }

    #[test]
    fn a_handle_that_is_moved_is_where_it_was_put() {
        for (handle, place) in [
            (Handle::Origin, Vec3::new(1.0, 2.0, 3.0)),
            (Handle::Far, Vec3::new(0.3, 1.0, 0.6)),
            (Handle::Near, Vec3::new(0.0, 1.0, 0.25)),
        ] {
            let geometry = Geometry::of(&table(), 1.0);
            let changed = Geometry::of(&moved(&table(), &geometry, handle, &place), 1.0);
            assert!((changed.place(handle) - place).norm() < 1e-12, "{handle:?}");
        }
        let geometry = Geometry::of(&table(), 1.0);
        let changed = moved(&table(), &geometry, Handle::Radius, &Vec3::new(0.3, 1.4, 0.7));
        assert!((changed.radius.unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_part_begins_before_it_ends() {
        let geometry = Geometry::of(&table(), 1.0);
        let changed = moved(&table(), &geometry, Handle::Far, &Vec3::new(0.0, 1.0, 0.05));
        assert!(changed.near.unwrap() < changed.far.unwrap());
        let changed = moved(&table(), &geometry, Handle::Near, &Vec3::new(0.0, 1.0, 7.0));
        assert!(changed.near.unwrap() < changed.far.unwrap_or(0.4));
    }
}

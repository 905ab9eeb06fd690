//! The widget of a metaphor on its body: defaults filled in, and the nodes within it.

use super::direction;
use crate::body::Body;
use crate::desc::{MetaphorDesc, MetaphorKind};
use sinew_math::{Mat3, Vec3};

/// A widget with all its numbers.
pub(super) struct Widget {
    pub(super) origin: Vec3,
    /// The axis, the normal and the direction across both, as columns.
    pub(super) axes: Mat3,
    pub(super) near: f64,
    pub(super) far: f64,
    pub(super) radius: f64,
}

/// Nodes within a part of a widget.
pub(super) struct Selection {
    /// What messages call the part.
    pub(super) name: &'static str,
    pub(super) nodes: Vec<u32>,
}

/// Radius of a push as a fraction of the longest side of the body's bounding box.
const PUSH_RADIUS: f64 = 0.2;

impl Widget {
    /// Places a widget on a body.
    pub(super) fn place(desc: &MetaphorDesc, body: &Body) -> Result<Widget, String> {
        // the frame
        let (low, high) = body.surface.bounds().unwrap_or_default();
        let (middle, sides) = (0.5 * (low + high), high - low);
        let own = &desc.widget;
        let origin = own.origin.unwrap_or(middle);
        if !origin.iter().all(|x| x.is_finite()) {
            return Err(format!("its origin {:?} is not finite", origin.as_slice()));
        }
        let is_push = desc.kind == MetaphorKind::Push;
        let axis = match &own.axis {
            Some(axis) => direction("axis", axis)?,
            None if is_push => (middle - origin).try_normalize(1e-9 * sides.norm()).ok_or(
                "its origin is the middle of the body, which leaves no direction to push in: give an `axis`, or an `origin` on the surface",
            )?,
            None => unit_along(sides.imax()),
        };
        let normal = match &own.normal {
            Some(normal) => direction("normal", normal)?,
            None => default_normal(&sides, &axis),
        };
        let normal = (normal - axis * axis.dot(&normal)).try_normalize(1e-6).ok_or(
            "its normal is parallel to its axis: give a direction across, the one in which a bend moves both ends",
        )?;

        // distances
        let reach = body.surface.vertices.iter().map(|x| axis.dot(&(x - origin)));
        let (back, front) = reach.fold((0.0_f64, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        let far = own.far.unwrap_or(f64::INFINITY);
        let near = own.near.unwrap_or(if far.is_finite() { far / 3.0 } else { 0.5 * front.min(-back) });
        let radius = own.radius.unwrap_or(if is_push { PUSH_RADIUS * sides.amax() } else { f64::INFINITY });
        if !(near >= 0.0 && near < far) {
            return Err(format!(
                "near = {near} m and far = {far} m: near must be 0 or more, and less than far"
            ));
        }
        if radius.is_nan() || radius <= 0.0 {
            return Err(format!("its radius is {radius} m: it must be above 0"));
        }
        Ok(Widget {
            origin,
            axes: Mat3::from_columns(&[axis, normal, axis.cross(&normal)]),
            near,
            far,
            radius,
        })
    }

    /// The nodes of a body in each part of the widget, or where a part has none the nodes that carry the surface in it.
    pub(super) fn select(&self, kind: MetaphorKind, body: &Body, node_rest: &[Vec3]) -> Vec<Selection> {
        let (near, far, radius) = (self.near, self.far, self.radius);
        let in_slab = move |r: &Vec3, side: f64| {
            let x = side * r.x;
            x >= near && x <= far && x > 0.0 && r.yz().norm() <= radius
        };
        let left = move |r: &Vec3| in_slab(r, -1.0);
        let right = move |r: &Vec3| in_slab(r, 1.0);
        let joint = move |r: &Vec3| r.x.abs() <= 0.5 * near && r.yz().norm() <= radius;
        let ball = move |r: &Vec3| r.norm() <= radius;
        let pick = |name, is_inside: &dyn Fn(&Vec3) -> bool| Selection {
            name,
            nodes: self.nodes_within(is_inside, body, node_rest),
        };
        let [left, right] = [pick("left part", &left), pick("right part", &right)];
        match kind {
            MetaphorKind::Stretch | MetaphorKind::Twist => vec![left, right],
            MetaphorKind::Bend => vec![left, pick("middle", &joint), right],
            MetaphorKind::Push => vec![pick("ball", &ball)],
        }
    }

    /// All nodes of a body within the widget, with those between its parts, in order.
    pub(super) fn region(&self, kind: MetaphorKind, body: &Body, node_rest: &[Vec3]) -> Vec<u32> {
        let is_inside = |r: &Vec3| match kind {
            MetaphorKind::Push => r.norm() <= self.radius,
            _ => r.x.abs() <= self.far && r.yz().norm() <= self.radius,
        };
        let holds = |node: &usize| is_inside(&self.coordinates(&node_rest[*node]));
        body.nodes.clone().filter(holds).map(|node| node as u32).collect()
    }

    fn nodes_within(&self, is_inside: &dyn Fn(&Vec3) -> bool, body: &Body, node_rest: &[Vec3]) -> Vec<u32> {
        let holds = |x: &Vec3| is_inside(&self.coordinates(x));
        let mut nodes: Vec<u32> =
            body.nodes.clone().filter(|node| holds(&node_rest[*node])).map(|node| node as u32).collect();
        if nodes.is_empty() {
            let vertices = body.surface.vertices.iter().enumerate().filter(|(_, x)| holds(x));
            let first = body.nodes.start as u32;
            nodes = vertices
                .flat_map(|(vertex, _)| body.embedding.point(vertex).map(move |(node, _)| first + node))
                .collect();
            nodes.sort_unstable();
            nodes.dedup();
        }
        nodes
    }

    /// A point at rest in control coordinates (m).
    pub(super) fn coordinates(&self, x: &Vec3) -> Vec3 {
        self.axes.transpose() * (x - self.origin)
    }

    /// The message for a part without nodes.
    pub(super) fn nothing_there(&self, part: &str, body: &Body, node_rest: &[Vec3]) -> String {
        let points = || body.nodes.clone().map(|node| self.coordinates(&node_rest[node]));
        let (low, high) =
            points().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), r| (low.min(r.x), high.max(r.x)));
        let nearest = points().map(|r| r.norm()).fold(f64::INFINITY, f64::min);
        let widest = points().map(|r| r.yz().norm()).fold(0.0, f64::max);
        format!(
            "its {part} selects no nodes: along its axis the nodes of body '{}' reach from {low:.4} to {high:.4} m, up to {widest:.4} m from it, and the nearest is {nearest:.4} m from its origin, \
             but its parts are between near = {:.4} m and far = {:.4} m on both sides, within {:.4} m: move its origin, or change near, far or radius",
            body.name, self.near, self.far, self.radius
        )
    }
}

fn unit_along(axis: usize) -> Vec3 {
    let mut unit = Vec3::zeros();
    unit[axis] = 1.0;
    unit
}

/// Along the shortest side of a box of those that are across an axis.
fn default_normal(sides: &Vec3, axis: &Vec3) -> Vec3 {
    let along = axis.iamax();
    let shortest = (0..3).filter(|side| *side != along).min_by(|a, b| sides[*a].total_cmp(&sides[*b]));
    unit_along(shortest.unwrap_or(1))
}

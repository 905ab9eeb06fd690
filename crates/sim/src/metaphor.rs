//! Control metaphors: patterns of forces on the nodes of a body that stretch, bend, twist or push it.   \[Transue2014, IV and V\]
//!
//! Nodes are chosen at rest, by the geometry of a widget. Forces are those of the control frame, whose axes turn with the local frame of the body and whose origin moves with the chosen nodes:
//!
//! ```text
//! stretch   f = ∓ F w x̂                           on the left and the right set,   w = m/Σ m over the set
//! twist     f = ∓ T w (x̂ × p)/Σ w |p|²            p: from the axis to the node
//! bend      f = F w (u × ẑ),  F w (ẑ × u),         on the left and the right set, u: from the middle of the joint set to that of the set,
//!           f = − w (sum of both)                  on the joint set
//! push      f = F w x̂                              on one set
//! ```
//!
//! Compression fades where both sets come close.
//!
//! Unless net forces are asked for, the resultant force and torque are removed by the smallest mass-weighted field that does so, that of a rigid motion (for pushes over the whole body, which is known as inertia relief):
//!
//! ```text
//! f ← f − m (a + α × (x − x̄)),    Σ m a = Σ f,    J α = Σ (x − x̄) × f
//! ```

mod effect;
mod local_frame;
mod pattern;
mod twist_angle;

pub(crate) use effect::Effect;
pub use local_frame::BodyPose;
pub(crate) use local_frame::LocalFrame;
pub(crate) use twist_angle::Slice;

use crate::desc::MetaphorKind;
use sinew_math::{Mat3, Vec3, real};
use twist_angle::twist_angle;

/// A control metaphor of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Metaphor {
    /// Its name.
    pub name: String,
    /// The body that it acts on: an index into [`crate::Model::bodies`].
    pub body: usize,
    /// What it does.
    pub kind: MetaphorKind,
    /// The sets of nodes: left and right, for a bend left, joint and right, for a push one.
    pub sets: Vec<NodeSet>,
    /// The origin of the control frame at rest (m).
    pub origin: Vec3,
    /// Its axes at rest, as columns.
    pub axes: Mat3,
    /// The force, for a twist the torque, of magnitude 1 (N or N m).
    pub unit: f64,
    /// What a body that follows the pattern does under it: m, for a twist rad. Zero where nothing could be found out about its stiffness.
    pub expected_response: f64,
    pub(crate) leaves_net: bool,
    /// The longest side of the body's bounding box at rest (m).
    pub(crate) size: f64,
    pub(crate) frame: LocalFrame,
    /// All nodes that it acts on, and their masses (kg); those of the sets are indices into it.
    pub(crate) nodes: Vec<(u32, f64)>,
    /// Slices of the body across the axis of a twist, in order.
    pub(crate) slices: Vec<Slice>,
    /// The tets of the model within the widget and around it, by which it is judged whether the body bears its forces.
    pub(crate) region: Vec<u32>,
}

/// One set of nodes of a metaphor.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSet {
    /// The nodes, as nodes of the model.
    pub nodes: Vec<u32>,
    /// The fraction of the mass of the set that each node has.
    pub weights: Vec<f64>,
    /// Places of the nodes among all that the metaphor acts on.
    pub(crate) places: Vec<u32>,
    /// The centre of mass at rest (m).
    pub rest_center: Vec3,
}

/// The control frame of a metaphor in a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlFrame {
    /// The pose of the body.
    pub body: BodyPose,
    /// The origin (m).
    pub origin: Vec3,
    /// The axes, as columns: along the widget, along its normal, and across both.
    pub axes: Mat3,
}

impl NodeSet {
    /// The centre of mass with nodes at positions (m).
    pub fn center(&self, x: &[Vec3]) -> Vec3 {
        self.nodes.iter().zip(&self.weights).map(|(node, weight)| *weight * x[*node as usize]).sum()
    }
}

impl Metaphor {
    /// The control frame with nodes at positions (m).
    pub fn control_frame(&self, x: &[Vec3]) -> ControlFrame {
        self.frame_on(self.frame.find(x), x)
    }

    /// The control frame on a body with a known pose: directions are those of the body, the origin moves with the sets.
    pub(crate) fn frame_on(&self, body: BodyPose, x: &[Vec3]) -> ControlFrame {
        let count = self.sets.len() as f64;
        let (mut now, mut rest) = (Vec3::zeros(), Vec3::zeros());
        for set in &self.sets {
            now += set.center(x) / count;
            rest += set.rest_center / count;
        }
        let origin = now + body.rotation * (self.origin - rest);
        ControlFrame { body, origin, axes: body.rotation * self.axes }
    }

    /// The largest distance of its nodes from their places in the pose of the body (m); NaN if any position is.
    pub(crate) fn max_distance(&self, rest: &[Vec3], x: &[Vec3]) -> f64 {
        let pose = self.frame.find(x);
        let away = |node: u32| (x[node as usize] - pose.carry(&rest[node as usize])).norm();
        self.nodes.iter().fold(0.0, |max: f64, (node, _)| {
            let own = away(*node);
            if own > max || own.is_nan() { own } else { max }
        })
    }

    /// The fraction of the tets of its region that are inverted, with nodes at positions `x` (m).
    pub(crate) fn inverted(&self, tets: &[[u32; 4]], rest: &[Vec3], x: &[Vec3]) -> f64 {
        let volume = |tet: &[u32; 4], x: &[Vec3]| {
            let [a, b, c, d] = tet.map(|node| x[node as usize]);
            (b - a).cross(&(c - a)).dot(&(d - a))
        };
        let is_inverted = |tet: &&u32| {
            let tet = &tets[**tet as usize];
            volume(tet, x) * volume(tet, rest) <= 0.0
        };
        self.region.iter().filter(is_inverted).count() as f64 / self.region.len().max(1) as f64
    }

    /// What a metaphor has done to its body, with nodes at positions `x` (m): by how much the distance of both sets along the axis has grown, how far the middle has left the line between both ends against the normal, by which angle one set
    /// has turned against the other (rad), or how far the set has moved along the axis beside the body. In m but for a twist.   `[Transue2014, X]`
    pub fn response(&self, rest: &[Vec3], x: &[Vec3]) -> f64 {
        let frame = self.control_frame(x);
        let axis: Vec3 = frame.axes.column(0).into();
        match (self.kind, self.sets.as_slice()) {
            (MetaphorKind::Stretch, [left, right]) => {
                let at_rest = self.axes.column(0).dot(&(right.rest_center - left.rest_center));
                axis.dot(&(right.center(x) - left.center(x))) - at_rest
            }
            (MetaphorKind::Twist, _) => twist_angle(&self.slices, &frame, rest, x),
            (MetaphorKind::Bend, [left, joint, right]) => {
                let height = |[l, j, r]: [Vec3; 3], normal: Vec3| {
                    let line = r - l;
                    let along = line.dot(&(j - l)) / line.norm_squared().max(f64::MIN_POSITIVE);
                    normal.dot(&(l + along * line - j))
                };
                let sets = [left, joint, right];
                height(sets.map(|set| set.center(x)), frame.axes.column(1).into())
                    - height(sets.map(|set| set.rest_center), self.axes.column(1).into())
            }
            (MetaphorKind::Push, [set]) => axis.dot(&(set.center(x) - frame.body.carry(&set.rest_center))),
            _ => 0.0,
        }
    }
}

/// The angle by which a set has turned about the axis of a frame (rad): of the rotation that fits it best in the plane across the axis.
fn turned(set: &NodeSet, frame: &ControlFrame, rest: &[Vec3], x: &[Vec3]) -> f64 {
    let axis: Vec3 = frame.axes.column(0).into();
    let across = |v: Vec3| v - axis * axis.dot(&v);
    let center = set.center(x);
    let (mut sine, mut cosine) = (0.0, 0.0);
    for (node, weight) in set.nodes.iter().zip(&set.weights) {
        let before = across(frame.body.rotation * (rest[*node as usize] - set.rest_center));
        let now = across(x[*node as usize] - center);
        sine += weight * axis.dot(&before.cross(&now));
        cosine += weight * before.dot(&now);
    }
    real::atan2(sine, cosine)
}

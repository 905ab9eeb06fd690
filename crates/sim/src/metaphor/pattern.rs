//! The forces of a metaphor, and the removal of their resultant.

use super::{ControlFrame, Metaphor, NodeSet};
use crate::desc::MetaphorKind;
use crate::part::RigidMoments;
use sinew_math::Vec3;

/// Distances of both sets, as fractions of that at rest, at which compression begins to fade and at which it has ended. From 0.6 to 0.3, an ear that buckled was still carried through itself by its momentum.
const CLOSE: f64 = 1.0;
const CLOSEST: f64 = 0.4;

impl Metaphor {
    /// Writes the force of the given amplitude (N, for a twist N m) on each of its nodes, with nodes at positions `x` (m).
    pub(crate) fn write_forces(
        &self,
        frame: &ControlFrame,
        amplitude: f64,
        x: &[Vec3],
        forces: &mut Vec<Vec3>,
    ) {
        forces.clear();
        forces.resize(self.nodes.len(), Vec3::zeros());
        let [axis, normal, across]: [Vec3; 3] = [0, 1, 2].map(|i| frame.axes.column(i).into());
        match (self.kind, self.sets.as_slice()) {
            (MetaphorKind::Stretch, [left, right]) => {
                let amplitude = amplitude * self.kept_of_compression(&axis, amplitude, x);
                add(left, -amplitude * axis, forces);
                add(right, amplitude * axis, forces);
            }
            (MetaphorKind::Twist, [left, right]) => {
                add_torque(left, frame, -amplitude, x, forces);
                add_torque(right, frame, amplitude, x, forces);
            }
            (MetaphorKind::Bend, [left, joint, right]) => {
                let middle = joint.center(x);
                let arm = |set: &NodeSet| {
                    let arm = set.center(x) - middle;
                    (arm - across * across.dot(&arm)).try_normalize(0.0)
                };
                let on_left = arm(left).map_or(normal, |arm| arm.cross(&across)) * amplitude;
                let on_right = arm(right).map_or(normal, |arm| across.cross(&arm)) * amplitude;
                add(left, on_left, forces);
                add(right, on_right, forces);
                add(joint, -(on_left + on_right), forces);
            }
            (MetaphorKind::Push, [set]) => add(set, amplitude * axis, forces),
            _ => {}
        }
        if !self.leaves_net {
            self.remove_resultant(x, forces);
        }
    }

    /// The fraction of a compression that is left: it ends where both sets have come close, so that they do not pass each other when what is between them buckles.
    fn kept_of_compression(&self, axis: &Vec3, amplitude: f64, x: &[Vec3]) -> f64 {
        let [left, right] = self.sets.as_slice() else { return 1.0 };
        let at_rest = self.axes.column(0).dot(&(right.rest_center - left.rest_center));
        let distance = axis.dot(&(right.center(x) - left.center(x)));
        if amplitude >= 0.0 || at_rest <= 0.0 {
            return 1.0;
        }
        ((distance / at_rest - CLOSEST) / (CLOSE - CLOSEST)).clamp(0.0, 1.0)
    }

    /// Subtracts the field of the rigid acceleration that the forces amount to.
    fn remove_resultant(&self, x: &[Vec3], forces: &mut [Vec3]) {
        let Some((first, _)) = self.nodes.first() else { return };
        let origin = x[*first as usize];
        let mut sums = RigidMoments::default();
        for ((node, mass), force) in self.nodes.iter().zip(&*forces) {
            sums.add(*mass, &(x[*node as usize] - origin), &(force / *mass));
        }
        let field = sums.field(&origin);
        for ((node, mass), force) in self.nodes.iter().zip(forces) {
            *force -= *mass * field.at(&x[*node as usize]);
        }
    }
}

/// Distributes a force over a set by mass.
fn add(set: &NodeSet, force: Vec3, forces: &mut [Vec3]) {
    for (place, weight) in set.places.iter().zip(&set.weights) {
        forces[*place as usize] += *weight * force;
    }
}

/// Distributes a torque about the axis over a set: T w (x̂ × p)/Σ w |p|².
fn add_torque(set: &NodeSet, frame: &ControlFrame, torque: f64, x: &[Vec3], forces: &mut [Vec3]) {
    let axis: Vec3 = frame.axes.column(0).into();
    let lever = |node: u32| {
        let r = x[node as usize] - frame.origin;
        r - axis * axis.dot(&r)
    };
    let second: f64 =
        set.nodes.iter().zip(&set.weights).map(|(node, weight)| weight * lever(*node).norm_squared()).sum();
    if second <= 0.0 {
        return;
    }
    for ((node, weight), place) in set.nodes.iter().zip(&set.weights).zip(&set.places) {
        forces[*place as usize] += (torque * weight / second) * axis.cross(&lever(*node));
    }
}

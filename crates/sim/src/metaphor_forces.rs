//! Forces of control metaphors in time steps.
//!
//! The pose of a body is found once per step. Within an explicit step forces follow the nodes from sub-step to sub-step, so that no sub-step changes the momentum or the angular momentum of the body. An implicit stage takes them
//! as constant, where nodes are going to be: x + h v.

use crate::metaphor::{BodyPose, Metaphor};
use crate::{Control, Model, State};
use sinew_math::Vec3;

/// Workspace of metaphors.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetaphorForces {
    /// The pose of the body of each metaphor.
    poses: Vec<BodyPose>,
    /// Forces of one metaphor on its nodes (N).
    forces: Vec<Vec3>,
    /// Node and force (N) of all that act, metaphor by metaphor.
    pub(crate) applied: Vec<(u32, Vec3)>,
    /// Predicted positions (m).
    predicted: Vec<Vec3>,
}

impl MetaphorForces {
    /// Finds the poses of bodies at the beginning of a step, with nodes at positions `x` (m).
    pub(crate) fn begin(&mut self, model: &Model, control: &Control, x: &[Vec3]) {
        self.poses.clear();
        self.poses.extend(model.metaphors().iter().enumerate().map(|(i, metaphor)| {
            if control.metaphor(i) == [0.0; 2] { BodyPose::default() } else { metaphor.frame.find(x) }
        }));
    }

    /// Adds the forces after a fraction of the step to those on nodes (N), with nodes at positions `x` (m).
    pub(crate) fn push(
        &mut self,
        model: &Model,
        control: &Control,
        fraction: f64,
        x: &[Vec3],
        node_force: &mut [Vec3],
    ) {
        self.applied.clear();
        for (i, (metaphor, pose)) in model.metaphors().iter().zip(&self.poses).enumerate() {
            let [from, to] = control.metaphor(i);
            let magnitude = from + fraction * (to - from);
            if magnitude == 0.0 || control.body_waits(model, metaphor.body) {
                continue;
            }
            let frame = metaphor.frame_on(*pose, x);
            metaphor.write_forces(&frame, magnitude * metaphor.unit, x, &mut self.forces);
            for ((node, _), force) in metaphor.nodes.iter().zip(&self.forces) {
                node_force[*node as usize] += force;
                self.applied.push((*node, *force));
            }
        }
    }

    /// The same for an implicit stage of `h` (s) that begins in a state and ends after a fraction of the step.
    pub(crate) fn push_ahead(
        &mut self,
        model: &Model,
        control: &Control,
        (fraction, h): (f64, f64),
        state: &State,
        node_force: &mut [Vec3],
    ) {
        let mut predicted = core::mem::take(&mut self.predicted);
        predicted.clear();
        predicted.extend(state.node_x.iter().zip(&state.node_v).map(|(x, v)| x + h * v));
        self.begin(model, control, &predicted);
        self.push(model, control, fraction, &predicted, node_force);
        self.predicted = predicted;
    }

    /// The work of the forces that act, in a sub-step of `h` (s) at the velocities (m/s) that it has led to (J).
    pub(crate) fn work(&self, h: f64, node_v: &[Vec3]) -> f64 {
        self.applied.iter().map(|(node, force)| h * force.dot(&node_v[*node as usize])).sum()
    }
}

/// The force of all metaphors on each node (N) in a state, with the control at the end of its step; several on one node add up.   `[Transue2014, eq. 4.1]`
pub fn metaphor_forces(model: &Model, control: &Control, state: &State) -> Vec<Vec3> {
    let mut sum = vec![Vec3::zeros(); model.node_count()];
    let mut forces = MetaphorForces::default();
    forces.begin(model, control, &state.node_x);
    forces.push(model, control, 1.0, &state.node_x, &mut sum);
    sum
}

/// What a metaphor of a model has done to its body in a state; see [`Metaphor::response`].
pub fn metaphor_response(model: &Model, metaphor: &Metaphor, state: &State) -> f64 {
    metaphor.response(model.node_rest(), &state.node_x)
}

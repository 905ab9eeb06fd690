//! The control of the joints of one rig: its performance, then servos and direct control.

use crate::direct_control::{DirectControl, DirectTask};
use crate::goal::{Goal, GoalAnchor, GoalPoint};
use crate::performance::{CueDrive, Performance};
use crate::reach::{Reach, Wanted};
use crate::servo::Servo;
use sinew_sim::{Model, RigControl, RigResponse, State};

/// Workspace of the control of one rig. Dropping it costs time, never a different result.
#[derive(Clone, Debug, Default)]
pub struct JointControl {
    reach: Reach,
    response: RigResponse,
    direct: DirectControl,
    /// Points of goals that have been found, in a model of so many nodes.
    anchors: Vec<(GoalPoint, GoalAnchor)>,
    node_count: usize,
}

impl JointControl {
    /// Writes the control of a rig for the step of `dt` (s) that starts at a state.
    pub(crate) fn play(
        &mut self,
        performance: &Performance,
        (model, rig): (&Model, usize),
        (state, dt): (&State, f64),
        control: &mut RigControl,
    ) {
        // the goals of this step
        let (time, skeleton) = (state.time, &model.rigs()[rig].skeleton);
        self.find_anchors(performance, (model, rig), time);
        let JointControl { reach, response, direct, anchors, .. } = self;
        let wanted: Vec<Wanted> =
            performance.goals.iter().filter_map(|goal| find(goal, anchors, time)).collect();

        // the motion, bent by goals
        let own = &state.rigs[rig];
        performance.control(&model.rigs()[rig], (time, dt), own, (reach, &wanted), control);
        if time < 0.0 || performance.cues.is_empty() {
            return;
        }

        // torques of servos, then accelerations of direct control beside them
        let max_torque = performance.max_torque.unwrap_or(f64::INFINITY);
        let servos = performance.driven(skeleton, time, |drive| *drive == CueDrive::Servo);
        let bones = performance.driven(skeleton, time, |drive| *drive == CueDrive::Direct);
        if !servos.is_empty() {
            let servo = Servo { bones: &servos, max_torque, time_constant: performance.follow.time_constant };
            servo.drive((model, rig), response, (state, dt), control);
        }
        let wanted: Vec<Wanted> = wanted.into_iter().filter(|(goal, _)| goal.is_wanted(time)).collect();
        if !bones.is_empty() && !wanted.is_empty() {
            response.update(model, rig, state);
            let task = DirectTask { model, rig, state, dt, wanted: &wanted, bones: &bones, max_torque };
            direct.drive(task, response, control);
        }
    }

    /// Finds the points of goals that are wanted at a time (s) and have not been found yet.
    fn find_anchors(&mut self, performance: &Performance, (model, rig): (&Model, usize), time: f64) {
        if self.node_count != model.node_count() {
            self.anchors.clear();
            self.node_count = model.node_count();
        }
        for goal in performance.goals.iter().filter(|goal| goal.is_felt(time)) {
            if self.anchors.iter().all(|(point, _)| *point != goal.point)
                && let Ok(anchor) = GoalAnchor::find(model, rig, goal)
            {
                self.anchors.push((goal.point.clone(), anchor));
            }
        }
    }
}

/// A goal with its point, if it is felt at a time (s).
fn find<'a>(goal: &'a Goal, anchors: &'a [(GoalPoint, GoalAnchor)], time: f64) -> Option<Wanted<'a>> {
    let (_, anchor) = anchors.iter().find(|(point, _)| *point == goal.point)?;
    goal.is_felt(time).then_some((goal, anchor))
}

impl Performance {
    /// Checks the performance against a rig of a model, the points of its goals included, and returns the first fault.
    pub fn fault_in(&self, model: &Model, rig: usize) -> Option<String> {
        let fault = |goal: &Goal| {
            GoalAnchor::find(model, rig, goal).err().map(|what| format!("goal '{}': {what}", goal.name))
        };
        self.fault(&model.rigs()[rig].skeleton).or_else(|| self.goals.iter().find_map(fault))
    }
}

//! Direct control: joint accelerations that bring points of bones or skin to where they are wanted, as well as physics allows.      [KimPollard2011, §7]
//!
//! In every step a small bounded least-squares problem over the accelerations x of the active joints is solved. The motion of the whole skeleton, of its root above all, follows from them by hybrid dynamics
//! ([`RigResponse`]), so the acceleration of a goal's point is affine in x:
//!
//! ```text
//! min Σ |G x + c − a*|² + ρ |x − x₀|²     subject to   l ≤ x ≤ u,   |τ| = |T x + t| ≤ τ_max
//! ```
//!
//! a* is that of a critically damped spring to the target, x₀ returns joints to the motion, and ρ keeps x small where joints hardly move the point. Goals are solved level by level of priority, those of higher levels
//! as heavy as need be. A target beyond reach would ask for an acceleration for ever, and a floating character would throw its other limbs about to give it: it is replaced by the nearest place that inverse kinematics
//! finds from where the root is. Goals of the root itself stay as they are on the ground, and wait in the air. Bounds keep joints within their limits and speeds. The answer is a path of the active joints alone: nothing from outside acts on the character, and what it does to its momentum only contact does.

use crate::goal::{Goal, GoalAnchor};
use crate::part_slot::bone_ids;
use crate::reach::{LEVER, Reach, Wanted, size_of};
use crate::servo::{MAX_RELEASES, drives_of, set};
use sinew_math::bounded_least_squares::{Rows, dot, solve_with_inequalities};
use sinew_math::{Vec3, real, so3};
use sinew_sim::{Model, RigControl, RigResponse, State};
use sinew_skeleton::{BoneId, DriveKind, Drives, Kinematics, Skeleton, SkeletonState};

/// ρ relative to the mean of the diagonal of GᵀG: directions in which a joint moves the point by a thirtieth of the mean are given up.
const REGULARISATION: f64 = 1e-3;
/// The lever below which joints do not move a point, on the ground and in the air, as a fraction of the size of the skeleton, and the time constant with which they come to rest then (s).
const SMALLEST_LEVERS: [f64; 2] = [0.05, 1e-3];
const SLOWING: f64 = 0.05;
/// Weight of rows that a higher level has met: they give way by a ten-thousandth.
const PLACED: f64 = 100.0;
/// Bounds of joint accelerations (rad/s² or m/s²) and speeds (rad/s or m/s): faster than any animal of this size moves, slow enough for a step.
const MAX_ACCELERATION: f64 = 600.0;
const MAX_SPEED: f64 = 15.0;
/// √ of how much more joints count in ρ that are not between a goal and the root: they support, and are not thrown about to shift the body.
const SUPPORT: f64 = 10.0;
/// Steps within which a joint comes to its limit at most: it then slows down smoothly.
const STEPS_TO_LIMIT: f64 = 3.0;
/// The distance from which a point is pulled no harder, as a fraction of the size of the skeleton.
const FARTHEST: f64 = 0.5;
/// What limbs are compared with (m/s²), in any gravity, and the lowest bound of a speed (m/s).
const GRAVITY: f64 = 9.81;
const MIN_SPEED: f64 = 0.1;
/// A target that joints miss by more than this fraction of the size of the skeleton is beyond reach.
const MISSED: f64 = 1e-4;

/// Workspace of direct control.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectControl {
    kinematics: Kinematics,
    reach: Reach,
    /// For each goal how far its target is beyond reach (m, rad).
    missed: Vec<(Vec3, Vec3)>,
    /// Degrees of freedom that are sought.
    dofs: Vec<usize>,
    /// G and T, and what they are at x = 0: c and t.
    goal_rows: Rows,
    goal_base: Vec<f64>,
    torque_rows: Rows,
    torque_base: Vec<f64>,
    /// a*, and the priority of each row.
    aim: Vec<f64>,
    level: Vec<u32>,
    /// For each unknown its weight in ρ relative to that of joints that lead to a goal.
    support: Vec<f64>,
    /// Their speeds (rad/s or m/s).
    speeds: Vec<f64>,
    /// Joints with a smaller lever do not move a point (m).
    smallest_lever: f64,
}

/// What a step of direct control is for.
#[derive(Clone, Copy)]
pub(crate) struct DirectTask<'a> {
    pub(crate) model: &'a Model,
    pub(crate) rig: usize,
    pub(crate) state: &'a State,
    pub(crate) dt: f64,
    /// The goals that are wanted.
    pub(crate) wanted: &'a [Wanted<'a>],
    /// The bones whose joints are active.
    pub(crate) bones: &'a [BoneId],
    /// τ_max (N m or N).
    pub(crate) max_torque: f64,
}

impl DirectTask<'_> {
    fn skeleton(&self) -> &Skeleton {
        &self.model.rigs()[self.rig].skeleton
    }

    fn joints(&self) -> &SkeletonState {
        &self.state.rigs[self.rig]
    }
}

impl DirectControl {
    /// Replaces the paths of the active joints, which lead back to the motion, by those that meet the goals best.
    pub(crate) fn drive(&mut self, task: DirectTask, response: &mut RigResponse, control: &mut RigControl) {
        // in the air nothing moves the root but limbs that are thrown about: its goals wait for contact
        let is_free =
            |bone: &BoneId| task.bones.contains(bone) && task.skeleton().bone(*bone).joint.v_count > 0;
        let leads = |bone: BoneId| ancestors(task.skeleton(), bone).any(|bone| is_free(&bone));
        let is_wanted = |wanted: &&Wanted| response.has_contact() || leads(wanted.1.bone);
        let wanted: Vec<Wanted> = task.wanted.iter().filter(is_wanted).copied().collect();
        let task = DirectTask { wanted: &wanted, ..task };

        // the unknowns, and where they go without goals
        let skeleton = task.skeleton();
        self.dofs.clear();
        self.dofs.extend(task.bones.iter().flat_map(|bone| skeleton.bone(*bone).joint.v()));
        if self.dofs.is_empty() || task.wanted.is_empty() {
            return;
        }
        let v = &task.joints().v;
        self.speeds.clear();
        self.speeds.extend(self.dofs.iter().map(|dof| v[*dof]));
        let posture: Vec<f64> =
            self.dofs.iter().map(|dof| (control.to.v[*dof] - v[*dof]) / task.dt).collect();
        let size = size_of(skeleton, &mut self.kinematics);
        self.smallest_lever = SMALLEST_LEVERS[usize::from(!response.has_contact())] * size;
        self.find_missed(task, size);
        self.set_aims(task, response, size);
        let mut first = 0;
        for (goal, anchor) in task.wanted {
            let a = Vec3::from_column_slice(&self.aim[first..first + 3]);
            response.release_bone(anchor.bone, &a);
            first += if goal.turn.is_some() { 6 } else { 3 };
        }
        let (low, high) = self.bounds(task);

        // the best accelerations, without contacts that would have to pull
        let mut drives = drives_of(skeleton, control, v, task.dt);
        let mut found = None;
        for _ in 0..MAX_RELEASES {
            if !self.linearise(task, response, &mut drives, size) {
                return;
            }
            let x = self.solve(&posture, (&low, &high), task.max_torque);
            self.respond(task, response, &mut drives, &x);
            found = Some(x);
            if !response.release_pulling() {
                break;
            }
        }
        if let Some(x) = found {
            self.write_path(task, &x, control);
        }
    }

    /// Finds how far targets are beyond the reach of the active joints, with the root where it is.
    fn find_missed(&mut self, task: DirectTask, size: f64) {
        let (skeleton, time) = (task.skeleton(), task.state.time);
        let is_root = |bone: &BoneId| skeleton.bone(*bone).parent.is_none();
        let locked: Vec<BoneId> =
            bone_ids(skeleton).filter(|bone| is_root(bone) || !task.bones.contains(bone)).collect();
        let mut pose = task.joints().clone();
        // a target that stays comes out from where the point is, one with a path is where it is
        let since = |wanted: Wanted| wanted.0.stays().then_some(f64::NEG_INFINITY);
        self.reach.bend(skeleton, task.wanted, &locked, (time, since), &mut pose);
        self.kinematics.update(skeleton, &pose);
        self.missed.clear();
        self.support.clear();
        self.support.resize(self.dofs.len(), SUPPORT);
        for (goal, anchor) in task.wanted {
            let mut next = Some(anchor.bone);
            let mut can_move = false;
            while let Some(bone) = next {
                can_move |= !locked.contains(&bone) && skeleton.bone(bone).joint.v_count > 0;
                let own = skeleton.bone(bone).joint.v();
                let leads = self.dofs.iter().zip(&mut self.support).filter(|(dof, _)| own.contains(dof));
                leads.for_each(|(_, weight)| *weight = 1.0);
                next = skeleton.bone(bone).parent;
            }
            // all joints serve a goal of the root
            if !can_move {
                self.support.fill(1.0);
            }
            let target = goal.target(anchor, time);
            let frame = &self.kinematics.world_frames()[anchor.bone.index()];
            let off = frame.point(&anchor.place) - target.place;
            let turned =
                target.orientation.map(|(wanted, _)| so3::log(&(frame.quaternion() * wanted.inverse())));
            let counts = |missed: Vec3, size: f64| {
                if can_move && missed.norm() > MISSED * size { missed } else { Vec3::zeros() }
            };
            self.missed.push((counts(off, size), counts(turned.unwrap_or_default(), 1.0)));
        }
    }

    /// a* and the priority of every row: the acceleration over the step of a critically damped spring, from x off its target y by e:
    ///
    /// ```text
    /// e = x − y,   B = ė + e/τ,   ė' = (ė − B h/τ) exp(−h/τ),   a* = (ẏ' + ė' − ẋ)/h
    /// ```
    fn set_aims(&mut self, task: DirectTask, response: &RigResponse, size: f64) {
        self.aim.clear();
        self.level.clear();
        let kinematics = response.kinematics();
        let missed = core::mem::take(&mut self.missed);
        // in the air everything falls, and what is beyond reach is so from a root that moves
        let falls = if response.has_contact() { Vec3::zeros() } else { task.model.gravity() };
        for ((goal, anchor), (off, turned)) in task.wanted.iter().zip(&missed) {
            let (mut now, mut next) =
                (goal.target(anchor, task.state.time), goal.target(anchor, task.state.time + task.dt));
            for target in [&mut now, &mut next] {
                target.shift(off, turned);
            }
            if *off != Vec3::zeros() && !response.has_contact() {
                now.velocity = carried(task.skeleton(), anchor.bone, kinematics, &now.place);
                next.velocity = now.velocity + falls * task.dt;
            }
            let (x, v) = point_motion(anchor, kinematics, task.state);
            let far = x - now.place;
            let pulled = |e: &Vec3, rate: &Vec3| rate_later(e, rate, goal, task.dt);
            let a = if goal.stays() {
                let limb = self.limb_length(task.skeleton(), anchor);
                let own = (next.velocity - now.velocity) / task.dt;
                bounded(&(own + approach(&far, &(v - now.velocity), goal, (task.dt, limb))), &falls)
            } else {
                let near = far * (FARTHEST * size / far.norm().max(f64::MIN_POSITIVE)).min(1.0);
                (next.velocity + pulled(&near, &(v - now.velocity)) - v) / task.dt
            };
            self.push_aim(&a, goal);
            if let (Some((now, spin)), Some((_, next_spin))) = (now.orientation, next.orientation) {
                let frame = &kinematics.world_frames()[anchor.bone.index()];
                let own = frame.rotation * kinematics.velocities()[anchor.bone.index()].angular;
                let e = so3::log(&(frame.quaternion() * now.inverse()));
                let a = (next_spin + pulled(&e, &(own - spin)) - own) / task.dt;
                self.push_aim(&(a * (LEVER * size)), goal);
            }
        }
        self.missed = missed;
    }

    /// The distance at rest of a goal's point from the joint at which its limb begins (m).
    fn limb_length(&mut self, skeleton: &Skeleton, anchor: &GoalAnchor) -> f64 {
        self.kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
        let frames = self.kinematics.world_frames();
        let below_root = |bone: &BoneId| skeleton.bone(*bone).parent.is_some();
        let first = ancestors(skeleton, anchor.bone).filter(below_root).last().unwrap_or(anchor.bone);
        let point = frames[anchor.bone.index()].point(&anchor.place);
        (point - frames[first.index()].origin).norm()
    }

    fn push_aim(&mut self, a: &Vec3, goal: &Goal) {
        self.aim.extend(a.iter());
        self.level.extend([goal.priority; 3]);
    }

    /// Fills G, c, T and t from solutions with unit accelerations; false if there are none.
    fn linearise(
        &mut self,
        task: DirectTask,
        response: &mut RigResponse,
        drives: &mut Drives,
        size: f64,
    ) -> bool {
        let n = self.dofs.len();
        let mut x = vec![0.0; n];
        if !self.respond(task, response, drives, &x) {
            return false;
        }
        self.goal_base = goal_values(task, response, size);
        self.torque_base = self.dofs.iter().map(|dof| response.torque()[*dof]).collect();

        // columns, as differences from there
        let mut columns = Vec::with_capacity(n);
        for k in 0..n {
            x[k] = 1.0;
            let is_solved = self.respond(task, response, drives, &x);
            x[k] = 0.0;
            if !is_solved {
                return false;
            }
            let torque: Vec<f64> = self.dofs.iter().map(|dof| response.torque()[*dof]).collect();
            columns.push((goal_values(task, response, size), torque));
        }
        self.goal_rows.reset(n);
        for (i, base) in self.goal_base.iter().enumerate() {
            let row = self.goal_rows.push_zeros();
            row.iter_mut().zip(&columns).for_each(|(entry, (values, _))| *entry = values[i] - base);
        }
        self.torque_rows.reset(n);
        for (i, base) in self.torque_base.iter().enumerate() {
            let row = self.torque_rows.push_zeros();
            row.iter_mut().zip(&columns).for_each(|(entry, (_, values))| *entry = values[i] - base);
        }
        true
    }

    /// Solves the response to accelerations of the active joints; false if there is no solution.
    fn respond(&self, task: DirectTask, response: &mut RigResponse, drives: &mut Drives, x: &[f64]) -> bool {
        let mut first = 0;
        for bone in task.bones {
            let count = task.skeleton().bone(*bone).joint.v_count;
            let own = &x[first..first + count];
            set(drives, task.skeleton(), (*bone, DriveKind::Motion), own);
            first += count;
        }
        response.solve((task.model, task.rig), task.joints(), drives, task.dt).is_ok()
    }

    /// l and u: accelerations that keep joints below their speed and away from their limits. Where these contradict each other, the limits count.
    fn bounds(&self, task: DirectTask) -> (Vec<f64>, Vec<f64>) {
        let (skeleton, joints) = (task.skeleton(), task.joints());
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for bone in task.bones {
            let chart = joints.chart_of(skeleton, *bone);
            for (dof, x) in skeleton.bone(*bone).joint.v().zip(chart) {
                let (desc, v) = (&skeleton.dofs()[dof], joints.v[dof]);
                let change = |speed: f64| (speed - v) / task.dt;
                let towards = |limit: f64| (limit - x) / (STEPS_TO_LIMIT * task.dt);
                let highest = change(towards(desc.upper).min(MAX_SPEED));
                let lowest = change(towards(desc.lower).max(-MAX_SPEED));
                let high_now = MAX_ACCELERATION.min(highest);
                let low_now = (-MAX_ACCELERATION).min(high_now).max(lowest);
                low.push(low_now);
                high.push(high_now.max(low_now));
            }
        }
        (low, high)
    }

    /// The best accelerations, level by level.
    fn solve(&self, posture: &[f64], (low, high): (&[f64], &[f64]), max_torque: f64) -> Vec<f64> {
        let n = self.dofs.len();
        let bounded = |x: &[f64]| -> Vec<f64> {
            x.iter().zip(low).zip(high).map(|((x, low), high)| x.clamp(*low, *high)).collect()
        };
        let mut x = bounded(posture);
        let (boxes, box_ends) = self.inequalities((low, high), f64::INFINITY);
        let (all, all_ends) = self.inequalities((low, high), max_torque);
        let mut levels = self.level.clone();
        levels.sort_unstable_by(|a, b| b.cmp(a));
        levels.dedup();
        for level in levels {
            let (e, f) = self.weighted_rows(level, &x, posture);
            // torques that bounds of accelerations contradict are exceeded
            let found = solve_with_inequalities(&e, &f, &all, &all_ends)
                .or_else(|| solve_with_inequalities(&e, &f, &boxes, &box_ends));
            x = found.map_or(x, |found| bounded(&found));
        }
        debug_assert_eq!(x.len(), n);
        x
    }

    /// E and f of a level: rows of higher levels stay where `x` has brought them, those of this level go to their aim, and the rest keeps to the posture.
    fn weighted_rows(&self, level: u32, x: &[f64], posture: &[f64]) -> (Rows, Vec<f64>) {
        let n = self.dofs.len();
        let (mut e, mut f) = (Rows::new(n), Vec::new());
        let mut squares = 0.0;
        for i in (0..self.aim.len()).filter(|i| self.level[*i] >= level) {
            let row = self.goal_rows.row(i);
            let is_placed = self.level[i] > level;
            let (weight, aim) =
                if is_placed { (PLACED, dot(row, x)) } else { (1.0, self.aim[i] - self.goal_base[i]) };
            squares += if is_placed { 0.0 } else { dot(row, row) };
            e.push_zeros().iter_mut().zip(row).for_each(|(entry, value)| *entry = weight * value);
            f.push(weight * aim);
        }
        let keep = (REGULARISATION * squares / n as f64).sqrt();
        for (k, posture) in posture.iter().enumerate() {
            e.push_zeros()[k] = keep * self.support[k];
            f.push(keep * self.support[k] * posture);
        }

        // points that contact holds hardly move, whatever joints do: these only lose their speed
        for (k, v) in self.speeds.iter().enumerate() {
            e.push_zeros()[k] = self.smallest_lever;
            f.push(self.smallest_lever * -v / SLOWING);
        }
        (e, f)
    }

    /// G x ≥ h of bounds of accelerations and torques.
    fn inequalities(&self, (low, high): (&[f64], &[f64]), max_torque: f64) -> (Rows, Vec<f64>) {
        let (mut g, mut h) = (Rows::new(self.dofs.len()), Vec::new());
        for (k, (low, high)) in low.iter().zip(high).enumerate() {
            g.push_zeros()[k] = 1.0;
            h.push(*low);
            g.push_zeros()[k] = -1.0;
            h.push(-*high);
        }
        if max_torque.is_finite() {
            for (i, base) in self.torque_base.iter().enumerate() {
                g.push(self.torque_rows.row(i));
                h.push(-max_torque - base);
                g.push_zeros().iter_mut().zip(self.torque_rows.row(i)).for_each(|(g, row)| *g = -row);
                h.push(base - max_torque);
            }
        }
        (g, h)
    }

    /// Paths of constant acceleration from where the joints are: q + h v + h² x/2, v + h x.
    fn write_path(&self, task: DirectTask, x: &[f64], control: &mut RigControl) {
        let (skeleton, joints, h) = (task.skeleton(), task.joints(), task.dt);
        let mut middle = joints.clone();
        for (dof, x) in self.dofs.iter().zip(x) {
            middle.v[*dof] += 0.5 * h * x;
        }
        middle.move_along_velocity(skeleton, h);
        for bone in task.bones {
            let (q, v) = (skeleton.bone(*bone).joint.q(), skeleton.bone(*bone).joint.v());
            control.from.q[q.clone()].copy_from_slice(&joints.q[q.clone()]);
            control.from.v[v.clone()].copy_from_slice(&joints.v[v]);
            control.to.q[q.clone()].copy_from_slice(&middle.q[q]);
        }
        for (dof, x) in self.dofs.iter().zip(x) {
            control.to.v[*dof] = joints.v[*dof] + h * x;
        }
    }
}

/// A bone and all bones that carry it.
fn ancestors(skeleton: &Skeleton, bone: BoneId) -> impl Iterator<Item = BoneId> {
    core::iter::successors(Some(bone), |bone| skeleton.bone(*bone).parent)
}

/// The velocity (m/s) of a place (m) that the root of a bone carries along.
fn carried(skeleton: &Skeleton, bone: BoneId, kinematics: &Kinematics, place: &Vec3) -> Vec3 {
    let root = ancestors(skeleton, bone).last().unwrap_or(bone);
    let place_in_root = kinematics.world_frames()[root.index()].point_back(place);
    kinematics.point_velocity(root, &place_in_root)
}

/// Where the point of a goal is (m), and its velocity (m/s): that of flesh for a point of the skin.
fn point_motion(anchor: &GoalAnchor, kinematics: &Kinematics, state: &State) -> (Vec3, Vec3) {
    match &anchor.skin {
        Some(skin) => (skin.at(&state.node_x), skin.at(&state.node_v)),
        None => (
            kinematics.point(anchor.bone, &anchor.place),
            kinematics.point_velocity(anchor.bone, &anchor.place),
        ),
    }
}

/// The acceleration towards a target that stays, from which a point is off by e (m): that of the critically damped spring, at a bounded speed and acceleration, so that a limb swings there and does not snap.
///
/// ```text
/// ẋ* = −ê min(|e|/2τ, √(g |e|), √(g ℓ)),    |a* − b| ≤ g
/// ```
///
/// `rate` is its velocity relative to the target (m/s); for b see [`bounded`]. The spring's steady speed is |e|/2τ; √(g |e|) leaves room to brake, and √(g ℓ) is the speed of a limb of length ℓ that swings under its weight (a Froude number of 1). Flesh bears g, which it is drawn under.
fn approach(e: &Vec3, rate: &Vec3, goal: &Goal, (dt, limb): (f64, f64)) -> Vec3 {
    let distance = e.norm().max(f64::MIN_POSITIVE);
    let speed = (GRAVITY * distance).sqrt().min((GRAVITY * limb).sqrt().max(MIN_SPEED));
    let near = e * (2.0 * goal.reach_time * speed / distance).min(1.0);
    (rate_later(&near, rate, goal, dt) - rate) / dt
}

/// An acceleration that differs by no more than g from b, that of a character that falls, or 0 on the ground (m/s²).
fn bounded(a: &Vec3, b: &Vec3) -> Vec3 {
    let relative = a - b;
    b + relative * (GRAVITY / relative.norm().max(f64::MIN_POSITIVE)).min(1.0)
}

/// The rate of a tracking error at the end of a step of `dt` (s).
fn rate_later(e: &Vec3, rate: &Vec3, goal: &Goal, dt: f64) -> Vec3 {
    let tau = goal.reach_time;
    let pull = rate + e / tau;
    (rate - pull * (dt / tau)) * real::exp(-dt / tau)
}

/// The accelerations of all goals in the last solution: of points (m/s²), and of turned bones times the lever.
fn goal_values(task: DirectTask, response: &RigResponse, size: f64) -> Vec<f64> {
    let mut values = Vec::new();
    for (goal, anchor) in task.wanted {
        // flesh moves with the bone at the place where it is
        let place = match &anchor.skin {
            Some(skin) => {
                let frame = &response.kinematics().world_frames()[anchor.bone.index()];
                frame.point_back(&skin.at(&task.state.node_x))
            }
            None => anchor.place,
        };
        values.extend(response.point_acceleration(anchor.bone, &place).iter());
        if goal.turn.is_some() {
            values.extend((response.angular_acceleration(anchor.bone) * (LEVER * size)).iter());
        }
    }
    values
}

//! Incremental potential of the joints for an implicit step: springs and stops, dampers, rotors, prescribed torques and feedback.
//!
//! ```text
//! U = Σ k (x − x₀)²/2 + Σ k_s max(0, x − x⁺, x⁻ − x)²/2 + Σ d/(2h) g² + Σ a/(2h²) (g − h v)² − Σ τ g
//!     + Σ s k (g − g*)²/2 + Σ s d/(2h) (g − h ẋ*)²
//! ```
//!
//! over the chart x of each primitive and its displacement g since the start of the step. A stop damps only if it is in contact
//! at the start. The last two terms are [`Feedback`] towards a path, g*: its displacement. The third value is the diagonal of the Hessian without the curvature of the chart: never negative.

use crate::state::{SkeletonState, each_part};
use crate::{Feedback, Skeleton, desc::DofDesc};
use sinew_math::Vec3;

/// The start of a step of the joints.
#[derive(Clone, Copy, Debug)]
pub struct JointStep<'a> {
    /// Coordinates and velocities at its start.
    pub start: &'a SkeletonState,
    /// Prescribed torques (N m or N), one per degree of freedom.
    pub torque: &'a [f64],
    /// Feedback of each degree of freedom; empty without any.
    pub feedback: &'a [Feedback],
    /// Where the path of the feedback has the joints at the end of the step, and how they move there.
    pub path: &'a SkeletonState,
    /// Its length (s); infinite for statics, without damping and rotors.
    pub h: f64,
}

impl JointStep<'_> {
    /// The potential of all joints (J); adds the gradient with respect to the degrees of freedom and the diagonal of the Hessian.
    ///
    /// # Panics
    /// If a length does not match the skeleton.
    pub fn evaluate(
        &self,
        skeleton: &Skeleton,
        state: &SkeletonState,
        gradient: &mut [f64],
        stiffness: &mut [f64],
    ) -> f64 {
        let mut sum = 0.0;
        let (damping_scale, rotor_scale) = (1.0 / self.h, 1.0 / (self.h * self.h));
        for bone in skeleton.bones() {
            for (part, q, v) in each_part(skeleton, &bone.joint) {
                let x = part.chart(&state.q[q.clone()]);
                let x_start = part.chart(&self.start.q[q.clone()]);
                let displacement = part.difference(&self.start.q[q.clone()], &state.q[q.clone()]);
                let follows = |dof: usize| self.feedback.get(dof).is_some_and(Feedback::acts);
                let path = match v.clone().any(follows) {
                    true => part.difference(&self.start.q[q.clone()], &self.path.q[q]),
                    false => Vec3::zeros(),
                };
                let (mut chart_gradient, mut displacement_gradient) = ([0.0; 3], [0.0; 3]);
                for (k, dof) in v.clone().enumerate() {
                    let desc = &skeleton.dofs()[dof];

                    // spring and stop
                    let (over, stop) = beyond(desc, x[k]);
                    let off = x[k] - desc.rest;
                    sum += 0.5 * desc.stiffness * off * off + 0.5 * stop * over * over;
                    chart_gradient[k] = desc.stiffness * off + stop * over;

                    // damper, rotor and prescribed torque
                    let was_in_contact = beyond(desc, x_start[k]).1 > 0.0;
                    let damping = damping_scale
                        * (desc.damping + if was_in_contact { desc.limit_damping } else { 0.0 });
                    let rotor = rotor_scale * desc.armature;
                    let ahead = if rotor > 0.0 { displacement[k] - self.h * self.start.v[dof] } else { 0.0 };
                    sum += 0.5 * damping * displacement[k] * displacement[k] + 0.5 * rotor * ahead * ahead
                        - self.torque[dof] * displacement[k];
                    displacement_gradient[k] = damping * displacement[k] + rotor * ahead - self.torque[dof];
                    stiffness[dof] += desc.stiffness + stop + damping + rotor;

                    // feedback towards a path
                    if let Some(own) = self.feedback.get(dof).filter(|own| own.acts()) {
                        let rates = [self.start.v[dof], self.path.v[dof]];
                        let kept = own.kept(self.torque[dof], path[k], rates, self.h);
                        let (pull, drag) = (kept * own.stiffness, kept * own.damping * damping_scale);
                        let (from_path, slip) =
                            (displacement[k] - path[k], displacement[k] - self.h * self.path.v[dof]);
                        sum += 0.5 * pull * from_path * from_path + 0.5 * drag * slip * slip;
                        displacement_gradient[k] += pull * from_path + drag * slip;
                        stiffness[dof] += pull + drag;
                    }
                }

                // as forces in the degrees of freedom
                let chart_force = part.force_of_gradient(&x, chart_gradient);
                let displacement_force = part.force_of_gradient(&displacement.into(), displacement_gradient);
                for (k, dof) in v.enumerate() {
                    gradient[dof] += chart_force[k] + displacement_force[k];
                }
            }
        }
        sum
    }
}

impl JointStep<'_> {
    /// Adds the torque of feedback at the end of the step to torques (N m or N).
    ///
    /// # Panics
    /// If a length does not match the skeleton.
    pub fn add_feedback(&self, skeleton: &Skeleton, end: &SkeletonState, torques: &mut [f64]) {
        for bone in skeleton.bones() {
            for (part, q, v) in each_part(skeleton, &bone.joint) {
                let moved = part.difference(&self.start.q[q.clone()], &end.q[q.clone()]);
                let off = part.difference(&self.start.q[q.clone()], &self.path.q[q]);
                for (k, dof) in v.enumerate() {
                    let Some(own) = self.feedback.get(dof).filter(|own| own.acts()) else { continue };
                    let kept =
                        own.kept(self.torque[dof], off[k], [self.start.v[dof], self.path.v[dof]], self.h);
                    let slip = self.path.v[dof] - moved[k] / self.h;
                    torques[dof] += kept * (own.stiffness * (off[k] - moved[k]) + own.damping * slip);
                }
            }
        }
    }
}

/// The signed excess beyond a stop, and the stiffness of the stop there.
fn beyond(dof: &DofDesc, x: f64) -> (f64, f64) {
    if x > dof.upper {
        (x - dof.upper, dof.limit_stiffness)
    } else if x < dof.lower {
        (x - dof.lower, dof.limit_stiffness)
    } else {
        (0.0, 0.0)
    }
}

impl SkeletonState {
    /// Writes the tangent-space difference from another state: the velocity that leads from there to here in 1 s.
    ///
    /// # Panics
    /// If a length does not match the skeleton.
    pub fn difference_from(&self, skeleton: &Skeleton, start: &SkeletonState, difference: &mut [f64]) {
        for bone in skeleton.bones() {
            for (part, q, v) in each_part(skeleton, &bone.joint) {
                let own = part.difference(&start.q[q.clone()], &self.q[q]);
                difference[v].iter_mut().zip(own.iter()).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoneDesc, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc, SolidShape};
    use sinew_math::Isometry;

    fn chain() -> Skeleton {
        let dof = DofDesc {
            rest: 0.2,
            stiffness: 3.0,
            damping: 0.4,
            armature: 0.05,
            lower: -0.3,
            upper: 0.5,
            limit_stiffness: 40.0,
            limit_damping: 1.0,
        };
        let bone = |name: &str, parent, kind| BoneDesc {
            name: name.into(),
            parent,
            parent_from_joint: Isometry::identity(),
            joint: JointDesc { dofs: vec![dof], ..JointDesc::of(kind) },
            mass: MassDesc::Solid {
                shape: SolidShape::Capsule { from: Vec3::zeros(), to: Vec3::x(), radius: 0.1 },
                density: 1000.0,
            },
        };
        let bones = vec![
            bone("a", Parent::World, JointKind::Revolute(Vec3::z())),
            bone("b", Parent::Index(0), JointKind::Ball),
        ];
        Skeleton::build(&SkeletonDesc { bones }).expect("sound")
    }

    /// Central differences along every degree of freedom, whose error is ε² = 10⁻¹⁰ times the third derivative.
    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let skeleton = chain();
        let n = skeleton.v_count();
        let mut start = SkeletonState::at_rest(&skeleton);
        start.v = (0..n).map(|i| 0.3 - 0.2 * i as f64).collect();
        let mut state = start.clone();
        state.v = vec![0.7, -0.6, 0.4, 0.3];
        state.move_along_velocity(&skeleton, 1.0);
        let torque = vec![0.5, -0.2, 0.1, 0.9];
        let mut path = start.clone();
        path.v = vec![-0.4, 0.2, 0.5, -0.3];
        path.move_along_velocity(&skeleton, 1.0);
        let feedback = vec![Feedback { stiffness: 5.0, damping: 0.7, max_torque: 3.0 }; n];
        let step = JointStep { start: &start, torque: &torque, feedback: &feedback, path: &path, h: 0.1 };
        let value =
            |state: &SkeletonState| step.evaluate(&skeleton, state, &mut vec![0.0; n], &mut vec![0.0; n]);
        let mut gradient = vec![0.0; n];
        step.evaluate(&skeleton, &state, &mut gradient, &mut vec![0.0; n]);
        for dof in 0..n {
            let moved = |by: f64| {
                let mut moved = state.clone();
                moved.v.fill(0.0);
                moved.v[dof] = by;
                moved.move_along_velocity(&skeleton, 1.0);
                value(&moved)
            };
            let derivative = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((derivative - gradient[dof]).abs() < 1e-6, "{dof}: {derivative} {}", gradient[dof]);
        }
    }

    /// For a hinge, whose chart is linear: within its limits and beyond one, where the stiffness of the stop is added.
    /// Differences of a piecewise quadratic are exact to round-off.
    #[test]
    fn the_stiffness_of_a_hinge_is_the_derivative_of_its_gradient() {
        let skeleton = chain();
        let n = skeleton.v_count();
        let start = SkeletonState::at_rest(&skeleton);
        let torque = vec![0.0; n];
        let feedback = vec![Feedback { stiffness: 5.0, damping: 0.7, ..Feedback::default() }; n];
        let step = JointStep { start: &start, torque: &torque, feedback: &feedback, path: &start, h: 0.1 };
        let at = |angle: f64| {
            let mut state = start.clone();
            state.v = vec![angle, 0.0, 0.0, 0.0];
            state.move_along_velocity(&skeleton, 1.0);
            let (mut gradient, mut stiffness) = (vec![0.0; n], vec![0.0; n]);
            step.evaluate(&skeleton, &state, &mut gradient, &mut stiffness);
            (gradient[0], stiffness[0])
        };
        for angle in [0.1, 0.7, -0.6] {
            let derivative = (at(angle + 1e-4).0 - at(angle - 1e-4).0) / 2e-4;
            let (_, stiffness) = at(angle);
            assert!((derivative / stiffness - 1.0).abs() < 1e-9, "{angle}: {derivative} {stiffness}");
        }
    }
}

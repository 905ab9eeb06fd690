//! Cubic Hermite interpolation between two states on the joint manifold, and the accelerations that track it.
//!
//! Each primitive of a joint follows a cubic in the tangent space at its start, with the given velocities at both ends:
//!
//! ```text
//! x(s) = x₀ · exp(b s + c s² + d s³),   0 ≤ s ≤ 1
//! b = T v₀,   g = x₁ ⊖ x₀,   e = T Jr⁻¹(g) v₁,   c = 3 g − 2 b − e,   d = b + e − 2 g
//! ```
//!
//! where ⊖ is [`crate::JointPrimitive::difference`]. Symplectic Euler integrates v' = v + h a, x' = x · exp(h v'). With the
//! acceleration of the curve it would drift by the error of every step. With the acceleration that reaches the position of the
//! curve every step ends on the curve to round-off:
//!
//! ```text
//! a = ((x(s) ⊖ x) / h − v) / h
//! ```

use crate::state::each_part;
use crate::{BoneId, Skeleton, SkeletonState};
use sinew_math::Vec3;

/// A Hermite path from one state to another, filled by [`StatePath::fit`].
#[derive(Clone, Debug, Default)]
pub struct StatePath {
    start_q: Vec<f64>,
    /// Coefficients b, c and d of each degree of freedom.
    cubics: Vec<[f64; 3]>,
}

impl StatePath {
    /// Fits the path from one state to another that is reached `seconds` (s) later.
    ///
    /// # Panics
    /// If a state belongs to another skeleton.
    pub fn fit(&mut self, skeleton: &Skeleton, from: &SkeletonState, to: &SkeletonState, seconds: f64) {
        self.start_q.clone_from(&from.q);
        self.cubics.resize(skeleton.v_count(), [0.0; 3]);
        for bone in skeleton.bones() {
            for (part, q, v) in each_part(skeleton, &bone.joint) {
                let difference = part.difference(&from.q[q.clone()], &to.q[q]);
                let start = seconds * vector(&from.v[v.clone()]);
                let end = seconds * part.difference_rate(&difference, &vector(&to.v[v.clone()]));
                let (square, cube) = (3.0 * difference - 2.0 * start - end, start + end - 2.0 * difference);
                for (k, cubic) in self.cubics[v].iter_mut().enumerate() {
                    *cubic = [start[k], square[k], cube[k]];
                }
            }
        }
    }

    /// Writes the accelerations (rad/s², m/s²) of the joint of a bone for a step of `h` (s) that ends at a fraction of the path,
    /// between 0 and 1.
    ///
    /// # Panics
    /// If the state belongs to another skeleton.
    #[inline]
    pub fn accelerate(
        &self,
        skeleton: &Skeleton,
        bone: BoneId,
        (fraction, h): (f64, f64),
        state: &SkeletonState,
        acceleration: &mut [f64],
    ) {
        let joint = &skeleton.bone(bone).joint;
        for (part, q, v) in each_part(skeleton, joint) {
            let mut by = Vec3::zeros();
            for (by, [b, c, d]) in by.iter_mut().zip(&self.cubics[v.clone()]) {
                *by = fraction * (b + fraction * (c + fraction * d));
            }
            let mut goal = [0.0; 4];
            let goal = &mut goal[..q.len()];
            part.integrate(&self.start_q[q.clone()], &by, goal);
            let difference = part.difference(&state.q[q], goal);
            for (k, dof) in v.enumerate() {
                acceleration[dof - joint.v_offset] = (difference[k] / h - state.v[dof]) / h;
            }
        }
    }

    /// Writes the velocities (rad/s, m/s) of the joint of a bone at a fraction of a path that takes `seconds` (s).
    ///
    /// # Panics
    /// If the length of `velocity` is not the number of degrees of freedom of the joint.
    pub fn velocity(
        &self,
        skeleton: &Skeleton,
        bone: BoneId,
        (fraction, seconds): (f64, f64),
        velocity: &mut [f64],
    ) {
        let joint = &skeleton.bone(bone).joint;
        for (part, _, v) in each_part(skeleton, joint) {
            let (mut by, mut rate) = (Vec3::zeros(), Vec3::zeros());
            for (k, [b, c, d]) in self.cubics[v.clone()].iter().enumerate() {
                by[k] = fraction * (b + fraction * (c + fraction * d));
                rate[k] = (b + fraction * (2.0 * c + fraction * 3.0 * d)) / seconds;
            }
            let found = part.velocity_of_difference(&by, &rate);
            for (k, dof) in v.enumerate() {
                velocity[dof - joint.v_offset] = found[k];
            }
        }
    }
}

fn vector(numbers: &[f64]) -> Vec3 {
    let mut vector = Vec3::zeros();
    vector.iter_mut().zip(numbers).for_each(|(slot, number)| *slot = *number);
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desc::{BoneDesc, JointDesc, JointKind, Parent, SkeletonDesc};
    use crate::{MassDesc, SolidShape};
    use sinew_math::Isometry;

    fn limb() -> Skeleton {
        let bone = |name: &str, parent, kind| BoneDesc {
            name: name.into(),
            parent,
            parent_from_joint: Isometry::identity(),
            joint: JointDesc::of(kind),
            mass: MassDesc::Solid {
                shape: SolidShape::Capsule { from: Vec3::zeros(), to: Vec3::x(), radius: 0.1 },
                density: 1000.0,
            },
        };
        let bones = vec![
            bone("root", Parent::World, JointKind::Free),
            bone("middle", Parent::Index(0), JointKind::Universal(Vec3::x(), Vec3::y())),
            bone("end", Parent::Index(1), JointKind::Ball),
        ];
        Skeleton::build(&SkeletonDesc { bones }).expect("sound")
    }

    fn states(skeleton: &Skeleton) -> [SkeletonState; 2] {
        let mut from = SkeletonState::at_rest(skeleton);
        let mut to = from.clone();
        for dof in 0..skeleton.v_count() {
            let phase = dof as f64;
            from.v[dof] = 0.7 - 0.13 * phase;
            to.v[dof] = 0.4 + 0.21 * phase;
        }
        to.move_along_velocity(skeleton, 0.8);
        to.v.iter_mut().for_each(|v| *v -= 0.5);
        [from, to]
    }

    /// Every step ends on the curve: its coordinates, of order 1, are met to a few ε, and errors do not accumulate over a
    /// thousand steps.
    #[test]
    fn steps_end_on_the_path() {
        let skeleton = limb();
        let [from, to] = states(&skeleton);
        let (seconds, steps) = (0.9, 1000);
        let mut path = StatePath::default();
        path.fit(&skeleton, &from, &to, seconds);
        let mut state = from;
        let mut acceleration = vec![0.0; skeleton.v_count()];
        let h = seconds / f64::from(steps);
        for step in 1..=steps {
            for (i, bone) in skeleton.bones().iter().enumerate() {
                let at = (f64::from(step) / f64::from(steps), h);
                let own = &mut acceleration[bone.joint.v()];
                path.accelerate(&skeleton, BoneId(i as u32), at, &state, own);
            }
            state.advance(&skeleton, &acceleration, h);
        }
        for bone in skeleton.bones() {
            for (part, q, _) in each_part(&skeleton, &bone.joint) {
                let off = part.difference(&state.q[q.clone()], &to.q[q]).norm();
                assert!(off < 16.0 * f64::EPSILON, "bone '{}' is {off:e} off", bone.name);
            }
        }
        // step velocities are those of the curve half a step earlier: h |ẍ|/2 with |ẍ| ≤ (2 |c| + 6 |d|)/T² < 30 here
        for (v, wanted) in state.v.iter().zip(&to.v) {
            assert!((v - wanted).abs() < 15.0 * h, "{v} {wanted}");
        }
    }

    /// The error of differences over ±1e-5 of the path is their square times the third derivative, about 1e-9.
    #[test]
    fn velocities_are_derivatives_of_the_path() {
        let skeleton = limb();
        let [from, to] = states(&skeleton);
        let (seconds, e) = (0.9, 1e-5);
        let mut path = StatePath::default();
        path.fit(&skeleton, &from, &to, seconds);
        let at = |fraction: f64| {
            let mut state = from.clone();
            for (i, bone) in skeleton.bones().iter().enumerate() {
                let mut acceleration = vec![0.0; bone.joint.v_count];
                path.accelerate(&skeleton, BoneId(i as u32), (fraction, 1.0), &from, &mut acceleration);
                for (dof, a) in bone.joint.v().zip(acceleration) {
                    state.v[dof] += a;
                }
            }
            state.move_along_velocity(&skeleton, 1.0);
            state
        };
        for fraction in [0.0, 0.3, 1.0] {
            let (mut found, mut derivative) = (from.v.clone(), from.v.clone());
            for (i, bone) in skeleton.bones().iter().enumerate() {
                path.velocity(&skeleton, BoneId(i as u32), (fraction, seconds), &mut found[bone.joint.v()]);
            }
            at(fraction + e).difference_from(&skeleton, &at(fraction - e), &mut derivative);
            for (found, derivative) in found.iter().zip(&derivative) {
                let derivative = derivative / (2.0 * e * seconds);
                assert!((found - derivative).abs() < 1e-8, "{fraction}: {found} {derivative}");
            }
        }
    }

    /// The velocity of the first step is that of the start, up to h |ẍ|/2.
    #[test]
    fn the_path_starts_with_the_given_velocity() {
        let skeleton = limb();
        let [from, to] = states(&skeleton);
        let mut path = StatePath::default();
        path.fit(&skeleton, &from, &to, 0.9);
        let h = 1e-4;
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let mut acceleration = vec![0.0; bone.joint.v_count];
            path.accelerate(&skeleton, BoneId(i as u32), (h / 0.9, h), &from, &mut acceleration);
            for a in acceleration {
                assert!((h * a).abs() < 15.0 * h, "bone {i}: velocity jumps by {}", h * a);
            }
        }
    }
}

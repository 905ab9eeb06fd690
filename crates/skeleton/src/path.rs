//! Cubic Hermite interpolation between two states on the joint manifold.
//!
//! Each primitive of a joint follows a cubic in the tangent space at its start, with the given velocities at both ends:
//!
//! ```text
//! x(s) = x₀ · exp(b s + c s² + d s³),   0 ≤ s ≤ 1
//! b = T v₀,   g = x₁ ⊖ x₀,   e = T Jr⁻¹(g) v₁,   c = 3 g − 2 b − e,   d = b + e − 2 g
//! ```
//!
//! where ⊖ is [`crate::JointPrimitive::difference`]. Paths that follow each other with the same state where they meet are continuous in position and
//! velocity. Steps put kinematic joints on the curve with the velocity of the curve, so that neither drifts and a state tells exactly how its
//! joints move, whatever the length of the steps.

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

    /// Writes coordinates and velocities (rad/s, m/s) of the joint of a bone at a fraction, between 0 and 1, of a path that takes `seconds` (s).
    ///
    /// # Panics
    /// If the state belongs to another skeleton.
    #[inline]
    pub fn place(
        &self,
        skeleton: &Skeleton,
        bone: BoneId,
        (fraction, seconds): (f64, f64),
        state: &mut SkeletonState,
    ) {
        for (part, q, v) in each_part(skeleton, &skeleton.bone(bone).joint) {
            let (mut by, mut rate) = (Vec3::zeros(), Vec3::zeros());
            for (k, [b, c, d]) in self.cubics[v.clone()].iter().enumerate() {
                by[k] = fraction * (b + fraction * (c + fraction * d));
                rate[k] = (b + fraction * (2.0 * c + fraction * 3.0 * d)) / seconds;
            }
            part.integrate(&self.start_q[q.clone()], &by, &mut state.q[q]);
            let velocity = part.velocity_of_difference(&by, &rate);
            for (k, dof) in v.enumerate() {
                state.v[dof] = velocity[k];
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

    fn placed(skeleton: &Skeleton, path: &StatePath, at: (f64, f64)) -> SkeletonState {
        let mut state = SkeletonState::at_rest(skeleton);
        for bone in 0..skeleton.bones().len() {
            path.place(skeleton, BoneId(bone as u32), at, &mut state);
        }
        state
    }

    /// Coordinates of order 1 and velocities of order 1 are met to a few ε at both ends.
    #[test]
    fn the_path_begins_and_ends_in_the_given_states() {
        let skeleton = limb();
        let [from, to] = states(&skeleton);
        let mut path = StatePath::default();
        path.fit(&skeleton, &from, &to, 0.9);
        for (fraction, wanted) in [(0.0, &from), (1.0, &to)] {
            let found = placed(&skeleton, &path, (fraction, 0.9));
            for bone in skeleton.bones() {
                for (part, q, _) in each_part(&skeleton, &bone.joint) {
                    let off = part.difference(&found.q[q.clone()], &wanted.q[q]).norm();
                    assert!(off < 16.0 * f64::EPSILON, "bone '{}' is {off:e} off", bone.name);
                }
            }
            for (v, wanted) in found.v.iter().zip(&wanted.v) {
                assert!((v - wanted).abs() < 32.0 * f64::EPSILON, "{v} {wanted}");
            }
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
        let at = |fraction: f64| placed(&skeleton, &path, (fraction, seconds));
        for fraction in [0.0, 0.3, 1.0] {
            let mut derivative = from.v.clone();
            at(fraction + e).difference_from(&skeleton, &at(fraction - e), &mut derivative);
            for (found, derivative) in at(fraction).v.iter().zip(&derivative) {
                let derivative = derivative / (2.0 * e * seconds);
                assert!((found - derivative).abs() < 1e-8, "{fraction}: {found} {derivative}");
            }
        }
    }
}

//! Passive joint forces: springs, dampers and limit stops, with semi-implicit linearisation.
//!
//! ```text
//! E = Σ k (x − x₀)²/2 + Σ k_s max(0, x − x⁺, x⁻ − x)²/2,   f = −∂E/∂x − d ẋ
//! ```
//!
//! over the chart x of each primitive. For a ball joint x is the rotation vector, and the inverse right Jacobian of the
//! exponential map turns the gradient into a torque in body axes. A stop damps only while it is in contact. The third value is
//! the diagonal of the Hessian, which stable stepping of stiff joints needs.

use crate::Skeleton;
use crate::desc::DofDesc;
use crate::joint::{Joint, JointPrimitive};
use crate::state::{SkeletonState, each_part};

/// The passive force of one degree of freedom at the end of a step of length h, linear in the acceleration a: `force − drag a`.
///
/// ```text
/// f(x + h v + h² a, v + h a) = f(x, v) − h k v − (h d + h² k) a
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passive {
    pub(crate) force: f64,
    pub(crate) drag: f64,
}

/// Computes the passive forces of a joint over a step of length `h` (s), or explicitly for `h` = 0.
#[inline]
pub(crate) fn joint_forces(
    skeleton: &Skeleton,
    joint: &Joint,
    state: &SkeletonState,
    h: f64,
    out: &mut [Passive],
) {
    for (part, q, v) in each_part(skeleton, joint) {
        let x = part.chart(&state.q[q]);
        let (mut gradient, mut stops) = ([0.0; 3], [0.0; 3]);
        for (k, dof) in v.clone().enumerate() {
            let desc = &skeleton.dofs()[dof];
            let velocity = state.v[dof];
            let (derivative, stiffness, damping) = derivatives(desc, x[k], x[k] + h * velocity);
            gradient[k] = derivative;
            if h > 0.0 && stiffness > desc.stiffness {
                stops[k] = h * (desc.limit_damping + h * desc.limit_stiffness);
            }
            out[dof - joint.v_offset] =
                Passive { force: -(damping + h * stiffness) * velocity, drag: h * (damping + h * stiffness) };
        }
        let force = part.force_of_gradient(&x, gradient);
        let first = v.start - joint.v_offset;
        for (k, dof) in v.enumerate() {
            out[dof - joint.v_offset].force -= force[k];
        }
        if matches!(part, JointPrimitive::Ball) && stops != [0.0; 3] {
            let added = added_drag(&part, &x, &stops);
            let own = &mut out[first..first + 3];
            own.iter_mut().zip(added).for_each(|(passive, added)| passive.drag += added);
        }
    }
}

/// What stops with s = h (d + h k) of the coordinates of a part add to the drag of its degrees of freedom beyond that of their own. With the rate B ω of the chart their force is −Bᵀ ∂E/∂x, which turns the joint
/// about all axes, also those about which a bone has hardly any inertia. As for the matrix that belongs to it,
///
/// ```text
/// Bᵀ diag(s) B ≤ D,   D_jj = Σ_k s_k |B_kj| Σ_l |B_kl|        (Gershgorin)
/// ```
fn added_drag(part: &JointPrimitive, x: &[f64; 3], stops: &[f64; 3]) -> [f64; 3] {
    let mut bound = [0.0; 3];
    for k in (0..3).filter(|k| stops[*k] > 0.0) {
        let mut unit = [0.0; 3];
        unit[k] = 1.0;
        let row = part.force_of_gradient(x, unit);
        let sum: f64 = row.iter().map(|entry| entry.abs()).sum();
        bound.iter_mut().zip(row).for_each(|(bound, entry)| *bound += stops[k] * entry.abs() * sum);
    }
    [0, 1, 2].map(|j| (bound[j] - stops[j]).max(0.0))
}

/// ∂E/∂x, ∂²E/∂x² and the damping at x; a stop counts if it is in contact at x or at the predicted coordinate.
#[inline]
fn derivatives(dof: &DofDesc, x: f64, next: f64) -> (f64, f64, f64) {
    let mut derivative = dof.stiffness * (x - dof.rest);
    let (mut stiffness, mut damping) = (dof.stiffness, dof.damping);
    let stop = if x.max(next) > dof.upper {
        Some(dof.upper)
    } else if x.min(next) < dof.lower {
        Some(dof.lower)
    } else {
        None
    };
    if let Some(stop) = stop {
        derivative += dof.limit_stiffness * (x - stop);
        stiffness += dof.limit_stiffness;
        damping += dof.limit_damping;
    }
    (derivative, stiffness, damping)
}

/// E (J) of all joints.
pub(crate) fn energy(skeleton: &Skeleton, state: &SkeletonState) -> f64 {
    let mut sum = 0.0;
    for bone in skeleton.bones().iter().filter(|bone| bone.joint.has_passive) {
        for (part, q, v) in each_part(skeleton, &bone.joint) {
            let x = part.chart(&state.q[q]);
            for (k, dof) in v.enumerate() {
                let dof = &skeleton.dofs()[dof];
                let over = (x[k] - dof.upper).max(dof.lower - x[k]).max(0.0);
                sum += 0.5 * dof.stiffness * (x[k] - dof.rest) * (x[k] - dof.rest);
                sum += 0.5 * dof.limit_stiffness * over * over;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoneDesc, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc, SolidShape};
    use sinew_math::{Isometry, Vec3};

    /// A ball joint 0.2 rad beyond the stop of one coordinate, turned about all axes: with next to no inertia about the others, the stop turns none of them faster than it comes back itself, δ/h.
    #[test]
    fn a_stop_does_not_throw_other_axes() {
        let limited = DofDesc {
            lower: -0.3,
            upper: 0.4,
            limit_stiffness: 1e3,
            limit_damping: 1.0,
            ..DofDesc::default()
        };
        let joint = JointDesc {
            dofs: vec![limited, DofDesc::default(), DofDesc::default()],
            ..JointDesc::of(JointKind::Ball)
        };
        let shape = SolidShape::Capsule { from: Vec3::zeros(), to: Vec3::x(), radius: 0.1 };
        let bone = BoneDesc {
            name: "forearm".into(),
            parent: Parent::World,
            parent_from_joint: Isometry::identity(),
            joint,
            mass: MassDesc::Solid { shape, density: 1000.0 },
        };
        let skeleton = Skeleton::build(&SkeletonDesc { bones: vec![bone] }).expect("sound");
        let mut state = SkeletonState::at_rest(&skeleton);
        state.v = vec![0.6, -0.5, 0.7];
        state.move_along_velocity(&skeleton, 1.0);
        state.v.fill(0.0);
        let (h, mut out) = (2e-3, [Passive::default(); 3]);
        joint_forces(&skeleton, &skeleton.bones()[0].joint, &state, h, &mut out);
        for Passive { force, drag } in out {
            assert!(h * force.abs() <= drag * 0.2 / h, "{force} N m, {drag} kg m²");
        }
        assert!(out[1].force.abs() > 10.0, "the stop acts on other axes as well");
    }
}

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
use crate::joint::Joint;
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
        let mut gradient = [0.0; 3];
        for (k, dof) in v.clone().enumerate() {
            let desc = &skeleton.dofs()[dof];
            let velocity = state.v[dof];
            let (derivative, stiffness, damping) = derivatives(desc, x[k], x[k] + h * velocity);
            gradient[k] = derivative;
            out[dof - joint.v_offset] =
                Passive { force: -(damping + h * stiffness) * velocity, drag: h * (damping + h * stiffness) };
        }
        let force = part.force_of_gradient(&x, gradient);
        for (k, dof) in v.enumerate() {
            out[dof - joint.v_offset].force -= force[k];
        }
    }
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

//! Total energies and momenta of a skeleton.

use crate::{Kinematics, Skeleton, SkeletonState, passive};
use sinew_math::Vec3;

/// The energies of a state (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energies {
    /// Kinetic: Σ Vᵀ J V/2 over bones, and rotors.
    pub kinetic: f64,
    /// Gravitational: −Σ m g · c.
    pub gravity: f64,
    /// Elastic: springs and stops of joints.
    pub springs: f64,
}

/// Linear and angular momentum of all bones, without rotors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Σ m ċ (kg m/s), in the world.
    pub linear: Vec3,
    /// Angular momentum about the origin of the world (kg m²/s).
    pub angular: Vec3,
}

impl Energies {
    /// The energies of a state whose kinematics are up to date, with gravitational acceleration `gravity` (m/s²).
    pub fn of(
        skeleton: &Skeleton,
        kinematics: &Kinematics,
        state: &SkeletonState,
        gravity: &Vec3,
    ) -> Energies {
        let mut sum = Energies { springs: passive::energy(skeleton, state), ..Energies::default() };
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let v = &kinematics.velocities()[i];
            sum.kinetic += 0.5 * v.dot(&bone.inertia.times(v));
            let center = kinematics.world_frames()[i].point(&bone.mass.center);
            sum.gravity -= bone.mass.mass * gravity.dot(&center);
        }
        for (dof, v) in skeleton.dofs().iter().zip(&state.v) {
            sum.kinetic += 0.5 * dof.armature * v * v;
        }
        sum
    }

    /// The sum (J).
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravity + self.springs
    }
}

impl Momentum {
    /// The momenta of all bones.
    pub fn of(skeleton: &Skeleton, kinematics: &Kinematics) -> Momentum {
        let mut sum = Momentum::default();
        for (i, bone) in skeleton.bones().iter().enumerate() {
            let momentum = bone.inertia.times(&kinematics.velocities()[i]);
            let in_world = kinematics.world_frames()[i].wrench(&momentum);
            sum.linear += in_world.force;
            sum.angular += in_world.torque;
        }
        sum
    }
}

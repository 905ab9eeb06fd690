//! Extension point for energies of nodes other than elasticity and inertia, such as contact barriers and point constraints.

use core::fmt::Debug;
use sinew_math::nalgebra::Matrix6;
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, Twist, Wrench};
use sinew_math::{Mat3, Vec3};

/// An energy of node positions that is added to the potential of an implicit step. Nodes fixed to bones pass their forces on to the bones.
pub trait NodeEnergy: Debug {
    /// Returns the energy (J) at node positions (m) and adds its gradient (N). Infinite at inadmissible positions.
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64;

    /// The same for nodes that move with velocities (m/s), with the forces of dampers in the gradient.
    fn evaluate_moving(&mut self, x: &[Vec3], _v: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        self.evaluate(x, gradient)
    }

    /// The energy without that of dampers (J).
    fn stored_energy(&mut self, x: &[Vec3]) -> f64 {
        self.evaluate(x, &mut vec![Vec3::zeros(); x.len()])
    }

    /// Multiplies the energy and its dampers, as they are described, by `stiffness`, and then its viscosity by `viscosity`: of a body of which [`crate::body_kind::CustomKind::takes_factors`] says that it can.
    fn set_factors(&mut self, _stiffness: f64, _viscosity: f64) {}

    /// Begins an implicit step of `h` (s) at node positions, which dampers refer to.
    fn begin_step(&mut self, _x: &[Vec3], _h: f64) {}

    /// Extrapolates what dampers refer to from there through node positions by a factor `s`, for the second stage of a step.
    fn begin_beyond(&mut self, _x: &[Vec3], _s: f64) {}

    /// Whether its forces have no resultant on any connected part, so that parts fly freely under them.
    fn is_internal(&self) -> bool {
        false
    }

    /// Calls the visitor with the nodes and blocks of the Hessian (N/m) that was last updated, each any number of times; they add up. For preconditioners: an energy may leave out all of them.
    fn for_each_block(&self, _visit: &mut dyn FnMut(u32, u32, &Mat3)) {}

    /// Updates at node positions what is fixed during an iteration, such as the active contact pairs; returns whether the energy changed. Called before each `round` of the
    /// solver, but only guaranteed for the first ones: an active set that alternates must settle by itself.
    fn refresh(&mut self, _x: &[Vec3], _round: usize) -> bool {
        false
    }

    /// Corrects at node positions near a minimum what was fixed far from it, such as friction limits; returns whether the energy changed. Called a few times per solve at most.
    fn correct(&mut self, _x: &[Vec3]) -> bool {
        false
    }

    /// Computes the Hessian at node positions for subsequent products.
    fn update(&mut self, x: &[Vec3]);

    /// Adds the product of the Hessian with displacements `u` of all nodes.
    fn multiply(&self, u: &[Row], out: &mut [Row]);

    /// Adds the diagonal block of each node in the Hessian (N/m).
    fn add_diagonal(&self, blocks: &mut [Mat3]);

    /// Sets the poses of rigid bodies before each evaluation and update: the world, bones, then all obstacles if any is dynamic. This and the following methods are for energies that depend on them directly.
    fn see_bones(&mut self, _frames: &[Frame]) {}

    /// Adds the gradient of the last evaluation with respect to rigid bodies, as wrenches about the origin of the world (N m, N).
    fn add_bone_gradients(&self, _wrenches: &mut [Wrench]) {}

    /// Sets the twists of rigid bodies about the origin of the world before a product; empty if none moves.
    fn move_bones(&mut self, _twists: &[Twist]) {}

    /// Adds the components of rigid bodies of the product of the Hessian with displacements of nodes and rigid bodies, as wrenches.
    fn add_bone_products(&self, _u: &[Row], _wrenches: &mut [Wrench]) {}

    /// Adds the diagonal block of each rigid body in the Hessian, for twists about the origin of the world.
    fn add_bone_blocks(&self, _blocks: &mut [Matrix6<f64>]) {}

    /// Whether it lies over such a layer.
    fn is_over_layer(&self) -> bool {
        false
    }

    /// Shows how a layer of solids on bones moves, and when. This and the following methods are for what lies over such a layer.
    fn see_layer(&mut self, _motion: &LayerMotion) {}

    /// Finds what of the layer is near node positions, before an explicit step.
    fn find_layer(&mut self, _x: &[Vec3]) {}

    /// Adds what the layer does to nodes in an explicit sub-step to all other forces on them (N).
    fn push_layer(&mut self, _step: &LayerStep, _force: &mut [Vec3]) {}

    /// The power of the last forces of the layer at velocities of nodes (W).
    fn layer_power(&self, _v: &[Vec3]) -> f64 {
        0.0
    }

    /// What the nodes did to the bones of the layer in the last sub-step, as wrenches about the origin of the world; empty if bones do not feel it.
    fn layer_wrenches(&self) -> &[Wrench] {
        &[]
    }

    /// Moves nodes that a step has left inside the layer out of it.
    fn lift_from_layer(&mut self, _x: &mut [Vec3], _v: &mut [Vec3], _inverse_mass: &[f64]) {}

    /// The largest step length, at most 1, along a motion that keeps positions admissible.
    fn max_step(&mut self, _x: &[Vec3], _motion: &[Vec3]) -> f64 {
        1.0
    }
}

/// How bones move at an instant.
#[derive(Clone, Copy, Debug)]
pub struct LayerMotion<'a> {
    /// Poses of the bones of all rigs, the world first.
    pub frames: &'a [Frame],
    /// Their twists about the origin of the world.
    pub twists: &'a [Twist],
    /// Time of the take (s).
    pub time: f64,
    /// Time since the last such motion (s); 0 at a new start.
    pub lasted: f64,
}

/// The nodes of a body in an explicit sub-step.
#[derive(Clone, Copy, Debug)]
pub struct LayerStep<'a> {
    /// Positions (m).
    pub x: &'a [Vec3],
    /// Velocities (m/s).
    pub v: &'a [Vec3],
    /// Inverse masses (1/kg); 0 for what is fixed.
    pub inverse_mass: &'a [f64],
    /// Gravity (m/s²).
    pub gravity: Vec3,
    /// Length of the sub-step (s).
    pub h: f64,
}

/// Springs from nodes to fixed positions: soft point constraints.
///
/// ```text
/// E = Σ k/2 |x − p|²
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSprings {
    /// Node, target position (m) and stiffness (N/m) of each spring.
    pub springs: Vec<(u32, Vec3, f64)>,
}

impl NodeEnergy for PointSprings {
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64 {
        let mut sum = 0.0;
        for (node, place, stiffness) in &self.springs {
            let off = x[*node as usize] - place;
            sum += 0.5 * stiffness * off.norm_squared();
            gradient[*node as usize] += *stiffness * off;
        }
        sum
    }

    fn update(&mut self, _x: &[Vec3]) {}

    fn multiply(&self, u: &[Row], out: &mut [Row]) {
        for (node, _, stiffness) in &self.springs {
            let (u, out) = (&u[*node as usize], &mut out[*node as usize]);
            (0..3).for_each(|i| out[i] += *stiffness as f32 * u[i]);
        }
    }

    fn add_diagonal(&self, blocks: &mut [Mat3]) {
        for (node, _, stiffness) in &self.springs {
            blocks[*node as usize] += Mat3::from_diagonal_element(*stiffness);
        }
    }
}

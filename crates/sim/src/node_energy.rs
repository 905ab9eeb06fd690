//! The door for energies of nodes that are neither flesh nor inertia: contact barriers, point constraints.

use core::fmt::Debug;
use sinew_math::sparse::Row;
use sinew_math::spatial::{Frame, Twist, Wrench};
use sinew_math::{Mat3, Vec3};

/// An energy of node positions, added to the potential of an implicit step. Nodes fixed to bones pass their fraction on to the bones.
pub trait NodeEnergy: Debug {
    /// The energy (J) at node positions (m); adds its gradient (N). Infinite where positions are forbidden.
    fn evaluate(&mut self, x: &[Vec3], gradient: &mut [Vec3]) -> f64;

    /// Takes anew, at node positions, what stays as it is while the solver descends: who touches whom, say. Whether that changed the energy. Called before each `round` of the
    /// solver, of which only the first are promised: what changes back and forth must come to an end by itself.
    fn refresh(&mut self, _x: &[Vec3], _round: usize) -> bool {
        false
    }

    /// Takes the Hessian at node positions, for the products that follow.
    fn update(&mut self, x: &[Vec3]);

    /// Adds the product of the Hessian with motions `u` of all nodes.
    fn multiply(&self, u: &[Row], out: &mut [Row]);

    /// Adds each node's own block of the Hessian (N/m).
    fn add_diagonal(&self, blocks: &mut [Mat3]);

    /// Takes where bones are, the world first, before each evaluation and update. For energies of bones themselves; so are all that follow.
    fn see_bones(&mut self, _frames: &[Frame]) {}

    /// Adds the gradient of the last evaluation over motions of bones, as wrenches about the origin of the world (N m, N).
    fn add_bone_gradients(&self, _wrenches: &mut [Wrench]) {}

    /// Takes how bones move, as twists about the origin of the world, before a product; none if they do not.
    fn move_bones(&mut self, _twists: &[Twist]) {}

    /// Adds the product of the Hessian with motions of nodes and bones, over motions of bones.
    fn add_bone_products(&self, _u: &[Row], _wrenches: &mut [Wrench]) {}

    /// The largest fraction of a motion, at most 1, that keeps clear of what is forbidden.
    fn max_step(&mut self, _x: &[Vec3], _motion: &[Vec3]) -> f64 {
        1.0
    }
}

/// Springs that pull nodes to places: soft point constraints.
///
/// ```text
/// E = Σ k/2 |x − p|²
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSprings {
    /// Node, place (m) and stiffness (N/m) of each spring.
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

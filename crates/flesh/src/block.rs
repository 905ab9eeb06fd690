//! What an element is made from, and sixteen elements side by side as the kernels want them.

use crate::material::Material;
use sinew_math::lanes::BLOCK;

/// Blocks that one task works through.
pub(crate) const CHUNK: usize = 32;

/// What an element is made from.
#[derive(Clone, Copy, Debug)]
pub struct ElementDesc {
    /// Its nodes.
    pub nodes: [u32; 4],
    /// What it is made of.
    pub material: Material,
    /// The fraction of its volume that is filled, w.
    pub fill: f64,
    /// How far ahead of the strain the stress is, β (s); 0 for a solid that does not damp its own vibration.
    pub viscosity: f64,
}

/// Sixteen elements side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// Dm⁻¹: `inverse_rest[k][j]` is row k, column j (1/m).
    pub(crate) inverse_rest: [[[f32; BLOCK]; 3]; 3],
    /// μ V w (J).
    pub(crate) mu: [f32; BLOCK],
    /// λ V w (J).
    pub(crate) lambda: [f32; BLOCK],
    pub(crate) nodes: [[u32; 4]; BLOCK],
    /// The least mass that the element gives a corner, a quarter of an even fraction (kg).
    pub(crate) corner_mass: [f32; BLOCK],
    /// β (s).
    pub(crate) viscosity: [f32; BLOCK],
}

impl Default for Block {
    #[inline(always)]
    fn default() -> Self {
        Block {
            inverse_rest: [[[0.0; BLOCK]; 3]; 3],
            mu: [0.0; BLOCK],
            lambda: [0.0; BLOCK],
            nodes: [[0; 4]; BLOCK],
            corner_mass: [0.0; BLOCK],
            viscosity: [0.0; BLOCK],
        }
    }
}

impl Block {
    /// Copies what forces need of one lane of another block.
    #[inline(always)]
    pub(crate) fn copy_lane(&mut self, lane: usize, other: &Block, from: usize) {
        for k in 0..3 {
            for j in 0..3 {
                self.inverse_rest[k][j][lane] = other.inverse_rest[k][j][from];
            }
        }
        self.mu[lane] = other.mu[from];
        self.lambda[lane] = other.lambda[from];
        self.nodes[lane] = other.nodes[from];
        self.viscosity[lane] = other.viscosity[from];
    }
}

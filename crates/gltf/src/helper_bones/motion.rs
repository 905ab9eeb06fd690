//! What is decomposed: a skinned surface, its joints frame by frame, and where its vertices are to be.

use sinew_math::nalgebra::Matrix3x4;
use std::borrow::Cow;
use std::io;

/// A map of points, A p + b.
pub(crate) type Affine = Matrix3x4<f64>;

/// The weight of a bone at a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Influence {
    /// The bone: joints of the file first, then helpers.
    pub(crate) bone: usize,
    /// Its weight, above 0; those of a vertex sum to 1.
    pub(crate) weight: f64,
}

/// The frames of a skinned surface, of all clips one after the other, wherever they are kept.
pub(crate) trait SkinnedMotion: Sync {
    /// How many vertices there are.
    fn vertex_count(&self) -> usize;

    /// How many frames there are.
    fn frame_count(&self) -> usize;

    /// How many joints the file has.
    fn joint_count(&self) -> usize;

    /// The joints that move a vertex in the file, with positive weights that sum to 1.
    fn influences(&self, vertex: usize) -> Vec<Influence>;

    /// J_j of all joints in a frame: from where the surface was bound to the world.
    fn joints(&self, frame: usize) -> Cow<'_, [Affine]>;

    /// Whether bind positions are the same in all frames.
    fn has_fixed_bind(&self) -> bool;

    /// The bind positions p_i in a frame, with the morph targets of the file (m).
    fn bind(&self, frame: usize) -> io::Result<Cow<'_, [[f32; 3]]>>;

    /// Where vertices are to be in a frame, in the world (m).
    fn target(&self, frame: usize) -> io::Result<Cow<'_, [[f32; 3]]>>;
}

/// A p + b.
pub(super) fn apply(map: &Affine, p: &[f32; 3]) -> [f64; 3] {
    let [x, y, z] = p.map(f64::from);
    [0, 1, 2].map(|r| map[(r, 0)] * x + map[(r, 1)] * y + map[(r, 2)] * z + map[(r, 3)])
}

/// Σ_b w_b T_b p.
pub(super) fn blend(influences: &[Influence], p: &[f32; 3], maps: &[Affine]) -> [f64; 3] {
    influences.iter().fold([0.0; 3], |sum, influence| {
        let moved = apply(&maps[influence.bone], p);
        [0, 1, 2].map(|axis| sum[axis] + influence.weight * moved[axis])
    })
}

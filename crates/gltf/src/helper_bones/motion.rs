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

/// When a frame is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClipTime {
    /// The clip, any number that is another for every clip.
    pub(crate) clip: usize,
    /// The time in it (s).
    pub(crate) seconds: f64,
}

/// A frame between two others of its clip, and which fraction of the time between them has passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Between {
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) fraction: f64,
}

impl Between {
    /// The frames around one of a list; `None` for the first and the last of a clip.
    pub(super) fn of(times: &[ClipTime], frame: usize) -> Option<Between> {
        let (before, after) = (frame.checked_sub(1)?, frame + 1);
        let (then, now, later) = (times[before], times[frame], *times.get(after)?);
        let is_inside = then.clip == now.clip && now.clip == later.clip && later.seconds > then.seconds;
        let fraction = (now.seconds - then.seconds) / (later.seconds - then.seconds);
        is_inside.then_some(Between { before, after, fraction })
    }
}

/// The frames of a skinned surface, of all clips one after the other, wherever they are kept.
pub(crate) trait SkinnedMotion: Sync {
    /// How many vertices there are.
    fn vertex_count(&self) -> usize;

    /// How many frames there are.
    fn frame_count(&self) -> usize;

    /// When a frame is. Frames of a clip come one after the other, in the order of their times.
    fn time(&self, frame: usize) -> ClipTime;

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
#[inline]
pub(super) fn apply(map: &Affine, p: &[f32; 3]) -> [f64; 3] {
    let (x, y, z) = (f64::from(p[0]), f64::from(p[1]), f64::from(p[2]));
    let m = map.as_slice();
    [
        m[0] * x + m[3] * y + m[6] * z + m[9],
        m[1] * x + m[4] * y + m[7] * z + m[10],
        m[2] * x + m[5] * y + m[8] * z + m[11],
    ]
}

/// Σ_b w_b T_b p.
#[inline]
pub(super) fn blend(influences: &[Influence], p: &[f32; 3], maps: &[Affine]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for influence in influences {
        let moved = apply(&maps[influence.bone], p);
        for axis in 0..3 {
            sum[axis] += influence.weight * moved[axis];
        }
    }
    sum
}

/// ‖moved − x‖².
#[inline]
pub(super) fn squared_distance(moved: &[f64; 3], x: &[f32; 3]) -> f64 {
    let mut sum = 0.0;
    for axis in 0..3 {
        let gap = moved[axis] - f64::from(x[axis]);
        sum += gap * gap;
    }
    sum
}

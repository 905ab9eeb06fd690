//! Biovision hierarchy (BVH): joints with their offsets, and their channels frame by frame.
//!
//! Joints may have any channels in any order, inner joints positions too. A joint's rotation is the product of its rotation
//! channels in the order they stand in, each about an axis that the ones before it have turned. Lengths become metres by the
//! scale that is given, degrees become radians; axes are kept as in the file, since none of it says which is up: turn the
//! skeleton by [`BvhBody::world_from_file`] where that matters. Counts in the file are checked and never reserved from.

mod body;
mod calibration;
mod hierarchy;
mod motion;
mod tokens;

pub use body::BvhBody;

use sinew_files::{Loaded, ReadError};
use sinew_math::{Isometry, Rotation, Vec3, nalgebra::Quaternion, real};

/// Metres per unit of the motions of the Carnegie Mellon library: inches, scaled by 1/0.45.
pub const CMU_METRES: f64 = 0.0254 / 0.45;

/// One number of a joint that changes from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BvhChannel {
    /// A position (m) along an axis: 0 for x, 1 for y, 2 for z.
    Position(u8),
    /// An angle (rad) about an axis: 0 for x, 1 for y, 2 for z.
    Rotation(u8),
}

/// A joint of a BVH file.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhJoint {
    /// Its name, not always the only one of its kind.
    pub name: String,
    /// The joint it hangs from, always an earlier one; `None` for a root.
    pub parent: Option<usize>,
    /// Where it stands in its parent's frame at rest (m).
    pub offset: Vec3,
    /// What changes, in the order of the frames' numbers.
    pub channels: Vec<BvhChannel>,
    /// Where its first channel stands in a frame.
    pub channel_offset: usize,
    /// Ends of the bone that no joint begins (`End Site`), in the joint's frame (m).
    pub ends: Vec<Vec3>,
}

/// What position channels mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BvhPosition {
    /// They stand in for the joint's offset along their axis, as most exporters write them.
    #[default]
    InsteadOfOffset,
    /// They are added to the joint's offset.
    AddedToOffset,
}

/// How a BVH file is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BvhOptions {
    /// Length of the file's unit (m); see [`CMU_METRES`]. Often 0.01.
    pub metres_per_unit: f64,
    /// What position channels mean.
    pub position: BvhPosition,
}

impl Default for BvhOptions {
    /// A unit of one metre; positions in place of offsets.
    fn default() -> BvhOptions {
        BvhOptions { metres_per_unit: 1.0, position: BvhPosition::default() }
    }
}

/// Joints and their motion, parents first, in metres and radians and the axes of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Bvh {
    /// All joints, in the order of the file.
    pub joints: Vec<BvhJoint>,
    /// Time from frame to frame (s).
    pub frame_seconds: f64,
    /// The channels of all joints, frame after frame (m, rad).
    pub frames: Vec<f64>,
    /// How many numbers a frame has.
    pub channel_count: usize,
    /// How many frames there are.
    pub frame_count: usize,
    /// What position channels mean.
    pub position: BvhPosition,
}

/// Reads joints and motion from the bytes of a BVH file.
pub fn read_bvh(bytes: &[u8], options: &BvhOptions) -> Result<Loaded<Bvh>, ReadError> {
    let scale = options.metres_per_unit;
    if !(scale.is_finite() && scale > 0.0) {
        return Err(ReadError::whole(format!("a unit of {scale} m: give a finite length above 0")));
    }
    let mut tokens = tokens::Tokens::of(bytes);
    let joints = hierarchy::read(&mut tokens, scale)?;
    let channel_count = joints.iter().map(|joint| joint.channels.len()).sum();
    let motion = motion::read(&mut tokens, &joints, scale)?;
    let mut notes = Vec::new();
    if motion.frame_count == 0 {
        notes.push("the file has joints but no frames".to_string());
    }
    let bvh = Bvh {
        joints,
        frame_seconds: motion.frame_seconds,
        frames: motion.values,
        channel_count,
        frame_count: motion.frame_count,
        position: options.position,
    };
    Ok(Loaded { value: bvh, notes })
}

impl Bvh {
    /// The numbers of a frame; `None` where there is no such frame.
    pub fn frame(&self, frame: usize) -> Option<&[f64]> {
        (frame < self.frame_count)
            .then(|| &self.frames[frame * self.channel_count..(frame + 1) * self.channel_count])
    }

    /// Where a joint stands in its parent's frame (in the world for a root), given the numbers of a frame.
    ///
    /// # Panics
    /// If there is no such joint, or there are fewer numbers than channels.
    pub fn parent_from_joint(&self, joint: usize, frame: &[f64]) -> Isometry {
        let joint = &self.joints[joint];
        let values = &frame[joint.channel_offset..joint.channel_offset + joint.channels.len()];
        let (mut origin, mut rotation) = (joint.offset, Rotation::identity());
        for (channel, value) in joint.channels.iter().zip(values) {
            match (channel, self.position) {
                (BvhChannel::Position(axis), BvhPosition::InsteadOfOffset) => {
                    origin[usize::from(*axis)] = *value
                }
                (BvhChannel::Position(axis), BvhPosition::AddedToOffset) => {
                    origin[usize::from(*axis)] += value
                }
                (BvhChannel::Rotation(axis), _) => rotation *= about(*axis, *value),
            }
        }
        Isometry::from_parts(origin.into(), Rotation::new_normalize(rotation.into_inner()))
    }

    /// Where every joint stands in the world in a frame; `None` where there is no such frame.
    pub fn world_from_joints(&self, frame: usize) -> Option<Vec<Isometry>> {
        let values = self.frame(frame)?;
        let mut world: Vec<Isometry> = Vec::with_capacity(self.joints.len());
        for (i, joint) in self.joints.iter().enumerate() {
            let pose = self.parent_from_joint(i, values);
            world.push(joint.parent.map_or(pose, |parent| world[parent] * pose));
        }
        Some(world)
    }
}

/// The rotation by an angle (rad) about an axis.
fn about(axis: u8, angle: f64) -> Rotation {
    let (sine, cosine) = (real::sin(0.5 * angle), real::cos(0.5 * angle));
    let imaginary = Vec3::ith(usize::from(axis), sine);
    Rotation::new_unchecked(Quaternion::from_parts(cosine, imaginary))
}

#[cfg(test)]
mod tests;

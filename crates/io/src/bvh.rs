//! Reads Biovision hierarchy (BVH) files: joints with their offsets, and the values of their channels in every frame.
//!
//! Any joint may have any channels, in any order. A joint's rotation is the product of its rotation channels in the order of the file
//! (intrinsic Euler angles). Lengths are converted to metres and degrees to radians. Axes stay those of the file, which does not say which
//! one is up: [`BvhBody::world_from_file`] rotates the skeleton. Memory grows with the numbers that are read, never with the counts that a
//! file states.

mod body;
mod calibration;
mod hierarchy;
mod motion;
mod tokens;
mod unit;

pub use body::BvhBody;
pub use unit::read_bvh_in;

use sinew_files::{Loaded, ReadError};
use sinew_math::{Isometry, Rotation, Vec3, nalgebra::Quaternion, real};

/// Metres per unit of the Carnegie Mellon motion capture database: inches divided by 0.45.
pub const CMU_METRES: f64 = 0.0254 / 0.45;

/// An animated number of a joint.
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
    /// Its name, which may not be unique.
    pub name: String,
    /// The parent joint, which always precedes it; `None` for a root.
    pub parent: Option<usize>,
    /// Its position in its parent's frame at rest (m).
    pub offset: Vec3,
    /// Its channels, in the order of the numbers in a frame.
    pub channels: Vec<BvhChannel>,
    /// The index of its first channel in a frame.
    pub channel_offset: usize,
    /// Its end sites: tips of the bone without a child joint, in the joint's frame (m).
    pub ends: Vec<Vec3>,
}

/// What position channels mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BvhPosition {
    /// They replace the joint's offset along their axis, as most exporters write them.
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
    /// A unit of one metre; positions replace offsets.
    fn default() -> BvhOptions {
        BvhOptions { metres_per_unit: 1.0, position: BvhPosition::default() }
    }
}

/// Joints and their motion: parents first, in metres and radians, along the axes of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Bvh {
    /// All joints, in the order of the file.
    pub joints: Vec<BvhJoint>,
    /// Duration of a frame (s).
    pub frame_seconds: f64,
    /// The channels of all joints, frame after frame (m, rad).
    pub frames: Vec<f64>,
    /// Numbers per frame.
    pub channel_count: usize,
    /// Number of frames.
    pub frame_count: usize,
    /// What position channels mean.
    pub position: BvhPosition,
}

/// Reads joints and motion from the bytes of a BVH file.
pub fn read_bvh(bytes: &[u8], options: &BvhOptions) -> Result<Loaded<Bvh>, ReadError> {
    let scale = options.metres_per_unit;
    if !(scale.is_finite() && scale > 0.0) {
        return Err(ReadError::whole(format!("the unit is {scale} m: it must be finite and above 0")));
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
    /// The channel values of a frame (m, rad); `None` if there is no such frame.
    pub fn frame(&self, frame: usize) -> Option<&[f64]> {
        (frame < self.frame_count)
            .then(|| &self.frames[frame * self.channel_count..(frame + 1) * self.channel_count])
    }

    /// The pose of a joint in its parent's frame (in the world for a root), given the channel values of a frame.
    ///
    /// # Panics
    /// If there is no such joint, or there are fewer values than channels.
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

    /// The poses of all joints in the world in a frame; `None` if there is no such frame.
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

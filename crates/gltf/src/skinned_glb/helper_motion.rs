//! The frames of a body as a skinned motion, in which helper bones are looked for.
//!
//! Bind space is moved to where the surface was bound in the world, p' = W p and J' = J W⁻¹: there joints are near to rigid, and so are helpers.

use super::body::Body;
use super::clip::{Clip, Moment};
use super::flesh_frames::FleshFrames;
use crate::helper_bones::{Affine, ClipTime, Influence, SkinnedMotion, affine_of};
use sinew_character::{CharacterPose, JointWeight, Mat4, RiggedCharacter};
use sinew_math::Vec3;
use std::borrow::Cow;
use std::io;

/// A frame that helpers follow.
pub(super) struct HelperFrame {
    /// Where the nodes of the file stand.
    pub(super) pose: CharacterPose,
    /// When it is, in the order of animations.
    pub(super) time: ClipTime,
    /// When flesh is where it is to be; `None` where the skinned surface is.
    pub(super) moment: Option<Moment>,
}

/// What is followed: a character with the frames of its clips.
#[derive(Clone, Copy)]
pub(super) struct Followed<'a> {
    pub(super) character: &'a RiggedCharacter,
    pub(super) clips: &'a [Clip],
    pub(super) flesh: &'a FleshFrames,
    pub(super) frames: &'a [HelperFrame],
}

/// A body over all frames.
pub(super) struct BodyMotion<'a> {
    of: Followed<'a>,
    body: &'a Body,
    skin: usize,
    /// W⁻¹.
    bind_from_world: Mat4,
    /// The morph weights of the node are the same in all frames.
    is_fixed: bool,
}

impl<'a> BodyMotion<'a> {
    /// Fails, with the reason, where the body has no skin that helpers could be added to.
    pub(super) fn new(of: Followed<'a>, body: &'a Body) -> Result<BodyMotion<'a>, String> {
        // a skin whose bind can be undone
        let skin = of.character.nodes[body.node].skin;
        let Some(skin) = skin.filter(|_| body.parts.iter().all(|part| part.is_skinned())) else {
            return Err("has surfaces without a skin".into());
        };
        let of_skin = &of.character.skins[skin];
        let is_regular = of_skin.inverse_bind.iter().all(|matrix| matrix.try_inverse().is_some());
        let Some(bind_from_world) = of_skin.world_from_bind.try_inverse().filter(|_| is_regular) else {
            return Err("has a joint whose bind matrix is singular".into());
        };

        // whether the file's own morph targets move it
        let weights = |frame: &'a HelperFrame| &frame.pose.morph_weights[body.node];
        let is_fixed = of.frames.windows(2).all(|pair| weights(&pair[0]) == weights(&pair[1]));
        Ok(BodyMotion { of, body, skin, bind_from_world, is_fixed })
    }

    /// The skin of the body.
    pub(super) fn skin(&self) -> usize {
        self.skin
    }
}

impl SkinnedMotion for BodyMotion<'_> {
    fn vertex_count(&self) -> usize {
        self.body.vertex_count()
    }

    fn frame_count(&self) -> usize {
        self.of.frames.len()
    }

    fn time(&self, frame: usize) -> ClipTime {
        self.of.frames[frame].time
    }

    fn joint_count(&self) -> usize {
        self.of.character.skins[self.skin].joints.len()
    }

    fn influences(&self, vertex: usize) -> Vec<Influence> {
        let (part, vertex) = self.body.part_of(vertex);
        let influence = |entry: &JointWeight| Influence { bone: entry.joint as usize, weight: entry.weight };
        part.weights(vertex).iter().map(influence).collect()
    }

    fn joints(&self, frame: usize) -> Cow<'_, [Affine]> {
        let pose = &self.of.frames[frame].pose;
        let joints = self.of.character.joint_matrices(self.skin, pose).unwrap_or_default();
        joints.iter().map(|joint| affine_of(joint, &self.bind_from_world)).collect()
    }

    fn has_fixed_bind(&self) -> bool {
        self.is_fixed
    }

    fn bind(&self, frame: usize) -> io::Result<Cow<'_, [[f32; 3]]>> {
        let (character, pose) = (self.of.character, &self.of.frames[frame].pose);
        let world_from_bind = &character.skins[self.skin].world_from_bind;
        let morphed = |surface| character.morphed_vertices(surface, pose).unwrap_or_default();
        let points = self.body.parts.iter().flat_map(|part| morphed(part.surface));
        Ok(points.map(|p| single(&world_from_bind.transform_point(&p.into()).coords)).collect())
    }

    fn target(&self, frame: usize) -> io::Result<Cow<'_, [[f32; 3]]>> {
        let HelperFrame { pose, moment, .. } = &self.of.frames[frame];
        let places =
            self.of.flesh.places(self.of.character, self.body, (self.of.clips, moment.as_ref()), pose)?;
        Ok(places.iter().map(single).collect())
    }
}

fn single(point: &Vec3) -> [f32; 3] {
    [point.x as f32, point.y as f32, point.z as f32]
}

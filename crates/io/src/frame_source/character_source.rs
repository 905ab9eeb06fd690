//! Frame source of a rigged glTF file: its surfaces, animated by nodes, joints and morph targets.

use crate::{Up, file_looks};
use sinew_character::{CharacterBinding, CharacterPose, RiggedCharacter, SurfaceId};
use sinew_gltf::CharacterFile;
use sinew_math::Vec3;
use sinew_render::{FrameCallback, FrameSource, Look, Marks, PictureError, RenderFrame, Scalar};
use sinew_take::SurfaceInfo;

/// The frame rate at which animations are sampled.
const FPS: f64 = 30.0;

/// Renders a character file as it is, without simulation.
pub struct CharacterFrameSource<'a> {
    character: &'a RiggedCharacter,
    animation: Option<usize>,
    ids: Vec<SurfaceId>,
    surfaces: Vec<SurfaceInfo>,
    looks: Vec<Look>,
    /// Parent and child joint of each bone; empty if bones are not drawn.
    bones: Vec<[usize; 2]>,
    /// How soft the vertices of each surface are; empty if that is not drawn.
    softness: Vec<Vec<f32>>,
}

impl<'a> CharacterFrameSource<'a> {
    /// A file that plays one of its animations, or is at rest without one. `with_bones` draws its bones on top.
    pub fn new(
        file: &'a CharacterFile,
        animation: Option<usize>,
        with_bones: bool,
    ) -> Result<CharacterFrameSource<'a>, PictureError> {
        // surfaces with triangles
        let character = &*file.rigged;
        let has_triangles =
            |id: &SurfaceId| character.primitive(*id).is_some_and(|p| !p.triangles.is_empty());
        let ids: Vec<SurfaceId> = character.surfaces().filter(has_triangles).collect();
        if ids.is_empty() {
            return Err(PictureError("this file has no surfaces to draw".into()));
        }

        // at rest
        let pose = character.rest_pose();
        let info = |id: &SurfaceId| SurfaceInfo {
            name: character.nodes[id.node].label.clone(),
            triangles: character.primitive(*id).map(|p| p.triangles.clone()).unwrap_or_default(),
            rest: world(character, *id, &pose),
        };

        // bones
        let bones = if with_bones { joint_pairs(character) } else { Vec::new() };
        if with_bones && bones.is_empty() {
            return Err(PictureError("this file has no bones to draw".into()));
        }
        Ok(CharacterFrameSource {
            surfaces: ids.iter().map(info).collect(),
            looks: file_looks::of_surfaces(file, &ids),
            character,
            animation,
            ids,
            bones,
            softness: Vec::new(),
        })
    }

    /// The same, coloured by how soft the flesh is that was made of the file.
    pub fn with_softness(mut self, binding: &CharacterBinding) -> CharacterFrameSource<'a> {
        self.softness = binding.values_on_surfaces(binding.softness());
        self
    }

    fn seconds(&self) -> f64 {
        self.animation
            .and_then(|index| self.character.animations.get(index))
            .map_or(0.0, |animation| animation.duration)
    }
}

impl FrameSource for CharacterFrameSource<'_> {
    fn surfaces(&self) -> &[SurfaceInfo] {
        &self.surfaces
    }

    fn looks(&self) -> &[Look] {
        &self.looks
    }

    fn scalar(&self) -> Scalar {
        Scalar::Softness
    }

    fn up(&self) -> Up {
        Up::Y
    }

    fn fps(&self) -> f64 {
        FPS
    }

    fn frame_count(&self) -> usize {
        (self.seconds() * FPS + 1e-6).floor() as usize + 1
    }

    fn visit(&self, positions: &[f64], callback: &mut FrameCallback) -> Result<(), PictureError> {
        for position in positions {
            let time = position / FPS;
            let pose = self.animation.and_then(|index| self.character.pose_at(index, time));
            let pose = pose.unwrap_or_else(|| self.character.rest_pose());
            let joint = |node: usize| pose.world_from_node[node].fixed_view::<3, 1>(0, 3).into_owned();
            callback(RenderFrame {
                time,
                surfaces: self.ids.iter().map(|id| world(self.character, *id, &pose)).collect(),
                marks: Marks {
                    bones: self.bones.iter().map(|pair| pair.map(joint)).collect(),
                    arrows: Vec::new(),
                },
                strain: self.softness.clone(),
                ..RenderFrame::default()
            })?;
        }
        Ok(())
    }
}

/// The vertices of a surface in a pose (m).
fn world(character: &RiggedCharacter, id: SurfaceId, pose: &CharacterPose) -> Vec<[f32; 3]> {
    let single = |v: &Vec3| [v.x as f32, v.y as f32, v.z as f32];
    character.world_vertices(id, pose).unwrap_or_default().iter().map(single).collect()
}

/// Joints of skins, each with its parent if that is a joint too.
fn joint_pairs(character: &RiggedCharacter) -> Vec<[usize; 2]> {
    let mut is_joint = vec![false; character.nodes.len()];
    character.skins.iter().flat_map(|skin| &skin.joints).for_each(|joint| is_joint[*joint] = true);
    let pair = |node: usize| {
        character.nodes[node].parent.filter(|parent| is_joint[*parent]).map(|parent| [parent, node])
    };
    (0..character.nodes.len()).filter(|node| is_joint[*node]).filter_map(pair).collect()
}

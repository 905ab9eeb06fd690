//! Frames of the flesh as frames of the file's own surfaces: every vertex of every one, in the order of the file.

use super::CharacterScene;
use crate::picture::{Look, file_looks};
use sinew_character::{CharacterPose, SurfaceId};
use sinew_math::Vec3;
use sinew_take::{Frame, FrameSink, SinkError, SurfaceInfo};

/// Hands the surfaces of a character on to a sink: flesh as it was simulated, everything else as it is skinned.
pub struct CharacterFrames<'a, S> {
    character: &'a CharacterScene,
    sink: S,
    frame: Frame,
}

/// One surface of the file at one moment.
pub struct CharacterPart {
    /// Which surface.
    pub id: SurfaceId,
    /// Its vertices in the world (m), in the order of the file.
    pub vertices: Vec<Vec3>,
    /// Whether any of it is flesh.
    pub is_flesh: bool,
}

impl CharacterScene {
    /// The pose of the file's nodes in a frame.
    pub fn pose_in(&self, frame: &Frame) -> CharacterPose {
        match frame.bones.first() {
            Some(bones) if !self.is_prescribed_at(frame.time) => self.pose_of_bones(frame.time, bones),
            _ => self.pose_at(frame.time),
        }
    }

    /// All surfaces of the file in a frame.
    pub fn parts_in(&self, frame: &Frame, pose: &CharacterPose) -> Vec<CharacterPart> {
        let simulated = frame.surfaces.first().map_or(&[][..], Vec::as_slice);
        let part = |part: &super::flesh::Part| {
            let mut vertices = self.file.rigged.world_vertices(part.id, pose).unwrap_or_default();
            let mut is_flesh = false;
            for (vertex, place) in vertices.iter_mut().zip(&part.flesh_vertex) {
                if let Some([x, y, z]) = place.and_then(|place| simulated.get(place as usize)) {
                    *vertex = Vec3::new(f64::from(*x), f64::from(*y), f64::from(*z));
                    is_flesh = true;
                }
            }
            CharacterPart { id: part.id, vertices, is_flesh }
        };
        self.flesh.parts.iter().map(part).collect()
    }

    /// The names of the surfaces that [`CharacterFrames`] hands on.
    pub fn surface_names(&self) -> Vec<String> {
        self.surface_infos().into_iter().map(|info| info.name).collect()
    }

    /// Which surfaces of the file [`CharacterFrames`] hands on.
    pub(crate) fn surface_ids(&self) -> Vec<SurfaceId> {
        self.flesh.parts.iter().map(|part| part.id).collect()
    }

    /// What those surfaces look like, by the materials and textures of the file.
    pub fn looks(&self) -> Vec<Look> {
        file_looks::of_surfaces(&self.file, &self.surface_ids())
    }

    /// One number per vertex of the flesh as one per vertex of each surface; 0 where there is no flesh.
    pub(crate) fn values_on_surfaces(&self, flesh: &[f32]) -> Vec<Vec<f32>> {
        let value =
            |place: &Option<u32>| place.and_then(|place| flesh.get(place as usize)).copied().unwrap_or(0.0);
        self.flesh.parts.iter().map(|part| part.flesh_vertex.iter().map(value).collect()).collect()
    }

    /// The surfaces that [`CharacterFrames`] hands on.
    pub(crate) fn surface_infos(&self) -> Vec<SurfaceInfo> {
        let pose = self.file.rigged.rest_pose();
        let info = |part: &super::flesh::Part| {
            let node = &self.file.rigged.nodes[part.id.node];
            let several = node.mesh.is_some_and(|mesh| self.file.rigged.meshes[mesh].primitives.len() > 1);
            let number = if several { format!(" {}", part.id.primitive + 1) } else { String::new() };
            let vertices = self
                .file
                .rigged
                .bind_vertices(part.id)
                .or_else(|| self.file.rigged.world_vertices(part.id, &pose));
            SurfaceInfo {
                name: format!("{}{number}", node.label),
                triangles: self
                    .file
                    .rigged
                    .primitive(part.id)
                    .map(|p| p.triangles.clone())
                    .unwrap_or_default(),
                rest: vertices.unwrap_or_default().iter().map(single).collect(),
            }
        };
        self.flesh.parts.iter().map(info).collect()
    }
}

impl<'a, S: FrameSink> CharacterFrames<'a, S> {
    /// Hands the frames of a character's scene on to a sink.
    pub fn new(character: &'a CharacterScene, sink: S) -> CharacterFrames<'a, S> {
        CharacterFrames { character, sink, frame: Frame::default() }
    }

    /// The sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }
}

impl<S: FrameSink> FrameSink for CharacterFrames<'_, S> {
    fn begin(&mut self, _: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.sink.begin(&self.character.surface_infos(), fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let pose = self.character.pose_in(frame);
        let parts = self.character.parts_in(frame, &pose);
        self.frame.time = frame.time;
        self.frame.bones.clone_from(&frame.bones);
        self.frame.surfaces = parts.iter().map(|part| part.vertices.iter().map(single).collect()).collect();
        self.sink.frame(&self.frame)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.sink.finish()
    }
}

fn single(v: &Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

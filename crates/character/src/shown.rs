//! The surfaces of a scene as outputs show them: those of a character's own file in place of its flesh, every other body as it is.

use crate::binding::single;
use crate::{CharacterBinding, PlayedCharacter};
use sinew_math::Vec3;
use sinew_take::{Frame, FrameSink, Scene, SinkError, SurfaceInfo};

/// All surfaces of a scene with characters in it, body after body.
#[derive(Clone, Debug)]
pub struct ShownSurfaces<'a> {
    body_names: Vec<&'a str>,
    /// For each body the character whose flesh it is.
    characters: Vec<Option<PlayedCharacter<'a>>>,
}

impl<'a> ShownSurfaces<'a> {
    /// The surfaces of a scene and the characters in it.
    pub fn new(
        scene: &'a Scene,
        bindings: impl IntoIterator<Item = &'a CharacterBinding>,
    ) -> ShownSurfaces<'a> {
        let body_names: Vec<&str> = scene.world.bodies.iter().map(|body| body.name.as_str()).collect();
        let mut characters = vec![None; body_names.len()];
        for binding in bindings {
            characters[binding.body] = Some(binding.played(scene));
        }
        ShownSurfaces { body_names, characters }
    }

    /// Whether every body is shown as it is.
    pub fn is_plain(&self) -> bool {
        self.characters.iter().all(Option::is_none)
    }

    /// What stays the same about the surfaces, given those of all bodies.
    pub fn infos(&self, bodies: &[SurfaceInfo]) -> Vec<SurfaceInfo> {
        let of_body = |(body, info): (usize, &SurfaceInfo)| match &self.characters[body] {
            Some(character) => self.named(character.binding.surface_infos(), body),
            None => vec![info.clone()],
        };
        bodies.iter().enumerate().flat_map(of_body).collect()
    }

    /// The body of each surface, by its index.
    pub fn bodies(&self) -> Vec<usize> {
        let of_body = |(body, character): (usize, &Option<PlayedCharacter>)| {
            let count = character.as_ref().map_or(1, |character| character.binding.surface_ids().len());
            core::iter::repeat_n(body, count)
        };
        self.characters.iter().enumerate().flat_map(of_body).collect()
    }

    /// The names of the surfaces.
    pub fn names(&self) -> Vec<String> {
        let of_body = |(body, name): (usize, &&str)| match &self.characters[body] {
            Some(character) => {
                let infos = self.named(character.binding.surface_infos(), body);
                infos.into_iter().map(|info| info.name).collect()
            }
            None => vec![(*name).to_owned()],
        };
        self.body_names.iter().enumerate().flat_map(of_body).collect()
    }

    /// Where the vertices of all surfaces are in a frame (m).
    pub fn positions(&self, frame: &Frame) -> Vec<Vec<[f32; 3]>> {
        let of_body = |(body, surface): (usize, &Vec<[f32; 3]>)| match &self.characters[body] {
            Some(character) => {
                let parts = character.parts_in(frame, &character.pose_in(frame));
                parts.iter().map(|part| part.vertices.iter().map(single).collect()).collect()
            }
            None => vec![surface.clone()],
        };
        frame.surfaces.iter().enumerate().flat_map(of_body).collect()
    }

    /// One number per vertex of each body as one per vertex of each surface; 0 where there is no flesh.
    pub fn values(&self, bodies: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
        let of_body = |(body, values): (usize, Vec<f32>)| match &self.characters[body] {
            Some(character) => character.binding.values_on_surfaces(&values),
            None => vec![values],
        };
        bodies.into_iter().enumerate().flat_map(of_body).collect()
    }

    /// The surfaces as plain skinning puts them in a frame (m), given where it puts bodies that are no characters.
    pub fn skinned(&self, frame: &Frame, bodies: &[Vec<[f32; 3]>]) -> Vec<Vec<[f32; 3]>> {
        let singles = |points: &Vec<Vec3>| points.iter().map(single).collect();
        let of_body = |(body, character): (usize, &Option<PlayedCharacter>)| match character {
            Some(character) => {
                character.binding.skinned_surfaces(&character.pose_in(frame)).iter().map(singles).collect()
            }
            None => vec![bodies.get(body).cloned().unwrap_or_default()],
        };
        self.characters.iter().enumerate().flat_map(of_body).collect()
    }

    /// Surfaces of a character with its name before theirs, if it is not alone.
    fn named(&self, mut infos: Vec<SurfaceInfo>, body: usize) -> Vec<SurfaceInfo> {
        if self.body_names.len() > 1 {
            infos.iter_mut().for_each(|info| info.name = format!("{} {}", self.body_names[body], info.name));
        }
        infos
    }
}

/// Hands the surfaces of a scene on to a sink as [`ShownSurfaces`] has them.
pub struct CharacterFrames<'a, S> {
    shown: ShownSurfaces<'a>,
    sink: S,
    frame: Frame,
}

impl<'a, S: FrameSink> CharacterFrames<'a, S> {
    /// Hands the frames of a scene on to a sink.
    pub fn new(shown: ShownSurfaces<'a>, sink: S) -> CharacterFrames<'a, S> {
        CharacterFrames { shown, sink, frame: Frame::default() }
    }

    /// The sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }
}

impl<S: FrameSink> FrameSink for CharacterFrames<'_, S> {
    fn begin(&mut self, surfaces: &[SurfaceInfo], fps: f64) -> Result<(), SinkError> {
        self.sink.begin(&self.shown.infos(surfaces), fps)
    }

    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.frame.time = frame.time;
        self.frame.bones.clone_from(&frame.bones);
        self.frame.obstacles.clone_from(&frame.obstacles);
        self.frame.surfaces = self.shown.positions(frame);
        self.sink.frame(&self.frame)
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.sink.finish()
    }
}

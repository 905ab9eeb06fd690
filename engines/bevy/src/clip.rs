//! An animation of a file.

use bevy::gltf::Gltf;
use bevy::prelude::*;

/// An animation of a file.
pub(crate) struct Clip {
    /// Its name; `animation N` if it has none.
    pub(crate) name: String,
    /// Its length (s).
    pub(crate) seconds: f32,
    pub(crate) handle: Handle<AnimationClip>,
}

impl Clip {
    /// The animations of a file, in its order.
    pub(crate) fn all(world: &World, file: &Gltf) -> Vec<Clip> {
        let clips = world.resource::<Assets<AnimationClip>>();
        let clip = |(index, handle): (usize, &Handle<AnimationClip>)| {
            let named = file.named_animations.iter().find(|(_, other)| *other == handle);
            let name = named.map_or_else(|| format!("animation {index}"), |(name, _)| name.to_string());
            Clip {
                name,
                seconds: clips.get(handle).map_or(0.0, AnimationClip::duration),
                handle: handle.clone(),
            }
        };
        file.animations.iter().enumerate().map(clip).collect()
    }

    /// The one of a name, or of a number counted from 0.
    pub(crate) fn find<'a>(clips: &'a [Clip], wanted: &str) -> Result<&'a Clip, String> {
        let numbered = || clips.get(wanted.parse::<usize>().ok()?);
        clips.iter().find(|clip| clip.name == wanted).or_else(numbered).ok_or_else(|| {
            let names: Vec<&str> = clips.iter().map(|clip| clip.name.as_str()).collect();
            match names.as_slice() {
                [] => "the file has no animations".to_string(),
                names => format!("--animation {wanted}: the file has {}", names.join(", ")),
            }
        })
    }
}

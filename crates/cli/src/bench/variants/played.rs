//! A take of a variant: frame after frame where skinning and flesh put all vertices of the file.

use super::variant::Variant;
use crate::interrupt::FrameLoop;
use sinew_character::{
    CapturedMotion, Character, CharacterBinding, CharacterOptions, RiggedCharacter, ShownSurfaces,
    TakeSettings, empty_scene,
};
use sinew_gltf::{CharacterFile, CharacterLook};
use sinew_math::Vec3;
use sinew_take::{Frame, Player, Scene};
use std::sync::Arc;

/// A character and what it plays.
pub(super) struct Performer {
    pub(super) rigged: Arc<RiggedCharacter>,
    /// The animation of the file, by its index.
    pub(super) animation: Option<usize>,
    /// The captured motion that is played instead.
    pub(super) motion: Option<CapturedMotion>,
}

/// One frame of all surfaces, in the space of the original (m).
pub(super) struct Points {
    pub(super) skinned: Vec<Vec3>,
    pub(super) flesh: Vec<Vec3>,
}

/// What a take was, beside its frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TakeFacts {
    /// Frames that were repeated with smaller steps.
    pub(super) retries: usize,
    /// The largest extent of the flesh (m).
    pub(super) size: f64,
}

impl Performer {
    /// The same character as a variant stores it: written as a GLB in memory and read again. What that file cannot hold is kept.
    fn rewritten(&self, variant: Variant) -> Result<Arc<RiggedCharacter>, String> {
        let changed = variant.change.rewrite(&self.rigged, self.animation);
        let file = CharacterFile::of_rigged(&changed, &CharacterLook::default());
        let mut read = Arc::unwrap_or_clone(file.map_err(|error| error.to_string())?.value.rigged);
        read.human_bones.clone_from(&self.rigged.human_bones);
        for (mesh, original) in read.meshes.iter_mut().zip(&self.rigged.meshes) {
            for (primitive, original) in mesh.primitives.iter_mut().zip(&original.primitives) {
                primitive.softness.clone_from(&original.softness);
                primitive.colors.clone_from(&original.colors);
                primitive.uv.clone_from(&original.uv);
            }
        }
        Ok(Arc::new(read))
    }

    /// The scene of a variant, at most `max_seconds` of the original long.
    fn scene(&self, variant: Variant, max_seconds: f64) -> Result<(Scene, CharacterBinding), String> {
        let is_original = variant.change == super::variant::Change::Nothing;
        let rigged = if is_original { Arc::clone(&self.rigged) } else { self.rewritten(variant)? };
        let mut options = CharacterOptions {
            animation: self.animation.map(|animation| animation.to_string()),
            motion: self.motion.clone(),
            ..CharacterOptions::default()
        };
        let mut scene = empty_scene("variant");
        scene.world.gravity = variant.change.place(&mut options);
        let character = Character::build(&rigged, &options).map_err(|error| error.to_string())?;
        let seconds = character.seconds.unwrap_or(max_seconds);
        let binding = character.join(&mut scene);
        let seconds = seconds.min(max_seconds / variant.change.speed() as f64);
        TakeSettings { seconds, fps: variant.fps as f64, ..TakeSettings::default() }.apply(&mut scene);
        Ok((scene, binding))
    }

    /// Plays a variant and hands on its frames with their numbers, as long as they are asked for.
    pub(super) fn play(
        &self,
        variant: Variant,
        max_seconds: f64,
        frame_loop: &FrameLoop,
        mut is_wanted: impl FnMut(usize) -> bool,
        mut visit: impl FnMut(usize, Points),
    ) -> Result<TakeFacts, String> {
        let (scene, binding) = self.scene(variant, max_seconds)?;
        let shown = ShownSurfaces::new(&scene, [&binding]);
        let mut player = Player::build(&scene).map_err(|error| error.to_string())?;
        let mut frame = Frame::default();
        player.preroll(|_, _| {}).map_err(|error| error.to_string())?;
        loop {
            if is_wanted(player.frame()) {
                frame.update(&player.model, &player.state);
                let undone = |points: Vec<Vec<[f32; 3]>>| -> Vec<Vec3> {
                    points.iter().flatten().map(|point| variant.change.undo(double(point))).collect()
                };
                let skinned = undone(shown.skinned(&frame, &[]));
                visit(player.frame(), Points { skinned, flesh: undone(shown.positions(&frame)) });
            }
            if player.frame() >= player.frame_count() {
                break;
            }
            if frame_loop.flow(player.frame()).is_break() {
                return Err(format!("stopped at {:.2} s", player.state.time));
            }
            player.advance().map_err(|error| error.to_string())?;
        }
        let bounds = player.model.bodies().first().and_then(|body| body.surface.bounds());
        let size = bounds.map_or(0.0, |(low, high)| (high - low).max());
        Ok(TakeFacts { retries: player.summary.retries, size })
    }
}

fn double([x, y, z]: &[f32; 3]) -> Vec3 {
    Vec3::new(f64::from(*x), f64::from(*y), f64::from(*z))
}

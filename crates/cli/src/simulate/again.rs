//! `sinew simulate NAME.take --resolution N`: simulates the scene of a take again with other cages and the same edits.

use super::{Recipe, Simulate};
use crate::failure::Failure;
use sinew_character::TakeSettings;
use sinew_io::TakeFile;
use sinew_zoo::source;
use std::path::Path;

/// Simulates a take again from its start.
pub(super) fn run(options: &Simulate, path: &Path, pool: &rayon::ThreadPool) -> Result<(), Failure> {
    // only what does not contradict the take
    let name = path.display();
    let Some(resolution) = options.resolution else {
        return Err(Failure::input(format!(
            "{name} is a take, not a scene: `sinew simulate --resume {name}` continues it, `sinew simulate {name} --resolution N` simulates it again with other cages, `sinew bake {name} -o OUT` converts it"
        )));
    };
    let others = [
        (options.two_way || options.ragdoll, "--two-way and --ragdoll"),
        (options.floor || options.no_floor || options.self_contact, "--floor, --no-floor and --self-contact"),
        (options.animation.is_some() || options.motion.is_some(), "--animation and --motion"),
        (options.jiggle.is_some() || options.motion_scale.is_some(), "--jiggle and --motion-scale"),
        (options.softness.is_some(), "--softness"),
        (options.is_loop || options.no_preroll, "--loop and --no-preroll"),
        (options.fps.is_some() || options.seconds.is_some(), "--fps and --seconds"),
    ];
    if let Some((_, others)) = others.into_iter().find(|(given, _)| *given) {
        return Err(Failure::input(format!(
            "{others} cannot be changed with a take as input: {name} has its own"
        )));
    }

    // the scene with its edits and finer or coarser cages
    let take = TakeFile::open(path)?;
    let (recipe, version) = (take.recipe(), take.history().head());
    let settings = TakeSettings {
        cage_tets: Some(resolution as usize),
        seconds: version.seconds,
        solver: options.solver.or(recipe.settings.solver),
        ..recipe.settings.clone()
    };
    let opened = source::reopen_with(&take, &version.edits, &settings)?;
    let recipe = Recipe {
        origin: recipe.origin.clone(),
        settings,
        files: recipe.files.clone(),
        edits: Some(version.edits.clone()),
    };
    options.play(&opened, recipe, 0, pool)
}

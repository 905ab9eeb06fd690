//! Opens what a session directs: a file, a built-in character or a recorded take, with everything that takes time.

use super::{Document, Phase, RestLook, Shared};
use sinew_character::TakeSettings;
use sinew_control::DriveMode;
use sinew_io::{
    CharacterChoice, Existing, SceneFile, TakeEnding, TakeFile, TakeOrigin, TakeRecipe, TakeRecorder,
    edit_tables,
};
use sinew_sim::{Clock, SolverKind};
use sinew_take::{Player, Scene, Up};
use sinew_zoo::source;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// What is opened, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenRequest {
    /// A file, a take, or the name of a built-in character.
    pub input: PathBuf,
    /// What is chosen for characters.
    pub choice: CharacterChoice,
    /// The length of the take (s); `None` as the scene says.
    pub seconds: Option<f64>,
    /// Whether steps are explicit or implicit; `None` as the scene says.
    pub solver: Option<SolverKind>,
    /// The approximate number of tets of every cage; `None` as the scene says.
    pub cage_tets: Option<usize>,
    /// Whether all bodies collide with themselves.
    pub self_contact: bool,
    /// Whether a floor is added under a scene without obstacles.
    pub floor: bool,
    /// The take file that a new take is recorded to. A take that is opened is recorded on in its own file.
    pub record_to: PathBuf,
}

/// A take that was opened, ready to go on.
pub(super) struct Opened {
    pub(super) document: Document,
    pub(super) player: Player,
    pub(super) recorder: Option<TakeRecorder>,
    /// The axis that points up in scene files of this scene.
    pub(super) up: Up,
    pub(super) path: PathBuf,
    pub(super) notes: Vec<String>,
}

/// Opens what is asked for; the error is what a user reads.
pub(super) fn open(request: &OpenRequest, shared: &Shared) -> Result<Opened, String> {
    shared.update(|status| {
        status.phase = Phase::Opening;
        status.doing = format!("opening {}", request.input.display());
    });
    let is_take = request.input.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("take"));
    if is_take { open_take(request, shared) } else { begin_take(request, shared) }
}

/// A new take of a scene, a character or a mesh.
fn begin_take(request: &OpenRequest, shared: &Shared) -> Result<Opened, String> {
    if let Some(likeness) = request.input.to_str().and_then(sinew_zoo::likeness) {
        show_at_rest(&likeness.into(), shared);
    }

    // the scene, and how it is played
    let (loaded, origin, files) =
        source::open_to_record(Some(&request.input), &request.choice).map_err(|error| error.to_string())?;
    let (mut opened, mut notes) =
        (loaded.value, loaded.notes.iter().map(ToString::to_string).collect::<Vec<_>>());
    show_at_rest(&opened, shared);
    let settings = settings_of(request, &opened);
    settings.apply(&mut opened.scene);
    let edits = match &origin {
        TakeOrigin::BuiltIn(_) => Some(edit_tables(&opened.scene)?),
        TakeOrigin::File(_) => None,
    };

    // its model and the first frame
    let mut player = build(&opened.scene, shared, &mut notes)?;
    let model_hash = player.first_model().hash();
    let recipe = TakeRecipe { sinew: env!("CARGO_PKG_VERSION").into(), origin, settings, model_hash, files };
    let target = &request.record_to;
    let recorder = TakeRecorder::create_edited(target, &recipe, edits.as_deref(), Existing::ReplaceAny)
        .map_err(|error| error.to_string())?;
    shared.update(|status| status.doing = "moving to the first pose".into());
    let report = |done: usize, all: usize| {
        shared.update(|status| status.progress = Some(done as f32 / all.max(1) as f32));
    };
    player.preroll(report).map_err(|error| error.to_string())?;
    let up = recipe.scene_file().as_ref().map_or_else(|| up_of(&opened.scene), SceneFile::up_axis);
    Ok(finish(opened, player, Some(recorder), up, target.clone(), notes))
}

/// A recorded take, at its last frame.
fn open_take(request: &OpenRequest, shared: &Shared) -> Result<Opened, String> {
    let take = TakeFile::open(&request.input).map_err(|error| error.to_string())?;
    let opened = source::reopen(&take).map_err(|error| error.to_string())?;
    show_at_rest(&opened, shared);
    let mut notes = Vec::new();
    if let TakeEnding::Damaged { .. } = take.ending() {
        notes.push(format!(
            "the end of the take was damaged: {} of {} frames are sound, the others will be simulated again",
            take.frame_count(),
            take.frame_goal()
        ));
    }
    let mut player = build(&opened.scene, shared, &mut notes)?;
    take.check_model(player.first_model()).map_err(|error| error.to_string())?;
    match take.bookmark().map_err(|error| error.to_string())? {
        Some(bookmark) => player.resume_from(&bookmark).map_err(|error| error.to_string())?,
        None => player.preroll(|_, _| {}).map_err(|error| error.to_string())?,
    }
    let up = take.recipe().scene_file().as_ref().map_or_else(|| up_of(&opened.scene), SceneFile::up_axis);
    Ok(finish(opened, player, None, up, request.input.clone(), notes))
}

fn finish(
    opened: sinew_io::OpenedScene,
    player: Player,
    recorder: Option<TakeRecorder>,
    up: Up,
    path: PathBuf,
    notes: Vec<String>,
) -> Opened {
    let model = player.shared_first_model();
    let (name, fps) = (opened.scene.name.clone(), opened.scene.fps);
    let document = Document { name, fps, up: Up::against(model.gravity()), model, opened };
    Opened { document, player, recorder, up, path, notes }
}

/// Lets the scene be seen before it has flesh, which takes longest.
fn show_at_rest(opened: &sinew_io::OpenedScene, shared: &Shared) {
    let rest = Arc::new(RestLook::of(opened));
    shared.update(|status| status.rest = Some(rest));
}

fn up_of(scene: &Scene) -> Up {
    Up::against(scene.world.gravity)
}

/// How a scene is played: as it says, changed by the request.
fn settings_of(request: &OpenRequest, opened: &sinew_io::OpenedScene) -> TakeSettings {
    let (scene, choice) = (&opened.scene, &request.choice);
    let lead = choice.lead;
    let folder = request.input.parent().unwrap_or(Path::new(""));
    let captured = |path: &PathBuf| sinew_io::CapturedFiles::name_of(folder, path);
    let falls = (request.floor || matches!(lead, Some(DriveMode::TwoWay | DriveMode::Ragdoll)))
        && scene.world.obstacles.is_empty();
    TakeSettings {
        seconds: request.seconds.unwrap_or(scene.seconds),
        fps: scene.fps,
        lead,
        animation: choice.animation.clone(),
        motion: choice.motion.as_ref().map(captured),
        softness: choice.softness.as_ref().map(captured),
        jiggle: choice.jiggle,
        motion_scale: choice.motion_scale,
        cloth: choice.cloth.clone(),
        without_preroll: false,
        is_loop: false,
        floor: if falls { opened.lowest_height() } else { None },
        self_contact: request.self_contact,
        solver: request.solver,
        cage_tets: request.cage_tets,
    }
}

/// Builds the model of a scene.
fn build(scene: &Scene, shared: &Shared, notes: &mut Vec<String>) -> Result<Player, String> {
    shared.update(|status| status.doing = format!("building the flesh of {}", scene.name));
    let mut player = Player::build(scene).map_err(|error| error.to_string())?;
    player.set_clock(Arc::new(WallClock(Instant::now())));
    notes.extend(player.questions(scene));
    for body in player.model.bodies() {
        notes.extend(body.notes.iter().map(|note| format!("{}: {note}", body.name)));
    }
    Ok(player)
}

/// Seconds of real time.
#[derive(Debug)]
struct WallClock(Instant);

impl Clock for WallClock {
    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

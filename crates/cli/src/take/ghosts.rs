//! `sinew take NAME.take ghosts`: draws what comes after a frame, simulated ahead on a copy. The take is not changed.

use crate::edit::edits_of;
use crate::failure::Failure;
use crate::outputs::{plan_files, zoo_looks};
use crate::render::parse_pair;
use clap::Args;
use sinew_files::Replace;
use sinew_io::{OpenedScene, TakeFile};
use sinew_render::{GHOST_LIMIT, Layout, PictureOptions, StoredFrameSource, View, render_picture};
use sinew_take::{Frame, GhostPreview, GhostSpan, Ghosts, GhostsEnd, Player, SurfaceInfo, Up};
use sinew_zoo::source;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct GhostOptions {
    /// The frame to look ahead from, counted from 0 [default: the last one].
    #[arg(long, value_name = "K")]
    frame: Option<usize>,

    /// How many frames to look ahead.
    #[arg(long, value_name = "N", default_value_t = 60)]
    frames: usize,

    /// Every how many frames one is drawn.
    #[arg(long, value_name = "M", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,

    /// Look ahead as if this edit were added at that frame: what `sinew edit NAME.take add` takes.
    #[arg(long, value_name = "EDIT")]
    edit: Option<String>,

    /// The picture to write: NAME.png.
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,

    /// The size of the picture in pixels.
    #[arg(long, value_name = "WxH", value_parser = parse_pair, default_value = "960x720")]
    size: [usize; 2],

    /// The direction of the camera: front, side, back, top, or an angle from the front (degrees) [default: 28].
    #[arg(long, value_name = "VIEW", value_parser = View::named, allow_hyphen_values = true)]
    camera: Option<View>,

    /// Also replace a file that Sinew did not write. Input files are never replaced.
    #[arg(long)]
    force: bool,
}

/// Draws a frame and those that follow it.
pub(super) fn draw(take: &TakeFile, options: &GhostOptions) -> Result<(), Failure> {
    // check the options before any work is done
    let count = options.frames / options.every as usize;
    if count == 0 || count > GHOST_LIMIT {
        return Err(Failure::input(format!(
            "--frames {} and --every {} make {count} ghosts: 1 to {GHOST_LIMIT} can be told apart",
            options.frames, options.every
        )));
    }
    if options.output.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png")) {
        return Err(Failure::input(format!("{}: ghosts are drawn as a .png", options.output.display())));
    }
    plan_files([&options.output], if options.force { Replace::Any } else { Replace::Ours })?;

    // the player at that frame, with the edit
    let last = take.frame_count().saturating_sub(1);
    let frame = options.frame.unwrap_or(last);
    let mut edits = take.history().head().edits.clone();
    if let Some(text) = &options.edit {
        edits.extend(edits_of(text, frame as f64 / take.recipe().settings.fps)?);
    }
    let source = source::reopen_edited(take, &edits)?;
    let player = super::player_at(take, &source, frame)?;

    // look ahead
    let mut preview = GhostPreview::default();
    preview.start(&player, GhostSpan { frames: options.frames, every: options.every as usize })?;
    let ghosts = preview.wait();
    draw_picture(&player, &source, &ghosts, options)?;
    let indices: Vec<String> = ghosts.kept.iter().map(|ghost| ghost.index.to_string()).collect();
    let kept =
        if indices.is_empty() { "no ghosts".to_owned() } else { format!("ghosts of {}", indices.join(", ")) };
    tell!("wrote {}: frame {frame}, and {kept}", options.output.display());
    if let GhostsEnd::Diverged { index, message } = &ghosts.end {
        warn!("WARNING: the preview ends at frame {index}, where the simulation diverges: {message}");
    }
    Ok(())
}

fn draw_picture(
    player: &Player,
    source: &OpenedScene,
    ghosts: &Ghosts,
    options: &GhostOptions,
) -> Result<(), Failure> {
    // the frame itself, then those that follow, with the surfaces of rigged files in place of their flesh
    let mut now = Frame::default();
    now.update(&player.model, &player.state);
    let shown = source.shown();
    let frames = std::iter::once(&now).chain(ghosts.kept.iter().map(|ghost| &*ghost.frame));
    let frames = frames.map(|frame| Frame { surfaces: shown.positions(frame), ..frame.clone() }).collect();
    let bodies: Vec<SurfaceInfo> = player.model.bodies().iter().map(SurfaceInfo::of).collect();
    let mut looks = source.looks();
    looks.iter_mut().zip(zoo_looks(source)).for_each(|(own, look)| *own = look);
    let up = Up::against(player.first_model().gravity());
    let frames = StoredFrameSource::new(&shown.infos(&bodies), looks, frames, up)
        .following(&source.character_surfaces());

    // stored frames are a second apart
    let [width, height] = options.size;
    let picture = PictureOptions {
        layout: Layout::Still,
        width,
        height,
        time: Some(0.0),
        view: options.camera.unwrap_or_default(),
        later_ghosts: ghosts.kept.len(),
        ghost_spacing: 1.0,
        ..PictureOptions::default()
    };
    render_picture(&frames, &picture, &options.output, &mut |_, _| {})?;
    Ok(())
}

//! `sinew render`: pictures and clips of a take, a character file or a scene, without a GPU or a display.

use crate::failure::Failure;
use crate::interrupt::FrameLoop;
use crate::outputs::{is_take, plan_files, zoo_looks};
use crate::run::Run;
use crate::simulate::parse_jiggle;
use crate::take_status::warn_if_incomplete;
use crate::threads::thread_pool;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sinew_character::TakeSettings;
use sinew_files::{Replace, ScratchFolder};
use sinew_gltf::FileCharacter;
use sinew_io::{
    CharacterChoice, CharacterFrameSource, Existing, OpenedScene, TakeFile, TakeFrameSource, TakeRecipe,
    TakeRecorder, is_character_file, open_character, open_source,
};
use sinew_render::{FrameSource, Layout, Overlays, PictureFormat, PictureOptions, View, render_picture};
use sinew_sim::Model;
use sinew_zoo::source;
use std::path::{Path, PathBuf};

/// Render stills, contact sheets, clips and turntables, without a GPU or a display.
///
/// A .png is a contact sheet of six frames, or a single frame with --frame or --time; a .gif or .mp4 is a clip of the whole take.
#[derive(Args)]
pub(crate) struct Render {
    /// A recorded take (.take), a character file, which is shown as it is (.glb, .gltf, .vrm, .fbx), or any other input of `sinew simulate`, which is simulated first.
    input: PathBuf,

    /// The file to write: NAME.png, NAME.gif, or NAME.mp4 (needs the program ffmpeg).
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Show only this frame, counted from 0; a character file is sampled at 30 frames per second.
    #[arg(long, value_name = "N", conflicts_with = "time")]
    frame: Option<usize>,

    /// Show only this time (s).
    #[arg(long, value_name = "S")]
    time: Option<f64>,

    /// Begin at this time (s) [default: the start].
    #[arg(long, value_name = "S")]
    from: Option<f64>,

    /// End at this time (s) [default: the end].
    #[arg(long, value_name = "S")]
    to: Option<f64>,

    /// Make a .png a contact sheet with these columns and rows, such as 4x2.
    #[arg(long, value_name = "CxR", value_parser = parse_pair)]
    pub(crate) sheet: Option<[usize; 2]>,

    /// The size of the picture, or of each frame of a contact sheet, in pixels, such as 640x480. Without it, a .gif is kept small enough for web pages (3 MB).
    #[arg(long, value_name = "WxH", value_parser = parse_pair)]
    pub(crate) size: Option<[usize; 2]>,

    /// Move the camera once around the bodies in this time (s) [default: 4]. The take plays meanwhile and repeats if it is shorter; with --frame or --time it is frozen.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "4")]
    turntable: Option<f64>,

    /// Frames per second of a clip [default: 20 for .gif; as in the take, up to 60, for .mp4].
    #[arg(long, value_name = "N")]
    pub(crate) fps: Option<f64>,

    /// The direction of the camera: front, side, back, top, or an angle from the front (degrees) [default: 28].
    #[arg(long, value_name = "VIEW", value_parser = View::named, allow_hyphen_values = true)]
    camera: Option<View>,

    /// The elevation of the camera above the horizon (degrees) [default: 15].
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true)]
    rise: Option<f64>,

    /// Let the camera follow the body of this name [default: the characters, or everything if there are none].
    #[arg(long, value_name = "NAME")]
    follow: Option<String>,

    /// The magnification; at 1 the bodies fill the picture.
    #[arg(long, value_name = "TIMES", default_value_t = 1.0)]
    zoom: f64,

    /// Show plain skinning on the left and flesh on the right. A character file is skinned with its own weights, other flesh on bones with weights that fall off with distance.
    #[arg(long)]
    compare: bool,

    /// Draw this many earlier frames as faint ghosts, 0.15 s apart.
    #[arg(long, value_name = "N", default_value_t = 0)]
    ghosts: usize,

    /// Draw the outer triangles of the tet cage.
    #[arg(long)]
    cage: bool,

    /// Draw the bones over the bodies.
    #[arg(long)]
    bones: bool,

    /// Colour flesh by its strain, the largest relative change of length in any direction.
    #[arg(long)]
    strain: bool,

    /// Colour flesh by how soft it is: as painted, by the scene's factors, and 0 where parts are rigid.
    #[arg(long, conflicts_with_all = ["strain", "simulate"])]
    softness: bool,

    /// Draw the contact forces between obstacles and bodies as arrows.
    #[arg(long)]
    contacts: bool,

    /// Give a character file flesh and simulate it first, instead of showing it as it is.
    #[arg(long)]
    simulate: bool,

    /// The animation of a character file to play, by name or by number counted from 0 [default: the first].
    #[arg(long, value_name = "NAME")]
    animation: Option<String>,

    /// With --simulate, how much the flesh of a character file swings: 0 hardly, 1 as flesh does, 2 as in a cartoon [default: as in the scene; 1].
    #[arg(long, value_name = "J", value_parser = parse_jiggle, allow_negative_numbers = true)]
    jiggle: Option<f64>,

    /// The number of threads; the result does not depend on it [default: one per core].
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Also replace a file that Sinew did not write. Input files are never replaced.
    #[arg(long)]
    pub(crate) force: bool,
}

impl Render {
    /// A picture with all options at their defaults.
    pub(crate) fn of(input: PathBuf, output: PathBuf) -> Render {
        Render {
            input,
            output,
            frame: None,
            time: None,
            from: None,
            to: None,
            sheet: None,
            size: None,
            turntable: None,
            fps: None,
            camera: None,
            rise: None,
            follow: None,
            zoom: 1.0,
            compare: false,
            ghosts: 0,
            cage: false,
            bones: false,
            strain: false,
            softness: false,
            contacts: false,
            simulate: false,
            animation: None,
            jiggle: None,
            threads: None,
            force: false,
        }
    }

    pub(crate) fn run(self: Box<Self>) -> Result<(), Failure> {
        let pool = thread_pool(self.threads)?;
        let format = PictureFormat::of(&self.output).ok_or_else(|| {
            Failure::input(format!("{}: the picture must be a .png, .gif or .mp4", self.output.display()))
        })?;
        // options are checked before any work is done; the time of a frame is known later, so any frame rate will do
        self.options(format, 60.0)?.check()?;
        format.check()?;

        // so is the output
        sinew_files::register_input(&self.input);
        plan_files([&self.output], self.replace())?;
        sinew_io::AtomicFile::create(&self.output).map_err(Failure::input)?;

        // render
        pool.install(|| {
            if is_take(&self.input) {
                self.render_take(format)
            } else if is_character_file(&self.input) && !self.simulate {
                self.render_file(format)
            } else {
                self.render_scene(format)
            }
        })
    }

    /// What the picture may replace.
    fn replace(&self) -> Replace {
        if self.force { Replace::Any } else { Replace::Ours }
    }

    /// The picture options for a frame source with this many frames per second.
    fn options(&self, format: PictureFormat, fps: f64) -> Result<PictureOptions, Failure> {
        // options of other formats
        let moves = format != PictureFormat::Png;
        if moves && self.sheet.is_some() {
            return Err(Failure::input("--sheet applies to .png only: a clip shows one frame at a time"));
        }
        if !moves && self.fps.is_some() {
            return Err(Failure::input("--fps applies to .gif and .mp4 only: a .png is a still picture"));
        }

        // layout and size
        let time = self.time.or(self.frame.map(|frame| frame as f64 / fps));
        let layout = match (format, self.sheet) {
            (PictureFormat::Gif, _) => Layout::Clip { fps: self.fps.unwrap_or(20.0) },
            (PictureFormat::Mp4, _) => Layout::Clip { fps: self.fps.unwrap_or(fps.min(60.0)) },
            (PictureFormat::Png, Some([columns, rows])) => Layout::Sheet { columns, rows },
            (PictureFormat::Png, None) if time.is_some() && self.turntable.is_none() => Layout::Still,
            (PictureFormat::Png, None) => Layout::Sheet { columns: 3, rows: 2 },
        };
        let defaults = match (format, layout, self.compare) {
            (PictureFormat::Gif, _, false) => [480, 400],
            (PictureFormat::Gif, _, true) => [720, 360],
            (_, Layout::Sheet { .. }, false) => [480, 400],
            (_, Layout::Sheet { .. }, true) => [640, 320],
            (_, _, false) => [960, 720],
            (_, _, true) => [1280, 640],
        };
        let [width, height] = self.size.unwrap_or(defaults);

        // camera and content
        let view = self.camera.unwrap_or_default();
        Ok(PictureOptions {
            layout,
            width,
            height,
            span: None,
            time,
            view: View { elevation: self.rise.unwrap_or(view.elevation), zoom: self.zoom, ..view },
            turntable: self.turntable,
            compare: self.compare,
            ghosts: self.ghosts,
            // never reduces a size that the user chose
            max_gif_bytes: self.size.is_none().then_some(PictureOptions::WEB_GIF_BYTES),
            ..PictureOptions::default()
        })
    }

    /// What is drawn besides the bodies.
    fn overlays(&self) -> Overlays {
        Overlays {
            cage: self.cage,
            bones: self.bones,
            strain: self.strain,
            softness: self.softness,
            skinned: self.compare,
            contacts: self.contacts,
        }
    }

    /// Draws a recorded take.
    fn render_take(&self, format: PictureFormat) -> Result<(), Failure> {
        let take = TakeFile::open(&self.input)?;
        warn_if_incomplete(&take);
        let source = source::reopen(&take)?;
        let model = Model::build(&source.scene.world).map_err(Failure::input)?;
        self.draw(
            &self.followed(&source, TakeFrameSource::new(&take, &model, &source, self.overlays())?)?,
            format,
        )
    }

    /// Draws a character file as it is, without simulating.
    fn render_file(&self, format: PictureFormat) -> Result<(), Failure> {
        let input = self.input.display();
        for (asked, name) in [
            (self.cage, "--cage"),
            (self.strain, "--strain"),
            (self.compare, "--compare"),
            (self.jiggle.is_some(), "--jiggle"),
            (self.follow.is_some(), "--follow"),
        ] {
            if asked {
                return Err(Failure::input(format!(
                    "{name}: {input} is shown as it is, without simulated flesh: add --simulate to simulate it, or render the .take it was baked from"
                )));
            }
        }
        if self.softness {
            return self.render_softness(format);
        }
        let read = open_character(&self.input).map_err(Failure::input)?;
        read.notes.iter().for_each(|note| note!("{note}"));
        let file = read.value;
        let animation = file.rigged.find_animation(self.animation.as_deref()).map_err(Failure::input)?;
        let frame_source = CharacterFrameSource::new(&file, animation, self.bones)
            .map_err(|error| Failure::input(format!("{input}: {error}")))?;
        self.draw(&frame_source, format)
    }

    /// Draws a character file as it is, coloured by the softness of the flesh that is made of it.
    fn render_softness(&self, format: PictureFormat) -> Result<(), Failure> {
        let choice = CharacterChoice { animation: self.animation.clone(), ..CharacterChoice::default() };
        let opened = open_source(&self.input, &choice).map_err(Failure::input)?;
        opened.notes.iter().for_each(|note| note!("{note}"));
        let Some(FileCharacter { file, binding }) = opened.value.characters.first() else {
            return Err(Failure::input(format!("{}: no character to draw", self.input.display())));
        };
        let frame_source = CharacterFrameSource::new(file, binding.animation, self.bones)
            .map_err(|error| Failure::input(format!("{}: {error}", self.input.display())))?;
        self.draw(&frame_source.with_softness(binding), format)
    }

    /// Simulates into a temporary take and draws that.
    fn render_scene(&self, format: PictureFormat) -> Result<(), Failure> {
        // the scene
        let choice = CharacterChoice {
            animation: self.animation.clone(),
            jiggle: self.jiggle,
            ..CharacterChoice::default()
        };
        let (opened, origin, files) = source::open_to_record(Some(&self.input), &choice)?;
        opened.notes.iter().for_each(|note| note!("{note}"));
        let mut source = opened.value;
        let scene = &mut source.scene;

        // its length, no more than the picture shows
        let frame = self.frame.map(|frame| frame as f64 / scene.fps);
        // softness is the same at all times
        let needed = if self.softness { self.time.or(Some(0.0)) } else { self.time };
        let needed = needed.or(frame).or(self.to).filter(|seconds| *seconds >= 0.0);
        let seconds = needed.map_or(scene.seconds, |needed| needed.min(scene.seconds));
        let (fps, animation, jiggle) = (scene.fps, self.animation.clone(), self.jiggle);
        let settings = TakeSettings { seconds, fps, animation, jiggle, ..TakeSettings::default() };
        settings.apply(scene);

        // a scratch folder beside the picture; all inputs are known by now, and the picture may replace none of them
        plan_files([&self.output], self.replace())?;
        let folder = self.output.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = ScratchFolder::create_in(folder.unwrap_or(Path::new("."))).map_err(|error| {
            Failure::input(format!(
                "a temporary take cannot be written beside {}: {error}",
                self.output.display()
            ))
        })?;

        // simulate
        let path = folder.path().join("scene.take");
        let mut run = Run::build(&source.scene)?;
        let (sinew, model_hash) = (env!("CARGO_PKG_VERSION").into(), run.player.model.hash());
        let recipe = TakeRecipe { sinew, origin, settings, model_hash, files };
        let mut recorder =
            TakeRecorder::create(&path, &recipe, Existing::ReplaceComplete).map_err(Failure::input)?;
        run.play(&FrameLoop::replaying(), Some(&mut recorder), None)?;
        drop(recorder);

        // draw
        let take = TakeFile::open(&path)?;
        let frame_source = TakeFrameSource::new(&take, run.player.first_model(), &source, self.overlays())?;
        self.draw(&self.followed(&source, frame_source)?, format)
    }

    /// A frame source in its own colours, whose camera follows what was asked for.
    fn followed<'a>(
        &self,
        source: &OpenedScene,
        frames: TakeFrameSource<'a>,
    ) -> Result<TakeFrameSource<'a>, Failure> {
        let frames = frames.with_looks(zoo_looks(source));
        Ok(match &self.follow {
            Some(name) => frames.following(source.surfaces_named(name).map_err(Failure::input)?),
            None => frames,
        })
    }

    /// Draws the chosen frames and writes the picture.
    fn draw(&self, frame_source: &dyn FrameSource, format: PictureFormat) -> Result<(), Failure> {
        // which frames are drawn
        let mut options = self.options(format, frame_source.fps())?;
        let last = frame_source.frame_count().saturating_sub(1);
        if let Some(frame) = self.frame.filter(|frame| *frame > last) {
            return Err(Failure::input(format!("there is no frame {frame}: the frames are 0 to {last}")));
        }
        if self.from.is_some() || self.to.is_some() {
            let end = last as f64 / frame_source.fps();
            options.span = Some([self.from.unwrap_or(0.0), self.to.unwrap_or(end)]);
        }
        if options.layout == (Layout::Sheet { columns: 3, rows: 2 })
            && self.sheet.is_none()
            && last == 0
            && self.turntable.is_none()
        {
            // a single frame needs no contact sheet
            options.layout = Layout::Still;
        }

        // draw
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} pictures, {eta} left");
        let bar = ProgressBar::new(1).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let drawn = render_picture(frame_source, &options, &self.output, &mut |done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();

        // report
        let report = drawn?;
        tell!(
            "wrote {}: {} {} of {} × {} pixels, {:.0} kB",
            self.output.display(),
            report.pictures,
            if report.pictures == 1 { "picture" } else { "pictures" },
            report.width,
            report.height,
            report.bytes as f64 / 1e3
        );
        Ok(())
    }
}

/// Parses two numbers with an x between them, such as 4x2.
pub(crate) fn parse_pair(text: &str) -> Result<[usize; 2], String> {
    let (first, second) =
        text.split_once(['x', '×']).ok_or("give two numbers with an x between them, such as 4x2")?;
    let number =
        |text: &str| text.trim().parse::<usize>().map_err(|_| format!("'{text}' is not a whole number"));
    match [number(first)?, number(second)?] {
        [0, _] | [_, 0] => Err("both numbers must be at least 1".into()),
        pair => Ok(pair),
    }
}

//! The window of the studio.

use clap::Parser;
use eframe::wgpu;
use sinew_studio::gpu_views::GpuViews;
use sinew_studio::measure::{FRAMES, Measure};
use sinew_studio::session::OpenRequest;
use sinew_studio::software_window::{self, WindowContent};
use sinew_studio::{Studio, background, studio_folder};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Watch, direct and bake takes of characters made of flesh.
#[derive(Parser)]
#[command(name = "sinew-studio", version)]
struct Arguments {
    /// A character (.glb, .gltf, .vrm, .fbx), scene (.toml), take (.take), motion (.bvh), mesh (.obj, .ply, .stl), or the name of a built-in character.
    input: Option<PathBuf>,

    /// The folder of preferences and of takes that are not saved yet.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Measure how fast the interface is, with the dancer or the given input, write it as JSON, and end.
    #[arg(long, value_name = "FILE.json")]
    measure: Option<PathBuf>,

    /// How long memory is watched while a take plays and is scrubbed, at the end of --measure (minutes).
    #[arg(long, value_name = "N", default_value_t = 0.0, requires = "measure", value_parser = parse_minutes)]
    minutes: f64,

    /// What draws: the graphics card, or the processor; by default the graphics card if there is one.
    #[arg(long, value_name = "WHAT")]
    renderer: Option<Renderer>,

    /// The size of the window (points).
    #[arg(long, value_name = "WxH", default_value = "1440x900", value_parser = parse_size)]
    size: [f32; 2],
}

/// What draws the window and its viewports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Renderer {
    Gpu,
    Software,
}

fn parse_size(text: &str) -> Result<[f32; 2], String> {
    let (width, height) = text.split_once('x').ok_or("give a width and a height, such as 1280x720")?;
    let number = |text: &str| text.parse::<f32>().ok().filter(|size| (320.0..=16384.0).contains(size));
    match (number(width), number(height)) {
        (Some(width), Some(height)) => Ok([width, height]),
        _ => Err("give sizes from 320 to 16384".into()),
    }
}

/// The studio in a window.
struct Window {
    studio: Studio,
    measure: Option<Measure>,
}

impl Window {
    fn open(context: &egui::Context, arguments: &Arguments, start: Instant) -> Result<Window, String> {
        let folder = arguments.folder.clone().unwrap_or_else(studio_folder);
        let mut studio = Studio::new(context, &folder)
            .map_err(|error| format!("{} cannot be used: {error}", folder.display()))?;
        studio.apply_preferences(context);
        let watch = Duration::from_secs_f64(60.0 * arguments.minutes);
        let measure = arguments.measure.clone().map(|path| Measure::begin(path, start, watch));
        match (&arguments.input, &measure) {
            (input, Some(_)) => studio.open_request(OpenRequest {
                input: input.clone().unwrap_or_else(|| "dancer".into()),
                seconds: Some(FRAMES as f64 / 60.0),
                ..OpenRequest::default()
            }),
            (Some(input), None) => studio.open(input),
            (None, None) => studio.greet(),
        }
        Ok(Window { studio, measure })
    }

    fn pass(&mut self, ui: &mut egui::Ui) {
        if let Some(measure) = &mut self.measure {
            measure.follow(&mut self.studio, ui.ctx());
        }
        self.studio.ui(ui);
    }
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.pass(ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        background(visuals.dark_mode).to_normalized_gamma_f32()
    }

    fn on_exit(&mut self) {
        self.studio.leave();
    }
}

impl WindowContent for Window {
    fn ui(&mut self, ui: &mut egui::Ui) {
        self.pass(ui);
    }

    fn background(&self, visuals: &egui::Visuals) -> egui::Color32 {
        background(visuals.dark_mode)
    }

    fn on_exit(&mut self) {
        self.studio.leave();
    }
}

fn parse_minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse::<f64>().ok().filter(|minutes| (0.0..=600.0).contains(minutes));
    minutes.ok_or_else(|| "give minutes from 0 to 600".into())
}

fn main() -> ExitCode {
    let start = Instant::now();
    let arguments = Arguments::parse();
    let viewport = egui::ViewportBuilder::default()
        .with_title("Sinew")
        .with_app_id("sinew-studio")
        .with_inner_size(arguments.size)
        .with_min_inner_size([960.0, 600.0])
        .with_drag_and_drop(true);
    let chosen = arguments.renderer.unwrap_or(if may_have_graphics_card() {
        Renderer::Gpu
    } else {
        Renderer::Software
    });
    let run = match chosen {
        Renderer::Gpu => run_on_card(viewport, arguments, start),
        Renderer::Software => software_window::run(viewport, move |context| {
            Window::open(context, &arguments, start).map(|window| Box::new(window) as Box<dyn WindowContent>)
        }),
    };
    match run {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&format!(
                "error: there is no window: {error}. The studio needs a display, and with `--renderer gpu` a driver for Vulkan or OpenGL; `sinew simulate`, `edit` and `render` do the same without a window"
            ));
            ExitCode::FAILURE
        }
    }
}

/// Shows the studio through the graphics card.
fn run_on_card(viewport: egui::ViewportBuilder, arguments: Arguments, start: Instant) -> Result<(), String> {
    // there are no gradients to dither
    let options = eframe::NativeOptions { viewport, dithering: false, ..eframe::NativeOptions::default() };
    let create = move |context: &eframe::CreationContext<'_>| {
        let mut window = Window::open(&context.egui_ctx, &arguments, start)?;
        if let Some(state) = &context.wgpu_render_state {
            // a driver without a graphics card is slower than the renderer that is made for it
            let adapter = state.adapter.get_info();
            if adapter.device_type != wgpu::DeviceType::Cpu || arguments.renderer == Some(Renderer::Gpu) {
                window.studio.set_painter(Box::new(GpuViews::new(state)));
            }
            if let Some(measure) = &mut window.measure {
                measure.set_renderer(format!("{} ({:?})", adapter.name, adapter.device_type));
            }
        }
        Ok(Box::new(window) as Box<dyn eframe::App>)
    };
    eframe::run_native("sinew-studio", options, Box::new(create)).map_err(|error| error.to_string())
}

/// Whether there may be a graphics card. Where the system says that there is none, no driver is asked: those that draw on the processor take a third of a second to load, and are slower than what is made
/// for it.
fn may_have_graphics_card() -> bool {
    if cfg!(not(target_os = "linux")) {
        return true;
    }
    let holds = |folder: &str, beginnings: &[&str]| {
        let Ok(entries) = std::fs::read_dir(folder) else { return false };
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            beginnings.iter().any(|beginning| name.to_string_lossy().starts_with(beginning))
        })
    };
    // render nodes of the kernel, and of drivers that have devices of their own
    holds("/dev/dri", &["renderD"]) || holds("/dev", &["nvidia", "dxg", "mali", "kgsl", "pvr"])
}

#[expect(clippy::print_stderr, reason = "the program's only word without a window")]
fn report(text: &str) {
    eprintln!("{text}");
}

//! Plays an animation of a GLB in Bevy, without a window, and saves a picture of one time.
//!
//! ```sh
//! sinew-bevy FILE.glb --animation NAME|INDEX --time S -o OUT.png
//! ```
//!
//! Prints what Bevy found in the file and what it shows. Any Vulkan driver will do, one in software too.

mod arguments;
mod clip;
mod engine;
mod inventory;
mod surface;
mod viewpoint;

use arguments::Arguments;
use clip::Clip;
use engine::Engine;
use inventory::Inventory;
use std::process::ExitCode;
use surface::Surface;
use viewpoint::Viewpoint;

/// Width and height of the picture (pixels), those of `sinew render`.
const SIZE: [u32; 2] = [960, 720];

fn main() -> ExitCode {
    // the engine panics where it finds no driver, and where the GPU is lost
    std::panic::set_hook(Box::new(|panic| {
        let said = panic.payload_as_str().unwrap_or("no reason given");
        eprintln!("error: Bevy stopped: {said}");
        std::process::exit(1);
    }));
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Loads, plays and draws.
fn run() -> Result<(), String> {
    let Some(arguments) = Arguments::parse(std::env::args_os().skip(1))? else {
        println!("{}", arguments::USAGE);
        return Ok(());
    };
    let mut engine = Engine::start(&arguments.file)?;
    let file = engine.load(&arguments.file)?;
    let clips = Clip::all(engine.world(), &file);
    println!("loaded: {}", Inventory::of(engine.world(), &file, &clips));

    let clip = Clip::find(&clips, &arguments.animation)?;
    if arguments.time > clip.seconds {
        return Err(format!(
            "--time {}: the animation {} lasts {:.3} s",
            arguments.time, clip.name, clip.seconds
        ));
    }
    engine.show(&file)?;
    engine.play(clip, arguments.time)?;
    let surface = Surface::of(engine.world_mut())?;
    println!("shown: {} at {} s, {surface}", clip.name, arguments.time);

    let viewpoint = Viewpoint::fitted(&surface.points, SIZE[0] as f32 / SIZE[1] as f32);
    engine.draw(&viewpoint, SIZE, &arguments.output)?;
    println!("wrote {}", arguments.output.display());
    Ok(())
}

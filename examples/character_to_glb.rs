//! A rigged character gets flesh, is made softer, and is written as a GLB with a picture beside it.
//!
//! `cargo run --release --example character_to_glb -- hero.glb`; without a file it takes the worm of the zoo.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use sinew::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // a .glb, .gltf or .vrm, a scene file, or a name that `sinew zoo list` shows
    let input = std::env::args().nth(1).unwrap_or_else(|| "worm".into());
    let mut opened = sinew::open(&input)?;

    // half as stiff, and one second of it
    for body in &mut opened.scene.world.bodies {
        body.material.young *= 0.5;
    }
    opened.scene.seconds = 1.0;

    // simulate into the sink of a path: the extension chooses the format
    let mut player = Player::build(&opened.scene)?;
    let mut sink = open_sink("softer.glb", &opened, &player.model, &SinkOptions::default())?;
    player.play(&mut [&mut sink], |_| {})?;

    // what was written, and how closely it follows the simulation
    for line in sink.report().lines() {
        println!("{line}");
    }
    Ok(())
}

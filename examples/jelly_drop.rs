//! A ball of jelly falls on the ground: a scene built in code, stepped frame by frame, and drawn as a contact sheet.
//!
//! `cargo run --release --example jelly_drop` writes `jelly_drop.png`.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use sinew::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // a ball of 10 cm radius, its centre 40 cm above the ground
    let mut surface = shapes::sphere(0.1, 3);
    surface.vertices.iter_mut().for_each(|vertex| vertex.y += 0.4);
    let ball = BodyDesc {
        name: "ball".into(),
        shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(800) },
        material: Material { young: 8e3, ..Material::default() },
        ..BodyDesc::default()
    };

    // on Earth, above a plane
    let mut scene = Scene { name: "jelly_drop".into(), seconds: 1.0, ..Scene::default() };
    scene.world.bodies.push(ball);
    scene.world.obstacles.push(ObstacleDesc::default());

    // the loop, with a sink that draws
    let mut player = Player::build(&scene)?;
    let mut preview = Preview::new("jelly_drop.png", PreviewOptions::default());
    player.play(&mut [&mut preview], |_| {})?;

    // where it is now: nodes are flat arrays over all bodies
    let count = player.state.node_x.len() as f64;
    let height = player.state.node_x.iter().map(|x| x.y).sum::<f64>() / count;
    println!("after {:.2} s its nodes are at {:.1} cm on average", player.state.time, 100.0 * height);
    assert!((0.0..0.4).contains(&height), "it has fallen, and the ground holds it");
    Ok(())
}

//! A controller of one's own: it reads the state before every step and moves the pin that a beam hangs from, so that the beam's free end
//! stays below a fixed point.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use sinew::prelude::*;

/// Proportional control of where the pinned end is.
struct KeepBelow {
    /// Where the free end shall be along x (m).
    target: f64,
    /// How far the pin is moved from its rest place (m).
    shift: f64,
}

impl Controller for KeepBelow {
    fn control(&mut self, model: &Model, state: &State, dt: f64, control: &mut Control) {
        // the mean of the lowest tenth of the nodes
        let mut nodes: Vec<Vec3> = state.node_x.clone();
        nodes.sort_by(|a, b| a.y.total_cmp(&b.y));
        let tip = &nodes[..model.node_count().div_ceil(10)];
        let x = tip.iter().map(|node| node.x).sum::<f64>() / tip.len() as f64;

        // the pin moves against the error, at most at 0.2 m/s
        let step = (2.0 * (self.target - x)).clamp(-0.2, 0.2) * dt;
        let pose = |shift: f64| Isometry::translation(shift, 0.0, 0.0);
        control.pins[0] = PinPath { from: pose(self.shift), to: pose(self.shift + step) };
        self.shift += step;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // a bar that hangs by its topmost tenth
    let bar = BodyDesc {
        name: "bar".into(),
        shape: ShapeDesc::Surface { surface: shapes::cuboid([0.05, 0.4, 0.05]), cage: CageSize::Tets(300) },
        material: Material { young: 2e4, ..Material::default() },
        pins: vec![PinDesc { region: Region::End { direction: Vec3::y(), fraction: 0.1 } }],
        ..BodyDesc::default()
    };
    let mut scene = Scene { name: "bar".into(), seconds: 3.0, ..Scene::default() };
    scene.world.bodies.push(bar);
    scene.pin_motions.push(Vec::new());

    // the controller acts after the motions of the scene, of which there are none
    let mut player = Player::build(&scene)?;
    player.add_controller(KeepBelow { target: 0.1, shift: 0.0 });
    player.play(&mut [], |_| {})?;

    let middle = player.state.node_x.iter().map(|x| x.x).sum::<f64>() / player.state.node_x.len() as f64;
    println!("the bar is at x = {middle:.3} m");
    assert!(middle.abs() > 1e-3, "the controller moves it");
    Ok(())
}

//! `sinew inspect`: what is in a file, what is wrong with it, what it would weigh.

use crate::failure::Failure;
use crate::source;
use clap::Args;
use sinew_sim::Model;
use sinew_sim::desc::{BodyDesc, ShapeDesc};
use sinew_take::Scene;
use std::path::PathBuf;

/// Say what is in a scene or mesh file, what is wrong with it, and what it would weigh.
#[derive(Args)]
pub(crate) struct Inspect {
    /// A scene (.toml), a mesh (.obj, .ply, .stl, TetGen .node/.ele) or a name: jelly-torus, beam.
    input: PathBuf,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let opened = source::open(Some(&self.input))?;
        let scene = opened.value;
        say!("scene '{}': {} s at {} frames per second", scene.name, scene.seconds, scene.fps);
        for body in &scene.world.bodies {
            print_shape(body);
        }
        opened.notes.iter().for_each(|note| say!("note: {note}"));
        let faults = scene.faults();
        if !faults.is_empty() {
            return Err(Failure::input(faults.join("\n")));
        }
        let model = Model::build(&scene.world).map_err(Failure::input)?;
        print_model(&model, &scene);
        Ok(())
    }
}

fn print_shape(body: &BodyDesc) {
    let (bounds, counts) = match &body.shape {
        ShapeDesc::Surface { surface, .. } => (
            surface.bounds(),
            format!(
                "surface of {} vertices and {} triangles, {:.4} m²",
                surface.vertices.len(),
                surface.triangles.len(),
                surface.area()
            ),
        ),
        ShapeDesc::Tets(mesh) => {
            (mesh.bounds(), format!("{} nodes and {} tets", mesh.nodes.len(), mesh.tets.len()))
        }
    };
    say!("body '{}': {counts}", body.name);
    if let Some((low, high)) = bounds {
        let size = high - low;
        say!(
            "  size {:.4} × {:.4} × {:.4} m, from {:.4?} to {:.4?}",
            size.x,
            size.y,
            size.z,
            low.as_slice(),
            high.as_slice()
        );
    }
}

fn print_model(model: &Model, scene: &Scene) {
    for (i, body) in model.bodies.iter().enumerate() {
        let lame = body.material.lame();
        say!("body '{}' as it would be simulated:", body.name);
        say!(
            "  {:.5} kg, {:.6} m³, cage of {} tets and {} nodes",
            body.mass,
            body.volume,
            body.tets.len(),
            body.nodes.len()
        );
        say!(
            "  E = {:.4} Pa, ν = {}, ρ = {} kg/m³; μ = {:.4} Pa, λ = {:.4} Pa",
            body.material.young,
            body.material.poisson,
            body.material.density,
            lame.mu,
            lame.lambda
        );
        let (low, high) = body.surface.bounds().unwrap_or_default();
        let length = (high - low).amax();
        say!(
            "  swings at about {:.2} Hz (shear wave over {:.3} m); motion halves every {:.2} s",
            (lame.mu / body.material.density).sqrt() / (4.0 * length),
            length,
            core::f64::consts::LN_2 / (0.5 * body.damping_rate).max(1e-9)
        );
        let held: usize = model.pins.iter().filter(|pin| pin.body == i).map(|pin| pin.nodes.len()).sum();
        say!(
            "  {held} nodes held by {} pins, {} loads",
            scene.pin_motions[i].len(),
            model.loads.iter().filter(|l| l.body == i).count()
        );
        body.notes.iter().for_each(|note| say!("  note: {note}"));
    }
    say!(
        "explicit steps of at most {:.3} ms ({} per frame); fastest vibration {:.0} Hz",
        1e3 * model.stable_step.seconds,
        (1.0 / (scene.fps * model.stable_step.seconds)).ceil(),
        model.stable_step.omega / core::f64::consts::TAU
    );
}

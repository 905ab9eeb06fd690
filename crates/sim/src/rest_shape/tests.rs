//! Shapes that sag to the drawn one.

use crate::desc::{BodyDesc, PinDesc, Region, Sag, ShapeDesc, WorldDesc};
use crate::implicit::{ImplicitSettings, settle_with};
use crate::{Control, Model, State};
use sinew_flesh::{Law, Material};
use sinew_math::Vec3;
use sinew_mesh::{TetMesh, shapes};

const G: f64 = 9.81;

/// A beam along x that is pinned at its near end.
struct Beam {
    young: f64,
    size: [f64; 3],
    gravity: Vec3,
    law: Law,
    sag: Sag,
}

impl Default for Beam {
    fn default() -> Beam {
        let law = Law::StableNeoHookean;
        Beam { young: 1e5, size: [0.4, 0.1, 0.1], gravity: -G * Vec3::z(), law, sag: Sag::RestShape }
    }
}

impl Beam {
    fn world(&self) -> WorldDesc {
        self.world_of(shapes::beam(4, self.size))
    }

    fn world_of(&self, mesh: TetMesh) -> WorldDesc {
        let body = BodyDesc {
            name: "beam".into(),
            shape: ShapeDesc::Tets(mesh),
            material: Material { law: self.law, ..Material::soft_solid(self.young, 0.4, 1000.0, 0.1) },
            velocity: Vec3::zeros(),
            pins: vec![PinDesc { region: Region::End { direction: -Vec3::x(), share: 0.01 } }],
            loads: Vec::new(),
            attachment: None,
            sag: self.sag,
        };
        WorldDesc { gravity: self.gravity, bodies: vec![body], ..WorldDesc::default() }
    }

    fn model(&self) -> Model {
        Model::build(&self.world()).expect("sound")
    }
}

/// How far nodes are from where they are drawn once the model is at rest (m).
fn settled_off(model: &Model) -> f64 {
    let mut state = State::at_rest(model);
    // tight enough that what is left of the slope moves nothing that is measured here
    let settings = ImplicitSettings { tolerance: 1e-7, ..ImplicitSettings::ACCURATE };
    settle_with(model, &Control::still(model), &settings, &mut [], &mut state).expect("has a rest");
    farthest(&state.node_x, &model.node_rest)
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

#[test]
fn probe() {
    for law in [Law::StableNeoHookean, Law::StVenantKirchhoff(Default::default())] {
        for young in [1e7, 1e6, 3e5, 1e5, 3e4] {
            let beam = Beam { young, law, ..Beam::default() };
            let start = std::time::Instant::now();
            let model = beam.model();
            let built = start.elapsed().as_secs_f64();
            eprintln!(
                "{law:?} {young} {built:.2} s off {:.3e} {:?}",
                settled_off(&model),
                model.bodies[0].rest_shape,
            );
        }
    }
}

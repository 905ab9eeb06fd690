//! A parameter sweep on all cores: how far a beam sags for a range of stiffnesses, one simulation per core at a time.
//!
//! Results do not depend on the number of threads: every simulation has the same bits on any of them.

#![expect(clippy::print_stdout, reason = "an example tells what it did")]

use rayon::prelude::*;
use sinew::prelude::*;
use sinew::sim::implicit::settle;

/// The sag of the free end of a beam (m), solved for without time steps.
fn sag(young: f64) -> Result<f64, String> {
    let beam = BodyDesc {
        name: "beam".into(),
        shape: ShapeDesc::Tets(shapes::beam(2, [0.4, 0.05, 0.05])),
        material: Material { young, ..Material::default() },
        pins: vec![PinDesc { region: Region::End { direction: -Vec3::x(), fraction: 0.05 } }],
        ..BodyDesc::default()
    };
    let world = WorldDesc { gravity: Vec3::new(0.0, -9.81, 0.0), bodies: vec![beam], ..WorldDesc::default() };
    let model = Model::build(&world).map_err(|error| error.to_string())?;
    let mut state = State::at_rest(&model);
    settle(&model, &Control::still(&model), &mut state).map_err(|error| error.to_string())?;
    let drops = state.node_x.iter().zip(model.node_rest()).map(|(x, rest)| rest.y - x.y);
    Ok(drops.fold(0.0, f64::max))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stiffnesses: Vec<f64> = (0..8).map(|i| 2e5 * f64::from(1 << i)).collect();
    let sags: Vec<f64> = stiffnesses.par_iter().map(|young| sag(*young)).collect::<Result<_, _>>()?;

    println!("Young's modulus (kPa)   sag (mm)");
    for (young, sag) in stiffnesses.iter().zip(&sags) {
        println!("{:21.0} {:10.2}", 1e-3 * young, 1e3 * sag);
    }
    assert!(sags.windows(2).all(|pair| pair[1] < pair[0]), "stiffer beams sag less");
    Ok(())
}

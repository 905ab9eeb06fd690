//! Bending stiffness: cantilevers of cloth against the closed form of a beam.

use crate::sheets::{G, cloth, model};
use sinew_flesh::Fabric;
use sinew_math::Vec3;
use sinew_mesh::{TriMesh, shapes};
use sinew_sim::desc::{BodyDesc, PinDesc, Region};
use sinew_sim::implicit::settle;
use sinew_sim::{Control, State};

const LENGTH: f64 = 0.4;

/// A strip along x, clamped at x < 0 by two rows of nodes, of the given number of squares along its free length; irregular if asked for.
fn strip(count: u32, fabric: Fabric, is_irregular: bool) -> BodyDesc {
    let h = LENGTH / f64::from(count);
    let width = 4.0 * h;
    let mut surface: TriMesh = shapes::sheet([LENGTH + h, width], [count + 1, 4]);
    for (i, x) in surface.vertices.iter_mut().enumerate() {
        x.x += 0.5 * LENGTH - 0.5 * h;
        // inner nodes leave the grid by up to a fifth of a square
        let is_inner = x.x > 0.5 * h && x.x < LENGTH - 0.5 * h && x.z.abs() < 0.45 * width;
        if is_irregular && is_inner {
            let noise = |k: usize| 0.2 * h * (((i * 7919 + k * 104_729) % 1000) as f64 / 500.0 - 1.0);
            *x += Vec3::new(noise(1), 0.0, noise(2));
        }
    }
    let mut body = cloth(surface, fabric);
    let clamp = Region::Box { min: Vec3::new(-1.0, -1.0, -1.0), max: Vec3::new(1e-6 * h, 1.0, 1.0) };
    body.pins.push(PinDesc { region: clamp });
    body
}

/// How far the end of a strip hangs down (m).
fn deflection(count: u32, fabric: Fabric, is_irregular: bool) -> f64 {
    let model = model(vec![strip(count, fabric, is_irregular)]);
    let mut state = State::at_rest(&model);
    let report = settle(&model, &Control::still(&model), &mut state).expect("it settles");
    assert!(report.converged, "{report:?}");
    let ends = model.node_rest().iter().zip(&state.node_x).filter(|(rest, _)| rest.x > LENGTH - 1e-9);
    let (sum, count) = ends.fold((0.0, 0), |(sum, count), (_, x)| (sum - x.y, count + 1));
    sum / f64::from(count)
}

/// A fabric whose strip of [`LENGTH`] hangs down by a fraction of it: δ = ρ g L⁴/(8 B).
fn fabric(fraction: f64) -> Fabric {
    let density = 0.2;
    let bending = density * G * LENGTH.powi(3) / (8.0 * fraction);
    Fabric { areal_density: density, stretch: 5e3, poisson: 0.0, bending, damping: 0.0 }
}

/// A cantilever under its own weight hangs down by ρ g L⁴/(8 B), for small deflections. The clamp ends between the last pinned nodes and the first free ones, so that the free length is known to a part of a square: with n squares
/// along the length, L⁴ to about 2/n: the hinge at the clamp bends by the curvature there over a whole square, of which half is inside the clamp. That is of first order, and Richardson's extrapolation from two meshes leaves the
/// second, (2/n)²/2 or so: 1 % of 16 and 32 squares. Deflections of a hundredth of the length differ from the linear beam by less than 1e-3.
#[test]
fn a_cantilever_hangs_down_as_a_beam_does() {
    let fraction = 0.01;
    let relative = |count: u32| deflection(count, fabric(fraction), false) / (fraction * LENGTH);
    let [coarse, fine] = [16, 32].map(relative);
    assert!((coarse - 1.0).abs() < 2.5 / 16.0 && (fine - 1.0).abs() < 2.5 / 32.0, "{coarse} {fine}");
    let limit = 2.0 * fine - coarse;
    assert!((limit - 1.0).abs() < 0.015, "{limit}");
}

/// On irregular meshes triangles that fit constant curvature are not in equilibrium with each other to the last digit: the strip is softer by a few per cent than that of squares, but no more.
#[test]
fn an_irregular_strip_is_as_stiff_as_a_regular_one() {
    let [regular, irregular] = [false, true].map(|is_irregular| deflection(24, fabric(0.01), is_irregular));
    assert!((irregular / regular - 1.0).abs() < 0.1, "{}", irregular / regular);
}

/// Twice the bending stiffness is half the deflection, over three orders of magnitude: only bending carries the weight. To the nonlinearity of a hundredth of the length, 1e-3, and the tolerance of settling.
#[test]
fn the_deflection_is_inversely_proportional_to_the_stiffness() {
    for [a, b] in [[1e-2, 5e-3], [1e-2, 1e-3], [1e-2, 1e-5]] {
        let [first, second] = [a, b].map(|fraction| deflection(12, fabric(fraction), false));
        assert!((first / second / (a / b) - 1.0).abs() < 5e-3, "{a} {b}: {}", first / second);
    }
}

//! Wrinkles of skin over flesh: when they begin, how wide and how high they are.

use sinew_math::{Vec3, real};
use sinew_mesh::shapes;
use sinew_sim::{FleshSkin, FleshSkinOptions};

/// Cells along x; edges are 5 mm along both sides and 7.1 mm across.
const CELLS: u32 = 80;
const CELL: f64 = 0.005;

/// Heights of skin along the middle of a flat sheet that was compressed by a strain along x (m), once it rests. Nothing is exactly flat: points are up to 10 µm off at rest.
fn heights(strain: f64) -> Vec<f64> {
    let mut surface = shapes::sheet([0.4, 0.2], [CELLS, 40]);
    let uneven = |x: &Vec3| 1e-5 * real::sin(900.0 * x.x + 3.0 * real::sin(700.0 * x.z));
    surface.vertices.iter_mut().for_each(|x| x.y = uneven(x));
    let mut skin = FleshSkin::build(&surface, &FleshSkinOptions::default()).expect("a sheet");
    let mut out: Vec<[f32; 3]> = Vec::new();
    for i in 0..120 {
        let factor = 1.0 - strain * f64::from(i.min(30)) / 30.0;
        let flesh = |x: &Vec3| [(factor * x.x) as f32, x.y as f32, x.z as f32];
        out = surface.vertices.iter().map(flesh).collect();
        skin.follow(&mut out);
    }
    let middle = surface.vertices.iter().zip(&out).filter(|(x, _)| x.z.abs() < 1e-9 && x.x.abs() < 0.15);
    let mut row: Vec<(f64, f64)> = middle.map(|(x, out)| (x.x, f64::from(out[1]) - x.y)).collect();
    row.sort_by(|a, b| a.0.total_cmp(&b.0));
    row.into_iter().map(|(_, height)| height).collect()
}

fn highest(heights: &[f64]) -> f64 {
    heights.iter().fold(0.0, |most, height| most.max(height.abs()))
}

/// Below the strain of their onset, 3 %, skin is compressed with the flesh; beyond, it buckles into waves of five edges. Those of a plate with the arc length of the skin have A = (λ/π) √(ε − ε₀): 2.4 mm for λ of 28 mm and 10 %. Edges are
/// 1.24 times as long across as along, and a wave has some six points, so that half and twice are allowed.
#[test]
fn wrinkles_begin_at_their_onset_with_their_wavelength() {
    let flat = heights(0.015);
    assert!(highest(&flat) < 2e-4, "{}", highest(&flat));
    let wrinkled = heights(0.1);
    let amplitude = highest(&wrinkled);
    assert!((1.2e-3..4.8e-3).contains(&amplitude), "{amplitude}");
    let crossings = wrinkled.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count();
    let length = CELL * (wrinkled.len() - 1) as f64;
    let wavelength = 2.0 * length / crossings as f64;
    assert!((0.014..0.056).contains(&wavelength), "{wavelength}");
}

/// Wrinkles go when the flesh is as long again, to a hundredth of what they were.
#[test]
fn skin_is_smooth_again_where_flesh_is_stretched_back() {
    let surface = shapes::sheet([0.4, 0.2], [CELLS, 40]);
    let mut skin = FleshSkin::build(&surface, &FleshSkinOptions::default()).expect("a sheet");
    let mut highest = Vec::new();
    for i in 0..240 {
        let phase = f64::from(i.min(120)) / 120.0;
        let factor = 1.0 - 0.12 * real::sin(core::f64::consts::PI * phase);
        let wave = |x: &Vec3| 1e-5 * real::sin(900.0 * x.x);
        let flesh = |x: &Vec3| [(factor * x.x) as f32, wave(x) as f32, x.z as f32];
        let mut out: Vec<[f32; 3]> = surface.vertices.iter().map(flesh).collect();
        skin.follow(&mut out);
        highest.push(out.iter().fold(0.0f32, |most, x| most.max(x[1].abs())));
    }
    let most = highest.iter().copied().fold(0.0, f32::max);
    assert!(most > 1e-3, "{most}");
    assert!(highest[239] < 0.01 * most + 1e-5, "{} {most}", highest[239]);
}

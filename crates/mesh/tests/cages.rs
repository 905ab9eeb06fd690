//! Cages around whole shapes: volumes against closed forms, connectivity, and the same bits on any number of threads.

use core::f64::consts::PI;
use proptest::prelude::*;
use sinew_math::{Vec3, real};
use sinew_mesh::{Cage, CageError, CageFinding, CageSize, Solid, TriMesh, shapes};

fn cage(surface: &TriMesh, size: CageSize) -> Cage {
    Cage::build(&Solid::build(surface).unwrap(), size).unwrap()
}

fn joined(parts: &[TriMesh]) -> TriMesh {
    let mut whole = TriMesh::default();
    for part in parts {
        let base = whole.vertices.len() as u32;
        whole.vertices.extend(&part.vertices);
        whole.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + base)));
    }
    whole
}

fn moved(mut mesh: TriMesh, shift: [f64; 3]) -> TriMesh {
    mesh.vertices.iter_mut().for_each(|v| *v += Vec3::from(shift));
    mesh
}

fn inside_out(mut mesh: TriMesh) -> TriMesh {
    mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    mesh
}

/// A box with its sides divided into squares of about `step` (m).
fn fine_box(size: [f64; 3], step: f64) -> TriMesh {
    let counts = size.map(|s| (s / step).ceil().max(1.0) as usize);
    let mut block = cells_surface(counts, |_| true);
    for v in &mut block.vertices {
        *v = Vec3::from_fn(|k, _| (v[k] / counts[k] as f64 - 0.5) * size[k]);
    }
    block
}

/// The boundary of the unit cubes of a block for which `is_in` holds.
fn cells_surface(n: [usize; 3], is_in: impl Fn([usize; 3]) -> bool) -> TriMesh {
    let mut surface = TriMesh::default();
    let mut number = std::collections::BTreeMap::new();
    // cells outside the block are empty
    let filled =
        |c: [i64; 3]| (0..3).all(|k| c[k] >= 0 && (c[k] as usize) < n[k]) && is_in(c.map(|x| x as usize));
    for cell in 0..n[0] * n[1] * n[2] {
        let c = [cell % n[0], cell / n[0] % n[1], cell / n[0] / n[1]].map(|x| x as i64);
        if !filled(c) {
            continue;
        }
        // a quad for each face without a neighbour
        for axis in 0..3 {
            for up in [0, 1] {
                let mut next = c;
                next[axis] += 2 * up - 1;
                if filled(next) {
                    continue;
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let mut quad = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[a, b]| {
                    let mut p = c;
                    p[axis] += up;
                    p[u] += a;
                    p[v] += b;
                    *number.entry(p).or_insert_with(|| {
                        surface.vertices.push(Vec3::from_fn(|k, _| p[k] as f64));
                        surface.vertices.len() as u32 - 1
                    })
                });
                // facing outwards
                if up == 0 {
                    quad.reverse();
                }
                let [a, b, c, d] = quad;
                surface.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    surface
}

/// Interpolation reproduces the rest positions of all vertices, with weights between 0 and 1 that sum to 1.
fn assert_embedded(surface: &TriMesh, cage: &Cage) {
    let mut out = vec![Vec3::zeros(); surface.vertices.len()];
    cage.embedding.interpolate(&cage.mesh.nodes, &mut out);
    let size = surface.bounds().map_or(1.0, |(lo, hi)| (hi - lo).norm());
    for (v, x) in surface.vertices.iter().enumerate() {
        assert!((out[v] - x).norm() < 1e-9 * size, "vertex {v}");
        let weights: Vec<f64> = cage.embedding.point(v).map(|w| w.1).collect();
        assert!(weights.iter().all(|w| (-1e-9..=1.0 + 1e-9).contains(w)), "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

/// Fills in (0, 1], corner volumes that sum to fill × volume and respect their bound, every node used.
fn assert_sound(cage: &Cage) {
    let mut used = vec![false; cage.mesh.nodes.len()];
    for t in 0..cage.mesh.tets.len() {
        let (volume, fill, corners) = (cage.mesh.tet_volume(t), cage.fill[t], cage.corner_volume[t]);
        assert!(volume > 0.0 && fill > 0.0 && fill <= 1.0 + 1e-12);
        assert!((corners.iter().sum::<f64>() - fill * volume).abs() < 1e-9 * volume);
        assert!(corners.iter().all(|&c| c >= (1.0 / 16.0 - 1e-9) * fill * volume));
        cage.mesh.tets[t].iter().for_each(|&n| used[n as usize] = true);
    }
    assert!(used.into_iter().all(|u| u));
    assert!(cage.node_volume().into_iter().all(|v| v > 0.0));
}

#[test]
fn spheres_and_tori_are_connected_at_every_size() {
    for surface in [shapes::sphere(0.7, 4), shapes::torus(0.3, 0.1, 64, 32)] {
        for count in [1, 20, 200, 1000, 4000, 12_000] {
            let cage = cage(&surface, CageSize::Tets(count));
            assert_eq!(cage.component_count, 1, "{count}");
            assert_sound(&cage);
            assert_embedded(&surface, &cage);
        }
    }
}

/// The fills of a closed surface are scaled to its volume, which for a sphere of 5120 triangles is
/// within edge²/4 ≈ 0.4 % of 4/3 π r³; before scaling the error of 64 samples in each of some hundred cut
/// tets is at most 6 % of a tenth of the volume.
#[test]
fn the_fill_of_a_sphere_is_its_volume() {
    let (r, surface) = (0.5, shapes::sphere(0.5, 4));
    let cage = cage(&surface, CageSize::Tets(3000));
    let exact = 4.0 / 3.0 * PI * r * r * r;
    assert!((cage.solid_volume() - surface.signed_volume()).abs() < 1e-9 * exact);
    assert!((cage.solid_volume() / exact - 1.0).abs() < 4e-3);
    // the samples alone are within the two percent of the surface tets that are not reported
    assert_eq!(cage.findings, []);
}

/// Raising light corners moves the centre of mass by at most half a cell at the boundary, in all
/// directions alike; a fiftieth of a cell is left for the samples.
#[test]
fn the_centre_of_mass_of_a_sphere_is_its_centre() {
    let cage = cage(&shapes::sphere(0.5, 4), CageSize::Tets(3000));
    let node_volume = cage.node_volume();
    let moment: Vec3 = core::iter::zip(&cage.mesh.nodes, &node_volume).map(|(x, v)| x * *v).sum();
    assert!((moment / cage.solid_volume()).norm() < 0.02 * cage.edge);
}

#[test]
fn the_fill_of_a_hollow_sphere_is_that_of_its_wall() {
    let surface = joined(&[shapes::sphere(0.5, 4), inside_out(shapes::sphere(0.4, 4))]);
    for count in [300, 3000] {
        let cage = cage(&surface, CageSize::Tets(count));
        let exact = 4.0 / 3.0 * PI * (0.125 - 0.064);
        // twice the 0.4 % of a sphere, as the wall has half its volume
        assert!((cage.solid_volume() / exact - 1.0).abs() < 8e-3);
        assert_eq!(cage.component_count, 1);
        assert_sound(&cage);
    }
}

/// Two parallel fingers, a twentieth of a cell apart.
#[test]
fn close_fingers_stay_separate() {
    let (edge, width) = (0.1, 0.08);
    let finger = fine_box([0.3, width, width], 0.04);
    let gap = 0.05 * edge;
    let shift = (width + gap) / 2.0;
    // also slightly off the symmetry planes of the lattice, which no gap should depend on
    for offset in [0.0, 0.013, 0.031] {
        let low = moved(finger.clone(), [0.0, -shift + offset, 0.0]);
        let high = moved(fine_box([0.31, width, width], 0.04), [0.0, shift + offset, 0.0]);
        let hands = joined(&[low, high]);
        let cage = cage(&hands, CageSize::Edge(edge));
        assert_eq!(cage.component_count, 2, "offset {offset}");
        assert!(
            cage.findings.iter().any(|f| matches!(f, CageFinding::CopiedTets { copies, .. } if *copies > 0))
        );
        assert_embedded(&hands, &cage);
        assert_sound(&cage);
    }
}

/// Two legs under a bridge: separate below, connected through the bridge.
#[test]
fn legs_are_separate_below_and_connected_above() {
    // 9 × 10 × 3 cells with a slot one cell wide, scaled to a twentieth of a lattice cell
    let mut legs = cells_surface([9, 10, 3], |[x, y, _]| x != 4 || y >= 7);
    for v in &mut legs.vertices {
        let x = v.x;
        v.x = if x <= 4.0 { 0.03 * x } else { 0.12 + 0.005 + 0.03 * (x - 5.0) };
        v.y *= 0.05;
        v.z *= 0.03;
    }
    let cage = cage(&legs, CageSize::Edge(0.1));
    assert_eq!(cage.component_count, 1);
    assert_embedded(&legs, &cage);
    assert_sound(&cage);
    // the two legs share no node
    let side = |left: bool, height: f64| {
        let on_side = move |v: &Vec3| v.y < height && if left { v.x < 0.121 } else { v.x > 0.124 };
        let mut nodes: Vec<u32> = (0..legs.vertices.len())
            .filter(|&v| on_side(&legs.vertices[v]))
            .flat_map(|v| cage.embedding.point(v).map(|w| w.0).collect::<Vec<_>>())
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    };
    let (left, right) = (side(true, 0.2), side(false, 0.2));
    assert!(left.iter().all(|n| right.binary_search(n).is_err()));
}

/// A sheet a fiftieth of a cell thick stays connected in any orientation.
#[test]
fn a_thin_sheet_stays_connected() {
    let edge = 0.1;
    for tilt in [0.0, 0.3, PI / 4.0, 1.1] {
        let mut sheet = fine_box([0.5, 0.02 * edge, 0.4], 0.05);
        for v in &mut sheet.vertices {
            let (c, s) = (real::cos(tilt), real::sin(tilt));
            *v = Vec3::new(c * v.x - s * v.y, s * v.x + c * v.y, v.z);
        }
        let cage = cage(&sheet, CageSize::Edge(edge));
        assert_eq!(cage.component_count, 1, "tilt {tilt}");
        let copies = cage.findings.iter().any(|f| matches!(f, CageFinding::CopiedTets { copies: 1.., .. }));
        assert!(!copies, "tilt {tilt}: {:?}", cage.findings);
        assert!((cage.solid_volume() / (0.5 * 0.002 * 0.4) - 1.0).abs() < 1e-6);
        assert_embedded(&sheet, &cage);
        assert_sound(&cage);
    }
}

/// Overlapping shells are one body: the surface inside the overlap separates nothing.
#[test]
fn overlapping_shells_are_connected() {
    let pair = joined(&[shapes::sphere(0.5, 3), moved(shapes::sphere(0.5, 3), [0.5, 0.03, 0.0])]);
    for count in [100, 1000, 5000] {
        let cage = cage(&pair, CageSize::Tets(count));
        assert_eq!(cage.component_count, 1, "{count}");
        assert_embedded(&pair, &cage);
    }
}

#[test]
fn open_and_torn_surfaces_have_cages() {
    let mut bowl = shapes::sphere(0.5, 3);
    bowl.triangles.retain(|t| t.iter().any(|&v| bowl.vertices[v as usize].y < 0.1));
    let half = cage(&bowl, CageSize::Tets(2000));
    assert_eq!(half.component_count, 1);
    // between half a sphere and the layer of triangles that straddles the cut
    assert!((0.5..0.75).contains(&(half.solid_volume() / (PI / 6.0))));

    let ball = shapes::sphere(0.5, 3);
    let mut torn = TriMesh::default();
    for t in 0..ball.triangles.len() {
        let middle = ball.corners(t).iter().sum::<Vec3>() / 3.0;
        let base = torn.vertices.len() as u32;
        torn.vertices.extend(ball.corners(t).map(|p| middle + 0.98 * (p - middle)));
        torn.triangles.push([base, base + 1, base + 2]);
    }
    let cage = cage(&torn, CageSize::Tets(2000));
    // the boundary is where the winding number is one half: a few percent of a triangle edge off
    assert!((cage.solid_volume() / (PI / 6.0) - 1.0).abs() < 0.05, "{}", cage.solid_volume());
    assert_embedded(&torn, &cage);
    assert_sound(&cage);
}

#[test]
fn requested_tet_counts_are_met() {
    for surface in [shapes::sphere(0.5, 4), shapes::torus(0.3, 0.1, 64, 32), shapes::cuboid([0.3, 0.5, 1.1])]
    {
        for count in [1000, 3000, 10_000] {
            let built = cage(&surface, CageSize::Tets(count)).mesh.tets.len() as f64;
            assert!((built / count as f64 - 1.0).abs() <= 0.05, "{built} of {count}");
        }
    }
}

#[test]
fn invalid_sizes_are_rejected_with_a_valid_one() {
    let solid = Solid::build(&shapes::sphere(0.5, 2)).unwrap();
    let say = |size| Cage::build(&solid, size).unwrap_err();
    assert!(matches!(say(CageSize::Edge(-1.0)), CageError::Edge { .. }));
    assert!(matches!(say(CageSize::Edge(f64::NAN)), CageError::Edge { .. }));
    assert!(matches!(say(CageSize::Edge(1e9)), CageError::Edge { .. }));
    assert!(matches!(say(CageSize::Tets(0)), CageError::NoTets));
    assert!(matches!(say(CageSize::Tets(usize::MAX)), CageError::TooManyTets { .. }));
    for edge in [1e-4, 1e-9, 1e-300] {
        let CageError::TooManyTets { coarsest, .. } = say(CageSize::Edge(edge)) else { panic!() };
        // 12 V/a³ ≤ 20 million for the sphere of radius 0.5
        assert!(coarsest > 0.0067 && coarsest < 0.02, "{coarsest}");
    }
}

#[test]
fn a_vertex_of_no_triangle_is_embedded_too() {
    let mut ball = shapes::sphere(0.5, 3);
    ball.vertices.insert(0, Vec3::new(9.0, 8.0, 7.0));
    ball.vertices.push(Vec3::new(0.1, 0.0, 0.0));
    ball.triangles.iter_mut().for_each(|t| *t = t.map(|v| v + 1));
    let cage = cage(&ball, CageSize::Tets(1000));
    assert_eq!(cage.component_count, 1);
    let mut out = vec![Vec3::zeros(); ball.vertices.len()];
    cage.embedding.interpolate(&cage.mesh.nodes, &mut out);
    assert!(core::iter::zip(&out, &ball.vertices).all(|(a, b)| (a - b).norm() < 1e-9));
    assert!(cage.findings.contains(&CageFinding::Outside { vertices: 1 }));
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let surface = joined(&[shapes::sphere(0.5, 4), moved(shapes::torus(0.4, 0.1, 50, 25), [0.3, 0.2, 0.0])]);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| cage(&surface, CageSize::Tets(3000)))
    };
    assert_eq!(on(1), on(2));
}

/// A sphere deformed by a few waves, up to self-intersection.
fn wavy_spheres() -> impl Strategy<Value = TriMesh> {
    prop::array::uniform6(-1.0..1.0f64).prop_map(|k| {
        let mut ball = shapes::sphere(1.0, 3);
        for v in &mut ball.vertices {
            let wave = |a: f64, b: f64, x: f64, y: f64| 0.5 * a * real::sin(6.0 * b * x + 3.0 * y);
            *v +=
                Vec3::new(wave(k[0], k[1], v.y, v.z), wave(k[2], k[3], v.z, v.x), wave(k[4], k[5], v.x, v.y));
        }
        ball
    })
}

/// Random triangles between few points, some of them far away.
fn soups() -> impl Strategy<Value = TriMesh> {
    let coordinate = prop_oneof![6 => -1.0..1.0f64, 3 => (-2i32..=2).prop_map(f64::from), 1 => Just(40.0)];
    let point = [coordinate.clone(), coordinate.clone(), coordinate];
    (prop::collection::vec(point, 4..16), prop::collection::vec([0u32..16, 0u32..16, 0u32..16], 4..40))
        .prop_map(|(points, triangles)| {
            let count = points.len() as u32;
            TriMesh {
                vertices: points.into_iter().map(Vec3::from).collect(),
                triangles: triangles.into_iter().map(|t| t.map(|v| v % count)).collect(),
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn wavy_spheres_have_connected_cages(surface in wavy_spheres(), count in 30usize..3000) {
        let cage = cage(&surface, CageSize::Tets(count));
        prop_assert_eq!(cage.component_count, 1);
        assert_embedded(&surface, &cage);
        assert_sound(&cage);
    }

    #[test]
    fn any_triangle_soup_has_a_valid_cage_or_an_error(surface in soups(), count in 1usize..600) {
        if let Ok(solid) = Solid::build(&surface)
            && let Ok(cage) = Cage::build(&solid, CageSize::Tets(count))
        {
            assert_sound(&cage);
            prop_assert!(cage.component_count <= solid.shell_count());
        }
    }
}

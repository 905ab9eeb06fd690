//! Implicit surfaces: closed manifold meshes, volumes against closed forms, gradients against finite differences, and errors that
//! suggest valid values.

use core::f64::consts::PI;
use proptest::prelude::*;
use sinew_math::{Rotation, Vec3};
use sinew_mesh::{ImplicitSurface, ImplicitSurfaceError, Primitive, Solid, TriMesh};
use std::collections::BTreeMap;

fn at(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

fn tilted() -> Rotation {
    Rotation::from_euler_angles(0.3, 0.8, -0.4)
}

/// A torso, four limbs and a head: every kind of primitive, blended.
fn figure() -> Vec<Primitive> {
    let limb = |a: Vec3, b: Vec3, ra: f64, rb: f64| Primitive::round_cone([a, b], [ra, rb]).blended(0.05);
    vec![
        limb(at(0.0, 0.9, 0.0), at(0.0, 1.4, 0.02), 0.14, 0.17),
        limb(at(0.1, 0.9, 0.0), at(0.12, 0.1, 0.0), 0.09, 0.05),
        limb(at(-0.1, 0.9, 0.0), at(-0.12, 0.1, 0.0), 0.09, 0.05),
        limb(at(0.18, 1.4, 0.0), at(0.7, 1.4, 0.1), 0.06, 0.035),
        limb(at(-0.18, 1.4, 0.0), at(-0.7, 1.4, 0.1), 0.06, 0.035),
        Primitive::ellipsoid(at(0.0, 1.7, 0.02), tilted(), [0.08, 0.12, 0.1]).blended(0.08),
        Primitive::sphere(at(0.0, 1.53, 0.0), 0.07).blended(0.04),
    ]
}

/// Every edge occurs once in each direction, and every vertex has one ring of triangles.
fn assert_closed_manifold(mesh: &TriMesh) {
    let mut directed_edges = BTreeMap::new();
    let mut next = vec![BTreeMap::new(); mesh.vertices.len()];
    for t in &mesh.triangles {
        for i in 0..3 {
            let [a, b, c] = [t[i], t[(i + 1) % 3], t[(i + 2) % 3]];
            assert!(a != b);
            *directed_edges.entry((a, b)).or_insert(0) += 1;
            assert!(next[a as usize].insert(b, c).is_none());
        }
    }
    for (&(a, b), &count) in &directed_edges {
        assert!(count == 1 && directed_edges.get(&(b, a)) == Some(&1), "edge {a} {b}");
    }
    for (v, ring) in next.iter().enumerate() {
        let start = *ring.keys().next().unwrap_or_else(|| panic!("vertex {v} is of no triangle"));
        let (mut at, mut steps) = (ring[&start], 1);
        while at != start {
            (at, steps) = (ring[&at], steps + 1);
        }
        assert_eq!(steps, ring.len(), "vertex {v} has several fans");
    }
}

/// Vertices on the zero level set to round-off, triangles facing outwards.
fn assert_on_surface(implicit: &ImplicitSurface, mesh: &TriMesh) {
    for (v, x) in mesh.vertices.iter().enumerate() {
        assert!(implicit.distance(x).abs() < 1e-12, "vertex {v}: {}", implicit.distance(x));
    }
    assert!(mesh.signed_volume() > 0.0);
}

/// Quality of each triangle: 4√3 area / Σ l², 1 if equilateral, 0 if degenerate.
fn qualities(mesh: &TriMesh) -> Vec<f64> {
    (0..mesh.triangles.len())
        .map(|t| {
            let [a, b, c] = mesh.corners(t);
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            let squares = (b - a).norm_squared() + (c - b).norm_squared() + (a - c).norm_squared();
            4.0 * 3f64.sqrt() * area / squares
        })
        .collect()
}

#[test]
fn surfaces_are_closed_manifolds_at_every_spacing() {
    let implicit = ImplicitSurface::build(&figure()).unwrap();
    for spacing in [0.011, 0.02, 0.03, 0.05, 0.08, 0.2, 0.4] {
        let mesh = implicit.surface(spacing).unwrap();
        assert_closed_manifold(&mesh);
        assert!(mesh.signed_volume() > 0.0);
        if spacing <= 0.05 {
            assert_on_surface(&implicit, &mesh);
        }
    }
}

#[test]
fn triangles_are_well_shaped() {
    let spacing = 0.02;
    let mesh = ImplicitSurface::build(&figure()).unwrap().surface(spacing).unwrap();
    let mut qualities = qualities(&mesh);
    qualities.sort_by(f64::total_cmp);
    let mean = qualities.iter().sum::<f64>() / qualities.len() as f64;
    let edge = (mesh.area() / mesh.triangles.len() as f64 * 4.0 / 3f64.sqrt()).sqrt();
    // an equilateral triangle has 1, one with angles 90° 45° 45° has 0.87, a needle of 10° has 0.3
    assert!(
        qualities[0] > 0.3 && qualities[qualities.len() / 100] > 0.6 && mean > 0.87,
        "{} {mean}",
        qualities[0]
    );
    assert!((0.85..1.15).contains(&(edge / spacing)), "{}", edge / spacing);
}

/// A mesh inscribed in a sphere lacks about (edge/radius)²/4 of its volume; edges are at most 1.45 spacings.
#[test]
fn a_sphere_and_a_capsule_have_their_volumes() {
    let (r, length, spacing) = (0.1, 0.3, 0.01);
    let error = |v: f64, exact: f64| 1.0 - v / exact;
    let bound = (1.45 * spacing / r) * (1.45 * spacing / r) / 4.0;

    let ball = ImplicitSurface::build(&[Primitive::sphere(at(0.3, -0.2, 0.1), r)]).unwrap();
    let mesh = ball.surface(spacing).unwrap();
    assert_closed_manifold(&mesh);
    assert_on_surface(&ball, &mesh);
    let lacking = error(mesh.signed_volume(), 4.0 / 3.0 * PI * r * r * r);
    assert!(lacking > 0.0 && lacking < bound, "{lacking} {bound}");

    let capsule =
        ImplicitSurface::build(&[Primitive::round_cone([at(0.0, 0.0, 0.0), at(0.0, length, 0.0)], [r, r])])
            .unwrap();
    let mesh = capsule.surface(spacing).unwrap();
    assert_closed_manifold(&mesh);
    assert_on_surface(&capsule, &mesh);
    let lacking = error(mesh.signed_volume(), PI * r * r * (length + 4.0 / 3.0 * r));
    assert!(lacking > 0.0 && lacking < bound, "{lacking} {bound}");
}

/// As for a sphere, with the smallest radius of curvature min r²/max r in place of the radius.
#[test]
fn an_ellipsoid_has_its_volume_and_bounding_box() {
    let radii = [0.2, 0.1, 0.14];
    let implicit =
        ImplicitSurface::build(&[Primitive::ellipsoid(at(1.0, 2.0, 3.0), tilted(), radii)]).unwrap();
    let mesh = implicit.surface(0.01).unwrap();
    assert_closed_manifold(&mesh);
    assert_on_surface(&implicit, &mesh);
    let lacking = 1.0 - mesh.signed_volume() / (4.0 / 3.0 * PI * 0.2 * 0.1 * 0.14);
    let bound = (1.45 * 0.01 / 0.05) * (1.45 * 0.01 / 0.05) / 4.0;
    assert!(lacking > 0.0 && lacking < bound, "{lacking} {bound}");
    let ((lo, hi), (low, high)) = (implicit.bounds(), mesh.bounds().unwrap());
    for k in 0..3 {
        assert!(low[k] >= lo[k] && low[k] < lo[k] + 0.01 && high[k] <= hi[k] && high[k] > hi[k] - 0.01);
    }
}

#[test]
fn the_order_of_primitives_changes_nothing() {
    let parts = figure();
    let mut reordered: Vec<Primitive> = parts.iter().rev().copied().collect();
    reordered.rotate_left(2);
    let (one, other) = (ImplicitSurface::build(&parts).unwrap(), ImplicitSurface::build(&reordered).unwrap());
    assert_eq!(one.surface(0.04).unwrap(), other.surface(0.04).unwrap());
}

/// Two equal distances d give d − k(1 − 1/√2); a primitive farther than k does not contribute.
#[test]
fn blending_fills_seams_within_the_blend_length_only() {
    let (k, r) = (0.04, 0.1);
    let pair = [
        Primitive::sphere(at(-0.1, 0.0, 0.0), r).blended(k),
        Primitive::sphere(at(0.1, 0.0, 0.0), r).blended(k),
    ];
    let implicit = ImplicitSurface::build(&pair).unwrap();
    let seam = at(0.0, 0.03, 0.0);
    let alone = ImplicitSurface::build(&pair[..1]).unwrap().distance(&seam);
    assert!((implicit.distance(&seam) - (alone - k * (1.0 - 0.5f64.sqrt()))).abs() < 1e-15);
    let far = at(-0.25, 0.01, 0.02);
    assert_eq!(implicit.distance(&far), ImplicitSurface::build(&pair[..1]).unwrap().distance(&far));
}

#[test]
fn primitives_without_blend_meet_in_a_crease() {
    let pair = [Primitive::sphere(at(-0.06, 0.0, 0.0), 0.1), Primitive::sphere(at(0.06, 0.0, 0.0), 0.1)];
    let implicit = ImplicitSurface::build(&pair).unwrap();
    assert!((implicit.distance(&at(0.0, 0.08, 0.0))).abs() < 1e-9);
    let mesh = implicit.surface(0.01).unwrap();
    assert_closed_manifold(&mesh);
    // two spheres less the lens between them: caps of height 0.04
    let exact = 2.0 * (4.0 / 3.0 * PI * 1e-3 - PI * 0.04 * 0.04 * (0.3 - 0.04) / 3.0);
    let lacking = 1.0 - mesh.signed_volume() / exact;
    // the crease of length 2π 0.08 is cut by up to half a spacing in depth and width, in addition to the inscribed spheres
    assert!(lacking > 0.0 && lacking < 0.0053 + PI * 0.08 * 0.25e-4 / exact, "{lacking}");
}

/// Two plates of spheres, down to a tenth of a spacing apart, stay two closed surfaces or become one, but are always manifold.
#[test]
fn nearly_touching_sheets_are_manifold() {
    for gap in [0.0, 0.001, 0.004, 0.01, 0.02] {
        let mut parts = Vec::new();
        for i in 0..5 {
            for j in 0..5 {
                let (x, y) = (0.07 * f64::from(i), 0.07 * f64::from(j));
                parts.push(Primitive::sphere(at(x, y, 0.0), 0.05));
                parts.push(Primitive::sphere(at(x + 0.01, y, 0.1 + gap), 0.05));
            }
        }
        assert_closed_manifold(&ImplicitSurface::build(&parts).unwrap().surface(0.01).unwrap());
    }
}

#[test]
fn a_surface_is_a_solid_without_defects() {
    let solid = Solid::build(&ImplicitSurface::build(&figure()).unwrap().surface(0.03).unwrap()).unwrap();
    assert_eq!(solid.findings(), []);
}

#[test]
fn invalid_bodies_are_rejected_with_valid_values() {
    // parameters of primitives
    let say = |parts: &[Primitive]| ImplicitSurface::build(parts).unwrap_err().to_string();
    assert_eq!(say(&[]), "the body has no parts: give it at least one");
    let ball = Primitive::sphere(Vec3::zeros(), 0.1);
    assert!(
        say(&[ball, Primitive::sphere(at(0.0, f64::NAN, 0.0), 0.1)])
            .starts_with("part 1 of 2 has a number NaN")
    );
    assert!(say(&[Primitive::sphere(Vec3::zeros(), f64::INFINITY)]).contains("inf"));
    assert!(say(&[Primitive::sphere(Vec3::zeros(), 0.0)]).contains("radii [0.0, 0.0] m"));
    assert!(say(&[Primitive::round_cone([Vec3::zeros(), at(1.0, 0.0, 0.0)], [0.1, -0.1])]).contains("-0.1"));
    assert!(say(&[Primitive::ellipsoid(Vec3::zeros(), tilted(), [0.1, 0.0, 0.1])]).contains("radii"));
    assert!(say(&[ball.blended(-1.0)]).contains("blend length of -1.00e0 m"));

    // spacings that are too fine or no numbers
    let implicit = ImplicitSurface::build(&[ball]).unwrap();
    for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(implicit.surface(spacing), Err(ImplicitSurfaceError::Spacing { .. })));
    }
    for spacing in [1e-5, 1e-9, 1e-300] {
        let Err(ImplicitSurfaceError::TooManySamples { finest, samples, limit, .. }) =
            implicit.surface(spacing)
        else {
            panic!()
        };
        assert!(samples > limit as f64);
        // √3 · 4π r² / (1.3 l)² ≤ 10⁶ at l = 0.36 mm
        assert!(finest > 3.6e-4 && finest < 5e-4, "{finest}");
    }

    // a spacing that is too coarse
    let Err(ImplicitSurfaceError::TooCoarse { coarsest, .. }) = ImplicitSurface::build(&[
        Primitive::sphere(at(0.3, 0.2, 0.1), 0.1),
        Primitive::sphere(at(9.0, 7.0, 8.0), 0.1),
    ])
    .unwrap()
    .surface(3.0) else {
        panic!()
    };
    assert!(coarsest < 0.1 && coarsest > 0.05);
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let implicit = ImplicitSurface::build(&figure()).unwrap();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| implicit.surface(0.03).unwrap())
    };
    assert_eq!(on(1), on(2));
}

/// Random primitives of any kind.
fn bodies() -> impl Strategy<Value = Vec<Primitive>> {
    let number = || -0.5..0.5f64;
    let part = (
        [number(), number(), number()],
        [number(), number(), number()],
        [0.02..0.2f64, 0.02..0.2f64, 0.02..0.2f64],
        prop_oneof![Just(0.0), 0.001..0.2f64],
        any::<bool>(),
    )
        .prop_map(|(a, b, r, blend, cone)| {
            let (a, b) = (Vec3::from(a), Vec3::from(b));
            let part = if cone {
                Primitive::round_cone([a, b], [r[0], r[1]])
            } else {
                Primitive::ellipsoid(a, Rotation::from_scaled_axis(4.0 * b), r)
            };
            part.blended(blend)
        });
    prop::collection::vec(part, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_body_has_a_closed_manifold_mesh(parts in bodies(), spacing in 0.015..0.1f64) {
        if let Ok(mesh) = ImplicitSurface::build(&parts).unwrap().surface(spacing) {
            assert_closed_manifold(&mesh);
            prop_assert!(mesh.signed_volume() > 0.0);
        }
    }

    /// The field is 1-Lipschitz up to round-off.
    #[test]
    fn the_field_is_lipschitz(parts in bodies(), p in prop::array::uniform3(-1.0..1.0f64), q in prop::array::uniform3(-1.0..1.0f64)) {
        let implicit = ImplicitSurface::build(&parts).unwrap();
        let (p, q) = (Vec3::from(p), Vec3::from(q));
        prop_assert!((implicit.distance(&p) - implicit.distance(&q)).abs() <= (p - q).norm() + 1e-12);
        prop_assert!(implicit.distance_and_gradient(&p).1.norm() <= 1.0 + 1e-12);
    }

    /// The error of a central difference over 2h is h²/6 times the third derivative, which is below 1e5 for radii of 2 cm and
    /// blend lengths of 1 cm where the field is smooth: at h = 1e-6 less than round-off over h, 1e-10. Where the second derivative jumps, at the edges
    /// of blends, the error is up to h/2 times that jump, which the second difference shows. On medial axes it is large; those points are skipped.
    #[test]
    fn the_gradient_is_the_derivative_of_the_field(parts in bodies(), p in prop::array::uniform3(-0.8..0.8f64)) {
        let parts: Vec<Primitive> = parts.into_iter().map(|l| l.blended(l.blend.max(0.01))).collect();
        let implicit = ImplicitSurface::build(&parts).unwrap();
        let (p, h) = (Vec3::from(p), 1e-6);
        let (f, gradient) = implicit.distance_and_gradient(&p);
        prop_assert_eq!(f, implicit.distance(&p));
        for k in 0..3 {
            let step = Vec3::from_fn(|i, _| if i == k { h } else { 0.0 });
            let (ahead, behind) = (implicit.distance(&(p + step)), implicit.distance(&(p - step)));
            let second_difference = (ahead - 2.0 * f + behind).abs() / (h * h);
            if second_difference < 1e3 {
                let allowed = 1e-7 + 0.5 * h * second_difference;
                prop_assert!(((ahead - behind) / (2.0 * h) - gradient[k]).abs() < allowed, "{} {}", (ahead - behind) / (2.0 * h), gradient[k]);
            }
        }
    }
}

/// A rotation and its mirror image differ in signs only, so distances agree to round-off.
#[test]
fn a_mirrored_primitive_has_mirrored_distances() {
    let ellipsoid = Primitive::ellipsoid(at(0.2, 0.1, -0.1), tilted(), [0.1, 0.2, 0.05]);
    let cone = Primitive::round_cone([at(0.1, 0.0, 0.2), at(0.4, 0.3, 0.0)], [0.1, 0.05]);
    for primitive in [ellipsoid, cone] {
        let [own, across] = [primitive, primitive.mirrored_in_x()]
            .map(|primitive| ImplicitSurface::build(&[primitive]).unwrap());
        for p in [at(0.5, 0.2, 0.1), at(-0.3, 0.4, -0.6), at(0.21, 0.1, -0.12)] {
            let there = own.distance(&p);
            assert!((across.distance(&at(-p.x, p.y, p.z)) - there).abs() < 1e-12, "{there}");
        }
    }
}

use super::*;
use sinew_math::real::{cos, sin};
use sinew_mesh::{Primitive, shapes};

fn box_like(radii: Vec3, squareness: [f64; 2]) -> ImplicitSolid {
    SolidShape::Superquadric { radii, squareness }.into()
}

fn points() -> Vec<Vec3> {
    let x = [-0.31, -0.12, -0.02, 0.07, 0.19, 0.27];
    let mut points = Vec::new();
    for a in x {
        for b in x {
            points.extend(x.map(|c| Vec3::new(a, 0.9 * b + 0.01, 1.1 * c - 0.02)));
        }
    }
    points
}

/// A superquadric of squareness 1 and equal radii is a sphere, whose distance is |p| − r.
#[test]
fn a_round_superquadric_has_the_distance_of_a_sphere() {
    let solid = box_like(Vec3::repeat(0.12), [1.0, 1.0]);
    for p in points() {
        let probe = solid.probe(&p);
        assert!((probe.distance - (p.norm() - 0.12)).abs() < 1e-8, "{p} {}", probe.distance);
        assert!((probe.normal - p.normalize()).norm() < 1e-5);
    }
}

/// With both exponents 2, the superquadric is the octahedron |x| + |y| + |z| = r: above the middle of a face the distance is (|x| + |y| + |z| − r)/√3.
#[test]
fn a_superquadric_of_squareness_two_is_an_octahedron() {
    let solid = box_like(Vec3::repeat(0.3), [2.0, 2.0]);
    for out in [-0.05, -0.01, 0.02, 0.1] {
        for (a, b) in [(0.1, 0.1), (0.08, 0.11), (0.12, 0.09)] {
            let on = Vec3::new(a, b, 0.3 - a - b);
            let p = on + Vec3::repeat(out / 3f64.sqrt());
            let probe = solid.probe(&p);
            assert!((probe.distance - out).abs() < 1e-7, "{p}: {} {out}", probe.distance);
        }
    }
}

/// A superquadric with ε₁ = ε₂ = 0.5 is x⁴ + y⁴ + z⁴ = r⁴: on the axes the surface is at r, along the diagonals at r 3^(1/4), where the normal is the diagonal.
#[test]
fn a_boxy_superquadric_has_its_distance_on_axes_and_diagonals() {
    let r = 0.2;
    let solid = box_like(Vec3::repeat(r), [0.5, 0.5]);
    let corner = r * 3f64.powi(3).sqrt().sqrt() / 3f64.sqrt();
    // |x| = r 3^(−1/4) in each coordinate: the distance from the centre is √3 of it
    let corner_distance = 3f64.sqrt() * r / 3f64.sqrt().sqrt();
    assert!((corner - corner_distance).abs() < 1e-12);
    for out in [0.0, 0.03, 0.2] {
        let on_axis = solid.probe(&Vec3::new(0.0, r + out, 0.0));
        assert!((on_axis.distance - out).abs() < 1e-7, "{}", on_axis.distance);
        let diagonal = Vec3::repeat(1.0 / 3f64.sqrt());
        let at = solid.probe(&((corner + out) * diagonal));
        assert!((at.distance - out).abs() < 1e-7, "{} {out}", at.distance);
        assert!((at.normal - diagonal).norm() < 1e-4);
    }
}

/// An ellipsoid of revolution: a point on the surface moved along its normal keeps the distance, as long as that is below the radius of curvature b²/a at the tip.
#[test]
fn points_off_an_ellipsoid_along_its_normal_have_that_distance() {
    let radii = Vec3::new(0.06, 0.2, 0.06);
    let solid: ImplicitSolid = SolidShape::Ellipsoid { radii }.into();
    for i in 0..40 {
        let (a, b) = (0.16 * f64::from(i), 0.31 * f64::from(i));
        let unit = Vec3::new(sin(a) * cos(b), cos(a), sin(a) * sin(b));
        let on = radii.component_mul(&unit);
        let normal = on.component_div(&radii.component_mul(&radii)).normalize();
        for out in [-0.015, -0.004, 0.0, 0.01, 0.06] {
            let found = solid.nearest(&(on + out * normal));
            assert!((found.distance - out).abs() < 1e-7, "{i} {out}: {}", found.distance);
            assert!((found.point - on).norm() < 2e-6, "{i} {out}: {}", (found.point - on).norm());
            // round-off decides on the surface itself
            assert!(out == 0.0 || solid.contains(&(on + out * normal)) == (out < 0.0));
        }
    }
}

/// Closest points satisfy both conditions, for every shape and deformation, to 1e-6 of the size.
#[test]
fn the_nearest_point_is_on_the_surface_and_below_the_point() {
    let bent = Deformation { scale: Vec3::new(1.1, 0.9, 1.2), taper: 1.0, twist: 3.0, bend: 1.5 };
    let solids = [
        box_like(Vec3::new(0.05, 0.12, 0.06), [0.7, 1.0]),
        ImplicitSolid {
            shape: SolidShape::Ellipsoid { radii: Vec3::new(0.05, 0.12, 0.06) },
            deformation: bent,
        },
        ImplicitSolid { shape: SolidShape::Capsule { half_length: 0.1, radius: 0.04 }, deformation: bent },
    ];
    for solid in solids {
        let all = points();
        let mut probes = vec![Probe::FAR; all.len()];
        solid.probe_all(&all, &mut probes);
        for (p, probe) in all.iter().zip(&probes).filter(|(p, _)| !solid.contains(p)) {
            let found = solid.nearest(p);
            assert_eq!(found.distance, probe.distance);
            let size = solid.reach();
            let Field { value, gradient } = solid.field(&found.point);
            assert!(value.abs() / gradient.norm() < 1e-6 * size, "{p}: off by {value}");
            let off = p - found.point;
            let across = off - off.dot(&gradient.normalize()) * gradient.normalize();
            assert!(across.norm() < 1e-4 * size, "{p}: {}", across.norm() / size);
        }
    }
}

/// D⁻¹ D = 1 to round-off, and the gradient is that of central differences: their error is 1e-10 of the scale.
#[test]
fn deformations_go_back_and_carry_gradients() {
    let deformation = Deformation { scale: Vec3::new(1.1, 0.9, 1.2), taper: 1.0, twist: 3.0, bend: -1.5 };
    let solid =
        ImplicitSolid { shape: SolidShape::Ellipsoid { radii: Vec3::new(0.3, 0.5, 0.2) }, deformation };
    for p in points() {
        let there = deformation.apply(&p);
        assert!((deformation.back(&there) - p).norm() < 1e-12, "{p}");
        let own = solid.field(&there).gradient;
        for k in 0..3 {
            let mut step = Vec3::zeros();
            step[k] = 1e-6;
            let derivative = (solid.field(&(there + step)).value - solid.field(&(there - step)).value) / 2e-6;
            assert!(
                (derivative - own[k]).abs() < 1e-7 * own.norm().max(1.0),
                "{p} {k}: {derivative} {}",
                own[k]
            );
        }
    }
}

/// A swollen muscle has its volume: the determinant of the scaling is 1.
#[test]
fn swelling_keeps_the_volume() {
    let scale = Deformation::swollen(1.3).scale;
    assert!((scale.x * scale.y * scale.z - 1.0).abs() < 1e-15);
}

#[test]
fn following_a_point_is_as_good_as_searching_for_small_motion() {
    let solid = box_like(Vec3::new(0.05, 0.12, 0.06), [0.8, 1.0]);
    let mut p = Vec3::new(0.07, 0.02, 0.01);
    let mut before = solid.nearest(&p).point;
    for _ in 0..200 {
        p += Vec3::new(-2e-4, 4e-4, 1e-4);
        let found = solid.follow(&p, &before);
        before = found.point;
        let exact = solid.nearest(&p);
        // steps of 0.5 mm over radii of curvature above 20 mm: 0.5 mm² / 40 mm is 6 µm
        assert!((found.distance - exact.distance).abs() < 6e-6, "{} {}", found.distance, exact.distance);
    }
}

/// Metaballs and the grid of a ball are balls to the accuracy of their samples.
#[test]
fn metaballs_and_grids_have_distances() {
    let ball = ImplicitSurface::build(&[Primitive::sphere(Vec3::zeros(), 0.1)]).expect("valid");
    let surface = shapes::sphere(0.1, 5);
    let grid = DistanceGrid::of_surface(surface, 40).expect("closed");
    for (shape, tolerance) in
        [(SolidShape::Metaballs(Arc::new(ball)), 1e-6), (SolidShape::Grid(Arc::new(grid)), 1e-3)]
    {
        let solid: ImplicitSolid = shape.into();
        for p in [Vec3::new(0.11, 0.0, 0.02), Vec3::new(0.05, -0.06, 0.03), Vec3::new(0.0, 0.15, 0.02)] {
            let probe = solid.probe(&p);
            assert!((probe.distance - (p.norm() - 0.1)).abs() < tolerance, "{p} {}", probe.distance);
        }
    }
}

#[test]
fn numbers_out_of_range_are_faults() {
    assert!(box_like(Vec3::repeat(0.1), [0.05, 1.0]).fault().expect("faulty").contains("squareness"));
    assert!(ImplicitSolid::from(SolidShape::Sphere { radius: -1.0 }).fault().is_some());
    let flat = Deformation { scale: Vec3::zeros(), ..Deformation::NONE };
    assert!(
        ImplicitSolid { deformation: flat, ..SolidShape::Sphere { radius: 1.0 }.into() }.fault().is_some()
    );
}

//! Contact detection of a moving point against a shape, with memory of the side it entered.
//!
//! Inside a thin plate the nearest exit may be the far side, and a fast point may pass through a shape within one step. A point
//! in contact therefore remembers the side it entered, and is pushed back there until it is out.

use crate::{Probe, Shape};
use sinew_math::Vec3;

/// The persistent data of a contact point, in the frame of the shape.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrictionAnchor {
    /// The friction anchor (m).
    pub place: Vec3,
    /// The side it entered, as a normal; zero where the shape itself determines it.
    pub side: Vec3,
}

/// A point in contact with a shape, in the frame of the shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Penetration depth (m), positive.
    pub depth: f64,
    /// Outward unit normal.
    pub normal: Vec3,
    /// The value to store as [`FrictionAnchor::side`].
    pub side: Vec3,
}

/// The maximum number of sphere-tracing steps along a path; after that it counts as a miss. Each step is as long as the distance
/// to the shape.
const MAX_STEPS: usize = 64;
/// Sphere tracing has arrived at this distance, as a fraction of the thickness of the shape.
const ARRIVED: f64 = 1e-3;
/// Paths shorter than this fraction of the thickness cannot have passed through.
const SHORT: f64 = 0.5;

/// The contact of a point that moved from `before` to `p` (m, both in the frame of the shape), if any.
#[inline]
pub fn detect_contact(
    shape: &Shape,
    p: &Vec3,
    before: &Vec3,
    anchor: Option<&FrictionAnchor>,
) -> Option<Contact> {
    detect_contact_or_distance(shape, p, before, anchor).ok()
}

/// The same; without a contact, the distance of the point from the shape (m) if it was found on the way.
#[inline]
pub fn detect_contact_or_distance(
    shape: &Shape,
    p: &Vec3,
    before: &Vec3,
    anchor: Option<&FrictionAnchor>,
) -> Result<Contact, Option<f64>> {
    detect_contact_after(shape, p, || *before, anchor)
}

/// The same, with `before` asked for only where it matters: not at planes.
#[inline(always)]
pub fn detect_contact_after(
    shape: &Shape,
    p: &Vec3,
    before: impl FnOnce() -> Vec3,
    anchor: Option<&FrictionAnchor>,
) -> Result<Contact, Option<f64>> {
    match shape {
        // the ground, which has no other side
        Shape::Plane { normal } if anchor.is_none_or(|anchor| anchor.side == Vec3::zeros()) => {
            let distance = normal.dot(p);
            let contact = Contact { depth: -distance, normal: *normal, side: Vec3::zeros() };
            if distance < 0.0 { Ok(contact) } else { Err(Some(distance)) }
        }
        Shape::Cuboid { half } => detect_cuboid_contact(half, p, before, anchor).ok_or(None),
        _ => detect_by_distance(shape, p, &before(), anchor),
    }
}

/// Contact with a shape of which nothing but the distance is known.
fn detect_by_distance(
    shape: &Shape,
    p: &Vec3,
    before: &Vec3,
    anchor: Option<&FrictionAnchor>,
) -> Result<Contact, Option<f64>> {
    if let Some(anchor) = anchor.filter(|anchor| anchor.side != Vec3::zeros()) {
        return behind_plane(shape, p, &anchor.place, &anchor.side).ok_or(None);
    }
    let Probe { distance, normal } = shape.probe(p);
    if distance < 0.0 {
        return Ok(Contact { depth: -distance, normal, side: Vec3::zeros() });
    }
    let thickness = shape.thickness();
    if anchor.is_some() || (p - before).norm() <= SHORT * thickness {
        return Err(Some(distance));
    }
    let entry = sphere_trace(shape, before, p, ARRIVED * thickness);
    let contact = entry.and_then(|entry| behind_plane(shape, p, &entry.place, &entry.normal));
    contact.ok_or(Some(distance))
}

/// Whether the distance of a point from a shape (m) tells that it is not in contact without an anchor: it is outside, and the length of its path (m), which is asked for only if it matters, is too
/// short to have led through the shape. False leaves it open. The distance must be exact ([`Shape::has_exact_distance`]).
///
/// Where a path touches the shape, its end is no farther away than it is long; half-spaces have no other side.
#[inline(always)]
pub fn is_out_of_contact(shape: &Shape, distance: f64, path: impl FnOnce() -> f64) -> bool {
    let thickness = shape.thickness();
    distance >= 0.0 && (thickness == f64::INFINITY || distance > path() + ARRIVED * thickness)
}

/// A point that passed through: its contact plane is where it entered.
fn behind_plane(shape: &Shape, p: &Vec3, place: &Vec3, side: &Vec3) -> Option<Contact> {
    let off = p - place;
    let depth = -off.dot(side);
    let sideways = off + depth * side;
    // a path that crosses the plane at 45° leads as far sideways as down
    let farthest = 2.0 * shape.bounds().radius() + depth;
    (depth > 0.0 && sideways.norm() < farthest).then_some(Contact { depth, normal: *side, side: *side })
}

/// Where a path enters a shape.
struct Entry {
    place: Vec3,
    normal: Vec3,
}

/// A part of a path, by lengths along it (m).
struct PathRange {
    start: f64,
    end: f64,
}

/// Sphere tracing: the point where a path from outside first hits a shape, and the normal there.
fn sphere_trace(shape: &Shape, from: &Vec3, to: &Vec3, arrived: f64) -> Option<Entry> {
    let length = (to - from).norm();
    let along = (to - from) / length;
    let PathRange { start, end } = clip(&shape.bounds().grown(arrived), from, &along, length)?;
    let mut at = start;
    for step in 0..MAX_STEPS {
        let probe = shape.probe(&(from + at * along));
        if probe.distance < arrived {
            let came_from_outside = step > 0 || at > 0.0 || probe.distance > 0.0;
            return (came_from_outside && probe.normal.dot(&along) < 0.0)
                .then_some(Entry { place: from + at * along, normal: probe.normal });
        }
        at += if probe.distance.is_finite() { probe.distance } else { 0.02 * (end - start) + arrived };
        if at > end {
            return None;
        }
    }
    None
}

/// The parameter range of a path inside a box (slab test).
fn clip(bounds: &crate::Bounds, from: &Vec3, along: &Vec3, length: f64) -> Option<PathRange> {
    let (mut start, mut end) = (0.0f64, length);
    for k in 0..3 {
        if along[k] == 0.0 {
            if from[k] < bounds.min[k] || from[k] > bounds.max[k] {
                return None;
            }
            continue;
        }
        let (a, b) = ((bounds.min[k] - from[k]) / along[k], (bounds.max[k] - from[k]) / along[k]);
        (start, end) = (start.max(a.min(b)), end.min(a.max(b)));
    }
    (start <= end).then_some(PathRange { start, end })
}

/// For a box the entered face is remembered exactly: the depth is measured from that face, beyond the far side too.
#[inline]
fn detect_cuboid_contact(
    half: &Vec3,
    p: &Vec3,
    before: impl FnOnce() -> Vec3,
    anchor: Option<&FrictionAnchor>,
) -> Option<Contact> {
    let below = |axis: usize, sign: f64| {
        let beside = (0..3).any(|k| k != axis && p[k].abs() > half[k]);
        let depth = half[axis] - sign * p[axis];
        let mut normal = Vec3::zeros();
        normal[axis] = sign;
        (depth > 0.0 && !beside).then_some(Contact { depth, normal, side: normal })
    };

    // the remembered face
    if let Some(side) = anchor.map(|anchor| anchor.side).filter(|side| *side != Vec3::zeros()) {
        let axis = side.iamax();
        return below(axis, side[axis].signum());
    }
    enter_cuboid(half, p, &before(), below)
}

/// The contact of a point that has come into a box, or is inside at first.
fn enter_cuboid(
    half: &Vec3,
    p: &Vec3,
    before: &Vec3,
    below: impl Fn(usize, f64) -> Option<Contact>,
) -> Option<Contact> {
    // the face that the path crossed
    let outside = |q: &Vec3, k: usize| q[k].abs() > half[k];
    let is_inside = !(0..3).any(|k| outside(p, k));
    if (0..3).any(|k| outside(before, k)) {
        // slab test: the last entry plane is the entered face
        let (mut enter, mut leave, mut face) = (0.0f64, 1.0f64, None);
        for k in 0..3 {
            let moved = p[k] - before[k];
            if moved == 0.0 {
                if outside(before, k) {
                    return None;
                }
                continue;
            }
            let sign = -moved.signum();
            let (a, b) = ((sign * half[k] - before[k]) / moved, (-sign * half[k] - before[k]) / moved);
            if a >= enter {
                (enter, face) = (a, Some((k, sign)));
            }
            leave = leave.min(b);
        }
        if let Some((axis, sign)) = face.filter(|_| enter <= leave && enter <= 1.0) {
            return below(axis, sign);
        }
    }

    // a point that starts inside leaves by the nearest face
    if !is_inside {
        return None;
    }
    let axis = (p.abs() - half).imax();
    below(axis, 1.0f64.copysign(p[axis]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConvexHull, TriangleSolid};
    use sinew_mesh::shapes;

    /// At any speed, contact is on the side the point came from, with the depth of the point below it, until it is out again.
    #[test]
    fn a_fast_point_does_not_tunnel_through_a_plate() {
        let plate = Shape::Cuboid { half: Vec3::new(0.5, 1e-3, 0.5) };
        for speed in [1e-3, 0.1, 10.0, 1000.0] {
            let before = Vec3::new(0.1, 2e-4 * speed + 1e-3, 0.1);
            let p = before - Vec3::new(0.0, 1e-3 * speed, 0.0);
            let contact = detect_contact(&plate, &p, &before, None).expect("in contact");
            assert_eq!(contact.normal, Vec3::y());
            assert!((contact.depth - 8e-4 * speed).abs() < 1e-12 * (1.0 + speed));
            let anchor = FrictionAnchor { place: p, side: contact.side };
            assert_eq!(detect_contact(&plate, &p, &p, Some(&anchor)), Some(contact));
            assert_eq!(detect_contact(&plate, &before, &p, Some(&anchor)), None);
        }
        // past the edge of the plate there is no contact
        let (before, p) = (Vec3::new(0.7, 1.0, 0.0), Vec3::new(0.7, -1.0, 0.0));
        assert_eq!(detect_contact(&plate, &p, &before, None), None);
    }

    #[test]
    fn a_fast_point_does_not_tunnel_through_round_shapes_and_meshes() {
        let ball = shapes::sphere(0.01, 3);
        let all = [
            Shape::Sphere { radius: 0.01 },
            Shape::Capsule { half_length: 0.02, radius: 0.01 },
            Shape::Cylinder { half_length: 0.01, radius: 0.01 },
            Shape::Convex(ConvexHull::build(&ball.vertices).expect("a hull")),
            Shape::Mesh(TriangleSolid::build(ball).expect("a mesh")),
        ];
        for shape in all {
            let (before, p) = (Vec3::new(0.8, 0.001, 0.002), Vec3::new(-0.5, 0.001, 0.002));
            let contact = detect_contact(&shape, &p, &before, None).expect("in contact");
            assert!(contact.normal.x > 0.8 && contact.depth > 0.4, "{contact:?} {shape:?}");
            let sideways = Vec3::new(0.0, 0.5, 0.0);
            assert_eq!(detect_contact(&shape, &(p + sideways), &(before + sideways), None), None);
        }
    }

    /// Distances rule out contacts, also of points that passed through, wherever they are.
    #[test]
    fn what_is_out_of_contact_by_its_distance_has_none() {
        let shapes = [
            Shape::Plane { normal: Vec3::y() },
            Shape::Cuboid { half: Vec3::new(0.03, 0.002, 0.02) },
            Shape::Sphere { radius: 0.01 },
            Shape::Cylinder { half_length: 0.01, radius: 0.01 },
        ];
        let spread = |i: usize, scale: f64| {
            let at = |k: f64| scale * ((i as f64 * k).fract() - 0.5);
            Vec3::new(at(0.618_033), at(0.754_877), at(0.569_840))
        };
        for shape in shapes {
            let mut ruled_out = 0;
            for i in 0..4000 {
                let (p, before) = (spread(i, 0.1), spread(i, 0.1) + spread(3 * i + 1, 0.08));
                if is_out_of_contact(&shape, shape.probe(&p).distance, || (p - before).norm()) {
                    assert_eq!(detect_contact(&shape, &p, &before, None), None, "{p:?} {shape:?}");
                    ruled_out += 1;
                }
            }
            assert!(ruled_out > 200, "{ruled_out} {shape:?}");
        }
    }

    #[test]
    fn a_point_that_starts_inside_leaves_by_the_nearest_face() {
        let plate = Shape::Cuboid { half: Vec3::new(0.5, 0.1, 0.5) };
        let p = Vec3::new(0.2, -0.09, 0.0);
        let contact = detect_contact(&plate, &p, &p, None).expect("in contact");
        assert_eq!(contact.normal, -Vec3::y());
        assert!((contact.depth - 0.01).abs() < 1e-15);
    }
}

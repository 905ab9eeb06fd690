//! Grids of sphere topology, wrapped onto the muscle layer.                             \[TurnerThalmann1993, §4.5, §5\]

use super::muscle_layer::{Muscle, MuscleLayer};
use crate::desc::ImplicitMuscleDesc;
use sinew_math::spatial::Frame;
use sinew_math::{Vec3, real};
use sinew_mesh::TriMesh;

/// Steps of a ray towards the axis, at most.
const MAX_STEPS: usize = 200;

/// A grid of rings and points around an axis, pulled in from outside onto the fat over muscles at rest; the first and last vertex are its poles. The axis leads through the muscles, from one pole to the other; without one, from the highest to the
/// lowest point of their bounds along `up`.
///
/// # Errors
/// If there are no muscles, or too few points.
pub fn wrap_skin(
    muscles: &[ImplicitMuscleDesc],
    fat: f64,
    [rings, around]: [u32; 2],
    axis: Option<[Vec3; 2]>,
    up: &Vec3,
) -> Result<TriMesh, String> {
    if muscles.is_empty() {
        return Err("a skin that is wrapped needs muscles: add some".into());
    }
    if !(3..=2000).contains(&rings) || !(3..=2000).contains(&around) {
        return Err(format!(
            "a skin of {rings} by {around} points cannot be wrapped: give 3 to 2000 of each"
        ));
    }
    // muscles where they are at rest
    let placed = |muscle: &ImplicitMuscleDesc| Muscle {
        bone: 0,
        bone_from_solid: Frame::from(&muscle.pose),
        solid: muscle.solid.clone(),
        drives: Vec::new(),
    };
    let layer = MuscleLayer::new(muscles.iter().map(placed).collect());
    let far = muscles.iter().map(|m| m.pose.translation.vector.norm() + m.solid.reach()).fold(0.0, f64::max);
    let out = 4.0 * (far + fat);
    let gap = |p: &Vec3| layer.nearest(p, f64::INFINITY).map_or(f64::INFINITY, |near| near.distance - fat);
    // from outside inwards by the distance, which passes nothing
    let march = |from: Vec3, to: Vec3| {
        let along = (to - from).normalize();
        let (mut s, end) = (0.0, (to - from).norm());
        for _ in 0..MAX_STEPS {
            let distance = gap(&(from + s * along));
            s += distance;
            if distance.abs() < 1e-6 * out || s >= end {
                break;
            }
        }
        from + s.min(end) * along
    };

    // poles and axis
    let up = up.try_normalize(0.0).unwrap_or_else(Vec3::y);
    let middle = muscles.iter().map(|m| m.pose.translation.vector).sum::<Vec3>() / muscles.len() as f64;
    let [top, bottom] =
        axis.unwrap_or_else(|| [1.0, -1.0].map(|side| march(middle + side * out * up, middle)));
    let along = (top - bottom).try_normalize(0.0).ok_or("the axis of a wrapped skin has no length")?;
    let side = if along.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
    let first = along.cross(&side).normalize();
    let second = along.cross(&first);
    let center = 0.5 * (top + bottom);
    let half = 0.5 * (top - bottom).norm();

    // rings at even angles from pole to pole: rays towards the axis, slanted at its ends so that they meet caps head on
    let mut grid = TriMesh { vertices: vec![march(center + out * along, center)], triangles: Vec::new() };
    for ring in 1..=rings {
        let polar = core::f64::consts::PI * f64::from(ring) / f64::from(rings + 1);
        let (sin, cos) = (real::sin(polar), real::cos(polar));
        let foot = center + 0.8 * half * cos * along;
        for k in 0..around {
            let turn = core::f64::consts::TAU * f64::from(k) / f64::from(around);
            let radial = real::cos(turn) * first + real::sin(turn) * second;
            let ray = (sin * radial + cos * cos * cos * along).normalize();
            grid.vertices.push(march(foot + out * ray, foot));
        }
    }
    grid.vertices.push(march(center - out * along, center));

    connect(&mut grid, [rings, around]);
    Ok(grid)
}

/// Adds the triangles of a grid with its poles, facing outwards.
fn connect(grid: &mut TriMesh, [rings, around]: [u32; 2]) {
    let last = grid.vertices.len() as u32 - 1;
    let at = |ring: u32, k: u32| 1 + ring * around + k % around;
    for k in 0..around {
        grid.triangles.push([0, at(0, k + 1), at(0, k)]);
        for ring in 0..rings - 1 {
            let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)];
            grid.triangles.extend([[a, b, c], [a, c, d]]);
        }
        grid.triangles.push([last, at(rings - 1, k), at(rings - 1, k + 1)]);
    }
    if grid.signed_volume() < 0.0 {
        grid.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desc::{ImplicitSolid, SolidShape};
    use sinew_math::Isometry;

    /// A grid around an ellipsoid is on the fat everywhere, closed, and faces outwards.
    #[test]
    fn a_wrapped_grid_lies_on_the_fat() {
        let muscle = ImplicitMuscleDesc {
            name: "egg".into(),
            bone: None,
            pose: Isometry::translation(0.3, 1.0, 0.0),
            solid: ImplicitSolid::from(SolidShape::Ellipsoid { radii: Vec3::new(0.1, 0.2, 0.12) }),
            drives: Vec::new(),
        };
        let grid =
            wrap_skin(core::slice::from_ref(&muscle), 0.01, [12, 16], None, &Vec3::y()).expect("a skin");
        assert_eq!((grid.vertices.len(), grid.triangles.len()), (12 * 16 + 2, 2 * 16 * 12));
        for x in &grid.vertices {
            let distance = muscle.solid.probe(&(x - muscle.pose.translation.vector)).distance;
            assert!((distance - 0.01).abs() < 1e-5, "{distance}");
        }
        // between that of the ellipsoid and of the fat around it, less what chords cut off
        let volume = 4.0 / 3.0 * core::f64::consts::PI * 0.11 * 0.21 * 0.13;
        assert!(grid.signed_volume() > 0.9 * volume && grid.signed_volume() < volume);
    }
}

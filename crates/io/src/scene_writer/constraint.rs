//! Writes constraints as `[[constraint]]`.

use super::number::{bezier_table, spline_table};
use super::performance::curve as curve_name;
use super::region::{motion_table, region_table};
use super::vector;
use crate::scene_schema::{BeltTable, ConstraintTable, KeyRows, PointTable};
use sinew_control::{
    ConstraintMotion, Curve, Extrapolation, Interpolation, KeyShape, KeyValue, Keyframes, PlaceMotion,
};
use sinew_sim::desc::{ConstraintDesc, ConstraintKind, PointDesc};
use sinew_take::Scene;

/// The tables of all constraints of a scene.
pub(super) fn constraint_tables(scene: &Scene) -> Result<Vec<ConstraintTable>, String> {
    let still = ConstraintMotion::default();
    let table = |(i, desc): (usize, &ConstraintDesc)| {
        moved_constraint_table(desc, scene.constraint_motions.get(i).unwrap_or(&still))
    };
    scene.world.constraints.iter().enumerate().map(table).collect()
}

/// The table of a constraint and its animation.
pub(super) fn moved_constraint_table(
    desc: &ConstraintDesc,
    motion: &ConstraintMotion,
) -> Result<ConstraintTable, String> {
    let mut table = constraint_table(desc);
    apply_motion(motion, &mut table).map_err(|what| format!("constraint '{}' {what}", desc.name))?;
    Ok(table)
}

fn constraint_table(desc: &ConstraintDesc) -> ConstraintTable {
    let mut table = ConstraintTable {
        name: Some(desc.name.clone()),
        stiffness: desc.stiffness,
        damping: desc.damping,
        ..ConstraintTable::default()
    };
    match &desc.kind {
        ConstraintKind::Drag { point, place } => {
            (table.drag, table.place) = (Some(point_table(point)), place.as_ref().map(vector));
        }
        ConstraintKind::Pin { point, place } => {
            (table.pin, table.place) = (Some(point_table(point)), place.as_ref().map(vector));
        }
        ConstraintKind::Join { points, length, is_unilateral } => {
            table.join = Some(points.iter().map(point_table).collect());
            (table.length, table.rope) = (*length, is_unilateral.then_some(true));
        }
        ConstraintKind::Belt(belt) => {
            let (center, axis) = (vector(&belt.center), vector(&belt.axis));
            table.belt = Some(BeltTable { body: belt.body.clone(), center, axis });
            table.length = belt.length;
        }
    }
    table
}

fn point_table(point: &PointDesc) -> PointTable {
    let mut table = PointTable::default();
    match point {
        PointDesc::Surface { body, place } => {
            (table.body, table.surface) = (Some(body.clone()), Some(vector(place)));
        }
        PointDesc::Inside { body, place } => {
            (table.body, table.inside) = (Some(body.clone()), Some(vector(place)));
        }
        PointDesc::Region { body, region } => {
            (table.body, table.region) = (Some(body.clone()), Some(region_table(region)));
        }
        PointDesc::Bone { rig, bone, place } => {
            (table.character, table.bone) = (Some(rig.clone()), Some(bone.clone()));
            table.place = place.as_ref().map(vector);
        }
        PointDesc::Obstacle { obstacle, place } => {
            (table.obstacle, table.place) = (Some(obstacle.clone()), place.as_ref().map(vector));
        }
    }
    table
}

/// Sets the target, strength and length of a constraint over time.
fn apply_motion(motion: &ConstraintMotion, table: &mut ConstraintTable) -> Result<(), &'static str> {
    // the target
    let mut curve = None;
    match &motion.place {
        PlaceMotion::Still => {}
        PlaceMotion::Moved(moved) => table.motion = motion_table(moved)?,
        PlaceMotion::Along(path) => {
            curve = Some(curve_of(path)?);
            let row = |key: &sinew_control::Key<sinew_math::Vec3>| {
                let [x, y, z] = vector(&key.value);
                [key.time, x, y, z]
            };
            let rows: Vec<[f64; 4]> = path.keys().iter().map(row).collect();
            // by default, the place is that of the first key
            if table.place == rows.first().map(|[_, x, y, z]| [*x, *y, *z]) {
                table.place = None;
            } else if table.place.is_none() {
                return Err("follows a path that does not begin at its place");
            }
            table.path = Some(rows);
        }
    }

    // strength and length
    for (own, rows) in [(&motion.strength, &mut table.strengths), (&motion.length, &mut table.lengths)] {
        *rows = match own {
            Curve::Constant(1.0) => None,
            Curve::Constant(value) => Some(KeyRows::Rows(vec![[0.0, *value]])),
            Curve::Bezier(curve) => Some(KeyRows::Curve(bezier_table(curve))),
            // the keys of the table give one kind of curve
            Curve::Spline(keys) if curve.get_or_insert(curve_of(keys)?) != &curve_of(keys)? => {
                Some(KeyRows::Curve(spline_table(keys)?))
            }
            Curve::Spline(keys) => {
                Some(KeyRows::Rows(keys.keys().iter().map(|key| [key.time, key.value]).collect()))
            }
        };
    }

    let Some((interpolation, beyond)) = curve else { return Ok(()) };
    table.interpolation = Some(curve_name(interpolation));
    table.is_loop = (beyond == Extrapolation::Loop).then_some(true);
    Ok(())
}

fn curve_of<T: KeyValue>(keys: &Keyframes<T>) -> Result<(Interpolation, Extrapolation), &'static str> {
    if keys.keys().iter().any(|key| key.shape != KeyShape::default()) {
        return Err("moves along keys with tension, continuity or bias");
    }
    Ok((keys.interpolation(), keys.extrapolation()))
}

//! Writes obstacles as `[[obstacle]]`, and the settings of contact as `[contact]`.

use super::mesh::MeshFiles;
use super::number::keyed_number;
use super::region::motion_table;
use super::{nonzero, quaternion, vector};
use crate::distinct_names::file_names;
use crate::scene_schema::{ContactTable, ObstacleMobility, ObstacleTable};
use sinew_control::{Curve, Motion};
use sinew_sim::desc::{ContactDesc, Mobility, ObstacleDesc, Shape};

/// The table of an obstacle, one of `all`, with its motion and the curve of the factor of its friction.
pub(super) fn obstacle_table(
    obstacle: &ObstacleDesc,
    all: &[ObstacleDesc],
    (motion, friction): (&Motion, Option<&Curve>),
    meshes: &mut MeshFiles,
) -> Result<ObstacleTable, String> {
    // pose and surface
    let mut table = ObstacleTable {
        name: Some(obstacle.name.clone()),
        position: nonzero(&obstacle.pose.translation.vector),
        friction: obstacle.friction,
        friction_factor: friction.map(keyed_number).transpose()?,
        stiffness: (obstacle.stiffness != 1.0).then_some(obstacle.stiffness),
        glass: obstacle.is_glass.then_some(true),
        ..ObstacleTable::default()
    };
    table.rotation = quaternion(&obstacle.pose.rotation);

    // mobility
    match obstacle.mobility {
        Mobility::Fixed => {}
        Mobility::Kinematic => {
            table.motion = motion_table(motion)?;
            table.mobility = table.motion.is_none().then_some(ObstacleMobility::Kinematic);
        }
        Mobility::PartOf(whole) => {
            let whole = all.get(whole).ok_or("is part of an obstacle that does not exist")?;
            table.part_of = Some(whole.name.clone());
        }
        Mobility::Free { density, velocity, spin } => {
            table.density = Some(density);
            (table.velocity, table.spin) = (nonzero(&velocity), nonzero(&spin));
        }
    }

    // shape
    apply_shape(obstacle, &mut table, meshes)?;
    Ok(table)
}

fn apply_shape(
    obstacle: &ObstacleDesc,
    table: &mut ObstacleTable,
    meshes: &mut MeshFiles,
) -> Result<(), String> {
    let stem = file_names([obstacle.name.as_str()]).concat();
    match &obstacle.shape {
        Shape::Plane { normal } => table.plane = Some(vector(normal)),
        Shape::Sphere { radius } => table.sphere = Some(*radius),
        Shape::Cuboid { half } => table.cuboid = Some(vector(&(2.0 * half))),
        Shape::Capsule { half_length, radius } => table.capsule = Some([2.0 * half_length, *radius]),
        Shape::Cylinder { half_length, radius } => table.cylinder = Some([2.0 * half_length, *radius]),
        Shape::Convex(hull) => table.hull = Some(meshes.add_surface(&stem, hull.surface())),
        Shape::Mesh(solid) => table.mesh = Some(meshes.add_surface(&stem, solid.surface())),
        Shape::Heights(field) => {
            table.heights = Some(field.heights().to_vec());
            table.columns = Some(field.counts()[0]);
            table.spacing = Some(field.spacing());
        }
        Shape::Grid(grid) => {
            let cells = grid.cells().ok_or("is a distance grid that was not made from a surface")?;
            table.grid = Some(meshes.add_surface(&stem, grid.surface()));
            table.cells = Some(cells);
        }
    }
    Ok(())
}

/// `[contact]`; `None` if nothing collides.
pub(super) fn contact_table(contact: &ContactDesc, has_no_obstacles: bool) -> Option<ContactTable> {
    let ContactDesc { self_contact, bodies, .. } = contact.clone();
    let plain = ContactDesc { self_contact, bodies, ..ContactDesc::default() };
    if has_no_obstacles && *contact == plain {
        return None;
    }
    Some(ContactTable {
        friction: Some(contact.friction),
        stiffness: Some(contact.stiffness),
        bodies: Some(contact.between_bodies),
        longest_step: Some(contact.longest_step),
    })
}

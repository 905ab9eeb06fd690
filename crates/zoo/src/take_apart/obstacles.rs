//! Obstacles as `[[obstacle]]`, and how touching is answered as `[contact]`.

use super::meshes::write_surface;
use super::motion;
use super::words::{list, number, text, vector};
use sinew_control::Motion;
use sinew_math::{Rotation, so3};
use sinew_sim::desc::{ContactDesc, Mobility, ObstacleDesc, Response, Shape};
use sinew_take::Scene;

/// Writes all that bodies may touch, and the files of its meshes; nothing for a world in which nothing touches.
pub(super) fn write(scene: &Scene) -> Result<(String, Vec<(String, String)>), String> {
    let (obstacles, contact) = (&scene.world.obstacles, &scene.world.contact);
    if let Some(name) = contact.self_contact.first() {
        return Err(format!(
            "'{name}' touches itself, which is not written: say `self_contact = true` in the file"
        ));
    }
    let mut page = write_contact(contact, obstacles.is_empty());
    let mut files = Vec::new();
    for (i, obstacle) in obstacles.iter().enumerate() {
        let motion = scene.obstacle_motions.get(i).unwrap_or(&Motion::Still);
        page += &write_obstacle(obstacle, obstacles, motion, contact).map_err(|what| {
            format!(
                "obstacle '{}' {what}, which is not written: use a mesh or one of the plain shapes",
                obstacle.name
            )
        })?;
        if let Shape::Mesh(solid) = &obstacle.shape {
            files.push((mesh_file(obstacle), write_surface(solid.surface())));
        }
    }
    Ok((page, files))
}

/// The file of an obstacle's mesh.
fn mesh_file(obstacle: &ObstacleDesc) -> String {
    format!("{}.obj", obstacle.name.replace(' ', "-"))
}

fn write_contact(contact: &ContactDesc, alone: bool) -> String {
    if alone && *contact == ContactDesc::default() {
        return String::new();
    }
    let response = match contact.response {
        Response::Penalty => "\"penalty\"".to_owned(),
        Response::Projection => "\"projection\"".to_owned(),
        Response::Impulse { restitution } => format!("\"impulse\"\nrestitution = {}", number(restitution)),
    };
    format!(
        "\n[contact]\nresponse = {response}\nfriction = {}\nstiffness = {}\nbodies = {}\nlongest_step = {}\n",
        number(contact.friction),
        number(contact.stiffness),
        contact.between_bodies,
        number(contact.longest_step)
    )
}

fn write_obstacle(
    obstacle: &ObstacleDesc,
    all: &[ObstacleDesc],
    prescribed: &Motion,
    contact: &ContactDesc,
) -> Result<String, &'static str> {
    let mut page = format!("\n[[obstacle]]\nname = {}\n{}\n", text(&obstacle.name), shape(obstacle)?);
    page += &format!("position = {}\n", vector(&obstacle.pose.translation.vector));
    if obstacle.pose.rotation != Rotation::identity() {
        page += &format!("turn = {}\n", vector(&so3::log(&obstacle.pose.rotation).map(f64::to_degrees)));
    }
    match obstacle.mobility {
        Mobility::Fixed => {}
        Mobility::Kinematic if *prescribed == Motion::Still => {}
        Mobility::Kinematic => page += &motion(prescribed),
        Mobility::PartOf(whole) => page += &format!("part_of = {}\n", text(&all[whole].name)),
        Mobility::Free { density, velocity, spin } => {
            page += &format!(
                "density = {}\nvelocity = {}\nspin = {}\n",
                number(density),
                vector(&velocity),
                vector(&spin.map(f64::to_degrees))
            );
        }
    }
    if let Some(friction) = obstacle.friction.filter(|friction| *friction != contact.friction) {
        page += &format!("friction = {}\n", number(friction));
    }
    if obstacle.stiffness != 1.0 {
        page += &format!("stiffness = {}\n", number(obstacle.stiffness));
    }
    if obstacle.is_glass {
        page += "glass = true\n";
    }
    Ok(page)
}

fn shape(obstacle: &ObstacleDesc) -> Result<String, &'static str> {
    Ok(match &obstacle.shape {
        Shape::Mesh(_) => format!("mesh = {}", text(&mesh_file(obstacle))),
        Shape::Plane { normal } => format!("plane = {}", vector(normal)),
        Shape::Sphere { radius } => format!("sphere = {}", number(*radius)),
        Shape::Cuboid { half } => format!("box = {}", vector(&(2.0 * half))),
        Shape::Capsule { half_length, radius } => {
            format!("capsule = {}", list(&[2.0 * half_length, *radius]))
        }
        Shape::Cylinder { half_length, radius } => {
            format!("cylinder = {}", list(&[2.0 * half_length, *radius]))
        }
        Shape::Convex(_) | Shape::Heights(_) | Shape::Grid(_) => {
            return Err("is a hull, a grid or heights");
        }
    })
}

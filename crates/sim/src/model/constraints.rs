//! Validation of constraints and their resolution to nodes, bones and obstacles.

mod cut;
mod nearest;
mod stiffest;

use super::Model;
use crate::body::Body;
use crate::constraint::{Anchor, Constraint, Hold, NodeRow, belt, sum};
use crate::desc::{BeltDesc, ConstraintDesc, ConstraintKind, PointDesc, WorldDesc};
use crate::fault::Fault;
use crate::stable_step::StableStep;
use cut::{find_loops, vertex_row};
use nearest::{Found, inside, on_surface};
use sinew_math::Vec3;
use stiffest::{GAMMA, KAPPA, masses};

/// A position farther from a body than this fraction of its longest side counts as an error.
const FARTHEST: f64 = 0.25;
/// Frequency of a drag with default stiffness and its body (rad/s): three oscillations per second.
const DEFAULT_DRAG: f64 = 3.0 * core::f64::consts::TAU;
/// Default damping ratios: of a drag, and of all other constraints, as for stiff contacts.
const DRAG_DAMPING: f64 = 0.5;
const DEFAULT_DAMPING: f64 = 0.127;
/// Limit on the factor by which stiff constraints may shorten the step.
const MAX_SHORTENING: f64 = 100.0;
/// Maximum step of a world with constraints (s), as for one with contact.
const LONGEST_STEP: f64 = 2e-3;
/// Factor for worlds with contact, which together with elasticity uses the whole stability limit of 4 already: 0.86 · 4 + 0.86² · 0.35 + 0.86 · 2 · 0.15 < 4.
const BESIDE_TOUCHING: f64 = 0.86;
/// Minimum and maximum number of points of a belt.
const MIN_BELT_POINTS: f64 = 8.0;
const MAX_BELT_POINTS: f64 = 64.0;

/// Adds the constraints to an otherwise complete model, and shortens its step where they require it.
pub(super) fn add(world: &WorldDesc, model: Model) -> Result<Model, Vec<Fault>> {
    if world.constraints.is_empty() {
        return Ok(model);
    }
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for desc in &world.constraints {
        match resolve(&model, desc) {
            Ok(constraint) => found.push(constraint),
            Err(what) => faults.push(Fault::new("", format!("constraint '{}': {what}", desc.name))),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let defaults = model.stable_step.seconds.min(LONGEST_STEP);
    let mut seconds = if model.can_collide() { BESIDE_TOUCHING * defaults } else { defaults };
    let masses = masses(&model, &found);
    for ((constraint, desc), mass) in found.iter_mut().zip(&world.constraints).zip(masses) {
        match strengthen(&model, constraint, desc, mass, defaults) {
            Ok(shorter) => seconds = seconds.min(defaults / shorter),
            Err(what) => faults.push(Fault::new("", format!("constraint '{}': {what}", desc.name))),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let stable_step = StableStep { seconds, ..model.stable_step };
    Ok(Model { constraints: found, stable_step, ..model })
}

/// Sets stiffness and damping of a constraint; returns the factor by which it shortens the step.
fn strengthen(
    model: &Model,
    constraint: &mut Constraint,
    desc: &ConstraintDesc,
    mass: f64,
    step: f64,
) -> Result<f64, String> {
    if !mass.is_finite() {
        return Err("none of its points can move: choose points that are not prescribed".into());
    }
    if constraint.is_exact() {
        return Ok(1.0);
    }
    let stable = KAPPA * mass / (step * step);
    let is_drag = matches!(desc.kind, ConstraintKind::Drag { .. });
    let pulled = if is_drag { moved_mass(model, constraint) } else { mass };
    let defaults = if is_drag { stable.min(pulled * DEFAULT_DRAG * DEFAULT_DRAG) } else { stable };
    let most = stable * MAX_SHORTENING * MAX_SHORTENING;
    constraint.stiffness = desc.stiffness.unwrap_or(defaults);
    if constraint.stiffness > most {
        return Err(format!(
            "a stiffness of {:.3e} N/m would shorten the step by more than a factor of {MAX_SHORTENING}: use at most {most:.1e} N/m, or constrain more of the body",
            constraint.stiffness
        ));
    }
    let shorter = (constraint.stiffness / stable).sqrt().max(1.0);
    let ratio = desc.damping.unwrap_or(if is_drag { DRAG_DAMPING } else { DEFAULT_DAMPING });
    let wanted = 2.0 * ratio * (constraint.stiffness * pulled).sqrt();
    constraint.damping = wanted.min(GAMMA * mass / step * shorter);
    Ok(shorter)
}

/// The total mass moved by a drag (kg).
fn moved_mass(model: &Model, constraint: &Constraint) -> f64 {
    let Hold::Place { anchor, .. } = &constraint.hold else { return 0.0 };
    match anchor {
        Anchor::Nodes(row) => row.first().map_or(0.0, |(node, _)| model.body_of_node(*node as usize).mass),
        Anchor::Bone { rig, .. } => model.rigs[*rig].skeleton.bones().iter().map(|bone| bone.mass.mass).sum(),
        Anchor::Obstacle { obstacle, .. } => model.obstacles[*obstacle].solid.map_or(0.0, |solid| solid.mass),
    }
}

fn resolve(model: &Model, desc: &ConstraintDesc) -> Result<Constraint, String> {
    let bare = |hold, length, is_unilateral| Constraint {
        name: desc.name.clone(),
        stiffness: 0.0,
        damping: 0.0,
        length,
        is_unilateral,
        hold,
    };
    match &desc.kind {
        ConstraintKind::Drag { point, place } | ConstraintKind::Pin { point, place } => {
            let (anchor, at) = find_anchor(model, point)?;
            let place_of = || place.unwrap_or(at);
            if let (Anchor::Nodes(row), true) = (&anchor, desc.is_exact) {
                return Ok(bare(Hold::Exact { row: row.clone(), place: place_of() }, 0.0, false));
            }
            Ok(bare(Hold::Place { anchor, place: place.unwrap_or(at) }, 0.0, false))
        }
        ConstraintKind::Join { points: [a, b], length, is_unilateral } => {
            let ((a, at), (b, to)) = (find_anchor(model, a)?, find_anchor(model, b)?);
            Ok(bare(Hold::Between([a, b]), length.unwrap_or((to - at).norm()), *is_unilateral))
        }
        ConstraintKind::Belt(desc) => {
            let (hold, length) = find_belt(model, desc)?;
            Ok(bare(hold, desc.length.unwrap_or(length), true))
        }
    }
}

/// The nodes that carry the point of a body's surface nearest to a position at rest (m), and where that point is.
pub(super) fn find_surface_point(model: &Model, body: &str, place: &Vec3) -> Result<(NodeRow, Vec3), String> {
    let body = model.bodies.iter().find(|own| own.name == body).ok_or_else(|| no_such("body", body))?;
    match near(body, on_surface(body, place), place)? {
        (Anchor::Nodes(row), rest) => Ok((row, rest)),
        _ => Err(format!("body '{}' has no points", body.name)),
    }
}

fn find_anchor(model: &Model, desc: &PointDesc) -> Result<(Anchor, Vec3), String> {
    // points of flesh
    let of_body =
        |name: &str| model.bodies.iter().find(|body| body.name == name).ok_or_else(|| no_such("body", name));
    match desc {
        PointDesc::Surface { body, place } => {
            let body = of_body(body)?;
            near(body, on_surface(body, place), place)
        }
        PointDesc::Inside { body, place } => {
            let body = of_body(body)?;
            near(body, inside(body, &model.tets, &model.node_rest, place), place)
        }
        PointDesc::Region { body, region } => {
            let body = of_body(body)?;
            let vertices = region.select(&body.surface.vertices, &body.surface.vertices);
            if vertices.is_empty() {
                return Err(format!(
                    "its region contains no surface vertex of '{}'{}",
                    body.name,
                    reach(body)
                ));
            }
            let weight = 1.0 / vertices.len() as f64;
            let parts: Vec<(u32, f64)> = vertices.iter().map(|vertex| (*vertex, weight)).collect();
            let row = vertex_row(body, &parts);
            let middle = sum(&row, &model.node_rest);
            Ok((Anchor::Nodes(row), middle))
        }

        // points of bones and obstacles
        PointDesc::Bone { rig, bone, place } => find_bone(model, rig, bone, place.as_ref()),
        PointDesc::Obstacle { obstacle: name, place } => {
            let found = model.obstacles.iter().position(|obstacle| obstacle.name == *name);
            let found = found.ok_or_else(|| no_such("obstacle", name))?;
            let at = place.unwrap_or(model.obstacles[found].start.pose.translation.vector);
            // a part moves with its carrier
            let obstacle = model.obstacles[found].carrier;
            let pose = &model.obstacles[obstacle].start.pose;
            let own = pose.rotation.inverse_transform_vector(&(at - pose.translation.vector));
            Ok((Anchor::Obstacle { obstacle, place: own }, at))
        }
    }
}

fn near(body: &Body, found: Option<Found>, place: &Vec3) -> Result<(Anchor, Vec3), String> {
    let Some(Found { point, row }) = found else { return Err(format!("body '{}' has no points", body.name)) };
    let (low, high) = body.surface.bounds().unwrap_or_default();
    let distance = (point - place).norm();
    if distance > FARTHEST * (high - low).amax() {
        return Err(format!(
            "the nearest point of body '{}' is {distance:.4} m away from {:.4?} m{}",
            body.name,
            place.as_slice(),
            reach(body)
        ));
    }
    Ok((Anchor::Nodes(row), point))
}

fn find_bone(
    model: &Model,
    rig_name: &str,
    bone_name: &str,
    place: Option<&Vec3>,
) -> Result<(Anchor, Vec3), String> {
    let rig = model.rigs.iter().position(|rig| rig.name == rig_name);
    let rig = rig.ok_or_else(|| no_such("skeleton", rig_name))?;
    let bone = model.rigs[rig].skeleton.find_bone(bone_name);
    let bone = bone.ok_or_else(|| format!("skeleton '{rig_name}' has no bone '{bone_name}'"))?.index();
    let frame = &model.rigs[rig].rest_frames[bone];
    let at = place.copied().unwrap_or(frame.origin);
    Ok((Anchor::Bone { rig, bone, place: frame.point_back(&at) }, at))
}

fn find_belt(model: &Model, desc: &BeltDesc) -> Result<(Hold, f64), String> {
    let body = model.bodies.iter().find(|body| body.name == desc.body);
    let body = body.ok_or_else(|| no_such("body", &desc.body))?;
    let loops = find_loops(body, &desc.center, &desc.axis.normalize());
    let far = |middle: &Vec3| (middle - desc.center).norm_squared();
    let nearest = loops.iter().min_by(|a, b| far(&a.middle()).total_cmp(&far(&b.middle())));
    let Some(line) = nearest else {
        return Err(format!("its plane does not cut body '{}' in a closed curve{}", body.name, reach(body)));
    };
    let spacing = sinew_math::real::cbrt(body.volume / body.nodes.len() as f64);
    let count = (line.length() / spacing).round().clamp(MIN_BELT_POINTS, MAX_BELT_POINTS);
    let rows = line.rows(body, count as usize);
    let rest: Vec<Vec3> = rows.iter().map(|row| sum(row, &model.node_rest)).collect();
    let length = belt::length(&rest);
    Ok((Hold::Around(rows), length))
}

fn no_such(what: &str, name: &str) -> String {
    format!("there is no {what} '{name}'")
}

fn reach(body: &Body) -> String {
    let (low, high) = body.surface.bounds().unwrap_or_default();
    format!(": the body reaches from {:.4?} to {:.4?} m", low.as_slice(), high.as_slice())
}

//! Validation of muscles: which tets they are in, how their fibres run, which nodes their ends fix to bones, and the step that they allow.

mod fibre_field;
mod volume;

use super::Model;
use crate::body::Shape;
use crate::desc::{
    AttachmentDesc, BodyDesc, FibreField, FleshMuscleDesc, Hold, LineMuscleDesc, MuscleDesc, MuscleEnd,
    MuscleKind, MuscleTissue, MuscleVolume, ShapeDesc, TieDesc, WorldDesc,
};
use crate::fault::Fault;
use crate::muscle::{LineOfAction, Muscle, Muscles};
use fibre_field::fibre_directions;
use sinew_flesh::{Fibre, Material};
use sinew_math::Vec3;
use std::sync::Arc;
use volume::MuscleShape;

/// Tets of which less than this fraction is muscle have no fibres.
const MIN_FRACTION: f64 = 0.02;
/// Default radius of an end relative to the length of the muscle.
const END_RADIUS: f64 = 0.1;

/// What a muscle takes of a body, found as the body is built.
#[derive(Clone, Debug, Default)]
pub(super) struct MuscleParts {
    /// Tets of the model that it is in, each with the fraction of it that is muscle.
    tets: Vec<(u32, f64)>,
    /// Origin and insertion (m).
    ends: [Vec3; 2],
    /// Nodes of the model at each end.
    end_nodes: [Vec<u32>; 2],
    /// Length from end to end (m).
    length: f64,
    tissue: Option<MuscleTissue>,
}

/// The muscles in one body: for each muscle of the world its part in the body, if it has any.
pub(super) struct BodyMuscles {
    pub(super) parts: Vec<(usize, MuscleParts)>,
    /// Ties of their ends to bones.
    ties: Vec<TieDesc>,
}

/// Finds what the muscles of a world take of a body. Nodes and tets are counted from the first of the model's.
pub(super) fn find_in_body(
    world: &WorldDesc,
    body: &str,
    shape: &Shape,
    (first_node, first_tet): (usize, usize),
) -> Result<BodyMuscles, Vec<Fault>> {
    let mut found = BodyMuscles { parts: Vec::new(), ties: Vec::new() };
    let mut faults = Vec::new();
    for (i, muscle) in world.muscles.iter().enumerate() {
        let MuscleKind::Flesh(desc) = &muscle.kind else { continue };
        if desc.body != body {
            continue;
        }
        match find_part(desc, shape) {
            Ok(mut part) => {
                let ends = desc.ends.iter().flatten().map(|end| end.bone.as_ref());
                for (bone, nodes) in ends.zip(&part.end_nodes) {
                    let tie = |bone: &String| TieDesc {
                        bone: Some(bone.clone()),
                        hold: Hold::Nodes(nodes.clone()),
                    };
                    found.ties.extend(bone.map(tie));
                }
                part.tets.iter_mut().for_each(|(tet, _)| *tet += first_tet as u32);
                part.end_nodes.iter_mut().flatten().for_each(|node| *node += first_node as u32);
                found.parts.push((i, part));
            }
            Err(what) => faults.push(fault(muscle, what)),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

impl BodyMuscles {
    /// The body with the ties of muscles before its own; none if there are none.
    pub(super) fn tied(&self, desc: &BodyDesc) -> Option<BodyDesc> {
        let attachment = desc.attachment.as_ref().filter(|_| !self.ties.is_empty())?;
        let ties = self.ties.iter().chain(&attachment.ties).cloned().collect();
        let attachment = Some(AttachmentDesc { ties, ..attachment.clone() });
        Some(BodyDesc { attachment, ..desc.clone() })
    }

    /// The material of each tet of the body, by its place in the model, from that without muscles.
    pub(super) fn blend(&self, tet: u32, even: Material) -> Material {
        let mut material = even;
        for (_, part) in &self.parts {
            let Some(tissue) = &part.tissue else { continue };
            let Ok(place) = part.tets.binary_search_by_key(&tet, |(own, _)| *own) else { continue };
            let fraction = part.tets[place].1;
            material.young += fraction * (tissue.young - material.young);
            material.poisson += fraction * (tissue.poisson - material.poisson);
        }
        material
    }
}

/// Faults that can be seen without building anything.
pub(super) fn find_faults(world: &WorldDesc) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (i, muscle) in world.muscles.iter().enumerate() {
        let mut add = |what: String| faults.push(fault(muscle, what));
        if world.muscles[..i].iter().any(|other| other.name == muscle.name) {
            add("two muscles have this name: rename one".into());
        }
        if let Some(what) = muscle.curve.fault() {
            add(what);
        }
        match &muscle.kind {
            MuscleKind::Flesh(desc) => flesh_faults(world, desc).into_iter().for_each(add),
            MuscleKind::Line(desc) => line_fault(world, desc).into_iter().for_each(add),
        }
    }
    faults
}

fn fault(muscle: &MuscleDesc, what: String) -> Fault {
    Fault::new("", format!("muscle '{}': {what}", muscle.name))
}

fn flesh_faults(world: &WorldDesc, desc: &FleshMuscleDesc) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(body) = world.bodies.iter().find(|body| body.name == desc.body) else {
        let names: Vec<&str> = world.bodies.iter().map(|body| body.name.as_str()).collect();
        return vec![format!(
            "it is in body '{}', which does not exist: there is {}",
            desc.body,
            names.join(", ")
        )];
    };
    if !matches!(body.shape, ShapeDesc::Surface { .. } | ShapeDesc::Tets(_)) {
        faults.push(format!("body '{}' is not made of flesh, and has no room for muscles", desc.body));
    }
    if let MuscleVolume::Spindle(radius) = desc.volume {
        if !(radius > 0.0 && radius.is_finite()) {
            faults.push(format!("its radius is {radius} m: give a number above 0"));
        }
        if desc.ends.is_none() {
            faults.push("a spindle needs an origin and an insertion: give both".into());
        }
    }
    for end in desc.ends.iter().flatten() {
        if !end.place.iter().all(|x| x.is_finite()) {
            faults.push(format!("an end at {:?} m is not finite", end.place.as_slice()));
        }
        if let Some(radius) = end.radius.filter(|radius| !(*radius >= 0.0 && radius.is_finite())) {
            faults.push(format!("the radius of an end is {radius} m: give 0 or more"));
        }
        let Some(bone) = &end.bone else { continue };
        let rig = body.attachment.as_ref().and_then(|own| world.rigs.iter().find(|rig| rig.name == own.rig));
        match rig {
            None => faults.push(format!(
                "it ends at bone '{bone}', but body '{}' is attached to no skeleton: attach it, or leave the bone out",
                desc.body
            )),
            Some(rig) => faults.extend(no_such_bone(&rig.skeleton, &rig.name, bone)),
        }
    }
    if let Some([a, b]) = &desc.ends
        && a.place == b.place
    {
        faults.push("its origin and its insertion are at one place: move one of them".into());
    }
    if let FibreField::Along(direction) = &desc.fibres
        && !(direction.norm() > 0.0 && direction.norm().is_finite())
    {
        faults.push(format!(
            "its fibres run along {:?}: give a direction that is not zero",
            direction.as_slice()
        ));
    }
    if let Some(tissue) = &desc.tissue {
        let material = Material { young: tissue.young, poisson: tissue.poisson, ..body.material };
        faults.extend(material.faults().iter().map(|what| format!("tissue: {what}")));
    }
    faults
}

fn no_such_bone(skeleton: &sinew_skeleton::SkeletonDesc, rig: &str, bone: &str) -> Option<String> {
    let names: Vec<&str> = skeleton.bones.iter().map(|bone| bone.name.as_str()).collect();
    (!names.contains(&bone))
        .then(|| format!("skeleton '{rig}' has no bone '{bone}': there is {}", names.join(", ")))
}

fn line_fault(world: &WorldDesc, desc: &LineMuscleDesc) -> Option<String> {
    let Some(rig) = world.rigs.iter().find(|rig| rig.name == desc.rig) else {
        return Some(format!("it is on skeleton '{}', which does not exist", desc.rig));
    };
    if desc.points.len() < 2 {
        return Some(format!(
            "its line has {} points: give an origin and an insertion at least",
            desc.points.len()
        ));
    }
    if let Some((_, place)) = desc.points.iter().find(|(_, place)| !place.iter().all(|x| x.is_finite())) {
        return Some(format!("a point at {:?} m is not finite", place.as_slice()));
    }
    let length: f64 = desc.points.windows(2).map(|pair| (pair[1].1 - pair[0].1).norm()).sum();
    if length <= 0.0 {
        return Some("all its points are at one place: move one of them".into());
    }
    desc.points.iter().find_map(|(bone, _)| no_such_bone(&rig.skeleton, &rig.name, bone))
}

/// What a muscle takes of the shape of its body.
fn find_part(desc: &FleshMuscleDesc, shape: &Shape) -> Result<MuscleParts, String> {
    let places = desc.ends.as_ref().map(|ends| [ends[0].place, ends[1].place]);
    let own = MuscleShape::build(&desc.volume, places, shape)?;
    let ends = places.unwrap_or_else(|| own.ends());
    let length = (ends[1] - ends[0]).norm();
    let tets: Vec<(u32, f64)> = own
        .fractions(&shape.mesh)
        .into_iter()
        .zip(&shape.fill)
        .enumerate()
        .map(|(tet, (fraction, fill))| (tet as u32, fraction.min(*fill)))
        .filter(|(_, fraction)| *fraction >= MIN_FRACTION)
        .collect();
    if tets.is_empty() {
        let (low, high) = shape.surface.bounds().unwrap_or_default();
        return Err(format!(
            "none of the body is in it: the body reaches from {:.4?} to {:.4?} m; move the muscle, or make the cage finer",
            low.as_slice(),
            high.as_slice()
        ));
    }
    let radius = |i: usize| {
        let given = desc.ends.as_ref().and_then(|ends: &[MuscleEnd; 2]| ends[i].radius);
        given.unwrap_or(END_RADIUS * length)
    };
    let nodes = &shape.mesh.nodes;
    let end_nodes = [0, 1].map(|i| nodes_near(nodes, &tets, &shape.mesh.tets, (&ends[i], radius(i))));
    if end_nodes[0].iter().any(|node| end_nodes[1].contains(node)) {
        return Err(format!(
            "its origin and its insertion share nodes of the cage: the cage is too coarse for a muscle of {length:.3} m, or their radii of {:.3} and {:.3} m are too large",
            radius(0),
            radius(1)
        ));
    }
    Ok(MuscleParts { tets, ends, end_nodes, length, tissue: desc.tissue })
}

/// The nodes of a muscle's tets within a radius of a place, or the nearest one.
fn nodes_near(
    nodes: &[Vec3],
    tets: &[(u32, f64)],
    corners: &[[u32; 4]],
    (place, radius): (&Vec3, f64),
) -> Vec<u32> {
    let mut own: Vec<u32> = tets.iter().flat_map(|(tet, _)| corners[*tet as usize]).collect();
    own.sort_unstable();
    own.dedup();
    let distance = |node: &u32| (nodes[*node as usize] - place).norm();
    let near: Vec<u32> = own.iter().copied().filter(|node| distance(node) <= radius).collect();
    if !near.is_empty() {
        return near;
    }
    own.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).into_iter().collect()
}

/// Adds the muscles to an otherwise complete model.
pub(super) fn add(
    world: &WorldDesc,
    found: Vec<(usize, MuscleParts)>,
    mut model: Model,
) -> Result<Model, Vec<Fault>> {
    let mut muscles = Muscles::default();
    let mut faults = Vec::new();
    for (i, desc) in world.muscles.iter().enumerate() {
        let first = muscles.fibres.len();
        let own = match &desc.kind {
            MuscleKind::Flesh(flesh) => {
                let parts = found.iter().find(|(own, _)| *own == i).map(|(_, parts)| parts);
                parts.map(|parts| add_fibres(&model, flesh, parts, &mut muscles))
            }
            MuscleKind::Line(line) => Some(Ok(find_line(&model, line))),
        };
        let Some(own) = own else { continue };
        match own {
            Ok(own) => {
                let fibres = first..muscles.fibres.len();
                muscles.all.push(Muscle { name: desc.name.clone(), curve: desc.curve, fibres, ..own });
            }
            Err(what) => faults.push(fault(desc, what)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    model.stable_step = stable_step(&model, &muscles);
    Ok(Model { muscles: Arc::new(muscles), ..model })
}

fn bare() -> Muscle {
    Muscle {
        name: String::new(),
        curve: sinew_flesh::ForceLength::default(),
        body: None,
        fibres: 0..0,
        line: None,
        volume: 0.0,
        length: 0.0,
        end_nodes: [Vec::new(), Vec::new()],
    }
}

/// Builds the fibres of a muscle.
fn add_fibres(
    model: &Model,
    desc: &FleshMuscleDesc,
    parts: &MuscleParts,
    muscles: &mut Muscles,
) -> Result<Muscle, String> {
    let rest = model.node_unstressed();
    let body = model.bodies().iter().position(|body| body.name == desc.body);
    let axis = (parts.ends[1] - parts.ends[0]).normalize();
    let directions = match &desc.fibres {
        FibreField::Along(direction) => vec![direction.normalize(); parts.tets.len()],
        FibreField::Harmonic => fibre_directions((rest, model.tets()), &parts.tets, &parts.end_nodes, &axis),
    };
    let mut volume = 0.0;
    for ((tet, fraction), direction) in parts.tets.iter().zip(&directions) {
        let nodes = model.tets()[*tet as usize];
        let corners = nodes.map(|node| rest[node as usize]);
        let [a, b, c, d] = corners;
        let own = fraction * (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0;
        if let Some(fibre) = Fibre::build(nodes, &corners, direction, own) {
            volume += own;
            muscles.fibres.push(fibre);
            muscles.tets.push(*tet);
        }
    }
    let ends = desc.ends.as_ref();
    let on_bone = |i: usize| ends.is_some_and(|ends| ends[i].bone.is_some());
    let end_nodes = [0, 1].map(|i| if on_bone(i) { parts.end_nodes[i].clone() } else { Vec::new() });
    Ok(Muscle { body, volume, length: parts.length, end_nodes, ..bare() })
}

/// A line of action over the bones of a rig; its description is sound.
fn find_line(model: &Model, desc: &LineMuscleDesc) -> Muscle {
    let mut points = Vec::new();
    if let Some(rig) = model.rigs().iter().find(|rig| rig.name == desc.rig) {
        for (name, place) in &desc.points {
            let Some(bone) = rig.skeleton.find_bone(name) else { continue };
            let frame = &rig.rest_frames[bone.index()];
            points.push((rig.bones.start + bone.index(), frame.point_back(place)));
        }
    }
    let length = desc.points.windows(2).map(|pair| (pair[1].1 - pair[0].1).norm()).sum();
    Muscle { line: Some(LineOfAction { points }), length, ..bare() }
}

/// The stability limit with fibres at their stiffest. The highest frequency of both energies is at most
///
/// ```text
/// Ω² ≤ Ω₀² + max_i Σ_e V Ψ''_max |gᵢ| Σⱼ |gⱼ| / mᵢ                        Gershgorin
/// ```
fn stable_step(model: &Model, muscles: &Muscles) -> crate::StableStep {
    let mut rows = vec![0.0; model.node_count()];
    for muscle in &muscles.all {
        for fibre in &muscles.fibres[muscle.fibres.clone()] {
            let stiffness = fibre.volume * muscle.curve.max_tangent();
            let sum: f64 = fibre.gradients.iter().map(|g| g.abs()).sum();
            for (node, g) in fibre.nodes.iter().zip(&fibre.gradients) {
                rows[*node as usize] += stiffness * g.abs() * sum;
            }
        }
    }
    let mut step = model.stable_step();
    for body in model.bodies() {
        let largest = body.nodes.clone().map(|node| rows[node] / model.node_mass()[node]).fold(0.0, f64::max);
        if let Some(own) = body.step.filter(|_| largest > 0.0) {
            let seconds = own.stiffened(largest).seconds;
            step.seconds = step.seconds.min(seconds);
        }
    }
    step
}

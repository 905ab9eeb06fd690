//! Validation and assembly of a model from a world description: lumped masses, attachment to bones, rest shapes, and the stable step.

use super::muscles::{BodyMuscles, MuscleParts};
use super::painted_stiffness::painted_stiffness;
use super::unheld::Unheld;
use super::{Load, Model, ModelId, Pin, constraints, home, metaphors, muscles};
use crate::body::{Body, Shape, damping_rate};
use crate::body_kind::{BodyKind, CoordinateState, CustomBody};
use crate::constraint;
use crate::contact_surface::{ContactSurface, PairMaterials, find_faults};
use crate::desc::{BodyDesc, LoadDesc, PinDesc, Sag, ShapeDesc, WorldDesc};
use crate::factors::Factors;
use crate::fault::{BuildError, Fault};
use crate::home::{HomePart, HomeParts, Homes, blend_stiffness};
use crate::obstacle::Obstacle;
use crate::part::{BodyNodes, Parts as PartList};
use crate::rig::{Attachment, FixedNodes, LimbBody, LimbFlesh, LimbShapes, RestRig, Rig};
use crate::sag::{Drawn, Support, keep_masses};
use crate::skin;
use crate::stable_step::StableStep;
use core::ops::Range;
use sinew_flesh::{ElementDesc, Elements, Material};
use sinew_math::Vec3;
use sinew_math::spatial::Frame;
use sinew_skeleton::PointMass;
use std::sync::Arc;

impl Model {
    /// Validates a world and builds its model.
    ///
    /// # Errors
    /// All faults of the description, together.
    pub fn build(world: &WorldDesc) -> Result<Model, BuildError> {
        build_around(world, None)
    }

    /// Builds the model of a world that differs from this model's in gravity, materials, loads, constraints, metaphors, contact parameters or the mobility of obstacles, but not in its bodies, skeletons and
    /// obstacles. A state of one model is then a state of the other: cages and stress-free shapes are those of this model, which also takes a fraction of the time of building anew.
    ///
    /// # Errors
    /// All faults of the description, together; also if bodies, skeletons or obstacles are others.
    pub fn revise(&self, world: &WorldDesc) -> Result<Model, BuildError> {
        let faults = layout_faults(self, world);
        if faults.is_empty() { build_around(world, Some(self)) } else { Err(BuildError { faults }) }
    }
}

/// Validates a world and builds its model, with the cages and stress-free shapes of a model of the same bodies if there is one.
fn build_around(world: &WorldDesc, kept: Option<&Model>) -> Result<Model, BuildError> {
    // validation of rigs and bodies one by one
    let mut faults = world_faults(world);
    let mut rigs: Vec<RestRig> = Vec::new();
    for desc in &world.rigs {
        match RestRig::build(desc, rigs.last().map_or(1, |rig| rig.bones.end)) {
            Ok(rig) => rigs.push(rig),
            Err(found) => faults.extend(found),
        }
    }
    let mut shapes = Vec::new();
    let thinnest = world.obstacles.iter().map(Obstacle::width).fold(f64::INFINITY, f64::min);
    for (i, desc) in world.bodies.iter().enumerate() {
        let numbers = body_faults(desc);
        if !numbers.is_empty() {
            faults.extend(numbers);
            continue;
        }
        let built = kept.and_then(|kept| Shape::of_body(&kept.bodies[i], &kept.node_rest, &kept.tets));
        match built.map_or_else(|| build_shape(desc, &rigs, thinnest), Ok) {
            Ok(shape) => shapes.push(shape),
            Err(found) => faults.extend(found),
        }
    }
    if !faults.is_empty() {
        return Err(BuildError { faults });
    }

    // attachment, pins and loads
    let mut parts = Parts::default();
    for (desc, shape) in world.bodies.iter().zip(shapes) {
        parts.add(world, desc, shape, &rigs);
    }
    if !parts.faults.is_empty() {
        return Err(BuildError { faults: parts.faults });
    }

    // assembly, constraints, metaphors and the step limit
    let merged = parts.merge_masses(&rigs, &world.gravity)?;
    let muscle_parts = core::mem::take(&mut parts.muscles);
    let unconstrained = parts.assemble(world, merged, kept);
    let model = constraints::add(world, unconstrained).map_err(|faults| BuildError { faults })?;
    let model = metaphors::add(world, model).map_err(|faults| BuildError { faults })?;
    let model = muscles::add(world, muscle_parts, model).map_err(|faults| BuildError { faults })?;
    let accurate = if model.has_homes() { MAX_HOME_STEP } else { f64::INFINITY };
    let max_step = world.max_step.unwrap_or(f64::INFINITY).min(accurate);
    let seconds = model.stable_step.seconds.min(max_step);
    let unheld = Unheld::find(&model);
    Ok(Model { stable_step: StableStep { seconds, ..model.stable_step }, unheld, ..model })
}

/// Differences between the bodies, skeletons and obstacles of a model and those of a world, by their names.
fn layout_faults(model: &Model, world: &WorldDesc) -> Vec<Fault> {
    let names = [
        (
            "bodies",
            model.bodies.iter().map(|body| &body.name).collect::<Vec<_>>(),
            world.bodies.iter().map(|body| &body.name).collect::<Vec<_>>(),
        ),
        (
            "skeletons",
            model.rigs.iter().map(|rig| &rig.name).collect(),
            world.rigs.iter().map(|rig| &rig.name).collect(),
        ),
        (
            "obstacles",
            model.obstacles.iter().map(|obstacle| &obstacle.name).collect(),
            world.obstacles.iter().map(|obstacle| &obstacle.name).collect(),
        ),
    ];
    let differ = names.into_iter().filter(|(_, own, other)| own != other);
    let fault = |(what, own, other)| {
        let message = format!(
            "the {what} of a take stay the same from its first to its last frame: they were {own:?} and would be {other:?}; to change them, record another take"
        );
        Fault::new("", message)
    };
    differ.map(fault).collect()
}

/// The longest sub-step of flesh that rests at its skinned shape (s). It sees its bones' motion one sub-step late, an error of first order: soft flesh that stops with its bones within two hundredths of a second
/// was off by up to 2.7 % of the character's size at the stable 5 ms, 1.5 % at 4.2 ms and 0.7 % at 2.1 ms, beside sub-steps of 1 ms.
const MAX_HOME_STEP: f64 = 1.0 / 480.0;

/// The shape of a body.
fn build_shape(desc: &BodyDesc, rigs: &[RestRig], thinnest: f64) -> Result<Shape, Vec<Fault>> {
    let ShapeDesc::Skin(own) = &desc.shape else {
        return Shape::build(desc, &anchors_of(desc, rigs), thinnest);
    };
    let fault = |what: &String| Fault::new(&desc.name, what.as_str());
    let built = skin::build(own, rigs).map_err(|faults| faults.iter().map(fault).collect::<Vec<_>>())?;
    Ok(Shape::of_skin(built, &own.surface))
}

/// Positions at which the cage of a body must have nodes.
fn anchors_of(desc: &BodyDesc, rigs: &[RestRig]) -> Vec<Vec3> {
    let Some(attachment) = desc.attachment.as_ref().filter(|attachment| attachment.anchored) else {
        return Vec::new();
    };
    let rig = rigs.iter().find(|rig| rig.desc.name == attachment.rig);
    rig.map_or_else(Vec::new, |rig| rig.samples().map(|(_, point)| point).collect())
}

fn world_faults(world: &WorldDesc) -> Vec<Fault> {
    let mut faults = Vec::new();

    // the world itself
    if world.bodies.is_empty() {
        faults.push(Fault::new("", "the world has no body: add one"));
    }
    if !world.gravity.iter().all(|g| g.is_finite()) {
        faults.push(Fault::new("", format!("gravity {:?} m/s² is not finite", world.gravity.as_slice())));
    }
    if let Some(step) = world.max_step.filter(|step| step.is_nan() || *step <= 0.0) {
        faults.push(Fault::new("", format!("the maximum step is {step} s: it must be above 0")));
    }

    // names and references of bodies
    for (i, body) in world.bodies.iter().enumerate() {
        if world.bodies[..i].iter().any(|other| other.name == body.name) {
            faults.push(Fault::new(&body.name, "two bodies have this name: rename one"));
        }
        let rig = body.attachment.as_ref().map(|attachment| &attachment.rig);
        if let Some(name) = rig.filter(|name| world.rigs.iter().all(|rig| rig.name != **name)) {
            faults.push(Fault::new(
                &body.name,
                format!("it is attached to skeleton '{name}', which does not exist"),
            ));
        }
    }

    // contacts, constraints and skeletons
    faults.extend(find_faults(world));
    faults.extend(constraint::find_faults(world));
    faults.extend(muscles::find_faults(world));
    for (i, rig) in world.rigs.iter().enumerate() {
        if world.rigs[..i].iter().any(|other| other.name == rig.name) {
            faults.push(Fault::new("", format!("two skeletons are named '{}': rename one", rig.name)));
        }
    }
    faults
}

fn body_faults(desc: &BodyDesc) -> Vec<Fault> {
    let fault = |what: String| Fault::new(&desc.name, what);
    let mut faults: Vec<Fault> =
        desc.material.faults().iter().map(|f| fault(format!("material: {f}"))).collect();
    if !desc.velocity.iter().all(|v| v.is_finite()) {
        faults.push(fault(format!("velocity {:?} m/s is not finite", desc.velocity.as_slice())));
    }
    if desc.sag == Sag::RestShape && desc.attachment.is_none() && desc.pins.is_empty() {
        let what = "it has a rest shape but nothing to hang on, and a body in free fall does not sag: pin it, attach it to bones, or let it sag freely";
        faults.push(fault(what.into()));
    }
    if desc.sag == Sag::Balanced && desc.attachment.is_none() {
        let what = "its weight is balanced by bones, but it is attached to none: give it a rest shape instead, or let it sag freely";
        faults.push(fault(what.into()));
    }
    if let ShapeDesc::Network(network) = &desc.shape {
        faults.extend(network.kind.faults().into_iter().map(fault));
    }
    let is_flesh = !matches!(desc.shape, ShapeDesc::Custom(_) | ShapeDesc::Network(_) | ShapeDesc::Skin(_));
    if !is_flesh && (desc.attachment.is_some() || desc.sag != Sag::Free) {
        let what = "it is not a tet mesh, and only tet meshes can be attached to bones or have a rest shape: hold it by constraints, and let it sag freely";
        faults.push(fault(what.into()));
    }
    if !(desc.air_drag >= 0.0 && desc.air_drag.is_finite()) {
        let what = format!(
            "its air drag is {} 1/s: it must be 0 or more, and finite; 0 falls freely",
            desc.air_drag
        );
        faults.push(fault(what));
    }
    if desc.air_drag > 0.0 && (desc.attachment.is_some() || matches!(desc.shape, ShapeDesc::Custom(_))) {
        let what =
            "it has air drag, which only flesh without bones and cloth have: remove it, or the attachment";
        faults.push(fault(what.into()));
    }
    for (i, pin) in desc.pins.iter().enumerate() {
        faults.extend(pin.region.fault().map(|what| fault(format!("pin {}: {what}", i + 1))));
    }
    for (i, load) in desc.loads.iter().enumerate() {
        faults.extend(load.region.fault().map(|what| fault(format!("load {}: {what}", i + 1))));
        if !load.force.iter().all(|f| f.is_finite()) {
            faults.push(fault(format!("load {}: force {:?} N is not finite", i + 1, load.force.as_slice())));
        }
    }
    faults
}

/// A model under construction.
#[derive(Default)]
struct Parts {
    bodies: Vec<Body>,
    node_rest: Vec<Vec3>,
    node_start_v: Vec<Vec3>,
    node_mass: Vec<f64>,
    elements: Vec<ElementDesc>,
    /// Node, bone and position in the bone's frame of every node fixed to a bone.
    ties: Vec<(u32, u32, Vec3)>,
    node_reference: Vec<u32>,
    homes: Vec<HomeParts>,
    body_start: CoordinateState,
    reduced_nodes: Vec<Range<usize>>,
    /// The highest frequency of each custom body (rad/s); none for tet meshes.
    max_frequency: Vec<Option<f64>>,
    pins: Vec<Pin>,
    loads: Vec<Load>,
    /// What muscles take of bodies, with their place among the muscles of the world.
    muscles: Vec<(usize, MuscleParts)>,
    faults: Vec<Fault>,
}

impl Parts {
    fn add(&mut self, world: &WorldDesc, desc: &BodyDesc, mut shape: Shape, rigs: &[RestRig]) {
        // pins and loads
        let cage = shape.cage_parts(desc);
        let (first_node, first_tet) = (self.node_rest.len(), self.elements.len());
        for (i, pin) in desc.pins.iter().enumerate() {
            self.add_pin(desc, &shape, pin, i, first_node);
        }
        for (i, load) in desc.loads.iter().enumerate() {
            self.add_load(desc, &shape, load, i, first_node);
        }
        let is_reduced = shape.custom.as_ref().is_some_and(|custom| custom.kind.coordinates().is_some());
        if is_reduced && !desc.pins.is_empty() {
            let what =
                "its points follow generalised coordinates and cannot be pinned: hold it by constraints";
            self.faults.push(Fault::new(&desc.name, what));
        }

        // muscles, whose ends come before all other ties
        let Some(in_muscles) = self.find_muscles(world, desc, &shape, (first_node, first_tet)) else {
            return;
        };
        let tied = in_muscles.tied(desc);
        let desc = tied.as_ref().unwrap_or(desc);

        // attachment to bones, and elements with their materials
        let attached = self.attach(desc, &mut shape, first_node, rigs);
        let thickness = attached.as_ref().map(|attached| attached.thickness);
        let stiffness = painted_stiffness(desc, &shape);
        self.elements.extend(shape.mesh.tets.iter().zip(&shape.fill).enumerate().map(|(i, (tet, &fill))| {
            let even = attached.as_ref().map_or(desc.material, |attached| attached.material(desc, tet));
            let even = Material { young: even.young * stiffness.get(i).unwrap_or(&1.0), ..even };
            ElementDesc {
                nodes: tet.map(|n| n + first_node as u32),
                material: in_muscles.blend((first_tet + i) as u32, even),
                fill,
                viscosity: 0.0,
            }
        }));
        self.muscles.extend(in_muscles.parts);
        let reach = thickness.unwrap_or_else(|| shape.length());
        // custom bodies and springs towards home have damping of their own, and bodies without bones are damped part by part
        let has_home = desc.attachment.as_ref().is_some_and(|attachment| attachment.home.is_some());
        let is_on_bones = shape.custom.is_none() && desc.attachment.is_some() && !has_home;
        let damping_rate = if is_on_bones { damping_rate(&desc.material, reach) } else { 0.0 };

        // nodes and the body itself
        let (mass, volume) = (shape.node_mass(desc.material.density), shape.volume());
        let kind = self.add_kind(&shape, first_node);
        self.node_mass.extend(&mass);
        self.node_start_v.resize(first_node + mass.len(), desc.velocity);
        self.node_rest.extend(shape.mesh.nodes);
        self.bodies.push(Body {
            name: desc.name.clone(),
            kind,
            nodes: first_node..self.node_rest.len(),
            tets: first_tet..self.elements.len(),
            reach,
            damping_rate,
            frequency: None,
            air_drag: desc.air_drag,
            // where the drawn shape is home, the weight is balanced there
            sag: if has_home { Sag::Free } else { desc.sag },
            rest_shape: None,
            surface: shape.surface,
            embedding: shape.embedding,
            fine_surface: shape.fine_surface,
            material: desc.material,
            mass: mass.iter().sum(),
            volume,
            notes: shape.notes,
            step: None,
            factors: Factors::default(),
            cage,
        });
    }

    /// What muscles take of a body; none if they cannot.
    fn find_muscles(
        &mut self,
        world: &WorldDesc,
        desc: &BodyDesc,
        shape: &Shape,
        first: (usize, usize),
    ) -> Option<BodyMuscles> {
        match muscles::find_in_body(world, &desc.name, shape, first) {
            Ok(found) => Some(found),
            Err(faults) => {
                self.faults.extend(faults);
                None
            }
        }
    }

    /// Assigns a custom body its ranges of generalised coordinates.
    fn add_kind(&mut self, shape: &Shape, first_node: usize) -> BodyKind {
        self.max_frequency.push(shape.custom.as_ref().map(|custom| custom.max_frequency));
        let Some(custom) = &shape.custom else { return BodyKind::Tets };
        let (first_q, first_v) = (self.body_start.q.len(), self.body_start.v.len());
        if let Some(coordinates) = custom.kind.coordinates() {
            let start = coordinates.start();
            self.body_start.q.extend(start.q);
            self.body_start.v.extend(start.v);
            self.reduced_nodes.push(first_node..first_node + shape.mesh.nodes.len());
        }
        BodyKind::Custom(CustomBody {
            kind: custom.kind.clone(),
            q: first_q..self.body_start.q.len(),
            v: first_v..self.body_start.v.len(),
        })
    }

    /// Pins the nodes in the region or, if the cage is too coarse to have any there, the nodes that carry the surface in it.
    fn add_pin(&mut self, desc: &BodyDesc, shape: &Shape, pin: &PinDesc, index: usize, first_node: usize) {
        let mut nodes = pin.region.select(&shape.mesh.nodes, &shape.surface.vertices);
        if nodes.is_empty() {
            for vertex in pin.region.select(&shape.surface.vertices, &shape.surface.vertices) {
                nodes.extend(shape.embedding.point(vertex as usize).map(|(node, _)| node));
            }
            nodes.sort_unstable();
            nodes.dedup();
        }
        if nodes.is_empty() {
            self.faults.push(Fault::new(&desc.name, nothing_there("pin", index, "holds", shape)));
        }
        let center = nodes.iter().map(|&node| shape.mesh.nodes[node as usize]).sum::<Vec3>()
            / nodes.len().max(1) as f64;
        nodes.iter_mut().for_each(|node| *node += first_node as u32);
        // a node belongs to the first pin that contains it
        nodes.retain(|node| !self.pins.iter().any(|pin| pin.nodes.contains(node)));
        self.pins.push(Pin { body: self.bodies.len(), nodes, center });
    }

    /// Distributes the force evenly over the surface vertices in the region and maps it to the nodes.   [KimPollard2011, eq. 13]
    fn add_load(&mut self, desc: &BodyDesc, shape: &Shape, load: &LoadDesc, index: usize, first_node: usize) {
        let vertices = load.region.select(&shape.surface.vertices, &shape.surface.vertices);
        if vertices.is_empty() {
            self.faults.push(Fault::new(&desc.name, nothing_there("load", index, "pushes on", shape)));
            return;
        }
        // a unit force along x, whose x components are the fractions
        let mut vertex_force = vec![Vec3::zeros(); shape.surface.vertices.len()];
        for &vertex in &vertices {
            vertex_force[vertex as usize].x = 1.0 / vertices.len() as f64;
        }
        let mut node_force = vec![Vec3::zeros(); shape.mesh.nodes.len()];
        shape.embedding.apply_transpose(&vertex_force, &mut node_force);
        let node_fractions = node_force
            .iter()
            .enumerate()
            .filter(|(_, force)| force.x != 0.0)
            .map(|(node, force)| ((first_node + node) as u32, force.x))
            .collect();
        self.loads.push(Load { body: self.bodies.len(), force: load.force, node_fractions });
    }

    /// Fixes the nodes of skin that are to be, unless a pin holds them.
    fn fix_skin(&mut self, shape: &Shape, rig: Option<&str>, first_node: usize, rigs: &[RestRig]) {
        for (i, bone) in shape.carriers.iter().enumerate() {
            self.node_reference[first_node + i] = *bone;
        }
        let Some(rig) = rigs.iter().find(|own| rig == Some(own.desc.name.as_str())) else { return };
        for (node, bone) in &shape.fixed {
            let own = first_node as u32 + node;
            if self.pins.iter().any(|pin| pin.nodes.contains(&own)) {
                continue;
            }
            let place = rig.point_in_bone(*bone, &shape.mesh.nodes[*node as usize]);
            self.ties.push((own, (rig.bones.start + bone) as u32, place));
            self.node_reference[own as usize] = (rig.bones.start + bone) as u32;
        }
    }

    /// Chooses the nodes that are fixed to bones.
    fn attach(
        &mut self,
        desc: &BodyDesc,
        shape: &mut Shape,
        first_node: usize,
        rigs: &[RestRig],
    ) -> Option<Attachment> {
        let count = shape.mesh.nodes.len();
        self.node_reference.resize(first_node + count, 0);
        if let ShapeDesc::Skin(skin) = &desc.shape {
            self.fix_skin(shape, skin.rig.as_deref(), first_node, rigs);
        }
        let attachment = desc.attachment.as_ref()?;
        let rig = rigs.iter().find(|rig| rig.desc.name == attachment.rig)?;

        // pinned nodes are not available
        let mut held = vec![false; count];
        for &node in self.pins.iter().flat_map(|pin| &pin.nodes).filter(|node| **node as usize >= first_node)
        {
            held[node as usize - first_node] = true;
        }
        let chosen = home::find_faults(attachment, shape)
            .and_then(|()| Attachment::choose(attachment, rig, shape, &held));
        let mut found = match chosen {
            Ok(found) => found,
            Err(faults) => {
                self.faults.extend(faults.iter().map(|what| Fault::new(&desc.name, what.as_str())));
                return None;
            }
        };
        if attachment.home.is_some() {
            home::loosen(attachment, rig, shape, &mut found);
        }

        // fixed nodes with their position on the bone, and reference bones of all nodes
        for (node, bone) in found.fixed.iter().enumerate() {
            if let Some(bone) = bone {
                let place = rig.point_in_bone(*bone, &shape.mesh.nodes[node]);
                self.ties.push(((first_node + node) as u32, (rig.bones.start + bone) as u32, place));
            }
            self.node_reference[first_node + node] = (rig.bones.start + found.reference[node]) as u32;
        }
        shape.notes.extend(found.notes.iter().cloned());
        if let Some(home) = &attachment.home {
            let own = home::build(home, attachment, rig, shape, &found);
            self.homes.push(HomeParts { body: self.bodies.len(), first_node, ..own });
        }
        Some(found)
    }

    /// The skeletons with the masses of fixed nodes merged into their bones.
    fn merge_masses(&self, rigs: &[RestRig], gravity: &Vec3) -> Result<Vec<Rig>, BuildError> {
        let (mut merged, mut faults) = (Vec::new(), Vec::new());
        for rig in rigs {
            let mut points = vec![Vec::new(); rig.bone_count()];
            for (node, bone, place) in &self.ties {
                if rig.bones.contains(&(*bone as usize)) {
                    let mass = self.node_mass[*node as usize];
                    points[*bone as usize - rig.bones.start].push(PointMass { mass, point: *place });
                }
            }
            match rig.merge(points, gravity) {
                Ok(rig) => merged.push(rig),
                Err(found) => faults.extend(found),
            }
        }
        if faults.is_empty() { Ok(merged) } else { Err(BuildError { faults }) }
    }

    /// Computes the stability limit of all bodies without constraints; sets the viscosity of elements that goes with it, and their masses. The limit of a body of a revised model follows from
    /// the one before where it can.
    fn find_step(
        &mut self,
        loose_inverse_mass: &[f64],
        node_unstressed: &[Vec3],
        kept: Option<&Model>,
    ) -> StableStep {
        let mut stable_step = StableStep::UNLIMITED;
        for (i, (body, max_frequency)) in self.bodies.iter_mut().zip(&self.max_frequency).enumerate() {
            if let Some(frequency) = max_frequency {
                let step = StableStep::of_frequency(*frequency);
                body.step = Some(step);
                stable_step = stable_step.and(step);
                continue;
            }
            let elements = &mut self.elements[body.tets.clone()];
            let step_at = |x: &[Vec3]| StableStep::find(x, loose_inverse_mass, body.nodes.start, elements);
            let before = kept.map(|kept| &kept.bodies[i]);
            let known =
                before.and_then(|before| before.step?.with_material(&before.material, &body.material));
            // the tissue of muscles may be another one
            let known = known
                .filter(|_| self.muscles.is_empty() && kept.is_some_and(|kept| kept.muscles().is_empty()));
            let step = known.unwrap_or_else(|| match body.rest_shape {
                // bodies deform around the drawn shape
                Some(_) => step_at(node_unstressed).and(step_at(&self.node_rest)),
                None => step_at(node_unstressed),
            });
            body.step = Some(step);
            elements.iter_mut().for_each(|element| element.viscosity = step.viscosity);
            keep_masses(elements, &self.node_rest, node_unstressed);
            stable_step = stable_step.and(step);
        }
        stable_step
    }

    /// Finds the connected parts of bodies without bones, and how fast they are damped.
    fn find_parts(
        &mut self,
        fixed_nodes: &FixedNodes,
        node_inverse_mass: &[f64],
        node_unstressed: &[Vec3],
    ) -> PartList {
        let mut parts = PartList::of_nodes(self.node_mass.len());
        for (i, body) in self.bodies.iter_mut().enumerate() {
            let hangs = body.nodes.clone().any(|node| fixed_nodes.node_reference[node] > 0);
            let damping = match &body.kind {
                BodyKind::Tets => None,
                BodyKind::Custom(own) => Some(own.kind.damping()),
            };
            if hangs || matches!(damping, Some(None)) {
                parts.add_none();
                continue;
            }
            let nodes = BodyNodes {
                range: body.nodes.clone(),
                unstressed: node_unstressed,
                mass: &self.node_mass,
                inverse_mass: node_inverse_mass,
            };
            match damping {
                Some(Some(damping)) => parts.add_linked_body(nodes, &damping),
                _ => {
                    let elements = &mut self.elements[body.tets.clone()];
                    parts.add_body(nodes, elements, body.material.damping_ratio);
                }
            }
            if let Some(part) = parts.largest(i) {
                body.damping_rate = part.damping_rate;
                body.frequency = (part.frequency > 0.0).then_some(part.frequency);
            }
        }
        parts
    }

    /// The homes of all nodes, with bones as they stand at rest.
    fn lay_out_homes(&mut self, rest_frames: &[Frame], is_free: impl Fn(usize) -> bool) -> Homes {
        let mut homes = Homes::build(
            core::mem::take(&mut self.homes),
            (&self.node_rest, &self.node_mass),
            rest_frames.len(),
            &is_free,
            |bone, x| rest_frames[bone].point_back(x),
        );
        let stiffness = blend_stiffness(&homes, &self.elements, &self.node_rest, is_free);
        homes.set_stiffness(&stiffness);
        homes
    }

    /// What a rig needs to know of the flesh on it.
    fn fit_to_flesh(&self, rig: &mut Rig, fixed_nodes: &FixedNodes, (homes, lockable): (&Homes, &[bool])) {
        self.limit_drag(rig, fixed_nodes);
        let has_home = |node: usize| {
            homes.bodies.iter().any(|body| body.bones == rig.bones && body.nodes.contains(&node))
        };
        let hangs_here = |node: usize| rig.bones.contains(&(fixed_nodes.node_reference[node] as usize));
        let is_lockable = |node: usize| lockable.get(node).is_some_and(|own| *own);
        let borne = |node: &usize| has_home(*node) || (is_lockable(*node) && hangs_here(*node));
        let borne: Vec<usize> = (0..self.node_mass.len()).filter(borne).collect();
        self.strengthen_cores(rig, &borne);
    }

    /// The nodes of flesh that is stopped before it passes through itself: that of bodies that collide with themselves; empty without any.
    fn find_lockable(&self, world: &WorldDesc) -> Vec<bool> {
        let mut lockable = Vec::new();
        for body in &self.bodies {
            if matches!(body.kind, BodyKind::Tets) && world.contact.self_contact.contains(&body.name) {
                lockable.resize(self.node_mass.len(), false);
                lockable[body.nodes.clone()].fill(true);
            }
        }
        lockable
    }

    /// Limits how much damping may take from the motion of nodes against the bones of a rig.
    fn limit_drag(&self, rig: &mut Rig, fixed_nodes: &FixedNodes) {
        let first = rig.bones.start;
        let own = |node: &u32| (self.node_mass[*node as usize], self.node_rest[*node as usize]);
        rig.limit_drag(|bone| fixed_nodes.dragged_by(first, bone).iter().map(own).collect());
    }

    /// Gives the bones of a rig cores that bear the weight of flesh on it.
    fn strengthen_cores(&self, rig: &mut Rig, nodes: &[usize]) {
        let nodes = || nodes.iter().copied();
        let mass = nodes().map(|node| self.node_mass[node]).sum::<f64>() + rig.bone_mass;
        let bounds =
            nodes().map(|node| self.node_rest[node]).fold(None, |bounds: Option<(Vec3, Vec3)>, x| {
                Some(bounds.map_or((x, x), |(low, high)| (low.inf(&x), high.sup(&x))))
            });
        if let Some((low, high)) = bounds {
            rig.cores.strengthen(mass, (high - low).amax());
        }
    }

    /// Limbs that keep apart: those of bodies with self-contact, and of different bodies that may be in contact.
    fn find_limb_shapes(
        &self,
        world: &WorldDesc,
        rest_frames: &[Frame],
        (rigs, fixed_nodes, homes): (&[Rig], &FixedNodes, &Homes),
    ) -> LimbShapes {
        let has_self_contact = |body: usize| world.contact.self_contact.contains(&self.bodies[body].name);
        let collide =
            |a: usize, b: usize| if a == b { has_self_contact(a) } else { world.contact.between_bodies };
        let is_met = |body: usize| (0..self.bodies.len()).any(|other| collide(body, other));
        let tied = |body: &usize| {
            let nodes = self.bodies[*body].nodes.clone();
            nodes.clone().any(|node| fixed_nodes.node_reference[node] > 0) && !homes.holds(nodes.start)
        };
        let is_flesh = |body: &usize| matches!(self.bodies[*body].kind, BodyKind::Tets);
        let all = (0..self.bodies.len()).filter(|body| is_met(*body));
        let tied: Vec<usize> = all.filter(is_flesh).filter(tied).collect();

        // the weights of bones: those of homes, or automatic ones
        let of_part = |part: &HomePart| (part.bone, part.weight);
        let mut limbs: Vec<LimbBody> = Vec::new();
        for home in &homes.bodies {
            let node_weights =
                home.nodes.clone().map(|node| homes.of_node(node).iter().map(of_part).collect());
            let (body, bones) = (home.body, home.bones.clone());
            limbs.push(LimbBody { body, bones, node_weights: node_weights.collect(), has_home: true });
        }
        if !tied.is_empty() {
            let tets: Vec<[u32; 4]> = self.elements.iter().map(|element| element.nodes).collect();
            let weights = fixed_nodes.blended_weights(&tets);
            for body in tied {
                let nodes = self.bodies[body].nodes.clone();
                let bone = nodes.clone().map(|node| fixed_nodes.node_reference[node] as usize).max();
                let rig = rigs.iter().find(|rig| bone.is_some_and(|bone| rig.bones.contains(&bone)));
                let Some(rig) = rig else { continue };
                let (bones, node_weights) = (rig.bones.clone(), weights[nodes].to_vec());
                limbs.push(LimbBody { body, bones, node_weights, has_home: false });
            }
        }
        let flesh = LimbFlesh { bodies: &self.bodies, limbs: &limbs, rest_frames };
        LimbShapes::build(&flesh, &self.node_mass, collide)
    }

    /// The inverse masses of nodes (1/kg); 0 for those of pins.
    fn unpinned_inverse_mass(&self) -> Vec<f64> {
        let mut inverse_mass: Vec<f64> = self.node_mass.iter().map(|m| 1.0 / m).collect();
        self.pins.iter().flat_map(|pin| &pin.nodes).for_each(|node| inverse_mass[*node as usize] = 0.0);
        inverse_mass
    }

    fn assemble(mut self, world: &WorldDesc, mut rigs: Vec<Rig>, kept: Option<&Model>) -> Model {
        // which nodes are free
        let mut node_inverse_mass = self.unpinned_inverse_mass();
        // Nodes fixed to bones count as free for the stability limit. Bones only constrain their nodes and add mass, and by Rayleigh's principle neither
        // raises the highest frequency: the limit holds for any mass of the bones and any joint drive. Damping is limited separately.
        let loose_inverse_mass = node_inverse_mass.clone();
        self.reduced_nodes.iter().for_each(|nodes| node_inverse_mass[nodes.clone()].fill(0.0));
        self.ties.iter().for_each(|(node, _, _)| node_inverse_mass[*node as usize] = 0.0);
        let is_free = |node: usize| node_inverse_mass[node] > 0.0;
        let fixed_nodes = FixedNodes::build(
            rigs.last().map_or(1, |rig| rig.bones.end),
            core::mem::take(&mut self.node_reference),
            core::mem::take(&mut self.ties),
            |node| is_free(node) && !self.homes.iter().any(|own| own.nodes().contains(&node)),
        );
        let rest_frames = rest_frames(&rigs);
        let homes = self.lay_out_homes(&rest_frames, is_free);

        // rest shapes and gravity compensation
        let drawn = Drawn {
            gravity: &world.gravity,
            node_x: &self.node_rest,
            node_mass: &self.node_mass,
            node_inverse_mass: &node_inverse_mass,
            elements: &self.elements,
            fixed_nodes: &fixed_nodes,
            rigs: &rigs,
        };
        let Support { node_unstressed, node_lift } = find_support(&drawn, kept, &mut self.bodies);

        // stability limit, with damping and contact
        let stable_step = self.find_step(&loose_inverse_mass, &node_unstressed, kept);
        let lockable_nodes = self.find_lockable(world);
        rigs.iter_mut().for_each(|rig| self.fit_to_flesh(rig, &fixed_nodes, (&homes, &lockable_nodes)));
        let stable_step = contact_step(world, stable_step);
        let contact_surface = self.find_contact_surface(world, default_step(world, &stable_step), kept);

        // the model
        let mut model = Model {
            lockable_nodes,
            limb_shapes: self.find_limb_shapes(world, &rest_frames, (&rigs, &fixed_nodes, &homes)),
            rest_balance: 0.0,
            constraints: Vec::new(),
            metaphors: Vec::new(),
            muscles: Arc::default(),
            obstacles: obstacles(world, &self.bodies, contact_surface.count()),
            contact_surface,
            parts: self.find_parts(&fixed_nodes, &node_inverse_mass, &node_unstressed),
            fixed_nodes,
            homes,
            rest_rotations: rest_frames.iter().map(|frame| frame.rotation).collect(),
            rigs,
            stable_step,
            elements: Elements::build(&node_unstressed, &self.elements),
            node_unstressed,
            node_lift,
            tets: self.elements.iter().map(|element| element.nodes).collect(),
            gravity: world.gravity,
            home_gravity: kept.map_or(world.gravity, |kept| kept.home_gravity),
            bodies: self.bodies,
            node_rest: self.node_rest,
            node_start_v: self.node_start_v,
            node_mass: self.node_mass,
            node_inverse_mass,
            pins: self.pins,
            loads: self.loads,
            body_start: self.body_start,
            reduced_nodes: self.reduced_nodes,
            unheld: Unheld::default(),
            id: ModelId::default(),
            own_numbers: None,
            has_step_damping: false,
        };

        // reference level of the potential energy
        let frame = |bone: usize| (rest_frames[bone].rotation, rest_frames[bone].origin);
        model.rest_balance = model.balance_energy(&model.node_rest, frame);
        model
    }
}

impl Parts {
    /// The contact surface for a time step (s); that of a revised model, unless masses or contact parameters differ.
    fn find_contact_surface(&self, world: &WorldDesc, step: f64, kept: Option<&Model>) -> ContactSurface {
        let same =
            |kept: &&Model| kept.node_mass == self.node_mass && kept.contact_surface.desc == world.contact;
        match kept.filter(same) {
            Some(kept) => kept.contact_surface.revised(world, &self.bodies, step),
            None => ContactSurface::build(world, &self.bodies, (&self.node_rest, &self.node_mass), step),
        }
    }
}

/// Sag prevention of a model; that of a revised one is that of the model before.
fn find_support(drawn: &Drawn, kept: Option<&Model>, bodies: &mut [Body]) -> Support {
    let Some(kept) = kept else { return drawn.support(bodies) };
    for (body, before) in bodies.iter_mut().zip(&kept.bodies) {
        body.rest_shape = before.rest_shape;
        body.notes.clone_from(&before.notes);
    }
    Support { node_unstressed: kept.node_unstressed.clone(), node_lift: kept.node_lift.clone() }
}

/// Rest poses of the bones of all rigs, the world first.
fn rest_frames(rigs: &[Rig]) -> Vec<Frame> {
    let bones = rigs.iter().flat_map(|rig| &rig.rest_frames).copied();
    core::iter::once(Frame::default()).chain(bones).collect()
}

/// The step limit of a world with contact: short enough that slow bodies do not sink in, and that stiffer contact springs are stable.
fn contact_step(world: &WorldDesc, mut step: StableStep) -> StableStep {
    let contact = &world.contact;
    if world.obstacles.is_empty() && contact.self_contact.is_empty() && world.bodies.len() < 2 {
        return step;
    }
    if world.obstacles.is_empty() && contact.self_contact.is_empty() && !contact.between_bodies {
        return step;
    }
    step.seconds = step.seconds.min(contact.longest_step) / stiffest(world).sqrt();
    step
}

/// The largest stiffness factor of any contact, at least 1.
fn stiffest(world: &WorldDesc) -> f64 {
    (world.contact.stiffness * PairMaterials::max_stiffness(world)).max(1.0)
}

/// The step for which the default contact stiffness is computed (s).
fn default_step(world: &WorldDesc, step: &StableStep) -> f64 {
    (step.seconds * stiffest(world).sqrt()).min(world.contact.longest_step)
}

/// The obstacles of a world; planes are drawn at a multiple of the size of the bodies.
fn obstacles(world: &WorldDesc, bodies: &[Body], point_count: usize) -> Vec<Obstacle> {
    let size = |body: &Body| body.surface.bounds().map_or(0.0, |(low, high)| (high - low).amax());
    let reach = 4.0 * bodies.iter().map(size).fold(0.0, f64::max);
    Obstacle::build_all(&world.obstacles, world.contact.friction, point_count as u32, reach)
}

fn nothing_there(what: &str, index: usize, does: &str, shape: &Shape) -> String {
    let (low, high) = shape.surface.bounds().unwrap_or_default();
    format!(
        "{what} {} {does} nothing: no point of the body is in its region; the body reaches from {:.4?} to {:.4?} m",
        index + 1,
        low.as_slice(),
        high.as_slice()
    )
}

//! All that never changes during a run, checked once.

use crate::StableStep;
use crate::body::{Body, Shape, damping_rate};
use crate::desc::{BodyDesc, LoadDesc, PinDesc, WorldDesc};
use core::fmt;
use sinew_flesh::{ElementDesc, Elements};
use sinew_math::Vec3;

/// A world ready to be stepped: flat arrays over the nodes of all bodies.
#[derive(Clone, Debug)]
pub struct Model {
    /// Acceleration of free fall (m/s²).
    pub gravity: Vec3,
    /// The bodies, each a range of the nodes.
    pub bodies: Vec<Body>,
    /// Node positions at rest (m).
    pub node_rest: Vec<Vec3>,
    /// Node velocities at the start (m/s).
    pub node_start_v: Vec<Vec3>,
    /// Node masses (kg).
    pub node_mass: Vec<f64>,
    /// 1 / mass of free nodes, 0 for pinned ones (1/kg).
    pub node_inverse_mass: Vec<f64>,
    /// Four node indices per tet.
    pub tets: Vec<[u32; 4]>,
    /// The elastic elements, one per tet.
    pub elements: Elements,
    /// What is held.
    pub pins: Vec<Pin>,
    /// What pushes.
    pub loads: Vec<Load>,
    /// The time step that explicit stepping may take.
    pub stable_step: StableStep,
}

/// Nodes that move rigidly together.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Whose nodes: an index into [`Model::bodies`].
    pub body: usize,
    /// The nodes that are held.
    pub nodes: Vec<u32>,
    /// Their middle at rest (m): the point about which the pin turns during a step.
    pub center: Vec3,
}

/// A constant force, carried to nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Whose nodes: an index into [`Model::bodies`].
    pub body: usize,
    /// The force on each node (N).
    pub node_forces: Vec<(u32, Vec3)>,
}

/// Something about a world that no model can be built from.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The body it is about; empty for the world itself.
    pub body: String,
    /// What is wrong, how much, and what to do.
    pub what: String,
}

/// All faults of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildError {
    /// Everything that was found, not only the first.
    pub faults: Vec<Fault>,
}

impl Fault {
    pub(crate) fn new(body: &str, what: impl Into<String>) -> Fault {
        Fault { body: body.into(), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.body.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "body '{}': {}", self.body, self.what)
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl core::error::Error for BuildError {}

impl Model {
    /// Checks a world and builds it. Either all is well, or all faults are reported together.
    pub fn build(world: &WorldDesc) -> Result<Model, BuildError> {
        let mut faults = world_faults(world);
        let mut shapes = Vec::new();
        for desc in &world.bodies {
            let numbers = body_faults(desc);
            if !numbers.is_empty() {
                faults.extend(numbers);
                continue;
            }
            match Shape::build(desc) {
                Ok(shape) => shapes.push(shape),
                Err(found) => faults.extend(found),
            }
        }
        if !faults.is_empty() {
            return Err(BuildError { faults });
        }

        let mut parts = Parts::default();
        for (desc, shape) in world.bodies.iter().zip(shapes) {
            parts.add(desc, shape);
        }
        if !parts.faults.is_empty() {
            return Err(BuildError { faults: parts.faults });
        }
        Ok(parts.assemble(world.gravity))
    }

    /// How many nodes all bodies have.
    pub fn node_count(&self) -> usize {
        self.node_rest.len()
    }

    /// The body that owns a node.
    pub fn body_of_node(&self, node: usize) -> &Body {
        self.bodies.iter().find(|body| body.nodes.contains(&node)).expect("every node belongs to a body")
    }
}

fn world_faults(world: &WorldDesc) -> Vec<Fault> {
    let mut faults = Vec::new();
    if world.bodies.is_empty() {
        faults.push(Fault::new("", "the world holds no body: add one"));
    }
    if !world.gravity.iter().all(|g| g.is_finite()) {
        faults.push(Fault::new("", format!("gravity {:?} m/s² is not finite", world.gravity.as_slice())));
    }
    for (i, body) in world.bodies.iter().enumerate() {
        if world.bodies[..i].iter().any(|other| other.name == body.name) {
            faults.push(Fault::new(&body.name, "two bodies have this name: rename one"));
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
    pins: Vec<Pin>,
    loads: Vec<Load>,
    faults: Vec<Fault>,
}

impl Parts {
    fn add(&mut self, desc: &BodyDesc, shape: Shape) {
        let (first_node, first_tet) = (self.node_rest.len(), self.elements.len());
        for (i, pin) in desc.pins.iter().enumerate() {
            self.add_pin(desc, &shape, pin, i, first_node);
        }
        for (i, load) in desc.loads.iter().enumerate() {
            self.add_load(desc, &shape, load, i, first_node);
        }
        self.elements.extend(shape.mesh.tets.iter().zip(&shape.fill).map(|(tet, &fill)| ElementDesc {
            nodes: tet.map(|n| n + first_node as u32),
            material: desc.material,
            fill,
            viscosity: 0.0,
        }));
        let (mass, volume) = (shape.node_mass(desc.material.density), shape.volume());
        self.node_mass.extend(&mass);
        self.node_start_v.resize(first_node + mass.len(), desc.velocity);
        self.node_rest.extend(shape.mesh.nodes);
        self.bodies.push(Body {
            name: desc.name.clone(),
            nodes: first_node..self.node_rest.len(),
            tets: first_tet..self.elements.len(),
            damping_rate: damping_rate(&desc.material, &shape.surface),
            surface: shape.surface,
            embedding: shape.embedding,
            material: desc.material,
            mass: mass.iter().sum(),
            volume,
            notes: shape.notes,
        });
    }

    /// Pins the nodes in the region, or where the cage is too coarse to have any there, the nodes that carry the surface in it.
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
        // a node moves with the first pin that holds it
        nodes.retain(|node| !self.pins.iter().any(|pin| pin.nodes.contains(node)));
        self.pins.push(Pin { body: self.bodies.len(), nodes, center });
    }

    /// Shares the force among the surface vertices in the region and carries it to the nodes.   [KimPollard2011, eq. 13]
    fn add_load(&mut self, desc: &BodyDesc, shape: &Shape, load: &LoadDesc, index: usize, first_node: usize) {
        let vertices = load.region.select(&shape.surface.vertices, &shape.surface.vertices);
        if vertices.is_empty() {
            self.faults.push(Fault::new(&desc.name, nothing_there("load", index, "pushes on", shape)));
            return;
        }
        let mut vertex_force = vec![Vec3::zeros(); shape.surface.vertices.len()];
        for &vertex in &vertices {
            vertex_force[vertex as usize] = load.force / vertices.len() as f64;
        }
        let mut node_force = vec![Vec3::zeros(); shape.mesh.nodes.len()];
        shape.embedding.forces_back(&vertex_force, &mut node_force);
        let node_forces = node_force
            .iter()
            .enumerate()
            .filter(|(_, force)| **force != Vec3::zeros())
            .map(|(node, force)| ((first_node + node) as u32, *force))
            .collect();
        self.loads.push(Load { body: self.bodies.len(), node_forces });
    }

    fn assemble(mut self, gravity: Vec3) -> Model {
        let mut node_inverse_mass: Vec<f64> = self.node_mass.iter().map(|m| 1.0 / m).collect();
        for &node in self.pins.iter().flat_map(|pin| &pin.nodes) {
            node_inverse_mass[node as usize] = 0.0;
        }
        let mut stable_step = StableStep::UNLIMITED;
        for body in &self.bodies {
            let elements = &mut self.elements[body.tets.clone()];
            let step = StableStep::find(&self.node_rest, &node_inverse_mass, body.nodes.start, elements);
            elements.iter_mut().for_each(|element| element.viscosity = step.viscosity);
            stable_step = stable_step.and(step);
        }
        Model {
            stable_step,
            elements: Elements::build(&self.node_rest, &self.elements),
            tets: self.elements.iter().map(|element| element.nodes).collect(),
            gravity,
            bodies: self.bodies,
            node_rest: self.node_rest,
            node_start_v: self.node_start_v,
            node_mass: self.node_mass,
            node_inverse_mass,
            pins: self.pins,
            loads: self.loads,
        }
    }
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

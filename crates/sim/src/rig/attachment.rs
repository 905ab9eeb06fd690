//! Attachment of flesh to bones: which nodes of a body are fixed to which bones of its rig.
//!
//! Ties choose nodes by the shapes of bones. Where skinning weights are painted, a bone claims a node in its shape only if the flesh around
//! the node follows it: a control bone that passes through a foot holds nothing of it.

use super::RestRig;
use crate::body::Shape;
use crate::bone_weights::NodeWeights;
use crate::desc::{AttachmentDesc, BodyDesc, CoreDesc, Hold, TieDesc};
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::NodeNeighbours;

/// The nodes of a body that are fixed to bones, and geodesic distances of the others from them.
pub(crate) struct Attachment {
    /// For each node the bone it is fixed to.
    pub(crate) fixed: Vec<Option<usize>>,
    /// For each node the bone of the nearest fixed node.
    pub(crate) reference: Vec<usize>,
    /// For each node the distance from the nearest fixed node along mesh edges (m).
    pub(crate) distance: Vec<f64>,
    /// The largest of these distances (m).
    pub(crate) thickness: f64,
    /// Notes about automatic corrections.
    pub(crate) notes: Vec<String>,
}

/// A bone claims nodes in its shape where it has at least this painted weight: where the flesh follows it more than all others together.
const FOLLOWED: f64 = 0.5;
/// A part in no bone's shape is fixed where a weight is at least this fraction of the largest one in it.
const NEARLY_HEAVIEST: f64 = 0.9;
/// Sweeps over the painted weights of nodes inside: flesh is some four to eight edges thick.
const SWEEPS: usize = 8;
/// Smaller painted weights do not count.
const SMALLEST: f64 = 1e-3;
/// Nodes no farther than this from an axis lie on it, and cannot keep flesh from rolling, as a fraction of the longest cage edge.
const ON_AXIS: f64 = 0.2;

/// A body and the rig it hangs on, while nodes are chosen.
struct HangingBody<'a> {
    desc: &'a AttachmentDesc,
    rig: &'a RestRig<'a>,
    shape: &'a Shape,
    /// Nodes that pins hold: they stay theirs.
    held: &'a [bool],
    neighbours: NodeNeighbours,
    /// The longest edge of its tets (m).
    edge: f64,
    /// Painted weights at nodes; `None` without paint.
    paint: Option<NodeWeights>,
}

impl HangingBody<'_> {
    /// Whether the flesh around a node follows a bone; without paint it does.
    fn follows(&self, node: usize, bone: usize) -> bool {
        self.paint.as_ref().is_none_or(|paint| paint.weight(node, bone) >= FOLLOWED)
    }
}

impl Attachment {
    /// Chooses the fixed nodes of a body. `held` are the pinned nodes, which stay with their pins.
    ///
    /// # Errors
    /// All faults of the description, one sentence each.
    pub(crate) fn choose(
        desc: &AttachmentDesc,
        rig: &RestRig,
        shape: &Shape,
        held: &[bool],
    ) -> Result<Attachment, Vec<String>> {
        // what is asked for
        let faults = find_faults(desc, rig, shape);
        if !faults.is_empty() {
            return Err(faults);
        }

        // the nodes that ties take, by their paint if that leaves any
        let neighbours = NodeNeighbours::build(shape.mesh.nodes.len(), &shape.mesh.tets);
        let paint = (!desc.skin_weights.is_empty()).then(|| painted_nodes(desc, rig, shape, &neighbours));
        let mut body = HangingBody { desc, rig, shape, held, neighbours, edge: longest_edge(shape), paint };
        let mut attachment = Attachment::of_ties(&body);
        if attachment.is_empty() && body.paint.take().is_some() {
            attachment = Attachment::of_ties(&body);
            attachment.notes.push(
                "inside no bone does the flesh follow that bone by half of its weight: nodes are fixed there whatever their weights".into(),
            );
        }
        if attachment.is_empty() {
            return Err(vec![format!(
                "none of its {} nodes is fixed to a bone of '{}': give bones shapes that lie in the flesh, or choose nodes by hand",
                shape.mesh.nodes.len(),
                desc.rig
            )]);
        }

        // and what they carry
        if body.paint.is_some() {
            (0..rig.bone_count()).for_each(|bone| attachment.keep_from_rolling(&body, bone));
        }
        attachment.spread(&body);
        Ok(attachment)
    }

    /// The nodes that lie on the middles of bones, and those that ties take.
    fn of_ties(body: &HangingBody) -> Attachment {
        let node_count = body.shape.mesh.nodes.len();
        let mut attachment = Attachment {
            fixed: vec![None; node_count],
            reference: vec![0; node_count],
            distance: Vec::new(),
            thickness: 0.0,
            notes: Vec::new(),
        };
        for ((bone, _), node) in body.rig.samples().zip(&body.shape.anchor_nodes) {
            let node = node.map(|node| node as usize);
            if let Some(node) = node.filter(|node| !body.held[*node] && body.follows(*node, bone)) {
                attachment.fixed[node].get_or_insert(bone);
            }
        }
        for tie in &body.desc.ties {
            attachment.take(body, tie);
        }
        attachment
    }

    fn is_empty(&self) -> bool {
        self.fixed.iter().all(Option::is_none)
    }

    /// The material of an element: the body's material, stiffened near bones.
    pub(crate) fn material(&self, desc: &BodyDesc, tet: &[u32; 4]) -> Material {
        let core = desc.attachment.as_ref().map_or(CoreDesc::EVEN, |attachment| attachment.core);
        let mean =
            tet.iter().map(|&node| self.distance[node as usize].min(self.thickness)).sum::<f64>() / 4.0;
        let fraction = if self.thickness > 0.0 { mean / self.thickness } else { 0.0 };
        Material { young: desc.material.young * core.factor(fraction), ..desc.material }
    }

    fn take(&mut self, body: &HangingBody, tie: &TieDesc) {
        let bones: Vec<usize> = match &tie.bone {
            Some(name) => body.rig.find_bone(name).into_iter().collect(),
            None => (0..body.rig.bone_count()).collect(),
        };
        // a node goes to the nearest of the bones that claim it
        let mut claims: Vec<Option<(f64, usize)>> = vec![None; self.fixed.len()];
        for &bone in &bones {
            for (node, distance) in claimed(body, &tie.hold, bone) {
                let claim = &mut claims[node];
                if claim.is_none_or(|(nearest, _)| distance < nearest) {
                    *claim = Some((distance, bone));
                }
            }
        }
        for (node, claim) in claims.iter().enumerate() {
            if let (Some((_, bone)), None, false) = (claim, self.fixed[node], body.held[node]) {
                self.fixed[node] = Some(*bone);
            }
        }
        if let Hold::Inside { .. } = tie.hold {
            self.take_nearest(body, &bones);
        }
    }

    /// Assigns to bones without a node the ones nearest to their axis, within one cage edge.
    fn take_nearest(&mut self, body: &HangingBody, bones: &[usize]) {
        let (rig, nodes) = (body.rig, &body.shape.mesh.nodes);
        let reach = body.edge;
        let mut thin = Vec::new();
        for &bone in bones {
            if rig.shape(bone).is_none() || self.fixed.contains(&Some(bone)) {
                continue;
            }
            for sample in rig.samples_of(bone) {
                let near = |&node: &usize| (nodes[node] - sample).norm();
                let is_free = |&node: &usize| {
                    self.fixed[node].is_none() && !body.held[node] && body.follows(node, bone)
                };
                let free = (0..nodes.len()).filter(is_free);
                let nearest = free.min_by(|a, b| near(a).total_cmp(&near(b)));
                if let Some(node) = nearest.filter(|node| near(node) <= reach) {
                    self.fixed[node] = Some(bone);
                }
            }
            if self.fixed.contains(&Some(bone)) {
                thin.push(rig.bone_name(bone));
            }
        }
        if !thin.is_empty() {
            self.notes.push(format!(
                "the cage is too coarse to have a node inside {}: the nodes nearest to them are used instead",
                some_of(&thin)
            ));
        }
    }

    /// Gives a bone whose nodes all lie on one line two more, one to each side of it, so that its flesh cannot roll about that line.
    fn keep_from_rolling(&mut self, body: &HangingBody, bone: usize) {
        let nodes = &body.shape.mesh.nodes;
        let own: Vec<Vec3> =
            (0..nodes.len()).filter(|&node| self.fixed[node] == Some(bone)).map(|node| nodes[node]).collect();
        if own.is_empty() {
            return;
        }

        // the line through its nodes
        let middle = own.iter().sum::<Vec3>() / own.len() as f64;
        let farthest = own.iter().map(|x| x - middle).max_by(|a, b| a.norm().total_cmp(&b.norm()));
        let axis = farthest.and_then(|d| d.try_normalize(1e-12)).unwrap_or_default();
        let aside = |x: &Vec3| (x - middle) - axis * axis.dot(&(x - middle));
        let off = ON_AXIS * body.edge;
        if own.iter().any(|x| aside(x).norm() > off) {
            return;
        }

        // the nearest nodes beside it that follow the bone
        let mut beside: Vec<usize> = (0..nodes.len())
            .filter(|&node| self.fixed[node].is_none() && !body.held[node] && body.follows(node, bone))
            .filter(|&node| aside(&nodes[node]).norm() > off)
            .collect();
        let far = |node: &usize| (nodes[*node] - middle).norm();
        beside.sort_by(|a, b| far(a).total_cmp(&far(b)));
        let Some(&first) = beside.first() else { return };
        let opposite = beside.iter().find(|node| aside(&nodes[**node]).dot(&aside(&nodes[first])) < 0.0);
        for node in [Some(first), opposite.copied()].into_iter().flatten() {
            self.fixed[node] = Some(bone);
        }
    }

    /// Finds the nearest fixed node of every node along mesh edges, by Dijkstra's algorithm. A disconnected part without fixed nodes is fixed to
    /// the bones it is painted to, or rigidly to the nearest one.
    fn spread(&mut self, body: &HangingBody) {
        let nodes = &body.shape.mesh.nodes;
        loop {
            // fixed nodes are the sources
            let mut distance = vec![f64::INFINITY; nodes.len()];
            let mut queue = std::collections::BinaryHeap::new();
            for (node, fixed) in self.fixed.iter().enumerate() {
                if let Some(bone) = fixed {
                    distance[node] = 0.0;
                    self.reference[node] = *bone;
                    queue.push(Reached { distance: 0.0, node });
                }
            }

            // Dijkstra's algorithm
            while let Some(Reached { distance: reached, node }) = queue.pop() {
                if reached > distance[node] {
                    continue;
                }
                for &next in body.neighbours.of_node(node) {
                    let there = reached + (nodes[next as usize] - nodes[node]).norm();
                    if there < distance[next as usize] {
                        distance[next as usize] = there;
                        self.reference[next as usize] = self.reference[node];
                        queue.push(Reached { distance: there, node: next as usize });
                    }
                }
            }
            let Some(lost) = (0..nodes.len()).find(|&node| distance[node].is_infinite() && !body.held[node])
            else {
                let reached = distance.iter().copied().filter(|d| d.is_finite());
                self.thickness = reached.fold(0.0, f64::max);
                self.distance = distance;
                return;
            };
            self.carry(body, lost);
        }
    }

    /// Fixes a disconnected part: where its weights are near their largest to the bones they belong to, or as a whole to the bone nearest to its
    /// middle.
    fn carry(&mut self, body: &HangingBody, start: usize) {
        let nodes = &body.shape.mesh.nodes;
        let part = connected(body, start);
        let middle = part.iter().map(|&node| nodes[node]).sum::<Vec3>() / part.len() as f64;
        let heaviest = |node: usize| body.paint.as_ref().and_then(|paint| paint.heaviest(node));
        let is_free = |node: &&usize| !body.held[**node];
        let largest =
            part.iter().filter(is_free).filter_map(|&node| heaviest(node)).map(|(_, weight)| weight);
        let largest = largest.fold(0.0, f64::max);
        let nearest = nearest_bone(body.rig, &middle);
        let mut bones = Vec::new();
        for &node in part.iter().filter(is_free) {
            let painted = heaviest(node).filter(|(_, weight)| *weight >= NEARLY_HEAVIEST * largest);
            let bone = if largest > 0.0 { painted.map(|(bone, _)| bone) } else { Some(nearest) };
            self.fixed[node] = bone;
            bones.extend(bone);
        }
        bones.sort_unstable();
        bones.dedup();
        let names: Vec<&str> = bones.iter().map(|&bone| body.rig.bone_name(bone)).collect();
        let how = if largest > 0.0 { "where their weight is largest" } else { "rigidly" };
        self.notes.push(format!(
            "a part of {} nodes near ({:.3}, {:.3}, {:.3}) m is connected to no bone: {} carries it {how}",
            part.len(),
            middle.x,
            middle.y,
            middle.z,
            some_of(&names)
        ));
    }
}

/// Painted weights at all nodes: those of the surface that a node carries, and harmonic ones inside.
fn painted_nodes(
    desc: &AttachmentDesc,
    rig: &RestRig,
    shape: &Shape,
    neighbours: &NodeNeighbours,
) -> NodeWeights {
    let painted = rig.painted(&desc.skin_weights);
    let mut weights = NodeWeights::of_surface(&shape.embedding, &painted, SMALLEST);
    let inside = weights.fill(neighbours);
    weights.relax(neighbours, &inside, SWEEPS);
    weights
}

/// All nodes that hang together with one.
fn connected(body: &HangingBody, start: usize) -> Vec<usize> {
    let mut part = vec![start];
    let mut seen = vec![false; body.shape.mesh.nodes.len()];
    seen[start] = true;
    let mut next = 0;
    while next < part.len() {
        for &other in body.neighbours.of_node(part[next]) {
            if !core::mem::replace(&mut seen[other as usize], true) {
                part.push(other as usize);
            }
        }
        next += 1;
    }
    part
}

/// The nodes that a tie assigns to a bone, each with its distance from the bone (m).
fn claimed(body: &HangingBody, hold: &Hold, bone: usize) -> Vec<(usize, f64)> {
    let HangingBody { desc, rig, shape, .. } = *body;
    let nodes = &shape.mesh.nodes;
    let in_bone = |node: usize| rig.point_in_bone(bone, &nodes[node]);
    let followers = || (0..nodes.len()).filter(|&node| body.follows(node, bone));
    let solid = rig.shape(bone);
    match hold {
        // by distance from the bone
        Hold::Inside { margin } => {
            let Some(solid) = solid else { return Vec::new() };
            let far = followers().map(|node| (node, solid.signed(&in_bone(node))));
            far.filter(|(_, distance)| distance <= margin).collect()
        }
        Hold::Near { distance } => {
            let Some(solid) = solid else { return Vec::new() };
            let far = followers().map(|node| (node, solid.to_middle(&in_bone(node))));
            far.filter(|(_, found)| found <= distance).collect()
        }

        // by skin weights: a larger weight counts as a smaller distance
        Hold::Painted { least } => {
            let painted = (0..nodes.len()).map(|node| (node, node_weight(desc, rig, shape, bone, node)));
            painted.filter(|(_, weight)| weight >= least).map(|(node, weight)| (node, -weight)).collect()
        }

        // by explicit choice
        Hold::Region(region) => region
            .select(nodes, &shape.surface.vertices)
            .into_iter()
            .map(|node| (node as usize, 0.0))
            .collect(),
        Hold::Nodes(chosen) => chosen.iter().map(|&node| (node as usize, 0.0)).collect(),
    }
}

/// The mean weight of a bone over the surface that a node carries; 0 if it carries none.
fn node_weight(desc: &AttachmentDesc, rig: &RestRig, shape: &Shape, bone: usize, node: usize) -> f64 {
    let of_vertex = |vertex: usize| {
        let own = desc.skin_weights[vertex].iter();
        let own = own.filter(|(place, _)| rig.bone_of_desc(*place as usize) == Some(bone));
        own.map(|(_, weight)| f64::from(*weight)).sum()
    };
    shape.embedding.mean_at_node(node, of_vertex).unwrap_or(0.0)
}

fn nearest_bone(rig: &RestRig, point: &Vec3) -> usize {
    let distance = |bone: &usize| match rig.shape(*bone) {
        Some(solid) => solid.signed(&rig.point_in_bone(*bone, point)),
        None => rig.point_in_bone(*bone, point).norm(),
    };
    (0..rig.bone_count()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

fn find_faults(desc: &AttachmentDesc, rig: &RestRig, shape: &Shape) -> Vec<String> {
    let mut faults = Vec::new();

    // the attachment as a whole
    let painted = desc.skin_weights.len();
    if painted > 0 && painted != shape.surface.vertices.len() {
        let vertices = shape.surface.vertices.len();
        faults.push(format!("skin weights are given for {painted} vertices, but the surface has {vertices}"));
    }
    let CoreDesc { stiffness, reach } = desc.core;
    if !(stiffness.is_finite() && stiffness > 0.0 && reach.is_finite() && reach > 0.0) {
        faults.push(format!(
            "the core has a stiffness of {stiffness} and a reach of {reach}: both must be above 0"
        ));
    }

    // each tie
    for (i, tie) in desc.ties.iter().enumerate() {
        let mut fault = |what: String| faults.push(format!("tie {}: {what}", i + 1));
        if let Some(name) = tie.bone.as_ref().filter(|name| rig.find_bone(name).is_none()) {
            fault(format!("skeleton '{}' has no bone '{name}'", desc.rig));
        }
        match &tie.hold {
            Hold::Inside { margin } if !margin.is_finite() => {
                fault(format!("its margin {margin} m is not finite"))
            }
            Hold::Near { distance } if !(distance.is_finite() && *distance > 0.0) => {
                fault(format!("its distance {distance} m is not above 0"));
            }
            Hold::Painted { least } if !(*least > 0.0 && *least <= 1.0) => {
                fault(format!("its minimum weight is {least}: it must be above 0 and at most 1"));
            }
            Hold::Painted { .. } if painted == 0 => fault("it needs skin weights, but none are given".into()),
            Hold::Region(region) => {
                if let Some(what) = region.fault() {
                    fault(what);
                }
            }
            Hold::Nodes(nodes) => {
                let count = shape.mesh.nodes.len();
                if let Some(node) = nodes.iter().find(|node| **node as usize >= count) {
                    fault(format!("there is no node {node}: the body has {count}, counted from 0"));
                }
            }
            _ => {}
        }
        let by_hand = matches!(tie.hold, Hold::Region(_) | Hold::Nodes(_));
        if by_hand && tie.bone.is_none() {
            fault("it chooses the same nodes for every bone: name one bone".into());
        }
    }
    faults
}

fn longest_edge(shape: &Shape) -> f64 {
    let nodes = &shape.mesh.nodes;
    let length = |a: u32, b: u32| (nodes[a as usize] - nodes[b as usize]).norm();
    let longest = |tet: &[u32; 4]| {
        let ends = tet.iter().enumerate().flat_map(|(i, &a)| tet[i + 1..].iter().map(move |&b| (a, b)));
        ends.map(|(a, b)| length(a, b)).fold(0.0, f64::max)
    };
    shape.mesh.tets.iter().map(longest).fold(0.0, f64::max)
}

/// Lists a few names and the number of those left out.
fn some_of(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("'{name}'")).collect();
    let more = names.len() - shown.len();
    let rest = if more > 0 { format!(" and {more} more bones") } else { String::new() };
    shown.join(", ") + &rest
}

/// A node in the priority queue; the nearest comes out first, and of two equally near the lower index.
#[derive(PartialEq)]
struct Reached {
    distance: f64,
    node: usize,
}

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        other.distance.total_cmp(&self.distance).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

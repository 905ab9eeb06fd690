//! Attachment of flesh to bones: which nodes of a body are fixed to which bones of its rig.

use super::RestRig;
use crate::body::Shape;
use crate::desc::{AttachmentDesc, BodyDesc, CoreDesc, Hold, TieDesc};
use sinew_flesh::Material;
use sinew_math::Vec3;

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
        let faults = find_faults(desc, rig, shape);
        if !faults.is_empty() {
            return Err(faults);
        }

        // nodes placed on the axes of bones first, then the ties in order
        let mut attachment = Attachment {
            fixed: vec![None; shape.mesh.nodes.len()],
            reference: vec![0; shape.mesh.nodes.len()],
            distance: Vec::new(),
            thickness: 0.0,
            notes: Vec::new(),
        };
        for ((bone, _), node) in rig.samples().zip(&shape.anchor_nodes) {
            if let Some(node) = node.map(|node| node as usize).filter(|node| !held[*node]) {
                attachment.fixed[node].get_or_insert(bone);
            }
        }
        for tie in &desc.ties {
            attachment.take(desc, tie, rig, shape, held);
        }

        // reference bones of all other nodes
        if attachment.fixed.iter().all(Option::is_none) {
            return Err(vec![format!(
                "none of its {} nodes is fixed to a bone of '{}': give bones shapes that lie in the flesh, or choose nodes by hand",
                shape.mesh.nodes.len(),
                desc.rig
            )]);
        }
        attachment.spread(rig, shape, held);
        Ok(attachment)
    }

    /// The material of an element: the body's material, stiffened near bones.
    pub(crate) fn material(&self, desc: &BodyDesc, tet: &[u32; 4]) -> Material {
        let core = desc.attachment.as_ref().map_or(CoreDesc::EVEN, |attachment| attachment.core);
        let mean =
            tet.iter().map(|&node| self.distance[node as usize].min(self.thickness)).sum::<f64>() / 4.0;
        let fraction = if self.thickness > 0.0 { mean / self.thickness } else { 0.0 };
        Material { young: desc.material.young * core.factor(fraction), ..desc.material }
    }

    fn take(&mut self, desc: &AttachmentDesc, tie: &TieDesc, rig: &RestRig, shape: &Shape, held: &[bool]) {
        let bones: Vec<usize> = match &tie.bone {
            Some(name) => rig.find_bone(name).into_iter().collect(),
            None => (0..rig.bone_count()).collect(),
        };
        let nodes = &shape.mesh.nodes;
        // a node goes to the nearest of the bones that claim it
        let mut claims: Vec<Option<(f64, usize)>> = vec![None; nodes.len()];
        for &bone in &bones {
            for (node, distance) in claimed(desc, &tie.hold, rig, shape, bone) {
                let claim = &mut claims[node];
                if claim.is_none_or(|(nearest, _)| distance < nearest) {
                    *claim = Some((distance, bone));
                }
            }
        }
        for (node, claim) in claims.iter().enumerate() {
            if let (Some((_, bone)), None, false) = (claim, self.fixed[node], held[node]) {
                self.fixed[node] = Some(*bone);
            }
        }
        if let Hold::Inside { .. } = tie.hold {
            self.take_nearest(&bones, rig, shape, held);
        }
    }

    /// Assigns to bones without a node the ones nearest to their axis, within one cage edge.
    fn take_nearest(&mut self, bones: &[usize], rig: &RestRig, shape: &Shape, held: &[bool]) {
        let nodes = &shape.mesh.nodes;
        let reach = longest_edge(shape);
        let mut thin = Vec::new();
        for &bone in bones {
            if rig.shape(bone).is_none() || self.fixed.contains(&Some(bone)) {
                continue;
            }
            for sample in rig.samples_of(bone) {
                let near = |&node: &usize| (nodes[node] - sample).norm();
                let free = (0..nodes.len()).filter(|&node| self.fixed[node].is_none() && !held[node]);
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

    /// Finds the nearest fixed node of every node along mesh edges, by Dijkstra's algorithm. A disconnected part without fixed nodes is fixed rigidly to
    /// the nearest bone.
    fn spread(&mut self, rig: &RestRig, shape: &Shape, held: &[bool]) {
        let nodes = &shape.mesh.nodes;
        let neighbours = Neighbours::of(shape);
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
                for &next in neighbours.of_node(node) {
                    let there = reached + (nodes[next as usize] - nodes[node]).norm();
                    if there < distance[next as usize] {
                        distance[next as usize] = there;
                        self.reference[next as usize] = self.reference[node];
                        queue.push(Reached { distance: there, node: next as usize });
                    }
                }
            }

            // repeat as long as a part is not reached
            let Some(lost) = (0..nodes.len()).find(|&node| distance[node].is_infinite() && !held[node])
            else {
                let reached = distance.iter().copied().filter(|d| d.is_finite());
                self.thickness = reached.fold(0.0, f64::max);
                self.distance = distance;
                return;
            };
            self.carry(lost, &neighbours, rig, shape, held);
        }
    }

    /// Fixes a whole disconnected part to the bone nearest to its centroid.
    fn carry(&mut self, start: usize, neighbours: &Neighbours, rig: &RestRig, shape: &Shape, held: &[bool]) {
        let mut part = vec![start];
        let mut seen = vec![false; shape.mesh.nodes.len()];
        seen[start] = true;
        let mut next = 0;
        while next < part.len() {
            for &other in neighbours.of_node(part[next]) {
                if !core::mem::replace(&mut seen[other as usize], true) {
                    part.push(other as usize);
                }
            }
            next += 1;
        }
        let middle = part.iter().map(|&node| shape.mesh.nodes[node]).sum::<Vec3>() / part.len() as f64;
        let bone = nearest_bone(rig, &middle);
        for &node in part.iter().filter(|&&node| !held[node]) {
            self.fixed[node] = Some(bone);
        }
        self.notes.push(format!(
            "a part of {} nodes near ({:.3}, {:.3}, {:.3}) m is connected to no bone: bone '{}' carries it rigidly",
            part.len(),
            middle.x,
            middle.y,
            middle.z,
            rig.bone_name(bone)
        ));
    }
}

/// The nodes that a tie assigns to a bone, each with its distance from the bone (m).
fn claimed(
    desc: &AttachmentDesc,
    hold: &Hold,
    rig: &RestRig,
    shape: &Shape,
    bone: usize,
) -> Vec<(usize, f64)> {
    let nodes = &shape.mesh.nodes;
    let in_bone = |node: usize| rig.point_in_bone(bone, &nodes[node]);
    let solid = rig.shape(bone);
    match hold {
        // by distance from the bone
        Hold::Inside { margin } => {
            let Some(solid) = solid else { return Vec::new() };
            let far = (0..nodes.len()).map(|node| (node, solid.signed(&in_bone(node))));
            far.filter(|(_, distance)| distance <= margin).collect()
        }
        Hold::Near { distance } => {
            let Some(solid) = solid else { return Vec::new() };
            let far = (0..nodes.len()).map(|node| (node, solid.to_middle(&in_bone(node))));
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
    let (mut sum, mut whole) = (0.0, 0.0);
    for (vertex, fraction) in shape.embedding.node(node) {
        let fraction = fraction.max(0.0);
        whole += fraction;
        let own = desc.skin_weights[vertex as usize].iter();
        let own = own.filter(|(place, _)| rig.bone_of_desc(*place as usize) == Some(bone));
        sum += fraction * own.map(|(_, weight)| f64::from(*weight)).sum::<f64>();
    }
    if whole > 0.0 { sum / whole } else { 0.0 }
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

/// Adjacency of nodes: those that share a tet with each node.
struct Neighbours {
    first: Vec<u32>,
    nodes: Vec<u32>,
}

impl Neighbours {
    fn of(shape: &Shape) -> Neighbours {
        let mut pairs: Vec<(u32, u32)> = shape
            .mesh
            .tets
            .iter()
            .flat_map(|tet| {
                tet.iter().flat_map(|&a| tet.iter().filter(move |&&b| b != a).map(move |&b| (a, b)))
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut first = vec![0u32; shape.mesh.nodes.len() + 1];
        pairs.iter().for_each(|(a, _)| first[*a as usize + 1] += 1);
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        Neighbours { first, nodes: pairs.into_iter().map(|(_, b)| b).collect() }
    }

    fn of_node(&self, node: usize) -> &[u32] {
        &self.nodes[self.first[node] as usize..self.first[node + 1] as usize]
    }
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

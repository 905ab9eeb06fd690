//! The homes of the nodes of a model: which bones carry them there, and the springs that hold them.

use super::spring::HomeSpring;
use crate::bone_weights::BoneWeights;
use core::ops::Range;
use sinew_math::Vec3;

/// The homes of all nodes of a model; empty where no body has any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Homes {
    /// For each node the end of its parts, after a leading 0; nodes without a home have none.
    part_ends: Vec<u32>,
    parts: Vec<HomePart>,
    /// The spring of each node; that of nodes without a home does nothing.
    pub(crate) springs: Vec<HomeSpring>,
    /// For each bone, the world first, the end of its nodes, after a leading 0.
    bone_ends: Vec<u32>,
    /// Free nodes with their weights, those of a bone together.
    bone_nodes: Vec<HomeShare>,
    /// The bodies that have homes.
    pub(crate) bodies: Vec<HomeBody>,
}

/// One bone's part in a node's or vertex's home.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HomePart {
    /// The bone, counted among those of all rigs from 1.
    pub(crate) bone: u32,
    pub(crate) weight: f64,
    /// The point at rest in the frame of the bone (m).
    pub(crate) place: Vec3,
    /// What elasticity does against a motion of this bone beside the others (N/m), see `blend_stiffness`; 0 for vertices.
    pub(crate) stiffness: f64,
}

/// A free node whose home a bone carries a part of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HomeShare {
    pub(crate) node: u32,
    pub(crate) weight: f64,
    /// As in [`HomePart`] (N/m).
    pub(crate) stiffness: f64,
}

/// A body whose nodes have homes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HomeBody {
    /// Its index among bodies.
    pub(crate) body: usize,
    pub(crate) nodes: Range<usize>,
    /// The bones of its rig.
    pub(crate) bones: Range<usize>,
    /// The mass that each of them carries (kg).
    pub(crate) bone_mass: Vec<f64>,
    /// The fraction of a change of gravity that it feels.
    pub(crate) gravity_fraction: f64,
    /// For each vertex of its surface the end of its parts in `vertex_parts`, after a leading 0.
    vertex_ends: Vec<u32>,
    vertex_parts: Vec<HomePart>,
}

/// What the homes of one body are built from.
pub(crate) struct HomeParts {
    pub(crate) body: usize,
    pub(crate) first_node: usize,
    pub(crate) bones: Range<usize>,
    /// Per node, bones counted from the first of the rig.
    pub(crate) node_weights: Vec<BoneWeights>,
    pub(crate) springs: Vec<HomeSpring>,
    /// The vertices of its surface at rest (m).
    pub(crate) surface: Vec<Vec3>,
    /// Per vertex of the surface, likewise.
    pub(crate) vertex_weights: Vec<BoneWeights>,
    pub(crate) gravity_fraction: f64,
}

impl HomeParts {
    /// Its nodes among those of the model.
    pub(crate) fn nodes(&self) -> Range<usize> {
        self.first_node..self.first_node + self.node_weights.len()
    }
}

impl Homes {
    /// Lays out the homes of all bodies. `point_in_bone` takes a bone of all rigs and a point at rest (m, world).
    pub(crate) fn build(
        parts: Vec<HomeParts>,
        (node_rest, node_mass): (&[Vec3], &[f64]),
        bone_count: usize,
        is_free: impl Fn(usize) -> bool,
        point_in_bone: impl Fn(usize, &Vec3) -> Vec3,
    ) -> Homes {
        if parts.is_empty() {
            return Homes::default();
        }
        let mut homes = Homes {
            part_ends: vec![0],
            springs: vec![HomeSpring::default(); node_rest.len()],
            ..Homes::default()
        };
        let mut of_bone: Vec<Vec<HomeShare>> = vec![Vec::new(); bone_count];
        for own in parts {
            // nodes between bodies with homes have none
            homes.part_ends.resize(own.first_node + 1, homes.parts.len() as u32);
            let part = |(bone, weight): &(u32, f64), x: &Vec3| {
                let bone = own.bones.start + *bone as usize;
                HomePart { bone: bone as u32, weight: *weight, place: point_in_bone(bone, x), stiffness: 0.0 }
            };

            // its nodes
            let mut bone_mass = vec![0.0; own.bones.len()];
            for (i, weights) in own.node_weights.iter().enumerate() {
                let node = own.first_node + i;
                for entry in weights {
                    homes.parts.push(part(entry, &node_rest[node]));
                    bone_mass[entry.0 as usize] += entry.1 * node_mass[node];
                    if is_free(node) {
                        let share = HomeShare { node: node as u32, weight: entry.1, stiffness: 0.0 };
                        of_bone[own.bones.start + entry.0 as usize].push(share);
                    }
                }
                homes.part_ends.push(homes.parts.len() as u32);
                homes.springs[node] = own.springs[i];
            }

            // its surface
            let (mut vertex_ends, mut vertex_parts) = (vec![0], Vec::new());
            for (x, weights) in own.surface.iter().zip(&own.vertex_weights) {
                vertex_parts.extend(weights.iter().map(|entry| part(entry, x)));
                vertex_ends.push(vertex_parts.len() as u32);
            }
            homes.bodies.push(HomeBody {
                body: own.body,
                nodes: own.nodes(),
                bones: own.bones,
                bone_mass,
                gravity_fraction: own.gravity_fraction,
                vertex_ends,
                vertex_parts,
            });
        }

        // the nodes of each bone
        homes.part_ends.resize(node_rest.len() + 1, homes.parts.len() as u32);
        homes.bone_ends.push(0);
        for nodes in of_bone {
            homes.bone_nodes.extend(nodes);
            homes.bone_ends.push(homes.bone_nodes.len() as u32);
        }
        homes
    }

    /// Whether no node has a home.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether a node has a home.
    #[inline]
    pub(crate) fn holds(&self, node: usize) -> bool {
        !self.of_node(node).is_empty()
    }

    /// The parts of a node's home; none without one.
    #[inline]
    pub(crate) fn of_node(&self, node: usize) -> &[HomePart] {
        &self.parts[self.range_of_node(node)]
    }

    /// Sets the stiffnesses of nodes' parts, in their order.
    pub(crate) fn set_stiffness(&mut self, stiffness: &[f64]) {
        self.parts.iter_mut().zip(stiffness).for_each(|(part, own)| part.stiffness = *own);
        for bone in 0..self.bone_ends.len().saturating_sub(1) {
            for i in self.bone_ends[bone] as usize..self.bone_ends[bone + 1] as usize {
                let parts = self.of_node(self.bone_nodes[i].node as usize);
                let own = parts.iter().find(|part| part.bone as usize == bone);
                self.bone_nodes[i].stiffness = own.map_or(0.0, |part| part.stiffness);
            }
        }
    }

    /// Where the parts of a node are among all.
    pub(crate) fn range_of_node(&self, node: usize) -> Range<usize> {
        match self.part_ends.get(node..node + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..0,
        }
    }

    /// The free nodes whose homes a bone carries a part of, with their weights.
    pub(crate) fn of_bone(&self, bone: usize) -> &[HomeShare] {
        match self.bone_ends.get(bone..bone + 2) {
            Some(ends) => &self.bone_nodes[ends[0] as usize..ends[1] as usize],
            None => &[],
        }
    }

    /// The home of a body's surface, if it has one.
    pub(crate) fn of_body(&self, body: usize) -> Option<&HomeBody> {
        self.bodies.iter().find(|own| own.body == body)
    }

    /// Sets springs and elasticity of a body to multiples of those of other homes: stiffness by `stiffness`, damping by `damping`.
    pub(crate) fn scale(&mut self, own: &Homes, body: usize, stiffness: f64, damping: f64) {
        let Some(home) = own.of_body(body) else { return };
        for node in home.nodes.clone() {
            let spring = &own.springs[node];
            self.springs[node] = HomeSpring {
                stiffness: stiffness * spring.stiffness,
                damping: damping * spring.damping,
                limit: spring.limit,
            };
            for part in own.range_of_node(node) {
                self.parts[part].stiffness = stiffness * own.parts[part].stiffness;
            }
        }
        for (share, own) in self.bone_nodes.iter_mut().zip(&own.bone_nodes) {
            if home.nodes.contains(&(own.node as usize)) {
                share.stiffness = stiffness * own.stiffness;
            }
        }
    }

    /// All numbers, for a fingerprint.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let of_part =
            |part: &HomePart| [f64::from(part.bone), part.weight, part.place.x, part.place.y, part.place.z];
        let springs = self.springs.iter().flat_map(|own| [own.stiffness, own.limit, own.damping]);
        let vertices =
            self.bodies.iter().flat_map(|body| &body.vertex_parts).chain(&self.parts).flat_map(of_part);
        let bodies = self.bodies.iter().map(|body| body.gravity_fraction);
        springs.chain(vertices).chain(bodies)
    }
}

impl HomeBody {
    /// The bones that skin a vertex of the surface.
    #[inline]
    pub(crate) fn of_vertex(&self, vertex: usize) -> &[HomePart] {
        &self.vertex_parts[self.vertex_ends[vertex] as usize..self.vertex_ends[vertex + 1] as usize]
    }
}

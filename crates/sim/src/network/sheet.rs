//! Sheets: the nodes are the vertices of a surface, those at one place counted once.
//!
//! Springs along edges are as stiff as the membrane, by the areas A of the triangles at an edge of length ℓ; those across an edge, from one third corner to the other, are a fraction of it:
//!
//! ```text
//! k = Y Σ A/ℓ²         k = Y Σ A/ℓ² · 12 B/(Y ℓ²)    across                              [VanGelder1998, Transue2014, III]
//! ```
//!
//! The mean of (nᵀεn)² over directions in a plane is (2 tr ε² + tr² ε)/8, which makes Young's modulus Y and Poisson's ratio 1/3 of the first. The second is 0 to the first order in a flat sheet, which such springs do not
//! keep from bending: 12 B/Y is the square of the thickness of a plate.

use super::Network;
use super::solid::network_and_parts;
use crate::body_kind::KindParts;
use crate::desc::SheetElements;
use sinew_flesh::Fabric;
use sinew_flesh::network::{Anisotropy, Bending, Membrane, Spring};
use sinew_math::Vec3;
use sinew_mesh::{Embedding, TetMesh, TriMesh, split_long_edges_between};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What a sheet is made of.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) fabric: Fabric,
    pub(crate) elements: SheetElements,
    /// Thickness in contact (m).
    pub(crate) thickness: Option<f64>,
    /// What differs from node to node.
    pub(crate) points: SheetPoints,
}

/// Factors on the numbers of a sheet at its nodes; empty where they are 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct SheetPoints {
    pub(crate) mass: Vec<f64>,
    /// On the stretch stiffness.
    pub(crate) stretch: Vec<f64>,
    /// On lengths at rest.
    pub(crate) length: Vec<f64>,
    /// On angles at rest.
    pub(crate) curvature: Vec<f64>,
    /// Whether slender triangles are softer, so that none is stiffer between its corners than an equilateral one.
    pub(crate) is_even: bool,
    /// A stretch stiffness that depends on direction.
    pub(crate) anisotropy: Option<Anisotropy>,
}

/// What the stretch stiffness of a triangle is multiplied by so that it is no stiffer than an equilateral one. Between a corner and the opposite edge, the longest one of length ℓ, it is Y A/h² = Y ℓ²/(4 A), which is Y/√3 there.
fn even_stiffness(rest: &[Vec3; 3]) -> f64 {
    let [a, b, c] = rest;
    let doubled = (b - a).cross(&(c - a)).norm();
    let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
    if longest > 0.0 { (2.0 * doubled / (3f64.sqrt() * longest)).min(1.0) } else { 1.0 }
}

/// The mean of a factor over some nodes.
fn mean(factors: &[f64], nodes: &[u32]) -> f64 {
    if factors.is_empty() {
        return 1.0;
    }
    nodes.iter().map(|node| factors[*node as usize]).sum::<f64>() / nodes.len() as f64
}

/// The default thickness in contact, as a fraction of the mean edge,
const THICKNESS_OF_EDGE: f64 = 0.2;
/// and at most of the diagonal of the sheet.
const THICKNESS_OF_SHEET: f64 = 0.004;
/// Triangles with less area than this fraction of the square of the diagonal are left out.
const MIN_AREA: f64 = 1e-14;

impl Sheet {
    /// The parts of the sheet of a surface.
    pub(crate) fn build(&self, surface: &TriMesh) -> Result<KindParts, Vec<String>> {
        self.build_network(surface).map(|(_, parts)| parts)
    }

    /// The nodes of a surface (m).
    pub(crate) fn nodes(&self, surface: &TriMesh) -> Result<Vec<Vec3>, Vec<String>> {
        let (points, vertex_node) = nodes_of(surface);
        let faults = faults(surface, &points, &vertex_node);
        if faults.is_empty() { Ok(points) } else { Err(faults) }
    }

    /// Factors on the mass of each node that make all masses alike.
    pub(crate) fn even_masses(&self, surface: &TriMesh) -> Result<Vec<f64>, Vec<String>> {
        let points = self.nodes(surface)?;
        let (_, vertex_node) = nodes_of(surface);
        let mut area = vec![0.0; points.len()];
        for t in &surface.triangles {
            let [a, b, c] = t.map(|v| points[vertex_node[v as usize] as usize]);
            let own = (b - a).cross(&(c - a)).norm() / 6.0;
            t.iter().for_each(|v| area[vertex_node[*v as usize] as usize] += own);
        }
        let mean = area.iter().sum::<f64>() / area.len().max(1) as f64;
        Ok(area.iter().map(|area| mean / area.max(1e-6 * mean)).collect())
    }

    /// A triangle of the sheet.
    fn membrane(&self, nodes: [u32; 3], points: &[Vec3]) -> Option<Membrane> {
        let rest = nodes.map(|n| points[n as usize]);
        let SheetPoints { stretch, length, anisotropy, .. } = &self.points;
        let even = if self.points.is_even { even_stiffness(&rest) } else { 1.0 };
        let factor = even * mean(stretch, &nodes);
        let fabric = Fabric { stretch: factor * self.fabric.stretch, ..self.fabric };
        let built = Membrane::build(nodes, &rest, &fabric)?;
        let length = mean(length, &nodes);
        let built = if length == 1.0 { built } else { built.with_metric(length * length) };
        Some(match anisotropy {
            None => built,
            Some(Anisotropy { direction, weights }) => {
                let weights = weights.map(|weight| factor * weight);
                built.with_anisotropy(&rest, &Anisotropy { direction: *direction, weights })
            }
        })
    }

    /// The elements of the sheet of a surface, and its parts.
    pub(crate) fn build_network(&self, surface: &TriMesh) -> Result<(Arc<Network>, KindParts), Vec<String>> {
        let (points, vertex_node) = nodes_of(surface);
        let faults = faults(surface, &points, &vertex_node);
        if !faults.is_empty() {
            return Err(faults);
        }

        // triangles with an area
        let (low, high) = surface.bounds().unwrap_or_default();
        let size = (high - low).norm();
        let corners = surface.triangles.iter().map(|t| t.map(|v| vertex_node[v as usize]));
        let membranes: Vec<Membrane> = corners
            .filter_map(|nodes| self.membrane(nodes, &points))
            .filter(|membrane| membrane.area > MIN_AREA * size * size)
            .collect();
        let mut point_mass = vec![0.0; points.len()];
        for Membrane { nodes, area, .. } in &membranes {
            let third = self.fabric.areal_density * area / 3.0;
            nodes.iter().for_each(|node| point_mass[*node as usize] += third);
        }
        point_mass.iter_mut().zip(&self.points.mass).for_each(|(mass, factor)| *mass *= factor);
        if let Some(node) = point_mass.iter().position(|mass| *mass == 0.0) {
            let vertex = vertex_node.iter().position(|own| *own as usize == node).unwrap_or(0);
            return Err(vec![format!(
                "vertex {} belongs to no triangle that has an area, and so has no mass: remove it",
                vertex + 1
            )]);
        }

        // what connects the nodes
        let triangles: Vec<[u32; 3]> = membranes.iter().map(|membrane| membrane.nodes).collect();
        let area: f64 = membranes.iter().map(|membrane| membrane.area).sum();
        let thickness = self.thickness.unwrap_or_else(|| {
            (THICKNESS_OF_EDGE * mean_edge(&triangles, &points)).min(THICKNESS_OF_SHEET * size)
        });
        let mut network = Network {
            node_count: points.len(),
            damping_rate: self.fabric.damping,
            thickness: Some(thickness),
            ..Network::default()
        };
        match self.elements {
            SheetElements::Triangles => {
                network.bending = Bending::build(&triangles, &points, &self.fabric);
                for hinge in &mut network.bending.hinges {
                    hinge.rest_angle *= mean(&self.points.curvature, &hinge.nodes[..2]);
                }
                network.membranes = membranes;
            }
            SheetElements::Springs => network.springs = edge_springs(&membranes, &points, &self.fabric),
        }
        let no_tets = TetMesh { nodes: points.clone(), tets: Vec::new() };
        let embedding = Embedding::of_nodes(&no_tets, &vertex_node);
        Ok(network_and_parts(network, points, point_mass, embedding, area * thickness))
    }
}

/// The surface with its long edges split, and its embedding, if any edge is longer than a length (m).
pub(crate) fn fine_surface(
    surface: &TriMesh,
    embedding: &Embedding,
    length: f64,
) -> Option<(TriMesh, Embedding)> {
    let (fine, middles) = split_long_edges_between(surface, length);
    if middles.is_empty() {
        return None;
    }
    // the middle of an edge is carried half by the nodes of each end
    let mut rows: Vec<BTreeMap<u32, f64>> =
        (0..surface.vertices.len()).map(|v| embedding.point(v).collect()).collect();
    for [a, b] in middles {
        let mut row: BTreeMap<u32, f64> = BTreeMap::new();
        for end in [a, b] {
            rows[end as usize].iter().for_each(|(node, w)| *row.entry(*node).or_default() += 0.5 * w);
        }
        rows.push(row);
    }
    let barycentric = |row: &BTreeMap<u32, f64>| {
        let (mut nodes, mut weights) = ([0; 4], [0.0; 4]);
        row.iter().take(4).enumerate().for_each(|(i, (node, w))| (nodes[i], weights[i]) = (*node, *w));
        (nodes, weights)
    };
    let points: Vec<([u32; 4], [f64; 4])> = rows.iter().map(barycentric).collect();
    Some((fine, Embedding::from_barycentric(embedding.node_count(), &points)))
}

/// The places of vertices, each once, and the one of each vertex: surfaces have seams of texture coordinates.
fn nodes_of(surface: &TriMesh) -> (Vec<Vec3>, Vec<u32>) {
    let mut known: HashMap<[u64; 3], u32> = HashMap::new();
    let mut points = Vec::new();
    let node = |x: &Vec3| {
        // minus zero is zero
        let key = [x.x + 0.0, x.y + 0.0, x.z + 0.0].map(f64::to_bits);
        *known.entry(key).or_insert_with(|| {
            points.push(*x);
            points.len() as u32 - 1
        })
    };
    let vertex_node = surface.vertices.iter().map(node).collect();
    (points, vertex_node)
}

fn faults(surface: &TriMesh, points: &[Vec3], vertex_node: &[u32]) -> Vec<String> {
    if surface.triangles.is_empty() {
        return vec!["it has no triangles: a sheet needs some".into()];
    }
    if let Some(t) = surface.triangles.iter().flatten().find(|v| **v as usize >= surface.vertices.len()) {
        let count = surface.vertices.len();
        return vec![format!("a triangle has vertex {t}, but there are {count}, numbered from 0")];
    }
    if points.iter().any(|x| !x.iter().all(|x| x.is_finite())) {
        return vec!["one of its vertices is not finite".into()];
    }
    let mut is_used = vec![false; points.len()];
    surface.triangles.iter().flatten().for_each(|v| is_used[vertex_node[*v as usize] as usize] = true);
    let loose = vertex_node.iter().position(|node| !is_used[*node as usize]);
    loose
        .map(|vertex| format!("vertex {} belongs to no triangle: remove it", vertex + 1))
        .into_iter()
        .collect()
}

fn mean_edge(triangles: &[[u32; 3]], points: &[Vec3]) -> f64 {
    let length = |a: u32, b: u32| (points[a as usize] - points[b as usize]).norm();
    let sum: f64 = triangles.iter().map(|&[a, b, c]| length(a, b) + length(b, c) + length(c, a)).sum();
    sum / (3 * triangles.len()).max(1) as f64
}

/// Springs along edges and across them.
fn edge_springs(membranes: &[Membrane], points: &[Vec3], fabric: &Fabric) -> Vec<Spring> {
    // areas and third corners at each edge
    let mut edges: BTreeMap<[u32; 2], (f64, Vec<u32>)> = BTreeMap::new();
    for Membrane { nodes: [a, b, c], area, .. } in membranes {
        for (a, b, c) in [(a, b, c), (b, c, a), (c, a, b)] {
            let (sum, thirds) = edges.entry([*a.min(b), *a.max(b)]).or_default();
            *sum += area;
            thirds.push(*c);
        }
    }

    // edges first, then what leads across them
    let length = |nodes: [u32; 2]| (points[nodes[0] as usize] - points[nodes[1] as usize]).norm();
    let along = edges.iter().map(|(nodes, (area, _))| {
        let length = length(*nodes);
        Spring { nodes: *nodes, length, stiffness: fabric.stretch * area / (length * length) }
    });
    let across = edges.values().filter_map(|(area, thirds)| {
        let &[a, b, ..] = thirds.as_slice() else { return None };
        let length = length([a, b]);
        let stiffness = 12.0 * fabric.bending * area / (length * length * length * length);
        (length > 0.0 && stiffness > 0.0).then_some(Spring { nodes: [a, b], length, stiffness })
    });
    along.chain(across).collect()
}

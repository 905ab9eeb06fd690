//! Normals and tangents of flesh: those of the file, carried along with the surface, as deltas in bind space.
//!
//! Every vertex has a frame on the surface: the mean normal a of the triangles around, weighted by area, an edge e perpendicular to it, and a × e. A normal of the file has fixed coordinates c in
//! it, so that authored normals and hard edges survive: vertices at one position share their triangles only if their normals are equal.
//!
//! ```text
//! Q = (a, e, a × e),   c = Q₀ᵀ n,   n(t) = Q(t) c
//! m = A⁺ n / ‖A⁺ n‖  under skinning,   m = Aᵀ n / ‖Aᵀ n‖  below a node alone
//! ```
//!
//! Viewers normalise A m, or A⁻ᵀ m, after adding morph targets, so only the direction of m matters. What morph targets are to add is m − n − Σ_m μ_m n_m, with the deltas n_m of the file's own.

use super::body::{Body, Joint};
use super::carry_back::carry_back;
use crate::document::Document;
use rayon::prelude::*;
use serde_json::Value;
use sinew_character::RiggedCharacter;
use sinew_math::{Mat3, Vec3};
use std::collections::BTreeMap;

/// Normals at one position that differ by less than this are one: eight bits of a normal are 0.004 apart.
const EQUAL: f64 = 0.02;

/// The directions on the surface of a body.
#[derive(Debug)]
pub(super) struct Shading {
    /// Normals, and tangents if a normal map needs them.
    pub(super) fields: Vec<Field>,
    triangles: Vec<[u32; 3]>,
    /// For each vertex the first of those that share its triangles.
    first: Vec<u32>,
    /// For each vertex another of one of its triangles.
    neighbour: Vec<Option<u32>>,
    /// The area around each vertex in bind space, for means.
    pub(super) area: Vec<f64>,
}

/// One direction per vertex.
#[derive(Debug)]
pub(super) struct Field {
    /// What glTF calls it.
    pub(super) attribute: &'static str,
    /// Which parts of the body have it.
    pub(super) has: Vec<bool>,
    /// As the file has it; zero where it has none.
    rest: Vec<Vec3>,
    /// In the frame of each vertex; `None` where there is no such frame.
    coordinates: Vec<Option<Vec3>>,
    /// What the file's own morph targets add.
    own: Vec<Vec<[f32; 3]>>,
}

impl Shading {
    /// The directions of a body, as its document has them.
    pub(super) fn new(document: &Document, character: &RiggedCharacter, body: &Body) -> Shading {
        // the surface at bind
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for part in &body.parts {
            let Some(primitive) = character.primitive(part.surface) else { continue };
            let start = positions.len() as u32;
            positions.extend_from_slice(&primitive.positions);
            triangles.extend(primitive.triangles.iter().map(|corners| corners.map(|v| v + start)));
        }
        let mut neighbour = vec![None; positions.len()];
        for [a, b, c] in &triangles {
            for (from, to) in [(*a, *b), (*b, *c), (*c, *a)] {
                neighbour[from as usize].get_or_insert(to);
            }
        }

        // what stands on it
        let mut fields: Vec<Field> = vec![Field::read(document, character, body, "NORMAL")];
        fields.push(Field::read(document, character, body, "TANGENT"));
        fields.retain(|field| field.has.contains(&true));
        let normals = fields.first().map_or(&[][..], |field| &field.rest);
        let first = first_equal(&positions, normals);
        let mut shading = Shading { fields: Vec::new(), triangles, first, neighbour, area: Vec::new() };
        shading.area = shading.normals(&positions, false).iter().map(|normal| normal.norm()).collect();
        let frames = shading.frames(&positions);
        for field in &mut fields {
            let pairs = frames.iter().zip(&field.rest);
            field.coordinates = pairs.map(|(frame, rest)| Some(frame.as_ref()?.transpose() * rest)).collect();
        }
        shading.fields = fields;
        shading
    }

    /// How many numbers the deltas of a frame are.
    pub(super) fn number_count(&self) -> usize {
        3 * self.fields.iter().map(|field| field.rest.len()).sum::<usize>()
    }

    /// What morph targets are to add in a frame, field after field: vertices are at `positions` in the world, joints stand so, and the file's own morph targets have these weights.
    pub(super) fn deltas(
        &self,
        body: &Body,
        joints: &[Joint],
        positions: &[Vec3],
        own_weights: &[f64],
    ) -> Vec<f32> {
        if self.fields.is_empty() {
            return Vec::new();
        }
        let frames = self.frames(positions);
        let mut deltas = Vec::with_capacity(self.number_count());
        for field in &self.fields {
            let delta = |vertex: usize| -> [f32; 3] {
                let base = field.base(vertex, own_weights);
                let carried = field.coordinates[vertex].zip(frames[vertex]);
                let bound = carried.and_then(|(c, frame)| to_bind(body, joints, vertex, &(frame * c)));
                let delta = bound.map_or(Vec3::zeros(), |bound| bound - base);
                [delta.x as f32, delta.y as f32, delta.z as f32]
            };
            let found: Vec<[f32; 3]> = (0..field.rest.len()).into_par_iter().map(delta).collect();
            deltas.extend(found.as_flattened());
        }
        deltas
    }

    /// Sums of doubled areas around every vertex, with those of equal vertices or without.
    fn normals(&self, positions: &[Vec3], shared: bool) -> Vec<Vec3> {
        let mut sums = vec![Vec3::zeros(); positions.len()];
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|v| positions[v as usize]);
            let doubled_area = (b - a).cross(&(c - a));
            for v in triangle {
                let place = if shared { self.first[*v as usize] } else { *v };
                sums[place as usize] += doubled_area;
            }
        }
        if shared { self.first.iter().map(|first| sums[*first as usize]).collect() } else { sums }
    }

    /// Q of every vertex; `None` where the triangles around leave no normal or the edge no direction.
    fn frames(&self, positions: &[Vec3]) -> Vec<Option<Mat3>> {
        let normals = self.normals(positions, true);
        let frame = |vertex: usize| {
            let a = normals[vertex].try_normalize(1e-300)?;
            let edge = positions[self.neighbour[vertex]? as usize] - positions[vertex];
            let across = edge - edge.dot(&a) * a;
            // an edge along the normal says nothing
            let e = across.try_normalize(1e-6 * edge.norm())?;
            Some(Mat3::from_columns(&[a, e, a.cross(&e)]))
        };
        (0..positions.len()).into_par_iter().map(frame).collect()
    }
}

impl Field {
    /// A field as a document has it. Tangents count only below a normal map.
    fn read(document: &Document, character: &RiggedCharacter, body: &Body, attribute: &'static str) -> Field {
        let mut field = Field {
            attribute,
            has: Vec::new(),
            rest: vec![Vec3::zeros(); body.vertex_count()],
            coordinates: Vec::new(),
            own: Vec::new(),
        };
        let Some(mesh) = character.nodes[body.node].mesh else { return field };
        let target_count = character.meshes[mesh].target_count();
        for part in &body.parts {
            // as it is at rest
            let entry = &document.json["meshes"][mesh]["primitives"][part.surface.primitive];
            let stored = document.read_vectors(&entry["attributes"][attribute]);
            let stored = stored.filter(|vectors| {
                vectors.len() == part.vertices.len() && vectors.as_flattened().iter().all(|c| c.is_finite())
            });
            let wanted = attribute == "NORMAL" || has_normal_map(document, entry);
            field.has.push(wanted && stored.is_some());
            let Some(stored) = stored.filter(|_| wanted) else { continue };
            let rest = &mut field.rest[part.vertices.clone()];
            rest.iter_mut().zip(&stored).for_each(|(rest, stored)| *rest = vector(stored));

            // what the file's own morph targets add
            for target in 0..target_count {
                let Some(deltas) = document.read_vectors(&entry["targets"][target][attribute]) else {
                    continue;
                };
                if deltas.len() == part.vertices.len() {
                    field.own.resize(target_count, Vec::new());
                    field.own[target].resize(body.vertex_count(), [0.0; 3]);
                    field.own[target][part.vertices.clone()].copy_from_slice(&deltas);
                }
            }
        }
        field
    }

    /// The direction of a vertex before flesh adds to it.
    pub(super) fn base(&self, vertex: usize, own_weights: &[f64]) -> Vec3 {
        let own = self.own.iter().zip(own_weights).filter_map(|(deltas, weight)| {
            let delta = deltas.get(vertex).filter(|_| *weight != 0.0)?;
            Some(*weight * vector(delta))
        });
        self.rest[vertex] + own.sum::<Vec3>()
    }
}

/// A direction on the surface in the world as the unit vector in bind space that viewers make it of; `None` where skinning is flat.
fn to_bind(body: &Body, joints: &[Joint], vertex: usize, direction: &Vec3) -> Option<Vec3> {
    let (part, vertex) = body.part_of(vertex);
    let (map, scale) = part.map(joints, vertex);
    // a mirror turns triangles over
    let direction = if map.determinant() < 0.0 { -direction } else { *direction };
    let bound =
        if part.is_skinned() { carry_back(&map, scale).0 * direction } else { map.tr_mul(&direction) };
    bound.try_normalize(1e-300)
}

/// A direction in bind space as viewers show it in the world.
pub(super) fn to_world(body: &Body, joints: &[Joint], vertex: usize, direction: &Vec3) -> Option<Vec3> {
    let (part, vertex) = body.part_of(vertex);
    let (map, _) = part.map(joints, vertex);
    let shown = if part.is_skinned() { map * direction } else { map.try_inverse()?.tr_mul(direction) };
    shown.try_normalize(1e-300)
}

fn has_normal_map(document: &Document, primitive: &Value) -> bool {
    let material = primitive["material"].as_u64();
    material
        .is_some_and(|material| document.json["materials"][material as usize].get("normalTexture").is_some())
}

/// For each vertex the first one at the same position with an equal normal.
fn first_equal(positions: &[Vec3], normals: &[Vec3]) -> Vec<u32> {
    let mut at: BTreeMap<[u64; 3], Vec<u32>> = BTreeMap::new();
    let mut first = Vec::with_capacity(positions.len());
    for (vertex, position) in positions.iter().enumerate() {
        // adding zero makes −0 and +0 one
        let there = at.entry(<[f64; 3]>::from(*position).map(|c| (c + 0.0).to_bits())).or_default();
        let normal = |vertex: usize| normals.get(vertex).copied().unwrap_or_default();
        let equal = |other: &&u32| (normal(**other as usize) - normal(vertex)).norm() < EQUAL;
        let found = there.iter().find(equal).copied();
        first.push(found.unwrap_or_else(|| {
            there.push(vertex as u32);
            vertex as u32
        }));
    }
    first
}

fn vector(numbers: &[f32; 3]) -> Vec3 {
    Vec3::from(numbers.map(f64::from))
}

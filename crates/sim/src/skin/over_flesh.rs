//! Skin over a surface of flesh that moves by itself: dynamic relaxation of the sheet, frame by frame.                     \[Day1965; TurnerThalmann1993, §3.2; MuellerChentanez2010\]
//!
//! The drawn surface is the skin at rest, and below it lies fat: an elastic foundation of stiffness K per area that holds the skin at its height and lets it slide along the flesh up to some slack. What flesh compresses, skin does not: it
//! buckles. With the stretch stiffness Y and the bending stiffness B of the sheet, wrinkles have the wavelength λ and begin at the strain ε of
//!
//! ```text
//! λ = 2π (B/K)^¼,    ε = 2 √(B K)/Y                                              [Biot1937]
//! ```
//!
//! Both are chosen relative to the edges of the surface, so that wrinkles are as fine as it can show. Membranes are those of cloth; bending is that of a plate by its height w over the flesh,
//!
//! ```text
//! Ψ_B = Σ ½ B a (Δw)²,    Δw = 4/ℓ² (mean of w around − w),    w = (x − x_flesh)·n
//! ```
//!
//! with the area a and the edge ℓ at each point. Each stage depends only on what is inside it, so that this follows the simulation of the flesh, whatever that was. Only where flesh is strained, and some edges around that, skin is relaxed;
//! elsewhere it lies on the flesh:
//!
//! ```text
//! v ← κ v − α D⁻¹ ∇Ψ(x),    x ← x + v,    then out of the muscle and of other folds: x ← x + ⟨−(x − q)·n⟩ n
//! ```
//!
//! with D above the diagonal of the Hessian, along the flesh and across it. Before the first of them, skin is carried with the flesh below it. Where skin folds upon itself, points stay on their side of the plane halfway between both folds
//! (`folds`).

mod folds;

use crate::desc::SheetElements;
use crate::network::{Sheet, SheetPoints};
use folds::{FoldedSheet, Folds};
use sinew_contact::nearest_on_triangle;
use sinew_flesh::Fabric;
use sinew_flesh::network::{Membrane, StrainElement};
use sinew_math::Vec3;
use sinew_math::parallel::for_each_part;
use sinew_mesh::TriMesh;

/// Skin over flesh.
#[derive(Debug)]
pub struct FleshSkin {
    membranes: Vec<Membrane>,
    /// The node of each vertex of the surface, and a vertex of each node.
    vertex_node: Vec<u32>,
    node_vertex: Vec<u32>,
    /// Triangles of nodes, and the corners at each node: 3 t + c for corner c of triangle t.
    triangles: Vec<[u32; 3]>,
    offsets: Vec<u32>,
    around: Vec<u32>,
    /// Where nodes are at rest, and by which lengths they move: the mean of the edges at each of them, unless these are large beside the body (m).
    rest: Vec<Vec3>,
    scales: Vec<f64>,
    /// Per node.
    springs: Vec<NodeSprings>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    /// w (m), and B a 4/ℓ² Δw (N) over the number of neighbours; zero where skin lies on the flesh.
    height: Vec<f64>,
    moment: Vec<f64>,
    /// The flesh below, now and a frame ago.
    below: Vec<Vec3>,
    below_before: Vec<Vec3>,
    /// The node of the flesh that each node of skin is over.
    over: Vec<u32>,
    /// What is relaxed in this frame.
    active: Active,
    folds: Folds,
    has_begun: bool,
    options: FleshSkinOptions,
}

/// What holds a node beside the membranes.
#[derive(Clone, Copy, Debug)]
struct NodeSprings {
    /// How far it slides freely, and how deep it sinks into the fat at most (m).
    slack: f64,
    fat: f64,
    /// Stiffness of its band and of the fat, and B a (4/ℓ²)² of its bending (N/m).
    band: f64,
    foundation: f64,
    bending: f64,
    /// α/D along the flesh and across it (m/N).
    mobility: [f64; 2],
}

/// The part of a skin that is relaxed.
#[derive(Debug, Default)]
struct Active {
    /// Whether a triangle is strained, and whether a node is relaxed.
    strained: Vec<bool>,
    is_active: Vec<bool>,
    nodes: Vec<u32>,
    triangles: Vec<u32>,
    /// The place of each triangle in the list.
    place: Vec<u32>,
    /// Per triangle of the list: gradients at its corners (N).
    gradients: Vec<[Vec3; 3]>,
    /// Per node of the list: a point and the outward normal of the flesh below, the node that it is over, position (m) and velocity (m per iteration).
    planes: Vec<[Vec3; 2]>,
    over: Vec<u32>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
}

/// How skin over flesh is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshSkinOptions {
    /// Its slack, as a fraction of the edges at a point: how far it slides freely.
    pub slack: f64,
    /// Stiffness of bands beyond their slack, as a fraction of that of the sheet: how tightly it clings.
    pub cling: f64,
    /// Thickness of the fat into which wrinkles sink, as a fraction of the edges at a point.
    pub fat: f64,
    /// Wavelength of wrinkles, in edges: some five are as fine as a mesh shows without steps.
    pub wavelength: f64,
    /// Compressive strain at which they begin.
    pub onset: f64,
    /// Iterations per frame.
    pub iterations: usize,
}

impl Default for FleshSkinOptions {
    fn default() -> FleshSkinOptions {
        FleshSkinOptions { slack: 0.3, cling: 0.05, fat: 0.5, wavelength: 5.0, onset: 0.03, iterations: 4 }
    }
}

/// Momentum that is kept from iteration to iteration.
const KEEP: f64 = 0.8;
/// α: heavy-ball relaxation is stable up to 2 (1 + κ) = 3.6 if D is above the Hessian; this leaves a factor of two for stretched triangles.
const STEP: f64 = 1.8;
/// D over the sum of c A |∂φ/∂x|² at a node, which is twice the largest eigenvalue of its diagonal block on regular meshes, while H ≤ 3 diag H for triangles; and over that of bending: the mean of neighbours less a node is a matrix of
/// norm 2 at most.
const BOUND: f64 = 2.0;
const BENDING_BOUND: f64 = 4.0;
/// The part of the stiffness along the flesh that wrinkles feel across it: the square of the sine of their angle, up to 40°.
const TILT: f64 = 0.4;
/// Iterations in the first frame, which may be far from rest.
const FIRST: usize = 40;
/// The longest step of an iteration, and the farthest that skin is drawn aside, as fractions of the edges at a point: stretched and squeezed triangles are stiffer than at rest.
const MAX_MOVE: f64 = 0.2;
const MAX_REACH: f64 = 1.0;
/// Lengths by which skin moves are edges, but no longer than this fraction of the diagonal of the surface.
const MAX_SCALE: f64 = 0.008;
/// Points whose triangles have less than this fraction of the mean stiffness stay where they are drawn.
const MIN_STIFFNESS: f64 = 1e-6;
/// Skin is relaxed where flesh is compressed by this fraction of the strain at which wrinkles begin, or stretched by this strain, and in so many rings of triangles around.
const COMPRESSED: f64 = 0.6;
const STRETCHED: f64 = 0.25;
const RINGS: usize = 3;
/// What is left from frame to frame of how far skin is from the flesh where it is not relaxed any more.
const FADE: f64 = 0.8;
/// Points per parallel task.
const CHUNK: usize = 256;
/// The least rest length of an edge that counts, as a fraction of the mean one.
const MIN_EDGE: f64 = 0.2;

impl FleshSkin {
    /// Skin on a surface at rest.
    ///
    /// # Errors
    /// Why no sheet can be made of the surface.
    pub fn build(surface: &TriMesh, options: &FleshSkinOptions) -> Result<FleshSkin, Vec<String>> {
        // the sheet: only ratios of its stiffnesses matter
        let edge = typical_edge(surface);
        let fabric = Fabric { areal_density: 1.0, stretch: 1.0, poisson: 0.3, bending: 0.0, damping: 0.0 };
        let sheet = Sheet {
            fabric,
            elements: SheetElements::Triangles,
            thickness: None,
            points: SheetPoints::default(),
        };
        let (network, parts) = sheet.build_network(surface)?;
        let count = parts.points.len();
        let vertex_node: Vec<u32> = (0..surface.vertices.len())
            .map(|v| parts.embedding.point(v).next().map_or(0, |(n, _)| n))
            .collect();
        let mut node_vertex = vec![0; count];
        vertex_node.iter().enumerate().for_each(|(vertex, node)| node_vertex[*node as usize] = vertex as u32);
        let membranes = network.membranes.clone();
        let triangles: Vec<[u32; 3]> = membranes.iter().map(|own| own.nodes).collect();
        let (offsets, around) = corners_at(&triangles, count);
        let edges = local_edges(&triangles, &parts.points, edge);
        // wrinkles of coarse meshes stay small beside the body
        let (low, high) = surface.bounds().unwrap_or_default();
        let largest = MAX_SCALE * (high - low).norm();
        let scales: Vec<f64> = edges.iter().map(|edge| edge.min(largest)).collect();
        Ok(FleshSkin {
            springs: node_springs(&membranes, &parts.points, (&edges, &scales), options),
            folds: Folds::new(&scales, edge.min(largest)),
            active: Active {
                strained: vec![false; triangles.len()],
                is_active: vec![false; count],
                place: vec![0; triangles.len()],
                ..Active::default()
            },
            scales,
            membranes,
            vertex_node,
            node_vertex,
            triangles,
            offsets,
            around,
            x: parts.points.clone(),
            v: vec![Vec3::zeros(); count],
            height: vec![0.0; count],
            moment: vec![0.0; count],
            below: parts.points.clone(),
            below_before: parts.points.clone(),
            rest: parts.points,
            over: (0..count as u32).collect(),
            has_begun: false,
            options: *options,
        })
    }

    /// Lets the next surface be the first one, as after a jump to another time.
    pub fn restart(&mut self) {
        self.has_begun = false;
        self.v.fill(Vec3::zeros());
        self.over.iter_mut().enumerate().for_each(|(node, over)| *over = node as u32);
    }

    /// Moves the skin with the surface of the flesh (m), and writes the skin in its place.
    pub fn follow(&mut self, surface: &mut [[f32; 3]]) {
        self.carry(surface);
        self.find_active();
        self.find_planes();
        self.folds.find(&FoldedSheet {
            nodes: &self.active.nodes,
            flesh: &self.active.planes,
            x: &self.x,
            rest: &self.rest,
            triangles: &self.triangles,
            offsets: &self.offsets,
            around: &self.around,
        });
        let iterations = if self.has_begun { self.options.iterations } else { FIRST };
        self.has_begun = true;
        for _ in 0..iterations {
            self.find_gradients();
            self.find_moments();
            self.relax();
        }
        for (out, node) in surface.iter_mut().zip(&self.vertex_node) {
            let x = self.x[*node as usize];
            *out = [x.x as f32, x.y as f32, x.z as f32];
        }
    }

    /// Finds the flesh below, and carries the skin with it.
    fn carry(&mut self, surface: &[[f32; 3]]) {
        core::mem::swap(&mut self.below, &mut self.below_before);
        for (below, vertex) in self.below.iter_mut().zip(&self.node_vertex) {
            *below = Vec3::from(surface[*vertex as usize].map(f64::from));
        }
        if !self.has_begun {
            self.x.clone_from(&self.below);
            return;
        }
        let FleshSkin { below, below_before, x, v, .. } = self;
        for node in 0..x.len() {
            x[node] += below[node] - below_before[node];
            if !self.active.is_active[node] {
                // back onto the flesh
                let off = FADE * (x[node] - below[node]);
                x[node] = below[node] + off;
                v[node] = Vec3::zeros();
            }
        }
    }

    /// Finds what is to be relaxed.
    fn find_active(&mut self) {
        let FleshSkin {
            active, membranes, below, options, triangles, offsets, around, height, moment, ..
        } = self;
        let least = -COMPRESSED * options.onset;
        let below = &*below;
        let parts = (active.strained.as_mut_slice(), membranes.as_slice());
        for_each_part(parts, CHUNK, |_, (strained, membranes)| {
            for (strained, own) in strained.iter_mut().zip(membranes) {
                let [e, f, g] = own.strain(&own.nodes.map(|node| below[node as usize]));
                let (mean, half) = (0.5 * (e + f), 0.5 * (e - f));
                let spread = (half * half + 0.25 * g * g).sqrt();
                *strained = mean - spread < least || mean + spread > STRETCHED;
            }
        });

        // the nodes of strained triangles, and rings around them
        for node in &active.nodes {
            (height[*node as usize], moment[*node as usize]) = (0.0, 0.0);
        }
        active.nodes.clear();
        active.is_active.fill(false);
        let strained = triangles.iter().zip(&active.strained).filter(|(_, is)| **is);
        for (nodes, _) in strained {
            for node in nodes {
                if !core::mem::replace(&mut active.is_active[*node as usize], true) {
                    active.nodes.push(*node);
                }
            }
        }
        let mut begin = 0;
        for _ in 0..RINGS {
            let end = active.nodes.len();
            for i in begin..end {
                let node = active.nodes[i] as usize;
                for corner in &around[offsets[node] as usize..offsets[node + 1] as usize] {
                    for other in triangles[*corner as usize / 3] {
                        if !core::mem::replace(&mut active.is_active[other as usize], true) {
                            active.nodes.push(other);
                        }
                    }
                }
            }
            begin = end;
        }
        // in order of memory
        active.nodes.sort_unstable();
        active.triangles.clear();
        for (t, nodes) in triangles.iter().enumerate() {
            if nodes.iter().any(|node| active.is_active[*node as usize]) {
                active.place[t] = active.triangles.len() as u32;
                active.triangles.push(t as u32);
            }
        }
        active.gradients.resize(active.triangles.len(), [Vec3::zeros(); 3]);
        active.planes.resize(active.nodes.len(), [Vec3::zeros(); 2]);
        active.over.resize(active.nodes.len(), 0);
        active.x.clear();
        active.v.clear();
        active.x.extend(active.nodes.iter().map(|node| self.x[*node as usize]));
        active.v.extend(active.nodes.iter().map(|node| self.v[*node as usize]));
    }

    /// Finds the nearest triangle of the flesh below each node, among those at the node that it was over.
    fn find_planes(&mut self) {
        let FleshSkin { triangles, offsets, around, below, active, over, .. } = self;
        let (triangles, below, offsets, around) = (&*triangles, &*below, &*offsets, &*around);
        let Active { nodes, planes, over: next, x, .. } = active;
        let was_over = &*over;
        let parts = ((nodes.as_slice(), x.as_slice()), (next.as_mut_slice(), planes.as_mut_slice()));
        for_each_part(parts, CHUNK, |_, ((nodes, x), (next, planes))| {
            for (((node, x), next), plane) in nodes.iter().zip(x).zip(next).zip(planes) {
                *next = was_over[*node as usize];
                let at = *next as usize;
                let mut nearest = f64::INFINITY;
                let mut sum = Vec3::zeros();
                for corner in &around[offsets[at] as usize..offsets[at + 1] as usize] {
                    let nodes = triangles[*corner as usize / 3];
                    let corners = nodes.map(|node| below[node as usize]);
                    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
                    sum += normal;
                    let found = nearest_on_triangle(x, &corners);
                    let distance = (*x - found.point).norm_squared();
                    if distance < nearest {
                        let [a, b, c] = found.weights;
                        nearest = distance;
                        *next = nodes[if a >= b && a >= c { 0 } else { usize::from(c > b) + 1 }];
                        *plane = [found.point, normal];
                    }
                }
                // at edges and corners the mean of the triangles says what is outside
                let mean = sum.try_normalize(0.0).unwrap_or_default();
                let normal = plane[1].try_normalize(0.0).unwrap_or(mean);
                plane[1] = if normal.dot(&mean) > 0.0 { normal } else { mean };
            }
        });
        for (node, next) in nodes.iter().zip(next) {
            over[*node as usize] = *next;
        }
    }

    /// The gradients of the membranes.
    fn find_gradients(&mut self) {
        let FleshSkin { membranes, x, active, .. } = self;
        let (membranes, x) = (&*membranes, &*x);
        let parts = (active.triangles.as_slice(), active.gradients.as_mut_slice());
        for_each_part(parts, CHUNK, |_, (triangles, gradients)| {
            for (t, gradient) in triangles.iter().zip(gradients) {
                let own = &membranes[*t as usize];
                let corners = own.nodes.map(|node| x[node as usize]);
                let [p, q, r] = own.stress(&own.strain(&corners));
                let [a, b, c] = own.gradients(&corners);
                *gradient = core::array::from_fn(|n| p * a[n] + q * b[n] + r * c[n]);
            }
        });
    }

    /// The heights over the flesh, and the moments of bending.
    fn find_moments(&mut self) {
        let FleshSkin { active, height, moment, below, x, springs, triangles, offsets, around, .. } = self;
        for (node, [_, normal]) in active.nodes.iter().zip(&active.planes) {
            let node = *node as usize;
            height[node] = (x[node] - below[node]).dot(normal);
        }
        for node in &active.nodes {
            let node = *node as usize;
            let own = &around[offsets[node] as usize..offsets[node + 1] as usize];
            let sum: f64 = own.iter().map(|corner| opposite_sum(triangles, *corner, &*height)).sum();
            // each neighbour is in two triangles, but at borders
            let count = 2.0 * own.len() as f64;
            moment[node] = springs[node].bending * (sum / count - height[node]);
        }
    }

    /// One step of relaxation, out of the muscle, and back from other folds.
    fn relax(&mut self) {
        let FleshSkin {
            scales, springs, below, folds, active, triangles, offsets, around, moment, x, v, ..
        } = self;
        let (scales, springs, below, folds) = (&*scales, &*springs, &*below, &folds.planes);
        let (triangles, offsets, around, moment) = (&*triangles, &*offsets, &*around, &*moment);
        let Active { nodes, planes, gradients, place, x: own_x, v: own_v, .. } = active;
        let (planes, gradients, place) = (&*planes, &*gradients, &*place);
        let parts = (nodes.as_slice(), (own_x.as_mut_slice(), own_v.as_mut_slice()));
        for_each_part(parts, CHUNK, |first, (nodes, (x, v))| {
            for (i, ((node, x), v)) in nodes.iter().zip(x).zip(v).enumerate() {
                let node = *node as usize;
                let NodeSprings { slack, fat, band, foundation, mobility, .. } = springs[node];
                let [point, normal] = planes[first + i];

                // the sheet
                let corners = &around[offsets[node] as usize..offsets[node + 1] as usize];
                let (mut force, mut others) = (Vec3::zeros(), 0.0);
                for corner in corners {
                    let (t, c) = (*corner as usize / 3, *corner as usize % 3);
                    force -= gradients[place[t] as usize][c];
                    others += opposite_sum(triangles, *corner, moment);
                }
                let bending = moment[node] - others / (2.0 * corners.len() as f64);

                // its band along the flesh, and the fat across it
                let off = *x - below[node];
                let aside = off - off.dot(&normal) * normal;
                let length = aside.norm();
                if length > slack {
                    force -= (band * (length - slack) / length) * aside;
                }
                let across = force.dot(&normal);
                let height = (*x - point).dot(&normal);
                let step = mobility[0] * (force - across * normal)
                    + (mobility[1] * (across + bending - foundation * height)) * normal;
                *v = shorter(KEEP * *v + step, MAX_MOVE * scales[node]);
                *x += *v;
                // never farther from where it was drawn than bands let it, whatever squeezed triangles do
                *x = below[node] + shorter(*x - below[node], MAX_REACH * scales[node]);

                keep_outside(x, v, &(point - fat * normal), &normal);
                let [point, normal] = folds[first + i];
                keep_outside(x, v, &point, &normal);
            }
        });
        for ((node, own_x), own_v) in nodes.iter().zip(own_x).zip(own_v) {
            (x[*node as usize], v[*node as usize]) = (*own_x, *own_v);
        }
    }
}

/// The sum of a number at the two other nodes of the triangle of a corner.
#[inline]
fn opposite_sum(triangles: &[[u32; 3]], corner: u32, numbers: &[f64]) -> f64 {
    let (t, c) = (corner as usize / 3, corner as usize % 3);
    let nodes = &triangles[t];
    numbers[nodes[(c + 1) % 3] as usize] + numbers[nodes[(c + 2) % 3] as usize]
}

/// Moves a point out to a plane, and takes its velocity into it.
#[inline]
fn keep_outside(x: &mut Vec3, v: &mut Vec3, point: &Vec3, normal: &Vec3) {
    let depth = (*x - point).dot(normal);
    if depth < 0.0 {
        *x -= depth * normal;
        *v -= v.dot(normal).min(0.0) * normal;
    }
}

/// A vector, no longer than a length; zero if it is not finite.
#[inline]
fn shorter(vector: Vec3, length: f64) -> Vec3 {
    let norm = vector.norm();
    if norm <= length {
        vector
    } else if norm.is_finite() {
        vector * (length / norm)
    } else {
        Vec3::zeros()
    }
}

/// The corners at each node: where those of a node begin, and all of them.
fn corners_at(triangles: &[[u32; 3]], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; count + 1];
    triangles.iter().flatten().for_each(|node| offsets[*node as usize + 1] += 1);
    (0..count).for_each(|node| offsets[node + 1] += offsets[node]);
    let (mut next, mut around) = (offsets.clone(), vec![0; 3 * triangles.len()]);
    for (corner, node) in triangles.iter().flatten().enumerate() {
        around[next[*node as usize] as usize] = corner as u32;
        next[*node as usize] += 1;
    }
    (offsets, around)
}

/// What holds each node. With K ℓ² = p Y and B = q Y ℓ², λ⁴ = (2π)⁴ q/p ℓ⁴ and ε² = 4 p q.
fn node_springs(
    membranes: &[Membrane],
    points: &[Vec3],
    (edges, scales): (&[f64], &[f64]),
    options: &FleshSkinOptions,
) -> Vec<NodeSprings> {
    let waves = (options.wavelength / core::f64::consts::TAU).powi(2);
    let (p, q) = (0.5 * options.onset / waves, 0.5 * options.onset * waves);

    // the largest eigenvalue of the diagonal blocks of membranes is at most their trace
    let (mut stiffness, mut area) = (vec![0.0; points.len()], vec![0.0; points.len()]);
    for own in membranes {
        let x = own.nodes.map(|node| points[node as usize]);
        let Some(normal) = (x[1] - x[0]).cross(&(x[2] - x[0])).try_normalize(0.0) else { continue };
        for n in 0..3 {
            let far = x[(n + 2) % 3] - x[(n + 1) % 3];
            // |∂φ/∂x| = |e|/2A, and the modulus of plane strain is A Y/(1 − ν²)
            let node = own.nodes[n] as usize;
            stiffness[node] += far.cross(&normal).norm_squared() / (4.0 * own.area * 0.91);
            area[node] += own.area / 3.0;
        }
    }
    let mean = stiffness.iter().sum::<f64>() / stiffness.len().max(1) as f64;
    let of_node = |(((own, area), edge), scale): (((&f64, &f64), &f64), &f64)| {
        let band = options.cling * own;
        let per_area = area / (edge * edge);
        let (foundation, bending) = (p * per_area, 16.0 * q * per_area);
        let across = BOUND * TILT * own + BENDING_BOUND * bending + foundation;
        let mobility = [STEP / (BOUND * own + band), STEP / across];
        NodeSprings {
            slack: options.slack * scale,
            fat: options.fat * scale,
            band,
            foundation,
            bending,
            mobility: if *own > MIN_STIFFNESS * mean { mobility } else { [0.0; 2] },
        }
    };
    stiffness.iter().zip(&area).zip(edges).zip(scales).map(of_node).collect()
}

/// The length of edges, weighted by the areas of their triangles (m): that of most of the surface, however fine faces and fingers are.
fn typical_edge(surface: &TriMesh) -> f64 {
    let all = surface.triangles.iter().filter(|t| t.iter().all(|v| (*v as usize) < surface.vertices.len()));
    let (sum, total) = all.fold((0.0, 0.0), |(sum, total), t| {
        let [a, b, c] = t.map(|v| surface.vertices[v as usize]);
        let area = (b - a).cross(&(c - a)).norm();
        let edge = ((b - a).norm() + (c - b).norm() + (a - c).norm()) / 3.0;
        (sum + area * edge, total + area)
    });
    if total > 0.0 { sum / total } else { 0.0 }
}

/// The mean length of the edges at each node (m).
fn local_edges(triangles: &[[u32; 3]], points: &[Vec3], mean: f64) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); points.len()];
    for &[a, b, c] in triangles {
        for (a, b) in [(a, b), (b, c), (c, a)] {
            let length = (points[a as usize] - points[b as usize]).norm();
            for node in [a, b] {
                sums[node as usize].0 += length;
                sums[node as usize].1 += 1.0;
            }
        }
    }
    sums.iter().map(|(sum, count)| (sum / f64::max(*count, 1.0)).max(MIN_EDGE * mean)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    fn written(surface: &TriMesh) -> Vec<[f32; 3]> {
        surface.vertices.iter().map(|x| [x.x as f32, x.y as f32, x.z as f32]).collect()
    }

    /// Flesh at rest and moved rigidly has its skin where it is drawn, to single precision.
    #[test]
    fn skin_of_rigid_flesh_is_the_flesh() {
        let surface = shapes::sphere(0.3, 3);
        let mut skin = FleshSkin::build(&surface, &FleshSkinOptions::default()).expect("a sheet");
        for i in 0..20 {
            let angle = 0.1 * f64::from(i);
            let turn = sinew_math::so3::exp(&Vec3::new(0.0, angle, 0.5 * angle));
            let moved = |x: &Vec3| turn * x + Vec3::new(0.0, 0.02 * f64::from(i), 0.0);
            let flesh = TriMesh { vertices: surface.vertices.iter().map(moved).collect(), ..surface.clone() };
            let mut out = written(&flesh);
            skin.follow(&mut out);
            for (out, x) in out.iter().zip(&flesh.vertices) {
                // turning by 0.1 rad a frame carries points by chords, which relaxation corrects
                assert!((Vec3::from(out.map(f64::from)) - x).norm() < 1e-6, "{i}");
            }
        }
    }

    /// After a restart skin is where that of its own first frame is, to the bit.
    #[test]
    fn skin_that_begins_anew_has_forgotten_what_was_before() {
        let surface = shapes::sphere(0.3, 3);
        let squeezed = |factor: f64| {
            let squeeze = |x: &Vec3| Vec3::new(x.x, factor * x.y, x.z);
            let vertices = surface.vertices.iter().map(squeeze).collect();
            written(&TriMesh { vertices, ..surface.clone() })
        };
        let build = || FleshSkin::build(&surface, &FleshSkinOptions::default()).expect("a sheet");
        let (mut used, mut fresh) = (build(), build());
        for i in 0..10 {
            used.follow(&mut squeezed(1.0 - 0.04 * f64::from(i)));
        }
        let (mut again, mut first) = (squeezed(0.8), squeezed(0.8));
        used.restart();
        used.follow(&mut again);
        fresh.follow(&mut first);
        assert_eq!(again, first);
    }

    /// A sheet closed like a book, stretched by 30 % so that all of it is relaxed, whose pages of flesh cross by 2.4 mm in the end: pages of skin meet in the middle and do not cross, but at the spine, where both sides were as near at rest.
    #[test]
    fn folds_of_skin_do_not_cross_where_flesh_does() {
        let surface = shapes::sheet([0.4, 0.1], [80, 20]);
        let mut skin = FleshSkin::build(&surface, &FleshSkinOptions::default()).expect("a sheet");
        let (mut deepest_flesh, mut deepest) = (0.0f32, 0.0f32);
        for i in 0..=60 {
            let angle = f64::to_radians(60.0 + 30.35 * f64::from(i.min(45)) / 45.0);
            let (sin, cos) = (sinew_math::real::sin(angle), sinew_math::real::cos(angle));
            let turned = |x: &Vec3| Vec3::new(x.x * cos, x.x.abs() * sin, 1.3 * x.z);
            let mut out = written(&TriMesh {
                vertices: surface.vertices.iter().map(turned).collect(),
                ..surface.clone()
            });
            let flesh = out.clone();
            skin.follow(&mut out);
            for ((rest, flesh), skin) in surface.vertices.iter().zip(&flesh).zip(&out) {
                if rest.x.abs() > 0.02 {
                    let side = rest.x.signum() as f32;
                    deepest_flesh = deepest_flesh.max(-side * flesh[0]);
                    deepest = deepest.max(-side * skin[0]);
                }
            }
        }
        assert!(deepest_flesh > 1.1e-3 && deepest < 1e-5, "{deepest_flesh} {deepest}");
    }
}

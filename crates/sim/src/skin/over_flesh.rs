//! Skin over a surface of flesh that moves by itself: dynamic relaxation of the sheet, frame by frame.                     \[Day1965; TurnerThalmann1993, §3.2\]
//!
//! The drawn surface is the layer, and the skin a sheet of the same triangles at rest, which slides over it: no point is inside, and bands of some slack pull it back to where it was drawn. What flesh compresses, skin does not: it
//! wrinkles. Each stage depends only on what is inside it, so that this follows the simulation of the flesh, whatever that was, and costs a few evaluations of the sheet per frame:
//!
//! ```text
//! v ← κ v − α D⁻¹ ∇Ψ(x),    x ← x + v,    then out of the flesh: x ← x + ⟨−(x − q)·n⟩ n
//! ```
//!
//! with D above the diagonal of the Hessian. Before the first of them, skin is carried with the flesh below it.

use crate::desc::SheetElements;
use crate::network::{NetworkEnergy, Sheet, SheetPoints};
use crate::node_energy::NodeEnergy;
use sinew_contact::nearest_on_triangle;
use sinew_flesh::Fabric;
use sinew_math::parallel::for_each_part;
use sinew_math::{Mat3, Vec3};
use sinew_mesh::TriMesh;

/// Skin over flesh.
#[derive(Debug)]
pub struct FleshSkin {
    energy: NetworkEnergy,
    /// The node of each vertex of the surface, and a vertex of each node.
    vertex_node: Vec<u32>,
    node_vertex: Vec<u32>,
    /// Triangles of nodes, and those at each node.
    triangles: Vec<[u32; 3]>,
    offsets: Vec<u32>,
    around: Vec<u32>,
    /// Mean length of the edges at each node (m).
    edges: Vec<f64>,
    /// Free length (m) and stiffness (N/m) of each band.
    slack: Vec<f64>,
    band: Vec<f64>,
    /// α/D (m/N)
    mobility: Vec<f64>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    gradient: Vec<Vec3>,
    /// A point and the outward normal of the flesh below each node in this frame.
    planes: Vec<[Vec3; 2]>,
    /// The flesh below, now and a frame ago.
    below: Vec<Vec3>,
    below_before: Vec<Vec3>,
    /// The node of the flesh that each node of skin is over.
    over: Vec<u32>,
    has_begun: bool,
    iterations: usize,
}

/// How skin over flesh is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshSkinOptions {
    /// Its slack, as a fraction of the mean edge: how far it slides freely.
    pub slack: f64,
    /// Stiffness of bands, as a fraction of that of the sheet: how tightly it clings.
    pub cling: f64,
    /// Bending stiffness, as a fraction of Y ℓ², with the mean edge ℓ: above some hundredths, wrinkles are wider than edges.
    pub bending: f64,
    /// Iterations per frame.
    pub iterations: usize,
}

impl Default for FleshSkinOptions {
    fn default() -> FleshSkinOptions {
        FleshSkinOptions { slack: 0.3, cling: 0.05, bending: 0.0, iterations: 2 }
    }
}

/// Momentum that is kept from iteration to iteration.
const KEEP: f64 = 0.8;
/// α: with D three times the diagonal, the bound of triangles, plus that of bending, relaxation is stable for any mesh; this leaves room for stretched triangles.
const STEP: f64 = 0.9;
/// D over the diagonal of the Hessian: elements have up to four nodes in common with bending, and H ≤ n diag H element by element.
const BOUND: f64 = 4.0;
/// Iterations in the first frame.
const FIRST: usize = 20;
/// The longest step of an iteration, and the farthest that skin is drawn aside, as fractions of the edges at a point: stretched and squeezed triangles are stiffer than at rest.
const MAX_MOVE: f64 = 0.2;
const MAX_REACH: f64 = 1.0;
/// Points whose triangles have less than this fraction of the mean stiffness stay where they are drawn.
const MIN_STIFFNESS: f64 = 1e-6;
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
        let edge = mean_edge(surface);
        let fabric = Fabric {
            areal_density: 1.0,
            stretch: 1.0,
            poisson: 0.3,
            bending: options.bending * edge * edge,
            damping: 0.0,
        };
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
        let triangles: Vec<[u32; 3]> = network.membranes.iter().map(|own| own.nodes).collect();

        // triangles at nodes
        let mut offsets = vec![0u32; count + 1];
        triangles.iter().flatten().for_each(|node| offsets[*node as usize + 1] += 1);
        (0..count).for_each(|node| offsets[node + 1] += offsets[node]);
        let (mut next, mut around) = (offsets.clone(), vec![0; 3 * triangles.len()]);
        for (t, nodes) in triangles.iter().enumerate() {
            for node in nodes {
                around[next[*node as usize] as usize] = t as u32;
                next[*node as usize] += 1;
            }
        }

        // stiffness
        let mut energy = NetworkEnergy::new(network);
        energy.update(&parts.points);
        let mut blocks = vec![Mat3::zeros(); count];
        energy.add_diagonal(&mut blocks);
        let band: Vec<f64> = blocks.iter().map(|block| options.cling * block.trace() / 3.0).collect();
        let stiffness: Vec<f64> = blocks.iter().map(|block| block.symmetric_eigenvalues().max()).collect();
        let mean = stiffness.iter().sum::<f64>() / stiffness.len().max(1) as f64;
        let mobility = stiffness
            .iter()
            .zip(&band)
            .map(|(own, band)| if *own > MIN_STIFFNESS * mean { STEP / (BOUND * own + band) } else { 0.0 });
        let edges = local_edges(&triangles, &parts.points, edge);
        Ok(FleshSkin {
            mobility: mobility.collect(),
            slack: edges.iter().map(|edge| options.slack * edge).collect(),
            edges,
            energy,
            vertex_node,
            node_vertex,
            triangles,
            offsets,
            around,
            band,
            gradient: vec![Vec3::zeros(); count],
            planes: vec![[Vec3::zeros(); 2]; count],
            x: parts.points.clone(),
            v: vec![Vec3::zeros(); count],
            below: parts.points.clone(),
            below_before: parts.points,
            over: (0..count as u32).collect(),
            has_begun: false,
            iterations: options.iterations,
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
        // the flesh below, and the skin carried with it
        core::mem::swap(&mut self.below, &mut self.below_before);
        for (below, vertex) in self.below.iter_mut().zip(&self.node_vertex) {
            *below = Vec3::from(surface[*vertex as usize].map(f64::from));
        }
        if self.has_begun {
            for (node, x) in self.x.iter_mut().enumerate() {
                *x += self.below[node] - self.below_before[node];
            }
        } else {
            self.x.clone_from(&self.below);
        }
        self.find_planes();
        let iterations = if self.has_begun { self.iterations } else { FIRST };
        self.has_begun = true;

        // relaxation
        for _ in 0..iterations {
            self.gradient.fill(Vec3::zeros());
            self.energy.evaluate(&self.x, &mut self.gradient);
            self.relax();
        }
        for (out, node) in surface.iter_mut().zip(&self.vertex_node) {
            let x = self.x[*node as usize];
            *out = [x.x as f32, x.y as f32, x.z as f32];
        }
    }

    /// Finds the nearest triangle of the flesh below each node, among those at the node that it was over.
    fn find_planes(&mut self) {
        let FleshSkin { triangles, offsets, around, below, x, over, planes, .. } = self;
        let (triangles, below, offsets, around) = (&*triangles, &*below, &*offsets, &*around);
        let parts = (x.as_slice(), (over.as_mut_slice(), planes.as_mut_slice()));
        for_each_part(parts, CHUNK, |_, (x, (over, planes))| {
            for ((x, over), plane) in x.iter().zip(over).zip(planes) {
                let own = &around[offsets[*over as usize] as usize..offsets[*over as usize + 1] as usize];
                let mut nearest = f64::INFINITY;
                let mut sum = Vec3::zeros();
                let mut next = *over;
                for t in own {
                    let nodes = triangles[*t as usize];
                    let corners =
                        [below[nodes[0] as usize], below[nodes[1] as usize], below[nodes[2] as usize]];
                    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
                    sum += normal;
                    let found = nearest_on_triangle(x, &corners);
                    let distance = (*x - found.point).norm_squared();
                    if distance < nearest {
                        let [a, b, c] = found.weights;
                        nearest = distance;
                        next = nodes[if a >= b && a >= c { 0 } else { usize::from(c > b) + 1 }];
                        *plane = [found.point, normal];
                    }
                }
                // at edges and corners the mean of the triangles says what is outside
                let mean = sum.try_normalize(0.0).unwrap_or_default();
                let normal = plane[1].try_normalize(0.0).unwrap_or(mean);
                plane[1] = if normal.dot(&mean) > 0.0 { normal } else { mean };
                *over = next;
            }
        });
    }

    /// One step of relaxation, and out of the flesh.
    fn relax(&mut self) {
        let FleshSkin { edges, slack, band, mobility, gradient, below, planes, x, v, .. } = self;
        let (edges, slack, band, mobility) = (&*edges, &*slack, &*band, &*mobility);
        let (gradient, below, planes) = (&*gradient, &*below, &*planes);
        for_each_part((x.as_mut_slice(), v.as_mut_slice()), CHUNK, |first, (x, v)| {
            for (i, (x, v)) in x.iter_mut().zip(v).enumerate() {
                let node = first + i;
                let mut force = -gradient[node];
                let off = *x - below[node];
                let length = off.norm();
                if length > slack[node] {
                    force -= (band[node] * (length - slack[node]) / length) * off;
                }
                *v = shorter(KEEP * *v + mobility[node] * force, MAX_MOVE * edges[node]);
                *x += *v;
                // never farther from where it was drawn than bands let it, whatever squeezed triangles do
                *x = below[node] + shorter(*x - below[node], MAX_REACH * edges[node]);

                // out of the flesh
                let [point, normal] = planes[node];
                let depth = (*x - point).dot(&normal);
                if depth < 0.0 {
                    *x -= depth * normal;
                    *v -= v.dot(&normal).min(0.0) * normal;
                }
            }
        });
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

fn mean_edge(surface: &TriMesh) -> f64 {
    let length = |a: u32, b: u32| (surface.vertices[a as usize] - surface.vertices[b as usize]).norm();
    let all = surface.triangles.iter().filter(|t| t.iter().all(|v| (*v as usize) < surface.vertices.len()));
    let (sum, count) = all.fold((0.0, 0), |(sum, count), &[a, b, c]| {
        (sum + length(a, b) + length(b, c) + length(c, a), count + 3)
    });
    sum / f64::from(count.max(1))
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

    /// Flesh compressed along an axis to 0.8: its skin keeps more of its length, outside of the flesh, by folds.
    #[test]
    fn skin_of_compressed_flesh_wrinkles_and_stays_outside() {
        let mut surface = shapes::sheet([0.4, 0.2], [40, 20]);
        // a slight wave decides where it buckles
        surface.vertices.iter_mut().for_each(|x| x.y = 1e-4 * sinew_math::real::sin(40.0 * x.x));
        let mut skin = FleshSkin::build(&surface, &FleshSkinOptions::default()).expect("a sheet");
        let mut out = written(&surface);
        for i in 0..60 {
            let squeeze = 1.0 - 0.2 * f64::from(i.min(30)) / 30.0;
            let flesh: Vec<Vec3> =
                surface.vertices.iter().map(|x| Vec3::new(squeeze * x.x, 0.0, x.z)).collect();
            out = written(&TriMesh { vertices: flesh, ..surface.clone() });
            skin.follow(&mut out);
            // the sheet's triangles face upwards: nothing is below the flesh
            assert!(out.iter().all(|x| x[1] > -1e-6), "{i}");
        }
        let highest = out.iter().map(|x| x[1]).fold(0.0, f32::max);
        assert!(highest > 1e-3, "{highest}");
    }
}

//! Shapes of limbs: points on the skin of bones, and how deep places are in their flesh, so that limbs do not pass through each other, however much flesh gives way.
//!
//! Contact of flesh pushes on the light nodes of its surface, and explicit springs between them are soft: a limb on which a whole character lands would pass through them. All of a limb moves with its bone, so
//! that springs between bones may be stiff ([`crate::coupling`]).
//!
//! In the frame of its bone a limb is drawn as at rest. A point of another limb at x is at depth d(x) r(w(x)): d is the distance of x from the skin at rest, w the weight of the bone at the nearest point of the skin, and r
//! fades the limb out where the next one begins. Points that a bone moves itself, as those around a common joint, do not meet it; others may be as deep in it as they are drawn.

use crate::body::Body;
use crate::bone_weights::BoneWeights;
use core::ops::Range;
use rayon::prelude::*;
use sinew_contact::{Bounds, BoxTree, SampleGrid, nearest_on_triangle};
use sinew_math::spatial::Frame;
use sinew_math::{Vec3, real};
use sinew_mesh::{TriMesh, WindingTree};

/// Points on the skin of a bone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limb {
    /// The bone, counted among those of all rigs from 1.
    pub(crate) bone: u32,
    /// Its points among all.
    pub(crate) points: Range<usize>,
    /// The ball around them, in the frame of the bone (m).
    pub(crate) center: Vec3,
    pub(crate) radius: f64,
}

/// Depths in the flesh of a bone, in its frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LimbField {
    /// The bone, counted among those of all rigs from 1.
    pub(crate) bone: u32,
    pub(crate) grid: SampleGrid,
    /// Signed distances from the skin, negative inside (m).
    distance: Vec<f32>,
    /// The fade r of the limb, from 0 to 1.
    fade: Vec<f32>,
    /// The largest depth (m).
    pub(crate) thickness: f64,
}

/// A limb whose points meet the flesh of another bone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LimbPair {
    pub(crate) limb: u32,
    pub(crate) field: u32,
    /// Where the depths that its points may have without being pushed begin among all; those of another character may have [`YIELD`] everywhere.
    pub(crate) allowed: Option<usize>,
}

/// The limbs of all rigs with flesh that has a home.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LimbShapes {
    /// In the frames of their bones (m).
    pub(crate) points: Vec<Vec3>,
    pub(crate) limbs: Vec<Limb>,
    pub(crate) fields: Vec<LimbField>,
    pub(crate) pairs: Vec<LimbPair>,
    /// Depths that points may have (m); infinite for those that do not meet.
    pub(crate) allowed: Vec<f32>,
}

/// The depth that is left to flesh to yield by, relative to the thickness of a limb.
pub(crate) const YIELD: f64 = 0.1;
/// Points of a limb.
const POINTS: usize = 48;
/// Samples of a field, about.
const SAMPLES: f64 = 4096.0;
/// Bones with a smaller part of the flesh of their body have points, but no field: fingers, ears.
const MIN_MASS: f64 = 3e-3;
/// A limb fades in between these weights.
const FADE: [f64; 2] = [0.3, 0.7];
/// Points with a larger weight of a bone do not meet it.
const MOVED_ALONG: f64 = 0.4;
/// Winding number above which a place is inside.
const INSIDE: f64 = 0.5;

/// What limbs are made of.
pub(crate) struct LimbFlesh<'a> {
    pub(crate) bodies: &'a [Body],
    /// Those on bones.
    pub(crate) limbs: &'a [LimbBody],
    /// Frames of all bones at rest, the world first.
    pub(crate) rest_frames: &'a [Frame],
}

/// A body on bones.
pub(crate) struct LimbBody {
    /// Its index among bodies.
    pub(crate) body: usize,
    /// The bones of its rig.
    pub(crate) bones: Range<usize>,
    /// For each of its nodes the bones that move it, counted among those of all rigs from 1, with weights.
    pub(crate) node_weights: Vec<BoneWeights>,
    /// Whether its nodes have homes. Limbs without meet those of their own skeleton only: they are as soft as their flesh, and its contact keeps characters apart.
    pub(crate) has_home: bool,
}

impl LimbBody {
    /// The mass that each bone carries (kg), given those of the body's nodes.
    fn bone_mass(&self, node_mass: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.bones.len()];
        for (weights, mass) in self.node_weights.iter().zip(node_mass) {
            weights.iter().for_each(|(bone, weight)| sum[*bone as usize - self.bones.start] += weight * mass);
        }
        sum
    }
}

impl LimbShapes {
    /// Makes the limbs of all bodies on bones, given the masses of nodes (kg). `collide` says of two bodies, by their indices, whether they do.
    pub(crate) fn build(
        flesh: &LimbFlesh,
        node_mass: &[f64],
        collide: impl Fn(usize, usize) -> bool,
    ) -> LimbShapes {
        // limbs and fields of each body that meets one
        let mut shapes = LimbShapes::default();
        let meet = |a: &LimbBody, b: &LimbBody| {
            collide(a.body, b.body) && (a.bones == b.bones || (a.has_home && b.has_home))
        };
        let met = |own: &&LimbBody| flesh.limbs.iter().any(|other| meet(own, other));
        let (mut skins, mut vertices) = (Vec::new(), Vec::new());
        let (mut of_limb, mut of_field) = (Vec::new(), Vec::new());
        for (i, own) in flesh.limbs.iter().filter(met).enumerate() {
            let skin = Skin::of(flesh, own);
            for bone in own.bones.clone() {
                shapes.add_points(&skin, bone as u32, &flesh.rest_frames[bone], &mut vertices);
            }
            let bone_mass = own.bone_mass(&node_mass[flesh.bodies[own.body].nodes.clone()]);
            shapes.fields.extend(skin.fields((own.bones.clone(), &bone_mass), flesh.rest_frames));
            of_limb.resize(shapes.limbs.len(), i);
            of_field.resize(shapes.fields.len(), i);
            skins.push((own, skin));
        }

        // those on one skeleton are drawn as they are at rest; those of two are anywhere before they meet
        for (l, &own) in of_limb.iter().enumerate() {
            for (f, &other) in of_field.iter().enumerate() {
                let ((own, skin), (other, _)) = (&skins[own], &skins[other]);
                if !meet(own, other) {
                    continue;
                }
                if own.bones == other.bones {
                    let own = &vertices[shapes.limbs[l].points.clone()];
                    shapes.add_drawn_pair(skin, own, (l, f), flesh.rest_frames);
                } else {
                    shapes.pairs.push(LimbPair { limb: l as u32, field: f as u32, allowed: None });
                }
            }
        }
        shapes
    }

    /// Adds points on the skin of a bone, as far from each other as possible, and the vertices that they are.
    fn add_points(&mut self, skin: &Skin, bone: u32, frame: &Frame, vertices: &mut Vec<usize>) {
        let leads = |v: &usize| skin.leading[*v] == bone;
        let all: Vec<usize> = (0..skin.vertices.len()).filter(leads).collect();
        let Some(first) = all.first() else { return };
        let start = self.points.len();
        let mut gap = vec![f64::INFINITY; all.len()];
        let mut next = *first;
        for _ in 0..POINTS.min(all.len()) {
            vertices.push(next);
            self.points.push(frame.point_back(&skin.vertices[next]));
            for (gap, v) in gap.iter_mut().zip(&all) {
                *gap = gap.min((skin.vertices[*v] - skin.vertices[next]).norm_squared());
            }
            // the farthest from those that are chosen, the first of equals
            let farthest = gap
                .iter()
                .zip(&all)
                .fold((0.0, next), |best, (gap, v)| if *gap > best.0 { (*gap, *v) } else { best });
            if farthest.0 == 0.0 {
                break;
            }
            next = farthest.1;
        }
        let bounds = Bounds::around(&self.points[start..]);
        self.limbs.push(Limb {
            bone,
            points: start..self.points.len(),
            center: bounds.center(),
            radius: bounds.radius(),
        });
    }

    /// Adds a pair of one character, unless none of the points meets the field.
    fn add_drawn_pair(
        &mut self,
        skin: &Skin,
        vertices: &[usize],
        (l, f): (usize, usize),
        rest_frames: &[Frame],
    ) {
        let (limb, field) = (&self.limbs[l], &self.fields[f]);
        if limb.bone == field.bone {
            return;
        }
        let start = self.allowed.len();
        for (place, vertex) in self.points[limb.points.clone()].iter().zip(vertices) {
            let x = rest_frames[limb.bone as usize].point(place);
            let drawn =
                field.depth(&rest_frames[field.bone as usize].point_back(&x)).map_or(0.0, |(depth, _)| depth);
            let meets = skin.weight(*vertex, field.bone) <= MOVED_ALONG;
            self.allowed.push(if meets { drawn.max(YIELD * field.thickness) as f32 } else { f32::INFINITY });
        }
        if self.allowed[start..].iter().all(|depth| depth.is_infinite()) {
            self.allowed.truncate(start);
        } else {
            self.pairs.push(LimbPair { limb: l as u32, field: f as u32, allowed: Some(start) });
        }
    }
}

impl LimbField {
    /// From signed distances and fades at the points of a grid; none if nothing of it is inside.
    pub(crate) fn new(bone: u32, grid: SampleGrid, distance: Vec<f32>, fade: Vec<f32>) -> Option<LimbField> {
        let depths = distance.iter().zip(&fade).map(|(distance, fade)| f64::from(-distance * fade));
        let thickness = depths.fold(0.0, f64::max);
        (thickness > 0.0).then_some(LimbField { bone, grid, distance, fade, thickness })
    }

    /// How deep a place in the frame of the bone is in its flesh (m), and the way out; none outside.
    #[inline]
    pub(crate) fn depth(&self, p: &Vec3) -> Option<(f64, Vec3)> {
        let (distance, gradient) = self.grid.interpolate(&self.distance, p)?;
        if distance >= 0.0 {
            return None;
        }
        let (fade, _) = self.grid.interpolate(&self.fade, p)?;
        let out = gradient.try_normalize(0.0)?;
        (fade > 0.0).then_some((-distance * fade, out))
    }
}

/// The skin of a body at rest, with the weights of bones.
struct Skin {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// For each vertex the bones that move it, with weights.
    weights: Vec<Vec<(u32, f64)>>,
    /// The one with the largest.
    leading: Vec<u32>,
}

impl Skin {
    fn of(flesh: &LimbFlesh, own: &LimbBody) -> Skin {
        let (surface, embedding) = flesh.bodies[own.body].contact_mesh();
        let of_vertex = |vertex: usize| {
            let mut sum: Vec<(u32, f64)> = Vec::new();
            for (node, weight) in embedding.point(vertex) {
                for (bone, part) in &own.node_weights[node as usize] {
                    match sum.iter_mut().find(|(other, _)| other == bone) {
                        Some((_, own)) => *own += weight * part,
                        None => sum.push((*bone, weight * part)),
                    }
                }
            }
            sum
        };
        let weights: Vec<Vec<(u32, f64)>> =
            (0..surface.vertices.len()).into_par_iter().map(of_vertex).collect();
        Skin::new(surface.clone(), weights)
    }

    fn new(surface: TriMesh, weights: Vec<Vec<(u32, f64)>>) -> Skin {
        let heavier = |best: (u32, f64), next: &(u32, f64)| if next.1 > best.1 { *next } else { best };
        let leading = weights.iter().map(|own| own.iter().fold((0, 0.0), heavier).0).collect();
        Skin { leading, weights, vertices: surface.vertices, triangles: surface.triangles }
    }

    /// The weight of a bone at a vertex, relative to the largest there.
    fn weight(&self, vertex: usize, bone: u32) -> f64 {
        let weight = |bone: u32| {
            self.weights[vertex].iter().find(|(own, _)| *own == bone).map_or(0.0, |(_, weight)| *weight)
        };
        weight(bone) / weight(self.leading[vertex]).max(f64::MIN_POSITIVE)
    }

    /// The fields of the bones of a body that carry enough of its flesh.
    fn fields(&self, (bones, bone_mass): (Range<usize>, &[f64]), rest_frames: &[Frame]) -> Vec<LimbField> {
        let corners: Vec<[Vec3; 3]> =
            self.triangles.iter().map(|t| t.map(|v| self.vertices[v as usize])).collect();
        let boxes = BoxTree::build(&corners.iter().map(Bounds::around).collect::<Vec<_>>());
        let winding = WindingTree::build(corners.clone());
        let total: f64 = bone_mass.iter().sum();
        let carriers = bones.zip(bone_mass).filter(|(_, mass)| **mass > MIN_MASS * total);
        let sampled = carriers.filter_map(|(bone, _)| {
            let frame = &rest_frames[bone];
            let grid = self.grid(bone as u32, frame)?;
            let at = |i: usize| {
                let x = frame.point(&grid.point(i));
                let squared = |t: usize| (nearest_on_triangle(&x, &corners[t]).point - x).norm_squared();
                let (t, squared) = boxes.find_nearest(&x, f64::INFINITY, squared)?;
                let near = nearest_on_triangle(&x, &corners[t]);
                let weight: f64 = self.triangles[t]
                    .iter()
                    .zip(near.weights)
                    .map(|(v, share)| share * self.weight(*v as usize, bone as u32))
                    .sum();
                let sign = if winding.winding_number(&x) > INSIDE { -1.0 } else { 1.0 };
                let fade = ((weight - FADE[0]) / (FADE[1] - FADE[0])).clamp(0.0, 1.0);
                Some(((sign * squared.sqrt()) as f32, fade as f32))
            };
            let samples: Vec<(f32, f32)> =
                (0..grid.count()).into_par_iter().map(|i| at(i).unwrap_or((f32::MAX, 0.0))).collect();
            let (distance, fade): (Vec<f32>, Vec<f32>) = samples.into_iter().unzip();
            LimbField::new(bone as u32, grid, distance, fade)
        });
        sampled.collect()
    }

    /// A grid over the skin that a bone moves, with a margin of a cell.
    fn grid(&self, bone: u32, frame: &Frame) -> Option<SampleGrid> {
        let own = (0..self.vertices.len()).filter(|v| self.weight(*v, bone) > FADE[0]);
        let places: Vec<Vec3> = own.map(|v| frame.point_back(&self.vertices[v])).collect();
        if places.is_empty() {
            return None;
        }
        let bounds = Bounds::around(&places);
        let size = bounds.max - bounds.min;
        let sides = size.map(|side| side.max(0.1 * size.amax()));
        let spacing = real::cbrt(sides.product() / SAMPLES);
        if !(spacing > 0.0 && spacing.is_finite()) {
            return None;
        }
        let counts = [0, 1, 2].map(|k| (size[k] / spacing).ceil() as usize + 3);
        Some(SampleGrid { origin: bounds.min.add_scalar(-spacing), spacing, counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    /// A ball of radius 0.1 m whose halves, left and right of x = 0, move with bones 1 and 2.
    fn ball() -> (Skin, [Frame; 3]) {
        let surface = shapes::sphere(0.1, 4);
        let weights = |x: &Vec3| {
            let right = (0.5 + x.x / 0.04).clamp(0.0, 1.0);
            vec![(1, 1.0 - right), (2, right)]
        };
        let weights = surface.vertices.iter().map(weights).collect();
        (Skin::new(surface, weights), [Frame::default(); 3])
    }

    /// The depth in a ball is its radius less the distance from the centre, to within the sagitta of a facet and the curvature of the distance in a cell; the other half has none.
    #[test]
    fn fields_are_depths_in_the_flesh_of_a_bone() {
        let (skin, frames) = ball();
        let fields = skin.fields((1..3, &[1.0, 1.0]), &frames);
        let [left, right] = &fields[..] else { panic!("{} fields", fields.len()) };
        for p in [Vec3::new(0.07, 0.01, 0.02), Vec3::new(0.04, -0.05, 0.03), Vec3::new(0.05, 0.0, 0.0)] {
            let (depth, out) = right.depth(&p).expect("inside");
            assert!((depth - (0.1 - p.norm())).abs() < 1.5e-3, "{depth} at {p}");
            assert!(out.dot(&p.normalize()) > 0.97, "{out}");
            assert_eq!(left.depth(&p), None);
        }
        assert_eq!(right.depth(&Vec3::new(0.11, 0.0, 0.0)), None);
        assert!(right.thickness > 0.07 && right.thickness <= 0.1);
    }

    /// Points lie on the skin that the bone leads, in its frame, apart from each other: 48 points on half a ball of radius r cover 2 π r²/48 each, and the farthest-point rule keeps them at least as far apart as discs of half that area.
    #[test]
    fn points_spread_over_the_skin() {
        let (skin, _) = ball();
        let frame = Frame { origin: Vec3::new(0.3, 0.0, 0.0), ..Frame::default() };
        let (mut shapes, mut vertices) = (LimbShapes::default(), Vec::new());
        shapes.add_points(&skin, 2, &frame, &mut vertices);
        assert_eq!((shapes.limbs.len(), shapes.points.len(), vertices.len()), (1, POINTS, POINTS));
        let closest = (0..POINTS)
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .map(|(a, b)| (shapes.points[a] - shapes.points[b]).norm())
            .fold(f64::INFINITY, f64::min);
        let disc = (0.5 * 2.0 * 0.01 / POINTS as f64).sqrt();
        assert!(closest > disc, "{closest} of {disc}");
        let own = |x: &Vec3| (x + frame.origin).norm() - 0.1 < 1e-9 && x.x + 0.3 >= -1e-9;
        assert!(shapes.points.iter().all(own));
    }

    /// Points that are drawn in the flesh of another bone may stay as deep; those that it moves itself do not meet it.
    #[test]
    fn drawn_overlaps_are_allowed() {
        let (skin, frames) = ball();
        let mut shapes = LimbShapes::default();
        let mut vertices = Vec::new();
        for bone in 1..3 {
            shapes.add_points(&skin, bone, &frames[bone as usize], &mut vertices);
        }
        shapes.fields = skin.fields((1..3, &[1.0, 1.0]), &frames);
        shapes.add_drawn_pair(&skin, &vertices[..POINTS], (0, 1), &frames);
        assert_eq!(shapes.pairs.len(), 1);
        let thickness = shapes.fields[1].thickness;
        for (x, allowed) in shapes.points.iter().zip(&shapes.allowed) {
            let moved_along = (0.5 + x.x / 0.04).max(0.0) / (0.5 - x.x / 0.04).min(1.0) > MOVED_ALONG;
            assert_eq!(allowed.is_infinite(), moved_along, "{x}");
            assert!(moved_along || (f64::from(*allowed) - YIELD * thickness).abs() < 1e-6);
        }
    }
}

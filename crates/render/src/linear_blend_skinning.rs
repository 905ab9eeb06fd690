//! Linear blend skinning with weights by distance to the bones, to compare flesh with.
//!
//! ```text
//! x = Σ_b w_b T_b T_b,rest⁻¹ x_rest,     w_b ∝ 1/(d_b + ε)⁴
//! ```
//!
//! with d_b the distance at rest to the segments of bone b. The weights fall off smoothly, as painted weights do.

use sinew_math::{Isometry, Vec3, distance_to_segment};
use sinew_sim::{Model, Rig};
use sinew_skeleton::{Kinematics, SkeletonState};

/// ε as a fraction of the longest bone.
const SOFTNESS: f64 = 0.02;
/// Weights below this are dropped.
const MIN_WEIGHT: f64 = 1e-3;

/// Segments along the bones of a rig, in each bone's frame (m): to the joints of its children, or through its centre of mass where it has none.
pub(crate) fn bone_segments(rig: &Rig) -> Vec<(usize, [Vec3; 2])> {
    let bones = rig.skeleton.bones();
    let mut segments: Vec<(usize, [Vec3; 2])> = Vec::new();
    for (index, bone) in bones.iter().enumerate() {
        let children =
            bones.iter().filter(|child| child.parent.is_some_and(|parent| parent.index() == index));
        let tips: Vec<Vec3> =
            children.map(|child| child.parent_from_joint.origin).filter(|tip| tip.norm() > 1e-9).collect();
        if tips.is_empty() {
            segments.push((index, [Vec3::zeros(), 2.0 * bone.mass.center]));
        }
        segments.extend(tips.into_iter().map(|tip| (index, [Vec3::zeros(), tip])));
    }
    segments
}

/// The skinning of a model's bodies.
pub(crate) struct LinearBlendSkinning {
    /// For each rig the inverse rest transforms of its bones.
    bone_from_rest: Vec<Vec<Isometry>>,
    bodies: Vec<Skin>,
}

struct Skin {
    rig: usize,
    rest: Vec<Vec3>,
    /// Bones and weights of each vertex.
    weights: Vec<Vec<(usize, f64)>>,
}

impl LinearBlendSkinning {
    /// The skinning of a model; `None` if a body is attached to no bones.
    pub(crate) fn of(model: &Model) -> Option<LinearBlendSkinning> {
        let rest = |rig: &Rig| -> Vec<Isometry> {
            let mut kinematics = Kinematics::default();
            kinematics.update(&rig.skeleton, &SkeletonState::at_rest(&rig.skeleton));
            kinematics.world_frames().iter().map(|frame| frame.isometry()).collect()
        };
        let frames: Vec<Vec<Isometry>> = model.rigs().iter().map(rest).collect();
        let bodies = model.bodies().iter().map(|body| {
            let rig = body.nodes.clone().find_map(|node| model.bone_of_node(node))?.0;
            Some(Skin::of(rig, &body.surface.vertices, &model.rigs()[rig], &frames[rig]))
        });
        let bodies = bodies.collect::<Option<Vec<Skin>>>()?;
        let inverse = |frames: Vec<Isometry>| frames.iter().map(Isometry::inverse).collect();
        Some(LinearBlendSkinning { bone_from_rest: frames.into_iter().map(inverse).collect(), bodies })
    }

    /// The vertices of every body (m) for the world transforms of the bones of every rig.
    pub(crate) fn surfaces(&self, bones: &[Vec<Isometry>]) -> Vec<Vec<[f32; 3]>> {
        let surface = |skin: &Skin| {
            let now_from_rest: Vec<Isometry> = bones[skin.rig]
                .iter()
                .zip(&self.bone_from_rest[skin.rig])
                .map(|(now, rest)| now * rest)
                .collect();
            let vertex = |(rest, weights): (&Vec3, &Vec<(usize, f64)>)| {
                let point =
                    |bone: usize| (now_from_rest[bone] * sinew_math::nalgebra::Point3::from(*rest)).coords;
                let x: Vec3 = weights.iter().map(|(bone, weight)| point(*bone) * *weight).sum();
                [x.x as f32, x.y as f32, x.z as f32]
            };
            skin.rest.iter().zip(&skin.weights).map(vertex).collect()
        };
        self.bodies.iter().map(surface).collect()
    }
}

impl Skin {
    /// Finds the weights of vertices at rest.
    fn of(rig: usize, rest: &[Vec3], skeleton: &Rig, frames: &[Isometry]) -> Skin {
        let world = |bone: usize, p: &Vec3| (frames[bone] * sinew_math::nalgebra::Point3::from(*p)).coords;
        // the bones at rest
        let segments: Vec<(usize, [Vec3; 2])> = bone_segments(skeleton)
            .into_iter()
            .map(|(bone, [from, to])| (bone, [world(bone, &from), world(bone, &to)]))
            .collect();
        let longest = segments.iter().map(|(_, [from, to])| (to - from).norm()).fold(0.0, f64::max).max(1e-9);

        // normalised inverse powers of the distances
        let weights = |vertex: &Vec3| {
            let mut near = vec![f64::INFINITY; frames.len()];
            for (bone, [from, to]) in &segments {
                near[*bone] = near[*bone].min(distance_to_segment(vertex, from, to));
            }
            let weight = |distance: f64| {
                let squared = (distance + SOFTNESS * longest) * (distance + SOFTNESS * longest);
                1.0 / (squared * squared)
            };
            let all: f64 = near.iter().map(|distance| weight(*distance)).sum();
            let mut kept: Vec<(usize, f64)> = near
                .iter()
                .map(|distance| weight(*distance) / all)
                .enumerate()
                .filter(|(_, w)| *w > MIN_WEIGHT)
                .collect();
            let sum: f64 = kept.iter().map(|(_, weight)| weight).sum();
            kept.iter_mut().for_each(|(_, weight)| *weight /= sum);
            kept
        };
        Skin { rig, rest: rest.to_vec(), weights: rest.iter().map(weights).collect() }
    }
}

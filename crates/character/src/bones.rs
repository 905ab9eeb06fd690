//! Bones made of joints: where they stand at bind, how they may move, and how thick they are.
//!
//! Shapes come from the flesh that follows a bone. A segment goes to a joint below only if the flesh along it follows the bone: game rigs hang
//! feet, hands and weapons from a root, and nothing is there on the way. A joint that no flesh follows most (a control, a root on the ground,
//! a pole, a twist joint, a bare end) has a small mass and no shape, so that it claims nothing.

use crate::flesh::Flesh;
use crate::{CharacterJoint, Mat4, NodeTransform, RiggedCharacter};
use sinew_control::{BoneMap, HumanBone};
use sinew_math::{Isometry, Mat3, Rotation, Vec3, distance_to_segment};
use sinew_sim::desc::{Hold, TieDesc};
use sinew_skeleton::{
    BoneDesc, BoneId, JointDesc, JointKind, MassDesc, MassProperties, Parent, Skeleton, SkeletonDesc,
    SolidShape,
};

/// Bones and the nodes they were made of.
#[derive(Clone, Debug)]
pub(crate) struct Bones {
    pub(crate) desc: SkeletonDesc,
    /// For each bone, in the order of the description, its node.
    pub(crate) node: Vec<usize>,
    /// The bone's frame in that of its node, without the node's scale: see [`Bones::turn_frame`].
    turns: Vec<Rotation>,
    /// The node's frame in the bone's at bind, which holds the node's scale.
    pub(crate) bone_from_node: Vec<Mat4>,
    /// For each node its bone.
    pub(crate) of_node: Vec<Option<u32>>,
    /// Joints that carry no vertex and nothing that does.
    pub(crate) left_out: usize,
}

/// The radius of a bone as a fraction of its distance to the skin around it, of which the nearer quarter counts, so that bones stay
/// inside.
const RADIUS_FRACTION: f64 = 0.45;
const NEARER: f64 = 0.25;
/// The smallest radius and length of a bone, as fractions of the character's size.
const THINNEST: f64 = 1e-3;
const SHORTEST: f64 = 2e-3;
/// A segment is part of a bone if the flesh along it has this mean weight of the bone. Flesh that blends over the whole of a bone, from its parent
/// to its child, has 1/2; along a line through four bones, as from a trunk through a leg to a foot, each has 1/4.
const FOLLOWED: f64 = 1.0 / 3.0;
/// A bone that hangs from a control hangs from the bone with which it shares flesh instead if they share more than this fraction of its vertices.
const SHARED: f64 = 0.02;
/// How many points of a segment are looked at.
const PROBES: usize = 8;
/// How many vertices of the flesh are looked at, at most: every second, third ... of finer surfaces.
const MAX_PROBED_VERTICES: usize = 20_000;
/// The radius of the ball whose mass a joint without flesh has, as a fraction of the character's size.
const BARE_RADIUS: f64 = 0.02;
/// Nodes whose surface has this weight of a bone are fixed to it.
const WHOLLY_PAINTED: f64 = 0.9;
/// How much denser bones are than the flesh that fills the same place in the cage (kg/m³).
const DENSITY: f64 = 250.0;

impl Bones {
    /// Makes bones of the joints that carry flesh, or have descendants that do.
    pub(crate) fn build(rigged: &RiggedCharacter, flesh: &Flesh) -> Bones {
        let joints = rigged.find_joints();
        // which joints become bones
        let mut carries: Vec<bool> = joints.iter().map(|joint| joint.vertex_fraction > 0.0).collect();
        for i in (0..joints.len()).rev() {
            if let (true, Some(parent)) = (carries[i], joints[i].parent) {
                carries[parent] = true;
            }
        }
        let kept: Vec<usize> = (0..joints.len()).filter(|&i| carries[i]).collect();
        let mut place = vec![None; joints.len()];
        let mut of_node = vec![None; rigged.nodes.len()];
        for (bone, &joint) in kept.iter().enumerate() {
            place[joint] = Some(bone);
            of_node[joints[joint].node] = Some(bone as u32);
        }

        // where they stand, and how thick they are
        let frames: Vec<Isometry> = kept.iter().map(|&i| rigid(&joints[i].bind)).collect();
        let parents: Vec<Option<usize>> =
            kept.iter().map(|&i| joints[i].parent.and_then(|p| place[p])).collect();
        let following = Following::find(flesh, rigged, &of_node, kept.len());
        let parents = following.held_parents(parents);
        let segments = segments(&frames, &parents, flesh, &following);
        let radii = radii(&segments, flesh, &following);

        // as the description of a skeleton
        let bone = |(bone, joint): (usize, &CharacterJoint)| {
            let parent_from_joint = match parents[bone] {
                Some(parent) => frames[parent].inverse() * frames[bone],
                None => frames[bone],
            };
            let back = |point: &Vec3| frames[bone].inverse().transform_point(&(*point).into()).coords;
            let solid = |[from, to]: &[Vec3; 2]| MassDesc::Solid {
                shape: SolidShape::Capsule { from: back(from), to: back(to), radius: radii[bone] },
                density: DENSITY,
            };
            BoneDesc {
                name: rigged.nodes[joint.node].label.clone(),
                parent: parents[bone].map_or(Parent::World, Parent::Index),
                parent_from_joint,
                joint: JointDesc::of(if parents[bone].is_none() { JointKind::Free } else { JointKind::Ball }),
                mass: match &segments[bone][..] {
                    [] => ball_mass(BARE_RADIUS * flesh.size),
                    lines => MassDesc::Sum(lines.iter().map(solid).collect()),
                },
            }
        };
        let desc = SkeletonDesc { bones: kept.iter().map(|&i| &joints[i]).enumerate().map(bone).collect() };
        let bone_from_node =
            |(&joint, frame): (&usize, &Isometry)| frame.inverse().to_homogeneous() * joints[joint].bind;
        Bones {
            desc,
            node: kept.iter().map(|&i| joints[i].node).collect(),
            turns: vec![Rotation::identity(); kept.len()],
            bone_from_node: kept.iter().zip(&frames).map(bone_from_node).collect(),
            of_node,
            left_out: joints.len() - kept.len(),
        }
    }

    /// Makes bones thick where people have little flesh: skulls, hands and feet.
    pub(crate) fn harden(&mut self, human: &BoneMap, skeleton: &Skeleton) {
        for (bone, index) in human.iter() {
            let fraction = match bone {
                HumanBone::Head => 0.85,
                HumanBone::LeftHand
                | HumanBone::RightHand
                | HumanBone::LeftFoot
                | HumanBone::RightFoot
                | HumanBone::LeftToes
                | HumanBone::RightToes => 0.7,
                _ => continue,
            };
            let place = skeleton.desc_of_bone(BoneId(index as u32));
            let MassDesc::Sum(solids) = &mut self.desc.bones[place].mass else { continue };
            for solid in solids {
                if let MassDesc::Solid { shape: SolidShape::Capsule { radius, .. }, .. } = solid {
                    *radius *= fraction / RADIUS_FRACTION;
                }
            }
        }
    }

    /// Ties for what people have little flesh on: skulls, and hands and feet with all fingers and toes, follow their painted weights.
    pub(crate) fn ends(&self, human: &BoneMap, skeleton: &Skeleton) -> Vec<TieDesc> {
        use HumanBone::{Head, LeftFoot, LeftHand, RightFoot, RightHand};
        let ends: Vec<usize> = [Head, LeftHand, RightHand, LeftFoot, RightFoot]
            .into_iter()
            .filter_map(|bone| human.get(bone))
            .collect();
        let mut is_end = vec![false; skeleton.bones().len()];
        for (i, bone) in skeleton.bones().iter().enumerate() {
            // parents come first
            is_end[i] = ends.contains(&i) || bone.parent.is_some_and(|parent| is_end[parent.index()]);
        }
        let tie = |(bone, _): (&sinew_skeleton::Bone, &bool)| TieDesc {
            bone: Some(bone.name.clone()),
            hold: Hold::Painted { least: WHOLLY_PAINTED },
        };
        skeleton.bones().iter().zip(&is_end).filter(|(_, is_end)| **is_end).map(tie).collect()
    }

    /// Where bones stand when nodes stand somewhere, in the order of the description.
    pub(crate) fn poses(&self, world_from_node: &[Mat4]) -> Vec<Isometry> {
        self.node.iter().zip(&self.turns).map(|(&node, turn)| rigid(&world_from_node[node]) * turn).collect()
    }

    /// Turns the frame of a bone, given by its place in the description: `turn` is the new frame in the old. Nothing moves; only the axes of its joint are others.
    pub(crate) fn turn_frame(&mut self, bone: usize, turn: &Rotation) {
        let back = turn.inverse();
        self.turns[bone] *= turn;
        self.bone_from_node[bone] = back.to_homogeneous() * self.bone_from_node[bone];
        let own = &mut self.desc.bones[bone];
        own.parent_from_joint *= *turn;
        turn_mass(&mut own.mass, &back);
        let below = self.desc.bones.iter_mut().filter(|below| below.parent == Parent::Index(bone));
        below.for_each(|below| below.parent_from_joint = back * below.parent_from_joint);
    }
}

/// Turns a mass about the origin of its frame.
fn turn_mass(mass: &mut MassDesc, turn: &Rotation) {
    match mass {
        MassDesc::Sum(all) => all.iter_mut().for_each(|part| turn_mass(part, turn)),
        MassDesc::Solid { shape: SolidShape::Capsule { from, to, .. }, .. } => {
            (*from, *to) = (turn * *from, turn * *to);
        }
        MassDesc::Given(own) => {
            let rotation = turn.to_rotation_matrix().into_inner();
            own.center = turn * own.center;
            own.tensor = rotation * own.tensor * rotation.transpose();
        }
        // bones of characters are made of nothing else
        _ => {}
    }
}

/// The rigid part of a matrix, without its stretch.
pub(crate) fn rigid(matrix: &Mat4) -> Isometry {
    NodeTransform::of_matrix(matrix).isometry()
}

/// The flesh that follows each bone.
struct Following {
    /// For each vertex of the flesh its bones with their weights.
    weights: Vec<Vec<(u32, f32)>>,
    /// For each bone the vertices that follow it more than any other.
    own: Vec<Vec<u32>>,
}

impl Following {
    fn find(
        flesh: &Flesh,
        rigged: &RiggedCharacter,
        of_node: &[Option<u32>],
        bone_count: usize,
    ) -> Following {
        let weights = flesh.weights(rigged, of_node);
        let mut own = vec![Vec::new(); bone_count];
        for (vertex, weights) in weights.iter().enumerate() {
            let heaviest = weights.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            if let Some((bone, _)) = heaviest {
                own[*bone as usize].push(vertex as u32);
            }
        }
        Following { weights, own }
    }

    /// The parents of bones, where those that hang from a control hang from the bone that they share flesh with. Game rigs hang feet and hands from a root that has no flesh, so that
    /// inverse kinematics can move them: limp legs would leave their feet behind.
    fn held_parents(&self, mut parents: Vec<Option<usize>>) -> Vec<Option<usize>> {
        for bone in 0..parents.len() {
            let Some(control) = parents[bone].filter(|parent| self.own[*parent].is_empty()) else { continue };
            let shared = self.shared_weights(bone, parents.len());
            let most = (0..parents.len()).filter(|other| !is_below(&parents, *other, bone));
            let most = most.max_by(|a, b| shared[*a].total_cmp(&shared[*b]).then(b.cmp(a)));
            let enough = SHARED * self.own[bone].len() as f64;
            if let Some(other) = most.filter(|other| *other != control && shared[*other] > enough) {
                parents[bone] = Some(other);
            }
        }
        parents
    }

    /// Σ min(w_a, w_b) over the vertices of a bone a, for each bone b.
    fn shared_weights(&self, bone: usize, bone_count: usize) -> Vec<f64> {
        let mut shared = vec![0.0; bone_count];
        for weights in &self.weights {
            let Some((_, own)) = weights.iter().find(|(other, _)| *other as usize == bone) else { continue };
            for (other, weight) in weights.iter().filter(|(other, _)| *other as usize != bone) {
                shared[*other as usize] += f64::from(weight.min(*own));
            }
        }
        shared
    }

    /// The mean weight of a bone in the flesh along a segment (m, world at bind): at the vertices nearest to points of it.
    fn mean_weight(&self, flesh: &Flesh, bone: usize, [from, to]: &[Vec3; 2]) -> f64 {
        let vertices = &flesh.surface.vertices;
        let stride = vertices.len().div_ceil(MAX_PROBED_VERTICES).max(1);
        let weight_at = |point: Vec3| {
            let far = |vertex: &usize| (vertices[*vertex] - point).norm_squared();
            let nearest = (0..vertices.len()).step_by(stride).min_by(|a, b| far(a).total_cmp(&far(b)));
            let weights = nearest.map_or(&[][..], |vertex| &self.weights[vertex]);
            weights
                .iter()
                .find(|(own, _)| *own as usize == bone)
                .map_or(0.0, |(_, weight)| f64::from(*weight))
        };
        let fraction = |i: usize| (i as f64 + 0.5) / PROBES as f64;
        (0..PROBES).map(|i| weight_at(from + fraction(i) * (to - from))).sum::<f64>() / PROBES as f64
    }
}

/// Whether a bone is another, or hangs from it.
fn is_below(parents: &[Option<usize>], bone: usize, above: usize) -> bool {
    core::iter::successors(Some(bone), |bone| parents[*bone]).any(|bone| bone == above)
}

/// The mass of a small ball at the joint, without a shape.
fn ball_mass(radius: f64) -> MassDesc {
    let mass = DENSITY * 4.0 / 3.0 * core::f64::consts::PI * radius * radius * radius;
    let tensor = Mat3::identity() * (0.4 * mass * radius * radius);
    MassDesc::Given(MassProperties { mass, center: Vec3::zeros(), tensor })
}

/// The lines through each bone (m, world at bind): to joints below where the flesh on the way follows the bone, or through its flesh where
/// there are none. A bone that no flesh follows most has no line.
fn segments(
    frames: &[Isometry],
    parents: &[Option<usize>],
    flesh: &Flesh,
    following: &Following,
) -> Vec<Vec<[Vec3; 2]>> {
    // to the joints below
    let origin = |bone: usize| frames[bone].translation.vector;
    let mut segments: Vec<Vec<[Vec3; 2]>> = vec![Vec::new(); frames.len()];
    for (child, parent) in parents.iter().enumerate() {
        let Some(parent) = parent.filter(|parent| !following.own[*parent].is_empty()) else { continue };
        let line = [origin(parent), origin(child)];
        let is_long = (line[1] - line[0]).norm() > SHORTEST * flesh.size;
        if is_long && following.mean_weight(flesh, parent, &line) >= FOLLOWED {
            segments[parent].push(line);
        }
    }

    // other bones go through their flesh
    for (bone, own) in following.own.iter().enumerate() {
        if segments[bone].is_empty() && !own.is_empty() {
            let points: Vec<Vec3> = own.iter().map(|&v| flesh.surface.vertices[v as usize]).collect();
            segments[bone].push(through(&origin(bone), &points));
        }
    }
    segments
}

/// A line from a joint, or from where its flesh begins, through the middle of the flesh and not quite to the end of it.
fn through(joint: &Vec3, points: &[Vec3]) -> [Vec3; 2] {
    let middle = points.iter().sum::<Vec3>() / points.len() as f64;
    let Some(direction) = (middle - joint).try_normalize(1e-12) else { return [*joint, *joint] };
    let along = points.iter().map(|p| (p - joint).dot(&direction));
    let (low, high) = along.fold((f64::INFINITY, 0.0_f64), |(low, high), t| (low.min(t), high.max(t)));
    let begin = low.max(0.0);
    [joint + direction * begin, joint + direction * (begin + 0.9 * (high - begin))]
}

/// The radius of each bone (m), from the flesh that follows it.
fn radii(segments: &[Vec<[Vec3; 2]>], flesh: &Flesh, following: &Following) -> Vec<f64> {
    let radius = |(lines, own): (&Vec<[Vec3; 2]>, &Vec<u32>)| {
        let far = |vertex: &u32| {
            let p = &flesh.surface.vertices[*vertex as usize];
            lines.iter().map(|[from, to]| distance_to_segment(p, from, to)).fold(f64::INFINITY, f64::min)
        };
        let mut distances: Vec<f64> = own.iter().map(far).collect();
        distances.sort_by(f64::total_cmp);
        let near = distances.get((NEARER * distances.len() as f64) as usize);
        near.map_or(0.0, |near| RADIUS_FRACTION * near).max(THINNEST * flesh.size)
    };
    segments.iter().zip(&following.own).map(radius).collect()
}

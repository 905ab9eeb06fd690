//! Articulated skeletons of a world, including the mass of the flesh fixed to them.
//!
//! Which nodes are fixed to which bones is chosen here, once (`attachment`, `fixed_nodes`). The forces between them during a step are in [`crate::coupling`].

mod attachment;
mod bone_core;
mod fixed_nodes;
mod limb_shapes;

pub(crate) use attachment::Attachment;
pub(crate) use bone_core::{BoneCores, CoreGround, CoreMotion};
pub(crate) use fixed_nodes::FixedNodes;
#[cfg(test)]
pub(crate) use limb_shapes::{Limb, LimbField};
pub(crate) use limb_shapes::{LimbBody, LimbFlesh, LimbPair, LimbShapes, YIELD};

use crate::bone_weights::BoneWeights;
use crate::desc::RigDesc;
use crate::fault::Fault;
use core::ops::Range;
use sinew_math::spatial::Frame;
use sinew_math::{Mat3, Vec3};
use sinew_skeleton::{
    BoneId, Energies, Kinematics, MassDesc, PointMass, ShapeDistance, Skeleton, SkeletonDesc, SkeletonState,
};

/// A skeleton of a world. The mass of a bone includes the nodes that are fixed to it.
#[derive(Clone, Debug)]
pub struct Rig {
    /// Its name.
    pub name: String,
    /// Its bones and joints, with the masses of fixed nodes merged into the bones.
    pub skeleton: Skeleton,
    /// Range of its bones among all bones of the world, which are numbered from 1: 0 is the world itself.
    pub bones: Range<usize>,
    /// Mass of the bones without flesh (kg).
    pub bone_mass: f64,
    /// For each bone the maximum fraction of relative node velocity that damping may remove in a sub-step; see [`Rig::limit_drag`].
    pub(crate) max_drag: Vec<f64>,
    /// The hard cores of its bones.
    pub(crate) cores: BoneCores,
    /// Rest pose of each bone.
    pub(crate) rest_frames: Vec<Frame>,
    /// −Σ m g · c of its bones at rest (J).
    pub(crate) rest_potential: f64,
}

/// Sample positions along a bone as fractions of its length: clear of the joints, where adjacent bones rotate.
const SAMPLES: [f64; 3] = [0.5, 0.15, 0.85];

impl Rig {
    /// Where the joint of a bone is at rest, in the world (m); `None` if there is no such bone.
    pub fn rest_place(&self, bone: usize) -> Option<Vec3> {
        self.rest_frames.get(bone).map(|frame| frame.isometry().translation.vector)
    }

    /// Limits the damping of one sub-step so that the reaction cannot overshoot on a light bone.
    ///
    /// Removing the fraction k of the velocity of nodes relative to their bone, and applying the reaction to the bone, leaves 1 − k (1 + ρ) of it, where ρ is the largest
    /// eigenvalue of J⁻¹ Σ for the inertia J of the bone and Σ of the nodes. About the bone's centre of mass it is bounded by the trace:
    ///
    /// ```text
    /// ρ ≤ 3 Σm/m_b + tr(I_b⁻¹ Σ m (d² 1 − d dᵀ)),     k ≤ 1/2 / (1 + ρ)
    /// ```
    ///
    /// Joints only increase the effective inertia of a bone. `nodes_of_bone` returns masses and rest positions (m, world).
    pub(crate) fn limit_drag(&mut self, nodes_of_bone: impl Fn(BoneId) -> Vec<(f64, Vec3)>) {
        let mut kinematics = Kinematics::default();
        kinematics.update(&self.skeleton, &SkeletonState::at_rest(&self.skeleton));
        for (i, bone) in self.skeleton.bones().iter().enumerate() {
            let frame = &kinematics.world_frames()[i];
            let center = frame.point(&bone.mass.center);
            let (mut mass, mut moment) = (0.0, Mat3::zeros());
            for (m, x) in nodes_of_bone(BoneId(i as u32)) {
                let d = x - center;
                mass += m;
                moment += m * (Mat3::identity() * d.norm_squared() - d * d.transpose());
            }
            let tensor = frame.rotation * bone.mass.tensor * frame.rotation.transpose();
            let turning = tensor.try_inverse().map_or(f64::INFINITY, |inverse| (inverse * moment).trace());
            let ratio = 3.0 * mass / bone.mass.mass + turning;
            self.max_drag[i] = if mass > 0.0 && ratio.is_finite() { 0.5 / (1.0 + ratio) } else { 0.0 };
        }
    }
}

/// A rig at rest, before flesh is attached.
pub(crate) struct RestRig<'a> {
    pub(crate) desc: &'a RigDesc,
    /// Built without the given masses, so that massless bones are valid: only its frames and names are used.
    skeleton: Skeleton,
    frames: Vec<Frame>,
    shapes: Vec<Option<ShapeDistance>>,
    pub(crate) bones: Range<usize>,
}

impl<'a> RestRig<'a> {
    /// Builds the bones at rest, numbered from `first_bone` among all bones of the world.
    pub(crate) fn build(desc: &'a RigDesc, first_bone: usize) -> Result<RestRig<'a>, Vec<Fault>> {
        let skeleton =
            Skeleton::build(&desc.skeleton.with_plain_masses()).map_err(|error| faults_of(desc, &error))?;
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &SkeletonState::at_rest(&skeleton));
        let shapes = skeleton.bones().iter().enumerate().map(|(i, _)| {
            let place = skeleton.desc_of_bone(sinew_skeleton::BoneId(i as u32));
            ShapeDistance::of(&desc.skeleton.bones[place].mass)
        });
        Ok(RestRig {
            shapes: shapes.collect(),
            frames: kinematics.world_frames().to_vec(),
            bones: first_bone..first_bone + skeleton.bones().len(),
            skeleton,
            desc,
        })
    }

    /// Poses of its bones at rest.
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The parent of a bone; none for roots.
    pub(crate) fn parent(&self, bone: usize) -> Option<usize> {
        self.skeleton.bones()[bone].parent.map(sinew_skeleton::BoneId::index)
    }

    /// Number of bones.
    pub(crate) fn bone_count(&self) -> usize {
        self.frames.len()
    }

    /// The index of the bone with the given name.
    pub(crate) fn find_bone(&self, name: &str) -> Option<usize> {
        self.skeleton.find_bone(name).map(sinew_skeleton::BoneId::index)
    }

    /// The name of a bone.
    pub(crate) fn bone_name(&self, bone: usize) -> &str {
        &self.skeleton.bones()[bone].name
    }

    /// The index of the bone with the given position in the description.
    pub(crate) fn bone_of_desc(&self, place: usize) -> Option<usize> {
        self.skeleton.bone_of_desc(place).map(sinew_skeleton::BoneId::index)
    }

    /// Painted skinning weights over the bones of this rig, as they are painted and in that order; none that are 0, and none of bones that the rig does not have.
    pub(crate) fn painted(&self, skin_weights: &[Vec<(u32, f32)>]) -> Vec<BoneWeights> {
        let own = |(place, weight): &(u32, f32)| {
            let bone = self.bone_of_desc(*place as usize).filter(|_| *weight > 0.0)?;
            Some((bone as u32, f64::from(*weight)))
        };
        skin_weights.iter().map(|painted| painted.iter().filter_map(own).collect()).collect()
    }

    /// The shape of a bone.
    pub(crate) fn shape(&self, bone: usize) -> Option<&ShapeDistance> {
        self.shapes[bone].as_ref()
    }

    /// Sample points along the axes of all bones (m, world), each with its bone.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (usize, Vec3)> + '_ {
        (0..self.bone_count())
            .flat_map(|bone| self.samples_of(bone).into_iter().map(move |point| (bone, point)))
    }

    /// Sample points along the axes of a bone's solids (m, world).
    pub(crate) fn samples_of(&self, bone: usize) -> Vec<Vec3> {
        let middles = self.shape(bone).into_iter().flat_map(ShapeDistance::middles);
        let along = middles.flat_map(|[from, to]| SAMPLES.map(|fraction| from + fraction * (to - from)));
        along.map(|point| self.frames[bone].point(&point)).collect()
    }

    /// Transforms a point of the world (m) to the frame of a bone at rest.
    pub(crate) fn point_in_bone(&self, bone: usize, point: &Vec3) -> Vec3 {
        self.frames[bone].point_back(point)
    }

    /// Builds the skeleton with point masses of flesh merged into its bones.
    pub(crate) fn merge(
        &self,
        points_of_bone: Vec<Vec<PointMass>>,
        gravity: &Vec3,
    ) -> Result<Rig, Vec<Fault>> {
        // masses of the points added to those of the bones
        let mut merged: SkeletonDesc = self.desc.skeleton.clone();
        for (bone, points) in points_of_bone.into_iter().enumerate() {
            let place = self.skeleton.desc_of_bone(sinew_skeleton::BoneId(bone as u32));
            if !points.is_empty() {
                let own = core::mem::take(&mut merged.bones[place].mass);
                merged.bones[place].mass = MassDesc::Sum(vec![own, MassDesc::Points(points)]);
            }
        }
        let skeleton = Skeleton::build(&merged).map_err(|error| faults_of(self.desc, &error))?;
        let bone_mass =
            self.desc.skeleton.bones.iter().map(|bone| bone.mass.find().map_or(0.0, |mass| mass.mass)).sum();

        // rest pose and its potential energy
        let mut kinematics = Kinematics::default();
        let rest = SkeletonState::at_rest(&skeleton);
        kinematics.update(&skeleton, &rest);
        let rest_potential = Energies::of(&skeleton, &kinematics, &rest, gravity).gravity;
        let rest_frames = kinematics.world_frames().to_vec();
        Ok(Rig {
            name: self.desc.name.clone(),
            max_drag: vec![1.0; skeleton.bones().len()],
            cores: BoneCores::of_bones(
                (0..skeleton.bones().len())
                    .map(|i| &self.desc.skeleton.bones[skeleton.desc_of_bone(BoneId(i as u32))].mass),
            ),
            skeleton,
            bones: self.bones.clone(),
            bone_mass,
            rest_frames,
            rest_potential,
        })
    }
}

fn faults_of(desc: &RigDesc, error: &sinew_skeleton::SkeletonError) -> Vec<Fault> {
    let fault = |fault: &sinew_skeleton::Fault| Fault::new("", format!("skeleton '{}': {fault}", desc.name));
    error.faults.iter().map(fault).collect()
}

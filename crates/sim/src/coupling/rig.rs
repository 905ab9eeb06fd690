//! A skeleton of a world, and the flesh whose mass it carries.

use crate::desc::RigDesc;
use crate::model::Fault;
use core::ops::Range;
use sinew_math::Vec3;
use sinew_math::spatial::Frame;
use sinew_skeleton::{
    Energies, Kinematics, MassDesc, PointMass, ShapeDistance, Skeleton, SkeletonDesc, SkeletonState,
};

/// A skeleton of a world. Its bones weigh what was given for them and the nodes that are fixed to them.
#[derive(Clone, Debug)]
pub struct Rig {
    /// Its name.
    pub name: String,
    /// Its bones and joints, the masses of fixed nodes merged into the bones.
    pub skeleton: Skeleton,
    /// Its bones among all bones of the world, which are counted from 1: 0 is the world itself.
    pub bones: Range<usize>,
    /// Mass of the bones without flesh (kg).
    pub bone_mass: f64,
    /// −Σ m g · c of its bones at rest (J).
    pub(crate) rest_potential: f64,
}

/// Where along a bone points are taken, as shares of its length: clear of the joints, where neighbours bend away.
const SAMPLES: [f64; 3] = [0.5, 0.15, 0.85];

/// A rig as it stands at rest, before any flesh is fixed to it.
pub(crate) struct RestRig<'a> {
    pub(crate) desc: &'a RigDesc,
    /// Without the masses given, so that massless bones pass: only frames and names are asked of it.
    skeleton: Skeleton,
    frames: Vec<Frame>,
    shapes: Vec<Option<ShapeDistance>>,
    pub(crate) bones: Range<usize>,
}

impl<'a> RestRig<'a> {
    /// The bones at rest, counted from `first_bone` among all bones of the world.
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

    /// How many bones there are.
    pub(crate) fn bone_count(&self) -> usize {
        self.frames.len()
    }

    /// The place of a bone of a name, and the name of the one most like it.
    pub(crate) fn find_bone(&self, name: &str) -> Option<usize> {
        self.skeleton.find_bone(name).map(sinew_skeleton::BoneId::index)
    }

    /// The name of a bone.
    pub(crate) fn bone_name(&self, bone: usize) -> &str {
        &self.skeleton.bones()[bone].name
    }

    /// The bone that stood at a place of the description.
    pub(crate) fn bone_of_desc(&self, place: usize) -> Option<usize> {
        self.skeleton.bone_of_desc(place).map(sinew_skeleton::BoneId::index)
    }

    /// The shape of a bone.
    pub(crate) fn shape(&self, bone: usize) -> Option<&ShapeDistance> {
        self.shapes[bone].as_ref()
    }

    /// Points along the middles of bones (m, world), each with its bone.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (usize, Vec3)> + '_ {
        (0..self.bone_count())
            .flat_map(|bone| self.samples_of(bone).into_iter().map(move |point| (bone, point)))
    }

    /// Points along the middles of a bone's solids (m, world).
    pub(crate) fn samples_of(&self, bone: usize) -> Vec<Vec3> {
        let middles = self.shape(bone).into_iter().flat_map(ShapeDistance::middles);
        let along = middles.flat_map(|[from, to]| SAMPLES.map(|share| from + share * (to - from)));
        along.map(|point| self.frames[bone].point(&point)).collect()
    }

    /// A point of the world (m) as the bone sees it at rest.
    pub(crate) fn point_in_bone(&self, bone: usize, point: &Vec3) -> Vec3 {
        self.frames[bone].point_back(point)
    }

    /// The skeleton with particles of flesh merged into its bones.
    pub(crate) fn merge(
        &self,
        points_of_bone: Vec<Vec<PointMass>>,
        gravity: &Vec3,
    ) -> Result<Rig, Vec<Fault>> {
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
        let mut kinematics = Kinematics::default();
        let rest = SkeletonState::at_rest(&skeleton);
        kinematics.update(&skeleton, &rest);
        let rest_potential = Energies::of(&skeleton, &kinematics, &rest, gravity).gravity;
        Ok(Rig {
            name: self.desc.name.clone(),
            skeleton,
            bones: self.bones.clone(),
            bone_mass,
            rest_potential,
        })
    }
}

fn faults_of(desc: &RigDesc, error: &sinew_skeleton::SkeletonError) -> Vec<Fault> {
    let fault = |fault: &sinew_skeleton::Fault| Fault::new("", format!("skeleton '{}': {fault}", desc.name));
    error.faults.iter().map(fault).collect()
}

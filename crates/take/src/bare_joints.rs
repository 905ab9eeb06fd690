//! Joints of a scene without ranges of their own, when it goes limp: those of built-in characters and captured motions.
//!
//! The range of a joint is that of its motion with a margin, and stops and damping scale with what hangs from it. Flesh is shared out to the bones that it is nearest to.

use crate::{JointOptions, JointRange, JointStrength, LimbMasses, Scene};
use sinew_contact::nearest_on_segment;
use sinew_control::Performance;
use sinew_math::Vec3;
use sinew_math::spatial::Frame;
use sinew_sim::desc::{BodyDesc, RigDesc, ShapeDesc};
use sinew_skeleton::{BoneDesc, BoneId, JointPrimitive, Kinematics, Skeleton, SkeletonState};

impl Scene {
    /// Gives the joints of a rig in which none has springs, dampers or stops a range, stops and damping. Does nothing to others, and without a performance.
    pub fn limit_bare_joints(&mut self, index: usize) {
        let bodies = &self.world.bodies;
        let (Some(rig), Some(performance)) = (self.world.rigs.get_mut(index), self.performances.get(index))
        else {
            return;
        };
        let is_bare = rig.skeleton.bones.iter().all(|bone| bone.joint.dofs.is_empty());
        let flesh: Vec<&BodyDesc> = bodies
            .iter()
            .filter(|body| body.attachment.as_ref().is_some_and(|own| own.rig == rig.name))
            .collect();
        // faults are told when the model is built
        if is_bare && let Ok(skeleton) = Skeleton::build(&rig.skeleton.with_plain_masses()) {
            limit_rig(rig, &skeleton, performance, &flesh);
        }
    }
}

fn limit_rig(rig: &mut RigDesc, skeleton: &Skeleton, performance: &Performance, flesh: &[&BodyDesc]) {
    // what hangs where
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
    let masses = masses(&rig.skeleton.bones, (skeleton, kinematics.world_frames()), flesh);
    let size = flesh.iter().map(|body| extent(body.shape.points())).fold(0.0, f64::max);
    if !(masses.total > 0.0 && size > 0.0) {
        return;
    }

    // how far joints turn
    let ranges = ranges(skeleton, performance);
    let options = JointOptions::default();
    for (i, bone) in skeleton.bones().iter().enumerate() {
        let turns = skeleton.parts(&bone.joint).iter().all(|part| *part != JointPrimitive::Translation);
        if bone.parent.is_none() || !turns {
            continue;
        }
        let own = &ranges[bone.joint.v()];
        let is_still = own.iter().all(|[low, high]| high - low < JointRange::UNMOVED);
        let is_wide = own.iter().any(|[low, high]| low.abs().max(*high) > JointRange::MAX_ANGLE);
        let strength = JointStrength::of(&masses, i, size, &options);
        let place = skeleton.desc_of_bone(BoneId(i as u32));
        rig.skeleton.bones[place].joint.dofs = own
            .iter()
            .map(|[low, high]| {
                let margin = if is_wide { f64::INFINITY } else { JointRange::margin(high - low, is_still) };
                strength.angle([low - margin, high + margin])
            })
            .collect();
    }
}

/// The smallest and largest coordinate of each degree of freedom over the motion, with the pose at rest.
fn ranges(skeleton: &Skeleton, performance: &Performance) -> Vec<[f64; 2]> {
    let mut ranges = vec![[0.0f64; 2]; skeleton.v_count()];
    let seconds = performance.motion.as_ref().map_or(0.0, |motion| motion.seconds());
    let poses = ((seconds * JointRange::RATE).ceil() as usize).clamp(1, JointRange::MAX_POSES);
    let mut pose = SkeletonState::at_rest(skeleton);
    for i in 0..=poses {
        performance.pose(skeleton, seconds * i as f64 / poses as f64, &mut pose);
        for (b, bone) in skeleton.bones().iter().enumerate() {
            let chart = pose.chart_of(skeleton, BoneId(b as u32));
            for ([low, high], x) in ranges[bone.joint.v()].iter_mut().zip(chart) {
                (*low, *high) = (low.min(x), high.max(x));
            }
        }
    }
    ranges
}

/// Shares out the mass of bodies, spread over their points, to the nearest bones.
fn masses(bones: &[BoneDesc], (skeleton, frames): (&Skeleton, &[Frame]), flesh: &[&BodyDesc]) -> LimbMasses {
    // a bone reaches from its joint to twice its centre of mass
    let axis = |(i, frame): (usize, &Frame)| {
        let own = &bones[skeleton.desc_of_bone(BoneId(i as u32))].mass;
        let center = own.find().map_or(Vec3::zeros(), |mass| mass.center);
        [frame.origin, frame.point(&(2.0 * center))]
    };
    let axes: Vec<[Vec3; 2]> = frames.iter().enumerate().map(axis).collect();
    let nearest = |x: &Vec3| {
        let distance =
            |axis: &[Vec3; 2]| (axis[0].lerp(&axis[1], nearest_on_segment(x, axis)) - x).norm_squared();
        let closer = |best: (usize, f64), (i, axis): (usize, &[Vec3; 2])| {
            let own = distance(axis);
            if own < best.1 { (i, own) } else { best }
        };
        axes.iter().enumerate().fold((0, f64::INFINITY), closer).0
    };
    let points = flesh.iter().flat_map(|body| {
        let points = body.shape.points();
        let mass = body.material.density * volume(&body.shape) / points.len().max(1) as f64;
        points.iter().map(move |x| (x, mass))
    });
    LimbMasses::of_points(points.map(|(x, mass)| (nearest(x), mass, *x)), frames, skeleton)
}

/// The volume of what bones may carry (m³).
fn volume(shape: &ShapeDesc) -> f64 {
    match shape {
        ShapeDesc::Surface { surface, .. } => surface.signed_volume().abs(),
        ShapeDesc::Tets(mesh) => mesh.volume(),
        ShapeDesc::Network(_) | ShapeDesc::Skin(_) | ShapeDesc::Custom(_) => 0.0,
    }
}

/// The largest side of the box around points (m).
fn extent(points: &[Vec3]) -> f64 {
    let bounds = points.iter().fold(None, |bounds: Option<(Vec3, Vec3)>, x| {
        Some(bounds.map_or((*x, *x), |(low, high)| (low.inf(x), high.sup(x))))
    });
    bounds.map_or(0.0, |(low, high)| (high - low).amax())
}

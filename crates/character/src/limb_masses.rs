//! Estimated masses of limbs: what hangs from each joint of a character, before its flesh is meshed.

use crate::RiggedCharacter;
use crate::bones::Bones;
use crate::flesh::Flesh;
use sinew_math::Vec3;
use sinew_math::spatial::Frame;
use sinew_skeleton::{BoneId, Kinematics, Skeleton, SkeletonState};

/// Flesh weighs about as much as water (kg/m³).
const DENSITY: f64 = 1000.0;

/// What hangs from each joint, in the order of the skeleton.
#[derive(Clone, Debug)]
pub(crate) struct LimbMasses {
    pub(crate) limbs: Vec<Limb>,
    /// The mass of the whole character (kg).
    pub(crate) total: f64,
}

/// A bone with its flesh and all below it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limb {
    /// Mass (kg).
    pub(crate) mass: f64,
    /// The larger moment of inertia Σ m |x − o|² about the joint (kg m²).
    pub(crate) inertia: f64,
    /// The distance of its farther half from the joint, √(I/m) (m).
    pub(crate) lever: f64,
}

/// Σ m, Σ m x and Σ m |x|² of points.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    mass: f64,
    first: Vec3,
    second: f64,
}

impl Moments {
    fn add(&mut self, mass: f64, x: &Vec3) {
        self.mass += mass;
        self.first += mass * x;
        self.second += mass * x.norm_squared();
    }

    fn add_all(&mut self, other: &Moments) {
        self.mass += other.mass;
        self.first += other.first;
        self.second += other.second;
    }

    /// Σ m |x − o|²
    fn about(&self, o: &Vec3) -> f64 {
        (self.second - 2.0 * o.dot(&self.first) + self.mass * o.norm_squared()).max(0.0)
    }
}

impl LimbMasses {
    /// Spreads the volume of the flesh over its surface by area, and over bones by weights; bones add their own masses.
    pub(crate) fn find(
        rigged: &RiggedCharacter,
        flesh: &Flesh,
        bones: &Bones,
        skeleton: &Skeleton,
    ) -> LimbMasses {
        // flesh and bones at rest
        let mut kinematics = Kinematics::default();
        kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
        let frames = kinematics.world_frames();
        let mut own = vec![Moments::default(); skeleton.bones().len()];
        let (areas, volume) = areas_and_volume(flesh);
        let per_area = DENSITY * volume / areas.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let weights = flesh.weights(rigged, &bones.of_node);
        for ((x, area), weights) in flesh.surface.vertices.iter().zip(&areas).zip(&weights) {
            for (place, weight) in weights {
                if let Some(bone) = skeleton.bone_of_desc(*place as usize) {
                    own[bone.index()].add(f64::from(*weight) * area * per_area, x);
                }
            }
        }
        for (i, frame) in frames.iter().enumerate() {
            let place = skeleton.desc_of_bone(BoneId(i as u32));
            if let Ok(mass) = bones.desc.bones[place].mass.find() {
                own[i].add(mass.mass, &frame.point(&mass.center));
            }
        }

        LimbMasses::of_moments(own, frames, skeleton)
    }

    /// The same where it is known which points follow which bone: a bone of the skeleton, a mass (kg) and a place (m).
    pub(crate) fn of_points(
        points: impl Iterator<Item = (usize, f64, Vec3)>,
        frames: &[Frame],
        skeleton: &Skeleton,
    ) -> LimbMasses {
        let mut own = vec![Moments::default(); skeleton.bones().len()];
        points.for_each(|(bone, mass, x)| own[bone].add(mass, &x));
        LimbMasses::of_moments(own, frames, skeleton)
    }

    /// Sums the flesh of bones over what hangs from them.
    fn of_moments(mut own: Vec<Moments>, frames: &[Frame], skeleton: &Skeleton) -> LimbMasses {
        // subtrees: parents come first
        let mut limbs = vec![Limb::default(); own.len()];
        for i in (0..own.len()).rev() {
            let below = own[i];
            let inertia = below.about(&frames[i].origin);
            let lever = if below.mass > 0.0 { (inertia / below.mass).sqrt() } else { 0.0 };
            limbs[i] = Limb { mass: below.mass, inertia, lever };
            if let Some(parent) = skeleton.bones()[i].parent {
                own[parent.index()].add_all(&below);
            }
        }
        let roots = skeleton.bones().iter().zip(&limbs).filter(|(bone, _)| bone.parent.is_none());
        LimbMasses { total: roots.map(|(_, limb)| limb.mass).sum(), limbs }
    }
}

/// A third of the area around each vertex (m²), and the volume within (m³).
fn areas_and_volume(flesh: &Flesh) -> (Vec<f64>, f64) {
    let vertices = &flesh.surface.vertices;
    let mut areas = vec![0.0; vertices.len()];
    let mut volume = 0.0;
    for triangle in &flesh.surface.triangles {
        let [a, b, c] = triangle.map(|v| vertices[v as usize]);
        let area = 0.5 * (b - a).cross(&(c - a)).norm();
        triangle.iter().for_each(|v| areas[*v as usize] += area / 3.0);
        volume += a.dot(&b.cross(&c)) / 6.0;
    }
    (areas, volume.abs())
}

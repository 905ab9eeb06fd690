//! Estimated masses of limbs: what hangs from each joint of a skeleton, before its flesh is meshed.

use sinew_math::Vec3;
use sinew_math::spatial::Frame;
use sinew_skeleton::Skeleton;

/// What hangs from each joint, in the order of the skeleton.
#[derive(Clone, Debug)]
pub struct LimbMasses {
    /// A bone with all below it.
    pub limbs: Vec<Limb>,
    /// The mass of the whole character (kg).
    pub total: f64,
}

/// A bone with its flesh and all below it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limb {
    /// Mass (kg).
    pub mass: f64,
    /// The larger moment of inertia Σ m |x − o|² about the joint (kg m²).
    pub inertia: f64,
    /// The distance of its farther half from the joint, √(I/m) (m).
    pub lever: f64,
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
    /// The masses of points that follow bones: a bone of the skeleton, a mass (kg) and a place at rest (m), where `frames` are those of the bones at rest.
    pub fn of_points(
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

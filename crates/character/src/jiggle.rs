//! Softness that fits: how fast flesh swings about its skinned place, and how far it may go, from its thickness and its motion.
//!
//! Flesh of shear speed c on a bone, T thick, swings at its quarter-wave frequency; half of that stiffness is the spring towards home, half is elasticity:
//!
//! ```text
//! ω = (π/2) c/T,   ω_home² = ω²/2,   μ = ρ c²/2
//! ```
//!
//! So its swing under an acceleration a, a/ω², grows with T²: centimetres on a belly, millimetres on a forearm. c grows with the size of the character, so that giants and dwarfs move alike. Where the
//! motion would still swing flesh by more than a fraction of its thickness, that flesh is stiffened until it does not: the peak is that of the shock response spectrum of the bone's own path.

use crate::response::peak_swing;
use sinew_control::{BoneMap, HumanBone, SkeletonMotion};
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::{TriMesh, local_thickness};
use sinew_sim::desc::HomeDesc;
use sinew_skeleton::{Kinematics, Skeleton, SkeletonState};

/// How far from its skinned place flesh may be, as a fraction of its thickness.
pub const DEFAULT_LIMIT: f64 = 0.6;

/// c of a person (m/s): a belly 12 cm thick swings at √(π²/4 · 0.85²/0.12²)/2π = 1.8 Hz, a thigh of 8 cm at 2.7 Hz, a forearm of 4 cm at 5.3 Hz.
/// Soft tissue measured on the trunk swings at 2 to 5 Hz, on limbs at 5 to 20 Hz; this is the softer end, which is what is seen.
const SHEAR_SPEED: f64 = 0.85;
/// People are about this tall (m).
const PERSON: f64 = 1.75;
/// What the largest swing of a motion may be, as a fraction of thickness, at a jiggle of 1: 12 cm of belly move by 3.6 cm in a run.
const SWING: f64 = 0.3;
/// Motions stiffen flesh by no more than this factor of frequency: the limit holds the rest.
const MAX_STIFFENING: f64 = 6.0;
/// Flesh thinner than this fraction of the character counts as this thick.
const THINNEST: f64 = 4e-3;
/// The damping ratio of the swing: between soft and firm fat.
const DAMPING_RATIO: f64 = 0.22;
/// Softness of skulls, and of hands and feet.
const SKULL: f64 = 0.05;
const PAW: f64 = 0.25;
/// A jiggle of 0 means hardly any: this.
const SMALLEST_JIGGLE: f64 = 0.02;
/// Poisson's ratio of fitted flesh: its volume then follows that of skinning within 1 %. At 0.45, above which elements share the volume of patches, 1.3 %; steps take a third longer with patches.
const POISSON: f64 = 0.48;

/// What is known of flesh before its softness is chosen.
pub(crate) struct FleshInMotion<'a> {
    pub(crate) surface: &'a TriMesh,
    /// For each vertex its bones, as indices in the description, with weights.
    pub(crate) weights: &'a [Vec<(u32, f32)>],
    pub(crate) skeleton: &'a Skeleton,
    /// All motions that softness is to fit.
    pub(crate) motions: &'a [&'a SkeletonMotion],
    /// The largest extent of the character (m).
    pub(crate) size: f64,
    /// Painted softness of each vertex; empty if it is not painted.
    pub(crate) softness: &'a [f32],
    /// Which bones are which of a human figure.
    pub(crate) human: &'a BoneMap,
}

/// What is chosen.
pub(crate) struct Softness {
    pub(crate) home: HomeDesc,
    pub(crate) material: Material,
}

impl FleshInMotion<'_> {
    /// Chooses springs and material. A material that is given sets the shear speed, and nothing is fitted to it.
    pub(crate) fn choose(&self, given: Option<Material>, jiggle: f64, limit: f64) -> Softness {
        // how fast flesh of a thickness swings by itself
        let jiggle = jiggle.max(SMALLEST_JIGGLE);
        let thinnest = THINNEST * self.size;
        let thickness: Vec<f64> =
            local_thickness(self.surface).into_iter().map(|t| t.max(thinnest)).collect();
        let fat = Material::named("fat").unwrap_or_default();
        let shear_speed = match given {
            Some(material) => (material.lame().mu / material.density).sqrt(),
            None => SHEAR_SPEED * self.size / PERSON / jiggle.sqrt(),
        };
        let own = |thickness: f64| core::f64::consts::FRAC_PI_2 * shear_speed / thickness;

        // stiffer where the motion is violent
        let mut stiffening = vec![1.0f64; self.skeleton.bones().len()];
        for motion in self.motions.iter().filter(|_| given.is_none()) {
            let needed = self.stiffening(motion, &thickness, own, SWING * jiggle.min(limit / SWING));
            stiffening.iter_mut().zip(needed).for_each(|(most, needed)| *most = most.max(needed));
        }
        let factor = |weights: &[(u32, f32)]| {
            let part = |(place, weight): &(u32, f32)| {
                let bone = self.skeleton.bone_of_desc(*place as usize)?;
                Some((f64::from(*weight) * stiffening[bone.index()], f64::from(*weight)))
            };
            let (sum, whole) =
                weights.iter().filter_map(part).fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
            if whole > 0.0 { sum / whole } else { 1.0 }
        };

        // painted softness, less where bone is under the skin
        let bony = self.bony();
        let softness = |vertex: usize| {
            let painted = f64::from(self.softness.get(vertex).copied().unwrap_or(1.0));
            let part = |(place, weight): &(u32, f32)| {
                let bone = self.skeleton.bone_of_desc(*place as usize)?;
                Some(f64::from(*weight) * (1.0 - bony[bone.index()]))
            };
            let less: f64 = self.weights[vertex].iter().filter_map(part).sum();
            (painted * (1.0 - less)).max(1e-3)
        };

        // springs carry half of the stiffness, the material the other half
        let frequency = (0..thickness.len()).map(|vertex| {
            let swing = own(thickness[vertex]) * factor(&self.weights[vertex]);
            (0.5 * swing * swing / softness(vertex)).sqrt()
        });
        let home = HomeDesc {
            frequency: frequency.collect(),
            limit: (0..thickness.len())
                .map(|v| limit * thickness[v] * softness(v).clamp(0.02, 1.5))
                .collect(),
            damping_ratio: given.map_or(DAMPING_RATIO, |material| material.damping_ratio),
            gravity_fraction: if given.is_some() { 1.0 } else { self.size / PERSON },
        };
        let material = given.unwrap_or_else(|| {
            let mu = 0.5 * fat.density * shear_speed * shear_speed;
            Material {
                young: 2.0 * (1.0 + POISSON) * mu,
                poisson: POISSON,
                damping_ratio: DAMPING_RATIO,
                ..fat
            }
        });
        Softness { home, material }
    }

    /// For each bone how soft people are there, beside other flesh of the same thickness: skulls, and hands and feet with fingers and toes, are bone under skin.
    fn bony(&self) -> Vec<f64> {
        use HumanBone::{Head, LeftFoot, LeftHand, RightFoot, RightHand};
        let mut bony = vec![1.0; self.skeleton.bones().len()];
        for (human, softness) in
            [(Head, SKULL), (LeftHand, PAW), (RightHand, PAW), (LeftFoot, PAW), (RightFoot, PAW)]
        {
            if let Some(bone) = self.human.get(human) {
                bony[bone] = softness;
            }
        }
        // parents come first
        for (i, bone) in self.skeleton.bones().iter().enumerate() {
            if let Some(parent) = bone.parent {
                bony[i] = bony[i].min(bony[parent.index()]);
            }
        }
        bony
    }

    /// For each bone how many times faster than by itself its flesh must swing for the motion to move it by at most a fraction of its thickness.
    fn stiffening(
        &self,
        motion: &SkeletonMotion,
        thickness: &[f64],
        own: impl Fn(f64) -> f64,
        swing: f64,
    ) -> Vec<f64> {
        // middle and thickness of the flesh of each bone
        let bones = self.skeleton.bones().len();
        let mut sums = vec![(0.0, Vec3::zeros(), 0.0); bones];
        for (vertex, weights) in self.weights.iter().enumerate() {
            for (place, weight) in weights {
                let Some(bone) = self.skeleton.bone_of_desc(*place as usize) else { continue };
                let (whole, middle, thick) = &mut sums[bone.index()];
                let weight = f64::from(*weight);
                *whole += weight;
                *middle += weight * self.surface.vertices[vertex];
                *thick += weight * thickness[vertex];
            }
        }
        let mut kinematics = Kinematics::default();
        kinematics.update(self.skeleton, &SkeletonState::at_rest(self.skeleton));
        let middles: Vec<Option<Vec3>> = sums
            .iter()
            .zip(kinematics.world_frames())
            .map(|((whole, middle, _), frame)| (*whole > 0.0).then(|| frame.point_back(&(middle / *whole))))
            .collect();

        // where the motion takes these middles
        let mut paths: Vec<Vec<Vec3>> = vec![Vec::new(); bones];
        let (dt, samples) = sample_times(motion);
        for sample in 0..samples {
            kinematics.update(self.skeleton, &motion.sample(sample as f64 * dt));
            for ((path, middle), frame) in paths.iter_mut().zip(&middles).zip(kinematics.world_frames()) {
                path.extend(middle.map(|middle| frame.point(&middle)));
            }
        }

        // the lowest frequency whose swing is small enough
        let stiffening = |(path, (whole, _, thick)): (&Vec<Vec3>, &(f64, Vec3, f64))| {
            if path.len() < 3 {
                return 1.0;
            }
            let thick = thick / whole;
            let mut factor = 1.0;
            while factor < MAX_STIFFENING
                && peak_swing(path, dt, factor * own(thick), DAMPING_RATIO) > swing * thick
            {
                factor *= 1.15;
            }
            factor
        };
        paths.iter().zip(&sums).map(stiffening).collect()
    }
}

/// Longest stretch of motion that is looked at (s).
const LONGEST: f64 = 20.0;

/// The time between samples (s), and how many there are.
fn sample_times(motion: &SkeletonMotion) -> (f64, usize) {
    let dt = 1.0 / 60.0;
    (dt, (motion.seconds().min(LONGEST) / dt).floor() as usize + 1)
}

//! Estimated masses of a rigged character's limbs, before its flesh is meshed.

use crate::RiggedCharacter;
use crate::bones::Bones;
use crate::flesh::Flesh;
use sinew_skeleton::{BoneId, Kinematics, Skeleton, SkeletonState};
use sinew_take::LimbMasses;

/// Flesh weighs about as much as water (kg/m³).
const DENSITY: f64 = 1000.0;

/// Spreads the volume of the flesh over its surface by area, and over bones by weights; bones add their own masses.
pub(crate) fn limb_masses(
    rigged: &RiggedCharacter,
    flesh: &Flesh,
    bones: &Bones,
    skeleton: &Skeleton,
) -> LimbMasses {
    // flesh and bones at rest
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
    let frames = kinematics.world_frames();
    let (areas, volume) = areas_and_volume(flesh);
    let per_area = DENSITY * volume / areas.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let weights = flesh.weights(rigged, &bones.of_node);
    let mut points = Vec::new();
    for ((x, area), weights) in flesh.surface.vertices.iter().zip(&areas).zip(&weights) {
        for (place, weight) in weights {
            if let Some(bone) = skeleton.bone_of_desc(*place as usize) {
                points.push((bone.index(), f64::from(*weight) * area * per_area, *x));
            }
        }
    }
    for (i, frame) in frames.iter().enumerate() {
        let place = skeleton.desc_of_bone(BoneId(i as u32));
        if let Ok(mass) = bones.desc.bones[place].mass.find() {
            points.push((i, mass.mass, frame.point(&mass.center)));
        }
    }
    LimbMasses::of_points(points.into_iter(), frames, skeleton)
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

//! Analytic two-bone inverse kinematics of a leg.

use super::LEG;
use crate::character_desc::mirrored;
use sinew_math::{Isometry, Mat3, Rotation, Vec3};

/// Maximum extension of a leg as a fraction of its length, so that the knee is never straight.
const STRAIGHTEST: f64 = 0.995;

/// The rotations of thigh, shin and foot relative to their parents.
pub(super) struct LegRotations {
    pub(super) thigh: Rotation,
    pub(super) shin: Rotation,
    pub(super) foot: Rotation,
}

/// Computes the rotations that bring the ankle to its target, with the knee nearly over the toes. `side` is 1 for the left leg and −1 for the right; `world_from_hips`
/// and `world_from_foot` are the transforms of hips and foot from rest.
pub(super) fn solve_leg(side: f64, world_from_hips: &Isometry, world_from_foot: &Isometry) -> LegRotations {
    // the target
    let [hip, knee, ankle] = [LEG[0], LEG[1], LEG[2]].map(|p| if side > 0.0 { p } else { mirrored(p) });
    let hip_now = world_from_hips.transform_point(&hip.into()).coords;
    let ankle_wanted = world_from_foot.transform_point(&ankle.into()).coords;
    // knees point midway between the forward directions of hips and toes
    let forward = (world_from_foot.rotation * Vec3::z() + world_from_hips.rotation * Vec3::z()).normalize();

    // law of cosines: the knee is at x along the line from hip to ankle and at distance y from it
    let (upper, lower) = ((knee - hip).norm(), (ankle - knee).norm());
    let way = ankle_wanted - hip_now;
    let far = way.norm().min(STRAIGHTEST * (upper + lower));
    let along = way.normalize();
    let x = (upper * upper - lower * lower + far * far) / (2.0 * far);
    let y = (upper * upper - x * x).max(0.0).sqrt();
    let beside = (forward - along * along.dot(&forward)).normalize();
    let knee_now = hip_now + along * x + beside * y;
    let ankle_now = hip_now + along * far;

    // rotations in the world, then relative to the parents
    let thigh = between((knee - hip, Vec3::z()), (knee_now - hip_now, forward));
    let shin = between((ankle - knee, Vec3::z()), (ankle_now - knee_now, forward));
    LegRotations {
        thigh: world_from_hips.rotation.inverse() * thigh,
        shin: thigh.inverse() * shin,
        foot: shin.inverse() * world_from_foot.rotation,
    }
}

/// The rotation that maps one direction to another, and the half-plane of a second direction to that of its image.
fn between(from: (Vec3, Vec3), to: (Vec3, Vec3)) -> Rotation {
    let frame = |(direction, side): (Vec3, Vec3)| {
        let first = direction.normalize();
        let third = first.cross(&side).normalize();
        Mat3::from_columns(&[first, third.cross(&first), third])
    };
    let turned = frame(to) * frame(from).transpose();
    Rotation::from_rotation_matrix(&sinew_math::nalgebra::Rotation3::from_matrix_unchecked(turned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_math::so3;

    /// Forward kinematics from the hips down. The tolerance is the round-off of a few products of lengths below 2 m.
    #[test]
    fn inverse_kinematics_reaches_the_ankle_target() {
        for side in [1.0, -1.0] {
            let hips = Isometry::from_parts(
                Vec3::new(0.05, -0.09, 0.02).into(),
                so3::exp(&Vec3::new(0.1, 0.3, 0.15)),
            );
            let foot =
                Isometry::from_parts(Vec3::new(0.0, 0.02, 0.03).into(), so3::exp(&Vec3::new(0.0, 0.5, 0.0)));
            let turns = solve_leg(side, &hips, &foot);
            let [hip, knee, ankle] =
                [LEG[0], LEG[1], LEG[2]].map(|p| if side > 0.0 { p } else { mirrored(p) });
            let thigh = hips.rotation * turns.thigh;
            let knee_now = hips.transform_point(&hip.into()).coords + thigh * (knee - hip);
            let shin = thigh * turns.shin;
            let ankle_now = knee_now + shin * (ankle - knee);
            assert!((ankle_now - foot.transform_point(&ankle.into()).coords).norm() < 1e-12);
            assert!((shin * turns.foot).angle_to(&foot.rotation) < 1e-7);
        }
    }
}

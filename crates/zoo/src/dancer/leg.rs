//! Where thigh and shin must turn so that a foot stands where it should.

use super::LEG;
use crate::figure::mirrored;
use sinew_math::{Isometry, Mat3, Rotation, Vec3};

/// How straight a leg gets, as a fraction of its length: knees never lock.
const STRAIGHTEST: f64 = 0.995;

/// The turns of thigh, shin and foot against their parents.
pub(super) struct LegTurns {
    pub(super) thigh: Rotation,
    pub(super) shin: Rotation,
    pub(super) foot: Rotation,
}

/// Puts the ankle of a leg where it is wanted, with the knee nearly over the toes. `side` is 1 for the left leg and −1 for the right; `world_from_hips` says where the
/// hips have gone from rest, and `world_from_foot` where the foot has.
pub(super) fn reach(side: f64, world_from_hips: &Isometry, world_from_foot: &Isometry) -> LegTurns {
    let [hip, knee, ankle] = [LEG[0], LEG[1], LEG[2]].map(|p| if side > 0.0 { p } else { mirrored(p) });
    let hip_now = world_from_hips.transform_point(&hip.into()).coords;
    let ankle_wanted = world_from_foot.transform_point(&ankle.into()).coords;
    // knees point half way between where the hips face and where the toes do
    let forward = (world_from_foot.rotation * Vec3::z() + world_from_hips.rotation * Vec3::z()).normalize();

    // the law of cosines: the knee lies x along the way from hip to ankle and y beside it
    let (upper, lower) = ((knee - hip).norm(), (ankle - knee).norm());
    let way = ankle_wanted - hip_now;
    let far = way.norm().min(STRAIGHTEST * (upper + lower));
    let along = way.normalize();
    let x = (upper * upper - lower * lower + far * far) / (2.0 * far);
    let y = (upper * upper - x * x).max(0.0).sqrt();
    let beside = (forward - along * along.dot(&forward)).normalize();
    let knee_now = hip_now + along * x + beside * y;
    let ankle_now = hip_now + along * far;

    let thigh = between((knee - hip, Vec3::z()), (knee_now - hip_now, forward));
    let shin = between((ankle - knee, Vec3::z()), (ankle_now - knee_now, forward));
    LegTurns {
        thigh: world_from_hips.rotation.inverse() * thigh,
        shin: thigh.inverse() * shin,
        foot: shin.inverse() * world_from_foot.rotation,
    }
}

/// The rotation that takes one direction to another, and the side that a second one points to along.
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

    /// Follows the bones from the hips down. Round-off of a few products of lengths below 2 m.
    #[test]
    fn the_ankle_comes_to_where_it_is_wanted() {
        for side in [1.0, -1.0] {
            let hips = Isometry::from_parts(
                Vec3::new(0.05, -0.09, 0.02).into(),
                so3::exp(&Vec3::new(0.1, 0.3, 0.15)),
            );
            let foot =
                Isometry::from_parts(Vec3::new(0.0, 0.02, 0.03).into(), so3::exp(&Vec3::new(0.0, 0.5, 0.0)));
            let turns = reach(side, &hips, &foot);
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

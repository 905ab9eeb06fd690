//! The muscle layer in motion: solids on bones, whose deformation follows time and joint angles.              \[TurnerThalmann1993, §3.6\]

use crate::desc::MuscleParameter;
use sinew_contact::{Deformation, ImplicitSolid};
use sinew_math::spatial::Frame;
use sinew_math::{Rotation, Vec3};

/// The solids of a layer, as they are described and as they are now.
#[derive(Clone, Debug, Default)]
pub(crate) struct MuscleLayer {
    pub(crate) muscles: Vec<Muscle>,
    /// Poses and shapes at this time.
    placed: Vec<Placed>,
}

/// A solid on a bone.
#[derive(Clone, Debug)]
pub(crate) struct Muscle {
    /// Its bone among those of the world; 0 is the world.
    pub(crate) bone: u32,
    pub(crate) bone_from_solid: Frame,
    pub(crate) solid: ImplicitSolid,
    pub(crate) drives: Vec<Drive>,
}

/// What deforms a solid.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    pub(crate) parameter: MuscleParameter,
    pub(crate) joint: Option<Joint>,
    pub(crate) keys: Vec<[f64; 2]>,
}

/// A joint whose angle is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    pub(crate) bone: u32,
    pub(crate) parent: u32,
    /// The rotation from the bone to its parent at rest.
    pub(crate) rest: Rotation,
}

#[derive(Clone, Debug)]
struct Placed {
    frame: Frame,
    solid: ImplicitSolid,
    reach: f64,
    /// Its deformation before the last motion, and how long that took (s).
    before: Deformation,
    lasted: f64,
}

/// The nearest point of the layer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerPoint {
    pub(crate) muscle: u32,
    /// In the frame of the muscle (m).
    pub(crate) local: Vec3,
    /// In the world (m).
    pub(crate) point: Vec3,
    /// Outward unit normal in the world.
    pub(crate) normal: Vec3,
    /// Signed distance, negative inside (m).
    pub(crate) distance: f64,
}

/// Points that slide by less than this fraction of a muscle in a step are followed by that step: its error is half the square, a ten-thousandth of the muscle.
const NEAR: f64 = 0.015;

impl MuscleLayer {
    pub(crate) fn new(muscles: Vec<Muscle>) -> MuscleLayer {
        let place = |muscle: &Muscle| Placed {
            frame: muscle.bone_from_solid,
            reach: muscle.solid.reach(),
            solid: muscle.solid.clone(),
            before: muscle.solid.deformation,
            lasted: 0.0,
        };
        let placed = muscles.iter().map(place).collect();
        MuscleLayer { muscles, placed }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.muscles.is_empty()
    }

    /// Moves all solids with the bones, the world first, and deforms them at a time (s), `lasted` (s) after the last one; 0 for a new start.
    pub(crate) fn place(&mut self, bones: &[Frame], time: f64, lasted: f64) {
        for (muscle, placed) in self.muscles.iter().zip(&mut self.placed) {
            let Some(bone) = bones.get(muscle.bone as usize) else { continue };
            placed.frame = bone.then(&muscle.bone_from_solid);
            if muscle.drives.is_empty() {
                continue;
            }
            let mut deformation = muscle.solid.deformation;
            for drive in &muscle.drives {
                let at = drive.joint.map_or(time, |joint| joint.angle(bones));
                drive.parameter.apply(value_at(&drive.keys, at), &mut deformation);
            }
            (placed.before, placed.lasted) = (placed.solid.deformation, lasted);
            placed.solid.deformation = deformation;
            placed.reach = placed.solid.reach();
        }
    }

    /// The nearest point of the layer, if it is nearer than `reach` (m).
    pub(crate) fn nearest(&self, p: &Vec3, reach: f64) -> Option<LayerPoint> {
        let mut best: Option<LayerPoint> = None;
        let mut bound = reach;
        for (i, placed) in self.placed.iter().enumerate() {
            if (p - placed.frame.origin).norm() - placed.reach > bound {
                continue;
            }
            let found = placed.solid.nearest(&placed.frame.point_back(p));
            if found.distance < bound {
                bound = found.distance;
                best = Some(self.in_world(i, found));
            }
        }
        best
    }

    /// The same, faster with a point of the layer that was near a moment ago.
    pub(crate) fn nearest_from(
        &self,
        p: &Vec3,
        reach: f64,
        before: Option<&LayerPoint>,
    ) -> Option<LayerPoint> {
        let Some(before) = before else { return self.nearest(p, reach) };
        let own = before.muscle as usize;
        let placed = &self.placed[own];
        let local = placed.frame.point_back(p);
        let mut found = placed.solid.follow(&local, &before.local);
        // a step is as good as a search for what has hardly moved
        if (found.point - before.local).norm() > NEAR * placed.reach {
            found = placed.solid.nearest_from(&local, &found.point);
        }
        let mut bound = reach;
        let mut best = None;
        if found.distance < bound {
            bound = found.distance;
            best = Some(self.in_world(own, found));
        }
        for (i, placed) in self.placed.iter().enumerate() {
            if i == own || (p - placed.frame.origin).norm() - placed.reach > bound {
                continue;
            }
            let local = placed.frame.point_back(p);
            if !placed.solid.may_be_within(&local, bound) {
                continue;
            }
            let found = placed.solid.nearest(&local);
            if found.distance < bound {
                bound = found.distance;
                best = Some(self.in_world(i, found));
            }
        }
        best
    }

    /// The nearest point of one muscle, by a step from where it was.
    #[inline]
    pub(crate) fn follow(&self, muscle: u32, p: &Vec3, before: &Vec3) -> LayerPoint {
        let placed = &self.placed[muscle as usize];
        self.in_world(muscle as usize, placed.solid.follow(&placed.frame.point_back(p), before))
    }

    fn in_world(&self, muscle: usize, found: sinew_contact::SolidPoint) -> LayerPoint {
        let frame = &self.placed[muscle].frame;
        LayerPoint {
            muscle: muscle as u32,
            local: found.point,
            point: frame.point(&found.point),
            normal: frame.rotation * found.normal,
            distance: found.distance,
        }
    }

    /// How fast deformation moves a point of the surface in the world (m/s).
    pub(crate) fn deformation_velocity(&self, muscle: u32, local: &Vec3) -> Vec3 {
        let placed = &self.placed[muscle as usize];
        if placed.lasted <= 0.0 || placed.before == placed.solid.deformation {
            return Vec3::zeros();
        }
        let undeformed = placed.solid.deformation.back(local);
        placed.frame.rotation * ((local - placed.before.apply(&undeformed)) / placed.lasted)
    }

    /// The bone of a muscle.
    #[inline]
    pub(crate) fn bone(&self, muscle: u32) -> u32 {
        self.muscles[muscle as usize].bone
    }

    /// A point of a muscle before deformation, as it is now in the world (m).
    pub(crate) fn carried(&self, muscle: u32, undeformed: &Vec3) -> Vec3 {
        let placed = &self.placed[muscle as usize];
        placed.frame.point(&placed.solid.deformation.apply(undeformed))
    }

    /// A point of the world (m) in a muscle before deformation.
    pub(crate) fn undeformed(&self, muscle: u32, point: &Vec3) -> Vec3 {
        let placed = &self.placed[muscle as usize];
        placed.solid.deformation.back(&placed.frame.point_back(point))
    }
}

impl Joint {
    /// How far it is turned from rest (rad).
    fn angle(&self, bones: &[Frame]) -> f64 {
        let [Some(bone), Some(parent)] = [self.bone, self.parent].map(|i| bones.get(i as usize)) else {
            return 0.0;
        };
        let turned =
            parent.rotation.transpose() * bone.rotation * self.rest.to_rotation_matrix().matrix().transpose();
        // of a rotation matrix: |sin| from its skew part, cos from its trace
        let skew = Vec3::new(turned.m32 - turned.m23, turned.m13 - turned.m31, turned.m21 - turned.m12);
        sinew_math::real::atan2(skew.norm(), turned.trace() - 1.0)
    }
}

/// The monotone cubic through keys (Fritsch and Carlson), constant beyond its ends.
fn value_at(keys: &[[f64; 2]], at: f64) -> f64 {
    let last = keys.len() - 1;
    if at <= keys[0][0] {
        return keys[0][1];
    }
    if at >= keys[last][0] {
        return keys[last][1];
    }
    let i = keys.partition_point(|key| key[0] <= at) - 1;
    let secant = |i: usize| (keys[i + 1][1] - keys[i][1]) / (keys[i + 1][0] - keys[i][0]);
    // derivatives at keys: harmonic means of the secants where both have one sign
    let derivative = |k: usize| {
        if k == 0 || k == last {
            return 0.0;
        }
        let (a, b) = (secant(k - 1), secant(k));
        if a * b <= 0.0 { 0.0 } else { 2.0 * a * b / (a + b) }
    };
    let width = keys[i + 1][0] - keys[i][0];
    let t = (at - keys[i][0]) / width;
    let (m, n) = (width * derivative(i), width * derivative(i + 1));
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * keys[i][1]
        + (t3 - 2.0 * t2 + t) * m
        + (3.0 * t2 - 2.0 * t3) * keys[i + 1][1]
        + (t3 - t2) * n
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curve passes through its keys, stays between neighbours, and rests beyond its ends.
    #[test]
    fn drives_pass_through_their_keys_without_overshoot() {
        let keys = [[0.0, 1.0], [0.5, 1.1], [2.0, 1.4], [3.0, 1.4]];
        for key in keys {
            assert!((value_at(&keys, key[0]) - key[1]).abs() < 1e-15);
        }
        let mut before = 1.0;
        for i in 0..=400 {
            let now = value_at(&keys, -0.5 + 0.01 * f64::from(i));
            assert!(now >= before - 1e-15 && now <= 1.4 + 1e-15, "{i}: {before} {now}");
            before = now;
        }
    }

    /// A joint turned by an angle about any axis measures that angle, up to half a turn.
    #[test]
    fn the_angle_of_a_joint_is_that_of_its_rotation() {
        let rest = Rotation::from_euler_angles(0.2, -0.4, 0.9);
        let joint = Joint { bone: 1, parent: 0, rest };
        for (x, angle) in [(0.3, 0.0), (-0.5, 0.7), (0.1, 2.9)] {
            let axis = sinew_math::nalgebra::Unit::new_normalize(Vec3::new(x, 1.0, 0.4));
            let turned = Rotation::from_axis_angle(&axis, angle) * rest;
            let rotation = turned.to_rotation_matrix().into_inner();
            let bones = [Frame::default(), Frame { rotation, origin: Vec3::zeros() }];
            assert!((joint.angle(&bones) - angle).abs() < 1e-7, "{angle}");
        }
    }
}

//! Muscles of a human figure: laid out along its bones, and scaled to the flesh around them.
//!
//! A muscle is a spindle between two points. Each point is at a fraction of the way along a bone, and off its axis by a fraction of the way from there to the surface, in a direction of the body: in front, behind, or outwards. The spindle's radius is a fraction of the flesh
//! that it lies in, so that slender and stout figures get muscles of their own size.

use sinew_control::{BoneMap, HumanBone};
use sinew_flesh::ForceLength;
use sinew_math::Vec3;
use sinew_mesh::TriMesh;
use sinew_sim::WorldDesc;
use sinew_sim::desc::{
    FibreField, FleshMuscleDesc, MuscleDesc, MuscleEnd, MuscleKind, MuscleTissue, MuscleVolume, ShapeDesc,
};
use sinew_skeleton::{Kinematics, Skeleton, SkeletonState};

/// A direction of a standing body.
#[derive(Clone, Copy)]
enum Toward {
    Front,
    Back,
    /// Away from the middle plane, and up.
    Outside,
}

/// A point of a bone's segment: the bone, the fraction along it, and off its axis.
#[derive(Clone, Copy)]
struct Place {
    bone: Segment,
    along: f64,
    off: f64,
}

/// Segments of one side of the body.
#[derive(Clone, Copy, PartialEq)]
enum Segment {
    /// From the upper chest to the neck, on the side of the shoulder.
    Chest,
    Hips,
    UpperArm,
    LowerArm,
    UpperLeg,
    LowerLeg,
}

/// A muscle of one side.
struct Row {
    name: &'static str,
    toward: Toward,
    ends: [Place; 2],
    /// Radius as a fraction of the flesh from the axis of the thicker end's bone to the surface.
    radius: f64,
}

const fn place(bone: Segment, along: f64, off: f64) -> Place {
    Place { bone, along, off }
}

/// The muscles of one side: where anatomy has them, as far as spindles in one piece of flesh can.
const ROWS: [Row; 8] = [
    Row {
        name: "biceps",
        toward: Toward::Front,
        ends: [place(Segment::UpperArm, 0.08, 0.35), place(Segment::LowerArm, 0.16, 0.25)],
        radius: 0.42,
    },
    Row {
        name: "triceps",
        toward: Toward::Back,
        ends: [place(Segment::UpperArm, 0.12, 0.4), place(Segment::LowerArm, 0.03, 0.4)],
        radius: 0.42,
    },
    Row {
        name: "forearm",
        toward: Toward::Front,
        ends: [place(Segment::UpperArm, 0.88, 0.35), place(Segment::LowerArm, 0.8, 0.35)],
        radius: 0.4,
    },
    Row {
        name: "deltoid",
        toward: Toward::Outside,
        ends: [place(Segment::Chest, 0.9, 0.3), place(Segment::UpperArm, 0.45, 0.4)],
        radius: 0.35,
    },
    Row {
        name: "pectoral",
        toward: Toward::Front,
        ends: [place(Segment::Chest, 0.35, 0.6), place(Segment::UpperArm, 0.22, 0.35)],
        radius: 0.35,
    },
    Row {
        name: "thigh",
        toward: Toward::Front,
        ends: [place(Segment::UpperLeg, 0.08, 0.45), place(Segment::LowerLeg, 0.06, 0.5)],
        radius: 0.4,
    },
    Row {
        name: "calf",
        toward: Toward::Back,
        ends: [place(Segment::UpperLeg, 0.95, 0.35), place(Segment::LowerLeg, 0.9, 0.35)],
        radius: 0.4,
    },
    Row {
        name: "gluteus",
        toward: Toward::Back,
        ends: [place(Segment::Hips, 0.3, 0.45), place(Segment::UpperLeg, 0.22, 0.45)],
        radius: 0.4,
    },
];

/// The muscles of both sides of a body, by names such as "left biceps". `map` says which of its bones are which.
///
/// # Errors
/// If the body is no flesh on a human skeleton.
pub fn human_muscles(world: &WorldDesc, body: &str, map: &BoneMap) -> Result<Vec<MuscleDesc>, String> {
    let figure = Figure::build(world, body, map)?;
    let mut muscles = Vec::new();
    for side in [Side::Left, Side::Right] {
        for row in &ROWS {
            muscles.extend(figure.muscle(row, side, body));
        }
    }
    if muscles.is_empty() {
        return Err("no muscle finds its bones: the figure needs hips, arms and legs".into());
    }
    Ok(muscles)
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

/// A human figure at rest.
struct Figure<'a> {
    surface: &'a TriMesh,
    map: &'a BoneMap,
    /// Where each bone begins (m), and its name.
    places: Vec<(Vec3, String)>,
    up: Vec3,
    left: Vec3,
    front: Vec3,
}

impl<'a> Figure<'a> {
    fn build(world: &'a WorldDesc, body: &str, map: &'a BoneMap) -> Result<Figure<'a>, String> {
        let body = world.bodies.iter().find(|own| own.name == body);
        let body = body.ok_or("there is no such body")?;
        let ShapeDesc::Surface { surface, .. } = &body.shape else {
            return Err("its flesh has no surface".into());
        };
        let rig = body.attachment.as_ref().and_then(|own| world.rigs.iter().find(|rig| rig.name == own.rig));
        let rig = rig.ok_or("it is attached to no skeleton")?;
        let skeleton =
            Skeleton::build(&rig.skeleton.with_plain_masses()).map_err(|error| error.to_string())?;
        let mut kinematics = Kinematics::default();
        kinematics.update(&skeleton, &SkeletonState::at_rest(&skeleton));
        let bones = skeleton.bones().iter().zip(kinematics.world_frames());
        let places: Vec<(Vec3, String)> =
            bones.map(|(bone, frame)| (frame.origin, bone.name.clone())).collect();

        // directions of the body
        let at = |bone: HumanBone| {
            map.get(bone).map(|i| places[i].0).ok_or_else(|| format!("it has no {}", bone.name()))
        };
        let between = |a: HumanBone, b: HumanBone| Ok::<Vec3, String>(0.5 * (at(a)? + at(b)?));
        let shoulders = between(HumanBone::LeftUpperArm, HumanBone::RightUpperArm)?;
        let hips = between(HumanBone::LeftUpperLeg, HumanBone::RightUpperLeg)?;
        let across = at(HumanBone::LeftUpperArm)? - at(HumanBone::RightUpperArm)?;
        let (Some(up), Some(left)) = ((shoulders - hips).try_normalize(1e-9), across.try_normalize(1e-9))
        else {
            return Err("its shoulders and hips are at one place".into());
        };
        let front = left.cross(&up).try_normalize(1e-3).ok_or("its shoulders are above its hips")?;
        Ok(Figure { surface, map, places, up, left, front })
    }

    /// The bone that a segment belongs to, and where the segment begins and ends (m).
    fn segment(&self, segment: Segment, side: Side) -> Option<(usize, [Vec3; 2])> {
        use HumanBone::*;
        let sided =
            |left: HumanBone, right: HumanBone| self.map.get(if side == Side::Left { left } else { right });
        let at = |bone: usize| self.places[bone].0;
        let span = |bone: usize, next: usize| Some((bone, [at(bone), at(next)]));
        let (upper_arm, lower_arm) =
            (sided(LeftUpperArm, RightUpperArm)?, sided(LeftLowerArm, RightLowerArm));
        let (upper_leg, lower_leg) =
            (sided(LeftUpperLeg, RightUpperLeg)?, sided(LeftLowerLeg, RightLowerLeg));
        match segment {
            // from the middle to the shoulder, below it
            Segment::Chest => {
                let bone = [UpperChest, Chest, Spine].into_iter().find_map(|bone| self.map.get(bone))?;
                let shoulder = at(upper_arm);
                let middle = shoulder - self.left * self.left.dot(&(shoulder - at(bone)));
                let down = self.up * (0.25 * (shoulder - middle).norm());
                Some((bone, [middle - down, shoulder]))
            }
            Segment::Hips => {
                let bone = self.map.get(Hips)?;
                let joint = at(upper_leg);
                let side = self.left * self.left.dot(&(joint - at(bone)));
                Some((bone, [joint + 0.6 * side.norm() * self.up - 0.3 * side, joint]))
            }
            Segment::UpperArm => span(upper_arm, lower_arm?),
            Segment::LowerArm => span(lower_arm?, sided(LeftHand, RightHand)?),
            Segment::UpperLeg => span(upper_leg, lower_leg?),
            Segment::LowerLeg => span(lower_leg?, sided(LeftFoot, RightFoot)?),
        }
    }

    /// A muscle of one side; none if bones or flesh are missing.
    fn muscle(&self, row: &Row, side: Side, body: &str) -> Option<MuscleDesc> {
        let outwards = if side == Side::Left { self.left } else { -self.left };
        let toward = match row.toward {
            Toward::Front => self.front,
            Toward::Back => -self.front,
            Toward::Outside => (outwards + 1.5 * self.up).normalize(),
        };
        let mut ends = Vec::new();
        let mut thickest = 0.0f64;
        for place in &row.ends {
            let (bone, [from, to]) = self.segment(place.bone, side)?;
            let on_axis = from + place.along * (to - from);
            // across the bone
            let axis = (to - from).try_normalize(1e-9).unwrap_or_default();
            let off = (toward - axis * axis.dot(&toward)).try_normalize(1e-6)?;
            let flesh = self.depth(&on_axis, &off)?;
            thickest = thickest.max(self.depth(&(0.5 * (from + to)), &off).unwrap_or(flesh));
            ends.push(MuscleEnd {
                place: on_axis + place.off * flesh * off,
                radius: None,
                bone: Some(self.places[bone].1.clone()),
            });
        }
        let ends = <[MuscleEnd; 2]>::try_from(ends).ok()?;
        let length = (ends[1].place - ends[0].place).norm();
        let flesh = FleshMuscleDesc {
            body: body.to_owned(),
            // no rounder than a ball that would reach beyond its ends
            volume: MuscleVolume::Spindle((row.radius * thickest).min(0.4 * length)),
            ends: Some(ends),
            fibres: FibreField::Harmonic,
            tissue: Some(MuscleTissue::default()),
        };
        let name = format!("{} {}", if side == Side::Left { "left" } else { "right" }, row.name);
        Some(MuscleDesc { name, kind: MuscleKind::Flesh(Box::new(flesh)), curve: ForceLength::default() })
    }

    /// How far the surface is from a point in a direction (m); none if there is none.
    fn depth(&self, from: &Vec3, direction: &Vec3) -> Option<f64> {
        let hit = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|v| self.surface.vertices[v as usize]);
            ray_hit(from, direction, [&a, &b, &c])
        };
        self.surface.triangles.iter().filter_map(hit).min_by(f64::total_cmp)
    }
}

/// Distance along a ray to a triangle.   `Möller and Trumbore 1997`
fn ray_hit(from: &Vec3, direction: &Vec3, [a, b, c]: [&Vec3; 3]) -> Option<f64> {
    let (e1, e2) = (b - a, c - a);
    let p = direction.cross(&e2);
    let determinant = e1.dot(&p);
    if determinant == 0.0 {
        return None;
    }
    let t = from - a;
    let u = t.dot(&p) / determinant;
    let q = t.cross(&e1);
    let v = direction.dot(&q) / determinant;
    let distance = e2.dot(&q) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_hits_a_triangle_at_its_distance_and_misses_beside_it() {
        let [a, b, c] = [Vec3::new(-1.0, -1.0, 2.0), Vec3::new(2.0, -1.0, 2.0), Vec3::new(-1.0, 2.0, 2.0)];
        let hit = |from: Vec3| ray_hit(&from, &Vec3::z(), [&a, &b, &c]);
        assert!((hit(Vec3::zeros()).expect("hit") - 2.0).abs() < 1e-12);
        assert_eq!(hit(Vec3::new(3.0, 0.0, 0.0)), None);
        assert_eq!(hit(Vec3::new(0.0, 0.0, 3.0)), None, "behind");
    }
}

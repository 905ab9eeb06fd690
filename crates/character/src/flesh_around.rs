//! A body for a skeleton that has none: flesh drawn around its bones.
//!
//! An implicit surface of round cones around all bones, blended into each other. The bones of a human figure have the usual thickness of their
//! kind, as a fraction of its height; hand-written bones give theirs.

use sinew_control::{BoneMap, HumanBone};
use sinew_math::Vec3;
use sinew_mesh::{ImplicitSurface, ImplicitSurfaceError, Primitive, TriMesh};
use sinew_skeleton::{Kinematics, MassDesc, Skeleton, SkeletonDesc, SkeletonState, SolidShape};

/// A stretch of flesh around part of a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshSegment {
    /// Where it begins and ends in the world at rest (m).
    pub ends: [Vec3; 2],
    /// Its radius at each end (m).
    pub radii: [f64; 2],
}

/// The blend of neighbouring bones' flesh, as a fraction of its radius.
const BLEND: f64 = 0.25;
/// The spacing of surface vertices, as a fraction of the thinnest radius.
const SPACING: f64 = 0.45;
/// The finest spacing, as a fraction of the body's longest side: what a picture can show.
const FINEST: f64 = 1.0 / 200.0;
/// The radius of a figure's bones as a fraction of that of the flesh around them.
const BONE_FRACTION: f64 = 0.5;
/// How much denser a figure's bones are than the flesh that fills the same place in the cage (kg/m³).
const BONE_DENSITY: f64 = 250.0;
/// What a radius becomes from a bone to one without a name of its own below it: thumbs, finger tips, connecting bones.
const UNKNOWN_FRACTION: f64 = 0.75;

/// The surface of flesh around bones.
pub fn flesh_around(segments: &[FleshSegment]) -> Result<TriMesh, ImplicitSurfaceError> {
    let primitives: Vec<Primitive> = segments
        .iter()
        .map(|segment| {
            let thin = segment.radii[0].min(segment.radii[1]);
            Primitive::round_cone(segment.ends, segment.radii).blended(BLEND * thin)
        })
        .collect();
    let implicit = ImplicitSurface::build(&primitives)?;
    let (low, high) = implicit.bounds();
    let thinnest = segments.iter().flat_map(|segment| segment.radii).fold(f64::INFINITY, f64::min);
    implicit.surface((SPACING * thinnest).max(FINEST * (high - low).amax()))
}

/// Gives the bones of a figure the flesh of their kind, `fullness` times as thick as usual, and thickness and weight of their own to match.
/// Bones that are capsules keep their ends.
pub fn figure_flesh(desc: &mut SkeletonDesc, skeleton: &Skeleton, fullness: f64) -> Vec<FleshSegment> {
    let mut kinematics = Kinematics::default();
    kinematics.update(skeleton, &SkeletonState::at_rest(skeleton));
    let radii = joint_radii(skeleton, fullness * extent(skeleton, &kinematics));
    let mut segments = Vec::new();
    for (place, bone) in desc.bones.iter_mut().enumerate() {
        let Some(id) = skeleton.bone_of_desc(place) else { continue };
        let own = radii[id.index()];
        let mut solids = Vec::new();
        for shape in bone.mass.shapes() {
            let SolidShape::Capsule { from, to, .. } = shape else { continue };
            let ends = [from, to].map(|end| kinematics.point(id, end));
            // towards a joint it takes that joint's radius, towards a free end it tapers
            let child = (0..skeleton.bones().len()).find(|&i| {
                let below = skeleton.bones()[i].parent == Some(id);
                below && (kinematics.world_frames()[i].origin - ends[1]).norm() < 1e-6
            });
            let end = child.map_or(0.85 * own, |child| radii[child]);
            segments.push(FleshSegment { ends, radii: [own, end] });
            let shape = SolidShape::Capsule { from: *from, to: *to, radius: BONE_FRACTION * own.min(end) };
            solids.push(MassDesc::Solid { shape, density: BONE_DENSITY });
        }
        if !solids.is_empty() {
            bone.mass = MassDesc::Sum(solids);
        }
    }
    segments
}

/// The longest side of the box around all joints (m).
fn extent(skeleton: &Skeleton, kinematics: &Kinematics) -> f64 {
    let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for frame in kinematics.world_frames().iter().take(skeleton.bones().len()) {
        (low, high) = (low.inf(&frame.origin), high.sup(&frame.origin));
    }
    (high - low).amax()
}

/// The radius of flesh at each joint (m), for a figure of a height (m).
fn joint_radii(skeleton: &Skeleton, height: f64) -> Vec<f64> {
    let map = BoneMap::find_in(skeleton);
    let mut known = vec![None; skeleton.bones().len()];
    for (bone, index) in map.iter() {
        known[index] = Some(default_radius(bone) * height);
    }
    let mut radii: Vec<f64> = Vec::with_capacity(known.len());
    for (i, bone) in skeleton.bones().iter().enumerate() {
        let above =
            bone.parent.map_or(default_radius(HumanBone::Hips) * height, |parent| radii[parent.index()]);
        radii.push(known[i].unwrap_or(UNKNOWN_FRACTION * above));
    }
    radii
}

/// The radius of flesh where a bone begins, as a fraction of the figure's height.
fn default_radius(bone: HumanBone) -> f64 {
    use HumanBone::*;
    match bone {
        Hips => 0.072,
        Spine => 0.07,
        Chest | UpperChest => 0.07,
        Neck => 0.034,
        Head => 0.045,
        LeftShoulder | RightShoulder => 0.042,
        LeftUpperArm | RightUpperArm => 0.036,
        LeftLowerArm | RightLowerArm => 0.028,
        LeftHand | RightHand => 0.02,
        LeftUpperLeg | RightUpperLeg => 0.055,
        LeftLowerLeg | RightLowerLeg => 0.037,
        LeftFoot | RightFoot => 0.025,
        LeftToes | RightToes => 0.02,
    }
}

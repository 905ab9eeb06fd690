//! A starfish with a free centre and five arms of three bones: 16 bones and 26 degrees of freedom.       [KimPollard2011, table III]

use sinew_control::{Approach, Extrapolation, Performance, SkeletonMotion};
use sinew_flesh::Material;
use sinew_math::{Isometry, Rotation, Vec3, real};
use sinew_mesh::{ImplicitSurface, Primitive, TriMesh};
use sinew_sim::Solver;
use sinew_sim::desc::{AttachmentDesc, BodyDesc, CageSize, CoreDesc, RigDesc, Sag, ShapeDesc, WorldDesc};
use sinew_skeleton::{
    BoneDesc, JointDesc, JointKind, MassDesc, Parent, Skeleton, SkeletonDesc, SkeletonState, SolidShape,
};
use sinew_take::Scene;

const ARMS: usize = 5;
/// Distances of an arm's joints and its tip from the centre (m).
const JOINTS: [f64; 4] = [0.035, 0.075, 0.11, 0.14];
/// Radius of the flesh at these points (m).
const FLESH: [f64; 4] = [0.036, 0.029, 0.021, 0.013];
/// Radius of the bones as a fraction of that of the flesh.
const BONE_FRACTION: f64 = 0.35;
const BONE_DENSITY: f64 = 1200.0;
/// Spacing of surface vertices (m), for about 1,160 of them.
const SPACING: f64 = 0.0097;
/// Period of the arms' wave (s), and its amplitude (rad).
const PERIOD: f64 = 1.2;
const BEND: f64 = 0.32;

/// A starfish without gravity that waves its arms in turn; `tets` is the approximate number of tets of the cage.
pub fn starfish(tets: usize) -> Scene {
    // skeleton and performance
    let bones = bones();
    let motion = Skeleton::build(&bones.with_plain_masses()).ok().and_then(|skeleton| wave(&skeleton));
    let performance =
        Performance { approach: Some(Approach { begin: -0.8, end: -0.4 }), ..Performance::of(motion) };

    // flesh
    let body = BodyDesc {
        name: "starfish".into(),
        shape: ShapeDesc::Surface { surface: surface(), cage: CageSize::Tets(tets) },
        material: Material::soft_solid(4e3, 0.45, 1000.0, 0.15),
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: Some(AttachmentDesc {
            core: CoreDesc { stiffness: 4.0, reach: 0.6 },
            ..AttachmentDesc::by_shape("starfish")
        }),
        sag: Sag::Free,
        ..BodyDesc::default()
    };
    let rig = RigDesc { name: "starfish".into(), skeleton: bones };
    Scene {
        name: "starfish".into(),
        world: WorldDesc {
            gravity: Vec3::zeros(),
            bodies: vec![body],
            rigs: vec![rig],
            ..WorldDesc::default()
        },
        pin_motions: vec![Vec::new()],
        performances: vec![performance],
        obstacle_motions: Vec::new(),
        constraint_motions: Vec::new(),
        curves: Default::default(),
        solver: Solver::default(),
        preroll: 0.8,
        seconds: 4.0,
        fps: 60.0,
        edits: Vec::new(),
    }
}

/// The direction of an arm.
fn outward(arm: usize) -> Vec3 {
    let angle = core::f64::consts::TAU * arm as f64 / ARMS as f64;
    Vec3::new(real::sin(angle), 0.0, real::cos(angle))
}

fn bones() -> SkeletonDesc {
    let mut bones = vec![BoneDesc {
        name: "middle".into(),
        parent: Parent::World,
        parent_from_joint: Isometry::identity(),
        joint: JointDesc::of(JointKind::Free),
        mass: solid(Vec3::zeros(), BONE_FRACTION * FLESH[0]),
    }];
    for arm in 0..ARMS {
        let outward = outward(arm);
        let aside = outward.cross(&Vec3::y());
        for k in 0..3 {
            let at = outward * if k == 0 { JOINTS[0] } else { JOINTS[k] - JOINTS[k - 1] };
            let kind =
                if k == 0 { JointKind::Universal(Vec3::y(), aside) } else { JointKind::Revolute(aside) };
            bones.push(BoneDesc {
                name: format!("arm {}.{}", arm + 1, k + 1),
                parent: Parent::Index(if k == 0 { 0 } else { bones.len() - 1 }),
                parent_from_joint: Isometry::translation(at.x, at.y, at.z),
                joint: JointDesc::of(kind),
                mass: solid(outward * (JOINTS[k + 1] - JOINTS[k]), BONE_FRACTION * FLESH[k + 1]),
            });
        }
    }
    SkeletonDesc { bones }
}

fn solid(to: Vec3, radius: f64) -> MassDesc {
    MassDesc::Solid { shape: SolidShape::Capsule { from: Vec3::zeros(), to, radius }, density: BONE_DENSITY }
}

fn surface() -> TriMesh {
    let middle = Primitive::ellipsoid(Vec3::zeros(), Rotation::identity(), [0.06, 0.038, 0.06]).blended(0.02);
    let mut primitives = vec![middle];
    for arm in 0..ARMS {
        for k in 0..3 {
            let ends = [outward(arm) * JOINTS[k], outward(arm) * JOINTS[k + 1]];
            primitives
                .push(Primitive::round_cone(ends, [FLESH[k], FLESH[k + 1]]).blended(0.25 * FLESH[k + 1]));
        }
    }
    // the primitives are valid, so the surface exists; `Model::build` would reject an empty one
    ImplicitSurface::build(&primitives).and_then(|implicit| implicit.surface(SPACING)).unwrap_or_default()
}

/// The arms rise and fall in turn, each bone with a delay after the previous one.
fn wave(skeleton: &Skeleton) -> Option<SkeletonMotion> {
    let frames = 72;
    let mut all = Vec::new();
    for frame in 0..=frames {
        let mut state = SkeletonState::at_rest(skeleton);
        for arm in 0..ARMS {
            for k in 0..3 {
                let turn = frame as f64 / frames as f64 - arm as f64 / ARMS as f64 - 0.12 * k as f64;
                let bend = BEND * real::sin(core::f64::consts::TAU * turn);
                let bone = skeleton.bone_of_desc(1 + 3 * arm + k)?;
                let chart = if k == 0 { vec![0.3 * bend, bend] } else { vec![bend] };
                state.set_chart_of(skeleton, bone, &chart);
            }
        }
        all.extend(state.q);
    }
    let motion = SkeletonMotion::build(skeleton, PERIOD / frames as f64, all).ok()?;
    let interpolation = motion.interpolation;
    Some(motion.with(interpolation, Extrapolation::Loop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_sim::Model;

    #[test]
    fn starfish_has_the_size_of_the_published_one() {
        for (asked, low, high) in [(200, 120, 320), (3_400, 3_000, 3_900), (9_000, 8_100, 9_900)] {
            let model = Model::build(&starfish(asked).world).expect("sound");
            let skeleton = &model.rigs()[0].skeleton;
            assert_eq!((skeleton.bones().len(), skeleton.v_count()), (16, 26));
            assert!((low..=high).contains(&model.tets().len()), "{asked}: {} tets", model.tets().len());
            let vertices = model.bodies()[0].surface.vertices.len();
            assert!((1_000..=1_300).contains(&vertices), "{vertices} vertices");
            // every bone has nodes fixed to it
            for bone in 0..16 {
                let holds = |node: usize| model.bone_of_node(node).is_some_and(|(_, b)| b.index() == bone);
                assert!((0..model.node_count()).any(holds), "{asked}: bone {bone} holds nothing");
            }
        }
        assert!(starfish(200).performances[0].motion.is_some());
    }
}

//! Double pendulum of two bones in flesh with two-way coupling, the benchmark for coupled solvers.

use sinew_flesh::{Law, Material};
use sinew_math::{Isometry, Vec3};
use sinew_mesh::shapes;
use sinew_sim::desc::{
    AttachmentDesc, BodyDesc, CoreDesc, Hold, Region, RigDesc, Sag, ShapeDesc, TieDesc, WorldDesc,
};
use sinew_sim::{Model, State};
use sinew_skeleton::{
    BoneDesc, JointDesc, JointKind, Kinematics, MassDesc, Parent, SkeletonDesc, SolidShape,
};

/// Position of the shoulder (m).
const SHOULDER: Vec3 = Vec3::new(0.0, 0.05, 0.05);

/// A block of flesh of 0.4 × 0.1 × 0.1 m, E = 5e4 Pa, ν = 0.4, around two bones of 0.2 m with hinges about y, gravity along −z. With n = `cubes_across` it has
/// 20 n³ tets.
pub fn two_links(cubes_across: usize) -> WorldDesc {
    // bones
    let bone = |name: &str, parent, at: Vec3| BoneDesc {
        name: name.into(),
        parent,
        parent_from_joint: Isometry::translation(at.x, at.y, at.z),
        joint: JointDesc::of(JointKind::Revolute(Vec3::y())),
        mass: MassDesc::Solid {
            shape: SolidShape::Capsule {
                from: Vec3::new(0.03, 0.0, 0.0),
                to: Vec3::new(0.17, 0.0, 0.0),
                radius: 0.01,
            },
            density: 2000.0,
        },
    };
    let bones =
        vec![bone("upper", Parent::World, SHOULDER), bone("lower", Parent::Index(0), 0.2 * Vec3::x())];

    // a box of flesh around each bone is fixed to it
    let tie = |bone: &str, from: f64| TieDesc {
        bone: Some(bone.into()),
        hold: Hold::Region(Region::Box {
            min: Vec3::new(from + 0.02, 0.02, 0.02),
            max: Vec3::new(from + 0.18, 0.08, 0.08),
        }),
    };

    // the block, with its lowest corner at the origin
    let mut mesh = shapes::beam(cubes_across, [0.4, 0.1, 0.1]);
    let low = mesh.nodes.iter().fold(Vec3::repeat(f64::INFINITY), |low, x| low.inf(x));
    mesh.nodes.iter_mut().for_each(|x| *x -= low);
    let body = BodyDesc {
        name: "flesh".into(),
        shape: ShapeDesc::Tets(mesh),
        material: Material { law: Law::StableNeoHookean, ..Material::soft_solid(5e4, 0.4, 1000.0, 0.0) },
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: Some(AttachmentDesc {
            rig: "arm".into(),
            ties: vec![tie("upper", 0.0), tie("lower", 0.2)],
            skin_weights: Vec::new(),
            core: CoreDesc::EVEN,
            anchored: false,
            home: None,
        }),
        sag: Sag::Free,
        ..BodyDesc::default()
    };
    let rig = RigDesc { name: "arm".into(), skeleton: SkeletonDesc { bones } };
    WorldDesc {
        gravity: Vec3::new(0.0, 0.0, -9.81),
        bodies: vec![body],
        rigs: vec![rig],
        ..WorldDesc::default()
    }
}

/// The shoulder torque (N m) that balances the weight of the arm's flesh and bones.
pub fn two_links_moment(model: &Model, state: &State) -> f64 {
    let moment = |mass: f64, x: &Vec3| (x - SHOULDER).cross(&(mass * model.gravity())).y;
    let free = (0..model.node_count()).filter(|&node| model.node_inverse_mass()[node] > 0.0);
    let flesh: f64 = free.map(|node| moment(model.node_mass()[node], &state.node_x[node])).sum();
    let mut kinematics = Kinematics::default();
    kinematics.update(&model.rigs()[0].skeleton, &state.rigs[0]);
    let bones = model.rigs()[0].skeleton.bones().iter().zip(kinematics.world_frames());
    -(flesh + bones.map(|(bone, frame)| moment(bone.mass.mass, &frame.point(&bone.mass.center))).sum::<f64>())
}

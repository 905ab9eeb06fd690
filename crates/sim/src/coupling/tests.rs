//! Which nodes are fixed to which bones.

use crate::desc::{
    AttachmentDesc, BodyDesc, CageSize, CoreDesc, Hold, Region, RigDesc, Sag, ShapeDesc, TieDesc, WorldDesc,
};
use crate::{BuildError, Model};
use sinew_flesh::Material;
use sinew_math::{Isometry, Vec3};
use sinew_mesh::shapes;
use sinew_skeleton::{BoneDesc, JointDesc, JointKind, MassDesc, Parent, SkeletonDesc, SolidShape};

/// A bar of 8 cm along x from 0 to 0.8 m with a bone in each half, thick enough to contain nodes.
fn world(ties: Vec<TieDesc>) -> WorldDesc {
    let bone = |name: &str, parent: Parent| BoneDesc {
        name: name.into(),
        parent,
        parent_from_joint: Isometry::translation(if name == "left" { 0.0 } else { 0.4 }, 0.0, 0.0),
        joint: JointDesc::of(JointKind::Ball),
        mass: MassDesc::Solid {
            shape: SolidShape::Capsule { from: Vec3::x() * 0.05, to: Vec3::x() * 0.35, radius: 0.015 },
            density: 1500.0,
        },
    };
    let bones = vec![bone("left", Parent::World), bone("right", Parent::Named("left".into()))];
    let body = BodyDesc {
        name: "bar".into(),
        shape: ShapeDesc::Tets(shapes::beam(4, [0.8, 0.08, 0.08])),
        material: Material::soft_solid(5e3, 0.4, 1000.0, 0.1),
        velocity: Vec3::zeros(),
        pins: Vec::new(),
        loads: Vec::new(),
        attachment: Some(AttachmentDesc { ties, ..AttachmentDesc::by_shape("rig") }),
        sag: Sag::Free,
        ..BodyDesc::default()
    };
    let rig = RigDesc { name: "rig".into(), skeleton: SkeletonDesc { bones } };
    WorldDesc { gravity: Vec3::zeros(), bodies: vec![body], rigs: vec![rig], ..WorldDesc::default() }
}

fn tie(bone: Option<&str>, hold: Hold) -> TieDesc {
    TieDesc { bone: bone.map(str::to_owned), hold }
}

/// The rest positions of the nodes fixed to a bone.
fn held(model: &Model, bone: usize) -> Vec<Vec3> {
    let own = |node: &usize| model.bone_of_node(*node).is_some_and(|(_, found)| found.index() == bone);
    (0..model.node_count()).filter(own).map(|node| model.node_rest()[node]).collect()
}

fn errors(world: &WorldDesc) -> String {
    let BuildError { faults } = Model::build(world).expect_err("not sound");
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

#[test]
fn a_bone_takes_what_is_inside_it_or_near_it() {
    let model = Model::build(&world(vec![tie(None, Hold::Inside { margin: 0.0 })])).unwrap();
    for (bone, middle) in [(0, 0.2), (1, 0.6)] {
        let nodes = held(&model, bone);
        // nodes are 2 cm apart along the centre line, with no others within 1.5 cm of it
        assert_eq!(nodes.len(), 17, "{nodes:?}");
        assert!(nodes.iter().all(|x| (x.x - middle).abs() < 0.17 && x.yz().norm() < 1e-12));
    }
    let near = Model::build(&world(vec![tie(Some("left"), Hold::Near { distance: 0.021 })])).unwrap();
    assert!(held(&near, 1).is_empty());
    // the same and their four neighbours, except for those beyond the ends
    assert_eq!(held(&near, 0).len(), 17 + 4 * 15);
}

#[test]
fn nodes_go_to_the_nearer_bone_and_to_the_first_tie() {
    let wide = Model::build(&world(vec![tie(None, Hold::Near { distance: 0.2 })])).unwrap();
    assert!(held(&wide, 0).iter().all(|x| x.x < 0.4 + 1e-9));
    assert!(held(&wide, 1).iter().all(|x| x.x > 0.4 - 1e-9));
    let end = Region::End { direction: Vec3::x(), fraction: 0.01 };
    let ties = vec![tie(Some("left"), Hold::Region(end)), tie(None, Hold::Near { distance: 0.2 })];
    let model = Model::build(&world(ties)).unwrap();
    assert_eq!(
        held(&model, 0).iter().filter(|x| x.x > 0.79).count(),
        25,
        "the far end is the left bone's by hand"
    );
    let by_hand = Model::build(&world(vec![tie(Some("right"), Hold::Nodes(vec![3, 7]))])).unwrap();
    assert_eq!(held(&by_hand, 1).len(), 2);
}

#[test]
fn painted_nodes_follow_their_paint() {
    let mut world = world(vec![tie(None, Hold::Painted { least: 0.9 })]);
    let model = Model::build(&self::world(vec![tie(None, Hold::Inside { margin: 0.0 })])).unwrap();
    let surface = &model.bodies()[0].surface.vertices;
    let weights =
        surface.iter().map(|x| vec![(u32::from(x.x > 0.4), if (x.x - 0.4).abs() < 0.1 { 0.5 } else { 1.0 })]);
    world.bodies[0].attachment.as_mut().unwrap().skin_weights = weights.collect();
    let painted = Model::build(&world).unwrap();
    assert!(!held(&painted, 0).is_empty() && held(&painted, 0).iter().all(|x| x.x <= 0.3 + 1e-9));
    assert!(!held(&painted, 1).is_empty() && held(&painted, 1).iter().all(|x| x.x >= 0.5 - 1e-9));
    // only surface vertices have skin weights
    assert!(held(&painted, 1).iter().all(|x| x.y.abs().max(x.z.abs()) > 0.039 || x.x > 0.79));
}

#[test]
fn a_bone_claims_only_flesh_that_is_painted_to_it() {
    let mut world = world(vec![tie(None, Hold::Inside { margin: 0.0 })]);
    let plain = Model::build(&world).unwrap();
    // all but the first fifth belongs to the right bone, through which the left one passes as well
    let weights = |x: &Vec3| vec![(u32::from(x.x > 0.16), 1.0)];
    world.bodies[0].attachment.as_mut().unwrap().skin_weights =
        plain.bodies()[0].surface.vertices.iter().map(weights).collect();
    let painted = Model::build(&world).unwrap();
    let left = held(&painted, 0);
    // the weights of the surface go straight inwards, but for one edge of 2 cm
    assert!(!left.is_empty() && left.iter().all(|x| x.x <= 0.18 + 1e-9), "{left:?}");
    // all on the axis, and one to each side of it against rolling
    assert_eq!(held(&painted, 1).len(), held(&plain, 1).len() + 2);
}

#[test]
fn a_bone_too_thin_for_the_cage_takes_the_nearest_nodes() {
    let mut world = world(vec![tie(None, Hold::Inside { margin: 0.0 })]);
    for bone in &mut world.rigs[0].skeleton.bones {
        bone.mass = MassDesc::Solid {
            // between the rows of nodes
            shape: SolidShape::Capsule {
                from: Vec3::new(0.1, 0.009, 0.009),
                to: Vec3::new(0.3, 0.009, 0.009),
                radius: 1e-3,
            },
            density: 1500.0,
        };
    }
    let model = Model::build(&world).unwrap();
    assert_eq!((held(&model, 0).len(), held(&model, 1).len()), (3, 3));
    assert!(
        model.bodies()[0].notes.iter().any(|note| note.contains("too coarse")),
        "{:?}",
        model.bodies()[0].notes
    );
}

#[test]
fn anchored_cages_have_nodes_on_their_bones() {
    let mut world = world(Vec::new());
    world.bodies[0].shape =
        ShapeDesc::Surface { surface: shapes::cuboid([0.8, 0.16, 0.16]), cage: CageSize::Edge(0.05) };
    // the cuboid is centred at the origin
    world.rigs[0].skeleton.bones[0].parent_from_joint = Isometry::translation(-0.4, 0.013, 0.007);
    world.bodies[0].attachment.as_mut().unwrap().anchored = true;
    let model = Model::build(&world).unwrap();
    for (bone, begin) in [(0, -0.4), (1, 0.0)] {
        let nodes = held(&model, bone);
        assert_eq!(nodes.len(), 3, "{nodes:?}");
        for x in nodes {
            let along = (x.x - begin - 0.05) / 0.3;
            assert!([0.15, 0.5, 0.85].iter().any(|fraction| (along - fraction).abs() < 1e-12), "{x:?}");
            assert!((x.y - 0.013).abs() < 1e-15 && (x.z - 0.007).abs() < 1e-15);
        }
    }
}

#[test]
fn flesh_is_stiffer_at_the_bone() {
    let mut world = world(vec![tie(None, Hold::Inside { margin: 0.0 })]);
    let soft = Model::build(&world).unwrap();
    world.bodies[0].attachment.as_mut().unwrap().core = CoreDesc { stiffness: 9.0, reach: 0.5 };
    let cored = Model::build(&world).unwrap();
    // the fastest wave is where the material is stiffest: three times as fast in nine times the stiffness, less the averaging over an element
    let ratio = soft.stable_step().seconds / cored.stable_step().seconds;
    assert!(ratio > 1.8 && ratio < 3.0, "{ratio}");
    assert_eq!(soft.mass(), cored.mass());
}

#[test]
fn loose_parts_are_carried() {
    let mut world = world(vec![tie(None, Hold::Inside { margin: 0.0 })]);
    let ShapeDesc::Tets(mesh) = &mut world.bodies[0].shape else { unreachable!("made of tets") };
    let eye = shapes::beam(1, [0.02, 0.02, 0.02]);
    let first = mesh.nodes.len() as u32;
    mesh.nodes.extend(eye.nodes.iter().map(|x| x + Vec3::new(0.7, 0.3, 0.0)));
    mesh.tets.extend(eye.tets.iter().map(|tet| tet.map(|node| node + first)));
    let model = Model::build(&world).unwrap();
    assert!(held(&model, 1).iter().filter(|x| x.y > 0.2).count() == eye.nodes.len());
    assert!(
        model.bodies()[0].notes.iter().any(|note| note.contains("is connected to no bone")),
        "{:?}",
        model.bodies()[0].notes
    );
}

#[test]
fn what_cannot_be_is_said_together() {
    let ties = vec![
        tie(Some("middle"), Hold::Inside { margin: f64::NAN }),
        tie(None, Hold::Near { distance: -1.0 }),
        tie(None, Hold::Painted { least: 0.5 }),
        tie(None, Hold::Nodes(vec![1_000_000])),
    ];
    let text = errors(&world(ties));
    for said in
        ["no bone 'middle'", "margin NaN", "distance -1", "skin weights", "no node 1000000", "name one"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let mut lonely = world(Vec::new());
    lonely.bodies[0].attachment.as_mut().unwrap().rig = "other".into();
    assert!(errors(&lonely).contains("'other'"));
    assert!(errors(&world(Vec::new())).contains("none of its"));
    let mut twice = world(vec![tie(None, Hold::Inside { margin: 0.0 })]);
    twice.rigs.push(twice.rigs[0].clone());
    assert!(errors(&twice).contains("two skeletons"));
    let mut ring = world(vec![tie(None, Hold::Inside { margin: 0.0 })]);
    ring.rigs[0].skeleton.bones[0].parent = Parent::Named("right".into());
    assert!(errors(&ring).contains("skeleton 'rig'"));
}

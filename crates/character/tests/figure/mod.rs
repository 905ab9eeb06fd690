//! A pair of legs under a trunk, as game rigs have them, made in code: one closed surface with painted weights.

use sinew_character::{
    Character, CharacterMesh, CharacterNode, CharacterOptions, CharacterPrimitive, CharacterSkin,
    FleshSegment, FleshShape, JointWeight, Mat4, NodeTransform, RiggedCharacter, SkinWeightsBuilder,
    empty_scene, flesh_around,
};
use sinew_math::{Vec3, distance_to_segment};
use sinew_mesh::TriMesh;
use sinew_sim::Model;
use sinew_sim::desc::CageSize;
use std::sync::Arc;

/// A joint of the figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    pub(crate) name: &'static str,
    pub(crate) parent: Option<usize>,
    /// Where it stands at bind (m, world).
    pub(crate) at: [f64; 3],
    /// Where the flesh that follows it begins and ends (m, world), and its radius (m); none for a control.
    pub(crate) flesh: Option<([f64; 3], [f64; 3], f64)>,
}

/// A root on the ground, under which hang the trunk, both feet, a pole and an unpainted target of a foot; legs hang from the trunk and end
/// without feet.
pub(crate) fn game_rig() -> Vec<Joint> {
    let joint = |name, parent, at, flesh| Joint { name, parent, at, flesh };
    vec![
        joint("Root", None, [0.0, 0.0, 0.0], None),
        joint("Body", Some(0), [0.0, 0.9, 0.0], Some(([0.0, 0.9, 0.0], [0.0, 1.3, 0.0], 0.16))),
        joint("Thigh.L", Some(1), [0.14, 0.85, 0.0], Some(([0.14, 0.85, 0.0], [0.14, 0.5, 0.0], 0.085))),
        joint("Shin.L", Some(2), [0.14, 0.47, 0.0], Some(([0.14, 0.47, 0.0], [0.14, 0.14, 0.0], 0.07))),
        joint("Thigh.R", Some(1), [-0.14, 0.85, 0.0], Some(([-0.14, 0.85, 0.0], [-0.14, 0.5, 0.0], 0.085))),
        joint("Shin.R", Some(4), [-0.14, 0.47, 0.0], Some(([-0.14, 0.47, 0.0], [-0.14, 0.14, 0.0], 0.07))),
        joint("Foot.L", Some(0), [0.14, 0.07, 0.0], Some(([0.14, 0.07, 0.0], [0.14, 0.06, 0.16], 0.06))),
        joint("Foot.R", Some(0), [-0.14, 0.07, 0.0], Some(([-0.14, 0.07, 0.0], [-0.14, 0.06, 0.16], 0.06))),
        joint("Pole.L", Some(0), [0.14, 0.5, 0.5], None),
        joint("IK.L", Some(0), [0.14, 0.07, 0.0], None),
    ]
}

/// The surface around the flesh of all joints, and the weights of each of its vertices: those of the two nearest, by the inverse fourth power
/// of the distance.
pub(crate) fn painted_surface(joints: &[Joint]) -> (TriMesh, Vec<Vec<JointWeight>>) {
    let flesh =
        |joint: &Joint| joint.flesh.map(|(from, to, radius)| (Vec3::from(from), Vec3::from(to), radius));
    let segment = |(from, to, radius)| FleshSegment { ends: [from, to], radii: [radius; 2] };
    let segments: Vec<FleshSegment> = joints.iter().filter_map(flesh).map(segment).collect();
    let surface = flesh_around(&segments).expect("a surface");
    let weights = |p: &Vec3| {
        let near = |(i, joint)| {
            let (from, to, radius) = flesh(joint)?;
            let distance = distance_to_segment(p, &from, &to) / radius;
            Some(JointWeight { joint: i as u32, weight: 1.0 / distance.max(0.1).powi(4) })
        };
        let mut found: Vec<JointWeight> = joints.iter().enumerate().filter_map(near).collect();
        found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        found.truncate(2);
        found
    };
    let weights = surface.vertices.iter().map(weights).collect();
    (surface, weights)
}

/// A primitive with weights.
pub(crate) fn primitive(surface: &TriMesh, weights: &[Vec<JointWeight>]) -> CharacterPrimitive {
    let mut builder = SkinWeightsBuilder::new(surface.vertices.len(), 0, f64::INFINITY);
    for found in weights {
        builder.add(&mut found.clone()).expect("finite weights");
    }
    CharacterPrimitive {
        positions: surface.vertices.clone().into(),
        triangles: surface.triangles.clone(),
        weights: Some(Arc::new(builder.finish())),
        ..CharacterPrimitive::default()
    }
}

/// Joints and the surfaces that hang on them, each a mesh with its name; joints come first among the nodes, then an armature above them that
/// scales all of them, then the meshes.
pub(crate) fn rigged(
    joints: &[Joint],
    meshes: Vec<(&str, CharacterPrimitive)>,
    scale: f64,
) -> RiggedCharacter {
    let children = |i: Option<usize>| (0..joints.len()).filter(move |&j| joints[j].parent == i);
    let mut nodes: Vec<CharacterNode> = joints
        .iter()
        .enumerate()
        .map(|(i, joint)| {
            let parent = joint.parent.map_or(Vec3::zeros(), |parent| Vec3::from(joints[parent].at));
            let rest = Mat4::new_translation(&((Vec3::from(joint.at) - parent) / scale));
            CharacterNode::new(joint.name, NodeTransform::of_matrix(&rest), children(Some(i)).collect())
        })
        .collect();
    let armature = NodeTransform::of_matrix(&Mat4::new_scaling(scale));
    nodes.push(CharacterNode::new("Armature", armature, children(None).collect()));
    let mut shown = Vec::new();
    for (i, (name, primitive)) in meshes.into_iter().enumerate() {
        let node = CharacterNode::new(name, NodeTransform::identity(), Vec::new());
        nodes.push(CharacterNode { mesh: Some(i), skin: Some(0), ..node });
        shown.push(CharacterMesh {
            name: Some(name.into()),
            primitives: vec![primitive],
            ..CharacterMesh::default()
        });
    }
    let back = |joint: &Joint| Mat4::new_scaling(1.0 / scale) * Mat4::new_translation(&-Vec3::from(joint.at));
    let skin = CharacterSkin {
        joints: (0..joints.len()).collect(),
        inverse_bind: joints.iter().map(back).collect(),
        ..CharacterSkin::default()
    };
    RiggedCharacter::assemble(nodes, vec![skin], shown).expect("a tree")
}

/// The figure of some joints with its flesh as one mesh.
pub(crate) fn figure(joints: &[Joint], scale: f64) -> RiggedCharacter {
    let (surface, weights) = painted_surface(joints);
    rigged(joints, vec![("Flesh", primitive(&surface, &weights))], scale)
}

/// The model of a character alone in a scene.
pub(crate) fn model(rigged: RiggedCharacter) -> Model {
    let options = CharacterOptions {
        cage: CageSize::Tets(3000),
        // only the physical shape is held by ties
        shape: FleshShape::Physical,
        ..CharacterOptions::default()
    };
    let character = Character::build(&Arc::new(rigged), &options).expect("flesh");
    let mut scene = empty_scene("figure");
    character.join(&mut scene);
    Model::build(&scene.world).expect("a model")
}

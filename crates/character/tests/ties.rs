//! Flesh is tied to the bones that its weights name, however the rig is put together.

#[allow(dead_code, reason = "other tests use the rest")]
mod figure;

use figure::{figure, game_rig, model, painted_surface};
use sinew_character::{JointWeight, NodeTransform, RiggedCharacter};
use sinew_math::{Rotation, Vec3};
use sinew_sim::Model;

/// The rest positions of nodes (m) that are fixed to a bone.
fn held(model: &Model, name: &str) -> Vec<Vec3> {
    let bone = model.rigs()[0].skeleton.find_bone(name).map(|bone| bone.index());
    let own = |node: &usize| model.bone_of_node(*node).is_some_and(|(_, found)| Some(found.index()) == bone);
    (0..model.node_count()).filter(own).map(|node| model.node_rest()[node]).collect()
}

/// Every fixed node lies in flesh that follows its bone: of the vertices around it, no farther than half more than the nearest one, a third of
/// the weight is its bone's. Half is asked of the surface that it carries, which is a little larger.
fn check_agreement(joints: &[figure::Joint], model: &Model) {
    let (surface, weights) = painted_surface(joints);
    for node in 0..model.node_count() {
        let Some((_, bone)) = model.bone_of_node(node) else { continue };
        let name = &model.rigs()[0].skeleton.bones()[bone.index()].name;
        let at = model.node_rest()[node];
        let far = |v: &Vec3| (v - at).norm();
        let nearest = surface.vertices.iter().map(far).fold(f64::INFINITY, f64::min);
        let (mut own, mut whole) = (0.0, 0.0);
        for (_, list) in surface.vertices.iter().zip(&weights).filter(|(v, _)| far(v) <= 1.5 * nearest) {
            let weight = |entry: &&JointWeight| entry.weight;
            own +=
                list.iter().filter(|e| joints[e.joint as usize].name == name).map(|e| e.weight).sum::<f64>()
                    / list.iter().map(|e| weight(&e)).sum::<f64>();
            whole += 1.0;
        }
        assert!(own >= whole / 3.0, "node {node} at {at:?} is fixed to {name}: weight {:.2}", own / whole);
    }
}

/// Every bone that flesh follows holds some of it, and far enough from its axis that the flesh cannot turn about it: not all on one line.
fn check_hold(model: &Model) {
    for name in ["Body", "Thigh.L", "Thigh.R", "Shin.L", "Shin.R", "Foot.L", "Foot.R"] {
        let nodes = held(model, name);
        assert!(nodes.len() >= 3, "{name} holds {} nodes", nodes.len());
        let middle = nodes.iter().sum::<Vec3>() / nodes.len() as f64;
        let spread: sinew_math::Mat3 = nodes.iter().map(|x| (x - middle) * (x - middle).transpose()).sum();
        let mut sizes: Vec<f64> = spread.symmetric_eigenvalues().iter().copied().collect();
        sizes.sort_by(f64::total_cmp);
        assert!(sizes[1] > 1e-5, "{name} holds nodes on a line: {sizes:?}");
    }
}

#[test]
fn controls_without_weights_hold_nothing() {
    let joints = game_rig();
    let model = model(figure(&joints, 1.0));
    for name in ["Root", "Pole.L", "IK.L"] {
        assert_eq!(held(&model, name), Vec::<Vec3>::new(), "{name}");
    }
    check_agreement(&joints, &model);
    check_hold(&model);
}

/// Feet hang from the trunk, whose bone reaches down to them through both legs.
#[test]
fn joints_below_the_trunk_instead_of_the_limb_take_nothing_of_the_limb() {
    let mut joints = game_rig();
    for joint in joints.iter_mut().filter(|joint| joint.name.starts_with("Foot")) {
        joint.parent = Some(1);
    }
    let model = model(figure(&joints, 1.0));
    let lowest = held(&model, "Body").iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.65, "the trunk holds a node {lowest} m above the ground");
    check_agreement(&joints, &model);
    check_hold(&model);
}

/// A joint that was drawn beside its limb: the line from it to the next joint goes through the air, and that to its flesh begins there.
#[test]
fn joints_beside_their_flesh_hold_it_all_the_same() {
    let mut joints = game_rig();
    for joint in joints.iter_mut().filter(|joint| joint.name.starts_with("Shin")) {
        joint.at[2] += 0.3;
    }
    let model = model(figure(&joints, 1.0));
    check_agreement(&joints, &model);
    check_hold(&model);
}

#[test]
fn a_scaled_armature_changes_nothing() {
    let joints = game_rig();
    let plain = model(figure(&joints, 1.0));
    for scale in [0.01, 100.0] {
        let scaled = model(figure(&joints, scale));
        for joint in &joints {
            let [a, b] = [&plain, &scaled].map(|model| held(model, joint.name).len());
            // round-off may move a node or two across a boundary
            assert!(a.abs_diff(b) <= 2 + a / 20, "{}: {a} nodes, scaled by {scale} {b}", joint.name);
        }
        check_agreement(&joints, &scaled);
    }
}

#[test]
fn joints_away_from_bind_at_rest_hold_what_they_were_bound_to() {
    let joints = game_rig();
    let bound = model(figure(&joints, 1.0));
    let away: RiggedCharacter = {
        let mut rigged = figure(&joints, 1.0);
        let turned = Rotation::from_axis_angle(&Vec3::x_axis(), 1.0).to_homogeneous();
        for name in ["Thigh.L", "Shin.R", "Foot.L"] {
            let node = rigged.nodes.iter_mut().find(|node| node.name.as_deref() == Some(name)).unwrap();
            node.rest = NodeTransform::of_matrix(&(node.rest.matrix() * turned));
        }
        RiggedCharacter::assemble(
            rigged.nodes.into_iter().map(without_links).collect(),
            rigged.skins,
            rigged.meshes,
        )
        .expect("a tree")
    };
    let away = model(away);
    for joint in &joints {
        assert_eq!(held(&away, joint.name), held(&bound, joint.name), "{}", joint.name);
    }
    check_hold(&away);
}

/// A node as it was before it was linked to its parent.
fn without_links(node: sinew_character::CharacterNode) -> sinew_character::CharacterNode {
    sinew_character::CharacterNode { parent: None, depth: 0, below: 0, ..node }
}

//! What of a character is rigid, what is flesh, and what reports say about it.

#[allow(dead_code, reason = "other tests use the rest")]
mod figure;

use figure::{game_rig, painted_surface, primitive, rigged};
use sinew_character::{
    Character, CharacterMaterial, CharacterOptions, CharacterPrimitive, JointWeight, RiggedCharacter,
    empty_scene,
};
use sinew_math::Vec3;
use sinew_mesh::{TriMesh, shapes};
use sinew_take::Frame;
use std::sync::Arc;

/// A box at a place, of which one joint has a fraction of the weight and another the rest.
fn carried_box(size: [f64; 3], at: Vec3, joint: u32, fraction: f64) -> CharacterPrimitive {
    let mut surface = shapes::cuboid(size);
    surface.vertices.iter_mut().for_each(|v| *v += at);
    let weights = [(joint, fraction), (joint + 1, 1.0 - fraction)];
    let weights = weights.map(|(joint, weight)| JointWeight { joint, weight }).to_vec();
    primitive(&surface, &vec![weights; surface.vertices.len()])
}

fn body() -> CharacterPrimitive {
    let (surface, weights) = painted_surface(&game_rig());
    primitive(&surface, &weights)
}

fn build(rigged: RiggedCharacter, options: &CharacterOptions) -> Character {
    Character::build(&Arc::new(rigged), options).expect("flesh")
}

fn has_note(character: &Character, note: &str) -> bool {
    character.notes.iter().any(|own| own == note)
}

fn vertex_count(character: &Character) -> usize {
    character.body.shape.points().len()
}

#[test]
fn what_one_bone_carries_is_rigid_however_large() {
    let soft = body();
    let count = soft.positions.len();
    let meshes = vec![
        ("Flesh", soft),
        ("Rucksack", carried_box([0.3, 0.5, 0.3], Vec3::new(0.0, 1.1, -0.35), 1, 0.96)),
        ("Bag", carried_box([0.3, 0.4, 0.3], Vec3::new(0.0, 1.1, 0.35), 1, 0.94)),
    ];
    let character = build(rigged(&game_rig(), meshes, 1.0), &CharacterOptions::default());
    assert_eq!(character.rigid_parts, ["Rucksack"]);
    assert!(has_note(&character, "rigid, one bone carries each: Rucksack"), "{:?}", character.notes);
    assert_eq!(vertex_count(&character), count + 8, "the body and the bag");
}

#[test]
fn names_say_what_is_hard_and_scenes_overrule_them() {
    let count = body().positions.len();
    let meshes = || {
        vec![
            ("Flesh", body()),
            ("LeftBoot", carried_box([0.2, 0.2, 0.3], Vec3::new(0.14, 0.1, 0.05), 3, 0.5)),
            ("ThatThorn", carried_box([0.2, 0.2, 0.2], Vec3::new(0.0, 1.5, 0.0), 1, 0.5)),
            ("Cape", carried_box([0.5, 0.8, 1e-4], Vec3::new(0.0, 1.0, -0.3), 1, 0.5)),
        ]
    };
    let character = build(rigged(&game_rig(), meshes(), 1.0), &CharacterOptions::default());
    assert!(has_note(&character, "rigid, as their names say: LeftBoot"), "{:?}", character.notes);
    assert!(
        has_note(&character, "as skinned, thin sheets such as hair and cloth: Cape"),
        "{:?}",
        character.notes
    );
    assert_eq!(character.rigid_parts, ["LeftBoot"]);
    assert_eq!(vertex_count(&character), count + 8);

    let options = CharacterOptions {
        fleshy: vec!["LeftBoot".into()],
        skinned: vec!["ThatThorn".into()],
        ..CharacterOptions::default()
    };
    let character = build(rigged(&game_rig(), meshes(), 1.0), &options);
    assert!(has_note(&character, "as skinned, as the scene says: ThatThorn"), "{:?}", character.notes);
    assert_eq!((vertex_count(&character), character.rigid_parts.len()), (count + 8, 0));
}

/// A thin shirt 5 mm above the trunk, and a flag far from it: the flesh is pushed sideways by 3 cm.
#[test]
fn a_shirt_moves_with_the_body_and_a_flag_does_not() {
    let sheet = |z: f64| carried_box([0.1, 0.1, 1e-4], Vec3::new(0.0, 1.1, z), 1, 0.5);
    let meshes = vec![("Flesh", body()), ("Shirt", sheet(0.165)), ("Flag", sheet(0.6))];
    let character = build(rigged(&game_rig(), meshes, 1.0), &CharacterOptions::default());
    let mut scene = empty_scene("shirt");
    let binding = character.join(&mut scene);
    let points = scene.world.bodies[0].shape.points();
    let pushed = |x: &Vec3| [x.x as f32 + 0.03, x.y as f32, x.z as f32];
    let frame = Frame { surfaces: vec![points.iter().map(pushed).collect()], ..Frame::default() };
    let pose = binding.rigged.rest_pose();
    let parts = binding.played(&scene).parts_in(&frame, &pose);
    let skinned = binding.skinned_surfaces(&pose);
    let moved = |part: usize| (parts[part].vertices[0] - skinned[part][0]).x;
    assert!((moved(1) - 0.03).abs() < 1e-6 && parts[1].is_flesh, "{}", moved(1));
    assert!(moved(2) == 0.0 && !parts[2].is_flesh);
}

/// The trunk of one closed surface has a material called armour: the flesh stays whole, and the trunk has no softness.
#[test]
fn a_hard_material_within_a_shell_is_rigid_flesh() {
    let (surface, weights) = painted_surface(&game_rig());
    let is_high = |t: &&[u32; 3]| t.iter().all(|&v| surface.vertices[v as usize].y > 1.0);
    let half = |high: bool| {
        let triangles: Vec<[u32; 3]> =
            surface.triangles.iter().filter(|t| is_high(t) == high).copied().collect();
        let own = TriMesh { vertices: surface.vertices.clone(), triangles };
        CharacterPrimitive { material: Some(usize::from(high)), ..primitive(&own, &weights) }
    };
    let mut character = rigged(&game_rig(), vec![("Knight", half(false))], 1.0);
    character.meshes[0].primitives.push(half(true));
    let material = |name: &str| CharacterMaterial { name: Some(name.into()), base_color: [1.0; 4] };
    character.materials = vec![material("Skin"), material("Armor")];
    let character = build(character, &CharacterOptions::default());
    assert!(
        has_note(&character, "rigid within the flesh, as their names say: Armor"),
        "{:?}",
        character.notes
    );
    let points = character.body.shape.points();
    for (x, softness) in points.iter().zip(&character.softness) {
        assert!(x.y < 1.05 || *softness == 0.0, "softness {softness} at {x:?}");
        assert!(x.y > 0.8 || *softness == 1.0, "softness {softness} at {x:?}");
    }
}

#[test]
fn the_name_of_the_whole_character_says_nothing_about_its_parts() {
    let character =
        build(rigged(&game_rig(), vec![("PussInBoots", body())], 1.0), &CharacterOptions::default());
    assert_eq!(character.rigid_parts, Vec::<String>::new());
    assert!(character.softness.iter().all(|softness| *softness == 1.0));
}

#[test]
fn a_robot_gets_flesh_that_hardly_moves_and_a_note() {
    let meshes = vec![
        ("Trunk", carried_box([0.4, 0.5, 0.3], Vec3::new(0.0, 1.1, 0.0), 1, 1.0)),
        ("Leg", carried_box([0.1, 0.4, 0.1], Vec3::new(0.14, 0.6, 0.0), 2, 1.0)),
    ];
    let character = build(rigged(&game_rig(), meshes, 1.0), &CharacterOptions::default());
    assert!(character.notes.iter().any(|note| note.starts_with("every part of the character is rigid")));
    assert_eq!(vertex_count(&character), 16);
    assert!(character.softness.iter().all(|softness| *softness == 0.0));
}

/// A robot whose trunk hangs on its joint without weights: what is painted is a tenth as soft, unless a scene names it. The same trunk beside the joints is scenery.
#[test]
fn the_flexible_parts_of_a_machine_are_stiff() {
    let machine = |trunk_is_on_a_joint: bool| {
        let trunk = CharacterPrimitive {
            weights: None,
            ..carried_box([2.0, 2.0, 2.0], Vec3::new(0.0, 1.1, 0.0), 1, 1.0)
        };
        let RiggedCharacter { mut nodes, skins, meshes, .. } =
            rigged(&game_rig(), vec![("Joints", body()), ("Trunk", trunk)], 1.0);
        let trunk = nodes.len() - 1;
        nodes[trunk].skin = None;
        nodes.iter_mut().for_each(|node| node.parent = None);
        if trunk_is_on_a_joint {
            nodes[1].children.push(trunk);
        }
        RiggedCharacter::assemble(nodes, skins, meshes).expect("a tree")
    };
    let named = CharacterOptions { fleshy: vec!["Joints".into()], ..CharacterOptions::default() };
    for (trunk_is_on_a_joint, options, expected) in [
        (true, CharacterOptions::default(), 0.1),
        (true, named, 1.0),
        (false, CharacterOptions::default(), 1.0),
    ] {
        let character = build(machine(trunk_is_on_a_joint), &options);
        assert!(character.softness.iter().all(|softness| *softness == expected), "{expected}");
        assert_eq!(character.notes.iter().any(|note| note.contains("as in a machine")), expected < 1.0);
    }
}

//! Scene files come back as they were written: tables to the last key, scenes to the last bit.

mod random_scene;

use proptest::prelude::*;
use random_scene::{folder, scene_file};
use sinew_io::{SceneFile, SceneFiles, read_scene, read_scene_text, write_scene};
use sinew_take::Scene;

/// Every number of a scene in digits that no other number has.
fn printed(scene: &Scene) -> String {
    format!("{:#?}", Scene { name: String::new(), ..scene.clone() })
}

fn first_difference(a: &str, b: &str) -> String {
    let lines = a.lines().zip(b.lines()).enumerate();
    let found = lines.into_iter().find(|(_, (a, b))| a != b);
    found.map_or("in length".into(), |(line, (a, b))| format!("line {line}: {a} is not {b}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_come_back_from_their_text(file in scene_file()) {
        let text = file.to_text();
        let read = SceneFile::of_text(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        prop_assert!(read.notes.is_empty(), "{:?}", read.notes);
        prop_assert_eq!(read.value.to_text(), text);
        prop_assert_eq!(read.value, file);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scenes_come_back_from_their_files(file in scene_file()) {
        let folder = folder();
        let scene = file.to_scene("s", folder.path()).unwrap_or_else(|e| panic!("{e}\n{}", file.to_text())).value;
        let path = folder.path().join("again.toml");
        write_scene(&scene, &path).unwrap_or_else(|e| panic!("{e}"));
        let again = read_scene(&path).unwrap_or_else(|e| panic!("{e}"));
        let (first, second) = (printed(&scene), printed(&again.value));
        prop_assert!(first == second, "{}", first_difference(&first, &second));
    }
}

#[test]
fn what_a_scene_file_cannot_say_is_named() {
    let folder = folder();
    let text = "[[character]]\nname = 'worm'\nsurface = 'a.obj'\nbone = [{ name = 'b', from = [0, 0, 0] }]";
    let scene = read_scene_text(text, "s", folder.path()).unwrap().value;
    let refused = |change: fn(&mut Scene)| {
        let mut scene = scene.clone();
        change(&mut scene);
        SceneFiles::of(&scene, "s").map(|_| ()).unwrap_err().to_string()
    };
    let painted = refused(|scene| {
        scene.world.bodies[0].attachment.as_mut().unwrap().skin_weights = vec![vec![(0, 1.0)]];
    });
    assert_eq!(painted, "'worm' has painted weights, which scene files do not support");
    let lonely = refused(|scene| scene.world.bodies[0].attachment = None);
    assert!(lonely.contains("the skeleton 'worm' has no flesh"), "{lonely}");
    let endless = refused(|scene| scene.seconds = f64::INFINITY);
    assert!(endless.contains("`seconds` is inf"), "{endless}");
}

//! A rigged file named by a scene: what the scene says holds instead of what is usual.

#[path = "../../gltf/tests/character/bar.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod bar;

use bar::{PLAIN, PROP, SHOWN};
use serde_json::json;
use sinew_io::{CharacterChoice, Loaded, OpenedScene, open_source};
use sinew_math::Vec3;
use sinew_sim::Model;
use sinew_sim::desc::{CageSize, Hold, HomeDesc, ShapeDesc};
use std::path::Path;

/// A folder with a bar of named surfaces, and a scene beside it.
fn folder(scene: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut document = PLAIN.document();
    document.json["nodes"][SHOWN]["name"] = json!("skin");
    document.json["nodes"][PROP]["name"] = json!("prop");
    std::fs::write(folder.path().join("bar.glb"), document.to_glb()).unwrap();
    std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
    folder
}

fn open(folder: &Path, choice: &CharacterChoice) -> Result<Loaded<OpenedScene>, String> {
    let opened = open_source(&folder.join("scene.toml"), choice).map_err(|errors| errors.to_string())?;
    assert!(!opened.value.characters.is_empty(), "the scene has a character from a file");
    Ok(opened)
}

fn open_text(scene: &str) -> Result<OpenedScene, String> {
    Ok(open(folder(scene).path(), &CharacterChoice::default())?.value)
}

#[test]
fn without_a_word_it_is_what_the_bare_file_is() {
    let folder = folder("[[character]]\nfile = 'bar.glb'\n");
    let said = open(folder.path(), &CharacterChoice::default()).unwrap().value.scene;
    let bare = open_source(&folder.path().join("bar.glb"), &CharacterChoice::default()).unwrap();
    let bare = bare.value.scene;
    assert_eq!(Model::build(&said.world).unwrap().hash(), Model::build(&bare.world).unwrap().hash());
    assert_eq!((said.seconds, said.fps, said.preroll), (bare.seconds, bare.fps, bare.preroll));
    assert_eq!(said.name, "scene");
}

#[test]
fn what_is_said_holds() {
    let scene = open_text(
        "gravity = [0, 0, 1]\nseconds = 2\nfps = 24\n[[character]]\nname = 'hero'\nfile = 'bar.glb'\nshape = 'physical'\ncage_tets = 300\n\
         material = { name = 'muscle', young = 5e4 }\ncore_stiffness = 3\ncore_reach = 0.2\nanchored = false\nmode = 'two-way'\n\
         preroll_hold = 0.25\npreroll_approach = 0.5\n[[character.tie]]\nnear = 0.05\n\
         [[character.cue]]\ntime = 1\ndrive = 'limp'\n",
    );
    let scene = scene.unwrap().scene;
    assert_eq!((scene.seconds, scene.fps, scene.preroll), (2.0, 24.0, 0.75));
    assert_eq!(scene.world.gravity, Vec3::z());
    let body = &scene.world.bodies[0];
    assert_eq!((body.name.as_str(), body.material.young), ("hero", 5e4));
    assert!(matches!(body.shape, ShapeDesc::Surface { cage: CageSize::Tets(300), .. }));
    let attachment = body.attachment.as_ref().unwrap();
    assert_eq!((attachment.core.stiffness, attachment.core.reach, attachment.anchored), (3.0, 0.2, false));
    assert!(matches!(attachment.ties[..], [ref tie] if tie.hold == Hold::Near { distance: 0.05 }));
    assert_eq!(scene.performances[0].cues.len(), 2, "one to free the root, one to go limp");
    Model::build(&scene.world).unwrap();
}

#[test]
fn it_may_touch_things() {
    let scene = open_text(
        "[[character]]\nfile = 'bar.glb'\nself_contact = true\n[[obstacle]]\nname = 'floor'\nplane = [0, 1, 0]\n",
    );
    let world = scene.unwrap().scene.world;
    assert_eq!((world.obstacles.len(), world.obstacles[0].name.as_str()), (1, "floor"));
    assert_eq!(world.contact.self_contact, ["bar"]);
}

#[test]
fn surfaces_are_flesh_or_not_as_they_are_named() {
    let error = open_text("[[character]]\nfile = 'bar.glb'\nskinned = ['skin']\n").map(|_| ()).unwrap_err();
    assert!(error.contains("no skinned surface"), "{error}");
    let error = open_text("[[character]]\nfile = 'bar.glb'\nfleshy = ['skim']\n").map(|_| ()).unwrap_err();
    assert!(error.contains("did you mean `skin`?"), "{error}");
    let named = open_text("[[character]]\nfile = 'bar.glb'\nfleshy = ['skin']\n").unwrap();
    assert!(!named.scene.world.bodies.is_empty());
}

/// The home of flesh in the artist's shape; `None` in the physical one.
fn home_of(text: &str, choice: &CharacterChoice) -> Option<HomeDesc> {
    let folder = folder(text);
    let opened = open(folder.path(), choice).unwrap().value;
    opened.scene.world.bodies[0].attachment.as_ref().unwrap().home.clone()
}

#[test]
fn shape_jiggle_and_limit_reach_the_flesh() {
    let plain = CharacterChoice::default();
    let home = |keys: &str, choice: &CharacterChoice| {
        home_of(&format!("[[character]]\nfile = 'bar.glb'\nanimation = '0'\n{keys}\n"), choice)
    };
    assert_eq!(home("shape = 'physical'", &plain), None);
    let usual = home("shape = 'artist'", &plain).unwrap();
    assert_eq!(home("", &plain).unwrap(), usual);

    // the limit is a fraction of the thickness
    let near = home("limit = 0.3", &plain).unwrap();
    assert!(near.limit.iter().zip(&usual.limit).all(|(a, b)| (a / b - 0.5).abs() < 1e-12));

    // less jiggle is a faster spring, and the choice for one take goes before the scene
    let stiff = home("jiggle = 0.25", &plain).unwrap();
    assert!(stiff.frequency.iter().zip(&usual.frequency).all(|(a, b)| a > b));
    let chosen = CharacterChoice { jiggle: Some(0.25), ..CharacterChoice::default() };
    assert_eq!(home("jiggle = 2", &chosen).unwrap(), stiff);
}

#[test]
fn softness_goes_by_joints_surfaces_and_pictures() {
    let softness = |lines: &str| {
        let opened = open_text(&format!("[[character]]\nfile = 'bar.glb'\n{lines}\n"))?;
        Ok::<_, String>(opened.characters[0].binding.softness().to_vec())
    };
    assert!(softness("").unwrap().iter().all(|softness| *softness == 1.0));
    assert!(softness("softness = { skin = 3 }").unwrap().iter().all(|softness| *softness == 3.0));
    // the upper joint has a quarter more of each ring of corners
    let upper = softness("softness = { bend = 0 }").unwrap();
    assert!(upper[..4].iter().all(|softness| *softness > 0.75), "{upper:?}");
    assert!(upper[16..].iter().all(|softness| *softness < 0.25), "{upper:?}");
    for (lines, words) in [
        ("softness = { bent = 2 }", "did you mean `bend`?"),
        ("softness = { skin = -1 }", "has the softness -1"),
        ("softness_color = 'COLOR_0'", "line 3: `COLOR_0` is no channel of a vertex colour"),
        ("softness_color = 'COLOR_0.r'", "no surface has it"),
        ("softness_texture = 'none.png'", "none.png"),
        ("softness_texture = 'scene.toml'", "not a sound .png"),
    ] {
        let error = softness(lines).unwrap_err();
        assert!(error.contains(words), "{lines}: {error}");
    }
}

#[test]
fn a_choice_for_one_take_goes_before_the_scene() {
    let folder = folder("[[character]]\nfile = 'bar.glb'\nanimation = '0'\n");
    assert!(open(folder.path(), &CharacterChoice::default()).is_ok());
    let choice = CharacterChoice { animation: Some("swim".into()), ..CharacterChoice::default() };
    let error = open(folder.path(), &choice).map(|_| ()).unwrap_err();
    assert!(error.contains("there is no animation 'swim'"), "{error}");
}

#[test]
fn what_does_not_fit_a_file_is_refused_with_its_line() {
    for (lines, words) in [
        ("surface = 'a.obj'", "line 3: `surface` has no meaning with `file`"),
        ("shape = 'round'", "line 3"),
        ("jiggle = -1", "line 3"),
        ("jiggle = 11", "line 3"),
        ("limit = 0", "line 3"),
        ("limit = inf", "line 3"),
        ("fullness = 2", "line 3: `fullness` has no meaning with `file`"),
        ("human = { hips = 'nobody' }", "no bone `nobody`"),
        ("human = { hip = 'root' }", "line 3: `hip` is not a human bone"),
        ("animation = '0'\nmotion = { bvh = 'a.bvh' }", "cannot be combined"),
        ("motion = { first = 3 }", "needs `bvh`"),
        ("motion = { bvh = 'a.bvh' }", "a.bvh: no such file"),
        (
            "[[character.cue]]\ntime = 0\nbones = ['tail']\ndrive = 'limp'",
            "line 5: the skeleton has no bone `tail`",
        ),
        ("[[body]]\nsurface = 'a.obj'", "a.obj: no such file"),
    ] {
        let error =
            open_text(&format!("[[character]]\nfile = 'bar.glb'\n{lines}\n")).map(|_| ()).unwrap_err();
        assert!(error.contains(words), "{lines}: {error}");
    }
    let error = open_text("[[character]]\nfile = 'none.glb'\n").map(|_| ()).unwrap_err();
    assert!(error.contains("none.glb: no such file") && error.contains("line 2 of the scene"), "{error}");
}

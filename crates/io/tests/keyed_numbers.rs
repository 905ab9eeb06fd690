//! Numbers of scene files that change over time.

use sinew_control::Motion;
use sinew_io::read_scene_text;
use sinew_math::Vec3;
use tempfile::TempDir;

/// A folder with a tet as a surface.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    std::fs::write(folder.path().join("a.obj"), obj).unwrap();
    folder
}

/// Whatever is a number of the world can be a curve; a curve through one key is that number.
#[test]
fn numbers_are_keyed() {
    let folder = folder();
    let text = "fps = 10\ngravity = [0, { keys = [[0, -9], [1, 0]] }, 0]\n\
        [[body]]\nsurface = 'a.obj'\nair_drag = { keys = [[0, 0], [2, 1]], interpolation = 'linear' }\n\
        load = [{ region = { end = 'top' }, force = [1, 2, 3] }, \
        { region = { end = 'top' }, force = [0, { keys = [{ time = 0, value = 4, slope = 1 }, [3, 5]], loop = true }, 6] }]\n\
        pin = [{ region = { end = 'bottom' }, motion = { keyed = { turns = [{ keys = [[0.26, 0], [1.14, 1]], snap = true }, 0, 0] } } }]\n\
        [[constraint]]\nname = 'c'\ndrag = { body = 'a', surface = [0, 0, 0] }\n\
        strengths = { keys = [[0, 1], { time = 1, value = 0, left = [-0.5, 0] }] }\n\
        [[edit]]\ntime = 1\ngravity = [{ keys = [[0, 1], [1, 2]] }, 0, 0]\nbody = [{ name = 'a', air_drag = { keys = [[1, 0]] } }]\n";
    let scene = read_scene_text(text, "s", folder.path()).unwrap().value;
    // the world has the values at the start
    assert_eq!(scene.world.gravity, Vec3::new(0.0, -9.0, 0.0));
    assert_eq!(scene.world.bodies[0].loads[1].force, Vec3::new(0.0, 4.0, 6.0));
    // the automatic curve between two keys is symmetric
    assert!((scene.curves.gravity.as_ref().unwrap().value(0.5).y + 4.5).abs() < 1e-14);
    assert_eq!(scene.curves.air_drag[0].as_ref().unwrap().value(1.0), 0.5);
    assert_eq!(scene.curves.loads[0][0], None);
    let force = scene.curves.loads[0][1].as_ref().unwrap();
    assert_eq!((force.value(0.0), force.value(6.0).y), (Vec3::new(0.0, 4.0, 6.0), 4.0));
    let Motion::Keyed(keyed) = &scene.pin_motions[0][0] else { panic!() };
    assert_eq!(keyed.turns.0[0].key_values(), [(0.3, 0.0), (1.1, 1.0)]);
    assert_eq!(scene.constraint_motions[0].strength.value(1.0), 0.0);
    assert_eq!(scene.edits[0].changes.len(), 2);
    let mut edited = scene.clone();
    scene.edits[0].apply(&mut edited).unwrap();
    assert_eq!(edited.curves.gravity.unwrap().value(9.0), Vec3::new(2.0, 0.0, 0.0));
    assert_eq!(edited.world.gravity, scene.world.gravity);
}

#[test]
fn what_is_wrong_with_a_curve_is_said_with_its_line() {
    let folder = folder();
    for (curve, said) in [
        ("{ keys = [[0, 1], [0, 2]] }", "line 1: `gravity`: key 2 at 0 s is not after key 1 at 0 s"),
        ("{ keys = [] }", "`gravity`: there are no keys"),
        ("{ keys = [[0, 1, 2]] }", "`keys` has 3 numbers: it takes a list of 2 numbers"),
        ("{ kyes = [[0, 1]] }", "did you mean `keys`?"),
        (
            "{ keys = [[0.01, 1], [0.02, 1]], snap = true }",
            "keys 1 and 2 at 0.01 s and 0.02 s snap to the same frame 0",
        ),
        (
            "{ keys = [{ time = 0, value = 1, slope = 1, left = [-1, 0] }] }",
            "`slope` and `left` cannot be combined",
        ),
        ("{ keys = [{ time = 0, value = 1, left = [1, 0] }] }", "points 1 s to the other side"),
        (
            "{ keys = [{ time = 0, value = 1, slope = 1 }], interpolation = 'step' }",
            "they need interpolation = \"bezier\"",
        ),
        ("'fast'", "a list of 3 numbers or curves"),
        ("1e12", "`gravity` contains 1000000000000: its numbers must be finite and at most 1e9"),
    ] {
        let text = format!("gravity = [0, {curve}, 0]\nfps = 10\n[[body]]\nsurface = 'a.obj'\n");
        let error = read_scene_text(&text, "scene", folder.path()).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

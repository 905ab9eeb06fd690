//! Numbers of scene files that change over time.

use sinew_control::{CueDrive, Curve, Factor, Motion};
use sinew_io::read_scene_text;
use sinew_math::Vec3;
use sinew_take::{Player, SceneChange};
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

/// Factors of stiffness, damping and friction, of bodies and obstacles, in the scene and in edits; torques of cues.
#[test]
fn factors_and_torques_are_keyed() {
    let folder = folder();
    let text = "[[body]]\nsurface = 'a.obj'\nstiffness_factor = { keys = [[0, 1], [2, 0.25]], interpolation = 'linear' }\n\
        damping_factor = 3\n[[body]]\nname = 'other'\nsurface = 'a.obj'\nfriction_factor = { keys = [[0, 0], [1, 1]] }\n\
        [[character]]\nname = 'c'\nsurface = 'a.obj'\nstiffness_factor = 2\nbone = [{ name = 'b', joint = 'ball', from = [0.1, 0.1, 0.1], to = [0.2, 0.1, 0.1] }]\n\
        cue = [{ time = 0, bones = ['b'], torque = [0.5, { keys = [[0, 0], [1, 4]], interpolation = 'linear' }, 0] }]\n\
        [[obstacle]]\nplane = [0, 1, 0]\n[[obstacle]]\nname = 'ice'\nsphere = 1\nfriction_factor = 0.5\n\
        [[edit]]\ntime = 1\nbody = [{ name = 'a', damping_factor = { keys = [[1, 3], [2, 0]] } }]\nobstacle = [{ name = 'ice', friction_factor = 0 }]\n";
    let scene = read_scene_text(text, "s", folder.path()).unwrap().value;
    let factors = &scene.curves.factors;
    let value = |factor: Factor, body: usize, time: f64| {
        factors.of(factor).get(body).and_then(Option::as_ref).map(|curve| curve.value(time))
    };
    assert_eq!(value(Factor::Stiffness, 0, 1.0), Some(0.625));
    assert_eq!((value(Factor::Stiffness, 1, 1.0), value(Factor::Stiffness, 2, 1.0)), (None, Some(2.0)));
    assert_eq!((value(Factor::Damping, 0, 1.0), value(Factor::Damping, 1, 1.0)), (Some(3.0), None));
    assert_eq!((value(Factor::Friction, 0, 1.0), value(Factor::Friction, 1, 1.0)), (None, Some(1.0)));
    assert_eq!(factors.obstacle_friction, [None, Some(Curve::Constant(0.5))]);
    let CueDrive::Torque(torques) = &scene.performances[0].cues[0].drive else { panic!() };
    assert_eq!(torques.iter().map(|torque| torque.value(0.25)).collect::<Vec<_>>(), [0.5, 1.0, 0.0]);
    assert!(matches!(scene.edits[0].changes[0], SceneChange::BodyFactor { factor: Factor::Damping, .. }));
    let mut edited = scene.clone();
    scene.edits[0].apply(&mut edited).unwrap();
    assert_eq!(edited.curves.factors.damping[0].as_ref().unwrap().value(2.0), 0.0);
    assert_eq!(edited.curves.factors.obstacle_friction[1], Some(Curve::Constant(0.0)));
}

#[test]
fn factors_out_of_range_are_named_with_their_value() {
    let folder = folder();
    for (line, said) in [
        ("stiffness_factor = 0", "line 3: `stiffness_factor` is 0: it must be from 0.001 to 1000"),
        (
            "stiffness_factor = { keys = [[0, 1], [1, -2]] }",
            "`stiffness_factor` is -2: it must be from 0.001 to 1000",
        ),
        ("damping_factor = -1", "`damping_factor` is -1: it must be from 0 to 1000"),
        ("friction_factor = 1e4", "`friction_factor` is 10000: it must be from 0 to 1000"),
    ] {
        let text = format!("[[body]]\nsurface = 'a.obj'\n{line}\n");
        let error = read_scene_text(&text, "scene", folder.path()).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

/// A tet of 1 m of a stiff material is pinned at the top and hangs. From 1 s on it has a quarter of its stiffness, and hangs four times as far: the strain is 0.2 % of a law that softens by some times of it, and four times the damping leaves nothing of the swing.
/// A take that is resumed in between has the same states.
#[test]
fn a_body_in_a_scene_file_becomes_softer() {
    let folder = folder();
    let text = "seconds = 3\nfps = 30\n[solver]\nkind = 'implicit'\n\
        [[body]]\nsurface = 'a.obj'\ncage_tets = 60\nmaterial = { young = 3e7, poisson = 0.3, density = 1000, damping = 0.2 }\n\
        pin = [{ region = { end = 'top', fraction = 0.4 } }]\ndamping_factor = 4\n\
        stiffness_factor = { keys = [[1, 1], [1.2, 0.25]] }\n";
    let scene = read_scene_text(text, "s", folder.path()).unwrap().value;
    let mut player = Player::build(&scene).unwrap();
    let lowest = |player: &Player| {
        let sag = player.state.node_x.iter().zip(player.model.node_rest()).map(|(x, rest)| (x - rest).y);
        -sag.fold(0.0, f64::min)
    };
    let (mut bookmark, mut sags) = (None, Vec::new());
    for frame in 1..=90 {
        player.advance().unwrap();
        if frame == 33 {
            bookmark = Some(player.bookmark());
        }
        sags.push(lowest(&player));
    }
    let (own, soft) = (sags[28], sags[89]);
    assert!(own > 1e-4 && (soft / own - 4.0).abs() < 0.08, "{own} {soft}");

    let mut resumed = Player::build(&scene).unwrap();
    resumed.resume_from(&bookmark.unwrap()).unwrap();
    for _ in 33..90 {
        resumed.advance().unwrap();
    }
    assert_eq!(resumed.state.hash(), player.state.hash());
}

/// A limb on a hinge through the origin, without gravity: the torque of a cue is all that turns bone and flesh about its axis, so L = ∫ τ dt. A torque that grows from 0 to 4 N m within a second makes 2 N m s, whatever the step, as
/// each step has the torque of its middle; 1e-4 of it is what single-precision forces of elements and the tolerance of implicit solves leave.
#[test]
fn the_torque_of_a_cue_follows_its_curve() {
    let folder = folder();
    for solver in ["explicit", "implicit"] {
        let text = format!(
            "seconds = 1.5\nfps = 20\ngravity = [0, 0, 0]\n[solver]\nkind = '{solver}'\n\
            [[character]]\nname = 'c'\nsurface = 'a.obj'\ncage_tets = 200\nsag = 'free'\npreroll_approach = 0\npreroll_hold = 0\n\
            material = {{ young = 1e5, poisson = 0.3, density = 1000, damping = 0.3 }}\n\
            bone = [{{ name = 'b', joint = 'revolute', axis = [0, 1, 0], from = [0, 0, 0], to = [0.3, 0.2, 0.2], radius = 0.1 }}]\n\
            cue = [{{ time = 0, bones = ['b'], torque = [{{ keys = [[0, 0], [1, 4]], interpolation = 'linear' }}] }}, {{ time = 1, drive = 'limp' }}]\n"
        );
        let scene = read_scene_text(&text, "s", folder.path()).unwrap().value;
        let mut player = Player::build(&scene).unwrap();
        player.preroll(|_, _| {}).unwrap();
        let mut momenta = Vec::new();
        for _ in 0..30 {
            player.advance().unwrap();
            momenta.push(player.state.angular_momentum(&player.model).y);
        }
        for (frame, expected) in [(10, 0.5), (20, 2.0), (30, 2.0)] {
            let found = momenta[frame - 1];
            assert!((found - expected).abs() < 2e-4, "{solver}, frame {frame}: {found} {momenta:?}");
        }
    }
}

//! Constraints in scene files.

use super::{error_of, folder};
use sinew_control::{Motion, PlaceMotion};
use sinew_io::read_scene;
use sinew_math::Vec3;
use sinew_sim::desc::{ConstraintKind, PointDesc};

#[test]
fn every_constraint_reaches_the_scene() {
    let folder = folder();
    let scene = read_scene(&folder.path().join("scene.toml")).unwrap().value;
    let (all, prescribed) = (&scene.world.constraints, &scene.constraint_motions);
    assert_eq!((all.len(), prescribed.len()), (6, 6));
    assert_eq!((all[0].name.as_str(), all[1].name.as_str()), ("hand", "constraint-2"));
    assert_eq!((all[0].stiffness, all[0].damping, all[1].stiffness), (Some(40.0), Some(0.2), None));
    let point = PointDesc::Surface { body: "first".into(), place: Vec3::y() };
    // a path begins where its first key is
    assert_eq!(all[0].kind, ConstraintKind::Drag { point, place: Some(Vec3::y()) });
    let PlaceMotion::Along(path) = &prescribed[0].place else { panic!() };
    assert!((path.value(0.25) - Vec3::new(0.0, 1.0, 0.25)).norm() < 1e-12);
    // all of it again after the last key
    assert!((path.value(0.75) - Vec3::new(0.0, 1.0, 0.25)).norm() < 1e-12);
    assert!((prescribed[0].strength.value(1.0) - 0.5).abs() < 1e-12);
    let place = Some(Vec3::new(0.4, 0.0, 0.0));
    let point = PointDesc::Bone { rig: "snake".into(), bone: "head".into(), place };
    assert_eq!(all[1].kind, ConstraintKind::Pin { point, place: Some(Vec3::new(0.4, 0.0, 0.1)) });
    assert_eq!(prescribed[1].place, PlaceMotion::Moved(Motion::Glide { velocity: Vec3::z() }));
    let ConstraintKind::Join { points, length: Some(0.3), is_unilateral: true } = &all[2].kind else {
        panic!()
    };
    assert!(matches!(&points[0], PointDesc::Region { body, .. } if body == "a"));
    assert_eq!(points[1], PointDesc::Obstacle { obstacle: "obstacle-2".into(), place: None });
    let ConstraintKind::Join { points, length: None, is_unilateral: false } = &all[3].kind else { panic!() };
    assert_eq!(points[0], PointDesc::Inside { body: "a".into(), place: Vec3::zeros() });
    let ConstraintKind::Belt(belt) = &all[4].kind else { panic!() };
    assert_eq!((belt.axis, belt.length), (2.0 * Vec3::z(), None));
    assert_eq!(prescribed[4].length.value(1.0), 0.5);
    assert!(all[5].is_exact && all[..5].iter().all(|constraint| !constraint.is_exact));
}

#[test]
fn what_is_wrong_with_a_constraint_is_said_with_its_line() {
    let folder = folder();
    let point = "{ body = 'a', surface = [0, 0, 0] }";
    for (text, said) in [
        ("drag = { body = 'b', surface = [0, 0, 0] }", "line 4: there is no body \"b\"; did you mean \"a\"?"),
        (
            "drag = { body = 'a' }",
            "line 4: drag, pin or join = { … } needs one of `surface`, `inside`, `region`",
        ),
        ("drag = { body = 'a', surface = [0, 0, 0], bone = 'x' }", "`bone` has no meaning with `body`"),
        ("drag = { character = 'c', bone = 'x' }", "there is no character \"c\""),
        ("pin = P\njoin = [P, P]", "line 5: `pin` and `join` cannot be combined"),
        ("join = [P]", "`join` has 1 tables: it takes a list of 2 tables"),
        ("pin = P\nstiffness = -1", "line 5: `stiffness` is -1: it must be above 0"),
        ("pin = P\nlength = 1", "line 5: `length` needs `join` or `belt`: it has no meaning with `pin`"),
        (
            "join = [P, P]\npath = [[0, 0, 0, 0]]",
            "`path` needs `drag` or `pin`: it has no meaning with `join`",
        ),
        ("pin = P\npath = [[0, 0, 0]]", "line 5: a list in `path` has 3 numbers: it takes 4"),
        ("pin = P\npath = []", "`path`: there are no keys"),
        ("pin = P\npath = [[1, 0, 0, 0], [0, 0, 0, 0]]", "key 2 at 0 s is not after key 1 at 1 s"),
        ("pin = P\nplace = [0, 0, nan]", "`place` contains NaN"),
        ("pin = P\nstrengths = [[0, 2]]", "`strengths` is 2 at 0 s: it must be from 0 to 1"),
        ("pin = P\nrope = true", "`rope` needs `join`"),
        ("belt = { body = 'a', center = [0, 0, 0], axis = [0, 0, 0] }", "`axis` is zero"),
        (
            "belt = { body = 'a', center = [0, 0, 0], axis = [1, 0, 0] }\nlength = 0",
            "it must be above 0 for a belt",
        ),
    ] {
        let text = format!("[[body]]\nsurface = 'a.obj'\n[[constraint]]\n{}", text.replace('P', point));
        let error = error_of(&text, folder.path());
        assert!(error.contains(said), "{text}: {error}");
    }
}

//! Ghost previews: they show what the take will do, and leave it alone.

use sinew_control::Motion;
use sinew_flesh::Material;
use sinew_math::Vec3;
use sinew_mesh::shapes;
use sinew_sim::desc::{BodyDesc, LoadDesc, PinDesc, Region, ShapeDesc, WorldDesc};
use sinew_sim::{Control, Model, State};
use sinew_take::{Frame, GhostPreview, GhostSpan, Ghosts, GhostsEnd, Player, Scene, SceneChange, SceneEdit};

/// A soft bar that hangs from its shaken end.
fn scene() -> Scene {
    let end = |direction: Vec3| Region::End { direction, fraction: 0.2 };
    let bar = BodyDesc {
        name: "bar".into(),
        shape: ShapeDesc::Tets(shapes::beam(2, [0.4, 0.1, 0.1])),
        material: Material::soft_solid(20e3, 0.4, 1000.0, 0.1),
        pins: vec![PinDesc { region: end(-Vec3::x()) }],
        ..BodyDesc::default()
    };
    let shake = Motion::Shake { amplitude: Vec3::new(0.0, 0.05, 0.0), frequency: 1.5 };
    Scene {
        world: WorldDesc { gravity: -9.81 * Vec3::y(), bodies: vec![bar], ..WorldDesc::default() },
        pin_motions: vec![vec![shake]],
        seconds: 1.0,
        fps: 60.0,
        ..Scene::default()
    }
}

/// The frames that a player comes to.
fn frames(mut player: Player, indices: &[usize]) -> Vec<Frame> {
    let mut found = Vec::new();
    for index in indices {
        while player.frame() < *index {
            player.advance().expect("a sound take");
        }
        let mut frame = Frame::default();
        frame.update(&player.model, &player.state);
        found.push(frame);
    }
    found
}

fn indices(ghosts: &Ghosts) -> Vec<usize> {
    ghosts.kept.iter().map(|ghost| ghost.index).collect()
}

#[test]
fn a_preview_is_the_take_to_come_and_leaves_the_player_alone() {
    let mut player = Player::build(&scene()).unwrap();
    (0..10).for_each(|_| drop(player.advance().unwrap()));
    let before = player.bookmark();
    let mut preview = GhostPreview::default();
    preview.start(&player, GhostSpan { frames: 25, every: 10 }).unwrap();
    let ghosts = preview.wait();
    assert_eq!((indices(&ghosts), &ghosts.end), (vec![20, 30], &GhostsEnd::Complete));
    assert_eq!(player.bookmark(), before);
    let expected = frames(player, &[20, 30]);
    assert!(ghosts.kept.iter().zip(&expected).all(|(ghost, frame)| *ghost.frame == *frame));
}

#[test]
fn a_preview_sees_edits_and_restarts_with_each_change() {
    let mut player = Player::build(&scene()).unwrap();
    let mut preview = GhostPreview::default();
    // a long preview is cancelled by the next one
    preview.start(&player, GhostSpan { frames: 1_000_000, every: 1_000_000 }).unwrap();
    let change = SceneChange::Gravity((5.0 * Vec3::y()).into());
    let edited = Scene { edits: vec![SceneEdit { time: 0.1, changes: vec![change] }], ..scene() };
    player.edit(&edited).unwrap();
    preview.start(&player, GhostSpan { frames: 12, every: 4 }).unwrap();
    let ghosts = preview.wait();
    assert_eq!(indices(&ghosts), [4, 8, 12]);
    let expected = frames(Player::build(&edited).unwrap(), &[4, 8, 12]);
    assert!(ghosts.kept.iter().zip(&expected).all(|(ghost, frame)| *ghost.frame == *frame));

    // cancelled for good, it ends within a frame and keeps what it has
    preview.start(&player, GhostSpan { frames: 1_000_000, every: 1 }).unwrap();
    while preview.ghosts().kept.is_empty() {
        std::thread::yield_now();
    }
    preview.cancel();
    let ghosts = preview.wait();
    assert_eq!(ghosts.end, GhostsEnd::Cancelled);
    assert_eq!(indices(&ghosts), (1..=ghosts.kept.len()).collect::<Vec<_>>());
}

/// A force that grows beyond all bounds after the fifth frame.
#[test]
fn a_preview_that_diverges_is_kept_up_to_there_and_marked() {
    let region = Region::End { direction: Vec3::x(), fraction: 0.2 };
    let load = LoadDesc { region, force: Vec3::new(1e200, 0.0, 0.0) };
    let change = SceneChange::Loads { body: "bar".into(), loads: vec![load], forces: Vec::new() };
    let scene = Scene { edits: vec![SceneEdit { time: 5.0 / 60.0, changes: vec![change] }], ..scene() };
    let player = Player::build(&scene).unwrap();
    let mut preview = GhostPreview::default();
    preview.start(&player, GhostSpan { frames: 50, every: 3 }).unwrap();
    let ghosts = preview.wait();
    assert_eq!(indices(&ghosts), [3, 5]);
    let GhostsEnd::Diverged { index: 5, message } = &ghosts.end else { panic!("{:?}", ghosts.end) };
    assert!(message.contains("'bar'"), "{message}");
}

#[test]
fn players_with_controllers_of_a_program_are_not_copied() {
    struct Idle;
    impl sinew_control::Controller for Idle {
        fn control(&mut self, _: &Model, _: &State, _: f64, _: &mut Control) {}
    }
    let mut player = Player::build(&scene()).unwrap();
    player.add_controller(Idle);
    let started = GhostPreview::default().start(&player, GhostSpan { frames: 1, every: 1 });
    assert!(started.unwrap_err().to_string().contains("cannot be copied"));
    assert_eq!(GhostPreview::default().wait(), Ghosts::default());
}

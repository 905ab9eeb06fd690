//! Joints of scenes that go limp.

use sinew::character::TakeSettings;
use sinew::control::DriveMode;
use sinew::skeleton::{BoneId, DofDesc, Skeleton, SkeletonState};
use sinew::take::{Player, Scene, SceneChange, SceneEdit};

fn worm(lead: DriveMode) -> Scene {
    let mut scene = (sinew::zoo::find("worm").expect("built in").build)();
    let settings = TakeSettings { seconds: 1.0, fps: 60.0, lead: Some(lead), ..TakeSettings::default() };
    settings.apply(&mut scene);
    scene
}

/// All joints but the root get a range that holds every pose of the motion, and stops that bear the worm's weight; they would not act while the motion drives them, so that only limp scenes have them.
#[test]
fn joints_without_ranges_get_those_of_their_motion_when_they_go_limp() {
    let scene = worm(DriveMode::Ragdoll);
    let skeleton = Skeleton::build(&scene.world.rigs[0].skeleton.with_plain_masses()).expect("sound");
    let mut pose = SkeletonState::at_rest(&skeleton);
    for i in 0..40 {
        scene.performances[0].pose(&skeleton, 0.1 * f64::from(i), &mut pose);
        for (b, bone) in skeleton.bones().iter().enumerate().filter(|(_, bone)| bone.parent.is_some()) {
            let chart = pose.chart_of(&skeleton, BoneId(b as u32));
            for (dof, x) in skeleton.dofs()[bone.joint.v()].iter().zip(chart) {
                assert!(
                    dof.lower < x && x < dof.upper,
                    "{}: {x} of {} to {}",
                    bone.name,
                    dof.lower,
                    dof.upper
                );
                assert!(
                    dof.upper - dof.lower < 6.0 && dof.limit_stiffness > 0.0 && dof.damping > 0.0,
                    "{}: {dof:?}",
                    bone.name
                );
            }
        }
    }
    let is_bare =
        |scene: &Scene| scene.world.rigs[0].skeleton.bones.iter().all(|bone| bone.joint.dofs.is_empty());
    assert!(is_bare(&worm(DriveMode::TwoWay)) && is_bare(&worm(DriveMode::OneWay)));
}

/// What a scene says of its joints is left as it is.
#[test]
fn joints_with_springs_keep_them() {
    let mut scene = worm(DriveMode::OneWay);
    let own = DofDesc { stiffness: 3.0, ..DofDesc::default() };
    let last = scene.world.rigs[0].skeleton.bones.len() - 1;
    scene.world.rigs[0].skeleton.bones[last].joint.dofs = vec![own];
    let settings =
        TakeSettings { seconds: 1.0, fps: 60.0, lead: Some(DriveMode::Ragdoll), ..TakeSettings::default() };
    settings.apply(&mut scene);
    let dofs = |i: usize| scene.world.rigs[0].skeleton.bones[i].joint.dofs.clone();
    assert_eq!(dofs(last), [own]);
    assert!((0..last).all(|i| dofs(i).is_empty()));
}

/// An edit that lets a character go limp gives its joints what those of a scene have that is limp from the start, so that both takes have the same bits.
#[test]
fn joints_that_go_limp_by_an_edit_are_those_of_a_limp_scene() {
    let play = |mut scene: Scene| {
        scene.seconds = 0.5;
        let mut player = Player::build(&scene).expect("a sound scene");
        player.play(&mut [], |_| {}).expect("a take");
        player
    };
    let limp = play(worm(DriveMode::Ragdoll));
    let mut edited = worm(DriveMode::OneWay);
    let rig = edited.world.rigs[0].name.clone();
    let change = SceneChange::Drive { rig, mode: DriveMode::Ragdoll };
    edited.edits.push(SceneEdit { time: 0.0, changes: vec![change] });
    let edited = play(edited);
    let [own, other] = [&limp, &edited].map(|player| player.model.rigs()[0].skeleton.dofs().to_vec());
    assert_eq!(own, other);
    assert_eq!(limp.state.rigs, edited.state.rigs);
    assert_eq!(limp.state.node_x, edited.state.node_x);
}

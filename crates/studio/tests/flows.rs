//! The studio, used as a person would use it, without a window and without a GPU.
//!
//! With `SINEW_STUDIO_PICTURES` set to a folder every flow leaves pictures there.

#[path = "flows/bench.rs"]
mod bench;
#[path = "flows/layers.rs"]
mod layers;
#[path = "flows/panels.rs"]
mod panels;

use bench::Bench;
use sinew_studio::session::Phase;
use sinew_studio::{Arrangement, Dialog, Selection, Tool};

const SMALL: [usize; 2] = [1280, 720];

#[test]
fn a_studio_without_a_scene_invites_to_open_one() {
    let mut bench = Bench::new(SMALL);
    bench.harness.run_steps(3);
    bench.save_picture("welcome");
    bench.click("penguin");
    bench.until("the penguin", |studio| studio.has_picture());
    bench.save_picture("penguin");
}

#[test]
fn a_built_in_character_is_opened_played_and_scrubbed() {
    let mut bench = Bench::new(SMALL);
    bench.open("starfish-coarse");
    bench.until("frames", |studio| studio.frame_count() > 30);
    bench.until("time to pass", |studio| studio.frame() > 3);
    bench.click("Pause (Space)");
    let frame = bench.studio().frame();
    bench.harness.run_steps(5);
    assert_eq!(bench.studio().frame(), frame);
    bench.click("One frame on (Right)");
    assert_eq!(bench.studio().frame(), frame + 1);
    bench.harness.key_press(egui::Key::Home);
    bench.harness.step();
    assert_eq!(bench.studio().frame(), 0);
    bench.save_picture("starfish");
    bench.studio().arrange(Arrangement::Four);
    bench.until("four pictures", |studio| studio.picture_count() == 4);
    bench.save_picture("four");
}

#[test]
fn pulled_flesh_becomes_an_edit_that_can_be_undone() {
    let mut bench = Bench::new(SMALL);
    bench.open("jelly");
    bench.until("ten frames", |studio| studio.frame_count() > 10);
    bench.studio().choose(Tool::Pull);
    bench.harness.key_press(egui::Key::Space);
    bench.harness.run_steps(2);
    bench.until("a picture of a frame that stays", |studio| studio.shows_current_frame());
    let [x, y] = bench.studio().middle_of_view(0);
    bench.drag(&[[x, y], [x + 40.0, y - 30.0], [x + 80.0, y - 60.0]], 12);
    bench.until("the edit", |studio| studio.edit_count() == 2);
    bench.save_picture("pulled");
    bench.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Z);
    bench.until("no edit", |studio| studio.edit_count() == 0);
}

#[test]
fn a_twist_is_placed_shaped_and_undone() {
    let mut bench = Bench::new(SMALL);
    bench.open("cylinder");
    bench.until("thirty frames", |studio| studio.frame_count() > 30);
    bench.harness.key_press(egui::Key::Space);
    bench.harness.run_steps(2);
    bench.harness.key_press(egui::Key::Home);
    bench.click("Twist");
    bench.until("the first frame", |studio| studio.frame() == 0 && studio.shows_current_frame());
    let [x, y] = bench.studio().middle_of_view(0);
    bench.drag(&[[x, y], [x, y]], 1);
    bench.until("the metaphor", |studio| studio.edit_count() == 1);
    bench.studio().choose(Tool::Select);
    bench.harness.key_press(egui::Key::C);
    bench.harness.run_steps(3);
    bench.until("frames with it", |studio| studio.frame_count() > 40);
    for _ in 0..40 {
        bench.harness.key_press(egui::Key::ArrowRight);
        bench.harness.step();
    }
    bench.until("a picture of it", |studio| studio.shows_current_frame());
    bench.save_picture("twist");
    bench.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Z);
    bench.until("no edit", |studio| studio.edit_count() == 0);
    bench.harness.key_press_modifiers(egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, egui::Key::Z);
    bench.until("the edit again", |studio| studio.edit_count() == 1);
}

#[test]
fn ghosts_show_what_comes_next_and_leave_the_take_alone() {
    let mut bench = Bench::new(SMALL);
    bench.open("pot");
    bench.until("some frames", |studio| studio.frame_count() > 20);
    bench.harness.key_press(egui::Key::Space);
    bench.harness.run_steps(2);
    bench.studio().show_ghosts(true);
    bench.until("ghosts", |studio| studio.ghost_count() == 4);
    bench.until("a picture of them", |studio| studio.shows_current_frame());
    bench.harness.run_steps(3);
    std::thread::sleep(std::time::Duration::from_millis(600));
    bench.harness.run_steps(3);
    bench.save_picture("ghosts");
    // the simulation goes on to its end, whatever the preview did meanwhile
    bench.until("the end of the take", |studio| studio.frame_count() == studio.status().frame_goal);
    assert_eq!(bench.studio().edit_count(), 0);
}

#[test]
fn a_take_is_baked_and_saved_in_the_background() {
    let mut bench = Bench::new(SMALL);
    let folder = bench.folder_path();
    bench.open("starfish-coarse");
    bench.until("all frames", |studio| studio.frame_count() == studio.status().frame_goal);
    bench.studio().show_dialog(Dialog::Bake);
    bench.harness.run_steps(3);
    bench.save_picture("bake");
    let output = folder.join("star");
    bench.studio().bake_to(&output);
    bench.until("the bake", |studio| !studio.is_working());
    assert!(output.with_extension("glb").exists(), "{}", bench.studio().describe());
    let saved = folder.join("star.take");
    bench.studio().save_take(&saved);
    bench.until("the copy", |studio| !studio.is_working());
    assert_eq!(sinew_io::TakeFile::open(&saved).unwrap().frame_count(), bench.studio().frame_count());
    bench.save_picture("baked");
}

#[test]
fn dialogs_fit_into_a_small_window() {
    let mut bench = Bench::new(SMALL);
    bench.open("dancer");
    for (dialog, name) in [
        (Dialog::Open, "open"),
        (Dialog::Help, "help"),
        (Dialog::Tour, "tour"),
        (Dialog::Preferences, "preferences"),
        (Dialog::Render, "render"),
        (Dialog::SceneText, "scene-text"),
    ] {
        bench.studio().show_dialog(dialog);
        bench.harness.run_steps(4);
        bench.save_picture(name);
        bench.harness.key_press(egui::Key::Escape);
        bench.harness.run_steps(2);
    }
}

/// A bar of 1 m, closed, as a mesh file.
fn write_bar(path: &std::path::Path) {
    let mut text = String::new();
    for i in 0..=10 {
        let y = 0.1 * f64::from(i);
        for [x, z] in [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]] {
            text += &format!("v {x} {y} {z}\n");
        }
    }
    for i in 0..10 {
        for side in 0..4 {
            let (a, b) = (4 * i + side + 1, 4 * i + (side + 1) % 4 + 1);
            text += &format!("f {a} {} {} {b}\n", a + 4, b + 4);
        }
    }
    text += "f 1 2 3 4\nf 44 43 42 41\n";
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_mesh_becomes_a_character_by_clicking_joints() {
    let mut bench = Bench::new(SMALL);
    let mesh = bench.folder_path().join("bar.obj");
    write_bar(&mesh);
    bench.open(mesh.to_str().unwrap());
    bench.harness.key_press(egui::Key::Space);
    bench.harness.run_steps(2);
    bench.harness.key_press(egui::Key::Home);
    bench.click("Joints");
    bench.until("the first frame", |studio| studio.frame() == 0 && studio.shows_current_frame());
    let [x, y] = bench.studio().middle_of_view(0);
    for dy in [110.0, 0.0, -110.0] {
        bench.drag(&[[x, y + dy], [x, y + dy]], 1);
    }
    bench.save_picture("joints");
    bench.click("Build the character");
    bench.until("the character", |studio| studio.has_picture() && studio.bone_count() == 2);
    bench.until("frames", |studio| studio.frame_count() > 20);
    bench.studio().select(Selection::Bone(0, 1));
    bench.harness.run_steps(3);
    bench.save_picture("built");

    // the joint in the middle is dragged, from some points before the drag counts as one
    bench.harness.key_press(egui::Key::Space);
    bench.studio().choose(Tool::Reach);
    bench.until("a frame that stays", |studio| studio.shows_current_frame());
    let joint = bench.studio().joint_in_view(0, 0, 1).unwrap();
    bench.drag(&[joint, [joint[0] + 40.0, joint[1]], [joint[0] + 70.0, joint[1]]], 12);
    bench.until("the edits of the hand", |studio| studio.edit_count() == 2);
    bench.until("no error", |studio| studio.status().stopped.is_none());
}

#[test]
fn softness_is_painted_taken_back_and_used() {
    let mut bench = Bench::new(SMALL);
    bench.open("jelly");
    bench.until("ten frames", |studio| studio.frame_count() > 10);
    bench.harness.key_press(egui::Key::Space);
    bench.harness.key_press(egui::Key::Home);
    bench.click("Paint");
    bench.until("the first frame", |studio| studio.frame() == 0 && studio.shows_current_frame());
    let [x, y] = bench.studio().middle_of_view(0);
    bench.drag(&[[x, y], [x + 30.0, y - 10.0], [x + 60.0, y - 20.0]], 8);
    let [low, high] = bench.studio().painted_range().unwrap();
    assert!(low == 1.0 && high > 1.5 && high <= 2.0, "{low} to {high}");
    bench.until("a picture of it", |studio| studio.shows_painting());
    bench.harness.run_steps(2);
    bench.save_picture("paint");
    bench.click("Take the last stroke back");
    assert_eq!(bench.studio().painted_range(), Some([1.0, 1.0]));
    bench.drag(&[[x, y], [x + 30.0, y - 10.0]], 8);
    bench.click("Smooth all");
    bench.click("+x to -x");
    let painted = bench.studio().painted_range();
    let tets = bench.studio().status().document.clone().unwrap();
    bench.click("Use it");
    bench.until("the new flesh", |studio| studio.has_picture() && studio.frame_count() > 20);
    let again = bench.studio().status().document.clone().unwrap();
    assert_ne!(again.model.hash(), tets.model.hash(), "flesh is as soft as before");
    bench.harness.run_steps(2);
    assert_eq!(bench.studio().painted_range(), painted, "what was painted is read back");
}

#[test]
fn an_obstacle_is_added_placed_and_moved_while_time_runs() {
    let mut bench = Bench::new(SMALL);
    bench.open("jelly");
    bench.until("ten frames", |studio| studio.frame_count() > 10);
    let before = bench.studio().obstacle_places().len();
    bench.click("Ball");
    bench.until("the ball", |studio| studio.has_picture() && studio.obstacle_places().len() == before + 1);
    bench.harness.key_press(egui::Key::Space);
    bench.harness.run_steps(2);
    bench.harness.key_press(egui::Key::Home);
    bench.until("the first frame", |studio| studio.frame() == 0 && studio.shows_current_frame());
    bench.studio().select(Selection::Obstacle(before));
    bench.harness.run_steps(2);
    bench.save_picture("obstacle");

    // by the middle of its arrows, before the take
    let start = bench.studio().obstacle_places()[before];
    let [x, y] = bench.studio().place_in_view(0, start).unwrap();
    bench.drag(&[[x, y], [x, y - 20.0], [x, y - 60.0]], 3);
    bench.until("the ball elsewhere", |studio| {
        studio.has_picture()
            && studio.obstacle_places().get(before).is_some_and(|place| place[1] > start[1] + 0.01)
    });

    // and in the middle of it, as an edit
    bench.until("frames", |studio| studio.frame_count() > 20);
    bench.harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::ArrowRight);
    bench.until("a later frame", |studio| studio.frame() == 10 && studio.shows_current_frame());
    let now = bench.studio().obstacle_places()[before];
    let [x, y] = bench.studio().place_in_view(0, now).unwrap();
    bench.drag(&[[x, y], [x - 20.0, y], [x - 50.0, y]], 12);
    bench.until("the edits of the hand", |studio| studio.edit_count() == 2);
    bench.until("frames again", |studio| studio.status().frames == studio.status().frame_goal);
    bench.harness.key_press(egui::Key::End);
    bench.until("the last frame", |studio| studio.shows_current_frame() && studio.frame() > 30);
    let moved = bench.studio().obstacle_places()[before];
    assert!((0..3).any(|i| (moved[i] - now[i]).abs() > 0.005), "{now:?} {moved:?}");
}

#[test]
fn what_cannot_be_opened_says_why() {
    let mut bench = Bench::new(SMALL);
    bench.studio().open(std::path::Path::new("starfihs"));
    bench.until("the error", |studio| matches!(studio.status().phase, Phase::Failed(_)));
    let Phase::Failed(error) = bench.studio().status().phase.clone() else { panic!("no error") };
    assert!(error.contains("did you mean 'starfish'?"), "{error}");
    bench.harness.run_steps(3);
    bench.save_picture("error");
}

//! Panels, used by mouse and keys: the timeline, curves, the inspector, the outliner, menus, and files that are dropped.

use super::bench::Bench;
use super::{SMALL, write_bar};
use egui_kittest::kittest::Queryable;
use sinew_io::tables::{CurveKey, KeyedNumber};
use sinew_studio::session::{OpenRequest, Session};
use sinew_studio::{Dialog, Selection, Tool};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[test]
fn the_timeline_is_scrubbed_by_the_mouse() {
    let mut bench = Bench::new(SMALL);
    bench.open("starfish-coarse");
    bench.until("all frames", |studio| studio.frame_count() == studio.status().frame_goal);
    let rect = bench.harness.get_by_label("Timeline").rect();
    let (last, y) = (bench.studio().frame_count() - 1, rect.top() + 12.0);
    // eight points at both ends are left free
    let x_of = |fraction: f32| rect.left() + 8.0 + (rect.width() - 16.0) * fraction;
    for fraction in [0.25, 0.75] {
        bench.drag(&[[x_of(0.5), y], [x_of(fraction), y]], 2);
        let expected = (fraction * last as f32).round() as usize;
        assert!(bench.studio().frame().abs_diff(expected) <= 1, "{} {expected}", bench.studio().frame());
        bench.until("its picture", |studio| studio.shows_current_frame());
    }
}

/// Times and values of the magnitude of the first edit.
fn magnitude(bench: &mut Bench) -> Vec<[f64; 2]> {
    let edits = bench.studio().status().edits.clone();
    match edits[0].metaphor[0].magnitude.clone() {
        Some(KeyedNumber::Curve(table)) => {
            let place = |key: &CurveKey| match key {
                CurveKey::Row(row) => *row,
                CurveKey::Table(table) => [table.time, table.value],
            };
            table.keys.iter().map(place).collect()
        }
        constant => panic!("no curve: {constant:?}"),
    }
}

#[test]
fn the_curve_of_a_twist_is_shaped_by_the_mouse_and_taken_back() {
    let mut bench = Bench::new(SMALL);
    bench.open("cylinder");
    bench.until("thirty frames", |studio| studio.frame_count() > 30);
    bench.harness.key_press(egui::Key::Space);
    bench.harness.key_press(egui::Key::Home);
    bench.click("Twist");
    bench.until("the first frame", |studio| studio.frame() == 0 && studio.shows_current_frame());
    let [x, y] = bench.studio().middle_of_view(0);
    bench.drag(&[[x, y], [x, y]], 1);
    bench.until("the metaphor", |studio| studio.edit_count() == 1);
    bench.studio().choose(Tool::Select);
    bench.studio().select(Selection::Edit(0));
    bench.harness.key_press(egui::Key::C);
    bench.harness.run_steps(3);
    let before = magnitude(&mut bench);
    assert!(before.len() > 1, "{before:?}");

    // the last key goes up by a fifth of the height of the curves
    let seconds = bench.studio().status().seconds;
    let rect = bench.harness.get_by_role(egui::Role::GraphicsDocument).rect().shrink2(egui::vec2(8.0, 6.0));
    let (low, high) = (-0.15, 1.15);
    let [time, value] = *before.last().unwrap();
    let x = rect.left() + rect.width() * (time / seconds) as f32;
    let y = rect.bottom() - rect.height() * ((value - low) / (high - low)) as f32;
    bench.drag(&[[x, y], [x, y - 10.0], [x, y - 0.2 * rect.height()]], 3);
    bench.until("the other curve", |studio| studio.status().version.0 == 3);
    let after = magnitude(&mut bench);
    let rise = after.last().unwrap()[1] - value;
    // pixels, of which there are some hundred
    assert!((rise - 0.2 * (high - low)).abs() < 0.05, "{after:?}");
    assert_eq!(after[..after.len() - 1], before[..before.len() - 1]);
    bench.save_picture("curve-shaped");

    // a double click adds a key; both are taken back
    let at = [rect.left() + 0.9 * rect.width(), rect.bottom() - 0.3 * rect.height()];
    for _ in 0..2 {
        bench.drag(&[at, at], 1);
    }
    bench.until("a further key", |studio| studio.status().version.0 == 4);
    assert_eq!(magnitude(&mut bench).len(), after.len() + 1);
    for version in [3, 2] {
        bench.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::Z);
        bench.until("the curve before", |studio| studio.status().version.0 == version);
    }
    assert_eq!(magnitude(&mut bench), before);
}

#[test]
fn steps_become_implicit_from_the_shown_frame_on_and_the_edit_is_removed() {
    let mut bench = Bench::new(SMALL);
    bench.open("jelly");
    bench.until("twenty frames", |studio| studio.frame_count() > 20);
    bench.harness.key_press(egui::Key::Space);
    bench.harness.key_press(egui::Key::Home);
    bench.harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::ArrowRight);
    bench.until("a later frame", |studio| studio.frame() == 10);
    bench.click("implicit");
    bench.until("the edit", |studio| studio.edit_count() == 1);
    let edit = bench.studio().status().edits[0].clone();
    let fps = bench.studio().status().document.as_ref().unwrap().fps;
    assert_eq!((edit.time * fps).round() as usize, 10);
    assert!(edit.solver.is_some());

    // it is in the list of edits, where it is selected and removed
    bench.studio().select(Selection::Edit(0));
    bench.harness.run_steps(3);
    bench.save_picture("edit");
    bench.harness.key_press(egui::Key::Delete);
    bench.until("no edit", |studio| studio.edit_count() == 0);
}

#[test]
fn what_is_clicked_in_the_list_is_inspected() {
    let mut bench = Bench::new(SMALL);
    bench.open("arm");
    bench.harness.key_press(egui::Key::Space);
    bench.harness.run_steps(2);
    let name = bench.studio().status().document.as_ref().unwrap().model.bodies()[0].name.clone();
    let found: Vec<egui::Pos2> =
        bench.harness.get_all_by_label(&name).map(|node| node.rect().center()).collect();
    // at the left, below the name of the scene
    let in_list = found.iter().filter(|at| at.x < 190.0);
    let at = *in_list.max_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
    bench.drag(&[[at.x, at.y], [at.x, at.y]], 1);
    assert_eq!(bench.studio().selection(), Selection::Body(0));
    assert!(bench.harness.get_all_by_label("× friction").count() > 0);
    bench.save_picture("body");
}

#[test]
fn menus_show_what_can_be_done() {
    let mut bench = Bench::new(SMALL);
    bench.open("jelly");
    for (menu, entry) in [
        ("File", "Save take as…"),
        ("Edit", "Preferences…"),
        ("View", "Four viewports"),
        ("Take", "Make it two seconds longer"),
        ("Help", "Keys and mouse"),
    ] {
        bench.click(menu);
        assert!(bench.harness.query_by_label_contains(entry).is_some(), "{menu}: {entry}");
        bench.save_picture(&format!("menu-{}", menu.to_lowercase()));
        bench.harness.key_press(egui::Key::Escape);
        bench.harness.run_steps(3);
    }
}

#[test]
fn the_theme_is_changed_and_kept() {
    let mut bench = Bench::new(SMALL);
    bench.open("penguin");
    bench.studio().show_dialog(Dialog::Preferences);
    bench.harness.run_steps(3);
    bench.click("light");
    assert!(!bench.harness.ctx.global_style().visuals.dark_mode);
    bench.harness.key_press(egui::Key::Escape);
    bench.harness.run_steps(3);
    bench.until("a picture that stays", |studio| studio.has_picture());
    bench.save_picture("light");
    let text = std::fs::read_to_string(bench.folder_path().join("preferences.toml")).unwrap();
    assert!(text.contains("light"), "{text}");
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

/// A mesh, a motion, a scene and a take.
#[test]
fn files_are_opened_when_they_are_dropped() {
    let mut bench = Bench::new(SMALL);
    let folder = bench.folder_path();
    write_bar(&folder.join("bar.obj"));
    std::fs::write(
        folder.join("walk.bvh"),
        "HIERARCHY\nROOT hip\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\nJOINT knee\n{\nOFFSET 0 -0.5 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 -0.5 0\n}\n}\n}\nMOTION\nFrames: 3\nFrame Time: 0.1\n0 1 0 0 0 0 0 0 0\n0 1 0 5 0 0 0 20 0\n0 1 0 0 0 0 0 0 0\n",
    )
    .unwrap();
    std::fs::write(
        folder.join("fall.toml"),
        "seconds = 0.5\n[[body]]\nname = \"bar\"\nsurface = \"bar.obj\"\ncage_tets = 200\n",
    )
    .unwrap();
    for name in ["bar.obj", "walk.bvh", "fall.toml"] {
        bench.harness.input_mut().dropped_files.push(Arc::new(Dropped(folder.join(name))));
        bench.harness.step();
        bench.until(name, |studio| studio.has_picture());
    }
    bench.until("all frames", |studio| studio.frame_count() == studio.status().frame_goal);
    let (take, frames) = (folder.join("fall.take"), bench.studio().frame_count());
    bench.studio().save_take(&take);
    bench.until("the copy", |studio| !studio.is_working());
    bench.harness.input_mut().dropped_files.push(Arc::new(Dropped(take)));
    bench.harness.step();
    bench.until("the take", |studio| studio.has_picture());
    assert_eq!(bench.studio().frame_count(), frames);
}

/// A take that an earlier run left behind is offered, with words about what is missing, and opened.
#[test]
fn a_take_that_was_left_behind_is_offered_at_the_next_start() {
    let mut bench = Bench::prepared(SMALL, |folder| {
        let path = sinew_studio::autosave::Autosave::in_folder(folder).new_take(Path::new("pot"));
        let request = OpenRequest { input: "pot".into(), record_to: path, ..OpenRequest::default() };
        let session = Session::open(request, || {});
        assert!(session.wait_until(120.0, |status| status.frames > 20));
    });
    bench.harness.run_steps(3);
    assert!(bench.harness.query_by_label_contains("frames are there").is_some());
    assert!(bench.harness.query_by_label_contains("at most the last 16 frames").is_some());
    bench.save_picture("recovery");
    bench.click("Open");
    bench.until("the take", |studio| studio.has_picture() && studio.frame_count() > 20);
}

/// Opening is shown with a picture of the scene at rest, and can be cancelled.
#[test]
fn opening_is_seen_and_can_be_cancelled() {
    let mut bench = Bench::new(SMALL);
    bench.studio().open(Path::new("dancer"));
    bench.until("the scene at rest", |studio| studio.shows_character());
    assert!(!bench.studio().has_picture(), "there are frames before there is flesh");
    bench.save_picture("opening");
    bench.click("Cancel opening");
    assert!(bench.harness.query_by_label_contains("Open a file").is_some());
    bench.studio().open(Path::new("jelly"));
    bench.until("another picture", |studio| studio.has_picture());
}

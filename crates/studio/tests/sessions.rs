//! Sessions without an interface: simulating, recording, editing, and taking up again what is there.

use sinew_io::{EditTable, SceneFile, TakeFile};
use sinew_math::Vec3;
use sinew_studio::autosave::Autosave;
use sinew_studio::session::{Command, GhostRequest, Hand, HandTarget, OpenRequest, Phase, Session};
use sinew_take::{GhostSpan, GhostsEnd};
use std::path::{Path, PathBuf};

const PATIENCE: f64 = 120.0;

fn open(input: &str, take: &Path) -> Session {
    let input = PathBuf::from(input);
    let session =
        Session::open(OpenRequest { input, record_to: take.to_path_buf(), ..OpenRequest::default() }, || {});
    assert!(session.wait_until(PATIENCE, |status| status.phase != Phase::Opening));
    assert_eq!(session.status().phase, Phase::Ready);
    session
}

fn edit(text: &str) -> EditTable {
    SceneFile::of_text(&format!("[[edit]]\n{text}\n")).unwrap().value.edit.remove(0)
}

fn finish(session: &Session) {
    let is_done = |status: &sinew_studio::session::Status| status.frames == status.frame_goal;
    assert!(session.wait_until(PATIENCE, is_done), "{:?}", session.status().stopped);
}

/// The position of the last node of a frame, as the take file has it.
fn state_of(take: &Path, session: &Session, frame: usize) -> Vec3 {
    let model = session.status().document.unwrap().model.clone();
    let take = TakeFile::open(take).unwrap();
    let state = take.bookmark_at(frame).unwrap().unwrap().checkpoint.restore(&model).unwrap();
    *state.node_x.last().unwrap()
}

#[test]
fn a_take_is_simulated_to_its_end_recorded_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.take");
    let session = open("starfish-coarse", &path);
    finish(&session);
    let frames = session.status().frames;
    drop(session);
    let take = TakeFile::open(&path).unwrap();
    assert_eq!((take.frame_count(), take.frame_goal()), (frames, frames));
    drop(take);
    let again = open(path.to_str().unwrap(), &path);
    assert_eq!(again.status().frames, frames);
}

#[test]
fn an_edit_changes_what_follows_it_and_undo_brings_that_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.take");
    let session = open("starfish-coarse", &path);
    finish(&session);
    let (before, after) = (state_of(&path, &session, 59), state_of(&path, &session, 120));
    session.send(Command::SetEdits(vec![edit("time = 1\ngravity = [0, -9.81, 0]")]));
    assert!(session.wait_until(PATIENCE, |status| status.edits.len() == 1));
    finish(&session);
    assert_eq!(state_of(&path, &session, 59), before);
    assert_ne!(state_of(&path, &session, 120), after);
    session.send(Command::Undo);
    assert!(session.wait_until(PATIENCE, |status| status.edits.is_empty() && status.can_redo));
    finish(&session);
    assert_eq!(state_of(&path, &session, 120), after);
    // nor is what memory shows of the version that was undone
    let kept = session.state_in_memory(120);
    assert!(
        kept.is_none_or(|kept| kept.node_x.last() == Some(&after)),
        "frames of the version before are still shown"
    );
}

#[test]
fn an_edit_that_does_not_fit_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let session = open("starfish-coarse", &folder.path().join("a.take"));
    session
        .send(Command::SetEdits(vec![edit("time = 1\n[[edit.body]]\nname = \"cow\"\nmaterial = \"fat\"")]));
    assert!(session.wait_until(PATIENCE, |status| status.refusal.is_some()));
    let status = session.status();
    assert!(status.refusal.as_ref().unwrap().contains("cow"), "{:?}", status.refusal);
    assert!(status.edits.is_empty());
    finish(&session);
}

/// What a hand leads is simulated again when it lets go, with the edits that its motion amounts to. Both are the same.
#[test]
fn what_a_hand_did_is_recorded_as_it_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.take");
    let session = open("jelly", &path);
    assert!(session.wait_until(PATIENCE, |status| status.frames > 8));
    session.send(Command::Simulate(false));
    let document = session.status().document.unwrap();
    let body = &document.model.bodies()[0];
    let highest = body.surface.vertices.iter().max_by(|a, b| a.y.total_cmp(&b.y));
    let rest = *highest.unwrap();
    let target = HandTarget::Flesh { body: body.name.clone(), rest };
    session.send(Command::Grab(Hand { frame: 5, target, place: rest }));
    session.send(Command::MoveHand(rest + Vec3::new(0.05, 0.02, 0.0)));
    let is_led = session.wait_until(PATIENCE, |status| status.is_held && status.frames > 12);
    assert!(
        is_led,
        "{} frames, {:?}, {:?}",
        session.status().frames,
        session.status().stopped,
        session.status().refusal
    );
    session.send(Command::Release);
    assert!(session.wait_until(PATIENCE, |status| status.edits.len() == 2), "{:?}", session.status().refusal);
    let released = (session.status().edits[1].time * document.fps).round() as usize;
    let seen = session.state_in_memory(released).unwrap();
    session.send(Command::Simulate(true));
    assert!(session.wait_until(PATIENCE, |status| !status.is_held && status.frames > released + 20));
    session.send(Command::Simulate(false));
    assert!(session.wait_until(PATIENCE, |status| !status.is_simulating));
    let take = TakeFile::open(&path).unwrap();
    let recorded = take.bookmark_at(released).unwrap().unwrap().checkpoint.restore(&document.model).unwrap();
    assert_eq!(recorded.node_x, seen.node_x);
}

/// What is prescribed cannot be grabbed: the base of the jelly is on a plate that shakes.
#[test]
fn a_hand_that_cannot_grab_says_so_and_the_take_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let session = open("jelly", &folder.path().join("a.take"));
    assert!(session.wait_until(PATIENCE, |status| status.frames > 8));
    let document = session.status().document.unwrap();
    let body = &document.model.bodies()[0];
    let rest = *body.surface.vertices.iter().min_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
    let target = HandTarget::Flesh { body: body.name.clone(), rest };
    session.send(Command::Grab(Hand { frame: 5, target, place: rest }));
    assert!(session.wait_until(PATIENCE, |status| status.refusal.is_some()));
    assert!(
        session.wait_until(PATIENCE, |status| !status.is_held && status.frames > 8 && status.is_simulating)
    );
    assert!(session.status().edits.is_empty());
}

#[test]
fn a_preview_leaves_the_take_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.take");
    let session = open("starfish-coarse", &path);
    finish(&session);
    let bytes = std::fs::read(&path).unwrap();
    let edits = vec![edit("time = 0.5\ngravity = [0, -9.81, 0]")];
    let span = GhostSpan { frames: 30, every: 10 };
    session.send(Command::Ghosts(Some(GhostRequest { frame: 30, span, edits })));
    let start = std::time::Instant::now();
    while session.ghosts().end != GhostsEnd::Complete {
        assert!(start.elapsed().as_secs_f64() < PATIENCE);
        std::thread::yield_now();
    }
    assert_eq!(session.ghosts().kept.len(), 3);
    drop(session);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

/// A process that records a take is killed: the next start finds the take, with nearly all of its frames.
#[test]
fn a_take_whose_program_was_killed_is_offered_again() {
    if let Some(folder) = std::env::var_os("SINEW_STUDIO_KILLED") {
        let take = Autosave::in_folder(Path::new(&folder)).new_take(Path::new("dancer"));
        let session = open("dancer", &take);
        session.wait_until(600.0, |_| false);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let autosave = Autosave::in_folder(folder.path());
    for wait in [150, 400, 900] {
        let program = std::env::current_exe().unwrap();
        let mut child = std::process::Command::new(program)
            .args(["--exact", "a_take_whose_program_was_killed_is_offered_again"])
            .env("SINEW_STUDIO_KILLED", folder.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // the first frame is there, then some time passes
        let start = std::time::Instant::now();
        let unsaved = folder.path().join("unsaved");
        let is_there = || {
            std::fs::read_dir(&unsaved).is_ok_and(|found| {
                found.flatten().any(|entry| entry.path().extension().is_some_and(|end| end == "take"))
            })
        };
        while !is_there() {
            assert!(start.elapsed().as_secs_f64() < PATIENCE);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        let lost = autosave.recoverable();
        assert_eq!(lost.len(), 1);
        assert!(lost[0].frames.0 >= 1 && lost[0].frames.0 < lost[0].frames.1);
        let again = open(lost[0].path.to_str().unwrap(), &lost[0].path);
        assert!(again.status().frames >= lost[0].frames.0);
        drop(again);
        std::fs::remove_file(&lost[0].path).unwrap();
    }
}

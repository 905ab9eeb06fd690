//! Sessions without an interface: simulating, recording, editing, and taking up again what is there.

use sinew_io::{EditTable, SceneFile, TakeFile};
use sinew_math::Vec3;
use sinew_studio::autosave::{Autosave, MAX_LOST_FRAMES};
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

/// How many kills there are, and within which time after the first frame (ms).
const KILLS: u64 = 20;
const KILL_WITHIN: u64 = 1500;

/// A process that records a take is killed at random moments: the next start finds the take, with all frames that the process had but at most those that the recorder collects before it writes.
#[test]
fn a_take_whose_program_was_killed_is_offered_again() {
    if let Some(folder) = std::env::var_os("SINEW_STUDIO_KILLED") {
        return record_until_killed(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let autosave = Autosave::in_folder(folder.path());
    let mut random: u64 = 20;
    let mut max_lost = 0;
    for kill in 0..KILLS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let reached = frames_until_killed(folder.path(), (random >> 33) % KILL_WITHIN);

        // what the next start offers, and what is not in it
        let found = autosave.recoverable();
        assert_eq!(found.len(), 1, "kill {kill}");
        let (sound, goal) = found[0].frames;
        assert!(sound >= 1 && sound < goal, "kill {kill}: {sound} of {goal} frames");
        let lost = reached.saturating_sub(sound);
        assert!(lost <= MAX_LOST_FRAMES, "kill {kill}: {sound} of {reached} frames");
        max_lost = max_lost.max(lost);

        // every frame of it can be shown, and it is simulated on
        let take = TakeFile::open(&found[0].path).unwrap();
        assert_eq!(take.frame_count(), sound, "kill {kill}");
        for frame in 0..sound {
            assert!(take.bookmark_at(frame).unwrap().is_some(), "kill {kill}: frame {frame}");
        }
        drop(take);
        let again = open(found[0].path.to_str().unwrap(), &found[0].path);
        assert!(again.wait_until(PATIENCE, |status| status.frames > sound), "kill {kill}");
        drop(again);
        std::fs::remove_file(&found[0].path).unwrap();
    }
    // a recorder that writes every frame at once would not need the words about lost frames
    assert!(max_lost > 0);
}

/// Records a long take, and keeps in a file how many frames there are.
fn record_until_killed(folder: &Path) {
    use std::io::{Seek, Write};
    let take = Autosave::in_folder(folder).new_take(Path::new("starfish"));
    let request = OpenRequest {
        input: "starfish-coarse".into(),
        record_to: take,
        seconds: Some(600.0),
        ..OpenRequest::default()
    };
    let session = Session::open(request, || {});
    let mut file = std::fs::File::create(folder.join("reached")).unwrap();
    loop {
        file.rewind().unwrap();
        file.write_all(&(session.status().frames as u64).to_le_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Runs a process that records, kills it some time after its first frame (ms), and returns how many frames it had.
fn frames_until_killed(folder: &Path, after: u64) -> usize {
    let program = std::env::current_exe().unwrap();
    let mut child = std::process::Command::new(program)
        .args(["--exact", "a_take_whose_program_was_killed_is_offered_again"])
        .env("SINEW_STUDIO_KILLED", folder)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let start = std::time::Instant::now();
    let unsaved = folder.join("unsaved");
    let is_there = || {
        std::fs::read_dir(&unsaved).is_ok_and(|found| {
            found.flatten().any(|entry| entry.path().extension().is_some_and(|end| end == "take"))
        })
    };
    while !is_there() {
        assert!(start.elapsed().as_secs_f64() < PATIENCE);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    std::thread::sleep(std::time::Duration::from_millis(after));
    child.kill().unwrap();
    child.wait().unwrap();
    let bytes = std::fs::read(folder.join("reached")).unwrap();
    u64::from_le_bytes(bytes.try_into().unwrap()) as usize
}

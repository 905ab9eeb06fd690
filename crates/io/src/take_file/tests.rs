use super::chunk;
use super::*;
use crate::scene_schema::EditTable;
use crate::tests::names_in;
use crate::{CapturedFiles, Up, read_edits};
use sinew_character::TakeSettings;
use sinew_control::DriveMode;
use sinew_sim::SolverKind;
use sinew_sim::State;
use sinew_take::{Player, Scene, VersionId};
use std::fs;
use std::path::Path;

/// A tetrahedron that hangs and sways for 40 frames: three chunks of frames, the first of one.
const SCENE: &str = "seconds = 0.4\nfps = 100\n[[body]]\nsurface = 'a.obj'\ncage_tets = 20\n\
                     [[body.pin]]\nregion = { end = 'top', fraction = 0.3 }\nmotion = { shake = { amplitude = [0.05, 0, 0], frequency = 3 } }\n";
const SURFACE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

fn scene_in(folder: &Path) -> (Scene, CapturedFiles) {
    fs::write(folder.join("s.toml"), SCENE).unwrap();
    fs::write(folder.join("a.obj"), SURFACE).unwrap();
    let (read, files) = CapturedFiles::keep(folder, || crate::open_scene(&folder.join("s.toml")));
    (read.unwrap().value, files)
}

fn recipe(player: &Player, scene: &Scene, files: CapturedFiles) -> TakeRecipe {
    TakeRecipe {
        sinew: "0.0.0".into(),
        origin: TakeOrigin::File("s.toml".into()),
        settings: TakeSettings { seconds: scene.seconds, fps: scene.fps, ..TakeSettings::default() },
        model_hash: player.model.hash(),
        files,
    }
}

/// Records the scene into a file, and what it went through in the order of frames.
fn record(folder: &Path, name: &str) -> (Player, Vec<State>) {
    let (scene, files) = scene_in(folder);
    let mut player = Player::build(&scene).unwrap();
    let recipe = recipe(&player, &scene, files);
    let mut recorder = TakeRecorder::create(&folder.join(name), &recipe, Existing::ReplaceComplete).unwrap();
    player.record(&mut recorder, &mut [], |_| {}).unwrap();
    let mut again = Player::build(&scene).unwrap();
    let mut states = vec![again.state.clone()];
    for _ in 0..again.frame_count() {
        again.advance().unwrap();
        states.push(again.state.clone());
    }
    assert_eq!(player.state, again.state);
    (player, states)
}

/// Checks that a take holds exactly the first of the states.
fn check_states(take: &TakeFile, player: &Player, states: &[State]) {
    let mut count = 0;
    for (found, expected) in take.states(&player.model).unwrap().zip(states) {
        let found = found.unwrap();
        assert_eq!((found.time, &found.node_x), (expected.time, &expected.node_x));
        count += 1;
    }
    assert_eq!(count, take.frame_count());
    if let Some(bookmark) = take.bookmark().unwrap() {
        assert_eq!(bookmark.checkpoint.restore(&player.model).unwrap(), states[count - 1]);
        assert_eq!((bookmark.frame, bookmark.summary.frames), (count - 1, count - 1));
    }
}

#[test]
fn a_take_gives_back_every_state_to_the_bit_and_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let (player, states) = record(folder.path(), "t.take");
    assert_eq!(names_in(folder.path()), ["a.obj", "s.toml", "t.take"]);
    let take = TakeFile::open(&folder.path().join("t.take")).unwrap();
    assert_eq!(*take.ending(), TakeEnding::Complete);
    assert_eq!((take.frame_count(), take.frame_goal(), take.last_time()), (41, 41, states[40].time));
    check_states(&take, &player, &states);
    let files = take.recipe().files.files().iter().map(|file| (file.name.as_str(), file.bytes.as_slice()));
    assert_eq!(files.collect::<Vec<_>>(), [("s.toml", SCENE.as_bytes()), ("a.obj", SURFACE.as_bytes())]);
}

#[test]
fn what_a_recipe_says_is_read_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, files) = scene_in(folder.path());
    let player = Player::build(&scene).unwrap();
    let mut expected = recipe(&player, &scene, files);
    for (seconds, fps, lead) in [
        (1.0 / 3.0, 59.94, None),
        (1e-300, 24000.0 / 1001.0, Some(DriveMode::Ragdoll)),
        (5.0, 1e22, Some(DriveMode::TwoWay)),
        (0.1 + 0.2, 60.0, Some(DriveMode::OneWay)),
    ] {
        // numbers that decimal text would round
        expected.settings = TakeSettings {
            seconds,
            fps,
            lead,
            animation: lead.map(|_| "walk".into()),
            motion: lead.map(|_| "m.bvh".into()),
            jiggle: lead.map(|_| 1.0 / 3.0),
            motion_scale: lead.map(|_| 0.0254),
            softness: lead.map(|_| "painted.csv".into()),
            cloth: lead.map(|_| "silk".into()),
            without_preroll: lead.is_some(),
            is_loop: lead.is_none(),
            floor: lead.map(|_| -0.1 - 0.2),
            self_contact: lead.is_some(),
            solver: lead.map(|_| SolverKind::Auto),
            cage_tets: lead.map(|_| 5000),
        };
        expected.origin = TakeOrigin::BuiltIn("a \"quoted\"\nname".into());

        // there and back
        let mut bytes = Vec::new();
        expected.write(&mut bytes);
        assert_eq!(TakeRecipe::read(&bytes).unwrap(), expected);
        // cut anywhere it is refused, not read half
        (0..bytes.len()).for_each(|end| assert!(TakeRecipe::read(&bytes[..end]).is_err(), "{end}"));
    }
}

/// Every length a crash or a full disk can leave: all chunks before the end are there, what is behind is known as torn, and going on from there ends in the same
/// states as never having stopped.
#[test]
fn a_take_cut_at_any_byte_keeps_its_whole_chunks_and_is_resumed_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let (player, states) = record(folder.path(), "t.take");
    let (scene, _) = scene_in(folder.path());
    let whole = fs::read(folder.path().join("t.take")).unwrap();
    let cut = folder.path().join("cut.take");
    let mut ends = Vec::new();
    let mut last = None;
    // near chunk boundaries every byte, between them one in 97
    for end in 0..whole.len() {
        let boundary = |at: usize| ends.iter().any(|e: &usize| at.abs_diff(*e) < 30);
        if !(end < 100 || whole.len() - end < 100 || end % 97 == 0 || boundary(end)) {
            continue;
        }
        fs::write(&cut, &whole[..end]).unwrap();
        let Ok(take) = TakeFile::open(&cut) else {
            assert!(ends.is_empty(), "{end}");
            continue;
        };
        assert!(take.valid_bytes <= end as u64);
        if last != Some(take.frame_count()) {
            last = Some(take.frame_count());
            ends.push(take.valid_bytes as usize);
            check_states(&take, &player, &states);
            let mut again = Player::build(&scene).unwrap();
            if let Some(bookmark) = take.bookmark().unwrap() {
                again.resume_from(&bookmark).unwrap();
            }
            let mut recorder = TakeRecorder::resume(&take).unwrap();
            assert_eq!(fs::metadata(&cut).unwrap().len(), end as u64, "cut before there was more to write");
            again.record(&mut recorder, &mut [], |_| {}).unwrap();
            assert_eq!(again.state, player.state);
            assert_eq!(again.summary, player.summary);
            check_states(&TakeFile::open(&cut).unwrap(), &player, &states);
            assert_eq!(*TakeFile::open(&cut).unwrap().ending(), TakeEnding::Complete);
        }
        match take.ending() {
            TakeEnding::Unfinished => assert_eq!(take.valid_bytes, end as u64),
            TakeEnding::Damaged { at, bytes, .. } => {
                assert_eq!((*at, at + bytes), (take.valid_bytes, end as u64));
            }
            TakeEnding::Complete => panic!("complete without its end"),
        }
    }
    assert_eq!(last, Some(41));
    // the scene alone, frame 0, 16 frames, 16 frames, 8 frames; more if this machine sleeps for seconds
    assert!(ends.len() >= 5);
}

/// Whatever byte is changed, what is read is a beginning of what was written.
#[test]
fn a_changed_byte_is_noticed_and_costs_only_what_follows() {
    let folder = tempfile::tempdir().unwrap();
    let (player, states) = record(folder.path(), "t.take");
    let mut bytes = fs::read(folder.path().join("t.take")).unwrap();
    let changed = folder.path().join("changed.take");
    for at in (0..bytes.len()).filter(|at| *at < 64 || at % 211 == 0) {
        bytes[at] ^= 0x10;
        fs::write(&changed, &bytes).unwrap();
        if let Ok(take) = TakeFile::open(&changed) {
            assert!(matches!(take.ending(), TakeEnding::Damaged { .. }), "{at}");
            assert!(take.valid_bytes <= at as u64, "{at}");
            check_states(&take, &player, &states);
        }
        bytes[at] ^= 0x10;
    }
}

/// Sizes that no file has must be refused before memory is asked for them, also behind a good checksum.
#[test]
fn absurd_sizes_behind_good_checksums_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let (player, _) = record(folder.path(), "t.take");
    let (scene, files) = scene_in(folder.path());
    let path = folder.path().join("absurd.take");
    use chunk::ChunkKind::{Frames, States};
    for (kind, head) in [
        (States, [0, 1, 0, 0, u64::MAX, 0]),
        (States, [0, u64::MAX, 0, 0, 1, 0]),
        (States, [0, 1, 0, u64::MAX, 1, 0]),
        (States, [u64::MAX, 1, 0, 0, 72, 0]),
        (States, [0, 0, 0, 0, 72, 0]),
        (States, [7, 1, 0, 0, 72, 0]),
        (Frames, [0, 1, u64::MAX, 0, 0, 0]),
        (Frames, [0, u64::MAX, 1, 0, 0, 0]),
        (Frames, [0, 1, 1, u64::MAX, 0, 0]),
        (Frames, [0, 1, 0, 1, 0, u64::MAX / 8]),
        (Frames, [0, 1, 0, 1, u64::MAX / 8, 0]),
        (Frames, [0, 1, u64::MAX / 24, 0, 0, 0]),
        (Frames, [0, 0, 0, 0, 0, 0]),
        (Frames, [7, 1, 0, 0, 0, 0]),
    ] {
        // a good recipe
        let (header, before) = chunk::header(chunk::VERSION);
        let mut first = Vec::new();
        chunk::begin(chunk::ChunkKind::Recipe, &mut first);
        recipe(&player, &scene, files.clone()).write(&mut first);
        let before = chunk::close(before, &mut first);

        // frames of sizes that nothing has
        let mut second = Vec::new();
        chunk::begin(kind, &mut second);
        head.iter().for_each(|number: &u64| second.extend_from_slice(&number.to_le_bytes()));
        second.extend_from_slice(&[0; 64]);
        chunk::close(before, &mut second);
        fs::write(&path, [&header[..], &first, &second].concat()).unwrap();
        let take = TakeFile::open(&path).unwrap();
        assert!(matches!(take.ending(), TakeEnding::Damaged { .. }), "{kind:?} {head:?}");
        assert_eq!(take.frame_count(), 0);
    }
    // a chunk longer than the file
    let (header, _) = chunk::header(chunk::VERSION);
    let long = [&header[..], b"recipe  ", &(u64::MAX - 30).to_le_bytes(), &[0; 40]].concat();
    fs::write(&path, long).unwrap();
    assert!(TakeFile::open(&path).unwrap_err().message.contains("at its very start"));
}

#[test]
fn a_name_is_taken_with_the_first_frame_and_only_from_what_may_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, files) = scene_in(folder.path());
    let player = Player::build(&scene).unwrap();
    let recipe = recipe(&player, &scene, files);
    let path = folder.path().join("t.take");
    let create = |existing| TakeRecorder::create(&path, &recipe, existing);

    // begun and dropped before its first frame: what was there stays
    record(folder.path(), "t.take");
    let complete = fs::read(&path).unwrap();
    drop(create(Existing::ReplaceComplete).unwrap());
    assert_eq!(fs::read(&path).unwrap(), complete);
    assert_eq!(names_in(folder.path()), ["a.obj", "s.toml", "t.take"]);

    // with its first frame it has the name, and is valid; nobody else may record it meanwhile
    let mut recorder = create(Existing::ReplaceComplete).unwrap();
    sinew_take::StateSink::frame(&mut recorder, &player).unwrap();
    let take = TakeFile::open(&path).unwrap();
    assert_eq!((take.frame_count(), take.ending()), (1, &TakeEnding::Unfinished));
    if cfg!(unix) {
        assert!(TakeRecorder::resume(&take).unwrap_err().to_string().contains("another process"));
        assert!(create(Existing::ReplaceAny).unwrap_err().to_string().contains("another process"));
    }
    drop(recorder);

    // an unfinished take and a foreign file stay unless that is asked for
    let error = create(Existing::ReplaceComplete).unwrap_err().to_string();
    assert!(error.contains("1 of 41 frames") && error.contains("--resume"), "{error}");
    assert!(create(Existing::ReplaceAny).is_ok());
    fs::write(&path, "the only copy of my thesis").unwrap();
    let error = create(Existing::ReplaceComplete).unwrap_err().to_string();
    assert!(error.contains("not a readable take"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"the only copy of my thesis");
    assert!(TakeFile::open(&path).unwrap_err().message.contains("this is not a take"));
}

#[test]
fn a_take_of_another_version_of_the_format_is_refused_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), "t.take");
    let path = folder.path().join("t.take");
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 9;
    fs::write(&path, bytes).unwrap();
    let error = TakeFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("version 9") && error.contains("use the version that recorded it"), "{error}");
}

/// The take as older versions wrote it: positions of sixteen frames and one checkpoint per chunk; in version 2 without the count of friction anchors between surfaces.
fn write_in_version(version: u64, folder: &Path, path: &Path) {
    let (scene, files) = scene_in(folder);
    let mut player = Player::build(&scene).unwrap();
    let (header, mut before) = chunk::header(version);
    let (mut written, mut out) = (header.to_vec(), Vec::new());
    let mut close = |out: &mut Vec<u8>| {
        before = chunk::close(before, out);
        written.extend_from_slice(out);
    };
    chunk::begin(chunk::ChunkKind::Recipe, &mut out);
    recipe(&player, &scene, files).write(&mut out);
    close(&mut out);
    for (first, count) in [(0, 1), (1, 16), (17, 16), (33, 8)] {
        chunk::begin(chunk::ChunkKind::Frames, &mut out);
        frames::Sizes::of(&player.model).write_head(first, &mut out);
        for frame in first..first + count {
            if frame > 0 {
                player.advance().unwrap();
            }
            frames::write_frame(&player.state, &mut out);
        }
        frames::set_count(&mut out[16..], count);
        let bookmark_at = out.len();
        frames::write_bookmark(&player.bookmark(), &mut out);
        if let (2, Some(state)) =
            (version, out[bookmark_at..].windows(8).position(|word| word == b"SNWSTATE"))
        {
            let state = bookmark_at + state;
            out[state + 8] = 3;
            out.drain(state + 48..state + 56);
        }
        close(&mut out);
    }
    chunk::begin(chunk::ChunkKind::End, &mut out);
    out.extend_from_slice(&[0; 16]);
    close(&mut out);
    fs::write(path, written).unwrap();
}

#[test]
fn takes_of_older_versions_are_read_gone_on_with_and_edited() {
    let folder = tempfile::tempdir().unwrap();
    let (player, states) = record(folder.path(), "t.take");
    let path = folder.path().join("old.take");
    for version in [2, 3] {
        write_in_version(version, folder.path(), &path);
        for take in [TakeFile::open(&path).unwrap(), TakeFile::open_quickly(&path).unwrap()] {
            assert_eq!((take.frame_count(), take.ending()), (41, &TakeEnding::Complete));
            check_states(&take, &player, &states);
            // the nearest frame before with a bookmark
            let found = [0, 15, 16, 17, 40].map(|frame| take.bookmark_at(frame).unwrap().unwrap().frame);
            assert_eq!(found, [0, 0, 16, 16, 40]);
        }

        // without its last frames and its end
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 100]).unwrap();
        let take = TakeFile::open(&path).unwrap();
        assert_eq!(take.frame_count(), 33);
        let mut again = Player::build(&scene_in(folder.path()).0).unwrap();
        again.resume_from(&take.bookmark().unwrap().unwrap()).unwrap();
        again.record(&mut TakeRecorder::resume(&take).unwrap(), &mut [], |_| {}).unwrap();
        let take = TakeFile::open(&path).unwrap();
        assert_eq!(*take.ending(), TakeEnding::Complete);
        check_states(&take, &player, &states);

        // an edit in the middle of a chunk without velocities
        let edit = gravity_edit(0.2);
        let (edited, expected) = run_edited(folder.path(), std::slice::from_ref(&edit));
        let mut editor = TakeEditor::begin(TakeFile::open(&path).unwrap()).unwrap();
        editor.set_edits(vec![edit]).unwrap();
        assert_eq!(editor.take().frame_count(), 21);
        let (take, mut recorder) = editor.record();
        let mut again = Player::build(&edited).unwrap();
        again.resume_from(&take.bookmark().unwrap().unwrap()).unwrap();
        assert_eq!(again.frame(), 16);
        again.record(&mut recorder, &mut [], |_| {}).unwrap();
        drop(recorder);
        check_states(&TakeFile::open(&path).unwrap(), &player, &expected);
        let dropped = TakeEditor::begin(TakeFile::open_to_replace(&path).unwrap()).unwrap().drop_others();
        assert!(dropped.unwrap_err().to_string().contains("recorded no velocities"));
    }
}

/// A simulation that fails keeps the frames before it, all of them.
#[test]
fn an_interrupted_recording_keeps_every_frame_it_saw() {
    let folder = tempfile::tempdir().unwrap();
    let (player, states) = record(folder.path(), "t.take");
    let (scene, files) = scene_in(folder.path());
    let path = folder.path().join("u.take");
    let mut again = Player::build(&scene).unwrap();
    let recipe = recipe(&again, &scene, files);
    let mut recorder = TakeRecorder::create(&path, &recipe, Existing::ReplaceComplete).unwrap();
    for _ in 0..21 {
        sinew_take::StateSink::frame(&mut recorder, &again).unwrap();
        again.advance().unwrap();
    }
    sinew_take::StateSink::frame(&mut recorder, &again).unwrap();
    sinew_take::StateSink::interrupt(&mut recorder, &again);
    drop(recorder);
    let take = TakeFile::open(&path).unwrap();
    assert_eq!((take.frame_count(), take.ending()), (22, &TakeEnding::Unfinished));
    check_states(&take, &player, &states);
}

#[test]
fn another_model_is_not_taken_for_the_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let (player, _) = record(folder.path(), "t.take");
    let take = TakeFile::open(&folder.path().join("t.take")).unwrap();
    assert!(take.check_model(&player.model).is_ok());
    let (mut scene, _) = scene_in(folder.path());
    scene.world.bodies[0].material.density *= 2.0;
    let heavier = Player::build(&scene).unwrap().model;
    let error = take.check_model(&heavier).unwrap_err().to_string();
    assert!(error.contains("sinew 0.0.0") && error.contains("t.take"), "{error}");
    assert!(take.states(&heavier).is_err());
}

/// Gravity turned upside down from a time on.
fn gravity_edit(time: f64) -> EditTable {
    EditTable { time, gravity: Some([0.0, 9.81, 1.0].map(Into::into)), ..EditTable::default() }
}

/// The scene with edits, and all of its states when it is simulated with them from the start.
fn run_edited(folder: &Path, edits: &[EditTable]) -> (Scene, Vec<State>) {
    let (scene, _) = scene_in(folder);
    let edits = read_edits(edits, &scene, Up::Y).unwrap();
    let scene = Scene { edits, ..scene };
    let mut player = Player::build(&scene).unwrap();
    let mut states = vec![player.state.clone()];
    for _ in 0..player.frame_count() {
        player.advance().unwrap();
        states.push(player.state.clone());
    }
    (scene, states)
}

/// Makes a version of these edits, and records it to its end.
fn edit_and_record(folder: &Path, path: &Path, edits: &[EditTable]) -> Vec<State> {
    let (scene, expected) = run_edited(folder, edits);
    let mut editor = TakeEditor::begin(TakeFile::open_quickly(path).unwrap()).unwrap();
    editor.set_edits(edits.to_vec()).unwrap();
    let (take, mut recorder) = editor.record();
    let mut player = Player::build(&scene).unwrap();
    player.resume_from(&take.bookmark().unwrap().unwrap()).unwrap();
    player.record(&mut recorder, &mut [], |_| {}).unwrap();
    expected
}

/// All states of the current version, with velocities.
fn exact_states(take: &TakeFile, player: &Player) -> Vec<State> {
    let state = |frame: usize| {
        let bookmark = take.bookmark_at(frame).unwrap().unwrap();
        assert_eq!(bookmark.frame, frame);
        bookmark.checkpoint.restore(player.first_model()).unwrap()
    };
    (0..take.frame_count()).map(state).collect()
}

#[test]
fn edits_undo_and_redo_give_back_every_version_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (player, states) = record(folder.path(), "t.take");
    let path = folder.path().join("t.take");
    let open = || TakeFile::open(&path).unwrap();
    let bytes_of_one = open().file_bytes();

    // frames up to the edit are shared, the others recorded anew
    let first = edit_and_record(folder.path(), &path, &[gravity_edit(0.2)]);
    assert_eq!(first[..=20], states[..=20]);
    assert_ne!(first[21], states[21]);
    assert_eq!(exact_states(&open(), &player), first);
    assert_eq!(*open().ending(), TakeEnding::Complete);
    assert!(open().file_bytes() < bytes_of_one * 17 / 10, "{} after {bytes_of_one}", open().file_bytes());
    let second = edit_and_record(folder.path(), &path, &[gravity_edit(0.2), gravity_edit(0.305)]);
    assert_eq!(exact_states(&open(), &player), second);

    // back and forth at once, also when the take is opened anew in between
    let edit = |change: &dyn Fn(&mut TakeEditor)| {
        let mut editor = TakeEditor::begin(open()).unwrap();
        change(&mut editor);
        exact_states(&editor.end(), &player)
    };
    assert_eq!(edit(&|editor| assert_eq!(editor.undo().unwrap().unwrap().number(), 2)), first);
    assert_eq!(edit(&|editor| assert_eq!(editor.undo().unwrap(), Some(VersionId::FIRST))), states);
    assert_eq!(edit(&|editor| assert_eq!(editor.undo().unwrap(), None)), states);
    assert_eq!(edit(&|editor| assert_eq!(editor.redo().unwrap().unwrap().number(), 2)), first);
    assert_eq!(edit(&|editor| assert_eq!(editor.redo().unwrap().unwrap().number(), 3)), second);
    assert_eq!(edit(&|editor| assert_eq!(editor.redo().unwrap(), None)), second);

    // without the edits every frame is there already
    let mut editor = TakeEditor::begin(open()).unwrap();
    editor.set_edits(Vec::new()).unwrap();
    assert_eq!((editor.take().frame_count(), editor.take().ending()), (41, &TakeEnding::Complete));
    drop(editor);
    assert_eq!(exact_states(&open(), &player), states);
    let sizes: Vec<u64> = open().history().versions().map(|(id, _)| open().version_bytes(id)).collect();
    assert!(sizes[0] > sizes[1] && sizes[1] > sizes[2] && sizes[3] == 0, "{sizes:?}");

    // dropped versions are gone, the current one stays to the bit
    edit(&|editor| assert!(editor.go_to(VersionId::of_number(3).unwrap()).is_ok()));
    assert!(edit_fails(&open(), 9));
    let editor = TakeEditor::begin(TakeFile::open_to_replace(&path).unwrap()).unwrap();
    let (take, saved) = editor.drop_others().unwrap();
    assert!(saved > 0 && take.history().versions().count() == 1);
    assert_eq!((take.ending(), take.history().head().edits.len()), (&TakeEnding::Complete, 2));
    assert_eq!(exact_states(&open(), &player), second);
    assert_eq!(names_in(folder.path()), ["a.obj", "s.toml", "t.take"]);
}

/// Whether a version of this number is refused, and the file left alone.
fn edit_fails(take: &TakeFile, number: usize) -> bool {
    let before = fs::read(take.path()).unwrap();
    let mut editor = TakeEditor::begin(TakeFile::open(take.path()).unwrap()).unwrap();
    let failed = editor.go_to(VersionId::of_number(number).unwrap()).is_err();
    failed && fs::read(take.path()).unwrap() == before
}

#[test]
fn a_take_is_extended_past_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let (player, states) = record(folder.path(), "t.take");
    let path = folder.path().join("t.take");
    let mut editor = TakeEditor::begin(TakeFile::open(&path).unwrap()).unwrap();
    editor.extend(0.6).unwrap();
    assert_eq!((editor.take().frame_goal(), editor.take().ending()), (61, &TakeEnding::Unfinished));
    let (take, mut recorder) = editor.record();
    let scene = Scene { seconds: 0.6, ..scene_in(folder.path()).0 };
    let mut again = Player::build(&scene).unwrap();
    again.resume_from(&take.bookmark().unwrap().unwrap()).unwrap();
    again.record(&mut recorder, &mut [], |_| {}).unwrap();
    let take = TakeFile::open(&path).unwrap();
    assert_eq!((take.frame_count(), take.ending()), (61, &TakeEnding::Complete));
    let found = exact_states(&take, &player);
    assert_eq!(found[..41], states);
    let mut whole = Player::build(&scene).unwrap();
    whole.play(&mut [], |_| {}).unwrap();
    assert_eq!(found[60], whole.state);
}

/// Cut at any byte, as a kill leaves it: the take opens, every version that it has is a beginning of what it was, and each change of versions is there or is not.
#[test]
fn a_take_with_versions_cut_at_any_byte_has_each_edit_or_has_not() {
    let folder = tempfile::tempdir().unwrap();
    let (player, states) = record(folder.path(), "t.take");
    let path = folder.path().join("t.take");
    let recorded = fs::metadata(&path).unwrap().len() as usize;
    let edited = edit_and_record(folder.path(), &path, &[gravity_edit(0.2)]);
    TakeEditor::begin(TakeFile::open(&path).unwrap()).unwrap().undo().unwrap();
    let whole = fs::read(&path).unwrap();
    let cut = folder.path().join("cut.take");
    let mut seen = [0; 3];
    let mut seed = 7u64;
    for _ in 0..120 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // most of them in the changes of versions, which are short
        let spread = (seed >> 33) as usize % (whole.len() - recorded);
        let near = match seed >> 20 & 3 {
            0 => spread % 300,
            1 => whole.len() - recorded - 1 - spread % 100,
            _ => spread,
        };
        let end = recorded + near;
        fs::write(&cut, &whole[..end]).unwrap();
        let take = TakeFile::open(&cut).unwrap();
        let quick = TakeFile::open_quickly(&cut).unwrap();
        assert_eq!((quick.frame_count(), quick.ending()), (take.frame_count(), take.ending()));
        let (versions, head) = (take.history().versions().count(), take.history().head_id());
        assert_eq!(head.number(), versions, "{end}");
        let expected = if versions == 1 { &states } else { &edited };
        assert_eq!(exact_states(&take, &player)[..], expected[..take.frame_count()]);
        seen[versions] += 1;
    }
    assert!(seen[1] > 5 && seen[2] > 5, "{seen:?}");
}

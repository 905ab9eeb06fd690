//! The thread of a session: simulates, records, edits and looks ahead.

use super::hand::HandMotion;
use super::opening::Opened;
use super::{Command, Document, GhostRequest, Hand, Phase, Shared, document};
use sinew_io::{EditTable, TakeEditor, TakeFile, TakeRecorder, read_edits};
use sinew_math::Vec3;
use sinew_sim::StepReport;
use sinew_take::{GhostPreview, Ghosts, GhostsEnd, Player, Scene, StateSink, Up};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

/// How often a preview that is being computed is looked at.
const PREVIEW_INTERVAL: Duration = Duration::from_millis(15);
/// Frames over which the real-time factor is measured.
const FACTOR_FRAMES: usize = 20;

/// What a session does in its thread.
pub(super) struct Worker {
    document: Arc<Document>,
    /// The scene with its edits.
    scene: Scene,
    edits: Vec<EditTable>,
    up: Up,
    player: Player,
    path: PathBuf,
    /// Writes frames; none while there is nothing to record.
    recorder: Option<TakeRecorder>,
    is_wanted: bool,
    stopped: bool,
    hand: Option<HandMotion>,
    hand_place: Vec3,
    /// When the next frame under a hand is due.
    hand_due: Instant,
    /// When the hand moved last, until a frame follows it.
    hand_moved: Option<Instant>,
    preview: GhostPreview,
    preview_pending: bool,
    /// When the last frames were done.
    times: VecDeque<Instant>,
    /// The end of the frames that a hand has led, which are being recorded.
    led_frames: usize,
    revision: u64,
    shared: Arc<Shared>,
    received: Receiver<(Command, Instant)>,
}

impl Worker {
    pub(super) fn begin(
        opened: Opened,
        shared: Arc<Shared>,
        received: Receiver<(Command, Instant)>,
    ) -> Worker {
        let Opened { document, player, recorder, up, path, notes } = opened;
        let scene = document.opened.scene.clone();
        let is_new = recorder.is_some();
        let mut worker = Worker {
            document: Arc::new(document),
            scene,
            edits: Vec::new(),
            up,
            player,
            path,
            recorder,
            is_wanted: true,
            stopped: false,
            hand: None,
            hand_place: Vec3::zeros(),
            hand_due: Instant::now(),
            hand_moved: None,
            preview: GhostPreview::default(),
            preview_pending: false,
            times: VecDeque::new(),
            led_frames: 0,
            revision: 1,
            shared,
            received,
        };
        worker.shared.frames().forget_from(0, worker.revision);
        if is_new {
            worker.record_frame(StepReport::default());
        }
        let solver = worker.player.solver();
        let name = if solver.implicit.is_some() { "implicit" } else { "explicit" };
        let (document, path) = (worker.document.clone(), worker.path.clone());
        worker.read_history();
        worker.publish();
        worker.shared.update(|status| {
            status.document = Some(document);
            status.take = path;
            status.notes = notes;
            status.solver = name.into();
            status.progress = None;
            status.rest = None;
            status.phase = Phase::Ready;
        });
        worker
    }

    /// Carries out commands, and simulates in between.
    pub(super) fn run(mut self) {
        loop {
            match self.next_command() {
                Some((Command::End, _)) => break,
                Some((command, asked)) => self.carry_out(command, asked),
                None if self.shared.is_cancelled() => break,
                None => {
                    self.look_at_preview();
                    self.advance();
                }
            }
        }
        self.pause_recording();
    }

    /// A command that waits; without work this waits for one.
    fn next_command(&mut self) -> Option<(Command, Instant)> {
        let ended = Some((Command::End, Instant::now()));
        let wait = if self.hand.is_some() {
            self.hand_due.saturating_duration_since(Instant::now())
        } else if self.has_work() {
            Duration::ZERO
        } else if self.preview_pending {
            PREVIEW_INTERVAL
        } else {
            return self.received.recv().map_or(ended, Some);
        };
        if wait.is_zero() {
            return match self.received.try_recv() {
                Ok(command) => Some(command),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => ended,
            };
        }
        match self.received.recv_timeout(wait) {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => ended,
        }
    }

    fn has_work(&self) -> bool {
        let is_left = self.player.frame() < self.player.frame_count();
        self.hand.is_some() || (self.is_wanted && !self.stopped && is_left)
    }

    fn carry_out(&mut self, command: Command, asked: Instant) {
        let done = match command {
            Command::Simulate(is_wanted) => {
                self.is_wanted = is_wanted;
                self.stopped &= !is_wanted;
                self.times.clear();
                if !is_wanted {
                    self.pause_recording();
                }
                Ok(())
            }
            Command::SetEdits(edits) => self.set_edits(edits),
            Command::Undo => {
                self.go_to(|editor| editor.undo().map(|id| id.is_some()), "there is nothing to undo")
            }
            Command::Redo => {
                self.go_to(|editor| editor.redo().map(|id| id.is_some()), "there is nothing to redo")
            }
            Command::Extend(seconds) => self.extend(seconds),
            Command::Ghosts(request) => self.look_ahead(request),
            Command::Grab(hand) => {
                self.hand_moved = Some(asked);
                self.grab(hand)
            }
            Command::MoveHand(place) => {
                self.hand_place = place;
                self.hand_moved.get_or_insert(asked);
                Ok(())
            }
            Command::Release => self.release(),
            Command::End => Ok(()),
        };
        if let Err(error) = done {
            self.shared.update(|status| status.refusal = Some(error));
        }
        self.publish();
    }

    // --- simulation

    /// Simulates a frame, if there is one to simulate.
    fn advance(&mut self) {
        if !self.has_work() || (self.hand.is_some() && Instant::now() < self.hand_due) {
            return;
        }
        match self.prepare_frame() {
            Err(error) if self.hand.take().is_some() => return self.refuse_hand(error),
            Err(error) => return self.stop(error),
            Ok(()) => {}
        }
        match self.player.advance() {
            Ok(report) => self.record_frame(report),
            Err(error) => self.stop(error.to_string()),
        }
    }

    /// Sees to what the next frame needs: a place for the hand, or a recorder.
    fn prepare_frame(&mut self) -> Result<(), String> {
        let Some(hand) = &mut self.hand else {
            if self.recorder.is_none() {
                let take = TakeFile::open_quickly(&self.path).map_err(|error| error.to_string())?;
                self.recorder = Some(TakeRecorder::resume(&take).map_err(|error| error.to_string())?);
            }
            return Ok(());
        };
        // frames under a hand follow the wall clock
        let period = Duration::from_secs_f64(1.0 / self.document.fps);
        self.hand_due = (self.hand_due + period).max(Instant::now());
        hand.move_to(self.player.frame() + 1, &self.hand_place);
        let mut edits = self.edits.clone();
        edits.extend(hand.edits(None));
        let scene = self.edited(&edits)?;
        self.player.edit(&scene).map_err(|error| error.to_string())
    }

    fn record_frame(&mut self, report: StepReport) {
        let frame = self.player.frame();
        self.shared.frames().insert(frame, Arc::new(self.player.state.clone()), self.revision);
        if self.hand.is_none() {
            let player = &self.player;
            let is_last = frame >= player.frame_count();
            let written = self.recorder.as_mut().map_or(Ok(()), |recorder| {
                recorder.frame(player)?;
                if is_last { recorder.finish(player) } else { Ok(()) }
            });
            if is_last {
                self.recorder = None;
            }
            if let Err(error) = written {
                self.stop(error.to_string());
            }
        }

        // how fast it goes
        let now = Instant::now();
        self.times.push_back(now);
        if self.times.len() > FACTOR_FRAMES {
            self.times.pop_front();
        }
        let seconds = self.times.front().map_or(0.0, |first| (now - *first).as_secs_f64());
        let frames = self.times.len().saturating_sub(1) as f64;
        let factor = if seconds > 0.0 { frames / self.document.fps / seconds } else { 0.0 };
        let inverted = self.player.summary.max_inverted;
        let moved = self.hand_moved.take().filter(|_| self.hand.is_some());
        self.shared.update(|status| {
            if let Some(moved) = moved {
                status.reaction_ms = Some(1e3 * moved.elapsed().as_secs_f64());
            }
            status.report = report;
            status.realtime_factor = factor;
            status.max_inverted = inverted;
        });
        self.publish();
    }

    fn stop(&mut self, why: String) {
        self.hand = None;
        self.stopped = true;
        self.pause_recording();
        self.shared.update(|status| status.stopped = Some(why));
        self.publish();
    }

    /// Writes what is still in memory and gives the file free.
    fn pause_recording(&mut self) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.interrupt(&self.player);
        }
    }

    // --- edits

    /// The scene with other edits, which must fit it.
    fn edited(&self, edits: &[EditTable]) -> Result<Scene, String> {
        let changes =
            read_edits(edits, &self.document.opened.scene, self.up).map_err(|error| error.to_string())?;
        Ok(Scene { edits: changes, ..self.scene.clone() })
    }

    fn editor(&mut self) -> Result<TakeEditor, String> {
        self.pause_recording();
        let take = TakeFile::open_quickly(&self.path).map_err(|error| error.to_string())?;
        TakeEditor::begin(take).map_err(|error| error.to_string())
    }

    /// Replaces all edits, and goes on from the last frame that they leave as it is.
    fn set_edits(&mut self, edits: Vec<EditTable>) -> Result<(), String> {
        self.hand = None;
        let scene = self.edited(&edits)?;
        let mut editor = self.editor()?;
        self.player.edit(&scene).map_err(|error| error.to_string())?;
        if let Err(error) = editor.set_edits(edits) {
            // the take stays as it was, and so does the player
            self.player.edit(&self.scene).map_err(|error| error.to_string())?;
            return Err(error.to_string());
        }
        self.scene = scene;
        self.go_on(editor)
    }

    /// Goes to another version.
    fn go_to(
        &mut self,
        change: impl FnOnce(&mut TakeEditor) -> std::io::Result<bool>,
        nothing: &str,
    ) -> Result<(), String> {
        self.hand = None;
        let mut editor = self.editor()?;
        if !change(&mut editor).map_err(|error| error.to_string())? {
            return Err(nothing.to_owned());
        }
        let head = editor.take().history().head().clone();
        let scene = Scene { seconds: head.seconds, ..self.edited(&head.edits)? };
        self.player.edit(&scene).map_err(|error| error.to_string())?;
        self.scene = scene;
        self.go_on(editor)?;
        // frames of the version before are not those of this one, though both may have as many
        self.begin_revision(0);
        self.read_history();
        Ok(())
    }

    fn extend(&mut self, seconds: f64) -> Result<(), String> {
        let frames = seconds * self.document.fps;
        if !(frames.is_finite() && frames.round() as usize >= self.player.frame()) {
            return Err(format!(
                "a take of {seconds} s would end before its last recorded frame: only longer takes can be chosen"
            ));
        }
        let mut editor = self.editor()?;
        editor.extend(seconds).map_err(|error| error.to_string())?;
        self.scene.seconds = seconds;
        self.player.edit(&self.scene).map_err(|error| error.to_string())?;
        self.go_on(editor)
    }

    /// Continues the current version of the take from its last frame.
    fn go_on(&mut self, editor: TakeEditor) -> Result<(), String> {
        let take = editor.end();
        if let Some(bookmark) = take.bookmark().map_err(|error| error.to_string())? {
            self.player.resume_from(&bookmark).map_err(|error| error.to_string())?;
        }
        let (kept, led) = (take.frame_count(), self.led_frames);
        self.begin_revision(if led > kept { led } else { kept });
        self.stopped = false;
        self.shared.update(|status| status.stopped = None);
        self.times.clear();
        self.read_history();
        Ok(())
    }

    /// What was shown from a frame on is no longer true.
    fn begin_revision(&mut self, from: usize) {
        self.revision += 1;
        let revision = self.revision;
        self.shared.frames().forget_from(from, revision);
        self.shared.update(|status| status.revision = revision);
    }

    /// Tells which edits and versions there are.
    fn read_history(&mut self) {
        let Ok(take) = TakeFile::open_quickly(&self.path) else { return };
        let history = take.history();
        self.edits.clone_from(&history.head().edits);
        let (edits, seconds) = (self.edits.clone(), history.head().seconds);
        let version = (document::number(history.head_id()), history.versions().count());
        let (can_undo, can_redo) = (history.undo_target().is_some(), history.redo_target().is_some());
        let revision = self.revision;
        self.shared.update(|status| {
            status.edits = edits;
            status.version = version;
            status.can_undo = can_undo;
            status.can_redo = can_redo;
            status.seconds = seconds;
            status.revision = revision;
        });
    }

    fn publish(&mut self) {
        let reached = self.player.frame() + 1;
        if reached >= self.led_frames || self.hand.is_some() {
            self.led_frames = if self.hand.is_some() { reached } else { 0 };
        }
        let (frames, goal) = (reached.max(self.led_frames), self.player.frame_count() + 1);
        let (is_simulating, is_held) = (self.has_work(), self.hand.is_some());
        self.shared.update(|status| {
            status.frames = frames;
            status.frame_goal = goal.max(frames);
            status.is_simulating = is_simulating;
            status.is_held = is_held;
        });
    }

    // --- a hand

    /// Goes back to the frame at which it grabs; from there on frames follow the hand, and the wall clock.
    fn grab(&mut self, hand: Hand) -> Result<(), String> {
        self.pause_recording();
        self.go_to_frame(hand.frame)?;
        self.begin_revision(hand.frame + 1);
        self.shared.update(|status| status.reaction_ms = None);
        self.hand_place = hand.place;
        self.hand_due = Instant::now();
        self.hand = Some(HandMotion::begin(hand, self.document.fps, &self.edits));
        self.stopped = false;
        self.shared.update(|status| status.stopped = None);
        Ok(())
    }

    /// Nothing was grabbed: the take is as it was.
    fn refuse_hand(&mut self, why: String) {
        let refusal = self.go_to_last_frame().err().unwrap_or(why);
        self.shared.update(|status| status.refusal = Some(refusal));
        self.publish();
    }

    /// Makes the motion of the hand an edit. The frames that it led are simulated again, with the same result, and recorded.
    fn release(&mut self) -> Result<(), String> {
        let Some(hand) = self.hand.take() else { return Ok(()) };
        let end = self.player.frame();
        if end == hand.frame() {
            return self.go_to_last_frame();
        }
        let mut edits = self.edits.clone();
        edits.extend(hand.edits(Some(end)));
        edits.sort_by(|a, b| a.time.total_cmp(&b.time));
        self.led_frames = end + 1;
        let set = self.set_edits(edits);
        if set.is_err() {
            self.led_frames = 0;
            self.go_to_last_frame()?;
        }
        set
    }

    fn go_to_frame(&mut self, frame: usize) -> Result<(), String> {
        let take = TakeFile::open_quickly(&self.path).map_err(|error| error.to_string())?;
        let bookmark = take.bookmark_at(frame).map_err(|error| error.to_string())?;
        let bookmark = bookmark.ok_or_else(|| format!("frame {frame} is not recorded yet"))?;
        self.player.resume_from(&bookmark).map_err(|error| error.to_string())
    }

    fn go_to_last_frame(&mut self) -> Result<(), String> {
        self.player.edit(&self.scene).map_err(|error| error.to_string())?;
        let take = TakeFile::open_quickly(&self.path).map_err(|error| error.to_string())?;
        self.led_frames = 0;
        let last = take.frame_count().saturating_sub(1);
        self.begin_revision(last + 1);
        self.go_to_frame(last)
    }

    // --- previews

    fn look_ahead(&mut self, request: Option<GhostRequest>) -> Result<(), String> {
        self.preview.cancel();
        self.preview_pending = false;
        *self.shared.ghosts() = Ghosts::default();
        let Some(request) = request else { return Ok(()) };
        let mut copy = self.player.fork().ok_or("there is no preview of this scene")?;
        self.pause_recording();
        let take = TakeFile::open_quickly(&self.path).map_err(|error| error.to_string())?;
        let bookmark = take.bookmark_at(request.frame).map_err(|error| error.to_string())?;
        let bookmark = bookmark.ok_or_else(|| format!("frame {} is not recorded yet", request.frame))?;
        copy.edit(&self.edited(&request.edits)?).map_err(|error| error.to_string())?;
        copy.resume_from(&bookmark).map_err(|error| error.to_string())?;
        self.preview.start(&copy, request.span).map_err(|error| error.to_string())?;
        self.preview_pending = true;
        Ok(())
    }

    fn look_at_preview(&mut self) {
        if !self.preview_pending {
            return;
        }
        let ghosts = self.preview.ghosts();
        self.preview_pending = ghosts.end == GhostsEnd::Pending;
        let is_new = *self.shared.ghosts() != ghosts;
        if is_new {
            *self.shared.ghosts() = ghosts;
            self.shared.update(|_| {});
        }
    }
}

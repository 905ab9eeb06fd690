//! A take that is being directed: a handle to the thread that simulates and records it.
//!
//! The window never waits for physics. It sends [`Command`]s, and reads a [`Status`] and cached states whenever it draws. All frames are recorded to a take file as they are made, so that a crash loses at
//! most the last second; edits are those of the command line, and re-simulate only what follows them.

mod document;
mod frame_cache;
mod hand;
mod opening;
mod rest_look;
mod worker;

pub use document::Document;
pub use frame_cache::FrameCache;
pub use hand::{Hand, HandTarget};
pub use opening::OpenRequest;
pub use rest_look::RestLook;

use sinew_io::{EditTable, TakeFile};
use sinew_sim::State;
use sinew_take::{GhostSpan, Ghosts};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use worker::Worker;

/// What a session is asked for.
pub enum Command {
    /// To simulate on until the end of the take, or to pause.
    Simulate(bool),
    /// To replace all edits of the take, as one version that can be undone.
    SetEdits(Vec<EditTable>),
    /// To return to the version before.
    Undo,
    /// To return to the version that undo left.
    Redo,
    /// To make the take longer, to a length (s).
    Extend(f64),
    /// To look ahead from a frame, with other edits than those of the take, or to stop doing so.
    Ghosts(Option<GhostRequest>),
    /// A hand grabs something at a frame.
    Grab(Hand),
    /// The hand that has grabbed moves to a place (m).
    MoveHand(sinew_math::Vec3),
    /// It lets go.
    Release,
    /// To end.
    End,
}

/// Where a preview begins, and how far it goes.
#[derive(Clone, Debug)]
pub struct GhostRequest {
    /// The frame that it begins at.
    pub frame: usize,
    /// How far it looks.
    pub span: GhostSpan,
    /// The edits that it is simulated with.
    pub edits: Vec<EditTable>,
}

/// How far a session is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Phase {
    /// The input is being read, the cage built, the preroll simulated: what is done, and the finished fraction if it is known.
    #[default]
    Opening,
    /// It can be played and edited.
    Ready,
    /// It could not be opened: why, and what to do.
    Failed(String),
}

/// What a window shows of a session.
#[derive(Clone, Default)]
pub struct Status {
    /// How far it is.
    pub phase: Phase,
    /// What is being done while it opens.
    pub doing: String,
    /// The finished fraction of that, where it is known.
    pub progress: Option<f32>,
    /// What is being opened, at rest, until it has flesh.
    pub rest: Option<Arc<RestLook>>,
    /// The scene and its model, once they are built.
    pub document: Option<Arc<Document>>,
    /// Counts changes of what recorded frames contain.
    pub revision: u64,
    /// How many frames there are to show.
    pub frames: usize,
    /// How many frames the take will have.
    pub frame_goal: usize,
    /// Whether frames are being simulated.
    pub is_simulating: bool,
    /// Whether a hand holds something.
    pub is_held: bool,
    /// How long it took from the last motion of the hand until a frame that follows it was simulated (ms).
    pub reaction_ms: Option<f64>,
    /// Why the simulation stopped before the end.
    pub stopped: Option<String>,
    /// The last command that could not be carried out, and why.
    pub refusal: Option<String>,
    /// What a user should know of the scene and the take.
    pub notes: Vec<String>,
    /// Simulated seconds per second, over the last frames.
    pub realtime_factor: f64,
    /// The last steps: sub-steps of a frame, inverted tets, contacts.
    pub report: sinew_sim::StepReport,
    /// The largest number of tets inverted at the same time.
    pub max_inverted: usize,
    /// The name of the time integrator.
    pub solver: String,
    /// The edits of the current version.
    pub edits: Vec<EditTable>,
    /// The number of the current version, and of all versions.
    pub version: (usize, usize),
    /// Whether there is a version to return to.
    pub can_undo: bool,
    /// Whether there is a version that undo left.
    pub can_redo: bool,
    /// The length of the take (s).
    pub seconds: f64,
    /// The file that records it.
    pub take: PathBuf,
}

/// What the threads of a session share.
pub(crate) struct Shared {
    status: Mutex<Status>,
    frames: Mutex<FrameCache>,
    ghosts: Mutex<Ghosts>,
    is_cancelled: AtomicBool,
    /// Called when something has changed.
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Shared {
    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn frames(&self) -> MutexGuard<'_, FrameCache> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ghosts(&self) -> MutexGuard<'_, Ghosts> {
        self.ghosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the status and says so.
    fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status());
        (self.wake)();
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// The last frame that a hand has led, with its revision, while it holds something.
    pub(crate) fn led_frame(&self) -> Option<(usize, u64)> {
        let status = self.status();
        status.is_held.then(|| (status.frames.saturating_sub(1), status.revision))
    }

    /// The state of a frame: from memory, else from the take file. Reads the file, so that windows do not call it.
    pub(crate) fn state_at(&self, frame: usize, reader: &mut TakeReader) -> Option<Arc<State>> {
        if let Some(state) = self.frames().get(frame) {
            return Some(state);
        }
        let (path, document, revision) = {
            let status = self.status();
            (status.take.clone(), status.document.clone()?, status.revision)
        };
        let state = reader.read(&path, &document, revision, frame)?;
        self.frames().insert(frame, state.clone(), revision);
        Some(state)
    }
}

/// Reads frames of a take file while it is being recorded.
#[derive(Default)]
pub(crate) struct TakeReader {
    opened: Option<(TakeFile, u64)>,
}

impl TakeReader {
    fn read(&mut self, path: &Path, document: &Document, revision: u64, frame: usize) -> Option<Arc<State>> {
        let known = self
            .opened
            .as_ref()
            .is_some_and(|(take, own)| *own == revision && take.path() == path && frame < take.frame_count());
        if !known {
            self.opened = TakeFile::open_quickly(path).ok().map(|take| (take, revision));
        }
        let (take, _) = self.opened.as_ref()?;
        let bookmark = take.bookmark_at(frame).ok()??;
        bookmark.checkpoint.restore(&document.model).ok().map(Arc::new)
    }
}

/// Runs work on threads of its own: simulation and pictures do not wait for each other. While something else is to be seen, one core is left to the interface.
pub(crate) fn in_own_pool<T: Send>(
    name: &'static str,
    leaves_core: bool,
    work: impl FnOnce() -> T + Send,
) -> T {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let count = if leaves_core { cores.saturating_sub(1).max(1) } else { cores };
    let threads = rayon::ThreadPoolBuilder::new().num_threads(count);
    match threads.thread_name(move |i| format!("{name} {i}")).build() {
        Ok(pool) => pool.install(work),
        // no further threads: it is slower, and the same
        Err(_) => work(),
    }
}

/// A take that is being directed.
pub struct Session {
    /// Each with the time at which it was asked for.
    commands: Sender<(Command, Instant)>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Session {
    /// Opens something in the background, and begins to simulate it. `wake` is called from other threads whenever something has changed.
    pub fn open(request: OpenRequest, wake: impl Fn() + Send + Sync + 'static) -> Session {
        let shared = Arc::new(Shared {
            status: Mutex::new(Status { doing: "opening".into(), ..Status::default() }),
            frames: Mutex::default(),
            ghosts: Mutex::default(),
            is_cancelled: AtomicBool::new(false),
            wake: Box::new(wake),
        });
        let (commands, received) = mpsc::channel();
        let own = shared.clone();
        let run = move || match in_own_pool("opening", false, || opening::open(&request, &own)) {
            Ok(opened) => in_own_pool("simulation", true, || Worker::begin(opened, own, received).run()),
            Err(error) => own.update(|status| status.phase = Phase::Failed(error)),
        };
        let thread = std::thread::Builder::new().name("simulation".into()).spawn(run);
        let thread = match thread {
            Ok(thread) => Some(thread),
            Err(error) => {
                shared
                    .update(|status| status.phase = Phase::Failed(format!("no thread to simulate: {error}")));
                None
            }
        };
        Session { commands, shared, thread }
    }

    /// Asks for something; what comes of it is seen in the status.
    pub fn send(&self, command: Command) {
        // a session that has failed has nobody to ask, which its status says
        let _ = self.commands.send((command, Instant::now()));
    }

    /// What there is to show.
    pub fn status(&self) -> Status {
        self.shared.status().clone()
    }

    /// What a preview has found so far.
    pub fn ghosts(&self) -> Ghosts {
        self.shared.ghosts().clone()
    }

    /// The state of a frame, if it is in memory.
    pub fn state_in_memory(&self, frame: usize) -> Option<Arc<State>> {
        self.shared.frames().get(frame)
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Forgets the last refusal, once it was read.
    pub fn clear_refusal(&self) {
        self.shared.status().refusal = None;
    }

    /// Waits until the status fulfils a condition, up to a time; for tests and programs without a window. Returns whether it does.
    pub fn wait_until(&self, seconds: f64, holds: impl Fn(&Status) -> bool) -> bool {
        let start = Instant::now();
        loop {
            if holds(&self.shared.status()) {
                return true;
            }
            if start.elapsed().as_secs_f64() > seconds {
                return false;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

impl Drop for Session {
    /// Stops the simulation; what is recorded is written.
    fn drop(&mut self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
        let _ = self.commands.send((Command::End, Instant::now()));
        // a frame ends soon, what is being opened may take long and ends by itself
        let is_opening = self.shared.status().phase == Phase::Opening;
        if let Some(thread) = self.thread.take().filter(|_| !is_opening) {
            // a panic of the thread was reported by it
            let _ = thread.join();
        }
    }
}

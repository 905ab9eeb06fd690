//! Signal handling: an interrupted program saves what it recorded and leaves no temporary files behind.
//!
//! While frames are simulated or replayed, the first signal is a request that the frame loop checks after each frame. A second signal, a signal at any other time, or a frame
//! that takes longer than [`PATIENCE`] ends the program at once. Either way the user is told how to continue. Signals that the parent process ignores (`nohup`) stay ignored.
//! On systems other than Unix nothing is handled, and the system ends the program.

use core::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How long the program waits for the current frame after a signal.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);

/// The number of the first signal; 0 until there is one.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// The last frame that a frame loop has finished.
static FRAME: AtomicUsize = AtomicUsize::new(0);
/// Whether a frame loop is running, which checks [`SIGNAL`].
static IS_PLAYING: AtomicBool = AtomicBool::new(false);
/// Whether a thread has begun to end the program.
static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// What the running command would lose by an interrupt.
static WORK: Mutex<Work> = Mutex::new(Work::Unrecorded);

/// What an interrupt loses.
enum Work {
    /// Work that is simply done again.
    Unrecorded,
    /// A whole simulation, since it is not recorded.
    Unsaved,
    /// Only the frames not yet recorded in this take.
    Recorded(PathBuf),
}

/// A frame loop that checks for interrupts, until it is dropped.
pub(crate) struct FrameLoop;

impl FrameLoop {
    /// A simulation; `take` is the path it is recorded to, if it is.
    pub(crate) fn simulating(take: Option<&Path>) -> FrameLoop {
        FrameLoop::of(take.map_or(Work::Unsaved, |take| Work::Recorded(take.to_owned())))
    }

    /// Work that can be repeated at any time.
    pub(crate) fn replaying() -> FrameLoop {
        FrameLoop::of(Work::Unrecorded)
    }

    fn of(work: Work) -> FrameLoop {
        *WORK.lock().unwrap_or_else(PoisonError::into_inner) = work;
        IS_PLAYING.store(true, Ordering::SeqCst);
        FrameLoop
    }

    /// Whether to continue; called after every frame with its number.
    pub(crate) fn flow(&self, frame: usize) -> ControlFlow<()> {
        FRAME.store(frame, Ordering::SeqCst);
        match SIGNAL.load(Ordering::SeqCst) {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

impl Drop for FrameLoop {
    fn drop(&mut self) {
        IS_PLAYING.store(false, Ordering::SeqCst);
        *WORK.lock().unwrap_or_else(PoisonError::into_inner) = Work::Unrecorded;
    }
}

/// The number of the signal that stopped a frame loop.
pub(crate) fn signal() -> i32 {
    SIGNAL.load(Ordering::SeqCst)
}

/// Lets one thread end the program; any other thread that calls it blocks until the program has ended.
pub(crate) fn claim_end() {
    if IS_ENDING.swap(true, Ordering::SeqCst) {
        loop {
            std::thread::park();
        }
    }
}

/// What was kept and how to continue; called before a stopped frame loop drops its outputs.
pub(crate) fn message() -> String {
    let frames = FRAME.load(Ordering::SeqCst) + 1;
    message_that_keeps(&if frames == 1 { "1 frame".into() } else { format!("{frames} frames") })
}

/// The same, given which frames are kept.
fn message_that_keeps(kept: &str) -> String {
    match &*WORK.lock().unwrap_or_else(PoisonError::into_inner) {
        Work::Recorded(take) if !sinew_files::is_temporary(take) => {
            let take = take.display();
            format!("interrupted: {kept} are kept in {take}; to continue: sinew simulate --resume {take}")
        }
        Work::Unrecorded => "interrupted: nothing was written".into(),
        Work::Unsaved | Work::Recorded(_) => {
            "interrupted: nothing was kept; to be able to resume, record the take: sinew simulate INPUT -o NAME.take"
                .into()
        }
    }
}

/// Starts to handle signals.
#[cfg(unix)]
pub(crate) fn listen() {
    let wanted: Vec<i32> = SIGNALS.into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // if this fails, signals end the program as usual
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let first = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
            if first.is_err() || !IS_PLAYING.load(Ordering::SeqCst) {
                end_now();
            }
            std::thread::spawn(|| {
                std::thread::sleep(PATIENCE);
                end_now();
            });
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn listen() {}

#[cfg(unix)]
const SIGNALS: [i32; 3] =
    [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];

/// Removes temporary files and ends the program without waiting for its other threads.
#[cfg(unix)]
fn end_now() {
    claim_end();
    // frames that wait to be written are lost
    let message = message_that_keeps("the frames recorded so far");
    sinew_files::remove_temporaries();
    fail!("{message}");
    std::process::exit(128 + signal());
}

/// Whether the parent process set a signal to be ignored, as `nohup` does with SIGHUP.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    use std::io::IsTerminal;
    let mask = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    });
    match mask {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        // without /proc: under `nohup` there is no terminal that could hang up
        None => {
            let at_terminal = std::io::stdin().is_terminal()
                || std::io::stdout().is_terminal()
                || std::io::stderr().is_terminal();
            signal == signal_hook::consts::SIGHUP && !at_terminal
        }
    }
}

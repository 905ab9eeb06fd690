//! Interrupts: a signal ends the program with what was recorded saved and nothing temporary left behind.
//!
//! While frames are simulated or replayed, the first signal is a request that the frame loop sees after its frame. At any other time, or at the second signal, or after
//! [`PATIENCE`], the program ends at once. Both ways say how to go on. Signals that are ignored (`nohup`) stay ignored. Elsewhere than on Unix the system ends the program.

use core::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// How long a frame may take until the program ends without it (s).
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);

/// The first signal, 0 before there was one.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Whether a frame loop runs, which looks at [`SIGNAL`].
static IS_PLAYING: AtomicBool = AtomicBool::new(false);
/// Whether somebody has begun to end the program.
static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// What there is to go on with.
static WORK: Mutex<Work> = Mutex::new(Work::Unrecorded);

/// What is lost by an interrupt.
enum Work {
    /// Nothing that could be gone on with.
    Unrecorded,
    /// A simulation that could have been recorded.
    Unsaved,
    /// All that was not recorded.
    Recorded(PathBuf),
}

/// A frame loop that looks at interrupts, until it is dropped.
pub(crate) struct FrameLoop;

impl FrameLoop {
    /// A simulation, recorded under this name if it is.
    pub(crate) fn simulating(take: Option<&Path>) -> FrameLoop {
        FrameLoop::of(take.map_or(Work::Unsaved, |take| Work::Recorded(take.to_owned())))
    }

    /// Work that can be done again at any time.
    pub(crate) fn replaying() -> FrameLoop {
        FrameLoop::of(Work::Unrecorded)
    }

    fn of(work: Work) -> FrameLoop {
        *WORK.lock().unwrap_or_else(PoisonError::into_inner) = work;
        IS_PLAYING.store(true, Ordering::SeqCst);
        FrameLoop
    }

    /// Whether to go on, asked after every frame.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
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

/// Claims the end of the program for one thread; any other that wants it waits until it comes.
pub(crate) fn claim_end() {
    if IS_ENDING.swap(true, Ordering::SeqCst) {
        loop {
            std::thread::park();
        }
    }
}

/// What was kept and how to go on, asked before a stopped frame loop drops what it writes.
pub(crate) fn message() -> String {
    match &*WORK.lock().unwrap_or_else(PoisonError::into_inner) {
        Work::Recorded(take) if !sinew_files::is_temporary(take) => {
            let take = take.display();
            format!(
                "interrupted: what was recorded is kept, and `sinew simulate --resume {take}` goes on from there"
            )
        }
        Work::Unrecorded => "interrupted: nothing was written".into(),
        Work::Unsaved | Work::Recorded(_) => {
            "interrupted: nothing was kept; a simulation that is recorded with -o NAME.take can be resumed"
                .into()
        }
    }
}

/// Listens to signals from now on.
#[cfg(unix)]
pub(crate) fn listen() {
    let wanted: Vec<i32> = SIGNALS.into_iter().filter(|signal| !is_ignored(*signal)).collect();
    // without a listener the system ends the program, as it does others
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

/// Ends the program without waiting for its other threads.
#[cfg(unix)]
fn end_now() {
    claim_end();
    let message = message();
    sinew_files::remove_temporaries();
    warn!("{message}");
    std::process::exit(128 + signal());
}

/// Whether whoever started the program wants it to ignore a signal, as `nohup` does with hang-ups.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    use std::io::IsTerminal;
    let mask = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    });
    match mask {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        // where it cannot be asked: `nohup` leaves no terminal to hang up
        None => {
            let at_terminal = std::io::stdin().is_terminal()
                || std::io::stdout().is_terminal()
                || std::io::stderr().is_terminal();
            signal == signal_hook::consts::SIGHUP && !at_terminal
        }
    }
}

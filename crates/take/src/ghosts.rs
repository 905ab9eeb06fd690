//! Ghost previews: what a take does next, computed on a copy in the background.                    \[Transue2014, VIII\]
//!
//! A preview advances a copy of a player by n frames and keeps every m-th. It has its own thread, ends early when it is cancelled or started again, and never touches the player it was made from: neither
//! its state nor what records it. A preview that diverges keeps what it has up to there, and says so.

use crate::{Frame, PlayError, Player};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// How far a preview looks ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GhostSpan {
    /// How many frames are simulated.
    pub frames: usize,
    /// Every how many frames one is kept, 1 or more.
    pub every: usize,
}

/// A frame to come.
#[derive(Clone, Debug, PartialEq)]
pub struct Ghost {
    /// The number of the frame in the take.
    pub index: usize,
    /// Its surfaces, bones and obstacles.
    pub frame: Arc<Frame>,
}

/// What a preview has found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ghosts {
    /// The kept frames, in order. If the simulation diverged, also the last sound one.
    pub kept: Vec<Ghost>,
    /// How it ended, if it has.
    pub end: GhostsEnd,
}

/// How a preview ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum GhostsEnd {
    /// Not yet: frames are being simulated, or there is no preview.
    #[default]
    Pending,
    /// All frames are there.
    Complete,
    /// The simulation diverged.
    Diverged {
        /// The last sound frame.
        index: usize,
        /// What happened, where, and what to try.
        message: String,
    },
    /// It was cancelled.
    Cancelled,
}

/// A preview of the frames to come, computed in the background.
#[derive(Debug, Default)]
pub struct GhostPreview {
    worker: Option<(JoinHandle<()>, Arc<Shared>)>,
}

/// What a preview shares with its thread.
#[derive(Debug, Default)]
struct Shared {
    is_cancelled: AtomicBool,
    ghosts: Mutex<Ghosts>,
}

impl GhostPreview {
    /// Cancels the preview that is running, if there is one, and begins another from the current frame of a player. Returns at once.
    ///
    /// # Errors
    /// If the player cannot be copied, see [`Player::fork`].
    pub fn start(&mut self, player: &Player, span: GhostSpan) -> Result<(), PlayError> {
        self.cancel();
        let copy = player.fork().ok_or_else(|| {
            PlayError::Scene(
                "controllers that a program has added cannot be copied, so that there is no preview".into(),
            )
        })?;
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        let worker =
            std::thread::Builder::new().name("ghosts".into()).spawn(move || look_ahead(copy, span, &own));
        let worker = worker.map_err(|error| PlayError::Scene(format!("no thread for a preview: {error}")))?;
        self.worker = Some((worker, shared));
        Ok(())
    }

    /// What has been found so far.
    pub fn ghosts(&self) -> Ghosts {
        self.worker.as_ref().map_or_else(Ghosts::default, |(_, shared)| shared.lock().clone())
    }

    /// Stops the preview within a frame; what it has found so far stays.
    pub fn cancel(&mut self) {
        if let Some((_, shared)) = &self.worker {
            shared.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Waits for the end of the preview.
    pub fn wait(&mut self) -> Ghosts {
        let Some((worker, shared)) = self.worker.take() else { return Ghosts::default() };
        if let Err(panic) = worker.join() {
            std::panic::resume_unwind(panic);
        }
        let ghosts = shared.lock().clone();
        ghosts
    }
}

impl Drop for GhostPreview {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Ghosts> {
        self.ghosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, player: &Player) {
        let mut frame = Frame::default();
        frame.update(&player.model, &player.state);
        self.lock().kept.push(Ghost { index: player.frame(), frame: Arc::new(frame) });
    }
}

/// Advances a copy of a player and keeps some of its frames.
fn look_ahead(mut player: Player, span: GhostSpan, shared: &Shared) {
    let every = span.every.max(1);
    let (mut done, mut kept) = (0, 0);
    let end = loop {
        if shared.is_cancelled.load(Ordering::Relaxed) {
            break GhostsEnd::Cancelled;
        }
        if done == span.frames {
            break GhostsEnd::Complete;
        }
        // frames before the take have no ghosts
        let is_preroll = player.is_in_preroll();
        match player.advance_by_one() {
            Ok(()) if is_preroll => {}
            Ok(()) => {
                done += 1;
                if done % every == 0 {
                    shared.keep(&player);
                    kept = done;
                }
            }
            Err(error) => {
                if kept < done {
                    shared.keep(&player);
                }
                break GhostsEnd::Diverged { index: player.frame(), message: error.to_string() };
            }
        }
    };
    shared.lock().end = end;
}

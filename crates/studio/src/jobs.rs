//! Work in the background that ends by itself or is cancelled: baking and rendering.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};

/// How far a job is, and whether it should stop.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    done: AtomicUsize,
    total: AtomicUsize,
    is_cancelled: AtomicBool,
}

impl Progress {
    /// Says how much is done.
    pub(crate) fn report(&self, done: usize, total: usize) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Whether it should stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// The finished fraction.
    pub(crate) fn fraction(&self) -> f32 {
        let total = self.total.load(Ordering::Relaxed).max(1);
        self.done.load(Ordering::Relaxed) as f32 / total as f32
    }
}

/// A job.
pub(crate) struct Job {
    /// What it does.
    pub(crate) name: String,
    progress: Arc<Progress>,
    result: Receiver<Result<String, String>>,
}

impl Job {
    /// Begins work in a thread; it returns what was done, or why not. `wake` is called at its end.
    pub(crate) fn start(
        name: impl Into<String>,
        wake: impl Fn() + Send + 'static,
        work: impl FnOnce(&Progress) -> Result<String, String> + Send + 'static,
    ) -> Result<Job, String> {
        let progress = Arc::new(Progress::default());
        let (sender, result) = mpsc::channel();
        let own = progress.clone();
        let run = move || {
            // nobody waits for it if the window was closed
            let _ = sender.send(work(&own));
            wake();
        };
        let thread = std::thread::Builder::new().name("job".into()).spawn(run);
        thread.map_err(|error| format!("no thread for it: {error}"))?;
        Ok(Job { name: name.into(), progress, result })
    }

    /// The finished fraction.
    pub(crate) fn fraction(&self) -> f32 {
        self.progress.fraction()
    }

    /// Asks it to stop.
    pub(crate) fn cancel(&self) {
        self.progress.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Its end, if it has ended.
    pub(crate) fn end(&self) -> Option<Result<String, String>> {
        match self.result.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(format!("{} failed: this is a fault of the program", self.name)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(job: &Job) -> Result<String, String> {
        loop {
            if let Some(end) = job.end() {
                return end;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_job_that_is_cancelled_ends() {
        let work = |progress: &Progress| {
            while !progress.is_cancelled() {
                std::thread::yield_now();
            }
            Err("cancelled".to_owned())
        };
        let job = Job::start("work", || {}, work).unwrap();
        assert!(job.end().is_none());
        job.cancel();
        assert_eq!(wait(&job), Err("cancelled".into()));
    }

    #[test]
    fn a_job_that_fails_says_so() {
        let job = Job::start("work", || {}, |_| panic!("on purpose")).unwrap();
        assert!(wait(&job).unwrap_err().contains("fault of the program"));
    }
}

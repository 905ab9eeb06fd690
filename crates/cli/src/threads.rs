//! The thread pool that a command runs in.

use crate::failure::Failure;

/// Builds a pool with this many threads; `None` for one per core.
pub(crate) fn thread_pool(threads: Option<usize>) -> Result<rayon::ThreadPool, Failure> {
    if threads == Some(0) || threads > Some(1024) {
        return Err(Failure::input("--threads takes a number from 1 to 1024"));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| Failure::input(format!("the worker threads could not be started: {error}")))
}

//! How long a run has gone, kept on disk while it goes: whatever ends a session, what it took counts as the run's.

use crate::run_dir::RunDir;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use tracing::debug;

/// Time between two notes: as much of a session is not counted if it is killed.
const EVERY: Duration = Duration::from_secs(1);

/// Does `work` and notes meanwhile, and once it is done, how long the run has gone, which took `seconds_before` until the session
/// had `begun`.
pub(super) fn timed<T>(run: &RunDir, seconds_before: f64, begun: Instant, work: impl FnOnce() -> T) -> T {
    let (working, over) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut is_over = false;
            while !is_over {
                is_over = over.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
                // Nobody's work ends for that; where the disk is full it soon will.
                if let Err(error) = run.note_seconds(seconds_before + begun.elapsed().as_secs_f64()) {
                    debug!("{error}");
                }
            }
        });
        // Dropped when the work is done, even where it panics.
        let _working = working;
        work()
    })
}

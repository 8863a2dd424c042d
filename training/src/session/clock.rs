//! How long a run has gone, kept on disk while it goes: whatever ends a session, what it took counts as the run's.

use crate::run_dir::RunDir;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use tracing::debug;

/// Time between two notes: as much of a session is not counted if it is killed.
const EVERY: Duration = Duration::from_secs(1);

/// Does `work` and notes meanwhile, and once it is done, how long the run has gone, which took `seconds_before` until the session
/// had `begun`. Returns what came of the work and the last note, in seconds.
///
/// The notes are written on a thread of their own, one after the other: on a slow disk there are fewer of them, and the session
/// waits for none but the last.
pub(super) fn timed<T>(run: &RunDir, seconds_before: f64, begun: Instant, work: impl FnOnce() -> T) -> (T, f64) {
    let (working, over) = channel::<()>();
    thread::scope(|scope| {
        let notes = scope.spawn(move || {
            loop {
                let is_over = over.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
                let seconds = seconds_before + begun.elapsed().as_secs_f64();
                // Nobody's work ends for that; where the disk is full it soon will.
                if let Err(error) = run.note_seconds(seconds) {
                    debug!("{error}");
                }
                if is_over {
                    return seconds;
                }
            }
        });
        let done = {
            // Dropped when the work is done, even where it panics.
            let _working = working;
            work()
        };
        (done, notes.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

//! How far long work has come: a bar, or a line now and then where standard error is no terminal.

use super::tell;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two lines.
pub const LINE_EVERY: Duration = Duration::from_secs(15);

/// Length of the bar.
const STEPS: f64 = 1000.0;

/// The progress of long work, told from any thread.
pub(super) struct WorkProgress {
    bar: ProgressBar,
    /// Goes before each line: which of several pieces of work this is.
    prefix: String,
    /// The part that was done before it began, 0..=1.
    earlier: f64,
    /// What is said of the time left beyond its length.
    at_most: &'static str,
    begun: Instant,
    lines: Mutex<LineClock>,
}

impl WorkProgress {
    /// Of the work the part `earlier`, 0..=1, was done before. Nothing is shown yet. Work that `may_end_early` has its time
    /// left told as a bound.
    pub fn new(earlier: f64, prefix: &str, may_end_early: bool) -> WorkProgress {
        let bar = ProgressBar::new(STEPS as u64).with_prefix(prefix.to_string());
        if let Ok(style) = ProgressStyle::with_template("{prefix}{bar:24} {msg}") {
            bar.set_style(style);
        }
        let begun = Instant::now();
        let lines = Mutex::new(LineClock::new(LINE_EVERY, begun));
        let at_most = if may_end_early { " at most" } else { "" };
        WorkProgress { bar, prefix: prefix.to_string(), earlier, at_most, begun, lines }
    }

    /// Tells that the part `done`, 0..=1, is done, what that is in words, and what else there is to say.
    pub fn tell(&self, done: f64, words: &str, more: &str) {
        let now = Instant::now();
        let left = match time_left(done - self.earlier, 1.0 - done, now - self.begun) {
            Some(left) => format!("{} left{}", humantime::format_duration(left), self.at_most),
            None => "time left unknown".to_owned(),
        };
        let message = format!("{words}, {left}, {more}");
        if !self.bar.is_hidden() {
            self.bar.set_position((done * STEPS) as u64);
            self.bar.set_message(message);
        } else if self.lines.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).due(now) {
            tell(&format!("{}{message}", self.prefix));
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The time that the part `left` of some work will take if the part `done` took so long, in whole seconds; `None` before
/// anything is done.
pub fn time_left(done: f64, left: f64, took: Duration) -> Option<Duration> {
    let seconds = took.as_secs_f64() * left.max(0.0) / done;
    (done > 0.0).then(|| Duration::try_from_secs_f64(seconds.round()).ok()).flatten()
}

/// Says when the next line is due.
#[derive(Debug)]
pub struct LineClock {
    every: Duration,
    last: Instant,
}

impl LineClock {
    /// Lines every so often from `begun` on.
    pub fn new(every: Duration, begun: Instant) -> LineClock {
        LineClock { every, last: begun }
    }

    /// Whether a line is due; if so, the next one is due after the whole time again.
    pub fn due(&mut self, now: Instant) -> bool {
        let due = now.saturating_duration_since(self.last) >= self.every;
        if due {
            self.last = now;
        }
        due
    }
}

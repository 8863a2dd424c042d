//! How far the games of a match have come: a bar, or a line now and then where standard error is no terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two lines.
pub const LINE_EVERY: Duration = Duration::from_secs(15);

/// The games of a match as they are finished, told from any thread.
pub(super) struct GameProgress {
    bar: ProgressBar,
    /// Goes before each line: which match of several this is.
    prefix: String,
    /// Games that were there at the beginning.
    earlier: u64,
    begun: Instant,
    lines: Mutex<LineClock>,
}

impl GameProgress {
    /// `games` in all, of which `earlier` were played before. Nothing is shown yet.
    pub fn new(games: u64, earlier: u64, prefix: &str) -> GameProgress {
        let bar = ProgressBar::new(games).with_position(earlier).with_prefix(prefix.to_string());
        if let Ok(style) = ProgressStyle::with_template("{prefix}{bar:32} {pos}/{len} games, {msg}") {
            bar.set_style(style);
        }
        let begun = Instant::now();
        let lines = Mutex::new(LineClock::new(LINE_EVERY, begun));
        GameProgress { bar, prefix: prefix.to_string(), earlier, begun, lines }
    }

    /// Counts `games` more and tells how A scores.
    pub fn advance(&self, games: u64, score_of_a: f64) {
        self.bar.inc(games);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        let now = Instant::now();
        let left = time_left(done - self.earlier, all.saturating_sub(done), now - self.begun);
        let message = format!("{} left at most, A has {score_of_a:.3}", humantime::format_duration(left));
        if !self.bar.is_hidden() {
            self.bar.set_message(message);
        } else if self.lines.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).due(now) {
            eprintln!("{}{done} of {all} games, {message}", self.prefix);
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The time that `left` games will take if `done` took so long, in whole seconds.
pub fn time_left(done: u64, left: u64, took: Duration) -> Duration {
    Duration::from_secs((took.as_secs_f64() * left as f64 / done.max(1) as f64).round() as u64)
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

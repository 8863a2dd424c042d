//! How long a session lasts.

use crate::config::LONGEST_BUDGET;
use crate::run_files::SessionLine;
use crate::session::progress::Tally;
use std::fmt::{self, Display};
use std::time::Duration;

/// How long a session lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    /// So much time from its beginning.
    Time(Duration),
    /// Until the run has learnt from so many rounds, those of earlier sessions included.
    Rounds(u64),
}

impl Budget {
    /// The part of a session that is over after so many seconds, with so many rounds behind the run; 1 and more ends it.
    pub fn part_of_session(&self, seconds: f64, rounds: u64) -> f64 {
        match self {
            Budget::Time(time) => seconds / time.as_secs_f64(),
            Budget::Rounds(last) => rounds as f64 / *last as f64,
        }
    }

    /// The part of the whole run that is over, if this session, before which the run took `seconds_before`, is its last.
    pub fn part_of_run(&self, seconds_before: f64, seconds: f64, rounds: u64) -> f64 {
        match self {
            Budget::Time(time) => (seconds_before + seconds) / (seconds_before + time.as_secs_f64()),
            Budget::Rounds(_) => self.part_of_session(seconds, rounds),
        }
    }
}

/// What is left of the session that began with this line, for a run that has used and made so much: time that a kill left
/// unsaved is not given again. `None` if it has had its time or its rounds, or an older program did not note how long it was to
/// last.
pub fn left_of(session: &SessionLine, tally: &Tally) -> Option<Budget> {
    if let Some(rounds) = session.budget_rounds {
        return (tally.rounds < rounds).then_some(Budget::Rounds(rounds));
    }
    let left = session.seconds? + session.budget_seconds? - tally.seconds;
    // Less is none: it takes as long to begin. More than a budget may be is what a damaged line says.
    (left >= 1.0).then(|| Budget::Time(Duration::from_secs_f64(left.min(LONGEST_BUDGET.as_secs_f64()))))
}

impl Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // What is left of a session has a fraction of a second that says nothing; less than a second is no more than that.
            Budget::Time(time) if time.as_secs() > 0 => {
                humantime::format_duration(Duration::from_secs(time.as_secs_f64().round() as u64)).fmt(f)
            }
            Budget::Time(time) => humantime::format_duration(*time).fmt(f),
            Budget::Rounds(rounds) => write!(f, "{rounds} rounds"),
        }
    }
}

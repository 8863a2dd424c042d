//! How far a session is, how it ended, and who hears of it.

use crate::arena::match_play::Spectator;
use crate::learner::RoundReport;
use crate::run_files::policy_losses;
use crate::self_play::evaluation::EffortReport;
use serde::Serialize;

/// Who watches a session.
pub trait Watcher: Sync {
    /// Whether to save and stop.
    fn stop_requested(&self) -> bool {
        false
    }

    /// Hears several times a second how far the session is.
    fn progress(&self, _progress: &Progress) {}

    /// Hears of something that the user should know, on one line; the session goes on.
    fn warned(&self, _words: &str) {}
}

impl Watcher for () {}

/// Ends the matches of a session when it is stopped.
pub(super) struct StopWith<'w>(pub &'w dyn Watcher);

impl Spectator for StopWith<'_> {
    fn stop_requested(&self) -> bool {
        self.0.stop_requested()
    }
}

/// How far a session is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Progress {
    /// Seconds of this session.
    pub session_seconds: f64,
    /// Seconds, games and decisions of the whole run.
    #[serde(flatten)]
    pub tally: Tally,
    /// Games that are played and not learnt from yet.
    #[serde(skip)]
    pub waiting: u64,
    /// Optimisation steps of the whole run.
    pub step: u64,
    /// The session's part that is over, 0..=1.
    pub elapsed: f64,
    /// Decisions a second, learning included, since the session began.
    pub decisions_per_second: f64,
    /// Mean score of the first seat in the latest games that were learnt from, 0 (lost) ..= 1 (won); `None` before the first.
    pub first_seat_score: Option<f64>,
    /// What the actors did in this session.
    #[serde(flatten)]
    pub effort: EffortReport,
    /// What the latest round did, once there was one.
    #[serde(flatten)]
    pub latest: Option<RoundReport>,
}

impl Progress {
    /// What is done, in words, in a run whose first `taught` games are a teacher's. Speed, score and losses are those of
    /// rounds, so before the session's first round nothing is said of them.
    pub fn words(&self, taught: u64) -> String {
        let played = self.tally.games + self.waiting;
        let games = imitated(played, taught).unwrap_or_else(|| format!("{played} games played"));
        let Some(RoundReport { losses, .. }) = self.latest else { return games };
        let Progress { decisions_per_second, step, .. } = self;
        let score = self.first_seat_score.map_or_else(String::new, |score| format!(", first seat score {score:.2}"));
        let policy = policy_losses(losses.policy, losses.entropy, 2);
        let losses = format!("losses: {policy}result {:.3}, margin {:.3}", losses.wdl, losses.margin);
        format!("{games}, {decisions_per_second:.0} decisions/s, step {step}{score}, {losses}")
    }
}

/// How far imitation is, in words, as long as fewer games are played than are the teacher's.
fn imitated(played: u64, taught: u64) -> Option<String> {
    (played < taught).then(|| format!("imitation: {played} of {taught} games of the teacher"))
}

/// What a run has used and made, over all its sessions.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Tally {
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// Rounds learnt from.
    pub rounds: u64,
    /// Games of these rounds.
    pub games: u64,
    /// Decisions in them.
    pub decisions: u64,
    /// One more than their greatest number: games end out of order, so it can be beyond their count.
    pub numbered: u64,
}

/// How a session ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SessionReport {
    /// Where the run stood when the session began.
    pub before: Tally,
    /// Where it stands now; its time is what the next session will find it to have used.
    pub after: Tally,
    /// Games that are played and not learnt from yet.
    pub waiting: u64,
    /// Optimisation steps of the whole run.
    pub steps: u64,
    /// Whether it was stopped before its time was over.
    pub stopped: bool,
}

impl SessionReport {
    /// What rounds and games leave unsaid of a run whose first `taught` games are a teacher's, on one line: how far imitation
    /// is before its end, how many games were played beyond those, and that the network is untrained.
    pub fn words(&self, taught: u64) -> Option<String> {
        let imitation = imitated(self.after.games + self.waiting, taught);
        let waiting = match self.waiting {
            0 => None,
            1 => Some("1 more game is played and not learnt from yet".to_string()),
            more => Some(format!("{more} more games are played and not learnt from yet")),
        };
        let untrained = (self.steps == 0).then(|| "nothing is learnt yet: the network is as it was made".to_string());
        let words: Vec<String> = imitation.into_iter().chain(waiting).chain(untrained).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

//! Where a run stands: its latest checkpoint, held against what its other files tell.

use crate::run_dir::RunDir;
use crate::run_files::{METRICS, RunFiles, SESSIONS, SessionLine};
use crate::session::SessionError;
use crate::session::checkpoint_figures::{FigureError, FigureFault, check, tally_from};
use crate::session::progress::Tally;
use dervish_models::checkpoint::{MANIFEST, load_manifest};
use dervish_models::checkpoint_series::CHECKPOINTS;
use serde_json::Value;
use std::cmp::Ordering;

/// Where a run stands.
pub struct Standing {
    /// Optimisation steps behind its latest checkpoint, from which it goes on.
    pub step: u64,
    /// What it had made by then, and the time that it has used up to now: what a kill left unsaved was paid for all the same.
    pub tally: Tally,
    /// Steps of which its other files tell, where they are more: they were not saved, or what was saved is gone.
    pub lost: Option<u64>,
    /// Its latest session.
    pub session: Option<SessionLine>,
}

impl Standing {
    /// Where a run stands; `None` if it has yet to begin.
    ///
    /// # Errors
    /// [`SessionError::NoCheckpoint`] if it has begun but has nothing to go on from, [`SessionError::Figure`] if the checkpoint
    /// says too little, or what cannot be, and what cannot be read.
    pub fn of(run: &RunDir) -> Result<Option<Standing>, SessionError> {
        let files = RunFiles::open(run.path())?;
        let session = files.sessions()?.pop();
        let of_session = session.as_ref().map(|session| (SESSIONS, session.rounds, session.step));
        let line = files.latest(METRICS)?;
        let of_line = |line: &Value| Some((METRICS, line["rounds"].as_u64()?, line["step"].as_u64()?));
        let of_round = line.as_ref().and_then(of_line);
        let told = of_session.into_iter().chain(of_round).max_by_key(|&(_, rounds, step)| (step, rounds));
        let checkpoints = run.checkpoints();
        let Some(&step) = checkpoints.steps()?.last() else {
            return match told.filter(|&(_, rounds, step)| rounds > 0 || step > 0) {
                Some((file, rounds, step)) => {
                    Err(SessionError::NoCheckpoint { path: run.path().join(CHECKPOINTS), file, rounds, step })
                }
                None => Ok(None),
            };
        };
        let path = checkpoints.path(step);
        let manifest = load_manifest(&path)?;
        let path = path.join(MANIFEST);
        check(&path, &manifest)?;
        let tally = tally_from(&manifest.figures);
        let refused = |name: &str, found: u64, expected: String| {
            let reason = FigureFault::Wrong { found: found as f64, expected };
            SessionError::from(FigureError { path: path.clone(), name: name.to_string(), reason })
        };
        for (file, rounds, steps) in of_round.into_iter().chain(of_session) {
            // A round may teach nothing, and none takes a step back.
            let agrees = match steps.cmp(&step) {
                Ordering::Less => rounds < tally.rounds,
                Ordering::Equal => rounds >= tally.rounds,
                Ordering::Greater => rounds > tally.rounds,
            };
            if !agrees {
                let expected = format!("what {file} tells, {rounds} rounds with {steps} steps");
                return Err(refused("rounds", tally.rounds, expected));
            }
        }
        // The line of the round after which the checkpoint was saved counts the same games.
        let same = of_round.is_some_and(|(_, rounds, steps)| (rounds, steps) == (tally.rounds, step));
        for (name, found) in [("games", tally.games), ("decisions", tally.decisions)] {
            let told = line.as_ref().and_then(|line| line[name].as_u64());
            if let Some(told) = told.filter(|&told| same && told != found) {
                return Err(refused(name, found, format!("what {METRICS} tells of the same round, {told}")));
            }
        }
        let tally = Tally { seconds: files.seconds()?.max(tally.seconds), ..tally };
        let lost = told.map(|(_, _, told)| told).filter(|&told| told > step);
        Ok(Some(Standing { step, tally, lost, session }))
    }
}

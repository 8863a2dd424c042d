//! The figures of each round, where people and programs find them: a line of `metrics.jsonl`, and values for TensorBoard, whose
//! tags `training/FORMATS.md` lists.

use crate::assessment::{Assessment, mean_score};
use crate::run_dir::{RunDir, RunDirError};
use crate::run_files::{ASSESSMENTS, METRICS};
use crate::self_play::round_figures::RoundFigures;
use crate::session::Progress;
use crate::tensorboard::EventFile;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The files that one session adds its rounds to.
#[derive(Debug)]
pub struct RoundLog {
    assessments: File,
    assessments_path: PathBuf,
    metrics: File,
    metrics_path: PathBuf,
    events: EventFile,
}

/// A line of `metrics.jsonl`: [`Progress`] with the latest round's losses, all in one object, and `figures` of its games.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    progress: &'a Progress,
    figures: &'a RoundFigures,
}

impl RoundLog {
    /// Opens `metrics.jsonl` and makes an event file for this session, which goes on after `steps` optimisation steps.
    ///
    /// # Errors
    /// [`RunDirError`] with the file at fault.
    pub fn open(run: &RunDir, steps: u64) -> Result<RoundLog, RunDirError> {
        let folder = run.tensorboard_folder()?;
        let metrics = run.metrics_file()?;
        let begin = || -> io::Result<EventFile> {
            let mut events = EventFile::create(&folder)?;
            // Curves do not run back to what is learnt again after a kill.
            events.begin_session(steps + 1)?;
            Ok(events)
        };
        let events = begin().map_err(|error| fault(&folder, error))?;
        let [metrics_path, assessments_path] = [METRICS, ASSESSMENTS].map(|name| run.path().join(name));
        Ok(RoundLog { assessments: run.assessments_file()?, assessments_path, metrics, metrics_path, events })
    }

    /// Adds a round that was learnt from, with the figures of its own games.
    ///
    /// # Errors
    /// [`RunDirError`] with the file that could not be written, for example on a full disk.
    pub fn add(&mut self, progress: &Progress, figures: &RoundFigures) -> Result<(), RunDirError> {
        add_line(&mut self.metrics, &Line { progress, figures }).map_err(|error| fault(&self.metrics_path, error))?;
        let scalars = scalars(progress, figures).into_iter().map(|(tag, value)| (tag.to_owned(), value));
        let scalars = scalars.chain(turn_scalars(figures));
        self.events.add(progress.step, scalars).map_err(|error| fault(self.events.path(), error))
    }

    /// Adds an assessment.
    ///
    /// # Errors
    /// [`RunDirError`] with the file that could not be written.
    pub fn add_assessment(&mut self, assessment: &Assessment) -> Result<(), RunDirError> {
        add_line(&mut self.assessments, assessment).map_err(|error| fault(&self.assessments_path, error))?;
        let rating = assessment.rating.map(|rating| ("strength/rating", rating));
        let shares = [("strength/pool", false), ("strength/held_out", true)];
        let scores = shares.map(|(tag, held_out)| Some((tag, mean_score(&assessment.agents, held_out)?)));
        let scalars: Vec<_> = scores.into_iter().flatten().chain(rating).collect();
        self.events.add(assessment.step, scalars).map_err(|error| fault(self.events.path(), error))
    }
}

fn add_line(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(line)?;
    line.push(b'\n');
    file.write_all(&line)
}

fn fault(path: &Path, error: io::Error) -> RunDirError {
    RunDirError { path: path.to_owned(), reason: error.into() }
}

/// What TensorBoard shows of a round, by tag.
fn scalars(progress: &Progress, figures: &RoundFigures) -> Vec<(&'static str, f64)> {
    let mut scalars = vec![
        ("game/decisions", figures.decisions_per_game),
        ("game/player_turns", figures.turns_per_game),
        ("game/first_seat_score", figures.first_seat_score),
        ("speed/decisions_per_second", progress.decisions_per_second),
        ("speed/mean_batch", progress.effort.mean_batch),
        ("speed/evaluator_busy", progress.effort.evaluator_busy),
        ("speed/queue_wait_ms", progress.effort.queue_wait_ms),
    ];
    if let Some(round) = &progress.latest {
        let losses = &round.losses;
        scalars.extend([
            ("loss/result", losses.wdl),
            ("loss/margin", losses.margin),
            ("loss/turns_left", losses.turns_left),
            ("loss/total", losses.total),
            ("learner/learning_rate", round.learning_rate),
            ("learner/gradient_norm", losses.gradient_norm),
        ]);
        // A run has a policy to learn, or learns by policy gradient.
        let either =
            [("loss/policy", losses.policy), ("loss/surrogate", losses.surrogate), ("policy/entropy", losses.entropy)];
        scalars.extend(either.into_iter().filter(|(_, value)| *value != 0.0));
        if let Some(luck) = &round.luck {
            scalars.extend([("luck/best_share", luck.best_share), ("luck/narrowing", luck.narrowing)]);
        }
    }
    let [first, second] = &figures.seats;
    let [early, middle, late] = figures.third_errors;
    let known = [
        ("policy/taught_entropy", figures.taught_entropy),
        ("calibration/first_seat", first.error),
        ("calibration/second_seat", second.error),
        ("calibration/first_third", early),
        ("calibration/middle_third", middle),
        ("calibration/last_third", late),
    ];
    scalars.extend(known.into_iter().filter_map(|(tag, value)| Some((tag, value?))));
    scalars
}

/// How far the mean value in each player turn is from the mean result, in units of utility, 0..=2: `calibration/turn_01` for
/// the first turn of a game, and so on. Turns in which nobody gave a value are left out.
fn turn_scalars(figures: &RoundFigures) -> impl Iterator<Item = (String, f64)> {
    let seen = figures.turns.iter().zip(1..).filter(|(bin, _)| bin.count > 0);
    seen.map(|(bin, turn): (_, usize)| {
        (format!("calibration/turn_{turn:02}"), f64::from((bin.value - bin.result).abs()))
    })
}

//! The networks that a study trains before its matches.

use super::StudyArgs;
use crate::arena::study::document::{StudyDocument, StudyRun};
use crate::arena::study::file::{PlannedRun, StudyFile};
use crate::commands::CommandError;
use crate::run_files::{RoundLine, RunFiles};
use std::path::Path;
use std::time::{Duration, Instant};

/// Trains what is not yet trained, as long as there is time for a whole run: its schedules follow its budget, so that it is
/// not divided. Returns the document, which tells of the runs, or `None` if there is more to train.
///
/// # Errors
/// [`CommandError`]: a run that cannot be trained, one that is in the way of another, or a document that cannot be written.
pub(super) fn train_runs(
    args: &StudyArgs,
    study: &StudyFile,
    kept: Option<StudyDocument>,
    until: Instant,
) -> Result<Option<Option<StudyDocument>>, CommandError> {
    if study.runs.is_empty() {
        return Ok(Some(kept));
    }
    let document_file = args.file.with_extension("json");
    let mut document = kept.unwrap_or_else(|| args.new_document(study));
    let known = std::mem::take(&mut document.runs);
    for planned in &study.runs {
        let found = known.iter().find(|run| run.name == planned.name).cloned();
        document.runs.push(found.unwrap_or_else(|| untrained(planned)));
    }
    for (number, planned) in study.runs.iter().enumerate() {
        let folder = args.file.with_extension("runs").join(&planned.name);
        let is_known = known.iter().any(|run| run.name == planned.name);
        check(&folder, planned, is_known.then_some(&document.runs[number]))?;
        if document.runs[number].complete {
            continue;
        }
        let done = told_by(&folder, &mut document.runs[number])?;
        let left = planned.budget.saturating_sub(done).max(Duration::from_secs(1));
        let time = until.saturating_duration_since(Instant::now());
        if time < left {
            let needs = humantime::format_duration(Duration::from_secs(left.as_secs()));
            if Duration::from_secs_f64(60.0 * args.minutes) < left {
                let reason = format!("run {} takes {needs} more and is not divided", planned.name);
                return Err(CommandError::Argument { argument: "--minutes", reason });
            }
            eprintln!("run {} takes {needs} more; the same command trains it", planned.name);
            return Ok(None);
        }
        document.write(&document_file)?;
        eprintln!("run {} of {}, {}: {}", number + 1, study.runs.len(), planned.name, planned.command());
        let whole = train(args, planned, &folder, left)?;
        told_by(&folder, &mut document.runs[number])?;
        document.runs[number].complete = whole;
        document.write(&document_file)?;
        if !whole {
            return Ok(None);
        }
    }
    Ok(Some(Some(document)))
}

fn untrained(planned: &PlannedRun) -> StudyRun {
    let (name, command) = (planned.name.clone(), planned.command());
    StudyRun { name, command, complete: false, seconds: 0.0, rounds: 0, games: 0, steps: 0 }
}

/// Refuses a folder that is not of this run, and a run whose folder is gone.
fn check(folder: &Path, planned: &PlannedRun, known: Option<&StudyRun>) -> Result<(), CommandError> {
    let reason = match known {
        None if folder.exists() => "is in the way of a run that the study's document does not tell of".to_owned(),
        Some(run) if run.command != planned.command() => {
            format!("was trained by `{}`; remove it and the study's document to train it anew", run.command)
        }
        Some(run) if run.complete && !folder.exists() => {
            "is gone, and the study's document tells of it; remove that to train it anew".to_owned()
        }
        _ => return Ok(()),
    };
    Err(CommandError::File { file: folder.display().to_string(), reason })
}

/// Takes over what the run's own files tell; returns how long it has been trained.
fn told_by(folder: &Path, run: &mut StudyRun) -> Result<Duration, CommandError> {
    if !folder.exists() {
        return Ok(Duration::ZERO);
    }
    let Some(RoundLine { seconds, rounds, games, step, .. }) = RunFiles::open(folder)?.rounds()?.pop() else {
        return Ok(Duration::ZERO);
    };
    (run.seconds, run.rounds, run.games, run.steps) = (seconds, rounds, games, step);
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// Trains a run for so long; false if somebody stopped it.
#[cfg(feature = "torch")]
fn train(args: &StudyArgs, planned: &PlannedRun, folder: &Path, budget: Duration) -> Result<bool, CommandError> {
    use crate::arena::study::file::ConfigSource;
    use crate::commands::train::{LogFormat, TrainArgs};
    use crate::interrupt;
    let resumed = folder.exists();
    let (preset, config) = match planned.source.clone() {
        _ if resumed => (None, None),
        ConfigSource::Preset(name) => (Some(name), None),
        ConfigSource::File(path) => (None, Some(path)),
    };
    let run = TrainArgs {
        preset,
        config,
        scenario: None,
        resume: resumed.then(|| folder.to_path_buf()),
        budget: Some(budget),
        rounds: None,
        settings: planned.settings.clone(),
        seed: Some(planned.seed),
        threads: args.threads,
        out: Some(folder.to_path_buf()),
        log: LogFormat::Text,
    };
    run.run()?;
    Ok(!interrupt::requested())
}

#[cfg(not(feature = "torch"))]
fn train(_: &StudyArgs, planned: &PlannedRun, _: &Path, _: Duration) -> Result<bool, CommandError> {
    Err(CommandError::Training(format!("run {}: this program is built without libtorch", planned.name)))
}

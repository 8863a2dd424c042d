//! The networks that a study trains before its matches.

use super::StudyArgs;
use crate::arena::study::document::{StudyDocument, StudyRun, this_machine};
use crate::arena::study::file::{PlannedRun, StudyFile};
use crate::commands::{CommandError, tell};
use crate::run_files::{CONFIG, RoundLine, RunFiles};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Trains what is not yet trained, as long as there is time for a whole run: its schedules follow its budget, so that it is
/// not divided. The first run of a call is begun if the call may take as long as it. Returns the document, which tells of
/// the runs, or `None` if there is more to train.
///
/// # Errors
/// [`CommandError`]: a run that cannot be trained, one that is in the way of another, or a document that cannot be written.
pub(super) fn train_runs(
    args: &StudyArgs,
    study: &StudyFile,
    kept: Option<StudyDocument>,
    until: Instant,
) -> Result<Option<Option<StudyDocument>>, CommandError> {
    let known = kept.as_ref().map(|kept| kept.runs.clone()).unwrap_or_default();
    if study.runs.is_empty() && known.is_empty() {
        return Ok(Some(kept));
    }
    let document_file = args.file.with_extension("json");
    if let Some(lost) = known.iter().find(|run| study.runs.iter().all(|planned| planned.name != run.name)) {
        let reason = format!("tells of the run {}, which this study has no more; remove it to begin anew", lost.name);
        return Err(CommandError::File { file: document_file.display().to_string(), reason });
    }
    let mut document = kept.unwrap_or_else(|| args.new_document(study));
    let runs: Vec<TrainedRun> = study.runs.iter().map(|planned| TrainedRun::of(args, planned)).collect();
    let told = |run: &TrainedRun| known.iter().find(|known| known.name == run.planned.name);
    document.runs = runs.iter().map(|run| told(run).cloned().unwrap_or_else(|| run.untrained())).collect();
    // What is wrong shows before hours have gone into training.
    for run in &runs {
        run.check(told(run))?;
    }
    let mut trained = false;
    for (number, run) in runs.iter().enumerate() {
        if document.runs[number].complete {
            continue;
        }
        let done = run.tell(&mut document.runs[number])?;
        let left = run.planned.budget.saturating_sub(done).max(Duration::from_secs(1));
        let name = &run.planned.name;
        let needs = humantime::format_duration(Duration::from_secs(left.as_secs()));
        if !trained && args.minutes < left {
            let reason = format!("run {name} takes {needs} more and is not divided");
            return Err(CommandError::Argument { argument: "--minutes", reason });
        }
        if trained && until.saturating_duration_since(Instant::now()) < left {
            tell(&format!("run {name} takes {needs} more; the same command trains it"));
            return Ok(None);
        }
        trained = true;
        document.write(&document_file)?;
        tell(&format!("run {} of {}, {name}: {}", number + 1, runs.len(), run.command));
        let whole = run.train(left)?;
        run.tell(&mut document.runs[number])?;
        document.runs[number].complete = whole;
        document.write(&document_file)?;
        if !whole {
            return Ok(None);
        }
    }
    Ok(Some(Some(document)))
}

/// A run of a study, and where it is.
struct TrainedRun<'a> {
    /// The study file, which a program without libtorch, that trains nothing, has no use for.
    #[cfg_attr(not(feature = "torch"), expect(dead_code))]
    study: &'a Path,
    planned: &'a PlannedRun,
    threads: Option<NonZeroUsize>,
    command: String,
    folder: PathBuf,
}

impl<'a> TrainedRun<'a> {
    fn of(args: &'a StudyArgs, planned: &'a PlannedRun) -> TrainedRun<'a> {
        let folder = runs_folder(args).join(&planned.name);
        TrainedRun { study: &args.file, planned, threads: args.threads, command: planned.command(args.threads), folder }
    }

    fn untrained(&self) -> StudyRun {
        StudyRun {
            name: self.planned.name.clone(),
            command: self.command.clone(),
            complete: false,
            trained_on: String::new(),
            seconds: 0.0,
            rounds: 0,
            games: 0,
            steps: 0,
        }
    }

    /// Refuses a folder that is not of this run, a run whose folder is gone, and one whose configuration is at fault.
    fn check(&self, told: Option<&StudyRun>) -> Result<(), CommandError> {
        let refused = |reason: String| Err(CommandError::File { file: self.folder.display().to_string(), reason });
        match told {
            None if self.folder.exists() => {
                return refused("is in the way of a run that the study's document does not tell of".to_owned());
            }
            Some(run) if run.command != self.command => {
                return refused(format!(
                    "was trained by `{}`; remove it and the study's document to train it anew",
                    run.command
                ));
            }
            Some(run) if run.complete && !self.is_begun() => {
                return refused(
                    "is gone, and the study's document tells of it; remove that to train it anew".to_owned(),
                );
            }
            _ => {}
        }
        self.check_config()
    }

    /// Whether there is a run to go on with: a run directory has its configuration last. What a kill left before that is taken
    /// over where the run is made, which refuses anything else.
    fn is_begun(&self) -> bool {
        self.folder.join(CONFIG).exists()
    }

    /// Takes over what the run's own files tell; returns how long it has been trained, whatever a kill left unsaved of that.
    fn tell(&self, run: &mut StudyRun) -> Result<Duration, CommandError> {
        if !self.is_begun() {
            return Ok(Duration::ZERO);
        }
        let files = RunFiles::open(&self.folder)?;
        if let Some(RoundLine { seconds, rounds, games, step, .. }) = files.rounds()?.pop() {
            (run.seconds, run.rounds, run.games, run.steps) = (seconds, rounds, games, step);
            let (cpu, cores) = this_machine();
            let threads = self.threads.map_or(cores, NonZeroUsize::get);
            let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
            let day = now.split('T').next().unwrap_or_default();
            run.trained_on = format!("{cpu} ({cores} cores, {threads} threads), {day}");
        }
        Ok(Duration::try_from_secs_f64(files.seconds()?).unwrap_or_default())
    }
}

/// Where the runs of a study are.
fn runs_folder(args: &StudyArgs) -> PathBuf {
    args.file.with_extension("runs")
}

/// Whether an agent is a network that the study trains.
pub(super) fn is_trained_here(args: &StudyArgs, study: &StudyFile, spec: &str) -> bool {
    let folder = runs_folder(args);
    study.runs.iter().any(|run| names(spec, &folder.join(&run.name)))
}

/// Whether an agent is the network of a run directory.
fn names(spec: &str, folder: &Path) -> bool {
    let folder = folder.display().to_string();
    let rest = spec.strip_prefix("neural:").map(|rest| rest.strip_prefix("run=").unwrap_or(rest));
    rest.and_then(|rest| rest.strip_prefix(&folder)).is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
}

#[cfg(feature = "torch")]
impl TrainedRun<'_> {
    fn args(&self, budget: Duration) -> crate::commands::train::TrainArgs {
        use crate::arena::study::file::ConfigSource;
        use crate::commands::train::{LogFormat, TrainArgs};
        let resumed = self.is_begun();
        let (preset, config) = match self.planned.source.clone() {
            ConfigSource::Preset(name) => (Some(name), None),
            ConfigSource::File(path) => (None, Some(path)),
        };
        TrainArgs {
            preset,
            config,
            scenario: None,
            resume: resumed.then(|| self.folder.clone()),
            budget: Some(budget),
            rounds: None,
            settings: self.planned.settings.clone(),
            seed: Some(self.planned.seed),
            threads: self.threads,
            out: Some(self.folder.clone()),
            print_config: false,
            log: LogFormat::Text,
            log_level: tracing_subscriber::filter::LevelFilter::INFO,
        }
    }

    /// Refuses a configuration at fault, and another than that with which the run was begun.
    fn check_config(&self) -> Result<(), CommandError> {
        use crate::config::RunConfig;
        use dervish_env::persist::read_text;
        let config = self.args(self.planned.budget).new_config().map_err(|error| CommandError::File {
            file: self.study.display().to_string(),
            reason: format!("run {}: {error}", self.planned.name),
        })?;
        if !self.is_begun() {
            return Ok(());
        }
        let refused = |reason: String| CommandError::File { file: self.folder.display().to_string(), reason };
        let text = read_text(&self.folder.join(CONFIG)).map_err(|error| refused(error.to_string()))?;
        let begun = RunConfig::parse(&text, &[]).map_err(|error| refused(error.to_string()))?;
        if begun != config {
            return Err(refused(
                "was trained with another configuration than the study now asks for; remove it and the study's document"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Trains for so long; false if somebody stopped it.
    fn train(&self, budget: Duration) -> Result<bool, CommandError> {
        self.args(budget).run()?;
        Ok(!crate::interrupt::requested())
    }
}

#[cfg(not(feature = "torch"))]
impl TrainedRun<'_> {
    fn check_config(&self) -> Result<(), CommandError> {
        let reason = format!("run {}: this program is built without libtorch", self.planned.name);
        Err(CommandError::Training(reason))
    }

    fn train(&self, _: Duration) -> Result<bool, CommandError> {
        self.check_config().map(|()| false)
    }
}

//! `dervish watch`: how a training run stands, read from its files while a program may be training.

use crate::arena::report::interval;
use crate::assessment::{ALARM, Assessment};
use crate::commands::{CommandError, print_json, print_line};
use crate::interrupt;
use crate::run_files::{ASSESSMENTS, METRICS, RoundLine, RunFileError, RunFiles, policy_losses};
use comfy_table::{Cell, CellAlignment, Table, presets};
use serde::Serialize;
use serde_json::Value;
use std::fmt::{self, Display};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Shows how a training run stands: again every few seconds until Ctrl-C, or once where standard output is no terminal.
#[derive(Clone, Debug, clap::Args)]
pub struct WatchArgs {
    /// Run directory.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Show it once.
    #[arg(long)]
    pub once: bool,
    /// One JSON object a line instead of the table.
    #[arg(long)]
    pub json: bool,
}

/// Version of the JSON object.
pub const STATUS_VERSION: u32 = 1;

/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// Time between two looks for Ctrl-C.
const HEED_EVERY: Duration = Duration::from_millis(100);

/// How a run stands.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunStatus {
    /// [`STATUS_VERSION`].
    pub version: u32,
    /// The run directory, as the user named it.
    pub run: String,
    /// What it plays.
    pub scenarios: Vec<String>,
    /// Games of a teacher that are learnt from before self-play begins.
    pub imitation_games: u64,
    /// Whether a program trains there just now.
    pub training: bool,
    /// Seconds since the last line of figures was written; null before the first.
    pub seconds_since_round: Option<f64>,
    /// Bytes on disk.
    pub disk_use: u64,
    /// Bytes that it may take; null without a bound.
    pub disk_limit: Option<u64>,
    /// The last line of `metrics.jsonl`, as it stands there.
    pub round: Option<Value>,
    /// The last line of `assessments.jsonl`, as it stands there.
    pub assessment: Option<Value>,
}

impl RunStatus {
    /// Reads it from the run's files.
    ///
    /// # Errors
    /// [`RunFileError`] with the file that cannot be read.
    pub fn of(run: &RunFiles) -> Result<RunStatus, RunFileError> {
        let limit = run.outline().storage.disk_limit;
        let round = run.latest(METRICS)?;
        Ok(RunStatus {
            version: STATUS_VERSION,
            run: run.path().display().to_string(),
            scenarios: run.outline().scenarios.clone(),
            imitation_games: run.outline().imitation.games,
            training: run.is_training()?,
            // A session that has just begun has an empty file.
            seconds_since_round: run.seconds_since_round()?.filter(|_| round.is_some()),
            disk_use: run.disk_use()?,
            disk_limit: (limit > 0).then(|| limit.saturating_mul(1 << 20)),
            round,
            assessment: run.latest(ASSESSMENTS)?,
        })
    }
}

impl WatchArgs {
    /// Shows the run.
    ///
    /// # Errors
    /// [`CommandError`], one line: what is no run directory, or a file of it that cannot be read.
    pub fn run(&self) -> Result<(), CommandError> {
        let run = RunFiles::open(&self.run)?;
        if self.once || !io::stdout().is_terminal() {
            return self.show(&run);
        }
        interrupt::install().map_err(CommandError::Training)?;
        loop {
            if !self.json {
                // From the top of an empty screen.
                print_line("\x1b[2J\x1b[H")?;
            }
            self.show(&run)?;
            let next = Instant::now() + LOOK_EVERY;
            while Instant::now() < next {
                if interrupt::requested() {
                    return Ok(());
                }
                std::thread::sleep(HEED_EVERY);
            }
        }
    }

    fn show(&self, run: &RunFiles) -> Result<(), CommandError> {
        let status = RunStatus::of(run)?;
        if self.json {
            return print_json(&status);
        }
        let round = status.round.clone().map(|line| run.known::<RoundLine>(METRICS, line)).transpose()?;
        let assessment =
            status.assessment.clone().map(|line| run.known::<Assessment>(ASSESSMENTS, line)).transpose()?;
        let tables = [
            Some(status_table(&status, round.as_ref())),
            assessment.as_ref().map(|line| assessment_table(line, &status.scenarios)),
        ];
        print_line(&tables.into_iter().flatten().collect::<Vec<_>>().join("\n"))
    }
}

/// Seconds as `1h 2m 3s`.
fn lasting(seconds: f64) -> impl Display {
    humantime::format_duration(Duration::from_secs(seconds.max(0.0) as u64))
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// A number, or a dash where there is none.
struct Known(Option<f64>, usize);

impl Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Known(Some(number), digits) => write!(f, "{number:.digits$}"),
            Known(None, _) => f.write_str("-"),
        }
    }
}

fn status_table(status: &RunStatus, round: Option<&RoundLine>) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.push(("plays", status.scenarios.join(" ")));
    let age = status.seconds_since_round.map(|age| format!("{} ago", lasting(age)));
    let state = if status.training { "a program is training" } else { "nobody is training" };
    rows.push(("now", state.to_owned()));
    rows.push(("latest round", age.unwrap_or_else(|| "none yet".to_owned())));
    let (played, imitated) = (round.map_or(0, |line| line.games), status.imitation_games);
    if played < imitated {
        rows.push(("imitation", format!("{played} of {imitated} games of the teacher learnt from")));
    }
    if let Some(line) = round {
        rows.push(("trained for", format!("{} ({:.1}% of the session)", lasting(line.seconds), 100.0 * line.elapsed)));
        rows.push(("rounds, games learnt from", format!("{}, {}", line.rounds, line.games)));
        rows.push(("steps", line.step.to_string()));
        let speed = (line.decisions_per_second, line.mean_batch, 100.0 * line.evaluator_busy);
        rows.push(("decisions/s", format!("{:.0}", speed.0)));
        rows.push(("batch, evaluator busy", format!("{:.1}, {:.0}%", speed.1, speed.2)));
        if line.queue_wait_ms > 0.0 {
            rows.push(("wait for the evaluator", format!("{:.2} ms", line.queue_wait_ms)));
        }
        let policy = policy_losses(line.policy, line.entropy, 3);
        let (result, margin, turns) = (line.wdl, line.margin, line.turns_left);
        rows.push(("losses", format!("{policy}result {result:.3}, margin {margin:.3}, turns left {turns:.3}")));
        let taught = line.figures.as_ref().is_some_and(|figures| figures.taught_entropy.is_some());
        let name = if taught { "entropy of policy targets" } else { "entropy of the policy" };
        rows.push((name, format!("{} nats", Known(line.policy_entropy(), 2))));
        if let Some(luck) = line.luck {
            let (share, narrowing) = (Known(luck.best_share, 2), Known(luck.narrowing, 2));
            rows.push(("luck", format!("best share {share}, narrows results {narrowing} times")));
        }
        if let Some(figures) = &line.figures {
            let length = (figures.decisions_per_game, figures.turns_per_game);
            rows.push(("game length", format!("{:.0} decisions, {:.1} player turns", length.0, length.1)));
            rows.push(("first seat score", format!("{:.3} in the latest round", figures.first_seat_score)));
            let [first, second] = figures.seats.each_ref().map(|seat| Known(seat.error, 3));
            rows.push(("calibration error", format!("first seat {first}, second seat {second}")));
        }
    }
    let limit = status.disk_limit.map_or_else(String::new, |limit| format!(" of {}", mib(limit)));
    rows.push(("on disk", mib(status.disk_use) + &limit));
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([status.run.as_str(), ""]);
    for (name, text) in rows {
        table.add_row([name, text.as_str()]);
    }
    table.to_string()
}

fn assessment_table(assessment: &Assessment, scenarios: &[String]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let when = format!("assessed at step {}, after {}", assessment.step, lasting(assessment.seconds));
    table.set_header([when.as_str(), "games", "score [95%]"]);
    for (agent, name) in assessment.agents.iter().zip(assessment.agent_names(scenarios)) {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row([Cell::new(name), right(agent.games.to_string()), right(interval(&agent.estimate()))]);
    }
    if let Some(rating) = assessment.rating {
        table.add_row([Cell::new(format!("rating: {rating:+.0} Elo against all of them"))]);
    }
    if assessment.alarm { format!("{table}\n{ALARM}") } else { table.to_string() }
}

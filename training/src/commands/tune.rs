//! `dervish tune`: makes the numbers of an agent's weights file better by playing.

use super::{CommandError, minutes, print_json, print_line, tell, threads};
use crate::commands::progress::WorkProgress;
use crate::interrupt;
use crate::tune::folder::{Plan, TUNING_VERSION};
use crate::tune::measure::{Forfeits, SELF, Stop};
use crate::tune::spsa::Gains;
use crate::tune::tuning::{Tuning, TuningReport};
use comfy_table::{CellAlignment, Table, presets};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Tunes the weights of an agent that reads them from a file (`weights=FILE`) by SPSA.
///
/// A run begins with --file, --scenario and --out. It can be stopped or killed at any time, and goes on with --resume and its
/// folder as it was begun; nothing of the plan is given again.
///
/// In each step all weights are moved up or down by chance: one way in plus.toml, the other way in minus.toml. The agent plays
/// paired games on common dice with the one and with the other, and the weights follow the side that scored more. The best so
/// far are in weights.toml. Whether they are better, a match on another seed tells, such as
/// `dervish match doctrine:weights=DIR/weights.toml doctrine --scenario souakim --games 400 --seed 99`.
#[derive(Clone, Debug, clap::Args)]
#[command(override_usage = "dervish tune [OPTIONS] --file <FILE> --scenario <SCENARIO> --out <DIR>\n       \
                      dervish tune [--minutes <N>] [--threads <THREADS>] [--json] --resume <DIR>")]
pub struct TuneArgs {
    /// The file of weights to begin with, such as agents/core/data/doctrine.toml.
    #[arg(long, value_name = "FILE", required_unless_present = "resume", conflicts_with = "resume")]
    pub file: Option<PathBuf>,
    /// Weights to tune, by dotted name or group, separated by commas [default: all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "resume")]
    pub weights: Vec<String>,
    /// What to play, separated by commas: scenarios, scenario files or reference games.
    #[arg(long, value_delimiter = ',', required_unless_present = "resume", conflicts_with = "resume")]
    pub scenario: Vec<String>,
    /// The agent, without its weights.
    #[arg(long, value_name = "SPEC", default_value = "doctrine", conflicts_with = "resume")]
    pub agent: String,
    /// Whom both sides play: `self` for each other, or an agent; may be given several times.
    #[arg(long = "opponent", value_name = "SPEC", default_value = SELF, conflicts_with = "resume")]
    pub opponents: Vec<String>,
    /// Games of a match, even: of each side against each opponent in each scenario, for one step.
    #[arg(long, default_value_t = 16, conflicts_with = "resume")]
    pub games: u32,
    /// Steps. How far each goes depends on how many there are, so a run goes on for no more than these; to tune for longer, begin
    /// another with --file DIR/weights.toml.
    #[arg(long, default_value_t = 300, conflicts_with = "resume")]
    pub steps: u32,
    /// How far apart the two sides lie: the first change of a weight, as a share of it.
    #[arg(long, default_value_t = 0.15, conflicts_with = "resume")]
    pub spread: f64,
    /// How far the first step goes, as a share of a weight, if one side wins every game.
    #[arg(long, default_value_t = 0.1, conflicts_with = "resume")]
    pub rate: f64,
    /// Names the changes and the dice.
    #[arg(long, default_value_t = 0, conflicts_with = "resume")]
    pub seed: u64,
    /// Stop after so many minutes, at most 60; --resume goes on.
    #[arg(long, value_name = "N", default_value = "60", value_parser = minutes)]
    pub minutes: Duration,
    /// Threads to play on [default: all cores].
    #[arg(long, value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// New folder of the run.
    #[arg(long, value_name = "DIR", required_unless_present = "resume", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Folder of a run that goes on, with the steps that are left.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

impl TuneArgs {
    /// Tunes until the steps are made, the time is over or the process is asked to stop, and tells the weights.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let stop = Stop { at: Some(Instant::now() + self.minutes) };
        interrupt::install().map_err(|reason| CommandError::Argument { argument: "Ctrl-C", reason })?;
        let (mut tuning, folder) = self.tuning()?;
        let (planned, games) = (tuning.plan().gains.steps, tuning.games_a_step());
        tell(&step_text(tuning.plan(), games));
        let done = |steps: u32| f64::from(steps) / f64::from(planned.max(1));
        let progress = WorkProgress::new(done(tuning.steps()), "", false);
        while tuning.step(&stop)? {
            let steps = tuning.steps();
            let scored = tuning.latest().map_or(0.0, |step| step.difference);
            let scored = format!("plus.toml scored {scored:+.3} over minus.toml in {games} games");
            let forfeited: u64 = tuning.forfeits().iter().map(|of| of.games).sum();
            let forfeited = if forfeited > 0 { format!(", {forfeited} games forfeited") } else { String::new() };
            progress.tell(done(steps), &format!("{steps} of {planned} steps"), &format!("{scored}{forfeited}"));
        }
        progress.finish();
        let report = tuning.finish()?;
        if self.json {
            print_json(&report)?
        } else {
            print_line(&table(&report))?
        }
        let played = u64::from(report.steps) * games;
        for Forfeits { agent, games, reason } in &report.forfeits {
            tell(&format!(
                "dervish: warning: {agent} forfeited {games} of {played} games, which tell nothing of the weights; the first: \
                 {reason}"
            ));
        }
        tell(&format!("the weights are in {}", folder.join("weights.toml").display()));
        if report.steps < planned {
            tell(&format!("go on with: dervish tune --resume {}", folder.display()));
        }
        Ok(())
    }

    fn tuning(&self) -> Result<(Tuning, &Path), CommandError> {
        if let Some(folder) = &self.resume {
            return Ok((Tuning::resume(folder, self.threads)?, folder));
        }
        let missing = |argument| CommandError::Argument { argument, reason: "is missing".to_string() };
        let file = self.file.as_deref().ok_or_else(|| missing("--file"))?;
        let out = self.out.as_deref().ok_or_else(|| missing("--out"))?;
        let plan = Plan {
            version: TUNING_VERSION,
            agent: self.agent.clone(),
            weights: self.weights.clone(),
            scenarios: self.scenario.clone(),
            opponents: self.opponents.clone(),
            games: self.games,
            gains: Gains { steps: self.steps, spread: self.spread, rate: self.rate, seed: self.seed },
        };
        Ok((Tuning::begin(out, plan, file, self.threads)?, out))
    }
}

/// What the games of a step are between.
fn step_text(plan: &Plan, games: u64) -> String {
    let Plan { agent, scenarios, opponents, .. } = plan;
    let against = |opponent: &String| match opponent.as_str() {
        SELF => "against each other".to_string(),
        opponent => format!("each against {opponent}"),
    };
    let against: Vec<String> = opponents.iter().map(against).collect();
    format!(
        "a step is {games} games of {agent} in {}: by plus.toml and by minus.toml, {}",
        scenarios.join(", "),
        against.join(", ")
    )
}

fn table(report: &TuningReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(["weight", "before", "after", "change"]);
    for change in &report.weights {
        let share = 100.0 * (change.after - change.before) / change.before.abs();
        let cells = [change.name.clone(), change.before.to_string(), change.after.to_string(), format!("{share:+.0}%")];
        table.add_row(cells);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{} of {} steps, seed {}\n{table}", report.steps, report.plan.gains.steps, report.plan.gains.seed)
}

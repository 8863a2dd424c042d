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
/// In each step all weights are moved up or down by chance, and the two agents on either side play paired games on common
/// dice. A run can be stopped at any time and gone on with; its folder has the best weights so far in weights.toml.
#[derive(Clone, Debug, clap::Args)]
pub struct TuneArgs {
    /// The file of weights to begin with.
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
    /// Steps.
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
    /// Stop after so many minutes, at most 60; the run can be gone on with.
    #[arg(long, value_name = "N", default_value = "60", value_parser = minutes)]
    pub minutes: Duration,
    /// Threads to play on [default: all cores].
    #[arg(long, value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// New folder of the run.
    #[arg(long, value_name = "DIR", required_unless_present = "resume", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Folder of a run to go on with.
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
        let (planned, games) = (tuning.planned(), format!("{} games a step", tuning.games_a_step()));
        let done = |steps: u32| f64::from(steps) / f64::from(planned.max(1));
        let progress = WorkProgress::new(done(tuning.steps()), "", false);
        while tuning.step(&stop)? {
            let steps = tuning.steps();
            let forfeited: u64 = tuning.forfeits().iter().map(|of| of.games).sum();
            let forfeited = if forfeited > 0 { format!(", {forfeited} games forfeited") } else { String::new() };
            progress.tell(done(steps), &format!("{steps} of {planned} steps"), &format!("{games}{forfeited}"));
        }
        progress.finish();
        let report = tuning.finish()?;
        if self.json {
            print_json(&report)?
        } else {
            print_line(&table(&report))?
        }
        let played = u64::from(report.steps) * tuning.games_a_step();
        for Forfeits { agent, games, reason } in &report.forfeits {
            tell(&format!(
                "dervish: warning: {agent} forfeited {games} of {played} games, which tell nothing of the weights; the first: \
                 {reason}"
            ));
        }
        tell(&format!("the weights are in {}", folder.join("weights.toml").display()));
        if report.steps < report.plan.gains.steps {
            tell(&format!("go on with --resume {}", folder.display()));
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

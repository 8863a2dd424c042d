//! `dervish regret`: agents against perfect play, on positions that can be solved.

use super::position::read_position;
use super::{CommandError, print_json, print_line};
use crate::arena::agents::ArenaGame;
use crate::arena::regret::{BUDGET, RegretCell, SolvedPosition, measure, with_budget};
use comfy_table::{CellAlignment, Table, presets};
use dervish_env::dervish::Campaign;
use dervish_env::game::Position;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Measures what agents give away in positions of the campaign that can be solved to the end of the game.
///
/// Every position is solved first, all dice and all decisions, results counted as win (1), draw (0) or loss (-1). An
/// agent's regret is the exact value of the best action minus that of the action it chooses.
#[derive(Clone, Debug, clap::Args)]
pub struct RegretArgs {
    /// Position files in which a player is to act.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// An agent, with the letter n in braces where the budget goes; may be given several times.
    #[arg(long = "agent", value_name = "SPEC", default_values_t = default_agents())]
    pub agents: Vec<String>,
    /// Budgets, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1_000, 10_000])]
    pub budgets: Vec<u32>,
    /// Choices in each position.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeats: u32,
    /// Names the agents' random streams.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Positions that may follow from one that is to be solved.
    #[arg(long, default_value_t = 5_000_000)]
    pub limit: usize,
    /// Print JSON, with the exact value of every action.
    #[arg(long)]
    pub json: bool,
}

fn default_agents() -> Vec<String> {
    let agents = [
        "expectimax:nodes={n}",
        "mcts:sims={n},depth=0",
        "mcts:sims={n},select=puct,depth=0",
        "gumbel:sims={n},depth=0",
    ];
    agents.map(str::to_string).to_vec()
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct RegretReport {
    /// The positions with their solutions.
    pub positions: Vec<PositionSolution>,
    /// One row for each agent.
    pub agents: Vec<AgentRegret>,
}

/// A position's solution.
#[derive(Clone, Debug, Serialize)]
pub struct PositionSolution {
    /// The file.
    pub file: String,
    /// Who is to move.
    pub to_move: &'static str,
    /// Expected result with perfect play for the player to move, in [-1, 1].
    pub value: f64,
    /// Positions that were solved.
    pub nodes: usize,
    /// Every legal action in notation with its exact value.
    pub actions: Vec<(String, f64)>,
}

/// What an agent gives away with each budget.
#[derive(Clone, Debug, Serialize)]
pub struct AgentRegret {
    /// Its spec, with {n} where the budget goes.
    pub agent: String,
    /// One for each budget.
    pub cells: Vec<RegretCell>,
}

impl RegretArgs {
    /// Solves the positions, measures the agents and prints a table.
    ///
    /// # Errors
    /// [`CommandError`]: the faults of a file, a position that cannot be solved, an agent's spec, or standard output that
    /// takes nothing.
    pub fn run(self) -> Result<(), CommandError> {
        let report = self.measure()?;
        if self.json { print_json(&report) } else { print_line(&report.table(&self.budgets)) }
    }

    /// Solves the positions and measures the agents.
    ///
    /// # Errors
    /// [`CommandError`].
    pub fn measure(&self) -> Result<RegretReport, CommandError> {
        let registry = Campaign::agents();
        let wrong = |reason: String| CommandError::Argument { argument: "--agent", reason };
        for agent in &self.agents {
            for &budget in &self.budgets {
                with_budget(&registry, agent, budget).map_err(|error| wrong(error.to_string()))?;
            }
        }
        let mut solved = Vec::new();
        let mut positions = Vec::new();
        for file in &self.files {
            let name = file.display().to_string();
            let position = read_position(file)?.position;
            let solving = ProgressBar::new_spinner().with_message(format!("solving {name}"));
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
                solving.set_style(style);
            }
            solving.enable_steady_tick(Duration::from_millis(200));
            let solution = SolvedPosition::of(position, self.limit);
            solving.finish_and_clear();
            let solution =
                solution.map_err(|error| CommandError::File { file: name.clone(), reason: error.to_string() })?;
            let actions =
                solution.actions.iter().map(|(action, value)| (solution.position.action_text(*action), *value));
            positions.push(PositionSolution {
                file: name,
                to_move: Campaign::seat_name(solution.seat),
                value: solution.value(),
                nodes: solution.nodes,
                actions: actions.collect(),
            });
            solved.push(solution);
        }
        let progress = ProgressBar::new((self.agents.len() * self.budgets.len()) as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len}, {eta} left, {msg}") {
            progress.set_style(style);
        }
        let mut agents = Vec::new();
        for agent in &self.agents {
            let mut cells = Vec::new();
            for &budget in &self.budgets {
                progress.set_message(agent.replace(BUDGET, &budget.to_string()));
                let factory = with_budget(&registry, agent, budget).map_err(|error| wrong(error.to_string()))?;
                let cell = measure(&factory, budget, &solved, self.repeats, self.seed);
                cells.push(cell.map_err(|error| wrong(error.to_string()))?);
                progress.inc(1);
            }
            agents.push(AgentRegret { agent: agent.clone(), cells });
        }
        progress.finish_and_clear();
        Ok(RegretReport { positions, agents })
    }
}

impl RegretReport {
    /// Mean regret, greatest regret of one position, and mean error of the value, by agent and budget.
    fn table(&self, budgets: &[u32]) -> String {
        let mut solutions = Table::new();
        solutions.load_style(presets::UTF8_FULL_CONDENSED).set_header([
            "position",
            "to move",
            "exact value",
            "actions",
            "positions solved",
        ]);
        for position in &self.positions {
            solutions.add_row([
                position.file.clone(),
                position.to_move.to_string(),
                format!("{:.4}", position.value),
                position.actions.len().to_string(),
                position.nodes.to_string(),
            ]);
        }
        let mut table = Table::new();
        let header = budgets.iter().map(|budget| format!("{{n}} = {budget}"));
        table.load_style(presets::UTF8_FULL_CONDENSED).set_header(std::iter::once("agent".to_string()).chain(header));
        for AgentRegret { agent, cells } in &self.agents {
            let cells = cells.iter().map(|cell| {
                let error = cell.value_error.map_or_else(|| "-".to_string(), |error| format!("{error:.3}"));
                let worst = cell.worst_value_error.map_or_else(|| "-".to_string(), |error| format!("{error:.3}"));
                format!(
                    "regret {:.3} (worst {:.3})\nvalue off {error} (worst {worst})\n{:.1} ms",
                    cell.regret.value,
                    cell.worst_regret,
                    1000.0 * cell.seconds
                )
            });
            table.add_row(std::iter::once(agent.clone()).chain(cells));
        }
        for table in [&mut solutions, &mut table] {
            table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        }
        format!("{solutions}\n{table}")
    }
}

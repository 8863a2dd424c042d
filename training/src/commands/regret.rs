//! `dervish regret`: agents against perfect play, on positions that can be solved.

use super::position::read_position;
use super::{CommandError, print_json, print_line};
use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::regret::{RegretCell, SolvedPosition, measure, with_budget};
use crate::arena::solved_sample::draw;
use crate::commands::progress::WorkProgress;
use crate::games::{GameVisitor, with_game};
use comfy_table::{CellAlignment, Table, presets};
use dervish_agents::registry::Registry;
use dervish_env::dervish::Campaign;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::Position;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Measures what agents give away in positions that can be solved exactly.
///
/// Positions are given as files of the campaign, or drawn from random games of any game. Every position is solved first, all
/// dice and all decisions, results counted as win (1), draw (0) or loss (-1). An agent's regret is the exact value of the
/// best action minus that of the action it chooses.
#[derive(Clone, Debug, clap::Args)]
pub struct RegretArgs {
    /// Position files in which a player is to act.
    #[arg(required_unless_present = "scenario", conflicts_with = "scenario", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Draw the positions from random games of this: a reference game such as `pig`, a built-in scenario or a scenario file.
    #[arg(long)]
    pub scenario: Option<String>,
    /// Positions to draw.
    #[arg(long, default_value_t = 50, conflicts_with = "files", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub positions: u32,
    /// An agent, with the letter n in braces where the budget goes, a zero behind it for ten times as much; may be given several
    /// times.
    #[arg(long = "agent", value_name = "SPEC", default_values_t = default_agents())]
    pub agents: Vec<String>,
    /// Budgets, separated by commas [default: 1000,10000,100000 for positions of files, 100,1000,10000 for drawn ones].
    #[arg(long, value_delimiter = ',')]
    pub budgets: Option<Vec<u32>>,
    /// Choices in each position.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeats: u32,
    /// Names the agents' random streams and the games from which positions are drawn.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Positions that may follow from one that is to be solved [default: 5000000 from one of a file and in a game whose
    /// positions come back, 100000 from another that is drawn].
    #[arg(long)]
    pub limit: Option<usize>,
    /// Print JSON, with the exact value of every action.
    #[arg(long)]
    pub json: bool,
}

/// The default of the limit for positions of files.
const FILE_LIMIT: usize = 5_000_000;

/// Default budgets for positions of files: the highest shows that every search finds the exact value.
const FILE_BUDGETS: [u32; 3] = [1_000, 10_000, 100_000];
/// Default budgets for positions that are drawn, of which there are more.
const DRAWN_BUDGETS: [u32; 3] = [100, 1_000, 10_000];

/// What the figures of the table are.
const CAPTION: &str = "\
Values and regrets are expected results: a win is 1, a draw 0, a loss -1. Regret and error of the value are means over
all choices, and the worst of them; the time is the mean of a choice.";

/// Every search, valued by results alone. A position that expectimax looks at costs about a tenth of a simulation, which goes
/// down a whole line.
fn default_agents() -> Vec<String> {
    let agents = [
        "expectimax:nodes={n}0",
        "mcts:sims={n},depth=0",
        "mcts:sims={n},select=puct,depth=0",
        "gumbel:sims={n},depth=0",
    ];
    agents.map(str::to_string).to_vec()
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct RegretReport {
    /// The game from which the positions were drawn; null for files.
    pub drawn: Option<String>,
    /// The positions with their solutions.
    pub positions: Vec<PositionSolution>,
    /// One row for each agent.
    pub agents: Vec<AgentRegret>,
}

/// A position's solution.
#[derive(Clone, Debug, Serialize)]
pub struct PositionSolution {
    /// The file, or which of the positions that were drawn.
    pub name: String,
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
        if self.json { print_json(&report) } else { print_line(&report.table(&self.budgets())) }
    }

    fn budgets(&self) -> Vec<u32> {
        let usual = if self.scenario.is_some() { DRAWN_BUDGETS } else { FILE_BUDGETS };
        self.budgets.clone().unwrap_or_else(|| usual.to_vec())
    }

    /// Solves the positions and measures the agents.
    ///
    /// # Errors
    /// [`CommandError`].
    pub fn measure(&self) -> Result<RegretReport, CommandError> {
        match &self.scenario {
            Some(name) => with_game(name, Drawn(self))?,
            None => self.report(&Campaign::agents(), || self.solve_files()),
        }
    }

    /// The positions of the files.
    fn solve_files(&self) -> Result<Vec<(String, SolvedPosition<Campaign>)>, CommandError> {
        let mut solved = Vec::new();
        for file in &self.files {
            let name = file.display().to_string();
            let position = read_position(file)?.position;
            let solution = while_spinning(&name, || SolvedPosition::of(position, self.limit.unwrap_or(FILE_LIMIT)));
            let fault = |reason: String| CommandError::File { file: name.clone(), reason };
            solved.push((name.clone(), solution.map_err(|error| fault(error.to_string()))?));
        }
        Ok(solved)
    }

    /// Measures the agents, which are looked at first, on the positions that `solve` gives with their names.
    fn report<P: Position>(
        &self,
        registry: &Registry<P>,
        solve: impl FnOnce() -> Result<Vec<(String, SolvedPosition<P>)>, CommandError>,
    ) -> Result<RegretReport, CommandError> {
        let wrong = |reason: String| CommandError::Argument { argument: "--agent", reason };
        let budgets = self.budgets();
        for agent in &self.agents {
            for &budget in &budgets {
                with_budget(registry, agent, budget).map_err(|error| wrong(error.to_string()))?;
            }
        }
        let (names, solved): (Vec<_>, Vec<_>) = solve()?.into_iter().unzip();
        let positions = names.into_iter().zip(&solved).map(|(name, solution)| PositionSolution {
            name,
            to_move: P::seat_name(solution.seat),
            value: solution.value(),
            nodes: solution.nodes,
            actions: solution
                .actions
                .iter()
                .map(|(action, value)| (solution.position.action_text(*action), *value))
                .collect(),
        });
        let positions = positions.collect();
        // A choice takes about as long as its budget is high.
        let of_budgets: f64 = budgets.iter().map(|&budget| f64::from(budget)).sum();
        let choices = solved.len() as f64 * f64::from(self.repeats);
        let all = self.agents.len() as f64 * choices * of_budgets;
        let progress = WorkProgress::new(0.0, "", false);
        let done = AtomicU64::new(0);
        let mut agents = Vec::new();
        for agent in &self.agents {
            let mut cells = Vec::new();
            for &budget in &budgets {
                let factory = with_budget(registry, agent, budget).map_err(|error| wrong(error.to_string()))?;
                let chosen = || {
                    let budget = u64::from(budget);
                    let done = done.fetch_add(budget, Ordering::Relaxed) + budget;
                    progress.tell(done as f64 / all, agent, &format!("{{n}} = {budget}"));
                };
                let cell = measure(&factory, budget, &solved, self.repeats, self.seed, chosen);
                cells.push(cell.map_err(|error| wrong(error.to_string()))?);
            }
            agents.push(AgentRegret { agent: agent.clone(), cells });
        }
        progress.finish();
        Ok(RegretReport { drawn: self.scenario.clone(), positions, agents })
    }
}

/// What `work` gives, with a spinner for as long as it takes.
fn while_spinning<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let solving = ProgressBar::new_spinner().with_message(format!("solving {name}"));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
        solving.set_style(style);
    }
    solving.enable_steady_tick(Duration::from_millis(200));
    let worked = work();
    solving.finish_and_clear();
    worked
}

/// Positions drawn from games.
struct Drawn<'a>(&'a RegretArgs);

impl GameVisitor for Drawn<'_> {
    type Output = Result<RegretReport, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let RegretArgs { scenario, positions, seed, limit, .. } = self.0;
        let name = scenario.as_deref().unwrap_or_default();
        self.0.report(&agents_of(&start, encoder), || {
            let drawn = while_spinning(name, || draw(&start, *positions as usize, *seed, *limit));
            let drawn = drawn.map_err(|error| CommandError::Argument {
                argument: "--scenario",
                reason: format!("{name}: {error}"),
            })?;
            let numbered = drawn.into_iter().enumerate();
            Ok(numbered.map(|(index, solution)| (format!("{name} {}", index + 1), solution)).collect())
        })
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
                position.name.clone(),
                position.to_move.to_string(),
                format!("{:.4}", position.value),
                position.actions.len().to_string(),
                position.nodes.to_string(),
            ]);
        }
        let (least, most) = self.positions.iter().fold((1.0, -1.0), |(least, most), position| {
            (f64::min(least, position.value), f64::max(most, position.value))
        });
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
        match &self.drawn {
            None => format!("{solutions}\n{table}\n{CAPTION}"),
            Some(game) => {
                let count = self.positions.len();
                format!("{count} positions of {game}, exact values from {least:.4} to {most:.4}\n{table}\n{CAPTION}")
            }
        }
    }
}

//! `dervish perft`: exact counts of the nodes below a position, to compare implementations of the rules.

use std::path::{Path, PathBuf};

use comfy_table::{CellAlignment, Table, presets};
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::dervish::{Campaign, RULES_VERSION};
use dervish_env::perft::{MAX_DEPTH, PerftCounts, Tree, TreeFile, perft_by_depth};
use serde::Serialize;

use super::position::read_position;
use super::{CommandError, print_json, print_line};

/// Counts the nodes of the game tree below a position, each order and each roll's outcome one ply.
#[derive(Clone, Debug, clap::Args)]
#[command(override_usage = "dervish perft [--json] <FILE> <DEPTH>\n       dervish perft --update <FILE>")]
pub struct PerftArgs {
    /// The position file, or `-` for standard input; with --update a file of trees.
    pub file: PathBuf,
    /// Depth in plies, from 0 to 1000; none with --update.
    #[arg(required_unless_present = "update", value_parser = clap::value_parser!(u16).range(0..=i64::from(MAX_DEPTH)))]
    pub depth: Option<u16>,
    /// JSON instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Count all trees of the file anew, after an intended change of the rules, and write the file.
    #[arg(long, conflicts_with_all = ["depth", "json"])]
    pub update: bool,
}

/// The nodes at one depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct PerftLine {
    /// Plies below the position.
    pub depth: usize,
    /// All nodes there.
    pub nodes: u64,
    /// Of these by who is to act.
    #[serde(flatten)]
    pub counts: PerftCounts,
}

impl PerftArgs {
    /// Prints the counts for every depth down to the one asked for, or brings a file of trees up to date.
    ///
    /// # Errors
    /// [`CommandError`]: the faults of the file, one that cannot be written, or standard output that takes nothing.
    pub fn run(self) -> Result<(), CommandError> {
        match self.depth {
            Some(depth) => count(&self.file, usize::from(depth), self.json),
            // Only an update goes without.
            None => update(&self.file),
        }
    }
}

fn count(file: &Path, depth: usize, json: bool) -> Result<(), CommandError> {
    let position = read_position(file)?.position;
    let counts = perft_by_depth(&position, depth);
    let lines: Vec<PerftLine> = counts
        .into_iter()
        .enumerate()
        .map(|(depth, counts)| PerftLine { depth, nodes: counts.total(), counts })
        .collect();
    if json {
        return print_json(&lines);
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(["depth", "nodes", "player", "chance", "finished"]);
    for PerftLine { depth, nodes, counts } in lines {
        table.add_row([depth as u64, nodes, counts.player, counts.chance, counts.terminal].map(|n| n.to_string()));
    }
    table.column_iter_mut().for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    print_line(&table.to_string())
}

fn update(path: &Path) -> Result<(), CommandError> {
    let fault = |reason| CommandError::File { file: path.display().to_string(), reason };
    let mut file = TreeFile::read(path).map_err(|error| fault(error.to_string()))?;
    let before = file.clone();
    file.rules_version = RULES_VERSION;
    for tree in &mut file.trees {
        tree.nodes = nodes_of(tree, path)?;
    }
    if file != before {
        file.write(path).map_err(|error| fault(error.to_string()))?;
    }
    let changed = file.trees.iter().zip(&before.trees).filter(|(new, old)| new != old).count();
    let nodes: u64 = file.trees.iter().flat_map(|tree| tree.nodes.as_flattened()).sum();
    print_line(&format!("{}: {} trees of {nodes} nodes, {changed} changed", path.display(), file.trees.len()))
}

/// Counts the nodes of a tree of the file at `path`, whatever the file says of them.
///
/// # Errors
/// The faults of the position at its root.
pub fn nodes_of(tree: &Tree, path: &Path) -> Result<Vec<[u64; 3]>, CommandError> {
    let counts = perft_by_depth(&root_of(tree, path)?, usize::from(tree.depth));
    Ok(counts.into_iter().map(Into::into).collect())
}

/// The position at the root of a tree of the file at `path`: the start of a built-in scenario, or that of a position file.
///
/// # Errors
/// The faults of the position file.
pub fn root_of(tree: &Tree, path: &Path) -> Result<Campaign, CommandError> {
    match Scenario::builtin(&tree.start) {
        Some(scenario) => Ok(Campaign::new(scenario)),
        None => {
            let folder = path.parent().unwrap_or(Path::new(""));
            Ok(PositionFile::load(&folder.join(&tree.start))?.position)
        }
    }
}

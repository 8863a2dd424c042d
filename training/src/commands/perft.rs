//! `dervish perft`: exact counts of the nodes below a position, to compare implementations of the rules.

use std::path::PathBuf;

use comfy_table::{CellAlignment, Table, presets};
use dervish_env::perft::{PerftCounts, perft_by_depth};
use serde::Serialize;

use super::position::read_position;
use super::{CommandError, print_json, print_line};

/// Counts the nodes of the game tree below a position, each order and each roll's outcome one ply.
#[derive(Clone, Debug, clap::Args)]
pub struct PerftArgs {
    /// The position file, or `-` for standard input.
    pub file: PathBuf,
    /// Depth in plies.
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub depth: u16,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
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
    /// Prints the counts for every depth down to the one asked for.
    ///
    /// # Errors
    /// [`CommandError`]: the faults of the file, or standard output that takes nothing.
    pub fn run(self) -> Result<(), CommandError> {
        let position = read_position(&self.file)?.position;
        let counts = perft_by_depth(&position, usize::from(self.depth));
        let lines: Vec<PerftLine> = counts
            .into_iter()
            .enumerate()
            .map(|(depth, counts)| PerftLine { depth, nodes: counts.total(), counts })
            .collect();
        if self.json {
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
}

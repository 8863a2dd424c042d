//! `dervish agents`: which agents there are and what can be set.

use crate::arena::agents::ArenaGame;
use comfy_table::{ContentArrangement, Table, presets};

/// Lists the agents of a game with their options.
#[derive(Clone, Debug, clap::Args)]
pub struct AgentsArgs {
    /// The game: a built-in scenario, a scenario file, or a reference game.
    #[arg(long)]
    pub scenario: String,
}

/// A table of the agents that can play `P`, one line for each and for each of its options.
pub fn agents_table<P: ArenaGame>() -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["agent", "option", "default", "what it does"]);
    for kind in P::agents().kinds() {
        table.add_row([kind.name, "", "", kind.summary]);
        for option in kind.options {
            table.add_row(["", option.name, option.default, option.meaning]);
        }
    }
    table
}

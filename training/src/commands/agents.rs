//! `dervish agents`: which agents there are and what can be set.

use crate::arena::agents::{ArenaGame, agents_of};
use crate::commands::{CommandError, print_line};
use crate::games::{GameVisitor, with_game};
use comfy_table::{ContentArrangement, Table, presets};
use dervish_env::encode::PolicyEncoder;

/// Lists the agents of a game with their options.
#[derive(Clone, Debug, clap::Args)]
pub struct AgentsArgs {
    /// The game: a built-in scenario, a scenario file, or a reference game such as `pig`.
    #[arg(long)]
    pub scenario: String,
}

impl AgentsArgs {
    /// Prints a table, one line for each agent and for each of its options.
    ///
    /// # Errors
    /// [`CommandError`] if there is no such game.
    pub fn run(&self) -> Result<(), CommandError> {
        print_line(&with_game(&self.scenario, AgentsTable)?.to_string())
    }
}

struct AgentsTable;

impl GameVisitor for AgentsTable {
    type Output = Table;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(["agent", "option", "default", "what it does"]);
        let agents = agents_of(&start, encoder);
        for kind in agents.kinds() {
            table.add_row([kind.name, "", "", kind.summary]);
            for option in kind.options {
                let choices = agents.choices(kind.name, option.name);
                let choices = if choices.is_empty() { String::new() } else { format!(" ({})", choices.join(", ")) };
                table.add_row(["", option.name, option.default, &format!("{}{choices}", option.meaning)]);
            }
        }
        table
    }
}

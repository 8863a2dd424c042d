//! `dervish scenario`: what is wrong with scenario files, and which scenarios come with the game.

use clap::{Args, Subcommand};
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::scenario::Scenario;

use super::{CommandError, print_line, tell};
use crate::games::REFERENCE_GAMES;

/// Checks scenario files, or lists the built-in scenarios.
#[derive(Args, Debug)]
pub struct ScenarioArgs {
    #[command(subcommand)]
    command: ScenarioCommand,
}

#[derive(Subcommand, Debug)]
enum ScenarioCommand {
    /// Checks scenarios and says what is wrong with each, one fault a line.
    Check {
        /// Scenario files, or names of built-in scenarios.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Lists the built-in scenarios.
    List,
}

impl ScenarioArgs {
    /// Runs the command: one line on standard output for each sound scenario, one on standard error for each fault, and for
    /// each scenario whose name is another's.
    ///
    /// # Errors
    /// [`CommandError::Unsound`] if a scenario has faults; [`CommandError::Output`].
    pub fn run(self) -> Result<(), CommandError> {
        match self.command {
            ScenarioCommand::Check { files } => {
                let mut unsound = 0;
                for file in &files {
                    match Scenario::named_or_file(file) {
                        Ok(scenario) => {
                            print_line(&format!("{file}: ok: {}", summary(scenario)))?;
                            if has_name_of_another(scenario) {
                                tell(&format!(
                                    "dervish: warning: {file}: `{}` is the name of another game, which comes with the \
                                     program; give it one of its own, or replay its records with --scenario {file}",
                                    scenario.name
                                ));
                            }
                        }
                        Err(faults) => {
                            unsound += 1;
                            for fault in faults {
                                tell(&fault.to_string());
                            }
                        }
                    }
                }
                if unsound == 0 { Ok(()) } else { Err(CommandError::Unsound { unsound, of: files.len() }) }
            }
            ScenarioCommand::List => {
                for scenario in Scenario::BUILTIN_NAMES.into_iter().filter_map(Scenario::builtin) {
                    print_line(&format!("{:<10} {}", scenario.name, summary(scenario)))?;
                }
                Ok(())
            }
        }
    }
}

/// Whether a record of the scenario, which names it, would be taken for one of another game that comes with the program.
fn has_name_of_another(scenario: &Scenario) -> bool {
    REFERENCE_GAMES.contains(&scenario.name.as_str())
        || Scenario::builtin(&scenario.name).is_some_and(|known| known.hash != scenario.hash)
}

/// Title, time and size of a scenario.
fn summary(scenario: &Scenario) -> String {
    let last = scenario.turns - 1;
    let land = (0..scenario.board.cells.len()).filter(|&i| scenario.board.is_land(Hex(i as u16))).count();
    format!(
        "{}, {}-{:02} to {}-{:02} ({} turns), {land} land hexes, {} places, hash {}",
        scenario.title,
        scenario.year(0),
        scenario.month(0),
        scenario.year(last),
        scenario.month(last),
        scenario.turns,
        scenario.board.places.len(),
        scenario.hash
    )
}

//! `dervish ratings`: ratings of all agents in a file of results.

use crate::arena::standings::Standings;
use crate::arena::store::Store;
use crate::commands::{CommandError, print_json, print_line};
use std::path::{Path, PathBuf};

/// Rates the agents of a file of results, for each scenario, version of the rules and the program, and bounds of the games.
///
/// All games count alike. A match that its test ended (`dervish match --sprt`) shows a little more difference than there is; the
/// file does not tell which matches were ended so.
#[derive(Clone, Debug, clap::Args)]
pub struct RatingsArgs {
    /// SQLite file of `dervish match --db` or `dervish tournament`.
    #[arg(long, value_name = "FILE")]
    pub db: PathBuf,
    /// Rate the games of this scenario alone.
    #[arg(long)]
    pub scenario: Option<String>,
    /// JSON instead of tables.
    #[arg(long)]
    pub json: bool,
}

impl RatingsArgs {
    /// Computes the ratings from the games, saves them in the file if it can be written, and prints them.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let mut store = Store::open(&self.db)?;
        let all = standings_in(&store, &self.db, self.scenario.as_deref())?;
        if !store.is_read_only() {
            all.iter().try_for_each(|standings| standings.save(&mut store))?;
        }
        if self.json {
            return print_json(&all);
        }
        let tables: Vec<String> = all.iter().map(Standings::to_string).collect();
        print_line(&tables.join("\n\n"))
    }
}

/// The standings in the file, of one scenario or of all.
///
/// # Errors
/// [`CommandError`] if the file cannot be read or has no such games.
pub(super) fn standings_in(store: &Store, db: &Path, scenario: Option<&str>) -> Result<Vec<Standings>, CommandError> {
    let all = Standings::all(store, scenario)?;
    if all.is_empty() {
        let reason = match scenario {
            Some(scenario) => format!("holds no games of '{scenario}'"),
            None => "holds no games".to_string(),
        };
        return Err(CommandError::File { file: db.display().to_string(), reason });
    }
    Ok(all)
}

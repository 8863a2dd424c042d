//! `dervish report`: a file of results as one page with plots.

use crate::arena::html::page;
use crate::arena::store::Store;
use crate::commands::CommandError;
use crate::commands::ratings::standings_in;
use dervish_env::persist::write_whole;
use std::path::PathBuf;

/// Writes the ratings, the crosstable, the seats and the lengths of games as one HTML page that needs no other file.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportArgs {
    /// SQLite file of `dervish match --db` or `dervish tournament`.
    #[arg(long, value_name = "FILE")]
    pub db: PathBuf,
    /// Show the games of this scenario alone.
    #[arg(long)]
    pub scenario: Option<String>,
    /// The page; a file of that name is replaced.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

impl ReportArgs {
    /// Writes the page.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let store = Store::open(&self.db)?;
        let standings = standings_in(&store, &self.db, self.scenario.as_deref())?;
        let failed = |reason: String| CommandError::File { file: self.out.display().to_string(), reason };
        let page = page(&standings).map_err(|error| failed(error.to_string()))?;
        write_whole(&self.out, page.as_bytes()).map_err(|error| failed(error.to_string()))?;
        eprintln!("{} is written", self.out.display());
        Ok(())
    }
}

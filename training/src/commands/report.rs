//! `dervish report`: a training run, or a file of results, as one page with plots.

use crate::arena::html::page;
use crate::arena::store::Store;
use crate::commands::ratings::standings_in;
use crate::commands::{CommandError, tell};
use crate::run_files::{REPORT, RunFiles};
use crate::run_report;
use dervish_env::persist::write_whole;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// What every page begins with.
const PAGE_BEGINS: &[u8] = b"<!doctype html>";

/// Writes a training run, or a file of results, as one HTML page with plots.
///
/// It needs no other file. Of a training run it has the curves, the calibration of its values and what its players do; of a
/// file of results the ratings, the crosstable, the seats and the lengths of games.
#[derive(Clone, Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["run", "db"]))]
pub struct ReportArgs {
    /// Run directory; a program may be training there.
    #[arg(value_name = "RUN_DIR")]
    pub run: Option<PathBuf>,
    /// SQLite file of `dervish match --db` or `dervish tournament`.
    #[arg(long, value_name = "FILE", requires = "out")]
    pub db: Option<PathBuf>,
    /// Show the games of this scenario alone.
    #[arg(long, conflicts_with = "run")]
    pub scenario: Option<String>,
    /// The page; a file of that name is replaced [default: report.html in the run directory].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl ReportArgs {
    /// Writes the page.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let run = self.run.as_deref().map(RunFiles::open).transpose()?;
        let usual = run.as_ref().map(|run| run.path().join(REPORT)).unwrap_or_default();
        let out = self.out.as_ref().unwrap_or(&usual);
        if !is_page_or_new(out) {
            return Err(failed(out, &"is there already and no page; name another file"));
        }
        let page = match (&run, &self.db) {
            (Some(run), _) => run_report::page(run)?,
            (None, db) => {
                let db = db.as_deref().unwrap_or(Path::new(""));
                let standings = standings_in(&Store::open(db)?, db, self.scenario.as_deref())?;
                page(&standings).map_err(|error| failed(out, &error))?
            }
        };
        write_whole(out, page.as_bytes()).map_err(|error| failed(out, &error))?;
        tell(&format!("{} is written", out.display()));
        Ok(())
    }
}

/// Whether nothing is lost if a page is written there: what it would tell of, perhaps.
fn is_page_or_new(path: &Path) -> bool {
    let mut begin = [0; PAGE_BEGINS.len()];
    match File::open(path).and_then(|mut file| file.read_exact(&mut begin)) {
        Ok(()) => begin.eq_ignore_ascii_case(PAGE_BEGINS),
        // Of other faults the writing tells.
        Err(error) => error.kind() != ErrorKind::UnexpectedEof,
    }
}

fn failed(path: &Path, error: &impl ToString) -> CommandError {
    CommandError::File { file: path.display().to_string(), reason: error.to_string() }
}

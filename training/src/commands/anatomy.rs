//! `dervish anatomy`: what decides a scenario, from the records of games.

use crate::arena::agents::ArenaGame;
use crate::arena::anatomy::collect::{Anatomy, Collector};
use crate::commands::replay::{record_fault, with_recorded_game};
use crate::commands::{CommandError, print_json, print_line};
use crate::games::GameVisitor;
use dervish_env::encode::PolicyEncoder;
use dervish_env::record::Record;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Tells from records how games ended, who held what, what happened where, and how each side began.
#[derive(Clone, Debug, clap::Args)]
pub struct AnatomyArgs {
    /// Records of games of one scenario, or folders of `dervish match --out`.
    #[arg(required = true, value_name = "RECORDS")]
    pub records: Vec<PathBuf>,
    /// The scenario file that was played, where it does not come with the program.
    #[arg(long)]
    pub scenario: Option<String>,
    /// Moves that make up an opening.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub opening: u8,
    /// JSON, with all openings and places, instead of tables.
    #[arg(long)]
    pub json: bool,
}

impl AnatomyArgs {
    /// Reads the records and prints what they tell.
    ///
    /// # Errors
    /// [`CommandError`]: the first record that cannot be read, is of another scenario, or is against the rules.
    pub fn run(&self) -> Result<(), CommandError> {
        let mut files = Vec::new();
        // A record that is named twice is one game.
        let mut seen = BTreeSet::new();
        for path in &self.records {
            let records = records_in(path)?;
            files.extend(records.into_iter().filter(|file| seen.insert(file.canonicalize().unwrap_or(file.clone()))));
        }
        let Some((first, _)) = files.split_first() else {
            let reason = "no record is there".to_owned();
            return Err(CommandError::File { file: self.records[0].display().to_string(), reason });
        };
        let record = Record::read(first).map_err(|error| record_fault(first, &error))?;
        let anatomy =
            with_recorded_game(record.identity(), self.scenario.as_deref(), Told { args: self, files: &files })??;
        if self.json { print_json(&anatomy) } else { print_line(anatomy.to_string().trim_end()) }
    }
}

/// The record of this name, or the records in a folder or in its `games`, by name.
fn records_in(path: &Path) -> Result<Vec<PathBuf>, CommandError> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let games = path.join("games");
    let folder = if games.is_dir() { games } else { path.to_path_buf() };
    let failed =
        |error: std::io::Error| CommandError::File { file: folder.display().to_string(), reason: error.to_string() };
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|ending| ending == "record") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

struct Told<'a> {
    args: &'a AnatomyArgs,
    files: &'a [PathBuf],
}

impl GameVisitor for Told<'_> {
    type Output = Result<Anatomy, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, _encoder: E) -> Self::Output {
        let mut collector = Collector::new(start, usize::from(self.args.opening));
        for file in self.files {
            let counted = Record::read(file).and_then(|record| collector.add(record));
            counted.map_err(|error| record_fault(file, &error))?;
        }
        Ok(collector.anatomy())
    }
}

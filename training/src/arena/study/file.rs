//! Study files: which matches answer a question, and which networks are trained for them.
//!
//! # Format
//! TOML; `training/studies/gates.toml` shows most fields. What is not named here is refused.
//!
//! | field | meaning |
//! |---|---|
//! | `format` | 1 |
//! | `title`, `question` | for people: what the study is called, and what its matches are to tell |
//! | `[[run]]` | a network that is trained before the matches, in the order of the file; none is needed |
//! | `[[match]]` | a match, played in the order of the file |
//!
//! | field of a run | meaning |
//! |---|---|
//! | `name` | letters, digits and hyphens; the run directory is NAME in the folder `STUDY.runs` beside `STUDY.toml` |
//! | `preset`, `config` | one of them: a configuration that comes with the program, or a file |
//! | `set` | a list of changes to it, as `dervish train --set` takes them; may be left out |
//! | `seed` | names the first weights and the dice |
//! | `budget` | how long it is trained, such as `12m`; at most an hour, since it is not trained in pieces |
//!
//! | field of a match | meaning |
//! |---|---|
//! | `scenario` | a built-in scenario, a scenario file, or a reference game |
//! | `a`, `b` | the agents, as `dervish match` takes them |
//! | `games` | how many games, even; with `sprt`, at most |
//! | `seed` | names the dice and the agents' random streams |
//! | `turn_time`, `time` | seconds an agent may use for a turn (where turns count), for a decision; left out: no bound |
//! | `turn_sims`, `sims` | the same in simulations |
//! | `max_decisions` | decisions after which a game is cut off; left out: the game's own bound |
//! | `sprt` | the test that ends the match: `elo0` and `elo1`, or `score0` and `score1`; `alpha` and `beta`, 0.05 if left out |

use crate::arena::sprt::SprtPlan;
use dervish_env::dervish::data_file::{DataError, DataFile};
use dervish_env::persist::read_text;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

/// The format of study files that is read.
pub const FORMAT: u32 = 1;

/// What a study file says.
#[derive(Clone, PartialEq, Debug)]
pub struct StudyFile {
    /// Its name, as the user gave it.
    pub file: String,
    /// What the study is called.
    pub title: String,
    /// What its matches are to tell.
    pub question: String,
    /// Trained first.
    pub runs: Vec<PlannedRun>,
    /// At least one.
    pub matches: Vec<PlannedMatch>,
}

/// A network that a study trains.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedRun {
    /// Its name, unlike those of the others.
    pub name: String,
    /// Its configuration.
    pub source: ConfigSource,
    /// Changes to it, each `KEY=VALUE`.
    pub settings: Vec<String>,
    /// Names the first weights and the dice.
    pub seed: u64,
    /// How long it is trained.
    pub budget: Duration,
}

/// Where a configuration comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConfigSource {
    /// One that comes with the program.
    Preset(String),
    /// A file.
    File(PathBuf),
}

/// The longest that a run of a study may take: that of one call of the command.
pub const LONGEST_RUN: Duration = Duration::from_secs(3600);

impl PlannedRun {
    /// The command that does the same on so many threads, without a run directory.
    pub fn command(&self, threads: Option<NonZeroUsize>) -> String {
        let source = match &self.source {
            ConfigSource::Preset(name) => format!("--preset {name}"),
            ConfigSource::File(path) => format!("--config {}", path.display()),
        };
        let budget = humantime::format_duration(self.budget).to_string().replace(' ', "");
        let settings: String = self.settings.iter().map(|setting| format!(" --set '{setting}'")).collect();
        let threads = threads.map(|threads| format!(" --threads {threads}")).unwrap_or_default();
        format!("dervish train {source} --budget {budget} --seed {}{threads}{settings}", self.seed)
    }
}

/// A match of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedMatch {
    /// Line of the file on which it begins, from 1.
    pub line: usize,
    /// A built-in scenario, a scenario file, or a reference game.
    pub scenario: String,
    /// Specs of A and B.
    pub agents: [String; 2],
    /// Games, as in the file.
    pub games: u32,
    /// Names the dice and the agents' random streams.
    pub seed: u64,
    /// How much the agents may think.
    pub bounds: Bounds,
    /// The test that ends the match.
    pub sprt: Option<SprtPlan>,
}

/// Bounds of a match as its file has them, times in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[allow(missing_docs)]
pub struct Bounds {
    pub turn_time: Option<f64>,
    pub time: Option<f64>,
    pub turn_sims: Option<u32>,
    pub sims: Option<u32>,
    pub max_decisions: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunTable {
    name: String,
    preset: Option<String>,
    config: Option<PathBuf>,
    #[serde(default)]
    set: Vec<String>,
    seed: u64,
    budget: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchTable {
    scenario: String,
    a: String,
    b: String,
    games: u32,
    seed: u64,
    turn_time: Option<f64>,
    time: Option<f64>,
    turn_sims: Option<u32>,
    sims: Option<u32>,
    max_decisions: Option<u32>,
    sprt: Option<Spanned<SprtTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SprtTable {
    elo0: Option<f64>,
    elo1: Option<f64>,
    score0: Option<f64>,
    score1: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
}

impl StudyFile {
    /// Reads a study file. Whether its agents and scenarios are there shows only when they are looked for.
    ///
    /// # Errors
    /// Every fault found, by line.
    pub fn read(path: &Path) -> Result<StudyFile, Vec<DataError>> {
        let file = path.display().to_string();
        match read_text(path) {
            Ok(text) => StudyFile::parse(&file, &text),
            Err(error) => Err(vec![DataError { file, line: None, reason: format!("cannot be read: {error}") }]),
        }
    }

    /// Reads the text of a study file; `file` is its name in faults.
    ///
    /// # Errors
    /// Every fault found, by line.
    pub fn parse(file: &str, text: &str) -> Result<StudyFile, Vec<DataError>> {
        let mut data = DataFile::parse(file, text)?;
        data.format(FORMAT);
        let title: Option<String> = data.required("title");
        let question: Option<String> = data.required("question");
        let run_tables: Vec<Spanned<RunTable>> = data.list("run");
        let tables: Vec<Spanned<MatchTable>> = data.list("match");
        data.no_more();
        if tables.is_empty() && data.sound() {
            data.fault_at(None, "a study needs a `[[match]]`");
        }
        let mut names = BTreeSet::new();
        let mut runs = Vec::new();
        for table in run_tables {
            let place = table.span();
            match run_of(table.into_inner()) {
                Ok(run) if names.insert(run.name.clone()) => runs.push(run),
                Ok(run) => data.fault(place, format!("another run is called {} too", run.name)),
                Err(reason) => data.fault(place, reason),
            }
        }
        let matches = tables.into_iter().map(|table| planned(&mut data, table.span(), table.into_inner())).collect();
        match (title, question) {
            (Some(title), Some(question)) if data.sound() => {
                Ok(StudyFile { file: file.to_owned(), title, question, runs, matches })
            }
            _ => Err(data.into_faults()),
        }
    }

    /// The fault of a match that shows when it is prepared.
    pub fn fault(&self, line: usize, reason: impl ToString) -> Vec<DataError> {
        vec![DataError { file: self.file.clone(), line: Some(line), reason: reason.to_string() }]
    }
}

fn run_of(table: RunTable) -> Result<PlannedRun, String> {
    let RunTable { name, preset, config, set, seed, budget } = table;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(format!("name: `{name}` is not made of letters, digits and hyphens"));
    }
    let source = match (preset, config) {
        (Some(preset), None) => ConfigSource::Preset(preset),
        (None, Some(file)) => ConfigSource::File(file),
        _ => return Err(format!("run {name} needs either `preset` or `config`")),
    };
    let budget = humantime::parse_duration(&budget).map_err(|error| format!("budget: {error}; write 90s or 10m"))?;
    if budget.is_zero() || budget > LONGEST_RUN {
        return Err("budget: a run of a study takes more than no time and at most an hour".to_owned());
    }
    Ok(PlannedRun { name, source, settings: set, seed, budget })
}

fn planned(data: &mut DataFile<'_>, span: Range<usize>, table: MatchTable) -> PlannedMatch {
    let sprt = table.sprt.and_then(|sprt| {
        let place = sprt.span();
        let SprtTable { elo0, elo1, score0, score1, alpha, beta } = sprt.into_inner();
        let plan = SprtPlan::of([elo0, elo1, score0, score1, alpha, beta]);
        plan.map_err(|error| data.fault(place, format!("sprt: {error}"))).ok()
    });
    PlannedMatch {
        line: data.line(&span),
        scenario: table.scenario,
        agents: [table.a, table.b],
        games: table.games,
        seed: table.seed,
        bounds: Bounds {
            turn_time: table.turn_time,
            time: table.time,
            turn_sims: table.turn_sims,
            sims: table.sims,
            max_decisions: table.max_decisions,
        },
        sprt,
    }
}

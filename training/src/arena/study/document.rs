//! The document of a study: small, readable, and enough to judge its figures by.

use crate::arena::match_play::Effort;
use crate::arena::report::{MatchReport, MatchStatistics};
use crate::arena::sprt::SprtState;
use crate::arena::store::{MatchIdentity, PROGRAM};
use crate::arena::study::figures;
use dervish_agents::limits::Limits;
use dervish_env::game::GameIdentity;
use dervish_env::persist::{DocumentFault, read_document, write_whole};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Version of the document. A reader refuses others.
pub const STUDY_VERSION: u32 = 1;

/// What a study has found so far.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyDocument {
    /// [`STUDY_VERSION`].
    pub version: u32,
    /// What the study is called.
    pub title: String,
    /// What its matches are to tell.
    pub question: String,
    /// The command that plays it, and goes on with it.
    pub command: String,
    /// Version of the program that played all of it.
    pub program: String,
    /// Where and when it was played, one entry for each machine and number of threads.
    pub played_on: Vec<PlayedOn>,
    /// Networks that were trained for it, in the order of the study file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<StudyRun>,
    /// In the order of the study file.
    pub matches: Vec<StudyMatch>,
}

/// A network that was trained for a study, or is being trained.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyRun {
    /// Its name.
    pub name: String,
    /// The command that trains such a network.
    pub command: String,
    /// Whether it was trained for all its time.
    pub complete: bool,
    /// Processor, cores and threads with which it was trained last, and when.
    pub trained_on: String,
    /// Seconds of training until its last round.
    pub seconds: f64,
    /// Rounds learnt from.
    pub rounds: u64,
    /// Games of these rounds, the teacher's included.
    pub games: u64,
    /// Optimisation steps.
    pub steps: u64,
}

/// The part of a study that was played on one machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayedOn {
    /// Model of the processor, as the system names it.
    pub cpu: String,
    /// Cores that the program might use.
    pub cores: usize,
    /// Games that were played at a time, each on a thread.
    pub threads: usize,
    /// When it was begun, in UTC.
    pub first: String,
    /// When it was last gone on with, in UTC.
    pub last: String,
    /// Wall-clock time of all calls, in seconds. Of a call that was killed, what follows its last whole match is missing.
    pub seconds: f64,
    /// Games that were finished.
    pub games: u64,
}

/// A match of a study.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyMatch {
    /// Game, rules and scenario.
    pub identity: GameIdentity,
    /// Names of the first and the second seat.
    pub seats: [String; 2],
    /// Specs of A and B, with every option written out.
    pub agents: [String; 2],
    /// Fingerprints of A and B ([`dervish_agents::agent::Agent::fingerprint`]), where they play by files and it is known.
    #[serde(default, skip_serializing_if = "none_known")]
    pub fingerprints: [Option<String>; 2],
    /// Names the dice and the agents' random streams.
    pub seed: u64,
    /// How much both agents may think.
    pub limits: Limits,
    /// Decisions after which games are cut off, if bounded.
    pub max_decisions: Option<u32>,
    /// Games that are asked for; with a test, at most.
    pub games_requested: u64,
    /// Whether all of them are played, or the test has ended the match.
    pub complete: bool,
    /// Where the test stands.
    pub sprt: Option<SprtState>,
    /// What the games tell; `None` before the first pair.
    pub statistics: Option<MatchStatistics>,
    /// What A and B used.
    pub thinking: [Thinking; 2],
}

/// Whether there is no fingerprint to tell.
fn none_known(fingerprints: &[Option<String>; 2]) -> bool {
    fingerprints.iter().all(Option::is_none)
}

/// What an agent's strength cost.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thinking {
    /// Mean wall-clock time of a decision, in seconds; 0 before the first.
    pub seconds_per_decision: f64,
    /// Mean wall-clock time of a turn, in seconds.
    pub seconds_per_turn: f64,
    /// Mean number of simulations of a decision.
    pub simulations_per_decision: f64,
}

impl Thinking {
    fn of(effort: &Effort) -> Thinking {
        let each = |total: f64, of: u64| total / of.max(1) as f64;
        Thinking {
            seconds_per_decision: each(effort.seconds, effort.decisions),
            seconds_per_turn: each(effort.seconds, effort.turns),
            simulations_per_decision: each(effort.simulations as f64, effort.decisions),
        }
    }
}

impl StudyMatch {
    /// What is known of a match; `report` is `None` before its first pair.
    pub fn of(identity: MatchIdentity, games_requested: u64, report: Option<&MatchReport>) -> StudyMatch {
        let MatchIdentity { game, seats, agents, fingerprints, seed, limits, max_decisions } = identity;
        let sprt = report.and_then(|report| report.sprt);
        let statistics = report.map(|report| report.statistics.clone());
        let played = statistics.as_ref().map_or(0, |statistics| statistics.games);
        let decided = sprt.is_some_and(|sprt| sprt.verdict.is_some());
        let thinking =
            report.map_or([Thinking::default(); 2], |report| report.cost.efforts.each_ref().map(Thinking::of));
        StudyMatch {
            identity: game,
            seats,
            agents,
            fingerprints,
            seed,
            limits,
            max_decisions,
            games_requested,
            complete: decided || played >= games_requested,
            sprt,
            statistics,
            thinking,
        }
    }

    /// Games that count.
    pub fn games(&self) -> u64 {
        self.statistics.as_ref().map_or(0, |statistics| statistics.games)
    }

    /// Whether the games of both depend on the same. Another number of games, or another test, makes no other match.
    pub fn is_same_match(&self, other: &StudyMatch) -> bool {
        let key = |of: &StudyMatch| (of.identity.clone(), of.agents.clone(), of.seed, of.max_decisions);
        // What is not known may be the same.
        let same_files =
            |(one, other): (&Option<String>, &Option<String>)| one.is_none() || other.is_none() || one == other;
        key(self) == key(other)
            && self.limits == other.limits
            && self.fingerprints.iter().zip(&other.fingerprints).all(same_files)
    }

    /// The match with A and B exchanged, which has the same dice, as far as it depends on them.
    pub fn exchanged(&self) -> StudyMatch {
        let mut exchanged = self.clone();
        exchanged.agents.reverse();
        exchanged.fingerprints.reverse();
        exchanged
    }
}

impl StudyDocument {
    /// The document of a study that nothing was played of.
    pub fn new(title: String, question: String, command: String) -> StudyDocument {
        let (version, program) = (STUDY_VERSION, PROGRAM.to_owned());
        let (played_on, runs, matches) = (Vec::new(), Vec::new(), Vec::new());
        StudyDocument { version, title, question, command, program, played_on, runs, matches }
    }

    /// Whether there is nothing more to play.
    pub fn complete(&self) -> bool {
        self.matches.iter().all(|of| of.complete)
    }

    /// Games that count in all matches.
    pub fn games(&self) -> u64 {
        self.matches.iter().map(StudyMatch::games).sum()
    }

    /// Reads a document; `None` if there is none.
    ///
    /// # Errors
    /// [`StudyDocumentError`]: it cannot be read, is of another version, is no such document, or has figures that contradict
    /// each other.
    pub fn read(path: &Path) -> Result<Option<StudyDocument>, StudyDocumentError> {
        let at = |fault| StudyDocumentError { path: path.to_path_buf(), fault };
        let document: StudyDocument = match read_document(path, STUDY_VERSION) {
            Err(DocumentFault::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|fault| at(fault.into()))?,
        };
        match figures::fault_of(&document) {
            Some(what) => Err(at(StudyDocumentFault::Figures(what))),
            None => Ok(Some(document)),
        }
    }

    /// Writes the document, in place of one that is there.
    ///
    /// # Errors
    /// [`StudyDocumentError`]: what the system said.
    pub fn write(&self, path: &Path) -> Result<(), StudyDocumentError> {
        let at = |fault: DocumentFault| StudyDocumentError { path: path.to_path_buf(), fault: fault.into() };
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| at(error.into()))?;
        text.push(b'\n');
        write_whole(path, &text).map_err(|error| at(error.into()))
    }
}

/// Why a document was not read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct StudyDocumentError {
    /// The document.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub fault: StudyDocumentFault,
}

/// What is wrong with a document.
#[derive(Debug, thiserror::Error)]
pub enum StudyDocumentFault {
    /// It cannot be read or written, or is no such document.
    #[error("{}", told(.0))]
    Document(#[from] DocumentFault),
    /// Its figures contradict each other: which, and of which match.
    #[error("{0}")]
    Figures(String),
}

/// A fault in words that name the document.
fn told(fault: &DocumentFault) -> String {
    match fault {
        DocumentFault::Io(error) => error.to_string(),
        DocumentFault::Json(error) => format!("not the document of a study: {error}"),
        DocumentFault::Version(version) => {
            format!("version {version} of a study's document, this program reads {STUDY_VERSION}")
        }
    }
}

/// The machine that this program runs on: model of its processor, and cores that the program may use.
pub fn this_machine() -> (String, usize) {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    // Only Linux tells it in a file; elsewhere the architecture has to do.
    let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    (model.map_or(std::env::consts::ARCH, |(_, model)| model.trim()).to_owned(), cores)
}

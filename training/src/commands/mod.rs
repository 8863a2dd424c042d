//! The commands of `dervish`, one file each. A command's arguments are a clap struct with a `run` that does the work;
//! what it has to say to programs goes to standard output as JSON, what else there is to say to standard error ([`tell`]).

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::arena::store::StoreError;
use crate::arena::study::document::StudyDocumentError;
use dervish_env::dervish::data_file::DataError;
use serde::Serialize;

pub mod agents;
pub mod anatomy;
pub mod battle;
pub mod bench;
#[cfg(feature = "torch")]
pub mod bench_self_play;
#[cfg(feature = "torch")]
pub mod export;
pub mod match_args;
pub mod match_games;
pub mod match_keeping;
pub mod perft;
pub mod play;
pub mod position;
pub mod progress;
pub mod ratings;
pub mod regret;
pub mod replay;
pub mod report;
pub mod scenario;
pub mod study;
pub mod table;
pub mod tournament;
#[cfg(feature = "torch")]
pub mod train;
pub mod tune;
pub mod watch;

/// Why a command did not do what it was asked: bad input, or no way to get the answer out. Shown on one line; the
/// process then ends with status 2.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// An argument that can be read but not used.
    #[error("{argument}: {reason}")]
    Argument {
        /// Which, such as `--scenario`.
        argument: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that cannot be read, or that says what cannot be.
    #[error("{file}: {reason}")]
    File {
        /// As the user named it.
        file: String,
        /// What is wrong and where.
        reason: String,
    },
    /// Faults of data files; the first is shown, the others are counted.
    #[error("{}", first_fault(.0))]
    Data(Vec<DataError>),
    /// Scenarios that `scenario check` has found faults in and told.
    #[error("{unsound} of {of} scenarios have faults")]
    Unsound {
        /// With faults.
        unsound: usize,
        /// Checked.
        of: usize,
    },
    /// A match that cannot be played or kept.
    #[error(transparent)]
    Match(#[from] match_keeping::MatchCommandError),
    /// A file of results that cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The document of a study that cannot be used.
    #[error(transparent)]
    Study(#[from] StudyDocumentError),
    /// A game with a person that cannot go on.
    #[error(transparent)]
    Play(#[from] dervish_play::terminal::PlayError),
    /// A move that cannot be played.
    #[error("move {number}, `{text}`: {reason}")]
    Move {
        /// Which of the moves given, 1 the first.
        number: usize,
        /// As the user wrote it.
        text: String,
        /// What was expected instead.
        reason: String,
    },
    /// Tuning that was not begun, or broke off.
    #[error(transparent)]
    Tune(#[from] crate::tune::tuning::TuneError),
    /// A file of a training run that cannot be read.
    #[error(transparent)]
    RunFile(#[from] crate::run_files::RunFileError),
    /// A training run of which there is no page.
    #[error(transparent)]
    RunReport(#[from] crate::run_report::RunReportError),
    /// A training run that was not begun, or broke off.
    #[error("{0}")]
    Training(String),
    /// Standard output does not take the answer.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl From<Vec<DataError>> for CommandError {
    fn from(faults: Vec<DataError>) -> CommandError {
        CommandError::Data(faults)
    }
}

fn first_fault(faults: &[DataError]) -> String {
    match faults {
        [] => "a data file is at fault".to_owned(),
        [fault] => fault.to_string(),
        [fault, others @ ..] => format!("{fault} (and {} more)", others.len()),
    }
}

/// Reads a number of threads; more than a thousand are no machine's.
fn threads(text: &str) -> Result<NonZeroUsize, &'static str> {
    let threads = text.parse().ok().filter(|threads: &NonZeroUsize| threads.get() <= 1024);
    threads.ok_or("expected a number of threads from 1 to 1024")
}

/// Reads a number of minutes for one call of work that goes on from call to call: no call is longer than an hour.
fn minutes(text: &str) -> Result<Duration, &'static str> {
    let minutes = text.parse().ok().filter(|minutes| *minutes > 0.0 && *minutes <= 60.0);
    let time = minutes.and_then(|minutes: f64| Duration::try_from_secs_f64(60.0 * minutes).ok());
    time.filter(|time| !time.is_zero()).ok_or("expected a number of minutes above 0 and at most 60")
}

/// Writes `answer` as one line of JSON to standard output.
///
/// # Errors
/// [`CommandError::Output`]; a reader that has gone away is none.
pub fn print_json(answer: &impl Serialize) -> Result<(), CommandError> {
    print_line(&serde_json::to_string(answer).map_err(io::Error::from)?)
}

/// Writes `text` and a line break to standard output.
///
/// # Errors
/// [`CommandError::Output`]; a reader that has gone away is none.
pub fn print_line(text: &str) -> Result<(), CommandError> {
    let mut out = io::stdout().lock();
    printed(writeln!(out, "{text}").and_then(|()| out.flush()))
}

/// What came of writing to standard output.
///
/// # Errors
/// [`CommandError::Output`]; a reader that has gone away is none.
pub fn printed(written: io::Result<()>) -> Result<(), CommandError> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes `text` and a line break to standard error: what people are told beside the answer. Where that cannot be written,
/// because nobody reads it any more or its disk is full, the work is as good as before and nobody is left to be told, so that
/// is passed over; `eprintln!` would end the program.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

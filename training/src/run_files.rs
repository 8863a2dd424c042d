//! The files of a run directory, for whoever looks at them while a program may be training there: nothing is written, and
//! nothing here needs libtorch.
//!
//! ```text
//! config.toml          how the run plays and learns
//! checkpoints/         one folder for each saved step; step 0 is the untrained network
//! replay/              the latest games of self-play, round by round
//! past/                networks of the run's past that are in its pool of opponents
//! anchor/              the network as it was at the first assessment, if there was one
//! playing/             the network that plays, where a gate lets it differ from the one that learns
//! metrics.jsonl        one line of figures for each round of learning
//! assessments.jsonl    one line for each time that the run was measured against other agents, if it was
//! sessions.jsonl       one line for each session: how long it was to last, and what it began with
//! clock.jsonl          one line, written anew each second: how long the run has gone so far
//! tensorboard/         the figures again, as TensorBoard reads them, one file for each session
//! train.log            what happened
//! report.html          the page of `dervish report`, once it was asked for
//! lock                 held while a program trains here
//! ```

use crate::assessment::Assessment;
use crate::self_play::round_figures::RoundFigures;
use dervish_env::persist::{LOCK, read_text};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Name of the configuration.
pub const CONFIG: &str = "config.toml";
/// Name of the folder of games.
pub const REPLAY: &str = "replay";
/// Name of the folder of networks of the past that are in the pool.
pub const PAST: &str = "past";
/// Name of the folder of the network as it was at the first assessment.
pub const ANCHOR: &str = "anchor";
/// Name of the folder of the network that plays, where a gate lets it differ from the one that learns.
pub const PLAYING: &str = "playing";
/// Name of the file of figures.
pub const METRICS: &str = "metrics.jsonl";
/// Name of the file of assessments.
pub const ASSESSMENTS: &str = "assessments.jsonl";
/// Name of the file of sessions.
pub const SESSIONS: &str = "sessions.jsonl";
/// Name of the file that says how long the run has gone, whatever was saved since.
pub const CLOCK: &str = "clock.jsonl";
/// Name of the folder of TensorBoard's files.
pub const TENSORBOARD: &str = "tensorboard";
/// Name of the page of `dervish report`.
pub const REPORT: &str = "report.html";

/// A run directory to read from.
#[derive(Clone, Debug)]
pub struct RunFiles {
    path: PathBuf,
    outline: RunOutline,
}

/// What a reader needs of a run's configuration.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct RunOutline {
    /// What is played: scenarios, scenario files, or one reference game.
    pub scenarios: Vec<String>,
    /// What is learnt from before self-play begins.
    #[serde(default)]
    pub imitation: ImitationOutline,
    /// What is kept on disk.
    #[serde(default)]
    pub storage: StorageOutline,
}

/// What a reader needs of the configuration of imitation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ImitationOutline {
    /// Games of the teacher: the first of the run.
    pub games: u64,
}

/// What a reader needs of the configuration of storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StorageOutline {
    /// What the directory may take, in MiB; 0 for no bound.
    pub disk_limit: u64,
}

/// A line of `sessions.jsonl`, written when a session begins. Together with the configuration it says how the run was made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SessionLine {
    /// Version of the program.
    pub program: String,
    /// Seconds since 1970 at which it began.
    pub began: u64,
    /// Seconds that it was to last; `None` where it was to end with a round.
    #[serde(default)]
    pub budget_seconds: Option<f64>,
    /// Rounds of the whole run with which it was to end; `None` where it was to last for a time.
    #[serde(default)]
    pub budget_rounds: Option<u64>,
    /// Seconds of training behind it when it began; `None` where an older program wrote the line.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Rounds behind it when it began.
    pub rounds: u64,
    /// Optimisation steps behind it when it began.
    pub step: u64,
}

/// A line of `metrics.jsonl`. What older programs did not write has its default.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct RoundLine {
    /// Seconds of training of the whole run.
    pub seconds: f64,
    /// Rounds learnt from, this one included.
    pub rounds: u64,
    /// Games of these rounds.
    pub games: u64,
    /// Optimisation steps.
    pub step: u64,
    /// The session's part that is over, 0..=1.
    pub elapsed: f64,
    /// Decisions a second since the session began.
    pub decisions_per_second: f64,
    /// Mean size of the batches that were evaluated in the session.
    pub mean_batch: f64,
    /// Share of the time of the threads that evaluate in which the network computed.
    pub evaluator_busy: f64,
    /// Mean time in milliseconds that a batch waited for the evaluator of all actors; 0 where each has its own.
    pub queue_wait_ms: f64,
    /// Cross-entropy of the policy in nats; 0 where none was taught.
    pub policy: f64,
    /// Entropy of the policy in nats; 0 where a search taught it.
    pub entropy: f64,
    /// Cross-entropy of win, draw and loss in nats.
    pub wdl: f64,
    /// Squared error of the margin.
    pub margin: f64,
    /// Huber loss of ln(1 + turns left).
    pub turns_left: f64,
    /// The weighted sum that was minimised.
    pub total: f64,
    /// What luck is worth, where it is taken out of the targets.
    pub luck: Option<LuckLine>,
    /// What the games of the round were like.
    pub figures: Option<RoundFigures>,
}

/// What the dice explain of the results of a round's games; `None` where a figure was not finite, which JSON cannot say.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LuckLine {
    /// The part of luck that narrows results most.
    pub best_share: Option<f64>,
    /// By what factor that narrows the interval of the mean result.
    pub narrowing: Option<f64>,
}

impl RoundLine {
    /// Entropy in nats of the policies that were learnt, or of the network's own where it learnt by policy gradient.
    pub fn policy_entropy(&self) -> Option<f64> {
        let taught = self.figures.as_ref().and_then(|figures| figures.taught_entropy);
        taught.or((self.entropy > 0.0).then_some(self.entropy))
    }
}

/// The losses of the policy that there are, each with a comma behind it: its cross-entropy where one was taught, its entropy where
/// the policy gradient moves it, both in nats.
pub fn policy_losses(policy: f64, entropy: f64, digits: usize) -> String {
    let losses = [("policy", policy), ("entropy", entropy)].into_iter().filter(|(_, loss)| *loss > 0.0);
    losses.map(|(name, loss)| format!("{name} {loss:.digits$}, ")).collect()
}

/// A file of a run directory that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}{line}: {reason}", path = path.display(), line = line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct RunFileError {
    /// The file or folder at fault.
    pub path: PathBuf,
    /// The line at fault, from 1.
    pub line: Option<usize>,
    /// What is wrong with it.
    #[source]
    pub reason: RunFileFault,
}

/// What is wrong with a file of a run directory.
#[derive(Debug, thiserror::Error)]
pub enum RunFileFault {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The configuration is not one.
    #[error("{0}")]
    Config(String),
    /// A line is no JSON, or has other fields than it should.
    #[error("{}", of_one_line(.0))]
    Line(#[from] serde_json::Error),
    /// It is not there, or has no configuration.
    #[error("is no run directory: it has no {CONFIG}")]
    NoRun,
}

/// What is wrong with a line of a file, whose number is told beside.
fn of_one_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// What a line says. `None` for one that a kill cut off: the last, or one that the next session ended by a line break.
pub(crate) fn value_of(line: &[u8]) -> Result<Option<Value>, serde_json::Error> {
    match serde_json::from_slice(line) {
        Err(error) if error.is_eof() => Ok(None),
        read => read.map(Some),
    }
}

/// Bytes at the end of a file of lines in which the last line is looked for; a line is a few kilobytes long.
const TAIL: u64 = 1 << 18;

impl RunFiles {
    /// The run in the directory `path`.
    ///
    /// # Errors
    /// [`RunFileError`] if it has no configuration, or one that cannot be read.
    pub fn open(path: &Path) -> Result<RunFiles, RunFileError> {
        let config = path.join(CONFIG);
        let read = || -> Result<RunOutline, RunFileFault> {
            let told = |error: toml::de::Error| RunFileFault::Config(error.message().replace('\n', "; "));
            toml::from_str(&read_text(&config)?).map_err(told)
        };
        let is_missing = |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        let outline = read().map_err(|reason| match reason {
            RunFileFault::Io(error) if is_missing(&error) => {
                RunFileError { path: path.to_owned(), line: None, reason: RunFileFault::NoRun }
            }
            reason => RunFileError { path: config.clone(), line: None, reason },
        })?;
        Ok(RunFiles { path: path.to_owned(), outline })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it plays.
    pub fn outline(&self) -> &RunOutline {
        &self.outline
    }

    /// The folder of the games.
    pub fn replay_folder(&self) -> PathBuf {
        self.path.join(REPLAY)
    }

    /// Every round that counts, in order: of a round that was learnt from again after a kill, the later line.
    ///
    /// # Errors
    /// [`RunFileError`] with the line that is no JSON or has other fields.
    pub fn rounds(&self) -> Result<Vec<RoundLine>, RunFileError> {
        let mut rounds: Vec<RoundLine> = Vec::new();
        for line in self.lines::<RoundLine>(METRICS)? {
            let later = rounds.iter().rposition(|known| known.rounds < line.rounds).map_or(0, |last| last + 1);
            rounds.truncate(later);
            rounds.push(line);
        }
        Ok(rounds)
    }

    /// Every session, in order.
    ///
    /// # Errors
    /// [`RunFileError`] with the line that is no JSON or has other fields.
    pub fn sessions(&self) -> Result<Vec<SessionLine>, RunFileError> {
        self.lines(SESSIONS)
    }

    /// Every assessment, in order; none where the run was not assessed.
    ///
    /// # Errors
    /// [`RunFileError`] with the line that is no JSON or has other fields.
    pub fn assessments(&self) -> Result<Vec<Assessment>, RunFileError> {
        self.lines(ASSESSMENTS)
    }

    /// The last line of a file of lines that is complete, if there is one.
    ///
    /// # Errors
    /// [`RunFileError`] if the file cannot be read, or with a line near its end that is no JSON.
    pub fn latest(&self, name: &str) -> Result<Option<Value>, RunFileError> {
        let mut tail = Vec::new();
        let read = |mut file: File| -> io::Result<u64> {
            let before = file.metadata()?.len().saturating_sub(TAIL);
            file.seek(SeekFrom::Start(before))?;
            file.take(TAIL).read_to_end(&mut tail)?;
            Ok(before)
        };
        let before = match File::open(self.path.join(name)).and_then(read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| self.fault(name, None, error.into()))?,
        };
        // A line is complete when its end is written; the first one may have begun before.
        let complete = tail.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        let lines = tail[..complete].split(|&byte| byte == b'\n').skip(usize::from(before > 0));
        let mut latest = None;
        for line in lines {
            match value_of(line) {
                Ok(value) => latest = value.or(latest),
                // Which line that is shows in the whole file.
                Err(_) => return Ok(self.lines(name)?.pop()),
            }
        }
        Ok(latest)
    }

    /// Seconds that the run has taken, whatever was saved of them: by its clock, or by its latest round where an older program,
    /// which had no clock, trained it; 0 where there is neither.
    ///
    /// # Errors
    /// As [`RunFiles::latest`].
    pub fn seconds(&self) -> Result<f64, RunFileError> {
        let lines = [self.latest(CLOCK)?, self.latest(METRICS)?];
        let told = lines.iter().flatten().filter_map(|line| line["seconds"].as_f64());
        Ok(told.fold(0.0, f64::max))
    }

    /// A line as it is known here.
    ///
    /// # Errors
    /// [`RunFileError`] if it has other fields than a line of the file `name`.
    pub fn known<T: DeserializeOwned>(&self, name: &str, line: Value) -> Result<T, RunFileError> {
        serde_json::from_value(line).map_err(|error| self.fault(name, None, error.into()))
    }

    /// Seconds since the file of figures was last written to; `None` if it is not there.
    ///
    /// # Errors
    /// [`RunFileError`] if the system does not tell.
    pub fn seconds_since_round(&self) -> Result<Option<f64>, RunFileError> {
        match fs::metadata(self.path.join(METRICS)).and_then(|metadata| metadata.modified()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // A clock that was set back makes it no age at all.
            written => written
                .map(|written| SystemTime::now().duration_since(written).unwrap_or_default())
                .map(|age| Some(age.as_secs_f64()))
                .map_err(|error| self.fault(METRICS, None, error.into())),
        }
    }

    /// Whether a program trains here just now. For that the lock is taken for an instant together with other readers;
    /// a program that begins to train in this instant tries again.
    ///
    /// # Errors
    /// [`RunFileError`] if the system does not tell.
    pub fn is_training(&self) -> Result<bool, RunFileError> {
        let file = match File::open(self.path.join(LOCK)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened.map_err(|error| self.fault(LOCK, None, error.into()))?,
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(self.fault(LOCK, None, error.into())),
        }
    }

    /// Bytes that the directory takes, by [`disk_use`].
    ///
    /// # Errors
    /// [`RunFileError`] if it cannot be read.
    pub fn disk_use(&self) -> Result<u64, RunFileError> {
        disk_use(&self.path).map_err(|error| RunFileError { path: self.path.clone(), line: None, reason: error.into() })
    }

    fn fault(&self, name: &str, line: Option<usize>, reason: RunFileFault) -> RunFileError {
        RunFileError { path: self.path.join(name), line, reason }
    }

    /// The lines of a file; none if it is not there. A line that was cut off, by a kill or because it is being written, is
    /// passed over.
    fn lines<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, RunFileError> {
        let file = match File::open(self.path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened.map_err(|error| self.fault(name, None, error.into()))?,
        };
        let mut lines = Vec::new();
        for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
            let line = line.map_err(|error| self.fault(name, Some(index + 1), error.into()))?;
            let told = |error: serde_json::Error| self.fault(name, Some(index + 1), error.into());
            if let Some(value) = value_of(&line).map_err(told)? {
                lines.push(serde_json::from_value(value).map_err(told)?);
            }
        }
        Ok(lines)
    }
}

/// Bytes of all files in `folder` and below, by their lengths: folders themselves and what the file system adds are not
/// counted, links count as themselves. What vanishes meanwhile counts as nothing.
///
/// # Errors
/// Whatever the file system says.
pub fn disk_use(folder: &Path) -> io::Result<u64> {
    let gone = |error: io::Error| if error.kind() == io::ErrorKind::NotFound { Ok(0) } else { Err(error) };
    let entries = match fs::read_dir(folder) {
        Err(error) => return gone(error),
        Ok(entries) => entries,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        bytes += match entry.metadata() {
            Err(error) => gone(error)?,
            Ok(metadata) if metadata.is_dir() => disk_use(&entry.path())?,
            Ok(metadata) => metadata.len(),
        };
    }
    Ok(bytes)
}

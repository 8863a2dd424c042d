//! The folder of a match: `match.json` and one record for each game.

use crate::arena::report::{MATCH_VERSION, MatchReport};
use dervish_env::persist::{DocumentFault, LOCK, UNFINISHED, lock_folder, read_document, write_whole};
use dervish_env::record::Record;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the document in a match's folder.
pub const MATCH_FILE: &str = "match.json";
/// Name of the folder of records in it.
const GAMES: &str = "games";

/// A folder that belongs to one match. Every file in it is whole: it is written beside its place and then renamed.
#[derive(Debug)]
pub struct MatchFolder {
    path: PathBuf,
    /// Held as long as games are added.
    _lock: File,
}

/// What is known of a match that goes on from call to call, against which its folder is held.
pub struct KnownGames<'k> {
    /// Games that were played already: each has a record.
    pub played: u32,
    /// Games that are asked for: no other has one.
    pub asked: u32,
    /// Whether a record can be that of the game of this number.
    pub is_record_of: &'k dyn Fn(u32, &Record) -> bool,
}

impl MatchFolder {
    /// Makes the folder, with its parents. It may have the lock of a program that ended before its first game.
    ///
    /// # Errors
    /// [`FolderError::NotEmpty`] if something is in it already, [`FolderError::InUse`] if another program begins a match there,
    /// [`FolderError::Io`] if it cannot be made or read.
    pub fn create(path: &Path) -> Result<MatchFolder, FolderError> {
        let failed = |source| FolderError::Io { path: path.to_path_buf(), source };
        fs::create_dir_all(path).map_err(failed)?;
        let empty_but_for_lock = || -> Result<(), FolderError> {
            match entries(path)?.iter().all(|(name, _)| name == LOCK) {
                true => Ok(()),
                false => Err(FolderError::NotEmpty { path: path.to_path_buf() }),
            }
        };
        empty_but_for_lock()?;
        let lock = lock(path)?;
        // Whoever had the lock before may have played a match here.
        empty_but_for_lock()?;
        Ok(MatchFolder { path: path.to_path_buf(), _lock: lock })
    }

    /// Refuses a folder in which something is that no match has, a match that has `begun` or one that has not; it need not be
    /// there. Nothing is made.
    ///
    /// # Errors
    /// [`FolderError::NotEmpty`], and [`FolderError::Io`] if it, or what it would lie in, is no folder.
    pub fn refuse_foreign(path: &Path, begun: bool) -> Result<(), FolderError> {
        entries_of_match(path, begun).map(drop)
    }

    /// The folder of a match that goes on, made if the match begins. A kill may have left records of a pair that was not
    /// booked, which is played again.
    ///
    /// # Errors
    /// [`FolderError`]: a record is missing, of another match, or of more games than are asked for; something else is in
    /// the folder, or another program adds to it.
    pub fn go_on(path: &Path, games: &KnownGames<'_>) -> Result<MatchFolder, FolderError> {
        let failed = |source| FolderError::Io { path: path.to_path_buf(), source };
        let missing = |games: u32| FolderError::RecordsMissing { path: path.to_path_buf(), games };
        if games.played > 0 && !path.exists() {
            return Err(missing(games.played));
        }
        let here = entries_of_match(path, games.played > 0)?;
        let records = path.join(GAMES);
        fs::create_dir_all(&records).map_err(failed)?;
        let lock = lock(path)?;
        let (left, kept): (Vec<_>, Vec<_>) = entries(&records)?.into_iter().partition(|(name, _)| unfinished(name));
        let mut found = 0;
        for (name, file) in kept {
            let number = name.strip_suffix(".record").and_then(|number| number.parse::<u32>().ok());
            let is_record = |number: u32| Record::read(&file).is_ok_and(|record| (games.is_record_of)(number, &record));
            match number {
                Some(number) if number >= games.asked => {
                    return Err(FolderError::MoreGames { path: path.to_path_buf(), asked: games.asked });
                }
                Some(number) if is_record(number) => found += u32::from(number < games.played),
                _ => return Err(FolderError::Foreign { path: file }),
            }
        }
        if found < games.played {
            return Err(missing(games.played - found));
        }
        // A program that was killed may have left files half-written.
        for (_, file) in left.iter().chain(here.iter().filter(|(name, _)| unfinished(name))) {
            fs::remove_file(file).map_err(failed)?;
        }
        Ok(MatchFolder { path: path.to_path_buf(), _lock: lock })
    }

    fn record_file(&self, game: u32) -> PathBuf {
        self.path.join(GAMES).join(format!("{game:05}.record"))
    }

    /// Writes the record of game number `game` as `games/00000.record`, five digits or more.
    ///
    /// # Errors
    /// What the system said.
    pub fn write_record(&self, game: u32, record: &Record) -> io::Result<()> {
        fs::create_dir_all(self.path.join(GAMES))?;
        write_whole(&self.record_file(game), record.to_string().as_bytes())
    }

    /// Writes the document of the match.
    ///
    /// # Errors
    /// [`FolderError::Io`].
    pub fn write_report(&self, report: &MatchReport) -> Result<(), FolderError> {
        let written = serde_json::to_vec_pretty(report).map_err(io::Error::from);
        let written = written.and_then(|text| write_whole(&self.path.join(MATCH_FILE), &text));
        written.map_err(|source| FolderError::Io { path: self.path.join(MATCH_FILE), source })
    }

    /// Reads the document of a match that was played earlier.
    ///
    /// # Errors
    /// [`FolderError`]: it cannot be read, is of another version, or is no such document.
    pub fn read_report(path: &Path) -> Result<MatchReport, FolderError> {
        let path = path.join(MATCH_FILE);
        read_document(&path, MATCH_VERSION).map_err(|fault| match fault {
            DocumentFault::Io(source) => FolderError::Io { path, source },
            DocumentFault::Json(source) => FolderError::Malformed { path, source },
            DocumentFault::Version(version) => FolderError::Version { path, version },
        })
    }
}

/// Keeps the folder to this program.
fn lock(path: &Path) -> Result<File, FolderError> {
    let lock = lock_folder(path, 1).map_err(|source| FolderError::Io { path: path.to_path_buf(), source })?;
    lock.ok_or_else(|| FolderError::InUse { path: path.to_path_buf() })
}

/// Whether a file of this name was being written when its program was killed.
fn unfinished(name: &str) -> bool {
    name.starts_with(UNFINISHED)
}

/// The entries of a match's folder: what belongs to somebody else is neither written into nor swept.
fn entries_of_match(path: &Path, begun: bool) -> Result<Vec<(String, PathBuf)>, FolderError> {
    let known = |name: &str| name == GAMES || name == LOCK || (name == MATCH_FILE && begun) || unfinished(name);
    let here = entries(path)?;
    match here.iter().all(|(name, _)| known(name)) {
        true => Ok(here),
        false => Err(FolderError::NotEmpty { path: path.to_path_buf() }),
    }
}

/// The entries of a folder by name; none if there is no folder.
fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, FolderError> {
    let read = || -> io::Result<Vec<(String, PathBuf)>> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        entries
            .map(|entry| entry.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())))
            .collect()
    };
    read().map_err(|source| FolderError::Io { path: folder.to_path_buf(), source })
}

/// What is wrong with a match's folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Nothing is overwritten.
    #[error("{} is not empty; name a new folder", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// Records are kept of all games of a match or of none.
    #[error("{} has no record of {games} of the games that were played already; keep no records, or play anew", path.display())]
    RecordsMissing {
        /// The folder.
        path: PathBuf,
        /// How many are missing.
        games: u32,
    },
    /// A record there belongs to something else.
    #[error("{} is no record of this match", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Asked for fewer games, a match would lose records.
    #[error("{} has records of more games than the {asked} that are asked for", path.display())]
    MoreGames {
        /// The folder.
        path: PathBuf,
        /// Games that are asked for.
        asked: u32,
    },
    /// Two programs would write over each other.
    #[error("{}: another program adds to it", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The document was written by another version.
    #[error("{}: version {version} of the match document, this program reads {MATCH_VERSION}", path.display())]
    Version {
        /// The document.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// The document is no match document.
    #[error("{}: {source}", path.display())]
    Malformed {
        /// The document.
        path: PathBuf,
        /// What is wrong and where.
        source: serde_json::Error,
    },
}

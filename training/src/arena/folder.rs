//! The folder of a match: `match.json` and one record for each game.

use crate::arena::report::{MATCH_VERSION, MatchReport};
use dervish_env::persist::{DocumentFault, read_document, write_whole};
use dervish_env::record::Record;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the document in a match's folder.
pub const MATCH_FILE: &str = "match.json";

/// A folder that belongs to one match. Every file in it is whole: it is written beside its place and then renamed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchFolder {
    path: PathBuf,
}

impl MatchFolder {
    /// Makes the folder, with its parents.
    ///
    /// # Errors
    /// [`FolderError::NotEmpty`] if something is in it already, [`FolderError::Io`] if it cannot be made or read.
    pub fn create(path: &Path) -> Result<MatchFolder, FolderError> {
        let failed = |source| FolderError::Io { path: path.to_path_buf(), source };
        fs::create_dir_all(path).map_err(failed)?;
        if fs::read_dir(path).map_err(failed)?.next().is_some() {
            return Err(FolderError::NotEmpty { path: path.to_path_buf() });
        }
        Ok(MatchFolder { path: path.to_path_buf() })
    }

    /// Writes the record of game number `game` as `games/00000.record`, five digits or more.
    ///
    /// # Errors
    /// What the system said.
    pub fn write_record(&self, game: u32, record: &Record) -> io::Result<()> {
        let games = self.path.join("games");
        fs::create_dir_all(&games)?;
        write_whole(&games.join(format!("{game:05}.record")), record.to_string().as_bytes())
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

/// What is wrong with a match's folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Nothing is overwritten.
    #[error("{} is not empty; name a new folder", path.display())]
    NotEmpty {
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

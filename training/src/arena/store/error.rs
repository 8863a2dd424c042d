//! What is wrong with a file of results.

use super::schema::SCHEMA_VERSION;
use std::io;
use std::path::{Path, PathBuf};

/// What is wrong with a file of results.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be read or made.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is something else.
    #[error("{}: not an SQLite file", path.display())]
    NotSqlite {
        /// The file.
        path: PathBuf,
    },
    /// It belongs to another program.
    #[error("{}: an SQLite file, but not one of the arena's results", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It was written by another version.
    #[error("{}: version {version} of the tables, this program has {SCHEMA_VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It is ours but broken.
    #[error("{}: damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It can be read alone.
    #[error("{}: the file or its folder cannot be written", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It can be read alone, and is not whole without its journal, which only a writer takes in.
    #[error(
        "{}: the file or its folder cannot be written, and {} may hold games of it; copy both to where they can be",
        path.display(),
        journal.display()
    )]
    Journal {
        /// The file.
        path: PathBuf,
        /// The journal beside it.
        journal: PathBuf,
    },
    /// An agent is not the one any more whose games it has.
    #[error(
        "{}: holds games that {agent} played by other contents of its files; name another file of results, or give the agent \
         files of another name",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Spec of the agent.
        agent: String,
    },
    /// The same dice, and where the agents draw nothing the same games, would count twice.
    #[error(
        "{}: holds this match with A and B exchanged, {} against {} on the same dice; ask for it that way round, or give \
         another seed",
        path.display(),
        agents[0],
        agents[1]
    )]
    Exchanged {
        /// The file.
        path: PathBuf,
        /// Specs of A and B in the match that it holds.
        agents: [String; 2],
    },
    /// Two processes play one match.
    #[error("{}: game {game} has been written by another process that plays the same match", path.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// Number of the game, from 0.
        game: u32,
    },
    /// SQLite refused.
    #[error("{}: {source}", path.display())]
    Sql {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
}

/// SQLite's errors as those of the file at `path`.
pub(super) fn sql_fault(path: &Path) -> impl Fn(rusqlite::Error) -> StoreError {
    let path = path.to_path_buf();
    move |source| match source {
        rusqlite::Error::IntegralValueOutOfRange(_, number) => {
            StoreError::Damaged { path: path.clone(), what: format!("{number} is no number of its column") }
        }
        source => StoreError::Sql { path: path.clone(), source },
    }
}

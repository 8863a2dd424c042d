//! The window of the latest games, in memory and on disk.

use crate::self_play::game::SelfPlayGame;
use dervish_env::chance::SplitMix64;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The latest games of a run, the oldest first.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayWindow {
    games: VecDeque<SelfPlayGame>,
    capacity: usize,
}

/// Why a window was not written or not read.
#[derive(Debug, thiserror::Error)]
#[error("{path}{line}: {reason}", path = path.display(), line = line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct ReplayError {
    /// The file at fault.
    pub path: PathBuf,
    /// The line at fault, from 1.
    pub line: Option<usize>,
    /// What is wrong with it.
    #[source]
    pub reason: ReplayFault,
}

/// What is wrong with a window on disk.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFault {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line is not a game.
    #[error("not a game of self-play: {0}")]
    Game(#[from] serde_json::Error),
}

impl ReplayWindow {
    /// An empty window of at most `capacity` games, at least 1.
    pub fn new(capacity: usize) -> ReplayWindow {
        ReplayWindow { games: VecDeque::new(), capacity: capacity.max(1) }
    }

    /// Adds a game; the oldest makes room for it.
    pub fn push(&mut self, game: SelfPlayGame) {
        if self.games.len() == self.capacity {
            self.games.pop_front();
        }
        self.games.push_back(game);
    }

    /// Number of games.
    pub fn len(&self) -> usize {
        self.games.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// The latest `count` games, or all if there are fewer, the oldest of them first.
    pub fn latest(&self, count: usize) -> impl Iterator<Item = &SelfPlayGame> {
        self.games.range(self.games.len().saturating_sub(count)..)
    }

    /// A game drawn with equal probabilities; `None` from an empty window.
    pub fn draw(&self, rng: &mut SplitMix64) -> Option<&SelfPlayGame> {
        self.games.get(rng.below(self.games.len()))
    }

    /// Writes the window as one line of JSON for each game. The file is replaced at once or not at all.
    ///
    /// # Errors
    /// [`ReplayError`]; the file is then as it was.
    pub fn save(&self, path: &Path) -> Result<(), ReplayError> {
        let write = || -> Result<(), ReplayFault> {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let scratch = tempfile::Builder::new().prefix(".window-").tempfile_in(folder)?;
            let mut lines = BufWriter::new(scratch);
            for game in &self.games {
                // Only writing can fail here, which says nothing against the game.
                serde_json::to_writer(&mut lines, game).map_err(io::Error::from)?;
                lines.write_all(b"\n")?;
            }
            let scratch = lines.into_inner().map_err(io::IntoInnerError::into_error)?;
            scratch.as_file().sync_all()?;
            scratch.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|reason| ReplayError { path: path.to_owned(), line: None, reason })
    }

    /// Reads a window of at most `capacity` games. A file that is not there is an empty window: a run writes it together
    /// with its first checkpoint after the untrained one.
    ///
    /// # Errors
    /// [`ReplayError`] with the line that is no game.
    pub fn load(path: &Path, capacity: usize) -> Result<ReplayWindow, ReplayError> {
        let fault = |line, reason| ReplayError { path: path.to_owned(), line, reason };
        let mut window = ReplayWindow::new(capacity);
        if !fs::exists(path).map_err(|error| fault(None, error.into()))? {
            return Ok(window);
        }
        let file = File::open(path).map_err(|error| fault(None, error.into()))?;
        for (index, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(|error| fault(Some(index + 1), error.into()))?;
            window.push(serde_json::from_str(&line).map_err(|error| fault(Some(index + 1), error.into()))?);
        }
        Ok(window)
    }
}

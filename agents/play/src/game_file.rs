//! The file in which a game is kept while it is played.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dervish_env::record::Record;

/// A file for the record of one game. What another program has changed there is not written over.
#[derive(Clone, Debug)]
pub struct GameFile {
    path: PathBuf,
    /// What stands in the file, as far as this program knows; `None` if whatever stands there may be replaced.
    known: Option<Vec<u8>>,
}

impl GameFile {
    /// A file that is made, or replaced, when the record is written first.
    pub fn new(path: &Path) -> GameFile {
        GameFile { path: path.to_path_buf(), known: None }
    }

    /// The file of a game that was left, with which it goes on.
    ///
    /// # Errors
    /// What the file system says.
    pub fn of_left_game(path: &Path) -> io::Result<GameFile> {
        Ok(GameFile { path: path.to_path_buf(), known: Some(fs::read(path)?) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the record, whole or not at all.
    ///
    /// # Errors
    /// What the file system says, or that another program has changed the file since this one read or wrote it last.
    pub fn keep(&mut self, record: &Record) -> io::Result<()> {
        if let Some(known) = &self.known
            && fs::read(&self.path).ok().as_ref() != Some(known)
        {
            let reason = "another program has changed it meanwhile, so that it is left as it is";
            return Err(io::Error::other(format!("{}: {reason}", self.path.display())));
        }
        record.write(&self.path).map_err(io::Error::other)?;
        self.known = Some(record.to_string().into_bytes());
        Ok(())
    }
}

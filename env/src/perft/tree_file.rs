//! Node counts kept in a file, to be compared after every change of the rules.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{MAX_DEPTH, PerftCounts};
use crate::persist::{read_text, write_whole};

/// What stands above the counts in every file.
const HEADER: &str = "\
# Numbers of nodes of game trees. `dervish perft FILE --update` (for the project's own file `make perft`) counts them anew
# after an intended change of the rules, to the same depths; a new tree needs `start` and `depth` only.
#
# start: a built-in scenario, or a position file, seen from the folder of this file
# depth: plies, each order and each outcome of a roll one
# nodes: at each depth from 0: where a player decides, where a roll is due, finished games
";

/// The trees of a file.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeFile {
    /// Version of the rules by which the nodes were counted.
    pub rules_version: u32,
    /// The trees, in the order of the file.
    #[serde(rename = "tree", default)]
    pub trees: Vec<Tree>,
}

/// The nodes below one position.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// What names the position at the root.
    pub start: String,
    /// Plies below the root that are counted, 0 to [`MAX_DEPTH`].
    #[serde(deserialize_with = "depth")]
    pub depth: u16,
    /// Numbers of nodes `[player, chance, finished]` at each depth from 0 to `depth`; empty where not yet counted.
    #[serde(default)]
    pub nodes: Vec<[u64; 3]>,
}

impl From<PerftCounts> for [u64; 3] {
    fn from(counts: PerftCounts) -> [u64; 3] {
        [counts.player, counts.chance, counts.terminal]
    }
}

impl TreeFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`TreeFileError`], with the line where the fault can be placed.
    pub fn read(path: &Path) -> Result<TreeFile, TreeFileError> {
        TreeFile::parse(&read_text(path)?)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`TreeFileError::Form`].
    pub fn parse(text: &str) -> Result<TreeFile, TreeFileError> {
        toml::from_str(text).map_err(|error| TreeFileError::Form {
            line: error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count()),
            reason: error.message().replace('\n', "; "),
        })
    }

    /// Writes the file whole or not at all.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write_whole(path, self.text().as_bytes())
    }

    /// The text of the file, one line for each depth of each tree.
    pub fn text(&self) -> String {
        let mut text = format!("{HEADER}\nrules_version = {}\n", self.rules_version);
        for Tree { start, depth, nodes } in &self.trees {
            // Writing to a string cannot fail.
            let start = toml::Value::from(start.as_str());
            let _ = write!(text, "\n[[tree]]\nstart = {start}\ndepth = {depth}\nnodes = [\n");
            for [player, chance, finished] in nodes {
                let _ = writeln!(text, "    [{player}, {chance}, {finished}],");
            }
            text.push_str("]\n");
        }
        text
    }
}

fn depth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    match u16::deserialize(deserializer)? {
        depth if depth > MAX_DEPTH => Err(D::Error::custom(format!("depth {depth} is over {MAX_DEPTH}"))),
        depth => Ok(depth),
    }
}

/// Why the trees of a file are not to be had.
#[derive(Debug, thiserror::Error)]
pub enum TreeFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It can be read and not understood.
    #[error("line {line}: {reason}")]
    Form {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

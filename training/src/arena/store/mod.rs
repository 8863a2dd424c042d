//! All results in one SQLite file: who played, by which rules, every game, and the ratings that follow.
//!
//! A match is named by what its games depend on: program, game and rules, the two agents, the seed and the bounds. Asked
//! for again it goes on after its last whole pair, so a match may be killed at any moment and more games may be asked
//! for later. A pair is written in one transaction; the file's key of match and game keeps any game from being counted
//! twice, and no match is entered of which there are games with A and B exchanged: these have the same dice.
//!
//! An agent is named by its spec and the program's version, and beside them its fingerprint is kept: once there are games of
//! it, others of that name that it plays by other files are refused. Where its code changes without a new version, or it is
//! a program of its own, a new file of results must begin. While a program has the file open, the latest pairs may lie in a
//! journal beside it (SQLite's write-ahead log); the next opening takes them in.
//!
//! A file is made under a temporary name with its tables and then renamed, so one that is there is whole, and its header
//! says at once whether it is ours: nothing is ever written to another. What a killed program leaves of one is removed when
//! the next is made. A file that cannot be written is read as it is.
//!
//! # Layout
//! * `schema`: the tables, of this version and of older ones.
//! * `opening`: making and opening a file, and what is held against it.
//! * `writing`: matches, games and ratings entered.
//! * `reading`: what was entered, and what no row can be.
//! * `error`: what is wrong with a file.

mod error;
mod opening;
mod reading;
mod schema;
mod writing;

pub use error::StoreError;
pub use schema::SCHEMA_VERSION;

use crate::arena::match_play::PlayedGame;
use dervish_agents::limits::Limits;
use dervish_env::game::GameIdentity;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of this program, of which play depends as it does on the rules.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// What the games of a match depend on.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchIdentity {
    /// Game, rules and scenario.
    pub game: GameIdentity,
    /// Names of the first and the second seat.
    pub seats: [String; 2],
    /// Specs of A and B.
    pub agents: [String; 2],
    /// Fingerprints of A and B ([`dervish_agents::agent::Agent::fingerprint`]); they make no other match, but are held
    /// against those of earlier games.
    pub fingerprints: [Option<String>; 2],
    /// Names the dice and the agents' random streams.
    pub seed: u64,
    /// How much both agents may think.
    pub limits: Limits,
    /// Decisions after which games are cut off.
    pub max_decisions: Option<u32>,
}

/// Names a match in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchId(i64);

/// What bounds the games of a match, as JSON in its row and in those of ratings.
#[derive(Serialize, Deserialize)]
struct Bounds {
    #[serde(flatten)]
    limits: Limits,
    max_decisions: Option<u32>,
}

impl Bounds {
    /// As a row has them.
    fn text(&self) -> rusqlite::Result<String> {
        serde_json::to_string(self).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

/// A program with the rules that it plays by. Results can be compared that share it and their bounds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StoredVersion {
    #[serde(skip)]
    id: i64,
    /// Version of the program.
    pub program: String,
    /// Game, rules and scenario.
    pub identity: GameIdentity,
    /// Names of the first and the second seat.
    pub seats: [String; 2],
}

impl StoredVersion {
    /// Whether this program plays by this version with a game of this identity.
    pub fn is_current(&self, identity: &GameIdentity) -> bool {
        self.program == PROGRAM && self.identity == *identity
    }

    /// The name of what is played, as `--scenario` takes it.
    pub fn scenario(&self) -> &str {
        self.identity.name()
    }
}

/// A match of a version with its whole pairs.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredMatch {
    /// Specs of A and B.
    pub agents: [String; 2],
    /// How much both agents might think.
    pub limits: Limits,
    /// Decisions after which games were cut off.
    pub max_decisions: Option<u32>,
    /// In order, from number 0 on.
    pub pairs: Vec<[PlayedGame; 2]>,
}

/// A rating as it is stored.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredRating {
    /// Spec of the agent.
    pub agent: String,
    /// Games that it rests on.
    pub games: u64,
    /// Elo points: the estimate and the ends of its interval.
    pub elo: [f64; 3],
}

/// A file of results.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
}

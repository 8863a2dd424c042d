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

use crate::arena::match_play::{Contestant, Effort, GameOutcome, PlayedGame};
use dervish_agents::limits::Limits;
use dervish_env::game::{GameIdentity, GameResult, Seat};
use dervish_env::persist::UNFINISHED;
use dervish_env::record::Forfeit;
use rusqlite::{
    Connection, ErrorCode, MAIN_DB, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Version of the tables, kept as SQLite's `user_version`. A reader refuses others, except the one before.
pub const SCHEMA_VERSION: u32 = 3;

/// The last version that is read though it is no longer written: it had no fingerprints, so none is known. The next match
/// that is entered makes the file one of [`SCHEMA_VERSION`].
const OLD_SCHEMA_VERSION: u32 = 2;

/// What marks a file as ours, SQLite's `application_id`: `DRVS`.
const APPLICATION_ID: u32 = u32::from_be_bytes(*b"DRVS");

/// Version of this program, of which play depends as it does on the rules.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// The table that [`OLD_SCHEMA_VERSION`] lacks.
const FINGERPRINTS: &str = "CREATE TABLE fingerprints ( -- of agents that play by files
        version INTEGER NOT NULL REFERENCES versions,
        agent INTEGER NOT NULL REFERENCES agents,
        fingerprint TEXT NOT NULL,
        PRIMARY KEY (version, agent)
    ) STRICT, WITHOUT ROWID";

/// The tables. `seed`, `dice_seed` and `events_hash` are 64-bit numbers as SQLite has them, signed.
const TABLES: [&str; 6] = [
    "CREATE TABLE agents (
        id INTEGER PRIMARY KEY,
        spec TEXT NOT NULL UNIQUE -- with every option written out
    ) STRICT",
    "CREATE TABLE versions (
        id INTEGER PRIMARY KEY,
        program TEXT NOT NULL,
        game TEXT NOT NULL,
        scenario TEXT NOT NULL, -- empty where the game has but one start
        rules_version INTEGER NOT NULL,
        rules_hash TEXT NOT NULL,
        first_seat TEXT NOT NULL,
        second_seat TEXT NOT NULL,
        UNIQUE (program, game, scenario, rules_version, rules_hash)
    ) STRICT",
    "CREATE TABLE matches (
        id INTEGER PRIMARY KEY,
        version INTEGER NOT NULL REFERENCES versions,
        a INTEGER NOT NULL REFERENCES agents,
        b INTEGER NOT NULL REFERENCES agents,
        seed INTEGER NOT NULL,
        bounds TEXT NOT NULL, -- limits on thinking and on decisions, as JSON
        UNIQUE (version, a, b, seed, bounds)
    ) STRICT",
    "CREATE TABLE games (
        match INTEGER NOT NULL REFERENCES matches,
        game INTEGER NOT NULL, -- 2p and 2p + 1 are pair p
        first TEXT NOT NULL CHECK (first IN ('a', 'b')), -- who had the first seat
        dice_seed INTEGER NOT NULL,
        winner INTEGER CHECK (winner IN (1, 2)), -- seat; NULL for a draw
        margin REAL NOT NULL, -- in [-1, 1] as the first seat sees it
        decisions INTEGER NOT NULL,
        truncated INTEGER NOT NULL CHECK (truncated IN (0, 1)),
        forfeited_by INTEGER CHECK (forfeited_by IN (1, 2)), -- seat
        forfeit_reason TEXT,
        events_hash INTEGER NOT NULL,
        luck REAL, -- of the first seat; NULL where it was not measured
        a_decisions INTEGER NOT NULL,
        a_turns INTEGER NOT NULL,
        a_simulations INTEGER NOT NULL,
        a_seconds REAL NOT NULL,
        b_decisions INTEGER NOT NULL,
        b_turns INTEGER NOT NULL,
        b_simulations INTEGER NOT NULL,
        b_seconds REAL NOT NULL,
        PRIMARY KEY (match, game)
    ) STRICT, WITHOUT ROWID",
    "CREATE TABLE ratings ( -- as last computed, for other programs; the games alone decide
        version INTEGER NOT NULL REFERENCES versions,
        agent INTEGER NOT NULL REFERENCES agents,
        games INTEGER NOT NULL,
        elo REAL NOT NULL,
        low REAL NOT NULL, -- 95% interval
        high REAL NOT NULL,
        PRIMARY KEY (version, agent)
    ) STRICT, WITHOUT ROWID",
    FINGERPRINTS,
];

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

/// The bounds of a match, as its row has them.
#[derive(Serialize, Deserialize)]
struct Bounds {
    #[serde(flatten)]
    limits: Limits,
    max_decisions: Option<u32>,
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

    /// The name that `--scenario` takes: the scenario, or the game where it has but one start.
    pub fn scenario(&self) -> &str {
        if self.identity.scenario.is_empty() { &self.identity.game } else { &self.identity.scenario }
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

impl Store {
    /// Opens the file to write into it, and makes it first, with its folder, if there is none.
    ///
    /// # Errors
    /// [`StoreError`]; a file that is not ours, broken, or of another version is left as it was.
    pub fn open_or_create(path: &Path) -> Result<Store, StoreError> {
        let there = Store::open_if_there(path)?;
        there.map_or_else(|| create(path).and_then(|()| Store::open_to_write(path)), Ok)
    }

    /// Opens the file to write into it; `None` if there is none.
    ///
    /// # Errors
    /// As [`Store::open_or_create`].
    pub fn open_if_there(path: &Path) -> Result<Option<Store>, StoreError> {
        let there = path.try_exists().map_err(|source| StoreError::Io { path: path.to_path_buf(), source })?;
        there.then(|| Store::open_to_write(path)).transpose()
    }

    fn open_to_write(path: &Path) -> Result<Store, StoreError> {
        let store = Store::open(path)?;
        if store.is_read_only() { Err(StoreError::ReadOnly { path: path.to_path_buf() }) } else { Ok(store) }
    }

    /// Opens a file that is there, to be read alone where it cannot be written.
    ///
    /// # Errors
    /// As [`Store::open_or_create`], and if there is no such file.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        check_header(path)?;
        // Behind a folder's name, SQLite takes `:memory:` and `file:...` for the file names that they are here.
        match Store::connect(path, &Path::new(".").join(path), OpenFlags::SQLITE_OPEN_READ_WRITE) {
            Err(StoreError::Sql { source, .. }) if wants_to_write(&source) => Store::open_unchanging(path),
            opened => opened,
        }
    }

    /// Opens a file beside which no journal can be made: as one that nobody changes, of which SQLite reads no journal.
    fn open_unchanging(path: &Path) -> Result<Store, StoreError> {
        let file = path.canonicalize().map_err(|source| StoreError::Io { path: path.to_path_buf(), source })?;
        let mut journal = file.clone().into_os_string();
        journal.push("-wal");
        if fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0) {
            return Err(StoreError::Journal { path: path.to_path_buf(), journal: journal.into() });
        }
        let bytes: String = file.as_os_str().as_encoded_bytes().iter().map(|byte| format!("%{byte:02x}")).collect();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Store::connect(path, Path::new(&format!("file:{bytes}?immutable=1")), flags)
    }

    /// Opens the file by the name that SQLite is given for it, and checks it.
    fn connect(path: &Path, name: &Path, flags: OpenFlags) -> Result<Store, StoreError> {
        let failed = sql_fault(path);
        let connection = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(&failed)?;
        connection.busy_timeout(Duration::from_secs(30)).map_err(&failed)?;
        let damaged = |what: String| StoreError::Damaged { path: path.to_path_buf(), what };
        let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(&failed)?;
        if sound != "ok" {
            return Err(damaged(sound.lines().last().unwrap_or_default().to_string()));
        }
        let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(&failed)?;
        for table in TABLES.into_iter().filter(|table| version != OLD_SCHEMA_VERSION || *table != FINGERPRINTS) {
            let known = connection
                .query_row("SELECT 1 FROM sqlite_schema WHERE sql = ?1", [table], |_| Ok(()))
                .optional()
                .map_err(&failed)?;
            if known.is_none() {
                let name = table.split_whitespace().nth(2).unwrap_or_default();
                return Err(damaged(format!("table {name} is missing or not that of version {version}")));
            }
        }
        // A trigger would do to the tables what somebody else has thought of.
        let trigger = connection
            .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'trigger'", [], |_| Ok(()))
            .optional()
            .map_err(&failed)?;
        if trigger.is_some() {
            return Err(StoreError::Foreign { path: path.to_path_buf() });
        }
        let dangling = connection
            .query_row("PRAGMA foreign_key_check", [], |row| Ok([row.get::<_, String>(0)?, row.get(2)?]))
            .optional()
            .map_err(&failed)?;
        if let Some([table, parent]) = dangling {
            return Err(damaged(format!("a row of table {table} names one of table {parent} that is missing")));
        }
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(&failed)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(&failed)?;
        Ok(Store { path: path.to_path_buf(), connection })
    }

    /// Whether the file, or its folder, cannot be written.
    pub fn is_read_only(&self) -> bool {
        // SQLite does not know of a database only if it has none of that name.
        self.connection.is_readonly(MAIN_DB).unwrap_or(true)
    }

    /// The match of this identity, entered if it is new. Of agents whose fingerprints are not known, these are from now on.
    /// Where an older program has entered games both ways round, both may go on.
    ///
    /// # Errors
    /// [`StoreError::Changed`] if the file has games of an agent that it played by other files, [`StoreError::Exchanged`] if it
    /// has games of this match with A and B exchanged; nothing is entered then. [`StoreError::Sql`].
    pub fn enter_match(&mut self, identity: &MatchIdentity) -> Result<MatchId, StoreError> {
        let failed = sql_fault(&self.path);
        let enter = |connection: &mut Connection| -> rusqlite::Result<Result<MatchId, Refusal>> {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            renew_tables(&transaction)?;
            let entered = enter_match(&transaction, identity)?;
            if entered.is_ok() {
                transaction.commit()?;
            }
            Ok(entered)
        };
        let entered = enter(&mut self.connection).map_err(failed)?;
        entered.map_err(|refusal| refusal.of(&self.path))
    }

    /// The whole pairs of a match that were played so far, in order from number 0 on.
    ///
    /// # Errors
    /// [`StoreError`]: a gap, half a pair or a figure that no game has mean that the file was meddled with.
    pub fn pairs_of(&self, match_id: MatchId) -> Result<Vec<[PlayedGame; 2]>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare(
                "SELECT *, (forfeited_by IS NULL) <> (forfeit_reason IS NULL) AS half_forfeited
                 FROM games WHERE match = ?1 ORDER BY game",
            )?;
            let game = |row: &Row| Ok((game_of(row)?, row.get("half_forfeited")?));
            statement.query_map([match_id.0], game)?.collect::<rusqlite::Result<Vec<(PlayedGame, bool)>>>()
        };
        let games = read().map_err(sql_fault(&self.path))?;
        let fault_of = |(game, half_forfeited): &(PlayedGame, bool)| {
            let half = half_forfeited.then_some("its forfeit lacks the seat or the reason");
            Some((game.outcome.game, half.or_else(|| nonsense(game))?))
        };
        if let Some((game, what)) = games.iter().find_map(fault_of) {
            let what = format!("game {game} of match {}: {what}", match_id.0);
            return Err(StoreError::Damaged { path: self.path.clone(), what });
        }
        let games: Vec<PlayedGame> = games.into_iter().map(|(game, _)| game).collect();
        let in_order = games.iter().enumerate().all(|(place, game)| game.outcome.game as usize == place);
        if !in_order || games.len() % 2 == 1 {
            let what = format!("the games of match {} are not whole pairs from 0 on", match_id.0);
            return Err(StoreError::Damaged { path: self.path.clone(), what });
        }
        let mut games = games.into_iter();
        let pairs: Vec<[PlayedGame; 2]> = std::iter::from_fn(|| Some([games.next()?, games.next()?])).collect();
        if let Some([even, odd]) = pairs.iter().find(|[even, odd]| even.outcome.dice_seed != odd.outcome.dice_seed) {
            let [even, odd] = [even, odd].map(|game| game.outcome.game);
            let what = format!("games {even} and {odd} of match {} are a pair and had different dice", match_id.0);
            return Err(StoreError::Damaged { path: self.path.clone(), what });
        }
        Ok(pairs)
    }

    /// Writes both games of a pair, or neither.
    ///
    /// # Errors
    /// [`StoreError::Taken`] if another process has written them, [`StoreError::Exchanged`] if it has begun to write this match
    /// the other way round, [`StoreError::Sql`].
    pub fn add_pair(&mut self, match_id: MatchId, pair: &[PlayedGame; 2]) -> Result<(), StoreError> {
        let add = |connection: &mut Connection| -> rusqlite::Result<Result<(), Refusal>> {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(refusal) = exchanged(&transaction, match_id)? {
                return Ok(Err(refusal));
            }
            pair.iter().try_for_each(|game| add_game(&transaction, match_id, game))?;
            transaction.commit().map(Ok)
        };
        let added = add(&mut self.connection).map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => {
                StoreError::Taken { path: self.path.clone(), game: pair[0].outcome.game }
            }
            _ => sql_fault(&self.path)(error),
        })?;
        added.map_err(|refusal| refusal.of(&self.path))
    }

    /// The versions that have matches, in the order in which they were entered.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn versions(&self) -> Result<Vec<StoredVersion>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare("SELECT * FROM versions ORDER BY id")?;
            let version = |row: &Row| {
                Ok(StoredVersion {
                    id: row.get("id")?,
                    program: row.get("program")?,
                    identity: GameIdentity {
                        game: row.get("game")?,
                        rules_version: row.get("rules_version")?,
                        rules_hash: row.get("rules_hash")?,
                        scenario: row.get("scenario")?,
                    },
                    seats: [row.get("first_seat")?, row.get("second_seat")?],
                })
            };
            statement.query_map([], version)?.collect::<rusqlite::Result<Vec<StoredVersion>>>()
        };
        read().map_err(sql_fault(&self.path))
    }

    /// The matches of a version that have games, in an order that does not depend on when they were played.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn matches_of(&self, version: &StoredVersion) -> Result<Vec<StoredMatch>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare(
                "SELECT matches.id, a.spec, b.spec, bounds FROM matches
                 JOIN agents AS a ON a.id = matches.a JOIN agents AS b ON b.id = matches.b
                 WHERE version = ?1 ORDER BY a.spec, b.spec, seed, bounds",
            )?;
            let entry = |row: &Row| Ok((MatchId(row.get(0)?), [row.get(1)?, row.get(2)?], row.get(3)?));
            statement.query_map([version.id], entry)?.collect::<rusqlite::Result<Vec<(MatchId, [String; 2], String)>>>()
        };
        let mut matches = Vec::new();
        for (id, agents, bounds) in read().map_err(sql_fault(&self.path))? {
            let pairs = self.pairs_of(id)?;
            if pairs.is_empty() {
                continue;
            }
            let Ok(Bounds { limits, max_decisions }) = serde_json::from_str(&bounds) else {
                let what = format!("the bounds of match {} cannot be read", id.0);
                return Err(StoreError::Damaged { path: self.path.clone(), what });
            };
            matches.push(StoredMatch { agents, limits, max_decisions, pairs });
        }
        Ok(matches)
    }

    /// Puts the ratings of a version in place of those that were stored.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn save_ratings(&mut self, version: &StoredVersion, ratings: &[StoredRating]) -> Result<(), StoreError> {
        let failed = sql_fault(&self.path);
        let save = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("DELETE FROM ratings WHERE version = ?1", [version.id])?;
            for rating in ratings {
                let agent = enter_agent(&transaction, &rating.agent)?;
                let [elo, low, high] = rating.elo;
                transaction.execute(
                    "INSERT INTO ratings (version, agent, games, elo, low, high) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![version.id, agent, rating.games.cast_signed(), elo, low, high],
                )?;
            }
            transaction.commit()
        };
        save(&mut self.connection).map_err(failed)
    }

    /// The ratings of a version as they were last saved, the strongest first.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn saved_ratings(&self, version: &StoredVersion) -> Result<Vec<StoredRating>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare(
                "SELECT spec, games, elo, low, high FROM ratings JOIN agents ON agents.id = agent
                 WHERE version = ?1 ORDER BY elo DESC, spec",
            )?;
            let rating = |row: &Row| {
                let games: i64 = row.get(1)?;
                let elo = [row.get(2)?, row.get(3)?, row.get(4)?];
                Ok(StoredRating { agent: row.get(0)?, games: games.cast_unsigned(), elo })
            };
            statement.query_map([version.id], rating)?.collect::<rusqlite::Result<Vec<StoredRating>>>()
        };
        read().map_err(sql_fault(&self.path))
    }
}

/// Makes the file with its tables, and its folder, under a temporary name and renames it, unless another process was faster.
fn create(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { path: path.to_path_buf(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let _lock = sweep(folder).map_err(failed)?;
    let prefix = unfinished();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The error itself names the temporary file, which tells nobody anything.
    let file = builder.tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
    let fill = || {
        let connection = Connection::open(file.path())?;
        connection.execute_batch(&format!("BEGIN; {}; COMMIT", TABLES.join("; ")))?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        // With a write-ahead log a pair costs no wait for the disk, and neither a killed process nor a crash breaks it.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.close().map_err(|(_, error)| error)
    };
    fill().map_err(sql_fault(path))?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error.error)),
        _ => Ok(()),
    }
}

/// What the names of files of results begin with that are still being made, and of the journals beside them.
fn unfinished() -> String {
    format!("{UNFINISHED}-results-")
}

/// Removes what programs left in a folder that were killed while they made a file of results there, unless one is making
/// one now. None does so as long as the folder that is returned is open; where folders cannot be locked, none ever does.
fn sweep(folder: &Path) -> io::Result<Option<File>> {
    let Ok(lock) = File::open(folder) else { return Ok(None) };
    if lock.try_lock().is_ok() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(unfinished().as_bytes()) {
                // What belongs to somebody else may have to stay.
                let _ = fs::remove_file(entry.path());
            }
        }
        lock.unlock()?;
    }
    // Another one sweeps for a moment. Who has the lock for longer is no such program, and keeps them all from sweeping.
    for _ in 0..5 {
        if lock.try_lock_shared().is_ok() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(Some(lock))
}

/// Whether SQLite failed because it cannot write what it needs to read, such as a journal.
fn wants_to_write(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Reads what the file says it is, before SQLite sees it: SQLite's mark at byte 0, the version of the tables at byte 60
/// and the application at byte 68 (SQLite, *Database File Format*, 1.3).
fn check_header(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { path: path.to_path_buf(), source };
    let mut header = Vec::with_capacity(100);
    File::open(path).map_err(failed)?.take(100).read_to_end(&mut header).map_err(failed)?;
    let number = |at: usize| header[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Err(StoreError::NotSqlite { path: path.to_path_buf() });
    }
    if number(68) != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.to_path_buf() });
    }
    if ![OLD_SCHEMA_VERSION, SCHEMA_VERSION].contains(&number(60)) {
        return Err(StoreError::Version { path: path.to_path_buf(), version: number(60) });
    }
    Ok(())
}

fn enter_agent(transaction: &Transaction, spec: &str) -> rusqlite::Result<i64> {
    transaction.execute("INSERT INTO agents (spec) VALUES (?1) ON CONFLICT DO NOTHING", [spec])?;
    transaction.query_row("SELECT id FROM agents WHERE spec = ?1", [spec], |row| row.get(0))
}

/// Adds to the tables of [`OLD_SCHEMA_VERSION`] what they lack.
fn renew_tables(transaction: &Transaction) -> rusqlite::Result<()> {
    let version: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == OLD_SCHEMA_VERSION {
        transaction.execute(FINGERPRINTS, [])?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    Ok(())
}

/// Whether an agent of this fingerprint may be joined with its games of a version. Where none is known, or there are no games,
/// this one counts from now on.
fn admit(transaction: &Transaction, version: i64, agent: i64, fingerprint: &str) -> rusqlite::Result<bool> {
    let known: Option<String> = transaction
        .query_row("SELECT fingerprint FROM fingerprints WHERE version = ?1 AND agent = ?2", [version, agent], |row| {
            row.get(0)
        })
        .optional()?;
    if known.as_deref() == Some(fingerprint) {
        return Ok(true);
    }
    let has_games: bool = transaction.query_row(
        "SELECT EXISTS
         (SELECT 1 FROM games JOIN matches ON matches.id = games.match WHERE version = ?1 AND ?2 IN (a, b))",
        [version, agent],
        |row| row.get(0),
    )?;
    if known.is_some() && has_games {
        return Ok(false);
    }
    transaction.execute(
        "INSERT OR REPLACE INTO fingerprints (version, agent, fingerprint) VALUES (?1, ?2, ?3)",
        params![version, agent, fingerprint],
    )?;
    Ok(true)
}

/// Why no games are taken of a match.
enum Refusal {
    /// The agent of this spec plays by other files than in its games so far.
    Changed(String),
    /// There are games of the match in which A and B, of these specs, are exchanged.
    Exchanged([String; 2]),
}

impl Refusal {
    /// As what is wrong with this file.
    fn of(self, path: &Path) -> StoreError {
        let path = path.to_path_buf();
        match self {
            Refusal::Changed(agent) => StoreError::Changed { path, agent },
            Refusal::Exchanged(agents) => StoreError::Exchanged { path, agents },
        }
    }
}

/// Whether a match that has no games yet has some with A and B exchanged.
fn exchanged(transaction: &Transaction, match_id: MatchId) -> rusqlite::Result<Option<Refusal>> {
    let twin = transaction.query_row(
        "SELECT a.spec, b.spec FROM matches AS asked
         JOIN matches AS twin ON twin.version = asked.version AND twin.a = asked.b AND twin.b = asked.a
             AND twin.seed = asked.seed AND twin.bounds = asked.bounds AND twin.id <> asked.id
         JOIN agents AS a ON a.id = twin.a JOIN agents AS b ON b.id = twin.b
         WHERE asked.id = ?1 AND EXISTS (SELECT 1 FROM games WHERE games.match = twin.id)
             AND NOT EXISTS (SELECT 1 FROM games WHERE games.match = asked.id)",
        [match_id.0],
        |row| Ok(Refusal::Exchanged([row.get(0)?, row.get(1)?])),
    );
    twin.optional()
}

/// The match, or why it is not entered.
fn enter_match(transaction: &Transaction, identity: &MatchIdentity) -> rusqlite::Result<Result<MatchId, Refusal>> {
    let MatchIdentity { game, seats: [first, second], agents, fingerprints, seed, limits, max_decisions } = identity;
    transaction.execute(
        "INSERT INTO versions (program, game, scenario, rules_version, rules_hash, first_seat, second_seat)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
        params![PROGRAM, game.game, game.scenario, game.rules_version, game.rules_hash, first, second],
    )?;
    let version: i64 = transaction.query_row(
        "SELECT id FROM versions
         WHERE program = ?1 AND game = ?2 AND scenario = ?3 AND rules_version = ?4 AND rules_hash = ?5",
        params![PROGRAM, game.game, game.scenario, game.rules_version, game.rules_hash],
        |row| row.get(0),
    )?;
    let bounds = serde_json::to_string(&Bounds { limits: *limits, max_decisions: *max_decisions });
    let bounds = bounds.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let [a, b] = [enter_agent(transaction, &agents[0])?, enter_agent(transaction, &agents[1])?];
    for ((agent, spec), fingerprint) in [a, b].into_iter().zip(agents).zip(fingerprints) {
        if let Some(fingerprint) = fingerprint
            && !admit(transaction, version, agent, fingerprint)?
        {
            return Ok(Err(Refusal::Changed(spec.clone())));
        }
    }
    let key = params![version, a, b, seed.cast_signed(), bounds];
    transaction.execute(
        "INSERT INTO matches (version, a, b, seed, bounds) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
        key,
    )?;
    let match_id = transaction.query_row(
        "SELECT id FROM matches WHERE version = ?1 AND a = ?2 AND b = ?3 AND seed = ?4 AND bounds = ?5",
        key,
        |row| Ok(MatchId(row.get(0)?)),
    )?;
    Ok(exchanged(transaction, match_id)?.map_or(Ok(match_id), Err))
}

fn add_game(transaction: &Transaction, match_id: MatchId, game: &PlayedGame) -> rusqlite::Result<()> {
    let PlayedGame { outcome, efforts: [a, b], .. } = game;
    let mut statement = transaction.prepare(
        "INSERT INTO games VALUES
         (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    )?;
    statement.execute(params![
        match_id.0,
        outcome.game,
        if outcome.first == Contestant::A { "a" } else { "b" },
        outcome.dice_seed.cast_signed(),
        outcome.winner.map(seat_number),
        f64::from(outcome.margin),
        outcome.decisions,
        outcome.truncated,
        outcome.forfeit.as_ref().map(|forfeit| seat_number(forfeit.seat)),
        outcome.forfeit.as_ref().map(|forfeit| &forfeit.reason),
        outcome.events_hash.cast_signed(),
        outcome.luck,
        a.decisions.cast_signed(),
        a.turns.cast_signed(),
        a.simulations.cast_signed(),
        a.seconds,
        b.decisions.cast_signed(),
        b.turns.cast_signed(),
        b.simulations.cast_signed(),
        b.seconds,
    ])?;
    Ok(())
}

/// 1 for the first seat, 2 for the second.
fn seat_number(seat: Seat) -> u8 {
    seat.index() as u8 + 1
}

fn game_of(row: &Row) -> rusqlite::Result<PlayedGame> {
    let unsigned = |column: &str| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let effort = |[decisions, turns, simulations, seconds]: [&str; 4]| -> rusqlite::Result<Effort> {
        Ok(Effort {
            decisions: unsigned(decisions)?,
            turns: unsigned(turns)?,
            simulations: unsigned(simulations)?,
            seconds: row.get(seconds)?,
        })
    };
    let first: String = row.get("first")?;
    let seat = |column| -> rusqlite::Result<Option<Seat>> {
        Ok(row.get::<_, Option<u8>>(column)?.map(|seat| if seat == 1 { Seat::First } else { Seat::Second }))
    };
    let reason: Option<String> = row.get("forfeit_reason")?;
    Ok(PlayedGame {
        outcome: GameOutcome {
            game: row.get("game")?,
            first: if first == "a" { Contestant::A } else { Contestant::B },
            dice_seed: unsigned("dice_seed")?,
            winner: seat("winner")?,
            margin: row.get("margin")?,
            decisions: row.get("decisions")?,
            truncated: row.get("truncated")?,
            forfeit: seat("forfeited_by")?.zip(reason).map(|(seat, reason)| Forfeit { seat, reason }),
            events_hash: unsigned("events_hash")?,
            luck: row.get("luck")?,
        },
        events: Vec::new(),
        efforts: [
            effort(["a_decisions", "a_turns", "a_simulations", "a_seconds"])?,
            effort(["b_decisions", "b_turns", "b_simulations", "b_seconds"])?,
        ],
    })
}

/// What no game can have been, of a game that was read: a column holds any number of its type.
fn nonsense(game: &PlayedGame) -> Option<&'static str> {
    let PlayedGame { outcome, efforts, .. } = game;
    // Who sits where follows from the number of the game: A has the first seat in the first game of each pair.
    if outcome.first != Contestant::first_in(outcome.game) {
        return Some("its number gives the first seat to the other agent");
    }
    let margin = outcome.margin;
    if !(-1.0..=1.0).contains(&margin) {
        return Some("its margin is not in [-1, 1]");
    }
    let result = GameResult { winner: outcome.winner, margin };
    if outcome.forfeit.as_ref().is_some_and(|forfeit| outcome.truncated || forfeit.result() != result) {
        return Some("it was forfeited and has another result");
    }
    if outcome.truncated && result != (GameResult { winner: None, margin: 0.0 }) {
        return Some("it was cut off and is no draw of margin 0");
    }
    // The law of margins in `dervish_env::conformance`: a margin of 0 may decide a game, and a draw may have any.
    if outcome.winner.is_some_and(|winner| result.margin_for(winner) < 0.0) {
        return Some("its winner has a margin below 0");
    }
    if outcome.luck.is_some_and(|luck| !luck.is_finite()) {
        return Some("its luck is no number");
    }
    // The columns are signed: what was below 0 is above the largest of them here.
    let counted = |count: u64| count <= i64::MAX.cast_unsigned();
    let counts = efforts.iter().flat_map(|effort| [effort.decisions, effort.turns, effort.simulations]);
    if counts.into_iter().any(|count| !counted(count)) {
        return Some("a count is below 0");
    }
    if efforts[0].decisions + efforts[1].decisions != u64::from(outcome.decisions) {
        return Some("its decisions are not those of its agents");
    }
    if efforts.iter().any(|effort| effort.turns > effort.decisions) {
        return Some("an agent has more turns than decisions");
    }
    // A choice reports its simulations in 32 bits.
    if efforts.iter().any(|effort| effort.simulations > effort.decisions.saturating_mul(u64::from(u32::MAX))) {
        return Some("an agent has more simulations than its decisions can have");
    }
    efforts.iter().any(|effort| !(0.0..f64::INFINITY).contains(&effort.seconds)).then_some("its seconds are no time")
}

fn sql_fault(path: &Path) -> impl Fn(rusqlite::Error) -> StoreError {
    let path = path.to_path_buf();
    move |source| match source {
        rusqlite::Error::IntegralValueOutOfRange(_, number) => {
            StoreError::Damaged { path: path.clone(), what: format!("{number} is no number of its column") }
        }
        source => StoreError::Sql { path: path.clone(), source },
    }
}

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

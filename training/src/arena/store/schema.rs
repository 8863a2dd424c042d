//! The tables of a file of results, and how those of an older version are brought up to date.

use rusqlite::{Connection, Transaction};

/// Version of the tables, kept as SQLite's `user_version`. A reader refuses others, except older ones from
/// `OLDEST_VERSION` on.
pub const SCHEMA_VERSION: u32 = 4;

/// The oldest version that is read though it is no longer written: what is written next makes the file one of
/// [`SCHEMA_VERSION`].
pub(super) const OLDEST_VERSION: u32 = 2;

/// The tables that every version has. `seed`, `dice_seed` and `events_hash` are 64-bit numbers as SQLite has them, signed.
const TABLES: [&str; 4] = [
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
];

/// Since version 3.
const FINGERPRINTS: &str = "CREATE TABLE fingerprints ( -- of agents that play by files
        version INTEGER NOT NULL REFERENCES versions,
        agent INTEGER NOT NULL REFERENCES agents,
        fingerprint TEXT NOT NULL,
        PRIMARY KEY (version, agent)
    ) STRICT, WITHOUT ROWID";

/// Since version 4.
const RATINGS: &str = "CREATE TABLE ratings ( -- as last computed, for other programs; the games alone decide
        version INTEGER NOT NULL REFERENCES versions,
        agent INTEGER NOT NULL REFERENCES agents,
        bounds TEXT NOT NULL, -- of the games, as in matches
        games INTEGER NOT NULL,
        elo REAL NOT NULL,
        low REAL NOT NULL, -- 95% interval
        high REAL NOT NULL,
        PRIMARY KEY (version, bounds, agent)
    ) STRICT, WITHOUT ROWID";

/// Before: one rating of an agent in a version, whose games had the same bounds.
const RATINGS_WITHOUT_BOUNDS: &str =
    "CREATE TABLE ratings ( -- as last computed, for other programs; the games alone decide
        version INTEGER NOT NULL REFERENCES versions,
        agent INTEGER NOT NULL REFERENCES agents,
        games INTEGER NOT NULL,
        elo REAL NOT NULL,
        low REAL NOT NULL, -- 95% interval
        high REAL NOT NULL,
        PRIMARY KEY (version, agent)
    ) STRICT, WITHOUT ROWID";

/// The tables of a file of a version from [`OLDEST_VERSION`] on.
pub(super) fn tables_of(version: u32) -> Vec<&'static str> {
    let ratings = if version < 4 { RATINGS_WITHOUT_BOUNDS } else { RATINGS };
    let fingerprints = (version >= 3).then_some(FINGERPRINTS);
    TABLES.into_iter().chain([ratings]).chain(fingerprints).collect()
}

/// The name of a table.
pub(super) fn name_of(table: &str) -> &str {
    // After `CREATE TABLE`.
    table.split_whitespace().nth(2).unwrap_or_default()
}

/// The version that a file says it is of.
pub(super) fn version_of(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Makes the tables of an older version those of [`SCHEMA_VERSION`]. Ratings are lost where they have no bounds; they follow
/// from the games.
pub(super) fn renew_tables(transaction: &Transaction) -> rusqlite::Result<()> {
    let version = version_of(transaction)?;
    if version == SCHEMA_VERSION {
        return Ok(());
    }
    let [old, new] = [version, SCHEMA_VERSION].map(tables_of);
    for table in old.iter().filter(|table| !new.contains(table)) {
        transaction.execute(&format!("DROP TABLE {}", name_of(table)), [])?;
    }
    for table in new.iter().filter(|table| !old.contains(table)) {
        transaction.execute(table, [])?;
    }
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)
}

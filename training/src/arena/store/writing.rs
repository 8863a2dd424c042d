//! What is written into a file of results: matches, games and ratings, each in one transaction.

use super::error::sql_fault;
use super::schema::renew_tables;
use super::{Bounds, MatchId, MatchIdentity, PROGRAM, Store, StoreError, StoredRating, StoredVersion};
use crate::arena::match_play::{Contestant, PlayedGame};
use dervish_agents::limits::Limits;
use dervish_env::game::Seat;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::Path;

impl Store {
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

    /// Puts the ratings of a version, from games of these bounds, in place of those that were stored.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn save_ratings(
        &mut self,
        version: &StoredVersion,
        limits: Limits,
        max_decisions: Option<u32>,
        ratings: &[StoredRating],
    ) -> Result<(), StoreError> {
        let failed = sql_fault(&self.path);
        let save = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            renew_tables(&transaction)?;
            let bounds = Bounds { limits, max_decisions }.text()?;
            transaction
                .execute("DELETE FROM ratings WHERE version = ?1 AND bounds = ?2", params![version.id, bounds])?;
            for rating in ratings {
                let agent = enter_agent(&transaction, &rating.agent)?;
                let [elo, low, high] = rating.elo;
                transaction.execute(
                    "INSERT INTO ratings (version, agent, bounds, games, elo, low, high)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![version.id, agent, bounds, rating.games.cast_signed(), elo, low, high],
                )?;
            }
            transaction.commit()
        };
        save(&mut self.connection).map_err(failed)
    }
}

fn enter_agent(transaction: &Transaction, spec: &str) -> rusqlite::Result<i64> {
    transaction.execute("INSERT INTO agents (spec) VALUES (?1) ON CONFLICT DO NOTHING", [spec])?;
    transaction.query_row("SELECT id FROM agents WHERE spec = ?1", [spec], |row| row.get(0))
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
    let bounds = Bounds { limits: *limits, max_decisions: *max_decisions }.text()?;
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

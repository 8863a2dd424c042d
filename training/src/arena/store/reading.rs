//! What is read from a file of results, and what no game in it can have been.

use super::error::sql_fault;
use super::schema::{SCHEMA_VERSION, version_of};
use super::{Bounds, MatchId, Store, StoreError, StoredMatch, StoredRating, StoredVersion};
use crate::arena::match_play::{Contestant, Effort, GameOutcome, PlayedGame};
use dervish_agents::limits::Limits;
use dervish_env::game::{GameIdentity, GameResult, Seat};
use dervish_env::record::Forfeit;
use rusqlite::{Row, params};

impl Store {
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

    /// The ratings of a version, from games of these bounds, as they were last saved, the strongest first. None in a file of an
    /// older version, which did not tell of which bounds they were.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn saved_ratings(
        &self,
        version: &StoredVersion,
        limits: Limits,
        max_decisions: Option<u32>,
    ) -> Result<Vec<StoredRating>, StoreError> {
        let read = || -> rusqlite::Result<Vec<StoredRating>> {
            if version_of(&self.connection)? < SCHEMA_VERSION {
                return Ok(Vec::new());
            }
            let mut statement = self.connection.prepare(
                "SELECT spec, games, elo, low, high FROM ratings JOIN agents ON agents.id = agent
                 WHERE version = ?1 AND bounds = ?2 ORDER BY elo DESC, spec",
            )?;
            let bounds = Bounds { limits, max_decisions }.text()?;
            let rating = |row: &Row| {
                let games: i64 = row.get(1)?;
                let elo = [row.get(2)?, row.get(3)?, row.get(4)?];
                Ok(StoredRating { agent: row.get(0)?, games: games.cast_unsigned(), elo })
            };
            statement.query_map(params![version.id, bounds], rating)?.collect()
        };
        read().map_err(sql_fault(&self.path))
    }
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

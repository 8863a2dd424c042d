//! The checks that every game and every encoder must pass.
//!
//! [`check_game`] walks random games and tests the laws of [`Position`] at every position it meets. It knows nothing
//! about the rules; it finds a game that contradicts itself.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crate::chance::{SplitMix64, pick};
use crate::encode::{Encoder, Observation, Parts};
use crate::game::{Action, Actor, GameIdentity, Position, RollKey, Seat, WeightedOutcome};

mod laws;
mod merged;

/// Walks random games from `start` and checks every law at every position.
///
/// # Errors
/// The first [`Fault`] that was found.
pub fn check_game<P: Position>(start: P, options: &Options) -> Result<Report, Fault> {
    check_game_and(start, options, |_| Ok(()))
}

/// As [`check_game`], with a check of the caller's own at every position, such as [`EncoderCheck::visit`]; what it
/// complains of is reported as a breach of [`Law::Caller`].
///
/// # Errors
/// The first [`Fault`] that was found.
pub fn check_game_and<P: Position>(
    start: P,
    options: &Options,
    mut visit: impl FnMut(&P) -> Result<(), String>,
) -> Result<Report, Fault> {
    let mut walk = Walk::new(options, start.identity());
    for game in 0..options.games {
        walk.game(game, &start, &mut visit)?;
    }
    walk.report.distinct_positions = walk.seen.by_bytes.len();
    Ok(walk.report)
}

/// How much to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Random games to walk.
    pub games: usize,
    /// Seed of the walks.
    pub seed: u64,
    /// Least number of legal actions where a player decides: 2 in games that play forced moves themselves.
    pub least_choices: usize,
    /// Distinct positions to remember for the comparison of bytes.
    pub remembered: usize,
    /// Chance nodes whose merged outcomes are checked against all sequences of single rolls.
    pub merged_nodes: usize,
    /// Sequences of rolls beyond which a merged distribution is not checked in full.
    pub merged_sequences: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            games: 20,
            seed: 1,
            least_choices: 1,
            remembered: 20_000,
            merged_nodes: 50,
            merged_sequences: 200_000,
        }
    }
}

/// What was walked.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Report {
    /// Games walked to the end.
    pub games: usize,
    /// Decisions checked.
    pub decisions: u64,
    /// Single rolls checked.
    pub rolls: u64,
    /// Distinct positions compared with each other.
    pub distinct_positions: usize,
    /// Decisions of the longest game.
    pub longest_game: usize,
    /// Merged distributions that were checked against all sequences of single rolls.
    pub merged_nodes: usize,
    /// How often each kind of node was met.
    pub kinds: BTreeMap<&'static str, u64>,
}

/// A law of [`Position`] that a game can break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// Game, rules and scenario stay the same throughout a game, and the hash is 16 hexadecimal digits.
    Identity,
    /// The list of legal actions is cleared first, stable, without repetition, inside the action space, and empty
    /// unless a player is to act.
    ActionList,
    /// Where a player is to act there are legal actions, as many as the options ask for.
    Choices,
    /// `is_legal` agrees with the list over the whole action space.
    Legality,
    /// `apply` and `resolve` refuse what is not possible and leave the position unchanged.
    Refusal,
    /// `apply` and `apply_legal`, `resolve` and `resolve_possible` do the same.
    CheckedMove,
    /// Outcomes ascend, weights are positive and sum to `chance_total`, and there are none unless a roll is due.
    Weights,
    /// A roll key does not come back in another turn of the game.
    RollKeys,
    /// `parse_action` reads the text of each legal action back, and refuses what is none.
    Notation,
    /// Equal positions have equal bytes, different ones different bytes.
    Bytes,
    /// Equal bytes have equal keys, different bytes different keys.
    Keys,
    /// What is done to a clone does not change the original.
    Clones,
    /// A result exactly where the game is finished.
    Result,
    /// The margin lies in [-1, 1] and its sign does not contradict the winner.
    Margin,
    /// The turn number never decreases, and is 0 throughout in a game that counts no turns.
    Turns,
    /// The kind of a node is a single word.
    Kinds,
    /// Merged outcomes are an exact distribution, reached by the rolls that stand for them.
    Merged,
    /// Games end within `MAX_DECISIONS` decisions.
    Termination,
    /// The caller's own check.
    Caller,
}

/// A broken law, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Which law.
    pub law: Law,
    /// Number of the random game.
    pub game: usize,
    /// Decisions and rolls before the position.
    pub ply: usize,
    /// What the position waits for.
    pub pending: String,
    /// How the law is broken.
    pub detail: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { law, game, ply, pending, detail } = self;
        write!(f, "law {law:?} broken in game {game} at ply {ply} ({pending}): {detail}")
    }
}

impl std::error::Error for Fault {}

/// A law and how it is broken; [`Walk`] adds where.
type Breach = (Law, String);

/// The state of the check over all games.
struct Walk<'a, P> {
    options: &'a Options,
    identity: GameIdentity,
    random: SplitMix64,
    actions: Vec<Action>,
    outcomes: Vec<WeightedOutcome>,
    seen: Seen<P>,
    report: Report,
}

impl<'a, P: Position> Walk<'a, P> {
    fn new(options: &'a Options, identity: GameIdentity) -> Walk<'a, P> {
        Walk {
            options,
            identity,
            random: SplitMix64::new(options.seed),
            actions: Vec::new(),
            outcomes: Vec::new(),
            seen: Seen::new(options.remembered),
            report: Report::default(),
        }
    }

    fn game(&mut self, game: usize, start: &P, visit: &mut impl FnMut(&P) -> Result<(), String>) -> Result<(), Fault> {
        let mut position = start.clone();
        let (mut ply, mut decisions) = (0, 0);
        let mut roll_turns = HashMap::new();
        loop {
            let turn = position.turn();
            let checked = self.check(&position, &mut roll_turns).and_then(|()| {
                visit(&position).map_err(|detail| (Law::Caller, detail))?;
                let finished = position.actor() == Actor::Finished;
                if !finished {
                    decisions += usize::from(self.advance(&mut position, game)?);
                }
                if decisions > P::MAX_DECISIONS || ply > 100 * P::MAX_DECISIONS {
                    return Err((Law::Termination, format!("no end after {decisions} decisions and {ply} plies")));
                }
                if position.turn() < turn {
                    return Err((Law::Turns, format!("turn {} after turn {turn}", position.turn())));
                }
                if !position.counts_turns() && position.turn() != 0 {
                    return Err((Law::Turns, format!("turn {} of a game that counts none", position.turn())));
                }
                Ok(finished)
            });
            match checked {
                Ok(false) => ply += 1,
                Ok(true) => break,
                Err((law, detail)) => {
                    return Err(Fault { law, game, ply, pending: position.pending_text(), detail });
                }
            }
        }
        self.report.games += 1;
        self.report.longest_game = self.report.longest_game.max(decisions);
        Ok(())
    }

    fn check(&mut self, position: &P, roll_turns: &mut HashMap<RollKey, u32>) -> Result<(), Breach> {
        laws::check_identity(position, &self.identity)?;
        laws::check_lists(position, self.options.least_choices, &mut self.actions, &mut self.outcomes)?;
        laws::check_result(position)?;
        laws::check_refusals(position, &self.actions, &self.outcomes, &mut self.random)?;
        laws::check_notation(position, &self.actions)?;
        laws::check_clones(position, &self.actions, &self.outcomes, &mut self.random)?;
        self.seen.compare(position)?;
        *self.report.kinds.entry(position.pending_kind()).or_default() += 1;
        match position.actor() {
            Actor::Player(_) => {
                self.report.decisions += 1;
                self.check_commuting(position)?;
            }
            Actor::Chance => {
                self.report.rolls += 1;
                let turn = position.turn();
                let first = *roll_turns.entry(position.roll_key()).or_insert(turn);
                if first != turn {
                    let detail = format!("key {:?} of turn {first} again in turn {turn}", position.roll_key());
                    return Err((Law::RollKeys, detail));
                }
                if self.report.merged_nodes < self.options.merged_nodes
                    && merged::check(position, self.options.merged_sequences)?
                {
                    self.report.merged_nodes += 1;
                }
            }
            Actor::Finished => {}
        }
        Ok(())
    }

    /// Plays two random actions in both orders, the likeliest way to reach one position by two paths.
    fn check_commuting(&mut self, position: &P) -> Result<(), Breach> {
        let one = self.actions[self.random.below(self.actions.len())];
        let other = self.actions[self.random.below(self.actions.len())];
        for (first, second) in [(one, other), (other, one)] {
            let mut next = position.clone();
            next.apply_legal(first);
            if next.apply(second).is_ok() {
                self.seen.compare(&next)?;
            }
        }
        Ok(())
    }

    /// Makes a random decision (true) or roll (false). Every other game takes all outcomes for equally likely, to come
    /// to what is rare.
    fn advance(&mut self, position: &mut P, game: usize) -> Result<bool, Breach> {
        if position.actor() == Actor::Chance {
            let outcome = if game.is_multiple_of(2) {
                pick(&self.outcomes, position.chance_total(), self.random.next_word())
            } else {
                self.outcomes[self.random.below(self.outcomes.len())].outcome
            };
            position.resolve(outcome).map_err(|error| (Law::CheckedMove, error.to_string()))?;
            return Ok(false);
        }
        let action = self.actions[self.random.below(self.actions.len())];
        position.apply(action).map_err(|error| (Law::CheckedMove, error.to_string()))?;
        Ok(true)
    }
}

/// A position and its canonical bytes.
type WithBytes<P> = (P, Vec<u8>);

/// Positions met so far, to compare new ones with.
struct Seen<P> {
    limit: usize,
    by_bytes: HashMap<Vec<u8>, (P, u64)>,
    by_key: HashMap<u64, Vec<u8>>,
    /// Positions that wait for the same thing in the same turn. Equal ones lie in one list even if their bytes differ.
    by_pending: HashMap<(u32, String), Vec<WithBytes<P>>>,
}

/// Positions compared one by one with a new one that waits for the same thing.
const COMPARED: usize = 64;

impl<P: Position> Seen<P> {
    fn new(limit: usize) -> Seen<P> {
        Seen { limit, by_bytes: HashMap::new(), by_key: HashMap::new(), by_pending: HashMap::new() }
    }

    fn compare(&mut self, position: &P) -> Result<(), Breach> {
        let bytes = laws::bytes_of(position);
        let key = position.key();
        if let Some((known, known_key)) = self.by_bytes.get(&bytes) {
            if known != position {
                return Err((Law::Bytes, format!("different positions have equal bytes:\n{known:?}\n{position:?}")));
            }
            if *known_key != key {
                return Err((Law::Keys, format!("equal bytes have the keys {known_key} and {key}")));
            }
            return Ok(());
        }
        let alike = self.by_pending.entry((position.turn(), position.pending_text())).or_default();
        if let Some((known, known_bytes)) = alike.iter().find(|(known, _)| known == position) {
            let detail = format!("equal positions have the bytes {known_bytes:?} and {bytes:?}:\n{known:?}");
            return Err((Law::Bytes, detail));
        }
        if let Some(known_bytes) = self.by_key.get(&key) {
            return Err((Law::Keys, format!("key {key} belongs to {known_bytes:?} and to {bytes:?}")));
        }
        if self.by_bytes.len() < self.limit {
            if alike.len() < COMPARED {
                alike.push((position.clone(), bytes.clone()));
            }
            self.by_key.insert(key, bytes.clone());
            self.by_bytes.insert(bytes, (position.clone(), key));
        }
        Ok(())
    }
}

/// A check of an encoder at every position of a walk, for [`check_game_and`].
///
/// Every value lies in its documented range, encoding twice gives the same arrays whatever was in them before, and
/// different positions look different to either side.
pub struct EncoderCheck<E> {
    encoder: E,
    observation: Observation,
    /// Hash of an observation of a side to the bytes of its position.
    seen: HashMap<(Seat, u128), Vec<u8>>,
    limit: usize,
    injective: bool,
}

impl<E> EncoderCheck<E> {
    /// A check of all parts of `encoder`. Up to `limit` positions are remembered for the comparison; `injective` is
    /// whether different positions must look different.
    pub fn new<P: Position>(encoder: E, limit: usize, injective: bool) -> EncoderCheck<E>
    where
        E: Encoder<P>,
    {
        let observation = Observation::new(&encoder, Parts::ALL);
        EncoderCheck { encoder, observation, seen: HashMap::new(), limit, injective }
    }

    /// Checks one position.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn visit<P: Position>(&mut self, position: &P) -> Result<(), String>
    where
        E: Encoder<P>,
    {
        let bytes = laws::bytes_of(position);
        for view in Seat::BOTH {
            self.observation.encode(&self.encoder, position, view);
            if let Some(detail) = self.observation.out_of_range(self.encoder.layout()) {
                return Err(format!("{} of {}: {detail}", self.encoder.name(), P::seat_name(view)));
            }
            let mut fresh = Observation::new(&self.encoder, Parts::ALL);
            fresh.encode(&self.encoder, position, view);
            if fresh != self.observation {
                return Err(format!("{} depends on what was encoded before", self.encoder.name()));
            }
            let look = (view, hash(&self.observation));
            match self.seen.get(&look) {
                Some(known) if self.injective && *known != bytes => {
                    return Err(format!(
                        "two positions look the same to {}:\n{known:?}\n{bytes:?}\n{position:?}",
                        P::seat_name(view)
                    ));
                }
                Some(_) => {}
                None if self.seen.len() < self.limit => {
                    self.seen.insert(look, bytes.clone());
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// 128 bits, so that a chance collision is out of the question.
fn hash(observation: &Observation) -> u128 {
    let values = observation.planes().iter().chain(observation.tokens.as_slice()).chain(&observation.globals);
    // Adding zero makes -0 look like the 0 that it equals.
    let bytes: Vec<u8> = values.flat_map(|value| (value + 0.0).to_le_bytes()).collect();
    xxhash_rust::xxh3::xxh3_128(&bytes)
}

//! Games in pairs: both games of a pair have the same dice, the agents swap seats.
//!
//! Pair `p` of a match with seed `s` throws the dice of [`chance::game_seed`]`(s, p)` in both of its games; the agent on
//! a seat of game `g = 2p` or `2p + 1` draws from [`chance::agent_rng`]`(s, g, seat)`. A game therefore depends on
//! nothing but the match's seed and its own number, not on threads or on the games before it.
//!
//! An agent that forfeits ([`AgentError::Forfeit`]) loses that game and goes on playing; any other error ends the match.

use crate::arena::booking::Booking;
use crate::arena::luck::{LuckMeter, ValueFunction};
use crate::arena::report::{MATCH_VERSION, MatchCost, MatchReport, MatchStatistics};
use crate::arena::sprt::{SprtError, SprtPlan, SprtState};
use dervish_agents::agent::{Agent, AgentError, Event};
use dervish_agents::limits::Limits;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance::{self, Dice};
use dervish_env::game::{Actor, GameResult, IllegalMove, Position, Seat};
use dervish_env::record::{Ending, Forfeit};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// Plays a match of `options.pairs` pairs of games from `start` between the agents of `a` and `b`: [`Match::play`] with
/// nothing more to it.
///
/// # Errors
/// As [`Match::play`].
pub fn play_match<P: Position>(
    start: &P,
    a: &AgentFactory<P>,
    b: &AgentFactory<P>,
    options: &MatchOptions,
    spectator: &dyn Spectator,
) -> Result<MatchReport, MatchError> {
    Match { start, agents: [a, b], options: *options, sprt: None, value: None }.play(Vec::new(), spectator)
}

/// What is to be played.
pub struct Match<'m, P: Position> {
    /// Where every game begins.
    pub start: &'m P,
    /// A and B.
    pub agents: [&'m AgentFactory<P>; 2],
    /// How they play.
    pub options: MatchOptions,
    /// The test that ends the match before all its pairs are played.
    pub sprt: Option<SprtPlan>,
    /// Measures the luck of every game, if given.
    pub value: Option<&'m ValueFunction<P>>,
}

impl<P: Position> Match<'_, P> {
    /// Plays the pairs that follow on `earlier`: whole pairs of this very match from number 0 on, which were played
    /// before and are counted as if they had been played now; what is too many of them is left out.
    ///
    /// Pairs are booked in the order of their numbers, whichever is finished first, and all that ends a match (the
    /// test, an error, the spectator) ends it at a pair that is booked. The games and statistics of the report therefore
    /// depend on the match alone, except on the number of threads and as far as `options.limits` bounds time. If the
    /// spectator asks to stop, the pairs booked by then are reported.
    ///
    /// # Errors
    /// [`MatchError`]: no pair (or far too many) was asked for, or a test that cannot be made; none was finished, or an
    /// agent or the spectator failed.
    pub fn play(&self, earlier: Vec<[PlayedGame; 2]>, spectator: &dyn Spectator) -> Result<MatchReport, MatchError> {
        let options = &self.options;
        if !(1..=u32::MAX / 2).contains(&options.pairs) {
            return Err(MatchError::Pairs(options.pairs));
        }
        self.sprt.as_ref().map_or(Ok(()), SprtPlan::check)?;
        let threads =
            options.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let booking = Booking::new(self.sprt, options.pairs, earlier);
        let resumed = booking.booked();
        let workers = threads.min((booking.end() - resumed) as usize);
        let next_pair = AtomicU32::new(resumed);
        let end = AtomicU32::new(booking.end());
        let booking = Mutex::new(booking);
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let mut table = Table::new(self);
                    loop {
                        let pair = next_pair.fetch_add(1, Ordering::Relaxed);
                        let stop = || pair >= end.load(Ordering::Relaxed) || spectator.stop_requested();
                        if stop() {
                            break;
                        }
                        let played = table.play_pair(pair, &stop);
                        let mut booking = booking.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        booking.hand_in(pair, played, spectator);
                        end.store(booking.end(), Ordering::Relaxed);
                    }
                });
            }
        });
        let seconds = begun.elapsed().as_secs_f64();
        let booking = booking.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.report(booking.pairs()?, resumed, workers, seconds)
    }

    /// The report of a match, of whose pairs the first `resumed` were played earlier.
    fn report(
        &self,
        pairs: Vec<[PlayedGame; 2]>,
        resumed: u32,
        threads: usize,
        seconds: f64,
    ) -> Result<MatchReport, MatchError> {
        let mut efforts = [Effort::default(); 2];
        for game in pairs.as_flattened() {
            for (total, effort) in efforts.iter_mut().zip(&game.efforts) {
                total.add(effort);
            }
        }
        let played_now = pairs[resumed as usize..].as_flattened();
        let decisions_now: u64 = played_now.iter().map(|game| u64::from(game.outcome.decisions)).sum();
        let games: Vec<GameOutcome> = pairs.as_flattened().iter().map(|game| game.outcome.clone()).collect();
        let statistics = MatchStatistics::of(&games).ok_or(MatchError::Stopped)?;
        let MatchOptions { pairs, seed, limits, max_decisions, .. } = self.options;
        Ok(MatchReport {
            version: MATCH_VERSION,
            identity: self.start.identity(),
            seats: Seat::BOTH.map(|seat| P::seat_name(seat).to_string()),
            agents: self.agents.map(|agent| agent.spec().to_string()),
            seed,
            limits,
            max_decisions,
            games_requested: 2 * u64::from(pairs),
            sprt: self.sprt.map(|plan| SprtState::after(plan, &statistics.pentanomial)),
            statistics,
            cost: MatchCost {
                threads,
                seconds,
                decisions_per_second: decisions_now as f64 / seconds.max(1e-9),
                efforts,
            },
            games,
        })
    }
}

/// How a match is played.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MatchOptions {
    /// Pairs of games, 1 to 2^31 - 1.
    pub pairs: u32,
    /// Names the dice and the agents' random streams.
    pub seed: u64,
    /// How much both agents may think.
    pub limits: Limits,
    /// Decisions after which a game is cut off; it then counts as drawn with margin 0 and is reported as truncated.
    /// The game's own bound holds in any case.
    pub max_decisions: Option<u32>,
    /// Threads to play on; all cores if `None`.
    pub threads: Option<NonZeroUsize>,
}

/// Who watches a match while it is played, from several threads.
pub trait Spectator: Sync {
    /// Whether to stop at the next decision, dropping unfinished pairs.
    fn stop_requested(&self) -> bool {
        false
    }

    /// Hears of both games of a pair when it is booked: one pair at a time, in the order of their numbers.
    ///
    /// # Errors
    /// An error (a record that cannot be written) ends the match.
    fn pair_over(&self, _games: &[PlayedGame; 2]) -> io::Result<()> {
        Ok(())
    }
}

impl Spectator for () {}

/// One of the two agents of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contestant {
    /// The agent that is named first; on the first seat in even games.
    A,
    /// The agent that is named second.
    B,
}

impl Contestant {
    /// 0 for A, 1 for B.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Who has the first seat in game `game` of a match, counted from 0: A in even ones.
    pub fn first_in(game: u32) -> Contestant {
        if game.is_multiple_of(2) { Contestant::A } else { Contestant::B }
    }
}

/// A finished game with everything that happened in it.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayedGame {
    /// How it ended.
    pub outcome: GameOutcome,
    /// Every decision and roll, in order; empty in a game that was played earlier.
    pub events: Vec<Event>,
    /// What A and B used.
    pub efforts: [Effort; 2],
}

/// How a game of a match ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GameOutcome {
    /// Number of the game in the match, from 0; games `2p` and `2p + 1` are a pair.
    pub game: u32,
    /// Who had the first seat.
    pub first: Contestant,
    /// Seed of the dice.
    pub dice_seed: u64,
    /// The seat that won; `None` for a draw.
    pub winner: Option<Seat>,
    /// Margin in [-1, 1] as the first seat sees it.
    pub margin: f32,
    /// Decisions of both players.
    pub decisions: u32,
    /// Whether the game was cut off at the bound on decisions.
    pub truncated: bool,
    /// Who forfeited the game and why; the winner and the margin are those of [`Forfeit::result`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forfeit: Option<Forfeit>,
    /// Hash of every decision and roll in order; games with equal hashes are one game played twice. 16 hex digits in
    /// documents, which many readers of JSON could not hold as a number.
    #[serde(serialize_with = "write_hex", deserialize_with = "read_hex")]
    pub events_hash: u64,
    /// Luck of the first seat (see [`crate::arena::luck`]), where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck: Option<f64>,
}

fn write_hex<S: Serializer>(hash: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{hash:016x}"))
}

fn read_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    u64::from_str_radix(&String::deserialize(deserializer)?, 16).map_err(serde::de::Error::custom)
}

/// Hash of a game's decisions and rolls in order, the same on every machine.
fn hash_of(events: &[Event]) -> u64 {
    let mut bytes = Vec::with_capacity(3 * events.len());
    for event in events {
        let (kind, number) = match event {
            Event::Played(seat, action) => (seat.index() as u8, action.0),
            Event::Rolled(outcome) => (2, outcome.0),
        };
        bytes.push(kind);
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    xxh3_64(&bytes)
}

impl GameOutcome {
    /// The seat of a contestant.
    pub fn seat_of(&self, contestant: Contestant) -> Seat {
        if contestant == self.first { Seat::First } else { Seat::Second }
    }

    /// Who had a seat.
    pub fn contestant_on(&self, seat: Seat) -> Contestant {
        if (seat == Seat::First) == (self.first == Contestant::A) { Contestant::A } else { Contestant::B }
    }

    /// Who forfeited the game, if anybody.
    pub fn forfeited_by(&self) -> Option<Contestant> {
        self.forfeit.as_ref().map(|forfeit| self.contestant_on(forfeit.seat))
    }

    /// 1 for a win of `seat`, 1/2 for a draw, 0 for a loss.
    pub fn score(&self, seat: Seat) -> f64 {
        self.winner.map_or(0.5, |winner| f64::from(u8::from(winner == seat)))
    }

    /// 1 for a win of `contestant`, 1/2 for a draw, 0 for a loss.
    pub fn score_of(&self, contestant: Contestant) -> f64 {
        self.score(self.seat_of(contestant))
    }

    /// The margin as `seat` sees it.
    pub fn margin_for(&self, seat: Seat) -> f32 {
        if seat == Seat::First { self.margin } else { -self.margin }
    }

    /// The luck of `seat`, where it was measured.
    pub fn luck_for(&self, seat: Seat) -> Option<f64> {
        self.luck.map(|luck| if seat == Seat::First { luck } else { -luck })
    }
}

/// What an agent used: the price of its strength.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    /// Decisions made.
    pub decisions: u64,
    /// Turns with a decision, counted as budgets count them ([`Position::turn`]); 0 in documents that do not say.
    #[serde(default)]
    pub turns: u64,
    /// Simulations run, for searching agents.
    pub simulations: u64,
    /// Time spent choosing, in seconds.
    pub seconds: f64,
}

impl Effort {
    fn add(&mut self, other: &Effort) {
        self.decisions = self.decisions.saturating_add(other.decisions);
        self.turns = self.turns.saturating_add(other.turns);
        self.simulations = self.simulations.saturating_add(other.simulations);
        self.seconds += other.seconds;
    }
}

/// Why there is no report of a match.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// No pairs were asked for, or more than games can be numbered.
    #[error("a match has 1 to {most} pairs of games, not {0}", most = u32::MAX / 2)]
    Pairs(u32),
    /// The test that should end the match cannot be made.
    #[error("the test: {0}")]
    Sprt(#[from] SprtError),
    /// The match was stopped before a pair was finished.
    #[error("stopped before a pair of games was finished")]
    Stopped,
    /// An agent gave no answer.
    #[error("game {game}: {source}")]
    Agent {
        /// Number of the game, from 0.
        game: u32,
        /// What it said instead.
        source: AgentError,
    },
    /// An agent chose what the rules refuse.
    #[error("game {game}: {agent} chose against the rules: {source}")]
    Illegal {
        /// Number of the game, from 0.
        game: u32,
        /// Spec of the agent.
        agent: String,
        /// What the rules said.
        source: IllegalMove,
    },
    /// The spectator could not do its part, such as writing a record.
    #[error("after game {game}: {source}")]
    Spectator {
        /// Number of the last game of the pair, from 0.
        game: u32,
        /// What failed.
        source: io::Error,
    },
}

/// Where a worker plays: its own two agents, used game after game.
struct Table<'m, P: Position> {
    to_play: &'m Match<'m, P>,
    agents: [Box<dyn Agent<P>>; 2],
    dice: Dice,
    luck: LuckMeter,
}

impl<'m, P: Position> Table<'m, P> {
    fn new(to_play: &'m Match<'m, P>) -> Table<'m, P> {
        let agents = to_play.agents.map(AgentFactory::make);
        Table { to_play, agents, dice: Dice::new(to_play.options.seed), luck: LuckMeter::default() }
    }

    /// Both games of a pair; `None` if `stop` said so before the end.
    fn play_pair(&mut self, pair: u32, stop: &dyn Fn() -> bool) -> Result<Option<[PlayedGame; 2]>, MatchError> {
        let Some(even) = self.play_game(2 * pair, stop)? else { return Ok(None) };
        let Some(odd) = self.play_game(2 * pair + 1, stop)? else { return Ok(None) };
        Ok(Some([even, odd]))
    }

    fn play_game(&mut self, game: u32, stop: &dyn Fn() -> bool) -> Result<Option<PlayedGame>, MatchError> {
        let Match { start, options, value, .. } = self.to_play;
        let dice_seed = chance::game_seed(options.seed, u64::from(game / 2));
        let mut outcome = GameOutcome {
            game,
            first: Contestant::first_in(game),
            dice_seed,
            winner: None,
            margin: 0.0,
            decisions: 0,
            truncated: false,
            forfeit: None,
            events_hash: 0,
            luck: None,
        };
        let mut events = Vec::new();
        let mut efforts = [Effort::default(); 2];
        let mut last_turns = [None; 2];
        // Which of `agents` sits on each seat.
        let sitting = Seat::BOTH.map(|seat| outcome.contestant_on(seat).index());
        for seat in Seat::BOTH {
            let rng = chance::agent_rng(options.seed, u64::from(game), seat);
            self.agents[sitting[seat.index()]].new_game(rng);
        }
        self.dice.reset(dice_seed);
        let bound = options.max_decisions.map_or(P::MAX_DECISIONS, |bound| P::MAX_DECISIONS.min(bound as usize));
        let mut position = (*start).clone();
        loop {
            let event = match position.actor() {
                Actor::Finished => break,
                Actor::Chance => {
                    let roll = self.dice.roll(&position);
                    position.resolve_possible(roll);
                    Event::Rolled(roll)
                }
                Actor::Player(_) if outcome.decisions as usize >= bound => {
                    outcome.truncated = true;
                    break;
                }
                Actor::Player(seat) => {
                    if stop() {
                        return Ok(None);
                    }
                    let contestant = sitting[seat.index()];
                    let agent = &mut self.agents[contestant];
                    let begun = Instant::now();
                    let choice = agent.choose(&position, &options.limits);
                    let choice = match choice {
                        Ok(choice) => choice,
                        Err(AgentError::Forfeit { reason, .. }) => {
                            outcome.forfeit = Some(Forfeit::new(seat, &reason));
                            break;
                        }
                        Err(source) => return Err(MatchError::Agent { game, source }),
                    };
                    let simulations = choice.report.map_or(0, |report| report.simulations);
                    let turn = Some(position.turn());
                    let new_turn = std::mem::replace(&mut last_turns[contestant], turn) != turn;
                    efforts[contestant].add(&Effort {
                        decisions: 1,
                        turns: u64::from(new_turn),
                        simulations: u64::from(simulations),
                        seconds: begun.elapsed().as_secs_f64(),
                    });
                    let applied = position.apply(choice.action);
                    applied.map_err(|source| MatchError::Illegal { game, agent: agent.spec(), source })?;
                    outcome.decisions += 1;
                    Event::Played(seat, choice.action)
                }
            };
            events.push(event);
            for agent in &mut self.agents {
                agent.observe(event);
            }
        }
        let ending = match (&outcome.forfeit, position.result()) {
            (Some(forfeit), _) => Ending::Forfeit(forfeit.clone()),
            (None, Some(result)) => Ending::Finished(result),
            (None, None) => Ending::Truncated,
        };
        if let Some(GameResult { winner, margin }) = ending.result() {
            outcome.winner = winner;
            outcome.margin = margin;
        }
        for agent in &mut self.agents {
            agent.game_over(&ending);
        }
        outcome.events_hash = hash_of(&events);
        outcome.luck = value.map(|value| self.luck.luck_of(*start, &events, value));
        Ok(Some(PlayedGame { outcome, events, efforts }))
    }
}

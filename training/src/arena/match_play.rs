//! Games in pairs: both games of a pair have the same dice, the agents swap seats.
//!
//! Pair `p` of a match with seed `s` throws the dice of [`chance::game_seed`]`(s, p)` in both of its games; the agent on
//! a seat of game `g = 2p` or `2p + 1` draws from [`chance::agent_rng`]`(s, g, seat)`. A game therefore depends on
//! nothing but the match's seed and its own number, not on threads or on the games before it.
//!
//! An agent that forfeits ([`AgentError::Forfeit`]) loses that game and goes on playing; any other error ends the match.

use crate::arena::report::{MATCH_VERSION, MatchCost, MatchReport, MatchStatistics};
use dervish_agents::agent::{Agent, AgentError, Event};
use dervish_agents::limits::Limits;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance::{self, Dice};
use dervish_env::game::{Actor, GameResult, IllegalMove, Position, Seat};
use dervish_env::record::{Ending, Forfeit};
use serde::{Deserialize, Serialize};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

/// Plays a match of `options.pairs` pairs of games from `start` between the agents of `a` and `b`.
///
/// The games and statistics of the report depend on the arguments alone, except on the number of threads and as far as
/// `options.limits` bounds time. If the spectator asks to stop, the pairs finished by then are reported; as long games
/// are the likelier ones to be cut off, an interrupted match is a slightly biased sample.
///
/// # Errors
/// [`MatchError`]: no pair (or far too many) was asked for, none was finished, or an agent failed.
pub fn play_match<P: Position>(
    start: &P,
    a: &AgentFactory<P>,
    b: &AgentFactory<P>,
    options: &MatchOptions,
    spectator: &dyn Spectator,
) -> Result<MatchReport, MatchError> {
    if !(1..=u32::MAX / 2).contains(&options.pairs) {
        return Err(MatchError::Pairs(options.pairs));
    }
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let workers = threads.min(options.pairs as usize);
    let next_pair = AtomicU32::new(0);
    let halt = AtomicBool::new(false);
    let finished = Mutex::new(Vec::new());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut table = Table::new(start, a, b, options);
                let stop = || halt.load(Ordering::Relaxed) || spectator.stop_requested();
                while !stop() {
                    let pair = next_pair.fetch_add(1, Ordering::Relaxed);
                    if pair >= options.pairs {
                        break;
                    }
                    let played = table.play_pair(pair, spectator, &stop);
                    if played.is_err() {
                        halt.store(true, Ordering::Relaxed);
                    }
                    let mut finished = finished.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    finished.push((pair, played));
                }
            });
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    let mut finished = finished.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    finished.sort_by_key(|(pair, _)| *pair);
    let mut games = Vec::with_capacity(2 * finished.len());
    let mut efforts = [Effort::default(); 2];
    for (_, played) in finished {
        for game in played?.into_iter().flatten() {
            for (total, effort) in efforts.iter_mut().zip(game.efforts) {
                total.add(&effort);
            }
            games.push(game.outcome);
        }
    }
    let statistics = MatchStatistics::of(&games).ok_or(MatchError::Stopped)?;
    let decisions: u64 = efforts.iter().map(|effort| effort.decisions).sum();
    Ok(MatchReport {
        version: MATCH_VERSION,
        identity: start.identity(),
        seats: Seat::BOTH.map(|seat| P::seat_name(seat).to_string()),
        agents: [a.spec().to_string(), b.spec().to_string()],
        seed: options.seed,
        limits: options.limits,
        max_decisions: options.max_decisions,
        games_requested: 2 * u64::from(options.pairs),
        statistics,
        cost: MatchCost {
            threads: workers,
            seconds,
            decisions_per_second: decisions as f64 / seconds.max(1e-9),
            efforts,
        },
        games,
    })
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

    /// Hears of every game of a pair once both are finished, in the order in which they end.
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
}

/// A finished game with everything that happened in it.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayedGame {
    /// How it ended.
    pub outcome: GameOutcome,
    /// Every decision and roll, in order.
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

    /// The margin as `seat` sees it.
    pub fn margin_for(&self, seat: Seat) -> f32 {
        if seat == Seat::First { self.margin } else { -self.margin }
    }
}

/// What an agent used: the price of its strength.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Effort {
    /// Decisions made.
    pub decisions: u64,
    /// Simulations run, for searching agents.
    pub simulations: u64,
    /// Time spent choosing, in seconds.
    pub seconds: f64,
}

impl Effort {
    fn add(&mut self, other: &Effort) {
        self.decisions += other.decisions;
        self.simulations += other.simulations;
        self.seconds += other.seconds;
    }
}

/// Why there is no report of a match.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// No pairs were asked for, or more than games can be numbered.
    #[error("a match has 1 to {most} pairs of games, not {0}", most = u32::MAX / 2)]
    Pairs(u32),
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
    start: &'m P,
    options: &'m MatchOptions,
    agents: [Box<dyn Agent<P>>; 2],
    dice: Dice,
}

impl<'m, P: Position> Table<'m, P> {
    fn new(start: &'m P, a: &AgentFactory<P>, b: &AgentFactory<P>, options: &'m MatchOptions) -> Table<'m, P> {
        Table { start, options, agents: [a.make(), b.make()], dice: Dice::new(options.seed) }
    }

    /// Both games of a pair; `None` if `stop` said so before the end.
    fn play_pair(
        &mut self,
        pair: u32,
        spectator: &dyn Spectator,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<[PlayedGame; 2]>, MatchError> {
        let Some(even) = self.play_game(2 * pair, Contestant::A, stop)? else { return Ok(None) };
        let Some(odd) = self.play_game(2 * pair + 1, Contestant::B, stop)? else { return Ok(None) };
        let games = [even, odd];
        spectator.pair_over(&games).map_err(|source| MatchError::Spectator { game: 2 * pair + 1, source })?;
        Ok(Some(games.map(|game| PlayedGame { events: Vec::new(), ..game })))
    }

    fn play_game(
        &mut self,
        game: u32,
        first: Contestant,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<PlayedGame>, MatchError> {
        let dice_seed = chance::game_seed(self.options.seed, u64::from(game / 2));
        let mut outcome = GameOutcome {
            game,
            first,
            dice_seed,
            winner: None,
            margin: 0.0,
            decisions: 0,
            truncated: false,
            forfeit: None,
        };
        let mut events = Vec::new();
        let mut efforts = [Effort::default(); 2];
        // Which of `agents` sits on each seat.
        let sitting = Seat::BOTH.map(|seat| outcome.contestant_on(seat).index());
        for seat in Seat::BOTH {
            let rng = chance::agent_rng(self.options.seed, u64::from(game), seat);
            self.agents[sitting[seat.index()]].new_game(rng);
        }
        self.dice.reset(dice_seed);
        let bound = self.options.max_decisions.map_or(P::MAX_DECISIONS, |bound| P::MAX_DECISIONS.min(bound as usize));
        let mut position = self.start.clone();
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
                    let choice = agent.choose(&position, &self.options.limits);
                    let choice = match choice {
                        Ok(choice) => choice,
                        Err(AgentError::Forfeit { reason, .. }) => {
                            outcome.forfeit = Some(Forfeit::new(seat, &reason));
                            break;
                        }
                        Err(source) => return Err(MatchError::Agent { game, source }),
                    };
                    let simulations = choice.report.map_or(0, |report| report.simulations);
                    efforts[contestant].add(&Effort {
                        decisions: 1,
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
        Ok(Some(PlayedGame { outcome, events, efforts }))
    }
}

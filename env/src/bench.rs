//! How fast a game plays: random legal play, cloning, and many games at once.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::chance::{Dice, SplitMix64, game_seed};
use crate::encode::{Encoder, Parts};
use crate::game::{Action, Actor, Position};
use crate::gym::VecEnv;

/// Plays random games from `start` for about `budget` on this thread and measures clones of positions on the way.
///
/// The games are those of `seed`, so two builds of the program play the same ones. What is counted is counted in a
/// second pass over some of them, so that counting does not slow what is timed.
pub fn measure_play<P: Position>(start: &P, seed: u64, budget: Duration) -> PlaySpeed {
    let mut player = RandomPlayer::new(start, seed);
    // A pass to warm up caches and buffers.
    player.play(0..1, |_| {});
    let mut moves = Moves::default();
    let begun = Instant::now();
    let (mut games, mut batch) = (0, 1);
    while begun.elapsed() < budget {
        let before = begun.elapsed();
        moves.add(player.play(games..games + batch, |_| {}));
        games += batch;
        // The clock is read about once in a hundredth of a second.
        if begun.elapsed() - before < Duration::from_millis(10) {
            batch *= 2;
        }
    }
    let seconds = begun.elapsed().as_secs_f64();

    let mut phase_mix = BTreeMap::new();
    let mut samples = Vec::with_capacity(SAMPLES);
    let mut bytes = Vec::new();
    let mut longest = 0;
    let mut plies = 0u64;
    player.play(0..games.min(COUNTED_GAMES), |position| {
        *phase_mix.entry(position.pending_kind().to_string()).or_default() += 1;
        bytes.clear();
        position.write_bytes(&mut bytes);
        longest = longest.max(bytes.len());
        if samples.len() < SAMPLES && plies.is_multiple_of(SAMPLE_EVERY) {
            samples.push(position.clone());
        }
        plies += 1;
    });
    PlaySpeed {
        games,
        seconds,
        decisions: moves.decisions,
        forced_moves: moves.forced,
        rolls: moves.rolls,
        decisions_per_second: moves.decisions as f64 / seconds,
        rolls_per_second: moves.rolls as f64 / seconds,
        games_per_second: games as f64 / seconds,
        phase_mix,
        clone_ns: clone_time(&samples),
        position_bytes: size_of::<P>(),
        canonical_bytes: longest,
    }
}

/// What [`measure_play`] found.
#[derive(Clone, Debug, serde::Serialize)]
pub struct PlaySpeed {
    /// Games played.
    pub games: u64,
    /// Time that they took.
    pub seconds: f64,
    /// Decisions between at least two legal actions.
    pub decisions: u64,
    /// Moves with a single legal action, not counted as decisions.
    pub forced_moves: u64,
    /// Single rolls.
    pub rolls: u64,
    /// Decisions per second, the generation of legal actions and all rolls and forced moves included in the time.
    pub decisions_per_second: f64,
    /// Rolls per second.
    pub rolls_per_second: f64,
    /// Games per second.
    pub games_per_second: f64,
    /// How often each kind of node was met in the games that were counted.
    pub phase_mix: BTreeMap<String, u64>,
    /// Time of one clone over an existing position, in nanoseconds.
    pub clone_ns: f64,
    /// Size of a position in memory, without what it points to.
    pub position_bytes: usize,
    /// Length of the longest canonical bytes in the games that were counted.
    pub canonical_bytes: usize,
}

/// Games that are counted, at most.
const COUNTED_GAMES: u64 = 64;
/// Positions that are cloned, and how many plies apart they are taken.
const SAMPLES: usize = 64;
const SAMPLE_EVERY: u64 = 7;
/// Clones that are timed.
const CLONES: u32 = 1 << 18;

fn clone_time<P: Position>(samples: &[P]) -> f64 {
    let Some(first) = samples.first() else {
        return 0.0;
    };
    let mut target = first.clone();
    let begun = Instant::now();
    let rounds = CLONES / samples.len() as u32;
    for _ in 0..rounds {
        for sample in samples {
            target.clone_from(black_box(sample));
            black_box(&mut target);
        }
    }
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(rounds) / samples.len() as f64
}

/// Counts of moves.
#[derive(Clone, Copy, Default)]
struct Moves {
    decisions: u64,
    forced: u64,
    rolls: u64,
}

impl Moves {
    fn add(&mut self, other: Moves) {
        self.decisions += other.decisions;
        self.forced += other.forced;
        self.rolls += other.rolls;
    }
}

/// Plays numbered games with uniformly random legal actions.
struct RandomPlayer<'a, P> {
    start: &'a P,
    position: P,
    seed: u64,
    dice: Dice,
    legal: Vec<Action>,
}

impl<'a, P: Position> RandomPlayer<'a, P> {
    fn new(start: &'a P, seed: u64) -> RandomPlayer<'a, P> {
        RandomPlayer { start, position: start.clone(), seed, dice: Dice::new(seed), legal: Vec::new() }
    }

    /// Plays games by number and shows every position to `visit`.
    fn play(&mut self, games: std::ops::Range<u64>, mut visit: impl FnMut(&P)) -> Moves {
        let mut moves = Moves::default();
        for game in games {
            let seed = game_seed(self.seed, game);
            self.position.clone_from(self.start);
            self.dice.reset(seed);
            let mut random = SplitMix64::new(seed);
            loop {
                visit(&self.position);
                match self.position.actor() {
                    Actor::Player(_) => {
                        self.position.legal_actions_into(&mut self.legal);
                        let action = self.legal[random.below(self.legal.len())];
                        if self.legal.len() > 1 {
                            moves.decisions += 1
                        } else {
                            moves.forced += 1
                        }
                        self.position.apply_legal(action);
                    }
                    Actor::Chance => {
                        let outcome = self.dice.roll(&self.position);
                        self.position.resolve_possible(outcome);
                        moves.rolls += 1;
                    }
                    Actor::Finished => break,
                }
            }
        }
        moves
    }
}

/// Steps `lanes` games at once with random actions on one thread and on `threads` for about `budget` each, with the given
/// `parts` of their observations, and masks.
///
/// # Errors
/// [`rayon::ThreadPoolBuildError`] if the threads cannot be had.
pub fn measure_vec_env<P: Position, E: Encoder<P> + Clone>(
    start: &P,
    encoder: &E,
    parts: Parts,
    lanes: usize,
    threads: usize,
    budget: Duration,
) -> Result<VecSpeed, rayon::ThreadPoolBuildError> {
    let speed_on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        Ok(pool
            .install(|| steps_per_second(VecEnv::new(start.clone(), encoder.clone(), parts, None, lanes, 1), budget)))
    };
    let (one, many) = (speed_on(1)?, speed_on(threads)?);
    Ok(VecSpeed { lanes, threads, one_thread: one, all_threads: many, scaling: many / one })
}

/// What [`measure_vec_env`] found.
#[derive(Clone, Debug, serde::Serialize)]
pub struct VecSpeed {
    /// Games side by side.
    pub lanes: usize,
    /// Threads of the second figure.
    pub threads: usize,
    /// Steps of games per second on one thread.
    pub one_thread: f64,
    /// Steps of games per second on all of the threads.
    pub all_threads: f64,
    /// How many times faster the second is.
    pub scaling: f64,
}

fn steps_per_second<P: Position, E: Encoder<P>>(mut env: VecEnv<P, E>, budget: Duration) -> f64 {
    let mut actions = Vec::with_capacity(env.len());
    let mut rounds = 0u64;
    let begun = Instant::now();
    while begun.elapsed() < budget {
        // The choice runs on all threads too, so that what is measured is the environment.
        (0..env.len())
            .into_par_iter()
            .with_min_len(LEAST_CHOICES)
            .map(|lane| {
                let legal = env.legal(lane);
                legal[SplitMix64::new(game_seed(rounds, lane as u64)).below(legal.len())]
            })
            .collect_into_vec(&mut actions);
        if env.step(&actions).is_err() {
            break;
        }
        rounds += 1;
    }
    (rounds * env.len() as u64) as f64 / begun.elapsed().as_secs_f64()
}

/// Games whose actions are chosen in one task.
const LEAST_CHOICES: usize = 64;

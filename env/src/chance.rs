//! Sampling: keyed dice for games and named random streams for everything else. Nothing outside this module draws.
//!
//! # Keyed dice
//! The value of a roll is a pure function of the game's seed, the [`RollKey`] of the roll and its ordinal among the
//! rolls of that key so far. Two games with one seed therefore see the same dice wherever they do the same, however
//! much they differ elsewhere: the common random numbers that make paired matches precise.
//!
//! # Generators
//! Dice words and seeds come from a chain of the SplitMix64 finaliser (Steele, Lea and Flood, *Fast Splittable
//! Pseudorandom Number Generators*, OOPSLA 2014), a counter-based construction on 64-bit integers alone. Long streams
//! are ChaCha8 (Bernstein 2008), keyed by the same chain. Both give the same values on every machine; golden tests
//! hold them.

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;

use crate::game::{Outcome, Position, RollKey, Seat, WeightedOutcome};

/// The dice of one game.
///
/// A clone throws what the original would have thrown. In the steady state a roll allocates nothing.
#[derive(Clone, Debug)]
pub struct Dice {
    seed: u64,
    /// The chain after the seed, so that a roll costs two finalisers.
    root: u64,
    turn: u32,
    /// How often each key was thrown in this turn. Keys contain the turn wherever it can change, so older ones are
    /// never asked for again.
    thrown: Vec<(RollKey, u32)>,
    outcomes: Vec<WeightedOutcome>,
}

impl Dice {
    /// The dice of the game with this seed.
    pub fn new(seed: u64) -> Dice {
        Dice {
            seed,
            root: chain(DICE_STREAM, seed),
            turn: 0,
            thrown: Vec::with_capacity(64),
            outcomes: Vec::with_capacity(16),
        }
    }

    /// The seed that these dice were made from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Begins another game, keeping the buffers.
    pub fn reset(&mut self, seed: u64) {
        self.seed = seed;
        self.root = chain(DICE_STREAM, seed);
        self.turn = 0;
        self.thrown.clear();
    }

    /// Throws the roll that `position` waits for. The caller applies it with [`Position::resolve_possible`].
    ///
    /// # Panics
    /// If the position waits for no roll.
    #[inline]
    pub fn roll<P: Position>(&mut self, position: &P) -> Outcome {
        let word = self.next_word(position);
        position.chance_outcomes_into(&mut self.outcomes);
        pick(&self.outcomes, position.chance_total(), word)
    }

    /// Counts the roll that `position` waits for without throwing it: its value was read from a record, and the dice
    /// must go on from there as if they had thrown it.
    pub fn pass<P: Position>(&mut self, position: &P) {
        self.next_word(position);
    }

    #[inline]
    fn next_word<P: Position>(&mut self, position: &P) -> u64 {
        let turn = position.turn();
        if turn != self.turn {
            self.turn = turn;
            self.thrown.clear();
        }
        let key = position.roll_key();
        let ordinal = self.next_ordinal(key);
        chain(chain(self.root, key.0), u64::from(ordinal))
    }

    #[inline]
    fn next_ordinal(&mut self, key: RollKey) -> u32 {
        // From the back: most rolls repeat the latest key.
        match self.thrown.iter_mut().rev().find(|(thrown, _)| *thrown == key) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.thrown.push((key, 0));
                0
            }
        }
    }
}

/// The outcome that a uniform 64-bit `word` selects from `outcomes`, whose weights sum to `total`.
///
/// # Panics
/// If `outcomes` is empty.
#[inline]
pub fn pick(outcomes: &[WeightedOutcome], total: u32, word: u64) -> Outcome {
    debug_assert_eq!(outcomes.iter().map(|w| w.weight).sum::<u32>(), total, "weights must sum to the total");
    let mut left = below(word, total);
    // All alike, as the faces of a die: no search is needed.
    if outcomes.len() == total as usize {
        return outcomes[left as usize].outcome;
    }
    for weighted in outcomes {
        if left < weighted.weight {
            return weighted.outcome;
        }
        left -= weighted.weight;
    }
    outcomes.last().expect("a roll is due").outcome
}

/// Scales a uniform 64-bit `word` to `0..n` by multiply and shift (Lemire 2019, without the rejection step): no value
/// is off its probability by more than n / 2^64.
#[inline]
pub fn below(word: u64, n: u32) -> u32 {
    ((u128::from(word) * u128::from(n)) >> 64) as u32
}

/// The six faces of a die, in the form of a chance node.
pub const D6: [WeightedOutcome; 6] = {
    let mut outcomes = [WeightedOutcome { outcome: Outcome(0), weight: 1 }; 6];
    let mut face = 0;
    while face < 6 {
        outcomes[face].outcome = Outcome(face as u16 + 1);
        face += 1;
    }
    outcomes
};

/// The eleven sums of two dice with their numbers of throws out of 36, in the form of a chance node.
pub const TWO_D6: [WeightedOutcome; 11] = {
    let mut outcomes = [WeightedOutcome { outcome: Outcome(0), weight: 0 }; 11];
    let mut sum = 2u16;
    while sum <= 12 {
        let weight = if sum <= 7 { sum - 1 } else { 13 - sum };
        outcomes[sum as usize - 2] = WeightedOutcome { outcome: Outcome(sum), weight: weight as u32 };
        sum += 1;
    }
    outcomes
};

/// Seed of the dice of game (or pair of games) number `game` of a run.
pub fn game_seed(run_seed: u64, game: u64) -> u64 {
    chain(chain(GAME_STREAM, run_seed), game)
}

/// Seed of episode number `episode` (from 0) of environment `env` of a vector of environments.
pub fn episode_seed(vec_seed: u64, env: u64, episode: u64) -> u64 {
    chain(chain(chain(EPISODE_STREAM, vec_seed), env), episode)
}

/// The generator of the agent in `seat` in game number `game` of a run, apart from the dice and from the other seat.
pub fn agent_rng(run_seed: u64, game: u64, seat: Seat) -> ChaCha8Rng {
    stream_rng(chain(chain(chain(AGENT_STREAM, run_seed), game), seat.index() as u64))
}

/// The generator of a worker of a run that is named by a text, such as `replay` or `weights`.
pub fn named_rng(run_seed: u64, name: &str) -> ChaCha8Rng {
    stream_rng(name.bytes().fold(chain(NAMED_STREAM, run_seed), |state, byte| chain(state, u64::from(byte))))
}

/// ChaCha8 whose key is the first four words of SplitMix64 from `state`, little end first.
fn stream_rng(state: u64) -> ChaCha8Rng {
    let mut words = SplitMix64::new(state);
    let mut key = [0; 32];
    for bytes in key.chunks_exact_mut(8) {
        bytes.copy_from_slice(&words.next_word().to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

// What the chains of the streams begin with, so that no two streams share a value by sharing numbers.
const DICE_STREAM: u64 = 1;
const GAME_STREAM: u64 = 2;
const AGENT_STREAM: u64 = 3;
const EPISODE_STREAM: u64 = 4;
const NAMED_STREAM: u64 = 5;

/// 2^64 over the golden ratio, the increment of SplitMix64.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// One link: mixes `value` into `state`.
#[inline]
fn chain(state: u64, value: u64) -> u64 {
    finalise((state ^ value).wrapping_add(GOLDEN_GAMMA))
}

/// The finaliser of SplitMix64: variant 13 of Stafford's mixers, a bijection.
#[inline]
fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// SplitMix64: a small and fast generator for rollouts and random walks, where ChaCha8 would be most of the cost.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The generator with this seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// The generator that an agent draws from in a game: `rng` is the agent's own (see [`agent_rng`]), `stream` the one of
    /// its random streams that its user chose.
    pub fn of_agent(mut rng: ChaCha8Rng, stream: u64) -> SplitMix64 {
        rng.set_stream(stream);
        SplitMix64::new(rng.next_u64())
    }

    /// The next 64 uniform bits.
    #[inline]
    pub fn next_word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        finalise(self.state)
    }

    /// A number in `0..n`; 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        below(self.next_word(), n as u32) as usize
    }
}

impl TryRng for SplitMix64 {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next_word() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next_word())
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        for bytes in destination.chunks_mut(8) {
            bytes.copy_from_slice(&self.next_word().to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::reference::pig::Pig;

    /// Values printed with the reference implementation of SplitMix64 (seed 1234567) and those of
    /// `java.util.SplittableRandom`'s mixer from seed 0.
    #[test]
    fn split_mix_gives_the_published_values() {
        let mut generator = SplitMix64::new(1_234_567);
        assert_eq!(
            [(); 5].map(|()| generator.next_word()),
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
        let mut generator = SplitMix64::new(0);
        assert_eq!([(); 2].map(|()| generator.next_word()), [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    /// Seeds and streams are part of every record and run, so they may not change: computed by a second
    /// implementation of SplitMix64 and ChaCha8 in another language.
    #[test]
    fn seeds_and_streams_keep_their_values() {
        assert_eq!(game_seed(7, 3), 0x67e0_7ea6_e630_c1f5);
        assert_eq!(episode_seed(7, 3, 2), 0x01aa_ea31_da78_10ca);
        assert_eq!(agent_rng(7, 3, Seat::Second).next_u64(), 0x8ef8_b852_a8c6_4c20);
        assert_eq!(named_rng(7, "replay").next_u64(), 0x7bb9_567e_c54b_9d5f);
        let dice = Dice::new(42);
        assert_eq!(chain(chain(dice.root, 5), 2), 0x836d_e0b4_bca8_210d);
    }

    #[test]
    fn streams_differ_by_seed_game_seat_and_name() {
        let mut firsts = vec![
            agent_rng(1, 1, Seat::First).next_u64(),
            agent_rng(1, 1, Seat::Second).next_u64(),
            agent_rng(1, 2, Seat::First).next_u64(),
            agent_rng(2, 1, Seat::First).next_u64(),
            named_rng(1, "replay").next_u64(),
            named_rng(1, "weights").next_u64(),
            game_seed(1, 1),
            episode_seed(1, 1, 0),
        ];
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 8);
    }

    #[test]
    fn dice_depend_on_seed_key_and_ordinal_alone() {
        let position = Pig::new();
        let mut dice = Dice::new(9);
        let throws: Vec<_> = (0..40).map(|_| dice.roll(&position)).collect();
        let mut same = Dice::new(9);
        assert_eq!(throws, (0..40).map(|_| same.roll(&position)).collect::<Vec<_>>());
        let mut other = Dice::new(10);
        assert_ne!(throws, (0..40).map(|_| other.roll(&position)).collect::<Vec<_>>());
        // A roll that was read from a record counts as thrown.
        let mut passed = Dice::new(9);
        passed.pass(&position);
        assert_eq!(passed.roll(&position), throws[1]);
        // A clone goes on as the original does, and reset begins anew.
        let mut clone = dice.clone();
        assert_eq!(clone.roll(&position), dice.roll(&position));
        dice.reset(9);
        assert_eq!(dice.roll(&position), throws[0]);
    }

    /// Pearson's statistic of 200,000 throws; 29.59 is exceeded with probability 0.001 at 10 degrees of freedom and
    /// 20.52 at 5.
    #[test]
    fn weighted_outcomes_come_up_in_proportion() {
        for (outcomes, total, critical) in [(&TWO_D6[..], 36, 29.59), (&D6[..], 6, 20.52)] {
            let root = chain(DICE_STREAM, 2024);
            let throws = 200_000;
            let mut counts = [0u32; 13];
            for ordinal in 0..throws {
                counts[usize::from(pick(outcomes, total, chain(chain(root, 77), ordinal)).0)] += 1;
            }
            let statistic: f64 = outcomes
                .iter()
                .map(|w| {
                    let expected = throws as f64 * f64::from(w.weight) / f64::from(total);
                    (f64::from(counts[usize::from(w.outcome.0)]) - expected).powi(2) / expected
                })
                .sum();
            assert!(statistic < critical, "chi-square {statistic}");
        }
    }

    #[test]
    fn two_dice_have_their_36_throws() {
        let weights: Vec<u32> = TWO_D6.iter().map(|w| w.weight).collect();
        assert_eq!(weights, [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]);
        assert_eq!((TWO_D6[0].outcome, TWO_D6[10].outcome), (Outcome(2), Outcome(12)));
        assert_eq!((D6[0].outcome, D6[5].outcome), (Outcome(1), Outcome(6)));
    }

    #[test]
    fn the_ends_of_a_word_pick_the_ends_of_the_list() {
        assert_eq!(pick(&TWO_D6, 36, 0), Outcome(2));
        assert_eq!(pick(&TWO_D6, 36, u64::MAX), Outcome(12));
        assert_eq!(below(u64::MAX, 0), 0);
    }
}

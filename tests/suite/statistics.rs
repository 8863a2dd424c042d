//! The statistics of a match against hand-computed values and published ones.

use dervish_env::chance::SplitMix64;
use dervish_env::game::Seat;
use dervish_training::arena::match_play::{Contestant, GameOutcome};
use dervish_training::arena::report::MatchStatistics;
use dervish_training::arena::statistics::{EloDifference, Mean, Pentanomial, Tally, elo, expected_score, wilson};

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

#[test]
fn elo_is_the_logistic_map() {
    assert_eq!(elo(0.5), Some(0.0));
    // A score of 10/11 is odds of ten to one, 400 points by definition; 3/4 is 400 log10(3).
    assert_near(elo(10.0 / 11.0).expect("finite"), 400.0, 1e-9);
    assert_near(elo(0.75).expect("finite"), 190.848_501_9, 1e-6);
    assert_near(elo(0.25).expect("finite"), -190.848_501_9, 1e-6);
    assert_eq!((elo(0.0), elo(1.0)), (None, None));
    assert_near(expected_score(400.0), 10.0 / 11.0, 1e-12);
    assert_near(expected_score(-190.848_501_9), 0.25, 1e-9);
}

/// Results of Stockfish's test site as published in its change log and pull requests 4160 and 6255: pentanomial counts
/// with the Elo difference and its 95% interval, rounded as here.
#[test]
fn pentanomial_intervals_agree_with_published_ones() {
    for (counts, difference, reach) in [
        ([609, 3850, 9708, 10948, 4885], 92.77, 2.1),
        ([39, 5335, 18992, 5622, 12], 1.35, 1.2),
        ([1, 137, 4659, 203, 0], 2.22, 1.3),
        ([48, 3203, 14470, 11835, 444], 55.03, 1.4),
    ] {
        let score = Pentanomial(counts).score().expect("pairs");
        let elo = EloDifference::of(&score);
        let (value, low, high) = (elo.value.expect("finite"), elo.low.expect("finite"), elo.high.expect("finite"));
        assert_near(value, difference, 0.005);
        assert_near((high - low) / 2.0, reach, 0.05);
    }
}

/// By hand: mean, unbiased variance of the pairs' means `v`, variance of a game without draws `b`, design effect
/// `(4 n v + 2) / (4 n b + 4)`, games `n` / effect, and Wilson's interval of so many games.
#[test]
fn the_interval_over_pairs_is_that_of_as_many_games_as_tell_as_much() {
    for (counts, low, high) in [
        // 16 pairs as expected of independent games with win 1/2, draw 1/4, loss 1/4. The mean is 5/8; the variance of a game
        // 1/2 + 1/16 - (5/8)^2 = 11/64, v = 11/128 * 16/15 = 0.091667, b = 15/64, the effect 7.8667 / 19: 38.64 games.
        ([1, 2, 5, 4, 4], 0.467_686, 0.759_710),
        // Common dice that split all pairs but one: v = (99 * 0.0025^2 + 0.2475^2) / 99 = 0.000625, b = 0.249994, the effect
        // 2.25 / 103.9975: 4,622 games.
        ([0, 0, 99, 1, 0], 0.488_090, 0.516_906),
        // Pairs that are all split leave doubt on both sides alike: v = 0, b = 1/4, the effect 2 / 24: 240 games.
        ([0, 0, 20, 0, 0], 0.437_243, 0.562_757),
        // A single pair has no variance; it counts as two independent games.
        ([0, 0, 1, 0, 0], 0.094_531, 0.905_469),
    ] {
        let score = Pentanomial(counts).score().expect("pairs");
        assert_near(score.low, low, 1e-6);
        assert_near(score.high, high, 1e-6);
    }
    assert_eq!(Pentanomial::default().score(), None);
}

#[test]
fn a_whitewash_has_a_one_sided_bound() {
    // Nothing tells how pairs vary: 40 independent games won give Wilson's 40 / (40 + 1.959964^2).
    let score = Pentanomial([0, 0, 0, 0, 20]).score().expect("pairs");
    assert_near(score.low, 0.912_378, 1e-6);
    assert_eq!((score.value, score.high), (1.0, 1.0));
    let elo = EloDifference::of(&score);
    assert_eq!((elo.value, elo.high), (None, None));
    assert_near(elo.low.expect("finite"), 407.03, 0.01);
    let lost = Pentanomial([20, 0, 0, 0, 0]).score().expect("pairs");
    assert_eq!((lost.low, lost.value), (0.0, 0.0));
    assert_near(lost.high, 1.0 - 0.912_378, 1e-6);
}

/// Rounding leaves nothing of an end that is 0 or 1, however many games were played: it would have an Elo difference.
#[test]
fn what_was_always_lost_or_won_has_one_end() {
    for games in 1..500u32 {
        let trials = f64::from(games);
        assert_eq!((wilson(0.0, trials).low, wilson(trials, trials).high), (0.0, 1.0), "{games} games");
        let pairs = Pentanomial([0, 0, 0, 0, u64::from(games)]).score().expect("pairs");
        let lost = Pentanomial([u64::from(games), 0, 0, 0, 0]).score().expect("pairs");
        assert_eq!((pairs.high, lost.low), (1.0, 0.0), "{games} pairs");
        assert_eq!((EloDifference::of(&pairs).high, EloDifference::of(&lost).low), (None, None));
    }
}

/// Who has done worse is not promised more: half a point or a game less lowers both ends, down from a whitewash.
#[test]
fn a_worse_result_has_a_lower_interval() {
    for pairs in [2, 5, 10, 30, 100, 1000] {
        let mut before = Pentanomial([0, 0, 0, 0, pairs]).score().expect("pairs");
        // A draw in one pair, a loss in one, and so on to a tenth of all pairs.
        let half_points = [[0, 0, 0, 1], [0, 0, 1, 0]].into_iter().chain((2..=pairs / 10).map(|lost| [0, 0, lost, 0]));
        for worse in half_points {
            let [zero, half, one, three_halves] = worse;
            let counts = [zero, half, one, three_halves, pairs - worse.iter().sum::<u64>()];
            let score = Pentanomial(counts).score().expect("pairs");
            assert!(score.low < before.low && score.high < before.high, "{counts:?}: {score:?} after {before:?}");
            before = score;
        }
    }
}

/// The interval covers the true score about as often as it says, for matches short and long, even and one-sided, with dice
/// that bind the games of a pair together (positive) or swap with the seats (negative). Of 2,000 matches the share varies by 0.5%.
#[test]
fn intervals_over_pairs_cover_the_true_score() {
    const MATCHES: u64 = 2_000;
    let mut stream = SplitMix64::new(17);
    let mut uniform = || (stream.next_word() >> 11) as f64 / (1u64 << 53) as f64;
    for pairs in [5, 20, 100] {
        for (win, draw, bound) in
            [(0.5, 0.0, -0.6), (0.5, 0.0, 0.3), (0.7, 0.1, -0.3), (0.9, 0.05, 0.0), (0.95, 0.0, 0.0)]
        {
            let score = |at: f64| {
                if at < win {
                    1.0
                } else if at < win + draw {
                    0.5
                } else {
                    0.0
                }
            };
            let covered = (0..MATCHES).filter(|_| {
                let mut counts = Pentanomial::default();
                for _ in 0..pairs {
                    let first = uniform();
                    let second = match uniform() < f64::abs(bound) {
                        true if bound > 0.0 => first,
                        true => 1.0 - first,
                        false => uniform(),
                    };
                    counts.add(score(first), score(second));
                }
                let found = counts.score().expect("pairs");
                (found.low..=found.high).contains(&(win + draw / 2.0))
            });
            let share = covered.count() as f64 / MATCHES as f64;
            assert!(share > 0.91, "{share} of {pairs} pairs, {win} {draw} {bound}");
        }
    }
}

/// The four examples of Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17
/// (1998), table I, method 3.
#[test]
fn wilson_intervals_agree_with_published_ones() {
    for (successes, trials, low, high) in [
        (81.0, 263.0, 0.2553, 0.3662),
        (15.0, 148.0, 0.0624, 0.1605),
        (0.0, 20.0, 0.0, 0.1611),
        (1.0, 29.0, 0.0061, 0.1718),
    ] {
        let interval = wilson(successes, trials);
        assert_near(interval.low, low, 5e-5);
        assert_near(interval.high, high, 5e-5);
    }
}

#[test]
fn a_tally_counts_draws_as_half() {
    let mut tally = Tally::default();
    [1.0, 1.0, 0.5, 0.0].into_iter().for_each(|score| tally.add(score));
    assert_eq!(tally, Tally { wins: 2, draws: 1, losses: 1 });
    assert_eq!(tally.score().map(|score| score.value), Some(2.5 / 4.0));
    assert_eq!(Tally::default().score(), None);
}

#[test]
fn means_carry_their_standard_error() {
    // Of 1, 2, 3, 4: mean 5/2, unbiased variance 5/3, standard error sqrt(5/12).
    let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0]).expect("values");
    assert_eq!(mean.value, 2.5);
    assert_near(mean.standard_error.expect("several values"), (5.0f64 / 12.0).sqrt(), 1e-12);
    assert_eq!(Mean::of(&[3.0]), Some(Mean { value: 3.0, standard_error: None }));
    assert_eq!(Mean::of(&[]), None);
}

#[test]
fn a_match_is_counted_for_each_agent_and_seat() {
    // Pair 0: A wins from both seats. Pair 1: the first seat wins both. Pair 2: a draw, then A loses from the second.
    let game = |game, winner, margin, decisions, truncated| GameOutcome {
        game,
        first: if game % 2 == 0 { Contestant::A } else { Contestant::B },
        dice_seed: 0,
        winner,
        margin,
        decisions,
        truncated,
        forfeit: None,
        // Games 0 and 4 are one game played twice.
        events_hash: [7, 1, 2, 3, 7, 5][game as usize],
        luck: None,
    };
    let games = [
        game(0, Some(Seat::First), 0.5, 10, false),
        game(1, Some(Seat::Second), -0.25, 20, false),
        game(2, Some(Seat::First), 0.25, 30, false),
        game(3, Some(Seat::First), 0.5, 40, false),
        game(4, None, 0.0, 50, true),
        game(5, Some(Seat::First), 1.0, 60, false),
    ];
    let statistics = MatchStatistics::of(&games).expect("pairs");
    assert_eq!(statistics.games, 6);
    assert_eq!(statistics.pentanomial, Pentanomial([0, 1, 1, 0, 1]));
    assert_near(statistics.score.value, 3.5 / 6.0, 1e-12);
    let [a, b] = statistics.contestants;
    assert_eq!(a.seats[0].tally, Tally { wins: 2, draws: 1, losses: 0 });
    assert_eq!(a.seats[1].tally, Tally { wins: 1, draws: 0, losses: 2 });
    assert_eq!(b.seats[0].tally, Tally { wins: 2, draws: 0, losses: 1 });
    assert_eq!(b.seats[1].tally, Tally { wins: 0, draws: 1, losses: 2 });
    assert_eq!((a.total.games(), b.total.wins), (6, 2));
    // The first seat scored 1, 0, 1, 1, 1/2, 1.
    assert_near(statistics.first_seat_score.value, 4.5 / 6.0, 1e-12);
    // Margins of A: 1/2, 1/4, 1/4, -1/2, 0, -1; pair means 3/8, -1/8, -1/2.
    assert_near(statistics.margin.value, -0.25 / 3.0, 1e-12);
    assert_near(statistics.decisions.value, 35.0, 1e-12);
    // Pair means 15, 35, 55: standard deviation 20.
    assert_near(statistics.decisions.standard_error.expect("pairs"), 20.0 / 3.0f64.sqrt(), 1e-12);
    assert_eq!((statistics.truncated, statistics.distinct_games, statistics.luck), (1, 5, None));
    // Odds of three to one are 400 log10(3) points; those of A on the first seat, 2 wins and a draw, are five to one.
    assert_near(statistics.first_seat_elo.value.expect("finite"), 190.848_501_9, 1e-6);
    assert_near(a.seats[0].elo.value.expect("finite"), 400.0 * 5f64.log10(), 1e-9);
    assert_near(b.seats[1].elo.value.expect("finite"), -400.0 * 5f64.log10(), 1e-9);
}

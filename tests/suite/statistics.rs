//! The statistics of a match against hand-computed values and published ones.

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

#[test]
fn pairs_that_are_independent_games_give_the_trinomial_interval() {
    // 16 pairs as expected of independent games with win 1/2, draw 1/4, loss 1/4: 1/16, 2/16, (1 + 4)/16, 4/16, 4/16.
    // The variance of a game is 1/2 + 1/16 - (5/8)^2 = 11/64, that of a pair's mean half of it, and the unbiased one is
    // 16/15 of that; so the interval reaches 1.959964 sqrt(11/128 * 16/15 / 16) = 0.148352.
    let score = Pentanomial([1, 2, 5, 4, 4]).score().expect("pairs");
    assert_near(score.value, 0.625, 1e-12);
    assert_near(score.low, 0.625 - 0.148_352, 1e-6);
    assert_near(score.high, 0.625 + 0.148_352, 1e-6);
}

#[test]
fn common_dice_that_split_every_pair_leave_a_narrow_interval() {
    // 99 pairs at one point each and one at 3/2: variance (99 * 0.0025^2 + 0.2475^2) / 99 = 0.000625.
    let mut pentanomial = Pentanomial::default();
    (0..99).for_each(|_| pentanomial.add(1.0, 0.0));
    pentanomial.add(1.0, 0.5);
    assert_eq!(pentanomial, Pentanomial([0, 0, 99, 1, 0]));
    let score = pentanomial.score().expect("pairs");
    assert_near(score.value, 0.5025, 1e-12);
    assert_near(score.high - score.value, 1.959_964 * 0.0025, 1e-8);
}

#[test]
fn a_whitewash_has_a_one_sided_bound() {
    // After 20 pairs won 2-0 the share of other pairs is at most 1 - 0.05^(1/20) = 0.139108 with 95% confidence.
    let score = Pentanomial([0, 0, 0, 0, 20]).score().expect("pairs");
    assert_near(score.low, 1.0 - 0.139_108, 1e-6);
    assert_eq!((score.value, score.high), (1.0, 1.0));
    let elo = EloDifference::of(&score);
    assert_eq!((elo.value, elo.high), (None, None));
    assert_near(elo.low.expect("finite"), 316.64, 0.01);

    let lost = Pentanomial([20, 0, 0, 0, 0]).score().expect("pairs");
    assert_eq!((lost.low, lost.value), (0.0, 0.0));
    assert_near(lost.high, 0.139_108, 1e-6);
    // Split pairs alone leave doubt on both sides alike.
    let even = Pentanomial([0, 0, 20, 0, 0]).score().expect("pairs");
    assert_near(even.low, 0.5 - 0.069_554, 1e-6);
    assert_near(even.high, 0.5 + 0.069_554, 1e-6);
    assert_eq!(Pentanomial::default().score(), None);
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

//! Ratings against values computed by hand, and how often their intervals hold the truth.

use dervish_env::chance::SplitMix64;
use dervish_training::arena::ratings::{ELO_PER_LOGIT, RatedPair, Ratings};
use dervish_training::arena::statistics::Estimate;

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

fn reach(estimate: &Estimate) -> f64 {
    assert_near(estimate.high - estimate.value, estimate.value - estimate.low, 1e-9);
    (estimate.high - estimate.low) / 2.0
}

fn repeated(count: usize, agents: [usize; 2], scores: [f64; 2]) -> impl Iterator<Item = RatedPair> {
    std::iter::repeat_n(RatedPair { agents, scores }, count)
}

/// Two agents stand at r and -r. The likelihood of n games with score s, and of the drawn game that each of them has
/// played against 0 by the prior, is highest where n (s - e(2r)) + 1/2 - e(r) = 0, with e the logistic function.
#[test]
fn two_agents_are_rated_as_computed_by_hand() {
    for (pairs, scores) in [(1, [1.0, 1.0]), (20, [1.0, 0.5]), (500, [0.5, 0.0])] {
        // As good on either seat, so that the first seat is worth nothing.
        let [one, other] = scores;
        let rated: Vec<RatedPair> =
            repeated(pairs, [0, 1], [one, other]).chain(repeated(pairs, [0, 1], [other, one])).collect();
        let ratings = Ratings::of(2, &rated);
        assert_near(ratings.first_seat.value, 0.0, 1e-6);
        let r = ratings.elo[0].value / ELO_PER_LOGIT;
        let slope = 4.0 * pairs as f64 * ((one + other) / 2.0 - logistic(2.0 * r)) + 0.5 - logistic(r);
        assert_near(slope, 0.0, 1e-6);
        assert_near(ratings.elo[1].value, -ratings.elo[0].value, 1e-9);
    }
    // Three quarters are 190.85 points apart; the prior draws a thousand games a tenth of a point together.
    let rated: Vec<RatedPair> = repeated(500, [0, 1], [1.0, 0.5]).chain(repeated(500, [0, 1], [0.5, 1.0])).collect();
    let ratings = Ratings::of(2, &rated);
    assert_near(ratings.elo[0].value - ratings.elo[1].value, 190.85, 0.2);
    assert_near(ratings.first_seat.value, 0.0, 1e-6);
}

/// Of 800 even games, each result of a pair equally often as independent games have them, the information on the
/// difference of the ratings is 800/4 + 1/8 (the prior: half of 1/4), so r = difference / 2 has variance 1/(4 * 200.125)
/// in units of log-odds; on the first seat it is 800/4 + 1/4. One unit is 173.7178 points: 12.034 and 24.061.
#[test]
fn intervals_of_independent_games_come_from_the_information() {
    let mut rated = Vec::new();
    for scores in [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]] {
        rated.extend(repeated(100, [0, 1], scores));
    }
    let ratings = Ratings::of(2, &rated);
    assert_near(reach(&ratings.elo[0]), 12.034, 0.001);
    assert_near(reach(&ratings.first_seat), 24.061, 0.001);
}

/// Common dice that always let the same seat win both games of a pair: what the games tell of the seat, they tell
/// twice, so its variance is twice that of independent games (up to the prior); the ratings keep that of the
/// information, though no pair tells the agents apart.
#[test]
fn games_that_depend_on_each_other_widen_the_interval() {
    let rated: Vec<RatedPair> = repeated(200, [0, 1], [1.0, 0.0]).chain(repeated(200, [0, 1], [0.0, 1.0])).collect();
    let ratings = Ratings::of(2, &rated);
    assert_near(reach(&ratings.first_seat), 24.061 * 2f64.sqrt(), 0.03);
    assert_near(reach(&ratings.elo[0]), 12.034, 0.001);
}

#[test]
fn an_agent_that_wins_everything_has_a_wide_interval() {
    let few: Vec<RatedPair> = repeated(5, [0, 1], [1.0, 1.0]).collect();
    let many: Vec<RatedPair> = repeated(500, [0, 1], [1.0, 1.0]).collect();
    let [few, many] = [few, many].map(|rated| Ratings::of(2, &rated));
    assert!(many.elo[0].value > few.elo[0].value && few.elo[0].low > 0.0, "{few:?} {many:?}");
    assert!(reach(&many.elo[0]) > 100.0, "{many:?}");
}

#[test]
fn the_first_seat_has_its_worth() {
    // Whoever is first wins three of four: 190.85 points, up to the prior. Self-play tells the same of the seat.
    let rated: Vec<RatedPair> = repeated(1000, [0, 1], [1.0, 0.5]).chain(repeated(1000, [0, 1], [0.5, 0.0])).collect();
    let ratings = Ratings::of(2, &rated);
    assert_near(ratings.first_seat.value, 190.85, 0.2);
    assert_near(ratings.elo[0].value, 0.0, 1e-6);
    let rated: Vec<RatedPair> = repeated(1000, [0, 0], [1.0, 0.5]).chain(repeated(1000, [0, 0], [0.5, 0.0])).collect();
    assert_near(Ratings::of(1, &rated).first_seat.value, 190.85, 0.2);
}

#[test]
fn the_names_and_the_order_of_the_pairs_do_not_matter() {
    let mut rated: Vec<RatedPair> = repeated(9, [0, 1], [1.0, 0.5])
        .chain(repeated(7, [1, 2], [0.0, 1.0]))
        .chain(repeated(3, [2, 0], [0.5, 0.5]))
        .collect();
    let ratings = Ratings::of(3, &rated);
    rated.reverse();
    let renamed: Vec<RatedPair> = rated
        .iter()
        .map(|pair| RatedPair {
            // Numbers turned round, and B named first: its scores are 1 less those of A on the other seat.
            agents: [2 - pair.agents[1], 2 - pair.agents[0]],
            scores: [1.0 - pair.scores[1], 1.0 - pair.scores[0]],
        })
        .collect();
    let again = Ratings::of(3, &renamed);
    for agent in 0..3 {
        assert_near(again.elo[agent].value, ratings.elo[2 - agent].value, 1e-6);
        assert_near(reach(&again.elo[agent]), reach(&ratings.elo[2 - agent]), 1e-6);
    }
    assert_near(again.first_seat.value, ratings.first_seat.value, 1e-6);
    assert_near(ratings.elo.iter().map(|elo| elo.value).sum::<f64>(), 0.0, 1e-6);
}

/// How often the intervals of four agents and of the seat hold the truth, in tournaments of 60 pairs each. `dependence`
/// is the share of pairs in which one die decides both games: for the same agent, or for the same seat.
fn coverage(same_agent: f64, same_seat: f64, seed: u64) -> [f64; 5] {
    const TOURNAMENTS: u32 = 500;
    let truth = [150.0, 40.0, -60.0, -130.0];
    let first_seat = 70.0;
    let mut rng = SplitMix64::new(seed);
    let mut uniform = || rng.next_word() as f64 / u64::MAX as f64;
    let mut held = [0; 5];
    for _ in 0..TOURNAMENTS {
        let mut rated = Vec::new();
        for a in 0..4 {
            for b in 0..a {
                for _ in 0..60 {
                    let odds = [first_seat, -first_seat].map(|seat| (truth[a] - truth[b] + seat) / ELO_PER_LOGIT);
                    let (kind, die, other) = (uniform(), uniform(), uniform());
                    let other = match kind {
                        kind if kind < same_agent => die,
                        kind if kind < same_agent + same_seat => 1.0 - die,
                        _ => other,
                    };
                    let score = |die: f64, odds: f64| f64::from(u8::from(die < logistic(odds)));
                    rated.push(RatedPair { agents: [a, b], scores: [score(die, odds[0]), score(other, odds[1])] });
                }
            }
        }
        let ratings = Ratings::of(4, &rated);
        for (slot, (estimate, truth)) in
            held.iter_mut().zip(ratings.elo.iter().zip(truth).chain([(&ratings.first_seat, first_seat)]))
        {
            *slot += u32::from((estimate.low..=estimate.high).contains(&truth));
        }
    }
    held.map(|held| f64::from(held) / f64::from(TOURNAMENTS))
}

/// The standard error of 95% in 500 tournaments is 1%. The prior draws by less than a point.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    for share in coverage(0.0, 0.0, 1) {
        assert!((0.925..0.98).contains(&share), "independent games: {share}");
    }
    // What depends on each other must not make intervals too narrow, for the agents or for the seat.
    for (same_agent, same_seat, seed) in [(0.8, 0.0, 2), (0.0, 0.8, 3)] {
        for share in coverage(same_agent, same_seat, seed) {
            assert!(share > 0.925, "{same_agent} of pairs for one agent, {same_seat} for one seat: {share}");
        }
    }
}

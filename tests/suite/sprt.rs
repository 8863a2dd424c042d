//! The sequential test of a match: likelihood ratios computed by hand and published ones, and how often it errs.

use dervish_env::chance::SplitMix64;
use dervish_training::arena::sprt::{Hypothesis, SprtPlan, SprtState};
use dervish_training::arena::statistics::{Pentanomial, elo, expected_score};

fn plan(elo0: f64, elo1: f64) -> SprtPlan {
    SprtPlan { elo0, elo1, alpha: 0.05, beta: 0.05 }
}

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

/// Shares 0.1, 0.15, 0.2, 0.25, 0.3 have mean 5/8, so under H1 with that score they are their own likeliest
/// distribution. Under H0 with score 1/2 it is the even one: share p / (1 + x (a - 1/2)) with x = 1 is 1/5 for each. So
/// the ratio is 10 ln(1/2) + 15 ln(3/4) + 20 ln(1) + 25 ln(5/4) + 30 ln(3/2).
#[test]
fn the_likelihood_ratio_is_that_computed_by_hand() {
    let pairs = Pentanomial([10, 15, 20, 25, 30]);
    let half_against_five_eighths = plan(0.0, elo(0.625).expect("finite"));
    assert_near(half_against_five_eighths.log_likelihood_ratio(&pairs), 6.495_839, 1e-6);
    // Seen from the other side, with the hypotheses exchanged, it is the opposite.
    let pairs = Pentanomial([30, 25, 20, 15, 10]);
    let opposite = plan(elo(0.375).expect("finite"), 0.0);
    assert_near(opposite.log_likelihood_ratio(&pairs), -6.495_839, 1e-6);
    assert_eq!(half_against_five_eighths.log_likelihood_ratio(&Pentanomial::default()), 0.0);
}

/// Finished tests of Stockfish's test site in logistic Elo, as told in pull requests 2971, 3098, 3209, 2950 and 2951:
/// pentanomial counts, hypotheses, ratio.
#[test]
fn likelihood_ratios_agree_with_published_ones() {
    for (counts, elo0, elo1, ratio) in [
        ([17, 253, 1042, 337, 39], -0.5, 1.5, 2.96),
        ([11, 407, 3238, 513, 11], 0.25, 1.75, 2.93),
        ([491, 7345, 29693, 7670, 465], -0.25, 1.25, 2.96),
        ([53, 2220, 21459, 2445, 47], 0.25, 1.25, 2.97),
        ([253, 4282, 17604, 4431, 286], -0.25, 1.25, 2.94),
        ([133, 1751, 5094, 1849, 165], -0.5, 1.5, 2.94),
        ([59, 754, 2467, 865, 75], -0.5, 1.5, 2.95),
    ] {
        assert_near(plan(elo0, elo1).log_likelihood_ratio(&Pentanomial(counts)), ratio, 0.005);
    }
}

#[test]
fn the_bounds_are_those_of_wald() {
    // ln(0.05 / 0.95) and ln(0.95 / 0.05); ln(0.1 / 0.99) and ln(0.9 / 0.01).
    let [lower, upper] = plan(0.0, 10.0).bounds();
    assert_near(lower, -2.944_439, 1e-6);
    assert_near(upper, 2.944_439, 1e-6);
    let [lower, upper] = SprtPlan { alpha: 0.01, beta: 0.1, ..plan(0.0, 10.0) }.bounds();
    assert_near(lower, -2.292_535, 1e-6);
    assert_near(upper, 4.499_810, 1e-6);
}

#[test]
fn what_was_never_seen_stays_possible() {
    // One sort of pair alone gives a ratio without poles, and more of it more evidence.
    for (counts, verdict) in [([0, 0, 0, 0, 400], Hypothesis::H1), ([0, 0, 400, 0, 0], Hypothesis::H0)] {
        let state = SprtState::after(plan(0.0, 20.0), &Pentanomial(counts));
        assert!(state.log_likelihood_ratio.is_finite());
        assert_eq!(state.verdict, Some(verdict));
        assert_eq!(plan(0.0, 20.0).verdict(&Pentanomial(counts.map(|count| count / 400))), None);
    }
}

/// Shares of pairs with 0, 1/2, ..., 2 points whose mean score is that of `elo`: the base shares, tilted.
fn shares(base: [f64; 5], elo: f64) -> [f64; 5] {
    let tilted = |tilt: f64| {
        let weights: Vec<f64> = (0..5).map(|result| base[result] * (tilt * result as f64).exp()).collect();
        let total: f64 = weights.iter().sum();
        [0, 1, 2, 3, 4].map(|result| weights[result] / total)
    };
    let mean =
        |shares: &[f64; 5]| shares.iter().enumerate().map(|(result, share)| share * result as f64 / 4.0).sum::<f64>();
    let (mut low, mut high) = (-5.0, 5.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        *(if mean(&tilted(middle)) < expected_score(elo) { &mut low } else { &mut high }) = middle;
    }
    tilted(low)
}

/// How often H1 is accepted in `tests` tests of pairs with these shares, and how many pairs a test takes on average.
fn accepted(plan: &SprtPlan, shares: &[f64; 5], tests: u32, rng: &mut SplitMix64) -> (f64, f64) {
    let (mut accepted, mut pairs) = (0, 0);
    for _ in 0..tests {
        let mut seen = Pentanomial::default();
        let verdict = loop {
            let mut left = rng.next_word() as f64 / u64::MAX as f64;
            let result = (0..4).find(|&result| {
                left -= shares[result];
                left < 0.0
            });
            seen.0[result.unwrap_or(4)] += 1;
            if let Some(verdict) = plan.verdict(&seen) {
                break verdict;
            }
        };
        accepted += u32::from(verdict == Hypothesis::H1);
        pairs += seen.pairs();
    }
    (f64::from(accepted) / f64::from(tests), pairs as f64 / f64::from(tests))
}

/// The nominal rates are 5% and, in the last case, 1% and 10%. The step over the bound makes the true ones smaller, not
/// much so where many pairs are needed. The standard error of 1000 tests is 0.7% (0.3% at 1%, 0.9% at
/// 10%).
#[test]
fn the_test_errs_as_often_as_it_may() {
    // Independent games with a third of draws; pairs split by common dice; few draws.
    let independent = [1.0 / 9.0, 2.0 / 9.0, 3.0 / 9.0, 2.0 / 9.0, 1.0 / 9.0];
    let split = [0.05, 0.05, 0.8, 0.05, 0.05];
    let decisive = [0.24, 0.01, 0.5, 0.01, 0.24];
    let lopsided = SprtPlan { alpha: 0.01, beta: 0.1, ..plan(-20.0, 20.0) };
    let mut rng = SplitMix64::new(1945);
    for (plan, base) in [
        (plan(0.0, 40.0), independent),
        (plan(0.0, 20.0), split),
        (plan(-20.0, 20.0), decisive),
        (lopsided, independent),
    ] {
        let (wrongly, pairs) = accepted(&plan, &shares(base, plan.elo0), 1000, &mut rng);
        assert!(
            (0.3 * plan.alpha..1.35 * plan.alpha).contains(&wrongly),
            "{plan:?}: H1 wrongly in {wrongly}, {pairs} pairs"
        );
        let (rightly, pairs) = accepted(&plan, &shares(base, plan.elo1), 1000, &mut rng);
        assert!(
            (0.3 * plan.beta..1.35 * plan.beta).contains(&(1.0 - rightly)),
            "{plan:?}: H1 in {rightly}, {pairs} pairs"
        );
        assert!(pairs > 30.0, "a test of {pairs} pairs says nothing about long ones");
    }
}

#[test]
fn what_is_wrong_with_a_test_is_said() {
    let parsed = |text: &str| SprtPlan::parse(&text.split(' ').collect::<Vec<_>>());
    assert_eq!(parsed("elo0=0 elo1=10"), Ok(plan(0.0, 10.0)));
    assert_eq!(
        parsed("alpha=0.01 elo1=3.5 beta=0.1 elo0=-2"),
        Ok(SprtPlan { elo0: -2.0, elo1: 3.5, alpha: 0.01, beta: 0.1 })
    );
    // A score s stands for 400 log10(s / (1 - s)) Elo points (Elo 1978): 0.5 for 0, 10 to 1 for 400.
    let as_scores = parsed("score0=0.5 score1=0.9090909090909091").expect("two scores");
    assert!(as_scores.elo0 == 0.0 && (as_scores.elo1 - 400.0).abs() < 1e-9, "{as_scores:?}");
    for (text, expected) in [
        ("elo0=0", "elo1 is missing"),
        ("elo1=5", "elo0 is missing"),
        ("elo0=0 elo1=10 gamma=1", "there is no 'gamma'; there are: elo0, elo1, score0, score1, alpha, beta"),
        ("elo0=0 elo1=10 elo1=20", "elo1 is given twice"),
        ("elo0=0 elo1", "'elo1' is not of the form key=number"),
        ("elo0=0 elo1=ten", "'elo1=ten' is not of the form key=number"),
        ("elo0=10 elo1=10", "elo1=10 is not above elo0=10"),
        ("elo0=10 elo1=0", "elo1=0 is not above elo0=10"),
        ("elo0=0 score0=0.5 elo1=10", "elo0 and score0 say the same; give one of them"),
        ("score0=0.5 score1=1", "score1=1 is not the score of -1500 to 1500 Elo"),
        ("score0=-1 score1=0.5", "score0=-1 is not the score of -1500 to 1500 Elo"),
        ("score0=NaN score1=0.5", "score0=NaN is not the score of -1500 to 1500 Elo"),
        ("score0=0.5 score1=0.9999", "score1=0.9999 is not the score of -1500 to 1500 Elo"),
        ("elo0=0 elo1=NaN", "elo1=NaN is not from -1500 to 1500"),
        ("elo0=0 elo1=1e9", "elo1=1000000000 is not from -1500 to 1500"),
        ("elo0=0 elo1=10 alpha=0", "alpha=0 is not between 0 and 1"),
        ("elo0=0 elo1=10 beta=1.5", "beta=1.5 is not between 0 and 1"),
        ("elo0=0 elo1=10 alpha=NaN", "alpha=NaN is not between 0 and 1"),
        ("elo0=0 elo1=10 alpha=0.6 beta=0.4", "alpha=0.6 and beta=0.4 do not sum to less than 1"),
    ] {
        assert_eq!(parsed(text).expect_err(text).to_string(), expected, "{text}");
    }
}

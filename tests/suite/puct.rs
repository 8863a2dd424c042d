//! AlphaZero's search, step by step, against exact answers.

use crate::solved_pig::{SolvedPig, exact_value, pig_at};
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::LeafEvaluation;
use dervish_env::game::{Action, Position};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{HOLD, Pig, ROLL};
use dervish_search::puct::{PuctSearch, PuctSettings};
use dervish_search::tree::Tree;

/// Searches with the given policy and value for the player to move; returns how many positions it evaluated.
fn search<P: Position>(
    search: &mut PuctSearch<P>,
    position: &P,
    simulations: u32,
    seed: u64,
    policy: impl Fn(usize) -> Vec<f32>,
    value: impl Fn(&P) -> f32,
) -> u32 {
    search.begin(position, simulations, seed);
    let (mut evaluated, mut legal) = (0, Vec::new());
    while search.waiting().len() > 0 {
        let evaluations: Vec<(Vec<f32>, f32)> = search
            .waiting()
            .map(|position| {
                position.legal_actions_into(&mut legal);
                (policy(legal.len()), value(position))
            })
            .collect();
        evaluated += evaluations.len() as u32;
        search.supply(evaluations.iter().map(|(policy, value)| LeafEvaluation { policy, value: *value }));
    }
    evaluated
}

fn uniform(actions: usize) -> Vec<f32> {
    vec![1.0 / actions as f32; actions]
}

fn settings(simulations: u32) -> PuctSettings {
    let utility = Utility { margin_share: 0.0 };
    PuctSettings { simulations, noise_share: 0.0, temperature: 0.0, utility, ..PuctSettings::default() }
}

#[test]
fn pig_with_exact_values_is_played_as_the_solution_says() {
    let solved = SolvedPig::new();
    for (first, second, running) in [(80, 96, 12), (80, 80, 4), (85, 98, 3), (85, 85, 13), (88, 80, 11), (30, 30, 45)] {
        let choices = solved.choices(usize::from(first), usize::from(second), usize::from(running));
        let best = usize::from(choices[1] > choices[0]);
        let exact = |pig: &Pig| exact_value(&solved, pig);
        let mut puct = PuctSearch::new(settings(600));
        let evaluated = search(&mut puct, &pig_at(first, second, running), 600, 1, uniform, exact);
        assert!((1..=601).contains(&evaluated), "the root and at most one position for each simulation: {evaluated}");
        assert_eq!(puct.choice(), Some([ROLL, HOLD][best]), "{first} {second} {running}: {choices:?}");
        let mut policy = Vec::new();
        let value = f64::from(puct.policy_into(&mut policy));
        assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{policy:?}");
        // A mean over all visits: between the values of both actions, and nearer to the better one.
        let [worse, better] = [choices[1 - best], choices[best]].map(|wins| 2.0 * wins - 1.0);
        assert!(value < better + 0.05 && value > (worse + better) / 2.0 - 0.05, "{value} {choices:?}");
    }
}

/// Where all positions are worth the same, PUCT visits each action in proportion to its prior: the score c P sqrt(N) / (1 + n)
/// is equal for all at n + 1 proportional to P.
#[test]
fn without_knowledge_visits_follow_the_priors() {
    let priors = vec![0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05];
    let mut puct = PuctSearch::new(settings(700));
    let policy = |actions: usize| if actions == 7 { priors.clone() } else { uniform(actions) };
    search(&mut puct, &ConnectFour::new(), 700, 1, policy, |_| 0.0);
    let mut visited = Vec::new();
    assert_eq!(puct.policy_into(&mut visited), 0.0);
    for (visited, prior) in visited.iter().zip(&priors) {
        assert!((visited - prior).abs() < 0.01, "{visited} {prior}");
    }
}

/// With noise alone as priors and nothing known, visits follow a draw from the symmetric Dirichlet distribution with parameter
/// a = 10 / 7: each share has the mean 1/7 and the variance (1/7)(6/7) / (7 a + 1) = 6 / (49 x 11).
#[test]
fn noise_on_the_priors_is_dirichlet_and_prefers_no_action() {
    let games = 1500;
    let (mut sums, mut squares) = ([0f64; 7], 0.0);
    let mut puct = PuctSearch::new(PuctSettings { noise_share: 1.0, ..settings(200) });
    let mut visited = Vec::new();
    for seed in 0..games {
        search(&mut puct, &ConnectFour::new(), 200, seed, uniform, |_| 0.0);
        puct.policy_into(&mut visited);
        for (sum, &share) in sums.iter_mut().zip(&visited) {
            *sum += f64::from(share);
            squares += (f64::from(share) - 1.0 / 7.0).powi(2);
        }
    }
    let variance = 6.0 / (49.0 * 11.0);
    for sum in sums {
        // Four standard errors.
        assert!((sum / games as f64 - 1.0 / 7.0).abs() < 4.0 * (variance / games as f64).sqrt(), "{sums:?}");
    }
    let found = squares / (7.0 * games as f64);
    assert!((found / variance - 1.0).abs() < 0.1, "{found} {variance}");
}

/// Actions are drawn from the visits to the power of 1 / temperature.
#[test]
fn actions_are_drawn_from_the_visits() {
    let priors = [0.5, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05];
    let policy = |actions: usize| if actions == 7 { priors.to_vec() } else { uniform(actions) };
    for (temperature, power) in [(1.0, 1.0), (0.5, 2.0)] {
        let games = 2000;
        let mut counts = [0f64; 7];
        let mut visits = Vec::new();
        let mut puct = PuctSearch::new(PuctSettings { temperature, ..settings(60) });
        for seed in 0..games {
            search(&mut puct, &ConnectFour::new(), 60, seed, policy, |_| 0.0);
            counts[puct.choice().expect("a choice").index()] += 1.0;
            puct.policy_into(&mut visits);
        }
        let masses: Vec<f64> = visits.iter().map(|&share| f64::from(share).powf(power)).collect();
        let sum: f64 = masses.iter().sum();
        let statistic: f64 = counts
            .iter()
            .zip(&masses)
            .map(|(count, mass)| (count - games as f64 * mass / sum).powi(2) / (games as f64 * mass / sum))
            .sum();
        assert!(statistic < 16.81, "{temperature}: {counts:?} {visits:?}");
    }
}

#[test]
fn a_win_at_once_is_found_and_a_threat_is_met() {
    // First has columns 1, 2 and 3 on the bottom row: 4 wins. The same with Second to move: only 4 does not lose at once.
    let mut solved = 0;
    for columns in ["112233", "11223"] {
        let position = ConnectFour::after(columns).expect("legal columns");
        let mut puct = PuctSearch::new(settings(100));
        search(&mut puct, &position, 100, 1, uniform, |_| 0.0);
        assert_eq!(puct.choice(), Some(Action(3)), "{position:?}");
        // What is proven is played and taught, whatever else was visited before, also where actions are drawn.
        for seed in 0..20 {
            let mut drawn = PuctSearch::new(PuctSettings { temperature: 1.0, ..settings(2000) });
            search(&mut drawn, &position, 2000, seed, uniform, |_| 0.0);
            if !drawn.tree().node(Tree::ROOT).is_solved() {
                continue;
            }
            let mut policy = Vec::new();
            drawn.policy_into(&mut policy);
            assert_eq!((drawn.choice(), policy[3]), (Some(Action(3)), 1.0), "{position:?}: {policy:?}");
            solved += 1;
        }
        // Where the memory is used up the search goes on with what it has.
        let mut small = PuctSearch::new(PuctSettings { memory: 0, ..settings(100) });
        search(&mut small, &position, 100, 1, uniform, |_| 0.0);
        assert!(small.choice().is_some());
    }
    assert!(solved >= 20, "the win at once solves its position");
}

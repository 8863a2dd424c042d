//! Nash averaging on games whose equilibrium is known.

use dervish_training::arena::nash::NashAverage;

/// The average of agents whose log-odds against each other are these rows, which are antisymmetric.
fn average<const N: usize>(rows: [[f64; N]; N]) -> NashAverage {
    NashAverage::of(&rows.map(|row| row.to_vec()))
}

fn assert_near(values: &[f64], expected: &[f64], tolerance: f64) {
    let near = values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() <= tolerance);
    assert!(near && values.len() == expected.len(), "{values:?} is not {expected:?} ± {tolerance}");
}

#[test]
fn rock_paper_scissors_is_shared_evenly() {
    // Odds of 4.6 are those of agents that beat each other 99 times out of 100.
    for odds in [0.01, 1.0, 4.6] {
        let nash = average([[0.0, -odds, odds], [odds, 0.0, -odds], [-odds, odds, 0.0]]);
        assert_near(&nash.weights, &[1.0 / 3.0; 3], 1e-6);
        assert_near(&nash.elo, &[0.0; 3], 1e-3);
    }
    // With unequal odds each agent's weight is as the odds between the two others: A p = 0 for p = (3, 2, 1) / 6.
    let nash = average([[0.0, -1.0, 2.0], [1.0, 0.0, -3.0], [-2.0, 3.0, 0.0]]);
    assert_near(&nash.weights, &[0.5, 1.0 / 3.0, 1.0 / 6.0], 1e-6);
}

#[test]
fn the_strongest_of_a_transitive_chain_has_all_the_weight() {
    // Ratings 3, 2, 0, -1 in units of log-odds; against the strongest the others stand 1, 3 and 4 below.
    let ratings = [3.0, 2.0, 0.0, -1.0];
    let nash = average(ratings.map(|own| ratings.map(|other| own - other)));
    assert_near(&nash.weights, &[1.0, 0.0, 0.0, 0.0], 1e-5);
    let unit = 400.0 / std::f64::consts::LN_10;
    assert_near(&nash.elo, &[0.0, -unit, -3.0 * unit, -4.0 * unit], 0.01);
    // However little stronger.
    let ratings = [0.0, 0.01, -4.0];
    let nash = average(ratings.map(|own| ratings.map(|other| own - other)));
    assert_near(&nash.weights, &[0.0, 1.0, 0.0], 1e-3);
}

#[test]
fn equal_agents_share_the_weight() {
    assert_near(&average([[0.0; 5]; 5]).weights, &[0.2; 5], 1e-9);
    assert_near(&average([[0.0]]).weights, &[1.0], 1e-9);
    // Two equal ones above a third.
    let nash = average([[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [-2.0, -2.0, 0.0]]);
    assert_near(&nash.weights, &[0.5, 0.5, 0.0], 1e-5);
}

#[test]
fn copies_change_nothing_but_share_their_weight() {
    // Rock, rock again, paper, scissors.
    let nash = average([[0.0, 0.0, -1.0, 1.0], [0.0, 0.0, -1.0, 1.0], [1.0, 1.0, 0.0, -1.0], [-1.0, -1.0, 1.0, 0.0]]);
    assert_near(&nash.weights, &[1.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0], 1e-6);
    assert_near(&nash.elo, &[0.0; 4], 1e-3);
}

#[test]
fn who_loses_to_every_member_of_a_cycle_has_no_weight() {
    let nash = average([[0.0, -1.0, 1.0, 0.5], [1.0, 0.0, -1.0, 0.5], [-1.0, 1.0, 0.0, 0.5], [-0.5, -0.5, -0.5, 0.0]]);
    assert_near(&nash.weights, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0], 1e-5);
    assert_near(&nash.elo[3..], &[-0.5 * 400.0 / std::f64::consts::LN_10], 0.01);
}

/// Of any antisymmetric payoffs no agent gains against the equilibrium, and those with weight lose nothing.
#[test]
fn no_agent_gains_against_the_equilibrium() {
    let mut rng = dervish_env::chance::SplitMix64::new(2018);
    for agents in 2..14 {
        let mut draws = || (0..agents).map(|_| rng.below(2001) as f64 / 400.0).collect::<Vec<f64>>();
        let drawn: Vec<Vec<f64>> = (0..agents).map(|_| draws()).collect();
        let payoff = |row: usize, column: usize| drawn[row][column] - drawn[column][row];
        let payoffs: Vec<Vec<f64>> =
            (0..agents).map(|row| (0..agents).map(|column| payoff(row, column)).collect()).collect();
        let nash = NashAverage::of(&payoffs);
        assert!((nash.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for (weight, elo) in nash.weights.iter().zip(&nash.elo) {
            assert!(*elo < 1e-3 && (*weight < 1e-3 || *elo > -1.0), "{nash:?}");
        }
    }
}

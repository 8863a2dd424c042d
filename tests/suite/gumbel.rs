//! Gumbel search against exact answers.

use crate::lottery_game::{LotteryGame, Prize};
use crate::solved_pig::{SolvedPig, exact_value, pig_at};
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::LeafEvaluation;
use dervish_env::chance::Dice;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Action, Actor, Outcome, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{HOLD, ROLL};
use dervish_search::gumbel::{GumbelSearch, GumbelSettings};

const BY_RESULT: Utility = Utility { margin_share: 0.0 };

/// Searches with a uniform policy and the given value for the player to move; returns how many positions it evaluated.
fn search<P: Position>(
    search: &mut GumbelSearch<P>,
    position: &P,
    simulations: u32,
    seed: u64,
    value: impl Fn(&P) -> f32,
) -> u32 {
    search.begin(position, simulations, seed);
    let mut evaluated = 0;
    let mut legal = Vec::new();
    while search.waiting().len() > 0 {
        let evaluations: Vec<(Vec<f32>, f32)> = search
            .waiting()
            .map(|position| {
                position.legal_actions_into(&mut legal);
                (vec![1.0 / legal.len() as f32; legal.len()], value(position))
            })
            .collect();
        evaluated += evaluations.len() as u32;
        search.supply(evaluations.iter().map(|(policy, value)| LeafEvaluation { policy, value: *value }));
    }
    evaluated
}

fn settings(simulations: u32) -> GumbelSettings {
    GumbelSettings { simulations, noise: 0.0, utility: BY_RESULT, ..GumbelSettings::default() }
}

#[test]
fn pig_with_exact_values_is_played_as_the_solution_says() {
    let solved = SolvedPig::new();
    for (first, second, running) in [(80, 96, 12), (80, 80, 4), (85, 98, 3), (85, 85, 13), (88, 80, 11), (30, 30, 45)] {
        let choices = solved.choices(usize::from(first), usize::from(second), usize::from(running));
        let best = usize::from(choices[1] > choices[0]);
        let pig = pig_at(first, second, running);
        let mut gumbel = GumbelSearch::new(settings(600));
        let evaluated = search(&mut gumbel, &pig, 600, 1, |pig| exact_value(&solved, pig));
        assert!((1..=601).contains(&evaluated), "the root and at most one position for each simulation: {evaluated}");
        assert_eq!(gumbel.best(), Some([ROLL, HOLD][best]), "{first} {second} {running}: {choices:?}");
        let mut policy = Vec::new();
        let value = gumbel.improved_policy_into(&mut policy);
        assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{policy:?}");
        assert!(policy[best] > 0.5, "{first} {second} {running}: {choices:?} {policy:?}");
        // The mean over both actions by probability is at most the better one's value.
        let exact = 2.0 * choices[best] as f32 - 1.0;
        assert!(value < exact + 0.05 && value > exact - 0.25, "{value} {exact}");
    }
}

#[test]
fn the_second_seat_is_searched_from_its_own_point_of_view() {
    let solved = SolvedPig::new();
    // The same points for the player to move, on either seat; one player throws several times in a row.
    let first = pig_at(80, 96, 12);
    let mut second = pig_at(96, 80, 0);
    // The first seat throws a one and loses its turn.
    second.resolve(Outcome(1)).expect("a throw");
    second.resolve(Outcome(6)).expect("a throw");
    second.apply(ROLL).expect("a choice");
    second.resolve(Outcome(6)).expect("a throw");
    assert_eq!((first.actor(), second.actor()), (Actor::Player(Seat::First), Actor::Player(Seat::Second)));
    assert_eq!((second.banked(Seat::Second), second.banked(Seat::First), second.running()), (80, 96, 12));
    let values = [first, second].map(|pig| {
        let mut gumbel = GumbelSearch::new(settings(32));
        search(&mut gumbel, &pig, 32, 1, |pig| exact_value(&solved, pig));
        let mut policy = Vec::new();
        (gumbel.best(), gumbel.improved_policy_into(&mut policy), policy)
    });
    assert_eq!(values[0].0, values[1].0);
    assert!((values[0].1 - values[1].1).abs() < 0.05, "{values:?}");
}

#[test]
fn a_win_at_once_is_found_and_a_threat_is_met() {
    // First has columns 1, 2 and 3 on the bottom row: 4 wins. The same with Second to move: only 4 does not lose at once.
    for columns in ["112233", "11223"] {
        let position = ConnectFour::after(columns).expect("legal columns");
        let mut gumbel = GumbelSearch::new(settings(64));
        search(&mut gumbel, &position, 64, 1, |_| 0.0);
        assert_eq!(gumbel.best(), Some(Action(3)), "{position:?}");
        // Where the memory is used up the search goes on with what it has.
        let mut small = GumbelSearch::new(GumbelSettings { memory: 0, ..settings(64) });
        search(&mut small, &position, 64, 1, |_| 0.0);
        assert!(small.best().is_some());
    }
}

#[test]
fn fewer_simulations_can_be_asked_for() {
    let mut gumbel = GumbelSearch::new(settings(64));
    assert_eq!(search(&mut gumbel, &ConnectFour::new(), 5, 1, |_| 0.0), 6);
    assert!(gumbel.best().is_some());
}

/// Sequential halving is spread over the simulations that there are, not over those that the settings allow: asking for
/// fewer is the same as having no more.
#[test]
fn a_search_of_fewer_simulations_halves_as_often_as_any_of_its_size() {
    let start = Campaign::new(Scenario::builtin("souakim").expect("built in"));
    for (position_seed, simulations) in [(0, 4), (1, 8), (2, 16), (3, 31)] {
        let answer = |allowed: u32| {
            let mut gumbel = GumbelSearch::new(GumbelSettings { noise: 1.0, ..settings(allowed) });
            let value = |position: &Campaign| (position.key() % 1000) as f32 / 1000.0 - 0.5;
            search(&mut gumbel, &start, simulations, position_seed, value);
            let visits: Vec<u32> = gumbel.root_reports().map(|action| action.visits).collect();
            (gumbel.best(), visits)
        };
        let (best, visits) = answer(simulations);
        assert_eq!(answer(16 * simulations), (best, visits.clone()), "{simulations} simulations");
        let most = visits.iter().max().copied().unwrap_or(0);
        let visited = visits.iter().filter(|&&visits| visits > 0).count() as u32;
        // Who reaches the last phase has more than an equal share; with a simulation for each there is none.
        let candidates = GumbelSettings::default().candidates.min(simulations as usize) as u32;
        assert!(simulations <= candidates || most > simulations / candidates, "{simulations}: {visits:?}");
        assert!(visited <= candidates, "{simulations}: {visits:?}");
    }
}

/// The schedule by hand: sequential halving in log2 of the candidates phases, each of which has the same share of the simulations.
/// 64 over 16 candidates are 4 phases of 16: one visit for each of 16, two for each of 8, four for each of 4 and eight for each
/// of 2. 32 over 8 are 3 phases of 10, in whole rounds: one visit each of 8, two of 4, five of 2, and three for the six that are left.
/// Candidates of equal worth are kept in the order of their priors. Behind each action are more results than it is visited,
/// so that nothing is solved.
#[test]
fn sequential_halving_visits_as_the_paper_says() {
    let wide = LotteryGame::new(vec![vec![Prize { weight: 1, results: vec![0; 16] }]; 16], Seat::First, Seat::First);
    let visits_of = |simulations: u32, candidates: usize| -> Vec<u32> {
        let mut gumbel = GumbelSearch::new(GumbelSettings { candidates, ..settings(simulations) });
        gumbel.begin(&wide, simulations, 1);
        while gumbel.waiting().len() > 0 {
            // The likeliest action is the first, the least likely the last; nobody is better off anywhere.
            let policies: Vec<Vec<f32>> = gumbel
                .waiting()
                .map(|position| {
                    let mut legal = Vec::new();
                    position.legal_actions_into(&mut legal);
                    let mass: usize = (1..=legal.len()).sum();
                    (0..legal.len()).map(|place| (legal.len() - place) as f32 / mass as f32).collect()
                })
                .collect();
            gumbel.supply(policies.iter().map(|policy| LeafEvaluation { policy, value: 0.0 }));
        }
        let mut visits: Vec<(Action, u32)> =
            gumbel.root_reports().map(|report| (report.action, report.visits)).collect();
        visits.sort();
        visits.into_iter().map(|(_, visits)| visits).collect()
    };
    assert_eq!(visits_of(64, 16), [15, 15, 7, 7, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(visits_of(32, 8), [11, 11, 3, 3, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(visits_of(16, 16), [1; 16]);
}

/// The improved policy by hand: a logit is that of the prior, and (50 + most visits) times the scale for a difference in value of
/// 1 (equations 8 and 11 with c_visit 50). One action wins and one loses for sure, each is visited once, and both have half
/// of the prior: their logits differ by (50 + 1) * 0.01 * 2 = 1.02, so that the winning one has 1 / (1 + e^-1.02) = 0.735.
#[test]
fn the_improved_policy_adds_scaled_values_to_the_logits() {
    let sure = |result: i8| vec![Prize { weight: 1, results: vec![result] }];
    for (seat, expected) in [(Seat::First, 0.735), (Seat::Second, 0.265)] {
        let game = LotteryGame::new(vec![sure(1), sure(-1)], seat, seat);
        let mut gumbel = GumbelSearch::new(GumbelSettings { value_scale: 0.01, ..settings(2) });
        search(&mut gumbel, &game, 2, 1, |_| 0.0);
        let visits: Vec<u32> = gumbel.root_reports().map(|report| report.visits).collect();
        assert_eq!(visits, [1, 1]);
        let mut policy = Vec::new();
        gumbel.improved_policy_into(&mut policy);
        let wins = gumbel.root_reports().position(|report| report.action == Action(0)).expect("an action");
        assert!((policy[wins] - expected).abs() < 5e-4, "{seat:?}: {policy:?}");
    }
}

/// With values that tell nothing, the best action is a draw from the policy (the Gumbel-max theorem): uniform over seven
/// columns here. 16.81 is exceeded with probability 0.01 at 6 degrees of freedom.
#[test]
fn with_noise_and_without_knowledge_the_choice_is_a_draw_from_the_policy() {
    let games = 2100;
    let mut counts = [0f64; 7];
    let mut gumbel = GumbelSearch::new(GumbelSettings { noise: 1.0, candidates: 4, ..settings(8) });
    for seed in 0..games {
        search(&mut gumbel, &ConnectFour::new(), 8, seed, |_| 0.0);
        counts[gumbel.best().expect("a choice").index()] += 1.0;
    }
    let expected = games as f64 / 7.0;
    let statistic: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(statistic < 16.81, "{counts:?}");
}

/// The same seed gives the same search, whatever was searched before; another seed draws other candidates somewhere.
#[test]
fn a_search_depends_on_its_seed_alone() {
    let start = Campaign::new(Scenario::builtin("souakim").expect("built in"));
    let answer = |gumbel: &mut GumbelSearch<Campaign>, position: &Campaign, seed| {
        let evaluated = search(gumbel, position, 32, seed, |position| (position.key() % 1000) as f32 / 1000.0 - 0.5);
        let mut policy = Vec::new();
        let value = gumbel.improved_policy_into(&mut policy);
        (evaluated, gumbel.best(), policy, value, gumbel.root_reports().collect::<Vec<_>>())
    };
    let settings = GumbelSettings { noise: 1.0, ..settings(32) };
    let mut used = GumbelSearch::new(settings);
    let (mut position, mut dice, mut legal) = (start, Dice::new(2), Vec::new());
    let (mut searched, mut seeds_differ) = (0, 0);
    while searched < 60 {
        match position.actor() {
            Actor::Finished => break,
            Actor::Chance => position.resolve_possible(dice.roll(&position)),
            Actor::Player(_) => {
                let fresh = answer(&mut GumbelSearch::new(settings), &position, 7);
                assert_eq!(answer(&mut used, &position, 7), fresh, "{}", position.pending_text());
                seeds_differ += usize::from(answer(&mut used, &position, 8) != fresh);
                searched += 1;
                position.legal_actions_into(&mut legal);
                position.apply(legal[searched % legal.len()]).expect("legal");
            }
        }
    }
    assert!(searched > 30 && 2 * seeds_differ > searched, "{seeds_differ} of {searched}");
}

//! Bounds on what a search may use: time, positions, memory.

use crate::solved_pig::{SolvedPig, exact_value, pig_at};
use dervish_agents::agent::{Agent, Choice};
use dervish_agents::evaluation::{Evaluation, Utility};
use dervish_agents::evaluator::LeafEvaluation;
use dervish_agents::limits::{Limits, MoveBudget};
use dervish_env::chance::{Dice, agent_rng};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::HOLD;
use dervish_search::expectimax::{ExpectimaxSearch, ExpectimaxSettings, Pruning};
use dervish_search::expectimax_agent::{Expectimax, ExpectimaxOptions};
use dervish_search::glance::Glance;
use dervish_search::gumbel::{GumbelSearch, GumbelSettings};
use dervish_search::reference::ConnectFourEvaluation;
use dervish_training::arena::agents::ArenaGame;
use std::thread::sleep;
use std::time::{Duration, Instant};

const BY_RESULT: Utility = Utility { margin_share: 0.0 };

/// Agents whose own budgets would keep them busy for hours.
const TIRELESS: [&str; 7] = [
    "expectimax:nodes=4000000000,depth=1000",
    "expectimax:nodes=4000000000,depth=1000,star=0,merged=false",
    "mcts:sims=4000000000",
    "mcts:sims=4000000000,select=puct,prior=doctrine,batch=16",
    "mcts:sims=4000000000,threads=2,parallel=root,depth=0",
    "gumbel:sims=1000000",
    "gumbel:sims=1000000,prior=doctrine,rollout=none",
];

/// Decisions of a game of scenario 3 between doctrines, early and late, with more than a few options.
fn decisions(count: usize) -> Vec<Campaign> {
    let mut agents = Seat::BOTH.map(|seat| {
        let mut agent = Campaign::agents().factory("doctrine").expect("an agent").make();
        agent.new_game(agent_rng(3, 0, seat));
        agent
    });
    let mut position = Campaign::new(Scenario::builtin("souakim").expect("built in"));
    let (mut dice, mut legal, mut found) = (Dice::new(3), Vec::new(), Vec::new());
    loop {
        match position.actor() {
            Actor::Finished => break,
            Actor::Chance => position.resolve_possible(dice.roll(&position)),
            Actor::Player(seat) => {
                position.legal_actions_into(&mut legal);
                if legal.len() >= 4 {
                    found.push(position);
                }
                let choice = agents[seat.index()].choose(&position, &Limits::default()).expect("a choice");
                position.apply(choice.action).expect("legal");
            }
        }
    }
    assert!(found.len() >= count, "{} decisions", found.len());
    (0..count).map(|index| found[index * found.len() / count]).collect()
}

/// The answer of a new agent and how long it took.
fn timed(spec: &str, position: &Campaign, limits: &Limits) -> (Choice, Duration) {
    let mut agent = Campaign::agents().factory(spec).expect("an agent").make();
    agent.new_game(agent_rng(5, 0, Seat::First));
    let begun = Instant::now();
    let choice = agent.choose(position, limits).expect("a choice");
    (choice, begun.elapsed())
}

/// A limit of 50 ms for the move, or of 200 ms for the turn, a quarter of which may go to its first move, ends every search
/// soon after; what it answers is legal. The bound leaves room for a busy machine.
#[test]
fn every_search_keeps_to_its_time() {
    let for_move = Limits { time: Some(Duration::from_millis(50)), ..Limits::default() };
    let for_turn = Limits { turn_time: Some(Duration::from_millis(200)), ..Limits::default() };
    let positions = decisions(3);
    for spec in TIRELESS {
        for (position, limits) in positions.iter().zip([for_move, for_turn, for_move]) {
            let (choice, time) = timed(spec, position, &limits);
            assert!(time < Duration::from_millis(500), "{spec}: {time:?} under {limits:?}");
            // It has not given up before: nothing of this is solved in so short a time.
            assert!(time > Duration::from_millis(40), "{spec}: {time:?} under {limits:?}");
            assert!(position.is_legal(choice.action), "{spec}: {choice:?}");
            let report = choice.report.expect("a report");
            assert!(report.seconds > 0.04 && report.seconds <= time.as_secs_f64(), "{spec}: {} s", report.seconds);
        }
    }
}

/// A turn's time is shared out among its moves: each may use a quarter of what is left.
#[test]
fn the_moves_of_a_turn_share_its_time() {
    let limits = Limits { turn_time: Some(Duration::from_millis(400)), ..Limits::default() };
    let position = decisions(2)[1];
    for spec in ["expectimax:nodes=4000000000,depth=1000", "mcts:sims=4000000000", "gumbel:sims=1000000"] {
        let mut agent = Campaign::agents().factory(spec).expect("an agent").make();
        agent.new_game(agent_rng(5, 0, Seat::First));
        let times: Vec<f64> = (0..6)
            .map(|_| {
                let report = agent.choose(&position, &limits).expect("a choice").report;
                report.expect("a report").seconds
            })
            .collect();
        // 400 * (1 - (3/4)^6) = 329 ms for six moves, and what each is late.
        assert!(times.iter().sum::<f64>() < 0.8, "{spec}: {times:?}");
        assert!(times[0] > times[5], "{spec}: {times:?}");
    }
}

/// An evaluation that takes its time.
#[derive(Clone)]
struct Slow;

impl Evaluation<ConnectFour> for Slow {
    fn value(&self, position: &ConnectFour, seat: Seat) -> Option<f32> {
        sleep(Duration::from_millis(1));
        ConnectFourEvaluation.value(position, seat)
    }
}

/// Where nearly all positions are at the horizon, it is there that the clock must be looked at.
#[test]
fn expectimax_looks_at_the_clock_wherever_it_is() {
    let mut agent = Expectimax::new(Slow);
    agent.new_game(agent_rng(5, 0, Seat::First));
    let limits = Limits { time: Some(Duration::from_millis(20)), ..Limits::default() };
    let begun = Instant::now();
    let report = agent.choose(&ConnectFour::new(), &limits).expect("a choice").report.expect("a report");
    // A millisecond or little more for each position.
    assert!(begun.elapsed() < Duration::from_millis(300), "{:?} for {} positions", begun.elapsed(), report.nodes);
    assert!(report.nodes < 60, "{} positions", report.nodes);
}

/// Beyond the first depth, which is always completed, no position more is looked at than is allowed, with a time limit as
/// without.
#[test]
fn expectimax_keeps_to_its_positions() {
    for time in [None, Some(Duration::from_secs(60))] {
        for nodes in [1, 7, 8, 100, 1000, 3000] {
            let options = ExpectimaxOptions { nodes, ..ExpectimaxOptions::default() };
            let mut agent = Expectimax::with_options(ConnectFourEvaluation, options);
            agent.new_game(agent_rng(5, 0, Seat::First));
            let limits = Limits { time, ..Limits::default() };
            let report = agent.choose(&ConnectFour::new(), &limits).expect("a choice").report.expect("a report");
            // Seven columns at depth 1.
            assert_eq!(report.nodes, u64::from(nodes.max(7)), "{time:?}");
        }
    }
}

/// A full tree goes on without new nodes, and still learns.
#[test]
fn the_tree_of_gumbel_keeps_to_its_memory() {
    let solved = SolvedPig::new();
    let settings =
        GumbelSettings { simulations: 60_000, noise: 0.0, utility: BY_RESULT, memory: 1, ..GumbelSettings::default() };
    let mut search = GumbelSearch::new(settings);
    search.begin(&pig_at(40, 40, 30), settings.simulations, 1);
    let mut evaluated = 0;
    while search.waiting().len() > 0 {
        let values: Vec<f32> = search.waiting().map(|position| exact_value(&solved, position)).collect();
        evaluated += values.len();
        search.supply(values.iter().map(|&value| LeafEvaluation { policy: &[0.5, 0.5], value }));
        assert!(search.tree().bytes() <= 1 << 20, "{}", search.tree().bytes());
    }
    let bytes = search.tree().bytes();
    assert!(bytes > (1 << 20) - 1024, "the test must fill the tree: {bytes}");
    assert!(evaluated > 10_000, "{evaluated}");
    // 30 points at 40-40 are beyond every published holding line.
    assert_eq!(search.best(), Some(HOLD));
}

/// The table has a size and keeps to it: who looks at more positions than it has places for forgets some.
#[test]
fn the_table_of_expectimax_keeps_to_its_memory() {
    let settings =
        ExpectimaxSettings { depth: 7, pruning: Pruning::None, merged: true, utility: BY_RESULT, batch: 1, memory: 1 };
    let budget = MoveBudget { simulations: u32::MAX, deadline: None };
    let position = ConnectFour::new();
    let mut search = ExpectimaxSearch::new(settings, Glance(ConnectFourEvaluation));
    let report = |choice: Option<Choice>| choice.and_then(|choice| choice.report).expect("a report");
    let small = report(search.choose(&position, &budget).expect("judged"));
    let bytes = search.table_bytes();
    assert!(bytes <= 1 << 20 && 2 * bytes > 1 << 20, "{bytes}");
    // With room for all it looks at fewer positions and finds the same.
    let mut roomy = ExpectimaxSearch::new(ExpectimaxSettings { memory: 64, ..settings }, Glance(ConnectFourEvaluation));
    let large = report(roomy.choose(&position, &budget).expect("judged"));
    assert!(roomy.remembered() > search.remembered(), "the test must fill the table");
    assert!(roomy.table_bytes() <= 64 << 20);
    assert!(small.nodes > large.nodes, "{} {}", small.nodes, large.nodes);
    assert_eq!(small.value, large.value);
}

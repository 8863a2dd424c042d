//! Search by depth: against the same without pruning or memory, and as to whom it asks about its horizon.

use crate::lottery_game::{LotteryGame, Prize};
use crate::searches::choose;
use crate::solved_pig::pig_at;
use dervish_agents::agent::Agent;
use dervish_agents::evaluation::{Evaluation, PlayToEnd, Utility};
use dervish_agents::evaluator::{Evaluator, EvaluatorError, LeafEvaluation};
use dervish_agents::limits::{Limits, MoveBudget};
use dervish_env::chance::{D6, SplitMix64, TWO_D6};
use dervish_env::game::{Action, Actor, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{HOLD, ROLL};
use dervish_search::expectimax::{ExpectimaxSearch, ExpectimaxSettings, Pruning};
use dervish_search::expectimax_agent::{Expectimax, ExpectimaxOptions};
use dervish_search::reference::{ConnectFourEvaluation, PigEvaluation};

const UNBOUNDED: MoveBudget = MoveBudget { simulations: u32::MAX, deadline: None };

/// The value of a position at a depth, decisions and rolls counted, by the definition.
fn value_at_depth<P: Position>(position: &P, evaluation: &impl Evaluation<P>, depth: u32) -> f64 {
    if let Some(result) = position.result() {
        return f64::from(result.sign(Seat::First));
    }
    if depth == 0 {
        return f64::from(evaluation.value(position, Seat::First).expect("an opinion"));
    }
    match position.actor() {
        Actor::Player(seat) => {
            let mut legal = Vec::new();
            position.legal_actions_into(&mut legal);
            let values = legal.iter().map(|&action| {
                let mut next = position.clone();
                next.apply(action).expect("legal");
                value_at_depth(&next, evaluation, depth - 1)
            });
            if seat == Seat::First { values.fold(-1.0, f64::max) } else { values.fold(1.0, f64::min) }
        }
        _ => {
            let mut outcomes = Vec::new();
            position.chance_outcomes_into(&mut outcomes);
            let total = f64::from(position.chance_total());
            let values = outcomes.iter().map(|each| {
                let mut next = position.clone();
                next.resolve(each.outcome).expect("possible");
                f64::from(each.weight) / total * value_at_depth(&next, evaluation, depth - 1)
            });
            values.sum()
        }
    }
}

/// Pruning saves work and changes no value.
#[test]
fn expectimax_is_right_at_every_depth_with_every_pruning() {
    let mut nodes = [0; 3];
    for (first, second, running) in [(10, 10, 5), (60, 70, 18), (94, 90, 4), (80, 96, 12)] {
        for depth in 1..=7 {
            let position = pig_at(first, second, running);
            let exact = value_at_depth(&position, &PigEvaluation, depth);
            for (star, nodes) in nodes.iter_mut().enumerate() {
                let spec = format!("expectimax:depth={depth},star={star},nodes=4000000000");
                let report = choose(Expectimax::new(PigEvaluation), &spec, &position, 0).report.expect("a report");
                assert!((f64::from(report.value) - exact).abs() < 1e-6, "{spec}: {} {exact}", report.value);
                assert_eq!(report.depth, depth);
                *nodes += report.nodes;
            }
        }
    }
    assert!(nodes[1] < nodes[0] && nodes[2] < nodes[0], "{nodes:?}");
    // The second seat, and decisions without dice.
    for columns in ["4", "4435", "1122"] {
        let position = crate::mcts::connect_four(columns);
        let exact = value_at_depth(&position, &ConnectFourEvaluation, 4);
        let sign = if position.actor() == Actor::Player(Seat::First) { 1.0 } else { -1.0 };
        for star in 0..3 {
            let spec = format!("expectimax:depth=4,star={star},nodes=4000000000");
            let report = choose(Expectimax::new(ConnectFourEvaluation), &spec, &position, 0).report.expect("a report");
            assert!((sign * f64::from(report.value) - exact).abs() < 1e-6, "{columns} {spec}");
        }
    }
}

/// Two to four lotteries with the weights of one die, of two dice, or of a few small numbers; in half of the games prizes have
/// two results, so that there is something to probe behind the roll.
fn random_lotteries(random: &mut SplitMix64) -> LotteryGame {
    let weights: Vec<u32> = match random.below(3) {
        0 => D6.iter().map(|face| face.weight).collect(),
        1 => TWO_D6.iter().map(|sum| sum.weight).collect(),
        _ => (0..2 + random.below(5)).map(|_| 1 + random.below(9) as u32).collect(),
    };
    let (count, results) = (2 + random.below(3), 1 + random.below(2));
    let mut lotteries: Vec<Vec<Prize>> = Vec::new();
    for _ in 0..count {
        let prize =
            |&weight: &u32| Prize { weight, results: (0..results).map(|_| random.below(3) as i8 - 1).collect() };
        lotteries.push(weights.iter().map(prize).collect());
    }
    let [chooses, answers] = [(); 2].map(|()| Seat::BOTH[random.below(2)]);
    LotteryGame::new(lotteries, chooses, answers)
}

/// The window that is left for an outcome is a difference of sums, which may be a last place off. Of results that are whole, at
/// weights that are, it often lies exactly on its edge; a bound that is taken for a value there makes the worse action look as
/// good as the better one. Values by hand: (-5 + 3 + 1) / 17 and (8 + 5 - 3) / 17.
#[test]
fn rounding_misleads_no_pruning() {
    let lottery = |results: [i8; 4]| -> Vec<Prize> {
        let weighted = [8, 5, 3, 1].into_iter().zip(results);
        weighted.map(|(weight, result)| Prize { weight, results: vec![result] }).collect()
    };
    let by_hand = LotteryGame::new(vec![lottery([0, -1, 1, 1]), lottery([1, 1, -1, 0])], Seat::Second, Seat::First);
    assert_eq!([by_hand.value(Action(0)), by_hand.value(Action(1))], [-1.0 / 17.0, 10.0 / 17.0]);
    let mut random = SplitMix64::new(17);
    let games = std::iter::once(by_hand).chain((0..6_000).map(|_| random_lotteries(&mut random)));
    let mut agents = [Pruning::None, Pruning::Star1, Pruning::Star2].map(|pruning| {
        let options = ExpectimaxOptions { settings: settings(4, pruning, 1), nodes: u32::MAX };
        Expectimax::<LotteryGame, _>::with_options(PlayToEnd, options)
    });
    let (mut seats, mut ties) = ([0, 0], 0);
    for game in games {
        let Actor::Player(seat) = game.actor() else { panic!("nobody is to act") };
        let sign = if seat == Seat::First { 1.0 } else { -1.0 };
        let mut legal = Vec::new();
        game.legal_actions_into(&mut legal);
        let mut values: Vec<f64> = legal.iter().map(|&action| sign * game.value(action)).collect();
        values.sort_by(|a, b| b.total_cmp(a));
        seats[seat.index()] += 1;
        ties += usize::from(values[0] == values[1]);
        for agent in &mut agents {
            let choice = agent.choose(&game, &Limits::default()).expect("a choice");
            let lost = values[0] - sign * game.value(choice.action);
            assert!(lost < 1e-9, "{} gives away {lost} in {game:?}", agent.spec());
            let value = f64::from(choice.report.expect("a report").value);
            assert!((value - values[0]).abs() < 1e-6, "{}: {value} is not {} of {game:?}", agent.spec(), values[0]);
        }
    }
    assert!(seats.iter().all(|&games| games > 2_000) && ties > 500, "{seats:?}, two best actions in {ties}");
}

/// A budget ends the search between depths; the answer is that of the last complete depth.
#[test]
fn expectimax_deepens_until_its_budget_is_used_up() {
    let position = pig_at(30, 40, 12);
    let mut depths = Vec::new();
    for nodes in [1, 100, 1_000, 10_000] {
        let spec = format!("expectimax:nodes={nodes}");
        let report = choose(Expectimax::new(PigEvaluation), &spec, &position, 0).report.expect("a report");
        // Two actions at depth 1.
        assert!(report.nodes <= nodes.max(2), "{spec}: {}", report.nodes);
        let alone = choose(Expectimax::new(PigEvaluation), &format!("expectimax:depth={}", report.depth), &position, 0);
        assert_eq!(alone.report.expect("a report").value, report.value);
        depths.push(report.depth);
    }
    assert!(depths[0] == 1 && depths.is_sorted() && depths[3] > depths[1], "{depths:?}");
}

/// An evaluation as a network would be: it judges decisions alone, several at a time, until it fails.
#[derive(Clone)]
struct Batched<E> {
    evaluation: E,
    /// How many positions each call brought.
    sizes: Vec<usize>,
    /// Positions that it judges before it fails.
    left: usize,
}

impl<E> Batched<E> {
    fn of(evaluation: E) -> Batched<E> {
        Batched { evaluation, sizes: Vec::new(), left: usize::MAX }
    }
}

impl<P: Position, E: Evaluation<P>> Evaluator<P> for &mut Batched<E> {
    fn evaluate<'p>(
        &mut self,
        positions: &mut dyn ExactSizeIterator<Item = &'p P>,
        take: &mut dyn FnMut(LeafEvaluation<'_>),
    ) -> Result<(), EvaluatorError> {
        self.sizes.push(positions.len());
        for position in positions {
            let Actor::Player(seat) = position.actor() else { panic!("a roll, or the end of the game") };
            self.left = self.left.checked_sub(1).ok_or(EvaluatorError { reason: "worn out".to_string() })?;
            take(LeafEvaluation { policy: &[], value: self.evaluation.value(position, seat).expect("an opinion") });
        }
        Ok(())
    }

    fn reseed(&mut self, _seed: u64) {}

    fn duplicate(&self) -> Box<dyn Evaluator<P>> {
        unreachable!("it is asked on one thread")
    }
}

fn settings(depth: u32, pruning: Pruning, batch: usize) -> ExpectimaxSettings {
    ExpectimaxSettings { depth, pruning, merged: true, utility: Utility { margin_share: 0.0 }, batch, memory: 4 }
}

/// However many positions at the horizon are judged together, the value is that of one at a time; what pruning would have
/// saved of a batch is looked at in vain. Connect four has seven columns, so its batches have seven positions at most.
#[test]
fn batches_at_the_horizon_change_no_value() {
    let position = crate::mcts::connect_four("4435");
    let exact = value_at_depth(&position, &ConnectFourEvaluation, 4);
    for pruning in [Pruning::None, Pruning::Star1, Pruning::Star2] {
        let mut nodes = Vec::new();
        for (batch, largest) in [(1, 1), (3, 3), (7, 7), (64, 7)] {
            let mut asked = Batched::of(ConnectFourEvaluation);
            let mut search = ExpectimaxSearch::new(settings(4, pruning, batch), &mut asked);
            let choice = search.choose(&position, &UNBOUNDED).expect("judged").expect("a choice");
            let report = choice.report.expect("a report");
            assert!((f64::from(report.value) - exact).abs() < 1e-6, "{pruning:?} {batch}: {}", report.value);
            assert_eq!(asked.sizes.iter().max(), Some(&largest), "{pruning:?} {batch}");
            nodes.push(report.nodes);
        }
        assert!(nodes.is_sorted() && (nodes[3] > nodes[0]) == (pruning != Pruning::None), "{pruning:?} {nodes:?}");
    }
}

/// Behind both actions of pig there is a roll. The one who judges decisions alone is asked about what follows some dice, the
/// same for the same position: `ROLL` with 4 on the table brings 2 to 6 more points, or the other player's turn begins, who has
/// to roll as well.
#[test]
fn who_judges_decisions_alone_is_asked_about_no_roll() {
    let mut sums = [0.0; 2];
    let banked: Vec<(u16, u16)> =
        (10..90).flat_map(|first| (10..90).step_by(10).map(move |second| (first, second))).collect();
    for &(first, second) in &banked {
        let position = pig_at(first, second, 4);
        let before = (f64::from(first) + 4.0 - f64::from(second)) / 100.0;
        let mut values = [0.0; 2];
        for value in &mut values {
            let mut asked = Batched::of(PigEvaluation);
            let mut search = ExpectimaxSearch::new(settings(1, Pruning::None, 8), &mut asked);
            let choice = search.choose(&position, &UNBOUNDED).expect("judged").expect("a choice");
            let report = choice.report.expect("a report");
            let of = |action| report.actions.iter().find(|known| known.action == action).expect("reported").value;
            *value = of(ROLL);
            // Whoever's turn it is then, the other has banked 4.
            sums[1] += (f64::from(of(HOLD)) - before) / 2.0;
            assert_eq!(asked.sizes, [2]);
        }
        assert_eq!(values[0], values[1]);
        sums[0] += f64::from(values[0]) - before;
    }
    let [roll, hold] = sums.map(|sum| 100.0 * sum / banked.len() as f64);
    // By hand: a roll brings (2+3+4+5+6)/6 = 3.33 points and loses 4 with one chance in six, 2.67 in all; then the second player
    // rolls with one chance in six, and so on: he gains 3.33 each time that he does. With r for the mean gain of who is to roll
    // with nothing on the table, r = 20/6 - r/6 = 2.857; rolling is worth 2.667 - r/6 = 2.19, holding -r.
    // One roll varies by 4.3, so a mean of 640 by 0.17; it may be off by three times that.
    assert!((roll - 2.19).abs() < 0.5, "{roll}");
    assert!((hold + 2.857).abs() < 0.5, "{hold}");
}

/// An evaluator that fails is an error, not a choice made without it.
#[test]
fn what_the_evaluator_says_of_its_failure_is_told() {
    let mut asked = Batched { left: 100, ..Batched::of(ConnectFourEvaluation) };
    let mut search = ExpectimaxSearch::new(settings(8, Pruning::Star2, 4), &mut asked);
    let refused = search.choose(&ConnectFour::new(), &UNBOUNDED).expect_err("worn out");
    assert_eq!(refused.to_string(), "worn out");
}

//! Luck: it has mean zero, taking it out keeps the expectation, and a good value function makes it tell much.

use crate::solved_pig::SolvedPig;
use dervish_agents::agent::{Agent, AgentError, Choice, Event};
use dervish_agents::evaluation::{Evaluation, Utility};
use dervish_agents::limits::Limits;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance::SplitMix64;
use dervish_env::dervish::campaign::{BattleStage, Campaign};
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Action, Actor, MergedOutcome, Outcome, Position, Seat};
use dervish_env::reference::pig::{HOLD, Pig, ROLL};
use dervish_search::reference::PigEvaluation;
use dervish_training::arena::agents::ArenaGame;
use dervish_training::arena::luck::{LuckAdjusted, LuckMeter, ValueFunction, value_function};
use dervish_training::arena::match_play::{Contestant, Match, MatchOptions};
use dervish_training::arena::report::MatchReport;
#[cfg(feature = "torch")]
use dervish_training::self_play::{
    game::SelfPlayGame,
    targets::{TargetConfig, luck_ahead, take_luck_out, value_targets},
    teacher::Teacher,
};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

static SOLVED: LazyLock<Arc<SolvedPig>> = LazyLock::new(|| Arc::new(SolvedPig::new()));

/// Pig's exact value with the best play of both.
#[derive(Clone)]
struct ExactPig;

/// Probabilities of winning for the player of the turn by throwing and by holding.
fn choices(position: &Pig) -> [f64; 2] {
    let points = |seat| usize::from(position.banked(seat));
    let own = position.turn_of();
    SOLVED.choices(points(own), points(own.other()), usize::from(position.running()))
}

impl Evaluation<Pig> for ExactPig {
    fn value(&self, position: &Pig, seat: Seat) -> Option<f32> {
        let [throw, hold] = choices(position);
        let wins = if position.actor() == Actor::Chance { throw } else { throw.max(hold) };
        let value = 2.0 * wins - 1.0;
        Some((if seat == position.turn_of() { value } else { -value }) as f32)
    }
}

/// Plays pig by holding at a number of points, or as is best.
#[derive(Clone)]
enum PigPlayer {
    HoldAt(u8),
    Best,
}

impl Agent<Pig> for PigPlayer {
    fn spec(&self) -> String {
        match self {
            PigPlayer::HoldAt(points) => format!("hold-at:{points}"),
            PigPlayer::Best => "best".to_string(),
        }
    }

    fn new_game(&mut self, _rng: ChaCha8Rng) {}

    fn choose(&mut self, position: &Pig, _limits: &Limits) -> Result<Choice, AgentError> {
        let hold = match self {
            PigPlayer::HoldAt(points) => position.running() >= *points,
            PigPlayer::Best => {
                let [throw, hold] = choices(position);
                hold >= throw
            }
        };
        Ok(Choice::plain(if hold { HOLD } else { ROLL }))
    }
}

fn play<P: Position>(
    start: &P,
    agents: [&AgentFactory<P>; 2],
    pairs: u32,
    seed: u64,
    value: &ValueFunction<P>,
) -> MatchReport {
    let options = MatchOptions { pairs, seed, limits: Limits::default(), max_decisions: None, threads: None };
    let to_play = Match { start, agents, options, sprt: None, value: Some(value) };
    to_play.play(Vec::new(), &()).expect("a report")
}

fn tiny() -> Campaign {
    Campaign::new(Scenario::builtin("tiny").expect("comes with the game"))
}

/// Sum over all sequences of rolls from `position` to the next decision or the end of probability times luck, and times
/// its amount; `None` if there are more than `left` sequences.
fn luck_of_rolls<P: Position>(position: &P, value: &ValueFunction<P>, left: &mut usize) -> Option<[f64; 2]> {
    fn follow<P: Position>(
        position: &P,
        rolls: &mut Vec<Event>,
        probability: f64,
        visit: &mut dyn FnMut(f64, &[Event]) -> bool,
    ) -> bool {
        if position.actor() != Actor::Chance {
            return visit(probability, rolls);
        }
        let mut outcomes = Vec::new();
        position.chance_outcomes_into(&mut outcomes);
        outcomes.iter().all(|weighted| {
            let mut next = position.clone();
            next.resolve(weighted.outcome).expect("a possible roll");
            rolls.push(Event::Rolled(weighted.outcome));
            let share = f64::from(weighted.weight) / f64::from(position.chance_total());
            let went_on = follow(&next, rolls, probability * share, visit);
            rolls.pop();
            went_on
        })
    }
    let (mut mean, mut amount, mut meter) = (0.0, 0.0, LuckMeter::default());
    let whole = follow(position, &mut Vec::new(), 1.0, &mut |probability, rolls| {
        let luck = meter.luck_of(position, rolls, value);
        mean += probability * luck;
        amount += probability * luck.abs();
        *left = left.saturating_sub(1);
        *left > 0
    });
    whole.then_some([mean, amount])
}

/// At every roll of the tiny campaign, with the weights of single rolls, whole combats included.
#[test]
fn luck_is_zero_on_average_at_every_roll_of_the_tiny_campaign() {
    let value = value_function(Campaign::evaluation());
    let mut rng = SplitMix64::new(3);
    let (mut nodes, mut combats, mut lucky) = (0, 0, 0);
    let mut legal: Vec<Action> = Vec::new();
    for _ in 0..40 {
        let mut position = tiny();
        let mut after_roll = false;
        while position.actor() != Actor::Finished {
            match position.actor() {
                Actor::Chance => {
                    if !after_roll && let Some([mean, amount]) = luck_of_rolls(&position, &value, &mut 1500) {
                        assert!(mean.abs() < 1e-9, "{}: {mean} of {amount}", position.pending_text());
                        nodes += 1;
                        combats += u32::from(position.battle().stage == BattleStage::Tests);
                        lucky += u32::from(amount > 0.01);
                    }
                    let mut outcomes = Vec::new();
                    position.chance_outcomes_into(&mut outcomes);
                    position.resolve_possible(outcomes[rng.below(outcomes.len())].outcome);
                    after_roll = true;
                }
                _ => {
                    position.legal_actions_into(&mut legal);
                    position.apply_legal(legal[rng.below(legal.len())]);
                    after_roll = false;
                }
            }
        }
    }
    assert!(nodes > 50 && combats > 3 && lucky > 20, "{nodes} rolls, {combats} combats, {lucky} that matter");
}

#[test]
fn luck_is_zero_on_average_over_many_games() {
    let value = value_function(Campaign::evaluation());
    let campaign = play(&tiny(), [&AgentFactory::of(RandomAgent::default()); 2], 1000, 5, &value);
    let value = value_function(PigEvaluation);
    let pig = play(&Pig::new(), [&AgentFactory::of(RandomAgent::default()); 2], 1000, 5, &value);
    for report in [campaign, pig] {
        // The two games of a pair share dice: their mean is one observation.
        let lucks: Vec<f64> =
            report.games.chunks(2).map(|pair| pair.iter().filter_map(|game| game.luck).sum::<f64>() / 2.0).collect();
        let mean = dervish_training::arena::statistics::Mean::of(&lucks).expect("games");
        let error = mean.standard_error.expect("games");
        assert!(error > 1e-4 && mean.value.abs() < 3.0 * error, "{mean:?}");
    }
}

/// Neller and Presser (2004): with the best play of both the first player wins 0.5306 of the games. All that then moves
/// the value is luck, so that the result is the value of the start plus the luck, game by game.
#[test]
fn with_the_best_play_and_the_exact_value_luck_is_all() {
    let best = AgentFactory::of(PigPlayer::Best);
    let report = play(&Pig::new(), [&best; 2], 50, 7, &value_function(ExactPig));
    for game in &report.games {
        let sign = 2.0 * game.score(Seat::First) - 1.0;
        assert_near(sign - game.luck.expect("measured"), 2.0 * 0.5306 - 1.0, 2e-4);
    }
}

/// The better the value function, the less is left to chance: the difference of points is one, the exact value of the
/// best play a better one (both players here are near it), a value that knows nothing is none.
#[test]
fn a_good_value_function_narrows_the_interval() {
    let agents = [20, 12].map(|points| AgentFactory::of(PigPlayer::HoldAt(points)));
    let [twenty, twelve] = &agents;
    let report = |value: &ValueFunction<Pig>| play(&Pig::new(), [twenty, twelve], 400, 9, value);
    let [points, exact] = [report(&value_function(PigEvaluation)), report(&value_function(ExactPig))]
        .map(|report| report.statistics.luck.expect("luck was measured").score);
    assert_eq!(points.plain, exact.plain);
    assert!(
        points.narrowing() > 1.05 && exact.narrowing() > 1.5 && exact.narrowing() > points.narrowing(),
        "{points:?} {exact:?}"
    );
    // A luck of 1 is worth half a point, since a win is worth 1 in value above a draw and 1/2 in score.
    assert_near(exact.coefficient, 0.5, 0.1);
    let nothing = report(&|_: &Pig| 0.0);
    assert!(nothing.games.iter().all(|game| game.luck == Some(0.0)));
    assert_eq!(nothing.statistics.luck, None);
}

/// 200 matches of 30 pairs: the adjusted mean is that of the plain one, within the error of their difference, and
/// varies less from match to match.
#[test]
fn taking_luck_out_keeps_the_expectation() {
    let agents = [20, 12].map(|points| AgentFactory::of(PigPlayer::HoldAt(points)));
    let value = value_function(PigEvaluation);
    let (mut plain, mut adjusted, mut differences) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..200 {
        let report = play(&Pig::new(), [&agents[0], &agents[1]], 30, seed, &value);
        let luck = report.statistics.luck.expect("luck was measured").score;
        assert_near(luck.plain.value, report.statistics.score.value, 1e-12);
        plain.push(luck.plain.value);
        adjusted.push(luck.adjusted.value);
        differences.push(luck.adjusted.value - luck.plain.value);
    }
    let of = |values: &[f64]| dervish_training::arena::statistics::Mean::of(values).expect("matches");
    let difference = of(&differences);
    let error = difference.standard_error.expect("matches");
    assert!(error > 1e-4 && difference.value.abs() < 3.0 * error, "{difference:?}");
    assert!(of(&adjusted).standard_error < of(&plain).standard_error, "{:?} {:?}", of(&adjusted), of(&plain));
}

/// What the first seat may expect where both play at random, over exact weights.
fn value_of_random_play(position: &Campaign, known: &mut HashMap<u64, f64>) -> f64 {
    if let Some(result) = position.result() {
        return f64::from(result.sign(Seat::First));
    }
    let key = position.key();
    if let Some(&value) = known.get(&key) {
        return value;
    }
    let (mut sum, mut total) = (0.0, 0.0);
    let mut add = |weight: f64, next: &Campaign| {
        sum += weight * value_of_random_play(next, known);
        total += weight;
    };
    let mut merged: Vec<MergedOutcome> = Vec::new();
    if position.actor() != Actor::Chance {
        let mut legal = Vec::new();
        position.legal_actions_into(&mut legal);
        for action in legal {
            let mut next = *position;
            next.apply_legal(action);
            add(1.0, &next);
        }
    } else if position.merged_outcomes_into(&mut merged) {
        for MergedOutcome { weight, rolls } in merged {
            let mut next = *position;
            rolls.into_iter().for_each(|roll| next.resolve_possible(roll));
            add(weight as f64, &next);
        }
    } else {
        let mut outcomes = Vec::new();
        position.chance_outcomes_into(&mut outcomes);
        for weighted in outcomes {
            let mut next = *position;
            next.resolve_possible(weighted.outcome);
            add(f64::from(weighted.weight), &next);
        }
    }
    let value = sum / total;
    known.insert(key, value);
    value
}

/// 3,000 pairs of random games of the tiny campaign, after a desertion and before a counterstroke: with and without luck the mean
/// is the exact value within three standard errors, without it they are smaller.
#[test]
fn the_mean_without_luck_is_the_exact_value() {
    let value = value_function(Campaign::evaluation());
    let mut after_desertion = tiny();
    for roll in [11, 1] {
        after_desertion.resolve(Outcome(roll)).expect("possible");
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/solved/tiny_counterstroke.json");
    let counterstroke = PositionFile::load(&file).expect("a position").position;
    for start in [after_desertion, counterstroke] {
        let exact = value_of_random_play(&start, &mut HashMap::new());
        let report = play(&start, [&AgentFactory::of(RandomAgent::default()); 2], 3_000, 11, &value);
        // The two games of a pair share dice: their mean is one observation.
        let (values, lucks): (Vec<f64>, Vec<f64>) = report
            .games
            .chunks(2)
            .map(|pair| {
                let signs: f64 = pair.iter().map(|game| 2.0 * game.score(Seat::First) - 1.0).sum();
                let lucks: f64 = pair.iter().map(|game| game.luck.expect("measured")).sum();
                (signs / 2.0, lucks / 2.0)
            })
            .unzip();
        let luck = LuckAdjusted::of(&values, &lucks).expect("they vary");
        for estimate in [luck.plain, luck.adjusted] {
            // An interval of 95% reaches 1.96 standard errors to each side.
            let error = (estimate.high - estimate.low) / 2.0 / 1.96;
            assert_near(estimate.value, exact, 3.0 * error);
        }
        assert!(luck.narrowing() > 1.0, "{luck:?}");
    }
}

/// Of values 0, 1, 0, 1 at luck -1, 0, 1, 2: the line is 0.4 + 0.2 luck, the squares about it sum to 0.8, so the
/// variance of the mean at luck 0 is 0.8 / 2 (1/4 + 0.5^2 / 5) = 0.12, and Student's quantile for two degrees of freedom
/// is 4.302653. The plain variance is 1 / 3 / 4, with 3.182446 for three.
#[test]
fn the_regression_is_that_computed_by_hand() {
    let luck = LuckAdjusted::of(&[0.0, 1.0, 0.0, 1.0], &[-1.0, 0.0, 1.0, 2.0]).expect("they vary");
    assert_near(luck.coefficient, 0.2, 1e-12);
    assert_near(luck.adjusted.value, 0.4, 1e-12);
    assert_near(luck.adjusted.high - 0.4, 4.302_653 * 0.12f64.sqrt(), 1e-5);
    assert_near(luck.plain.value, 0.5, 1e-12);
    assert_near(luck.plain.low, 0.5 - 3.182_446 * (1.0f64 / 12.0).sqrt(), 1e-5);
    assert_near(luck.narrowing(), 3.182_446 / 4.302_653 / 1.2, 1e-5);
    assert_eq!(LuckAdjusted::of(&[0.0, 1.0], &[-1.0, 1.0]), None);
    assert_eq!(LuckAdjusted::of(&[1.0; 5], &[-1.0, 0.0, 1.0, 2.0, 0.5]), None);
    assert_eq!(LuckAdjusted::of(&[0.0, 1.0, 0.0], &[0.0; 3]), None);
}

/// The luck of both contestants is opposite, and belongs to the seat.
#[test]
fn luck_is_seen_from_a_seat() {
    let agents = [20, 12].map(|points| AgentFactory::of(PigPlayer::HoldAt(points)));
    let report = play(&Pig::new(), [&agents[0], &agents[1]], 3, 1, &value_function(PigEvaluation));
    for game in &report.games {
        let [a, b] = [Contestant::A, Contestant::B].map(|of| game.luck_for(game.seat_of(of)).expect("measured"));
        assert_eq!(a, -b);
        assert_eq!(game.luck_for(Seat::First), game.luck);
    }
}

/// Games of self-play by these agents' policy, which teaches nothing but itself.
#[cfg(feature = "torch")]
fn taught<P: Position>(start: &P, agent: &AgentFactory<P>, games: u64) -> Vec<SelfPlayGame> {
    let mut teacher = Teacher::new(start.clone(), 0, agent, 0.0, Utility::default(), 11);
    (0..games).map(|number| teacher.play(number).expect("a game")).collect()
}

/// Value targets of a game with all luck taken out, as the value for who decides.
#[cfg(feature = "torch")]
fn without_luck<P: Position>(game: &SelfPlayGame, start: &P, value: &ValueFunction<P>) -> Vec<f64> {
    let ahead = luck_ahead(game, start, value, &mut LuckMeter::default()).expect("a game by the rules");
    let mut targets = value_targets(game, &TargetConfig::default());
    take_luck_out(game, &ahead, 1.0, &mut targets);
    assert!(targets.iter().all(|(wdl, _)| (wdl.iter().sum::<f32>() - 1.0).abs() < 1e-5));
    targets.iter().map(|(wdl, _)| f64::from(wdl[0] - wdl[2])).collect()
}

/// With the best play of both and the exact value, all that comes after a decision is luck: without it the target of every
/// decision is the exact value of its position, in each single game.
#[cfg(feature = "torch")]
#[test]
fn without_luck_every_target_is_the_exact_value() {
    let value = value_function(ExactPig);
    for game in taught(&Pig::new(), &AgentFactory::of(PigPlayer::Best), 30) {
        let targets = without_luck(&game, &Pig::new(), &value);
        let mut number = 0;
        game.replay(&Pig::new(), |position, _, decision| {
            let [throw, hold] = choices(position);
            assert_eq!(decision.seat, position.turn_of());
            assert_near(targets[number], 2.0 * throw.max(hold) - 1.0, 2e-4);
            number += 1;
        })
        .expect("a game by the rules");
        assert_eq!(number, targets.len());
    }
}

/// What luck is taken out for: the better the value function, the less the target of a game's first decision varies from game to
/// game. Both players hold at 20, which is nearly the best play. Simulated by a program apart from this one, 0.50 of the variance
/// is left with the difference of points as value, and 0.07 with the exact value of the best play (400,000 games each); of 400
/// games, 0.41 to 0.57 and 0.06 to 0.09 (200 times each).
#[cfg(feature = "torch")]
#[test]
fn targets_without_luck_vary_less() {
    let games = taught(&Pig::new(), &AgentFactory::of(PigPlayer::HoldAt(20)), 400);
    let variance = |targets: &[f64]| {
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        targets.iter().map(|target| (target - mean).powi(2)).sum::<f64>() / targets.len() as f64
    };
    let first_target = |game: &SelfPlayGame| {
        let (wdl, _) = value_targets(game, &TargetConfig::default())[0];
        f64::from(wdl[0] - wdl[2])
    };
    let plain = variance(&games.iter().map(first_target).collect::<Vec<_>>());
    let left = |value: &ValueFunction<Pig>| {
        let targets: Vec<f64> = games.iter().map(|game| without_luck(game, &Pig::new(), value)[0]).collect();
        variance(&targets) / plain
    };
    let (points, exact) = (left(&value_function(PigEvaluation)), left(&value_function(ExactPig)));
    assert!((0.35..0.65).contains(&points) && (0.04..0.12).contains(&exact), "{points} {exact}");
}

/// In the tiny campaign, whose evaluation is far from exact: the first, the third and the fifth target keep their mean within
/// three standard errors of the difference.
#[cfg(feature = "torch")]
#[test]
fn targets_without_luck_keep_their_mean() {
    let value = value_function(Campaign::evaluation());
    let games = taught(&tiny(), &AgentFactory::of(RandomAgent::default()), 2500);
    let mut differences = [Vec::new(), Vec::new(), Vec::new()];
    for game in &games {
        let adjusted = without_luck(game, &tiny(), &value);
        let plain = value_targets(game, &TargetConfig::default());
        for (number, differences) in [0, 2, 4].into_iter().zip(&mut differences) {
            if let (Some(adjusted), Some((wdl, _))) = (adjusted.get(number), plain.get(number)) {
                differences.push(adjusted - f64::from(wdl[0] - wdl[2]));
            }
        }
    }
    for differences in differences {
        let mean = dervish_training::arena::statistics::Mean::of(&differences).expect("games");
        let error = mean.standard_error.expect("games");
        assert!(differences.len() > 1000 && error > 1e-3 && mean.value.abs() < 3.0 * error, "{mean:?}");
    }
}

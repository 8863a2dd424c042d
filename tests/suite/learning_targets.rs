//! What decisions of finished games should have been judged and played like, computed by hand.

use crate::pig_run::config;
use dervish_agents::evaluation::Utility;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::AgentFactory;
use dervish_env::game::{Action, GameResult, Seat};
use dervish_env::reference::pig::{Pig, PigPlayers};
use dervish_models::batch::{Batch, Played};
use dervish_models::device::DeviceChoice;
use dervish_models::evaluator::{Evaluations, NetEvaluator};
use dervish_models::network::{Architecture, Network, NetworkConfig};
use dervish_models::process;
use dervish_models::trainer::Trainer;
use dervish_neural::encoding::{PositionEncoding, input_sizes};
use dervish_training::arena::agents::ArenaGame;
use dervish_training::arena::luck::{LuckMeter, ValueFunction, value_function};
use dervish_training::learner::Learner;
use dervish_training::self_play::Start;
use dervish_training::self_play::game::{Decision, Judgement, SelfPlayGame};
use dervish_training::self_play::targets::{
    TargetConfig, luck_ahead, played_actions, result_target, standardise, turns_left, value_targets,
};
use dervish_training::self_play::teacher::Teacher;

/// A game with the given deciders and the values that they saw.
fn judged_game(decisions: &[(Seat, f32)], result: GameResult) -> SelfPlayGame {
    let decision = |&(seat, value): &(Seat, f32)| Decision {
        seat,
        action: Action(0),
        judgement: Some(Judgement { index: 0, probability: 0.5, value: Some(value), policy: Vec::new() }),
    };
    SelfPlayGame {
        number: 0,
        scenario: 0,
        dice_seed: 0,
        step: 0,
        decisions: decisions.iter().map(decision).collect(),
        opponent: None,
        result,
    }
}

/// What a result is worth in the next tests.
const UTILITY: Utility = Utility { margin_share: 0.25 };

fn advantages(game: &SelfPlayGame, config: &TargetConfig) -> Vec<f32> {
    played_actions(game, config, &UTILITY).into_iter().flatten().map(|played| played.advantage).collect()
}

#[test]
fn turns_left_count_the_changes_of_the_player_to_come() {
    use Seat::{First, Second};
    let seats = [First, First, Second, First, First, Second, Second];
    let decisions = seats.map(|seat| (seat, 0.0));
    let game = judged_game(&decisions, GameResult { winner: None, margin: 0.0 });
    assert_eq!(turns_left(&game), [3.0, 3.0, 2.0, 1.0, 1.0, 0.0, 0.0]);
    let none = judged_game(&[], GameResult { winner: None, margin: 0.0 });
    assert!(turns_left(&none).is_empty());
}

#[test]
fn advantages_are_those_computed_by_hand() {
    use Seat::{First, Second};
    let config = TargetConfig { lambda: 0.5, ..TargetConfig::default() };
    let result = GameResult { winner: Some(First), margin: 0.5 };
    let game = judged_game(&[(First, 0.2), (First, 0.4), (Second, -0.1)], result);
    // The result is worth 3/4 + 1/4 x 1/2 = 0.875 to the first seat. Surprises for it, from the back:
    // 0.875 - 0.1 = 0.775; (0.1 - 0.4) + 0.775 / 2 = 0.0875; (0.4 - 0.2) + 0.0875 / 2 = 0.24375.
    let expected = [0.24375, 0.0875, -0.775];
    for (advantage, expected) in advantages(&game, &config).into_iter().zip(expected) {
        assert!((advantage - expected).abs() < 1e-6, "{advantage} {expected}");
    }
    // Seats, winner and margin exchanged: every player sees the same.
    let mirrored_result = GameResult { winner: Some(Second), margin: -0.5 };
    let mirrored = judged_game(&[(Second, 0.2), (Second, 0.4), (First, -0.1)], mirrored_result);
    assert_eq!(advantages(&mirrored, &config), advantages(&game, &config));
    // Lambda 1: result minus value. A forced decision has no advantage and passes the surprise on.
    let by_result = TargetConfig { lambda: 1.0, ..config };
    let mut forced = game;
    forced.decisions[1].judgement = None;
    let played = played_actions(&forced, &by_result, &UTILITY);
    assert_eq!(played[1], None);
    assert!((played[0].expect("a choice").advantage - 0.675).abs() < 1e-6);
}

#[test]
fn values_are_mirrored_between_the_seats() {
    let won = GameResult { winner: Some(Seat::Second), margin: -0.25 };
    assert_eq!(result_target(&won, Seat::First), ([0.0, 0.0, 1.0], -0.25));
    assert_eq!(result_target(&won, Seat::Second), ([1.0, 0.0, 0.0], 0.25));
    let drawn = GameResult { winner: None, margin: 0.0 };
    assert_eq!(result_target(&drawn, Seat::First), result_target(&drawn, Seat::Second));
}

#[test]
fn lambda_returns_are_those_computed_by_hand() {
    use Seat::{First, Second};
    let game =
        judged_game(&[(First, 0.2), (Second, 0.6), (Second, -0.4)], GameResult { winner: Some(First), margin: 0.5 });
    let close = |found: &[([f32; 3], f32)], expected: [[f32; 3]; 3]| {
        for ((wdl, _), expected) in found.iter().zip(expected) {
            assert!(wdl.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        }
    };
    let targets = |value_lambda| value_targets(&game, &TargetConfig { value_lambda, ..TargetConfig::default() });
    close(&targets(1.0), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]);
    // From the back, for the first seat: the last decision's target is the result, 1. It saw -0.4 for the second seat, so 0.4
    // for the first, a win with 0.7: 3/4 + 0.7/4 = 0.925 for the one before. That saw -0.6, a win with 0.2:
    // 0.75 x 0.925 + 0.25 x 0.2 = 0.74375.
    close(&targets(0.75), [[0.74375, 0.0, 0.25625], [0.075, 0.0, 0.925], [0.0, 0.0, 1.0]]);
    // Lambda 0 is the value of the next decision.
    close(&targets(0.0), [[0.2, 0.0, 0.8], [0.3, 0.0, 0.7], [0.0, 0.0, 1.0]]);
    assert_eq!(targets(0.5).iter().map(|(_, margin)| *margin).collect::<Vec<_>>(), [0.5, -0.5, -0.5]);
}

#[test]
fn advantages_are_standardised_for_each_seat_apart() {
    let of = |seat, advantage| (seat, Played { action: 0, probability: 0.5, advantage });
    // First: mean 2, deviation 1. Second: all alike.
    let mut decisions = [of(Seat::First, 1.0), of(Seat::Second, -5.0), of(Seat::First, 3.0), of(Seat::Second, -5.0)];
    standardise(decisions.iter_mut().map(|(seat, played)| (*seat, played)));
    assert_eq!(decisions.map(|(_, played)| played.advantage), [-1.0, 0.0, 1.0, 0.0]);
}

/// The loss of a step is the cross-entropy of its targets and what the network said before: of a decision, the result for its
/// seat, less the set part of the luck ahead of it, half of which is taken from the win and given to the loss, since the value is
/// the probability of a win less that of a loss.
#[test]
fn the_learner_takes_luck_out_of_its_targets() {
    process::prepare();
    let starts = [Start { position: Pig::new(), encoder: PigPlayers::new() }];
    let agent = AgentFactory::of(RandomAgent::default());
    let mut teacher = Teacher::new(Pig::new(), 0, &agent, 0.0, Utility::default(), 11);
    let games: Vec<SelfPlayGame> = (0..4).map(|number| teacher.play(number).expect("a game")).collect();
    let played: Vec<&SelfPlayGame> = games.iter().collect();
    let value: &ValueFunction<Pig> = &value_function(Pig::evaluation());
    let learner = |luck: f32, passes: usize, net: Network| {
        let mut config = config(0);
        config.learner.targets.luck = luck;
        config.learner.trainer.learning_rate = 0.01;
        // A step on all decisions in each pass.
        (config.learner.passes, config.learner.batch) = (passes, 1_000_000);
        let trainer = Trainer::new(net, config.learner.trainer.clone()).expect("a trainer");
        Learner::new(&starts, &config, Some(value), trainer)
    };
    let inputs = input_sizes(&starts[0].encoder);
    let architecture = Architecture::TokenMlp { hidden: 16, trunk: 32 };
    let device = DeviceChoice::Cpu.device().expect("a device");
    let net = Network::new(NetworkConfig { inputs, architecture, by_seat: false }, 5, device).expect("a network");
    // A network with an opinion of who wins, which luck has to do with.
    let mut opinionated = learner(0.0, 40, net);
    opinionated.round(0, &played, 0.0).expect("a round");

    let mut encoding = PositionEncoding::new(&starts[0].encoder, opinionated.net().config());
    let mut batch = Batch::new(opinionated.net().config());
    // Of each decision whether it was won, and half the luck ahead of it, both for its seat.
    let mut ends: Vec<(f64, f64)> = Vec::new();
    for game in &games {
        let ahead = luck_ahead(game, &Pig::new(), value, &mut LuckMeter::default()).expect("a game by the rules");
        let mut ahead = ahead.into_iter();
        game.replay(&Pig::new(), |position, legal, decision| {
            encoding.encode(&starts[0].encoder, position, decision.seat, legal);
            batch.push(&encoding.sample()).expect("a sample");
            let luck = ahead.next().expect("one for each decision");
            let own = if decision.seat == Seat::First { luck } else { -luck };
            ends.push((if game.result.winner == Some(decision.seat) { 1.0 } else { 0.0 }, own / 2.0));
        })
        .expect("a game by the rules");
    }
    let mut said = Evaluations::default();
    let copy = opinionated.net().duplicate().expect("a copy");
    NetEvaluator::new(copy).evaluate(&batch, &mut said).expect("finite");
    // Pig has no draws.
    let cross_entropy = |share: f64| {
        let of_each = ends.iter().enumerate().map(|(index, &(won, luck))| {
            let [win, _, loss] = said.wdl(index).map(|said| f64::from(said).ln());
            -(won - share * luck) * win - (1.0 - won + share * luck) * loss
        });
        of_each.sum::<f64>() / ends.len() as f64
    };
    for share in [0.0f32, 0.5, 1.0] {
        let mut learner = learner(share, 1, opinionated.net().duplicate().expect("a copy"));
        let report = learner.round(0, &played, 0.0).expect("a round");
        assert_eq!((report.learnt_from, learner.steps()), (ends.len(), 1));
        let (found, expected) = (report.losses.wdl, cross_entropy(share.into()));
        assert!((found - expected).abs() < 1e-4, "with {share} of luck: {found} instead of {expected}");
    }
    // Whoever left luck in would be found out.
    assert!((cross_entropy(1.0) - cross_entropy(0.0)).abs() > 1e-2);
}

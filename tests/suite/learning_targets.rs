//! What decisions of finished games should have been judged and played like, computed by hand.

use dervish_agents::evaluation::Utility;
use dervish_env::game::{Action, GameResult, Seat};
use dervish_models::batch::Played;
use dervish_training::self_play::game::{Decision, Judgement, SelfPlayGame};
use dervish_training::self_play::targets::{
    TargetConfig, played_actions, result_target, standardise, turns_left, value_targets,
};

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

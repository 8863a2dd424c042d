//! The figures of a round: lengths, entropy and calibration of games that are written down by hand.

use dervish_agents::evaluation::Utility;
use dervish_env::game::{Action, GameResult, Seat};
use dervish_training::self_play::game::{Decision, Judgement, SelfPlayGame};
use dervish_training::self_play::round_figures::{RoundFigures, TURNS, ValueBin, calibration_error};

/// Results count by win and loss alone, so that a won game is worth 1.
const WINS: Utility = Utility { margin_share: 0.0 };

fn decision(seat: Seat, value: Option<f32>, policy: &[f32]) -> Decision {
    let policy = policy.iter().enumerate().map(|(index, &probability)| (index as u32, probability)).collect();
    let judgement = value.map(|value| Judgement { index: 0, probability: 1.0, value: Some(value), policy });
    Decision { seat, action: Action(0), judgement }
}

fn game(winner: Option<Seat>, decisions: Vec<Decision>) -> SelfPlayGame {
    let result = GameResult { winner, margin: 0.0 };
    SelfPlayGame { number: 0, scenario: 0, dice_seed: 0, step: 0, decisions, opponent: None, result }
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-6
}

/// Two games. In the first, which the first seat wins, it decides twice, then the other twice (once without a choice), then
/// it once more: three turns, five decisions. In the second, which the second seat wins, each decides once.
fn two_games() -> [SelfPlayGame; 2] {
    use Seat::{First, Second};
    [
        game(
            Some(First),
            vec![
                decision(First, Some(0.5), &[0.5, 0.5]),
                decision(First, Some(0.55), &[]),
                decision(Second, None, &[]),
                decision(Second, Some(-0.5), &[0.25, 0.25, 0.25, 0.25]),
                decision(First, Some(1.0), &[1.0]),
            ],
        ),
        game(Some(Second), vec![decision(First, Some(0.5), &[]), decision(Second, Some(-1.0), &[])]),
    ]
}

#[test]
fn lengths_results_and_entropy_are_means_over_games_and_decisions() {
    let figures = RoundFigures::of(&two_games(), &WINS);
    assert_eq!((figures.games, figures.decisions_per_game, figures.turns_per_game), (2, 3.5, 2.5));
    assert_eq!(figures.first_seat_score, 0.5);
    // Three taught policies: even between two and between four actions, and a sure one: ln 2, ln 4 and 0.
    let entropy = figures.taught_entropy.expect("three are taught");
    assert!(near(entropy, (2f64.ln() + 4f64.ln()) / 3.0), "{entropy}");
    let draw = RoundFigures::of(&[game(None, Vec::new())], &WINS);
    assert_eq!((draw.first_seat_score, draw.decisions_per_game, draw.turns_per_game), (0.5, 0.0, 0.0));
    assert_eq!((draw.taught_entropy, draw.turns.len()), (None, 0));
}

#[test]
fn values_are_held_against_results_by_seat_and_value() {
    let figures = RoundFigures::of(&two_games(), &WINS);
    let [first, second] = &figures.seats;
    // The first seat: 0.5 twice, of a won and of a lost game, and 0.55 of a won one in the bin from 0.4 to 0.6 or the next,
    // 1 in the last one.
    assert_eq!((first.all.count, second.all.count), (4, 2));
    assert!(near(first.all.value.into(), (0.5 + 0.55 + 1.0 + 0.5) / 4.0), "{:?}", first.all);
    assert!(near(first.all.result.into(), 0.5), "{:?}", first.all);
    // Squared errors 0.25, 0.2025, 0 and 2.25.
    assert!(near(first.squared_error, 2.7025 / 4.0), "{}", first.squared_error);
    let [bin, last] = [7, 9].map(|bin: usize| first.bins[bin]);
    assert_eq!((bin.count, last), (3, ValueBin { count: 1, value: 1.0, result: 1.0 }));
    // Of four values three are in a bin of mean 1.55 / 3 and mean result 1/3, and one is right.
    let error = first.error.expect("values");
    assert!(near(error, 3.0 / 4.0 * (1.55 / 3.0 - 1.0 / 3.0)), "{error}");
    // The second seat: -0.5 of a lost game, -1 of a won one: as far off as can be.
    assert_eq!(second.bins[0], ValueBin { count: 1, value: -1.0, result: 1.0 });
    assert!(near(second.squared_error, (0.25 + 4.0) / 2.0) && near(second.error.expect("values"), (0.5 + 2.0) / 2.0));
    // A margin counts for its share: the winner of margin 0 has 0.75.
    let shared = RoundFigures::of(&two_games(), &Utility::default());
    assert_eq!(shared.seats[1].bins[0].result, 0.75);
}

#[test]
fn values_are_held_against_results_by_turn_and_third() {
    let figures = RoundFigures::of(&two_games(), &WINS);
    let counts: Vec<u64> = figures.turns.iter().map(|bin| bin.count).collect();
    // 0.5, 0.55 and 0.5 in the first turn; -0.5 and -1 in the second; 1 in the third.
    assert_eq!(counts, [3, 2, 1]);
    assert!(near(figures.turns[1].value.into(), -0.75) && near(figures.turns[1].result.into(), 0.0));
    // Of five decisions the first two are in the first third, of two the first; the last of five is right, -1 is not.
    let [early, middle, late] = figures.third_errors.map(|error| error.expect("values"));
    assert!(near(early, 1.55 / 3.0 - 1.0 / 3.0), "{early}");
    assert!(near(middle, (0.5 + 2.0) / 2.0), "{middle}");
    assert!(near(late, 0.0), "{late}");
    // Turns beyond the last that is told apart are in it.
    let seats = [Seat::First, Seat::Second].into_iter().cycle().take(TURNS + 9);
    let long = game(Some(Seat::First), seats.map(|seat| decision(seat, Some(0.0), &[])).collect());
    let figures = RoundFigures::of(&[long], &WINS);
    assert_eq!((figures.turns.len(), figures.turns[TURNS - 1].count), (TURNS, 10));
    assert_eq!(figures.turns_per_game, (TURNS + 9) as f64);
}

#[test]
fn perfect_values_have_no_error_and_nothing_has_none() {
    let perfect =
        game(Some(Seat::First), vec![decision(Seat::First, Some(1.0), &[]), decision(Seat::Second, Some(-1.0), &[])]);
    let figures = RoundFigures::of(&[perfect], &WINS);
    assert!(figures.seats.iter().all(|seat| seat.squared_error == 0.0 && seat.error == Some(0.0)), "{figures:?}");
    assert_eq!(calibration_error(&[]), None);
    let nothing = RoundFigures::of(&[], &WINS);
    assert_eq!((nothing.seats[0].error, nothing.third_errors), (None, [None; 3]));
    // What is written is what is read: the page of a run is made of it.
    let games = RoundFigures::of(&two_games(), &WINS);
    for figures in [games, nothing] {
        let text = serde_json::to_string(&figures).expect("JSON");
        assert_eq!(serde_json::from_str::<RoundFigures>(&text).expect("figures"), figures);
    }
}

#[test]
fn bins_that_are_put_together_weigh_by_their_counts() {
    let one = ValueBin { count: 1, value: 0.0, result: 1.0 };
    let three = ValueBin { count: 3, value: 1.0, result: -1.0 };
    assert_eq!(one.plus(&three), ValueBin { count: 4, value: 0.75, result: -0.5 });
    assert_eq!(ValueBin::default().plus(&ValueBin::default()), ValueBin::default());
}

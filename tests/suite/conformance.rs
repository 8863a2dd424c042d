//! The conformance checks pass on games that are right and fail on games that break a law.

use dervish_env::conformance::{EncoderCheck, Law, Options, check_game, check_game_and};
use dervish_env::encode::{Channel, Encoder, Layout};
use dervish_env::game::{Action, Position, Seat};
use dervish_env::reference::connect_four::{ConnectFour, ConnectFourPlanes};
use dervish_env::reference::pig::{Pig, PigGlobals};
use ndarray::ArrayViewMut1;

use crate::flawed_game::{Flaw, FlawedGame};
use crate::lottery_game::{LotteryGame, Prize};

#[test]
fn connect_four_conforms() {
    let mut planes = EncoderCheck::new(ConnectFourPlanes::new(), 20_000, true);
    let options = Options { games: 300, ..Options::default() };
    let report = check_game_and(ConnectFour::new(), &options, |position| planes.visit(position)).expect("conforms");
    assert_eq!((report.games, report.rolls), (300, 0));
    // No game of connect four is over before the seventh stone or goes on after the 42nd.
    assert!(report.decisions >= 7 * 300 && report.longest_game <= 42, "{report:?}");
    assert_eq!(report.kinds.keys().copied().collect::<Vec<_>>(), ["column", "finished"]);
}

#[test]
fn pig_conforms() {
    let mut globals = EncoderCheck::new(PigGlobals::new(), 20_000, true);
    let options = Options { least_choices: 2, ..Options::default() };
    let report = check_game_and(Pig::new(), &options, |position| globals.visit(position)).expect("conforms");
    assert_eq!(report.games, 20);
    // Each throw gains 6 points at most, so a game has 17 throws or more.
    assert!(report.rolls >= 17 * 20 && report.distinct_positions > 1_000, "{report:?}");
}

#[test]
fn the_flawless_game_conforms() {
    let report = check_game(FlawedGame::new(Flaw::None), &Options::default()).expect("conforms");
    assert_eq!(report.games, 20);
    assert!(report.merged_nodes > 10, "{report:?}");
}

/// The game of which the searches are asked for exact values.
#[test]
fn the_lotteries_conform() {
    let lottery = |weights: [u32; 3], results: [&[i8]; 3]| -> Vec<Prize> {
        let prizes = weights.into_iter().zip(results);
        prizes.map(|(weight, results)| Prize { weight, results: results.to_vec() }).collect()
    };
    let lotteries = vec![lottery([1, 4, 1], [&[1], &[0, -1], &[-1]]), lottery([2, 3, 5], [&[0], &[1], &[1, 0, -1]])];
    let game = LotteryGame::new(lotteries, Seat::First, Seat::Second);
    // The one who answers takes what is worst for the other: (1 - 4 - 1) / 6 and (0 + 3 - 5) / 10.
    assert_eq!([game.value(Action(0)), game.value(Action(1))], [-4.0 / 6.0, -2.0 / 10.0]);
    let report = check_game(game, &Options { games: 200, least_choices: 2, ..Options::default() }).expect("conforms");
    // A start, two rolls, and an end for each result of each of the six prizes, with two more decisions.
    assert_eq!((report.games, report.longest_game, report.distinct_positions), (200, 2, 14));
}

#[test]
fn every_broken_law_is_found() {
    for (flaw, law) in [
        (Flaw::ScenarioChanges, Law::Identity),
        (Flaw::ShortHash, Law::Identity),
        (Flaw::ListNotCleared, Law::ActionList),
        (Flaw::ActionTwice, Law::ActionList),
        (Flaw::ActionOutside, Law::ActionList),
        (Flaw::ActionsAtRoll, Law::ActionList),
        (Flaw::NoActions, Law::Choices),
        (Flaw::LegalButNotListed, Law::Legality),
        (Flaw::ListedButNotLegal, Law::Legality),
        (Flaw::ApplyAcceptsAll, Law::Refusal),
        (Flaw::ApplyChangesWhenRefusing, Law::Refusal),
        (Flaw::ResolveAcceptsAll, Law::Refusal),
        (Flaw::ApplyDiffers, Law::CheckedMove),
        (Flaw::WeightZero, Law::Weights),
        (Flaw::WeightsDescend, Law::Weights),
        (Flaw::WrongTotal, Law::Weights),
        (Flaw::KeyWithoutTurn, Law::RollKeys),
        (Flaw::TextNotReadBack, Law::Notation),
        (Flaw::TextsEqual, Law::Notation),
        (Flaw::GarbageAccepted, Law::Notation),
        (Flaw::BytesForget, Law::Bytes),
        (Flaw::BytesRemember, Law::Bytes),
        (Flaw::KeyConstant, Law::Keys),
        (Flaw::KeyRemembers, Law::Keys),
        (Flaw::SharedClones, Law::Clones),
        (Flaw::NoResult, Law::Result),
        (Flaw::EarlyResult, Law::Result),
        (Flaw::MarginTooGreat, Law::Margin),
        (Flaw::MarginAgainstWinner, Law::Margin),
        (Flaw::TurnFalls, Law::Turns),
        (Flaw::TurnUncounted, Law::Turns),
        (Flaw::KindOfTwoWords, Law::Kinds),
        (Flaw::MergedWeights, Law::Merged),
        (Flaw::MergedRolls, Law::Merged),
        (Flaw::MergedMissing, Law::Merged),
        (Flaw::MergedTwice, Law::Merged),
        (Flaw::NeverEnds, Law::Termination),
    ] {
        let options = Options { games: 200, ..Options::default() };
        let fault = check_game(FlawedGame::new(flaw), &options).expect_err(&format!("{flaw:?} must be found"));
        assert_eq!(fault.law, law, "{flaw:?}: {fault}");
        assert!(fault.to_string().contains(&format!("law {law:?} broken in game")), "{fault}");
    }
}

#[test]
fn too_few_choices_and_complaints_of_the_caller_are_found() {
    // The last stone of the seven is a forced move.
    let options = Options { least_choices: 2, games: 50, ..Options::default() };
    assert_eq!(check_game(FlawedGame::new(Flaw::None), &options).map_err(|fault| fault.law), Err(Law::Choices));
    let complaint = check_game_and(Pig::new(), &Options::default(), |_| Err("no".to_string()));
    assert_eq!(
        complaint.map_err(|fault| (fault.law, fault.ply, fault.detail)),
        Err((Law::Caller, 0, "no".to_string()))
    );
}

/// An encoder of pig that shows the viewer's score alone, scaled wrongly if asked to.
struct Shortsighted {
    layout: Layout,
    scale: f32,
}

impl Encoder<Pig> for Shortsighted {
    fn name(&self) -> &'static str {
        "shortsighted"
    }

    fn version(&self) -> u32 {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn encode_globals(&self, position: &Pig, view: Seat, mut globals: ArrayViewMut1<'_, f32>) {
        globals[0] = self.scale * f32::from(position.banked(view));
    }
}

fn shortsighted(scale: f32) -> Shortsighted {
    let globals = Some(vec![Channel::new("own score", "points", 0.0, 105.0)]);
    Shortsighted { layout: Layout { globals, ..Layout::default() }, scale }
}

fn complaint<E: Encoder<Pig>>(encoder: E, injective: bool) -> Option<String> {
    let mut check = EncoderCheck::new(encoder, 1_000, injective);
    check_game_and(Pig::new(), &Options::default(), |position| check.visit(position)).err().map(|fault| fault.detail)
}

#[test]
fn values_out_of_range_and_positions_that_look_the_same_are_found() {
    assert_eq!(complaint(shortsighted(1.0), false), None);
    let detail = complaint(shortsighted(1.0), true).expect("scores do not tell positions apart");
    assert!(detail.contains("look the same to first"), "{detail}");
    for scale in [2.0, -1.0, f32::NAN] {
        let detail = complaint(shortsighted(scale), false).expect("out of range");
        assert!(detail.contains("`own score`") && detail.contains("documented from 0 to 105 points"), "{detail}");
    }
}

#[test]
fn the_encoders_show_what_they_document() {
    let mut position = ConnectFour::new();
    for text in ["drop 4", "drop 4", "drop 1"] {
        let action = position.parse_action(text).expect("legal");
        position.apply_legal(action);
    }
    let encoder = ConnectFourPlanes::new();
    let mut observation = dervish_env::encode::Observation::new(&encoder, dervish_env::encode::Parts::ALL);
    observation.encode(&encoder, &position, Seat::Second);
    // [plane, row, column]: the viewer has the second stone of the middle column.
    let stones: Vec<_> =
        observation.planes().indexed_iter().filter(|(_, value)| **value == 1.0).map(|(at, _)| at).collect();
    assert_eq!(stones, [(0, 1, 3), (1, 0, 0), (1, 0, 3)]);
    assert_eq!((observation.globals.len(), observation.tokens.len()), (0, 0));

    let mut position = Pig::new();
    for face in [6, 1, 5] {
        position.resolve_possible(dervish_env::game::Outcome(face));
        if face == 6 {
            position.apply_legal(dervish_env::reference::pig::HOLD);
        }
    }
    let encoder = PigGlobals::new();
    let mut observation = dervish_env::encode::Observation::new(&encoder, dervish_env::encode::Parts::ALL);
    observation.encode(&encoder, &position, Seat::Second);
    // The first seat banked 6, the second lost its turn with a 1 and the first now has 5 running and decides.
    assert_eq!(observation.globals.to_vec(), [0.0, 0.06, 0.05, 0.0, 0.0]);
}

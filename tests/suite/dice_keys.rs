//! The keys of the campaign's dice: what a roll shows follows from what is rolled for, not from what was rolled before.

use std::collections::HashMap;

use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::Side;
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::game::{Actor, Outcome, Position};

/// March (8.31), the four tests of a combat (9.3), attrition (10.3), recovery (11.1): what is rolled for a hex.
const ROLLS: [Decision; 7] = [
    Decision::RollMarch,
    Decision::RollFireMarching,
    Decision::RollFireDefending,
    Decision::RollMeleeMarching,
    Decision::RollMeleeDefending,
    Decision::RollAttrition,
    Decision::RollRecovery,
];

/// Game turn, whose player turn, what is rolled for, in which hex, and how many of these rolls that player turn had before.
type Event = (u8, Side, Decision, Hex, u32);

/// What the dice of a seed show in a game of souakim whose players choose by another, with the number of rolls of whatever
/// kind that came before in the game turn.
fn rolls_of(dice_seed: u64, players: u64) -> HashMap<Event, (usize, Outcome)> {
    let mut position = PositionFile::start("souakim").expect("built in").position;
    let (mut dice, mut random, mut legal) = (Dice::new(dice_seed), SplitMix64::new(players), Vec::new());
    let mut rolls: HashMap<Event, (usize, Outcome)> = HashMap::new();
    let (mut turn, mut before) = (0, 0);
    while position.actor() != Actor::Finished {
        if position.actor() != Actor::Chance {
            position.legal_actions_into(&mut legal);
            position.apply_legal(legal[random.below(legal.len())]);
            continue;
        }
        if position.game_turn() != turn {
            (turn, before) = (position.game_turn(), 0);
        }
        let (side, decision, hex) = (position.active(), position.pending().decision, position.pending().hex);
        let outcome = dice.roll(&position);
        if ROLLS.contains(&decision) {
            let times = (0..).find(|&times| !rolls.contains_key(&(turn, side, decision, hex, times)));
            rolls.insert((turn, side, decision, hex, times.expect("one of them")), (before, outcome));
        }
        before += 1;
        position.resolve_possible(outcome);
    }
    rolls
}

/// Whatever was ordered and rolled before, whoever marches, fights or recovers in the same hex in the same turn has the same
/// dice: that is what ties the games of a pair together. Dice that followed from the turn alone would differ after another
/// number of rolls.
#[test]
fn a_roll_shows_the_same_after_other_orders_and_rolls() {
    let mut after_others: HashMap<Decision, usize> = HashMap::new();
    for dice_seed in 0..24 {
        let mut known: HashMap<Event, (usize, Outcome)> = HashMap::new();
        for players in 0..16 {
            for (event, (before, outcome)) in rolls_of(dice_seed, players) {
                let (first_before, first) = *known.entry(event).or_insert((before, outcome));
                assert_eq!(first, outcome, "dice {dice_seed}: {event:?} after {first_before} rolls and after {before}");
                *after_others.entry(event.2).or_default() += usize::from(first_before != before);
            }
        }
    }
    for roll in ROLLS {
        let least = if roll == Decision::RollMarch { 400 } else { 4 };
        assert!(after_others.get(&roll).is_some_and(|&count| count >= least), "{roll:?}: {after_others:?}");
    }
}

/// No two marches of a player turn share a die: the dice of two of them, in one hex or in two, are alike in one case of six.
#[test]
fn two_marches_of_a_turn_have_dice_of_their_own() {
    let (mut alike, mut pairs) = (0.0f64, 0.0f64);
    for dice_seed in 0..100 {
        // What one seed shows is the same for all players, so it is counted once.
        let known: HashMap<Event, Outcome> = (0..4)
            .flat_map(|players| rolls_of(dice_seed, players))
            .filter(|(event, _)| event.2 == Decision::RollMarch)
            .map(|(event, (_, outcome))| (event, outcome))
            .collect();
        let marches: Vec<_> = known.into_iter().collect();
        for (index, (event, outcome)) in marches.iter().enumerate() {
            for (_, other) in marches[..index].iter().filter(|(other, _)| (other.0, other.1) == (event.0, event.1)) {
                pairs += 1.0;
                alike += f64::from(u8::from(other == outcome));
            }
        }
    }
    // Dice of a fair die are alike independently of each other, pair by pair.
    let error = (1.0 / 6.0 * 5.0 / 6.0 / pairs).sqrt();
    assert!(pairs > 3_000.0 && (alike / pairs - 1.0 / 6.0).abs() < 4.0 * error, "{alike} of {pairs}");
}

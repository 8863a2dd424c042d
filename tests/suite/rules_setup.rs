//! Set-up by choice (2.7) and the sequence of play (3), over random games of every scenario.

use dervish_env::chance::SplitMix64;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::PlaceId;
use dervish_env::dervish::campaign::Phase;
use dervish_env::dervish::catalogue::{COMBAT, Kind, Leader, Side};
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position};

/// Plays on at random until `stop`, showing each position to it; the last position.
fn play_until(scenario: &'static Scenario, seed: u64, mut stop: impl FnMut(&Campaign) -> bool) -> Campaign {
    let mut position = Campaign::new(scenario);
    let mut random = SplitMix64::new(seed);
    let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
    for _ in 0..Campaign::MAX_DECISIONS {
        if stop(&position) {
            break;
        }
        match position.actor() {
            Actor::Finished => break,
            Actor::Chance => {
                position.chance_outcomes_into(&mut outcomes);
                position.resolve_possible(outcomes[random.below(outcomes.len())].outcome);
            }
            Actor::Player(_) => {
                position.legal_actions_into(&mut actions);
                position.apply_legal(actions[random.below(actions.len())]);
            }
        }
    }
    position
}

fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    Scenario::BUILTIN_NAMES.into_iter().map(|name| Scenario::builtin(name).unwrap())
}

/// 3.3: each phase ends, and so does the game: at the latest with the last turn of the scenario.
#[test]
fn random_games_end() {
    for scenario in scenarios() {
        for seed in 0..3 {
            let last = play_until(scenario, seed, |_| false);
            assert_eq!(last.actor(), Actor::Finished, "{} {seed}", scenario.name);
            assert!(last.game_turn() < scenario.turns, "{} {seed}", scenario.name);
            // Whoever is to choose has a choice.
            play_until(scenario, seed, |position| {
                let mut actions = Vec::new();
                position.legal_actions_into(&mut actions);
                assert!(!matches!(position.actor(), Actor::Player(_)) || actions.len() > 1, "{position:?}");
                false
            });
        }
    }
}

/// 3.1: the phases of a player turn in order, the first player's turn first, a month for both.
#[test]
fn phases_follow_one_another() {
    let rank = |phase| match phase {
        Phase::Setup => 0,
        Phase::Event => 1,
        Phase::Reinforcement => 2,
        Phase::March => 3,
        Phase::Supply => 4,
        Phase::Recovery => 5,
    };
    for scenario in scenarios() {
        let mut before = (0, false, 0);
        play_until(scenario, 5, |position| {
            let second = position.active() != scenario.first_player;
            let now = (position.game_turn(), second, rank(position.phase()));
            assert!(now >= before, "{} {before:?} {now:?}", scenario.name);
            before = now;
            false
        });
        let first = if scenario.name == "khartoum" { Side::Egyptian } else { Side::Mahdist };
        assert_eq!(scenario.first_player, first, "{}", scenario.name);
    }
}

/// 2.7: at the start a place is controlled by the side that has a combat unit there, all others by nobody.
#[test]
fn control_at_the_start() {
    for scenario in scenarios() {
        let position = play_until(scenario, 1, |position| position.phase() != Phase::Setup);
        for (i, place) in scenario.board.places.iter().enumerate() {
            let holder = Side::BOTH.into_iter().find(|side| position.units().any(place.hex, *side, COMBAT));
            assert_eq!(position.controller(PlaceId(i as u8)), holder, "{} {}", scenario.name, place.name);
        }
    }
}

/// 2.7: all units and leaders of a region stand in hexes of it that hold no enemy.
#[test]
fn all_units_of_a_region_are_placed_in_it() {
    // 2.6: 10 S, 1 rifles, 1 cavalry and Osman Digma within three hexes of Sinkat or Tokar.
    let scenario = Scenario::builtin("souakim").unwrap();
    for seed in 0..20 {
        let position = play_until(scenario, seed, |position| position.phase() != Phase::Setup);
        let count = |kind| position.units().on_map(kind);
        assert_eq!(
            [Kind::MahdistSpearmen, Kind::MahdistRifles, Kind::MahdistCavalry].map(count),
            [10, 1, 1],
            "seed {seed}"
        );
        let region = &scenario.regions[0].hexes;
        for cohort in position.units().as_slice().iter().filter(|c| c.side() == Side::Mahdist) {
            assert!(region.contains(&cohort.hex()), "seed {seed}: {cohort:?}");
            assert!(!position.units().any(cohort.hex(), Side::Egyptian, COMBAT), "seed {seed}: {cohort:?}");
        }
        let osman = position.leader(Leader::OsmanDigma).hex;
        assert!(position.units().any(osman, Side::Mahdist, COMBAT), "seed {seed}");
    }
}

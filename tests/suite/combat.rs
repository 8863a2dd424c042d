//! Combat (9.1-9.9, 12.2): the worked example, each modifier alone, who suffers, and the exact odds. Totals and losses
//! are worked out by hand from the rules; the arithmetic stands beside each case.

use std::collections::HashMap;

use dervish_env::dervish::board::{PlaceKind, Relief};
use dervish_env::dervish::catalogue::Kind::*;
use dervish_env::dervish::catalogue::{COMBAT, Catalogue, Class, KINDS, Kind, LAND, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::rules::combat::{Combat, CombatHex, CombatRole, Combatant, Dice, LeaderUse, Test};
use dervish_env::dervish::rules::odds::TOTAL_WEIGHT;
use dervish_env::dervish::scenario::{FanaticCharge, Options};
use dervish_env::dervish::tables::{Morale, Tables};
use proptest::prelude::*;

/// Units in good order and disrupted ones.
fn force(good: &[(Kind, u8)], disrupted: &[(Kind, u8)]) -> Force {
    let mut force = Force::EMPTY;
    for &(kind, count) in good {
        force.good[kind.index()] = count;
    }
    for &(kind, count) in disrupted {
        force.disrupted[kind.index()] = count;
    }
    force
}

fn good(units: &[(Kind, u8)]) -> Force {
    force(units, &[])
}

fn place(kind: PlaceKind) -> CombatHex {
    CombatHex { place: Some(kind), ..CombatHex::OPEN }
}

fn relief(relief: Relief) -> CombatHex {
    CombatHex { relief, ..CombatHex::OPEN }
}

/// A combat in the open, no leaders, the default options.
fn combat(marching_side: Side, marching: Force, defending: Force) -> Combat<'static> {
    let combatant = |force| Combatant { force, tactical: 0, leader_use: LeaderUse::None };
    Combat {
        catalogue: Catalogue::builtin(),
        tables: Tables::builtin(),
        options: Options { flag: true, fanatic_charge: FanaticCharge::Marching },
        marching_side,
        poor_morale: false,
        target: CombatHex::OPEN,
        from: CombatHex::OPEN,
        marching: combatant(marching),
        defending: combatant(defending),
    }
}

/// Mahdists march.
fn mahdist_attack(marching: &[(Kind, u8)], defending: &[(Kind, u8)]) -> Combat<'static> {
    combat(Side::Mahdist, good(marching), good(defending))
}

/// The Egyptian player's units march.
fn egyptian_attack(marching: &[(Kind, u8)], defending: &[(Kind, u8)]) -> Combat<'static> {
    combat(Side::Egyptian, good(marching), good(defending))
}

/// Modifier of a test of the fire round, which must be called for.
fn fire(combat: &Combat, role: CombatRole) -> i32 {
    let test = if role == CombatRole::Marching { Test::FireMarching } else { Test::FireDefending };
    combat.modifier(test, &[0; 4]).expect("the test is called for")
}

/// Modifier of a test of the melee round, when the fire round has cost nothing.
fn melee(combat: &Combat, role: CombatRole) -> i32 {
    let test = if role == CombatRole::Marching { Test::MeleeMarching } else { Test::MeleeDefending };
    combat.modifier(test, &[0; 4]).expect("the test is called for")
}

const MARCHING: CombatRole = CombatRole::Marching;
const DEFENDING: CombatRole = CombatRole::Defending;

// The worked example.

/// Abu Klea, 1 January 1885 (seed 002): 6 S and 1 rifles in an oasis, attacked by three Camel Corps units, the Sussex
/// Regiment, a camel and a supply unit under Stewart, who leads in melee.
fn abu_klea() -> Combat<'static> {
    let mut combat = egyptian_attack(
        &[(BritishInfantry, 1), (CamelCorps, 3), (Supply, 1), (Camel, 1)],
        &[(MahdistSpearmen, 6), (MahdistRifles, 1)],
    );
    combat.marching.tactical = 1;
    combat.marching.leader_use = LeaderUse::Melee;
    combat.target = place(PlaceKind::Oasis);
    combat
}

#[test]
fn abu_klea_fire() {
    let combat = abu_klea();
    // The British roll 9, the Mahdist 10.
    let dice: Dice = [9, 10, 0, 0];
    assert_eq!(combat.next_test(&[0; 4]), Some(Test::FireMarching));
    assert_eq!(combat.next_test(&[9, 0, 0, 0]), Some(Test::FireDefending));
    assert_eq!(combat.next_test(&dice), Some(Test::MeleeMarching));

    // -1 for 8 fire factors, -1 for veterans, +1 for the oasis: 9, steady.
    let mahdists = combat.reading(Test::FireDefending, &dice).expect("rolled");
    assert_eq!((mahdists.modifier, mahdists.total, mahdists.flag), (-1, 9, 0));
    assert_eq!(mahdists.results[Class::F as usize], Some(Morale::Steady));
    assert_eq!(mahdists.results.iter().flatten().count(), 1);

    // +1 fanatics firing: 10, good for the veterans; the train reads it as steady, and half of one unit is none.
    let british = combat.reading(Test::FireMarching, &dice).expect("rolled");
    assert_eq!((british.modifier, british.total), (1, 10));
    assert_eq!(british.results[Class::V as usize], Some(Morale::Good));
    assert_eq!(british.results[Class::R as usize], Some(Morale::Steady));
    assert_eq!(british.results.iter().flatten().count(), 2);

    let after = combat.resolve(&dice);
    assert_eq!(
        after.defending.force,
        force(&[(MahdistSpearmen, 5)], &[(MahdistSpearmen, 1), (MahdistRifles, 1)]),
        "1S and 1 rifles are disrupted"
    );
    assert_eq!(after.marching.force, combat.marching.force, "the British lose nothing");
}

#[test]
fn abu_klea_melee_and_outcome() {
    let combat = abu_klea();
    let dice: Dice = [9, 10, 7, 7];
    assert_eq!(combat.next_test(&[9, 10, 7, 0]), Some(Test::MeleeDefending));
    assert_eq!(combat.next_test(&dice), None);

    // Strength 20 + 4 against 8: 3:1, +2; oasis +1: 10, steady.
    let mahdists = combat.reading(Test::MeleeDefending, &dice).expect("rolled");
    assert_eq!((mahdists.modifier, mahdists.total), (3, 10));
    assert_eq!(mahdists.results[Class::F as usize], Some(Morale::Steady));

    // Stewart +1, and no -2 for the side that marches: 8, steady for the troops, hold for the train.
    let british = combat.reading(Test::MeleeMarching, &dice).expect("rolled");
    assert_eq!((british.modifier, british.total), (1, 8));
    assert_eq!(british.results[Class::V as usize], Some(Morale::Steady));
    assert_eq!(british.results[Class::R as usize], Some(Morale::Hold));

    let end = combat.resolve(&dice);
    // Four disruptions of the limit of five eliminate both train units; one is left for the troops, not two.
    assert_eq!(end.marching.force, force(&[(CamelCorps, 3)], &[(BritishInfantry, 1)]));
    assert_eq!(end.marching.destroyed, good(&[(Supply, 1), (Camel, 1)]));
    assert_eq!(end.marching.start, 6);
    assert_eq!(end.marching.newly_disrupted[BritishInfantry.index()], 1);
    // Two more disrupted, both S: the only good-order units left.
    assert_eq!(end.defending.force, force(&[(MahdistSpearmen, 3)], &[(MahdistSpearmen, 3), (MahdistRifles, 1)]));
    assert_eq!(end.defending.start, 7);
    // 3 of 6 and 4 of 7: both are broken, a draw.
    assert!(end.marching.broken && end.defending.broken);
    assert_eq!(end.winner, None);
}

/// The literal reading of the -2 would have cost the British more than the example says (9.4).
#[test]
fn the_option_fanatic_charge_always_burdens_the_marching_side() {
    let mut combat = abu_klea();
    combat.options.fanatic_charge = FanaticCharge::Always;
    // Stewart +1, -2 for 20 fanatic factors against 8.
    assert_eq!(combat.modifier(Test::MeleeMarching, &[9, 10, 0, 0]), Some(-1));
}

// Fire modifiers, each alone (9.4). Rifles fire with 2 factors, Mahdist rifles with 4.

#[test]
fn fire_by_at_least_half_veterans() {
    let modifier = |veterans, line| {
        let marching = [(BritishInfantry, veterans), (RifleL, line)];
        fire(&egyptian_attack(&marching, &[(MahdistSpearmen, 1)]), DEFENDING)
    };
    assert_eq!(modifier(0, 2), 0);
    assert_eq!(modifier(1, 1), -1);
    assert_eq!(modifier(2, 0), -1);
    // 24 of 49 is less than half; 98 and 100 factors are both 16 times 6.
    assert_eq!(modifier(24, 25), -16);
    assert_eq!(modifier(25, 25), -17);
}

#[test]
fn fire_by_at_least_half_fanatics_or_rabble() {
    let modifier = |rabble, line| {
        let marching = [(RifleR, rabble), (RifleL, line)];
        fire(&egyptian_attack(&marching, &[(MahdistSpearmen, 1)]), DEFENDING)
    };
    assert_eq!(modifier(0, 2), 0);
    assert_eq!(modifier(1, 1), 1);
    assert_eq!(modifier(2, 0), 1);
    assert_eq!(modifier(24, 25), -16);
    assert_eq!(modifier(25, 25), -15);
    // Fanatics; their factors do not count toward the sixes.
    assert_eq!(fire(&mahdist_attack(&[(MahdistRifles, 6)], &[(Levy, 1)]), DEFENDING), 1);
    // Half veterans and half rabble: both apply.
    let both = egyptian_attack(&[(BritishInfantry, 1), (RifleR, 1)], &[(MahdistSpearmen, 1)]);
    assert_eq!(fire(&both, DEFENDING), 0);
    // Disrupted rifles and units without firearms are no firing units.
    let marching = force(&[(RifleR, 1), (Levy, 5)], &[(RifleL, 5)]);
    assert_eq!(fire(&combat(Side::Egyptian, marching, good(&[(MahdistSpearmen, 1)])), DEFENDING), 1);
}

#[test]
fn fire_with_two_to_one_in_guns() {
    let modifier = |firing, testing| {
        fire(&egyptian_attack(&[(EgyptianGun, firing)], &[(MahdistSpearmen, 1), (MahdistGun, testing)]), DEFENDING)
    };
    assert_eq!(modifier(1, 0), -1);
    assert_eq!(modifier(1, 1), 0);
    assert_eq!(modifier(2, 1), -1);
    // 3:2 is not 2:1, the -1 is that of six fire factors; 4:2 is, with eight.
    assert_eq!(modifier(3, 2), -1);
    assert_eq!(modifier(4, 2), -2);
    // No gun at all is no superiority.
    assert_eq!(fire(&egyptian_attack(&[(RifleL, 1)], &[(MahdistSpearmen, 1)]), DEFENDING), 0);
    // A disrupted gun lends nothing (2.1).
    let testers = force(&[(MahdistSpearmen, 1)], &[(MahdistGun, 1)]);
    assert_eq!(fire(&combat(Side::Egyptian, good(&[(EgyptianGun, 1)]), testers), DEFENDING), -1);
    // Those of gunboats count, on either side (9.41).
    let mahdists = [(MahdistSpearmen, 1), (MahdistGun, 1)];
    assert_eq!(fire(&egyptian_attack(&[(EgyptianGun, 1), (Gunboat, 1)], &mahdists), DEFENDING), -1);
    assert_eq!(fire(&egyptian_attack(&[(Levy, 1), (Gunboat, 1)], &mahdists), MARCHING), 1, "rabble, 1:1 in guns");
}

#[test]
fn fire_for_every_full_six_factors_of_others_than_fanatics() {
    // A catalogue in which a rifle L fires with one factor, to meet five and eleven.
    let mut catalogue = Catalogue::builtin().clone();
    catalogue.kinds[RifleL.index()].fire = 1;
    for (units, expected) in [(1, 0), (5, 0), (6, -1), (11, -1), (12, -2), (18, -3)] {
        let mut combat = egyptian_attack(&[(RifleL, units)], &[(MahdistSpearmen, 1)]);
        combat.catalogue = &catalogue;
        assert_eq!(fire(&combat, DEFENDING), expected, "{units} factors");
    }
    // Rabble guns of the Mahdists count: +1 rabble, -1 guns, -1 six factors.
    assert_eq!(fire(&mahdist_attack(&[(MahdistGun, 3)], &[(Levy, 1)]), DEFENDING), -1);
}

#[test]
fn fire_by_gunboats_at_a_hex_with_a_river() {
    let river = CombatHex { river: true, ..CombatHex::OPEN };
    let mut combat = egyptian_attack(&[(RifleL, 1), (Gunboat, 1)], &[(MahdistSpearmen, 1)]);
    assert_eq!(fire(&combat, DEFENDING), -1, "the gun alone");
    combat.target = river;
    assert_eq!(fire(&combat, DEFENDING), -2);
    // It is the hex of the testers that counts.
    (combat.target, combat.from) = (CombatHex::OPEN, river);
    assert_eq!(fire(&combat, DEFENDING), -1);
    let mut combat = mahdist_attack(&[(MahdistSpearmen, 1)], &[(RifleL, 1), (BritishGunboat, 1)]);
    combat.from = river;
    assert_eq!(fire(&combat, MARCHING), -2);
    // A river without gunboat does nothing.
    let mut combat = egyptian_attack(&[(RifleL, 1)], &[(MahdistSpearmen, 1)]);
    combat.target = river;
    assert_eq!(fire(&combat, DEFENDING), 0);
}

#[test]
fn fire_by_the_fleet_at_marching_mahdists_by_the_sea() {
    let sea = CombatHex { sea: true, ..CombatHex::OPEN };
    // One of two firing units is the veteran fleet: -1; 2 gun factors: -1; 2 + 4 fire factors: -1.
    let mut combat = mahdist_attack(&[(MahdistSpearmen, 1)], &[(RifleL, 1), (Fleet, 1)]);
    assert_eq!(fire(&combat, MARCHING), -3);
    combat.from = sea;
    assert_eq!(fire(&combat, MARCHING), -4);
    (combat.from, combat.target) = (CombatHex::OPEN, sea);
    assert_eq!(fire(&combat, MARCHING), -3, "the testers' own hex counts");
    // Not in the other player's turn.
    let mut combat = egyptian_attack(&[(RifleL, 1), (Fleet, 1)], &[(MahdistSpearmen, 1)]);
    combat.target = sea;
    assert_eq!(fire(&combat, DEFENDING), -3);
    // Not without the fleet.
    let mut combat = mahdist_attack(&[(MahdistSpearmen, 1)], &[(RifleL, 1)]);
    combat.from = sea;
    assert_eq!(fire(&combat, MARCHING), 0);
}

// Modifiers of both rounds.

#[test]
fn leader_in_fire_or_in_melee() {
    let mut combat = mahdist_attack(&[(MahdistSpearmen, 1)], &[(RifleL, 1), (Levy, 3)]);
    (combat.marching.tactical, combat.defending.tactical) = (2, 1);
    for (leader_use, in_fire, in_melee) in [(LeaderUse::None, 0, 0), (LeaderUse::Fire, 2, 0), (LeaderUse::Melee, 0, 2)]
    {
        combat.marching.leader_use = leader_use;
        assert_eq!(fire(&combat, MARCHING), in_fire, "{leader_use:?}");
        assert_eq!(melee(&combat, MARCHING), in_melee, "{leader_use:?}");
        // 8 factors against 4: 2:1 for the other side, whose leader stays out.
        assert_eq!(melee(&combat, DEFENDING), 1);
    }
    combat.defending.leader_use = LeaderUse::Melee;
    assert_eq!(melee(&combat, DEFENDING), 2);
}

#[test]
fn ground_helps_the_side_that_does_not_march_in_both_rounds() {
    let cases = [
        (CombatHex::OPEN, 0),
        (relief(Relief::Hills), 1),
        (relief(Relief::Mountain), 2),
        (place(PlaceKind::Village), 1),
        (place(PlaceKind::Oasis), 1),
        (place(PlaceKind::Town), 2),
        // Terrain and place add up to no more than the better of the two.
        (CombatHex { relief: Relief::Hills, ..place(PlaceKind::Town) }, 2),
        (CombatHex { relief: Relief::Hills, ..place(PlaceKind::Village) }, 1),
        (CombatHex { relief: Relief::Mountain, ..place(PlaceKind::Oasis) }, 2),
    ];
    for (hex, expected) in cases {
        let mut combat = egyptian_attack(&[(RifleL, 2)], &[(MahdistSpearmen, 1), (MahdistRifles, 1)]);
        combat.target = hex;
        assert_eq!(fire(&combat, DEFENDING), expected, "{hex:?}");
        assert_eq!(fire(&combat, MARCHING), 1, "fanatics fire, {hex:?}");
        // 8 factors against 4: 2:1.
        assert_eq!(melee(&combat, DEFENDING), 1 + expected, "{hex:?}");
        assert_eq!(melee(&combat, MARCHING), 0, "{hex:?}");
        // The hex of the marching side helps nobody.
        (combat.target, combat.from) = (CombatHex::OPEN, hex);
        assert_eq!((fire(&combat, DEFENDING), melee(&combat, DEFENDING)), (0, 1), "{hex:?}");
        assert_eq!((fire(&combat, MARCHING), melee(&combat, MARCHING)), (1, 0), "{hex:?}");
    }
}

// Melee modifiers, each alone. A levy has 2 factors and never fires, a spearman 4.

#[test]
fn melee_odds() {
    let modifier = |spearmen: [u8; 2], levies: [u8; 2]| {
        let marching = force(&[(Levy, levies[0])], &[(Levy, levies[1])]);
        let defending = force(&[(MahdistSpearmen, spearmen[0])], &[(MahdistSpearmen, spearmen[1])]);
        melee(&combat(Side::Egyptian, marching, defending), DEFENDING)
    };
    assert_eq!(modifier([1, 0], [3, 0]), 0, "4:6");
    assert_eq!(modifier([1, 0], [2, 0]), 0, "4:4");
    assert_eq!(modifier([1, 0], [1, 1]), 0, "4:3");
    assert_eq!(modifier([1, 0], [1, 0]), 1, "4:2");
    assert_eq!(modifier([1, 1], [1, 1]), 1, "6:3, half factors exact");
    assert_eq!(modifier([2, 1], [2, 0]), 1, "10:4");
    assert_eq!(modifier([3, 0], [2, 0]), 2, "12:4");
    assert_eq!(modifier([2, 0], [1, 0]), 3, "8:2");
    assert_eq!(modifier([1, 0], [0, 1]), 3, "4:1");
    assert_eq!(modifier([9, 0], [1, 0]), 3, "no more than +3");
    // An enemy with no factors gives 4:1, testers with none get nothing.
    let combat = egyptian_attack(&[(Supply, 1)], &[(MahdistSpearmen, 1)]);
    assert_eq!((melee(&combat, DEFENDING), melee(&combat, MARCHING)), (3, 0));
    let combat = egyptian_attack(&[(EgyptianGun, 1)], &[(MahdistGun, 1)]);
    assert_eq!((melee(&combat, DEFENDING), melee(&combat, MARCHING)), (0, 0));
}

#[test]
fn melee_with_fanatics_who_charge() {
    let modifier = |spearmen: [u8; 2], levies: [u8; 2]| {
        let marching = force(&[(MahdistSpearmen, spearmen[0])], &[(MahdistSpearmen, spearmen[1])]);
        let defending = force(&[(Levy, levies[0])], &[(Levy, levies[1])]);
        melee(&combat(Side::Mahdist, marching, defending), DEFENDING)
    };
    assert_eq!(modifier([1, 0], [2, 0]), -2, "4 against 4");
    assert_eq!(modifier([1, 0], [1, 2]), -2, "4 against 2 + 2");
    assert_eq!(modifier([1, 0], [2, 1]), 0, "4 against 5");
    assert_eq!(modifier([1, 1], [2, 1]), 0, "disrupted fanatics do not count: still 4 against 5");
    assert_eq!(modifier([0, 9], [1, 0]), 0, "none in good order");
    assert_eq!(modifier([9, 0], [1, 0]), -2);
    // Not on the marching side.
    assert_eq!(melee(&egyptian_attack(&[(Levy, 1)], &[(MahdistSpearmen, 9)]), MARCHING), 0);
    // Others than fanatics do not charge: a gun is rabble and has no factors.
    assert_eq!(melee(&mahdist_attack(&[(MahdistGun, 3)], &[(Camel, 1)]), DEFENDING), 0);
    // Train has no factors, which any fanatic equals.
    assert_eq!(melee(&mahdist_attack(&[(MahdistSpearmen, 1)], &[(Camel, 1)]), DEFENDING), -2);
}

#[test]
fn melee_with_two_to_one_in_cavalry() {
    let modifier = |british, mahdist| {
        let cavalry = [(BritishCavalry, british)];
        let combat = egyptian_attack(&cavalry, &[(MahdistCavalry, mahdist), (MahdistSpearmen, 1)]);
        melee(&combat, MARCHING)
    };
    // Factors 2 and 4 a unit. The spearmen keep the odds below 2:1 up to 8 factors against 8.
    assert_eq!(modifier(1, 0), 1);
    assert_eq!(modifier(3, 1), 0, "6:4");
    assert_eq!(modifier(4, 1), 1, "8:4");
    assert_eq!(modifier(2, 1), 0, "4:4");
    // Nobody has any.
    assert_eq!(melee(&egyptian_attack(&[(Levy, 2)], &[(MahdistSpearmen, 1)]), MARCHING), 0);
    // The side that does not march may have it as well.
    assert_eq!(melee(&mahdist_attack(&[(MahdistSpearmen, 1)], &[(BritishCavalry, 3)]), DEFENDING), 1);
    // Disrupted cavalry lends nothing (2.1).
    let marching = force(&[(Levy, 1)], &[(BritishCavalry, 1)]);
    assert_eq!(melee(&combat(Side::Egyptian, marching, good(&[(MahdistSpearmen, 1)])), MARCHING), 0);
    // Neither side in mountain or town.
    for hex in [relief(Relief::Mountain), place(PlaceKind::Town)] {
        let mut combat = egyptian_attack(&[(BritishCavalry, 1)], &[(MahdistSpearmen, 1)]);
        combat.target = hex;
        assert_eq!(melee(&combat, MARCHING), 0, "{hex:?}");
        (combat.target, combat.from) = (CombatHex::OPEN, hex);
        assert_eq!(melee(&combat, MARCHING), 0, "{hex:?}");
    }
    for hex in [relief(Relief::Hills), place(PlaceKind::Village), place(PlaceKind::Oasis)] {
        let mut combat = egyptian_attack(&[(BritishCavalry, 1)], &[(MahdistSpearmen, 1)]);
        (combat.target, combat.from) = (hex, hex);
        assert_eq!(melee(&combat, MARCHING), 1, "{hex:?}");
    }
}

// The flag (12.2) and poor morale (4.3).

#[test]
fn the_flag_raises_rows_r_and_l() {
    let attacked = |units: Force, flag_option, die| {
        let mut combat = combat(Side::Mahdist, good(&[(MahdistRifles, 1)]), units);
        combat.options.flag = flag_option;
        combat.reading(Test::FireDefending, &[0, die, 0, 0]).expect("rolled")
    };
    let units = [(RifleL, 1), (BritishInfantry, 1), (Supply, 1), (Flag, 1)];
    // Roll 6, +1 for fanatics firing: 7. V reads 7, hold; L 8, hold; R 8, hold - at 7 it would be shaken.
    let reading = attacked(good(&units), true, 6);
    assert_eq!((reading.modifier, reading.total, reading.flag), (1, 7, 1));
    assert_eq!(reading.results[Class::V as usize], Some(Morale::Hold));
    assert_eq!(reading.results[Class::L as usize], Some(Morale::Hold));
    assert_eq!(reading.results[Class::R as usize], Some(Morale::Hold));
    // At 5 + 1: V shaken, L hold (7), R shaken (7).
    let reading = attacked(good(&units), true, 5);
    assert_eq!(reading.results[Class::V as usize], Some(Morale::Shaken));
    assert_eq!(reading.results[Class::L as usize], Some(Morale::Hold));
    assert_eq!(reading.results[Class::R as usize], Some(Morale::Shaken));
    // Without the flag, without the option, without an Egyptian combat unit: nothing.
    for (units, option) in [
        (good(&units[..3]), true),
        (good(&units), false),
        (good(&[(BritishInfantry, 1), (IndianInfantry, 1), (Supply, 1), (Flag, 1)]), true),
    ] {
        let reading = attacked(units, option, 6);
        assert_eq!((reading.total, reading.flag), (7, 0));
        assert_eq!(reading.results[Class::R as usize], Some(Morale::Shaken));
    }
    // A disrupted Egyptian unit is there all the same.
    assert_eq!(attacked(force(&[(BritishInfantry, 1), (Flag, 1)], &[(Levy, 1)]), true, 6).flag, 1);
}

#[test]
fn the_flag_dies_with_the_last_combat_unit() {
    // Roll 2, +1 fanatics: 3, the levy fails, R reads 4: 2 destroyed and 2 disrupted, in catalogue order of levy and
    // supply: both destroyed; the camel is disrupted, then eliminated.
    let units = [(Levy, 1), (Supply, 1), (Camel, 1), (Flag, 1)];
    let end = mahdist_attack(&[(MahdistRifles, 1)], &units).resolve(&[0, 2, 0, 0]);
    assert_eq!(end.defending.force, Force::EMPTY);
    // With two levies one of them is left, and the flag with it.
    let units = [(Levy, 5), (Supply, 1), (Flag, 1)];
    let end = mahdist_attack(&[(MahdistRifles, 1)], &units).resolve(&[0, 2, 0, 0]);
    assert_eq!(end.defending.force.count(Flag), 1);
    // Vessels and train keep no flag: 2 destroyed, the levy and the supply unit.
    let units = [(Levy, 1), (Supply, 1), (Camel, 3), (Boat, 1), (Flag, 1)];
    let end = mahdist_attack(&[(MahdistRifles, 1)], &units).resolve(&[0, 2, 0, 0]);
    assert_eq!(end.defending.force.count(Flag), 0);
    assert_eq!(end.defending.force.count(Boat), 1);
    assert!(end.defending.force.count(Camel) > 0);
}

#[test]
fn poor_morale_makes_egyptian_line_rabble() {
    let units = [(RifleL, 1), (IndianInfantry, 1)];
    let mut attack = mahdist_attack(&[(MahdistRifles, 1)], &units);
    // Roll 4, +1: 5: shaken in row L, fail in row R.
    let dice = [0, 4, 0, 0];
    let before = attack.reading(Test::FireDefending, &dice).expect("rolled");
    assert_eq!(before.results, [None, Some(Morale::Shaken), None, None]);
    attack.poor_morale = true;
    let reading = attack.reading(Test::FireDefending, &dice).expect("rolled");
    assert_eq!(reading.results[Class::R as usize], Some(Morale::Fail), "rifle L");
    assert_eq!(reading.results[Class::L as usize], Some(Morale::Shaken), "Indian");
    // One of two firing units is now rabble.
    assert_eq!(fire(&attack, MARCHING), 1);
    // Guns too: 100% rabble, and the gun.
    let mut guns = egyptian_attack(&[(EgyptianGun, 1)], &[(MahdistSpearmen, 1)]);
    assert_eq!(fire(&guns, DEFENDING), -1);
    guns.poor_morale = true;
    assert_eq!(fire(&guns, DEFENDING), 0);
    // And gunboats: row R fails at 5 and destroys the boat once the levy is dead; row L would have been shaken.
    let mut boats = mahdist_attack(&[(MahdistRifles, 1)], &[(RifleR, 1), (Gunboat, 1)]);
    boats.poor_morale = true;
    assert_eq!(boats.resolve(&dice).defending.gunboats_lost, [1, 0]);
}

// Which tests are called for (9.3, 9.13).

#[test]
fn a_side_that_cannot_fire_causes_no_test() {
    let spearmen = mahdist_attack(&[(MahdistSpearmen, 2)], &[(RifleL, 1)]);
    assert_eq!(spearmen.next_test(&[0; 4]), Some(Test::FireMarching));
    assert_eq!(spearmen.modifier(Test::FireDefending, &[0; 4]), None);
    assert_eq!(spearmen.reading(Test::FireDefending, &[7; 4]), None);
    assert_eq!(spearmen.next_test(&[12, 0, 0, 0]), Some(Test::MeleeMarching));
    // Disrupted rifles do not fire.
    let disrupted = combat(Side::Mahdist, good(&[(MahdistSpearmen, 2)]), force(&[], &[(RifleL, 2)]));
    assert_eq!(disrupted.next_test(&[0; 4]), Some(Test::MeleeMarching));
    // A superfluous roll changes nothing.
    assert_eq!(disrupted.resolve(&[2, 2, 8, 8]), disrupted.resolve(&[0, 0, 8, 8]));
}

#[test]
fn melee_needs_land_units_on_both_sides_and_a_rolling_unit() {
    let disrupted = combat(Side::Mahdist, force(&[], &[(MahdistSpearmen, 2)]), force(&[(Supply, 1)], &[(Levy, 2)]));
    assert_eq!(disrupted.next_test(&[0; 4]), None, "train and disrupted units do not roll");
    let one = combat(Side::Mahdist, force(&[], &[(MahdistSpearmen, 2)]), good(&[(Levy, 1)]));
    assert_eq!(one.next_test(&[0; 4]), Some(Test::MeleeMarching));
    // 10 + 0 against N = 0 for the defender: whatever he rolls costs nothing, yet he rolls.
    assert_eq!(one.next_test(&[0, 0, 10, 0]), Some(Test::MeleeDefending));
    assert_eq!(one.resolve(&[0, 0, 10, 2]).defending.force, good(&[(Levy, 1)]));
    // Fire kills the only unit: 2 + 1 fails.
    let wiped = mahdist_attack(&[(MahdistRifles, 1)], &[(Levy, 1), (Gunboat, 1)]);
    assert_eq!(wiped.next_test(&[12, 2, 0, 0]), None);
    assert_eq!(wiped.resolve(&[12, 2, 2, 2]).marching.force, good(&[(MahdistRifles, 1)]));
}

#[test]
fn gunboats_fire_without_rolling() {
    // They call for the test, but N = 0: a fail costs nothing (9.5).
    let combat = mahdist_attack(&[(MahdistSpearmen, 4)], &[(Levy, 1), (Gunboat, 2)]);
    let reading = combat.reading(Test::FireMarching, &[2, 0, 0, 0]).expect("rolled");
    // No firing rolling unit, so no share of veterans or rabble; 2 guns -1; 4 factors.
    assert_eq!((reading.modifier, reading.results[Class::F as usize]), (-1, Some(Morale::Fail)));
    assert_eq!(combat.resolve(&[2, 0, 0, 0]).marching.force, good(&[(MahdistSpearmen, 4)]));
}

#[test]
fn a_round_is_counted_before_its_losses() {
    let combat = mahdist_attack(&[(MahdistRifles, 3)], &[(RifleL, 3)]);
    // Whatever the marching side loses by fire, its three rifles have fired: a fail takes all three units.
    for first in 2..=12 {
        assert_eq!(combat.modifier(Test::FireDefending, &[first, 0, 0, 0]), Some(1));
        assert_eq!(combat.resolve(&[first, 2, 0, 0]).defending.force, Force::EMPTY);
    }
    // In melee too: 3 levies against 2 spearmen; 6 factors against 8, -2 by the charge.
    let combat = mahdist_attack(&[(MahdistSpearmen, 2)], &[(Levy, 3)]);
    for first in 2..=12 {
        assert_eq!(combat.modifier(Test::MeleeDefending, &[0, 0, first, 0]), Some(-2));
        assert_eq!(combat.resolve(&[0, 0, first, 2]).defending.force, Force::EMPTY, "4 destroyed of 3");
    }
}

// Who suffers (9.7, 9.8).

/// What is left of a force that is meleed by so many spearmen, untouched by fire, when its modified roll is `total`.
fn meleed(defending: Force, spearmen: u8, total: i32) -> Force {
    let combat = combat(Side::Mahdist, good(&[(MahdistSpearmen, spearmen)]), defending);
    let die = u8::try_from(total - melee(&combat, DEFENDING)).expect("a roll");
    assert!((2..=12).contains(&die), "{die}");
    combat.resolve(&[0, 0, 0, die]).defending.force
}

#[test]
fn results_in_units() {
    // Levies are rabble: fail below 6, shaken 6-7, hold 8-9, steady 10-11, good from 12. N = 3.
    let levies = good(&[(Levy, 20)]);
    let cases = [
        (5, force(&[(Levy, 8)], &[(Levy, 6)]), "6 destroyed, 6 disrupted"),
        (7, force(&[(Levy, 14)], &[(Levy, 3)]), "3 destroyed, 3 disrupted"),
        (9, force(&[(Levy, 17)], &[(Levy, 3)]), "3 disrupted"),
        (11, force(&[(Levy, 19)], &[(Levy, 1)]), "3/2 disrupted"),
        (12, levies, "nothing"),
    ];
    for (total, expected, what) in cases {
        assert_eq!(meleed(levies, 3, total), expected, "{what}");
    }
}

#[test]
fn losses_go_to_the_kind_that_has_taken_fewest() {
    // Shaken at 6, N = 2: 2 destroyed: levy, rifles; 2 disrupted: levy, rifles.
    assert_eq!(meleed(good(&[(Levy, 2), (RifleR, 2)]), 2, 6), force(&[], &[(Levy, 1), (RifleR, 1)]));
    // N = 3: destroyed levy, rifles, levy; disrupted rifles (1), then levy (2), then rifles (2): of 6 and 6.
    let units = good(&[(Levy, 6), (RifleR, 6)]);
    assert_eq!(meleed(units, 3, 6), force(&[(Levy, 3), (RifleR, 3)], &[(Levy, 1), (RifleR, 2)]));
    // Hold at 8, N = 3 on five levies and one rifles: levy, rifles, levy.
    assert_eq!(meleed(good(&[(Levy, 5), (RifleR, 1)]), 3, 8), force(&[(Levy, 3)], &[(Levy, 2), (RifleR, 1)]));
}

#[test]
fn destroyed_units_are_disrupted_ones_first() {
    // Shaken, N = 2, on 3 good and 1 disrupted: the disrupted one and a good one destroyed, the two others disrupted.
    assert_eq!(meleed(force(&[(Levy, 3)], &[(Levy, 1)]), 2, 6), force(&[], &[(Levy, 2)]));
    // Of any kind of the class: the disrupted rifles before good levies.
    let units = force(&[(Levy, 3)], &[(RifleR, 1)]);
    assert_eq!(meleed(units, 1, 6), force(&[(Levy, 2)], &[(Levy, 1)]));
}

#[test]
fn two_disruptions_eliminate_a_unit_once_none_is_in_good_order() {
    // Hold at 8 on one good and two disrupted levies.
    let units = force(&[(Levy, 1)], &[(Levy, 2)]);
    for (spearmen, left) in [(1, 3), (2, 2), (3, 1), (4, 0), (9, 0)] {
        assert_eq!(meleed(units, spearmen, 8), force(&[], &[(Levy, left)]), "{spearmen} disruptions");
    }
}

#[test]
fn classes_share_the_limit_of_the_worst_result() {
    // Total 9, N = 5: R hold (5), V steady (2): train takes 4, veterans 1.
    let units = good(&[(BritishInfantry, 6), (Supply, 1), (Camel, 1)]);
    assert_eq!(meleed(units, 5, 9), force(&[(BritishInfantry, 5)], &[(BritishInfantry, 1)]));
    // One train unit takes 2: of the 3 that are left the veterans take their own 2, no more.
    let units = good(&[(BritishInfantry, 6), (Supply, 1)]);
    assert_eq!(meleed(units, 5, 9), force(&[(BritishInfantry, 4)], &[(BritishInfantry, 2)]));
    // Three train units take all 5: the veterans nothing.
    let units = good(&[(BritishInfantry, 6), (Supply, 2), (Camel, 1)]);
    assert_eq!(meleed(units, 5, 9).good[BritishInfantry.index()], 6);
    // R fails (2N = 4 destroyed, 4 disrupted), V at 5 is shaken (2 and 2): the lone camel takes 1 of 8, the veterans
    // their own 4; what the camel could not absorb is not handed on.
    let units = good(&[(BritishInfantry, 9), (Camel, 1)]);
    assert_eq!(meleed(units, 2, 5), force(&[(BritishInfantry, 5)], &[(BritishInfantry, 2)]));
}

#[test]
fn equal_results_are_served_in_the_order_r_l_f_v() {
    // Total 7: L and V hold, N = 1, limit 1: the line takes it.
    let units = good(&[(BritishInfantry, 1), (RifleL, 1)]);
    assert_eq!(meleed(units, 1, 7), force(&[(BritishInfantry, 1)], &[(RifleL, 1)]));
    // Total 8: R and L hold: the rabble takes it.
    let units = good(&[(RifleL, 1), (Levy, 1)]);
    assert_eq!(meleed(units, 1, 8), force(&[(RifleL, 1)], &[(Levy, 1)]));
    // Mahdists at 8: R (gun) and F hold; two rifles L fire, N = 2 with limit 2: the lone gun takes both, and is gone.
    let combat = egyptian_attack(&[(RifleL, 2)], &[(MahdistSpearmen, 5), (MahdistGun, 1)]);
    assert_eq!(combat.resolve(&[0, 8, 0, 0]).defending.force, good(&[(MahdistSpearmen, 5)]));
}

#[test]
fn civilians_are_last_among_train() {
    let train = good(&[(Supply, 1), (Camel, 1), (Civilian, 1), (BritishInfantry, 4)]);
    // Total 9: R hold, V steady; the veterans take at most N/2 of what is left of N.
    let left = |spearmen| meleed(train, spearmen, 9);
    assert_eq!(left(2).disrupted[Civilian.index()], 0, "supply and camel take the two");
    assert_eq!(left(3).disrupted[Civilian.index()], 1);
    // The fourth and the fifth eliminate supply and camel, the sixth the civilians.
    assert_eq!((left(5).count(Supply), left(5).count(Camel), left(5).count(Civilian)), (0, 0, 1));
    assert_eq!(left(6).count(Civilian), 0);
    // A levy is no train: it takes its share before them, and they theirs after the camel.
    let units = good(&[(Levy, 1), (Camel, 1), (Civilian, 1)]);
    assert_eq!(meleed(units, 2, 8), force(&[(Civilian, 1)], &[(Levy, 1), (Camel, 1)]));
    // Where no other train is left they take their turn with the others.
    let units = good(&[(Levy, 3), (Civilian, 1)]);
    assert_eq!(meleed(units, 2, 8), force(&[(Levy, 2)], &[(Levy, 1), (Civilian, 1)]));
}

#[test]
fn gunboats_are_touched_by_destroyed_in_fire_after_their_class() {
    // Fanatics fire: +1. Roll 2: 3, fail; N = 2: 4 destroyed, 4 disrupted.
    let attack = |rifles, units: &[(Kind, u8)]| mahdist_attack(&[(MahdistRifles, rifles)], units);
    let end = attack(2, &[(RifleL, 1), (Gunboat, 2)]).resolve(&[0, 2, 0, 0]);
    assert_eq!((end.defending.force, end.defending.gunboats_lost), (Force::EMPTY, [2, 0]));
    assert_eq!(end.defending.start, 1, "vessels are not counted");
    // Shaken at 5 with N = 1: the rifles are the one destroyed; a disruption does not touch the boat.
    let end = attack(1, &[(RifleL, 1), (Gunboat, 2)]).resolve(&[0, 4, 0, 0]);
    assert_eq!((end.defending.force, end.defending.gunboats_lost), (good(&[(Gunboat, 2)]), [0, 0]));
    // Disruptions that outlast the land units do not either: hold at 7, N = 3: the rifles are gone by two.
    let end = attack(3, &[(RifleL, 1), (Gunboat, 2)]).resolve(&[0, 6, 0, 0]);
    assert_eq!(end.defending.force, good(&[(Gunboat, 2)]));
    // A class of gunboats alone suffers but is not listed: L and V fail, N = 1, limit 4: two rifles, one British boat.
    let combat = attack(1, &[(RifleL, 5), (BritishGunboat, 1)]);
    let reading = combat.reading(Test::FireDefending, &[0, 2, 0, 0]).expect("rolled");
    assert_eq!(reading.results, [None, Some(Morale::Fail), None, None]);
    // The line takes 4: 2 destroyed and 2 disrupted, all that the hex can lose; the boat is spared.
    let end = combat.resolve(&[0, 2, 0, 0]);
    assert_eq!(end.defending.force, force(&[(RifleL, 1), (BritishGunboat, 1)], &[(RifleL, 2)]));
    // With one rifles unit three are left, and V takes its own: the boat.
    let end = attack(1, &[(RifleL, 1), (BritishGunboat, 1)]).resolve(&[0, 2, 0, 0]);
    assert_eq!((end.defending.force, end.defending.gunboats_lost), (Force::EMPTY, [0, 1]));
    // Melee does not touch them: 4 destroyed, 4 disrupted and a fail for the rifle.
    let units = good(&[(RifleL, 1), (Gunboat, 1)]);
    assert_eq!(meleed(units, 2, 3), good(&[(Gunboat, 1)]));
}

#[test]
fn the_fleet_rolls_and_is_never_hit() {
    // Veterans -1, guns -1: roll 8 gives 6, shaken; N = 1: one destroyed, one disrupted.
    let combat = mahdist_attack(&[(MahdistSpearmen, 5)], &[(Levy, 1), (Fleet, 1)]);
    assert_eq!(fire(&combat, MARCHING), -2);
    let end = combat.resolve(&[8, 0, 0, 0]);
    assert_eq!(end.marching.force, force(&[(MahdistSpearmen, 3)], &[(MahdistSpearmen, 1)]));
    // In melee it does not count: N = 1 for the levy alone.
    assert_eq!(combat.resolve(&[12, 0, 2, 12]).marching.force, force(&[(MahdistSpearmen, 1)], &[(MahdistSpearmen, 2)]));
    // The worst of fire leaves it: fail, N = 2.
    let end = mahdist_attack(&[(MahdistRifles, 2)], &[(Levy, 1), (Fleet, 1)]).resolve(&[0, 2, 0, 0]);
    assert_eq!(end.defending.force, good(&[(Fleet, 1)]));
}

// The outcome (9.9).

#[test]
fn broken_at_exactly_half() {
    let broken = |defending: Force, spearmen, total| {
        let combat = combat(Side::Mahdist, good(&[(MahdistSpearmen, spearmen)]), defending);
        let modifier = combat.modifier(Test::MeleeDefending, &[0; 4]).expect("a melee");
        let end = combat.resolve(&[0, 0, 12, (total - modifier) as u8]);
        assert_eq!(end.winner, end.defending.broken.then_some(MARCHING));
        end.defending.broken
    };
    // Hold at 8: two disrupted.
    assert!(broken(good(&[(Levy, 4)]), 2, 8), "2 of 4");
    assert!(!broken(good(&[(Levy, 5)]), 2, 8), "2 of 5");
    // Those disrupted before are land units, but not losses of this combat.
    assert!(!broken(force(&[(Levy, 3)], &[(Levy, 2)]), 2, 8), "2 of 5, 4 disrupted");
    assert!(broken(force(&[(Levy, 2)], &[(Levy, 2)]), 2, 8), "2 of 4");
    // Train counts as well: supply and levy disrupted of four.
    assert!(broken(good(&[(Levy, 3), (Supply, 1)]), 2, 8));
    // Vessels do not.
    assert!(broken(good(&[(Levy, 4), (Boat, 4)]), 2, 8));
}

#[test]
fn those_disrupted_before_are_destroyed_first() {
    // Two good, two disrupted; shaken at 6, N = 1: the one destroyed is one of the old; one more is disrupted.
    let combat = combat(Side::Mahdist, good(&[(MahdistSpearmen, 1)]), force(&[(Levy, 2)], &[(Levy, 2)]));
    // 6 factors against 4: no odds, no charge.
    let end = combat.resolve(&[0, 0, 12, 6]);
    assert_eq!(end.defending.force, force(&[(Levy, 1)], &[(Levy, 2)]));
    assert_eq!(end.defending.destroyed, force(&[], &[(Levy, 1)]));
    assert_eq!(end.defending.newly_disrupted[Levy.index()], 1);
    assert!(end.defending.broken, "1 destroyed and 1 newly disrupted of 4");
}

#[test]
fn a_draw_if_both_are_broken_or_neither() {
    let combat = mahdist_attack(&[(MahdistSpearmen, 1)], &[(Levy, 2)]);
    assert_eq!(combat.resolve(&[0, 0, 2, 2]).winner, None, "both destroyed");
    // 4 factors against 4: -2. 12 - 2 is steady, but half of one is none.
    assert_eq!(combat.resolve(&[0, 0, 12, 12]).winner, None, "neither");
    assert_eq!(combat.resolve(&[0, 0, 12, 2]).winner, Some(MARCHING));
    assert_eq!(combat.resolve(&[0, 0, 2, 12]).winner, Some(DEFENDING));
}

// The exact odds.

/// Ways to throw a sum with two dice, 0 for what is none.
fn ways(sum: u8) -> u64 {
    match sum {
        2..=7 => u64::from(sum) - 1,
        8..=12 => 13 - u64::from(sum),
        _ => 0,
    }
}

/// All 14,641 sequences of rolls, one by one.
fn brute_force(combat: &Combat) -> HashMap<(Vec<u8>, Vec<u8>), u64> {
    let bytes = |force: &Force| [force.good, force.disrupted].concat();
    let mut weights = HashMap::new();
    for a in 2..=12 {
        for b in 2..=12 {
            for c in 2..=12 {
                for d in 2..=12 {
                    let end = combat.resolve(&[a, b, c, d]);
                    let key = (bytes(&end.marching.force), bytes(&end.defending.force));
                    *weights.entry(key).or_default() += ways(a) * ways(b) * ways(c) * ways(d);
                }
            }
        }
    }
    weights
}

fn assert_distribution_is_exact(combat: &Combat) {
    let bytes = |force: &Force| [force.good, force.disrupted].concat();
    let distribution = combat.distribution();
    let mut expected = brute_force(combat);
    for ending in distribution.endings() {
        let key = (bytes(&ending.marching.force), bytes(&ending.defending.force));
        assert_eq!(expected.remove(&key), Some(ending.weight), "each ending once, with its weight");
        assert_eq!(combat.next_test(&ending.dice), None, "its rolls end the combat");
        let end = combat.resolve(&ending.dice);
        assert_eq!((&end.marching, &end.defending), (ending.marching, ending.defending), "and lead to it");
        assert_eq!(end.winner, ending.winner());
    }
    assert!(expected.is_empty(), "{} endings are missing", expected.len());
    assert_eq!(distribution.endings().map(|e| e.weight).sum::<u64>(), TOTAL_WEIGHT);
}

#[test]
fn distribution_equals_brute_force() {
    let mut khartoum = mahdist_attack(
        &[(MahdistSpearmen, 12), (MahdistRifles, 2), (MahdistCavalry, 2), (MahdistGun, 2)],
        &[(RifleL, 5), (RifleR, 4), (EgyptianGun, 2), (Levy, 1), (Supply, 4), (Camel, 1), (Civilian, 1), (Gunboat, 7)],
    );
    khartoum.target = CombatHex { river: true, ..place(PlaceKind::Town) };
    khartoum.marching.tactical = 2;
    khartoum.marching.leader_use = LeaderUse::Melee;
    let el_teb = egyptian_attack(
        &[(BritishInfantry, 6), (BritishCavalry, 2), (BritishGun, 1), (NavalInfantry, 1), (Flag, 1), (Levy, 1)],
        &[(MahdistSpearmen, 10), (MahdistRifles, 1), (MahdistCavalry, 1)],
    );
    let no_fire = mahdist_attack(&[(MahdistSpearmen, 3)], &[(Levy, 4)]);
    let no_test = combat(Side::Mahdist, force(&[], &[(MahdistSpearmen, 2)]), force(&[], &[(Levy, 2)]));
    let worn = combat(
        Side::Egyptian,
        force(&[(RifleR, 3), (Camel, 1)], &[(RifleL, 3), (Supply, 1)]),
        force(&[(MahdistSpearmen, 2), (MahdistGun, 1)], &[(MahdistSpearmen, 4), (MahdistRifles, 1)]),
    );
    for combat in [abu_klea(), khartoum, el_teb, no_fire, no_test, worn] {
        assert_distribution_is_exact(&combat);
    }
}

#[test]
fn probabilities_by_hand() {
    // One levy attacks one spearman. No fire. MeleeMarching: N = 1; the levy is out by fail (R < 6: 2-5, 10/36) and
    // by shaken (6-7, 11/36), disrupted by hold (8-9, 9/36), untouched above (6/36): steady is half of one, none.
    // MeleeDefending: odds 4:2, +1; F fails below 6, so at 2-4 (6/36), shaken at 5 (4/36): destroyed in both;
    // hold 7-8 at 6-7 (11/36): disrupted; else untouched (15/36).
    let combat = egyptian_attack(&[(Levy, 1)], &[(MahdistSpearmen, 1)]);
    let odds = combat.distribution();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    close(odds.destroyed(MARCHING)[0], 15.0 / 36.0);
    close(odds.destroyed(MARCHING)[1], 21.0 / 36.0);
    close(odds.disrupted(MARCHING)[1], 9.0 / 36.0);
    close(odds.destroyed(DEFENDING)[1], 10.0 / 36.0);
    close(odds.disrupted(DEFENDING)[0], 25.0 / 36.0);
    // A side of one is broken when it loses anything: the levy 30/36, the spearman 21/36.
    close(odds.probability(Some(MARCHING)), 6.0 / 36.0 * 21.0 / 36.0);
    close(odds.probability(Some(DEFENDING)), 30.0 / 36.0 * 15.0 / 36.0);
    close(odds.probability(None), (30.0 * 21.0 + 6.0 * 15.0) / 1296.0);
}

#[test]
fn a_distribution_can_be_used_again() {
    let mut distribution = abu_klea().distribution();
    let combat = mahdist_attack(&[(MahdistSpearmen, 3)], &[(Levy, 4)]);
    combat.distribution_into(&mut distribution);
    assert_eq!(distribution, combat.distribution());
}

// Properties.

fn kinds_of(side: Side) -> Vec<Kind> {
    Kind::ALL.into_iter().filter(|kind| kind.side() == side).collect()
}

/// A force of one side with at least one land unit, up to `most` of a kind in good order and as many disrupted.
fn any_force(side: Side, most: u8) -> impl Strategy<Value = Force> {
    let counts = prop::collection::vec((0..=most, 0..=most, any::<bool>()), kinds_of(side).len());
    counts.prop_map(move |counts| {
        let mut force = Force::EMPTY;
        for (kind, (good, disrupted, there)) in kinds_of(side).into_iter().zip(counts) {
            if there {
                force.good[kind.index()] = good;
                force.disrupted[kind.index()] = if LAND.has(kind) { disrupted } else { 0 };
            }
        }
        if force.count_of(LAND) == 0 {
            let kind = if side == Side::Egyptian { Levy } else { MahdistSpearmen };
            force.good[kind.index()] = 1;
        }
        force
    })
}

fn any_hex() -> impl Strategy<Value = CombatHex> {
    let relief = prop::sample::select(vec![Relief::Flat, Relief::Hills, Relief::Mountain]);
    let places = vec![None, Some(PlaceKind::Town), Some(PlaceKind::Village), Some(PlaceKind::Oasis)];
    (relief, prop::sample::select(places), any::<bool>(), any::<bool>())
        .prop_map(|(relief, place, river, sea)| CombatHex { relief, place, river, sea })
}

fn any_combat(most: u8) -> impl Strategy<Value = Combat<'static>> {
    let leader = || (0..=2u8, prop::sample::select(vec![LeaderUse::None, LeaderUse::Fire, LeaderUse::Melee]));
    let forces = (any_force(Side::Egyptian, most), any_force(Side::Mahdist, most));
    (forces, any_hex(), any_hex(), leader(), leader(), any::<[bool; 3]>()).prop_map(
        |((egyptian, mahdist), target, from, (skill, used), (other_skill, other_used), [first, poor, flag])| {
            let (side, a, b) =
                if first { (Side::Egyptian, egyptian, mahdist) } else { (Side::Mahdist, mahdist, egyptian) };
            let mut combat = combat(side, a, b);
            combat.marching = Combatant { force: a, tactical: skill, leader_use: used };
            combat.defending = Combatant { force: b, tactical: other_skill, leader_use: other_used };
            (combat.target, combat.from) = (target, from);
            combat.poor_morale = poor;
            combat.options.flag = flag;
            combat
        },
    )
}

/// Most that a result may cost a class (9.7).
fn most(result: Morale, rolling: u32) -> u32 {
    match result {
        Morale::Fail => 4 * rolling,
        Morale::Shaken => 2 * rolling,
        Morale::Hold => rolling,
        Morale::Steady => rolling / 2,
        Morale::Good => 0,
    }
}

/// Units that have gone and units that were disrupted between two states, for kinds that `of` picks.
fn losses(before: &Force, after: &Force, of: impl Fn(Kind) -> bool) -> u32 {
    let kinds = Kind::ALL.into_iter().filter(|&kind| of(kind));
    kinds.map(|kind| before.count(kind) - after.count(kind) + disrupted_more(before, after, kind)).sum()
}

fn disrupted_more(before: &Force, after: &Force, kind: Kind) -> u32 {
    u32::from(after.disrupted[kind.index()].saturating_sub(before.disrupted[kind.index()]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// 9.7, 9.8: what one test costs, class by class and in all.
    #[test]
    fn no_class_loses_more_than_its_result_nor_the_hex_more_than_the_worst(
        combat in any_combat(6), role in prop::sample::select(vec![MARCHING, DEFENDING]), die in 2..=12u8,
    ) {
        let test = if role == MARCHING { Test::FireMarching } else { Test::FireDefending };
        let mut dice = [0; 4];
        dice[test as usize] = die;
        let side = |of: CombatRole| if of == MARCHING { &combat.marching.force } else { &combat.defending.force };
        let end = combat.resolve(&dice);
        let (tested, other) =
            if role == MARCHING { (end.marching, end.defending) } else { (end.defending, end.marching) };
        prop_assert_eq!(&other.force, side(role.other()), "the other side loses nothing");
        let Some(reading) = combat.reading(test, &dice) else {
            prop_assert_eq!(&tested.force, side(role));
            return Ok(());
        };
        let enemy = side(role.other());
        let rolling: u32 = Kind::ALL.into_iter()
            .filter(|&kind| kind == Fleet || COMBAT.has(kind) && Catalogue::builtin().of(kind).fire > 0)
            .map(|kind| u32::from(enemy.good[kind.index()]))
            .sum();
        for class in Class::ALL {
            if let Some(result) = reading.results[class as usize] {
                let lost = losses(side(role), &tested.force, |kind| LAND.has(kind) && combat.class(kind) == class);
                prop_assert!(lost <= most(result, rolling), "{class:?} {result:?} N = {rolling}: {lost}");
            }
        }
        // A class of gunboats alone has a result too, which the reading does not list: read it from the table.
        let boats = [Gunboat, BritishGunboat].into_iter().filter(|&boat| side(role).count(boat) > 0).map(|boat| {
            let class = combat.class(boat);
            let flag = if class == Class::V { 0 } else { reading.flag };
            Tables::builtin().morale(class, reading.total + flag)
        });
        let worst = reading.results.into_iter().flatten().chain(boats).min();
        let lost = losses(side(role), &tested.force, |kind| kind != Flag);
        prop_assert!(lost <= worst.map_or(0, |worst| most(worst, rolling)), "in all {lost}");
    }

    /// Units are good, disrupted or destroyed, and nothing else happens to them; vessels are never disrupted.
    #[test]
    fn units_are_conserved(combat in any_combat(8), dice in [2..=12u8, 2..=12, 2..=12, 2..=12]) {
        let end = combat.resolve(&dice);
        for (before, after) in [(&combat.marching.force, &end.marching), (&combat.defending.force, &end.defending)] {
            prop_assert_eq!(after.start, before.count_of(LAND));
            let mut lost = 0;
            for k in 0..KINDS {
                let kind = Kind::at(k);
                if LAND.has(kind) {
                    let destroyed = u32::from(after.destroyed.good[k]) + u32::from(after.destroyed.disrupted[k]);
                    prop_assert_eq!(after.force.count(kind) + destroyed, before.count(kind));
                    prop_assert!(after.force.good[k] <= before.good[k]);
                    prop_assert!(after.newly_disrupted[k] <= after.force.disrupted[k]);
                    prop_assert!(after.destroyed.disrupted[k] <= before.disrupted[k]);
                    lost += destroyed + u32::from(after.newly_disrupted[k]);
                } else {
                    prop_assert_eq!(after.force.disrupted[k], 0);
                    prop_assert_eq!(after.destroyed.good[k] + after.destroyed.disrupted[k], 0);
                }
            }
            prop_assert_eq!(after.broken, 2 * lost >= after.start);
            for kind in [Boat, MahdistBoat, Fleet] {
                prop_assert_eq!(after.force.count(kind), before.count(kind));
            }
            for (boat, lost) in [Gunboat, BritishGunboat].into_iter().zip(after.gunboats_lost) {
                prop_assert_eq!(after.force.count(boat) + u32::from(lost), before.count(boat));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_distribution_equals_brute_force(combat in any_combat(4)) {
        assert_distribution_is_exact(&combat);
    }
}

/// Counts far beyond the pool, as a battle file may give them, neither overflow nor take long.
#[test]
fn the_largest_forces_that_can_be_counted() {
    let all = |side| {
        let mut force = Force::EMPTY;
        for kind in kinds_of(side) {
            (force.good[kind.index()], force.disrupted[kind.index()]) =
                if LAND.has(kind) { (155, 100) } else { (255, 0) };
        }
        force
    };
    let combat = combat(Side::Mahdist, all(Side::Mahdist), all(Side::Egyptian));
    let distribution = combat.distribution();
    assert_eq!(distribution.endings().map(|e| e.weight).sum::<u64>(), TOTAL_WEIGHT);
    assert_eq!(combat.resolve(&[2; 4]).defending.start, 15 * 255);
}

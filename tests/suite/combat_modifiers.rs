//! The modifiers of combat (9.4, 9.41), each alone, with the flag (12.2) and poor morale (4.3). Totals are worked out by
//! hand from the rules; the arithmetic stands beside each case.

use dervish_env::dervish::board::{PlaceKind, Relief};
use dervish_env::dervish::catalogue::Kind::*;
use dervish_env::dervish::catalogue::{Catalogue, Class, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::rules::combat::{CombatHex, LeaderUse, Test};
use dervish_env::dervish::tables::Morale;

use crate::combat::{
    DEFENDING, MARCHING, combat, egyptian_attack, fire, force, good, mahdist_attack, melee, place, relief,
};

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

//! Combat (9.3-9.9, 9.13): the worked example, which tests are called for, who suffers and who has lost. Totals and losses
//! are worked out by hand from the rules; the arithmetic stands beside each case.

use dervish_env::dervish::board::{PlaceKind, Relief};
use dervish_env::dervish::catalogue::Kind::*;
use dervish_env::dervish::catalogue::{Catalogue, Class, Kind, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::rules::combat::{Combat, CombatHex, CombatRole, Combatant, Dice, LeaderUse, Test};
use dervish_env::dervish::scenario::{FanaticCharge, Options};
use dervish_env::dervish::tables::{Morale, Tables};

/// Units in good order and disrupted ones.
pub fn force(good: &[(Kind, u8)], disrupted: &[(Kind, u8)]) -> Force {
    let mut force = Force::EMPTY;
    for &(kind, count) in good {
        force.good[kind.index()] = count;
    }
    for &(kind, count) in disrupted {
        force.disrupted[kind.index()] = count;
    }
    force
}

pub fn good(units: &[(Kind, u8)]) -> Force {
    force(units, &[])
}

pub fn place(kind: PlaceKind) -> CombatHex {
    CombatHex { place: Some(kind), ..CombatHex::OPEN }
}

pub fn relief(relief: Relief) -> CombatHex {
    CombatHex { relief, ..CombatHex::OPEN }
}

/// A combat in the open, no leaders, the default options.
pub fn combat(marching_side: Side, marching: Force, defending: Force) -> Combat<'static> {
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
pub fn mahdist_attack(marching: &[(Kind, u8)], defending: &[(Kind, u8)]) -> Combat<'static> {
    combat(Side::Mahdist, good(marching), good(defending))
}

/// The Egyptian player's units march.
pub fn egyptian_attack(marching: &[(Kind, u8)], defending: &[(Kind, u8)]) -> Combat<'static> {
    combat(Side::Egyptian, good(marching), good(defending))
}

/// Modifier of a test of the fire round, which must be called for.
pub fn fire(combat: &Combat, role: CombatRole) -> i32 {
    let test = if role == CombatRole::Marching { Test::FireMarching } else { Test::FireDefending };
    combat.modifier(test, &[0; 4]).expect("the test is called for")
}

/// Modifier of a test of the melee round, when the fire round has cost nothing.
pub fn melee(combat: &Combat, role: CombatRole) -> i32 {
    let test = if role == CombatRole::Marching { Test::MeleeMarching } else { Test::MeleeDefending };
    combat.modifier(test, &[0; 4]).expect("the test is called for")
}

pub const MARCHING: CombatRole = CombatRole::Marching;
pub const DEFENDING: CombatRole = CombatRole::Defending;

// The worked example.

/// Abu Klea, 1 January 1885 (seed 002): 6 S and 1 rifles in an oasis, attacked by three Camel Corps units, the Sussex
/// Regiment, a camel and a supply unit under Stewart, who leads in melee.
pub fn abu_klea() -> Combat<'static> {
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

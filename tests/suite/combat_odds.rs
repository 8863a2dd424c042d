//! The exact odds of a combat, and what holds for any combat (9.3-9.9): against all sequences of rolls, by hand, and over
//! random forces.

use std::collections::HashMap;
use std::time::Duration;

use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{PlaceKind, Relief};
use dervish_env::dervish::catalogue::Kind::*;
use dervish_env::dervish::catalogue::{COMBAT, Catalogue, Class, KINDS, Kind, LAND, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::odds_speed::{OddsSpeed, measure_odds};
use dervish_env::dervish::rules::combat::{Combat, CombatHex, CombatRole, Combatant, LeaderUse, Test};
use dervish_env::dervish::rules::odds::TOTAL_WEIGHT;
use dervish_env::dervish::scenario::{FanaticCharge, Scenario};
use dervish_env::dervish::tables::{Morale, Tables};
use proptest::prelude::*;

use crate::combat::{DEFENDING, MARCHING, abu_klea, combat, egyptian_attack, force, mahdist_attack, place};

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

/// A search asks for the odds of every combat that it meets: those of random play shall take less than 50 µs on average when they
/// are new, and less than 1 µs when they are remembered. An optimised build takes a tenth of that (CHANGELOG, Speed), so
/// that a slower one passes; to roll all sequences one by one, or to work out what is remembered, does not. Of ten measurements
/// the fastest counts, since a busy machine slows the others down.
#[test]
fn odds_are_worked_out_and_remembered_in_microseconds() {
    let start = Campaign::new(Scenario::builtin("souakim").expect("built in"));
    // Without a budget every combat is worked out once and found once.
    let speeds = [(); 10].map(|()| measure_odds(&start, 1, Duration::ZERO).expect("combats"));
    assert!(speeds[0].combats >= 10 && speeds[0].endings > 1.0, "{speeds:?}");
    let fastest = |figure: fn(&OddsSpeed) -> f64| speeds.iter().map(figure).fold(f64::INFINITY, f64::min);
    let [new, known] = [fastest(|speed| speed.new_us), fastest(|speed| speed.known_us)];
    assert!(new < 50.0 && known < 1.0, "{new} µs new, {known} µs remembered");
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

fn force_of<'c>(combat: &'c mut Combat<'static>, role: CombatRole) -> &'c mut Force {
    if role == MARCHING { &mut combat.marching.force } else { &mut combat.defending.force }
}

/// The combat with one thing changed that bears on its odds, and all such changes one after another.
fn changed(combat: &Combat<'static>) -> Vec<Combat<'static>> {
    let mut all = Vec::new();
    let mut change = |change: &dyn Fn(&mut Combat<'static>)| {
        let mut other = combat.clone();
        change(&mut other);
        all.push(other);
    };
    change(&|c| c.poor_morale ^= true);
    change(&|c| c.options.flag ^= true);
    change(&|c| {
        c.options.fanatic_charge = match c.options.fanatic_charge {
            FanaticCharge::Always => FanaticCharge::Marching,
            FanaticCharge::Marching => FanaticCharge::Always,
        };
    });
    for use_of in [LeaderUse::None, LeaderUse::Fire, LeaderUse::Melee] {
        change(&|c| c.marching.leader_use = use_of);
        change(&|c| c.defending.leader_use = use_of);
    }
    change(&|c| c.marching.tactical += 1);
    change(&|c| c.defending.tactical += 1);
    change(&|c| c.target.river ^= true);
    change(&|c| c.from.river ^= true);
    change(&|c| c.target.sea ^= true);
    change(&|c| c.from.sea ^= true);
    for place in [None, Some(PlaceKind::Town), Some(PlaceKind::Village), Some(PlaceKind::Oasis)] {
        change(&|c| c.target.place = place);
        change(&|c| c.from.place = place);
    }
    for relief in [Relief::Flat, Relief::Hills, Relief::Mountain] {
        change(&|c| c.target.relief = relief);
        change(&|c| c.from.relief = relief);
    }
    for kind in Kind::ALL {
        for role in CombatRole::BOTH {
            // Another of a kind that is there, and one that is disrupted instead of in good order.
            if force_of(&mut combat.clone(), role).good[kind.index()] == 0 {
                continue;
            }
            change(&|c| force_of(c, role).good[kind.index()] += 1);
            if LAND.has(kind) {
                change(&|c| {
                    let force = force_of(c, role);
                    force.good[kind.index()] -= 1;
                    force.disrupted[kind.index()] += 1;
                });
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is remembered of a combat is of no other, however little they differ.
    #[test]
    fn remembered_odds_are_those_of_the_combat(combat in any_combat(2)) {
        prop_assert!(combat.with_distribution(|known| *known == combat.distribution()));
        for other in changed(&combat) {
            let exact = other.distribution();
            // Worked out, then remembered.
            for _ in 0..2 {
                prop_assert!(other.with_distribution(|known| *known == exact), "{:?} after {:?}", other, combat);
            }
        }
        prop_assert!(combat.with_distribution(|known| *known == combat.distribution()), "the first again");
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

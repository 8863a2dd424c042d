//! What a force brings to a round of combat, and the modifiers of its tests (9.4, 9.41, 9.5).

use crate::dervish::board::{PlaceKind, Relief};
use crate::dervish::catalogue::{COMBAT, Class, GUNBOATS, Kind, LAND, Side};
use crate::dervish::force::Force;
use crate::dervish::scenario::FanaticCharge;

use super::combat::{Combat, CombatHex, CombatRole, LeaderUse, Round, Test};

/// Full non-fanatic fire factors for one −1 (9.4).
const FIRE_FACTORS_PER_STEP: u32 = 6;
/// The −2 of testers meleed by fanatics (9.4).
const CHARGED: i32 = -2;
/// Highest modifier for odds, at 4:1 (9.4).
const BEST_ODDS: u32 = 3;

/// Sum of the modifiers of a test (9.4), the flag's left out. `strengths` by [`CombatRole`], counted before any loss
/// of the round.
pub(super) fn modifier(combat: &Combat, test: Test, strengths: &[Strength; 2]) -> i32 {
    let role = test.role();
    let testers = &strengths[role as usize];
    let enemy = &strengths[role.other() as usize];
    let round = match test.round() {
        Round::Fire => fire_modifier(combat, role, testers, enemy),
        Round::Melee => melee_modifier(combat, role, testers, enemy),
    };
    let combatant = combat.combatant(role);
    let leads = match test.round() {
        Round::Fire => combatant.leader_use == LeaderUse::Fire,
        Round::Melee => combatant.leader_use == LeaderUse::Melee,
    };
    let leader = if leads { i32::from(combatant.tactical) } else { 0 };
    let ground = if role == CombatRole::Defending { ground(&combat.target) } else { 0 };
    round + leader + ground
}

/// Modifiers of fire rolls only.
fn fire_modifier(combat: &Combat, role: CombatRole, testers: &Strength, firing: &Strength) -> i32 {
    let hex = combat.hex(role);
    let at_least_half = |units: u32| units > 0 && 2 * units >= firing.fire_units;
    let mut sum = 0;
    if at_least_half(firing.veterans_firing) {
        sum -= 1;
    }
    if at_least_half(firing.fanatics_or_rabble_firing) {
        sum += 1;
    }
    if firing.guns > 0 && firing.guns >= 2 * testers.guns {
        sum -= 1;
    }
    sum -= (firing.non_fanatic_fire / FIRE_FACTORS_PER_STEP) as i32;
    if firing.gunboats_fire && hex.river {
        sum -= 1;
    }
    // "In their own player turn" is when they march.
    if firing.fleet_fires && hex.sea && role == CombatRole::Marching && combat.side(role) == Side::Mahdist {
        sum -= 1;
    }
    sum
}

/// Modifiers of melee rolls only.
fn melee_modifier(combat: &Combat, role: CombatRole, testers: &Strength, enemy: &Strength) -> i32 {
    let mut sum = odds(testers.twice_melee, enemy.twice_melee);
    let charged = match combat.options.fanatic_charge {
        FanaticCharge::Marching => role == CombatRole::Defending,
        FanaticCharge::Always => true,
    };
    let fanatics = enemy.fanatic_melee;
    if charged && fanatics > 0 && 2 * fanatics >= testers.twice_melee {
        sum += CHARGED;
    }
    let broken_ground = [&combat.from, &combat.target]
        .into_iter()
        .any(|hex| hex.relief == Relief::Mountain || hex.place == Some(PlaceKind::Town));
    if !broken_ground && testers.cavalry > 0 && testers.cavalry >= 2 * enemy.cavalry {
        sum += 1;
    }
    sum
}

/// 2:1 +1, 3:1 +2, 4:1 or more +3; an enemy with nothing gives 4:1, testers with nothing get nothing (9.4, 9.41).
fn odds(testers: u32, enemy: u32) -> i32 {
    match testers {
        0 => 0,
        _ if enemy == 0 => BEST_ODDS as i32,
        _ => (testers / enemy).saturating_sub(1).min(BEST_ODDS) as i32,
    }
}

/// What the defender's hex gives him in both rounds: the better of terrain and place (9.4).
fn ground(hex: &CombatHex) -> i32 {
    let relief = match hex.relief {
        Relief::Flat => 0,
        Relief::Hills => 1,
        Relief::Mountain => 2,
    };
    let place = match hex.place {
        None => 0,
        Some(PlaceKind::Village | PlaceKind::Oasis) => 1,
        Some(PlaceKind::Town) => 2,
    };
    relief.max(place)
}

/// What a force brings to a round of combat. Disrupted units lend half their melee factor and nothing else (2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Strength {
    /// Land units, disrupted ones and train included.
    pub(super) land: u32,
    /// Whether anything can fire, gunboats included (9.3).
    pub(super) fires: bool,
    /// Rolling units in fire: good-order units and the fleet, able to fire; gunboats never count (9.5).
    pub(super) fire_units: u32,
    /// Those of `fire_units` of class V.
    veterans_firing: u32,
    /// Those of `fire_units` of class F or R.
    fanatics_or_rabble_firing: u32,
    /// Fire factors of classes other than F, gunboats and fleet included (9.41).
    non_fanatic_fire: u32,
    /// Gun factors, gunboats and fleet included (9.41).
    guns: u32,
    /// Whether a gunboat fires.
    gunboats_fire: bool,
    /// Whether the fleet fires.
    fleet_fires: bool,
    /// Rolling units in melee: good-order combat units (9.5).
    pub(super) melee_units: u32,
    /// Twice the combat factors, so that the half factors of disrupted units stay exact.
    twice_melee: u32,
    /// Melee factors of good-order fanatics.
    fanatic_melee: u32,
    /// Cavalry factors.
    cavalry: u32,
}

impl Strength {
    pub(super) fn of(combat: &Combat, force: &Force) -> Strength {
        let mut s = Strength::default();
        for kind in force.kinds_present().iter() {
            let data = combat.catalogue.of(kind);
            let class = combat.class(kind);
            let good = u32::from(force.good[kind.index()]);
            let disrupted = u32::from(force.disrupted[kind.index()]);
            let gunboat = GUNBOATS.has(kind);
            if LAND.has(kind) {
                s.land += good + disrupted;
            }
            if data.fire > 0 && good > 0 {
                s.fires = true;
                s.gunboats_fire |= gunboat;
                s.fleet_fires |= kind == Kind::Fleet;
                if !gunboat {
                    s.fire_units += good;
                    match class {
                        Class::V => s.veterans_firing += good,
                        Class::F | Class::R => s.fanatics_or_rabble_firing += good,
                        Class::L => {}
                    }
                }
                if class != Class::F {
                    s.non_fanatic_fire += good * u32::from(data.fire);
                }
            }
            s.guns += good * u32::from(data.gun);
            if COMBAT.has(kind) {
                let melee = u32::from(data.melee);
                s.melee_units += good;
                s.twice_melee += (2 * good + disrupted) * melee;
                if class == Class::F {
                    s.fanatic_melee += good * melee;
                }
                s.cavalry += good * u32::from(data.cavalry);
            }
        }
        s
    }

    /// The number of rolling units in a round, N of rule 9.7.
    pub(super) fn rolling(&self, round: Round) -> u32 {
        match round {
            Round::Fire => self.fire_units,
            Round::Melee => self.melee_units,
        }
    }
}

//! Combat (9) by its exact odds: whether to attack, how to use a leader, where to retreat, whether to advance.

use crate::doctrine::assessment::{Assessment, Threats};
use crate::doctrine::mission::Planner;
use dervish_env::dervish::board::{Hex, PlaceKind};
use dervish_env::dervish::catalogue::{COMBAT, Kind, LAND, Side};
use dervish_env::dervish::order::{Order, Verb};
use dervish_env::dervish::rules::combat::{Combat, CombatRole, LeaderUse, SideResult};
use dervish_env::dervish::rules::odds::{MergedCombat, TOTAL_WEIGHT};
use dervish_env::dervish::units::Cohort;
use dervish_env::game::Position;

/// Points that an attack of the group on `target` is worth, by the exact odds.
pub fn attack_worth(a: &Assessment, target: Hex) -> f32 {
    let mut begun = *a.position;
    begun.apply_legal(Order::Hex(target).action());
    if begun.battle().target != target {
        return f32::MIN;
    }
    let mut combat = begun.combat();
    combat.marching.leader_use = usual(combat.marching_side);
    combat.defending.leader_use = usual(combat.marching_side.other());
    outlook(a, &combat, CombatRole::Marching, target)
}

/// Points of a use of a leader for the side that is asked (9.2).
pub fn leader_score(a: &Assessment, role: CombatRole, verb: Verb) -> f32 {
    let mut combat = a.position.combat();
    let leader_use = match verb {
        Verb::Fire => LeaderUse::Fire,
        Verb::Melee => LeaderUse::Melee,
        _ => LeaderUse::None,
    };
    match role {
        CombatRole::Marching => {
            combat.marching.leader_use = leader_use;
            combat.defending.leader_use = usual(combat.marching_side.other());
        }
        CombatRole::Defending => combat.defending.leader_use = leader_use,
    }
    outlook(a, &combat, role, a.position.battle().target)
}

/// Spearmen must live through the fire; the Egyptian player's volleys come first, then his men must stand.
fn usual(side: Side) -> LeaderUse {
    match side {
        Side::Egyptian => LeaderUse::Melee,
        Side::Mahdist => LeaderUse::Fire,
    }
}

/// What the combat is worth to a part, over all dice.
fn outlook(a: &Assessment, combat: &Combat<'static>, role: CombatRole, target: Hex) -> f32 {
    let (kill, loss) = a.ferocity();
    let worth = |ending: MergedCombat<'_>| {
        let (own, enemy) = match role {
            CombatRole::Marching => (ending.marching, ending.defending),
            CombatRole::Defending => (ending.defending, ending.marching),
        };
        let mut points = kill * price(a, enemy) - loss * price(a, own);
        if ending.winner() == Some(CombatRole::Marching) || ending.defending.force.count_of(COMBAT) == 0 {
            points += match role {
                CombatRole::Marching => a.swing_at(target) + a.relief(target),
                CombatRole::Defending => -a.worth_at(target),
            };
        }
        points * ending.weight as f32 / TOTAL_WEIGHT as f32
    };
    combat.with_distribution(|distribution| distribution.endings().map(worth).sum())
}

/// What a side has lost.
fn price(a: &Assessment, side: &SideResult) -> f32 {
    let mut points = 0.0;
    for kind in side.destroyed.kinds_present().iter() {
        points += side.destroyed.count(kind) as f32 * a.unit_worth(kind);
    }
    for kind in Kind::ALL {
        let n = side.newly_disrupted[kind.index()];
        if n > 0 {
            points += a.weights.stakes.shaken * f32::from(n) * a.unit_worth(kind);
        }
    }
    points
}

impl Planner<'_, '_> {
    /// Points of a hex to retreat to (9.9).
    pub fn retreat_score(&mut self, hex: Hex) -> f32 {
        let a = self.assessment;
        let battle = a.position.battle();
        let marching = a.side == a.position.active();
        let from = if marching { a.position.group().hex } else { battle.target };
        let party = a.party_of(from, true, |c| LAND.has(c.kind()) && (!marching || c.grouped()));
        let march = &a.weights.march;
        let friends = a.own_at(hex).map_or(0, |s| s.party.good.min(march.retreat_friends)) as f32;
        let shelter = match a.board().place_kind(hex) {
            Some(PlaceKind::Town) => 2.0,
            Some(_) => 1.0,
            None => 0.0,
        };
        march.retreat_friend * friends + march.retreat_shelter * shelter
            - Threats::to(a, &party).at(a, hex)
            - a.hunger(hex, &party)
    }

    /// Points of advancing into the target after a combat, against staying (9.9).
    pub fn advance_score(&mut self, verb: Verb) -> f32 {
        let a = self.assessment;
        let battle = a.position.battle();
        let from = a.position.group().hex;
        let party = a.group();
        let mut threats = Threats::to(a, &party);
        if verb == Verb::No {
            return self.residence(from, &party, &mut threats, from);
        }
        let left = a.party_of(from, false, |c: Cohort| !c.grouped()).good;
        let held = a.position.controls_at(a.side, from) && left == 0 && a.side == Side::Egyptian;
        let given_up = if held { a.worth_at(from) } else { 0.0 };
        self.residence(battle.target, &party, &mut threats, from) + self.capture(battle.target, &party) - given_up
    }
}

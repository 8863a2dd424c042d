//! What a party is to do: the aim that is worth most, weighed by how long it takes to get there.

use crate::doctrine::assessment::{Assessment, Party, Stack, Threats};
use crate::doctrine::travel::{Travel, UNREACHABLE};
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{COMBAT, Class, Kind, LAND, Side, TRAIN};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::scenario::Victory;

/// Units that a besieged place feeds on the worst roll (10.3).
const FED_IN_SIEGE: u32 = 4;
/// Months by which an aim that is not reached now is put off, on average, beyond the way to it.
const DELAY: f32 = 0.5;
/// Enemies within so many hexes are a threat to a place.
pub const THREAT: u32 = 8;

/// An aim.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mission {
    /// Where.
    pub target: Hex,
    /// Points for doing it on arrival: storming or taking the target, joining who stands there.
    pub now: f32,
    /// Points for being there and waiting: starving it out.
    pub later: f32,
}

impl Mission {
    /// Nothing to do but to stay.
    pub fn stay(hex: Hex) -> Mission {
        Mission { target: hex, now: 0.0, later: 0.0 }
    }
}

/// The best mission so far, with its worth where the party stands.
struct Best {
    mission: Mission,
    worth: f32,
}

/// Finds missions and judges hexes for the stacks of one side.
pub struct Planner<'a, 'p> {
    /// The board.
    pub assessment: &'a Assessment<'p>,
    /// Distances.
    pub travel: &'a mut Travel,
}

impl Planner<'_, '_> {
    /// Points that lie so many months ahead.
    fn after(&self, points: f32, months: f32) -> f32 {
        let a = self.assessment;
        let foresight = match a.side {
            Side::Egyptian => a.weights.egyptian.foresight,
            Side::Mahdist => a.weights.mahdist.foresight,
        };
        let horizon = foresight.min(f32::from(a.turns_left) + 1.0);
        let patience = a.weights.march.patience;
        if months >= horizon { 0.0 } else { points * patience.powf(months) * (1.0 - months / horizon) }
    }

    /// Months from hex to hex at the usual pace.
    fn months(&mut self, from: Hex, aim: Hex) -> Option<f32> {
        let a = self.assessment;
        let cost = self.travel.cost(a.position.scenario(), a.side, from, aim);
        (cost != UNREACHABLE).then_some(f32::from(cost) / a.weights.march.pace)
    }

    /// Worth of a mission to a party in `hex`. It can be fulfilled at once where the party stands in the target, or next
    /// to it and is `ready` to attack; else next month at the earliest. A siege is laid from any neighbour (6.4).
    pub fn worth(&mut self, mission: &Mission, hex: Hex, ready: bool) -> f32 {
        if mission.now <= 0.0 && mission.later <= 0.0 {
            return 0.0;
        }
        let Some(months) = self.months(hex, mission.target) else { return 0.0 };
        let there = hex == mission.target || (ready && touches(self.assessment, hex, mission.target));
        let wait = if there { 0.0 } else { DELAY + months };
        let besieges = self.assessment.board().cell(hex).neighbours.contains(&mission.target);
        let siege = if besieges { months } else { DELAY + months };
        self.after(mission.now, wait).max(self.after(mission.later, siege))
    }

    /// The best mission of a party in `from`.
    pub fn mission(&mut self, from: Hex, party: &Party) -> Mission {
        self.mission_after(from, party, Hex::NONE)
    }

    /// The best mission once the enemy stack in `done` has been dealt with.
    pub fn mission_after(&mut self, from: Hex, party: &Party, done: Hex) -> Mission {
        let mut best = Best { mission: Mission::stay(from), worth: 0.0 };
        self.consider_muster(from, party, &mut best);
        if party.good() == 0 {
            return best.mission;
        }
        let a = self.assessment;
        for place in &a.board().places {
            let swing = a.swing_at(place.hex);
            let held = a.enemy_at(place.hex).is_some_and(|s| s.party.force.count_of(COMBAT) > 0);
            if swing > 0.0 && !held && self.is_nearest(from, place.hex) {
                self.consider(from, Mission { target: place.hex, now: swing, later: 0.0 }, &mut best);
            }
        }
        for target in a.enemy.iter().filter(|s| s.hex != done && s.party.force.count_of(COMBAT) > 0) {
            let Some(months) = self.months(from, target.hex) else { continue };
            // Most that can be had there.
            let most = a.swing_at(target.hex).max(a.worth_at(target.hex))
                + 2.0 * a.mean_worth(&target.party.force) * target.party.force.count_of(LAND) as f32
                + 1.0;
            if self.after(most, months) <= best.worth {
                continue;
            }
            let mission = self.assault(party, from, target);
            self.consider(from, mission, &mut best);
        }
        self.consider_prize(from, party, &mut best);
        best.mission
    }

    fn consider(&mut self, from: Hex, mission: Mission, best: &mut Best) {
        let worth = self.worth(&mission, from, true);
        if worth > best.worth {
            *best = Best { mission, worth };
        }
    }

    /// Storming an enemy stack, or starving it and storming what is left.
    fn assault(&self, party: &Party, from: Hex, target: &Stack) -> Mission {
        let a = self.assessment;
        let adjacent = a.board().cell(from).neighbours.contains(&target.hex);
        let from = adjacent.then_some(from);
        let now = a.attack_worth(&a.attack(party, from, target), party, target);
        let mut later = 0.0;
        let souakim = a.position.scenario().named.souakim;
        let cell = a.board().cell(target.hex);
        let hungry = target.party.force.count_of(LAND) + target.party.force.count(Kind::Civilian) > FED_IN_SIEGE;
        if a.side == Side::Mahdist && cell.place.is_some() && cell.place != souakim && hungry && a.turns_left > 0 {
            let starved = Stack { hex: target.hex, party: starved(&target.party, a) };
            let worth = a.attack_worth(&a.attack(party, from, &starved), party, &starved);
            later = a.weights.mahdist.invest * worth;
        }
        Mission { target: target.hex, now: now.max(0.0), later: later.max(0.0) }
    }

    /// Scenario 2: the British must stand in the prize at the end (14.2).
    fn consider_prize(&mut self, from: Hex, party: &Party, best: &mut Best) {
        let a = self.assessment;
        let Victory::Khartoum { prize, .. } = &a.position.scenario().victory else { return };
        let target = a.board().places[usize::from(prize.0)].hex;
        if a.side != Side::Egyptian || party.british() == 0 || from == target {
            return;
        }
        let Some(months) = self.months(from, target) else { return };
        let strong = party.british() >= a.weights.egyptian.march_early;
        if strong || months + 2.0 > f32::from(a.turns_left) {
            let held = a.enemy_at(target).is_some_and(|s| s.party.good() > 0);
            let share = if held { 0.3 } else { 0.8 };
            self.consider(from, Mission { target, now: share * a.worth(*prize), later: 0.0 }, best);
        }
    }

    /// Joining a stronger stack.
    fn consider_muster(&mut self, from: Hex, party: &Party, best: &mut Best) {
        let a = self.assessment;
        let weight = match a.side {
            Side::Egyptian => a.weights.egyptian.muster,
            Side::Mahdist => a.weights.mahdist.muster,
        };
        let strength = |p: &Party| p.good() + 3 * u32::from(p.strategic);
        let here = a.own_at(from).map_or(strength(party), |s| strength(&s.party)).max(strength(party));
        let units = party.force.count_of(LAND).clamp(1, 8) as f32;
        let mean = a.mean_worth(&party.force).max(a.unit_worth(Kind::Camel));
        for stack in &a.own {
            let kindred = a.side == Side::Mahdist || stack.party.british() > 0 || party.british() == 0;
            let stronger = (strength(&stack.party), stack.hex) > (here, from);
            if stack.hex != from && stronger && kindred {
                let bonus = 1.0 + 0.02 * strength(&stack.party) as f32;
                let now = weight * units * mean * bonus;
                self.consider(from, Mission { target: stack.hex, now, later: 0.0 }, best);
            }
        }
    }

    /// Whether no other stack of this side that could go is nearer to a place.
    fn is_nearest(&mut self, from: Hex, place: Hex) -> bool {
        let a = self.assessment;
        let field = self.travel.towards(a.position.scenario(), a.side, place);
        let own = (field[from.index()], from);
        own.0 != UNREACHABLE
            && a.own.iter().filter(|s| s.hex != from && a.is_free(s)).all(|s| (field[s.hex.index()], s.hex) > own)
    }

    /// What it is worth to a party to end the month in `hex`, its mission aside.
    pub fn residence(&self, hex: Hex, party: &Party, threats: &mut Threats, from: Hex) -> f32 {
        let a = self.assessment;
        let others = if hex == from { None } else { a.own_at(hex) };
        let stays_behind = a.own_at(from).is_some_and(|s| s.party.good() > party.good());
        let (danger, hold) = match a.side {
            Side::Egyptian => (a.weights.egyptian.danger, a.weights.egyptian.hold),
            Side::Mahdist => (a.weights.mahdist.danger, a.weights.mahdist.hold),
        };
        let mut points = match others {
            Some(stack) => {
                let together = party.with(&stack.party);
                a.hunger(hex, &stack.party) - a.hunger(hex, &together) - danger * Threats::to(a, &together).at(a, hex)
            }
            None => -a.hunger(hex, party) - danger * threats.at(a, hex),
        };
        let disrupted = party.force.disrupted_of(LAND);
        if disrupted > 0 {
            points -= disrupted as f32 * a.mean_worth(&party.force) * a.toll(hex, party.strategic);
        }
        let alone = if hex == from { !stays_behind } else { others.is_none_or(|s| s.party.good() == 0) };
        if party.good() > 0 && alone && a.position.controls_at(a.side, hex) && a.enemy_distance(hex) <= THREAT {
            points += hold * a.worth_at(hex);
        }
        points
    }

    /// Points for the place in a hex that a party with combat units takes by ending a move there (6.3).
    pub fn capture(&self, hex: Hex, party: &Party) -> f32 {
        let a = self.assessment;
        let held = a.enemy_at(hex).is_some_and(|s| s.party.force.count_of(COMBAT) > 0);
        if held || party.force.count_of(COMBAT) == 0 {
            return 0.0;
        }
        let train = a.enemy_at(hex).map_or(0.0, |s| {
            s.party
                .force
                .kinds_present()
                .and(TRAIN)
                .iter()
                .map(|k| s.party.force.count(k) as f32 * a.unit_worth(k))
                .sum()
        });
        a.swing_at(hex) + train
    }
}

/// What hunger leaves of a garrison, by the order of 10.4.
fn starved(party: &Party, a: &Assessment) -> Party {
    let mut room = FED_IN_SIEGE + u32::from(party.force.count(Kind::Supply) > 0) * 2;
    let mut left = Party { force: Force::EMPTY, ..*party };
    let class = |kind: Kind| a.position.scenario().catalogue.of(kind).class;
    let rank = |kind: Kind| match kind {
        Kind::Civilian => 0,
        Kind::Supply => 2,
        Kind::Camel => 3,
        _ if class(kind) == Class::R => 4,
        _ => 1,
    };
    for wanted in 0..=4 {
        for kind in party.force.kinds_present().iter() {
            let k = kind.index();
            if !LAND.has(kind) {
                left.force.good[k] = party.force.good[k];
                continue;
            }
            if rank(kind) != wanted {
                continue;
            }
            let size = if kind == Kind::Civilian { 2 } else { 1 };
            let good = u32::from(party.force.good[k]).min(room / size);
            let disrupted = u32::from(party.force.disrupted[k]).min(room / size - good);
            left.force.good[k] = good as u8;
            left.force.disrupted[k] = disrupted as u8;
            room -= (good + disrupted) * size;
        }
    }
    left
}

/// Whether two hexes are neighbours with no river between, so that one can be attacked from the other (8.5).
pub fn touches(a: &Assessment, hex: Hex, other: Hex) -> bool {
    let cell = a.board().cell(hex);
    (0..6).any(|d| cell.neighbours[d] == other && cell.rivers >> d & 1 == 0)
}

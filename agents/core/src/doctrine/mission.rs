//! What a party is to do: the aim that is worth most, weighed by how long it takes to get there.

use crate::doctrine::assessment::{Assessment, Threats};
use crate::doctrine::engagement::Array;
use crate::doctrine::march::Proposal;
use crate::doctrine::party::{Party, Stack};
use crate::doctrine::patience::Patience;
use crate::doctrine::travel::{Approach, Travel, UNREACHABLE};
use crate::doctrine::weights::Weights;
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{Class, Kind, LAND, Side, TRAIN};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::scenario::Victory;
use dervish_env::game::Action;

/// An aim.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mission {
    /// Where.
    pub target: Hex,
    /// Points for doing it on arrival: storming or taking the target, joining who stands there.
    pub now: f32,
    /// Points for being there and waiting: starving it out.
    pub later: f32,
    /// Points for being there when the game ends.
    pub last: f32,
}

impl Mission {
    /// Nothing to do but to stay.
    pub fn stay(hex: Hex) -> Mission {
        Mission { target: hex, now: 0.0, later: 0.0, last: 0.0 }
    }

    /// The most that it can bring.
    pub fn most(&self) -> f32 {
        self.now.max(self.later).max(self.last)
    }
}

/// The best mission so far, with its worth where the party stands.
struct Best {
    mission: Mission,
    worth: f32,
}

/// A place that stands empty and is to be had, or to be kept, for the marching, and who is nearest to it.
#[derive(Clone, Copy, Debug)]
pub struct OpenPlace {
    hex: Hex,
    /// What it is worth to go there.
    swing: f32,
    /// Movement points and hex of the two nearest stacks that are free to go.
    nearest: [(u16, Hex); 2],
}

/// A place of one's own that counts and has too few to hold it.
#[derive(Clone, Copy, Debug)]
pub struct WeakPlace {
    hex: Hex,
    garrison: Party,
    /// Probability that it falls to the next attack.
    risk: f32,
    /// What holding it is worth.
    worth: f32,
}

/// What planning writes on, kept from one question to the next so that none allocates. Distances and discounts follow
/// from the scenario and the month alone; everything else is written anew for each question.
#[derive(Clone, Debug)]
pub struct Notes {
    pub(super) travel: Travel,
    pub(super) patience: Patience,
    open: Vec<OpenPlace>,
    weak: Vec<WeakPlace>,
    /// For each enemy stack that the Mahdist could starve: what hunger will leave of it.
    starved: Vec<Option<Stack>>,
    pub(super) proposals: Vec<Proposal>,
    pub(super) actions: Vec<Action>,
    pub(super) moves: Vec<(f32, Hex)>,
}

impl Notes {
    /// Blank notes.
    pub fn new(weights: &Weights) -> Notes {
        Notes {
            travel: Travel::new(weights),
            patience: Patience::default(),
            open: Vec::new(),
            weak: Vec::new(),
            starved: Vec::new(),
            proposals: Vec::new(),
            actions: Vec::new(),
            moves: Vec::new(),
        }
    }
}

/// Finds missions and judges hexes for the stacks of one side.
pub struct Planner<'a, 'p> {
    /// The board.
    pub assessment: &'a Assessment<'p>,
    pub(super) notes: &'a mut Notes,
    /// Whether the open places of this question have been noted.
    surveyed: bool,
}

impl<'a, 'p> Planner<'a, 'p> {
    /// Plans for the side that the assessment is made for.
    pub fn new(assessment: &'a Assessment<'p>, notes: &'a mut Notes) -> Planner<'a, 'p> {
        notes.patience.begin(assessment.weights, assessment.side, assessment.turns_left);
        Planner { assessment, notes, surveyed: false }
    }

    /// Movement points from hex to hex; `None` where there is no way.
    pub fn cost(&mut self, from: Hex, aim: Hex) -> Option<u16> {
        self.cost_by(from, aim, Approach::Enter)
    }

    /// The same to where an enemy in `aim`, if there is one, can be attacked.
    fn storm_cost(&mut self, from: Hex, aim: Hex) -> Option<u16> {
        let held = self.assessment.enemy_at(aim).is_some_and(|s| s.party.combat > 0);
        self.cost_by(from, aim, if held { Approach::Storm } else { Approach::Enter })
    }

    fn cost_by(&mut self, from: Hex, aim: Hex, approach: Approach) -> Option<u16> {
        let a = self.assessment;
        let cost = self.notes.travel.cost(a.position.scenario(), a.side, from, aim, approach);
        (cost != UNREACHABLE).then_some(cost)
    }

    /// Worth of a mission to a party in `hex`. It can be fulfilled at once where the party stands in the target, or next
    /// to it and is `ready` to attack; else next month at the earliest.
    pub fn worth(&mut self, mission: &Mission, hex: Hex, ready: bool) -> f32 {
        if mission.most() <= 0.0 {
            return 0.0;
        }
        let next = touches(self.assessment, hex, mission.target);
        let there = hex == mission.target || (ready && next);
        let mut worth: f32 = 0.0;
        if there {
            worth = mission.now * self.notes.patience.prompt(0);
        } else if mission.now > 0.0
            && let Some(cost) = self.storm_cost(hex, mission.target)
        {
            // What is not done at once when it could be is seldom done later.
            let put_off = if next { self.assessment.weights.march.put_off } else { 1.0 };
            worth = put_off * mission.now * self.notes.patience.delayed(cost);
        }
        // Hunger works whoever lays the siege, and what it is worth to lay it counts apart.
        if mission.later > 0.0
            && let Some(cost) = self.cost(hex, mission.target)
        {
            worth = worth.max(mission.later * self.notes.patience.prompt(cost));
        }
        if mission.last > 0.0
            && let Some(cost) = self.cost(hex, mission.target)
        {
            worth = worth.max(mission.last * self.notes.patience.timed(cost));
        }
        worth
    }

    /// The most that a mission can be worth to a party in `hex` after a move of so many movement points.
    pub fn worth_within(&mut self, mission: &Mission, hex: Hex, movement: u16) -> f32 {
        let Some(cost) = self.cost(hex, mission.target) else { return 0.0 };
        // One adjacent hex always, a target attacked from the next one (8.3, 8.5).
        let left = cost.saturating_sub(movement.max(1) + 1);
        let patience = &self.notes.patience;
        if left == 0 {
            return mission.most();
        }
        let soon = (mission.now * patience.delayed(left)).max(mission.later * patience.prompt(left));
        soon.max(mission.last * patience.timed(left))
    }

    /// The best mission of a party in `from`.
    pub fn mission(&mut self, from: Hex, party: &Party) -> Mission {
        self.mission_after(from, party, Hex::NONE)
    }

    /// The best mission once the enemy stack in `done` has been dealt with.
    pub fn mission_after(&mut self, from: Hex, party: &Party, done: Hex) -> Mission {
        let mut best = Best { mission: Mission::stay(from), worth: 0.0 };
        let a = self.assessment;
        self.consider_muster(from, party, &mut best);
        if a.side == Side::Egyptian {
            self.consider_feeding(from, party, &mut best);
        }
        if party.good == 0 {
            return best.mission;
        }
        self.survey();
        for i in 0..self.notes.open.len() {
            let OpenPlace { hex, swing, nearest: [first, second] } = self.notes.open[i];
            let rival = if first.1 == from { second } else { first };
            let own = (self.cost(from, hex).unwrap_or(UNREACHABLE), from);
            if own.0 != UNREACHABLE && rival > own {
                self.consider(from, Mission { target: hex, now: swing, later: 0.0, last: 0.0 }, &mut best);
            }
        }
        let attackers = party.assailants(a.position, a.side);
        for (i, target) in a.enemy().iter().enumerate().filter(|(_, s)| s.hex != done && s.party.combat > 0) {
            let Some(cost) = self.cost(from, target.hex) else { continue };
            // Most that can be had there.
            let most = a.swing_at(target.hex).max(a.worth_at(target.hex))
                + 2.0 * target.party.mean() * target.party.land as f32
                + 1.0;
            if most * self.notes.patience.prompt(cost) <= best.worth {
                continue;
            }
            let mut mission = assault(a, party, &attackers, from, target, self.notes.starved[i].as_ref());
            if a.side == Side::Mahdist && !self.is_invested(target.hex, party, from) {
                mission.later = mission.later.max(a.siege_yield(target));
            }
            self.consider(from, mission, &mut best);
        }
        self.consider_holding(from, party, &mut best);
        self.consider_prize(from, party, &mut best);
        best.mission
    }

    /// Notes the places that are to be had for the marching.
    fn survey(&mut self) {
        if self.surveyed {
            return;
        }
        self.surveyed = true;
        self.survey_weak();
        let a = self.assessment;
        self.notes.starved.clear();
        self.notes.starved.extend(a.enemy().iter().map(|stack| starved(a, stack)));
        self.notes.open.clear();
        for place in &a.board().places {
            let held =
                || [a.own_at(place.hex), a.enemy_at(place.hex)].into_iter().flatten().any(|s| s.party.combat > 0);
            let mut swing = a.swing_at(place.hex);
            if swing <= 0.0 && a.worth_at(place.hex) >= a.weights.march.guard {
                // One's own, left without a garrison.
                swing = a.hold() * a.worth_at(place.hex);
            }
            if swing <= 0.0 || held() {
                continue;
            }
            let field = self.notes.travel.towards(a.position.scenario(), a.side, place.hex, Approach::Enter);
            let mut nearest = [(UNREACHABLE, Hex::NONE); 2];
            for stack in a.own().iter().filter(|s| a.is_free(s)) {
                let this = (field[stack.hex.index()], stack.hex);
                if this < nearest[0] {
                    nearest = [this, nearest[0]];
                } else if this < nearest[1] {
                    nearest[1] = this;
                }
            }
            self.notes.open.push(OpenPlace { hex: place.hex, swing, nearest });
        }
    }

    /// Notes the places of one's own that have too few to hold them.
    fn survey_weak(&mut self) {
        let a = self.assessment;
        self.notes.weak.clear();
        for garrison in a.own().iter().filter(|s| s.party.good > 0 && a.is_key(s.hex)) {
            let risk = a.risk(garrison.hex, &garrison.party);
            let worth = a.hold() * a.worth_at(garrison.hex);
            if risk > 0.0 {
                self.notes.weak.push(WeakPlace { hex: garrison.hex, garrison: garrison.party, risk, worth });
            }
        }
    }

    /// Joining a garrison that is too weak.
    fn consider_holding(&mut self, from: Hex, party: &Party, best: &mut Best) {
        for i in 0..self.notes.weak.len() {
            let WeakPlace { hex, garrison, risk, worth } = self.notes.weak[i];
            let Some(cost) = self.cost(from, hex) else { continue };
            if hex == from || risk * worth * self.notes.patience.prompt(cost) <= best.worth {
                continue;
            }
            let left = self.assessment.risk(hex, &party.with(&garrison));
            let now = worth * (risk - left);
            self.consider(from, Mission { target: hex, now, later: 0.0, last: 0.0 }, best);
        }
    }

    fn consider(&mut self, from: Hex, mission: Mission, best: &mut Best) {
        let worth = self.worth(&mission, from, true);
        if worth > best.worth {
            *best = Best { mission, worth };
        }
    }

    /// Scenario 2: the British must stand in the prize at the end (14.2).
    fn consider_prize(&mut self, from: Hex, party: &Party, best: &mut Best) {
        let a = self.assessment;
        let Victory::Khartoum { prize, .. } = &a.position.scenario().victory else { return };
        let target = a.board().places[usize::from(prize.0)].hex;
        if a.side != Side::Egyptian || party.british == 0 || from == target {
            return;
        }
        let Some(cost) = self.cost(from, target) else { return };
        let e = &a.weights.egyptian;
        let strong = party.british >= e.flying;
        if strong || self.notes.patience.months(cost) + e.march_late > f32::from(a.turns_left) {
            let held = a.enemy_at(target).is_some_and(|s| s.party.good > 0);
            let share = if held { e.prize_held } else { e.prize_open };
            self.consider(from, Mission { target, now: 0.0, later: 0.0, last: share * a.worth(*prize) }, best);
        }
    }

    /// Bringing supply to a garrison that starves (10.2).
    fn consider_feeding(&mut self, from: Hex, party: &Party, best: &mut Best) {
        let a = self.assessment;
        let carried = party.force.count(Kind::Supply).min(party.force.count(Kind::Camel));
        if carried == 0 {
            return;
        }
        for stack in a.own().iter().filter(|s| s.hex != from && s.party.force.count(Kind::Supply) == 0) {
            let now = a.weights.egyptian.feed * a.attrition(stack.hex, &stack.party);
            if now > 0.0 {
                self.consider(from, Mission { target: stack.hex, now, later: 0.0, last: 0.0 }, best);
            }
        }
    }

    /// Joining a stronger stack.
    fn consider_muster(&mut self, from: Hex, party: &Party, best: &mut Best) {
        let a = self.assessment;
        let weight = match a.side {
            Side::Egyptian => a.weights.egyptian.muster,
            Side::Mahdist => a.weights.mahdist.muster,
        };
        let march = &a.weights.march;
        let strength = |p: &Party| p.good + march.lead * u32::from(p.strategic);
        let here = a.own_at(from).map_or(strength(party), |s| strength(&s.party)).max(strength(party));
        let units = party.land.clamp(1, march.crowd_units) as f32;
        let mean = party.mean().max(a.unit_worth(Kind::Camel));
        for stack in a.own() {
            let kindred = a.side == Side::Mahdist || stack.party.british > 0 || party.british == 0;
            let stronger = (strength(&stack.party), stack.hex) > (here, from);
            if stack.hex != from && stronger && kindred {
                let bonus = 1.0 + march.crowd * strength(&stack.party) as f32;
                let now = weight * units * mean * bonus;
                self.consider(from, Mission { target: stack.hex, now, later: 0.0, last: 0.0 }, best);
            }
        }
    }

    /// What it is worth to a party out of `from` to end the month in `hex`, its mission aside: what that changes for it
    /// and for those who are with it there.
    pub fn residence(&self, hex: Hex, party: &Party, threats: &mut Threats, from: Hex) -> f32 {
        let a = self.assessment;
        let others = a.own_at(hex).map(|s| if hex == from { s.party.without(party) } else { s.party });
        let danger = a.caution();
        let mut points = match others.filter(|others| others.land > 0) {
            Some(others) => {
                let together = party.with(&others);
                let mut saved = danger * (Threats::to(a, &others).at(a, hex) - Threats::to(a, &together).at(a, hex));
                if hex == from && others.good > 0 && a.is_key(hex) {
                    saved += a.hold() * a.worth_at(hex) * (a.risk(hex, &others) - a.risk(hex, &together));
                }
                saved + a.hunger(hex, &others) - a.hunger(hex, &together)
            }
            None => -a.hunger(hex, party) - danger * threats.at(a, hex),
        };
        if party.shaken > 0 {
            points -= party.shaken as f32 * party.mean() * a.toll(hex, party.strategic);
        }
        if party.good == 0 {
            return points;
        }
        let alone = others.is_none_or(|others| others.good == 0);
        let threatened = a.enemy_moves_again() && a.enemy_distance(hex) <= a.weights.march.threat;
        if alone && a.position.controls_at(a.side, hex) && threatened {
            points += a.hold() * a.worth_at(hex);
        }
        points + self.investment(hex, party, from)
    }

    /// What the towns next to a hex lose to hunger in a month because a party out of `from` stands there (6.4).
    fn investment(&self, hex: Hex, party: &Party, from: Hex) -> f32 {
        let a = self.assessment;
        if a.side == Side::Egyptian {
            return 0.0;
        }
        let towns = a.board().cell(hex).neighbours.into_iter().filter_map(|n| a.enemy_at(n));
        towns.filter(|town| !self.is_invested(town.hex, party, from)).map(|town| a.siege_yield(town)).sum()
    }

    /// Whether others than a party out of `from` besiege a hex.
    fn is_invested(&self, hex: Hex, party: &Party, from: Hex) -> bool {
        let a = self.assessment;
        let near = a.board().cell(hex).neighbours.into_iter().filter_map(|n| a.own_at(n));
        near.into_iter().any(|s| s.party.good > if s.hex == from { party.good } else { 0 })
    }

    /// Points for the place in a hex that a party with combat units takes by ending a move there (6.3).
    pub fn capture(&self, hex: Hex, party: &Party) -> f32 {
        let a = self.assessment;
        let held = a.enemy_at(hex).is_some_and(|s| s.party.combat > 0);
        if held || party.combat == 0 {
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

/// Storming an enemy stack, or starving it and storming what is left, if it starves.
fn assault(
    a: &Assessment,
    party: &Party,
    attackers: &Array,
    from: Hex,
    target: &Stack,
    starved: Option<&Stack>,
) -> Mission {
    let from = a.board().cell(from).neighbours.contains(&target.hex).then_some(from);
    let worth = |stack: &Stack| a.attack_worth(&a.prospect(attackers, from, stack), party, stack).max(0.0);
    let later = starved.map_or(0.0, |left| a.weights.mahdist.invest * worth(left));
    Mission { target: target.hex, now: worth(target), later, last: 0.0 }
}

/// What hunger leaves of a garrison that the Mahdist besieges, by the order of 10.4; `None` if it does not starve.
fn starved(a: &Assessment, stack: &Stack) -> Option<Stack> {
    let party = &stack.party;
    let place = a.board().cell(stack.hex).place;
    let besieged = a.side == Side::Mahdist && place.is_some() && place != a.position.scenario().named.souakim;
    if !besieged || a.turns_left == 0 || party.mouths <= a.fed_in_siege() {
        return None;
    }
    let mut room = a.fed_in_siege() + u32::from(party.force.count(Kind::Supply) > 0) * 2;
    let mut left = Force::EMPTY;
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
                left.good[k] = party.force.good[k];
                continue;
            }
            if rank(kind) != wanted {
                continue;
            }
            let size = if kind == Kind::Civilian { 2 } else { 1 };
            let good = u32::from(party.force.good[k]).min(room / size);
            let disrupted = u32::from(party.force.disrupted[k]).min(room / size - good);
            left.good[k] = good as u8;
            left.disrupted[k] = disrupted as u8;
            room -= (good + disrupted) * size;
        }
    }
    Some(Stack::new(stack.hex, a.party(left, (party.tactical, party.strategic))))
}

/// Whether two hexes are neighbours with no river between, so that one can be attacked from the other (8.5).
pub fn touches(a: &Assessment, hex: Hex, other: Hex) -> bool {
    let cell = a.board().cell(hex);
    (0..6).any(|d| cell.neighbours[d] == other && cell.rivers >> d & 1 == 0)
}

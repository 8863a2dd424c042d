//! The march phase (8): which stack moves next, which of its units go, when they roll, where they go, what they attack.

use crate::doctrine::assessment::{Assessment, Threats};
use crate::doctrine::battle;
use crate::doctrine::mission::{Mission, Notes, Planner, touches};
use crate::doctrine::party::{Party, Stack};
use crate::doctrine::{egyptian, mahdist};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Hex, PlaceId};
use dervish_env::dervish::campaign::GroupKind;
use dervish_env::dervish::catalogue::{Kind, LAND, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::force::Force;
use dervish_env::dervish::order::{Order, Verb};
use dervish_env::dervish::tables::MarchResult;
use dervish_env::dervish::units::{Cohort, Status};
use dervish_env::game::{Action, Outcome, Position};

/// Fresh units of a hex that march together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Column {
    /// How many of each kind.
    pub take: Force,
    /// Whether leaders and flag go with it.
    pub led: bool,
}

/// What to do with the units of a hex.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MarchPlan {
    /// The pick (8.1).
    pub verb: Verb,
    /// Who goes, where the pick is [`Verb::Choose`].
    pub column: Column,
    /// Points gained against doing nothing.
    pub gain: f32,
}

/// Score of units with which nothing is to be done, below that of ending the phase.
const IDLE: f32 = -1.0;

/// Something that could be done with the units of a hex, not yet worked out.
#[derive(Clone, Copy, Debug)]
pub struct Proposal {
    hex: Hex,
    /// What it gains against doing nothing if all goes well.
    bound: f32,
    /// What it gains as far as it has been worked out: for what has not, the half of what it promises.
    gain: f32,
    deed: Deed,
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    /// A march of a column.
    Sortie(Sortie),
    /// A vessel sails.
    Voyage,
    /// Anything else, worked out already.
    Settled(MarchPlan),
}

/// A column that could march.
#[derive(Clone, Copy, Debug)]
struct Sortie {
    column: Column,
    party: Party,
    mission: Mission,
    /// Points that it has where it is.
    staying: f32,
}

impl Planner<'_, '_> {
    /// The best plan for the units of a hex; `None` if they had better stay.
    pub fn march_plan(&mut self, hex: Hex) -> Option<MarchPlan> {
        self.best_plan(std::iter::once(hex)).map(|(_, plan)| plan)
    }

    /// The best plan for any of the hexes. What promises most is worked out first, and what does not promise as much as
    /// the best that has been found is not worked out at all.
    fn best_plan(&mut self, hexes: impl Iterator<Item = Hex>) -> Option<(Hex, MarchPlan)> {
        let mut proposals = std::mem::take(&mut self.notes.proposals);
        proposals.clear();
        for hex in hexes {
            self.propose(hex, &mut proposals);
        }
        proposals.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound).then(a.hex.cmp(&b.hex)));
        let mut best: Option<(Hex, MarchPlan)> = None;
        for proposal in &mut proposals {
            if best.is_some_and(|(_, plan)| plan.gain >= proposal.bound) {
                proposal.gain = 0.5 * proposal.bound;
                continue;
            }
            let plan = match &proposal.deed {
                Deed::Sortie(sortie) => self.sortie(proposal.hex, sortie),
                Deed::Voyage => self.voyage_plan(proposal.hex),
                Deed::Settled(plan) => Some(*plan),
            };
            proposal.gain = plan.map_or(IDLE, |plan| plan.gain);
            if let Some(plan) = plan
                && best.is_none_or(|(_, b)| plan.gain > b.gain)
            {
                best = Some((proposal.hex, plan));
            }
        }
        self.notes.proposals = proposals;
        best
    }

    /// What could be done with the units of a hex and promises enough.
    fn propose(&mut self, hex: Hex, proposals: &mut Vec<Proposal>) {
        let settled = [self.standing_attack(hex), self.stray_leader(hex)];
        for plan in settled.into_iter().flatten() {
            proposals.push(Proposal { hex, bound: plan.gain, gain: IDLE, deed: Deed::Settled(plan) });
        }
        let least = self.assessment.weights.march.least_gain;
        for column in self.columns(hex).into_iter().flatten() {
            if let Some((sortie, bound)) = self.sortie_of(hex, column)
                && bound >= least
            {
                proposals.push(Proposal { hex, bound, gain: IDLE, deed: Deed::Sortie(sortie) });
            }
        }
        if let Some(bound) = self.voyage_bound(hex)
            && bound >= least
        {
            proposals.push(Proposal { hex, bound, gain: IDLE, deed: Deed::Voyage });
        }
    }

    /// An attack on a neighbour without a march (8.5).
    fn standing_attack(&mut self, hex: Hex) -> Option<MarchPlan> {
        let a = self.assessment;
        let targets = neighbours_to_attack(a, hex);
        targets.clone().next()?;
        let able = |c: Cohort| LAND.has(c.kind()) && !c.disrupted() && c.status() != Status::Fought;
        let party = a.party_of(hex, true, able);
        if party.good == 0 {
            return None;
        }
        let mission = self.mission(hex, &party);
        let waiting = self.worth(&mission, hex, false);
        let attackers = party.assailants(a.position, a.side);
        let mut gain = f32::MIN;
        for target in targets {
            let attack = a.attack_worth(&a.prospect(&attackers, Some(hex), target), &party, target);
            gain = gain.max(attack + self.sequel(hex, &party, target.hex) - waiting);
        }
        let marched = a.party_of(hex, false, |c| able(c) && c.status() == Status::Marched);
        let shaken = a.party_of(hex, false, |c| LAND.has(c.kind()) && c.disrupted() && c.status() == Status::Fresh);
        let verb = if marched.land > 0 {
            Verb::Unfought
        } else if shaken.land > 0 {
            Verb::AllGood
        } else {
            Verb::All
        };
        (gain >= a.weights.march.least_attack).then_some(MarchPlan { verb, column: Column::NONE, gain })
    }

    /// What remains to be had by a party that attacks `target` first.
    fn sequel(&mut self, hex: Hex, party: &Party, target: Hex) -> f32 {
        let next = self.mission_after(hex, party, target);
        self.assessment.weights.march.after_battle * self.worth(&next, hex, false)
    }

    /// A march of a column out of a hex, with the best that a month's march could bring: the aim itself, and no
    /// discomfort.
    fn sortie_of(&mut self, hex: Hex, column: Column) -> Option<(Sortie, f32)> {
        let a = self.assessment;
        if column.take.count_of(LAND) == 0 {
            return None;
        }
        let party = a.party(column.take, if column.led { a.leaders(hex) } else { (0, 0) });
        let mission = self.mission(hex, &party);
        if mission.most() <= 0.0 {
            return None;
        }
        let residence = self.residence(hex, &party, &mut Threats::to(a, &party), hex);
        let staying = self.worth(&mission, hex, false) + residence;
        let bound = self.worth_within(&mission, hex, a.movement(&party)) - staying;
        Some((Sortie { column, party, mission, staying }, bound))
    }

    /// What a march of a column out of a hex gains.
    fn sortie(&mut self, hex: Hex, sortie: &Sortie) -> Option<MarchPlan> {
        let Sortie { column, party, mission, staying } = sortie;
        let a = self.assessment;
        let verb = pick_for(a, hex, column);
        let group = formed(a.position, hex, verb, column, &mut self.notes.actions)?;
        let gain = self.roll_worth(&group, party, mission, *staying)? - staying;
        (gain >= a.weights.march.least_gain).then_some(MarchPlan { verb, column: *column, gain })
    }

    /// Expected points of another march roll for the group of `group`, a position that waits for its order or, where
    /// there is no other, for the roll; `None` if it may not roll. `staying` is what it has where it is.
    fn roll_worth(&mut self, group: &Campaign, party: &Party, mission: &Mission, staying: f32) -> Option<f32> {
        let a = self.assessment;
        let mut rolled = *group;
        let roll = Order::Verb(Verb::Roll).action();
        if rolled.pending().decision == Decision::GroupOrder && rolled.is_legal(roll) {
            rolled.apply_legal(roll);
        }
        if rolled.pending().decision != Decision::RollMarch {
            return None;
        }
        let modifier = rolled.march_modifier();
        let tables = &rolled.scenario().tables;
        let (mut moves, mut shaken, mut spoils) = (0.0, 0.0, 0.0);
        let mut clean = None;
        for die in 1..=6u16 {
            match tables.march(i32::from(die) + modifier) {
                MarchResult::NoMarch => {}
                MarchResult::March { disrupted_percent } => {
                    moves += 1.0 / 6.0;
                    shaken += f32::from(disrupted_percent) / 600.0;
                    if disrupted_percent > 0 {
                        spoils += 1.0 / 6.0;
                    } else {
                        clean = Some(die);
                    }
                }
            }
        }
        let from = rolled.group().hex;
        let units = party.force.good_of(LAND) as f32;
        let mut price = shaken * units * party.mean() * a.toll(from, party.strategic);
        rolled.resolve_possible(Outcome(clean?));
        let best = self.best_move(&rolled, party, mission);
        if mission.now > mission.later {
            price += spoils * a.weights.march.disruption * (best.worth - staying).max(0.0);
        }
        Some(moves * best.worth + (1.0 - moves) * staying - price)
    }

    /// The best hex for the group of a position that waits for [`Decision::GroupHex`].
    fn best_move(&mut self, position: &Campaign, party: &Party, mission: &Mission) -> BestMove {
        let from = position.group().hex;
        let mut threats = Threats::to(self.assessment, party);
        let mut best = BestMove { hex: from, worth: f32::MIN };
        if position.pending().decision != Decision::GroupHex {
            // The one hex there was has been taken, or the march is over.
            let hex = position.group().hex;
            let aim = self.aim_worth(hex, from, party, mission);
            let worth = aim + self.settled(position, hex, from, party, mission, &mut threats);
            return BestMove { worth, ..best };
        }
        let Notes { actions, .. } = self.notes;
        position.legal_actions_into(actions);
        let mut moves = std::mem::take(&mut self.notes.moves);
        moves.clear();
        for i in 0..self.notes.actions.len() {
            if let Some(Order::Hex(hex)) = Order::of(self.notes.actions[i]) {
                moves.push((self.aim_worth(hex, from, party, mission), hex));
            }
        }
        moves.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for &(aim, hex) in &moves {
            // Standing somewhere is rarely worth more than holding the place there, and relieving who stands there.
            let comfort = self.comfort(hex);
            if aim + comfort <= best.worth {
                continue;
            }
            let worth = aim + self.settled(position, hex, from, party, mission, &mut threats);
            if worth > best.worth {
                best = BestMove { hex, worth };
            }
        }
        self.notes.moves = moves;
        best
    }

    /// The most that standing in a hex can be worth by itself.
    fn comfort(&self, hex: Hex) -> f32 {
        let a = self.assessment;
        let invests =
            a.side == Side::Mahdist && a.board().cell(hex).neighbours.iter().any(|n| a.enemy_at(*n).is_some());
        if invests || a.own_at(hex).is_some() { f32::MAX } else { a.hold() * a.worth_at(hex) }
    }

    /// What a hex is worth for the aim, and for the place in it. What could be attacked from where the group stands
    /// needs no march.
    fn aim_worth(&mut self, hex: Hex, from: Hex, party: &Party, mission: &Mission) -> f32 {
        let capture = self.capture(hex, party);
        let ready = party.shaken == 0 && hex != from && !touches(self.assessment, from, mission.target);
        let aim = if capture > 0.0 && hex == mission.target { 0.0 } else { self.worth(mission, hex, ready) };
        aim + capture
    }

    /// What it is worth to stand in a hex, as far as the group is likely to stay.
    fn settled(
        &mut self,
        position: &Campaign,
        hex: Hex,
        from: Hex,
        party: &Party,
        mission: &Mission,
        threats: &mut Threats,
    ) -> f32 {
        // Where it began, and at its aim, a group is likely to stay.
        let at_aim = hex == mission.target || touches(self.assessment, hex, mission.target);
        let rolls = usize::from(position.group().rolls).min(3);
        let settles = if hex == from || at_aim { 1.0 } else { self.assessment.weights.march.settles[rolls] };
        let residence = self.residence(hex, party, threats, from);
        residence.min(0.0) * settles + residence.max(0.0)
    }

    /// A leader without troops, or with far fewer than another stack near him has without him.
    fn stray_leader(&mut self, hex: Hex) -> Option<MarchPlan> {
        let a = self.assessment;
        let stray = a.position.leaders_at(hex, a.side).any(|l| a.position.leader(l).status == Status::Fresh);
        let goes = stray && self.leader_aim(hex).is_some();
        let gain = a.weights.march.stray_leader;
        goes.then_some(MarchPlan { verb: Verb::Alone, column: Column::NONE, gain })
    }

    /// The stack that a leader in `hex` had better join.
    fn leader_aim(&mut self, hex: Hex) -> Option<Hex> {
        let a = self.assessment;
        let here = a.own_at(hex).map_or(0, |s| s.party.good);
        let wanting = a.own().iter().filter(|s| s.hex != hex && s.party.strategic == 0);
        let best = wanting.max_by_key(|s| (s.party.good, s.hex))?;
        let alone = here == 0 && a.own().iter().any(|s| s.hex != hex && s.party.good > 0);
        let fallback = a.own().iter().filter(|s| s.hex != hex).max_by_key(|s| (s.party.good, s.hex))?;
        if best.party.good > 2 * here + a.weights.march.stray_units {
            return Some(best.hex);
        }
        alone.then_some(fallback.hex)
    }

    // ----- answers -----

    /// Scores the answers to [`Decision::MarchHex`] by the best that could be done with each hex; ending the phase is 0.
    pub fn score_march_hexes(&mut self, scored: &mut [(Action, f32)]) {
        let hexes = scored.iter().filter_map(|(action, _)| match Order::of(*action) {
            Some(Order::Hex(hex)) => Some(hex),
            _ => None,
        });
        self.best_plan(hexes);
        for (action, score) in scored {
            if let Some(Order::Hex(hex)) = Order::of(*action) {
                let here = self.notes.proposals.iter().filter(|proposal| proposal.hex == hex);
                *score = here.map(|proposal| proposal.gain).fold(IDLE, f32::max);
            }
        }
    }

    /// The pick that is wanted (8.1); where the plan has changed its mind, the one that commits to least.
    pub fn march_pick(&mut self, hex: Hex) -> Verb {
        self.march_plan(hex).map_or(Verb::Alone, |plan| plan.verb)
    }

    /// How many units of the line asked about join the group.
    pub fn group_count(&mut self, hex: Hex, line: u8) -> u8 {
        self.picked_column(hex).map_or(0, |column| wanted(&column, line))
    }

    /// Whether leaders and flag join the group.
    pub fn group_leader(&mut self, hex: Hex) -> bool {
        self.picked_column(hex).is_some_and(|column| column.led)
    }

    /// The column that is being picked: the best of those that agree with what has joined the group so far.
    fn picked_column(&mut self, hex: Hex) -> Option<Column> {
        let a = self.assessment;
        let joined = a.party_of(hex, false, Cohort::grouped).force;
        let asked = a.position.pending();
        // Lines after the one asked about have not been asked yet; leaders come after all lines.
        let asked_kinds = match asked.decision {
            Decision::GroupCount => usize::from(asked.subject >> 2),
            _ => Kind::ALL.len(),
        };
        let agrees = |column: &Column| {
            pick_for(a, hex, column) == Verb::Choose
                && (0..asked_kinds).all(|kind| {
                    joined.good[kind] == column.take.good[kind] && joined.disrupted[kind] == column.take.disrupted[kind]
                })
        };
        let columns = self.columns(hex);
        let mut agreeing = columns.into_iter().flatten().filter(agrees);
        let mut best = (agreeing.next()?, None);
        for column in agreeing {
            let mut gain = |column: Column| {
                let plan = self.sortie_of(hex, column).and_then(|(sortie, _)| self.sortie(hex, &sortie));
                plan.map_or(f32::MIN, |plan| plan.gain)
            };
            let known = match best.1 {
                Some(known) => known,
                None => gain(best.0),
            };
            let this = gain(column);
            best = if this > known { (column, Some(this)) } else { (best.0, Some(known)) };
        }
        Some(best.0)
    }

    fn columns(&self, hex: Hex) -> [Option<Column>; 3] {
        match self.assessment.side {
            Side::Egyptian => egyptian::columns(self.assessment, hex),
            Side::Mahdist => mahdist::columns(self.assessment, hex),
        }
    }

    /// Points of an order to the group (8.2).
    pub fn group_order_score(&mut self, order: Order, group: &GroupView) -> f32 {
        let a = self.assessment;
        match order {
            Order::Verb(Verb::Halt) => group.staying,
            Order::Verb(Verb::Roll) => {
                let worth = self.roll_worth(a.position, &group.party, &group.mission, group.staying);
                worth.map_or(f32::MIN, |worth| worth - self.deserted(group) - a.weights.march.least_gain)
            }
            Order::Verb(Verb::Sea) => {
                let Some(port) = other_port(a, group.hex) else { return f32::MIN };
                let mut threats = Threats::to(a, &group.party);
                self.worth(&group.mission, port, false) + self.residence(port, &group.party, &mut threats, group.hex)
                    - self.deserted(group)
            }
            Order::Hex(target) => {
                let attack = battle::attack_worth(a, target);
                let sequel = self.sequel(group.hex, &group.party, target);
                attack + sequel + group.residence - a.weights.march.least_attack
            }
            _ => f32::MIN,
        }
    }

    /// What is given up by leaving a place of the Egyptian player without any garrison while the enemy can still come.
    fn deserted(&self, group: &GroupView) -> f32 {
        let a = self.assessment;
        let fresh = a.position.group().rolls == 0;
        let left = a.party_of(group.hex, false, |c| !c.grouped());
        let held = a.position.controls_at(a.side, group.hex) && left.combat == 0;
        let besieging = group.party.british > 0 || a.side == Side::Mahdist;
        if fresh && held && !besieging && a.enemy_moves_again() { a.worth_at(group.hex) } else { 0.0 }
    }

    /// What the group is about.
    pub fn group_view(&mut self) -> GroupView {
        let a = self.assessment;
        let hex = a.position.group().hex;
        let party = a.group();
        let mission = self.mission(hex, &party);
        let waiting = self.worth(&mission, hex, false);
        let residence = self.residence(hex, &party, &mut Threats::to(a, &party), hex);
        GroupView { hex, party, mission, residence, staying: waiting + residence }
    }

    /// Where the group goes.
    pub fn group_hex(&mut self) -> Hex {
        let view = self.group_view();
        self.best_move(self.assessment.position, &view.party, &view.mission).hex
    }

    /// Points of a hex for a leader who goes alone (8.10).
    pub fn alone_score(&mut self, start: Hex, hex: Hex) -> f32 {
        let a = self.assessment;
        let Some(aim) = self.leader_aim(start) else { return 0.0 };
        let cost = self.cost(hex, aim).map_or(f32::MAX, f32::from);
        let company = a.own_at(hex).map_or(0.0, |s| s.party.good.min(5) as f32);
        company - cost
    }
}

/// What the group is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GroupView {
    /// Where it is.
    pub hex: Hex,
    /// Who is in it.
    pub party: Party,
    /// Its aim.
    pub mission: Mission,
    /// What it is worth to be where it is.
    pub residence: f32,
    /// The same with the worth of the aim if it does nothing more this month.
    pub staying: f32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct BestMove {
    hex: Hex,
    worth: f32,
}

impl Column {
    /// Nobody.
    pub const NONE: Column = Column { take: Force::EMPTY, led: false };
}

/// The fresh land units of a hex, those in a group that is being picked there included.
pub fn fresh(a: &Assessment, hex: Hex) -> Force {
    a.party_of(hex, false, |c| LAND.has(c.kind()) && c.status() == Status::Fresh).force
}

/// The pick that takes just this column (8.1).
fn pick_for(a: &Assessment, hex: Hex, column: &Column) -> Verb {
    let mut all = fresh(a, hex);
    let carried = all.good[Kind::Supply.index()].min(all.good[Kind::Camel.index()]);
    all.good[Kind::Supply.index()] = carried;
    if !column.led && (a.position.has_leader(hex, a.side)) {
        return Verb::Choose;
    }
    if column.take == all {
        return Verb::All;
    }
    all.disrupted = Force::EMPTY.disrupted;
    if column.take == all { Verb::AllGood } else { Verb::Choose }
}

/// The position after a group has been picked; `None` if the rules offer no such pick.
fn formed(position: &Campaign, hex: Hex, verb: Verb, column: &Column, actions: &mut Vec<Action>) -> Option<Campaign> {
    let mut formed = *position;
    loop {
        let pending = formed.pending();
        let order = match pending.decision {
            Decision::MarchHex if formed.group().kind == GroupKind::None => Order::Hex(hex),
            Decision::MarchPick if pending.hex == hex => Order::Verb(verb),
            Decision::GroupCount => {
                formed.legal_actions_into(actions);
                let wanted = wanted(column, pending.subject);
                let nearest = actions.iter().copied().min_by_key(|action| match Order::of(*action) {
                    Some(Order::Count(n)) => n.abs_diff(wanted),
                    _ => u8::MAX,
                });
                Order::of(nearest?)?
            }
            Decision::GroupLeader => {
                let yes = Order::Verb(Verb::Yes);
                if column.led && formed.is_legal(yes.action()) { yes } else { Order::Verb(Verb::No) }
            }
            Decision::GroupOrder | Decision::RollMarch => return Some(formed),
            _ => return None,
        };
        if !formed.is_legal(order.action()) {
            return None;
        }
        formed.apply_legal(order.action());
    }
}

/// Units of the line asked about that the column takes: kind, order, then fresh before marched (8.1).
fn wanted(column: &Column, line: u8) -> u8 {
    let kind = usize::from(line >> 2);
    match (line & 1 == 1, line & 2 == 2) {
        (true, _) => 0,
        (false, true) => column.take.disrupted[kind],
        (false, false) => column.take.good[kind],
    }
}

/// The enemy stacks that can be attacked from a hex.
fn neighbours_to_attack<'a>(a: &'a Assessment, hex: Hex) -> impl Iterator<Item = &'a Stack> + Clone {
    let cell = a.board().cell(hex);
    (0..6)
        .filter(move |d| cell.neighbours[*d].is_some() && cell.rivers >> d & 1 == 0)
        .filter_map(move |d| a.enemy_at(cell.neighbours[d]))
        .filter(|s| s.party.combat > 0)
}

/// The port at the other end of the sea passage (8.8).
fn other_port(a: &Assessment, hex: Hex) -> Option<Hex> {
    let named = &a.position.scenario().named;
    let port = |place: Option<PlaceId>| place.map(|p| a.board().places[usize::from(p.0)].hex);
    let (souakim, trinkitat) = (port(named.souakim)?, port(named.trinkitat)?);
    Some(if hex == souakim { trinkitat } else { souakim })
}

//! The supply phase (10): supply units and their chains, attrition.

use super::super::board::{Board, Hex, PlaceKind, Relief};
use super::super::campaign::{Campaign, Favour, MAX_SUPPLY, Phase};
use super::super::catalogue::{COMBAT, Class, Kind, KindSet, LAND, Leader, Side};
use super::super::decision::{Decision, Pending};
use super::super::order::{Order, Verb};
use super::super::tables::AttritionRow;
use super::super::units::{Cohort, Status};
use super::march::Taken;
use super::movement::Mover;

/// Most movement points from one supply unit of a chain to the next (10.2).
const LINK: u8 = 6;
/// Units that a civilian counts as (10.4).
const CIVILIAN_COUNTS: u32 = 2;

/// Steps of the phase, in [`Campaign::stage`].
pub(crate) mod step {
    pub(crate) const SPOILT: u8 = 0;
    pub(crate) const STACKS: u8 = 1;
}

/// What drawing on supply would mean for a stack (10.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Chain {
    /// No supply unit in its hex.
    None,
    /// A unit already spent in this phase serves it too.
    Served,
    /// The supply unit in this hex, the farthest of its chain, would be spent.
    Spends(Hex),
}

impl Campaign {
    /// Goes on with the supply phase until something is pending or the phase is over.
    pub(crate) fn next_supply(&mut self) {
        if self.stage == step::SPOILT {
            self.stage = step::STACKS;
            if self.events.spoilt_biscuits && self.stacks(Side::Egyptian, Kind::Supply.set()).next().is_some() {
                self.pending = Pending::of(Decision::SpoiltHex);
                return;
            }
        }
        let next = self.stack_after(self.cursor, self.active, LAND);
        let Some(hex) = next else {
            self.spent = [Hex::NONE; MAX_SUPPLY];
            self.begin_phase(Phase::Recovery);
            return;
        };
        self.cursor = hex;
        if self.beyond_hurt(hex) {
            return;
        }
        match self.chain(hex) {
            Chain::Served => {}
            Chain::None => self.pending = Pending::at(Decision::RollAttrition, hex),
            Chain::Spends(_) => self.pending = Pending::at(Decision::SupplyChoice, hex),
        }
    }

    // ----- supply units (10.2) -----

    pub(crate) fn spoilt_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for hex in self.stacks(Side::Egyptian, Kind::Supply.set()) {
            take(Order::Hex(hex))?;
        }
        Taken::Continue(())
    }

    pub(crate) fn spoilt_hex_legal(&self, hex: Hex) -> bool {
        self.units.any(hex, Side::Egyptian, Kind::Supply.set())
    }

    pub(crate) fn obey_spoilt_hex(&mut self, hex: Hex) {
        self.pending = Pending::NONE;
        self.spend(hex);
    }

    pub(crate) fn obey_supply_choice(&mut self, verb: Verb) {
        let hex = self.pending.hex;
        self.pending = Pending::NONE;
        match (verb, self.chain(hex)) {
            (Verb::Draw, Chain::Spends(end)) => self.spend(end),
            _ => self.pending = Pending::at(Decision::RollAttrition, hex),
        }
    }

    /// Spends a supply unit and remembers where, for stacks that trace to it in this phase.
    fn spend(&mut self, hex: Hex) {
        self.spend_supply_at(hex);
        if let Some(free) = self.spent.iter_mut().find(|h| !h.is_some()) {
            *free = hex;
        }
    }

    /// Takes one supply unit off, a disrupted one first, for it feeds as well as another (11.1).
    pub(crate) fn spend_supply_at(&mut self, hex: Hex) {
        let supply = self.units.at(hex).iter().rev().copied().find(|c| c.kind() == Kind::Supply);
        if let Some(supply) = supply {
            self.units.remove(supply.with_count(1));
        }
    }

    /// The chain of supply units that begins in the stack's hex.
    fn chain(&self, hex: Hex) -> Chain {
        if self.active == Side::Mahdist {
            return Chain::None;
        }
        if self.spent.contains(&hex) {
            return Chain::Served;
        }
        if !self.units.any(hex, Side::Egyptian, Kind::Supply.set()) {
            return Chain::None;
        }
        // Dijkstra over the hexes of supply units: `nearest` holds distances along the chain.
        const MOST: usize = 2 * MAX_SUPPLY;
        let mut nodes = [Hex::NONE; MOST];
        let mut len = 0;
        let spent = self.spent.iter().copied().filter(|h| h.is_some());
        for node in self.stacks(Side::Egyptian, Kind::Supply.set()).chain(spent) {
            if len < MOST && !nodes[..len].contains(&node) {
                nodes[len] = node;
                len += 1;
            }
        }
        nodes[..len].sort_unstable();
        let mut nearest = [u16::MAX; MOST];
        let mut done = [false; MOST];
        let Some(start) = nodes[..len].iter().position(|h| *h == hex) else { return Chain::None };
        nearest[start] = 0;
        while let Some(i) = (0..len).filter(|i| !done[*i] && nearest[*i] < u16::MAX).min_by_key(|i| nearest[*i]) {
            done[i] = true;
            if self.spent.contains(&nodes[i]) {
                return Chain::Served;
            }
            self.reach(Side::Egyptian, nodes[i], LINK, Mover::Supply, |link| {
                for j in 0..len {
                    if !done[j] && link.has(nodes[j]) {
                        nearest[j] = nearest[j].min(nearest[i] + u16::from(link.spent(nodes[j], LINK)));
                    }
                }
            });
        }
        // Along the railway both ends may be no points away: then the farther in hexes is the end, then 13.3.
        let farthest = (0..len)
            .filter(|i| done[*i])
            .max_by_key(|i| (nearest[*i], Board::distance(hex, nodes[*i]), std::cmp::Reverse(nodes[*i])));
        farthest.map_or(Chain::None, |i| Chain::Spends(nodes[i]))
    }

    // ----- attrition (10.3, 10.4) -----

    /// Units of the stack as attrition counts them.
    pub(crate) fn attrition_count(&self, hex: Hex) -> u32 {
        let force = self.units.force(hex, self.active, |c| LAND.has(c.kind()));
        force.count_of(LAND) + (CIVILIAN_COUNTS - 1) * force.count(Kind::Civilian)
    }

    /// Row of the attrition table for a stack of the player whose turn it is: a place's row before the ground's (10.5).
    pub fn attrition_row(&self, hex: Hex) -> AttritionRow {
        let board = &self.scenario.board;
        let place = board.place_kind(hex).filter(|kind| !(*kind == PlaceKind::Oasis && self.events.dry_weather));
        let besieged = place == Some(PlaceKind::Town) && self.besieged(hex, self.active);
        AttritionRow::of(board.cell(hex).ground, place, besieged)
    }

    /// Modifiers of the attrition die (10.3) for a stack of the player whose turn it is.
    pub fn attrition_modifier(&self, hex: Hex) -> i32 {
        let cell = self.scenario.board.cell(hex);
        let khartoum = cell.place.is_some() && cell.place == self.scenario.named.khartoum;
        let gordon = self.leaders[Leader::Gordon.index()].hex == hex;
        let mut modifier = i32::from(self.events.good_harvest) - i32::from(self.events.dry_weather);
        modifier -= i32::from(cell.extension && (3..=11).contains(&self.month()));
        modifier -= i32::from(cell.relief == Relief::Mountain);
        if self.active == Side::Egyptian && khartoum {
            modifier += i32::from(gordon);
            modifier += i32::from(self.units.any(hex, Side::Egyptian, Kind::Flag.set()));
        }
        let fervour = self.active == Side::Mahdist && self.events.favour != Favour::None;
        modifier + i32::from(fervour && self.events.favoured == hex)
    }

    /// Units unaffected on a die; `None`: all.
    fn unaffected(&self, hex: Hex, die: i32) -> Option<u8> {
        self.scenario.tables.attrition(self.attrition_row(hex), die + self.attrition_modifier(hex))
    }

    /// Whether no result could hurt the stack (10.1): the table only grows with the die, so the 1 decides.
    fn beyond_hurt(&self, hex: Hex) -> bool {
        self.unaffected(hex, 1).is_none_or(|n| self.attrition_count(hex) <= u32::from(n))
    }

    pub(crate) fn resolve_attrition(&mut self, die: u16) {
        let hex = self.pending.hex;
        self.pending = Pending::NONE;
        if let Some(n) = self.unaffected(hex, i32::from(die)) {
            self.starve(hex, u32::from(n));
        }
    }

    /// Rule 10.4: `spared` units of the stack are unaffected; of the rest the Egyptian player's are eliminated, the
    /// Mahdist's disrupted, or eliminated if disrupted already.
    fn starve(&mut self, hex: Hex, spared: u32) {
        let side = self.active;
        let force = self.units.force(hex, side, |c| LAND.has(c.kind()));
        let mut room = spared;
        let mut hit = super::super::force::Force::EMPTY;
        let mut ranked = [(0u16, Kind::Levy, false); 64];
        let mut len = 0;
        for kind in Kind::ALL.into_iter().filter(|k| LAND.has(*k)) {
            for disrupted in [false, true] {
                let n = if disrupted { force.disrupted[kind.index()] } else { force.good[kind.index()] };
                if n > 0 {
                    ranked[len] = (self.keep_rank(kind, disrupted), kind, disrupted);
                    len += 1;
                }
            }
        }
        ranked[..len].sort_unstable();
        for &(_, kind, disrupted) in &ranked[..len] {
            let n = if disrupted { force.disrupted[kind.index()] } else { force.good[kind.index()] };
            let size = if kind == Kind::Civilian { CIVILIAN_COUNTS } else { 1 };
            let kept = u32::from(n).min(room / size);
            // A civilian of whose two only one is left is eliminated, and the one is used up.
            room = if kept < u32::from(n) { 0 } else { room - kept * size };
            let counts = if disrupted { &mut hit.disrupted } else { &mut hit.good };
            counts[kind.index()] = n - kept as u8;
        }
        let eliminated = match side {
            Side::Egyptian => hit.good_of(COMBAT) + hit.disrupted_of(COMBAT),
            Side::Mahdist => hit.disrupted_of(COMBAT),
        };
        self.eliminated[side as usize] += eliminated as u16;
        for kind in Kind::ALL.into_iter().filter(|k| LAND.has(*k)) {
            let (good, disrupted) = (hit.good[kind.index()], hit.disrupted[kind.index()]);
            self.units.remove(Cohort::new(hex, kind, true, Status::Fresh, disrupted));
            self.units.remove(Cohort::new(hex, kind, false, Status::Fresh, good));
            if side == Side::Mahdist {
                self.units.add(Cohort::new(hex, kind, true, Status::Fresh, good));
            }
        }
        self.drop_lone_flag(hex);
    }

    /// The order in which units stay unaffected (10.4), lowest first.
    fn keep_rank(&self, kind: Kind, disrupted: bool) -> u16 {
        const STEADY: KindSet = KindSet::of(&[Kind::Supply, Kind::Camel, Kind::Civilian]);
        let group = match kind {
            Kind::Civilian => 0,
            Kind::Supply => 2,
            Kind::Camel => 3,
            Kind::MahdistRifles => 1,
            Kind::MahdistGun => 2,
            Kind::MahdistCavalry => 3,
            Kind::MahdistSpearmen => 4,
            _ if !STEADY.has(kind) && self.class_now(kind) == Class::R => 4,
            _ => 1,
        };
        // The Mahdist's disrupted units first, for the others are only disrupted; else good order before disrupted.
        let order = if kind.side() == Side::Mahdist { u16::from(!disrupted) << 8 } else { 0 };
        order + (group << 2) + u16::from(disrupted)
    }

    /// The class of a kind, `poor_morale` counted (4.3).
    pub(crate) fn class_now(&self, kind: Kind) -> Class {
        self.scenario.catalogue.class_under(kind, self.events.poor_morale)
    }
}

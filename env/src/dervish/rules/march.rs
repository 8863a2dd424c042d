//! The march phase (8): picking groups, march rolls, moves, vessels, the fleet and leaders alone.

use std::ops::ControlFlow;

use super::super::board::Hex;
use super::super::campaign::{Campaign, Favour, Group, GroupKind, War};
use super::super::catalogue::{COMBAT, Kind, KindSet, LAND, LEADERS, Leader, Side, TRAIN, VESSELS};
use super::super::decision::{Decision, Pending};
use super::super::order::{Order, Verb};
use super::super::tables::MarchResult;
use super::super::units::{Cohort, Status};
use super::movement::{Mover, Reach};

/// Units that make the British −1 of the march table: any British combat unit but guns (8.31).
const BRITISH_MARCHERS: KindSet =
    KindSet::of(&[Kind::BritishInfantry, Kind::CamelCorps, Kind::BritishCavalry, Kind::NavalInfantry]);

/// Most march rolls of a group (8.2).
const MOST_ROLLS: u8 = 3;

/// Takes the options of a decision one by one; breaks off when it has seen enough.
pub(crate) type Taken = ControlFlow<()>;

/// What may be done with the units of a hex (8.1), one flag for each answer to [`Decision::MarchPick`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Picks {
    all: bool,
    all_good: bool,
    unfought: bool,
    choose: bool,
    vessel: bool,
    alone: bool,
    fleet: bool,
}

impl Picks {
    fn any(self) -> bool {
        self != Picks::default()
    }
    fn flags(self) -> [(Verb, bool); 7] {
        [
            (Verb::All, self.all),
            (Verb::AllGood, self.all_good),
            (Verb::Unfought, self.unfought),
            (Verb::Choose, self.choose),
            (Verb::Vessel, self.vessel),
            (Verb::Alone, self.alone),
            (Verb::Fleet, self.fleet),
        ]
    }
}

/// Units counted for one hex: what is still free to act, and what the group has taken so far.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Land units that are fresh.
    fresh: u16,
    /// Of these, disrupted.
    fresh_disrupted: u16,
    fresh_supply: u16,
    fresh_camel: u16,
    /// Good-order ones among the last two.
    good_supply: u16,
    good_camel: u16,
    /// Good-order land units that have marched and not fought.
    marched_good: u16,
    /// Good-order combat units that are fresh.
    fresh_combat: u16,
    /// Good-order combat units that have not fought.
    unfought_combat: u16,
    flag: u16,
}

impl Tally {
    fn add(&mut self, c: Cohort) {
        let n = u16::from(c.count());
        let kind = c.kind();
        if kind == Kind::Flag {
            self.flag += u16::from(c.status() != Status::Fought) * n;
        }
        if !LAND.has(kind) || c.status() == Status::Fought {
            return;
        }
        let good = !c.disrupted();
        if c.status() == Status::Fresh {
            self.fresh += n;
            self.fresh_disrupted += u16::from(!good) * n;
            if kind == Kind::Supply {
                self.fresh_supply += n;
                self.good_supply += u16::from(good) * n;
            } else if kind == Kind::Camel {
                self.fresh_camel += n;
                self.good_camel += u16::from(good) * n;
            }
            self.fresh_combat += u16::from(good && COMBAT.has(kind)) * n;
        } else {
            self.marched_good += u16::from(good) * n;
        }
        self.unfought_combat += u16::from(good && COMBAT.has(kind)) * n;
    }
    /// Fresh land units that can march together: supply only as far as there are camels (8.6).
    fn marchable(&self) -> u16 {
        self.fresh - self.fresh_supply.saturating_sub(self.fresh_camel)
    }
    /// The same for those in good order.
    fn good_marchable(&self) -> u16 {
        self.fresh - self.fresh_disrupted - self.good_supply.saturating_sub(self.good_camel)
    }
}

/// The line of a cohort when a group is chosen one by one: kind, order, then fresh before marched.
pub(crate) fn line(c: Cohort) -> u8 {
    (c.kind() as u8) << 2 | u8::from(c.disrupted()) << 1 | u8::from(c.status() == Status::Marched)
}

/// The words for a line in the notation: `rifle_r`, `rifle_r disrupted`, `rifle_r marched`.
pub(crate) fn line_text(line: u8) -> String {
    let kind = Kind::at(usize::from(line >> 2));
    let disrupted = if line & 2 != 0 { " disrupted" } else { "" };
    let marched = if line & 1 != 0 { " marched" } else { "" };
    format!("{}{disrupted}{marched}", kind.id())
}

/// [`Pending::subject`] of the yes or no for the flag, after those for the leaders.
pub(crate) const FLAG_SUBJECT: u8 = LEADERS as u8;

impl Campaign {
    fn tally(&self, hex: Hex, side: Side) -> Tally {
        let mut tally = Tally::default();
        for &c in self.units.at(hex) {
            if c.side() == side && !c.grouped() {
                tally.add(c);
            }
        }
        tally
    }

    /// Whether events let a group march out of `hex` (13.7); `first`: it is the group's first roll.
    fn may_march(&self, hex: Hex, first: bool) -> bool {
        let side = self.active;
        let named = &self.scenario.named;
        let at = self.scenario.board.cell(hex);
        if self.events.war == War::Now && named.goz_regeb.is_some() && at.place == named.goz_regeb {
            return false;
        }
        if side == Side::Egyptian {
            return true;
        }
        if self.events.poor_communications && first && !self.has_leader(hex, Side::Mahdist) {
            return false;
        }
        let osman = self.leaders[Leader::OsmanDigma.index()].hex;
        !(self.events.religious_disagreement
            && at.extension
            && !(osman.is_some() && self.scenario.board.cell(osman).extension))
    }

    /// Whether a group in `hex` may attack `target`: an adjacent hex not across a river with an enemy combat unit (8.5).
    fn may_attack(&self, hex: Hex, target: Hex) -> bool {
        let cell = self.scenario.board.cell(hex);
        (0..6).any(|d| cell.neighbours[d] == target && cell.rivers >> d & 1 == 0)
            && self.units.any(target, self.active.other(), COMBAT)
    }

    /// Whether there is anything to attack from `hex`.
    fn has_target(&self, hex: Hex) -> bool {
        let cell = self.scenario.board.cell(hex);
        let enemy = self.active.other();
        (0..6).any(|d| {
            let n = cell.neighbours[d];
            n.is_some() && cell.rivers >> d & 1 == 0 && self.units.any(n, enemy, COMBAT)
        })
    }

    /// Whether supply units may leave `hex` without camels: along built railway or by sea (8.6, 8.8).
    fn carried_without_camels(&self, hex: Hex) -> bool {
        self.active == Side::Egyptian && (self.on_open_railway(hex) || self.other_port(hex).is_some())
    }

    fn on_open_railway(&self, hex: Hex) -> bool {
        let cell = self.scenario.board.cell(hex);
        cell.neighbours
            .iter()
            .any(|n| n.is_some() && self.joined_by_rail(hex, *n) && !self.enemy_in(*n, Side::Egyptian))
    }

    /// The port to which a group of the Egyptian player in `hex` may go by sea (8.8).
    fn other_port(&self, hex: Hex) -> Option<Hex> {
        let port = self.opposite_port(hex)?;
        (!self.enemy_in(port, Side::Egyptian)).then_some(port)
    }

    fn opposite_port(&self, hex: Hex) -> Option<Hex> {
        let named = &self.scenario.named;
        let (souakim, trinkitat) = (named.souakim?, named.trinkitat?);
        let places = &self.scenario.board.places;
        let (souakim, trinkitat) = (places[souakim.0 as usize].hex, places[trinkitat.0 as usize].hex);
        match hex {
            h if h == souakim => Some(trinkitat),
            h if h == trinkitat => Some(souakim),
            _ => None,
        }
    }

    fn picks(&self, hex: Hex) -> Picks {
        let side = self.active;
        let tally = self.tally(hex, side);
        let may_march = self.may_march(hex, true);
        let mut picks = Picks::default();
        if tally.fresh + tally.marched_good > 0 {
            let target = (tally.unfought_combat > 0) && self.has_target(hex);
            let fresh_attack = target && tally.fresh_combat > 0;
            picks.all = tally.marchable() > 0 && (may_march || (fresh_attack && tally.fresh_disrupted == 0));
            picks.all_good = tally.fresh_disrupted > 0 && tally.good_marchable() > 0 && (may_march || fresh_attack);
            picks.unfought = target && tally.marched_good > 0;
            let extras = self.leaders_at(hex, side).filter(|l| self.leaders[l.index()].status != Status::Fought).count()
                as u16
                + tally.flag;
            let more_than_one = tally.fresh + tally.marched_good + extras > 1;
            picks.choose = (more_than_one || !(picks.all || picks.unfought)) && self.completes(hex, 0);
        }
        picks.vessel = may_march && self.units.at(hex).iter().any(|c| self.can_sail(*c));
        picks.alone = self.leaders_at(hex, side).any(|l| self.can_go_alone(l));
        picks.fleet = side == Side::Egyptian && self.fleet_can_move(hex);
        picks
    }

    /// [`Self::picks`] without telling which.
    fn can_act(&self, hex: Hex) -> bool {
        let quick = self.units.at(hex).iter().any(|c| {
            c.side() == self.active && c.status() == Status::Fresh && LAND.has(c.kind()) && c.kind() != Kind::Supply
        });
        (quick && self.may_march(hex, true)) || self.picks(hex).any()
    }

    fn can_sail(&self, c: Cohort) -> bool {
        c.side() == self.active
            && VESSELS.has(c.kind())
            && c.status() == Status::Fresh
            && !c.grouped()
            && self.vessel_has_a_way(self.active, c.hex(), is_boat(c.kind()))
    }

    fn can_go_alone(&self, leader: Leader) -> bool {
        let state = &self.leaders[leader.index()];
        state.status == Status::Fresh && self.has_a_way(leader.side(), state.hex, Mover::Leader)
    }

    fn fleet_can_move(&self, hex: Hex) -> bool {
        self.opposite_port(hex).is_some()
            && self.units.at(hex).iter().any(|c| c.kind() == Kind::Fleet && c.status() == Status::Fresh)
    }

    /// Whether the group picked so far in `hex`, with some of the lines from number `from` on, can become one that may
    /// march or attack (8.1): so that no choice on the way leads nowhere.
    pub(crate) fn completes(&self, hex: Hex, from: u8) -> bool {
        let mut picked = Tally::default();
        let mut ahead = Tally::default();
        let (mut disrupted, mut marched) = (false, false);
        for &c in self.units.at(hex) {
            if c.side() != self.active {
                continue;
            }
            marched |= c.grouped() && c.kind() == Kind::Flag && c.status() == Status::Marched;
            if !LAND.has(c.kind()) {
                continue;
            }
            if c.grouped() {
                picked.add(c);
                disrupted |= c.disrupted();
                marched |= c.status() == Status::Marched;
            } else if line(c) >= from {
                ahead.add(c);
            }
        }
        marched |= self.leaders_at(hex, self.active).any(|l| {
            let state = &self.leaders[l.index()];
            state.grouped && state.status == Status::Marched
        });
        let free = self.carried_without_camels(hex);
        let excess = picked.fresh_supply.saturating_sub(picked.fresh_camel + ahead.fresh_camel);
        let something = picked.fresh > 0 || ahead.fresh > if free { 0 } else { ahead.fresh_supply };
        let carried_alone = picked.fresh > 0 || free || ahead.fresh > ahead.fresh_supply;
        let march = self.may_march(hex, true) && !marched && something && carried_alone && (free || excess == 0);
        let attack = !disrupted && picked.unfought_combat + ahead.unfought_combat > 0 && self.has_target(hex);
        march || attack
    }

    // ----- options -----

    pub(crate) fn march_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let mut last = Hex::NONE;
        for c in self.units.as_slice() {
            if c.side() == self.active && c.hex() != last {
                last = c.hex();
                if self.can_act(last) {
                    take(Order::Hex(last))?;
                }
            }
        }
        for leader in Leader::ALL.into_iter().filter(|l| l.side() == self.active) {
            let hex = self.leaders[leader.index()].hex;
            let named_before = self.leaders_at(hex, self.active).next() != Some(leader);
            if hex.is_some()
                && !named_before
                && !self.units.at(hex).iter().any(|c| c.side() == self.active)
                && self.can_act(hex)
            {
                take(Order::Hex(hex))?;
            }
        }
        take(Order::Verb(Verb::Done))
    }

    pub(crate) fn march_hex_legal(&self, hex: Hex) -> bool {
        let present = self.units.at(hex).iter().any(|c| c.side() == self.active) || self.has_leader(hex, self.active);
        present && self.picks(hex).any()
    }

    pub(crate) fn march_pick_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for (verb, open) in self.picks(self.pending.hex).flags() {
            if open {
                take(Order::Verb(verb))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn march_pick_legal(&self, verb: Verb) -> bool {
        self.picks(self.pending.hex).flags().contains(&(verb, true))
    }

    /// The cohort that [`Decision::GroupCount`] asks about.
    fn asked_cohort(&self) -> Option<Cohort> {
        let pending = self.pending;
        self.units
            .at(pending.hex)
            .iter()
            .copied()
            .find(|c| c.side() == self.active && !c.grouped() && LAND.has(c.kind()) && line(*c) == pending.subject)
    }

    pub(crate) fn group_count_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let Some(cohort) = self.asked_cohort() else { return Taken::Continue(()) };
        let none = self.completes(self.pending.hex, self.pending.subject + 1);
        if none {
            take(Order::Count(0))?;
        }
        if !matches!(cohort.kind(), Kind::Supply | Kind::Camel) {
            // Whether one or more of the line are taken makes no difference to what the group may do.
            if self.after_taking(cohort, 1) {
                for n in 1..=cohort.count() {
                    take(Order::Count(n))?;
                }
            }
            return Taken::Continue(());
        }
        for n in 1..=cohort.count() {
            if self.after_taking(cohort, n) {
                take(Order::Count(n))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn group_count_legal(&self, n: u8) -> bool {
        let Some(cohort) = self.asked_cohort() else { return false };
        if n == 0 {
            self.completes(self.pending.hex, self.pending.subject + 1)
        } else {
            n <= cohort.count() && self.after_taking(cohort, n)
        }
    }

    /// Whether the group can still become a legal one after `n` units of `cohort` have joined.
    fn after_taking(&self, cohort: Cohort, n: u8) -> bool {
        let mut after = *self;
        after.join(cohort.with_count(n));
        after.completes(self.pending.hex, self.pending.subject + 1)
    }

    pub(crate) fn group_leader_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        if self.group_leader_legal(Verb::Yes) {
            take(Order::Verb(Verb::Yes))?;
        }
        take(Order::Verb(Verb::No))
    }

    pub(crate) fn group_leader_legal(&self, verb: Verb) -> bool {
        match verb {
            Verb::No => true,
            Verb::Yes => {
                let mut after = *self;
                after.join_leader_or_flag();
                after.completes(self.pending.hex, u8::MAX)
            }
            _ => false,
        }
    }

    pub(crate) fn group_order_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        if self.group_may_roll() {
            take(Order::Verb(Verb::Roll))?;
        }
        if self.group_may_sail() {
            take(Order::Verb(Verb::Sea))?;
        }
        if self.group_may_fight() {
            let cell = self.scenario.board.cell(self.group.hex);
            let mut targets = [Hex::NONE; 6];
            let mut count = 0;
            for d in 0..6 {
                let n = cell.neighbours[d];
                if n.is_some() && cell.rivers >> d & 1 == 0 && self.units.any(n, self.active.other(), COMBAT) {
                    targets[count] = n;
                    count += 1;
                }
            }
            targets[..count].sort_unstable();
            for &target in &targets[..count] {
                take(Order::Hex(target))?;
            }
        }
        if self.group.rolls > 0 {
            take(Order::Verb(Verb::Halt))?;
        }
        Taken::Continue(())
    }

    pub(crate) fn group_order_legal(&self, order: Order) -> bool {
        match order {
            Order::Verb(Verb::Roll) => self.group_may_roll(),
            Order::Verb(Verb::Sea) => self.group_may_sail(),
            Order::Verb(Verb::Halt) => self.group.rolls > 0,
            Order::Hex(target) => self.group_may_fight() && self.may_attack(self.group.hex, target),
            _ => false,
        }
    }

    pub(crate) fn group_cohorts(&self) -> impl Iterator<Item = Cohort> + '_ {
        self.units.at(self.group.hex).iter().copied().filter(|c| c.grouped())
    }

    fn group_leaders(&self) -> impl Iterator<Item = Leader> + '_ {
        self.leaders_at(self.group.hex, self.active).filter(|l| self.leaders[l.index()].grouped)
    }

    /// Supply units of the group for which it has no camel (8.6).
    fn uncarried(&self) -> bool {
        let (mut supply, mut camels) = (0u16, 0u16);
        for c in self.group_cohorts() {
            match c.kind() {
                Kind::Supply => supply += u16::from(c.count()),
                Kind::Camel => camels += u16::from(c.count()),
                _ => {}
            }
        }
        supply > camels
    }

    pub(crate) fn group_is_fresh(&self) -> bool {
        self.group_cohorts().all(|c| c.status() == Status::Fresh)
            && self.group_leaders().all(|l| self.leaders[l.index()].status == Status::Fresh)
    }

    fn group_may_roll(&self) -> bool {
        let group = &self.group;
        group.rolls < MOST_ROLLS
            && !group.failed
            && self.group_is_fresh()
            && self.may_march(group.hex, group.rolls == 0)
            && (!self.uncarried() || self.on_open_railway(group.hex))
    }

    fn group_may_sail(&self) -> bool {
        self.active == Side::Egyptian
            && self.group.rolls == 0
            && self.group_is_fresh()
            && self.other_port(self.group.hex).is_some()
    }

    /// Rule 8.4, 8.5: all in good order, none has fought, a combat unit among them.
    fn group_may_fight(&self) -> bool {
        let mut combat = false;
        for c in self.group_cohorts() {
            if c.kind() == Kind::Flag {
                continue;
            }
            if c.disrupted() || c.status() == Status::Fought {
                return false;
            }
            combat |= COMBAT.has(c.kind());
        }
        combat
    }

    /// Movement of the slowest of the group (8.2).
    fn group_movement(&self) -> u8 {
        self.group_cohorts().map(|c| self.scenario.catalogue.of(c.kind()).movement).min().unwrap_or(0)
    }

    fn group_reach<R>(&self, read: impl FnOnce(&Reach) -> R) -> R {
        let mover = if self.uncarried() { Mover::Railbound } else { Mover::Group };
        self.reach(self.active, self.group.hex, self.group_movement(), mover, read)
    }

    pub(crate) fn group_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        self.group_reach(|reach| reach.hexes().iter().try_for_each(|hex| take(Order::Hex(*hex))))
    }

    /// Whether the group has anywhere to go but where it is.
    pub(crate) fn group_has_a_way(&self) -> bool {
        let mover = if self.uncarried() { Mover::Railbound } else { Mover::Group };
        self.has_a_way(self.active, self.group.hex, mover)
    }

    pub(crate) fn group_hex_legal(&self, hex: Hex) -> bool {
        self.group_reach(|reach| reach.has(hex))
    }

    pub(crate) fn vessel_kind_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for &c in self.units.at(self.pending.hex) {
            if self.can_sail(c) {
                take(Order::Line { kind: c.kind(), disrupted: false })?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn vessel_kind_legal(&self, kind: Kind, disrupted: bool) -> bool {
        !disrupted && self.units.at(self.pending.hex).iter().any(|c| c.kind() == kind && self.can_sail(*c))
    }

    fn can_load(&self, c: Cohort) -> bool {
        c.side() == self.active && LAND.has(c.kind()) && c.status() == Status::Fresh && !c.grouped()
    }

    pub(crate) fn vessel_load_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for &c in self.units.at(self.pending.hex) {
            if self.can_load(c) {
                take(Order::Line { kind: c.kind(), disrupted: c.disrupted() })?;
            }
        }
        take(Order::Verb(Verb::Done))
    }

    pub(crate) fn vessel_load_legal(&self, kind: Kind, disrupted: bool) -> bool {
        self.units
            .at(self.pending.hex)
            .iter()
            .any(|c| c.kind() == kind && c.disrupted() == disrupted && self.can_load(*c))
    }

    fn vessel_reach<R>(&self, read: impl FnOnce(&Reach) -> R) -> R {
        let vessel = self.group_cohorts().find(|c| VESSELS.has(c.kind())).map_or(Kind::Boat, Cohort::kind);
        let movement = self.scenario.catalogue.of(vessel).movement;
        self.river_reach(self.active, self.group.hex, movement, is_boat(vessel), read)
    }

    pub(crate) fn vessel_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        self.vessel_reach(|reach| {
            let mut hexes = reach.hexes().iter().filter(|h| **h != self.group.hex && !self.religion_bars(**h));
            hexes.try_for_each(|hex| take(Order::Hex(*hex)))
        })
    }

    pub(crate) fn vessel_hex_legal(&self, hex: Hex) -> bool {
        hex != self.group.hex && self.vessel_reach(|reach| reach.has(hex)) && !self.religion_bars(hex)
    }

    /// `religious_disagreement`: no Mahdist vessel from the main map to the extension (4.4).
    fn religion_bars(&self, to: Hex) -> bool {
        let board = &self.scenario.board;
        self.active == Side::Mahdist
            && self.events.religious_disagreement
            && board.cell(to).extension
            && !board.cell(self.group.hex).extension
    }

    pub(crate) fn alone_leader_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for leader in self.leaders_at(self.pending.hex, self.active) {
            if self.can_go_alone(leader) {
                take(Order::Leader(leader))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn alone_leader_legal(&self, leader: Leader) -> bool {
        leader.side() == self.active
            && self.leaders[leader.index()].hex == self.pending.hex
            && self.can_go_alone(leader)
    }

    fn alone_reach<R>(&self, read: impl FnOnce(&Reach) -> R) -> R {
        let movement = self.scenario.catalogue.leader(Leader::ALL[usize::from(self.pending.subject)]).movement;
        self.reach(self.active, self.pending.hex, movement, Mover::Leader, read)
    }

    pub(crate) fn alone_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        self.alone_reach(|reach| {
            let mut hexes = reach.hexes().iter().filter(|h| **h != self.pending.hex);
            hexes.try_for_each(|hex| take(Order::Hex(*hex)))
        })
    }

    pub(crate) fn alone_hex_legal(&self, hex: Hex) -> bool {
        hex != self.pending.hex && self.alone_reach(|reach| reach.has(hex))
    }

    // ----- obeying -----

    /// Marks units of a cohort outside the group as members.
    pub(crate) fn join(&mut self, cohort: Cohort) {
        self.units.remove(cohort.with_group(false));
        self.units.add(cohort.with_group(true));
    }

    fn join_leader_or_flag(&mut self) {
        let Pending { hex, subject, .. } = self.pending;
        if subject == FLAG_SUBJECT {
            let flag = self.units.at(hex).iter().copied().find(|c| c.kind() == Kind::Flag);
            if let Some(flag) = flag {
                self.join(flag);
            }
        } else {
            self.leaders[subject as usize].grouped = true;
        }
    }

    /// A quick pick (8.1): every unit, leader and flag of the hex that `wanted` accepts. Supply beyond what the camels
    /// of the pick can carry stays behind where the pick is one to march with (8.6).
    fn quick_pick(&mut self, hex: Hex, carried: bool, wanted: impl Fn(bool, Status) -> bool) {
        let force = self.units.force(hex, self.active, |c| LAND.has(c.kind()) && wanted(c.disrupted(), c.status()));
        let mut room = if carried { force.count(Kind::Camel) } else { u32::MAX };
        let mut old = [Cohort::default(); 64];
        let mut len = 0;
        for &c in self.units.at(hex) {
            let goes = LAND.has(c.kind()) || c.kind() == Kind::Flag;
            if c.side() == self.active && goes && wanted(c.disrupted(), c.status()) {
                old[len] = c;
                len += 1;
            }
        }
        for &c in &old[..len] {
            let mut n = c.count();
            if c.kind() == Kind::Supply {
                n = u32::from(n).min(room) as u8;
                room -= u32::from(n);
            }
            if n > 0 {
                self.join(c.with_count(n));
            }
        }
        for leader in Leader::ALL {
            let state = &mut self.leaders[leader.index()];
            if leader.side() == self.active && state.hex == hex && wanted(false, state.status) {
                state.grouped = true;
            }
        }
    }

    pub(crate) fn obey_march_pick(&mut self, verb: Verb) {
        let hex = self.pending.hex;
        self.pending = Pending::NONE;
        match verb {
            Verb::Vessel => self.pending = Pending::at(Decision::VesselKind, hex),
            Verb::Alone => self.pending = Pending::at(Decision::AloneLeader, hex),
            Verb::Fleet => self.move_fleet(hex),
            _ => {
                self.group = Group { kind: GroupKind::March, hex, ..Group::NONE };
                match verb {
                    Verb::All => self.quick_pick(hex, true, |_, status| status == Status::Fresh),
                    Verb::AllGood => {
                        self.quick_pick(hex, true, |disrupted, status| !disrupted && status == Status::Fresh)
                    }
                    Verb::Unfought => {
                        self.quick_pick(hex, false, |disrupted, status| !disrupted && status != Status::Fought)
                    }
                    _ => self.ask_next_line(hex, 0),
                }
            }
        }
    }

    fn move_fleet(&mut self, from: Hex) {
        let Some(to) = self.opposite_port(from) else { return };
        let fleet = self.units.at(from).iter().copied().find(|c| c.kind() == Kind::Fleet);
        if let Some(fleet) = fleet {
            self.units.remove(fleet);
            self.units.add(fleet.with_hex(to).with_status(Status::Marched));
        }
    }

    /// Asks about the first line from number `from` on that could join, then about leaders and the flag, then what the
    /// group does.
    fn ask_next_line(&mut self, hex: Hex, from: u8) {
        let next = self
            .units
            .at(hex)
            .iter()
            .filter(|c| {
                c.side() == self.active
                    && !c.grouped()
                    && LAND.has(c.kind())
                    && c.status() != Status::Fought
                    && line(**c) >= from
            })
            .map(|c| line(*c))
            .min();
        match next {
            Some(line) => self.pending = Pending::at(Decision::GroupCount, hex).about(line),
            None => self.ask_next_leader(hex, 0),
        }
    }

    fn ask_next_leader(&mut self, hex: Hex, from: u8) {
        self.pending = Pending::NONE;
        for subject in from..=FLAG_SUBJECT {
            let asks = if subject == FLAG_SUBJECT {
                self.units.at(hex).iter().any(|c| c.kind() == Kind::Flag && c.status() != Status::Fought)
                    && self.active == Side::Egyptian
            } else {
                let leader = Leader::ALL[subject as usize];
                let state = &self.leaders[subject as usize];
                leader.side() == self.active && state.hex == hex && state.status != Status::Fought
            };
            if asks {
                self.pending = Pending::at(Decision::GroupLeader, hex).about(subject);
                return;
            }
        }
    }

    pub(crate) fn obey_group_count(&mut self, n: u8) {
        let Pending { hex, subject, .. } = self.pending;
        if n > 0
            && let Some(cohort) = self.asked_cohort()
        {
            self.join(cohort.with_count(n));
        }
        self.ask_next_line(hex, subject + 1);
    }

    pub(crate) fn obey_group_leader(&mut self, verb: Verb) {
        let Pending { hex, subject, .. } = self.pending;
        if verb == Verb::Yes {
            self.join_leader_or_flag();
        }
        self.ask_next_leader(hex, subject + 1);
    }

    pub(crate) fn obey_group_order(&mut self, order: Order) {
        let hex = self.group.hex;
        self.pending = Pending::NONE;
        match order {
            Order::Verb(Verb::Roll) => {
                if self.group.rolls == 0 && self.events.favour == Favour::Named && self.events.favoured == hex {
                    self.group.favoured = true;
                    self.events.favour = Favour::Used;
                }
                self.group.rolls += 1;
                self.pending = Pending::at(Decision::RollMarch, hex);
            }
            Order::Verb(Verb::Sea) => {
                if let Some(port) = self.other_port(hex) {
                    self.move_group(port);
                    self.enter(port, self.active);
                }
                self.end_group(Status::Marched);
            }
            Order::Hex(target) => self.begin_battle(target),
            _ => self.end_group(Status::Marched),
        }
    }

    /// The modifiers of the group's march roll (8.31).
    pub fn march_modifier(&self) -> i32 {
        let group = &self.group;
        let mut modifier = i32::from(self.strategic(group.hex, self.active, |l| l.grouped));
        modifier += i32::from(group.favoured);
        let british_season = (3..=10).contains(&self.month());
        let (mut british, mut civilian) = (false, false);
        for c in self.group_cohorts() {
            british |= BRITISH_MARCHERS.has(c.kind());
            civilian |= c.kind() == Kind::Civilian;
        }
        modifier -= i32::from(british && british_season) + i32::from(civilian);
        modifier - (i32::from(group.rolls) - 1)
    }

    pub(crate) fn resolve_march(&mut self, die: u16) {
        let result = self.scenario.tables.march(i32::from(die) + self.march_modifier());
        let hex = self.group.hex;
        self.pending = Pending::NONE;
        match result {
            MarchResult::NoMarch => self.group.failed = true,
            MarchResult::March { disrupted_percent } => {
                if disrupted_percent > 0 {
                    self.disrupt_on_march(disrupted_percent);
                }
                self.pending = Pending::at(Decision::GroupHex, hex);
            }
        }
    }

    /// Disrupts a share of the group (8.31): fractions down, on good-order units, each on the kind that has taken
    /// fewest, ties in catalogue order, civilians last among train (9.8).
    fn disrupt_on_march(&mut self, percent: u8) {
        let hex = self.group.hex;
        let group = self.units.force(hex, self.active, |c| c.grouped() && LAND.has(c.kind()));
        let mut due = group.count_of(LAND) * u32::from(percent) / 100;
        let mut taken = [0u8; super::super::catalogue::KINDS];
        while due > 0 {
            let able = |k: Kind| group.good[k.index()] > taken[k.index()];
            let other_train = able(Kind::Supply) || able(Kind::Camel);
            let next = Kind::ALL
                .into_iter()
                .filter(|k| able(*k) && !(*k == Kind::Civilian && other_train))
                .min_by_key(|k| taken[k.index()]);
            let Some(kind) = next else { break };
            taken[kind.index()] += 1;
            due -= 1;
        }
        for kind in Kind::ALL {
            let n = taken[kind.index()];
            if n > 0 {
                let good = Cohort::new(hex, kind, false, Status::Fresh, n).with_group(true);
                self.units.remove(good);
                self.units.add(good.with_disrupted(true));
            }
        }
    }

    pub(crate) fn obey_group_hex(&mut self, hex: Hex) {
        self.pending = Pending::NONE;
        self.group.came_from = self.group.hex;
        self.move_group(hex);
        self.take_control(hex, self.active);
        self.enter(hex, self.active);
    }

    /// Moves the units and leaders of the group to `hex`.
    pub(crate) fn move_group(&mut self, hex: Hex) {
        let from = self.group.hex;
        if from == hex {
            return;
        }
        let mut moved = [Cohort::default(); 64];
        let mut len = 0;
        for c in self.group_cohorts() {
            moved[len] = c;
            len += 1;
        }
        for &c in &moved[..len] {
            self.units.remove(c);
            self.units.add(c.with_hex(hex));
        }
        for state in self.leaders.iter_mut().filter(|l| l.grouped) {
            state.hex = hex;
        }
        self.group.hex = hex;
        // It may have stayed behind alone, or go along with train alone (12.1).
        self.drop_lone_flag(from);
        self.drop_lone_flag(hex);
    }

    /// Ends the group: its members have marched or fought.
    pub(crate) fn end_group(&mut self, status: Status) {
        let hex = self.group.hex;
        self.units.change_at(hex, |c| {
            Some(if c.grouped() { c.with_group(false).with_status(c.status().max(status)) } else { c })
        });
        for state in self.leaders.iter_mut().filter(|l| l.grouped) {
            state.grouped = false;
            state.status = state.status.max(status);
        }
        self.take_control(hex, self.active);
        if self.group.favoured {
            // Fervour goes on with the group to its attrition roll (4.4); urgency is used up.
            self.events.favoured = if self.active == Side::Mahdist { hex } else { Hex::NONE };
        }
        self.group = Group::NONE;
        self.drop_lone_flag(hex);
    }

    pub(crate) fn obey_vessel_kind(&mut self, kind: Kind) {
        let hex = self.pending.hex;
        self.group = Group { kind: GroupKind::Vessel, hex, ..Group::NONE };
        self.join(Cohort::new(hex, kind, false, Status::Fresh, 1));
        let capacity = self.scenario.catalogue.of(kind).carries;
        self.pending = Pending::at(Decision::VesselLoad, hex).amount(capacity);
    }

    pub(crate) fn obey_vessel_load(&mut self, order: Order) {
        let Pending { hex, amount, .. } = self.pending;
        if let Order::Line { kind, disrupted } = order {
            self.join(Cohort::new(hex, kind, disrupted, Status::Fresh, 1));
            if amount > 1 {
                self.pending.amount -= 1;
                return;
            }
        }
        self.ask_next_passenger(hex, 0);
    }

    fn ask_next_passenger(&mut self, hex: Hex, from: u8) {
        for subject in from..FLAG_SUBJECT {
            let leader = Leader::ALL[subject as usize];
            let state = &self.leaders[subject as usize];
            if leader.side() == self.active && state.hex == hex && state.status == Status::Fresh {
                self.pending = Pending::at(Decision::VesselLeader, hex).about(subject);
                return;
            }
        }
        let flag = self.active == Side::Egyptian
            && from <= FLAG_SUBJECT
            && self.units.at(hex).iter().any(|c| c.kind() == Kind::Flag && c.status() == Status::Fresh);
        self.pending = Pending::at(if flag { Decision::VesselFlag } else { Decision::VesselHex }, hex);
    }

    pub(crate) fn obey_vessel_leader(&mut self, verb: Verb) {
        let Pending { hex, subject, .. } = self.pending;
        if verb == Verb::Yes {
            self.leaders[subject as usize].grouped = true;
        }
        self.ask_next_passenger(hex, subject + 1);
    }

    pub(crate) fn obey_vessel_flag(&mut self, verb: Verb) {
        let hex = self.pending.hex;
        if verb == Verb::Yes {
            self.pending.subject = FLAG_SUBJECT;
            self.join_leader_or_flag();
        }
        self.pending = Pending::at(Decision::VesselHex, hex);
    }

    pub(crate) fn obey_vessel_hex(&mut self, hex: Hex) {
        self.pending = Pending::NONE;
        self.move_group(hex);
        let landed = self.group_cohorts().any(|c| LAND.has(c.kind()));
        self.end_group(Status::Marched);
        if landed {
            self.enter(hex, self.active);
        }
    }

    pub(crate) fn obey_alone_leader(&mut self, leader: Leader) {
        self.pending = Pending::at(Decision::AloneHex, self.pending.hex).about(leader as u8);
    }

    pub(crate) fn obey_alone_hex(&mut self, hex: Hex) {
        let state = &mut self.leaders[self.pending.subject as usize];
        state.hex = hex;
        state.status = Status::Marched;
        self.pending = Pending::NONE;
    }

    /// Rule 8.5: good-order train of the hex goes into the attack, unless a good-order combat unit stays behind.
    pub(crate) fn take_train_along(&mut self) {
        let (hex, side) = (self.group.hex, self.active);
        let guarded = self.units.at(hex).iter().any(|c| c.side() == side && !c.grouped() && c.good_in(COMBAT));
        if !guarded {
            self.units.change_at(hex, |c| {
                let goes = c.side() == side && c.good_in(TRAIN) && c.status() != Status::Fought;
                Some(if goes { c.with_group(true) } else { c })
            });
        }
    }

    /// Ends the march phase: nothing goes on into the next one.
    pub(crate) fn end_march_phase(&mut self) {
        self.units.refresh();
        for state in &mut self.leaders {
            state.status = Status::Fresh;
        }
    }
}

fn is_boat(kind: Kind) -> bool {
    matches!(kind, Kind::Boat | Kind::MahdistBoat)
}

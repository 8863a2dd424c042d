//! A picked group (8.2-8.6): march rolls (8.31), destinations, going by sea (8.8), attack, and its end.

use super::super::board::Hex;
use super::super::campaign::{Campaign, Favour, Group};
use super::super::catalogue::{COMBAT, Kind, KindSet, LAND, Leader, Side, TRAIN};
use super::super::decision::{Decision, Pending};
use super::super::order::{Order, Verb};
use super::super::tables::MarchResult;
use super::super::units::{Cohort, Status};
use super::march::Taken;
use super::movement::{Mover, Reach};

/// Units that make the British −1 of the march table: any British combat unit but guns (8.31).
const BRITISH_MARCHERS: KindSet =
    KindSet::of(&[Kind::BritishInfantry, Kind::CamelCorps, Kind::BritishCavalry, Kind::NavalInfantry]);

/// Most march rolls of a group (8.2).
const MOST_ROLLS: u8 = 3;

impl Campaign {
    pub(crate) fn group_cohorts(&self) -> impl Iterator<Item = Cohort> + '_ {
        self.units.at(self.group.hex).iter().copied().filter(|c| c.grouped())
    }

    fn group_leaders(&self) -> impl Iterator<Item = Leader> + '_ {
        self.leaders_at(self.group.hex, self.active).filter(|l| self.leaders[l.index()].grouped)
    }

    pub(crate) fn group_is_fresh(&self) -> bool {
        self.group_cohorts().all(|c| c.status() == Status::Fresh)
            && self.group_leaders().all(|l| self.leaders[l.index()].status == Status::Fresh)
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

    pub(crate) fn group_order_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        if self.group_may_roll() {
            take(Order::Verb(Verb::Roll))?;
        }
        if self.group_may_sail() {
            take(Order::Verb(Verb::Sea))?;
        }
        if self.group_may_fight() {
            let mut targets = [Hex::NONE; 6];
            let mut count = 0;
            for target in self.targets(self.group.hex) {
                targets[count] = target;
                count += 1;
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
            Order::Hex(target) => self.group_may_fight() && self.targets(self.group.hex).any(|t| t == target),
            _ => false,
        }
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

    /// Movement points of the slowest of the group (8.2).
    pub fn group_movement(&self) -> u8 {
        self.group_cohorts().map(|c| self.scenario.catalogue.of(c.kind()).movement).min().unwrap_or(0)
    }

    fn group_reach<R>(&self, read: impl FnOnce(&Reach) -> R) -> R {
        let mover = if self.uncarried() { Mover::Railbound } else { Mover::Group };
        self.reach(self.active, self.group.hex, self.group_movement(), mover, read)
    }

    /// Whether the group has anywhere to go but where it is.
    pub(crate) fn group_has_a_way(&self) -> bool {
        let mover = if self.uncarried() { Mover::Railbound } else { Mover::Group };
        self.has_a_way(self.active, self.group.hex, mover)
    }

    pub(crate) fn group_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        self.group_reach(|reach| reach.hexes().iter().try_for_each(|hex| take(Order::Hex(*hex))))
    }

    pub(crate) fn group_hex_legal(&self, hex: Hex) -> bool {
        self.group_reach(|reach| reach.has(hex))
    }

    pub(crate) fn obey_group_hex(&mut self, hex: Hex) {
        self.pending = Pending::NONE;
        // Who stays where he is has not come from there: the way back is still that of his last move (9.9).
        if hex != self.group.hex {
            self.group.came_from = self.group.hex;
        }
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
}

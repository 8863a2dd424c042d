//! Picking a group (8.1): by a quick pick, or units by number, then leaders and the flag one by one.

use super::super::board::Hex;
use super::super::campaign::Campaign;
use super::super::catalogue::{COMBAT, Kind, LAND, LEADERS, Leader, Side};
use super::super::decision::{Decision, Pending};
use super::super::order::{Order, Verb};
use super::super::units::{Cohort, Status};
use super::march::Taken;

/// Units counted for one hex: what is still free to act, and what the group has taken so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// Land units that are fresh.
    pub(super) fresh: u16,
    /// Of these, disrupted.
    pub(super) fresh_disrupted: u16,
    pub(super) fresh_supply: u16,
    pub(super) fresh_camel: u16,
    /// Good-order ones among the last two.
    pub(super) good_supply: u16,
    pub(super) good_camel: u16,
    /// Good-order land units that have marched and not fought.
    pub(super) marched_good: u16,
    /// Good-order combat units that are fresh.
    pub(super) fresh_combat: u16,
    /// Good-order combat units that have not fought.
    pub(super) unfought_combat: u16,
    pub(super) flag: u16,
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
    pub(super) fn marchable(&self) -> u16 {
        self.fresh - self.fresh_supply.saturating_sub(self.fresh_camel)
    }
    /// The same for those in good order.
    pub(super) fn good_marchable(&self) -> u16 {
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
    pub(super) fn tally(&self, hex: Hex, side: Side) -> Tally {
        let mut tally = Tally::default();
        for &c in self.units.at(hex) {
            if c.side() == side && !c.grouped() {
                tally.add(c);
            }
        }
        tally
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
        let march = self.may_march(hex, true) && !marched && something && (free || excess == 0);
        let attack = !disrupted && picked.unfought_combat + ahead.unfought_combat > 0 && self.has_target(hex);
        march || attack
    }

    /// A quick pick (8.1): every unit, leader and flag of the hex that `wanted` accepts. Supply beyond what the camels
    /// of the pick can carry stays behind where the pick is one to march with (8.6).
    pub(super) fn quick_pick(&mut self, hex: Hex, carried: bool, wanted: impl Fn(bool, Status) -> bool) {
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

    /// Marks units of a cohort outside the group as members.
    pub(crate) fn join(&mut self, cohort: Cohort) {
        self.units.remove(cohort.with_group(false));
        self.units.add(cohort.with_group(true));
    }

    pub(super) fn join_leader_or_flag(&mut self) {
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

    /// Asks about the first line from number `from` on that could join, then about leaders and the flag, then what the
    /// group does.
    pub(super) fn ask_next_line(&mut self, hex: Hex, from: u8) {
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

    pub(crate) fn obey_group_count(&mut self, n: u8) {
        let Pending { hex, subject, .. } = self.pending;
        if n > 0
            && let Some(cohort) = self.asked_cohort()
        {
            self.join(cohort.with_count(n));
        }
        self.ask_next_line(hex, subject + 1);
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

    pub(crate) fn obey_group_leader(&mut self, verb: Verb) {
        let Pending { hex, subject, .. } = self.pending;
        if verb == Verb::Yes {
            self.join_leader_or_flag();
        }
        self.ask_next_leader(hex, subject + 1);
    }
}

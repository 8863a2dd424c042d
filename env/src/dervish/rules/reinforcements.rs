//! The reinforcement phase (5): field forces, scheduled arrivals, gunboats that return, the railway (8.9), the flag
//! (12), Mahdist recruitment (5.2).

use super::super::board::{Hex, PlaceKind};
use super::super::campaign::{Campaign, LeaderState, Phase};
use super::super::catalogue::{BRITISH_COMBAT, COMBAT, KINDS, Kind, KindSet, LAND, Leader, Side, TRAIN};
use super::super::decision::{Decision, Pending};
use super::super::order::{Order, Verb};
use super::super::scenario::{Arrival, Recruits, Reinforcement, UnitCount};
use super::super::units::{Cohort, Status};
use super::march::Taken;

/// Units of British nationality, which alone may show the flag (12.1; 1.1 for the meaning of British).
const BRITISH_NATION: KindSet = KindSet::of(&[
    Kind::BritishInfantry,
    Kind::CamelCorps,
    Kind::BritishCavalry,
    Kind::NavalInfantry,
    Kind::BritishGun,
]);
/// Egyptian combat units and train: what may leave with a field force (4.3).
const EGYPTIANS: KindSet =
    KindSet::of(&[Kind::Levy, Kind::RifleR, Kind::RifleL, Kind::EgyptianCavalry, Kind::EgyptianGun]).or(TRAIN);
/// Hexes of railway that one supply unit builds (8.9).
const RAIL_PER_SUPPLY: u8 = 2;

/// Steps of the phase, in [`Campaign::stage`].
pub(crate) mod step {
    pub(crate) const SCHEDULE: u8 = 0;
    pub(crate) const LEAVE: u8 = 1;
    pub(crate) const LEAVE_HEXES: u8 = 2;
    pub(crate) const LAND: u8 = 3;
    pub(crate) const ARRIVALS: u8 = 4;
    pub(crate) const GUNBOATS: u8 = 5;
    pub(crate) const RAIL: u8 = 6;
    pub(crate) const FLAG_OFF: u8 = 7;
    pub(crate) const FLAG_ON: u8 = 8;
    pub(crate) const RECRUITS: u8 = 9;
}

impl Campaign {
    /// Goes on with the reinforcement phase until something is pending or the phase is over.
    pub(crate) fn next_reinforcement(&mut self) {
        let egyptian = self.active == Side::Egyptian;
        match self.stage {
            step::SCHEDULE => {
                if egyptian {
                    self.scheduled_field_force();
                }
                self.stage = if egyptian { step::LEAVE } else { step::ARRIVALS };
            }
            step::LEAVE => {
                self.stage = step::LAND;
                if self.events.leaving {
                    self.field_force_leaves();
                    self.stage = step::LEAVE_HEXES;
                }
            }
            step::LEAVE_HEXES => match self.next_leaving_hex() {
                Some(hex) => {
                    self.cursor = hex;
                    self.pending = Pending::at(Decision::LeaveHex, hex);
                }
                None => {
                    self.cursor = Hex::NONE;
                    self.stage = step::LAND;
                }
            },
            step::LAND => {
                self.stage = step::ARRIVALS;
                if self.events.landing {
                    self.field_force_lands();
                }
            }
            step::ARRIVALS => self.next_arrival(),
            step::GUNBOATS => {
                self.return_gunboats();
                self.stage = step::RAIL;
            }
            step::RAIL => {
                self.stage = step::FLAG_OFF;
                if self.rail_room() > 0 {
                    self.pending = Pending::at(Decision::RailCount, self.railhead());
                }
            }
            step::FLAG_OFF => {
                self.stage = step::FLAG_ON;
                let flag = self.units.as_slice().iter().find(|c| c.kind() == Kind::Flag).map(|c| c.hex());
                if let Some(hex) = flag
                    && self.units.any(hex, Side::Egyptian, BRITISH_NATION)
                {
                    self.pending = Pending::at(Decision::FlagRemove, hex);
                }
            }
            step::FLAG_ON => {
                self.stage = step::RECRUITS;
                let can_show = self.scenario.options.flag
                    && self.available(Kind::Flag) > 0
                    && self.stacks(Side::Egyptian, BRITISH_NATION).next().is_some();
                if can_show {
                    self.pending = Pending::of(Decision::FlagHex);
                }
            }
            _ if egyptian => self.begin_phase(Phase::March),
            _ => self.next_recruits(),
        }
    }

    // ----- field forces (2.5, 4.3) -----

    /// Scenario 3 lands its field force and takes it away on fixed turns (2.6).
    fn scheduled_field_force(&mut self) {
        let Some(first) = self.scenario.0.field_forces.first() else { return };
        let enemy_holds = self.controls(Side::Mahdist, self.scenario.named.souakim);
        if first.lands_on == Some(self.turn) && self.events.field_forces == 0 && !enemy_holds {
            self.events.field_forces = 1;
            self.events.landing = true;
        }
        if first.leaves_on == Some(self.turn) && self.events.in_play && self.events.field_forces == 1 {
            self.events.leaving = true;
        }
    }

    fn field_force_leaves(&mut self) {
        self.events.leaving = false;
        self.events.in_play = false;
        self.cursor = Hex::NONE;
        let board = &self.scenario.0.board;
        let mut last = Hex::NONE;
        while let Some(hex) = self.stack_after(last, Side::Egyptian, BRITISH_COMBAT) {
            last = hex;
            if !board.cell(hex).extension {
                continue;
            }
            self.units.change_at(hex, |c| (!BRITISH_COMBAT.has(c.kind())).then_some(c));
            self.drop_lone_flag(hex);
        }
        let graham = &mut self.leaders[Leader::Graham.index()];
        if graham.hex.is_some() && board.cell(graham.hex).extension {
            *graham = LeaderState::ABSENT;
        }
    }

    /// The next hex whose Egyptian units and train (on the extension) or British units (in Berber) may leave too.
    fn next_leaving_hex(&self) -> Option<Hex> {
        let board = &self.scenario.board;
        let berber = self.scenario.named.berber.map(|p| board.places[p.0 as usize].hex);
        let after = |h: Hex| self.cursor == Hex::NONE || h > self.cursor;
        self.stacks(Side::Egyptian, LAND).find(|h| {
            after(*h)
                && ((board.cell(*h).extension && self.units.any(*h, Side::Egyptian, EGYPTIANS))
                    || (Some(*h) == berber && self.units.any(*h, Side::Egyptian, BRITISH_COMBAT)))
        })
    }

    pub(crate) fn obey_leave_hex(&mut self, verb: Verb) {
        let hex = self.pending.hex;
        self.pending = Pending::NONE;
        if verb == Verb::Yes {
            let leaving = if self.scenario.board.cell(hex).extension { EGYPTIANS } else { BRITISH_COMBAT };
            self.units.change_at(hex, |c| (!leaving.has(c.kind())).then_some(c));
            self.drop_lone_flag(hex);
        }
    }

    fn field_force_lands(&mut self) {
        self.events.landing = false;
        let scenario = self.scenario.0;
        let number = usize::from(self.events.field_forces);
        let (Some(force), Some(souakim)) = (scenario.field_forces.get(number.wrapping_sub(1)), scenario.named.souakim)
        else {
            return;
        };
        let port = scenario.board.places[souakim.0 as usize].hex;
        let mut left = [0u8; KINDS];
        for unit in &force.units {
            left[unit.kind.index()] += unit.count;
        }
        if self.events.in_play && number == 2 {
            self.replace_field_force(&mut left);
        }
        // Units already on the map stay where they are: only free counters land.
        for kind in Kind::ALL {
            let n = left[kind.index()].min(self.available(kind));
            self.units.add(Cohort::new(port, kind, false, Status::Fresh, n));
        }
        self.place_leaders(&force.leaders, port);
        self.take_control(port, Side::Egyptian);
        self.enter(port, Side::Egyptian);
        self.events.in_play = true;
    }

    /// The second field force relieves the first: every British unit on the extension is replaced by one of its own
    /// kind, else by an Indian infantry, in good order, where it stands.
    fn replace_field_force(&mut self, left: &mut [u8; KINDS]) {
        let board = &self.scenario.0.board;
        let mut old = [Cohort::default(); super::super::units::CAPACITY];
        let mut len = 0;
        for &c in self.units.as_slice() {
            if BRITISH_COMBAT.has(c.kind()) && board.cell(c.hex()).extension {
                old[len] = c;
                len += 1;
            }
        }
        for &c in &old[..len] {
            self.units.remove(c);
        }
        for &c in &old[..len] {
            for _ in 0..c.count() {
                let kind = [c.kind(), Kind::IndianInfantry].into_iter().find(|k| left[k.index()] > 0);
                match kind {
                    Some(kind) => {
                        left[kind.index()] -= 1;
                        self.units.add(Cohort::new(c.hex(), kind, false, Status::Fresh, 1));
                    }
                    // Nobody is left to relieve it: the old one stays (13.6).
                    None => self.units.add(c.with_count(1)),
                }
            }
        }
        for &c in &old[..len] {
            self.drop_lone_flag(c.hex());
        }
    }

    // ----- scheduled arrivals (5.1) -----

    fn next_arrival(&mut self) {
        let scenario = self.scenario.0;
        let first = if self.cursor == Hex::NONE { 0 } else { self.cursor.index() };
        for (i, entry) in scenario.reinforcements.iter().enumerate().skip(first) {
            let due = entry.turn <= self.turn && entry.side == self.active && self.arrived >> i & 1 == 0;
            if !due {
                continue;
            }
            if entry.while_field_force && !self.events.in_play {
                self.arrived |= 1 << i;
                continue;
            }
            self.cursor = Hex(i as u16 + 1);
            self.pending = Pending::of(Decision::ArriveHex).about(i as u8);
            let mut found = false;
            let _ = self.arrive_hex_options(&mut |_| {
                found = true;
                Taken::Break(())
            });
            if found {
                return;
            }
            // They wait (5.1).
            self.pending = Pending::NONE;
        }
        self.cursor = Hex::NONE;
        self.stage = if self.active == Side::Egyptian { step::GUNBOATS } else { step::RECRUITS };
    }

    fn asked_reinforcement(&self) -> Option<&'static Reinforcement> {
        self.scenario.0.reinforcements.get(usize::from(self.pending.subject))
    }

    /// Rule 5.1: not where the enemy stands or controls the place.
    fn arrival_open(&self, hex: Hex, side: Side) -> bool {
        self.scenario.board.is_land(hex) && !self.enemy_in(hex, side) && !self.controls_at(side.other(), hex)
    }

    pub(crate) fn arrive_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let Some(entry) = self.asked_reinforcement() else { return Taken::Continue(()) };
        match &entry.arrival {
            Arrival::Hexes(hexes) => {
                for &hex in hexes.iter().filter(|h| self.arrival_open(**h, entry.side)) {
                    take(Order::Hex(hex))?;
                }
            }
            Arrival::AnyStack => {
                for hex in self.stacks(entry.side, LAND) {
                    take(Order::Hex(hex))?;
                }
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn arrive_hex_legal(&self, hex: Hex) -> bool {
        let Some(entry) = self.asked_reinforcement() else { return false };
        match &entry.arrival {
            Arrival::Hexes(hexes) => hexes.contains(&hex) && self.arrival_open(hex, entry.side),
            Arrival::AnyStack => self.units.any(hex, entry.side, LAND),
        }
    }

    pub(crate) fn obey_arrive_hex(&mut self, hex: Hex) {
        let index = self.pending.subject;
        let Some(entry) = self.asked_reinforcement() else { return };
        self.pending = Pending::NONE;
        self.arrived |= 1 << index;
        self.place_units(&entry.units, hex);
        self.place_leaders(&entry.leaders, hex);
        self.take_control(hex, entry.side);
        if entry.units.iter().any(|u| LAND.has(u.kind)) {
            self.enter(hex, entry.side);
        }
    }

    /// Places units as far as there are counters; the others are lost (2.4, 5.1).
    fn place_units(&mut self, units: &[UnitCount], hex: Hex) {
        for unit in units {
            let n = unit.count.min(self.available(unit.kind));
            self.units.add(Cohort::new(hex, unit.kind, false, Status::Fresh, n));
        }
    }

    fn place_leaders(&mut self, leaders: &[Leader], hex: Hex) {
        for leader in leaders {
            let state = &mut self.leaders[leader.index()];
            if !state.lost && !state.hex.is_some() {
                *state = LeaderState { hex, ..LeaderState::ABSENT };
            }
        }
    }

    // ----- railway (8.9) -----

    /// The last built hex of the railway, or the port.
    fn railhead(&self) -> Hex {
        self.scenario.board.railway.get(usize::from(self.railway)).copied().unwrap_or(Hex::NONE)
    }

    /// How many hexes the Egyptian player could build now: none of them next to an enemy.
    fn rail_room(&self) -> u8 {
        let railhead = self.railhead();
        let allowed = self.scenario.railway
            && self.events.field_forces >= 2
            && railhead.is_some()
            && self.units.any(railhead, Side::Egyptian, Kind::Supply.set());
        if !allowed {
            return 0;
        }
        let ahead = self.scenario.board.railway.iter().skip(usize::from(self.railway) + 1);
        let open = ahead
            .take(usize::from(RAIL_PER_SUPPLY))
            .take_while(|h| !self.enemy_in(**h, Side::Egyptian) && !self.adjacent_any(**h, Side::Mahdist, COMBAT));
        open.count() as u8
    }

    pub(crate) fn rail_count_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for n in 0..=self.rail_room() {
            take(Order::Count(n))?;
        }
        Taken::Continue(())
    }

    pub(crate) fn rail_count_legal(&self, n: u8) -> bool {
        n <= self.rail_room()
    }

    pub(crate) fn obey_rail_count(&mut self, n: u8) {
        let railhead = self.pending.hex;
        self.pending = Pending::NONE;
        if n > 0 {
            self.spend_supply_at(railhead);
            self.railway += n;
        }
    }

    // ----- the flag (12) -----

    pub(crate) fn obey_flag_remove(&mut self, verb: Verb) {
        let hex = self.pending.hex;
        self.pending = Pending::NONE;
        if verb == Verb::Yes {
            self.units.change_at(hex, |c| (c.kind() != Kind::Flag).then_some(c));
        }
    }

    pub(crate) fn flag_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for hex in self.stacks(Side::Egyptian, BRITISH_NATION) {
            take(Order::Hex(hex))?;
        }
        take(Order::Verb(Verb::Done))
    }

    pub(crate) fn flag_hex_legal(&self, order: Order) -> bool {
        match order {
            Order::Hex(hex) => self.units.any(hex, Side::Egyptian, BRITISH_NATION),
            order => order == Order::Verb(Verb::Done),
        }
    }

    pub(crate) fn obey_flag_hex(&mut self, order: Order) {
        self.pending = Pending::NONE;
        if let Order::Hex(hex) = order {
            self.units.add(Cohort::new(hex, Kind::Flag, false, Status::Fresh, 1));
        }
    }

    // ----- Mahdist recruitment (5.2) -----

    /// Rolls for the next district in the order of the map file; [`Campaign::cursor`] counts them.
    fn next_recruits(&mut self) {
        let first = if self.cursor == Hex::NONE { 0 } else { self.cursor.index() };
        for district in first..self.scenario.board.districts.len() {
            if self.recruits_in(district as u8) {
                self.cursor = Hex(district as u16 + 1);
                self.pending = Pending::of(Decision::RollRecruits).about(district as u8);
                return;
            }
        }
        self.cursor = Hex::NONE;
        self.begin_phase(Phase::March);
    }

    fn in_district(&self, hex: Hex, district: u8) -> bool {
        hex.is_some() && self.scenario.board.cell(hex).district == district
    }

    fn controls_in(&self, district: u8, kinds: &[PlaceKind]) -> bool {
        self.scenario.board.places.iter().any(|p| {
            kinds.contains(&p.kind) && self.in_district(p.hex, district) && self.controls_at(Side::Mahdist, p.hex)
        })
    }

    /// A leader of his, or a town or village that he controls.
    fn recruits_in(&self, district: u8) -> bool {
        let leader = Leader::ALL
            .into_iter()
            .any(|l| l.side() == Side::Mahdist && self.in_district(self.leaders[l.index()].hex, district));
        leader || self.controls_in(district, &[PlaceKind::Town, PlaceKind::Village])
    }

    /// What each throw gains in a district (5.2).
    pub(crate) fn recruits_gained(&self, district: u8) -> impl Fn(u16) -> u8 + use<> {
        let mahdi = self.in_district(self.leaders[Leader::Mahdi.index()].hex, district);
        let town = self.controls_in(district, &[PlaceKind::Town]);
        let Recruits { less, mahdi: with_mahdi, town: with_town } = self.scenario.recruits;
        let more = u8::from(mahdi) * with_mahdi + u8::from(town) * with_town;
        let most = self.available(Kind::MahdistSpearmen);
        move |die| ((die as u8).saturating_sub(less) + more).min(most)
    }

    pub(crate) fn resolve_recruits(&mut self, die: u16) {
        let district = self.pending.subject;
        self.pending = Pending::NONE;
        let gain = self.recruits_gained(district)(die);
        if gain == 0 {
            return;
        }
        self.pending = Pending::of(Decision::RecruitHex).about(district).amount(gain);
        let mut found = false;
        let _ = self.recruit_hex_options(&mut |_| {
            found = true;
            Taken::Break(())
        });
        if !found {
            self.pending = Pending::NONE;
        }
    }

    pub(crate) fn recruit_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for hex in self.stacks(Side::Mahdist, COMBAT) {
            if self.recruit_hex_legal(hex) {
                take(Order::Hex(hex))?;
            }
        }
        for place in &self.scenario.board.places {
            if !self.units.any(place.hex, Side::Mahdist, COMBAT) && self.recruit_hex_legal(place.hex) {
                take(Order::Hex(place.hex))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn recruit_hex_legal(&self, hex: Hex) -> bool {
        let his = self.units.any(hex, Side::Mahdist, COMBAT) || self.controls_at(Side::Mahdist, hex);
        his && self.in_district(hex, self.pending.subject)
            && !self.enemy_in(hex, Side::Mahdist)
            && !self.adjacent_any(hex, Side::Egyptian, BRITISH_COMBAT)
    }

    pub(crate) fn obey_recruit_hex(&mut self, hex: Hex) {
        let amount = self.pending.amount;
        self.pending = Pending::NONE;
        self.units.add(Cohort::new(hex, Kind::MahdistSpearmen, false, Status::Fresh, amount));
        self.take_control(hex, Side::Mahdist);
        self.enter(hex, Side::Mahdist);
    }
}

//! What no position of a campaign can be: checked when a position comes from outside, and of play itself in tests.

use super::board::Hex;
use super::campaign::{BattleStage, Campaign, EventState, Favour, Group, GroupKind, MAX_GUNBOATS, Phase, War};
use super::catalogue::{COMBAT, GUNBOATS, Kind, LAND, Leader, Side, VESSELS};
use super::decision::Decision;
use super::rules::victory::TAKEN;
use super::scenario::Victory;
use super::tables::{EVENT_BANDS, Event};
use super::units::{CAPACITY, Cohort, Status};

/// Most combat units of a side that a file may call eliminated: more than any game loses, and far from where the
/// count would no longer fit.
const MOST_ELIMINATED: u16 = 9_999;
/// A gunboat is out for at most so many turns: the highest sum of two dice without doubles (9.11).
const LONGEST_OUT: u8 = 11;
/// Most units that an event places or removes: the highest 2D6 (4.4).
const MOST_OF_EVENT: u8 = 12;
/// Events that go on until their number of units is used up.
const COUNTED: [Event; 4] = [Event::Desertion, Event::LocalsDeclare, Event::EthiopiaWar, Event::EthiopiaPeace];

impl Campaign {
    /// Everything that is wrong with the position, none for every position of play: units where they cannot be, more
    /// than there are counters, marks without a group, a decision that the rules do not ask for. One line each.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.state_faults();
        if faults.is_empty() {
            match self.placed() {
                Ok(placed) if placed == *self => {}
                Ok(_) => faults.push(format!("the phase stands elsewhere than at {}", self.pending_text_short())),
                Err(fault) => faults.push(fault),
            }
        }
        faults
    }

    /// [`Self::faults`] of all but what is pending.
    pub(super) fn state_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        self.unit_faults(&mut faults);
        self.pool_faults(&mut faults);
        self.stack_faults(&mut faults);
        self.leader_faults(&mut faults);
        self.place_faults(&mut faults);
        self.clock_faults(&mut faults);
        self.event_faults(&mut faults);
        self.group_faults(&mut faults);
        self.loss_faults(&mut faults);
        if self.phase == Phase::Setup {
            if self.pending.decision != Decision::Finished {
                self.setup_faults(&mut faults);
            }
        } else if self.to_place != [0; 4] {
            faults.push("units are still to be placed after the set-up".to_owned());
        }
        faults
    }

    /// Each cohort by itself.
    fn unit_faults(&self, faults: &mut Vec<String>) {
        let board = &self.scenario.board;
        for &c in self.units.as_slice() {
            let (hex, kind) = (c.hex(), c.kind());
            let mut fault = |reason: &str| faults.push(format!("{hex}: `{}` {reason}", kind.id()));
            if c.disrupted() && !LAND.has(kind) {
                fault("cannot be disrupted");
            }
            if VESSELS.has(kind) && board.cell(hex).reaches == 0 {
                fault("needs a hex that touches a navigable river (8.7)");
            }
            if kind == Kind::Fleet && !board.place_at(hex).is_some_and(|place| place.port) {
                fault("lies off a port only (8.8)");
            }
            if kind == Kind::Flag && !self.units.any(hex, Side::Egyptian, COMBAT) {
                fault("is destroyed without a combat unit (12.1)");
            }
            if c.status() != Status::Fresh && (self.phase != Phase::March || c.side() != self.active) {
                fault("has a status, which only units of the player have whose march phase it is (8.1)");
            }
            if c.status() == Status::Fought && (VESSELS.has(kind) || kind == Kind::Fleet) {
                fault("cannot have attacked (9.1)");
            }
            if c.grouped() && (c.side() != self.active || self.group.kind == GroupKind::None || hex != self.group.hex) {
                fault("is marked for a group that is not there");
            }
        }
    }

    /// Rule 2.3.
    fn pool_faults(&self, faults: &mut Vec<String>) {
        if self.gunboats_out.iter().filter(|g| g.hex.is_some()).count() > MAX_GUNBOATS {
            faults.push(format!("more than {MAX_GUNBOATS} gunboats are out"));
        }
        for kind in Kind::ALL {
            let mut used = self.units.on_map(kind);
            if GUNBOATS.has(kind) {
                let british = usize::from(kind == Kind::BritishGunboat);
                let away = self.gunboats_out.iter().filter(|g| g.hex.is_some() && usize::from(g.british) == british);
                used += away.count() as u32;
                used += [&self.gunboats_lost, &self.sinking, &self.battle.gunboats_hit]
                    .map(|counts| u32::from(counts[british]))
                    .iter()
                    .sum::<u32>();
            }
            let pool = u32::from(self.scenario.catalogue.of(kind).pool);
            if used > pool {
                faults.push(format!("{used} `{}` are more than the pool of {pool} (2.3)", kind.id()));
            }
        }
        if self.units.as_slice().len() > CAPACITY {
            faults.push(format!("more than {CAPACITY} different lines of units"));
        }
    }

    /// Rule 6.2: the sides never share a hex.
    fn stack_faults(&self, faults: &mut Vec<String>) {
        for hex in self.stacks(Side::Egyptian, LAND.or(VESSELS).or(Kind::Flag.set())) {
            if self.enemy_in(hex, Side::Egyptian) {
                faults.push(format!("{hex}: units of both sides share the hex (6.2)"));
            }
        }
    }

    fn leader_faults(&self, faults: &mut Vec<String>) {
        for leader in Leader::ALL {
            let state = &self.leaders[leader.index()];
            let mut fault = |reason: &str| faults.push(format!("leader `{}` {reason}", leader.id()));
            let escaping = self.escaping >> leader.index() & 1 == 1;
            if !state.hex.is_some() {
                if escaping {
                    fault("must escape and is not on the map");
                }
                if state.status != Status::Fresh || state.grouped {
                    fault("has marched and is not on the map");
                }
                continue;
            }
            if state.lost {
                fault("is lost and on the map");
            }
            if !escaping && self.units.any(state.hex, leader.side().other(), LAND) {
                fault("stands among enemies (6.2)");
            }
            let acts = self.phase == Phase::March && leader.side() == self.active;
            if state.status != Status::Fresh && !acts {
                fault("has a status, which only those of the player have whose march phase it is (8.1)");
            }
            if state.grouped && (!acts || self.group.kind == GroupKind::None || state.hex != self.group.hex) {
                fault("is marked for a group that is not there");
            }
        }
    }

    /// Control (6.3), reinforcements, gunboats away, the railway.
    fn place_faults(&self, faults: &mut Vec<String>) {
        for (i, place) in self.scenario.0.board.places.iter().enumerate() {
            for side in Side::BOTH {
                let controls = self.control[side as usize] >> i & 1 == 1;
                if !controls && self.units.any(place.hex, side, COMBAT) {
                    faults.push(format!("{} is controlled by the side whose combat units are there (6.3)", place.name));
                }
                if side == Side::Egyptian && controls && self.control[Side::Mahdist as usize] >> i & 1 == 1 {
                    faults.push(format!("{} is controlled by both sides", place.name));
                }
            }
        }
        for (i, entry) in self.scenario.reinforcements.iter().enumerate() {
            if self.arrived >> i & 1 == 1 && entry.turn > self.turn {
                faults.push(format!("reinforcement {} comes in turn {} only", i + 1, entry.turn + 1));
            }
        }
        for out in self.gunboats_out.iter().filter(|out| out.hex.is_some()) {
            if out.returns > self.turn + LONGEST_OUT {
                faults.push(format!("a gunboat is out for {LONGEST_OUT} turns at most (9.11)"));
            }
        }
        let built = usize::from(self.railway);
        if built > 0 && (!self.scenario.railway || built >= self.scenario.board.railway.len()) {
            faults.push(format!("the scenario has no {built} hexes of railway to build (8.9)"));
        }
    }

    fn clock_faults(&self, faults: &mut Vec<String>) {
        if self.turn >= self.scenario.turns {
            faults.push(format!("the scenario has no turn {}", self.turn + 1));
        }
        if self.phase == Phase::Setup && (self.turn > 0 || self.active != self.scenario.first_player) {
            faults.push("the set-up is before the first player's first turn (2.7)".to_owned());
        }
        if self.eliminated.iter().any(|n| *n > MOST_ELIMINATED) {
            faults.push(format!("more than {MOST_ELIMINATED} units of a side are eliminated"));
        }
        let months = self.months_held & !TAKEN;
        let counts = matches!(self.scenario.0.victory, Victory::Holder { .. });
        let counted = self.turn + u8::from(self.pending.decision == Decision::Finished);
        if self.months_held != 0 && (!counts || months == 0 || months > counted) {
            faults.push("the prize was held for more months than were counted (14.3)".to_owned());
        }
    }

    fn event_faults(&self, faults: &mut Vec<String>) {
        let e = &self.events;
        let mut fault = |reason: &str| faults.push(format!("events: {reason}"));
        match e.current {
            Some(event) => {
                let tables = &self.scenario.tables;
                let mut rolled = EVENT_BANDS.iter().filter_map(|d| tables.event(self.scenario.events, self.active, *d));
                if !rolled.any(|of_table| of_table == event) {
                    fault(&format!("the {} player cannot roll `{}` (4.1)", self.active.id(), event.id()));
                }
                if self.phase != Phase::Event {
                    fault("an event is at hand in the phase `event` only");
                }
                if e.amount > 0 && (!COUNTED.contains(&event) || e.amount > MOST_OF_EVENT) {
                    fault(&format!("`{}` has no {} units to go", event.id(), e.amount));
                }
            }
            None if e.amount > 0 => fault("an amount without an event"),
            None => {}
        }
        let egyptian = self.active == Side::Egyptian;
        let now = EventState::NONE;
        if (e.spoilt_biscuits != now.spoilt_biscuits || e.landing || e.leaving) && !egyptian {
            fault("`spoilt_biscuits`, `landing` and `leaving` are of the Egyptian player turn");
        }
        if (e.religious_disagreement || e.poor_communications) && egyptian {
            fault("`religious_disagreement` and `poor_communications` are of the Mahdist player turn");
        }
        if (e.landing || e.leaving) && self.phase > Phase::Reinforcement {
            fault("a field force lands and leaves in the phase `reinforcement`");
        }
        match e.favour {
            Favour::None if e.favoured.is_some() => fault("`favoured` without `favour`"),
            Favour::Named if !e.favoured.is_some() => fault("`favour` names no hex"),
            _ => {}
        }
        if e.war != War::Never && self.scenario.named.goz_regeb.is_none() {
            fault("there is no war with Ethiopia without Goz Regeb (4.4)");
        }
        let forces = usize::from(e.field_forces);
        if forces > self.scenario.field_forces.len() || (forces == 0 && (e.landing || e.leaving || e.in_play)) {
            fault("there is no such field force (2.5)");
        }
    }

    fn group_faults(&self, faults: &mut Vec<String>) {
        let group = self.group;
        let mut fault = |reason: &str| faults.push(format!("group: {reason}"));
        if group.kind == GroupKind::None {
            if group != Group::NONE {
                fault("no group is under way");
            }
            return;
        }
        if self.phase != Phase::March {
            fault("groups act in the phase `march` only");
        }
        if group.rolls > 3 || (group.rolls == 0 && (group.failed || group.favoured || group.came_from.is_some())) {
            fault("it has 0 to 3 rolls, and without one it has neither moved nor failed (8.2)");
        }
        if group.favoured && self.events.favour != Favour::Used {
            fault("it is favoured though no hex was");
        }
        if self.enemy_in(group.hex, self.active) {
            fault("enemies are in its hex (6.2)");
        }
        let members = || self.group_cohorts();
        if group.kind == GroupKind::March {
            if members().any(|c| !LAND.has(c.kind()) && c.kind() != Kind::Flag) {
                fault("vessels do not march");
            }
            return;
        }
        let vessels: Vec<Cohort> = members().filter(|c| !LAND.has(c.kind()) && c.kind() != Kind::Flag).collect();
        let capacity = match vessels[..] {
            [vessel] if vessel.count() == 1 && VESSELS.has(vessel.kind()) => {
                self.scenario.catalogue.of(vessel.kind()).carries
            }
            _ => {
                fault("one vessel sails (8.7)");
                return;
            }
        };
        let loaded: u32 = members().filter(|c| LAND.has(c.kind())).map(|c| u32::from(c.count())).sum();
        if loaded > u32::from(capacity) {
            fault(&format!("{loaded} units are aboard, more than {capacity} (8.7)"));
        }
        if !self.group_is_fresh() {
            fault("who sails is fresh (8.7)");
        }
        if group != (Group { kind: GroupKind::Vessel, hex: group.hex, ..Group::NONE }) {
            fault("a vessel does not roll");
        }
    }

    /// Who must roll, what a combat has taken, and what this supply phase has spent.
    fn loss_faults(&self, faults: &mut Vec<String>) {
        let mut fault = |reason: &str| faults.push(reason.to_owned());
        if self.sinking == [0, 0] && self.sinking_at.is_some() {
            fault("sinking: no gunboat is named");
        }
        if self.spent.iter().any(|hex| hex.is_some()) && (self.phase != Phase::Supply || self.active == Side::Mahdist) {
            fault("spent: supply units are spent in the Egyptian player's supply phase (10.2)");
        }
        let gap = self.spent.iter().skip_while(|hex| hex.is_some()).any(|hex| hex.is_some());
        if gap {
            fault("spent: there is a gap");
        }
        let pool = |wanted: &dyn Fn(Kind) -> bool| {
            let kinds = Kind::ALL.into_iter().filter(|k| k.side() == Side::Egyptian && wanted(*k));
            kinds.map(|k| u32::from(self.scenario.catalogue.of(k).pool)).sum::<u32>()
        };
        let data = |k: Kind| self.scenario.catalogue.of(k);
        let guns = pool(&|k| COMBAT.has(k) && data(k).gun > 0);
        let rifles = pool(&|k| data(k).rifle_armed);
        if u32::from(self.battle.guns_taken) > guns || u32::from(self.battle.rifles_taken) > rifles {
            fault("battle: more is taken than there are counters");
        }
        if self.battle.stage != BattleStage::None && self.phase != Phase::March {
            fault("battle: combats are fought in the phase `march` only");
        }
    }

    /// Rule 2.7: every region has a hex without enemies, its units are within the pool, and its leaders can join some.
    fn setup_faults(&self, faults: &mut Vec<String>) {
        let mut fault = |reason: String| faults.push(format!("set-up: {reason}"));
        let first = usize::from(self.stage);
        let first_kind = Kind::MahdistSpearmen.index();
        let mut to_come = [0u32; 4];
        for (i, region) in self.scenario.regions.iter().enumerate().skip(first) {
            let open = |hex: &&Hex| !self.enemy_in(**hex, Side::Mahdist);
            if !region.hexes.iter().any(|hex| open(&hex)) {
                fault(format!("no hex of `{}` is free of enemies", region.name));
            }
            for unit in &region.units {
                let left = u32::from(unit.count);
                match self.to_place.get(unit.kind.index() - first_kind) {
                    Some(now) if i == first => {
                        to_come[unit.kind.index() - first_kind] += u32::from(*now);
                        if u32::from(*now) > left {
                            fault(format!("`{}` has {left} `{}` only", region.name, unit.kind.id()));
                        }
                    }
                    Some(_) => to_come[unit.kind.index() - first_kind] += left,
                    None => {}
                }
            }
            for leader in region.leaders.iter().filter(|l| i > first && self.leaders[l.index()].hex.is_some()) {
                fault(format!("`{}` is on the map before his region is set up", leader.id()));
            }
        }
        let region = self.scenario.regions.get(first);
        for (i, now) in self.to_place.iter().enumerate() {
            let kind = Kind::at(first_kind + i);
            if *now > 0 && !region.is_some_and(|r| r.units.iter().any(|u| u.kind == kind)) {
                fault(format!("the region has no `{}`", kind.id()));
            }
            let pool = u32::from(self.scenario.catalogue.of(kind).pool);
            let all = self.units.on_map(kind) + to_come[i];
            if all > pool {
                fault(format!("{all} `{}`, those to come included, are more than the pool of {pool} (2.3)", kind.id()));
            }
        }
        let joined = |hex: &Hex| self.units.any(*hex, Side::Mahdist, COMBAT);
        if let Some(region) = region
            && self.to_place == [0; 4]
            && region.leaders.iter().any(|l| !self.leaders[l.index()].hex.is_some())
            && !region.hexes.iter().any(joined)
        {
            fault(format!("no unit of `{}` is there for its leader to join", region.name));
        }
    }
}

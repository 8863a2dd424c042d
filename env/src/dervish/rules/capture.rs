//! What happens to what cannot fight when an enemy enters its hex or its units are gone: train, boats, gunboats,
//! leaders, the flag (6.2, 8.12, 9.11, 9.12, 12.1).

use super::super::board::{Board, Hex, PlaceKind};
use super::super::campaign::{Campaign, GunboatOut, LeaderState, MAX_GUNBOATS};
use super::super::catalogue::{COMBAT, GUNBOATS, Kind, LAND, Leader, Side, TRAIN};
use super::super::decision::{Decision, Pending};
use super::super::units::{Cohort, Status};

/// A leader escapes on this or more of a D6 (6.2).
const ESCAPES_ON: u16 = 4;

impl Campaign {
    /// Units of `side` have entered `hex`, in which no enemy combat unit is (6.2): train, boats and flag are captured,
    /// gunboats leave, leaders must roll for escape.
    pub(crate) fn enter(&mut self, hex: Hex, side: Side) {
        let enemy = side.other();
        for leader in Leader::ALL {
            if leader.side() == enemy && self.leaders[leader.index()].hex == hex {
                self.escaping |= 1 << leader.index();
            }
        }
        if !self.enemy_in(hex, side) {
            return;
        }
        self.units.change_at(hex, |c| {
            let captured = c.side() == enemy && (TRAIN.has(c.kind()) || c.kind() == Kind::Flag);
            (!captured).then_some(c)
        });
        self.lose_vessels(hex, enemy);
    }

    /// Rule 8.12 for the vessels of `owner` in a hex that is lost: gunboats go, boats are captured.
    pub(crate) fn lose_vessels(&mut self, hex: Hex, owner: Side) {
        let boats = if owner == Side::Egyptian { Kind::Boat } else { Kind::MahdistBoat };
        let had_boat = self.units.any(hex, owner, boats.set());
        self.units.change_at(hex, |c| (c.kind() != boats).then_some(c));
        if had_boat && owner == Side::Egyptian && self.available(Kind::MahdistBoat) > 0 {
            self.units.add(Cohort::new(hex, Kind::MahdistBoat, false, Status::Fresh, 1));
        }
        while let Some(&gunboat) = self.units.at(hex).iter().find(|c| c.side() == owner && GUNBOATS.has(c.kind())) {
            let one = gunboat.with_count(1);
            self.units.remove(one);
            match self.refuge(hex, owner, gunboat.kind()) {
                Some(refuge) => self.units.add(one.with_hex(refuge)),
                None => self.gunboats_lost[usize::from(gunboat.kind() == Kind::BritishGunboat)] += 1,
            }
        }
    }

    /// The nearest hex that a gunboat can reach within its movement and that holds no enemy; at equal distance one
    /// with a friendly stack first, then by 13.3.
    fn refuge(&self, from: Hex, owner: Side, kind: Kind) -> Option<Hex> {
        let movement = self.scenario.catalogue.of(kind).movement;
        self.river_reach(owner, from, movement, false, |reach| {
            let open = reach.hexes().iter().copied().filter(|h| *h != from && !self.enemy_in(*h, owner));
            open.min_by_key(|h| (Board::distance(from, *h), !self.units.any(*h, owner, LAND), *h))
        })
    }

    /// Rule 12.1: the flag is destroyed in a hex without a combat unit of the Egyptian player.
    pub(crate) fn drop_lone_flag(&mut self, hex: Hex) {
        if self.units.any(hex, Side::Egyptian, Kind::Flag.set()) && !self.units.any(hex, Side::Egyptian, COMBAT) {
            self.units.change_at(hex, |c| (c.kind() != Kind::Flag).then_some(c));
        }
    }

    /// The next roll that losses have left to make, if any: gunboats (9.11), then leaders (6.2).
    pub(crate) fn next_loss_roll(&self) -> Option<Pending> {
        for british in [0u8, 1] {
            if self.sinking[usize::from(british)] > 0 {
                return Some(Pending::at(Decision::RollGunboat, self.sinking_at).about(british));
            }
        }
        if self.escaping != 0 {
            let leader = self.escaping.trailing_zeros() as u8;
            return Some(Pending::at(Decision::RollEscape, self.leaders[usize::from(leader)].hex).about(leader));
        }
        None
    }

    /// Rule 6.2: the leader reaches the nearest friendly stack with a combat unit, or is captured.
    pub(crate) fn resolve_escape(&mut self, die: u16) {
        let index = usize::from(self.pending.subject);
        let leader = Leader::ALL[index];
        let from = self.leaders[index].hex;
        self.pending = Pending::NONE;
        self.escaping &= !(1 << index);
        let refuge = self.stacks(leader.side(), COMBAT).min_by_key(|h| (Board::distance(from, *h), *h));
        self.leaders[index] = match refuge {
            Some(hex) if die >= ESCAPES_ON => LeaderState { hex, ..self.leaders[index] },
            _ => LeaderState { lost: true, ..LeaderState::ABSENT },
        };
        self.leaders[index].grouped = false;
    }

    /// Rule 9.11: doubles (outcome 0) destroy the gunboat, else it is out for so many turns.
    pub(crate) fn resolve_gunboat(&mut self, outcome: u16) {
        let british = self.pending.subject == 1;
        self.pending = Pending::NONE;
        self.sinking[usize::from(british)] -= 1;
        if outcome == 0 {
            self.gunboats_lost[usize::from(british)] += 1;
        } else {
            let out = GunboatOut { returns: self.turn + outcome as u8, hex: self.sinking_at, british };
            self.gunboats_out[MAX_GUNBOATS - 1] = out;
            self.gunboats_out.sort_unstable();
        }
        if self.sinking == [0, 0] {
            self.sinking_at = Hex::NONE;
        }
    }

    /// Rule 9.11: gunboats whose time is over come back to the nearest river town of theirs with an open reach.
    pub(crate) fn return_gunboats(&mut self) {
        for i in 0..MAX_GUNBOATS {
            let out = self.gunboats_out[i];
            if !out.hex.is_some() || out.returns > self.turn {
                continue;
            }
            let town = self
                .scenario
                .board
                .places
                .iter()
                .filter(|p| p.kind == PlaceKind::Town && self.controls_at(Side::Egyptian, p.hex))
                .map(|p| p.hex)
                .filter(|h| self.open_reach(*h) && !self.enemy_in(*h, Side::Egyptian))
                .min_by_key(|h| (Board::distance(out.hex, *h), *h));
            if let Some(town) = town {
                let kind = if out.british { Kind::BritishGunboat } else { Kind::Gunboat };
                self.gunboats_out[i] = GunboatOut::NONE;
                self.units.add(Cohort::new(town, kind, false, Status::Fresh, 1));
            }
        }
        self.gunboats_out.sort_unstable();
    }

    /// Takes every land unit and the flag of `side` in `hex` that `wanted` accepts off the map as eliminated (14.5),
    /// and returns how many guns and rifle-armed units of the Egyptian player were among them.
    pub(crate) fn eliminate(&mut self, hex: Hex, side: Side, wanted: impl Fn(Cohort) -> bool) -> (u8, u8) {
        let (mut guns, mut rifles, mut combat) = (0, 0, 0);
        for &c in self.units.at(hex) {
            if c.side() == side && LAND.has(c.kind()) && wanted(c) {
                let data = self.scenario.catalogue.of(c.kind());
                combat += u16::from(COMBAT.has(c.kind())) * u16::from(c.count());
                if side == Side::Egyptian {
                    guns += u8::from(data.gun > 0) * c.count();
                    rifles += u8::from(data.rifle_armed) * c.count();
                }
            }
        }
        self.eliminated[side as usize] += combat;
        self.units.change_at(hex, |c| {
            let gone = c.side() == side && (LAND.has(c.kind()) || c.kind() == Kind::Flag) && wanted(c);
            (!gone).then_some(c)
        });
        (guns, rifles)
    }
}

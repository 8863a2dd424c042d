//! What only the Mahdist does: hosts and scouts, set-up, recruits, his events.

use crate::doctrine::assessment::{Assessment, Threats};
use crate::doctrine::march::{Column, fresh};
use crate::doctrine::mission::Planner;
use crate::doctrine::party::Party;
use dervish_env::dervish::board::{Hex, PlaceKind};
use dervish_env::dervish::catalogue::{COMBAT, Kind, LAND, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::scenario::SetupRegion;
use dervish_env::dervish::tables::Event;

/// Who could march out of a hex: the host, and a scout to take a place that nobody holds or to besiege one. In a place
/// that counts part of the host stays.
pub fn columns(a: &Assessment, hex: Hex) -> [Option<Column>; 3] {
    let fresh = fresh(a, hex);
    let mut take = fresh;
    let stays = garrison(a, hex);
    if fresh.good_of(LAND) > a.weights.mahdist.stragglers * fresh.disrupted_of(LAND) {
        take.disrupted = Force::EMPTY.disrupted;
    }
    leave(&mut take, stays);
    let host = (take.count_of(LAND) > 0).then_some(Column { take, led: true });
    let scout = (fresh.good_of(COMBAT) >= a.weights.mahdist.scout.max(stays + 1))
        .then(|| {
            let kinds = [Kind::MahdistCavalry, Kind::MahdistSpearmen, Kind::MahdistRifles];
            kinds.into_iter().find(|kind| fresh.good[kind.index()] > 0)
        })
        .flatten()
        .map(|kind| {
            let mut take = Force::EMPTY;
            take.good[kind.index()] = 1;
            Column { take, led: false }
        });
    [host, scout, None]
}

/// Good-order units that stay in a hex: where an enemy is within two march rolls the more its place counts the more.
fn garrison(a: &Assessment, hex: Hex) -> u32 {
    let (m, worth) = (&a.weights.mahdist, a.worth_at(hex));
    if worth < m.keep || !a.position.controls_at(Side::Mahdist, hex) {
        return 0;
    }
    let exposed = a.enemy_distance(hex) <= 2 * a.weights.march.reach;
    m.garrison + if exposed { worth as u32 } else { 0 }
}

/// Takes so many good-order units out of a column, spearmen first.
fn leave(take: &mut Force, count: u32) {
    let mut left = count;
    for kind in [Kind::MahdistSpearmen, Kind::MahdistRifles, Kind::MahdistGun, Kind::MahdistCavalry] {
        let n = u32::from(take.good[kind.index()]).min(left);
        take.good[kind.index()] -= n as u8;
        left -= n;
    }
}

/// The region that is set up (2.7): the first of whose host something is still to be placed.
fn region(a: &Assessment) -> Option<&'static SetupRegion> {
    a.position.scenario().regions.iter().find(|region| unplaced(a, region).combat > 0)
}

/// What of a region's host is still to be placed: all that the scenario gives up to this region, less what is there.
fn unplaced(a: &Assessment, region: &SetupRegion) -> Party {
    let scenario = a.position.scenario();
    let mut ratings = (0, 0);
    for leader in &region.leaders {
        let data = scenario.catalogue.leader(*leader);
        ratings = (data.tactical.max(ratings.0), data.strategic.max(ratings.1));
    }
    let mut force = Force::EMPTY;
    let garrisons = scenario.garrisons.iter().flat_map(|g| &g.units);
    let until = scenario.regions.iter().position(|r| std::ptr::eq(r, region)).map_or(0, |i| i + 1);
    let hosts = scenario.regions[..until].iter().flat_map(|r| &r.units);
    for unit in garrisons.chain(hosts).filter(|u| u.kind.side() == Side::Mahdist) {
        force.good[unit.kind.index()] += unit.count;
    }
    for kind in Kind::ALL {
        let placed = a.position.units().on_map(kind) as u8;
        force.good[kind.index()] = force.good[kind.index()].saturating_sub(placed);
    }
    a.party(force, ratings)
}

impl Planner<'_, '_> {
    /// Points of a hex to set up a host in, all together. What is already there has its own mission.
    pub fn setup_score(&mut self, hex: Hex) -> f32 {
        let Some(region) = region(self.assessment) else { return 0.0 };
        let host = unplaced(self.assessment, region);
        let taken = self.first_mission(region);
        self.host_worth(hex, &host, taken)
    }

    /// How many of the kind asked about are set up in a hex: a part of the spearmen if another part has a mission of
    /// its own elsewhere in the region and both together are worth more than one host; of other kinds all.
    pub fn setup_count(&mut self, hex: Hex, kind: Kind) -> u8 {
        let a = self.assessment;
        let Some(region) = region(a) else { return u8::MAX };
        let host = unplaced(a, region);
        let k = kind.index();
        let most = host.force.good[k];
        if kind != Kind::MahdistSpearmen || u32::from(most) < 2 * a.weights.mahdist.scout {
            return u8::MAX;
        }
        let taken = self.first_mission(region);
        let mut best = (self.host_worth(hex, &host, taken), most);
        for parts in 2..=a.weights.mahdist.split {
            let n = most - most / parts;
            let mut force = host.force;
            force.good[k] = n;
            let here = a.party(force, (host.tactical, host.strategic));
            let mut force = Force::EMPTY;
            force.good[k] = most - n;
            let rest = a.party(force, (0, 0));
            let aim = self.mission_after(hex, &here, taken).target;
            let mut elsewhere = f32::MIN;
            for other in region.hexes.iter().filter(|h| **h != hex && !a.position.enemy_in(**h, Side::Mahdist)) {
                elsewhere = elsewhere.max(self.host_worth(*other, &rest, aim));
            }
            let both = self.host_worth(hex, &here, taken) + elsewhere;
            if both > best.0 {
                best = (both, n);
            }
        }
        best.1
    }

    /// What a host could do from a hex, `taken` being another's.
    fn host_worth(&mut self, hex: Hex, host: &Party, taken: Hex) -> f32 {
        let a = self.assessment;
        let mission = self.mission_after(hex, host, taken);
        self.worth(&mission, hex, true) + self.residence(hex, host, &mut Threats::to(a, host), hex)
    }

    /// The target of those who have been placed in the region already.
    fn first_mission(&mut self, region: &SetupRegion) -> Hex {
        let a = self.assessment;
        let first = a.own().iter().find(|s| region.hexes.contains(&s.hex));
        first.map_or(Hex::NONE, |s| self.mission(s.hex, &s.party).target)
    }

    /// Points of a hex for recruits to gather in (5.2), or for spoils of an event.
    pub fn gathering_score(&mut self, hex: Hex) -> f32 {
        let a = self.assessment;
        let m = &a.weights.mahdist;
        let shelter = match a.board().place_kind(hex) {
            Some(PlaceKind::Town) => 3.0,
            Some(PlaceKind::Village) => 1.0,
            _ => 0.0,
        };
        let party = a.own_at(hex).map_or(Party::NONE, |s| s.party);
        m.gather_unit * party.good.min(m.gather_units) as f32
            + m.gather_leader * f32::from(party.strategic)
            + m.gather_shelter * shelter
            - a.hunger(hex, &party)
    }

    /// Points of a hex for one of the Mahdist's events (4.4), or for naming a gunboat (4.3).
    pub fn mahdist_event_score(&mut self, event: Event, hex: Hex) -> f32 {
        let a = self.assessment;
        let own = a.own_at(hex).map_or(0.0, |s| s.party.combat as f32);
        let led = a.own_at(hex).map_or(0.0, |s| f32::from(s.party.strategic));
        match event {
            // What goes should be missed least: small stacks without leader.
            Event::Desertion | Event::EthiopiaWar | Event::GunShortage | Event::RifleShortage => {
                -a.swing_near(hex) - led - 0.1 * own
            }
            Event::GarrisonSurrenders => {
                let garrison = a.enemy_at(hex).map_or(0.0, |s| s.party.combat as f32);
                2.0 * a.swing_at(hex) + garrison * a.unit_worth(Kind::RifleL)
            }
            Event::LocalsDeclare => a.swing_at(hex) + 0.01 * own,
            Event::GunboatSinks => {
                let british = a.enemy_at(hex).is_some_and(|s| s.party.force.count(Kind::BritishGunboat) > 0);
                a.worth_at(hex) + if british { 1.0 } else { 0.0 }
            }
            _ => own + led,
        }
    }

    /// How many of the locals declare in a hex: one for a place that is to be taken while there are others, else all.
    pub fn locals_count(&self, hex: Hex, most: u8) -> u8 {
        let a = self.assessment;
        let open = a.board().places.iter().filter(|p| {
            p.hex != hex
                && matches!(p.kind, PlaceKind::Town | PlaceKind::Oasis)
                && a.swing_at(p.hex) > 0.0
                && !a.position.enemy_in(p.hex, Side::Mahdist)
        });
        if a.swing_at(hex) > 0.0 { most.saturating_sub(open.count() as u8).max(1) } else { most }
    }
}

impl Assessment<'_> {
    /// What is to be had in a hex and around it.
    fn swing_near(&self, hex: Hex) -> f32 {
        let near = self.board().cell(hex).neighbours;
        self.worth_at(hex) + near.iter().filter(|n| n.is_some()).map(|n| self.worth_at(*n)).sum::<f32>()
    }
}

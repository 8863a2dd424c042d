//! Vessels (8.7): where gunboats lie, and what gunboats and boats carry. A gunboat beside a garrison is worth most where
//! the garrison is threatened and has none; cargo is supply for those who starve, and British troops for their mission.

use crate::doctrine::assessment::{Assessment, Threats};
use crate::doctrine::march::{Column, MarchPlan, fresh};
use crate::doctrine::mission::{Mission, Planner};
use crate::doctrine::party::Party;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{GUNBOATS, Kind, LAND, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::force::Force;
use dervish_env::dervish::order::{Order, Verb};
use dervish_env::dervish::units::Status;
use dervish_env::game::{Action, Actor, Position};

/// The Egyptian player's vessels, those that fight first.
const VESSELS: [Kind; 3] = [Kind::Gunboat, Kind::BritishGunboat, Kind::Boat];
/// British units that go aboard, the first that is there; guns and cavalry stay with the column.
const PASSENGERS: [Kind; 3] = [Kind::NavalInfantry, Kind::BritishInfantry, Kind::CamelCorps];

/// What a vessel is to do.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Voyage {
    vessel: Kind,
    cargo: Force,
    gain: f32,
}

/// Cargo with what it is carried for.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Freight {
    party: Party,
    mission: Mission,
    /// Points that it has where it is.
    staying: f32,
}

impl Planner<'_, '_> {
    /// The most that a voyage from a hex could gain; `None` if no vessel can sail.
    pub fn voyage_bound(&mut self, hex: Hex) -> Option<f32> {
        let a = self.assessment;
        let mut bound: Option<f32> = None;
        for vessel in vessels(a, hex) {
            let station = a.board().places.iter().map(|p| station_worth(a, p.hex, false)).fold(0.0, f32::max);
            let mut most = if GUNBOATS.has(vessel) { station - station_worth(a, hex, true) } else { 0.0 };
            for cargo in cargoes(a, hex, vessel) {
                let freight = self.freight(hex, cargo);
                most = most.max(freight.mission.now.max(freight.mission.later) - freight.staying);
            }
            bound = Some(bound.map_or(most, |b| b.max(most)));
        }
        bound
    }

    /// The plan to let a vessel sail from a hex.
    pub fn voyage_plan(&mut self, hex: Hex) -> Option<MarchPlan> {
        let gain = self.voyage(hex, None)?.gain;
        (gain >= self.assessment.weights.march.least_gain).then_some(MarchPlan {
            verb: Verb::Vessel,
            column: Column::NONE,
            gain,
        })
    }

    /// Points of an answer to [`Decision::VesselKind`].
    pub fn vessel_score(&mut self, hex: Hex, kind: Kind) -> f32 {
        let sails = self.voyage(hex, None).is_some_and(|voyage| voyage.vessel == kind);
        f32::from(u8::from(sails)) - 0.1 * kind.index() as f32
    }

    /// What is to be loaded next (8.7).
    pub fn vessel_load(&mut self, hex: Hex) -> Order {
        let units = self.assessment.position.units();
        let aboard = units.force(hex, self.assessment.side, |c| c.grouped() && LAND.has(c.kind()));
        let vessel = units.at(hex).iter().find(|c| c.grouped() && VESSELS.contains(&c.kind())).map(|c| c.kind());
        let cargo = vessel.and_then(|vessel| self.voyage(hex, Some(vessel))).map_or(Force::EMPTY, |v| v.cargo);
        let missing = cargo.kinds_present().iter().find(|k| cargo.count(*k) > aboard.count(*k));
        missing.map_or(Order::Verb(Verb::Done), |kind| Order::Line { kind, disrupted: false })
    }

    /// Points of a hex for the vessel under way and what it carries.
    pub fn vessel_hex_score(&mut self, hex: Hex) -> f32 {
        let a = self.assessment;
        let from = a.position.group().hex;
        let cargo = a.position.units().force(from, a.side, |c| c.grouped() && LAND.has(c.kind()));
        let gunboat = a.position.units().at(from).iter().any(|c| c.grouped() && GUNBOATS.has(c.kind()));
        let station = if gunboat { station_worth(a, hex, false) } else { 0.0 };
        if cargo == Force::EMPTY {
            return station;
        }
        let freight = self.freight(from, cargo);
        station + self.landed(hex, from, &freight, &mut Threats::to(a, &freight.party))
    }

    /// The best voyage of a vessel in a hex, or of `vessel` there.
    fn voyage(&mut self, hex: Hex, vessel: Option<Kind>) -> Option<Voyage> {
        let a = self.assessment;
        let mut best: Option<Voyage> = None;
        for kind in vessels(a, hex).filter(|kind| vessel.is_none_or(|v| v == *kind)) {
            let Some(sailing) = sailing(a.position, hex, kind) else { continue };
            let mut actions: Vec<Action> = std::mem::take(&mut self.notes.actions);
            sailing.legal_actions_into(&mut actions);
            let here = if GUNBOATS.has(kind) { station_worth(a, hex, true) } else { 0.0 };
            let loads = std::iter::once(Force::EMPTY).chain(cargoes(a, hex, kind));
            for cargo in loads {
                let freight = (cargo != Force::EMPTY).then(|| self.freight(hex, cargo));
                let mut threats = freight.map(|freight| Threats::to(a, &freight.party));
                for action in &actions {
                    let Some(Order::Hex(to)) = Order::of(*action) else { continue };
                    let station = if GUNBOATS.has(kind) { station_worth(a, to, false) } else { 0.0 };
                    let mut gain = station - here;
                    if let (Some(freight), Some(threats)) = (&freight, &mut threats) {
                        gain += self.landed(to, hex, freight, threats) - freight.staying;
                    }
                    if best.is_none_or(|b| gain > b.gain) {
                        best = Some(Voyage { vessel: kind, cargo, gain });
                    }
                }
            }
            self.notes.actions = actions;
        }
        best
    }

    fn freight(&mut self, hex: Hex, cargo: Force) -> Freight {
        let party = self.assessment.party(cargo, (0, 0));
        let mission = self.mission(hex, &party);
        let residence = self.residence(hex, &party, &mut Threats::to(self.assessment, &party), hex);
        Freight { party, mission, staying: self.worth(&mission, hex, false) + residence }
    }

    /// What it is worth to have cargo ashore in a hex.
    fn landed(&mut self, hex: Hex, from: Hex, freight: &Freight, threats: &mut Threats) -> f32 {
        let Freight { party, mission, .. } = freight;
        let aim = self.worth(mission, hex, false) + self.capture(hex, party);
        aim + self.residence(hex, party, threats, from)
    }
}

/// The kinds of vessel in a hex that have not sailed yet, one that is being loaded among them.
fn vessels(a: &Assessment, hex: Hex) -> impl Iterator<Item = Kind> + use<> {
    let waits = |kind: Kind| {
        let cohorts = a.position.units().at(hex);
        a.side == Side::Egyptian && cohorts.iter().any(|c| c.kind() == kind && c.status() == Status::Fresh)
    };
    VESSELS.map(|kind| waits(kind).then_some(kind)).into_iter().flatten()
}

/// What a vessel could carry from a hex: a supply unit where one can be spared, British troops.
fn cargoes(a: &Assessment, hex: Hex, vessel: Kind) -> impl Iterator<Item = Force> + use<> {
    let fresh = fresh(a, hex);
    let room = a.position.scenario().catalogue.of(vessel).carries;
    let load = |kind: Kind, most: u8| {
        let mut cargo = Force::EMPTY;
        cargo.good[kind.index()] = fresh.good[kind.index()].min(room).min(most);
        (cargo != Force::EMPTY).then_some(cargo)
    };
    let needed = u8::from(a.own_at(hex).is_some_and(|s| a.attrition(hex, &s.party) > 0.0));
    let spare = fresh.good[Kind::Supply.index()].saturating_sub(needed);
    let troops = PASSENGERS.into_iter().find_map(|kind| load(kind, u8::MAX));
    [load(Kind::Supply, spare), troops].into_iter().flatten()
}

/// The position in which the vessel's hex is asked for, without cargo; `None` if the rules let it not sail.
fn sailing(position: &Campaign, hex: Hex, vessel: Kind) -> Option<Campaign> {
    let mut sailing = *position;
    while sailing.pending().decision != Decision::VesselHex {
        let order = match sailing.pending().decision {
            Decision::MarchHex => Order::Hex(hex),
            Decision::MarchPick => Order::Verb(Verb::Vessel),
            Decision::VesselKind => Order::Line { kind: vessel, disrupted: false },
            Decision::VesselLoad => Order::Verb(Verb::Done),
            Decision::VesselLeader | Decision::VesselFlag => Order::Verb(Verb::No),
            _ => return None,
        };
        if !matches!(sailing.actor(), Actor::Player(_)) || !sailing.is_legal(order.action()) {
            return None;
        }
        sailing.apply_legal(order.action());
    }
    Some(sailing)
}

/// What one gunboat more (or the last of those there) does for the place in a hex.
fn station_worth(a: &Assessment, hex: Hex, there: bool) -> f32 {
    let Some(stack) = a.own_at(hex).filter(|s| s.party.good > 0) else { return 0.0 };
    if !a.position.controls_at(Side::Egyptian, hex) || a.board().cell(hex).rivers == 0 {
        return 0.0;
    }
    let e = &a.weights.egyptian;
    let others = stack.party.force.count_of(GUNBOATS).saturating_sub(u32::from(there));
    let near = a.enemy_distance(hex) <= a.weights.march.threat;
    let share = if near { e.gunboat_protects } else { e.gunboat_patrols };
    share * a.worth_at(hex) / (1.0 + others as f32)
}

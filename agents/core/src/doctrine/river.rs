//! Gunboats (8.7): where they lie. One beside a garrison is worth most where the garrison is threatened and has none.

use crate::doctrine::assessment::Assessment;
use crate::doctrine::march::{Column, MarchPlan};
use crate::doctrine::mission::{Planner, THREAT};
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{GUNBOATS, Kind, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::order::{Order, Verb};
use dervish_env::dervish::units::Status;
use dervish_env::game::{Action, Actor, Position};

/// Share of a place's worth that the first gunboat there protects.
const PROTECTS: f32 = 0.1;
/// The same where no enemy is near.
const SHOWS_FLAG: f32 = 0.02;

/// Moving a gunboat away from a hex, if another station is better.
pub fn plan(planner: &mut Planner, hex: Hex) -> Option<MarchPlan> {
    let a = planner.assessment;
    let fresh = |kind: Kind| {
        let cohorts = a.position.units().at(hex);
        cohorts.iter().any(|c| c.kind() == kind && c.status() == Status::Fresh)
    };
    let kind = [Kind::Gunboat, Kind::BritishGunboat].into_iter().find(|kind| fresh(*kind))?;
    if a.side != Side::Egyptian {
        return None;
    }
    let here = station_worth(a, hex, true);
    let most = a.board().places.iter().map(|p| station_worth(a, p.hex, false)).fold(0.0, f32::max);
    if most - here < a.weights.march.least_gain {
        return None;
    }
    let mut sailing = *a.position;
    let mut actions: Vec<Action> = Vec::new();
    while sailing.pending().decision != Decision::VesselHex {
        let order = match sailing.pending().decision {
            Decision::MarchHex => Order::Hex(hex),
            Decision::MarchPick => Order::Verb(Verb::Vessel),
            Decision::VesselKind => Order::Line { kind, disrupted: false },
            Decision::VesselLoad => Order::Verb(Verb::Done),
            Decision::VesselLeader | Decision::VesselFlag => Order::Verb(Verb::No),
            _ => return None,
        };
        if !matches!(sailing.actor(), Actor::Player(_)) || !sailing.is_legal(order.action()) {
            return None;
        }
        sailing.apply_legal(order.action());
    }
    sailing.legal_actions_into(&mut actions);
    let stations = actions.iter().filter_map(|action| match Order::of(*action) {
        Some(Order::Hex(to)) => Some(station_worth(a, to, false)),
        _ => None,
    });
    let gain = stations.fold(0.0, f32::max) - here;
    (gain >= a.weights.march.least_gain).then_some(MarchPlan { verb: Verb::Vessel, column: Column::NONE, gain })
}

/// What one gunboat more (or the last of those there) does for the place in a hex.
pub fn station_worth(a: &Assessment, hex: Hex, there: bool) -> f32 {
    let Some(stack) = a.own_at(hex).filter(|s| s.party.good() > 0) else { return 0.0 };
    if !a.position.controls_at(Side::Egyptian, hex) || a.board().cell(hex).rivers == 0 {
        return 0.0;
    }
    let others = stack.party.force.count_of(GUNBOATS).saturating_sub(u32::from(there));
    let share = if a.enemy_distance(hex) <= THREAT { PROTECTS } else { SHOWS_FLAG };
    share * a.worth_at(hex) / (1.0 + others as f32)
}

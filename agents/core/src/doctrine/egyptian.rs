//! What only the Egyptian player does: columns and garrisons, supply, the flag, his events.

use crate::doctrine::assessment::Assessment;
use crate::doctrine::march::{Column, fresh};
use crate::doctrine::mission::Planner;
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, COMBAT, Kind, KindSet, LAND, Leader, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::scenario::Victory;
use dervish_env::dervish::tables::Event;

/// Combat units of Egyptian nationality, the best to march with first.
const EGYPTIANS: [Kind; 5] = [Kind::RifleL, Kind::EgyptianGun, Kind::RifleR, Kind::EgyptianCavalry, Kind::Levy];
/// An enemy within so many hexes keeps a garrison in.
const CLOSE: u32 = 4;

/// Who could march out of a hex: British troops with their train, what a garrison can spare, or all who are in the
/// field.
pub fn columns(a: &Assessment, hex: Hex) -> [Option<Column>; 2] {
    let fresh = fresh(a, hex);
    let held = a.position.controls_at(Side::Egyptian, hex) && a.worth_at(hex) > 0.0;
    let led = !a.position.leaders_at(hex, Side::Egyptian).any(|l| l == Leader::Gordon);
    let mut take = Force::EMPTY;
    if !held {
        take = fresh;
    } else if fresh.good_of(BRITISH_COMBAT) > 0 {
        if is_prize_of_the_british(a, hex) {
            return [None, None];
        }
        add(&mut take, &fresh, BRITISH_COMBAT);
        add(&mut take, &fresh, Kind::Camel.set().or(Kind::Supply.set()));
    } else {
        // The more a place counts, the more stay.
        let stays = a.weights.egyptian.garrison + a.worth_at(hex) as u32;
        let spare = fresh.good_of(COMBAT).saturating_sub(stays);
        if spare < a.weights.egyptian.column || a.enemy_distance(hex) <= CLOSE {
            return [None, None];
        }
        let mut left = spare;
        for kind in EGYPTIANS {
            let n = u32::from(fresh.good[kind.index()]).min(left);
            take.good[kind.index()] = n as u8;
            left -= n;
        }
        add(&mut take, &fresh, Kind::Camel.set().or(Kind::Supply.set()));
    }
    // One camel carries one supply unit (8.6).
    let supply = Kind::Supply.index();
    take.good[supply] = take.good[supply].min(take.good[Kind::Camel.index()]);
    take.disrupted[supply] = 0;
    let goes = take.good_of(LAND) + take.disrupted_of(LAND) > 0;
    [goes.then_some(Column { take, led }), None]
}

fn add(take: &mut Force, from: &Force, kinds: KindSet) {
    for kind in kinds.iter() {
        take.good[kind.index()] = from.good[kind.index()];
    }
}

/// Scenario 2: British troops in Khartoum have arrived.
fn is_prize_of_the_british(a: &Assessment, hex: Hex) -> bool {
    match &a.position.scenario().victory {
        Victory::Khartoum { prize, .. } => a.board().places[usize::from(prize.0)].hex == hex,
        _ => false,
    }
}

impl Planner<'_, '_> {
    /// Points of drawing on supply in a hex, against rolling for attrition (10.1).
    pub fn draw_score(&self, hex: Hex) -> f32 {
        let a = self.assessment;
        let Some(stack) = a.own_at(hex) else { return 0.0 };
        let here = stack.party.force.count(Kind::Supply) as f32;
        let months = f32::from(a.turns_left) + 1.0;
        // What will not be eaten by the end is worth nothing.
        let scarce = (months / here.max(1.0)).min(1.0);
        a.attrition(hex, &stack.party) - scarce * a.unit_worth(Kind::Supply)
    }

    /// Points of giving up the supply unit of a hex (4.3 `spoilt_biscuits`).
    pub fn spoilt_score(&self, hex: Hex) -> f32 {
        let a = self.assessment;
        a.own_at(hex).map_or(0.0, |s| {
            let supply = s.party.force.count(Kind::Supply) as f32;
            let hungry = a.attrition(hex, &s.party);
            // Where it is eaten anyway it is not lost.
            hungry + 0.1 * supply
        })
    }

    /// Points of showing the flag in a hex (12.1): it helps Egyptians who stand with the British.
    pub fn flag_score(&self, hex: Hex) -> f32 {
        let a = self.assessment;
        a.own_at(hex).map_or(0.0, |s| s.party.force.good_of(KindSet::of(&EGYPTIANS)) as f32)
    }

    /// Points of a hex for reinforcements (5.1).
    pub fn arrival_score(&mut self, hex: Hex) -> f32 {
        let a = self.assessment;
        let friends = a.own_at(hex).map_or(0.0, |s| s.party.good().min(20) as f32);
        let led = a.own_at(hex).map_or(0.0, |s| f32::from(s.party.strategic));
        match a.side {
            Side::Egyptian => friends + 0.1 * a.enemy_distance(hex).min(20) as f32,
            // A leader goes where none is.
            Side::Mahdist => friends - 3.0 * led,
        }
    }

    /// Points of a hex for one of the Egyptian player's events (4.3).
    pub fn egyptian_event_score(&mut self, event: Event, hex: Hex) -> f32 {
        let a = self.assessment;
        let own = a.own_at(hex).map_or(0.0, |s| s.party.good() as f32 + 3.0 * s.party.british() as f32);
        let enemy = a.enemy_at(hex).map_or(0.0, |s| s.party.force.count_of(COMBAT) as f32);
        match event {
            Event::Dissension => enemy,
            Event::Training => own - 0.1 * a.enemy_distance(hex).min(20) as f32,
            _ => own,
        }
    }
}

//! What only the Egyptian player does: columns, convoys and garrisons, supply, the railway, the field force, the flag,
//! his events.

use crate::doctrine::assessment::{Assessment, Threats};
use crate::doctrine::march::{Column, fresh};
use crate::doctrine::mission::Planner;
use crate::doctrine::party::Stack;
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, COMBAT, Kind, KindSet, LAND, Leader, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::scenario::Victory;
use dervish_env::dervish::tables::Event;

/// Combat units of Egyptian nationality, the best to march with first.
const EGYPTIANS: [Kind; 5] = [Kind::RifleL, Kind::EgyptianGun, Kind::RifleR, Kind::EgyptianCavalry, Kind::Levy];
/// What escorts supply, the first that is there: who keeps up with it, guns last.
const ESCORTS: [Kind; 7] = [
    Kind::CamelCorps,
    Kind::BritishInfantry,
    Kind::IndianInfantry,
    Kind::RifleL,
    Kind::RifleR,
    Kind::EgyptianCavalry,
    Kind::Levy,
];
/// Who goes alone to take an open place, the fastest and cheapest first.
const SCOUTS: [Kind; 7] = [
    Kind::EgyptianCavalry,
    Kind::IndianCavalry,
    Kind::BritishCavalry,
    Kind::RifleR,
    Kind::RifleL,
    Kind::IndianInfantry,
    Kind::BritishInfantry,
];
/// Who makes a flying column, the fastest first.
const FLYING: [Kind; 4] = [Kind::CamelCorps, Kind::BritishInfantry, Kind::NavalInfantry, Kind::IndianInfantry];
const CARRIERS: KindSet = Kind::Camel.set().or(Kind::Supply.set());

/// Who could march out of a hex: the column (British troops with their train, what a garrison can spare, or all who are
/// in the field), a convoy of supply with a small escort, and few who go fast: a flying column to the prize, or where
/// places are counted a scout to one that stands open.
pub fn columns(a: &Assessment, hex: Hex) -> [Option<Column>; 3] {
    let fresh = fresh(a, hex);
    let few = match a.position.scenario().victory {
        Victory::Khartoum { .. } => flying_column(a, hex, &fresh),
        Victory::Points { .. } => scout(a, hex, &fresh),
        Victory::ElObeid { .. } | Victory::Holder { .. } => None,
    };
    [column(a, hex, &fresh), convoy(a, hex, &fresh), few]
}

/// One unit that can be spared, to take a place that nobody holds (6.3).
fn scout(a: &Assessment, hex: Hex, fresh: &Force) -> Option<Column> {
    let spared = if is_garrisoned(a, hex) {
        spare(a, hex, fresh)
    } else {
        fresh.good_of(COMBAT).saturating_sub(a.weights.egyptian.scout - 1)
    };
    let mut take = Force::EMPTY;
    add_some(&mut take, fresh, SCOUTS, spared.min(1));
    (take.count_of(LAND) > 0).then_some(Column { take, led: false })
}

/// A few British troops without train out of many, to be in the prize in time (14.2): the desert feeds no more.
fn flying_column(a: &Assessment, hex: Hex, fresh: &Force) -> Option<Column> {
    let most = a.weights.egyptian.flying;
    if fresh.good_of(BRITISH_COMBAT) <= most || is_prize_of_the_british(a, hex) {
        return None;
    }
    let mut take = Force::EMPTY;
    add_some(&mut take, fresh, FLYING, most);
    (take.count_of(LAND) > 0).then_some(Column { take, led: false })
}

fn column(a: &Assessment, hex: Hex, fresh: &Force) -> Option<Column> {
    let led = !a.position.leaders_at(hex, Side::Egyptian).any(|l| l == Leader::Gordon);
    let mut take = Force::EMPTY;
    // At the end of the game they are counted where they stand (14.2), so not even the last turn moves them.
    if is_prize_of_the_british(a, hex) && fresh.good_of(BRITISH_COMBAT) > 0 {
        return None;
    }
    if !is_garrisoned(a, hex) {
        take = *fresh;
    } else if fresh.good_of(BRITISH_COMBAT) > 0 {
        add(&mut take, fresh, BRITISH_COMBAT);
        add(&mut take, fresh, CARRIERS);
    } else {
        let spare = spare(a, hex, fresh);
        if spare < a.weights.egyptian.column || a.enemy_distance(hex) <= a.weights.egyptian.close {
            return None;
        }
        add_some(&mut take, fresh, EGYPTIANS, spare);
        add(&mut take, fresh, CARRIERS);
    }
    // One camel carries one supply unit (8.6).
    let supply = Kind::Supply.index();
    take.good[supply] = take.good[supply].min(take.good[Kind::Camel.index()]);
    take.disrupted[supply] = 0;
    (take.count_of(LAND) > 0).then_some(Column { take, led })
}

/// Supply on its way to those who need it. A garrison that needs it itself keeps a unit.
fn convoy(a: &Assessment, hex: Hex, fresh: &Force) -> Option<Column> {
    let (supply, camel) = (Kind::Supply.index(), Kind::Camel.index());
    let kept = u8::from(a.own_at(hex).is_some_and(|s| a.attrition(hex, &s.party) > 0.0));
    let carried = fresh.good[supply].saturating_sub(kept).min(fresh.good[camel]);
    if carried == 0 {
        return None;
    }
    let mut take = Force::EMPTY;
    (take.good[supply], take.good[camel]) = (carried, carried);
    let spare = if is_garrisoned(a, hex) { spare(a, hex, fresh) } else { fresh.good_of(COMBAT) };
    let counted = is_prize_of_the_british(a, hex) && !a.enemy_moves_again();
    let escorts = ESCORTS.into_iter().filter(|kind| !(counted && BRITISH_COMBAT.has(*kind)));
    add_some(&mut take, fresh, escorts, spare.min(a.weights.egyptian.escort));
    Some(Column { take, led: false })
}

/// Whether a hex is a place that counts and is to be held: it stays one's own when it is left (6.3), so that nobody need
/// stay where the enemy does not move again.
fn is_garrisoned(a: &Assessment, hex: Hex) -> bool {
    a.position.controls_at(Side::Egyptian, hex) && a.worth_at(hex) > 0.0 && a.enemy_moves_again()
}

/// Combat units that a garrison can do without: the more a place counts, the more stay.
fn spare(a: &Assessment, hex: Hex, fresh: &Force) -> u32 {
    fresh.good_of(COMBAT).saturating_sub(a.weights.egyptian.garrison + a.worth_at(hex) as u32)
}

/// Takes so many good-order units, the first kinds first.
fn add_some(take: &mut Force, from: &Force, kinds: impl IntoIterator<Item = Kind>, count: u32) {
    let mut left = count;
    for kind in kinds {
        let n = u32::from(from.good[kind.index()]).min(left);
        take.good[kind.index()] = n as u8;
        left -= n;
    }
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
    /// How many hexes of railway to build (8.9): as many as one supply unit gives, where supply can be spared, time is
    /// left and British troops on the coast can use it on their way to the prize.
    pub fn rail_count(&self, railhead: Hex) -> u8 {
        let a = self.assessment;
        let e = &a.weights.egyptian;
        let supply = a.own_at(railhead).map_or(0, |s| s.party.force.count(Kind::Supply));
        let users: u32 = self.field_force().map(|s| s.party.british).sum();
        let inland = matches!(a.position.scenario().victory, Victory::Khartoum { .. });
        let serves = inland && users >= e.march_early && a.turns_left >= e.rail_months && supply > e.rail_reserve;
        if serves { u8::MAX } else { 0 }
    }

    /// The stacks with British troops on the extension.
    fn field_force(&self) -> impl Iterator<Item = &Stack> {
        let a = self.assessment;
        a.own().iter().filter(|s| a.board().cell(s.hex).extension && s.party.force.count_of(BRITISH_COMBAT) > 0)
    }

    /// Whether the field force had better leave (4.3): it stands to lose more than it can still gain.
    pub fn field_force_leaves(&mut self) -> bool {
        let a = self.assessment;
        let (mut danger, mut hope) = (0.0, 0.0);
        for stack in a.own() {
            if !a.board().cell(stack.hex).extension || stack.party.force.count_of(BRITISH_COMBAT) == 0 {
                continue;
            }
            let threat = Threats::to(a, &stack.party).at(a, stack.hex);
            danger += a.caution() * threat + a.hunger(stack.hex, &stack.party);
            let mission = self.mission(stack.hex, &stack.party);
            hope += self.worth(&mission, stack.hex, true);
            if a.position.controls_at(Side::Egyptian, stack.hex)
                && a.enemy_distance(stack.hex) <= a.weights.march.threat
            {
                hope += a.hold() * a.worth_at(stack.hex);
            }
        }
        danger > a.weights.egyptian.field_force_stays * hope + a.weights.march.least_attack
    }

    /// Whether those whom the field force leaves behind in a hex go with it: where they guard nothing that is worth
    /// what threatens them. British troops in Berber stay on their way.
    pub fn leaves_with_field_force(&self, hex: Hex) -> bool {
        let a = self.assessment;
        if !a.board().cell(hex).extension {
            return false;
        }
        let Some(stack) = a.own_at(hex) else { return false };
        let mut force = stack.party.force;
        for kind in BRITISH_COMBAT.iter() {
            (force.good[kind.index()], force.disrupted[kind.index()]) = (0, 0);
        }
        let left = a.party(force, (0, 0));
        let guarded = if a.position.controls_at(Side::Egyptian, hex) { a.hold() * a.worth_at(hex) } else { 0.0 };
        a.caution() * Threats::to(a, &left).at(a, hex) > guarded
    }

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
        let friends = a.own_at(hex).map_or(0.0, |s| s.party.good.min(20) as f32);
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
        let own = a.own_at(hex).map_or(0.0, |s| s.party.good as f32 + 3.0 * s.party.british as f32);
        let enemy = a.enemy_at(hex).map_or(0.0, |s| s.party.combat as f32);
        match event {
            Event::Dissension => enemy,
            Event::Training => own - 0.1 * a.enemy_distance(hex).min(20) as f32,
            _ => own,
        }
    }
}

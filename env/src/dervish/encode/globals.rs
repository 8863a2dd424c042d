//! Globals: calendar, scenario, pending decision, counters and marks of the whole position.

use super::atlas::Atlas;
use super::columns::{
    HEX, SIXTY_FOURTHS, UNITS, columns, factors, factors_value, hex, kind_flag, leader_flag, number, put_hex, sided,
    truth, units,
};
use super::subject::Subject;
use crate::dervish::campaign::{Campaign, EventState, Favour, GroupKind, MAX_GUNBOATS, MAX_SUPPLY, Phase, War};
use crate::dervish::catalogue::{COMBAT, GUNBOATS, KINDS, Kind, LEADERS, Side};
use crate::dervish::decision::Decision;
use crate::dervish::rules::combat::LeaderUse;
use crate::dervish::scenario::{EventColumn, Victory};
use crate::dervish::tables::Event;
use crate::encode::Channel;

/// Most scheduled reinforcements of a scenario.
pub(super) const ARRIVALS: usize = 64;
/// A gunboat that is out: where it was lost, when it may return, whether it is British.
pub(super) const OUT: usize = HEX + 2;
/// Kinds of decision and roll.
pub(super) const DECISIONS: usize = Decision::ALL.len();
/// Kinds of event.
pub(super) const EVENTS: usize = Event::ALL.len();
/// Mahdist kinds that are set up by choice.
pub(super) const SETUP_KINDS: usize = 4;
/// Bit of the months held that says that the Mahdist holds the prize.
pub(super) const TAKEN: u8 = 0x80;

/// Events' flags by name, in the order of [`event_flags`].
pub(super) const EVENT_FLAGS: [&str; 10] = [
    "poor morale this game turn",
    "withdraw: the game ends with this game turn",
    "dry weather this turn",
    "good harvest this turn",
    "religious disagreement this turn",
    "poor communications this turn",
    "spoilt biscuits are due",
    "a field force lands",
    "a field force leaves",
    "a field force is in play",
];

/// The flags of [`EVENT_FLAGS`].
pub(super) fn event_flags(events: &mut EventState) -> [&mut bool; 10] {
    [
        &mut events.poor_morale,
        &mut events.withdraw,
        &mut events.dry_weather,
        &mut events.good_harvest,
        &mut events.religious_disagreement,
        &mut events.poor_communications,
        &mut events.spoilt_biscuits,
        &mut events.landing,
        &mut events.leaving,
        &mut events.in_play,
    ]
}

/// Columns of the globals.
pub(super) mod global {
    use super::*;

    columns! {
        VIEW[1] = |_| Channel::flag("the viewer is the Egyptian player");
        ACTIVE[2] = |i| Channel::flag(sided(i, "player turn"));
        DECIDER[2] = |i| Channel::flag(sided(i, "decision"));
        FIRST[2] = |i| Channel::flag(sided(i, "turn comes first in a game turn"));
        TURN[1] = |_| number("game turns over", "turns/64");
        TURNS_LEFT[1] = |_| number("game turns to come, this one counted", "turns/64");
        PLAYED[1] = |_| Channel::new("game turns over of all", "share", 0.0, 1.0);
        MONTH[12] = |i| Channel::flag(format!("month {}", i + 1));
        HIGH_NILE[1] = |_| Channel::flag("high Nile (8.7)");
        HEAT[1] = |_| Channel::flag("March to October: British units march worse (8.31)");
        WINTER[1] = |_| Channel::flag("December to February: no -1 for attrition on the extension (10.3)");
        PHASE[6] = |i| Channel::flag(format!("phase: {:?}", Phase::ALL[i]).to_lowercase());
        STAGE[1] = |_| number("progress within the phase", "steps/64");
        CURSOR[HEX] = |i| hex("last hex dealt with; for arrivals and districts, a cell that counts them", i);
        VICTORY[4] = |i| Channel::flag(["victory as in 14.1", "as in 14.2", "by points (14.3)", "by one place (14.3)"][i]);
        KHARTOUM[1] = |_| Channel::flag("events of the Khartoum game");
        FLAG[1] = |_| Channel::flag("played with the flag (12)");
        RAIL[1] = |_| Channel::flag("the railway may be built (8.9)");
        DECISION[DECISIONS] = |i| Channel::flag(format!("pending: {}", Decision::ALL[i].id()));
        PENDING_HEX[HEX] = |i| hex("hex of the pending decision or roll", i);
        SUBJECT[1] = |_| number("number of what it is about", "number/64");
        AMOUNT[1] = |_| units("how many it is about");
        SUBJECT_KIND[KINDS] = |i| kind_flag("about", i);
        SUBJECT_STATE[2] = |i| Channel::flag(["about disrupted units", "about units that have marched"][i]);
        SUBJECT_LEADER[LEADERS] = |i| leader_flag("about", i);
        ELIMINATED[2] = |i| Channel::new(sided(i, "combat units eliminated"), "units/64", 0.0, 1024.0);
        POINTS[2] = |i| Channel::new(sided(i, "points if the game ended now"), "points/16, at most 64", 0.0, 4.0);
        MELEE[2] = |i| factors(sided(i, "melee factors on the map, disrupted units half"));
        FIRE[2] = |i| factors(sided(i, "fire factors on the map, good order alone"));
        COMBAT_UNITS[2] = |i| Channel::new(sided(i, "combat units on the map"), "units/64, at most 256", 0.0, 4.0);
        POOL[KINDS] = |i| units(format!("{} in the pool", Kind::at(i).id()));
        LOST[LEADERS] = |i| leader_flag("lost", i);
        ESCAPING[LEADERS] = |i| leader_flag("must roll for escape", i);
        ARRIVED[ARRIVALS] = |i| Channel::flag(format!("reinforcement {i} has come or is lost"));
        DUE[2] = |i| Channel::new(sided(i, "units due as reinforcements"), "units/64, at most 256", 0.0, 4.0);
        TO_DUE[2] = |i| Channel::new(sided(i, "reinforcements: turns to the next, 16 if none"), "turns/16", 0.0, 1.0);
        GUNBOATS_OUT[MAX_GUNBOATS * OUT] = |i| out(i / OUT, i % OUT);
        GUNBOATS_LOST[2] = |i| units(["egyptian gunboats destroyed", "british gunboats destroyed"][i]);
        SINKING[2] = |i| units(["egyptian gunboats that must roll", "british gunboats that must roll"][i]);
        SINKING_AT[HEX] = |i| hex("where gunboats must roll", i);
        RAILWAY[1] = |_| number("railway built", "hexes/64");
        TO_PLACE[SETUP_KINDS] = |i| units(format!("{} to be set up", Kind::at(KINDS - 5 + i).id()));
        SPENT[MAX_SUPPLY * HEX] = |i| hex(&format!("supply spent in this phase, {}", i / HEX), i % HEX);
        EVENT[EVENTS] = |i| Channel::flag(format!("event: {}", Event::ALL[i].id()));
        EVENT_AMOUNT[1] = |_| units("units that the event still places or removes");
        EVENT_FLAG[EVENT_FLAGS.len()] = |i| Channel::flag(EVENT_FLAGS[i]);
        FAVOURED[HEX] = |i| hex("hex of urgency or religious fervour", i);
        FAVOUR[3] = |i| Channel::flag(["no hex is favoured", "a hex is favoured", "its group is under way or was"][i]);
        WAR[3] = |i| Channel::flag(["no war with Ethiopia yet", "war with Ethiopia", "war with Ethiopia over"][i]);
        FIELD_FORCES[1] = |_| number("field forces so far", "forces/64");
        GROUP_KIND[3] = |i| Channel::flag(["no group", "group on the march", "group aboard a vessel"][i]);
        GROUP_HEX[HEX] = |i| hex("hex of the group", i);
        CAME_FROM[HEX] = |i| hex("hex from which the group came", i);
        ROLLS[1] = |_| number("march rolls of the group", "rolls/64");
        ROLLED[3] = |i| Channel::flag(["group: one roll", "group: two rolls", "group: three rolls"][i]);
        FAILED[1] = |_| Channel::flag("the group's last roll failed");
        GROUP_FAVOURED[1] = |_| Channel::flag("the group is favoured");
        BATTLE[7] = |i| Channel::flag(BATTLE_STAGES[i]);
        BATTLE_FROM[HEX] = |i| hex("hex from which is attacked", i);
        BATTLE_TARGET[HEX] = |i| hex("attacked hex", i);
        LEADER_USE[4] = |i| Channel::flag(sided(i / 2, ["leader used in fire", "leader used in melee"][i % 2]));
        DICE[4] = |i| {
            let test = ["sum rolled under fire, 0 before", "sum rolled in melee, 0 before"][i / 2];
            Channel::new(sided(i % 2, test), "sum/16", 0.0, 0.75)
        };
        BATTLE_WON[2] = |i| Channel::flag(sided(i, "combat won"));
        GUNS_TAKEN[1] = |_| units("guns eliminated, for spoils");
        RIFLES_TAKEN[1] = |_| units("rifle-armed units eliminated, for spoils");
        GUNBOATS_HIT[2] = |i| units(["egyptian gunboats hit in the combat", "british gunboats hit in the combat"][i]);
        MONTHS_HELD[1] = |_| Channel::new("turns for which the prize is held by who holds it", "turns/64", 0.0, 2.0);
        PRIZE_TAKEN[1] = |_| Channel::flag("the Mahdist held the prize at the last check");
        WON[2] = |i| Channel::flag(sided(i, "game won"));
    }
}

const BATTLE_STAGES: [&str; 7] = [
    "no combat",
    "combat: marching player's leader",
    "combat: other player's leader",
    "combat: tests",
    "combat: retreat",
    "combat: spoils and vessels",
    "combat: advance",
];

fn out(gunboat: usize, i: usize) -> Channel {
    match i {
        HEX => number(format!("gunboat out, {gunboat}: game turn from which it may return"), "turns/64"),
        4 => Channel::flag(format!("gunboat out, {gunboat}: british")),
        _ => hex(&format!("gunboat out, {gunboat}: where it was lost"), i),
    }
}

/// Fills the globals, which are zero.
pub(super) fn encode(position: &Campaign, atlas: &Atlas, view: Side, row: &mut [f32]) {
    let sided = |side: Side| usize::from(side != view);
    row[global::VIEW] = truth(view == Side::Egyptian);
    row[global::ACTIVE + sided(position.active)] = 1.0;
    let decision = position.pending.decision;
    if !decision.is_roll() && !matches!(decision, Decision::None | Decision::Finished) {
        row[global::DECIDER + sided(position.decider())] = 1.0;
    }
    row[global::STAGE] = sixty_fourths(position.stage);
    put_hex(row, global::CURSOR, position.cursor);
    calendar_and_scenario(position, atlas, view, row);
    pending(position, row);
    forces(position, view, row);
    schedule(position, view, row);
    events(&position.events, row);
    group_and_battle(position, view, row);
    for (i, leader) in position.leaders.iter().enumerate() {
        row[global::LOST + i] = truth(leader.lost);
        row[global::ESCAPING + i] = truth(position.escaping >> i & 1 == 1);
    }
    for (i, gunboat) in position.gunboats_out.iter().enumerate().filter(|(_, gunboat)| gunboat.hex.is_some()) {
        let at = global::GUNBOATS_OUT + i * OUT;
        put_hex(row, at, gunboat.hex);
        row[at + HEX] = sixty_fourths(gunboat.returns);
        row[at + HEX + 1] = truth(gunboat.british);
    }
    for i in 0..2 {
        row[global::GUNBOATS_LOST + i] = in_units(position.gunboats_lost[i]);
        row[global::SINKING + i] = in_units(position.sinking[i]);
    }
    put_hex(row, global::SINKING_AT, position.sinking_at);
    row[global::RAILWAY] = sixty_fourths(position.railway);
    for (i, &n) in position.to_place.iter().enumerate() {
        row[global::TO_PLACE + i] = in_units(n);
    }
    for (i, &hex) in position.spent.iter().enumerate() {
        put_hex(row, global::SPENT + i * HEX, hex);
    }
    row[global::MONTHS_HELD] = sixty_fourths(position.months_held & !TAKEN);
    row[global::PRIZE_TAKEN] = truth(position.months_held & TAKEN != 0);
    if let Some(winner) = position.winner {
        row[global::WON + sided(winner)] = 1.0;
    }
}

#[inline]
fn sixty_fourths(n: u8) -> f32 {
    f32::from(n) / SIXTY_FOURTHS
}

#[inline]
fn in_units(n: u8) -> f32 {
    f32::from(n) / UNITS
}

fn calendar_and_scenario(position: &Campaign, atlas: &Atlas, view: Side, row: &mut [f32]) {
    let scenario = atlas.scenario;
    let (turn, month) = (position.turn, position.month());
    row[global::FIRST + usize::from(scenario.first_player != view)] = 1.0;
    row[global::TURN] = sixty_fourths(turn);
    row[global::TURNS_LEFT] = sixty_fourths(scenario.turns.saturating_sub(turn));
    row[global::PLAYED] = f32::from(turn.min(scenario.turns)) / f32::from(scenario.turns);
    row[global::MONTH + usize::from(month) - 1] = 1.0;
    row[global::HIGH_NILE] = truth(position.high_nile());
    row[global::HEAT] = truth((3..=10).contains(&month));
    row[global::WINTER] = truth(!(3..=11).contains(&month));
    row[global::PHASE + position.phase as usize] = 1.0;
    let victory = match scenario.victory {
        Victory::ElObeid { .. } => 0,
        Victory::Khartoum { .. } => 1,
        Victory::Points { .. } => 2,
        Victory::Holder { .. } => 3,
    };
    row[global::VICTORY + victory] = 1.0;
    row[global::KHARTOUM] = truth(scenario.events == EventColumn::Khartoum);
    row[global::FLAG] = truth(scenario.options.flag);
    row[global::RAIL] = truth(scenario.railway);
}

fn pending(position: &Campaign, row: &mut [f32]) {
    let pending = position.pending;
    row[global::DECISION + pending.decision as usize] = 1.0;
    put_hex(row, global::PENDING_HEX, pending.hex);
    row[global::SUBJECT] = sixty_fourths(pending.subject);
    row[global::AMOUNT] = in_units(pending.amount);
    match Subject::of(position) {
        Subject::Other => {}
        Subject::Units { kind, disrupted, marched } => {
            row[global::SUBJECT_KIND + kind.index()] = 1.0;
            row[global::SUBJECT_STATE] = truth(disrupted);
            row[global::SUBJECT_STATE + 1] = truth(marched);
        }
        Subject::Leader(leader) => row[global::SUBJECT_LEADER + leader.index()] = 1.0,
    }
}

/// Strength on the map, pools, points and losses.
fn forces(position: &Campaign, view: Side, row: &mut [f32]) {
    let catalogue = &position.scenario.catalogue;
    let (mut melee, mut fire, mut combat, mut on_map) = ([0u32; 2], [0u32; 2], [0u32; 2], [0u32; KINDS]);
    for cohort in position.units.as_slice() {
        let (kind, n) = (cohort.kind(), u32::from(cohort.count()));
        let side = cohort.side() as usize;
        let data = catalogue.of(kind);
        let good = u32::from(!cohort.disrupted());
        melee[side] += u32::from(data.melee) * n * (1 + good);
        fire[side] += u32::from(data.fire) * n * good;
        combat[side] += if COMBAT.has(kind) { n } else { 0 };
        on_map[kind.index()] += n;
    }
    for kind in Kind::ALL {
        let available = if GUNBOATS.has(kind) {
            position.available(kind)
        } else {
            u32::from(catalogue.of(kind).pool).saturating_sub(on_map[kind.index()]) as u8
        };
        row[global::POOL + kind.index()] = in_units(available);
    }
    for side in Side::BOTH {
        let (i, s) = (usize::from(side != view), side as usize);
        row[global::ELIMINATED + i] = f32::from(position.eliminated[s]) / SIXTY_FOURTHS;
        row[global::POINTS + i] = position.points(side).min(64) as f32 / 16.0;
        row[global::MELEE + i] = factors_value(melee[s] as f32 / 2.0);
        row[global::FIRE + i] = factors_value(fire[s] as f32);
        row[global::COMBAT_UNITS + i] = combat[s].min(256) as f32 / SIXTY_FOURTHS;
    }
}

/// Scheduled reinforcements (5.1).
fn schedule(position: &Campaign, view: Side, row: &mut [f32]) {
    let mut due = [0u32; 2];
    let mut next = [16u8; 2];
    for (i, entry) in position.scenario.reinforcements.iter().enumerate() {
        if position.arrived >> i & 1 == 1 {
            row[global::ARRIVED + i] = 1.0;
            continue;
        }
        let side = usize::from(entry.side != view);
        due[side] += entry.units.iter().map(|unit| u32::from(unit.count)).sum::<u32>();
        next[side] = next[side].min(entry.turn.saturating_sub(position.turn));
    }
    for side in 0..2 {
        row[global::DUE + side] = due[side].min(256) as f32 / SIXTY_FOURTHS;
        row[global::TO_DUE + side] = f32::from(next[side]) / 16.0;
    }
}

fn events(events: &EventState, row: &mut [f32]) {
    if let Some(event) = events.current {
        row[global::EVENT + event as usize] = 1.0;
    }
    row[global::EVENT_AMOUNT] = in_units(events.amount);
    let mut events = *events;
    for (i, flag) in event_flags(&mut events).into_iter().enumerate() {
        row[global::EVENT_FLAG + i] = truth(*flag);
    }
    put_hex(row, global::FAVOURED, events.favoured);
    let favour = match events.favour {
        Favour::None => 0,
        Favour::Named => 1,
        Favour::Used => 2,
    };
    row[global::FAVOUR + favour] = 1.0;
    let war = match events.war {
        War::Never => 0,
        War::Now => 1,
        War::Over => 2,
    };
    row[global::WAR + war] = 1.0;
    row[global::FIELD_FORCES] = sixty_fourths(events.field_forces);
}

fn group_and_battle(position: &Campaign, view: Side, row: &mut [f32]) {
    let group = &position.group;
    let kind = match group.kind {
        GroupKind::None => 0,
        GroupKind::March => 1,
        GroupKind::Vessel => 2,
    };
    row[global::GROUP_KIND + kind] = 1.0;
    put_hex(row, global::GROUP_HEX, group.hex);
    put_hex(row, global::CAME_FROM, group.came_from);
    row[global::ROLLS] = sixty_fourths(group.rolls);
    if let 1..=3 = group.rolls {
        row[global::ROLLED + usize::from(group.rolls) - 1] = 1.0;
    }
    row[global::FAILED] = truth(group.failed);
    row[global::GROUP_FAVOURED] = truth(group.favoured);
    let battle = &position.battle;
    row[global::BATTLE + battle.stage as usize] = 1.0;
    put_hex(row, global::BATTLE_FROM, battle.from);
    put_hex(row, global::BATTLE_TARGET, battle.target);
    for (role, i) in roles(position.active, view).into_iter().enumerate() {
        match battle.leader_use[role] {
            LeaderUse::None => {}
            LeaderUse::Fire => row[global::LEADER_USE + 2 * i] = 1.0,
            LeaderUse::Melee => row[global::LEADER_USE + 2 * i + 1] = 1.0,
        }
        for round in 0..2 {
            row[global::DICE + 2 * round + i] = f32::from(battle.dice[2 * round + role]) / UNITS;
        }
    }
    if let Some(winner) = battle.winner {
        row[global::BATTLE_WON + usize::from(winner != view)] = 1.0;
    }
    row[global::GUNS_TAKEN] = in_units(battle.guns_taken);
    row[global::RIFLES_TAKEN] = in_units(battle.rifles_taken);
    for i in 0..2 {
        row[global::GUNBOATS_HIT + i] = in_units(battle.gunboats_hit[i]);
    }
}

/// 0 for the viewer's side and 1 for the other, of the marching and the other player of a combat.
pub(super) fn roles(active: Side, view: Side) -> [usize; 2] {
    if active == view { [0, 1] } else { [1, 0] }
}

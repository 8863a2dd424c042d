//! Planes over the grid `[channels, 54, 51]`: the ground of every hex, and what stands, happens and may be ordered there.

use ndarray::{Array3, s};
use std::ops::ControlFlow;

use super::atlas::{Atlas, ground};
use super::columns::{UNITS, columns, factors, factors_value, rating, rating_value, sided, truth, units};
use super::survey::Survey;
use crate::dervish::board::{Board, COLUMNS, DIRECTIONS, Ground, Hex, ROWS};
use crate::dervish::campaign::{BattleStage, Campaign};
use crate::dervish::catalogue::{BRITISH_COMBAT, GUNBOATS, Kind, KindSet, LEADERS, Leader, Side};
use crate::dervish::order::Order;
use crate::dervish::units::{Cohort, Status};
use crate::encode::{Channel, PlaneWriter};

/// Groups of units of which each side has a plane: those in good order, those disrupted, or (`None`) both.
const UNIT_PLANES: [(&str, KindSet, Option<bool>); 15] = {
    const BARE: KindSet = KindSet::of(&[Kind::Levy, Kind::MahdistSpearmen]);
    const RIFLES: KindSet = KindSet::of(&[
        Kind::RifleR,
        Kind::RifleL,
        Kind::BritishInfantry,
        Kind::CamelCorps,
        Kind::NavalInfantry,
        Kind::IndianInfantry,
        Kind::MahdistRifles,
    ]);
    const CAVALRY: KindSet =
        KindSet::of(&[Kind::EgyptianCavalry, Kind::BritishCavalry, Kind::IndianCavalry, Kind::MahdistCavalry]);
    const GUNS: KindSet = KindSet::of(&[Kind::EgyptianGun, Kind::BritishGun, Kind::MahdistGun]);
    [
        ("infantry without rifles in good order", BARE, Some(false)),
        ("infantry without rifles, disrupted", BARE, Some(true)),
        ("infantry with rifles in good order", RIFLES, Some(false)),
        ("infantry with rifles, disrupted", RIFLES, Some(true)),
        ("cavalry in good order", CAVALRY, Some(false)),
        ("cavalry, disrupted", CAVALRY, Some(true)),
        ("guns in good order", GUNS, Some(false)),
        ("guns, disrupted", GUNS, Some(true)),
        ("supply", Kind::Supply.set(), None),
        ("camels", Kind::Camel.set(), None),
        ("civilians", Kind::Civilian.set(), None),
        ("gunboats", GUNBOATS, None),
        ("boats", KindSet::of(&[Kind::Boat, Kind::MahdistBoat]), None),
        ("fleet", Kind::Fleet.set(), None),
        ("flag", Kind::Flag.set(), None),
    ]
};
const GROUPS: usize = UNIT_PLANES.len();

/// Planes by channel.
pub(super) mod plane {
    use super::*;

    columns! {
        ON_MAP[1] = |_| Channel::flag("on the map of the scenario");
        GROUND[ground::WIDTH] = |i| ground::channels().swap_remove(i);
        RIVER_SIDE[6] = |i| Channel::flag(format!("river along the hexside to {}", DIRECTIONS[i]));
        CONTROL[2] = |i| Channel::flag(sided(i, "control of the place"));
        BESIEGED[1] = |_| Channel::flag("besieged by the enemy of who controls the place (6.4)");
        UNITS[2 * GROUPS] = |i| units(sided(i / GROUPS, UNIT_PLANES[i % GROUPS].0));
        BRITISH[2] = |i| units(sided(i, "British and Indian combat units"));
        MELEE[2] = |i| factors(sided(i, "melee factors, disrupted units half"));
        FIRE[2] = |i| factors(sided(i, "fire factors, good order alone"));
        STRATEGIC[2] = |i| rating(sided(i, "highest strategic rating"));
        TACTICAL[2] = |i| rating(sided(i, "highest tactical rating"));
        MARCHED[1] = |_| units("units that have marched");
        FOUGHT[1] = |_| units("units that have fought");
        GROUPED[1] = |_| units("units in the group");
        PENDING[1] = |_| Channel::flag("hex of the pending decision or roll");
        GROUP[1] = |_| Channel::flag("hex of the group");
        CAME_FROM[1] = |_| Channel::flag("hex from which the group came");
        ATTACKER[1] = |_| Channel::flag("hex from which is attacked");
        TARGET[1] = |_| Channel::flag("attacked hex");
        FAVOURED[1] = |_| Channel::flag("hex of urgency or religious fervour");
        SPENT[1] = |_| Channel::new("supply units spent here in this phase", "units/16", 0.0, 1.0);
        OUT[1] = |_| units("gunboats lost here that may come back");
        RAILWAY[1] = |_| Channel::flag("built railway");
        LEGAL[1] = |_| Channel::flag("a legal order names the hex");
    }
}

/// Planes that are the same in all positions of a scenario: the first of all.
const UNCHANGING: usize = plane::CONTROL;

/// The planes that never change `[UNCHANGING, 54, 51]`, of ground by [`Hex::index`].
pub(super) fn unchanging(board: &Board, ground: &[[f32; ground::WIDTH]]) -> Array3<f32> {
    let mut planes = Array3::zeros([UNCHANGING, ROWS, COLUMNS]);
    for (i, cell) in board.cells.iter().enumerate().filter(|(_, cell)| cell.ground != Ground::Off) {
        let hex = Hex(i as u16);
        let mut column = planes.slice_mut(s![.., hex.row(), hex.column()]);
        column[plane::ON_MAP] = 1.0;
        for (k, &value) in ground[i].iter().enumerate() {
            column[plane::GROUND + k] = value;
        }
        for direction in 0..DIRECTIONS.len() {
            column[plane::RIVER_SIDE + direction] = truth(cell.rivers >> direction & 1 == 1);
        }
    }
    planes
}

/// Fills the planes, which are wiped.
pub(super) fn encode(position: &Campaign, atlas: &Atlas, view: Side, planes: &mut PlaneWriter<'_>) {
    Survey::with(position, atlas, view, |survey| write_planes(survey, planes));
}

fn write_planes(survey: &Survey<'_>, planes: &mut PlaneWriter<'_>) {
    let (position, atlas) = (survey.position, survey.atlas);
    let board: &Board = &position.scenario.board;
    let ground = atlas.planes.as_slice().expect("arrays are made in standard order");
    // A scenario lives as long as the process, so its address names it.
    planes.lay(std::ptr::from_ref(position.scenario()) as usize, ground);
    let built = if position.railway > 0 { usize::from(position.railway) + 1 } else { 0 };
    for hex in board.railway.iter().take(built) {
        planes.set(plane::RAILWAY, hex.row(), hex.column(), 1.0);
    }
    let mut add = |channel: usize, hex: Hex, value: f32| planes.add(channel, hex.row(), hex.column(), value);
    for place in &board.places {
        for side in Side::BOTH.into_iter().filter(|side| position.controls_at(*side, place.hex)) {
            add(plane::CONTROL + survey.sided(side), place.hex, 1.0);
            add(plane::BESIEGED, place.hex, truth(position.besieged(place.hex, side)));
        }
    }
    for &cohort in position.units.as_slice() {
        add_units(survey.sided(cohort.side()), cohort, &mut add);
    }
    for stack in survey.stacks() {
        let i = survey.sided(stack.side);
        add(plane::MELEE + i, stack.hex, factors_value(stack.melee()));
        add(plane::FIRE + i, stack.hex, factors_value(stack.fire()));
        let leaders = (0..LEADERS).filter(|leader| stack.leaders >> leader & 1 == 1).map(|leader| Leader::ALL[leader]);
        let (mut strategic, mut tactical) = (0, 0);
        for data in leaders.map(|leader| position.scenario.catalogue.leader(leader)) {
            strategic = strategic.max(data.strategic);
            tactical = tactical.max(data.tactical);
        }
        add(plane::STRATEGIC + i, stack.hex, rating_value(strategic));
        add(plane::TACTICAL + i, stack.hex, rating_value(tactical));
    }
    let battle = &position.battle;
    let fought_over = |hex: Hex| if battle.stage == BattleStage::None { Hex::NONE } else { hex };
    for (channel, hex) in [
        (plane::PENDING, position.pending.hex),
        (plane::GROUP, position.group.hex),
        (plane::CAME_FROM, position.group.came_from),
        (plane::ATTACKER, fought_over(battle.from)),
        (plane::TARGET, fought_over(battle.target)),
        (plane::FAVOURED, position.events.favoured),
    ] {
        if hex.is_some() {
            add(channel, hex, 1.0);
        }
    }
    for hex in position.spent.into_iter().filter(|hex| hex.is_some()) {
        add(plane::SPENT, hex, 1.0 / UNITS);
    }
    for gunboat in position.gunboats_out.iter().filter(|gunboat| gunboat.hex.is_some()) {
        add(plane::OUT, gunboat.hex, 1.0 / UNITS);
    }
    let _ = position.options(&mut |order| {
        if let Order::Hex(hex) = order {
            planes.set(plane::LEGAL, hex.row(), hex.column(), 1.0);
        }
        ControlFlow::Continue(())
    });
}

fn add_units(side: usize, cohort: Cohort, add: &mut impl FnMut(usize, Hex, f32)) {
    let n = f32::from(cohort.count()) / UNITS;
    let hex = cohort.hex();
    for (group, (_, kinds, disrupted)) in UNIT_PLANES.iter().enumerate() {
        if kinds.has(cohort.kind()) && disrupted.is_none_or(|disrupted| disrupted == cohort.disrupted()) {
            add(plane::UNITS + side * GROUPS + group, hex, n);
        }
    }
    if BRITISH_COMBAT.has(cohort.kind()) {
        add(plane::BRITISH + side, hex, n);
    }
    match cohort.status() {
        Status::Fresh => {}
        Status::Marched => add(plane::MARCHED, hex, n),
        Status::Fought => add(plane::FOUGHT, hex, n),
    }
    if cohort.grouped() {
        add(plane::GROUPED, hex, n);
    }
}

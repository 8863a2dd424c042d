//! Tokens: one for each stack, followed by one for each part of it that has marched, has fought or is in the group; then
//! one for each place of the map, in its order.

use super::atlas::{Atlas, USUAL_DIE};
use super::columns::{
    DISRUPTIBLE, DISRUPTIBLE_KINDS, UNITS, columns, disruptible_index, factors, factors_value, grid_hex, leader_flag,
    place_in_grid, put_grid, rating, rating_value, sided, truth, units,
};
use super::survey::{HEX_ROW, PARTS, Stack, Survey, cohort_part, hex_channels, leader_part, mouths};
use crate::dervish::board::{Hex, PlaceKind};
use crate::dervish::campaign::Campaign;
use crate::dervish::catalogue::{KINDS, Kind, LAND, LEADERS, Leader, Side};
use crate::dervish::tables::AttritionRow;
use crate::dervish::units::{Cohort, Status};
use crate::encode::{Channel, Tokens};

/// Columns of a token.
pub(super) mod token {
    use super::*;

    columns! {
        TYPE[3] = |i| Channel::flag(["a stack", "a part of the stack before it", "a place"][i]);
        SIDE[2] = |i| Channel::flag(sided(i, "units"));
        GRID[2] = |i| place_in_grid("hex", i);
        GOOD[KINDS] = |i| units(format!("{} in good order", Kind::at(i).id()));
        DISRUPTED[DISRUPTIBLE] = |i| units(format!("{} disrupted", DISRUPTIBLE_KINDS[i].id()));
        LEADER[LEADERS] = |i| leader_flag("leader", i);
        MARCHED[1] = |_| Channel::flag("has marched, all of a part or some of a stack");
        FOUGHT[1] = |_| Channel::flag("has fought, all of a part or some of a stack");
        GROUPED[1] = |_| Channel::flag("is in the group, all of a part or some of a stack");
        LAND_UNITS[1] = |_| units("land units, at most 255");
        FRESH[1] = |_| units("fresh land units, at most 255");
        MELEE[1] = |_| factors("melee factors, disrupted units half");
        FIRE[1] = |_| factors("fire factors, good order alone");
        MOVEMENT[1] = |_| Channel::new("movement of the slowest land unit, at most 16", "points/16", 0.0, 1.0);
        STRATEGIC[1] = |_| rating("highest strategic rating");
        TACTICAL[1] = |_| rating("highest tactical rating");
        HUNGRY[1] = |_| units("units of the stack that attrition hits on a 3 if not supplied, at most 255");
        HEX[HEX_ROW] = |i| hex_channels().swap_remove(i);
    }
}

/// Groups in which tokens are pooled.
pub(super) const GROUPS: usize = 5;
const OWN_STACKS: u8 = 0;
const ENEMY_STACKS: u8 = 1;
const PLACES: u8 = 2;
const ACTING_GROUP: u8 = 3;
const SPENT_PARTS: u8 = 4;

/// The group of each token: own stacks, enemy stacks, places, the group that acts, what has marched or fought.
pub(super) fn group(tokens: &Tokens, groups: &mut Vec<u8>) {
    groups.extend(tokens.as_slice().chunks_exact(token::WIDTH).map(|row| {
        if row[token::TYPE + 2] > 0.0 {
            PLACES
        } else if row[token::TYPE + 1] > 0.0 {
            if row[token::GROUPED] > 0.0 { ACTING_GROUP } else { SPENT_PARTS }
        } else if row[token::SIDE] > 0.0 {
            OWN_STACKS
        } else {
            ENEMY_STACKS
        }
    }));
}

/// The cell of each token.
pub(super) fn locate(tokens: &Tokens, cells: &mut Vec<Option<u32>>) {
    let rows = tokens.as_slice().chunks_exact(token::WIDTH);
    cells.extend(rows.map(|row| Some(grid_hex(row, token::GRID).index() as u32)));
}

/// Adds all tokens.
pub(super) fn encode(position: &Campaign, atlas: &Atlas, view: Side, tokens: &mut Tokens) {
    Survey::with(position, atlas, view, |survey| write_tokens(survey, tokens));
}

fn write_tokens(survey: &Survey<'_>, tokens: &mut Tokens) {
    for stack in survey.stacks() {
        let mut hex_row = [0.0; HEX_ROW];
        survey.hex_row(stack.hex, &mut hex_row);
        let row = tokens.push();
        row[token::TYPE] = 1.0;
        write_common(row, stack.hex, &hex_row);
        write_force(survey, stack, 0..PARTS, row);
        for part in (1..PARTS).filter(|part| stack.parts >> part & 1 == 1) {
            let row = tokens.push();
            row[token::TYPE + 1] = 1.0;
            write_common(row, stack.hex, &hex_row);
            write_force(survey, stack, part..part + 1, row);
        }
    }
    for place in &survey.position.scenario.board.places {
        let row = tokens.push();
        row[token::TYPE + 2] = 1.0;
        put_grid(row, token::GRID, place.hex);
        survey.hex_row(place.hex, &mut row[token::HEX..]);
    }
}

fn write_common(row: &mut [f32], hex: Hex, hex_row: &[f32; HEX_ROW]) {
    put_grid(row, token::GRID, hex);
    row[token::HEX..].copy_from_slice(hex_row);
}

/// Writes the units and leaders of some parts of a stack.
fn write_force(survey: &Survey<'_>, stack: &Stack, parts: std::ops::Range<usize>, row: &mut [f32]) {
    let position = survey.position;
    let catalogue = &position.scenario.catalogue;
    row[token::SIDE + survey.sided(stack.side)] = 1.0;
    let (mut land, mut fresh, mut melee, mut fire, mut movement) = (0u32, 0u32, 0u32, 0u32, u8::MAX);
    let mark = |row: &mut [f32], part: usize| {
        row[token::MARCHED] = row[token::MARCHED].max(truth(part % 3 == 1));
        row[token::FOUGHT] = row[token::FOUGHT].max(truth(part % 3 == 2));
        row[token::GROUPED] = row[token::GROUPED].max(truth(part >= 3));
    };
    let cohorts = survey.cohorts(stack);
    for &cohort in cohorts.iter().filter(|c| parts.contains(&cohort_part(**c))) {
        let kind = cohort.kind();
        let n = u32::from(cohort.count());
        let good = !cohort.disrupted();
        let column = if good { token::GOOD + kind.index() } else { token::DISRUPTED + disruptible_index(kind) };
        row[column] += n as f32 / UNITS;
        let data = catalogue.of(kind);
        melee += u32::from(data.melee) * n * if good { 2 } else { 1 };
        fire += if good { u32::from(data.fire) * n } else { 0 };
        if LAND.has(kind) {
            land += n;
            fresh += if cohort.status() == Status::Fresh { n } else { 0 };
            movement = movement.min(data.movement);
        }
        mark(row, cohort_part(cohort));
    }
    let (mut strategic, mut tactical) = (0, 0);
    for leader in Leader::ALL.into_iter().filter(|leader| stack.leaders >> leader.index() & 1 == 1) {
        let part = leader_part(&position.leaders[leader.index()]);
        if parts.contains(&part) {
            row[token::LEADER + leader.index()] = 1.0;
            let data = catalogue.leader(leader);
            strategic = strategic.max(data.strategic);
            tactical = tactical.max(data.tactical);
            mark(row, part);
        }
    }
    let at_most_255 = |n: u32| n.min(u32::from(u8::MAX)) as f32 / UNITS;
    row[token::LAND_UNITS] = at_most_255(land);
    row[token::FRESH] = at_most_255(fresh);
    row[token::MELEE] = factors_value(melee as f32 / 2.0);
    row[token::FIRE] = factors_value(fire as f32);
    row[token::MOVEMENT] = if land > 0 { f32::from(movement.min(16)) / 16.0 } else { 0.0 };
    row[token::STRATEGIC] = rating_value(strategic);
    row[token::TACTICAL] = rating_value(tactical);
    row[token::HUNGRY] = at_most_255(hungry(position, stack.hex, stack.side, cohorts));
}

/// Units of a whole stack that attrition hits on the usual die, without modifiers (10.3).
fn hungry(position: &Campaign, hex: Hex, side: Side, cohorts: &[Cohort]) -> u32 {
    let board = &position.scenario.board;
    let place = board.place_kind(hex);
    let besieged = place == Some(PlaceKind::Town) && position.besieged(hex, side);
    let row = AttritionRow::of(board.cell(hex).ground, place, besieged);
    match position.scenario.tables.attrition(row, USUAL_DIE) {
        Some(fed) => mouths(cohorts).saturating_sub(u32::from(fed)),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dervish::encode::CampaignEncoder;
    use crate::dervish::scenario::Scenario;

    #[test]
    fn every_token_is_in_the_cell_of_its_hex() {
        for name in Scenario::BUILTIN_NAMES {
            let scenario = Scenario::builtin(name).expect("a scenario");
            let (position, encoder) = (Campaign::new(scenario), CampaignEncoder::new(scenario));
            let mut tokens = Tokens::new(token::WIDTH);
            encode(&position, &encoder.atlas, Side::Egyptian, &mut tokens);
            let mut cells = Vec::new();
            locate(&tokens, &mut cells);
            let mut expected = Vec::new();
            Survey::with(&position, &encoder.atlas, Side::Egyptian, |survey| {
                for stack in survey.stacks() {
                    let parts = (stack.parts >> 1).count_ones() as usize;
                    expected.extend(std::iter::repeat_n(stack.hex, 1 + parts));
                }
            });
            expected.extend(scenario.board.places.iter().map(|place| place.hex));
            let expected: Vec<_> = expected.into_iter().map(|hex| Some(hex.index() as u32)).collect();
            assert_eq!(cells, expected, "{name}");
        }
    }
}

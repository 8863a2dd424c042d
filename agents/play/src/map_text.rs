//! The campaign's map drawn in text, around the action or any hex or whole, and the lists of stacks.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Board, COLUMNS, Ground, Hex, PlaceKind, ROWS, Relief};
use dervish_env::dervish::campaign::Phase;
use dervish_env::dervish::catalogue::{COMBAT, GUNBOATS, Kind, LAND, Leader, Side, TRAIN};
use dervish_env::dervish::order::Order;
use dervish_env::dervish::units::Cohort;
use dervish_env::game::Position;

/// Rows above and below the centre of the drawn part of the map.
const HALF_HEIGHT: usize = 7;
/// Columns left and right of it.
const HALF_WIDTH: usize = 7;
/// Columns that are drawn side by side where the whole map is asked for.
const MOST_COLUMNS: usize = 18;

/// Characters for a hex on the map, besides the one between two of them.
const CELL: usize = 5;

const LEGEND: &str = "ground . clear - desert + cultivated h hills m mountain ~ sea   place T town V village O oasis   \
                      stack E/M and its land units, ! disrupted, * leader, g gunboat, & both   [ ] where something is asked\n\
                      a hex is its column and row: 4606 is column 46, row 06; rivers are not drawn\n";

/// Date, phase and score, the map around the action, the stacks on it, what is still to be set up.
pub(crate) fn board_of_campaign(position: &Campaign) -> String {
    let mut text = board_around(position, focus(position));
    let (units, leaders) = position.left_to_set_up();
    let units = units.iter().map(|(kind, count)| format!("{count} {}", kind.id()));
    let left: Vec<String> = units.chain(leaders.iter().map(|leader| leader.id().to_string())).collect();
    if !left.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "still to be placed: {}", left.join(", "));
    }
    text
}

/// Date, phase and score, the map around a hex, the stacks on it.
pub(crate) fn board_around(position: &Campaign, centre: Hex) -> String {
    let board = &position.scenario().board;
    let (all_columns, all_rows) = extent(board);
    // At the edges of the map as much is drawn as elsewhere.
    let around = |centre: usize, half: usize, all: &Range<usize>| {
        let last = all.end.saturating_sub(2 * half + 1).max(all.start);
        let first = centre.saturating_sub(half).clamp(all.start, last);
        first..(first + 2 * half + 1).min(all.end)
    };
    let columns = around(centre.column(), HALF_WIDTH, &all_columns);
    let rows = around(centre.row(), HALF_HEIGHT, &all_rows);
    let mut text = header(position);
    text.push_str(&drawn(position, columns.clone(), rows.clone(), focus(position)));
    text.push_str(LEGEND);
    if columns == all_columns && rows == all_rows {
        text.push_str("this is the whole map\n");
    } else {
        let _ = writeln!(
            text,
            "these are columns {} and rows {}; the map has columns {} and rows {}: b HEX draws another part, b all the \
             whole",
            span(&columns),
            span(&rows),
            span(&all_columns),
            span(&all_rows),
        );
    }
    let mut elsewhere = 0;
    for hex in Side::BOTH.into_iter().flat_map(|side| stack_hexes(position, side)).collect::<BTreeSet<Hex>>() {
        if columns.contains(&hex.column()) && rows.contains(&hex.row()) {
            let _ = writeln!(text, "  {}", stack_text(position, hex, &Side::BOTH));
        } else {
            elsewhere += 1;
        }
    }
    if elsewhere > 0 {
        let _ = writeln!(text, "stacks elsewhere: {elsewhere}; s lists all");
    }
    text
}

/// Date, phase and score, and the whole map, in pieces where it is too wide for one.
pub(crate) fn whole_board(position: &Campaign) -> String {
    let (columns, rows) = extent(&position.scenario().board);
    let pieces = columns.len().div_ceil(MOST_COLUMNS).max(1);
    let width = columns.len().div_ceil(pieces).max(1);
    let mut text = header(position);
    for first in columns.clone().step_by(width) {
        let piece = first..(first + width).min(columns.end);
        if pieces > 1 {
            let _ = writeln!(text, "columns {}", span(&piece));
        }
        text.push_str(&drawn(position, piece, rows.clone(), focus(position)));
    }
    text.push_str(LEGEND);
    text
}

/// All stacks of both sides, and leaders who are alone.
pub(crate) fn stacks_of_campaign(position: &Campaign) -> String {
    let mut text = String::new();
    for side in Side::BOTH {
        let _ = writeln!(text, "{}:", side.id());
        let hexes = stack_hexes(position, side);
        if hexes.is_empty() {
            text.push_str("  none\n");
        }
        for hex in hexes {
            let _ = writeln!(text, "  {}", stack_text(position, hex, &[side]));
        }
    }
    text
}

/// Whose turn it is and when: `game turn 2 of 5, 1884-03, mahdist player`.
pub(crate) fn turn_of_campaign(position: &Campaign) -> String {
    let (scenario, turn) = (position.scenario(), position.game_turn());
    // Set-up comes before the first player turn, whosever that is.
    let player = if position.phase() == Phase::Setup { position.decider() } else { position.active() };
    let (year, month) = (scenario.year(turn), scenario.month(turn));
    format!("game turn {} of {}, {year}-{month:02}, {} player", turn + 1, scenario.turns, player.id())
}

/// So many units of a kind, with what tells them apart from others in their hex: `4 rifle_r disrupted in the group`.
pub(crate) fn cohort_text(cohort: Cohort) -> String {
    format!(
        "{} {}{}{}",
        cohort.count(),
        cohort.kind().id(),
        if cohort.disrupted() { " disrupted" } else { "" },
        if cohort.grouped() { " in the group" } else { "" },
    )
}

fn header(position: &Campaign) -> String {
    format!(
        "{}: {}, {:?} phase; eliminated: Egyptian {}, Mahdist {}\n",
        position.scenario().title,
        turn_of_campaign(position),
        position.phase(),
        position.eliminated(Side::Egyptian),
        position.eliminated(Side::Mahdist),
    )
}

/// The columns and rows in which the scenario has hexes.
fn extent(board: &Board) -> (Range<usize>, Range<usize>) {
    let cells = board.cells.iter().enumerate().filter(|(_, cell)| cell.ground != Ground::Off);
    let hexes: Vec<Hex> = cells.map(|(index, _)| Hex(index as u16)).collect();
    let bounds = |coordinate: fn(Hex) -> usize| {
        let all = || hexes.iter().map(|hex| coordinate(*hex));
        all().min().unwrap_or(0)..all().max().map_or(0, |last| last + 1)
    };
    (bounds(Hex::column), bounds(Hex::row))
}

/// `34 to 48`.
fn span(range: &Range<usize>) -> String {
    format!("{:02} to {:02}", range.start, range.end.saturating_sub(1))
}

/// These columns and rows with their numbers, the hex `marked` in brackets.
fn drawn(position: &Campaign, columns: Range<usize>, rows: Range<usize>, marked: Hex) -> String {
    let mut text = String::from("     ");
    for column in columns.clone() {
        let _ = write!(text, "{column:02}    ");
    }
    text.push('\n');
    for row in rows {
        let _ = write!(text, "{row:02} {}", if row % 2 == 1 { "   " } else { "" });
        let mut between = ' ';
        for column in columns.clone() {
            let hex = Hex::at(column, row);
            let before = if hex == marked { '[' } else { between };
            let _ = write!(text, "{before}{:CELL$}", cell_text(position, hex));
            between = if hex == marked { ']' } else { ' ' };
        }
        text.push(between);
        text.push('\n');
    }
    text
}

/// At most [`CELL`] characters for a hex: ground or place, stack.
fn cell_text(position: &Campaign, hex: Hex) -> String {
    let board = &position.scenario().board;
    let cell = board.cell(hex);
    if cell.ground == Ground::Off {
        return String::new();
    }
    let place = match board.place_kind(hex) {
        Some(PlaceKind::Town) => Some('T'),
        Some(PlaceKind::Village) => Some('V'),
        Some(PlaceKind::Oasis) => Some('O'),
        None => None,
    };
    let ground = match (cell.ground, cell.relief) {
        (Ground::Sea, _) => '~',
        (_, Relief::Hills) => 'h',
        (_, Relief::Mountain) => 'm',
        (Ground::Desert, _) => '-',
        (Ground::Cultivated, _) => '+',
        _ => '.',
    };
    let mut text = String::from(place.unwrap_or(ground));
    let (mut disrupted, mut gunboat, mut leader) = (false, false, false);
    for side in Side::BOTH {
        let force = position.units().force(hex, side, |_| true);
        let units = force.count_of(LAND);
        if units > 0 {
            let _ = write!(text, "{}{units}", if side == Side::Egyptian { 'E' } else { 'M' });
        }
        disrupted |= force.disrupted_of(LAND) > 0;
        gunboat |= force.count_of(GUNBOATS) > 0;
        leader |= position.has_leader(hex, side);
    }
    // Behind ten units or more there is room for one sign.
    let sign = match (leader, gunboat) {
        (true, true) => "&",
        (true, false) => "*",
        (false, true) => "g",
        (false, false) => "",
    };
    if disrupted && text.len() + sign.len() < CELL {
        text.push('!');
    }
    text + sign
}

/// The hexes where a side has anything.
fn stack_hexes(position: &Campaign, side: Side) -> BTreeSet<Hex> {
    let units = position.units().as_slice().iter().filter(|cohort| cohort.side() == side).map(|cohort| cohort.hex());
    let leaders = Leader::ALL.into_iter().filter(|leader| leader.side() == side);
    units.chain(leaders.map(|leader| position.leader(leader).hex).filter(|hex| hex.is_some())).collect()
}

/// One line for what these sides have in a hex, whether it is in a group or not.
fn stack_text(position: &Campaign, hex: Hex, sides: &[Side]) -> String {
    let mut names = Vec::new();
    for side in sides {
        let force = position.units().force(hex, *side, |_| true);
        for kind in force.kinds_present().iter() {
            let counts = [(force.good[kind.index()], ""), (force.disrupted[kind.index()], " disrupted")];
            let units = counts.into_iter().filter(|(count, _)| *count > 0);
            names.extend(units.map(|(count, order)| format!("{count} {}{order}", kind.id())));
        }
        names.extend(position.leaders_at(hex, *side).map(|leader| leader.id().to_string()));
    }
    format!("{}: {}", position.place_text(hex), names.join(", "))
}

/// Where the action is: the hex that is asked about, else the group, else the largest stack of who acts; before he has
/// one, the middle of the hexes that he can choose.
fn focus(position: &Campaign) -> Hex {
    let pending = position.pending().hex;
    if pending.is_some() {
        return pending;
    }
    if position.group().hex.is_some() {
        return position.group().hex;
    }
    let side = position.decider();
    let weight = |kind: Kind| if COMBAT.has(kind) { 2 } else { u32::from(TRAIN.has(kind)) };
    let largest = position
        .units()
        .as_slice()
        .iter()
        .filter(|c| c.side() == side)
        .max_by_key(|c| (weight(c.kind()) * u32::from(c.count()), std::cmp::Reverse(c.hex())));
    if let Some(cohort) = largest {
        return cohort.hex();
    }
    let mut legal = Vec::new();
    position.legal_actions_into(&mut legal);
    let hexes = legal.into_iter().filter_map(|action| match Order::of(action) {
        Some(Order::Hex(hex)) => Some(hex),
        _ => None,
    });
    let hexes: Vec<Hex> = hexes.collect();
    let middle = |sum: usize, all: usize| sum.checked_div(hexes.len()).unwrap_or(all / 2);
    Hex::at(
        middle(hexes.iter().map(|hex| hex.column()).sum(), COLUMNS),
        middle(hexes.iter().map(|hex| hex.row()).sum(), ROWS),
    )
}

//! Columns of an observation by name: offset, width and documentation of each in one place, so that they cannot disagree.

use crate::dervish::board::{COLUMNS, Hex, ROWS};
use crate::dervish::catalogue::{KINDS, Kind, LAND, Leader};
use crate::encode::Channel;

/// Declares consecutive columns: `NAME[how many] = channel of the i-th of them;`. Gives a constant offset for each name,
/// `WIDTH`, and `channels()`.
macro_rules! columns {
    ($($name:ident[$count:expr] = $channel:expr;)*) => {
        columns!(@offsets 0; $($name $count,)*);

        /// What every column holds.
        pub(crate) fn channels() -> Vec<crate::encode::Channel> {
            let mut channels = Vec::with_capacity(WIDTH);
            $({
                let describe: fn(usize) -> crate::encode::Channel = $channel;
                channels.extend((0..$count).map(describe));
            })*
            channels
        }
    };
    (@offsets $start:expr; $name:ident $count:expr, $($rest:tt)*) => {
        pub(crate) const $name: usize = $start;
        columns!(@offsets $name + $count; $($rest)*);
    };
    (@offsets $start:expr;) => {
        /// Number of columns.
        pub(crate) const WIDTH: usize = $start;
    };
}
pub(super) use columns;

/// Units are shown in sixteenths: exact in `f32`, and about 1 for a large stack.
pub(super) const UNITS: f32 = 16.0;
/// Columns, rows, turns and the like are shown in sixty-fourths.
pub(super) const SIXTY_FOURTHS: f32 = 64.0;
/// Melee and fire factors are shown in sixty-fourths.
const FACTORS: f32 = 64.0;
/// Factors beyond this count no more.
const MOST_FACTORS: f32 = 8.0 * FACTORS;

/// A number of units up to 255.
pub(super) fn units(name: impl Into<String>) -> Channel {
    Channel::new(name.into(), "units/16", 0.0, f32::from(u8::MAX) / UNITS)
}

/// A number up to 255 in sixty-fourths.
pub(super) fn number(name: impl Into<String>, unit: &'static str) -> Channel {
    Channel::new(name.into(), unit, 0.0, f32::from(u8::MAX) / SIXTY_FOURTHS)
}

/// Melee or fire factors, at most 512.
pub(super) fn factors(name: impl Into<String>) -> Channel {
    Channel::new(name.into(), "factors/64", 0.0, MOST_FACTORS / FACTORS)
}

/// The value of [`factors`].
#[inline]
pub(super) fn factors_value(factors: f32) -> f32 {
    factors.min(MOST_FACTORS) / FACTORS
}

/// A rating of a leader, at most 4.
pub(super) fn rating(name: impl Into<String>) -> Channel {
    Channel::new(name.into(), "rating/4", 0.0, 1.0)
}

/// The value of [`rating`].
#[inline]
pub(super) fn rating_value(rating: u8) -> f32 {
    f32::from(rating.min(4)) / 4.0
}

/// A distance, at most 64 hexes; 1 too where there is nothing to be distant from.
pub(super) fn distance(name: impl Into<String>) -> Channel {
    Channel::new(name.into(), "hexes/64", 0.0, 1.0)
}

/// The value of [`distance`].
#[inline]
pub(super) fn distance_value(hexes: Option<u32>) -> f32 {
    hexes.map_or(1.0, |hexes| (hexes as f32 / SIXTY_FOURTHS).min(1.0))
}

/// Width of a hex that may be none.
pub(super) const HEX: usize = 3;

/// The `i`-th column of a hex that may be none: whether there is one, its column, its row (both 0 without one).
pub(super) fn hex(name: &str, i: usize) -> Channel {
    if i == 0 { Channel::flag(format!("{name}: there is one")) } else { place_in_grid(name, i - 1) }
}

/// The `i`-th column of a hex: its column in the grid, its row.
pub(super) fn place_in_grid(name: &str, i: usize) -> Channel {
    let (axis, unit, most) = if i == 0 { ("column", "columns/64", COLUMNS) } else { ("row", "rows/64", ROWS) };
    Channel::new(format!("{name}: {axis}"), unit, 0.0, (most - 1) as f32 / SIXTY_FOURTHS)
}

/// Writes a hex that may be none into its [`HEX`] columns, which are zero.
#[inline]
pub(super) fn put_hex(row: &mut [f32], at: usize, hex: Hex) {
    if hex.is_some() {
        row[at] = 1.0;
        put_grid(row, at + 1, hex);
    }
}

/// Writes column and row of a hex.
#[inline]
pub(super) fn put_grid(row: &mut [f32], at: usize, hex: Hex) {
    row[at] = hex.column() as f32 / SIXTY_FOURTHS;
    row[at + 1] = hex.row() as f32 / SIXTY_FOURTHS;
}

/// The hex of which [`put_grid`] wrote column and row.
#[inline]
pub(super) fn grid_hex(row: &[f32], at: usize) -> Hex {
    Hex::at((row[at] * SIXTY_FOURTHS) as usize, (row[at + 1] * SIXTY_FOURTHS) as usize)
}

/// 1 for true.
#[inline]
pub(super) fn truth(flag: bool) -> f32 {
    f32::from(u8::from(flag))
}

/// `own NAME` for the viewer's side, 0, and `enemy NAME` for the other, 1.
pub(super) fn sided(i: usize, name: &str) -> String {
    format!("{} {name}", ["own", "enemy"][i])
}

/// How many kinds can be disrupted: the land units.
pub(super) const DISRUPTIBLE: usize = LAND.0.count_ones() as usize;

/// The kinds that can be disrupted, in catalogue order.
pub(super) const DISRUPTIBLE_KINDS: [Kind; DISRUPTIBLE] = {
    let mut kinds = [Kind::Levy; DISRUPTIBLE];
    let (mut found, mut i) = (0, 0);
    while i < KINDS {
        if LAND.has(Kind::at(i)) {
            kinds[found] = Kind::at(i);
            found += 1;
        }
        i += 1;
    }
    kinds
};

/// Place of a kind in [`DISRUPTIBLE_KINDS`].
#[inline]
pub(super) fn disruptible_index(kind: Kind) -> usize {
    (LAND.0 & ((1 << kind as u32) - 1)).count_ones() as usize
}

/// A one-hot column for each leader.
pub(super) fn leader_flag(name: &str, i: usize) -> Channel {
    Channel::flag(format!("{name}: {}", Leader::ALL[i].id()))
}

/// A one-hot column for each kind of unit.
pub(super) fn kind_flag(name: &str, i: usize) -> Channel {
    Channel::flag(format!("{name}: {}", Kind::at(i).id()))
}

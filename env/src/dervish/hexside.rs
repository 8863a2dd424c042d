//! Hexsides and their corners: where rivers run (7.1) and which hexsides meet (8.7).

use super::board::{COLUMNS, DIRECTIONS, Hex, ROWS};

/// A hexside, named from the hex on one side of it. For rivers this is the hex on the left bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hexside {
    /// The hex from which it is named.
    pub hex: Hex,
    /// Direction across it from that hex, 0-5.
    pub direction: usize,
}

/// A corner of the grid: the axial coordinates of the three hexes that meet there, ascending. It may lie on the edge
/// of the grid, so that these need not be hexes of a map.
pub type Corner = [[i32; 2]; 3];

/// Axial steps by direction, in the order of [`DIRECTIONS`].
const STEPS: [hexx::Hex; 6] = [
    hexx::Hex::new(1, 0),
    hexx::Hex::new(0, 1),
    hexx::Hex::new(-1, 1),
    hexx::Hex::new(-1, 0),
    hexx::Hex::new(0, -1),
    hexx::Hex::new(1, -1),
];

/// The hex next to `hex` in a direction 0-5, if it lies in the grid.
pub fn neighbour(hex: Hex, direction: usize) -> Option<Hex> {
    let [column, row] =
        (hex.axial() + STEPS[direction]).to_offset_coordinates(hexx::OffsetHexMode::Odd, hexx::HexOrientation::Pointy);
    let (column, row) = (usize::try_from(column).ok()?, usize::try_from(row).ok()?);
    (column < COLUMNS && row < ROWS).then(|| Hex::at(column, row))
}

/// The direction opposite to a direction 0-5.
pub const fn opposite(direction: usize) -> usize {
    (direction + 3) % 6
}

impl Hexside {
    /// Reads `CCRR/D`, such as `1732/NE`.
    pub fn parse(name: &str) -> Option<Hexside> {
        let (hex, direction) = name.split_once('/')?;
        Some(Hexside { hex: Hex::parse(hex)?, direction: DIRECTIONS.iter().position(|&d| d == direction)? })
    }

    /// The hex across it, if it lies in the grid.
    pub fn across(self) -> Option<Hex> {
        neighbour(self.hex, self.direction)
    }

    /// Its two ends as one looks across it from its hex: the one on the right hand, then the one on the left. A river
    /// that has the hex on its left bank flows from the first to the second.
    pub fn ends(self) -> [Corner; 2] {
        // Directions go clockwise, so the next one lies to the right.
        [corner(self.hex, self.direction), corner(self.hex, (self.direction + 5) % 6)]
    }

    /// Whether the two hexsides are the same or share a corner (8.7).
    pub fn meets(self, other: Hexside) -> bool {
        let others = other.ends();
        self.ends().iter().any(|corner| others.contains(corner))
    }
}

/// The corner of a hex between a direction and the next one clockwise.
fn corner(hex: Hex, direction: usize) -> Corner {
    let centre = hex.axial();
    let mut hexes = [centre, centre + STEPS[direction], centre + STEPS[(direction + 1) % 6]].map(|h| [h.x, h.y]);
    hexes.sort_unstable();
    hexes
}

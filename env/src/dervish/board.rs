//! The map as the rules see it: hexes, hexsides, rivers, places (rules 1.3, 7, 8.3, 8.7). Read from map files by
//! [`super::map_file`], restricted to a scenario's hexes.
//!
//! Every board lies in one grid of [`COLUMNS`] x [`ROWS`] cells, so that the action space and the observation planes
//! are the same for every map; smaller maps leave cells off the map.

/// Columns of the grid.
pub const COLUMNS: usize = 51;
/// Rows of the grid.
pub const ROWS: usize = 54;
/// Cells of the grid.
pub const CELLS: usize = COLUMNS * ROWS;
/// Most places that a map may have.
pub const MAX_PLACES: usize = 64;

/// A cell of the grid: row * 51 + column, so that ascending order is that of rule 13.3 (row from the north, then
/// column from the west).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Hex(pub u16);

impl Hex {
    /// No hex.
    pub const NONE: Hex = Hex(u16::MAX);

    /// The hex at a column and row of the grid.
    pub const fn at(column: usize, row: usize) -> Hex {
        Hex((row * COLUMNS + column) as u16)
    }
    /// Index below [`CELLS`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// Column, 0 the westernmost.
    pub const fn column(self) -> usize {
        self.0 as usize % COLUMNS
    }
    /// Row, 0 the northernmost.
    pub const fn row(self) -> usize {
        self.0 as usize / COLUMNS
    }
    /// Whether it is a hex at all.
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != u16::MAX
    }
    /// Its axial coordinates: x eastward along the row, y to the south-east.
    pub fn axial(self) -> hexx::Hex {
        let (column, row) = (self.column() as i32, self.row() as i32);
        hexx::Hex::from_offset_coordinates([column, row], hexx::OffsetHexMode::Odd, hexx::HexOrientation::Pointy)
    }
    /// Reads `CCRR`.
    pub fn parse(name: &str) -> Option<Hex> {
        if name.len() != 4 || !name.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let (column, row) = (name[..2].parse::<usize>().ok()?, name[2..].parse::<usize>().ok()?);
        (column < COLUMNS && row < ROWS).then(|| Hex::at(column, row))
    }
}

impl std::fmt::Display for Hex {
    /// `CCRR`: two digits of column, two of row.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_some() { write!(f, "{:02}{:02}", self.column(), self.row()) } else { f.write_str("none") }
    }
}

/// Directions in the order of the map file: E, SE, SW, W, NW, NE. The opposite of `d` is `(d + 3) % 6`.
pub const DIRECTIONS: [&str; 6] = ["E", "SE", "SW", "W", "NW", "NE"];

/// Ground of a hex (7.1). Rows of the attrition table (10.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Ground {
    /// Off the map or outside the scenario.
    Off,
    /// Sea, closed to land units.
    Sea,
    /// Clear.
    Clear,
    /// Desert (-).
    Desert,
    /// Cultivated (+).
    Cultivated,
}

/// Relief of a hex (7.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Relief {
    /// Neither hills nor mountain.
    Flat,
    /// Hills.
    Hills,
    /// Mountain.
    Mountain,
}

/// Kind of place (7.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum PlaceKind {
    /// Town.
    Town,
    /// Village.
    Village,
    /// Oasis or wells.
    Oasis,
}

/// Index of a place in the map file, below [`MAX_PLACES`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PlaceId(pub u8);

/// A named place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Name of the period.
    pub name: String,
    /// Other name, empty for none.
    pub alias: String,
    /// Its hex.
    pub hex: Hex,
    /// Town, village or oasis.
    pub kind: PlaceKind,
    /// Whether its hex touches the sea and ships call there.
    pub port: bool,
}

/// A hex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Ground; [`Ground::Off`] also for hexes outside the scenario.
    pub ground: Ground,
    /// Relief.
    pub relief: Relief,
    /// The place in it.
    pub place: Option<PlaceId>,
    /// Whether it belongs to the Souakim extension (1.3).
    pub extension: bool,
    /// Recruiting district: index into [`Board::districts`], or 255.
    pub district: u8,
    /// Whether a neighbour is a sea hex.
    pub coast: bool,
    /// Neighbours by direction; [`Hex::NONE`] where off the map or outside the scenario. Sea hexes are included.
    pub neighbours: [Hex; 6],
    /// Hexsides (bit = direction) along which a river runs (7.2), the Atbara included.
    pub rivers: u8,
    /// Hexsides along which the Atbara runs (crossed without means, 8.3).
    pub atbara: u8,
    /// Ways of a land unit to the neighbour in each direction, worked out of the above (8.3): what the neighbour costs,
    /// with [`WAY_RIVER`] or [`WAY_ATBARA`] if a river lies between; 0 where closed.
    pub ways: [u8; 6],
    /// Ways of a vessel to the neighbour in each direction (8.7), a set of [`Reach`] bits: there is a pair of
    /// hexsides, one of each hex, that are the same or meet, of which the worse is so open.
    pub water: [u8; 6],
    /// Reaches touched by the hex, a set of [`Reach`] bits.
    pub reaches: u8,
    /// Position on the projected railway (8.9), or 255.
    pub rail: u8,
}

/// How a stretch of river is open to vessels (8.7), as bits of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reach;

impl Reach {
    /// Open all year.
    pub const ALL: u8 = 1;
    /// Open at high Nile only, July to November.
    pub const HIGH: u8 = 2;
    /// Never open, but boats are hauled through at 2 points a hex.
    pub const NONE: u8 = 4;
    /// In [`Cell::water`] only: one of the two hexsides is `high`, the other `none`: hauled at high Nile.
    pub const HIGH_NONE: u8 = 8;
}

/// Bit of [`Cell::ways`]: a river lies between, to be crossed only with means.
pub const WAY_RIVER: u8 = 0x80;
/// Bit of [`Cell::ways`]: the Atbara lies between.
pub const WAY_ATBARA: u8 = 0x40;

/// An entry of the map file: where forces come on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Identifier, such as `wadi_halfa`.
    pub id: String,
    /// Its hexes, in the order of the map file.
    pub hexes: Vec<Hex>,
}

/// The map of a scenario: a map file restricted to the scenario's hexes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Board {
    /// By [`Hex::index`]; always [`CELLS`] long.
    pub cells: Vec<Cell>,
    /// Places by [`PlaceId`]; those outside the scenario are left out.
    pub places: Vec<Place>,
    /// Recruiting districts in the order of the map file (5.2), by name.
    pub districts: Vec<String>,
    /// The projected railway from the port inland (8.9).
    pub railway: Vec<Hex>,
    /// Entries that lie in the scenario.
    pub entries: Vec<Entry>,
}

impl Board {
    /// Fills in [`Cell::ways`] from relief and rivers.
    pub(super) fn find_ways(&mut self) {
        for i in 0..self.cells.len() {
            let cell = self.cells[i];
            for direction in 0..6 {
                let to = cell.neighbours[direction];
                self.cells[i].ways[direction] = if cell.ground == Ground::Sea || !self.is_land(to) {
                    0
                } else {
                    let cost = match self.cell(to).relief {
                        Relief::Flat => 1,
                        Relief::Hills => 2,
                        Relief::Mountain => 3,
                    };
                    let river = match (cell.rivers >> direction & 1, cell.atbara >> direction & 1) {
                        (0, _) => 0,
                        (_, 0) => WAY_RIVER,
                        _ => WAY_ATBARA,
                    };
                    cost | river
                };
            }
        }
    }
    /// The cell of a hex.
    #[inline]
    pub fn cell(&self, hex: Hex) -> &Cell {
        &self.cells[hex.index()]
    }
    /// The place in a hex.
    #[inline]
    pub fn place_at(&self, hex: Hex) -> Option<&Place> {
        self.cell(hex).place.map(|p| &self.places[p.0 as usize])
    }
    /// The kind of the place in a hex.
    #[inline]
    pub fn place_kind(&self, hex: Hex) -> Option<PlaceKind> {
        self.place_at(hex).map(|p| p.kind)
    }
    /// A place by its name or alias (exact spelling).
    pub fn place_named(&self, name: &str) -> Option<PlaceId> {
        let found = self.places.iter().position(|p| p.name == name || (!p.alias.is_empty() && p.alias == name))?;
        Some(PlaceId(found as u8))
    }
    /// Whether land units may stand there.
    #[inline]
    pub fn is_land(&self, hex: Hex) -> bool {
        hex.is_some() && !matches!(self.cell(hex).ground, Ground::Off | Ground::Sea)
    }
    /// Distance in hexes between the centres, over whatever lies between.
    pub fn distance(a: Hex, b: Hex) -> u32 {
        a.axial().unsigned_distance_to(b.axial())
    }
}

//! Map files (rules 1.3, 7, 8.7-8.9): `data/dervish/map.toml` and maps of users' scenarios. The header of that file
//! documents the format.
//!
//! A map is read and checked as a whole, then restricted to the hexes of a scenario, which makes its [`Board`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;
use toml::Spanned;

use super::board::{Board, CELLS, Cell, Entry, Ground, Hex, MAX_PLACES, Place, PlaceId, PlaceKind, Reach, Relief};
use super::data_file::{DataError, DataFile};
use super::hexside::{Corner, Hexside, opposite};
use super::map_layers::Layers;

/// Text of the built-in map.
pub(super) const BUILTIN: &str = include_str!("../../data/dervish/map.toml");

static MAP: LazyLock<MapFile> = LazyLock::new(|| {
    // The file is part of the program, so a fault in it is a fault of the program; a test reads it.
    MapFile::parse("map.toml", BUILTIN).unwrap_or_else(|faults| panic!("built-in map: {}", faults[0]))
});

/// A whole map.
#[derive(Clone, PartialEq, Debug)]
pub struct MapFile {
    /// Columns of the map, at most [`COLUMNS`](super::board::COLUMNS).
    pub columns: usize,
    /// Rows of the map, at most [`ROWS`](super::board::ROWS).
    pub rows: usize,
    /// Regions in the order of the file, such as `main` and `souakim`.
    pub regions: Vec<String>,
    /// Rivers in the order of the file.
    pub rivers: Vec<River>,
    /// Entries from the sea: identifiers and hexes.
    pub sea_entries: Vec<Entry>,
    /// Index into `regions` by [`Hex::index`]; [`OFF`] off the map.
    region_of: Vec<u8>,
    /// The board of all hexes.
    board: Board,
}

/// Region and district of a hex that has none.
pub(super) const OFF: u8 = 255;

/// A river (7.2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct River {
    /// Identifier, such as `white_nile`.
    pub id: String,
    /// Whether it is a torrent in the rains and pools otherwise, as the Atbara: crossed without means (8.3).
    pub seasonal: bool,
    /// Its hexsides in downstream order, each named from the left bank, with its [`Reach`] bit.
    pub hexsides: Vec<(Hexside, u8)>,
}

impl MapFile {
    /// The map of the Sudan that comes with the game.
    pub fn builtin() -> &'static MapFile {
        &MAP
    }

    /// The board of all hexes of the map.
    pub fn whole(&self) -> &Board {
        &self.board
    }

    /// The hexes of a region, ascending.
    pub fn region(&self, index: usize) -> impl Iterator<Item = Hex> + '_ {
        let hexes = self.region_of.iter().enumerate().filter(move |&(_, &r)| usize::from(r) == index);
        hexes.map(|(i, _)| Hex(i as u16))
    }

    /// The map restricted to some of its hexes, given by [`Hex::index`]: what lies outside is off the map and next to
    /// nothing, places and entries there are left out, and the railway ends where it first leaves.
    pub fn restrict(&self, inside: &[bool]) -> Board {
        let within = |hex: &Hex| hex.is_some() && inside[hex.index()];
        let mut board = self.board.clone();
        board.places.retain(|place| within(&place.hex));
        board.railway.truncate(board.railway.iter().take_while(|hex| within(hex)).count());
        for entry in &mut board.entries {
            entry.hexes.retain(within);
        }
        board.entries.retain(|entry| !entry.hexes.is_empty());
        for (i, cell) in board.cells.iter_mut().enumerate() {
            let hex = Hex(i as u16);
            if !inside[i] {
                *cell = OFF_MAP;
                continue;
            }
            for direction in 0..6 {
                if !within(&cell.neighbours[direction]) {
                    cell.neighbours[direction] = Hex::NONE;
                    cell.water[direction] = 0;
                }
            }
            cell.place = board.places.iter().position(|p| p.hex == hex).map(|p| PlaceId(p as u8));
            cell.rail = board.railway.iter().position(|&h| h == hex).map_or(OFF, |p| p as u8);
        }
        mark_coast(&mut board);
        board.find_ways();
        board
    }

    /// Reads a map; `file` is its name in faults.
    ///
    /// # Errors
    /// Every fault found, but none of what builds on a layer of hexes that is not sound.
    pub fn parse(file: &str, text: &str) -> Result<MapFile, Vec<DataError>> {
        let mut file = DataFile::parse(file, text)?;
        let sections = Sections::take(&mut file);
        let Some(layers) = Layers::read(&mut file, &sections) else { return Err(file.into_faults()) };
        let mut board = layers.board();
        let rivers = read_rivers(&mut file, &board, &sections);
        read_places(&mut file, &mut board, &rivers, &sections);
        read_lines(&mut file, &mut board, &sections);
        let sea_entries = read_entries(&mut file, &mut board, &sections);
        check_connected(&mut file, &board);
        if !file.sound() {
            return Err(file.into_faults());
        }
        mark_rivers(&mut board, &rivers);
        let (columns, rows) = (layers.columns, layers.rows);
        Ok(MapFile { columns, rows, regions: layers.regions, rivers, sea_entries, region_of: layers.region_of, board })
    }
}

pub(super) const OFF_MAP: Cell = Cell {
    ground: Ground::Off,
    relief: Relief::Flat,
    place: None,
    extension: false,
    district: OFF,
    coast: false,
    neighbours: [Hex::NONE; 6],
    rivers: 0,
    atbara: 0,
    ways: [0; 6],
    water: [0; 6],
    reaches: 0,
    rail: OFF,
};

// The sections of the file.

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grid {
    pub(super) columns: Spanned<usize>,
    pub(super) rows: Spanned<usize>,
    pub(super) shifted_rows: Option<Spanned<String>>,
    pub(super) first_row: Option<Spanned<usize>>,
    miles_per_hex: Option<f64>,
    lon0: Option<f64>,
    lat0: Option<f64>,
    miles_per_degree_lon: Option<f64>,
    miles_per_degree_lat: Option<f64>,
    x0: Option<f64>,
    y0: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Layer {
    pub(super) kinds: BTreeMap<Spanned<String>, Spanned<String>>,
    pub(super) rows: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RiverTable {
    id: Spanned<String>,
    #[serde(rename = "name")]
    _name: String,
    seasonal: bool,
    joins: Spanned<String>,
    hexsides: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReachTable {
    river: Spanned<String>,
    name: String,
    first: Spanned<String>,
    last: Spanned<String>,
    navigable: Spanned<bool>,
    season: Season,
    #[serde(rename = "note", default)]
    _note: String,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Season {
    All,
    High,
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CataractTable {
    #[serde(rename = "number")]
    _number: u32,
    name: String,
    river: Spanned<String>,
    hexsides: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceTable {
    name: Spanned<String>,
    #[serde(default)]
    alias: String,
    #[serde(rename = "modern", default)]
    _modern: String,
    lat: Option<f64>,
    lon: Option<f64>,
    kind: PlaceKind,
    hex: Spanned<String>,
    #[serde(default)]
    river: Vec<Spanned<String>>,
    #[serde(default)]
    bank: Vec<Bank>,
    #[serde(default)]
    port: bool,
    #[serde(rename = "note", default)]
    _note: String,
}

/// A bank of a river, looking downstream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bank {
    /// On the left hand.
    Left,
    /// On the right hand.
    Right,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Railway {
    hexes: Vec<Spanned<String>>,
    #[serde(default)]
    stations: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryTable {
    id: Spanned<String>,
    kind: EntryKind,
    hexes: Vec<Spanned<String>>,
    #[serde(rename = "note", default)]
    _note: String,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EntryKind {
    Land,
    Sea,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Coast {
    hexes: Vec<Spanned<String>>,
}

pub(super) struct Sections {
    pub(super) grid: Option<Grid>,
    pub(super) terrain: Option<Layer>,
    pub(super) regions: Option<Layer>,
    pub(super) districts: Option<Layer>,
    rivers: Vec<Spanned<RiverTable>>,
    reaches: Vec<Spanned<ReachTable>>,
    cataracts: Vec<Spanned<CataractTable>>,
    places: Vec<Spanned<PlaceTable>>,
    railway: Option<Railway>,
    entries: Vec<Spanned<EntryTable>>,
    coast: Option<Coast>,
}

impl Sections {
    fn take(file: &mut DataFile<'_>) -> Sections {
        let sections = Sections {
            grid: file.required("grid"),
            terrain: file.required("terrain"),
            regions: file.required("regions"),
            districts: file.required("districts"),
            rivers: file.list("river"),
            reaches: file.list("reach"),
            cataracts: file.list("cataract"),
            places: file.list("place"),
            railway: file.optional("railway"),
            entries: file.list("entry"),
            coast: file.optional("coast"),
        };
        file.no_more();
        sections
    }
}

pub(super) fn mark_coast(board: &mut Board) {
    for i in 0..CELLS {
        let sea = |&hex: &Hex| hex.is_some() && board.cell(hex).ground == Ground::Sea;
        board.cells[i].coast = board.cells[i].neighbours.iter().any(sea);
    }
}

/// Rivers with the season of each hexside.
fn read_rivers(file: &mut DataFile<'_>, board: &Board, sections: &Sections) -> Vec<River> {
    let mut rivers: Vec<River> = Vec::new();
    let mut used: BTreeMap<(Hex, Hex), String> = BTreeMap::new();
    let mut chains: Vec<Vec<Corner>> = Vec::new();
    for table in &sections.rivers {
        let table = table.get_ref();
        let id = table.id.get_ref();
        if rivers.iter().any(|r| r.id == *id) {
            file.fault(table.id.span(), format!("river `{id}` is there twice"));
        }
        let mut chain: Vec<Corner> = Vec::new();
        // Whether the hexside before was sound, so that the next must go on from it.
        let mut joined = false;
        let mut hexsides = Vec::new();
        for name in &table.hexsides {
            let mut fault = |reason: &str| file.fault(name.span(), format!("{id}: {} {reason}", name.get_ref()));
            let Some(side) = Hexside::parse(name.get_ref()) else {
                fault("is not a hexside CCRR/D");
                joined = false;
                continue;
            };
            let Some(across) = side.across().filter(|&across| board.is_land(side.hex) && board.is_land(across)) else {
                fault("is not between two land hexes");
                joined = false;
                continue;
            };
            if let Some(other) = used.insert((side.hex.min(across), side.hex.max(across)), id.clone()) {
                fault(&format!("is named twice, also by {other}"));
            }
            let [from, to] = side.ends();
            if joined && chain.last().is_some_and(|&end| end != from) {
                fault("does not go on from the hexside before it, or is not named from the left bank");
            }
            if chain.is_empty() {
                chain.push(from);
            }
            joined = true;
            chain.push(to);
            hexsides.push((side, 0));
        }
        if chain.iter().collect::<BTreeSet<_>>().len() != chain.len() {
            file.fault(table.id.span(), format!("river `{id}` crosses itself"));
        }
        rivers.push(River { id: id.clone(), seasonal: table.seasonal, hexsides });
        chains.push(chain);
    }
    for (i, table) in sections.rivers.iter().enumerate() {
        let joins = &table.get_ref().joins;
        if joins.get_ref().is_empty() {
            continue;
        }
        let Some(into) = rivers.iter().position(|r| r.id == *joins.get_ref()) else {
            file.fault(joins.span(), format!("unknown river `{}`", joins.get_ref()));
            continue;
        };
        let common = chains[i].iter().filter(|corner| chains[into].contains(corner)).count();
        if chains[i].last().is_none_or(|end| !chains[into].contains(end)) || common != 1 {
            file.fault(joins.span(), format!("{} does not meet {} at its end alone", rivers[i].id, joins.get_ref()));
        }
    }
    read_reaches(file, &mut rivers, sections);
    for table in &sections.cataracts {
        let table = table.get_ref();
        for side in &table.hexsides {
            let river = rivers.iter().find(|r| r.id == *table.river.get_ref());
            let parsed = Hexside::parse(side.get_ref());
            if !river.is_some_and(|r| r.hexsides.iter().any(|&(s, _)| Some(s) == parsed)) {
                file.fault(side.span(), format!("{}: {} is not on its river", table.name, side.get_ref()));
            }
        }
    }
    rivers
}

/// Reaches follow one another and cover the whole river.
fn read_reaches(file: &mut DataFile<'_>, rivers: &mut [River], sections: &Sections) {
    let mut covered = vec![0; rivers.len()];
    for table in &sections.reaches {
        let table = table.get_ref();
        let Some(r) = rivers.iter().position(|r| r.id == *table.river.get_ref()) else {
            file.fault(table.river.span(), format!("unknown river `{}`", table.river.get_ref()));
            continue;
        };
        let at = |name: &Spanned<String>| {
            let side = Hexside::parse(name.get_ref())?;
            rivers[r].hexsides.iter().position(|&(s, _)| s == side)
        };
        if *table.navigable.get_ref() == (table.season == Season::None) {
            file.fault(table.navigable.span(), format!("reach `{}`: navigable and season disagree", table.name));
        }
        match (at(&table.first), at(&table.last)) {
            (Some(first), Some(last)) => {
                if first != covered[r] || last < first {
                    let reason = format!("reach `{}` does not follow the one before it", table.name);
                    file.fault(table.first.span(), reason);
                }
                covered[r] = last + 1;
                for (_, reach) in rivers[r].hexsides.iter_mut().take(last + 1).skip(first) {
                    *reach = match table.season {
                        Season::All => Reach::ALL,
                        Season::High => Reach::HIGH,
                        Season::None => Reach::NONE,
                    };
                }
            }
            (first, _) => {
                let span = if first.is_none() { table.first.span() } else { table.last.span() };
                file.fault(span, format!("reach `{}` begins or ends off its river", table.name));
            }
        }
    }
    for ((river, covered), table) in rivers.iter().zip(covered).zip(&sections.rivers) {
        let sides = river.hexsides.len();
        if covered != sides {
            let reason = format!("the reaches of {} cover {covered} of its {sides} hexsides", river.id);
            file.fault(table.get_ref().id.span(), reason);
        }
    }
}

impl River {
    /// Whether a hex lies on one of its banks.
    pub fn has_on_bank(&self, hex: Hex, bank: Bank) -> bool {
        self.hexsides.iter().any(|(side, _)| match bank {
            Bank::Left => side.hex == hex,
            Bank::Right => side.across() == Some(hex),
        })
    }
}

fn read_places(file: &mut DataFile<'_>, board: &mut Board, rivers: &[River], sections: &Sections) {
    if sections.places.len() > MAX_PLACES {
        file.fault_at(None, format!("{} places, more than {MAX_PLACES}", sections.places.len()));
        return;
    }
    for table in &sections.places {
        let table = table.get_ref();
        let name = table.name.get_ref();
        if name.is_empty() || Hex::parse(name).is_some() {
            file.fault(table.name.span(), format!("`{name}` is no name for a place"));
        }
        if [name, &table.alias].into_iter().any(|n| board.place_named(n).is_some()) {
            file.fault(table.name.span(), format!("the name or alias of {name} is taken"));
        }
        let Some(hex) = land_hex(file, board, name, &table.hex) else { continue };
        if let Some(other) = board.place_at(hex) {
            let reason = format!("{name} shares {hex} with {}", other.name);
            file.fault(table.hex.span(), reason);
            continue;
        }
        if table.river.len() != table.bank.len() {
            file.fault(table.name.span(), format!("{name}: the lists of rivers and banks differ in length"));
        }
        for (id, &bank) in table.river.iter().zip(&table.bank) {
            let Some(river) = rivers.iter().find(|r| r.id == *id.get_ref()) else {
                file.fault(id.span(), format!("unknown river `{}`", id.get_ref()));
                continue;
            };
            let other = if bank == Bank::Left { Bank::Right } else { Bank::Left };
            if !river.has_on_bank(hex, bank) || river.has_on_bank(hex, other) {
                let bank = if bank == Bank::Left { "left" } else { "right" };
                file.fault(id.span(), format!("{name} is not on the {bank} bank alone of {}", river.id));
            }
        }
        if table.port && !board.cell(hex).coast {
            file.fault(table.hex.span(), format!("{name} is a port but not on the sea"));
        }
        if let Some(miles) = sections.grid.as_ref().and_then(|grid| grid.miles_off(table, hex)).filter(|&m| m >= 16.0) {
            file.fault(table.hex.span(), format!("{name} lies {miles:.0} miles from its hex"));
        }
        board.cells[hex.index()].place = Some(PlaceId(board.places.len() as u8));
        let (name, alias) = (name.clone(), table.alias.clone());
        board.places.push(Place { name, alias, hex, kind: table.kind, port: table.port });
    }
}

impl Grid {
    /// How far a place lies from the centre of its hex by the projection of the file, if it gives one.
    fn miles_off(&self, place: &PlaceTable, hex: Hex) -> Option<f64> {
        let (side, row) = (self.miles_per_hex?, hex.row() as f64);
        let x = self.x0? + side * (hex.column() as f64 + (hex.row() % 2) as f64 / 2.0);
        let y = self.y0? + side * 3f64.sqrt() / 2.0 * row;
        let east = (place.lon? - self.lon0?) * self.miles_per_degree_lon? - x;
        let south = (self.lat0? - place.lat?) * self.miles_per_degree_lat? - y;
        Some(east.hypot(south))
    }
}

/// The land hex of a name `CCRR`, or a fault.
fn land_hex(file: &mut DataFile<'_>, board: &Board, what: &str, name: &Spanned<String>) -> Option<Hex> {
    let hex = Hex::parse(name.get_ref()).filter(|&hex| board.is_land(hex));
    if hex.is_none() {
        file.fault(name.span(), format!("{what}: {} is not a land hex of the map", name.get_ref()));
    }
    hex
}

/// The railway and the list of the coast.
fn read_lines(file: &mut DataFile<'_>, board: &mut Board, sections: &Sections) {
    if let Some(railway) = &sections.railway {
        let hexes = &railway.hexes;
        board.railway = hexes.iter().filter_map(|hex| land_hex(file, board, "railway", hex)).collect();
        if hexes.len() >= usize::from(OFF) {
            file.fault(hexes[0].span(), format!("a railway of {} hexes is too long", hexes.len()));
        }
        if board.railway.len() == hexes.len() {
            for (i, (step, name)) in board.railway.windows(2).zip(hexes.iter().skip(1)).enumerate() {
                let (before, hex) = (step[0], step[1]);
                if board.railway[..=i].contains(&hex) {
                    file.fault(name.span(), format!("the railway passes {hex} twice"));
                } else if !board.cell(before).neighbours.contains(&hex) {
                    file.fault(name.span(), format!("the railway breaks between {before} and {hex}"));
                }
            }
            for (i, station) in railway.stations.iter().enumerate() {
                let hex = board.place_named(station.get_ref()).map(|p| board.places[usize::from(p.0)].hex);
                let at = hex.and_then(|hex| board.railway.iter().position(|&h| h == hex));
                let (first, last) = (i == 0, i + 1 == railway.stations.len());
                if !at.is_some_and(|at| (!first || at == 0) && (!last || at + 1 == board.railway.len())) {
                    let name = station.get_ref();
                    file.fault(station.span(), format!("the railway does not begin, pass or end at {name} as listed"));
                }
            }
        }
    }
    for (i, &hex) in board.railway.iter().enumerate() {
        board.cells[hex.index()].rail = i as u8;
    }
    if let Some(coast) = &sections.coast {
        let mut missing: BTreeSet<Hex> =
            (0..CELLS).map(|i| Hex(i as u16)).filter(|&hex| board.is_land(hex) && board.cell(hex).coast).collect();
        for name in &coast.hexes {
            if !Hex::parse(name.get_ref()).is_some_and(|hex| missing.remove(&hex)) {
                file.fault(
                    name.span(),
                    format!("coast: {} is not a land hex on the sea, or there twice", name.get_ref()),
                );
            }
        }
        for hex in missing {
            file.fault_at(None, format!("coast: {hex} is missing"));
        }
    }
}

/// Entries by land go to the board; those from the sea are returned.
fn read_entries(file: &mut DataFile<'_>, board: &mut Board, sections: &Sections) -> Vec<Entry> {
    let mut sea_entries: Vec<Entry> = Vec::new();
    for table in &sections.entries {
        let table = table.get_ref();
        let id = table.id.get_ref();
        if board.entries.iter().chain(&sea_entries).any(|e| e.id == *id) {
            file.fault(table.id.span(), format!("entry `{id}` is there twice"));
        }
        let mut hexes = Vec::new();
        for name in &table.hexes {
            match table.kind {
                EntryKind::Land => hexes.extend(land_hex(file, board, id, name)),
                EntryKind::Sea => match Hex::parse(name.get_ref()) {
                    Some(hex) if board.cell(hex).ground == Ground::Sea => hexes.push(hex),
                    _ => file.fault(name.span(), format!("{id}: {} is not a sea hex", name.get_ref())),
                },
            }
        }
        let entry = Entry { id: id.clone(), hexes };
        if table.kind == EntryKind::Land { board.entries.push(entry) } else { sea_entries.push(entry) }
    }
    sea_entries
}

/// All land is joined, and all sea.
fn check_connected(file: &mut DataFile<'_>, board: &Board) {
    let sea = |hex: Hex| board.cell(hex).ground == Ground::Sea;
    for (what, belongs) in [("land", &(|hex| board.is_land(hex)) as &dyn Fn(Hex) -> bool), ("sea", &sea)] {
        let mut rest: BTreeSet<Hex> = (0..CELLS).map(|i| Hex(i as u16)).filter(|&hex| belongs(hex)).collect();
        let mut queue: Vec<Hex> = rest.pop_first().into_iter().collect();
        while let Some(hex) = queue.pop() {
            queue.extend(board.cell(hex).neighbours.into_iter().filter(|next| rest.remove(next)));
        }
        if let Some(hex) = rest.first() {
            file.fault_at(None, format!("the {what} is in pieces: {} hexes such as {hex} are cut off", rest.len()));
        }
    }
}

/// Rivers of each hex, and the ways of vessels (8.7).
fn mark_rivers(board: &mut Board, rivers: &[River]) {
    let mut touching: Vec<Vec<(Hexside, u8)>> = vec![Vec::new(); CELLS];
    for river in rivers {
        for &(side, reach) in &river.hexsides {
            let Some(across) = side.across() else { continue };
            for (hex, direction) in [(side.hex, side.direction), (across, opposite(side.direction))] {
                let cell = &mut board.cells[hex.index()];
                cell.rivers |= 1 << direction;
                cell.reaches |= reach;
                if river.seasonal {
                    cell.atbara |= 1 << direction;
                }
                touching[hex.index()].push((side, reach));
            }
        }
    }
    for i in 0..CELLS {
        for direction in 0..6 {
            let next = board.cells[i].neighbours[direction];
            if !next.is_some() {
                continue;
            }
            for &(from, a) in &touching[i] {
                for &(to, b) in &touching[next.index()] {
                    if from.meets(to) {
                        board.cells[i].water[direction] |= worse(a, b);
                    }
                }
            }
        }
    }
}

/// How open a pair of hexsides is: as the worse of the two.
fn worse(a: u8, b: u8) -> u8 {
    match a | b {
        Reach::ALL => Reach::ALL,
        both if both & Reach::NONE == 0 => Reach::HIGH,
        both if both & Reach::HIGH == 0 => Reach::NONE,
        _ => Reach::HIGH_NONE,
    }
}

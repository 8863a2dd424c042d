//! The layers of a map file: letters for terrain, regions and districts, row by row.

use std::collections::BTreeMap;

use toml::Spanned;

use super::board::{Board, CELLS, COLUMNS, Cell, Ground, Hex, ROWS, Relief};
use super::data_file::DataFile;
use super::hexside::neighbour;
use super::map_file::{Layer, OFF, OFF_MAP, Sections, mark_coast};

/// The three layers of letters, on the grid.
pub(super) struct Layers {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) regions: Vec<String>,
    districts: Vec<String>,
    /// By [`Hex::index`].
    ground: Vec<(Ground, Relief)>,
    pub(super) region_of: Vec<u8>,
    district_of: Vec<u8>,
}

impl Layers {
    /// The layers, if all are sound.
    pub(super) fn read(file: &mut DataFile<'_>, sections: &Sections) -> Option<Layers> {
        let (Some(grid), Some(terrain), Some(regions), Some(districts)) =
            (&sections.grid, &sections.terrain, &sections.regions, &sections.districts)
        else {
            return None;
        };
        let (columns, rows) = (*grid.columns.get_ref(), *grid.rows.get_ref());
        if !(1..=COLUMNS).contains(&columns) {
            file.fault(grid.columns.span(), format!("a map has 1 to {COLUMNS} columns, not {columns}"));
        }
        if !(1..=ROWS).contains(&rows) {
            file.fault(grid.rows.span(), format!("a map has 1 to {ROWS} rows, not {rows}"));
        }
        if let Some(shifted) = grid.shifted_rows.as_ref().filter(|s| s.get_ref() != "odd") {
            file.fault(shifted.span(), "only grids whose odd rows are shifted are known");
        }
        if let Some(first) = grid.first_row.as_ref().filter(|f| *f.get_ref() != 0) {
            file.fault(first.span(), "rows count from 0");
        }
        if !file.sound() {
            return None;
        }
        let size = (columns, rows);
        let terrain = letters(file, "terrain", terrain, size, |kind| {
            Some(match kind {
                "off" => (Ground::Off, Relief::Flat),
                "sea" => (Ground::Sea, Relief::Flat),
                _ => {
                    let (relief, ground) = kind.split_once(" on ").unwrap_or(("flat", kind));
                    let relief = match relief {
                        "flat" => Relief::Flat,
                        "hills" => Relief::Hills,
                        "mountain" => Relief::Mountain,
                        _ => return None,
                    };
                    match ground {
                        "clear" => (Ground::Clear, relief),
                        "desert" => (Ground::Desert, relief),
                        "cultivated" => (Ground::Cultivated, relief),
                        _ => return None,
                    }
                }
            })
        });
        let region_names = names(regions);
        let regions = letters(file, "regions", regions, size, |kind| index_of(&region_names, kind));
        let district_names = names(districts);
        let districts_line = file.line(&districts.rows.span());
        let districts = letters(file, "districts", districts, size, |kind| index_of(&district_names, kind));
        if !file.sound() {
            return None;
        }
        let ground: Vec<(Ground, Relief)> =
            terrain.into_iter().map(|g| g.unwrap_or((Ground::Off, Relief::Flat))).collect();
        let region_of: Vec<u8> = regions.into_iter().map(|r| r.unwrap_or(OFF)).collect();
        let district_of: Vec<u8> = districts.into_iter().map(|d| d.unwrap_or(OFF)).collect();
        for hex in (0..rows).flat_map(|row| (0..columns).map(move |column| Hex::at(column, row))) {
            let off = ground[hex.index()].0 == Ground::Off;
            let land = !off && ground[hex.index()].0 != Ground::Sea;
            let line = Some(districts_line + 1 + hex.row());
            if off != (region_of[hex.index()] == OFF) {
                file.fault_at(line, format!("{hex} is off the map in one of terrain and regions only"));
            }
            if land != (district_of[hex.index()] != OFF) {
                file.fault_at(line, format!("{hex}: terrain and district disagree whether it is land"));
            }
        }
        let (regions, districts) = (region_names, district_names);
        file.sound().then_some(Layers { columns, rows, regions, districts, ground, region_of, district_of })
    }

    /// Hexes, neighbours, regions, districts and coast; nothing else yet.
    pub(super) fn board(&self) -> Board {
        let playable = |hex: &Hex| self.ground[hex.index()].0 != Ground::Off;
        let souakim = index_of(&self.regions, "souakim").unwrap_or(OFF);
        let cell = |i: usize| {
            let hex = Hex(i as u16);
            if !playable(&hex) {
                return OFF_MAP;
            }
            let (ground, relief) = self.ground[i];
            Cell {
                ground,
                relief,
                extension: self.region_of[i] == souakim,
                district: self.district_of[i],
                neighbours: std::array::from_fn(|d| neighbour(hex, d).filter(playable).unwrap_or(Hex::NONE)),
                ..OFF_MAP
            }
        };
        let mut board = Board {
            cells: (0..CELLS).map(cell).collect(),
            places: Vec::new(),
            districts: self.districts.clone(),
            railway: Vec::new(),
            entries: Vec::new(),
        };
        mark_coast(&mut board);
        board
    }
}

/// The names of a layer's kinds in the order of the file, but `sea` and `off`.
fn names(layer: &Layer) -> Vec<String> {
    let mut kinds: Vec<&Spanned<String>> = layer.kinds.values().collect();
    kinds.sort_by_key(|kind| kind.span().start);
    kinds.iter().map(|kind| kind.get_ref().clone()).filter(|kind| kind != "sea" && kind != "off").collect()
}

/// Position of a name; [`OFF`] for `sea` and `off`, none for an unknown one.
fn index_of(names: &[String], name: &str) -> Option<u8> {
    match name {
        "sea" | "off" => Some(OFF),
        _ => names.iter().position(|n| n == name).and_then(|at| u8::try_from(at).ok()),
    }
}

/// A layer by [`Hex::index`]; none beyond the map. Faults of the layer leave holes, so look at the faults first.
fn letters<T: Copy>(
    file: &mut DataFile<'_>,
    name: &str,
    layer: &Layer,
    (columns, rows): (usize, usize),
    meaning: impl Fn(&str) -> Option<T>,
) -> Vec<Option<T>> {
    let mut kinds: BTreeMap<char, T> = BTreeMap::new();
    for (letter, kind) in &layer.kinds {
        let mut chars = letter.get_ref().chars();
        match (chars.next(), chars.next(), meaning(kind.get_ref())) {
            (Some(letter), None, Some(kind)) => drop(kinds.insert(letter, kind)),
            (_, _, None) => file.fault(kind.span(), format!("unknown kind of {name} `{}`", kind.get_ref())),
            _ => file.fault(letter.span(), format!("{name}: `{}` is not one letter", letter.get_ref())),
        }
    }
    let mut found = vec![None; CELLS];
    // The text of the rows begins on the line below the opening quotes.
    let first_line = file.line(&layer.rows.span()) + 1;
    let lines: Vec<&str> = layer.rows.get_ref().lines().collect();
    if lines.len() != rows {
        file.fault(layer.rows.span(), format!("{name} has {} rows, not {rows}", lines.len()));
        return found;
    }
    for (row, line) in lines.into_iter().enumerate() {
        let length = line.chars().count();
        if length != columns {
            file.fault_at(Some(first_line + row), format!("{name} row {row} has {length} letters, not {columns}"));
            continue;
        }
        for (column, letter) in line.chars().enumerate() {
            let hex = Hex::at(column, row);
            found[hex.index()] = kinds.get(&letter).copied();
            if found[hex.index()].is_none() && !layer.kinds.keys().any(|k| k.get_ref().starts_with(letter)) {
                file.fault_at(Some(first_line + row), format!("{name}: unknown letter `{letter}` at {hex}"));
            }
        }
    }
    found
}

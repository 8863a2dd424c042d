//! Regions as scenario files describe them (2.4-2.7): hexes chosen by distance, river, bank and latitude.

use std::collections::BTreeSet;

use serde::Deserialize;
use toml::Spanned;

use super::board::{Board, Hex};
use super::data_file::DataFile;
use super::map_file::{Bank, MapFile, River};

/// A region: the land hexes of the scenario that meet every condition given.
///
/// Places named here only measure; they may lie outside the scenario, but not off the map.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegionTable {
    /// Places or hexes from the nearest of which `at_least` and `at_most` count.
    #[serde(default)]
    near: Vec<Spanned<String>>,
    /// Least distance in hexes from the nearest of `near`; 0 if left out.
    #[serde(default)]
    at_least: u32,
    /// Most distance in hexes from the nearest of `near`.
    at_most: Option<Spanned<u32>>,
    /// A river along one of whose hexsides the hex lies.
    touching: Option<Spanned<String>>,
    /// A place or hex: the row of the hex lies farther south.
    south_of: Option<Spanned<String>>,
    /// Land joined to a bank without crossing a river.
    joined_to: Option<BankTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BankTable {
    bank: Bank,
    river: Spanned<String>,
}

impl RegionTable {
    /// The hexes of the region on a board, ascending. Names that the map lacks are faults.
    pub(super) fn hexes(&self, file: &mut DataFile<'_>, map: &MapFile, board: &Board) -> Vec<Hex> {
        let anchors: Vec<Hex> = self.near.iter().filter_map(|name| anchor(file, map, name)).collect();
        if self.near.is_empty() != self.at_most.is_none() {
            let span = self.at_most.as_ref().map(Spanned::span).or(self.near.first().map(Spanned::span));
            file.fault(span.unwrap_or_default(), "`near` and `at_most` belong together");
        }
        let touching = self.touching.as_ref().and_then(|name| river(file, map, name));
        let south_of = self.south_of.as_ref().and_then(|name| anchor(file, map, name));
        let joined = self.joined_to.as_ref().and_then(|table| {
            let river = river(file, map, &table.river)?;
            Some(joined_to_bank(board, river, table.bank))
        });
        let nearest = |hex: Hex| anchors.iter().map(|&anchor| Board::distance(anchor, hex)).min();
        land(board)
            .filter(|&hex| {
                let far = nearest(hex);
                far.is_none_or(|far| {
                    far >= self.at_least && self.at_most.as_ref().is_none_or(|most| far <= *most.get_ref())
                }) && touching.is_none_or(|river| [Bank::Left, Bank::Right].iter().any(|&b| river.has_on_bank(hex, b)))
                    && south_of.is_none_or(|anchor| hex.row() > anchor.row())
                    && joined.as_ref().is_none_or(|joined| joined.contains(&hex))
            })
            .collect()
    }
}

/// The land hexes of a board, ascending.
pub(super) fn land(board: &Board) -> impl Iterator<Item = Hex> + '_ {
    (0..board.cells.len()).map(|i| Hex(i as u16)).filter(|&hex| board.is_land(hex))
}

/// The hex of a place or of a name `CCRR`, anywhere on the map.
pub(super) fn anchor(file: &mut DataFile<'_>, map: &MapFile, name: &Spanned<String>) -> Option<Hex> {
    let board = map.whole();
    let place = board.place_named(name.get_ref()).map(|place| board.places[usize::from(place.0)].hex);
    let hex = place.or_else(|| Hex::parse(name.get_ref()).filter(|&hex| board.is_land(hex)));
    if hex.is_none() {
        file.fault(name.span(), format!("unknown place `{}`", name.get_ref()));
    }
    hex
}

fn river<'m>(file: &mut DataFile<'_>, map: &'m MapFile, name: &Spanned<String>) -> Option<&'m River> {
    let river = map.rivers.iter().find(|river| river.id == *name.get_ref());
    if river.is_none() {
        file.fault(name.span(), format!("unknown river `{}`", name.get_ref()));
    }
    river
}

/// The land that can be reached from a bank of a river over land without crossing any river.
fn joined_to_bank(board: &Board, river: &River, bank: Bank) -> BTreeSet<Hex> {
    let mut joined: BTreeSet<Hex> = land(board).filter(|&hex| river.has_on_bank(hex, bank)).collect();
    let mut queue: Vec<Hex> = joined.iter().copied().collect();
    while let Some(hex) = queue.pop() {
        let cell = board.cell(hex);
        for (direction, &next) in cell.neighbours.iter().enumerate() {
            if cell.rivers >> direction & 1 == 0 && board.is_land(next) && joined.insert(next) {
                queue.push(next);
            }
        }
    }
    joined
}

//! What of a hex stays as it is throughout a scenario: ground, places, what is at stake. Worked out once.

use ndarray::Array3;

use super::columns::{UNITS, columns, distance, distance_value, truth, units};
use super::planes;
use crate::dervish::board::{Board, CELLS, Ground, Hex, PlaceId, PlaceKind, Reach, Relief};
use crate::dervish::scenario::{Scenario, Victory};
use crate::dervish::tables::AttritionRow;
use crate::encode::Channel;

/// The die with which [`ground::FEEDS`] reads the attrition table: the lower of the two middle ones.
pub(super) const USUAL_DIE: i32 = 3;
/// Worth of a place that decides a scenario.
const DECISIVE: f32 = 8.0;
/// Worth of a place that counts for the margin alone.
const LESSER: f32 = 4.0;

/// Columns of a hex's ground, shared by tokens, actions and planes.
pub(super) mod ground {
    use super::*;

    columns! {
        GROUND[4] = |i| Channel::flag(["clear", "desert", "cultivated", "sea"][i]);
        RELIEF[2] = |i| Channel::flag(["hills", "mountain"][i]);
        PLACE[3] = |i| Channel::flag(["town", "village", "oasis"][i]);
        PORT[1] = |_| Channel::flag("port");
        COAST[1] = |_| Channel::flag("next to the sea");
        RIVER[1] = |_| Channel::flag("has a river hexside");
        NAVIGABLE[2] = |i| Channel::flag(["touches a reach open all year", "touches a reach open at high Nile"][i]);
        RAILWAY[1] = |_| Channel::flag("on the projected railway");
        EXTENSION[1] = |_| Channel::flag("on the Souakim extension");
        STAKE[1] = |_| Channel::new("worth of the place: its points, 8 if it decides the game", "points/8", 0.0, 1.0);
        FEEDS[1] = |_| units("units that go unaffected by attrition on a 3, towns besieged");
        TO_STAKE[1] = |_| distance("distance to the nearest place at stake");
    }
}

/// A place that counts for victory (14).
#[derive(Clone, Copy, Debug)]
pub(super) struct Stake {
    pub(super) place: PlaceId,
    pub(super) hex: Hex,
    /// Points, or [`DECISIVE`] or [`LESSER`].
    worth: f32,
}

/// The unchanging part of a scenario's observations.
#[derive(Clone, Debug)]
pub(super) struct Atlas {
    pub(super) scenario: &'static Scenario,
    /// Columns of [`ground`] by [`Hex::index`].
    pub(super) ground: Vec<[f32; ground::WIDTH]>,
    /// Axial coordinates by [`Hex::index`].
    axial: Vec<[i16; 2]>,
    /// Places at stake, each once, in the order of the scenario.
    pub(super) stakes: Vec<Stake>,
    /// What [`planes::unchanging`] gives.
    pub(super) planes: Array3<f32>,
}

impl Atlas {
    pub(super) fn of(scenario: &'static Scenario) -> Atlas {
        let axial = |i| {
            let hex = Hex(i as u16).axial();
            [hex.x as i16, hex.y as i16]
        };
        let mut atlas = Atlas {
            scenario,
            ground: Vec::with_capacity(CELLS),
            axial: (0..CELLS).map(axial).collect(),
            stakes: stakes(scenario),
            planes: Array3::zeros([0; 3]),
        };
        for i in 0..CELLS {
            let row = atlas.ground_of(Hex(i as u16));
            atlas.ground.push(row);
        }
        atlas.planes = planes::unchanging(&scenario.board, &atlas.ground);
        atlas
    }

    /// Axial coordinates of a hex.
    #[inline]
    pub(super) fn axial(&self, hex: Hex) -> [i16; 2] {
        self.axial[hex.index()]
    }

    /// Distance in hexes, as [`Board::distance`] has it.
    #[inline]
    pub(super) fn distance(&self, a: Hex, b: Hex) -> u32 {
        axial_distance(self.axial(a), self.axial(b))
    }

    fn ground_of(&self, hex: Hex) -> [f32; ground::WIDTH] {
        let mut row = [0.0; ground::WIDTH];
        let board = &self.scenario.board;
        let cell = board.cell(hex);
        match cell.ground {
            Ground::Off => return row,
            Ground::Clear => row[ground::GROUND] = 1.0,
            Ground::Desert => row[ground::GROUND + 1] = 1.0,
            Ground::Cultivated => row[ground::GROUND + 2] = 1.0,
            Ground::Sea => row[ground::GROUND + 3] = 1.0,
        }
        match cell.relief {
            Relief::Flat => {}
            Relief::Hills => row[ground::RELIEF] = 1.0,
            Relief::Mountain => row[ground::RELIEF + 1] = 1.0,
        }
        if let Some(place) = board.place_at(hex) {
            let kind = match place.kind {
                PlaceKind::Town => 0,
                PlaceKind::Village => 1,
                PlaceKind::Oasis => 2,
            };
            row[ground::PLACE + kind] = 1.0;
            row[ground::PORT] = truth(place.port);
        }
        row[ground::COAST] = truth(cell.coast);
        row[ground::RIVER] = truth(cell.rivers != 0);
        row[ground::NAVIGABLE] = truth(cell.reaches & Reach::ALL != 0);
        row[ground::NAVIGABLE + 1] = truth(cell.reaches & Reach::HIGH != 0);
        row[ground::RAILWAY] = truth(cell.rail != u8::MAX);
        row[ground::EXTENSION] = truth(cell.extension);
        let worth = self.stakes.iter().find(|stake| stake.hex == hex).map_or(0.0, |stake| stake.worth);
        row[ground::STAKE] = (worth / DECISIVE).min(1.0);
        if cell.ground != Ground::Sea {
            let fed = AttritionRow::of(cell.ground, board.place_kind(hex), true);
            let fed = self.scenario.tables.attrition(fed, USUAL_DIE).unwrap_or(u8::MAX);
            row[ground::FEEDS] = f32::from(fed) / UNITS;
        }
        row[ground::TO_STAKE] = distance_value(self.stakes.iter().map(|s| Board::distance(hex, s.hex)).min());
        row
    }
}

/// Distance in hexes of axial coordinates.
#[inline]
pub(super) fn axial_distance([ax, ay]: [i16; 2], [bx, by]: [i16; 2]) -> u32 {
    let (dx, dy) = (i32::from(ax) - i32::from(bx), i32::from(ay) - i32::from(by));
    (dx.unsigned_abs() + dy.unsigned_abs() + (dx + dy).unsigned_abs()) / 2
}

/// Distance in hexes to the nearest of some places, all in axial coordinates; `None` without a place.
#[inline]
pub(super) fn nearest([x, y]: [i16; 2], places: &[[i16; 2]]) -> Option<u32> {
    // In 16 bits, of which the processor handles many at once; no map is wider than that.
    let twice = places.iter().fold(i16::MAX, |least, &[to_x, to_y]| {
        let (dx, dy) = (x - to_x, y - to_y);
        least.min(dx.abs() + dy.abs() + (dx + dy).abs())
    });
    (twice < i16::MAX).then_some(twice as u32 / 2)
}

/// The places that count for victory, each with its worth.
fn stakes(scenario: &Scenario) -> Vec<Stake> {
    let mut stakes: Vec<Stake> = Vec::new();
    let mut add = |place: PlaceId, worth: f32| {
        let hex = scenario.board.places[usize::from(place.0)].hex;
        match stakes.iter_mut().find(|stake| stake.place == place) {
            Some(known) => known.worth = known.worth.max(worth),
            None => stakes.push(Stake { place, hex, worth }),
        }
    };
    match &scenario.victory {
        Victory::ElObeid { sudden_death, prize, points, .. } => {
            add(*sudden_death, DECISIVE);
            add(*prize, DECISIVE);
            points.iter().for_each(|p| add(p.place, f32::from(p.points)));
        }
        Victory::Khartoum { prize, .. } => add(*prize, DECISIVE),
        Victory::Points { sudden_death, points, .. } => {
            sudden_death.iter().for_each(|place| add(*place, DECISIVE));
            points.iter().for_each(|p| add(p.place, f32::from(p.points)));
        }
        Victory::Holder { prize, lesser } => {
            add(*prize, DECISIVE);
            lesser.iter().for_each(|place| add(*place, LESSER));
        }
    }
    stakes
}

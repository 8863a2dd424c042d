//! What places and units count for in a scenario: its victory conditions, and the weights where they are silent.

use crate::doctrine::weights::Weights;
use dervish_env::dervish::board::{MAX_PLACES, PlaceId, PlaceKind};
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, COMBAT, KINDS, Kind, Side};
use dervish_env::dervish::scenario::{Scenario, Victory};

/// What places and units count for in a scenario.
#[derive(Clone, Debug)]
pub struct Stakes {
    pub(super) scenario: &'static Scenario,
    places: [f32; MAX_PLACES],
    /// What the victory conditions give for a unit.
    counted: [f32; KINDS],
    /// What it is worth for what it may yet do.
    useful: [f32; KINDS],
    /// What it is worth just now.
    units: [f32; KINDS],
    /// Whether a place scores for both sides, so that taking it counts twice.
    pub(super) both_score: bool,
}

impl Stakes {
    /// The stakes of a scenario.
    pub fn of(scenario: &'static Scenario, weights: &Weights) -> Stakes {
        let w = &weights.stakes;
        let mut places = [0.0f32; MAX_PLACES];
        for (worth, place) in places.iter_mut().zip(&scenario.board.places) {
            *worth = match place.kind {
                PlaceKind::Town => w.town,
                PlaceKind::Village => w.village,
                PlaceKind::Oasis => 0.0,
            };
        }
        let mut add = |place: PlaceId, worth: f32| places[usize::from(place.0)] += worth;
        let mut counted = [0.0; 2];
        let mut both_score = false;
        let per = |units: u8| if units > 0 { 1.0 / f32::from(units) } else { 0.0 };
        match &scenario.victory {
            Victory::ElObeid { sudden_death, prize, points, units_per_point, .. } => {
                points.iter().for_each(|p| add(p.place, f32::from(p.points)));
                add(*prize, w.prize);
                add(*sudden_death, w.sudden_death);
                counted[Side::Egyptian as usize] = per(*units_per_point);
            }
            Victory::Khartoum { prize, .. } => add(*prize, w.prize),
            Victory::Points { sudden_death, points, mahdists_per_point, egyptians_per_point } => {
                points.iter().for_each(|p| add(p.place, f32::from(p.points)));
                if let Some(place) = sudden_death {
                    add(*place, w.sudden_death);
                }
                counted = [per(*egyptians_per_point), per(*mahdists_per_point)];
                both_score = true;
            }
            Victory::Holder { prize, lesser } => {
                add(*prize, w.prize);
                if let Some(place) = lesser {
                    add(*place, 1.0);
                }
            }
        }
        let useful = Kind::ALL.map(|kind| match kind {
            Kind::Supply => w.supply,
            Kind::Camel | Kind::Civilian => w.train,
            Kind::Gunboat | Kind::BritishGunboat => w.gunboat,
            _ if !COMBAT.has(kind) => 0.0,
            _ if BRITISH_COMBAT.has(kind) => w.british_unit,
            _ if kind.side() == Side::Mahdist => w.mahdist_unit,
            _ => w.egyptian_unit,
        });
        let counted = Kind::ALL.map(|kind| if COMBAT.has(kind) { counted[kind.side() as usize] } else { 0.0 });
        Stakes { scenario, places, counted, useful, units: useful, both_score }
    }

    /// Makes ready for a month with so many game turns after it: towards the end, what a unit may yet do fades.
    pub fn begin(&mut self, weights: &Weights, turns_left: u8) {
        let months = f32::from(turns_left) + weights.stakes.last_month;
        let share = (months / weights.stakes.fade).min(1.0);
        for (unit, (counted, useful)) in self.units.iter_mut().zip(self.counted.iter().zip(&self.useful)) {
            *unit = counted.max(share * useful);
        }
    }

    /// What a place counts for, whoever holds it, in points.
    pub fn place(&self, place: PlaceId) -> f32 {
        self.places[usize::from(place.0)]
    }

    /// What a unit of a kind is worth, in points.
    pub fn unit(&self, kind: Kind) -> f32 {
        self.units[kind.index()]
    }
}

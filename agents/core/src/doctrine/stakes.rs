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
        let (mut mahdist, mut egyptian) = (w.mahdist_unit, w.egyptian_unit);
        let mut both_score = false;
        let per = |units: u8| if units > 0 { 1.0 / f32::from(units) } else { 0.0 };
        match &scenario.victory {
            Victory::ElObeid { sudden_death, prize, points, units_per_point, .. } => {
                points.iter().for_each(|p| add(p.place, f32::from(p.points)));
                add(*prize, w.prize);
                add(*sudden_death, w.sudden_death);
                egyptian = egyptian.max(per(*units_per_point));
            }
            Victory::Khartoum { prize, .. } => add(*prize, w.prize),
            Victory::Points { sudden_death, points, mahdists_per_point, egyptians_per_point } => {
                points.iter().for_each(|p| add(p.place, f32::from(p.points)));
                if let Some(place) = sudden_death {
                    add(*place, w.sudden_death);
                }
                mahdist = mahdist.max(per(*mahdists_per_point));
                egyptian = egyptian.max(per(*egyptians_per_point));
                both_score = true;
            }
            Victory::Holder { prize, lesser } => {
                add(*prize, w.prize);
                if let Some(place) = lesser {
                    add(*place, 1.0);
                }
            }
        }
        let units = Kind::ALL.map(|kind| match kind {
            Kind::Supply => w.supply,
            Kind::Camel | Kind::Civilian => w.train,
            Kind::Gunboat | Kind::BritishGunboat => w.gunboat,
            _ if !COMBAT.has(kind) => 0.0,
            _ if BRITISH_COMBAT.has(kind) => egyptian.max(w.british_unit),
            _ if kind.side() == Side::Mahdist => mahdist,
            _ => egyptian,
        });
        Stakes { scenario, places, units, both_score }
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

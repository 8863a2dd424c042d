//! The value of a position by hand-made features, for searches that stop short of the end.
//!
//! Everything is counted in points of the scenario's victory conditions as the Egyptian player sees them, then squeezed
//! into [-1, 1] by tanh. Points on the board count more as the end comes nearer, strength that could still win some
//! counts less.

use crate::doctrine::weights::Weights;
use crate::evaluation::Evaluation;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Board, Hex, PlaceId, PlaceKind};
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, COMBAT, Kind, Side};
use dervish_env::dervish::scenario::{PlacePoints, Victory};
use dervish_env::game::{Position, Seat};
use std::sync::Arc;

/// Judges positions of the campaign.
#[derive(Clone, Debug)]
pub struct CampaignEvaluation {
    weights: Arc<Weights>,
}

impl Default for CampaignEvaluation {
    fn default() -> CampaignEvaluation {
        CampaignEvaluation { weights: Arc::new(Weights::builtin().clone()) }
    }
}

impl CampaignEvaluation {
    /// The evaluation with weights of one's own.
    pub fn with_weights(weights: Weights) -> CampaignEvaluation {
        CampaignEvaluation { weights: Arc::new(weights) }
    }

    /// The Egyptian player's lead in points.
    fn lead(&self, position: &Campaign) -> f32 {
        let scenario = position.scenario();
        let w = &self.weights.evaluation;
        let stakes = &self.weights.stakes;
        let turns = f32::from(scenario.turns.max(1));
        let over = (f32::from(position.game_turn()) / turns).clamp(0.0, 1.0);
        let urgency = 1.0 + w.late * over;
        let mut points = 0.0;
        let focus = match &scenario.victory {
            Victory::ElObeid { sudden_death, prize, points: places, units_per_point, .. } => {
                points += urgency * stakes.prize * self.held(position, *prize);
                points += stakes.sudden_death * self.held(position, *sudden_death);
                let places = self.place_points(position, places);
                points += urgency * w.places * places;
                points -= w.eliminated * per(position.eliminated(Side::Egyptian), *units_per_point);
                *prize
            }
            Victory::Khartoum { prize, .. } => {
                points += w.siege * urgency * stakes.prize * self.held(position, *prize);
                *prize
            }
            Victory::Points { points: places, mahdists_per_point, egyptians_per_point, sudden_death } => {
                points += urgency * self.place_points(position, places);
                points += urgency * w.eliminated * per(position.eliminated(Side::Mahdist), *mahdists_per_point);
                points -= urgency * w.eliminated * per(position.eliminated(Side::Egyptian), *egyptians_per_point);
                sudden_death.unwrap_or(PlaceId(0))
            }
            Victory::Holder { prize, lesser } => {
                points += urgency * stakes.prize * self.held(position, *prize);
                points += lesser.map_or(0.0, |place| self.held(position, place));
                *prize
            }
        };
        points
            + (1.0 - over) * w.strength * self.strength(position)
            + w.approach * self.approach(position, scenario.board.places[usize::from(focus.0)].hex)
    }

    /// A place as the Egyptian player has it: 1 his, less while besieged; -1 the Mahdist's; 0 nobody's.
    fn held(&self, position: &Campaign, place: PlaceId) -> f32 {
        match position.controller(place) {
            Some(Side::Mahdist) => -1.0,
            None => 0.0,
            Some(Side::Egyptian) => {
                let hex = position.scenario().board.places[usize::from(place.0)].hex;
                let garrison = position.units().any(hex, Side::Egyptian, COMBAT);
                let besieged = position.besieged(hex, Side::Egyptian);
                1.0 - self.weights.evaluation.besieged * f32::from(u8::from(besieged) + u8::from(!garrison))
            }
        }
    }

    fn place_points(&self, position: &Campaign, places: &[PlacePoints]) -> f32 {
        places.iter().map(|p| f32::from(p.points) * self.held(position, p.place)).sum()
    }

    /// Worth of the Egyptian player's units less the Mahdist's, supply counted.
    fn strength(&self, position: &Campaign) -> f32 {
        let stakes = &self.weights.stakes;
        let mut sum = 0.0;
        for &c in position.units().as_slice() {
            let worth = match c.kind() {
                Kind::Supply => self.weights.evaluation.supply / self.weights.evaluation.strength.max(0.01),
                kind if BRITISH_COMBAT.has(kind) => stakes.british_unit / stakes.mahdist_unit.max(0.01),
                kind if !COMBAT.has(kind) => 0.0,
                kind if kind.side() == Side::Mahdist => -1.0,
                _ => stakes.egyptian_unit / stakes.mahdist_unit.max(0.01),
            };
            sum += worth * f32::from(c.count()) * if c.disrupted() { self.weights.evaluation.disrupted } else { 1.0 };
        }
        sum
    }

    /// Strength near the place that decides, the nearer the more; the Egyptian player's British troops count for him,
    /// every Mahdist for the other.
    fn approach(&self, position: &Campaign, focus: Hex) -> f32 {
        let stakes = &self.weights.stakes;
        let near = self.weights.evaluation.near;
        let board = &position.scenario().board;
        let town = board.place_kind(focus) == Some(PlaceKind::Town);
        let mut sum = 0.0;
        for &c in position.units().as_slice().iter().filter(|c| COMBAT.has(c.kind()) && !c.disrupted()) {
            let distance = Board::distance(c.hex(), focus);
            if distance > near || !town {
                continue;
            }
            let worth = match c.kind() {
                kind if BRITISH_COMBAT.has(kind) => stakes.british_unit,
                kind if kind.side() == Side::Mahdist => -stakes.mahdist_unit,
                _ => stakes.egyptian_unit,
            };
            sum += worth * f32::from(c.count()) * (1.0 - distance as f32 / (near + 1) as f32);
        }
        sum
    }
}

fn per(units: u16, units_per_point: u8) -> f32 {
    if units_per_point > 0 { f32::from(units) / f32::from(units_per_point) } else { 0.0 }
}

impl Evaluation<Campaign> for CampaignEvaluation {
    fn value(&self, position: &Campaign, seat: Seat) -> Option<f32> {
        if let Some(result) = position.result() {
            return Some(result.sign(seat));
        }
        let value = (self.lead(position) / self.weights.evaluation.scale).tanh();
        Some(if seat == Seat::First { value } else { -value })
    }
}

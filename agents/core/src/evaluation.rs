//! The heuristic value of a position, where a search stops short of the end of the game.

use dervish_env::game::{GameResult, Position, Seat};

/// Judges positions of one game. Given by the game; searches take it as a parameter.
pub trait Evaluation<P: Position>: Clone + Send + Sync + 'static {
    /// Expected result in [-1, 1] for `seat`: 1 is a sure win, the value for one seat is minus that for the other.
    /// `None` where the evaluation has no opinion; a rollout then plays on.
    fn value(&self, position: &P, seat: Seat) -> Option<f32>;
}

/// No opinion on any position: rollouts play to the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlayToEnd;

impl<P: Position> Evaluation<P> for PlayToEnd {
    fn value(&self, _position: &P, _seat: Seat) -> Option<f32> {
        None
    }
}

/// What a result is worth in [-1, 1]: a mix of who won and by how much. The margin tells close results apart, which is
/// much to learn from where a side loses nearly always.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Utility {
    /// Share of the margin, 0..=1; the rest is win, draw or loss.
    pub margin_share: f32,
}

impl Default for Utility {
    fn default() -> Utility {
        Utility { margin_share: 0.25 }
    }
}

impl Utility {
    /// Utility of a result for `seat`; for the other seat it is the negative.
    pub fn of_result(&self, result: &GameResult, seat: Seat) -> f32 {
        self.mix(result.sign(seat), result.margin_for(seat))
    }

    /// Utility of an expected sign (1 win, 0 draw, -1 loss) and an expected margin.
    pub fn mix(&self, sign: f32, margin: f32) -> f32 {
        (1.0 - self.margin_share) * sign + self.margin_share * margin
    }
}

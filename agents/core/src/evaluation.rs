//! The heuristic value of a position, where a search stops short of the end of the game.

use dervish_env::game::{Position, Seat};

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

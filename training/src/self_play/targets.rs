//! What the decisions of a finished game should have been judged and played like.

use crate::self_play::game::SelfPlayGame;
use dervish_agents::evaluation::Utility;
use dervish_env::game::{GameResult, Seat};
use dervish_models::batch::Played;
use serde::{Deserialize, Serialize};

/// How results become targets.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetConfig {
    /// Lambda of the generalised advantage estimate, 0..=1: 1 judges a decision by the result of the game alone, 0 by
    /// the value of the next position alone. A turn has many small decisions, so it is near 1.
    pub lambda: f32,
    /// What a result is worth.
    pub utility: Utility,
}

impl Default for TargetConfig {
    fn default() -> TargetConfig {
        TargetConfig { lambda: 0.97, utility: Utility::default() }
    }
}

/// Probabilities of win, draw and loss, and the margin, of a result for `seat`.
pub fn value_target(result: &GameResult, seat: Seat) -> ([f32; 3], f32) {
    let wdl = match result.winner {
        Some(winner) if winner == seat => [1.0, 0.0, 0.0],
        Some(_) => [0.0, 0.0, 1.0],
        None => [0.0, 1.0, 0.0],
    };
    (wdl, result.margin_for(seat))
}

/// The player turns after that of each decision until the end of the game. A turn lasts as long as one player decides.
pub fn turns_left(game: &SelfPlayGame) -> Vec<f32> {
    let mut left = vec![0.0; game.decisions.len()];
    for index in (1..game.decisions.len()).rev() {
        let changes = game.decisions[index - 1].seat != game.decisions[index].seat;
        left[index - 1] = left[index] + f32::from(u8::from(changes));
    }
    left
}

/// The played action of each decision with its advantage by generalised advantage estimation (Schulman et al. 2016);
/// `None` where a single action was legal.
///
/// Values are those of the network at the time. One player often decides several times in a row, so each value is taken
/// from the point of view of the player whose decision is judged; nothing alternates.
pub fn played_actions(game: &SelfPlayGame, config: &TargetConfig) -> Vec<Option<Played>> {
    let for_first = |seat: Seat, value: f32| if seat == Seat::First { value } else { -value };
    let mut played = vec![None; game.decisions.len()];
    let mut next_value = config.utility.of_result(&game.result, Seat::First);
    // What the later surprises, discounted, add up to for the first seat.
    let mut surprise = 0.0;
    for (decision, played) in game.decisions.iter().zip(&mut played).rev() {
        let Some(judgement) = &decision.judgement else { continue };
        let value = for_first(decision.seat, judgement.value);
        surprise = next_value - value + config.lambda * surprise;
        next_value = value;
        *played = Some(Played {
            action: judgement.index,
            probability: judgement.probability,
            advantage: for_first(decision.seat, surprise),
        });
    }
    played
}

/// Brings the advantages of each seat to mean 0 and standard deviation 1, so that the side that wins nearly always and
/// the side that loses nearly always learn at one pace.
pub fn standardise<'p>(decisions: impl Iterator<Item = (Seat, &'p mut Played)>) {
    /// Keeps advantages that hardly differ from being blown up.
    const LEAST_DEVIATION: f64 = 1e-3;
    let mut by_seat: [Vec<&mut Played>; 2] = [Vec::new(), Vec::new()];
    for (seat, played) in decisions {
        by_seat[seat.index()].push(played);
    }
    for seat in by_seat.iter_mut().filter(|seat| !seat.is_empty()) {
        let count = seat.len() as f64;
        let mean = seat.iter().map(|played| f64::from(played.advantage)).sum::<f64>() / count;
        let variance = seat.iter().map(|played| (f64::from(played.advantage) - mean).powi(2)).sum::<f64>() / count;
        let scale = variance.sqrt().max(LEAST_DEVIATION);
        for played in seat.iter_mut() {
            played.advantage = ((f64::from(played.advantage) - mean) / scale) as f32;
        }
    }
}

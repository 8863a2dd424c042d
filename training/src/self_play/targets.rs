//! What the decisions of a finished game should have been judged and played like.

use crate::arena::luck::{LuckMeter, ValueFunction};
use crate::self_play::game::{SelfPlayGame, UnplayableGame};
use dervish_agents::agent::Event;
use dervish_agents::evaluation::Utility;
use dervish_env::game::{GameResult, Position, Seat};
use dervish_models::batch::Played;
use serde::{Deserialize, Serialize};

/// How results become targets.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TargetConfig {
    /// Lambda of the generalised advantage estimate, 0..=1: 1 judges a decision by the result of the game alone, 0 by
    /// the value of the next position alone. A turn has many small decisions, so it is near 1.
    pub lambda: f32,
    /// Lambda of the value targets, 0..=1: 1 is the result of the game alone; below, the values that were seen later in the
    /// game count too, each decision further away by this factor less (TD(lambda), Sutton 1988). These are worth the result
    /// alone only with a `self_play.utility.margin_share` of 0, which it then takes.
    pub value_lambda: f32,
    /// Part of the luck ahead of a decision that is taken out of its value target, 0..=1; 0 leaves the result as it is. Takes
    /// a `value_lambda` of 1.
    pub luck: f32,
}

impl Default for TargetConfig {
    fn default() -> TargetConfig {
        TargetConfig { lambda: 0.97, value_lambda: 1.0, luck: 0.0 }
    }
}

/// Probabilities of win, draw and loss, and the margin, of a result for `seat`.
pub fn result_target(result: &GameResult, seat: Seat) -> ([f32; 3], f32) {
    let wdl = match result.winner {
        Some(winner) if winner == seat => [1.0, 0.0, 0.0],
        Some(_) => [0.0, 0.0, 1.0],
        None => [0.0, 1.0, 0.0],
    };
    (wdl, result.margin_for(seat))
}

/// What each decision's value should have been: probabilities of win, draw and loss, and the margin, for who decided.
///
/// The lambda-return, with the values that were seen, where there are any, in place of those of later positions. A value v of a position stands
/// for a win with probability (1 + v) / 2, else a loss; the margin is that of the result.
pub fn value_targets(game: &SelfPlayGame, config: &TargetConfig) -> Vec<([f32; 3], f32)> {
    let by_result = Seat::BOTH.map(|seat| result_target(&game.result, seat));
    let mut targets: Vec<_> = game.decisions.iter().map(|decision| by_result[decision.seat.index()]).collect();
    if config.value_lambda >= 1.0 {
        return targets;
    }
    // For the first seat, from the end of the game on.
    let mut later = by_result[Seat::First.index()].0;
    for (decision, target) in game.decisions.iter().zip(&mut targets).rev() {
        target.0 = if decision.seat == Seat::First { later } else { [later[2], later[1], later[0]] };
        let Some(value) = decision.judgement.as_ref().and_then(|judgement| judgement.value) else { continue };
        let value = if decision.seat == Seat::First { value } else { -value };
        let seen = [(1.0 + value) / 2.0, 0.0, (1.0 - value) / 2.0];
        for (later, seen) in later.iter_mut().zip(seen) {
            *later = config.value_lambda * *later + (1.0 - config.value_lambda) * seen;
        }
    }
    targets
}

/// What the dice have given the first seat after each decision until the end of the game, by this value function (see
/// [`crate::arena::luck`]).
///
/// # Errors
/// [`UnplayableGame`] if the game does not fit the rules.
pub fn luck_ahead<P: Position>(
    game: &SelfPlayGame,
    start: &P,
    value: &ValueFunction<P>,
    meter: &mut LuckMeter,
) -> Result<Vec<f64>, UnplayableGame> {
    let events = game.events(start)?;
    let mut lucks = Vec::with_capacity(events.len());
    meter.each_luck(start, &events, value, |luck| lucks.push(luck));
    let (mut ahead, mut sum) = (Vec::with_capacity(game.decisions.len()), 0.0);
    for (event, luck) in events.iter().zip(lucks).rev() {
        match event {
            Event::Played(..) => ahead.push(sum),
            Event::Rolled(_) => sum += luck,
        }
    }
    ahead.reverse();
    Ok(ahead)
}

/// Takes the part `share` of the luck ahead of each decision out of its value target.
///
/// Given the position, luck to come has mean zero whatever the value function is, so the target's expectation stays what it
/// was and its variance shrinks as far as the value function knows luck. Single targets may leave 0..=1, by as much as
/// luck was taken out; cross-entropy is linear in them, so the gradient stays unbiased too.
pub fn take_luck_out(game: &SelfPlayGame, ahead: &[f64], share: f32, targets: &mut [([f32; 3], f32)]) {
    for ((decision, ahead), (wdl, _)) in game.decisions.iter().zip(ahead).zip(targets) {
        let own = if decision.seat == Seat::First { *ahead } else { -ahead };
        // Value is the probability of a win less that of a loss.
        let shift = share * own as f32 / 2.0;
        wdl[0] -= shift;
        wdl[2] += shift;
    }
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
/// `None` where a single action was legal or no value was told.
///
/// Values are those of the network at the time. One player often decides several times in a row, so each value is taken
/// from the point of view of the player whose decision is judged; nothing alternates.
/// `utility` is what the result is worth.
pub fn played_actions(game: &SelfPlayGame, config: &TargetConfig, utility: &Utility) -> Vec<Option<Played>> {
    let for_first = |seat: Seat, value: f32| if seat == Seat::First { value } else { -value };
    let mut played = vec![None; game.decisions.len()];
    let mut next_value = utility.of_result(&game.result, Seat::First);
    // What the later surprises, discounted, add up to for the first seat.
    let mut surprise = 0.0;
    for (decision, played) in game.decisions.iter().zip(&mut played).rev() {
        let Some((judgement, value)) = decision.judgement.as_ref().and_then(|of| Some((of, of.value?))) else {
            continue;
        };
        let value = for_first(decision.seat, value);
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

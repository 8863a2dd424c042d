//! What searches know of the reference games: evaluations, simple on purpose, and for pig a policy that plays rollouts well.

use dervish_agents::evaluation::Evaluation;
use dervish_agents::policy::Policy;
use dervish_env::game::{Action, Position, Seat};
use dervish_env::reference::connect_four::{COLUMNS, ConnectFour, ROWS};
use dervish_env::reference::pig::{HOLD, Pig, ROLL, TARGET};

/// Pig: the difference of the scores, the running turn counted for its player, over the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PigEvaluation;

impl Evaluation<Pig> for PigEvaluation {
    fn value(&self, position: &Pig, seat: Seat) -> Option<f32> {
        let points = |of: Seat| {
            let running = if position.turn_of() == of { position.running() } else { 0 };
            f32::from((position.banked(of) + running).min(TARGET))
        };
        Some((points(seat) - points(seat.other())) / f32::from(TARGET))
    }
}

/// Pig: keep pace and end race, which wins 0.922% less often than the best play does against it (Neller and Presser, *Practical
/// Play of the Dice Game Pig*, 2010): throw on where either player has banked 71; else hold at 21 and an eighth of the
/// opponent's lead, rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KeepPace;

/// Banked points from which on the race is ended.
const END_RACE: u8 = 71;
/// What [`KeepPace`] is sure of as a prior: a search may try the other action.
const CONFIDENCE: f32 = 0.9;

impl KeepPace {
    fn action(position: &Pig) -> Action {
        let own = position.turn_of();
        let [banked, others] = [own, own.other()].map(|seat| position.banked(seat));
        // Half an eighth more, rounded down.
        let pace = 21 + (i32::from(others) - i32::from(banked) + 4).div_euclid(8);
        if banked.max(others) >= END_RACE || i32::from(position.running()) < pace { ROLL } else { HOLD }
    }
}

impl Policy<Pig> for KeepPace {
    fn priors_into(&mut self, position: &Pig, legal: &[Action], priors: &mut Vec<f32>) {
        priors.clear();
        let chosen = KeepPace::action(position);
        priors.extend(legal.iter().map(|&action| if action == chosen { CONFIDENCE } else { 1.0 - CONFIDENCE }));
    }

    fn choose(&mut self, position: &Pig, legal: &[Action], _word: u64) -> usize {
        let chosen = KeepPace::action(position);
        // Both actions are legal wherever there is a choice.
        legal.iter().position(|&action| action == chosen).unwrap_or(0)
    }

    fn duplicate(&self) -> Box<dyn Policy<Pig>> {
        Box::new(*self)
    }
}

/// Connect four: the lines of four cells that only one player has stones in, counted by the square of the stones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConnectFourEvaluation;

/// Steps from cell to cell of a line: level, upright, rising, falling.
const LINES: [(isize, isize); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

/// The sum of squares at which the value is about three quarters.
const CLEAR_ADVANTAGE: f32 = 20.0;

impl Evaluation<ConnectFour> for ConnectFourEvaluation {
    fn value(&self, position: &ConnectFour, seat: Seat) -> Option<f32> {
        if let Some(result) = position.result() {
            return Some(result.sign(seat));
        }
        let mut difference = 0;
        for column in 0..COLUMNS {
            for row in 0..ROWS {
                for step in LINES {
                    difference += line_value(position, seat, (column, row), step);
                }
            }
        }
        Some((difference as f32 / CLEAR_ADVANTAGE).tanh())
    }
}

/// Square of the stones of `seat`, or minus that of the opponent, on a line that is still open to one of them alone;
/// 0 for other lines and those that leave the board.
fn line_value(position: &ConnectFour, seat: Seat, from: (usize, usize), step: (isize, isize)) -> i32 {
    let (mut own, mut others) = (0, 0);
    for distance in 0..4 {
        let column = from.0.checked_add_signed(distance * step.0).filter(|&column| column < COLUMNS);
        let row = from.1.checked_add_signed(distance * step.1).filter(|&row| row < ROWS);
        let (Some(column), Some(row)) = (column, row) else { return 0 };
        match position.stone(column, row) {
            Some(owner) if owner == seat => own += 1,
            Some(_) => others += 1,
            None => {}
        }
    }
    if others == 0 {
        own * own
    } else if own == 0 {
        -others * others
    } else {
        0
    }
}

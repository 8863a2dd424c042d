//! Games in which positions come back, solved exactly: the values of all positions by iteration to the fixed point (value
//! iteration, Bellman 1957).

use crate::exact::NotSolved;
use dervish_agents::evaluation::Utility;
use dervish_env::game::{Actor, Position, Seat, WeightedOutcome};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;

/// The values of a position and of all that follow from it, told apart by 64-bit keys.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    index: FxHashMap<u64, u32>,
    /// Expected utility for [`Seat::First`].
    values: Vec<f64>,
}

/// A sweep over all positions that changes no value by more than this is the last.
const TOLERANCE: f64 = 1e-12;

/// The positions as a graph: each has its successors in one stretch of a list.
#[derive(Default)]
struct Graph {
    actors: Vec<Actor>,
    /// Where the successors of a position end; they begin where those of the position before it end.
    ends: Vec<usize>,
    successors: Vec<u32>,
    /// Weight of each successor after a roll; 1 after a decision.
    weights: Vec<u32>,
}

impl FixedPoint {
    /// Solves `start` and what follows from it, at most `limit` positions. However it is played, the game must end some day, with
    /// probability 1: else its values would not be the only ones that follow from each other (Bertsekas and Tsitsiklis, *An
    /// analysis of stochastic shortest path problems*, 1991).
    ///
    /// # Errors
    /// [`NotSolved::TooLarge`], [`NotSolved::Endless`].
    pub fn of<P: Position>(start: &P, utility: Utility, limit: usize) -> Result<FixedPoint, NotSolved> {
        let mut solved = FixedPoint { index: FxHashMap::default(), values: Vec::new() };
        let mut graph = Graph::default();
        let mut waiting = VecDeque::from([start.clone()]);
        let mut bytes = Vec::new();
        solved.index.insert(start.key_with(&mut bytes), 0);
        solved.values.push(0.0);
        let (mut actions, mut outcomes) = (Vec::new(), Vec::<WeightedOutcome>::new());
        while let Some(position) = waiting.pop_front() {
            let number = graph.actors.len();
            graph.actors.push(position.actor());
            let mut add = |next: P, weight: u32| {
                let fresh = solved.values.len() as u32;
                let successor = *solved.index.entry(next.key_with(&mut bytes)).or_insert(fresh);
                if successor == fresh {
                    solved.values.push(0.0);
                    waiting.push_back(next);
                }
                graph.successors.push(successor);
                graph.weights.push(weight);
            };
            match position.actor() {
                Actor::Finished => {
                    let value = position.result().map_or(0.0, |result| utility.of_result(&result, Seat::First));
                    solved.values[number] = f64::from(value);
                }
                Actor::Player(_) => {
                    position.legal_actions_into(&mut actions);
                    for &action in &actions {
                        let mut next = position.clone();
                        next.apply_legal(action);
                        add(next, 1);
                    }
                }
                Actor::Chance => {
                    position.chance_outcomes_into(&mut outcomes);
                    for &WeightedOutcome { outcome, weight } in &outcomes {
                        let mut next = position.clone();
                        next.resolve_possible(outcome);
                        add(next, weight);
                    }
                }
            }
            graph.ends.push(graph.successors.len());
            if solved.values.len() > limit {
                return Err(NotSolved::TooLarge { limit });
            }
        }
        if graph.may_be_endless() {
            return Err(NotSolved::Endless);
        }
        while graph.sweep(&mut solved.values) > TOLERANCE {}
        Ok(solved)
    }

    /// Expected utility in [-1, 1] for [`Seat::First`] if both play as well as can be; `None` for a position that does not
    /// follow from the one that was solved.
    pub fn value<P: Position>(&self, position: &P) -> Option<f64> {
        self.index.get(&position.key()).map(|&index| self.values[index as usize])
    }

    /// How many positions are solved.
    pub fn solved(&self) -> usize {
        self.values.len()
    }
}

impl Graph {
    /// Where the successors of a position stand in the list.
    fn edges(&self, number: usize) -> Range<usize> {
        let begin = if number == 0 { 0 } else { self.ends[number - 1] };
        begin..self.ends[number]
    }

    /// Whether there are positions among which the players can stay for ever, whatever the dice say: decisions with a successor
    /// among them, and rolls with no other.
    fn may_be_endless(&self) -> bool {
        let mut among: Vec<bool> = self.actors.iter().map(|actor| *actor != Actor::Finished).collect();
        let mut left_some = true;
        while left_some {
            left_some = false;
            for number in (0..self.actors.len()).rev() {
                let mut behind = self.successors[self.edges(number)].iter().map(|&next| among[next as usize]);
                let stays = match self.actors[number] {
                    Actor::Chance => behind.all(|stays| stays),
                    _ => behind.any(|stays| stays),
                };
                left_some |= among[number] && !stays;
                among[number] &= stays;
            }
        }
        among.contains(&true)
    }

    /// Values every position by its successors, the last found first, so that what is known of the end of the game goes
    /// all the way up in one sweep. Returns the greatest change.
    fn sweep(&self, values: &mut [f64]) -> f64 {
        let mut change: f64 = 0.0;
        for number in (0..self.actors.len()).rev() {
            let edges = self.edges(number);
            let behind = self.successors[edges.clone()].iter().map(|&successor| values[successor as usize]);
            let value = match self.actors[number] {
                Actor::Finished => continue,
                Actor::Player(Seat::First) => behind.fold(-1.0, f64::max),
                Actor::Player(Seat::Second) => behind.fold(1.0, f64::min),
                Actor::Chance => {
                    let weights = self.weights[edges].iter().map(|&weight| f64::from(weight));
                    let sums = behind
                        .zip(weights)
                        .fold((0.0, 0.0), |(sum, total), (value, weight)| (sum + weight * value, total + weight));
                    sums.0 / sums.1
                }
            };
            change = change.max((value - values[number]).abs());
            values[number] = value;
        }
        change
    }
}

//! Expectimax: search by depth through decisions and rolls alike, with pruning at both.
//!
//! At decisions it is alpha-beta; at rolls the bounds of the outcomes still to come narrow the window (Star1, Ballard
//! 1983), and one action of each outcome is tried first to prune before any outcome is searched in full (Star2, ibid.;
//! Hauk, Buro and Schaeffer 2006). Values are expected utilities in [-1, 1] for [`Seat::First`]: a player who decides
//! several times in a row keeps his sign.
//!
//! Positions at the horizon are judged by an [`Evaluator`], the last actions or outcomes before it several at a time. A
//! window that closes saves those of later batches alone, so one at a time suits what is cheap and many suit a network.

use crate::transpositions::{Bound, Entry, Transpositions};
use crate::tree::sign_of;
use dervish_agents::agent::{ActionReport, Choice, Event, SearchReport};
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::{Evaluator, EvaluatorError};
use dervish_agents::limits::MoveBudget;
use dervish_env::chance::{SplitMix64, pick};
use dervish_env::game::{Action, Actor, MergedOutcome, Outcome, Position, Seat, WeightedOutcome};
use std::time::Instant;

/// How an [`ExpectimaxSearch`] searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExpectimaxSettings {
    /// Decisions and rolls to look ahead, at least 1.
    pub depth: u32,
    /// How rolls are pruned.
    pub pruning: Pruning,
    /// Whether a procedure of several rolls is one roll, where the game offers its merged distribution.
    pub merged: bool,
    /// What results are worth; the evaluator must mean the same.
    pub utility: Utility,
    /// Positions at the horizon that are judged together, at least 1.
    pub batch: usize,
    /// Memory of the transposition table in MiB, at least 1.
    pub memory: usize,
}

/// How rolls are pruned. The values at the root do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pruning {
    /// Neither decisions nor rolls are: plain expectimax.
    None,
    /// Alpha-beta at decisions, bounds of the outcomes to come at rolls.
    Star1,
    /// The same, and a probe of one action behind each outcome first.
    Star2,
}

/// A search of the positions of one game, one after another.
#[derive(Clone)]
pub struct ExpectimaxSearch<P: Position, V> {
    settings: ExpectimaxSettings,
    evaluator: V,
    known: Transpositions,
    nodes: u64,
    /// Whether a position at the horizon was judged by the evaluator since this was last unset.
    cut_off: bool,
    /// The batch at the horizon that is being looked at.
    horizon: Horizon<P>,
    bytes: Vec<u8>,
    /// Buffers that are not in use.
    actions: Vec<Vec<Action>>,
    rolls: Vec<Rolls>,
}

/// Positions at the horizon.
#[derive(Clone, Debug)]
struct Horizon<P> {
    /// For [`Seat::First`], of each position.
    values: Vec<f64>,
    /// Those that the evaluator must judge, with their indices in `values`.
    unknown: Vec<(usize, P)>,
    outcomes: Vec<WeightedOutcome>,
}

/// The outcomes of one roll, the likeliest first.
#[derive(Clone, Debug, Default)]
struct Rolls {
    outcomes: Vec<(f64, Vec<Outcome>)>,
    merged: Vec<MergedOutcome>,
    single: Vec<WeightedOutcome>,
}

/// Why the depth that was being searched is not complete.
enum Unfinished {
    OutOfBudget,
    Evaluator(EvaluatorError),
}

/// A window on values, for [`Seat::First`].
#[derive(Clone, Copy)]
struct Window {
    low: f64,
    high: f64,
}

impl Window {
    const FULL: Window = Window { low: -1.0, high: 1.0 };

    /// A bound from above that fell out of the window below. It may be a last place off, which must not put it back into the
    /// window and make it a value.
    fn below(self, bound: f64) -> f64 {
        bound.min(self.low)
    }

    /// The same for a bound from below that fell out above.
    fn above(self, bound: f64) -> f64 {
        bound.max(self.high)
    }
}

impl<P: Position, V: Evaluator<P>> ExpectimaxSearch<P, V> {
    /// A search whose horizon is judged by `evaluator`. Unless that judges rolls, a roll there is judged after
    /// dice that follow from the position, so that equal positions have equal values, right on average.
    pub fn new(settings: ExpectimaxSettings, evaluator: V) -> ExpectimaxSearch<P, V> {
        ExpectimaxSearch {
            settings,
            evaluator,
            known: Transpositions::new(settings.memory << 20),
            nodes: 0,
            cut_off: false,
            horizon: Horizon { values: Vec::new(), unknown: Vec::new(), outcomes: Vec::new() },
            bytes: Vec::new(),
            actions: Vec::new(),
            rolls: Vec::new(),
        }
    }

    /// Forgets everything about earlier games.
    pub fn new_game(&mut self) {
        self.known.clear();
    }

    /// Bytes of the transposition table, which has its size from the beginning.
    pub fn table_bytes(&self) -> usize {
        self.known.bytes()
    }

    /// How many positions the table remembers.
    pub fn remembered(&self) -> usize {
        self.known.len()
    }

    /// Searches `position`, which waits for a player, deeper and deeper until the depth of the settings is reached, every line
    /// that counts has been seen to its end or the budget is used up, in which a position looked at counts as a simulation;
    /// depth 1 is always completed. Of actions
    /// that are equally good the first is chosen. `None` if there is no legal action.
    ///
    /// With pruning, the values of actions that are no better than the best are upper bounds for the player to move.
    ///
    /// # Errors
    /// That of the evaluator.
    pub fn choose(&mut self, position: &P, budget: &MoveBudget) -> Result<Option<Choice>, EvaluatorError> {
        let Actor::Player(seat) = position.actor() else { return Ok(None) };
        let begun = Instant::now();
        self.nodes = 0;
        let mut legal = Vec::new();
        position.legal_actions_into(&mut legal);
        let mut ranked: Vec<(Action, f64)> = legal.iter().map(|&action| (action, 0.0)).collect();
        let mut completed = 0;
        for depth in 1..=self.settings.depth {
            let unbounded = MoveBudget { simulations: u32::MAX, deadline: None };
            let budget = if depth == 1 { &unbounded } else { budget };
            self.cut_off = false;
            match self.search_root(position, seat, &mut ranked, depth, budget) {
                Ok(()) => {}
                Err(Unfinished::OutOfBudget) => break,
                Err(Unfinished::Evaluator(error)) => return Err(error),
            }
            completed = depth;
            if !self.cut_off {
                break;
            }
        }
        let sign = sign_of(seat);
        let Some(&(action, value)) = ranked.first() else { return Ok(None) };
        let reported = legal.iter().map(|&action| {
            let value = ranked.iter().find(|(known, _)| *known == action).map_or(0.0, |(_, value)| *value);
            ActionReport { action, visits: 0, value: (sign * value) as f32 }
        });
        let report = SearchReport {
            value: (sign * value) as f32,
            simulations: 0,
            budget_used: u32::try_from(self.nodes).unwrap_or(u32::MAX),
            nodes: self.nodes,
            reused_nodes: 0,
            depth: completed,
            actions: reported.collect(),
            principal_variation: self.principal_variation(position, action),
            seconds: begun.elapsed().as_secs_f64(),
        };
        Ok(Some(Choice { action, report: Some(report) }))
    }

    /// Values the actions at one depth and brings the best to the front; a depth that was not completed changes nothing.
    fn search_root(
        &mut self,
        position: &P,
        seat: Seat,
        ranked: &mut [(Action, f64)],
        depth: u32,
        budget: &MoveBudget,
    ) -> Result<(), Unfinished> {
        let mut window = Window::FULL;
        let mut valued = Vec::with_capacity(ranked.len());
        for (index, &(action, _)) in ranked.iter().enumerate() {
            if window.low >= window.high {
                // Nothing is better than a sure win.
                valued.push((action, if seat == Seat::First { window.low } else { window.high }));
                continue;
            }
            let actions = ranked[index..].iter().map(|&(action, _)| action);
            let value =
                self.value_of_next(index, actions, |&action| played(position, action), depth, window, budget)?;
            valued.push((action, value));
            if self.settings.pruning != Pruning::None {
                match seat {
                    Seat::First => window.low = window.low.max(value),
                    Seat::Second => window.high = window.high.min(value),
                }
            }
        }
        let sign = sign_of(seat);
        // A stable sort keeps the best of the last depth before others that are no better.
        valued.sort_by(|a, b| (sign * b.1).total_cmp(&(sign * a.1)));
        ranked.copy_from_slice(&valued);
        Ok(())
    }

    /// The value of what follows the first of `ways` that are left, by the `index`-th of all actions or outcomes of a position
    /// that is searched to `depth`: at the horizon from the batch that is looked at, of which this is the first or a later one.
    fn value_of_next<W>(
        &mut self,
        index: usize,
        mut ways: impl Iterator<Item = W>,
        next: impl Fn(&W) -> P,
        depth: u32,
        window: Window,
        budget: &MoveBudget,
    ) -> Result<f64, Unfinished> {
        if depth > 1 {
            return ways.next().map_or(Ok(0.0), |way| self.value(&next(&way), depth - 1, window, budget));
        }
        let place = index % self.settings.batch;
        if place == 0 {
            self.judge(ways.take(self.settings.batch).map(|way| next(&way)), budget)?;
        }
        Ok(self.horizon.values[place])
    }

    /// Judges positions at the horizon.
    fn judge(&mut self, positions: impl Iterator<Item = P>, budget: &MoveBudget) -> Result<(), Unfinished> {
        self.horizon.values.clear();
        self.horizon.unknown.clear();
        for mut position in positions {
            self.look_at_another(budget)?;
            if position.actor() == Actor::Chance && !self.evaluator.judges_rolls() {
                let key = position.key_with(&mut self.bytes);
                self.horizon.play_rolls(&mut position, key);
                // Even a result is then one of several.
                self.cut_off = true;
            }
            let finished = position.actor() == Actor::Finished;
            let value = if finished { self.value_of_result(&position) } else { 0.0 };
            if !finished {
                self.horizon.unknown.push((self.horizon.values.len(), position));
            }
            self.horizon.values.push(value);
        }
        self.cut_off |= !self.horizon.unknown.is_empty();
        let Horizon { values, unknown, .. } = &mut self.horizon;
        let mut judged = unknown.iter();
        let judging = self.evaluator.evaluate(&mut unknown.iter().map(|(_, position)| position), &mut |evaluation| {
            if let Some((place, position)) = judged.next() {
                let sign = if let Actor::Player(seat) = position.actor() { sign_of(seat) } else { 1.0 };
                values[*place] = sign * f64::from(evaluation.value);
            }
        });
        judging.map_err(Unfinished::Evaluator)
    }

    fn value_of_result(&self, position: &P) -> f64 {
        position.result().map_or(0.0, |result| f64::from(self.settings.utility.of_result(&result, Seat::First)))
    }

    /// The value within the window; a value at or beyond a side of the window is a bound on that side. The depth is at least 1.
    fn value(&mut self, position: &P, depth: u32, window: Window, budget: &MoveBudget) -> Result<f64, Unfinished> {
        self.look_at_another(budget)?;
        let actor = position.actor();
        if actor == Actor::Finished {
            return Ok(self.value_of_result(position));
        }
        let key = position.key_with(&mut self.bytes);
        let known = self.known.get(key);
        if let Some(entry) = known
            && let Some(value) = entry.settles(depth, window.low, window.high)
        {
            self.cut_off |= !entry.complete;
            return Ok(value);
        }
        let cut_off_before = std::mem::replace(&mut self.cut_off, false);
        let (value, best) = match actor {
            Actor::Player(seat) => {
                let first = known.and_then(|entry| entry.best);
                let (value, best) = self.decision_value(position, seat, depth, window, first, budget)?;
                (value, Some(best))
            }
            _ => (self.roll_value(position, depth, window, budget)?, None),
        };
        let bound = if value <= window.low && window.low > -1.0 {
            Bound::AtMost
        } else if value >= window.high && window.high < 1.0 {
            Bound::AtLeast
        } else {
            Bound::Exact
        };
        let complete = !self.cut_off;
        self.cut_off |= cut_off_before;
        self.known.put(key, Entry { value, depth, bound, complete, best });
        Ok(value)
    }

    /// Counts a position of whatever kind that is looked at, if the budget has room for it.
    fn look_at_another(&mut self, budget: &MoveBudget) -> Result<(), Unfinished> {
        // Looking at the clock costs more than the cheapest position. The dearest, a roll with all its outcomes, takes about
        // a millisecond.
        const NODES_BETWEEN_LOOKS: u64 = 16;
        let done = u32::try_from(self.nodes).unwrap_or(u32::MAX);
        let look = self.nodes.is_multiple_of(NODES_BETWEEN_LOOKS);
        let allowed = if look { budget.allows(done) } else { done < budget.simulations };
        if !allowed {
            return Err(Unfinished::OutOfBudget);
        }
        self.nodes += 1;
        Ok(())
    }

    fn decision_value(
        &mut self,
        position: &P,
        seat: Seat,
        depth: u32,
        mut window: Window,
        first: Option<Action>,
        budget: &MoveBudget,
    ) -> Result<(f64, Action), Unfinished> {
        let mut legal = self.actions.pop().unwrap_or_default();
        position.legal_actions_into(&mut legal);
        if let Some(at) = legal.iter().position(|action| Some(*action) == first) {
            legal[..=at].rotate_right(1);
        }
        let prunes = self.settings.pruning != Pruning::None;
        let mut best: Option<(f64, Action)> = None;
        let mut broken_off = None;
        for (index, &action) in legal.iter().enumerate() {
            let actions = legal[index..].iter().copied();
            let value = self.value_of_next(index, actions, |&action| played(position, action), depth, window, budget);
            let value = match value {
                Ok(value) => value,
                Err(out) => {
                    broken_off = Some(out);
                    break;
                }
            };
            let better = best.is_none_or(|(known, _)| if seat == Seat::First { value > known } else { value < known });
            if better {
                best = Some((value, action));
            }
            if prunes {
                match seat {
                    Seat::First => window.low = window.low.max(value),
                    Seat::Second => window.high = window.high.min(value),
                }
                if window.low >= window.high {
                    break;
                }
            }
        }
        self.actions.push(legal);
        match (broken_off, best) {
            (None, Some(best)) => Ok(best),
            (None, None) => Ok((0.0, Action(0))),
            (Some(out), _) => Err(out),
        }
    }

    fn roll_value(&mut self, position: &P, depth: u32, window: Window, budget: &MoveBudget) -> Result<f64, Unfinished> {
        let mut rolls = self.rolls.pop().unwrap_or_default();
        rolls.fill(position, self.settings.merged);
        let value = self.value_of_rolls(position, &rolls, depth, window, budget);
        self.rolls.push(rolls);
        value
    }

    fn value_of_rolls(
        &mut self,
        position: &P,
        rolls: &Rolls,
        depth: u32,
        window: Window,
        budget: &MoveBudget,
    ) -> Result<f64, Unfinished> {
        let total: f64 = rolls.outcomes.iter().map(|(weight, _)| weight).sum();
        // What the outcomes not yet searched are worth at least and at most, each times its probability.
        let (mut least, mut most) = (-1.0, 1.0);
        let mut probed = Vec::new();
        if self.settings.pruning == Pruning::Star2 && depth > 1 {
            for (weight, outcome) in &rolls.outcomes {
                let share = weight / total;
                let (low, high) = self.probe(&after(position, outcome), depth - 1, budget)?;
                probed.push((low, high));
                least += share * (low + 1.0);
                most += share * (high - 1.0);
                if least >= window.high {
                    return Ok(least);
                }
                if most <= window.low {
                    return Ok(most);
                }
            }
        }
        let mut sum = 0.0;
        for (index, (weight, _)) in rolls.outcomes.iter().enumerate() {
            let share = weight / total;
            let (low, high) = probed.get(index).copied().unwrap_or((-1.0, 1.0));
            least -= share * low;
            most -= share * high;
            // What this outcome must be worth for the whole to fall out of the window on either side.
            let narrowed = match self.settings.pruning {
                Pruning::None => Window::FULL,
                _ => Window {
                    low: ((window.low - sum - most) / share).max(-1.0),
                    high: ((window.high - sum - least) / share).min(1.0),
                },
            };
            if narrowed.low >= 1.0 {
                return Ok(window.below(sum + share + most));
            }
            if narrowed.high <= -1.0 {
                return Ok(window.above(sum - share + least));
            }
            let outcomes = rolls.outcomes[index..].iter().map(|(_, outcome)| outcome);
            let value =
                self.value_of_next(index, outcomes, |outcome| after(position, outcome), depth, narrowed, budget)?;
            sum += share * value;
            if self.settings.pruning != Pruning::None {
                if value >= narrowed.high && narrowed.high < 1.0 {
                    return Ok(window.above(sum + least));
                }
                if value <= narrowed.low && narrowed.low > -1.0 {
                    return Ok(window.below(sum + most));
                }
            }
        }
        Ok(sum)
    }

    /// Bounds on the value of a position from one action of the player to move: at least that is his.
    fn probe(&mut self, position: &P, depth: u32, budget: &MoveBudget) -> Result<(f64, f64), Unfinished> {
        let Actor::Player(seat) = position.actor() else { return Ok((-1.0, 1.0)) };
        if depth == 0 {
            return Ok((-1.0, 1.0));
        }
        let key = position.key_with(&mut self.bytes);
        let known = self.known.get(key).and_then(|entry| entry.best);
        let mut legal = self.actions.pop().unwrap_or_default();
        position.legal_actions_into(&mut legal);
        let action = known.or(legal.first().copied());
        self.actions.push(legal);
        let Some(action) = action else { return Ok((-1.0, 1.0)) };
        let only = std::iter::once(action);
        let value = self.value_of_next(0, only, |&action| played(position, action), depth, Window::FULL, budget)?;
        Ok(if seat == Seat::First { (value, 1.0) } else { (-1.0, value) })
    }

    /// The line that the table remembers; at a roll, the likeliest outcome.
    fn principal_variation(&mut self, position: &P, action: Action) -> Vec<Event> {
        const REPORTED_STEPS: usize = 24;
        let mut position = position.clone();
        let mut events = Vec::new();
        let mut next = Some(action);
        while events.len() < REPORTED_STEPS {
            match (position.actor(), next.take()) {
                (Actor::Player(seat), Some(action)) if position.is_legal(action) => {
                    events.push(Event::Played(seat, action));
                    position.apply_legal(action);
                }
                (Actor::Chance, _) => {
                    let mut outcomes = Vec::new();
                    position.chance_outcomes_into(&mut outcomes);
                    let Some(likeliest) = outcomes.iter().rev().max_by_key(|outcome| outcome.weight) else { break };
                    events.push(Event::Rolled(likeliest.outcome));
                    position.resolve_possible(likeliest.outcome);
                }
                _ => break,
            }
            let key = position.key_with(&mut self.bytes);
            next = self.known.get(key).and_then(|entry| entry.best);
        }
        events
    }
}

impl Rolls {
    fn fill<P: Position>(&mut self, position: &P, merged: bool) {
        self.outcomes.clear();
        if merged && position.merged_outcomes_into(&mut self.merged) {
            self.outcomes.extend(self.merged.drain(..).map(|merged| (merged.weight as f64, merged.rolls)));
        } else {
            position.chance_outcomes_into(&mut self.single);
            self.outcomes.extend(self.single.iter().map(|one| (f64::from(one.weight), vec![one.outcome])));
        }
        // The heaviest first narrows the window soonest.
        self.outcomes.sort_by(|a, b| b.0.total_cmp(&a.0));
    }
}

impl<P: Position> Horizon<P> {
    /// Resolves the rolls that come before the next decision by the dice of a stream.
    fn play_rolls(&mut self, position: &mut P, stream: u64) {
        let mut dice = SplitMix64::new(stream);
        while position.actor() == Actor::Chance {
            position.chance_outcomes_into(&mut self.outcomes);
            position.resolve_possible(pick(&self.outcomes, position.chance_total(), dice.next_word()));
        }
    }
}

/// The position after the action.
fn played<P: Position>(position: &P, action: Action) -> P {
    let mut next = position.clone();
    next.apply_legal(action);
    next
}

/// The position after the rolls.
fn after<P: Position>(position: &P, rolls: &[Outcome]) -> P {
    let mut next = position.clone();
    rolls.iter().for_each(|&outcome| next.resolve_possible(outcome));
    next
}

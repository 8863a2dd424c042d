//! Expectimax: search by depth through decisions and rolls alike, with pruning at both.
//!
//! At decisions it is alpha-beta; at rolls the bounds of the outcomes still to come narrow the window (Star1, Ballard
//! 1983), and one action of each outcome is tried first to prune before any outcome is searched in full (Star2, ibid.;
//! Hauk, Buro and Schaeffer 2006). Values are expected utilities in [-1, 1] for [`Seat::First`]: a player who decides
//! several times in a row keeps his sign.

use crate::transpositions::{Bound, Entry, Transpositions};
use crate::tree::sign_of;
use dervish_agents::agent::{ActionReport, Choice, Event, SearchReport};
use dervish_agents::evaluation::{Evaluation, Utility};
use dervish_agents::limits::MoveBudget;
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
    /// What results are worth; the evaluation must mean the same.
    pub utility: Utility,
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
pub struct ExpectimaxSearch<P: Position, E> {
    settings: ExpectimaxSettings,
    evaluation: E,
    known: Transpositions,
    nodes: u64,
    /// Whether a position at the horizon was judged by the evaluation since this was last unset.
    cut_off: bool,
    bytes: Vec<u8>,
    /// Buffers that are not in use.
    actions: Vec<Vec<Action>>,
    rolls: Vec<Rolls>,
    _position: std::marker::PhantomData<fn() -> P>,
}

/// The outcomes of one roll, the likeliest first.
#[derive(Clone, Debug, Default)]
struct Rolls {
    outcomes: Vec<(f64, Vec<Outcome>)>,
    merged: Vec<MergedOutcome>,
    single: Vec<WeightedOutcome>,
}

/// The budget is used up; the depth that was being searched is not complete.
struct OutOfBudget;

/// A window on values, for [`Seat::First`].
#[derive(Clone, Copy)]
struct Window {
    low: f64,
    high: f64,
}

impl Window {
    const FULL: Window = Window { low: -1.0, high: 1.0 };
}

impl<P: Position, E: Evaluation<P>> ExpectimaxSearch<P, E> {
    /// A search whose horizon is judged by `evaluation`; where that has no opinion a position counts as even.
    pub fn new(settings: ExpectimaxSettings, evaluation: E) -> ExpectimaxSearch<P, E> {
        ExpectimaxSearch {
            settings,
            evaluation,
            known: Transpositions::new(settings.memory << 20),
            nodes: 0,
            cut_off: false,
            bytes: Vec::new(),
            actions: Vec::new(),
            rolls: Vec::new(),
            _position: std::marker::PhantomData,
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
    pub fn choose(&mut self, position: &P, budget: &MoveBudget) -> Option<Choice> {
        let Actor::Player(seat) = position.actor() else { return None };
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
            if self.search_root(position, seat, &mut ranked, depth, budget).is_err() {
                break;
            }
            completed = depth;
            if !self.cut_off {
                break;
            }
        }
        let sign = sign_of(seat);
        let &(action, value) = ranked.first()?;
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
        Some(Choice { action, report: Some(report) })
    }

    /// Values the actions at one depth and brings the best to the front; a depth that was not completed changes nothing.
    fn search_root(
        &mut self,
        position: &P,
        seat: Seat,
        ranked: &mut [(Action, f64)],
        depth: u32,
        budget: &MoveBudget,
    ) -> Result<(), OutOfBudget> {
        let mut window = Window::FULL;
        let mut valued = Vec::with_capacity(ranked.len());
        for &(action, _) in ranked.iter() {
            if window.low >= window.high {
                // Nothing is better than a sure win.
                valued.push((action, if seat == Seat::First { window.low } else { window.high }));
                continue;
            }
            let mut next = position.clone();
            next.apply_legal(action);
            let value = self.value(&next, depth - 1, window, budget)?;
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

    /// The value within the window; a value at or beyond a side of the window is a bound on that side.
    fn value(&mut self, position: &P, depth: u32, window: Window, budget: &MoveBudget) -> Result<f64, OutOfBudget> {
        self.look_at_another(budget)?;
        let actor = position.actor();
        if actor == Actor::Finished {
            let result = position.result();
            return Ok(result.map_or(0.0, |result| f64::from(self.settings.utility.of_result(&result, Seat::First))));
        }
        if depth == 0 {
            self.cut_off = true;
            return Ok(self.evaluation.value(position, Seat::First).map_or(0.0, f64::from));
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
    fn look_at_another(&mut self, budget: &MoveBudget) -> Result<(), OutOfBudget> {
        // Looking at the clock costs more than the cheapest position. The dearest, a roll with all its outcomes, takes about
        // a millisecond.
        const NODES_BETWEEN_LOOKS: u64 = 16;
        let done = u32::try_from(self.nodes).unwrap_or(u32::MAX);
        let look = self.nodes.is_multiple_of(NODES_BETWEEN_LOOKS);
        let allowed = if look { budget.allows(done) } else { done < budget.simulations };
        if !allowed {
            return Err(OutOfBudget);
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
    ) -> Result<(f64, Action), OutOfBudget> {
        let mut legal = self.actions.pop().unwrap_or_default();
        position.legal_actions_into(&mut legal);
        if let Some(at) = legal.iter().position(|action| Some(*action) == first) {
            legal[..=at].rotate_right(1);
        }
        let prunes = self.settings.pruning != Pruning::None;
        let mut best: Option<(f64, Action)> = None;
        let mut broken_off = None;
        for &action in &legal {
            let mut next = position.clone();
            next.apply_legal(action);
            let value = match self.value(&next, depth - 1, window, budget) {
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

    fn roll_value(
        &mut self,
        position: &P,
        depth: u32,
        window: Window,
        budget: &MoveBudget,
    ) -> Result<f64, OutOfBudget> {
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
    ) -> Result<f64, OutOfBudget> {
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
        for (index, (weight, outcome)) in rolls.outcomes.iter().enumerate() {
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
                return Ok(sum + share + most);
            }
            if narrowed.high <= -1.0 {
                return Ok(sum - share + least);
            }
            let value = self.value(&after(position, outcome), depth - 1, narrowed, budget)?;
            sum += share * value;
            if self.settings.pruning != Pruning::None {
                if value >= narrowed.high && narrowed.high < 1.0 {
                    return Ok(sum + least);
                }
                if value <= narrowed.low && narrowed.low > -1.0 {
                    return Ok(sum + most);
                }
            }
        }
        Ok(sum)
    }

    /// Bounds on the value of a position from one action of the player to move: at least that is his.
    fn probe(&mut self, position: &P, depth: u32, budget: &MoveBudget) -> Result<(f64, f64), OutOfBudget> {
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
        let mut next = position.clone();
        next.apply_legal(action);
        let value = self.value(&next, depth - 1, Window::FULL, budget)?;
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

/// The position after the rolls.
fn after<P: Position>(position: &P, rolls: &[Outcome]) -> P {
    let mut next = position.clone();
    rolls.iter().for_each(|&outcome| next.resolve_possible(outcome));
    next
}

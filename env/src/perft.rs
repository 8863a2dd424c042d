//! Exact counts of the nodes of a game tree by depth, to prove a rules implementation against other ones and against
//! itself after a change. Every action and every chance outcome is one ply.

use std::ops::AddAssign;

use rayon::prelude::*;

use crate::game::{Action, Actor, Position, WeightedOutcome};

mod tree_file;

pub use tree_file::{Tree, TreeFile, TreeFileError};

/// Counts the nodes that lie exactly `depth` plies below `start`, without a table, so that no hash can hide a fault.
///
/// Games that end earlier are not counted again at greater depths.
pub fn perft<P: Position>(start: &P, depth: usize) -> PerftCounts {
    perft_by_depth(start, depth).pop().unwrap_or_default()
}

/// The greatest depth that a file or a command may ask for: each ply is a frame of the walk on the stack.
pub const MAX_DEPTH: u16 = 1000;
/// Subtrees to share out among the cores: many more than cores, because they differ in size.
const SUBTREES: usize = 512;

/// Counts the nodes at every depth from 0 to `depth` in one walk; entry `d` is what [`perft`] gives for `d`.
pub fn perft_by_depth<P: Position>(start: &P, depth: usize) -> Vec<PerftCounts> {
    let mut counts = vec![PerftCounts::default(); depth + 1];
    let mut lists = Lists::default();
    // Breadth first until there are subtrees for all cores, then each of them depth first.
    let mut level = vec![start.clone()];
    let mut ply = 0;
    while ply < depth && (1..SUBTREES).contains(&level.len()) {
        let mut next_level = Vec::new();
        for position in &level {
            counts[ply].add(position.actor());
            lists.visit_next(position, |next| next_level.push(next));
        }
        level = next_level;
        ply += 1;
    }
    let nothing = || vec![PerftCounts::default(); depth + 1 - ply];
    let below = level
        .par_iter()
        .fold(
            || (nothing(), vec![Lists::default(); depth - ply]),
            |(mut counts, mut lists), position| {
                walk(position, &mut counts, &mut lists);
                (counts, lists)
            },
        )
        .map(|(counts, _)| counts)
        .reduce(nothing, |mut sum, counts| {
            sum.iter_mut().zip(counts).for_each(|(sum, counts)| *sum += counts);
            sum
        });
    counts[ply..].copy_from_slice(&below);
    counts
}

/// Numbers of nodes by who is to act.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct PerftCounts {
    /// Nodes at which a player decides.
    pub player: u64,
    /// Nodes at which a roll is due.
    pub chance: u64,
    /// Finished games.
    pub terminal: u64,
}

impl PerftCounts {
    /// All nodes.
    pub fn total(&self) -> u64 {
        self.player + self.chance + self.terminal
    }

    /// Counts one node more.
    fn add(&mut self, actor: Actor) {
        match actor {
            Actor::Player(_) => self.player += 1,
            Actor::Chance => self.chance += 1,
            Actor::Finished => self.terminal += 1,
        }
    }
}

impl AddAssign for PerftCounts {
    fn add_assign(&mut self, other: PerftCounts) {
        self.player += other.player;
        self.chance += other.chance;
        self.terminal += other.terminal;
    }
}

/// The lists of one ply of a walk, kept so that it allocates nothing once they have grown.
#[derive(Clone, Default)]
struct Lists {
    actions: Vec<Action>,
    outcomes: Vec<WeightedOutcome>,
}

impl Lists {
    /// Shows every position one ply below `position`.
    fn visit_next<P: Position>(&mut self, position: &P, mut visit: impl FnMut(P)) {
        match position.actor() {
            Actor::Player(_) => {
                position.legal_actions_into(&mut self.actions);
                for &action in &self.actions {
                    let mut next = position.clone();
                    next.apply_legal(action);
                    visit(next);
                }
            }
            Actor::Chance => {
                position.chance_outcomes_into(&mut self.outcomes);
                for weighted in &self.outcomes {
                    let mut next = position.clone();
                    next.resolve_possible(weighted.outcome);
                    visit(next);
                }
            }
            Actor::Finished => {}
        }
    }
}

/// Adds the node of `position` to the first of `counts` and those below it to the others, one ply for each of `lists`.
fn walk<P: Position>(position: &P, counts: &mut [PerftCounts], lists: &mut [Lists]) {
    let Some((here, below)) = counts.split_first_mut() else { return };
    here.add(position.actor());
    if let Some((lists, deeper)) = lists.split_first_mut() {
        lists.visit_next(position, |next| walk(&next, below, deeper));
    }
}

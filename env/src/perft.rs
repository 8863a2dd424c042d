//! Exact counts of the nodes of a game tree by depth, to prove a rules implementation against other ones and against
//! itself after a change. Every action and every chance outcome is one ply.

use std::ops::AddAssign;

use crate::game::{Action, Actor, Position, WeightedOutcome};

/// Counts the nodes that lie exactly `depth` plies below `start`, without a table, so that no hash can hide a fault.
///
/// Games that end earlier are not counted again at greater depths.
pub fn perft<P: Position>(start: &P, depth: usize) -> PerftCounts {
    perft_by_depth(start, depth).pop().unwrap_or_default()
}

/// Counts the nodes at every depth from 0 to `depth` in one walk; entry `d` is what [`perft`] gives for `d`.
pub fn perft_by_depth<P: Position>(start: &P, depth: usize) -> Vec<PerftCounts> {
    let mut counts = vec![PerftCounts::default(); depth + 1];
    let mut buffers = vec![Buffers::default(); depth];
    walk(start, 0, &mut counts, &mut buffers);
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
}

impl AddAssign for PerftCounts {
    fn add_assign(&mut self, other: PerftCounts) {
        self.player += other.player;
        self.chance += other.chance;
        self.terminal += other.terminal;
    }
}

/// The lists of one ply of the walk, kept so that the walk allocates nothing once they have grown.
#[derive(Clone, Default)]
struct Buffers {
    actions: Vec<Action>,
    outcomes: Vec<WeightedOutcome>,
}

fn walk<P: Position>(position: &P, ply: usize, counts: &mut [PerftCounts], buffers: &mut [Buffers]) {
    let actor = position.actor();
    match actor {
        Actor::Player(_) => counts[ply].player += 1,
        Actor::Chance => counts[ply].chance += 1,
        Actor::Finished => counts[ply].terminal += 1,
    }
    let Some((lists, deeper)) = buffers.split_first_mut() else {
        return;
    };
    match actor {
        Actor::Player(_) => {
            position.legal_actions_into(&mut lists.actions);
            for &action in &lists.actions {
                let mut next = position.clone();
                next.apply_legal(action);
                walk(&next, ply + 1, counts, deeper);
            }
        }
        Actor::Chance => {
            position.chance_outcomes_into(&mut lists.outcomes);
            for weighted in &lists.outcomes {
                let mut next = position.clone();
                next.resolve_possible(weighted.outcome);
                walk(&next, ply + 1, counts, deeper);
            }
        }
        Actor::Finished => {}
    }
}

//! How a roll becomes a node of the tree.

use crate::tree::{NodeId, Tree};
use dervish_env::chance::{SplitMix64, pick};
use dervish_env::game::{MergedOutcome, Outcome, Position, WeightedOutcome};

/// Puts the outcomes of rolls into a tree, keeping its buffers between them.
#[derive(Clone, Debug)]
pub struct RollExpansion {
    merged: bool,
    outcomes: Vec<WeightedOutcome>,
    merged_outcomes: Vec<MergedOutcome>,
}

impl RollExpansion {
    /// With `merged`, a procedure of several rolls is one node wherever the game offers its merged distribution.
    pub fn new(merged: bool) -> RollExpansion {
        RollExpansion { merged, outcomes: Vec::new(), merged_outcomes: Vec::new() }
    }

    /// Adds the outcomes of the roll that `position` waits for. Returns false, leaving the node as it was, where the
    /// memory is used up.
    pub fn expand<P: Position>(&mut self, tree: &mut Tree, node: NodeId, position: &P, rng: &mut SplitMix64) -> bool {
        if self.merged && position.merged_outcomes_into(&mut self.merged_outcomes) {
            return tree.expand_merged(node, &self.merged_outcomes, rng);
        }
        position.chance_outcomes_into(&mut self.outcomes);
        tree.expand_roll(node, &self.outcomes, rng)
    }

    /// The outcome that a uniform `word` selects from those of the roll that `position` waits for.
    pub fn sample<P: Position>(&mut self, position: &P, word: u64) -> Outcome {
        position.chance_outcomes_into(&mut self.outcomes);
        pick(&self.outcomes, position.chance_total(), word)
    }
}

//! What searches of one position that were made apart have found together.

use super::{Edge, NO_CHILD, Tree};

impl Tree {
    /// Adds the visits of the root's actions in another tree of the same position, for searches that are made apart. What
    /// either tree has solved keeps its exact value; other values are averaged by visits.
    pub fn merge_root(&mut self, other: &Tree) {
        if !self.node(Tree::ROOT).is_expanded() {
            // Nobody has come here: others were faster and have used up the budget.
            let first = self.edges.len();
            let unvisited = |edge: &Edge| Edge { visits: 0, value: 0.0, in_flight: 0, child: NO_CHILD, ..*edge };
            self.edges.extend(other.edges(Tree::ROOT).iter().map(unvisited));
            self.nodes[0].edge_count = (self.edges.len() - first) as u32;
            self.nodes[0].first_edge = first as u32;
        }
        for index in self.range(Tree::ROOT) {
            let mine = self.edges[index];
            let Some(more) = other.edges(Tree::ROOT).iter().find(|more| more.action == mine.action) else { continue };
            let solved_here = self.exact_value(&mine);
            let solved_there = other.exact_value(more);
            let visits = mine.visits + more.visits;
            let edge = &mut self.edges[index];
            edge.visits = visits;
            edge.solved_elsewhere |= solved_here.is_none() && solved_there.is_some();
            edge.booked = solved_here.or(solved_there).is_some();
            edge.value = match solved_here.or(solved_there) {
                Some(exact) => exact,
                None if visits > 0 => {
                    let share = f64::from(more.visits) / f64::from(visits);
                    mine.value + share * (more.value - mine.value)
                }
                None => mine.value,
            };
        }
        let other = other.node(Tree::ROOT);
        let root = &mut self.nodes[0];
        root.visits += other.visits;
        root.total += other.total;
        root.mass += other.mass;
        self.note_solved(Tree::ROOT);
    }
}

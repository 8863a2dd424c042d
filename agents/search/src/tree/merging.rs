//! What searches of one position that were made apart have found together.

use super::Tree;

impl Tree {
    /// Adds the visits of the root's actions in another tree of the same position, for searches that are made apart. What
    /// either tree has solved keeps its exact value; other values are averaged by visits. Behind the actions stands what the
    /// tree with more visits has found, which becomes this one; `other` is left with the rest.
    pub fn merge_root(&mut self, other: &mut Tree) {
        // The other may have been faster, and have used up the budget before anybody came here.
        let seen = |tree: &Tree| (tree.node(Tree::ROOT).is_expanded(), tree.node(Tree::ROOT).visits);
        if seen(other) > seen(self) {
            std::mem::swap(self, other);
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
            let exact = solved_here.or(solved_there);
            edge.booked = exact.is_some();
            edge.value = match exact {
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

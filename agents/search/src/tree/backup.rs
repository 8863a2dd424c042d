//! What a finished simulation changes: visits, values and what is solved.

use super::{Edge, EdgeId, NodeId, Step, Tree, sign_of};
use dervish_env::game::{Actor, Seat};

impl Tree {
    /// Marks a simulation as on its way through `edge`; [`Tree::back_up`] ends that.
    pub fn enter(&mut self, edge: EdgeId) {
        self.edges[edge.0 as usize].in_flight += 1;
    }

    /// Books one simulation that went down `path` and valued its end at `value`; `leaf` is the node there, if the memory
    /// sufficed for one.
    pub fn back_up(&mut self, path: &[Step], leaf: Option<NodeId>, value: f64) {
        self.back_up_by(path, leaf, value, |_, _| None);
    }

    /// As [`Tree::back_up`], where `worth` says for a decision node what it is worth to [`Seat::First`] once the value
    /// behind it is booked; `None` is the mean over its visits.
    pub fn back_up_by(
        &mut self,
        path: &[Step],
        leaf: Option<NodeId>,
        value: f64,
        worth: impl Fn(&Tree, NodeId) -> Option<f64>,
    ) {
        self.deepest = self.deepest.max(path.len());
        if let Some(leaf) = leaf {
            let leaf = &mut self.nodes[leaf.0 as usize];
            if leaf.visits == 0 {
                leaf.own = value;
            }
            leaf.visits += 1;
            leaf.total += value;
            leaf.mass += 1.0;
            if leaf.actor == Actor::Finished {
                leaf.solved = true;
                leaf.secured = Some(value);
            }
        }
        for &(id, edge) in path.iter().rev() {
            let Edge { visits, value: old, .. } = *self.edge(edge);
            let exact = self.exact_value(self.edge(edge));
            let visits = f64::from(visits);
            let new = match (exact, self.edge(edge).child()) {
                (Some(exact), _) => exact,
                (None, Some(child)) => self.node(child).value(),
                (None, None) => old + (value - old) / (visits + 1.0),
            };
            let edge = &mut self.edges[edge.0 as usize];
            edge.in_flight = edge.in_flight.saturating_sub(1);
            edge.visits += 1;
            edge.value = new;
            edge.booked = exact.is_some();
            let node = &mut self.nodes[id.0 as usize];
            node.visits += 1;
            if node.actor != Actor::Chance {
                node.total += (visits + 1.0) * new - visits * old;
                node.mass += 1.0;
                if let Some(value) = worth(self, id) {
                    let node = &mut self.nodes[id.0 as usize];
                    node.total = value * node.mass;
                }
            } else {
                self.weigh_outcomes(id);
            }
            if exact.is_some() {
                self.note_solved(id);
            }
        }
    }

    /// Works out what a roll is worth after its visited outcomes: the mean over its draws, which are fair, so that it is right on
    /// average after any number of them. Once they are so many that every outcome must have been drawn, each counts its
    /// probability. (To do so as soon as each was drawn, or to let those that were drawn stand for the others in proportion
    /// to their probabilities, would not be right on average.)
    fn weigh_outcomes(&mut self, id: NodeId) {
        // Draws are spread evenly: the lightest comes up about once in as many draws as its probability says.
        const CERTAIN: f64 = 3.0;
        let (mut weights, mut lightest, mut all) = (0.0, f64::INFINITY, true);
        for edge in self.edges(id) {
            weights += edge.weight;
            lightest = edge.weight.min(lightest);
            all &= edge.visits > 0;
        }
        let by_weight = all && f64::from(self.node(id).draws) * lightest >= CERTAIN * weights;
        let (mut total, mut mass) = (0.0, 0.0);
        for edge in self.edges(id).iter().filter(|edge| edge.visits > 0) {
            let counts = if by_weight { edge.weight } else { f64::from(edge.draws) };
            total += counts * edge.value;
            mass += counts;
        }
        let node = &mut self.nodes[id.0 as usize];
        node.total = total;
        node.mass = mass;
    }

    /// Works out what the exact values behind the edges of an expanded node say about it.
    pub(super) fn note_solved(&mut self, id: NodeId) {
        let mut all = true;
        let mut best: Option<f64> = None;
        let (mut sum, mut weights) = (0.0, 0.0);
        let node = *self.node(id);
        for edge in self.edges(id) {
            let Some(value) = self.exact_value(edge) else {
                all = false;
                continue;
            };
            (sum, weights) = (sum + edge.weight * value, weights + edge.weight);
            best = Some(match (best, node.actor) {
                (None, _) => value,
                (Some(best), Actor::Player(Seat::Second)) => best.min(value),
                (Some(best), _) => best.max(value),
            });
        }
        let (secured, solved) = match node.actor {
            // Nothing is better than a sure win.
            Actor::Player(seat) => (best, all || best.is_some_and(|best| sign_of(seat) * best >= 1.0)),
            _ => (all.then(|| sum / weights), all),
        };
        let node = &mut self.nodes[id.0 as usize];
        node.secured = secured;
        node.solved = solved;
        if solved {
            // Nobody comes here again to book what was solved through another way.
            for index in self.range(id) {
                if let Some(value) = self.exact_value(&self.edges[index]) {
                    self.edges[index].value = value;
                    self.edges[index].booked = true;
                }
            }
        }
    }
}

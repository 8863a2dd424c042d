//! Search trees of one position that were made apart and are put together (root parallelism), and what a tree makes of
//! values that became exact on another way.

use dervish_env::game::{Action, Actor, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_search::tree::{EdgeId, KeyUse, NodeId, Standing, Tree};

const OPEN: Actor = Actor::Player(Seat::Second);

/// What simulations found behind an action: who acts there, how many came, and the value that each found for the first seat.
/// Behind a finished node everything is known.
type Found = (Actor, u32, f64);

/// A tree in which `seat` decides at the root; `found` has one entry for each action.
fn tree(seat: Seat, found: &[Found]) -> Tree {
    let mut tree = Tree::new(1 << 20);
    tree.reset(Actor::Player(seat));
    expand(&mut tree, Tree::ROOT, found.len());
    for (edge, &(actor, visits, value)) in edges(&tree, Tree::ROOT).into_iter().zip(found) {
        for _ in 0..visits {
            tree.enter(edge);
            let child = tree.child_or_insert(edge, actor).expect("room");
            tree.back_up(&[(Tree::ROOT, edge)], Some(child), value);
        }
    }
    tree
}

fn expand(tree: &mut Tree, node: NodeId, actions: usize) {
    let actions: Vec<Action> = (0..actions as u16).map(Action).collect();
    let priors = vec![1.0 / actions.len() as f32; actions.len()];
    assert!(tree.expand_with_priors(node, &actions, &priors));
}

fn edges(tree: &Tree, node: NodeId) -> Vec<EdgeId> {
    tree.edge_ids(node).collect()
}

/// Visits and value of each action of the root.
fn told(tree: &Tree) -> Vec<(u32, f64)> {
    tree.edges(Tree::ROOT).iter().map(|edge| (edge.visits, edge.value)).collect()
}

fn choice(tree: &Tree) -> Action {
    tree.edge(tree.likeliest(Tree::ROOT).expect("visited")).action
}

#[test]
fn what_is_open_in_both_trees_is_averaged_by_visits() {
    let mut merged = tree(Seat::First, &[(OPEN, 3, 0.5), (OPEN, 1, 0.0), (OPEN, 0, 0.0)]);
    merged.merge_root(&mut tree(Seat::First, &[(OPEN, 1, -0.5), (OPEN, 0, 0.0), (OPEN, 2, 0.25)]));
    // (3 * 0.5 - 0.5) / 4.
    assert_eq!(told(&merged), [(4, 0.25), (1, 0.0), (2, 0.25)]);
    assert_eq!(merged.node(Tree::ROOT).visits, 7);
    assert!(!merged.node(Tree::ROOT).is_solved());
}

/// An exact value is no estimate that others could correct, whichever tree has it.
#[test]
fn an_exact_value_stays_exact() {
    let solved: &[Found] = &[(Actor::Finished, 1, 0.5), (OPEN, 2, 0.25)];
    let open: &[Found] = &[(OPEN, 3, -1.0), (OPEN, 2, 0.25)];
    for [mine, other] in [[solved, open], [open, solved]] {
        let mut merged = tree(Seat::First, mine);
        merged.merge_root(&mut tree(Seat::First, other));
        assert_eq!(told(&merged), [(4, 0.5), (4, 0.25)]);
        let edge = merged.edges(Tree::ROOT)[0];
        assert_eq!(merged.standing(&edge), Standing::Settled);
        assert!(!merged.node(Tree::ROOT).is_solved(), "the other action is open");
        // Who has 0.5 for sure has it at the root.
        assert_eq!(merged.node(Tree::ROOT).value(), 0.5);
        assert_eq!(choice(&merged), Action(0));
        // A third tree changes nothing of it.
        merged.merge_root(&mut tree(Seat::First, open));
        assert_eq!(told(&merged)[0], (7, 0.5));
    }
}

/// A thread that found the budget used up has a root without actions; the tree of the others is taken, and the line that the
/// likeliest action begins goes on in the tree that has seen most, whichever thread it is of.
#[test]
fn the_tree_that_has_seen_most_is_kept() {
    let empty = || {
        let mut tree = Tree::new(1 << 20);
        tree.reset(Actor::Player(Seat::First));
        tree
    };
    let more = || tree(Seat::First, &[(OPEN, 3, 0.5), (Actor::Finished, 1, 0.25)]);
    let less = || tree(Seat::First, &[(OPEN, 1, -0.5), (OPEN, 2, 0.0)]);
    for mut trees in [[empty(), more(), less()], [less(), empty(), more()], [more(), less(), empty()]] {
        let [merged, others @ ..] = &mut trees;
        for other in others {
            merged.merge_root(other);
        }
        assert_eq!(told(merged), [(4, 0.25), (3, 0.25)]);
        assert_eq!((merged.node(Tree::ROOT).visits, choice(merged)), (7, Action(1)));
        // The second action ends the game there and not in the other tree.
        let behind = merged.edges(Tree::ROOT)[1].child().expect("visited");
        assert_eq!(merged.node(behind).actor, Actor::Finished);
    }
}

/// A win that one thread has proven is chosen, however many visits and whatever hopes another thread had elsewhere.
#[test]
fn a_proven_win_is_chosen() {
    for (seat, sign) in [(Seat::First, 1.0), (Seat::Second, -1.0)] {
        let won: &[Found] = &[(Actor::Finished, 1, sign), (OPEN, 1, 0.5 * sign)];
        let hopeful: &[Found] = &[(OPEN, 5, -sign), (OPEN, 40, 0.9 * sign)];
        for [mine, other] in [[won, hopeful], [hopeful, won]] {
            let mut merged = tree(seat, mine);
            merged.merge_root(&mut tree(seat, other));
            assert_eq!(choice(&merged), Action(0), "{seat:?}: {:?}", told(&merged));
            assert!(merged.node(Tree::ROOT).is_solved());
            assert_eq!(merged.node(Tree::ROOT).value(), sign);
        }
    }
}

/// What each tree has solved in part is solved together.
#[test]
fn two_trees_that_solved_one_action_each_have_solved_the_root() {
    let mut merged = tree(Seat::First, &[(Actor::Finished, 1, -0.25), (OPEN, 6, 0.75)]);
    merged.merge_root(&mut tree(Seat::First, &[(OPEN, 6, 0.75), (Actor::Finished, 1, 0.25)]));
    assert!(merged.node(Tree::ROOT).is_solved());
    assert_eq!(merged.node(Tree::ROOT).value(), 0.25);
    assert_eq!((choice(&merged), told(&merged)), (Action(1), vec![(7, -0.25), (7, 0.25)]));
}

/// First can go to A by his second action, or leave it to Second by his first, who may go to A too or take 0.9 for himself.
/// A first looked like -0.95 and is 0.5. It is solved on the way over Second, by the same simulation that solves the root, so
/// that nobody comes to book it behind the second action; that is the better one all the same.
#[test]
fn a_solved_root_has_exact_values_behind_all_its_actions() {
    let [at_a, at_x] = ["1", "2"].map(|columns| ConnectFour::after(columns).expect("legal columns"));
    assert_eq!(at_a.actor(), OPEN);
    let keys = KeyUse { keep: true, share: true };
    let mut bytes = Vec::new();
    let mut tree = Tree::new(1 << 20);
    tree.reset(Actor::Player(Seat::First));
    expand(&mut tree, Tree::ROOT, 2);
    let root = edges(&tree, Tree::ROOT);
    let over_x = (Tree::ROOT, root[0]);
    let to_a = (Tree::ROOT, root[1]);

    let a = tree.child_for(to_a, &at_a, keys, &mut bytes).expect("room");
    tree.back_up(&[to_a], Some(a), -0.95);
    let x = tree.child_for(over_x, &at_x, keys, &mut bytes).expect("room");
    tree.back_up(&[over_x], Some(x), 0.0);
    expand(&mut tree, x, 2);
    expand(&mut tree, a, 1);
    let [x_to_a, x_to_end] = [0, 1].map(|index| (x, edges(&tree, x)[index]));
    let end = tree.child_or_insert(x_to_end.1, Actor::Finished).expect("room");
    tree.back_up(&[over_x, x_to_end], Some(end), -0.9);
    assert_eq!(tree.child_for(x_to_a, &at_a, keys, &mut bytes), Some(a), "the node is shared");
    let a_to_end = (a, edges(&tree, a)[0]);
    let end = tree.child_or_insert(a_to_end.1, Actor::Finished).expect("room");
    tree.back_up(&[over_x, x_to_a, a_to_end], Some(end), 0.5);

    assert!(tree.node(Tree::ROOT).is_solved());
    assert_eq!(tree.node(Tree::ROOT).value(), 0.5);
    assert_eq!(told(&tree).into_iter().map(|(_, value)| value).collect::<Vec<_>>(), [-0.9, 0.5]);
    assert_eq!(choice(&tree), Action(1));
}

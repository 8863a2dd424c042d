//! The UCT agent against exact answers, and its tree against the laws of chance nodes.

use crate::solved_pig::{SolvedPig, pig_at};
use dervish_agents::agent::{Agent, Choice, Event};
use dervish_agents::doctrine::evaluation::CampaignEvaluation;
use dervish_agents::evaluation::{Evaluation, PlayToEnd};
use dervish_agents::limits::Limits;
use dervish_env::chance::{D6, Dice, SplitMix64, TWO_D6, agent_rng};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Action, Actor, MergedOutcome, Outcome, Position, Seat, WeightedOutcome};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{HOLD, Pig, ROLL};
use dervish_search::knowledge::Knowledge;
use dervish_search::leaf_options::LeafOptions;
use dervish_search::mcts::MctsSettings;
use dervish_search::mcts_agent::{Mcts, MctsOptions};
use dervish_search::reference::{ConnectFourEvaluation, PigEvaluation};
use dervish_search::tree::{KeyUse, SelectionRule, Standing, Tree, sign_of};

fn search<P: Position, E: Evaluation<P>>(position: &P, evaluation: E, options: MctsOptions, game: u64) -> Choice {
    let mut agent = Mcts::with_options(Knowledge::new(evaluation), options);
    agent.new_game(agent_rng(5, game, Seat::First));
    agent.choose(position, &Limits::default()).expect("a choice")
}

/// Random rollouts of so many decisions; 0: to the end of the game.
fn rollouts(depth: usize) -> LeafOptions {
    LeafOptions { depth, ..LeafOptions::default() }
}

#[test]
fn pig_near_the_end_is_played_as_the_exact_solution_says() {
    let solved = SolvedPig::new();
    // The published value of the whole game, which checks the solver itself.
    assert!((solved.turn[0][0] - 0.5306).abs() < 5e-5, "{}", solved.turn[0][0]);
    let options = MctsOptions { simulations: 30_000, leaf: rollouts(0), ..MctsOptions::default() };
    let mut kinds = [0; 2];
    for (first, second, running) in [
        (80, 96, 12),
        (80, 80, 4),
        (85, 98, 3),
        (85, 85, 13),
        (90, 90, 8),
        (88, 80, 11),
        (78, 98, 20),
        (92, 84, 6),
        (40, 40, 40),
        (30, 30, 45),
        (50, 40, 35),
    ] {
        let choices = solved.choices(usize::from(first), usize::from(second), usize::from(running));
        let (best, gap) =
            if choices[0] > choices[1] { (0, choices[0] - choices[1]) } else { (1, choices[1] - choices[0]) };
        assert!(gap > 0.02, "{first} {second} {running} is too even to test: {choices:?}");
        kinds[best] += 1;
        let choice = search(&pig_at(first, second, running), PlayToEnd, options, 0);
        assert_eq!(choice.action, [ROLL, HOLD][best], "{first} {second} {running}: {choices:?} {:?}", choice.report);
        if first < 70 {
            continue;
        }
        // UCT averages the tries of inferior choices in, its own and the opponent's, so near the end it comes close, far
        // from it only slowly. A search that knew a die before it falls would never lose a turn's points, and find
        // values near 1.
        let found = f64::from(choice.report.expect("a search reports").actions[best].value);
        let exact = 2.0 * choices[best] - 1.0;
        assert!((found - exact).abs() < 0.1, "{first} {second} {running}: found {found}, exact {exact}");
    }
    assert!(kinds[0] > 1 && kinds[1] > 1, "both actions must be right somewhere: {kinds:?}");
}

pub fn connect_four(columns: &str) -> ConnectFour {
    ConnectFour::after(columns).expect("legal columns")
}

#[test]
fn connect_four_wins_at_once_and_blocks() {
    // 1-2-3 on the ground for the player to move: column 4 wins. 1-2-3 of the opponent: column 4 is forced. Three
    // upright in column 1 by the opponent: column 1 is forced.
    for (columns, answer) in [("112233", 3), ("17273", 3), ("12121", 0)] {
        for game in 0..4 {
            let options = MctsOptions { simulations: 1500, leaf: rollouts(8), ..MctsOptions::default() };
            let choice = search(&connect_four(columns), ConnectFourEvaluation, options, game);
            assert_eq!(choice.action, Action(answer), "{columns}: {:?}", choice.report);
        }
    }
}

#[test]
fn the_report_accounts_for_every_simulation() {
    let position = connect_four("44");
    let options = MctsOptions { simulations: 500, ..MctsOptions::default() };
    let choice = search(&position, ConnectFourEvaluation, options, 0);
    let report = choice.report.expect("a search reports");
    assert_eq!(report.simulations, 500);
    assert_eq!(report.actions.iter().map(|action| action.visits).sum::<u32>(), 500);
    let mut legal = Vec::new();
    position.legal_actions_into(&mut legal);
    assert_eq!(report.actions.iter().map(|action| action.action).collect::<Vec<_>>(), legal);
    // Each simulation adds one node at most, the root is there before.
    assert!((100..=501).contains(&report.nodes) && report.depth > 2, "{report:?}");
}

#[test]
fn a_sure_win_ends_the_search_on_either_seat() {
    let options = MctsOptions { simulations: 500, ..MctsOptions::default() };
    for (columns, seat) in [("112233", Seat::First), ("7112233", Seat::Second)] {
        let report = search(&connect_four(columns), ConnectFourEvaluation, options, 0).report.expect("a report");
        // The winning column is worth exactly 1 to the player, and the line ends with it.
        assert_eq!((report.actions[3].value, report.value), (1.0, 1.0));
        assert_eq!(report.principal_variation, [Event::Played(seat, Action(3))]);
        // It is found when it is first tried, after the six others at the latest.
        assert!(report.simulations <= 7, "{}", report.simulations);
    }
}

#[test]
fn the_same_stream_gives_the_same_choices() {
    let options = MctsOptions { simulations: 300, ..MctsOptions::default() };
    for position in [connect_four(""), connect_four("44"), connect_four("4354")] {
        let choice = search(&position, ConnectFourEvaluation, options, 1);
        assert_eq!(choice, search(&position, ConnectFourEvaluation, options, 1));
        assert_ne!(choice.report, search(&position, ConnectFourEvaluation, options, 2).report);
        let other = MctsOptions { seed: 1, ..options };
        assert_ne!(choice.report, search(&position, ConnectFourEvaluation, other, 1).report);
    }
    // What an agent did before does not matter.
    let mut used = Mcts::with_options(Knowledge::new(ConnectFourEvaluation), options);
    used.new_game(agent_rng(5, 9, Seat::Second));
    used.choose(&connect_four("1234"), &Limits::default()).expect("a choice");
    used.new_game(agent_rng(5, 1, Seat::First));
    let choice = used.choose(&connect_four("44"), &Limits::default()).expect("a choice");
    assert_eq!(choice, search(&connect_four("44"), ConnectFourEvaluation, options, 1));
}

/// The same through the dice and the merged combats of the campaign.
#[test]
fn the_same_stream_gives_the_same_choices_in_the_campaign() {
    let options = MctsOptions { simulations: 60, ..MctsOptions::default() };
    let evaluation = CampaignEvaluation::default;
    let mut used = Mcts::with_options(Knowledge::new(evaluation()), options);
    let (mut dice, mut legal) = (Dice::new(6), Vec::new());
    let (mut searched, mut streams_differ) = (0, 0);
    let mut position = Campaign::new(Scenario::builtin("souakim").expect("built in"));
    while searched < 60 {
        match position.actor() {
            Actor::Finished => break,
            Actor::Chance => position.resolve_possible(dice.roll(&position)),
            Actor::Player(_) => {
                let fresh = search(&position, evaluation(), options, 1);
                used.new_game(agent_rng(5, 1, Seat::First));
                let again = used.choose(&position, &Limits::default()).expect("a choice");
                assert_eq!(again, fresh, "{}", position.pending_text());
                let other = search(&position, evaluation(), options, 2);
                streams_differ += usize::from(other.report != fresh.report);
                searched += 1;
                position.legal_actions_into(&mut legal);
                position.apply(legal[searched % legal.len()]).expect("legal");
            }
        }
    }
    assert!(searched > 30 && 2 * streams_differ > searched, "{streams_differ} of {searched}");
}

#[test]
fn choices_do_not_depend_on_dice_that_are_still_to_fall() {
    let options = MctsOptions { simulations: 60, ..MctsOptions::default() };
    let play = |dice_seed: u64| {
        let mut agent = Mcts::with_options(Knowledge::new(PigEvaluation), options);
        agent.new_game(agent_rng(5, 0, Seat::First));
        let mut dice = Dice::new(dice_seed);
        let mut position = Pig::new();
        let mut events = Vec::new();
        while position.actor() != Actor::Finished {
            if let Actor::Player(seat) = position.actor() {
                let choice = agent.choose(&position, &Limits::default()).expect("a choice");
                position.apply(choice.action).expect("a legal choice");
                events.push(Event::Played(seat, choice.action));
            } else {
                let roll = dice.roll(&position);
                position.resolve(roll).expect("a throw");
                events.push(Event::Rolled(roll));
            }
        }
        events
    };
    let games: Vec<Vec<Event>> = (0..12).map(play).collect();
    let mut after_choices = 0;
    for (index, game) in games.iter().enumerate() {
        for other in &games[..index] {
            let first = game.iter().zip(other).position(|(a, b)| a != b).expect("different dice");
            // Two games part at a throw, never at a choice.
            assert!(matches!((game[first], other[first]), (Event::Rolled(_), Event::Rolled(_))), "parted at {first}");
            after_choices += usize::from(game[..first].iter().any(|event| matches!(event, Event::Played(..))));
        }
    }
    assert!(after_choices >= 5, "too few games had a choice before they parted: {after_choices}");
}

/// A roll is worth the mean over its draws until they must have met every outcome, and from then on what its outcomes weigh.
#[test]
fn rolls_are_visited_in_proportion_and_averaged() {
    let mut rng = SplitMix64::new(3);
    let mut tree = Tree::new(1 << 20);
    tree.reset(Actor::Chance);
    assert!(tree.expand_roll(Tree::ROOT, &TWO_D6, &mut rng));
    // The value of a sum is the sum itself over 12, so the weighted mean over all sums is 7/12.
    let mut drawn = 0.0;
    for visit in 1..=150 {
        let edge = tree.select_outcome(Tree::ROOT, 1.0);
        let sum = tree.rolls(edge)[0].0;
        let leaf = tree.child_or_insert(edge, Actor::Player(Seat::First));
        tree.back_up(&[(Tree::ROOT, edge)], leaf, f64::from(sum) / 12.0);
        drawn += f64::from(sum) / 12.0;
        // One throw in 36 makes a 2: three times 36 draws are enough to be sure of it.
        let mean = if visit < 108 { drawn / f64::from(visit) } else { 7.0 / 12.0 };
        let value = tree.node(Tree::ROOT).value();
        assert!((value - mean).abs() < 1e-9, "visit {visit}: {value}");
        if visit == 36 {
            // As many visits as the weights sum to give each outcome exactly its weight.
            assert!((value - 7.0 / 12.0).abs() < 1e-9);
            for edge in tree.edges(Tree::ROOT) {
                let sum = (edge.value * 12.0).round() as i32;
                assert_eq!(edge.visits as i32, 6 - (sum - 7).abs(), "{sum}");
            }
        }
    }
}

/// However few visits a roll had, on average over its draws it is worth what the dice make of it: 2D6 are at least 6 in 26 of
/// 36 throws, 8 in 15, 9 in 10 and 11 in 3; of merged outcomes the last few count here, as rare as the ways to lose a march or a
/// combat. (To visit the likeliest first would find 1, 0, 0, 0, 0 and 0 with one visit; to weigh what was met by its
/// probability finds 0.125 of the march after two visits and 0.089 of the combat after 24.)
#[test]
fn few_visits_of_a_roll_expect_what_the_dice_do() {
    const TREES: u64 = 10_000;
    const VISITS: [u32; 9] = [1, 2, 3, 4, 6, 8, 16, 24, 40];
    let merged = |weights: &[u32]| -> Vec<WeightedOutcome> {
        let outcomes = weights.iter().zip(1..);
        outcomes.map(|(&weight, outcome)| WeightedOutcome { outcome: Outcome(outcome), weight }).collect()
    };
    for (outcomes, least, chance) in [
        (TWO_D6.to_vec(), 6, 26.0 / 36.0),
        (TWO_D6.to_vec(), 8, 15.0 / 36.0),
        (TWO_D6.to_vec(), 9, 10.0 / 36.0),
        (TWO_D6.to_vec(), 11, 3.0 / 36.0),
        (merged(&[5, 1]), 2, 1.0 / 6.0),
        (merged(&[60, 30, 15, 10, 6, 4, 2, 1, 1, 1]), 5, 15.0 / 130.0),
    ] {
        let mut sums = [0.0; VISITS.len()];
        for seed in 0..TREES {
            let mut tree = Tree::new(1 << 20);
            tree.reset(Actor::Chance);
            assert!(tree.expand_roll(Tree::ROOT, &outcomes, &mut SplitMix64::new(seed)));
            for visit in 1..=40 {
                let edge = tree.select_outcome(Tree::ROOT, 1.0);
                let value = if tree.rolls(edge)[0].0 >= least { 1.0 } else { 0.0 };
                tree.back_up(&[(Tree::ROOT, edge)], None, value);
                if let Some(place) = VISITS.iter().position(|&visits| visits == visit) {
                    sums[place] += tree.node(Tree::ROOT).value();
                }
            }
        }
        for (visits, sum) in VISITS.into_iter().zip(sums) {
            let mean = sum / TREES as f64;
            // Four standard errors, had the draws of a tree been independent; evenly spread ones differ less.
            let error = (chance * (1.0 - chance) / (f64::from(visits) * TREES as f64)).sqrt();
            assert!((mean - chance).abs() < 4.0 * error, "{chance} after {visits} visits: {mean}");
        }
    }
}

/// With an exponent of 0.5, n visits begin at most as many outcomes as the root of n, rounded up (Couëtoux et al. 2011): another
/// one may begin while there are fewer than the root of the visit's number. Which one is a fair draw.
#[test]
fn outcomes_are_widened_by_the_root_of_the_visits() {
    let sevens = (0..3600).filter(|&seed| {
        let mut tree = Tree::new(1 << 20);
        tree.reset(Actor::Chance);
        assert!(tree.expand_roll(Tree::ROOT, &TWO_D6, &mut SplitMix64::new(seed)));
        let edge = tree.select_outcome(Tree::ROOT, 0.5);
        tree.rolls(edge)[0] == Outcome(7)
    });
    // One in six, with a standard deviation of 22.
    let sevens = sevens.count();
    assert!((520..=680).contains(&sevens), "{sevens}");
    for seed in 0..4 {
        let mut tree = Tree::new(1 << 20);
        tree.reset(Actor::Chance);
        assert!(tree.expand_roll(Tree::ROOT, &TWO_D6, &mut SplitMix64::new(seed)));
        let mut begun = Vec::new();
        for visit in 1..=121_usize {
            let edge = tree.select_outcome(Tree::ROOT, 0.5);
            let sum = tree.rolls(edge)[0].0;
            if tree.edge(edge).visits == 0 {
                begun.push(sum);
            }
            tree.back_up(&[(Tree::ROOT, edge)], None, f64::from(sum) / 12.0);
            let rounded_up = (1..).find(|root| root * root >= visit).expect("a root");
            assert!(begun.len() <= rounded_up.min(11), "visit {visit}: {begun:?}");
        }
        // A draw may meet what has begun already, but not for long.
        assert!(begun.len() >= 8, "{begun:?}");
        // The weights sum to 36: then the lightest has its share as well.
        let mut tree = Tree::new(1 << 20);
        tree.reset(Actor::Chance);
        assert!(tree.expand_roll(Tree::ROOT, &TWO_D6, &mut SplitMix64::new(seed)));
        for _ in 0..36 {
            let edge = tree.select_outcome(Tree::ROOT, 1.0);
            tree.back_up(&[(Tree::ROOT, edge)], None, 0.0);
        }
        assert!(tree.edges(Tree::ROOT).iter().all(|edge| edge.visits > 0));
    }
}

/// A tree with three actions that were tried once each and are worth 0.5, 0.4 and 0.3 to `seat`; each has a third of the prior.
fn three_tried(seat: Seat) -> Tree {
    let mut tree = Tree::new(1 << 20);
    tree.reset(Actor::Player(seat));
    assert!(tree.expand_with_priors(Tree::ROOT, &[Action(0), Action(1), Action(2)], &[1.0 / 3.0; 3]));
    for (edge, worth) in tree.edge_ids(Tree::ROOT).zip([0.5, 0.4, 0.3]).collect::<Vec<_>>() {
        tree.enter(edge);
        tree.back_up(&[(Tree::ROOT, edge)], None, sign_of(seat) * worth);
    }
    tree
}

/// A simulation that is on its way counts as a loss for who decides, whichever seat that is: the next one goes another way.
/// When it has come back nothing is left of that.
#[test]
fn simulations_on_their_way_send_the_next_one_elsewhere() {
    const UCT: SelectionRule = SelectionRule::Uct { exploration: 0.1 };
    const PUCT: SelectionRule = SelectionRule::Puct { exploration: 0.1 };
    for (seat, rule) in Seat::BOTH.into_iter().flat_map(|seat| [(seat, UCT), (seat, PUCT)]) {
        let mut tree = three_tried(seat);
        let select = |tree: &Tree| tree.edge(tree.select_action(Tree::ROOT, seat, rule)).action;
        // With a visit and a loss on its way 0.5 is (0.5 - 1) / 2 = -0.25, 0.4 is -0.3 and 0.3 is -0.35; exploration adds at
        // most 0.1 sqrt(ln 3) = 0.11.
        let ways: Vec<_> = (0..3)
            .map(|_| {
                let edge = tree.select_action(Tree::ROOT, seat, rule);
                tree.enter(edge);
                (Tree::ROOT, edge)
            })
            .collect();
        let taken: Vec<_> = ways.iter().map(|&(_, edge)| tree.edge(edge).action).collect();
        assert_eq!(taken, [Action(0), Action(1), Action(2)], "{seat:?} {rule:?}");
        // Until then visits and values are those of what is known.
        assert!(tree.edges(Tree::ROOT).iter().all(|edge| edge.visits == 1));
        for (&way, worth) in ways.iter().zip([0.5, 0.4, 0.3]) {
            tree.back_up(&[way], None, sign_of(seat) * worth);
        }
        let mut one_by_one = three_tried(seat);
        for (&way, worth) in ways.iter().zip([0.5, 0.4, 0.3]) {
            one_by_one.back_up(&[way], None, sign_of(seat) * worth);
        }
        for (edge, expected) in tree.edges(Tree::ROOT).iter().zip(one_by_one.edges(Tree::ROOT)) {
            assert_eq!((edge.visits, edge.value), (expected.visits, expected.value), "{seat:?} {rule:?}");
        }
        assert_eq!((select(&tree), select(&one_by_one)), (Action(0), Action(0)), "{seat:?} {rule:?}");
        // Losses on the way add up: two of them send a second round the same ways.
        for expected in [0, 1, 2, 0, 1, 2] {
            let edge = tree.select_action(Tree::ROOT, seat, rule);
            assert_eq!(tree.edge(edge).action, Action(expected), "{seat:?} {rule:?}");
            tree.enter(edge);
        }
    }
}

/// What was entered is no longer untried: the first simulations of a batch try all actions and all outcomes.
#[test]
fn simulations_of_one_batch_try_everything_once() {
    let mut rng = SplitMix64::new(3);
    for rule in [SelectionRule::Uct { exploration: 1.0 }, SelectionRule::Puct { exploration: 1.0 }] {
        let mut tree = Tree::new(1 << 20);
        tree.reset(Actor::Player(Seat::First));
        assert!(tree.expand_with_priors(Tree::ROOT, &[0, 1, 2, 3].map(Action), &[0.25; 4]));
        let mut tried = [0; 4].map(|_| {
            let edge = tree.select_action(Tree::ROOT, Seat::First, rule);
            tree.enter(edge);
            tree.edge(edge).action.0
        });
        tried.sort_unstable();
        assert_eq!(tried, [0, 1, 2, 3], "{rule:?}");
    }
    let mut tree = Tree::new(1 << 20);
    tree.reset(Actor::Chance);
    assert!(tree.expand_roll(Tree::ROOT, &D6, &mut rng));
    let mut faces = [0; 6].map(|_| {
        let edge = tree.select_outcome(Tree::ROOT, 1.0);
        tree.enter(edge);
        tree.rolls(edge)[0].0
    });
    faces.sort_unstable();
    assert_eq!(faces, [1, 2, 3, 4, 5, 6]);
    // The search itself: as many simulations as there are columns, all under way at once.
    let settings = MctsSettings { batch: 7, ..MctsSettings::default() };
    let options = MctsOptions { simulations: 7, settings, ..MctsOptions::default() };
    let report = search(&connect_four(""), ConnectFourEvaluation, options, 0).report.expect("a report");
    assert_eq!(report.actions.iter().map(|action| action.visits).collect::<Vec<_>>(), [1; 7]);
}

#[test]
fn a_merged_procedure_is_one_chance_node() {
    let mut rng = SplitMix64::new(3);
    let mut tree = Tree::new(1 << 20);
    tree.reset(Actor::Chance);
    let merged = [
        MergedOutcome { weight: 27, rolls: vec![Outcome(2), Outcome(5)] },
        MergedOutcome { weight: 9, rolls: vec![Outcome(6)] },
    ];
    assert!(tree.expand_merged(Tree::ROOT, &merged, &mut rng));
    for _ in 0..36 {
        let edge = tree.select_outcome(Tree::ROOT, 1.0);
        let value = if tree.rolls(edge) == [Outcome(6)] { 1.0 } else { 0.0 };
        tree.back_up(&[(Tree::ROOT, edge)], None, value);
    }
    assert!((tree.node(Tree::ROOT).value() - 9.0 / 36.0).abs() < 1e-12);
    let likeliest = tree.likeliest(Tree::ROOT).expect("visited");
    assert_eq!(tree.rolls(likeliest), [Outcome(2), Outcome(5)]);
    assert_eq!(tree.edge(likeliest).visits, 27);
}

#[test]
fn several_decisions_of_one_player_keep_their_sign() {
    const RULE: SelectionRule = SelectionRule::Uct { exploration: 0.5 };
    // The second seat decides twice in a row: both times the action that is worst for the first seat must prevail.
    let mut rng = SplitMix64::new(8);
    let mut tree = Tree::new(1 << 20);
    tree.reset(Actor::Player(Seat::Second));
    assert!(tree.expand_decision(Tree::ROOT, &[Action(0), Action(1)], &mut rng));
    for _ in 0..400 {
        let first = tree.select_action(Tree::ROOT, Seat::Second, RULE);
        let child = tree.child_or_insert(first, Actor::Player(Seat::Second)).expect("room");
        if !tree.node(child).is_expanded() {
            assert!(tree.expand_decision(child, &[Action(0), Action(1)], &mut rng));
        }
        let second = tree.select_action(child, Seat::Second, RULE);
        let pair = (tree.edge(first).action, tree.edge(second).action);
        // A loss for the first seat only by 1 and then 0.
        let value = if pair == (Action(1), Action(0)) { -1.0 } else { 1.0 };
        tree.back_up(&[(Tree::ROOT, first), (child, second)], None, value);
    }
    let first = tree.likeliest(Tree::ROOT).expect("visited");
    assert_eq!(tree.edge(first).action, Action(1));
    let second = tree.likeliest(tree.edge(first).child().expect("a child")).expect("visited");
    assert_eq!(tree.edge(second).action, Action(0));
    assert_eq!(tree.edge(second).value, -1.0);
}

/// A node that is reached in two ways and solved through one: the edge of the other way has its value with the next visit, and
/// so has its node, even where the edge happened to have that value before.
#[test]
fn an_edge_learns_what_was_solved_through_another_way() {
    for before in [0.5, -1.0] {
        learns_what_was_solved_through_another_way(before);
    }
}

fn learns_what_was_solved_through_another_way(before: f64) {
    const KEYS: KeyUse = KeyUse { keep: false, share: true };
    let (mut rng, mut bytes) = (SplitMix64::new(3), Vec::new());
    let mut tree = Tree::new(1 << 20);
    tree.reset(Actor::Player(Seat::First));
    let mut go = |tree: &mut Tree, node, action, columns| {
        assert!(tree.node(node).is_expanded() || tree.expand_decision(node, &[Action(0), Action(1)], &mut rng));
        let edge = tree.edge_ids(node).find(|&edge| tree.edge(edge).action == Action(action)).expect("an action");
        let child = tree.child_for((node, edge), &connect_four(columns), KEYS, &mut bytes).expect("room");
        ((node, edge), child)
    };
    // The same position by 1 7 3 and by 3 7 1; Second is to move there, and wins at once.
    let (first, node) = go(&mut tree, Tree::ROOT, 0, "1");
    let (second, node) = go(&mut tree, node, 0, "17");
    let (third, shared) = go(&mut tree, node, 0, "173");
    tree.back_up(&[first, second, third], Some(shared), before);
    let (other_first, node) = go(&mut tree, Tree::ROOT, 1, "3");
    let (other_second, parent) = go(&mut tree, node, 0, "37");
    let (other_third, same) = go(&mut tree, parent, 0, "371");
    assert_eq!(shared, same);
    let other_way = [other_first, other_second, other_third];
    tree.back_up(&other_way, Some(shared), before);
    let (last, end) = go(&mut tree, shared, 0, "1122334");
    tree.back_up(&[first, second, third, last], Some(end), -1.0);
    assert_eq!(tree.solved_value(shared), Some(-1.0));
    let standing = |tree: &Tree, (_, edge): (_, _)| tree.standing(tree.edge(edge));
    assert_eq!((standing(&tree, third), standing(&tree, other_third)), (Standing::Settled, Standing::Behind));
    assert_eq!(tree.edge(other_third.1).value, before);
    // First decides there and has another action, which is not tried yet; what is known already comes before it.
    assert_eq!(tree.select_action(parent, Seat::First, SelectionRule::Puct { exploration: 1.0 }), other_third.1);
    tree.back_up(&other_way, None, -1.0);
    assert_eq!((standing(&tree, other_third), tree.edge(other_third.1).value), (Standing::Settled, -1.0));
    assert_ne!(tree.select_action(parent, Seat::First, SelectionRule::Puct { exploration: 1.0 }), other_third.1);
}

#[test]
fn memory_is_bounded_and_a_full_tree_still_answers() {
    let options = MctsOptions {
        simulations: 60_000,
        leaf: rollouts(1),
        settings: MctsSettings { memory: 1, ..MctsSettings::default() },
        ..MctsOptions::default()
    };
    let mut agent = Mcts::with_options(Knowledge::new(PigEvaluation), options);
    agent.new_game(agent_rng(5, 0, Seat::First));
    let choice = agent.choose(&pig_at(40, 40, 30), &Limits::default()).expect("a choice");
    let bytes = agent.tree().bytes();
    assert!(bytes <= 1 << 20, "{bytes}");
    assert!(bytes > (1 << 20) - 1024, "the test must fill the tree: {bytes}");
    // 30 points at 40-40 are beyond every published holding line.
    assert_eq!(choice.action, HOLD);
    assert_eq!(choice.report.expect("a search reports").simulations, 60_000);
}

#[test]
fn dice_are_uniform_in_a_search_of_one_die() {
    // Six visits of a fresh D6 node see each face once, in an order that the stream decides.
    let mut firsts = Vec::new();
    for seed in 0..40 {
        let mut tree = Tree::new(1 << 20);
        tree.reset(Actor::Chance);
        assert!(tree.expand_roll(Tree::ROOT, &D6, &mut SplitMix64::new(seed)));
        let mut faces = Vec::new();
        for _ in 0..6 {
            let edge = tree.select_outcome(Tree::ROOT, 1.0);
            faces.push(tree.rolls(edge)[0].0);
            tree.back_up(&[(Tree::ROOT, edge)], None, 0.0);
        }
        firsts.push(faces[0]);
        faces.sort_unstable();
        assert_eq!(faces, [1, 2, 3, 4, 5, 6]);
    }
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts, [1, 2, 3, 4, 5, 6], "every face comes first for some stream");
}

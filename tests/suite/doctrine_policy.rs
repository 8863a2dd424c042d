//! Doctrine within searches: as the prior of their actions and as what plays their rollouts.

use dervish_agents::agent::Agent;
use dervish_agents::doctrine::Doctrine;
use dervish_agents::doctrine::evaluation::CampaignEvaluation;
use dervish_agents::doctrine::policy::DoctrinePolicy;
use dervish_agents::limits::Limits;
use dervish_env::chance::{Dice, agent_rng};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Action, Actor, Position, Seat};
use dervish_search::knowledge::Knowledge;
use dervish_search::leaf_options::LeafOptions;
use dervish_search::mcts::MctsSettings;
use dervish_search::mcts_agent::{Mcts, MctsOptions};
use dervish_search::simulation::SimulationRules;
use dervish_search::tree::{SelectionRule, Tree};
use dervish_training::arena::agents::ArenaGame;

/// What a score may differ from the best and be as good: doctrine's own measure.
const EQUAL: f32 = 2e-5;

/// Every decision with a choice in a game of scenario 3 between doctrines, with the scores of its actions.
fn scored_decisions() -> Vec<(Campaign, Vec<(Action, f32)>)> {
    let mut doctrine = Doctrine::default();
    doctrine.new_game(agent_rng(2, 0, Seat::First));
    let mut position = Campaign::new(Scenario::builtin("souakim").expect("built in"));
    let (mut dice, mut found) = (Dice::new(2), Vec::new());
    loop {
        match position.actor() {
            Actor::Finished => return found,
            Actor::Chance => position.resolve_possible(dice.roll(&position)),
            Actor::Player(_) => {
                let mut scored = Vec::new();
                doctrine.score_into(&position, &mut scored);
                if scored.len() > 1 {
                    found.push((position, scored));
                }
                let choice = doctrine.choose(&position, &Limits::default()).expect("a choice");
                position.apply(choice.action).expect("legal");
            }
        }
    }
}

/// The actions that doctrine would play, by what they lack of the best score.
fn lacks(scored: &[(Action, f32)], action: Action) -> f32 {
    let best = scored.iter().map(|(_, score)| *score).fold(f32::MIN, f32::max);
    best - scored.iter().find(|(known, _)| *known == action).expect("legal").1
}

/// The root's priors under `prior=doctrine`: a distribution over the legal actions that prefers what doctrine plays, and
/// leaves every action something. The gumbel agent that has a single simulation plays by it alone.
#[test]
fn the_highest_prior_is_doctrines_answer() {
    let knowledge =
        Knowledge::new(CampaignEvaluation::default()).with_policy("doctrine", DoctrinePolicy::new(Doctrine::default()));
    let rules = SimulationRules { selection: SelectionRule::Puct { exploration: 1.0 }, ..SimulationRules::default() };
    let options = MctsOptions {
        simulations: 2,
        leaf: LeafOptions { prior: "doctrine", rollout: None, depth: 0 },
        settings: MctsSettings { rules, ..MctsSettings::default() },
        ..MctsOptions::default()
    };
    let mut mcts = Mcts::with_options(knowledge, options);
    let mut gumbel = Campaign::agents().factory("gumbel:sims=1,prior=doctrine,rollout=none").expect("an agent").make();
    gumbel.new_game(agent_rng(5, 0, Seat::First));
    let decisions = scored_decisions();
    let mut decided = 0;
    for (position, scored) in &decisions {
        let text = position.pending_text();
        mcts.new_game(agent_rng(5, 0, Seat::First));
        mcts.choose(position, &Limits::default()).expect("a choice");
        let mut priors: Vec<(Action, f32)> =
            mcts.tree().edges(Tree::ROOT).iter().map(|edge| (edge.action, edge.prior)).collect();
        let sum: f32 = priors.iter().map(|(_, prior)| prior).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{text}: {sum}");
        priors.sort_by_key(|(action, _)| *action);
        let mut legal: Vec<Action> = scored.iter().map(|(action, _)| *action).collect();
        legal.sort_unstable();
        assert_eq!(priors.iter().map(|(action, _)| *action).collect::<Vec<_>>(), legal, "{text}");

        let highest = priors.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best });
        let (highest, prior) = highest.expect("a prior");
        assert!(lacks(scored, highest) < EQUAL, "{text}: {highest:?} of {scored:?}");
        // A fifth of the probability is everybody's alike; the higher score has the higher prior.
        let share = 0.2 / legal.len() as f32;
        assert!(priors.iter().all(|(_, prior)| *prior > 0.99 * share), "{text}: {priors:?}");
        let chosen = gumbel.choose(position, &Limits::default()).expect("a choice").action;
        assert!(lacks(scored, chosen) < EQUAL, "{text}: {chosen:?} of {scored:?}");
        // Where doctrine has one answer, it stands out.
        if scored.iter().filter(|(action, _)| lacks(scored, *action) < 0.1).count() == 1 {
            decided += 1;
            assert!(prior > 1.1 / legal.len() as f32, "{text}: {prior} of {}", legal.len());
        }
    }
    assert!(decided > 20, "{decided} of {} decisions", decisions.len());
}

/// Without doctrine the priors are all alike, so that the test above tells of doctrine.
#[test]
fn the_random_prior_prefers_nothing() {
    let mut gumbel = Campaign::agents().factory("gumbel:sims=1,rollout=none").expect("an agent").make();
    gumbel.new_game(agent_rng(5, 0, Seat::First));
    let off = scored_decisions().into_iter().filter(|(position, scored)| {
        let chosen = gumbel.choose(position, &Limits::default()).expect("a choice").action;
        lacks(scored, chosen) >= EQUAL
    });
    assert!(off.count() > 10);
}

/// Rollouts by doctrine, to the end of the game or for a few decisions, serve every kind of decision, in searches of both
/// seats; as far as a game has no doctrine of its own, it is refused.
#[test]
fn rollouts_by_doctrine_play_whole_games() {
    for (name, specs) in [
        ("tiny", ["mcts:sims=8,rollout=doctrine,depth=0", "gumbel:sims=8,rollout=doctrine,prior=doctrine,depth=0"]),
        (
            "kordofan",
            ["mcts:sims=2,rollout=doctrine,select=puct,prior=doctrine,depth=4", "gumbel:sims=2,rollout=doctrine"],
        ),
    ] {
        let registry = Campaign::agents();
        let mut agents = specs.map(|spec| {
            let mut agent = registry.factory(spec).expect("an agent").make();
            agent.new_game(agent_rng(1, 0, Seat::First));
            agent
        });
        let mut position = PositionFile::start(name).expect("built in").position;
        let (mut dice, mut searched) = (Dice::new(3), 0);
        loop {
            match position.actor() {
                Actor::Finished => break,
                Actor::Chance => position.resolve(dice.roll(&position)).expect("a roll"),
                Actor::Player(seat) => {
                    let choice = agents[seat.index()].choose(&position, &Limits::default()).expect("a choice");
                    searched += usize::from(choice.report.is_some_and(|report| report.simulations > 0));
                    position.apply(choice.action).expect("legal");
                }
            }
        }
        assert!(searched > 0 && position.result().is_some(), "{name}");
    }
    let refused = Campaign::agents().factory("mcts:rollout=dogma").expect_err("no such policy").to_string();
    assert!(refused.ends_with("rollout=dogma is not one of random, doctrine, none"), "{refused}");
}

/// A rollout by doctrine is a game of doctrine: behind an action it finds what such games end with. In the last turn of
/// scenario 3, where one march decides, both rollouts tell the winner of a position in which nothing else can happen.
#[test]
fn rollouts_by_doctrine_are_played_by_doctrine() {
    let position = PositionFile::load(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/solved/march_on_el_teb_or_tamai.json"),
    )
    .expect("a position")
    .position;
    let value = |spec: &str| {
        let mut agent = Campaign::agents().factory(spec).expect("an agent").make();
        agent.new_game(agent_rng(5, 0, Seat::First));
        agent.choose(&position, &Limits::default()).expect("a choice").report.expect("a report")
    };
    // One simulation for each action: its value is that of the rollout. Doctrine marches on to Tamai behind the order to
    // march and wins two games of three more than it loses; random play hardly ever gets there.
    let mean = |policy: &str| {
        let report = value(&format!("gumbel:sims=64,rollout={policy},depth=0"));
        f64::from(report.value)
    };
    assert!(mean("doctrine") > 0.4, "{}", mean("doctrine"));
}

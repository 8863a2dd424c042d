//! The registry, the limits and the random agent.

use dervish_agents::agent::{Agent, AgentError, Choice, SearchReport};
use dervish_agents::limits::{Limits, MoveBudget, TurnLedger};
use dervish_agents::policy::Uniform;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::{AgentFactory, AgentOptions, Configure, KindDoc, OptionDoc, Registry, SpecError};
use dervish_agents::thinking::Thinking;
use dervish_env::chance::agent_rng;
use dervish_env::game::{Action, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{Pig, ROLL};
use dervish_search::gumbel_agent::Gumbel;
use dervish_search::knowledge::Knowledge;
use dervish_search::mcts_agent::Mcts;
use dervish_search::reference::PigEvaluation;
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

fn pig_agents() -> Registry<Pig> {
    let mut registry = Registry::new();
    registry.register(Mcts::new(Knowledge::new(PigEvaluation)));
    registry
}

/// `mcts:sims=50,seed=7` with every option written out.
const SPELLED_OUT: &str = "mcts:sims=50,select=uct,c=1,prior=random,rollout=random,depth=20,margin=0,merged=true,widen=1,\
    share=true,reuse=true,batch=1,threads=1,parallel=tree,memory=64,seed=7";

#[test]
fn a_spec_becomes_an_agent_that_spells_it_out() {
    let factory = pig_agents().factory("mcts:sims=50,seed=7").expect("a good spec");
    assert_eq!(factory.spec(), SPELLED_OUT);
    assert_eq!(factory.make().spec(), factory.spec());
    // What an agent spells out makes it again.
    assert_eq!(pig_agents().factory(factory.spec()).expect("a good spec").spec(), factory.spec());
    assert_eq!(pig_agents().factory("random").expect("a good spec").spec(), "random:seed=0");
}

#[test]
fn what_is_wrong_with_a_spec_is_said_in_one_line() {
    for (spec, expected) in [
        ("minimax", "unknown agent 'minimax'; there are: mcts, random"),
        ("", "unknown agent ''; there are: mcts, random"),
        ("random:sims=4", "agent 'random' has no option 'sims'; there are: seed"),
        (
            "mcts:sim=4",
            "agent 'mcts' has no option 'sim'; there are: sims, select, c, prior, rollout, depth, margin, merged, widen, \
             share, reuse, batch, threads, parallel, memory, seed",
        ),
        ("mcts:select=best", "agent 'mcts': select=best is not one of uct, puct"),
        ("mcts:rollout=doctrine", "agent 'mcts': rollout=doctrine is not one of random, none"),
        ("mcts:400", "agent 'mcts': '400' is not of the form option=value"),
        ("mcts:sims=4,", "agent 'mcts': '' is not of the form option=value"),
        ("mcts:sims=4,sims=5", "agent 'mcts': option 'sims' is given twice"),
        ("mcts:sims=0", "agent 'mcts': sims=0 is not a number from 1 to 4294967295"),
        // A comma written twice belongs to the value, three are one and a separator.
        ("mcts:sims=4,,seed=7", "agent 'mcts': sims=4,seed=7 is not a number from 1 to 4294967295"),
        ("mcts:sims=4,,,seed=7", "agent 'mcts': sims=4, is not a number from 1 to 4294967295"),
        ("mcts:c=NaN", "agent 'mcts': c=NaN is not a number from 0 to 1000"),
        ("mcts:merged=yes", "agent 'mcts': merged=yes is not true or false"),
    ] {
        let error = pig_agents().factory(spec).expect_err(spec).to_string();
        assert_eq!(error, expected, "{spec}");
    }
}

/// Mcts and Gumbel search for pig with a policy beside the random one.
fn searches_with_a_policy() -> Registry<Pig> {
    let knowledge = || Knowledge::new(PigEvaluation).with_policy("even", Uniform);
    let mut registry = Registry::new();
    registry.register(Mcts::new(knowledge()));
    registry.register(Gumbel::new(knowledge()));
    registry
}

/// What an option cannot do beside another is refused; its default is not, which every spec that is written out has.
#[test]
fn options_that_would_be_ignored_are_refused() {
    let registry = searches_with_a_policy();
    for (spec, expected) in [
        // UCT follows no priors.
        ("mcts:prior=even", "agent 'mcts': prior=even is not used with select=uct"),
        ("mcts:select=uct,prior=even,rollout=even", "agent 'mcts': prior=even is not used with select=uct"),
        // Without rollouts there is no depth of one.
        ("mcts:rollout=none,depth=0", "agent 'mcts': depth=0 is not used with rollout=none"),
        ("mcts:select=puct,depth=21,rollout=none", "agent 'mcts': depth=21 is not used with rollout=none"),
        ("gumbel:rollout=none,depth=0", "agent 'gumbel': depth=0 is not used with rollout=none"),
        // One thread has one tree.
        ("mcts:parallel=root", "agent 'mcts': parallel=root is not used with threads=1"),
        ("mcts:threads=1,parallel=root", "agent 'mcts': parallel=root is not used with threads=1"),
    ] {
        assert_eq!(registry.factory(spec).expect_err(spec).to_string(), expected);
    }
}

/// Every combination of the options that depend on each other is refused, or makes an agent whose spec makes it again.
#[test]
fn what_is_accepted_is_accepted_as_it_is_spelled_out() {
    let registry = searches_with_a_policy();
    let (mut accepted, mut tried) = (0, 0);
    let priors = ["", ",prior=random", ",prior=even"];
    let rollouts = ["", ",rollout=random", ",rollout=even", ",rollout=none"];
    let depths = ["", ",depth=20", ",depth=0", ",depth=4"];
    let of_mcts = ["", ",select=puct", ",threads=2", ",parallel=tree", ",threads=2,parallel=root", ",parallel=root"];
    for (agent, more) in of_mcts.map(|more| ("mcts:sims=9", more)).into_iter().chain([("gumbel:sims=9", "")]) {
        for prior in priors {
            for rollout in rollouts {
                for depth in depths {
                    let spec = format!("{agent}{more}{prior}{rollout}{depth}");
                    let uct = agent.starts_with("mcts") && !more.contains("puct");
                    let ignored = (uct && prior == ",prior=even")
                        || (rollout == ",rollout=none" && [",depth=0", ",depth=4"].contains(&depth))
                        || more == ",parallel=root";
                    tried += 1;
                    let made = registry.factory(&spec);
                    assert_eq!(made.is_err(), ignored, "{spec}");
                    let Ok(factory) = made else { continue };
                    accepted += 1;
                    let again = registry.factory(factory.spec()).expect("spelled out by itself");
                    assert_eq!(again.spec(), factory.spec());
                    let name = agent.split(':').next();
                    let kind = registry.kinds().find(|kind| Some(kind.name) == name).expect("registered");
                    let brief = registry.factory(&kind.brief(factory.spec())).expect("its brief spec");
                    assert_eq!(brief.spec(), factory.spec());
                }
            }
        }
    }
    // Of 16 pairs of rollout and depth 14 pass. Mcts takes three priors by PUCT, two in each of the four other groups that
    // pass, and Gumbel three.
    assert_eq!((accepted, tried), (14 * (3 + 4 * 2 + 3), 7 * 48));
}

#[test]
fn listings_name_every_agent_and_option() {
    let registry = pig_agents();
    let names: Vec<_> = registry.kinds().map(|kind| kind.name).collect();
    assert_eq!(names, ["mcts", "random"]);
    for kind in registry.kinds() {
        // A default that is written down is one that the agent takes and has.
        let written = kind.options.iter().map(|option| format!("{}={}", option.name, option.default));
        let spec = format!("{}:{}", kind.name, written.collect::<Vec<_>>().join(","));
        let factory = registry.factory(&spec).expect("defaults are good");
        assert_eq!(factory.spec(), registry.factory(kind.name).expect("no options are needed").spec());
    }
}

#[test]
fn a_brief_spec_leaves_out_what_is_usual_and_makes_the_same_agent() {
    let registry = pig_agents();
    for (spec, expected) in [
        ("random", "random"),
        ("random:seed=1", "random:seed=1"),
        ("mcts", "mcts"),
        ("mcts:sims=400,c=1,seed=0", "mcts"),
        ("mcts:sims=50,seed=7", "mcts:sims=50,seed=7"),
        ("mcts:seed=7,select=puct,c=2", "mcts:select=puct,c=2,seed=7"),
    ] {
        let full = registry.factory(spec).expect("a good spec");
        let (name, _) = full.spec().split_once(':').expect("every option is written out");
        let kind = registry.kinds().find(|kind| kind.name == name).expect("it is registered");
        assert_eq!(kind.brief(full.spec()), expected);
        assert_eq!(registry.factory(expected).expect("a good spec").spec(), full.spec());
    }
    let options =
        &[OptionDoc { name: "cmd", default: "", meaning: "" }, OptionDoc { name: "c", default: "1", meaning: "" }];
    let program = KindDoc { name: "external", summary: "", positional: Some("cmd"), options };
    assert_eq!(program.brief("external:cmd=a,,c=1,c=1"), "external:cmd=a,,c=1", "a comma of a value stays doubled");
}

#[test]
fn limits_cap_an_agent_for_the_move_and_the_turn() {
    let now = Instant::now();
    let mut ledger = TurnLedger::default();
    let budget = ledger.budget(1, 400, &Limits::default(), now);
    assert_eq!((budget.simulations, budget.deadline), (400, None));
    let limits = Limits { simulations: Some(100), ..Limits::default() };
    assert_eq!(ledger.budget(1, 400, &limits, now).simulations, 100);
    assert_eq!(ledger.budget(1, 50, &limits, now).simulations, 50, "a limit never extends an agent's own");

    // A move may use a quarter of what is left of its turn: 25 of 100, then 19 (18.75) of 75, and again 25 next turn.
    let limits = Limits { turn_simulations: Some(100), ..Limits::default() };
    assert_eq!(ledger.budget(2, 400, &limits, now).simulations, 25);
    ledger.spend(25, Duration::ZERO);
    assert_eq!(ledger.budget(2, 400, &limits, now).simulations, 19);
    ledger.spend(75, Duration::ZERO);
    assert_eq!(ledger.budget(2, 400, &limits, now).simulations, 1, "an agent always gets one simulation");
    assert_eq!(ledger.budget(3, 400, &limits, now).simulations, 25);

    let limits =
        Limits { time: Some(Duration::from_secs(2)), turn_time: Some(Duration::from_secs(4)), ..Limits::default() };
    assert_eq!(ledger.budget(4, 400, &limits, now).deadline, Some(now + Duration::from_secs(1)));
    assert!(ledger.budget(4, 400, &limits, now).allows(399));
    assert!(!ledger.budget(4, 400, &limits, now).allows(400));
    let past = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let budget = ledger.budget(4, 400, &past, now);
    assert!(budget.allows(0) && !budget.allows(1));
}

/// The turn is charged with what a search says that it used, however large its tree is: a root that was solved before
/// costs nothing.
#[test]
fn a_turn_pays_what_its_searches_used() {
    let (position, spec) = (ConnectFour::new(), || "searcher".to_string());
    let limits = Limits { turn_simulations: Some(100), ..Limits::default() };
    let mut thinking = Thinking::default();
    // A quarter of what is left: of 100, still of 100, then of 60.
    for (budget_used, expected) in [(0, 25), (40, 25), (0, 15)] {
        let mut allowed = 0;
        let search = |budget: &MoveBudget| {
            allowed = budget.simulations;
            let report = SearchReport {
                value: 0.0,
                simulations: 0,
                budget_used,
                nodes: 90,
                reused_nodes: 0,
                depth: 1,
                actions: Vec::new(),
                principal_variation: Vec::new(),
                seconds: 0.0,
            };
            Ok(Some(Choice { action: Action(0), report: Some(report) }))
        };
        thinking.choose(&spec, &position, &limits, 400, search).expect("a choice");
        assert_eq!(allowed, expected);
    }
}

#[test]
fn random_choices_are_uniform_and_follow_the_stream() {
    let position = ConnectFour::new();
    let choices = |spec_seed: &str, rng_seed: u64| {
        let factory = Registry::new().factory(&format!("random:seed={spec_seed}")).expect("a good spec");
        let mut agent = factory.make();
        agent.new_game(agent_rng(rng_seed, 0, Seat::First));
        let choose = |_| agent.choose(&position, &Limits::default()).expect("a choice").action.index();
        (0..7000).map(choose).collect::<Vec<_>>()
    };
    assert_eq!(choices("0", 1), choices("0", 1));
    assert_ne!(choices("0", 1), choices("0", 2));
    assert_ne!(choices("0", 1), choices("1", 1), "the option names another stream");
    // Pearson's statistic over the seven columns; 22.46 is exceeded with probability 0.001 at 6 degrees of freedom.
    let mut counts = [0.0f64; 7];
    choices("0", 1).into_iter().for_each(|column| counts[column] += 1.0);
    let statistic: f64 = counts.iter().map(|count| (count - 1000.0).powi(2) / 1000.0).sum();
    assert!(statistic < 22.46, "{counts:?}");
}

#[test]
fn nobody_chooses_where_a_roll_is_due() {
    let start = Pig::new();
    for spec in ["random", "mcts"] {
        let mut agent = pig_agents().factory(spec).expect("a good spec").make();
        agent.new_game(agent_rng(1, 0, Seat::First));
        let error = agent.choose(&start, &Limits::default()).expect_err("a throw is due");
        assert!(matches!(&error, AgentError::NotToAct { pending, .. } if *pending == start.pending_text()), "{error}");
    }
}

#[test]
fn a_factory_makes_equal_agents_from_code_too() {
    let factory: AgentFactory<Pig> = AgentFactory::of(RandomAgent::default());
    assert_eq!(factory.spec(), "random:seed=0");
    assert_eq!(factory.make().spec(), factory.clone().make().spec());
}

/// An agent of one's own: one type and one line.
#[derive(Clone)]
struct FromFile {
    path: String,
}

impl Agent<Pig> for FromFile {
    fn spec(&self) -> String {
        format!("from-file:{}", self.path)
    }

    fn new_game(&mut self, _rng: ChaCha8Rng) {}

    fn choose(&mut self, _position: &Pig, _limits: &Limits) -> Result<Choice, AgentError> {
        Ok(Choice::plain(ROLL))
    }
}

impl Configure<Pig> for FromFile {
    const NAME: &'static str = "from-file";
    const SUMMARY: &'static str = "throws on, whatever the file says";
    const POSITIONAL: Option<&'static str> = Some("path");
    const OPTIONS: &'static [OptionDoc] = &[
        OptionDoc { name: "path", default: "", meaning: "where the file is" },
        OptionDoc { name: "sims", default: "0", meaning: "simulations" },
    ];

    fn configure(&self, options: &AgentOptions) -> Result<FromFile, SpecError> {
        match options.text("path") {
            Some(path) if !path.is_empty() => Ok(FromFile { path: path.to_string() }),
            _ => Err(SpecError::Unavailable { agent: "from-file", reason: "no file is named".to_string() }),
        }
    }
}

#[test]
fn one_option_may_stand_without_its_name() {
    let mut agents = pig_agents();
    agents.register(FromFile { path: String::new() });
    for spec in ["from-file:runs/one", "from-file:runs/one,sims=4", "from-file:sims=4,path=runs/one"] {
        assert_eq!(agents.factory(spec).expect(spec).spec(), "from-file:runs/one");
    }
    for (spec, expected) in [
        ("from-file", "agent 'from-file': no file is named"),
        ("from-file:sims=4,runs/one", "agent 'from-file': 'runs/one' is not of the form option=value"),
        ("from-file:runs/one,path=runs/two", "agent 'from-file': option 'path' is given twice"),
    ] {
        assert_eq!(agents.factory(spec).expect_err(spec).to_string(), expected);
    }
}

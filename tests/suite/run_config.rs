//! The configuration of a training run: what it refuses, presets, and settings from the command line.

use dervish_agents::evaluation::Utility;
use dervish_models::device::DeviceChoice;
use dervish_models::network::Architecture;
use dervish_training::config::{ConfigError, PRESETS, RunConfig, budget};
use dervish_training::self_play::tree_search::SearchConfig;
use std::time::Duration;

fn settings(settings: &[&str]) -> Vec<String> {
    settings.iter().map(|setting| setting.to_string()).collect()
}

fn refusal(text: &str, changes: &[&str]) -> String {
    let error = RunConfig::parse(text, &settings(changes)).expect_err("a refusal").to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

const LEAST: &str = "format = 3\nscenarios = [\"pig\"]\n";

#[test]
fn every_preset_can_be_read_and_written_again() {
    for (name, text) in PRESETS {
        let config = RunConfig::parse(text, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(RunConfig::parse(&config.text(), &[]).as_ref(), Ok(&config), "{name}");
        assert_eq!(RunConfig::preset(name), Ok(text));
        // `dervish train --preset NAME` alone trains for an hour, with a curve of strength.
        assert_eq!(config.budget.as_deref().map(budget), Some(Ok(Duration::from_secs(3600))), "{name}");
        assert!(config.assessment.every > 0, "{name}");
    }
    assert!(RunConfig::preset("chess").expect_err("no preset").to_string().contains("souakim-cpu"));
}

#[test]
fn what_a_file_leaves_out_has_its_default_and_what_it_says_counts() {
    let least = RunConfig::parse(LEAST, &[]).expect("a configuration");
    assert_eq!((least.seed, least.deterministic, least.imitation.is_none()), (0, false, true));
    let more = format!("{LEAST}seed = 7\n[learner.trainer]\nlearning_rate = 0.5\n");
    let more = RunConfig::parse(&more, &[]).expect("a configuration");
    assert_eq!((more.seed, more.learner.trainer.learning_rate), (7, 0.5));
    assert_eq!(more.learner.trainer.weight_decay, least.learner.trainer.weight_decay);
}

/// A setting changes one field of what the text leaves to the defaults; another kind takes all its fields anew.
#[test]
fn settings_change_defaults_within_tables() {
    let changed = |changes: &[&str]| RunConfig::parse(LEAST, &settings(changes)).expect("a configuration");
    let wider = changed(&["network.architecture.hidden=96", "self_play.search.value_scale=0.5"]);
    assert_eq!(wider.network.architecture, Architecture::TokenMlp { hidden: 96, trunk: 128 });
    assert_eq!(wider.self_play.search, SearchConfig::Gumbel { candidates: 8, value_scale: 0.5 });
    let puct = changed(&["self_play.search.kind=puct", "self_play.search.exploration=3"]);
    let SearchConfig::Puct { exploration, noise_share, .. } = puct.self_play.search else { panic!("{puct:?}") };
    assert_eq!((exploration, noise_share), (3.0, 0.25));
    let same = changed(&["network.architecture.kind=token_mlp", "network.architecture.trunk=64"]);
    assert_eq!(same.network.architecture, Architecture::TokenMlp { hidden: 64, trunk: 64 });
    assert!(refusal(LEAST, &["network.architecture.kind=token_transformer"]).contains("width"));
    assert!(refusal(LEAST, &["network.architecture.width=3"]).contains("width"));
}

#[test]
fn faults_are_told_with_their_line() {
    assert!(refusal("format = 3\nscenarios = [\"pig\"", &[]).contains("line 2"));
    let unknown = refusal(&format!("{LEAST}[learner]\nbatsch = 3\n"), &[]);
    assert!(unknown.starts_with("line 4:") && unknown.contains("batsch"), "{unknown}");
    let kind = refusal(&format!("{LEAST}[self_play]\nsimulations = \"many\"\n"), &[]);
    assert!(kind.starts_with("line 4:"), "{kind}");
    assert!(refusal("format = 3\n", &[]).contains("scenarios"));
    assert!(refusal("scenarios = [\"pig\"]", &[]).contains("format"));
    assert_eq!(RunConfig::parse("format = 1\nhiden = 3", &[]), Err(ConfigError::Format { found: 1 }));
}

#[test]
fn figures_with_which_nothing_can_be_trained_are_refused() {
    for (setting, expected) in [
        ("threads=0", "threads: 0 is not from 1 to 1024"),
        ("scenarios=[]", "scenarios: 0 is not from 1 to 100"),
        ("self_play.games_at_once=1000000000000", "self_play.games_at_once: 1000000000000 is not from"),
        ("self_play.full_share=1.5", "self_play.full_share: 1.5 is not from 0 to 1"),
        ("learner.games_per_round=0", "learner.games_per_round: 0 is not from 1 to 1000000"),
        ("learner.uses=0", "learner.uses: 0 is not from 1 to 1000"),
        // Beyond the 32 bits of libtorch's numbers, too.
        ("learner.trainer.learning_rate=1e39", "learner.trainer.learning_rate: 1000"),
        ("learner.trainer.learning_rate=nan", "learner.trainer.learning_rate: NaN"),
        ("learner.uses=4", "needs a learner.window"),
        ("imitation={teacher='random', games=9, uses=4}", "needs a learner.window"),
        ("imitation={teacher='random', games=9, uses=0}", "imitation.uses: 0 is not from 1 to 1000"),
        ("storage.milestones=1", "storage.milestones: 1 is not from 2"),
        ("self_play.search={kind='gumbel', noise_share=0.1}", "noise_share"),
        ("self_play.search={kind='puct', noise_mass=0.0}", "self_play.search.noise_mass: 0 is not from 0.001"),
        ("league.share=0.5", "league.share above 0 needs league.opponents"),
        ("gate={games=3}", "come in pairs"),
        ("gate={elo0=10, elo1=5}", "gate: "),
        ("budget=never", "budget: "),
        ("budget=0s", "budget: there is nothing to do in no time"),
        ("budget=3y", "budget: longer than 1000 days"),
        // What a search with a share of the margin finds is no chance to win.
        ("learner.targets.value_lambda=0.9", "needs a self_play.utility.margin_share of 0"),
        ("storage.disk_limit=10000000000", "storage.disk_limit: 10000000000 is not from 0 to 1000000000"),
    ] {
        let found = refusal(LEAST, &[setting]);
        assert!(found.contains(expected), "{setting}: {found}");
    }
    assert!(refusal(LEAST, &["deterministic=true", "threads=2"]).contains("threads = 1"));
    let on_gpu = ["deterministic=true", "threads=1", "network.device=cuda"];
    assert!(refusal(LEAST, &on_gpu).contains("network.device"));
}

/// Figures each of which can be trained with, but not both: the pair is refused, and each of two ways out is not.
#[test]
fn figures_that_contradict_each_other_are_refused() {
    let searched = "self_play.simulations=16";
    for (pair, told, ways_out) in [
        // Games of older policies, which a policy gradient would judge as if today's had played them.
        (
            &["learner.uses=2", "learner.window=4"][..],
            ["learner.uses", "self_play.simulations"],
            [&["learner.uses=1", "learner.window=4"][..], &["learner.uses=2", "learner.window=4", searched]],
        ),
        // A cheap search that looks further than a full one.
        (
            &[searched, "self_play.full_share=0.25", "self_play.cheap_simulations=17"],
            ["self_play.cheap_simulations", "self_play.simulations"],
            [
                &[searched, "self_play.full_share=0.25", "self_play.cheap_simulations=16"],
                // No search is cheap.
                &[searched, "self_play.full_share=1.0", "self_play.cheap_simulations=17"],
            ],
        ),
    ] {
        let refused = refusal(LEAST, pair);
        assert!(told.iter().all(|key| refused.contains(key)), "{pair:?}: {refused}");
        for way in ways_out {
            assert!(RunConfig::parse(LEAST, &settings(way)).is_ok(), "{way:?}");
        }
    }
    // Nor is one where nothing is searched.
    let none = ["self_play.full_share=0.25", "self_play.cheap_simulations=17"];
    assert!(RunConfig::parse(LEAST, &settings(&none)).is_ok());
}

#[test]
fn settings_change_what_the_file_says() {
    let changes = [
        "self_play.simulations=32",
        "imitation.teacher=mcts:sims=8,c=2",
        "imitation.games=5",
        "scenarios=[\"souakim\"]",
    ];
    let config = RunConfig::parse(LEAST, &settings(&changes)).expect("a configuration");
    assert_eq!((config.self_play.simulations, &config.scenarios[..]), (32, &["souakim".to_string()][..]));
    let imitation = config.imitation.expect("a teacher");
    assert_eq!((imitation.teacher.as_str(), imitation.games), ("mcts:sims=8,c=2", 5));
    assert!(refusal(LEAST, &["self_play.simulation=32"]).contains("simulation"));
    assert!(refusal(LEAST, &["threads"]).contains("KEY=VALUE"));
    assert!(refusal(LEAST, &["threads.more=1", "threads=2", "threads.more=1"]).contains("leads through"));
}

/// What cannot be read is told with the setting that is at fault, as long as it is the only one.
#[test]
fn a_setting_that_is_at_fault_is_named() {
    for (changes, expected) in [
        (&["imitation.explore=nan"][..], "`imitation.explore=nan`: missing field `teacher`"),
        (&["threads=2", "learner.batsch=3", "seed=5"], "`learner.batsch=3`: unknown field `batsch`"),
        (&["learner.batch=many"], "`learner.batch=many`: invalid type"),
        // Neither can be read without what else it takes.
        (&["network.architecture.kind=token_transformer", "network.architecture.width=8"], "missing field"),
        (&["learner.batsch=3", "learner.batsch=4"], "unknown field `batsch`"),
    ] {
        let refused = refusal(LEAST, changes);
        assert!(refused.starts_with(expected), "{changes:?}: {refused}");
    }
}

/// A key that was misspelt would leave the default in place without a word: every table of a whole configuration refuses
/// it, whatever kind of network and of search it has.
#[test]
fn no_table_takes_a_key_that_it_does_not_know() {
    let kinds: [&[&str]; 4] = [
        &["network.architecture={kind='token_mlp', hidden=8, trunk=8}", "self_play.search.kind=gumbel", "gate={}"],
        &["network.architecture={kind='token_transformer', width=8, layers=1, heads=2}", "self_play.search.kind=puct"],
        &["network.architecture={kind='hex_planes', channels=8, blocks=1, hidden=8, trunk=8}"],
        &[],
    ];
    for (preset, changes) in PRESETS.into_iter().map(|(_, text)| text).cycle().zip(kinds) {
        let text = RunConfig::parse(preset, &settings(changes)).expect("a configuration").text();
        // TOML's first table has no head; all others begin with a line of their name in brackets.
        let heads: Vec<&str> = text.lines().filter(|line| line.starts_with('[')).collect();
        for known in ["[imitation]", "[self_play.utility]", "[network.architecture]", "[self_play.search]", "[storage]"]
        {
            assert!(heads.contains(&known), "{known} is missing:\n{text}");
        }
        assert_eq!(heads.contains(&"[gate]"), changes.contains(&"gate={}"));
        for head in heads {
            let other = text.replace(&format!("{head}\n"), &format!("{head}\nunknown_key = 1\n"));
            assert!(refusal(&other, &[]).contains("unknown_key"), "{head}");
            // As it is misspelt on the command line.
            let setting = format!("{}.unknown_key=1", head.trim_matches(['[', ']']));
            assert!(refusal(&text, &[&setting]).contains("unknown_key"), "{setting}");
        }
        assert!(refusal(&format!("unknown_key = 1\n{text}"), &[]).contains("unknown_key"));
    }
    // What is left out of a table has its default in each that has defaults at all.
    let empty = RunConfig::parse(LEAST, &settings(&["self_play.utility={}"])).expect("a configuration");
    assert_eq!(empty.self_play.utility, Utility::default());
}

/// What is printed for people has every key that is known, whatever the configuration leaves out: the refusal of an unknown one
/// names all keys of its table. It is read as the configuration that it is, and without its comments it can be read too.
#[test]
fn every_key_is_printed_for_people() {
    let none: &[&str] = &[];
    let configurations = PRESETS.map(|(_, text)| (text, none)).into_iter().chain([
        (LEAST, none),
        (LEAST, &["gate={}", "self_play.search.kind=puct"]),
        (LEAST, &["imitation={teacher='random', games=9}", "budget=1h"]),
    ]);
    for (text, changes) in configurations {
        let config = RunConfig::parse(text, &settings(changes)).expect("a configuration");
        let printed = config.commented_text();
        assert_eq!(RunConfig::parse(&printed, &[]).as_ref(), Ok(&config), "{printed}");
        let is_prose = |line: &str| line.starts_with("# ");
        assert!(printed.lines().any(|line| is_prose(line) && line.contains("training/src/config.rs")), "{printed}");
        let lines = printed.lines().filter(|line| !is_prose(line)).map(|line| line.trim_start_matches('#'));
        let whole: String = lines.flat_map(|line| [line, "\n"]).collect();
        let gate = RunConfig::parse(&whole, &[]).expect("a configuration").gate;
        assert_eq!(gate, Some(config.gate.unwrap_or_default()));
        // Of the first table, which has no head, and of all others.
        let heads = whole.lines().filter(|line| line.starts_with('[')).map(|head| head.trim_matches(['[', ']']));
        for table in heads.map(Some).chain([None]) {
            let head = table.map_or_else(String::new, |table| format!("[{table}]\n"));
            let at = whole.find(&head).expect("a table") + head.len();
            let (before, after) = whole.split_at(at);
            let refused = refusal(&format!("{before}unknown_key = 1\n{after}"), &[]);
            let (_, known) = refused.split_once("expected ").expect("the keys");
            let own = after.split("\n[").next().unwrap_or_default();
            for key in known.split('`').skip(1).step_by(2) {
                let path = table.map_or_else(|| key.to_string(), |table| format!("{table}.{key}"));
                let is_printed = own.lines().any(|line| line.starts_with(&format!("{key} = ")));
                assert!(is_printed || whole.contains(&format!("\n[{path}]\n")), "{path} is missing:\n{printed}");
            }
        }
    }
}

/// On a GPU the order of sums varies: a deterministic run stays on the CPU where the choice is left to the program.
#[test]
fn a_deterministic_run_computes_on_the_cpu() {
    let deterministic =
        RunConfig::parse(LEAST, &settings(&["deterministic=true", "threads=1"])).expect("a configuration");
    assert_eq!((deterministic.network.device, deterministic.device()), (DeviceChoice::Auto, DeviceChoice::Cpu));
    let on_gpu = RunConfig::parse(LEAST, &settings(&["network.device=cuda"])).expect("a configuration");
    assert_eq!(on_gpu.device(), DeviceChoice::Cuda(0));
    // Values that stand for results alone can be mixed with results.
    let mixed = ["self_play.utility.margin_share=0.0", "learner.targets.value_lambda=0.9"];
    assert!(RunConfig::parse(LEAST, &settings(&mixed)).is_ok());
}

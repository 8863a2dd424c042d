//! Files of weights for doctrine: what can be played is read, what cannot is refused when it is read.

use dervish_agents::doctrine::Doctrine;
use dervish_agents::doctrine::weights::{Weights, WeightsError};
use dervish_agents::registry::{Registry, in_spec};
use dervish_env::chance::{Dice, agent_rng};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position, Seat};
use std::fs;
use std::path::{Path, PathBuf};

use crate::dervish_binary::{dervish, refusal};

const BUILTIN: &str = include_str!("../../agents/core/data/doctrine.toml");

/// The weights of the program with another number for one of them, which stands in the table `group`.
fn text_with(group: &str, weight: &str, value: &str) -> String {
    let mut inside = false;
    let mut changed = 0;
    let lines = BUILTIN.lines().map(|line| {
        if line.starts_with('[') {
            inside = line == format!("[{group}]");
        }
        if inside && line.split(' ').next() == Some(weight) {
            changed += 1;
            return format!("{weight} = {value}\n");
        }
        format!("{line}\n")
    });
    let text = lines.collect();
    assert_eq!(changed, 1, "{group}.{weight}");
    text
}

fn file_with(folder: &Path, group: &str, weight: &str, value: &str) -> PathBuf {
    let path = folder.join(format!("{group}-{weight}-{value}.toml"));
    fs::write(&path, text_with(group, weight, value)).expect("written");
    path
}

/// Each line names the file, the weight, what stands there and what may.
#[test]
fn weights_that_cannot_be_played_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    for (group, weight, value, expected) in [
        ("egyptian", "scout", "0", "egyptian.scout = 0 is not from 1 to 1000"),
        ("mahdist", "scout", "0", "mahdist.scout = 0 is not from 1 to 1000"),
        ("mahdist", "scout", "4000000000", "mahdist.scout = 4000000000 is not from 1 to 1000"),
        ("march", "crossing", "65535", "march.crossing = 65535 is not from -1000 to 1000"),
        ("march", "pace", "0.0", "march.pace = 0 is not from 0.01 to 1000"),
        ("march", "patience", "1.5", "march.patience = 1.5 is not from 0 to 1"),
        ("march", "settles", "[0.7, 0.7, 1.85, 1.0]", "march.settles = 1.85 is not from 0 to 1"),
        ("evaluation", "scale", "nan", "evaluation.scale = NaN is not from 0.01 to 1000"),
        ("stakes", "prize", "inf", "stakes.prize = inf is not from -1000 to 1000"),
    ] {
        let path = file_with(folder.path(), group, weight, value);
        let error = Weights::read(&path).expect_err(expected);
        assert!(
            matches!(&error, WeightsError::OutOfRange { weight: name, .. } if *name == format!("{group}.{weight}"))
        );
        assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    }
    // The command line says so in one line, before a game begins.
    let path = file_with(folder.path(), "egyptian", "scout", "0");
    let spec = format!("doctrine:weights={}", path.display());
    let line = refusal(&["match", &spec, "random", "--scenario", "souakim", "--games", "2"]);
    assert!(line.contains("egyptian.scout = 0 is not from 1 to 1000"), "{line}");
}

/// Whatever is read can be played with, at the ends of the ranges too: counts of 200 are more than a byte can double.
#[test]
fn extreme_weights_play_whole_games() {
    let folder = tempfile::tempdir().expect("a folder");
    for (group, weight, value) in [
        ("egyptian", "scout", "1"),
        ("egyptian", "scout", "200"),
        ("mahdist", "scout", "1"),
        ("mahdist", "scout", "128"),
        ("mahdist", "scout", "200"),
        ("mahdist", "scout", "1000"),
        ("mahdist", "stragglers", "1000"),
        ("mahdist", "split", "255"),
        ("mahdist", "garrison", "0"),
        ("egyptian", "garrison", "1000"),
        ("egyptian", "flying", "0"),
        ("march", "reach", "1000"),
        ("march", "crossing", "1000"),
        ("march", "patience", "0.0"),
    ] {
        let path = file_with(folder.path(), group, weight, value);
        let mut registry = Registry::new();
        registry.register(Doctrine::default());
        let factory = registry.factory(&format!("doctrine:weights={}", path.display())).expect("weights");
        for scenario in ["souakim", "khartoum"] {
            let mut agents = Seat::BOTH.map(|seat| {
                let mut agent = factory.make();
                agent.new_game(agent_rng(1, 0, seat));
                agent
            });
            let mut position = Campaign::new(Scenario::builtin(scenario).expect("built in"));
            let mut dice = Dice::new(4);
            loop {
                match position.actor() {
                    Actor::Finished => break,
                    Actor::Chance => position.resolve_possible(dice.roll(&position)),
                    Actor::Player(seat) => {
                        let choice = agents[seat.index()].choose(&position, &Default::default());
                        let choice = choice.unwrap_or_else(|error| panic!("{group}.{weight} = {value}: {error}"));
                        position.apply(choice.action).expect("legal");
                    }
                }
            }
        }
    }
}

/// What an agent says of itself makes the same agent again, also where the name of its file has a comma, which ends an option
/// of a spec unless it is written twice.
#[test]
fn a_file_whose_name_has_a_comma_is_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bold,careful.toml");
    fs::write(&path, text_with("march", "voyage", "77")).expect("written");
    let mut registry = Registry::<Campaign>::new();
    registry.register(Doctrine::default());
    let asked = format!("doctrine:weights={}", in_spec(&path.display().to_string()));
    let first = registry.factory(&asked).expect("a file");
    assert!(first.spec().contains("bold,,careful.toml"), "{}", first.spec());
    let again = registry.factory(first.spec()).unwrap_or_else(|error| panic!("{}: {error}", first.spec()));
    assert_eq!(again.spec(), first.spec());
}

/// Weights are the same however a file writes them; a file of results joins no games of others, whatever the file is called.
#[test]
fn games_of_other_weights_are_not_joined() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("w.toml");
    let says = |text: &str| fs::write(&path, text).expect("written");
    let spec = format!("doctrine:weights={}", path.display());
    let db = folder.path().join("r.db").display().to_string();
    let play = |games: &'static str| {
        ["match", &*spec, "doctrine", "--scenario", "souakim", "--games", games, "--db", &*db].map(str::to_string)
    };
    let played = |games: &'static str| {
        let arguments = play(games);
        let output = dervish(&arguments.each_ref().map(String::as_str));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let other = text_with("march", "voyage", "77");
    says(BUILTIN);
    played("2");
    says(&format!("# A comment is no weight.\n{BUILTIN}"));
    played("4");
    says(&other);
    let line = refusal(&play("6").each_ref().map(String::as_str));
    let named = format!("holds games that doctrine:seed=0,weights={} played by other contents", path.display());
    assert!(line.contains(&named) && line.contains("name another file of results"), "{line}");
    // Nothing is lost.
    says(BUILTIN);
    played("6");
    let fingerprint = |text: &str| {
        says(text);
        Weights::read(&path).expect("weights").fingerprint()
    };
    assert_eq!(fingerprint(BUILTIN), Weights::builtin().fingerprint());
    assert_ne!(fingerprint(&other), Weights::builtin().fingerprint());
}

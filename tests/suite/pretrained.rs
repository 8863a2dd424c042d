//! The networks that come with the project: they load, play, and say what they are.

use dervish_env::encode::PolicyEncoder;
use dervish_env::game::GameIdentity;
use dervish_models::checkpoint::{self, Manifest, Origin};
use dervish_training::arena::agents::{ArenaGame, agents_of};
use dervish_training::arena::match_play::{MatchOptions, play_match};
use dervish_training::config::RunConfig;
use dervish_training::games::{GameVisitor, with_game};
use std::fs;
use std::path::{Path, PathBuf};

fn pretrained() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/pretrained");
    let entries = fs::read_dir(folder).expect("the folder of networks").flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

struct Scores<'n> {
    network: &'n Path,
    manifest: Manifest,
}

impl GameVisitor for Scores<'_> {
    type Output = f64;

    /// Score of the network's policy, without search, against random play.
    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> f64 {
        let agents = agents_of(&start, encoder);
        let GameIdentity { scenario, rules_hash, rules_version, .. } = start.identity();
        assert_eq!(self.manifest.rules.get(&scenario), Some(&rules_hash), "trained by other rules or data");
        let known = self.manifest.rules_version.expect("a version of the rules");
        let card = fs::read_to_string(self.network.join("CARD.md")).expect("a model card");
        assert!(
            known == rules_version || card.contains(&format!("rules version {known}")),
            "the card tells of older rules"
        );
        let spec = format!("neural:{}", self.network.display());
        let [network, random] = [&*spec, "random"].map(|spec| agents.factory(spec).expect("an agent"));
        let options =
            MatchOptions { pairs: 15, seed: 1, limits: Default::default(), max_decisions: None, threads: None };
        play_match(&start, &network, &random, &options, &()).expect("a match").statistics.score.value
    }
}

#[test]
fn pretrained_networks_load_and_play_by_todays_rules() {
    for network in pretrained() {
        let text = fs::read_to_string(network.join("run.toml")).expect("the configuration of the run");
        let config = RunConfig::parse(&text, &[]).expect("a configuration");
        let manifest = checkpoint::load_manifest(&network).expect("a manifest");
        // The configuration beside it is that of its run.
        let origin = manifest.origin.as_ref().expect("a run");
        assert_eq!(origin, &Origin::of(&origin.program, config.seed, &text), "{}", network.display());
        assert_eq!(manifest.rules.len(), config.scenarios.len(), "{}", network.display());
        for scenario in &config.scenarios {
            let manifest = manifest.clone();
            let score = with_game(scenario, Scores { network: &network, manifest }).expect("a game");
            // A network that has forgotten everything wins half of the thirty games, and so many once in a hundred times.
            assert!(score > 0.7, "{}: {score} against random play in {scenario}", network.display());
        }
    }
}

#[test]
fn pretrained_networks_are_small_and_have_cards() {
    for network in pretrained() {
        let files = fs::read_dir(&network).expect("a folder").flatten();
        let bytes: u64 = files.map(|file| file.metadata().expect("a file").len()).sum();
        assert!(bytes < 8 << 20, "{}: {bytes} bytes", network.display());
        let card = fs::read_to_string(network.join("CARD.md")).expect("a model card");
        let manifest = checkpoint::load_manifest(&network).expect("a manifest");
        for part in ["## Training", "## Strength", "## Known weaknesses", &format!("step {}", manifest.step)] {
            assert!(card.contains(part), "{}: no {part}", network.display());
        }
    }
}

//! Small runs of pig: how they are configured, whom they meet, and what they leave.

use dervish_env::reference::pig::{Pig, PigPlayers};
use dervish_training::arena::agents::ArenaGame;
use dervish_training::config::RunConfig;
use dervish_training::run_dir::RunDir;
use dervish_training::self_play::Start;
use dervish_training::self_play::game::SelfPlayGame;
use dervish_training::self_play::pool::Rival;
use dervish_training::session::Material;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A small run of pig, by policy gradient without simulations.
pub fn config(simulations: u32) -> RunConfig {
    changed(simulations, &[])
}

/// The same with changes, each `KEY=VALUE`.
pub fn changed(simulations: u32, changes: &[&str]) -> RunConfig {
    // A policy gradient judges the policy that played.
    let uses = if simulations > 0 { 2 } else { 1 };
    let text = format!(
        "format = 3
        scenarios = [\"pig\"]
        seed = 11
        threads = 2
        [network]
        architecture = {{ kind = \"token_mlp\", hidden = 16, trunk = 32 }}
        [self_play]
        games_at_once = 16
        simulations = {simulations}
        search = {{ kind = \"gumbel\", candidates = 2 }}
        [learner]
        games_per_round = 16
        uses = {uses}
        window = 4
        [storage]
        checkpoint_every = 0.5"
    );
    let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
    RunConfig::parse(&text, &changes).expect("a configuration")
}

/// A new run with these changes in the folder `pig`.
pub fn new_run(folder: &TempDir, simulations: u32, changes: &[&str]) -> RunDir {
    RunDir::create(&folder.path().join("pig"), changed(simulations, changes)).expect("a new run")
}

/// Pig, and nobody beside the network.
pub fn pig() -> Material<Pig, PigPlayers> {
    Material::of(vec![Start { position: Pig::new(), encoder: PigPlayers::new() }])
}

/// An agent of pig as an opponent.
pub fn rival(spec: &str) -> Rival<Pig> {
    Rival { name: spec.to_string(), by_scenario: vec![Pig::agents().factory(spec).expect("an agent")] }
}

/// The games that a run keeps.
pub fn games_on_disk(run: &Path) -> Vec<SelfPlayGame> {
    let files = fs::read_dir(run.join("replay")).expect("games");
    let texts = files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("text"));
    texts
        .flat_map(|text| text.lines().map(|line| serde_json::from_str(line).expect("a game")).collect::<Vec<_>>())
        .collect()
}

/// The lines of figures of a run; none before its first session.
pub fn lines_of(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The files of the latest checkpoint that make weights.
pub fn latest_weights(run: &Path) -> Vec<Vec<u8>> {
    let steps = fs::read_dir(run.join("checkpoints")).expect("checkpoints").flatten().map(|step| step.path());
    let last = steps.max().expect("a checkpoint");
    let files = ["weights.safetensors", "learner.safetensors", "optimizer.safetensors"];
    files.iter().map(|file| fs::read(last.join(file)).expect("weights")).collect()
}

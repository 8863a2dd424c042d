//! A run directory as `watch` and `report` find it, written by hand.

use dervish_agents::evaluation::Utility;
use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::game::{Actor, Position};
use dervish_training::self_play::game::{Decision, Judgement, SelfPlayGame, roll_to_decision};
use dervish_training::self_play::round_figures::RoundFigures;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A game by random players who expect nothing and teach an even policy.
pub fn random_game<P: Position>(start: &P, number: u64) -> SelfPlayGame {
    let mut position = start.clone();
    let (mut dice, mut stream) = (Dice::new(number), SplitMix64::new(number));
    let (mut decisions, mut legal) = (Vec::new(), Vec::new());
    loop {
        roll_to_decision(&mut position, &mut dice, |_| ());
        let Actor::Player(seat) = position.actor() else { break };
        position.legal_actions_into(&mut legal);
        let index = stream.below(legal.len());
        let probability = 1.0 / legal.len() as f32;
        let policy = (0..legal.len() as u32).map(|index| (index, probability)).collect();
        let judgement = Judgement { index: index as u32, probability, value: Some(0.0), policy };
        let judgement = (legal.len() > 1).then_some(judgement);
        decisions.push(Decision { seat, action: legal[index], judgement });
        position.apply_legal(legal[index]);
    }
    let result = position.result().expect("a finished game");
    SelfPlayGame { number, scenario: 0, dice_seed: number, step: 0, decisions, opponent: None, result }
}

/// A run of a scenario in `folder`, without games and rounds.
pub fn run_in(folder: &Path, scenario: &str) -> PathBuf {
    let run = folder.join("run");
    fs::create_dir_all(run.join("replay")).expect("a folder");
    let config = format!("format = 3\nscenarios = [\"{scenario}\"]\n[learner]\nbatch = 7\n[storage]\ndisk_limit = 3\n");
    fs::write(run.join("config.toml"), config).expect("a file");
    run
}

/// Puts games into a run as its latest round.
pub fn keep_games(run: &Path, games: &[SelfPlayGame]) {
    let lines: Vec<String> = games.iter().map(|game| serde_json::to_string(game).expect("JSON")).collect();
    fs::write(run.join("replay/round-00000004.jsonl"), lines.join("\n") + "\n").expect("a file");
}

/// A line of figures as a session writes it.
pub fn line_of_round(round: u64, games: &[SelfPlayGame]) -> Value {
    json!({
        "session_seconds": 60.0, "seconds": 60.0 * round as f64, "rounds": round, "games": 32 * round, "decisions": 9000,
        "numbered": 32 * round, "step": 10 * round, "elapsed": 0.25, "decisions_per_second": 1234.4,
        "first_seat_score": 0.5, "evaluations": 5, "mean_batch": 61.25, "evaluator_busy": 0.75, "queue_wait_ms": 1.75, "learnt_from": 9,
        "learning_rate": 0.001, "policy": 1.5 + 1.0 / round as f64, "surrogate": 0.0, "entropy": 0.0, "wdl": 0.625,
        "margin": 0.125, "turns_left": 0.25, "total": 2.5, "gradient_norm": 1.0,
        "figures": RoundFigures::of(games, &Utility::default()),
    })
}

/// An assessment at a step.
pub fn line_of_assessment(minutes: f64, score: f64) -> Value {
    json!({
        "seconds": 60.0 * minutes, "step": (100.0 * minutes) as u64, "rounds": (10.0 * minutes) as u64, "simulations": 0, "alarm": false, "rating": 12.0,
        "agents": [
            {"spec": "random", "held_out": false, "games": 40, "score": score, "low": score - 0.1, "high": score + 0.1},
            {"spec": "doctrine", "held_out": true, "games": 20, "score": 0.25, "low": 0.1, "high": 0.4},
        ],
    })
}

/// Writes lines to a file of the run.
pub fn write_lines(run: &Path, name: &str, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(run.join(name), text).expect("a file");
}

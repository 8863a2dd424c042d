//! A training session: actors that play, one learner, checkpoints, until the time is over or somebody stops it.

use crate::learner::{LearnError, Learner, RoundReport};
use crate::run_dir::{RunDir, RunDirError};
use crate::self_play::actor::{Actor, ActorError};
use crate::self_play::game::SelfPlayGame;
use crate::self_play::replay::{ReplayError, ReplayWindow};
use crate::self_play::weights::PublishedWeights;
use dervish_env::chance;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Position, Seat};
use dervish_models::checkpoint::{Checkpoint, CheckpointError, Description};
use dervish_models::device::{DeviceChoice, DeviceError};
use dervish_models::network::{Architecture, ConfigError, Network, NetworkConfig};
use dervish_models::process;
use dervish_models::trainer::{TrainError, Trainer};
use dervish_neural::encoding::{contract, input_sizes};
use rand::Rng;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// Trains in `run` for `budget`: a new run from random weights, or one that has checkpoints from its latest.
///
/// The dice and random streams of every game follow from the run's seed and the game's number. Which weights play which
/// game depends on the threads' timing and is recorded with the game.
///
/// # Errors
/// [`SessionError`]. What was learnt since the last checkpoint is then lost, nothing else.
pub fn train<P: Position, E: PolicyEncoder<P>>(
    start: &P,
    encoder: &E,
    run: &RunDir,
    budget: Duration,
    watcher: &dyn Watcher,
) -> Result<SessionReport, SessionError> {
    process::prepare();
    let begun = Instant::now();
    let mut session = Session::prepare(start, encoder, run)?;
    let before = session.tally;
    let config = run.config();
    // Games end out of order, so the window can hold greater numbers than there are games.
    let known = session.window.latest(usize::MAX).map(|game| game.number + 1).max();
    let next_game = AtomicU64::new(before.games.max(known.unwrap_or(0)));
    let first = session.learner.average().duplicate().map_err(TrainError::from)?;
    let weights = PublishedWeights::new(first, session.learner.steps());
    let halt = AtomicBool::new(false);
    // Actors that are this far ahead of the learner wait, so that games are learnt from while they are new.
    let (sender, games) = sync_channel(config.learner.games_per_round);
    let stopped = std::thread::scope(|scope| {
        for _ in 0..config.threads {
            let sender = sender.clone();
            let (weights, next_game, halt) = (&weights, &next_game, &halt);
            scope.spawn(move || act(Actor::new(start, encoder, config.self_play, weights, next_game), &sender, halt));
        }
        drop(sender);
        let stopped = session.learn(&games, &weights, begun, budget, watcher);
        halt.store(true, Ordering::Relaxed);
        // An actor that waits for room finds that nobody listens.
        drop(games);
        stopped
    })?;
    session.save(begun)?;
    let tally = session.tally;
    info!(games = tally.games, decisions = tally.decisions, steps = session.learner.steps(), stopped, "session over");
    Ok(SessionReport { before, after: tally, steps: session.learner.steps(), stopped })
}

/// Who watches a session.
pub trait Watcher: Sync {
    /// Whether to save and stop.
    fn stop_requested(&self) -> bool {
        false
    }

    /// Hears several times a second how far the session is.
    fn progress(&self, _progress: &Progress) {}
}

impl Watcher for () {}

/// How far a session is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Progress {
    /// Seconds of this session.
    pub session_seconds: f64,
    /// Seconds, games and decisions of the whole run.
    #[serde(flatten)]
    pub tally: Tally,
    /// Optimisation steps of the whole run.
    pub step: u64,
    /// Decisions a second, learning included, since the session began.
    pub decisions_per_second: f64,
    /// Mean score of the first seat in the latest games of self-play, 0 (lost) ..= 1 (won).
    pub first_seat_score: f64,
    /// What the latest round did, once there was one.
    #[serde(flatten)]
    pub round: Option<RoundReport>,
}

/// What a run has used and made, over all its sessions.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Tally {
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// Games learnt from.
    pub games: u64,
    /// Decisions in them.
    pub decisions: u64,
}

/// How a session ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SessionReport {
    /// Where the run stood when the session began.
    pub before: Tally,
    /// Where it stands now.
    pub after: Tally,
    /// Optimisation steps of the whole run.
    pub steps: u64,
    /// Whether it was stopped before its time was over.
    pub stopped: bool,
}

/// Why a session failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The run directory.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// A checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The replay window.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Self-play.
    #[error(transparent)]
    Actor(#[from] ActorError),
    /// Learning.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The network's sizes.
    #[error("network: {0}")]
    Network(#[from] ConfigError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The trainer.
    #[error("learner: {0}")]
    Trainer(#[from] TrainError),
    /// The file of figures.
    #[error("metrics.jsonl: {0}")]
    Metrics(#[from] io::Error),
    /// All actors are gone.
    #[error("self-play ended by itself")]
    NoActors,
}

/// Games over whose results the score of self-play is averaged.
const SCORED_GAMES: usize = 200;

struct Session<'r, P, E> {
    start: &'r P,
    encoder: &'r E,
    run: &'r RunDir,
    learner: Learner<'r, P, E>,
    window: ReplayWindow,
    tally: Tally,
    seconds_before: f64,
    scores: VecDeque<f64>,
    saved_step: u64,
}

impl<'r, P: Position, E: PolicyEncoder<P>> Session<'r, P, E> {
    fn prepare(start: &'r P, encoder: &'r E, run: &'r RunDir) -> Result<Session<'r, P, E>, SessionError> {
        let config = run.config();
        let mut rng = chance::named_rng(config.self_play.seed, "weights");
        let checkpoints = run.checkpoints();
        let is_new = checkpoints.steps()?.is_empty();
        let device = DeviceChoice::Auto.device()?;
        let (trainer, tally) = if is_new {
            let architecture = Architecture::TokenMlp { hidden: config.hidden, trunk: config.trunk };
            let network = NetworkConfig { inputs: input_sizes(encoder), architecture };
            let net = Network::new(network, rng.next_u64() as i64, device)?;
            (Trainer::new(net, config.learner.trainer.clone())?, Tally::default())
        } else {
            let Checkpoint { net, trainer, manifest } = checkpoints.load(None, &contract(start, encoder), device)?;
            if manifest.rules_hash != start.identity().rules_hash {
                warn!(trained_on = manifest.rules_hash, "the rules' data have changed since the checkpoint was saved");
            }
            let figure = |name: &str| manifest.figures.get(name).copied().unwrap_or(0.0);
            let tally = Tally {
                seconds: figure("seconds"),
                games: figure("games") as u64,
                decisions: figure("decisions") as u64,
            };
            (Trainer::resume(net, trainer, manifest.step, config.learner.trainer.clone())?, tally)
        };
        let steps = trainer.steps();
        let window = ReplayWindow::load(&run.window_file(), config.learner.window)?;
        let learner = Learner::new(start, encoder, config.learner.clone(), trainer, rng.next_u64() ^ steps);
        let seconds_before = tally.seconds;
        let scores = VecDeque::with_capacity(SCORED_GAMES);
        let mut session =
            Session { start, encoder, run, learner, window, tally, seconds_before, scores, saved_step: steps };
        info!(
            scenario = config.scenario,
            steps,
            games = tally.games,
            weights = session.learner.net().weight_count(),
            "begin"
        );
        if is_new {
            session.save_checkpoint()?;
        }
        Ok(session)
    }

    /// Learns until the time is over (false) or the watcher stops it (true).
    fn learn(
        &mut self,
        games: &Receiver<Result<SelfPlayGame, ActorError>>,
        weights: &PublishedWeights,
        begun: Instant,
        budget: Duration,
        watcher: &dyn Watcher,
    ) -> Result<bool, SessionError> {
        const REPORT: Duration = Duration::from_millis(200);
        let config = self.run.config();
        let before = self.tally;
        let mut metrics = self.run.metrics_file()?;
        let mut fresh = 0;
        let mut round = None;
        let mut saved = Instant::now();
        let mut reported = begun;
        loop {
            let elapsed = begun.elapsed();
            self.tally.seconds = self.seconds_before + elapsed.as_secs_f64();
            let progress = Progress {
                session_seconds: elapsed.as_secs_f64(),
                tally: self.tally,
                step: self.learner.steps(),
                decisions_per_second: (self.tally.decisions - before.decisions) as f64 / elapsed.as_secs_f64(),
                first_seat_score: self.scores.iter().sum::<f64>() / self.scores.len().max(1) as f64,
                round,
            };
            if reported.elapsed() >= REPORT {
                reported = Instant::now();
                watcher.progress(&progress);
            }
            if watcher.stop_requested() {
                return Ok(true);
            }
            if elapsed >= budget {
                return Ok(false);
            }
            if fresh >= config.learner.games_per_round {
                let part = elapsed.as_secs_f64() / budget.as_secs_f64();
                round = Some(self.learner.round(&self.window, fresh, part)?);
                fresh = 0;
                weights.publish(self.learner.average(), self.learner.steps()).map_err(ActorError::from)?;
                let line = serde_json::to_string(&Progress { step: self.learner.steps(), round, ..progress });
                writeln!(metrics, "{}", line.map_err(io::Error::from)?)?;
                if saved.elapsed().as_secs_f64() >= config.checkpoint_seconds {
                    self.save(begun)?;
                    saved = Instant::now();
                }
                continue;
            }
            match games.recv_timeout(REPORT) {
                Ok(game) => {
                    self.book(game?);
                    fresh += 1;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(SessionError::NoActors),
            }
        }
    }

    fn book(&mut self, game: SelfPlayGame) {
        self.tally.games += 1;
        self.tally.decisions += game.decisions.len() as u64;
        if self.scores.len() == SCORED_GAMES {
            self.scores.pop_front();
        }
        self.scores.push_back(game.result.score(Seat::First));
        self.window.push(game);
    }

    /// Saves the window and, if there was a step since the last one, a checkpoint.
    fn save(&mut self, begun: Instant) -> Result<(), SessionError> {
        self.tally.seconds = self.seconds_before + begun.elapsed().as_secs_f64();
        self.window.save(&self.run.window_file())?;
        if self.learner.steps() > self.saved_step {
            self.save_checkpoint()?;
        }
        Ok(())
    }

    fn save_checkpoint(&mut self) -> Result<(), SessionError> {
        let Tally { seconds, games, decisions } = self.tally;
        let figures = [("seconds", seconds), ("games", games as f64), ("decisions", decisions as f64)];
        let description = Description {
            contract: contract(self.start, self.encoder),
            rules_hash: self.start.identity().rules_hash,
            step: self.learner.steps(),
            figures: figures.into_iter().map(|(name, figure)| (name.to_string(), figure)).collect::<BTreeMap<_, _>>(),
        };
        let trainer = self.learner.trainer_state()?;
        self.run.checkpoints().save(self.learner.average(), Some(&trainer), &description)?;
        self.saved_step = self.learner.steps();
        info!(step = self.saved_step, games, "checkpoint");
        Ok(())
    }
}

/// Plays until the session halts or nobody listens any more.
fn act<P: Position, E: PolicyEncoder<P>>(
    actor: Result<Actor<P, E>, ActorError>,
    games: &SyncSender<Result<SelfPlayGame, ActorError>>,
    halt: &AtomicBool,
) {
    let mut finished = Vec::new();
    let play = || -> Result<(), ActorError> {
        let mut actor = actor?;
        while !halt.load(Ordering::Relaxed) {
            actor.tick(&mut finished)?;
            for game in finished.drain(..) {
                if games.send(Ok(game)).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    };
    if let Err(error) = play() {
        // Nobody listens once the session is over.
        let _ = games.send(Err(error));
    }
}

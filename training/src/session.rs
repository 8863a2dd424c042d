//! A training session: actors that play, one learner, checkpoints, until the time is over or somebody stops it.

use crate::config::StorageConfig;
use crate::disk_limit::{DiskLimitError, keep_within};
use crate::learner::{LearnError, Learner, RoundReport};
use crate::round_log::RoundLog;
use crate::run_dir::{RunDir, RunDirError};
use crate::self_play::Start;
use crate::self_play::actor::{ActorError, Effort, EffortReport};
use crate::self_play::game::SelfPlayGame;
use crate::self_play::numbers::GameNumbers;
use crate::self_play::players::{PlayerError, Players};
use crate::self_play::replay::{Replay, ReplayError, ReplaySettings};
use crate::self_play::round_figures::RoundFigures;
use crate::self_play::weights::PublishedWeights;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Position, Seat};
use dervish_models::checkpoint::{Checkpoint, CheckpointError, Description};
use dervish_models::device::DeviceError;
use dervish_models::network::{ConfigError, Network, NetworkConfig};
use dervish_models::process;
use dervish_models::trainer::{TrainError, Trainer};
use dervish_neural::encoding::{contract, input_sizes};
use rand::Rng;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// What a run plays, and whom it learns from.
#[derive(Debug)]
pub struct Material<P: Position, E> {
    /// The scenarios, at least one, with encoders of one layout.
    pub starts: Vec<Start<P, E>>,
    /// The agent that is imitated, for each scenario, where the configuration asks for one; else none.
    pub teachers: Vec<AgentFactory<P>>,
}

/// How long a session lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budget {
    /// So much time from its beginning.
    Time(Duration),
    /// Until the run has learnt from so many rounds, those of earlier sessions included.
    Rounds(u64),
}

/// Trains in `run` for `budget`: a new run from random weights, or one that has checkpoints from its latest.
///
/// The dice and random streams of every game follow from the run's seed and the game's number. Which weights play which
/// game depends on the threads' timing and is recorded with the game; in a deterministic run it follows from the
/// configuration.
///
/// # Errors
/// [`SessionError`]. What was learnt since the last checkpoint is then lost; its games are kept.
pub fn train<P: Position, E: PolicyEncoder<P>>(
    material: &Material<P, E>,
    run: &RunDir,
    budget: Budget,
    watcher: &dyn Watcher,
) -> Result<SessionReport, SessionError> {
    process::prepare();
    let begun = Instant::now();
    let config = run.config();
    let mut session = Session::prepare(&material.starts, run, budget)?;
    let before = session.tally;
    let first = session.learner.average().duplicate().map_err(TrainError::from)?;
    let weights = PublishedWeights::new(first, session.learner.steps());
    let stopped = if config.deterministic {
        session.learn(&weights, begun, watcher, |session| session.play_round(material, &weights, watcher))?
    } else {
        let played = session.replay.latest_number().map_or(0, |number| number + 1);
        let numbers = GameNumbers::new(before.numbered.max(played), u64::MAX);
        let halt = AtomicBool::new(false);
        // Actors that are this far ahead of the learner wait, so that games are learnt from while they are new.
        let (sender, games) = sync_channel(config.learner.games_per_round);
        let effort = &session.effort.clone();
        std::thread::scope(|scope| {
            for _ in 0..config.threads {
                let sender = sender.clone();
                let (weights, numbers, halt) = (&weights, &numbers, &halt);
                let players = move || Players::new(material, config, weights, numbers, effort);
                scope.spawn(move || act(players(), &sender, halt));
            }
            drop(sender);
            let stopped = session.learn(&weights, begun, watcher, |session| session.receive(&games));
            halt.store(true, Ordering::Relaxed);
            // An actor that waits for room finds that nobody listens.
            drop(games);
            stopped
        })?
    };
    session.save_checkpoint(begun)?;
    let tally = session.progress(begun).tally;
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
    /// The session's part that is over, 0..=1.
    pub elapsed: f64,
    /// Decisions a second, learning included, since the session began.
    pub decisions_per_second: f64,
    /// Mean score of the first seat in the latest games of self-play, 0 (lost) ..= 1 (won).
    pub first_seat_score: f64,
    /// What the actors did in this session.
    #[serde(flatten)]
    pub effort: EffortReport,
    /// What the latest round did, once there was one.
    #[serde(flatten)]
    pub latest: Option<RoundReport>,
}

/// What a run has used and made, over all its sessions.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Tally {
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// Rounds learnt from.
    pub rounds: u64,
    /// Games of these rounds.
    pub games: u64,
    /// Decisions in them.
    pub decisions: u64,
    /// One more than their greatest number: games end out of order, so it can be beyond their count.
    pub numbered: u64,
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
    /// The games.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Self-play, or a teacher.
    #[error(transparent)]
    Player(#[from] PlayerError),
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
    /// What it may take on disk.
    #[error(transparent)]
    DiskLimit(#[from] DiskLimitError),
    /// All actors are gone.
    #[error("self-play ended by itself")]
    NoActors,
}

/// Games over whose results the score of self-play is averaged.
const SCORED_GAMES: usize = 200;

/// Time between two words about the progress.
const REPORT: Duration = Duration::from_millis(200);

struct Session<'r, P, E> {
    starts: &'r [Start<P, E>],
    run: &'r RunDir,
    budget: Budget,
    learner: Learner<'r, P, E>,
    replay: Replay,
    effort: Arc<Effort>,
    tally: Tally,
    seconds_before: f64,
    decisions_before: u64,
    scores: VecDeque<f64>,
    latest: Option<RoundReport>,
    /// Whether there is something to save.
    unsaved: bool,
    saved: Instant,
    saved_round: u64,
}

impl<'r, P: Position, E: PolicyEncoder<P>> Session<'r, P, E> {
    fn prepare(starts: &'r [Start<P, E>], run: &'r RunDir, budget: Budget) -> Result<Session<'r, P, E>, SessionError> {
        let config = run.config();
        let checkpoints = run.checkpoints();
        let is_new = checkpoints.steps()?.is_empty();
        let device = config.network.device.device()?;
        let (trainer, tally) = if is_new {
            let architecture = config.network.architecture;
            let network = NetworkConfig { inputs: input_sizes(&starts[0].encoder), architecture };
            let seed = chance::named_rng(config.seed, "weights").next_u64();
            let net = Network::new(network, seed as i64, device)?;
            (Trainer::new(net, config.learner.trainer.clone())?, Tally::default())
        } else {
            let Checkpoint { net, trainer, manifest } =
                checkpoints.load(None, &contract(&starts[0].position, &starts[0].encoder), device)?;
            if manifest.rules_hash != starts[0].position.identity().rules_hash {
                warn!(trained_on = manifest.rules_hash, "the rules' data have changed since the checkpoint was saved");
            }
            let figure = |name: &str| manifest.figures.get(name).copied().unwrap_or(0.0);
            let tally = Tally {
                seconds: figure("seconds"),
                games: figure("games") as u64,
                decisions: figure("decisions") as u64,
                rounds: figure("rounds") as u64,
                numbered: figure("numbered") as u64,
            };
            (Trainer::resume(net, trainer, manifest.step, config.learner.trainer.clone())?, tally)
        };
        let steps = trainer.steps();
        let replay = ReplaySettings {
            games_per_round: config.learner.games_per_round,
            window: config.learner.window,
            uses: config.learner.uses,
            seed: config.seed,
        };
        let replay = Replay::open(&run.replay_folder(), replay, tally.rounds, config.deterministic)?;
        let mut session = Session {
            starts,
            run,
            budget,
            learner: Learner::new(starts, config, trainer),
            replay,
            effort: Arc::default(),
            tally,
            seconds_before: tally.seconds,
            decisions_before: tally.decisions,
            scores: VecDeque::with_capacity(SCORED_GAMES),
            latest: None,
            unsaved: is_new,
            saved: Instant::now(),
            saved_round: tally.rounds,
        };
        info!(
            scenarios = config.scenarios.join(" "),
            steps,
            games = tally.games,
            weights = session.learner.net().weight_count(),
            "begin"
        );
        session.save_checkpoint(Instant::now())?;
        Ok(session)
    }

    /// Learns until the budget is used up (false) or the watcher stops it (true). `wait` is called when there is nothing to
    /// learn from, and adds games or lets some time pass.
    fn learn(
        &mut self,
        weights: &PublishedWeights,
        begun: Instant,
        watcher: &dyn Watcher,
        mut wait: impl FnMut(&mut Self) -> Result<(), SessionError>,
    ) -> Result<bool, SessionError> {
        let mut log = RoundLog::open(self.run)?;
        let mut reported = begun;
        loop {
            if reported.elapsed() >= REPORT {
                reported = Instant::now();
                watcher.progress(&self.progress(begun));
            }
            if watcher.stop_requested() {
                return Ok(true);
            }
            if self.elapsed(begun) >= 1.0 {
                return Ok(false);
            }
            if self.tally.rounds < self.replay.current() {
                self.learn_round(weights, begun, &mut log)?;
            } else {
                wait(self)?;
            }
        }
    }

    /// Takes a game that an actor has finished, or waits for one for a while.
    fn receive(&mut self, games: &Receiver<Result<SelfPlayGame, PlayerError>>) -> Result<(), SessionError> {
        match games.recv_timeout(REPORT) {
            Ok(game) => self.replay.push(game?).map(|_| ()).map_err(SessionError::from),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(SessionError::NoActors),
        }
    }

    /// Plays the next round on this thread, with the weights of the round before. A round that the watcher stops is
    /// dropped.
    fn play_round(
        &mut self,
        material: &Material<P, E>,
        weights: &PublishedWeights,
        watcher: &dyn Watcher,
    ) -> Result<(), SessionError> {
        let config = self.run.config();
        let size = config.learner.games_per_round as u64;
        let first = self.tally.rounds * size;
        let (numbers, effort) = (GameNumbers::new(first, first + size), self.effort.clone());
        let mut players = Players::new(material, config, weights, &numbers, &effort)?;
        let mut games = Vec::with_capacity(config.learner.games_per_round);
        while players.tick(&mut games)? {
            if watcher.stop_requested() {
                return Ok(());
            }
        }
        games.sort_by_key(|game| game.number);
        for game in games {
            self.replay.push(game)?;
        }
        Ok(())
    }

    /// The part of the budget that is used up, 0..=1.
    fn elapsed(&self, begun: Instant) -> f64 {
        match self.budget {
            Budget::Time(time) => begun.elapsed().as_secs_f64() / time.as_secs_f64(),
            Budget::Rounds(rounds) => self.tally.rounds as f64 / rounds as f64,
        }
    }

    fn progress(&self, begun: Instant) -> Progress {
        let seconds = begun.elapsed().as_secs_f64();
        Progress {
            session_seconds: seconds,
            tally: Tally { seconds: self.seconds_before + seconds, ..self.tally },
            step: self.learner.steps(),
            elapsed: self.elapsed(begun).min(1.0),
            decisions_per_second: (self.tally.decisions - self.decisions_before) as f64 / seconds,
            first_seat_score: self.scores.iter().sum::<f64>() / self.scores.len().max(1) as f64,
            effort: self.effort.report(),
            latest: self.latest,
        }
    }

    fn learn_round(
        &mut self,
        weights: &PublishedWeights,
        begun: Instant,
        log: &mut RoundLog,
    ) -> Result<(), SessionError> {
        let round = self.tally.rounds;
        let elapsed = self.elapsed(begun);
        let (own, older) = self.replay.lesson(round);
        let figures = RoundFigures::of(own, &self.run.config().self_play.utility);
        let games: Vec<&SelfPlayGame> = own.iter().chain(older).collect();
        self.latest = Some(self.learner.round(round, &games, elapsed)?);
        self.unsaved = true;
        self.tally.rounds += 1;
        for game in own {
            self.tally.games += 1;
            self.tally.decisions += game.decisions.len() as u64;
            self.tally.numbered = self.tally.numbered.max(game.number + 1);
            if self.scores.len() == SCORED_GAMES {
                self.scores.pop_front();
            }
            self.scores.push_back(game.result.score(Seat::First));
        }
        self.replay.forget_before(self.tally.rounds)?;
        weights
            .publish(self.learner.average(), self.learner.steps())
            .map_err(|error| PlayerError::from(ActorError::from(error)))?;
        log.add(&self.progress(begun), &figures)?;
        let config = self.run.config();
        let since = match config.deterministic {
            true => (self.tally.rounds - self.saved_round) as f64,
            false => self.saved.elapsed().as_secs_f64(),
        };
        if since >= config.storage.checkpoint_every { self.save_checkpoint(begun) } else { Ok(()) }
    }

    /// Saves what was learnt since the last checkpoint, if anything, deletes checkpoints that are not kept, and sees to it
    /// that the run takes no more on disk than it may.
    fn save_checkpoint(&mut self, begun: Instant) -> Result<(), SessionError> {
        (self.saved, self.saved_round) = (Instant::now(), self.tally.rounds);
        if !std::mem::take(&mut self.unsaved) {
            return Ok(keep_within(self.run)?);
        }
        let Tally { seconds, rounds, games, decisions, numbered } = self.progress(begun).tally;
        let counts = [("rounds", rounds), ("games", games), ("decisions", decisions), ("numbered", numbered)];
        let figures = counts.map(|(name, count)| (name, count as f64)).into_iter().chain([("seconds", seconds)]);
        let Start { position, encoder } = &self.starts[0];
        let description = Description {
            contract: contract(position, encoder),
            rules_hash: position.identity().rules_hash,
            step: self.learner.steps(),
            figures: figures.map(|(name, figure)| (name.to_string(), figure)).collect::<BTreeMap<_, _>>(),
        };
        let checkpoints = self.run.checkpoints();
        let trainer = self.learner.trainer_state()?;
        checkpoints.save(self.learner.average(), Some(&trainer), &description)?;
        info!(step = description.step, games, "checkpoint");
        let steps = checkpoints.steps()?;
        let kept = kept(&steps, &self.run.config().storage);
        steps.iter().filter(|step| !kept.contains(*step)).try_for_each(|&step| checkpoints.remove(step))?;
        Ok(keep_within(self.run)?)
    }
}

/// The checkpoints that are kept of `steps`, which ascend: the first, the latest, and milestones spread evenly between.
fn kept(steps: &[u64], storage: &StorageConfig) -> BTreeSet<u64> {
    let Some(&last) = steps.last() else { return BTreeSet::new() };
    let nearest = |wanted: u64| steps.iter().copied().min_by_key(|step| step.abs_diff(wanted));
    let milestones = storage.milestones as u64;
    let spread = (0..=milestones).filter_map(|i| nearest(last * i / milestones));
    spread.chain(steps.iter().rev().take(storage.latest).copied()).chain(steps.first().copied()).collect()
}

/// Plays until the session halts or nobody listens any more.
fn act<P: Position, E: PolicyEncoder<P>>(
    players: Result<Players<P, E>, PlayerError>,
    games: &SyncSender<Result<SelfPlayGame, PlayerError>>,
    halt: &AtomicBool,
) {
    let mut finished = Vec::new();
    let play = || -> Result<(), PlayerError> {
        let mut players = players?;
        while !halt.load(Ordering::Relaxed) && players.tick(&mut finished)? {
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

//! A training session: actors that play, one learner, checkpoints, until the time is over or somebody stops it.
//!
//! # Layout
//! * [`gate`]: which weights play.
//! * [`player`]: the network of a session as an agent.
//! * `actors`: the threads that play.
//! * `budget`: how long a session lasts.
//! * `clock`: how long a run has gone, kept on disk while it goes.
//! * `error`: why a session failed.
//! * `progress`: how far a session is, and who hears of it.
//! * `kept`: networks that a session keeps beside its checkpoints.
//! * `checkpoint_figures`: what a checkpoint says of its run.
//! * `standing`: where a run stands, by all of its files.

use crate::arena::luck::ValueFunction;
use crate::arena::match_play::Spectator;
use crate::arena::store::PROGRAM;
use crate::assessment::{self, AgentScore, Assessment};
use crate::config::{RunConfig, RunNetwork, StorageConfig};
use crate::disk_limit::keep_within;
use crate::learner::{LearnError, Learner, RoundReport};
use crate::round_log::RoundLog;
use crate::run_dir::RunDir;
use crate::run_files::{ANCHOR, CONFIG, PAST, PLAYING, SessionLine};
use crate::self_play::Start;
use crate::self_play::evaluation::{BatchEvaluator, Effort};
use crate::self_play::game::SelfPlayGame;
use crate::self_play::numbers::GameNumbers;
use crate::self_play::players::Players;
use crate::self_play::pool::{Pool, Rival, past_name};
use crate::self_play::replay::{Replay, ReplaySettings};
use crate::self_play::round_figures::RoundFigures;
use crate::self_play::weights::PublishedWeights;
use crate::session::actors::{Games, Play, keep, learn_beside, locked};
use crate::session::checkpoint_figures::{PLAYING_STEP, figures_of_met, figures_of_tally, met_from};
use crate::session::kept::KeptNetworks;
use crate::session::progress::StopWith;
use crate::session::standing::Standing;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{GameIdentity, Position, Seat};
use dervish_models::checkpoint::{Checkpoint, Contract, Description, Origin};
use dervish_models::device::Device;
use dervish_models::evaluator::EvaluateError;
use dervish_models::network::{Network, NetworkConfig};
use dervish_models::process;
use dervish_models::trainer::Trainer;
use dervish_neural::encoding::{contract, input_sizes};
use rand::Rng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tracing::{debug, info, warn};

mod actors;
mod budget;
mod checkpoint_figures;
mod clock;
mod error;
pub mod gate;
mod kept;
pub mod player;
mod progress;
mod standing;

pub use budget::Budget;
pub use checkpoint_figures::{FigureError, FigureFault};
pub use error::SessionError;
pub use progress::{Progress, SessionReport, Tally, Watcher};

/// What a run plays, and whom it learns from.
pub struct Material<P: Position, E> {
    /// The scenarios, at least one, with encoders of one layout.
    pub starts: Vec<Start<P, E>>,
    /// The agent that is imitated, for each scenario, where the configuration asks for one; else none.
    pub teachers: Vec<AgentFactory<P>>,
    /// The opponents of the pool.
    pub opponents: Vec<Rival<P>>,
    /// The opponents of assessments that are never trained against.
    pub held_out: Vec<Rival<P>>,
    /// What luck is measured by, needed where it is taken out of the targets.
    pub value: Option<Box<ValueFunction<P>>>,
}

impl<P: Position, E> Material<P, E> {
    /// These scenarios, without anybody beside the network.
    pub fn of(starts: Vec<Start<P, E>>) -> Material<P, E> {
        Material { starts, teachers: Vec::new(), opponents: Vec::new(), held_out: Vec::new(), value: None }
    }
}

/// Whether a run of this configuration can have its network on this machine: to be asked before anything is written.
///
/// # Errors
/// [`SessionError::Network`] and [`SessionError::Device`].
pub fn check_network<P: Position, E: PolicyEncoder<P>>(
    start: &Start<P, E>,
    config: &RunConfig,
) -> Result<(), SessionError> {
    network_config(start, config).check()?;
    config.device().device()?;
    Ok(())
}

/// A scenario and the hash of its rules' data.
fn rules_of<P: Position, E>(start: &Start<P, E>) -> (String, String) {
    let GameIdentity { scenario, rules_hash, .. } = start.position.identity();
    (scenario, rules_hash)
}

/// The network of a run of this configuration.
pub fn network_config<P: Position, E: PolicyEncoder<P>>(start: &Start<P, E>, config: &RunConfig) -> NetworkConfig {
    let RunNetwork { architecture, by_seat, .. } = config.network;
    NetworkConfig { inputs: input_sizes(&start.encoder), architecture, by_seat }
}

/// Trains in `run` for `budget`: a new run from random weights, or one that has checkpoints from its latest. What its other
/// files tell must be a new run's, or agree with it.
///
/// The dice and random streams of every game follow from the run's seed and the game's number. Which weights play which
/// game, and which opponents a pool offers by then, depends on the threads' timing and is recorded with the game; in a
/// deterministic run it follows from the configuration.
///
/// # Errors
/// [`SessionError`]. What was learnt since the last checkpoint is then lost, unless self-play alone failed; its games are kept.
pub fn train<P: Position, E: PolicyEncoder<P> + Clone + 'static>(
    material: &Material<P, E>,
    run: &RunDir,
    budget: Budget,
    watcher: &dyn Watcher,
) -> Result<SessionReport, SessionError> {
    process::prepare();
    let begun = Instant::now();
    let config = run.config();
    let (mut session, weights) = Session::prepare(material, run, budget, watcher)?;
    let before = session.tally;
    let (stopped, seconds) = clock::timed(run, before.seconds, begun, || -> Result<bool, SessionError> {
        if config.deterministic {
            let learnt = session.learn(&weights, begun, watcher, |session| session.play_round(&weights, watcher));
            return session.conclude(learnt, &weights, begun);
        }
        let played = locked(&session.replay).latest_number().map_or(0, |number| number + 1);
        let numbers = &GameNumbers::new(before.numbered.max(played), u64::MAX);
        let (pool, effort, replay) = (session.pool.clone(), session.effort.clone(), session.replay.clone());
        let play = Play { material, config, pool: &pool, weights: &weights, numbers, effort: &effort, replay: &replay };
        // Before the actors have finished what they are at: a teacher's whole game may take minutes.
        learn_beside(&play, |games| {
            let learnt = session.learn(&weights, begun, watcher, |session| session.receive(games));
            session.conclude(learnt, &weights, begun)
        })?
    });
    let stopped = stopped?;
    let Progress { tally, waiting, .. } = session.progress(begun);
    let (after, steps) = (Tally { seconds, ..tally }, session.learner.steps());
    info!(games = after.games, decisions = after.decisions, steps, stopped, "session over");
    Ok(SessionReport { before, after, waiting, steps, stopped })
}

/// What is left of a run's latest session, which was stopped or killed; `None` if it came to its end or none has begun.
///
/// # Errors
/// [`SessionError`] if the run's files cannot be read, or tell of a run that cannot go on.
pub fn unfinished(run: &RunDir) -> Result<Option<Budget>, SessionError> {
    let Some(Standing { tally, session, .. }) = Standing::of(run)? else { return Ok(None) };
    Ok(session.and_then(|session| budget::left_of(&session, &tally)))
}

/// Games over whose results the score of self-play is averaged.
const SCORED_GAMES: usize = 200;

/// Time between two words about the progress.
const REPORT: Duration = Duration::from_millis(200);

struct Session<'r, P: Position, E> {
    material: &'r Material<P, E>,
    run: &'r RunDir,
    budget: Budget,
    learner: Learner<'r, P, E>,
    pool: Arc<Pool<P>>,
    /// Networks of the past that are in the pool.
    past: KeptNetworks,
    /// The network as it was at the first assessment, which later ones are played against too.
    anchor: KeptNetworks,
    /// The network that plays at each checkpoint, where a gate lets it differ from the one that learns.
    playing: KeptNetworks,
    assessments: Vec<Assessment>,
    replay: Arc<Mutex<Replay>>,
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
    saved_step: u64,
}

impl<'r, P: Position, E: PolicyEncoder<P> + Clone + 'static> Session<'r, P, E> {
    /// The session, and the weights that play at its beginning.
    fn prepare(
        material: &'r Material<P, E>,
        run: &'r RunDir,
        budget: Budget,
        watcher: &dyn Watcher,
    ) -> Result<(Session<'r, P, E>, PublishedWeights), SessionError> {
        let config = run.config();
        let starts = &material.starts;
        let checkpoints = run.checkpoints();
        let standing = Standing::of(run)?;
        let is_new = standing.is_none();
        let device = config.device().device()?;
        let (mut met, mut playing_step) = (BTreeMap::new(), None);
        let (trainer, tally) = if let Some(Standing { step, tally, lost, .. }) = standing {
            let Checkpoint { net, trainer, manifest } =
                checkpoints.load(Some(step), &contract(&starts[0].position, &starts[0].encoder), device)?;
            if let Some(lost) = lost {
                warn!(step, lost, "goes on from an earlier step");
                watcher.warned(&format!("the run goes on from step {step}: there is no checkpoint of step {lost}"));
            }
            // No reason to refuse: what is observed keeps its meaning, and games that the rules no longer allow are told.
            for start in starts {
                let GameIdentity { scenario, rules_hash, rules_version, .. } = start.position.identity();
                if let Some(words) = manifest.foreign_to(&scenario, &rules_hash, rules_version) {
                    warn!("the run's network was {words}");
                    watcher.warned(&format!("the run's network was {words}"));
                }
            }
            if *net.config() != network_config(&starts[0], config) {
                return Err(SessionError::OtherNetwork { path: run.path().join(CONFIG) });
            }
            met = met_from(&manifest.figures);
            playing_step = manifest.figures.get(PLAYING_STEP).map(|&step| step as u64);
            (Trainer::resume(net, trainer, manifest.step, config.learner.trainer.clone())?, tally)
        } else {
            let network = network_config(&starts[0], config);
            let seed = chance::named_rng(config.seed, "weights").next_u64();
            let net = Network::new(network, seed as i64, device)?;
            (Trainer::new(net, config.learner.trainer.clone())?, Tally::default())
        };
        let steps = trainer.steps();
        let replay = ReplaySettings {
            games_per_round: config.learner.games_per_round,
            window: config.learner.window,
            uses: config.learner.uses,
            taught: config.imitation.as_ref().map_or(0, |imitation| imitation.games),
            taught_uses: config.taught_uses(),
            seed: config.seed,
        };
        let replay = Replay::open(&run.replay_folder(), replay, tally.rounds, config.deterministic)?;
        let past = KeptNetworks::open(run, PAST, config.league.past, steps)?;
        let anchor = KeptNetworks::open(run, ANCHOR, usize::from(config.assessment.every > 0), steps)?;
        let playing = KeptNetworks::open(run, PLAYING, usize::from(config.gate.is_some()), steps)?;
        let mut session = Session {
            material,
            run,
            budget,
            learner: Learner::new(starts, config, material.value.as_deref(), trainer),
            pool: Arc::new(Pool::new(&config.league, material.opponents.clone(), met)),
            past,
            anchor,
            playing,
            assessments: run.assessments_until(tally.rounds)?,
            replay: Arc::new(Mutex::new(replay)),
            effort: Arc::default(),
            tally,
            seconds_before: tally.seconds,
            decisions_before: tally.decisions,
            scores: VecDeque::with_capacity(SCORED_GAMES),
            latest: None,
            unsaved: is_new,
            saved: Instant::now(),
            saved_round: tally.rounds,
            saved_step: steps,
        };
        run.add_session(&SessionLine {
            program: PROGRAM.to_string(),
            began: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            budget_seconds: if let Budget::Time(time) = budget { Some(time.as_secs_f64()) } else { None },
            budget_rounds: if let Budget::Rounds(rounds) = budget { Some(rounds) } else { None },
            seconds: Some(tally.seconds),
            rounds: tally.rounds,
            step: steps,
        })?;
        info!(
            program = PROGRAM,
            scenarios = config.scenarios.join(" "),
            seed = config.seed,
            %budget,
            steps,
            games = tally.games,
            weights = session.learner.net().weight_count(),
            "begin"
        );
        session.meet_past(device)?;
        let kept = session.playing.latest(&session.contract(), device)?.pop();
        let weights = match kept {
            Some((_, net)) => PublishedWeights::new(net, playing_step.unwrap_or(steps)),
            None => PublishedWeights::new(session.learner.average().duplicate().map_err(EvaluateError::from)?, steps),
        };
        session.save_checkpoint(&weights, Instant::now())?;
        Ok((session, weights))
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
        let mut log = RoundLog::open(self.run, self.learner.steps())?;
        let mut reported = begun;
        // One that was broken off when an earlier session was stopped.
        self.assess_if_due(begun, watcher, &mut log)?;
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
            let current = locked(&self.replay).current();
            if self.tally.rounds < current {
                self.learn_round(weights, begun, watcher, &mut log)?;
            } else {
                wait(self)?;
            }
        }
    }

    /// Ends the session: saves what was learnt, unless the learner itself has failed.
    fn conclude(
        &mut self,
        learnt: Result<bool, SessionError>,
        weights: &PublishedWeights,
        begun: Instant,
    ) -> Result<bool, SessionError> {
        match &learnt {
            Ok(_) => self.save_checkpoint(weights, begun)?,
            Err(error) if error.spares_the_learner() => {
                // The first error is the one to tell.
                if let Err(error) = self.save_checkpoint(weights, begun) {
                    warn!("{error}");
                }
            }
            Err(error) if error.is_not_finite() => {
                return Err(SessionError::NotFinite { error: error.to_string(), saved: self.saved_step });
            }
            Err(_) => {}
        }
        learnt
    }

    /// Hears of a game that an actor has finished, or waits for one for a while.
    fn receive(&mut self, games: &Games) -> Result<(), SessionError> {
        match games.recv_timeout(REPORT) {
            Ok(kept) => kept,
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(SessionError::NoActors),
        }
    }

    /// Plays the next round on this thread, with the weights of the round before. A round that the watcher stops is
    /// dropped.
    fn play_round(&mut self, weights: &PublishedWeights, watcher: &dyn Watcher) -> Result<(), SessionError> {
        let config = self.run.config();
        let size = config.learner.games_per_round as u64;
        let first = self.tally.rounds * size;
        let (numbers, effort) = (GameNumbers::new(first, first + size), self.effort.clone());
        let pool = self.pool.clone();
        let evaluator = BatchEvaluator::own(weights, &effort, config.learner.trainer.precision)?;
        let mut players = Players::new(self.material, config, &pool, weights, &numbers, evaluator);
        let mut games = Vec::with_capacity(config.learner.games_per_round);
        while players.tick(&mut games)? {
            if watcher.stop_requested() {
                return Ok(());
            }
        }
        games.sort_by_key(|game| game.number);
        games.into_iter().try_for_each(|game| keep(&self.replay, game))
    }

    /// The part of the session that is over; 1 and more ends it.
    fn elapsed(&self, begun: Instant) -> f64 {
        self.budget.part_of_session(begun.elapsed().as_secs_f64(), self.tally.rounds)
    }

    fn progress(&self, begun: Instant) -> Progress {
        let seconds = begun.elapsed().as_secs_f64();
        Progress {
            session_seconds: seconds,
            tally: Tally { seconds: self.seconds_before + seconds, ..self.tally },
            waiting: self.waiting(),
            step: self.learner.steps(),
            elapsed: self.elapsed(begun).min(1.0),
            decisions_per_second: (self.tally.decisions - self.decisions_before) as f64 / seconds,
            first_seat_score: (!self.scores.is_empty())
                .then(|| self.scores.iter().sum::<f64>() / self.scores.len() as f64),
            effort: self.effort.report(),
            latest: self.latest,
        }
    }

    /// Games that are played and not learnt from yet.
    fn waiting(&self) -> u64 {
        let replay = locked(&self.replay);
        let rounds = replay.current() - self.tally.rounds;
        rounds * self.run.config().learner.games_per_round as u64 + replay.open_games() as u64
    }

    fn learn_round(
        &mut self,
        weights: &PublishedWeights,
        begun: Instant,
        watcher: &dyn Watcher,
        log: &mut RoundLog,
    ) -> Result<(), SessionError> {
        let round = self.tally.rounds;
        let seconds = begun.elapsed().as_secs_f64();
        let over = self.budget.part_of_run(self.seconds_before, seconds, round);
        let [own, older] = locked(&self.replay).lesson(round);
        let figures = RoundFigures::of(own.iter().map(Arc::as_ref), &self.run.config().self_play.utility);
        let games: Vec<&SelfPlayGame> = own.iter().chain(&older).map(Arc::as_ref).collect();
        let steps = self.learner.steps();
        let report = self.learner.round(round, &games, over).map_err(|error| self.unplayable(error))?;
        debug!(round, learnt_from = report.learnt_from, steps = self.learner.steps() - steps, "round");
        self.latest = Some(report);
        // A round whose file was taken away teaches nothing, and a step is saved once only.
        self.unsaved |= self.learner.steps() > steps;
        self.tally.rounds += 1;
        for game in &own {
            self.tally.games += 1;
            self.tally.decisions += game.decisions.len() as u64;
            self.tally.numbered = self.tally.numbered.max(game.number + 1);
            if let Some(opponent) = &game.opponent {
                self.pool.book(&opponent.name, game.result.score(opponent.seat.other()));
            }
            if self.scores.len() == SCORED_GAMES {
                self.scores.pop_front();
            }
            self.scores.push_back(game.result.score(Seat::First));
        }
        let config = self.run.config();
        if self.may_play(weights, watcher)? {
            weights.publish(self.learner.average(), self.learner.steps())?;
        }
        if config.league.past > 0 && self.tally.rounds.is_multiple_of(config.league.past_every) {
            self.past.keep(self.learner.average(), &self.description(begun))?;
            self.meet_past(self.learner.net().device())?;
        }
        self.assess_if_due(begun, watcher, log)?;
        log.add(&self.progress(begun), &figures)?;
        let since = match config.deterministic {
            true => (self.tally.rounds - self.saved_round) as f64,
            false => self.saved.elapsed().as_secs_f64(),
        };
        if since >= config.storage.checkpoint_every { self.save_checkpoint(weights, begun) } else { Ok(()) }
    }

    /// Names the file of a game that cannot be learnt from.
    fn unplayable(&self, error: LearnError) -> SessionError {
        match error {
            LearnError::Game(game) => match locked(&self.replay).file_of(game.number) {
                Some(path) => SessionError::Unplayable { path, game },
                None => LearnError::Game(game).into(),
            },
            error => error.into(),
        }
    }

    /// Whether the weights as they are now may play: always without a gate and as long as teachers play.
    fn may_play(&self, weights: &PublishedWeights, watcher: &dyn Watcher) -> Result<bool, SessionError> {
        let config = self.run.config();
        let Some(gate) = &config.gate else { return Ok(true) };
        if self.tally.games < config.imitation.as_ref().map_or(0, |imitation| imitation.games) {
            return Ok(true);
        }
        if !self.tally.rounds.is_multiple_of(gate.every) {
            return Ok(false);
        }
        /// Keeps the dice of these matches apart from all others.
        const GATED: u64 = 0x6761_7465;
        let old = weights.duplicate()?;
        let seed = chance::game_seed(config.seed ^ GATED, self.tally.rounds);
        let nets = [self.learner.average(), &old];
        let starts = &self.material.starts;
        // Where the weights must not depend on interruptions, a match is not one that can be broken off.
        let stop = StopWith(watcher);
        let spectator: &dyn Spectator = if config.deterministic { &() } else { &stop };
        let passed = gate::is_better(starts, nets, gate, (seed, config.threads), spectator)?;
        info!(round = self.tally.rounds, step = self.learner.steps(), passed, "gate");
        Ok(passed.unwrap_or(false))
    }

    /// Puts the kept networks of the past into the pool.
    fn meet_past(&self, device: Device) -> Result<(), SessionError> {
        let mut past = Vec::new();
        for (step, net) in self.past.latest(&self.contract(), device)? {
            past.push(self.past_rival(step, &net)?);
        }
        self.pool.set_past(past);
        Ok(())
    }

    /// The network of an earlier step as an opponent.
    fn past_rival(&self, step: u64, net: &Network) -> Result<Rival<P>, SessionError> {
        let players = self.material.starts.iter().map(|start| player::past_player(start, net));
        Ok(Rival { name: past_name(step), by_scenario: players.collect::<Result<_, _>>()? })
    }

    /// Assesses the network after every so many rounds, once.
    fn assess_if_due(&mut self, begun: Instant, watcher: &dyn Watcher, log: &mut RoundLog) -> Result<(), SessionError> {
        let (rounds, every) = (self.tally.rounds, self.run.config().assessment.every);
        let is_round = every > 0 && rounds > 0 && rounds.is_multiple_of(every);
        let is_done = self.assessments.last().is_some_and(|last| last.rounds == rounds);
        if is_round && !is_done { self.assess(begun, watcher, log) } else { Ok(()) }
    }

    /// Plays the network against the opponents of the pool, itself as it was at the first assessment, and the held-out opponents,
    /// and notes how it did.
    fn assess(&mut self, begun: Instant, watcher: &dyn Watcher, log: &mut RoundLog) -> Result<(), SessionError> {
        let config = self.run.config();
        let Material { starts, opponents, held_out, .. } = self.material;
        let simulations = config.assessment.simulations;
        let players = starts.iter().map(|start| player::player(start, self.learner.average(), simulations));
        let players = players.collect::<Result<Vec<_>, _>>()?;
        let with = |rivals: &[Rival<P>], held_out| rivals.iter().cloned().map(move |rival| (rival, held_out)).collect();
        let [mut rivals, others]: [Vec<(Rival<P>, bool)>; 2] = [with(opponents, false), with(held_out, true)];
        let anchor = self.anchor.latest(&self.contract(), self.learner.net().device())?.pop();
        if let Some((step, net)) = anchor.as_ref().filter(|(step, _)| *step < self.learner.steps()) {
            rivals.push((self.past_rival(*step, net)?, false));
        }
        rivals.extend(others);
        let options = assessment::options(&config.assessment, config.seed, config.threads);
        let agents = assessment::play(starts, &players, &rivals, options, &StopWith(watcher))?;
        let Some(agents) = agents else { return Ok(()) };
        for AgentScore { spec, scenario, score, low, high, forfeits, .. } in &agents {
            info!(spec, scenario, score, low, high, "assessment");
            if *forfeits > 0 {
                warn!(spec, scenario, forfeits, "the opponent forfeits games: its score tells nothing");
            }
        }
        self.assessments.push(Assessment {
            seconds: self.progress(begun).tally.seconds,
            rounds: self.tally.rounds,
            step: self.learner.steps(),
            simulations,
            rating: assessment::rating(&agents),
            agents,
            alarm: false,
        });
        if anchor.is_none() {
            self.anchor.keep(self.learner.average(), &self.description(begun))?;
        }
        let alarm = assessment::alarm(&self.assessments);
        if alarm {
            warn!("{}", assessment::ALARM);
            watcher.warned(assessment::ALARM);
        }
        let Some(last) = self.assessments.last_mut() else { return Ok(()) };
        last.alarm = alarm;
        Ok(log.add_assessment(last)?)
    }

    fn contract(&self) -> Contract {
        let Start { position, encoder } = &self.material.starts[0];
        contract(position, encoder)
    }

    /// What a checkpoint made now says of itself.
    fn description(&self, begun: Instant) -> Description {
        let (tally, met) = (self.progress(begun).tally, self.pool.met());
        let config = self.run.config();
        Description {
            contract: self.contract(),
            rules: self.material.starts.iter().map(rules_of).collect(),
            rules_version: Some(self.material.starts[0].position.identity().rules_version),
            origin: Some(Origin::of(PROGRAM, config.seed, self.run.config_text())),
            step: self.learner.steps(),
            figures: figures_of_tally(&tally).chain(figures_of_met(&met)).collect(),
        }
    }

    /// Saves what was learnt since the last checkpoint, if anything, deletes checkpoints that are not kept, and sees to it
    /// that the run takes no more on disk than it may.
    fn save_checkpoint(&mut self, weights: &PublishedWeights, begun: Instant) -> Result<(), SessionError> {
        (self.saved, self.saved_round) = (Instant::now(), self.tally.rounds);
        if !std::mem::take(&mut self.unsaved) {
            return Ok(keep_within(self.run)?);
        }
        let mut description = self.description(begun);
        if self.run.config().gate.is_some() {
            description.figures.insert(PLAYING_STEP.to_string(), weights.step() as f64);
            let playing = weights.duplicate()?;
            self.playing.keep(&playing, &description)?;
        }
        let checkpoints = self.run.checkpoints();
        let trainer = self.learner.trainer_state()?;
        checkpoints.save(self.learner.average(), Some(&trainer), &description)?;
        self.saved_step = description.step;
        // Whoever goes on from an earlier checkpoint than this one needs what goes here.
        locked(&self.replay).forget_before(self.tally.rounds)?;
        self.past.prune()?;
        self.playing.prune()?;
        info!(step = description.step, games = self.tally.games, "checkpoint");
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

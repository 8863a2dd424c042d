//! The learner: rounds of optimisation steps on finished games, whose features are computed again from their actions.

use crate::self_play::game::{SelfPlayGame, UnplayableGame};
use crate::self_play::replay::ReplayWindow;
use crate::self_play::targets::{TargetConfig, played_actions, standardise, turns_left, value_target};
use dervish_env::chance::SplitMix64;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Position, Seat};
use dervish_models::batch::{BatchError, Played, Target, TrainingBatch};
use dervish_models::network::Network;
use dervish_models::trainer::{Losses, TrainError, Trainer, TrainerConfig, TrainerState};
use dervish_neural::encoding::PositionEncoding;
use serde::{Deserialize, Serialize};

/// How a run learns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerConfig {
    /// How results become targets.
    pub targets: TargetConfig,
    /// Step size, weights of the losses, average of the weights.
    pub trainer: TrainerConfig,
    /// New games that begin a round, at least 1.
    pub games_per_round: usize,
    /// Older games of the window that are learnt from again in a round. A policy gradient wants none, because it judges
    /// the policy that played.
    pub replayed_games: usize,
    /// Times that a round goes over its decisions.
    pub passes: usize,
    /// Decisions for each optimisation step, about.
    pub batch: usize,
    /// Games that the replay window keeps.
    pub window: usize,
    /// The part of the step size that is left when a run's time is over; it shrinks evenly until then.
    pub final_learning_rate: f64,
}

impl LearnerConfig {
    /// What to begin with for self-play without search (`simulations` 0) or with it.
    pub fn for_simulations(simulations: u32) -> LearnerConfig {
        let searched = simulations > 0;
        LearnerConfig {
            targets: TargetConfig::default(),
            trainer: TrainerConfig { average_decay: if searched { 0.99 } else { 0.9 }, ..TrainerConfig::default() },
            games_per_round: 32,
            replayed_games: if searched { 96 } else { 0 },
            passes: if searched { 1 } else { 2 },
            batch: 512,
            window: if searched { 2000 } else { 256 },
            final_learning_rate: 0.1,
        }
    }
}

/// Learns from the games of one run.
#[derive(Debug)]
pub struct Learner<'r, P, E> {
    start: &'r P,
    encoder: &'r E,
    config: LearnerConfig,
    trainer: Trainer,
    rng: SplitMix64,
    encoding: PositionEncoding,
    batches: Vec<TrainingBatch>,
}

/// What a round did.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct RoundReport {
    /// Decisions learnt from, each counted once.
    pub learnt_from: usize,
    /// Losses, averaged over the round's steps.
    #[serde(flatten)]
    pub losses: Losses,
}

/// Why a round failed.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// A game of the window does not fit the rules.
    #[error("replay: {0}")]
    Game(#[from] UnplayableGame),
    /// The encoder's arrays or the targets do not fit the network.
    #[error("learner: {0}")]
    Batch(#[from] BatchError),
    /// A step could not be taken.
    #[error("learner: {0}")]
    Train(#[from] TrainError),
}

impl<'r, P: Position, E: PolicyEncoder<P>> Learner<'r, P, E> {
    /// A learner that goes on with `trainer`; what it draws comes from `seed`.
    pub fn new(start: &'r P, encoder: &'r E, config: LearnerConfig, trainer: Trainer, seed: u64) -> Learner<'r, P, E> {
        let (rng, encoding) = (SplitMix64::new(seed), PositionEncoding::new(encoder, trainer.net().config()));
        Learner { start, encoder, config, trainer, rng, encoding, batches: Vec::new() }
    }

    /// Learns from the latest `fresh` games of the window and from some older ones. `elapsed` is the part of the run's
    /// time that is over, 0..=1.
    ///
    /// # Errors
    /// [`LearnError`]; steps taken before it stay taken.
    pub fn round(&mut self, window: &ReplayWindow, fresh: usize, elapsed: f64) -> Result<RoundReport, LearnError> {
        let mut games: Vec<&SelfPlayGame> = window.latest(fresh).collect();
        let rng = &mut self.rng;
        games.extend((0..self.config.replayed_games).filter_map(|_| window.draw(rng)));
        let learnt_from = self.fill_batches(&games)?;
        let rate = self.config.trainer.learning_rate;
        self.trainer
            .set_learning_rate(rate * (1.0 - elapsed.clamp(0.0, 1.0) * (1.0 - self.config.final_learning_rate)));
        let mut sum = Losses::default();
        let mut steps = 0;
        for _ in 0..self.config.passes {
            for batch in self.batches.iter().filter(|batch| !batch.is_empty()) {
                sum = sum.plus(&self.trainer.step(batch)?);
                steps += 1;
            }
        }
        Ok(RoundReport { learnt_from, losses: sum.scaled(1.0 / f64::from(steps.max(1))) })
    }

    /// The weights to play with.
    pub fn average(&self) -> &Network {
        self.trainer.average()
    }

    /// The weights of the last step.
    pub fn net(&self) -> &Network {
        self.trainer.net()
    }

    /// A copy of what it takes to go on training.
    ///
    /// # Errors
    /// What libtorch said.
    pub fn trainer_state(&self) -> Result<TrainerState, TrainError> {
        self.trainer.state()
    }

    /// Optimisation steps taken.
    pub fn steps(&self) -> u64 {
        self.trainer.steps()
    }

    /// Spreads the decisions of the games over batches at random and returns how many there are.
    fn fill_batches(&mut self, games: &[&SelfPlayGame]) -> Result<usize, LearnError> {
        let mut played: Vec<Vec<Option<Played>>> =
            games.iter().map(|game| played_actions(game, &self.config.targets)).collect();
        let decisions = games.iter().zip(&mut played).flat_map(|(game, played)| {
            let seats = game.decisions.iter().map(|decision| decision.seat);
            seats.zip(played).filter_map(|(seat, played)| played.as_mut().map(|played| (seat, played)))
        });
        standardise(decisions);
        let count = played.iter().flatten().flatten().count();
        let batches = count.div_ceil(self.config.batch.max(1));
        self.batches.truncate(batches);
        self.batches.iter_mut().for_each(TrainingBatch::clear);
        self.batches.resize_with(batches, || TrainingBatch::new(self.trainer.net().config()));
        let Learner { start, encoder, rng, encoding, batches, .. } = self;
        for (game, played) in games.iter().zip(&played) {
            let targets = Seat::BOTH.map(|seat| value_target(&game.result, seat));
            let mut refused = None;
            let mut played = played.iter();
            let turns = turns_left(game);
            let mut turns = turns.iter();
            game.replay(*start, |position, legal, decision| {
                let played = played.next().copied().flatten();
                let turns_left = turns.next().copied().unwrap_or_default();
                let Some(judgement) = &decision.judgement else { return };
                encoding.encode(*encoder, position, decision.seat, legal);
                let (wdl, margin) = targets[decision.seat.index()];
                // What a search found is a better teacher than the luck of the one action played.
                let played = played.filter(|_| judgement.policy.is_empty());
                let target = Target { policy: &judgement.policy, played, wdl, margin, turns_left, weight: 1.0 };
                let batch = rng.below(batches.len());
                if let Err(error) = batches[batch].push(&encoding.sample(), &target) {
                    refused.get_or_insert(error);
                }
            })?;
            if let Some(error) = refused {
                return Err(error.into());
            }
        }
        Ok(count)
    }
}

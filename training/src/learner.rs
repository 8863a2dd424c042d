//! The learner: rounds of optimisation steps on finished games, whose features are computed again from their actions.

use crate::arena::luck::{LuckAdjusted, LuckMeter, ValueFunction};
use crate::config::RunConfig;
use crate::self_play::Start;
use crate::self_play::game::{SelfPlayGame, UnplayableGame};
use crate::self_play::targets::{
    TargetConfig, luck_ahead, played_actions, standardise, take_luck_out, turns_left, value_targets,
};
use dervish_agents::evaluation::Utility;
use dervish_env::chance::{SplitMix64, game_seed};
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Position, Seat};
use dervish_models::batch::{BatchError, Played, Target, TrainingBatch};
use dervish_models::network::Network;
use dervish_models::trainer::{Losses, TrainError, Trainer, TrainerConfig, TrainerState};
use dervish_neural::encoding::PositionEncoding;
use serde::{Deserialize, Serialize};

/// How a run learns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearnerConfig {
    /// How results become targets.
    pub targets: TargetConfig,
    /// Step size, weights of the losses, average of the weights.
    pub trainer: TrainerConfig,
    /// New games that make a round, at least 1.
    pub games_per_round: usize,
    /// Times that a game is learnt from: when it is new, and in so many less one of the rounds of the window. A policy
    /// gradient wants 1, because it judges the policy that played.
    pub uses: usize,
    /// Rounds after its own from which a game may be learnt from again.
    pub window: usize,
    /// Times that a round goes over its decisions.
    pub passes: usize,
    /// Decisions for each optimisation step, about.
    pub batch: usize,
    /// Steps over which the step size grows evenly from nothing: the gradual warm-up of Goyal et al. 2017, section 2.2.
    pub warm_up: u64,
    /// The part of the step size that is left when a run's time or rounds are over; it shrinks evenly until then, as in PPO
    /// (Schulman et al. 2017), which leaves 0.
    pub final_learning_rate: f64,
}

impl Default for LearnerConfig {
    fn default() -> LearnerConfig {
        LearnerConfig {
            targets: TargetConfig::default(),
            trainer: TrainerConfig { average_decay: 0.9, ..TrainerConfig::default() },
            games_per_round: 32,
            uses: 1,
            window: 0,
            passes: 2,
            batch: 512,
            warm_up: 0,
            final_learning_rate: 0.1,
        }
    }
}

/// Learns from the games of one run.
pub struct Learner<'r, P, E> {
    starts: &'r [Start<P, E>],
    config: LearnerConfig,
    utility: Utility,
    /// Whether self-play searches: decisions that were not searched in full then teach the value alone.
    searched: bool,
    /// What luck is measured by, where it is taken out of the targets.
    value: Option<&'r ValueFunction<P>>,
    meter: LuckMeter,
    trainer: Trainer,
    seed: u64,
    encoding: PositionEncoding,
    batches: Vec<TrainingBatch>,
}

/// Keeps the learner's draws apart from those of the games.
const LEARNER: u64 = 0x6c65_6172_6e65_7264;

/// What a round did.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct RoundReport {
    /// Decisions learnt from, each counted once.
    pub learnt_from: usize,
    /// Step size of the round's last step; 0 if it had none.
    pub learning_rate: f64,
    /// Losses, averaged over the round's steps.
    #[serde(flatten)]
    pub losses: Losses,
    /// What luck is worth in the games of the round, where it is taken out of the targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub luck: Option<LuckReport>,
}

/// What the dice explain of results.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LuckReport {
    /// The part of luck that narrows results most, by least squares.
    pub best_share: f64,
    /// By what factor that narrows the interval of the mean result.
    pub narrowing: f64,
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
    /// A learner that goes on with `trainer`; what it draws follows from the run's seed and the round.
    /// `value` is what luck is measured by, needed where the configuration takes luck out of the targets.
    pub fn new(
        starts: &'r [Start<P, E>],
        config: &RunConfig,
        value: Option<&'r ValueFunction<P>>,
        trainer: Trainer,
    ) -> Learner<'r, P, E> {
        Learner {
            starts,
            config: config.learner.clone(),
            utility: config.self_play.utility,
            searched: config.self_play.simulations > 0,
            value: value.filter(|_| config.learner.targets.luck > 0.0),
            meter: LuckMeter::default(),
            encoding: PositionEncoding::new(&starts[0].encoder, trainer.net().config()),
            trainer,
            seed: config.seed,
            batches: Vec::new(),
        }
    }

    /// Learns from the games of round `number` and from older ones. `elapsed` is the part of the run that is over, 0..=1.
    ///
    /// # Errors
    /// [`LearnError`]; steps taken before it stay taken.
    pub fn round(&mut self, number: u64, games: &[&SelfPlayGame], elapsed: f64) -> Result<RoundReport, LearnError> {
        let mut stream = SplitMix64::new(game_seed(self.seed ^ LEARNER, number));
        let lucks = self.lucks_of(games)?;
        let learnt_from = self.fill_batches(games, lucks.as_deref(), &mut stream)?;
        let mut sum = Losses::default();
        let (mut steps, mut learning_rate) = (0, 0.0);
        for _ in 0..self.config.passes {
            for index in 0..self.batches.len() {
                learning_rate = self.learning_rate(elapsed);
                self.trainer.set_learning_rate(learning_rate);
                if !self.batches[index].is_empty() {
                    sum = sum.plus(&self.trainer.step(&self.batches[index])?);
                    steps += 1;
                }
            }
        }
        let luck = lucks.and_then(|lucks| luck_report(games, &lucks));
        let losses = sum.scaled(1.0 / f64::from(steps.max(1)));
        Ok(RoundReport { learnt_from, learning_rate, losses, luck })
    }

    /// The luck ahead of each decision of each game, where it is wanted.
    fn lucks_of(&mut self, games: &[&SelfPlayGame]) -> Result<Option<Vec<Vec<f64>>>, LearnError> {
        let Some(value) = self.value else { return Ok(None) };
        let mut lucks = Vec::with_capacity(games.len());
        for game in games {
            let start = self.start_of(game)?;
            lucks.push(luck_ahead(game, &start.position, value, &mut self.meter)?);
        }
        Ok(Some(lucks))
    }

    fn start_of(&self, game: &SelfPlayGame) -> Result<&'r Start<P, E>, UnplayableGame> {
        let unknown = UnplayableGame { number: game.number, decision: 0, reason: "of a scenario too many" };
        self.starts.get(game.scenario).ok_or(unknown)
    }

    fn learning_rate(&self, elapsed: f64) -> f64 {
        let shrunk = 1.0 - elapsed.clamp(0.0, 1.0) * (1.0 - self.config.final_learning_rate);
        let warm = (self.trainer.steps() + 1) as f64 / self.config.warm_up.max(1) as f64;
        self.config.trainer.learning_rate * shrunk * warm.min(1.0)
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
    fn fill_batches(
        &mut self,
        games: &[&SelfPlayGame],
        lucks: Option<&[Vec<f64>]>,
        stream: &mut SplitMix64,
    ) -> Result<usize, LearnError> {
        let mut played: Vec<Vec<Option<Played>>> =
            games.iter().map(|game| played_actions(game, &self.config.targets, &self.utility)).collect();
        let decisions = games.iter().zip(&mut played).flat_map(|(game, played)| {
            let seats = game.decisions.iter().map(|decision| decision.seat);
            seats.zip(played).filter_map(|(seat, played)| played.as_mut().map(|played| (seat, played)))
        });
        standardise(decisions);
        let judged =
            |game: &&SelfPlayGame| game.decisions.iter().filter(|decision| decision.judgement.is_some()).count();
        let count = games.iter().map(judged).sum::<usize>();
        let batches = count.div_ceil(self.config.batch.max(1));
        self.batches.truncate(batches);
        self.batches.iter_mut().for_each(TrainingBatch::clear);
        self.batches.resize_with(batches, || TrainingBatch::new(self.trainer.net().config()));
        for (number, (game, played)) in games.iter().zip(&played).enumerate() {
            let Start { position, encoder } = self.start_of(game)?;
            let Learner { config, searched, encoding, batches, .. } = self;
            let mut refused = None;
            let mut targets = value_targets(game, &config.targets);
            if let Some(lucks) = lucks {
                take_luck_out(game, &lucks[number], config.targets.luck, &mut targets);
            }
            let mut known = played.iter().zip(targets.into_iter().zip(turns_left(game)));
            game.replay(position, |position, legal, decision| {
                let (Some((played, ((wdl, margin), turns_left))), Some(judgement)) =
                    (known.next(), &decision.judgement)
                else {
                    return;
                };
                encoding.encode(encoder, position, decision.seat, legal);
                // What a search found is a better teacher than the luck of the one action played.
                let played = played.filter(|_| judgement.policy.is_empty() && !*searched);
                let target = Target { policy: &judgement.policy, played, wdl, margin, turns_left, weight: 1.0 };
                let batch = stream.below(batches.len());
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

/// What luck explains of the results of these games; `None` if nothing varies.
fn luck_report(games: &[&SelfPlayGame], lucks: &[Vec<f64>]) -> Option<LuckReport> {
    let results: Vec<f64> = games.iter().map(|game| f64::from(game.result.sign(Seat::First))).collect();
    let whole: Vec<f64> = lucks.iter().map(|ahead| ahead.first().copied().unwrap_or(0.0)).collect();
    let adjusted = LuckAdjusted::of(&results, &whole)?;
    Some(LuckReport { best_share: adjusted.coefficient, narrowing: adjusted.narrowing() })
}

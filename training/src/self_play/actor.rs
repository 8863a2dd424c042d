//! One thread that plays many games at once against itself and evaluates their positions in batches.

use crate::self_play::game::{Decision, Judgement, SelfPlayGame, dice_seed, roll_to_decision};
use crate::self_play::weights::PublishedWeights;
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::LeafEvaluation;
use dervish_env::chance::{self, Dice, SplitMix64};
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Action, Actor as ToAct, Position, Seat};
use dervish_models::batch::{Batch, BatchError};
use dervish_models::evaluator::{EvaluateError, Evaluations, NetEvaluator};
use dervish_neural::agent::choose_index;
use dervish_neural::encoding::PositionEncoding;
use dervish_search::gumbel::{GumbelSearch, GumbelSettings};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// How self-play is played.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayConfig {
    /// Names the dice and the random streams of all games.
    pub seed: u64,
    /// Games that one actor plays at once, at least 1: the size of its batches.
    pub games_at_once: usize,
    /// Simulations of the search for each decision; 0 draws from the policy.
    pub simulations: u32,
    /// Actions that a search compares.
    pub candidates: usize,
    /// What a result is worth to the players.
    pub utility: Utility,
}

/// Plays games until it is told to stop.
#[derive(Debug)]
pub struct Actor<'r, P, E> {
    start: &'r P,
    encoder: &'r E,
    config: SelfPlayConfig,
    weights: &'r PublishedWeights,
    /// Number of the next game, shared by all actors of a run.
    next_game: &'r AtomicU64,
    /// Step of the weights in use.
    step: u64,
    evaluator: NetEvaluator,
    evaluations: Evaluations,
    encoding: PositionEncoding,
    batch: Batch,
    tables: Vec<Table<P>>,
    legal: Vec<Action>,
    policy: Vec<f32>,
}

/// Why an actor stopped.
#[derive(Debug, thiserror::Error)]
pub enum ActorError {
    /// The encoder's arrays do not fit the network.
    #[error("self-play: {0}")]
    Encoding(#[from] BatchError),
    /// The network gave no evaluation.
    #[error("self-play: {0}")]
    Evaluation(#[from] EvaluateError),
}

/// A game being played.
#[derive(Debug)]
struct Table<P> {
    position: P,
    dice: Dice,
    rng: SplitMix64,
    number: u64,
    step: u64,
    decisions: Vec<Decision>,
    search: Option<GumbelSearch<P>>,
}

impl<'r, P: Position, E: PolicyEncoder<P>> Actor<'r, P, E> {
    /// An actor with the latest weights; it takes newer ones as they are published.
    ///
    /// # Errors
    /// [`ActorError::Evaluation`] if the network cannot be copied.
    pub fn new(
        start: &'r P,
        encoder: &'r E,
        config: SelfPlayConfig,
        weights: &'r PublishedWeights,
        next_game: &'r AtomicU64,
    ) -> Result<Actor<'r, P, E>, ActorError> {
        let step = weights.step();
        let net = weights.duplicate()?;
        let mut actor = Actor {
            start,
            encoder,
            config,
            weights,
            next_game,
            step,
            batch: Batch::new(net.config()),
            encoding: PositionEncoding::new(encoder, net.config()),
            evaluator: NetEvaluator::new(net),
            evaluations: Evaluations::default(),
            tables: Vec::new(),
            legal: Vec::new(),
            policy: Vec::new(),
        };
        for _ in 0..config.games_at_once.max(1) {
            let table = actor.new_table();
            actor.tables.push(table);
        }
        Ok(actor)
    }

    /// Evaluates one batch and plays on with it; finished games are added to `finished`.
    ///
    /// # Errors
    /// [`ActorError`]; the actor is then of no more use.
    pub fn tick(&mut self, finished: &mut Vec<SelfPlayGame>) -> Result<(), ActorError> {
        let published = self.weights.step();
        if published != self.step {
            self.weights.copy_to(&mut self.evaluator)?;
            self.step = published;
        }
        for index in 0..self.tables.len() {
            while !self.tables[index].play_to_choice(&mut self.legal) {
                let table = self.new_table();
                finished.extend(std::mem::replace(&mut self.tables[index], table).into_game());
            }
        }
        self.batch.clear();
        let mut first = 0;
        let mut parts = Vec::with_capacity(self.tables.len());
        for index in 0..self.tables.len() {
            self.encode_table(index)?;
            parts.push(first..self.batch.len());
            first = self.batch.len();
        }
        self.evaluator.evaluate(&self.batch, &mut self.evaluations)?;
        for (index, part) in parts.into_iter().enumerate() {
            self.play(index, part);
        }
        Ok(())
    }

    fn new_table(&self) -> Table<P> {
        let number = self.next_game.fetch_add(1, Ordering::Relaxed);
        let SelfPlayConfig { seed, simulations, candidates, utility, .. } = self.config;
        let search = GumbelSettings { simulations, candidates, utility, ..GumbelSettings::default() };
        Table {
            position: self.start.clone(),
            dice: Dice::new(dice_seed(seed, number)),
            rng: SplitMix64::new(chance::agent_rng(seed, number, Seat::First).next_u64()),
            number,
            step: self.step,
            decisions: Vec::new(),
            search: (simulations > 0).then(|| GumbelSearch::new(search)),
        }
    }

    /// Adds what a table wants evaluated to the batch.
    fn encode_table(&mut self, index: usize) -> Result<(), BatchError> {
        let Table { position, rng, search, .. } = &mut self.tables[index];
        let mut push = |position: &P| {
            let ToAct::Player(view) = position.actor() else { return Ok(()) };
            position.legal_actions_into(&mut self.legal);
            self.encoding.encode(self.encoder, position, view, &self.legal);
            self.batch.push(&self.encoding.sample())
        };
        let Some(search) = search else { return push(position) };
        if search.waiting().len() == 0 {
            search.begin(position, self.config.simulations, rng.next_word());
        }
        search.waiting().try_for_each(push)
    }

    /// Uses the evaluations of a table's part of the batch.
    fn play(&mut self, index: usize, part: Range<usize>) {
        let Actor { evaluations, tables, legal, policy, config, .. } = self;
        let table = &mut tables[index];
        let value = |sample| config.utility.mix(evaluations.value(sample), evaluations.margin(sample));
        let word = table.rng.next_word();
        table.position.legal_actions_into(legal);
        let Some(search) = &mut table.search else {
            let policy = evaluations.policy(part.start);
            let Some(index) = choose_index(policy, 1.0, word) else { return };
            let judgement = Judgement {
                index: index as u32,
                probability: policy[index],
                value: value(part.start),
                policy: Vec::new(),
            };
            table.decide(legal[index], judgement);
            return;
        };
        search.supply(part.map(|sample| LeafEvaluation { policy: evaluations.policy(sample), value: value(sample) }));
        if search.waiting().len() > 0 {
            return;
        }
        let Some(action) = search.best() else { return };
        let Some(index) = legal.iter().position(|&legal| legal == action) else { return };
        let value = search.improved_policy_into(policy);
        let judgement = Judgement { index: index as u32, probability: policy[index], value, policy: sparse(policy) };
        table.decide(action, judgement);
    }
}

impl<P: Position> Table<P> {
    /// Plays rolls and forced decisions until a player has a choice; false if the game is over.
    fn play_to_choice(&mut self, legal: &mut Vec<Action>) -> bool {
        loop {
            roll_to_decision(&mut self.position, &mut self.dice);
            let ToAct::Player(seat) = self.position.actor() else { return false };
            self.position.legal_actions_into(legal);
            let [only] = legal[..] else { return true };
            self.decisions.push(Decision { seat, action: only, judgement: None });
            self.position.apply_legal(only);
        }
    }

    fn decide(&mut self, action: Action, judgement: Judgement) {
        if let ToAct::Player(seat) = self.position.actor() {
            self.decisions.push(Decision { seat, action, judgement: Some(judgement) });
            self.position.apply_legal(action);
        }
    }

    fn into_game(self) -> Option<SelfPlayGame> {
        let Table { position, dice, number, step, decisions, .. } = self;
        position.result().map(|result| SelfPlayGame { number, dice_seed: dice.seed(), step, decisions, result })
    }
}

/// The probabilities that are worth keeping, scaled to sum to 1.
fn sparse(policy: &[f32]) -> Vec<(u32, f32)> {
    const LEAST_KEPT: f32 = 1e-3;
    let kept = policy.iter().enumerate().filter(|(_, probability)| **probability >= LEAST_KEPT);
    let mut kept: Vec<(u32, f32)> = kept.map(|(index, &probability)| (index as u32, probability)).collect();
    let sum: f32 = kept.iter().map(|(_, probability)| probability).sum();
    for (_, probability) in &mut kept {
        *probability /= sum;
    }
    kept
}

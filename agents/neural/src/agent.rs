//! The agent `neural`: a trained policy, alone or with search.

use crate::encoding::{PositionEncoding, contract};
use dervish_agents::agent::{Agent, AgentError, Choice, SearchReport};
use dervish_agents::evaluation::Utility;
use dervish_agents::limits::{Limits, MoveBudget, TurnLedger};
use dervish_agents::registry::{AgentOptions, Configure, OptionDoc, SpecError};
use dervish_env::chance::SplitMix64;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Action, Actor, Position};
use dervish_models::batch::{Batch, BatchError};
use dervish_models::checkpoint::{self, Checkpoint, CheckpointError, Contract};
use dervish_models::checkpoint_series::CheckpointSeries;
use dervish_models::evaluator::{EvaluateError, Evaluations, NetEvaluator};
use dervish_models::process;
use dervish_models::token_net::{TokenNet, best_device};
use dervish_search::gumbel::{GumbelSearch, GumbelSettings, LeafEvaluation};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A policy-value network that plays: by its policy alone, or by a Gumbel search that it evaluates.
///
/// Clones share the loaded weights until they choose for the first time; then each has a network of its own, so that
/// threads don't wait for each other.
#[derive(Debug)]
pub struct NeuralAgent<P, E> {
    encoder: Arc<E>,
    contract: Contract,
    settings: NeuralSettings,
    /// The loaded network; `None` in the registry's prototype.
    weights: Option<Arc<Mutex<TokenNet>>>,
    /// Made at the first choice. Never locked: the lock makes the agent one that can be cloned from any thread.
    player: Mutex<Option<Player<P>>>,
    rng: SplitMix64,
    ledger: TurnLedger,
}

/// The options of [`NeuralAgent`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NeuralSettings {
    /// Run directory or checkpoint.
    pub run: String,
    /// Step of the run's checkpoint; the latest if `None`.
    pub step: Option<u64>,
    /// Simulations for each choice; 0 plays the policy without search.
    pub simulations: u32,
    /// Without search, actions are drawn from the policy's probabilities to the power of 1 / temperature; at 0 the
    /// likeliest is played.
    pub temperature: f64,
    /// Candidates that a search compares.
    pub candidates: usize,
    /// Which random stream of the game to use.
    pub seed: u64,
}

const DEFAULT_CANDIDATES: usize = 16;

/// The buffers of one thread.
#[derive(Debug)]
struct Player<P> {
    evaluator: NetEvaluator,
    evaluations: Evaluations,
    encoding: PositionEncoding,
    batch: Batch,
    search: GumbelSearch<P>,
    actions: Vec<Action>,
    policy: Vec<f32>,
    utility: Utility,
}

#[derive(Debug, thiserror::Error)]
enum PlayError {
    #[error("{0}")]
    Encoding(#[from] BatchError),
    #[error("{0}")]
    Evaluation(#[from] EvaluateError),
    #[error("no legal action found")]
    NoAction,
}

impl<P: Position, E: PolicyEncoder<P>> NeuralAgent<P, E> {
    /// A prototype for the registry of the game that begins at `start`.
    pub fn new(start: &P, encoder: E) -> NeuralAgent<P, E> {
        let contract = contract(start, &encoder);
        NeuralAgent::with(Arc::new(encoder), contract, NeuralSettings::default(), None)
    }

    /// An agent that plays with this network, which reads what `encoder` writes.
    pub fn of_network(start: &P, encoder: E, net: TokenNet, settings: NeuralSettings) -> NeuralAgent<P, E> {
        let contract = contract(start, &encoder);
        NeuralAgent::with(Arc::new(encoder), contract, settings, Some(Arc::new(Mutex::new(net))))
    }

    fn with(
        encoder: Arc<E>,
        contract: Contract,
        settings: NeuralSettings,
        weights: Option<Arc<Mutex<TokenNet>>>,
    ) -> NeuralAgent<P, E> {
        NeuralAgent {
            encoder,
            contract,
            settings,
            weights,
            player: Mutex::new(None),
            rng: SplitMix64::new(0),
            ledger: TurnLedger::default(),
        }
    }

    /// The player of this agent, made if there is none yet, and the encoder that it reads with.
    fn player(&mut self) -> Result<(&mut Player<P>, &E), String> {
        let player = self.player.get_mut().unwrap_or_else(PoisonError::into_inner);
        if player.is_none() {
            let weights = self.weights.as_ref().ok_or("no network is loaded")?;
            let weights = weights.lock().unwrap_or_else(PoisonError::into_inner);
            let net = weights.duplicate().map_err(|error| error.to_string())?;
            *player = Some(Player::new(net, &*self.encoder, &self.settings));
        }
        let player = player.as_mut().ok_or("no network is loaded")?;
        Ok((player, &self.encoder))
    }
}

impl<P: Position> Player<P> {
    fn new<E: PolicyEncoder<P>>(net: TokenNet, encoder: &E, settings: &NeuralSettings) -> Player<P> {
        let utility = Utility::default();
        let search = GumbelSettings {
            simulations: settings.simulations.max(1),
            candidates: settings.candidates.max(1),
            noise: 0.0,
            utility,
            merged: true,
            ..GumbelSettings::default()
        };
        Player {
            batch: Batch::new(net.config()),
            evaluator: NetEvaluator::new(net),
            evaluations: Evaluations::default(),
            encoding: PositionEncoding::new(encoder),
            search: GumbelSearch::new(search),
            actions: Vec::new(),
            policy: Vec::new(),
            utility,
        }
    }

    /// Evaluates the positions that the search waits for.
    fn evaluate_waiting<E: PolicyEncoder<P>>(&mut self, encoder: &E) -> Result<(), PlayError> {
        self.batch.clear();
        for position in self.search.waiting() {
            let Actor::Player(view) = position.actor() else { continue };
            position.legal_actions_into(&mut self.actions);
            self.encoding.encode(encoder, position, view, &self.actions);
            self.batch.push(&self.encoding.sample())?;
        }
        Ok(self.evaluator.evaluate(&self.batch, &mut self.evaluations)?)
    }

    /// Evaluates one position; its policy is then that of sample 0.
    fn evaluate<E: PolicyEncoder<P>>(&mut self, encoder: &E, position: &P) -> Result<(), PlayError> {
        self.batch.clear();
        if let Actor::Player(view) = position.actor() {
            self.encoding.encode(encoder, position, view, &self.actions);
            self.batch.push(&self.encoding.sample())?;
        }
        Ok(self.evaluator.evaluate(&self.batch, &mut self.evaluations)?)
    }

    fn choose<E: PolicyEncoder<P>>(
        &mut self,
        encoder: &E,
        position: &P,
        simulations: u32,
        temperature: f64,
        budget: &MoveBudget,
        word: u64,
    ) -> Result<Choice, PlayError> {
        position.legal_actions_into(&mut self.actions);
        if let [only] = self.actions[..] {
            return Ok(Choice::plain(only));
        }
        if simulations > 0 {
            return self.search(encoder, position, budget, word);
        }
        self.evaluate(encoder, position)?;
        let index = choose_index(self.evaluations.policy(0), temperature, word).ok_or(PlayError::NoAction)?;
        Ok(Choice::plain(self.actions[index]))
    }

    fn search<E: PolicyEncoder<P>>(
        &mut self,
        encoder: &E,
        position: &P,
        budget: &MoveBudget,
        seed: u64,
    ) -> Result<Choice, PlayError> {
        self.search.begin(position, budget.simulations, seed);
        let mut simulations = 0;
        while self.search.waiting().len() > 0 && budget.allows(simulations) {
            simulations += self.search.waiting().len() as u32;
            self.evaluate_waiting(encoder)?;
            let (evaluations, utility) = (&self.evaluations, self.utility);
            self.search.supply((0..evaluations.len()).map(|sample| LeafEvaluation {
                policy: evaluations.policy(sample),
                value: utility.mix(evaluations.value(sample), evaluations.margin(sample)),
            }));
        }
        let action = self.search.best().ok_or(PlayError::NoAction)?;
        let value = self.search.improved_policy_into(&mut self.policy);
        let actions = self.search.root_reports().collect();
        let report = SearchReport { value, simulations, actions, principal_variation: Vec::new() };
        Ok(Choice { action, report: Some(report) })
    }
}

/// The index that a policy plays: the likeliest (the first of equals) at temperature 0, else the one that the uniform
/// `word` selects from the probabilities to the power of 1 / temperature. `None` for an empty policy.
pub fn choose_index(policy: &[f32], temperature: f64, word: u64) -> Option<usize> {
    let likeliest = policy.iter().enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    if temperature <= 0.0 {
        return Some(likeliest.0);
    }
    let highest = f64::from(*likeliest.1).max(f64::MIN_POSITIVE);
    let weight = |probability: f32| (f64::from(probability) / highest).powf(1.0 / temperature);
    let total: f64 = policy.iter().map(|&probability| weight(probability)).sum();
    let mut left = (word >> 11) as f64 / (1u64 << 53) as f64 * total;
    for (index, &probability) in policy.iter().enumerate() {
        left -= weight(probability);
        if left < 0.0 {
            return Some(index);
        }
    }
    Some(likeliest.0)
}

impl<P: Position, E: PolicyEncoder<P>> Clone for NeuralAgent<P, E> {
    fn clone(&self) -> NeuralAgent<P, E> {
        let weights = self.weights.clone();
        NeuralAgent::with(self.encoder.clone(), self.contract.clone(), self.settings.clone(), weights)
    }
}

impl<P: Position, E: PolicyEncoder<P>> Agent<P> for NeuralAgent<P, E> {
    fn spec(&self) -> String {
        let NeuralSettings { run, step, simulations, temperature, candidates, seed } = &self.settings;
        let step = step.map_or_else(|| "latest".to_string(), |step| step.to_string());
        format!(
            "neural:run={run},step={step},sims={simulations},temperature={temperature},candidates={candidates},seed={seed}"
        )
    }

    fn new_game(&mut self, mut rng: ChaCha8Rng) {
        rng.set_stream(self.settings.seed);
        self.rng = SplitMix64::new(rng.next_u64());
        self.ledger = TurnLedger::default();
    }

    fn choose(&mut self, position: &P, limits: &Limits) -> Result<Choice, AgentError> {
        let Actor::Player(_) = position.actor() else {
            return Err(AgentError::NotToAct { agent: self.spec(), pending: position.pending_text() });
        };
        let begun = Instant::now();
        let word = self.rng.next_word();
        let NeuralSettings { simulations, temperature, .. } = self.settings;
        let budget = self.ledger.budget(position.turn(), simulations, limits, begun);
        let chosen = self.player().and_then(|(player, encoder)| {
            player.choose(encoder, position, simulations, temperature, &budget, word).map_err(|error| error.to_string())
        });
        let choice = chosen.map_err(|reason| AgentError::Failed { agent: self.spec(), reason })?;
        if let Some(report) = &choice.report {
            self.ledger.spend(report.simulations, begun.elapsed());
        }
        Ok(choice)
    }
}

impl<P: Position, E: PolicyEncoder<P> + 'static> Configure<P> for NeuralAgent<P, E> {
    const NAME: &'static str = "neural";
    const SUMMARY: &'static str = "a trained network: its policy alone, or a Gumbel search with it";
    const POSITIONAL: Option<&'static str> = Some("run");
    const OPTIONS: &'static [OptionDoc] = &[
        OptionDoc {
            name: "run",
            default: "(required)",
            meaning: "run directory of `dervish train`, or one checkpoint",
        },
        OptionDoc {
            name: "step",
            default: "latest",
            meaning: "which checkpoint of the run; 0 is the untrained network",
        },
        OptionDoc { name: "sims", default: "0", meaning: "simulations for each choice; 0: the policy without search" },
        OptionDoc {
            name: "temperature",
            default: "0",
            meaning: "without search: 0 plays the likeliest action, 1 draws from the policy",
        },
        OptionDoc { name: "candidates", default: "16", meaning: "actions that a search compares" },
        OptionDoc { name: "seed", default: "0", meaning: "which random stream of the game to use" },
    ];

    fn configure(&self, options: &AgentOptions) -> Result<NeuralAgent<P, E>, SpecError> {
        let unavailable = |reason: String| SpecError::Unavailable { agent: Self::NAME, reason };
        let Some(run) = options.text("run") else {
            return Err(unavailable("which network? neural:RUN_DIR or neural:run=RUN_DIR".to_string()));
        };
        let step = match options.text("step") {
            None | Some("latest") => None,
            Some(_) => Some(options.number("step", 0, 0..=u64::MAX)?),
        };
        process::prepare();
        let loaded = load(Path::new(run), step, &self.contract).map_err(|error| unavailable(error.to_string()))?;
        let settings = NeuralSettings {
            run: run.to_string(),
            step: Some(loaded.manifest.step),
            simulations: options.number("sims", 0, 0..=1_000_000)?,
            temperature: options.number("temperature", 0.0, 0.0..=100.0)?,
            candidates: options.number("candidates", DEFAULT_CANDIDATES, 1..=1000)?,
            seed: options.number("seed", 0, 0..=u64::MAX)?,
        };
        let weights = Some(Arc::new(Mutex::new(loaded.net)));
        Ok(NeuralAgent::with(self.encoder.clone(), self.contract.clone(), settings, weights))
    }
}

/// Loads a run's checkpoint of a step (the latest if `None`), or the checkpoint that `path` itself is.
fn load(path: &Path, step: Option<u64>, contract: &Contract) -> Result<Checkpoint, CheckpointError> {
    if step.is_none() && checkpoint::is_checkpoint(path) {
        return checkpoint::load(path, contract, best_device());
    }
    CheckpointSeries::of_run(path).load(step, contract, best_device())
}

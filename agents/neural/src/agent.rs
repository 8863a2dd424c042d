//! The agent `neural`: a trained policy, alone or with search.

use crate::encoding::contract;
use crate::network::LeafNetwork;
use dervish_agents::agent::{Agent, AgentError, Choice};
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::{Evaluator, EvaluatorError};
use dervish_agents::limits::{Limits, MoveBudget};
use dervish_agents::registry::{AgentOptions, Configure, OptionDoc, SpecError, in_spec};
use dervish_agents::thinking::Thinking;
use dervish_env::chance::SplitMix64;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Action, GameIdentity, Position};
use dervish_models::checkpoint::{self, CheckpointError, Contract};
use dervish_models::checkpoint_series::{CHECKPOINTS, CheckpointSeries};
use dervish_models::device::DeviceChoice;
use dervish_models::network::Network;
use dervish_models::process;
use dervish_search::expectimax::{ExpectimaxSearch, ExpectimaxSettings};
use dervish_search::expectimax_agent::ExpectimaxOptions;
use dervish_search::gumbel::{GumbelSearch, GumbelSettings};
use dervish_search::mcts::{MctsSearch, MctsSettings};
use dervish_search::simulation::SimulationRules;
use dervish_search::tree::SelectionRule;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A policy-value network that plays: by its policy alone, or by a search whose leaves it evaluates.
pub struct NeuralAgent<P: Position, E> {
    encoder: Arc<E>,
    identity: GameIdentity,
    contract: Contract,
    settings: NeuralSettings,
    /// Checksum of the weights, where they come from a file.
    weights: Option<String>,
    /// `None` in the registry's prototype.
    player: Option<Player<P, E>>,
    rng: SplitMix64,
    thinking: Thinking,
}

/// The options of [`NeuralAgent`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NeuralSettings {
    /// Run directory or checkpoint.
    pub run: String,
    /// Step of the run's checkpoint; the latest if `None`.
    pub step: Option<u64>,
    /// Where the network computes.
    pub device: DeviceChoice,
    /// Simulations for each choice, or positions that expectimax looks at; 0 plays the policy without search.
    pub simulations: u32,
    /// How it is searched, with simulations.
    pub search: SearchKind,
    /// Without search, actions are drawn from the policy's probabilities to the power of 1 / temperature; at 0 the
    /// likeliest is played.
    pub temperature: f64,
    /// Candidates that a Gumbel search compares.
    pub candidates: usize,
    /// Factor of the exploration term of PUCT.
    pub exploration: f64,
    /// Leaves that PUCT or expectimax evaluates together, at least 1.
    pub batch: u32,
    /// Which random stream of the game to use.
    pub seed: u64,
}

/// The search that a network guides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchKind {
    /// Sequential halving of candidates.
    #[default]
    Gumbel,
    /// PUCT.
    Puct,
    /// Search by depth, which uses the values alone.
    Expectimax,
}

impl SearchKind {
    /// Its word in specs.
    fn word(self) -> &'static str {
        match self {
            SearchKind::Gumbel => "gumbel",
            SearchKind::Puct => "puct",
            SearchKind::Expectimax => "expectimax",
        }
    }
}

/// Actions that a Gumbel search compares, unless its settings say otherwise.
pub const DEFAULT_CANDIDATES: usize = 16;

/// Factor of the exploration term of PUCT, unless its settings say otherwise.
const DEFAULT_EXPLORATION: f64 = 1.5;

struct Player<P: Position, E> {
    network: LeafNetwork<E>,
    searcher: Searcher<P, E>,
    actions: Vec<Action>,
}

enum Searcher<P: Position, E> {
    None,
    Gumbel(Box<GumbelSearch<P>>),
    Puct(Box<MctsSearch<P>>),
    Expectimax(Box<ExpectimaxSearch<P, LeafNetwork<E>>>),
}

impl<P: Position, E: PolicyEncoder<P> + 'static> NeuralAgent<P, E> {
    /// A prototype for the registry of the game that begins at `start`.
    pub fn new(start: &P, encoder: E) -> NeuralAgent<P, E> {
        let contract = contract(start, &encoder);
        NeuralAgent::with(Arc::new(encoder), start.identity(), contract, NeuralSettings::default(), None)
    }

    /// An agent that plays with this network, which reads what `encoder` writes.
    pub fn of_network(start: &P, encoder: E, net: Network, settings: NeuralSettings) -> NeuralAgent<P, E> {
        let contract = contract(start, &encoder);
        NeuralAgent::with(Arc::new(encoder), start.identity(), contract, settings, Some(net))
    }

    fn with(
        encoder: Arc<E>,
        identity: GameIdentity,
        contract: Contract,
        settings: NeuralSettings,
        net: Option<Network>,
    ) -> NeuralAgent<P, E> {
        let player = net.map(|net| Player::new(LeafNetwork::new(encoder.clone(), net, Utility::default()), &settings));
        NeuralAgent {
            encoder,
            identity,
            contract,
            settings,
            weights: None,
            player,
            rng: SplitMix64::new(0),
            thinking: Thinking::default(),
        }
    }
}

impl<P: Position, E: PolicyEncoder<P> + 'static> Player<P, E> {
    fn new(network: LeafNetwork<E>, settings: &NeuralSettings) -> Player<P, E> {
        let utility = Utility::default();
        let searcher = match settings.search {
            _ if settings.simulations == 0 => Searcher::None,
            SearchKind::Gumbel => {
                let gumbel = GumbelSettings {
                    simulations: settings.simulations,
                    candidates: settings.candidates.max(1),
                    noise: 0.0,
                    utility,
                    merged: true,
                    ..GumbelSettings::default()
                };
                Searcher::Gumbel(Box::new(GumbelSearch::new(gumbel)))
            }
            SearchKind::Puct => {
                let selection = SelectionRule::Puct { exploration: settings.exploration };
                let rules = SimulationRules { selection, utility, ..SimulationRules::default() };
                let puct = MctsSettings { rules, batch: settings.batch, ..MctsSettings::default() };
                Searcher::Puct(Box::new(MctsSearch::new(puct, Box::new(network.clone()))))
            }
            SearchKind::Expectimax => {
                let usual = ExpectimaxOptions::default().settings;
                let expectimax = ExpectimaxSettings { utility, batch: settings.batch as usize, ..usual };
                Searcher::Expectimax(Box::new(ExpectimaxSearch::new(expectimax, network.clone())))
            }
        };
        Player { network, searcher, actions: Vec::new() }
    }

    fn choose(
        &mut self,
        position: &P,
        temperature: f64,
        budget: &MoveBudget,
        word: u64,
    ) -> Result<Option<Choice>, EvaluatorError> {
        match &mut self.searcher {
            Searcher::Gumbel(search) => search.choose(position, budget, word, &mut self.network),
            Searcher::Puct(search) => search.choose(position, budget, word),
            Searcher::Expectimax(search) => search.choose(position, budget),
            Searcher::None => {
                let mut index = None;
                self.network.evaluate(&mut std::iter::once(position), &mut |evaluation| {
                    index = choose_index(evaluation.policy, temperature, word);
                })?;
                position.legal_actions_into(&mut self.actions);
                Ok(index.map(|index| Choice::plain(self.actions[index])))
            }
        }
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

// Written out because the encoder, which is shared, need not be one that can be copied.
impl<P: Position, E> Clone for NeuralAgent<P, E> {
    fn clone(&self) -> NeuralAgent<P, E> {
        NeuralAgent {
            encoder: self.encoder.clone(),
            identity: self.identity.clone(),
            contract: self.contract.clone(),
            settings: self.settings.clone(),
            weights: self.weights.clone(),
            player: self.player.clone(),
            rng: self.rng.clone(),
            thinking: self.thinking.clone(),
        }
    }
}

impl<P: Position, E> Clone for Searcher<P, E> {
    fn clone(&self) -> Searcher<P, E> {
        match self {
            Searcher::None => Searcher::None,
            Searcher::Gumbel(search) => Searcher::Gumbel(search.clone()),
            Searcher::Puct(search) => Searcher::Puct(search.clone()),
            Searcher::Expectimax(search) => Searcher::Expectimax(search.clone()),
        }
    }
}

impl<P: Position, E> Clone for Player<P, E> {
    fn clone(&self) -> Player<P, E> {
        let Player { network, searcher, .. } = self;
        Player { network: network.clone(), searcher: searcher.clone(), actions: Vec::new() }
    }
}

impl<P: Position, E: PolicyEncoder<P> + 'static> Agent<P> for NeuralAgent<P, E> {
    fn spec(&self) -> String {
        spec(&self.settings)
    }

    fn fingerprint(&self) -> Option<String> {
        self.weights.clone()
    }

    fn new_game(&mut self, rng: ChaCha8Rng) {
        self.rng = SplitMix64::of_agent(rng, self.settings.seed);
        self.thinking.new_game();
        match self.player.as_mut().map(|player| &mut player.searcher) {
            Some(Searcher::Puct(search)) => search.new_game(),
            Some(Searcher::Expectimax(search)) => search.new_game(),
            Some(Searcher::None | Searcher::Gumbel(_)) | None => {}
        }
    }

    fn choose(&mut self, position: &P, limits: &Limits) -> Result<Choice, AgentError> {
        let word = self.rng.next_word();
        let NeuralAgent { settings, player, thinking, .. } = self;
        let NeuralSettings { simulations, temperature, .. } = *settings;
        thinking.choose(&|| spec(settings), position, limits, simulations, |budget| match player {
            Some(player) => player.choose(position, temperature, budget, word),
            None => Err(EvaluatorError { reason: "no network is loaded".to_string() }),
        })
    }
}

impl<P: Position, E: PolicyEncoder<P>> NeuralAgent<P, E> {
    /// The encoder with which the checkpoint at `path` was trained, if the game has it, else the usual one, whose contract the
    /// checkpoint then breaks.
    fn reader_of(&self, path: &Path) -> Result<(Arc<E>, Contract), CheckpointError> {
        let name = checkpoint::load_manifest(path)?.contract.encoder;
        Ok(match self.encoder.named(&name) {
            Some(encoder) => {
                let contract = Contract { encoder: name, encoder_version: encoder.version(), ..self.contract.clone() };
                (Arc::new(encoder), contract)
            }
            None => (self.encoder.clone(), self.contract.clone()),
        })
    }
}

/// Tells something on standard error that the user should know, once however often an agent is made.
fn tell_once(line: String) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.contains(&line) {
        // Where nobody reads it any more, the network plays all the same; `eprintln!` would end the program.
        let _ = writeln!(io::stderr(), "dervish: warning: {line}");
        told.insert(line);
    }
}

/// Refuses what would be ignored, unless it is the default, which specs spell out in any case.
fn refuse_ignored(options: &AgentOptions, settings: &NeuralSettings) -> Result<(), SpecError> {
    let NeuralSettings { simulations, search, temperature, candidates, exploration, batch, .. } = *settings;
    let kind = (simulations > 0).then_some(search);
    let (gumbel, puct) = (kind == Some(SearchKind::Gumbel), kind == Some(SearchKind::Puct));
    let with = if kind.is_some() { format!("search={}", search.word()) } else { "sims=0".to_string() };
    let options_used = [
        ("search", kind.is_some(), search == SearchKind::default(), search.word().to_string()),
        ("temperature", kind.is_none(), temperature == 0.0, temperature.to_string()),
        ("candidates", gumbel, candidates == DEFAULT_CANDIDATES, candidates.to_string()),
        ("c", puct, exploration == DEFAULT_EXPLORATION, exploration.to_string()),
        ("batch", kind.is_some() && !gumbel, batch == 1, batch.to_string()),
    ];
    match options_used.into_iter().find(|(_, used, is_default, _)| !used && !is_default) {
        Some((option, .., value)) => Err(options.invalid(option, &value, format!("used with {with}"))),
        None => Ok(()),
    }
}

/// The spec with every option written out.
fn spec(settings: &NeuralSettings) -> String {
    let NeuralSettings { run, step, device, simulations, search, temperature, candidates, exploration, batch, seed } =
        settings;
    let step = step.map_or_else(|| "latest".to_string(), |step| step.to_string());
    let (run, search) = (in_spec(run), search.word());
    format!(
        "neural:run={run},step={step},device={device},sims={simulations},search={search},temperature={temperature},\
         candidates={candidates},c={exploration},batch={batch},seed={seed}"
    )
}

impl<P: Position, E: PolicyEncoder<P> + 'static> Configure<P> for NeuralAgent<P, E> {
    const NAME: &'static str = "neural";
    const SUMMARY: &'static str = "a trained network: its policy alone, or a search with it";
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
            meaning: "latest, or the step of a checkpoint of the run; 0: untrained",
        },
        OptionDoc { name: "device", default: "auto", meaning: "where the network computes: auto, cpu, cuda or cuda:N" },
        OptionDoc { name: "sims", default: "0", meaning: "simulations for each choice; 0: the policy without search" },
        OptionDoc {
            name: "temperature",
            default: "0",
            meaning: "without search: 0 plays the likeliest action, 1 draws from the policy",
        },
        OptionDoc { name: "search", default: "gumbel", meaning: "with simulations: gumbel, puct or expectimax" },
        OptionDoc { name: "candidates", default: "16", meaning: "actions that a gumbel search compares" },
        OptionDoc { name: "c", default: "1.5", meaning: "factor of the exploration term of puct" },
        OptionDoc {
            name: "batch",
            default: "1",
            meaning: "leaves that puct or expectimax evaluates together: many suit a GPU",
        },
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
        let choice = match options.text("device") {
            None => DeviceChoice::Auto,
            Some(text) => {
                text.parse().map_err(|_| options.invalid("device", text, "auto, cpu, cuda or cuda:N".to_string()))?
            }
        };
        process::prepare();
        let device = choice.device().map_err(|error| unavailable(error.to_string()))?;
        let path = Path::new(run);
        let path = match step {
            None if checkpoint::is_checkpoint(path) => Ok(path.to_owned()),
            // A checkpoint by itself has one step alone.
            Some(step) if checkpoint::is_checkpoint(path) => {
                let known = checkpoint::load_manifest(path).map_err(|error| unavailable(error.to_string()))?.step;
                if known != step {
                    return Err(unavailable(format!("{run} has step {known}, not {step}")));
                }
                Ok(path.to_owned())
            }
            _ if !path.join(CHECKPOINTS).is_dir() => {
                return Err(unavailable(format!("{run}: no run directory and no exported network")));
            }
            _ => CheckpointSeries::of_run(path).path_of(step),
        };
        let path = path.map_err(|error| unavailable(error.to_string()))?;
        let (encoder, contract) = self.reader_of(&path).map_err(|error| unavailable(error.to_string()))?;
        let loaded = checkpoint::load(&path, &contract, device).map_err(|error| unavailable(error.to_string()))?;
        let GameIdentity { scenario, rules_hash, rules_version, .. } = &self.identity;
        if let Some(words) = loaded.manifest.foreign_to(scenario, rules_hash, *rules_version) {
            tell_once(format!("neural:{run}: {words}"));
        }
        let settings = NeuralSettings {
            run: run.to_string(),
            step: Some(loaded.manifest.step),
            device: choice,
            simulations: options.number("sims", 0, 0..=1_000_000)?,
            temperature: options.number("temperature", 0.0, 0.0..=100.0)?,
            search: match options.choice("search", &["gumbel", "puct", "expectimax"])? {
                "puct" => SearchKind::Puct,
                "expectimax" => SearchKind::Expectimax,
                _ => SearchKind::Gumbel,
            },
            candidates: options.number("candidates", DEFAULT_CANDIDATES, 1..=1000)?,
            exploration: options.number("c", DEFAULT_EXPLORATION, 0.0..=1000.0)?,
            batch: options.number("batch", 1, 1..=65_536)?,
            seed: options.number("seed", 0, 0..=u64::MAX)?,
        };
        refuse_ignored(options, &settings)?;
        let weights = loaded.manifest.files.get(checkpoint::WEIGHTS).map(|file| file.xxh3.clone());
        let agent = NeuralAgent::with(encoder, self.identity.clone(), contract, settings, Some(loaded.net));
        Ok(NeuralAgent { weights, ..agent })
    }
}

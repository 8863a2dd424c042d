//! One thread that plays many games at once against itself and evaluates their positions in batches.

use crate::self_play::evaluation::{BatchEvaluator, BatchEvaluatorError};
use crate::self_play::game::{Decision, Judgement, Opponent, SelfPlayGame, roll_to_decision, sparse};
use crate::self_play::numbers::{GameNumbers, dice_seed, game_stream};
use crate::self_play::pool::Pool;
use crate::self_play::tree_search::TreeSearch;
use crate::self_play::weights::PublishedWeights;
use crate::self_play::{SelfPlayConfig, Start};
use dervish_agents::agent::{Agent, AgentError, Event};
use dervish_agents::evaluator::LeafEvaluation;
use dervish_agents::limits::Limits;
use dervish_env::chance::{self, Dice, SplitMix64};
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Action, Actor as ToAct, Position, Seat};
use dervish_models::batch::{Batch, BatchError};
use dervish_models::evaluator::{EvaluateError, Evaluations};
use dervish_neural::agent::choose_index;
use dervish_neural::encoding::PositionEncoding;
use rand::RngExt;
use std::ops::Range;

/// Plays games as long as there are numbers for them.
pub struct Actor<'r, P: Position, E> {
    starts: &'r [Start<P, E>],
    config: SelfPlayConfig,
    seed: u64,
    pool: &'r Pool<P>,
    weights: &'r PublishedWeights,
    numbers: &'r GameNumbers,
    evaluator: BatchEvaluator<'r>,
    evaluations: Evaluations,
    encoding: PositionEncoding,
    batch: Batch,
    tables: Vec<Table<P>>,
    legal: Vec<Action>,
    policy: Vec<f32>,
    decisions: u64,
}

/// Why an actor stopped.
#[derive(Debug, thiserror::Error)]
pub enum ActorError {
    /// The encoder's arrays do not fit the network.
    #[error("self-play: {0}")]
    Encoding(#[from] BatchError),
    /// The network gave no evaluation.
    #[error("self-play: {0}")]
    Evaluation(#[from] BatchEvaluatorError),
    /// The network could not be copied, or gave no evaluation.
    #[error("self-play: {0}")]
    Network(#[from] EvaluateError),
    /// An opponent gave no answer.
    #[error("self-play: {0}")]
    Opponent(#[from] AgentError),
    /// A game is over, or a player has no action, and nothing says how it ended: a defect of the game.
    #[error("self-play: game {number} ended without a result")]
    NoResult {
        /// Number of the game.
        number: u64,
    },
}

/// A game being played.
struct Table<P: Position> {
    position: P,
    dice: Dice,
    stream: SplitMix64,
    number: u64,
    scenario: usize,
    step: u64,
    decisions: Vec<Decision>,
    search: Option<TreeSearch<P>>,
    /// Whether the search at hand is a full one.
    full: bool,
    opponent: Option<(Opponent, Box<dyn Agent<P>>)>,
}

impl<'r, P: Position, E: PolicyEncoder<P>> Actor<'r, P, E> {
    /// An actor of the run of this seed, whose positions are evaluated by `evaluator` with the published weights, and which
    /// takes opponents from the pool. All starts have encoders of one layout.
    pub fn new(
        starts: &'r [Start<P, E>],
        config: SelfPlayConfig,
        seed: u64,
        pool: &'r Pool<P>,
        weights: &'r PublishedWeights,
        numbers: &'r GameNumbers,
        evaluator: BatchEvaluator<'r>,
    ) -> Actor<'r, P, E> {
        let network = weights.config();
        Actor {
            encoding: PositionEncoding::new(&starts[0].encoder, &network),
            starts,
            config,
            seed,
            pool,
            weights,
            numbers,
            batch: Batch::new(&network),
            evaluator,
            evaluations: Evaluations::default(),
            tables: Vec::new(),
            legal: Vec::new(),
            policy: Vec::new(),
            decisions: 0,
        }
    }

    /// Evaluates one batch and plays on with it; finished games are added to `finished`. False if there is no game to play:
    /// all are finished, and no number is left for another.
    ///
    /// # Errors
    /// [`ActorError`]; the actor is then of no more use.
    pub fn tick(&mut self, finished: &mut Vec<SelfPlayGame>) -> Result<bool, ActorError> {
        let mut failed = None;
        let over = |table: &mut Table<P>| {
            let played = table.play_to_choice(&mut self.legal);
            match played {
                Ok(goes_on) => !goes_on,
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        };
        for table in self.tables.extract_if(.., over) {
            finished.push(table.into_game()?);
        }
        if let Some(error) = failed {
            return Err(error);
        }
        while self.tables.len() < self.config.games_at_once {
            let Some(number) = self.numbers.take() else { break };
            let mut table = self.new_table(number);
            if table.play_to_choice(&mut self.legal)? {
                self.tables.push(table);
            } else {
                finished.push(table.into_game()?);
            }
        }
        if self.tables.is_empty() {
            return Ok(false);
        }
        self.batch.clear();
        let mut first = 0;
        let mut parts = Vec::with_capacity(self.tables.len());
        for index in 0..self.tables.len() {
            self.encode_table(index)?;
            parts.push(first..self.batch.len());
            first = self.batch.len();
        }
        self.evaluator.evaluate(&mut self.batch, &mut self.evaluations)?;
        for (index, part) in parts.into_iter().enumerate() {
            self.play(index, part);
        }
        Ok(true)
    }

    /// The latest batch.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Choices made so far.
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    fn new_table(&self, number: u64) -> Table<P> {
        let scenario = (number % self.starts.len() as u64) as usize;
        let mut stream = game_stream(self.seed, number);
        let opponent = self.pool.draw(scenario, &mut stream).map(|(name, agent)| {
            let seat = if stream.random() { Seat::First } else { Seat::Second };
            let mut agent = agent.make();
            agent.new_game(chance::agent_rng(self.seed, number, seat));
            (Opponent { name, seat }, agent)
        });
        Table {
            position: self.starts[scenario].position.clone(),
            dice: Dice::new(dice_seed(self.seed, number)),
            stream,
            number,
            scenario,
            step: self.weights.step(),
            decisions: Vec::new(),
            search: TreeSearch::new(&self.config),
            full: true,
            opponent,
        }
    }

    /// Adds what a table wants evaluated to the batch.
    fn encode_table(&mut self, index: usize) -> Result<(), ActorError> {
        let Table { position, stream, scenario, search, full, number, .. } = &mut self.tables[index];
        let (encoder, number) = (&self.starts[*scenario].encoder, *number);
        let mut push = |position: &P| -> Result<(), ActorError> {
            match position.actor() {
                ToAct::Player(view) => {
                    position.legal_actions_into(&mut self.legal);
                    self.encoding.encode(encoder, position, view, &self.legal);
                    Ok(self.batch.push(&self.encoding.sample())?)
                }
                ToAct::Chance => Ok(()),
                // A search knows the value of every other end.
                ToAct::Finished => Err(ActorError::NoResult { number }),
            }
        };
        let Some(search) = search else { return push(position) };
        if search.is_idle() {
            let SelfPlayConfig { simulations, cheap_simulations, full_share, .. } = self.config;
            *full = stream.random_bool(full_share);
            search.begin(position, if *full { simulations } else { cheap_simulations }, stream.next_word());
        }
        search.show_waiting(push)
    }

    /// Uses the evaluations of a table's part of the batch.
    fn play(&mut self, index: usize, part: Range<usize>) {
        let Actor { evaluations, tables, legal, policy, config, decisions, .. } = self;
        let table = &mut tables[index];
        let value = |sample| config.utility.mix(evaluations.value(sample), evaluations.margin(sample));
        let word = table.stream.next_word();
        let ToAct::Player(seat) = table.position.actor() else { return };
        table.position.legal_actions_into(legal);
        let Some(search) = &mut table.search else {
            let policy = evaluations.policy(part.start);
            let Some(index) = choose_index(policy, 1.0, word) else { return };
            let judgement = Judgement {
                index: index as u32,
                probability: policy[index],
                value: Some(value(part.start)),
                policy: Vec::new(),
            };
            table.decide(seat, legal[index], Some(judgement));
            *decisions += 1;
            return;
        };
        search.supply(part.map(|sample| LeafEvaluation { policy: evaluations.policy(sample), value: value(sample) }));
        if !search.is_idle() {
            return;
        }
        let Some(action) = search.choice() else { return };
        let Some(index) = legal.iter().position(|&legal| legal == action) else { return };
        let value = Some(search.policy_into(policy));
        let taught = if table.full { sparse(policy) } else { Vec::new() };
        let judgement = Judgement { index: index as u32, probability: policy[index], value, policy: taught };
        table.decide(seat, action, Some(judgement));
        *decisions += 1;
    }
}

impl<P: Position> Table<P> {
    /// Plays rolls, forced decisions and the opponent's until the network has a choice; false if the game is over.
    fn play_to_choice(&mut self, legal: &mut Vec<Action>) -> Result<bool, ActorError> {
        loop {
            match self.position.actor() {
                ToAct::Finished => return Ok(false),
                ToAct::Chance => {
                    let Table { position, dice, opponent, .. } = self;
                    roll_to_decision(position, dice, |roll| tell(opponent, roll));
                }
                ToAct::Player(seat) => {
                    self.position.legal_actions_into(legal);
                    let action = match (&legal[..], &mut self.opponent) {
                        ([], _) => return Err(ActorError::NoResult { number: self.number }),
                        ([only], _) => *only,
                        (_, Some((opponent, agent))) if opponent.seat == seat => {
                            agent.choose(&self.position, &Limits::default())?.action
                        }
                        _ => return Ok(true),
                    };
                    self.decide(seat, action, None);
                }
            }
        }
    }

    fn decide(&mut self, seat: Seat, action: Action, judgement: Option<Judgement>) {
        self.decisions.push(Decision { seat, action, judgement });
        self.position.apply_legal(action);
        tell(&mut self.opponent, Event::Played(seat, action));
    }

    fn into_game(self) -> Result<SelfPlayGame, ActorError> {
        let Table { position, dice, number, scenario, step, decisions, opponent, .. } = self;
        // Not a draw: nobody knows how it would have ended.
        let result = position.result().ok_or(ActorError::NoResult { number })?;
        let opponent = opponent.map(|(opponent, _)| opponent);
        Ok(SelfPlayGame { number, scenario, dice_seed: dice.seed(), step, decisions, opponent, result })
    }
}

/// Tells an opponent what has happened.
fn tell<P: Position>(opponent: &mut Option<(Opponent, Box<dyn Agent<P>>)>, event: Event) {
    if let Some((_, agent)) = opponent {
        agent.observe(event);
    }
}

//! A game as a learning environment in the manner of Gymnasium: [`Env`] for one game, [`VecEnv`] for many at once.
//!
//! Chance is resolved inside with [`Dice`] from the seed of the episode, so a step goes from one decision to the next.
//! Equal seeds and actions give equal bytes on every machine, whatever the number of threads.

use crate::chance::Dice;
use crate::encode::{Encoder, Observation, Parts};
use crate::game::{Action, Actor, IllegalMove, Position, Seat};

mod vector;

pub use vector::{Ended, Lane, VecEnv, VecStepError};

/// One game at a time: `reset` begins an episode, `step` makes a decision for the seat to move.
#[derive(Clone, Debug)]
pub struct Env<P, E> {
    encoder: E,
    start: P,
    step_limit: Option<u32>,
    episode: Episode<P>,
    observation: Observation,
    mask: Vec<bool>,
}

impl<P: Position, E: Encoder<P>> Env<P, E> {
    /// An environment whose episodes begin at `start`, with the episode of seed 0 begun.
    ///
    /// Observations have the given `parts`. An episode of more than `step_limit` decisions is truncated.
    pub fn new(start: P, encoder: E, parts: Parts, step_limit: Option<u32>) -> Env<P, E> {
        let observation = Observation::new(&encoder, parts);
        let episode = Episode::new(start.clone());
        let mut env = Env { encoder, start, step_limit, episode, observation, mask: vec![false; P::ACTIONS] };
        env.reset(0);
        env
    }

    /// Begins the episode with this seed: goes to the first decision.
    pub fn reset(&mut self, seed: u64) -> Step<'_> {
        self.episode.begin(&self.start, seed);
        self.look(Reward::default())
    }

    /// Plays `action` for the seat to move and goes to the next decision or to the end.
    ///
    /// # Errors
    /// [`StepError`] if the action is not legal or the episode is over; nothing has changed then.
    pub fn step(&mut self, action: Action) -> Result<Step<'_>, StepError> {
        self.episode.check(action)?;
        let reward = self.episode.step(action, self.step_limit);
        Ok(self.look(reward))
    }

    /// The position of the pending decision or the last one of the episode.
    pub fn position(&self) -> &P {
        &self.episode.position
    }

    /// The encoder of the observations.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// Seed of the episode.
    pub fn seed(&self) -> u64 {
        self.episode.dice.seed()
    }

    /// Decisions made in the episode.
    pub fn steps(&self) -> u32 {
        self.episode.steps
    }

    fn look(&mut self, reward: Reward) -> Step<'_> {
        let Episode { position, legal, seat, terminated, truncated, .. } = &self.episode;
        self.observation.encode(&self.encoder, position, *seat);
        write_mask(&mut self.mask, legal);
        Step {
            observation: &self.observation,
            mask: &self.mask,
            legal,
            seat: *seat,
            reward,
            terminated: *terminated,
            truncated: *truncated,
        }
    }
}

/// What [`Env::reset`] and [`Env::step`] show.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step<'a> {
    /// The position as [`Step::seat`] sees it.
    pub observation: &'a Observation,
    /// For each action of the action space, whether it is legal; all false once the game is finished.
    pub mask: &'a [bool],
    /// The legal actions in the order of the game.
    pub legal: &'a [Action],
    /// Who is to move; once the game is finished, who moved last.
    pub seat: Seat,
    /// The reward of the action just played, for the seat that played it.
    pub reward: Reward,
    /// Whether the game has ended by its rules.
    pub terminated: bool,
    /// Whether the step limit has cut the episode off. The game has no result then; its value is still open.
    pub truncated: bool,
}

/// The reward of an action for the seat that played it. The game is a zero-sum one: the other seat's reward is the
/// negative.
///
/// Both numbers are 0 unless the action, with the rolls that followed it, ended the game by its rules.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reward {
    /// +1 for a win, 0 for a draw, -1 for a loss.
    pub sign: f32,
    /// The margin in [-1, 1].
    pub margin: f32,
}

/// Why a step was refused. Nothing has changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StepError {
    /// The episode has terminated or was truncated.
    #[error("the episode is over; reset begins another one")]
    EpisodeOver,
    /// The rules refuse the action.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
}

/// A running game with its dice.
#[derive(Clone, Debug)]
struct Episode<P> {
    position: P,
    dice: Dice,
    legal: Vec<Action>,
    /// To move, or last to have moved once finished.
    seat: Seat,
    steps: u32,
    terminated: bool,
    truncated: bool,
}

impl<P: Position> Episode<P> {
    /// An episode to be begun.
    fn new(position: P) -> Episode<P> {
        Episode {
            position,
            dice: Dice::new(0),
            legal: Vec::new(),
            seat: Seat::First,
            steps: 0,
            terminated: false,
            truncated: false,
        }
    }

    fn begin(&mut self, start: &P, seed: u64) {
        self.position.clone_from(start);
        self.dice.reset(seed);
        self.seat = Seat::First;
        self.steps = 0;
        self.truncated = false;
        self.advance();
    }

    fn check(&self, action: Action) -> Result<(), StepError> {
        if self.terminated || self.truncated {
            return Err(StepError::EpisodeOver);
        }
        if !self.position.is_legal(action) {
            return Err(IllegalMove::NotLegal {
                action: action.0.to_string(),
                reason: format!("not among the legal actions ({})", self.position.pending_text()),
            }
            .into());
        }
        Ok(())
    }

    /// Plays a legal action and gives the reward of the seat that was to move.
    fn step(&mut self, action: Action, limit: Option<u32>) -> Reward {
        let mover = self.seat;
        self.position.apply_legal(action);
        self.steps += 1;
        self.advance();
        self.truncated = !self.terminated && limit.is_some_and(|limit| self.steps >= limit);
        self.position
            .result()
            .map_or(Reward::default(), |result| Reward { sign: result.sign(mover), margin: result.margin_for(mover) })
    }

    /// Rolls until a player decides or the game ends.
    fn advance(&mut self) {
        loop {
            match self.position.actor() {
                Actor::Chance => {
                    let outcome = self.dice.roll(&self.position);
                    self.position.resolve_possible(outcome);
                }
                Actor::Player(seat) => {
                    self.seat = seat;
                    self.terminated = false;
                    self.position.legal_actions_into(&mut self.legal);
                    return;
                }
                Actor::Finished => {
                    self.terminated = true;
                    self.legal.clear();
                    return;
                }
            }
        }
    }
}

fn write_mask(mask: &mut [bool], legal: &[Action]) {
    mask.fill(false);
    for action in legal {
        mask[action.index()] = true;
    }
}

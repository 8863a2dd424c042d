//! Many games at once on all cores.

use ndarray::{Array2, Array4, ArrayViewMut1, ArrayViewMut3, Axis};
use rayon::prelude::*;

use super::{Episode, Reward, StepError, write_mask};
use crate::chance::episode_seed;
use crate::encode::{Encoder, Parts, PlaneTrace, PlaneWriter, Tokens};
use crate::game::{Action, GameResult, IllegalMove, Position, Seat};

/// Many games that step together, with automatic reset.
///
/// A game that ends within a step is reset in the same step, as in Gymnasium's `SAME_STEP` mode: the arrays and the
/// mask then belong to the first decision of the next episode, the reward and the flags to the episode that ended,
/// and [`VecEnv::ended`] keeps that one's last position, from which its final observation can be encoded.
///
/// Each episode has a seed of its own, [`episode_seed`] of the seed of the vector, the number of the game and the
/// number of the episode, so any of them can be played again alone in an [`super::Env`].
#[derive(Clone, Debug)]
pub struct VecEnv<P, E> {
    encoder: E,
    start: P,
    parts: Parts,
    seed: u64,
    step_limit: Option<u32>,
    games: Vec<Game<P>>,
    lanes: Vec<Lane>,
    planes: Array4<f32>,
    globals: Array2<f32>,
    masks: Array2<bool>,
}

/// Where one of the games of a [`VecEnv`] stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lane {
    /// Who is to move.
    pub seat: Seat,
    /// The reward of the last action for the seat that played it, even where that ended the episode.
    pub reward: Reward,
    /// Whether the last action ended its episode by the rules.
    pub terminated: bool,
    /// Whether the step limit cut off the episode after the last action.
    pub truncated: bool,
    /// Seed of the running episode.
    pub seed: u64,
    /// Number of the running episode in this lane, from 0.
    pub episode: u64,
    /// Decisions made in the running episode.
    pub steps: u32,
}

impl Lane {
    /// At the first decision of the first episode.
    fn begun(seat: Seat, seed: u64) -> Lane {
        Lane { seat, reward: Reward::default(), terminated: false, truncated: false, seed, episode: 0, steps: 0 }
    }
}

/// The last episode of a lane that ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Ended<P> {
    /// Its last position. Encode it with [`crate::encode::Observation::encode`] for the final observation.
    pub position: P,
    /// Its result; `None` if it was truncated.
    pub result: Option<GameResult>,
    /// Who moved last, or was to move when it was truncated.
    pub seat: Seat,
    /// Its seed.
    pub seed: u64,
    /// Its number in the lane, from 0.
    pub episode: u64,
    /// Decisions made in it.
    pub steps: u32,
}

/// Why a step of a [`VecEnv`] was refused. Nothing has changed in any game.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VecStepError {
    /// There must be one action for each game.
    #[error("{found} actions for {expected} games")]
    Count {
        /// Number of games.
        expected: usize,
        /// Number of actions.
        found: usize,
    },
    /// A game refuses its action; the first such game is named.
    #[error("game {lane}: {source}")]
    Refused {
        /// Number of the game.
        lane: usize,
        /// Why.
        source: StepError,
    },
}

/// Fewer games than this are not worth a task of their own.
const LEAST_CHUNK: usize = 16;

#[derive(Clone, Debug)]
struct Game<P> {
    episode: Episode<P>,
    ended: Option<Ended<P>>,
    tokens: Tokens,
    trace: PlaneTrace,
}

impl<P: Position, E: Encoder<P>> VecEnv<P, E> {
    /// `count` games that begin at `start`, all at the first decision of their first episode.
    ///
    /// Observations have the given `parts`. An episode of more than `step_limit` decisions is truncated.
    pub fn new(start: P, encoder: E, parts: Parts, step_limit: Option<u32>, count: usize, seed: u64) -> VecEnv<P, E> {
        let layout = encoder.layout().only(parts);
        let [channels, rows, columns] = layout.plane_shape();
        let game = Game {
            episode: Episode::new(start.clone()),
            ended: None,
            tokens: Tokens::new(layout.token_width()),
            trace: PlaneTrace::default(),
        };
        let lane = Lane::begun(Seat::First, seed);
        let mut env = VecEnv {
            parts: Parts {
                planes: layout.planes.is_some(),
                tokens: layout.tokens.is_some(),
                globals: layout.globals.is_some(),
            },
            planes: Array4::zeros([count, channels, rows, columns]),
            globals: Array2::zeros([count, layout.global_width()]),
            masks: Array2::from_elem([count, P::ACTIONS], false),
            games: vec![game; count],
            lanes: vec![lane; count],
            encoder,
            start,
            seed,
            step_limit,
        };
        // Memory that is zeroed lazily would be handed out page by page in the first thousands of steps, each time with all
        // threads waiting for the system.
        env.planes.axis_chunks_iter_mut(Axis(0), LEAST_CHUNK).into_par_iter().for_each(|mut planes| planes.fill(0.0));
        env.reset(seed);
        env
    }

    /// Begins the first episode of every lane, with another seed of the vector.
    pub fn reset(&mut self, seed: u64) {
        self.seed = seed;
        self.each(|setting, index, slot| {
            let seed = setting.episode_seed(index, 0);
            slot.game.episode.begin(setting.start, seed);
            slot.game.ended = None;
            *slot.lane = Lane::begun(slot.game.episode.seat, seed);
        });
    }

    /// Plays one action in every game, in the order of the lanes, and resets those that end.
    ///
    /// # Errors
    /// [`VecStepError`] if an action is missing or not legal; nothing has changed then.
    pub fn step(&mut self, actions: &[Action]) -> Result<&[Lane], VecStepError> {
        if actions.len() != self.games.len() {
            return Err(VecStepError::Count { expected: self.games.len(), found: actions.len() });
        }
        for (lane, (action, mask)) in actions.iter().zip(self.masks.outer_iter()).enumerate() {
            if mask.get(action.index()) != Some(&true) {
                let source = self.games[lane].episode.check(*action).err().unwrap_or_else(|| {
                    let reason = "outside the action space".to_string();
                    StepError::Illegal(IllegalMove::NotLegal { action: action.0.to_string(), reason })
                });
                return Err(VecStepError::Refused { lane, source });
            }
        }
        self.each(|setting, index, slot| slot.step(setting, index, actions[index]));
        Ok(&self.lanes)
    }

    /// Number of games.
    pub fn len(&self) -> usize {
        self.games.len()
    }

    /// Whether there are no games.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// Where the games stand, in the order of the lanes.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Planes `[games, channels, rows, columns]`, each game as its seat to move sees it; size 0 if not asked for.
    pub fn planes(&self) -> &Array4<f32> {
        &self.planes
    }

    /// Globals `[games, features]`, each game as its seat to move sees it; no features if not asked for.
    pub fn globals(&self) -> &Array2<f32> {
        &self.globals
    }

    /// The tokens of a game, as its seat to move sees it; none if not asked for.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn tokens(&self, lane: usize) -> &Tokens {
        &self.games[lane].tokens
    }

    /// Collects the tokens of all games one after another: clears `values` and `offsets` and fills them so that game `i`
    /// has the rows `offsets[i]..offsets[i + 1]` of `[rows, features]`.
    pub fn collect_tokens(&self, values: &mut Vec<f32>, offsets: &mut Vec<usize>) {
        values.clear();
        offsets.clear();
        offsets.push(0);
        let mut rows = 0;
        for game in &self.games {
            values.extend_from_slice(game.tokens.as_slice());
            rows += game.tokens.len();
            offsets.push(rows);
        }
    }

    /// Masks `[games, actions]`: whether an action is legal.
    pub fn masks(&self) -> &Array2<bool> {
        &self.masks
    }

    /// The legal actions of a game in the game's order.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn legal(&self, lane: usize) -> &[Action] {
        &self.games[lane].episode.legal
    }

    /// The position of a game.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn position(&self, lane: usize) -> &P {
        &self.games[lane].episode.position
    }

    /// The episode of a lane that ended last; it ended in the last step if the lane is terminated or truncated.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn ended(&self, lane: usize) -> Option<&Ended<P>> {
        self.games[lane].ended.as_ref()
    }

    /// The encoder of the observations.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// Changes every game by `change` and writes its arrays, on all cores.
    fn each<F>(&mut self, change: F)
    where
        F: Fn(&Setting<'_, P>, usize, &mut Slot<'_, P>) + Sync,
    {
        // Several tasks for each thread even out games of unequal cost without drowning small ones in overhead.
        let tasks = 8 * rayon::current_num_threads();
        let chunk = self.games.len().div_ceil(tasks).max(LEAST_CHUNK);
        let setting = Setting { start: &self.start, seed: self.seed, step_limit: self.step_limit };
        let (encoder, parts) = (&self.encoder, self.parts);
        self.games
            .par_chunks_mut(chunk)
            .zip(self.lanes.par_chunks_mut(chunk))
            .zip(self.planes.axis_chunks_iter_mut(Axis(0), chunk).into_par_iter())
            .zip(self.globals.axis_chunks_iter_mut(Axis(0), chunk).into_par_iter())
            .zip(self.masks.axis_chunks_iter_mut(Axis(0), chunk).into_par_iter())
            .enumerate()
            .for_each(|(number, ((((games, lanes), mut planes), mut globals), mut masks))| {
                let slots = games
                    .iter_mut()
                    .zip(lanes)
                    .zip(planes.outer_iter_mut())
                    .zip(globals.outer_iter_mut())
                    .zip(masks.outer_iter_mut())
                    .enumerate();
                for (offset, ((((game, lane), planes), globals), mask)) in slots {
                    let mut slot = Slot { game, lane };
                    change(&setting, number * chunk + offset, &mut slot);
                    slot.write(encoder, parts, planes, globals, mask);
                }
            });
    }
}

/// What all games of a vector share.
struct Setting<'a, P> {
    start: &'a P,
    seed: u64,
    step_limit: Option<u32>,
}

impl<P> Setting<'_, P> {
    fn episode_seed(&self, lane: usize, episode: u64) -> u64 {
        episode_seed(self.seed, lane as u64, episode)
    }
}

/// One game with its place in the lists of the vector.
struct Slot<'a, P> {
    game: &'a mut Game<P>,
    lane: &'a mut Lane,
}

impl<P: Position> Slot<'_, P> {
    fn step(&mut self, setting: &Setting<'_, P>, index: usize, action: Action) {
        let (episode, lane) = (&mut self.game.episode, &mut *self.lane);
        lane.reward = episode.step(action, setting.step_limit);
        lane.terminated = episode.terminated;
        lane.truncated = episode.truncated;
        if lane.terminated || lane.truncated {
            self.game.ended = Some(Ended {
                position: episode.position.clone(),
                result: episode.position.result(),
                seat: episode.seat,
                seed: lane.seed,
                episode: lane.episode,
                steps: episode.steps,
            });
            lane.episode += 1;
            lane.seed = setting.episode_seed(index, lane.episode);
            episode.begin(setting.start, lane.seed);
        }
        lane.seat = episode.seat;
        lane.steps = episode.steps;
    }

    fn write<E: Encoder<P>>(
        &mut self,
        encoder: &E,
        parts: Parts,
        mut planes: ArrayViewMut3<'_, f32>,
        mut globals: ArrayViewMut1<'_, f32>,
        mut mask: ArrayViewMut1<'_, bool>,
    ) {
        let Game { episode, tokens, trace, .. } = &mut *self.game;
        let (position, view) = (&episode.position, episode.seat);
        if parts.planes {
            let (_, rows, columns) = planes.dim();
            let values = planes.as_slice_mut().expect("a game's planes lie together");
            encoder.encode_planes(position, view, &mut PlaneWriter::wipe(values, rows, columns, trace));
        }
        if parts.tokens {
            tokens.clear();
            encoder.encode_tokens(position, view, tokens);
        }
        if parts.globals {
            globals.fill(0.0);
            encoder.encode_globals(position, view, globals);
        }
        if let Some(mask) = mask.as_slice_mut() {
            write_mask(mask, &episode.legal);
        }
    }
}

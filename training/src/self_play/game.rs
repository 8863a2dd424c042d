//! A game of self-play as it is kept.

use dervish_agents::agent::Event;
use dervish_env::chance::Dice;
use dervish_env::game::{Action, Actor, GameResult, Position, Seat};
use serde::{Deserialize, Serialize};

/// A finished game: whatever can be computed again (positions, rolls, features) is not kept.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayGame {
    /// Number of the game in its run, from 0. Its dice are those of [`chance::game_seed`] of the run's seed and this.
    ///
    /// [`chance::game_seed`]: dervish_env::chance::game_seed
    pub number: u64,
    /// Which of the run's scenarios was played, by index.
    pub scenario: usize,
    /// Seed of the dice.
    pub dice_seed: u64,
    /// Optimisation steps behind the weights that played the first decision.
    pub step: u64,
    /// What the players did, in order.
    pub decisions: Vec<Decision>,
    /// Who had one of the seats, if the network did not have both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opponent: Option<Opponent>,
    /// How it ended.
    pub result: GameResult,
}

/// An opponent of the network.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opponent {
    /// Its name in the pool (see [`crate::self_play::pool::Rival`]).
    pub name: String,
    /// Its seat.
    pub seat: Seat,
}

/// One decision of a player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Who decided.
    pub seat: Seat,
    /// What was played.
    pub action: Action,
    /// What the network thought; `None` where a single action was legal or an opponent decided: nothing is learnt there.
    pub judgement: Option<Judgement>,
}

/// What the network, and the search if there was one, thought of a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Index of the played action among the legal ones.
    pub index: u32,
    /// The probability with which it was played.
    pub probability: f32,
    /// Expected utility in [-1, 1] for the player who decided; `None` of a teacher who tells none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f32>,
    /// The policy to learn, as a search found it, by index among the legal actions, negligible probabilities left out; it
    /// sums to 1, or is empty where nothing was searched in full.
    pub policy: Vec<(u32, f32)>,
}

/// The probabilities that are worth keeping, scaled to sum to 1. `policy` has one for each legal action.
pub fn sparse(policy: &[f32]) -> Vec<(u32, f32)> {
    const LEAST_KEPT: f32 = 1e-3;
    let kept = policy.iter().enumerate().filter(|(_, probability)| **probability >= LEAST_KEPT);
    let mut kept: Vec<(u32, f32)> = kept.map(|(index, &probability)| (index as u32, probability)).collect();
    let sum: f32 = kept.iter().map(|(_, probability)| probability).sum();
    for (_, probability) in &mut kept {
        *probability /= sum;
    }
    kept
}

/// A kept game does not fit the rules: it was made by other rules, or its file was changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("game {number}, decision {decision}: {reason}")]
pub struct UnplayableGame {
    /// Number of the game.
    pub number: u64,
    /// Index of the decision.
    pub decision: usize,
    /// What is wrong.
    pub reason: &'static str,
}

impl SelfPlayGame {
    /// Plays the game again from `start` and shows every position in which a player decided, before he did, with its
    /// legal actions.
    ///
    /// # Errors
    /// [`UnplayableGame`] if a decision is not possible where it stands, or the game ends otherwise than it says.
    pub fn replay<P: Position>(
        &self,
        start: &P,
        show: impl FnMut(&P, &[Action], &Decision),
    ) -> Result<(), UnplayableGame> {
        self.replay_events(start, show, |_| ())
    }

    /// Every decision and roll from `start` on, in order.
    ///
    /// # Errors
    /// Those of [`SelfPlayGame::replay`].
    pub fn events<P: Position>(&self, start: &P) -> Result<Vec<Event>, UnplayableGame> {
        let mut events = Vec::new();
        self.replay_events(start, |_, _, _| (), |event| events.push(event))?;
        Ok(events)
    }

    fn replay_events<P: Position>(
        &self,
        start: &P,
        mut show: impl FnMut(&P, &[Action], &Decision),
        mut tell: impl FnMut(Event),
    ) -> Result<(), UnplayableGame> {
        let unplayable = |decision, reason| UnplayableGame { number: self.number, decision, reason };
        let mut position = start.clone();
        let mut dice = Dice::new(self.dice_seed);
        let mut legal = Vec::new();
        for (index, decision) in self.decisions.iter().enumerate() {
            roll_to_decision(&mut position, &mut dice, &mut tell);
            if position.actor() != Actor::Player(decision.seat) {
                return Err(unplayable(index, "another side is to act, or none"));
            }
            position.legal_actions_into(&mut legal);
            let place = legal.iter().position(|&action| action == decision.action);
            let stated = decision.judgement.as_ref().map(|judgement| judgement.index as usize);
            if place.is_none() || stated.is_some_and(|stated| Some(stated) != place) {
                return Err(unplayable(index, "the action is not legal there, or another one of the legal actions"));
            }
            show(&position, &legal, decision);
            position.apply_legal(decision.action);
            tell(Event::Played(decision.seat, decision.action));
        }
        roll_to_decision(&mut position, &mut dice, &mut tell);
        if position.result() != Some(self.result) {
            return Err(unplayable(self.decisions.len(), "the game does not end there as it says"));
        }
        Ok(())
    }
}

/// Lets the dice fall until a player is to act or the game is over, and tells every roll.
pub fn roll_to_decision<P: Position>(position: &mut P, dice: &mut Dice, mut tell: impl FnMut(Event)) {
    while position.actor() == Actor::Chance {
        let outcome = dice.roll(position);
        position.resolve_possible(outcome);
        tell(Event::Rolled(outcome));
    }
}

//! The threads of a session that play, and the one that evaluates for all of them, while the learner learns.

use crate::config::RunConfig;
use crate::self_play::evaluation::{Effort, evaluators};
use crate::self_play::game::SelfPlayGame;
use crate::self_play::numbers::GameNumbers;
use crate::self_play::players::{PlayerError, Players};
use crate::self_play::pool::Pool;
use crate::self_play::replay::Replay;
use crate::self_play::weights::PublishedWeights;
use crate::session::{Material, SessionError};
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Position, Seat};
use dervish_models::evaluator::EvaluateError;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracing::debug;

/// What actors send: word of a game that is kept, or why one of them has stopped.
pub(super) type Games = Receiver<Result<(), SessionError>>;

/// What actors play with.
pub(super) struct Play<'r, P: Position, E> {
    pub material: &'r Material<P, E>,
    pub config: &'r RunConfig,
    pub pool: &'r Pool<P>,
    pub weights: &'r PublishedWeights,
    pub numbers: &'r GameNumbers,
    pub effort: &'r Effort,
    /// Where finished games are kept.
    pub replay: &'r Mutex<Replay>,
}

/// Calls `learn`, with word of each game that is kept, while as many actors play as the configuration has threads, and returns
/// when it has and the actors have finished what they were at.
///
/// # Errors
/// What libtorch said of an evaluator's network; `learn` is then not called.
pub(super) fn learn_beside<P: Position, E: PolicyEncoder<P> + Clone + 'static, T>(
    play: &Play<'_, P, E>,
    learn: impl FnOnce(&Games) -> T,
) -> Result<T, EvaluateError> {
    let Play { material, config, pool, weights, numbers, effort, replay } = *play;
    let halt = AtomicBool::new(false);
    // Actors that are this far ahead of the learner wait, so that games are learnt from while they are new.
    let (sender, games) = sync_channel(config.learner.games_per_round);
    let (most, precision) = (config.self_play.most_joined, config.learner.trainer.precision);
    let (evaluators, server) =
        evaluators(config.self_play.evaluator, config.threads, weights, effort, precision, most)?;
    Ok(std::thread::scope(|scope| {
        if let Some(server) = server {
            // Actors whose evaluator is gone say so.
            scope.spawn(move || catch_unwind(AssertUnwindSafe(server)));
        }
        for evaluator in evaluators {
            let (sender, halt) = (sender.clone(), &halt);
            let players = move || Players::new(material, config, pool, weights, numbers, evaluator);
            scope.spawn(move || act(players(), replay, &sender, halt));
        }
        // What actors have no sender for is over when they are.
        drop(sender);
        let learnt = learn(&games);
        halt.store(true, Ordering::Relaxed);
        // An actor that waits for room finds that nobody listens.
        drop(games);
        learnt
    }))
}

/// Plays until the session halts or nobody listens any more. Games are kept before the learner hears of them: it may be busy
/// for long.
fn act<P: Position, E: PolicyEncoder<P>>(
    mut players: Players<P, E>,
    replay: &Mutex<Replay>,
    games: &SyncSender<Result<(), SessionError>>,
    halt: &AtomicBool,
) {
    let mut finished = Vec::new();
    let play = || -> Result<(), SessionError> {
        while !halt.load(Ordering::Relaxed) && players.tick(&mut finished)? {
            let count = finished.len();
            finished.drain(..).try_for_each(|game| keep(replay, game))?;
            for _ in 0..count {
                if games.send(Ok(())).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    };
    // Whatever ends an actor ends the session, while what was learnt can still be saved.
    let played = catch_unwind(AssertUnwindSafe(play));
    let played = played.unwrap_or_else(|panic| Err(PlayerError::Panicked(words_of(&*panic)).into()));
    if let Err(error) = played {
        // Nobody listens once the session is over.
        let _ = games.send(Err(error));
    }
}

/// Keeps a finished game.
///
/// # Errors
/// [`SessionError::Replay`].
pub(super) fn keep(replay: &Mutex<Replay>, game: SelfPlayGame) -> Result<(), SessionError> {
    let SelfPlayGame { number, scenario, step, decisions, opponent, result, .. } = &game;
    let opponent = opponent.as_ref().map(|opponent| opponent.name.as_str());
    let (decisions, first_seat_score) = (decisions.len(), result.score(Seat::First));
    debug!(number, scenario, step, decisions, opponent, first_seat_score, "game");
    locked(replay).push(game)?;
    Ok(())
}

/// The games; a thread that panicked has left them whole.
pub(super) fn locked(replay: &Mutex<Replay>) -> MutexGuard<'_, Replay> {
    replay.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread said when it panicked, on one line.
fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    words.unwrap_or("no words").replace('\n', "; ")
}

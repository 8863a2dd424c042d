//! The agent `external`: asks a program, checks what it answers, and forfeits the game if it breaks the terms.

use crate::program::{LINE_BYTES, Program};
use crate::protocol::{
    Arrays, Budget, Choose, ChooseAnswer, EncoderShape, Extra, GameOver, Hello, HelloAnswer, LegalAction, Message,
    NewGame, PROTOCOL, Played, Rolled, Terms,
};
use dervish_agents::agent::{Agent, AgentError, Choice, Event};
use dervish_agents::limits::{Limits, TurnLedger};
use dervish_agents::registry::{AgentOptions, Configure, OptionDoc, SpecError, in_spec};
use dervish_env::encode::{Encoder, Observation, Parts};
use dervish_env::game::{Action, Actor, IllegalMove, Position, Seat};
use dervish_env::record::Ending;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An agent that is a program in any language, one process for each clone that plays; the process is kept from game to
/// game. Games begin at the start that the agent was made with.
///
/// A program that gives no legal answer in time forfeits the game ([`AgentError::Forfeit`]) and is killed; the next game
/// has a new process.
#[derive(Debug)]
pub struct ExternalAgent<P, E> {
    game: Arc<Game<P, E>>,
    settings: ExternalSettings,
    /// The process that was started to see whether the command works, for the first clone that plays.
    tried: Arc<Mutex<Option<Session>>>,
    /// The process, or why there is none. Never locked: the lock makes the agent one that can be cloned from any thread.
    session: Mutex<Result<Session, String>>,
    /// Seed of the program's own stream in this game.
    game_seed: u64,
    /// What has happened in a game that the program has not been told of, because its seat shows when it first decides.
    untold: Option<Vec<Message>>,
    /// The position as far as it is known, to put events into words.
    position: Option<P>,
    ledger: TurnLedger,
}

/// What the game gives to the agent.
#[derive(Debug)]
struct Game<P, E> {
    start: P,
    encoder: E,
    document: fn(&P) -> serde_json::Value,
}

/// The options of [`ExternalAgent`].
#[derive(Clone, PartialEq, Debug)]
pub struct ExternalSettings {
    /// The program and its arguments, in words as a shell has them, with quotes but without variables or patterns.
    pub command: String,
    /// Seconds for a choice.
    pub timeout: f64,
    /// Seconds for the answer to the hello.
    pub start: f64,
    /// Which random stream of the game to use.
    pub seed: u64,
}

impl Default for ExternalSettings {
    fn default() -> ExternalSettings {
        ExternalSettings { command: String::new(), timeout: 10.0, start: 30.0, seed: 0 }
    }
}

/// Bounds of both times in seconds: a millisecond to a day.
const SECONDS: std::ops::RangeInclusive<f64> = 1e-3..=86_400.0;
/// What is sent of an observation.
const PARTS: Parts = Parts { planes: false, tokens: true, globals: true };
/// Characters of a bad answer that are told.
const SHOWN: usize = 60;
/// Characters that are told of what is wrong with one, which may quote it.
const TOLD: usize = 200;

/// A process that has answered the hello.
#[derive(Debug)]
struct Session {
    program: Program,
    send: Vec<Extra>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.program.tell(Message::Quit.line());
    }
}

impl<P: Position, E: Encoder<P>> ExternalAgent<P, E> {
    /// A prototype for the registry of the game that begins at `start`. `document` writes a position for a program to
    /// read, as an object or a text.
    pub fn new(start: &P, encoder: E, document: fn(&P) -> serde_json::Value) -> ExternalAgent<P, E> {
        let game = Game { start: start.clone(), encoder, document };
        ExternalAgent::with(Arc::new(game), ExternalSettings::default(), Arc::default())
    }

    fn with(
        game: Arc<Game<P, E>>,
        settings: ExternalSettings,
        tried: Arc<Mutex<Option<Session>>>,
    ) -> ExternalAgent<P, E> {
        ExternalAgent {
            game,
            settings,
            tried,
            session: Mutex::new(Err("no game has begun".to_string())),
            game_seed: 0,
            untold: None,
            position: None,
            ledger: TurnLedger::default(),
        }
    }

    fn session(&mut self) -> &mut Result<Session, String> {
        self.session.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the program and greets it.
    fn greet(&self) -> Result<Session, String> {
        let words = shlex::split(&self.settings.command).unwrap_or_default();
        let mut program = Program::start(&words).map_err(|error| format!("cannot be started: {error}"))?;
        let hello = Message::Hello(self.hello()).line();
        let greeted =
            program.ask(hello, Duration::from_secs_f64(self.settings.start)).map_err(|silence| silence.to_string());
        let answer = greeted.and_then(|line| read::<HelloAnswer>(&line)).and_then(|answer| match answer.protocol {
            PROTOCOL => Ok(answer),
            other => Err(format!("protocol {other} is not {PROTOCOL}")),
        });
        match answer {
            Ok(answer) => Ok(Session { program, send: answer.send }),
            Err(reason) => {
                program.condemn();
                Err(format!("hello: {reason}"))
            }
        }
    }

    fn hello(&self) -> Hello {
        let Game { start, encoder, .. } = &*self.game;
        let layout = encoder.layout();
        Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_string(),
            game: start.identity(),
            seats: Seat::BOTH.map(seat_name::<P>),
            actions: P::ACTIONS,
            encoder: EncoderShape {
                name: encoder.name().to_string(),
                version: encoder.version(),
                token_features: layout.token_width(),
                global_features: layout.global_width(),
            },
            terms: Terms {
                line_bytes: LINE_BYTES,
                start_seconds: self.settings.start,
                move_seconds: self.settings.timeout,
            },
        }
    }

    /// A legal action of the program, or how it broke the terms.
    fn ask(&mut self, position: &P, seat: Seat, limits: &Limits) -> Result<Action, String> {
        let begun = Instant::now();
        let budget = self.ledger.budget(position.turn(), u32::MAX, limits, begun);
        let budget = Budget {
            simulations: Some(budget.simulations).filter(|simulations| *simulations < u32::MAX),
            seconds: budget.deadline.map(|deadline| (deadline - begun).as_secs_f64()),
        };
        let untold = self.untold.take();
        let new_game = NewGame { seed: self.game_seed, seat: seat_name::<P>(seat) };
        let (game, time) = (self.game.clone(), Duration::from_secs_f64(self.settings.timeout));
        self.position = Some(position.clone());
        let Session { program, send } = self.session().as_mut().map_err(|reason| reason.clone())?;
        if let Some(untold) = untold {
            program.tell(Message::NewGame(new_game).line());
            untold.iter().for_each(|message| program.tell(message.line()));
        }
        let request = game.request(position, seat, budget, send);
        let answer =
            program.ask(Message::Choose(Box::new(request)).line(), time).map_err(|silence| silence.to_string())?;
        let action = match read::<ChooseAnswer>(&answer)? {
            ChooseAnswer::Action(number) => {
                let action = number.as_u64().and_then(|number| u16::try_from(number).ok()).map(Action);
                action.ok_or_else(|| format!("illegal action {number}: actions are from 0 to {}", P::ACTIONS - 1))?
            }
            ChooseAnswer::Move(notation) => position.parse_action(&notation).map_err(refusal)?,
        };
        position.clone().apply(action).map_err(|refused| refused.to_string())?;
        self.ledger.spend(0, begun.elapsed());
        Ok(action)
    }

    /// Tells the program now, or once its seat is known.
    fn tell(&mut self, message: Message) {
        match &mut self.untold {
            Some(untold) => untold.push(message),
            None => {
                if let Ok(session) = self.session() {
                    session.program.tell(message.line());
                }
            }
        }
    }
}

impl<P: Position, E: Encoder<P>> Game<P, E> {
    fn request(&self, position: &P, seat: Seat, budget: Budget, send: &[Extra]) -> Choose {
        let mut legal = Vec::new();
        position.legal_actions_into(&mut legal);
        let legal =
            legal.into_iter().map(|action| LegalAction { action: action.0, notation: position.action_text(action) });
        Choose {
            seat: seat_name::<P>(seat),
            turn: position.turn(),
            kind: position.pending_kind().to_string(),
            pending: position.pending_text(),
            legal: legal.collect(),
            budget,
            position: send.contains(&Extra::Position).then(|| (self.document)(position)),
            observation: send.contains(&Extra::Observation).then(|| {
                let mut observation = Observation::new(&self.encoder, PARTS);
                observation.encode(&self.encoder, position, seat);
                let tokens = observation.tokens.view().outer_iter().map(|token| token.to_vec()).collect();
                Arrays { tokens, globals: observation.globals.to_vec() }
            }),
        }
    }
}

fn seat_name<P: Position>(seat: Seat) -> String {
    P::seat_name(seat).to_string()
}

/// Reads an answer, an object; its beginning is told with what is wrong in it.
fn read<A: DeserializeOwned>(line: &str) -> Result<A, String> {
    let told =
        |reason: &str| format!("the answer `{}` cannot be read: {}", shortened(line, SHOWN), shortened(reason, TOLD));
    let answer = serde_json::from_str(line).map_err(|error| told(&error.to_string()))?;
    // A list of the fields' values is read for an object with these fields.
    if line.trim_start().starts_with('{') { Ok(answer) } else { Err(told("it is no object")) }
}

/// Why a move was refused, with its beginning.
fn refusal(refused: IllegalMove) -> String {
    let refused = match refused {
        IllegalMove::NotLegal { action, reason } => IllegalMove::NotLegal { action: shortened(&action, SHOWN), reason },
        other => other,
    };
    refused.to_string()
}

/// The first `most` characters of a text, and whether there are more.
fn shortened(text: &str, most: usize) -> String {
    let shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() { shown + "..." } else { shown }
}

/// A clone plays with a process of its own.
impl<P: Position, E: Encoder<P>> Clone for ExternalAgent<P, E> {
    fn clone(&self) -> ExternalAgent<P, E> {
        ExternalAgent::with(self.game.clone(), self.settings.clone(), self.tried.clone())
    }
}

impl<P: Position, E: Encoder<P> + 'static> Agent<P> for ExternalAgent<P, E> {
    fn spec(&self) -> String {
        let ExternalSettings { command, timeout, start, seed } = &self.settings;
        format!("external:cmd={},timeout={timeout},start={start},seed={seed}", in_spec(command))
    }

    fn new_game(&mut self, mut rng: ChaCha8Rng) {
        rng.set_stream(self.settings.seed);
        self.game_seed = rng.next_u64() >> 11;
        self.untold = Some(Vec::new());
        self.position = Some(self.game.start.clone());
        self.ledger = TurnLedger::default();
        if self.session().is_err() {
            let tried = self.tried.lock().unwrap_or_else(PoisonError::into_inner).take();
            *self.session() = tried.map_or_else(|| self.greet(), Ok);
        }
    }

    fn choose(&mut self, position: &P, limits: &Limits) -> Result<Choice, AgentError> {
        let Actor::Player(seat) = position.actor() else {
            return Err(AgentError::NotToAct { agent: self.spec(), pending: position.pending_text() });
        };
        self.ask(position, seat, limits).map(Choice::plain).map_err(|reason| {
            // Whatever it has done, it is not to be trusted with another question.
            if let Ok(mut session) = mem::replace(self.session(), Err(reason.clone())) {
                session.program.condemn();
            }
            AgentError::Forfeit { agent: self.spec(), reason }
        })
    }

    fn observe(&mut self, event: Event) {
        let position = self.position.take();
        let message = match event {
            Event::Played(seat, action) => {
                let notation = position.as_ref().filter(|position| position.is_legal(action));
                let notation = notation.map(|position| position.action_text(action));
                Message::Played(Played { seat: seat_name::<P>(seat), action: action.0, notation })
            }
            Event::Rolled(outcome) => {
                let kind = position.as_ref().filter(|position| position.actor() == Actor::Chance);
                Message::Rolled(Rolled {
                    kind: kind.map(|position| position.pending_kind().to_string()),
                    outcome: outcome.0,
                })
            }
        };
        self.position = position.and_then(|mut position| {
            let followed = match event {
                Event::Played(_, action) => position.apply(action),
                Event::Rolled(outcome) => position.resolve(outcome),
            };
            followed.is_ok().then_some(position)
        });
        self.tell(message);
    }

    fn game_over(&mut self, ending: &Ending) {
        // A program that was never asked has not been told that there was a game.
        if self.untold.take().is_none() {
            self.tell(Message::GameOver(GameOver::of::<P>(ending)));
        }
    }
}

impl<P: Position, E: Encoder<P> + 'static> Configure<P> for ExternalAgent<P, E> {
    const NAME: &'static str = "external";
    const SUMMARY: &'static str = "a program in any language, asked in lines of JSON (agents/external/PROTOCOL.md)";
    const POSITIONAL: Option<&'static str> = Some("cmd");
    const OPTIONS: &'static [OptionDoc] = &[
        OptionDoc {
            name: "cmd",
            default: "",
            meaning: "the program and its arguments, split and quoted as in a shell; a comma is written twice",
        },
        OptionDoc { name: "timeout", default: "10", meaning: "seconds for each choice; later, the game is forfeited" },
        OptionDoc { name: "start", default: "30", meaning: "seconds for the program to start and answer the hello" },
        OptionDoc { name: "seed", default: "0", meaning: "which random stream of the game to use" },
    ];

    /// Starts the program once to see that it can be talked to.
    fn configure(&self, options: &AgentOptions) -> Result<ExternalAgent<P, E>, SpecError> {
        let default = ExternalSettings::default();
        let command = options.text("cmd").unwrap_or_default();
        let words = shlex::split(command).unwrap_or_default();
        if words.is_empty() {
            let expected = "a program and its arguments, such as cmd=python3 agent.py, with every quote closed";
            return Err(options.invalid("cmd", command, expected.to_string()));
        }
        let settings = ExternalSettings {
            command: command.to_string(),
            timeout: options.number("timeout", default.timeout, SECONDS)?,
            start: options.number("start", default.start, SECONDS)?,
            seed: options.number("seed", default.seed, 0..=u64::MAX)?,
        };
        let agent = ExternalAgent::with(self.game.clone(), settings, Arc::default());
        let tried = agent.greet();
        let tried = tried
            .map_err(|reason| SpecError::Unavailable { agent: Self::NAME, reason: format!("`{command}`: {reason}") })?;
        *agent.tried.lock().unwrap_or_else(PoisonError::into_inner) = Some(tried);
        Ok(agent)
    }
}

//! From text to agent: `name:key=value,key=value`. A comma within a value is written twice.
//!
//! A new agent is one type that implements [`Configure`] and one call of [`Registry::register`]. The value given to
//! `register` is a prototype: it carries what the game gives to the agent (an evaluation, a place to load networks
//! from), and [`Configure::configure`] makes configured copies of it.

use crate::agent::Agent;
use crate::random::RandomAgent;
use dervish_env::game::Position;
use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;

/// The agents that can play one game, by name.
pub struct Registry<P: Position> {
    kinds: BTreeMap<&'static str, AgentKind<P>>,
}

impl<P: Position> Registry<P> {
    /// A registry of the agents that can play any game without being told anything about it.
    pub fn new() -> Registry<P> {
        let mut registry = Registry { kinds: BTreeMap::new() };
        registry.register(RandomAgent::default());
        registry
    }

    /// Adds an agent, or replaces the one of the same name.
    pub fn register<A: Configure<P>>(&mut self, prototype: A) {
        let doc = KindDoc { name: A::NAME, summary: A::SUMMARY, positional: A::POSITIONAL, options: A::OPTIONS };
        let choices = doc.options.iter().map(|option| (option.name, prototype.choices(option.name))).collect();
        let configure = move |options: &AgentOptions| prototype.configure(options).map(AgentFactory::of);
        self.kinds.insert(A::NAME, AgentKind { doc, choices, configure: Box::new(configure) });
    }

    /// The factory of the agent that `spec` describes.
    ///
    /// # Errors
    /// [`SpecError`], one line that names what is unknown or wrong and lists what exists.
    pub fn factory(&self, spec: &str) -> Result<AgentFactory<P>, SpecError> {
        let (name, options) = split_spec(spec);
        let Some(kind) = self.kinds.get(name) else {
            let known = self.kinds.keys().copied().collect::<Vec<_>>().join(", ");
            return Err(SpecError::UnknownAgent { name: name.to_string(), known });
        };
        (kind.configure)(&AgentOptions::new(&kind.doc, &options)?)
    }

    /// What there is, in alphabetical order, for listings.
    pub fn kinds(&self) -> impl Iterator<Item = &KindDoc> {
        self.kinds.values().map(|kind| &kind.doc)
    }

    /// What [`Configure::choices`] says of an agent's option in this game; empty where there is no such agent or option.
    pub fn choices(&self, agent: &str, option: &str) -> &[&'static str] {
        self.kinds.get(agent).and_then(|kind| kind.choices.get(option)).map_or(&[][..], Vec::as_slice)
    }
}

impl<P: Position> Default for Registry<P> {
    fn default() -> Registry<P> {
        Registry::new()
    }
}

struct AgentKind<P: Position> {
    doc: KindDoc,
    choices: BTreeMap<&'static str, Vec<&'static str>>,
    configure: Box<MakeFactory<P>>,
}

type MakeFactory<P> = dyn Fn(&AgentOptions) -> Result<AgentFactory<P>, SpecError> + Send + Sync;

/// An agent that a text spec can configure.
pub trait Configure<P: Position>: Agent<P> + Clone + Sync + 'static {
    /// Name in specs, lower case.
    const NAME: &'static str;
    /// One line that says what it does.
    const SUMMARY: &'static str;
    /// The option that may be written without `key=`, if any: `neural:runs/one` for `neural:run=runs/one`.
    const POSITIONAL: Option<&'static str> = None;
    /// Its options.
    const OPTIONS: &'static [OptionDoc];

    /// The words that an option takes, where the game says which; empty for every other option, whose meaning names its
    /// words.
    fn choices(&self, _option: &str) -> Vec<&'static str> {
        Vec::new()
    }

    /// A copy of this prototype with the given options. Costly things (networks) are loaded here, once, and shared by
    /// the clones.
    ///
    /// # Errors
    /// [`SpecError`] for a value out of range or something that cannot be loaded.
    fn configure(&self, options: &AgentOptions) -> Result<Self, SpecError>;
}

/// Makes equal agents, one for each worker. Cheap to clone.
#[derive(Clone)]
pub struct AgentFactory<P: Position> {
    spec: String,
    fingerprint: Option<String>,
    make: Arc<dyn Fn() -> Box<dyn Agent<P>> + Send + Sync>,
}

impl<P: Position> AgentFactory<P> {
    /// A factory of clones of `agent`, for agents made by code instead of by a spec.
    pub fn of<A: Agent<P> + Clone + Sync + 'static>(agent: A) -> AgentFactory<P> {
        AgentFactory {
            spec: agent.spec(),
            fingerprint: agent.fingerprint(),
            make: Arc::new(move || Box::new(agent.clone())),
        }
    }

    /// The spec with every option written out.
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// As [`Agent::fingerprint`], of the agent as it was when it was configured.
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// A new agent; it needs [`Agent::new_game`] before its first choice.
    pub fn make(&self) -> Box<dyn Agent<P>> {
        (self.make)()
    }
}

impl<P: Position> fmt::Debug for AgentFactory<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentFactory").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// What listings say of an agent.
#[derive(Clone, Copy, Debug)]
pub struct KindDoc {
    /// Name in specs.
    pub name: &'static str,
    /// One line that says what it does.
    pub summary: &'static str,
    /// The option that may be written without `key=`.
    pub positional: Option<&'static str>,
    /// Its options.
    pub options: &'static [OptionDoc],
}

impl KindDoc {
    /// `spec`, an agent of this kind, without the options that have their defaults. It makes the same agent.
    pub fn brief(&self, spec: &str) -> String {
        let (name, options) = split_spec(spec);
        let usual = |item: &str| {
            item.split_once('=').is_some_and(|(option, value)| {
                self.options.iter().any(|doc| doc.name == option && doc.default == value)
            })
        };
        let kept = options.iter().filter(|item| !usual(item)).map(|item| in_spec(item));
        let kept = kept.collect::<Vec<_>>().join(",");
        if kept.is_empty() { name.to_string() } else { format!("{name}:{kept}") }
    }
}

/// What listings say of an option.
#[derive(Clone, Copy, Debug)]
pub struct OptionDoc {
    /// Name in specs.
    pub name: &'static str,
    /// Value if left out.
    pub default: &'static str,
    /// One line that says what it does, with its unit, or with the words that it takes.
    pub meaning: &'static str,
}

/// The options of one spec, known to be options of its agent.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    agent: &'static str,
    values: BTreeMap<&'static str, String>,
}

impl AgentOptions {
    fn new(doc: &KindDoc, items: &[String]) -> Result<AgentOptions, SpecError> {
        let mut values = BTreeMap::new();
        for (place, item) in items.iter().enumerate() {
            let (name, value) = match (item.split_once('='), doc.positional) {
                (Some(pair), _) => pair,
                (None, Some(positional)) if place == 0 => (positional, item.as_str()),
                (None, _) => return Err(SpecError::Malformed { agent: doc.name, item: item.to_string() }),
            };
            let Some(option) = doc.options.iter().find(|option| option.name == name) else {
                let known = doc.options.iter().map(|option| option.name).collect::<Vec<_>>().join(", ");
                return Err(SpecError::UnknownOption { agent: doc.name, option: name.to_string(), known });
            };
            if values.insert(option.name, value.to_string()).is_some() {
                return Err(SpecError::Repeated { agent: doc.name, option: option.name });
            }
        }
        Ok(AgentOptions { agent: doc.name, values })
    }

    /// The number given for `option`, or `default`.
    ///
    /// # Errors
    /// [`SpecError::InvalidValue`] if it is no number or outside `range`.
    pub fn number<T>(&self, option: &'static str, default: T, range: RangeInclusive<T>) -> Result<T, SpecError>
    where
        T: FromStr + PartialOrd + fmt::Display,
    {
        let Some(text) = self.values.get(option) else { return Ok(default) };
        match text.parse::<T>() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(self.invalid(option, text, format!("a number from {} to {}", range.start(), range.end()))),
        }
    }

    /// The `true` or `false` given for `option`, or `default`.
    ///
    /// # Errors
    /// [`SpecError::InvalidValue`] if it is neither.
    pub fn truth(&self, option: &'static str, default: bool) -> Result<bool, SpecError> {
        let Some(text) = self.values.get(option) else { return Ok(default) };
        text.parse().map_err(|_| self.invalid(option, text, "true or false".to_string()))
    }

    /// Which of `choices` is given for `option`; the first if none is.
    ///
    /// # Errors
    /// [`SpecError::InvalidValue`] if it is none of them.
    pub fn choice(&self, option: &'static str, choices: &[&'static str]) -> Result<&'static str, SpecError> {
        let text = self.values.get(option).map_or(choices[0], String::as_str);
        let known = choices.iter().copied().find(|choice| *choice == text);
        known.ok_or_else(|| self.invalid(option, text, format!("one of {}", choices.join(", "))))
    }

    /// The text given for `option`.
    pub fn text(&self, option: &str) -> Option<&str> {
        self.values.get(option).map(String::as_str)
    }

    /// The error for a value that the agent itself refuses.
    pub fn invalid(&self, option: &'static str, value: &str, expected: String) -> SpecError {
        SpecError::InvalidValue { agent: self.agent, option, value: value.to_string(), expected }
    }
}

/// The name of an agent's spec, and what stands between the single commas after it: `option=value`, or a value alone. Two
/// commas together are one that belongs to a value.
pub fn split_spec(spec: &str) -> (&str, Vec<String>) {
    let (name, options) = spec.split_once(':').unwrap_or((spec, ""));
    let mut items = Vec::new();
    let mut item = String::new();
    let mut characters = options.chars().peekable();
    while let Some(character) = characters.next() {
        if character == ',' && characters.next_if_eq(&',').is_none() {
            items.push(mem::take(&mut item));
        } else {
            item.push(character);
        }
    }
    if !options.is_empty() {
        items.push(item);
    }
    (name, items)
}

/// A value as it stands in a spec, where [`split_spec`] finds it again: a comma is written twice.
pub fn in_spec(value: &str) -> String {
    value.replace(',', ",,")
}

/// What is wrong with an agent's spec.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// No agent of this name plays the game.
    #[error("unknown agent '{name}'; there are: {known}")]
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// What exists.
        known: String,
    },
    /// The agent has no such option.
    #[error("agent '{agent}' has no option '{option}'; there are: {known}")]
    UnknownOption {
        /// Name of the agent.
        agent: &'static str,
        /// What was given.
        option: String,
        /// What exists.
        known: String,
    },
    /// Something between commas that is no `key=value`.
    #[error("agent '{agent}': '{item}' is not of the form option=value")]
    Malformed {
        /// Name of the agent.
        agent: &'static str,
        /// What was given.
        item: String,
    },
    /// An option was given twice.
    #[error("agent '{agent}': option '{option}' is given twice")]
    Repeated {
        /// Name of the agent.
        agent: &'static str,
        /// The option.
        option: &'static str,
    },
    /// A value out of range or of the wrong kind.
    #[error("agent '{agent}': {option}={value} is not {expected}")]
    InvalidValue {
        /// Name of the agent.
        agent: &'static str,
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What was expected.
        expected: String,
    },
    /// What the agent needs could not be loaded.
    #[error("agent '{agent}': {reason}")]
    Unavailable {
        /// Name of the agent.
        agent: &'static str,
        /// What failed, with the file.
        reason: String,
    },
}

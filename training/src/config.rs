//! How a run plays and learns: TOML, checked, with presets.
//!
//! A file lists what differs from the defaults; unknown keys are refused. A run directory keeps the whole configuration.

use crate::arena::sprt::SprtError;
use crate::assessment::AssessmentConfig;
use crate::learner::LearnerConfig;
use crate::self_play::pool::LeagueConfig;
use crate::self_play::teacher::ImitationConfig;
use crate::self_play::tree_search::SearchConfig;
use crate::self_play::{EvaluatorKind, SelfPlayConfig};
use crate::session::gate::GateConfig;
use dervish_models::device::DeviceChoice;
use dervish_models::network::Architecture;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Version of the configuration and of the layout of run directories.
pub const FORMAT_VERSION: u32 = 3;

/// How a run plays and learns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// [`FORMAT_VERSION`] of the program that wrote it.
    pub format: u32,
    /// What is played, in turn: built-in scenarios, scenario files, or one reference game. Scenarios of one run are of one
    /// game.
    pub scenarios: Vec<String>,
    /// Names the first weights, the dice of all games and every random stream.
    #[serde(default)]
    pub seed: u64,
    /// Threads that play, at least 1. The learner takes its time from theirs.
    #[serde(default = "all_cores")]
    pub threads: usize,
    /// How long a run of this configuration trains where neither `--budget` nor `--rounds` says so, such as `60m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// Games are played round by round on one thread and on the CPU, so that the weights after any round follow from this configuration and the
    /// number of rounds for which the run was asked (the step size shrinks until then), whatever interrupted it; slower.
    #[serde(default)]
    pub deterministic: bool,
    /// The network.
    #[serde(default)]
    pub network: RunNetwork,
    /// What is learnt from before self-play begins, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imitation: Option<ImitationConfig>,
    /// How self-play is played.
    #[serde(default)]
    pub self_play: SelfPlayConfig,
    /// Who is met in self-play beside the network itself.
    #[serde(default)]
    pub league: LeagueConfig,
    /// What new weights must win to play; without it the newest weights play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateConfig>,
    /// How strength is followed while the run learns.
    #[serde(default)]
    pub assessment: AssessmentConfig,
    /// How the run learns.
    #[serde(default)]
    pub learner: LearnerConfig,
    /// What is kept on disk.
    #[serde(default)]
    pub storage: StorageConfig,
}

/// The network of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunNetwork {
    /// Name of the encoder, such as `campaign-odds`; the game's usual one if empty.
    pub encoder: String,
    /// How it is built.
    pub architecture: Architecture,
    /// Whether each seat has a network of its own, both of this architecture and kept as one.
    pub by_seat: bool,
    /// Where it computes: `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: DeviceChoice,
}

impl Default for RunNetwork {
    fn default() -> RunNetwork {
        let architecture = Architecture::TokenMlp { hidden: 64, trunk: 128 };
        RunNetwork { encoder: String::new(), architecture, by_seat: false, device: DeviceChoice::Auto }
    }
}

/// What a run keeps on disk.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StorageConfig {
    /// Seconds between checkpoints; in a deterministic run, rounds.
    pub checkpoint_every: f64,
    /// Latest checkpoints that are kept, at least 1, beside the untrained network.
    pub latest: usize,
    /// Checkpoints that are kept of all the run, evenly spread over it, for curves and opponents.
    pub milestones: usize,
    /// MiB that the run directory may take, all its files counted; 0 for no bound. Beyond it milestones are deleted; when that
    /// is not enough, training ends.
    pub disk_limit: u64,
}

impl Default for StorageConfig {
    fn default() -> StorageConfig {
        StorageConfig { checkpoint_every: 30.0, latest: 3, milestones: 24, disk_limit: 0 }
    }
}

/// A configuration that cannot be used, told on one line.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, an unknown key, or a value of another kind.
    #[error("{}{reason}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Toml {
        /// Line, from 1, where it can be placed.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// It was written by a program with another layout.
    #[error("run format {found}; this program reads format {FORMAT_VERSION}")]
    Format {
        /// The format that it states.
        found: i64,
    },
    /// A figure with which nothing can be trained.
    #[error("{field}: {value} is not from {least} to {most}")]
    Range {
        /// Its path, such as `learner.batch`.
        field: &'static str,
        /// What it is.
        value: String,
        /// The least that it may be.
        least: f64,
        /// The most that it may be.
        most: f64,
    },
    /// The test of a gate cannot be made.
    #[error("gate: {0}")]
    Gate(SprtError),
    /// A time that is none.
    #[error("budget: {0}")]
    Budget(String),
    /// Figures that do not go together.
    #[error("{0}")]
    Contradiction(&'static str),
    /// There is no preset of this name.
    #[error("no preset `{name}`; there are {}", PRESETS.map(|(name, _)| name).join(", "))]
    Preset {
        /// The name.
        name: String,
    },
    /// A setting from the command line that is none.
    #[error("`{setting}`: {reason}")]
    Setting {
        /// As the user wrote it.
        setting: String,
        /// What is wrong.
        reason: String,
    },
}

/// The presets that come with the program, by name.
pub const PRESETS: [(&str, &str); 4] = [
    ("souakim-cpu", include_str!("../presets/souakim-cpu.toml")),
    ("kordofan-cpu", include_str!("../presets/kordofan-cpu.toml")),
    ("campaign-cpu", include_str!("../presets/campaign-cpu.toml")),
    ("campaign-cuda", include_str!("../presets/campaign-cuda.toml")),
];

/// What stands above a configuration that is printed for people.
const COMMENTED: &str = "\
# Every key. What each means is said in training/src/config.rs and the files that it names; where # stands right before a
# key or a [table], it is left out here.

";

/// The longest time that a session may be given: 1000 days, far from where sums of seconds lose their fractions.
pub const LONGEST_BUDGET: Duration = Duration::from_secs(1000 * 24 * 3600);

/// A time such as `90s`, `10m` or `2h`.
///
/// # Errors
/// What is wrong with it, on one line.
pub fn budget(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("there is nothing to do in no time".to_string()),
        Ok(budget) if budget > LONGEST_BUDGET => Err("longer than 1000 days".to_string()),
        Ok(budget) => Ok(budget),
        Err(error) => Err(format!("{error}; write 90s, 10m or 2h")),
    }
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl RunConfig {
    /// The text of a preset.
    ///
    /// # Errors
    /// [`ConfigError::Preset`].
    pub fn preset(name: &str) -> Result<&'static str, ConfigError> {
        let found = PRESETS.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text).ok_or_else(|| ConfigError::Preset { name: name.to_string() })
    }

    /// Reads a configuration, changed by `settings` such as `self_play.simulations=32` (a TOML value after the first `=`; what
    /// is none is a string).
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str, settings: &[String]) -> Result<RunConfig, ConfigError> {
        let line = |span: std::ops::Range<usize>| text[..span.start.min(text.len())].matches('\n').count() + 1;
        let toml_error = |error: toml::de::Error| ConfigError::Toml {
            line: error.span().filter(|_| settings.is_empty()).map(line),
            reason: error.message().replace('\n', "; "),
        };
        let written: toml::Table = toml::from_str(text).map_err(toml_error)?;
        // Settings change a whole configuration, defaults included, where the text is one without them.
        let whole = toml::from_str::<RunConfig>(text).ok().filter(|_| !settings.is_empty());
        let unchanged = whole.and_then(|whole| toml::from_str(&whole.text()).ok()).unwrap_or(written);
        let mut table = unchanged.clone();
        for setting in settings {
            apply(&mut table, setting)?;
        }
        // Another format may have other keys: it is told apart first.
        match table.get("format").map(toml::Value::as_integer) {
            Some(Some(format)) if format == i64::from(FORMAT_VERSION) => {}
            Some(Some(found)) => return Err(ConfigError::Format { found }),
            _ => return Err(ConfigError::Toml { line: None, reason: "missing field `format`".to_string() }),
        }
        let config: RunConfig = match settings {
            // Read from the text, so that faults have lines.
            [] => toml::from_str(text).map_err(toml_error)?,
            _ => table.try_into().map_err(|error| match at_fault(&unchanged, settings) {
                Some(setting) => {
                    ConfigError::Setting { setting: setting.clone(), reason: error.message().replace('\n', "; ") }
                }
                None => toml_error(error),
            })?,
        };
        config.check()?;
        Ok(config)
    }

    /// Times that a game of a teacher is learnt from.
    pub fn taught_uses(&self) -> usize {
        self.imitation.as_ref().and_then(|imitation| imitation.uses).unwrap_or(self.learner.uses)
    }

    /// Where the network computes: where the weights must follow from the configuration, on the CPU whatever else is there.
    pub fn device(&self) -> DeviceChoice {
        if self.deterministic { DeviceChoice::Cpu } else { self.network.device }
    }

    /// The whole configuration as TOML.
    pub fn text(&self) -> String {
        // Every field is one that TOML can hold; numbers beyond 63 bits are refused by `check`.
        toml::to_string_pretty(self).unwrap_or_default()
    }

    /// The whole configuration as TOML for people: where its keys are explained, and what it leaves out as comments, `#`
    /// right before a key, with the default or an example. It is read as [`RunConfig::text`] is.
    pub fn commented_text(&self) -> String {
        let example = ImitationConfig { teacher: "mcts:sims=128".to_string(), games: 1000, uses: None, explore: 0.0 };
        let imitation = self.imitation.clone().unwrap_or(example);
        let whole = RunConfig {
            budget: Some(self.budget.clone().unwrap_or_else(|| "60m".to_string())),
            imitation: Some(ImitationConfig { uses: Some(self.taught_uses()), ..imitation }),
            gate: Some(self.gate.unwrap_or_default()),
            ..self.clone()
        };
        let (own, whole) = (self.text(), whole.text());
        let mut text = COMMENTED.to_string();
        // Both are written in one order, so the lines of the one are among those of the other.
        let mut said = own.lines().peekable();
        for line in whole.lines() {
            let is_said = said.next_if_eq(&line).is_some() || line.is_empty();
            text.extend([if is_said { "" } else { "#" }, line, "\n"]);
        }
        text
    }

    /// Whether it can be trained with.
    ///
    /// # Errors
    /// [`ConfigError::Range`] or [`ConfigError::Contradiction`].
    pub fn check(&self) -> Result<(), ConfigError> {
        let RunConfig { self_play, league, gate, assessment, learner, storage, .. } = self;
        let (targets, trainer) = (&learner.targets, &learner.trainer);
        let count = |count: usize| count as f64;
        let (share, weight) = (0.0..=1.0, 0.0..=1e3);
        let (mut candidates, mut value_scale) = (1.0, 0.0);
        let (mut exploration, mut noise_share, mut noise_mass, mut temperature) = (0.0, 0.0, 1.0, 0.0);
        match self_play.search {
            SearchConfig::Gumbel { candidates: compared, value_scale: scale } => {
                (candidates, value_scale) = (count(compared), scale);
            }
            SearchConfig::Puct { exploration: factor, noise_share: noisy, noise_mass: mass, temperature: warmth } => {
                (exploration, noise_share, noise_mass, temperature) = (factor, noisy, mass, warmth);
            }
        }
        let ranges: [(&'static str, f64, RangeInclusive<f64>); 51] = [
            ("scenarios", count(self.scenarios.len()), 1.0..=100.0),
            ("seed", self.seed as f64, 0.0..=i64::MAX as f64),
            ("threads", count(self.threads), 1.0..=1024.0),
            ("imitation.games", self.imitation.as_ref().map_or(0.0, |i| i.games as f64), 0.0..=1e9),
            ("imitation.uses", count(self.imitation.as_ref().and_then(|i| i.uses).unwrap_or(1)), 1.0..=1e3),
            ("imitation.explore", self.imitation.as_ref().map_or(0.0, |i| i.explore), share.clone()),
            ("self_play.games_at_once", count(self_play.games_at_once), 1.0..=1e4),
            ("self_play.simulations", f64::from(self_play.simulations), 0.0..=1e6),
            ("self_play.cheap_simulations", f64::from(self_play.cheap_simulations), 1.0..=1e6),
            ("self_play.full_share", self_play.full_share, share.clone()),
            ("self_play.search.candidates", candidates, 1.0..=1e4),
            ("self_play.search.value_scale", value_scale, 0.0..=1e3),
            ("self_play.search.exploration", exploration, 0.0..=1e3),
            ("self_play.search.noise_share", noise_share, share.clone()),
            ("self_play.search.noise_mass", noise_mass, 1e-3..=1e6),
            ("self_play.search.temperature", temperature, 0.0..=100.0),
            ("self_play.most_joined", count(self_play.most_joined), 1.0..=1e6),
            ("self_play.utility.margin_share", f64::from(self_play.utility.margin_share), share.clone()),
            ("league.share", league.share, share.clone()),
            ("league.past", count(league.past), 0.0..=100.0),
            ("league.past_every", league.past_every as f64, 1.0..=1e9),
            ("league.focus", league.focus, 0.0..=100.0),
            ("gate.every", gate.map_or(1.0, |gate| gate.every as f64), 1.0..=1e9),
            ("gate.games", gate.map_or(2.0, |gate| f64::from(gate.games)), 2.0..=1e6),
            ("gate.simulations", gate.map_or(0.0, |gate| f64::from(gate.simulations)), 0.0..=1e6),
            ("assessment.every", assessment.every as f64, 0.0..=1e9),
            ("assessment.games", f64::from(assessment.games), 2.0..=1e6),
            ("assessment.simulations", f64::from(assessment.simulations), 0.0..=1e6),
            ("learner.targets.lambda", f64::from(targets.lambda), share.clone()),
            ("learner.targets.value_lambda", f64::from(targets.value_lambda), share.clone()),
            ("learner.targets.luck", f64::from(targets.luck), share.clone()),
            ("learner.trainer.learning_rate", trainer.learning_rate, share.clone()),
            ("learner.trainer.weight_decay", trainer.weight_decay, share.clone()),
            ("learner.trainer.gradient_clip", trainer.gradient_clip, 0.0..=1e6),
            ("learner.trainer.policy_weight", trainer.policy_weight, weight.clone()),
            ("learner.trainer.margin_weight", trainer.margin_weight, weight.clone()),
            ("learner.trainer.turns_left_weight", trainer.turns_left_weight, weight.clone()),
            ("learner.trainer.ratio_clip", trainer.ratio_clip, share.clone()),
            ("learner.trainer.entropy_weight", trainer.entropy_weight, weight),
            ("learner.trainer.average_decay", trainer.average_decay, share.clone()),
            ("learner.games_per_round", count(learner.games_per_round), 1.0..=1e6),
            ("learner.uses", count(learner.uses), 1.0..=1e3),
            ("learner.window", count(learner.window), 0.0..=1e6),
            ("learner.passes", count(learner.passes), 1.0..=1e3),
            ("learner.batch", count(learner.batch), 1.0..=1e6),
            ("learner.final_learning_rate", learner.final_learning_rate, share),
            ("learner.warm_up", learner.warm_up as f64, 0.0..=1e9),
            ("storage.checkpoint_every", storage.checkpoint_every, 0.0..=1e6),
            ("storage.latest", count(storage.latest), 1.0..=1e4),
            ("storage.milestones", count(storage.milestones), 2.0..=1e4),
            ("storage.disk_limit", storage.disk_limit as f64, 0.0..=1e9),
        ];
        if let Some((field, value, range)) = ranges.into_iter().find(|(_, value, range)| !range.contains(value)) {
            let (least, most) = (*range.start(), *range.end());
            return Err(ConfigError::Range { field, value: value.to_string(), least, most });
        }
        if let Some(Err(reason)) = self.budget.as_deref().map(budget) {
            return Err(ConfigError::Budget(reason));
        }
        if self.deterministic && matches!(self.network.device, DeviceChoice::Cuda(_)) {
            return Err(ConfigError::Contradiction("deterministic = true needs network.device = \"cpu\" or \"auto\""));
        }
        if self_play.utility.margin_share > 0.0 && targets.value_lambda < 1.0 {
            return Err(ConfigError::Contradiction(
                "learner.targets.value_lambda below 1 needs a self_play.utility.margin_share of 0",
            ));
        }
        if self.deterministic && self.threads != 1 {
            return Err(ConfigError::Contradiction("deterministic = true needs threads = 1"));
        }
        if targets.luck > 0.0 && targets.value_lambda < 1.0 {
            return Err(ConfigError::Contradiction(
                "learner.targets.luck above 0 needs a learner.targets.value_lambda of 1",
            ));
        }
        if let Some(error) = gate.and_then(|gate| gate.plan().check().err()) {
            return Err(ConfigError::Gate(error));
        }
        if league.share > 0.0 && league.opponents.is_empty() && league.past == 0 {
            return Err(ConfigError::Contradiction("league.share above 0 needs league.opponents or a league.past"));
        }
        if gate.is_some_and(|gate| gate.games % 2 == 1) || assessment.games % 2 == 1 {
            return Err(ConfigError::Contradiction("games of a gate and of an assessment come in pairs"));
        }
        if self.deterministic && self_play.evaluator == EvaluatorKind::Shared {
            return Err(ConfigError::Contradiction("deterministic = true needs self_play.evaluator = \"own\""));
        }
        if learner.uses > 1 && learner.window == 0 {
            return Err(ConfigError::Contradiction("learner.uses above 1 needs a learner.window of at least 1 round"));
        }
        if self.taught_uses() > 1 && learner.window == 0 && self.imitation.as_ref().is_some_and(|of| of.games > 0) {
            return Err(ConfigError::Contradiction(
                "imitation.uses above 1 needs a learner.window of at least 1 round",
            ));
        }
        // A window alone keeps games to be looked at; it is `uses` that learns from them again.
        if learner.uses > 1 && self_play.simulations == 0 {
            return Err(ConfigError::Contradiction(
                "learner.uses above 1 needs self_play.simulations: a policy gradient judges the policy that played",
            ));
        }
        let mixed = self_play.simulations > 0 && self_play.full_share < 1.0;
        if mixed && self_play.cheap_simulations > self_play.simulations {
            return Err(ConfigError::Contradiction(
                "self_play.cheap_simulations is above self_play.simulations, those of a full search",
            ));
        }
        Ok(())
    }
}

/// The setting without which the others make a configuration of `unchanged`, if there is just one: with several at fault it is
/// not known whose the first fault is.
fn at_fault<'s>(unchanged: &toml::Table, settings: &'s [String]) -> Option<&'s String> {
    let reads_without = |left_out: usize| {
        let mut table = unchanged.clone();
        let mut others = settings.iter().enumerate().filter(|(index, _)| *index != left_out);
        let applied = others.try_for_each(|(_, setting)| apply(&mut table, setting));
        applied.is_ok() && table.try_into::<RunConfig>().is_ok()
    };
    let mut found = (0..settings.len()).filter(|&index| reads_without(index));
    found.next().filter(|_| found.next().is_none()).map(|index| &settings[index])
}

/// The field that says which fields a table has, such as that of an architecture.
const KIND: &str = "kind";

/// Puts a setting into the table; tables on its way are made where they are missing.
fn apply(table: &mut toml::Table, setting: &str) -> Result<(), ConfigError> {
    let refused = |reason: &str| ConfigError::Setting { setting: setting.to_string(), reason: reason.to_string() };
    let (path, value) = setting.split_once('=').ok_or_else(|| refused("expected KEY=VALUE"))?;
    let value = value.trim();
    let read = toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
    let value = read.and_then(|mut read| read.remove("value")).unwrap_or_else(|| value.into());
    let mut keys: Vec<&str> = path.split('.').map(str::trim).collect();
    let last = keys.pop().filter(|key| !key.is_empty()).ok_or_else(|| refused("expected KEY=VALUE"))?;
    let mut table = table;
    for key in keys {
        let entry = table.entry(key).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        table = entry.as_table_mut().ok_or_else(|| refused("leads through a value"))?;
    }
    // What is of another kind has other fields.
    if last == KIND && table.get(KIND).is_some_and(|kind| *kind != value) {
        table.clear();
    }
    table.insert(last.to_string(), value);
    Ok(())
}

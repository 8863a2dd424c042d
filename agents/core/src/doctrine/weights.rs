//! The numbers of the doctrine, read from a data file so that they can be tuned without touching code.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use dervish_env::persist::read_text;
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

/// All weights. Values are in points of the scenario's victory conditions unless a field says otherwise.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// What places and units are worth.
    pub stakes: StakeWeights,
    /// Marching, for both sides.
    pub march: MarchWeights,
    /// The Mahdist's policy.
    pub mahdist: MahdistWeights,
    /// The Egyptian player's policy.
    pub egyptian: EgyptianWeights,
    /// The evaluation of positions.
    pub evaluation: EvaluationWeights,
}

/// What places and units are worth where the scenario gives no points for them.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StakeWeights {
    /// The place whose holder wins (14.1 El Obeid, 14.2 Khartoum, 14.3 scenario 4).
    pub prize: f32,
    /// The place whose fall ends the game (14.1 Khartoum, 14.3 Souakim).
    pub sudden_death: f32,
    /// Any town: shelter, recovery, recruits, a crossing.
    pub town: f32,
    /// Any village.
    pub village: f32,
    /// A Mahdist combat unit.
    pub mahdist_unit: f32,
    /// An Egyptian combat unit.
    pub egyptian_unit: f32,
    /// A British or Indian combat unit.
    pub british_unit: f32,
    /// A camel or civilian.
    pub train: f32,
    /// A supply unit.
    pub supply: f32,
    /// A gunboat.
    pub gunboat: f32,
    /// Months before the end over which the worth of units that victory conditions do not count fades.
    pub fade: f32,
    /// Months that the last one counts for in that.
    pub last_month: f32,
    /// Share of a unit's worth that is lost when a combat leaves it disrupted, in [0, 1].
    pub shaken: f32,
    /// Share of a unit's worth that is lost while it stays disrupted for a month more, in [0, 1].
    pub lingers: f32,
}

/// How both sides march.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarchWeights {
    /// Movement points that a group makes in a month, on average.
    pub pace: f32,
    /// Factor by which an aim loses worth with every month that it is away, in (0, 1].
    pub patience: f32,
    /// The least gain for which a group is set in motion.
    pub least_gain: f32,
    /// The least gain for which a combat is begun.
    pub least_attack: f32,
    /// Share of an attack's worth that is lost when disruption on the march stops it.
    pub disruption: f32,
    /// Months by which an aim that is not reached now is put off, on average, beyond the way to it.
    pub delay: f32,
    /// Months by which a way that just about can be made until the end of the game takes longer or shorter; above 0.
    pub chance: f32,
    /// Share of an attack that counts for who stands beside the enemy and puts it off, in [0, 1].
    pub put_off: f32,
    /// Shares of the discomforts of a hex that count after 0, 1, 2 and 3 rolls, in [0, 1]: the group may yet go on.
    pub settles: [f32; 4],
    /// Share of its strength that a party keeps in a combat that it seeks, in [0, 1].
    pub after_battle: f32,
    /// Movement points that crossing a river at a town or village stands for: what is left of a move is lost (8.3).
    pub crossing: u16,
    /// Movement points that a voyage from port to port stands for (8.8).
    pub voyage: u16,
    /// Hexes that a march roll covers over open ground (2.1, 8.3).
    pub reach: u32,
    /// Hexes within which enemies are a threat to a place.
    pub threat: u32,
    /// What a place of one's own must count for to be garrisoned where it is empty.
    pub guard: f32,
    /// Probability that an adjacent enemy attacks, if it pays him.
    pub come_near: f32,
    /// The same for one within a march roll.
    pub come_march: f32,
    /// The same for one within two march rolls.
    pub come_far: f32,
    /// Share of what a sortie costs it that the garrison of a town is taken to mind, in [0, 1].
    pub sortie: f32,
    /// Points of lead from which fewer risks are taken, where points decide.
    pub leading: f32,
    /// Factor of the worth of own units lost for who leads so.
    pub prudence: f32,
    /// Factor of own losses for who does not lead in the last month (14.3).
    pub boldness: f32,
    /// Units that a leader's strategic point stands for where stacks are compared.
    pub lead: u32,
    /// Factor of joining a stack, for each unit in it, above 1.
    pub crowd: f32,
    /// Units of a party that count where it joins a stack, at most.
    pub crowd_units: u32,
    /// Moving a leader without troops of his own.
    pub stray_leader: f32,
    /// Units that a stack without a leader must have, beyond twice his own, for him to go there.
    pub stray_units: u32,
    /// A friendly unit where the beaten retreat to.
    pub retreat_friend: f32,
    /// Friendly units there that count, at most.
    pub retreat_friends: u32,
    /// A village or oasis where the beaten retreat to; a town is worth it twice.
    pub retreat_shelter: f32,
}

/// The Mahdist's policy.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MahdistWeights {
    /// Factor of the worth of enemies lost.
    pub kill: f32,
    /// Factor of the worth of own units lost.
    pub loss: f32,
    /// Factor of an assault on the garrison that hunger will leave.
    pub invest: f32,
    /// What joining the host is worth for a unit.
    pub muster: f32,
    /// Factor of the worth of a place that is held against a threat.
    pub hold: f32,
    /// Factor of the loss that an enemy attack threatens.
    pub danger: f32,
    /// Months beyond which an aim is too far; the nearer, the more each step towards it counts.
    pub foresight: f32,
    /// Good-order units that a stack must have to send one out to take a place without garrison.
    pub scout: u32,
    /// What a place must count for that part of a host stays in it.
    pub keep: f32,
    /// Good-order units that stay in such a place, and one for each point that it counts for if an enemy is near.
    pub garrison: u32,
    /// Parts into which a host is split at set-up, at most.
    pub split: u8,
    /// Good-order units for each disrupted one with which a host leaves the disrupted behind; if fewer, all go.
    pub stragglers: u32,
    /// For recruits: a unit of the stack that they join.
    pub gather_unit: f32,
    /// Units of that stack that count, at most.
    pub gather_units: u32,
    /// For recruits: a strategic point of a leader there.
    pub gather_leader: f32,
    /// For recruits: a village there; a town is worth it three times.
    pub gather_shelter: f32,
}

/// The Egyptian player's policy.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgyptianWeights {
    /// Factor of the worth of enemies lost.
    pub kill: f32,
    /// Factor of the worth of own units lost.
    pub loss: f32,
    /// Factor of the worth of a besieged place for an attack on its besiegers.
    pub relief: f32,
    /// What joining the main column is worth for a unit.
    pub muster: f32,
    /// Factor of the worth of a place that is held against a threat.
    pub hold: f32,
    /// Factor of the loss that an enemy attack threatens.
    pub danger: f32,
    /// Months beyond which an aim is too far; the nearer, the more each step towards it counts.
    pub foresight: f32,
    /// Combat units that stay in a place that counts.
    pub garrison: u32,
    /// Combat units that make a column, at least.
    pub column: u32,
    /// British units that set out for the prize without waiting for others, at least.
    pub march_early: u32,
    /// Combat units in a stack in the field that sends a scout out to take an open place (14.3).
    pub scout: u32,
    /// Combat units of a flying column to the prize.
    pub flying: u32,
    /// Months before the end, beyond the way there, at which any British unit sets out for the prize.
    pub march_late: f32,
    /// Share of the prize's worth that British units may hope for where the enemy holds it, in [0, 1].
    pub prize_held: f32,
    /// The same where he does not.
    pub prize_open: f32,
    /// Enemies within so many hexes keep a garrison in.
    pub close: u32,
    /// Factor of what a garrison loses to hunger in a month, for bringing supply to it.
    pub feed: f32,
    /// Combat units that escort supply, at most.
    pub escort: u32,
    /// Share of a place's worth that the first gunboat there protects where the enemy is near, in [0, 1].
    pub gunboat_protects: f32,
    /// The same where no enemy is near.
    pub gunboat_patrols: f32,
    /// Supply units that stay at the railhead when railway is built.
    pub rail_reserve: u32,
    /// Months of the game that must be left for railway to be built.
    pub rail_months: u8,
    /// Factor of what the field force can still gain, against the danger that it is in, when it might leave.
    pub field_force_stays: f32,
}

/// The evaluation of positions (see [`super::evaluation`]).
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationWeights {
    /// Lead in points at which the value is tanh(1) = 0.76.
    pub scale: f32,
    /// Factor of points for eliminated units.
    pub eliminated: f32,
    /// Factor of the worth of units on the map.
    pub strength: f32,
    /// Share of a place's worth that the Egyptian player loses while it is besieged.
    pub besieged: f32,
    /// A supply unit.
    pub supply: f32,
    /// Factor of strength that is near the prize.
    pub approach: f32,
    /// How much faster points count at the end of the game than at its start.
    pub late: f32,
    /// Factor of points for places where another place decides (14.1).
    pub places: f32,
    /// Factor of the prize where British units must stand in it at the end (14.2).
    pub siege: f32,
    /// What a disrupted unit counts for, of one in good order, in [0, 1].
    pub disrupted: f32,
    /// Hexes within which strength bears on the prize.
    pub near: u32,
}

impl Weights {
    /// The weights that come with the program.
    pub fn builtin() -> &'static Weights {
        static BUILTIN: LazyLock<Weights> = LazyLock::new(|| {
            toml::from_str(include_str!("../../data/doctrine.toml")).expect("a test reads the weights of the program")
        });
        &BUILTIN
    }

    /// Reads weights from a file; all of them must be there.
    ///
    /// # Errors
    /// [`WeightsError`] with the file, and the line where there is one.
    pub fn read(path: &Path) -> Result<Weights, WeightsError> {
        let text = read_text(path).map_err(|source| WeightsError::Read { path: path.to_path_buf(), source })?;
        let weights: Weights = toml::from_str(&text).map_err(|error| WeightsError::parse(path, &text, &error))?;
        match out_of_range(&text) {
            None => Ok(weights),
            Some((weight, value, range)) => Err(WeightsError::OutOfRange {
                path: path.to_path_buf(),
                weight,
                value,
                least: *range.start(),
                most: *range.end(),
            }),
        }
    }

    /// Hash of all weights as they were read: XXH3, 64 bits in hexadecimal. Comments of the file, and how its numbers are
    /// written, make no difference.
    pub fn fingerprint(&self) -> String {
        // The derived text has every field by name, and each number so that it can be read back.
        format!("{:016x}", xxh3_64(format!("{self:?}").as_bytes()))
    }
}

/// The first weight of a file that is out of its range, with its value and the range.
fn out_of_range(text: &str) -> Option<(String, f64, RangeInclusive<f64>)> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let numbers = numbers_of("", &toml::Value::Table(table));
    let broken = numbers.into_iter().find(|(name, value)| !range_of(name).contains(value));
    broken.map(|(name, value)| {
        let range = range_of(&name);
        (name, value, range)
    })
}

/// Dotted names and values of the numbers of a file; numbers of an array have its name.
fn numbers_of(name: &str, value: &toml::Value) -> Vec<(String, f64)> {
    match value {
        toml::Value::Integer(number) => vec![(name.to_string(), *number as f64)],
        toml::Value::Float(number) => vec![(name.to_string(), *number)],
        toml::Value::Array(items) => items.iter().flat_map(|item| numbers_of(name, item)).collect(),
        toml::Value::Table(table) => {
            let dotted = |key: &str| if name.is_empty() { key.to_string() } else { format!("{name}.{key}") };
            table.iter().flat_map(|(key, value)| numbers_of(&dotted(key), value)).collect()
        }
        _ => Vec::new(),
    }
}

/// What the weight of this name may be: what its field says, and nowhere so much that sums of weights overflow.
fn range_of(name: &str) -> RangeInclusive<f64> {
    /// Below this, what is divided by the weight grows out of all proportion.
    const LEAST_DIVISOR: f64 = 0.01;
    match name {
        "stakes.shaken"
        | "stakes.lingers"
        | "march.patience"
        | "march.disruption"
        | "march.put_off"
        | "march.settles"
        | "march.after_battle"
        | "march.come_near"
        | "march.come_march"
        | "march.come_far"
        | "march.sortie"
        | "egyptian.prize_held"
        | "egyptian.prize_open"
        | "egyptian.gunboat_protects"
        | "egyptian.gunboat_patrols"
        | "evaluation.besieged"
        | "evaluation.disrupted" => 0.0..=1.0,
        "stakes.fade" | "march.pace" | "march.chance" | "mahdist.foresight" | "egyptian.foresight"
        | "evaluation.scale" => LEAST_DIVISOR..=1000.0,
        // Who sends a scout out has a unit to send.
        "mahdist.scout" | "egyptian.scout" => 1.0..=1000.0,
        _ => -1000.0..=1000.0,
    }
}

/// What is wrong with a file of weights.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not what is expected.
    #[error("{}:{line}: {reason}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line of the fault, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A weight with which no doctrine can be played.
    #[error("{}: {weight} = {value} is not from {least} to {most}", path.display())]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// Dotted name of the weight.
        weight: String,
        /// What stands there.
        value: f64,
        /// The least that it may be.
        least: f64,
        /// The most.
        most: f64,
    },
}

impl WeightsError {
    /// That `text`, read from the file `path`, has this fault.
    pub fn parse(path: &Path, text: &str, fault: &toml::de::Error) -> WeightsError {
        let line = fault.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        WeightsError::Parse { path: path.to_path_buf(), line, reason: fault.message().to_string() }
    }
}

//! The numbers of the doctrine, read from a data file so that they can be tuned without touching code.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

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
    /// A leader.
    pub leader: f32,
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
    /// Probability that an adjacent enemy attacks, if it pays him.
    pub come_near: f32,
    /// The same for one within a march roll (6 hexes).
    pub come_march: f32,
    /// The same for one within two march rolls.
    pub come_far: f32,
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
        let text =
            std::fs::read_to_string(path).map_err(|source| WeightsError::Read { path: path.to_path_buf(), source })?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            WeightsError::Parse { path: path.to_path_buf(), line, reason: error.message().to_string() }
        })
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
}

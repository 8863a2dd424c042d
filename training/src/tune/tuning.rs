//! A tuning run: step after step, each written down before the next begins.

use crate::tune::folder::{PLAN, Plan, State, StepLine, TUNING_VERSION, TuneFolder, TuneFolderError};
use crate::tune::measure::{Forfeits, Measure, MeasureError, Measured, Stop};
use crate::tune::spsa::{Bounds, Search};
use crate::tune::weight_file::{Weight, WeightFile, WeightFileError};
use dervish_env::chance::game_seed;
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// A weight lies between this share of what it was at the start and its inverse.
const LEAST: f64 = 0.2;

/// A run that can go on.
pub struct Tuning {
    folder: TuneFolder,
    plan: Plan,
    file: WeightFile,
    weights: Vec<Weight>,
    bounds: Vec<Bounds>,
    measure: Measure,
    state: State,
}

/// What a run has come to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TuningReport {
    /// Version of this document: that of the folder.
    pub version: u32,
    /// What was tuned and how.
    pub plan: Plan,
    /// Steps made, of those of the plan.
    pub steps: u32,
    /// Every weight that was tuned.
    pub weights: Vec<Change>,
    /// Games of these steps that were forfeited and counted as lost, by agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forfeits: Vec<Forfeits>,
}

/// A weight before and after.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// Its dotted name.
    pub name: String,
    /// As it was.
    pub before: f64,
    /// As it stands in the new file.
    pub after: f64,
}

/// Why a run was not begun, or broke off. What was written of it is whole.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The file of weights.
    #[error(transparent)]
    Weights(#[from] WeightFileError),
    /// The games.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// The folder.
    #[error(transparent)]
    Folder(#[from] TuneFolderError),
    /// A figure of the plan with which nothing can be tuned.
    #[error("{field}: {value} is not {expected}")]
    Figure {
        /// Its name.
        field: &'static str,
        /// What it is.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// What the plan of a run asks for, which may have been edited.
    #[error("{}: {fault}", path.display())]
    Plan {
        /// Its document.
        path: PathBuf,
        /// What is wrong.
        #[source]
        fault: Box<TuneError>,
    },
}

impl Plan {
    /// Whether anything can be tuned so: the document may have been edited.
    fn check(&self) -> Result<(), TuneError> {
        let spread = |x: f64| x > 0.0 && x <= 1.0;
        let figures = [
            ("games", f64::from(self.games), self.games > 0 && self.games.is_multiple_of(2), "even and above 0"),
            ("steps", f64::from(self.gains.steps), self.gains.steps > 0, "above 0"),
            ("spread", self.gains.spread, spread(self.gains.spread), "above 0 and at most 1"),
            ("rate", self.gains.rate, spread(self.gains.rate), "above 0 and at most 1"),
            ("opponents", self.opponents.len() as f64, !self.opponents.is_empty(), "at least 1"),
            ("scenarios", self.scenarios.len() as f64, !self.scenarios.is_empty(), "at least 1"),
        ];
        match figures.into_iter().find(|(_, _, good, _)| !good) {
            Some((field, value, _, expected)) => Err(TuneError::Figure { field, value, expected }),
            None => Ok(()),
        }
    }
}

impl Tuning {
    /// Begins a run in a new folder, with the weights of a file.
    ///
    /// # Errors
    /// [`TuneError`].
    pub fn begin(out: &Path, plan: Plan, file: &Path, threads: Option<NonZeroUsize>) -> Result<Tuning, TuneError> {
        plan.check()?;
        let measure = measure_of(&plan, threads)?;
        let weights = WeightFile::read(file)?;
        weights.chosen(&plan.weights)?;
        measure.check(file)?;
        let folder = TuneFolder::create(out, &plan, weights.text())?;
        Tuning::of(folder, plan, measure)
    }

    /// Goes on with a run.
    ///
    /// # Errors
    /// [`TuneError`].
    pub fn resume(path: &Path, threads: Option<NonZeroUsize>) -> Result<Tuning, TuneError> {
        let (folder, plan) = TuneFolder::open(path)?;
        let document = folder.file(PLAN);
        let of_plan = |fault: TuneError| TuneError::Plan { path: document.clone(), fault: Box::new(fault) };
        plan.check().map_err(of_plan)?;
        let measure = measure_of(&plan, threads).map_err(|error| of_plan(error.into()))?;
        let tuning = Tuning::of(folder, plan, measure)?;
        // Its weights are there; the agent of the plan may be another by now.
        tuning.measure.check(&tuning.folder.file("start.toml")).map_err(|error| of_plan(error.into()))?;
        Ok(tuning)
    }

    fn of(folder: TuneFolder, plan: Plan, measure: Measure) -> Result<Tuning, TuneError> {
        let file = WeightFile::read(&folder.file("start.toml"))?;
        let weights = file.chosen(&plan.weights)?;
        let bounds = weights.iter().map(bounds_of).collect();
        let state = folder.state(weights.len())?.unwrap_or_else(|| State {
            version: TUNING_VERSION,
            search: Search::new(weights.iter().map(|weight| weight.value.signum()).collect()),
            steps: Vec::new(),
        });
        Ok(Tuning { folder, plan, file, weights, bounds, measure, state })
    }

    /// Steps made.
    pub fn steps(&self) -> u32 {
        self.state.search.step
    }

    /// What is tuned and how.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the latest step told, of this call or an earlier one; `None` before the first.
    pub fn latest(&self) -> Option<&StepLine> {
        self.state.steps.last()
    }

    /// Games that a step takes.
    pub fn games_a_step(&self) -> u64 {
        self.measure.games()
    }

    /// Makes a step and writes it down; `false` if there is none left, or the stop came first: then the step is made
    /// anew when the run goes on.
    ///
    /// # Errors
    /// [`TuneError`].
    pub fn step(&mut self, stop: &Stop) -> Result<bool, TuneError> {
        let gains = &self.plan.gains;
        if self.steps() >= gains.steps || stop.is_due() {
            return Ok(false);
        }
        let probe = self.state.search.probe(gains, &self.bounds);
        for (name, point) in [("plus.toml", &probe.plus), ("minus.toml", &probe.minus)] {
            let text = self.file.with(&self.weights, &self.values(point));
            self.folder.write(name, text.as_bytes())?;
        }
        let [plus, minus] = ["plus.toml", "minus.toml"].map(|name| self.folder.file(name));
        let seed = game_seed(!gains.seed, u64::from(self.steps()));
        let Some(measured) = self.measure.difference(&plus, &minus, seed, stop)? else { return Ok(false) };
        let Measured { difference, forfeits } = measured;
        self.state.search.advance(gains, &self.bounds, &probe, difference);
        let weights = self.values(&self.state.search.point);
        let line = StepLine { step: self.steps(), difference, weights, forfeits };
        self.state.steps.push(line);
        self.folder.write_state(&self.state)?;
        Ok(true)
    }

    /// Writes the best weights so far into `weights.toml`, and tells them.
    ///
    /// # Errors
    /// [`TuneError`].
    pub fn finish(&self) -> Result<TuningReport, TuneError> {
        let best = self.values(&self.state.search.best());
        let text = self.file.with(&self.weights, &best);
        self.folder.write("weights.toml", text.as_bytes())?;
        let changes = self.weights.iter().zip(best).map(|(weight, after)| Change {
            name: weight.name.clone(),
            before: weight.value,
            after: weight.written(after).parse().unwrap_or(after),
        });
        let (weights, forfeits) = (changes.collect(), self.forfeits());
        Ok(TuningReport { version: TUNING_VERSION, plan: self.plan.clone(), steps: self.steps(), weights, forfeits })
    }

    /// Games of all steps so far that were forfeited and counted as lost, by agent.
    pub fn forfeits(&self) -> Vec<Forfeits> {
        let mut all = Vec::new();
        self.state.steps.iter().flat_map(|step| &step.forfeits).for_each(|of| of.clone().add_to(&mut all));
        all
    }

    /// The values of the weights at a point of the search.
    fn values(&self, point: &[f64]) -> Vec<f64> {
        point.iter().zip(&self.weights).map(|(x, weight)| x * weight.value.abs()).collect()
    }
}

fn measure_of(plan: &Plan, threads: Option<NonZeroUsize>) -> Result<Measure, MeasureError> {
    Measure::new(&plan.scenarios, &plan.agent, &plan.opponents, plan.games / 2, threads)
}

/// A weight keeps its sign and its kind.
fn bounds_of(weight: &Weight) -> Bounds {
    let size = weight.value.abs();
    let spread = if weight.whole { 0.5 / size } else { 0.0 };
    let (mut least, mut most) = (LEAST, 1.0 / LEAST);
    if weight.share {
        most = most.min(1.0 / size).max(1.0);
    }
    if weight.whole {
        least = least.max(1.0 / size).min(1.0);
    }
    if weight.value < 0.0 { Bounds { least: -most, most: -least, spread } } else { Bounds { least, most, spread } }
}

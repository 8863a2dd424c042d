//! A training run as one HTML page with plots, which refers to nothing outside itself.
//!
//! # Layout
//! * [`behaviour`]: what the network does, from its latest games against itself.

use crate::arena::anatomy::collect::{Anatomy, IncidentCount};
use crate::arena::html::{Escaped, add_table, begin};
use crate::arena::plots::{Cloud, Curve, PlotError, curves, scatter};
use crate::arena::report::interval;
use crate::arena::statistics::Estimate;
use crate::assessment::{ALARM, AgentScore, Assessment, agent_names};
use crate::run_files::{RoundLine, RunFileError, RunFiles};
use crate::self_play::round_figures::{RoundFigures, ValueBin, calibration_error};
use behaviour::Behaviour;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::Range;

pub mod behaviour;

/// Points of a curve; more rounds are averaged.
const POINTS: usize = 250;
/// Latest rounds whose values are held against their results.
const CALIBRATED: usize = 20;
/// Rows of openings and incidents.
const SHOWN: usize = 8;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum RunReportError {
    /// A file of the run.
    #[error(transparent)]
    File(#[from] RunFileError),
    /// A plot.
    #[error("plot: {0}")]
    Plot(#[from] PlotError),
    /// The text.
    #[error("{0}")]
    Text(#[from] fmt::Error),
}

/// The page of a run. Where its games cannot be played again, for example by other rules, the page says why and has all
/// else.
///
/// # Errors
/// [`RunReportError`]
pub fn page(run: &RunFiles) -> Result<String, RunReportError> {
    let rounds = run.rounds()?;
    let assessments = run.assessments()?;
    let behaviour = Behaviour::of(run);
    let names = behaviour.as_ref().map_or(["first seat", "second seat"], |of| of.seats.each_ref().map(String::as_str));
    let title = run.path().file_name().unwrap_or(run.path().as_os_str()).to_string_lossy().into_owned();
    let mut page = begin(&title)?;
    summary(&mut page, run, rounds.last())?;
    if !assessments.is_empty() {
        strength(&mut page, &assessments, &run.outline().scenarios)?;
    }
    if rounds.is_empty() {
        writeln!(page, "<p>No round is learnt from yet.</p>")?;
    } else {
        learning(&mut page, &rounds, names)?;
        calibration(&mut page, &rounds, names)?;
    }
    match &behaviour {
        Ok(behaviour) if behaviour.anatomies.is_empty() => {
            writeln!(
                page,
                "<h2>Conduct</h2>\n<p>No game of the network against itself is kept (see `learner.window`).</p>"
            )?;
        }
        Ok(behaviour) => behaviour.anatomies.iter().try_for_each(|anatomy| conduct(&mut page, anatomy))?,
        Err(error) => writeln!(
            page,
            "<h2>Conduct</h2>\n<p>The games cannot be played again: {}</p>",
            Escaped(&error.to_string())
        )?,
    }
    writeln!(
        page,
        "<footer>Intervals 95%. Curves show each round, or means of neighbouring rounds where there are more than {POINTS}. \
         Utility: -1 is a lost game, 1 a won one; the value of a position is what the player who decides expects.</footer>\n\
         </body>\n</html>"
    )?;
    Ok(page)
}

fn summary(page: &mut String, run: &RunFiles, last: Option<&RoundLine>) -> Result<(), RunReportError> {
    let scenarios = run.outline().scenarios.join(", ");
    let mut text = format!("Plays {}.", Escaped(&scenarios));
    if let Some(last) = last {
        let RoundLine { seconds, rounds, games, step, .. } = last;
        let minutes = seconds / 60.0;
        write!(
            text,
            " {rounds} rounds, {games} games learnt from, {step} optimisation steps in {minutes:.1} minutes of training."
        )?;
    }
    write!(text, " {:.1} MiB on disk.", run.disk_use()? as f64 / f64::from(1 << 20))?;
    Ok(writeln!(page, "<p>{text}</p>")?)
}

fn plot(page: &mut String, heading: &str, svg: &str) -> fmt::Result {
    writeln!(page, "<h3>{heading}</h3>\n{svg}")
}

/// An opponent: its spec, the scenario, and whether nothing was learnt from it.
type Met<'a> = (&'a str, usize, bool);

/// Scores against each opponent over the time of training.
fn strength(page: &mut String, assessments: &[Assessment], scenarios: &[String]) -> Result<(), RunReportError> {
    let mut agents: BTreeMap<Met<'_>, Vec<(f64, Estimate)>> = BTreeMap::new();
    for Assessment { seconds, agents: met, .. } in assessments {
        for agent in met {
            agents
                .entry((&agent.spec, agent.scenario, agent.held_out))
                .or_default()
                .push((seconds / 60.0, agent.estimate()));
        }
    }
    let names = agent_names(agents.keys().copied(), scenarios);
    let curves_of: Vec<Curve> = agents.into_values().zip(names).map(|(points, name)| Curve { name, points }).collect();
    writeln!(page, "<h2>Strength</h2>")?;
    let svg = curves(&curves_of, "minutes of training", "score of the run", Some(0.0..1.0))?;
    plot(page, "Score against each opponent", &svg)?;
    let rated = assessments.iter().filter_map(|of| Some((of.seconds / 60.0, of.rating?)));
    let rated: Vec<(f64, f64)> = rated.collect();
    // Where everything was won or lost there is none.
    if !rated.is_empty() {
        let curve = Curve::thinned("", &rated, rated.len());
        let svg = curves(&[curve], "minutes of training", "Elo against all of them", None)?;
        plot(page, "Rating", &svg)?;
    }
    if let Some(last) = assessments.last() {
        let row =
            |(agent, name): (&AgentScore, String)| vec![name, agent.games.to_string(), interval(&agent.estimate())];
        let rows: Vec<Vec<String>> = last.agents.iter().zip(last.agent_names(scenarios)).map(row).collect();
        add_table(page, &[&format!("at step {}", last.step), "games", "score [95%]"], &rows)?;
    }
    for Assessment { step, .. } in assessments.iter().filter(|of| of.alarm) {
        writeln!(page, "<p>At step {step}: {ALARM}</p>")?;
    }
    Ok(())
}

type Figure<'f> = (&'f str, &'f dyn Fn(&RoundLine) -> Option<f64>);

/// A plot of figures over steps; `None` where no round has any of them.
fn over_steps(
    rounds: &[RoundLine],
    figures: &[Figure<'_>],
    caption: &str,
    range: Option<Range<f64>>,
) -> Result<Option<String>, PlotError> {
    let of = |&(name, read): &Figure<'_>| {
        let points: Vec<(f64, f64)> = rounds.iter().filter_map(|line| Some((line.step as f64, read(line)?))).collect();
        Curve::thinned(name, &points, POINTS)
    };
    let drawn: Vec<Curve> = figures.iter().map(of).filter(|curve| !curve.points.is_empty()).collect();
    if drawn.is_empty() {
        return Ok(None);
    }
    curves(&drawn, "optimisation steps", caption, range).map(Some)
}

fn learning(page: &mut String, rounds: &[RoundLine], [first, second]: [&str; 2]) -> Result<(), RunReportError> {
    writeln!(page, "<h2>Learning</h2>")?;
    let figure = |read: fn(&RoundFigures) -> f64| move |line: &RoundLine| line.figures.as_ref().map(read);
    let taught = |line: &RoundLine| (line.policy > 0.0).then_some(line.policy);
    let entropy_taught = |line: &RoundLine| line.figures.as_ref().and_then(|figures| figures.taught_entropy);
    // A policy gradient moves it.
    let entropy = |line: &RoundLine| (line.entropy > 0.0).then_some(line.entropy);
    let score = figure(|figures| figures.first_seat_score);
    let decisions = figure(|figures| figures.decisions_per_game);
    let turns = figure(|figures| figures.turns_per_game);
    let error =
        |seat: usize| move |line: &RoundLine| line.figures.as_ref().and_then(|figures| figures.seats[seat].error);
    let squared = |seat: usize| {
        move |line: &RoundLine| {
            line.figures.as_ref().map(|of| &of.seats[seat]).filter(|of| of.all.count > 0).map(|of| of.squared_error)
        }
    };
    let (error_first, error_second) = (error(0), error(1));
    let (squared_first, squared_second) = (squared(0), squared(1));
    let losses: [Figure<'_>; 4] = [
        ("policy (nats)", &taught),
        ("result (nats)", &|line| Some(line.wdl)),
        ("margin (squared error)", &|line| Some(line.margin)),
        ("turns left (Huber)", &|line| Some(line.turns_left)),
    ];
    let seats = |first_read, second_read| -> [Figure<'_>; 2] { [(first, first_read), (second, second_read)] };
    let unit = Some(0.0..1.0);
    for (heading, svg) in [
        ("Losses", over_steps(rounds, &losses, "loss", None)?),
        ("Entropy of the policy targets", over_steps(rounds, &[("", &entropy_taught)], "nats", None)?),
        ("Entropy of the policy", over_steps(rounds, &[("", &entropy)], "nats", None)?),
        (
            "Score of the first seat in self-play",
            over_steps(rounds, &[(first, &score)], &format!("score of {first}"), unit.clone())?,
        ),
        ("Length of games", over_steps(rounds, &[("", &decisions)], "decisions of a game", None)?),
        ("Player turns of a game", over_steps(rounds, &[("", &turns)], "player turns", None)?),
        (
            "Calibration error of the players' values",
            over_steps(rounds, &seats(&error_first, &error_second), "utility", None)?,
        ),
        (
            "Squared error of the players' values",
            over_steps(rounds, &seats(&squared_first, &squared_second), "squared utility", None)?,
        ),
        (
            "What is known of luck narrows the interval of the mean result",
            over_steps(rounds, &[("", &|line| line.luck?.narrowing)], "times", None)?,
        ),
        ("Speed", over_steps(rounds, &[("", &|line| Some(line.decisions_per_second))], "decisions a second", None)?),
        (
            "Share of the evaluating threads' time in the network",
            over_steps(rounds, &[("", &|line| Some(line.evaluator_busy))], "share", unit)?,
        ),
        ("Size of batches", over_steps(rounds, &[("", &|line| Some(line.mean_batch))], "positions", None)?),
    ] {
        if let Some(svg) = svg {
            plot(page, heading, &svg)?;
        }
    }
    Ok(())
}

/// Adds the bins of one row to those of another that may be shorter.
fn pooled(mut all: Vec<ValueBin>, bins: &[ValueBin]) -> Vec<ValueBin> {
    all.resize(all.len().max(bins.len()), ValueBin::default());
    for (pooled, bin) in all.iter_mut().zip(bins) {
        *pooled = pooled.plus(bin);
    }
    all
}

/// The values of the latest rounds against the results.
fn calibration(page: &mut String, rounds: &[RoundLine], names: [&str; 2]) -> Result<(), RunReportError> {
    let latest: Vec<&RoundFigures> =
        rounds.iter().rev().filter_map(|of| of.figures.as_ref()).take(CALIBRATED).collect();
    let seats = [0, 1].map(|seat| latest.iter().fold(Vec::new(), |all, of| pooled(all, &of.seats[seat].bins)));
    let turns = latest.iter().fold(Vec::new(), |all, of| pooled(all, &of.turns));
    if turns.is_empty() {
        return Ok(());
    }
    writeln!(page, "<h2>Calibration in the latest {} rounds</h2>", latest.len())?;
    let cloud = |(bins, name): (&Vec<ValueBin>, &str)| {
        let count: u64 = bins.iter().map(|bin| bin.count).sum();
        let error = calibration_error(bins).map_or_else(String::new, |error| format!(", error {error:.3}"));
        let seen = bins.iter().filter(|bin| bin.count > 0);
        let point = |bin: &ValueBin| (bin.value.into(), bin.result.into(), bin.count as f64 / count as f64);
        Cloud { name: format!("{name}{error}"), points: seen.map(point).collect() }
    };
    let clouds: Vec<Cloud> = seats.iter().zip(names).map(cloud).collect();
    let svg = scatter(&clouds, ["mean value", "mean result"], -1.0..1.0)?;
    plot(page, "Values against results, by value and seat; areas are shares of the decisions", &svg)?;
    let by_turn = |name, read: fn(&ValueBin) -> f32| {
        let seen = turns.iter().enumerate().filter(|(_, bin)| bin.count > 0);
        let points: Vec<(f64, f64)> = seen.map(|(turn, bin)| (turn as f64 + 1.0, read(bin).into())).collect();
        Curve::thinned(name, &points, points.len())
    };
    let both = [by_turn("mean value", |bin| bin.value), by_turn("mean result", |bin| bin.result)];
    let svg = curves(&both, "player turn", "utility for who decides", None)?;
    Ok(plot(page, "Values and results by player turn, from the first of the game on", &svg)?)
}

/// What the players do in the latest games of one scenario.
fn conduct(page: &mut String, anatomy: &Anatomy) -> Result<(), RunReportError> {
    let [first, second] = anatomy.seats.each_ref().map(String::as_str);
    writeln!(page, "<h2>Conduct in {}</h2>", Escaped(anatomy.identity.name()))?;
    let score = anatomy.first_seat_score.as_ref().map_or_else(String::new, interval);
    writeln!(
        page,
        "<p>The latest {} finished games of the network against itself, learnt from yet or not; {} scores {score}.</p>",
        anatomy.games,
        Escaped(first)
    )?;
    let endings: Vec<Vec<String>> = anatomy
        .endings
        .iter()
        .map(|of| {
            let [won_first, won_second] = of.won.map(|won| won.to_string());
            vec![of.decided_by.clone(), of.games.to_string(), won_first, won_second]
        })
        .collect();
    let won = [first, second].map(|seat| format!("won by {seat}"));
    add_table(page, &["decided by", "games", &won[0], &won[1]], &endings)?;
    if !anatomy.incidents.is_empty() {
        let row = |of: &IncidentCount| {
            let means = of.per_game.map(|mean| mean.map_or_else(String::new, |mean| format!("{:.2}", mean.value)));
            let places: Vec<String> = of.most().take(3).map(|(place, amount)| format!("{place} {amount}")).collect();
            [vec![of.kind.to_owned()], means.to_vec(), vec![places.join(", ")]].concat()
        };
        let rows: Vec<Vec<String>> = anatomy.incidents.iter().map(row).collect();
        add_table(page, &["in a game", first, second, "most at, in all games"], &rows)?;
    }
    for (seat, openings) in anatomy.seats.iter().zip(&anatomy.openings) {
        let rows: Vec<Vec<String>> = openings
            .iter()
            .take(SHOWN)
            .map(|of| {
                let score = of.score.as_ref().map_or_else(String::new, interval);
                vec![of.words(", "), of.games.to_string(), score]
            })
            .collect();
        add_table(page, &[&format!("opening of {seat}"), "games", "score [95%]"], &rows)?;
        if openings.len() > SHOWN {
            writeln!(page, "<p>and {} more openings of {}</p>", openings.len() - SHOWN, Escaped(seat))?;
        }
    }
    Ok(())
}

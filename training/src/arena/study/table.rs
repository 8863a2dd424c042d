//! The document of a study as Markdown, and its place in a page.

use super::document::{PlayedOn, StudyDocument, StudyMatch, StudyRun, Thinking};
use crate::arena::brief::brief_specs;
use crate::arena::report::{allowed, duration, elo_interval, interval};
use crate::arena::sprt::{Hypothesis, SprtState};
use crate::arena::statistics::expected_score;
use dervish_agents::limits::Limits;
use std::time::Duration;

/// The document as a table, a row for each match, and below it how the figures came about, and the networks that were
/// trained for it. Of a study that nothing was played of yet, one line.
pub fn markdown(document: &StudyDocument) -> String {
    let StudyDocument { title, question, command, program, played_on, runs, matches, .. } = document;
    let rules: Vec<String> = unique(matches.iter().map(|of| of.identity.rules_version.to_string()));
    let mut text = format!("**{title}.** {question}\n\n");
    if document.games() == 0 {
        return text + &format!("Nothing is played yet; `{command}` plays it.\n");
    }
    let tested = matches.iter().any(|of| of.sprt.is_some());
    let bounded = matches.iter().any(|of| of.limits != Limits::default());
    let timed = matches.iter().any(|of| of.limits.time.is_some() || of.limits.turn_time.is_some());
    let forfeited = matches.iter().any(|of| forfeits(of) != [0; 2]);
    let columns = Columns { forfeited, tested, timed, bounded };
    let header = columns.header(matches);
    text += &row(&header);
    text += &row(&vec!["---".to_owned(); header.len()]);
    for of in matches {
        text += &row(&columns.cells(of));
    }
    let places: Vec<String> = played_on.iter().map(place).collect();
    text += &format!(
        "\nScores count a draw as half; intervals are of 95%, from pairs of games on common dice with sides swapped, on one \
         side from its games. Played by `{command}` with dervish {program}, rules {}, {}.\n",
        rules.join(" and "),
        places.join("; ")
    );
    if !runs.is_empty() {
        text += "\nTrained for it before:\n\n";
        text += &row(&["run", "time", "rounds", "games", "steps", "command", "on"].map(str::to_owned));
        text += &row(&["---"; 7].map(str::to_owned));
        text.extend(runs.iter().map(|run| row(&run_cells(run))));
    }
    text
}

fn run_cells(run: &StudyRun) -> [String; 7] {
    let StudyRun { name, command, complete, trained_on, seconds, rounds, games, steps } = run;
    let time = duration(*seconds) + if *complete { "" } else { ", not complete" };
    let numbers = [rounds, games, steps].map(u64::to_string);
    let [rounds, games, steps] = numbers;
    [name.clone(), time, rounds, games, steps, format!("`{command}`"), trained_on.clone()]
}

/// These, each once, in order.
fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    all.for_each(|one| {
        if !found.contains(&one) {
            found.push(one);
        }
    });
    found
}

fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Columns that a table has only where a match needs them.
struct Columns {
    forfeited: bool,
    tested: bool,
    /// What agents made of a time depends on the machine and what else it did.
    timed: bool,
    bounded: bool,
}

impl Columns {
    fn header(&self, matches: &[StudyMatch]) -> Vec<String> {
        // Seats have names of their own in each game.
        let seats = match &unique(matches.iter().map(|of| of.seats.clone()))[..] {
            [seats] => seats.clone(),
            _ => ["first seat", "second seat"].map(str::to_owned),
        };
        let balance = format!("{} score, whoever plays it", seats[0]);
        let [first, second] = seats.map(|seat| format!("as {seat}"));
        let mut header = vec!["scenario", "A", "B", "score of A [95%]", &first, &second, "Elo of A minus B", &balance];
        header.push("games");
        header.extend(self.forfeited.then_some("forfeited, by A and B"));
        header.extend(self.tested.then_some("test"));
        header.extend(["decisions a game", "time a turn, A and B"]);
        header.extend(self.timed.then_some("simulations a decision, A and B"));
        header.extend(self.bounded.then_some("allowed"));
        header.into_iter().map(str::to_owned).collect()
    }

    fn cells(&self, of: &StudyMatch) -> Vec<String> {
        let specs = brief_specs(of.agents.iter().map(String::as_str)).into_iter().map(|spec| format!("`{spec}`"));
        let mut cells = vec![of.identity.name().to_owned()];
        cells.extend(specs);
        let played = of.statistics.as_ref();
        let none = || [const { String::new() }; 5];
        cells.extend(played.map_or_else(none, |statistics| {
            let [first, second] = statistics.contestants[0].seats.map(|seat| interval(&seat.score));
            let balance = interval(&statistics.first_seat_score);
            [interval(&statistics.score), first, second, elo_interval(&statistics.elo), balance]
        }));
        let games =
            if of.complete { of.games().to_string() } else { format!("{} of {}", of.games(), of.games_requested) };
        let repeated = played.filter(|statistics| statistics.distinct_games < statistics.games);
        let repeated = repeated.map(|statistics| format!(", {} distinct", statistics.distinct_games));
        cells.push(games + &repeated.unwrap_or_default());
        cells.extend(self.forfeited.then(|| forfeits(of).map(|games| games.to_string()).join(", ")));
        cells.extend(self.tested.then(|| of.sprt.as_ref().map(verdict).unwrap_or_default()));
        let cost = played.map(|statistics| {
            let turns = of.thinking.map(|thinking| duration(thinking.seconds_per_turn));
            [format!("{:.0}", statistics.decisions.value), turns.join(", ")]
        });
        cells.extend(cost.unwrap_or_default());
        cells.extend(self.timed.then(|| played.map(|_| of.thinking.map(simulations).join(", ")).unwrap_or_default()));
        cells.extend(self.bounded.then(|| allowed(&of.limits)));
        cells
    }
}

/// Mean number of simulations; `-` for an agent that makes none.
fn simulations(thinking: Thinking) -> String {
    let number = thinking.simulations_per_decision;
    if number > 0.0 { format!("{number:.0}") } else { "-".to_owned() }
}

/// Games that A and B forfeited.
fn forfeits(of: &StudyMatch) -> [u64; 2] {
    of.statistics.as_ref().map_or([0; 2], |statistics| statistics.contestants.map(|contestant| contestant.forfeits))
}

/// The hypotheses as scores, and which was accepted.
fn verdict(sprt: &SprtState) -> String {
    // Three decimals at most; trailing zeros say nothing.
    let score = |elo| format!("{:.3}", expected_score(elo)).trim_end_matches('0').to_owned();
    let [low, high] = [sprt.plan.elo0, sprt.plan.elo1].map(score);
    match sprt.verdict {
        Some(Hypothesis::H1) => format!("{high} rather than {low}"),
        Some(Hypothesis::H0) => format!("{low} rather than {high}"),
        None => format!("{low} or {high}: undecided"),
    }
}

fn place(played_on: &PlayedOn) -> String {
    let PlayedOn { cpu, cores, threads, first, last, seconds, games } = played_on;
    let day = |moment: &str| moment.split('T').next().unwrap_or_default().to_owned();
    let days = unique([day(first), day(last)].into_iter()).join(" to ");
    let time = humantime::format_duration(Duration::from_secs(seconds.round() as u64));
    format!("{games} games in {time} on {cpu} ({cores} cores, {threads} games at a time), {days}")
}

/// Puts `table` in place of what stands in `page` between the lines `<!-- study: NAME -->` and
/// `<!-- end of study: NAME -->`. Lines end as that of the study's beginning does, with a carriage return or without.
///
/// # Errors
/// [`PlaceError`]: the page does not have both, in this order, or has a line of a study between them.
pub fn put_into(page: &str, name: &str, table: &str) -> Result<String, PlaceError> {
    // Where the table begins, and how lines end there.
    let mut begin: Option<(usize, &str)> = None;
    let mut at = 0;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        let next = at + line.len();
        match (begin, mark(line)) {
            (None, Some(Mark::Begin(study))) if study == name && line.ends_with('\n') => {
                begin = Some((next, if line.ends_with("\r\n") { "\r\n" } else { "\n" }));
            }
            (Some((begin, line_end)), Some(Mark::End(study))) if study == name => {
                let (above, below) = (&page[..begin], &page[at..]);
                return Ok(format!("{above}{}{below}", table.replace('\n', line_end)));
            }
            (Some(_), Some(_)) => return Err(PlaceError::Between { line: number + 1, name: name.to_owned() }),
            _ => {}
        }
        at = next;
    }
    Err(PlaceError::Missing { name: name.to_owned() })
}

/// A line of a page that marks the place of a study's table.
enum Mark<'l> {
    /// The table of this study begins below it.
    Begin(&'l str),
    /// It ends above it.
    End(&'l str),
}

/// What a line marks, if anything.
fn mark(line: &str) -> Option<Mark<'_>> {
    let words = line.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    let end = words.strip_prefix("end of study: ").map(Mark::End);
    end.or_else(|| words.strip_prefix("study: ").map(Mark::Begin))
}

/// Why a page takes no table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlaceError {
    /// It has no place for it.
    #[error("has no line `<!-- study: {name} -->` with `<!-- end of study: {name} -->` below it")]
    Missing {
        /// The study.
        name: String,
    },
    /// What stands there would be lost, and it may be another's.
    #[error("line {line} begins or ends a table before `<!-- end of study: {name} -->` ends that of {name}")]
    Between {
        /// The line, from 1.
        line: usize,
        /// The study whose table was to be put there.
        name: String,
    },
}

//! A match as a document (`match.json`) and as a table.

use crate::arena::brief::brief_specs;
use crate::arena::luck::LuckAdjusted;
use crate::arena::match_play::{Contestant, Effort, GameOutcome};
use crate::arena::sprt::{Hypothesis, SprtState};
use crate::arena::statistics::{EloDifference, Estimate, Mean, Pentanomial, Tally};
use comfy_table::{Cell, CellAlignment, Table, presets};
use dervish_agents::limits::Limits;
use dervish_env::game::{GameIdentity, Seat};
use dervish_env::record::Forfeit;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

/// Version of the document. A reader refuses others.
pub const MATCH_VERSION: u32 = 2;

/// Everything about a match that was played.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchReport {
    /// [`MATCH_VERSION`].
    pub version: u32,
    /// Game, rules and scenario.
    pub identity: GameIdentity,
    /// Names of the first and the second seat.
    pub seats: [String; 2],
    /// Specs of A and B, with every option written out.
    pub agents: [String; 2],
    /// Names the dice and the agents' random streams.
    pub seed: u64,
    /// How much both agents might think.
    pub limits: Limits,
    /// Decisions after which games were cut off, if bounded.
    pub max_decisions: Option<u32>,
    /// Games that were asked for; fewer were played if the match was stopped or its test was over.
    pub games_requested: u64,
    /// Where the test stands that could end the match. The estimates of a match that ended itself lie a little too far
    /// from 0 on the accepted side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtState>,
    /// What the games tell.
    pub statistics: MatchStatistics,
    /// What the match took on the machine it was played on.
    pub cost: MatchCost,
    /// Every game, in order.
    pub games: Vec<GameOutcome>,
}

/// What the games of a match tell; a pure function of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchStatistics {
    /// Games played.
    pub games: u64,
    /// Pairs by the points of A: 0, 1/2, 1, 3/2, 2.
    pub pentanomial: Pentanomial,
    /// Score of A in a game, from the pairs.
    pub score: Estimate,
    /// Elo of A minus Elo of B, from the pairs.
    pub elo: EloDifference,
    /// Results of A and of B.
    pub contestants: [ContestantStatistics; 2],
    /// Score of the first seat whoever sat there, from the pairs: how balanced the game is between these agents.
    pub first_seat_score: Estimate,
    /// The same as Elo points that the first seat is worth.
    pub first_seat_elo: EloDifference,
    /// Margin of A in a game, in [-1, 1], from the pairs.
    pub margin: Mean,
    /// Decisions of a game, from the pairs.
    pub decisions: Mean,
    /// Games that were cut off and counted as drawn.
    pub truncated: u64,
    /// Games that differ in any decision or roll. Where they are few the match repeats itself, and its intervals, which
    /// take every pair for a new one, are too narrow.
    pub distinct_games: u64,
    /// Score and margin of A without the dice, where luck was measured and can be learned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck: Option<LuckStatistics>,
}

/// What a match tells without the dice.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LuckStatistics {
    /// Score of A in a game, from the pairs.
    pub score: LuckAdjusted,
    /// Margin of A in a game, from the pairs.
    pub margin: LuckAdjusted,
}

/// Results of one agent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContestantStatistics {
    /// On the first and on the second seat.
    pub seats: [SeatStatistics; 2],
    /// On both.
    pub total: Tally,
    /// Of the losses, games that it forfeited.
    #[serde(default)]
    pub forfeits: u64,
}

/// Results of one agent on one seat.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatStatistics {
    /// Wins, draws, losses.
    pub tally: Tally,
    /// Score in a game, with Wilson's interval.
    pub score: Estimate,
    /// The same as Elo points above the opponent on the other seat: strength on this seat and what the seat is worth.
    pub elo: EloDifference,
}

/// What a match took.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchCost {
    /// Threads that played.
    pub threads: usize,
    /// Wall-clock time in seconds.
    pub seconds: f64,
    /// Decisions of all games by wall-clock second.
    pub decisions_per_second: f64,
    /// What A and B used.
    pub efforts: [Effort; 2],
}

impl MatchStatistics {
    /// The statistics of whole pairs: `games` in order, each pair's two games one after the other. `None` without a pair.
    pub fn of(games: &[GameOutcome]) -> Option<MatchStatistics> {
        let (pairs, _) = games.as_chunks::<2>();
        let mut pentanomial = Pentanomial::default();
        let mut first_seat = Pentanomial::default();
        let mut tallies = [[Tally::default(); 2]; 2];
        for pair in pairs {
            let [even, odd] = pair.each_ref().map(|game| game.score_of(Contestant::A));
            pentanomial.add(even, odd);
            let [even, odd] = pair.each_ref().map(|game| game.score(Seat::First));
            first_seat.add(even, odd);
            for game in pair {
                for contestant in [Contestant::A, Contestant::B] {
                    let seat = game.seat_of(contestant);
                    tallies[contestant.index()][seat.index()].add(game.score(seat));
                }
            }
        }
        let by_pair = |of_game: &dyn Fn(&GameOutcome) -> f64| -> Vec<f64> {
            pairs.iter().map(|pair| (of_game(&pair[0]) + of_game(&pair[1])) / 2.0).collect()
        };
        let margin_of_a = |game: &GameOutcome| f64::from(game.margin_for(game.seat_of(Contestant::A)));
        let margins = by_pair(&margin_of_a);
        let score = pentanomial.score()?;
        let first_seat_score = first_seat.score()?;
        let games = pairs.as_flattened();
        let seat = |tally: Tally| {
            let score = tally.score()?;
            Some(SeatStatistics { tally, score, elo: EloDifference::of(&score) })
        };
        let contestant = |contestant: Contestant| {
            let [first, second] = tallies[contestant.index()];
            let forfeits = games.iter().filter(|game| game.forfeited_by() == Some(contestant)).count() as u64;
            Some(ContestantStatistics { seats: [seat(first)?, seat(second)?], total: first.plus(&second), forfeits })
        };
        let luck = games.iter().all(|game| game.luck.is_some()).then(|| {
            let lucks = by_pair(&|game| game.luck_for(game.seat_of(Contestant::A)).unwrap_or(0.0));
            let scores = by_pair(&|game| game.score_of(Contestant::A));
            Some(LuckStatistics {
                score: LuckAdjusted::of(&scores, &lucks)?,
                margin: LuckAdjusted::of(&margins, &lucks)?,
            })
        });
        Some(MatchStatistics {
            games: games.len() as u64,
            pentanomial,
            score,
            elo: EloDifference::of(&score),
            contestants: [contestant(Contestant::A)?, contestant(Contestant::B)?],
            first_seat_score,
            first_seat_elo: EloDifference::of(&first_seat_score),
            margin: Mean::of(&margins)?,
            decisions: Mean::of(&by_pair(&|game| f64::from(game.decisions)))?,
            truncated: games.iter().filter(|game| game.truncated).count() as u64,
            distinct_games: games.iter().map(|game| game.events_hash).collect::<HashSet<u64>>().len() as u64,
            luck: luck.flatten(),
        })
    }
}

/// The table that people read: results by agent and seat, and what follows from the pairs.
impl fmt::Display for MatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statistics = &self.statistics;
        writeln!(f, "{}, {} games, seed {}", self.identity.name(), statistics.games, self.seed)?;
        let ended = self.sprt.and_then(|sprt| sprt.verdict);
        if statistics.games < self.games_requested && ended.is_none() {
            writeln!(f, "stopped: {} games were asked for", self.games_requested)?;
        }
        for (name, spec) in ["A", "B"].iter().zip(brief_specs(self.agents.iter().map(String::as_str))) {
            writeln!(f, "{name} = {spec}")?;
        }
        writeln!(f, "{}", self.results_table())?;
        let [zero, half, one, three_halves, two] = statistics.pentanomial.0;
        writeln!(f, "Elo of A minus B    {}", elo_interval(&statistics.elo))?;
        writeln!(
            f,
            "pairs               A made 2 points in {two}, 3/2 in {three_halves}, 1 in {one}, 1/2 in {half}, 0 in {zero}"
        )?;
        if let Some(sprt) = &self.sprt {
            writeln!(f, "{}", sprt_line(sprt))?;
            if sprt.verdict.is_some() {
                let biased = "score and Elo are biased by the stopping, unlike those of a fixed number of games";
                writeln!(f, "ended by the test   {biased}")?;
            }
        }
        let (balance, name) = (interval(&statistics.first_seat_score), &self.seats[0]);
        let elo = elo_interval(&statistics.first_seat_elo);
        writeln!(f, "first seat          {balance} score of {name}, whoever plays it; Elo {elo}")?;
        writeln!(f, "mean margin of A    {}", mean(&statistics.margin, 3))?;
        if let Some(luck) = &statistics.luck {
            for (name, of, least) in [("score", &luck.score, 0.0), ("margin", &luck.margin, -1.0)] {
                // A straight line knows no bounds.
                let within = |value: f64| value.clamp(least, 1.0);
                let Estimate { value, low, high } = of.adjusted;
                let adjusted = interval(&Estimate { value: within(value), low: within(low), high: within(high) });
                // Student's intervals both: that of the table is another.
                let (label, width) = (format!("{name} less luck"), beside(1.0 / of.narrowing()));
                writeln!(f, "{label:<20}{adjusted} of A, {width} Student's interval of the {name} with luck")?;
            }
        }
        writeln!(f, "decisions per game  {}", mean(&statistics.decisions, 1))?;
        if statistics.truncated > 0 {
            writeln!(f, "truncated           {} games, counted as drawn", statistics.truncated)?;
        }
        for (name, contestant) in [("A", Contestant::A), ("B", Contestant::B)] {
            let of_contestant = |game: &&GameOutcome| game.forfeited_by() == Some(contestant);
            let first = self.games.iter().find(of_contestant);
            if let Some(GameOutcome { game, forfeit: Some(Forfeit { reason, .. }), .. }) = first {
                let games = statistics.contestants[contestant.index()].forfeits;
                writeln!(
                    f,
                    "forfeited by {name}      {games} games, counted as lost; the first is game {game}: {reason}"
                )?;
            }
        }
        writeln!(f, "distinct games      {} of {}", statistics.distinct_games, statistics.games)?;
        for (name, effort) in ["A", "B"].iter().zip(&self.cost.efforts) {
            let each = |total: f64| total / (effort.decisions.max(1) as f64);
            let (simulations, time) = (each(effort.simulations as f64), duration(each(effort.seconds)));
            let turn = duration(effort.seconds / effort.turns.max(1) as f64);
            writeln!(f, "thinking of {name}       {time} and {simulations:.1} simulations a decision, {turn} a turn")?;
        }
        match self.cost {
            MatchCost { threads: 0, .. } => write!(f, "speed               none: all games were played before"),
            MatchCost { threads, seconds, decisions_per_second, .. } => {
                write!(
                    f,
                    "speed               {decisions_per_second:.0} decisions/s, {seconds:.1} s on {threads} threads"
                )
            }
        }
    }
}

impl MatchReport {
    fn results_table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_header(["agent", "seat", "games", "win", "draw", "loss", "score [95%]", "Elo [95%]"]);
        let row = |agent: &str, seat: &str, tally: &Tally, score: &Estimate, elo: &EloDifference| {
            let counts = [tally.games(), tally.wins, tally.draws, tally.losses];
            let numbers = counts.map(|count| Cell::new(count).set_alignment(CellAlignment::Right));
            [Cell::new(agent), Cell::new(seat)]
                .into_iter()
                .chain(numbers)
                .chain([Cell::new(interval(score)), Cell::new(elo_interval(elo))])
        };
        let score = self.statistics.score;
        let of_b = Estimate { value: 1.0 - score.value, low: 1.0 - score.high, high: 1.0 - score.low };
        for ((agent, results), total) in ["A", "B"].iter().zip(&self.statistics.contestants).zip([score, of_b]) {
            for (name, seat) in self.seats.iter().zip(&results.seats) {
                table.add_row(row(agent, name, &seat.tally, &seat.score, &seat.elo));
            }
            table.add_row(row(agent, "both", &results.total, &total, &EloDifference::of(&total)));
        }
        table
    }
}

/// How wide an interval is that has this share of another's width, in words that the other's name follows.
fn beside(share: f64) -> String {
    let percent = (100.0 * (share - 1.0)).round();
    match percent.abs() {
        0.0 => "as wide as".to_owned(),
        of if percent < 0.0 => format!("{of}% narrower than"),
        of => format!("{of}% wider than"),
    }
}

/// A score with its interval, in three decimals.
pub fn interval(estimate: &Estimate) -> String {
    let Estimate { value, low, high } = estimate;
    format!("{value:.3} [{low:.3}, {high:.3}]")
}

fn mean(mean: &Mean, digits: usize) -> String {
    let value = mean.value;
    match mean.standard_error {
        Some(error) => format!("{value:.digits$} ± {error:.digits$} (standard error)"),
        None => format!("{value:.digits$}"),
    }
}

/// A time in seconds, with the unit that keeps the number short.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        0.1.. => format!("{seconds:.2} s"),
        1e-4.. => format!("{:.2} ms", 1e3 * seconds),
        _ => format!("{:.1} µs", 1e6 * seconds),
    }
}

/// What an agent may use; empty without a bound.
pub(super) fn allowed(limits: &Limits) -> String {
    let time = |time: Duration| duration(time.as_secs_f64());
    let simulations = |number: u32| format!("{number} simulations");
    let bounds = [
        limits.turn_time.map(|bound| time(bound) + " a turn"),
        limits.time.map(|bound| time(bound) + " a decision"),
        limits.turn_simulations.map(|bound| simulations(bound) + " a turn"),
        limits.simulations.map(|bound| simulations(bound) + " a decision"),
    ];
    bounds.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// An Elo difference and its interval in whole points. Where all games were won or lost there is only an end of the
/// interval to tell: `> +449` or `< -449`.
pub fn elo_interval(elo: &EloDifference) -> String {
    let end = |end: Option<f64>, beyond: &str| end.map_or_else(|| beyond.to_string(), signed);
    match (elo.value, elo.low, elo.high) {
        (Some(value), low, high) => format!("{} [{}, {}]", signed(value), end(low, "-∞"), end(high, "+∞")),
        (None, Some(low), _) => format!("> {}", signed(low)),
        (None, None, high) => format!("< {}", end(high, "+∞")),
    }
}

/// Whole Elo points; none is `+0`, never `-0`.
pub(super) fn signed(elo: f64) -> String {
    format!("{:+.0}", elo.round() + 0.0)
}

fn sprt_line(sprt: &SprtState) -> String {
    let SprtState { plan, log_likelihood_ratio, bounds: [lower, upper], verdict } = sprt;
    // A hypothesis that was given as a score has no end of decimals.
    let [elo0, elo1] = [plan.elo0, plan.elo1].map(|elo| (10.0 * elo).round() / 10.0);
    let verdict = match verdict {
        Some(Hypothesis::H0) => format!("H0 accepted: less than Elo {elo1:+}"),
        Some(Hypothesis::H1) => format!("H1 accepted: more than Elo {elo0:+}"),
        None => "undecided".to_string(),
    };
    format!("test {elo0:+} to {elo1:+} Elo  LLR {log_likelihood_ratio:.2} in ({lower:.2}, {upper:.2}), {verdict}")
}

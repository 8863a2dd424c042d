//! What all games of one version and the same bounds tell: ratings, the crosstable, the seats, and who matters in a cycle of
//! strengths. An agent that may think less is another player, so games of other bounds are told apart.

use crate::arena::brief::{brief_specs, readable};
use crate::arena::match_play::{Contestant, PlayedGame};
use crate::arena::nash::NashAverage;
use crate::arena::ratings::{PRIOR_GAMES, RatedPair, Ratings};
use crate::arena::report::{SeatStatistics, allowed, interval, signed};
use crate::arena::statistics::{EloDifference, Estimate, Pentanomial, Tally};
use crate::arena::store::{Store, StoreError, StoredMatch, StoredRating, StoredVersion};
use comfy_table::{Cell, CellAlignment, Table, presets};
use dervish_agents::limits::Limits;
use dervish_env::game::Seat;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::time::Duration;

/// The standings of a version, in games of the same bounds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Standings {
    /// Program, rules and scenario.
    pub version: StoredVersion,
    /// How much all agents might think.
    pub limits: Limits,
    /// Decisions after which games were cut off, if bounded.
    pub max_decisions: Option<u32>,
    /// Games played.
    pub games: u64,
    /// Games that differ in any decision or roll.
    pub distinct_games: u64,
    /// Score of the first seat whoever sat there, from the pairs.
    pub first_seat_score: Estimate,
    /// Elo points that the first seat is worth, whoever sits there.
    pub first_seat_elo: Estimate,
    /// The strongest first.
    pub agents: Vec<AgentStanding>,
    /// Results of each agent (row) against each (column), in their order; `None` where they have not met, and of an
    /// agent against itself, where there is nothing to tell.
    pub crosstable: Vec<Vec<Option<Encounter>>>,
    /// Decisions of each game.
    #[serde(skip)]
    pub decisions: Vec<u32>,
}

/// Where an agent stands.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct AgentStanding {
    /// Its spec.
    pub agent: String,
    /// Elo points around the mean of all agents.
    pub elo: Estimate,
    /// Results on the first and on the second seat, and what they are worth above the opponents met there.
    pub seats: [SeatStatistics; 2],
    /// Of the losses, games that it forfeited.
    pub forfeits: u64,
    /// Of the draws, games that were cut off.
    pub truncated: u64,
    /// Its part in the equilibrium, where all agents have met each other.
    pub nash: Option<NashStanding>,
}

impl AgentStanding {
    /// Wins, draws and losses on both seats.
    pub fn total(&self) -> Tally {
        self.seats[0].tally.plus(&self.seats[1].tally)
    }
}

/// An agent in the Nash average.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct NashStanding {
    /// Weight in the equilibrium of most entropy, 0 to 1.
    pub weight: f64,
    /// Elo points against the equilibrium, at most 0.
    pub elo: f64,
}

/// Results of an agent against another.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Encounter {
    /// Games played.
    pub games: u64,
    /// Score in a game, from the pairs.
    pub score: Estimate,
}

impl Standings {
    /// The standings of every version in the file that has games and, if `scenario` is given, plays it, as [`Standings::of`].
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn all(store: &Store, scenario: Option<&str>) -> Result<Vec<Standings>, StoreError> {
        let mut all = Vec::new();
        for version in store.versions()? {
            if scenario.is_none_or(|wanted| version.scenario() == wanted) {
                let matches = store.matches_of(&version)?;
                all.extend(Standings::of(&version, matches));
            }
        }
        Ok(all)
    }

    /// The standings by these matches of a version, one for all games of the same bounds: those without bounds first, then from
    /// tight bounds to wide ones. None without games.
    pub fn of(version: &StoredVersion, mut matches: Vec<StoredMatch>) -> Vec<Standings> {
        matches.sort_by_key(bounds);
        let alike = matches.chunk_by(|one, other| bounds(one) == bounds(other));
        alike.filter_map(|matches| Standings::of_alike(version, matches)).collect()
    }

    /// Saves the ratings in the file, in place of those of the same version and bounds.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn save(&self, store: &mut Store) -> Result<(), StoreError> {
        let rating = |standing: &AgentStanding| StoredRating {
            agent: standing.agent.clone(),
            games: standing.total().games(),
            elo: [standing.elo.value, standing.elo.low, standing.elo.high],
        };
        let ratings: Vec<StoredRating> = self.agents.iter().map(rating).collect();
        store.save_ratings(&self.version, self.limits, self.max_decisions, &ratings)
    }

    /// The standings by these matches, all of the same bounds; `None` without games.
    fn of_alike(version: &StoredVersion, matches: &[StoredMatch]) -> Option<Standings> {
        let &StoredMatch { limits, max_decisions, .. } = matches.first()?;
        let specs = matches.iter().flat_map(|of| &of.agents);
        let mut numbers: BTreeMap<&str, usize> = specs.map(|spec| (spec.as_str(), 0)).collect();
        numbers.values_mut().enumerate().for_each(|(number, slot)| *slot = number);
        let agents = numbers.len();
        let mut meetings = vec![vec![Pentanomial::default(); agents]; agents];
        let mut tallies = vec![[Tally::default(); 2]; agents];
        let (mut forfeits, mut truncated) = (vec![0; agents], vec![0; agents]);
        let (mut first_seat, mut rated, mut decisions) = (Pentanomial::default(), Vec::new(), Vec::new());
        let mut hashes = HashSet::new();
        for of in matches {
            let [a, b] = of.agents.each_ref().map(|spec| numbers[spec.as_str()]);
            for pair in &of.pairs {
                let [even, odd] = pair.each_ref().map(|game: &PlayedGame| game.outcome.score_of(Contestant::A));
                rated.push(RatedPair { agents: [a, b], scores: [even, odd] });
                if a != b {
                    meetings[a][b].add(even, odd);
                    meetings[b][a].add(1.0 - even, 1.0 - odd);
                }
                first_seat.add(even, 1.0 - odd);
                for game in pair.each_ref().map(|game| &game.outcome) {
                    for (contestant, agent) in [(Contestant::A, a), (Contestant::B, b)] {
                        let seat = game.seat_of(contestant);
                        tallies[agent][seat.index()].add(game.score(seat));
                        forfeits[agent] += u64::from(game.forfeited_by() == Some(contestant));
                        truncated[agent] += u64::from(game.truncated);
                    }
                    decisions.push(game.decisions);
                    hashes.insert(game.events_hash);
                }
            }
        }
        let first_seat_score = first_seat.score()?;
        let ratings = Ratings::of(agents, &rated);
        let nash = log_odds(&meetings).map(|log_odds| NashAverage::of(&log_odds));
        let mut standings = Vec::with_capacity(agents);
        for (spec, &number) in &numbers {
            let seat = |seat: Seat| {
                let tally = tallies[number][seat.index()];
                let score = tally.score()?;
                Some(SeatStatistics { tally, score, elo: EloDifference::of(&score) })
            };
            standings.push(AgentStanding {
                agent: (*spec).to_string(),
                elo: ratings.elo[number],
                seats: [seat(Seat::First)?, seat(Seat::Second)?],
                forfeits: forfeits[number],
                truncated: truncated[number],
                nash: nash.as_ref().map(|nash| NashStanding { weight: nash.weights[number], elo: nash.elo[number] }),
            });
        }
        let mut order: Vec<usize> = (0..agents).collect();
        order.sort_by(|&one, &other| standings[other].elo.value.total_cmp(&standings[one].elo.value));
        let encounter = |row: usize, column: usize| {
            let meeting = &meetings[row][column];
            Some(Encounter { games: 2 * meeting.pairs(), score: meeting.score()? })
        };
        let crosstable = |&row: &usize| order.iter().map(|&column| encounter(row, column)).collect();
        Some(Standings {
            version: version.clone(),
            limits,
            max_decisions,
            games: decisions.len() as u64,
            distinct_games: hashes.len() as u64,
            first_seat_score,
            first_seat_elo: ratings.first_seat,
            crosstable: order.iter().map(crosstable).collect(),
            agents: order.iter().map(|&number| standings[number].clone()).collect(),
            decisions,
        })
    }

    /// The agents as people read them, in the order of the standings.
    pub fn briefs(&self) -> Vec<String> {
        brief_specs(self.agents.iter().map(|standing| standing.agent.as_str()))
    }

    /// Columns that tables have only where a game needs them, with the games of each agent: those that it forfeited, and those
    /// that were cut off.
    pub fn broken_off(&self) -> Vec<(&'static str, Vec<u64>)> {
        let forfeited = self.agents.iter().map(|standing| standing.forfeits).collect();
        let truncated = self.agents.iter().map(|standing| standing.truncated).collect();
        let columns: [(&'static str, Vec<u64>); 2] = [("forfeited", forfeited), ("truncated", truncated)];
        columns.into_iter().filter(|(_, games)| games.iter().any(|&games| games > 0)).collect()
    }

    /// One line that says what the standings are of: version, then the bounds if there are any.
    pub fn title(&self) -> String {
        let StoredVersion { program, identity, .. } = &self.version;
        let (scenario, rules) = (self.version.scenario(), identity.rules_version);
        let version = readable(&format!("{scenario}, dervish {program}, rules {rules} ({})", identity.rules_hash));
        let thought = Some(allowed(&self.limits)).filter(|bounds| !bounds.is_empty());
        let length = self.max_decisions.map(|bound| format!("{bound} decisions a game"));
        let bounds: Vec<String> = thought.into_iter().chain(length).collect();
        if bounds.is_empty() { version } else { format!("{version}, allowed {}", bounds.join(", ")) }
    }
}

/// The bounds of a match in an order: without a bound first.
fn bounds(of: &StoredMatch) -> ([Option<Duration>; 2], [Option<u32>; 3]) {
    let Limits { simulations, time, turn_simulations, turn_time } = of.limits;
    ([turn_time, time], [turn_simulations, simulations, of.max_decisions])
}

/// Log-odds of each agent's score against each other, with the prior of the ratings; `None` if some have not met.
fn log_odds(meetings: &[Vec<Pentanomial>]) -> Option<Vec<Vec<f64>>> {
    let agents = meetings.len();
    let mut log_odds = vec![vec![0.0; agents]; agents];
    for row in 0..agents {
        for column in (0..agents).filter(|&column| column != row) {
            let counts = meetings[row][column].0;
            let games = 2.0 * meetings[row][column].pairs() as f64;
            if games == 0.0 {
                return None;
            }
            let points: f64 =
                counts.iter().enumerate().map(|(halves, &count)| 0.5 * halves as f64 * count as f64).sum();
            let score = (points + 0.5 * PRIOR_GAMES) / (games + PRIOR_GAMES);
            log_odds[row][column] = (score / (1.0 - score)).ln();
        }
    }
    Some(log_odds)
}

/// The tables that people read: the ratings, then the crosstable.
impl fmt::Display for Standings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.version.seats.each_ref().map(|seat| readable(seat));
        writeln!(f, "{}", self.title())?;
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        let scores = [&first, &second].map(|seat| format!("as {seat} [95%]"));
        let [as_first, as_second] = scores.each_ref().map(String::as_str);
        let broken_off = self.broken_off();
        let mut header = vec!["", "agent", "games"];
        header.extend(broken_off.iter().map(|(name, _)| *name));
        header.extend(["Elo [95%]", as_first, as_second, "Nash weight", "Nash Elo"]);
        table.set_header(header);
        for (place, (standing, spec)) in self.agents.iter().zip(self.briefs()).enumerate() {
            let scores = standing.seats.map(|seat| interval(&seat.score));
            let nash = standing.nash.map(|nash| (format!("{:.3}", nash.weight), signed(nash.elo)));
            let (weight, elo) = nash.unwrap_or_default();
            let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
            let [on_first, on_second] = scores.map(right);
            let games = right(standing.total().games().to_string());
            let (number, agent) = (right((place + 1).to_string()), Cell::new(broken(&spec)));
            let mut row = vec![number, agent, games];
            row.extend(broken_off.iter().map(|(_, games)| right(games[place].to_string())));
            row.extend([right(elo_interval(&standing.elo)), on_first, on_second, right(weight), right(elo)]);
            table.add_row(row);
        }
        writeln!(f, "{table}")?;
        if self.agents.iter().any(|standing| standing.nash.is_none()) {
            writeln!(f, "no Nash average: not all agents have met")?;
        }
        let (score, elo) = (interval(&self.first_seat_score), elo_interval(&self.first_seat_elo));
        writeln!(f, "first seat          {score} score of {first}, whoever plays it; worth {elo} Elo")?;
        writeln!(f, "distinct games      {} of {}", self.distinct_games, self.games)?;
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        let numbers = (1..=self.agents.len()).map(|number| number.to_string());
        table.set_header(std::iter::once("score".to_string()).chain(numbers));
        for (place, row) in self.crosstable.iter().enumerate() {
            let score =
                |entry: &Option<Encounter>| entry.map_or(String::new(), |met| format!("{:.3}", met.score.value));
            table.add_row(std::iter::once((place + 1).to_string()).chain(row.iter().map(score)));
        }
        write!(f, "{table}")
    }
}

/// A spec in lines of at most 48 characters, as far as its commas allow.
fn broken(spec: &str) -> String {
    const WIDTH: usize = 48;
    let (mut text, mut width) = (String::new(), 0);
    for option in spec.split_inclusive(',') {
        let length = option.chars().count();
        if width > 0 && width + length > WIDTH {
            text.push('\n');
            width = 0;
        }
        text.push_str(option);
        width += length;
    }
    text
}

/// An estimate in whole Elo points.
pub(super) fn elo_interval(elo: &Estimate) -> String {
    format!("{} [{}, {}]", signed(elo.value), signed(elo.low), signed(elo.high))
}

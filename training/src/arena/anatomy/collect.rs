//! The counts over many games.

use super::{Course, Incident, OpeningMove};
use crate::arena::statistics::{Estimate, Mean, Tally};
use dervish_env::game::{GameIdentity, Seat};
use dervish_env::record::{Ending, Ply, Record, RecordError, Replay};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the document.
pub const ANATOMY_VERSION: u32 = 1;

/// What decided the games of one scenario.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Anatomy {
    /// [`ANATOMY_VERSION`].
    pub version: u32,
    /// Game, rules and scenario.
    pub identity: GameIdentity,
    /// Names of the first and the second seat.
    pub seats: [String; 2],
    /// Who played, on the first seat and on the second, and how often.
    pub agents: Vec<AgentsCount>,
    /// Games that were played to their end by the rules; all that follows is of them.
    pub games: u64,
    /// Games that were left, cut off or forfeited.
    pub left_out: u64,
    /// Results of the first seat.
    pub first_seat: Tally,
    /// Its score, with Wilson's interval.
    pub first_seat_score: Option<Estimate>,
    /// How they were decided, the most frequent first.
    pub endings: Vec<EndingCount>,
    /// In which round they ended, in order.
    pub rounds: Vec<RoundCount>,
    /// Who held what at the end, in the order of the game.
    pub holdings: Vec<HoldingCount>,
    /// What happened, by kind.
    pub incidents: Vec<IncidentCount>,
    /// How each seat began, the most frequent first.
    pub openings: [Vec<OpeningCount>; 2],
}

/// Two agents that met.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct AgentsCount {
    pub agents: [String; 2],
    pub games: u64,
}

/// A way in which games were decided.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EndingCount {
    /// By what.
    pub decided_by: String,
    /// How many.
    pub games: u64,
    /// How many of them each seat won.
    pub won: [u64; 2],
}

/// Games that ended in a round.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct RoundCount {
    pub round: u32,
    pub games: u64,
}

/// Who held something at the end.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HoldingCount {
    /// Its name.
    pub what: String,
    /// Whether victory is judged by it.
    pub counts: bool,
    /// Points for holding it.
    pub points: u32,
    /// Games in which each seat held it; in the others nobody did.
    pub held: [u64; 2],
    /// Points that each seat had for it in a game, on average.
    pub points_per_game: [f64; 2],
}

/// How often something happened.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct IncidentCount {
    /// What.
    pub kind: &'static str,
    /// In a game, by or to each seat.
    pub per_game: [Option<Mean>; 2],
    /// Where, the most frequent first; by each seat, in all games.
    pub places: Vec<PlaceCount>,
}

impl IncidentCount {
    /// The places, the most frequent first, with how much of it happened there in all games by either seat.
    pub fn most(&self) -> impl Iterator<Item = (&str, u64)> {
        self.places.iter().map(|of| (of.place.as_str(), of.amount.iter().sum()))
    }
}

/// How often something happened at a place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)]
pub struct PlaceCount {
    pub place: String,
    pub amount: [u64; 2],
}

/// An opening of a seat.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OpeningCount {
    /// Where its moves lead; where they begin depends on the set-up and is left out.
    pub moves: Vec<String>,
    /// How often it was played.
    pub games: u64,
    /// What the seat then scored, with Wilson's interval.
    pub score: Option<Estimate>,
}

impl OpeningCount {
    /// Where its moves lead, with `between` between them, or `none`.
    pub fn words(&self, between: &str) -> String {
        if self.moves.is_empty() { "none".to_owned() } else { self.moves.join(between) }
    }
}

/// What is known of an incident's kind while games are counted: of each seat, the amounts of each game and by place.
#[derive(Default)]
struct IncidentTally {
    per_game: [Vec<f64>; 2],
    places: BTreeMap<String, [u64; 2]>,
}

/// Counts games.
pub struct Collector<P: Course> {
    start: P,
    opening: usize,
    agents: BTreeMap<[String; 2], u64>,
    games: u64,
    left_out: u64,
    first_seat: Tally,
    endings: BTreeMap<String, (u64, [u64; 2])>,
    rounds: BTreeMap<u32, u64>,
    holdings: Vec<HoldingCount>,
    incidents: BTreeMap<&'static str, IncidentTally>,
    openings: [BTreeMap<Vec<String>, Tally>; 2],
}

impl<P: Course> Collector<P> {
    /// Nothing yet. Games begin at `start`; `opening` moves make up an opening.
    pub fn new(start: P, opening: usize) -> Collector<P> {
        let holdings = start.holdings().into_iter().map(|holding| HoldingCount {
            what: holding.what,
            counts: holding.counts,
            points: holding.points,
            held: [0; 2],
            points_per_game: [0.0; 2],
        });
        Collector {
            holdings: holdings.collect(),
            start,
            opening,
            agents: BTreeMap::new(),
            games: 0,
            left_out: 0,
            first_seat: Tally::default(),
            endings: BTreeMap::new(),
            rounds: BTreeMap::new(),
            incidents: BTreeMap::new(),
            openings: [BTreeMap::new(), BTreeMap::new()],
        }
    }

    /// Counts a game, which is checked against the rules on the way.
    ///
    /// # Errors
    /// [`RecordError`]: the record is of another game or wrong; nothing of it is counted.
    pub fn add(&mut self, record: Record) -> Result<(), RecordError> {
        let agents = record.seats().each_ref().map(|seat| seat.agent.clone());
        let finished = matches!(record.ending(), Ending::Finished(_));
        let mut replay = Replay::new(record, self.start.clone())?;
        let mut openings: [Vec<OpeningMove>; 2] = [Vec::new(), Vec::new()];
        let mut incidents: Vec<Incident> = Vec::new();
        loop {
            let before = replay.position().clone();
            let Some(ply) = replay.step()?.cloned() else { break };
            replay.position().incidents(&before, &mut |incident| incidents.push(incident));
            if let Ply::Decision { seat, text } = ply
                && let Ok(action) = before.parse_action(&text)
                && let Some(made) = before.opening_move(action)
            {
                let opening = &mut openings[seat.index()];
                match opening.last_mut() {
                    Some(last) if !made.from.is_empty() && last.to == made.from => last.to = made.to,
                    _ => opening.push(made),
                }
            }
        }
        let result = replay.verify()?;
        *self.agents.entry(agents).or_default() += 1;
        match result {
            Some(result) if finished => {
                self.count(replay.position(), |seat| result.score(seat), openings, incidents);
            }
            _ => self.left_out += 1,
        }
        Ok(())
    }

    fn count(
        &mut self,
        end: &P,
        score: impl Fn(Seat) -> f64,
        openings: [Vec<OpeningMove>; 2],
        incidents: Vec<Incident>,
    ) {
        self.games += 1;
        self.first_seat.add(score(Seat::First));
        *self.rounds.entry(end.round()).or_default() += 1;
        let (games, won) = self.endings.entry(end.decided_by()).or_default();
        *games += 1;
        for (count, holding) in self.holdings.iter_mut().zip(end.holdings()) {
            if let Some(holder) = holding.holder {
                count.held[holder.index()] += 1;
            }
        }
        for seat in Seat::BOTH {
            won[seat.index()] += u64::from(score(seat) > 0.5);
        }
        for (seat, moves) in Seat::BOTH.into_iter().zip(openings) {
            let moves = moves.into_iter().take(self.opening).map(|made| made.to).collect();
            self.openings[seat.index()].entry(moves).or_default().add(score(seat));
        }
        for Incident { kind, seat, place, amount } in incidents {
            let tally = self.incidents.entry(kind).or_default();
            let of_game = &mut tally.per_game[seat.index()];
            of_game.resize(self.games as usize, 0.0);
            if let Some(of_this) = of_game.last_mut() {
                *of_this += f64::from(amount);
            }
            if let Some(place) = place {
                tally.places.entry(place).or_default()[seat.index()] += u64::from(amount);
            }
        }
    }

    /// What the games tell.
    pub fn anatomy(self) -> Anatomy {
        let games = self.games;
        let mut endings: Vec<EndingCount> =
            self.endings.into_iter().map(|(decided_by, (games, won))| EndingCount { decided_by, games, won }).collect();
        endings.sort_by_key(|ending| std::cmp::Reverse(ending.games));
        let per_game = |[first, second]: [u64; 2], points: u32| {
            [first, second].map(|held| f64::from(points) * held as f64 / games.max(1) as f64)
        };
        let holdings = self.holdings.into_iter();
        let incident = |(kind, tally): (&'static str, IncidentTally)| {
            let per_game = tally.per_game.map(|mut of_games| {
                of_games.resize(games as usize, 0.0);
                Mean::of(&of_games)
            });
            let places = tally.places.into_iter().map(|(place, amount)| PlaceCount { place, amount });
            let mut places: Vec<PlaceCount> = places.collect();
            places.sort_by_key(|of| std::cmp::Reverse(of.amount.iter().sum::<u64>()));
            IncidentCount { kind, per_game, places }
        };
        Anatomy {
            version: ANATOMY_VERSION,
            identity: self.start.identity(),
            seats: Seat::BOTH.map(|seat| P::seat_name(seat).to_owned()),
            agents: self.agents.into_iter().map(|(agents, games)| AgentsCount { agents, games }).collect(),
            games,
            left_out: self.left_out,
            first_seat_score: self.first_seat.score(),
            first_seat: self.first_seat,
            endings,
            rounds: self.rounds.into_iter().map(|(round, games)| RoundCount { round, games }).collect(),
            holdings: holdings.map(|of| HoldingCount { points_per_game: per_game(of.held, of.points), ..of }).collect(),
            incidents: self.incidents.into_iter().map(incident).collect(),
            openings: self.openings.map(|openings| {
                let count = |(moves, tally): (Vec<String>, Tally)| OpeningCount {
                    moves,
                    games: tally.games(),
                    score: tally.score(),
                };
                let mut counts: Vec<OpeningCount> = openings.into_iter().map(count).collect();
                counts.sort_by_key(|of| std::cmp::Reverse(of.games));
                counts
            }),
        }
    }
}

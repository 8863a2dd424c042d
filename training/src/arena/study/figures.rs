//! What is held against the figures of a document that is read: somebody may have edited it. That the games were played is
//! believed; what one figure says of another has to be so.

use super::document::{StudyDocument, StudyMatch, Thinking};
use crate::arena::brief::readable;
use crate::arena::report::{ContestantStatistics, MatchStatistics};
use crate::arena::statistics::{EloDifference, Estimate, Mean, Tally};

/// How far apart the same score may lie that was computed on two ways.
const ROUNDING: f64 = 1e-9;

/// How far apart the same Elo difference may lie, in points: near a score of 0 or 1 a rounded score moves it more.
const ELO_ROUNDING: f64 = 0.01;

/// What contradicts itself in a document, if anything does.
pub(super) fn fault_of(document: &StudyDocument) -> Option<String> {
    let named = |(number, of): (usize, &StudyMatch)| {
        let what = of_match(of)?;
        let [a, b] = of.agents.each_ref().map(|spec| readable(spec));
        Some(format!("match {}, {a} against {b}: {what}", number + 1))
    };
    let fault = document.matches.iter().enumerate().find_map(named);
    fault.or_else(|| of_machines(document))
}

fn of_machines(document: &StudyDocument) -> Option<String> {
    let StudyDocument { played_on, runs, .. } = document;
    let mut seconds = played_on.iter().map(|entry| entry.seconds).chain(runs.iter().map(|run| run.seconds));
    if let Some(seconds) = seconds.find(|seconds| *seconds < 0.0) {
        return Some(format!("{seconds} seconds are no time"));
    }
    let games = played_on.iter().try_fold(0, |sum: u64, entry| sum.checked_add(entry.games));
    let told = document.games();
    games.is_none_or(|games| games > told).then(|| format!("more games were played than the {told} of its matches"))
}

fn of_match(of: &StudyMatch) -> Option<String> {
    let StudyMatch { games_requested, complete, sprt, statistics, thinking, .. } = of;
    let games = of.games();
    // A study file has no more; below it no sum overflows.
    if games > *games_requested || *games_requested > u64::from(u32::MAX) {
        return Some(format!("{games} games of {games_requested}"));
    }
    let decided = sprt.is_some_and(|test| test.verdict.is_some());
    if *complete != (decided || games == *games_requested) {
        return Some(format!("complete is {complete} after {games} games of {games_requested}"));
    }
    if let Some(error) = sprt.and_then(|test| test.plan.check().err()) {
        return Some(format!("sprt: {error}"));
    }
    let costs_of = |of: &Thinking| [of.seconds_per_decision, of.seconds_per_turn, of.simulations_per_decision];
    if let Some(cost) = thinking.iter().flat_map(costs_of).find(|cost| *cost < 0.0) {
        return Some(format!("thinking: {cost} is below 0"));
    }
    let statistics = statistics.as_ref()?;
    of_counts(statistics).or_else(|| of_scores(statistics)).or_else(|| of_means(statistics))
}

/// What is wrong with counts of games, if anything: each has to be what the others sum to.
fn of_counts(statistics: &MatchStatistics) -> Option<String> {
    let MatchStatistics { games, pentanomial, contestants, truncated, distinct_games, .. } = statistics;
    let tallies = contestants.iter().flat_map(|of| [of.seats[0].tally, of.seats[1].tally, of.total]);
    let results = tallies.flat_map(|Tally { wins, draws, losses }| [wins, draws, losses]);
    if let Some(count) = pentanomial.0.into_iter().chain(results).find(|count| count > games) {
        return Some(format!("a count of {count} in {games} games"));
    }
    let pairs = pentanomial.pairs();
    if pairs == 0 || 2 * pairs != *games {
        return Some(format!("{pairs} pairs are not {games} games"));
    }
    for (name, ContestantStatistics { seats, total, forfeits }) in ["A", "B"].iter().zip(contestants) {
        let [first, second] = seats.map(|seat| seat.tally);
        if [first.games(), second.games()] != [pairs; 2] || first.plus(&second) != *total {
            return Some(format!("the wins, draws and losses of {name} do not sum to its {games} games"));
        }
        if *forfeits > total.losses {
            return Some(format!("{name} forfeited {forfeits} games and lost {}", total.losses));
        }
    }
    let [a, b] = contestants;
    let mirrored = |Tally { wins, draws, losses }: Tally| Tally { wins: losses, draws, losses: wins };
    if a.seats.iter().zip(b.seats.iter().rev()).any(|(of_a, of_b)| of_a.tally != mirrored(of_b.tally)) {
        return Some("what A has won is not what B has lost".to_owned());
    }
    // In halves of points.
    let of_pairs: u64 = (0..).zip(pentanomial.0).map(|(halves, count): (u64, u64)| halves * count).sum();
    if of_pairs != 2 * a.total.wins + a.total.draws {
        return Some("the pairs do not have the points that A has".to_owned());
    }
    if *truncated > a.total.draws || !(1..=*games).contains(distinct_games) {
        return Some(format!("{truncated} games cut off, {distinct_games} distinct, in {games} games"));
    }
    None
}

/// What is wrong with scores and what follows from them, if anything; the counts are sound.
fn of_scores(statistics: &MatchStatistics) -> Option<String> {
    let MatchStatistics { score, elo, contestants, first_seat_score, first_seat_elo, .. } = statistics;
    let [a, b] = contestants;
    let of_first_seat = a.seats[0].tally.plus(&b.seats[0].tally);
    let mut scores = vec![
        ("score of A".to_owned(), a.total, score, elo),
        ("score of the first seat".to_owned(), of_first_seat, first_seat_score, first_seat_elo),
    ];
    for (name, of) in ["A", "B"].iter().zip(contestants) {
        for (seat, of) in ["first", "second"].iter().zip(&of.seats) {
            scores.push((format!("score of {name} on the {seat} seat"), of.tally, &of.score, &of.elo));
        }
    }
    let fault = |(name, tally, score, elo): (String, Tally, &Estimate, &EloDifference)| {
        of_score(&tally, score, elo).map(|what| format!("{name}: {what}"))
    };
    scores.into_iter().find_map(fault)
}

/// What is wrong with the score of these games, if anything.
fn of_score(tally: &Tally, score: &Estimate, elo: &EloDifference) -> Option<String> {
    let expected = tally.score()?.value;
    let Estimate { value, low, high } = *score;
    let within = [low, high].iter().all(|end| (0.0..=1.0).contains(end));
    if !within || low > value + ROUNDING || value > high + ROUNDING {
        return Some(format!("{value} [{low}, {high}] is no score with its interval"));
    }
    if (value - expected).abs() > ROUNDING {
        return Some(format!("{value} is not the {expected} of its games"));
    }
    let follows = EloDifference::of(score);
    let ends = [(elo.value, follows.value), (elo.low, follows.low), (elo.high, follows.high)];
    let alike = |(told, follows): (Option<f64>, Option<f64>)| match (told, follows) {
        (Some(told), Some(follows)) => (told - follows).abs() <= ELO_ROUNDING,
        (told, follows) => told == follows,
    };
    (!ends.into_iter().all(alike)).then(|| "its Elo difference is another score's".to_owned())
}

/// What is wrong with means of pairs, if anything.
fn of_means(statistics: &MatchStatistics) -> Option<String> {
    let MatchStatistics { pentanomial, margin, decisions, .. } = statistics;
    let has_error = pentanomial.pairs() > 1;
    let sound = |mean: &Mean, least: f64, most: f64| {
        let error = mean.standard_error;
        (least..=most).contains(&mean.value) && error.is_some() == has_error && error.is_none_or(|error| error >= 0.0)
    };
    let means = [("margin", sound(margin, -1.0, 1.0)), ("decisions", sound(decisions, 0.0, f64::INFINITY))];
    let fault = means.into_iter().find(|(_, sound)| !sound);
    fault.map(|(name, _)| format!("{name}: no mean of {} pairs with its standard error", pentanomial.pairs()))
}

//! How a game is won and how it stands, in plain words.

use std::fmt::Write;

use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::PlaceId;
use dervish_env::dervish::catalogue::Side;
use dervish_env::dervish::scenario::{PlacePoints, Scenario, Victory};

/// How the campaign's scenario is won (14), how many points each side has as things stand, and who controls the places that
/// count.
pub(crate) fn aim_of_campaign(position: &Campaign) -> String {
    format!("{}{}", conditions(position), places_that_count(position))
}

fn conditions(position: &Campaign) -> String {
    let scenario = position.scenario();
    let name = |place: PlaceId| scenario.board.places[usize::from(place.0)].name.as_str();
    let last = last_turn(scenario);
    let points_now = points_of_campaign(position).map_or(String::new(), |now| format!("As things stand: {now}.\n"));
    match &scenario.victory {
        Victory::ElObeid { sudden_death, prize, points, units_per_point, needed } => {
            let (sudden_death, prize) = (name(*sudden_death), name(*prize));
            format!(
                "The mahdist player wins at once by controlling {sudden_death} at the end of a game turn. {last}, the \
                 egyptian player wins by controlling {prize}; else the mahdist player wins with {needed} points or more, \
                 and with fewer the game is a draw (14.1).\n\
                 Points of the mahdist player: {}{}.\n{points_now}",
                places(points, name),
                for_losses(*units_per_point, Side::Egyptian).map_or(String::new(), |points| format!(", {points}")),
            )
        }
        Victory::Khartoum { prize, british_strength } => {
            let (prize, holds) = (name(*prize), position.points(Side::Egyptian) > 0);
            format!(
                "{last}, or earlier with the turn of the event `withdraw`, the egyptian player wins with British or Indian \
                 combat units (1.1) of melee strength {british_strength} or more in {prize}, disrupted ones counted half; \
                 else the mahdist player wins (14.2).\nAs things stand: {} of them stand there.\n",
                if holds { "enough" } else { "too few" }
            )
        }
        Victory::Points { sudden_death, points, mahdists_per_point, egyptians_per_point } => {
            let at_once = sudden_death.map_or(String::new(), |place| {
                format!("The mahdist player wins at once by controlling {}. ", name(place))
            });
            let losses = [(Side::Egyptian, *mahdists_per_point), (Side::Mahdist, *egyptians_per_point)];
            let losses = losses.map(|(side, units_per_point)| {
                for_losses(units_per_point, side.other())
                    .map_or(String::new(), |points| format!("; to the {} player {points}", side.id()))
            });
            format!(
                "{at_once}{last}, whoever has more points wins; with as many the game is a draw (14.3).\n\
                 Points for controlling {}{}.\n{points_now}",
                places(points, name),
                losses.concat(),
            )
        }
        Victory::Holder { prize, lesser } => {
            let lesser = lesser.map_or(String::new(), |lesser| {
                format!(" {}, and how long {} was held, make the victory greater.", name(lesser), name(*prize))
            });
            let holder = Side::BOTH.into_iter().find(|side| position.points(*side) > 0);
            let holder = holder.map_or("nobody", Side::id);
            format!(
                "{last}, the mahdist player wins by controlling {0}, else the egyptian player wins (14.3).{lesser}\n\
                 As things stand: {holder} controls {0}.\n",
                name(*prize)
            )
        }
    }
}

/// A line for each place that the end of the game depends on: its hex, who controls it (6.3), and what it is worth.
fn places_that_count(position: &Campaign) -> String {
    let scenario = position.scenario();
    let mut worth: Vec<(PlaceId, Vec<String>)> = Vec::new();
    let mut add = |place: PlaceId, text: String| match worth.iter_mut().find(|(known, _)| *known == place) {
        Some((_, texts)) => texts.push(text),
        None => worth.push((place, vec![text])),
    };
    let at_once = || "the mahdist player wins at once by it".to_owned();
    let points: &[PlacePoints] = match &scenario.victory {
        Victory::ElObeid { sudden_death, prize, points, .. } => {
            add(*sudden_death, at_once());
            add(*prize, "the egyptian player wins by it at the end".to_owned());
            points.as_slice()
        }
        Victory::Khartoum { prize, .. } => {
            add(*prize, "decides the game".to_owned());
            &[]
        }
        Victory::Points { sudden_death, points, .. } => {
            if let Some(place) = sudden_death {
                add(*place, at_once());
            }
            points.as_slice()
        }
        Victory::Holder { prize, lesser } => {
            add(*prize, "decides the game".to_owned());
            if let Some(place) = lesser {
                add(*place, "makes the victory greater".to_owned());
            }
            &[]
        }
    };
    for of in points {
        add(of.place, if of.points == 1 { "1 point".to_owned() } else { format!("{} points", of.points) });
    }
    let mut text = "Places that count, and who controls them:\n".to_owned();
    for (place, texts) in worth {
        let hex = scenario.board.places[usize::from(place.0)].hex;
        let controller = position.controller(place).map_or("nobody", Side::id);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}: {controller}; {}", position.place_text(hex), texts.join(", "));
    }
    text
}

/// The points of both sides as things stand, where they count (14.1, 14.3).
pub(crate) fn points_of_campaign(position: &Campaign) -> Option<String> {
    match position.scenario().victory {
        Victory::ElObeid { .. } | Victory::Points { .. } => {
            Some(Side::BOTH.map(|side| format!("{} {}", side.id(), position.points(side))).join(", "))
        }
        Victory::Khartoum { .. } | Victory::Holder { .. } => None,
    }
}

fn last_turn(scenario: &Scenario) -> String {
    let last = scenario.turns - 1;
    format!("After game turn {}, {}-{:02}", scenario.turns, scenario.year(last), scenario.month(last))
}

/// `Sinkat 2, Tokar 2`.
fn places<'a>(points: &[PlacePoints], name: impl Fn(PlaceId) -> &'a str) -> String {
    points.iter().map(|of| format!("{} {}", name(of.place), of.points)).collect::<Vec<_>>().join(", ")
}

/// The points for eliminated units of a side (14.5), if there are any.
fn for_losses(units_per_point: u8, loser: Side) -> Option<String> {
    let name = loser.id();
    match units_per_point {
        0 => None,
        1 => Some(format!("1 for each eliminated combat unit of the {name} player")),
        units => Some(format!("1 for each {units} eliminated combat units of the {name} player")),
    }
}

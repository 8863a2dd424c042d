//! An anatomy as the tables that people read.

use super::collect::{Anatomy, IncidentCount};
use crate::arena::brief::brief_specs;
use crate::arena::report::interval;
use comfy_table::{Cell, CellAlignment, Table, presets};
use std::fmt;

/// Rows of openings and of places that are shown; the document has all.
const SHOWN: usize = 12;

fn table(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(header);
    for row in rows {
        let cells = row.into_iter().enumerate().map(|(column, text)| match column {
            0 => Cell::new(text),
            _ => Cell::new(text).set_alignment(CellAlignment::Right),
        });
        table.add_row(cells);
    }
    table
}

fn texts(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

impl fmt::Display for Anatomy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.seats.each_ref().map(String::as_str);
        writeln!(f, "{}, {} games", self.identity.name(), self.games)?;
        if self.left_out > 0 {
            writeln!(f, "left out            {} games that did not end by the rules", self.left_out)?;
        }
        let briefs = brief_specs(self.agents.iter().flat_map(|of| of.agents.iter().map(String::as_str)));
        for (of, names) in self.agents.iter().zip(briefs.as_chunks::<2>().0) {
            writeln!(f, "{} games of {} as {first} against {} as {second}", of.games, names[0], names[1])?;
        }
        if let Some(score) = &self.first_seat_score {
            // Which records are pairs of a match is not known.
            writeln!(f, "first seat          {} score of {first}, from single games", interval(score))?;
        }
        let won = [first, second].map(|seat| format!("won by {seat}"));
        let [won_first, won_second] = won.each_ref().map(String::as_str);
        let endings = self.endings.iter().map(|of| {
            let [won_first, won_second] = of.won.map(|won| won.to_string());
            vec![of.decided_by.clone(), of.games.to_string(), won_first, won_second]
        });
        writeln!(f, "{}", table(texts(&["decided by", "games", won_first, won_second]), endings))?;
        let rounds = self.rounds.iter().map(|of| vec![of.round.to_string(), of.games.to_string()]);
        writeln!(f, "{}", table(texts(&["last turn", "games"]), rounds))?;
        let counting = self.holdings.iter().filter(|of| of.counts);
        // Where no place counts points, who held them is all that there is to tell.
        let any_points = self.holdings.iter().any(|of| of.points > 0);
        let holdings: Vec<Vec<String>> = counting
            .map(|of| {
                let held = of.held.map(|held| held.to_string());
                let points = of.points_per_game.map(|points| format!("{points:.2}"));
                let mut row = [vec![of.what.clone()], held.to_vec()].concat();
                if any_points {
                    row.push(of.points.to_string());
                    row.extend(points);
                }
                row
            })
            .collect();
        if !holdings.is_empty() {
            let mut header = texts(&["held at the end", first, second]);
            if any_points {
                header.push("points".to_owned());
                header.extend([first, second].map(|seat| format!("points a game of {seat}")));
            }
            writeln!(f, "{}", table(header, holdings.into_iter()))?;
        }
        if !self.incidents.is_empty() {
            let rows = self.incidents.iter().map(|of| {
                let means = of.per_game.map(|mean| mean.map_or(String::new(), |mean| format!("{:.2}", mean.value)));
                [vec![of.kind.to_owned()], means.to_vec(), vec![most(of)]].concat()
            });
            writeln!(f, "{}", table(texts(&["in a game", first, second, "most at, in all games"]), rows))?;
        }
        for (seat, openings) in self.seats.iter().zip(&self.openings) {
            let rows = openings.iter().take(SHOWN).map(|of| {
                let score = of.score.as_ref().map_or(String::new(), interval);
                vec![of.words("\n"), of.games.to_string(), score]
            });
            writeln!(f, "{}", table(texts(&[&format!("opening of {seat}"), "games", "score [95%]"]), rows))?;
            if openings.len() > SHOWN {
                writeln!(f, "and {} more openings of {seat}", openings.len() - SHOWN)?;
            }
        }
        Ok(())
    }
}

/// The places where most of it happened.
fn most(of: &IncidentCount) -> String {
    of.most().take(3).map(|(place, amount)| format!("{place} {amount}")).collect::<Vec<_>>().join(", ")
}

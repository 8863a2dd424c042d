//! HTML pages with plots, which refer to nothing outside themselves; the page of standings.

use crate::arena::plots::{self, PlotError};
use crate::arena::report::{interval, signed};
use crate::arena::standings::{Standings, elo_interval};
use std::fmt::{self, Display, Write};

/// How the page looks.
const STYLE: &str = "body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse;margin:1em 0}td,th{border-bottom:1px solid #ccc;padding:.3em .6em;text-align:right}\
th:nth-child(2),td:nth-child(2){text-align:left;overflow-wrap:anywhere}td{white-space:nowrap}td:nth-child(2){white-space:normal}li{overflow-wrap:anywhere}svg{max-width:100%;height:auto}\
table.plain th,table.plain td{text-align:right;white-space:nowrap}table.plain th:first-child,table.plain td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere}\
footer{color:#666;margin-top:3em}";

/// The page of these standings, in their order.
///
/// # Errors
/// [`PlotError`] of a plot.
pub fn page(all: &[Standings]) -> Result<String, PlotError> {
    let mut page = begin("Results")?;
    for standings in all {
        section(&mut page, standings)?;
    }
    write!(
        page,
        "<footer>Ratings: Bradley-Terry by maximum likelihood with one drawn game of each agent as prior, around a mean \
         of 0; intervals 95%, from the wider of Fisher information and sandwich estimator over pairs. Scores: draws, and \
         games that were truncated, count as half. Nash weight and Nash Elo: equilibrium of most entropy of the log-odds \
         of scores.</footer>\n\
         </body>\n</html>\n"
    )?;
    Ok(page)
}

/// The beginning of a page, down to its heading.
pub(crate) fn begin(title: &str) -> Result<String, fmt::Error> {
    let (mut page, title) = (String::new(), Escaped(title));
    write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Dervish: {title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )?;
    Ok(page)
}

/// Adds a table whose first column is text and whose others are figures.
pub(crate) fn add_table(page: &mut String, header: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    let cells = |kind: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
        cells.map(|cell| format!("<{kind}>{}</{kind}>", Escaped(cell))).collect()
    };
    writeln!(page, "<table class=\"plain\">\n<tr>{}</tr>", cells("th", &mut header.iter().copied()))?;
    for row in rows {
        writeln!(page, "<tr>{}</tr>", cells("td", &mut row.iter().map(String::as_str)))?;
    }
    writeln!(page, "</table>")
}

fn section(page: &mut String, standings: &Standings) -> Result<(), PlotError> {
    let [first, second] = standings.version.seats.each_ref().map(|seat| Escaped(seat));
    writeln!(page, "<h2>{}</h2>", Escaped(&standings.title()))?;
    let (games, distinct) = (standings.games, standings.distinct_games);
    let (score, elo) = (interval(&standings.first_seat_score), elo_interval(&standings.first_seat_elo));
    writeln!(
        page,
        "<p>{games} games, {distinct} of them distinct. {first}, whoever plays it, scores {score}, which is worth {elo} \
         Elo.</p>"
    )?;
    let broken_off = standings.broken_off();
    let header: String = broken_off.iter().map(|(name, _)| format!("<th>{name}</th>")).collect();
    writeln!(
        page,
        "<table>\n<tr><th></th><th>agent</th><th>games</th>{header}<th>Elo</th><th>as {first}</th><th>as {second}</th>\
         <th>Nash weight</th><th>Nash Elo</th></tr>"
    )?;
    for (place, (standing, spec)) in standings.agents.iter().zip(standings.briefs()).enumerate() {
        let [on_first, on_second] = standing.seats.map(|seat| interval(&seat.score));
        let (games, elo) = (standing.total().games(), elo_interval(&standing.elo));
        let nash = standing.nash.map(|nash| (format!("{:.3}", nash.weight), signed(nash.elo)));
        let (weight, nash_elo) = nash.unwrap_or_default();
        let broken_off: String = broken_off.iter().map(|(_, games)| format!("<td>{}</td>", games[place])).collect();
        writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{games}</td>{broken_off}<td>{elo}</td><td>{on_first}</td><td>{on_second}</td>\
             <td>{weight}</td><td>{nash_elo}</td></tr>",
            place + 1,
            Escaped(&spec)
        )?;
    }
    writeln!(page, "</table>\n<details>\n<summary>The agents with every option</summary>\n<ol>")?;
    for standing in &standings.agents {
        writeln!(page, "<li>{}</li>", Escaped(&standing.agent))?;
    }
    writeln!(page, "</ol>\n</details>")?;
    for (heading, svg) in [
        ("Ratings", plots::ratings(standings)?),
        ("Scores of rows against columns", plots::crosstable(standings)?),
        ("Scores on each seat", plots::seats(standings)?),
        ("Lengths of games", plots::lengths(standings)?),
    ] {
        writeln!(page, "<h3>{heading}</h3>\n{svg}")?;
    }
    Ok(())
}

/// Text as HTML shows it.
pub(crate) struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

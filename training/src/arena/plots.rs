//! Plots of standings and of curves, as SVG to be put into a page.

use crate::arena::standings::{AgentStanding, Standings};
use crate::arena::statistics::Estimate;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// Why a plot could not be drawn.
pub type PlotError = Box<dyn std::error::Error>;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plane = Cartesian2d<RangedCoordf64, RangedCoordf64>;

/// Width of every plot, in pixels.
const WIDTH: u32 = 760;
/// Where the rows' labels end.
const LABELS: u32 = 230;
/// Height of a row.
const ROW: u32 = 28;
/// Characters of an agent's spec that a label shows.
const LABEL_LENGTH: usize = 30;

const FONT: (&str, u32) = ("sans-serif", 12);
const FIRST: RGBColor = RGBColor(178, 86, 24);
const SECOND: RGBColor = RGBColor(38, 84, 140);
const BARS: RGBColor = RGBColor(120, 120, 120);
/// Colours of curves, in turn.
const CURVES: [RGBColor; 6] =
    [FIRST, SECOND, RGBColor(62, 128, 70), BARS, RGBColor(122, 70, 140), RGBColor(184, 150, 30)];
/// Height of the row of a name.
const NAME: u32 = 18;
/// Points of a curve up to which each is marked.
const MARKED: usize = 60;

/// The ratings with their intervals.
///
/// # Errors
/// [`PlotError`] of the drawing.
pub fn ratings(standings: &Standings) -> Result<String, PlotError> {
    let bounds = standings.agents.iter().map(|standing| (standing.elo.low, standing.elo.high));
    let (low, high) = bounds.fold((0.0f64, 0.0f64), |(low, high), ends| (low.min(ends.0), high.max(ends.1)));
    let margin = 0.05 * (high - low).max(1.0);
    intervals(standings, low - margin..high + margin, "Elo, 95% intervals", &|standing| vec![(standing.elo, SECOND)])
}

/// The scores of each agent on the first and on the second seat, with their intervals.
///
/// # Errors
/// [`PlotError`] of the drawing.
pub fn seats(standings: &Standings) -> Result<String, PlotError> {
    let [first, second] = &standings.version.seats;
    let caption = format!("score, 95% intervals: as {first} above (brown), as {second} below (blue)");
    intervals(standings, 0.0..1.0, &caption, &|standing| {
        standing.seats.iter().zip([FIRST, SECOND]).map(|(seat, colour)| (seat.score, colour)).collect()
    })
}

/// The score of each row's agent against each column's: brown is a win, blue a loss.
///
/// # Errors
/// [`PlotError`] of the drawing.
pub fn crosstable(standings: &Standings) -> Result<String, PlotError> {
    let agents = standings.agents.len();
    let height = ROW * agents as u32 + 60;
    draw(height, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_bottom(30)
            .set_label_area_size(LabelAreaPosition::Left, LABELS)
            .build_cartesian_2d(0.0..agents as f64, agents as f64..0.0)?;
        label_rows(area, chart.plotting_area(), standings)?;
        for (row, line) in standings.crosstable.iter().enumerate() {
            for (column, met) in line.iter().enumerate() {
                let Some(met) = met else { continue };
                let corner = (column as f64, row as f64);
                let cell = [corner, (corner.0 + 1.0, corner.1 + 1.0)];
                chart.draw_series([Rectangle::new(cell, shade(met.score.value).filled())])?;
                let style = centred(HPos::Center);
                let text = format!("{:.2}", met.score.value);
                chart.draw_series([Text::new(text, (corner.0 + 0.5, corner.1 + 0.5), style)])?;
            }
        }
        for column in 0..agents {
            let at = chart.plotting_area().map_coordinate(&(column as f64 + 0.5, agents as f64));
            area.draw(&Text::new((column + 1).to_string(), (at.0, at.1 + 12), centred(HPos::Center)))?;
        }
        Ok(())
    })
}

/// How many games had how many decisions.
///
/// # Errors
/// [`PlotError`] of the drawing.
pub fn lengths(standings: &Standings) -> Result<String, PlotError> {
    let Histogram { begin, width, counts } = Histogram::of(&standings.decisions);
    let most = counts.iter().copied().max().unwrap_or(0);
    draw(260, |area| {
        let end = begin + width * counts.len() as u32;
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .set_label_area_size(LabelAreaPosition::Left, 60)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(f64::from(begin)..f64::from(end), 0.0..1.05 * most as f64)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(0)
            .x_label_formatter(&whole_label)
            .y_label_formatter(&whole_label)
            .x_desc("decisions")
            .y_desc("games")
            .label_style(FONT)
            .draw()?;
        chart.draw_series(counts.iter().enumerate().map(|(bin, &games)| {
            let left = f64::from(begin + width * bin as u32);
            Rectangle::new([(left, 0.0), (left + f64::from(width), games as f64)], BARS.filled())
        }))?;
        Ok(())
    })
}

/// One line of a plot.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// What it shows.
    pub name: String,
    /// Its points from left to right: where, and the estimate there; an interval of no width is not drawn.
    pub points: Vec<(f64, Estimate)>,
}

impl Curve {
    /// A curve of numbers that are no estimates, with at most `most` points: beyond, neighbours are averaged.
    pub fn thinned(name: &str, points: &[(f64, f64)], most: usize) -> Curve {
        let mean = |chunk: &[(f64, f64)]| {
            let count = chunk.len() as f64;
            let (x, value) = chunk.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
            let value = value / count;
            (x / count, Estimate { value, low: value, high: value })
        };
        let each = points.len().div_ceil(most.max(1)).max(1);
        Curve { name: name.to_owned(), points: points.chunks(each).map(mean).collect() }
    }
}

/// Curves over one axis, with their names above where there are several, and their intervals. `range` is that of the values;
/// without one it follows from them and has 0.
///
/// # Errors
/// [`PlotError`] of the drawing.
pub fn curves(curves: &[Curve], axis: &str, caption: &str, range: Option<Range<f64>>) -> Result<String, PlotError> {
    let ends = |values: &mut dyn Iterator<Item = f64>, from: (f64, f64)| {
        values.fold(from, |(low, high), value| (low.min(value), high.max(value)))
    };
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let (left, right) = ends(&mut all().map(|point| point.0), (f64::INFINITY, f64::NEG_INFINITY));
    // A single point is shown too, and so is nothing at all.
    let left = if left.is_finite() { left } else { 0.0 };
    let right = if right > left { right } else { left + 1.0 };
    let (low, high) = ends(&mut all().flat_map(|(_, of)| [of.low, of.high]), (0.0, 0.0));
    let margin = if high > low { 0.05 * (high - low) } else { 1.0 };
    let range = range.unwrap_or(if low < 0.0 { low - margin } else { 0.0 }..high + margin);
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).filter(|_| curves.len() > 1).collect();
    draw(270 + NAME * names.len() as u32, |area| {
        let area = &name_above(area, &names, &CURVES)?;
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(24)
            .set_label_area_size(LabelAreaPosition::Left, 60)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(left..right, range.clone())?;
        let whole = all().all(|point| point.0.fract() == 0.0);
        let across = digits(right - left);
        let up = digits(range.end - range.start);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .max_light_lines(0)
            .x_label_formatter(&|x| if whole { whole_label(x) } else { format!("{x:.across$}") })
            .y_label_formatter(&|y| format!("{y:.up$}"))
            .x_desc(axis)
            .y_desc(caption)
            .label_style(FONT)
            .draw()?;
        for (curve, colour) in curves.iter().zip(CURVES.into_iter().cycle()) {
            let line = curve.points.iter().map(|(x, of)| (*x, of.value)).collect::<Vec<_>>();
            let wide = curve.points.iter().filter(|(_, of)| of.low < of.high);
            chart.draw_series(wide.map(|&(x, Estimate { value, low, high })| {
                ErrorBar::new_vertical(x, low, value, high, colour.filled(), 6)
            }))?;
            if line.len() <= MARKED {
                chart.draw_series(line.iter().map(|&point| Circle::new(point, 2, colour.filled())))?;
            }
            chart.draw_series([PathElement::new(line, colour.stroke_width(2))])?;
        }
        Ok(())
    })
}

/// Writes names, each in a row with its colour, and returns the area that is left below them.
fn name_above<'a>(area: &Area<'a>, names: &[&str], colours: &[RGBColor]) -> Result<Area<'a>, PlotError> {
    for ((name, colour), row) in names.iter().zip(colours.iter().cycle()).zip(0..) {
        let y = row * NAME as i32 + NAME as i32 / 2;
        area.draw(&Rectangle::new([(70, y - 2), (90, y + 2)], colour.filled()))?;
        area.draw(&Text::new(*name, (98, y), centred(HPos::Left)))?;
    }
    Ok(area.margin(NAME * names.len() as u32, 0, 0, 0))
}

/// The label at a place of an axis of whole numbers; between them there is none.
fn whole_label(number: &f64) -> String {
    // Adding 0 makes 0 of -0.
    let whole = number.round() + 0.0;
    if (number - whole).abs() < 1e-9 { format!("{whole:.0}") } else { String::new() }
}

/// Digits after the point that labels of an axis of this length need.
fn digits(length: f64) -> usize {
    [20.0, 2.0, 0.2].iter().filter(|&&long| length < long).count()
}

/// Points of one kind in a [`scatter`].
#[derive(Clone, PartialEq, Debug)]
pub struct Cloud {
    /// What they are.
    pub name: String,
    /// Where each is, and its share of all, 0..=1, which is its area.
    pub points: Vec<(f64, f64, f64)>,
}

/// Points around the diagonal of a square, of which each axis has this range: where both say the same, points lie on it.
///
/// # Errors
/// [`PlotError`] of the drawing.
pub fn scatter(clouds: &[Cloud], axes: [&str; 2], range: Range<f64>) -> Result<String, PlotError> {
    /// Height and width with labels and margins.
    const SIDE: u32 = 420;
    /// Radius of a point that is all.
    const LARGEST: f64 = 22.0;
    let names: Vec<&str> = clouds.iter().map(|cloud| cloud.name.as_str()).collect();
    draw(SIDE + NAME * names.len() as u32, |area| {
        let area = &name_above(area, &names, &CURVES)?;
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(WIDTH - SIDE)
            .set_label_area_size(LabelAreaPosition::Left, 60)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(range.clone(), range.clone())?;
        chart
            .configure_mesh()
            .max_light_lines(0)
            .x_label_formatter(&|x| format!("{x:.1}"))
            .y_label_formatter(&|y| format!("{y:.1}"))
            .x_desc(axes[0])
            .y_desc(axes[1])
            .label_style(FONT)
            .draw()?;
        let diagonal = [(range.start, range.start), (range.end, range.end)];
        chart.draw_series([PathElement::new(diagonal, BARS.stroke_width(1))])?;
        for (cloud, colour) in clouds.iter().zip(CURVES.into_iter().cycle()) {
            chart.draw_series(cloud.points.iter().map(|&(x, y, share)| {
                let radius = (LARGEST * share.sqrt()).max(2.0) as i32;
                Circle::new((x, y), radius, colour.mix(0.7).filled())
            }))?;
        }
        Ok(())
    })
}

/// Numbers sorted into bins of one width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram {
    /// Lower end of the first bin.
    pub begin: u32,
    /// Width of a bin, at least 1.
    pub width: u32,
    /// How many numbers each bin holds.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// At most 40 bins from the lowest number on.
    pub fn of(numbers: &[u32]) -> Histogram {
        const MOST_BINS: u32 = 40;
        let begin = numbers.iter().copied().min().unwrap_or(0);
        let span = numbers.iter().copied().max().unwrap_or(0) - begin + 1;
        let width = span.div_ceil(MOST_BINS);
        let mut counts = vec![0; span.div_ceil(width) as usize];
        numbers.iter().for_each(|number| counts[((number - begin) / width) as usize] += 1);
        Histogram { begin, width, counts }
    }
}

/// One row for each agent with its estimates, one below the other.
fn intervals(
    standings: &Standings,
    range: Range<f64>,
    caption: &str,
    of: &dyn Fn(&AgentStanding) -> Vec<(Estimate, RGBColor)>,
) -> Result<String, PlotError> {
    let agents = standings.agents.len();
    draw(ROW * agents as u32 + 70, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .set_label_area_size(LabelAreaPosition::Left, LABELS)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(range, agents as f64..0.0)?;
        let digits = if chart.x_range().end > 1.0 { 0 } else { 1 };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(0)
            .max_light_lines(0)
            .x_label_formatter(&|x| format!("{x:.digits$}"))
            .x_desc(caption)
            .label_style(FONT)
            .draw()?;
        label_rows(area, chart.plotting_area(), standings)?;
        for (row, standing) in standings.agents.iter().enumerate() {
            let estimates = of(standing);
            let share = 1.0 / estimates.len() as f64;
            chart.draw_series(estimates.into_iter().enumerate().map(
                |(place, (Estimate { value, low, high }, colour))| {
                    let at = row as f64 + share * (place as f64 + 0.5);
                    ErrorBar::new_horizontal(at, low, value, high, colour.filled(), 8)
                },
            ))?;
        }
        Ok(())
    })
}

/// Writes number and spec of each agent to the left of its row.
fn label_rows(area: &Area, plot: &DrawingArea<SVGBackend, Plane>, standings: &Standings) -> Result<(), PlotError> {
    let left = plot.get_x_range().start;
    for (row, spec) in standings.briefs().iter().enumerate() {
        let (x, y) = plot.map_coordinate(&(left, row as f64 + 0.5));
        let mut label: String = spec.chars().take(LABEL_LENGTH).collect();
        if label.len() < spec.len() {
            label.push_str("...");
        }
        area.draw(&Text::new(format!("{label} {}", row + 1), (x - 8, y), centred(HPos::Right)))?;
    }
    Ok(())
}

fn centred(horizontally: HPos) -> TextStyle<'static> {
    TextStyle::from(FONT.into_font()).pos(Pos::new(horizontally, VPos::Center))
}

/// From blue for a score of 0 through white to brown for 1.
fn shade(score: f64) -> RGBColor {
    let end = if score < 0.5 { SECOND } else { FIRST };
    let share = 0.8 * (2.0 * score - 1.0).abs();
    let mix = |channel: u8| (255.0 + share * (f64::from(channel) - 255.0)).round() as u8;
    RGBColor(mix(end.0), mix(end.1), mix(end.2))
}

/// Draws on a new area and returns it as SVG to be put into a page, where the name space is understood.
fn draw(height: u32, content: impl FnOnce(&Area) -> Result<(), PlotError>) -> Result<String, PlotError> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        content(&area)?;
        area.present()?;
    }
    Ok(svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1))
}

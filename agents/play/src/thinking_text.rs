//! What a search found, in plain words and in the notation of the game.

use std::fmt::Write;

use dervish_agents::agent::{Choice, Event, SearchReport};
use dervish_env::game::{Outcome, Position};

/// What the agent thought that made `choice` in `position`: two lines, or one that says that it did not search.
pub fn thinking_text<P: Position>(position: &P, choice: &Choice) -> String {
    let Some(report) = &choice.report else { return "    without a search\n".to_owned() };
    let SearchReport { value, simulations, nodes, reused_nodes, depth, seconds, .. } = report;
    let mut text = format!("    value {value:+.3}");
    let chosen = report.actions.iter().find(|action| action.action == choice.action);
    if let Some(chosen) = chosen.filter(|_| *simulations > 0) {
        let visits: u32 = report.actions.iter().map(|action| action.visits).sum();
        let _ = write!(text, ", {} of {visits} visits", chosen.visits);
    }
    let _ = write!(text, ", depth {depth}, {nodes} nodes");
    if *reused_nodes > 0 {
        let _ = write!(text, " ({reused_nodes} known before)");
    }
    let _ = writeln!(text, " in {seconds:.3} s, {:.0} nodes/s", report.nodes_per_second());
    let _ = writeln!(text, "    line: {}", line_text(position, &report.principal_variation));
    text
}

/// A line of play from `position` in notation, rolls as what is rolled and the outcome; as far as it can be played.
pub fn line_text<P: Position>(position: &P, line: &[Event]) -> String {
    let mut position = position.clone();
    let mut steps = Vec::new();
    for event in line {
        let before = position.clone();
        let played = match *event {
            Event::Played(_, action) => position.apply(action),
            Event::Rolled(outcome) => position.resolve(outcome),
        };
        if played.is_err() {
            break;
        }
        steps.push(match *event {
            Event::Played(seat, action) => format!("{} {}", P::seat_name(seat), before.action_text(action)),
            Event::Rolled(Outcome(outcome)) => format!("({}: {outcome})", before.pending_text()),
        });
    }
    steps.join("; ")
}

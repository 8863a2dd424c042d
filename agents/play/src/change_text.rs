//! What a roll means, and what a roll or an order has changed, in plain words.

use dervish_env::dervish::Campaign;
use dervish_env::dervish::catalogue::{Leader, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::game::Outcome;

/// A roll, with the name of the event that it stands for (4.1) and, on the next line, what that means.
pub(crate) fn roll_of_campaign(position: &Campaign, outcome: Outcome) -> String {
    let scenario = position.scenario();
    let event = (position.pending().decision == Decision::RollEvent)
        .then(|| scenario.tables.event(scenario.events, position.active(), outcome.0 as u8))
        .flatten();
    match event {
        Some(event) => format!("{}, {}\n  {}", outcome.0, event.id(), event.meaning()),
        None => outcome.0.to_string(),
    }
}

/// Units lost, disrupted and rallied, leaders lost and places that have changed hands between two positions.
pub(crate) fn change_of_campaign(before: &Campaign, after: &Campaign) -> String {
    let mut changes = Vec::new();
    for side in Side::BOTH {
        let lost = after.eliminated(side).saturating_sub(before.eliminated(side));
        let [were, are] = [before, after].map(|position| disrupted(position, side));
        let name = side.id();
        if lost > 0 {
            changes.push(format!("{name} loses {lost} {}", if lost == 1 { "combat unit" } else { "combat units" }));
        }
        if are > were {
            changes.push(format!("{} more of {name} disrupted", are - were));
        } else if are < were && lost == 0 {
            changes.push(format!("{} of {name} in good order again", were - are));
        }
    }
    for leader in Leader::ALL {
        let [was, is] = [before, after].map(|position| position.leader(leader).hex.is_some());
        if was && !is {
            changes.push(format!("{} is gone", leader.id()));
        } else if is && !was {
            changes.push(format!("{} comes", leader.id()));
        }
    }
    for place in before.scenario().board.places.iter() {
        for side in Side::BOTH {
            if after.controls_at(side, place.hex) && !before.controls_at(side, place.hex) {
                changes.push(format!("{} controls {}", side.id(), place.name));
            }
        }
    }
    changes.join(", ")
}

fn disrupted(position: &Campaign, side: Side) -> u32 {
    let cohorts = position.units().as_slice().iter();
    cohorts.filter(|cohort| cohort.side() == side && cohort.disrupted()).map(|cohort| u32::from(cohort.count())).sum()
}

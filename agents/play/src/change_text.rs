//! What a roll means, and what a roll or an order has changed, in plain words.

use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{Class, Kind, LAND, Leader, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::rules::combat::{CombatRole, Test};
use dervish_env::dervish::tables::{MarchResult, Morale};
use dervish_env::game::{Outcome, Position};

/// A roll and, on the next line, what it means: the event that it stands for (4.1), how many recruits come (5.2), how far a
/// group may march (8.31), what a test gives (9.6). Of attrition and recovery only that nothing comes of them: what does stands
/// among the changes.
pub(crate) fn roll_of_campaign(position: &Campaign, outcome: Outcome) -> String {
    let meaning = match position.pending().decision {
        Decision::RollEvent => event_text(position, outcome),
        Decision::RollMarch => Some(march_text(position, outcome)),
        Decision::RollFireMarching => test_text(position, Test::FireMarching, outcome),
        Decision::RollFireDefending => test_text(position, Test::FireDefending, outcome),
        Decision::RollMeleeMarching => test_text(position, Test::MeleeMarching, outcome),
        Decision::RollMeleeDefending => test_text(position, Test::MeleeDefending, outcome),
        Decision::RollRecruits => recruits_text(position, outcome),
        Decision::RollAttrition | Decision::RollRecovery => no_effect_text(position, outcome),
        _ => None,
    };
    format!("{}{}", outcome.0, meaning.unwrap_or_default())
}

/// The name of an event, and what it means, or would mean elsewhere.
fn event_text(position: &Campaign, outcome: Outcome) -> Option<String> {
    let scenario = position.scenario();
    let event = scenario.tables.event(scenario.events, position.active(), outcome.0 as u8)?;
    let effect = if position.event_has_effect(outcome.0) { "" } else { " (no effect)" };
    Some(format!(", {}\n  {}{effect}", event.id(), event.meaning()))
}

/// Whether the group may march, and how far.
fn march_text(position: &Campaign, outcome: Outcome) -> String {
    match position.scenario().tables.march(i32::from(outcome.0) + position.march_modifier()) {
        MarchResult::NoMarch => "\n  no march, and no more rolls of this group".to_owned(),
        MarchResult::March { disrupted_percent } => {
            let disrupted = match disrupted_percent {
                0 => String::new(),
                percent => format!("; {percent}% of its units are disrupted, fractions down"),
            };
            format!("\n  the group may go as far as {} movement points reach{disrupted}", position.group_movement())
        }
    }
}

/// What a test gives for each class and leaves of the side; after the last one who wins (9.9). `None` for a test that is not
/// called for.
fn test_text(position: &Campaign, test: Test, outcome: Outcome) -> Option<String> {
    let combat = position.combat();
    let mut dice = position.battle().dice;
    dice[test as usize] = outcome.0 as u8;
    let reading = combat.reading(test, &dice)?;
    let results = Class::ALL.into_iter().filter_map(|class| {
        let result = reading.results[class as usize]?;
        Some(format!("class {} {}", class.id(), morale_word(result)))
    });
    let results = results.collect::<Vec<_>>().join(", ");
    let flag = if reading.flag > 0 { ", classes R and L one more for the flag" } else { "" };
    let resolution = combat.resolve(&dice);
    let side = match test.role() {
        CombatRole::Marching => &resolution.marching,
        CombatRole::Defending => &resolution.defending,
    };
    let verdict = match (combat.next_test(&dice), resolution.winner) {
        (Some(_), _) => String::new(),
        (None, Some(role)) => format!("; {} wins the combat (9.9)", combat.side(role).id()),
        (None, None) => "; nobody wins the combat (9.9)".to_owned(),
    };
    Some(format!(
        "\n  modifier {:+}, total {}{flag}: {results} (9.6); of {} units {} are left, {} of them disrupted{verdict}",
        reading.modifier,
        reading.total,
        side.start,
        side.force.count_of(LAND),
        side.force.disrupted_of(LAND),
    ))
}

/// How many join in a district (5.2), and where if there was no choice.
fn recruits_text(position: &Campaign, outcome: Outcome) -> Option<String> {
    let mut after = *position;
    after.resolve(outcome).ok()?;
    let pending = after.pending();
    // Where they gather is still asked, or they stand there already.
    let (count, place) = if pending.decision == Decision::RecruitHex {
        (u32::from(pending.amount), String::new())
    } else {
        let grown = |hex: Hex| {
            let [was, is] = [position, &after].map(|position| position.units().force(hex, Side::Mahdist, |_| true));
            is.count(Kind::MahdistSpearmen).saturating_sub(was.count(Kind::MahdistSpearmen))
        };
        let hexes = after.units().as_slice().iter().map(|cohort| cohort.hex());
        let gathered = hexes.map(|hex| (grown(hex), hex)).find(|(count, _)| *count > 0);
        gathered.map_or((0, String::new()), |(count, hex)| (count, format!(" at {}", position.place_text(hex))))
    };
    let kind = Kind::MahdistSpearmen.id();
    Some(match count {
        0 => "\n  no unit comes".to_owned(),
        1 => format!("\n  1 {kind} comes{place}"),
        _ => format!("\n  {count} {kind} come{place}"),
    })
}

/// That a roll for a stack has left it as it was.
fn no_effect_text(position: &Campaign, outcome: Outcome) -> Option<String> {
    let hex = position.pending().hex;
    let mut after = *position;
    after.resolve(outcome).ok()?;
    (after.units().at(hex) == position.units().at(hex)).then(|| " (no effect)".to_owned())
}

fn morale_word(result: Morale) -> &'static str {
    match result {
        Morale::Fail => "fails",
        Morale::Shaken => "shaken",
        Morale::Hold => "holds",
        Morale::Steady => "steady",
        Morale::Good => "good",
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
            let more = if were > 0 { " more" } else { "" };
            changes.push(format!("{}{more} of {name} disrupted", are - were));
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

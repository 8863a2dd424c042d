//! What a roll means, and what a roll or an order has changed, in plain words.

use std::collections::BTreeSet;

use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Hex, PlaceKind};
use dervish_env::dervish::campaign::{BattleStage, Phase};
use dervish_env::dervish::catalogue::{COMBAT, Class, Kind, LAND, Leader, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::rules::combat::{CombatRole, Test};
use dervish_env::dervish::scenario::Recruits;
use dervish_env::dervish::tables::{MarchResult, Morale, Recovery};
use dervish_env::dervish::units::Cohort;
use dervish_env::game::{Outcome, Position};

/// A roll and, on the next line, what it means: the event that it stands for (4.1), how many recruits come (5.2), where a leader
/// escapes to (6.2), how far a group may march (8.31), what a test gives (9.6), what becomes of a gunboat (9.11), how many units
/// attrition leaves alone (10.3), which classes recover (11.1). Whom it strikes stands among the changes.
pub(crate) fn roll_of_campaign(position: &Campaign, outcome: Outcome) -> String {
    let meaning = match position.pending().decision {
        Decision::RollEvent => event_text(position, outcome),
        Decision::RollMarch => Some(march_text(position, outcome)),
        Decision::RollFireMarching => test_text(position, Test::FireMarching, outcome),
        Decision::RollFireDefending => test_text(position, Test::FireDefending, outcome),
        Decision::RollMeleeMarching => test_text(position, Test::MeleeMarching, outcome),
        Decision::RollMeleeDefending => test_text(position, Test::MeleeDefending, outcome),
        Decision::RollRecruits => recruits_text(position, outcome),
        Decision::RollEscape => escape_text(position, outcome),
        Decision::RollGunboat => Some(gunboat_text(outcome)),
        Decision::RollAttrition => Some(attrition_text(position, outcome)),
        Decision::RollRecovery => Some(recovery_text(position, outcome)),
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
    let total = i32::from(outcome.0) + position.march_modifier();
    match position.scenario().tables.march(total) {
        MarchResult::NoMarch => format!("\n  total {total}: no march, and no more rolls of this group"),
        MarchResult::March { disrupted_percent } => {
            let disrupted = match disrupted_percent {
                0 => String::new(),
                percent => format!("; {percent}% of its units are disrupted, fractions down"),
            };
            let far = position.group_movement();
            format!("\n  total {total}: the group may go as far as {far} movement points reach{disrupted}")
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

/// How many join in a district (5.2): what the die gives there, as far as there are counters and a hex for them.
fn recruits_text(position: &Campaign, outcome: Outcome) -> Option<String> {
    let (board, district) = (&position.scenario().board, position.pending().subject);
    let here = |hex: Hex| hex.is_some() && board.cell(hex).district == district;
    let mut towns = board.places.iter().filter(|place| place.kind == PlaceKind::Town && here(place.hex));
    let Recruits { less, mahdi, town } = position.scenario().recruits;
    let bonuses = [
        (mahdi, "with the Mahdi", here(position.leader(Leader::Mahdi).hex)),
        (town, "for a town", towns.any(|place| position.controls_at(Side::Mahdist, place.hex))),
    ];
    let mut total = outcome.0.saturating_sub(u16::from(less));
    let mut how = vec![format!("less {less}")];
    for (more, why, _) in bonuses.into_iter().filter(|(more, _, counts)| *counts && *more > 0) {
        total += u16::from(more);
        how.push(format!("{more} more {why}"));
    }
    let mut after = *position;
    after.resolve(outcome).ok()?;
    let [was, is] = [position, &after].map(|position| position.units().on_map(Kind::MahdistSpearmen));
    // Where they gather is still asked, or they stand there already.
    let asked = after.pending().decision == Decision::RecruitHex;
    let count = if asked { u32::from(after.pending().amount) } else { is.saturating_sub(was) };
    let kind = Kind::MahdistSpearmen.id();
    let come = match count {
        0 => "no unit comes".to_owned(),
        1 => format!("1 {kind} comes"),
        _ => format!("{count} {kind} come"),
    };
    let lacking = if count < u32::from(total) { "; for more there is no counter (2.3) or no hex" } else { "" };
    Some(format!("\n  total {total} ({}): {come}{lacking}", how.join(", ")))
}

/// Where a leader has escaped to (6.2). That he is captured stands among the changes.
fn escape_text(position: &Campaign, outcome: Outcome) -> Option<String> {
    let leader = *Leader::ALL.get(usize::from(position.pending().subject))?;
    let mut after = *position;
    after.resolve(outcome).ok()?;
    let refuge = after.leader(leader).hex;
    refuge.is_some().then(|| format!("\n  {} escapes to {}", leader.id(), position.place_text(refuge)))
}

/// Doubles, which are outcome 0, destroy a gunboat, else it is out for so many turns (9.11).
fn gunboat_text(outcome: Outcome) -> String {
    match outcome.0 {
        0 => "\n  doubles: it is destroyed".to_owned(),
        turns => format!("\n  it is out for {turns} game turns"),
    }
}

/// How many units of the stack attrition leaves alone, by the total and the row of table 10.3.
fn attrition_text(position: &Campaign, outcome: Outcome) -> String {
    let hex = position.pending().hex;
    let (row, total) = (position.attrition_row(hex), i32::from(outcome.0) + position.attrition_modifier(hex));
    let unaffected = match position.scenario().tables.attrition(row, total) {
        Some(units) => format!("at most {units} units"),
        None => "all units".to_owned(),
    };
    let effect = no_effect_text(position, outcome);
    format!("\n  total {total}, row {}: {unaffected} unaffected{effect}", row.id())
}

/// What the total gives for each class of the disrupted units of the hex (11.1).
fn recovery_text(position: &Campaign, outcome: Outcome) -> String {
    let (scenario, hex) = (position.scenario(), position.pending().hex);
    let total = i32::from(outcome.0) + position.recovery_modifier(hex);
    let disrupted = position.units().at(hex).iter().filter(|cohort| cohort.disrupted() && LAND.has(cohort.kind()));
    let class_of = |cohort: &Cohort| scenario.catalogue.class_under(cohort.kind(), position.events().poor_morale);
    let classes: BTreeSet<Class> = disrupted.map(class_of).collect();
    let result = |class: Class| {
        let word = match scenario.tables.recovery(class, total) {
            Recovery::Fail => "fails",
            Recovery::Hold => "holds",
            Recovery::Good => "good",
        };
        format!("class {} {word}", class.id())
    };
    let results = classes.into_iter().map(result).collect::<Vec<_>>().join(", ");
    format!("\n  total {total}: {results}{}", no_effect_text(position, outcome))
}

/// That a roll for a stack has left it as it was, if it has.
fn no_effect_text(position: &Campaign, outcome: Outcome) -> &'static str {
    let hex = position.pending().hex;
    let mut after = *position;
    let same = after.resolve(outcome).is_ok() && after.units().at(hex) == position.units().at(hex);
    if same { " (no effect)" } else { "" }
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

/// Units lost, disrupted and rallied, leaders captured, spoils, field forces and places that have changed hands between two
/// positions; below, a line for each hex to which units and leaders have come or from which they are gone.
pub(crate) fn change_of_campaign(before: &Campaign, after: &Campaign) -> String {
    let mut changes = Vec::new();
    for side in Side::BOTH {
        let lost = after.eliminated(side).saturating_sub(before.eliminated(side));
        let in_order = |disrupted: bool| {
            let wanted = |cohort: Cohort| cohort.side() == side && cohort.disrupted() == disrupted;
            [before, after].map(|position| count(position, wanted))
        };
        let ([were, are], [good, better]) = (in_order(true), in_order(false));
        let name = side.id();
        if lost > 0 {
            changes.push(format!("{name} loses {lost} {}", if lost == 1 { "combat unit" } else { "combat units" }));
        }
        if are > were {
            let more = if were > 0 { " more" } else { "" };
            changes.push(format!("{}{more} of {name} disrupted", are - were));
        } else if before.pending().decision == Decision::RollRecovery && better > good {
            changes.push(format!("{} of {name} in good order again", better - good));
        }
    }
    let captured = |leader: &Leader| after.leader(*leader).lost && !before.leader(*leader).lost;
    changes.extend(Leader::ALL.into_iter().filter(captured).map(|leader| format!("{} is captured", leader.id())));
    changes.extend(field_force_changes(before, after));
    let fought = before.battle().stage != BattleStage::None;
    if fought {
        changes.extend(spoils(before, after));
    }
    for place in before.scenario().board.places.iter() {
        for side in Side::BOTH {
            if after.controls_at(side, place.hex) && !before.controls_at(side, place.hex) {
                changes.push(format!("{} controls {}", side.id(), place.name));
            }
        }
    }
    let mut lines = vec![changes.join(", ")];
    // Of a combat the rolls tell what is left (9.7), and who is left may have retreated.
    if !fought {
        // On the march units go from hex to hex: there only kinds come or go of which more or fewer stand on the map.
        let marches = before.phase() == Phase::March;
        let told = |kind: &Kind| !marches || before.units().on_map(*kind) != after.units().on_map(*kind);
        let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(told).collect();
        let placed = |was: &Campaign, is: &Campaign, how: &str| -> Vec<String> {
            let more = more_by_hex(was, is, &kinds).into_iter();
            more.map(|(hex, names)| format!("{how} {}: {}", is.place_text(hex), names.join(", "))).collect()
        };
        lines.extend(placed(before, after, "come to"));
        lines.extend(placed(after, before, "gone from"));
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n  ")
}

/// That a field force has landed or left in an Egyptian player turn, by event or of its player's will (4.3), or because its month
/// has come (2.6).
fn field_force_changes(before: &Campaign, after: &Campaign) -> Vec<String> {
    let (was, is) = (before.events(), after.events());
    let force = |number: u8| before.scenario().field_forces.get(usize::from(number).wrapping_sub(1));
    let why = |month: Option<u8>| match month {
        Some(turn) if turn == before.game_turn() => ": its month has come (2.6)",
        _ => " (4.3)",
    };
    let mut changes = Vec::new();
    // Without British units it is not in play either (13.9), but no event of the Egyptian player's takes them.
    if before.phase() == Phase::Event && before.active() == Side::Egyptian && was.in_play && !is.in_play {
        let month = force(was.field_forces).and_then(|force| force.leaves_on);
        changes.push(format!("the field force leaves the Souakim extension{}", why(month)));
    }
    if (was.landing || is.field_forces > was.field_forces) && !is.landing {
        let month = force(is.field_forces).and_then(|force| force.lands_on);
        changes.push(format!("field force {} lands{}", is.field_forces, why(month)));
    }
    changes
}

/// What the Mahdist takes after a combat that he has won (9.10).
fn spoils(before: &Campaign, after: &Campaign) -> Vec<String> {
    // Nothing but captured guns adds to his combat units in a combat, eliminated ones counted.
    let [were, are] = [before, after].map(|position| {
        let left = count(position, |cohort| cohort.side() == Side::Mahdist && COMBAT.has(cohort.kind()));
        left + u32::from(position.eliminated(Side::Mahdist))
    });
    let [had, has] = [before, after].map(|position| position.units().on_map(Kind::MahdistRifles));
    let name = Side::Mahdist.id();
    let mut spoils = Vec::new();
    match are.saturating_sub(were) {
        0 => {}
        1 => spoils.push(format!("{name} takes 1 gun (9.10)")),
        guns => spoils.push(format!("{name} takes {guns} guns (9.10)")),
    }
    if has > had {
        spoils.push(format!("{name} has {} more {} (9.10)", has - had, Kind::MahdistRifles.id()));
    }
    spoils
}

/// Of which of these kinds `is` has more units in a hex than `was`, and which leaders are there that were nowhere: `2 supply`,
/// `graham`. Leaders who are captured are no longer told of.
fn more_by_hex(was: &Campaign, is: &Campaign, kinds: &[Kind]) -> Vec<(Hex, Vec<String>)> {
    let new = |leader: &Leader| {
        let away = was.leader(*leader);
        is.leader(*leader).hex.is_some() && !away.hex.is_some() && !away.lost
    };
    let leaders: Vec<Leader> = Leader::ALL.into_iter().filter(new).collect();
    let hexes = is.units().as_slice().iter().map(|cohort| cohort.hex());
    let hexes: BTreeSet<Hex> = hexes.chain(leaders.iter().map(|leader| is.leader(*leader).hex)).collect();
    let more = |hex: Hex| {
        let here = |position: &Campaign, kind: Kind| position.units().force(hex, kind.side(), |_| true).count(kind);
        let units = kinds.iter().filter_map(|kind| match here(is, *kind).saturating_sub(here(was, *kind)) {
            0 => None,
            more => Some(format!("{more} {}", kind.id())),
        });
        let leaders = leaders.iter().filter(|leader| is.leader(**leader).hex == hex);
        units.chain(leaders.map(|leader| leader.id().to_owned())).collect::<Vec<_>>()
    };
    hexes.into_iter().map(|hex| (hex, more(hex))).filter(|(_, names)| !names.is_empty()).collect()
}

/// How many units on the map are wanted.
fn count(position: &Campaign, wanted: impl Fn(Cohort) -> bool) -> u32 {
    let cohorts = position.units().as_slice().iter().copied();
    cohorts.filter(|cohort| wanted(*cohort)).map(|cohort| u32::from(cohort.count())).sum()
}

//! What a person may ask of the campaign besides how it is won: another part of the map, all stacks, the units of a hex with
//! their factors, the odds of an attack, what an order means.

use std::fmt::Write;

use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Board, Ground, Hex, PlaceKind, Relief};
use dervish_env::dervish::catalogue::{GUNBOATS, LAND, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::order::Verb;
use dervish_env::dervish::rules::combat::{Combat, CombatRole, LeaderUse};
use dervish_env::dervish::units::Cohort;
use dervish_env::game::Position;

use crate::map_text::{board_around, cohort_text, stacks_of_campaign, whole_board};

/// The questions, as the help tells them.
pub(crate) const QUESTIONS: &str = "b HEX draws the board around a hex, b all the whole map; s lists all stacks; i HEX tells of \
                                    a hex and its units; o gives the odds of the attacks in the list, and before a group is \
                                    picked those of the groups that a quick pick makes; HEX is a number such as 4606 or the \
                                    name of a place; ? explains the orders, too\n";

/// The orders in notation, and what each of them means.
const ORDERS: [(&str, &str); 22] = [
    ("place HEX", "set-up: a hex, then place HEX KIND N: how many of each kind stand in it (2.7)"),
    ("march HEX", "something in this hex is to act; march done: nothing more in this phase (8.1)"),
    ("march HEX all", "the group is all that is fresh: that has neither marched nor fought"),
    ("march HEX all_good", "the same without what is disrupted, which may not attack (8.4)"),
    ("march HEX unfought", "the group is all in good order that has not fought, to attack"),
    ("march HEX choose", "the group is picked unit by unit: take KIND N, take LEADER yes"),
    ("march HEX vessel", "a gunboat or boat sails: sail KIND, load KIND, load LEADER yes, load done, sail HEX (8.7)"),
    ("march HEX alone", "a leader goes without units, and without a roll: alone LEADER, to HEX (8.10)"),
    ("march HEX fleet", "the fleet goes to the other port (8.8)"),
    ("roll", "the group rolls for a march, three times at most, each time at a worse modifier (8.2)"),
    ("to HEX", "the group marches there; with the hex where it is, it stays"),
    ("attack HEX", "the group attacks (8.5)"),
    ("sea", "the group goes to the other port, without a roll (8.8)"),
    ("halt", "the group rolls no more; it has marched"),
    ("leader fire", "a leader's tactical rating helps under fire; leader melee: in melee; leader unused: never (9.2)"),
    ("retreat HEX", "where the loser of a combat goes; advance yes: the attackers go into the hex (9.9)"),
    ("supply HEX draw", "one supply unit is used up and the stack suffers nothing; supply HEX roll: it rolls (10.1)"),
    ("arrive HEX", "where reinforcements come; recruit HEX: where recruits gather (5)"),
    ("flag HEX", "the flag is shown there, flag done: nowhere; take_flag_off yes: it is taken off (12)"),
    ("rail N", "so many hexes of railway are built (8.9)"),
    ("field_force_leaves yes", "the field force leaves; leave HEX yes: the Egyptian units of this hex with it (4.3)"),
    ("spoilt HEX", "spoilt biscuits cost a supply unit there; other orders for an event begin with its name (4.3)"),
];

/// The answer to one of [`QUESTIONS`], in capitals or small letters; `None` if it is none of them.
pub(crate) fn answer_of_campaign(position: &Campaign, question: &str) -> Option<String> {
    let question = question.to_lowercase();
    let words: Vec<&str> = question.split_whitespace().collect();
    let (word, rest) = words.split_first()?;
    let name = rest.join(" ");
    let about = |told: fn(&Campaign, Hex) -> String| match hex_named(&position.scenario().board, &name) {
        Some(hex) => told(position, hex),
        None => format!("{name}: neither a hex of this map, such as 4606, nor the name of a place on it\n"),
    };
    match (*word, name.as_str()) {
        ("?", "") => Some(orders_text()),
        ("s" | "stacks", "") => Some(stacks_of_campaign(position)),
        ("o" | "odds", "") => match odds_of_all(position) {
            odds if odds.is_empty() => Some("the list has no attack\n".to_owned()),
            odds => Some(odds),
        },
        ("i" | "info", "") => Some("i HEX tells of a hex and its units\n".to_owned()),
        ("i" | "info", _) => Some(about(hex_of_campaign)),
        ("b" | "board", "all") => Some(whole_board(position)),
        ("b" | "board", name) if !name.is_empty() => Some(about(board_around)),
        _ => None,
    }
}

fn orders_text() -> String {
    let mut text = "orders, where KIND is a kind of unit and N how many:\n".to_owned();
    for (order, meaning) in ORDERS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {order:22}  {meaning}");
    }
    text
}

/// The chances of each attack that can be ordered, or that the use of a leader is asked about: who wins, the land units of each
/// side that are destroyed on average and that are disrupted in the end, and what leaders may add.
pub(crate) fn odds_of_campaign(position: &Campaign) -> String {
    match position.pending().decision {
        Decision::GroupOrder | Decision::LeaderMarching | Decision::LeaderDefending => odds_of_all(position),
        // Elsewhere there may be too many to be told without being asked for.
        _ => String::new(),
    }
}

/// The same whatever is decided, of the attacks that can follow without a roll: where no group is picked yet, of those of
/// every group that a quick pick makes (8.1).
fn odds_of_all(position: &Campaign) -> String {
    let mut text = String::new();
    add_odds(position, "", &mut text);
    text
}

/// Adds a line for each attack that can follow, with the orders that lead to it: those `before`, which have led to `position`,
/// and its own.
fn add_odds(position: &Campaign, before: &str, text: &mut String) {
    // A pick names its hex again.
    let before = if position.pending().decision == Decision::MarchPick { "" } else { before };
    let mut legal = Vec::new();
    position.legal_actions_into(&mut legal);
    for action in legal {
        let mut after = *position;
        if after.apply(action).is_err() {
            continue;
        }
        let orders = format!("{before}{}", position.action_text(action));
        if let Some(odds) = odds_of_combat(&after) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  odds of {orders}: {odds}");
        } else if matches!(after.pending().decision, Decision::MarchPick | Decision::GroupOrder) {
            add_odds(&after, &format!("{orders}, "), text);
        }
    }
}

/// The odds of the combat that waits for its first roll, or for the use of leaders; then, on a line of its own, what a leader
/// whose use is still to be said may add. `None` where there is no combat.
fn odds_of_combat(position: &Campaign) -> Option<String> {
    let unsaid: &[CombatRole] = match position.pending().decision {
        Decision::LeaderMarching => &CombatRole::BOTH,
        Decision::LeaderDefending => &[CombatRole::Defending],
        Decision::RollFireMarching
        | Decision::RollFireDefending
        | Decision::RollMeleeMarching
        | Decision::RollMeleeDefending => &[],
        _ => return None,
    };
    let combat = position.combat();
    let distribution = combat.distribution();
    let percent = |winner| 100.0 * distribution.probability(winner);
    let wins = CombatRole::BOTH.map(|role| format!("{} wins {:.1}%", combat.side(role).id(), percent(Some(role))));
    let destroyed = CombatRole::BOTH.map(|role| {
        let units = combat.combatant(role).force.count_of(LAND);
        let lost = distribution.share_destroyed(role) * f64::from(units);
        format!("{} {lost:.1} of {units}", combat.side(role).id())
    });
    let disrupted = CombatRole::BOTH.map(|role| {
        let chances = distribution.disrupted(role).into_iter().enumerate();
        let left: f64 = chances.map(|(units, chance)| units as f64 * chance).sum();
        format!("{} {left:.1}", combat.side(role).id())
    });
    let mut odds = format!(
        "{}, nobody {:.1}%; destroyed on average: {}; disrupted in the end: {}",
        wins.join(", "),
        percent(None),
        destroyed.join(", "),
        disrupted.join(", ")
    );
    let led = unsaid.iter().filter(|role| combat.combatant(**role).tactical > 0).map(|role| led_text(&combat, *role));
    let led: Vec<String> = led.collect();
    if !led.is_empty() {
        odds.push_str("\n    without leaders whose use is still to be said; ");
        odds.push_str(&led.join(", "));
    }
    Some(odds)
}

/// The chance of a player if his leader is used where that is better, and the other's not: `egyptian wins 69.0% with leader fire`.
fn led_text(combat: &Combat, role: CombatRole) -> String {
    let [fire, melee] = [(LeaderUse::Fire, Verb::Fire), (LeaderUse::Melee, Verb::Melee)].map(|(leader_use, verb)| {
        let mut led = combat.clone();
        match role {
            CombatRole::Marching => led.marching.leader_use = leader_use,
            CombatRole::Defending => led.defending.leader_use = leader_use,
        }
        (led.distribution().probability(Some(role)), verb)
    });
    let (chance, verb) = if melee.0 > fire.0 { melee } else { fire };
    format!("{} wins {:.1}% with leader {}", combat.side(role).id(), 100.0 * chance, verb.id())
}

/// A hex by its number or by the name of the place in it, in capitals or small letters.
fn hex_named(board: &Board, name: &str) -> Option<Hex> {
    let numbered = Hex::parse(name).filter(|hex| board.cell(*hex).ground != Ground::Off);
    let named = |of: &str| !of.is_empty() && of.eq_ignore_ascii_case(name);
    let place = board.places.iter().find(|place| named(&place.name) || named(&place.alias));
    numbered.or_else(|| place.map(|place| place.hex))
}

/// Ground, place and who controls it; then every cohort with its numbers (2.1) and every leader with his ratings (2.2).
fn hex_of_campaign(position: &Campaign, hex: Hex) -> String {
    let board = &position.scenario().board;
    let cell = board.cell(hex);
    let mut about = vec![match cell.ground {
        Ground::Off | Ground::Sea => "sea",
        Ground::Clear => "clear",
        Ground::Desert => "desert",
        Ground::Cultivated => "cultivated",
    }];
    about.extend(match cell.relief {
        Relief::Flat => None,
        Relief::Hills => Some("hills"),
        Relief::Mountain => Some("mountain"),
    });
    about.extend(board.place_kind(hex).map(|kind| match kind {
        PlaceKind::Town => "town",
        PlaceKind::Village => "village",
        PlaceKind::Oasis => "oasis",
    }));
    about.extend((cell.rivers != 0).then_some("on a river"));
    about.extend(cell.coast.then_some("on the coast"));
    let control = match cell.place.map(|place| position.controller(place)) {
        None => String::new(),
        Some(side) => format!("; controlled by {}", side.map_or("nobody", Side::id)),
    };
    let mut text = format!("{}: {}{control}\n", position.place_text(hex), about.join(", "));
    // Writing to a string cannot fail.
    for cohort in position.units().at(hex) {
        let _ = writeln!(text, "  {}: {}", cohort_text(*cohort), factors_text(position, *cohort));
    }
    for leader in Side::BOTH.into_iter().flat_map(|side| position.leaders_at(hex, side)) {
        let ratings = position.scenario().catalogue.leader(leader);
        let _ = writeln!(
            text,
            "  {}: strategic {}, tactical {}, movement {}",
            leader.id(),
            ratings.strategic,
            ratings.tactical,
            ratings.movement
        );
    }
    text
}

/// The numbers of each of these units that are not 0, as they are in this game turn. Disrupted it has half its melee factor,
/// exactly, and no fire, gun or cavalry factor (2.1).
fn factors_text(position: &Campaign, cohort: Cohort) -> String {
    let kind = cohort.kind();
    let catalogue = &position.scenario().catalogue;
    let data = catalogue.of(kind);
    let tests = LAND.or(GUNBOATS).has(kind);
    let class = tests.then(|| format!("class {}", catalogue.class_under(kind, position.events().poor_morale).id()));
    let (half, whole) = if cohort.disrupted() { (0.5, 0.0) } else { (1.0, 1.0) };
    let factors = [
        ("melee", half * f64::from(data.melee)),
        ("fire", whole * f64::from(data.fire)),
        ("gun", whole * f64::from(data.gun)),
        ("cavalry", whole * f64::from(data.cavalry)),
        ("movement", f64::from(data.movement)),
        ("carries", f64::from(data.carries)),
    ];
    let factors = factors.into_iter().filter(|(_, value)| *value > 0.0).map(|(name, value)| format!("{name} {value}"));
    class.into_iter().chain(factors).collect::<Vec<_>>().join(", ")
}

//! What a person may ask of the campaign besides how it is won: another part of the map, all stacks, the units of a hex with
//! their factors, the odds of an attack.

use std::fmt::Write;

use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Board, Ground, Hex, PlaceKind, Relief};
use dervish_env::dervish::catalogue::{GUNBOATS, Kind, LAND, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::rules::combat::CombatRole;
use dervish_env::game::{Action, Position};

use crate::map_text::{board_around, cohort_text, stacks_of_campaign, whole_board};

/// The questions, as the help tells them.
pub(crate) const QUESTIONS: &str = "b HEX draws the board around a hex, b all the whole map; s lists all stacks; i HEX tells of \
                                    a hex and its units; o gives the odds of the attacks in the list; HEX is a number such as \
                                    4606 or the name of a place\n";

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
        ("s" | "stacks", "") => Some(stacks_of_campaign(position)),
        ("o" | "odds", "") => match odds_of_campaign(position) {
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

/// The chances of each attack that can be ordered, or that the use of a leader is asked about, a line for each: who wins, and
/// the land units that each side loses on average.
pub(crate) fn odds_of_campaign(position: &Campaign) -> String {
    let mut text = String::new();
    let asked = [Decision::GroupOrder, Decision::LeaderMarching, Decision::LeaderDefending];
    if !asked.contains(&position.pending().decision) {
        return text;
    }
    let mut legal = Vec::new();
    position.legal_actions_into(&mut legal);
    for action in legal {
        if let Some(odds) = odds_after(position, action) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  odds of {}: {odds}", position.action_text(action));
        }
    }
    text
}

/// The odds of the combat that an order leads to; `None` if it leads to none.
fn odds_after(position: &Campaign, action: Action) -> Option<String> {
    let mut after = *position;
    after.apply(action).ok()?;
    let leaders = match after.pending().decision {
        Decision::LeaderMarching | Decision::LeaderDefending => " (without leaders whose use is still to be said)",
        Decision::RollFireMarching
        | Decision::RollFireDefending
        | Decision::RollMeleeMarching
        | Decision::RollMeleeDefending => "",
        _ => return None,
    };
    let combat = after.combat();
    let distribution = combat.distribution();
    let percent = |winner| 100.0 * distribution.probability(winner);
    let wins = CombatRole::BOTH.map(|role| format!("{} wins {:.1}%", combat.side(role).id(), percent(Some(role))));
    let losses = CombatRole::BOTH.map(|role| {
        let units = combat.combatant(role).force.count_of(LAND);
        let lost = distribution.share_destroyed(role) * f64::from(units);
        format!("{} {lost:.1} of {units}", combat.side(role).id())
    });
    let nobody = percent(None);
    Some(format!("{}, nobody {nobody:.1}%; units lost on average: {}{leaders}", wins.join(", "), losses.join(", ")))
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
        let _ = writeln!(text, "  {}: {}", cohort_text(*cohort), factors_text(position, cohort.kind()));
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

/// The numbers of a kind that are not 0, as they are in this game turn.
fn factors_text(position: &Campaign, kind: Kind) -> String {
    let catalogue = &position.scenario().catalogue;
    let data = catalogue.of(kind);
    let tests = LAND.or(GUNBOATS).has(kind);
    let class = tests.then(|| format!("class {}", catalogue.class_under(kind, position.events().poor_morale).id()));
    let factors = [
        ("melee", data.melee),
        ("fire", data.fire),
        ("gun", data.gun),
        ("cavalry", data.cavalry),
        ("movement", data.movement),
        ("carries", data.carries),
    ];
    let factors = factors.into_iter().filter(|(_, value)| *value > 0).map(|(name, value)| format!("{name} {value}"));
    class.into_iter().chain(factors).collect::<Vec<_>>().join(", ")
}

//! Positions for the tests of the rules: written as position files, played by notation and by dice.

use std::path::Path;

use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{Kind, Leader};
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::{Campaign, RULES_VERSION};
use dervish_env::game::{Action, Actor, Outcome, Position, Seat};
use serde_json::{Map, Value, json};

/// A position under play.
pub struct Table(pub Campaign);

/// The units of a stack: `"4 rifle_r, 2 levy disrupted, baker"`.
fn stack(hex: &str, text: &str) -> Value {
    let (mut units, mut leaders) = (Vec::new(), Vec::new());
    for item in text.split(", ") {
        let words: Vec<&str> = item.split(' ').collect();
        let Ok(count) = words[0].parse::<u8>() else {
            leaders.push(json!(words[0]));
            continue;
        };
        let mut unit = json!({"kind": words[1], "count": count});
        for word in &words[2..] {
            match *word {
                "disrupted" => unit["disrupted"] = json!(true),
                status => unit["status"] = json!(status),
            }
        }
        units.push(unit);
    }
    json!({"hex": hex, "units": units, "leaders": leaders})
}

impl Table {
    /// `when`: scenario, game turn from 1 on, side and phase (`"khartoum 1 mahdist event"`), whose start is set up;
    /// `more`: other fields of the position file.
    pub fn set(when: &str, stacks: &[(&str, &str)], more: Value) -> Table {
        let words: Vec<&str> = when.split(' ').collect();
        let mut file = json!({
            "format": 1,
            "game": "dervish",
            "rules_version": RULES_VERSION,
            "scenario": words[0],
            "turn": words[1].parse::<u8>().unwrap(),
            "active": words[2],
            "phase": words[3],
            "stacks": stacks.iter().map(|(hex, text)| stack(hex, text)).collect::<Vec<_>>(),
        });
        let more: Map<String, Value> = serde_json::from_value(more).unwrap();
        file.as_object_mut().unwrap().extend(more);
        let read = PositionFile::parse("test", &file.to_string(), Path::new(""));
        Table(read.unwrap_or_else(|faults| panic!("{faults:?}")).position)
    }

    /// Plays orders in notation.
    #[track_caller]
    pub fn play(&mut self, orders: &[&str]) -> &mut Table {
        for order in orders {
            let action = self.0.parse_action(order).unwrap_or_else(|error| panic!("{error}"));
            self.0.apply(action).unwrap();
        }
        self
    }

    /// Settles the pending roll.
    #[track_caller]
    pub fn roll(&mut self, outcome: u16) -> &mut Table {
        self.0.resolve(Outcome(outcome)).unwrap_or_else(|error| panic!("{error}: {}", self.0.pending_text()));
        self
    }

    /// The name of what is waited for.
    pub fn waits(&self) -> &'static str {
        self.0.pending_kind()
    }

    /// Who is to decide.
    pub fn decider(&self) -> Option<&'static str> {
        match self.0.actor() {
            Actor::Player(Seat::First) => Some("egyptian"),
            Actor::Player(_) => Some("mahdist"),
            _ => None,
        }
    }

    /// The legal orders in notation, sorted.
    pub fn legal(&self) -> Vec<String> {
        let mut actions: Vec<Action> = Vec::new();
        self.0.legal_actions_into(&mut actions);
        let mut texts: Vec<String> = actions.iter().map(|a| self.0.action_text(*a)).collect();
        texts.sort();
        texts
    }

    /// Whether an order in notation is legal.
    pub fn may(&self, order: &str) -> bool {
        self.0.parse_action(order).is_ok()
    }

    /// A hex by number or by the place in it.
    pub fn hex(&self, name: &str) -> Hex {
        let board = &self.0.scenario().board;
        board.place_named(name).map_or_else(|| Hex::parse(name).unwrap(), |p| board.places[usize::from(p.0)].hex)
    }

    /// What stands in a hex: `"4 rifle_r, 2 levy disrupted"`, status left out.
    pub fn units(&self, hex: &str) -> String {
        let mut counts: Vec<(Kind, bool, u32)> = Vec::new();
        for c in self.0.units().at(self.hex(hex)) {
            match counts.iter_mut().find(|(kind, disrupted, _)| (*kind, *disrupted) == (c.kind(), c.disrupted())) {
                Some((_, _, n)) => *n += u32::from(c.count()),
                None => counts.push((c.kind(), c.disrupted(), u32::from(c.count()))),
            }
        }
        counts.sort_by_key(|(kind, disrupted, _)| (*kind as u8, *disrupted));
        let text = |(kind, disrupted, n): &(Kind, bool, u32)| {
            format!("{n} {}{}", kind.id(), if *disrupted { " disrupted" } else { "" })
        };
        counts.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// Where a leader is; `"lost"` or `"away"` if he is not on the map.
    pub fn leader(&self, id: &str) -> String {
        let state = self.0.leader(Leader::from_id(id).unwrap());
        match (state.hex.is_some(), state.lost) {
            (true, _) => state.hex.to_string(),
            (false, true) => "lost".to_owned(),
            (false, false) => "away".to_owned(),
        }
    }

    /// A field of the position file.
    pub fn field(&self, name: &str) -> Value {
        let file = PositionFile { scenario: self.0.scenario().name.clone(), position: self.0 };
        let text: Value = serde_json::from_str(&file.text()).unwrap();
        text[name].clone()
    }

    /// The side that controls a place.
    pub fn controller(&self, place: &str) -> Option<&'static str> {
        self.0.controller(self.0.scenario().board.place_named(place).unwrap()).map(|side| side.id())
    }
}

//! The notation of orders and rolls: short texts that read back, one line each in records.
//!
//! `march 2417`, `march 2417 all`, `roll`, `to 2620`, `attack 2621`, `leader fire`, `retreat 2516`, `supply 1732 draw`.
//! A text is read by comparing it with those of the legal orders, so what is printed is what is understood.

use super::board::Hex;
use super::campaign::Campaign;
use super::catalogue::{Kind, Leader};
use super::decision::{Decision, Pending};
use super::order::Order;
use super::rules::group_pick::{FLAG_SUBJECT, line_text};

impl Campaign {
    /// The text of an order that answers the pending decision.
    pub fn order_text(&self, order: Order) -> String {
        let Pending { decision, hex, subject, .. } = self.pending;
        let answer = answer(order);
        match decision {
            Decision::SetupHex => format!("place {answer}"),
            Decision::SetupCount => format!("place {hex} {} {answer}", Kind::at(usize::from(subject)).id()),
            Decision::SetupLeader => format!("place {} {answer}", Leader::ALL[usize::from(subject)].id()),
            Decision::EventLeave => format!("field_force_leaves {answer}"),
            Decision::EventHex => format!("{} {answer}", self.event_word()),
            Decision::EventLine | Decision::EventCount => format!("{} {hex} {answer}", self.event_word()),
            Decision::LeaveHex => format!("leave {hex} {answer}"),
            Decision::ArriveHex => format!("arrive {answer}"),
            Decision::RailCount => format!("rail {answer}"),
            Decision::FlagRemove => format!("take_flag_off {answer}"),
            Decision::FlagHex => format!("flag {answer}"),
            Decision::RecruitHex => format!("recruit {answer}"),
            Decision::MarchHex => format!("march {answer}"),
            Decision::MarchPick => format!("march {hex} {answer}"),
            Decision::GroupCount => format!("take {} {answer}", line_text(subject)),
            Decision::GroupLeader => format!("take {} {answer}", passenger(subject)),
            Decision::GroupOrder => match order {
                Order::Hex(target) => format!("attack {target}"),
                _ => answer,
            },
            Decision::GroupHex | Decision::AloneHex => format!("to {answer}"),
            Decision::VesselKind => format!("sail {answer}"),
            Decision::VesselLoad => format!("load {answer}"),
            Decision::VesselLeader => format!("load {} {answer}", passenger(subject)),
            Decision::VesselFlag => format!("load flag {answer}"),
            Decision::VesselHex => format!("sail {answer}"),
            Decision::AloneLeader => format!("alone {answer}"),
            Decision::LeaderMarching | Decision::LeaderDefending => format!("leader {answer}"),
            Decision::RetreatHex => format!("retreat {answer}"),
            Decision::Advance => format!("advance {answer}"),
            Decision::SpoiltHex => format!("spoilt {answer}"),
            Decision::SupplyChoice => format!("supply {hex} {answer}"),
            _ => answer,
        }
    }

    fn event_word(&self) -> &'static str {
        self.events.current.map_or("event", super::tables::Event::id)
    }

    /// One line that says what is waited for.
    pub(crate) fn pending_line(&self) -> String {
        let Pending { decision, hex, subject, .. } = self.pending;
        let at = if hex.is_some() { format!(" at {}", self.place_text(hex)) } else { String::new() };
        match decision {
            Decision::None => "nothing".to_string(),
            Decision::Finished => "the game is over".to_string(),
            Decision::RollEvent => format!("event roll of the {} player (4.1)", self.active.id()),
            Decision::RollEventDie => format!("D6 for {} (4.4)", self.event_word()),
            Decision::RollEventDice => format!("2D6 for {} (4.4)", self.event_word()),
            Decision::RollGunboat => format!("roll for a gunboat{at} (9.11)"),
            Decision::RollEscape => format!("escape roll for {}{at} (6.2)", passenger(subject)),
            Decision::RollRecruits => {
                format!("recruits of {} (5.2)", self.scenario.board.districts[usize::from(subject)])
            }
            Decision::RollMarch => format!("march roll{at}, modifier {:+} (8.31)", self.march_modifier()),
            Decision::RollFireMarching => format!("the attackers of {} test under fire (9.3)", self.place_text(hex)),
            Decision::RollFireDefending => format!("the defenders of {} test under fire (9.3)", self.place_text(hex)),
            Decision::RollMeleeMarching => format!("the attackers of {} test in melee (9.3)", self.place_text(hex)),
            Decision::RollMeleeDefending => format!("the defenders of {} test in melee (9.3)", self.place_text(hex)),
            Decision::RollAttrition => {
                format!("attrition roll{at}, modifier {:+} (10.3)", self.attrition_modifier(hex))
            }
            Decision::RollRecovery => format!("recovery roll{at}, modifier {:+} (11.1)", self.recovery_modifier(hex)),
            Decision::SetupHex => "a hex to set up in (2.7)".to_string(),
            Decision::SetupCount => format!("how many {}{at} (2.7)", Kind::at(usize::from(subject)).id()),
            Decision::SetupLeader => format!("a hex for {} (2.7)", passenger(subject)),
            Decision::EventLeave => "does the field force leave? (4.3)".to_string(),
            Decision::EventHex => format!("a hex for {} (4.3, 4.4)", self.event_word()),
            Decision::EventLine => format!("a unit{at} for {} (4.3, 4.4)", self.event_word()),
            Decision::EventCount => format!("how many units{at} for {} (4.4)", self.event_word()),
            Decision::LeaveHex => format!("do the units{at} leave with the field force? (4.3)"),
            Decision::ArriveHex => "a hex for the reinforcements (5.1)".to_string(),
            Decision::RailCount => "how many hexes of railway to build (8.9)".to_string(),
            Decision::FlagRemove => format!("take the flag off{at}? (12.3)"),
            Decision::FlagHex => "where to show the flag (12.1)".to_string(),
            Decision::RecruitHex => "where the recruits gather (5.2)".to_string(),
            Decision::MarchHex => "a hex to march from, or done (8.1)".to_string(),
            Decision::MarchPick => format!("what to move{at} (8.1)"),
            Decision::GroupCount => format!("how many {}{at} join the group (8.1)", line_text(subject)),
            Decision::GroupLeader => format!("does {}{at} join the group? (8.1)", passenger(subject)),
            Decision::GroupOrder => format!("what the group{at} does (8.2, 8.5)"),
            Decision::GroupHex => format!("where the group{at} marches (8.2)"),
            Decision::VesselKind => format!("which vessel{at} sails (8.7)"),
            Decision::VesselLoad => format!("what the vessel{at} loads (8.7)"),
            Decision::VesselLeader => format!("does {}{at} go aboard? (8.7)", passenger(subject)),
            Decision::VesselFlag => format!("does the flag{at} go aboard? (8.7)"),
            Decision::VesselHex => format!("where the vessel{at} stops (8.7)"),
            Decision::AloneLeader => format!("which leader{at} goes alone (8.10)"),
            Decision::AloneHex => format!("where {}{at} goes (8.10)", passenger(subject)),
            Decision::LeaderMarching => format!("leader use of the attackers of {} (9.2)", self.place_text(hex)),
            Decision::LeaderDefending => format!("leader use of the defenders of {} (9.2)", self.place_text(hex)),
            Decision::RetreatHex => format!("where the loser{at} retreats (9.9)"),
            Decision::Advance => format!("does the group advance to {}? (9.9)", self.place_text(hex)),
            Decision::SpoiltHex => "the supply unit that spoilt biscuits cost (4.3)".to_string(),
            Decision::SupplyChoice => format!("draw on supply{at}, or roll (10.1)"),
        }
    }

    /// A hex with the name of the place in it.
    pub fn place_text(&self, hex: Hex) -> String {
        match self.scenario.board.place_at(hex) {
            Some(place) => format!("{hex} ({})", place.name),
            None => hex.to_string(),
        }
    }
}

/// The part of an order's text that answers the question.
fn answer(order: Order) -> String {
    match order {
        Order::Hex(hex) => hex.to_string(),
        Order::Count(n) => n.to_string(),
        Order::Line { kind, disrupted: false } => kind.id().to_string(),
        Order::Line { kind, disrupted: true } => format!("{} disrupted", kind.id()),
        Order::Leader(leader) => leader.id().to_string(),
        Order::Verb(verb) => verb.id().to_string(),
    }
}

/// Who is asked about by number: a leader or the flag.
fn passenger(subject: u8) -> &'static str {
    if subject == FLAG_SUBJECT { "flag" } else { Leader::ALL[usize::from(subject)].id() }
}

//! The scripted agent of the campaign: for each side one policy that a wargamer would respect.
//!
//! The Mahdist invests and starves garrisons, gathers before he charges, takes what is undefended and keeps away from
//! volleys; the Egyptian player keeps his garrisons fed, marches in columns with camels and supply, strikes where the
//! odds are good and refuses battle elsewhere. Every answer follows from scores of the legal orders in points of the
//! scenario's victory conditions, so the same policy plays any scenario.
//!
//! # Layout
//! * [`assessment`]: what is seen: stacks, hunger, danger; [`stakes`]: what places and units are worth; [`party`]: units
//!   looked at together.
//! * [`engagement`]: what a combat would bring, at a glance; [`battle`]: by the exact odds, where one is fought.
//! * [`travel`]: how far it is; [`patience`]: what is worth waiting for; [`mission`]: what a party is to do.
//! * [`march`]: the march phase; [`river`]: vessels and what they carry.
//! * [`mahdist`], [`egyptian`]: what only one side does.
//! * [`evaluation`]: the value of a position, for searches; [`policy`]: the agent's scores as their prior.
//! * [`weights`]: the numbers of all of these, from `data/doctrine.toml`.

pub mod assessment;
pub mod battle;
pub mod egyptian;
pub mod engagement;
pub mod evaluation;
pub mod mahdist;
pub mod march;
pub mod mission;
pub mod party;
pub mod patience;
pub mod policy;
pub mod river;
pub mod stakes;
pub mod travel;
pub mod weights;

use crate::agent::{Agent, AgentError, Choice};
use crate::doctrine::assessment::{Assessment, Desk};
use crate::doctrine::mission::{Notes, Planner};
use crate::doctrine::weights::Weights;
use crate::limits::Limits;
use crate::registry::{AgentOptions, Configure, OptionDoc, SpecError, in_spec};
use dervish_env::chance::SplitMix64;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, Kind, Side};
use dervish_env::dervish::decision::{Decision, Pending};
use dervish_env::dervish::order::{Order, Verb};
use dervish_env::dervish::rules::combat::CombatRole;
use dervish_env::dervish::tables::Event;
use dervish_env::game::{Action, Actor, Position};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::sync::Arc;

/// Scores that differ by less are equal; the seed decides.
const EQUAL: f32 = 1e-5;

/// The agent `doctrine`.
#[derive(Clone, Debug)]
pub struct Doctrine {
    weights: Arc<Weights>,
    /// Where the weights come from, if not with the program.
    weights_file: Option<String>,
    seed: u64,
    /// Names the game's stream of ties.
    stream: u64,
    desk: Option<Desk>,
    notes: Notes,
    actions: Vec<Action>,
    scored: Vec<(Action, f32)>,
    bytes: Vec<u8>,
}

impl Default for Doctrine {
    fn default() -> Doctrine {
        Doctrine::with_weights(Weights::builtin().clone())
    }
}

impl Doctrine {
    /// The agent with weights of one's own.
    pub fn with_weights(weights: Weights) -> Doctrine {
        Doctrine {
            notes: Notes::new(&weights),
            weights: Arc::new(weights),
            weights_file: None,
            seed: 0,
            stream: 0,
            desk: None,
            actions: Vec::new(),
            scored: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Clears `scored` and fills it with the legal actions of a position that waits for a player and their scores, in
    /// points of the scenario; only differences between scores of one position mean anything, and only the best is
    /// worked out in full: others may be worth more than they are given, if less than the best.
    pub fn score_into(&mut self, position: &Campaign, scored: &mut Vec<(Action, f32)>) {
        scored.clear();
        let Actor::Player(seat) = position.actor() else { return };
        position.legal_actions_into(&mut self.actions);
        let desk = self.desk.take().unwrap_or_default();
        let assessment = Assessment::new(position, &self.weights, Side::of_seat(seat), desk);
        Planner::new(&assessment, &mut self.notes).score_into(&self.actions, scored);
        self.desk = Some(assessment.into_desk());
    }

    /// One of so many equally good answers to a position: always the same one in a game, whatever was asked before.
    fn break_tie(&mut self, position: &Campaign, answers: usize) -> usize {
        self.bytes.clear();
        position.write_bytes(&mut self.bytes);
        let (words, rest) = self.bytes.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain(rest.iter().map(|byte| u64::from(*byte)));
        let key = words.fold(self.stream, |key, word| SplitMix64::new(key ^ word).next_u64());
        SplitMix64::new(key).below(answers)
    }
}

impl Agent<Campaign> for Doctrine {
    fn spec(&self) -> String {
        match &self.weights_file {
            Some(file) => format!("doctrine:seed={},weights={}", self.seed, in_spec(file)),
            None => format!("doctrine:seed={}", self.seed),
        }
    }

    fn fingerprint(&self) -> Option<String> {
        // The weights of the program are named by its version.
        self.weights_file.as_ref().map(|_| self.weights.fingerprint())
    }

    fn new_game(&mut self, mut rng: ChaCha8Rng) {
        rng.set_stream(self.seed);
        self.stream = rng.next_u64();
    }

    fn choose(&mut self, position: &Campaign, _limits: &Limits) -> Result<Choice, AgentError> {
        let mut scored = std::mem::take(&mut self.scored);
        self.score_into(position, &mut scored);
        let best = scored.iter().map(|(_, score)| *score).fold(f32::MIN, f32::max);
        scored.retain(|(_, score)| *score >= best - EQUAL);
        let choice = match scored[..] {
            [] => Err(AgentError::NotToAct { agent: self.spec(), pending: position.pending_text() }),
            [(only, _)] => Ok(Choice::plain(only)),
            _ => Ok(Choice::plain(scored[self.break_tie(position, scored.len())].0)),
        };
        self.scored = scored;
        choice
    }
}

impl Configure<Campaign> for Doctrine {
    const NAME: &'static str = "doctrine";
    const SUMMARY: &'static str = "scripted, one policy for each side that a wargamer would respect";
    const OPTIONS: &'static [OptionDoc] = &[
        OptionDoc { name: "seed", default: "0", meaning: "which random stream of the game breaks ties" },
        OptionDoc { name: "weights", default: "", meaning: "file of weights; empty: those of the program" },
    ];

    fn configure(&self, options: &AgentOptions) -> Result<Doctrine, SpecError> {
        let mut configured = Doctrine { seed: options.number("seed", 0, 0..=u64::MAX)?, ..self.clone() };
        if let Some(file) = options.text("weights").filter(|file| !file.is_empty()) {
            let read = Weights::read(Path::new(file));
            let weights =
                read.map_err(|error| SpecError::Unavailable { agent: Self::NAME, reason: error.to_string() })?;
            configured.notes = Notes::new(&weights);
            configured.desk = None;
            configured.weights = Arc::new(weights);
            configured.weights_file = Some(file.to_string());
        }
        Ok(configured)
    }
}

impl Planner<'_, '_> {
    fn score_into(&mut self, actions: &[Action], scored: &mut Vec<(Action, f32)>) {
        let decision = self.assessment.position.pending().decision;
        if decision == Decision::MarchHex {
            scored.extend(actions.iter().map(|action| (*action, 0.0)));
            return self.score_march_hexes(scored);
        }
        let wanted = self.wanted();
        let group = (decision == Decision::GroupOrder).then(|| self.group_view());
        for &action in actions {
            let Some(order) = Order::of(action) else { continue };
            let score = match (wanted, &group) {
                (Some(wanted), _) => -distance(wanted, order),
                (None, Some(group)) => self.group_order_score(order, group),
                (None, None) => self.score(order),
            };
            scored.push((action, score));
        }
    }

    /// The order that the plan asks for, where it asks for one.
    fn wanted(&mut self) -> Option<Order> {
        let Pending { decision, hex, subject, amount } = self.assessment.position.pending();
        let yes = |yes: bool| Order::Verb(if yes { Verb::Yes } else { Verb::No });
        Some(match decision {
            Decision::SetupCount => Order::Count(self.setup_count(hex, Kind::at(usize::from(subject)))),
            Decision::EventCount => Order::Count(self.locals_count(hex, amount)),
            Decision::EventLeave => yes(self.field_force_leaves()),
            Decision::LeaveHex => yes(self.leaves_with_field_force(hex)),
            Decision::FlagRemove => yes(false),
            Decision::RailCount => Order::Count(self.rail_count(hex)),
            Decision::MarchPick => Order::Verb(self.march_pick(hex)),
            Decision::GroupCount => Order::Count(self.group_count(hex, subject)),
            Decision::GroupLeader => yes(self.group_leader(hex)),
            Decision::GroupHex => Order::Hex(self.group_hex()),
            Decision::VesselLoad => self.vessel_load(hex),
            Decision::VesselLeader | Decision::VesselFlag => yes(false),
            _ => return None,
        })
    }

    fn score(&mut self, order: Order) -> f32 {
        let position = self.assessment.position;
        let pending = position.pending();
        let event = position.events().current;
        match (pending.decision, order) {
            (Decision::SetupHex, Order::Hex(hex)) => self.setup_score(hex),
            (Decision::SetupLeader | Decision::RecruitHex, Order::Hex(hex)) => self.gathering_score(hex),
            (Decision::EventHex, Order::Hex(hex)) => match (event, self.assessment.side) {
                (Some(event), Side::Mahdist) => self.mahdist_event_score(event, hex),
                (Some(event), Side::Egyptian) => self.egyptian_event_score(event, hex),
                (None, _) => 0.0,
            },
            (Decision::EventLine, Order::Line { kind, disrupted }) => self.line_score(kind, disrupted),
            (Decision::ArriveHex, Order::Hex(hex)) => self.arrival_score(hex),
            (Decision::FlagHex, Order::Hex(hex)) => self.flag_score(hex),
            (Decision::VesselKind, Order::Line { kind, .. }) => self.vessel_score(pending.hex, kind),
            (Decision::VesselHex, Order::Hex(hex)) => self.vessel_hex_score(hex),
            (Decision::AloneHex, Order::Hex(hex)) => self.alone_score(pending.hex, hex),
            (Decision::LeaderMarching, Order::Verb(verb)) => {
                battle::leader_score(self.assessment, CombatRole::Marching, verb)
            }
            (Decision::LeaderDefending, Order::Verb(verb)) => {
                battle::leader_score(self.assessment, CombatRole::Defending, verb)
            }
            (Decision::RetreatHex, Order::Hex(hex)) => self.retreat_score(hex),
            (Decision::Advance, Order::Verb(verb)) => self.advance_score(verb),
            (Decision::SpoiltHex, Order::Hex(hex)) => self.spoilt_score(hex),
            (Decision::SupplyChoice, Order::Verb(Verb::Draw)) => self.draw_score(pending.hex),
            // Declining, rolling, ending: what the others are measured against.
            _ => 0.0,
        }
    }

    /// Points of a unit to name for an event: the enemy's best, one's own cheapest, the best to train.
    fn line_score(&self, kind: Kind, disrupted: bool) -> f32 {
        let a = self.assessment;
        let worth = a.unit_worth(kind) * if disrupted { 1.0 - a.weights.stakes.shaken } else { 1.0 };
        let trained = matches!(kind, Kind::Levy | Kind::RifleR);
        if kind.side() != a.side {
            worth + f32::from(u8::from(BRITISH_COMBAT.has(kind) || kind == Kind::BritishGunboat))
        } else if a.position.events().current == Some(Event::Training) {
            f32::from(u8::from(trained)) + f32::from(u8::from(kind == Kind::RifleR))
        } else {
            -worth
        }
    }
}

/// How far an order is from the one that is wanted: counts by their difference, everything else by being it.
fn distance(wanted: Order, order: Order) -> f32 {
    match (wanted, order) {
        (Order::Count(a), Order::Count(b)) => f32::from(a.abs_diff(b)),
        _ if wanted == order => 0.0,
        _ => 1.0,
    }
}

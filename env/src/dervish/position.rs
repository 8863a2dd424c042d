//! The campaign as a [`Position`] of the framework.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::campaign::{BattleStage, Campaign, Favour, GroupKind};
use super::catalogue::Side;
use super::decision::{Decision, Pending};
use super::order::{ACTIONS, Order};
use super::rules::readings::MOST_THROWS;
use crate::game::{
    Action, Actor, GameIdentity, GameResult, IllegalMove, MergedOutcome, Outcome, Position, RollKey, Seat,
    WeightedOutcome,
};

/// Version of the rules as implemented; raised whenever play changes for the same data.
pub const RULES_VERSION: u32 = 3;

impl Position for Campaign {
    const ACTIONS: usize = ACTIONS;
    const MAX_DECISIONS: usize = 200_000;

    fn identity(&self) -> GameIdentity {
        GameIdentity {
            game: "dervish".to_string(),
            rules_version: RULES_VERSION,
            rules_hash: self.scenario.hash.clone(),
            scenario: self.scenario.name.clone(),
        }
    }

    fn seat_name(seat: Seat) -> &'static str {
        Side::of_seat(seat).id()
    }

    #[inline]
    fn actor(&self) -> Actor {
        match self.pending.decision {
            Decision::Finished => Actor::Finished,
            decision if decision.is_roll() => Actor::Chance,
            _ => Actor::Player(self.decider().seat()),
        }
    }

    fn legal_actions_into(&self, actions: &mut Vec<Action>) {
        actions.clear();
        let _ = self.options(&mut |order| {
            actions.push(order.action());
            std::ops::ControlFlow::Continue(())
        });
    }

    fn is_legal(&self, action: Action) -> bool {
        Order::of(action).is_some_and(|order| self.order_legal(order))
    }

    fn apply_legal(&mut self, action: Action) {
        debug_assert!(self.is_legal(action), "{action:?} is not legal: {}", self.pending_line());
        if let Some(order) = Order::of(action) {
            self.obey(order);
            self.settle();
        }
    }

    fn chance_outcomes_into(&self, outcomes: &mut Vec<WeightedOutcome>) {
        match self.pending.decision.dice() {
            Some(dice) => dice.outcomes_into(outcomes),
            None => outcomes.clear(),
        }
    }

    fn chance_total(&self) -> u32 {
        self.pending.decision.dice().map_or(0, |dice| dice.total())
    }

    fn roll_key(&self) -> RollKey {
        RollKey(self.roll_number())
    }

    fn resolve_possible(&mut self, outcome: Outcome) {
        self.take_roll(outcome.0);
        self.settle();
    }

    /// A whole combat, from its first test on, or any other single roll of which several throws lead to the same position.
    ///
    /// Endings of a combat that differ in losses lead to different positions, but where what is left of the loser may be taken
    /// prisoner: there they are merged once more by where they lead.
    fn merged_outcomes_into(&self, merged: &mut Vec<MergedOutcome>) -> bool {
        merged.clear();
        if !self.pending.decision.is_roll() {
            return false;
        }
        if self.battle.stage != BattleStage::Tests {
            return self.merge_throws(merged);
        }
        if self.battle.dice != [0; 4] {
            return false;
        }
        let mut known = self.may_take_prisoners().then(|| (FxHashMap::default(), Vec::new()));
        self.combat().with_distribution(|distribution| {
            for ending in distribution.endings() {
                let at = match &mut known {
                    None => merged.len(),
                    Some((known, buffer)) => {
                        let mut end = *self;
                        end.battle.dice = ending.dice;
                        end.pending = Pending::NONE;
                        end.settle();
                        *known.entry(end.key_with(buffer)).or_insert(merged.len())
                    }
                };
                if at == merged.len() {
                    let rolls = ending.dice.iter().filter(|die| **die > 0).map(|die| Outcome(u16::from(*die)));
                    merged.push(MergedOutcome { weight: 0, rolls: rolls.collect() });
                }
                merged[at].weight += ending.weight;
            }
        });
        true
    }

    fn result(&self) -> Option<GameResult> {
        (self.pending.decision == Decision::Finished)
            .then(|| GameResult { winner: self.winner.map(Side::seat), margin: self.margin() })
    }

    fn turn(&self) -> u32 {
        let second = self.active != self.scenario.first_player;
        2 * u32::from(self.turn) + u32::from(second)
    }

    fn write_bytes(&self, bytes: &mut Vec<u8>) {
        let mut put = |values: &[u8]| bytes.extend_from_slice(values);
        let p = &self.pending;
        put(&[p.decision as u8, p.subject, p.amount]);
        put(&p.hex.0.to_le_bytes());
        put(&[self.turn, self.active as u8, self.phase as u8, self.stage]);
        put(&self.cursor.0.to_le_bytes());
        put(&(self.units.as_slice().len() as u16).to_le_bytes());
        for cohort in self.units.as_slice() {
            put(&cohort.bits().to_le_bytes());
        }
        for leader in &self.leaders {
            put(&leader.hex.0.to_le_bytes());
            put(&[u8::from(leader.lost) << 3 | u8::from(leader.grouped) << 2 | leader.status as u8]);
        }
        for side in 0..2 {
            put(&self.control[side].to_le_bytes());
            put(&self.eliminated[side].to_le_bytes());
            put(&[self.gunboats_lost[side], self.sinking[side]]);
        }
        put(&self.sinking_at.0.to_le_bytes());
        put(&self.arrived.to_le_bytes());
        for gunboat in &self.gunboats_out {
            put(&gunboat.hex.0.to_le_bytes());
            put(&[gunboat.returns, u8::from(gunboat.british)]);
        }
        let e = &self.events;
        put(&[self.railway, e.current.map_or(u8::MAX, |event| event as u8), e.amount]);
        let flags = [
            e.poor_morale,
            e.withdraw,
            e.dry_weather,
            e.good_harvest,
            e.religious_disagreement,
            e.poor_communications,
            e.spoilt_biscuits,
            e.landing,
            e.leaving,
            e.in_play,
        ];
        put(&flags.iter().enumerate().fold(0u16, |bits, (i, f)| bits | u16::from(*f) << i).to_le_bytes());
        debug_assert!(e.favour != Favour::None || !e.favoured.is_some());
        put(&e.favoured.0.to_le_bytes());
        put(&[e.favour as u8, e.war as u8, e.field_forces]);
        let g = &self.group;
        debug_assert!(g.kind != GroupKind::None || !g.hex.is_some());
        put(&[g.kind as u8, g.rolls, u8::from(g.failed) << 1 | u8::from(g.favoured)]);
        put(&g.hex.0.to_le_bytes());
        put(&g.came_from.0.to_le_bytes());
        let b = &self.battle;
        put(&[b.stage as u8, b.leader_use[0] as u8, b.leader_use[1] as u8]);
        put(&b.from.0.to_le_bytes());
        put(&b.target.0.to_le_bytes());
        put(&b.dice);
        put(&[b.winner.map_or(u8::MAX, |side| side as u8), b.guns_taken, b.rifles_taken]);
        put(&b.gunboats_hit);
        put(&self.escaping.to_le_bytes());
        put(&self.to_place);
        for hex in self.spent {
            put(&hex.0.to_le_bytes());
        }
        put(&[self.months_held, self.winner.map_or(u8::MAX, |side| side as u8)]);
    }

    fn action_text(&self, action: Action) -> String {
        Order::of(action).map_or_else(|| action.0.to_string(), |order| self.order_text(order))
    }

    fn parse_action(&self, text: &str) -> Result<Action, IllegalMove> {
        let words = |s: &str| s.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
        let wanted = words(text);
        let mut legal = Vec::new();
        self.legal_actions_into(&mut legal);
        legal.iter().copied().find(|a| words(&self.action_text(*a)) == wanted).ok_or_else(|| IllegalMove::NotLegal {
            action: format!("'{}'", text.trim()),
            reason: match legal.first() {
                Some(first) => format!(
                    "expected one of {} orders such as '{}' for {}",
                    legal.len(),
                    self.action_text(*first),
                    self.pending_line()
                ),
                None => format!("no player is to act: {}", self.pending_line()),
            },
        })
    }

    fn pending_text(&self) -> String {
        self.pending_line()
    }

    fn pending_kind(&self) -> &'static str {
        self.pending.decision.id()
    }
}

thread_local! {
    /// Room for what different throws make of a position.
    static MADE: RefCell<Vec<Campaign>> = const { RefCell::new(Vec::new()) };
}

impl Campaign {
    /// Merges the throws of the pending roll by what they make of the position. False, leaving `merged` empty, where each makes
    /// something else of it.
    fn merge_throws(&self, merged: &mut Vec<MergedOutcome>) -> bool {
        let throws = self.pending.decision.dice().map_or(&[][..], |dice| dice.outcomes());
        let readings = self.readings(throws);
        // Of equal positions the same follows, which need not be worked out; an event may make another position of which the
        // same follows.
        let by_what_follows = self.pending.decision.is_event_roll();
        let mut places = [0; MOST_THROWS];
        MADE.with_borrow_mut(|made| {
            made.clear();
            for (index, &(throw, weight)) in throws.iter().enumerate() {
                let like = readings.first_like(index);
                places[index] = if like < index {
                    places[like]
                } else {
                    let mut after = *self;
                    match by_what_follows {
                        true => after.resolve_possible(Outcome(throw)),
                        false => after.take_roll(throw),
                    }
                    made.iter().position(|known| *known == after).unwrap_or_else(|| {
                        made.push(after);
                        merged.push(MergedOutcome { weight: 0, rolls: vec![Outcome(throw)] });
                        merged.len() - 1
                    })
                };
                merged[places[index]].weight += u64::from(weight);
            }
        });
        let any = merged.len() < throws.len();
        if !any {
            merged.clear();
        }
        any
    }
}

//! The order of play (3): which decision or roll comes next, and what each answer does. Decisions with one option are
//! taken at once, so that nobody is asked what he cannot choose (3.3).

use std::ops::ControlFlow;

use super::board::Hex;
use super::campaign::{BattleStage, Campaign, GroupKind, Phase};
use super::catalogue::{BRITISH_COMBAT, LEADERS, Side};
use super::decision::{Decision, DiceKind, Pending};
use super::order::{Order, Verb};
use super::rules::march::Taken;
use crate::game::{Action, Outcome, Position, WeightedOutcome};

impl Campaign {
    /// Goes on until a player has a choice, a roll is due, or the game is over.
    pub(crate) fn settle(&mut self) {
        self.settle_telling(&mut |_, _| {});
    }

    /// The same; shows `told` each order that is taken by itself, before it is taken.
    fn settle_telling(&mut self, told: &mut impl FnMut(&Campaign, Order)) {
        loop {
            if self.pending.decision == Decision::None {
                self.next();
            } else if self.pending.decision == Decision::Finished || self.pending.decision.is_roll() {
                return;
            } else {
                match self.only_option() {
                    Some(order) => {
                        told(self, order);
                        self.obey(order);
                    }
                    None => return,
                }
            }
        }
    }

    /// Plays a legal action, and appends to `forced` the notation of each order without an alternative that is taken by
    /// itself after it (3.3).
    pub fn apply_telling(&mut self, action: Action, forced: &mut Vec<String>) {
        debug_assert!(self.is_legal(action), "{action:?} is not legal: {}", self.pending_text());
        if let Some(order) = Order::of(action) {
            self.obey(order);
            self.settle_telling(&mut |position, order| forced.push(position.order_text(order)));
        }
    }

    /// Takes a possible roll, and appends to `forced` as [`Self::apply_telling`].
    pub fn resolve_telling(&mut self, outcome: Outcome, forced: &mut Vec<String>) {
        self.take_roll(outcome.0);
        self.settle_telling(&mut |position, order| forced.push(position.order_text(order)));
    }

    /// Finds what comes next: rolls for losses first, then the combat, the group, the phase.
    pub(crate) fn next(&mut self) {
        if let Some(roll) = self.next_loss_roll() {
            self.pending = roll;
        } else if self.battle.stage != BattleStage::None {
            self.next_battle();
        } else if self.sudden_death() {
            self.finish();
        } else if self.group.kind == GroupKind::March {
            self.pending = Pending::at(Decision::GroupOrder, self.group.hex);
        } else {
            match self.phase {
                Phase::Setup => self.next_setup(),
                Phase::Event => self.next_event(),
                Phase::Reinforcement => self.next_reinforcement(),
                Phase::March => self.pending = Pending::of(Decision::MarchHex),
                Phase::Supply => self.next_supply(),
                Phase::Recovery => self.next_recovery(),
            }
        }
    }

    pub(crate) fn begin_phase(&mut self, phase: Phase) {
        if self.phase == Phase::March {
            self.end_march_phase();
        }
        self.phase = phase;
        self.stage = 0;
        self.cursor = Hex::NONE;
        // A field force is in play until no British combat unit is on the extension (13.9).
        self.events.in_play = self.events.in_play
            && self.stacks(Side::Egyptian, BRITISH_COMBAT).any(|h| self.scenario.board.cell(h).extension);
    }

    pub(crate) fn begin_player_turn(&mut self, side: Side) {
        self.active = side;
        self.begin_phase(Phase::Event);
    }

    /// What lasts for a player turn ends; then the other player, or the end of the game turn (3.1).
    pub(crate) fn end_player_turn(&mut self) {
        self.events = self.events.of_game();
        self.stage = 0;
        self.cursor = Hex::NONE;
        if self.active == self.scenario.first_player {
            self.begin_player_turn(self.active.other());
            return;
        }
        self.events.poor_morale = false;
        if !self.check_victory() {
            self.turn += 1;
            self.begin_player_turn(self.scenario.first_player);
        }
    }

    /// Whose decision is pending; meaningless for rolls.
    pub fn decider(&self) -> Side {
        match self.pending.decision {
            Decision::SetupHex | Decision::SetupCount | Decision::SetupLeader => Side::Mahdist,
            Decision::EventHex | Decision::EventLine | Decision::EventCount => self.event_decider(),
            Decision::LeaderDefending => self.active.other(),
            Decision::RetreatHex => self.battle.winner.map_or(self.active, Side::other),
            _ => self.active,
        }
    }

    /// The option of the pending decision if it has just one.
    fn only_option(&self) -> Option<Order> {
        // Where the answer is known without working out every option, it saves doing that twice.
        match self.pending.decision {
            Decision::GroupHex if self.group_has_a_way() => return None,
            Decision::GroupHex => return Some(Order::Hex(self.group.hex)),
            _ => {}
        }
        let mut only = None;
        let mut count = 0;
        let _ = self.options(&mut |order| {
            count += 1;
            only = Some(order);
            if count > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        debug_assert!(
            count > 0,
            "no option for {:?}: {:?}, {:?}",
            self.pending,
            self.group,
            self.units.at(self.pending.hex)
        );
        if count == 1 { only } else { None }
    }

    /// Gives every option of the pending decision, in a stable order, until `take` has seen enough.
    pub(crate) fn options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        match self.pending.decision {
            Decision::SetupHex => self.setup_hex_options(take),
            Decision::SetupCount => self.setup_count_options(take),
            Decision::SetupLeader => self.setup_leader_options(take),
            Decision::EventHex => self.event_hex_options(take),
            Decision::EventLine => self.event_line_options(take),
            Decision::EventCount => self.event_count_options(take),
            Decision::ArriveHex => self.arrive_hex_options(take),
            Decision::RailCount => self.rail_count_options(take),
            Decision::FlagHex => self.flag_hex_options(take),
            Decision::RecruitHex => self.recruit_hex_options(take),
            Decision::MarchHex => self.march_hex_options(take),
            Decision::MarchPick => self.march_pick_options(take),
            Decision::GroupCount => self.group_count_options(take),
            Decision::GroupLeader => self.group_leader_options(take),
            Decision::GroupOrder => self.group_order_options(take),
            Decision::GroupHex => self.group_hex_options(take),
            Decision::VesselKind => self.vessel_kind_options(take),
            Decision::VesselLoad => self.vessel_load_options(take),
            Decision::VesselHex => self.vessel_hex_options(take),
            Decision::AloneLeader => self.alone_leader_options(take),
            Decision::AloneHex => self.alone_hex_options(take),
            Decision::RetreatHex => self.retreat_options(take),
            Decision::SpoiltHex => self.spoilt_hex_options(take),
            Decision::EventLeave
            | Decision::LeaveHex
            | Decision::FlagRemove
            | Decision::VesselLeader
            | Decision::VesselFlag
            | Decision::Advance => {
                take(Order::Verb(Verb::Yes))?;
                take(Order::Verb(Verb::No))
            }
            Decision::LeaderMarching | Decision::LeaderDefending => {
                take(Order::Verb(Verb::Fire))?;
                take(Order::Verb(Verb::Melee))?;
                take(Order::Verb(Verb::Unused))
            }
            Decision::SupplyChoice => {
                take(Order::Verb(Verb::Draw))?;
                take(Order::Verb(Verb::Roll))
            }
            _ => Taken::Continue(()),
        }
    }

    /// Whether an order answers the pending decision legally: by rule, not by listing the options.
    pub(crate) fn order_legal(&self, order: Order) -> bool {
        use Decision as D;
        match (self.pending.decision, order) {
            (D::SetupHex, Order::Hex(hex)) => self.setup_hex_legal(hex),
            (D::SetupCount, Order::Count(n)) => self.setup_count_legal(n),
            (D::SetupLeader, Order::Hex(hex)) => self.setup_leader_legal(hex),
            (D::EventHex, order) => self.event_hex_legal(order),
            (D::EventLine, Order::Line { kind, disrupted }) => self.event_line_legal(kind, disrupted),
            (D::EventCount, Order::Count(n)) => self.event_count_legal(n),
            (D::ArriveHex, Order::Hex(hex)) => self.arrive_hex_legal(hex),
            (D::RailCount, Order::Count(n)) => self.rail_count_legal(n),
            (D::FlagHex, order) => self.flag_hex_legal(order),
            (D::RecruitHex, Order::Hex(hex)) => self.scenario.board.is_land(hex) && self.recruit_hex_legal(hex),
            (D::MarchHex, Order::Hex(hex)) => self.march_hex_legal(hex),
            (D::MarchHex, order) => order == Order::Verb(Verb::Done),
            (D::MarchPick, Order::Verb(verb)) => self.march_pick_legal(verb),
            (D::GroupCount, Order::Count(n)) => self.group_count_legal(n),
            (D::GroupLeader, Order::Verb(verb)) => self.group_leader_legal(verb),
            (D::GroupOrder, order) => self.group_order_legal(order),
            (D::GroupHex, Order::Hex(hex)) => self.group_hex_legal(hex),
            (D::VesselKind, Order::Line { kind, disrupted }) => self.vessel_kind_legal(kind, disrupted),
            (D::VesselLoad, Order::Line { kind, disrupted }) => self.vessel_load_legal(kind, disrupted),
            (D::VesselLoad, order) => order == Order::Verb(Verb::Done),
            (D::VesselHex, Order::Hex(hex)) => self.vessel_hex_legal(hex),
            (D::AloneLeader, Order::Leader(leader)) => self.alone_leader_legal(leader),
            (D::AloneHex, Order::Hex(hex)) => self.alone_hex_legal(hex),
            (D::RetreatHex, Order::Hex(hex)) => self.retreat_legal(hex),
            (D::SpoiltHex, Order::Hex(hex)) => self.spoilt_hex_legal(hex),
            (
                D::EventLeave | D::LeaveHex | D::FlagRemove | D::VesselLeader | D::VesselFlag | D::Advance,
                Order::Verb(verb),
            ) => matches!(verb, Verb::Yes | Verb::No),
            (D::LeaderMarching | D::LeaderDefending, Order::Verb(verb)) => {
                matches!(verb, Verb::Fire | Verb::Melee | Verb::Unused)
            }
            (D::SupplyChoice, Order::Verb(verb)) => matches!(verb, Verb::Draw | Verb::Roll),
            _ => false,
        }
    }

    /// Does what a legal order says; [`Self::settle`] then finds what comes next.
    pub(crate) fn obey(&mut self, order: Order) {
        use Decision as D;
        match (self.pending.decision, order) {
            (D::SetupHex, Order::Hex(hex)) => self.obey_setup_hex(hex),
            (D::SetupCount, Order::Count(n)) => self.obey_setup_count(n),
            (D::SetupLeader, Order::Hex(hex)) => self.obey_setup_leader(hex),
            (D::EventLeave, order) => {
                self.pending = Pending::NONE;
                self.events.leaving = order == Order::Verb(Verb::Yes);
            }
            (D::EventHex, order) => self.obey_event_hex(order),
            (D::EventLine, Order::Line { kind, disrupted }) => self.obey_event_line(kind, disrupted),
            (D::EventCount, Order::Count(n)) => self.obey_event_count(n),
            (D::LeaveHex, Order::Verb(verb)) => self.obey_leave_hex(verb),
            (D::ArriveHex, Order::Hex(hex)) => self.obey_arrive_hex(hex),
            (D::RailCount, Order::Count(n)) => self.obey_rail_count(n),
            (D::FlagRemove, Order::Verb(verb)) => self.obey_flag_remove(verb),
            (D::FlagHex, order) => self.obey_flag_hex(order),
            (D::RecruitHex, Order::Hex(hex)) => self.obey_recruit_hex(hex),
            (D::MarchHex, Order::Hex(hex)) => self.pending = Pending::at(D::MarchPick, hex),
            (D::MarchHex, _) => {
                self.pending = Pending::NONE;
                self.begin_phase(Phase::Supply);
            }
            (D::MarchPick, Order::Verb(verb)) => self.obey_march_pick(verb),
            (D::GroupCount, Order::Count(n)) => self.obey_group_count(n),
            (D::GroupLeader, Order::Verb(verb)) => self.obey_group_leader(verb),
            (D::GroupOrder, order) => self.obey_group_order(order),
            (D::GroupHex, Order::Hex(hex)) => self.obey_group_hex(hex),
            (D::VesselKind, Order::Line { kind, .. }) => self.obey_vessel_kind(kind),
            (D::VesselLoad, order) => self.obey_vessel_load(order),
            (D::VesselLeader, Order::Verb(verb)) => self.obey_vessel_leader(verb),
            (D::VesselFlag, Order::Verb(verb)) => self.obey_vessel_flag(verb),
            (D::VesselHex, Order::Hex(hex)) => self.obey_vessel_hex(hex),
            (D::AloneLeader, Order::Leader(leader)) => self.obey_alone_leader(leader),
            (D::AloneHex, Order::Hex(hex)) => self.obey_alone_hex(hex),
            (D::LeaderMarching | D::LeaderDefending, Order::Verb(verb)) => self.obey_leader_use(verb),
            (D::RetreatHex, Order::Hex(hex)) => self.obey_retreat(hex),
            (D::Advance, Order::Verb(verb)) => self.obey_advance(verb),
            (D::SpoiltHex, Order::Hex(hex)) => self.obey_spoilt_hex(hex),
            (D::SupplyChoice, Order::Verb(verb)) => self.obey_supply_choice(verb),
            (decision, order) => debug_assert!(false, "{order:?} does not answer {decision:?}"),
        }
    }

    /// Does what a roll says; [`Self::settle`] then finds what comes next.
    pub(crate) fn take_roll(&mut self, outcome: u16) {
        match self.pending.decision {
            Decision::RollEvent => self.resolve_event(outcome),
            Decision::RollEventDie => self.resolve_event_die(outcome),
            Decision::RollEventDice => self.resolve_event_dice(outcome),
            Decision::RollGunboat => self.resolve_gunboat(outcome),
            Decision::RollEscape => self.resolve_escape(outcome),
            Decision::RollRecruits => self.resolve_recruits(outcome),
            Decision::RollMarch => self.resolve_march(outcome),
            Decision::RollFireMarching
            | Decision::RollFireDefending
            | Decision::RollMeleeMarching
            | Decision::RollMeleeDefending => self.resolve_test(outcome),
            Decision::RollAttrition => self.resolve_attrition(outcome),
            Decision::RollRecovery => self.resolve_recovery(outcome),
            decision => debug_assert!(false, "no roll is due but {decision:?}"),
        }
    }

    /// What keys the dice of the pending roll: turn, side whose turn it is, rule, and hex, leader or district.
    pub(crate) fn roll_number(&self) -> u64 {
        let place = if self.pending.hex.is_some() {
            u64::from(self.pending.hex.0)
        } else {
            4096 + u64::from(self.pending.subject)
        };
        let subject = match self.pending.decision {
            Decision::RollEscape | Decision::RollGunboat => u64::from(self.pending.subject),
            _ => 0,
        };
        u64::from(self.turn) << 40
            | (self.active as u64) << 39
            | u64::from(self.pending.decision.rule()) << 24
            | subject << 16
            | place
    }
}

impl DiceKind {
    /// The outcomes in ascending order, with the number of throws that give each.
    pub const fn outcomes(self) -> &'static [(u16, u32)] {
        match self {
            DiceKind::D6 => &[(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1)],
            DiceKind::TwoD6 => {
                &[(2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6), (8, 5), (9, 4), (10, 3), (11, 2), (12, 1)]
            }
            DiceKind::D66 => &[
                (11, 3),
                (14, 3),
                (21, 3),
                (24, 3),
                (31, 3),
                (34, 3),
                (41, 3),
                (44, 3),
                (51, 3),
                (54, 3),
                (61, 3),
                (64, 3),
            ],
            DiceKind::TwoD6Doubles => {
                &[(0, 6), (3, 2), (4, 2), (5, 4), (6, 4), (7, 6), (8, 4), (9, 4), (10, 2), (11, 2)]
            }
        }
    }

    /// Sum of the weights: 6 or 36.
    pub const fn total(self) -> u32 {
        match self {
            DiceKind::D6 => 6,
            DiceKind::TwoD6 | DiceKind::D66 | DiceKind::TwoD6Doubles => 36,
        }
    }

    /// Clears `out` and fills it with the outcomes.
    pub(crate) fn outcomes_into(self, out: &mut Vec<WeightedOutcome>) {
        out.clear();
        out.extend(
            self.outcomes()
                .iter()
                .map(|(outcome, weight)| WeightedOutcome { outcome: crate::game::Outcome(*outcome), weight: *weight }),
        );
    }
}

const _: () = assert!(LEADERS <= 16, "leaders who escape are bits of a u16");

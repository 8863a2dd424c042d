//! Whether what is pending is what the rules ask in a position, and how far its phase has come then.

use super::board::Hex;
use super::campaign::{Battle, BattleStage, Campaign, Group, GroupKind, Phase, War};
use super::catalogue::{COMBAT, Kind, LAND, Leader, Side};
use super::decision::{Decision, Pending};
use super::order::Order;
use super::rules::combat::{LeaderUse, Test};
use super::rules::fight::test_decision;
use super::rules::group_pick::{FLAG_SUBJECT, line};
use super::rules::{reinforcements, supply};
use super::tables::Event;
use super::units::Status;

/// Most recruits of a district: a 6 less 3, the Mahdi, a town (5.2).
const MOST_RECRUITS: u8 = 5;
/// Stage of an event phase whose event is rolled or resolved.
const EVENT_STAGE: u8 = 1;
/// Stage of an event phase whose event is over.
const AFTER_EVENT: u8 = 2;

type Placed = Result<(), String>;

fn ensure(holds: bool, reason: &str) -> Placed {
    if holds { Ok(()) } else { Err(reason.to_owned()) }
}

impl Campaign {
    /// The position with the progress of its phase and combat (`stage`, `cursor`, `battle.stage`) as they are when the
    /// pending decision is asked or the pending roll due. Set-up keeps its region, and a reinforcement phase that a roll
    /// for losses interrupts keeps its place; everything else is found here.
    ///
    /// # Errors
    /// Why the rules do not ask it in this position.
    pub(super) fn placed(&self) -> Result<Campaign, String> {
        let decision = self.pending.decision;
        let mut placed = *self;
        self.fits_phase()?;
        self.fits_group()?;
        if let Some((stage, cursor)) = self.asked_from() {
            self.asked_again(&mut placed, stage, cursor)?;
        } else {
            if self.phase == Phase::Event {
                placed.stage = EVENT_STAGE;
            }
            self.fits_itself(&mut placed)?;
        }
        if !decision.is_roll() && decision != Decision::Finished {
            let mut count = 0;
            let _ = placed.options(&mut |_| {
                count += 1;
                if count > 1 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
            });
            ensure(count > 1, &format!("`{}` has {count} answers here; nobody is asked", decision.id()))?;
        }
        Ok(placed)
    }

    /// Name and hex of what is pending, which unlike [`Self::pending_line`] trusts nothing.
    pub(super) fn pending_text_short(&self) -> String {
        let Pending { decision, hex, .. } = self.pending;
        if hex.is_some() { format!("`{}` at {hex}", decision.id()) } else { format!("`{}`", decision.id()) }
    }

    fn fits_phase(&self) -> Placed {
        use Decision as D;
        let decision = self.pending.decision;
        let phases: &[Phase] = match decision {
            D::None => &[],
            D::Finished => &Phase::ALL,
            D::SetupHex | D::SetupCount | D::SetupLeader => &[Phase::Setup],
            D::EventLeave
            | D::EventHex
            | D::EventLine
            | D::EventCount
            | D::RollEvent
            | D::RollEventDie
            | D::RollEventDice => &[Phase::Event],
            D::LeaveHex
            | D::ArriveHex
            | D::RailCount
            | D::FlagRemove
            | D::FlagHex
            | D::RecruitHex
            | D::RollRecruits => &[Phase::Reinforcement],
            D::SpoiltHex | D::SupplyChoice | D::RollAttrition => &[Phase::Supply],
            D::RollRecovery => &[Phase::Recovery],
            D::RollEscape => &[Phase::Event, Phase::Reinforcement, Phase::March],
            D::RollGunboat => &[Phase::Event, Phase::March],
            _ => &[Phase::March],
        };
        let name = decision.id();
        ensure(phases.contains(&self.phase), &format!("`{name}` does not come in this phase"))?;
        let losses = self.escaping != 0 || self.sinking != [0, 0];
        let for_losses = matches!(decision, D::RollEscape | D::RollGunboat);
        ensure(losses == for_losses, "leaders who escape and gunboats that sink roll before anything else")?;
        let for_event = for_losses
            || matches!(
                decision,
                D::EventHex | D::EventLine | D::EventCount | D::RollEventDie | D::RollEventDice | D::Finished
            );
        ensure(self.events.current.is_none() || for_event, &format!("an event is at hand, so that `{name}` cannot be"))
    }

    /// Which decisions a group or a combat must be there for, and which it must not.
    fn fits_group(&self) -> Placed {
        use Decision as D;
        let decision = self.pending.decision;
        let fights = self.in_battle();
        ensure(fights || self.battle == Battle::NONE, &format!("`{}` does not come in a combat", decision.id()))?;
        ensure(!fights || self.battle.from.is_some(), &format!("`{}` needs a combat", decision.id()))?;
        let kind = match decision {
            D::Finished => return Ok(()),
            D::RollEscape if fights => GroupKind::March,
            D::RollEscape => {
                let resting = self.group.rolls > 0 && self.group_is_fresh() && self.group_has_land();
                let may = self.group.kind == GroupKind::None || (self.group.kind == GroupKind::March && resting);
                return ensure(may, "leaders escape from a group that has moved");
            }
            D::GroupCount | D::GroupLeader | D::GroupOrder | D::GroupHex | D::RollMarch => GroupKind::March,
            D::VesselLoad | D::VesselLeader | D::VesselFlag | D::VesselHex => GroupKind::Vessel,
            _ if fights => GroupKind::March,
            _ => GroupKind::None,
        };
        let why = if kind == GroupKind::None { "comes when no group is under way" } else { "needs a group" };
        ensure(self.group.kind == kind, &format!("`{}` {why}", decision.id()))?;
        if matches!(decision, D::GroupOrder | D::GroupHex | D::RollMarch) {
            ensure(self.group_has_land(), "the group has no units")?;
            ensure(self.group.rolls == 0 || self.group_is_fresh(), "a group that has rolled is fresh (8.2)")?;
            ensure(!self.group_has_fought(), "a group that has attacked does nothing more (8.1)")?;
        }
        Ok(())
    }

    /// Whether what is pending is part of a combat.
    fn in_battle(&self) -> bool {
        use Decision as D;
        match self.pending.decision {
            D::RollGunboat => self.phase == Phase::March,
            // Leaders escape from those who retreat.
            D::RollEscape => self.battle != Battle::NONE,
            D::LeaderMarching
            | D::LeaderDefending
            | D::RollFireMarching
            | D::RollFireDefending
            | D::RollMeleeMarching
            | D::RollMeleeDefending
            | D::RetreatHex
            | D::Advance => true,
            _ => false,
        }
    }

    fn group_has_land(&self) -> bool {
        self.group_cohorts().any(|c| LAND.has(c.kind()))
    }

    fn group_has_fought(&self) -> bool {
        self.group_cohorts().any(|c| c.status() == Status::Fought)
            || Leader::ALL.into_iter().any(|l| {
                let state = &self.leaders[l.index()];
                state.grouped && state.status == Status::Fought
            })
    }

    /// For what the phase machine asks by itself: stage and cursor just before it does.
    fn asked_from(&self) -> Option<(u8, Hex)> {
        use Decision as D;
        use reinforcements::step;
        let Pending { decision, hex, subject, .. } = self.pending;
        // The cursor stands on the last hex, reinforcement or district dealt with.
        let before = if hex.is_some() && hex.0 > 0 { Hex(hex.0 - 1) } else { Hex::NONE };
        let numbered = if subject > 0 { Hex(u16::from(subject)) } else { Hex::NONE };
        Some(match decision {
            D::SetupHex | D::SetupLeader => (self.stage, Hex::NONE),
            D::RollEvent | D::MarchHex | D::GroupOrder => (0, Hex::NONE),
            D::EventLeave => (AFTER_EVENT, Hex::NONE),
            D::LeaveHex => (step::LEAVE_HEXES, before),
            D::ArriveHex => (step::ARRIVALS, numbered),
            D::RailCount => (step::RAIL, Hex::NONE),
            D::FlagRemove => (step::FLAG_OFF, Hex::NONE),
            D::FlagHex => (step::FLAG_ON, Hex::NONE),
            D::RollRecruits | D::RecruitHex => (step::RECRUITS, numbered),
            D::SpoiltHex => (supply::step::SPOILT, Hex::NONE),
            D::SupplyChoice | D::RollAttrition => (supply::step::STACKS, before),
            D::RollRecovery => (0, before),
            _ => return None,
        })
    }

    /// Lets the phase machine ask once more, and compares.
    fn asked_again(&self, placed: &mut Campaign, stage: u8, cursor: Hex) -> Placed {
        placed.pending = Pending::NONE;
        (placed.stage, placed.cursor) = (stage, cursor);
        placed.next();
        let wanted = self.pending;
        let asked = placed.pending;
        let follows = match wanted.decision {
            // The roll that the recruits come from, and the choice to roll for attrition, are behind.
            Decision::RecruitHex => {
                let open = (1..=MOST_RECRUITS.min(self.available(Kind::MahdistSpearmen))).contains(&wanted.amount);
                open && asked == Pending::of(Decision::RollRecruits).about(wanted.subject) && wanted.hex == asked.hex
            }
            Decision::RollAttrition => {
                wanted == Pending::at(Decision::RollAttrition, asked.hex)
                    && matches!(asked.decision, Decision::RollAttrition | Decision::SupplyChoice)
            }
            _ => wanted == asked,
        };
        if !follows {
            let instead = match asked.decision {
                Decision::None => "nothing".to_owned(),
                _ => placed.pending_text_short(),
            };
            return Err(format!("the rules do not ask {} here but {instead}", self.pending_text_short()));
        }
        placed.pending = wanted;
        Ok(())
    }

    /// Everything that is asked as a consequence of an order or a roll.
    fn fits_itself(&self, placed: &mut Campaign) -> Placed {
        use Decision as D;
        let Pending { decision, hex, subject, .. } = self.pending;
        let shape = |expected: Pending| {
            ensure(expected == self.pending, &format!("`{}` is about something else", decision.id()))
        };
        let needs_hex = !matches!(decision, D::Finished | D::EventHex | D::RollEventDie | D::RollEventDice);
        ensure(
            hex.is_some() == needs_hex,
            &format!("`{}` needs {} hex", decision.id(), if needs_hex { "a" } else { "no" }),
        )?;
        match decision {
            D::Finished => {
                shape(Pending::of(decision))?;
                let turn_over = self.phase == Phase::Recovery && self.active != self.scenario.first_player;
                ensure(self.sudden_death() || (turn_over && self.ends_with_turn()), "the game is not over")?;
                placed.stage = 0;
                Ok(())
            }
            D::SetupCount => self.fits_setup_count(),
            D::EventHex | D::EventLine | D::EventCount | D::RollEventDie | D::RollEventDice => self.fits_event(),
            D::RollEscape | D::RollGunboat => {
                let roll = self.next_loss_roll();
                ensure(roll == Some(self.pending), "gunboats roll first, then leaders in their order (9.11, 6.2)")?;
                if self.in_battle() { self.fits_battle(placed) } else { self.fits_interruption() }
            }
            D::MarchPick => {
                shape(Pending::at(decision, hex))?;
                ensure(self.march_hex_legal(hex), "nothing there can act (8.1)")
            }
            D::VesselKind | D::AloneLeader => shape(Pending::at(decision, hex)),
            D::AloneHex => {
                shape(Pending::at(decision, hex).about(subject))?;
                let mut before = *self;
                before.pending = Pending::at(D::AloneLeader, hex);
                ensure(before.alone_leader_legal(Leader::ALL[usize::from(subject)]), "he cannot go alone (8.10)")
            }
            D::GroupCount | D::GroupLeader => self.fits_pick(),
            D::RollMarch | D::GroupHex => {
                shape(Pending::at(decision, self.group.hex))?;
                let mut before = *self;
                before.group.rolls = self.group.rolls.saturating_sub(1);
                let may = self.group.rolls > 0 && before.group_order_legal(Order::Verb(super::order::Verb::Roll));
                ensure(may, "the group may not roll (8.2)")
            }
            D::VesselLoad | D::VesselLeader | D::VesselFlag | D::VesselHex => self.fits_vessel(),
            _ => self.fits_battle(placed),
        }
    }

    fn fits_setup_count(&self) -> Placed {
        let Pending { hex, subject, amount, .. } = self.pending;
        let place = usize::from(subject).checked_sub(Kind::MahdistSpearmen.index());
        let left = place.and_then(|i| self.to_place.get(i)).is_some_and(|n| *n > 0);
        ensure(left, "none of these units is to be placed")?;
        ensure(self.setup_hex_legal(hex), "the hex is not one to set up in (2.7)")?;
        let there = self.units.force(hex, Side::Mahdist, |_| true).count_of(COMBAT);
        ensure(u32::from(amount) <= there, "more are said to be placed than are there")
    }

    fn fits_event(&self) -> Placed {
        use Decision as D;
        let Pending { decision, hex, .. } = self.pending;
        let Some(event) = self.events.current else { return Err("no event is at hand".to_owned()) };
        let counted =
            matches!(event, Event::Desertion | Event::LocalsDeclare | Event::EthiopiaWar | Event::EthiopiaPeace);
        let amount = self.events.amount;
        let expected = match decision {
            D::RollEventDie | D::RollEventDice => Pending::of(decision),
            _ => Pending { decision, hex, subject: 0, amount },
        };
        ensure(expected == self.pending, "`amount` is that of `events`")?;
        match decision {
            D::RollEventDie => {
                let due = match event {
                    Event::Desertion => true,
                    Event::EthiopiaPeace => self.events.war == War::Over,
                    _ => false,
                };
                ensure(due && amount == 0, "this event rolls no D6 (4.4)")
            }
            D::RollEventDice => {
                let due = match event {
                    Event::EthiopiaWar => self.events.war == War::Now,
                    Event::EthiopiaPeace => self.events.war == War::Over,
                    event => event == Event::LocalsDeclare,
                };
                ensure(due && amount == 0, "this event rolls no 2D6 (4.4)")
            }
            D::EventHex => ensure(counted == (amount > 0), "the event has no such number of units to go"),
            D::EventCount => ensure(
                event == Event::LocalsDeclare && self.event_hex_legal(Order::Hex(hex)),
                "no units are placed there by this event (4.4)",
            ),
            _ => {
                let named = &self.scenario.named;
                let place = self.scenario.board.cell(hex).place;
                let object = match event {
                    Event::ElObeidShortage => place.is_some() && place == named.el_obeid,
                    Event::KhartoumShortage => place.is_some() && place == named.khartoum,
                    _ => self.event_hex_legal(Order::Hex(hex)),
                };
                ensure(object && counted == (amount > 0), "the event takes no unit there (4.3, 4.4)")
            }
        }
    }

    /// A reinforcement phase goes on behind an arrival or a district of its player.
    fn fits_interruption(&self) -> Placed {
        use reinforcements::step;
        if self.phase != Phase::Reinforcement {
            return Ok(());
        }
        let last = if self.cursor.is_some() { self.cursor.index() } else { 0 };
        let fits = match self.stage {
            step::ARRIVALS => last == 0 || self.scenario.reinforcements[last - 1].side == self.active,
            _ => last > 0 && self.active == Side::Mahdist,
        };
        ensure(fits, "`resume` names what the other player deals with")
    }

    /// A group that is being picked (8.1).
    fn fits_pick(&self) -> Placed {
        let Pending { decision, hex, subject, .. } = self.pending;
        ensure(self.pending == Pending::at(decision, hex).about(subject), "a pick has no amount")?;
        let picked = Group { kind: GroupKind::March, hex, ..Group::NONE };
        ensure(self.group == picked, "a group that is being picked has not rolled and is in that hex")?;
        ensure(!self.group_has_fought(), "who has attacked joins no group (8.1)")?;
        if decision == Decision::GroupCount {
            let open = self.units.at(hex).iter().any(|c| {
                c.side() == self.active
                    && LAND.has(c.kind())
                    && !c.grouped()
                    && c.status() != Status::Fought
                    && line(*c) == subject
            });
            return ensure(open, "no such units can join there");
        }
        ensure(self.completes(hex, u8::MAX), "the group can neither march nor attack (8.1)")?;
        self.fits_passenger(|status| status != Status::Fought)
    }

    /// The leader or flag that is asked about stands there, outside the group.
    fn fits_passenger(&self, may: impl Fn(Status) -> bool) -> Placed {
        let Pending { hex, subject, .. } = self.pending;
        let joins = if subject == FLAG_SUBJECT {
            let flag = |c: &super::units::Cohort| c.kind() == Kind::Flag && may(c.status()) && !c.grouped();
            self.active == Side::Egyptian && self.units.at(hex).iter().any(flag)
        } else {
            let leader = Leader::ALL[usize::from(subject)];
            let state = &self.leaders[leader.index()];
            leader.side() == self.active && state.hex == hex && may(state.status) && !state.grouped
        };
        ensure(joins, "he cannot go along")
    }

    /// A vessel that is about to sail (8.7).
    fn fits_vessel(&self) -> Placed {
        let Pending { decision, hex, subject, .. } = self.pending;
        ensure(hex == self.group.hex, "the vessel is in another hex")?;
        let (mut capacity, mut loaded) = (0, 0);
        for c in self.group_cohorts() {
            if LAND.has(c.kind()) {
                loaded += c.count();
            } else if c.kind() != Kind::Flag {
                capacity = self.scenario.catalogue.of(c.kind()).carries;
            }
        }
        let expected = match decision {
            Decision::VesselLoad => Pending::at(decision, hex).amount(capacity - loaded),
            Decision::VesselLeader => Pending::at(decision, hex).about(subject),
            _ => Pending::at(decision, hex),
        };
        ensure(expected == self.pending, "`amount` is the room left aboard")?;
        ensure(decision != Decision::VesselLoad || loaded < capacity, "the vessel is full")?;
        let mut sailing = *self;
        sailing.pending = Pending::at(Decision::VesselHex, hex);
        let anywhere = sailing.vessel_hex_options(&mut |_| std::ops::ControlFlow::Break(())).is_break();
        ensure(anywhere, "the vessel has nowhere to go")?;
        match decision {
            Decision::VesselLeader => self.fits_passenger(|status| status == Status::Fresh),
            Decision::VesselFlag => {
                let mut asked = *self;
                asked.pending = self.pending.about(FLAG_SUBJECT);
                asked.fits_passenger(|_| true)
            }
            _ => Ok(()),
        }
    }

    // ----- combat -----

    fn fits_battle(&self, placed: &mut Campaign) -> Placed {
        use Decision as D;
        let decision = self.pending.decision;
        placed.battle.stage = match decision {
            D::LeaderMarching => BattleStage::LeaderDefending,
            D::RetreatHex | D::RollEscape => BattleStage::Vessels,
            D::RollGunboat | D::Advance => BattleStage::Advance,
            _ => BattleStage::Tests,
        };
        let Battle { from, target, .. } = self.battle;
        let shared = self.scenario.board.cell(from).neighbours.iter().position(|n| *n == target);
        ensure(shared.is_some(), "a combat is between adjacent hexes (8.5)")?;
        match decision {
            D::RetreatHex | D::RollEscape | D::RollGunboat | D::Advance => self.fits_outcome(),
            _ => self.fits_tests(),
        }
    }

    /// Up to the last test.
    fn fits_tests(&self) -> Placed {
        use Decision as D;
        let decision = self.pending.decision;
        let battle = &self.battle;
        ensure(self.pending == Pending::at(decision, battle.target), "it is about the attacked hex")?;
        let attacks = battle.from == self.group.hex && self.group_order_legal(Order::Hex(battle.target));
        ensure(attacks, "the group cannot attack that hex (8.5)")?;
        ensure(!self.group_has_fought(), "who has attacked does not attack again (8.1)")?;
        let taken = (battle.guns_taken, battle.rifles_taken, battle.gunboats_hit);
        ensure(battle.winner.is_none() && taken == (0, 0, [0, 0]), "a combat is won and lost after its tests")?;
        let ratings = [
            self.tactical(battle.from, self.active, |l| l.grouped),
            self.tactical(battle.target, self.active.other(), |_| true),
        ];
        let open = match decision {
            D::LeaderMarching => 0,
            D::LeaderDefending => 1,
            _ => 2,
        };
        for (role, rating) in ratings.into_iter().enumerate() {
            let unused = battle.leader_use[role] == LeaderUse::None;
            ensure(unused || (role < open && rating > 0), "no leader is used there (9.2)")?;
        }
        if open < 2 {
            ensure(ratings[open] > 0, "no leader is there to use (9.2)")?;
            return ensure(battle.dice == [0; 4], "leader use is chosen before the first die (9.2)");
        }
        ensure(battle.dice.iter().all(|die| matches!(die, 0 | 2..=12)), "a test is 2 to 12")?;
        let combat = self.combat();
        let mut rolled = [0; 4];
        let mut next = combat.next_test(&rolled);
        while let Some(test) = next.filter(|test| battle.dice[*test as usize] > 0) {
            rolled[test as usize] = battle.dice[test as usize];
            next = combat.next_test(&rolled);
        }
        ensure(rolled == battle.dice, "a test was rolled that is not called for (9.3, 9.13)")?;
        let due = |test: Test| test_decision(test) == decision;
        ensure(next.is_some_and(due), "another test is called for (9.3, 9.13)")
    }

    /// After the tests: retreat, vessels, advance.
    fn fits_outcome(&self) -> Placed {
        use Decision as D;
        let Pending { decision, hex, .. } = self.pending;
        let battle = &self.battle;
        ensure(battle.dice == [0; 4] && battle.leader_use == [LeaderUse::None; 2], "the tests are over: no dice")?;
        let fought = self.group_cohorts().all(|c| c.status() == Status::Fought);
        ensure(fought, "the group has attacked: its units have `status` fought (8.5)")?;
        ensure(!self.enemy_in(battle.target, self.active.other()), "the attacked hex is not entered yet")?;
        if decision == D::RetreatHex {
            ensure(self.group.hex == battle.from, "the group stands where it attacked from")?;
            let Some((loser, start, _)) = self.retreat_ends() else { return Err("nobody has lost".to_owned()) };
            ensure(self.pending == Pending::at(decision, start), "the loser retreats from his hex")?;
            let marching = loser == self.active;
            let there =
                |c: &super::units::Cohort| c.side() == loser && LAND.has(c.kind()) && (!marching || c.grouped());
            ensure(self.units.at(start).iter().any(there), "nobody is left to retreat")?;
            return ensure(!(marching && self.controls_at(loser, start)), "he stays in his own place (9.9)");
        }
        if decision == D::RollEscape {
            return ensure(battle.winner.is_some(), "nobody has lost and retreated");
        }
        let taken = (battle.guns_taken, battle.rifles_taken, battle.gunboats_hit);
        ensure(taken == (0, 0, [0, 0]), "spoils are taken by now")?;
        if decision == D::RollGunboat {
            let lost_in = if self.active == Side::Egyptian { battle.from } else { battle.target };
            return ensure(hex == lost_in, "gunboats are hit in the Egyptian player's hex");
        }
        ensure(self.pending == Pending::at(decision, battle.target), "it is about the attacked hex")?;
        ensure(self.may_advance(), "the group may not advance (9.9)")
    }
}

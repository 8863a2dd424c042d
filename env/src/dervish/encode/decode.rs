//! The proof that the encoding is complete: a position rebuilt from its tokens, its globals and its scenario.
//!
//! Two different positions of a scenario therefore never look the same to a learner.

use super::columns::{DISRUPTIBLE_KINDS, HEX, SIXTY_FOURTHS, UNITS};
use super::globals::{ARRIVALS, EVENTS, OUT, TAKEN, event_flags, global, roles};
use super::tokens::token;
use crate::dervish::board::{COLUMNS, Hex, PlaceId, ROWS};
use crate::dervish::campaign::{
    BattleStage, Campaign, Favour, GroupKind, GunboatOut, LeaderState, MAX_GUNBOATS, Phase, War,
};
use crate::dervish::catalogue::{Kind, LEADERS, Side};
use crate::dervish::decision::Decision;
use crate::dervish::rules::combat::LeaderUse;
use crate::dervish::scenario::Scenario;
use crate::dervish::tables::Event;
use crate::dervish::units::{Cohort, Status};
use crate::encode::Tokens;

/// Why no position could be rebuilt.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecodeError {
    /// The arrays are not as wide as those of this encoder.
    #[error("{part} have {found} features, not {expected}")]
    Width {
        /// `tokens` or `globals`.
        part: &'static str,
        /// Their width.
        found: usize,
        /// That of the encoder.
        expected: usize,
    },
    /// A value that the encoder does not write there.
    #[error("{0} is not what the encoder writes")]
    Value(&'static str),
}

/// Rebuilds the position that [`super::CampaignEncoder`] showed as `tokens` and `globals`, whoever viewed it.
///
/// # Errors
/// [`DecodeError`] if the arrays are not those of a position of `scenario`.
pub fn decode(scenario: &'static Scenario, tokens: &Tokens, globals: &[f32]) -> Result<Campaign, DecodeError> {
    for (part, found, expected) in [("tokens", tokens.width(), token::WIDTH), ("globals", globals.len(), global::WIDTH)]
    {
        if found != expected {
            return Err(DecodeError::Width { part, found, expected });
        }
    }
    let globals = Row(globals);
    let view = if globals.flag(global::VIEW) { Side::Egyptian } else { Side::Mahdist };
    let mut position = Campaign::empty(scenario);
    read_globals(&mut position, view, &globals)?;
    let rows = || tokens.as_slice().chunks_exact(token::WIDTH).map(Row);
    for row in rows().filter(|row| row.flag(token::TYPE)) {
        add_stack(&mut position, &row)?;
    }
    for row in rows().filter(|row| row.flag(token::TYPE + 1)) {
        set_apart(&mut position, &row)?;
    }
    for row in rows().filter(|row| row.flag(token::TYPE + 2)) {
        let hex = row.grid(token::GRID)?;
        let place = scenario.board.cell(hex).place.ok_or(DecodeError::Value("the hex of a place"))?;
        take_place(&mut position, view, place, &row);
    }
    Ok(position)
}

/// A row of features.
struct Row<'a>(&'a [f32]);

impl Row<'_> {
    fn flag(&self, at: usize) -> bool {
        self.0[at] > 0.5
    }

    /// A number of which the row holds `1 / scale`.
    fn number(&self, at: usize, scale: f32) -> Result<u16, DecodeError> {
        let value = self.0[at] * scale;
        let whole = value.round();
        if (value - whole).abs() > 0.01 || !(0.0..=f32::from(u16::MAX)).contains(&whole) {
            return Err(DecodeError::Value("a number"));
        }
        Ok(whole as u16)
    }

    fn byte(&self, at: usize, scale: f32) -> Result<u8, DecodeError> {
        u8::try_from(self.number(at, scale)?).map_err(|_| DecodeError::Value("a number"))
    }

    fn units(&self, at: usize) -> Result<u8, DecodeError> {
        self.byte(at, UNITS)
    }

    /// The member of `all` whose column of the one-hot columns from `at` on is set.
    fn one_of<T: Copy>(&self, at: usize, all: &[T], what: &'static str) -> Result<T, DecodeError> {
        let found = (0..all.len()).find(|i| self.flag(at + i));
        found.map(|i| all[i]).ok_or(DecodeError::Value(what))
    }

    /// A side by the viewer's column and the other's; `None` if neither is set.
    fn side(&self, at: usize, view: Side) -> Option<Side> {
        if self.flag(at) { Some(view) } else { self.flag(at + 1).then_some(view.other()) }
    }

    fn grid(&self, at: usize) -> Result<Hex, DecodeError> {
        let (column, row) = (self.number(at, SIXTY_FOURTHS)?, self.number(at + 1, SIXTY_FOURTHS)?);
        let (column, row) = (usize::from(column), usize::from(row));
        if column < COLUMNS && row < ROWS { Ok(Hex::at(column, row)) } else { Err(DecodeError::Value("a hex")) }
    }

    /// A hex that may be none.
    fn hex(&self, at: usize) -> Result<Hex, DecodeError> {
        if self.flag(at) { self.grid(at + 1) } else { Ok(Hex::NONE) }
    }
}

/// Units of a row by kind, order and number.
fn units_of(row: &Row<'_>) -> Result<Vec<(Kind, bool, u8)>, DecodeError> {
    let good = Kind::ALL.into_iter().map(|kind| (kind, false, token::GOOD + kind.index()));
    let disrupted = DISRUPTIBLE_KINDS.into_iter().enumerate().map(|(i, kind)| (kind, true, token::DISRUPTED + i));
    let present = good.chain(disrupted).filter(|(_, _, at)| row.0[*at] != 0.0);
    present.map(|(kind, disrupted, at)| Ok((kind, disrupted, row.units(at)?))).collect()
}

fn leaders_of(row: &Row<'_>) -> Vec<usize> {
    (0..LEADERS).filter(|i| row.flag(token::LEADER + i)).collect()
}

/// A stack, all of it fresh and outside the group at first.
fn add_stack(position: &mut Campaign, row: &Row<'_>) -> Result<(), DecodeError> {
    let hex = row.grid(token::GRID)?;
    for (kind, disrupted, n) in units_of(row)? {
        let cohort = Cohort::new(hex, kind, disrupted, Status::Fresh, n);
        if position.units.at(hex).iter().any(|c| c.kind() == kind && c.disrupted() == disrupted) {
            return Err(DecodeError::Value("a stack given twice"));
        }
        position.units.add(cohort);
    }
    for leader in leaders_of(row) {
        position.leaders[leader].hex = hex;
    }
    Ok(())
}

/// A part of a stack that has marched, has fought or is in the group.
fn set_apart(position: &mut Campaign, row: &Row<'_>) -> Result<(), DecodeError> {
    let hex = row.grid(token::GRID)?;
    let grouped = row.flag(token::GROUPED);
    let status = match (row.flag(token::MARCHED), row.flag(token::FOUGHT)) {
        (false, false) => Status::Fresh,
        (true, false) => Status::Marched,
        _ => Status::Fought,
    };
    for (kind, disrupted, n) in units_of(row)? {
        let whole = Cohort::new(hex, kind, disrupted, Status::Fresh, n);
        let enough = position.units.at(hex).iter().any(|c| c.with_count(0) == whole.with_count(0) && c.count() >= n);
        if !enough {
            return Err(DecodeError::Value("a part larger than its stack"));
        }
        position.units.remove(whole);
        position.units.add(whole.with_status(status).with_group(grouped));
    }
    for leader in leaders_of(row) {
        position.leaders[leader] = LeaderState { hex, lost: false, status, grouped };
    }
    Ok(())
}

fn take_place(position: &mut Campaign, view: Side, place: PlaceId, row: &Row<'_>) {
    let control = token::HEX + super::atlas::ground::WIDTH + super::survey::around::CONTROL;
    if let Some(side) = row.side(control, view) {
        position.set_control(place, side);
    }
}

fn read_globals(position: &mut Campaign, view: Side, row: &Row<'_>) -> Result<(), DecodeError> {
    position.active = row.side(global::ACTIVE, view).ok_or(DecodeError::Value("whose turn it is"))?;
    position.turn = row.byte(global::TURN, SIXTY_FOURTHS)?;
    position.phase = row.one_of(global::PHASE, &Phase::ALL, "the phase")?;
    position.stage = row.byte(global::STAGE, SIXTY_FOURTHS)?;
    position.cursor = row.hex(global::CURSOR)?;
    let pending = &mut position.pending;
    pending.decision = row.one_of(global::DECISION, Decision::ALL, "the pending decision")?;
    pending.hex = row.hex(global::PENDING_HEX)?;
    pending.subject = row.byte(global::SUBJECT, SIXTY_FOURTHS)?;
    pending.amount = row.units(global::AMOUNT)?;
    for side in Side::BOTH {
        let i = usize::from(side != view);
        position.eliminated[side as usize] = row.number(global::ELIMINATED + i, SIXTY_FOURTHS)?;
    }
    for i in 0..LEADERS {
        position.leaders[i].lost = row.flag(global::LOST + i);
        position.escaping |= u16::from(row.flag(global::ESCAPING + i)) << i;
    }
    for i in 0..ARRIVALS {
        position.arrived |= u64::from(row.flag(global::ARRIVED + i)) << i;
    }
    for i in 0..MAX_GUNBOATS {
        let at = global::GUNBOATS_OUT + i * OUT;
        let hex = row.hex(at)?;
        if hex.is_some() {
            let returns = row.byte(at + HEX, SIXTY_FOURTHS)?;
            position.gunboats_out[i] = GunboatOut { returns, hex, british: row.flag(at + HEX + 1) };
        }
    }
    for i in 0..2 {
        position.gunboats_lost[i] = row.units(global::GUNBOATS_LOST + i)?;
        position.sinking[i] = row.units(global::SINKING + i)?;
    }
    position.sinking_at = row.hex(global::SINKING_AT)?;
    position.railway = row.byte(global::RAILWAY, SIXTY_FOURTHS)?;
    for i in 0..position.to_place.len() {
        position.to_place[i] = row.units(global::TO_PLACE + i)?;
    }
    for i in 0..position.spent.len() {
        position.spent[i] = row.hex(global::SPENT + i * HEX)?;
    }
    position.months_held = row.byte(global::MONTHS_HELD, SIXTY_FOURTHS)?;
    if row.flag(global::PRIZE_TAKEN) {
        position.months_held |= TAKEN;
    }
    position.winner = row.side(global::WON, view);
    read_events(position, row)?;
    read_group_and_battle(position, view, row)
}

fn read_events(position: &mut Campaign, row: &Row<'_>) -> Result<(), DecodeError> {
    let events = &mut position.events;
    events.current = (0..EVENTS).find(|i| row.flag(global::EVENT + i)).map(|i| Event::ALL[i]);
    events.amount = row.units(global::EVENT_AMOUNT)?;
    for (i, flag) in event_flags(events).into_iter().enumerate() {
        *flag = row.flag(global::EVENT_FLAG + i);
    }
    events.favoured = row.hex(global::FAVOURED)?;
    events.favour = row.one_of(global::FAVOUR, &[Favour::None, Favour::Named, Favour::Used], "the favoured hex")?;
    events.war = row.one_of(global::WAR, &[War::Never, War::Now, War::Over], "the war with Ethiopia")?;
    events.field_forces = row.byte(global::FIELD_FORCES, SIXTY_FOURTHS)?;
    Ok(())
}

fn read_group_and_battle(position: &mut Campaign, view: Side, row: &Row<'_>) -> Result<(), DecodeError> {
    let active = position.active;
    let group = &mut position.group;
    let kinds = [GroupKind::None, GroupKind::March, GroupKind::Vessel];
    group.kind = row.one_of(global::GROUP_KIND, &kinds, "the kind of group")?;
    group.hex = row.hex(global::GROUP_HEX)?;
    group.came_from = row.hex(global::CAME_FROM)?;
    group.rolls = row.byte(global::ROLLS, SIXTY_FOURTHS)?;
    group.failed = row.flag(global::FAILED);
    group.favoured = row.flag(global::GROUP_FAVOURED);
    let battle = &mut position.battle;
    battle.stage = row.one_of(
        global::BATTLE,
        &[
            BattleStage::None,
            BattleStage::LeaderMarching,
            BattleStage::LeaderDefending,
            BattleStage::Tests,
            BattleStage::Retreat,
            BattleStage::Vessels,
            BattleStage::Advance,
        ],
        "the stage of the combat",
    )?;
    battle.from = row.hex(global::BATTLE_FROM)?;
    battle.target = row.hex(global::BATTLE_TARGET)?;
    for (role, i) in roles(active, view).into_iter().enumerate() {
        let at = global::LEADER_USE + 2 * i;
        battle.leader_use[role] = match (row.flag(at), row.flag(at + 1)) {
            (true, _) => LeaderUse::Fire,
            (_, true) => LeaderUse::Melee,
            _ => LeaderUse::None,
        };
        for round in 0..2 {
            battle.dice[2 * round + role] = row.units(global::DICE + 2 * round + i)?;
        }
    }
    battle.winner = row.side(global::BATTLE_WON, view);
    battle.guns_taken = row.units(global::GUNS_TAKEN)?;
    battle.rifles_taken = row.units(global::RIFLES_TAKEN)?;
    for i in 0..2 {
        battle.gunboats_hit[i] = row.units(global::GUNBOATS_HIT + i)?;
    }
    Ok(())
}

//! Rows of the legal actions: what each order says, and what it would mean where it points.

use super::atlas::Atlas;
use super::columns::{
    UNITS, columns, distance, distance_value, kind_flag, leader_flag, place_in_grid, put_grid, rating, rating_value,
    truth, units,
};
use super::subject::Subject;
use super::survey::{HEX_ROW, Survey, hex_channels};
use crate::dervish::board::Hex;
use crate::dervish::campaign::{BattleStage, Campaign};
use crate::dervish::catalogue::{KINDS, Kind, LEADERS, Leader, Side};
use crate::dervish::decision::Decision;
use crate::dervish::order::{Order, Verb};
use crate::dervish::rules::combat::CombatRole;
use crate::encode::{ActionRows, Channel};
use crate::game::{Action, Position};

const VERBS: usize = Verb::ALL.len();

/// Columns of an action.
pub(super) mod action {
    use super::*;

    columns! {
        FORM[5] = |i| Channel::flag(["a hex", "a number", "a line of units", "a leader", "a verb"][i]);
        VERB[VERBS] = |i| Channel::flag(format!("verb: {}", Verb::ALL[i].id()));
        NUMBER[1] = |_| units("number");
        SHARE[1] = |_| Channel::new("number as a share of the highest legal one", "share", 0.0, 1.0);
        NO_UNITS[1] = |_| Channel::flag("the number is 0");
        ALL_UNITS[1] = |_| Channel::flag("the number is the highest legal one");
        KIND[KINDS] = |i| kind_flag("units", i);
        STATE[2] = |i| Channel::flag(["the units are disrupted", "the units have marched"][i]);
        LEADER[LEADERS] = |i| leader_flag("leader", i);
        STRATEGIC[1] = |_| rating("strategic rating of the leader");
        TACTICAL[1] = |_| rating("tactical rating of the leader");
        GRID[2] = |i| place_in_grid("hex", i);
        DISTANCE[1] = |_| distance("distance from where the decision is asked");
        STEP[2] = |i| Channel::new(["columns east", "rows south"][i], "hexes/64", -1.0, 1.0);
        STAYS[1] = |_| Channel::flag("the hex where the decision is asked");
        ATTACKS[1] = |_| Channel::flag("attacks");
        ENTERS[1] = |_| Channel::flag("moves onto enemy units without a combat unit");
        NEARER[1] = |_| {
            let name = "by how much nearer to a place at stake that the deciding side does not control, at most 16";
            Channel::new(name, "hexes/16", -1.0, 1.0)
        };
        BALANCE[1] = |_| {
            let name = "melee factors of the group or stack asked as a share of these and of the enemy's in the hex";
            Channel::new(name, "share", 0.0, 1.0)
        };
        HEX[HEX_ROW] = |i| hex_channels().swap_remove(i);
    }
}

/// Columns that follow those of an action where the odds of combats are shown.
pub(super) mod odds {
    use super::*;

    columns! {
        FIGHTS[1] = |_| Channel::flag("a combat follows, as it stands now");
        WINS[2] = |i| probability(["the deciding side wins it", "the other side wins it"][i]);
        DESTROYED[2] = |i| {
            let whose = ["of the deciding side", "of the other side"][i];
            Channel::new(format!("expected share of the land units {whose} that it destroys"), "share", 0.0, 1.0)
        };
    }

    fn probability(name: &'static str) -> Channel {
        Channel::new(name, "probability", 0.0, 1.0)
    }
}

/// Adds a row for each legal action, with exact odds of combats if `with_odds`.
pub(super) fn encode(
    position: &Campaign,
    atlas: &Atlas,
    view: Side,
    legal: &[Action],
    with_odds: bool,
    rows: &mut ActionRows,
) {
    Survey::with(position, atlas, view, |survey| write_actions(survey, legal, with_odds, rows));
}

fn write_actions(survey: &Survey<'_>, legal: &[Action], with_odds: bool, rows: &mut ActionRows) {
    let position = survey.position;
    let side = position.decider();
    let asked = Asked::new(survey, side);
    let highest = legal.iter().filter_map(|action| count_of(*action)).max().unwrap_or(0);
    let subject = Subject::of(position);
    for &action in legal {
        let Some(order) = Order::of(action) else {
            rows.push([None; 2]);
            continue;
        };
        let target = match order {
            Order::Hex(hex) => survey.token_at(hex, target_side(position, side)),
            _ => asked.here,
        };
        let row = rows.push([target, asked.with]);
        match order {
            Order::Hex(hex) => {
                row[action::FORM] = 1.0;
                write_hex(survey, &asked, hex, row);
            }
            Order::Count(n) => {
                row[action::FORM + 1] = 1.0;
                row[action::NUMBER] = f32::from(n) / UNITS;
                row[action::SHARE] = if highest > 0 { f32::from(n) / f32::from(highest) } else { 0.0 };
                row[action::NO_UNITS] = truth(n == 0);
                row[action::ALL_UNITS] = truth(n == highest);
            }
            Order::Line { kind, disrupted } => {
                row[action::FORM + 2] = 1.0;
                write_units(kind, disrupted, false, row);
            }
            Order::Leader(leader) => {
                row[action::FORM + 3] = 1.0;
                write_leader(position, leader, row);
            }
            Order::Verb(verb) => {
                row[action::FORM + 4] = 1.0;
                row[action::VERB + verb as usize] = 1.0;
            }
        }
        match subject {
            Subject::Units { kind, disrupted, marched } => write_units(kind, disrupted, marched, row),
            Subject::Leader(leader) => write_leader(position, leader, row),
            Subject::Other => {}
        }
        if with_odds {
            write_odds(position, side, action, &mut row[action::WIDTH..]);
        }
    }
}

/// What a combat would bring that the action leads to, attack or use of a leader, with what is decided of it by then (9.2).
fn write_odds(position: &Campaign, side: Side, action: Action, row: &mut [f32]) {
    use Decision::{GroupOrder, LeaderDefending, LeaderMarching};
    let attacks = position.pending.decision == GroupOrder && matches!(Order::of(action), Some(Order::Hex(_)));
    if !attacks && !matches!(position.pending.decision, LeaderMarching | LeaderDefending) {
        return;
    }
    let mut after = *position;
    after.apply_legal(action);
    if after.battle.stage == BattleStage::None || after.battle.dice != [0; 4] {
        return;
    }
    let roles = [CombatRole::Marching, CombatRole::Defending];
    let [own, other] = if side == after.active { roles } else { [roles[1], roles[0]] };
    row[odds::FIGHTS] = 1.0;
    after.combat().with_distribution(|distribution| {
        for (i, role) in [own, other].into_iter().enumerate() {
            row[odds::WINS + i] = distribution.probability(Some(role)) as f32;
            row[odds::DESTROYED + i] = distribution.share_destroyed(role) as f32;
        }
    });
}

fn count_of(action: Action) -> Option<u8> {
    match Order::of(action) {
        Some(Order::Count(n)) => Some(n),
        _ => None,
    }
}

/// Whose stack in a hex an order is about before the other's: the enemy's where it attacks, else that of who decides.
fn target_side(position: &Campaign, side: Side) -> Side {
    match position.pending.decision {
        Decision::GroupOrder => side.other(),
        _ => side,
    }
}

fn write_units(kind: Kind, disrupted: bool, marched: bool, row: &mut [f32]) {
    row[action::KIND + kind.index()] = 1.0;
    row[action::STATE] = truth(disrupted);
    row[action::STATE + 1] = truth(marched);
}

fn write_leader(position: &Campaign, leader: Leader, row: &mut [f32]) {
    let data = position.scenario.catalogue.leader(leader);
    row[action::LEADER + leader.index()] = 1.0;
    row[action::STRATEGIC] = rating_value(data.strategic);
    row[action::TACTICAL] = rating_value(data.tactical);
}

/// Who is asked, and where.
struct Asked {
    side: Side,
    /// Hex of the group, else of the decision.
    hex: Hex,
    /// Melee factors of the group, else of the stack of who decides.
    melee: f32,
    to_goal: Option<u32>,
    /// Token of the hex of the decision.
    here: Option<u32>,
    /// Token of the group, else of the hex of the decision.
    with: Option<u32>,
}

impl Asked {
    fn new(survey: &Survey<'_>, side: Side) -> Asked {
        let position = survey.position;
        let here = survey.token_at(position.pending.hex, side);
        let grouped = position.group.hex.is_some() && side == position.active;
        let hex = if grouped { position.group.hex } else { position.pending.hex };
        let stack = if hex.is_some() { survey.stack(hex, side) } else { None };
        let melee = stack.map_or(0.0, |stack| {
            let members = survey.cohorts(stack).iter().filter(|c| !grouped || c.grouped());
            let doubled = members.map(|c| {
                let melee = u32::from(position.scenario.catalogue.of(c.kind()).melee);
                melee * u32::from(c.count()) * if c.disrupted() { 1 } else { 2 }
            });
            doubled.sum::<u32>() as f32 / 2.0
        });
        let to_goal = if hex.is_some() { survey.to_goal(hex, side) } else { None };
        Asked { side, hex, melee, to_goal, here, with: survey.group_token().or(here) }
    }
}

fn write_hex(survey: &Survey<'_>, asked: &Asked, hex: Hex, row: &mut [f32]) {
    let position = survey.position;
    put_grid(row, action::GRID, hex);
    survey.hex_row(hex, &mut row[action::HEX..]);
    let enemy = survey.stack(hex, asked.side.other());
    let attacks = position.pending.decision == Decision::GroupOrder;
    row[action::ATTACKS] = truth(attacks);
    if position.pending.decision == Decision::GroupHex {
        row[action::ENTERS] = truth(position.enemy_in(hex, asked.side));
    }
    let against = enemy.map_or(0.0, |stack| stack.melee());
    let both = asked.melee + against;
    row[action::BALANCE] = if both > 0.0 { asked.melee / both } else { 0.0 };
    if asked.hex.is_some() {
        row[action::DISTANCE] = distance_value(Some(survey.atlas.distance(asked.hex, hex)));
        let step = |from: usize, to: usize| (to as f32 - from as f32) / super::columns::SIXTY_FOURTHS;
        row[action::STEP] = step(asked.hex.column(), hex.column());
        row[action::STEP + 1] = step(asked.hex.row(), hex.row());
        row[action::STAYS] = truth(asked.hex == hex);
        if let (Some(before), Some(after)) = (asked.to_goal, survey.to_goal(hex, asked.side)) {
            row[action::NEARER] = ((before as f32 - after as f32) / 16.0).clamp(-1.0, 1.0);
        }
    }
}

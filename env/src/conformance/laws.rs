//! The laws that can be checked at a single position.

use super::{Breach, Law};
use crate::chance::SplitMix64;
use crate::game::{Action, Actor, GameIdentity, Outcome, Position, Seat, WeightedOutcome};

/// [`Law::Identity`] and [`Law::Kinds`].
pub(super) fn check_identity<P: Position>(position: &P, expected: &GameIdentity) -> Result<(), Breach> {
    let identity = position.identity();
    if identity != *expected {
        return Err((Law::Identity, format!("{identity:?}, begun as {expected:?}")));
    }
    let hash = &identity.rules_hash;
    if hash.len() != 16 || !hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        return Err((Law::Identity, format!("rules hash `{hash}` is not of 16 hexadecimal digits")));
    }
    let kind = position.pending_kind();
    if kind.is_empty() || kind.contains(char::is_whitespace) {
        return Err((Law::Kinds, format!("`{kind}` is not a single word")));
    }
    Ok(())
}

/// Fills both lists and checks [`Law::ActionList`], [`Law::Choices`], [`Law::Legality`] and [`Law::Weights`].
pub(super) fn check_lists<P: Position>(
    position: &P,
    least_choices: usize,
    actions: &mut Vec<Action>,
    outcomes: &mut Vec<WeightedOutcome>,
) -> Result<(), Breach> {
    // What an earlier position left in the buffers must go.
    position.legal_actions_into(actions);
    let mut again = vec![Action(u16::MAX); 3];
    position.legal_actions_into(&mut again);
    if *actions != again {
        return Err((Law::ActionList, format!("{actions:?}, asked again {again:?}")));
    }
    let mut listed = vec![false; P::ACTIONS];
    for action in actions.iter() {
        match listed.get_mut(action.index()) {
            None => return Err((Law::ActionList, format!("{action:?} is outside the space of {}", P::ACTIONS))),
            Some(true) => return Err((Law::ActionList, format!("{action:?} stands twice"))),
            Some(slot) => *slot = true,
        }
    }
    let beyond = [P::ACTIONS, P::ACTIONS + 1, usize::from(u16::MAX)].map(|index| index.min(usize::from(u16::MAX)));
    let space = (0..P::ACTIONS).chain(beyond.into_iter().filter(|&index| index >= P::ACTIONS));
    for index in space {
        let action = Action(index as u16);
        let in_list = listed.get(index) == Some(&true);
        if position.is_legal(action) != in_list {
            let says = if in_list { "listed but not legal" } else { "legal but not listed" };
            return Err((Law::Legality, format!("{action:?} is {says}")));
        }
    }
    match position.actor() {
        Actor::Player(_) if actions.len() < least_choices.max(1) => {
            return Err((Law::Choices, format!("{} legal actions, at least {least_choices} expected", actions.len())));
        }
        Actor::Chance | Actor::Finished if !actions.is_empty() => {
            return Err((Law::ActionList, "actions are listed though no player is to act".to_string()));
        }
        _ => {}
    }
    check_weights(position, outcomes)
}

fn check_weights<P: Position>(position: &P, outcomes: &mut Vec<WeightedOutcome>) -> Result<(), Breach> {
    position.chance_outcomes_into(outcomes);
    let mut again = vec![WeightedOutcome { outcome: Outcome(u16::MAX), weight: 0 }; 3];
    position.chance_outcomes_into(&mut again);
    if *outcomes != again {
        return Err((Law::Weights, format!("{outcomes:?}, asked again {again:?}")));
    }
    let due = position.actor() == Actor::Chance;
    if outcomes.is_empty() == due {
        return Err((Law::Weights, format!("{} outcomes, a roll due: {due}", outcomes.len())));
    }
    if !outcomes.is_sorted_by(|a, b| a.outcome < b.outcome) {
        return Err((Law::Weights, format!("{outcomes:?} do not ascend")));
    }
    if outcomes.iter().any(|weighted| weighted.weight == 0) {
        return Err((Law::Weights, format!("{outcomes:?} have a weight of 0")));
    }
    let sum: u64 = outcomes.iter().map(|weighted| u64::from(weighted.weight)).sum();
    if sum != u64::from(position.chance_total()) {
        return Err((Law::Weights, format!("weights sum to {sum}, the total is {}", position.chance_total())));
    }
    Ok(())
}

/// [`Law::Result`] and [`Law::Margin`].
pub(super) fn check_result<P: Position>(position: &P) -> Result<(), Breach> {
    let finished = position.actor() == Actor::Finished;
    let Some(result) = position.result() else {
        return if finished { Err((Law::Result, "finished without a result".to_string())) } else { Ok(()) };
    };
    if !finished {
        return Err((Law::Result, format!("{result:?} though the game goes on")));
    }
    let contradicts = match result.winner {
        Some(Seat::First) => result.margin < 0.0,
        Some(Seat::Second) => result.margin > 0.0,
        None => false,
    };
    if !(-1.0..=1.0).contains(&result.margin) || contradicts {
        return Err((Law::Margin, format!("{result:?}")));
    }
    Ok(())
}

/// [`Law::Refusal`]: some actions that are not legal, and outcomes that cannot come up.
pub(super) fn check_refusals<P: Position>(
    position: &P,
    actions: &[Action],
    outcomes: &[WeightedOutcome],
    random: &mut SplitMix64,
) -> Result<(), Breach> {
    let bytes = bytes_of(position);
    let mut target = position.clone();
    let unchanged = |target: &P, tried: String, refused: bool| {
        if !refused {
            return Err((Law::Refusal, format!("{tried} was accepted")));
        }
        if target != position || bytes_of(target) != bytes {
            return Err((Law::Refusal, format!("{tried} was refused but changed the position")));
        }
        Ok(())
    };
    let space = P::ACTIONS.min(usize::from(u16::MAX));
    let some = [0, space - 1, space, usize::from(u16::MAX)].into_iter().chain((0..4).map(|_| random.below(space)));
    for action in some.map(|index| Action(index as u16)).filter(|action| !actions.contains(action)) {
        let refused = target.apply(action).is_err();
        unchanged(&target, format!("{action:?}"), refused)?;
    }
    let impossible = |outcome: &u16| !outcomes.iter().any(|weighted| weighted.outcome.0 == *outcome);
    for outcome in (0..=70).chain([u16::MAX]).filter(impossible) {
        let refused = target.resolve(Outcome(outcome)).is_err();
        unchanged(&target, format!("roll {outcome}"), refused)?;
    }
    Ok(())
}

/// [`Law::Notation`].
pub(super) fn check_notation<P: Position>(position: &P, actions: &[Action]) -> Result<(), Breach> {
    for &action in actions {
        let text = position.action_text(action);
        if text.is_empty() || text.trim() != text || text.contains(['\n', '\r']) {
            return Err((Law::Notation, format!("{action:?} is written {text:?}, not as one trimmed line")));
        }
        match position.parse_action(&text) {
            Ok(read) if read == action => {}
            Ok(read) => return Err((Law::Notation, format!("`{text}` of {action:?} is read as {read:?}"))),
            Err(error) => return Err((Law::Notation, format!("`{text}` of {action:?} is refused: {error}"))),
        }
        // Near misses may be other legal actions, but nothing else.
        let cut: String = text.chars().take(text.chars().count() - 1).collect();
        for near in [cut, format!("{text}1"), format!("{text} {text}"), text.to_uppercase()] {
            if let Ok(read) = position.parse_action(&near)
                && !actions.contains(&read)
            {
                return Err((Law::Notation, format!("`{near}` is read as {read:?}, which is not legal")));
            }
        }
    }
    for garbage in ["", " ", "\n", "\0", "?", "-1", "no such action", "99999999999999999999", "ü€𝄞"] {
        if let Ok(read) = position.parse_action(garbage) {
            return Err((Law::Notation, format!("{garbage:?} is read as {read:?}")));
        }
    }
    Ok(())
}

/// [`Law::Clones`] and [`Law::CheckedMove`]: a random move, made in both ways on clones.
pub(super) fn check_clones<P: Position>(
    position: &P,
    actions: &[Action],
    outcomes: &[WeightedOutcome],
    random: &mut SplitMix64,
) -> Result<(), Breach> {
    let bytes = bytes_of(position);
    let (mut checked, mut trusted) = (position.clone(), position.clone());
    if checked != *position || bytes_of(&checked) != bytes {
        return Err((Law::Clones, "a clone differs from its original".to_string()));
    }
    let (moved, tried) = match position.actor() {
        Actor::Player(_) => {
            let action = actions[random.below(actions.len())];
            trusted.apply_legal(action);
            (checked.apply(action), format!("{action:?}"))
        }
        Actor::Chance => {
            let outcome = outcomes[random.below(outcomes.len())].outcome;
            trusted.resolve_possible(outcome);
            (checked.resolve(outcome), format!("{outcome:?}"))
        }
        Actor::Finished => return Ok(()),
    };
    if let Err(error) = moved {
        return Err((Law::CheckedMove, format!("{tried} is refused: {error}")));
    }
    if checked != trusted || bytes_of(&checked) != bytes_of(&trusted) {
        return Err((Law::CheckedMove, format!("{tried} leads elsewhere without the check")));
    }
    if bytes_of(position) != bytes {
        return Err((Law::Clones, format!("{tried} on a clone changed the original")));
    }
    Ok(())
}

/// The canonical bytes.
pub(super) fn bytes_of<P: Position>(position: &P) -> Vec<u8> {
    let mut bytes = Vec::new();
    position.write_bytes(&mut bytes);
    bytes
}

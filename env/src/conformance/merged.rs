//! The law of merged outcomes, by enumeration of all single rolls.

use std::collections::HashMap;

use super::laws::bytes_of;
use super::{Breach, Law};
use crate::game::{Actor, MergedOutcome, Outcome, Position, WeightedOutcome};

/// Checks [`Law::Merged`] at a chance node; false if the game offers no merged outcomes here, or if the procedure has
/// more than `most_sequences` sequences of rolls and only the representatives were checked.
pub(super) fn check<P: Position>(position: &P, most_sequences: u64) -> Result<bool, Breach> {
    let mut merged = vec![MergedOutcome { weight: 0, rolls: Vec::new() }];
    if !position.merged_outcomes_into(&mut merged) {
        if merged.is_empty() {
            return Ok(false);
        }
        return Err((Law::Merged, "none are offered but the list is not empty".to_string()));
    }
    let total: u64 = merged.iter().map(|outcome| outcome.weight).sum();
    if merged.is_empty() || merged.iter().any(|outcome| outcome.weight == 0) {
        return Err((Law::Merged, format!("empty, or a weight of 0: {merged:?}")));
    }
    let mut ends = HashMap::new();
    for outcome in &merged {
        let end = follow(position, &outcome.rolls, total)?;
        if ends.insert(end, outcome.weight).is_some() {
            return Err((Law::Merged, format!("{:?} ends where another outcome ends", outcome.rolls)));
        }
    }
    let mut tally = Tally { ends: &ends, found: HashMap::new(), sequences: 0, most_sequences };
    if !tally.enumerate(position, total)? {
        return Ok(false);
    }
    for (end, weight) in &ends {
        let found = tally.found.get(end).copied().unwrap_or(0);
        if found != *weight {
            return Err((Law::Merged, format!("weight {weight} of {total}, single rolls give {found}")));
        }
    }
    Ok(true)
}

/// The bytes of the position after `rolls`.
fn follow<P: Position>(position: &P, rolls: &[Outcome], total: u64) -> Result<Vec<u8>, Breach> {
    let mut end = position.clone();
    let mut product = 1u64;
    for &roll in rolls {
        product = product.saturating_mul(u64::from(end.chance_total()));
        end.resolve(roll).map_err(|error| (Law::Merged, format!("{rolls:?} cannot be rolled: {error}")))?;
    }
    if rolls.is_empty() || product == 0 || !total.is_multiple_of(product) {
        let detail = format!("{rolls:?} is one of {product} throws, which does not divide the total {total}");
        return Err((Law::Merged, detail));
    }
    Ok(bytes_of(&end))
}

/// Weights of the ends, added up over sequences of single rolls.
struct Tally<'a> {
    ends: &'a HashMap<Vec<u8>, u64>,
    found: HashMap<Vec<u8>, u64>,
    sequences: u64,
    most_sequences: u64,
}

impl Tally<'_> {
    /// Adds up what follows from `position`, which is reached with `weight`; false if there are too many sequences.
    fn enumerate<P: Position>(&mut self, position: &P, weight: u64) -> Result<bool, Breach> {
        let mut outcomes: Vec<WeightedOutcome> = Vec::new();
        position.chance_outcomes_into(&mut outcomes);
        let total = u64::from(position.chance_total());
        if !weight.is_multiple_of(total) {
            return Err((Law::Merged, format!("weight {weight} cannot be shared among {total} throws")));
        }
        for weighted in outcomes {
            let weight = weight / total * u64::from(weighted.weight);
            let mut next = position.clone();
            next.resolve_possible(weighted.outcome);
            let bytes = bytes_of(&next);
            if self.ends.contains_key(&bytes) {
                *self.found.entry(bytes).or_default() += weight;
                self.sequences += 1;
                if self.sequences > self.most_sequences {
                    return Ok(false);
                }
            } else if next.actor() != Actor::Chance {
                let detail = format!("{:?} leads to a position that is no merged outcome", weighted.outcome);
                return Err((Law::Merged, detail));
            } else if !self.enumerate(&next, weight)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

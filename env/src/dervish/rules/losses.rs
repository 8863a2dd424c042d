//! Who suffers (9.7, 9.8): the results of a test's classes turned into units destroyed and disrupted.

use crate::dervish::catalogue::{Class, GUNBOATS, KINDS, Kind, KindSet, LAND};
use crate::dervish::force::Force;
use crate::dervish::tables::Morale;

use super::combat::Round;

/// Takes from `force` what a test costs it (9.8).
///
/// `results` by [`Class`], `None` for classes with nobody to suffer; `rolling` is N, the enemy's good-order rolling
/// units; `class_of` gives the class of a kind in this game turn.
pub(super) fn suffer(
    force: &mut Force,
    results: &[Option<Morale>; 4],
    rolling: u32,
    round: Round,
    class_of: impl Fn(Kind) -> Class,
) {
    // The worst result bounds what the whole hex can lose.
    let Some(worst) = results.iter().flatten().min() else { return };
    let mut left = Toll::of(*worst, rolling).total();
    if left == 0 {
        return;
    }
    let mut kinds = [KindSet::EMPTY; 4];
    for kind in force.kinds_present().iter() {
        let set = &mut kinds[class_of(kind) as usize];
        *set = set.or(kind.set());
    }
    for result in [Morale::Fail, Morale::Shaken, Morale::Hold, Morale::Steady] {
        for class in Class::ALL {
            if results[class as usize] == Some(result) {
                let mut line = Line::of(force, kinds[class as usize], round);
                left -= line.take(Toll::of(result, rolling), left);
            }
        }
    }
}

/// What a result asks of a class (9.7).
#[derive(Clone, Copy)]
struct Toll {
    destroyed: u32,
    disrupted: u32,
}

impl Toll {
    fn of(result: Morale, rolling: u32) -> Toll {
        let (destroyed, disrupted) = match result {
            Morale::Fail => (2 * rolling, 2 * rolling),
            Morale::Shaken => (rolling, rolling),
            Morale::Hold => (0, rolling),
            Morale::Steady => (0, rolling / 2),
            Morale::Good => (0, 0),
        };
        Toll { destroyed, disrupted }
    }

    fn total(self) -> u32 {
        self.destroyed + self.disrupted
    }
}

/// The units of one class in a test.
struct Line<'f> {
    force: &'f mut Force,
    land: KindSet,
    /// Gunboats that this round can touch.
    gunboats: KindSet,
    /// Losses that each kind has taken in this test.
    taken: [u32; KINDS],
}

impl Line<'_> {
    fn of(force: &mut Force, kinds: KindSet, round: Round) -> Line<'_> {
        let gunboats = match round {
            Round::Fire => kinds.and(GUNBOATS),
            Round::Melee => KindSet::EMPTY,
        };
        Line { force, land: kinds.and(LAND), gunboats, taken: [0; KINDS] }
    }

    /// Takes a toll as far as `limit` allows and as far as there are units to take it; returns how many losses that
    /// were. What the class cannot absorb is not handed on.
    fn take(&mut self, toll: Toll, limit: u32) -> u32 {
        let destroyed = (0..toll.destroyed.min(limit)).take_while(|_| self.destroy()).count() as u32;
        let disrupted = (0..toll.disrupted.min(limit - destroyed)).take_while(|_| self.disrupt()).count() as u32;
        destroyed + disrupted
    }

    /// Destroys one unit: a disrupted one if there is one, gunboats after the land units. False if none is left.
    fn destroy(&mut self) -> bool {
        if let Some(k) = self.fewest(self.land, &self.force.disrupted) {
            self.force.disrupted[k] -= 1;
            self.taken[k] += 1;
        } else if let Some(k) =
            self.fewest(self.land, &self.force.good).or_else(|| self.fewest(self.gunboats, &self.force.good))
        {
            self.force.good[k] -= 1;
            self.taken[k] += 1;
        } else {
            return false;
        }
        true
    }

    /// Disrupts a good-order unit, or eliminates a disrupted one if no other is left. False if there is no land unit.
    fn disrupt(&mut self) -> bool {
        if let Some(k) = self.fewest(self.land, &self.force.good) {
            self.force.good[k] -= 1;
            self.force.disrupted[k] += 1;
            self.taken[k] += 1;
        } else if let Some(k) = self.fewest(self.land, &self.force.disrupted) {
            self.force.disrupted[k] -= 1;
            self.taken[k] += 1;
        } else {
            return false;
        }
        true
    }

    /// Of the kinds with a unit in `counts` the one that has taken fewest, ties in catalogue order; civilians last
    /// among train.
    fn fewest(&self, kinds: KindSet, counts: &[u8; KINDS]) -> Option<usize> {
        let mut best: Option<usize> = None;
        let mut other_train = false;
        for kind in kinds.iter() {
            let k = kind.index();
            // Civilians come after the other train in catalogue order, so these have been seen.
            if counts[k] == 0 || (kind == Kind::Civilian && other_train) {
                continue;
            }
            other_train |= matches!(kind, Kind::Supply | Kind::Camel);
            if best.is_none_or(|b| self.taken[k] < self.taken[b]) {
                best = Some(k);
            }
        }
        best
    }
}

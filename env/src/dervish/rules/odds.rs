//! The exact distribution of a combat over all dice (9), with equal endings merged: the weights of four 2D6 rolls,
//! 36^4 in all, without a sample drawn.
//!
//! The two tests of a round do not touch each other, so each side has at most eleven states after fire, and each pair
//! of these at most eleven endings for each side: far fewer than the 14,641 sequences of rolls, and fewer still once
//! rolls that read alike in every class are taken together.

use crate::dervish::catalogue::LAND;
use crate::dervish::force::Force;
use crate::dervish::tables::Morale;

use super::combat::{Combat, CombatRole, Dice, SideResult, Standing, Test, winner};
use super::modifiers;

/// Sum of the weights of a distribution: the throws of four times two dice.
pub const TOTAL_WEIGHT: u64 = 36 * 36 * 36 * 36;

/// All endings of a combat, each once. Empty until [`Combat::distribution_into`] fills it; can be used again, so that
/// a search allocates nothing in its steady state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distribution {
    /// Distinct endings of each side, by [`CombatRole`].
    sides: [Vec<SideResult>; 2],
    /// Ascending by `sides`.
    entries: Vec<Entry>,
}

/// A pair of endings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    /// Indices into [`Distribution::sides`].
    sides: [u16; 2],
    dice: Dice,
    weight: u64,
}

impl Entry {
    /// Endings, then dice, as one number: it compares several times as fast as the tuple.
    fn order(&self) -> u64 {
        let [marching, defending] = self.sides;
        u64::from(marching) << 48 | u64::from(defending) << 32 | u64::from(u32::from_be_bytes(self.dice))
    }
}

/// One ending of a combat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MergedCombat<'d> {
    /// How many of the [`TOTAL_WEIGHT`] throws end so, at least 1.
    pub weight: u64,
    /// Rolls that end so; 0 for tests not called for.
    pub dice: Dice,
    /// The marching side.
    pub marching: &'d SideResult,
    /// The other.
    pub defending: &'d SideResult,
}

impl MergedCombat<'_> {
    /// Who has won; `None` for a draw (9.9).
    pub fn winner(&self) -> Option<CombatRole> {
        winner(self.marching.broken, self.defending.broken)
    }

    fn side(&self, role: CombatRole) -> &SideResult {
        match role {
            CombatRole::Marching => self.marching,
            CombatRole::Defending => self.defending,
        }
    }
}

impl Distribution {
    /// The endings in a fixed order; their weights sum to [`TOTAL_WEIGHT`].
    pub fn endings(&self) -> impl ExactSizeIterator<Item = MergedCombat<'_>> {
        self.entries.iter().map(|e| MergedCombat {
            weight: e.weight,
            dice: e.dice,
            marching: &self.sides[0][usize::from(e.sides[0])],
            defending: &self.sides[1][usize::from(e.sides[1])],
        })
    }

    /// Probability that `winner` wins, or of a draw for `None`.
    pub fn probability(&self, winner: Option<CombatRole>) -> f64 {
        let weight: u64 = self.endings().filter(|e| e.winner() == winner).map(|e| e.weight).sum();
        weight as f64 / TOTAL_WEIGHT as f64
    }

    /// Probabilities that 0, 1, 2, ... land units of a side are destroyed; as many entries as it has units, and one.
    pub fn destroyed(&self, role: CombatRole) -> Vec<f64> {
        self.histogram(role, |side| side.start - side.force.count_of(LAND))
    }

    /// Probabilities that 0, 1, 2, ... land units of a side are left disrupted, whenever that happened.
    pub fn disrupted(&self, role: CombatRole) -> Vec<f64> {
        self.histogram(role, |side| side.force.disrupted_of(LAND))
    }

    /// Expected share of a side's land units that is destroyed, 0 for a side without any.
    pub fn share_destroyed(&self, role: CombatRole) -> f64 {
        let start = self.sides[role as usize].first().map_or(0, |side| side.start);
        let lost = self.endings().map(|ending| {
            let side = ending.side(role);
            u64::from(side.start - side.force.count_of(LAND)) * ending.weight
        });
        lost.sum::<u64>() as f64 / (TOTAL_WEIGHT as f64 * f64::from(start.max(1)))
    }

    fn histogram(&self, role: CombatRole, count: impl Fn(&SideResult) -> u32) -> Vec<f64> {
        let start = self.sides[role as usize].first().map_or(0, |side| side.start);
        let mut weights = vec![0u64; start as usize + 1];
        for ending in self.endings() {
            weights[count(ending.side(role)) as usize] += ending.weight;
        }
        weights.into_iter().map(|w| w as f64 / TOTAL_WEIGHT as f64).collect()
    }

    /// The index of a side's ending with these survivors, new or known. Survivors say all of a [`SideResult`].
    fn index_of(&mut self, combat: &Combat, role: CombatRole, force: &Force) -> u16 {
        let known = &mut self.sides[role as usize];
        // The latest endings are the likeliest to come again.
        let found = known.iter().rposition(|side| side.force == *force);
        found.unwrap_or_else(|| {
            known.push(combat.side_result(role, force));
            known.len() - 1
        }) as u16
    }

    /// Sorts the entries and takes equal ones together; the smallest dice represent them.
    fn merge(&mut self) {
        self.entries.sort_unstable_by_key(Entry::order);
        self.entries.dedup_by(|next, kept| {
            let equal = next.sides == kept.sides;
            if equal {
                kept.weight += next.weight;
            }
            equal
        });
    }
}

impl Combat<'_> {
    /// The exact distribution of the combat from before its first roll.
    pub fn distribution(&self) -> Distribution {
        let mut distribution = Distribution::default();
        self.distribution_into(&mut distribution);
        distribution
    }

    /// As [`Combat::distribution`], into a distribution used before.
    pub fn distribution_into(&self, distribution: &mut Distribution) {
        distribution.sides.iter_mut().for_each(Vec::clear);
        distribution.entries.clear();
        let start = self.start();
        let fire_marching = Branches::of(self, &start, Test::FireMarching);
        let fire_defending = Branches::of(self, &start, Test::FireDefending);
        for marching in fire_marching.iter() {
            for defending in fire_defending.iter() {
                let standing = Standing::of(self, [marching.force, defending.force]);
                let melee_marching = Branches::of(self, &standing, Test::MeleeMarching);
                let melee_defending = Branches::of(self, &standing, Test::MeleeDefending);
                let mut defenders = [0; 11];
                for (index, branch) in defenders.iter_mut().zip(melee_defending.iter()) {
                    *index = distribution.index_of(self, CombatRole::Defending, &branch.force);
                }
                for attacker in melee_marching.iter() {
                    let index = distribution.index_of(self, CombatRole::Marching, &attacker.force);
                    for (defender, &other) in melee_defending.iter().zip(&defenders) {
                        distribution.entries.push(Entry {
                            sides: [index, other],
                            dice: [marching.die, defending.die, attacker.die, defender.die],
                            weight: [marching, defending, attacker, defender].map(|b| b.weight).iter().product(),
                        });
                    }
                }
            }
        }
        distribution.merge();
    }
}

/// What may become of the side that tests, at most one branch for each roll.
struct Branches {
    branches: [Branch; 11],
    len: usize,
}

#[derive(Clone, Copy)]
struct Branch {
    force: Force,
    /// A roll that leads here, 0 if no test is called for.
    die: u8,
    /// How many of the 36 throws lead here.
    weight: u64,
}

impl Branches {
    fn of(combat: &Combat, before: &Standing, test: Test) -> Branches {
        let force = before.forces[test.role() as usize];
        let untested = Branch { force, die: 0, weight: 36 };
        let mut branches = Branches { branches: [untested; 11], len: 0 };
        if !before.calls_for(test) {
            branches.len = 1;
            return branches;
        }
        let modifier = modifiers::modifier(combat, test, &before.strengths);
        let mut last: Option<([Option<Morale>; 4], usize)> = None;
        for die in 2..=12u8 {
            let weight = u64::from(6 - die.abs_diff(7));
            let results = combat.test_results(&force, test, i32::from(die) + modifier);
            match last {
                // Rolls that read alike in every class cost alike.
                Some((previous, at)) if previous == results => branches.branches[at].weight += weight,
                _ => {
                    let at = branches.add(Branch { force: combat.suffered(before, test, &results), die, weight });
                    last = Some((results, at));
                }
            }
        }
        branches
    }

    /// Adds a branch, or its weight to that of the same force; returns where.
    fn add(&mut self, branch: Branch) -> usize {
        if let Some(at) = self.branches[..self.len].iter().position(|b| b.force == branch.force) {
            self.branches[at].weight += branch.weight;
            return at;
        }
        self.branches[self.len] = branch;
        self.len += 1;
        self.len - 1
    }

    fn iter(&self) -> impl Iterator<Item = &Branch> {
        self.branches[..self.len].iter()
    }
}

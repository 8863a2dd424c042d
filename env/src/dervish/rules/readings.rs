//! Throws that the tables read alike: with equal readings they make the same of a position, which need then not be worked out
//! for each. (The other way round it need not hold.)

use super::super::campaign::Campaign;
use super::super::catalogue::LAND;
use super::super::decision::Decision;
use super::super::tables::{MarchResult, Recovery};

/// The most throws of one roll that are told apart (4.1).
pub(crate) const MOST_THROWS: usize = 12;

/// What each throw of a roll reads as, in their order.
pub(crate) struct Readings {
    len: usize,
    readings: [u64; MOST_THROWS],
}

impl Readings {
    fn of(throws: &[(u16, u32)], read: impl Fn(u16) -> u64) -> Readings {
        let mut readings = [0; MOST_THROWS];
        for (reading, &(throw, _)) in readings.iter_mut().zip(throws) {
            *reading = read(throw);
        }
        Readings { len: throws.len(), readings }
    }

    /// The first throw, by its index, that reads as this one.
    pub(crate) fn first_like(&self, index: usize) -> usize {
        let known = self.readings[..self.len].iter().position(|reading| *reading == self.readings[index]);
        known.unwrap_or(index)
    }
}

impl Campaign {
    /// How the throws of the pending roll read: alike where the rule makes the same of them, each by itself where only doing it
    /// tells.
    pub(crate) fn readings(&self, throws: &[(u16, u32)]) -> Readings {
        let hex = self.pending.hex;
        match self.pending.decision {
            // 8.31: whether the group marches, and how many of its land units are disrupted.
            Decision::RollMarch => {
                let modifier = self.march_modifier();
                let land: u32 = self.group_cohorts().filter(|c| LAND.has(c.kind())).map(|c| u32::from(c.count())).sum();
                Readings::of(throws, |die| match self.scenario.tables.march(i32::from(die) + modifier) {
                    MarchResult::NoMarch => u64::MAX,
                    MarchResult::March { disrupted_percent } => u64::from(land * u32::from(disrupted_percent) / 100),
                })
            }
            // 10.4: how many are spared, all of them with a dash.
            Decision::RollAttrition => {
                let whole = self.attrition_count(hex);
                let (row, modifier) = (self.attrition_row(hex), self.attrition_modifier(hex));
                Readings::of(throws, |die| {
                    let spared = self.scenario.tables.attrition(row, i32::from(die) + modifier);
                    u64::from(spared.map_or(whole, |spared| u32::from(spared).min(whole)))
                })
            }
            // 11.1: the result of each kind that has disrupted units.
            Decision::RollRecovery => {
                let (modifier, poor_morale) = (self.recovery_modifier(hex), self.events.poor_morale);
                let disrupted = || self.units.at(hex).iter().filter(|c| c.disrupted() && LAND.has(c.kind()));
                Readings::of(throws, |sum| {
                    disrupted().fold(0, |reading, cohort| {
                        let class = self.scenario.catalogue.class_under(cohort.kind(), poor_morale);
                        let result = match self.scenario.tables.recovery(class, i32::from(sum) + modifier) {
                            Recovery::Fail => 0,
                            Recovery::Hold => 1,
                            Recovery::Good => 2,
                        };
                        reading | result << (2 * cohort.kind().index())
                    })
                })
            }
            // 5.2: how many are gained.
            Decision::RollRecruits => {
                let gain = self.recruits_gained(self.pending.subject);
                Readings::of(throws, |die| u64::from(gain(die)))
            }
            _ => Readings::of(throws, u64::from),
        }
    }
}

//! Victory (14): when the game ends, who has won, and by what margin.

use super::super::board::Hex;
use super::super::campaign::Campaign;
use super::super::catalogue::{COMBAT, Kind, KindSet, Side};
use super::super::decision::{Decision, Pending};
use super::super::scenario::{PlacePoints, Victory};

/// British combat units that hold Khartoum (14.2; 1.1: British includes Indian in section 14).
const HOLDERS: KindSet = super::super::catalogue::BRITISH_COMBAT;

impl Campaign {
    fn points_of(&self, side: Side, points: &[PlacePoints]) -> i32 {
        points.iter().filter(|p| self.controls(side, Some(p.place))).map(|p| i32::from(p.points)).sum()
    }

    /// Points for each full so many units eliminated; 0 stands for none.
    fn points_for_losses(&self, loser: Side, units_per_point: u8) -> i32 {
        i32::from(self.eliminated[loser as usize].checked_div(u16::from(units_per_point)).unwrap_or(0))
    }

    /// Rule 14.2: twice the melee strength of British combat units in the prize, half for disrupted ones.
    fn doubled_british_strength(&self, prize: super::super::board::PlaceId) -> u32 {
        let hex = self.scenario.board.places[prize.0 as usize].hex;
        let force = self.units.force(hex, Side::Egyptian, |c| HOLDERS.has(c.kind()));
        Kind::ALL
            .into_iter()
            .filter(|k| COMBAT.has(*k))
            .map(|k| {
                let melee = u32::from(self.scenario.catalogue.of(k).melee);
                melee * (2 * u32::from(force.good[k.index()]) + u32::from(force.disrupted[k.index()]))
            })
            .sum()
    }

    /// Points that `side` would have if the game ended now, for places and for eliminated units (14.1, 14.3); where one
    /// place decides (14.2, scenario 4), 1 for its holder.
    pub fn points(&self, side: Side) -> u32 {
        let points = match &self.scenario.0.victory {
            Victory::ElObeid { .. } if side == Side::Egyptian => 0,
            Victory::ElObeid { points, units_per_point, .. } => {
                self.points_of(side, points) + self.points_for_losses(Side::Egyptian, *units_per_point)
            }
            Victory::Points { points, mahdists_per_point, egyptians_per_point, .. } => {
                let per_point = if side == Side::Egyptian { mahdists_per_point } else { egyptians_per_point };
                self.points_of(side, points) + self.points_for_losses(side.other(), *per_point)
            }
            Victory::Khartoum { prize, british_strength } => {
                let held = self.doubled_british_strength(*prize) >= 2 * u32::from(*british_strength);
                i32::from(held == (side == Side::Egyptian))
            }
            Victory::Holder { prize, .. } => i32::from(self.controls(side, Some(*prize))),
        };
        points.unsigned_abs()
    }

    /// Scenario 3: Souakim taken ends the game at once (14.3).
    pub(crate) fn sudden_death(&self) -> bool {
        match &self.scenario.0.victory {
            Victory::Points { sudden_death, .. } => self.controls(Side::Mahdist, *sudden_death),
            _ => false,
        }
    }

    pub(crate) fn finish(&mut self) {
        self.winner = self.judge();
        // Nothing goes on, so where the phase stood is forgotten.
        self.stage = 0;
        self.cursor = Hex::NONE;
        self.pending = Pending::of(Decision::Finished);
    }

    /// The check at the end of a game turn: counts months and ends the game if it is over (14).
    pub(crate) fn check_victory(&mut self) -> bool {
        if let Victory::Holder { prize, .. } = &self.scenario.0.victory {
            // Months in a row of one holder: a change of hands starts anew.
            let taken = self.controls(Side::Mahdist, Some(*prize));
            let held_by_taker = self.months_held & TAKEN != 0;
            let months = if taken == held_by_taker { self.months_held & !TAKEN } else { 0 };
            self.months_held = (months + 1) | if taken { TAKEN } else { 0 };
        }
        let over = self.ends_with_turn();
        if over {
            self.finish();
        }
        over
    }

    /// Whether the game ends with this game turn as things stand (14).
    pub(crate) fn ends_with_turn(&self) -> bool {
        self.turn + 1 >= self.scenario.turns
            || match &self.scenario.0.victory {
                Victory::ElObeid { sudden_death, .. } => self.controls(Side::Mahdist, Some(*sudden_death)),
                Victory::Khartoum { .. } => self.events.withdraw,
                Victory::Points { .. } | Victory::Holder { .. } => false,
            }
    }

    /// Who wins if the game ends now (14.1-14.3); `None` is a draw.
    fn judge(&self) -> Option<Side> {
        match &self.scenario.0.victory {
            Victory::ElObeid { sudden_death, prize, needed, .. } => {
                if self.controls(Side::Mahdist, Some(*sudden_death)) {
                    return Some(Side::Mahdist);
                }
                if self.controls(Side::Egyptian, Some(*prize)) {
                    return Some(Side::Egyptian);
                }
                (self.points(Side::Mahdist) >= u32::from(*needed)).then_some(Side::Mahdist)
            }
            Victory::Khartoum { .. } => {
                Some(if self.points(Side::Egyptian) > 0 { Side::Egyptian } else { Side::Mahdist })
            }
            Victory::Points { .. } if self.sudden_death() => Some(Side::Mahdist),
            Victory::Points { .. } => match self.points(Side::Egyptian).cmp(&self.points(Side::Mahdist)) {
                std::cmp::Ordering::Greater => Some(Side::Egyptian),
                std::cmp::Ordering::Less => Some(Side::Mahdist),
                std::cmp::Ordering::Equal => None,
            },
            Victory::Holder { prize, .. } => {
                Some(if self.controls(Side::Mahdist, Some(*prize)) { Side::Mahdist } else { Side::Egyptian })
            }
        }
    }

    /// The margin in [-1, 1] as the Egyptian player sees it (14.4): its sign is the result's, a draw is 0, and the more
    /// decisive half of the scale depends on the points held over the points at stake.
    pub(crate) fn margin(&self) -> f32 {
        let share = |held: f32, stake: f32| if stake > 0.0 { (held / stake).clamp(0.0, 1.0) } else { 0.0 };
        let decisive = match (&self.scenario.0.victory, self.winner) {
            (_, None) => return 0.0,
            (Victory::ElObeid { sudden_death, points, .. }, Some(winner)) => {
                let stake: i32 = points.iter().map(|p| i32::from(p.points)).sum();
                let mahdist = if self.controls(Side::Mahdist, Some(*sudden_death)) {
                    1.0
                } else {
                    share(self.points(Side::Mahdist) as f32, stake as f32)
                };
                if winner == Side::Mahdist { mahdist } else { 1.0 - mahdist }
            }
            (Victory::Khartoum { prize, british_strength }, Some(Side::Egyptian)) => {
                let needed = 2.0 * f32::from(*british_strength);
                share(self.doubled_british_strength(*prize) as f32 - needed, 4.0 * needed)
            }
            (Victory::Khartoum { prize, .. }, Some(Side::Mahdist)) => {
                f32::from(u8::from(self.controls(Side::Mahdist, Some(*prize))))
            }
            (Victory::Points { points, .. }, Some(winner)) => {
                if self.sudden_death() {
                    1.0
                } else {
                    let stake: i32 = points.iter().map(|p| i32::from(p.points)).sum();
                    let lead = self.points(winner) as f32 - self.points(winner.other()) as f32;
                    share(lead, stake as f32)
                }
            }
            (Victory::Holder { lesser, .. }, Some(winner)) => {
                let months = share(f32::from(self.months_held & !TAKEN), f32::from(self.scenario.turns));
                match lesser {
                    Some(lesser) => 0.5 * (months + f32::from(u8::from(self.controls(winner, Some(*lesser))))),
                    None => months,
                }
            }
        };
        let size = 0.5 + 0.5 * decisive;
        if self.winner == Some(Side::Egyptian) { size } else { -size }
    }
}

/// Bit of [`Campaign::months_held`] that says that the Mahdist holds the prize.
pub(crate) const TAKEN: u8 = 0x80;

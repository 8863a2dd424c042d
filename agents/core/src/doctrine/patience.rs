//! What a point is worth that lies some way ahead: less with every month, nothing beyond foresight or the end.

use crate::doctrine::weights::Weights;
use dervish_env::dervish::catalogue::Side;

/// Movement points beyond which nothing is in time.
const FAR: u16 = 160;

/// Discounts by distance, worked out anew where side or month change.
#[derive(Clone, Debug, Default)]
pub struct Patience {
    /// For whom, and how many game turns come after this one.
    of: Option<(Side, u8)>,
    /// Movement points made in a month.
    pace: f32,
    patience: f32,
    /// Months after which nothing counts.
    horizon: f32,
    /// Factors by movement points on the way: set out now, or put off as aims usually are.
    prompt: Vec<f32>,
    delayed: Vec<f32>,
    /// The same of what counts at the end of the game alone.
    timed: Vec<f32>,
}

impl Patience {
    /// Makes ready for a side with so many game turns after this one.
    pub fn begin(&mut self, weights: &Weights, side: Side, turns_left: u8) {
        if self.of == Some((side, turns_left)) {
            return;
        }
        self.of = Some((side, turns_left));
        let foresight = match side {
            Side::Egyptian => weights.egyptian.foresight,
            Side::Mahdist => weights.mahdist.foresight,
        };
        self.pace = weights.march.pace;
        self.patience = weights.march.patience;
        self.horizon = foresight.min(f32::from(turns_left) + 1.0);
        let most = (self.horizon * self.pace).max(0.0) as u16;
        let (mut prompt, mut delayed) = (std::mem::take(&mut self.prompt), std::mem::take(&mut self.delayed));
        prompt.clear();
        prompt.extend((0..=most).map(|cost| self.factor(self.months(cost))));
        delayed.clear();
        delayed.extend((0..=most).map(|cost| self.factor(weights.march.delay + self.months(cost))));
        let early = if side == Side::Egyptian { weights.egyptian.march_late } else { 0.0 };
        let left = f32::from(turns_left) + 1.0 - early;
        let timely = |months: f32| 1.0 / (1.0 + ((months - left) / weights.march.chance).exp());
        let mut timed = std::mem::take(&mut self.timed);
        timed.clear();
        timed.extend((0..FAR).map(|cost| {
            let months = self.months(cost);
            self.patience.powf(months) * timely(months)
        }));
        (self.prompt, self.delayed, self.timed) = (prompt, delayed, timed);
    }

    /// Months that a way of so many movement points takes at the usual pace.
    pub fn months(&self, cost: u16) -> f32 {
        f32::from(cost) / self.pace
    }

    /// Factor of points to be had at the end of a way of so many movement points.
    pub fn prompt(&self, cost: u16) -> f32 {
        self.prompt.get(usize::from(cost)).copied().unwrap_or(0.0)
    }

    /// The same where the aim is put off, as aims usually are.
    pub fn delayed(&self, cost: u16) -> f32 {
        self.delayed.get(usize::from(cost)).copied().unwrap_or(0.0)
    }

    /// Factor of points to be had for being there when the game ends, with a way of so many movement points to go: the
    /// chance to be in time, and a little less for every month that is still on the way.
    pub fn timed(&self, cost: u16) -> f32 {
        self.timed.get(usize::from(cost)).copied().unwrap_or(0.0)
    }

    fn factor(&self, months: f32) -> f32 {
        if months >= self.horizon { 0.0 } else { self.patience.powf(months) * (1.0 - months / self.horizon) }
    }
}

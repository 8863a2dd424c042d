//! Units counted by kind and order: what fights, starves, marches or recovers together.

use super::catalogue::{KINDS, Kind, KindSet};

/// Units of one side in one place, counted by kind; disrupted ones apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Force {
    /// In good order, by [`Kind::index`]. Vessels, fleet and flag are always here.
    pub good: [u8; KINDS],
    /// Disrupted, by [`Kind::index`].
    pub disrupted: [u8; KINDS],
}

impl Force {
    /// No unit at all.
    pub const EMPTY: Force = Force { good: [0; KINDS], disrupted: [0; KINDS] };

    /// Units of `kind`, in whatever order.
    #[inline]
    pub fn count(&self, kind: Kind) -> u32 {
        u32::from(self.good[kind.index()]) + u32::from(self.disrupted[kind.index()])
    }

    /// Good-order units whose kind is in `kinds`.
    #[inline]
    pub fn good_of(&self, kinds: KindSet) -> u32 {
        Self::sum(&self.good, kinds)
    }

    /// Disrupted units whose kind is in `kinds`.
    #[inline]
    pub fn disrupted_of(&self, kinds: KindSet) -> u32 {
        Self::sum(&self.disrupted, kinds)
    }

    /// All units whose kind is in `kinds`.
    #[inline]
    pub fn count_of(&self, kinds: KindSet) -> u32 {
        self.good_of(kinds) + self.disrupted_of(kinds)
    }

    /// The kinds of which there is a unit, good order or disrupted.
    #[inline]
    pub fn kinds_present(&self) -> KindSet {
        let mut bits = 0;
        for (i, (&good, &disrupted)) in self.good.iter().zip(&self.disrupted).enumerate() {
            bits |= u32::from(good | disrupted != 0) << i;
        }
        KindSet(bits)
    }

    #[inline]
    fn sum(counts: &[u8; KINDS], kinds: KindSet) -> u32 {
        let mut total = 0;
        for (i, &n) in counts.iter().enumerate() {
            total += u32::from(n) * (kinds.0 >> i & 1);
        }
        total
    }
}

//! Where the units stand: a flat sorted list of cohorts, the largest part of a position.
//!
//! Units of one kind, order and status in one hex have no identity; they are one [`Cohort`] with a count. The list is
//! kept sorted by hex, kind, order, group and status, without empty or repeated entries, so that equal positions have
//! equal bytes.

use super::board::Hex;
use super::catalogue::{Kind, KindSet, Side};
use super::force::Force;

/// Most cohorts that a position can hold; the counter pool (2.3) is not larger.
pub const CAPACITY: usize = 240;

/// What a unit has done in this march phase (8.1). Only units of the player whose march phase it is are ever
/// anything but fresh.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Status {
    /// Has neither marched nor fought.
    Fresh,
    /// Has marched.
    Marched,
    /// Has attacked.
    Fought,
}

impl Status {
    /// From the two bits that hold it.
    #[inline]
    pub const fn from_bits(bits: u8) -> Status {
        match bits {
            0 => Status::Fresh,
            1 => Status::Marched,
            _ => Status::Fought,
        }
    }
}

/// So many units of one kind, order and status in one hex, packed as
/// hex (12 bits) | kind (5) | disrupted (1) | group (1) | status (2) | count (8).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cohort(u32);

impl Cohort {
    /// A cohort outside any group.
    #[inline]
    pub const fn new(hex: Hex, kind: Kind, disrupted: bool, status: Status, count: u8) -> Cohort {
        Cohort(
            (hex.0 as u32) << 17 | (kind as u32) << 12 | (disrupted as u32) << 11 | (status as u32) << 8 | count as u32,
        )
    }
    /// Its hex.
    #[inline]
    pub const fn hex(self) -> Hex {
        Hex((self.0 >> 17) as u16)
    }
    /// Its kind.
    #[inline]
    pub const fn kind(self) -> Kind {
        Kind::at((self.0 >> 12 & 31) as usize)
    }
    /// Whether the units are disrupted.
    #[inline]
    pub const fn disrupted(self) -> bool {
        self.0 >> 11 & 1 == 1
    }
    /// Whether they belong to the group that marches, sails or attacks just now.
    #[inline]
    pub const fn grouped(self) -> bool {
        self.0 >> 10 & 1 == 1
    }
    /// Their status.
    #[inline]
    pub const fn status(self) -> Status {
        Status::from_bits((self.0 >> 8 & 3) as u8)
    }
    /// How many, at least 1.
    #[inline]
    pub const fn count(self) -> u8 {
        self.0 as u8
    }
    /// The side that commands them.
    #[inline]
    pub const fn side(self) -> Side {
        self.kind().side()
    }
    /// Good order and of a kind in `kinds`.
    #[inline]
    pub const fn good_in(self, kinds: KindSet) -> bool {
        !self.disrupted() && kinds.has(self.kind())
    }
    /// The same with another count.
    #[inline]
    pub const fn with_count(self, count: u8) -> Cohort {
        Cohort(self.0 & !0xff | count as u32)
    }
    /// The same in another hex.
    #[inline]
    pub const fn with_hex(self, hex: Hex) -> Cohort {
        Cohort(self.0 & 0x1_ffff | (hex.0 as u32) << 17)
    }
    /// The same in another status.
    #[inline]
    pub const fn with_status(self, status: Status) -> Cohort {
        Cohort(self.0 & !0x300 | (status as u32) << 8)
    }
    /// The same, in the group or out of it.
    #[inline]
    pub const fn with_group(self, grouped: bool) -> Cohort {
        Cohort(self.0 & !0x400 | (grouped as u32) << 10)
    }
    /// The same, disrupted or in good order.
    #[inline]
    pub const fn with_disrupted(self, disrupted: bool) -> Cohort {
        Cohort(self.0 & !0x800 | (disrupted as u32) << 11)
    }
    /// The same of another kind.
    #[inline]
    pub const fn with_kind(self, kind: Kind) -> Cohort {
        Cohort(self.0 & !0x1_f000 | (kind as u32) << 12)
    }
    /// Everything but the count: what makes two cohorts the same one.
    #[inline]
    const fn key(self) -> u32 {
        self.0 >> 8
    }
    /// The packed form.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl std::fmt::Debug for Cohort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {}x{}{}{} {:?}",
            self.hex(),
            self.count(),
            self.kind().id(),
            if self.disrupted() { " disrupted" } else { "" },
            if self.grouped() { " grouped" } else { "" },
            self.status()
        )
    }
}

/// All cohorts on the map, sorted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Units {
    len: u16,
    cohorts: [Cohort; CAPACITY],
}

impl std::fmt::Debug for Units {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl Units {
    /// No units.
    pub const EMPTY: Units = Units { len: 0, cohorts: [Cohort(0); CAPACITY] };

    /// All cohorts in order.
    #[inline]
    pub fn as_slice(&self) -> &[Cohort] {
        &self.cohorts[..self.len as usize]
    }

    /// The cohorts of one hex, both sides' (only a fleet ever shares a hex with the enemy).
    #[inline]
    pub fn at(&self, hex: Hex) -> &[Cohort] {
        let all = self.as_slice();
        let low = (hex.0 as u32) << 17;
        let start = all.partition_point(|c| c.0 < low);
        let mut end = start;
        while end < all.len() && all[end].hex() == hex {
            end += 1;
        }
        &all[start..end]
    }

    /// Adds units to a cohort, which need not exist. A count of 0 changes nothing.
    pub fn add(&mut self, cohort: Cohort) {
        if cohort.count() == 0 {
            return;
        }
        let len = self.len as usize;
        let at = self.cohorts[..len].partition_point(|c| c.key() < cohort.key());
        if at < len && self.cohorts[at].key() == cohort.key() {
            self.cohorts[at].0 += u32::from(cohort.count());
            return;
        }
        debug_assert!(len < CAPACITY, "more cohorts than counters");
        self.cohorts.copy_within(at..len, at + 1);
        self.cohorts[at] = cohort;
        self.len += 1;
    }

    /// Takes `cohort.count()` units out of the cohort of the same key, which must hold as many.
    pub fn remove(&mut self, cohort: Cohort) {
        if cohort.count() == 0 {
            return;
        }
        let len = self.len as usize;
        let at = self.cohorts[..len].partition_point(|c| c.key() < cohort.key());
        debug_assert!(at < len && self.cohorts[at].key() == cohort.key(), "no such cohort: {cohort:?}");
        debug_assert!(self.cohorts[at].count() >= cohort.count(), "too few in {:?}", self.cohorts[at]);
        if self.cohorts[at].count() > cohort.count() {
            self.cohorts[at].0 -= u32::from(cohort.count());
            return;
        }
        self.cohorts.copy_within(at + 1..len, at);
        self.cohorts[len - 1] = Cohort(0);
        self.len -= 1;
    }

    /// Replaces every cohort of a hex by what `change` makes of it; `None` takes it off the map.
    pub fn change_at(&mut self, hex: Hex, change: impl Fn(Cohort) -> Option<Cohort>) {
        let low = (hex.0 as u32) << 17;
        let len = self.len as usize;
        let start = self.cohorts[..len].partition_point(|c| c.0 < low);
        let mut end = start;
        let mut same = true;
        while end < len && self.cohorts[end].hex() == hex {
            same &= change(self.cohorts[end]) == Some(self.cohorts[end]);
            end += 1;
        }
        if same {
            return;
        }
        let mut old = [Cohort(0); CAPACITY];
        let taken = end - start;
        old[..taken].copy_from_slice(&self.cohorts[start..end]);
        self.cohorts.copy_within(end..len, start);
        self.cohorts[len - taken..len].fill(Cohort(0));
        self.len -= taken as u16;
        for &cohort in &old[..taken] {
            if let Some(new) = change(cohort) {
                self.add(new);
            }
        }
    }

    /// Makes every unit fresh and empties the group: the march phase is over.
    pub fn refresh(&mut self) {
        let len = self.len as usize;
        let mut kept = 0;
        for i in 0..len {
            let cohort = Cohort(self.cohorts[i].0 & !0x700);
            if kept > 0 && self.cohorts[kept - 1].key() == cohort.key() {
                self.cohorts[kept - 1].0 += u32::from(cohort.count());
            } else {
                self.cohorts[kept] = cohort;
                kept += 1;
            }
        }
        self.cohorts[kept..len].fill(Cohort(0));
        self.len = kept as u16;
    }

    /// Units of `kind` on the map.
    pub fn on_map(&self, kind: Kind) -> u32 {
        self.as_slice().iter().filter(|c| c.kind() == kind).map(|c| u32::from(c.count())).sum()
    }

    /// Whether `side` has a unit whose kind is in `kinds` in `hex`, in whatever order.
    #[inline]
    pub fn any(&self, hex: Hex, side: Side, kinds: KindSet) -> bool {
        self.at(hex).iter().any(|c| kinds.has(c.kind()) && c.side() == side)
    }

    /// Whether `side` has a good-order unit whose kind is in `kinds` in `hex`.
    #[inline]
    pub fn any_good(&self, hex: Hex, side: Side, kinds: KindSet) -> bool {
        self.at(hex).iter().any(|c| c.good_in(kinds) && c.side() == side)
    }

    /// The units of `side` in `hex` that `wanted` accepts, counted.
    pub fn force(&self, hex: Hex, side: Side, wanted: impl Fn(Cohort) -> bool) -> Force {
        let mut force = Force::EMPTY;
        for &c in self.at(hex) {
            if c.side() == side && wanted(c) {
                let counts = if c.disrupted() { &mut force.disrupted } else { &mut force.good };
                counts[c.kind().index()] += c.count();
            }
        }
        force
    }
}

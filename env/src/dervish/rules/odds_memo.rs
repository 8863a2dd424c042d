//! Distributions of combats that were worked out before, for each thread.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::combat::Combat;
use super::odds::Distribution;
use crate::dervish::scenario::FanaticCharge;

/// Combats that a thread remembers at most, some kilobytes each; then it begins anew.
const MOST_KNOWN: usize = 2048;

/// Bytes of a combat's key: two forces, two leaders, two hexes and what else bears on it.
const KEY_BYTES: usize = 114;

type Key = [u8; KEY_BYTES];

thread_local! {
    static KNOWN: RefCell<FxHashMap<(usize, Key), Distribution>> = RefCell::default();
}

impl Combat<'static> {
    /// Shows `use_it` the exact distribution of the combat from before its first roll: a remembered one, or one that is
    /// worked out now and remembered by this thread.
    pub fn with_distribution<T>(&self, use_it: impl FnOnce(&Distribution) -> T) -> T {
        // What lives as long as the process may be told apart by where it is.
        let key = (std::ptr::from_ref(self.catalogue) as usize, self.key());
        KNOWN.with_borrow_mut(|known| {
            if known.len() >= MOST_KNOWN && !known.contains_key(&key) {
                known.clear();
            }
            use_it(known.entry(key).or_insert_with(|| self.distribution()))
        })
    }

    /// All that bears on the combat, for combats of one scenario.
    fn key(&self) -> Key {
        let mut key = [0; KEY_BYTES];
        let mut rest = &mut key[..];
        let mut put = |bytes: &[u8]| {
            let (place, left) = std::mem::take(&mut rest).split_at_mut(bytes.len());
            place.copy_from_slice(bytes);
            rest = left;
        };
        for side in [&self.marching, &self.defending] {
            put(&side.force.good);
            put(&side.force.disrupted);
            put(&[side.tactical, side.leader_use as u8]);
        }
        for hex in [self.target, self.from] {
            let water = u8::from(hex.river) << 1 | u8::from(hex.sea);
            put(&[hex.relief as u8, hex.place.map_or(u8::MAX, |place| place as u8), water]);
        }
        let literal_charge = self.options.fanatic_charge == FanaticCharge::Always;
        put(&[
            self.marching_side as u8,
            u8::from(self.poor_morale),
            u8::from(self.options.flag),
            u8::from(literal_charge),
        ]);
        key
    }
}

const _: () = assert!(KEY_BYTES == 2 * (2 * crate::dervish::catalogue::KINDS + 2) + 2 * 3 + 4);

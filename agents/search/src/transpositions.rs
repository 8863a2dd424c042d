//! What a search by depth remembers of positions: a table of fixed size, the newer or deeper entry wins its place.

use dervish_env::game::Action;

/// A table of positions by key.
#[derive(Clone)]
pub(crate) struct Transpositions {
    /// A power of two of places; the lowest bits of the key choose one.
    places: Vec<Option<(u64, Entry)>>,
}

/// What is known of a position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Entry {
    /// Expected utility for the first seat, or a bound on it.
    pub value: f64,
    /// Depth to which it was searched.
    pub depth: u32,
    /// What the value is.
    pub bound: Bound,
    /// Whether it rests on ends of the game alone, so that to look deeper would change nothing.
    pub complete: bool,
    /// The best action, at a decision.
    pub best: Option<Action>,
}

/// What a remembered value says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// It is the value.
    Exact,
    /// The value is at least this.
    AtLeast,
    /// The value is at most this.
    AtMost,
}

impl Entry {
    /// The value, if it says all that a search to `depth` within the window could.
    pub fn settles(&self, depth: u32, low: f64, high: f64) -> Option<f64> {
        // A deeper value is another one; answers must not depend on what was searched before.
        let sure = (self.depth == depth || (self.complete && self.depth < depth))
            && match self.bound {
                Bound::Exact => true,
                Bound::AtLeast => self.value >= high,
                Bound::AtMost => self.value <= low,
            };
        sure.then_some(self.value)
    }
}

impl Transpositions {
    /// A table of at most `bytes`, but of one place at least.
    pub fn new(bytes: usize) -> Transpositions {
        let places = (bytes / size_of::<Option<(u64, Entry)>>()).max(1);
        let places = 1 << places.ilog2();
        Transpositions { places: vec![None; places] }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.places[..])
    }

    pub fn len(&self) -> usize {
        self.places.iter().flatten().count()
    }

    pub fn clear(&mut self) {
        self.places.fill(None);
    }

    pub fn get(&self, key: u64) -> Option<Entry> {
        self.places[self.place(key)].filter(|(known, _)| *known == key).map(|(_, entry)| entry)
    }

    pub fn put(&mut self, key: u64, entry: Entry) {
        let place = self.place(key);
        self.places[place] = Some((key, entry));
    }

    fn place(&self, key: u64) -> usize {
        key as usize & (self.places.len() - 1)
    }
}

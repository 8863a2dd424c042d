//! Putting the pairs of a match, which threads finish in any order, into the order of their numbers.
//!
//! A pair counts once all pairs before it do. Whatever ends a match (its test, an error, the spectator) ends it at a pair
//! that is booked, so it ends at the same one on any number of threads.

use crate::arena::match_play::{Contestant, MatchError, PlayedGame, Spectator};
use crate::arena::sprt::SprtPlan;
use crate::arena::statistics::Pentanomial;
use std::collections::BTreeMap;

/// The pairs of a match in the order of their numbers.
pub(super) struct Booking {
    sprt: Option<SprtPlan>,
    /// Pairs that count, from number 0 on without a gap.
    pairs: Vec<[PlayedGame; 2]>,
    /// By the points of A.
    pentanomial: Pentanomial,
    /// Pairs that were finished before one with a lower number.
    waiting: BTreeMap<u32, Result<[PlayedGame; 2], MatchError>>,
    /// The number of the first pair that is not wanted.
    end: u32,
    error: Option<MatchError>,
}

impl Booking {
    /// The booking of a match of so many pairs, of which `earlier` were played before and count as far as they are wanted.
    pub fn new(sprt: Option<SprtPlan>, pairs: u32, earlier: Vec<[PlayedGame; 2]>) -> Booking {
        let (pentanomial, waiting) = (Pentanomial::default(), BTreeMap::new());
        let mut booking = Booking { sprt, pairs: Vec::new(), pentanomial, waiting, end: pairs, error: None };
        for pair in earlier {
            if booking.open() {
                booking.book(pair);
            }
        }
        booking
    }

    /// Number of pairs that count so far.
    pub fn booked(&self) -> u32 {
        self.pairs.len() as u32
    }

    /// The number of the first pair that is not wanted.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The pairs that count, without their events.
    ///
    /// # Errors
    /// What went wrong in the pair that should have been the next.
    pub fn pairs(self) -> Result<Vec<[PlayedGame; 2]>, MatchError> {
        self.error.map_or(Ok(self.pairs), Err)
    }

    fn open(&self) -> bool {
        self.booked() < self.end
    }

    /// Takes a pair that was played, or not to its end (`None`), books what can be booked and tells the spectator of it.
    pub fn hand_in(
        &mut self,
        pair: u32,
        played: Result<Option<[PlayedGame; 2]>, MatchError>,
        spectator: &dyn Spectator,
    ) {
        let Some(played) = played.transpose() else { return };
        if played.is_err() {
            self.end = self.end.min(pair + 1);
        }
        self.waiting.insert(pair, played);
        while self.open() {
            let Some(played) = self.waiting.remove(&self.booked()) else { return };
            let game = 2 * self.booked() + 1;
            let told = played.and_then(|games| match spectator.pair_over(&games) {
                Ok(()) => Ok(games),
                Err(source) => Err(MatchError::Spectator { game, source }),
            });
            match told {
                Ok(games) => self.book(games),
                Err(error) => {
                    self.end = self.booked();
                    self.error = Some(error);
                }
            }
        }
    }

    fn book(&mut self, pair: [PlayedGame; 2]) {
        let [even, odd] = pair.each_ref().map(|game| game.outcome.score_of(Contestant::A));
        self.pentanomial.add(even, odd);
        self.pairs.push(pair.map(|game| PlayedGame { events: Vec::new(), ..game }));
        if self.sprt.is_some_and(|sprt| sprt.verdict(&self.pentanomial).is_some()) {
            self.end = self.booked();
        }
    }
}

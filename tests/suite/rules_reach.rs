//! Where groups, leaders and vessels can go in random games, against a second search written from the text of the rules
//! (8.3, 8.6, 8.7, 8.9, 8.10) over the hexsides of the map file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dervish_env::chance::SplitMix64;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Hex, PlaceKind, Reach, Relief};
use dervish_env::dervish::catalogue::{COMBAT, GUNBOATS, Kind, LAND, Leader, Side, VESSELS};
use dervish_env::dervish::hexside::Hexside;
use dervish_env::dervish::map_file::MapFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::dervish::tables::MarchResult;
use dervish_env::dervish::units::Cohort;
use dervish_env::game::{Action, Actor, Position};

/// A hexside of a river, how the river is open there, and whether it is the Atbara.
type RiverSide = (Hexside, u8, bool);

/// The rivers of the map file by the hexes that they touch, on either bank.
struct Rivers(BTreeMap<Hex, Vec<RiverSide>>);

impl Rivers {
    fn read() -> Rivers {
        let mut touching: BTreeMap<Hex, Vec<RiverSide>> = BTreeMap::new();
        for river in &MapFile::builtin().rivers {
            for &(side, season) in &river.hexsides {
                for hex in [Some(side.hex), side.across()].into_iter().flatten() {
                    touching.entry(hex).or_default().push((side, season, river.id == "atbara"));
                }
            }
        }
        Rivers(touching)
    }

    fn of(&self, hex: Hex) -> &[RiverSide] {
        self.0.get(&hex).map_or(&[], Vec::as_slice)
    }

    /// The river between two adjacent hexes: whether it is the Atbara.
    fn between(&self, a: Hex, b: Hex) -> Option<bool> {
        let found = self.of(a).iter().find(|(side, _, _)| side.hex == b || side.across() == Some(b));
        found.map(|(_, _, atbara)| *atbara)
    }
}

struct Oracle<'a> {
    position: &'a Campaign,
    rivers: &'a Rivers,
}

impl Oracle<'_> {
    fn neighbours(&self, hex: Hex) -> impl Iterator<Item = Hex> {
        self.position.scenario().board.cell(hex).neighbours.into_iter().filter(|n| n.is_some())
    }

    fn enemies(&self, hex: Hex) -> impl Iterator<Item = &Cohort> {
        let side = self.position.active();
        self.position.units().at(hex).iter().filter(move |c| c.side() != side && c.kind() != Kind::Fleet)
    }

    /// 8.3: next to a good-order enemy combat unit, not across a river.
    fn stops(&self, hex: Hex) -> bool {
        let near = |n: &Hex| self.rivers.between(hex, *n).is_none();
        self.neighbours(hex).filter(near).any(|n| self.enemies(n).any(|c| COMBAT.has(c.kind()) && !c.disrupted()))
    }

    /// 8.3: a boat or gunboat of his, or a town or village that he controls.
    fn means(&self, hex: Hex) -> bool {
        let side = self.position.active();
        let town = matches!(self.position.scenario().board.place_kind(hex), Some(PlaceKind::Town | PlaceKind::Village));
        let vessel = self.position.units().at(hex).iter().any(|c| c.side() == side && VESSELS.has(c.kind()));
        vessel || (town && self.position.controls_at(side, hex))
    }

    /// 4.4: from the main map to the extension, to units.
    fn religion_bars(&self, from: Hex, to: Hex) -> bool {
        let board = &self.position.scenario().board;
        self.position.active() == Side::Mahdist
            && self.position.events().religious_disagreement
            && board.cell(to).extension
            && !board.cell(from).extension
    }

    /// 8.9: two neighbours on the built part of the line.
    fn by_rail(&self, a: Hex, b: Hex) -> bool {
        let built = usize::from(self.position.railway_built());
        let line = &self.position.scenario().board.railway;
        let at = |hex: Hex| line.iter().take(built + 1).position(|h| *h == hex);
        self.position.active() == Side::Egyptian && matches!((at(a), at(b)), (Some(i), Some(j)) if i.abs_diff(j) == 1)
    }

    /// Points left after a step by land, and whether the move ends there; `None` if it is closed.
    fn step(&self, start: Hex, from: Hex, to: Hex, left: u8, mover: LandMover) -> Option<(u8, bool)> {
        let board = &self.position.scenario().board;
        if !board.is_land(to) || self.enemies(to).any(|c| COMBAT.has(c.kind())) {
            return None;
        }
        let enemies = self.enemies(to).next().is_some();
        let leader = mover == LandMover::Leader;
        if (leader && enemies) || (!leader && self.religion_bars(from, to)) {
            return None;
        }
        let ends = enemies || self.stops(to);
        if self.by_rail(from, to) && !enemies {
            return Some((if ends { 0 } else { left }, ends));
        }
        if mover == LandMover::Uncarried {
            return None;
        }
        let ground = match board.cell(to).relief {
            Relief::Flat => 1,
            Relief::Hills => 2,
            Relief::Mountain => 3,
        };
        let rains = (7..=10).contains(&self.position.month());
        let (cost, all) = match self.rivers.between(from, to) {
            None => (ground, false),
            Some(true) => (ground + if rains { 2 } else { 1 }, false),
            Some(false) if self.means(from) || self.means(to) => (ground.max(2), true),
            Some(false) => return None,
        };
        if cost > left && from != start {
            return None;
        }
        Some((if all || ends { 0 } else { left.saturating_sub(cost) }, ends))
    }

    fn by_land(&self, start: Hex, movement: u8, mover: LandMover) -> BTreeSet<Hex> {
        let mut left = BTreeMap::from([(start, movement)]);
        let mut again = VecDeque::from([start]);
        while let Some(from) = again.pop_front() {
            for to in self.neighbours(from).filter(|to| *to != start) {
                let Some((after, ends)) = self.step(start, from, to, left[&from], mover) else { continue };
                if left.get(&to).is_none_or(|old| after > *old) {
                    left.insert(to, after);
                    if !ends {
                        again.push_back(to);
                    }
                }
            }
        }
        left.into_keys().collect()
    }

    /// 8.7: what a hex of the way costs a vessel.
    fn water(&self, from: Hex, to: Hex, boat: bool) -> Option<u8> {
        let high = (7..=11).contains(&self.position.month());
        let open = |season: u8| season == Reach::ALL || (season == Reach::HIGH && high);
        let hauled = |season: u8| season == Reach::NONE;
        let mut best = None;
        for (a, first, _) in self.rivers.of(from) {
            for (b, second, _) in self.rivers.of(to) {
                if !a.meets(*b) {
                    continue;
                }
                let cost = match (*first, *second) {
                    (a, b) if open(a) && open(b) => 1,
                    (a, b) if boat && (open(a) || hauled(a)) && (open(b) || hauled(b)) => 2,
                    _ => continue,
                };
                best = Some(best.map_or(cost, |old: u8| old.min(cost)));
            }
        }
        best
    }

    fn by_river(&self, start: Hex, movement: u8, boat: bool) -> BTreeSet<Hex> {
        let mut left = BTreeMap::from([(start, movement)]);
        let mut again = VecDeque::from([start]);
        while let Some(from) = again.pop_front() {
            let points = left[&from];
            for to in self.neighbours(from) {
                let barred = self.enemies(to).any(|c| LAND.has(c.kind()) || VESSELS.has(c.kind()));
                let Some(cost) = self.water(from, to, boat) else { continue };
                if !barred && cost <= points && left.get(&to).is_none_or(|old| points - cost > *old) {
                    left.insert(to, points - cost);
                    again.push_back(to);
                }
            }
        }
        left.into_keys().collect()
    }

    fn group(&self) -> impl Iterator<Item = &Cohort> {
        self.position.units().at(self.position.group().hex).iter().filter(|c| c.grouped())
    }

    /// 8.2, 8.6: the slowest of the group, and whether it has more supply units than camels.
    fn of_group(&self) -> BTreeSet<Hex> {
        let catalogue = &self.position.scenario().catalogue;
        let movement = self.group().map(|c| catalogue.of(c.kind()).movement).min().expect("a group has units");
        let count = |kind: Kind| self.group().filter(|c| c.kind() == kind).map(|c| u32::from(c.count())).sum::<u32>();
        let mover = if count(Kind::Supply) > count(Kind::Camel) { LandMover::Uncarried } else { LandMover::Group };
        self.by_land(self.position.group().hex, movement, mover)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum LandMover {
    Group,
    /// A group with supply that has no camels.
    Uncarried,
    Leader,
}

/// The hexes among the legal orders.
fn offered(position: &Campaign, actions: &[Action]) -> BTreeSet<Hex> {
    let hex = |action: &Action| Hex::parse(position.action_text(*action).split(' ').nth(1)?);
    actions.iter().filter_map(hex).collect()
}

/// A second search is slow.
const ONE_IN: usize = 8;

/// Moves compared, by kind.
#[derive(Default, Debug)]
struct Compared {
    groups: u32,
    leaders: u32,
    vessels: u32,
}

/// Plays a random game to its end and compares one in [`ONE_IN`] of the moves that are offered.
fn compare(scenario: &'static Scenario, seed: u64, rivers: &Rivers) -> Compared {
    let mut compared = Compared::default();
    let mut position = Campaign::new(scenario);
    let mut random = SplitMix64::new(seed);
    let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
    loop {
        let oracle = Oracle { position: &position, rivers };
        let hex = position.pending().hex;
        let at = |what: &str| format!("{what} at {hex}, {} seed {seed} turn {}", scenario.name, position.game_turn());
        match position.actor() {
            Actor::Finished => return compared,
            Actor::Chance => {
                position.chance_outcomes_into(&mut outcomes);
                let outcome = outcomes[random.below(outcomes.len())].outcome;
                if position.pending_kind() != "roll_march" || random.below(ONE_IN) > 0 {
                    position.resolve_possible(outcome);
                    continue;
                }
                // With nowhere to go nobody is asked (3.3), and never else.
                let somewhere = oracle.of_group().len() > 1;
                let marches = scenario.tables.march(i32::from(outcome.0) + position.march_modifier());
                let asked = somewhere && marches != MarchResult::NoMarch;
                let text = at("a march roll");
                position.resolve_possible(outcome);
                assert_eq!(position.pending_kind() == "group_hex", asked, "{text}");
            }
            Actor::Player(_) => {
                position.legal_actions_into(&mut actions);
                let looks = random.below(ONE_IN) == 0;
                match position.pending_kind() {
                    "group_hex" if looks => {
                        assert_eq!(offered(&position, &actions), oracle.of_group(), "{}", at("a group"));
                        compared.groups += 1;
                    }
                    "alone_hex" if looks => {
                        let leader = Leader::ALL[usize::from(position.pending().subject)];
                        let movement = scenario.catalogue.leader(leader).movement;
                        let mut expected = oracle.by_land(hex, movement, LandMover::Leader);
                        expected.remove(&hex);
                        assert_eq!(offered(&position, &actions), expected, "{}", at("a leader"));
                        compared.leaders += 1;
                    }
                    "vessel_hex" if looks => {
                        let vessel = oracle.group().map(|c| c.kind()).find(|k| VESSELS.has(*k)).expect("a vessel");
                        let movement = scenario.catalogue.of(vessel).movement;
                        let mut expected = oracle.by_river(hex, movement, !GUNBOATS.has(vessel));
                        expected.remove(&hex);
                        assert_eq!(offered(&position, &actions), expected, "{}", at("a vessel"));
                        compared.vessels += 1;
                    }
                    _ => {}
                }
                position.apply_legal(actions[random.below(actions.len())]);
            }
        }
    }
}

#[test]
fn random_games_offer_the_moves_of_the_rules() {
    let rivers = Rivers::read();
    let mut all = Compared::default();
    for name in Scenario::BUILTIN_NAMES {
        for seed in 0..3 {
            let compared = compare(Scenario::builtin(name).unwrap(), seed, &rivers);
            all.groups += compared.groups;
            all.leaders += compared.leaders;
            all.vessels += compared.vessels;
        }
    }
    assert!(all.groups > 200 && all.leaders > 20 && all.vessels > 20, "{all:?}");
}

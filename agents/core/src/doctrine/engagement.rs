//! What a combat would bring, at a glance: the two rounds of chapter 9 with each side taken as so many units of one
//! class. About a microsecond where the exact distribution ([`Combat::distribution`]) takes a hundred times as long;
//! planning looks at many combats that are never fought, and at most of them again and again, so that what has been
//! worked out is kept ([`Engagements`]).
//!
//! [`Combat::distribution`]: dervish_env::dervish::rules::combat::Combat::distribution

use dervish_env::dervish::board::{PlaceKind, Relief};
use dervish_env::dervish::catalogue::{COMBAT, Catalogue, Class, GUNBOATS, KINDS, Kind, LAND};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::rules::combat::{CombatHex, LeaderUse};
use dervish_env::dervish::scenario::Scenario;
use dervish_env::dervish::tables::{Morale, Tables};

/// What a force brings to a combat (9.4, 9.5).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Array {
    /// Names all that it was made of.
    key: u64,
    /// Land units in good order.
    good: f32,
    /// Disrupted land units.
    disrupted: f32,
    /// Good-order combat units, the rolling units of melee.
    fighters: f32,
    /// Rolling units of fire.
    shooters: f32,
    /// Whether anything can fire.
    fires: bool,
    gunboats: bool,
    fleet: bool,
    veterans: f32,
    rabble_or_fanatics: f32,
    /// Fire factors of classes other than F.
    fire: f32,
    guns: f32,
    /// Melee factors, half for disrupted units.
    melee: f32,
    /// Melee factors of good-order fanatics.
    fanatics: f32,
    /// The class of most of its land units.
    class: Class,
    tactical: i32,
    /// In which round the leader counts.
    leads: LeaderUse,
}

impl Array {
    /// The array of a force under a leader. Vessels, fleet and flag may be in the force.
    pub fn of(catalogue: &Catalogue, force: &Force, tactical: u8, leads: LeaderUse, poor_morale: bool) -> Array {
        let mut array = Array {
            key: key_of(force, tactical, leads, poor_morale),
            good: 0.0,
            disrupted: 0.0,
            fighters: 0.0,
            shooters: 0.0,
            fires: false,
            gunboats: false,
            fleet: false,
            veterans: 0.0,
            rabble_or_fanatics: 0.0,
            fire: 0.0,
            guns: 0.0,
            melee: 0.0,
            fanatics: 0.0,
            class: Class::R,
            tactical: i32::from(tactical),
            leads,
        };
        let mut classes = [0.0f32; 4];
        for kind in force.kinds_present().iter() {
            let data = catalogue.of(kind);
            let class = catalogue.class_under(kind, poor_morale);
            let good = f32::from(force.good[kind.index()]);
            let disrupted = f32::from(force.disrupted[kind.index()]);
            if LAND.has(kind) {
                array.good += good;
                array.disrupted += disrupted;
                classes[class as usize] += good + disrupted;
            }
            if data.fire > 0 && good > 0.0 {
                array.fires = true;
                array.fleet |= kind == Kind::Fleet;
                if GUNBOATS.has(kind) {
                    array.gunboats = true;
                } else {
                    array.shooters += good;
                    match class {
                        Class::V => array.veterans += good,
                        Class::F | Class::R => array.rabble_or_fanatics += good,
                        Class::L => {}
                    }
                }
                if class != Class::F {
                    array.fire += good * f32::from(data.fire);
                }
            }
            array.guns += good * f32::from(data.gun);
            if COMBAT.has(kind) {
                array.fighters += good;
                array.melee += (good + 0.5 * disrupted) * f32::from(data.melee);
                if class == Class::F {
                    array.fanatics += good * f32::from(data.melee);
                }
            }
        }
        let most = Class::ALL.into_iter().max_by(|a, b| classes[*a as usize].total_cmp(&classes[*b as usize]));
        array.class = most.unwrap_or(Class::R);
        array
    }

    /// Land units.
    pub fn units(&self) -> f32 {
        self.good + self.disrupted
    }

    /// The same with so many units left in each state; what they bring shrinks in proportion.
    fn reduced(&self, good: f32, disrupted: f32) -> Array {
        let share = if self.good > 0.0 { good / self.good } else { 0.0 };
        Array {
            good,
            disrupted,
            fighters: self.fighters * share,
            melee: self.melee * (good + 0.5 * disrupted) / (self.good + 0.5 * self.disrupted).max(0.5),
            fanatics: self.fanatics * share,
            ..*self
        }
    }
}

/// A 64-bit name of what an array is made of.
fn key_of(force: &Force, tactical: u8, leads: LeaderUse, poor_morale: bool) -> u64 {
    let mut bytes = [0u8; (2 * KINDS + 3).next_multiple_of(8)];
    bytes[..KINDS].copy_from_slice(&force.good);
    bytes[KINDS..2 * KINDS].copy_from_slice(&force.disrupted);
    bytes[2 * KINDS..2 * KINDS + 3].copy_from_slice(&[tactical, leads as u8, u8::from(poor_morale)]);
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().fold(0, |key, word| mixed(key, u64::from_le_bytes(*word)))
}

/// One step of a hash: the finaliser of SplitMix64 over a word and what came before.
fn mixed(key: u64, word: u64) -> u64 {
    let mut z = (key ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The ground of a combat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// What the defender adds in both rounds, 0-2.
    pub ground: i32,
    /// Whether the defender's hex touches a river.
    pub river: bool,
    /// Whether the attacker's hex touches a river.
    pub from_river: bool,
    /// Whether the attacker's hex is adjacent to the sea.
    pub from_sea: bool,
}

impl Site {
    /// The site of an attack from one hex on another.
    pub fn of(from: &CombatHex, target: &CombatHex) -> Site {
        let relief = match target.relief {
            Relief::Flat => 0,
            Relief::Hills => 1,
            Relief::Mountain => 2,
        };
        let place = match target.place {
            None => 0,
            Some(PlaceKind::Village | PlaceKind::Oasis) => 1,
            Some(PlaceKind::Town) => 2,
        };
        Site { ground: relief.max(place), river: target.river, from_river: from.river, from_sea: from.sea }
    }

    /// A number that no other site has.
    fn number(self) -> u64 {
        let flags = [self.river, self.from_river, self.from_sea];
        flags.iter().fold(self.ground as u64, |number, flag| number << 1 | u64::from(*flag))
    }
}

/// What a side can expect of a combat; units are land units.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Expectation {
    /// Units destroyed.
    pub destroyed: f32,
    /// Units disrupted and left.
    pub disrupted: f32,
    /// Probability that it wins (9.9).
    pub wins: f32,
    /// Probability that nothing of it is left.
    pub gone: f32,
}

/// What both sides can expect; the attacker first.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Prospect {
    /// The side that attacks.
    pub attacker: Expectation,
    /// The side that is attacked.
    pub defender: Expectation,
}

/// One side after a test.
#[derive(Clone, Copy)]
struct State {
    probability: f32,
    good: f32,
    disrupted: f32,
    destroyed: f32,
    /// Destroyed, or disrupted in this combat and left.
    lost: f32,
}

const RESULTS: [Morale; 5] = [Morale::Fail, Morale::Shaken, Morale::Hold, Morale::Steady, Morale::Good];

/// Modifiers below the one and above the other read like these: every roll fails or is good.
const MODIFIERS: std::ops::RangeInclusive<i32> = -24..=24;

/// Probabilities of the morale table's results (9.6) by class and modifier.
#[derive(Clone, Debug)]
struct MoraleOdds(Vec<[f32; 5]>);

impl MoraleOdds {
    fn of(tables: &Tables) -> MoraleOdds {
        let mut odds = Vec::with_capacity(Class::ALL.len() * MODIFIERS.count());
        for class in Class::ALL {
            for modifier in MODIFIERS {
                let mut results = [0.0; 5];
                for sum in 2..=12i32 {
                    results[tables.morale(class, sum + modifier) as usize] += (6 - (sum - 7).abs()) as f32 / 36.0;
                }
                odds.push(results);
            }
        }
        MoraleOdds(odds)
    }

    fn results(&self, class: Class, modifier: i32) -> &[f32; 5] {
        let modifier = modifier.clamp(*MODIFIERS.start(), *MODIFIERS.end()) - MODIFIERS.start();
        &self.0[class as usize * MODIFIERS.count() + modifier as usize]
    }
}

/// Prospects that are kept at most, a power of two.
const KEPT: usize = 4096;

/// Prospects that have been worked out, by what they follow from.
#[derive(Clone, Debug, Default)]
pub struct Engagements {
    /// The scenario whose tables they follow.
    scenario: Option<&'static Scenario>,
    odds: Option<MoraleOdds>,
    /// By the low bits of the key.
    kept: Vec<(u64, Prospect)>,
}

impl Engagements {
    /// Makes ready for a scenario.
    pub fn begin(&mut self, scenario: &'static Scenario) {
        if self.scenario.is_some_and(|s| std::ptr::eq(s, scenario)) {
            return;
        }
        self.scenario = Some(scenario);
        self.odds = Some(MoraleOdds::of(&scenario.tables));
        self.kept.clear();
        self.kept.resize(KEPT, (0, Prospect::default()));
    }

    /// The likely course of an attack in the scenario of [`Engagements::begin`], before which nothing is expected.
    pub fn prospect(&mut self, attacker: &Array, defender: &Array, site: Site) -> Prospect {
        let Some(odds) = &self.odds else { return Prospect::default() };
        let key = mixed(mixed(attacker.key, defender.key.rotate_left(1)), site.number());
        let (known, prospect) = &mut self.kept[key as usize % KEPT];
        if *known != key {
            (*known, *prospect) = (key, engage(odds, attacker, defender, site));
        }
        *prospect
    }
}

/// The likely course of an attack.
fn engage(odds: &MoraleOdds, attacker: &Array, defender: &Array, site: Site) -> Prospect {
    let after_fire = [
        tested(odds, attacker, fire_modifier(attacker, defender, true, site), volley(defender), None),
        tested(odds, defender, fire_modifier(defender, attacker, false, site), volley(attacker), None),
    ];
    let mut prospect = Prospect::default();
    for a in after_fire[0].iter().filter(|state| state.probability > 0.0) {
        let attackers = attacker.reduced(a.good, a.disrupted);
        for d in after_fire[1].iter().filter(|state| state.probability > 0.0) {
            let probability = a.probability * d.probability;
            let defenders = defender.reduced(d.good, d.disrupted);
            let fought = attackers.units() > 0.0
                && defenders.units() > 0.0
                && (attackers.fighters > 0.0 || defenders.fighters > 0.0);
            let ends = if fought {
                let charged = melee_modifier(&attackers, &defenders, true, site);
                let charging = melee_modifier(&defenders, &attackers, false, site);
                [
                    tested(odds, &attackers, charged, Some(defenders.fighters), Some(a)),
                    tested(odds, &defenders, charging, Some(attackers.fighters), Some(d)),
                ]
            } else {
                [tested(odds, &attackers, 0, None, Some(a)), tested(odds, &defenders, 0, None, Some(d))]
            };
            let broken = |states: &[State; 5], start: f32| -> f32 {
                states.iter().filter(|s| 2.0 * s.lost >= start).map(|s| s.probability).sum()
            };
            let broken = [broken(&ends[0], attacker.units()), broken(&ends[1], defender.units())];
            prospect.attacker.wins += probability * broken[1] * (1.0 - broken[0]);
            prospect.defender.wins += probability * broken[0] * (1.0 - broken[1]);
            for (side, states) in [(&mut prospect.attacker, &ends[0]), (&mut prospect.defender, &ends[1])] {
                for s in states {
                    let weight = probability * s.probability;
                    side.destroyed += weight * s.destroyed;
                    side.disrupted += weight * s.disrupted;
                    if s.good + s.disrupted < 0.5 {
                        side.gone += weight;
                    }
                }
            }
        }
    }
    prospect
}

/// Rolling units of fire, if anything fires.
fn volley(firing: &Array) -> Option<f32> {
    firing.fires.then_some(firing.shooters)
}

/// A side after a test against so many rolling units; `None`: no test is called for. `before` carries what it has
/// lost already.
fn tested(odds: &MoraleOdds, side: &Array, modifier: i32, rolling: Option<f32>, before: Option<&State>) -> [State; 5] {
    let (destroyed, lost) = before.map_or((0.0, 0.0), |b| (b.destroyed, b.lost));
    let start = State { probability: 0.0, good: side.good, disrupted: side.disrupted, destroyed, lost };
    let mut states = [start; 5];
    let Some(rolling) = rolling else {
        states[4].probability = 1.0;
        return states;
    };
    for (state, &probability) in states.iter_mut().zip(odds.results(side.class, modifier)) {
        state.probability = probability;
    }
    for (state, result) in states.iter_mut().zip(RESULTS) {
        let (kills, shocks) = match result {
            Morale::Fail => (2.0 * rolling, 2.0 * rolling),
            Morale::Shaken => (rolling, rolling),
            Morale::Hold => (0.0, rolling),
            Morale::Steady => (0.0, (0.5 * rolling).floor()),
            Morale::Good => (0.0, 0.0),
        };
        state.suffer(kills, shocks);
    }
    states
}

impl State {
    /// Losses within one class (9.8): the disrupted die first, what is shocked twice dies.
    fn suffer(&mut self, kills: f32, shocks: f32) {
        let from_disrupted = kills.min(self.disrupted);
        let from_good = (kills - from_disrupted).min(self.good);
        self.disrupted -= from_disrupted;
        self.good -= from_good;
        let shocked = shocks.min(self.good);
        let twice = (shocks - shocked).min(self.disrupted + shocked);
        self.good -= shocked;
        self.disrupted += shocked - twice;
        self.destroyed += from_disrupted + from_good + twice;
        self.lost += from_disrupted + from_good + shocked;
    }
}

fn leader(side: &Array, round: LeaderUse) -> i32 {
    if side.leads == round { side.tactical } else { 0 }
}

/// Modifiers of a test under fire (9.4).
fn fire_modifier(testers: &Array, firing: &Array, attacking: bool, site: Site) -> i32 {
    let mut sum = leader(testers, LeaderUse::Fire);
    let half = |units: f32| units > 0.0 && 2.0 * units >= firing.shooters;
    sum -= i32::from(half(firing.veterans));
    sum += i32::from(half(firing.rabble_or_fanatics));
    sum -= i32::from(firing.guns > 0.0 && firing.guns >= 2.0 * testers.guns);
    sum -= (firing.fire / 6.0) as i32;
    sum -= i32::from(firing.gunboats && if attacking { site.from_river } else { site.river });
    if attacking {
        sum -= i32::from(firing.fleet && site.from_sea);
    } else {
        sum += site.ground;
    }
    sum
}

/// Modifiers of a test in melee (9.4), cavalry left out.
fn melee_modifier(testers: &Array, enemy: &Array, attacking: bool, site: Site) -> i32 {
    let mut sum = leader(testers, LeaderUse::Melee);
    if testers.melee > 0.0 {
        let odds = if enemy.melee > 0.0 { testers.melee / enemy.melee } else { 4.0 };
        sum += (odds as i32 - 1).clamp(0, 3);
    }
    if !attacking {
        sum += site.ground;
        sum -= 2 * i32::from(enemy.fanatics > 0.0 && enemy.fanatics >= testers.melee);
    }
    sum
}

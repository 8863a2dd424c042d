//! What a wargamer sees when he looks at the board: stacks, what places and units are worth in this scenario, what
//! hunger and the enemy would do to a stack in a hex.

use crate::doctrine::engagement::{Array, Prospect, Site, engage};
use crate::doctrine::weights::Weights;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Board, Hex, MAX_PLACES, PlaceId, PlaceKind};
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, COMBAT, Class, KINDS, Kind, LAND, Leader, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::rules::combat::{CombatHex, LeaderUse};
use dervish_env::dervish::scenario::Victory;
use dervish_env::dervish::tables::Recovery;
use dervish_env::dervish::units::Cohort;

/// Hexes that a march roll covers over open ground (2.1, 8.3).
const MARCH: u32 = 6;
/// Share of a unit's worth that is lost when a combat leaves it disrupted.
pub const SHAKEN: f32 = 0.35;
/// Share of a unit's worth that is lost while it stays disrupted for a month more.
const LINGERS: f32 = 0.2;

/// Units of one side that are looked at together: a stack, a group, a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Party {
    /// The units; vessels, fleet and flag may be among them.
    pub force: Force,
    /// Highest tactical rating of its leaders, 0 without one (2.2).
    pub tactical: u8,
    /// Highest strategic rating of its leaders, 0 without one (2.2).
    pub strategic: u8,
}

impl Party {
    /// Good-order combat units.
    pub fn good(&self) -> u32 {
        self.force.good_of(COMBAT)
    }
    /// Good-order British and Indian combat units.
    pub fn british(&self) -> u32 {
        self.force.good_of(BRITISH_COMBAT)
    }
    /// Both together.
    pub fn with(&self, other: &Party) -> Party {
        let mut sum = *self;
        for k in 0..KINDS {
            sum.force.good[k] += other.force.good[k];
            sum.force.disrupted[k] += other.force.disrupted[k];
        }
        sum.tactical = sum.tactical.max(other.tactical);
        sum.strategic = sum.strategic.max(other.strategic);
        sum
    }
}

/// All units of one side in one hex.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stack {
    /// Where.
    pub hex: Hex,
    /// Who.
    pub party: Party,
}

/// The board as one side sees it.
#[derive(Clone, Debug)]
pub struct Assessment<'p> {
    /// The position.
    pub position: &'p Campaign,
    /// The weights.
    pub weights: &'p Weights,
    /// Who looks.
    pub side: Side,
    /// His stacks by hex (13.3).
    pub own: Vec<Stack>,
    /// The enemy's.
    pub enemy: Vec<Stack>,
    /// Game turns that come after this one.
    pub turns_left: u8,
    stakes: Stakes,
}

impl<'p> Assessment<'p> {
    /// Looks at a position with the eyes of `side`.
    pub fn new(position: &'p Campaign, weights: &'p Weights, side: Side) -> Assessment<'p> {
        let scenario = position.scenario();
        Assessment {
            position,
            weights,
            side,
            own: stacks(position, side),
            enemy: stacks(position, side.other()),
            turns_left: scenario.turns.saturating_sub(position.game_turn() + 1),
            stakes: Stakes::of(position, weights),
        }
    }

    /// The map.
    pub fn board(&self) -> &'static Board {
        &self.position.scenario().board
    }

    /// What a place counts for, whoever holds it.
    pub fn worth(&self, place: PlaceId) -> f32 {
        self.stakes.places[usize::from(place.0)]
    }

    /// What the place in a hex counts for; 0 without one.
    pub fn worth_at(&self, hex: Hex) -> f32 {
        self.board().cell(hex).place.map_or(0.0, |place| self.worth(place))
    }

    /// What taking the place in a hex would change; 0 if it is this side's already.
    pub fn swing_at(&self, hex: Hex) -> f32 {
        let Some(place) = self.board().cell(hex).place else { return 0.0 };
        match self.position.controller(place) {
            Some(holder) if holder == self.side => 0.0,
            Some(_) if self.stakes.both_score => 2.0 * self.worth(place),
            _ => self.worth(place),
        }
    }

    /// Worth of a unit of a kind.
    pub fn unit_worth(&self, kind: Kind) -> f32 {
        self.stakes.units[kind.index()]
    }

    /// Mean worth of the land units of a force.
    pub fn mean_worth(&self, force: &Force) -> f32 {
        let (mut sum, mut count) = (0.0, 0.0);
        for kind in force.kinds_present().and(LAND).iter() {
            let n = force.count(kind) as f32;
            sum += n * self.unit_worth(kind);
            count += n;
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// This side's stack in a hex.
    pub fn own_at(&self, hex: Hex) -> Option<&Stack> {
        self.own.binary_search_by_key(&hex, |s| s.hex).ok().map(|i| &self.own[i])
    }

    /// The enemy's stack in a hex.
    pub fn enemy_at(&self, hex: Hex) -> Option<&Stack> {
        self.enemy.binary_search_by_key(&hex, |s| s.hex).ok().map(|i| &self.enemy[i])
    }

    /// Units of this side in a hex that `wanted` accepts, with the leaders there if `led`.
    pub fn party_of(&self, hex: Hex, led: bool, wanted: impl Fn(Cohort) -> bool) -> Party {
        let force = self.position.units().force(hex, self.side, wanted);
        party(self.position, self.side, hex, force, |_| led)
    }

    /// The group that marches just now, with its leaders.
    pub fn group(&self) -> Party {
        let hex = self.position.group().hex;
        let force = self.position.units().force(hex, self.side, Cohort::grouped);
        party(self.position, self.side, hex, force, |leader| self.position.leader(leader).grouped)
    }

    // ----- combat -----

    /// The array in which `party` fights: the Mahdist's leaders help through the fire, the Egyptian player's in melee.
    pub fn array(&self, party: &Party, side: Side) -> Array {
        let leads = if side == Side::Mahdist { LeaderUse::Fire } else { LeaderUse::Melee };
        let poor_morale = self.position.events().poor_morale;
        Array::of(&self.position.scenario().catalogue, &party.force, party.tactical, leads, poor_morale)
    }

    /// What of a hex matters to combat.
    pub fn combat_hex(&self, hex: Hex) -> CombatHex {
        let cell = self.board().cell(hex);
        CombatHex { relief: cell.relief, place: self.board().place_kind(hex), river: cell.rivers != 0, sea: cell.coast }
    }

    /// What an attack of `party` on `target` would bring; from `from` if that is known.
    pub fn attack(&self, party: &Party, from: Option<Hex>, target: &Stack) -> Prospect {
        let from = from.map_or(CombatHex::OPEN, |hex| self.combat_hex(hex));
        let site = Site::of(&from, &self.combat_hex(target.hex));
        let mut attackers = *party;
        for kind in Kind::ALL {
            attackers.force.disrupted[kind.index()] = 0;
        }
        let attackers = self.array(&attackers, self.side);
        let defenders = self.array(&target.party, self.side.other());
        engage(&self.position.scenario().tables, &attackers, &defenders, site)
    }

    /// Factors of the worth of enemies and of own units lost.
    pub fn ferocity(&self) -> (f32, f32) {
        match self.side {
            Side::Egyptian => (self.weights.egyptian.kill, self.weights.egyptian.loss),
            Side::Mahdist => (self.weights.mahdist.kill, self.weights.mahdist.loss),
        }
    }

    /// Points that an attack with this prospect is worth: enemies and the place gained against units lost.
    pub fn attack_worth(&self, prospect: &Prospect, party: &Party, target: &Stack) -> f32 {
        let (kill, loss) = self.ferocity();
        let cleared = prospect.defender.gone.max(prospect.attacker.wins);
        let gained = prospect.defender.destroyed + SHAKEN * prospect.defender.disrupted;
        let lost = prospect.attacker.destroyed + SHAKEN * prospect.attacker.disrupted;
        kill * gained * self.mean_worth(&target.party.force) + cleared * self.swing_at(target.hex)
            - loss * lost * self.mean_worth(&party.force)
            + cleared * self.relief(target.hex)
    }

    /// What driving the enemy from a hex is worth to the places of the Egyptian player that he besieges from there.
    pub fn relief(&self, hex: Hex) -> f32 {
        if self.side == Side::Mahdist {
            return 0.0;
        }
        let near = self.board().cell(hex).neighbours;
        let held = near.iter().filter(|n| n.is_some() && self.position.controls_at(self.side, **n));
        let besieged = held.filter(|n| self.own_at(**n).is_some());
        self.weights.egyptian.relief * besieged.map(|n| self.worth_at(*n)).sum::<f32>()
    }

    // ----- hunger -----

    /// Points that a stack of this side loses at the end of this turn if it stands in `hex` (10), at the cheaper of
    /// attrition and a supply unit; 0 where it is not this side's turn.
    pub fn hunger(&self, hex: Hex, party: &Party) -> f32 {
        let loss = self.attrition(hex, party);
        let fed = self.side == Side::Egyptian && party.force.count(Kind::Supply) > 0;
        if fed { loss.min(self.unit_worth(Kind::Supply)) } else { loss }
    }

    /// The same where the stack rolls for attrition.
    pub fn attrition(&self, hex: Hex, party: &Party) -> f32 {
        if self.side != self.position.active() {
            return 0.0;
        }
        let force = &party.force;
        let count = force.count_of(LAND) + force.count(Kind::Civilian);
        let row = self.position.attrition_row(hex);
        let modifier = self.position.attrition_modifier(hex);
        let tables = &self.position.scenario().tables;
        let (mut hit, mut starved) = (0.0, 0.0);
        for die in 1..=6 {
            let Some(spared) = tables.attrition(row, die + modifier) else { continue };
            let spared = u32::from(spared);
            hit += count.saturating_sub(spared) as f32 / 6.0;
            starved += force.disrupted_of(LAND).saturating_sub(spared) as f32 / 6.0;
        }
        if hit <= 0.0 {
            return 0.0;
        }
        let mean = self.mean_worth(force);
        match self.side {
            Side::Egyptian => hit * mean,
            Side::Mahdist => mean * (starved + (hit - starved).max(0.0) * self.toll(hex, party.strategic)),
        }
    }

    /// Share of its worth that a disrupted unit of this side's most common class loses in recovery in a hex (11.1):
    /// all of it where it fails, a little where it stays disrupted.
    pub fn toll(&self, hex: Hex, strategic: u8) -> f32 {
        let place = match self.board().place_kind(hex) {
            Some(PlaceKind::Town) => 2,
            Some(PlaceKind::Village) => 1,
            _ => 0,
        };
        let class = if self.side == Side::Mahdist { Class::F } else { Class::L };
        let tables = &self.position.scenario().tables;
        let shares = (2..=12i32).map(|sum| {
            let share = match tables.recovery(class, sum + place + i32::from(strategic)) {
                Recovery::Fail => 1.0,
                Recovery::Hold => LINGERS,
                Recovery::Good => 0.0,
            };
            share * (6 - (sum - 7).abs()) as f32 / 36.0
        });
        shares.sum()
    }

    // ----- danger -----

    /// Whether the enemy has another player turn.
    pub fn enemy_moves_again(&self) -> bool {
        self.turns_left > 0
            || (self.position.active() == self.side && self.side == self.position.scenario().first_player)
    }

    /// How near the enemy's combat units are to a hex, in hexes over whatever lies between.
    pub fn enemy_distance(&self, hex: Hex) -> u32 {
        let armed = self.enemy.iter().filter(|s| s.party.good() > 0);
        armed.map(|s| Board::distance(s.hex, hex)).min().unwrap_or(u32::MAX)
    }
}

/// What enemy attacks threaten to do to one party, wherever it goes.
#[derive(Clone, Debug)]
pub struct Threats {
    /// For each enemy stack: what it gains if it attacks, by the ground's bonus 0-2.
    losses: Vec<[Option<f32>; 3]>,
    array: Array,
    mean: f32,
}

impl Threats {
    /// The threats to a party.
    pub fn to(assessment: &Assessment, party: &Party) -> Threats {
        Threats {
            losses: vec![[None; 3]; assessment.enemy.len()],
            array: assessment.array(party, assessment.side),
            mean: assessment.mean_worth(&party.force),
        }
    }

    /// Points that the enemy stands to gain on the party in a hex.
    pub fn at(&mut self, assessment: &Assessment, hex: Hex) -> f32 {
        if !assessment.enemy_moves_again() {
            return 0.0;
        }
        let march = &assessment.weights.march;
        let site = Site::of(&CombatHex::OPEN, &assessment.combat_hex(hex));
        let mut worst: f32 = 0.0;
        for (i, stack) in assessment.enemy.iter().enumerate() {
            let distance = Board::distance(stack.hex, hex);
            if distance > 2 * MARCH || stack.party.good() == 0 {
                continue;
            }
            let comes = match distance {
                0..=1 => march.come_near,
                _ if assessment.tied_down(stack) => continue,
                2..=MARCH => march.come_march,
                _ => march.come_far,
            };
            let array = &self.array;
            let loss = *self.losses[i][site.ground as usize].get_or_insert_with(|| {
                let attackers = assessment.array(&stack.party, assessment.side.other());
                let tables = &assessment.position.scenario().tables;
                let prospect = engage(tables, &attackers, array, site);
                let lost = self.mean * (prospect.defender.destroyed + SHAKEN * prospect.defender.disrupted);
                let price = assessment.mean_worth(&stack.party.force)
                    * (prospect.attacker.destroyed + SHAKEN * prospect.attacker.disrupted);
                (lost - price).max(0.0)
            });
            worst = worst.max(comes * loss);
        }
        worst
    }
}

impl Assessment<'_> {
    /// Whether one of this side's stacks may leave where it is: not a garrison that is needed there.
    pub fn is_free(&self, stack: &Stack) -> bool {
        let e = &self.weights.egyptian;
        stack.party.good() > 0
            && (self.side == Side::Mahdist
                || stack.party.british() > 0
                || !self.position.controls_at(self.side, stack.hex)
                || stack.party.good() >= e.garrison + e.column)
    }

    /// Whether an enemy stack stays where it is: an Egyptian garrison without British troops.
    fn tied_down(&self, stack: &Stack) -> bool {
        self.side == Side::Mahdist
            && stack.party.british() == 0
            && self.worth_at(stack.hex) > 0.0
            && stack.party.good() <= self.weights.egyptian.garrison + self.weights.egyptian.column
    }
}

/// What places and units count for in a scenario.
#[derive(Clone, Debug)]
struct Stakes {
    places: [f32; MAX_PLACES],
    units: [f32; KINDS],
    /// Whether a place scores for both sides, so that taking it counts twice.
    both_score: bool,
}

impl Stakes {
    fn of(position: &Campaign, weights: &Weights) -> Stakes {
        let scenario = position.scenario();
        let w = &weights.stakes;
        let mut places = [0.0f32; MAX_PLACES];
        for (worth, place) in places.iter_mut().zip(&scenario.board.places) {
            *worth = match place.kind {
                PlaceKind::Town => w.town,
                PlaceKind::Village => w.village,
                PlaceKind::Oasis => 0.0,
            };
        }
        let mut add = |place: PlaceId, worth: f32| places[usize::from(place.0)] += worth;
        let (mut mahdist, mut egyptian) = (w.mahdist_unit, w.egyptian_unit);
        let mut both_score = false;
        let per = |units: u8| if units > 0 { 1.0 / f32::from(units) } else { 0.0 };
        match &scenario.victory {
            Victory::ElObeid { sudden_death, prize, points, units_per_point, .. } => {
                points.iter().for_each(|p| add(p.place, f32::from(p.points)));
                add(*prize, w.prize);
                add(*sudden_death, w.sudden_death);
                egyptian = egyptian.max(per(*units_per_point));
            }
            Victory::Khartoum { prize, .. } => add(*prize, w.prize),
            Victory::Points { sudden_death, points, mahdists_per_point, egyptians_per_point } => {
                points.iter().for_each(|p| add(p.place, f32::from(p.points)));
                if let Some(place) = sudden_death {
                    add(*place, w.sudden_death);
                }
                mahdist = mahdist.max(per(*mahdists_per_point));
                egyptian = egyptian.max(per(*egyptians_per_point));
                both_score = true;
            }
            Victory::Holder { prize, lesser } => {
                add(*prize, w.prize);
                if let Some(place) = lesser {
                    add(*place, 1.0);
                }
            }
        }
        let units = Kind::ALL.map(|kind| match kind {
            Kind::Supply => w.supply,
            Kind::Camel | Kind::Civilian => w.train,
            _ if !COMBAT.has(kind) => 0.0,
            _ if BRITISH_COMBAT.has(kind) => egyptian.max(w.british_unit),
            _ if kind.side() == Side::Mahdist => mahdist,
            _ => egyptian,
        });
        Stakes { places, units, both_score }
    }
}

fn stacks(position: &Campaign, side: Side) -> Vec<Stack> {
    let mut stacks: Vec<Stack> = Vec::with_capacity(32);
    for &c in position.units().as_slice().iter().filter(|c| c.side() == side) {
        if stacks.last().is_none_or(|s| s.hex != c.hex()) {
            stacks.push(Stack { hex: c.hex(), party: party(position, side, c.hex(), Force::EMPTY, |_| true) });
        }
        if let Some(stack) = stacks.last_mut() {
            let counts = if c.disrupted() { &mut stack.party.force.disrupted } else { &mut stack.party.force.good };
            counts[c.kind().index()] += c.count();
        }
    }
    stacks
}

/// A force with those leaders of `side` in `hex` whom `goes` accepts.
fn party(position: &Campaign, side: Side, hex: Hex, force: Force, goes: impl Fn(Leader) -> bool) -> Party {
    let mut party = Party { force, tactical: 0, strategic: 0 };
    for leader in position.leaders_at(hex, side).filter(|l| goes(*l)) {
        let data = position.scenario().catalogue.leader(leader);
        party.tactical = party.tactical.max(data.tactical);
        party.strategic = party.strategic.max(data.strategic);
    }
    party
}

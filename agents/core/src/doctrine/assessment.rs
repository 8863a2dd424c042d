//! What a wargamer sees when he looks at the board: stacks, what places and units are worth in this scenario, what
//! hunger and the enemy would do to a stack in a hex.

use crate::doctrine::engagement::{Array, Engagements, Expectation, Prospect, Site};
use crate::doctrine::party::{Party, Stack, gather, ratings};
use crate::doctrine::stakes::Stakes;
use crate::doctrine::weights::Weights;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Board, CELLS, Hex, PlaceId, PlaceKind};
use dervish_env::dervish::catalogue::{Class, Kind, LAND, Leader, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::rules::combat::CombatHex;
use dervish_env::dervish::tables::{AttritionRow, Recovery};
use dervish_env::dervish::units::{CAPACITY, Cohort};
use std::cell::RefCell;

/// What an assessment writes on, kept from one to the next so that none allocates. Stakes follow from the scenario, and
/// what is in [`Engagements`] from its key; everything else is written anew.
#[derive(Clone, Debug)]
pub struct Desk {
    sides: [Stacks; 2],
    /// What has been asked of each hex in the assessment of this number.
    ground: Vec<(u32, Hunger)>,
    number: u32,
    stakes: Option<Stakes>,
    engagements: Engagements,
}

impl Default for Desk {
    fn default() -> Desk {
        Desk {
            sides: [Stacks::default(), Stacks::default()],
            ground: vec![(0, Hunger::NONE); CELLS],
            number: 0,
            stakes: None,
            engagements: Engagements::default(),
        }
    }
}

/// The stacks of one side.
#[derive(Clone, Debug)]
struct Stacks {
    all: Vec<Stack>,
    /// By hex: which stack stands there, [`Stacks::NOBODY`] for none.
    at: Vec<u8>,
}

impl Stacks {
    const NOBODY: u8 = u8::MAX;

    fn gather(&mut self, position: &Campaign, side: Side, stakes: &Stakes) {
        for stack in &self.all {
            self.at[stack.hex.index()] = Stacks::NOBODY;
        }
        gather(position, side, stakes, &mut self.all);
        for (i, stack) in self.all.iter().enumerate() {
            self.at[stack.hex.index()] = i as u8;
        }
    }

    fn get(&self, hex: Hex) -> Option<&Stack> {
        self.all.get(usize::from(*self.at.get(hex.index())?))
    }
}

impl Default for Stacks {
    fn default() -> Stacks {
        Stacks { all: Vec::new(), at: vec![Stacks::NOBODY; CELLS] }
    }
}

/// How a hex feeds a stack of the player whose turn it is (10.3).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Hunger {
    /// Units unaffected by each die; more than there are for all.
    spared: [u8; 6],
}

impl Hunger {
    const NONE: Hunger = Hunger { spared: [u8::MAX; 6] };
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
    /// Game turns that come after this one.
    pub turns_left: u8,
    stakes: Stakes,
    sides: [Stacks; 2],
    number: u32,
    ground: RefCell<Vec<(u32, Hunger)>>,
    engagements: RefCell<Engagements>,
}

impl<'p> Assessment<'p> {
    /// Looks at a position with the eyes of `side`.
    pub fn new(position: &'p Campaign, weights: &'p Weights, side: Side, desk: Desk) -> Assessment<'p> {
        let scenario = position.scenario();
        let Desk { mut sides, mut ground, number, stakes, mut engagements } = desk;
        engagements.begin(scenario);
        let mut stakes = match stakes {
            Some(stakes) if std::ptr::eq(stakes.scenario, scenario) => stakes,
            _ => Stakes::of(scenario, weights),
        };
        let turns_left = scenario.turns.saturating_sub(position.game_turn() + 1);
        stakes.begin(weights, turns_left);
        for side in Side::BOTH {
            sides[side as usize].gather(position, side, &stakes);
        }
        if number == u32::MAX {
            ground.fill((0, Hunger::NONE));
        }
        Assessment {
            position,
            weights,
            side,
            turns_left,
            stakes,
            sides,
            number: number % u32::MAX + 1,
            ground: RefCell::new(ground),
            engagements: RefCell::new(engagements),
        }
    }

    /// Gives back what was written on.
    pub fn into_desk(self) -> Desk {
        let Assessment { sides, ground, number, stakes, engagements, .. } = self;
        let (ground, engagements) = (ground.into_inner(), engagements.into_inner());
        Desk { sides, ground, number, stakes: Some(stakes), engagements }
    }

    /// This side's stacks by hex (13.3).
    pub fn own(&self) -> &[Stack] {
        &self.sides[self.side as usize].all
    }

    /// The enemy's.
    pub fn enemy(&self) -> &[Stack] {
        &self.sides[self.side.other() as usize].all
    }

    /// A force under leaders with these ratings.
    pub fn party(&self, force: Force, (tactical, strategic): (u8, u8)) -> Party {
        Party::of(&self.stakes, force, tactical, strategic)
    }

    /// Movement points of a party: those of its slowest units (8.2).
    pub fn movement(&self, party: &Party) -> u16 {
        let catalogue = &self.position.scenario().catalogue;
        let slowest = party.force.kinds_present().and(LAND).iter().map(|kind| catalogue.of(kind).movement).min();
        slowest.map_or(0, u16::from)
    }

    /// The map.
    pub fn board(&self) -> &'static Board {
        &self.position.scenario().board
    }

    /// What a place counts for, whoever holds it.
    pub fn worth(&self, place: PlaceId) -> f32 {
        self.stakes.place(place)
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
        self.stakes.unit(kind)
    }

    /// This side's stack in a hex.
    pub fn own_at(&self, hex: Hex) -> Option<&Stack> {
        self.sides[self.side as usize].get(hex)
    }

    /// The enemy's stack in a hex.
    pub fn enemy_at(&self, hex: Hex) -> Option<&Stack> {
        self.sides[self.side.other() as usize].get(hex)
    }

    /// Units of this side in a hex that `wanted` accepts, with the leaders there if `led`.
    pub fn party_of(&self, hex: Hex, led: bool, wanted: impl Fn(Cohort) -> bool) -> Party {
        let force = self.position.units().force(hex, self.side, wanted);
        self.party(force, if led { self.leaders(hex) } else { (0, 0) })
    }

    /// The tactical and strategic ratings that count in a hex (2.2).
    pub fn leaders(&self, hex: Hex) -> (u8, u8) {
        ratings(self.position, self.side, hex, |_| true)
    }

    /// The group that marches just now, with its leaders.
    pub fn group(&self) -> Party {
        let hex = self.position.group().hex;
        let force = self.position.units().force(hex, self.side, Cohort::grouped);
        self.party(force, ratings(self.position, self.side, hex, |leader| self.position.leader(leader).grouped))
    }

    // ----- combat -----

    /// What of a hex matters to combat.
    pub fn combat_hex(&self, hex: Hex) -> CombatHex {
        let cell = self.board().cell(hex);
        CombatHex { relief: cell.relief, place: self.board().place_kind(hex), river: cell.rivers != 0, sea: cell.coast }
    }

    /// What an attack on the enemies in `target` would bring; from `from` if that is known.
    pub fn prospect(&self, attackers: &Array, from: Option<Hex>, target: &Stack) -> Prospect {
        let from = from.map_or(CombatHex::OPEN, |hex| self.combat_hex(hex));
        let site = Site::of(&from, &self.combat_hex(target.hex));
        let defenders = target.array(self.position, self.side.other());
        self.engagements.borrow_mut().prospect(attackers, defenders, site)
    }

    /// Factors of the worth of enemies and of own units lost. Who leads where points decide (14.3) takes fewer risks, who
    /// does not lead in the last month more.
    pub fn ferocity(&self) -> (f32, f32) {
        let (kill, loss) = match self.side {
            Side::Egyptian => (self.weights.egyptian.kill, self.weights.egyptian.loss),
            Side::Mahdist => (self.weights.mahdist.kill, self.weights.mahdist.loss),
        };
        let march = &self.weights.march;
        let lead = self.position.points(self.side) as f32 - self.position.points(self.side.other()) as f32;
        let temper = match self.stakes.both_score {
            true if lead >= march.leading => march.prudence,
            true if lead <= 0.0 && self.turns_left == 0 => march.boldness,
            _ => 1.0,
        };
        (kill, loss * temper)
    }

    /// Factor of the worth of a place that is held against a threat.
    pub fn hold(&self) -> f32 {
        match self.side {
            Side::Egyptian => self.weights.egyptian.hold,
            Side::Mahdist => self.weights.mahdist.hold,
        }
    }

    /// Factor of the loss that an enemy attack threatens.
    pub fn caution(&self) -> f32 {
        match self.side {
            Side::Egyptian => self.weights.egyptian.danger,
            Side::Mahdist => self.weights.mahdist.danger,
        }
    }

    /// Points that an attack with this prospect is worth: enemies and the place gained against units lost.
    pub fn attack_worth(&self, prospect: &Prospect, party: &Party, target: &Stack) -> f32 {
        let (kill, loss) = self.ferocity();
        let cleared = prospect.defender.gone.max(prospect.attacker.wins);
        kill * self.toll_of(&prospect.defender) * target.party.mean() + cleared * self.swing_at(target.hex)
            - loss * self.toll_of(&prospect.attacker) * party.mean()
            + cleared * self.relief(target.hex)
    }

    /// Units that a combat costs a side, those left disrupted in part.
    fn toll_of(&self, expected: &Expectation) -> f32 {
        expected.destroyed + self.weights.stakes.shaken * expected.disrupted
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
        let Hunger { spared } = self.feeds(hex);
        // The table only grows with the die: where a 1 hurts nobody no roll does (10.1).
        if party.mouths <= u32::from(spared[0]) {
            return 0.0;
        }
        let (mut hit, mut starved) = (0.0, 0.0);
        for spared in spared {
            hit += party.mouths.saturating_sub(u32::from(spared)) as f32 / 6.0;
            starved += party.shaken.saturating_sub(u32::from(spared)) as f32 / 6.0;
        }
        match self.side {
            Side::Egyptian => hit * party.mean(),
            Side::Mahdist => party.mean() * (starved + (hit - starved).max(0.0) * self.toll(hex, party.strategic)),
        }
    }

    fn feeds(&self, hex: Hex) -> Hunger {
        let mut ground = self.ground.borrow_mut();
        let (asked, hunger) = &mut ground[hex.index()];
        if *asked != self.number {
            *asked = self.number;
            let row = self.position.attrition_row(hex);
            let modifier = self.position.attrition_modifier(hex);
            let tables = &self.position.scenario().tables;
            hunger.spared = [1, 2, 3, 4, 5, 6].map(|die| tables.attrition(row, die + modifier).unwrap_or(u8::MAX));
        }
        *hunger
    }

    /// Points that an enemy town loses to hunger in a month of siege (6.4, 10.3), at the cheaper of attrition and a supply
    /// unit; 0 for what is no town or is never besieged.
    pub fn siege_yield(&self, town: &Stack) -> f32 {
        let board = self.board();
        let place = board.cell(town.hex).place;
        if board.place_kind(town.hex) != Some(PlaceKind::Town)
            || place == self.position.scenario().named.souakim
            || self.turns_left == 0
        {
            return 0.0;
        }
        let (party, tables) = (&town.party, &self.position.scenario().tables);
        let gordon = i32::from(self.position.leader(Leader::Gordon).hex == town.hex);
        let dead = |die: i32| {
            let spared = tables.attrition(AttritionRow::BesiegedPlace, die + gordon).map_or(u32::MAX, u32::from);
            party.mouths.saturating_sub(spared) as f32
        };
        let loss = (1..=6).map(dead).sum::<f32>() / 6.0 * party.mean();
        if party.force.count(Kind::Supply) > 0 { loss.min(self.unit_worth(Kind::Supply)) } else { loss }
    }

    /// Units that a besieged place feeds on the worst roll (10.3).
    pub fn fed_in_siege(&self) -> u32 {
        self.position.scenario().tables.attrition(AttritionRow::BesiegedPlace, 1).map_or(u32::MAX, u32::from)
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
                Recovery::Hold => self.weights.stakes.lingers,
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

    /// How near the enemy's combat units that could come are to a hex, in hexes over whatever lies between.
    pub fn enemy_distance(&self, hex: Hex) -> u32 {
        let armed = self.enemy().iter().filter(|s| s.party.good > 0 && !self.tied_down(s));
        armed.map(|s| Board::distance(s.hex, hex)).min().unwrap_or(u32::MAX)
    }
}

/// What enemy attacks threaten to do to one party, wherever it goes.
#[derive(Clone, Debug)]
pub struct Threats {
    /// For each enemy stack: what it gains if it attacks, by the ground's bonus 0-2; NaN where not yet worked out.
    losses: [[f32; 3]; CAPACITY],
    array: Array,
    mean: f32,
}

impl Threats {
    /// The threats to a party.
    pub fn to(assessment: &Assessment, party: &Party) -> Threats {
        Threats {
            losses: [[f32::NAN; 3]; CAPACITY],
            array: party.array(assessment.position, assessment.side),
            mean: party.mean(),
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
        for (stack, losses) in assessment.enemy().iter().zip(&mut self.losses) {
            let distance = Board::distance(stack.hex, hex);
            if distance > 2 * march.reach || stack.party.good == 0 {
                continue;
            }
            let comes = match distance {
                0..=1 => march.come_near,
                _ if assessment.tied_down(stack) => continue,
                _ if distance <= march.reach => march.come_march,
                _ => march.come_far,
            };
            let loss = &mut losses[site.ground as usize];
            if loss.is_nan() {
                let attackers = stack.array(assessment.position, assessment.side.other());
                let prospect = assessment.engagements.borrow_mut().prospect(attackers, &self.array, site);
                let lost = self.mean * assessment.toll_of(&prospect.defender);
                let price = stack.party.mean() * assessment.toll_of(&prospect.attacker);
                // A garrison that is shut up in a town has less to lose.
                let town = assessment.board().place_kind(stack.hex) == Some(PlaceKind::Town);
                let minds = if town && assessment.tied_down(stack) { march.sortie } else { 1.0 };
                *loss = (lost - minds * price).max(0.0);
            }
            worst = worst.max(comes * *loss);
        }
        worst
    }
}

impl Assessment<'_> {
    /// Probability that the next enemy attack drives a party out of a hex.
    pub fn risk(&self, hex: Hex, party: &Party) -> f32 {
        if !self.enemy_moves_again() || party.good == 0 {
            return 0.0;
        }
        let march = &self.weights.march;
        let site = Site::of(&CombatHex::OPEN, &self.combat_hex(hex));
        let defenders = party.array(self.position, self.side);
        let mut risk: f32 = 0.0;
        for stack in self.enemy().iter().filter(|s| s.party.good > 0) {
            let distance = Board::distance(stack.hex, hex);
            let comes = match distance {
                0..=1 => march.come_near,
                _ if distance > 2 * march.reach || self.tied_down(stack) => continue,
                _ if distance <= march.reach => march.come_march,
                _ => march.come_far,
            };
            if comes <= risk {
                continue;
            }
            let attackers = stack.array(self.position, self.side.other());
            let prospect = self.engagements.borrow_mut().prospect(attackers, &defenders, site);
            risk = risk.max(comes * prospect.defender.gone.max(prospect.attacker.wins));
        }
        risk
    }

    /// Whether a hex is a place of this side's that counts for so much that it is to be held in strength.
    pub fn is_key(&self, hex: Hex) -> bool {
        self.worth_at(hex) >= self.weights.march.guard && self.position.controls_at(self.side, hex)
    }

    /// Whether one of this side's stacks may leave where it is: not a garrison that is needed there.
    pub fn is_free(&self, stack: &Stack) -> bool {
        let e = &self.weights.egyptian;
        stack.party.good > 0
            && (self.side == Side::Mahdist
                || stack.party.british > 0
                || !self.enemy_moves_again()
                || !self.position.controls_at(self.side, stack.hex)
                || stack.party.good >= e.garrison + e.column)
    }

    /// Whether an enemy stack stays where it is: an Egyptian garrison without British troops.
    fn tied_down(&self, stack: &Stack) -> bool {
        self.side == Side::Mahdist
            && stack.party.british == 0
            && self.worth_at(stack.hex) > 0.0
            && stack.party.good <= self.weights.egyptian.garrison + self.weights.egyptian.column
    }
}

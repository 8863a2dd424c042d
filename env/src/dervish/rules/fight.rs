//! A combat on the map (9): who takes part, leader use, tests, retreat, spoils, vessels, advance (9.13). The arithmetic
//! of tests and losses is in [`super::combat`].

use super::super::board::{Board, Ground, Hex};
use super::super::campaign::{Battle, BattleStage, Campaign, Favour};
use super::super::catalogue::{COMBAT, GUNBOATS, Kind, KindSet, LAND, LEADERS, Side};
use super::super::decision::{Decision, Pending};
use super::super::force::Force;
use super::super::order::{Order, Verb};
use super::super::units::{Cohort, Status};
use super::combat::{Combat, CombatHex, CombatRole, Combatant, LeaderUse, SideResult, Test};
use super::march::Taken;
use super::movement::{Obstacles, Step};

/// Rifle-armed units that make one S of the winner a rifles unit (9.10).
const RIFLES_PER_UPGRADE: u8 = 3;
/// What fights besides land units (9.1, 12).
const SUPPORT: KindSet = GUNBOATS.or(KindSet::of(&[Kind::Fleet, Kind::Flag]));

impl Campaign {
    pub(crate) fn begin_battle(&mut self, target: Hex) {
        self.take_train_along();
        self.battle = Battle { stage: BattleStage::LeaderMarching, from: self.group.hex, target, ..Battle::NONE };
    }

    fn combat_hex(&self, hex: Hex) -> CombatHex {
        let cell = self.scenario.board.cell(hex);
        CombatHex {
            relief: cell.relief,
            place: self.scenario.board.place_kind(hex),
            river: cell.rivers != 0,
            sea: cell.coast,
        }
    }

    /// The pending combat with all that bears on it (9.1): the group, the other side's whole hex, gunboats in either
    /// hex, the fleet if one of the two hexes is the port off which it lies.
    pub fn combat(&self) -> Combat<'static> {
        let scenario = self.scenario.0;
        let Battle { from, target, leader_use, .. } = self.battle;
        let marching_side = self.active;
        let defending_side = marching_side.other();
        // Vessels are in no group (9.1), and the flag helps all who stand in its hex (12.2).
        let mut marching = self.units.force(from, marching_side, |c| c.grouped() || SUPPORT.has(c.kind()));
        let mut defending = self.units.force(target, defending_side, |c| LAND.has(c.kind()) || SUPPORT.has(c.kind()));
        // The fleet may lie off the enemy's hex.
        for (force, side, other_hex) in [(&mut marching, marching_side, target), (&mut defending, defending_side, from)]
        {
            if side == Side::Egyptian && self.units.any(other_hex, side, Kind::Fleet.set()) {
                force.good[Kind::Fleet.index()] = 1;
            }
        }
        Combat {
            catalogue: &scenario.catalogue,
            tables: &scenario.tables,
            options: scenario.options,
            marching_side,
            poor_morale: self.events.poor_morale,
            target: self.combat_hex(target),
            from: self.combat_hex(from),
            marching: Combatant {
                force: marching,
                tactical: self.tactical(from, marching_side, |l| l.grouped),
                leader_use: leader_use[0],
            },
            defending: Combatant {
                force: defending,
                tactical: self.tactical(target, defending_side, |_| true),
                leader_use: leader_use[1],
            },
        }
    }

    /// Goes on with the combat until something is pending or it is over.
    pub(crate) fn next_battle(&mut self) {
        let Battle { from, target, .. } = self.battle;
        match self.battle.stage {
            BattleStage::None => {}
            BattleStage::LeaderMarching => {
                self.battle.stage = BattleStage::LeaderDefending;
                if self.tactical(from, self.active, |l| l.grouped) > 0 {
                    self.pending = Pending::at(Decision::LeaderMarching, target);
                }
            }
            BattleStage::LeaderDefending => {
                self.battle.stage = BattleStage::Tests;
                if self.tactical(target, self.active.other(), |_| true) > 0 {
                    self.pending = Pending::at(Decision::LeaderDefending, target);
                }
            }
            BattleStage::Tests => {
                let combat = self.combat();
                match combat.next_test(&self.battle.dice) {
                    Some(test) => self.pending = Pending::at(test_decision(test), target),
                    None => self.conclude(&combat),
                }
            }
            BattleStage::Retreat => {
                self.battle.stage = BattleStage::Vessels;
                self.begin_retreat();
            }
            BattleStage::Vessels => {
                self.battle.stage = BattleStage::Advance;
                self.take_spoils();
                self.sinking = self.battle.gunboats_hit;
                self.battle.gunboats_hit = [0, 0];
                if self.sinking != [0, 0] {
                    self.sinking_at = if self.active == Side::Egyptian { from } else { target };
                }
            }
            BattleStage::Advance => {
                if self.may_advance() && self.pending.decision == Decision::None {
                    self.pending = Pending::at(Decision::Advance, target);
                } else {
                    self.end_battle();
                }
            }
        }
    }

    pub(crate) fn obey_leader_use(&mut self, verb: Verb) {
        let role = usize::from(self.pending.decision == Decision::LeaderDefending);
        self.battle.leader_use[role] = match verb {
            Verb::Fire => LeaderUse::Fire,
            Verb::Melee => LeaderUse::Melee,
            _ => LeaderUse::None,
        };
        self.pending = Pending::NONE;
    }

    pub(crate) fn resolve_test(&mut self, sum: u16) {
        let test = match self.pending.decision {
            Decision::RollFireMarching => Test::FireMarching,
            Decision::RollFireDefending => Test::FireDefending,
            Decision::RollMeleeMarching => Test::MeleeMarching,
            _ => Test::MeleeDefending,
        };
        self.battle.dice[test as usize] = sum as u8;
        self.pending = Pending::NONE;
    }

    /// All tests are rolled: losses and outcome.
    fn conclude(&mut self, combat: &Combat) {
        let resolution = combat.resolve(&self.battle.dice);
        let Battle { from, target, .. } = self.battle;
        let marching_side = self.active;
        self.write_back(from, marching_side, &resolution.marching, true);
        self.write_back(target, marching_side.other(), &resolution.defending, false);
        self.battle.winner = resolution.winner.map(|role| match role {
            CombatRole::Marching => marching_side,
            CombatRole::Defending => marching_side.other(),
        });
        // The dice have done their work: positions after equal results are equal, whatever was rolled.
        self.battle.dice = [0; 4];
        self.battle.leader_use = [LeaderUse::None; 2];
        self.battle.stage = BattleStage::Retreat;
    }

    /// Puts what a combat has left of one side back on the map. A flag outside the group has helped it, not fought.
    fn write_back(&mut self, hex: Hex, side: Side, result: &SideResult, marching: bool) {
        let fought = |c: Cohort| {
            c.side() == side && (LAND.has(c.kind()) || c.kind() == Kind::Flag) && (!marching || c.grouped())
        };
        let flag_fought = self.units.at(hex).iter().any(|c| c.kind() == Kind::Flag && fought(*c));
        self.units.change_at(hex, |c| (!fought(c)).then_some(c));
        let status = if marching { Status::Fought } else { Status::Fresh };
        for kind in Kind::ALL.into_iter().filter(|k| LAND.has(*k) || (*k == Kind::Flag && flag_fought)) {
            for disrupted in [false, true] {
                let counts = if disrupted { &result.force.disrupted } else { &result.force.good };
                let cohort = Cohort::new(hex, kind, disrupted, status, counts[kind.index()]);
                self.units.add(cohort.with_group(marching));
            }
        }
        for (british, kind) in [Kind::Gunboat, Kind::BritishGunboat].into_iter().enumerate() {
            for _ in 0..result.gunboats_lost[british] {
                let gunboat = self.units.at(hex).iter().copied().find(|c| c.kind() == kind);
                if let Some(gunboat) = gunboat {
                    self.units.remove(gunboat.with_count(1));
                    self.battle.gunboats_hit[british] += 1;
                }
            }
        }
        self.drop_lone_flag(hex);
        self.eliminated[side as usize] += result.destroyed.count_of(COMBAT) as u16;
        if side == Side::Egyptian {
            let (guns, rifles) = self.spoils_of(&result.destroyed);
            self.battle.guns_taken += guns;
            self.battle.rifles_taken += rifles;
        }
    }

    fn spoils_of(&self, destroyed: &Force) -> (u8, u8) {
        let (mut guns, mut rifles) = (0, 0);
        for kind in Kind::ALL.into_iter().filter(|k| COMBAT.has(*k)) {
            let n = destroyed.count(kind) as u8;
            let data = self.scenario.catalogue.of(kind);
            guns += u8::from(data.gun > 0) * n;
            rifles += u8::from(data.rifle_armed) * n;
        }
        (guns, rifles)
    }

    // ----- retreat (9.9) -----

    fn loser(&self) -> Option<Side> {
        self.battle.winner.map(Side::other)
    }

    /// Where the loser stands and the winner's hex.
    pub(crate) fn retreat_ends(&self) -> Option<(Side, Hex, Hex)> {
        let loser = self.loser()?;
        let Battle { from, target, .. } = self.battle;
        Some(if loser == self.active { (loser, from, target) } else { (loser, target, from) })
    }

    /// Whether the combat that is to be fought may end with a loser who cannot retreat (9.9). Unless they cost a gunboat
    /// over whose river a way leads, losses only open ways: who can retreat before the combat can after it.
    pub(crate) fn may_take_prisoners(&self) -> bool {
        Side::BOTH.into_iter().any(|loser| {
            let mut lost = *self;
            lost.battle.winner = Some(loser.other());
            let Some((_, start, _)) = lost.retreat_ends() else { return false };
            let stays = loser == self.active && self.controls_at(loser, start);
            let may_retreat = || lost.retreat_options(&mut |_| Taken::Break(())).is_break();
            !stays && (self.units.any(start, loser, GUNBOATS) || !may_retreat())
        })
    }

    fn begin_retreat(&mut self) {
        let Some((loser, start, _)) = self.retreat_ends() else { return };
        let marching = loser == self.active;
        let any =
            self.units.at(start).iter().any(|c| c.side() == loser && LAND.has(c.kind()) && (!marching || c.grouped()));
        // A marching loser who attacked out of a place of his own stays in it.
        if !any || (marching && self.controls_at(loser, start)) {
            return;
        }
        let mut found = false;
        let _ = self.retreat_options(&mut |_| {
            found = true;
            Taken::Break(())
        });
        if found {
            self.pending = Pending::at(Decision::RetreatHex, start);
            return;
        }
        let (guns, rifles) = self.eliminate(start, loser, |c| !marching || c.grouped());
        self.battle.guns_taken += guns;
        self.battle.rifles_taken += rifles;
        self.drop_lone_flag(start);
    }

    /// One step of a retreat: farther from the winner's hex, not into or next to an enemy, rivers only with means. A
    /// leader without units bars nobody: he is found (6.2, 13.4).
    fn retreat_step(&self, obstacles: &Obstacles, side: Side, from: Hex, direction: usize, winner: Hex) -> Option<Hex> {
        let to = self.scenario.board.cell(from).neighbours[direction];
        let open = to.is_some()
            && self.scenario.board.cell(to).ground != Ground::Sea
            && !obstacles.enemy.has(to)
            && !obstacles.stop.has(to)
            && Board::distance(to, winner) > Board::distance(from, winner)
            && self.step(side, from, direction) != Step::Closed;
        open.then_some(to)
    }

    /// Hexes to which the loser can retreat: two hexes away if there is such a hex, else one; of a marching loser that
    /// has marched only those nearest to where its last move began ("back the way it came").
    pub(crate) fn retreat_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let Some((loser, start, winner)) = self.retreat_ends() else { return Taken::Continue(()) };
        let obstacles = Obstacles::of(self, loser);
        let mut one = [Hex::NONE; 6];
        let mut two = [Hex::NONE; 36];
        let (mut ones, mut twos) = (0, 0);
        for d in 0..6 {
            let Some(first) = self.retreat_step(&obstacles, loser, start, d, winner) else { continue };
            one[ones] = first;
            ones += 1;
            for e in 0..6 {
                if let Some(second) = self.retreat_step(&obstacles, loser, first, e, winner)
                    && !two[..twos].contains(&second)
                {
                    two[twos] = second;
                    twos += 1;
                }
            }
        }
        let hexes = if twos > 0 { &mut two[..twos] } else { &mut one[..ones] };
        hexes.sort_unstable();
        let back = (loser == self.active && self.group.came_from.is_some()).then_some(self.group.came_from);
        let nearest = back.and_then(|b| hexes.iter().map(|h| Board::distance(*h, b)).min());
        for &hex in hexes.iter() {
            if back.is_none_or(|b| Some(Board::distance(hex, b)) == nearest) {
                take(Order::Hex(hex))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn retreat_legal(&self, hex: Hex) -> bool {
        let mut found = false;
        let _ = self.retreat_options(&mut |order| {
            found |= order == Order::Hex(hex);
            if found { Taken::Break(()) } else { Taken::Continue(()) }
        });
        found
    }

    pub(crate) fn obey_retreat(&mut self, hex: Hex) {
        self.pending = Pending::NONE;
        let Some((loser, start, _)) = self.retreat_ends() else { return };
        if loser == self.active {
            self.move_group(hex);
        } else {
            let mut moved = [Cohort::default(); 64];
            let mut len = 0;
            for &c in self.units.at(start) {
                if c.side() == loser && (LAND.has(c.kind()) || c.kind() == Kind::Flag) {
                    moved[len] = c;
                    len += 1;
                }
            }
            for &c in &moved[..len] {
                self.units.remove(c);
                self.units.add(c.with_hex(hex));
            }
            for leader in self.leaders.iter_mut().enumerate().filter(|(i, _)| side_of(*i) == loser).map(|(_, l)| l) {
                if leader.hex == start {
                    leader.hex = hex;
                }
            }
        }
        self.take_control(hex, loser);
        self.enter(hex, loser);
        self.drop_lone_flag(hex);
    }

    // ----- spoils (9.10), advance (9.9), captures (9.12) -----

    fn take_spoils(&mut self) {
        let (guns, rifles) = (self.battle.guns_taken, self.battle.rifles_taken);
        self.battle.guns_taken = 0;
        self.battle.rifles_taken = 0;
        if self.battle.winner != Some(Side::Mahdist) {
            return;
        }
        let marching = self.active == Side::Mahdist;
        let hex = if marching { self.group.hex } else { self.battle.target };
        let status = if marching { Status::Fought } else { Status::Fresh };
        let guns = guns.min(self.available(Kind::MahdistGun));
        self.units.add(Cohort::new(hex, Kind::MahdistGun, false, status, guns).with_group(marching));
        let mut upgrades = (rifles / RIFLES_PER_UPGRADE).min(self.available(Kind::MahdistRifles));
        for disrupted in [false, true] {
            let spearmen =
                self.units.at(hex).iter().copied().find(|c| {
                    c.kind() == Kind::MahdistSpearmen && c.disrupted() == disrupted && c.grouped() == marching
                });
            let Some(spearmen) = spearmen else { continue };
            let n = upgrades.min(spearmen.count());
            upgrades -= n;
            self.units.remove(spearmen.with_count(n));
            self.units.add(spearmen.with_count(n).with_kind(Kind::MahdistRifles));
        }
    }

    /// After a win, or when no enemy combat unit is left, if something of the group is left to advance.
    pub(crate) fn may_advance(&self) -> bool {
        let alive = self.units.at(self.group.hex).iter().any(|c| c.grouped() && LAND.has(c.kind()));
        let target = self.battle.target;
        alive
            && self.group.hex == self.battle.from
            && self.battle.winner != Some(self.active.other())
            && !self.units.any(target, self.active.other(), COMBAT)
    }

    pub(crate) fn obey_advance(&mut self, verb: Verb) {
        self.pending = Pending::NONE;
        if verb == Verb::Yes {
            let target = self.battle.target;
            // Vessels go before the group comes: its hex is no refuge (9.13).
            self.lose_vessels(target, self.active.other());
            self.move_group(target);
            self.take_control(target, self.active);
            self.enter(target, self.active);
        }
        self.end_battle();
    }

    fn end_battle(&mut self) {
        let Battle { from, target, .. } = self.battle;
        // Rule 9.12: leaders whose whole stack is eliminated; units that stayed out of the attack keep him.
        for (side, hex) in [(self.active, self.group.hex), (self.active.other(), target)] {
            let gone = !self.units.any(hex, side, LAND);
            for i in (0..LEADERS).filter(|i| gone && side_of(*i) == side && self.leaders[*i].hex == hex) {
                self.escaping |= 1 << i;
            }
        }
        self.take_fervour_along(from);
        self.battle = Battle::NONE;
        self.end_group(Status::Fought);
        self.drop_lone_flag(from);
        self.drop_lone_flag(target);
    }

    /// `religious_fervour` (4.4): a group that has marched with it and then attacks in a later pick takes it along, if
    /// nobody who has marched stays behind in `from`.
    fn take_fervour_along(&mut self, from: Hex) {
        let fervour = self.active == Side::Mahdist && self.events.favour == Favour::Used;
        let stays = |c: &Cohort| LAND.has(c.kind()) && c.status() != Status::Fresh;
        if fervour && self.events.favoured == from && !self.units.at(from).iter().any(stays) {
            self.events.favoured = self.group.hex;
        }
    }
}

fn side_of(leader: usize) -> Side {
    super::super::catalogue::Leader::ALL[leader].side()
}

pub(crate) fn test_decision(test: Test) -> Decision {
    match test {
        Test::FireMarching => Decision::RollFireMarching,
        Test::FireDefending => Decision::RollFireDefending,
        Test::MeleeMarching => Decision::RollMeleeMarching,
        Test::MeleeDefending => Decision::RollMeleeDefending,
    }
}

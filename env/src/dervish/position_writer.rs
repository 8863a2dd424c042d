//! From a position to the fields of its file.

use super::board::Hex;
use super::campaign::{Battle, Campaign, Favour, GroupKind, Phase, War};
use super::catalogue::{Kind, Leader, Side};
use super::decision::{Decision, Pending};
use super::position::RULES_VERSION;
use super::position_file::{FORMAT, GAME};
use super::position_sections::{
    BattleSection, Both, Control, Eliminated, Events, GroupSection, GunboatAway, Held, LeaderLine, Line, MarkedLeader,
    PendingSection, Resume, Rounds, Sections, Sinking, Stack, Subject, ToPlace, Winner,
};
use super::rules::group_pick::line_text;
use super::rules::reinforcements::step;
use super::rules::victory::TAKEN;
use super::units::{Cohort, Status};

/// What [`Pending::subject`] stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SubjectOf {
    /// Nothing.
    Nothing,
    /// The side whose turn it is.
    Active,
    /// A kind.
    Kind,
    /// A leader, or the flag after the last of them.
    Passenger,
    /// A line of a stack: kind, order, status.
    Line,
    /// A reinforcement of the scenario.
    Reinforcement,
    /// A district of the map.
    District,
    /// One of the two kinds of gunboat.
    Gunboat,
}

impl SubjectOf {
    pub(super) fn decision(decision: Decision) -> SubjectOf {
        match decision {
            Decision::SetupCount => SubjectOf::Kind,
            Decision::SetupLeader
            | Decision::GroupLeader
            | Decision::VesselLeader
            | Decision::AloneHex
            | Decision::RollEscape => SubjectOf::Passenger,
            Decision::GroupCount => SubjectOf::Line,
            Decision::ArriveHex => SubjectOf::Reinforcement,
            Decision::RollRecruits | Decision::RecruitHex => SubjectOf::District,
            Decision::RollGunboat => SubjectOf::Gunboat,
            Decision::RollEvent => SubjectOf::Active,
            _ => SubjectOf::Nothing,
        }
    }
}

impl Campaign {
    /// The position as the fields of a file that finds its scenario under the name `scenario`.
    pub(super) fn sections(&self, scenario: &str) -> Sections {
        let setup = self.phase == Phase::Setup;
        Sections {
            format: FORMAT,
            game: GAME.to_owned(),
            rules_version: Some(RULES_VERSION),
            rules_hash: Some(self.scenario.hash.clone()),
            scenario: scenario.to_owned(),
            turn: self.turn + 1,
            month: Some(self.month_text()),
            active: self.active,
            phase: self.phase,
            pending: Some(self.pending_section()),
            winner: (self.pending.decision == Decision::Finished).then_some(match self.winner {
                Some(Side::Egyptian) => Winner::Egyptian,
                Some(Side::Mahdist) => Winner::Mahdist,
                None => Winner::Draw,
            }),
            region: (setup && self.stage > 0).then_some(self.stage + 1),
            to_place: setup.then(|| {
                let [mahdist_spearmen, mahdist_rifles, mahdist_cavalry, mahdist_gun] = self.to_place;
                ToPlace { mahdist_spearmen, mahdist_rifles, mahdist_cavalry, mahdist_gun }
            }),
            resume: self.resume(),
            stacks: self.stack_sections(),
            lost_leaders: Leader::ALL.into_iter().filter(|l| self.leaders[l.index()].lost).collect(),
            control: self.control_section(),
            eliminated: Eliminated { egyptian: self.eliminated[0], mahdist: self.eliminated[1] },
            held: (self.months_held != 0).then_some(Held {
                by: if self.months_held & TAKEN != 0 { Side::Mahdist } else { Side::Egyptian },
                months: self.months_held & !TAKEN,
            }),
            arrived: (self.arrived != self.arrived_by_now())
                .then(|| (0..64).filter(|i| self.arrived >> i & 1 == 1).map(|i| i + 1).collect()),
            gunboats_out: self
                .gunboats_out
                .iter()
                .filter(|out| out.hex.is_some())
                .map(|out| GunboatAway {
                    kind: gunboat(usize::from(out.british)),
                    hex: out.hex.to_string(),
                    returns: out.returns + 1,
                })
                .collect(),
            gunboats_lost: self.gunboats_lost.into(),
            railway: self.railway,
            events: self.events_section(),
            group: (self.group.kind != GroupKind::None).then(|| GroupSection {
                kind: self.group.kind,
                hex: self.group.hex.to_string(),
                came_from: name(self.group.came_from),
                rolls: self.group.rolls,
                failed: self.group.failed,
                favoured: self.group.favoured,
            }),
            battle: (self.battle != Battle::NONE).then(|| battle_section(&self.battle)),
            escaping: Leader::ALL.into_iter().filter(|l| self.escaping >> l.index() & 1 == 1).collect(),
            sinking: (self.sinking != [0, 0]).then(|| Sinking {
                hex: self.sinking_at.to_string(),
                gunboat: self.sinking[0],
                british_gunboat: self.sinking[1],
            }),
            spent: self.spent.iter().filter_map(|hex| name(*hex)).collect(),
        }
    }

    /// The month of the game turn, `YYYY-MM`.
    pub(super) fn month_text(&self) -> String {
        format!("{:04}-{:02}", self.scenario.year(self.turn), self.month())
    }

    /// Reinforcements whose phase is over, one bit each: as a rule these and no others have come.
    pub(super) fn arrived_by_now(&self) -> u64 {
        let first = self.scenario.first_player;
        let mut arrived = 0;
        for (i, entry) in self.scenario.reinforcements.iter().enumerate() {
            let turn_over =
                if entry.side == self.active { self.phase > Phase::Reinforcement } else { entry.side == first };
            if entry.turn < self.turn || (entry.turn == self.turn && turn_over) {
                arrived |= 1 << i;
            }
        }
        arrived
    }

    fn pending_section(&self) -> PendingSection {
        let Pending { decision, hex, subject, amount } = self.pending;
        let board = &self.scenario.0.board;
        let passenger = |subject| match Leader::ALL.get(usize::from(subject)) {
            Some(leader) => leader.id().to_owned(),
            None => FLAG.to_owned(),
        };
        let subject = match SubjectOf::decision(decision) {
            SubjectOf::Nothing | SubjectOf::Active => None,
            SubjectOf::Kind => Some(Subject::Name(Kind::at(usize::from(subject)).id().to_owned())),
            SubjectOf::Passenger => Some(Subject::Name(passenger(subject))),
            SubjectOf::Line => Some(Subject::Name(line_text(subject))),
            SubjectOf::Reinforcement => Some(Subject::Number(subject + 1)),
            SubjectOf::District => Some(Subject::Name(board.districts[usize::from(subject)].clone())),
            SubjectOf::Gunboat => Some(Subject::Name(gunboat(usize::from(subject)).id().to_owned())),
        };
        PendingSection { decision, hex: name(hex), subject, amount }
    }

    /// In a reinforcement phase a roll for losses comes between arrivals or between districts.
    fn resume(&self) -> Option<Resume> {
        let between = matches!(self.pending.decision, Decision::RollEscape | Decision::RollGunboat);
        if self.phase != Phase::Reinforcement || !between || !self.cursor.is_some() {
            return None;
        }
        Some(if self.stage == step::RECRUITS {
            Resume::District(self.scenario.board.districts[self.cursor.index() - 1].clone())
        } else {
            Resume::Arrival(self.cursor.0 as u8)
        })
    }

    fn stack_sections(&self) -> Vec<Stack> {
        let mut hexes: Vec<Hex> = self.units.as_slice().iter().map(|c| c.hex()).collect();
        hexes.extend(self.leaders.iter().map(|l| l.hex).filter(|h| h.is_some()));
        hexes.sort_unstable();
        hexes.dedup();
        let stack = |hex| Stack {
            hex: Hex::to_string(&hex),
            units: self.units.at(hex).iter().map(|c| unit_line(*c)).collect(),
            leaders: Leader::ALL
                .into_iter()
                .filter(|l| self.leaders[l.index()].hex == hex)
                .map(|l| self.leader_line(l))
                .collect(),
        };
        hexes.into_iter().map(stack).collect()
    }

    fn leader_line(&self, leader: Leader) -> LeaderLine {
        let state = self.leaders[leader.index()];
        let name = leader.id().to_owned();
        if state.status == Status::Fresh && !state.grouped {
            return LeaderLine::Fresh(name);
        }
        LeaderLine::Marked(MarkedLeader { name, status: marked(state.status), group: state.grouped })
    }

    fn control_section(&self) -> Control {
        let sides = self.scenario.0.board.places.iter().enumerate().filter_map(|(i, place)| {
            let side = Side::BOTH.into_iter().find(|s| self.control[*s as usize] >> i & 1 == 1)?;
            Some((place.name.clone(), side))
        });
        Control(sides.collect())
    }

    fn events_section(&self) -> Events {
        let e = &self.events;
        Events {
            current: e.current,
            amount: e.amount,
            poor_morale: e.poor_morale,
            withdraw: e.withdraw,
            dry_weather: e.dry_weather,
            good_harvest: e.good_harvest,
            religious_disagreement: e.religious_disagreement,
            poor_communications: e.poor_communications,
            spoilt_biscuits: e.spoilt_biscuits,
            favoured: name(e.favoured),
            favour: (e.favour != Favour::None).then_some(e.favour),
            war: (e.war != War::Never).then_some(e.war),
            field_forces: e.field_forces,
            landing: e.landing,
            leaving: e.leaving,
            in_play: e.in_play,
        }
    }
}

/// The name of the flag where leaders are named too.
pub(super) const FLAG: &str = "flag";

fn name(hex: Hex) -> Option<String> {
    hex.is_some().then(|| hex.to_string())
}

fn marked(status: Status) -> Option<Status> {
    (status != Status::Fresh).then_some(status)
}

fn gunboat(british: usize) -> Kind {
    [Kind::Gunboat, Kind::BritishGunboat][british]
}

fn unit_line(c: Cohort) -> Line {
    Line { kind: c.kind(), count: c.count(), disrupted: c.disrupted(), status: marked(c.status()), group: c.grouped() }
}

fn battle_section(battle: &Battle) -> BattleSection {
    let [fire_marching, fire_defending, melee_marching, melee_defending] = battle.dice;
    BattleSection {
        from: battle.from.to_string(),
        target: battle.target.to_string(),
        leader_use: Both { marching: battle.leader_use[0], defending: battle.leader_use[1] },
        dice: Rounds {
            fire: Both { marching: fire_marching, defending: fire_defending },
            melee: Both { marching: melee_marching, defending: melee_defending },
        },
        winner: battle.winner,
        guns_taken: battle.guns_taken,
        rifles_taken: battle.rifles_taken,
        gunboats_hit: battle.gunboats_hit.into(),
    }
}

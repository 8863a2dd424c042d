//! From the fields of a position file to the position: names are looked up here, with every fault on the way; whether
//! the whole can be is asked of [`Campaign::faults`].

use super::board::{Board, Ground, Hex, MAX_PLACES};
use super::campaign::{
    Battle, Campaign, Favour, Group, GroupKind, GunboatOut, LeaderState, MAX_GUNBOATS, MAX_SUPPLY, Phase, War,
};
use super::catalogue::{COMBAT, KINDS, Kind, Leader, Side};
use super::decision::{Decision, Pending};
use super::position::RULES_VERSION;
use super::position_file::GAME;
use super::position_sections::{
    BattleSection, Events, GroupSection, GunboatAway, LeaderLine, MarkedLeader, PendingSection, Resume, Sections,
    Stack, Subject, Winner,
};
use super::position_writer::{FLAG, SubjectOf};
use super::rules::group_pick::{FLAG_SUBJECT, line_text};
use super::rules::reinforcements::step;
use super::rules::victory::TAKEN;
use super::scenario::Scenario;
use super::units::{Cohort, Status};

impl Campaign {
    /// The position of a file.
    ///
    /// # Errors
    /// What is wrong, each with the field where it stands.
    pub(super) fn of_sections(scenario: &'static Scenario, sections: Sections) -> Result<Campaign, Vec<String>> {
        let mut reader = Reader { position: Campaign::empty(scenario), faults: Vec::new() };
        let winner = sections.winner;
        let started = sections.pending.is_none();
        reader.identity(&sections);
        reader.clock(&sections);
        reader.stacks(&sections.stacks);
        reader.places(&sections);
        reader.losses(&sections);
        reader.events(&sections.events);
        reader.group(sections.group.as_ref());
        reader.battle(sections.battle.as_ref());
        reader.progress(&sections);
        if let Some(pending) = &sections.pending {
            reader.pending(pending);
        }
        let Reader { mut position, mut faults } = reader;
        if !faults.is_empty() {
            return Err(faults);
        }
        faults = position.state_faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        if started {
            position.settle();
        } else {
            if position.pending.decision == Decision::Finished {
                position.finish();
            }
            position = position.placed().map_err(|fault| vec![format!("pending: {fault}")])?;
        }
        let won = match position.winner {
            Some(Side::Egyptian) => Winner::Egyptian,
            Some(Side::Mahdist) => Winner::Mahdist,
            None => Winner::Draw,
        };
        match winner {
            Some(_) if position.pending.decision != Decision::Finished => {
                Err(vec!["winner: the game is not over".to_owned()])
            }
            Some(winner) if winner != won => Err(vec![format!("winner: the rules say {won:?}").to_lowercase()]),
            _ => Ok(position),
        }
    }
}

struct Reader {
    position: Campaign,
    faults: Vec<String>,
}

impl Reader {
    fn board(&self) -> &'static Board {
        &self.position.scenario.0.board
    }

    fn fault(&mut self, field: &str, reason: impl std::fmt::Display) {
        self.faults.push(format!("{field}: {reason}"));
    }

    /// A land hex by number or by the place in it; [`Hex::NONE`] with a fault if there is none.
    fn hex(&mut self, field: &str, name: &str) -> Hex {
        let board = self.board();
        if let Some(place) = board.place_named(name) {
            return board.places[usize::from(place.0)].hex;
        }
        let reason = match Hex::parse(name) {
            Some(hex) if board.is_land(hex) => return hex,
            Some(hex) if board.cell(hex).ground == Ground::Sea => format!("{name} is a sea hex"),
            Some(_) => format!("{name} is off the scenario's map"),
            None => format!("`{name}` is neither a hex CCRR nor a place of the scenario"),
        };
        self.fault(field, reason);
        Hex::NONE
    }

    fn optional_hex(&mut self, field: &str, name: Option<&String>) -> Hex {
        name.map_or(Hex::NONE, |name| self.hex(field, name))
    }

    /// The bit of each leader of a list.
    fn leader_bits(&mut self, field: &str, leaders: &[Leader]) -> u16 {
        let mut bits = 0;
        for leader in leaders {
            let bit = 1 << leader.index();
            if bits & bit != 0 {
                self.fault(field, format!("`{}` is there twice", leader.id()));
            }
            bits |= bit;
        }
        bits
    }

    fn identity(&mut self, sections: &Sections) {
        let scenario = self.position.scenario.0;
        if sections.game != GAME {
            self.fault("game", format!("`{}` is another game than `{GAME}`", sections.game));
        }
        if let Some(version) = sections.rules_version.filter(|version| *version != RULES_VERSION) {
            self.fault("rules_version", format!("{version} is not {RULES_VERSION}, which this program plays"));
        }
        if let Some(hash) = sections.rules_hash.as_ref().filter(|hash| **hash != scenario.hash) {
            let reason = format!("`{hash}` is not `{}`: the data of the scenario have changed", scenario.hash);
            self.fault("rules_hash", reason);
        }
    }

    fn clock(&mut self, sections: &Sections) {
        self.position.active = sections.active;
        self.position.phase = sections.phase;
        let turns = self.position.scenario.turns;
        if !(1..=turns).contains(&sections.turn) {
            self.fault("turn", format!("{} is not one of the turns 1 to {turns}", sections.turn));
            return;
        }
        self.position.turn = sections.turn - 1;
        let month = self.position.month_text();
        if let Some(said) = sections.month.as_ref().filter(|said| **said != month) {
            self.fault("month", format!("turn {} is {month}, not `{said}`", sections.turn));
        }
    }

    fn stacks(&mut self, stacks: &[Stack]) {
        let mut counted = [0u32; KINDS];
        let mut hexes: Vec<Hex> = Vec::new();
        let mut cohorts: Vec<Cohort> = Vec::new();
        for (i, stack) in stacks.iter().enumerate() {
            let hex = self.hex(&format!("stacks[{i}].hex"), &stack.hex);
            if hex.is_some() && hexes.contains(&hex) {
                self.fault(&format!("stacks[{i}].hex"), format!("{hex} has a stack already"));
            }
            hexes.push(hex);
            for (j, line) in stack.units.iter().enumerate() {
                let field = format!("stacks[{i}].units[{j}]");
                if line.count == 0 {
                    self.fault(&field, format!("0 `{}` are none: leave them out", line.kind.id()));
                    continue;
                }
                counted[line.kind.index()] += u32::from(line.count);
                let status = line.status.unwrap_or(Status::Fresh);
                let cohort = Cohort::new(hex, line.kind, line.disrupted, status, line.count).with_group(line.group);
                if cohorts.iter().any(|c| c.with_count(line.count) == cohort) {
                    self.fault(&field, "the same units are there already: add the counts up");
                }
                cohorts.push(cohort);
            }
            for (j, line) in stack.leaders.iter().enumerate() {
                self.leader(&format!("stacks[{i}].leaders[{j}]"), line, hex);
            }
        }
        let over = |kind: &Kind| counted[kind.index()] > u32::from(self.position.scenario.catalogue.of(*kind).pool);
        let over: Vec<Kind> = Kind::ALL.into_iter().filter(over).collect();
        for kind in &over {
            let pool = self.position.scenario.catalogue.of(*kind).pool;
            let reason = format!("{} `{}` are more than the pool of {pool} (2.3)", counted[kind.index()], kind.id());
            self.fault("stacks", reason);
        }
        // The pool is smaller than what a position can hold, so that all cohorts of a sound file fit.
        if self.faults.is_empty() {
            cohorts.into_iter().for_each(|cohort| self.position.units.add(cohort));
        }
    }

    fn leader(&mut self, field: &str, line: &LeaderLine, hex: Hex) {
        let (name, status, grouped) = match line {
            LeaderLine::Fresh(name) => (name, Status::Fresh, false),
            LeaderLine::Marked(MarkedLeader { name, status, group }) => (name, status.unwrap_or(Status::Fresh), *group),
        };
        let Some(leader) = Leader::from_id(name) else {
            self.fault(field, format!("unknown leader `{name}`"));
            return;
        };
        let state = &mut self.position.leaders[leader.index()];
        if state.hex.is_some() {
            self.fault(field, format!("`{name}` is there twice"));
            return;
        }
        *state = LeaderState { hex, lost: false, status, grouped };
    }

    /// Control (6.3), and what hangs on the places and turns of the scenario.
    fn places(&mut self, sections: &Sections) {
        let board = self.board();
        let mut named = [false; MAX_PLACES];
        for (name, side) in &sections.control.0 {
            let field = format!("control.{name}");
            let Some(place) = board.place_named(name) else {
                self.fault(&field, "the scenario has no such place");
                continue;
            };
            if std::mem::replace(&mut named[usize::from(place.0)], true) {
                self.fault(&field, "the place is there twice");
            }
            self.position.set_control(place, *side);
        }
        for (i, place) in board.places.iter().enumerate() {
            for side in Side::BOTH {
                if !named[i] && self.position.units.any(place.hex, side, COMBAT) {
                    self.position.take_control(place.hex, side);
                }
            }
        }
        self.position.railway = sections.railway;
        self.position.arrived = match &sections.arrived {
            None => self.position.arrived_by_now(),
            Some(numbers) => {
                let all = self.position.scenario.reinforcements.len();
                let mut arrived = 0u64;
                for number in numbers {
                    if (1..=all).contains(&usize::from(*number)) {
                        arrived |= 1 << (number - 1);
                    } else {
                        self.fault("arrived", format!("the scenario has no reinforcement {number} (1 to {all})"));
                    }
                }
                arrived
            }
        };
    }

    fn losses(&mut self, sections: &Sections) {
        let lost = self.leader_bits("lost_leaders", &sections.lost_leaders);
        for leader in Leader::ALL.into_iter().filter(|l| lost >> l.index() & 1 == 1) {
            if self.position.leaders[leader.index()].hex.is_some() {
                self.fault("lost_leaders", format!("`{}` is on the map", leader.id()));
            }
            self.position.leaders[leader.index()].lost = true;
        }
        self.position.escaping = self.leader_bits("escaping", &sections.escaping);
        self.position.eliminated = [sections.eliminated.egyptian, sections.eliminated.mahdist];
        if let Some(held) = sections.held {
            if held.months == 0 || held.months & TAKEN != 0 {
                self.fault("held.months", format!("{} months are none or too many", held.months));
            }
            self.position.months_held = held.months & !TAKEN | if held.by == Side::Mahdist { TAKEN } else { 0 };
        }
        self.position.gunboats_lost = sections.gunboats_lost.into();
        if let Some(sinking) = &sections.sinking {
            self.position.sinking = [sinking.gunboat, sinking.british_gunboat];
            self.position.sinking_at = self.hex("sinking.hex", &sinking.hex);
            if self.position.sinking == [0, 0] {
                self.fault("sinking", "no gunboat is named");
            }
        }
        if sections.gunboats_out.len() > MAX_GUNBOATS {
            self.fault("gunboats_out", format!("there are {MAX_GUNBOATS} gunboats at most (2.3)"));
            return;
        }
        for (i, GunboatAway { kind, hex, returns }) in sections.gunboats_out.iter().enumerate() {
            let field = format!("gunboats_out[{i}]");
            if !matches!(kind, Kind::Gunboat | Kind::BritishGunboat) {
                self.fault(&field, format!("`{}` is no gunboat", kind.id()));
            }
            if *returns == 0 {
                self.fault(&field, "turns count from 1");
            }
            let hex = self.hex(&field, hex);
            self.position.gunboats_out[i] =
                GunboatOut { returns: returns.saturating_sub(1), hex, british: *kind == Kind::BritishGunboat };
        }
        self.position.gunboats_out.sort_unstable();
    }

    fn events(&mut self, section: &Events) {
        let favoured = self.optional_hex("events.favoured", section.favoured.as_ref());
        let events = &mut self.position.events;
        events.current = section.current;
        events.amount = section.amount;
        events.poor_morale = section.poor_morale;
        events.withdraw = section.withdraw;
        events.dry_weather = section.dry_weather;
        events.good_harvest = section.good_harvest;
        events.religious_disagreement = section.religious_disagreement;
        events.poor_communications = section.poor_communications;
        events.spoilt_biscuits = section.spoilt_biscuits;
        events.favoured = favoured;
        events.favour = section.favour.unwrap_or(Favour::None);
        events.war = section.war.unwrap_or(War::Never);
        events.field_forces = section.field_forces;
        events.landing = section.landing;
        events.leaving = section.leaving;
        events.in_play = section.in_play;
    }

    fn group(&mut self, section: Option<&GroupSection>) {
        let Some(section) = section else { return };
        if section.kind == GroupKind::None {
            self.fault("group.kind", "a group marches or is a vessel");
        }
        self.position.group = Group {
            kind: section.kind,
            hex: self.hex("group.hex", &section.hex),
            came_from: self.optional_hex("group.came_from", section.came_from.as_ref()),
            rolls: section.rolls,
            failed: section.failed,
            favoured: section.favoured,
        };
    }

    fn battle(&mut self, section: Option<&BattleSection>) {
        let Some(section) = section else { return };
        let dice = &section.dice;
        self.position.battle = Battle {
            // The stage goes with what is pending and is found with it.
            stage: Battle::NONE.stage,
            from: self.hex("battle.from", &section.from),
            target: self.hex("battle.target", &section.target),
            leader_use: [section.leader_use.marching, section.leader_use.defending],
            dice: [dice.fire.marching, dice.fire.defending, dice.melee.marching, dice.melee.defending],
            winner: section.winner,
            guns_taken: section.guns_taken,
            rifles_taken: section.rifles_taken,
            gunboats_hit: section.gunboats_hit.into(),
        };
    }

    /// How far the phase has come.
    fn progress(&mut self, sections: &Sections) {
        if sections.spent.len() > MAX_SUPPLY {
            self.fault("spent", format!("{MAX_SUPPLY} supply units at most"));
        }
        for (i, name) in sections.spent.iter().take(MAX_SUPPLY).enumerate() {
            self.position.spent[i] = self.hex(&format!("spent[{i}]"), name);
        }
        let within = [
            ("to_place", sections.to_place.is_some()),
            ("resume", sections.resume.is_some()),
            ("group", sections.group.is_some()),
            ("battle", sections.battle.is_some()),
            ("escaping", !sections.escaping.is_empty()),
            ("sinking", sections.sinking.is_some()),
            ("spent", !sections.spent.is_empty()),
            ("events.current", sections.events.current.is_some()),
        ];
        for (field, _) in within.iter().filter(|(_, there)| *there && sections.pending.is_none()) {
            self.fault(field, "without `pending` the phase is at its start");
        }
        let setup = self.position.phase == Phase::Setup;
        for (field, there) in [("region", sections.region.is_some()), ("to_place", sections.to_place.is_some())] {
            if there && !setup {
                self.fault(field, "only the phase `setup` has it");
            }
        }
        if setup {
            let regions = self.position.scenario.regions.len();
            let region = sections.region.unwrap_or(1);
            if !(1..=regions).contains(&usize::from(region)) {
                self.fault("region", format!("the scenario has no set-up region {region} (1 to {regions})"));
                return;
            }
            self.position.stage = region - 1;
            match &sections.to_place {
                Some(left) => {
                    self.position.to_place =
                        [left.mahdist_spearmen, left.mahdist_rifles, left.mahdist_cavalry, left.mahdist_gun];
                }
                None => self.position.begin_region(),
            }
        }
        self.resume(sections);
    }

    /// A roll for losses may interrupt a reinforcement phase.
    fn resume(&mut self, sections: &Sections) {
        let decision = sections.pending.as_ref().map_or(Decision::None, |pending| pending.decision);
        let interrupted = matches!(decision, Decision::RollEscape | Decision::RollGunboat);
        let position = &mut self.position;
        if position.phase != Phase::Reinforcement || !interrupted {
            if sections.resume.is_some() {
                self.fault("resume", "only a roll for losses in the phase `reinforcement` has it");
            }
            return;
        }
        position.stage = step::ARRIVALS;
        match &sections.resume {
            None => {}
            Some(Resume::Arrival(number)) => {
                let all = position.scenario.reinforcements.len();
                position.cursor = Hex(u16::from(*number));
                if !(1..=all).contains(&usize::from(*number)) {
                    self.fault("resume", format!("the scenario has no reinforcement {number} (1 to {all})"));
                }
            }
            Some(Resume::District(name)) => {
                position.stage = step::RECRUITS;
                match position.scenario.0.board.districts.iter().position(|d| d == name) {
                    Some(district) => position.cursor = Hex(district as u16 + 1),
                    None => self.fault("resume", format!("the map has no district `{name}`")),
                }
            }
        }
    }

    fn pending(&mut self, section: &PendingSection) {
        let decision = section.decision;
        let hex = self.optional_hex("pending.hex", section.hex.as_ref());
        let subject = self.subject(decision, section.subject.as_ref()).unwrap_or(0);
        self.position.pending = Pending { decision, hex, subject, amount: section.amount };
    }

    fn subject(&mut self, decision: Decision, subject: Option<&Subject>) -> Option<u8> {
        let of = SubjectOf::decision(decision);
        let (name, number) = match (of, subject) {
            (SubjectOf::Active, None) => return Some(self.position.active as u8),
            (SubjectOf::Nothing, None) => return None,
            (SubjectOf::Nothing | SubjectOf::Active, Some(_)) => {
                self.fault("pending.subject", format!("`{}` has none", decision.id()));
                return None;
            }
            (_, None) => {
                self.fault("pending.subject", format!("`{}` needs one", decision.id()));
                return None;
            }
            (_, Some(Subject::Name(name))) => (name.as_str(), 0),
            (_, Some(Subject::Number(number))) => ("", *number),
        };
        let scenario = self.position.scenario.0;
        let found = match of {
            SubjectOf::Nothing | SubjectOf::Active => None,
            SubjectOf::Kind => Kind::from_id(name).map(|kind| kind as u8),
            SubjectOf::Passenger if name == FLAG => (decision == Decision::GroupLeader).then_some(FLAG_SUBJECT),
            SubjectOf::Passenger => Leader::from_id(name).map(|leader| leader as u8),
            SubjectOf::Line => (0..4 * KINDS as u8).find(|line| line_text(*line) == name),
            SubjectOf::Reinforcement => {
                (1..=scenario.reinforcements.len()).contains(&usize::from(number)).then(|| number - 1)
            }
            SubjectOf::District => scenario.board.districts.iter().position(|d| d == name).map(|d| d as u8),
            SubjectOf::Gunboat => ["gunboat", "british_gunboat"].iter().position(|k| *k == name).map(|k| k as u8),
        };
        if found.is_none() {
            let said = if name.is_empty() { number.to_string() } else { format!("`{name}`") };
            self.fault("pending.subject", format!("`{}` cannot be about {said}", decision.id()));
        }
        found
    }
}

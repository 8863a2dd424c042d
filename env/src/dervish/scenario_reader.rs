//! From the sections of a scenario file to the [`Scenario`], with every fault on the way.

use std::ops::Range;

use toml::Spanned;

use super::board::{Board, Ground, Hex, PlaceId, PlaceKind};
use super::catalogue::{COMBAT, Catalogue, KINDS, Kind, LEADERS, Leader, Side, VESSELS};
use super::data_file::DataFile;
use super::map_file::MapFile;
use super::scenario::{
    Arrival, FieldForce, Garrison, NamedPlaces, Options, PlacePoints, Recruits, Reinforcement, Scenario, SetupRegion,
    UnitCount, Victory,
};
use super::scenario_file::{
    FieldForceTable, GarrisonTable, MAX_REINFORCEMENTS, MAX_TURNS, Places, PointTable, RecruitTable,
    ReinforcementTable, Sections, SetupTable, UnitTable, VictoryTable,
};
use super::tables::Tables;

/// What turns sections into a scenario, noting faults.
pub(super) struct Reader<'f, 't, 'm> {
    file: &'f mut DataFile<'t>,
    map: &'m MapFile,
    board: Board,
    catalogue: &'static Catalogue,
    /// Months from the year 0 to the first month.
    first_month: Option<u32>,
    /// Number of game turns, if it is sound.
    turns: Option<u8>,
    /// Units set up so far, by kind.
    set_up: [u32; KINDS],
    /// Leaders met so far.
    leaders_met: [bool; LEADERS],
}

/// Which leaders a list may name again.
#[derive(Clone, Copy, PartialEq)]
enum LeadersOf {
    /// Set-up and reinforcements: each leader once.
    Play,
    /// A field force: Graham comes with either (2.5).
    FieldForce,
}

impl<'f, 't, 'm> Reader<'f, 't, 'm> {
    pub(super) fn new(file: &'f mut DataFile<'t>, map: &'m MapFile, board: Board, sections: &Sections) -> Self {
        let turns = sections.turns.as_ref().and_then(|turns| {
            let sound = (1..=MAX_TURNS).contains(turns.get_ref());
            if !sound {
                file.fault(turns.span(), format!("a scenario has 1 to {MAX_TURNS} turns, not {}", turns.get_ref()));
            }
            sound.then_some(*turns.get_ref())
        });
        let first_month = sections.first_month.as_ref().and_then(|name| month(file, name));
        let catalogue = Catalogue::builtin();
        let (set_up, leaders_met) = ([0; KINDS], [false; LEADERS]);
        Reader { file, map, board, catalogue, first_month, turns, set_up, leaders_met }
    }

    /// The scenario, if nothing that it needs is missing.
    pub(super) fn scenario(&mut self, sections: Sections, hash: String) -> Option<Scenario> {
        if let Some(name) = &sections.name
            && (name.get_ref().is_empty()
                || !name.get_ref().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'))
        {
            self.file.fault(name.span(), format!("`{}` is no short name (a-z, 0-9, hyphen)", name.get_ref()));
        }
        let garrisons = self.garrisons(&sections.garrisons);
        let regions = self.regions(&sections.regions, &garrisons);
        let reinforcements = self.reinforcements(&sections.reinforcements);
        let field_forces = self.field_forces(&sections.field_forces);
        let victory = sections.victory.as_ref().and_then(|victory| self.victory(victory.get_ref()));
        let railway = sections.railway.as_ref().is_some_and(|r| *r.get_ref());
        if let Some(railway) = sections.railway.filter(|r| *r.get_ref() && self.board.railway.len() < 2) {
            self.file.fault(railway.span(), "no railway begins in the scenario's hexes");
        }
        let recruits = self.recruits(&sections.recruits);
        let first_month = self.first_month?;
        let options =
            Options { flag: sections.options.flag.unwrap_or(true), fanatic_charge: sections.options.fanatic_charge };
        let board = self.board.clone();
        Some(Scenario {
            name: sections.name?.into_inner(),
            title: sections.title?,
            catalogue: self.catalogue.clone(),
            tables: Tables::builtin().clone(),
            named: named_places(&board),
            board,
            first_month: (first_month % 12 + 1) as u8,
            first_year: (first_month / 12) as u16,
            turns: self.turns?,
            first_player: sections.first_player?,
            events: sections.events?,
            options,
            garrisons,
            regions,
            reinforcements,
            field_forces,
            recruits,
            railway,
            victory: victory?,
            hash,
        })
    }

    /// What is left out is as in rule 5.2.
    fn recruits(&mut self, table: &RecruitTable) -> Recruits {
        let mut number = |field: &Option<Spanned<u8>>, usual| {
            let Some(number) = field else { return usual };
            if *number.get_ref() > 6 {
                self.file.fault(number.span(), format!("{} is not from 0 to 6", number.get_ref()));
            }
            *number.get_ref()
        };
        Recruits { less: number(&table.less, 3), mahdi: number(&table.mahdi, 1), town: number(&table.town, 1) }
    }

    fn garrisons(&mut self, tables: &[Spanned<GarrisonTable>]) -> Vec<Garrison> {
        let mut garrisons: Vec<Garrison> = Vec::new();
        for table in tables {
            let table = table.get_ref();
            let hex = self.hex(&table.at.span(), table.at.get_ref());
            let units = self.units(&table.units, None);
            let leaders = self.leaders(&table.leaders, None, LeadersOf::Play);
            self.check_sides(table, &units, &leaders);
            self.check_pool(&table.units, &units, true);
            let Some(hex) = hex else { continue };
            self.check_waters(&table.units, &[hex]);
            if garrisons.iter().any(|g| g.hex == hex) {
                self.file.fault(table.at.span(), format!("{} has two garrisons", table.at.get_ref()));
            }
            garrisons.push(Garrison { hex, units, leaders });
        }
        garrisons
    }

    /// All units and leaders of a garrison are of one side (6.2).
    fn check_sides(&mut self, table: &GarrisonTable, units: &[UnitCount], leaders: &[Leader]) {
        let at = &table.at;
        let mut sides = sides_of(units, leaders);
        let first = sides.next();
        if table.units.is_empty() && table.leaders.is_empty() {
            self.file.fault(at.span(), format!("the garrison of {} is empty", at.get_ref()));
        } else if sides.any(|side| Some(side) != first) {
            self.file.fault(at.span(), format!("the garrison of {} is of both sides", at.get_ref()));
        }
    }

    fn regions(&mut self, tables: &[Spanned<SetupTable>], garrisons: &[Garrison]) -> Vec<SetupRegion> {
        // 2.7: never with an enemy. Egyptian units are all set up at fixed places, so this is known here.
        let enemy = |hex: Hex| {
            garrisons.iter().any(|g| g.hex == hex && sides_of(&g.units, &g.leaders).next() == Some(Side::Egyptian))
        };
        let mut regions = Vec::new();
        for table in tables {
            let table = table.get_ref();
            let mut hexes = table.hexes.hexes(self.file, self.map, &self.board);
            hexes.retain(|&hex| self.board.place_kind(hex) != Some(PlaceKind::Town) && !enemy(hex));
            if hexes.is_empty() {
                self.file.fault(table.name.span(), format!("region `{}` has no hexes", table.name.get_ref()));
            }
            let units = self.units(&table.units, Some(Side::Mahdist));
            let leaders = self.leaders(&table.leaders, Some(Side::Mahdist), LeadersOf::Play);
            if table.units.is_empty() {
                self.file.fault(table.name.span(), format!("region `{}` has no units", table.name.get_ref()));
            }
            self.check_pool(&table.units, &units, true);
            if let Some(unit) = units.iter().find(|unit| !COMBAT.has(unit.kind)) {
                let reason = format!("`{}` cannot be set up by choice: combat units only (2.7)", unit.kind.id());
                self.file.fault(table.name.span(), reason);
            }
            regions.push(SetupRegion { name: table.name.get_ref().clone(), hexes, units, leaders });
        }
        regions
    }

    fn reinforcements(&mut self, tables: &[Spanned<ReinforcementTable>]) -> Vec<Reinforcement> {
        let mut all: Vec<Reinforcement> = Vec::new();
        for spanned in tables {
            let table = spanned.get_ref();
            let turns = self.turns_of(spanned);
            let arrival = self.arrival(spanned);
            let units = self.units(&table.units, Some(table.side));
            self.check_pool(&table.units, &units, false);
            let leaders = self.leaders(&table.leaders, Some(table.side), LeadersOf::Play);
            if table.units.is_empty() && table.leaders.is_empty() {
                self.file.fault(spanned.span(), "the reinforcement is empty");
            }
            if table.every_month.is_some() && !leaders.is_empty() {
                self.file.fault(table.leaders[0].span(), "a leader cannot come every month");
            }
            let Some(arrival) = arrival else { continue };
            match &arrival {
                Arrival::Hexes(hexes) => self.check_waters(&table.units, hexes),
                Arrival::AnyStack => self.check_waters(&table.units, &[]),
            }
            all.extend(turns.map(|turn| Reinforcement {
                turn,
                side: table.side,
                arrival: arrival.clone(),
                units: units.clone(),
                leaders: leaders.clone(),
                while_field_force: table.while_field_force,
            }));
        }
        all.sort_by_key(|r| r.turn);
        if all.len() > MAX_REINFORCEMENTS {
            let reason = format!("{} reinforcements, more than {MAX_REINFORCEMENTS}", all.len());
            self.file.fault_at(None, reason);
        }
        all
    }

    /// The game turns on which a reinforcement comes.
    fn turns_of(&mut self, spanned: &Spanned<ReinforcementTable>) -> Range<u8> {
        let table = spanned.get_ref();
        match (&table.month, &table.every_month) {
            (Some(month), None) => self.turn(month).map_or(0..0, |turn| turn..turn + 1),
            (None, Some(months)) => match (self.turn(&months.first), self.turn(&months.last)) {
                (Some(first), Some(last)) if first <= last => first..last + 1,
                (Some(_), Some(_)) => {
                    self.file.fault(months.last.span(), "the last month is before the first");
                    0..0
                }
                _ => 0..0,
            },
            _ => {
                self.file.fault(spanned.span(), "a reinforcement has either `month` or `every_month`");
                0..0
            }
        }
    }

    /// Where a reinforcement arrives.
    fn arrival(&mut self, spanned: &Spanned<ReinforcementTable>) -> Option<Arrival> {
        let table = spanned.get_ref();
        match (&table.at, &table.entry, &table.region, &table.any_stack) {
            (Some(at), None, None, None) => {
                let names = match at.get_ref() {
                    Places::One(name) => std::slice::from_ref(name),
                    Places::Several(names) => names,
                };
                let hexes: Option<Vec<Hex>> = names.iter().map(|name| self.hex(&at.span(), name)).collect();
                let hexes = hexes.filter(|hexes| !hexes.is_empty())?;
                Some(Arrival::Hexes(hexes))
            }
            (None, Some(id), None, None) => {
                let entry = self.board.entries.iter().find(|entry| entry.id == *id.get_ref());
                if let Some(entry) = entry {
                    return Some(Arrival::Hexes(entry.hexes.clone()));
                }
                let whole = self.map.whole();
                let reason = if whole.entries.iter().any(|e| e.id == *id.get_ref()) {
                    format!("entry `{}` lies outside the scenario's hexes", id.get_ref())
                } else if self.map.sea_entries.iter().any(|e| e.id == *id.get_ref()) {
                    format!("entry `{}` lies in the sea", id.get_ref())
                } else {
                    format!("unknown entry `{}`", id.get_ref())
                };
                self.file.fault(id.span(), reason);
                None
            }
            (None, None, Some(region), None) => {
                let hexes = region.get_ref().hexes(self.file, self.map, &self.board);
                if hexes.is_empty() {
                    self.file.fault(region.span(), "the region has no hexes");
                }
                Some(Arrival::Hexes(hexes))
            }
            (None, None, None, Some(any)) if *any.get_ref() => Some(Arrival::AnyStack),
            _ => {
                let reason = "a reinforcement has one of `at`, `entry`, `region` and `any_stack = true`";
                self.file.fault(spanned.span(), reason);
                None
            }
        }
    }

    fn field_forces(&mut self, tables: &[Spanned<FieldForceTable>]) -> Vec<FieldForce> {
        if let Some(table) = tables.first()
            && self.board.place_named("Souakim").is_none()
        {
            self.file.fault(table.span(), "a field force lands at Souakim, which is not in the scenario");
        }
        if let Some(table) = tables.get(2) {
            self.file.fault(table.span(), "there are two field forces at most");
        }
        let mut forces = Vec::new();
        for table in tables {
            let table = table.get_ref();
            let units = self.units(&table.units, Some(Side::Egyptian));
            self.check_pool(&table.units, &units, false);
            self.check_waters(&table.units, &[]);
            let leaders = self.leaders(&table.leaders, Some(Side::Egyptian), LeadersOf::FieldForce);
            let lands_on = table.lands.as_ref().and_then(|month| self.turn(month));
            let leaves_on = table.leaves.as_ref().and_then(|month| self.turn(month));
            if let (Some(lands), Some(leaves), Some(name)) = (lands_on, leaves_on, &table.leaves)
                && leaves < lands
            {
                self.file.fault(name.span(), "the field force leaves before it lands");
            }
            forces.push(FieldForce { units, leaders, lands_on, leaves_on });
        }
        forces
    }

    fn victory(&mut self, table: &VictoryTable) -> Option<Victory> {
        Some(match table {
            VictoryTable::ElObeid(table) => {
                let (sudden_death, prize) = (self.place(&table.sudden_death), self.place(&table.prize));
                let points = self.points(&table.points);
                if *table.units_per_point.get_ref() == 0 {
                    self.file.fault(table.units_per_point.span(), "`units_per_point` is at least 1");
                }
                let (units_per_point, needed) = (*table.units_per_point.get_ref(), table.needed);
                Victory::ElObeid { sudden_death: sudden_death?, prize: prize?, points, units_per_point, needed }
            }
            VictoryTable::Khartoum(table) => {
                Victory::Khartoum { prize: self.place(&table.prize)?, british_strength: table.british_strength }
            }
            VictoryTable::Points(table) => Victory::Points {
                sudden_death: table.sudden_death.as_ref().and_then(|name| self.place(name)),
                points: self.points(&table.points),
                mahdists_per_point: table.mahdists_per_point,
                egyptians_per_point: table.egyptians_per_point,
            },
            VictoryTable::Holder(table) => {
                let lesser = table.lesser.as_ref().and_then(|name| self.place(name));
                Victory::Holder { prize: self.place(&table.prize)?, lesser }
            }
        })
    }

    fn points(&mut self, table: &PointTable) -> Vec<PlacePoints> {
        let mut points: Vec<PlacePoints> = Vec::new();
        for (name, &worth) in table {
            if let Some(place) = self.place(name) {
                points.push(PlacePoints { place, points: worth });
            }
        }
        points.sort_by_key(|p| p.place);
        points
    }

    /// A place of the scenario by its name.
    fn place(&mut self, name: &Spanned<String>) -> Option<PlaceId> {
        let found = self.board.place_named(name.get_ref());
        if found.is_none() {
            self.refuse_place(&name.span(), name.get_ref());
        }
        found
    }

    /// The hex of a place, or of a name `CCRR`: land in the scenario (13.5).
    fn hex(&mut self, span: &Range<usize>, name: &str) -> Option<Hex> {
        let place = self.board.place_named(name).map(|p| self.board.places[usize::from(p.0)].hex);
        let hex = place.or_else(|| Hex::parse(name).filter(|&hex| self.board.is_land(hex)));
        if hex.is_none() {
            self.refuse_place(span, name);
        }
        hex
    }

    fn refuse_place(&mut self, span: &Range<usize>, name: &str) {
        let whole = self.map.whole();
        let ground = Hex::parse(name).map(|hex| whole.cell(hex).ground);
        let reason = match ground {
            Some(Ground::Sea) => format!("{name} is a sea hex"),
            Some(Ground::Off) => format!("{name} is off the map"),
            None if name.len() == 4 && name.bytes().all(|b| b.is_ascii_digit()) => format!("{name} is off the map"),
            None if whole.place_named(name).is_none() => format!("unknown place `{name}`"),
            _ => format!("{name} lies outside the scenario's hexes"),
        };
        self.file.fault(span.clone(), reason);
    }

    /// Units in catalogue order.
    fn units(&mut self, table: &UnitTable, side: Option<Side>) -> Vec<UnitCount> {
        let mut units = Vec::new();
        for (id, count) in table {
            let Some(kind) = Kind::from_id(id.get_ref()) else {
                self.file.fault(id.span(), format!("unknown unit `{}`", id.get_ref()));
                continue;
            };
            if side.is_some_and(|side| side != kind.side()) {
                self.file.fault(id.span(), format!("`{}` is a unit of the other side", id.get_ref()));
            }
            if kind == Kind::Flag {
                self.file.fault(id.span(), "the flag comes by rule 12.1 only");
            }
            if *count.get_ref() == 0 {
                self.file.fault(count.span(), format!("0 `{}` are none: leave them out", id.get_ref()));
                continue;
            }
            units.push(UnitCount { kind, count: *count.get_ref() });
        }
        units.sort_by_key(|u| u.kind);
        units
    }

    /// Units set up are all in the pool (2.3); of what comes later some may be lost (5.1), but none that is more than
    /// the whole pool makes sense.
    fn check_pool(&mut self, table: &UnitTable, units: &[UnitCount], set_up: bool) {
        for unit in units {
            let pool = self.catalogue.of(unit.kind).pool;
            let before = if set_up { self.set_up[unit.kind.index()] } else { 0 };
            let total = before + u32::from(unit.count);
            if set_up {
                self.set_up[unit.kind.index()] = total;
            }
            if total > u32::from(pool) {
                let span = table.get_key_value(unit.kind.id()).map_or(0..0, |(id, _)| id.span());
                self.file.fault(span, format!("{total} `{}` are more than the pool of {pool}", unit.kind.id()));
            }
        }
    }

    /// Gunboats and boats lie in hexes that touch a river (8.7), the fleet off a port (8.8). Without hexes none may come.
    fn check_waters(&mut self, table: &UnitTable, hexes: &[Hex]) {
        for id in table.keys() {
            let Some(kind) = Kind::from_id(id.get_ref()) else { continue };
            let port = |&hex: &Hex| self.board.place_at(hex).is_some_and(|place| place.port);
            let river = |&hex: &Hex| self.board.cell(hex).reaches != 0;
            let fits = if VESSELS.has(kind) {
                hexes.iter().all(river)
            } else if kind == Kind::Fleet {
                hexes.iter().all(port)
            } else {
                continue;
            };
            if hexes.is_empty() || !fits {
                self.file.fault(id.span(), format!("`{}` has no water there", id.get_ref()));
            }
        }
    }

    fn leaders(&mut self, names: &[Spanned<String>], side: Option<Side>, of: LeadersOf) -> Vec<Leader> {
        let mut leaders: Vec<Leader> = Vec::new();
        for name in names {
            let Some(leader) = Leader::from_id(name.get_ref()) else {
                self.file.fault(name.span(), format!("unknown leader `{}`", name.get_ref()));
                continue;
            };
            if side.is_some_and(|side| side != leader.side()) {
                self.file.fault(name.span(), format!("`{}` is a leader of the other side", name.get_ref()));
            }
            let met = self.leaders_met[leader.index()];
            if leaders.contains(&leader) || met {
                self.file.fault(name.span(), format!("leader `{}` is there twice", name.get_ref()));
            }
            if of == LeadersOf::Play {
                self.leaders_met[leader.index()] = true;
            }
            leaders.push(leader);
        }
        leaders.sort_unstable();
        leaders
    }

    /// The game turn of a month.
    fn turn(&mut self, name: &Spanned<String>) -> Option<u8> {
        let months = month(self.file, name)?;
        let (first, turns) = (self.first_month?, self.turns?);
        let turn = months.checked_sub(first).filter(|&turn| turn < u32::from(turns));
        if turn.is_none() {
            self.file.fault(name.span(), format!("month {} is not one of the scenario's", name.get_ref()));
        }
        turn.and_then(|turn| u8::try_from(turn).ok())
    }
}

/// The sides of units and leaders, one after another.
fn sides_of(units: &[UnitCount], leaders: &[Leader]) -> impl Iterator<Item = Side> {
    units.iter().map(|u| u.kind.side()).chain(leaders.iter().map(|l| l.side()))
}

/// Months since the year 0 of `YYYY-MM`.
fn month(file: &mut DataFile<'_>, name: &Spanned<String>) -> Option<u32> {
    let parsed = name.get_ref().split_once('-').and_then(|(year, month)| {
        let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
        let month = month.parse::<u32>().ok().filter(|m| digits(month, 2) && (1..=12).contains(m))?;
        let year = year.parse::<u32>().ok().filter(|_| digits(year, 4))?;
        Some(year * 12 + month - 1)
    });
    if parsed.is_none() {
        file.fault(name.span(), format!("`{}` is not a month YYYY-MM", name.get_ref()));
    }
    parsed
}

fn named_places(board: &Board) -> NamedPlaces {
    NamedPlaces {
        khartoum: board.place_named("Khartoum"),
        el_obeid: board.place_named("El Obeid"),
        souakim: board.place_named("Souakim"),
        trinkitat: board.place_named("Trinkitat"),
        goz_regeb: board.place_named("Goz Regeb"),
        berber: board.place_named("Berber"),
    }
}

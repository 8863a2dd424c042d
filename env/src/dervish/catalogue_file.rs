//! The unit catalogue as a file (2.1-2.3): `data/dervish/units.toml`, whose header documents the format.

use std::sync::LazyLock;

use serde::Deserialize;
use toml::Spanned;

use super::catalogue::{Arm, Catalogue, Class, KINDS, Kind, KindData, LEADERS, Leader, LeaderData, Nation};
use super::data_file::{DataError, DataFile};

/// The format of catalogue files that is read.
pub const FORMAT: u32 = 1;

/// Most counters that a catalogue may have in all, leaders apart: what a position has room for.
pub const MAX_COUNTERS: u32 = 240;

/// Text of the built-in catalogue.
pub(super) const BUILTIN: &str = include_str!("../../data/dervish/units.toml");

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    // The file is part of the program, so a fault in it is a fault of the program; a test reads it.
    Catalogue::parse("units.toml", BUILTIN).unwrap_or_else(|faults| panic!("built-in catalogue: {}", faults[0]))
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindTable {
    id: Spanned<String>,
    nation: Nation,
    arm: Arm,
    class: Option<Class>,
    melee: u8,
    fire: u8,
    gun: u8,
    cavalry: u8,
    r#move: u8,
    pool: u8,
    #[serde(default)]
    carries: u8,
    #[serde(default)]
    rifle_armed: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeaderTable {
    id: Spanned<String>,
    strategic: u8,
    tactical: u8,
    r#move: u8,
}

impl Catalogue {
    /// The catalogue that comes with the game.
    pub fn builtin() -> &'static Catalogue {
        &CATALOGUE
    }

    /// Reads a catalogue; `file` is its name in faults.
    ///
    /// # Errors
    /// Every fault found: fields, values, kinds and leaders that are unknown, missing or out of order, a pool beyond
    /// [`MAX_COUNTERS`].
    pub fn parse(file: &str, text: &str) -> Result<Catalogue, Vec<DataError>> {
        let mut file = DataFile::parse(file, text)?;
        file.format(FORMAT);
        let kinds = file.list::<KindTable>("kind");
        let leaders = file.list::<LeaderTable>("leader");
        file.no_more();
        let kind_ids: Vec<&'static str> = Kind::ALL.into_iter().map(Kind::id).collect();
        in_order(&mut file, "kind", &kind_ids, kinds.iter().map(|k| &k.get_ref().id));
        let leader_ids: Vec<&'static str> = Leader::ALL.into_iter().map(Leader::id).collect();
        in_order(&mut file, "leader", &leader_ids, leaders.iter().map(|l| &l.get_ref().id));
        for kind in &kinds {
            let kind = kind.get_ref();
            // Boats and the flag never test; the rest need a row of the morale table.
            if kind.class.is_none() && (kind.arm != Arm::Marker && (kind.arm != Arm::River || kind.fire > 0)) {
                file.fault(kind.id.span(), format!("kind `{}` has no class", kind.id.get_ref()));
            }
        }
        let counters: u32 = kinds.iter().map(|k| u32::from(k.get_ref().pool)).sum();
        if counters > MAX_COUNTERS {
            file.fault_at(None, format!("the pools hold {counters} counters, more than {MAX_COUNTERS}"));
        }
        if !file.sound() {
            return Err(file.into_faults());
        }
        let kinds: Vec<KindData> = kinds.into_iter().map(|k| k.into_inner().into()).collect();
        let leaders: Vec<LeaderData> = leaders.into_iter().map(|l| l.into_inner().into()).collect();
        match (<[KindData; KINDS]>::try_from(kinds), <[LeaderData; LEADERS]>::try_from(leaders)) {
            (Ok(kinds), Ok(leaders)) => Ok(Catalogue { kinds, leaders }),
            _ => Err(file.into_faults()),
        }
    }
}

/// Faults ids that are not just those of `known` in their order (2.1a).
fn in_order<'a>(
    file: &mut DataFile<'_>,
    what: &str,
    known: &[&'static str],
    found: impl Iterator<Item = &'a Spanned<String>>,
) {
    let mut next = 0;
    for id in found {
        match known.iter().position(|k| k == id.get_ref()) {
            None => file.fault(id.span(), format!("unknown {what} `{}`", id.get_ref())),
            Some(at) if at == next => next += 1,
            Some(at) => {
                file.fault(id.span(), format!("{what} `{}` is out of order", id.get_ref()));
                next = at + 1;
            }
        }
    }
    if next < known.len() && file.sound() {
        file.fault_at(None, format!("{what} `{}` is missing", known[next]));
    }
}

impl From<KindTable> for KindData {
    fn from(table: KindTable) -> KindData {
        KindData {
            nation: table.nation,
            arm: table.arm,
            class: table.class.unwrap_or(Class::R),
            melee: table.melee,
            fire: table.fire,
            gun: table.gun,
            cavalry: table.cavalry,
            movement: table.r#move,
            pool: table.pool,
            carries: table.carries,
            rifle_armed: table.rifle_armed,
        }
    }
}

impl From<LeaderTable> for LeaderData {
    fn from(table: LeaderTable) -> LeaderData {
        LeaderData { strategic: table.strategic, tactical: table.tactical, movement: table.r#move }
    }
}

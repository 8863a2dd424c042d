//! `dervish battle FILE`: one combat (9) between any forces, with given rolls or over all dice.

use std::collections::BTreeMap;
use std::path::PathBuf;

use comfy_table::{CellAlignment, Table, presets};
use dervish_env::dervish::board::{PlaceKind, Relief};
use dervish_env::dervish::catalogue::{Catalogue, Class, Kind, LAND, Leader, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::rules::combat::{
    Combat, CombatHex, CombatRole, Combatant, Dice, LeaderUse, Reading, Resolution, SideResult, Test,
};
use dervish_env::dervish::rules::odds::Distribution;
use dervish_env::dervish::scenario::{FanaticCharge, Options};
use dervish_env::dervish::tables::{Morale, Tables};
use dervish_env::persist::read_text;
use serde::{Deserialize, Serialize};

use super::{CommandError, print_json, print_line};

/// A battle with all fields, as the help shows it.
pub const EXAMPLE: &str = r#"A battle with all fields; `dice` and `from` may be left out, null stands for none:

  {
    "month": 1,
    "marching": {
      "side": "egyptian",
      "units": [
        {"kind": "camel_corps", "count": 3, "disrupted": 0},
        {"kind": "camel", "count": 1, "disrupted": 0}
      ],
      "leader": {"name": "stewart", "use": "melee"},
      "flag": false
    },
    "defending": {
      "side": "mahdist",
      "units": [{"kind": "mahdist_spearmen", "count": 6, "disrupted": 0}],
      "leader": null,
      "flag": false
    },
    "hex": {"ground": "desert", "relief": null, "place": "oasis", "river": false, "sea": false},
    "from": {"ground": "desert", "relief": "hills", "place": null, "river": false, "sea": false},
    "dice": {"fire": {"marching": null, "defending": 10}, "melee": {"marching": 7, "defending": 7}}
  }"#;

/// Fights one combat from first fire to outcome, or computes its exact odds.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct BattleArgs {
    /// The battle, a JSON file as below.
    pub file: PathBuf,
    /// Leave the dice out and tell the exact odds over all of them: how likely each outcome is, and how likely it is that a side
    /// has so many land units destroyed, and so many disrupted at the end.
    #[arg(long)]
    pub odds: bool,
    /// JSON instead of tables. In its lists of odds the index is the number of units: the first is the probability of 0.
    #[arg(long)]
    pub json: bool,
}

impl BattleArgs {
    /// Prints the battle's report or its odds.
    ///
    /// # Errors
    /// [`CommandError`] if the file cannot be read or is no battle, if a roll that is called for is missing, or if
    /// standard output takes nothing.
    pub fn run(self) -> Result<(), CommandError> {
        let file = self.file.display().to_string();
        let refused = |reason| CommandError::File { file: file.clone(), reason };
        let text = read_text(&self.file).map_err(|error| refused(error.to_string()))?;
        let battle = Battle::parse(&text).map_err(|error| refused(error.to_string()))?;
        if self.odds {
            let odds = battle.odds();
            return if self.json { print_json(&odds) } else { print_line(&odds.text(&battle.sides())) };
        }
        let report = battle.report().map_err(|error| refused(error.to_string()))?;
        if self.json { print_json(&report) } else { print_line(&report.text(&battle.sides())) }
    }
}

/// A battle that has been read and found to be one.
#[derive(Clone, Debug)]
pub struct Battle {
    combat: Combat<'static>,
    dice: Dice,
}

/// Why a text is no battle, or cannot be fought.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BattleError {
    /// Not JSON, an unknown or missing field, or a value out of its range.
    #[error("{0}")]
    Format(String),
    /// A field whose value does not go with the others.
    #[error("{field}: {reason}")]
    Field {
        /// Path of the field, such as `marching.units[2].kind`.
        field: String,
        /// What is wrong.
        reason: String,
    },
    /// A roll that is called for is not given.
    #[error("dice.{0}: this roll is called for and missing")]
    MissingRoll(&'static str),
}

impl Battle {
    /// Reads a battle. The default options of the rules hold: the flag, the reading of the fanatics' charge.
    ///
    /// # Errors
    /// [`BattleError`] with field and, where it is known, line.
    pub fn parse(text: &str) -> Result<Battle, BattleError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let file: BattleFile = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            let reason = error.into_inner().to_string();
            BattleError::Format(if path == "." { reason } else { format!("{path}: {reason}") })
        })?;
        json.end().map_err(|error| BattleError::Format(error.to_string()))?;
        if file.marching.side == file.defending.side {
            return Err(field("defending.side", format!("both sides are {}", file.marching.side.id())));
        }
        let combat = Combat {
            catalogue: Catalogue::builtin(),
            tables: Tables::builtin(),
            options: Options { flag: true, fanatic_charge: FanaticCharge::default() },
            marching_side: file.marching.side,
            poor_morale: false,
            target: file.hex.into(),
            from: file.from.map_or(CombatHex::OPEN, CombatHex::from),
            marching: file.marching.combatant("marching")?,
            defending: file.defending.combatant("defending")?,
        };
        let dice = file.dice.unwrap_or_default();
        let roll = |roll: Option<Roll>| roll.map_or(0, |roll| roll.0);
        let dice = [dice.fire.marching, dice.fire.defending, dice.melee.marching, dice.melee.defending].map(roll);
        Ok(Battle { combat, dice })
    }

    /// The battle fought with its rolls; superfluous ones are ignored.
    ///
    /// # Errors
    /// [`BattleError::MissingRoll`].
    pub fn report(&self) -> Result<BattleReport, BattleError> {
        if let Some(test) = self.combat.next_test(&self.dice) {
            return Err(BattleError::MissingRoll(match test {
                Test::FireMarching => "fire.marching",
                Test::FireDefending => "fire.defending",
                Test::MeleeMarching => "melee.marching",
                Test::MeleeDefending => "melee.defending",
            }));
        }
        let test = |test| self.combat.reading(test, &self.dice).as_ref().map(TestReport::from);
        let Resolution { marching, defending, winner } = self.combat.resolve(&self.dice);
        Ok(BattleReport {
            fire: Both { marching: test(Test::FireMarching), defending: test(Test::FireDefending) },
            melee: Both { marching: test(Test::MeleeMarching), defending: test(Test::MeleeDefending) },
            losses: Both { marching: Losses::of(&marching), defending: Losses::of(&defending) },
            broken: Both { marching: marching.broken, defending: defending.broken },
            outcome: match winner {
                Some(CombatRole::Marching) => "marching",
                Some(CombatRole::Defending) => "defending",
                None => "draw",
            },
            survivors: Both { marching: survivors(&marching.force), defending: survivors(&defending.force) },
        })
    }

    /// The exact distribution over all dice; the battle's own are not looked at.
    pub fn odds(&self) -> BattleOdds {
        let distribution = self.combat.distribution();
        let losses = |role| LossOdds::of(&distribution, role);
        BattleOdds {
            outcome: OutcomeOdds {
                marching: distribution.probability(Some(CombatRole::Marching)),
                defending: distribution.probability(Some(CombatRole::Defending)),
                draw: distribution.probability(None),
            },
            losses: Both { marching: losses(CombatRole::Marching), defending: losses(CombatRole::Defending) },
        }
    }

    /// The sides as tables name them.
    fn sides(&self) -> Both<String> {
        let [marching, defending] = CombatRole::BOTH.map(|role| self.combat.side(role).id());
        Both { marching: format!("{marching} (marching)"), defending: format!("{defending} (defending)") }
    }
}

/// Something of each side.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Both<T> {
    /// Of the side that marches.
    pub marching: T,
    /// Of the other.
    pub defending: T,
}

/// A battle fought.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BattleReport {
    /// The tests of the fire round, by the side that tests; `None` where none was called for.
    pub fire: Both<Option<TestReport>>,
    /// The tests of the melee round.
    pub melee: Both<Option<TestReport>>,
    /// Losses in land units.
    pub losses: Both<Losses>,
    /// Whether a side is broken (9.9).
    pub broken: Both<bool>,
    /// `marching`, `defending` or `draw`.
    pub outcome: &'static str,
    /// Units left by kind, in catalogue order, vessels included.
    pub survivors: Both<Vec<Survivors>>,
}

impl BattleReport {
    /// The tests, losses and survivors of both sides as a table, and who wins.
    fn text(&self, sides: &Both<String>) -> String {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_header(["", &sides.marching, &sides.defending]);
        let test = |test: &Option<TestReport>| test.as_ref().map_or_else(|| "none".to_owned(), TestReport::text);
        let broken = |broken: bool| if broken { "yes" } else { "no" }.to_owned();
        let Both { marching, defending } = &self.losses;
        let number = |of: fn(&Losses) -> u32| [of(marching), of(defending)].map(|units| units.to_string());
        let rows = [
            ("test under fire", [test(&self.fire.marching), test(&self.fire.defending)]),
            ("test in melee", [test(&self.melee.marching), test(&self.melee.defending)]),
            ("land units", number(|of| of.start)),
            ("destroyed", number(|of| of.destroyed)),
            ("left", number(|of| of.left)),
            ("of these disrupted", number(|of| of.disrupted)),
            ("broken", [broken(self.broken.marching), broken(self.broken.defending)]),
            ("survivors", [survivors_text(&self.survivors.marching), survivors_text(&self.survivors.defending)]),
        ];
        for (name, [marching, defending]) in rows {
            table.add_row([name.to_owned(), marching, defending]);
        }
        let winner = match self.outcome {
            "marching" => sides.marching.as_str(),
            "defending" => sides.defending.as_str(),
            _ => "nobody",
        };
        format!("{table}\n{winner} wins")
    }
}

/// A test.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TestReport {
    /// Sum of the modifiers without the flag's.
    pub modifier: i32,
    /// Roll and modifier.
    pub total: i32,
    /// 1 if rows R and L are read one higher for the flag.
    pub flag: i32,
    /// The result of each class of which the side has a land unit.
    pub results: BTreeMap<&'static str, Morale>,
}

impl From<&Reading> for TestReport {
    fn from(reading: &Reading) -> TestReport {
        let result = |class: Class| Some((class.id(), reading.results[class as usize]?));
        TestReport {
            modifier: reading.modifier,
            total: reading.total,
            flag: reading.flag,
            results: Class::ALL.into_iter().filter_map(result).collect(),
        }
    }
}

impl TestReport {
    /// Such as `2D6 -1 is 9: F steady`, a line for the roll and one for each class.
    fn text(&self) -> String {
        let flag = if self.flag > 0 { " (R and L one higher)" } else { "" };
        let mut text = format!("2D6 {:+} is {}{flag}", self.modifier, self.total);
        for (class, result) in &self.results {
            let result = format!("{result:?}").to_lowercase();
            text += &format!("\n{class} {result}");
        }
        text
    }
}

/// Losses of a side in land units.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Losses {
    /// At the start.
    pub start: u32,
    /// Destroyed.
    pub destroyed: u32,
    /// Disrupted at the end.
    pub disrupted: u32,
    /// At the end, disrupted ones included.
    pub left: u32,
}

impl Losses {
    fn of(side: &SideResult) -> Losses {
        let left = side.force.count_of(LAND);
        Losses { start: side.start, destroyed: side.start - left, disrupted: side.force.disrupted_of(LAND), left }
    }
}

/// What is left of a kind.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Survivors {
    /// Which kind.
    pub kind: Kind,
    /// In good order.
    pub good: u8,
    /// Disrupted.
    pub disrupted: u8,
}

fn survivors(force: &Force) -> Vec<Survivors> {
    let kinds = force.kinds_present().iter().filter(|&kind| kind != Kind::Flag);
    let left =
        |kind: Kind| Survivors { kind, good: force.good[kind.index()], disrupted: force.disrupted[kind.index()] };
    kinds.map(left).collect()
}

/// A line for each kind.
fn survivors_text(survivors: &[Survivors]) -> String {
    let of_kind = |Survivors { kind, good, disrupted }: &Survivors| match disrupted {
        0 => format!("{good} {}", kind.id()),
        _ => format!("{} {}, {disrupted} disrupted", u32::from(*good) + u32::from(*disrupted), kind.id()),
    };
    survivors.iter().map(of_kind).collect::<Vec<_>>().join("\n")
}

/// The exact odds of a battle.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BattleOdds {
    /// Probabilities of the outcomes.
    pub outcome: OutcomeOdds,
    /// Probabilities of losses.
    pub losses: Both<LossOdds>,
}

impl BattleOdds {
    /// Who wins, and how likely each number of units is; numbers that no throw leads to are left out.
    fn text(&self, sides: &Both<String>) -> String {
        let mut winners = Table::new();
        winners.load_style(presets::UTF8_FULL_CONDENSED).set_header(["winner", "probability"]);
        let OutcomeOdds { marching, defending, draw } = self.outcome;
        for (winner, probability) in [(&*sides.marching, marching), (&*sides.defending, defending), ("nobody", draw)] {
            winners.add_row([winner.to_owned(), percent(probability)]);
        }
        let Both { marching, defending } = &self.losses;
        let columns = [
            (&sides.marching, "destroyed", &marching.destroyed),
            (&sides.marching, "disrupted", &marching.disrupted),
            (&sides.defending, "destroyed", &defending.destroyed),
            (&sides.defending, "disrupted", &defending.disrupted),
        ];
        let mut losses = Table::new();
        let header = columns.map(|(side, what, _)| format!("{side}\n{what}"));
        losses
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_header(std::iter::once("land units".to_owned()).chain(header));
        let most = columns.iter().map(|(.., odds)| odds.len()).max().unwrap_or(0);
        for units in 0..most {
            let of_units = columns.map(|(.., odds)| odds.get(units).copied().unwrap_or(0.0));
            if of_units.iter().any(|probability| *probability > 0.0) {
                losses.add_row(std::iter::once(units.to_string()).chain(of_units.map(percent)));
            }
        }
        let mean = |odds: &[f64]| odds.iter().enumerate().map(|(units, odds)| units as f64 * odds).sum::<f64>();
        let means = columns.map(|(.., odds)| format!("{:.2}", mean(odds)));
        losses.add_row(std::iter::once("mean".to_owned()).chain(means));
        for table in [&mut winners, &mut losses] {
            table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        }
        format!("{winners}\n{losses}")
    }
}

/// A probability in percent; `-` where it is 0.
fn percent(probability: f64) -> String {
    match 100.0 * probability {
        percent if percent <= 0.0 => "-".to_owned(),
        percent if percent < 0.05 => "<0.1%".to_owned(),
        percent => format!("{percent:.1}%"),
    }
}

/// Probabilities of the three outcomes, which sum to 1.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OutcomeOdds {
    /// The marching side wins.
    pub marching: f64,
    /// The other side wins.
    pub defending: f64,
    /// Nobody does.
    pub draw: f64,
}

/// Probabilities of 0, 1, 2, ... land units, up to all that a side has.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LossOdds {
    /// Destroyed.
    pub destroyed: Vec<f64>,
    /// Disrupted at the end.
    pub disrupted: Vec<f64>,
}

impl LossOdds {
    fn of(distribution: &Distribution, role: CombatRole) -> LossOdds {
        LossOdds { destroyed: distribution.destroyed(role), disrupted: distribution.disrupted(role) }
    }
}

// The file as it is written.

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BattleFile {
    /// No rule of combat asks for it; it is checked, so that a battle can be told from a mistake.
    #[serde(rename = "month")]
    _month: Month,
    marching: ForceFile,
    defending: ForceFile,
    hex: HexFile,
    from: Option<HexFile>,
    dice: Option<DiceFile>,
}

#[derive(Deserialize)]
#[serde(try_from = "u8")]
struct Month;

impl TryFrom<u8> for Month {
    type Error = String;

    fn try_from(month: u8) -> Result<Month, String> {
        if (1..=12).contains(&month) { Ok(Month) } else { Err(format!("{month} is no month, 1-12")) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForceFile {
    side: Side,
    units: Vec<UnitsFile>,
    leader: Option<LeaderFile>,
    #[serde(default)]
    flag: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitsFile {
    kind: Kind,
    count: u8,
    #[serde(default)]
    disrupted: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeaderFile {
    name: Leader,
    r#use: LeaderUse,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HexFile {
    /// The ground matters to supply, not to combat; it is checked all the same.
    #[serde(rename = "ground")]
    _ground: GroundFile,
    relief: Option<ReliefFile>,
    place: Option<PlaceKind>,
    #[serde(default)]
    river: bool,
    #[serde(default)]
    sea: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum GroundFile {
    Clear,
    Desert,
    Cultivated,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReliefFile {
    Hills,
    Mountain,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiceFile {
    #[serde(default)]
    fire: RoundFile,
    #[serde(default)]
    melee: RoundFile,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundFile {
    marching: Option<Roll>,
    defending: Option<Roll>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "u8")]
struct Roll(u8);

impl TryFrom<u8> for Roll {
    type Error = String;

    fn try_from(roll: u8) -> Result<Roll, String> {
        if (2..=12).contains(&roll) { Ok(Roll(roll)) } else { Err(format!("{roll} is no sum of two dice, 2-12")) }
    }
}

impl From<HexFile> for CombatHex {
    fn from(hex: HexFile) -> CombatHex {
        let relief = match hex.relief {
            None => Relief::Flat,
            Some(ReliefFile::Hills) => Relief::Hills,
            Some(ReliefFile::Mountain) => Relief::Mountain,
        };
        CombatHex { relief, place: hex.place, river: hex.river, sea: hex.sea }
    }
}

fn field(field: impl Into<String>, reason: impl Into<String>) -> BattleError {
    BattleError::Field { field: field.into(), reason: reason.into() }
}

impl ForceFile {
    /// `name` is that of the field that holds the force.
    fn combatant(&self, name: &str) -> Result<Combatant, BattleError> {
        let mut force = Force::EMPTY;
        for (i, UnitsFile { kind, count, disrupted }) in self.units.iter().enumerate() {
            let at = |what: &str| format!("{name}.units[{i}].{what}");
            if kind.side() != self.side {
                return Err(field(at("kind"), format!("{} is not {}", kind.id(), self.side.id())));
            }
            if *kind == Kind::Flag {
                return Err(field(at("kind"), format!("the flag is no unit: write \"flag\": true in {name}")));
            }
            if disrupted > count {
                return Err(field(at("disrupted"), format!("{disrupted} of {count} units")));
            }
            if *disrupted > 0 && !LAND.has(*kind) {
                return Err(field(at("disrupted"), format!("{} is never disrupted", kind.id())));
            }
            if force.count(*kind) + u32::from(*count) > u32::from(u8::MAX) {
                return Err(field(at("count"), format!("more than {} of {}", u8::MAX, kind.id())));
            }
            force.good[kind.index()] += count - disrupted;
            force.disrupted[kind.index()] += disrupted;
        }
        if force.count_of(LAND) == 0 {
            let reason = "no land unit: vessels alone neither attack nor are attacked (9.1)";
            return Err(field(format!("{name}.units"), reason));
        }
        if self.flag && self.side != Kind::Flag.side() {
            return Err(field(format!("{name}.flag"), format!("the flag is not {}", self.side.id())));
        }
        force.good[Kind::Flag.index()] = u8::from(self.flag);
        let (tactical, leader_use) = match &self.leader {
            None => (0, LeaderUse::None),
            Some(leader) if leader.name.side() != self.side => {
                let reason = format!("{} is not {}", leader.name.id(), self.side.id());
                return Err(field(format!("{name}.leader.name"), reason));
            }
            Some(leader) => (Catalogue::builtin().leader(leader.name).tactical, leader.r#use),
        };
        Ok(Combatant { force, tactical, leader_use })
    }
}

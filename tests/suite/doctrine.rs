//! The scripted agent of the campaign: what it answers is legal and the same every time, and on the positions of a
//! wargamer's primer it does what the primer says.

use dervish_agents::agent::Agent;
use dervish_agents::doctrine::Doctrine;
use dervish_agents::doctrine::assessment::{Assessment, Desk};
use dervish_agents::doctrine::egyptian;
use dervish_agents::doctrine::evaluation::CampaignEvaluation;
use dervish_agents::doctrine::march::Column;
use dervish_agents::doctrine::patience::Patience;
use dervish_agents::doctrine::weights::Weights;
use dervish_agents::evaluation::Evaluation;
use dervish_agents::limits::Limits;
use dervish_env::chance::{Dice, SplitMix64, agent_rng};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::Board;
use dervish_env::dervish::campaign::Phase;
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, Kind, LAND, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::rules::combat::CombatRole;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::dervish::units::Cohort;
use dervish_env::game::{Action, Actor, Position, Seat};
use serde_json::json;
use std::fs;

use crate::rules_table::Table;

#[test]
fn the_weights_of_the_program_can_be_read() {
    let _ = Weights::builtin();
}

/// An agent at the start of game `number`.
fn doctrine(number: u64, seat: Seat) -> Doctrine {
    let mut doctrine = Doctrine::default();
    doctrine.new_game(agent_rng(1, number, seat));
    doctrine
}

fn answer(doctrine: &mut Doctrine, position: &Campaign) -> Action {
    doctrine.choose(position, &Limits::default()).expect("an answer").action
}

/// The same position gets the same answer, whatever the agent was asked before.
#[test]
fn answers_are_legal_and_repeatable_wherever_random_play_leads() {
    for name in ["souakim", "kordofan", "khartoum", "el-obeid"] {
        let mut position = Campaign::new(Scenario::builtin(name).expect("built in"));
        let (mut dice, mut random, mut legal) = (Dice::new(3), SplitMix64::new(3), Vec::new());
        let mut asked_before = Seat::BOTH.map(|seat| doctrine(1, seat));
        let mut asked = 0;
        while asked < 300 {
            match position.actor() {
                Actor::Finished => break,
                Actor::Chance => {
                    let outcome = dice.roll(&position);
                    position.resolve(outcome).expect("a roll that was listed");
                }
                Actor::Player(seat) => {
                    let old = answer(&mut asked_before[seat.index()], &position);
                    let new = answer(&mut doctrine(1, seat), &position);
                    assert_eq!(old, new, "{name}: {}", position.pending_text());
                    assert!(position.is_legal(new), "{name}: {new:?} to {}", position.pending_text());
                    asked += 1;
                    position.legal_actions_into(&mut legal);
                    position.apply(legal[random.below(legal.len())]).expect("an action that was listed");
                }
            }
        }
        assert!(asked > 30, "{name}: asked {asked} times only");
    }
}

/// The die that is thrown for all rolls of a kind.
type Throw = fn(Decision) -> u16;

/// March rolls succeed without disruption (8.31), everything else is middling.
fn fair(roll: Decision) -> u16 {
    match roll {
        Decision::RollMarch => 4,
        roll if roll.dice() == Decision::RollRecovery.dice() => 7,
        _ => 4,
    }
}

/// Lets the agent play the phase that stands on the table, and returns its orders in notation.
fn played(table: &mut Table, throw: Throw) -> Vec<String> {
    let (phase, active) = (table.0.phase(), table.0.active());
    let mut agents = Seat::BOTH.map(|seat| doctrine(1, seat));
    let mut orders = Vec::new();
    while (table.0.phase(), table.0.active()) == (phase, active) {
        match table.0.actor() {
            Actor::Finished => break,
            Actor::Chance => {
                table.roll(throw(table.0.pending().decision));
            }
            Actor::Player(seat) => {
                let action = answer(&mut agents[seat.index()], &table.0);
                orders.push(table.0.action_text(action));
                table.0.apply(action).expect("a legal answer");
            }
        }
    }
    assert!(orders.len() < 500, "a phase ends");
    orders
}

fn attacks(orders: &[String]) -> bool {
    orders.iter().any(|order| order.starts_with("attack"))
}

/// Probabilities that the group in `hex` wins and loses if it attacks `target` now, by the exact distribution (9.13).
fn odds(table: &Table, hex: &str, target: &str) -> [f64; 2] {
    let mut trial = Table(table.0);
    trial.play(&[&format!("march {hex}"), &format!("march {hex} all"), &format!("attack {target}")]);
    let distribution = trial.0.combat().distribution();
    CombatRole::BOTH.map(|role| distribution.probability(Some(role)))
}

/// Nobody attacks where he would lose: rabble no host in the open, spearmen no British square.
#[test]
fn hopeless_attacks_are_not_made() {
    let boards = [
        ("egyptian", "4 rifle_r", "20 mahdist_spearmen, nejumi"),
        ("mahdist", "3 mahdist_spearmen", "8 british_infantry, 2 british_gun, graham"),
    ];
    for (side, weak, strong) in boards {
        let mut table = Table::set(&format!("khartoum 2 {side} march"), &[("0842", weak), ("0843", strong)], json!({}));
        let [wins, loses] = odds(&table, "0842", "0843");
        assert!(loses > 2.0 * wins, "the premise: {side} wins {wins}, loses {loses}");
        let orders = played(&mut table, fair);
        assert!(!attacks(&orders), "{side}: {orders:?}");
    }
}

/// Everybody attacks where he can hardly lose and nothing else is to be done.
#[test]
fn overwhelming_attacks_are_made() {
    let column = "14 rifle_l, 4 egyptian_gun, 1 supply, 1 camel";
    let boards = [
        ("egyptian", column, "5 mahdist_spearmen", "4 rifle_r"),
        ("mahdist", "6 mahdist_spearmen, mahdi", "2 levy", "4 mahdist_spearmen"),
    ];
    for (side, strong, weak, garrison) in boards {
        let stacks = [("0842", strong), ("0843", weak), ("El Obeid", garrison), ("Bara", garrison)];
        let more = json!({"control": {"El Obeid": side, "Bara": side}});
        let mut table = Table::set(&format!("kordofan 2 {side} march"), &stacks, more);
        let [wins, _] = odds(&table, "0842", "0843");
        assert!(wins > 0.8, "the premise: {side} wins {wins}");
        let orders = played(&mut table, fair);
        assert!(attacks(&orders), "{side}: {orders:?}");
    }
}

/// 6.4, 10.3: in a besieged town a 1 feeds four. Eight units behind walls (+2, 9.4) beat nine spearmen off, but hunger
/// does not: the Mahdist lays siege and waits.
#[test]
fn the_mahdist_starves_what_he_cannot_storm() {
    let (garrison, host) = ("7 rifle_l, 1 egyptian_gun", "9 mahdist_spearmen");
    let more = json!({"control": {"Bara": "mahdist"}});
    let near = Table::set("kordofan 2 mahdist march", &[("El Obeid", garrison), ("0449", host)], more.clone());
    let [wins, _] = odds(&near, "0449", "0349");
    assert!(wins < 0.2, "the premise: a storm succeeds in {wins} of all cases");
    let mut table = Table::set("kordofan 2 mahdist march", &[("El Obeid", garrison), ("0648", host)], more);
    let orders = played(&mut table, fair);
    assert!(!attacks(&orders), "{orders:?}");
    assert!(table.0.besieged(table.hex("El Obeid"), Side::Egyptian), "{orders:?}");
}

/// Two hosts that are too weak each for a storm draw together before they charge. A hex in the clear feeds six on the
/// worst roll (10.3), so that they stand side by side.
#[test]
fn the_mahdist_gathers_before_he_charges() {
    let stacks =
        [("El Obeid", "4 rifle_l, 2 egyptian_gun"), ("0549", "6 mahdist_spearmen"), ("0645", "6 mahdist_spearmen")];
    let more = json!({"control": {"Bara": "mahdist", "Er Rahad": "mahdist"}});
    let mut table = Table::set("kordofan 2 mahdist march", &stacks, more);
    let orders = played(&mut table, fair);
    // A scout may stand elsewhere.
    let host = |c: &&Cohort| c.side() == Side::Mahdist && c.count() > 1;
    let hosts: Vec<_> = table.0.units().as_slice().iter().filter(host).collect();
    let apart = Board::distance(hosts[0].hex(), hosts[hosts.len() - 1].hex());
    assert!(apart <= 1, "{apart} hexes apart: {orders:?}");
    assert!(!attacks(&orders), "{orders:?}");
}

/// 8.6, 10.2: supply goes on camels to the garrison that has none.
#[test]
fn a_convoy_feeds_a_starving_garrison() {
    let stacks = [
        ("Berber", "10 rifle_l"),
        ("2515", "1 mahdist_spearmen"),
        ("Obak", "2 rifle_l, 2 supply, 2 camel"),
        ("Khartoum", "2 rifle_l"),
    ];
    let mut table = Table::set("khartoum 11 egyptian march", &stacks, json!({"control": {"Berber": "egyptian"}}));
    assert!(table.0.besieged(table.hex("Berber"), Side::Egyptian), "the premise");
    let orders = played(&mut table, fair);
    assert!(table.units("Berber").contains("supply"), "{}: {orders:?}", table.units("Berber"));
}

/// 8.7, 10.2: without camels a gunboat carries it. The besiegers stand across the White Nile, where the garrison cannot
/// get at them (8.5).
#[test]
fn a_gunboat_feeds_a_starving_garrison() {
    let stacks =
        [("Khartoum", "5 rifle_l, 1 gunboat, 3 supply"), ("Duem", "11 rifle_r"), ("1643", "6 mahdist_spearmen")];
    let mut table = Table::set("khartoum 8 egyptian march", &stacks, json!({}));
    assert!(table.0.besieged(table.hex("Duem"), Side::Egyptian), "the premise");
    let orders = played(&mut table, fair);
    assert!(table.units("Duem").contains("supply"), "{}: {orders:?}", table.units("Duem"));
}

/// 14.2: British units must stand in Khartoum at the end. In December 1884 the column at Korti, eight months before it,
/// sets out along the way of the historical one, and takes what camels can carry (8.6).
#[test]
fn the_relief_goes_towards_khartoum_with_its_supply() {
    let stacks = [
        ("Khartoum", "5 rifle_l, 4 rifle_r, 2 egyptian_gun, gordon"),
        ("1733", "6 mahdist_spearmen"),
        ("Korti", "8 british_infantry, 3 camel_corps, 2 british_gun, 2 supply, 2 camel, stewart"),
    ];
    let mut table = Table::set("khartoum 11 egyptian march", &stacks, json!({}));
    let khartoum = table.hex("Khartoum");
    let before = Board::distance(table.hex("Korti"), khartoum);
    let orders = played(&mut table, fair);
    let column = table.0.units().as_slice().iter().filter(|c| c.kind().id() == "british_infantry");
    let hexes: Vec<_> = column.map(|c| c.hex()).collect();
    assert_eq!(hexes.len(), 1, "it stays together: {orders:?}");
    assert!(Board::distance(hexes[0], khartoum) < before, "{orders:?}");
    assert!(table.units(&hexes[0].to_string()).contains("2 supply"), "{orders:?}");
}

/// 14.2, 8.2: British troops on the bend of the Nile have a few months left for the four full moves to Khartoum. Some of
/// them set out, though the desert on the way feeds no seven (10.3).
#[test]
fn a_column_hastens_to_the_prize_while_there_is_time() {
    let stacks =
        [("Khartoum", "5 rifle_l, 4 rifle_r, 2 egyptian_gun, 3 supply, gordon"), ("0815", "7 british_infantry")];
    for turn in 13..=15 {
        let mut table = Table::set(&format!("khartoum {turn} egyptian march"), &stacks, json!({}));
        let (start, khartoum) = (table.hex("0815"), table.hex("Khartoum"));
        let orders = played(&mut table, fair);
        let british = table.0.units().as_slice().iter().filter(|c| c.kind().id() == "british_infantry");
        let nearest = british.map(|c| Board::distance(c.hex(), khartoum)).min();
        assert!(nearest < Some(Board::distance(start, khartoum)), "turn {turn}: {orders:?}");
    }
}

/// 14.3: whoever holds El Obeid at the end wins. A host or column nearby joins its garrison where that is too weak for
/// the enemy who could attack it.
#[test]
fn a_weak_garrison_of_the_prize_is_joined() {
    let boards = [
        ("mahdist", "1 mahdist_cavalry", "13 mahdist_spearmen, mahdi", "2 levy, 2 rifle_r, 2 rifle_l, 2 egyptian_gun"),
        ("egyptian", "1 rifle_r", "8 rifle_l, 2 egyptian_gun", "7 mahdist_spearmen"),
    ];
    for (side, garrison, host, enemy) in boards {
        let stacks = [("El Obeid", garrison), ("0648", host), ("0450", enemy)];
        let more = json!({"control": {"El Obeid": side}});
        let mut table = Table::set(&format!("kordofan 4 {side} march"), &stacks, more);
        let strength = |table: &Table| -> u32 {
            let here = table.0.units().as_slice().iter().filter(|c| c.hex() == table.hex("El Obeid"));
            here.map(|c| u32::from(c.count())).sum()
        };
        let orders = played(&mut table, fair);
        let beaten = !table.units("0450").contains(enemy);
        assert!(strength(&table) > 1 || beaten, "{side}: {orders:?}");
    }
}

/// 6.3, 14.3: in the last player turn nobody need stay where he is, so that a garrison takes the place that stands open
/// beside it; before that it stays.
#[test]
fn the_last_turn_takes_what_stands_open() {
    for (turn, goes) in [(4, false), (5, true)] {
        let stacks = [("Tokar", "2 rifle_l, 1 egyptian_gun"), ("4315", "4 mahdist_spearmen")];
        let control = json!({"control": {"Tokar": "egyptian", "El Teb": "mahdist"}});
        let mut table = Table::set(&format!("souakim {turn} egyptian march"), &stacks, control);
        let orders = played(&mut table, fair);
        let places = table.field("control");
        assert_eq!(places["El Teb"] == "egyptian", goes, "turn {turn}: {orders:?}");
        assert_eq!(places["Tokar"], "egyptian", "turn {turn}: {orders:?}");
    }
}

/// 14.3: in the last month who does not lead takes a risk that who leads does not take.
#[test]
fn who_does_not_lead_in_the_last_month_is_bold() {
    // Sinkat 2 and Tokar 1 against Tamai 2 and a point for each unit lost.
    let attacks_with = |turn: u8, lost: u8| {
        let stacks = [("4407", "4 rifle_l"), ("4408", "3 mahdist_spearmen")];
        let control = json!({"Sinkat": "egyptian", "Tokar": "egyptian", "Tamai": "mahdist"});
        let more = json!({"control": control, "eliminated": {"egyptian": lost}});
        let orders = played(&mut Table::set(&format!("souakim {turn} egyptian march"), &stacks, more), fair);
        attacks(&orders)
    };
    assert!(attacks_with(5, 5), "3 to 7, and 5 to 5 with Tamai: nothing to lose");
    assert!(!attacks_with(5, 3), "3 to 5, and 5 to 3 with Tamai, which stands open: a lead to lose");
    assert!(!attacks_with(5, 0), "3 to 2: a lead to lose");
    assert!(!attacks_with(4, 5), "time left: as careful as ever");
}

/// Who could march out of a hex, as the Egyptian player sees it.
fn columns(table: &Table, hex: &str) -> [Option<Column>; 3] {
    let assessment = Assessment::new(&table.0, Weights::builtin(), Side::Egyptian, Desk::default());
    egyptian::columns(&assessment, table.hex(hex))
}

/// 6.3, 14.3: while the enemy moves again, a stack of three in the field sends one of them to a place that stands open and
/// keeps two together; two stay together, and a garrison keeps what its place asks for.
#[test]
fn a_scout_is_one_of_three() {
    for (units, scout) in [
        ("3 rifle_l", Some("rifle_l")),
        ("2 rifle_l, 1 egyptian_cavalry", Some("egyptian_cavalry")),
        ("2 rifle_l", None),
        ("1 rifle_l, 1 egyptian_cavalry", None),
    ] {
        let control = json!({"control": {"Tamai": "mahdist", "Sinkat": "egyptian"}});
        let table =
            Table::set("souakim 3 egyptian march", &[("4407", units), ("Tokar", "3 mahdist_spearmen")], control);
        let [_, _, column] = columns(&table, "4407");
        let sent = column.map(|column| {
            assert!(!column.led, "{units}");
            let kinds: Vec<&str> =
                Kind::ALL.into_iter().filter(|kind| column.take.count(*kind) > 0).map(Kind::id).collect();
            assert_eq!(column.take.count_of(LAND), 1, "{units}: {kinds:?}");
            kinds[0]
        });
        assert_eq!(sent, scout, "{units}");
    }
    // 2 points, three and one for each point stay: five of six.
    for (garrison, goes) in [("6 rifle_l", true), ("5 rifle_l", false)] {
        let stacks = [("Sinkat", garrison), ("Tokar", "3 mahdist_spearmen")];
        let table = Table::set("souakim 3 egyptian march", &stacks, json!({"control": {"Sinkat": "egyptian"}}));
        let [_, _, column] = columns(&table, "Sinkat");
        assert_eq!(column.is_some(), goes, "{garrison}");
    }
}

/// 14.2: British units are counted where they stand at the end. Where the Egyptian player has the last turn of the game,
/// those in Khartoum stay in it, whatever could be had beside it: neither a column nor the escort of a convoy takes them.
#[test]
fn the_british_stay_in_the_prize_in_the_last_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scenario.toml");
    let text = include_str!("../../env/data/dervish/scenarios/khartoum.toml");
    let other = text.replace("first_player = \"egyptian\"", "first_player = \"mahdist\"");
    assert_ne!(text, other);
    fs::write(&path, other).expect("written");
    let stacks = [
        ("Khartoum", "2 british_infantry, 2 rifle_l, 1 supply, 1 camel"),
        ("1733", "1 mahdist_spearmen disrupted"),
        ("Duem", "6 rifle_r"),
        ("1643", "6 mahdist_spearmen"),
    ];
    let when = format!("{} 18 egyptian march", path.display());
    let mut table = Table::set(&when, &stacks, json!({"control": {"Khartoum": "egyptian", "Duem": "egyptian"}}));
    for column in columns(&table, "Khartoum").into_iter().flatten() {
        assert_eq!(column.take.count_of(BRITISH_COMBAT), 0, "{column:?}");
    }
    let orders = played(&mut table, fair);
    assert!(table.units("Khartoum").contains("2 british_infantry"), "{}: {orders:?}", table.units("Khartoum"));
    assert_eq!(table.0.result().and_then(|result| result.winner), Some(Seat::First), "{orders:?}");
    // A month before, they may strike and come back.
    let when = format!("{} 17 egyptian march", path.display());
    let table = Table::set(&when, &stacks, json!({"control": {"Khartoum": "egyptian", "Duem": "egyptian"}}));
    assert!(columns(&table, "Khartoum").into_iter().flatten().next().is_some());
}

/// What counts at the end of the game alone is worth more the nearer one is and the more months are left.
#[test]
fn what_counts_at_the_end_depends_on_way_and_time() {
    let timed = |side: Side, months: u8, cost: u16| {
        let mut patience = Patience::default();
        patience.begin(Weights::builtin(), side, months);
        patience.timed(cost)
    };
    for side in Side::BOTH {
        for months in 0..18 {
            assert!((0.0..=1.0).contains(&timed(side, months, 0)));
            for cost in 0..60 {
                assert!(timed(side, months, cost) > timed(side, months, cost + 1), "{months} months, {cost} points");
                assert!(timed(side, months, cost) <= timed(side, months + 1, cost), "{months} months, {cost} points");
            }
        }
    }
}

/// 8.9: railway is built where it serves a British force on the coast, in time; never with the last supply unit.
#[test]
fn railway_is_built_where_it_serves() {
    let built = |turn: u8, stack: &str| {
        let events = json!({"events": {"field_forces": 2, "in_play": true}});
        let when = format!("khartoum {turn} egyptian reinforcement");
        let mut table = Table::set(&when, &[("Souakim", stack)], events);
        played(&mut table, fair);
        table.0.railway_built()
    };
    // One more supply unit lands each month while a field force is in play (2.5).
    assert_eq!(built(6, "8 british_infantry, 2 british_gun, 3 supply, 3 camel"), 2);
    assert_eq!(built(6, "8 british_infantry, 2 british_gun"), 0, "the last supply unit");
    assert_eq!(built(17, "8 british_infantry, 2 british_gun, 3 supply, 3 camel"), 0, "a month before the end");
    assert_eq!(built(6, "4 rifle_r, 3 supply, 3 camel"), 0, "nobody to use it");
}

/// 4.3 `field_force_leaves`: the field force goes where it would be lost for nothing, and stays where it is safe.
#[test]
fn the_field_force_leaves_when_that_is_wise() {
    let leaves = |stacks: &[(&str, &str)]| {
        let more = json!({"events": {"field_forces": 1, "in_play": true}, "pending": {"decision": "event_leave"}});
        let table = Table::set("khartoum 6 egyptian event", stacks, more);
        table.0.action_text(answer(&mut doctrine(1, Seat::First), &table.0))
    };
    let khartoum = ("Khartoum", "5 rifle_l, gordon");
    let lost = [khartoum, ("4405", "2 british_infantry, graham"), ("4404", "24 mahdist_spearmen, osman_digma")];
    assert_eq!(leaves(&lost), "field_force_leaves yes");
    let safe = [
        khartoum,
        ("Souakim", "7 british_infantry, 2 british_gun, 2 supply, graham"),
        ("El Obeid", "6 mahdist_spearmen"),
    ];
    assert_eq!(leaves(&safe), "field_force_leaves no");
}

/// 2.7: a host for which there is more to do than one hex lets it is set up in several.
#[test]
fn a_host_with_several_aims_is_set_up_in_several_hexes() {
    let mut table = Table(Campaign::new(Scenario::builtin("souakim").expect("built in")));
    played(&mut table, fair);
    let mut hexes: Vec<_> =
        table.0.units().as_slice().iter().filter(|c| c.side() == Side::Mahdist).map(|c| c.hex()).collect();
    hexes.dedup();
    assert!(hexes.len() > 1, "Sinkat and Tokar lie nine hexes apart: {hexes:?}");
    assert_eq!(table.0.phase(), Phase::Event);
}

/// The evaluation's value for each seat.
fn values(position: &Campaign) -> [f32; 2] {
    let evaluation = CampaignEvaluation::default();
    Seat::BOTH.map(|seat| evaluation.value(position, seat).expect("an opinion on every position"))
}

/// [`Evaluation::value`]: in [-1, 1], one seat's the negative of the other's, and at the end the result's sign.
#[test]
fn values_are_bounded_and_opposite_and_end_with_the_result() {
    for name in ["souakim", "kordofan", "khartoum", "el-obeid"] {
        for seed in 0..3 {
            let mut position = Campaign::new(Scenario::builtin(name).expect("built in"));
            let (mut dice, mut random, mut legal) = (Dice::new(seed), SplitMix64::new(seed), Vec::new());
            while position.actor() != Actor::Finished {
                let [first, second] = values(&position);
                assert!((-1.0..=1.0).contains(&first), "{name}: {first}");
                assert_eq!(first, -second, "{name}");
                match position.actor() {
                    Actor::Player(_) => {
                        position.legal_actions_into(&mut legal);
                        position.apply_legal(legal[random.below(legal.len())]);
                    }
                    _ => {
                        let outcome = dice.roll(&position);
                        position.resolve_possible(outcome);
                    }
                }
            }
            let result = position.result().expect("a finished game");
            assert_eq!(values(&position), Seat::BOTH.map(|seat| result.sign(seat)), "{name}");
        }
    }
}

/// The more of the enemy is eliminated (14.5) the better, for either side and whether or not the scenario counts it.
#[test]
fn more_enemy_losses_never_lower_the_value() {
    for name in ["souakim", "kordofan", "khartoum", "el-obeid"] {
        let (place, near) = if name == "souakim" { ("Sinkat", "4307") } else { ("El Obeid", "0449") };
        let value = |egyptians: u8, mahdists: u8| {
            let garrison = format!("{} rifle_l", 9 - egyptians);
            let host = format!("{} mahdist_spearmen", 9 - mahdists);
            let more = json!({"eliminated": {"egyptian": egyptians, "mahdist": mahdists}});
            let stacks = [(place, garrison.as_str()), (near, host.as_str())];
            values(&Table::set(&format!("{name} 2 egyptian march"), &stacks, more).0)
        };
        for lost in 0..8 {
            assert!(value(0, lost + 1)[0] >= value(0, lost)[0], "{name}: {lost} Mahdist units lost");
            assert!(value(lost + 1, 0)[1] >= value(lost, 0)[1], "{name}: {lost} Egyptian units lost");
        }
        assert!(value(0, 8)[0] > value(0, 0)[0], "{name}: losses count");
    }
}

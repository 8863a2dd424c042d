//! Observations: ranges, both points of view, and that a position can be rebuilt from what a learner sees.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use dervish_env::chance::{SplitMix64, pick};
use dervish_env::conformance::{EncoderCheck, Options, check_game_and};
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{KINDS, Kind, LAND, Side};
use dervish_env::dervish::encode::{DecodeError, ENCODER_VERSION, decode};
use dervish_env::dervish::order::Order;
use dervish_env::dervish::rules::combat::CombatRole;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::dervish::{Campaign, CampaignEncoder};
use dervish_env::encode::{ActionRows, Channel, Encoder, Observation, Parts, PolicyEncoder, Tokens};
use dervish_env::game::{Action, Actor, Position, Seat};
use dervish_env::reference::connect_four::{ConnectFour, ConnectFourColumns};
use dervish_env::reference::pig::{HOLD, Pig, PigPlayers, ROLL};

const TOKENS_AND_GLOBALS: Parts = Parts { planes: false, tokens: true, globals: true };

fn scenario(name: &str) -> &'static Scenario {
    Scenario::builtin(name).expect("built in")
}

/// Every scenario that comes with the game, with the number of random games that a test can afford.
fn scenarios() -> [(&'static Scenario, u64); 5] {
    [("souakim", 8), ("kordofan", 8), ("tiny", 12), ("el-obeid", 1), ("khartoum", 1)]
        .map(|(name, games)| (scenario(name), games))
}

/// Plays random games from `start` and shows every position and its legal actions.
fn walk<P: Position>(start: &P, games: u64, seed: u64, mut visit: impl FnMut(&P, &[Action])) {
    let mut words = SplitMix64::new(seed);
    let (mut legal, mut outcomes) = (Vec::new(), Vec::new());
    for _ in 0..games {
        let mut position = start.clone();
        loop {
            position.legal_actions_into(&mut legal);
            visit(&position, &legal);
            match position.actor() {
                Actor::Finished => break,
                Actor::Player(_) => position.apply_legal(legal[words.below(legal.len())]),
                Actor::Chance => {
                    position.chance_outcomes_into(&mut outcomes);
                    position.resolve_possible(pick(&outcomes, position.chance_total(), words.next_word()));
                }
            }
        }
    }
}

fn column(channels: &[Channel], name: &str) -> usize {
    let found = channels.iter().position(|channel| channel.name == name);
    found.unwrap_or_else(|| panic!("no channel `{name}`"))
}

fn out_of_range(values: &[f32], channels: &[Channel]) -> Option<String> {
    let mut pairs = values.iter().zip(channels.iter().cycle());
    let outside = pairs.find(|(value, channel)| !(channel.min..=channel.max).contains(*value));
    outside.map(|(value, channel)| format!("`{}` is {value}", channel.name))
}

#[test]
fn a_position_can_be_rebuilt_from_tokens_and_globals() {
    for (scenario, games) in scenarios() {
        let encoder = CampaignEncoder::new(scenario);
        let mut observation = Observation::new(&encoder, TOKENS_AND_GLOBALS);
        let mut seen: HashMap<u128, Vec<u8>> = HashMap::new();
        let mut positions = 0;
        walk(&Campaign::new(scenario), games, 7, |position, _| {
            positions += 1;
            for view in Seat::BOTH {
                observation.encode(&encoder, position, view);
                assert_eq!(observation.out_of_range(encoder.layout()), None, "{}", scenario.name);
                let globals = observation.globals.as_slice().expect("one row");
                let rebuilt = decode(scenario, &observation.tokens, globals).expect("decodes");
                assert_eq!(&rebuilt, position, "{} as {view:?} sees it", scenario.name);
            }
            // Different positions look different: what looks the same has the same canonical bytes.
            let values = observation.tokens.as_slice().iter().chain(&observation.globals);
            let look: Vec<u8> = values.flat_map(|value| value.to_le_bytes()).collect();
            let mut bytes = Vec::new();
            position.write_bytes(&mut bytes);
            let known = seen.entry(xxhash_rust::xxh3::xxh3_128(&look)).or_insert_with(|| bytes.clone());
            assert_eq!(*known, bytes, "two positions of {} look the same", scenario.name);
        });
        assert!(positions > 100, "{}: {positions} positions", scenario.name);
    }
}

/// What a thread has looked at before changes nothing: positions of two scenarios in turn look as they do to threads that have
/// seen nothing.
#[test]
fn a_look_does_not_depend_on_the_looks_before() {
    let mut positions = Vec::new();
    for name in ["souakim", "kordofan"] {
        walk(&Campaign::new(scenario(name)), 1, 5, |position, legal| positions.push((*position, legal.to_vec())));
    }
    let half = positions.len() / 2;
    let look = |(position, legal): &(Campaign, Vec<Action>)| {
        let encoder = CampaignEncoder::new(position.scenario());
        let mut observation = Observation::new(&encoder, TOKENS_AND_GLOBALS);
        let mut rows = ActionRows::new(encoder.action_layout().len());
        Seat::BOTH.map(|view| {
            observation.encode(&encoder, position, view);
            rows.clear();
            encoder.encode_actions(position, view, legal, &mut rows);
            let values = [observation.tokens.as_slice(), rows.as_slice()].concat();
            (values, rows.tokens().to_vec())
        })
    };
    for (one, other) in positions[..half].iter().zip(&positions[half..]).step_by(7) {
        let here = [look(one), look(other)];
        let alone =
            [one, other].map(|seen| std::thread::scope(|scope| scope.spawn(|| look(seen)).join().expect("looks")));
        assert!(here == alone);
    }
}

#[test]
fn arrays_that_no_position_gives_are_refused() {
    let scenario = scenario("souakim");
    let encoder = CampaignEncoder::new(scenario);
    let layout = encoder.layout();
    let mut observation = Observation::new(&encoder, TOKENS_AND_GLOBALS);
    observation.encode(&encoder, &Campaign::new(scenario), Seat::First);
    let globals = observation.globals.to_vec();
    let tokens = &observation.tokens;
    let width = DecodeError::Width { part: "globals", found: 3, expected: layout.global_width() };
    assert_eq!(decode(scenario, tokens, &globals[..3]), Err(width));
    let width = DecodeError::Width { part: "tokens", found: 2, expected: layout.token_width() };
    assert_eq!(decode(scenario, &Tokens::new(2), &globals), Err(width));
    let channels = layout.globals.as_deref().expect("globals");
    for (name, value) in [("phase: setup", 0.0), ("game turns over", 0.4), ("game turns over", f32::NAN)] {
        let mut wrong = globals.clone();
        wrong[column(channels, name)] = value;
        assert!(matches!(decode(scenario, tokens, &wrong), Err(DecodeError::Value(_))), "{name} {value}");
    }
    // The first stack a second time.
    let mut twice = tokens.clone();
    let first = tokens.as_slice()[..tokens.width()].to_vec();
    twice.push().copy_from_slice(&first);
    assert_eq!(decode(scenario, &twice, &globals), Err(DecodeError::Value("a stack given twice")));
}

#[test]
fn the_campaign_encoder_keeps_to_its_layout() {
    for (name, games) in [("souakim", 1), ("tiny", 2)] {
        let start = Campaign::new(scenario(name));
        let mut check = EncoderCheck::new(CampaignEncoder::new(scenario(name)), 20_000, true);
        let options = Options { games, least_choices: 2, merged_nodes: 0, ..Options::default() };
        check_game_and(start, &options, |position| check.visit(position)).expect("conforms");
    }
}

/// The column of the same thing seen from the other side: `own X` for `enemy X`.
fn counterparts(channels: &[Channel]) -> Vec<usize> {
    let other = |name: &str| {
        let tail = name.strip_prefix("own ").map(|tail| format!("enemy {tail}"));
        let tail = tail.or_else(|| name.strip_prefix("enemy ").map(|tail| format!("own {tail}")));
        tail.unwrap_or_else(|| name.to_string())
    };
    channels.iter().map(|channel| column(channels, &other(&channel.name))).collect()
}

fn same_but_for_the_view(own: &[f32], other: &[f32], channels: &[Channel], what: &str) {
    assert_eq!(own.len(), other.len(), "{what}");
    let counterparts = counterparts(channels);
    for (row, other) in own.chunks_exact(channels.len()).zip(other.chunks_exact(channels.len())) {
        for (i, &value) in row.iter().enumerate() {
            let name = &channels[i].name;
            if name != "the viewer is the Egyptian player" {
                assert_eq!(value, other[counterparts[i]], "{what} `{name}`");
            }
        }
    }
}

#[test]
fn the_two_views_differ_by_perspective_alone() {
    for (scenario, games) in scenarios() {
        let encoder = CampaignEncoder::new(scenario);
        let layout = encoder.layout();
        let (tokens, globals) = (layout.tokens.as_deref(), layout.globals.as_deref());
        let (tokens, globals) = (tokens.expect("tokens"), globals.expect("globals"));
        let planes = &layout.planes.as_ref().expect("planes").channels;
        let mut views = Seat::BOTH.map(|_| Observation::new(&encoder, Parts::ALL));
        let mut rows = Seat::BOTH.map(|_| ActionRows::new(encoder.action_layout().len()));
        let mut count = 0;
        walk(&Campaign::new(scenario), games.div_ceil(6), 8, |position, legal| {
            count += 1;
            let parts = if count % 40 == 0 { Parts::ALL } else { TOKENS_AND_GLOBALS };
            for seat in Seat::BOTH {
                let (view, rows) = (&mut views[seat.index()], &mut rows[seat.index()]);
                view.tokens.clear();
                encoder.encode_tokens(position, seat, &mut view.tokens);
                view.globals.fill(0.0);
                encoder.encode_globals(position, seat, view.globals.view_mut());
                rows.clear();
                encoder.encode_actions(position, seat, legal, rows);
                if parts.planes {
                    view.encode(&encoder, position, seat);
                }
            }
            let [own, other] = &views;
            same_but_for_the_view(own.tokens.as_slice(), other.tokens.as_slice(), tokens, "token feature");
            same_but_for_the_view(&own.globals.to_vec(), &other.globals.to_vec(), globals, "global");
            same_but_for_the_view(rows[0].as_slice(), rows[1].as_slice(), encoder.action_layout(), "action feature");
            if parts.planes {
                same_but_for_the_view(&channels_last(own), &channels_last(other), planes, "plane");
            }
        });
    }
}

/// Cell by cell, all channels of a cell together.
fn channels_last(view: &Observation) -> Vec<f32> {
    view.planes().view().permuted_axes([1, 2, 0]).iter().copied().collect()
}

#[test]
fn planes_and_tokens_tell_the_same() {
    for (scenario, _) in scenarios() {
        let encoder = CampaignEncoder::new(scenario);
        let layout = encoder.layout();
        let channels = layout.tokens.as_deref().expect("tokens");
        let planes = &layout.planes.as_ref().expect("planes").channels;
        let (stack, own, enemy) =
            (column(channels, "a stack"), column(channels, "own units"), column(channels, "enemy units"));
        let (x, y) = (column(channels, "hex: column"), column(channels, "hex: row"));
        let good = column(channels, "levy in good order");
        let disrupted = column(channels, "levy disrupted");
        let disrupted_kinds = Kind::ALL.iter().filter(|kind| LAND.has(**kind)).count();
        let first_own = column(planes, "own infantry without rifles in good order");
        let first_enemy = column(planes, "enemy infantry without rifles in good order");
        let legal_plane = column(planes, "a legal order names the hex");
        let mut observation = Observation::new(&encoder, Parts::ALL);
        let mut count = 0;
        walk(&Campaign::new(scenario), 1, 9, |position, legal| {
            count += 1;
            if count % 25 != 0 {
                return;
            }
            observation.encode(&encoder, position, Seat::Second);
            let mut units = [0.0; 2];
            for row in observation.tokens.as_slice().chunks_exact(channels.len()).filter(|row| row[stack] == 1.0) {
                let (side, first) = if row[own] == 1.0 { (0, first_own) } else { (1, first_enemy) };
                assert_eq!(row[own] + row[enemy], 1.0);
                let counts = row[good..good + KINDS].iter().chain(&row[disrupted..disrupted + disrupted_kinds]);
                let in_token: f32 = counts.sum();
                let (column, row) = ((row[x] * 64.0) as usize, (row[y] * 64.0) as usize);
                let in_planes: f32 = (first..first_enemy.abs_diff(first_own) + first)
                    .map(|channel| observation.planes()[[channel, row, column]])
                    .sum();
                assert_eq!(in_token, in_planes, "{} {}", scenario.name, Hex::at(column, row));
                units[side] += in_token;
            }
            for (side, first) in [first_own, first_enemy].into_iter().enumerate() {
                let all: f32 = (first..first + first_enemy - first_own)
                    .map(|channel| observation.planes().index_axis(ndarray::Axis(0), channel).sum())
                    .sum();
                assert_eq!(all, units[side], "{}: units outside any stack", scenario.name);
            }
            for (i, &marked) in observation.planes().index_axis(ndarray::Axis(0), legal_plane).iter().enumerate() {
                assert_eq!(marked == 1.0, legal.contains(&Action(i as u16)), "{}: cell {i}", scenario.name);
            }
        });
    }
}

/// The stack at Souakim when scenario 3 begins (2.6): Baker, 4R, 1 cavalry, 1 gun, 1 supply, 1 camel and the fleet.
#[test]
fn a_stack_shows_what_stands_there() {
    let scenario = scenario("souakim");
    let encoder = CampaignEncoder::new(scenario);
    let channels = encoder.layout().tokens.as_deref().expect("tokens");
    let souakim = scenario.board.places[scenario.board.place_named("Souakim").expect("a place").0 as usize].hex;
    let mut observation = Observation::new(&encoder, TOKENS_AND_GLOBALS);
    observation.encode(&encoder, &Campaign::new(scenario), Seat::Second);
    let value = |row: &[f32], name: &str| row[column(channels, name)];
    let stacks: Vec<&[f32]> = observation.tokens.as_slice().chunks_exact(channels.len()).collect();
    let at_souakim = |row: &&&[f32]| {
        value(row, "a stack") == 1.0
            && value(row, "hex: column") * 64.0 == souakim.column() as f32
            && value(row, "hex: row") * 64.0 == souakim.row() as f32
    };
    let found: Vec<_> = stacks.iter().filter(at_souakim).collect();
    assert_eq!(found.len(), 1);
    let row = found[0];
    for (name, expected) in [
        ("own units", 0.0),
        ("enemy units", 1.0),
        ("rifle_r in good order", 4.0 / 16.0),
        ("egyptian_cavalry in good order", 1.0 / 16.0),
        ("fleet in good order", 1.0 / 16.0),
        ("rifle_r disrupted", 0.0),
        ("leader: baker", 1.0),
        ("leader: osman_digma", 0.0),
        // The fleet is at sea; the other eight are land units.
        ("land units, at most 255", 8.0 / 16.0),
        // 2.1: rifles 2 each and cavalry 2; guns and train none.
        ("melee factors, disrupted units half", 10.0 / 64.0),
        // 2.1: rifles 2 each, the gun 2, the fleet 4.
        ("fire factors, good order alone", 14.0 / 64.0),
        // The gun is the slowest.
        ("movement of the slowest land unit, at most 16", 5.0 / 16.0),
        // 2.2: Baker (1, 1).
        ("highest strategic rating", 0.25),
        ("highest tactical rating", 0.25),
        ("town", 1.0),
        ("port", 1.0),
        ("on the Souakim extension", 1.0),
        // 14.3: Souakim taken decides the game.
        ("worth of the place: its points, 8 if it decides the game", 1.0),
        ("enemy control of the place", 1.0),
        ("besieged by the enemy of who controls the place (6.4)", 0.0),
        ("distance to the nearest place at stake", 0.0),
        ("enemy places at stake: distance to the nearest", 0.0),
    ] {
        assert_eq!(value(row, name), expected, "{name}");
    }
}

#[test]
fn the_globals_show_calendar_pool_and_points() {
    let scenario = scenario("souakim");
    let encoder = CampaignEncoder::new(scenario);
    let channels = encoder.layout().globals.as_deref().expect("globals");
    let mut observation = Observation::new(&encoder, TOKENS_AND_GLOBALS);
    observation.encode(&encoder, &Campaign::new(scenario), Seat::First);
    for (name, expected) in [
        ("the viewer is the Egyptian player", 1.0),
        // 2.6: February, five turns; set-up by choice is the Mahdist's (2.7), who also moves first (3.1).
        ("month 2", 1.0),
        ("game turns to come, this one counted", 5.0 / 64.0),
        ("phase: setup", 1.0),
        ("pending: setup_hex", 1.0),
        ("own decision", 0.0),
        ("enemy decision", 1.0),
        ("enemy turn comes first in a game turn", 1.0),
        ("mahdist_spearmen to be set up", 10.0 / 16.0),
        // 2.3: 26 rifles R, of which 4 are at Souakim.
        ("rifle_r in the pool", 22.0 / 16.0),
        // 14.3: Sinkat 2, Tokar 1.
        ("own points if the game ended now", 3.0 / 16.0),
        ("enemy points if the game ended now", 0.0),
        ("by points (14.3)", 1.0),
    ] {
        assert_eq!(observation.globals[column(channels, name)], expected, "{name}");
    }
}

#[test]
fn a_row_for_each_legal_action_names_the_tokens_it_is_about() {
    for (scenario, games) in scenarios() {
        let encoder = CampaignEncoder::new(scenario);
        let channels = encoder.layout().tokens.as_deref().expect("tokens");
        let (x, y) = (column(channels, "hex: column"), column(channels, "hex: row"));
        let grouped = column(channels, "is in the group, all of a part or some of a stack");
        let mut tokens = Tokens::new(channels.len());
        let mut groups = Vec::new();
        let mut rows = ActionRows::new(encoder.action_layout().len());
        walk(&Campaign::new(scenario), games, 10, |position, legal| {
            tokens.clear();
            groups.clear();
            rows.clear();
            encoder.encode_tokens(position, Seat::First, &mut tokens);
            encoder.group_tokens(&tokens, &mut groups);
            encoder.encode_actions(position, Seat::First, legal, &mut rows);
            assert_eq!((groups.len(), rows.len()), (tokens.len(), legal.len()));
            assert!(groups.iter().all(|group| usize::from(*group) < encoder.token_groups()));
            assert_eq!(out_of_range(rows.as_slice(), encoder.action_layout()), None, "{}", scenario.name);
            for (&action, named) in legal.iter().zip(rows.tokens()) {
                assert!(named.iter().flatten().all(|token| (*token as usize) < tokens.len()));
                let feature = |token: u32, column: usize| tokens.as_slice()[token as usize * channels.len() + column];
                if let (Some(Order::Hex(hex)), Some(token)) = (Order::of(action), named[0]) {
                    let at = Hex::at((feature(token, x) * 64.0) as usize, (feature(token, y) * 64.0) as usize);
                    assert_eq!(at, hex, "{}", position.action_text(action));
                }
                let at = position.group().hex;
                if at.is_some() && position.units().at(at).iter().any(|cohort| cohort.grouped()) {
                    let group = named[1].expect("the group has a token");
                    assert_eq!(feature(group, grouped), 1.0);
                    assert_eq!(groups[group as usize], 3, "the group that acts is pooled apart");
                }
            }
            // Two legal actions never look the same to a policy.
            let width = rows.width();
            for a in 0..legal.len().min(12) {
                for b in 0..a {
                    let row = |i: usize| &rows.as_slice()[i * width..(i + 1) * width];
                    assert_ne!(row(a), row(b), "{} and {}", position.action_text(legal[a]), legal[b].0);
                }
            }
        });
    }
}

#[test]
fn another_scenario_looks_the_same_to_any_encoder() {
    let position = Campaign::new(scenario("kordofan"));
    let [own, other] = ["kordofan", "souakim"].map(|name| {
        let encoder = CampaignEncoder::new(scenario(name));
        let mut observation = Observation::new(&encoder, Parts::ALL);
        observation.encode(&encoder, &position, Seat::First);
        observation
    });
    assert_eq!(own, other);
}

/// Whoever changes what equal positions give must raise the version and then the number here, because networks were
/// trained on the old meaning.
#[test]
fn equal_positions_give_the_arrays_of_version_1() {
    assert_eq!(ENCODER_VERSION, 1);
    let scenario = scenario("tiny");
    let encoder = CampaignEncoder::new(scenario);
    let mut observation = Observation::new(&encoder, Parts::ALL);
    let mut rows = ActionRows::new(encoder.action_layout().len());
    let mut words = SplitMix64::new(11);
    let mut position = Campaign::new(scenario);
    let (mut legal, mut outcomes) = (Vec::new(), Vec::new());
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for _ in 0..60 {
        position.legal_actions_into(&mut legal);
        observation.encode(&encoder, &position, Seat::Second);
        rows.clear();
        encoder.encode_actions(&position, Seat::Second, &legal, &mut rows);
        let arrays = observation.planes().iter().chain(observation.tokens.as_slice()).chain(&observation.globals);
        arrays.chain(rows.as_slice()).for_each(|value| hash.update(&(value + 0.0).to_le_bytes()));
        match position.actor() {
            Actor::Finished => break,
            Actor::Player(_) => position.apply_legal(legal[words.below(legal.len())]),
            Actor::Chance => {
                position.chance_outcomes_into(&mut outcomes);
                position.resolve_possible(pick(&outcomes, position.chance_total(), words.next_word()));
            }
        }
    }
    assert_eq!(format!("{:016x}", hash.digest()), "bb4b60691c3e4769");
}

/// The document is made from the layout: `UPDATE_OBSERVATIONS=1` writes it anew.
#[test]
fn the_document_lists_every_channel() {
    let encoder = CampaignEncoder::new(scenario("souakim"));
    let layout = encoder.layout();
    let planes = layout.planes.as_ref().expect("planes");
    let mut text = format!(
        "# Observations\n\n\
         What a learner sees of a position of the campaign, version {ENCODER_VERSION}, made from the layout in\n\
         `env/src/dervish/encode.rs` by the test `the_document_lists_every_channel`, which also keeps it up to date.\n\
         All values are `f32`; both ends of a range are included. `own` and `enemy` are those of the viewer, the\n\
         seat that is asked for. Planes are [channels, rows, columns]. Rule numbers are those of `env/RULES.md`.\n"
    );
    let mut section = |title: String, channels: &[Channel]| {
        let _ = write!(text, "\n## {title}\n\n| | channel | unit | from | to |\n|---|---|---|---|---|\n");
        for (i, Channel { name, unit, min, max }) in channels.iter().enumerate() {
            let _ = writeln!(text, "| {i} | {name} | {unit} | {min} | {max} |");
        }
    };
    let [channels, rows, columns] = layout.plane_shape();
    section(format!("Planes [{channels}, {rows}, {columns}]"), &planes.channels);
    let tokens = layout.tokens.as_deref().expect("tokens");
    section(format!("Tokens [n, {}]", tokens.len()), tokens);
    let globals = layout.globals.as_deref().expect("globals");
    section(format!("Globals [{}]", globals.len()), globals);
    let actions = encoder.action_layout();
    section(format!("Legal actions [n, {}]", actions.len()), actions);
    let with_odds = CampaignEncoder::with_odds(scenario("souakim"));
    let odds = &with_odds.action_layout()[actions.len()..];
    section(format!("After these, in observations with odds (`CampaignEncoder::with_odds`) [n, {}]", odds.len()), odds);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../env/OBSERVATIONS.md");
    if std::env::var_os("UPDATE_OBSERVATIONS").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let found = std::fs::read_to_string(&path).expect("env/OBSERVATIONS.md");
    assert!(found == text, "env/OBSERVATIONS.md is out of date: run this test with UPDATE_OBSERVATIONS=1");
}

/// The first column says whether a combat follows; the next are compared with all 14,641 sequences of rolls.
#[test]
fn odds_are_those_of_all_sequences_of_rolls() {
    /// Actions that lead to a combat and are compared, for each scenario: each takes all sequences of rolls.
    const COMPARED: usize = 12;
    for name in ["souakim", "kordofan"] {
        let (plain, encoder) = (CampaignEncoder::new(scenario(name)), CampaignEncoder::with_odds(scenario(name)));
        let (width, all) = (plain.action_layout().len(), encoder.action_layout().len());
        let first = column(encoder.action_layout(), "a combat follows, as it stands now");
        assert_eq!((first, all), (width, width + 5));
        let (mut without, mut rows) = (ActionRows::new(width), ActionRows::new(all));
        let mut compared = 0;
        walk(&Campaign::new(scenario(name)), 12, 3, |position, legal| {
            let Actor::Player(seat) = position.actor() else { return };
            without.clear();
            plain.encode_actions(position, seat, legal, &mut without);
            rows.clear();
            encoder.encode_actions(position, seat, legal, &mut rows);
            assert_eq!(out_of_range(rows.as_slice(), encoder.action_layout()), None);
            let pairs = without.as_slice().chunks_exact(width).zip(rows.as_slice().chunks_exact(all));
            for (&action, (plain, row)) in legal.iter().zip(pairs) {
                assert_eq!(plain, &row[..width]);
                let mut after = *position;
                after.apply_legal(action);
                let text = position.action_text(action);
                let fights = text.starts_with("attack") || position.pending_kind().starts_with("leader_");
                assert_eq!(row[width] == 1.0, fights, "{text} at {}", position.pending_kind());
                if !fights {
                    assert_eq!(row[width..], [0.0; 5]);
                } else if compared < COMPARED {
                    compared += 1;
                    let expected = brute_force_odds(&after, seat);
                    for (found, expected) in row[width + 1..].iter().zip(expected) {
                        assert!((f64::from(*found) - expected).abs() < 1e-6, "{text}: {row:?}, not {expected:?}");
                    }
                }
            }
        });
        assert_eq!(compared, COMPARED, "{name}: combats in these games");
    }
}

/// Probabilities that `seat` and the other win the combat at hand, and the expected shares of units destroyed.
fn brute_force_odds(position: &Campaign, seat: Seat) -> [f64; 4] {
    let combat = position.combat();
    let ways = |sum: u8| f64::from(6 - sum.abs_diff(7)) / 36.0;
    let [marching, defending] = if Side::of_seat(seat) == combat.marching_side { [0, 1] } else { [1, 0] };
    let mut odds = [0.0; 4];
    for (a, b) in (2..=12).flat_map(|a| (2..=12).map(move |b| (a, b))) {
        for (c, d) in (2..=12).flat_map(|c| (2..=12).map(move |d| (c, d))) {
            let probability = ways(a) * ways(b) * ways(c) * ways(d);
            let end = combat.resolve(&[a, b, c, d]);
            match end.winner {
                Some(CombatRole::Marching) => odds[marching] += probability,
                Some(CombatRole::Defending) => odds[defending] += probability,
                None => {}
            }
            for (side, index) in [(&end.marching, marching), (&end.defending, defending)] {
                let destroyed = side.start - side.force.count_of(LAND);
                odds[2 + index] += probability * f64::from(destroyed) / f64::from(side.start.max(1));
            }
        }
    }
    odds
}

#[test]
fn channels_have_names_of_their_own() {
    let encoder = CampaignEncoder::new(scenario("souakim"));
    let layout = encoder.layout();
    let planes = &layout.planes.as_ref().expect("planes").channels;
    let (tokens, globals) = (layout.tokens.as_deref(), layout.globals.as_deref());
    for channels in [planes, tokens.expect("tokens"), globals.expect("globals"), encoder.action_layout()] {
        for (i, channel) in channels.iter().enumerate() {
            assert_eq!(column(channels, &channel.name), i, "`{}` stands twice", channel.name);
            assert!(channel.min < channel.max && channel.min.abs().max(channel.max) <= 1024.0, "{channel:?}");
        }
    }
}

#[test]
fn the_encoders_of_the_reference_games_see_everything() {
    fn check<P: Position, E: PolicyEncoder<P> + Clone>(start: P, encoder: E) {
        assert_eq!(encoder.named(encoder.name()).map(|named| named.name()), Some(encoder.name()));
        assert!(encoder.named("no encoder").is_none());
        let mut check = EncoderCheck::new(encoder.clone(), 20_000, true);
        check_game_and(start.clone(), &Options::default(), |position| check.visit(position)).expect("conforms");
        let mut observation = Observation::new(&encoder, TOKENS_AND_GLOBALS);
        let (mut groups, mut rows) = (Vec::new(), ActionRows::new(encoder.action_layout().len()));
        walk(&start, 20, 12, |position, legal| {
            observation.encode(&encoder, position, Seat::First);
            groups.clear();
            encoder.group_tokens(&observation.tokens, &mut groups);
            rows.clear();
            encoder.encode_actions(position, Seat::First, legal, &mut rows);
            assert_eq!((groups.len(), rows.len()), (observation.tokens.len(), legal.len()));
            assert!(groups.iter().all(|group| usize::from(*group) < encoder.token_groups()));
            assert!(rows.tokens().iter().flatten().flatten().all(|token| (*token as usize) < groups.len()));
            assert_eq!(out_of_range(rows.as_slice(), encoder.action_layout()), None);
        });
    }
    check(ConnectFour::new(), ConnectFourColumns::new());
    check(Pig::new(), PigPlayers::new());
}

#[test]
fn pig_shows_what_holding_would_bank() {
    let mut position = Pig::new();
    position.resolve_possible(dervish_env::game::Outcome(6));
    let encoder = PigPlayers::new();
    let mut rows = ActionRows::new(encoder.action_layout().len());
    encoder.encode_actions(&position, Seat::Second, &[ROLL, HOLD], &mut rows);
    // Roll, hold, score if held: six points of the first player, who is the second token to the second.
    assert_eq!(rows.as_slice(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.06]);
    assert_eq!(rows.tokens(), [[Some(1), None], [Some(1), None]]);
}

//! TensorBoard's event files: checksums and framing by their definitions, and read back as other programs read them.

use crate::pig_run::{changed, lines_of, new_run, pig, rival};
use dervish_env::reference::pig::Pig;
use dervish_training::arena::agents::ArenaGame;
use dervish_training::arena::luck::value_function;
use dervish_training::arena::statistics::elo;
use dervish_training::assessment::Assessment;
use dervish_training::round_log::RoundLog;
use dervish_training::run_dir::RunDir;
use dervish_training::run_files::RunFiles;
use dervish_training::session::{Budget, Material, train};
use dervish_training::tensorboard::{
    Event, EventFile, FILE_VERSION, SESSION_START, Summary, SummaryValue, masked_crc, record,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Undoes the mask of `TFRecord`: crc = rotate left by 15 of (masked - 0xa282ead8).
fn unmasked(masked: u32) -> u32 {
    masked.wrapping_sub(0xa282_ead8).rotate_left(15)
}

/// Reads records and checks both checksums of each; what is cut off at the end is returned as its length.
fn records(mut bytes: &[u8]) -> (Vec<Vec<u8>>, usize) {
    let mut records = Vec::new();
    while bytes.len() >= 12 {
        let length = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
        assert_eq!(bytes[8..12], masked_crc(&bytes[..8]).to_le_bytes());
        if bytes.len() < 16 + length {
            break;
        }
        let data = &bytes[12..12 + length];
        assert_eq!(bytes[12 + length..16 + length], masked_crc(data).to_le_bytes());
        records.push(data.to_vec());
        bytes = &bytes[16 + length..];
    }
    (records, bytes.len())
}

fn events(path: &Path) -> Vec<Event> {
    let (records, rest) = records(&fs::read(path).expect("a file"));
    assert_eq!(rest, 0);
    records.iter().map(|data| prost::Message::decode(&data[..]).expect("an event")).collect()
}

/// CRC-32C of RFC 3720, B.4 (32 bytes of zeros, of ones, and ascending), and of "123456789", the check value by which
/// catalogues of checksums name it.
#[test]
fn checksums_are_crc_32c() {
    let ascending: Vec<u8> = (0..32).collect();
    for (bytes, expected) in [
        (&[0; 32][..], 0x8a91_36aa),
        (&[0xff; 32], 0x62a8_ab43),
        (&ascending, 0x46dd_794e),
        (b"123456789", 0xe306_9283),
    ] {
        assert_eq!(unmasked(masked_crc(bytes)), expected, "{bytes:?}");
    }
}

/// The first bytes of every event file that TensorFlow writes: a record of 24 bytes, which are an event with a time (field 1,
/// eight bytes) and the file's version (field 3, 13 bytes).
#[test]
fn a_file_begins_as_tensorflow_begins_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let events = EventFile::create(folder.path()).expect("a file");
    let bytes = fs::read(events.path()).expect("a file");
    assert_eq!(bytes[..12], [0x18, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22]);
    assert_eq!((bytes[12], &bytes[21..36]), (0x09, &b"\x1a\x0dbrain.Event:2"[..]));
    assert_eq!(bytes.len(), 40);
    let name = events.path().file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let parts: Vec<&str> = name.split('.').collect();
    assert_eq!((&parts[..3], parts[4]), (&["events", "out", "tfevents"][..], "dervish"), "{name}");
    assert!(parts[3].parse::<u64>().is_ok_and(|seconds| seconds > 1_500_000_000), "{name}");
    assert_eq!(parts[5].parse(), Ok(std::process::id()), "{name}");
    // Another session of the same second has a file of its own.
    let other = EventFile::create(folder.path()).expect("a file");
    assert_ne!(other.path(), events.path());
}

fn file_with_two_rounds(folder: &Path) -> PathBuf {
    let mut events = EventFile::create(folder).expect("a file");
    events.begin_session(1).expect("written");
    events.add(10, [("loss/policy", 1.5), ("loss/none", f64::NAN), ("game/score", 0.0)]).expect("written");
    events.add(20, [("loss/policy", 1.25)]).expect("written");
    events.path().to_owned()
}

#[test]
fn values_are_read_back_with_their_steps_and_a_cut_off_record_is_the_last() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = file_with_two_rounds(folder.path());
    let read = events(&path);
    let [first, _, one, two] = &read[..] else { panic!("{read:?}") };
    assert_eq!((first.file_version.as_deref(), &first.summary), (Some(FILE_VERSION), &None));
    let value = |tag: &str, value| SummaryValue { tag: tag.to_owned(), simple_value: Some(value) };
    // Zero is a value; what is no number is left out.
    let values = vec![value("loss/policy", 1.5), value("game/score", 0.0)];
    assert_eq!((one.step, &one.summary), (10, &Some(Summary { value: values })));
    assert_eq!((two.step, &two.summary), (20, &Some(Summary { value: vec![value("loss/policy", 1.25)] })));
    assert!(first.wall_time <= one.wall_time && one.wall_time <= two.wall_time && first.wall_time > 1.5e9);
    // A kill in the middle of a record leaves all before it.
    let bytes = fs::read(&path).expect("a file");
    let (whole, rest) = records(&bytes[..bytes.len() - 5]);
    assert!(whole.len() == 3 && rest > 0);
    assert_eq!(record(b"").len(), 16);
}

/// What a session writes: tags for every round and assessment, and where it begins, so that what a killed session had beyond
/// that is dropped by whoever draws the curves.
#[test]
fn a_session_writes_its_curves_and_where_they_begin() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let changes = [
        "threads=1",
        "deterministic=true",
        "learner.games_per_round=4",
        "learner.window=4",
        "self_play.cheap_simulations=1",
        "league={share=0.3, opponents=['random']}",
        // So many that neither all are won nor all lost.
        "assessment={every=2, games=20, held_out=['mcts:sims=2']}",
    ];
    let run = new_run(&folder, 2, &changes);
    let material = Material { opponents: vec![rival("random")], held_out: vec![rival("mcts:sims=2")], ..pig() };
    let files = || {
        let entries = fs::read_dir(run.path().join("tensorboard")).expect("a folder");
        let entries = entries.flatten().map(|entry| entry.path());
        entries.collect::<BTreeSet<PathBuf>>()
    };
    let first = train(&material, &run, Budget::Rounds(2), &()).expect("a session");
    let known = files();
    train(&material, &run, Budget::Rounds(3), &()).expect("a session");
    let new: Vec<PathBuf> = files().difference(&known).cloned().collect();
    assert_eq!((known.len(), new.len()), (1, 1), "a file for each session");
    let (one, two) = (known.first().map(|file| events(file)).unwrap_or_default(), events(&new[0]));
    let start = |events: &[Event]| events[1].session_log.map(|log| (log.status, events[1].step));
    // The first step of each session.
    assert_eq!(start(&one), Some((SESSION_START, 1)));
    assert_eq!(start(&two), Some((SESSION_START, first.steps.cast_signed() + 1)));
    assert!(two[2..].iter().all(|event| event.step >= two[1].step && event.session_log.is_none()));
    let tags: BTreeSet<&str> = one
        .iter()
        .filter_map(|event| event.summary.as_ref())
        .flat_map(|of| &of.value)
        .map(|of| of.tag.as_str())
        .collect();
    let always = [
        "calibration/first_seat",
        "calibration/first_third",
        "calibration/last_third",
        "calibration/middle_third",
        "calibration/second_seat",
        "game/decisions",
        "game/first_seat_score",
        "game/player_turns",
        "learner/gradient_norm",
        "learner/learning_rate",
        "loss/margin",
        "loss/policy",
        "loss/result",
        "loss/total",
        "loss/turns_left",
        "policy/taught_entropy",
        "speed/decisions_per_second",
        "speed/evaluator_busy",
        "speed/mean_batch",
        "speed/queue_wait_ms",
        "strength/held_out",
        "strength/pool",
        "strength/rating",
    ];
    let lines = lines_of(run.path());
    // Beside them each player turn in which somebody gave a value.
    let turns = |line: &serde_json::Value| line["figures"]["turns"].as_array().expect("turns").clone();
    let seen = |line| turns(line).iter().zip(1..).filter(|(bin, _)| bin["count"] != 0).map(|(_, turn)| turn).collect();
    let seen: Vec<Vec<usize>> = lines[..2].iter().map(seen).collect();
    let seen = seen.iter().flatten().map(|turn| format!("calibration/turn_{turn:02}"));
    let expected: BTreeSet<String> = always.iter().map(|tag| tag.to_string()).chain(seen).collect();
    assert_eq!(tags, expected.iter().map(String::as_str).collect());
    assert!(tags.contains("calibration/turn_01") && tags.contains("calibration/turn_02"), "{tags:?}");
    // The values are those of the lines of the run.
    let line = &lines[0];
    let round = one.iter().find(|event| event.summary.is_some()).expect("a round");
    let value = |tag: &str| {
        let values = round.summary.as_ref().map(|of| &of.value[..]).unwrap_or_default();
        values.iter().find(|of| of.tag == tag).and_then(|of| of.simple_value)
    };
    assert_eq!(Some(round.step), line["step"].as_i64());
    for (tag, name) in [("loss/total", "total"), ("learner/learning_rate", "learning_rate")] {
        assert_eq!(value(tag), line[name].as_f64().map(|number| number as f32), "{tag}");
    }
    let second = &turns(line)[1];
    let apart = second["value"].as_f64().zip(second["result"].as_f64()).map(|(value, result)| (value - result).abs());
    let told = value("calibration/turn_02").map(f64::from);
    assert!(told.zip(apart).is_some_and(|(told, apart)| (told - apart).abs() < 1e-6), "{told:?} {apart:?}");
    let assessment = RunFiles::open(run.path()).and_then(|run| run.assessments()).expect("assessments").remove(0);
    let rating = one.iter().filter_map(|event| event.summary.as_ref()).flat_map(|of| &of.value);
    let rating: Vec<_> = rating.filter(|of| of.tag == "strength/rating").map(|of| of.simple_value).collect();
    assert_eq!(rating, [assessment.rating.map(|rating| rating as f32)]);
}

/// An assessment has a rating, or everything was won or lost: then there is no value for it, and the scores are there.
#[test]
fn a_rating_is_shown_where_there_is_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = new_run(&folder, 0, &[]);
    let mut log = RoundLog::open(&run, 0).expect("a log");
    let against = |score: f64| {
        serde_json::json!({
            "seconds": 60.0, "rounds": 2, "step": 4, "simulations": 0, "rating": elo(score),
            "agents": [{"spec": "random", "games": 40, "score": score, "low": 0.0, "high": 1.0}],
        })
    };
    for score in [0.75, 1.0] {
        let assessment: Assessment = serde_json::from_value(against(score)).expect("an assessment");
        log.add_assessment(&assessment).expect("written");
    }
    drop(log);
    let file = fs::read_dir(run.path().join("tensorboard")).expect("a folder").flatten().next().expect("a file").path();
    let written = events(&file).into_iter().filter_map(|event| event.summary).map(|of| of.value);
    let value = |tag: &str, value| SummaryValue { tag: tag.to_owned(), simple_value: Some(value) };
    // 400 log10(0.75 / 0.25) Elo.
    let rated = vec![value("strength/pool", 0.75), value("strength/rating", 190.848_5)];
    assert_eq!(written.collect::<Vec<_>>(), [rated, vec![value("strength/pool", 1.0)]]);
}

/// What luck explains of a round is shown where it is taken out of the targets, as the line of the round has it.
#[test]
fn what_luck_explains_is_shown_where_it_is_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for luck in [0.8, 0.0] {
        let path = folder.path().join(format!("luck-{luck}"));
        let part = format!("learner.targets.luck={luck}");
        let config = changed(2, &["threads=1", "deterministic=true", &part]);
        let run = RunDir::create(&path, config).expect("a new run");
        let material = Material { value: Some(Box::new(value_function(Pig::evaluation()))), ..pig() };
        train(&material, &run, Budget::Rounds(1), &()).expect("a session");
        let line = RunFiles::open(&path).and_then(|run| run.rounds()).expect("rounds").remove(0);
        let file = fs::read_dir(path.join("tensorboard")).expect("a folder").flatten().next().expect("a file").path();
        let values: Vec<_> =
            events(&file).into_iter().filter_map(|event| event.summary).flat_map(|of| of.value).collect();
        for (tag, expected) in [
            ("luck/best_share", line.luck.and_then(|luck| luck.best_share)),
            ("luck/narrowing", line.luck.and_then(|luck| luck.narrowing)),
        ] {
            let value = values.iter().find(|of| of.tag == tag).and_then(|of| of.simple_value);
            assert_eq!((value, value.is_some()), (expected.map(|number| number as f32), luck > 0.0), "{tag}");
        }
    }
}

/// Names a Python that must have TensorBoard: without it the test fails instead of being skipped.
const PYTHON: &str = "DERVISH_INTERCHANGE_PYTHON";

/// `make interchange` gets TensorBoard from PyPI and runs this test with it.
#[test]
fn interchange_tensorboard_reads_an_event_file() {
    let python = std::env::var(PYTHON);
    let has = |python: &str| {
        Command::new(python).args(["-c", "import tensorboard"]).output().is_ok_and(|run| run.status.success())
    };
    let Some(python) = python.ok().or_else(|| Some("python3".to_owned()).filter(|python| has(python))) else {
        eprintln!("skipped: no Python with tensorboard; `make interchange` fetches one");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    file_with_two_rounds(folder.path());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("interchange/read_events.py");
    let output = Command::new(python).arg(script).arg(folder.path()).output().expect("a Python that starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(read, serde_json::json!({"game/score": [[10, 0.0]], "loss/policy": [[10, 1.5], [20, 1.25]]}));
}

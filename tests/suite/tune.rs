//! Tuning: the search finds what it is to find, files keep what is not tuned, and a run that was stopped goes on as if it
//! had not been.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dervish_agents::doctrine::weights::{Weights, WeightsError};
use dervish_env::chance::SplitMix64;
use dervish_training::tune::folder::{Plan, TUNING_VERSION};
use dervish_training::tune::measure::{SELF, Stop};
use dervish_training::tune::spsa::{Bounds, Gains, Search};
use dervish_training::tune::tuning::Tuning;
use dervish_training::tune::weight_file::{WeightFile, WeightFileError};

use crate::dervish_binary::{dervish, refusal, start};

const FREE: Bounds = Bounds { least: 0.2, most: 5.0, spread: 0.0 };

/// Distance of a point from another.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// A search for the top of `-sum (x - top)^2`, with noise of this greatest size on every measurement.
fn searched(gains: Gains, top: &[f64], noise: f64, bounds: &[Bounds]) -> Search {
    let mut search = Search::new(vec![1.0; top.len()]);
    let mut random = SplitMix64::new(gains.seed);
    for _ in 0..gains.steps {
        let probe = search.probe(&gains, bounds);
        let height = |point: &[f64]| -distance(point, top).powi(2);
        let error = noise * (random.below(2001) as f64 / 1000.0 - 1.0);
        let difference = (height(&probe.plus) - height(&probe.minus) + error).clamp(-1.0, 1.0);
        search.advance(&gains, bounds, &probe, difference);
    }
    search
}

/// The quadratic of which Spall (1992) proves it: with noise that is ten times what a step can gain, twenty numbers come
/// to their best values, which lie 30% from the first ones, and the mean of the later points is nearer than the last.
#[test]
fn the_search_finds_the_top_of_a_noisy_quadratic() {
    let top: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 1.3 } else { 0.7 }).collect();
    let before = distance(&[1.0; 20], &top);
    let (mut of_means, mut of_points) = (0.0, 0.0);
    for seed in 0..5 {
        let gains = Gains { steps: 4000, spread: 0.1, rate: 0.02, seed };
        let search = searched(gains, &top, 0.3, &[FREE; 20]);
        assert_eq!(search.step, 4000);
        of_means += distance(&search.best(), &top) / 5.0;
        of_points += distance(&search.point, &top) / 5.0;
    }
    assert!((before - 1.3416).abs() < 1e-3, "the root of 20 times 0.09: {before}");
    assert!(of_means < 0.1 * before, "{of_means} of {before}");
    assert!(of_means < of_points, "{of_means} and {of_points}");
}

/// A top beyond the bounds is looked for up to them and never beyond.
#[test]
fn the_search_stays_within_bounds() {
    let gains = Gains { steps: 500, spread: 0.05, rate: 0.1, seed: 3 };
    let bounds = [Bounds { least: 0.9, most: 1.1, spread: 0.0 }; 2];
    let search = searched(gains, &[3.0, -1.0], 0.0, &bounds);
    assert!(search.best()[0] > 1.05 && search.best()[1] < 0.95, "{search:?}");
    let probe = search.probe(&gains, &bounds);
    let within = |x: &f64| (0.9..=1.1).contains(x);
    assert!(search.point.iter().chain(&probe.plus).chain(&probe.minus).all(within), "{search:?} {probe:?}");
}

/// A whole number is measured half a unit to either side at least, so that the two sides never play with the same one.
#[test]
fn whole_numbers_are_moved_far_enough_to_be_seen() {
    let gains = Gains { steps: 10, spread: 0.01, rate: 0.1, seed: 1 };
    let bounds = [Bounds { spread: 0.5 / 3.0, ..FREE }, FREE];
    let probe = Search::new(vec![1.0; 2]).probe(&gains, &bounds);
    let apart = |i: usize| (probe.plus[i] - probe.minus[i]).abs();
    assert!((3.0 * apart(0) - 1.0).abs() < 1e-9 && (apart(1) - 0.02).abs() < 1e-9, "{probe:?}");
}

const FILE: &str = "# What it is.\n[a]\nx = 1.0     # points: how much\ny = 0.9     # share: of x\nn = 3 # units\n\n[b]\nz = [0.5, -2.0] # factor: two\nname = \"text\"\nzero = 0.0\n";

fn file() -> WeightFile {
    WeightFile::parse(FILE.to_string(), Path::new("w.toml")).expect("TOML")
}

#[test]
fn weights_are_chosen_by_name_and_by_group() {
    let names = |chosen: &[&str]| -> Vec<String> {
        let chosen: Vec<String> = chosen.iter().map(|name| name.to_string()).collect();
        file().chosen(&chosen).expect("they are there").into_iter().map(|weight| weight.name).collect()
    };
    assert_eq!(names(&["a"]), ["a.x", "a.y", "a.n"]);
    assert_eq!(names(&["b.z", "a.x"]), ["a.x", "b.z.0", "b.z.1"]);
    let chosen = file().chosen(&["a".to_string()]).expect("they are there");
    let kinds: Vec<(bool, bool)> = chosen.iter().map(|weight| (weight.whole, weight.share)).collect();
    assert_eq!(kinds, [(false, false), (false, true), (true, false)]);
    let refused = |name: &str| file().chosen(&[name.to_string()]).expect_err("no").to_string();
    assert_eq!(refused("a.xx"), "w.toml: there is no weight 'a.xx'; there are: a, b");
    assert_eq!(refused("b.name"), "w.toml: there is no weight 'b.name'; there are: a, b");
    assert_eq!(refused("b"), "w.toml: the weight 'b.zero' is 0, from which no size of a step follows");
    let broken = WeightFile::parse("[a]\nx = \n".to_string(), Path::new("w.toml"));
    assert!(matches!(broken, Err(WeightFileError::File(WeightsError::Parse { line: 2, .. }))), "{broken:?}");
}

/// Nothing but the numbers is changed, and what stands behind them keeps its column where there is room.
#[test]
fn a_changed_file_keeps_its_comments() {
    let weights = file().chosen(&["a".to_string(), "b.z".to_string()]).expect("they are there");
    let changed = file().with(&weights, &[1.23456, 0.9, 3.6, 12345.6, -0.000_123_46]);
    let expected = FILE
        .replace("x = 1.0     #", "x = 1.235   #")
        .replace("n = 3 #", "n = 4 #")
        .replace("[0.5, -2.0]", "[12345.6, -0.0001235]");
    assert_eq!(changed, expected);
}

/// The weights of the program, all of them, come back as they were and can be read by the agent when they are changed.
#[test]
fn the_weights_of_the_program_can_be_tuned() {
    let file = WeightFile::read(&builtin()).expect("they are there");
    let weights = file.chosen(&[]).expect("none is 0");
    let same: Vec<f64> = weights.iter().map(|weight| weight.value).collect();
    assert_eq!(file.with(&weights, &same), file.text());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("changed.toml");
    let half: Vec<f64> = same.iter().map(|value| value / 2.0 + 0.5).collect();
    fs::write(&path, file.with(&weights, &half)).expect("written");
    assert_ne!(Weights::read(&path).expect("weights"), *Weights::builtin());
}

fn builtin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/core/data/doctrine.toml")
}

fn plan() -> Plan {
    Plan {
        version: TUNING_VERSION,
        agent: "doctrine".to_string(),
        weights: vec!["mahdist".to_string(), "march.settles".to_string()],
        scenarios: vec!["kordofan".to_string(), "souakim".to_string()],
        opponents: vec![SELF.to_string(), "random".to_string()],
        games: 2,
        gains: Gains { steps: 6, spread: 0.3, rate: 0.3, seed: 5 },
    }
}

const NEVER: Stop = Stop { at: None };

fn contents(folder: &Path) -> Vec<String> {
    let files = ["plan.json", "start.toml", "state.json", "log.jsonl", "plus.toml", "minus.toml", "weights.toml"];
    files.iter().map(|file| fs::read_to_string(folder.join(file)).expect("a file")).collect()
}

/// Stopped after some steps and within one, and gone on with: file by file the same as without.
#[test]
fn a_run_that_was_stopped_ends_like_one_that_was_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let mut tuning = Tuning::begin(&whole, plan(), &builtin(), None).expect("a run");
    // Two scenarios, one match against itself and two against random, two games each.
    assert_eq!(tuning.games_a_step(), 12);
    while tuning.step(&NEVER).expect("a step") {}
    let report = tuning.finish().expect("weights");
    assert_eq!(report.steps, 6);
    assert!(report.weights.iter().any(|change| change.after != change.before), "{report:?}");

    let mut tuning = Tuning::begin(&parts, plan(), &builtin(), None).expect("a run");
    for _ in 0..3 {
        assert!(tuning.step(&NEVER).expect("a step"));
    }
    let within = Stop { at: Some(Instant::now() + Duration::from_millis(1)) };
    assert!(!tuning.step(&within).expect("no step"));
    let line = Tuning::resume(&parts, None).err().expect("it is in use").to_string();
    assert!(line.ends_with("another program is tuning in this folder"), "{line}");
    drop(tuning);
    let mut tuning = Tuning::resume(&parts, None).expect("a run");
    assert_eq!(tuning.steps(), 3);
    while tuning.step(&NEVER).expect("a step") {}
    tuning.finish().expect("weights");
    assert_eq!(contents(&whole), contents(&parts));
}

/// What a folder has lost is named, and nothing is begun anew in it.
#[test]
fn a_run_that_has_lost_its_files_does_not_go_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run");
    let mut tuning = Tuning::begin(&out, plan(), &builtin(), None).expect("a run");
    assert!(tuning.step(&NEVER).expect("a step"));
    tuning.finish().expect("weights");
    drop(tuning);
    let before = contents(&out);
    let refused = || {
        let line = Tuning::resume(&out, None).err().expect("no run").to_string();
        assert_eq!(line.lines().count(), 1, "{line}");
        line
    };
    fs::write(out.join("start.toml"), "").expect("written");
    assert!(refused().ends_with("start.toml: there is no number in it"), "{}", refused());
    fs::write(out.join("start.toml"), "[a]\nx = 1.0\n").expect("written");
    assert!(refused().contains("start.toml: there is no weight 'mahdist'"), "{}", refused());
    fs::write(out.join("start.toml"), &before[1]).expect("written");
    fs::remove_file(out.join("state.json")).expect("deleted");
    assert!(refused().contains("state.json: is missing, but log.jsonl tells of steps"), "{}", refused());
    fs::write(out.join("state.json"), &before[2]).expect("written");
    assert_eq!(Tuning::resume(&out, None).expect("the run").steps(), 1);
    assert_eq!(contents(&out), before);
}

/// What a killed program left half-written is removed; what is wrong with an edited plan is told with its file.
#[test]
fn a_run_goes_on_by_its_plan() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run");
    drop(Tuning::begin(&out, plan(), &builtin(), None).expect("a run"));
    fs::write(out.join(".tmpAbCdEf"), "half").expect("written");
    drop(Tuning::resume(&out, None).expect("the run"));
    assert!(!out.join(".tmpAbCdEf").exists());
    let document = out.join("plan.json");
    for (edited, expected) in [
        (Plan { games: 3, ..plan() }, "games: 3 is not even and above 0"),
        (Plan { scenarios: vec!["nope".to_string()], ..plan() }, "nope: cannot be read"),
        (Plan { opponents: vec!["doktrin".to_string()], ..plan() }, "unknown agent 'doktrin'"),
        (Plan { agent: "random".to_string(), ..plan() }, "agent 'random' has no option 'weights'"),
    ] {
        fs::write(&document, serde_json::to_string(&edited).expect("plain data")).expect("written");
        let line = Tuning::resume(&out, None).err().expect("no run").to_string();
        assert!(line.starts_with(&format!("{}: {expected}", document.display())), "{line}");
    }
}

/// A killed program leaves a folder that can be gone on with.
#[test]
fn a_run_that_was_killed_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run");
    let (file, out_text) = (builtin(), out.to_str().expect("UTF-8"));
    let file = file.to_str().expect("UTF-8");
    let arguments = ["tune", "--file", file, "--scenario", "kordofan", "--steps", "100000", "--out", out_text];
    let mut child = start(&arguments);
    let begun = Instant::now();
    while !out.join("log.jsonl").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no step in a minute");
        sleep(Duration::from_millis(5));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let lines = || fs::read_to_string(out.join("log.jsonl")).expect("a log").lines().count() as u64;
    let before = lines();
    let resumed = dervish(&["tune", "--resume", out_text, "--minutes", "0.02", "--json"]);
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    let report: serde_json::Value = serde_json::from_slice(&resumed.stdout).expect("JSON");
    assert!(report["steps"].as_u64() >= Some(before), "{report}");
    assert_eq!(report["steps"].as_u64(), Some(lines()));
    let told = String::from_utf8_lossy(&resumed.stderr);
    // By default sixteen games of a step, all of the agent against itself.
    let step = "a step is 16 games of doctrine in kordofan: by plus.toml and by minus.toml, against each other\n";
    assert!(told.starts_with(step), "{told}");
    assert!(told.ends_with(&format!("go on with: dervish tune --resume {out_text}\n")), "{told}");
    Weights::read(&out.join("weights.toml")).expect("weights");
}

/// The help says how a run is begun and how it goes on, each with what it takes.
#[test]
fn the_help_tells_how_to_begin_and_how_to_go_on() {
    let help = String::from_utf8(dervish(&["tune", "--help"]).stdout).expect("UTF-8");
    let usage = "Usage: dervish tune [OPTIONS] --file <FILE> --scenario <SCENARIO> --out <DIR>\n       \
                 dervish tune [--minutes <N>] [--threads <THREADS>] [--json] --resume <DIR>\n";
    assert!(help.contains(usage), "{help}");
    assert!(help.contains("A run begins with --file, --scenario and --out."), "{help}");
}

#[test]
fn bad_arguments_of_tuning_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_string();
    fs::write(path("broken.toml"), "[a]\nx = \n").expect("written");
    fs::write(path("other.toml"), "[a]\nx = 1.0\n").expect("written");
    fs::create_dir(path("full")).expect("a folder");
    fs::write(path("full/file"), "").expect("written");
    fs::create_dir(path("old")).expect("a folder");
    fs::write(path("old/plan.json"), "{\"version\": 99}").expect("written");
    let file = builtin();
    let file = file.to_str().expect("UTF-8");
    let out = path("run");
    let usual = [("--file", file), ("--scenario", "kordofan"), ("--games", "2"), ("--steps", "1"), ("--out", &out)];
    for (option, value, expected) in [
        ("--file", path("missing.toml").as_str(), "missing.toml: "),
        ("--file", &path("broken.toml"), "broken.toml:2: "),
        ("--file", &path("other.toml"), "other.toml:1: "),
        ("--scenario", "chess", "chess"),
        ("--weights", "march.pice", "doctrine.toml: there is no weight 'march.pice'; there are: stakes, march, "),
        ("--agent", "random", "agent 'random' has no option 'weights'"),
        ("--agent", "doktrin", "unknown agent 'doktrin'"),
        ("--opponent", "mcts:sims=0", "sims=0"),
        ("--games", "3", "games: 3 is not even and above 0"),
        ("--steps", "0", "steps: 0 is not above 0"),
        ("--spread", "nan", "spread: NaN is not above 0 and at most 1"),
        ("--rate", "2", "rate: 2 is not above 0 and at most 1"),
        ("--minutes", "0", "expected a number of minutes above 0 and at most 60"),
        ("--minutes", "61", "expected a number of minutes above 0 and at most 60"),
        ("--out", &path("full"), "full: is not empty; name a new folder, or go on with --resume"),
    ] {
        let mut arguments = vec!["tune"];
        for (name, usual) in usual.iter().filter(|(name, _)| *name != option) {
            arguments.extend([*name, *usual]);
        }
        arguments.extend([option, value]);
        let line = refusal(&arguments);
        assert!(line.contains(expected), "{line}");
        assert!(!Path::new(&out).exists(), "{line}");
    }
    assert!(refusal(&["tune", "--resume", &path("full")]).contains("plan.json: "));
    assert!(refusal(&["tune", "--resume", &path("old")]).contains("tuning version 99; this program reads version 1"));
    assert!(refusal(&["tune", "--scenario", "kordofan", "--out", &out]).contains("--file"));
}

//! What a run takes on disk: its own bound, and a disk that is full.

use crate::pig_run::pig;
use dervish_training::config::RunConfig;
use dervish_training::disk_limit::{DiskLimitError, most_crowded};
use dervish_training::run_dir::RunDir;
use dervish_training::run_files::disk_use;
use dervish_training::self_play::replay::latest_games;
use dervish_training::session::{Budget, SessionError, SessionReport, train};
use std::fs;
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1 << 20;

/// A checkpoint after every round; a small network, of which a dozen checkpoints are a MiB or so.
fn config(disk_limit: u64) -> RunConfig {
    let text = format!(
        "format = 3
        scenarios = [\"pig\"]
        threads = 1
        deterministic = true
        [network]
        architecture = {{ kind = \"token_mlp\", hidden = 20, trunk = 32 }}
        [learner]
        games_per_round = 4
        passes = 1
        [storage]
        checkpoint_every = 1
        latest = 2
        milestones = 24
        disk_limit = {disk_limit}"
    );
    RunConfig::parse(&text, &[]).expect("a configuration")
}

fn train_until(run: &RunDir, rounds: u64) -> Result<SessionReport, SessionError> {
    train(&pig(), run, Budget::Rounds(rounds), &())
}

#[test]
fn the_milestone_that_is_missed_least_goes_first() {
    // Of 0, 10, 20, 25, 40, 50, 60 the last two and the first stay; without 20 the gap is 15, without 10 it is 20.
    assert_eq!(most_crowded(&[0, 10, 20, 25, 40, 50, 60], 2), Some(2));
    assert_eq!(most_crowded(&[0, 10, 25, 40, 50, 60], 2), Some(1));
    assert_eq!(most_crowded(&[0, 50, 60], 2), None);
    assert_eq!(most_crowded(&[0], 2), None);
    assert_eq!(most_crowded(&[], 0), None);
    // The latest one stays whatever is asked for.
    assert_eq!(most_crowded(&[0, 10], 0), None);
}

#[test]
fn milestones_give_way_to_the_bound_and_then_training_ends() {
    const ROUNDS: u64 = 24;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let free = RunDir::create(&folder.path().join("free"), config(0)).expect("a new run");
    train_until(&free, ROUNDS).expect("a session");
    let all = free.checkpoints().steps().expect("checkpoints");
    assert!(disk_use(free.path()).expect("a size") > MIB, "the bound below would not be reached");

    let path = folder.path().join("bound");
    let run = RunDir::create(&path, config(1)).expect("a new run");
    let report = train_until(&run, ROUNDS).expect("a session");
    let kept = run.checkpoints().steps().expect("checkpoints");
    let used = disk_use(&path).expect("a size");
    let largest = disk_use(&run.checkpoints().path(report.steps)).expect("a checkpoint");
    // No more than it may, and not much less: another checkpoint would not have fitted.
    assert!(used <= MIB && used + 2 * largest > MIB, "{used} bytes with {} checkpoints", kept.len());
    assert!(kept.len() < all.len() && kept.iter().all(|step| all.contains(step)), "{kept:?} of {all:?}");
    // The first and the latest two are there.
    assert_eq!((kept[0], &kept[kept.len() - 2..]), (0, &all[all.len() - 2..]));
    // The others are still spread over the run.
    let widest = kept.windows(2).map(|two| two[1] - two[0]).max().expect("several");
    assert!(widest <= report.steps / 2, "{kept:?}");

    // Something else takes the room: nothing is left to delete, and training ends with all that was saved.
    let ballast = path.join("ballast");
    fs::write(&ballast, vec![0; MIB as usize]).expect("a file");
    let error = train_until(&run, ROUNDS + 5).expect_err("no room");
    let SessionError::DiskLimit(DiskLimitError::Reached { used, limit, step, .. }) = &error else { panic!("{error}") };
    assert_eq!((*used, *limit), (2, 1));
    let line = error.to_string();
    assert!(line.contains("storage.disk_limit = 1 MiB") && line.lines().count() == 1, "{line}");
    let steps = run.checkpoints().steps().expect("checkpoints");
    assert_eq!((steps.len(), steps[0], steps.last()), (3, 0, Some(step)));
    // With room again it goes on from there.
    fs::remove_file(&ballast).expect("deleted");
    let further = train_until(&run, ROUNDS + 5).expect("a session");
    assert!(further.steps > *step && further.after.rounds == ROUNDS + 5, "{further:?}");
}

#[test]
fn a_file_of_figures_that_takes_nothing_more_ends_the_session() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("skipped: no /dev/full");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = RunDir::create(&folder.path().join("run"), config(0)).expect("a new run");
    let metrics = run.path().join("metrics.jsonl");
    std::os::unix::fs::symlink(full, &metrics).expect("a link");
    let line = train_until(&run, 3).expect_err("a full disk").to_string();
    assert!(line.contains("metrics.jsonl: No space left on device") && line.lines().count() == 1, "{line}");
    assert_eq!(run.checkpoints().steps().expect("checkpoints"), [0]);
    fs::remove_file(&metrics).expect("deleted");
    assert_eq!(train_until(&run, 3).expect("a session").after.rounds, 3);
}

/// A file that may not grow beyond 64 KiB takes a part of a game as a full disk does, while other threads go on to finish games:
/// the part goes, and what was written before and after it is whole.
#[test]
fn a_game_that_was_written_in_part_spoils_no_other() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, path) = (folder.path().join("run.toml"), folder.path().join("run"));
    fs::write(&file, config(0).text()).expect("a file");
    let script = format!(
        "trap '' XFSZ; ulimit -f 128 || exit 77; exec '{dervish}' train --config '{file}' --set deterministic=false --threads 4 \
         --set learner.games_per_round=100000 --budget 60s --out '{path}'",
        dervish = crate::dervish_binary::binary().display(),
        file = file.display(),
        path = path.display(),
    );
    let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    if output.status.code() == Some(77) {
        eprintln!("skipped: the length of files cannot be bounded here");
        return;
    }
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.lines().last().is_some_and(|line| line.contains("open.jsonl: File too large")), "{told}");
    let text = fs::read_to_string(path.join("replay/open.jsonl")).expect("games");
    let games = latest_games(&path.join("replay"), usize::MAX, |_| true).expect("whole games");
    assert!(text.ends_with('\n') && !games.is_empty() && games.len() == text.lines().count(), "{text}");
}

/// On a file system of its own that is too small, wherever the run happens to meet its end. What is left there must be a
/// run that goes on elsewhere.
#[test]
fn a_full_disk_ends_the_session_and_leaves_a_run_that_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    fs::write(folder.path().join("run.toml"), config(0).text()).expect("a file");
    let script = |size: &str, every: &str, kept: &str| {
        format!(
            "mount -t tmpfs -o size={size} none '{disk}' || exit 77; '{dervish}' train --config '{base}/run.toml' \
             --set storage.checkpoint_every={every} --set learner.window=1000 --rounds 2000 --out '{disk}/run'; status=$?; \
             cp -r '{disk}/run' '{base}/{kept}'; exit $status",
            disk = disk.display(),
            dervish = crate::dervish_binary::binary().display(),
            base = folder.path().display(),
        )
    };
    // Checkpoints fill the disk, or, where there is only the first one, games and figures do.
    for (size, every) in [("600k", "1"), ("400k", "1000")] {
        let kept = format!("{size}-{every}");
        let unshare = ["--map-root-user", "--mount", "sh", "-c"];
        let output = Command::new("unshare").args(unshare).arg(script(size, every, &kept)).output();
        let output = match output {
            Ok(output) if output.status.code() != Some(77) && output.status.code() != Some(1) => output,
            _ => {
                eprintln!("skipped: no file system can be mounted here");
                return;
            }
        };
        let told = String::from_utf8(output.stderr).expect("UTF-8");
        let line = told.lines().last().unwrap_or_default();
        assert_eq!(output.status.code(), Some(2), "{size}: {told}");
        assert!(line.starts_with("dervish: ") && line.contains("No space left on device"), "{size}: {told}");
        // Which file it was.
        assert!(
            ["/replay", "/checkpoints/", "metrics.jsonl", "/tensorboard/"].iter().any(|file| line.contains(file)),
            "{line}"
        );
        eprintln!("{line}");
        let run = RunDir::open(&folder.path().join(&kept)).expect("a run");
        let steps = run.checkpoints().steps().expect("checkpoints");
        let last = *steps.last().expect("at least the first");
        let report = train_until(&run, rounds_of(&run) + 2).expect("a session");
        assert!(report.steps > last, "{size}: {report:?} after {steps:?}");
    }
}

/// Rounds behind the latest checkpoint.
fn rounds_of(run: &RunDir) -> u64 {
    let path = run.checkpoints().path_of(None).expect("a checkpoint");
    let manifest = dervish_models::checkpoint::load_manifest(&path).expect("a manifest");
    manifest.figures["rounds"] as u64
}

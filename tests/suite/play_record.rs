//! How `dervish play` keeps a game: its record, from order to order, and going on with it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::dervish_binary::{binary, dervish, dervish_reading, refusal};
use crate::play_command::{SETUP, sitting};

/// Whoever waits sees first what his order has brought, then that the agent thinks; and what was played is in the record.
#[test]
fn a_long_thought_is_told_after_what_was_played_is_shown_and_kept() {
    for (bound, told) in
        [(&["--time", "60"][..], "second is thinking"), (&[], "second is thinking; --time SECONDS bounds it")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.record");
        // The first seat throws a 5 and holds; the second throws a 3 and so has to choose.
        let game = ["play", "--scenario", "pig", "--side", "first", "--seed", "0", "--against", "mcts:sims=100000000"];
        let mut child = Command::new(binary())
            .args(game)
            .args(bound)
            .args(["--record", path.to_str().expect("UTF-8")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("dervish starts");
        child.stdin.as_mut().expect("a pipe").write_all(b"hold\n").expect("it reads");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map(|line| line.expect("UTF-8"));
        let mut before = Vec::new();
        let thinks = lines.any(|line| {
            before.push(line);
            before.last().is_some_and(|line| line == told)
        });
        let record = fs::read_to_string(&path).expect("a record");
        child.kill().expect("it thinks");
        child.wait().expect("it ends");
        assert!(thinks && before.iter().any(|line| line.contains("* throw of second: ")), "{before:?}");
        assert!(record.contains("\nfirst hold\nroll ") && record.ends_with("\nunfinished\n"), "{record}");
    }
}

/// After `--resume` the agent thinks as long as before, or as it is said then.
#[test]
fn bounds_on_thinking_are_kept_with_the_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let name = path.to_str().expect("UTF-8");
    let game = ["--scenario", "connect-four", "--side", "yellow", "--against", "mcts:sims=100000000", "--record", name];
    sitting(&[&game[..], &["--time", "0.05"]].concat(), "");
    for (more, bounds) in [(&[][..], "time=0.05"), (&["--sims", "5", "--turn-sims", "9"], "sims=5, turn-sims=9")] {
        let begun = Instant::now();
        let output = dervish_reading(&[&["play", "--resume", name], more].concat(), b"drop 4\n");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("- red drop "), "{output:?}");
        assert!(begun.elapsed() < Duration::from_secs(30));
        let record = fs::read_to_string(&path).expect("a record");
        assert!(record.contains(&format!("\nthinking: {bounds}\n")), "{record}");
    }
    let record = fs::read_to_string(&path).expect("a record");
    fs::write(&path, record.replace("sims=5,", "sims=few,")).expect("written");
    let refused = refusal(&["play", "--resume", name]);
    assert!(
        refused.contains("--resume: ") && refused.contains("cannot read `thinking: sims=few, turn-sims=9`"),
        "{refused}"
    );
}

/// Who leaves a game that is not kept is told so first, and how to keep it; one that is kept, how to go on with it.
#[test]
fn whoever_leaves_is_told_whether_the_game_is_kept() {
    let unkept = "> this game is not kept: w FILE keeps it in a new file, another q leaves it\n> ";
    let output = sitting(&SETUP, "place 4105\nq\nq\nplace 4105 mahdist_spearmen 3\n");
    assert!(output.contains(unkept) && output.ends_with("this game was not kept\nleft the game\n"), "{output}");

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("of mine").join("game.record");
    let name = file.to_str().expect("UTF-8");
    let taken = folder.path().join("taken");
    let taken_name = taken.to_str().expect("UTF-8");
    fs::write(&taken, "mine").expect("written");
    let lines =
        format!("place 4105\nw {taken_name}\nw {name}\nw {name}\nw {name}.2\nplace 4105 mahdist_spearmen 3\nq\n");
    let output = sitting(&SETUP, lines);
    assert!(
        output.contains(&format!(
            "> {taken_name} exists; name a new file\n> from now on this game is kept in {name}\n> {name} exists; name a new \
             file\n> {name}.2 is a copy as things stand; this game is kept in {name}\n> "
        )),
        "{output}"
    );
    let end = format!("dervish play --resume '{name}' goes on with this game\nleft the game\n");
    assert!(output.ends_with(&end) && !output.contains(unkept), "{output}");
    assert_eq!(fs::read_to_string(&taken).expect("as it was"), "mine");
    let record = fs::read_to_string(&file).expect("a record");
    assert!(record.ends_with("\nmahdist place 4105\nmahdist place 4105 mahdist_spearmen 3\nunfinished\n"), "{record}");
    let copy = fs::read_to_string(format!("{name}.2")).expect("a copy");
    assert_eq!(copy, record.replace("mahdist place 4105 mahdist_spearmen 3\n", ""));
    let again = dervish_reading(&["play", "--resume", name], b"");
    assert!(again.status.success() && String::from_utf8_lossy(&again.stdout).ends_with(&end), "{again:?}");
}

/// A game that was left goes on as if it had not been, with an agent that draws nothing but its ties; and its record with it.
#[test]
fn a_game_that_was_left_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join("new").join(name).to_str().expect("UTF-8").to_owned();
    let (whole, left) = (path("whole.record"), path("left.record"));
    let game = [&SETUP[..], &["--against", "doctrine", "--seed", "2", "--record"]].concat();
    let end = sitting(&[&game[..], &[whole.as_str()]].concat(), "1\n".repeat(20_000));
    sitting(&[&game[..], &[left.as_str()]].concat(), format!("{}q\n", "1\n".repeat(12)));
    let resume = |lines: &str| {
        let output = dervish_reading(&["play", "--resume", &left], lines.as_bytes());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let records = || [&left, &whole].map(|path| fs::read_to_string(path).expect("a record"));
    // Once in the set-up, once after it.
    let again = resume(&format!("{}q\n", "1\n".repeat(16)));
    assert!(again.ends_with("left the game\n") && !again.contains("seed "), "{again}");
    let [so_far, mut beginning] = records();
    beginning.truncate(so_far.len() - "unfinished\n".len());
    assert_eq!(so_far, format!("{beginning}unfinished\n"));
    assert!(so_far.contains("\nroll "), "{so_far}");
    assert_eq!(resume(&"1\n".repeat(20_000)).lines().next_back(), end.lines().next_back());
    let [to_the_end, at_once] = records();
    assert_eq!(to_the_end, at_once);
    let refused = refusal(&["play", "--resume", &left]);
    assert!(refused.contains("--resume: ") && refused.contains("the game is over"), "{refused}");
    // What the record says is not said again.
    assert!(refusal(&["play", "--resume", &left, "--seed", "1"]).contains("--seed"));
}

/// A person takes over either side of an unfinished game, whoever played it, and the record says so. Whoever took its part goes
/// on against him, unless another agent is named.
#[test]
fn a_side_of_an_unfinished_game_is_taken_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (games, fork) = (path("games"), path("fork.record"));
    let agents =
        ["match", "doctrine", "random", "--scenario", "souakim", "--games", "2", "--seed", "1", "--out", &games];
    assert!(dervish(&agents).status.success());
    // In the first game of a pair the first agent has the first seat.
    let game = path("games/games/00000.record");
    assert!(dervish(&["replay", &game, "--to", "20", "--fork", &fork]).status.success());
    let begun = fs::read_to_string(&fork).expect("a record");
    assert!(begun.contains("\nseat: egyptian doctrine:seed=0\nseat: mahdist random:seed=0\n"), "{begun}");
    assert!(refusal(&["play", "--resume", &fork]).contains("no person played it; --side SIDE takes over a side"));
    let played = |record: &str| {
        let lines = record.lines().skip_while(|line| !line.starts_with("seat: mahdist ")).skip(1);
        lines.take_while(|line| *line != "unfinished").map(str::to_owned).collect::<Vec<_>>()
    };
    let before = played(&begun);
    assert_eq!(before.len(), 20, "{begun}");
    let takes_over = |more: &[&str], seats: &str| {
        let output = dervish_reading(&[&["play", "--resume", &fork], more].concat(), b"1\n");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let record = fs::read_to_string(&fork).expect("a record");
        assert!(record.contains(seats), "{record}");
        let after = played(&record);
        assert_eq!(after[..20], before, "{record}");
        assert!(after.len() > 20, "{record}");
        assert!(dervish(&["replay", &fork]).status.success());
    };
    takes_over(&["--side", "Mahdist"], "\nseat: egyptian doctrine:seed=0\nseat: mahdist human\n");
    // From then on it is a game like any other of his.
    takes_over(&[], "\nseat: egyptian doctrine:seed=0\nseat: mahdist human\n");
    let refused = refusal(&["play", "--resume", &fork, "--side", "egyptian"]);
    assert!(refused.contains("a person played mahdist; name an agent with --against"), "{refused}");
    let other = ["--side", "egyptian", "--against", "random:seed=3"];
    takes_over(&other, "\nseat: egyptian human\nseat: mahdist random:seed=3\n");
    for (arguments, expected) in [
        (&["--side", "sudanese"][..], "--side: 'sudanese' is no side"),
        (&["--side", "mahdist", "--against", "gordon"], "--against: unknown agent 'gordon'"),
        (&["--against", "random"], "--side <SIDE>"),
    ] {
        let refused = refusal(&[&["play", "--resume", &fork], arguments].concat());
        assert!(refused.contains(expected), "{refused}");
    }
}

/// Whatever ends the program, what was played up to the question that it asked is in the record.
#[test]
fn a_record_is_kept_from_order_to_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let name = path.to_str().expect("UTF-8");
    let mut child = Command::new(binary())
        .args(["play", "--scenario", "pig", "--side", "first", "--seed", "3", "--record", name])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("dervish starts");
    child.stdin.as_mut().expect("a pipe").write_all(b"roll\n").expect("it reads");
    let begun = Instant::now();
    while !fs::read_to_string(&path).is_ok_and(|record| record.contains("first roll\n")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it waits");
    child.wait().expect("it ends");
    assert!(fs::read_to_string(&path).expect("a record").ends_with("\nunfinished\n"));
    assert!(dervish(&["replay", name]).status.success());
}

/// Of two programs that go on with one game the later one to write is told, and nothing of the other's is lost.
#[test]
fn a_record_that_was_changed_meanwhile_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("game.record");
    let name = path.to_str().expect("UTF-8");
    sitting(&["--scenario", "pig", "--side", "first", "--seed", "1", "--record", name], "1\nq\n");
    let left = fs::read_to_string(&path).expect("a record");
    let mut slow = Command::new(binary())
        .args(["play", "--resume", name])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut output = slow.stdout.take().expect("piped");
    let mut seen = Vec::new();
    // It asks: so it has read the record.
    while !seen.ends_with(b"> ") {
        let mut byte = [0];
        output.read_exact(&mut byte).expect("a question");
        seen.extend(byte);
    }
    let fast = dervish_reading(&["play", "--resume", name], b"1\n1\nq\n");
    assert!(fast.status.success(), "{}", String::from_utf8_lossy(&fast.stderr));
    let kept = fs::read_to_string(&path).expect("a record");
    assert!(kept.len() > left.len());
    slow.stdin.take().expect("piped").write_all(b"1\nq\n").expect("it reads");
    output.read_to_end(&mut seen).expect("it ends");
    let ended = slow.wait_with_output().expect("it ends");
    let line = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!((ended.status.code(), line.lines().count()), (Some(2), 1), "{line}");
    assert!(line.contains(name) && line.contains("another program has changed it"), "{line}");
    assert_eq!(fs::read_to_string(&path).expect("a record"), kept);
}

/// A game that was kept is not written over, by whatever comes of the new one.
#[test]
fn a_record_that_exists_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let arguments = [&["play"], &SETUP[..], &["--record", path.to_str().expect("UTF-8")]].concat();
    for mine in ["mine", ""] {
        fs::write(&path, mine).expect("written");
        let line = refusal(&arguments);
        assert!(line.contains("--record: ") && line.contains("game.record exists; name a new file"), "{line}");
        assert_eq!(fs::read_to_string(&path).expect("mine"), mine);
    }
    // Nor is a folder, or what a link leads to.
    fs::remove_file(&path).expect("a file");
    fs::create_dir(&path).expect("a folder");
    assert!(refusal(&arguments).contains("exists; name a new file"));
    #[cfg(unix)]
    {
        let target = folder.path().join("target");
        fs::remove_dir(&path).expect("a folder");
        std::os::unix::fs::symlink(&target, &path).expect("a link");
        assert!(refusal(&arguments).contains("exists; name a new file") && !target.exists());
    }
}

/// `replay --steps` tells of each roll and order what the person was told of it, and marks the player turns: set-up, and two in
/// each of the five game turns of scenario 3 (3.1).
#[test]
fn a_replay_tells_what_play_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let name = path.to_str().expect("UTF-8");
    let game = [&SETUP[..], &["--against", "doctrine", "--seed", "1", "--record", name]].concat();
    let played = sitting(&game, "1\n".repeat(20_000));
    let replayed = String::from_utf8(dervish(&["replay", name, "--steps"]).stdout).expect("UTF-8");
    let told = |output: &str| -> Vec<String> {
        let lines = output.lines().map(|line| line.strip_prefix("> ").unwrap_or(line));
        let lines = lines.filter(|line| line.starts_with("  "));
        let changes = ["(9.6)", "movement points reach", " loses ", " controls ", "mahdist_spearmen come"];
        lines.filter(|line| changes.iter().any(|change| line.contains(change))).map(str::to_owned).collect()
    };
    assert_eq!(told(&replayed), told(&played));
    assert!(told(&replayed).len() > 10, "{replayed}");
    let turns: Vec<&str> = replayed.lines().filter(|line| line.starts_with("== ")).collect();
    assert_eq!(turns.len(), 11, "{turns:?}");
    assert_eq!(turns[0], "== game turn 1 of 5, 1884-02, mahdist player, set-up ==");
    assert_eq!(replayed.lines().next(), Some(turns[0]));
    assert!(turns[10].starts_with("== game turn 5 of 5, 1884-06, "), "{turns:?}");
}

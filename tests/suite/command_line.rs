//! What all commands have alike: numbers below zero, help, and outputs that nobody reads.

use crate::dervish_binary::{binary, dervish_unheard, refusal};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// Every option that takes a number says itself which it takes.
#[test]
fn negative_numbers_are_refused_by_the_name_of_their_option() {
    let game = ["match", "random", "random:seed=1", "--scenario", "pig"];
    for (more, told) in [
        (&["--games", "-2"][..], "'-2' for '--games <"),
        (&["--games", "2", "--seed", "-1"], "'-1' for '--seed <"),
        (&["--games", "2", "--time", "-1"], "'-1' for '--time <"),
        (&["--games", "2", "--turn-time", "-0.5"], "'-0.5' for '--turn-time <"),
    ] {
        let line = refusal(&[&game[..], more].concat());
        assert!(line.contains(told), "{line}");
    }
    let line = refusal(&["study", "no-such-study.toml", "--minutes", "-1"]);
    assert!(line.contains("'-1' for '--minutes <"), "{line}");
}

#[test]
fn help_goes_where_other_output_goes() {
    for help in [&["--help"][..], &["--version"], &["match", "--help"]] {
        // A reader that has gone away has seen enough.
        let output = dervish_unheard(help, b"");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let full = Path::new("/dev/full");
        if full.exists() {
            let full = File::options().write(true).open(full).expect("a device");
            let output = Command::new(binary()).args(help).stdout(full).output().expect("dervish runs");
            let told = String::from_utf8(output.stderr).expect("UTF-8");
            assert_eq!(output.status.code(), Some(2), "{help:?}: {told}");
            assert!(told.starts_with("dervish: standard output: No space left on device"), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
}

/// Connect four has no dice, of which the command says so on standard error.
#[test]
fn work_goes_on_where_nobody_reads_standard_error() {
    let arguments = ["match", "random", "random:seed=1", "--scenario", "connect-four", "--games", "2", "--luck"];
    let mut command = Command::new(binary());
    let piped = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("dervish starts");
    drop(child.stderr.take());
    let output = child.wait_with_output().expect("dervish ends");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Elo of A minus B"), "{output:?}");
}

//! The `dervish` binary, run as a user runs it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

/// The binary beside these tests. `make test` builds it first, since cargo builds no binary of another package for
/// tests; where it is missing it is built here, without libtorch.
static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("the test binary has a path");
    let profile = test.ancestors().nth(2).expect("it lies in PROFILE/deps");
    let binary = profile.join(format!("dervish{}", std::env::consts::EXE_SUFFIX));
    if !binary.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "dervish-training", "--bin", "dervish"]);
        build.arg("--target-dir").arg(profile.parent().expect("the profile lies in the target folder"));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success(), "dervish does not build");
    }
    binary
});

/// Where the binary is.
pub fn binary() -> &'static Path {
    &BINARY
}

/// Runs `dervish` with these arguments.
pub fn dervish(args: &[&str]) -> Output {
    Command::new(&*BINARY).args(args).output().expect("dervish runs")
}

/// Runs `dervish` with these arguments in this folder.
pub fn dervish_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(&*BINARY).args(args).current_dir(folder).output().expect("dervish runs")
}

/// Runs `dervish` with these arguments and this standard input.
pub fn dervish_reading(args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(&*BINARY);
    let piped = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("dervish starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        // Beside the reading of its output, so that no full pipe stops either; it may end before it has read all.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("dervish ends")
    })
}

/// Runs `dervish` with these arguments and this standard input, while nobody reads what it prints.
pub fn dervish_unheard(args: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(&*BINARY);
    let piped = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("dervish starts");
    drop(child.stdout.take());
    // It may end before it has read all.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("dervish ends")
}

/// Starts `dervish` with these arguments and leaves it running, its output piped.
pub fn start(args: &[&str]) -> Child {
    Command::new(&*BINARY).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("dervish starts")
}

/// Standard output of a run that succeeds, as JSON.
pub fn json_of(args: &[&str]) -> serde_json::Value {
    let output = dervish(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{args:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The line on standard error of a run that is refused: status 2, one line, nothing on standard output.
pub fn refusal(args: &[&str]) -> String {
    refusal_of(args, dervish(args))
}

/// As [`refusal`], of a run that was given this standard input.
pub fn refusal_reading(args: &[&str], input: &[u8]) -> String {
    refusal_of(args, dervish_reading(args, input))
}

fn refusal_of(args: &[&str], output: Output) -> String {
    let line = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(line.starts_with("dervish: ") && line.ends_with('\n') && line.matches('\n').count() == 1, "{line:?}");
    line
}

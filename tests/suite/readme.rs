//! The commands that README shows.

use std::env::{join_paths, split_paths, var_os};
use std::path::Path;
use std::process::{Command, Output};

use crate::dervish_binary::binary;

/// The commands of the code blocks, without their comments; of those that need libtorch only where it is there.
fn commands() -> Vec<&'static str> {
    let blocks = include_str!("../../README.md").split("```").skip(1).step_by(2);
    let commands = blocks.flat_map(str::lines).filter(|line| line.starts_with("dervish "));
    let commands = commands.map(|line| line.split("  #").next().unwrap_or(line).trim_end());
    let needs_libtorch = |command: &str| ["train", "export"].contains(&command.split(' ').nth(1).unwrap_or_default());
    commands.filter(|command: &&str| cfg!(feature = "torch") || !needs_libtorch(command)).collect()
}

/// Runs a command as a person does, in a folder of its own.
fn in_shell(folder: &Path, command: &str) -> Output {
    let programs = binary().parent().expect("the binary lies in a folder");
    let others = var_os("PATH").unwrap_or_default();
    let path = join_paths([programs.to_path_buf()].into_iter().chain(split_paths(&others))).expect("names of folders");
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", path).output().expect("a shell runs")
}

/// Help is shown as soon as it is come to: what stands before it has been read, each value for itself.
#[test]
fn every_command_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = commands();
    assert!(all.len() > 25, "{all:?}");
    for command in all {
        let output = in_shell(folder.path(), &format!("{command} --help"));
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A directory that is taken is refused last, after all that is asked of the run has been found right.
#[cfg(feature = "torch")]
#[test]
fn every_training_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("taken"), "").expect("written");
    let new_runs = commands().into_iter().filter(|command| command.starts_with("dervish train "));
    let new_runs: Vec<&str> = new_runs.filter(|command| !command.contains(" --resume ")).collect();
    assert!(new_runs.len() > 4, "{new_runs:?}");
    for command in new_runs {
        let asked = command.split(" --out ").next().unwrap_or(command);
        let printed = asked.contains(" --print-config");
        let output = in_shell(folder.path(), &if printed { asked.to_owned() } else { format!("{asked} --out taken") });
        let told = String::from_utf8_lossy(&output.stderr);
        let accepted = if printed { output.status.success() } else { told.contains("taken: already exists") };
        assert!(accepted, "{command}: {told}");
    }
}

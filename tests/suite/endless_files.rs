//! Files that have no end or are no text: refused, and not read into all the memory there is.

use std::io::{self, Read};

use dervish_env::persist::{LONGEST_TEXT, read_text_from};

use crate::dervish_binary::refusal;

#[test]
fn a_text_is_read_up_to_its_bound() {
    let endless = read_text_from(io::repeat(b'a')).expect_err("has no end");
    assert_eq!((endless.kind(), endless.to_string()), (io::ErrorKind::FileTooLarge, "longer than 64 MiB".to_string()));
    let longest = read_text_from(io::repeat(b'a').take(LONGEST_TEXT)).expect("just short enough");
    assert_eq!(longest.len() as u64, 64 * 1024 * 1024);
    let bytes = read_text_from(&b"a\xff"[..]).expect_err("no text");
    assert_eq!((bytes.kind(), bytes.to_string()), (io::ErrorKind::InvalidData, "not UTF-8 text".to_string()));
}

#[cfg(unix)]
#[test]
fn every_command_refuses_a_file_without_end() {
    for arguments in [
        &["agents", "--scenario", "/dev/zero"][..],
        &["battle", "/dev/zero"],
        &["perft", "/dev/zero", "1"],
        &["perft", "--update", "/dev/zero"],
        &["position", "check", "/dev/zero"],
        &["regret", "/dev/zero"],
        &["replay", "/dev/zero"],
        &["match", "doctrine:weights=/dev/zero", "random", "--scenario", "souakim", "--games", "2"],
    ] {
        let line = refusal(arguments);
        assert!(line.contains("/dev/zero: ") && line.contains("longer than 64 MiB"), "{arguments:?}: {line}");
    }
}

//! Files that are written whole: what they replace and what they leave alone.

use dervish_env::persist::write_whole;
use std::fs;

#[cfg(unix)]
#[test]
fn a_link_is_written_through() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "old").expect("written");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    write_whole(&link, b"new").expect("written");
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&file).expect("a file"), "new");
    // A link to what is not there yet is replaced, like anything that leads nowhere.
    fs::remove_file(&file).expect("removed");
    write_whole(&link, b"newer").expect("written");
    assert_eq!(fs::read_to_string(&link).expect("a file"), "newer");
}

/// What was closed to others stays so, and what was open stays open, whatever the umask says.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("file");
    for mode in [0o600, 0o666, 0o751] {
        fs::write(&path, "old").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("our file");
        write_whole(&path, b"new").expect("written");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, mode);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "new");
    }
    // What may not be written is not replaced either; a superuser may write everything.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("our file");
    if fs::OpenOptions::new().append(true).open(&path).is_err() {
        let error = write_whole(&path, b"newer").expect_err("not writable");
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "new");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// A pipe stands for devices and sockets, which a test should not put at risk.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    for taken in [&pipe, folder.path()] {
        let error = write_whole(taken, b"text").expect_err("no file");
        assert_eq!(
            (error.kind(), error.to_string()),
            (std::io::ErrorKind::InvalidInput, "is there already and no file".into())
        );
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

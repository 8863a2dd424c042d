//! What is refused, and why.

use std::path::{Path, PathBuf};

use dervish_env::dervish::data_file::DataError;
use dervish_env::dervish::position_file::PositionFile;

/// Each `NAME.json` of `data/bad_positions` has beside it `NAME.faults`, a line `LINE: REASON` for each fault, with `-`
/// for no line: just these are found, in this order.
#[test]
fn bad_positions_are_refused_with_line_and_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/bad_positions");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert!(files.len() > 80, "only {} files", files.len());
    let mut wrong = String::new();
    for path in files {
        let expected = std::fs::read_to_string(path.with_extension("faults")).unwrap();
        let faults = PositionFile::load(&path).err().unwrap_or_default();
        let line = |fault: &DataError| fault.line.map_or("-".to_owned(), |line| line.to_string());
        let found: String = faults.iter().map(|fault| format!("{}: {}\n", line(fault), fault.reason)).collect();
        // A scenario is looked for beside the file.
        let found = found.replace(&format!("{}/", folder.display()), "");
        if found != expected || expected.is_empty() {
            wrong += &format!("{}\n  expected {expected}\n  found {found}\n", path.display());
        }
        // One line each, and the file is named.
        for fault in faults {
            let told = fault.to_string();
            let file = path.display().to_string();
            assert!(!told.contains('\n') && told.starts_with(&file), "{told}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

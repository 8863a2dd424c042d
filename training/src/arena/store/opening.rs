//! Making and opening a file of results, and what is held against one that is opened.

use super::error::sql_fault;
use super::schema::{OLDEST_VERSION, SCHEMA_VERSION, name_of, tables_of, version_of};
use super::{Store, StoreError};
use dervish_env::persist::UNFINISHED;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, OptionalExtension};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// What marks a file as ours, SQLite's `application_id`: `DRVS`.
const APPLICATION_ID: u32 = u32::from_be_bytes(*b"DRVS");

impl Store {
    /// Opens the file to write into it, and makes it first, with its folder, if there is none.
    ///
    /// # Errors
    /// [`StoreError`]; a file that is not ours, broken, or of another version is left as it was.
    pub fn open_or_create(path: &Path) -> Result<Store, StoreError> {
        let there = Store::open_if_there(path)?;
        there.map_or_else(|| create(path).and_then(|()| Store::open_to_write(path)), Ok)
    }

    /// Opens the file to write into it; `None` if there is none.
    ///
    /// # Errors
    /// As [`Store::open_or_create`].
    pub fn open_if_there(path: &Path) -> Result<Option<Store>, StoreError> {
        let there = path.try_exists().map_err(|source| StoreError::Io { path: path.to_path_buf(), source })?;
        there.then(|| Store::open_to_write(path)).transpose()
    }

    fn open_to_write(path: &Path) -> Result<Store, StoreError> {
        let store = Store::open(path)?;
        if store.is_read_only() { Err(StoreError::ReadOnly { path: path.to_path_buf() }) } else { Ok(store) }
    }

    /// Opens a file that is there, to be read alone where it cannot be written.
    ///
    /// # Errors
    /// As [`Store::open_or_create`], and if there is no such file.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        check_header(path)?;
        // Behind a folder's name, SQLite takes `:memory:` and `file:...` for the file names that they are here.
        match Store::connect(path, &Path::new(".").join(path), OpenFlags::SQLITE_OPEN_READ_WRITE) {
            Err(StoreError::Sql { source, .. }) if wants_to_write(&source) => Store::open_unchanging(path),
            opened => opened,
        }
    }

    /// Opens a file beside which no journal can be made: as one that nobody changes, of which SQLite reads no journal.
    fn open_unchanging(path: &Path) -> Result<Store, StoreError> {
        let file = path.canonicalize().map_err(|source| StoreError::Io { path: path.to_path_buf(), source })?;
        let mut journal = file.clone().into_os_string();
        journal.push("-wal");
        if fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0) {
            return Err(StoreError::Journal { path: path.to_path_buf(), journal: journal.into() });
        }
        let bytes: String = file.as_os_str().as_encoded_bytes().iter().map(|byte| format!("%{byte:02x}")).collect();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Store::connect(path, Path::new(&format!("file:{bytes}?immutable=1")), flags)
    }

    /// Opens the file by the name that SQLite is given for it, and checks it.
    fn connect(path: &Path, name: &Path, flags: OpenFlags) -> Result<Store, StoreError> {
        let failed = sql_fault(path);
        let connection = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(&failed)?;
        connection.busy_timeout(Duration::from_secs(30)).map_err(&failed)?;
        let damaged = |what: String| StoreError::Damaged { path: path.to_path_buf(), what };
        let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(&failed)?;
        if sound != "ok" {
            return Err(damaged(sound.lines().last().unwrap_or_default().to_string()));
        }
        let version = version_of(&connection).map_err(&failed)?;
        for table in tables_of(version) {
            let known = connection
                .query_row("SELECT 1 FROM sqlite_schema WHERE sql = ?1", [table], |_| Ok(()))
                .optional()
                .map_err(&failed)?;
            if known.is_none() {
                return Err(damaged(format!("table {} is missing or not that of version {version}", name_of(table))));
            }
        }
        // A trigger would do to the tables what somebody else has thought of.
        let trigger = connection
            .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'trigger'", [], |_| Ok(()))
            .optional()
            .map_err(&failed)?;
        if trigger.is_some() {
            return Err(StoreError::Foreign { path: path.to_path_buf() });
        }
        let dangling = connection
            .query_row("PRAGMA foreign_key_check", [], |row| Ok([row.get::<_, String>(0)?, row.get(2)?]))
            .optional()
            .map_err(&failed)?;
        if let Some([table, parent]) = dangling {
            return Err(damaged(format!("a row of table {table} names one of table {parent} that is missing")));
        }
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(&failed)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(&failed)?;
        Ok(Store { path: path.to_path_buf(), connection })
    }

    /// Whether the file, or its folder, cannot be written.
    pub fn is_read_only(&self) -> bool {
        // SQLite does not know of a database only if it has none of that name.
        self.connection.is_readonly(MAIN_DB).unwrap_or(true)
    }
}

/// Makes the file with its tables, and its folder, under a temporary name and renames it, unless another process was faster.
fn create(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { path: path.to_path_buf(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let _lock = sweep(folder).map_err(failed)?;
    let prefix = unfinished();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The error itself names the temporary file, which tells nobody anything.
    let file = builder.tempfile_in(folder).map_err(|error| failed(error.kind().into()))?;
    let fill = || {
        let connection = Connection::open(file.path())?;
        connection.execute_batch(&format!("BEGIN; {}; COMMIT", tables_of(SCHEMA_VERSION).join("; ")))?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        // With a write-ahead log a pair costs no wait for the disk, and neither a killed process nor a crash breaks it.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.close().map_err(|(_, error)| error)
    };
    fill().map_err(sql_fault(path))?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error.error)),
        _ => Ok(()),
    }
}

/// What the names of files of results begin with that are still being made, and of the journals beside them.
fn unfinished() -> String {
    format!("{UNFINISHED}-results-")
}

/// Removes what programs left in a folder that were killed while they made a file of results there, unless one is making
/// one now. None does so as long as the folder that is returned is open; where folders cannot be locked, none ever does.
fn sweep(folder: &Path) -> io::Result<Option<File>> {
    let Ok(lock) = File::open(folder) else { return Ok(None) };
    if lock.try_lock().is_ok() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(unfinished().as_bytes()) {
                // What belongs to somebody else may have to stay.
                let _ = fs::remove_file(entry.path());
            }
        }
        lock.unlock()?;
    }
    // Another one sweeps for a moment. Who has the lock for longer is no such program, and keeps them all from sweeping.
    for _ in 0..5 {
        if lock.try_lock_shared().is_ok() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(Some(lock))
}

/// Whether SQLite failed because it cannot write what it needs to read, such as a journal.
fn wants_to_write(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Reads what the file says it is, before SQLite sees it: SQLite's mark at byte 0, the version of the tables at byte 60
/// and the application at byte 68 (SQLite, *Database File Format*, 1.3).
fn check_header(path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::Io { path: path.to_path_buf(), source };
    let mut header = Vec::with_capacity(100);
    File::open(path).map_err(failed)?.take(100).read_to_end(&mut header).map_err(failed)?;
    let number = |at: usize| header[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Err(StoreError::NotSqlite { path: path.to_path_buf() });
    }
    if number(68) != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.to_path_buf() });
    }
    if !(OLDEST_VERSION..=SCHEMA_VERSION).contains(&number(60)) {
        return Err(StoreError::Version { path: path.to_path_buf(), version: number(60) });
    }
    Ok(())
}

//! Files that appear whole or not at all, texts and documents that are read whole, and folders that one program has to itself.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::{self, DirEntry, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The longest text that is read, in bytes: far beyond every file of ours, and little memory.
pub const LONGEST_TEXT: u64 = 64 << 20;

/// Reads a text file whole.
///
/// # Errors
/// As [`read_text_from`], and if there is no such file.
pub fn read_text(path: &Path) -> io::Result<String> {
    read_text_from(File::open(path)?)
}

/// Reads `source` to its end as text.
///
/// # Errors
/// Whatever the file system says; [`io::ErrorKind::FileTooLarge`] beyond [`LONGEST_TEXT`], so that a device or a pipe
/// without end does not fill the memory; [`io::ErrorKind::InvalidData`] for what is not UTF-8.
pub fn read_text_from(source: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(LONGEST_TEXT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_TEXT {
        let reason = format!("longer than {} MiB", LONGEST_TEXT >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text"))
}

/// Reads a JSON document that says its version, in its field `version` or `format`. Another version may have other
/// fields, so it is told apart before any of them is read.
///
/// # Errors
/// [`DocumentFault`].
pub fn read_document<T: DeserializeOwned>(path: &Path, known: u32) -> Result<T, DocumentFault> {
    #[derive(Deserialize)]
    struct Versioned {
        #[serde(alias = "format")]
        version: u64,
    }
    let text = read_text(path)?;
    let Versioned { version } = serde_json::from_str(&text)?;
    if version != u64::from(known) {
        return Err(DocumentFault::Version(version));
    }
    Ok(serde_json::from_str(&text)?)
}

/// Why a document was not read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is not the document, by its text.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is of this version, which is not the one that is read.
    #[error("version {0} is not read by this program")]
    Version(u64),
}

/// Name of the file by whose lock a program keeps a folder to itself.
pub const LOCK: &str = "lock";

/// Keeps a folder to this program as long as the file that is returned is open; `None` if another one has it, at each of
/// `tries` looks twenty milliseconds apart.
///
/// # Errors
/// Whatever the file system says.
pub fn lock_folder(folder: &Path, tries: usize) -> io::Result<Option<File>> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK))?;
    for attempt in 1..=tries {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if attempt < tries => thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(None)
}

/// What the names of files begin with that are still being written; a program that is killed leaves them.
pub const UNFINISHED: &str = ".tmp";

/// Whether it is a file that is still being written, or was when its program was killed.
///
/// # Errors
/// Whatever the file system says.
pub fn is_unfinished(entry: &DirEntry) -> io::Result<bool> {
    Ok(entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) && entry.file_type()?.is_file())
}

/// Removes from a folder what programs left there that were killed while they wrote files. It is for who has the folder to
/// himself: another program may be writing one now.
///
/// # Errors
/// Whatever the file system says.
pub fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_unfinished(&entry)? {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Writes `bytes` to a temporary file beside `path` and renames it, so that a reader, a crash or a full disk never sees
/// half a file. An existing file is replaced, one behind a link where it is; the new one has its permissions.
///
/// # Errors
/// Whatever the file system says; [`io::ErrorKind::InvalidInput`] where something is that is no file, such as a device;
/// [`io::ErrorKind::PermissionDenied`] where a file is that may not be written. What is at `path` is then as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let behind_link = if path.is_symlink() { path.canonicalize().ok() } else { None };
    let path = behind_link.as_deref().unwrap_or(path);
    if path.exists() && !path.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is there already and no file"));
    }
    let replaced = path.exists().then(|| permissions_to_write(path)).transpose()?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
    // Temporary files are private by default; what is kept follows the user's umask like any other file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    // Before there is anything to read in it.
    if let Some(permissions) = replaced {
        file.as_file().set_permissions(permissions)?;
    }
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The permissions of a file that may be written. To put another in its place, its folder alone would have to be writable.
fn permissions_to_write(path: &Path) -> io::Result<Permissions> {
    Ok(OpenOptions::new().append(true).open(path)?.metadata()?.permissions())
}

//! Files that appear whole or not at all.

use std::io::{self, Write};
use std::path::Path;

/// Writes `bytes` to a temporary file beside `path` and renames it, so that a reader, a crash or a full disk never sees
/// half a file. An existing file is replaced.
///
/// # Errors
/// Whatever the file system says; the file at `path` is then as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    // Temporary files are private by default; what is kept follows the user's umask like any other file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

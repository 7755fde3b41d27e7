//! The file of an anchor.
//!
//! - replaced-whole: it is replaced as a whole or not at all, and only an anchor of the same
//!   database is replaced.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use selenite_cipher::DatabaseId;
use selenite_format::anchor::{Seal, is_anchor};

use crate::EngineError;
use crate::draft::{beside, sync_folder};
use crate::error::io_error;
use crate::storage::Storage;

/// Reads an anchor. Of any other file only the beginning is read: the path may be that of a database.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, EngineError> {
    let mut bytes = vec![0; 64];
    let mut file = File::open(path).map_err(io_error("read", path))?;
    let count = file.read(&mut bytes).map_err(io_error("read", path))?;
    bytes.truncate(count);
    if is_anchor(&bytes) {
        file.read_to_end(&mut bytes).map_err(io_error("read", path))?;
    }
    Ok(bytes)
}

/// `replaced-whole`: refuses a path that holds anything but an anchor of this database.
pub(crate) fn check_room(path: &Path, database_id: DatabaseId) -> Result<(), EngineError> {
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(EngineError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    match Seal::find(&bytes) {
        Ok(seal) if seal.database_id == database_id => Ok(()),
        Ok(_) | Err(_) => Err(EngineError::Exists {
            path: path.to_owned(),
            can_force: false,
        }),
    }
}

/// `replaced-whole`: writes an anchor and syncs it.
pub(crate) fn write(storage: &dyn Storage, path: &Path, text: &str) -> Result<(), EngineError> {
    let mut tail = [0; 4];
    selenite_keyring::os_random(&mut tail);
    let draft = beside(path, &format!(".selenite-tmp-{:08x}", u32::from_be_bytes(tail)));
    let written = write_new(&draft, text)
        .map_err(io_error("write", &draft))
        .and_then(|()| storage.rename(&draft, path).map_err(io_error("write", path)));
    if written.is_err() {
        // A draft that cannot be removed is harmless: it is never read as an anchor.
        let _ = storage.remove(&draft);
    }
    written?;
    sync_folder(storage, path)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

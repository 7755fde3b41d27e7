//! Exports a database into SQLCipher's format, for applications that have only that.
//!
//! As a decryption to a new file, but that nothing is unencrypted on disk: SQLite writes the new file
//! by the VFS `selenite-codec`, and reads it by the same VFS to compare every value.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use selenite_codec::{Codec, Format, Key, SALT_SIZE};
use selenite_keyring::os_random;

use crate::codec_source::SourcePages;
use crate::codec_vfs::{self, ExportTarget, ImportSource};
use crate::conversion::{self, Conversion, Copied};
use crate::draft::Draft;
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::superblock_file::inspect;
use crate::transfer::{self, SourceLayout};
use crate::{Access, Database, EngineError, Outcome, Watch, sqlite};

/// The format and the key of the exported database.
pub struct Export {
    /// The format: SQLCipher with a MAC.
    pub format: Format,
    /// The key; its salt is random unless it has one.
    pub key: Key,
}

/// Exports the database at `path` into a new file at `target` that only its owner can read. Readers
/// continue, and writers wait. The outcome has no key slots.
///
/// # Errors
/// [`EngineError::Usage`] if the format is another one; otherwise as a decryption.
pub fn export(
    storage: &dyn Storage,
    (path, target): (&Path, &Path),
    access: &Access,
    how: &Export,
    watch: &Watch,
) -> Result<(Outcome, Format), EngineError> {
    let started = Instant::now();
    sqlite::install()?;
    codec_vfs::register()?;
    access.check()?;
    let path = conversion::real_path(storage, path)?;
    inspect(storage, &path)?.sealed(&path)?;
    access.require()?;
    if !how.format.is_exportable() {
        return Err(EngineError::usage(
            format!("{}: not a format to export to", how.format),
            "choose sqlcipher4, sqlcipher3 or sqlcipher2, with a MAC and without a plaintext header",
        ));
    }
    let conversion = Conversion {
        storage,
        path: &path,
        source: access.clone(),
        target: &crate::Target::New(target.to_owned()),
        new_mode: Some(OWNER_ONLY),
        watch,
    };
    let mut format = how.format.clone();
    let outcome = conversion.run(|source, draft| {
        let layout = SourceLayout::of(source.database)?;
        format = sized(&how.format, layout.page_bytes)?;
        copy(storage, (source.database, &layout), draft, (&format, &how.key), watch)
    })?;
    let outcome = Outcome {
        elapsed: started.elapsed(),
        ..outcome
    };
    Ok((outcome, format))
}

/// The format with the page size of the database, which VACUUM INTO keeps.
fn sized(format: &Format, page_bytes: u32) -> Result<Format, EngineError> {
    if format.page_size().is_some_and(|size| size != page_bytes) {
        return Err(EngineError::usage(
            format!("the database has pages of {page_bytes} bytes"),
            format!("export it with these: --set cipher_page_size={page_bytes}"),
        ));
    }
    let mut format = format.clone();
    format.set_page_size(page_bytes);
    Ok(format)
}

fn copy(
    storage: &dyn Storage,
    (database, layout): (&mut Database, &SourceLayout),
    draft: &Draft<'_>,
    (format, key): (&Format, &Key),
    watch: &Watch,
) -> Result<Copied, EngineError> {
    let page_size = usize::try_from(layout.page_bytes).unwrap_or(usize::MAX);
    watch.waiting(&format!("deriving the key: {format}"));
    let mut salt = [0; SALT_SIZE];
    os_random(&mut salt);
    let derive = |head: &[u8]| {
        let codec = Codec::derive(format, key, head);
        codec.ok_or_else(|| EngineError::usage("the raw key has another size", "give a raw key of 32 bytes"))
    };
    let target = ExportTarget::new(derive(&salt)?, page_size);
    transfer::vacuum_into(database, layout.size, draft.path(), &target.uri(draft.path()), watch)?;

    let source = Arc::new(ImportSource::default());
    let mut copy = Database::connect(draft.path(), &source.uri(draft.path()), &Access::default())?;
    // Opened after SQLite's descriptor, and dropped with `source`, after the connection.
    let file = RawFile::open_unasked(storage, draft.path())?;
    let mut head = [0; SALT_SIZE];
    file.read_at(&mut head, 0)?;
    let codec = derive(&head)?;
    source.set(SourcePages::load(
        (storage, draft.path()),
        file,
        (codec, layout.page_bytes),
        watch,
    )?);
    let compared = transfer::compare(database, &mut copy, layout.size, watch);
    copy.close()?;
    let bad = source.bad_pages();
    if !bad.is_empty() {
        return Err(EngineError::CopyDiffers {
            what: format!(
                "{} of its pages are not authentic: the disk did not store them correctly",
                bad.len()
            ),
        });
    }
    Ok(Copied::by_values(&compared?))
}

const OWNER_ONLY: u32 = 0o600;

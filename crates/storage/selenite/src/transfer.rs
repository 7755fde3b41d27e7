//! Copies a database: by VACUUM INTO, compared with its source, in the source's journal mode.
//!
//! The pages of an unencrypted SQLite file have no reserved bytes, so encryption needs a new
//! layout. VACUUM INTO does that and keeps rowids (DBFLAG_VacuumInto in insert.c), which a plain
//! VACUUM does not promise.

use std::path::{Path, PathBuf};

use selenite_format::{AutoVacuum, PageSize, RESERVE};

use crate::content_digest::ContentDigest;
use crate::draft::Draft;
use crate::file_uri::FileUri;
use crate::sqlite_error::translate_either;
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Watch};

/// The layout of a source.
pub struct SourceLayout {
    /// The size of its pages.
    pub page_bytes: u32,
    /// The page size of an encrypted copy: 512 becomes 1024, since SQLite needs 480 bytes of a
    /// page.
    pub page_size: PageSize,
    /// The source's auto-vacuum mode.
    pub auto_vacuum: AutoVacuum,
    /// The source's size in bytes.
    pub size: u64,
}

impl SourceLayout {
    /// Reads it.
    pub fn of(source: &Database) -> Result<Self, EngineError> {
        let page_bytes = u32::try_from(source.number("PRAGMA main.page_size")?).unwrap_or(0);
        let page_count = source.number("PRAGMA main.page_count")?;
        let auto_vacuum = match source.number("PRAGMA main.auto_vacuum")? {
            1 => AutoVacuum::Full,
            2 => AutoVacuum::Incremental,
            _ => AutoVacuum::None,
        };
        let page_size = PageSize::try_from(page_bytes).unwrap_or(PageSize::MIN);
        Ok(Self {
            page_bytes,
            page_size,
            auto_vacuum,
            size: page_count * u64::from(page_bytes),
        })
    }
}

/// Copies an unencrypted source into an encrypted target with the layout in `uri`.
pub fn copy_encrypted(
    (storage, access): (&dyn Storage, &Access),
    source: &mut Database,
    layout: &SourceLayout,
    (target, uri): (&Path, &FileUri),
    watch: &Watch,
) -> Result<(), EngineError> {
    if layout.page_bytes == layout.page_size.as_u32() {
        source.text(&format!("SELECT selenite_reserve('main', {RESERVE})"))?;
        return vacuum_into(source, layout.size, target, uri, watch);
    }
    // VACUUM INTO begins with the source's page size, which the target can't have, so the first
    // copy has another one. It is unencrypted, so it is created beside the source.
    let source_path = source.path().to_owned();
    let wider = Draft::create(storage, &source_path)?;
    source.batch(&format!("PRAGMA main.page_size = {}", layout.page_size))?;
    let wider_uri = access.plain_uri(wider.path());
    vacuum_into(source, layout.size, wider.path(), &wider_uri, watch)?;
    let access = access.allowing_plain();
    let mut between = Database::connect(wider.path(), &access.uri(wider.path()), &access)?;
    between.text(&format!("SELECT selenite_reserve('main', {RESERVE})"))?;
    vacuum_into(&mut between, layout.size, target, uri, watch)?;
    between.close()
}

/// Copies an encrypted source into an unencrypted target.
pub fn copy_decrypted(
    access: &Access,
    source: &mut Database,
    layout: &SourceLayout,
    target: &Path,
    watch: &Watch,
) -> Result<(), EngineError> {
    vacuum_into(source, layout.size, target, &access.plain_uri(target), watch)
}

/// Copies `source` by VACUUM INTO the file that `uri` describes.
pub fn vacuum_into(
    source: &mut Database,
    total: u64,
    target: &Path,
    uri: &FileUri,
    watch: &Watch,
) -> Result<(), EngineError> {
    watch.check()?;
    let (stop, file): (Watch, PathBuf) = (watch.clone(), target.to_owned());
    source.on_progress(move || {
        // stat, not open: closing it again would drop SQLite's locks.
        let done = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        stop.report(Phase::Copying, done.min(total), total);
        stop.is_interrupted()
    })?;
    let copied = source.connection().execute("VACUUM main INTO ?1", [uri.as_str()]);
    copied.map_err(|error| advise(translate_either(error, source.path(), Some(target))))?;
    watch.report(Phase::Copying, total, total);
    Ok(())
}

/// An index may use a collation or function that only the database's application has.
fn advise(mut error: EngineError) -> EngineError {
    if let EngineError::Sqlite { what, next, .. } = &mut error
        && next.is_empty()
        && what.contains("no such ")
    {
        next.push_str(
            "only its application has this: load selenite there, run SELECT selenite_reserve('main', 48), then \
             VACUUM INTO 'file:NEW?vfs=selenite' (SQLite before 3.53: VACUUM, then its backup API to such a file)",
        );
    }
    error
}

/// Compares a copy with its source; reads both at the same time.
pub fn compare(
    source: &mut Database,
    copy: &mut Database,
    total: u64,
    watch: &Watch,
) -> Result<ContentDigest, EngineError> {
    let quiet = Watch::quiet(watch);
    let (of_source, of_copy) = std::thread::scope(|scope| {
        let other = scope.spawn(|| ContentDigest::of(copy, &quiet, total));
        let of_source = ContentDigest::of(source, watch, total);
        (of_source, other.join())
    });
    let of_source = of_source?;
    let of_copy = of_copy.map_err(|_| EngineError::CopyDiffers {
        what: "its comparison ended with a bug in selenite: report this".to_owned(),
    })??;
    of_source.compare(&of_copy)?;
    Ok(of_source)
}

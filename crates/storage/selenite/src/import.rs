//! Imports a database that SQLCipher or SQLite3 Multiple Ciphers has encrypted.
//!
//! - no-plaintext-on-disk: the source's pages are decrypted in memory by a read-only VFS (`codec_vfs.rs`),
//!   and SQLite copies them into an encrypted draft; its temporary files are encrypted, too.
//! - last-commit: what is copied is the database as of its last commit: pages come from its WAL, or
//!   from a hot journal, where these have newer or committed images (`codec_source`).
//! - no-writers: SQLite's exclusive lock on the source is held throughout. A source that may only
//!   be read is compared before and after instead.
//! - every-value-compared: the copy is read again from its file, every value compared with the
//!   source, its indexes with its tables, and every page authenticated, before it gets its name.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use selenite_cipher::Suite;
use selenite_codec::Found;
pub use selenite_codec::{Format, Key, SALT_SIZE};
use selenite_format::{PREFIX_SIZE, PageSize, RESERVE};
use selenite_keyring::{Recipient, SlotSummary, Unlocked};

use crate::bad_page::{BadPage, Origin};
use crate::codec_source::SourcePages;
use crate::codec_vfs::{self, ImportSource};
use crate::content_digest::ContentDigest;
use crate::conversion::{self, SAME_AGAIN, check_free};
use crate::decrypt::check_integrity;
use crate::draft::Draft;
use crate::encrypt::{add_recipients, check_suite, check_verified};
use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::salvage::{self, Salvaged};
use crate::storage::{Attributes, Storage};
use crate::superblock_file::{FileContent, inspect};
use crate::transfer::{self, SourceLayout};
use crate::{Access, Authenticated, Database, EngineError, Layout, Outcome, Watch, keys, sqlite, verify};

/// How to import.
pub struct Import {
    /// The format of the source; `None` tries all in the order of [`Format::names`].
    pub format: Option<Format>,
    /// The key of the source.
    pub key: Key,
    /// The suite of the new database.
    pub suite: Suite,
    /// Further recipients, as in [`crate::Encrypt`].
    pub recipients: Vec<String>,
}

/// The result of an import.
pub struct Imported {
    /// The new database.
    pub outcome: Outcome,
    /// The format of the source, with the settings that were found.
    pub format: Format,
    /// Whether the source's format authenticates its pages: where it doesn't, damage may be in the
    /// copy, too.
    pub is_authenticated: bool,
}

/// Imports the database at `path` into a new one at `target`.
///
/// # Errors
/// [`EngineError::Unopened`] if no format and key open it; [`EngineError::Busy`] if it is in use;
/// [`EngineError::Refused`] names pages that are not authentic; [`EngineError::NotEncrypted`] and
/// [`EngineError::AlreadyEncrypted`] according to its content; [`EngineError::Key`] of the identity
/// in force; [`EngineError::Exists`]; [`EngineError::CopyDiffers`]; [`EngineError::Io`]. There is
/// no new file then.
pub fn import(
    storage: &dyn Storage,
    (path, target): (&Path, &Path),
    access: &Access,
    how: &Import,
    watch: &Watch,
) -> Result<Imported, EngineError> {
    let started = Instant::now();
    let (mut opened, recipients) = Opened::open(storage, (path, target), access, how, watch)?;
    let leftovers = Draft::leftovers(storage, target)?;
    let draft = Draft::create(storage, target)?;
    let copied = opened.copy((storage, &draft), access, (how.suite, recipients), watch);
    let (unlocked, digest) = copied.map_err(|error| opened.explain(error))?;
    let size = opened.publish(storage, (draft, target), &unlocked, watch)?;
    let superblock = &unlocked.superblock;
    let pages = size.saturating_sub(PREFIX_SIZE) / u64::from(superblock.page_size.as_u32());
    Ok(Imported {
        outcome: Outcome {
            path: target.to_owned(),
            table_count: digest.table_count(),
            row_count: digest.row_count(),
            size,
            elapsed: started.elapsed(),
            slots: superblock.slots.iter().map(SlotSummary::new).collect(),
            removed: Vec::new(),
            leftovers,
            not_retired: None,
            not_kept: Vec::new(),
            authenticated: Some(Authenticated {
                database_id: superblock.database_id,
                page_count: u32::try_from(pages).unwrap_or(u32::MAX),
                generation: superblock.generation,
            }),
        },
        format: opened.format,
        is_authenticated: opened.is_authenticated,
    })
}

/// Imports what can be read of a database with damaged pages, as a salvage does.
///
/// # Errors
/// As [`import`]. Lost rows are not an error: see the report.
pub fn import_readable(
    storage: &dyn Storage,
    (path, target): (&Path, &Path),
    access: &Access,
    how: &Import,
    watch: &Watch,
) -> Result<Salvaged, EngineError> {
    let started = Instant::now();
    let (opened, recipients) = Opened::open(storage, (path, target), access, how, watch)?;
    let leftovers = Draft::leftovers(storage, target)?;
    let draft = Draft::create(storage, target)?;
    let pages = opened.source.pages()?;
    let page_bytes = u32::try_from(pages.page_size()).unwrap_or(0);
    let page_size = PageSize::try_from(page_bytes).map_err(|_| unsupported_size(page_bytes))?;
    let recipients = recipients.into_iter().map(|recipient| (recipient, String::new()));
    let recipients: Vec<_> = recipients.collect();
    let make_slots = |database: &Database| {
        add_recipients(database, recipients)?;
        Ok((database.unlocked()?, Vec::new()))
    };
    let layout = (how.suite, page_size);
    let (salvaged, unlocked) = salvage::copy_readable((storage, &draft), access, (pages, layout), make_slots, watch)?;
    let size = opened.publish(storage, (draft, target), &unlocked, watch)?;
    Ok(Salvaged {
        path: target.to_owned(),
        size,
        leftovers,
        elapsed: started.elapsed(),
        ..salvaged
    })
}

/// A source that is open and locked.
///
/// The descriptor in `source` is opened after SQLite's, and closed after it, because the connection
/// is dropped first (`raw_file.rs`, no-second-descriptor).
struct Opened {
    database: Database,
    source: Arc<ImportSource>,
    path: PathBuf,
    format: Format,
    is_authenticated: bool,
    attributes: Attributes,
}

type Recipients = Vec<Box<dyn Recipient>>;

impl Opened {
    /// Checks the arguments, locks the source, and finds its format.
    fn open(
        storage: &dyn Storage,
        (path, target): (&Path, &Path),
        access: &Access,
        how: &Import,
        watch: &Watch,
    ) -> Result<(Self, Recipients), EngineError> {
        sqlite::install()?;
        codec_vfs::register()?;
        access.check()?;
        let config = Access::config()?;
        access.require_identity_to_create()?;
        check_suite(how.suite, access)?;
        let recipients = access.recipients(&how.recipients, &config)?;
        let path = conversion::real_path(storage, path)?;
        check_free(storage, target)?;
        check_content(storage, &path, how.format.as_ref())?;
        let attributes = storage.attributes(&path).map_err(io_error("read", &path))?;
        let source = Arc::new(ImportSource::default());
        let database = connect(&path, &source, access)?;
        let file = RawFile::open_unasked(storage, &path)?;
        let found = find_format(&file, &path, how, watch)?;
        let is_authenticated = found.codec.is_authenticated();
        let codec = (found.codec, found.page_size);
        source.set(SourcePages::load((storage, &path), file, codec, watch)?);
        let opened = Self {
            database,
            source,
            path,
            format: found.format,
            is_authenticated,
            attributes,
        };
        Ok((opened, recipients))
    }

    /// Copies, compares, verifies.
    fn copy(
        &mut self,
        (storage, draft): (&dyn Storage, &Draft<'_>),
        access: &Access,
        (suite, recipients): (Suite, Recipients),
        watch: &Watch,
    ) -> Result<(Unlocked, ContentDigest), EngineError> {
        let database = &mut self.database;
        let bad_logs = self.source.pages()?.bad_logs();
        if let Some(bad) = bad_logs.first() {
            return Err(EngineError::Refused {
                what: format!("{}: {bad}", self.path.display()),
                pages: bad_logs.to_vec(),
            });
        }
        // The file was empty when SQLite opened it: the page size that it reports is that of the
        // first page only after a transaction.
        database.number("SELECT count(*) FROM main.sqlite_schema")?;
        let source_layout = SourceLayout::of(database)?;
        let layout = Layout {
            suite,
            page_size: source_layout.page_size,
            auto_vacuum: source_layout.auto_vacuum,
        };
        if source_layout.page_bytes != layout.page_size.as_u32() {
            return Err(unsupported_size(source_layout.page_bytes));
        }
        let access = access.of_draft();
        let draft = draft.path();
        // The source's pages have other reserved bytes: 80 in SQLCipher's.
        let uri = access.new_uri(draft, &layout).with("reserve", &RESERVE.to_string());
        transfer::vacuum_into(database, source_layout.size, draft, &uri, watch)?;

        let copy = Database::connect(draft, &access.uri(draft), &access)?;
        let recipients = recipients.into_iter().map(|recipient| (recipient, String::new()));
        add_recipients(&copy, recipients.collect())?;
        if self.source.pages()?.is_wal() {
            copy.text("PRAGMA journal_mode = WAL")?;
        }
        let unlocked = copy.unlocked()?;
        copy.close()?;
        let mut copy = Database::connect(draft, &access.uri(draft), &access)?;
        let digest = transfer::compare(database, &mut copy, source_layout.size, watch)?;
        // Pages that don't belong together are copied as they are.
        check_integrity(&mut copy, watch)?;
        copy.close()?;
        check_verified(verify::pages(storage, draft, &unlocked, &access, watch)?)?;
        Ok((unlocked, digest))
    }

    /// Names the pages that caused an error.
    fn explain(&self, error: EngineError) -> EngineError {
        let pages = self.source.bad_pages();
        if pages.is_empty() {
            let size = self.attributes.size;
            return error.with_room(size + size / 8, || SAME_AGAIN.to_owned());
        }
        let listed: Vec<String> = pages.iter().map(u32::to_string).collect();
        let bad = |&page_no: &u32| BadPage::new(Origin::Database, page_no, None, "not authentic".to_owned());
        EngineError::Refused {
            what: format!("{}: not authentic: page {}", self.path.display(), listed.join(", ")),
            pages: pages.iter().map(bad).collect(),
        }
    }

    /// Gives the draft its name, if the source is what it was. Returns its size.
    fn publish(
        &self,
        storage: &dyn Storage,
        (draft, target): (Draft<'_>, &Path),
        unlocked: &Unlocked,
        watch: &Watch,
    ) -> Result<u64, EngineError> {
        if !self.source.pages()?.is_unchanged(storage, &self.path)? {
            return Err(EngineError::Busy {
                path: self.path.clone(),
                what: "it was modified while it was copied",
            });
        }
        let own = storage
            .attributes(draft.path())
            .map_err(io_error("read", draft.path()))?;
        draft.finish(&Attributes {
            mode: self.attributes.mode,
            ..own
        })?;
        watch.check()?;
        draft.publish(target)?;
        keys::replace_path_pin(&Access::config()?, target, unlocked)?;
        Ok(own.size)
    }
}

fn find_format(file: &RawFile, path: &Path, how: &Import, watch: &Watch) -> Result<Found, EngineError> {
    let mut head = vec![0; HEAD_SIZE];
    let count = file.read_at(&mut head, 0)?;
    head.truncate(count);
    if !how.key.has_salt() && how.format.as_ref().is_some_and(Format::has_plaintext_header) {
        return Err(EngineError::usage(
            "a file with a plaintext header does not contain its salt",
            "state it: --set cipher_salt=DIGITS",
        ));
    }
    let formats = how.format.clone().map_or_else(Format::all, |format| vec![format]);
    let found = selenite_codec::find(&formats, &how.key, &head, &mut |format| {
        watch.waiting(&format!("deriving the key: {format}"));
        if watch.is_interrupted() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    watch.check()?;
    found.ok_or_else(|| EngineError::Unopened {
        path: path.to_owned(),
        tried: if how.format.is_some() {
            String::new()
        } else {
            Format::names().join(", ")
        },
    })
}

fn unsupported_size(page_bytes: u32) -> EngineError {
    EngineError::usage(
        format!("pages of {page_bytes} bytes can't be imported"),
        "with the application's own SQLite: PRAGMA page_size = 4096, then VACUUM",
    )
}

/// Opens the source, whose pages are set later: that takes the lock.
fn connect(path: &Path, handle: &Arc<ImportSource>, access: &Access) -> Result<Database, EngineError> {
    let until = Instant::now() + access.busy_wait;
    let uri = handle.uri(path);
    loop {
        match Database::connect(path, &uri, access) {
            Err(EngineError::Busy { .. }) if Instant::now() < until => std::thread::sleep(LOOK_AGAIN),
            connected => return connected,
        }
    }
}

fn check_content(storage: &dyn Storage, path: &Path, format: Option<&Format>) -> Result<(), EngineError> {
    match inspect(storage, path)? {
        FileContent::Foreign => Ok(()),
        // SQLCipher's plaintext header.
        FileContent::Plain if format.is_some_and(Format::has_plaintext_header) => Ok(()),
        FileContent::Plain => Err(EngineError::usage(
            format!("{}: begins as an unencrypted database", path.display()),
            "encrypt it: selenite encrypt; or name the size of its plaintext header: --format sqlcipher4 --set \
             cipher_plaintext_header_size=32 --set cipher_salt=DIGITS",
        )),
        FileContent::Sealed { .. } => Err(EngineError::AlreadyEncrypted { path: path.to_owned() }),
        FileContent::Empty => Err(EngineError::NotEncrypted {
            path: path.to_owned(),
            what: "it is empty",
        }),
    }
}

/// 64 KiB: the largest page.
const HEAD_SIZE: usize = 64 << 10;
/// How often a lock is tried.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

//! Imports a database that SQLCipher or SQLite3 Multiple Ciphers has encrypted.
//!
//! - no-plaintext-on-disk: the source's pages are decrypted in memory by a read-only VFS (`codec_vfs.rs`),
//!   and SQLite copies them into an encrypted draft; its temporary files are encrypted, too.
//! - last-commit: what is copied is the database as of its last commit: pages come from its WAL, or
//!   from a hot journal, where these have newer or committed images (`logs.rs`).
//! - nobody-writes: SQLite's exclusive lock on the source is held throughout. A source that may only
//!   be read is compared before and after instead.
//! - every-value-compared: the copy is read again from its file, every value compared with the
//!   source, and every page authenticated, before it gets its name.

mod logs;
mod source;

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selenite_cipher::Suite;
use selenite_codec::Found;
pub use selenite_codec::{Format, Key, SALT_SIZE};
use selenite_format::{PREFIX_SIZE, RESERVE};
use selenite_keyring::{Recipient, SlotSummary, Unlocked};
use zeroize::Zeroizing;

use crate::bad_page::{BadPage, Origin};
use crate::codec_vfs::{self, Source};
use crate::content_digest::ContentDigest;
use crate::conversion::{self, SAME_AGAIN, check_free};
use crate::draft::Draft;
use crate::encrypt::{add_recipients, check_suite, check_verified};
use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::storage::{Attributes, Storage};
use crate::superblock_file::{FileContent, inspect};
use crate::transfer::{self, SourceLayout};
use crate::{Access, Authenticated, Database, EngineError, Layout, Outcome, Watch, keys, sqlite, verify};
pub use source::SourcePages;

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

    // The descriptor in the handle is opened after SQLite's, and closed after it, because the
    // connections are dropped first (`raw_file.rs`, no-second-descriptor).
    let handle = Arc::new(Source::default());
    let mut source = connect(&path, &handle, access)?;
    let mut interrupted = false;
    let found = {
        let file = RawFile::open_unasked(storage, &path)?;
        let head = head_of(&file)?;
        let formats = how.format.clone().map_or_else(Format::all, |format| vec![format]);
        let found = selenite_codec::find(&formats, &how.key, &head, &mut |format| {
            watch.waiting(&format!("deriving the key: {format}"));
            interrupted = watch.is_interrupted();
            if interrupted {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let Some(Found {
            format,
            codec,
            page_size,
        }) = found
        else {
            if interrupted {
                return Err(EngineError::Interrupted);
            }
            return Err(EngineError::Unopened {
                path,
                tried: how
                    .format
                    .is_none()
                    .then(|| Format::names().join(", "))
                    .unwrap_or_default(),
            });
        };
        let is_authenticated = codec.is_authenticated();
        handle.set(SourcePages::load((storage, &path), file, (codec, page_size), watch)?);
        (format, is_authenticated)
    };
    let (format, is_authenticated) = found;
    let copy = || {
        let done = copy(
            storage,
            &mut source,
            (&handle, target),
            access,
            (how.suite, recipients),
            watch,
        )?;
        source.close()?;
        Ok(done)
    };
    let copied: Result<Copied<'_>, EngineError> = copy();
    let Copied {
        draft,
        unlocked,
        digest,
    } = copied.map_err(|error| {
        let pages = handle.bad_pages();
        if pages.is_empty() {
            return error.with_room(attributes.size + attributes.size / 8, || SAME_AGAIN.to_owned());
        }
        refused(&path, &pages)
    })?;
    if !handle.pages()?.is_unchanged(storage, &path)? {
        return Err(EngineError::Busy {
            path,
            what: "it was modified while it was copied",
        });
    }
    let own = storage
        .attributes(draft.path())
        .map_err(io_error("read", draft.path()))?;
    draft.finish(&Attributes {
        mode: attributes.mode,
        ..own
    })?;
    watch.check()?;
    let leftovers = Draft::leftovers(storage, target)?;
    let leftovers = leftovers.into_iter().filter(|left| left != draft.path()).collect();
    draft.publish(target)?;
    keys::replace_path_pin(&config, target, &unlocked)?;
    let superblock = &unlocked.superblock;
    let pages = own.size.saturating_sub(PREFIX_SIZE) / u64::from(superblock.page_size.as_u32());
    Ok(Imported {
        outcome: Outcome {
            path: target.to_owned(),
            table_count: digest.table_count(),
            row_count: digest.row_count(),
            size: own.size,
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
        format,
        is_authenticated,
    })
}

/// The content of a key file, zeroed when dropped.
pub type SecretBytes = Zeroizing<Vec<u8>>;

/// Reads a key file of at most 4 KiB: no passphrase or raw key is longer.
///
/// # Errors
/// [`EngineError::Io`]; [`EngineError::Usage`] if it is longer.
pub fn read_secret(path: &Path) -> Result<SecretBytes, EngineError> {
    let file = std::fs::File::open(path).map_err(io_error("read", path))?;
    // As much as is ever read, so that no part of it is left behind by a reallocation.
    let mut bytes = Zeroizing::new(Vec::with_capacity(SECRET_SIZE_MAX + 1));
    let limit = u64::try_from(SECRET_SIZE_MAX + 1).unwrap_or(u64::MAX);
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(io_error("read", path))?;
    if bytes.len() > SECRET_SIZE_MAX {
        let what = format!("{}: longer than {SECRET_SIZE_MAX} bytes", path.display());
        return Err(EngineError::usage(
            what,
            "name the file with the passphrase or the raw key",
        ));
    }
    Ok(bytes)
}

const SECRET_SIZE_MAX: usize = 4096;

struct Copied<'a> {
    draft: Draft<'a>,
    unlocked: Unlocked,
    digest: ContentDigest,
}

/// Copies, compares, verifies.
fn copy<'a>(
    storage: &'a dyn Storage,
    source: &mut Database,
    (handle, target): (&Arc<Source>, &Path),
    access: &Access,
    (suite, recipients): (Suite, Vec<Box<dyn Recipient>>),
    watch: &Watch,
) -> Result<Copied<'a>, EngineError> {
    let pages = handle.pages()?;
    // The file was empty when SQLite opened it: the page size that it reports is that of the first
    // page only after a transaction.
    source.number("SELECT count(*) FROM main.sqlite_schema")?;
    let source_layout = SourceLayout::of(source)?;
    let layout = Layout {
        suite,
        page_size: source_layout.page_size,
        auto_vacuum: source_layout.auto_vacuum,
    };
    let draft = Draft::create(storage, target)?;
    let access = access.of_draft();
    let uri = access.new_uri(draft.path(), &layout);
    if source_layout.page_bytes != layout.page_size.as_u32() {
        return Err(EngineError::usage(
            format!("pages of {} bytes can't be imported", source_layout.page_bytes),
            "with the application's own SQLite: PRAGMA page_size = 4096, then VACUUM",
        ));
    }
    // The source's pages have other reserved bytes: 80 in SQLCipher's.
    let uri = uri.with("reserve", &RESERVE.to_string());
    transfer::vacuum_into(source, source_layout.size, draft.path(), &uri, watch)?;

    let copy = Database::connect(draft.path(), &access.uri(draft.path()), &access)?;
    let recipients = recipients.into_iter().map(|recipient| (recipient, String::new()));
    add_recipients(&copy, recipients.collect())?;
    if pages.is_wal() {
        copy.text("PRAGMA journal_mode = WAL")?;
    }
    let unlocked = copy.unlocked()?;
    copy.close()?;
    let mut copy = Database::connect(draft.path(), &access.uri(draft.path()), &access)?;
    let digest = transfer::compare(source, &mut copy, source_layout.size, watch)?;
    copy.close()?;
    check_verified(verify::pages(storage, draft.path(), &unlocked, &access, watch)?)?;
    Ok(Copied {
        draft,
        unlocked,
        digest,
    })
}

/// Opens the source, whose pages are set later: that takes the lock.
fn connect(path: &Path, handle: &Arc<Source>, access: &Access) -> Result<Database, EngineError> {
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
             cipher_plaintext_header_size=32",
        )),
        FileContent::Sealed { .. } => Err(EngineError::AlreadyEncrypted { path: path.to_owned() }),
        FileContent::Empty => Err(EngineError::NotEncrypted {
            path: path.to_owned(),
            what: "it is empty",
        }),
    }
}

fn head_of(file: &RawFile) -> Result<Vec<u8>, EngineError> {
    let mut head = vec![0; HEAD_SIZE];
    let count = file.read_at(&mut head, 0)?;
    head.truncate(count);
    Ok(head)
}

fn refused(path: &Path, pages: &[u32]) -> EngineError {
    let listed: Vec<String> = pages.iter().map(u32::to_string).collect();
    EngineError::Refused {
        what: format!("{}: not authentic: page {}", path.display(), listed.join(", ")),
        pages: pages
            .iter()
            .map(|&page_no| BadPage::new(Origin::Database, page_no, None, "not authentic".to_owned()))
            .collect(),
    }
}

/// 64 KiB: the largest page.
const HEAD_SIZE: usize = 64 << 10;
/// How often a lock is tried.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

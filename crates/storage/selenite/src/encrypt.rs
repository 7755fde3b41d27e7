//! Encrypts an unencrypted database.

use std::path::Path;
use std::time::Instant;

use selenite_cipher::Suite;
use selenite_format::PREFIX_SIZE;
use selenite_keyring::{Recipient, SlotSummary, Unlocked};
use selenite_vfs::view::View;

use crate::comparison::SourceDigest;
use crate::conversion::{self, Conversion, Copied, Source};
use crate::database::KeyChange;
use crate::draft::Draft;
use crate::error::{EMPTY, NO_DATABASE};
use crate::storage::Storage;
use crate::superblock_file::{FileContent, inspect};
use crate::transfer::{self, SourceLayout};
use crate::tree_digest::Form;
use crate::verify::{self, PhysicalReport};
use crate::{Access, Authenticated, Database, EngineError, Layout, Outcome, Target, Watch, keys, sqlite};

/// How to encrypt.
#[derive(Clone, Debug)]
pub struct Encrypt {
    /// The destination of the result.
    pub target: Target,
    /// The suite that its pages are encrypted with.
    pub suite: Suite,
    /// Further recipients, besides the identity in force: `age1...`, or the spec of an identity.
    pub recipients: Vec<String>,
}

impl Default for Encrypt {
    fn default() -> Self {
        Self {
            target: Target::InPlace,
            suite: Suite::DEFAULT,
            recipients: Vec::new(),
        }
    }
}

/// Encrypts a database.
///
/// In place: no other connection can use it meanwhile. To a new file: readers continue, and writers wait.
///
/// # Errors
/// [`EngineError::Busy`] if it is in use; [`EngineError::AlreadyEncrypted`] and
/// [`EngineError::NotEncrypted`] according to its content; [`EngineError::Key`], also without an
/// identity; [`EngineError::Exists`]; [`EngineError::CopyDiffers`]; [`EngineError::Io`]. The
/// database is unchanged then.
pub fn encrypt(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    how: &Encrypt,
    watch: &Watch,
) -> Result<Outcome, EngineError> {
    let started = Instant::now();
    sqlite::install()?;
    access.check()?;
    let config = Access::config()?;
    access.require_identity_to_create()?;
    check_suite(how.suite, access)?;
    let recipients = access.recipients(&how.recipients, &config)?;
    let path = conversion::real_path(storage, path)?;
    match inspect(storage, &path)? {
        FileContent::Plain => {}
        FileContent::Sealed { .. } => return Err(EngineError::AlreadyEncrypted { path }),
        found @ (FileContent::Empty | FileContent::Foreign) => {
            let what = if matches!(found, FileContent::Empty) {
                EMPTY
            } else {
                NO_DATABASE
            };
            return Err(EngineError::NotEncrypted { path, what });
        }
    }
    let conversion = Conversion {
        storage,
        path: &path,
        source: access.allowing_plain(),
        target: &how.target,
        new_mode: None,
        watch,
    };
    let mut made = None;
    let copied = conversion.run(|source, draft| {
        let (copied, unlocked) = copy(&conversion, source, draft, (&access.of_draft(), how.suite, recipients))?;
        made = Some(unlocked);
        Ok(copied)
    })?;
    let made = made.expect("what was copied was unlocked, above");
    keys::replace_path_pin(&config, &copied.path, &made)?;
    let superblock = &made.superblock;
    let pages = copied.size.saturating_sub(PREFIX_SIZE) / u64::from(superblock.page_size.as_u32());
    Ok(Outcome {
        slots: superblock.slots.iter().map(SlotSummary::new).collect(),
        authenticated: Some(Authenticated {
            database_id: superblock.database_id,
            page_count: u32::try_from(pages).unwrap_or(u32::MAX),
            generation: superblock.generation,
        }),
        elapsed: started.elapsed(),
        ..copied
    })
}

/// Copies, compares, verifies.
fn copy(
    conversion: &Conversion<'_>,
    source: Source<'_>,
    draft: &Draft<'_>,
    (access, suite, recipients): (&Access, Suite, Vec<Box<dyn Recipient>>),
) -> Result<(Copied, Unlocked), EngineError> {
    let (storage, watch) = (conversion.storage, conversion.watch);
    let Source {
        database,
        page_access,
        is_wal,
    } = source;
    let source_layout = SourceLayout::of(database)?;
    let layout = Layout {
        suite,
        page_size: source_layout.page_size,
        auto_vacuum: source_layout.auto_vacuum,
    };
    let uri = access.new_uri(draft.path(), &layout);
    let mut source_digest = SourceDigest::new(database, &source_layout, page_access)?;
    source_digest.while_copying(None, watch, || {
        transfer::copy_encrypted((storage, access), database, &source_layout, (draft.path(), &uri), watch)
    })?;

    let copy = Database::connect(draft.path(), &access.uri(draft.path()), access)?;
    let recipients = recipients.into_iter().map(|recipient| (recipient, String::new()));
    add_recipients(&copy, recipients.collect())?;
    if is_wal {
        copy.text("PRAGMA journal_mode = WAL")?;
    }
    let unlocked = copy.unlocked()?;
    let trees = source_digest.trees_of(&copy)?;
    copy.close()?;
    let view = View::new(unlocked.duplicate(), access.allow_plain, access.allow_deprecated)
        .map_err(|error| EngineError::of_vfs(&error, draft.path()))?;
    if let Some(digest) = source_digest.if_same(storage, (draft.path(), Form::Sealed(&view)), trees, watch)? {
        return Ok((Copied::by_trees(&digest), unlocked));
    }
    let mut copy = Database::connect(draft.path(), &access.uri(draft.path()), access)?;
    let digest = transfer::compare(database, &mut copy, source_layout.size, watch)?;
    copy.close()?;
    let report = verify::pages(storage, draft.path(), &unlocked, access, watch)?;
    check_verified(report)?;
    Ok((Copied::by_values(&digest), unlocked))
}

pub(crate) fn check_verified(report: PhysicalReport) -> Result<(), EngineError> {
    if report.is_good() {
        return Ok(());
    }
    Err(EngineError::CopyDiffers {
        what: format!(
            "{} of its pages are not authentic: the disk did not store them correctly",
            report.bad_count
        ),
    })
}

/// Adds a slot, with a label, for every recipient that has none yet.
pub(crate) fn add_recipients(
    database: &Database,
    recipients: Vec<(Box<dyn Recipient>, String)>,
) -> Result<(), EngineError> {
    if recipients.is_empty() {
        return Ok(());
    }
    database.change(move |present| {
        let mut next: Unlocked = present.duplicate();
        for (recipient, label) in &recipients {
            if keys::slot_of(&next, recipient.as_ref())?.is_none() {
                next = selenite_keyring::change::add_slot(
                    &next,
                    recipient.as_ref(),
                    label,
                    keys::now(),
                    &mut selenite_keyring::os_random,
                )?
                .unlocked;
            }
        }
        // One generation, however many slots were added (FORMAT 3.7).
        let next = next.with_generation(present.superblock.generation + 1);
        Ok(KeyChange::Write(Box::new(next), false, ()))
    })
}

pub(crate) fn check_suite(suite: Suite, access: &Access) -> Result<(), EngineError> {
    if suite == Suite::None {
        return Err(EngineError::usage(
            "the suite NONE encrypts nothing",
            "choose another suite",
        ));
    }
    if suite.is_deprecated() && !access.allow_deprecated {
        return Err(EngineError::usage(
            format!("{suite} is deprecated"),
            "choose another suite, or add --allow-deprecated",
        ));
    }
    Ok(())
}

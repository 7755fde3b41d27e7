//! Copies every row that can still be read from an encrypted database with damaged pages into a
//! new one.
//!
//! - authentic-rows-only: rows come from authenticated pages only: all pages come from `snapshot`.
//! - source-is-only-read: the damaged database is only read, and not by SQLite, which would roll
//!   back, checkpoint or recover.
//! - rows-from-trees: indexes are recreated from the schema, never read. A table's rows are read
//!   from its b-tree (`tree.rs`); leaves that no page refers to are found by examining all pages,
//!   and assigned to a table only if they can't belong to another (`leaf_owner.rs`), or else
//!   copied into a table of their own (`lost_and_found.rs`).
//! - named-when-verified: the new database gets its name only when it is complete, verified and
//!   synced, and SQLite has read it again (`soundness.rs`); nothing is ever unencrypted on disk.
//! - schema-is-not-trusted: the old schema is not trusted: a definition creates exactly the entry
//!   that it belongs to, or is rolled back (`maker.rs`).
//!
//! Authenticity does not show whether a page is the newest; see `snapshot` for the use of logs.

mod copier;
mod filler;
mod free_list;
mod leaf_owner;
mod lost_and_found;
mod maker;
pub(crate) mod node;
mod page_survey;
pub(crate) mod record;
mod report;
mod row;
mod schema;
mod sequence;
mod slots;
mod snapshot;
mod soundness;
mod table_layout;
pub(crate) mod text;
mod tree;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selenite_cipher::Suite;
use selenite_format::{AutoVacuum, PageSize};
use selenite_keyring::{Cache, SlotSummary, Unlocked};
use selenite_vfs::view::View;

pub use page_survey::ReadFailure;
pub use report::{Lost, NotMade, Salvaged, SchemaState, Strays, TableReport};
pub use snapshot::LISTED_MAX;
pub use tree::Hole;

use crate::codec_source::SourcePages;
use crate::draft::Draft;
use crate::encrypt::{check_suite, check_verified};
use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::storage::{Attributes, Storage};
use crate::superblock_file::{Copies, unlock};
use crate::{Access, Database, EngineError, Layout, Watch, conversion, keys, sqlite, verify};
use copier::Copier;
use maker::Guard;
use page_survey::{PageSurvey, SalvagedPages};
use schema::Schema;
use slots::Slots;
use snapshot::Snapshot;

/// Salvages the database at `path` into a new one at `target`, for the identity in force, the age recipients of the old
/// one, and `recipients`.
///
/// # Errors
/// [`EngineError::Exists`]; [`EngineError::NotEncrypted`]; [`EngineError::Key`], also if both
/// superblocks are damaged, as nothing can be decrypted then; [`EngineError::Busy`] if the
/// database was written to meanwhile; [`EngineError::Io`]. There is no new file then. Lost rows
/// are not an error: see the report.
pub fn salvage(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    (target, recipients): (&Path, &[String]),
    watch: &Watch,
) -> Result<Salvaged, EngineError> {
    let started = Instant::now();
    let Plan {
        path,
        mode,
        leftovers,
        suite,
        view,
        slots,
    } = Plan::make(storage, path, access, (target, recipients))?;
    let snapshot = Snapshot::load(storage, &path, &view, watch)?;
    let mark = snapshot.mark();
    let pages = SalvagedPages::Snapshot(Box::new(snapshot));
    let draft = Draft::create(storage, target)?;
    let layout = (suite, view.unlocked.superblock.page_size);
    let make_slots = |database: &Database| slots.make(database);
    let (salvaged, unlocked) = copy_pages((storage, &draft), access, (pages, layout), make_slots, watch)?;
    if Snapshot::load(storage, &path, &view, watch)?.mark() != mark {
        return Err(EngineError::Busy {
            path,
            what: "it was modified while it was read",
        });
    }
    let own = storage
        .attributes(draft.path())
        .map_err(io_error("read", draft.path()))?;
    draft.finish(&Attributes { mode, ..own })?;
    watch.check()?;
    draft.publish(target)?;
    keys::replace_path_pin(&Access::config()?, target, &unlocked)?;
    Ok(Salvaged {
        path: target.to_owned(),
        size: own.size,
        leftovers,
        elapsed: started.elapsed(),
        ..salvaged
    })
}

/// As [`salvage`], from the pages of a database in another product's format, into a draft that the
/// caller publishes. Path, size, leftovers and time in the report are the caller's, too.
pub(crate) fn copy_readable(
    (storage, draft): (&dyn Storage, &Draft<'_>),
    access: &Access,
    (pages, layout): (&SourcePages, (Suite, PageSize)),
    make_slots: impl FnOnce(&Database) -> Result<(Unlocked, Vec<SlotSummary>), EngineError>,
    watch: &Watch,
) -> Result<(Salvaged, Unlocked), EngineError> {
    copy_pages(
        (storage, draft),
        access,
        (SalvagedPages::Imported(pages), layout),
        make_slots,
        watch,
    )
}

/// Copies all readable rows into a draft, and verifies it.
fn copy_pages(
    (storage, draft): (&dyn Storage, &Draft<'_>),
    access: &Access,
    (pages, (suite, page_size)): (SalvagedPages<'_>, (Suite, PageSize)),
    make_slots: impl FnOnce(&Database) -> Result<(Unlocked, Vec<SlotSummary>), EngineError>,
    watch: &Watch,
) -> Result<(Salvaged, Unlocked), EngineError> {
    let mut survey = PageSurvey::survey(pages, watch)?;
    let schema = Schema::read(&mut survey, watch)?;
    let auto_vacuum = schema.as_ref().map(|schema| schema.header.auto_vacuum);
    let layout = Layout {
        suite,
        page_size,
        auto_vacuum: auto_vacuum.unwrap_or(AutoVacuum::None),
    };
    let made = access.of_draft();
    let uri = made.new_uri(draft.path(), &layout);
    let mut database = Database::connect(draft.path(), &uri, &made)?;
    database.watch(watch)?;
    let guard = Guard::install(&mut database)?;
    let mut copied = Copier::begin((&database, guard), &mut survey, schema.as_ref(), watch)?.run()?;
    let (unlocked, dropped) = make_slots(&database)?;
    if schema.as_ref().is_some_and(|schema| schema.header.is_wal) {
        database.text("PRAGMA journal_mode = WAL")?;
    }
    database.close()?;
    copied.not_made.extend(soundness::faults(draft, &made, watch)?);
    check_verified(verify::pages(storage, draft.path(), &unlocked, access, watch)?)?;
    let salvaged = Salvaged {
        path: PathBuf::new(),
        suite,
        page_size: layout.page_size,
        size: 0,
        page_count: survey.pages().promised_count(),
        bad_pages: survey.bad_pages().take(LISTED_MAX).collect(),
        bad_count: survey.bad_count(),
        uncertain_pages: survey.uncertain_pages().take(LISTED_MAX).collect(),
        uncertain_count: u64::try_from(survey.uncertain_pages().count()).unwrap_or(u64::MAX),
        bad_logs: survey.pages().bad_logs().to_vec(),
        schema: match &schema {
            None => SchemaState::Lost,
            Some(schema) if schema.is_complete => SchemaState::Whole,
            Some(_) => SchemaState::Partial,
        },
        tables: copied.tables,
        not_made: copied.not_made,
        strays: copied.strays,
        slots: unlocked.superblock.slots.iter().map(SlotSummary::new).collect(),
        dropped,
        leftovers: Vec::new(),
        elapsed: Duration::ZERO,
    };
    Ok((salvaged, unlocked))
}

/// The state before any page is read.
struct Plan {
    path: PathBuf,
    mode: u32,
    leftovers: Vec<PathBuf>,
    suite: Suite,
    view: View,
    slots: Slots,
}

impl Plan {
    fn make(
        storage: &dyn Storage,
        path: &Path,
        access: &Access,
        (target, recipients): (&Path, &[String]),
    ) -> Result<Self, EngineError> {
        sqlite::install()?;
        access.check()?;
        access.require()?;
        let config = Access::config()?;
        let identities = access.identities(&config)?;
        let recipients = access.recipients(recipients, &config)?;
        let path = conversion::real_path(storage, path)?;
        conversion::check_free(storage, target)?;
        let mode = storage.attributes(&path).map_err(io_error("read", &path))?.mode;
        let file = RawFile::open(storage, &path)?;
        let copies = Copies::load(&file)?;
        let trust = access.trust(&config, &path)?;
        let unlocked = unlock(&path, (&file, &copies), &identities, &trust, &Cache::new())?;
        drop(file);
        let suite = suite_of(&unlocked);
        check_suite(suite, access)?;
        let view = View::new(unlocked, access.allow_plain, access.allow_deprecated)
            .map_err(|error| EngineError::of_vfs(&error, &path))?;
        Ok(Self {
            leftovers: Draft::leftovers(storage, target)?,
            slots: Slots::plan(&view.unlocked, &identities, recipients)?,
            path,
            mode,
            suite,
            view,
        })
    }
}

/// The suite to seal pages in; while encryption is being switched off, the former one.
fn suite_of(unlocked: &Unlocked) -> Suite {
    let superblock = &unlocked.superblock;
    let sealing = superblock.sealing();
    let others = superblock.epochs.iter();
    sealing
        .into_iter()
        .chain(others)
        .map(|epoch| epoch.suite)
        .find(|&suite| suite != Suite::None)
        .unwrap_or(Suite::DEFAULT)
}

//! Decrypts an encrypted database.

use std::path::Path;
use std::time::Instant;

use selenite_format::AutoVacuum;
use selenite_vfs::view::View;

use crate::comparison::{PageAccess, SourceDigest};
use crate::conversion::{self, Conversion, Copied, Source};
use crate::draft::Draft;
use crate::sqlite;
use crate::storage::Storage;
use crate::superblock_file::inspect;
use crate::transfer::{self, SourceLayout};
use crate::tree_digest::Form;
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Outcome, Target, Watch};

/// Decrypts a database, in place or to a new file that only its owner can read.
///
/// # Errors
/// As [`crate::EncryptedFile::encrypt`]; [`EngineError::NotEncrypted`] if there is nothing to decrypt.
pub fn decrypt(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    target: &Target,
    watch: &Watch,
) -> Result<Outcome, EngineError> {
    let started = Instant::now();
    sqlite::install()?;
    access.check()?;
    let path = conversion::real_path(storage, path)?;
    inspect(storage, &path)?.sealed(&path)?;
    access.require()?;
    let conversion = Conversion {
        storage,
        path: &path,
        source: access.clone(),
        target,
        new_mode: Some(OWNER_ONLY),
        watch,
    };
    let outcome = conversion.run(|source, draft| copy((storage, access), source, draft, watch))?;
    Ok(Outcome {
        elapsed: started.elapsed(),
        ..outcome
    })
}

fn copy(
    (storage, access): (&dyn Storage, &Access),
    source: Source<'_>,
    draft: &Draft<'_>,
    watch: &Watch,
) -> Result<Copied, EngineError> {
    let Source {
        database,
        page_access,
        is_wal,
    } = source;
    let layout = SourceLayout::of(database)?;
    let view = match &page_access {
        PageAccess::Connection(_) => None,
        PageAccess::File(_) => {
            let view = View::new(database.unlocked()?, access.allow_plain, access.allow_deprecated);
            Some(view.map_err(|error| EngineError::of_vfs(&error, database.path()))?)
        }
    };
    let mut source_digest = SourceDigest::new(database, &layout, page_access)?;
    source_digest.while_copying(view.as_ref(), watch, || {
        transfer::copy_decrypted(access, database, &layout, draft.path(), watch)
    })?;
    let allowing_plain = access.allowing_plain();
    let uri = allowing_plain.uri(draft.path());
    let mut copy = Database::connect(draft.path(), &uri, &allowing_plain)?;
    if is_wal {
        copy.text("PRAGMA journal_mode = WAL")?;
    }
    let trees = source_digest.trees_of(&copy)?;
    copy.close()?;
    let form = Form::Clear(usize::try_from(layout.page_bytes).unwrap_or(0));
    let same = source_digest.if_same(storage, (draft.path(), form), trees, watch)?;
    // Digests of trees do not cover pointer maps.
    if let Some(digest) = &same
        && layout.auto_vacuum == AutoVacuum::None
    {
        return Ok(Copied::by_trees(digest));
    }
    copy = Database::connect(draft.path(), &uri, &allowing_plain)?;
    let copied = match same {
        Some(digest) => Copied::by_trees(&digest),
        None => Copied::by_values(&transfer::compare(database, &mut copy, layout.size, watch)?),
    };
    check_integrity(&mut copy, watch)?;
    copy.close()?;
    Ok(copied)
}

/// An unencrypted page has no tag that would reveal that the disk did not store it.
pub(crate) fn check_integrity(copy: &mut Database, watch: &Watch) -> Result<(), EngineError> {
    watch.report(Phase::CheckingIntegrity, 0, 0);
    copy.watch(watch)?;
    match copy.text("PRAGMA integrity_check(1)")?.as_str() {
        "ok" => Ok(()),
        fault => Err(EngineError::CopyDiffers {
            what: format!("integrity_check: {fault}"),
        }),
    }
}

const OWNER_ONLY: u32 = 0o600;

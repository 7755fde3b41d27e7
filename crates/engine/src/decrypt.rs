//! From an encrypted database to one in clear.

use std::path::Path;
use std::time::Instant;

use crate::conversion::{self, Conversion, Copied};
use crate::draft::Draft;
use crate::sqlite;
use crate::storage::Storage;
use crate::superblock_file::inspect;
use crate::transfer::{self, SourceLayout};
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Outcome, Target, Watch};

/// Decrypts a database, in its place or to a new file, which only its owner can read.
///
/// # Errors
/// As [`crate::encrypt`]; [`EngineError::NotEncrypted`] where there is nothing to decrypt; [`EngineError::Refused`] if
/// SQLite's integrity check finds fault with the copy.
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
    let outcome = conversion.run(|source, draft, is_wal| copy(access, source, draft, is_wal, watch))?;
    Ok(Outcome {
        elapsed: started.elapsed(),
        ..outcome
    })
}

fn copy(
    access: &Access,
    source: &mut Database,
    draft: &Draft<'_>,
    is_wal: bool,
    watch: &Watch,
) -> Result<Copied, EngineError> {
    let layout = SourceLayout::of(source)?;
    transfer::open(access, source, &layout, draft.path(), watch)?;
    let passing = access.passing();
    let mut copy = Database::connect(draft.path(), &passing.uri(draft.path()), &passing)?;
    let digest = transfer::compare(source, &mut copy, layout.size, watch)?;
    check_integrity(&mut copy, watch)?;
    if is_wal {
        copy.text("PRAGMA journal_mode = WAL")?;
    }
    copy.close()?;
    Ok(Copied::new(&digest))
}

/// No tag tells of a page in clear that the disk did not keep.
fn check_integrity(copy: &mut Database, watch: &Watch) -> Result<(), EngineError> {
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

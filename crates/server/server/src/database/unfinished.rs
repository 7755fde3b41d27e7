//! What a kill left behind: databases that were being made, removed or replaced.
//!
//! - `whole-or-absent`: afterwards each database is complete, or it does not exist and its name is
//!   free.
//! - `only-known-files-are-removed`: a file is removed only if its id identifies it as the one that
//!   was being removed, or if it has the name of a draft of a database that was being created or
//!   replaced. Any other file in the folder stays, and is reported.

use std::path::Path;

use selenite::storage::Disk;
use selenite::{Access, DatabaseId, Draft, Expected, Suite, keys};
use selenite_keyring::OriginPolicy;

use crate::database::dropped_database::{is_own, remove_files};
use crate::database::expectation::plain_access;
use crate::database::file_state::{FileState, Phase};
use crate::database::new_database::{beside, draft_of, in_the_way, remove_draft, remove_if_there};
use crate::database::restored_key::note_key;
use crate::log::Log;
use crate::master::{DatabaseFile, Master, MasterError, Unfinished, load_commitment};

/// What is needed to complete or undo an unfinished change of a database.
pub struct Settlement<'a> {
    /// The records of what was begun.
    pub master: &'a Master,
    /// The folder of the files.
    pub folder: &'a Path,
    /// How they are opened.
    pub access: &'a Access,
    /// Where it is reported.
    pub log: &'a Log,
}

impl Settlement<'_> {
    /// Completes or undoes what an earlier server left unfinished, of all databases.
    pub fn all(&self) {
        let files = match self.master.files() {
            Ok(files) => files,
            Err(fault) => {
                self.log.line(&format!("master.db: {fault}"));
                return;
            }
        };
        // An older server has noted no commitments, and made its key slots without marks: its databases are trusted
        // once.
        let is_first = !self.master.has_commitments().unwrap_or(true);
        let origin = if is_first { Some(OriginPolicy::Any) } else { None };
        for file in &files {
            self.settle(file, origin);
        }
        if is_first {
            self.log.line(
                "The commitments of the databases are noted: from now on none is opened under another master key.",
            );
            if let Err(fault) = self.master.set_commitments() {
                self.log.line(&format!("master.db: {fault}"));
            }
        }
        self.log_unknown_files();
    }

    /// Completes or undoes what was begun with one database. No other session has it open.
    pub fn one(&self, file: &DatabaseFile) {
        self.settle(file, None);
    }

    fn settle(&self, file: &DatabaseFile, origin: Option<OriginPolicy>) {
        let done = match file.unfinished {
            None => self.look_at(file, origin),
            Some(Unfinished::Creation) => self.end_creation(file),
            Some(Unfinished::Removal) => self.end_removal(file),
            Some(Unfinished::Restore) => self.end_restore(file),
        };
        if let Err(fault) = done {
            self.log.line(&format!("Database '{}': {fault}.", file.name));
        }
    }

    /// Notes of a file what has not been noted yet.
    fn look_at(&self, file: &DatabaseFile, origin: Option<OriginPolicy>) -> Result<(), MasterError> {
        let mut known = file.clone();
        if known.commitment.is_none()
            && let Some((id, commitment)) = self.identity_of(file, origin)
            && known.file_id.is_none_or(|known| known == id)
        {
            self.master.note_commitment(file.database_id, commitment)?;
            known.commitment = Some(commitment);
        }
        let file = &known;
        let has_key = self.master.encryption_key(file.database_id)?.is_some();
        if file.file_id.is_some() && (file.must_be_encrypted || !has_key) {
            return Ok(());
        }
        let Some(state) = self.state(file, file.file_id) else {
            return Ok(());
        };
        if let (None, Some(id)) = (file.file_id, state.database_id) {
            self.master.note_file_id(file.database_id, id)?;
        }
        if has_key && !file.must_be_encrypted && state.phase == Phase::Encrypted {
            self.master.require_encryption(file.database_id, true)?;
        }
        Ok(())
    }

    fn end_creation(&self, file: &DatabaseFile) -> Result<(), MasterError> {
        let path = file.path(self.folder)?;
        if let Some(id) = file.file_id
            && path.exists()
            && let Some(state) = self.state(file, Some(id)).filter(|state| state.database_id == Some(id))
        {
            self.adopt(file, id, &state)?;
            return self.remove_drafts(file);
        }
        self.remove_drafts(file)?;
        self.master.remove_database(&file.name)?;
        self.log_kept(file);
        Ok(())
    }

    fn end_removal(&self, file: &DatabaseFile) -> Result<(), MasterError> {
        let path = file.path(self.folder)?;
        let is_own = match is_own(&path, file) {
            Ok(is_own) => is_own,
            Err(why) => {
                self.log.line(&format!("Database '{}': {why}.", file.name));
                return Ok(());
            }
        };
        if is_own && let Err(why) = remove_files(self.folder, &path) {
            self.log
                .line(&format!("Database '{}' could not be removed: {why:?}.", file.name));
            return Ok(());
        }
        self.master.remove_database(&file.name)?;
        self.log_kept(file);
        Ok(())
    }

    fn end_restore(&self, file: &DatabaseFile) -> Result<(), MasterError> {
        let known = [file.file_id, file.next_file_id];
        let state = self.state(file, None).filter(|state| {
            let is_known = known.contains(&state.database_id);
            is_known || file.file_id.is_none()
        });
        match state.as_ref().and_then(|state| Some((state.database_id?, state))) {
            Some((id, state)) => self.adopt(file, id, state)?,
            // A session that expects another file does not open it.
            None => self.master.finish_file(file.database_id)?,
        }
        self.remove_drafts(file)
    }

    /// Notes what a file contains.
    fn adopt(&self, file: &DatabaseFile, id: DatabaseId, state: &FileState) -> Result<(), MasterError> {
        let path = file.path(self.folder)?;
        let suite = Suite::from_name(&state.suite).unwrap_or(Suite::None);
        let known = self.identity_of(file, None).filter(|(known, _)| *known == id);
        let commitment = known.map(|(_, commitment)| commitment);
        match keys::list(&Disk, &path) {
            Ok(list) => note_key(self.master, file.database_id, suite, &list.slots)?,
            Err(why) => self.log.line(&format!("Database '{}': {why}.", file.name)),
        }
        self.master.allow_deprecated(file.database_id, state.is_deprecated())?;
        self.master
            .settle_file(file.database_id, (id, commitment), state.phase == Phase::Encrypted)
    }

    /// `only-known-files-are-removed`: a log that a restore has put aside is not removed: it may be all that is left of
    /// commits.
    fn remove_drafts(&self, file: &DatabaseFile) -> Result<(), MasterError> {
        let path = file.path(self.folder)?;
        let own = draft_of(&path, file.database_id)?;
        let restored = Draft::path_of(&path, RESTORE)?;
        let claim = Draft::path_of(&path, RESTORE_CLAIM)?;
        let mut done = remove_draft(&own);
        if !DRAFT_LOGS.iter().any(|log| beside(&restored, log).exists()) {
            done = done.and(remove_if_there(&restored)).and(remove_if_there(&claim));
        }
        if let Err(error) = done {
            self.log.line(&format!(
                "A draft of database '{}' could not be removed: {error}.",
                file.name
            ));
        }
        Ok(())
    }

    /// The id and commitment of a database's file, if it has them and its origin is accepted.
    fn identity_of(&self, file: &DatabaseFile, origin: Option<OriginPolicy>) -> Option<(DatabaseId, [u8; 32])> {
        let path = file.path(self.folder).ok()?;
        let present = plain_access(self.access);
        let access = Access {
            origin: origin.or(present.origin),
            ..present
        };
        // A file that does not exist, or can't be opened, is reported when it is opened.
        load_commitment(&path, &access).ok().flatten()
    }

    fn state(&self, file: &DatabaseFile, expected: Option<DatabaseId>) -> Option<FileState> {
        let access = Access {
            expected: Expected {
                database_id: expected,
                // For a file that may have been replaced no commitment is expected.
                commitment: expected.and(file.commitment),
                is_encrypted: false,
            },
            ..plain_access(self.access)
        };
        let path = file.path(self.folder).ok()?;
        match FileState::load(&path, &access) {
            Ok(state) => Some(state),
            Err(why) => {
                self.log.line(&format!("Database '{}': {why}.", file.name));
                None
            }
        }
    }

    fn log_kept(&self, file: &DatabaseFile) {
        if let Ok(path) = file.path(self.folder)
            && let Some(kept) = in_the_way(&path)
        {
            let kept = kept.display();
            self.log
                .line(&format!("{kept}: kept, although no database is named '{}'.", file.name));
        }
    }

    /// Files that belong to no database.
    fn log_unknown_files(&self) {
        let (Ok(entries), Ok(files)) = (std::fs::read_dir(self.folder), self.master.files()) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".db")) else {
                continue;
            };
            let is_known = name == "master"
                || files
                    .iter()
                    .any(|file| file.path(self.folder).is_ok_and(|path| path == entry.path()));
            if !is_known && !name.starts_with('.') {
                let path = entry.path();
                self.log
                    .line(&format!("{}: no database has this name.", path.display()));
            }
        }
    }
}

/// The engine's name for the draft of a restore.
const RESTORE: &str = "restore";
/// The files that it puts aside beside the draft.
const DRAFT_LOGS: [&str; 3] = ["-journal", "-wal", "-shm"];
/// And the claim of the process that restores.
const RESTORE_CLAIM: &str = "restore-claim";

#[cfg(test)]
mod tests;

//! File controls of the database file.

use std::sync::Arc;

use selenite_keyring::OriginPolicy;

use super::pragma;
use super::{MainFile, Refusal};
use crate::database::Content;
use crate::error::VfsError;
use crate::ffi::{Code, Connection, Control, RawControl};
use crate::settings::parse_digits;

impl MainFile {
    pub(super) fn try_control(&mut self, control: &mut RawControl) -> Result<(), VfsError> {
        let raw = *control;
        let is_plain = matches!(self.database.content(), Content::Plain);
        let parsed = control.parse();
        if matches!(parsed, Control::CheckpointDone) {
            self.database.passthrough.close();
        }
        // SQLITE_FCNTL_SYNC is among them: SQLite sends it before every commit.
        if matches!(parsed, Control::Other | Control::Atomic) {
            self.flush()?;
        }
        match parsed {
            Control::Visit(visit) => {
                visit.show(self);
                Ok(())
            }
            Control::Pragma(request) => {
                if pragma::answer(self, &request)? {
                    return Ok(());
                }
                self.pass(&raw)
            }
            Control::VfsName(name) => {
                let _ = self.pass(&raw);
                name.prepend("selenite");
                Ok(())
            }
            Control::MmapSize(_) => {
                self.is_mapped = false;
                self.pass(&raw)
            }
            Control::Connection(connection) => {
                let is_opener = !std::mem::replace(&mut self.is_connection_known, true);
                let is_on_other_vfs = connection.main_is_on_other_vfs(is_opener);
                if is_on_other_vfs && !is_plain && !self.database.settings.allow_plain {
                    self.refusal = Some(Refusal::MainOnOtherVfs);
                } else if is_opener && self.refusal.is_none() {
                    self.check_attached_origin(&connection);
                }
                self.pass(&raw)
            }
            Control::CheckpointStart => {
                self.drop_ahead();
                self.database.lock().page_count = None;
                self.database.passthrough.open();
                let _ = self.pass(&raw);
                Ok(())
            }
            Control::CheckpointDone => {
                self.drop_ahead();
                self.database.lock().page_count = None;
                let _ = self.pass(&raw);
                Ok(())
            }
            // Hints of the size that SQLite knows, which is not the file's: the VFS below would
            // truncate live pages or create pages that were never sealed.
            Control::SizeHint | Control::ChunkSize if !is_plain => Ok(()),
            Control::Atomic => Err(Code::NOTFOUND.into()),
            Control::SizeHint | Control::ChunkSize | Control::PowersafeOverwrite(_) | Control::Other => self.pass(&raw),
        }
    }

    /// Checks an attached database against the URI with which the program opened the main database:
    /// the URI in an ATTACH may come from injected SQL. There `origin=any` counts only if main's
    /// URI also has it, and `commitment=` can only refuse a database, not allow it.
    fn check_attached_origin(&mut self, connection: &Connection<'_>) {
        if !connection.has_main() {
            return;
        }
        let settings = &self.database.settings;
        let main_origin = connection
            .opening_parameter(c"origin")
            .and_then(|word| word.parse().ok());
        let lets_any = settings.origin != Some(OriginPolicy::Any) || main_origin == settings.origin;
        let main_commitment = connection.opening_parameter(c"commitment");
        let main_commitment = main_commitment.and_then(|digits| parse_digits("commitment", &digits).ok());
        let may_admit = settings.expected_commitment.is_none() || settings.expected_commitment == main_commitment;
        if lets_any && may_admit {
            return;
        }
        if let Err(error) = self.database.recheck_origin((lets_any, may_admit), main_origin) {
            self.refusal = Some(Refusal::Origin(Arc::new(error)));
        }
    }

    fn pass(&self, control: &RawControl) -> Result<(), VfsError> {
        Ok(self.database.lock().lower.control(control)?)
    }
}

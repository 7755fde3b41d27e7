//! What SQLite asks of the database file besides reading and writing.

use super::MainFile;
use crate::database::Content;
use crate::error::VfsError;
use crate::ffi::{Code, Control, RawControl};
use crate::pragma;

impl MainFile {
    pub(super) fn try_control(&mut self, control: &mut RawControl) -> Result<(), VfsError> {
        let raw = *control;
        let is_plain = matches!(self.database.content(), Content::Plain);
        let parsed = control.parse();
        if matches!(parsed, Control::CheckpointDone) {
            self.database.passage.close();
        }
        // SQLITE_FCNTL_SYNC is among them: it comes before every commit.
        if matches!(parsed, Control::Other | Control::Atomic) {
            self.settle()?;
        }
        match parsed {
            Control::Visit(visit) => {
                visit.show(self);
                Ok(())
            }
            Control::Pragma(request) => {
                if pragma::answer(self, &request) {
                    return Ok(());
                }
                self.pass(&raw)
            }
            Control::VfsName(name) => {
                let _ = self.pass(&raw);
                name.prepend("selenite");
                Ok(())
            }
            Control::MmapSize(size) => {
                // SQLite maps nothing without xFetch; the VFS below must not cut or grow the file for it either.
                *size = 0;
                self.database.lock().lower.forbid_mapping();
                Ok(())
            }
            Control::Connection(connection) => {
                let is_elsewhere = connection.has_main_elsewhere(!std::mem::replace(&mut self.was_claimed, true));
                self.refused |= is_elsewhere && !is_plain && !self.database.settings.allow_plain;
                self.pass(&raw)
            }
            Control::CheckpointStart => {
                self.drop_ahead();
                self.database.lock().page_count = None;
                self.database.passage.open();
                let _ = self.pass(&raw);
                Ok(())
            }
            Control::CheckpointDone => {
                self.drop_ahead();
                self.database.lock().page_count = None;
                let _ = self.pass(&raw);
                Ok(())
            }
            // Hints of the size that SQLite knows, which is not the file's: below, they would cut live pages or leave
            // places that were never sealed.
            Control::SizeHint | Control::ChunkSize if !is_plain => Ok(()),
            Control::Atomic => Err(Code::NOTFOUND.into()),
            Control::SizeHint | Control::ChunkSize | Control::PowersafeOverwrite(_) | Control::Other => self.pass(&raw),
        }
    }

    fn pass(&self, control: &RawControl) -> Result<(), VfsError> {
        Ok(self.database.lock().lower.control(control)?)
    }
}

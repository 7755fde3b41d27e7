//! Checks an opened file against the URI's requirements (`database_id`, `commitment`, `encrypted`).
//!
//! - checked-on-open: these are checked only when the file is opened. An open file stays that
//!   database (`database.rs`, superblock-moves-forward), and its encryption may be switched off
//!   meanwhile.

use selenite_cipher::Suite;

use crate::database::{Content, Inner};
use crate::error::VfsError;
use crate::settings::Settings;

/// Refuses a file that is not the expected database.
///
/// # Errors
/// `Unexpected`; errors of the VFS below.
pub fn check_expected(settings: &Settings, inner: &mut Inner) -> Result<(), VfsError> {
    let (expected, must_encrypt) = (settings.expected_id, settings.expects_encrypted);
    let commitment = settings.expected_commitment;
    match inner.content().clone() {
        Content::Sealed(view) => {
            let superblock = &view.unlocked.superblock;
            if expected.is_some_and(|expected| expected != superblock.database_id) {
                return Err(VfsError::Unexpected("it is another database, with another id"));
            }
            if commitment.is_some_and(|commitment| commitment != view.unlocked.master.commitment()) {
                return Err(VfsError::Unexpected(
                    "it has another master key, with another commitment",
                ));
            }
            if must_encrypt && superblock.epochs.iter().any(|epoch| epoch.suite == Suite::None) {
                return Err(VfsError::Unexpected("some of its pages may be unencrypted"));
            }
            let size = inner.lower.size()?;
            if must_encrypt && superblock.pages_exist && view.geometry.page_count(size) == 0 {
                return Err(VfsError::Unexpected("all its pages were truncated"));
            }
            Ok(())
        }
        Content::Plain if must_encrypt => Err(VfsError::Unexpected("it is an unencrypted database")),
        Content::Empty if must_encrypt || expected.is_some() || commitment.is_some() => {
            Err(VfsError::Unexpected("it is empty"))
        }
        Content::Plain | Content::Empty => Ok(()),
    }
}

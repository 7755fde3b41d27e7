//! PRAGMAs handled by the VFS.

use selenite_format::PageSize;

use super::status;
use crate::database::Content;
use crate::error::{KEY_PRAGMA, VfsError};
use crate::ffi::Pragma;
use crate::main_file::MainFile;

/// Handles a PRAGMA; `false` leaves it to SQLite.
///
/// # Errors
/// [`VfsError::KeyPragma`]: SQLite ignores an unknown PRAGMA, and a program written for SQLCipher
/// or SEE would assume that its database is encrypted under that key.
pub fn answer(main: &mut MainFile, request: &Pragma<'_>) -> Result<bool, VfsError> {
    let name = request.name().to_ascii_lowercase();
    match (name.as_str(), request.argument()) {
        ("selenite_status", None) => {
            request.answer(&status::text(main));
            Ok(true)
        }
        ("page_size", Some(wanted)) => {
            let Some(present) = refuse_page_size(main, wanted) else {
                return Ok(false);
            };
            // A result without a text is a column without a name, which Python takes for a lack of
            // memory.
            request.answer(&present.as_u32().to_string());
            Ok(true)
        }
        (name, _) if KEY_PRAGMAS.contains(&name) => {
            // The text is the error's message.
            request.answer(KEY_PRAGMA);
            Err(VfsError::KeyPragma)
        }
        _ => Ok(false),
    }
}

/// Logs a page size that is impossible, and ignores it, as SQLite itself does: returns the current
/// page size.
///
/// SQLite must not see the PRAGMA: its next VACUUM would use that page size, and such pages cannot
/// be sealed.
fn refuse_page_size(main: &MainFile, wanted: &str) -> Option<PageSize> {
    let present = match main.database.content() {
        Content::Plain => return None,
        Content::Sealed(view) => view.geometry.page_size(),
        Content::Empty => main.database.settings.page_size,
    };
    if wanted
        .trim()
        .parse::<u32>()
        .ok()
        .and_then(|size| PageSize::try_from(size).ok())
        == Some(present)
    {
        return None;
    }
    let text = format!(
        "PRAGMA page_size = {} can't be honoured: pages have {} bytes; give page_size= in the URI of a new database",
        wanted.trim(),
        present.as_u32()
    );
    main.database.host.remark(&main.database.path, &text);
    Some(present)
}

/// PRAGMAs by which SQLCipher, SQLite3 Multiple Ciphers and SEE take keys.
const KEY_PRAGMAS: [&str; 6] = ["key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey"];

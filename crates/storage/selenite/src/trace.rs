//! Reads traces of page operations (FORMAT 14), which the extension records.

use std::io::Read;
use std::path::Path;

pub use selenite_format::trace::{TraceEvent, TraceRecord, TraceRole};

use selenite_cipher::PartKey;
use selenite_format::trace::{TraceHeader, next_section, records};
use selenite_keyring::archive_recipient;

use crate::{Access, EngineError};

/// Passes the records of the trace at `path` to `section`, section by section. A last section that is cut is left
/// out: its process was killed.
///
/// # Errors
/// The identities of `access` do not open it; it is no trace, or was altered; the file cannot be read.
pub fn read(path: &Path, access: &Access, section: &mut dyn FnMut(&[TraceRecord])) -> Result<(), EngineError> {
    let failed = |source| EngineError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    };
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut read_more = |bytes: &mut Vec<u8>| (&mut file).take(CHUNK).read_to_end(bytes).map_err(failed);
    read_more(&mut bytes)?;
    let refused = |what: &str| EngineError::Refused {
        what: format!("{}: {what}", path.display()),
        pages: Vec::new(),
    };
    let malformed = |error: selenite_format::FormatError| refused(&error.to_string());
    let (header, rest) = TraceHeader::parse(&bytes).map_err(malformed)?;
    let mut rest = rest.to_vec();
    let identities = access.identities(&Access::config()?)?;
    let secret = archive_recipient::unwrap(&identities, std::slice::from_ref(&header.wrapped), &|_| true)?;
    let key = PartKey::of_trace(&secret, &header.id, &header.salt);
    let mut number = 0;
    loop {
        let Some((sealed, behind)) = next_section(&rest).map_err(malformed)? else {
            if read_more(&mut rest)? == 0 {
                break;
            }
            continue;
        };
        let mut sealed = sealed.to_vec();
        rest = behind.to_vec();
        let plain = key.open_piece(number, false, &mut sealed);
        let plain = plain.map_err(|_| refused(&format!("section {number} of the trace is not authentic")))?;
        let found = records(plain).map_err(malformed)?;
        section(&found);
        number += 1;
    }
    Ok(())
}

/// Bytes that are read at a time: a whole header, or a section of usual size.
const CHUNK: u64 = 512 << 10;

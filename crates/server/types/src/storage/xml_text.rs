//! Validation of xml.

use std::cell::RefCell;
use std::sync::Arc;

use super::MisfitCause;
use crate::normalized;

thread_local! {
    /// The last value: a statement may read the same one for each row of another source.
    static LAST: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// `bytes` as a value in its one form: another program may have written any other.
pub(super) fn checked(bytes: &[u8]) -> Result<Arc<str>, MisfitCause> {
    let known = LAST.with_borrow(|last| last.as_ref().filter(|last| last.as_bytes() == bytes).cloned());
    if let Some(known) = known {
        return Ok(known);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| MisfitCause::Encoding)?;
    match normalized(text, true) {
        Ok(form) if form == text => {
            let value: Arc<str> = form.into();
            LAST.set((bytes.len() <= KEPT_SIZE_MAX).then(|| Arc::clone(&value)));
            Ok(value)
        }
        Ok(_) | Err(_) => Err(MisfitCause::Form),
    }
}

/// Frees the last value, which no request reads any more.
pub fn forget_xml() {
    LAST.set(None);
}

/// 64 MiB: a row of nodes() reads the value that it is of.
const KEPT_SIZE_MAX: usize = 64 << 20;

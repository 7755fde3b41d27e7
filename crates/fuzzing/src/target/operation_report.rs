//! What someone left where a report of an operation should be.

use selenite_format::operation_report::{Report, SIZE_MAX};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let report = Report::parse(data);
    assert!(!report.what.contains(char::is_control) && !report.waiting.contains(char::is_control));
    let text = report.encode();
    assert!(text.len() <= SIZE_MAX);
    assert_eq!(Report::parse(text.as_bytes()), report);
}

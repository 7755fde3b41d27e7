//! Lines of the input, of a bounded size.

use std::io::{self, BufRead, Read};

use crate::WorkerError;
use crate::protocol::Request;
use crate::work::Controls;

/// A line that needs an answer.
pub enum Line {
    /// A request, and the channel of its controls if it is a run.
    Request(Box<Request>, Controls),
    /// A line that is not a request.
    Bad(WorkerError),
}

/// The next line without its terminator; none at the end of the input. The rest of a line that is
/// too long is skipped.
pub fn next(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    if input.by_ref().take(LINE_SIZE_MAX + 1).read_until(b'\n', &mut text)? == 0 {
        return Ok(None);
    }
    if text.last() != Some(&b'\n') && text.len() as u64 > LINE_SIZE_MAX {
        input.skip_until(b'\n')?;
    }
    Ok(Some(text))
}

/// A request, or the error of a malformed line; none for an empty line.
pub fn parse(text: &[u8]) -> Option<Result<Request, WorkerError>> {
    if text.len() as u64 > LINE_SIZE_MAX {
        let what = format!("the line is longer than {LINE_SIZE_MAX} bytes");
        return Some(Err(WorkerError::NoRequest(what)));
    }
    if text.trim_ascii().is_empty() {
        return None;
    }
    Some(serde_json::from_slice(text).map_err(|error| WorkerError::NoRequest(error.to_string())))
}

/// 1 MiB: requests have some hundred bytes.
const LINE_SIZE_MAX: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_the_input_too_and_long_ones_are_cut() {
        let mut long = vec![b'x'; 3 << 20];
        long.extend_from_slice(b"\nlast");
        let mut input = &long[..];
        let first = next(&mut input).unwrap().unwrap();
        assert!(matches!(parse(&first), Some(Err(WorkerError::NoRequest(_)))));
        assert_eq!(next(&mut input).unwrap().unwrap(), b"last");
        assert!(next(&mut input).unwrap().is_none());
        assert!(parse(b" \r\n").is_none());
    }
}

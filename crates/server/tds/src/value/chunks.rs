//! PARTLENTYPE: large values in chunks (MS-TDS 2.2.5.2.3).

use super::ValueError;
use crate::ParameterFault;
use crate::byte_reader::ByteReader;

/// The length of NULL.
pub(crate) const NULL: u64 = u64::MAX;
/// The length of what is not known before its end.
pub(crate) const UNKNOWN: u64 = u64::MAX - 1;

/// All chunks together; none of NULL. `byte` is the type's. What it takes is bounded by what has come.
pub(crate) fn parse(reader: &mut ByteReader<'_>, byte: u8) -> Result<Option<Vec<u8>>, ValueError> {
    let total = reader.u64()?;
    if total == NULL {
        return Ok(None);
    }
    let mut whole = Vec::new();
    loop {
        let size = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        if size == 0 {
            break;
        }
        whole.extend_from_slice(reader.take(size)?);
    }
    let is_right = total == UNKNOWN || u64::try_from(whole.len()).is_ok_and(|size| size == total);
    is_right
        .then_some(Some(whole))
        .ok_or(ParameterFault::Chunks(byte).into())
}

//! PARTLENTYPE: large values in chunks (PLP, MS-TDS 2.2.5.2.3).

use super::ValueError;
use crate::ParameterFault;
use crate::byte_reader::ByteReader;

/// PLP_NULL.
pub(crate) const NULL: u64 = u64::MAX;
/// UNKNOWN_PLP_LEN.
pub(crate) const UNKNOWN: u64 = u64::MAX - 1;

/// Concatenates all chunks; `None` for NULL. `byte` is the type byte. The allocation is bounded by the received bytes.
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

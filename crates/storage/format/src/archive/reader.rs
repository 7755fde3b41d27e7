//! Reads fields of a record in order.

use crate::FormatError;

/// The remaining bytes of a record.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    refused: FormatError,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], refused: FormatError) -> Self {
        Self { rest: bytes, refused }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(self.refused)?;
        self.rest = rest;
        Ok(*field)
    }

    pub(super) fn slice(&mut self, size: usize) -> Result<&'a [u8], FormatError> {
        let (field, rest) = self.rest.split_at_checked(size).ok_or(self.refused)?;
        self.rest = rest;
        Ok(field)
    }

    pub(super) fn u32(&mut self) -> Result<u32, FormatError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, FormatError> {
        self.array().map(u64::from_be_bytes)
    }

    /// A byte string preceded by its size in four bytes.
    pub(super) fn sized(&mut self) -> Result<&'a [u8], FormatError> {
        let size = self.u32()?;
        self.slice(usize::try_from(size).unwrap_or(usize::MAX))
    }

    /// A flag: 0 or 1.
    pub(super) fn flag(&mut self) -> Result<bool, FormatError> {
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(self.refused),
        }
    }

    /// The count of items of at least `size` bytes each, limited by the remaining bytes.
    pub(super) fn count(&mut self, size: usize) -> Result<usize, FormatError> {
        let count = usize::try_from(self.u32()?).unwrap_or(usize::MAX);
        let is_there = count.checked_mul(size).is_some_and(|size| size <= self.rest.len());
        is_there.then_some(count).ok_or(self.refused)
    }

    pub(super) fn end(self) -> Result<(), FormatError> {
        self.rest.is_empty().then_some(()).ok_or(self.refused)
    }
}

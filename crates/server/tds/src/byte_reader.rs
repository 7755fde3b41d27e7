//! Reads integers and byte ranges from the front of a slice, little-endian.

use crate::{MessagePart, TdsError};

/// Reads a message's bytes; errors name `part`.
#[derive(Clone, Copy)]
pub(crate) struct ByteReader<'a> {
    bytes: &'a [u8],
    part: MessagePart,
}

impl<'a> ByteReader<'a> {
    pub fn new(bytes: &'a [u8], part: MessagePart) -> Self {
        Self { bytes, part }
    }

    pub fn malformed(&self, what: &'static str) -> TdsError {
        TdsError::Malformed { part: self.part, what }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn peek(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    pub fn take(&mut self, size: usize) -> Result<&'a [u8], TdsError> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(size)
            .ok_or(TdsError::Cut { part: self.part })?;
        self.bytes = rest;
        Ok(taken)
    }

    /// A reader limited to the next `size` bytes.
    pub fn split(&mut self, size: usize) -> Result<Self, TdsError> {
        Ok(Self {
            bytes: self.take(size)?,
            part: self.part,
        })
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], TdsError> {
        let (taken, rest) = self
            .bytes
            .split_first_chunk()
            .ok_or(TdsError::Cut { part: self.part })?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Result<u8, TdsError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub fn u16(&mut self) -> Result<u16, TdsError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32, TdsError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, TdsError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// B_VARBYTE: a one-byte length, then that many bytes.
    pub fn short_bytes(&mut self) -> Result<&'a [u8], TdsError> {
        let size = self.u8()?;
        self.take(size.into())
    }
}

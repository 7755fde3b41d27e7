//! A field with fixed offset and size.

/// Bytes `offset .. offset + N` of some record.
#[derive(Clone, Copy)]
pub(crate) struct Field<const N: usize> {
    offset: usize,
}

impl<const N: usize> Field<N> {
    pub(crate) const fn at(offset: usize) -> Self {
        Self { offset }
    }

    /// Reads the field from `record`, which must be long enough: callers check the size of a record
    /// once, before its fields.
    pub(crate) fn read(self, record: &[u8]) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(&record[self.offset..self.offset + N]);
        out
    }

    pub(crate) fn is_zero(self, record: &[u8]) -> bool {
        self.read(record) == [0; N]
    }

    /// Writes the field into `record`, which must be long enough.
    pub(crate) fn write(self, record: &mut [u8], value: [u8; N]) {
        record[self.offset..self.offset + N].copy_from_slice(&value);
    }

    /// Offset and size, for comparison with `docs/FORMAT.md`.
    #[cfg(test)]
    pub(crate) fn span(self) -> (usize, usize) {
        (self.offset, N)
    }
}

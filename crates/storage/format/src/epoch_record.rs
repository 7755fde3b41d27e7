//! The record of an epoch in the superblock (FORMAT 3.2).

use selenite_cipher::{Epoch, Suite};

use crate::FormatError;
use crate::field::Field;

/// An epoch: its wrapped data key and its suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpochRecord {
    /// The number, from 1; never reused for another key of the same database.
    pub epoch: Epoch,
    /// The suite of pages of this epoch.
    pub suite: Suite,
    /// When the data key was created: seconds since 1970-01-01 UTC.
    pub created: u64,
    /// The data key under the wrapping key (FORMAT 4.3).
    pub wrapped: [u8; 60],
}

impl EpochRecord {
    pub(crate) fn encode(&self) -> [u8; EPOCH_SIZE] {
        let mut out = [0; EPOCH_SIZE];
        EPOCH.write(&mut out, self.epoch.0.to_be_bytes());
        SUITE.write(&mut out, self.suite.id().to_be_bytes());
        CREATED.write(&mut out, self.created.to_be_bytes());
        WRAPPED.write(&mut out, self.wrapped);
        out
    }

    pub(crate) fn parse(bytes: &[u8; EPOCH_SIZE]) -> Result<Self, FormatError> {
        let refuse = |what| Err(FormatError::Tampered { what });
        if !ZERO_6.is_zero(bytes) || !ZERO_76.is_zero(bytes) {
            return refuse("zero field of an epoch");
        }
        let Some(suite) = Suite::from_id(u16::from_be_bytes(SUITE.read(bytes))) else {
            return refuse("suite");
        };
        Ok(Self {
            epoch: Epoch(u32::from_be_bytes(EPOCH.read(bytes))),
            suite,
            created: u64::from_be_bytes(CREATED.read(bytes)),
            wrapped: WRAPPED.read(bytes),
        })
    }
}

pub(crate) const EPOCH_SIZE: usize = 80;
const EPOCH: Field<4> = Field::at(0);
const SUITE: Field<2> = Field::at(4);
const ZERO_6: Field<2> = Field::at(6);
const CREATED: Field<8> = Field::at(8);
const WRAPPED: Field<60> = Field::at(16);
const ZERO_76: Field<4> = Field::at(76);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    #[test]
    fn fields_are_those_of_the_document() {
        let fields = [
            EPOCH.span(),
            SUITE.span(),
            ZERO_6.span(),
            CREATED.span(),
            WRAPPED.span(),
            ZERO_76.span(),
        ];
        assert_eq!(document::spans("3.2"), fields);
        assert_eq!(document::end(&fields), EPOCH_SIZE);
    }
}

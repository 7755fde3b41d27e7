//! A key slot: the master key, wrapped for one identity (FORMAT 3.3).

use std::collections::HashSet;

use selenite_cipher::SlotId;

use crate::FormatError;
use crate::field::Field;

/// A key slot. It contains identifiers and ciphertext, never a command, path or address (FORMAT 3.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The kind of identity that opens the slot.
    pub kind: SlotKind,
    /// 128 random bits, distinct within a superblock.
    pub id: SlotId,
    /// When the slot was created: seconds since 1970-01-01 UTC.
    pub created: u64,
    /// A label for users. At most [`SLOT_LABEL_SIZE_MAX`] bytes.
    pub label: String,
    /// Identifies the identity (FORMAT 4.5). At most [`SLOT_IDENTIFIER_SIZE_MAX`] bytes.
    pub identifier: Vec<u8>,
    /// Parameters of the key derivation (FORMAT 4.5). At most [`SLOT_PARAMETERS_SIZE_MAX`] bytes.
    pub parameters: Vec<u8>,
    /// The wrapped master key. 1 to [`SLOT_WRAPPED_SIZE_MAX`] bytes.
    pub wrapped: Vec<u8>,
}

/// The kind of a slot. A slot of unknown kind is preserved and never opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotKind {
    /// 1: 32 bytes in a file.
    Raw,
    /// 2: a passphrase, stretched with Argon2id.
    Passphrase,
    /// 3: an age recipient.
    Age,
    /// 4: a command in the caller's configuration.
    Command,
    /// 5: reserved for PKCS#11.
    Pkcs11,
    /// 6: reserved for key services.
    KeyService,
    /// Any other number.
    Unknown(u16),
}

/// 64 bytes: a label is one or two words.
pub const SLOT_LABEL_SIZE_MAX: usize = 64;
/// 512 bytes: an age plugin's recipient, or the name of a key in a key service, is shorter.
pub const SLOT_IDENTIFIER_SIZE_MAX: usize = 512;
/// 64 bytes: Argon2id needs 28.
pub const SLOT_PARAMETERS_SIZE_MAX: usize = 64;
/// The size of the parameters of an age slot with an origin mark (FORMAT 4.7): a wrapped token.
pub const ORIGIN_MARK_SIZE: usize = 60;
/// 8 KiB: an age file for a post-quantum recipient has about 2 KiB.
pub const SLOT_WRAPPED_SIZE_MAX: usize = 8192;

impl SlotKind {
    /// The number in the slot.
    pub const fn id(self) -> u16 {
        match self {
            Self::Raw => 1,
            Self::Passphrase => 2,
            Self::Age => 3,
            Self::Command => 4,
            Self::Pkcs11 => 5,
            Self::KeyService => 6,
            Self::Unknown(id) => id,
        }
    }

    /// The kind with that number.
    pub const fn from_id(id: u16) -> Self {
        match id {
            1 => Self::Raw,
            2 => Self::Passphrase,
            3 => Self::Age,
            4 => Self::Command,
            5 => Self::Pkcs11,
            6 => Self::KeyService,
            id => Self::Unknown(id),
        }
    }
}

impl Slot {
    /// The size of the slot in a superblock, in bytes.
    pub fn size(&self) -> usize {
        HEADER_SIZE + self.label.len() + self.identifier.len() + self.parameters.len() + self.wrapped.len()
    }

    /// Checks the rules of FORMAT 3.3; the error is the rule that is broken.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if SlotKind::from_id(self.kind.id()) != self.kind {
            return Err("kind of a slot");
        }
        if self.label.len() > SLOT_LABEL_SIZE_MAX {
            return Err("label size of a slot");
        }
        if self.identifier.len() > SLOT_IDENTIFIER_SIZE_MAX {
            return Err("identifier size of a slot");
        }
        if self.parameters.len() > SLOT_PARAMETERS_SIZE_MAX {
            return Err("parameter size of a slot");
        }
        if self.wrapped.is_empty() || self.wrapped.len() > SLOT_WRAPPED_SIZE_MAX {
            return Err("wrapped size of a slot");
        }
        Ok(())
    }

    /// Appends the slot to `out`. [`Slot::check`] has passed.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<(), FormatError> {
        let mut header = [0; HEADER_SIZE];
        let size = u32::try_from(self.size()).map_err(|_| FormatError::Invalid { what: "size of a slot" })?;
        SIZE.write(&mut header, size.to_be_bytes());
        KIND.write(&mut header, self.kind.id().to_be_bytes());
        ID.write(&mut header, self.id.0);
        CREATED.write(&mut header, self.created.to_be_bytes());
        LABEL_SIZE.write(&mut header, size_field(self.label.len())?);
        IDENTIFIER_SIZE.write(&mut header, size_field(self.identifier.len())?);
        PARAMETERS_SIZE.write(&mut header, size_field(self.parameters.len())?);
        WRAPPED_SIZE.write(&mut header, size_field(self.wrapped.len())?);
        out.extend_from_slice(&header);
        out.extend_from_slice(self.label.as_bytes());
        out.extend_from_slice(&self.identifier);
        out.extend_from_slice(&self.parameters);
        out.extend_from_slice(&self.wrapped);
        Ok(())
    }

    /// Parses the slot at the start of `bytes` and returns the remaining bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        let refuse = |what| FormatError::Tampered { what };
        let (header, rest) = bytes.split_at_checked(HEADER_SIZE).ok_or(refuse("size of a slot"))?;
        if !ZERO_6.is_zero(header) || !ZERO_40.is_zero(header) {
            return Err(refuse("zero field of a slot"));
        }
        let mut rest = rest;
        let mut take = |field: Field<2>| {
            let size = usize::from(u16::from_be_bytes(field.read(header)));
            let (part, after) = rest.split_at_checked(size).ok_or(refuse("size of a slot"))?;
            rest = after;
            Ok(part)
        };
        let label = take(LABEL_SIZE)?;
        let identifier = take(IDENTIFIER_SIZE)?.to_vec();
        let parameters = take(PARAMETERS_SIZE)?.to_vec();
        let wrapped = take(WRAPPED_SIZE)?.to_vec();
        let slot = Self {
            kind: SlotKind::from_id(u16::from_be_bytes(KIND.read(header))),
            id: SlotId(ID.read(header)),
            created: u64::from_be_bytes(CREATED.read(header)),
            label: str::from_utf8(label).map_err(|_| refuse("label of a slot"))?.to_owned(),
            identifier,
            parameters,
            wrapped,
        };
        if usize::try_from(u32::from_be_bytes(SIZE.read(header))) != Ok(slot.size()) {
            return Err(refuse("size of a slot"));
        }
        slot.check().map_err(refuse)?;
        Ok((slot, rest))
    }
}

/// Checks the rules for the set of slots; the error is the rule that is broken.
pub(crate) fn check_slots(slots: &[Slot]) -> Result<(), &'static str> {
    slots.iter().try_for_each(Slot::check)?;
    let ids: HashSet<SlotId> = slots.iter().map(|slot| slot.id).collect();
    if ids.len() != slots.len() {
        return Err("the same slot id twice");
    }
    Ok(())
}

fn size_field(size: usize) -> Result<[u8; 2], FormatError> {
    let size = u16::try_from(size).map_err(|_| FormatError::Invalid { what: "size of a slot" })?;
    Ok(size.to_be_bytes())
}

const HEADER_SIZE: usize = 48;
const SIZE: Field<4> = Field::at(0);
const KIND: Field<2> = Field::at(4);
const ZERO_6: Field<2> = Field::at(6);
const ID: Field<16> = Field::at(8);
const CREATED: Field<8> = Field::at(24);
const LABEL_SIZE: Field<2> = Field::at(32);
const IDENTIFIER_SIZE: Field<2> = Field::at(34);
const PARAMETERS_SIZE: Field<2> = Field::at(36);
const WRAPPED_SIZE: Field<2> = Field::at(38);
const ZERO_40: Field<8> = Field::at(40);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    #[test]
    fn fields_are_those_of_the_document() {
        let fields = [
            SIZE.span(),
            KIND.span(),
            ZERO_6.span(),
            ID.span(),
            CREATED.span(),
            LABEL_SIZE.span(),
            IDENTIFIER_SIZE.span(),
            PARAMETERS_SIZE.span(),
            WRAPPED_SIZE.span(),
            ZERO_40.span(),
        ];
        assert_eq!(document::spans("3.3"), fields);
        assert_eq!(document::end(&fields), HEADER_SIZE);
    }

    #[test]
    fn kinds_round_trip_through_their_numbers() {
        for id in 0..=u16::MAX {
            assert_eq!(SlotKind::from_id(id).id(), id);
        }
    }
}

//! The fields of LOGIN7 that are located by offset and length (MS-TDS 2.2.6.4, OffsetLength).

use super::Password;
use crate::{MessagePart, TdsError};

/// LOGIN7 up to its declared length; fields outside of it are errors.
pub(super) struct Fields<'a> {
    data: &'a [u8],
}

/// The position of a text's offset and length, and its maximum length in UTF-16 units.
#[derive(Clone, Copy)]
pub(super) struct TextField {
    at: usize,
    unit_count_max: u16,
}

pub(super) const HOST_NAME: TextField = text_field(36);
pub(super) const USER_NAME: TextField = text_field(40);
pub(super) const PASSWORD: TextField = text_field(44);
pub(super) const APP_NAME: TextField = text_field(48);
pub(super) const SERVER_NAME: TextField = text_field(52);
pub(super) const LIBRARY_NAME: TextField = text_field(60);
pub(super) const LANGUAGE: TextField = text_field(64);
pub(super) const DATABASE: TextField = text_field(68);
pub(super) const ATTACH_FILE: TextField = TextField {
    at: 82,
    unit_count_max: 260,
};
pub(super) const NEW_PASSWORD: TextField = text_field(86);

/// MS-TDS 2.2.6.4: 128 characters for every field except AtchDBFile.
const fn text_field(at: usize) -> TextField {
    TextField {
        at,
        unit_count_max: 128,
    }
}

impl<'a> Fields<'a> {
    /// The fields of a complete LOGIN7.
    pub fn new(data: &'a [u8]) -> Result<Self, TdsError> {
        if data.len() < FIXED_SIZE {
            return Err(TdsError::Cut {
                part: MessagePart::Login,
            });
        }
        Ok(Self { data })
    }

    pub fn text(&self, field: TextField) -> Result<String, TdsError> {
        crate::utf16::parse(self.text_bytes(field)?).ok_or(malformed("text in UTF-16"))
    }

    pub fn password(&self, field: TextField) -> Result<Password, TdsError> {
        Password::deobfuscate(self.text_bytes(field)?)
    }

    pub fn client_id(&self) -> Result<[u8; 6], TdsError> {
        self.array(CLIENT_ID)
    }

    pub fn sspi(&self) -> Result<&'a [u8], TdsError> {
        let offset = self.u16(SSPI)?;
        let short = self.u16(SSPI + 2)?;
        // cbSSPILong replaces a length that does not fit into two bytes.
        let size = match (short, u32::from_le_bytes(self.array(SSPI_LONG)?)) {
            (u16::MAX, long) if long > 0 => long,
            (short, _) => short.into(),
        };
        self.bytes(offset.into(), size)
    }

    /// The bytes from the start of the features (ibExtension) to the end of LOGIN7.
    pub fn extension(&self) -> Result<&'a [u8], TdsError> {
        let (offset, size) = (self.u16(FEATURES)?, self.u16(FEATURES + 2)?);
        let pointer = self.bytes(offset.into(), size.into())?;
        let pointer = pointer.first_chunk().ok_or(malformed("the pointer to the features"))?;
        let offset = usize::try_from(u32::from_le_bytes(*pointer)).unwrap_or(usize::MAX);
        if offset < FIXED_SIZE {
            return Err(malformed("an offset"));
        }
        self.data.get(offset..).ok_or(TdsError::Cut {
            part: MessagePart::Login,
        })
    }

    fn text_bytes(&self, field: TextField) -> Result<&'a [u8], TdsError> {
        let (offset, unit_count) = (self.u16(field.at)?, self.u16(field.at + 2)?);
        if unit_count > field.unit_count_max {
            return Err(malformed("a length"));
        }
        self.bytes(offset.into(), u32::from(unit_count) * 2)
    }

    /// An offset with length 0 is ignored; any other is after the fixed part.
    fn bytes(&self, offset: usize, size: u32) -> Result<&'a [u8], TdsError> {
        if size == 0 {
            return Ok(&[]);
        }
        if offset < FIXED_SIZE {
            return Err(malformed("an offset"));
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let bytes = self.data.get(offset..).and_then(|data| data.get(..size));
        bytes.ok_or(TdsError::Cut {
            part: MessagePart::Login,
        })
    }

    fn u16(&self, at: usize) -> Result<u16, TdsError> {
        Ok(u16::from_le_bytes(self.array(at)?))
    }

    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N], TdsError> {
        let array = self.data.get(at..).and_then(|data| data.first_chunk());
        array.copied().ok_or(TdsError::Cut {
            part: MessagePart::Login,
        })
    }
}

fn malformed(what: &'static str) -> TdsError {
    TdsError::Malformed {
        part: MessagePart::Login,
        what,
    }
}

const FEATURES: usize = 56;
const CLIENT_ID: usize = 72;
const SSPI: usize = 78;
const SSPI_LONG: usize = 90;
/// The size of everything before the variable part.
const FIXED_SIZE: usize = 94;

//! PRELOGIN (MS-TDS 2.2.6.5).

mod encryption;

pub use encryption::{Channel, Encryption, EncryptionMode, Negotiated, negotiate};

use crate::{MessagePart, TdsError};

/// A program's version.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ProductVersion {
    /// The first number.
    pub major: u8,
    /// The second number.
    pub minor: u8,
    /// The third number.
    pub build: u16,
    /// The fourth number.
    pub sub_build: u16,
}

/// The options of a client's or server's PRELOGIN.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Prelogin {
    /// VERSION: the version of the sender.
    pub version: ProductVersion,
    /// ENCRYPTION: the sender's setting, or the negotiated one.
    pub encryption: Encryption,
    /// INSTOPT: in a client's PRELOGIN the requested instance name, or empty; in a server's one byte, 0 if the name
    /// matches.
    pub instance: Option<Vec<u8>>,
    /// THREADID: the client's thread.
    pub thread_id: Option<u32>,
    /// MARS: several active requests per connection.
    pub mars: Option<bool>,
    /// TRACEID: the connection id, the activity id and its sequence number.
    pub trace_id: Option<[u8; 36]>,
    /// FEDAUTHREQUIRED. A server sends it only if the client did.
    pub federated_required: Option<bool>,
    /// NONCEOPT.
    pub nonce: Option<[u8; 32]>,
}

impl Prelogin {
    /// Parses the data of a message. Options that MS-TDS does not define are skipped.
    ///
    /// Errors: `Cut`, `Malformed`; `Unsupported` for a client certificate.
    pub fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let mut prelogin = Self::default();
        let mut seen = 0_u16;
        let mut entries = data;
        loop {
            let (&option, rest) = entries.split_first().ok_or(CUT)?;
            if option == TERMINATOR {
                break;
            }
            let (entry, rest) = rest.split_first_chunk::<4>().ok_or(CUT)?;
            entries = rest;
            let [offset_high, offset_low, length_high, length_low] = *entry;
            let offset = usize::from(u16::from_be_bytes([offset_high, offset_low]));
            let length = usize::from(u16::from_be_bytes([length_high, length_low]));
            let value = data.get(offset..).and_then(|data| data.get(..length)).ok_or(CUT)?;
            if option <= NONCE {
                if seen & (1 << option) != 0 {
                    return Err(TdsError::Malformed {
                        part: MessagePart::Prelogin,
                        what: "a PRELOGIN option given twice",
                    });
                }
                seen |= 1 << option;
                prelogin.set(option, value)?;
            }
        }
        // MS-TDS 2.2.6.5: VERSION is required and comes first; without ENCRYPTION the channel cannot be negotiated.
        if data.first() != Some(&VERSION) || seen & (1 << ENCRYPTION) == 0 {
            return Err(TdsError::Malformed {
                part: MessagePart::Prelogin,
                what: "PRELOGIN without VERSION or ENCRYPTION",
            });
        }
        Ok(prelogin)
    }

    /// Encodes the data of a message.
    ///
    /// Errors: `Misfit` if the options exceed 64 KiB.
    pub fn encode(&self) -> Result<Vec<u8>, TdsError> {
        let options = self.options();
        let mut values = Vec::new();
        let mut data = Vec::new();
        let base = options.len() * 5 + 1;
        for (option, value) in &options {
            let offset = u16::try_from(base + values.len()).map_err(|_| TOO_LONG)?;
            let length = u16::try_from(value.len()).map_err(|_| TOO_LONG)?;
            data.push(*option);
            data.extend_from_slice(&offset.to_be_bytes());
            data.extend_from_slice(&length.to_be_bytes());
            values.extend_from_slice(value);
        }
        data.push(TERMINATOR);
        data.append(&mut values);
        Ok(data)
    }

    fn set(&mut self, option: u8, value: &[u8]) -> Result<(), TdsError> {
        match option {
            VERSION => {
                let &[major, minor, build_high, build_low, sub_low, sub_high] = exact(value)?;
                self.version = ProductVersion {
                    major,
                    minor,
                    build: u16::from_be_bytes([build_high, build_low]),
                    // US_SUBBUILD is a USHORT, which MS-TDS encodes little-endian.
                    sub_build: u16::from_le_bytes([sub_low, sub_high]),
                };
            }
            ENCRYPTION => {
                let &[byte] = exact(value)?;
                self.encryption = Encryption::from_byte(byte)?;
            }
            INSTANCE => self.instance = Some(value.to_vec()),
            // FreeTDS and others sometimes send options without a value: such an option counts as absent.
            _ if value.is_empty() => {}
            THREAD_ID => self.thread_id = Some(u32::from_le_bytes(*exact(value)?)),
            MARS => {
                let &[byte] = exact(value)?;
                self.mars = Some(byte != 0);
            }
            TRACE_ID => self.trace_id = Some(*exact(value)?),
            FEDERATED_REQUIRED => {
                let &[byte] = exact(value)?;
                self.federated_required = Some(byte != 0);
            }
            NONCE => self.nonce = Some(*exact(value)?),
            _ => {}
        }
        Ok(())
    }

    fn options(&self) -> Vec<(u8, Vec<u8>)> {
        let ProductVersion {
            major,
            minor,
            build,
            sub_build,
        } = self.version;
        let mut version = vec![major, minor];
        version.extend_from_slice(&build.to_be_bytes());
        version.extend_from_slice(&sub_build.to_le_bytes());
        let mut options = vec![(VERSION, version), (ENCRYPTION, vec![self.encryption.byte()])];
        options.extend(self.instance.as_ref().map(|instance| (INSTANCE, instance.clone())));
        options.extend(self.thread_id.map(|id| (THREAD_ID, id.to_le_bytes().to_vec())));
        options.extend(self.mars.map(|mars| (MARS, vec![u8::from(mars)])));
        options.extend(self.trace_id.map(|id| (TRACE_ID, id.to_vec())));
        let federated = self.federated_required;
        options.extend(federated.map(|required| (FEDERATED_REQUIRED, vec![u8::from(required)])));
        options.extend(self.nonce.map(|nonce| (NONCE, nonce.to_vec())));
        options
    }
}

fn exact<const N: usize>(value: &[u8]) -> Result<&[u8; N], TdsError> {
    value.try_into().map_err(|_| TdsError::Malformed {
        part: MessagePart::Prelogin,
        what: "length of a PRELOGIN option",
    })
}

const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD_ID: u8 = 3;
const MARS: u8 = 4;
const TRACE_ID: u8 = 5;
const FEDERATED_REQUIRED: u8 = 6;
const NONCE: u8 = 7;
const TERMINATOR: u8 = 0xFF;
const CUT: TdsError = TdsError::Cut {
    part: MessagePart::Prelogin,
};
const TOO_LONG: TdsError = TdsError::Misfit { what: "PRELOGIN" };

#[cfg(test)]
mod tests;

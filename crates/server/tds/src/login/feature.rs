//! FeatureExt: features beyond the protocol's version (MS-TDS 2.2.6.4).

use crate::byte_reader::ByteReader;
use crate::{MessagePart, TdsError};

/// One feature with its data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Feature {
    /// FeatureId.
    pub id: u8,
    /// FeatureData.
    pub data: Vec<u8>,
}

impl Feature {
    /// SESSIONRECOVERY.
    pub const SESSION_RECOVERY: u8 = 0x01;
    /// FEDAUTH.
    pub const FEDERATED: u8 = 0x02;
    /// COLUMNENCRYPTION.
    pub const COLUMN_ENCRYPTION: u8 = 0x04;
    /// GLOBALTRANSACTIONS.
    pub const GLOBAL_TRANSACTIONS: u8 = 0x05;
    /// AZURESQLSUPPORT.
    pub const AZURE: u8 = 0x08;
    /// DATACLASSIFICATION.
    pub const DATA_CLASSIFICATION: u8 = 0x09;
    /// UTF8_SUPPORT: the only feature that this server acknowledges. It allows UTF-8 collations; others do not change.
    pub const UTF8: u8 = 0x0A;
    /// AZURESQLDNSCACHING.
    pub const AZURE_DNS_CACHING: u8 = 0x0B;

    /// Parses all features up to the terminator.
    pub(super) fn parse_all(data: &[u8]) -> Result<Vec<Self>, TdsError> {
        let mut reader = ByteReader::new(data, MessagePart::Login);
        let mut features: Vec<Self> = Vec::new();
        loop {
            let id = reader.u8()?;
            if id == TERMINATOR {
                return Ok(features);
            }
            if features.iter().any(|feature| feature.id == id) {
                return Err(reader.malformed("a feature given twice"));
            }
            let size = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
            let data = reader.take(size)?.to_vec();
            features.push(Self { id, data });
        }
    }
}

const TERMINATOR: u8 = 0xFF;

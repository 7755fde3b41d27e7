//! The first object of an archive, `begun`, which contains the archive key in wrapped form (FORMAT 12.3).
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 16 | `selenite begun 1` |
//! | 16 | 16 | archive id |
//! | 32 | 16 | database id |
//! | 48 | 8 | when the archive was begun: seconds since 1970-01-01 UTC |
//! | 56 | 60 | the archive key under the master key's wrapping key |
//! | 116 | 4, S | the database's superblock at that time, preceded by its size |
//! | | 4 | recipients: 0 to 32 |
//! | | 4, n | for each recipient the archive key as a binary age file, preceded by its size |
//! | | 32 | tag of the set of recipients: FORMAT 12.3 |
//! | | 32 | HMAC-SHA-256 of all preceding bytes, under a key derived from the archive key |

use selenite_cipher::{ArchiveId, DatabaseId};

use super::reader::Reader;
use crate::{FormatError, SUPERBLOCK_SIZE_MAX};

/// 32: the same as the maximum number of key slots.
pub const RECIPIENT_COUNT_MAX: usize = 32;

/// The content of `begun`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArchiveHeader {
    /// The id of the archive.
    pub archive_id: ArchiveId,
    /// The id of the database.
    pub database_id: DatabaseId,
    /// When the archive was begun: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// The archive key, wrapped under the master key.
    pub wrapped_key: [u8; 60],
    /// The database's superblock: its slots contain the master key.
    pub superblock: Vec<u8>,
    /// The archive key as an age file, for each recipient, who can open the archive without the
    /// database's identities.
    pub recipients: Vec<Vec<u8>>,
    /// Identifies the set of recipients, for a holder of the archive key.
    pub recipients_tag: [u8; 32],
}

impl ArchiveHeader {
    /// Encodes the object. `mac` receives the bytes that the MAC covers.
    ///
    /// # Errors
    /// [`FormatError::Archive`] if [`ArchiveHeader::parse`] would refuse the result.
    pub fn encode(&self, mac: impl FnOnce(&[u8]) -> [u8; 32]) -> Result<Vec<u8>, FormatError> {
        let mut out = self.before_tag()?;
        out.extend(self.recipients_tag);
        let mac = mac(&out);
        out.extend(mac);
        Ok(out)
    }

    /// Encodes the bytes before the tag of the recipients.
    ///
    /// # Errors
    /// As [`ArchiveHeader::encode`].
    pub fn before_tag(&self) -> Result<Vec<u8>, FormatError> {
        let is_small = |bytes: &Vec<u8>| (1..=RECIPIENT_SIZE_MAX).contains(&bytes.len());
        if self.recipients.len() > RECIPIENT_COUNT_MAX
            || !self.recipients.iter().all(is_small)
            || self.superblock.len() > SUPERBLOCK_SIZE_MAX
        {
            return Err(REFUSED);
        }
        let size = |size: usize| u32::try_from(size).map(u32::to_be_bytes).map_err(|_| REFUSED);
        let mut out = MAGIC.to_vec();
        out.extend(self.archive_id.0);
        out.extend(self.database_id.0);
        out.extend(self.made.to_be_bytes());
        out.extend(self.wrapped_key);
        out.extend(size(self.superblock.len())?);
        out.extend_from_slice(&self.superblock);
        out.extend(size(self.recipients.len())?);
        for recipient in &self.recipients {
            out.extend(size(recipient.len())?);
            out.extend_from_slice(recipient);
        }
        Ok(out)
    }

    /// Parses the object into itself, the bytes that the MAC covers, and the MAC. The content may
    /// be trusted after the MAC has been checked; the key for the check is obtained from the
    /// content.
    ///
    /// # Errors
    /// [`FormatError::ArchiveMagic`]; [`FormatError::Archive`].
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8], [u8; 32]), FormatError> {
        if !bytes.starts_with(MAGIC) {
            return Err(FormatError::ArchiveMagic);
        }
        let (maced, mac) = bytes.split_last_chunk::<32>().ok_or(REFUSED)?;
        let mut reader = Reader::new(maced, REFUSED);
        reader.slice(MAGIC.len())?;
        let archive_id = ArchiveId(reader.array()?);
        let database_id = DatabaseId(reader.array()?);
        let made = reader.u64()?;
        let wrapped_key = reader.array()?;
        let superblock = reader.sized()?;
        let count = reader.count(4)?;
        if superblock.len() > SUPERBLOCK_SIZE_MAX || count > RECIPIENT_COUNT_MAX {
            return Err(REFUSED);
        }
        let mut recipients = Vec::with_capacity(count);
        for _ in 0..count {
            let recipient = reader.sized()?;
            if !(1..=RECIPIENT_SIZE_MAX).contains(&recipient.len()) {
                return Err(REFUSED);
            }
            recipients.push(recipient.to_vec());
        }
        let recipients_tag = reader.array()?;
        reader.end()?;
        let begun = Self {
            archive_id,
            database_id,
            made,
            wrapped_key,
            superblock: superblock.to_vec(),
            recipients,
            recipients_tag,
        };
        Ok((begun, maced, *mac))
    }
}

const MAGIC: &[u8] = b"selenite begun 1";
/// An age file of 32 bytes for one recipient has about 200 bytes, for a plugin's recipient somewhat more.
const RECIPIENT_SIZE_MAX: usize = 8192;
const REFUSED: FormatError = FormatError::Archive { what: "what opens it" };

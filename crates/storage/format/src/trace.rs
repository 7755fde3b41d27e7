//! Traces of page operations (FORMAT 14): the header of a trace, and the records in its sections.
//!
//! - no-contents: a record has the kind, file, offset, size and time of a call, and nothing of what was read or written.
//! - any-input: [`TraceHeader::parse`] and [`records`] refuse what [`TraceHeader::encode`] and [`TraceWriter`] do not
//!   write; they never allocate more than their input has.

use crate::FormatError;

/// The start of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHeader {
    /// Identifies the trace: random.
    pub id: [u8; 16],
    /// The salt of the sections' key: random.
    pub salt: [u8; 16],
    /// The trace's key, as an age file for its recipient.
    pub wrapped: Vec<u8>,
}

/// The kind of a file of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceRole {
    /// The database.
    Database = 0,
    /// The write-ahead log.
    Wal = 1,
    /// The rollback journal.
    Journal = 2,
    /// A temporary file.
    Temporary = 3,
}

/// What happened. Files and databases are numbered in the order in which a process opened them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEvent {
    /// A file was opened.
    Open {
        /// Its number.
        file: u32,
        /// The number of its database; 0 for temporary files.
        database: u32,
        /// Its kind.
        role: TraceRole,
    },
    /// Bytes were read.
    Read {
        /// The file.
        file: u32,
        /// Where they begin.
        offset: u64,
        /// How many.
        size: u32,
    },
    /// Bytes were written.
    Write {
        /// The file.
        file: u32,
        /// Where they begin.
        offset: u64,
        /// How many.
        size: u32,
    },
    /// A file was synced.
    Sync {
        /// The file.
        file: u32,
    },
    /// A file was closed.
    Close {
        /// The file.
        file: u32,
    },
    /// A transaction was committed to a write-ahead log.
    Commit {
        /// The database.
        database: u32,
        /// Frames of the commit.
        frames: u32,
    },
    /// A read transaction begins.
    Begin {
        /// The database's file.
        file: u32,
    },
    /// A TDS message was received from a client.
    Received {
        /// The number of its connection.
        connection: u32,
        /// Bytes, its headers included.
        size: u32,
    },
    /// A TDS packet was sent to a client.
    Sent {
        /// The number of its connection.
        connection: u32,
        /// Bytes, its header included.
        size: u32,
    },
    /// Operations follow that were not recorded: the trace has reached its limit.
    Full,
}

/// An event and when it began: microseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// When.
    pub microseconds: u64,
    /// What.
    pub event: TraceEvent,
}

impl TraceHeader {
    /// The bytes of FORMAT 14.1.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.id);
        bytes.extend(self.salt);
        bytes.extend(u16::try_from(self.wrapped.len()).unwrap_or(u16::MAX).to_be_bytes());
        bytes.extend(&self.wrapped);
        bytes
    }

    /// The header, and the bytes behind it.
    ///
    /// # Errors
    /// [`FormatError`] for bytes that are no header.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        let rest = bytes.strip_prefix(MAGIC.as_slice()).ok_or(BAD)?;
        let (id, rest) = rest.split_first_chunk().ok_or(BAD)?;
        let (salt, rest) = rest.split_first_chunk().ok_or(BAD)?;
        let (size, rest) = rest.split_first_chunk().ok_or(BAD)?;
        let (wrapped, rest) = rest.split_at_checked(u16::from_be_bytes(*size).into()).ok_or(BAD)?;
        let header = Self {
            id: *id,
            salt: *salt,
            wrapped: wrapped.to_vec(),
        };
        Ok((header, rest))
    }
}

/// A section, sealed, and the bytes behind it.
pub type SectionAndRest<'a> = (&'a [u8], &'a [u8]);

/// The next section of a trace, sealed, and the bytes behind it. `None` at the end, and where the last section is cut:
/// the process was killed while it wrote.
///
/// # Errors
/// [`FormatError`] for a size that no section has.
pub fn next_section(bytes: &[u8]) -> Result<Option<SectionAndRest<'_>>, FormatError> {
    let Some((size, rest)) = bytes.split_first_chunk() else {
        return Ok(None);
    };
    let size = usize::try_from(u32::from_be_bytes(*size)).map_err(|_| BAD)?;
    match size <= SECTION_SIZE_MAX {
        true => Ok(rest.split_at_checked(size)),
        false => Err(BAD),
    }
}

/// Collects the records of a section.
#[derive(Debug, Default)]
pub struct TraceWriter {
    bytes: Vec<u8>,
    last: u64,
}

impl TraceWriter {
    /// Bytes so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a record. A time before that of the last record counts as the latter.
    pub fn push(&mut self, record: &TraceRecord) {
        let (tag, fields, count) = fields(&record.event);
        self.bytes.push(tag);
        self.number(record.microseconds.saturating_sub(self.last));
        self.last = self.last.max(record.microseconds);
        for field in &fields[..count] {
            self.number(*field);
        }
    }

    /// The bytes of the section; the next one begins empty.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        self.last = 0;
        std::mem::take(&mut self.bytes)
    }

    /// LEB128: seven bits in a byte, the lowest first.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }
}

/// The records of a section.
///
/// # Errors
/// [`FormatError`] for bytes that are no records.
pub fn records(mut bytes: &[u8]) -> Result<Vec<TraceRecord>, FormatError> {
    let mut records = Vec::new();
    let mut microseconds: u64 = 0;
    while let Some((tag, rest)) = bytes.split_first() {
        bytes = rest;
        microseconds = microseconds.checked_add(number(&mut bytes)?).ok_or(BAD)?;
        let event = event(*tag, &mut bytes)?;
        records.push(TraceRecord { microseconds, event });
    }
    Ok(records)
}

fn fields(event: &TraceEvent) -> (u8, [u64; 3], usize) {
    match *event {
        TraceEvent::Open { file, database, role } => (OPEN, [file.into(), database.into(), role as u64], 3),
        TraceEvent::Read { file, offset, size } => (READ, [file.into(), offset, size.into()], 3),
        TraceEvent::Write { file, offset, size } => (WRITE, [file.into(), offset, size.into()], 3),
        TraceEvent::Sync { file } => (SYNC, [file.into(), 0, 0], 1),
        TraceEvent::Close { file } => (CLOSE, [file.into(), 0, 0], 1),
        TraceEvent::Commit { database, frames } => (COMMIT, [database.into(), frames.into(), 0], 2),
        TraceEvent::Full => (FULL, [0; 3], 0),
        TraceEvent::Begin { file } => (BEGIN, [file.into(), 0, 0], 1),
        TraceEvent::Received { connection, size } => (RECEIVED, [connection.into(), size.into(), 0], 2),
        TraceEvent::Sent { connection, size } => (SENT, [connection.into(), size.into(), 0], 2),
    }
}

fn event(tag: u8, bytes: &mut &[u8]) -> Result<TraceEvent, FormatError> {
    let small = |bytes: &mut &[u8]| u32::try_from(number(bytes)?).map_err(|_| BAD);
    Ok(match tag {
        OPEN => TraceEvent::Open {
            file: small(bytes)?,
            database: small(bytes)?,
            role: role(number(bytes)?)?,
        },
        READ => TraceEvent::Read {
            file: small(bytes)?,
            offset: number(bytes)?,
            size: small(bytes)?,
        },
        WRITE => TraceEvent::Write {
            file: small(bytes)?,
            offset: number(bytes)?,
            size: small(bytes)?,
        },
        SYNC => TraceEvent::Sync { file: small(bytes)? },
        CLOSE => TraceEvent::Close { file: small(bytes)? },
        COMMIT => TraceEvent::Commit {
            database: small(bytes)?,
            frames: small(bytes)?,
        },
        FULL => TraceEvent::Full,
        BEGIN => TraceEvent::Begin { file: small(bytes)? },
        RECEIVED => TraceEvent::Received {
            connection: small(bytes)?,
            size: small(bytes)?,
        },
        SENT => TraceEvent::Sent {
            connection: small(bytes)?,
            size: small(bytes)?,
        },
        _ => return Err(BAD),
    })
}

fn role(number: u64) -> Result<TraceRole, FormatError> {
    Ok(match number {
        0 => TraceRole::Database,
        1 => TraceRole::Wal,
        2 => TraceRole::Journal,
        3 => TraceRole::Temporary,
        _ => return Err(BAD),
    })
}

fn number(bytes: &mut &[u8]) -> Result<u64, FormatError> {
    let mut number: u64 = 0;
    for place in 0..10 {
        let (byte, rest) = bytes.split_first().ok_or(BAD)?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        let shifted = part << (7 * place);
        if shifted >> (7 * place) != part {
            return Err(BAD);
        }
        number |= shifted;
        if byte & 0x80 == 0 {
            // One form of each number: no zeros at the end.
            return if *byte == 0 && place > 0 { Err(BAD) } else { Ok(number) };
        }
    }
    Err(BAD)
}

const MAGIC: [u8; 16] = *b"selenite-trace-1";
const OPEN: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;
const SYNC: u8 = 4;
const CLOSE: u8 = 5;
const COMMIT: u8 = 6;
const FULL: u8 = 7;
const BEGIN: u8 = 8;
const RECEIVED: u8 = 9;
const SENT: u8 = 10;
/// FORMAT 14.2: a section with its tag.
pub const SECTION_SIZE_MAX: usize = 1 << 20;
const BAD: FormatError = FormatError::Trace;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_event() -> impl Strategy<Value = TraceEvent> {
        let role = prop_oneof![
            Just(TraceRole::Database),
            Just(TraceRole::Wal),
            Just(TraceRole::Journal),
            Just(TraceRole::Temporary)
        ];
        prop_oneof![
            (any::<u32>(), any::<u32>(), role).prop_map(|(file, database, role)| TraceEvent::Open {
                file,
                database,
                role
            }),
            (any::<u32>(), any::<u64>(), any::<u32>()).prop_map(|(file, offset, size)| TraceEvent::Read {
                file,
                offset,
                size
            }),
            (any::<u32>(), any::<u64>(), any::<u32>()).prop_map(|(file, offset, size)| TraceEvent::Write {
                file,
                offset,
                size
            }),
            any::<u32>().prop_map(|file| TraceEvent::Sync { file }),
            any::<u32>().prop_map(|file| TraceEvent::Close { file }),
            (any::<u32>(), any::<u32>()).prop_map(|(database, frames)| TraceEvent::Commit { database, frames }),
            Just(TraceEvent::Full),
            any::<u32>().prop_map(|file| TraceEvent::Begin { file }),
            (any::<u32>(), any::<u32>()).prop_map(|(connection, size)| TraceEvent::Received { connection, size }),
            (any::<u32>(), any::<u32>()).prop_map(|(connection, size)| TraceEvent::Sent { connection, size }),
        ]
    }

    proptest! {
        #[test]
        fn records_come_back(events in prop::collection::vec((0..u64::MAX / 200, any_event()), 0..100)) {
            let mut writer = TraceWriter::default();
            let mut written = Vec::new();
            let mut microseconds = 0;
            for (later, event) in events {
                microseconds += later;
                let record = TraceRecord { microseconds, event };
                writer.push(&record);
                written.push(record);
            }
            prop_assert_eq!(records(&writer.take()), Ok(written));
            prop_assert_eq!(writer.size(), 0);
        }

        #[test]
        fn any_bytes_are_records_of_one_form_or_refused(bytes: Vec<u8>) {
            if let Ok(found) = records(&bytes) {
                let mut writer = TraceWriter::default();
                found.iter().for_each(|record| writer.push(record));
                prop_assert_eq!(writer.take(), bytes);
            }
        }

        #[test]
        fn any_bytes_are_a_header_or_refused(mut bytes: Vec<u8>, is_begun: bool) {
            if is_begun {
                bytes.splice(0..0, MAGIC);
            }
            if let Ok((header, rest)) = TraceHeader::parse(&bytes) {
                prop_assert_eq!([header.encode().as_slice(), rest].concat(), bytes);
            }
        }
    }

    #[test]
    fn a_section_that_is_cut_ends_the_trace() {
        let mut bytes = 3_u32.to_be_bytes().to_vec();
        bytes.extend(*b"abc");
        bytes.extend(9_u32.to_be_bytes());
        bytes.extend(*b"cut");
        let (section, rest) = next_section(&bytes).unwrap().unwrap();
        assert_eq!(section, b"abc");
        assert_eq!(next_section(rest), Ok(None));
        assert_eq!(next_section(&[]), Ok(None));
        let large = u32::try_from(SECTION_SIZE_MAX + 1).unwrap().to_be_bytes();
        assert_eq!(next_section(&large), Err(BAD));
    }

    #[test]
    fn a_clock_that_was_set_back_stands_still() {
        let mut writer = TraceWriter::default();
        for microseconds in [50, 20, 60] {
            let event = TraceEvent::Sync { file: 1 };
            writer.push(&TraceRecord { microseconds, event });
        }
        let times: Vec<u64> = records(&writer.take())
            .unwrap()
            .iter()
            .map(|record| record.microseconds)
            .collect();
        assert_eq!(times, [50, 50, 60]);
    }
}

//! SQLite's records (sqlite.org/fileformat.html, 2.1).

use rusqlite::types::ValueRef;

/// A variable-length integer at the start of `bytes`, and its size.
pub fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().take(8).enumerate() {
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, index + 1));
        }
    }
    Some(((value << 8) | u64::from(*bytes.get(8)?), 9))
}

/// The type and size of a field, from a record's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// NULL, or a value that is stored elsewhere: a rowid.
    Null,
    /// An integer of this many bytes.
    Integer(usize),
    /// A float of eight bytes.
    Real,
    /// 0 or 1, with no bytes.
    Constant(i64),
    /// Bytes.
    Blob(usize),
    /// Characters.
    Text(usize),
}

impl FieldKind {
    fn of(serial_type: u64) -> Option<Self> {
        let size = |from: u64| usize::try_from((serial_type - from) / 2).ok();
        Some(match serial_type {
            0 => Self::Null,
            1 => Self::Integer(1),
            2 => Self::Integer(2),
            3 => Self::Integer(3),
            4 => Self::Integer(4),
            5 => Self::Integer(6),
            6 => Self::Integer(8),
            7 => Self::Real,
            8 => Self::Constant(0),
            9 => Self::Constant(1),
            10 | 11 => return None,
            even if even % 2 == 0 => Self::Blob(size(12)?),
            _ => Self::Text(size(13)?),
        })
    }

    fn size(self) -> usize {
        match self {
            Self::Null | Self::Constant(_) => 0,
            Self::Integer(size) | Self::Blob(size) | Self::Text(size) => size,
            Self::Real => 8,
        }
    }
}

/// The fields of a record, and the offset of the first field's bytes. `payload` has at least the
/// header.
pub fn fields(payload: &[u8]) -> Option<(Vec<FieldKind>, usize)> {
    let (header_size, mut at) = varint(payload)?;
    let header_size = usize::try_from(header_size).ok()?;
    let header = payload.get(..header_size)?;
    let mut fields = Vec::new();
    while at < header.len() {
        let (serial_type, size) = varint(&header[at..])?;
        fields.push(FieldKind::of(serial_type)?);
        at += size;
    }
    (at == header.len()).then_some((fields, header_size))
}

/// The values of a whole record.
pub fn values(payload: &[u8]) -> Option<Vec<ValueRef<'_>>> {
    let (fields, mut at) = fields(payload)?;
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        let end = at.checked_add(field.size())?;
        let bytes = payload.get(at..end)?;
        at = end;
        values.push(match field {
            FieldKind::Null => ValueRef::Null,
            FieldKind::Integer(_) => ValueRef::Integer(integer(bytes)),
            FieldKind::Real => ValueRef::Real(f64::from_bits(integer(bytes).cast_unsigned())),
            FieldKind::Constant(value) => ValueRef::Integer(value),
            FieldKind::Blob(_) => ValueRef::Blob(bytes),
            FieldKind::Text(_) => ValueRef::Text(bytes),
        });
    }
    Some(values)
}

/// At most eight bytes; the first one has the sign.
fn integer(bytes: &[u8]) -> i64 {
    let start = match bytes.first() {
        Some(first) if *first >= 0x80 => -1,
        Some(_) | None => 0,
    };
    bytes.iter().fold(start, |value, &byte| (value << 8) | i64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_read_as_sqlite_writes_them() {
        for (bytes, value) in [
            (&[0x00][..], 0),
            (&[0x7f], 127),
            (&[0x81, 0x00], 128),
            (&[0xff, 0x7f], 16383),
            (&[0xff; 9], u64::MAX),
        ] {
            assert_eq!(varint(bytes), Some((value, bytes.len())));
            assert_eq!(varint(&bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let header = [12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 15];
        let mut record = header.to_vec();
        record[0] = 12;
        record.extend([0xff]);
        record.extend([0x80, 0x00]);
        record.extend([0x00, 0x01, 0x00]);
        record.extend([0xff, 0xff, 0xff, 0xfe]);
        record.extend([0x7f, 0xff, 0xff, 0xff, 0xff, 0xff]);
        record.extend(i64::MIN.to_be_bytes());
        record.extend(1.5_f64.to_be_bytes());
        record.extend([1, 2]);
        record.extend(b"x");
        assert_eq!(
            values(&record).unwrap(),
            [
                ValueRef::Null,
                ValueRef::Integer(-1),
                ValueRef::Integer(-32768),
                ValueRef::Integer(256),
                ValueRef::Integer(-2),
                ValueRef::Integer(0x7fff_ffff_ffff),
                ValueRef::Integer(i64::MIN),
                ValueRef::Real(1.5),
                ValueRef::Integer(0),
                ValueRef::Blob(&[1, 2]),
                ValueRef::Text(b"x"),
            ]
        );
        for size in 0..record.len() {
            assert_eq!(values(&record[..size]), None, "{size}");
        }
    }

    #[test]
    fn values_rejects_malformed_records() {
        // Reserved serial types; a header that ends within a varint; a size beyond any payload.
        for bad in [&[2, 10][..], &[2, 11], &[2, 0x81], &[0xff; 9], &[]] {
            assert_eq!(values(bad), None, "{bad:?}");
        }
    }
}

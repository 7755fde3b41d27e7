use selenite_types::{DataType, Width};

use super::*;
use crate::{Collation, Column, Incoming, Limits, MessageReader, PacketSize, ParameterFault, client};

fn column(data_type: DataType) -> Column {
    Column {
        name: "c".to_owned(),
        data_type,
        is_nullable: true,
        is_identity: false,
        is_computed: false,
        collation: Collation::DEFAULT,
    }
}

fn columns() -> Vec<Column> {
    let types = [
        DataType::Int,
        DataType::NVarChar(Width::Limited(20)),
        DataType::VarBinary(Width::Max),
        DataType::Numeric {
            precision: 20,
            scale: 2,
        },
        DataType::Char(3),
        DataType::DateTime2(7),
    ];
    types.map(column).into()
}

fn rows() -> Vec<Vec<Value>> {
    let full = |number: i32, bytes: usize| {
        vec![
            Value::Int(number),
            Value::Text("a\u{E9}\u{1F600}".into()),
            Value::Binary(vec![7; bytes].into()),
            Value::Null,
            Value::Text("xyz".into()),
            Value::Null,
        ]
    };
    vec![full(1, 0), vec![Value::Null; 6], full(-2, 700)]
}

/// The data of all packets.
fn stream() -> Vec<u8> {
    let packets = client::bulk_load(&columns(), &rows(), PacketSize::DEFAULT).unwrap();
    let mut reader = MessageReader::new();
    reader.set_limits(Limits::LoggedIn {
        message_size_max: 1 << 20,
    });
    let mut rest = packets.as_slice();
    let mut data = Vec::new();
    while let Some(incoming) = reader.push(&mut rest).unwrap() {
        let Incoming::BulkLoad(piece) = incoming else {
            panic!("{incoming:?}")
        };
        data.extend(piece.data);
    }
    data
}

/// All rows of a stream that comes in these pieces.
fn read(pieces: &[&[u8]]) -> Result<Vec<Vec<Value>>, TdsError> {
    read_within(pieces, 1 << 20)
}

fn read_within(pieces: &[&[u8]], row_size_max: usize) -> Result<Vec<Vec<Value>>, TdsError> {
    let mut reader = BulkReader::new(row_size_max);
    let last = pieces.len() - 1;
    let mut pieces = pieces.iter().enumerate().map(|(at, data)| BulkPiece {
        data: data.to_vec(),
        is_last: at == last,
    });
    reader.push(pieces.next().unwrap());
    while reader.columns()?.is_none() {
        reader.push(pieces.next().expect("the last piece needs no more"));
    }
    let mut rows = Vec::new();
    loop {
        let mut row = Vec::new();
        match reader.row(&mut row)? {
            BulkStep::Row => rows.push(row),
            BulkStep::More => reader.push(pieces.next().expect("the last piece needs no more")),
            BulkStep::End => return Ok(rows),
        }
    }
}

#[test]
fn rows_are_the_same_however_they_are_split() {
    let data = stream();
    assert_eq!(read(&[&data]).unwrap(), rows());
    for at in 0..=data.len() {
        let (first, second) = data.split_at(at);
        assert_eq!(read(&[first, second]).unwrap(), rows(), "split at {at}");
    }
    let bytes: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(read(&bytes).unwrap(), rows());
}

#[test]
fn a_stream_that_is_cut_within_a_row_is_an_error() {
    let data = stream();
    let mut whole = Vec::new();
    for at in 0..data.len() {
        match read(&[&data[..at]]) {
            // FreeTDS sends no DONE.
            Ok(found) => {
                assert_eq!(found, rows()[..found.len()], "cut at {at}");
                whole.push(found.len());
            }
            Err(TdsError::Cut {
                part: MessagePart::BulkLoad,
            }) => {}
            Err(error) => panic!("cut at {at}: {error}"),
        }
    }
    assert_eq!(whole, [0, 1, 2, 3]);
}

#[test]
fn a_changed_byte_never_panics() {
    let data = stream();
    for at in 0..data.len() {
        for bit in 0..8 {
            let mut changed = data.clone();
            changed[at] ^= 1 << bit;
            let _ = read(&[&changed]);
        }
    }
}

#[test]
fn a_row_is_not_larger_than_its_limit() {
    let data = stream();
    assert!(read_within(&[&data], 800).is_ok());
    let pieces: Vec<&[u8]> = data.chunks(10).collect();
    let error = read_within(&pieces, 600).unwrap_err();
    assert!(matches!(error, TdsError::TooLarge { limit: 600, .. }), "{error}");
    assert_eq!(error.complaint().unwrap().number, 701);
}

#[test]
fn a_value_longer_than_its_column_names_the_column() {
    let columns = [column(DataType::Int), column(DataType::VarChar(Width::Limited(3)))];
    let rows = [vec![Value::Int(1), Value::Text("abc".into())]];
    let packets = client::bulk_load(&columns, &rows, PacketSize::DEFAULT).unwrap();
    let mut data = packets[8..].to_vec();
    let at = data.windows(5).position(|bytes| bytes == b"\x03\x00abc").unwrap();
    data[at] = 4;
    let error = read(&[&data]).unwrap_err();
    assert!(
        matches!(
            error,
            TdsError::BulkColumn {
                index: 2,
                fault: ParameterFault::Length(_)
            }
        ),
        "{error}"
    );
    let complaint = error.complaint().unwrap();
    assert_eq!(complaint.number, 4815);
    assert!(complaint.text.ends_with("for colid 2."), "{}", complaint.text);
}

/// As tedious and SqlClient send them: a name of a table, and a text pointer before each value.
#[test]
fn text_of_the_old_types_has_a_pointer() {
    let mut data = vec![COLUMN_METADATA, 1, 0, 0, 0, 0, 0, 1, 0, type_byte::IMAGE];
    data.extend(u32::MAX.to_le_bytes());
    data.extend([1, 0, b't', 0]);
    data.extend([1, b'c', 0]);
    data.push(ROW);
    data.push(16);
    data.extend([0; 16 + TIMESTAMP_SIZE]);
    data.extend([3, 0, 0, 0, 1, 2, 3]);
    data.extend([ROW, 0]);
    let found = read(&[&data]).unwrap();
    assert_eq!(found, [[Value::Binary([1, 2, 3].into())], [Value::Null]]);
    let pieces: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(read(&pieces).unwrap(), found);
}

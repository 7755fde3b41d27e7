use proptest::prelude::*;
use selenite_types::{DataType, Date, DateTime2, DateTimeOffset, Decimal, Guid, TimeOfDay, Width};

use super::*;
use crate::Collation;
use crate::client::{self, Token};
use crate::sample::typed_value;
use crate::vector::Vector;
use crate::{Done, DoneKind, MessageKind, PacketSize, TokenWriter};

fn column(name: &str, data_type: DataType, is_nullable: bool) -> Column {
    Column {
        name: name.to_owned(),
        data_type,
        is_nullable,
        is_identity: false,
        is_computed: false,
        collation: Collation::DEFAULT,
    }
}

fn writer(size: PacketSize) -> TokenWriter<Vec<u8>> {
    TokenWriter::new(PacketWriter::new(Vec::new(), MessageKind::TabularResult, size, 0))
}

/// Writes a result set and parses it as a client.
fn answer(columns: &[Column], rows: &[Vec<Value>], size: PacketSize) -> Vec<Token> {
    let mut tokens = writer(size);
    let shape = RowShape::new(columns).unwrap();
    tokens.columns(&shape).unwrap();
    for row in rows {
        tokens.row(&shape, row).unwrap();
    }
    tokens.packets_mut().finish().unwrap();
    let packets = tokens.into_packets().into_sink();
    let mut rest = packets.as_slice();
    client::tokens(&client::split_message(&mut rest).unwrap().unwrap()).unwrap()
}

/// The bytes of TYPE_INFO and of one value.
fn bytes(data_type: DataType, is_nullable: bool, value: Value) -> (Vec<u8>, Vec<u8>) {
    let shape = RowShape::new(&[column("", data_type, is_nullable)]).unwrap();
    let mut tokens = writer(PacketSize::MAX);
    tokens.row(&shape, &[value]).unwrap();
    tokens.packets_mut().finish().unwrap();
    let packets = tokens.into_packets().into_sink();
    let metadata = shape.metadata();
    (metadata[9..metadata.len() - 1].to_vec(), packets[9..].to_vec())
}

/// MS-TDS 4.7.
#[test]
fn the_response_of_the_specification_is_written() {
    let mut tokens = writer(PacketSize::DEFAULT);
    let mut bar = column("bar", DataType::VarChar(Width::Limited(3)), false);
    bar.is_computed = true;
    let shape = RowShape::new(&[bar]).unwrap();
    tokens.columns(&shape).unwrap();
    tokens.row(&shape, &[Value::Text("foo".into())]).unwrap();
    let done = Done {
        kind: DoneKind::Statement,
        status: Done::COUNT,
        command: Done::SELECT,
        row_count: 1,
    };
    tokens.done(done).unwrap();
    tokens.packets_mut().finish().unwrap();
    assert_eq!(tokens.into_packets().into_sink(), Vector::load("answer-batch").bytes);
}

/// MS-TDS 2.2.5.4.1 and 2.2.5.4.2.
#[test]
fn a_column_without_null_has_a_fixed_length_type() {
    let table: [(DataType, Value, &[u8], &[u8]); 11] = [
        (DataType::Bit, Value::Bit(true), &[0x32], &[1]),
        (DataType::TinyInt, Value::TinyInt(200), &[0x30], &[200]),
        (DataType::SmallInt, Value::SmallInt(-2), &[0x34], &[0xFE, 0xFF]),
        (DataType::Int, Value::Int(258), &[0x38], &[2, 1, 0, 0]),
        (DataType::BigInt, Value::BigInt(-1), &[0x7F], &[0xFF; 8]),
        (DataType::Real, Value::Real(1.0), &[0x3B], &[0, 0, 0x80, 0x3F]),
        (
            DataType::Float,
            Value::Float(1.0),
            &[0x3E],
            &[0, 0, 0, 0, 0, 0, 0xF0, 0x3F],
        ),
        (DataType::SmallMoney, Value::Money(10_000), &[0x7A], &[0x10, 0x27, 0, 0]),
        (
            DataType::Money,
            Value::Money(10_000),
            &[0x3C],
            &[0, 0, 0, 0, 0x10, 0x27, 0, 0],
        ),
        (
            DataType::DateTime,
            moment(693_596, 10_000_000),
            &[0x3D],
            &[1, 0, 0, 0, 0x2C, 1, 0, 0],
        ),
        (
            DataType::SmallDateTime,
            moment(693_596, 600_000_000),
            &[0x3A],
            &[1, 0, 1, 0],
        ),
    ];
    for (data_type, value, type_info, row) in table {
        assert_eq!(
            bytes(data_type, false, value.clone()),
            (type_info.to_vec(), row.to_vec()),
            "{data_type:?}"
        );
        let size = u8::try_from(row.len()).unwrap();
        let (nullable, sized) = bytes(data_type, true, value);
        assert_eq!(nullable[1..], [size], "{data_type:?}");
        assert_eq!(sized, [&[size], row].concat(), "{data_type:?}");
        assert_eq!(bytes(data_type, true, Value::Null).1, [0], "{data_type:?}");
    }
}

fn moment(day: u32, time: u64) -> Value {
    Value::DateTime(DateTime2 {
        date: Date(day),
        time: TimeOfDay(time),
    })
}

/// MS-TDS 2.2.5.4.3.
/// MS-TDS 2.2.7.4: the user type tells a rowversion from binary(8).
#[test]
fn a_rowversion_is_eight_bytes_of_a_user_type() {
    let shape = RowShape::new(&[column("", DataType::RowVersion, false)]).unwrap();
    assert_eq!(shape.metadata()[3..7], [80, 0, 0, 0]);
    let (info, value) = bytes(DataType::RowVersion, false, Value::Binary([1; 8].into()));
    assert_eq!(info, [0xAD, 8, 0]);
    assert_eq!(value, [8, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn strings_have_a_size_prefix() {
    let collation = [0x09, 0x04, 0xD0, 0x00, 0x34];
    let text = |text: &str| Value::Text(text.into());
    let info = |byte, size: [u8; 2]| [&[byte, size[0], size[1]], &collation[..]].concat();
    let (type_info, row) = bytes(DataType::Char(25), false, text("a\u{20AC}"));
    assert_eq!((type_info, row), (info(0xAF, [25, 0]), vec![2, 0, b'a', 0x80]));
    let (type_info, row) = bytes(DataType::NVarChar(Width::Limited(10)), false, text("\u{416}"));
    assert_eq!((type_info, row), (info(0xE7, [20, 0]), vec![2, 0, 0x16, 0x04]));
    let (type_info, row) = bytes(DataType::NChar(4000), true, text(""));
    assert_eq!((type_info, row), (info(0xEF, [0x40, 0x1F]), vec![0, 0]));
    let (type_info, row) = bytes(
        DataType::VarBinary(Width::Limited(20)),
        true,
        Value::Binary([7, 8].into()),
    );
    assert_eq!((type_info, row), (vec![0xA5, 20, 0], vec![2, 0, 7, 8]));
}

/// MS-TDS 2.2.5.2.3.
#[test]
fn max_types_come_as_one_chunk_of_known_size() {
    let (type_info, row) = bytes(DataType::NVarChar(Width::Max), true, Value::Text("ab".into()));
    assert_eq!(type_info[..3], [0xE7, 0xFF, 0xFF]);
    assert_eq!(row, [4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, b'a', 0, b'b', 0, 0, 0, 0, 0]);
    let (_, row) = bytes(DataType::VarBinary(Width::Max), true, Value::Binary([].into()));
    assert_eq!(row, [0; 12]);
}

/// MS-TDS 2.2.5.5.1.6, 2.2.5.5.1.8, 2.2.5.5.1.9.
#[test]
fn decimals_dates_and_guids_are_written_as_specified() {
    let decimal = |unscaled, scale| Value::Decimal(Decimal { unscaled, scale });
    let (type_info, row) = bytes(DataType::Decimal { precision: 5, scale: 2 }, true, decimal(-12345, 2));
    assert_eq!((type_info, row), (vec![0x6A, 5, 5, 2], vec![5, 0, 0x39, 0x30, 0, 0]));
    let (type_info, row) = bytes(
        DataType::Numeric {
            precision: 20,
            scale: 3,
        },
        false,
        decimal(1, 0),
    );
    assert_eq!(type_info, [0x6C, 13, 20, 3]);
    assert_eq!(row, [13, 1, 0xE8, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let (type_info, row) = bytes(DataType::Date, false, Value::Date(Date(1)));
    assert_eq!((type_info, row), (vec![0x28], vec![3, 1, 0, 0]));
    let (type_info, row) = bytes(DataType::Time(3), true, Value::Time(TimeOfDay(10_000)));
    assert_eq!((type_info, row), (vec![0x29, 3], vec![4, 1, 0, 0, 0]));
    let (type_info, row) = bytes(DataType::DateTime2(7), true, moment(2, 1));
    assert_eq!((type_info, row), (vec![0x2A, 7], vec![8, 1, 0, 0, 0, 0, 2, 0, 0]));
    let with_offset = Value::DateTimeOffset(DateTimeOffset {
        utc: DateTime2 {
            date: Date(2),
            time: TimeOfDay(10_000_000),
        },
        offset_minutes: -60,
    });
    let (type_info, row) = bytes(DataType::DateTimeOffset(0), true, with_offset);
    assert_eq!((type_info, row), (vec![0x2B, 0], vec![8, 1, 0, 0, 2, 0, 0, 0xC4, 0xFF]));
    let (type_info, row) = bytes(DataType::UniqueIdentifier, false, Value::Guid(Guid([7; 16])));
    assert_eq!((type_info, row), (vec![0x24, 16], [&[16][..], &[7; 16]].concat()));
}

/// MS-TDS 2.2.7.15.
#[test]
fn a_row_of_many_nulls_has_a_bitmap() {
    let columns: Vec<_> = (0..9).map(|_| column("", DataType::Int, true)).collect();
    let shape = RowShape::new(&columns).unwrap();
    let row = |values: &[Value]| {
        let mut tokens = writer(PacketSize::DEFAULT);
        tokens.row(&shape, values).unwrap();
        tokens.packets_mut().finish().unwrap();
        tokens.into_packets().into_sink()[8..].to_vec()
    };
    let mut values = vec![Value::Int(1); 9];
    values[0] = Value::Null;
    values[8] = Value::Null;
    assert_eq!(row(&values)[0], ROW, "two nulls save two bytes, which the bitmap costs");
    values[3] = Value::Null;
    let written = row(&values);
    assert_eq!(written[..3], [NULL_BITMAP_ROW, 0b0000_1001, 0b0000_0001]);
    assert_eq!(written.len(), 3 + 6 * 5);
}

/// MS-TDS 2.2.5.2.1 and 2.2.5.2.3.
#[test]
fn null_has_its_own_form_for_each_kind_of_length() {
    let nulls = [
        (DataType::BigInt, 1, vec![0]),
        (DataType::Date, 1, vec![0]),
        (DataType::Char(10), 2, vec![0xFF; 2]),
        (DataType::VarBinary(Width::Limited(10)), 2, vec![0xFF; 2]),
        (DataType::VarChar(Width::Max), 8, vec![0xFF; 8]),
    ];
    for (data_type, size, null) in nulls {
        // So many other columns that the bitmap is as long as the NULL.
        let mut columns = vec![column("", DataType::Bit, false); size * 8 - 1];
        columns.push(column("", data_type, true));
        let shape = RowShape::new(&columns).unwrap();
        let mut values = vec![Value::Bit(true); size * 8 - 1];
        values.push(Value::Null);
        let mut tokens = writer(PacketSize::DEFAULT);
        tokens.row(&shape, &values).unwrap();
        tokens.packets_mut().finish().unwrap();
        let row = tokens.into_packets().into_sink()[8..].to_vec();
        assert_eq!(
            row,
            [&[ROW][..], &vec![1; size * 8 - 1], &null].concat(),
            "{data_type:?}"
        );
    }
}

#[test]
fn a_row_that_does_not_fit_writes_nothing() {
    let columns = [
        column("a", DataType::Int, false),
        column("b", DataType::VarChar(Width::Limited(2)), true),
    ];
    let shape = RowShape::new(&columns).unwrap();
    let text = |text: &str| Value::Text(text.into());
    let rows = [
        vec![Value::Int(1)],
        vec![Value::Null, text("a")],
        vec![Value::BigInt(1), text("a")],
        vec![Value::Int(1), text("abc")],
        vec![Value::Int(1), Value::Int(1)],
    ];
    let mut tokens = writer(PacketSize::DEFAULT);
    for row in rows {
        let refused = tokens.row(&shape, &row).unwrap_err();
        assert!(matches!(refused, TdsError::Misfit { .. }), "{row:?}");
        assert!(tokens.packets().is_empty(), "{row:?}");
    }
    tokens.row(&shape, &[Value::Int(1), text("\u{e4}\u{e4}")]).unwrap();
}

#[test]
fn a_value_out_of_its_types_range_does_not_fit() {
    let decimal = |unscaled, scale| Value::Decimal(Decimal { unscaled, scale });
    let offset = |offset_minutes| {
        let (date, time) = (Date(1), TimeOfDay(0));
        let utc = DateTime2 { date, time };
        Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes })
    };
    let five = DataType::Decimal { precision: 5, scale: 2 };
    let out_of_range = [
        (five, decimal(100_000, 2)),
        (five, decimal(-100_000, 2)),
        (five, decimal(1000, 0)),
        (five, decimal(1, 3)),
        (five, decimal(i128::MIN, 0)),
        (DataType::SmallMoney, Value::Money(1 << 31)),
        (DataType::Real, Value::Real(f32::NAN)),
        (DataType::Float, Value::Float(f64::INFINITY)),
        (DataType::Date, Value::Date(Date(3_652_059))),
        (DataType::Time(7), Value::Time(TimeOfDay(864_000_000_000))),
        (DataType::DateTime, moment(639_904, 0)),
        (DataType::SmallDateTime, moment(759_131, 0)),
        (DataType::DateTime2(0), moment(3_652_059, 0)),
        (DataType::DateTimeOffset(0), offset(841)),
        (DataType::DateTimeOffset(0), offset(i16::MIN)),
        (DataType::NChar(1), Value::Text("\u{1F600}".into())),
        (DataType::Binary(1), Value::Binary([1, 2].into())),
    ];
    for (data_type, value) in out_of_range {
        let shape = RowShape::new(&[column("", data_type, true)]).unwrap();
        let refused = writer(PacketSize::DEFAULT).row(&shape, std::slice::from_ref(&value));
        assert!(
            matches!(refused, Err(TdsError::Misfit { .. })),
            "{data_type:?} {value:?}"
        );
    }
}

#[test]
fn an_invalid_type_or_name_is_a_misfit() {
    let types = [
        DataType::Decimal {
            precision: 39,
            scale: 0,
        },
        DataType::Numeric { precision: 5, scale: 6 },
        DataType::Decimal { precision: 0, scale: 0 },
        DataType::Char(0),
        DataType::VarChar(Width::Limited(8001)),
        DataType::NChar(4001),
        DataType::NVarChar(Width::Limited(0)),
        DataType::Time(8),
    ];
    for data_type in types {
        assert!(RowShape::new(&[column("", data_type, true)]).is_err(), "{data_type:?}");
    }
    assert!(RowShape::new(&[column(&"n".repeat(129), DataType::Int, true)]).is_err());
    assert!(RowShape::new(&[]).is_err());
    assert!(RowShape::new(&vec![column("", DataType::Int, true); 4096]).is_ok());
    assert!(RowShape::new(&vec![column("", DataType::Int, true); 4097]).is_err());
}

#[test]
fn flags_tell_nullable_identity_and_computed() {
    let flags = |is_nullable, is_identity, is_computed| {
        let mut column = column("", DataType::Int, is_nullable);
        (column.is_identity, column.is_computed) = (is_identity, is_computed);
        column.flags()
    };
    assert_eq!(flags(false, false, false), 0x08);
    assert_eq!(flags(true, false, false), 0x09);
    assert_eq!(flags(false, true, false), 0x10);
    assert_eq!(flags(true, false, true), 0x21);
}

#[test]
fn a_large_value_streams_through_small_packets() {
    for text in [
        "x".repeat(1_000_000),
        "\u{e4}\u{20AC}\u{416}".repeat(100_000),
        "\u{1F600}".repeat(5000),
    ] {
        let value = Value::Text(text.into());
        let columns = [column("t", DataType::NVarChar(Width::Max), true)];
        let tokens = answer(&columns, &[vec![value.clone()]], PacketSize::MIN);
        assert!(tokens.contains(&Token::Row(vec![value])));
    }
    let value = Value::Binary((0..=255).cycle().take(500_000).collect());
    let columns = [column("b", DataType::VarBinary(Width::Max), true)];
    let tokens = answer(&columns, &[vec![value.clone()]], PacketSize::MAX);
    assert!(tokens.contains(&Token::Row(vec![value])));
}

/// `one-buffer-per-message` also holds for the widest row.
#[test]
fn the_widest_row_needs_no_larger_buffer() {
    let columns: Vec<_> = (0..100).map(|_| column("", DataType::NChar(4000), true)).collect();
    let shape = RowShape::new(&columns).unwrap();
    let mut tokens = writer(PacketSize::MIN);
    let capacity = tokens.packets_mut().buffer().capacity();
    tokens
        .row(&shape, &vec![Value::Text("\u{416}".repeat(4000).into()); 100])
        .unwrap();
    assert_eq!(tokens.packets_mut().buffer().capacity(), capacity);
}

proptest! {
    #[test]
    fn every_row_round_trips(
        cells in prop::collection::vec((typed_value(), any::<bool>()), 1..20),
        size in 512..=8000_u16,
    ) {
        let columns: Vec<_> = cells
            .iter()
            .enumerate()
            .map(|(index, ((data_type, value), is_nullable))| {
                column(&format!("c{index}"), *data_type, *is_nullable || *value == Value::Null)
            })
            .collect();
        let row: Vec<_> = cells.iter().map(|((_, value), _)| value.clone()).collect();
        let tokens = answer(&columns, &[row.clone(), row.clone()], PacketSize::new(size).unwrap());
        match &tokens[..] {
            [Token::Columns(told), Token::Row(first), Token::Row(second)] => {
                let told: Vec<_> = told.iter().map(|column| (column.name.clone(), column.type_info.data_type)).collect();
                let meant: Vec<_> = columns.iter().map(|column| (column.name.clone(), column.data_type)).collect();
                prop_assert_eq!(told, meant);
                prop_assert_eq!(first, &row);
                prop_assert_eq!(second, &row);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

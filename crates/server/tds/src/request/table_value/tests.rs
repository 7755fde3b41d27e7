use std::sync::Arc;

use proptest::prelude::*;
use selenite_types::Width;

use super::*;
use crate::sample::typed_value;
use crate::{
    Headers, Message, MessageKind, PacketSize, Parameter, Procedure, Request, Reset, RpcCall, RpcRequest, client,
};

/// The bytes of a table after its type byte, piece by piece.
struct Table {
    names: Vec<u8>,
    columns: Vec<u8>,
    metadata: Vec<u8>,
    rows: Vec<u8>,
}

/// Of the type `t`: an int, text in chunks, a default, and a decimal, with two rows.
fn table() -> Table {
    let mut columns = 4_u16.to_le_bytes().to_vec();
    columns.extend(column(0, &[0x26, 4]));
    columns.extend(column(0, &[0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34]));
    columns.extend(column(DEFAULT, &[0x26, 8]));
    columns.extend(column(0, &[0x6C, 9, 10, 2]));
    let mut rows = vec![ROW, 4, 7, 0, 0, 0];
    rows.extend(2_u64.to_le_bytes());
    rows.extend([2, 0, 0, 0, b'x', 0, 0, 0, 0, 0]);
    rows.extend([5, 1, 0x39, 0x30, 0, 0]);
    rows.extend([ROW, 0]);
    rows.extend(u64::MAX.to_le_bytes());
    rows.extend([0, END]);
    Table {
        names: vec![0, 0, 1, b't', 0],
        columns,
        metadata: vec![END],
        rows,
    }
}

fn column(flags: u16, type_info: &[u8]) -> Vec<u8> {
    let mut bytes = 0_u32.to_le_bytes().to_vec();
    bytes.extend(flags.to_le_bytes());
    bytes.extend(type_info);
    bytes.push(0);
    bytes
}

impl Table {
    /// As the parameter `@t`, whose status this is, of a call of `p`.
    fn data(&self, status: u8) -> Vec<u8> {
        let mut data = vec![22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
        data.extend([1, 0, b'p', 0, 0, 0]);
        data.extend([2, b'@', 0, b't', 0, status, 0xF3]);
        for piece in [&self.names, &self.columns, &self.metadata, &self.rows] {
            data.extend(piece);
        }
        data
    }

    fn read(&self) -> Result<TableValue, TdsError> {
        read(self.data(0))
    }

    /// The number of the error, and its text.
    fn complaint(&self) -> (i32, String) {
        number(self.read().unwrap_err())
    }
}

fn number(error: TdsError) -> (i32, String) {
    let complaint = error.complaint().unwrap();
    (complaint.number, complaint.text)
}

fn read(data: Vec<u8>) -> Result<TableValue, TdsError> {
    match Request::parse(&Message::new(MessageKind::Rpc, Reset::None, data))? {
        Request::Rpc(request) => Ok(TableValue::clone(
            request.calls[0].parameters[0].table.as_ref().unwrap(),
        )),
        Request::Batch(_) | Request::Transaction(_) => panic!("no call"),
    }
}

#[test]
fn a_table_has_the_values_of_the_columns_that_are_sent() {
    let read = table().read().unwrap();
    assert_eq!((read.schema.as_str(), read.name.as_str()), ("", "t"));
    assert_eq!((read.columns.len(), read.row_count), (4, 2));
    assert!(read.columns[2].is_default);
    assert_eq!(read.columns[1].type_info.data_type, DataType::NVarChar(Width::Max));
    let decimal = selenite_types::Decimal {
        unscaled: 12345,
        scale: 2,
    };
    let expected = [
        Value::Int(7),
        Value::Text("x".into()),
        Value::Decimal(decimal),
        Value::Null,
        Value::Null,
        Value::Null,
    ];
    assert_eq!(read.values, expected);
}

#[test]
fn a_table_that_is_cut_anywhere_is_refused() {
    let mut whole = table();
    whole.metadata = vec![
        ORDER_UNIQUE,
        2,
        0,
        1,
        0,
        5,
        4,
        0,
        2,
        COLUMN_ORDERING,
        4,
        0,
        1,
        0,
        2,
        0,
        3,
        0,
        4,
        0,
        END,
    ];
    let data = whole.data(0);
    assert!(read(data.clone()).is_ok());
    for size in 35..data.len() {
        let error = read(data[..size].to_vec()).unwrap_err();
        assert_eq!(number(error).0, 4002, "cut at {size}");
    }
}

/// What is read is whole, and everything else has an error of SQL Server's.
fn check(data: Vec<u8>) {
    let request = match Request::parse(&Message::new(MessageKind::Rpc, Reset::None, data)) {
        Ok(Request::Rpc(request)) => request,
        Ok(Request::Batch(_) | Request::Transaction(_)) => panic!("no call"),
        Err(error) => {
            assert!(error.complaint().is_some(), "{error}");
            return;
        }
    };
    let parameters = request.calls.iter().flat_map(|call| &call.parameters);
    for table in parameters.filter_map(|parameter| parameter.table.as_ref()) {
        let sent = table.columns.iter().filter(|column| !column.is_default).count();
        assert_eq!(table.values.len(), sent * usize::try_from(table.row_count).unwrap());
    }
}

#[test]
fn a_changed_byte_is_an_error_or_a_value() {
    let mut whole = table();
    whole.metadata = vec![ORDER_UNIQUE, 1, 0, 1, 0, 5, END];
    for status in [0, 2] {
        let data = whole.data(status);
        for at in 0..data.len() {
            for byte in 0..=255 {
                let mut changed = data.clone();
                changed[at] = byte;
                check(changed);
            }
        }
    }
}

#[test]
fn a_count_alone_allocates_nothing_and_is_bounded() {
    for count in [0, 1025, 0xFFFE] {
        let mut wrong = table();
        wrong.columns = u16::to_le_bytes(count).to_vec();
        assert_eq!(wrong.complaint().0, 8050, "{count}");
    }
    let mut wide = table();
    wide.columns = 1024_u16.to_le_bytes().to_vec();
    wide.columns.extend((0..1024).flat_map(|_| column(DEFAULT, &[0x26, 4])));
    wide.rows = vec![ROW, ROW, END];
    let read = wide.read().unwrap();
    assert_eq!((read.columns.len(), read.row_count, read.values.len()), (1024, 2, 0));
    wide.columns.truncate(100);
    (wide.metadata, wide.rows) = (Vec::new(), Vec::new());
    assert_eq!(wide.complaint().0, 4002);
}

/// 2.2.5.5.5.2: one token of each kind; ordinals of columns that are sent; flags that can be together.
#[test]
fn metadata_tokens_are_checked() {
    let order = |columns: &[(u16, u8)]| {
        let mut bytes = vec![ORDER_UNIQUE];
        bytes.extend(u16::try_from(columns.len()).unwrap().to_le_bytes());
        for (column, flags) in columns {
            bytes.extend(column.to_le_bytes());
            bytes.push(*flags);
        }
        bytes
    };
    let columns = |numbers: &[u16]| {
        let mut bytes = vec![COLUMN_ORDERING];
        bytes.extend(u16::try_from(numbers.len()).unwrap().to_le_bytes());
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    };
    let cases = [
        (0, order(&[])),
        (0, order(&[(1, 1), (2, 6), (4, 4)])),
        (0, [columns(&[1, 2, 3, 4]), order(&[(1, 5)])].concat()),
        (8054, order(&[(0, 1)])),
        (8054, order(&[(5, 1)])),
        (8054, order(&[(0xFFFF, 1)])),
        (8054, order(&[(1, 0)])),
        (8054, order(&[(1, 3)])),
        (8054, order(&[(1, 0x81)])),
        (8057, order(&[(1, 1), (3, 1)])),
        (8055, columns(&[])),
        (8055, columns(&[1, 2, 3])),
        (8055, columns(&[1, 2, 3, 4, 5])),
        (8055, columns(&[1, 2, 2, 4])),
        (8055, columns(&[0, 1, 2, 3])),
        (40510, columns(&[2, 1, 3, 4])),
        (8056, [order(&[]), order(&[])].concat()),
        (8056, [columns(&[1, 2, 3, 4]), columns(&[1, 2, 3, 4])].concat()),
        (8029, vec![ROW]),
        (8029, vec![0x12]),
    ];
    for (expected, tokens) in cases {
        let mut case = table();
        case.metadata = [tokens.clone(), vec![END]].concat();
        match case.read() {
            Ok(_) => assert_eq!(expected, 0, "{tokens:02x?}"),
            Err(error) => assert_eq!(number(error).0, expected, "{tokens:02x?}"),
        }
    }
}

#[test]
fn a_null_table_is_a_default_and_has_no_rows() {
    let mut null = table();
    null.columns = NULL.to_le_bytes().to_vec();
    null.rows = vec![END];
    assert_eq!(null.complaint().0, 8060);
    assert_eq!(read(null.data(2)).unwrap().columns, []);
    null.metadata = vec![ORDER_UNIQUE, 1, 0, 1, 0, 1, END];
    assert_eq!(number(read(null.data(2)).unwrap_err()).0, 8054);
    null.metadata = vec![END];
    null.rows = vec![ROW, END];
    assert_eq!(number(read(null.data(2)).unwrap_err()).0, 8029);
    // A parameter that has the default has no rows either.
    let mut empty = table();
    assert_eq!(number(read(empty.data(2)).unwrap_err()).0, 8029);
    empty.rows = vec![END];
    assert_eq!(read(empty.data(2)).unwrap().row_count, 0);
}

#[test]
fn names_and_status_are_checked() {
    let mut wrong = table();
    wrong.names = vec![1, b'd', 0, 0, 1, b't', 0];
    assert_eq!(wrong.complaint().0, 8047);
    wrong.names = vec![0, 1, 0, 0xD8, 1, b't', 0];
    assert_eq!(wrong.complaint().0, 8048);
    wrong.names = vec![0, 0, 1, 0, 0xD8];
    assert_eq!(wrong.complaint().0, 8049);
    wrong.names = [vec![0, 0, 129], [b'a', 0].repeat(129)].concat();
    assert_eq!(wrong.complaint().0, 8049);
    let mut named = table();
    named.columns = vec![1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 1, b'a', 0];
    assert_eq!(named.complaint().0, 8051);
    // OUTPUT, with a default and encrypted.
    for (status, expected) in [(1, 8006), (3, 8006), (4, 8006), (8, 40510)] {
        assert_eq!(number(read(table().data(status)).unwrap_err()).0, expected, "{status}");
    }
}

#[test]
fn an_error_has_the_row_and_the_column() {
    let mut wrong = table();
    // The int of the second row has three bytes.
    let at = wrong.rows.len() - 12;
    assert_eq!(wrong.rows[at..at + 2], [ROW, 0]);
    wrong.rows.splice(at + 1..=at + 1, [3, 0, 0, 0]);
    let (number, text) = wrong.complaint();
    assert_eq!(number, 8037);
    assert_eq!(
        text,
        "The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect. Table-valued \
         parameter 1 (\"@t\"), row 2, column 1: Data type 0x26 has an invalid data length or metadata length."
    );
    let types: [(i32, &[u8]); 6] = [
        (8032, &[0x33]),
        (8037, &[0x26, 3]),
        (8037, &[0xE7, 0x41, 0x1F, 9, 4, 0xD0, 0, 0x34]),
        (8038, &[0x6C, 17, 39, 0]),
        (8038, &[0x2A, 8]),
        (40510, &[0xF3]),
    ];
    for (expected, type_info) in types {
        let mut wrong = table();
        wrong.columns = [vec![1, 0], column(0, type_info)].concat();
        let (number, text) = wrong.complaint();
        assert_eq!(number, expected, "{type_info:02x?}: {text}");
        assert!(text.contains("row 0, column 1:"), "{text}");
    }
    let mut wrong = table();
    wrong.rows = vec![2, END];
    let (number, text) = wrong.complaint();
    assert_eq!(number, 8029);
    assert!(text.contains("row 0, column 0: Data type 0xF3"), "{text}");
}

/// mssql-jdbc sends it so.
#[test]
fn a_decimal_without_a_value_has_no_precision() {
    let mut one = table();
    one.columns = [vec![1, 0], column(0, &[0x6C, 17, 0, 0])].concat();
    one.rows = vec![ROW, 0, END];
    assert_eq!(one.read().unwrap().values, [Value::Null]);
    one.rows = vec![ROW, 5, 1, 12, 0, 0, 0, END];
    assert_eq!(one.complaint().0, 8043);
    one.columns = [vec![1, 0], column(0, &[0x6C, 17, 0, 1])].concat();
    assert_eq!(one.complaint().0, 8038);
}

#[test]
fn values_in_chunks_are_bounded_by_the_message() {
    let text = |bytes: &[u8]| {
        let mut one = table();
        one.columns = [vec![1, 0], column(0, &[0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34])].concat();
        one.rows = [&[ROW], bytes, &[END]].concat();
        one.read()
    };
    let unknown = [
        &0xFFFF_FFFF_FFFF_FFFE_u64.to_le_bytes()[..],
        &[2, 0, 0, 0, b'a', 0, 2, 0, 0, 0, b'b', 0, 0, 0, 0, 0],
    ];
    assert_eq!(text(&unknown.concat()).unwrap().values, [Value::Text("ab".into())]);
    let wrong = [&4_u64.to_le_bytes()[..], &[2, 0, 0, 0, b'a', 0, 0, 0, 0, 0]];
    assert_eq!(number(text(&wrong.concat()).unwrap_err()).0, 8031);
    // 2 GiB and more are announced, and not sent.
    let huge = [&0x7FFF_FFFF_u64.to_le_bytes()[..], &[0xFE, 0xFF, 0xFF, 0x7F, b'a', 0]];
    assert_eq!(number(text(&huge.concat()).unwrap_err()).0, 4002);
    let huge = [
        &0xFFFF_FFFF_FFFF_FFF0_u64.to_le_bytes()[..],
        &[0xFF, 0xFF, 0xFF, 0xFF, b'a', 0],
    ];
    assert_eq!(number(text(&huge.concat()).unwrap_err()).0, 4002);
}

/// The table of this data, of which values may occupy so much.
fn read_within(table: &Table, left: u64) -> Result<TableValue, ValueError> {
    let data = table.data(0);
    let mut reader = ByteReader::new(&data[34..], MessagePart::Rpc);
    let mut place = TablePlace { row: 0, column: 0 };
    TableValue::parse(&mut reader, false, &mut ValueBudget { left }, &mut place)
}

#[test]
fn memory_of_values_is_bounded() {
    let too_large = |found: Result<TableValue, ValueError>| {
        let Err(ValueError::Stream(error @ TdsError::TooLarge { .. })) = found else {
            panic!("{found:?}");
        };
        assert_eq!(number(error).0, 701);
    };
    // Rows without a byte of a value.
    let mut defaults = table();
    defaults.columns = [vec![1, 0], column(DEFAULT, &[0x26, 4])].concat();
    defaults.rows = [vec![ROW; 100], vec![END]].concat();
    assert_eq!(read_within(&defaults, 3200).unwrap().row_count, 100);
    too_large(read_within(&defaults, 3199));
    // NULL of a byte.
    let mut nulls = table();
    nulls.columns = [vec![1, 0], column(0, &[0x26, 4])].concat();
    nulls.rows = [[ROW, 0].repeat(100), vec![END]].concat();
    assert_eq!(read_within(&nulls, 6400).unwrap().values.len(), 100);
    too_large(read_within(&nulls, 6399));
    // Text that is padded.
    for type_info in [&[0xAF, 64, 31, 9, 4, 0xD0, 0, 0x34][..], &[0xAD, 64, 31]] {
        let mut padded = table();
        padded.columns = [vec![1, 0], column(0, type_info)].concat();
        padded.rows = [[ROW, 0, 0].repeat(3), vec![END]].concat();
        assert_eq!(read_within(&padded, 3 * 8064).unwrap().values.len(), 3);
        too_large(read_within(&padded, 3 * 8064 - 1));
    }
}

fn call(table: TableValue, is_default: bool) -> RpcRequest {
    let parameter = Parameter {
        name: "@t".to_owned(),
        is_output: false,
        is_default,
        type_info: TypeInfo {
            data_type: DataType::Int,
            collation: None,
        },
        value: Value::Null,
        table: Some(Arc::new(table)),
    };
    RpcRequest {
        headers: Headers {
            transaction: 0,
            outstanding_count: 1,
            activity: None,
        },
        calls: vec![RpcCall {
            procedure: Procedure::Name("p".to_owned()),
            with_recompile: false,
            no_metadata: false,
            reuse_metadata: false,
            parameters: vec![parameter],
        }],
    }
}

proptest! {
    #[test]
    fn a_table_round_trips(
        values in prop::collection::vec((typed_value(), any::<bool>()), 1..12),
        row_count in 0..4_u32,
        schema in "[a-z]{0,5}",
    ) {
        let columns = values.iter().map(|((data_type, _), is_default)| TableColumn {
            type_info: TypeInfo { data_type: *data_type, collation: None },
            is_default: *is_default,
        });
        let row: Vec<Value> = values.iter().filter(|(_, is_default)| !is_default).map(|((_, value), _)| value.clone()).collect();
        let table = TableValue {
            schema,
            name: "t".to_owned(),
            columns: columns.collect(),
            row_count,
            values: (0..row_count).flat_map(|_| row.clone()).collect(),
        };
        let packets = client::rpc(&call(table.clone(), row_count == 0), PacketSize::MAX, Reset::None).unwrap();
        let mut reader = crate::MessageReader::new();
        reader.set_limits(crate::Limits::LoggedIn { message_size_max: 1 << 24 });
        let Some(crate::Incoming::Message(message)) = reader.push(&mut packets.as_slice()).unwrap() else {
            return Err(TestCaseError::fail("no message"));
        };
        let mut again = read(message.data().to_vec()).unwrap();
        for column in &mut again.columns {
            column.type_info.collation = None;
        }
        prop_assert_eq!(again, table);
    }

    #[test]
    fn changed_bytes_are_an_error_or_a_value(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut data = table().data(0);
        for (at, byte) in changes {
            let at = 34 + at.index(data.len() - 34);
            data[at] = byte;
        }
        check(data);
    }
}

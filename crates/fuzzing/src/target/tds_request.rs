//! Any bytes as a request of each kind, with its headers and without, and as a bulk load in pieces.

use selenite_tds::{
    BulkPiece, BulkReader, BulkStep, Limits, Message, MessageKind, MessageReader, PacketSize, Request, Reset,
    RpcRequest, TableValue, TypeInfo, client,
};
use selenite_types::Value;

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    if let Some((&first, load)) = data.split_first() {
        let whole = rows(load, load.len().max(1));
        assert_eq!(rows(load, usize::from(first) + 1), whole);
    }
    let mut headed = vec![22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    headed.extend_from_slice(data);
    for data in [data, &headed] {
        for kind in [MessageKind::SqlBatch, MessageKind::Rpc, MessageKind::TransactionRequest] {
            let message = Message::new(kind, Reset::None, data.to_vec());
            match Request::parse(&message) {
                Ok(Request::Rpc(request)) => send_again(&request),
                Ok(Request::Batch(_) | Request::Transaction(_)) => {}
                Err(error) => assert!(error.complaint().is_some(), "{error}"),
            }
        }
    }
}

/// The rows of a bulk load that comes in pieces, up to the first error. A float may be no number, and is no equal.
fn rows(load: &[u8], piece_size: usize) -> Vec<String> {
    let mut reader = BulkReader::new(1 << 16);
    let mut pieces = load.chunks(piece_size).peekable();
    let mut all = Vec::new();
    let mut step = BulkStep::More;
    while step != BulkStep::End {
        if step == BulkStep::More {
            let data = pieces.next().unwrap_or_default().to_vec();
            let is_last = pieces.peek().is_none();
            reader.push(BulkPiece { data, is_last });
        }
        let mut row: Vec<Value> = Vec::new();
        let found = match reader.columns() {
            Ok(None) => Ok(BulkStep::More),
            Ok(Some(_)) => reader.row(&mut row),
            Err(error) => Err(error),
        };
        match found {
            Ok(found) => step = found,
            Err(error) => {
                assert!(error.complaint().is_some(), "{error}");
                break;
            }
        }
        if step == BulkStep::Row {
            all.push(format!("{row:?}"));
        }
    }
    all
}

/// A call is the same when it is sent again, but for how its types are told.
fn send_again(request: &RpcRequest) {
    let packets = client::rpc(request, PacketSize::MAX, Reset::None).expect("what is parsed fits its types");
    let mut reader = MessageReader::new();
    reader.set_limits(Limits::LoggedIn {
        message_size_max: u32::MAX,
    });
    let mut bytes = packets.as_slice();
    let Ok(Some(selenite_tds::Incoming::Message(message))) = reader.push(&mut bytes) else {
        panic!("no message");
    };
    let Ok(Request::Rpc(again)) = Request::parse(&message) else {
        panic!("no call");
    };
    assert_eq!(again.calls.len(), request.calls.len());
    for (again, call) in again.calls.iter().zip(&request.calls) {
        assert_eq!(again.procedure, call.procedure);
        assert_eq!(again.parameters.len(), call.parameters.len());
        for (again, parameter) in again.parameters.iter().zip(&call.parameters) {
            assert_eq!(again.type_info.data_type, parameter.type_info.data_type);
            assert_eq!(again.is_default, parameter.is_default);
            match (&again.table, &parameter.table) {
                (Some(again), Some(table)) => compare(again, table),
                (again, table) => assert_eq!(again.is_none(), table.is_none()),
            }
            compare_values(&parameter.type_info, &again.value, &parameter.value);
        }
    }
}

fn compare(again: &TableValue, table: &TableValue) {
    assert_eq!((&again.schema, &again.name), (&table.schema, &table.name));
    assert_eq!(again.row_count, table.row_count);
    assert_eq!(again.columns.len(), table.columns.len());
    for (again, column) in again.columns.iter().zip(&table.columns) {
        assert_eq!(again.is_default, column.is_default);
        assert_eq!(again.type_info.data_type, column.type_info.data_type);
    }
    let sent: Vec<_> = table.columns.iter().filter(|column| !column.is_default).collect();
    let row_count = usize::try_from(table.row_count).expect("the rows are in memory");
    assert_eq!(table.values.len(), sent.len() * row_count);
    assert_eq!(again.values.len(), table.values.len());
    for (column, (again, value)) in sent.iter().cycle().zip(again.values.iter().zip(&table.values)) {
        compare_values(&column.type_info, again, value);
    }
}

fn compare_values(type_info: &TypeInfo, again: &Value, value: &Value) {
    // Text of a collation in UTF-8 may have what code page 1252 lacks.
    let is_utf8 = type_info.collation.is_some_and(|collation| collation.is_utf8());
    assert!(is_utf8 || again == value, "{again:?} {value:?}");
}

use proptest::prelude::*;
use selenite_types::{DataType, Date, DateTime2, DateTimeOffset, Decimal, Guid, TimeOfDay, Value, Width};

use super::*;
use crate::sample::typed_value;
use crate::vector::Vector;
use crate::{Incoming, Limits, MessageReader, PacketSize, ParameterFault, Reset, TypeInfo, client};

fn message(packets: &[u8]) -> Message {
    let mut reader = MessageReader::new();
    reader.set_limits(Limits::LoggedIn {
        message_size_max: 1 << 24,
    });
    let mut bytes = packets;
    match reader.push(&mut bytes).unwrap() {
        Some(Incoming::Message(message)) => message,
        other => panic!("{other:?}"),
    }
}

fn parse(packets: &[u8]) -> Result<Request, TdsError> {
    Request::parse(&message(packets))
}

fn calls(name: &str) -> Vec<RpcCall> {
    match parse(&Vector::load(name).bytes).unwrap() {
        Request::Rpc(request) => request.calls,
        Request::Batch(_) | Request::Transaction(_) => panic!("{name} is no call"),
    }
}

fn values(name: &str) -> Vec<Value> {
    let [call] = <[RpcCall; 1]>::try_from(calls(name)).unwrap();
    call.parameters.into_iter().map(|parameter| parameter.value).collect()
}

fn info(data_type: DataType) -> TypeInfo {
    TypeInfo {
        data_type,
        collation: None,
    }
}

const AUTOCOMMIT: Headers = Headers {
    transaction: 0,
    outstanding_count: 1,
    activity: None,
};

/// MC-SMP 4.3.
#[test]
fn a_batch_is_its_text() {
    let expected = Batch {
        headers: AUTOCOMMIT,
        text: "SET QUOTED_IDENTIFIER OFF".to_owned(),
    };
    let read = parse(&Vector::load("batch").bytes).unwrap();
    assert_eq!(read, Request::Batch(expected));
}

/// MS-TDS 4.8.
#[test]
fn the_call_of_the_specification_parses() {
    let [call] = <[RpcCall; 1]>::try_from(calls("rpc")).unwrap();
    let parameter = Parameter {
        name: String::new(),
        is_output: false,
        is_default: true,
        type_info: info(DataType::SmallInt),
        value: Value::Null,
        table: None,
    };
    let expected = RpcCall {
        procedure: Procedure::Name("foo3".to_owned()),
        with_recompile: false,
        no_metadata: false,
        reuse_metadata: false,
        parameters: vec![parameter],
    };
    assert_eq!(call, expected);
}

#[test]
fn sp_executesql_has_its_texts_and_its_typed_parameters() {
    let [call] = <[RpcCall; 1]>::try_from(calls("rpc-executesql")).unwrap();
    assert_eq!(call.procedure, Procedure::Id(ProcedureId::ExecuteSql));
    let [text, declared, a, b] = <[Parameter; 4]>::try_from(call.parameters).unwrap();
    assert_eq!(text.value, Value::Text("select @a, @b".into()));
    assert_eq!(text.type_info.data_type, DataType::NVarChar(Width::Limited(4000)));
    assert_eq!(declared.value, Value::Text("@a int, @b decimal(5,2) output".into()));
    assert_eq!((a.name.as_str(), a.is_output, a.value), ("@a", false, Value::Int(42)));
    let expected = Decimal {
        unscaled: 12345,
        scale: 2,
    };
    assert_eq!(
        (b.name.as_str(), b.is_output, b.value),
        ("@b", true, Value::Decimal(expected))
    );
    assert_eq!(b.type_info.data_type, DataType::Decimal { precision: 5, scale: 2 });
}

/// MS-TDS 2.2.5.2.3.
#[test]
fn chunks_are_joined_before_they_are_decoded() {
    assert_eq!(values("rpc-chunks"), [Value::Text("abc".into())]);
    assert_eq!(values("rpc-chunks-null"), [Value::Null]);
}

#[test]
fn legacy_text_is_its_max_type() {
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(values("rpc-legacy"), [text("abc"), text("ab"), Value::Null]);
    let [call] = <[RpcCall; 1]>::try_from(calls("rpc-legacy")).unwrap();
    let types: Vec<_> = call
        .parameters
        .iter()
        .map(|parameter| parameter.type_info.data_type)
        .collect();
    let max = Width::Max;
    assert_eq!(
        types,
        [
            DataType::VarChar(max),
            DataType::NVarChar(max),
            DataType::VarBinary(max)
        ]
    );
}

#[test]
fn calls_of_one_message_are_separate() {
    let [a, b] = <[RpcCall; 2]>::try_from(calls("rpc-two")).unwrap();
    assert_eq!((a.procedure, a.parameters.len()), (Procedure::Name("a".to_owned()), 0));
    assert_eq!(
        (b.procedure, b.parameters.len()),
        (Procedure::Id(ProcedureId::Unprepare), 1)
    );
}

/// MS-TDS 2.2.5.5.1: 0x0A955B is 693595, 1900-01-01.
#[test]
fn money_and_times_are_counted_as_specified() {
    let time = |time| TimeOfDay(time);
    let day = |day| Date(day);
    let at = |date, units| DateTime2 {
        date,
        time: time(units),
    };
    let expected = [
        Value::Money(10_000),
        Value::DateTime(at(day(693_595), 10_000_000)),
        Value::DateTime(at(day(693_596), 36_000_000_000)),
        Value::Date(day(1)),
        Value::Time(time(1)),
        Value::DateTime(at(day(693_595), 10_000)),
        Value::DateTimeOffset(DateTimeOffset {
            utc: at(day(693_595), 36_000_000_000),
            offset_minutes: 60,
        }),
        Value::Guid(Guid([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])),
    ];
    assert_eq!(values("rpc-money-and-times"), expected);
}

#[test]
fn an_invalid_parameter_is_reported_with_its_index_and_name() {
    let mut request = call_of(vec![(DataType::Int, Value::Int(1)), (DataType::Int, Value::Int(2))]);
    request.calls[0].parameters[1].name = "@second".to_owned();
    let mut packets = client::rpc(&request, PacketSize::DEFAULT, Reset::None).unwrap();
    let at = packets.len() - 7;
    assert_eq!(packets[at], 0x26);
    packets[at] = 0x33;
    let Err(TdsError::Parameter(error)) = parse(&packets) else {
        panic!("it was read");
    };
    assert_eq!((error.index, error.name.as_str()), (2, "@second"));
    assert_eq!(error.fault, ParameterFault::UnknownType(0x33));
}

#[test]
fn a_name_without_an_at_is_for_procedures_with_a_number_alone() {
    let mut request = call_of(vec![(DataType::Int, Value::Int(1))]);
    request.calls[0].parameters[0].name = "stmt".to_owned();
    request.calls[0].procedure = Procedure::Id(ProcedureId::ExecuteSql);
    let packets = client::rpc(&request, PacketSize::DEFAULT, Reset::None).unwrap();
    assert_eq!(parse(&packets).unwrap(), Request::Rpc(request.clone()));
    request.calls[0].procedure = Procedure::Name("p".to_owned());
    let packets = client::rpc(&request, PacketSize::DEFAULT, Reset::None).unwrap();
    let Err(TdsError::Parameter(error)) = parse(&packets) else {
        panic!("it was read");
    };
    assert_eq!((error.index, error.fault), (1, ParameterFault::Name));
}

/// TYPE_INFO of a NULL uniqueidentifier as mssql-jdbc sends it.
#[test]
fn a_guid_of_length_zero_is_null() {
    let mut packets = client::rpc(&call_of(Vec::new()), PacketSize::DEFAULT, Reset::None).unwrap();
    packets.extend([0, 0, 0x24, 0, 0]);
    let size = u16::try_from(packets.len()).unwrap();
    packets[2..4].copy_from_slice(&size.to_be_bytes());
    let Request::Rpc(request) = parse(&packets).unwrap() else {
        panic!("no call");
    };
    let parameter = &request.calls[0].parameters[0];
    assert_eq!(parameter.type_info.data_type, DataType::UniqueIdentifier);
    assert_eq!(parameter.value, Value::Null);
}

#[test]
fn more_than_2100_parameters_are_refused() {
    let request = call_of(vec![(DataType::Bit, Value::Bit(true)); 2100]);
    let packets = client::rpc(&request, PacketSize::DEFAULT, Reset::None).unwrap();
    assert_eq!(parse(&packets).unwrap(), Request::Rpc(request));
    let request = call_of(vec![(DataType::Bit, Value::Bit(true)); 2101]);
    let packets = client::rpc(&request, PacketSize::DEFAULT, Reset::None).unwrap();
    assert!(matches!(parse(&packets), Err(TdsError::TooManyParameters)));
}

#[test]
fn calls_and_parameters_of_a_message_are_bounded_together() {
    let call = call_of(Vec::new()).calls.remove(0);
    let request = |count| RpcRequest {
        headers: AUTOCOMMIT,
        calls: vec![call.clone(); count],
    };
    let packets = |count| client::rpc(&request(count), PacketSize::MAX, Reset::None).unwrap();
    assert!(parse(&packets(1 << 16)).is_ok());
    assert!(matches!(
        parse(&packets((1 << 16) + 1)),
        Err(TdsError::TooManyParameters)
    ));
}

/// mssql-jdbc sends the size of the magnitude, not of the precision.
#[test]
fn a_decimal_of_any_size_parses() {
    let mut packets = client::rpc(&call_of(Vec::new()), PacketSize::DEFAULT, Reset::None).unwrap();
    packets.extend([0, 0, 0x6A, 17, 38, 1, 3, 0, 0x39, 0x30]);
    let size = u16::try_from(packets.len()).unwrap();
    packets[2..4].copy_from_slice(&size.to_be_bytes());
    let Request::Rpc(request) = parse(&packets).unwrap() else {
        panic!("no call");
    };
    let expected = Decimal {
        unscaled: -12345,
        scale: 1,
    };
    assert_eq!(request.calls[0].parameters[0].value, Value::Decimal(expected));
}

#[test]
fn empty_text_declared_with_length_zero_parses() {
    let mut packets = client::rpc(&call_of(Vec::new()), PacketSize::DEFAULT, Reset::None).unwrap();
    packets.extend([0, 0, 0xE7, 0, 0, 9, 4, 0xD0, 0, 0x34, 0, 0]);
    let size = u16::try_from(packets.len()).unwrap();
    packets[2..4].copy_from_slice(&size.to_be_bytes());
    let Request::Rpc(request) = parse(&packets).unwrap() else {
        panic!("no call");
    };
    let parameter = &request.calls[0].parameters[0];
    assert_eq!(parameter.value, Value::Text("".into()));
    assert_eq!(parameter.type_info.data_type, DataType::NVarChar(Width::Limited(1)));
}

#[test]
fn char_and_binary_are_padded_to_their_length() {
    let padded = |type_info: &[u8], value: &[u8]| {
        let mut packets = client::rpc(&call_of(Vec::new()), PacketSize::DEFAULT, Reset::None).unwrap();
        packets.extend([0, 0]);
        packets.extend(type_info);
        packets.extend(u16::try_from(value.len()).unwrap().to_le_bytes());
        packets.extend(value);
        let size = u16::try_from(packets.len()).unwrap();
        packets[2..4].copy_from_slice(&size.to_be_bytes());
        let Request::Rpc(request) = parse(&packets).unwrap() else {
            panic!("no call");
        };
        request.calls[0].parameters[0].value.clone()
    };
    assert_eq!(
        padded(&[0xAF, 4, 0, 9, 4, 0xD0, 0, 0x34], b"ab"),
        Value::Text("ab  ".into())
    );
    assert_eq!(
        padded(&[0xEF, 4, 0, 9, 4, 0xD0, 0, 0x34], b"a\0"),
        Value::Text("a ".into())
    );
    assert_eq!(padded(&[0xAD, 3, 0], b"\x01"), Value::Binary([1, 0, 0].into()));
}

#[test]
fn padded_values_of_a_message_are_bounded_together() {
    let mut call = call_of(vec![(DataType::Binary(8000), Value::Null); 2000])
        .calls
        .remove(0);
    for parameter in &mut call.parameters {
        parameter.value = Value::Binary([].into());
    }
    let request = RpcRequest {
        headers: AUTOCOMMIT,
        calls: vec![call; 9],
    };
    let packets = client::rpc(&request, PacketSize::MAX, Reset::None).unwrap();
    let error = parse(&packets).unwrap_err();
    assert!(matches!(error, TdsError::TooLarge { .. }), "{error}");
    assert_eq!(error.complaint().unwrap().number, 701);
}

#[test]
fn transaction_manager_requests_parse_to_themselves() {
    let name = |name: &str| name.to_owned();
    let next = Some((Isolation::Snapshot, name("next")));
    let steps = [
        TransactionStep::Begin {
            isolation: Isolation::ReadCommitted,
            name: name(""),
        },
        TransactionStep::Begin {
            isolation: Isolation::Serializable,
            name: name("t"),
        },
        TransactionStep::Commit {
            name: name("t"),
            next: next.clone(),
        },
        TransactionStep::Commit {
            name: name(""),
            next: None,
        },
        TransactionStep::Rollback { name: name("s"), next },
        TransactionStep::Rollback {
            name: name("s"),
            next: None,
        },
        TransactionStep::Save { name: name("s") },
    ];
    for step in steps {
        let headers = Headers {
            transaction: 0x1122_3344_5566_7788,
            outstanding_count: 1,
            activity: Some([9; 20]),
        };
        let request = TransactionRequest { headers, step };
        let packets = client::transaction(&request, Reset::Session).unwrap();
        assert_eq!(message(&packets).reset(), Reset::Session);
        assert_eq!(parse(&packets).unwrap(), Request::Transaction(request));
    }
}

#[test]
fn a_savepoint_has_a_name() {
    let step = TransactionStep::Save { name: String::new() };
    let request = TransactionRequest {
        headers: AUTOCOMMIT,
        step,
    };
    let packets = client::transaction(&request, Reset::None).unwrap();
    assert!(matches!(parse(&packets), Err(TdsError::Malformed { .. })));
}

fn call_of(parameters: Vec<(DataType, Value)>) -> RpcRequest {
    let parameters = parameters.into_iter().map(|(data_type, value)| Parameter {
        name: String::new(),
        is_output: false,
        is_default: false,
        type_info: info(data_type),
        value,
        table: None,
    });
    let call = RpcCall {
        procedure: Procedure::Name("p".to_owned()),
        with_recompile: false,
        no_metadata: false,
        reuse_metadata: false,
        parameters: parameters.collect(),
    };
    RpcRequest {
        headers: AUTOCOMMIT,
        calls: vec![call],
    }
}

/// Removes the collations, which the server chooses and `call_of` does not set.
fn without_collations(mut request: RpcRequest) -> RpcRequest {
    for call in &mut request.calls {
        for parameter in &mut call.parameters {
            parameter.type_info.collation = None;
        }
    }
    request
}

proptest! {
    #[test]
    fn every_type_and_value_round_trips(
        parameters in prop::collection::vec(typed_value(), 0..12),
        flags in prop::collection::vec(any::<[bool; 2]>(), 12),
        options in any::<[bool; 3]>(),
        size in 512..=8000_u16,
    ) {
        let mut request = call_of(parameters);
        let call = &mut request.calls[0];
        [call.with_recompile, call.no_metadata, call.reuse_metadata] = options;
        for (index, (parameter, [is_output, is_default])) in call.parameters.iter_mut().zip(flags).enumerate() {
            parameter.name = format!("@p{index}");
            parameter.is_output = is_output;
            parameter.is_default = is_default;
        }
        let packets = client::rpc(&request, PacketSize::new(size).unwrap(), Reset::None).unwrap();
        match parse(&packets).unwrap() {
            Request::Rpc(again) => prop_assert_eq!(without_collations(again), request),
            Request::Batch(_) | Request::Transaction(_) => prop_assert!(false, "no call"),
        }
    }

    #[test]
    fn a_batch_round_trips(text in any::<String>(), transaction in any::<u64>()) {
        let headers = Headers { transaction, outstanding_count: 1, activity: None };
        let packets = client::batch(&headers, &text, PacketSize::MIN, Reset::None).unwrap();
        prop_assert_eq!(parse(&packets).unwrap(), Request::Batch(Batch { headers, text }));
    }

    #[test]
    fn any_bytes_behind_the_headers_are_no_panic(
        kind in prop::sample::select(vec![MessageKind::SqlBatch, MessageKind::Rpc, MessageKind::TransactionRequest]),
        data in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = vec![22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
        bytes.extend(data);
        let _ = Request::parse(&Message::new(kind, Reset::None, bytes));
    }
}

use proptest::prelude::*;
use selenite_types::{DataType, Width};

use super::*;
use crate::client::{self, Change, ServerMessage, Token};
use crate::sample::typed_value;
use crate::vector::Vector;
use crate::{Collation, DoneKind, MessageKind, PacketSize, ProductVersion, TdsVersion};

fn data(write: impl FnOnce(&mut TokenWriter<Vec<u8>>)) -> Vec<u8> {
    let packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, PacketSize::DEFAULT, 0);
    let mut tokens = TokenWriter::new(packets);
    write(&mut tokens);
    tokens.packets_mut().finish().unwrap();
    let packets = tokens.into_packets().into_sink();
    client::split_message(&mut packets.as_slice()).unwrap().unwrap()
}

fn tokens_of(write: impl FnOnce(&mut TokenWriter<Vec<u8>>)) -> Vec<Token> {
    client::tokens(&data(write)).unwrap()
}

fn done(kind: DoneKind, status: u16, command: u16, row_count: u64) -> Done {
    Done {
        kind,
        status,
        command,
        row_count,
    }
}

#[test]
fn the_response_to_a_call_equals_its_vector() {
    let written = data(|tokens| {
        let in_procedure = done(DoneKind::InProcedure, Done::MORE | Done::COUNT, Done::SELECT, 1);
        tokens.done(in_procedure).unwrap();
        tokens.return_status(0).unwrap();
        tokens
            .done(done(DoneKind::Procedure, Done::FINAL, Done::EXECUTE, 0))
            .unwrap();
    });
    assert_eq!(written, Vector::load("answer-rpc").data());
}

#[test]
fn a_done_round_trips() {
    for kind in [DoneKind::Statement, DoneKind::Procedure, DoneKind::InProcedure] {
        let done = done(kind, Done::ERROR | Done::IN_TRANSACTION, Done::MERGE, u64::MAX - 1);
        assert_eq!(tokens_of(|tokens| tokens.done(done).unwrap()), [Token::Done(done)]);
    }
}

/// MS-TDS 2.2.7.10 and 2.2.7.13.
#[test]
fn errors_and_infos_are_complete() {
    let notice = Notice {
        number: 8134,
        state: 1,
        severity: 16,
        text: "Divide by zero error encountered.",
        server: "selenite",
        procedure: "p\u{416}",
        line: 3,
    };
    let message = ServerMessage {
        number: 8134,
        state: 1,
        severity: 16,
        text: notice.text.to_owned(),
        server: notice.server.to_owned(),
        procedure: notice.procedure.to_owned(),
        line: 3,
    };
    let tokens = tokens_of(|tokens| {
        tokens.error(&notice).unwrap();
        tokens.info(&notice).unwrap();
    });
    assert_eq!(tokens, [Token::Error(message.clone()), Token::Info(message)]);
}

#[test]
fn a_text_beyond_2047_units_is_truncated() {
    let text = "\u{1F600}".repeat(2000);
    let notice = Notice {
        number: -1,
        state: 0,
        severity: 10,
        text: &text,
        server: &text,
        procedure: "",
        line: 0,
    };
    match &tokens_of(|tokens| tokens.info(&notice).unwrap())[..] {
        [Token::Info(message)] => {
            assert_eq!(message.text.chars().count(), 1023);
            assert_eq!(message.server.chars().count(), 64);
            assert_eq!(message.number, -1);
        }
        other => panic!("{other:?}"),
    }
}

/// MS-TDS 2.2.7.9.
#[test]
fn every_change_is_written_as_specified() {
    let change = |change: EnvChange<'_>| data(|tokens| tokens.env_change(&change).unwrap());
    let (new, old) = ("ab", "");
    let database = change(EnvChange::Database { new, old });
    assert_eq!(database, [0xE3, 7, 0, 1, 2, b'a', 0, b'b', 0, 0]);
    assert_eq!(change(EnvChange::Language { new, old })[3], 2);
    let (new, old) = (PacketSize::new(8000).unwrap(), PacketSize::DEFAULT);
    let size = change(EnvChange::PacketSize { new, old });
    assert_eq!(size[..5], [0xE3, 19, 0, 4, 4]);
    let read = client::tokens(&size).unwrap();
    assert!(matches!(&read[..], [Token::EnvChange(change)] if change.new_text().as_deref() == Some("8000")));
    let new = Collation::DEFAULT;
    // The sample of MS-TDS 4.4.
    let collation = change(EnvChange::Collation { new, old: None });
    assert_eq!(collation, [0xE3, 8, 0, 7, 5, 9, 4, 0xD0, 0, 0x34, 0]);
    let collation = change(EnvChange::Collation { new, old: Some(new) });
    assert_eq!(collation.len(), 16);
    let begin = change(EnvChange::BeginTransaction(0x0102));
    assert_eq!(begin, [0xE3, 11, 0, 8, 8, 2, 1, 0, 0, 0, 0, 0, 0, 0]);
    let commit = change(EnvChange::CommitTransaction(0x0102));
    assert_eq!(commit, [0xE3, 11, 0, 9, 0, 8, 2, 1, 0, 0, 0, 0, 0, 0]);
    let rollback = change(EnvChange::RollbackTransaction(0x0102));
    assert_eq!(rollback[3..6], [10, 0, 8]);
    assert_eq!(change(EnvChange::ResetAcknowledged), [0xE3, 3, 0, 18, 0, 0]);
}

#[test]
fn an_env_change_with_an_invalid_name_writes_nothing() {
    let new = "n".repeat(129);
    let packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, PacketSize::DEFAULT, 0);
    let mut tokens = TokenWriter::new(packets);
    let refused = tokens.env_change(&EnvChange::Database { new: &new, old: "" });
    assert!(matches!(refused, Err(TdsError::Misfit { .. })));
    assert!(tokens.packets().is_empty());
}

/// MS-TDS 2.2.7.14; TDS.md 4, rule 2.
#[test]
fn a_login_is_acknowledged_with_the_negotiated_version() {
    let version = ProductVersion {
        major: 16,
        minor: 0,
        build: 1000,
        sub_build: 0,
    };
    for (tds_version, bytes) in [(TdsVersion::V7_4, [0x74, 0, 0, 4]), (TdsVersion::V8_0, [8, 0, 0, 0])] {
        let ack = LoginAck {
            tds_version,
            program: "Microsoft SQL Server",
            version,
        };
        let written = data(|tokens| tokens.login_ack(&ack).unwrap());
        assert_eq!(written[..8], [&[0xAD, 0x32, 0, 1], &bytes[..]].concat());
        assert_eq!(written[written.len() - 4..], [16, 0, 0x03, 0xE8]);
        let program = "Microsoft SQL Server".to_owned();
        let read = client::tokens(&written).unwrap();
        assert_eq!(
            read,
            [Token::LoginAck {
                tds_version,
                program,
                version
            }]
        );
    }
}

#[test]
fn utf8_support_alone_is_acknowledged() {
    let features = |ids: &[u8]| {
        let features: Vec<_> = ids.iter().map(|id| Feature { id: *id, data: vec![1] }).collect();
        tokens_of(|tokens| tokens.feature_ext_ack(&features).unwrap())
    };
    assert_eq!(features(&[]), []);
    assert_eq!(features(&[0x10, 0x04, 0x09, 0x0B]), []);
    let utf8 = Feature {
        id: 0x0A,
        data: vec![1],
    };
    assert_eq!(features(&[0x10, 0x0A, 0x01]), [Token::FeatureExtAck(vec![utf8])]);
}

#[test]
fn status_and_order_round_trip() {
    let tokens = tokens_of(|tokens| {
        tokens.return_status(-4).unwrap();
        tokens.order(&[2, 1]).unwrap();
    });
    assert_eq!(tokens, [Token::ReturnStatus(-4), Token::Order(vec![2, 1])]);
}

/// MS-TDS 2.2.7.3 and 2.2.7.23.
#[test]
fn tables_and_columns_of_a_cursor_are_written_as_specified() {
    let columns = [
        ColumnInfo {
            table: 1,
            is_key: true,
            is_hidden: false,
            base_name: Some("a".to_owned()),
        },
        ColumnInfo::expression(true),
    ];
    let bytes = data(|tokens| {
        tokens.table_names(&[&["d", "t"]]).unwrap();
        tokens.column_info(&columns).unwrap();
        tokens.known_columns().unwrap();
    });
    let names = [0xA4, 9, 0, 2, 1, 0, b'd', 0, 1, 0, b't', 0];
    let info = [0xA5, 9, 0, 1, 1, 0x28, 1, b'a', 0, 2, 0, 0x14];
    assert_eq!(bytes, [&names[..], &info, &[0x81, 0xFF, 0xFF]].concat());
    let tokens = tokens_of(|tokens| {
        tokens.table_names(&[&["d", "t"]]).unwrap();
        tokens.column_info(&columns).unwrap();
    });
    let names = vec![vec!["d".to_owned(), "t".to_owned()]];
    assert_eq!(
        tokens,
        [Token::TableNames(names), Token::ColumnInfo(vec![(1, 0x28), (0, 0x14)])]
    );
}

/// MS-TDS 2.2.7.19.
#[test]
fn an_output_parameter_is_written_as_specified() {
    let value = ReturnValue {
        ordinal: 1,
        name: "@a",
        data_type: DataType::Int,
        value: &Value::Int(7),
    };
    let bytes = data(|tokens| tokens.return_value(&value).unwrap());
    let head = [0xAC, 1, 0, 2, b'@', 0, b'a', 0, 1, 0, 0, 0, 0, 0, 0];
    assert_eq!(bytes, [&head[..], &[0x26, 4, 4, 7, 0, 0, 0]].concat());
}

#[test]
fn an_output_parameter_of_another_type_writes_nothing() {
    let packets = PacketWriter::new(Vec::new(), MessageKind::TabularResult, PacketSize::DEFAULT, 0);
    let mut tokens = TokenWriter::new(packets);
    let value = ReturnValue {
        ordinal: 0,
        name: "",
        data_type: DataType::VarChar(Width::Limited(1)),
        value: &Value::Text("ab".into()),
    };
    assert!(matches!(tokens.return_value(&value), Err(TdsError::Misfit { .. })));
    assert!(tokens.packets().is_empty());
}

#[test]
fn a_change_read_by_a_client_has_both_values() {
    let (new, old) = ("master", "tempdb");
    let tokens = tokens_of(|tokens| tokens.env_change(&EnvChange::Database { new, old }).unwrap());
    let bytes = |text: &str| text.bytes().flat_map(|byte| [byte, 0]).collect::<Vec<_>>();
    let expected = Change {
        kind: 1,
        new: bytes(new),
        old: bytes(old),
    };
    assert_eq!(tokens, [Token::EnvChange(expected)]);
}

proptest! {
    #[test]
    fn every_output_parameter_round_trips((data_type, value) in typed_value(), ordinal in any::<u16>()) {
        let return_value = ReturnValue { ordinal, name: "@p", data_type, value: &value };
        match &tokens_of(|tokens| tokens.return_value(&return_value).unwrap())[..] {
            [Token::ReturnValue { ordinal: again, name, type_info, value: read }] => {
                prop_assert_eq!((*again, name.as_str()), (ordinal, "@p"));
                prop_assert_eq!(type_info.data_type, data_type);
                prop_assert_eq!(read, &value);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

use super::*;

/// The packets of a message, with `size` bytes of data each.
fn packets(kind: MessageKind, statuses: &[u8], data: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, status) in statuses.iter().enumerate() {
        let data = data.chunks(size).nth(index).unwrap_or_default();
        let header = Header {
            kind,
            status: *status,
            length: u16::try_from(HEADER_SIZE + data.len()).unwrap(),
            spid: 0,
            packet_id: 1,
        };
        bytes.extend(header.encode());
        bytes.extend(data);
    }
    bytes
}

fn logged_in() -> MessageReader {
    let mut reader = MessageReader::new();
    reader.set_limits(Limits::LoggedIn { message_size_max: 1000 });
    reader
}

fn push_all(reader: &mut MessageReader, bytes: &[u8]) -> Result<Vec<Incoming>, TdsError> {
    let mut bytes = bytes;
    let mut all = Vec::new();
    while let Some(incoming) = reader.push(&mut bytes)? {
        all.push(incoming);
    }
    assert!(bytes.is_empty());
    Ok(all)
}

fn described(incoming: &Incoming) -> String {
    match incoming {
        Incoming::Message(message) => format!("{:?} {:?} {:?}", message.kind(), message.reset(), message.data()),
        Incoming::BulkLoad(piece) => format!("bulk load {:?} {}", piece.data, piece.is_last),
        Incoming::Attention => "attention".to_owned(),
        Incoming::Ignored(kind) => format!("ignored {kind:?}"),
    }
}

fn error(bytes: &[u8], reader: &mut MessageReader) -> TdsError {
    push_all(reader, bytes).unwrap_err()
}

#[test]
fn messages_are_the_same_in_pieces_of_every_size() {
    let mut stream = packets(MessageKind::SqlBatch, &[0, 0, 1], b"abcdefgh", 3);
    stream.extend(packets(MessageKind::Attention, &[1], b"", 1));
    stream.extend(packets(MessageKind::Rpc, &[9], b"xy", 9));
    let whole: Vec<_> = push_all(&mut logged_in(), &stream)
        .unwrap()
        .iter()
        .map(described)
        .collect();
    assert_eq!(
        whole,
        [
            "SqlBatch None [97, 98, 99, 100, 101, 102, 103, 104]",
            "attention",
            "Rpc Session [120, 121]"
        ]
    );
    for size in 1..stream.len() {
        let mut reader = logged_in();
        let pieces = stream
            .chunks(size)
            .flat_map(|piece| push_all(&mut reader, piece).unwrap());
        let pieces: Vec<_> = pieces.map(|incoming| described(&incoming)).collect();
        assert_eq!(pieces, whole, "in pieces of {size}");
        assert!(reader.is_idle());
    }
}

#[test]
fn bytes_behind_a_message_are_left_to_the_caller() {
    let stream = packets(MessageKind::SqlBatch, &[1], b"a", 1).repeat(2);
    let mut rest = stream.as_slice();
    assert!(logged_in().push(&mut rest).unwrap().is_some());
    assert_eq!(rest.len(), 9);
}

#[test]
fn a_reader_is_idle_only_between_messages() {
    let mut reader = logged_in();
    assert!(reader.is_idle());
    for byte in packets(MessageKind::SqlBatch, &[0], b"a", 1) {
        push_all(&mut reader, &[byte]).unwrap();
        assert!(!reader.is_idle());
    }
    push_all(&mut reader, &packets(MessageKind::SqlBatch, &[1], b"", 1)).unwrap();
    assert!(reader.is_idle());
}

#[test]
fn an_attention_within_a_message_discards_it() {
    let mut stream = packets(MessageKind::SqlBatch, &[0], b"SELECT", 6);
    stream.extend(packets(MessageKind::Attention, &[1], b"", 1));
    stream.extend(packets(MessageKind::SqlBatch, &[1], b"b", 1));
    let all: Vec<_> = push_all(&mut logged_in(), &stream)
        .unwrap()
        .iter()
        .map(described)
        .collect();
    assert_eq!(all, ["attention", "SqlBatch None [98]"]);
}

/// MS-TDS 2.2.3.1.2.
#[test]
fn a_message_that_ends_with_ignore_is_not_returned() {
    let mut stream = packets(MessageKind::Rpc, &[0, 3], b"abcd", 2);
    stream.extend(packets(MessageKind::Rpc, &[1], b"e", 1));
    let all: Vec<_> = push_all(&mut logged_in(), &stream)
        .unwrap()
        .iter()
        .map(described)
        .collect();
    assert_eq!(all, ["ignored Rpc", "Rpc None [101]"]);
    let wrong = packets(MessageKind::Rpc, &[2], b"a", 1);
    assert!(matches!(error(&wrong, &mut logged_in()), TdsError::Malformed { .. }));
}

/// MS-TDS 2.2.3.1.2.
#[test]
fn a_reset_counts_on_the_first_packet_of_a_request_alone() {
    let reset = |kind, statuses: &[u8]| {
        let all = push_all(&mut logged_in(), &packets(kind, statuses, b"ab", 1)).unwrap();
        match &all[..] {
            [Incoming::Message(message)] => message.reset(),
            _ => panic!("{all:?}"),
        }
    };
    assert_eq!(reset(MessageKind::SqlBatch, &[0x08, 1]), Reset::Session);
    assert_eq!(reset(MessageKind::SqlBatch, &[0, 0x09]), Reset::None);
    assert_eq!(reset(MessageKind::Rpc, &[0x11]), Reset::SessionKeepingTransaction);
    assert_eq!(reset(MessageKind::TransactionRequest, &[0x09]), Reset::Session);
    let both = packets(MessageKind::Rpc, &[0x19], b"a", 1);
    assert!(matches!(error(&both, &mut logged_in()), TdsError::Malformed { .. }));
}

#[test]
fn a_message_larger_than_its_limit_is_refused_before_it_is_whole() {
    let data = [7; 1001];
    assert!(
        push_all(
            &mut logged_in(),
            &packets(MessageKind::SqlBatch, &[0, 0], &data[..1000], 500)
        )
        .is_ok()
    );
    let stream = packets(MessageKind::SqlBatch, &[0, 0, 0], &data, 500);
    let refused = error(&stream, &mut logged_in());
    assert!(matches!(refused, TdsError::TooLarge { limit: 1000, .. }), "{refused}");
}

/// `bulk-loads-in-pieces`.
#[test]
fn a_bulk_load_comes_packet_by_packet_and_has_no_size() {
    let mut reader = logged_in();
    let told = |all: Vec<Incoming>| all.iter().map(described).collect::<Vec<_>>();
    let stream = packets(MessageKind::BulkLoad, &[0, 1], b"abcd", 2);
    let all = told(push_all(&mut reader, &stream).unwrap());
    assert_eq!(all, ["bulk load [97, 98] false", "bulk load [99, 100] true"]);
    assert!(reader.is_idle());
    let large = packets(MessageKind::BulkLoad, &[0; 9], &[7; 4500], 500);
    assert_eq!(push_all(&mut reader, &large).unwrap().len(), 9);
    assert!(!reader.is_idle());
    let attention = packets(MessageKind::Attention, &[1], b"", 1);
    assert_eq!(told(push_all(&mut reader, &attention).unwrap()), ["attention"]);
    assert!(reader.is_idle());
    // What is withdrawn says so.
    let withdrawn = packets(MessageKind::BulkLoad, &[0, 3], b"abcd", 2);
    let all = told(push_all(&mut reader, &withdrawn).unwrap());
    assert_eq!(all, ["bulk load [97, 98] false", "ignored BulkLoad"]);
}

#[test]
fn an_attention_has_no_data() {
    let stream = packets(MessageKind::Attention, &[1], b"a", 1);
    assert!(matches!(
        error(&stream, &mut logged_in()),
        TdsError::TooLarge { limit: 0, .. }
    ));
}

#[test]
fn a_packet_larger_than_the_largest_is_refused() {
    let mut header = packets(MessageKind::SqlBatch, &[1], b"", 1);
    header[2..4].copy_from_slice(&32768_u16.to_be_bytes());
    assert!(matches!(
        error(&header, &mut logged_in()),
        TdsError::TooLarge { limit: 32767, .. }
    ));
}

#[test]
fn a_message_does_not_change_its_type() {
    let mut stream = packets(MessageKind::SqlBatch, &[0], b"a", 1);
    stream.extend(packets(MessageKind::Rpc, &[1], b"a", 1));
    assert!(matches!(error(&stream, &mut logged_in()), TdsError::Malformed { .. }));
}

#[test]
fn a_request_before_the_login_and_a_login_after_it_are_refused() {
    let requests = [
        MessageKind::SqlBatch,
        MessageKind::Rpc,
        MessageKind::Attention,
        MessageKind::BulkLoad,
        MessageKind::TransactionRequest,
    ];
    let logins = [
        MessageKind::Prelogin,
        MessageKind::Login,
        MessageKind::Sspi,
        MessageKind::FederatedToken,
    ];
    for kind in requests {
        let stream = packets(kind, &[1], b"", 1);
        assert!(matches!(
            error(&stream, &mut MessageReader::new()),
            TdsError::Malformed { .. }
        ));
        assert_eq!(push_all(&mut logged_in(), &stream).unwrap().len(), 1);
    }
    for kind in logins {
        let stream = packets(kind, &[1], b"", 1);
        assert!(matches!(error(&stream, &mut logged_in()), TdsError::Malformed { .. }));
        assert_eq!(push_all(&mut MessageReader::new(), &stream).unwrap().len(), 1);
    }
    for mut reader in [logged_in(), MessageReader::new()] {
        let old = packets(MessageKind::OldLogin, &[1], b"", 1);
        assert!(matches!(error(&old, &mut reader), TdsError::Unsupported { .. }));
    }
}

#[test]
fn before_login_no_message_is_larger_than_its_own_limit() {
    for (kind, limit) in [
        (MessageKind::Prelogin, PRELOGIN_SIZE_MAX),
        (MessageKind::Login, LOGIN_SIZE_MAX),
    ] {
        let data = vec![0; limit + 1];
        let statuses = vec![0; data.len().div_ceil(4000)];
        let refused = error(&packets(kind, &statuses, &data, 4000), &mut MessageReader::new());
        assert!(
            matches!(refused, TdsError::TooLarge { limit: described, .. } if described == u64::try_from(limit).unwrap())
        );
        let within = packets(kind, &statuses, &data[..limit], 4000);
        assert!(push_all(&mut MessageReader::new(), &within).is_ok());
    }
}

/// `one-limit-before-login`.
#[test]
fn before_login_all_bytes_count_against_one_limit() {
    let mut reader = MessageReader::new();
    let message = packets(MessageKind::Prelogin, &[1], &[0; 4088], 4088);
    assert_eq!(message.len(), 4096);
    for _ in 0..256 {
        assert_eq!(push_all(&mut reader, &message).unwrap().len(), 1);
    }
    let refused = error(&message, &mut reader);
    assert!(
        matches!(refused, TdsError::TooLarge { limit: 0x10_0000, .. }),
        "{refused}"
    );
}

/// `held-within-limits`: no memory is allocated by an announced length.
#[test]
fn an_announced_length_allocates_nothing() {
    let mut reader = logged_in();
    let mut stream = packets(MessageKind::SqlBatch, &[1], b"", 1);
    stream[2..4].copy_from_slice(&32767_u16.to_be_bytes());
    push_all(&mut reader, &stream).unwrap();
    let held = reader.message.as_ref().map(|message| message.data().len());
    assert_eq!(held, Some(0));
}

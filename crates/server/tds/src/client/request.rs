//! Encodes requests as packets.

use selenite_types::Value;

use crate::value::Cell;
use crate::{
    Column, Done, DoneKind, Header, Headers, Isolation, MessageKind, PacketSize, PacketWriter, Parameter, Prelogin,
    Procedure, Reset, RowShape, RpcCall, RpcRequest, TableValue, TdsError, TokenWriter, TransactionRequest,
    TransactionStep, type_byte, utf16,
};

/// Encodes a message of any kind as packets.
fn message(kind: MessageKind, size: PacketSize, reset: Reset, data: &[u8]) -> Result<Vec<u8>, TdsError> {
    let mut packets = writer(kind, size, reset);
    packets.write(data)?;
    packets.finish()?;
    Ok(packets.into_sink())
}

fn writer(kind: MessageKind, size: PacketSize, reset: Reset) -> PacketWriter<Vec<u8>> {
    let mut packets = PacketWriter::new(Vec::new(), kind, size, 0);
    packets.set_first_status(match reset {
        Reset::None => 0,
        Reset::Session => Header::RESET,
        Reset::SessionKeepingTransaction => Header::RESET_KEEPING_TRANSACTION,
    });
    packets
}

/// Encodes PRELOGIN.
///
/// Errors: `Misfit`.
pub fn prelogin(prelogin: &Prelogin) -> Result<Vec<u8>, TdsError> {
    message(
        MessageKind::Prelogin,
        PacketSize::DEFAULT,
        Reset::None,
        &prelogin.encode()?,
    )
}

/// Encodes ATTENTION.
///
/// Errors: none in practice: a `Vec` accepts every packet.
pub fn attention() -> Result<Vec<u8>, TdsError> {
    message(MessageKind::Attention, PacketSize::DEFAULT, Reset::None, &[])
}

/// Encodes SQLBatch.
///
/// Errors: none in practice: a `Vec` accepts every packet.
pub fn batch(headers: &Headers, text: &str, size: PacketSize, reset: Reset) -> Result<Vec<u8>, TdsError> {
    let mut data = Vec::new();
    append_headers(headers, &mut data);
    utf16::encode(text, &mut data);
    message(MessageKind::SqlBatch, size, reset, &data)
}

/// Encodes RPC. Every parameter is sent as its nullable type.
///
/// Errors: `Misfit` for a value that does not belong to its type, or a name that is too long.
pub fn rpc(request: &RpcRequest, size: PacketSize, reset: Reset) -> Result<Vec<u8>, TdsError> {
    let mut packets = writer(MessageKind::Rpc, size, reset);
    let mut head = Vec::new();
    append_headers(&request.headers, &mut head);
    packets.write(&head)?;
    for (index, call) in request.calls.iter().enumerate() {
        if index > 0 {
            packets.write(&[0xFF])?;
        }
        append_call(call, &mut packets)?;
    }
    packets.finish()?;
    Ok(packets.into_sink())
}

fn append_call(call: &RpcCall, packets: &mut PacketWriter<Vec<u8>>) -> Result<(), TdsError> {
    let mut head = Vec::new();
    match &call.procedure {
        Procedure::Id(id) => {
            head.extend(u16::MAX.to_le_bytes());
            head.extend(id.number().to_le_bytes());
        }
        Procedure::Name(name) => {
            head.extend(u16::try_from(utf16::len(name)).map_err(|_| NAME)?.to_le_bytes());
            utf16::encode(name, &mut head);
        }
    }
    let flags = [
        (call.with_recompile, 1),
        (call.no_metadata, 2),
        (call.reuse_metadata, 4),
    ];
    let options = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| *flag);
    head.extend(options.sum::<u16>().to_le_bytes());
    packets.write(&head)?;
    for parameter in &call.parameters {
        if let Some(table) = &parameter.table {
            append_table(parameter, table, packets)?;
            continue;
        }
        let cell = Cell::new(parameter.type_info.data_type, true)?;
        let mut head = Vec::new();
        head.push(u8::try_from(utf16::len(&parameter.name)).map_err(|_| NAME)?);
        utf16::encode(&parameter.name, &mut head);
        head.push(u8::from(parameter.is_output) | u8::from(parameter.is_default) << 1);
        cell.type_info(&mut head);
        packets.write(&head)?;
        cell.write(packets, &parameter.value)?;
    }
    Ok(())
}

/// TVP_TYPE_INFO and its rows.
fn append_table(
    parameter: &Parameter,
    table: &TableValue,
    packets: &mut PacketWriter<Vec<u8>>,
) -> Result<(), TdsError> {
    let mut head = Vec::new();
    append_text(&parameter.name, &mut head)?;
    head.push(u8::from(parameter.is_default) << 1);
    head.push(type_byte::TABLE);
    append_text("", &mut head)?;
    append_text(&table.schema, &mut head)?;
    append_text(&table.name, &mut head)?;
    let mut sent = Vec::new();
    match u16::try_from(table.columns.len()).map_err(|_| NAME)? {
        0 => head.extend(u16::MAX.to_le_bytes()),
        count => head.extend(count.to_le_bytes()),
    }
    for column in &table.columns {
        head.extend(0_u32.to_le_bytes());
        head.extend(if column.is_default { 0x0200_u16 } else { 0 }.to_le_bytes());
        let cell = Cell::new(column.type_info.data_type, true)?;
        cell.type_info(&mut head);
        head.push(0);
        if !column.is_default {
            sent.push(cell);
        }
    }
    head.push(0);
    packets.write(&head)?;
    let mut values = table.values.iter();
    for _ in 0..table.row_count {
        packets.write(&[1])?;
        for (cell, value) in sent.iter().zip(&mut values) {
            cell.write(packets, value)?;
        }
    }
    packets.write(&[0])
}

/// B_VARCHAR.
fn append_text(text: &str, data: &mut Vec<u8>) -> Result<(), TdsError> {
    data.push(u8::try_from(utf16::len(text)).map_err(|_| NAME)?);
    utf16::encode(text, data);
    Ok(())
}

/// Encodes a bulk load: columns, rows and DONE.
///
/// Errors: `Misfit` for a value that does not belong to its column.
pub fn bulk_load(columns: &[Column], rows: &[Vec<Value>], size: PacketSize) -> Result<Vec<u8>, TdsError> {
    let mut tokens = TokenWriter::new(writer(MessageKind::BulkLoad, size, Reset::None));
    let shape = RowShape::new(columns)?;
    tokens.columns(&shape)?;
    for row in rows {
        tokens.row(&shape, row)?;
    }
    tokens.done(Done {
        kind: DoneKind::Statement,
        status: Done::FINAL,
        command: 0,
        row_count: 0,
    })?;
    tokens.packets_mut().finish()?;
    Ok(tokens.into_packets().into_sink())
}

/// Encodes a Transaction Manager request.
///
/// Errors: `Misfit` for a name that is too long.
pub fn transaction(request: &TransactionRequest, reset: Reset) -> Result<Vec<u8>, TdsError> {
    let mut data = Vec::new();
    append_headers(&request.headers, &mut data);
    match &request.step {
        TransactionStep::Begin { isolation, name } => {
            data.extend([5, 0]);
            append_begin(*isolation, name, &mut data)?;
        }
        TransactionStep::Commit { name, next } => {
            data.extend([7, 0]);
            append_end(name, next.as_ref(), &mut data)?;
        }
        TransactionStep::Rollback { name, next } => {
            data.extend([8, 0]);
            append_end(name, next.as_ref(), &mut data)?;
        }
        TransactionStep::Save { name } => {
            data.extend([9, 0]);
            append_name(name, &mut data)?;
        }
    }
    message(MessageKind::TransactionRequest, PacketSize::DEFAULT, reset, &data)
}

fn append_begin(isolation: Isolation, name: &str, data: &mut Vec<u8>) -> Result<(), TdsError> {
    data.push(match isolation {
        Isolation::Unchanged => 0,
        Isolation::ReadUncommitted => 1,
        Isolation::ReadCommitted => 2,
        Isolation::RepeatableRead => 3,
        Isolation::Serializable => 4,
        Isolation::Snapshot => 5,
    });
    append_name(name, data)
}

fn append_end(name: &str, next: Option<&(Isolation, String)>, data: &mut Vec<u8>) -> Result<(), TdsError> {
    append_name(name, data)?;
    data.push(u8::from(next.is_some()));
    match next {
        Some((isolation, name)) => append_begin(*isolation, name, data),
        None => Ok(()),
    }
}

fn append_name(name: &str, data: &mut Vec<u8>) -> Result<(), TdsError> {
    data.push(u8::try_from(utf16::len(name) * 2).map_err(|_| NAME)?);
    utf16::encode(name, data);
    Ok(())
}

fn append_headers(headers: &Headers, data: &mut Vec<u8>) {
    let activity_size = headers.activity.map_or(0_u32, |_| 26);
    data.extend((4 + 18 + activity_size).to_le_bytes());
    data.extend(18_u32.to_le_bytes());
    data.extend([2, 0]);
    data.extend(headers.transaction.to_le_bytes());
    data.extend(headers.outstanding_count.to_le_bytes());
    if let Some(activity) = headers.activity {
        data.extend(26_u32.to_le_bytes());
        data.extend([3, 0]);
        data.extend(activity);
    }
}

const NAME: TdsError = TdsError::Misfit { what: "a name" };

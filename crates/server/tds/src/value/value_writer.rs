//! Encodes values (MS-TDS 2.2.5.5).

use selenite_types::{DataType, Date, DateTime2, DateTimeOffset, Decimal, Encoding, TimeOfDay, Value, Width};

use super::cell::{decimal_size, rescaled};
use super::{Cell, code_page, moment, variant};
use crate::{PacketSink, PacketWriter, TdsError, utf16};

impl Cell {
    /// Writes a value.
    ///
    /// Errors: `Sink`; `Misfit` if the value does not fit the type.
    #[inline]
    pub fn write<S: PacketSink>(&self, packets: &mut PacketWriter<S>, value: &Value) -> Result<(), TdsError> {
        match (self.data_type(), value) {
            (DataType::Int, Value::Int(value)) => self.sized(packets.buffer(), value.to_le_bytes()),
            (DataType::BigInt, Value::BigInt(value)) => self.sized(packets.buffer(), value.to_le_bytes()),
            (DataType::VarChar(Width::Max) | DataType::Utf8VarChar(Width::Max), Value::Text(text)) => {
                return text_in_chunks(packets, text, self.data_type().encoding());
            }
            (DataType::NVarChar(Width::Max) | DataType::Xml, Value::Text(text)) => {
                return text_in_chunks(packets, text, Encoding::Utf16);
            }
            (DataType::VarBinary(Width::Max), Value::Binary(bytes)) => {
                begin_chunk(packets, bytes.len())?;
                packets.write(bytes)?;
                return end_chunk(packets);
            }
            (_, value) => self.append(packets.buffer(), value)?,
        }
        packets.cut()
    }

    /// Appends a value that is not sent in chunks.
    pub(super) fn append(&self, out: &mut Vec<u8>, value: &Value) -> Result<(), TdsError> {
        match (self.data_type(), value) {
            (_, Value::Null) => return self.append_null(out),
            (DataType::Bit, Value::Bit(value)) => self.sized(out, [u8::from(*value)]),
            (DataType::TinyInt, Value::TinyInt(value)) => self.sized(out, [*value]),
            (DataType::SmallInt, Value::SmallInt(value)) => self.sized(out, value.to_le_bytes()),
            (DataType::Int, Value::Int(value)) => self.sized(out, value.to_le_bytes()),
            (DataType::BigInt, Value::BigInt(value)) => self.sized(out, value.to_le_bytes()),
            (DataType::SmallMoney, Value::Money(value)) => {
                self.sized(out, i32::try_from(*value).map_err(|_| MISFIT)?.to_le_bytes());
            }
            (DataType::Money, Value::Money(value)) => {
                // MS-TDS 2.2.5.5.1.4: the upper half comes first.
                let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
                self.sized(out, [e, f, g, h, a, b, c, d]);
            }
            (DataType::Real, Value::Real(value)) => self.sized(out, value.to_le_bytes()),
            (DataType::Float, Value::Float(value)) => self.sized(out, value.to_le_bytes()),
            (DataType::SmallDateTime, Value::DateTime(value)) => {
                let (days, minutes) = moment::to_smalldatetime(*value).ok_or(MISFIT)?;
                let ([a, b], [c, d]) = (days.to_le_bytes(), minutes.to_le_bytes());
                self.sized(out, [a, b, c, d]);
            }
            (DataType::DateTime, Value::DateTime(value)) => {
                let (days, ticks) = moment::to_datetime(*value).ok_or(MISFIT)?;
                let ([a, b, c, d], [e, f, g, h]) = (days.to_le_bytes(), ticks.to_le_bytes());
                self.sized(out, [a, b, c, d, e, f, g, h]);
            }
            (
                DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale },
                Value::Decimal(value),
            ) => {
                append_decimal(out, *value, precision, scale)?;
            }
            (DataType::Char(_) | DataType::VarChar(_), Value::Text(text)) => {
                append_string(out, |out| code_page::encode(text, out))?;
            }
            (DataType::Utf8Char(_) | DataType::Utf8VarChar(_), Value::Text(text)) => {
                append_string(out, |out| out.extend_from_slice(text.as_bytes()))?;
            }
            (DataType::NChar(_) | DataType::NVarChar(_), Value::Text(text)) => {
                append_string(out, |out| utf16::encode(text, out))?;
            }
            (DataType::Binary(_) | DataType::VarBinary(_) | DataType::RowVersion, Value::Binary(bytes)) => {
                append_string(out, |out| out.extend_from_slice(bytes))?;
            }
            (DataType::Date, Value::Date(date)) => append_moment(out, None, Some(*date), None),
            (DataType::Time(scale), Value::Time(time)) => append_moment(out, Some((*time, scale)), None, None),
            (DataType::DateTime2(scale), Value::DateTime(DateTime2 { date, time })) => {
                append_moment(out, Some((*time, scale)), Some(*date), None);
            }
            (DataType::DateTimeOffset(scale), Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes })) => {
                append_moment(out, Some((utc.time, scale)), Some(utc.date), Some(*offset_minutes));
            }
            (DataType::UniqueIdentifier, Value::Guid(guid)) => {
                out.push(16);
                out.extend_from_slice(&guid.0);
            }
            (DataType::SqlVariant, Value::SqlVariant(value)) => variant::append(value, out)?,
            _ => return Err(MISFIT),
        }
        Ok(())
    }

    /// Appends a value of a fixed-length type, or one with a size prefix.
    #[inline]
    fn sized<const N: usize>(&self, out: &mut Vec<u8>, bytes: [u8; N]) {
        if self.is_nullable() {
            const { assert!(N <= 8) };
            out.extend(u8::try_from(N));
        }
        out.extend_from_slice(&bytes);
    }

    fn append_null(&self, out: &mut Vec<u8>) -> Result<(), TdsError> {
        match self.null_size().ok_or(MISFIT)? {
            1 => out.push(0),
            // MS-TDS 2.2.5.4.4: a length of 0.
            4 => out.extend([0; 4]),
            // MS-TDS 2.2.5.2.1: CHARBIN_NULL and PLP_NULL.
            size => out.extend(std::iter::repeat_n(0xFF, size.into())),
        }
        Ok(())
    }
}

fn append_decimal(out: &mut Vec<u8>, value: Decimal, precision: u8, scale: u8) -> Result<(), TdsError> {
    let unscaled = rescaled(value, precision, scale).ok_or(MISFIT)?;
    let size = decimal_size(precision);
    out.extend([size, u8::from(unscaled >= 0)]);
    let magnitude = unscaled.unsigned_abs().to_le_bytes();
    out.extend_from_slice(&magnitude[..usize::from(size) - 1]);
    Ok(())
}

/// USHORTLEN: the size, then the bytes that `append` appends.
fn append_string(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) -> Result<(), TdsError> {
    let start = out.len();
    out.extend([0, 0]);
    append(out);
    let size = u16::try_from(out.len() - start - 2).map_err(|_| MISFIT)?;
    out[start..][..2].copy_from_slice(&size.to_le_bytes());
    Ok(())
}

/// Appends the size, then the time, date and offset that the type has.
fn append_moment(out: &mut Vec<u8>, time: Option<(TimeOfDay, u8)>, date: Option<Date>, offset: Option<i16>) {
    let time_size = time.map_or(0, |(_, scale)| moment::time_size(scale));
    out.push(time_size + date.map_or(0, |_| 3) + offset.map_or(0, |_| 2));
    if let Some((time, scale)) = time {
        out.extend_from_slice(&moment::encode_time(time, scale)[..usize::from(time_size)]);
    }
    out.extend(date.map(moment::encode_date).into_iter().flatten());
    out.extend(offset.map(i16::to_le_bytes).into_iter().flatten());
}

/// Writes text as one chunk of known size, encoded piece by piece.
fn text_in_chunks<S: PacketSink>(
    packets: &mut PacketWriter<S>,
    text: &str,
    encoding: Encoding,
) -> Result<(), TdsError> {
    let size = match encoding {
        Encoding::CodePage => text.chars().count(),
        Encoding::Utf8 => text.len(),
        Encoding::Utf16 => utf16::len(text) * 2,
    };
    begin_chunk(packets, size)?;
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, later) = split(rest);
        match encoding {
            Encoding::CodePage => code_page::encode(piece, packets.buffer()),
            Encoding::Utf8 => packets.buffer().extend_from_slice(piece.as_bytes()),
            Encoding::Utf16 => utf16::encode(piece, packets.buffer()),
        }
        packets.cut()?;
        rest = later;
    }
    end_chunk(packets)
}

/// Splits text: the first part has as UTF-16 at most half of the packets' piece size.
fn split(text: &str) -> (&str, &str) {
    let mut end = text.len().min(TEXT_PIECE_SIZE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.split_at(end)
}

/// PARTLENTYPE: the total size, then the size of the one chunk.
fn begin_chunk<S: PacketSink>(packets: &mut PacketWriter<S>, size: usize) -> Result<(), TdsError> {
    let chunk_size = u32::try_from(size).map_err(|_| MISFIT)?;
    packets.write(&u64::from(chunk_size).to_le_bytes())?;
    if chunk_size > 0 {
        packets.write(&chunk_size.to_le_bytes())?;
    }
    Ok(())
}

/// PLP_TERMINATOR.
fn end_chunk<S: PacketSink>(packets: &mut PacketWriter<S>) -> Result<(), TdsError> {
    packets.write(&0_u32.to_le_bytes())
}

/// 2 KiB of UTF-8 are at most 4 KiB of UTF-16.
const TEXT_PIECE_SIZE: usize = 2048;
const MISFIT: TdsError = TdsError::Misfit { what: "a value" };

//! Writes tokens into packets.

use selenite_types::Value;

use super::{
    COLUMN_INFO, COLUMN_METADATA, ColumnInfo, Done, ENV_CHANGE, ERROR, EnvChange, FEATURE_EXT_ACK, INFO, LOGIN_ACK,
    LoginAck, Notice, ORDER, RETURN_STATUS, RETURN_VALUE, ReturnValue, RowShape, TABLE_NAME, text,
};
use crate::value::Cell;
use crate::{Feature, PacketSink, PacketWriter, TdsError};

/// Writes a response. A call that returns `Misfit` has written nothing; after `Sink` nothing more can be sent to the
/// client.
pub struct TokenWriter<S> {
    packets: PacketWriter<S>,
}

/// The longest name.
const NAME_UNITS: u16 = 128;

impl<S: PacketSink> TokenWriter<S> {
    /// A writer into `packets`.
    pub fn new(packets: PacketWriter<S>) -> Self {
        Self { packets }
    }

    /// The packet writer.
    pub fn packets(&self) -> &PacketWriter<S> {
        &self.packets
    }

    /// The packet writer, for its size, [`PacketWriter::flush`] and [`PacketWriter::finish`].
    pub fn packets_mut(&mut self) -> &mut PacketWriter<S> {
        &mut self.packets
    }

    /// Returns the packet writer.
    pub fn into_packets(self) -> PacketWriter<S> {
        self.packets
    }

    /// Writes DONE, DONEPROC or DONEINPROC.
    ///
    /// Errors: `Sink`.
    #[inline]
    pub fn done(&mut self, done: Done) -> Result<(), TdsError> {
        self.packets.write(&done.encode())
    }

    /// Writes ERROR.
    ///
    /// Errors: `Sink`.
    pub fn error(&mut self, notice: &Notice<'_>) -> Result<(), TdsError> {
        self.packets.write(&token(ERROR, |out| notice.encode(out)))
    }

    /// Writes INFO.
    ///
    /// Errors: `Sink`.
    pub fn info(&mut self, notice: &Notice<'_>) -> Result<(), TdsError> {
        self.packets.write(&token(INFO, |out| notice.encode(out)))
    }

    /// Writes ENVCHANGE.
    ///
    /// Errors: `Misfit` for a name longer than 128 units; `Sink`.
    pub fn env_change(&mut self, change: &EnvChange<'_>) -> Result<(), TdsError> {
        let mut written = Ok(());
        let token = token(ENV_CHANGE, |out| written = change.encode(out));
        written?;
        self.packets.write(&token)
    }

    /// Writes LOGINACK.
    ///
    /// Errors: `Misfit` for a program name longer than 128 units; `Sink`.
    pub fn login_ack(&mut self, ack: &LoginAck<'_>) -> Result<(), TdsError> {
        let mut written = Ok(());
        let token = token(LOGIN_ACK, |out| written = ack.encode(out));
        written?;
        self.packets.write(&token)
    }

    /// Writes FEATUREEXTACK if the client requested UTF8_SUPPORT, the only acknowledged feature (MS-TDS 2.2.7.11).
    ///
    /// Errors: `Sink`.
    pub fn feature_ext_ack(&mut self, asked: &[Feature]) -> Result<(), TdsError> {
        if asked.iter().any(|feature| feature.id == Feature::UTF8) {
            // One byte of data, 1: supported. Then the terminator.
            self.packets
                .write(&[FEATURE_EXT_ACK, Feature::UTF8, 1, 0, 0, 0, 1, 0xFF])?;
        }
        Ok(())
    }

    /// Writes RETURNSTATUS.
    ///
    /// Errors: `Sink`.
    pub fn return_status(&mut self, status: i32) -> Result<(), TdsError> {
        let [a, b, c, d] = status.to_le_bytes();
        self.packets.write(&[RETURN_STATUS, a, b, c, d])
    }

    /// Writes RETURNVALUE (MS-TDS 2.2.7.19).
    ///
    /// Errors: `Misfit`, `Sink`.
    pub fn return_value(&mut self, value: &ReturnValue<'_>) -> Result<(), TdsError> {
        let cell = Cell::new(value.data_type, true)?;
        if !cell.fits(value.value) {
            return Err(TdsError::Misfit {
                what: "an output parameter",
            });
        }
        let mut head = vec![RETURN_VALUE];
        head.extend(value.ordinal.to_le_bytes());
        text::append_name(value.name, &mut head)?;
        // Status 1: an output parameter, not a function's return value. UserType and Flags are 0.
        head.extend([1, 0, 0, 0, 0, 0, 0]);
        cell.type_info(&mut head);
        self.packets.write(&head)?;
        cell.write(&mut self.packets, value.value)
    }

    /// Writes ORDER: the numbers, from 1, of the columns that the rows are sorted by.
    ///
    /// Errors: `Misfit` for more than 4096; `Sink`.
    pub fn order(&mut self, columns: &[u16]) -> Result<(), TdsError> {
        if columns.len() > 4096 {
            return Err(TdsError::Misfit {
                what: "how many columns",
            });
        }
        let token = token(ORDER, |out| {
            out.extend(columns.iter().flat_map(|column| column.to_le_bytes()))
        });
        self.packets.write(&token)
    }

    /// Writes COLMETADATA. Rows of this shape follow.
    ///
    /// Errors: `Sink`.
    pub fn columns(&mut self, shape: &RowShape) -> Result<(), TdsError> {
        self.packets.write(shape.metadata())
    }

    /// Writes a COLMETADATA that says nothing: the client knows the columns (MS-TDS 2.2.7.4, NoMetaData).
    ///
    /// Errors: `Sink`.
    pub fn known_columns(&mut self) -> Result<(), TdsError> {
        self.packets.write(&[COLUMN_METADATA, 0xFF, 0xFF])
    }

    /// Writes TABNAME: the names of tables, each in its parts.
    ///
    /// Errors: `Sink`.
    pub fn table_names(&mut self, names: &[&[&str]]) -> Result<(), TdsError> {
        let token = token(TABLE_NAME, |out| {
            for parts in names {
                out.push(u8::try_from(parts.len()).unwrap_or(0));
                parts.iter().for_each(|part| text::append_long(part, NAME_UNITS, out));
            }
        });
        self.packets.write(&token)
    }

    /// Writes COLINFO: what the columns of the last COLMETADATA come from.
    ///
    /// Errors: `Misfit` for a name longer than 128 units; `Sink`.
    pub fn column_info(&mut self, columns: &[ColumnInfo]) -> Result<(), TdsError> {
        let mut content = Vec::new();
        for (number, column) in (1_u32..).zip(columns) {
            // ColNum is one byte, and wraps around.
            content.extend([number.to_le_bytes()[0], column.table, column.status()]);
            if let Some(name) = &column.base_name {
                text::append_name(name, &mut content)?;
            }
        }
        self.packets.write(&token(COLUMN_INFO, |out| out.extend(content)))
    }

    /// Writes ROW, or NBCROW if it is shorter. There is one value per column, of the column's type or NULL.
    ///
    /// Errors: `Misfit`, `Sink`.
    #[inline]
    pub fn row(&mut self, shape: &RowShape, values: &[Value]) -> Result<(), TdsError> {
        shape.write(&mut self.packets, values)
    }
}

/// A token with a two-byte length prefix.
fn token(kind: u8, append: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut token = vec![kind, 0, 0];
    append(&mut token);
    // The contents are limited by their own bounds to some thousand bytes.
    let size = u16::try_from(token.len() - 3).unwrap_or(u16::MAX);
    token[1..3].copy_from_slice(&size.to_le_bytes());
    token
}

#[cfg(test)]
mod tests;

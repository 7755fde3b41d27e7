//! Tokens into packets.

use selenite_types::Value;

use super::{
    Done, ENV_CHANGE, ERROR, EnvChange, FEATURE_EXT_ACK, INFO, LOGIN_ACK, LoginAck, Notice, ORDER, RETURN_STATUS,
    RETURN_VALUE, ReturnValue, RowShape, text,
};
use crate::value::Cell;
use crate::{Feature, PacketSink, PacketWriter, TdsError};

/// Writes an answer. A call that ends with `Misfit` has written nothing; after `Sink` nothing more can be sent to the
/// client.
pub struct TokenWriter<S> {
    packets: PacketWriter<S>,
}

impl<S: PacketSink> TokenWriter<S> {
    /// Writes through `packets`.
    pub fn new(packets: PacketWriter<S>) -> Self {
        Self { packets }
    }

    /// The packets below.
    pub fn packets(&self) -> &PacketWriter<S> {
        &self.packets
    }

    /// The packets below: for their size, [`PacketWriter::flush`] and [`PacketWriter::finish`].
    pub fn packets_mut(&mut self) -> &mut PacketWriter<S> {
        &mut self.packets
    }

    /// Gives the packets back.
    pub fn into_packets(self) -> PacketWriter<S> {
        self.packets
    }

    /// DONE, DONEPROC or DONEINPROC.
    ///
    /// Errors: `Sink`.
    #[inline]
    pub fn done(&mut self, done: Done) -> Result<(), TdsError> {
        self.packets.write(&done.encode())
    }

    /// ERROR.
    ///
    /// Errors: `Sink`.
    pub fn error(&mut self, notice: &Notice<'_>) -> Result<(), TdsError> {
        self.packets.write(&token(ERROR, |out| notice.encode(out)))
    }

    /// INFO.
    ///
    /// Errors: `Sink`.
    pub fn info(&mut self, notice: &Notice<'_>) -> Result<(), TdsError> {
        self.packets.write(&token(INFO, |out| notice.encode(out)))
    }

    /// ENVCHANGE.
    ///
    /// Errors: `Misfit` for a name beyond 128 units; `Sink`.
    pub fn env_change(&mut self, change: &EnvChange<'_>) -> Result<(), TdsError> {
        let mut written = Ok(());
        let token = token(ENV_CHANGE, |out| written = change.encode(out));
        written?;
        self.packets.write(&token)
    }

    /// LOGINACK.
    ///
    /// Errors: `Misfit` for a program's name beyond 128 units; `Sink`.
    pub fn login_ack(&mut self, ack: &LoginAck<'_>) -> Result<(), TdsError> {
        let mut written = Ok(());
        let token = token(LOGIN_ACK, |out| written = ack.encode(out));
        written?;
        self.packets.write(&token)
    }

    /// FEATUREEXTACK, if the client requested UTF8_SUPPORT, the one feature that is acknowledged (MS-TDS 2.2.7.11).
    ///
    /// Errors: `Sink`.
    pub fn feature_ext_ack(&mut self, asked: &[Feature]) -> Result<(), TdsError> {
        if asked.iter().any(|feature| feature.id == Feature::UTF8) {
            // One byte of data: 1, it is supported. Then the terminator.
            self.packets
                .write(&[FEATURE_EXT_ACK, Feature::UTF8, 1, 0, 0, 0, 1, 0xFF])?;
        }
        Ok(())
    }

    /// RETURNSTATUS.
    ///
    /// Errors: `Sink`.
    pub fn return_status(&mut self, status: i32) -> Result<(), TdsError> {
        let [a, b, c, d] = status.to_le_bytes();
        self.packets.write(&[RETURN_STATUS, a, b, c, d])
    }

    /// RETURNVALUE (MS-TDS 2.2.7.19).
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
        // Status: an output parameter, not what a function returns. UserType and Flags say nothing.
        head.extend([1, 0, 0, 0, 0, 0, 0]);
        cell.type_info(&mut head);
        self.packets.write(&head)?;
        cell.write(&mut self.packets, value.value)
    }

    /// ORDER: by which columns, from 1, the rows are sorted.
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

    /// COLMETADATA: rows of this shape follow.
    ///
    /// Errors: `Sink`.
    pub fn columns(&mut self, shape: &RowShape) -> Result<(), TdsError> {
        self.packets.write(shape.metadata())
    }

    /// ROW, or NBCROW where that is shorter. There are as many values as columns, each of its column's type or NULL.
    ///
    /// Errors: `Misfit`, `Sink`.
    #[inline]
    pub fn row(&mut self, shape: &RowShape, values: &[Value]) -> Result<(), TdsError> {
        shape.write(&mut self.packets, values)
    }
}

/// A token whose length, of two bytes, precedes its data.
fn token(kind: u8, append: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut token = vec![kind, 0, 0];
    append(&mut token);
    // What is appended has bounds of its own, of some thousand bytes.
    let size = u16::try_from(token.len() - 3).unwrap_or(u16::MAX);
    token[1..3].copy_from_slice(&size.to_le_bytes());
    token
}

#[cfg(test)]
mod tests;

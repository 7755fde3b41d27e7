//! Tokens into packets.

use selenite_types::Value;

use super::{Done, EnvChange, LoginAck, Notice, ReturnValue, RowShape};
use crate::{Feature, PacketSink, PacketWriter, TdsError};

/// Writes an answer. After an error nothing more can be said to the client, but for `Misfit`, which writes nothing.
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
        let _ = notice;
        unimplemented!()
    }

    /// INFO.
    ///
    /// Errors: `Sink`.
    pub fn info(&mut self, notice: &Notice<'_>) -> Result<(), TdsError> {
        let _ = notice;
        unimplemented!()
    }

    /// ENVCHANGE.
    ///
    /// Errors: `Misfit` for a name beyond 128 units; `Sink`.
    pub fn env_change(&mut self, change: &EnvChange<'_>) -> Result<(), TdsError> {
        let _ = change;
        unimplemented!()
    }

    /// LOGINACK.
    ///
    /// Errors: `Misfit` for a program's name beyond 128 units; `Sink`.
    pub fn login_ack(&mut self, ack: &LoginAck<'_>) -> Result<(), TdsError> {
        let _ = ack;
        unimplemented!()
    }

    /// FEATUREEXTACK, if the client asked for UTF8_SUPPORT, the one feature that is acknowledged.
    ///
    /// Errors: `Sink`.
    pub fn feature_ext_ack(&mut self, asked: &[Feature]) -> Result<(), TdsError> {
        let _ = asked;
        unimplemented!()
    }

    /// RETURNSTATUS.
    ///
    /// Errors: `Sink`.
    pub fn return_status(&mut self, status: i32) -> Result<(), TdsError> {
        let _ = status;
        unimplemented!()
    }

    /// RETURNVALUE.
    ///
    /// Errors: `Misfit`, `Sink`.
    pub fn return_value(&mut self, value: &ReturnValue<'_>) -> Result<(), TdsError> {
        let _ = value;
        unimplemented!()
    }

    /// ORDER: by which columns, from 1, the rows are sorted.
    ///
    /// Errors: `Misfit` for more than 4096; `Sink`.
    pub fn order(&mut self, columns: &[u16]) -> Result<(), TdsError> {
        let _ = columns;
        unimplemented!()
    }

    /// COLMETADATA: rows of this shape follow.
    ///
    /// Errors: `Sink`.
    pub fn columns(&mut self, shape: &RowShape) -> Result<(), TdsError> {
        for piece in [shape.metadata()] {
            self.packets.write(piece)?;
        }
        Ok(())
    }

    /// ROW, or NBCROW where that is shorter. There are as many values as columns, each of its column's type or NULL.
    ///
    /// Errors: `Misfit`: the row is broken off, and nothing more can be said to the client. `Sink`.
    pub fn row(&mut self, shape: &RowShape, values: &[Value]) -> Result<(), TdsError> {
        let _ = (shape, values);
        unimplemented!()
    }
}

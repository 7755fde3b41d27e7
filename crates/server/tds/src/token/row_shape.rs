//! The layout of a result set's rows.

use selenite_types::{DataType, Value};

use super::{COLUMN_METADATA, Column, NULL_BITMAP_ROW, ROW, text};
use crate::value::Cell;
use crate::{PacketSink, PacketWriter, TdsError};

/// COLMETADATA as bytes, and the encoding of each column: computed once per result set, used for each row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowShape {
    metadata: Vec<u8>,
    cells: Vec<Cell>,
}

/// 4096: the maximum number of columns of SQL Server's SELECT.
const COLUMN_COUNT_MAX: usize = 4096;

impl RowShape {
    /// The layout of rows with these columns.
    ///
    /// Errors: `Misfit` for no column or more than 4096, for a name longer than 128 UTF-16 units, and for a type with
    /// an invalid width, precision or scale.
    pub fn new(columns: &[Column]) -> Result<Self, TdsError> {
        if columns.is_empty() || columns.len() > COLUMN_COUNT_MAX {
            return Err(TdsError::Misfit {
                what: "how many columns",
            });
        }
        let count = u16::try_from(columns.len()).map_err(|_| TdsError::Misfit {
            what: "how many columns",
        })?;
        let mut metadata = vec![COLUMN_METADATA];
        metadata.extend(count.to_le_bytes());
        let mut cells = Vec::with_capacity(columns.len());
        for column in columns {
            let cell = Cell::new(column.data_type, column.is_nullable)?.collated(column.collation);
            metadata.extend(user_type(&column.data_type).to_le_bytes());
            metadata.extend(column.flags().to_le_bytes());
            cell.type_info(&mut metadata);
            text::append_name(&column.name, &mut metadata)?;
            cells.push(cell);
        }
        Ok(Self { metadata, cells })
    }

    pub(super) fn metadata(&self) -> &[u8] {
        &self.metadata
    }

    /// Writes ROW or NBCROW. If a value does not fit its column, nothing is written.
    #[inline]
    pub(super) fn write<S: PacketSink>(&self, packets: &mut PacketWriter<S>, values: &[Value]) -> Result<(), TdsError> {
        if values.len() != self.cells.len() {
            return Err(TdsError::Misfit {
                what: "how many values a row has",
            });
        }
        let mut null_size = 0;
        for (cell, value) in self.cells.iter().zip(values) {
            if !cell.fits(value) {
                return Err(TdsError::Misfit { what: "a value" });
            }
            if *value == Value::Null {
                null_size += usize::from(cell.null_size().unwrap_or(0));
            }
        }
        if null_size > self.cells.len().div_ceil(8) {
            return self.write_with_bitmap(packets, values);
        }
        packets.buffer().push(ROW);
        for (cell, value) in self.cells.iter().zip(values) {
            cell.write(packets, value)?;
        }
        Ok(())
    }

    /// NBCROW (MS-TDS 2.2.7.15): a bitmap of the columns that are NULL, then the values of the others.
    fn write_with_bitmap<S: PacketSink>(
        &self,
        packets: &mut PacketWriter<S>,
        values: &[Value],
    ) -> Result<(), TdsError> {
        let out = packets.buffer();
        out.push(NULL_BITMAP_ROW);
        out.extend(values.chunks(8).map(|eight| {
            let bits = eight.iter().rev();
            bits.fold(0_u8, |byte, value| byte << 1 | u8::from(*value == Value::Null))
        }));
        packets.cut()?;
        for (cell, value) in self.cells.iter().zip(values) {
            if *value != Value::Null {
                cell.write(packets, value)?;
            }
        }
        Ok(())
    }
}

/// UserType (MS-TDS 2.2.7.4): 80 for a rowversion, whose type is binary(8); 0 for all others.
fn user_type(data_type: &DataType) -> u32 {
    match *data_type == DataType::RowVersion {
        true => ROW_VERSION,
        false => 0,
    }
}

/// systypes' number of timestamp.
const ROW_VERSION: u32 = 80;

#[cfg(test)]
mod tests;

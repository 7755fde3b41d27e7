//! TVP_TYPE_INFO and TVP_ROW (MS-TDS 2.2.5.5.5): a table-valued parameter.

use selenite_types::Value;

use crate::byte_reader::ByteReader;
use crate::value::{ValueError, WireType};
use crate::{MessagePart, ParameterFault, TdsError, TypeInfo, utf16};

/// The rows of a table-valued parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct TableValue {
    /// The schema of the type; empty if the client does not name one.
    pub schema: String,
    /// The name of the type.
    pub name: String,
    /// The columns; none of a null table, which has no rows.
    pub columns: Vec<TableColumn>,
    /// How many rows there are.
    pub row_count: u32,
    /// The values of the rows, of the columns that are sent.
    pub values: Vec<Value>,
}

/// A column of a table-valued parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableColumn {
    /// Its type.
    pub type_info: TypeInfo,
    /// fDefault: every row has the column's default, and no value is sent.
    pub is_default: bool,
}

impl TableValue {
    /// Parses one, from its type byte on. `cell_count` is the number of rows and values that the message may still have.
    pub(super) fn parse(reader: &mut ByteReader<'_>, cell_count: &mut usize) -> Result<Self, ValueError> {
        reader.u8()?;
        let database = short_text(reader)?;
        if !database.is_empty() {
            return Err(ParameterFault::Unsupported("a table type of another database").into());
        }
        let mut table = Self {
            schema: short_text(reader)?,
            name: short_text(reader)?,
            columns: Vec::new(),
            row_count: 0,
            values: Vec::new(),
        };
        let wires = table.metadata(reader)?;
        let sent: Vec<WireType> = wires
            .iter()
            .zip(&table.columns)
            .filter(|(_, column)| !column.is_default)
            .map(|(wire, _)| *wire)
            .collect();
        loop {
            match reader.u8()? {
                END => return Ok(table),
                ROW if !table.columns.is_empty() => {}
                _ => return Err(reader.malformed("a row of a table-valued parameter").into()),
            }
            *cell_count = cell_count.checked_sub(sent.len() + 1).ok_or(TdsError::TooLarge {
                part: MessagePart::Rpc,
                limit: CELL_LIMIT,
            })?;
            for wire in &sent {
                table.values.push(wire.parse_value(reader)?);
            }
            table.row_count += 1;
        }
    }

    /// TVP_COLMETADATA and what may follow it, up to the rows.
    fn metadata(&mut self, reader: &mut ByteReader<'_>) -> Result<Vec<WireType>, ValueError> {
        let mut wires = Vec::new();
        match reader.u16()? {
            NULL => {}
            count @ 1..=COLUMN_COUNT_MAX => {
                for _ in 0..count {
                    let _user_type = reader.u32()?;
                    let flags = reader.u16()?;
                    let wire = WireType::parse(reader)?;
                    // The name is empty: columns are matched by their order.
                    let size = reader.u8()?;
                    reader.take(usize::from(size) * 2)?;
                    self.columns.push(TableColumn {
                        type_info: wire.info,
                        is_default: flags & DEFAULT != 0,
                    });
                    wires.push(wire);
                }
            }
            _ => return Err(reader.malformed("how many columns a table-valued parameter has").into()),
        }
        loop {
            match reader.u8()? {
                END => return Ok(wires),
                // How rows are ordered, which nothing depends on here.
                ORDER_UNIQUE => {
                    let count = reader.u16()?;
                    reader.take(usize::from(count) * ORDER_SIZE)?;
                }
                COLUMN_ORDERING => {
                    let count = reader.u16()?;
                    for expected in 1..=count {
                        if reader.u16()? != expected {
                            return Err(ParameterFault::Unsupported("another order of a table's columns").into());
                        }
                    }
                }
                _ => return Err(reader.malformed("the columns of a table-valued parameter").into()),
            }
        }
    }
}

/// B_VARCHAR.
fn short_text(reader: &mut ByteReader<'_>) -> Result<String, ValueError> {
    let size = reader.u8()?;
    let bytes = reader.take(usize::from(size) * 2)?;
    utf16::parse(bytes).ok_or_else(|| reader.malformed("a name of a table type").into())
}

/// 4 Mi: rows and values of all tables of a message, some 128 MiB.
pub(super) const CELL_COUNT_MAX: usize = 1 << 22;
const CELL_LIMIT: u64 = 1 << 22;
/// SQL Server's maximum of a table.
const COLUMN_COUNT_MAX: u16 = 1024;
const NULL: u16 = 0xFFFF;
const END: u8 = 0x00;
const ROW: u8 = 0x01;
const ORDER_UNIQUE: u8 = 0x10;
const COLUMN_ORDERING: u8 = 0x11;
/// A number and flags.
const ORDER_SIZE: usize = 3;
/// fDefault.
const DEFAULT: u16 = 0x0200;

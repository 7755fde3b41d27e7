//! TVP_TYPE_INFO and TVP_ROW (MS-TDS 2.2.5.5.5): a table-valued parameter.

use selenite_types::{DataType, Value};

use crate::byte_reader::ByteReader;
use crate::value::{ValueError, WireType};
use crate::{MessagePart, TableFault, TablePlace, TdsError, TypeInfo, utf16};

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

/// The memory that the values of a message may still occupy beyond its own bytes: a NULL of one byte is a value of 32,
/// and char(8000) without a character is 8000 bytes.
pub(super) struct ValueBudget {
    left: u64,
}

impl ValueBudget {
    pub fn new() -> Self {
        Self { left: VALUE_SIZE_MAX }
    }

    /// Errors: `TooLarge`.
    pub fn take(&mut self, size: u64) -> Result<(), TdsError> {
        self.left = self.left.checked_sub(size).ok_or(TdsError::TooLarge {
            part: MessagePart::Rpc,
            limit: VALUE_SIZE_MAX,
        })?;
        Ok(())
    }
}

impl TableValue {
    /// Parses one, from its type byte on. `is_default` says whether its parameter has the default. An error is of the
    /// row and column of `place`.
    pub(super) fn parse(
        reader: &mut ByteReader<'_>,
        is_default: bool,
        budget: &mut ValueBudget,
        place: &mut TablePlace,
    ) -> Result<Self, ValueError> {
        reader.u8()?;
        // 2.2.5.5.5.1: DbName MUST be a zero-length string.
        if reader.u8()? != 0 {
            return Err(TableFault::Database.into());
        }
        let mut table = Self {
            schema: short_text(reader)?.ok_or(TableFault::Schema)?,
            name: short_text(reader)?.ok_or(TableFault::Name)?,
            columns: Vec::new(),
            row_count: 0,
            values: Vec::new(),
        };
        let wires = table.metadata(reader, is_default, place)?;
        let mut sent = Vec::new();
        for ((number, wire), column) in (1..).zip(wires).zip(&table.columns) {
            if !column.is_default {
                sent.push((number, wire));
            }
        }
        let row_size = VALUE_SIZE + sent.iter().map(|(_, wire)| value_size(wire)).sum::<u64>();
        loop {
            match reader.u8()? {
                END => return Ok(table),
                ROW if !table.columns.is_empty() && !is_default => {}
                _ => return Err(TableFault::Token.into()),
            }
            budget.take(row_size)?;
            table.row_count += 1;
            place.row = table.row_count;
            for (number, wire) in &sent {
                place.column = *number;
                table.values.push(wire.parse_value(reader)?);
            }
            place.column = 0;
        }
    }

    /// TVP_COLMETADATA and what may follow it, up to the rows.
    fn metadata(
        &mut self,
        reader: &mut ByteReader<'_>,
        is_default: bool,
        place: &mut TablePlace,
    ) -> Result<Vec<WireType>, ValueError> {
        let mut wires = Vec::new();
        match reader.u16()? {
            NULL if is_default => {}
            NULL => return Err(TableFault::Null.into()),
            count @ 1..=COLUMN_COUNT_MAX => {
                for number in 1..=count {
                    place.column = number;
                    let _user_type = reader.u32()?;
                    let flags = reader.u16()?;
                    let wire = WireType::parse_in_table(reader)?;
                    // 2.2.5.5.5.1: ColName MUST be a zero-length string; columns are matched by their order.
                    if reader.u8()? != 0 {
                        return Err(TableFault::ColumnName.into());
                    }
                    self.columns.push(TableColumn {
                        type_info: wire.info,
                        is_default: flags & DEFAULT != 0,
                    });
                    wires.push(wire);
                }
                place.column = 0;
            }
            _ => return Err(TableFault::ColumnCount.into()),
        }
        let (mut is_ordered, mut has_order) = (false, false);
        loop {
            match reader.u8()? {
                END => return Ok(wires),
                ORDER_UNIQUE if !is_ordered => {
                    is_ordered = true;
                    self.order_unique(reader)?;
                }
                COLUMN_ORDERING if !has_order => {
                    has_order = true;
                    self.column_ordering(reader)?;
                }
                ORDER_UNIQUE | COLUMN_ORDERING => return Err(TableFault::MetadataCount.into()),
                _ => return Err(TableFault::Token.into()),
            }
        }
    }

    /// TVP_ORDER_UNIQUE: how rows are ordered, which nothing depends on here.
    fn order_unique(&self, reader: &mut ByteReader<'_>) -> Result<(), ValueError> {
        for _ in 0..reader.u16()? {
            let number = reader.u16()?;
            let column = number.checked_sub(1).and_then(|at| self.columns.get(usize::from(at)));
            match (column, reader.u8()?) {
                (Some(column), ASCENDING | DESCENDING | UNIQUE | ASCENDING_UNIQUE | DESCENDING_UNIQUE) => {
                    if column.is_default {
                        return Err(TableFault::OrderOfDefault.into());
                    }
                }
                _ => return Err(TableFault::Order.into()),
            }
        }
        Ok(())
    }

    /// TVP_COLUMN_ORDERING: each column once, and in the order of the type.
    fn column_ordering(&self, reader: &mut ByteReader<'_>) -> Result<(), ValueError> {
        let count = usize::from(reader.u16()?);
        if count != self.columns.len() {
            return Err(TableFault::ColumnOrder.into());
        }
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push(usize::from(reader.u16()?));
        }
        if numbers.is_sorted() && numbers.iter().copied().eq(1..=count) {
            return Ok(());
        }
        numbers.sort_unstable();
        match numbers.into_iter().eq(1..=count) {
            true => Err(TableFault::OtherColumnOrder.into()),
            false => Err(TableFault::ColumnOrder.into()),
        }
    }
}

/// B_VARCHAR; `None` if it is no name.
fn short_text(reader: &mut ByteReader<'_>) -> Result<Option<String>, TdsError> {
    let size = reader.u8()?;
    let bytes = reader.take(usize::from(size) * 2)?;
    Ok(utf16::parse(bytes).filter(|_| size <= NAME_SIZE_MAX))
}

/// What a value of a type occupies, of which the message may have no byte but its length.
pub(super) fn value_size(wire: &WireType) -> u64 {
    let padded = match wire.info.data_type {
        DataType::Char(size) | DataType::Utf8Char(size) | DataType::NChar(size) | DataType::Binary(size) => {
            u64::from(size)
        }
        DataType::Bit
        | DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Decimal { .. }
        | DataType::Numeric { .. }
        | DataType::SmallMoney
        | DataType::Money
        | DataType::Real
        | DataType::Float
        | DataType::VarChar(_)
        | DataType::Utf8VarChar(_)
        | DataType::NVarChar(_)
        | DataType::VarBinary(_)
        | DataType::RowVersion
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_)
        | DataType::UniqueIdentifier => 0,
        DataType::Xml => 0,
        DataType::SqlVariant => VARIANT_SIZE,
    };
    VALUE_SIZE + padded
}

/// 128 MiB: 4 Mi values and rows.
const VALUE_SIZE_MAX: u64 = 128 << 20;
/// What a sql_variant is allocated.
const VARIANT_SIZE: u64 = 96;
/// A value, and what a row counts besides.
const VALUE_SIZE: u64 = 32;
/// SQL Server's maximum of a table.
const COLUMN_COUNT_MAX: u16 = 1024;
/// SQL Server's maximum of a name.
const NAME_SIZE_MAX: u8 = 128;
const NULL: u16 = 0xFFFF;
const END: u8 = 0x00;
const ROW: u8 = 0x01;
const ORDER_UNIQUE: u8 = 0x10;
const COLUMN_ORDERING: u8 = 0x11;
/// fDefault.
const DEFAULT: u16 = 0x0200;
/// fOrderAsc, fOrderDesc and fUnique of a column, and what they can be together.
const ASCENDING: u8 = 0x01;
const DESCENDING: u8 = 0x02;
const UNIQUE: u8 = 0x04;
const ASCENDING_UNIQUE: u8 = ASCENDING | UNIQUE;
const DESCENDING_UNIQUE: u8 = DESCENDING | UNIQUE;

#[cfg(test)]
mod tests;

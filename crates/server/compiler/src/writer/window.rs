//! Writes window functions as SQL.
//!
//! SQLite prepares a SELECT with windows as one nested SELECT for each different window, and copies to each the columns
//! that the outer ones need (sqlite3WindowRewrite). That is cubic, and can't be interrupted, so windows are counted.

use std::collections::HashMap;

use selenite_tsql::ast::{FrameBound, FrameUnit, WindowFrame};
use selenite_types::DataType;

use super::Writer;
use super::parameter::{Parameter, ParameterValue};
use crate::SqlError;
use crate::query::tree::{WindowCall, WindowFunction};

/// The windows in the SQL.
#[derive(Default)]
pub(super) struct Windows {
    /// The windows of the query that is being written, each with the number of its keys.
    of_query: HashMap<String, usize>,
    /// The cost of the statement's windows in the queries written so far.
    cost: usize,
}

impl Writer {
    /// Writes a query with `column_count` columns, with windows of its own.
    ///
    /// Errors: those of `write`; 8623 for too many windows.
    pub(super) fn with_windows(
        &mut self,
        column_count: usize,
        write: impl FnOnce(&mut Self) -> Result<String, SqlError>,
    ) -> Result<String, SqlError> {
        let around = std::mem::take(&mut self.windows.of_query);
        let sql = write(self)?;
        self.count_windows(column_count)?;
        self.windows.of_query = around;
        Ok(sql)
    }

    /// Counts the windows of a query with `column_count` columns.
    ///
    /// Errors: 8623 if there are too many.
    pub(super) fn count_windows(&mut self, column_count: usize) -> Result<(), SqlError> {
        let windows = std::mem::take(&mut self.windows.of_query);
        let width = windows.values().sum::<usize>().saturating_add(column_count);
        let cost = windows.len().saturating_mul(width);
        self.windows.cost = self.windows.cost.saturating_add(cost);
        if windows.len() > WINDOW_COUNT_MAX || self.windows.cost > WINDOW_COST_MAX {
            return Err(SqlError::no_plan());
        }
        Ok(())
    }

    pub(super) fn window(&mut self, call: &WindowCall) -> Result<String, SqlError> {
        let function = self.window_function(&call.function)?;
        let mut over = Vec::new();
        if !call.partition.is_empty() {
            let mut keys = Vec::with_capacity(call.partition.len());
            for expr in &call.partition {
                keys.push(self.key(expr)?);
            }
            over.push(format!("PARTITION BY {}", keys.join(", ")));
        }
        if !call.order.is_empty() {
            let mut keys = Vec::with_capacity(call.order.len());
            for (expr, descending) in &call.order {
                let key = self.key(expr)?;
                keys.push(if *descending { format!("{key} DESC") } else { key });
            }
            over.push(format!("ORDER BY {}", keys.join(", ")));
        }
        if let Some(frame) = call.frame {
            over.push(frame_sql(frame));
        }
        let over = over.join(" ");
        let sql = format!("{function} OVER ({over})");
        let key_count = call.partition.len() + call.order.len();
        self.windows.of_query.insert(over, key_count);
        Ok(sql)
    }

    fn window_function(&mut self, function: &WindowFunction) -> Result<String, SqlError> {
        Ok(match function {
            WindowFunction::RowNumber => "row_number()".to_owned(),
            WindowFunction::Rank => "rank()".to_owned(),
            WindowFunction::DenseRank => "dense_rank()".to_owned(),
            WindowFunction::PercentRank => "percent_rank()".to_owned(),
            WindowFunction::CumulativeDistribution => "cume_dist()".to_owned(),
            WindowFunction::Tile(count) => {
                let count = self.checked(ParameterValue::Tiles(count.clone()));
                format!("ntile({count})")
            }
            WindowFunction::Shift {
                value,
                offset,
                default,
                forward,
            } => {
                let name = if *forward { "lead" } else { "lag" };
                let value = self.value(value)?;
                let offset = self.checked(ParameterValue::Shift(offset.clone()));
                match default {
                    Some(default) => format!("{name}({value}, {offset}, {})", self.value(default)?),
                    None => format!("{name}({value}, {offset})"),
                }
            }
            WindowFunction::First(value) => format!("first_value({})", self.value(value)?),
            WindowFunction::Last(value) => format!("last_value({})", self.value(value)?),
            WindowFunction::Aggregate(aggregate) => self.aggregate_of(aggregate, false, "", true)?,
        })
    }

    /// A bigint whose range is checked before the statement runs.
    pub(super) fn checked(&mut self, value: ParameterValue) -> String {
        self.parameter(Parameter {
            value,
            data_type: DataType::BigInt,
        })
    }
}

fn frame_sql(frame: WindowFrame) -> String {
    let unit = match frame.unit {
        FrameUnit::Rows => "ROWS",
        FrameUnit::Range => "RANGE",
    };
    let end = frame.end.unwrap_or(FrameBound::CurrentRow);
    format!("{unit} BETWEEN {} AND {}", bound_sql(frame.start), bound_sql(end))
}

fn bound_sql(bound: FrameBound) -> String {
    match bound {
        FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
        FrameBound::Preceding(count) => format!("{count} PRECEDING"),
        FrameBound::CurrentRow => "CURRENT ROW".to_owned(),
        FrameBound::Following(count) => format!("{count} FOLLOWING"),
        FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
    }
}

/// 256 different windows in one SELECT: SQLite prepares them in a third of a second, and twice as many in three
/// seconds.
const WINDOW_COUNT_MAX: usize = 256;

/// 196,608, the cost of 256 windows of two keys as the only columns: the windows of each SELECT of a
/// statement, times its columns and its windows' keys. With 1,000 columns of a table some 130 windows reach it, which
/// SQLite prepares in two seconds.
const WINDOW_COST_MAX: usize = 196_608;

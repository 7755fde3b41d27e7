//! Window functions as SQL.

use selenite_tsql::ast::{Frame, FrameBound, FrameUnit};
use selenite_types::DataType;

use super::Writer;
use super::parameter::{Parameter, ParameterValue};
use crate::PlanError;
use crate::query::tree::{WindowCall, WindowFunction};

impl Writer {
    pub(super) fn window(&mut self, call: &WindowCall) -> Result<String, PlanError> {
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
        Ok(format!("{function} OVER ({})", over.join(" ")))
    }

    fn window_function(&mut self, function: &WindowFunction) -> Result<String, PlanError> {
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

    /// A bigint whose range is looked at before the statement runs.
    pub(super) fn checked(&mut self, value: ParameterValue) -> String {
        self.parameter(Parameter {
            value,
            data_type: DataType::BigInt,
        })
    }
}

fn frame_sql(frame: Frame) -> String {
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

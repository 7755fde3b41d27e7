//! Aggregates and window functions.

use selenite_tsql::ast;
use selenite_types::{DataType, Value};

use super::tree::{AggregateCall, QueryNode, WindowCall, WindowFunction};
use super::{Clause, QueryBinder};
use crate::expr::collation_of;
use crate::{Aggregate, AggregateKind, Collation, Expr, ExprKind, Node, SqlError};

impl QueryBinder<'_> {
    /// Binds an aggregate, or any function with OVER.
    pub(super) fn bind_call(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        match &call.over {
            Some(window) => {
                let window = self.resolved_window(window)?;
                self.bind_window(call, &window)
            }
            None if AggregateKind::find(&call.name.name.text).is_none() => self.bind_grouping(call),
            None => self.bind_aggregate(call),
        }
    }

    fn bind_aggregate(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        match self.clause() {
            Clause::Items | Clause::Having | Clause::OrderBy => {}
            Clause::Where | Clause::Values => return Err(SqlError::aggregate_in_where()),
            Clause::On => return Err(SqlError::aggregate_in_on()),
            Clause::GroupBy => return Err(SqlError::group_by_aggregate()),
            Clause::Argument => return Err(SqlError::aggregate_of_aggregate()),
            Clause::Set => return Err(SqlError::aggregate_in_set()),
            Clause::Output => return Err(SqlError::aggregate_in_output()),
        }
        let aggregate = self.aggregate_of(call)?;
        let mut order = Vec::new();
        for item in &call.within_group {
            order.push((self.argument(&item.value)?, item.descending));
        }
        if let Some(scope) = self.scope() {
            scope.has_aggregate = true;
        }
        let is_approximate = aggregate.kind == AggregateKind::ApproxCountDistinct;
        let distinct = is_approximate || matches!(call.arguments, ast::Arguments::Distinct(_));
        let (data_type, nullable) = (aggregate.data_type, !aggregate.kind.counts());
        let collation = aggregate.collation();
        let node = QueryNode::Aggregate(Box::new(AggregateCall {
            aggregate,
            distinct,
            order,
        }));
        let expr = self.query_node(node, data_type, nullable);
        Ok(if is_text(&data_type) {
            expr.with_collation(collation)
        } else {
            expr
        })
    }

    /// The aggregate with its operand, which must not contain another aggregate and must be over this query's rows.
    fn aggregate_of(&mut self, call: &ast::FunctionCall) -> Result<Aggregate, SqlError> {
        let name = &call.name.name.text;
        let Some(kind) = AggregateKind::find(name).filter(|_| call.name.single().is_some()) else {
            return Err(SqlError::unsupported_function(&crate::written_object(&call.name)));
        };
        if !call.within_group.is_empty() && kind != AggregateKind::StringAgg {
            return Err(SqlError::unsupported(&format!("WITHIN GROUP of {}", kind.name())));
        }
        let arguments = match &call.arguments {
            ast::Arguments::Absent | ast::Arguments::Star | ast::Arguments::Json(_) => Vec::new(),
            ast::Arguments::List(arguments) | ast::Arguments::Distinct(arguments) => {
                if arguments.is_empty() {
                    return Err(SqlError::argument_count(kind.name(), 1));
                }
                let mut bound = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    bound.push(self.argument(argument)?);
                }
                bound
            }
        };
        if let Some(operand) = arguments.first() {
            self.check_own_columns(operand)?;
        }
        Aggregate::bind(kind, arguments)
    }

    /// An argument, which must not contain an aggregate or a subquery.
    fn argument(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let bound = self.value(Clause::Argument, expr)?;
        let mut holds = false;
        bound.visit(&mut |node| {
            holds |= matches!(node, Node::Expr(expr) if matches!(expr.kind, ExprKind::QueryNode(_)))
        });
        bound.visit(&mut |node| holds |= matches!(node, Node::Predicate(crate::Predicate::QueryNode(_))));
        if holds {
            return Err(SqlError::aggregate_of_aggregate().on_line(expr.position.line));
        }
        Ok(bound)
    }

    /// Refuses an aggregate over columns of an outer query only, which would be that query's aggregate.
    fn check_own_columns(&self, operand: &Expr) -> Result<(), SqlError> {
        let (mut local, mut outer) = (false, false);
        operand.visit(&mut |node| {
            if let Node::Expr(Expr {
                kind: ExprKind::Column(column),
                ..
            }) = node
            {
                if self.is_local(*column) {
                    local = true
                } else {
                    outer = true
                }
            }
        });
        if outer {
            let mixed = if local {
                "An aggregate of columns of two queries"
            } else {
                "An aggregate of an outer query's columns"
            };
            return Err(SqlError::unsupported(mixed));
        }
        Ok(())
    }

    fn bind_window(&mut self, call: &ast::FunctionCall, window: &ast::Window) -> Result<Expr, SqlError> {
        match self.clause() {
            Clause::Items | Clause::OrderBy => {}
            Clause::Argument => return Err(SqlError::window_in_window()),
            Clause::On
            | Clause::Where
            | Clause::GroupBy
            | Clause::Having
            | Clause::Set
            | Clause::Values
            | Clause::Output => return Err(SqlError::window_not_allowed()),
        }
        let (function, data_type, nullable) = self.window_function(call, window)?;
        let collation = function_collation(&function)?;
        let (function, frame, default) = match call.null_treatment {
            Some(ast::NullTreatment::Ignore) => ignoring_nulls(function, window.frame)?,
            Some(ast::NullTreatment::Respect) | None => (function, window.frame, None),
        };
        let mut partition = Vec::new();
        for expr in &window.partition_by {
            partition.push(self.window_part(expr)?);
        }
        let mut order = Vec::new();
        for item in &window.order_by {
            if let Some(term) = self.window_order(&item.value)? {
                order.push((term, item.descending));
            }
        }
        check_frame(window)?;
        let call = WindowCall {
            function,
            partition,
            order,
            frame,
        };
        let value = self.query_node(QueryNode::Window(Box::new(call)), data_type, nullable);
        let value = match default {
            None => value,
            Some(default) => Expr::new(ExprKind::Coalesce(vec![value, default]), data_type),
        };
        Ok(if is_text(&data_type) {
            value.with_collation(collation)
        } else {
            value
        })
    }

    /// A part of a window: aggregates of a grouped query are allowed in it, window functions are not.
    fn window_part(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let bound = self.value(Clause::Items, expr)?;
        let mut nested = false;
        bound.visit(&mut |node| {
            if let Node::Expr(Expr {
                kind: ExprKind::QueryNode(reference),
                ..
            }) = node
            {
                nested |= matches!(self.parts.query_node(*reference), Some(QueryNode::Window(_)));
            }
        });
        if nested {
            return Err(SqlError::window_in_window().on_line(expr.position.line));
        }
        Ok(bound)
    }

    /// The order of a window; `None` for `(SELECT NULL)` and similar, which specify no order.
    fn window_order(&mut self, expr: &ast::Expr) -> Result<Option<Expr>, SqlError> {
        let bound = self.window_part(expr)?;
        match &bound.kind {
            ExprKind::Literal(Value::Int(_) | Value::BigInt(_)) => Err(SqlError::window_order_index()),
            ExprKind::Literal(_) | ExprKind::Null => Err(SqlError::window_order_constant()),
            ExprKind::QueryNode(reference) => {
                let fixed =
                    matches!(self.parts.query_node(*reference), Some(QueryNode::Scalar(query)) if query.is_constant());
                Ok((!fixed).then_some(bound))
            }
            ExprKind::Variable(_)
            | ExprKind::Column(_)
            | ExprKind::Input(_)
            | ExprKind::Convert(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Whole(_)
            | ExprKind::Case { .. }
            | ExprKind::Coalesce(_)
            | ExprKind::Choose { .. }
            | ExprKind::Let(_)
            | ExprKind::Local
            | ExprKind::Call(_)
            | ExprKind::UserCall(_) => Ok(Some(bound)),
        }
    }

    fn window_function(
        &mut self,
        call: &ast::FunctionCall,
        window: &ast::Window,
    ) -> Result<(WindowFunction, DataType, bool), SqlError> {
        let name = call.name.name.text.to_ascii_lowercase();
        if AggregateKind::find(&name).is_some() {
            return self.window_aggregate(call);
        }
        let arguments: &[ast::Expr] = match &call.arguments {
            ast::Arguments::List(arguments) => arguments,
            ast::Arguments::Absent | ast::Arguments::Star | ast::Arguments::Distinct(_) | ast::Arguments::Json(_) => {
                &[]
            }
        };
        let plain = match name.as_str() {
            "row_number" => Some((WindowFunction::RowNumber, DataType::BigInt)),
            "rank" => Some((WindowFunction::Rank, DataType::BigInt)),
            "dense_rank" => Some((WindowFunction::DenseRank, DataType::BigInt)),
            "percent_rank" => Some((WindowFunction::PercentRank, DataType::Float)),
            "cume_dist" => Some((WindowFunction::CumulativeDistribution, DataType::Float)),
            _ => None,
        };
        let upper = name.to_ascii_uppercase();
        if let Some((function, data_type)) = plain {
            check_count(&upper, arguments, 0, 0)?;
            check_ranking(&upper, window)?;
            return Ok((function, data_type, false));
        }
        match name.as_str() {
            "ntile" => {
                check_count(&upper, arguments, 1, 1)?;
                check_ranking(&upper, window)?;
                let count = self.first(arguments)?.converted_to(&DataType::BigInt)?;
                check_fixed(&count, "NTILE of what is no constant or variable")?;
                Ok((WindowFunction::Tile(count), DataType::BigInt, false))
            }
            "lag" | "lead" => {
                check_count(&upper, arguments, 1, 3)?;
                check_ranking(&upper, window)?;
                self.shift(arguments, name == "lead")
            }
            "first_value" | "last_value" => {
                check_count(&upper, arguments, 1, 1)?;
                if window.order_by.is_empty() {
                    return Err(SqlError::window_order_required(&upper));
                }
                let value = self.first(arguments)?;
                let data_type = value.data_type;
                let make = if name == "first_value" {
                    WindowFunction::First
                } else {
                    WindowFunction::Last
                };
                Ok((make(value), data_type, true))
            }
            "percentile_cont" | "percentile_disc" => self.percentile(call, window, arguments, &upper),
            _ => Err(SqlError::unsupported_function(&format!(
                "{} with OVER",
                call.name.name.text
            ))),
        }
    }

    fn window_aggregate(&mut self, call: &ast::FunctionCall) -> Result<(WindowFunction, DataType, bool), SqlError> {
        if matches!(call.arguments, ast::Arguments::Distinct(_)) {
            return Err(SqlError::distinct_window());
        }
        let Some(kind) = AggregateKind::find(&call.name.name.text) else {
            return Err(SqlError::unsupported_function(&call.name.name.text));
        };
        if matches!(kind, AggregateKind::StringAgg | AggregateKind::ApproxCountDistinct) {
            return Err(SqlError::unsupported(&format!(
                "{} with OVER",
                kind.name().to_ascii_uppercase()
            )));
        }
        let mut arguments = Vec::new();
        if let ast::Arguments::List(list) = &call.arguments {
            for argument in list {
                arguments.push(self.window_part(argument)?);
            }
        }
        let aggregate = Aggregate::bind(kind, arguments)?;
        let (data_type, nullable) = (aggregate.data_type, !kind.counts());
        Ok((WindowFunction::Aggregate(aggregate), data_type, nullable))
    }

    fn shift(&mut self, arguments: &[ast::Expr], forward: bool) -> Result<(WindowFunction, DataType, bool), SqlError> {
        let value = self.first(arguments)?;
        let data_type = value.data_type;
        let offset = match arguments.get(1) {
            Some(offset) => self.window_part(offset)?.converted_to(&DataType::BigInt)?,
            None => Expr::literal(Value::BigInt(1), DataType::BigInt),
        };
        check_fixed(&offset, "LAG or LEAD by what is no constant or variable")?;
        let default = match arguments.get(2) {
            Some(default) => Some(self.window_part(default)?.converted_to(&data_type)?),
            None => None,
        };
        Ok((
            WindowFunction::Shift {
                value,
                offset,
                default,
                forward,
            },
            data_type,
            true,
        ))
    }

    /// PERCENTILE_CONT and PERCENTILE_DISC over a partition.
    fn percentile(
        &mut self,
        call: &ast::FunctionCall,
        window: &ast::Window,
        arguments: &[ast::Expr],
        name: &str,
    ) -> Result<(WindowFunction, DataType, bool), SqlError> {
        check_count(name, arguments, 1, 1)?;
        if !window.order_by.is_empty() || window.frame.is_some() {
            return Err(SqlError::unsupported(&format!("ORDER BY in the OVER of {name}")));
        }
        let [item] = call.within_group.as_slice() else {
            return Err(SqlError::unsupported(&format!(
                "{name} without WITHIN GROUP of one value"
            )));
        };
        let fraction = self.first(arguments)?.converted_to(&DataType::Float)?;
        let ExprKind::Literal(Value::Float(fraction)) = fraction.kind else {
            return Err(SqlError::unsupported(&format!("{name} of what is no constant")));
        };
        if !(0.0..=1.0).contains(&fraction) {
            return Err(SqlError::unsupported(&format!("{name} of what is not from 0 to 1")));
        }
        let kind = match name {
            "PERCENTILE_CONT" => AggregateKind::PercentileCont,
            _ => AggregateKind::PercentileDisc,
        };
        let operand = self.window_part(&item.value)?;
        let aggregate = Aggregate::percentile(kind, operand, fraction, item.descending)?;
        let data_type = aggregate.data_type;
        Ok((WindowFunction::Aggregate(aggregate), data_type, true))
    }

    fn first(&mut self, arguments: &[ast::Expr]) -> Result<Expr, SqlError> {
        match arguments.first() {
            Some(argument) => self.window_part(argument),
            None => Err(SqlError::internal("a window function without its argument")),
        }
    }
}

/// The collation of a window function's text: that of the values from which the text is taken.
fn function_collation(function: &WindowFunction) -> Result<Collation, SqlError> {
    match function {
        WindowFunction::First(value) | WindowFunction::Last(value) => Ok(value.collation),
        WindowFunction::Shift { value, default, .. } => collation_of(std::iter::once(value).chain(default), "lag"),
        WindowFunction::Aggregate(aggregate) => Ok(aggregate.collation()),
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::Tile(_)
        | WindowFunction::PercentRank
        | WindowFunction::CumulativeDistribution => Ok(Collation::default()),
    }
}

/// A window function with IGNORE NULLS: an aggregate over the rows that it may return, and the value if there is none.
///
/// Errors: 40510 for LAG and LEAD by more than 1, and for functions without IGNORE NULLS.
fn ignoring_nulls(
    function: WindowFunction,
    frame: Option<ast::WindowFrame>,
) -> Result<(WindowFunction, Option<ast::WindowFrame>, Option<Expr>), SqlError> {
    let of = |kind: AggregateKind, value: Expr| Aggregate::bind(kind, vec![value]).map(WindowFunction::Aggregate);
    let rows = |start, end| {
        Some(ast::WindowFrame {
            unit: ast::FrameUnit::Rows,
            start,
            end: Some(end),
        })
    };
    match function {
        WindowFunction::First(value) => Ok((of(AggregateKind::FirstValue, value)?, frame, None)),
        WindowFunction::Last(value) => Ok((of(AggregateKind::LastValue, value)?, frame, None)),
        WindowFunction::Shift {
            value,
            offset,
            default,
            forward,
        } if matches!(offset.kind, ExprKind::Literal(Value::BigInt(1))) => match forward {
            true => {
                let frame = rows(ast::FrameBound::Following(1), ast::FrameBound::UnboundedFollowing);
                Ok((of(AggregateKind::FirstValue, value)?, frame, default))
            }
            false => {
                let frame = rows(ast::FrameBound::UnboundedPreceding, ast::FrameBound::Preceding(1));
                Ok((of(AggregateKind::LastValue, value)?, frame, default))
            }
        },
        WindowFunction::Shift { .. } => Err(SqlError::unsupported(
            "IGNORE NULLS of LAG or LEAD by another offset than 1",
        )),
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::Tile(_)
        | WindowFunction::PercentRank
        | WindowFunction::CumulativeDistribution
        | WindowFunction::Aggregate(_) => Err(SqlError::unsupported("IGNORE NULLS of this function")),
    }
}

impl AggregateKind {
    /// Whether it is a count, which is 0 where other aggregates are NULL.
    pub(crate) fn counts(self) -> bool {
        matches!(self, Self::Count | Self::CountBig | Self::ApproxCountDistinct)
    }
}

/// Whether values of the type are text.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    data_type.family() == selenite_types::Family::Text
}

fn check_count(name: &str, arguments: &[ast::Expr], least: usize, most: usize) -> Result<(), SqlError> {
    if (least..=most).contains(&arguments.len()) {
        return Ok(());
    }
    Err(match least == most {
        true => SqlError::argument_count(name, least),
        false => SqlError::argument_count_range(name, least, most),
    })
}

fn check_ranking(name: &str, window: &ast::Window) -> Result<(), SqlError> {
    if window.order_by.is_empty() {
        return Err(SqlError::window_order_required(name));
    }
    if window.frame.is_some() {
        return Err(SqlError::window_frame_not_allowed(name));
    }
    Ok(())
}

fn check_frame(window: &ast::Window) -> Result<(), SqlError> {
    let Some(frame) = window.frame else { return Ok(()) };
    if window.order_by.is_empty() {
        return Err(SqlError::frame_without_order());
    }
    let counted = |bound: ast::FrameBound| match bound {
        ast::FrameBound::Preceding(_) | ast::FrameBound::Following(_) => true,
        ast::FrameBound::UnboundedPreceding | ast::FrameBound::CurrentRow | ast::FrameBound::UnboundedFollowing => {
            false
        }
    };
    if frame.unit == ast::FrameUnit::Range && (counted(frame.start) || frame.end.is_some_and(counted)) {
        return Err(SqlError::range_frame());
    }
    let rank = |bound: ast::FrameBound| match bound {
        ast::FrameBound::UnboundedPreceding => 0,
        ast::FrameBound::Preceding(_) => 1,
        ast::FrameBound::CurrentRow => 2,
        ast::FrameBound::Following(_) => 3,
        ast::FrameBound::UnboundedFollowing => 4,
    };
    let end = frame.end.unwrap_or(ast::FrameBound::CurrentRow);
    if rank(frame.start) > rank(end) || rank(frame.start) == 4 || rank(end) == 0 {
        return Err(SqlError::frame_reversed());
    }
    Ok(())
}

fn check_fixed(expr: &Expr, what: &str) -> Result<(), SqlError> {
    if crate::expr::is_fixed(expr) {
        Ok(())
    } else {
        Err(SqlError::unsupported(what))
    }
}

//! Writes subqueries and aggregates as SQL.

use super::condition::sign;
use super::parameter::{Parameter, ParameterValue};
use super::value::collated;
use super::weight::SUBQUERY_NODE_COUNT;
use super::{AggregateSpec, Form, Writer};
use crate::query::tree::{AggregateCall, Quantified, Query, QueryNode};
use crate::{Aggregate, AggregateKind, Collation, ColumnRef, Expr, QueryNodeRef, SqlError};

impl Writer {
    /// SQL of a value node of a query.
    ///
    /// Errors: 8624 for a node that is not a value.
    pub fn query_node_value(&mut self, reference: QueryNodeRef) -> Result<String, SqlError> {
        let node = self.parts.query_node(reference).cloned();
        match node {
            Some(QueryNode::Scalar(query)) => self.scalar(&query),
            Some(QueryNode::Aggregate(call)) => self.aggregate(&call),
            Some(QueryNode::Window(call)) => self.window(&call),
            Some(QueryNode::Fixed(expr)) => {
                let data_type = expr.data_type;
                Ok(self.parameter(Parameter {
                    value: ParameterValue::Value(expr),
                    data_type,
                }))
            }
            Some(QueryNode::Exists(_) | QueryNode::In { .. } | QueryNode::Quantified(_)) | None => {
                Err(SqlError::internal("a condition where a value stands"))
            }
        }
    }

    /// SQL of a condition node of a query.
    ///
    /// Errors: 8624 for a node that is not a condition.
    pub fn query_node_condition(&mut self, reference: QueryNodeRef) -> Result<String, SqlError> {
        let node = self.parts.query_node(reference).cloned();
        match node {
            Some(QueryNode::Exists(query)) => {
                self.spend_subquery()?;
                Ok(format!("EXISTS ({})", self.query(&query)?))
            }
            Some(QueryNode::In {
                operand,
                query,
                collation,
            }) => self.among(&operand, &query, collation),
            Some(QueryNode::Quantified(quantified)) => self.quantified(&quantified),
            Some(QueryNode::Scalar(_) | QueryNode::Aggregate(_) | QueryNode::Window(_) | QueryNode::Fixed(_))
            | None => Err(SqlError::internal("a value where a condition stands")),
        }
    }

    /// Charges one subquery.
    ///
    /// Errors: 8623 if there are too many.
    fn spend_subquery(&mut self) -> Result<(), SqlError> {
        self.parts.budget.spend(SUBQUERY_NODE_COUNT)
    }

    /// SQLite takes the first of several rows; T-SQL refuses them (512), and so does `tsql_single`.
    fn scalar(&mut self, query: &Query) -> Result<String, SqlError> {
        self.spend_subquery()?;
        let sql = self.query(query)?;
        Ok(if query.is_single() {
            format!("({sql})")
        } else {
            format!("(SELECT tsql_single(c0) FROM ({sql}))")
        })
    }

    fn among(&mut self, operand: &Expr, query: &Query, collation: Collation) -> Result<String, SqlError> {
        self.spend_subquery()?;
        let form = Form::of(&operand.data_type);
        let operand = collated(form, self.value(operand)?, collation);
        let rows = self.query(query)?;
        Ok(match form {
            Form::Offset(_) => format!("{operand} IN (SELECT {} FROM ({rows}))", form.key("c0".to_owned())),
            Form::Scaled(_)
            | Form::Wide(_)
            | Form::Real
            | Form::Text
            | Form::Bytes
            | Form::Date
            | Form::Time(_)
            | Form::Moment(_)
            | Form::Guid
            | Form::Variant => format!("{operand} IN ({rows})"),
        })
    }

    /// One row decides; without a decisive row, an unknown comparison makes the result unknown.
    fn quantified(&mut self, quantified: &Quantified) -> Result<String, SqlError> {
        let Quantified {
            operand,
            comparison,
            all,
            query,
            source,
            collation,
        } = quantified;
        // Twice, as below.
        self.spend_subquery()?;
        self.spend_subquery()?;
        let form = Form::of(&operand.data_type);
        let rows = format!("({}) AS t{source}", self.query(query)?);
        let operand = collated(form, self.value(operand)?, *collation);
        let row = form.key(self.column(ColumnRef {
            source: *source,
            column: 0,
        })?);
        let compared = format!("{operand} {} {row}", sign(*comparison));
        // Both are written twice: nested, that doubles the SQL.
        self.parts
            .budget
            .spend_items((rows.len() + compared.len()) / NODE_SIZE)?;
        let (deciding, decided, otherwise) = if *all {
            (format!("NOT ({compared})"), 0, 1)
        } else {
            (compared.clone(), 1, 0)
        };
        Ok(format!(
            "CASE WHEN EXISTS (SELECT 1 FROM {rows} WHERE {deciding}) THEN {decided} \
             WHEN EXISTS (SELECT 1 FROM {rows} WHERE ({compared}) IS NULL) THEN NULL ELSE {otherwise} END"
        ))
    }

    fn aggregate(&mut self, call: &AggregateCall) -> Result<String, SqlError> {
        let mut order = String::new();
        for (at, (term, descending)) in call.order.iter().enumerate() {
            order.push_str(if at == 0 { " ORDER BY " } else { ", " });
            order.push_str(&self.key(term)?);
            order.push_str(if *descending { " DESC" } else { "" });
        }
        self.aggregate_of(&call.aggregate, call.distinct, &order, false)
    }

    /// SQL of an aggregate, without OVER; `window` says whether OVER will follow.
    ///
    /// COUNT of a value that is never NULL, MIN and MAX are SQLite's; all others, and those that report skipped NULLs
    /// (8153), are this server's.
    pub(super) fn aggregate_of(
        &mut self,
        aggregate: &Aggregate,
        distinct: bool,
        order: &str,
        window: bool,
    ) -> Result<String, SqlError> {
        let Some(operand) = &aggregate.operand else {
            return Ok("count(*)".to_owned());
        };
        match aggregate.kind {
            AggregateKind::Min => return Ok(format!("min({})", self.extreme(operand)?)),
            AggregateKind::Max => return Ok(format!("max({})", self.extreme(operand)?)),
            AggregateKind::Count | AggregateKind::CountBig | AggregateKind::ApproxCountDistinct
                if !operand.nullable =>
            {
                let word = if distinct { "DISTINCT " } else { "" };
                return Ok(format!("count({word}{})", self.key(operand)?));
            }
            AggregateKind::Count
            | AggregateKind::CountBig
            | AggregateKind::Sum
            | AggregateKind::Avg
            | AggregateKind::StDev
            | AggregateKind::StDevP
            | AggregateKind::Var
            | AggregateKind::VarP
            | AggregateKind::StringAgg
            | AggregateKind::ChecksumAgg
            | AggregateKind::ApproxCountDistinct
            | AggregateKind::PercentileCont
            | AggregateKind::PercentileDisc
            | AggregateKind::FirstValue
            | AggregateKind::LastValue => {}
        }
        let value = self.value(operand)?;
        let spec = AggregateSpec {
            aggregate: aggregate.clone(),
            distinct,
            collation: operand.collation,
        };
        let number = self.aggregate_number(spec);
        let separator = match &aggregate.separator {
            Some(separator) => format!(", {}", self.value(separator)?),
            None => String::new(),
        };
        let name = match (window, aggregate.kind.counts()) {
            (false, false) => "tsql_aggregate",
            (false, true) => "tsql_count",
            (true, false) => "tsql_window",
            (true, true) => "tsql_window_count",
        };
        Ok(format!("{name}({number}, {value}{separator}{order})"))
    }

    /// The operand of MIN or MAX: the value itself, which is the result.
    fn extreme(&mut self, operand: &Expr) -> Result<String, SqlError> {
        let form = Form::of(&operand.data_type);
        let sql = self.value(operand)?;
        Ok(if form.is_collated() {
            collated(form, sql, operand.collation)
        } else {
            sql
        })
    }
}

/// The minimum size of a node's SQL in bytes.
const NODE_SIZE: usize = 16;

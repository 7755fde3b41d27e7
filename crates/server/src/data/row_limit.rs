//! SET ROWCOUNT: how many rows a statement changes at most.

use selenite_plan::PlanError;
use selenite_tsql::ast::{Expr, ExprKind, Literal, Position, Statement, StatementKind, Top};

/// The statement with a TOP of so many rows; `None` if it is none that TOP limits.
///
/// # Errors
/// 40510 for one that has a TOP already.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "no other statement changes rows one by one"
)]
pub fn limited(statement: &Statement, row_count_max: u64) -> Result<Option<Statement>, PlanError> {
    let mut limited = statement.clone();
    let top = match &mut limited.kind {
        StatementKind::Insert(insert) => &mut insert.top,
        StatementKind::Update(update) => &mut update.top,
        StatementKind::Delete(delete) => &mut delete.top,
        _ => return Ok(None),
    };
    if top.is_some() {
        return Err(PlanError::unsupported("SET ROWCOUNT of a change that has TOP"));
    }
    *top = Some(of(row_count_max, statement.position));
    Ok(Some(limited))
}

fn of(row_count_max: u64, position: Position) -> Top {
    let kind = ExprKind::Literal(Literal::Integer(row_count_max.to_string()));
    Top {
        count: Expr { kind, position },
        percent: false,
        with_ties: false,
    }
}

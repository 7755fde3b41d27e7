//! SET ROWCOUNT: how many rows a statement changes at most.

use selenite_compiler::SqlError;
use selenite_tsql::ast::{
    Expr, ExprKind, Literal, Position, QueryBody, SelectStatement, Statement, StatementKind, Top,
};

/// The statement with a TOP of so many rows; `None` if TOP does not apply to it.
///
/// # Errors
/// 40510 for one that has a TOP already.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "no other statement changes rows one by one"
)]
pub fn limited(statement: &Statement, row_count_max: u64) -> Result<Option<Statement>, SqlError> {
    let mut limited = statement.clone();
    let top = match &mut limited.kind {
        StatementKind::Insert(insert) => &mut insert.top,
        StatementKind::Update(update) => &mut update.top,
        StatementKind::Delete(delete) => &mut delete.top,
        StatementKind::Merge(merge) => &mut merge.top,
        StatementKind::Select(select) => return of_select(select, row_count_max).map(|()| Some(limited)),
        _ => return Ok(None),
    };
    if !lower(top, row_count_max) {
        return Err(SqlError::unsupported(
            "SET ROWCOUNT of a change that has TOP of no constant",
        ));
    }
    if top.is_none() {
        *top = Some(of(row_count_max, statement.position));
    }
    Ok(Some(limited))
}

/// Lowers the count of a TOP; false if it is not a constant.
fn lower(top: &mut Option<Top>, row_count_max: u64) -> bool {
    match top {
        None => true,
        Some(Top {
            count:
                Expr {
                    kind: ExprKind::Literal(Literal::Integer(count)),
                    ..
                },
            percent: false,
            with_ties: false,
        }) => {
            if count.parse().is_ok_and(|count: u64| count > row_count_max) {
                *count = row_count_max.to_string();
            }
            true
        }
        Some(_) => false,
    }
}

/// SELECT INTO: the rows of any other SELECT are counted when they are sent.
fn of_select(select: &mut SelectStatement, row_count_max: u64) -> Result<(), SqlError> {
    let has_offset = select.query.offset.is_some();
    let position = select.query.position;
    let QueryBody::Select(body) = &mut select.query.body else {
        return match makes_table(&select.query.body) {
            true => Err(SqlError::unsupported(
                "SET ROWCOUNT of SELECT INTO with UNION, INTERSECT or EXCEPT",
            )),
            false => Ok(()),
        };
    };
    if body.into.is_none() {
        return Ok(());
    }
    if has_offset {
        return Err(SqlError::unsupported("SET ROWCOUNT of SELECT INTO with OFFSET"));
    }
    if !lower(&mut body.top, row_count_max) {
        return Err(SqlError::unsupported(
            "SET ROWCOUNT of SELECT INTO that has TOP of no constant",
        ));
    }
    if body.top.is_none() {
        body.top = Some(of(row_count_max, position));
    }
    Ok(())
}

/// Whether the first SELECT of a combination has INTO.
fn makes_table(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => select.into.is_some(),
        QueryBody::Combined(combined) => makes_table(&combined.first),
        QueryBody::Nested(_) => false,
    }
}

fn of(row_count_max: u64, position: Position) -> Top {
    let kind = ExprKind::Literal(Literal::Integer(row_count_max.to_string()));
    Top {
        count: Expr { kind, position },
        percent: false,
        with_ties: false,
    }
}

//! Compiles texts to programs.

mod program_cache;
pub(crate) mod set_option_check;
mod unsupported;

pub(crate) use program_cache::{ProgramCache, ProgramKey};
use selenite_compiler::program::Program;
use selenite_compiler::{Ends, SqlError};
use selenite_tsql::ast::{CursorStatement, Parameter, Query, QueryBody, SelectItem, StatementKind, Tree};
use selenite_tsql::{Options, SyntaxError, UserTypes, parse_typed};
pub(crate) use unsupported::UNSUPPORTED_DBCC;

/// Compiles a text with its parameters, as long as `goes_on` returns true.
///
/// # Errors
/// What is wrong with either: at least one.
pub(crate) fn compile(key: &ProgramKey, goes_on: &dyn Fn() -> bool) -> Result<Program, Vec<SqlError>> {
    compile_typed(key, goes_on, &|_| None)
}

/// Compiles a text with its parameters, and with types of users.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_typed(
    key: &ProgramKey,
    goes_on: &dyn Fn() -> bool,
    types: &UserTypes<'_>,
) -> Result<Program, Vec<SqlError>> {
    let options = Options {
        quoted_identifier: key.quoted_identifier,
    };
    let parameters = parameters(&key.parameters, (options, types), goes_on)?;
    let tree = parse_typed(&key.text, options, goes_on, types).map_err(|error| both(&error))?;
    let refused = unsupported::find(&tree);
    if !refused.is_empty() {
        return Err(refused);
    }
    let tree = if key.is_cursor { as_cursor(tree) } else { tree };
    match parameters {
        None => Program::of_batch(&key.text, tree),
        Some(parameters) => Program::of_text(&key.text, tree, &parameters),
    }
}

/// A single query as that of an API cursor; anything else as it is.
fn as_cursor(mut tree: Tree) -> Tree {
    if let [statement] = tree.statements.as_mut_slice()
        && let StatementKind::Select(select) = &statement.kind
        && can_be_cursor(&select.query)
    {
        let query = CursorStatement::OpenQuery(select.clone());
        statement.kind = StatementKind::Cursor(Box::new(query));
    }
    tree
}

/// Whether a query returns rows to a client, one by one.
fn can_be_cursor(query: &Query) -> bool {
    let mut body = &query.body;
    while let QueryBody::Combined(combined) = body {
        body = &combined.first;
    }
    let is_rows = match body {
        QueryBody::Select(select) => {
            let assigns = |item: &SelectItem| matches!(item, SelectItem::Assign { .. });
            select.into.is_none() && !select.items.iter().any(assigns)
        }
        QueryBody::Nested(_) | QueryBody::Combined(_) => true,
    };
    is_rows && query.for_clause.is_none()
}

/// `@a int, @b nvarchar(10) OUTPUT`: what follows a procedure's name, and is parsed as such.
fn parameters(
    declared: &str,
    (options, types): (Options, &UserTypes<'_>),
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Vec<Parameter>>, Vec<SqlError>> {
    if declared.trim().is_empty() {
        return Ok(None);
    }
    // On a line of its own: a comment at the end must not hide the AS.
    let text = format!("CREATE PROCEDURE p {declared}\nAS");
    let tree = parse_typed(&text, options, goes_on, types).map_err(|error| both(&error))?;
    match of_procedure(tree) {
        Some(parameters) => Ok(Some(parameters)),
        None => Err(vec![SqlError::syntax_near("AS").on_line(1)]),
    }
}

/// The parameters of a procedure that has nothing else.
fn of_procedure(tree: Tree) -> Option<Vec<Parameter>> {
    let mut statements = tree.statements.into_iter();
    let (Some(first), None) = (statements.next(), statements.next()) else {
        return None;
    };
    let StatementKind::Procedure(procedure) = first.kind else {
        return None;
    };
    let is_bare = procedure.body.is_empty()
        && procedure.options.is_empty()
        && procedure.number.is_none()
        && !procedure.for_replication
        && procedure.name.single().is_some_and(|name| name.text == "p");
    is_bare.then_some(procedure.parameters)
}

/// An error of syntax, and the one that SQL Server sends with it.
fn both(error: &SyntaxError) -> Vec<SqlError> {
    std::iter::once(syntax(error))
        .chain(error.also().as_ref().map(syntax))
        .collect()
}

fn syntax(error: &SyntaxError) -> SqlError {
    if error.number == OUT_OF_MEMORY {
        return SqlError::out_of_memory();
    }
    let number = i32::try_from(error.number).unwrap_or(i32::MAX);
    SqlError::new(number, Ends::Batch, error.message.clone())
        .with_severity(error.severity)
        .with_state(error.state)
        .on_line(error.line)
}

const OUT_OF_MEMORY: u32 = 701;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn numbers(text: &str, parameters: &str) -> Vec<i32> {
        let key = ProgramKey {
            text: Arc::from(text),
            parameters: Arc::from(parameters),
            quoted_identifier: true,
            is_cursor: false,
        };
        let compiled = compile(&key, &|| true);
        compiled.map_or_else(|errors| errors.iter().map(SqlError::number).collect(), |_| Vec::new())
    }

    #[test]
    fn parameters_are_read_as_a_procedures() {
        assert_eq!(
            numbers("SELECT @a, @b", "@a int, @b nvarchar(10) OUTPUT -- both"),
            [0; 0]
        );
        assert_eq!(numbers("SELECT @a", ""), [137]);
        assert_eq!(numbers("SELECT 1", "  "), [0; 0]);
    }

    #[test]
    fn an_open_quote_is_two_errors() {
        assert_eq!(numbers("SELECT 'open", ""), [105, 102]);
        assert_eq!(numbers("SELECT FROM", ""), [156]);
        assert_eq!(numbers("SELECT @a", "@a int = 'open"), [105, 102]);
    }

    #[test]
    fn what_is_no_list_of_parameters_is_an_error() {
        for parameters in [
            "a int",
            "@a int AS SELECT 1",
            "@a int WITH RECOMPILE",
            ".q @a int",
            "@a",
            "/*",
            "; DROP TABLE t; --",
        ] {
            assert_ne!(numbers("SELECT 1", parameters), [0; 0], "{parameters}");
        }
    }
}

//! The body of a function, and what it may not do: nothing in it has an effect outside.

use selenite_tsql::ast::{self, ChangeTarget, SelectItem, StatementKind, TableSource, TableSourceKind};
use selenite_types::{DataType, DeclarationContext};

use super::{Compiler, Returns};
use crate::{SqlError, declared_type, same_name};

/// The type of a scalar function's value.
///
/// Errors: 2715 and others, as of a variable.
pub(in crate::program) fn result_type(returns: &ast::TypeName) -> Result<DataType, Vec<SqlError>> {
    let place = DeclarationContext::Variable { number: 0, name: "" };
    let is_old = ["text", "ntext", "image"].iter().any(|word| returns.name.name.is(word));
    if is_old {
        return Err(vec![SqlError::unsupported("A function of type text, ntext or image")]);
    }
    declared_type(returns, place).map_err(|error| vec![error])
}

impl Compiler<'_> {
    /// The statements of a function, and the variable of its rows.
    pub(in crate::program) fn function_body(&mut self, function: &ast::Function) {
        let body = match &function.body {
            ast::FunctionBody::Scalar { body, .. } => body,
            ast::FunctionBody::Table {
                variable,
                elements,
                body,
            } => {
                let position = function.name.position;
                let declaration = ast::Declaration {
                    name: variable.clone(),
                    variable_type: ast::VariableType::Table(elements.clone()),
                    initial: None,
                    position,
                };
                self.declarations(vec![declaration], position);
                body
            }
            ast::FunctionBody::Inline(_) => return,
        };
        self.statements(body.clone());
        if let Some(last) = body.last()
            && !matches!(last.kind, StatementKind::Return(_))
        {
            self.error(SqlError::last_is_no_return(), last.position.line);
        }
    }

    /// Whether a function may run a statement; any other program may.
    ///
    /// Errors: 443, 444, 557, 2772.
    pub(super) fn check_side_effect(&self, kind: &StatementKind) -> Result<(), SqlError> {
        match self.returns {
            Returns::Nothing | Returns::Status => Ok(()),
            Returns::Value(_) | Returns::Rows => check(kind),
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all definitions and administration are refused alike"
)]
fn check(kind: &StatementKind) -> Result<(), SqlError> {
    match kind {
        StatementKind::Block(_)
        | StatementKind::If(_)
        | StatementKind::While(_)
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Return(_)
        | StatementKind::Goto(_)
        | StatementKind::Label(_)
        | StatementKind::Declare(_)
        | StatementKind::SetVariable(_)
        | StatementKind::Unsupported(_) => Ok(()),
        StatementKind::Select(select) => check_select(select),
        StatementKind::Insert(insert) => {
            let is_call = matches!(insert.source, ast::InsertSource::Execute(_));
            check_change(("INSERT", &insert.target), &[], &insert.output)?;
            if is_call {
                return Err(SqlError::side_effect("INSERT EXEC"));
            }
            Ok(())
        }
        StatementKind::Update(update) => check_change(("UPDATE", &update.target), &update.from, &update.output),
        StatementKind::Delete(delete) => check_change(("DELETE", &delete.target), &delete.from, &delete.output),
        StatementKind::Merge(merge) => check_change(("MERGE", &merge.target), &[], &merge.output),
        StatementKind::Execute(execute) => Err(match **execute {
            ast::Execute::Text(..) => SqlError::side_effect("EXECUTE STRING"),
            ast::Execute::Procedure(_) => SqlError::call_in_function(),
        }),
        StatementKind::Cursor(_) => Err(SqlError::unsupported("A cursor in a function")),
        StatementKind::Try(_) => Err(SqlError::side_effect("BEGIN TRY")),
        StatementKind::Throw(_) => Err(SqlError::side_effect("THROW")),
        StatementKind::RaiseError(_) => Err(SqlError::side_effect("RAISERROR")),
        StatementKind::Print(_) => Err(SqlError::side_effect("PRINT")),
        StatementKind::WaitFor(_) => Err(SqlError::side_effect("WAITFOR")),
        StatementKind::SetOption(option) => Err(SqlError::side_effect(set_word(option))),
        StatementKind::Transaction(transaction) => Err(SqlError::side_effect(match transaction {
            ast::Transaction::Begin(_) => "BEGIN TRANSACTION",
            ast::Transaction::Commit { .. } => "COMMIT TRANSACTION",
            ast::Transaction::Rollback(_) => "ROLLBACK TRANSACTION",
            ast::Transaction::Save(_) => "SAVE TRANSACTION",
        })),
        StatementKind::Truncate(_) => Err(SqlError::side_effect("TRUNCATE TABLE")),
        StatementKind::CreateTable(_) => Err(SqlError::side_effect("CREATE TABLE")),
        other => {
            let text = other.to_string();
            let words: Vec<&str> = text.split_whitespace().take(2).collect();
            Err(SqlError::side_effect(&words.join(" ")))
        }
    }
}

fn set_word(option: &ast::SetOption) -> &'static str {
    let text = option.to_string();
    match text.to_ascii_uppercase().ends_with(" OFF") {
        true => "SET OPTION OFF",
        false => "SET OPTION ON",
    }
}

/// A SELECT of a function only assigns variables.
fn check_select(select: &ast::SelectStatement) -> Result<(), SqlError> {
    let ast::QueryBody::Select(inner) = &select.query.body else {
        return Err(SqlError::rows_in_function());
    };
    if inner.into.is_some() {
        return Err(SqlError::side_effect("SELECT INTO"));
    }
    let assigns = inner.items.iter().any(|item| matches!(item, SelectItem::Assign { .. }));
    match assigns {
        true => Ok(()),
        false => Err(SqlError::rows_in_function()),
    }
}

/// A change of a function is one of a table variable, named by itself or by an alias.
fn check_change(
    (verb, target): (&str, &ChangeTarget),
    from: &[TableSource],
    outputs: &[ast::Output],
) -> Result<(), SqlError> {
    let of_variable = |target: &ChangeTarget| match target {
        ChangeTarget::Variable { .. } => true,
        ChangeTarget::Table(name) => name.single().is_some_and(|name| {
            from.iter()
                .any(|source| variable_of_alias(source, &name.text).is_some())
        }),
    };
    if let ChangeTarget::Table(name) = target
        && name.name.text.starts_with('#')
    {
        return Err(SqlError::temporary_in_function());
    }
    if !of_variable(target) {
        return Err(SqlError::side_effect(verb));
    }
    for output in outputs {
        match &output.into {
            None => return Err(SqlError::rows_in_function()),
            Some(into) if matches!(into.target, ChangeTarget::Table(_)) => {
                return Err(SqlError::side_effect("OUTPUT INTO"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The table variable of an alias.
pub(super) fn variable_of_alias<'s>(source: &'s TableSource, alias: &str) -> Option<&'s str> {
    match &source.kind {
        TableSourceKind::Variable {
            name,
            alias: Some(known),
            ..
        } => same_name(&known.text, alias).then_some(name.as_str()),
        TableSourceKind::Join(join) => {
            variable_of_alias(&join.left, alias).or_else(|| variable_of_alias(&join.right, alias))
        }
        TableSourceKind::Variable { alias: None, .. }
        | TableSourceKind::Table { .. }
        | TableSourceKind::Function { .. }
        | TableSourceKind::BulkFile { .. }
        | TableSourceKind::Derived { .. }
        | TableSourceKind::Values { .. }
        | TableSourceKind::Pivot(_)
        | TableSourceKind::Unpivot(_) => None,
    }
}

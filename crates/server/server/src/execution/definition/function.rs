//! CREATE and ALTER FUNCTION.

use std::sync::Arc;

use selenite_compiler::catalog::{FunctionParameter, FunctionResult, Table, UserFunction};
use selenite_compiler::definition::bracketed;
use selenite_compiler::statement::Binding;
use selenite_compiler::{Ends, SqlError, Variables, same_name, written_object};
use selenite_tsql::ast::{self, Function, FunctionBody, ModuleContext, Statement};

use super::module::WithView;
use super::{DefinitionContext, refusal};
use crate::catalog::catalog_rows::{CatalogRow, ObjectKind};
use crate::catalog::schema::function::{described_table, kind_of, user_function};
use crate::catalog::schema::parsed;
use crate::catalog::table_variables::parameter_table;
use crate::names::session_catalog::SessionCatalog;

impl DefinitionContext<'_> {
    pub(crate) fn define_function(&self, function: &Function, statement: &Statement) -> Result<(), SqlError> {
        check_options(function)?;
        let own = function.name.name.text.as_str();
        if own.starts_with('#') {
            let text = "Creation of temporary functions is not allowed.";
            // 1074: a function with a temporary object's name.
            return Err(SqlError::new(1074, Ends::Batch, text).with_severity(15));
        }
        if let Some(parameter) = function.parameters.iter().find(|parameter| parameter.output) {
            let text = "Cannot use the OUTPUT option in a DECLARE, CREATE AGGREGATE or CREATE FUNCTION statement.";
            // 181: an OUTPUT parameter of a function.
            return Err(SqlError::new(181, Ends::Batch, text)
                .with_severity(15)
                .on_line(parameter.position.line));
        }
        let known = self.catalog.function_of(&function.name);
        let known_kind = known.map(|known| (known.row.schema.clone(), known.kind));
        let known = known.map(|known| known.row.clone());
        let (schema, known) = self.check_module(function.create, &function.name, (known, "function"))?;
        if let (Some(_), Some((_, kind))) = (&known, known_kind)
            && kind != kind_of(function)
        {
            let text = format!("Cannot perform alter on '{own}' because it is an incompatible object type.");
            // 2010: ALTER FUNCTION of a function of another kind.
            return Err(SqlError::new(2010, Ends::Batch, text));
        }
        if let Some(known) = &known {
            let written = written_object(&function.name);
            self.check_not_bound("ALTER", ((&known.schema, &known.name), &written), &[])?;
            self.check_function_unused("ALTER", &written, known)?;
        }
        self.check_volatile(statement)?;
        let place = (self.catalog.database.as_ref(), schema.as_str(), own);
        let (made, _) = user_function(self.source, function, place, 0)?;
        if let FunctionBody::Inline(_) = &function.body {
            self.check_inline(made, function)?;
        }
        self.keep_module(ObjectKind::Function, (&schema, &function.name, known), statement)
            .map(drop)
    }

    /// 3729: a function that a check, a default or a computed column calls.
    pub(super) fn check_function_unused(&self, verb: &str, written: &str, row: &CatalogRow) -> Result<(), SqlError> {
        let calls = |text: String| calls_function(&text, &row.schema, &row.name);
        for table in self.catalog.schema.tables() {
            let definition = &table.definition;
            let checks = definition.checks.iter();
            let checks = checks.map(|check| (check.name.clone(), check.condition.to_string()));
            let defaults = definition.columns.iter().filter_map(|column| column.default.as_ref());
            let defaults = defaults.map(|(name, value)| (name.clone(), value.to_string()));
            let computed = definition.columns.iter().filter_map(|column| column.computed.as_ref());
            let computed = computed.map(|(value, _)| (definition.name.clone(), value.to_string()));
            let mut texts = checks.chain(defaults).chain(computed);
            if let Some((object, _)) = texts.find(|(_, text)| calls(text.clone())) {
                let text = format!("Cannot {verb} '{written}' because it is being referenced by object '{object}'.");
                return Err(SqlError::new(3729, Ends::Statement, text));
            }
        }
        Ok(())
    }

    /// 443: no function may draw numbers.
    fn check_volatile(&self, statement: &Statement) -> Result<(), SqlError> {
        let tree = parsed(statement.position.text(self.source))?;
        let is_volatile = |name: &&ast::Name| ["NEWID", "RAND", "NEWSEQUENTIALID"].iter().any(|word| name.is(word));
        match tree.functions.iter().find(is_volatile) {
            Some(name) => Err(SqlError::side_effect(&name.text.to_ascii_lowercase())),
            None => Ok(()),
        }
    }

    /// Binds an inline function once, as queries will see it.
    fn check_inline(&self, made: UserFunction, tree: &Function) -> Result<(), SqlError> {
        let (schema, name) = (made.schema.clone(), made.name.clone());
        // The names of its text are looked up in its schema.
        let catalog = SessionCatalog {
            default_schema: Arc::from(schema.as_str()),
            ..self.catalog.clone()
        };
        let tables = parameter_tables(&made.parameters)?;
        let columns = match &made.result {
            FunctionResult::Inline(select) => self.inline_columns(&catalog, select, (tree, &tables))?,
            FunctionResult::Scalar(_) | FunctionResult::Table { .. } => Vec::new(),
        };
        let mut seen: Vec<&str> = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            if column.is_empty() {
                return Err(refusal::view_column_unnamed(at + 1));
            }
            if seen.iter().any(|before| same_name(before, column)) {
                return Err(refusal::view_column_twice(column, &name));
            }
            seen.push(column);
        }
        let argument = |parameter: &FunctionParameter| match parameter.table {
            Some(_) => parameter.name.clone(),
            None => "NULL".to_owned(),
        };
        let arguments: Vec<String> = made.parameters.iter().map(argument).collect();
        let arguments = arguments.join(", ");
        let call = format!("SELECT * FROM {}.{}({arguments})", bracketed(&schema), bracketed(&name));
        let tree = parsed(&call)?;
        let select = tree
            .statements
            .first()
            .ok_or_else(|| SqlError::internal("a function"))?;
        let outside = WithView {
            catalog: &catalog,
            view: None,
            function: Some(Arc::new(made)),
            tables: tables.clone(),
        };
        let variables = Variables::default();
        let binding = Binding {
            catalog: &outside,
            variables: &variables,
        };
        binding.statement(select).map(drop)
    }

    /// The names of the columns of an inline function, whose parameters are variables for once.
    fn inline_columns(
        &self,
        catalog: &SessionCatalog,
        select: &ast::SelectStatement,
        (tree, tables): (&Function, &Vec<Arc<Table>>),
    ) -> Result<Vec<String>, SqlError> {
        let mut variables = Variables::default();
        let first = |mut errors: Vec<SqlError>| errors.pop().unwrap_or_else(|| SqlError::internal("a parameter"));
        for parameter in selenite_compiler::program::Program::parameters_of(&tree.parameters).map_err(first)? {
            if parameter.table.is_none() {
                variables.declare(&parameter.name, parameter.data_type)?;
            }
        }
        let inside = WithView {
            catalog,
            view: None,
            function: None,
            tables: tables.clone(),
        };
        let binding = Binding {
            catalog: &inside,
            variables: &variables,
        };
        let statement = Statement {
            kind: ast::StatementKind::Select(Box::new(select.clone())),
            position: tree.name.position,
        };
        let bound = binding.statement(&statement)?;
        Ok(bound.columns().iter().map(|column| column.name.clone()).collect())
    }
}

/// The tables of table-valued parameters, which SQLite does not have.
fn parameter_tables(parameters: &[FunctionParameter]) -> Result<Vec<Arc<Table>>, SqlError> {
    let mut tables = Vec::new();
    for parameter in parameters {
        let Some(table_type) = &parameter.table else { continue };
        let declared = parameter_table(&parameter.name, table_type);
        let mut table = described_table(declared.name, declared.elements)?;
        table.table_type = declared.table_type;
        tables.push(Arc::new(table));
    }
    Ok(tables)
}

/// Refuses options that are not supported, by name.
fn check_options(function: &Function) -> Result<(), SqlError> {
    if !matches!(function.execute_as, None | Some(ModuleContext::Caller)) {
        return Err(SqlError::unsupported("WITH EXECUTE AS of a function"));
    }
    const KNOWN: [&str; 5] = [
        "SCHEMABINDING",
        "RETURNS NULL ON NULL INPUT",
        "CALLED ON NULL INPUT",
        "INLINE = ON",
        "INLINE = OFF",
    ];
    match function.options.iter().find(|option| !KNOWN.contains(&option.as_str())) {
        Some(option) => Err(SqlError::unsupported(&format!("WITH {option} of a function"))),
        None => Ok(()),
    }
}

/// Whether a printed text calls a function: a call in a literal counts, too.
fn calls_function(text: &str, schema: &str, name: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['[', ']'], "");
    let (text, called) = (plain(text), plain(&format!("{schema}.{name}")));
    text.match_indices(&called).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text.get(at + found.len()..).unwrap_or_default();
        let is_in_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '@' | '#' | '$');
        !before.is_some_and(is_in_word) && behind.trim_start().starts_with('(')
    })
}

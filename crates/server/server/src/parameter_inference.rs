//! The types of parameters that a text uses and does not declare: the answer of sp_describe_undeclared_parameters.
//!
//! - `documented-rules`: the rules are those that SQL Server documents. A parameter that is
//!   compared, assigned, inserted or cast by itself has the other side's type; any other parameter
//!   has the type, of a short list, that leads to the fewest implicit conversions.
//! - `binder-decides-types`: the binder decides an expression's type: the expression becomes a
//!   query's only column, over the sources that are visible to it.
//! - `never-a-guess`: what the rules do not settle is SQL Server's error, never a guess.

mod candidate;
mod fault;
mod positions;
mod search;

use positions::{InferredParameter, ParameterPosition, Scope};
use selenite_compiler::catalog::Catalog;
use selenite_compiler::program::{Parameter, Program};
use selenite_compiler::statement::Binding;
use selenite_compiler::{SqlError, Variables};
use selenite_tsql::ast::{
    Expr, ExprKind, Name, ObjectName, Position, Query, QueryBody, Select, SelectItem, SelectStatement, Statement,
    StatementKind, Tree,
};
use selenite_tsql::{Options, parse};
use selenite_types::DataType;

use crate::compile::{ProgramKey, compile};
use crate::memory;

/// A parameter that a text uses without declaring it.
#[derive(Clone, PartialEq, Debug)]
pub struct Inferred {
    /// Its name, as it was written first.
    pub name: String,
    /// The type that it should have.
    pub data_type: DataType,
    /// Whether its value is used.
    pub is_input: bool,
    /// Whether it is assigned a value.
    pub is_output: bool,
    /// The procedure's parameter whose argument it is.
    pub formal: Option<String>,
}

/// The context in which a text is read.
pub struct InferenceContext<'a> {
    /// The catalog of tables.
    pub catalog: &'a dyn Catalog,
    /// The catalog of procedures' parameters.
    pub procedures: &'a dyn Fn(&ObjectName) -> Option<Vec<Parameter>>,
}

/// The parameters that a text uses and does not declare, in the order of the text.
///
/// # Errors
/// What is wrong with the text; 11502, 11503, 11506, 11507, 11508 for what can't be inferred.
pub fn undeclared(text: &str, parameters: &str, around: &InferenceContext<'_>) -> Result<Vec<Inferred>, SqlError> {
    let declared = compiled("", parameters)?;
    let Ok(tree) = parse(text, Options::default()) else {
        // It reports what is wrong with the text.
        compiled(text, parameters)?;
        return Err(SqlError::internal("a text that is none"));
    };
    let search::Searched { found, declared } = search::search(&tree, declared.parameters(), around)?;
    let mut parameters = parameters.to_owned();
    for found in &found {
        let between = if parameters.trim().is_empty() { "" } else { "\n," };
        parameters.push_str(&format!("{between}{} nvarchar(4000)", found.name));
    }
    let program = compiled(text, &parameters)?;
    let names = declared.iter().chain(found.iter().map(|found| &found.name));
    let declared = names.filter_map(|name| {
        let variable = program.variables().find(name).ok()?;
        Some((name.clone(), variable.data_type))
    });
    let mut inference = Inference {
        catalog: around.catalog,
        declared: declared.collect(),
        known: Vec::new(),
    };
    for found in &found {
        let data_type = inference
            .data_type(found)
            .map_err(|error| error.on_line(found.position.line))?;
        inference.known.push((found.name.clone(), data_type));
    }
    inference.check(&tree)?;
    let mut deduced: Vec<(InferredParameter, DataType)> = found
        .into_iter()
        .zip(inference.known.into_iter().map(|(_, data_type)| data_type))
        .collect();
    deduced.sort_by_key(|(found, _)| found.position.start);
    let deduced = deduced.into_iter().map(|(found, data_type)| Inferred {
        name: found.name,
        data_type,
        is_input: found.is_input,
        is_output: found.is_output,
        formal: found.formal,
    });
    Ok(deduced.collect())
}

fn compiled(text: &str, parameters: &str) -> Result<Program, SqlError> {
    let key = ProgramKey {
        text: text.into(),
        parameters: parameters.into(),
        quoted_identifier: true,
        is_cursor: false,
    };
    compile(&key, &|| memory::reserve(0).is_ok()).map_err(|mut errors| match errors.is_empty() {
        true => SqlError::internal("a text without program or error"),
        false => errors.swap_remove(0),
    })
}

/// What is known so far.
pub(crate) struct Inference<'a> {
    catalog: &'a dyn Catalog,
    /// All variables; one that is not declared is text, which is converted to most other types implicitly.
    declared: Vec<(String, DataType)>,
    /// The undeclared ones, once they are inferred.
    known: Vec<(String, DataType)>,
}

impl Inference<'_> {
    fn data_type(&self, found: &InferredParameter) -> Result<DataType, SqlError> {
        match &found.place {
            ParameterPosition::Nowhere => Err(fault::no_context(&found.name)),
            ParameterPosition::Set(value) => self.type_of(value, &found.scope, None),
            ParameterPosition::Part {
                whole,
                target,
                is_ordered,
            } => {
                let target = match target {
                    None => None,
                    Some(positions::Target::Type(data_type)) => Some(*data_type),
                    Some(positions::Target::Expr(expr)) => Some(self.type_of(expr, &found.scope, None)?),
                };
                match target {
                    Some(target) if !is_ordered && matches!(whole.kind, ExprKind::Variable(_)) => Ok(target),
                    target => self.best(&found.name, whole, target, &found.scope),
                }
            }
        }
    }

    /// `binder-decides-types`: `trial` is a parameter and the type that it is assumed to have.
    fn type_of(&self, expr: &Expr, scope: &Scope, trial: Option<(&str, DataType)>) -> Result<DataType, SqlError> {
        let mut value = expr.clone();
        let mut query = None;
        let alone = [Vec::new().into()];
        let froms = if scope.froms.is_empty() {
            &alone[..]
        } else {
            &scope.froms
        };
        for from in froms.iter().rev() {
            if let Some(inner) = query.take() {
                value = Expr {
                    kind: ExprKind::Subquery(Box::new(inner)),
                    position: expr.position,
                };
            }
            query = Some(one_column(value.clone(), from.to_vec(), expr.position));
        }
        let query = query.ok_or_else(|| SqlError::internal("a query of no sources"))?;
        let select = SelectStatement {
            with: (*scope.with).clone(),
            query,
            options: Vec::new(),
        };
        let statement = Statement {
            kind: StatementKind::Select(Box::new(select)),
            position: expr.position,
        };
        let variables = self.variables(trial);
        let binding = Binding {
            catalog: self.catalog,
            variables: &variables,
        };
        let bound = binding.statement(&statement)?;
        let column = bound.columns().first();
        column
            .map(|column| column.data_type)
            .ok_or_else(|| SqlError::internal("a query of one column"))
    }

    /// All variables, as far as they are known.
    fn variables(&self, trial: Option<(&str, DataType)>) -> Variables {
        let mut variables = Variables::new();
        let trial = trial.map(|(name, data_type)| (name.to_owned(), data_type));
        for (name, data_type) in trial.iter().chain(&self.known).chain(&self.declared) {
            // If there is one of the same name already, that one is meant.
            let _ = variables.declare(name, *data_type);
        }
        variables
    }

    /// What is wrong with the statements on tables, once the types are known.
    fn check(&self, tree: &Tree) -> Result<(), SqlError> {
        if self.known.is_empty() {
            return Ok(());
        }
        let variables = self.variables(None);
        let binding = Binding {
            catalog: self.catalog,
            variables: &variables,
        };
        let on_tables = tree.statements.iter().filter(|statement| {
            matches!(
                statement.kind,
                StatementKind::Select(_)
                    | StatementKind::Insert(_)
                    | StatementKind::Update(_)
                    | StatementKind::Delete(_)
                    | StatementKind::Merge(_)
            )
        });
        for statement in on_tables {
            binding.statement(statement)?;
        }
        Ok(())
    }
}

/// `SELECT value AS v FROM from`.
fn one_column(value: Expr, from: Vec<selenite_tsql::ast::TableSource>, position: Position) -> Query {
    let alias = Name {
        text: "v".to_owned(),
        quoted: true,
        position,
    };
    let select = Select {
        distinct: false,
        top: None,
        items: vec![SelectItem::Value {
            value,
            alias: Some(alias),
        }],
        into: None,
        from,
        filter: None,
        group_by: Vec::new(),
        having: None,
        windows: Vec::new(),
        position,
    };
    Query {
        body: QueryBody::Select(Box::new(select)),
        order_by: Vec::new(),
        offset: None,
        for_clause: None,
        position,
    }
}

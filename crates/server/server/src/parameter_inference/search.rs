//! Where a text uses parameters that it does not declare: the walk over its statements.

mod expression;

use std::collections::HashSet;
use std::rc::Rc;

pub(super) use expression::untyped;
use selenite_compiler::catalog::{Relation, Table};
use selenite_compiler::program::Parameter;
use selenite_compiler::statement::{Binding, Statement as Bound};
use selenite_compiler::{NameKey, SqlError, Variables, same_name};
use selenite_tds::PARAMETER_COUNT_MAX;
use selenite_tsql::ast::{
    Argument, ArgumentValue, Arguments, Assignment, AssignmentTarget, Call, ChangeTarget, Condition, Execute, Expr,
    ExprKind, GroupItem, Insert, InsertSource, Join, Merge, MergeAction, Name, ObjectName, OrderItem, Output, Position,
    ProcedureName, Query, QueryBody, Select, SelectItem, Statement, StatementKind, TableSource, TableSourceKind, Top,
    Tree, ValueOrDefault, With,
};
use selenite_types::DataType;

use super::positions::{InferredParameter, ParameterPosition, Scope};
use super::{InferenceContext, fault};
use crate::catalog::schema::parsed;

/// What a text uses and declares.
pub(crate) struct Searched {
    /// Its parameters, sources before what sees them.
    pub found: Vec<InferredParameter>,
    /// The names of all that is declared.
    pub declared: Vec<String>,
}

/// The parameters that a text uses and does not declare.
///
/// # Errors
/// 11503, 11508; whatever is wrong with the tables that are written to.
pub(crate) fn search(
    tree: &Tree,
    parameters: &[Parameter],
    around: &InferenceContext<'_>,
) -> Result<Searched, SqlError> {
    let mut search = Search {
        around,
        declared: parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        found: Vec::new(),
        names: HashSet::new(),
        scope: Scope::default(),
    };
    search.declare(&tree.statements);
    search.statements(&tree.statements)?;
    Ok(Searched {
        found: search.found,
        declared: search.declared,
    })
}

pub(crate) struct Search<'a> {
    around: &'a InferenceContext<'a>,
    declared: Vec<String>,
    found: Vec<InferredParameter>,
    /// Of those that were found.
    names: HashSet<NameKey>,
    scope: Scope,
}

/// What an item of a query's list becomes: the columns that it is inserted into, in order.
type Columns<'a> = Option<&'a [DataType]>;

impl Search<'_> {
    /// A variable is known in the whole text, as far as this is about.
    fn declare(&mut self, statements: &[Statement]) {
        for statement in statements {
            if let StatementKind::Declare(declarations) = &statement.kind {
                let names = declarations.iter().map(|declaration| declaration.name.clone());
                self.declared.extend(names);
            } else if let StatementKind::Block(inner) = &statement.kind {
                self.declare(inner);
            } else if let StatementKind::If(inner) = &statement.kind {
                self.declare(std::slice::from_ref(&inner.then));
                self.declare(inner.otherwise.as_slice());
            } else if let StatementKind::While(inner) = &statement.kind {
                self.declare(std::slice::from_ref(&inner.body));
            } else if let StatementKind::Try(inner) = &statement.kind {
                self.declare(&inner.body);
                self.declare(&inner.handler);
            }
        }
    }

    fn statements(&mut self, statements: &[Statement]) -> Result<(), SqlError> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    /// A statement without a branch here is checked by the compiler, which reports what it misses.
    fn statement(&mut self, statement: &Statement) -> Result<(), SqlError> {
        let kind = &statement.kind;
        if let StatementKind::Block(inner) = kind {
            self.statements(inner)
        } else if let StatementKind::If(inner) = kind {
            self.condition(&inner.condition)?;
            self.statement(&inner.then)?;
            self.statements(inner.otherwise.as_slice())
        } else if let StatementKind::While(inner) = kind {
            self.condition(&inner.condition)?;
            self.statement(&inner.body)
        } else if let StatementKind::Try(inner) = kind {
            self.statements(&inner.body)?;
            self.statements(&inner.handler)
        } else if let StatementKind::Declare(declarations) = kind {
            let initial = declarations
                .iter()
                .filter_map(|one| Some((&one.name, one.initial.as_ref()?)));
            for (name, value) in initial {
                self.assigned(name, value, statement.position)?;
            }
            Ok(())
        } else if let StatementKind::SetVariable(set) = kind {
            self.assigned(&set.variable, &set.value, statement.position)
        } else if let StatementKind::Execute(execute) = kind {
            self.execute(execute)
        } else if let StatementKind::Print(value) = kind {
            self.expr(value, &ParameterPosition::alone(value))
        } else {
            self.on_tables(kind)
        }
    }

    fn on_tables(&mut self, kind: &StatementKind) -> Result<(), SqlError> {
        if let StatementKind::Select(select) = kind {
            self.with(&select.with)?;
            self.query(&select.query, None)?;
        } else if let StatementKind::Insert(insert) = kind {
            self.with(&insert.with)?;
            self.insert(insert)?;
        } else if let StatementKind::Update(update) = kind {
            self.with(&update.with)?;
            self.change(&update.target, &update.from)?;
            self.top(update.top.as_ref())?;
            for assignment in &update.assignments {
                self.assignment(assignment)?;
            }
            self.output(&update.output)?;
            self.filter(update.filter.as_ref())?;
        } else if let StatementKind::Delete(delete) = kind {
            self.with(&delete.with)?;
            self.change(&delete.target, &delete.from)?;
            self.top(delete.top.as_ref())?;
            self.output(&delete.output)?;
            self.filter(delete.filter.as_ref())?;
        } else if let StatementKind::Merge(merge) = kind {
            self.with(&merge.with)?;
            self.merge(merge)?;
        }
        self.scope = Scope::default();
        Ok(())
    }

    fn merge(&mut self, merge: &Merge) -> Result<(), SqlError> {
        self.change_as(&merge.target, merge.alias.as_ref(), std::slice::from_ref(&merge.source))?;
        self.top(merge.top.as_ref())?;
        self.condition(&merge.on)?;
        for clause in &merge.clauses {
            self.filter(clause.filter.as_ref())?;
            match &clause.action {
                MergeAction::Update(assignments) => {
                    for assignment in assignments {
                        self.assignment(assignment)?;
                    }
                }
                MergeAction::Delete => {}
                MergeAction::Insert { columns, values } => {
                    let columns = self.columns(&Insert {
                        with: merge.with.clone(),
                        top: None,
                        target: merge.target.clone(),
                        hints: Vec::new(),
                        columns: columns.clone(),
                        output: Vec::new(),
                        source: InsertSource::DefaultValues,
                        options: Vec::new(),
                    })?;
                    self.values(values.as_deref().unwrap_or(&[]), &columns)?;
                }
            }
        }
        self.output(&merge.output)
    }

    fn with(&mut self, with: &With) -> Result<(), SqlError> {
        self.scope = Scope {
            with: Rc::new(with.clone()),
            froms: Vec::new(),
        };
        with.tables
            .iter()
            .try_for_each(|common| self.query(&common.query, None))
    }

    fn filter(&mut self, filter: Option<&Condition>) -> Result<(), SqlError> {
        filter.map_or(Ok(()), |filter| self.condition(filter))
    }

    fn insert(&mut self, insert: &Insert) -> Result<(), SqlError> {
        self.top(insert.top.as_ref())?;
        let columns = self.columns(insert)?;
        match &insert.source {
            InsertSource::Values(rows) => {
                for row in rows {
                    self.values(row, &columns)?;
                }
            }
            InsertSource::Query(query) => self.query(query, Some(&columns))?,
            InsertSource::Execute(execute) => self.execute(execute)?,
            InsertSource::DefaultValues | InsertSource::Bulk(_) => {}
        }
        self.output(&insert.output)
    }

    /// Values for columns of these types.
    fn values(&mut self, row: &[ValueOrDefault], columns: &[DataType]) -> Result<(), SqlError> {
        for (at, value) in row.iter().enumerate() {
            if let ValueOrDefault::Value(value) = value {
                let place = columns
                    .get(at)
                    .map(|data_type| ParameterPosition::of_type(value, *data_type));
                self.expr(value, &place.unwrap_or_else(|| ParameterPosition::alone(value)))?;
            }
        }
        Ok(())
    }

    /// The types of the columns that an INSERT fills.
    fn columns(&self, insert: &Insert) -> Result<Vec<DataType>, SqlError> {
        let is_common = |name: &ObjectName| {
            let mut commons = insert.with.tables.iter();
            name.single()
                .is_some_and(|single| commons.any(|common| same_name(&common.name.text, &single.text)))
        };
        let table = match &insert.target {
            ChangeTarget::Table(name) if is_common(name) => None,
            ChangeTarget::Table(_) | ChangeTarget::Variable { .. } => self.table(&insert.target)?,
        };
        let Some(table) = table else {
            return Ok(self.types_behind(insert));
        };
        if insert.columns.is_empty() {
            let filled = table
                .columns
                .iter()
                .filter(|column| column.identity.is_none() && column.computed.is_none());
            return Ok(filled.map(|column| column.data_type).collect());
        }
        let named = insert.columns.iter().map(|name| {
            let mut columns = table.columns.iter();
            let found = columns.find(|column| same_name(&column.name, &name.text));
            found
                .map(|column| column.data_type)
                .ok_or_else(|| SqlError::unknown_column(&name.text))
        });
        named.collect()
    }

    /// Like [`Self::columns`], for a view or common table expression; empty if it can't be bound: the binder
    /// reports the error.
    fn types_behind(&self, insert: &Insert) -> Vec<DataType> {
        let Ok(mut tree) = parsed("INSERT t EXEC p") else {
            return Vec::new();
        };
        let Some(statement) = tree.statements.first_mut() else {
            return Vec::new();
        };
        if let StatementKind::Insert(rows) = &mut statement.kind {
            rows.with.clone_from(&insert.with);
            rows.target.clone_from(&insert.target);
            rows.columns.clone_from(&insert.columns);
        }
        let variables = Variables::default();
        let binding = Binding {
            catalog: self.around.catalog,
            variables: &variables,
        };
        match binding.statement(statement) {
            Ok(Bound::Insert(bound)) => bound.filled_types(),
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    fn table(&self, target: &ChangeTarget) -> Result<Option<Rc<Table>>, SqlError> {
        let catalog = self.around.catalog;
        let table = match target {
            ChangeTarget::Table(name) => match catalog.relation(name)? {
                Some(Relation::Table(table)) => Some(table),
                Some(Relation::View(_) | Relation::System(_)) | None => None,
            },
            ChangeTarget::Variable { name, .. } => catalog.table_variable(name)?,
        };
        Ok(table.map(|table| Rc::new(Table::clone(&table))))
    }

    /// The sources of an UPDATE or DELETE: its FROM, and its target if that is not among them.
    fn change(&mut self, target: &ChangeTarget, from: &[TableSource]) -> Result<(), SqlError> {
        self.change_as(target, None, from)
    }

    /// As [`Self::change`], with the target's alias.
    fn change_as(&mut self, target: &ChangeTarget, alias: Option<&Name>, from: &[TableSource]) -> Result<(), SqlError> {
        let alias = alias.cloned();
        let is_aliased = alias.is_some();
        let (own, kind) = match target {
            ChangeTarget::Table(name) => (
                name.name.text.as_str(),
                TableSourceKind::Table {
                    name: name.clone(),
                    alias: alias.clone(),
                    hints: Vec::new(),
                },
            ),
            ChangeTarget::Variable { name, .. } => (
                name.as_str(),
                TableSourceKind::Variable {
                    name: name.clone(),
                    alias: alias.clone(),
                    hints: Vec::new(),
                },
            ),
        };
        let mut sources = from.to_vec();
        if is_aliased || !from.iter().any(|source| is_among(own, source)) {
            let position = Position::default();
            sources.insert(0, TableSource { kind, position });
        }
        self.scope.froms.push(sources.into());
        from.iter().try_for_each(|source| self.source(source))
    }

    fn assignment(&mut self, assignment: &Assignment) -> Result<(), SqlError> {
        let ValueOrDefault::Value(value) = &assignment.value else {
            return Ok(());
        };
        match &assignment.target {
            AssignmentTarget::Column(column) | AssignmentTarget::VariableAndColumn(_, column) => {
                let target = Expr {
                    kind: ExprKind::Column(Box::new(column.clone())),
                    position: assignment.position,
                };
                if let AssignmentTarget::VariableAndColumn(name, _) = &assignment.target {
                    self.set(name, &target, assignment.position)?;
                }
                self.expr(value, &ParameterPosition::beside(value, &target, false))
            }
            AssignmentTarget::Variable(name) => self.assigned(name, value, assignment.position),
        }
    }

    /// `@v = value`.
    fn assigned(&mut self, name: &str, value: &Expr, position: Position) -> Result<(), SqlError> {
        if self.is_undeclared(name) {
            if let Some(other) = untyped(value, &|name| self.is_undeclared(name)) {
                return Err(fault::two_untyped(name, other));
            }
            self.set(name, value, position)?;
            return self.expr(value, &ParameterPosition::alone(value));
        }
        let target = Expr {
            kind: ExprKind::Variable(name.to_owned()),
            position,
        };
        self.expr(value, &ParameterPosition::beside(value, &target, false))
    }

    /// A parameter that is given a value.
    fn set(&mut self, name: &str, value: &Expr, position: Position) -> Result<(), SqlError> {
        let place = ParameterPosition::Set(Rc::new(value.clone()));
        self.note(name, position, &place, (false, true), None)
    }

    fn output(&mut self, output: &[Output]) -> Result<(), SqlError> {
        for item in output.iter().flat_map(|output| &output.items) {
            if let SelectItem::Value { value, .. } | SelectItem::Assign { value, .. } = item {
                self.expr(value, &ParameterPosition::Nowhere)?;
            }
        }
        Ok(())
    }

    fn top(&mut self, top: Option<&Top>) -> Result<(), SqlError> {
        let Some(top) = top else { return Ok(()) };
        let data_type = if top.percent { DataType::Float } else { DataType::BigInt };
        self.expr(&top.count, &ParameterPosition::of_type(&top.count, data_type))
    }

    pub(crate) fn query(&mut self, query: &Query, columns: Columns<'_>) -> Result<(), SqlError> {
        self.body(&query.body, columns, &query.order_by)?;
        let Some(offset) = &query.offset else { return Ok(()) };
        for count in std::iter::once(&offset.skip).chain(&offset.fetch) {
            self.expr(count, &ParameterPosition::of_type(count, DataType::BigInt))?;
        }
        Ok(())
    }

    fn body(&mut self, body: &QueryBody, columns: Columns<'_>, order: &[OrderItem]) -> Result<(), SqlError> {
        match body {
            QueryBody::Select(select) => {
                self.scope.froms.push(select.from.as_slice().into());
                self.select(select, columns)?;
                order
                    .iter()
                    .try_for_each(|item| self.expr(&item.value, &ParameterPosition::alone(&item.value)))?;
                self.scope.froms.pop();
                Ok(())
            }
            QueryBody::Combined(combination) => {
                self.body(&combination.first, columns, &[])?;
                combination
                    .rest
                    .iter()
                    .try_for_each(|term| self.body(&term.body, columns, &[]))
            }
            QueryBody::Nested(query) => self.query(query, columns),
        }
    }

    fn select(&mut self, select: &Select, columns: Columns<'_>) -> Result<(), SqlError> {
        select.from.iter().try_for_each(|source| self.source(source))?;
        self.top(select.top.as_ref())?;
        for (at, item) in select.items.iter().enumerate() {
            match item {
                SelectItem::Star { .. } => {}
                SelectItem::Value { value, .. } => {
                    let column = columns.and_then(|columns| columns.get(at));
                    let place = column.map(|data_type| ParameterPosition::of_type(value, *data_type));
                    self.expr(value, &place.unwrap_or_else(|| ParameterPosition::alone(value)))?;
                }
                SelectItem::Assign {
                    variable,
                    value,
                    position,
                    ..
                } => self.assigned(variable, value, *position)?,
            }
        }
        self.filter(select.filter.as_ref())?;
        for item in &select.group_by {
            self.group(item)?;
        }
        self.filter(select.having.as_ref())
    }

    fn group(&mut self, item: &GroupItem) -> Result<(), SqlError> {
        match item {
            GroupItem::Value(group) => self.expr(group, &ParameterPosition::alone(group)),
            GroupItem::Tuple(groups) => groups
                .iter()
                .try_for_each(|group| self.expr(group, &ParameterPosition::alone(group))),
            GroupItem::Rollup(items) | GroupItem::Cube(items) | GroupItem::Sets(items) => {
                items.iter().try_for_each(|item| self.group(item))
            }
        }
    }

    fn source(&mut self, source: &TableSource) -> Result<(), SqlError> {
        match &source.kind {
            TableSourceKind::Table { .. } | TableSourceKind::Variable { .. } | TableSourceKind::BulkFile { .. } => {
                Ok(())
            }
            TableSourceKind::Function { call, .. } => {
                let function = self.around.catalog.function(&call.name)?;
                let (Arguments::List(arguments) | Arguments::Distinct(arguments)) = &call.arguments else {
                    return Ok(());
                };
                for (at, argument) in arguments.iter().enumerate() {
                    let wanted = function.as_ref().and_then(|function| function.arguments.get(at));
                    let place = wanted.map_or(ParameterPosition::Nowhere, |wanted| {
                        ParameterPosition::of_type(argument, *wanted)
                    });
                    self.expr(argument, &place)?;
                }
                Ok(())
            }
            TableSourceKind::Derived { query, .. } => self.query(query, None),
            TableSourceKind::Values { rows, .. } => {
                let mut values = rows.iter().flatten();
                values.try_for_each(|value| self.expr(value, &ParameterPosition::alone(value)))
            }
            TableSourceKind::Pivot(pivot) => self.source(&pivot.source),
            TableSourceKind::Unpivot(unpivot) => self.source(&unpivot.source),
            TableSourceKind::Join(join) => {
                let Join { left, right, on, .. } = &**join;
                self.source(left)?;
                self.source(right)?;
                self.filter(on.as_ref())
            }
        }
    }

    fn execute(&mut self, execute: &Execute) -> Result<(), SqlError> {
        match execute {
            Execute::Text(text, _) => self.expr(text, &ParameterPosition::Nowhere),
            Execute::Procedure(call) => self.call(call),
        }
    }

    /// The arguments of a procedure, and the variable that takes its status.
    fn call(&mut self, call: &Call) -> Result<(), SqlError> {
        let parameters = match &call.procedure {
            ProcedureName::Name(name) => (self.around.procedures)(name).unwrap_or_default(),
            ProcedureName::Variable(_) => Vec::new(),
        };
        if let Some(status) = &call.status
            && self.is_undeclared(status)
        {
            let status_value = Expr {
                kind: ExprKind::Literal(selenite_tsql::ast::Literal::Integer("0".to_owned())),
                position: Position::default(),
            };
            self.set(status, &status_value, Position::default())?;
        }
        for (at, argument) in call.arguments.iter().enumerate() {
            self.argument(at, argument, &parameters)?;
        }
        Ok(())
    }

    fn argument(&mut self, at: usize, argument: &Argument, parameters: &[Parameter]) -> Result<(), SqlError> {
        let ArgumentValue::Value(value) = &argument.value else {
            return Ok(());
        };
        let formal = match &argument.name {
            Some(name) => parameters.iter().find(|parameter| same_name(&parameter.name, name)),
            None => parameters.get(at),
        };
        let place = formal.map_or(ParameterPosition::Nowhere, |formal| {
            ParameterPosition::of_type(value, formal.data_type)
        });
        let ExprKind::Variable(name) = &value.kind else {
            return self.expr(value, &place);
        };
        let formal = formal.map(|formal| formal.name.clone());
        self.note(name, value.position, &place, (true, argument.output), formal)
    }

    pub(crate) fn is_undeclared(&self, name: &str) -> bool {
        !self.declared.iter().any(|declared| same_name(declared, name))
    }

    /// Notes a parameter that is not declared: whether its value is used, and whether it is given one.
    pub(crate) fn note(
        &mut self,
        name: &str,
        position: Position,
        place: &ParameterPosition,
        (is_input, is_output): (bool, bool),
        formal: Option<String>,
    ) -> Result<(), SqlError> {
        if !self.is_undeclared(name) {
            return Ok(());
        }
        if !self.names.insert(NameKey::new(name)) {
            return Err(fault::used_twice(name).on_line(position.line));
        }
        if self.found.len() >= PARAMETER_COUNT_MAX {
            let what = format!("Describing more than {PARAMETER_COUNT_MAX} parameters");
            return Err(SqlError::unsupported(&what).on_line(position.line));
        }
        self.found.push(InferredParameter {
            name: name.to_owned(),
            position,
            place: place.clone(),
            scope: self.scope.clone(),
            is_input,
            is_output,
            formal,
        });
        Ok(())
    }
}

/// Whether a name is that of one of the tables.
fn is_among(name: &str, source: &TableSource) -> bool {
    match &source.kind {
        TableSourceKind::Table { name: own, alias, .. } => {
            same_name(alias.as_ref().map_or(&own.name.text, |alias| &alias.text), name)
        }
        TableSourceKind::Variable { name: own, alias, .. } => {
            same_name(alias.as_ref().map_or(own, |alias| &alias.text), name)
        }
        TableSourceKind::Function { .. }
        | TableSourceKind::BulkFile { .. }
        | TableSourceKind::Derived { .. }
        | TableSourceKind::Values { .. } => false,
        TableSourceKind::Pivot(pivot) => is_among(name, &pivot.source),
        TableSourceKind::Unpivot(unpivot) => is_among(name, &unpivot.source),
        TableSourceKind::Join(join) => is_among(name, &join.left) || is_among(name, &join.right),
    }
}

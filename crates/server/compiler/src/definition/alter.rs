//! ALTER TABLE: the new definition, and the steps that migrate the rows.

use std::sync::Arc;

use selenite_tsql::ast::{
    self, AlterTableAction, Condition, ConstraintChange, ConstraintKind, DropElement, Expr, TableElement,
};
use selenite_types::{DataType, DeclarationContext};

use super::column::{alias_name, is_nullable_type};
use super::constraint::Naming;
use super::sqlite::quoted;
use super::words::words;
use super::{ColumnDefinition, IndexDefinition, TableDefinition};
use crate::functions::sequential_default;
use crate::{SqlError, declared_type, same_name};

/// The result of ALTER TABLE.
#[derive(Clone, PartialEq, Debug)]
pub struct Alteration {
    /// The new definition.
    pub definition: TableDefinition,
    /// The steps, in order and in one transaction.
    pub steps: Vec<Step>,
}

/// A step of ALTER TABLE.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A statement of SQLite's.
    Sql(String),
    /// Checks that no existing row violates this CHECK constraint: 547 with its name.
    CheckRows {
        /// The constraint's name.
        name: String,
        /// The condition, which must not be false.
        condition: Arc<Condition>,
    },
    /// Checks that no existing row has NULL in this column: 515.
    CheckNoNull(String),
    /// Fills this new column with its default in existing rows.
    Fill(String),
    /// Checks that the table is empty, for a new NOT NULL column without a default (4901).
    CheckEmpty {
        /// The column.
        column: String,
    },
    /// Recreates the table.
    Rebuild(Rebuild),
}

/// A table to recreate, since SQLite can't change it in place: its rows are copied, the old table is dropped, and its
/// indexes are created again. Foreign keys must be off meanwhile.
#[derive(Clone, PartialEq, Debug)]
pub struct Rebuild {
    /// The source of each column of the new table, except computed ones.
    pub columns: Vec<(String, ColumnSource)>,
}

/// The source of a column of a recreated table.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnSource {
    /// An old column.
    Same(String),
    /// An old column, converted.
    Converted {
        /// The old column.
        from: String,
        /// The old column's type.
        old: DataType,
        /// The new column's type.
        new: DataType,
    },
    /// A value.
    Value(Arc<Expr>),
    /// NULL.
    Null,
    /// IDENTITY numbers, in the order of the rows.
    Numbered,
    /// New values of a rowversion, or of NEWSEQUENTIALID.
    Generated,
}

impl ColumnSource {
    /// The values of a default: NEWSEQUENTIALID may not be called in a query.
    fn of_default(value: Arc<Expr>) -> Self {
        match sequential_default(&value) {
            Ok(Some(_)) => Self::Generated,
            Ok(None) | Err(_) => Self::Value(value),
        }
    }
}

impl TableDefinition {
    /// The result of an ALTER TABLE. `salt` as in [`TableDefinition::read`]. The caller resolves foreign keys that are
    /// added.
    ///
    /// # Errors
    /// Any error of the statement, as SQL Server reports it; 40510 for unsupported forms.
    pub fn alter(&self, action: &AlterTableAction, salt: u64) -> Result<Alteration, SqlError> {
        let naming = Naming { salt };
        let mut altered = Alteration {
            definition: self.clone(),
            steps: Vec::new(),
        };
        altered.definition.indexes.clear();
        match action {
            AlterTableAction::Add { check, elements } => {
                for element in elements {
                    altered.add(element, (check.unwrap_or(true), &naming))?;
                }
                altered.definition.check_index_names()?;
            }
            AlterTableAction::Drop(elements) => {
                for element in elements {
                    altered.drop(element)?;
                }
            }
            AlterTableAction::AlterColumn(column) => altered.alter_column(column)?,
            AlterTableAction::Constraints(change) => altered.change_constraints(change)?,
            AlterTableAction::Triggers(_) | AlterTableAction::Rebuild(_) => {}
        }
        altered.merge_steps(self);
        Ok(altered)
    }
}

impl Alteration {
    /// Merges all steps into one, if the table is recreated.
    fn merge_steps(&mut self, old: &TableDefinition) {
        if !self.steps.iter().any(|step| matches!(step, Step::Rebuild(_))) {
            return;
        }
        let mut rebuild = Rebuild { columns: Vec::new() };
        for column in self
            .definition
            .columns
            .iter()
            .filter(|column| column.computed.is_none())
        {
            let given = self.steps.iter().rev().find_map(|step| match step {
                Step::Rebuild(rebuild) => rebuild.columns.iter().find(|(name, _)| same_name(name, &column.name)),
                Step::Sql(_)
                | Step::CheckRows { .. }
                | Step::CheckNoNull(_)
                | Step::Fill(_)
                | Step::CheckEmpty { .. } => None,
            });
            let copied = match (given, old.column(&column.name)) {
                (Some((_, copied)), _) => copied.clone(),
                (None, Some(known)) => ColumnSource::Same(known.name.clone()),
                (None, None) => ColumnSource::Null,
            };
            rebuild.columns.push((column.name.clone(), copied));
        }
        let filled: Vec<String> = self
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Fill(name) => Some(name.clone()),
                Step::Sql(_)
                | Step::CheckRows { .. }
                | Step::CheckNoNull(_)
                | Step::Rebuild(_)
                | Step::CheckEmpty { .. } => None,
            })
            .collect();
        for (name, copied) in &mut rebuild.columns {
            let default = self.definition.column(name).and_then(|column| column.default.clone());
            if let (true, Some((_, value))) = (filled.contains(name), default) {
                *copied = ColumnSource::of_default(value);
            }
        }
        self.steps
            .retain(|step| !matches!(step, Step::Sql(_) | Step::Fill(_) | Step::Rebuild(_)));
        self.steps.push(Step::Rebuild(rebuild));
    }

    fn rebuild(&mut self, column: Option<(&str, ColumnSource)>) {
        let columns = column
            .map(|(name, copied)| (name.to_owned(), copied))
            .into_iter()
            .collect();
        self.steps.push(Step::Rebuild(Rebuild { columns }));
    }

    fn add(&mut self, element: &TableElement, (check, naming): (bool, &Naming)) -> Result<(), SqlError> {
        match element {
            TableElement::Column(column) => self.add_column(column, (check, naming)),
            TableElement::Constraint(constraint) => self.add_constraint(constraint, None, (check, naming)),
            TableElement::Index(index) => {
                let index = IndexDefinition::of_table(index, &[], &self.definition)?;
                self.steps
                    .extend(index.sqlite(&self.definition)?.into_iter().map(Step::Sql));
                self.definition.indexes.push(index);
                Ok(())
            }
        }
    }

    fn add_column(&mut self, column: &ast::ColumnDefinition, how: (bool, &Naming)) -> Result<(), SqlError> {
        self.definition.add_column(column)?;
        let name = column.name.text.as_str();
        for constraint in &column.constraints {
            self.add_constraint(constraint, Some(name), how)?;
        }
        if let Some(index) = &column.index {
            let index = IndexDefinition::of_table(index, &[(name.to_owned(), false)], &self.definition)?;
            self.definition.indexes.push(index);
        }
        let Some(added) = self.definition.column(name).cloned() else {
            return Err(SqlError::internal("a column that was added"));
        };
        let with_values = column
            .constraints
            .iter()
            .any(|constraint| matches!(constraint.kind, ConstraintKind::Default { with_values: true, .. }));
        if added.computed.is_some() {
            return Ok(());
        }
        if added.identity.is_some() {
            self.rebuild(Some((name, ColumnSource::Numbered)));
        } else if added.data_type == Some(DataType::RowVersion) {
            self.rebuild(Some((name, ColumnSource::Generated)));
        } else if !added.nullable {
            match &added.default {
                Some((_, value)) => self.rebuild(Some((name, ColumnSource::of_default(value.clone())))),
                None => {
                    let column = added.name.clone();
                    self.steps.push(Step::CheckEmpty { column });
                    self.rebuild(None);
                }
            }
        } else {
            let table = quoted(&self.definition.file_name());
            // This step is first: keys and checks of the statement may refer to the column.
            let sql = Step::Sql(format!("ALTER TABLE {table} ADD COLUMN {}", added.sqlite(None)));
            let mut steps = vec![sql];
            if with_values && added.default.is_some() {
                steps.push(Step::Fill(added.name.clone()));
            }
            self.steps.splice(0..0, steps);
        }
        Ok(())
    }

    fn add_constraint(
        &mut self,
        constraint: &ast::Constraint,
        column: Option<&str>,
        (check, naming): (bool, &Naming),
    ) -> Result<(), SqlError> {
        self.definition.add_constraint(constraint, column, naming, false)?;
        match &constraint.kind {
            ConstraintKind::PrimaryKey(_) | ConstraintKind::Unique(_) => {
                let added = self.definition.keys.last().cloned();
                let sql = added
                    .iter()
                    .flat_map(|key| self.definition.sqlite_key(key))
                    .map(Step::Sql);
                self.steps.extend(sql.collect::<Vec<_>>());
            }
            ConstraintKind::ForeignKey(_) => {
                if let (false, Some(added)) = (check, self.definition.foreign_keys.last_mut()) {
                    added.is_trusted = false;
                }
                self.rebuild(None);
            }
            ConstraintKind::Check { .. } => {
                if let (false, Some(added)) = (check, self.definition.checks.last_mut()) {
                    added.is_trusted = false;
                }
                if let (true, Some(added)) = (check, self.definition.checks.last()) {
                    self.steps.push(Step::CheckRows {
                        name: added.name.clone(),
                        condition: added.condition.clone(),
                    });
                }
            }
            ConstraintKind::Default { .. } => {}
        }
        Ok(())
    }

    fn drop(&mut self, element: &DropElement) -> Result<(), SqlError> {
        let name = element.name.text.as_str();
        if element.column {
            return self.drop_column(name, element.if_exists);
        }
        let table = &mut self.definition;
        if let Some(at) = table.keys.iter().position(|key| same_name(&key.name, name)) {
            let key = table.keys.remove(at);
            if key.is_in_table {
                self.rebuild(None);
            } else {
                let dropped = IndexDefinition::sqlite_drop(&self.definition.file_name(), &key.name);
                self.steps.extend(dropped.into_iter().map(Step::Sql));
            }
        } else if let Some(at) = table.foreign_keys.iter().position(|key| same_name(&key.name, name)) {
            table.foreign_keys.remove(at);
            self.rebuild(None);
        } else if let Some(at) = table.checks.iter().position(|check| same_name(&check.name, name)) {
            table.checks.remove(at);
        } else {
            let is_it = |column: &&mut ColumnDefinition| {
                column.default.as_ref().is_some_and(|(known, _)| same_name(known, name))
            };
            match table.columns.iter_mut().find(is_it) {
                Some(column) => column.default = None,
                None if element.if_exists => {}
                None => return Err(SqlError::no_such_constraint(name)),
            }
        }
        Ok(())
    }

    fn drop_column(&mut self, name: &str, if_exists: bool) -> Result<(), SqlError> {
        let table = &mut self.definition;
        let Some(at) = table.columns.iter().position(|column| same_name(&column.name, name)) else {
            return if if_exists {
                Ok(())
            } else {
                Err(SqlError::no_such_column("ALTER TABLE DROP COLUMN", name, &table.name))
            };
        };
        table.check_not_needed(name)?;
        let column = table.columns.remove(at);
        if table.columns.iter().all(|column| column.computed.is_some()) {
            return Err(SqlError::last_column(&column.name, &table.name));
        }
        if column.computed.is_none() {
            let (table, column) = (quoted(&table.file_name()), quoted(&column.name));
            self.steps
                .push(Step::Sql(format!("ALTER TABLE {table} DROP COLUMN {column}")));
        }
        Ok(())
    }

    fn alter_column(&mut self, change: &ast::AlterColumn) -> Result<(), SqlError> {
        let table = &mut self.definition;
        let (name, table_name) = (change.name.text.as_str(), table.name.clone());
        let place = DeclarationContext::Column { number: 1, name };
        let new = declared_type(&change.type_name, place)?;
        let Some(at) = table.columns.iter().position(|column| same_name(&column.name, name)) else {
            return Err(SqlError::no_such_column("ALTER TABLE ALTER COLUMN", name, &table_name));
        };
        if table.columns[at].computed.is_some() {
            let text = format!("Cannot alter column '{name}' because it is 'COMPUTED'.");
            // 4928: ALTER COLUMN of a computed column.
            return Err(SqlError::new(4928, crate::Ends::Batch, text));
        }
        let old = table.columns[at].data_type;
        let old_collation = table.columns[at].collation;
        if new == DataType::RowVersion {
            let text = format!("Cannot alter column '{name}' to be data type timestamp.");
            // 4927: ALTER COLUMN to a type that no column can be altered to.
            return Err(SqlError::new(4927, crate::Ends::Batch, text));
        }
        if old == Some(DataType::RowVersion) {
            let text = format!("Cannot alter column '{name}' because it is 'timestamp'.");
            return Err(SqlError::new(4928, crate::Ends::Batch, text));
        }
        if old != Some(new) {
            table.check_type_not_needed(name, old, new)?;
        }
        let column = &mut table.columns[at];
        let nullable = change
            .nullable
            .unwrap_or(column.identity.is_none() && is_nullable_type(&change.type_name));
        let is_stricter = column.nullable && !nullable;
        column.data_type = Some(new);
        column.user_type = alias_name(&change.type_name);
        column.nullable = nullable;
        column.collation = selenite_types::Collation::DEFAULT;
        if let Some(collation) = &change.collation {
            column.collate(collation)?;
        }
        let is_collated_otherwise = column.collation != old_collation;
        let name = column.name.clone();
        if is_collated_otherwise {
            table.check_order_not_needed(&name)?;
        }
        if is_stricter {
            self.steps.push(Step::CheckNoNull(name.clone()));
        }
        let copied = match old {
            Some(old) if old != new => ColumnSource::Converted {
                from: name.clone(),
                old,
                new,
            },
            Some(_) | None => ColumnSource::Same(name.clone()),
        };
        self.rebuild(Some((&name, copied)));
        Ok(())
    }

    fn change_constraints(&mut self, change: &ConstraintChange) -> Result<(), SqlError> {
        let table = &mut self.definition;
        for name in &change.names {
            let name = name.text.as_str();
            let is_known = table.checks.iter().any(|check| same_name(&check.name, name))
                || table.foreign_keys.iter().any(|key| same_name(&key.name, name));
            if !is_known {
                let text = format!("Constraint '{name}' does not exist.");
                // 4917: an unknown constraint.
                return Err(SqlError::new(4917, crate::Ends::Batch, text).with_state(0));
            }
        }
        let is_named =
            |own: &str| change.names.is_empty() || change.names.iter().any(|name| same_name(&name.text, own));
        let checks_rows = change.enable && change.check == Some(true);
        for check in table.checks.iter_mut().filter(|check| is_named(&check.name)) {
            check.is_enabled = change.enable;
            check.is_trusted = checks_rows || change.enable && check.is_trusted;
            if checks_rows {
                self.steps.push(Step::CheckRows {
                    name: check.name.clone(),
                    condition: check.condition.clone(),
                });
            }
        }
        let mut is_rebuilt = false;
        for key in table.foreign_keys.iter_mut().filter(|key| is_named(&key.name)) {
            is_rebuilt |= key.is_enabled != change.enable || checks_rows && !key.is_trusted;
            key.is_enabled = change.enable;
            key.is_trusted = checks_rows || change.enable && key.is_trusted;
        }
        if is_rebuilt {
            self.rebuild(None);
        }
        Ok(())
    }
}

impl TableDefinition {
    /// 5074: a dropped column that another object depends on.
    fn check_not_needed(&self, column: &str) -> Result<(), SqlError> {
        let is_it = |name: &String| same_name(name, column);
        for key in &self.keys {
            if key.columns.iter().any(|(name, _)| is_it(name)) {
                return Err(SqlError::column_needed(&format!("object '{}'", key.name), column));
            }
        }
        if let Some(key) = self.foreign_keys.iter().find(|key| key.columns.iter().any(is_it)) {
            return Err(SqlError::column_needed(&format!("object '{}'", key.name), column));
        }
        if let Some((name, _)) = self.column(column).and_then(|column| column.default.as_ref()) {
            return Err(SqlError::column_needed(&format!("object '{name}'"), column));
        }
        self.check_not_checked(column)?;
        self.check_not_computed_from(column)
    }

    /// 5074: a column by whose order other things of the table are made.
    fn check_order_not_needed(&self, column: &str) -> Result<(), SqlError> {
        self.check_not_checked(column)?;
        self.check_not_computed_from(column)?;
        self.check_not_of_key(column)
    }

    /// 5074: a column with a CHECK constraint.
    fn check_not_checked(&self, column: &str) -> Result<(), SqlError> {
        for check in &self.checks {
            let is_own = check.column.as_ref().is_some_and(|name| same_name(name, column));
            if is_own || mentions(&check.condition.to_string(), column) {
                return Err(SqlError::column_needed(&format!("object '{}'", check.name), column));
            }
        }
        Ok(())
    }

    /// 5074: a column that a computed column depends on.
    fn check_not_computed_from(&self, column: &str) -> Result<(), SqlError> {
        // A column is not computed from itself: what its text calls so is something else.
        for other in self.columns.iter().filter(|other| !same_name(&other.name, column)) {
            if let Some((value, _)) = &other.computed
                && mentions(&value.to_string(), column)
            {
                return Err(SqlError::column_needed(&format!("column '{}'", other.name), column));
            }
        }
        Ok(())
    }

    /// 5074: the type of a column in a key or a CHECK constraint can change only in the length of text; a column that a
    /// computed column depends on keeps its type.
    fn check_type_not_needed(&self, column: &str, old: Option<DataType>, new: DataType) -> Result<(), SqlError> {
        let is_longer = matches!(
            (old, new),
            (
                Some(DataType::VarChar(_) | DataType::Utf8VarChar(_)),
                DataType::VarChar(_) | DataType::Utf8VarChar(_)
            ) | (Some(DataType::NVarChar(_)), DataType::NVarChar(_))
                | (Some(DataType::VarBinary(_)), DataType::VarBinary(_))
        );
        self.check_not_computed_from(column)?;
        if is_longer {
            return Ok(());
        }
        self.check_not_checked(column)?;
        self.check_not_of_key(column)
    }

    /// 5074: a column of a key or a foreign key.
    fn check_not_of_key(&self, column: &str) -> Result<(), SqlError> {
        let is_it = |name: &String| same_name(name, column);
        let keys = self
            .keys
            .iter()
            .find(|key| key.columns.iter().any(|(name, _)| is_it(name)));
        let foreign = self.foreign_keys.iter().find(|key| key.columns.iter().any(is_it));
        let name = keys.map(|key| &key.name).or(foreign.map(|key| &key.name));
        match name {
            Some(name) => Err(SqlError::column_needed(&format!("object '{name}'"), column)),
            None => Ok(()),
        }
    }
}

/// Whether a text that was printed from a tree may name a column: whether it contains the column's name as a word
/// outside strings that is no function's.
#[must_use]
pub fn mentions(text: &str, column: &str) -> bool {
    words(text).any(|word| same_name(&word.text, column) && (word.is_delimited || !word.is_called()))
}

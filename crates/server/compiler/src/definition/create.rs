//! Reads the definition of a table from CREATE TABLE.

use std::sync::Arc;

use selenite_tsql::ast::{self, Constraint, ConstraintKind, CreateTable, TableElement};
use selenite_types::DataType;

use super::constraint::Naming;
use super::subquery::check_scalar;
use super::{CheckDefinition, ColumnDefinition, IndexDefinition, KeyDefinition, TableDefinition};
use crate::catalog::KeyKind;
use crate::functions::check_sequential_default;
use crate::{Ends, SqlError, same_name};

impl TableDefinition {
    /// Reads a statement, whose table is in `schema`. `salt` distinguishes the generated names of constraints from those
    /// of other tables: any unused number.
    ///
    /// # Errors
    /// Any error of the statement, as SQL Server reports it; 40510 for unsupported forms.
    pub fn read(statement: &CreateTable, schema: &str, salt: u64) -> Result<Self, SqlError> {
        Self::of_elements((schema, &statement.name.name.text), &statement.elements, salt)
    }

    /// Reads the contents of the parentheses after CREATE TABLE and a name (schema and name), or after
    /// `DECLARE @name TABLE`.
    ///
    /// # Errors
    /// As [`TableDefinition::read`].
    pub fn of_elements((schema, name): (&str, &str), elements: &[TableElement], salt: u64) -> Result<Self, SqlError> {
        let mut table = Self {
            schema: schema.to_owned(),
            name: name.to_owned(),
            columns: Vec::new(),
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
        };
        let naming = Naming { salt };
        for element in elements {
            if let TableElement::Column(column) = element {
                table.add_column(column)?;
            }
        }
        if table.columns.iter().all(|column| column.computed.is_some()) {
            let text = format!(
                "CREATE TABLE failed because table '{}' must have at least one column that is not computed.",
                table.name
            );
            // 1708: a table whose columns are all computed.
            return Err(SqlError::new(1708, Ends::Batch, text));
        }
        for element in elements {
            table.add_constraints_and_index(element, &naming)?;
        }
        table.check_primary_columns(elements)?;
        table.check_index_names()?;
        table.keys.sort_by_key(|key| key.kind != KeyKind::Primary);
        Ok(table)
    }

    /// 8111 for a column of the primary key that is declared NULL.
    fn check_primary_columns(&self, elements: &[TableElement]) -> Result<(), SqlError> {
        let primary = self.keys.iter().find(|key| key.kind == KeyKind::Primary);
        let columns = primary.map_or(&[][..], |key| &key.columns);
        let is_null = |element: &TableElement| match element {
            TableElement::Column(column) if column.nullable == Some(true) => {
                columns.iter().any(|(name, _)| same_name(name, &column.name.text))
            }
            TableElement::Column(_) | TableElement::Constraint(_) | TableElement::Index(_) => false,
        };
        match elements.iter().any(is_null) {
            true => Err(SqlError::primary_key_nullable(&self.name)),
            false => Ok(()),
        }
    }

    /// 1913 for an index with the name of another index or key of the table.
    pub(super) fn check_index_names(&self) -> Result<(), SqlError> {
        let keys = self.keys.iter().map(|key| key.name.as_str());
        let mut seen: Vec<&str> = keys.collect();
        for index in &self.indexes {
            if seen.iter().any(|known| same_name(known, &index.name)) {
                return Err(SqlError::index_name_taken(
                    &index.name,
                    &format!("{}.{}", self.schema, self.name),
                ));
            }
            seen.push(&index.name);
        }
        Ok(())
    }

    /// Adds a column without its constraints.
    pub(super) fn add_column(&mut self, column: &ast::ColumnDefinition) -> Result<(), SqlError> {
        let number = u32::try_from(self.columns.len() + 1).unwrap_or(u32::MAX);
        if self.columns.len() >= COLUMN_COUNT_MAX {
            let text = format!(
                "CREATE TABLE failed because column '{}' in table '{}' exceeds the maximum of {COLUMN_COUNT_MAX} columns.",
                column.name.text, self.name
            );
            // 1702: a table with too many columns.
            return Err(SqlError::new(1702, Ends::Batch, text));
        }
        if self.column(&column.name.text).is_some() {
            return Err(SqlError::column_defined_twice(&column.name.text, &self.name));
        }
        let mut read = ColumnDefinition::read(column, &self.name, number)?;
        if read.identity.is_some() && self.columns.iter().any(|column| column.identity.is_some()) {
            return Err(SqlError::identity_twice(&self.name));
        }
        let is_version = |column: &ColumnDefinition| column.data_type == Some(DataType::RowVersion);
        if is_version(&read) && self.columns.iter().any(is_version) {
            return Err(SqlError::row_version_twice(&self.name, &read.name));
        }
        // A primary key makes its column NOT NULL unless that is specified.
        let is_key = column.constraints.iter().any(is_primary);
        if is_key && column.nullable.is_none() {
            read.nullable = false;
        }
        self.columns.push(read);
        Ok(())
    }

    /// Adds the constraints of a column or table, or an index.
    pub(super) fn add_constraints_and_index(
        &mut self,
        element: &TableElement,
        naming: &Naming,
    ) -> Result<(), SqlError> {
        match element {
            TableElement::Column(column) => {
                let name = column.name.text.as_str();
                for constraint in &column.constraints {
                    self.add_constraint(constraint, Some(name), naming, true)
                        .map_err(|error| error.on_line(constraint.position.line))?;
                }
                if let Some(index) = &column.index {
                    let own = [(name.to_owned(), false)];
                    self.indexes.push(IndexDefinition::of_table(index, &own, self)?);
                }
                Ok(())
            }
            TableElement::Constraint(constraint) => self
                .add_constraint(constraint, None, naming, true)
                .map_err(|error| error.on_line(constraint.position.line)),
            TableElement::Index(index) => {
                let read = IndexDefinition::of_table(index, &[], self)?;
                self.indexes.push(read);
                Ok(())
            }
        }
    }

    /// Adds a constraint of a column, or of the table; with `is_new` the table is being created.
    pub(super) fn add_constraint(
        &mut self,
        constraint: &Constraint,
        column: Option<&str>,
        naming: &Naming,
        is_new: bool,
    ) -> Result<(), SqlError> {
        let given = constraint.name.as_ref().map(|name| name.text.clone());
        if let Some(name) = &given
            && self.has_constraint(name)
        {
            return Err(SqlError::name_taken(name));
        }
        match &constraint.kind {
            ConstraintKind::PrimaryKey(key) => self.add_key((KeyKind::Primary, key), (given, column), naming, is_new),
            ConstraintKind::Unique(key) => self.add_key((KeyKind::Unique, key), (given, column), naming, is_new),
            ConstraintKind::ForeignKey(key) => {
                let read = self.read_foreign_key(key, (given, column), naming)?;
                self.foreign_keys.push(read);
                Ok(())
            }
            ConstraintKind::Check { condition, .. } => {
                check_scalar(condition)?;
                let name = given.unwrap_or_else(|| naming.of("CK", &self.name, column, self.checks.len()));
                self.checks.push(CheckDefinition {
                    name,
                    condition: Arc::new(condition.clone()),
                    column: column.map(str::to_owned),
                    is_enabled: true,
                    is_trusted: true,
                });
                Ok(())
            }
            ConstraintKind::Default { value, column: of, .. } => {
                let column = of.as_ref().map(|name| name.text.as_str()).or(column);
                self.add_default(value, (given, column.unwrap_or_default()), naming)
            }
        }
    }

    fn add_default(
        &mut self,
        value: &ast::Expr,
        (given, column): (Option<String>, &str),
        naming: &Naming,
    ) -> Result<(), SqlError> {
        check_scalar(value)?;
        let name = given.unwrap_or_else(|| naming.of("DF", &self.name, Some(column), 0));
        let table = self.name.clone();
        let Some(found) = self.columns.iter_mut().find(|known| same_name(&known.name, column)) else {
            let text = format!("Column '{column}' in table '{table}' is invalid for creating a default constraint.");
            // 1752: DEFAULT for an unknown column.
            return Err(SqlError::new(1752, Ends::Batch, text).with_state(0));
        };
        if found.identity.is_some() {
            return Err(SqlError::default_on_identity(&table, &found.name));
        }
        if found.data_type == Some(DataType::RowVersion) {
            return Err(SqlError::default_on_row_version(&table, &found.name));
        }
        check_sequential_default(value, found.data_type)?;
        if found.default.is_some() {
            return Err(SqlError::default_twice());
        }
        found.default = Some((name, Arc::new(value.clone())));
        Ok(())
    }

    fn add_key(
        &mut self,
        (kind, key): (KeyKind, &ast::KeyConstraint),
        (given, column): (Option<String>, Option<&str>),
        naming: &Naming,
        is_new: bool,
    ) -> Result<(), SqlError> {
        let is_primary = kind == KeyKind::Primary;
        if is_primary && self.keys.iter().any(|key| key.kind == KeyKind::Primary) {
            let again = if is_new {
                SqlError::primary_key_twice
            } else {
                SqlError::has_primary_key
            };
            return Err(again(&self.name));
        }
        let columns = self.key_columns(&key.columns, column);
        self.check_index_columns(columns.iter().map(|(name, _)| name.as_str()))?;
        let is_of_table = column.is_none() || !key.columns.is_empty();
        let is_explicit = |known: &ColumnDefinition| is_new && is_of_table && known.nullable;
        if is_primary {
            for (name, _) in &columns {
                let Some(known) = self.columns.iter_mut().find(|known| same_name(&known.name, name)) else {
                    return Err(SqlError::index_column(name));
                };
                // SQL Server makes unspecified columns of a new table's primary key NOT NULL. The definition does not
                // record whether nullability was specified, so nullable columns become NOT NULL. In ALTER TABLE they
                // are refused.
                if is_explicit(known) {
                    known.nullable = false;
                }
                if known.nullable {
                    return Err(SqlError::primary_key_nullable(&self.name));
                }
            }
        }
        let has_offset = |(name, _): &(String, bool)| self.column(name).is_some_and(ColumnDefinition::has_offset);
        let is_in_table = is_new && is_primary && !columns.iter().any(has_offset);
        let prefix = if is_primary { "PK" } else { "UQ" };
        self.keys.push(KeyDefinition {
            name: given.unwrap_or_else(|| naming.of_key(prefix, &self.name, self.keys.len())),
            kind,
            is_clustered: key.clustered.unwrap_or(is_primary),
            columns,
            // Keys in SQLite's CREATE TABLE can't change without recreating the table.
            is_in_table,
            ignores_duplicates: super::index::ignores_duplicates(&key.options),
        });
        Ok(())
    }

    /// Checks that each column is allowed in a key, and occurs once.
    pub(super) fn check_index_columns<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<(), SqlError> {
        let mut seen: Vec<&str> = Vec::new();
        for name in names {
            let Some(column) = self.column(name) else {
                return Err(SqlError::index_column(name));
            };
            if seen.iter().any(|other| same_name(other, name)) {
                return Err(SqlError::index_column_twice(name));
            }
            seen.push(name);
            match &column.data_type {
                Some(DataType::SqlVariant) => return Err(SqlError::unsupported("An index on a sql_variant")),
                Some(data_type) if is_key_type(data_type) => {}
                Some(_) => return Err(SqlError::index_column_type(&column.name, &self.name)),
                None => return Err(SqlError::unsupported("An index on a computed column")),
            }
        }
        Ok(())
    }

    /// Whether a constraint has this name.
    pub(super) fn has_constraint(&self, name: &str) -> bool {
        self.constraint_names().any(|known| same_name(known, name))
    }

    /// The names of all constraints.
    pub fn constraint_names(&self) -> impl Iterator<Item = &str> {
        let keys = self.keys.iter().map(|key| key.name.as_str());
        let checks = self.checks.iter().map(|check| check.name.as_str());
        let foreign = self.foreign_keys.iter().map(|key| key.name.as_str());
        let defaults = self
            .columns
            .iter()
            .filter_map(|column| Some(column.default.as_ref()?.0.as_str()));
        keys.chain(checks).chain(foreign).chain(defaults)
    }
}

/// Whether it is a primary key of its column; a column list is read as that of a table constraint.
fn is_primary(constraint: &Constraint) -> bool {
    matches!(&constraint.kind, ConstraintKind::PrimaryKey(key) if key.columns.is_empty())
}

/// Whether the type is allowed in an index: any but `max`.
fn is_key_type(data_type: &DataType) -> bool {
    use selenite_types::Width;
    !matches!(
        data_type,
        DataType::VarChar(Width::Max)
            | DataType::NVarChar(Width::Max)
            | DataType::VarBinary(Width::Max)
            | DataType::Xml
    )
}

/// SQL Server's limit; SQLite's is 2000.
const COLUMN_COUNT_MAX: usize = 1024;

//! Tables and views of the tests, from T-SQL definitions.

use std::sync::Arc;

use selenite_compiler::catalog::{
    Catalog, Check, Column, ColumnDefault, Computed, Fires, ForeignKey, IdentityRule, Key, KeyKind, Reference,
    ReferencedAction, Relation, SqliteName, SystemColumn, SystemFunction, SystemRows, SystemView, Table, View,
};
use selenite_compiler::definition::quoted;
use selenite_compiler::{Collation, SqlError, declared_type, same_name};
use selenite_tsql::ast::{
    ColumnDefinition, ColumnKind, Condition, Constraint, ConstraintKind, CreateTable, Expr, ExprKind,
    ForeignKey as Foreign, Literal, Name, ObjectName, TableElement, UnaryOperator, View as ViewTree,
};
use selenite_types::storage::declared_name;
use selenite_types::{DataType, DeclarationContext};

/// The tables, views and functions of a test.
#[derive(Clone, Default)]
pub(crate) struct Tables {
    pub tables: Vec<Arc<Table>>,
    pub views: Vec<Arc<View>>,
}

impl Catalog for Tables {
    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        if name
            .schema
            .as_ref()
            .is_some_and(|schema| same_name(&schema.text, "sys"))
        {
            let numbers = same_name(&name.name.text, "numbers");
            return Ok(numbers.then(|| Relation::System(Arc::new(system_view()))));
        }
        if let Some(table) = self.tables.iter().find(|table| same_name(&table.name, &name.name.text)) {
            return Ok(Some(Relation::Table(Arc::clone(table))));
        }
        let view = self.views.iter().find(|view| same_name(&view.name, &name.name.text));
        Ok(view.map(|view| Relation::View(Arc::clone(view))))
    }

    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        // SQLite's json_each has one mandatory hidden argument.
        let function = SystemFunction {
            schema: "sys".to_owned(),
            name: "each".to_owned(),
            rows: SystemRows::Table(SqliteName {
                schema: "main".to_owned(),
                name: "json_each".to_owned(),
            }),
            columns: vec![SystemColumn {
                name: "value".to_owned(),
                data_type: DataType::BigInt,
                nullable: true,
                collation: Collation::default(),
            }],
            arguments: vec![DataType::VarChar(selenite_types::Width::Max)],
            required: 1,
            is_split: false,
        };
        Ok(same_name(&name.name.text, "each").then(|| Arc::new(function)))
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        Ok(self.tables.iter().find(|table| same_name(&table.name, name)).cloned())
    }
}

fn system_view() -> SystemView {
    SystemView {
        schema: "sys".to_owned(),
        name: "numbers".to_owned(),
        rows: SystemRows::Table(SqliteName {
            schema: "main".to_owned(),
            name: "numbers".to_owned(),
        }),
        columns: vec![SystemColumn {
            name: "n".to_owned(),
            data_type: DataType::BigInt,
            nullable: false,
            collation: Collation::default(),
        }],
    }
}

impl Tables {
    /// Adds a table, and returns the SQL that creates it in SQLite.
    pub fn create(&mut self, definition: &CreateTable) -> String {
        let mut table = Table {
            database: "testdb".to_owned(),
            schema: "dbo".to_owned(),
            name: definition.name.name.text.clone(),
            sqlite: SqliteName {
                schema: "main".to_owned(),
                name: definition.name.name.text.clone(),
            },
            object_id: i32::try_from(self.tables.len()).unwrap() + 1000,
            columns: Vec::new(),
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            row_id_column: None,
            referenced_by: Vec::new(),
            fires: Fires::default(),
            references: Arc::default(),
            table_type: None,
            is_read_only: false,
        };
        for element in &definition.elements {
            if let TableElement::Column(column) = element {
                add_column(&mut table, column);
            }
        }
        for element in &definition.elements {
            match element {
                TableElement::Column(column) => {
                    let name = std::slice::from_ref(&column.name);
                    column
                        .constraints
                        .iter()
                        .for_each(|constraint| constrain(&mut table, constraint, name));
                }
                TableElement::Constraint(constraint) => constrain(&mut table, constraint, &[]),
                TableElement::Index(_) => panic!("no indexes here"),
            }
        }
        let sql = sqlite_table(&table);
        self.tables.push(Arc::new(table));
        self.set_references();
        sql
    }

    /// Sets the tables' incoming foreign keys.
    fn set_references(&mut self) {
        let of = |table: &Arc<Table>| {
            let place = (table.schema.clone(), table.name.clone());
            let keys = table.foreign_keys.clone().into_iter();
            keys.map(move |key| Reference {
                table: place.clone(),
                key,
            })
        };
        let references: Arc<[Reference]> = self.tables.iter().flat_map(of).collect();
        for table in &mut self.tables {
            let is_this = |reference: &&Reference| same_name(&reference.key.referenced_table.1, &table.name);
            let by = references.iter().filter(is_this);
            let by = by.map(|reference| (format!("dbo.{}", reference.table.1), reference.key.clone()));
            let by = by.collect();
            let table = Arc::make_mut(table);
            (table.referenced_by, table.references) = (by, references.clone());
        }
    }

    /// Adds a view.
    pub fn view(&mut self, view: &ViewTree) {
        self.views.push(Arc::new(View {
            database: "testdb".to_owned(),
            schema: "dbo".to_owned(),
            name: view.name.name.text.clone(),
            columns: view.columns.clone(),
            select: Arc::new(view.select.clone()),
            check_option: view.check_option,
            object_id: 0,
            fires: Fires::default(),
        }));
    }

    /// Adds the key of a unique index.
    pub fn unique_index(&mut self, name: &str, table: &str, columns: &[Name], is_filtered: bool) {
        let table = self
            .tables
            .iter_mut()
            .find(|known| same_name(&known.name, table))
            .unwrap();
        let table = Arc::make_mut(table);
        let columns = columns
            .iter()
            .map(|column| table.column(&column.text).unwrap())
            .collect();
        table.keys.push(Key {
            name: name.to_owned(),
            kind: KeyKind::Index,
            columns,
            is_filtered,
            filter_columns: Vec::new(),
            ignores_duplicates: false,
        });
    }
}

fn add_column(table: &mut Table, column: &ColumnDefinition) {
    let primary = column
        .constraints
        .iter()
        .any(|constraint| matches!(constraint.kind, ConstraintKind::PrimaryKey(_)));
    let (data_type, computed) = match &column.kind {
        ColumnKind::Typed(type_name) => (
            declared_type(
                type_name,
                DeclarationContext::Column {
                    number: 1,
                    name: &column.name.text,
                },
            )
            .unwrap(),
            None,
        ),
        // Computed columns of the tests are ints.
        ColumnKind::Computed { value, persisted } => (
            DataType::Int,
            Some(Computed {
                value: Arc::new(value.clone()),
                persisted: *persisted,
            }),
        ),
    };
    let identity = column
        .identity
        .as_ref()
        .map(|identity| match &identity.seed_and_increment {
            Some((seed, increment)) => IdentityRule {
                seed: number_of(seed),
                increment: number_of(increment),
            },
            None => IdentityRule { seed: 1, increment: 1 },
        });
    let collation = match &column.collation {
        Some(name) => Collation::explicit(&name.text).unwrap().of_column(),
        None => Collation::default().of_column(),
    };
    table.columns.push(Column {
        name: column.name.text.clone(),
        data_type,
        nullable: column.nullable.unwrap_or(!primary && identity.is_none()),
        collation,
        identity,
        default: None,
        computed,
    });
}

fn constrain(table: &mut Table, constraint: &Constraint, column: &[Name]) {
    let name = |kind: &str| match &constraint.name {
        Some(name) => name.text.clone(),
        None => format!("{kind}_{}", table.name),
    };
    let indexes = |names: &[Name]| {
        names
            .iter()
            .map(|name| table.column(&name.text).unwrap())
            .collect::<Vec<_>>()
    };
    match &constraint.kind {
        ConstraintKind::PrimaryKey(key) | ConstraintKind::Unique(key) => {
            let primary = matches!(constraint.kind, ConstraintKind::PrimaryKey(_));
            let listed: Vec<Name> = key.columns.iter().map(|column| column.name.clone()).collect();
            let columns = indexes(if listed.is_empty() { column } else { &listed });
            let (kind, word) = if primary {
                (KeyKind::Primary, "PK")
            } else {
                (KeyKind::Unique, "UQ")
            };
            let key = Key {
                name: name(word),
                kind,
                columns,
                is_filtered: false,
                filter_columns: Vec::new(),
                ignores_duplicates: false,
            };
            if primary {
                key.columns.iter().for_each(|at| table.columns[*at].nullable = false);
            }
            table.keys.push(key);
        }
        ConstraintKind::Check { condition, .. } => {
            let condition: Arc<Condition> = Arc::new(condition.clone());
            let check = Check {
                name: name("CK"),
                condition,
                column: indexes(column).first().copied(),
            };
            table.checks.push(check);
        }
        ConstraintKind::Default { value, .. } => {
            let default = ColumnDefault {
                name: name("DF"),
                value: Arc::new(value.clone()),
            };
            let at = indexes(column)[0];
            table.columns[at].default = Some(default);
        }
        ConstraintKind::ForeignKey(key) => {
            let key = foreign_key(key, name("FK"), column);
            table.foreign_keys.push(key);
        }
    }
}

fn foreign_key(key: &Foreign, name: String, column: &[Name]) -> ForeignKey {
    let texts = |names: &[Name]| names.iter().map(|name| name.text.clone()).collect::<Vec<_>>();
    ForeignKey {
        name,
        columns: texts(if key.columns.is_empty() { column } else { &key.columns }),
        referenced_table: ("dbo".to_owned(), key.table.name.text.clone()),
        referenced_columns: texts(&key.referenced),
        on_delete: ReferencedAction::NoAction,
        on_update: ReferencedAction::NoAction,
        is_enabled: true,
        is_trusted: true,
    }
}

fn number_of(expr: &Expr) -> i128 {
    if let ExprKind::Unary {
        operator: UnaryOperator::Minus,
        operand,
    } = &expr.kind
    {
        return -number_of(operand);
    }
    let ExprKind::Literal(Literal::Integer(digits)) = &expr.kind else {
        panic!("{expr:?} is no number")
    };
    digits.parse().unwrap()
}

fn sqlite_table(table: &Table) -> String {
    let mut parts: Vec<String> = Vec::new();
    for column in table.columns.iter().filter(|column| column.computed.is_none()) {
        let text = column.data_type.family() == selenite_types::Family::Text;
        let collate = if text {
            format!(" COLLATE {}", column.collation.name())
        } else {
            String::new()
        };
        let null = if column.nullable { "" } else { " NOT NULL" };
        let name = quoted(&column.name);
        parts.push(format!("{name} {}{collate}{null}", declared_name(&column.data_type)));
    }
    let names = |columns: &[usize]| {
        columns
            .iter()
            .map(|at| format!("\"{}\"", table.columns[*at].name))
            .collect::<Vec<_>>()
            .join(", ")
    };
    for key in &table.keys {
        let word = if key.kind == KeyKind::Primary {
            "PRIMARY KEY"
        } else {
            "UNIQUE"
        };
        parts.push(format!("{word} ({})", names(&key.columns)));
    }
    for key in &table.foreign_keys {
        let (columns, referenced) = (key.columns.join(", "), key.referenced_columns.join(", "));
        parts.push(format!(
            "FOREIGN KEY ({columns}) REFERENCES \"{}\" ({referenced})",
            key.referenced_table.1
        ));
    }
    format!("CREATE TABLE {} ({})", quoted(&table.name), parts.join(", "))
}

//! Types of users: other names of types, and tables.

use std::cell::RefCell;
use std::sync::Arc;

use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{Ends, NameKey, SqlError, declared_type, is_same_type, same_name};
use selenite_tsql::ast::{
    AliasType, Name, ObjectName, Position, StatementKind, TableType, Tree, TypeDefinition, TypeName, TypeReference,
    UserType,
};
use selenite_tsql::{Options, parse_typed};
use selenite_types::{DataType, DeclarationContext};

use super::{Schema, key};
use crate::catalog::catalog_rows::{CatalogRow, ObjectKind};

/// A type.
pub struct SchemaType {
    /// As texts name it.
    pub user_type: UserType,
    /// Its row.
    pub row: CatalogRow,
}

impl SchemaType {
    /// Its number in sys.types, derived from the object's.
    #[must_use]
    pub fn id(&self) -> i32 {
        FIRST_TYPE_ID + self.row.object_id.saturating_sub(FIRST_OBJECT_ID) / 16
    }

    /// The type for which an alias type stands; none of a table type.
    #[must_use]
    pub fn base(&self) -> Option<DataType> {
        match &self.user_type {
            UserType::Alias(alias) => declared_type(&alias.base, VARIABLE).ok(),
            UserType::Table(_) => None,
        }
    }

    /// Whether a column of it allows NULL if its definition does not say.
    #[must_use]
    pub fn is_nullable(&self) -> bool {
        match &self.user_type {
            UserType::Alias(alias) => alias.nullable.unwrap_or(!alias.base.name.name.is("sysname")),
            UserType::Table(_) => false,
        }
    }

    /// Whether it is a table.
    #[must_use]
    pub fn is_table(&self) -> bool {
        matches!(self.user_type, UserType::Table(_))
    }
}

fn user_type(row: &CatalogRow, definition: TypeDefinition) -> UserType {
    let (schema, name) = (row.schema.clone(), row.name.clone());
    match definition {
        TypeDefinition::Alias { base, nullable } => UserType::Alias(Arc::new(AliasType {
            schema,
            name,
            base: *base,
            nullable,
        })),
        TypeDefinition::Table(elements) => UserType::Table(Arc::new(TableType { schema, name, elements })),
    }
}

impl Schema {
    /// Reads the types among the rows: tables last, whose columns may be of alias types.
    pub(super) fn load_types(&mut self, rows: &[CatalogRow]) -> Result<(), SqlError> {
        for wants_table in [false, true] {
            for row in rows.iter().filter(|row| row.kind == ObjectKind::Type) {
                let tree = self.parsed_in(&row.schema, &row.definition)?;
                let Some(StatementKind::CreateType(create)) = tree.statements.into_iter().next().map(|one| one.kind)
                else {
                    return Err(SqlError::internal("a type's definition"));
                };
                let made = SchemaType {
                    user_type: user_type(row, create.definition),
                    row: row.clone(),
                };
                if made.is_table() == wants_table {
                    self.types.insert(key(&row.schema, &row.name), Arc::new(made));
                }
            }
        }
        Ok(())
    }

    /// A text of the catalog, whose names of types are looked up in a schema and in `dbo`.
    ///
    /// # Errors
    /// 8624 for a text that is none.
    pub fn parsed_in(&self, schema: &str, text: &str) -> Result<Tree, SqlError> {
        let types = |name: &TypeReference| self.type_of(name, schema);
        parse_typed(text, Options::default(), &|| true, &types)
            .map_err(|error| SqlError::internal(&format!("the catalog: {error}")))
    }

    /// What a name of a type stands for, if it is one of a user; a name without a schema is looked up in
    /// `default_schema` and in `dbo`.
    #[must_use]
    pub fn type_of(&self, name: &TypeReference, default_schema: &str) -> Option<UserType> {
        if is_system(name) {
            return None;
        }
        let found = match &name.schema {
            Some(schema) => self.user_type(schema, &name.name),
            None => self
                .user_type(default_schema, &name.name)
                .or_else(|| self.user_type(SCHEMA, &name.name)),
        };
        found.map(|found| found.user_type.clone())
    }

    /// A type, by its schema and name.
    #[must_use]
    pub fn user_type(&self, schema: &str, name: &str) -> Option<&Arc<SchemaType>> {
        self.types.get(&key(schema, name))
    }

    /// The type of a row of the catalog.
    #[must_use]
    pub fn type_of_id(&self, object_id: i32) -> Option<&Arc<SchemaType>> {
        self.types.values().find(|one| one.row.object_id == object_id)
    }

    /// The types of users that a text names, each with what it means in a schema and in another one, where names without
    /// a schema are looked up.
    #[must_use]
    pub fn types_in(&self, text: &str, (schema, other): (&str, &str)) -> Vec<[Option<UserType>; 2]> {
        let found = RefCell::new(Vec::new());
        let types = |name: &TypeReference| {
            let both = [self.type_of(name, schema), self.type_of(name, other)];
            let first = both[0].clone();
            if both.iter().any(Option::is_some) {
                found.borrow_mut().push(both);
            }
            first
        };
        // What is wrong with the text is told elsewhere.
        let _ = parse_typed(text, Options::default(), &|| true, &types);
        found.into_inner()
    }

    /// All types, by rising number.
    #[must_use]
    pub fn user_types(&self) -> Vec<&Arc<SchemaType>> {
        let mut types: Vec<_> = self.types.values().collect();
        types.sort_by_key(|one| one.row.object_id);
        types
    }

    /// The name of an object that has a type of a user: a table with a column of it, or any other whose text names it.
    #[must_use]
    pub fn user_of_type(&self, wanted: &SchemaType) -> Option<String> {
        let names = |row: &CatalogRow| {
            let named = self.types_in(&row.definition, (&row.schema, &row.schema));
            let mut named = named.iter().flat_map(|[found, _]| found);
            named.any(|found| is_same_type(found.full_name(), wanted.user_type.full_name()))
        };
        let is_it = |(schema, name): &(String, String)| {
            same_name(schema, &wanted.row.schema) && same_name(name, &wanted.row.name)
        };
        let mut tables = self.tables();
        let with_column = tables.find(|table| {
            let mut columns = table.definition.columns.iter();
            columns.any(|column| column.user_type.as_ref().is_some_and(is_it))
        });
        if let Some(table) = with_column {
            return Some(table.definition.name.clone());
        }
        let mut rows = self.texts();
        rows.find(|row| row.object_id != wanted.row.object_id && names(row))
            .map(|row| row.name.clone())
    }

    /// The name of an object of a schema whose text names a type without its schema, as if it were a new one there.
    #[must_use]
    pub fn user_of_new_type(&self, (schema, name): (&str, &str)) -> Option<String> {
        let names = |row: &&CatalogRow| {
            let tree = selenite_tsql::parse(&row.definition, Options::default()).unwrap_or_default();
            let mut types = tree.types.iter();
            types.any(|named| named.schema.is_none() && same_name(&named.name, name))
        };
        let mut rows = self.texts().filter(|row| same_name(&row.schema, schema));
        rows.find(names).map(|row| row.name.clone())
    }

    /// What is kept as the text that makes it, and may name types.
    fn texts(&self) -> impl Iterator<Item = &CatalogRow> {
        let procedures = self.procedures().map(|row| &**row);
        let functions = self.functions().map(|function| &function.row);
        let views = self.views().map(|view| &view.row);
        let triggers = self.triggers().map(|trigger| &*trigger.row);
        let tables = self.types.values().filter(|one| one.is_table()).map(|one| &one.row);
        procedures.chain(functions).chain(views).chain(triggers).chain(tables)
    }
}

/// Whether a name is that of a type of the system, also of one that is not supported.
#[must_use]
pub fn is_system(name: &TypeReference) -> bool {
    if name.schema.as_ref().is_some_and(|schema| !same_name(schema, "sys")) {
        return false;
    }
    let position = Position::default();
    let written = TypeName {
        name: ObjectName {
            server: None,
            database: None,
            schema: None,
            name: Name {
                text: name.name.clone(),
                quoted: false,
                position,
            },
            position,
        },
        arguments: Vec::new(),
        position,
        user_type: None,
    };
    declared_type(&written, VARIABLE).map_or_else(|error| error.number() != UNKNOWN_TYPE, |_| true)
}

/// 219: a type that exists.
#[must_use]
pub fn type_exists(name: &str) -> SqlError {
    let text = format!("The type '{name}' already exists, or you do not have permission to create it.");
    SqlError::new(219, Ends::Statement, text)
}

/// The name of a type in maps.
pub(super) type Types = std::collections::HashMap<NameKey, Arc<SchemaType>>;

const VARIABLE: DeclarationContext<'static> = DeclarationContext::Variable { number: 1, name: "" };
/// The error of a name that is no type's.
const UNKNOWN_TYPE: i32 = 2715;
/// The numbers of the system's types are below.
const FIRST_TYPE_ID: i32 = 256;
/// The number before the first of an object in the catalog.
const FIRST_OBJECT_ID: i32 = 245_575_913;

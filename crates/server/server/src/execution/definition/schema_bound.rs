//! WITH SCHEMABINDING of views: what a view is bound to, and what therefore may not be dropped or altered.
//!
//! - `bound-by-its-text`: what a view is bound to is what its text names, and is found by binding the text.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use selenite_compiler::catalog::{Catalog, Relation, Sequence, SystemFunction, Table, UserFunction};
use selenite_compiler::statement::Binding;
use selenite_compiler::{Ends, SourceColumn, SqlError, Variables, same_name, written_object};
use selenite_tsql::ast::{ObjectName, SelectStatement, Statement, StatementKind, View};

use super::DefinitionContext;
use crate::catalog::permission::check_columns;
use crate::catalog::permission_kind::PermissionKind;
use crate::names::session_catalog::SessionCatalog;

/// What the text of a view names.
#[derive(Default)]
struct Named {
    /// Names as they are written, each with its schema and name, and whether it is bound itself.
    objects: Vec<(ObjectName, (String, String), bool)>,
    /// The schemas, names and columns of tables.
    columns: Vec<(String, String, String)>,
    has_star: bool,
}

impl Named {
    fn has(&self, (schema, name): (&str, &str)) -> bool {
        let mut objects = self.objects.iter();
        objects.any(|(_, place, _)| same_name(&place.0, schema) && same_name(&place.1, name))
    }
}

/// The catalog as the text of a view sees it, which keeps what that names.
struct NamesInText<'a> {
    catalog: &'a SessionCatalog,
    /// The number of views around what is bound.
    depth: Cell<u32>,
    named: RefCell<Named>,
    /// The tables that the text itself names, each time that it does.
    sources: RefCell<Vec<Arc<Table>>>,
}

impl DefinitionContext<'_> {
    /// Whether a view may be bound to what it names, which may not be changed or dropped then.
    ///
    /// # Errors
    /// 1054, 4512, 4513; 229 without REFERENCES.
    pub(super) fn check_binding(&self, view: &View, schema: &str) -> Result<(), SqlError> {
        let written = written_object(&view.name);
        let named = self.named_in(&view.select, schema)?;
        if named.has_star {
            // 1054: `*` in a view WITH SCHEMABINDING.
            return Err(error(1054, "Syntax '*' is not allowed in schema-bound objects.".to_owned()).with_severity(15));
        }
        let permissions = self.objects.permissions();
        for (name, (in_schema, object), is_bound) in &named.objects {
            let own = written_object(name);
            if name.schema.is_none() || name.database.is_some() {
                let text = format!(
                    "Cannot schema bind view '{written}' because name '{own}' is invalid for schema binding. Names must be in \
                     two-part format and an object cannot reference itself."
                );
                // 4512: a view WITH SCHEMABINDING with a name that is not of two parts.
                return Err(error(4512, text).with_state(3));
            }
            if !is_bound {
                let text = format!("Cannot schema bind view '{written}'. '{own}' is not schema bound.");
                // 4513: a view WITH SCHEMABINDING over one without.
                return Err(error(4513, text));
            }
            let object = [&*self.catalog.database, in_schema.as_str(), object.as_str()];
            check_columns(PermissionKind::References, object, None, &permissions)?;
        }
        Ok(())
    }

    /// Whether no view is bound to an object, other than those that the statement has dropped; `change` is its words.
    ///
    /// # Errors
    /// 3729.
    pub(super) fn check_not_bound(
        &self,
        change: &str,
        (object, written): ((&str, &str), &str),
        dropped: &[(String, String)],
    ) -> Result<(), SqlError> {
        match self.find_bound(dropped, &|named| named.has(object))? {
            Some(view) => {
                let text = format!("Cannot {change} '{written}' because it is being referenced by object '{view}'.");
                Err(error(3729, text))
            }
            None => Ok(()),
        }
    }

    /// The name of a view that is bound to an object.
    pub(super) fn bound_to(&self, object: (&str, &str)) -> Result<Option<String>, SqlError> {
        self.find_bound(&[], &|named| named.has(object))
    }

    /// The name of a view that is bound to a column of a table.
    pub(super) fn bound_to_column(
        &self,
        (schema, name): (&str, &str),
        column: &str,
    ) -> Result<Option<String>, SqlError> {
        self.find_bound(&[], &|named| {
            let mut columns = named.columns.iter();
            columns.any(|(other_schema, other, own)| {
                same_name(other_schema, schema) && same_name(other, name) && same_name(own, column)
            })
        })
    }

    fn find_bound(
        &self,
        dropped: &[(String, String)],
        is_it: &dyn Fn(&Named) -> bool,
    ) -> Result<Option<String>, SqlError> {
        for view in self.catalog.schema.views().filter(|view| view.is_schema_bound) {
            let is_same = |(schema, name): &(String, String)| {
                same_name(schema, &view.row.schema) && same_name(name, &view.row.name)
            };
            if !dropped.iter().any(is_same) && is_it(&self.named_in(&view.view.select, &view.view.schema)?) {
                return Ok(Some(view.view.name.clone()));
            }
        }
        Ok(None)
    }

    fn named_in(&self, select: &SelectStatement, schema: &str) -> Result<Named, SqlError> {
        let catalog = SessionCatalog {
            default_schema: Arc::from(schema),
            ..self.catalog.clone()
        };
        let names = NamesInText {
            catalog: &catalog,
            depth: Cell::new(0),
            named: RefCell::default(),
            sources: RefCell::default(),
        };
        let variables = Variables::default();
        let binding = Binding {
            catalog: &names,
            variables: &variables,
        };
        let statement = Statement {
            kind: StatementKind::Select(Box::new(select.clone())),
            position: select.query.position,
        };
        binding.statement(&statement)?;
        Ok(names.named.into_inner())
    }
}

impl NamesInText<'_> {
    fn note(&self, name: &ObjectName, place: (&str, &str), is_bound: bool) {
        if self.depth.get() == 0 {
            let place = (place.0.to_owned(), place.1.to_owned());
            self.named.borrow_mut().objects.push((name.clone(), place, is_bound));
        }
    }
}

impl Catalog for NamesInText<'_> {
    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let found = self.catalog.relation(name)?;
        match &found {
            Some(Relation::Table(table)) => self.note(name, (&table.schema, &table.name), true),
            Some(Relation::View(view)) => {
                let known = self.catalog.schema.view(&view.schema, &view.name);
                let is_bound = known.is_some_and(|known| known.is_schema_bound);
                self.note(name, (&view.schema, &view.name), is_bound);
            }
            Some(Relation::System(view)) => self.note(name, (&view.schema, &view.name), false),
            None => {}
        }
        Ok(found)
    }

    fn enter_view(&self, _: (&str, &str)) {
        self.depth.set(self.depth.get() + 1);
    }

    fn leave_view(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    fn note_star(&self) -> Result<(), SqlError> {
        if self.depth.get() == 0 {
            self.named.borrow_mut().has_star = true;
        }
        Ok(())
    }

    fn note_source(&self, relation: &Relation, _: &[SourceColumn]) -> Option<usize> {
        let (Relation::Table(table), 0) = (relation, self.depth.get()) else {
            return None;
        };
        let mut sources = self.sources.borrow_mut();
        sources.push(Arc::clone(table));
        sources.len().checked_sub(1)
    }

    fn note_column(&self, source: usize, column: usize) {
        let sources = self.sources.borrow();
        let table = sources.get(source);
        if let Some((table, column)) = table.and_then(|table| Some((table, table.columns.get(column)?))) {
            let place = (table.schema.clone(), table.name.clone(), column.name.clone());
            self.named.borrow_mut().columns.push(place);
        }
    }

    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        self.catalog.function(name)
    }

    fn sequence(&self, name: &ObjectName) -> Result<Option<Arc<Sequence>>, SqlError> {
        self.catalog.sequence(name)
    }

    fn user_function(&self, name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        let found = self.catalog.user_function(name)?;
        if let Some(function) = &found {
            let known = self.catalog.schema.function(&function.schema, &function.name);
            let is_bound = known.is_some_and(|known| known.is_schema_bound);
            self.note(name, (&function.schema, &function.name), is_bound);
        }
        Ok(found)
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        self.catalog.table_variable(name)
    }
}

fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Batch, text)
}

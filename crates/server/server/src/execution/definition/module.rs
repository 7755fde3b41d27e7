//! Views and procedures: what is kept as the text that makes it.

use std::sync::Arc;

use selenite_compiler::catalog::{self, Catalog, Relation, SystemFunction, Table};
use selenite_compiler::definition::{SCHEMA, is_scalar};
use selenite_compiler::program::Program;
use selenite_compiler::statement::Binding;
use selenite_compiler::{SqlError, Variables, same_name};
use selenite_tsql::ast::{Create, Name, ObjectName, Procedure, Statement, StatementKind, View};

use super::{DefinitionContext, Written, is_temporary, refusal};
use crate::catalog::catalog_rows::{CatalogRow, ObjectKind};
use crate::catalog::schema::parsed;
use crate::names::session_catalog::SessionCatalog;

impl DefinitionContext<'_> {
    pub(crate) fn define_view(&self, view: &View, statement: &Statement) -> Result<(), SqlError> {
        for option in &view.options {
            if !option.is_word("VIEW_METADATA") {
                return Err(SqlError::unsupported(&format!("WITH {} of a view", option.text)));
            }
        }
        if view.check_option {
            self.check_checked(view)?;
        }
        let known = self
            .catalog
            .schema
            .view(&view.name.name.text)
            .map(|view| view.row.clone());
        let known = self.check_module(view.create, &view.name, (known, "view"))?;
        self.check_view(view)?;
        self.keep_module(ObjectKind::View, (&view.name, known), statement)
    }

    /// WITH CHECK OPTION is for views over one table, whose condition depends on nothing else.
    fn check_checked(&self, view: &View) -> Result<(), SqlError> {
        let refused =
            || SqlError::unsupported("WITH CHECK OPTION of a view that is not over one table, or asks another");
        let seen = self.catalog_view(view);
        let filter = seen.checked_filter().ok_or_else(refused)?;
        let is_of_view = seen
            .table_name()
            .is_none_or(|table| self.catalog.schema.view(&table.name.text).is_some());
        let is_scalar = filter.is_none_or(|(filter, _)| is_scalar(filter));
        if is_of_view || !is_scalar {
            return Err(refused());
        }
        Ok(())
    }

    fn catalog_view(&self, view: &View) -> catalog::View {
        catalog::View {
            database: self.catalog.database.to_string(),
            schema: SCHEMA.to_owned(),
            name: view.name.name.text.clone(),
            columns: view.columns.clone(),
            select: Arc::new(view.select.clone()),
            check_option: view.check_option,
        }
    }

    /// Binds a view once, as queries will see it.
    fn check_view(&self, view: &View) -> Result<(), SqlError> {
        let name = view.name.name.text.as_str();
        let variables = Variables::default();
        let inside = WithView {
            catalog: self.catalog,
            view: None,
        };
        let binding = Binding {
            catalog: &inside,
            variables: &variables,
        };
        let select = Statement {
            kind: StatementKind::Select(Box::new(view.select.clone())),
            position: view.name.position,
        };
        let bound = binding.statement(&select)?;
        if view.columns.is_empty() {
            let mut seen: Vec<&str> = Vec::new();
            for (at, column) in bound.columns().iter().enumerate() {
                if column.name.is_empty() {
                    return Err(refusal::view_column_unnamed(at + 1));
                }
                if seen.iter().any(|before| same_name(before, &column.name)) {
                    return Err(refusal::view_column_twice(&column.name, name));
                }
                seen.push(&column.name);
            }
        }
        let outside = WithView {
            catalog: self.catalog,
            view: Some(Arc::new(self.catalog_view(view))),
        };
        let tree = parsed(&format!("SELECT * FROM {}", super::alter::bracketed(name)))?;
        let select = tree.statements.first().ok_or_else(|| SqlError::internal("a view"))?;
        let binding = Binding {
            catalog: &outside,
            variables: &variables,
        };
        binding.statement(select).map(drop)
    }

    pub(crate) fn define_procedure(&self, procedure: &Procedure, statement: &Statement) -> Result<(), SqlError> {
        let is_known = |option: &&Name| !option.is_word("RECOMPILE");
        if let Some(option) = procedure.options.iter().find(is_known) {
            return Err(SqlError::unsupported(&format!("WITH {} of a procedure", option.text)));
        }
        if procedure.for_replication {
            return Err(SqlError::unsupported("FOR REPLICATION"));
        }
        if procedure.number.is_some_and(|number| number > 1) {
            return Err(SqlError::unsupported("Procedures that share a name"));
        }
        let name = procedure.name.name.text.as_str();
        let known = self.catalog.schema.procedure(name).map(|row| (**row).clone());
        let known = self.check_module(procedure.create, &procedure.name, (known, "procedure"))?;
        Program::of_procedure(self.source, procedure, name, 0).map_err(|mut errors| {
            if errors.is_empty() {
                SqlError::internal("a procedure")
            } else {
                errors.remove(0)
            }
        })?;
        self.keep_module(ObjectKind::Procedure, (&procedure.name, known), statement)
    }

    /// Whether the definition is allowed: returns the present object of its name and kind.
    fn check_module(
        &self,
        create: Create,
        name: &ObjectName,
        (known, kind): (Option<CatalogRow>, &str),
    ) -> Result<Option<CatalogRow>, SqlError> {
        let own = name.name.text.as_str();
        if is_temporary(own) {
            return Err(SqlError::unsupported(&format!("The temporary {kind} '{own}'")));
        }
        self.catalog.check_place(name)?;
        if let Some(schema) = name.schema.as_ref().filter(|schema| !same_name(&schema.text, SCHEMA)) {
            return Err(SqlError::unknown_schema(&schema.text));
        }
        match (create, &known) {
            (Create::Alter | Create::NewOrAlter, Some(_)) => {}
            (Create::New, _) | (Create::NewOrAlter, None) => self.check_free(name)?,
            (Create::Alter, None) if self.catalog.schema.has_object(own) => {
                return Err(refusal::not_of_kind(own, kind));
            }
            (Create::Alter, None) => return Err(refusal::invalid_name(own)),
        }
        Ok(known)
    }

    fn keep_module(
        &self,
        kind: ObjectKind,
        (name, known): (&ObjectName, Option<CatalogRow>),
        statement: &Statement,
    ) -> Result<(), SqlError> {
        let text = statement.position.text(self.source).trim_end();
        let object_id = match &known {
            Some(row) => row.object_id,
            None => self.new_id("main")?,
        };
        let written = Written {
            object_id,
            kind,
            name: known.as_ref().map_or(name.name.text.as_str(), |row| row.name.as_str()),
            parent: None,
            definition: created(text),
        };
        self.store("main", written)
    }

    pub(crate) fn drop_module(
        &self,
        name: &ObjectName,
        if_exists: bool,
        (kind, used): (&str, &str),
    ) -> Result<(), SqlError> {
        let own = name.name.text.as_str();
        self.catalog.check_place(name)?;
        let schema = &self.catalog.schema;
        let (view, procedure) = (schema.view(own).map(|view| view.row.object_id), schema.procedure(own));
        let found = if kind == "view" {
            view
        } else {
            procedure.map(|row| row.object_id)
        };
        if let Some(object_id) = found.filter(|_| SessionCatalog::is_users(name)) {
            return self.forget("main", object_id);
        }
        let other = if schema.table(own).is_some() {
            Some("table")
        } else if view.is_some() {
            Some("view")
        } else {
            procedure.map(|_| "procedure")
        };
        match other.filter(|_| SessionCatalog::is_users(name)) {
            Some(other) => Err(refusal::wrong_kind(used, own, other)),
            None if if_exists => Ok(()),
            None => Err(refusal::not_there(kind, own)),
        }
    }
}

/// The text with CREATE for ALTER, as SQL Server keeps it.
fn created(text: &str) -> String {
    match text.get(..ALTER.len()) {
        Some(word) if word.eq_ignore_ascii_case(ALTER) => format!("CREATE{}", &text[ALTER.len()..]),
        Some(_) | None => text.to_owned(),
    }
}

const ALTER: &str = "ALTER";

/// The catalog as a view sees it, without temporary tables; and one in which the view that is being created is
/// visible.
struct WithView<'a> {
    catalog: &'a SessionCatalog,
    view: Option<Arc<catalog::View>>,
}

impl Catalog for WithView<'_> {
    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        if is_temporary(&name.name.text) {
            return Err(refusal::view_of_temporary());
        }
        if let Some(view) = &self.view
            && name.schema.is_none()
            && same_name(&view.name, &name.name.text)
        {
            return Ok(Some(Relation::View(view.clone())));
        }
        self.catalog.relation(name)
    }

    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        self.catalog.function(name)
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        self.catalog.table_variable(name)
    }
}

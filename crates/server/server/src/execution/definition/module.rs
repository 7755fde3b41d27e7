//! Views, procedures and functions: what is kept as the text that makes it.

use std::sync::Arc;

use selenite_compiler::catalog::{self, Catalog, Relation, SystemFunction, Table, UserFunction};
use selenite_compiler::definition::{SCHEMA, bracketed, is_scalar};
use selenite_compiler::program::Program;
use selenite_compiler::statement::Binding;
use selenite_compiler::{SqlError, Variables, same_name, written_object};
use selenite_tsql::ast::{Create, ModuleContext, Name, ObjectName, Procedure, Statement, StatementKind, View};

use super::{DefinitionContext, Written, refusal};
use crate::catalog::catalog_rows::{self, CatalogRow, ObjectKind};
use crate::catalog::module_context::StoredContext;
use crate::catalog::permission::{check_altered, may_impersonate, no_drop};
use crate::catalog::principals::{DBO, not_there};
use crate::catalog::schema::{is_temporary, parsed};
use crate::names::session_catalog::SessionCatalog;

impl DefinitionContext<'_> {
    pub(crate) fn define_view(&self, view: &View, statement: &Statement) -> Result<(), SqlError> {
        for option in &view.options {
            if !option.is_word("VIEW_METADATA") && !option.is_word("SCHEMABINDING") {
                return Err(SqlError::unsupported(&format!("WITH {} of a view", option.text)));
            }
        }
        if view.check_option {
            self.check_checked(view)?;
        }
        let known = self.catalog.view(&view.name).map(|view| view.row.clone());
        let (schema, known) = self.check_module(view.create, &view.name, (known, "view"))?;
        if let Some(known) = &known {
            let written = written_object(&view.name);
            self.check_not_bound("ALTER", ((&known.schema, &known.name), &written), &[])?;
            if view.check_option && self.catalog.schema.triggers_of(known.object_id).next().is_some() {
                return Err(SqlError::unsupported("WITH CHECK OPTION of a view with triggers"));
            }
        }
        self.check_view(view, &schema)?;
        if view.options.iter().any(|option| option.is_word("SCHEMABINDING")) {
            self.check_binding(view, &schema)?;
        }
        self.keep_module(ObjectKind::View, (&schema, &view.name, known), statement)
            .map(drop)
    }

    /// WITH CHECK OPTION is for views over one table, whose condition depends on nothing else.
    fn check_checked(&self, view: &View) -> Result<(), SqlError> {
        let refused =
            || SqlError::unsupported("WITH CHECK OPTION of a view that is not over one table, or asks another");
        let seen = self.catalog_view(view, SCHEMA);
        let filter = seen.checked_filter().ok_or_else(refused)?;
        let is_of_view = seen.table_name().is_none_or(|table| self.catalog.view(table).is_some());
        let is_scalar = filter.is_none_or(|(filter, _)| is_scalar(filter));
        if is_of_view || !is_scalar {
            return Err(refused());
        }
        Ok(())
    }

    fn catalog_view(&self, view: &View, schema: &str) -> catalog::View {
        catalog::View {
            database: self.catalog.database.to_string(),
            schema: schema.to_owned(),
            name: view.name.name.text.clone(),
            columns: view.columns.clone(),
            select: Arc::new(view.select.clone()),
            check_option: view.check_option,
            object_id: 0,
            fires: catalog::Fires::default(),
        }
    }

    /// Binds a view once, as queries will see it.
    fn check_view(&self, view: &View, schema: &str) -> Result<(), SqlError> {
        let name = view.name.name.text.as_str();
        let variables = Variables::default();
        // The names of its text are looked up in its schema.
        let catalog = SessionCatalog {
            default_schema: Arc::from(schema),
            ..self.catalog.clone()
        };
        let inside = WithView {
            catalog: &catalog,
            view: None,
            function: None,
            tables: Vec::new(),
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
            view: Some(Arc::new(self.catalog_view(view, schema))),
            function: None,
            tables: Vec::new(),
        };
        let tree = parsed(&format!("SELECT * FROM {}", bracketed(name)))?;
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
        let known = self.catalog.procedure(&procedure.name).map(|row| (**row).clone());
        let (schema, known) = self.check_module(procedure.create, &procedure.name, (known, "procedure"))?;
        Program::of_procedure(self.source, procedure, name, 0).map_err(|mut errors| {
            if errors.is_empty() {
                SqlError::internal("a procedure")
            } else {
                errors.remove(0)
            }
        })?;
        let is_temporary = name.starts_with('#');
        let is_caller = matches!(procedure.execute_as, None | Some(ModuleContext::Caller));
        if is_temporary && !is_caller {
            return Err(SqlError::unsupported("WITH EXECUTE AS of a temporary procedure"));
        }
        if let Some(known) = &known {
            check_altered("procedure", &procedure.name, self.made(known))?;
        }
        let execute_as = self.context_of(procedure.execute_as.as_ref(), &schema)?;
        let id = self.keep_module(ObjectKind::Procedure, (&schema, &procedure.name, known), statement)?;
        let state = match is_temporary {
            true => Some(self.maker()),
            false => execute_as.map(StoredContext::word),
        };
        catalog_rows::set_state(&self.database.connection, self.place(name), id, state.as_deref())
    }

    /// The principal of WITH EXECUTE AS of a module in a schema, if who defines the module may execute as it.
    ///
    /// # Errors
    /// 15151.
    pub(super) fn context_of(
        &self,
        execute_as: Option<&ModuleContext>,
        schema: &str,
    ) -> Result<Option<StoredContext>, SqlError> {
        let permissions = self.objects.permissions();
        let principals = self.catalog.schema.principals();
        let own = permissions.user.as_ref().map(|(id, _)| *id);
        let (id, name) = match execute_as {
            None | Some(ModuleContext::Caller) => return Ok(None),
            Some(ModuleContext::Creator) => (own, "SELF"),
            Some(ModuleContext::Owner) => {
                let owner = self.catalog.schema.names().named(schema).map(|schema| schema.owner);
                let is_user = |id: &i32| *id == DBO || principals.users().iter().any(|user| user.id == *id);
                (owner.filter(is_user), "OWNER")
            }
            Some(ModuleContext::User(name)) if same_name(name, "dbo") => (Some(DBO), name.as_str()),
            Some(ModuleContext::User(name)) => (principals.named(name).map(|user| user.id), name.as_str()),
        };
        match id.filter(|id| may_impersonate(*id, &permissions)) {
            Some(principal) => Ok(Some(StoredContext {
                principal,
                is_owner: execute_as == Some(&ModuleContext::Owner),
            })),
            None => Err(not_there("execute as", "user", name)),
        }
    }

    /// Whether the definition is allowed: returns the schema, and the present object of its name and kind.
    pub(super) fn check_module(
        &self,
        create: Create,
        name: &ObjectName,
        (known, kind): (Option<CatalogRow>, &str),
    ) -> Result<(String, Option<CatalogRow>), SqlError> {
        let own = name.name.text.as_str();
        if kind == "view" && own.starts_with('#') {
            return Err(refusal::temporary_view(own));
        }
        if !is_temporary(own) {
            self.catalog.check_place(name)?;
        }
        // A definition that may be new is one of the schema that a new object would be in.
        let known = match create {
            Create::Alter => known,
            Create::New | Create::NewOrAlter => {
                let schema = self.catalog.new_schema(name)?;
                known.filter(|row| same_name(&row.schema, &schema))
            }
        };
        match (create, known) {
            (Create::Alter | Create::NewOrAlter, Some(row)) => Ok((row.schema.clone(), Some(row))),
            (Create::New, _) | (Create::NewOrAlter, None) => Ok((self.check_free(name)?, None)),
            (Create::Alter, None) if self.catalog.schema_of(name).is_some() => {
                Err(refusal::not_of_kind(&written_object(name), kind))
            }
            (Create::Alter, None) => Err(refusal::invalid_name(&written_object(name))),
        }
    }

    pub(super) fn keep_module(
        &self,
        kind: ObjectKind,
        (schema, name, known): (&str, &ObjectName, Option<CatalogRow>),
        statement: &Statement,
    ) -> Result<i32, SqlError> {
        let place = self.place(&name.name.text);
        let text = statement.position.text(self.source).trim_end();
        self.check_types((&self.catalog.default_schema, schema), text)?;
        let object_id = match &known {
            Some(row) => row.object_id,
            None => self.new_id(place)?,
        };
        let written = Written {
            object_id,
            kind,
            schema,
            name: known.as_ref().map_or(name.name.text.as_str(), |row| row.name.as_str()),
            parent: None,
            definition: created(text),
        };
        self.store(place, written).map(|()| object_id)
    }

    pub(crate) fn drop_module(
        &self,
        name: &ObjectName,
        if_exists: bool,
        (kind, used): (&str, &str),
        dropped: &[(String, String)],
    ) -> Result<(), SqlError> {
        if !is_temporary(&name.name.text) {
            self.catalog.check_place(name)?;
        }
        let view = self.catalog.view(name).map(|view| view.row.object_id);
        let procedure = self.catalog.procedure(name);
        if let Some(row) = procedure.filter(|row| kind == "procedure" && !self.made(row)) {
            return Err(no_drop(kind, &row.name));
        }
        let procedure = procedure.map(|row| row.object_id);
        let function = self.catalog.function_of(name).map(|function| function.row.object_id);
        let found = match kind {
            "view" => view,
            "function" => function,
            _ => procedure,
        };
        if let Some(object_id) = found {
            let schema = self.catalog.schema_of(name).unwrap_or_default();
            let own = (schema.as_str(), name.name.text.as_str());
            self.check_not_bound(&format!("DROP {used}"), (own, &written_object(name)), dropped)?;
            if let Some(function) = self.catalog.function_of(name).filter(|_| kind == "function") {
                self.check_function_unused("DROP FUNCTION", &written_object(name), &function.row)?;
            }
            return self.forget(self.place(&name.name.text), object_id);
        }
        let other = if self.catalog.table(name).is_some() {
            Some("table")
        } else if view.is_some() {
            Some("view")
        } else {
            procedure.map(|_| "procedure").or(function.map(|_| "function"))
        };
        let written = written_object(name);
        match other {
            Some(other) => Err(refusal::wrong_kind(used, &written, other)),
            None if if_exists => Ok(()),
            None => Err(refusal::not_there(kind, &written)),
        }
    }
}

/// The text with CREATE for ALTER, as SQL Server keeps it.
pub(super) fn created(text: &str) -> String {
    match text.get(..ALTER.len()) {
        Some(word) if word.eq_ignore_ascii_case(ALTER) => format!("CREATE{}", &text[ALTER.len()..]),
        Some(_) | None => text.to_owned(),
    }
}

const ALTER: &str = "ALTER";

/// The catalog as a view or function sees it, without temporary tables; and one in which the view or function that is
/// being created is visible.
pub(super) struct WithView<'a> {
    pub(super) catalog: &'a SessionCatalog,
    pub(super) view: Option<Arc<catalog::View>>,
    pub(super) function: Option<Arc<UserFunction>>,
    /// The function's table-valued parameters.
    pub(super) tables: Vec<Arc<Table>>,
}

impl Catalog for WithView<'_> {
    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        if name.name.text.starts_with('#') {
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

    fn user_function(&self, name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        if let Some(function) = &self.function
            && same_name(&function.name, &name.name.text)
            && name
                .schema
                .as_ref()
                .is_none_or(|schema| same_name(&schema.text, &function.schema))
        {
            return Ok(Some(function.clone()));
        }
        self.catalog.user_function(name)
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        let mut tables = self.tables.iter();
        match tables.find(|table| same_name(&table.name, name)) {
            Some(table) => Ok(Some(Arc::clone(table))),
            None => self.catalog.table_variable(name),
        }
    }
}

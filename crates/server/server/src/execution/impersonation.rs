//! The statements EXECUTE AS and REVERT, EXECUTE (..) AS, and WITH EXECUTE AS of modules: see
//! [`crate::execution::security_context`].

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::{SqlError, same_name};
use selenite_keyring::os_random;
use selenite_runtime::machine::{Affected, Failure, FrameKind, TableStatement};
use selenite_tsql::ast::{ExecuteAs, Expr, ExprKind, ImpersonatedPrincipal, Literal, ModuleContext};
use selenite_types::{DataType, Value, Width};

use crate::catalog::effective_permissions::Permissions;
use crate::catalog::module_context::StoredContext;
use crate::catalog::permission::{error, may_impersonate, may_impersonate_login, no_access};
use crate::catalog::principals::DBO;
use crate::catalog::running_module::{RunningModule, row_of};
use crate::execution::security_context::Reverts;
use crate::execution::session_executor::SessionExecutor;
use crate::master::{DatabaseRecord, SA, TEMPDB};
use crate::names::identity::Identity;

impl SessionExecutor<'_> {
    /// Finds out what whom the session acts as may do in the database in use. Statements that were bound for other rights are
    /// forgotten.
    pub(crate) fn refresh_permissions(&mut self) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let directory = self.registry.directory(instance)?;
        self.scope.objects.directory = directory.clone();
        let identity = self.contexts.current();
        self.scope.objects.identity.clone_from(identity);
        let is_administrator = identity.is_administrator(&directory);
        if is_administrator && self.permissions.is_administrator {
            return Ok(());
        }
        let permissions = if is_administrator {
            Permissions::administrator()
        } else {
            self.refresh()?;
            let objects = &self.scope.objects;
            let place = (self.transactions.current, &objects.catalog.schema);
            objects.known_permissions.of(&objects.identity, &directory, place)
        };
        if permissions != self.permissions {
            self.plans.statements.clear();
            self.cursor_work.forget_plans();
            self.scope.default_schema = Arc::clone(&permissions.default_schema);
            self.permissions = permissions;
        }
        self.scope.objects.catalog.default_schema = Arc::clone(&self.scope.default_schema);
        Ok(())
    }

    /// EXECUTE AS.
    pub(crate) fn execute_as(
        &mut self,
        execute: &ExecuteAs,
        (statement, slots): (&TableStatement<'_>, &mut [Value]),
    ) -> Result<Affected, Failure> {
        if (execute.no_revert || execute.cookie.is_some()) && !self.frames.is_batch() {
            let text =
                "Can only use the 'No Revert' or 'Cookie' options with the 'Execute As' statement at the adhoc level.";
            return Err(error(15_590, text).into());
        }
        let identity = match &execute.principal {
            ImpersonatedPrincipal::Caller => {
                let count = self.frames.contexts_of_caller();
                self.contexts
                    .below(count.unwrap_or_else(|| self.contexts.count()))
                    .clone()
            }
            ImpersonatedPrincipal::User(name) => self.user_to_be(&text(name, statement, slots)?)?,
            ImpersonatedPrincipal::Login(name) => self.login_to_be(&text(name, statement, slots)?)?,
        };
        let reverts = match &execute.cookie {
            _ if execute.no_revert => Reverts::Never,
            None => Reverts::Freely,
            Some(variable) => {
                let found = statement.program.variables().find(variable)?;
                let has_room = matches!(
                    found.data_type,
                    DataType::VarBinary(Width::Max | Width::Limited(COOKIE_SIZE..))
                );
                let slot = slots.get_mut(found.slot.index()).filter(|_| has_room);
                let slot = slot.ok_or_else(|| SqlError::unsupported("A cookie that is no VARBINARY(100) or longer"))?;
                let mut cookie = vec![0; usize::from(COOKIE_SIZE)];
                os_random(&mut cookie);
                *slot = Value::Binary(Arc::from(cookie.as_slice()));
                Reverts::ByCookie(cookie)
            }
        };
        self.begin_context(identity, reverts)?;
        Ok(Affected::Nothing)
    }

    /// REVERT.
    pub(crate) fn revert(
        &mut self,
        cookie: Option<&Expr>,
        (statement, slots): (&TableStatement<'_>, &[Value]),
    ) -> Result<Affected, Failure> {
        let cookie = cookie.map(|cookie| value(cookie, statement, slots)).transpose()?;
        // Anything but bytes is no cookie.
        let bytes = cookie.map(|cookie| {
            let Value::Binary(bytes) = cookie else {
                return Vec::new();
            };
            bytes.to_vec()
        });
        let begun = self.frames.contexts();
        self.contexts
            .revert(begun, self.transactions.current, bytes.as_deref())?;
        self.refresh_permissions()?;
        Ok(Affected::Nothing)
    }

    /// What a frame has begun ends with it.
    pub(crate) fn end_contexts(&mut self, count: usize) {
        if self.contexts.count() > count {
            self.contexts.end_since(count);
            // An error is reported by the next statement that needs the permissions.
            let _ = self.refresh_permissions();
        }
    }

    fn begin_context(&mut self, identity: Identity, reverts: Reverts) -> Result<(), SqlError> {
        let count = self.contexts.count();
        let database = Arc::clone(&self.transactions.connect()?.database.shared);
        self.contexts.begin(identity, database, reverts);
        let refreshed = self.refresh_permissions();
        if refreshed.is_err() {
            self.contexts.end_since(count);
        }
        refreshed
    }

    /// The user of a name in the database in use, if the session may execute as it.
    fn user_to_be(&mut self, name: &str) -> Result<Identity, SqlError> {
        self.refresh()?;
        let principals = self.scope.objects.catalog.schema.principals();
        let id = match same_name(name, "dbo") {
            true => Some(DBO),
            false => principals.named(name).map(|user| user.id),
        };
        let id = id.filter(|id| may_impersonate(*id, &self.permissions));
        let found = id.and_then(|id| self.user_identity(id));
        found.ok_or_else(|| no_user(name))
    }

    /// A user of the database in use.
    fn user_identity(&self, id: i32) -> Option<Identity> {
        let objects = &self.scope.objects;
        let logins = &objects.directory.records;
        let sid = match id {
            DBO => logins.iter().find(|login| login.id == SA)?.sid.to_vec(),
            id => {
                let mut users = objects.catalog.schema.principals().users().iter();
                users.find(|user| user.id == id)?.sid.clone()
            }
        };
        let login = logins.iter().find(|login| login.sid == *sid);
        Some(Identity {
            login: login.map_or_else(|| Arc::from(""), |login| Arc::from(login.name.as_str())),
            sid,
            user: Some((self.transactions.current, id)),
        })
    }

    /// The login of a name, if the session may execute as it and it may use the database in use.
    fn login_to_be(&mut self, name: &str) -> Result<Identity, SqlError> {
        let logins = &self.scope.objects.directory.records;
        // By the security id: the login may be gone, and another one have its number.
        let is_own = |sid: &[u8]| {
            let current = self.contexts.current();
            current.user.is_none() && current.sid == sid
        };
        let found = logins.iter().find(|login| same_name(&login.name, name));
        let who = (&self.permissions, &*self.scope.objects.directory);
        let found = found.filter(|login| may_impersonate_login(&login.sid, who) || is_own(&login.sid));
        let Some(login) = found else {
            // 15406: a login that the session may not execute as.
            let text = format!(
                "Cannot execute as the server principal because the principal \"{name}\" does not exist, this type of \
                 principal cannot be impersonated, or you do not have permission."
            );
            return Err(error(15_406, text));
        };
        let identity = Identity {
            login: Arc::from(login.name.as_str()),
            sid: login.sid.to_vec(),
            user: None,
        };
        let current = self.transactions.current;
        let mut known = self.scope.objects.directory.databases.iter();
        let record = known.find(|record| record.id == current).cloned();
        match record.is_some_and(|record| self.lets_in(&identity, &record).unwrap_or(false)) {
            true => Ok(identity),
            false => Err(no_access(name, &self.scope.objects.catalog.database)),
        }
    }

    /// Whether an identity may use a database.
    pub(crate) fn lets_in(&self, identity: &Identity, record: &DatabaseRecord) -> Result<bool, SqlError> {
        match identity.user {
            Some((database, _)) => Ok(record.id == database || record.id == TEMPDB),
            None => self.registry.lets_in(self.session.instance, &identity.sid, record),
        }
    }

    /// A text begins: EXECUTE (..) AS, which no REVERT in the text takes back.
    ///
    /// # Errors
    /// 15406, 15517, 916.
    pub(crate) fn enter_text_context(&mut self, kind: FrameKind) -> Result<(), SqlError> {
        if kind != FrameKind::Text {
            return Ok(());
        }
        let Some(principal) = self.text_principal.take() else {
            return Ok(());
        };
        self.refresh_permissions()?;
        let name = principal.name.trim_end_matches(' ');
        let identity = match principal.is_login {
            true => self.login_to_be(name)?,
            false => self.user_to_be(name)?,
        };
        self.begin_context(identity, Reverts::Never)
    }

    /// A procedure, trigger or function begins: WITH EXECUTE AS of it.
    ///
    /// # Errors
    /// 15517.
    pub(crate) fn enter_context(&mut self, program: &Program) -> Result<(), SqlError> {
        if *program.execute_as() == ModuleContext::Caller {
            return Ok(());
        }
        self.refresh()?;
        let schema = &self.scope.objects.catalog.schema;
        let row = row_of(program, schema);
        let stored = row.and_then(|row| StoredContext::in_state(row.state.as_deref()));
        // `as-it-was-allowed`.
        let is_same =
            |of: &StoredContext| !of.is_owner || RunningModule::of(program, schema).owner == Some(of.principal);
        let identity = stored.filter(is_same).and_then(|of| self.user_identity(of.principal));
        self.begin_context(identity.ok_or_else(|| no_user(""))?, Reverts::Never)
    }
}

fn text(name: &Expr, statement: &TableStatement<'_>, slots: &[Value]) -> Result<String, SqlError> {
    if let Value::Text(text) = value(name, statement, slots)? {
        return Ok(text.trim_end_matches(' ').to_owned());
    }
    Err(SqlError::unsupported("EXECUTE AS of a name that is no text"))
}

/// The value of a constant or a variable.
fn value(expr: &Expr, statement: &TableStatement<'_>, slots: &[Value]) -> Result<Value, SqlError> {
    let unknown = || SqlError::unsupported("EXECUTE AS or REVERT with this value");
    if let ExprKind::Literal(Literal::String(text) | Literal::National(text)) = &expr.kind {
        return Ok(Value::Text(text.as_str().into()));
    }
    let ExprKind::Variable(name) = &expr.kind else {
        return Err(unknown());
    };
    let slot = statement.program.variables().find(name)?.slot;
    slots.get(slot.index()).cloned().ok_or_else(unknown)
}

/// 15517: a user that the session may not execute as.
fn no_user(name: &str) -> SqlError {
    let text = format!(
        "Cannot execute as the database principal because the principal \"{name}\" does not exist, this type of principal \
         cannot be impersonated, or you do not have permission."
    );
    error(15_517, text)
}

/// As long as SQL Server's.
const COOKIE_SIZE: u16 = 100;

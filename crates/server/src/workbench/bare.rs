//! A workshop without data: sessions run what needs no table.

use std::sync::Arc;

use selenite_plan::machine::{Affected, Call, Callee, Failure, FrameKind, TableStatement, TransactionStep};
use selenite_plan::program::Program;
use selenite_plan::{
    ColumnFacts, ColumnKey, DatabaseFacts, Ends, IdentityFacts, Key, ObjectFacts, ObjectKey, PlanError, PrincipalFacts,
    SchemaFacts,
};
use selenite_tsql::ast;
use selenite_types::{DataType, Value};

use super::{CurrentDatabase, Errand, Objects, Patron, Workbench, Workshop};
use crate::Instance;
use crate::master::{DatabaseRecord, LoginRecord, MasterError};

/// A workshop whose databases have nothing in them: each statement on tables is refused by name.
#[derive(Clone, Copy, Default, Debug)]
pub struct Bare;

struct BareBench<'a> {
    instance: &'a Instance,
    home: CurrentDatabase,
    objects: BareObjects<'a>,
}

struct BareObjects<'a> {
    instance: &'a Instance,
    current: CurrentDatabase,
}

impl Workshop for Bare {
    fn admits(&self, _instance: &Instance, _login: &LoginRecord, _database: &DatabaseRecord) -> bool {
        true
    }

    fn open<'a>(&'a self, patron: Patron<'a>) -> Result<Box<dyn Workbench + 'a>, PlanError> {
        let home = CurrentDatabase {
            id: patron.visitor.database_id,
            name: Arc::from(patron.visitor.database.as_str()),
        };
        Ok(Box::new(BareBench {
            instance: patron.instance,
            home: home.clone(),
            objects: BareObjects {
                instance: patron.instance,
                current: home,
            },
        }))
    }

    fn close(&self) {}
}

impl Workbench for BareBench<'_> {
    fn objects(&self) -> &dyn Objects {
        &self.objects
    }

    fn use_database(&mut self, name: &str, _errand: Errand<'_>) -> Result<CurrentDatabase, Failure> {
        let found = self.instance.master().database(name).map_err(trouble)?;
        let record = found.ok_or_else(|| unknown_database(name))?;
        self.objects.current = CurrentDatabase {
            id: record.id,
            name: Arc::from(record.name),
        };
        Ok(self.objects.current.clone())
    }

    fn statement(
        &mut self,
        statement: &TableStatement<'_>,
        _slots: &mut [Value],
        _errand: Errand<'_>,
    ) -> Result<Affected, Failure> {
        let source = statement.program.source();
        let text = statement.statement.position.text(source);
        let words: Vec<&str> = text.split_whitespace().take(2).collect();
        let error = PlanError::unsupported(&format!("A statement on tables ({} ..)", words.join(" ")));
        Err(error.with_ends(Ends::Statement).into())
    }

    fn call(&mut self, _call: &Call<'_>, _errand: Errand<'_>) -> Result<Option<Callee>, Failure> {
        Ok(None)
    }

    fn enter(&mut self, _program: &Arc<Program>, _kind: FrameKind) -> Result<(), Failure> {
        Ok(())
    }

    fn leave(&mut self) {}

    fn transaction(&mut self, _step: TransactionStep<'_>, _errand: Errand<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn identity_insert(&mut self, table: &ast::ObjectName, _on: bool, _errand: Errand<'_>) -> Result<(), Failure> {
        Err(PlanError::unknown_object(&selenite_plan::written_object(table)).into())
    }

    fn reset(&mut self, _errand: Errand<'_>) -> Result<CurrentDatabase, Failure> {
        self.objects.current = self.home.clone();
        Ok(self.home.clone())
    }
}

impl Objects for BareObjects<'_> {
    fn database(&self, key: Key<'_>) -> Result<Option<DatabaseFacts>, PlanError> {
        let master = self.instance.master();
        let found = match key {
            Key::Current => master.database_of(self.current.id),
            Key::Name(name) => master.database(name),
            Key::Id(id) => master.database_of(id),
        };
        Ok(found.map_err(trouble)?.map(|record| DatabaseFacts {
            id: i16::try_from(record.id).unwrap_or(i16::MAX),
            name: Arc::from(record.name),
            is_accessible: true,
            status: Arc::from("ONLINE"),
            is_read_only: false,
            recovery: Arc::from("SIMPLE"),
        }))
    }

    fn schema(&self, key: Key<'_>) -> Result<Option<SchemaFacts>, PlanError> {
        let is_dbo = match key {
            Key::Current => true,
            Key::Name(name) => selenite_plan::same_name(name, DBO),
            Key::Id(id) => id == 1,
        };
        Ok(is_dbo.then(|| SchemaFacts {
            id: 1,
            name: Arc::from(DBO),
        }))
    }

    fn object(&self, _key: ObjectKey<'_>) -> Result<Option<ObjectFacts>, PlanError> {
        Ok(None)
    }

    fn column(&self, _table_id: i32, _key: ColumnKey<'_>) -> Result<Option<ColumnFacts>, PlanError> {
        Ok(None)
    }

    fn identity(&self, _table_id: i32) -> Result<Option<IdentityFacts>, PlanError> {
        Ok(None)
    }

    fn user(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, PlanError> {
        let is_dbo = match key {
            Key::Current => true,
            Key::Name(name) => selenite_plan::same_name(name, DBO),
            Key::Id(id) => id == 1,
        };
        Ok(is_dbo.then(|| principal(1, DBO)))
    }

    fn login(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, PlanError> {
        let logins = self.instance.master().logins().map_err(trouble)?;
        let found = logins.into_iter().find(|login| match key {
            Key::Current => false,
            Key::Name(name) => selenite_plan::same_name(&login.name, name),
            Key::Id(id) => login.id == i64::from(id),
        });
        Ok(found.map(|login| principal(i32::try_from(login.id).unwrap_or(i32::MAX), &login.name)))
    }

    fn alias_type(&self, _key: Key<'_>) -> Result<Option<(i32, String, DataType)>, PlanError> {
        Ok(None)
    }
}

fn principal(id: i32, name: &str) -> PrincipalFacts {
    PrincipalFacts {
        id,
        name: Arc::from(name),
        is_role: false,
        is_member: false,
    }
}

/// 911: USE of what is not there.
fn unknown_database(name: &str) -> PlanError {
    let text = format!("Database '{name}' does not exist. Make sure that the name is entered correctly.");
    PlanError::new(911, Ends::Batch, text)
}

/// 823's kin: master.db can't be read.
fn trouble(error: MasterError) -> PlanError {
    PlanError::new(
        50823,
        Ends::Batch,
        format!("The database 'master' can't be read: {error}."),
    )
}

const DBO: &str = "dbo";

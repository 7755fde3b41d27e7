//! The catalog procedures that SQL Server's clients call: sp_tables, sp_columns and related ones.
//!
//! - `one-text-per-procedure`: each procedure is a text in T-SQL over the views, in a file with the
//!   procedure's name, compiled once for the server.
//! - `checked-before-it-runs`: what a text can't refuse with SQL Server's own error number is
//!   refused before it runs ([`Check`]).

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use selenite_compiler::program::Program;
use selenite_compiler::{Ends, Key, ObjectFacts, ObjectKey, ObjectKind, SqlError, same_name};
use selenite_runtime::machine::{Call, CallArgument};
use selenite_tsql::ast::{ObjectName, StatementKind};
use selenite_types::{Value, text_of};

use crate::catalog::schema::parsed;
use crate::master::ServerRole;
use crate::names::session_objects::SessionObjects;

/// A procedure.
struct ProcedureSpec {
    name: &'static str,
    text: &'static str,
    check: Check,
}

/// What is checked before a procedure runs. A number is the position of the argument.
#[derive(Clone, Copy)]
enum Check {
    /// Nothing: it is about the server, and answers alike in every database.
    OfServer,
    /// Arguments that name the database in use, if they are given.
    Qualifiers(&'static [(usize, &'static str)]),
    /// sp_fkeys: one of its tables must be given, too.
    ForeignKeys,
    /// sp_help: the object must exist, if one is given.
    Object,
    /// sp_spaceused: the object must exist, if one is given, and be one that has pages.
    Space,
    /// sp_helptext: the object must exist and have a text.
    Module,
    /// sp_helpsrvrole, sp_helpsrvrolemember: the fixed role of the server must exist, if one is given.
    ServerRole,
    /// sp_helpdb: the database must exist, if one is given.
    Database,
}

/// The procedure that is called, if it is one of these.
///
/// # Errors
/// 15250, 15252, 15009, 15197, 15010; 40510 for one of another database.
pub fn find(call: &Call<'_>, objects: &SessionObjects) -> Result<Option<Arc<Program>>, SqlError> {
    let name = call.procedure;
    let Some(at) = PROCEDURES
        .iter()
        .position(|procedure| name.name.is(procedure.name) && is_systems(name))
    else {
        return Ok(None);
    };
    let (Some(spec), Some(program)) = (PROCEDURES.get(at), PROGRAMS.get(at)) else {
        return Ok(None);
    };
    match spec.check {
        Check::OfServer | Check::Database | Check::ServerRole => {}
        Check::Qualifiers(_) | Check::ForeignKeys | Check::Object | Check::Space | Check::Module => {
            objects.catalog.check_place(name)?;
        }
    }
    spec.check.look(call.arguments, objects)?;
    let program = program.as_ref().ok_or_else(|| SqlError::internal(spec.name))?;
    Ok(Some(program.clone()))
}

/// Whether a name is of a schema in which system procedures are found.
fn is_systems(name: &ObjectName) -> bool {
    let is_of = |known: &str| name.schema.as_ref().is_some_and(|schema| schema.is(known));
    name.server.is_none() && (name.schema.is_none() || is_of("sys") || is_of("dbo"))
}

impl Check {
    fn look(self, arguments: &[CallArgument], objects: &SessionObjects) -> Result<(), SqlError> {
        match self {
            Self::OfServer => Ok(()),
            Self::Qualifiers(places) => qualifiers(places, arguments, objects),
            Self::ForeignKeys => {
                qualifiers(
                    &[(2, "@pktable_qualifier"), (5, "@fktable_qualifier")],
                    arguments,
                    objects,
                )?;
                let tables = [(0, "@pktable_name"), (3, "@fktable_name")];
                if tables.into_iter().any(|place| given(arguments, place).is_some()) {
                    return Ok(());
                }
                let text = "The primary or foreign key table name must be given.";
                // 15252: sp_fkeys without a table.
                Err(SqlError::new(15_252, Ends::Batch, text.to_owned()))
            }
            Self::Object => {
                let name = given(arguments, (0, "@objname"));
                name.map_or(Ok(()), |name| object(&name, objects).map(drop))
            }
            Self::Space => match given(arguments, (0, "@objname")) {
                Some(name) => space(&name, arguments, objects),
                None => usage(arguments),
            },
            Self::Module => {
                let name = given(arguments, (0, "@objname")).unwrap_or_default();
                let found = object(&name, objects)?;
                match found.kind {
                    ObjectKind::View
                    | ObjectKind::Procedure
                    | ObjectKind::ScalarFunction
                    | ObjectKind::InlineFunction
                    | ObjectKind::TableFunction
                    | ObjectKind::Trigger
                        if objects.permissions().sees_text((&found.schema.name, &found.name)) =>
                    {
                        Ok(())
                    }
                    ObjectKind::View
                    | ObjectKind::Procedure
                    | ObjectKind::ScalarFunction
                    | ObjectKind::InlineFunction
                    | ObjectKind::TableFunction
                    | ObjectKind::Trigger
                    | ObjectKind::UserTable
                    | ObjectKind::SystemTable
                    | ObjectKind::ExtendedProcedure
                    | ObjectKind::PrimaryKey
                    | ObjectKind::Unique
                    | ObjectKind::ForeignKey
                    | ObjectKind::Check
                    | ObjectKind::Default
                    | ObjectKind::Sequence
                    | ObjectKind::Synonym => {
                        let text = format!("There is no text for object '{name}'.");
                        // 15197: sp_helptext of an object without a text.
                        Err(SqlError::new(15_197, Ends::Batch, text))
                    }
                }
            }
            Self::ServerRole => server_role(arguments),
            Self::Database => database(arguments, objects),
        }
    }
}

/// 15250: a database that is not the one in use.
///
/// An empty name and a pattern for all mean the one in use, too.
fn qualifiers(places: &[(usize, &str)], arguments: &[CallArgument], objects: &SessionObjects) -> Result<(), SqlError> {
    for place in places {
        let Some(qualifier) = given(arguments, *place) else {
            continue;
        };
        if !(qualifier.is_empty() || qualifier == "%" || same_name(&qualifier, &objects.catalog.database)) {
            let text = "The database name component of the object qualifier must be the name of the current database.";
            return Err(SqlError::new(15_250, Ends::Batch, text.to_owned()));
        }
    }
    Ok(())
}

/// An argument as text, by its position or its name.
fn given<'a>(arguments: &'a [CallArgument], (at, name): (usize, &str)) -> Option<Cow<'a, str>> {
    let named = |argument: &&CallArgument| argument.name.as_deref().is_some_and(|given| same_name(given, name));
    let found = arguments.iter().find(named);
    let placed = arguments.get(at).filter(|argument| argument.name.is_none());
    match &found.or(placed)?.value {
        Some((Value::Text(text), _)) => Some(Cow::Borrowed(text)),
        Some((value, data_type)) => text_of(value, data_type).map(Cow::Owned),
        None => None,
    }
}

/// 15234: an object without pages.
fn space(name: &str, arguments: &[CallArgument], objects: &SessionObjects) -> Result<(), SqlError> {
    usage(arguments)?;
    let found = object(name, objects)?;
    if found.name.starts_with('#') {
        return Err(SqlError::unsupported("sp_spaceused of a temporary table"));
    }
    if found.kind == ObjectKind::UserTable {
        return Ok(());
    }
    let text = "Objects of this type have no space allocated.";
    Err(SqlError::new(15_234, Ends::Batch, text))
}

/// 15143: an @updateusage that is neither true nor false.
fn usage(arguments: &[CallArgument]) -> Result<(), SqlError> {
    let usage = given(arguments, (1, "@updateusage")).unwrap_or(Cow::Borrowed("false"));
    if ["true", "false"].iter().any(|known| known.eq_ignore_ascii_case(&usage)) {
        return Ok(());
    }
    let text =
        format!("'{usage}' is not a valid option for the @updateusage parameter. Enter either 'true' or 'false'.");
    Err(SqlError::new(15_143, Ends::Batch, text))
}

/// 15010: an unknown database.
fn database(arguments: &[CallArgument], objects: &SessionObjects) -> Result<(), SqlError> {
    match given(arguments, (0, "@dbname")) {
        Some(name) if objects.database(Key::Name(&name))?.is_none() => {
            let text = format!(
                "The database '{name}' does not exist. Supply a valid database name. To see available databases, use \
                 sys.databases."
            );
            Err(SqlError::new(15_010, Ends::Batch, text))
        }
        Some(_) | None => Ok(()),
    }
}

/// 15412: no role that every server has.
fn server_role(arguments: &[CallArgument]) -> Result<(), SqlError> {
    match given(arguments, (0, "@srvrolename")) {
        Some(name) if ServerRole::of_name(&name).is_none() => {
            let text = format!("'{name}' is not a known fixed role.");
            Err(SqlError::new(15_412, Ends::Batch, text))
        }
        Some(_) | None => Ok(()),
    }
}

/// 15009: an object that does not exist.
fn object(name: &str, objects: &SessionObjects) -> Result<ObjectFacts, SqlError> {
    let bare = |part: &str| part.trim().trim_matches(['[', ']', '"']).to_owned();
    let mut parts = name.rsplitn(3, '.').map(bare);
    let own = parts.next().unwrap_or_default();
    let schema = parts.next().filter(|schema| !schema.is_empty());
    let database = parts.next().filter(|database| !database.is_empty());
    let found = objects.object(ObjectKey::Name {
        database: database.as_deref(),
        schema: schema.as_deref(),
        name: &own,
        object_type: None,
    })?;
    found.ok_or_else(|| {
        let database = &objects.catalog.database;
        let text =
            format!("The object '{name}' does not exist in database '{database}' or is invalid for this operation.");
        SqlError::new(15_009, Ends::Batch, text)
    })
}

/// The programs of [`PROCEDURES`], in their order; `None` where a text is wrong.
static PROGRAMS: LazyLock<Vec<Option<Arc<Program>>>> = LazyLock::new(|| {
    let numbered = (FIRST_ID..).zip(PROCEDURES);
    numbered.map(|(id, spec)| compiled(id, spec).map(Arc::new)).collect()
});

fn compiled(id: i32, spec: &ProcedureSpec) -> Option<Program> {
    let tree = parsed(spec.text).ok()?;
    let StatementKind::Procedure(procedure) = tree.statements.into_iter().next()?.kind else {
        return None;
    };
    Program::of_procedure(spec.text, &procedure, spec.name, id).ok()
}

/// Names each text's file once.
macro_rules! procedure {
    ($name:literal, $check:expr) => {
        procedure!($name, $name, $check)
    };
    // A procedure that uses the text of another.
    ($name:literal, $of:literal, $check:expr) => {
        ProcedureSpec {
            name: $name,
            text: include_str!(concat!("procedures/", $of, ".sql")),
            check: $check,
        }
    };
}

const TABLE: Check = Check::Qualifiers(&[(2, "@table_qualifier")]);
const PROCEDURES: &[ProcedureSpec] = &[
    procedure!("sp_tables", TABLE),
    procedure!("sp_columns", TABLE),
    procedure!("sp_columns_100", TABLE),
    procedure!("sp_pkeys", TABLE),
    procedure!("sp_fkeys", Check::ForeignKeys),
    procedure!("sp_statistics", TABLE),
    procedure!("sp_statistics_100", "sp_statistics", TABLE),
    procedure!("sp_special_columns", TABLE),
    procedure!("sp_special_columns_100", TABLE),
    procedure!("sp_stored_procedures", Check::Qualifiers(&[(2, "@sp_qualifier")])),
    procedure!("sp_sproc_columns", Check::Qualifiers(&[(2, "@procedure_qualifier")])),
    procedure!(
        "sp_sproc_columns_100",
        Check::Qualifiers(&[(2, "@procedure_qualifier")])
    ),
    procedure!("sp_datatype_info", Check::OfServer),
    procedure!("sp_datatype_info_100", Check::OfServer),
    procedure!("sp_databases", Check::OfServer),
    procedure!("sp_server_info", Check::OfServer),
    procedure!("sp_describe_first_result_set", Check::Qualifiers(&[])),
    procedure!("sp_describe_undeclared_parameters", Check::Qualifiers(&[])),
    procedure!("sp_help", Check::Object),
    procedure!("sp_helpindex", Check::Object),
    procedure!("sp_helpconstraint", Check::Object),
    procedure!("sp_spaceused", Check::Space),
    procedure!("sp_cursor_list", Check::OfServer),
    procedure!("sp_describe_cursor", Check::OfServer),
    procedure!("sp_updatestats", Check::Qualifiers(&[])),
    procedure!("sp_MSforeachtable", Check::Qualifiers(&[])),
    procedure!("sp_helptext", Check::Module),
    procedure!("sp_helpdb", Check::Database),
    procedure!("sp_helpsrvrole", Check::ServerRole),
    procedure!("sp_helpsrvrolemember", Check::ServerRole),
    procedure!("sp_who", Check::OfServer),
    procedure!("sp_who2", Check::OfServer),
];
/// Numbers of SQL Server's own procedures are below 0, too: these follow those of views.
const FIRST_ID: i32 = -10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_a_procedure_of_its_own_name() {
        for (spec, program) in PROCEDURES.iter().zip(PROGRAMS.iter()) {
            let own = spec.text.split_whitespace().nth(2).unwrap();
            assert!(own == spec.name || format!("{own}_100") == spec.name, "{}", spec.name);
            assert!(program.is_some(), "{}: {:?}", spec.name, parsed(spec.text).err());
        }
    }
}

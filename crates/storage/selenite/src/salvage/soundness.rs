//! SQLite's checks of the new database when it is reopened, as its next user will open it.

use super::filler::refusal;
use super::report::NotMade;
use super::table_layout::quote;
use crate::draft::Draft;
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Watch};

/// Reads the schema, and every table with its indexes; returns the tables that are not sound.
/// Virtual tables are skipped: they may depend on lost rows of the tables that have their content.
///
/// # Errors
/// The errors of SQLite if the schema can't be read; [`EngineError::Interrupted`].
pub fn faults(draft: &Draft<'_>, access: &Access, watch: &Watch) -> Result<Vec<NotMade>, EngineError> {
    let mut database = Database::connect(draft.path(), &access.uri(draft.path()), access)?;
    database.watch(watch)?;
    database.batch("PRAGMA trusted_schema = OFF; PRAGMA ignore_check_constraints = ON")?;
    let mut faults = Vec::new();
    for name in tables(&database)? {
        watch.check()?;
        watch.report(Phase::CheckingIntegrity, 0, 0);
        let sql = format!("PRAGMA main.quick_check({})", quote(&name));
        let why = match database.connection().query_row(&sql, [], |row| row.get::<_, String>(0)) {
            Ok(found) if found == "ok" => continue,
            Ok(fault) => fault,
            Err(error) => {
                // It needs a function or collation of its application, and so is empty, which was
                // reported when it was filled.
                refusal(&database, error)?;
                continue;
            }
        };
        faults.push(NotMade {
            kind: "a sound copy of table".to_owned(),
            name,
            why,
        });
    }
    database.close()?;
    Ok(faults)
}

fn tables(database: &Database) -> Result<Vec<String>, EngineError> {
    let read = || {
        let sql = "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND rootpage > 0";
        let mut statement = database.connection().prepare(sql)?;
        let names = statement.query_map([], |row| row.get(0))?;
        names.collect::<Result<Vec<String>, _>>()
    };
    read().map_err(|error| database.error(error))
}

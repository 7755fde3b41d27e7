//! What SQLite finds wrong with a database, and what it holds.

use rusqlite::Connection;

use super::finding::{Finding, Findings};

/// How deep SQLite looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Depth {
    /// Everything, also whether indexes have what their tables have.
    Full,
    /// Not that (`PRAGMA quick_check`).
    WithoutIndexes,
}

/// Rows and pages of a table.
pub(crate) struct Extent {
    /// Its name.
    pub name: String,
    /// How many rows.
    pub rows: i64,
    /// How many pages, without those of its indexes.
    pub pages: i64,
}

/// Runs SQLite's own check of a database, or of one of its tables.
///
/// # Errors
/// SQLite's, where it can't even begin.
pub(crate) fn check(
    connection: &Connection,
    (depth, table): (Depth, Option<&str>),
    database: &str,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    let pragma = match depth {
        Depth::Full => "integrity_check",
        Depth::WithoutIndexes => "quick_check",
    };
    // The one argument is either a table's name or how many errors to report; as a function it takes a name alone.
    let mut statement = connection.prepare(&match table {
        Some(_) => format!("SELECT * FROM pragma_{pragma}(?1)"),
        None => format!("PRAGMA {pragma}({FAULTS_MAX})"),
    })?;
    let mut rows = match table {
        Some(table) => statement.query([table])?,
        None => statement.query([])?,
    };
    while let Some(row) = rows.next()? {
        let fault: String = row.get(0)?;
        if fault == "ok" {
            continue;
        }
        for line in fault.lines().filter(|line| !line.starts_with("*** in database")) {
            let finding = Finding {
                number: 50826,
                severity: 16,
                text: format!("SQLite's integrity check of database '{database}' says: {line}."),
                page_no: None,
            };
            findings.error(is_allocation(line), finding);
        }
    }
    Ok(())
}

/// Whether it is about the list of free pages, or unowned pages (checkList and sqlite3BtreeIntegrityCheck in
/// btree.c).
fn is_allocation(fault: &str) -> bool {
    fault.starts_with("Freelist: ") || fault.ends_with(": never used") || fault.contains("free-page count")
}

/// Rows and pages of users' tables, or of one.
///
/// # Errors
/// SQLite's.
pub(crate) fn extents(connection: &Connection, table: Option<&str>) -> rusqlite::Result<Vec<Extent>> {
    // dbstat reads every page. Rows of a WITHOUT ROWID table are in inner pages as well: for those tables nothing is
    // reported.
    let sql = "SELECT t.name, sum(iif(d.pagetype = 'leaf', d.ncell, 0)), count(*)
               FROM pragma_table_list AS t JOIN dbstat AS d ON d.name = t.name
               WHERE t.schema = 'main' AND t.type = 'table' AND t.wr = 0
                 AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND t.name NOT LIKE 'selenite\\_%' ESCAPE '\\'
                 AND (?1 IS NULL OR t.name = ?1)
               GROUP BY t.name ORDER BY t.name";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([table], |row| {
        Ok(Extent {
            name: row.get(0)?,
            rows: row.get(1)?,
            pages: row.get(2)?,
        })
    });
    rows?.collect()
}

/// More than anyone reads, and less than memory is taken for.
const FAULTS_MAX: i64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_pages_are_counted_and_nothing_is_wrong() {
        let connection = Connection::open_in_memory().unwrap();
        let made = "CREATE TABLE big (a); CREATE TABLE empty (a); CREATE TABLE selenite_own (a);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                    INSERT INTO big SELECT zeroblob(100) FROM n;
                    CREATE INDEX i ON big (a)";
        connection.execute_batch(made).unwrap();
        let found = extents(&connection, None).unwrap();
        let names: Vec<(&str, i64)> = found.iter().map(|one| (one.name.as_str(), one.rows)).collect();
        assert_eq!(names, [("big", 500), ("empty", 0)]);
        assert!(found[0].pages > 10 && found[1].pages == 1);
        assert_eq!(extents(&connection, Some("empty")).unwrap().len(), 1);
        let mut findings = Findings::default();
        check(&connection, (Depth::Full, None), "d", &mut findings).unwrap();
        check(&connection, (Depth::WithoutIndexes, Some("big")), "d", &mut findings).unwrap();
        assert!(findings.is_good() && findings.told.is_empty());
    }

    #[test]
    fn an_index_without_its_row_is_found_by_the_full_check_alone() {
        let connection = Connection::open_in_memory().unwrap();
        let made = "CREATE TABLE t (a, b); CREATE INDEX i ON t (a); INSERT INTO t VALUES (1, 3), (2, 4);
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON t (b)' WHERE name = 'i';
                    PRAGMA writable_schema = RESET";
        connection.execute_batch(made).unwrap();
        for (depth, is_good) in [(Depth::Full, false), (Depth::WithoutIndexes, true)] {
            let mut findings = Findings::default();
            check(&connection, (depth, None), "d", &mut findings).unwrap();
            assert_eq!(findings.is_good(), is_good, "{findings:?}");
        }
    }
}

//! Procedures and views of the system.

use super::{Page, code};
use selenite_tds::ProcedureId;

pub fn write(page: &mut Page) {
    page.heading("Procedures that clients call by number", &["procedure", "number"]);
    for id in ProcedureId::ALL {
        page.row(&[&code(id.name()), &id.number().to_string()]);
    }
    page.line("");
    page.line("Those of cursors are refused by name (40510); the others work.");
    page.heading("Procedures of the system", &["procedure", "for example", "state"]);
    for text in PROCEDURES {
        let name = text.split_whitespace().nth(1).unwrap_or_default();
        let state = page.state(text);
        page.row(&[&code(name), &code(text), &state]);
    }
    page.heading("Views of the system", &["view", "columns"]);
    let views = page.list(VIEWS);
    for view in &views {
        let columns = page.list(&format!("{COLUMNS} WHERE o.name = N'{view}' ORDER BY c.column_id"));
        page.row(&[&code(view), &columns.join(", ")]);
    }
    if views.is_empty() {
        page.line("");
        page.line("None yet.");
    }
}

const VIEWS: &str = "SELECT name FROM sys.all_objects WHERE is_ms_shipped = 1 AND type = 'V' ORDER BY name";
const COLUMNS: &str = "SELECT c.name FROM sys.all_columns AS c JOIN sys.all_objects AS o ON o.object_id = c.object_id";

const PROCEDURES: [&str; 24] = [
    "EXEC sp_columns 't'",
    "EXEC sp_columns_100 't'",
    "EXEC sp_databases",
    "EXEC sp_datatype_info",
    "EXEC sp_datatype_info_100",
    "EXEC sp_describe_first_result_set N'SELECT 1 AS a'",
    "EXEC sp_describe_undeclared_parameters N'SELECT @a'",
    "EXEC sp_executesql N'SELECT @a AS a', N'@a int', 1",
    "EXEC sp_fkeys 't'",
    "EXEC sp_help 't'",
    "EXEC sp_helpdb",
    "EXEC sp_helptext 'v'",
    "EXEC sp_pkeys 't'",
    "EXEC sp_rename 'w', 'w2'",
    "EXEC sp_server_info",
    "EXEC sp_spaceused",
    "EXEC sp_special_columns 't'",
    "EXEC sp_special_columns_100 't'",
    "EXEC sp_sproc_columns_100 'p'",
    "EXEC sp_statistics_100 't'",
    "EXEC sp_stored_procedures",
    "EXEC sp_tables",
    "EXEC sp_who",
    "EXEC sp_who2",
];

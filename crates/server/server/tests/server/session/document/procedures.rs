//! Procedures and views of the system.

use selenite_server::system_relations;
use selenite_tds::ProcedureId;

use super::{Page, code};

pub fn write(page: &mut Page) {
    page.heading("Procedures that clients call by number", &["procedure", "number"]);
    for id in ProcedureId::ALL {
        page.row(&[&code(id.name()), &id.number().to_string()]);
    }
    page.line("");
    page.line("All work, but for what API cursors refuse.");
    page.heading("Procedures of the system", &["procedure", "for example", "state"]);
    for text in PROCEDURES {
        let mut words = text.split_whitespace();
        let name = words.find(|word| word.starts_with("sp_")).unwrap_or_default();
        let state = page.state(text);
        page.row(&[&code(name), &code(text), &state]);
    }
    page.heading("Views of the system", &["view or function", "columns", "state"]);
    for (schema, name, columns) in system_relations() {
        let name = format!("{schema}.{name}");
        let text = match name.as_str() {
            "sys.fn_helpcollations" => format!("SELECT * FROM {name}()"),
            "sys.dm_io_virtual_file_stats" => format!("SELECT * FROM {name}(NULL, NULL)"),
            "sys.fn_my_permissions" => format!("SELECT * FROM {name}(NULL, 'DATABASE')"),
            "sys.dm_exec_cursors" => format!("SELECT * FROM {name}(0)"),
            "sys.dm_exec_sql_text" => format!("SELECT * FROM {name}(0x01)"),
            "sys.dm_exec_describe_first_result_set" => format!("SELECT * FROM {name}(N'SELECT 1 AS a', NULL, 0)"),
            "sys.fn_listextendedproperty" => {
                format!("SELECT * FROM {name}(NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
            }
            _ => format!("SELECT * FROM {name}"),
        };
        let state = page.state(&text);
        page.row(&[&code(&name), &columns.join(", "), &state]);
    }
}

const PROCEDURES: [&str; 37] = [
    "EXEC sp_helpconstraint 't'",
    "EXEC sp_updatestats",
    "EXEC sp_MSforeachtable 'SELECT COUNT(*) FROM ?'",
    "EXEC sp_addextendedproperty 'MS_Description', N'x', 'SCHEMA', 'dbo', 'TABLE', 't'",
    "EXEC sp_columns 't'",
    "EXEC sp_columns_100 't'",
    "DECLARE @c CURSOR; EXEC sp_cursor_list @c OUTPUT, 3",
    "EXEC sp_databases",
    "EXEC sp_datatype_info",
    "EXEC sp_datatype_info_100",
    "DECLARE k CURSOR GLOBAL FOR SELECT 1 AS a; DECLARE @c CURSOR; EXEC sp_describe_cursor @c OUTPUT, 'global', 'k'; \
     DEALLOCATE k",
    "EXEC sp_describe_first_result_set N'SELECT 1 AS a'",
    "EXEC sp_describe_undeclared_parameters N'SELECT @a + 1'",
    "EXEC sp_dropextendedproperty 'MS_Description', 'SCHEMA', 'dbo', 'TABLE', 't'",
    "EXEC sp_executesql N'SELECT @a AS a', N'@a int', 1",
    "EXEC sp_fkeys 't'",
    "EXEC sp_getapplock 'x', 'Exclusive', 'Session'",
    "EXEC sp_help 't'",
    "EXEC sp_helpdb",
    "EXEC sp_helpsrvrole",
    "EXEC sp_helpsrvrolemember",
    "EXEC sp_helptext 'v'",
    "EXEC sp_pkeys 't'",
    "EXEC sp_releaseapplock 'x', 'Session'",
    "EXEC sp_rename 'w', 'w2'",
    "EXEC sp_sequence_get_range 'sq', 2, NULL",
    "EXEC sp_set_session_context N'a', 1",
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

use selenite_tsql::ast::StatementKind;
use selenite_tsql::{Options, parse};
use selenite_types::DataType;

use super::*;
use crate::DEFAULT_COLLATION;

fn table(text: &str) -> Result<TableDefinition, SqlError> {
    let tree = parse(text, Options::default()).unwrap();
    let StatementKind::CreateTable(create) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    let schema = create.name.schema.as_ref().map_or(SCHEMA, |schema| &schema.text);
    TableDefinition::read(create, schema, 1)
}

fn altered(table: &TableDefinition, text: &str) -> Result<Alteration, SqlError> {
    let tree = parse(text, Options::default()).unwrap();
    let StatementKind::AlterTable(alter) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    table.alter(&alter.action, 2)
}

fn number(result: Result<impl std::fmt::Debug, SqlError>) -> i32 {
    result.unwrap_err().number()
}

const ORDERS: &str = "CREATE TABLE dbo.orders (
    id INT IDENTITY(10, 5) PRIMARY KEY,
    code CHAR(4) COLLATE Latin1_General_BIN2 NOT NULL UNIQUE,
    name NVARCHAR(40) NULL CONSTRAINT df_name DEFAULT N'it''s',
    price DECIMAL(20, 2) CHECK (price >= 0),
    made DATETIME2(3) DEFAULT GETDATE(),
    total AS price * 2 PERSISTED,
    customer INT CONSTRAINT fk_customer REFERENCES dbo.customers (id) ON DELETE CASCADE,
    CONSTRAINT ck_both CHECK (price < 100 OR name IS NOT NULL),
    CONSTRAINT uq_pair UNIQUE (name, price DESC),
    INDEX ix_made NONCLUSTERED (made) INCLUDE (code))";

#[test]
fn a_definition_prints_as_t_sql_that_makes_it_again() {
    let made = table(ORDERS).unwrap();
    let text = made.to_string();
    let again = TableDefinition::of_tree(&parse(&text, Options::default()).unwrap()).unwrap();
    let without_indexes = TableDefinition {
        indexes: Vec::new(),
        ..made
    };
    assert_eq!(again.to_string(), text);
    assert_eq!(again.columns.len(), without_indexes.columns.len());
    assert_eq!(again.keys, without_indexes.keys);
    assert_eq!(again.foreign_keys, without_indexes.foreign_keys);
    assert!(text.contains("[id] int IDENTITY(10,5) NOT NULL"), "{text}");
    assert!(text.contains("CONSTRAINT [df_name] DEFAULT (N'it''s')"), "{text}");
}

#[test]
fn sqlite_has_types_nulls_collations_keys_and_foreign_keys() {
    let made = table(ORDERS).unwrap().sqlite("main");
    let create = &made[0];
    for part in [
        "CREATE TABLE main.\"orders\" (\"id\" INTEGER NOT NULL",
        "\"code\" char(4) COLLATE Latin1_General_BIN2 NOT NULL",
        "\"name\" nvarchar(40) COLLATE SQL_Latin1_General_CP1_CI_AS,",
        "\"price\" decimal(20,2)",
        "PRIMARY KEY (\"id\")",
        "REFERENCES \"customers\" (\"id\") ON DELETE CASCADE",
    ] {
        assert!(create.contains(part), "{part} is not in {create}");
    }
    assert!(
        !create.contains("total") && !create.contains("CHECK") && !create.contains("DEFAULT"),
        "{create}"
    );
    // code's index; the pair's, and its second one.
    assert_eq!(made.len(), 4, "{made:?}");
    assert!(
        made[2].contains("\"orders.uq_pair\" ON \"orders\" (\"name\", \"price\" DESC)"),
        "{}",
        made[2]
    );
    assert!(
        made[3].contains(
            "(ifnull(\"name\", x'') COLLATE SQL_Latin1_General_CP1_CI_AS, ifnull(\"price\", '')) \
             WHERE (\"name\" IS NULL OR \"price\" IS NULL)"
        ),
        "{}",
        made[3]
    );
}

#[test]
fn one_ascending_whole_number_is_the_rowid() {
    assert_eq!(table(ORDERS).unwrap().row_id_column(), Some("id"));
    for other in [
        "CREATE TABLE t (a INT PRIMARY KEY NONCLUSTERED, b INT)",
        "CREATE TABLE t (a BIGINT, CONSTRAINT k PRIMARY KEY (a ASC))",
    ] {
        assert_eq!(table(other).unwrap().row_id_column(), Some("a"), "{other}");
    }
    for none in [
        "CREATE TABLE t (a INT UNIQUE)",
        "CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b))",
        "CREATE TABLE t (a INT, PRIMARY KEY (a DESC))",
        "CREATE TABLE t (a DECIMAL(9, 0) PRIMARY KEY)",
    ] {
        assert_eq!(table(none).unwrap().row_id_column(), None, "{none}");
    }
}

#[test]
fn the_sqlite_statements_create_the_table_and_allow_one_null_in_a_unique_key() {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    let compare = |a: &str, b: &str| selenite_types::collate(a.as_bytes(), b.as_bytes());
    connection.create_collation(DEFAULT_COLLATION, compare).unwrap();
    let made =
        table("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(9) UNIQUE, b DECIMAL(30, 2), UNIQUE (b, a))").unwrap();
    for sql in made.sqlite("main") {
        connection.execute_batch(&sql).unwrap();
    }
    let insert = |sql: &str| connection.execute(&format!("INSERT INTO t VALUES {sql}"), []);
    insert("(1, 'x', NULL)").unwrap();
    insert("(2, NULL, x'01')").unwrap();
    let twice = insert("(3, NULL, x'02')").unwrap_err().to_string();
    assert!(twice.contains("$null"), "{twice}");
    let twice = insert("(3, 'X ', x'02')").unwrap_err().to_string();
    assert!(twice.contains("UNIQUE constraint failed: t.a"), "{twice}");
}

#[test]
fn errors_of_definitions_are_those_of_sql_server() {
    for (expected, text) in [
        (2705, "CREATE TABLE t (a INT, A INT)"),
        (2749, "CREATE TABLE t (a VARCHAR(5) IDENTITY)"),
        (8147, "CREATE TABLE t (a INT NULL IDENTITY)"),
        (2756, "CREATE TABLE t (a INT IDENTITY(1, 0))"),
        (2744, "CREATE TABLE t (a INT IDENTITY, b INT IDENTITY)"),
        (1754, "CREATE TABLE t (a INT IDENTITY DEFAULT 5)"),
        (1781, "CREATE TABLE t (a INT DEFAULT 5 DEFAULT 6)"),
        (8110, "CREATE TABLE t (a INT PRIMARY KEY, b INT PRIMARY KEY)"),
        (1911, "CREATE TABLE t (a INT, UNIQUE (b))"),
        (1909, "CREATE TABLE t (a INT, UNIQUE (a, A))"),
        (1919, "CREATE TABLE t (a VARCHAR(MAX) UNIQUE)"),
        (1769, "CREATE TABLE t (a INT, FOREIGN KEY (b) REFERENCES x (c))"),
        (8139, "CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES x (c, d))"),
        (
            2714,
            "CREATE TABLE t (a INT CONSTRAINT k UNIQUE, b INT CONSTRAINT k UNIQUE)",
        ),
        (1708, "CREATE TABLE t (a AS 1 + 1)"),
    ] {
        assert_eq!(number(table(text)), expected, "{text}");
    }
}

#[test]
fn a_foreign_key_without_columns_refers_to_the_primary_key() {
    let other = table("CREATE TABLE Customers (id INT PRIMARY KEY, code INT UNIQUE, name INT)").unwrap();
    let find =
        |schema: &str, name: &str| (same_name(name, "customers") && same_name(schema, "dbo")).then(|| other.clone());
    let mut made = table("CREATE TABLE t (a INT REFERENCES customers, b INT REFERENCES customers (code))").unwrap();
    made.resolve_foreign_keys(&["sales", "dbo"], find).unwrap();
    assert_eq!(made.foreign_keys[0].referenced_columns, ["id"]);
    assert_eq!(
        made.foreign_keys[0].referenced_table,
        ("dbo".to_owned(), "Customers".to_owned())
    );
    for (expected, text) in [
        (1767, "CREATE TABLE t (a INT REFERENCES nowhere)"),
        (1767, "CREATE TABLE t (a INT REFERENCES sales.customers)"),
        (1776, "CREATE TABLE t (a INT REFERENCES customers (name))"),
        (1773, "CREATE TABLE t (a INT REFERENCES t)"),
    ] {
        assert_eq!(
            number(table(text).unwrap().resolve_foreign_keys(&["dbo"], find)),
            expected,
            "{text}"
        );
    }
}

#[test]
fn alter_table_recreates_a_table_only_where_sqlite_can_not_alter_it() {
    let t = table(
        "CREATE TABLE t (a INT NOT NULL, b VARCHAR(5) CONSTRAINT df DEFAULT 'x', c INT CONSTRAINT ck CHECK (c > 0))",
    )
    .unwrap();
    let sql = |text: &str| {
        let steps = altered(&t, text).unwrap().steps;
        steps
            .into_iter()
            .map(|step| {
                let Step::Sql(sql) = step else {
                    panic!("{text}: {step:?}");
                };
                sql
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        sql("ALTER TABLE t ADD d INT"),
        ["ALTER TABLE \"t\" ADD COLUMN \"d\" int"]
    );
    assert_eq!(sql("ALTER TABLE t ADD CONSTRAINT df2 DEFAULT 5 FOR a"), [""; 0]);
    assert_eq!(sql("ALTER TABLE t DROP CONSTRAINT df"), [""; 0]);
    assert_eq!(sql("ALTER TABLE t NOCHECK CONSTRAINT ck"), [""; 0]);
    assert_eq!(
        sql("ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (a)"),
        ["CREATE UNIQUE INDEX \"t.pk\" ON \"t\" (\"a\")"]
    );
    let rebuilt = |text: &str| {
        let last = altered(&t, text).unwrap().steps.pop();
        let Some(Step::Rebuild(rebuild)) = last else {
            panic!("{text}: {last:?}");
        };
        rebuild.columns
    };
    let longer = rebuilt("ALTER TABLE t ALTER COLUMN b NVARCHAR(50) NOT NULL");
    assert!(
        matches!(
            &longer[1].1,
            ColumnSource::Converted {
                new: DataType::NVarChar(_),
                ..
            }
        ),
        "{longer:?}"
    );
    assert_eq!(
        rebuilt("ALTER TABLE t ADD n BIGINT IDENTITY")[3].1,
        ColumnSource::Numbered
    );
    assert!(matches!(
        rebuilt("ALTER TABLE t ADD n INT NOT NULL DEFAULT 7")[3].1,
        ColumnSource::Value(_)
    ));
    for (expected, text) in [
        (5074, "ALTER TABLE t DROP COLUMN b"),
        (5074, "ALTER TABLE t DROP COLUMN c"),
        (5074, "ALTER TABLE t ALTER COLUMN c VARCHAR(2)"),
        (4924, "ALTER TABLE t DROP COLUMN z"),
        (3728, "ALTER TABLE t DROP CONSTRAINT z"),
        (2705, "ALTER TABLE t ADD A INT"),
        (8111, "ALTER TABLE t ADD PRIMARY KEY (c)"),
    ] {
        assert_eq!(number(altered(&t, text)), expected, "{text}");
    }
}

#[test]
fn an_altered_table_prints_as_t_sql_that_makes_it_again() {
    let mut t = table("CREATE TABLE t (a INT NOT NULL, c INT CONSTRAINT ck CHECK (c > 0))").unwrap();
    for text in [
        "ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (a)",
        "ALTER TABLE t NOCHECK CONSTRAINT ALL",
    ] {
        t = altered(&t, text).unwrap().definition;
    }
    let again = TableDefinition::of_tree(&parse(&t.to_string(), Options::default()).unwrap()).unwrap();
    assert!(!again.checks[0].is_enabled && !again.keys[0].is_in_table);
    assert_eq!(again.to_string(), t.to_string());
}

#[test]
fn a_column_is_needed_where_it_is_named_but_not_in_strings_and_functions() {
    let made = table(
        "CREATE TABLE t (id INT, code AS LEN('code') + id, label AS 'label' + N'it''s code', len INT, total AS [id]*2,
         CHECK (id > LEN('label')))",
    )
    .unwrap();
    for name in ["code", "label", "len", "total"] {
        let text = format!("ALTER TABLE t DROP COLUMN {name}");
        let altered = altered(&made, &text).unwrap();
        assert!(altered.definition.column(name).is_none(), "{name}");
    }
    assert_eq!(number(altered(&made, "ALTER TABLE t DROP COLUMN id")), 5074);
}

#[test]
fn a_persisted_column_is_deterministic() {
    for value in [
        "GETDATE()",
        "a + @@SPID",
        "CURRENT_TIMESTAMP",
        "LEN(newid())",
        "RAND()",
        "USER_NAME()",
        "DATENAME(month, d)",
        "DATEPART(dw, d)",
        "FORMAT(a, 'N')",
    ] {
        let text = format!("CREATE TABLE t (a INT, d DATE, b AS {value})");
        table(&text).unwrap().check_persisted(None).unwrap();
        let text = format!("CREATE TABLE t (a INT, d DATE, b AS {value} PERSISTED)");
        let made = table(&text).unwrap();
        assert_eq!(number(made.check_persisted(None)), 4936, "{value}");
        // A table of an earlier version keeps what it has.
        made.check_persisted(Some(&made)).unwrap();
    }
    for value in [
        "a * 2",
        "'GETDATE()' + c",
        "[getdate]",
        "RAND(a)",
        "DATEPART(month, d)",
        "CASE WHEN a = 1 THEN LEN(c) END",
    ] {
        let text = format!("CREATE TABLE t (a INT, d DATE, c CHAR(1), b AS {value} PERSISTED)");
        table(&text).unwrap().check_persisted(None).unwrap();
    }
}

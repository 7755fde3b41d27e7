//! System views, computed columns, and refusals.

use super::shop;
use crate::testing::Session;

#[test]
fn a_system_view_is_read_as_a_table() {
    let session = Session::new("");
    assert_eq!(session.rows("SELECT n FROM sys.numbers WHERE n > 1 ORDER BY n"), "2\n3");
    assert_eq!(
        session.rows("SELECT sys.numbers.n FROM sys.numbers WHERE numbers.n = 3"),
        "3"
    );
    assert_eq!(session.rows("SELECT x.n FROM sys.NUMBERS AS x WHERE x.n = 1"), "1");
}

#[test]
fn a_computed_column_is_computed_when_it_is_read() {
    let session = Session::new(
        "CREATE TABLE t (id int PRIMARY KEY, a int, twice AS a * 2, filled AS ISNULL(a, -1))
         INSERT t VALUES (1, 10), (2, NULL)",
    );
    assert_eq!(
        session.rows("SELECT * FROM t ORDER BY id"),
        "1|10|20|10\n2|NULL|NULL|-1"
    );
    assert_eq!(session.rows("SELECT id FROM t WHERE twice = 20"), "1");
    let outer = "SELECT n, t.filled FROM sys.numbers LEFT JOIN t ON t.id = n ORDER BY n";
    assert_eq!(session.rows(outer), "1|10\n2|-1\n3|NULL");
}

#[test]
fn table_hints_and_options_are_taken() {
    let shop = shop();
    assert_eq!(
        shop.rows("SELECT COUNT(*) FROM customer WITH (NOLOCK) OPTION (RECOMPILE, MAXDOP 1)"),
        "3"
    );
}

#[test]
fn a_linked_server_is_refused_by_name() {
    let shop = shop();
    assert_eq!(shop.number("SELECT 1 FROM far.db.dbo.customer"), 7202);
}

#[test]
fn names_with_any_characters_are_quoted() {
    let mut session = Session::new("CREATE TABLE [od\"d; DROP TABLE x --] ([a \"b\" c] int, [select] varchar(10))");
    session.define("INSERT [od\"d; DROP TABLE x --] VALUES (1, 'x''; --')");
    assert_eq!(
        session.rows("SELECT [a \"b\" c], [select] FROM [od\"d; DROP TABLE x --] WHERE [select] = 'x''; --'"),
        "1|x'; --"
    );
}

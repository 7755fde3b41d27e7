//! What the views and sp_rename know of types of users.

use super::client::{all_fail, fails, shown, succeed};
use super::fixture::Fixture;
use super::types_of_users::client;

#[test]
fn parameters_objects_and_results_show_types_of_users() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE s.book (id INT PRIMARY KEY, number phone, plain VARCHAR(20))",
    );
    succeed(&mut client, "CREATE PROCEDURE p @a INT, @b phone AS SELECT @b");
    succeed(
        &mut client,
        "CREATE FUNCTION f (@c dbo.phone) RETURNS INT AS BEGIN RETURN LEN(@c) END",
    );
    let parameters = "SELECT p.name, TYPE_NAME(p.user_type_id), TYPE_NAME(p.system_type_id) FROM sys.parameters p \
                      WHERE p.name <> '' ORDER BY p.name";
    assert_eq!(
        shown(&succeed(&mut client, parameters)),
        "@a,int,int; @b,phone,varchar; @c,phone,varchar"
    );
    let objects = "SELECT LEFT(o.name, 9), RTRIM(o.type), o.type_desc, SCHEMA_NAME(o.schema_id) FROM sys.objects o \
                   JOIN sys.table_types t ON t.type_table_object_id = o.object_id";
    assert_eq!(shown(&succeed(&mut client, objects)), "TT_lines_,TT,TYPE_TABLE,sys");
    let described = "SELECT name, system_type_name, user_type_database, user_type_schema, user_type_name, \
                     TYPE_NAME(user_type_id) FROM sys.dm_exec_describe_first_result_set(N'SELECT number, plain FROM s.book \
                     WHERE number = @n', N'@n phone', 0)";
    assert_eq!(
        shown(&succeed(&mut client, described)),
        "number,varchar(20),d,dbo,phone,phone; plain,varchar(20),-,-,-,-"
    );
    let declared = "EXEC sp_describe_first_result_set N'DECLARE @p dbo.phone; SELECT @p AS p'";
    assert_eq!(client.batch(declared).errors(), []);
    drop(client);
    fixture.stop();
}

#[test]
fn a_type_is_renamed_until_it_is_used() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    fails(
        &mut client,
        40510,
        "EXEC sp_rename 'dbo.phone', 'number', 'USERDATATYPE'",
    );
    succeed(&mut client, "EXEC sp_rename 'dbo.lines', 'rows', 'USERDATATYPE'");
    all_fail(
        &mut client,
        &[
            (15248, "EXEC sp_rename 'dbo.lines', 'more', 'USERDATATYPE'"),
            (15335, "EXEC sp_rename 'dbo.rows', 'phone', 'USERDATATYPE'"),
            (15335, "EXEC sp_rename 'dbo.rows', 'int', 'USERDATATYPE'"),
            (2715, "DECLARE @l dbo.lines"),
        ],
    );
    assert_eq!(
        shown(&succeed(
            &mut client,
            "DECLARE @l dbo.rows; INSERT @l (number) VALUES ('1'); SELECT amount FROM @l"
        )),
        "7"
    );
    succeed(
        &mut client,
        "CREATE TYPE dbo.lines FROM INT; DROP TYPE dbo.rows; DROP TYPE dbo.lines",
    );
    drop(client);
    fixture.stop();
}

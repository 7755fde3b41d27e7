use std::sync::Arc;

use crate::CaughtError;
use crate::testing::{Batch, assert_shown, fault, type_of};

#[test]
fn databases_and_schemas_have_names_and_ids() {
    assert_shown(&[
        ("DB_NAME()", "TestDB"),
        ("DB_NAME(0)", "TestDB"),
        ("DB_NAME(1)", "master"),
        ("DB_NAME(77)", "NULL"),
        ("DB_ID()", "5"),
        ("DB_ID('MASTER')", "1"),
        ("DB_ID(N'nowhere')", "NULL"),
        ("SCHEMA_NAME()", "dbo"),
        ("SCHEMA_ID('sys')", "4"),
        ("HAS_DBACCESS('master')", "1"),
        ("HAS_DBACCESS('nowhere')", "NULL"),
    ]);
    assert_eq!(type_of("DB_NAME(1)"), "nvarchar(128)");
    assert_eq!(type_of("DB_ID()"), "smallint");
}

#[test]
fn objects_are_found_by_their_names() {
    assert_shown(&[
        ("OBJECT_ID('orders')", "901578250"),
        ("OBJECT_ID('dbo.Orders', 'U')", "901578250"),
        ("OBJECT_ID('dbo.Orders', 'V')", "NULL"),
        ("OBJECT_ID('TestDB..[Orders]')", "901578250"),
        ("OBJECT_ID('other.dbo.orders')", "NULL"),
        ("OBJECT_ID('')", "NULL"),
        ("OBJECT_NAME(901578250)", "Orders"),
        ("OBJECT_NAME(901578250, 5)", "Orders"),
        ("OBJECT_NAME(901578250, 77)", "NULL"),
        ("OBJECT_SCHEMA_NAME(901578250)", "dbo"),
        ("OBJECTPROPERTY(901578250, 'IsTable')", "1"),
        ("OBJECTPROPERTY(901578250, 'IsView')", "0"),
        ("OBJECTPROPERTY(901578250, 'TableHasIdentity')", "1"),
        ("OBJECTPROPERTY(901578250, 'NoSuchThing')", "NULL"),
        ("OBJECTPROPERTY(1, 'IsTable')", "NULL"),
        ("COL_NAME(901578250, 2)", "name"),
        ("COL_LENGTH('dbo.Orders', 'name')", "40"),
        ("COLUMNPROPERTY(OBJECT_ID('Orders'), 'id', 'IsIdentity')", "1"),
        ("COLUMNPROPERTY(OBJECT_ID('Orders'), 'price', 'Precision')", "10"),
        ("COLUMNPROPERTY(OBJECT_ID('Orders'), 'none', 'AllowsNull')", "NULL"),
        ("IDENT_CURRENT('Orders')", "115"),
        ("IDENT_SEED('Orders')", "100"),
        ("IDENT_INCR('dbo.Orders')", "5"),
        ("IDENT_CURRENT('nothing')", "NULL"),
    ]);
    assert_eq!(type_of("IDENT_CURRENT('Orders')"), "numeric(38,0)");
}

#[test]
fn users_logins_and_roles_are_found() {
    assert_shown(&[
        ("USER", "dbo"),
        ("CURRENT_USER", "dbo"),
        ("SESSION_USER", "dbo"),
        ("SYSTEM_USER", "sa"),
        ("USER_NAME()", "dbo"),
        ("USER_NAME(16384)", "db_owner"),
        ("USER_ID('dbo')", "1"),
        ("SUSER_SNAME()", "sa"),
        ("SUSER_SNAME(0x01)", "sa"),
        ("SUSER_SNAME(0x0102)", "NULL"),
        ("SUSER_SNAME(NULL)", "NULL"),
        ("SUSER_NAME()", "sa"),
        ("SUSER_ID('sa')", "1"),
        ("ORIGINAL_LOGIN()", "sa"),
        ("HOST_NAME()", "bench"),
        ("APP_NAME()", "tsql"),
        ("HOST_ID()", "4711      "),
        ("IS_MEMBER('db_owner')", "1"),
        ("IS_MEMBER('dbo')", "NULL"),
        ("IS_SRVROLEMEMBER('sysadmin')", "1"),
        ("IS_SRVROLEMEMBER('sysadmin', 'SA')", "1"),
    ]);
    assert_eq!(fault("IS_SRVROLEMEMBER('sysadmin', 'other')").0, 40510);
}

#[test]
fn properties_are_sql_variants_of_their_own_types() {
    assert_shown(&[
        ("SERVERPROPERTY('ProductVersion')", "15.0.2000.5"),
        ("SERVERPROPERTY('EngineEdition')", "3"),
        ("SERVERPROPERTY('Collation')", "SQL_Latin1_General_CP1_CI_AS"),
        ("SERVERPROPERTY('InstanceName')", "NULL"),
        ("SERVERPROPERTY('nonsense')", "NULL"),
        ("DATABASEPROPERTYEX('TestDB', 'Status')", "ONLINE"),
        ("DATABASEPROPERTYEX('TestDB', 'IsAutoClose')", "0"),
        ("DATABASEPROPERTYEX('nowhere', 'Status')", "NULL"),
        ("CONNECTIONPROPERTY('net_transport')", "TCP"),
        ("CONNECTIONPROPERTY('local_tcp_port')", "1433"),
        ("COLLATIONPROPERTY('Latin1_General_BIN2', 'CodePage')", "1252"),
        ("GETANSINULL()", "1"),
    ]);
    let base = |of: &str| format!("SQL_VARIANT_PROPERTY({of}, 'BaseType')");
    for (of, shown) in [
        ("SERVERPROPERTY('EngineEdition')", "int"),
        ("SERVERPROPERTY('ProductVersion')", "nvarchar"),
        ("SERVERPROPERTY('SqlSortOrder')", "tinyint"),
        ("DATABASEPROPERTYEX('TestDB', 'IsAutoClose')", "int"),
        ("CONNECTIONPROPERTY('client_net_address')", "varchar"),
    ] {
        assert_eq!(type_of(of), "sql_variant");
        assert_shown(&[(&base(of), shown)]);
    }
}

#[test]
fn types_have_names_and_ids() {
    assert_shown(&[
        ("TYPE_NAME(56)", "int"),
        ("TYPE_NAME(231)", "nvarchar"),
        ("TYPE_NAME(9999)", "NULL"),
        ("TYPE_ID('sys.datetime2')", "42"),
        ("TYPE_ID('sysname')", "256"),
        ("TYPE_ID('mine')", "NULL"),
    ]);
}

#[test]
fn error_functions_return_the_caught_error_and_null_outside_a_catch() {
    assert_shown(&[
        ("ERROR_NUMBER()", "NULL"),
        ("ERROR_MESSAGE()", "NULL"),
        ("ERROR_PROCEDURE()", "NULL"),
    ]);
    let mut batch = Batch::new();
    batch.world.caught = Some(CaughtError {
        number: 8134,
        severity: 16,
        state: 1,
        procedure: None,
        line: 3,
        text: Arc::from("Divide by zero error encountered."),
    });
    assert_eq!(batch.shown("ERROR_NUMBER()"), "8134");
    assert_eq!(batch.shown("ERROR_SEVERITY() + ERROR_STATE() + ERROR_LINE()"), "20");
    assert_eq!(batch.shown("ERROR_MESSAGE()"), "Divide by zero error encountered.");
    assert_eq!(batch.shown("ERROR_PROCEDURE()"), "NULL");
}

#[test]
fn globals_and_related_functions_return_session_properties() {
    let mut batch = Batch::new();
    batch.world.session.row_count = 7;
    batch.world.session.error = 547;
    batch.world.session.transaction_count = 2;
    batch.world.session.transaction_state = -1;
    batch.world.session.scope_identity = Some(selenite_types::Decimal { unscaled: 42, scale: 0 });
    for (text, expected) in [
        ("@@ROWCOUNT", "7"),
        ("ROWCOUNT_BIG()", "7"),
        ("@@error", "547"),
        ("@@TRANCOUNT", "2"),
        ("XACT_STATE()", "-1"),
        ("SCOPE_IDENTITY()", "42"),
        ("@@IDENTITY", "NULL"),
        ("@@SPID", "51"),
        ("@@VERSION", "Selenite 0.1"),
        ("@@SERVERNAME", "BENCH"),
        ("@@LANGUAGE", "us_english"),
        ("@@DATEFIRST", "7"),
        ("@@MAX_PRECISION", "38"),
        ("@@LOCK_TIMEOUT", "-1"),
        ("@@MICROSOFTVERSION", "251660240"),
        ("@@NESTLEVEL + @@FETCH_STATUS + @@PROCID", "0"),
        ("@@OPTIONS", "5432"),
        ("CURRENT_TRANSACTION_ID()", "0"),
    ] {
        assert_eq!(batch.shown(text), expected, "{text}");
    }
    assert_eq!(type_of("@@SPID"), "smallint");
    assert_eq!(type_of("@@IDENTITY"), "numeric(38,0)");
    assert_eq!(
        fault("@@CPU_BUSY"),
        (40510, "Function '@@CPU_BUSY' is not supported.".to_owned())
    );
    assert_eq!(
        fault("@@NOTHING"),
        (137, "Must declare the scalar variable \"@@NOTHING\".".to_owned())
    );
}

//! Table-valued parameters that are misused, and types that change while they are used.

use selenite_tds::ProcedureId;
use selenite_types::{DataType, Value};

use super::client::{Answer, Client, all_fail, int, output, succeed, text as words};
use super::fixture::Fixture;
use super::types_of_users::{client, table};

fn first(answer: &Answer) -> Option<i32> {
    answer.errors().first().map(|(number, _)| *number)
}

/// `client` with a table type `numbers`.
fn numbers(fixture: &Fixture) -> Client {
    let mut client = client(fixture);
    succeed(&mut client, "CREATE TYPE numbers AS TABLE (n INT)");
    client
}

/// Whatever a change goes through.
#[test]
fn nothing_changes_a_table_valued_parameter() {
    let fixture = Fixture::new();
    let mut client = numbers(&fixture);
    let changes = [
        "WITH c AS (SELECT * FROM @n) DELETE c",
        "WITH c AS (SELECT * FROM @n) UPDATE c SET n = 9",
        "WITH c AS (SELECT * FROM @n) INSERT c VALUES (9)",
        "UPDATE d SET n = 9 FROM (SELECT * FROM @n) AS d",
        "DELETE d FROM (SELECT * FROM @n) AS d",
        "WITH c AS (SELECT * FROM @n) MERGE c USING (SELECT 1 AS a) AS y ON n = a WHEN MATCHED THEN DELETE;",
        "DELETE TOP (1) FROM @n",
        "MERGE @n AS x USING (SELECT 1 AS a) AS y ON x.n = y.a WHEN MATCHED THEN DELETE;",
    ];
    let kept = "SELECT COUNT(*) * 10 + SUM(n) FROM @t";
    for (number, change) in changes.into_iter().enumerate() {
        let created = client.batch(&format!("CREATE PROCEDURE p{number} @n numbers READONLY AS {change}"));
        // What it changes is known when it is bound.
        if created.errors().is_empty() {
            let call = format!(
                "DECLARE @t numbers INSERT @t VALUES (1), (2) BEGIN TRY EXEC p{number} @t END TRY BEGIN CATCH IF ERROR_NUMBER() <> 10700 THROW END CATCH"
            );
            assert_eq!(client.int(&format!("{call} {kept}")), 23, "{change}");
        } else {
            assert_eq!(first(&created), Some(10_700), "{change}");
        }
        let rows = table("@n", ("dbo", "numbers"), &[(DataType::Int, false)], vec![Value::Int(1)]);
        let answer = client.call(
            ProcedureId::ExecuteSql,
            vec![words(change), words("@n numbers READONLY"), rows],
        );
        assert_eq!(first(&answer), Some(10_700), "{change}: {answer:?}");
        let answer = client.call(
            ProcedureId::ExecuteSql,
            vec![words(change), words("@n numbers READONLY")],
        );
        assert_eq!(first(&answer), Some(10_700), "{change}: {answer:?}");
    }
    // A table that is joined with it is changed.
    succeed(
        &mut client,
        "CREATE TABLE t (a INT) INSERT t VALUES (1), (3)
         EXEC ('CREATE PROCEDURE q @n numbers READONLY AS
                UPDATE x SET a = 7 FROM t AS x JOIN @n AS y ON y.n = x.a')
         DECLARE @t numbers INSERT @t VALUES (1) EXEC q @t",
    );
    assert_eq!(client.int("SELECT SUM(a) FROM t"), 10);
}

#[test]
fn a_table_is_no_text_and_no_handle() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TYPE numbers AS TABLE (n INT)");
    let rows = || table("", ("dbo", "numbers"), &[(DataType::Int, false)], vec![Value::Int(7)]);
    let handle = || output("", DataType::Int, Value::Null);
    let (declared, sql) = (|| words("@n numbers READONLY"), || words("SELECT SUM(n) FROM @n"));
    let first = |answer: &Answer| answer.errors().first().map(|(number, _)| *number);
    let answer = client.call(ProcedureId::ExecuteSql, vec![rows()]);
    assert_eq!(first(&answer), Some(214), "{answer:?}");
    let answer = client.call(ProcedureId::ExecuteSql, vec![sql(), rows(), rows()]);
    assert_eq!(first(&answer), Some(214), "{answer:?}");
    let answer = client.call(ProcedureId::Prepare, vec![handle(), rows(), sql()]);
    assert_eq!(first(&answer), Some(214), "{answer:?}");
    let answer = client.call(ProcedureId::Execute, vec![rows(), rows()]);
    assert_eq!(first(&answer), Some(8179), "{answer:?}");
    let answer = client.call(ProcedureId::PrepExec, vec![handle(), declared(), sql(), rows()]);
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.rows(), [vec![Value::Int(7)]]);
    // The type of a prepared statement may go, and come back as another one.
    succeed(&mut client, "DROP TYPE numbers");
    let answer = client.call(ProcedureId::Execute, vec![int("", 1), rows()]);
    assert_eq!(first(&answer), Some(2715), "{answer:?}");
    succeed(&mut client, "CREATE TYPE numbers AS TABLE (n NVARCHAR(9), m INT)");
    let answer = client.call(ProcedureId::Execute, vec![int("", 1), rows()]);
    assert_eq!(first(&answer), Some(500), "{answer:?}");
    succeed(&mut client, "DROP TYPE numbers CREATE TYPE numbers AS TABLE (n INT)");
    let answer = client.call(ProcedureId::Execute, vec![int("", 1), rows()]);
    assert_eq!(answer.rows(), [vec![Value::Int(7)]], "{answer:?}");
}

/// The caller's variable is of the type that was there when its batch began.
#[test]
fn a_type_that_has_changed_is_another_type() {
    let fixture = Fixture::new();
    let mut client = numbers(&fixture);
    let again = "DROP TYPE numbers CREATE TYPE numbers AS TABLE";
    for form in ["(n NVARCHAR(5), m INT DEFAULT 4)", "(n BIGINT)"] {
        let created =
            format!("{again} {form} EXEC ('CREATE PROCEDURE p @n numbers READONLY AS SELECT COUNT(*) AS c FROM @n')");
        let batch = format!("DECLARE @t numbers INSERT @t VALUES (1) {created} EXEC p @t SELECT 3 AS c");
        let answer = client.batch(&batch);
        assert_eq!(first(&answer), Some(206), "{answer:?}");
        succeed(&mut client, &format!("DROP PROCEDURE p {again} (n INT)"));
    }
    // A function takes no table of what was another type either.
    let answer = client.batch(&format!(
        "DECLARE @t numbers INSERT @t VALUES (1) {again} (n NVARCHAR(5))
         EXEC ('CREATE FUNCTION f (@n numbers READONLY) RETURNS INT AS BEGIN RETURN (SELECT COUNT(*) FROM @n) END')
         SELECT dbo.f(@t)"
    ));
    assert_eq!(first(&answer), Some(206), "{answer:?}");
    all_fail(&mut client, &[(3732, "DROP TYPE numbers")]);
}

/// Each session sees one of the two forms, whole, or none.
#[test]
fn a_type_changes_while_others_use_it() {
    let fixture = Fixture::new();
    let mut client = numbers(&fixture);
    let changes = std::thread::scope(|scope| {
        let others = (0..2).map(|_| {
            let mut other = fixture.client();
            succeed(&mut other, "USE d");
            scope.spawn(move || {
                for _ in 0..40 {
                    let answer = other.batch("DECLARE @t numbers INSERT @t VALUES (1) SELECT n + n AS n FROM @t");
                    let rows = answer.rows();
                    match first(&answer) {
                        None => assert!(
                            rows == [vec![Value::Int(2)]] || rows == [vec![Value::Text("11".into())]],
                            "{answer:?}"
                        ),
                        Some(number) => assert!([2715, 1087].contains(&number), "{answer:?}"),
                    }
                    let columns = [(DataType::Int, false)];
                    let sent = table("@t", ("dbo", "numbers"), &columns, vec![Value::Int(1)]);
                    let asked = vec![words("SELECT n + n AS n FROM @t"), words("@t numbers READONLY"), sent];
                    let answer = other.call(ProcedureId::ExecuteSql, asked);
                    let rows = answer.rows();
                    match first(&answer) {
                        None => assert!(
                            rows == [vec![Value::Int(2)]] || rows == [vec![Value::Text("11".into())]],
                            "{answer:?}"
                        ),
                        Some(number) => assert!([2715, 1087].contains(&number), "{answer:?}"),
                    }
                }
            })
        });
        let others: Vec<_> = others.collect();
        let mut changes = 0;
        while others.iter().any(|other| !other.is_finished()) {
            for form in ["NVARCHAR(5)", "INT"] {
                succeed(&mut client, "DROP TYPE numbers");
                succeed(&mut client, &format!("CREATE TYPE numbers AS TABLE (n {form})"));
                changes += 1;
            }
        }
        for other in others {
            other.join().unwrap();
        }
        changes
    });
    assert!(changes > 0);
}

//! How long a request may run.

use std::time::Duration;

use selenite_tds::{Done, DoneKind};

use super::client::{numbers, succeed};
use super::fixture::Fixture;

#[test]
fn a_request_that_runs_for_too_long_ends_by_an_error_and_its_session_goes_on() {
    let fixture = Fixture::with(|config| config.limits.request_time = Duration::from_millis(50));
    let mut administrator = fixture.client();
    succeed(
        &mut administrator,
        "CREATE LOGIN one WITH PASSWORD = 'Pass-word-1', CHECK_POLICY = OFF",
    );
    let mut client = fixture.client_as("one", "Pass-word-1", "");
    succeed(&mut client, "CREATE TABLE #t (a INT) INSERT #t VALUES (1)");
    for request in [
        "WAITFOR DELAY '01:00:00'",
        "WHILE 1 = 1 DECLARE @i INT = 1",
        "BEGIN TRY WAITFOR DELAY '01:00:00' END TRY BEGIN CATCH SELECT 1 END CATCH",
        "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT COUNT(*) FROM n \
         OPTION (MAXRECURSION 0)",
        "BEGIN TRAN INSERT #t VALUES (2) WAITFOR DELAY '01:00:00' COMMIT",
    ] {
        let answer = client.batch(request);
        assert_eq!(numbers(&answer), [8649], "{request}: {answer:?}");
        let last = *answer.statuses().last().unwrap();
        assert_eq!((last.0, last.1 & Done::ERROR), (DoneKind::Statement, Done::ERROR));
        assert!(answer.rows().is_empty(), "{request}: {answer:?}");
    }
    // As after an ATTENTION, the transaction is the client's to end.
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 1);
    succeed(&mut client, "ROLLBACK");
    assert_eq!(client.int("SELECT COUNT(*) FROM #t"), 1);
    // What an administrator runs takes as long as it takes.
    succeed(&mut administrator, "WAITFOR DELAY '00:00:00.200'");
}

//! Random batches: every answer must be valid for a client.

use proptest::prelude::*;

use super::*;

/// A statement of any kind, compound ones included.
fn statement() -> impl Strategy<Value = String> {
    let simple = prop::sample::select(vec![
        "PRINT @a",
        "SET @a = @a + 1",
        "SET @a = NULL",
        "SELECT @a, @@ERROR, @@ROWCOUNT",
        "SELECT @a = ERROR_NUMBER()",
        "SELECT 1/0",
        "SELECT CAST('x' AS int)",
        "RAISERROR('x', 16, 1)",
        "RAISERROR('x', 5, 1)",
        "THROW 50000, 'x', 1",
        "RETURN",
        "EXEC p",
        "EXEC q",
        "EXEC nobody",
        "EXEC ('BEGIN TRAN SELECT 1/0')",
        "EXEC ('SELECT @a')",
        "BEGIN TRAN",
        "COMMIT",
        "ROLLBACK",
        "SAVE TRAN s",
        "ROLLBACK TRAN s",
        "UPDATE t SET b = @a",
        "IF EXISTS (SELECT * FROM t) PRINT 'b'",
        "SET NOCOUNT ON",
        "SET NOCOUNT OFF",
        "SET XACT_ABORT ON",
        "SET XACT_ABORT OFF",
        "SET IMPLICIT_TRANSACTIONS ON",
        "DECLARE @t TABLE (a int)",
    ])
    .prop_map(str::to_owned);
    simple.prop_recursive(4, 40, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..4).prop_map(|list| list.join("; "));
        prop_oneof![
            list.clone().prop_map(|list| format!("BEGIN {list} END")),
            (inner.clone(), inner).prop_map(|(then, other)| format!("IF @a > 1 {then} ELSE {other}")),
            list.clone()
                .prop_map(|list| format!("WHILE @a < 4 BEGIN {list}; SET @a += 1; IF @a = 3 BREAK END")),
            (list.clone(), list.clone())
                .prop_map(|(body, handler)| format!("BEGIN TRY {body} END TRY BEGIN CATCH {handler} END CATCH")),
            (list.clone(), list)
                .prop_map(|(body, handler)| format!("BEGIN TRY {body} END TRY BEGIN CATCH {handler}; THROW END CATCH")),
        ]
    })
}

/// One table variable is enough for a batch.
fn batch() -> impl Strategy<Value = String> {
    prop::collection::vec(statement(), 1..6).prop_map(|list| {
        let text = format!("DECLARE @a int = 0; {}", list.join("; "));
        text.replace("DECLARE @t TABLE (a int)", "PRINT 't'")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_answer_ends_in_one_done_without_more(text in batch()) {
        prop_assert!(compile(&text).is_ok(), "{:?}", compile(&text));
        let mut fixture = Fixture::new();
        fixture.create("CREATE PROCEDURE p AS BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH PRINT 'p'; THROW END CATCH");
        fixture.create("CREATE PROCEDURE q AS SET NOCOUNT ON BEGIN TRAN UPDATE t SET a = 1 EXEC p COMMIT RETURN 2");
        fixture.host.stop_at = Some((3000, Stop::Attention));
        let (ended, _) = fixture.end(&text);
        let dones: Vec<&Done> = fixture.host.calls.iter().filter_map(|call| {
            if let HostCall::Done(done) = call { Some(done) } else { None }
        }).collect();
        if ended == Ended::Finished {
            let last = fixture.host.calls.iter().rposition(|call| !matches!(call, HostCall::Leave));
            prop_assert!(matches!(fixture.host.calls[last.unwrap()], HostCall::Done(_)), "a DONE is last: {:?}", fixture.recorded());
            prop_assert_eq!(dones.iter().filter(|done| done.status & Done::MORE == 0).count(), 1);
            prop_assert_eq!(dones[dones.len() - 1].status & Done::MORE, 0);
        } else {
            prop_assert_eq!(ended, Ended::Attention);
            prop_assert!(dones.iter().all(|done| done.status & Done::MORE != 0));
        }
        prop_assert!(fixture.host.caught.is_none());
        prop_assert_eq!(fixture.host.session.nest_level, 0);
    }

    #[test]
    fn every_begin_of_a_transaction_has_one_end(text in batch()) {
        let mut fixture = Fixture::new();
        fixture.create("CREATE PROCEDURE p AS ROLLBACK");
        fixture.create("CREATE PROCEDURE q AS BEGIN TRAN");
        fixture.host.stop_at = Some((3000, Stop::Attention));
        fixture.end(&text);
        let mut is_open = false;
        for call in &fixture.host.calls {
            let HostCall::Transaction(step) = call else {
                continue;
            };
            if step.starts_with("Begin") {
                prop_assert!(!is_open);
                is_open = true;
            } else if step.starts_with("Commit") || *step == "Rollback" {
                prop_assert!(is_open);
                is_open = false;
            } else {
                prop_assert!(is_open, "{step}");
            }
        }
        prop_assert_eq!(is_open, fixture.host.session.transaction_count > 0);
    }
}

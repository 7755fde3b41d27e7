//! Transactions, by text and by request.

use selenite_tds::client::Token;
use selenite_tds::{Done, DoneKind, Isolation, TransactionStep};

use super::client::{Answer, Client};
use super::fixture::Fixture;

fn begin(client: &mut Client) -> Answer {
    client.transaction(TransactionStep::Begin {
        isolation: Isolation::ReadCommitted,
        name: String::new(),
    })
}

#[test]
fn a_transaction_has_a_number_until_it_ends() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let began = begin(&mut client);
    let Some(Token::EnvChange(first)) = began.0.first() else {
        panic!("{began:?}");
    };
    assert_eq!((first.kind, first.new.len(), first.old.len()), (8, 8, 0));
    assert_ne!(first.new, [0; 8]);
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 1);
    let ended = client.transaction(TransactionStep::Commit {
        name: String::new(),
        next: None,
    });
    let Some(Token::EnvChange(second)) = ended.0.first() else {
        panic!("{ended:?}");
    };
    assert_eq!((second.kind, &second.old), (9, &first.new));
    assert_eq!(ended.statuses(), [(DoneKind::Statement, 0, 0)]);
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 0);
}

#[test]
fn text_and_requests_mean_the_same_transaction() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    begin(&mut client);
    let answer = client.batch("BEGIN TRAN COMMIT ROLLBACK TRANSACTION SELECT @@TRANCOUNT");
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.changes(), [10]);
    let answer = client.batch("COMMIT");
    assert_eq!(answer.errors(), [(3902, 1)]);
    let answer = client.transaction(TransactionStep::Rollback {
        name: String::new(),
        next: None,
    });
    assert_eq!(answer.errors()[0].0, 3903);
    assert_eq!(answer.dones().last().unwrap().status, Done::ERROR);
}

#[test]
fn the_end_of_one_may_begin_the_next() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    begin(&mut client);
    let answer = client.transaction(TransactionStep::Commit {
        name: String::new(),
        next: Some((Isolation::Serializable, "n".to_owned())),
    });
    assert_eq!(answer.changes(), [9, 8]);
    assert_eq!(answer.dones().len(), 1);
    let answer = client.transaction(TransactionStep::Save { name: "s".to_owned() });
    assert_eq!(answer.errors(), []);
    let answer = client.transaction(TransactionStep::Rollback {
        name: "s".to_owned(),
        next: None,
    });
    assert_eq!((answer.errors(), answer.changes()), (vec![], vec![]));
    let answer = client.transaction(TransactionStep::Rollback {
        name: String::new(),
        next: None,
    });
    assert_eq!(answer.changes(), [10]);
    // What can't be committed begins nothing.
    let answer = client.transaction(TransactionStep::Commit {
        name: String::new(),
        next: Some((Isolation::Unchanged, String::new())),
    });
    assert_eq!((answer.errors()[0].0, answer.changes()), (3902, vec![]));
}

#[test]
fn a_transaction_that_nobody_ended_ends_with_its_session() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d CREATE TABLE t (a INT)");
    client.batch("SET IMPLICIT_TRANSACTIONS ON SELECT a FROM t");
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 1);
    drop(client);
    assert_eq!(fixture.client().int("SELECT @@TRANCOUNT"), 0);
}

//! A page that was altered, met by a statement: SQL Server's error 824, and the end of the connection.

use super::client::numbers;
use super::encryption::{MASTER_KEY, make_table, run, wait_for_state};
use super::fixture::Fixture;

/// Alters a byte in the page in the middle of a file, and answers its number.
fn alter(path: &std::path::Path) -> usize {
    let mut bytes = std::fs::read(path).unwrap();
    let page_no = (bytes.len() - PREFIX_SIZE) / 2 / PAGE_SIZE + 1;
    bytes[PREFIX_SIZE + (page_no - 1) * PAGE_SIZE + 1000] ^= 1;
    std::fs::write(path, bytes).unwrap();
    page_no
}

const PAGE_SIZE: usize = 4096;
/// FORMAT 2.3.
const PREFIX_SIZE: usize = 65_536;

#[test]
fn a_statement_that_meets_a_damaged_page_names_it_and_ends_the_connection() {
    let mut fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 3000);
    for is_encrypted in [false, true] {
        if is_encrypted {
            let mut client = fixture.client();
            run(
                &mut client,
                &[
                    MASTER_KEY,
                    "CREATE CERTIFICATE c WITH SUBJECT = 's'",
                    "USE d",
                    "CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c",
                    "ALTER DATABASE d SET ENCRYPTION ON",
                ],
            );
            wait_for_state(&mut client, "d", 3);
        }
        let path = fixture.data_folder().join("d.db");
        let good = fixture.data_folder().join("good");
        let mut page_no = 0;
        fixture = fixture.restarted_after(|| {
            std::fs::copy(&path, &good).unwrap();
            page_no = alter(&path);
        });
        for statement in [
            "SELECT MAX(name) FROM t",
            "UPDATE t SET name = 'x'",
            "INSERT t SELECT name FROM t",
        ] {
            let mut client = fixture.client();
            run(&mut client, &["USE d"]);
            let answer = client.batch(statement);
            assert_eq!(numbers(&answer), [824], "{statement}: {answer:?}");
            let said = answer.said()[0];
            assert_eq!((said.severity, said.state), (24, 2));
            let place = format!(
                "of page (1:{page_no}) in database ID 5 ('d') in file '{}'",
                path.display()
            );
            assert!(said.text.contains(&place), "{}", said.text);
            assert!(client.message().is_err());
        }
        // Other pages, and other databases, are still readable.
        let mut client = fixture.client();
        run(&mut client, &["USE d", "SELECT name FROM t WHERE id = 1"]);
        fixture = fixture.restarted_after(|| std::fs::rename(&good, &path).unwrap());
        let mut client = fixture.client();
        run(&mut client, &["USE d"]);
        assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE name <> 'x'"), 3000);
    }
}

//! Constraints that are disabled, enabled and not trusted.

use super::client::{Client, fails, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY, p int NULL \
         CONSTRAINT f REFERENCES p (id) ON DELETE CASCADE, a int CONSTRAINT k CHECK (a > 0)); CREATE INDEX i ON c (a); \
         INSERT p VALUES (1), (2); INSERT c VALUES (1, 1, 1)",
    );
    client
}

const STATE: &str = "SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys UNION ALL \
                     SELECT name, is_disabled, is_not_trusted FROM sys.check_constraints ORDER BY name";

#[test]
fn a_disabled_constraint_is_not_enforced_and_then_not_trusted() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    assert_eq!(shown(&succeed(&mut client, STATE)), "f,0,0; k,0,0");
    succeed(&mut client, "ALTER TABLE c NOCHECK CONSTRAINT ALL");
    assert_eq!(shown(&succeed(&mut client, STATE)), "f,1,1; k,1,1");
    succeed(&mut client, "INSERT c VALUES (2, 9, 1), (3, 2, -1)");
    // Nothing cascades along a disabled key; still the table is referenced.
    succeed(&mut client, "DELETE p WHERE id = 1");
    assert_eq!(
        shown(&succeed(&mut client, "SELECT id, p, a FROM c ORDER BY id")),
        "1,1,1; 2,9,1; 3,2,-1"
    );
    fails(&mut client, 3726, "DROP TABLE p");
    fails(&mut client, 4712, "TRUNCATE TABLE p");
    // Rows from before are not checked unless that is asked for.
    fails(&mut client, 547, "ALTER TABLE c WITH CHECK CHECK CONSTRAINT k");
    fails(&mut client, 547, "ALTER TABLE c WITH CHECK CHECK CONSTRAINT f");
    assert_eq!(shown(&succeed(&mut client, STATE)), "f,1,1; k,1,1");
    succeed(&mut client, "ALTER TABLE c CHECK CONSTRAINT f, k");
    assert_eq!(shown(&succeed(&mut client, STATE)), "f,0,1; k,0,1");
    fails(&mut client, 547, "INSERT c VALUES (4, 9, 1)");
    fails(&mut client, 547, "INSERT c VALUES (4, 2, -1)");
    fails(&mut client, 547, "UPDATE c SET p = 8 WHERE id = 3");
    succeed(
        &mut client,
        "UPDATE c SET p = 2, a = 5 WHERE id = 1; ALTER TABLE c ADD more int",
    );
    fails(&mut client, 547, "ALTER TABLE c WITH CHECK CHECK CONSTRAINT ALL");
    succeed(
        &mut client,
        "DELETE c WHERE id IN (2, 3); ALTER TABLE c WITH CHECK CHECK CONSTRAINT ALL",
    );
    assert_eq!(shown(&succeed(&mut client, STATE)), "f,0,0; k,0,0");
    succeed(&mut client, "DELETE p WHERE id = 2");
    assert_eq!(client.int("SELECT COUNT(*) FROM c"), 0);
    fails(&mut client, 4917, "ALTER TABLE c NOCHECK CONSTRAINT none");
}

#[test]
fn a_constraint_is_added_without_a_check_of_the_rows() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TABLE e (id int, p int); INSERT e VALUES (-1, 7)");
    fails(
        &mut client,
        547,
        "ALTER TABLE e ADD CONSTRAINT g FOREIGN KEY (p) REFERENCES p (id)",
    );
    succeed(
        &mut client,
        "ALTER TABLE e WITH NOCHECK ADD CONSTRAINT g FOREIGN KEY (p) REFERENCES p (id), CONSTRAINT h CHECK (id > 0)",
    );
    assert_eq!(shown(&succeed(&mut client, STATE)), "f,0,0; g,0,1; h,0,1; k,0,0");
    fails(&mut client, 547, "INSERT e VALUES (1, 7)");
    fails(&mut client, 547, "INSERT e VALUES (-1, 1)");
    succeed(
        &mut client,
        "INSERT e VALUES (1, 1); ALTER TABLE e DROP CONSTRAINT h; EXEC sp_rename 'g', 'gg'",
    );
    assert_eq!(shown(&succeed(&mut client, STATE)), "f,0,0; gg,0,1; k,0,0");
    // A rebuild of either table checks trusted keys only.
    succeed(
        &mut client,
        "ALTER TABLE e ALTER COLUMN id bigint; ALTER TABLE p ADD b int NOT NULL DEFAULT 1",
    );
    succeed(&mut client, "DELETE e; ALTER TABLE e WITH CHECK CHECK CONSTRAINT gg");
    assert_eq!(shown(&succeed(&mut client, STATE)), "f,0,0; gg,0,0; k,0,0");
}

#[test]
fn rows_from_before_that_are_mended_hide_no_new_violation() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE s (id int PRIMARY KEY, up int NULL); INSERT s VALUES (1, 50); \
         ALTER TABLE s WITH NOCHECK ADD CONSTRAINT self FOREIGN KEY (up) REFERENCES s (id)",
    );
    // 50 mends the row from before, 60 refers to nothing.
    fails(&mut client, 547, "INSERT s VALUES (60, 70), (50, NULL)");
    fails(
        &mut client,
        547,
        "MERGE s USING (VALUES (60, 70), (50, NULL)) AS v (id, up) ON s.id = v.id WHEN NOT MATCHED THEN INSERT VALUES (id, up);",
    );
    fails(&mut client, 547, "UPDATE s SET up = 70");
    assert_eq!(shown(&succeed(&mut client, "SELECT * FROM s")), "1,50");
    succeed(&mut client, "INSERT s VALUES (60, 50), (50, NULL)");
}

//! CREATE, UPDATE and DROP STATISTICS, sys.stats.

use super::client::{Client, all_fail, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (a int CONSTRAINT pk PRIMARY KEY, b int, c int); CREATE INDEX i ON t (b)",
    );
    client
}

#[test]
fn statistics_are_listed_until_they_are_dropped() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE STATISTICS s ON dbo.t (c, b) WITH FULLSCAN, NORECOMPUTE",
    );
    succeed(&mut client, "CREATE STATISTICS s2 ON t (c) WITH SAMPLE 10 PERCENT");
    let listed = "SELECT s.name, s.user_created, s.no_recompute, c.name FROM sys.stats s \
                  JOIN sys.stats_columns x ON x.object_id = s.object_id AND x.stats_id = s.stats_id \
                  JOIN sys.columns c ON c.object_id = x.object_id AND c.column_id = x.column_id \
                  WHERE s.object_id = OBJECT_ID('t') ORDER BY s.name, x.stats_column_id";
    assert_eq!(
        shown(&succeed(&mut client, listed)),
        "i,0,0,b; pk,0,0,a; s,1,1,c; s,1,1,b; s2,1,0,c"
    );
    succeed(
        &mut client,
        "UPDATE STATISTICS t s WITH FULLSCAN; UPDATE STATISTICS t (s, i)",
    );
    succeed(
        &mut client,
        "EXEC sp_rename 't.c', 'd', 'COLUMN'; EXEC sp_rename 't', 'u'",
    );
    let listed = listed.replace("'t'", "'u'");
    assert_eq!(
        shown(&succeed(&mut client, &listed)),
        "i,0,0,b; pk,0,0,a; s,1,1,d; s,1,1,b; s2,1,0,d"
    );
    succeed(
        &mut client,
        "DROP STATISTICS u.s, dbo.u.s2; ALTER TABLE u DROP COLUMN d",
    );
    assert_eq!(shown(&succeed(&mut client, &listed)), "i,0,0,b; pk,0,0,a");
    succeed(&mut client, "CREATE STATISTICS s ON u (b); DROP TABLE u");
    succeed(&mut client, "CREATE TABLE u (b int)");
    assert_eq!(shown(&succeed(&mut client, &listed)), "");
    drop(client);
    fixture.stop();
}

#[test]
fn statistics_that_cannot_be_are_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE STATISTICS s ON t (c)");
    all_fail(
        &mut client,
        &[
            (1927, "CREATE STATISTICS s ON t (b)"),
            (1927, "CREATE STATISTICS i ON t (b)"),
            (1927, "CREATE INDEX s ON t (b)"),
            (1911, "CREATE STATISTICS s3 ON t (none)"),
            (1909, "CREATE STATISTICS s3 ON t (b, b)"),
            (1088, "CREATE STATISTICS s3 ON none (b)"),
            (40510, "CREATE STATISTICS s3 ON t (b) WHERE b > 1"),
            (3701, "DROP STATISTICS t.none"),
            (3701, "DROP STATISTICS none.s"),
            (3739, "DROP STATISTICS t.i"),
            (2767, "UPDATE STATISTICS t (none)"),
            (5074, "ALTER TABLE t DROP COLUMN c"),
        ],
    );
    drop(client);
    fixture.stop();
}

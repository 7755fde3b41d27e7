//! Trailing blanks of names do not count, and permissions count first.

use super::client::{all_fail, succeed};
use super::fixture::Fixture;

#[test]
fn trailing_blanks_of_a_name_do_not_count() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(
        &mut client,
        "CREATE LOGIN ann WITH PASSWORD = 'Corr3ct-horse' CREATE DATABASE d",
    );
    all_fail(
        &mut client,
        &[
            (15025, "CREATE LOGIN [sa ] WITH PASSWORD = 'Corr3ct-horse'"),
            (15025, "CREATE LOGIN [ANN  ] WITH PASSWORD = 'Corr3ct-horse'"),
            (15025, "ALTER LOGIN ann WITH NAME = [sa ]"),
            (1801, "CREATE DATABASE [D ]"),
        ],
    );
    succeed(&mut client, "ALTER LOGIN [ann ] WITH DEFAULT_DATABASE = [d ] USE [d ]");
    succeed(&mut client, "CREATE USER ann FOR LOGIN [ann ] CREATE ROLE r");
    succeed(&mut client, "CREATE SCHEMA s");
    succeed(
        &mut client,
        "CREATE TABLE s.t (a INT PRIMARY KEY) CREATE TYPE s.ty FROM INT CREATE TYPE [s ].[tt ] AS TABLE (a [int ])",
    );
    all_fail(
        &mut client,
        &[
            (15023, "CREATE USER [ann ] FOR LOGIN ann"),
            (15023, "CREATE ROLE [r ]"),
            (15023, "CREATE ROLE [ann ]"),
            (15023, "CREATE ROLE [public ]"),
            (2714, "CREATE SCHEMA [s ]"),
            (2714, "CREATE SCHEMA [dbo ]"),
            (2714, "CREATE TABLE [s ].[t ] (a INT)"),
            (2714, "CREATE VIEW s.[t ] AS SELECT 1 AS a"),
            (2705, "CREATE TABLE u (a INT, [a ] INT)"),
            (219, "CREATE TYPE s.[ty ] FROM INT"),
            (219, "CREATE TYPE [int ] FROM INT"),
            (219, "CREATE TYPE [s ].tt FROM INT"),
        ],
    );
    succeed(
        &mut client,
        "INSERT [s ].[t ] VALUES (1) GRANT SELECT ON [s ].[t ] TO [ann ]",
    );
    assert_eq!(client.int("SELECT [a ] FROM [s ].[T ]"), 1);
    assert_eq!(client.int("DECLARE @x [s ].[ty ] = 4, @y [int ] = 1 SELECT @x + @y"), 5);
    assert_eq!(client.int("DECLARE @x s.tt INSERT @x VALUES (3) SELECT a FROM @x"), 3);
    succeed(&mut client, "CREATE TABLE u (a INT REFERENCES [s ].[t ] ([a ]))");
    all_fail(
        &mut client,
        &[(547, "INSERT u VALUES (2)"), (3726, "DROP TABLE [s ].t")],
    );
    let schema =
        "SELECT STRING_AGG(CONCAT('[', SCHEMA_NAME(schema_id), '].[', name, ']'), ',') WITHIN GROUP (ORDER BY name)
        FROM sys.types WHERE is_user_defined = 1";
    assert_eq!(client.text(schema), "[s].[tt ],[s].[ty]");
    succeed(
        &mut client,
        "DROP TABLE [u ], [s ].[t ] DROP TYPE [s ].[ty ] DROP TYPE s.tt",
    );
    succeed(
        &mut client,
        "DROP SCHEMA [s ] DROP ROLE [r ] DROP USER [ann ] USE master DROP LOGIN [ann ]",
    );
}

#[test]
fn columns_of_keys_are_known_by_their_own_names() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(
        &mut client,
        "CREATE TABLE v (a INT, b INT, c INT, PRIMARY KEY ([a ]), UNIQUE ([B ]), FOREIGN KEY ([c ]) REFERENCES v ([a ]))
         CREATE INDEX i ON v ([C ]) INCLUDE ([b ]) WHERE [c ] > 1
         CREATE TYPE kt AS TABLE (a INT, PRIMARY KEY ([a ]), INDEX i ([a ])) INSERT v ([a ], b) VALUES (1, 1)",
    );
    all_fail(
        &mut client,
        &[
            (2627, "INSERT v (a) VALUES (1)"),
            (547, "INSERT v VALUES (2, 2, 7)"),
            (2627, "DECLARE @t kt INSERT @t VALUES (1), (1)"),
        ],
    );
    succeed(&mut client, "DROP TABLE v DROP TYPE kt");
}

#[test]
fn who_may_not_truncate_a_table_does_not_hear_of_its_keys() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(
        &mut client,
        "CREATE DATABASE d CREATE LOGIN ann WITH PASSWORD = 'Corr3ct-horse' USE d CREATE USER ann FOR LOGIN ann
         CREATE TABLE p (id INT PRIMARY KEY) CREATE TABLE c (p INT REFERENCES p) INSERT p VALUES (1)",
    );
    let mut ann = fixture.client_as("ann", "Corr3ct-horse", "d");
    all_fail(&mut ann, &[(1088, "TRUNCATE TABLE p"), (1088, "TRUNCATE TABLE c")]);
    succeed(&mut client, "GRANT ALTER ON p TO ann GRANT ALTER ON c TO ann");
    all_fail(&mut ann, &[(4712, "TRUNCATE TABLE p")]);
    succeed(&mut ann, "TRUNCATE TABLE c");
    all_fail(&mut client, &[(4712, "TRUNCATE TABLE dbo.p")]);
    assert_eq!(client.int("SELECT COUNT(*) FROM p"), 1);
}

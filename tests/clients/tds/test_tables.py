"""Table-valued parameters, as each client's own type for them sends them."""

import pytest
from client import ALL, Client, Connection
from value import Kind

SENDING = [one for one in ALL if one.tables]
each = pytest.mark.parametrize("client", SENDING, ids=lambda one: one.name)

COLUMNS = [
    ("a", "int"),
    ("b", "nvarchar(20)"),
    ("c", "decimal(10,2)"),
    ("d", "datetime2(3)"),
    ("e", "varbinary(8)"),
    ("f", "float"),
    ("g", "bit"),
    ("h", "bigint"),
    ("i", "nvarchar(max)"),
    ("j", "varbinary(max)"),
]
ROWS: list[list[str | None]] = [
    [
        "1",
        "Gr\u00fc\u00dfe \u6f22 \U0001f600",
        "-12.50",
        "2024-02-29 12:34:56.789",
        "0x00FF",
        "0.1",
        "1",
        "-9223372036854775808",
        "\u6f22\u5b57; " * 5000,
        "0x" + "A5" * 20_000,
    ],
    ["2", *[None] * 9],
    ["3", "", "99999999.99", "2001-01-01 00:00:00.000", "0x01", "-1.5", "0", "7", "", "0x"],
]
TYPE = "shop.cells"


def made(connection: Connection) -> None:
    declared = ", ".join(f"{name} {kind}{' PRIMARY KEY' if name == 'a' else ''}" for name, kind in COLUMNS)
    connection.run("IF DB_ID('tvp') IS NULL CREATE DATABASE tvp")
    connection.run("USE tvp")
    connection.run("IF SCHEMA_ID('shop') IS NULL EXEC ('CREATE SCHEMA shop')")
    connection.run(f"DROP PROCEDURE IF EXISTS shop.takes DROP TYPE IF EXISTS {TYPE} CREATE TYPE {TYPE} AS TABLE ({declared})")
    connection.run(f"CREATE PROCEDURE shop.takes @p1 {TYPE} READONLY AS SELECT * FROM @p1 ORDER BY a")


def same(client: Client, rows: list[list[str | None]], got: list[list[str | None]]) -> None:
    assert len(got) == len(rows)
    for expected, row in zip(rows, got, strict=True):
        for (name, kind), text, value in zip(COLUMNS, expected, row, strict=True):
            base, _, sizes = kind.rstrip(")").partition("(")
            assert Kind(kind, ()).is_same(text, value, client), (name, base, sizes, text, value)


WAYS = pytest.mark.parametrize("procedure", [True, False], ids=["procedure", "text"])


def sql(procedure: bool) -> str:
    return "shop.takes" if procedure else "SELECT * FROM @p1 ORDER BY a"


@each
@WAYS
def test_rows_arrive_as_they_are(client: Client, connection: Connection, procedure: bool) -> None:
    made(connection)
    for _ in range(2):
        reply = connection.do("table", sql=sql(procedure), procedure=procedure, type=TYPE, columns=COLUMNS, rows=ROWS)
        assert reply.errors == []
        same(client, ROWS, reply.rows)


@each
@WAYS
def test_a_table_without_rows_arrives(client: Client, connection: Connection, procedure: bool) -> None:
    made(connection)
    reply = connection.do("table", sql=sql(procedure), procedure=procedure, type=TYPE, columns=COLUMNS, rows=[])
    assert (reply.errors, reply.rows) == ([], [])


@each
def test_many_rows_are_one_parameter(client: Client, connection: Connection) -> None:
    made(connection)
    rows = [[str(i), f"row {i}", *[None] * 8] for i in range(10_000)]
    text = "SELECT COUNT(*), SUM(a) FROM @p1 WHERE b = CONCAT('row ', a)"
    reply = connection.do("table", sql=text, procedure=False, type=TYPE, columns=COLUMNS, rows=rows)
    assert (reply.errors, reply.rows) == ([], [["10000", str(sum(range(10_000)))]])


@each
def test_an_error_of_a_row_leaves_the_connection_usable(client: Client, connection: Connection) -> None:
    made(connection)
    rows = [["1", *[None] * 9], ["1", *[None] * 9]]
    for procedure in (True, False):
        reply = connection.do("table", sql=sql(procedure), procedure=procedure, type=TYPE, columns=COLUMNS, rows=rows)
        assert reply.errors
        if "number" in client.tells:
            assert reply.errors[0]["number"] == 2627
    assert connection.run("SELECT @@TRANCOUNT").value == "0"

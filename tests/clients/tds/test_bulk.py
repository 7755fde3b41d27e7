"""Rows in bulk: INSERT BULK and the message with its rows, as each client's own bulk copy sends them."""

import os
import subprocess
from pathlib import Path

import pytest
from client import ALL, Client, Connection
from servers import Servers
from value import Kind

COPYING = [one for one in ALL if one.bulk]
each = pytest.mark.parametrize("client", COPYING, ids=lambda one: one.name)

COLUMNS = [
    ("a", "int"),
    ("b", "nvarchar(20)"),
    ("c", "decimal(10,2)"),
    ("d", "datetime2(3)"),
    ("e", "varbinary(8)"),
    ("f", "float"),
    ("g", "bit"),
    ("h", "bigint"),
    ("i", "uniqueidentifier"),
]
ROWS: list[list[str | None]] = [
    [
        "1",
        "Gr\u00fc\u00dfe \u6f22",
        "-12.50",
        "2024-02-29 12:34:56.789",
        "0x00FF",
        "0.1",
        "1",
        "-9223372036854775808",
        "01020304-0506-0708-090A-0B0C0D0E0F10",
    ],
    ["2", *[None] * 8],
    ["3", "x", "99999999.99", "2001-01-01 00:00:00.000", "0x01", "-1.5", "0", "7", "00000000-0000-0000-0000-000000000000"],
]


def made(connection: Connection, columns: list[tuple[str, str]] = COLUMNS) -> None:
    declared = ", ".join(f"{name} {kind}{' PRIMARY KEY' if name == 'a' else ''}" for name, kind in columns)
    connection.run("IF DB_ID('loads') IS NULL CREATE DATABASE loads")
    connection.run("USE loads")
    connection.run(f"DROP TABLE IF EXISTS copied; CREATE TABLE copied ({declared})")


def sent(client: Client) -> list[tuple[str, str]]:
    """The columns that a client can copy."""
    # pymssql has no way to copy a GUID.
    return COLUMNS[:-1] if client.name == "pymssql" else COLUMNS


@each
def test_rows_are_copied(client: Client, connection: Connection) -> None:
    columns = sent(client)
    made(connection, columns)
    rows = [row[: len(columns)] for row in ROWS]
    reply = connection.do("bulk", table="copied", columns=columns, rows=rows)
    assert reply.errors == []
    shown = ", ".join(name if kind != "uniqueidentifier" else f"CONVERT(varchar(36), {name})" for name, kind in columns)
    got = connection.run(f"SELECT {shown} FROM copied ORDER BY a").rows
    assert len(got) == len(rows)
    for expected, row in zip(rows, got, strict=True):
        for (name, kind), text, value in zip(columns, expected, row, strict=True):
            assert Kind(kind, ()).is_same(text, value, client), (name, text, value)


@each
def test_many_rows_are_one_load(client: Client, connection: Connection) -> None:
    columns = [("a", "int"), ("b", "nvarchar(20)")]
    made(connection, columns)
    rows = [[str(i), f"row {i}"] for i in range(10_000)]
    assert connection.do("bulk", table="copied", columns=columns, rows=rows).errors == []
    sql = "SELECT COUNT(*), SUM(a) FROM copied WHERE b = CONCAT('row ', a)"
    assert connection.run(sql).rows == [["10000", str(sum(range(10_000)))]]


@each
def test_an_error_is_told_and_the_connection_goes_on(client: Client, connection: Connection) -> None:
    columns = [("a", "int"), ("b", "nvarchar(20)")]
    made(connection, columns)
    rows = [[str(i % 4000), "x"] for i in range(5000)]
    reply = connection.do("bulk", table="copied", columns=columns, rows=rows)
    assert reply.errors
    if "number" in client.tells:
        assert 2627 in [error["number"] for error in reply.errors]
    if client.name == "pymssql":
        # It copies in batches of a thousand.
        return
    assert connection.run("SELECT COUNT(*) FROM copied").value == "0"


def test_freebcp_copies_in_and_out(servers: Servers, tmp_path: Path) -> None:
    """FreeTDS' own program: a file into a table, and the table into a file."""
    server = servers.of("require")
    given = "1\tone\n2\t\n3\tthree\n"
    (tmp_path / "in.txt").write_text(given)

    def bcp(*words: str) -> None:
        login = ["-S", f"127.0.0.1:{server.port}", "-U", "sa", "-P", server.password, "-c"]
        environment = os.environ | {"TDSVER": "7.4"}
        done = subprocess.run(["freebcp", *words, *login], env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr

    def tsql(sql: str) -> str:
        login = ["-H", "127.0.0.1", "-p", str(server.port), "-U", "sa", "-P", server.password, "-o", "fhq"]
        environment = os.environ | {"TDSVER": "7.4"}
        done = subprocess.run(["tsql", *login], input=f"{sql}\nGO\n", env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    tsql("IF DB_ID('bcp') IS NULL CREATE DATABASE bcp")
    tsql("USE bcp DROP TABLE IF EXISTS t CREATE TABLE t (a int, b varchar(10))")
    bcp("bcp.dbo.t", "in", str(tmp_path / "in.txt"))
    assert tsql("SELECT COUNT(*), SUM(a) FROM bcp.dbo.t").split() == ["3", "6"]
    bcp("bcp.dbo.t", "out", str(tmp_path / "out.txt"))
    assert (tmp_path / "out.txt").read_text() == given

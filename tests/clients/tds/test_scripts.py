"""The scripts of sources 000 and 002, as their readers would run them: batch by batch, each in the source's words."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from client import ALL, Client, Connection, Desk, SqlError
from script import batches, shortened, text

# tsql logs in again for each request: what it does is done in one script.
STAYING = [one for one in ALL if one.name != "tsql"]
each = pytest.mark.parametrize("client", STAYING, ids=lambda one: one.name)
# As many rows as source 002 makes take minutes where each is a transaction of its own on a slow disk.
ROWS = 200
# A database of five rows is scanned at once, but not before the scanner has its turn.
SCAN_SECONDS = 60


def play(connection: Connection, name: str, most: int = ROWS) -> list[list[list[str | None]]]:
    """Runs a script. The rows of all its result sets."""
    rows = []
    for sql, count in batches(text(name)):
        for _ in range(min(count, most)):
            rows += [one["rows"] for one in connection.run(sql).sets]
    return rows


@pytest.fixture
def testdb(client: Client, desk: Callable[..., Desk]) -> Iterator[Connection]:
    """Source 002's database, as its first script makes it."""
    connection = desk(client).connect()
    connection.run("DROP DATABASE IF EXISTS TESTDB")
    play(connection, "002_prepare")
    yield connection
    connection.run("USE master")
    connection.run("DROP DATABASE IF EXISTS TESTDB")


def test_the_scripts_are_split_as_sqlcmd_splits_them() -> None:
    assert [(len(sql.splitlines()), count) for sql, count in batches(text("002_insert"))] == [
        (1, 1),
        (2, 1),
        (1, 10_000),
        (2, 1),
    ]
    assert len(batches(text("002_encrypt"))) == 6
    assert len(batches(text("000_load"))) == 1


@each
def test_source_000_counts_and_measures(client: Client, connection: Connection) -> None:
    reply = connection.run(shortened(text("000_load"), 20_000))
    rows = [one["rows"] for one in reply.sets]
    assert len(rows) == 6
    assert rows[0] == [[connection.run("SELECT @@SPID AS spid").value]]
    assert rows[2] == [["TRUE"]]
    assert int(rows[3][0][0]) >= 0
    assert 0 <= int(rows[4][0][0]) < 60
    assert [row[0] for row in rows[5]] == ["PREEMPTIVE_OS_ENCRYPTMESSAGE"]


@each
def test_source_000_samples_what_runs(client: Client, desk: Callable[..., Desk]) -> None:
    at = desk(client)
    connection = at.connect()
    spid = connection.run("SELECT @@SPID AS spid").value
    script = text("000_samples").replace("78", str(spid), 1).replace("120", "2", 1).replace("00:00:01", "00:00:00.050")
    rows = [one["rows"] for one in connection.run(script).sets]
    assert len(rows) == 2
    assert all(len(one) == 1 and one[0][2] == "running" for one in rows)


@each
def test_source_002_inserts(client: Client, testdb: Connection) -> None:
    play(testdb, "002_insert")
    reply = testdb.run("SELECT COUNT(*) AS n, MIN(code) AS a, MAX(code) AS z, MIN(name) AS name FROM testtable")
    assert reply.rows == [[str(ROWS), "1", str(ROWS), "SQLSHACK".ljust(25)]]
    assert testdb.run("SELECT COUNT(*) AS n FROM testtable WHERE date > DATEADD(minute, -10, GETDATE())").value == str(ROWS)


@each
def test_source_002_updates_and_selects(client: Client, testdb: Connection) -> None:
    play(testdb, "002_insert", 10)
    play(testdb, "002_update")
    (rows,) = play(testdb, "002_select")
    assert [(row[0], row[1]) for row in rows] == [(str(i), "SQL Server".ljust(25)) for i in range(1, 11)]


@pytest.mark.parametrize("client", [one for one in STAYING if one.tells_messages], ids=lambda one: one.name)
def test_source_002_is_told_its_statistics(client: Client, testdb: Connection) -> None:
    testdb.run("SET STATISTICS TIME ON SET STATISTICS IO ON")
    said = "\n".join(testdb.run("INSERT INTO testtable DEFAULT VALUES ;").texts)
    assert "SQL Server Execution Times" in said
    assert "Table 'testtable'. " in said
    assert "logical reads" in said


@each
def test_source_002_looks_at_processes(client: Client, testdb: Connection) -> None:
    spid = testdb.run("SELECT @@SPID AS spid").value
    ((found, *_, statement),) = testdb.run(text("002_processes").replace("56", str(spid))).rows
    assert found == spid
    assert statement is not None and "sysprocesses" in statement


@pytest.mark.parametrize("client", ALL, ids=lambda one: one.name)
def test_source_002s_broken_backup_is_an_error_of_syntax(client: Client, connection: Connection) -> None:
    """The quotation mark is a typographic one, and nothing closes it."""
    ((before, _), (broken, _), (after, _)) = batches(text("002_backup"))
    connection.run(before)
    with pytest.raises(SqlError) as error:
        connection.run(broken)
    assert error.value.number in (102, 105, None)
    assert error.value.text.startswith(("Incorrect syntax near", "Unclosed quotation mark"))
    if "line" in client.tells:
        assert error.value.line == 1
    connection.run(after)


@each
def test_source_002_backs_up(client: Client, testdb: Connection) -> None:
    reply = [testdb.run(sql) for sql, _ in batches(text("002_backup_mended"))]
    said = "\n".join(reply[1].texts)
    assert "BACKUP DATABASE successfully processed" in said or not client.tells_messages
    device = re.search(r"TO DISK ?= ?(N?'[^']+')", text("002_backup_mended"))
    assert device
    testdb.run(f"RESTORE VERIFYONLY FROM DISK = {device[1]}")
    play(testdb, "002_insert", 3)
    testdb.run(f"USE master; RESTORE DATABASE TESTDB FROM DISK = {device[1]} WITH REPLACE; USE TESTDB")
    assert testdb.run("SELECT COUNT(*) AS n FROM testtable").value == "0"


@each
def test_source_002_encrypts(client: Client, testdb: Connection) -> None:
    play(testdb, "002_insert", 5)
    deadline = time.monotonic() + SCAN_SECONDS
    try:
        play(testdb, "002_encrypt")
        rows: list[list[str | None]] = []
        while not rows or any("IN_PROGRESS" in str(row[1]) for row in rows):
            assert time.monotonic() < deadline, rows
            (rows,) = play(testdb, "002_keys")
        # As in SQL Server, tempdb is encrypted when one database is.
        assert sorted(rows) == [["TESTDB", "ENCRYPTED"], ["tempdb", "ENCRYPTED"]]
        assert testdb.run("SELECT COUNT(*) AS n FROM testtable").value == "5"
    finally:
        # Whatever the scan's state says, its database is no longer in use by it.
        testdb.run("USE master; DROP DATABASE TESTDB")
        testdb.run("DROP CERTIFICATE TestDB_TDECert; DROP MASTER KEY")

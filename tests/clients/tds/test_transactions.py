"""Transactions and tables: what is committed stays, what is rolled back is gone, and counts are told."""

from collections.abc import Callable, Iterator

import pytest
from client import ALL, Client, Connection, Desk, SqlError

by_calls = pytest.mark.parametrize("client", [one for one in ALL if one.transactions], ids=lambda one: one.name)
counting = pytest.mark.parametrize("client", [one for one in ALL if one.tells_counts], ids=lambda one: one.name)


@pytest.fixture
def table(client: Client, desk: Callable[..., Desk]) -> Iterator[str]:
    """The name of a new table in tempdb's neighbour: a database of this client's."""
    name = f"t_{client.name.replace('-', '_')}"
    maker = desk(client).connect()
    maker.run(f"DROP TABLE IF EXISTS {name}")
    maker.run(f"CREATE TABLE {name} (id int NOT NULL PRIMARY KEY, body nvarchar(100) NULL)")
    yield name
    maker.run(f"DROP TABLE {name}")


def ids(connection: Connection, table: str) -> list[str | None]:
    return [row[0] for row in connection.run(f"SELECT id FROM {table} ORDER BY id").rows]


def test_text_begins_and_commits(client: Client, table: str, desk: Callable[..., Desk]) -> None:
    at = desk(client)
    one = at.connect()
    one.run(f"BEGIN TRANSACTION; INSERT INTO {table} VALUES (1, N'\u00fc'), (2, NULL); COMMIT")
    one.run(f"BEGIN TRANSACTION; INSERT INTO {table} VALUES (3, 'x'); ROLLBACK")
    assert ids(at.connect(), table) == ["1", "2"]


def test_a_savepoint_undoes_what_came_after_it(client: Client, table: str, connection: Connection) -> None:
    reply = connection.run(
        f"BEGIN TRAN; INSERT INTO {table} VALUES (1, 'a'); SAVE TRAN here; INSERT INTO {table} VALUES (2, 'b'); "
        f"ROLLBACK TRAN here; INSERT INTO {table} VALUES (3, 'c'); COMMIT; SELECT @@TRANCOUNT AS n"
    )
    assert reply.sets[-1]["rows"] == [["0"]]
    assert ids(connection, table) == ["1", "3"]


@by_calls
def test_a_call_commits(client: Client, table: str, desk: Callable[..., Desk]) -> None:
    at = desk(client)
    one, other = at.connect(), at.connect()
    one.do("begin")
    one.run(f"INSERT INTO {table} VALUES (1, 'x')")
    assert one.run("SELECT @@TRANCOUNT AS n").value == "1"
    assert ids(other, table) == []
    one.do("commit")
    assert ids(other, table) == ["1"]
    assert one.run("SELECT @@TRANCOUNT AS n").value == "0"


@by_calls
def test_a_call_rolls_back(client: Client, table: str, desk: Callable[..., Desk]) -> None:
    at = desk(client)
    one = at.connect()
    one.do("begin")
    one.run(f"INSERT INTO {table} VALUES (1, 'x')")
    one.do("rollback")
    assert ids(one, table) == []
    assert one.run("SELECT @@TRANCOUNT AS n").value == "0"


@by_calls
def test_who_leaves_commits_nothing(client: Client, table: str, desk: Callable[..., Desk]) -> None:
    at = desk(client)
    one = at.connect()
    one.do("begin")
    one.run(f"INSERT INTO {table} VALUES (1, 'x')")
    one.close()
    assert ids(at.connect(), table) == []


@by_calls
def test_calls_count_without_tables(client: Client, connection: Connection) -> None:
    """What begins and ends, seen by the session alone."""
    trancount = "SELECT @@TRANCOUNT AS n"
    for end in ("commit", "rollback", "commit"):
        connection.do("begin")
        # JDBC's first statement begins it.
        assert connection.run("SELECT 1 AS one; " + trancount).sets[-1]["rows"] in ([["1"]], [["0"]])
        connection.do(end)
        assert connection.run(trancount).value == "0"


def test_nested_transactions_count(client: Client, connection: Connection) -> None:
    reply = connection.run(
        "BEGIN TRAN; BEGIN TRAN; SELECT @@TRANCOUNT AS n; COMMIT; SELECT @@TRANCOUNT AS n; ROLLBACK; SELECT @@TRANCOUNT AS n"
    )
    assert [one["rows"] for one in reply.sets] == [[["2"]], [["1"]], [["0"]]]


@counting
def test_rows_that_changed_are_counted(client: Client, table: str, connection: Connection) -> None:
    assert connection.run(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c')").counts == [3]
    assert connection.run(f"UPDATE {table} SET body = 'z' WHERE id > 1").counts == [2]
    assert connection.run(f"DELETE FROM {table} WHERE id = 99").counts == [0]
    assert connection.run(f"DELETE FROM {table}").counts == [3]
    assert connection.run(f"SET NOCOUNT ON; INSERT INTO {table} VALUES (9, 'a')").counts == []


def test_a_key_that_is_there_is_refused(client: Client, table: str, connection: Connection) -> None:
    connection.run(f"INSERT INTO {table} VALUES (1, 'a')")
    with pytest.raises(SqlError) as error:
        connection.run(f"INSERT INTO {table} VALUES (1, 'b')")
    assert "Violation of PRIMARY KEY constraint" in error.value.text
    assert error.value.number in (2627, None)
    assert ids(connection, table) == ["1"]


@pytest.mark.parametrize("client", [one for one in ALL if one.parameters], ids=lambda one: one.name)
def test_rows_are_written_with_parameters(client: Client, table: str, connection: Connection) -> None:
    for i in range(20):
        body = None if i % 3 == 0 else f"row \u00fc {i}"
        connection.execute(f"INSERT INTO {table} (id, body) VALUES (@p1, @p2)", ("int", str(i)), ("nvarchar(100)", body))
    found = connection.execute(f"SELECT id, body FROM {table} WHERE id >= @p1 ORDER BY id", ("int", "16"))
    assert found.rows == [[str(i), None if i % 3 == 0 else f"row \u00fc {i}"] for i in range(16, 20)]

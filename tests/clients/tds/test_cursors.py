"""Cursors on the server: rows are fetched some at a time, in both directions, and changed where they are read."""

from collections.abc import Callable, Iterator

import pytest
from client import ALL, Client, Connection, Desk

scrolling = pytest.mark.parametrize("client", [one for one in ALL if one.cursors], ids=lambda one: one.name)


@pytest.fixture
def table(client: Client, desk: Callable[..., Desk]) -> Iterator[str]:
    """The name of a new table of ten rows; in the seventh, n is NULL."""
    name = f"cursor_{client.name.replace('-', '_')}"
    maker = desk(client).connect()
    maker.run(f"DROP TABLE IF EXISTS {name}")
    maker.run(f"CREATE TABLE {name} (id int NOT NULL PRIMARY KEY, n int NULL)")
    maker.run(f"INSERT INTO {name} SELECT value, NULLIF(value * 10, 70) FROM GENERATE_SERIES(1, 10)")
    yield name
    maker.run(f"DROP TABLE {name}")


def rows_of(numbers: dict[int, int | None]) -> list[list[str | None]]:
    return [[str(key), None if value is None else str(value)] for key, value in numbers.items()]


@scrolling
@pytest.mark.parametrize("kind", ["forward", "static", "keyset", "dynamic"])
def test_rows_are_read_in_both_directions_and_changed(
    client: Client, kind: str, table: str, connection: Connection
) -> None:
    before = {key: None if key == 7 else key * 10 for key in range(1, 11)}
    after = {key: value + 1 for key, value in before.items() if value is not None}
    reply = connection.do("cursor", sql=f"SELECT id, n AS called FROM {table} WHERE id > ?", what=kind)
    assert reply.errors == []
    assert [one["columns"] for one in reply.sets] == [["id", "called"]] * 2
    there, back = (one["rows"] for one in reply.sets)
    assert there == rows_of(before)
    now = before if kind == "static" else after
    assert back == ([] if kind == "forward" else list(reversed(rows_of(now))))
    assert connection.run(f"SELECT id, n FROM {table} ORDER BY id").rows == rows_of(now)

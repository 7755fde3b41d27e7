"""Values of every type through tables: written with parameters, stored, found again, and read."""

from collections.abc import Callable, Iterator

import pytest
from client import ALL, Client, Connection, Desk, SqlError
from value import KINDS, Kind

with_parameters = [one for one in ALL if one.parameters]


@pytest.fixture
def table(client: Client, desk: Callable[..., Desk]) -> Iterator[str]:
    """The name of a new table with a column of each type."""
    name = f"s_{client.name.replace('-', '_')}"
    maker = desk(client).connect()
    maker.run(f"DROP TABLE IF EXISTS {name}")
    columns = ", ".join(f"c{i} {kind.name} NULL" for i, kind in enumerate(KINDS))
    maker.run(f"CREATE TABLE {name} (id int NOT NULL PRIMARY KEY, {columns})")
    yield name
    maker.run(f"DROP TABLE {name}")


def row_of(client: Client, at: int) -> list[str | None]:
    """A row of values that the client can send: the extremes of each type, what lies between, and NULL where there are no more."""
    rows = [kind.sent_by(client) for kind in KINDS]
    return [values[at] if at < len(values) else None for values in rows]


# What pyodbc and mssql-python ask of parameters that are NULL, or come as an array, is refused by name now, and must not be
# forgotten when it no longer is.
UNDESCRIBED = pytest.mark.xfail(strict=True, raises=(SqlError, AssertionError), reason="sp_describe_undeclared_parameters")


def undescribed(*names: str) -> list:
    return [pytest.param(one, id=one.name, marks=[UNDESCRIBED] if one.name in names else []) for one in with_parameters]


ROW_COUNT = max(len(kind.values) for kind in KINDS) + 1


@pytest.mark.parametrize("client", undescribed("mssql-python", "pyodbc"))
def test_every_type_is_stored_and_found(client: Client, table: str, connection: Connection) -> None:
    places = ", ".join(f"@p{i + 2}" for i in range(len(KINDS)))
    for at in range(ROW_COUNT):
        values = [(kind.name, text) for kind, text in zip(KINDS, row_of(client, at), strict=True)]
        assert connection.execute(f"INSERT INTO {table} VALUES (@p1, {places})", ("int", str(at)), *values).errors == []
    found = connection.run(f"SELECT * FROM {table} ORDER BY id").rows
    assert [row[0] for row in found] == [str(at) for at in range(ROW_COUNT)]
    for at, row in enumerate(found):
        wrong = [
            (kind.name, text, got)
            for kind, text, got in zip(KINDS, row_of(client, at), row[1:], strict=True)
            if not kind.is_same(text, got, client)
        ]
        assert wrong == []
    # Each is found by its value, which is compared as it is stored.
    for i, kind in enumerate(KINDS):
        for at in range(ROW_COUNT):
            if (text := row_of(client, at)[i]) is not None and kind.base not in ("datetime", "real", "float"):
                sql = f"SELECT COUNT(*) AS n FROM {table} WHERE c{i} = @p1 AND id = @p2"
                assert connection.execute(sql, (kind.name, text), ("int", str(at))).value == "1", (kind.name, text)


@pytest.mark.parametrize(
    ("client", "is_fast"),
    [
        pytest.param(
            one,
            fast,
            id=f"{one.name}-{'array' if fast else 'rows'}",
            marks=[UNDESCRIBED] if fast and one.name == "pyodbc" else [],
        )
        for one in ALL
        for fast in one.many
    ],
)
def test_many_rows_are_written_by_one_statement(
    client: Client, is_fast: bool, table: str, connection: Connection
) -> None:
    """executemany, fast_executemany, executeBatch."""
    kinds = ["int", "nvarchar(20)", "decimal(5,2)", "datetime2(3)", "bigint"]
    columns = ["id", *(f"c{[kind.name for kind in KINDS].index(name)}" for name in kinds[1:])]
    rows = [
        [
            str(i),
            None if i % 3 == 0 else f"row \u00fc {i}",
            f"{i % 900}.25",
            None if i % 5 == 0 else f"2024-02-29 12:34:56.{i % 1000:03}",
            str(i * 10_000_000_000),
        ]
        for i in range(1000)
    ]
    sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES (@p1, @p2, @p3, @p4, @p5)"
    assert connection.do("many", sql=sql, kinds=kinds, rows=rows, fast=is_fast).errors == []
    found = connection.run(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id").rows
    assert len(found) == len(rows)
    wrong = [(row, got) for row, got in zip(rows, found, strict=True) if not is_same_row(kinds, row, got, client)]
    assert wrong == []
    # One that can't be written undoes what the statement has written, and the next one goes on.
    again = connection.do("many", sql=sql, kinds=kinds, rows=[rows[0]], fast=is_fast)
    assert "Violation of PRIMARY KEY constraint" in again.errors[0]["text"]
    assert connection.run(f"SELECT COUNT(*) AS n FROM {table}").value == "1000"


@pytest.mark.parametrize("client", with_parameters, ids=lambda one: one.name)
def test_what_does_not_fit_is_refused_and_nothing_is_written(client: Client, table: str, connection: Connection) -> None:
    names = [kind.name for kind in KINDS]
    for kind, sent, text in [("varchar(10)", "varchar(max)", "x" * 11), ("tinyint", "int", "256"), ("bit", "varchar(10)", "maybe")]:
        sql = f"INSERT INTO {table} (id, c{names.index(kind)}) VALUES (@p1, @p2)"
        with pytest.raises(SqlError) as error:
            connection.execute(sql, ("int", "1"), (sent, text))
        assert error.value.number in (2628, 220, 8115, 245, None)
    assert connection.run(f"SELECT COUNT(*) AS n FROM {table}").value == "0"


def is_same_row(kinds: list[str], row: list[str | None], got: list[str | None], client: Client) -> bool:
    known = {kind.name: kind for kind in KINDS}
    return all(known[kind].is_same(text, cell, client) for kind, text, cell in zip(kinds, row, got, strict=True))

"""What clients ask of a database by functions of their own: ODBC's catalog functions, JDBC's DatabaseMetaData."""

from collections.abc import Callable, Iterator

import pytest
from client import ALL, Client, Connection, Desk
from value import KINDS


@pytest.fixture
def shop(client: Client, desk: Callable[..., Desk]) -> Iterator[Connection]:
    """A connection in a database of this client's."""
    name = f"c_{client.name.replace('-', '_')}"
    connection = desk(client).connect()
    connection.run(f"DROP DATABASE IF EXISTS {name}")
    for sql in (f"CREATE DATABASE {name}", f"USE {name}", *SHOP):
        connection.run(sql)
    yield connection
    connection.run("USE master")
    connection.run(f"DROP DATABASE {name}")


SHOP = [
    "CREATE TABLE customer (id int NOT NULL IDENTITY PRIMARY KEY, name nvarchar(40) NOT NULL, born date NULL)",
    "CREATE TABLE place (a int NOT NULL, b char(3) NOT NULL, CONSTRAINT pk_place PRIMARY KEY (b, a))",
    "CREATE TABLE orders (id bigint NOT NULL PRIMARY KEY, customer int NOT NULL REFERENCES customer (id), a int NULL, "
    "b char(3) NULL, amount decimal(10, 2) NULL, CONSTRAINT fk_place FOREIGN KEY (b, a) REFERENCES place (b, a))",
    "CREATE INDEX by_amount ON orders (amount DESC, id)",
    "CREATE VIEW large AS SELECT id FROM orders WHERE amount > 1000",
    "CREATE PROCEDURE orders_of @customer int, @since date = NULL AS SELECT id FROM orders WHERE customer = @customer",
]
TOLD = [
    ("schemas", None, {("dbo",), ("sys",), ("INFORMATION_SCHEMA",)}, False),
    ("catalogs", None, {("master",), ("tempdb",)}, False),
    ("tables", None, {("customer", "TABLE"), ("place", "TABLE"), ("orders", "TABLE"), ("large", "VIEW")}, True),
    ("primary_keys", "place", {("b", "1"), ("a", "2")}, True),
    (
        "foreign_keys",
        "orders",
        {
            ("customer", "id", "orders", "customer", "1"),
            ("place", "b", "orders", "b", "1"),
            ("place", "a", "orders", "a", "2"),
        },
        True,
    ),
    ("statistics", "orders", {("by_amount", "amount"), ("by_amount", "id")}, False),
    ("row_id", "place", {("a", "int"), ("b", "char")}, True),
    ("procedure_columns", "orders_of", {("@RETURN_VALUE", "int"), ("@customer", "int"), ("@since", "date")}, True),
    ("types", None, {(kind.base,) for kind in KINDS}, False),
]


@pytest.mark.parametrize(
    ("client", "what", "table", "expected", "is_all"),
    [pytest.param(one, *told, id=f"{one.name}-{told[0]}") for one in ALL for told in TOLD if told[0] in one.catalog],
)
def test_the_catalog_tells(
    client: Client, shop: Connection, what: str, table: str | None, expected: set[tuple[str, ...]], is_all: bool
) -> None:
    told = [tuple(row) for row in shop.do("catalog", what=what, table=table).rows]
    assert expected <= set(told)
    assert not is_all or len(told) == len(expected)


@pytest.mark.parametrize("client", [one for one in ALL if "columns" in one.catalog], ids=lambda one: one.name)
def test_columns_are_told_in_order(client: Client, shop: Connection) -> None:
    assert shop.do("catalog", what="columns", table="customer").rows == [
        ["id", "int identity", "10", "0"],
        ["name", "nvarchar", "40", "0"],
        ["born", "date", "10", "1"],
    ]
    assert shop.do("catalog", what="columns", table="orders").rows == [
        ["id", "bigint", "19", "0"],
        ["customer", "int", "10", "0"],
        ["a", "int", "10", "1"],
        ["b", "char", "3", "1"],
        ["amount", "decimal", "10", "1"],
    ]


@pytest.mark.parametrize("client", [one for one in ALL if "procedures" in one.catalog], ids=lambda one: one.name)
def test_procedures_are_told(client: Client, shop: Connection) -> None:
    # ODBC's number of the procedure is behind its name.
    told = [str(row[0]).partition(";")[0] for row in shop.do("catalog", what="procedures").rows]
    assert told == ["orders_of"]


of_jdbc = pytest.mark.parametrize("client", [one for one in ALL if one.name == "mssql-jdbc"], ids=lambda one: one.name)


@of_jdbc
def test_parameters_are_described_before_a_statement_runs(client: Client, shop: Connection) -> None:
    """getParameterMetaData: sp_describe_undeclared_parameters."""
    sql = "UPDATE orders SET amount = ?, b = ? WHERE customer = ?"
    told = shop.do("describe", what="parameters", sql=sql).rows
    assert told == [["decimal", "10", "2"], ["char", "3", "0"], ["int", "10", "0"]]


@of_jdbc
def test_columns_are_described_before_a_statement_runs(client: Client, shop: Connection) -> None:
    """getMetaData of what has not run: SET FMTONLY ON."""
    sql = "SELECT id, amount FROM orders WHERE customer = ?"
    assert shop.do("describe", what="columns", sql=sql).rows == [["id", "bigint"], ["amount", "decimal"]]


@pytest.mark.parametrize("client", [one for one in ALL if "tables" not in one.catalog], ids=lambda one: one.name)
def test_the_catalogs_procedures_answer_as_text(client: Client, shop: Connection) -> None:
    """What other clients' tools send."""
    if client.name == "tsql":
        # It logs in again for each request.
        shop.run("USE c_tsql EXEC sp_tables @table_owner = 'dbo'")
        return
    told = shop.run("EXEC sp_tables @table_owner = 'dbo'").rows
    assert {(row[2], row[3]) for row in told} == {
        ("customer", "TABLE"),
        ("place", "TABLE"),
        ("orders", "TABLE"),
        ("large", "VIEW"),
    }
    assert [row[3] for row in shop.run("EXEC sp_columns customer").rows] == ["id", "name", "born"]
    assert [(row[3], row[4]) for row in shop.run("EXEC sp_pkeys place").rows] == [("b", "1"), ("a", "2")]

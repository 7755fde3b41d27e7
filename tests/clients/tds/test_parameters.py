"""Statements with parameters: sp_executesql, sp_prepare and related ones, as each client sends them."""

import pytest
from client import ALL, TEDIOUS, Client, Connection, SqlError

# Those whose parameters travel beside the text.
SENDING = [one for one in ALL if one.parameters and one.name != "pymssql"]
each = pytest.mark.parametrize("client", SENDING, ids=lambda one: one.name)


@each
def test_parameters_are_what_they_are_and_no_sql(client: Client, connection: Connection) -> None:
    text = "'; SELECT 'injected' AS v --"
    assert connection.execute("SELECT @p1 AS v", ("nvarchar(100)", text)).rows == [[text]]


@each
def test_many_parameters_keep_their_order(client: Client, connection: Connection) -> None:
    places = ", ".join(f"@p{i} AS c{i}" for i in range(1, 101))
    values = [("int", str(i * 7)) for i in range(1, 101)]
    assert connection.execute(f"SELECT {places}", *values).rows == [[str(i * 7) for i in range(1, 101)]]


@each
def test_a_statement_runs_again_with_other_values(client: Client, connection: Connection) -> None:
    """Clients prepare at the second run or the third, and only execute after that."""
    for i in range(6):
        reply = connection.execute("SELECT @p1 * 2 AS n, @p2 AS s", ("int", str(i)), ("nvarchar(20)", "x" * i))
        assert reply.rows == [[str(i * 2), "x" * i]]


@each
def test_a_value_after_null_and_null_after_a_value(client: Client, connection: Connection) -> None:
    # ISNULL has the type of what it looks at, and that of NULL is for the client to choose.
    sql = "SELECT COALESCE(@p1, N'nothing') AS s"
    for text in (None, "one", None, "two"):
        assert connection.execute(sql, ("nvarchar(20)", text)).value == (text or "nothing")


@each
def test_an_error_leaves_the_statement_usable(client: Client, connection: Connection) -> None:
    sql = "SELECT 100 / @p1 AS n"
    for divisor in ("5", "0", "4"):
        if divisor == "0":
            with pytest.raises(SqlError) as error:
                connection.execute(sql, ("int", divisor))
            assert "Divide by zero" in error.value.text
        else:
            assert connection.execute(sql, ("int", divisor)).value == str(100 // int(divisor))


@each
def test_large_parameters_arrive_whole(client: Client, connection: Connection) -> None:
    text = "\u6f22\u5b57 and so on; " * 40_000
    reply = connection.execute("SELECT LEN(@p1) AS n, DATALENGTH(@p2) AS b, @p3 AS back",
        ("nvarchar(max)", text + "."), ("varbinary(max)", "0x" + "A5" * 300_000), ("nvarchar(max)", text))  # fmt: skip
    assert reply.rows == [[str(len(text) + 1), "300000", text]]


@each
def test_several_result_sets_come_of_a_statement_with_parameters(client: Client, connection: Connection) -> None:
    sql = "SELECT @p1 AS a; SELECT @p2 AS b, 2 AS c"
    reply = connection.execute(sql, ("int", "1"), ("nvarchar(10)", "zwei"))
    assert [one["rows"] for one in reply.sets] == [[["1"]], [["zwei", "2"]]]


@pytest.mark.parametrize("client", [one for one in ALL if one is TEDIOUS], ids=lambda one: one.name)
def test_a_statement_is_prepared_once_and_run_often(client: Client, connection: Connection) -> None:
    rows = [[str(i), "x" * i] for i in range(5)]
    reply = connection.do("prepare", sql="SELECT @p1 + 1 AS n, @p2 AS s", kinds=["int", "nvarchar(20)"], rows=rows)
    assert [one["rows"] for one in reply.sets] == [[[str(i + 1), "x" * i]] for i in range(5)]

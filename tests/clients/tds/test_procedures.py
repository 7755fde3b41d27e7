"""Procedures that clients call by name: parameters both ways, result sets, status, and the errors in them."""

from collections.abc import Callable, Iterator

import pytest
from client import ALL, Client, Connection, Desk, SqlError

calling = pytest.mark.parametrize("client", [one for one in ALL if one.calls], ids=lambda one: one.name)


@pytest.fixture
def procedure(client: Client, desk: Callable[..., Desk]) -> Iterator[str]:
    """The name of a procedure of this client's."""
    name = f"p_{client.name.replace('-', '_')}"
    maker = desk(client).connect()
    maker.run(f"DROP PROCEDURE IF EXISTS {name}")
    maker.run(
        f"CREATE PROCEDURE {name} @in int, @word nvarchar(50), @out int OUTPUT, @text nvarchar(50) OUTPUT, "
        "@nothing int OUTPUT AS\nBEGIN\n  IF @in < 0 THROW 50001, N'less than n\u00f6thing', 1\n"
        "  IF @in % 2 = 1 SELECT @in AS n, @word AS w\n  SET @out = @in * 2\n  SET @text = REPLICATE(@word, @in) + 'z'\n"
        "  SET @nothing = NULL\n  RETURN @in + 1\nEND"
    )
    yield name
    maker.run(f"DROP PROCEDURE {name}")


def called(connection: Connection, procedure: str, number: int):
    return connection.do(
        "call",
        sql=procedure,
        parameters=[["in", "int", str(number)], ["word", "nvarchar(50)", "\u00e4"]],
        outputs=[["out", "int"], ["text", "nvarchar(50)"], ["nothing", "int"]],
    )


@calling
def test_output_parameters_and_a_status_come_back(client: Client, procedure: str, connection: Connection) -> None:
    for number in (22, 0, 4):
        reply = called(connection, procedure, number)
        assert reply.errors == []
        assert (reply.status, reply.outputs) == (number + 1, [str(number * 2), "\u00e4" * number + "z", None])


@pytest.mark.parametrize("client", [one for one in ALL if one.calls and one.calls_with_rows], ids=lambda one: one.name)
def test_a_procedures_rows_come_before_its_parameters(client: Client, procedure: str, connection: Connection) -> None:
    reply = called(connection, procedure, 3)
    assert reply.rows == [["3", "\u00e4"]]
    assert (reply.status, reply.outputs) == (4, ["6", "\u00e4" * 3 + "z", None])


@calling
def test_an_error_in_a_procedure_is_told(client: Client, procedure: str, connection: Connection) -> None:
    reply = called(connection, procedure, -1)
    assert [error["text"] for error in reply.errors] == ["less than n\u00f6thing"]
    if "number" in client.tells:
        assert reply.errors[0]["number"] == 50001
    assert called(connection, procedure, 2).status == 3


@pytest.mark.parametrize("client", [one for one in ALL if one.typed], ids=lambda one: one.name)
def test_a_procedure_runs_by_execute(client: Client, procedure: str, connection: Connection) -> None:
    """As text, which each client can send; tsql's output does not show where one result ends."""
    reply = connection.run(
        f"DECLARE @o int, @t nvarchar(50), @n int, @s int; EXEC @s = {procedure} 3, N'b', @o OUTPUT, @t OUTPUT, @n OUTPUT; "
        "SELECT @o AS o, @t AS t, @n AS n, @s AS s"
    )
    assert [one["rows"] for one in reply.sets] == [[["3", "b"]], [["6", "bbbz", None, "4"]]]
    with pytest.raises(SqlError):
        connection.run(f"EXEC {procedure} 4")

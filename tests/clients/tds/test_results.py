"""What comes of a batch: result sets, counts, messages and errors, and their order."""

from collections.abc import Callable

import pytest
from client import ALL, Client, Connection, Desk, SqlError

telling_messages = pytest.mark.parametrize(
    "client", [one for one in ALL if one.tells_messages], ids=lambda one: one.name
)
telling_numbers = pytest.mark.parametrize(
    "client", [one for one in ALL if "number" in one.tells], ids=lambda one: one.name
)
telling_lines = pytest.mark.parametrize("client", [one for one in ALL if "line" in one.tells], ids=lambda one: one.name)
going_on = pytest.mark.parametrize(
    "client", [one for one in ALL if one.goes_on_after_errors], ids=lambda one: one.name
)


def test_several_result_sets_come_in_order(client: Client, connection: Connection) -> None:
    reply = connection.run("SELECT 1 AS a SELECT 'zwei' AS b, 2.5 AS c SELECT N'\u4e09' AS d")
    assert [one["columns"] for one in reply.sets] == [["a"], ["b", "c"], ["d"]]
    assert [one["rows"] for one in reply.sets] == [[["1"]], [["zwei", "2.5"]], [["\u4e09"]]]


# tsql's output does not show where one heading without rows ends.
@pytest.mark.parametrize("client", [one for one in ALL if one.typed], ids=lambda one: one.name)
def test_a_result_set_without_rows_has_its_columns(client: Client, connection: Connection) -> None:
    reply = connection.run("SELECT 1 AS a, 'x' AS b WHERE 1 = 0; SELECT 2 AS c")
    assert [(one["columns"], one["rows"]) for one in reply.sets] == [(["a", "b"], []), (["c"], [["2"]])]


def test_a_batch_without_results_has_none(client: Client, connection: Connection) -> None:
    for sql in ("DECLARE @i int = 1", "SET NOCOUNT ON", "-- nothing at all", "BEGIN TRANSACTION COMMIT"):
        assert connection.run(sql).sets == []


def test_results_come_between_what_has_none(client: Client, connection: Connection) -> None:
    reply = connection.run(
        "DECLARE @i int = 0; WHILE @i < 5 BEGIN SET @i += 1; IF @i % 2 = 1 SELECT @i AS i END; SELECT 'end' AS e"
    )
    assert [one["rows"] for one in reply.sets] == [[["1"]], [["3"]], [["5"]], [["end"]]]


def test_a_loop_of_many_statements_ends_with_its_result(client: Client, connection: Connection) -> None:
    """Source 000 on a small scale: two DONE for each time around."""
    reply = connection.run("DECLARE @i int = 0; WHILE @i < 20000 SET @i = @i + 1; SELECT @i AS i")
    assert reply.value == "20000"


def test_many_small_result_sets_arrive(client: Client, connection: Connection) -> None:
    reply = connection.run("DECLARE @i int = 0; WHILE @i < 500 BEGIN SET @i += 1; SELECT @i AS i END")
    assert [one["rows"] for one in reply.sets] == [[[str(i)]] for i in range(1, 501)]


@telling_messages
def test_print_arrives_as_it_was_said(client: Client, connection: Connection) -> None:
    reply = connection.run("PRINT 'one'; PRINT N'zw\u00f6lf \u6f22'; PRINT 1 + 1; SELECT 3 AS n; PRINT 'last'")
    assert reply.texts == ["one", "zw\u00f6lf \u6f22", "2", "last"]
    assert reply.rows == [["3"]]


@telling_messages
def test_a_mild_raiserror_is_a_message(client: Client, connection: Connection) -> None:
    reply = connection.run("RAISERROR('%d of %s', 10, 1, 7, 'nine') WITH NOWAIT; SELECT 1 AS n")
    assert reply.texts == ["7 of nine"]
    assert reply.rows == [["1"]]


@telling_messages
def test_use_says_where_it_is(client: Client, connection: Connection) -> None:
    if client.name in ("tsql", "tedious"):
        # These keep 5701 to themselves or tell it as a change of database.
        connection.run("USE tempdb")
    else:
        assert "Changed database context to 'tempdb'." in connection.run("USE tempdb").texts[0]
    if client.name != "tsql":
        assert connection.run("SELECT DB_NAME() AS d").value == "tempdb"


ERRORS = [
    ("SELECT 1 / 0 AS n", 8134, 1, 16, 1, "Divide by zero error encountered."),
    ("\n\nSELECT CAST('x' AS int) AS n", 245, 1, 16, 3, "Conversion failed when converting the varchar value 'x' to data type int."),
    ("DECLARE @i tinyint\nSET @i = 256", 220, 2, 16, 2, "Arithmetic overflow error for data type tinyint, value = 256."),
    ("SELECT @nothing", 137, 2, 15, 1, 'Must declare the scalar variable "@nothing".'),
    ("SELECT 1\nFORM x y z", 102, 1, 15, 2, "Incorrect syntax near 'x'."),
    ("SELECT 'open", 105, 1, 15, 1, "Unclosed quotation mark after the character string 'open'."),
    ("SELECT 1 AS a\nFROM WHERE 1 = 1", 156, 1, 15, 2, "Incorrect syntax near the keyword 'WHERE'."),
    ("EXEC no_such_procedure", 2812, 62, 16, 1, "Could not find stored procedure 'no_such_procedure'."),
    ("\nRAISERROR('mine: %i', 16, 7, 42)", 50000, 7, 16, 2, "mine: 42"),
    (";THROW 50123, N'thr\u00f6wn', 9", 50123, 9, 16, 1, "thr\u00f6wn"),
    ("USE nowhere", 911, 1, 16, 1, "Database 'nowhere' does not exist. Make sure that the name is entered correctly."),
    ("COMMIT", 3902, 1, 16, 1, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION."),
    ("SELECT nothing() AS n", 195, 10, 15, 1, "'nothing' is not a recognized built-in function name."),
    ("SELECT CAST('2024-13-01' AS datetime) AS d", 242, 3, 16, 1, "The conversion of a varchar data type to a datetime data type resulted in an out-of-range value."),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "number", "state", "severity", "line", "text"), ERRORS, ids=[str(e[1]) for e in ERRORS])
def test_errors_are_sql_servers_own(
    client: Client, connection: Connection, sql: str, number: int, state: int, severity: int, line: int, text: str
) -> None:
    with pytest.raises(SqlError) as raised:
        connection.run(sql)
    error = raised.value
    # What tsql sends ends with a line.
    assert error.text.replace("\n'", "'") == text
    told = {"number": number, "state": state, "severity": severity, "line": line}
    assert {part: getattr(error, part) for part in client.tells} == {part: told[part] for part in client.tells}
    # The connection is none the worse for it.
    assert connection.run("SELECT 1 AS one").value == "1"


@going_on
def test_what_follows_an_error_of_a_statement_runs(client: Client, connection: Connection) -> None:
    reply = connection.batch("SELECT 1 AS a; DECLARE @b int = 1 / 0; SELECT 3 AS c")
    assert [error["number"] for error in reply.errors] == [8134]
    rows = [one["rows"] for one in reply.sets if one["rows"]]
    assert rows == [[["1"]], [["3"]]]


@going_on
def test_nothing_follows_an_error_of_the_batch(client: Client, connection: Connection) -> None:
    reply = connection.batch("SELECT 1 AS a; DECLARE @b int = 'x'; SELECT 3 AS c")
    assert [error["number"] for error in reply.errors] == [245]
    rows = [one["rows"] for one in reply.sets if one["rows"]]
    assert rows == [[["1"]]]


@going_on
def test_nothing_runs_of_what_can_not_be_parsed(client: Client, connection: Connection) -> None:
    reply = connection.batch("SELECT 1 AS a; SELECT 2 AS; SELECT (3 AS c")
    assert reply.errors and {error["number"] for error in reply.errors} <= {102, 156}
    assert [one for one in reply.sets if one["rows"]] == []


def test_an_error_is_caught_where_it_is_waited_for(client: Client, connection: Connection) -> None:
    reply = connection.run(
        "BEGIN TRY\n  DECLARE @n int = 1 / 0\nEND TRY\nBEGIN CATCH\n"
        "  SELECT ERROR_NUMBER() AS number, ERROR_LINE() AS line, ERROR_SEVERITY() AS severity, ERROR_MESSAGE() AS text\n"
        "END CATCH"
    )
    told = [one["rows"] for one in reply.sets if one["rows"]]
    assert told == [[["8134", "2", "16", "Divide by zero error encountered."]]]


def test_rowcount_and_error_are_the_last_statements(client: Client, connection: Connection) -> None:
    reply = connection.batch("SELECT 1 AS n UNION ALL SELECT 2; SELECT @@ROWCOUNT AS r, @@ERROR AS e; SELECT @@ROWCOUNT AS r")
    assert [one["rows"] for one in reply.sets] == [[["1"], ["2"]], [["2", "0"]], [["1"]]]


def test_batches_follow_each_other_on_one_connection(client: Client, connection: Connection) -> None:
    for i in range(20):
        assert connection.run(f"SELECT {i} AS i").value == str(i)


def test_every_setting_that_clients_send_is_taken(client: Client, connection: Connection) -> None:
    for setting in SETTINGS:
        assert connection.run(setting).sets == []


def test_two_connections_do_not_share_variables_or_settings(client: Client, desk: Callable[..., Desk]) -> None:
    at = desk(client)
    one, other = at.connect(), at.connect()
    one.run("SET DATEFIRST 3")
    assert other.run("SELECT @@DATEFIRST AS d").value == "7"
    if client.name != "tsql":
        assert one.run("SELECT @@DATEFIRST AS d").value == "3"


SETTINGS = [
    "SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON",
    "SET ANSI_NULL_DFLT_ON ON SET CURSOR_CLOSE_ON_COMMIT OFF SET IMPLICIT_TRANSACTIONS OFF SET NUMERIC_ROUNDABORT OFF",
    "SET TEXTSIZE 2147483647 SET DATEFIRST 7 SET DATEFORMAT mdy SET LANGUAGE us_english SET XACT_ABORT OFF",
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED SET LOCK_TIMEOUT -1 SET ROWCOUNT 0 SET NOCOUNT OFF",
]

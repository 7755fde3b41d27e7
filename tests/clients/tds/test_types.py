"""Every type, from the server to clients and back, with its extremes and NULL."""

import pytest
from client import ALL, Client, Connection
from value import KINDS, Kind

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
with_types = pytest.mark.parametrize("client", [one for one in ALL if one.typed], ids=lambda one: one.name)
with_parameters = pytest.mark.parametrize("client", [one for one in ALL if one.parameters], ids=lambda one: one.name)


@with_types
@every_kind
def test_values_reach_the_client(client: Client, kind: Kind, connection: Connection) -> None:
    values = kind.values
    columns = [f"{kind.literal(text)} AS v{i}" for i, text in enumerate([*values, None])]
    reply = connection.run(f"SELECT {', '.join(columns)}")
    (row,) = reply.rows
    assert reply.sets[0]["columns"] == [f"v{i}" for i in range(len(columns))]
    assert row[-1] is None
    wrong = [(text, got) for text, got in zip(values, row, strict=False) if not kind.is_same(text, got, client)]
    assert wrong == []


@with_types
@pytest.mark.parametrize("declared", ["varchar(20)", "varchar(max)"])
def test_text_in_utf_8_reaches_the_client(declared: str, connection: Connection) -> None:
    """As UTF-8 if the client says that it reads it, and else as nvarchar."""
    text = "\u00e9\u0416\u20ac\U0001f600"
    literal = f"CAST(N'{text}' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS {declared})"
    ((got, size),) = connection.run(f"SELECT {literal} AS v, CAST(DATALENGTH({literal}) AS int) AS n").rows
    assert (got, int(size)) == (text, 11)


@with_parameters
@every_kind
def test_values_reach_the_server(client: Client, kind: Kind, connection: Connection) -> None:
    """The server compares what it was sent with what it is told in words, and sends it back."""
    assert kind.sent_by(client)
    # Some send a datetime2, whose milliseconds are not a datetime's thirds of ten: these are compared as they are.
    sent = "CAST(@p1 AS datetime)" if kind.base == "datetime" else "@p1"
    for text in kind.sent_by(client):
        sql = f"SELECT CASE WHEN {sent} = {kind.literal(text)} THEN 'same' ELSE 'other' END AS s, @p2 AS v"
        ((said, back),) = connection.execute(sql, (kind.name, text), (kind.name, text)).rows
        assert (said, back is not None) == ("same", True), (text, back)
        # A parameter has the type that the client chose, which may be a wider one.
        assert kind.is_same(unpadded(kind, text), unpadded(kind, back), client), (text, back)


@with_parameters
@every_kind
def test_null_reaches_the_server(client: Client, kind: Kind, connection: Connection) -> None:
    sql = "SELECT CASE WHEN @p1 IS NULL THEN 'null' ELSE 'value' END AS s"
    assert connection.execute(sql, (kind.name, None)).value == "null"


@with_types
@every_kind
def test_the_server_writes_what_was_meant(kind: Kind, client: Client, connection: Connection) -> None:
    """Without the client's types: as text, which each can show."""
    for text in kind.values:
        if len(text) > 4000 or "\n" in text:
            continue
        reply = connection.run(f"SELECT CONVERT(nvarchar(200), {kind.literal(text)}{STYLES.get(kind.base, '')}) AS v")
        got = reply.value
        if kind.base in ("float", "real"):
            assert got is not None and kind.is_same(text, got, client), (text, got)
        else:
            assert got == (text.replace("+", " +").replace("-05:30", " -05:30") if "offset" in kind.base else text)


def test_a_type_is_kept_through_expressions(client: Client, connection: Connection) -> None:
    reply = connection.run(
        "SELECT 7 / 2 AS i, 7 / 2.0 AS d, CAST(1 AS money) / 3 AS m, 1 + CAST(1 AS bigint) AS b, "
        "N'a' + 'b' AS s, CAST(0.1 AS float) + 1 AS f, CAST(1 AS decimal(10,2)) * CAST(2 AS decimal(10,3)) AS p"
    )
    (row,) = reply.rows
    assert (row[0], row[3], row[4]) == ("3", "2", "ab")
    decimals = {row[1]: "3.500000", row[2]: "0.3333", row[6]: "2.00000"}
    for got, expected in decimals.items():
        assert got is not None and float(got) == float(expected)
        assert got == expected or not client.keeps_scale, (got, expected)
    assert row[5] is not None and float(row[5]) == 1.1


@with_types
def test_columns_without_a_name_have_none(client: Client, connection: Connection) -> None:
    assert connection.run("SELECT 1, 2 AS b, 3").sets == [{"columns": ["", "b", ""], "rows": [["1", "2", "3"]]}]


def test_nulls_and_values_alternate_in_a_wide_row(client: Client, connection: Connection) -> None:
    """Many columns of many NULLs: servers send NBCROW then, or ROW."""
    columns = [f"{f'CAST({i} AS int)' if i % 3 == 0 else 'CAST(NULL AS varchar(10))'} AS c{i}" for i in range(200)]
    (row,) = connection.run(f"SELECT {', '.join(columns)}").rows
    assert row == [str(i) if i % 3 == 0 else None for i in range(200)]


def unpadded(kind: Kind, text: str | None) -> str | None:
    """A text without the blanks that its type fills up."""
    return text.rstrip() if kind.base in ("char", "nchar") and text is not None else text


@with_types
def test_a_sql_variant_comes_with_its_value(client: Client, connection: Connection) -> None:
    values = "CAST(5 AS sql_variant) AS a, CAST(N'abc' AS sql_variant) AS b, CAST(NULL AS sql_variant) AS c"
    # Those two give the bytes of a variant, whatever its type.
    of_bytes = {"pymssql": ["0x05000000", "0x616263", None], "pyodbc": ["0x05000000", "0x610062006300", None]}
    expected = of_bytes.get(client.name, ["5", "abc", None])
    assert connection.run(f"SELECT {values}").rows == [expected]


@with_types
def test_xml_comes_as_its_text(client: Client, connection: Connection) -> None:
    assert connection.run("SELECT CAST(N'<a b=\"1\"></a>' AS xml) AS x").rows == [['<a b="1"/>']]


# How CONVERT is told to write all there is.
STYLES = {
    "binary": ", 1",
    "varbinary": ", 1",
    "float": ", 3",
    "real": ", 3",
    "money": ", 2",
    "smallmoney": ", 2",
    "date": ", 23",
    "time": ", 121",
    "smalldatetime": ", 120",
    "datetime": ", 121",
    "datetime2": ", 121",
    "datetimeoffset": ", 121",
}


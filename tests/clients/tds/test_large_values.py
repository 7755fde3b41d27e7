"""Large values, long rows, many rows, long batches."""

from client import Client, Connection


def test_rows_of_8000_bytes_arrive(client: Client, connection: Connection) -> None:
    reply = connection.run(
        "SELECT REPLICATE('v', 8000) AS v, REPLICATE(N'\u6f22', 4000) AS n, CAST(REPLICATE('b', 8000) AS char(8000)) AS c"
    )
    assert reply.rows == [["v" * 8000, "\u6f22" * 4000, "b" * 8000]]


def test_a_mebibyte_of_nvarchar_arrives(client: Client, connection: Connection) -> None:
    reply = connection.run("SELECT REPLICATE(CAST(N'0123456789abcde\u6f22' AS nvarchar(max)), 32768) AS v")
    assert reply.rows == [["0123456789abcde\u6f22" * 32768]]


def test_several_large_values_share_a_row(client: Client, connection: Connection) -> None:
    reply = connection.run(
        "SELECT REPLICATE(CAST('a' AS varchar(max)), 300000) AS a, 1 AS i, "
        "CAST(REPLICATE(CAST('b' AS varchar(max)), 300000) AS varbinary(max)) AS b, CAST(NULL AS nvarchar(max)) AS n"
    )
    ((a, i, b, n),) = reply.rows
    assert (a, i, n) == ("a" * 300_000, "1", None)
    assert b is not None and b.removeprefix("0x").upper() == "62" * 300_000


def test_a_batch_of_a_mebibyte_is_read_whole(client: Client, connection: Connection) -> None:
    # tsql reads lines, and holds no line of any length.
    filling = "\n".join(f"-- {i:060}" for i in range(10_000))
    assert connection.run(f"SELECT 1 AS first\n{filling}\nSELECT 2 AS last").sets[-1]["rows"] == [["2"]]


def test_many_rows_arrive_in_order(client: Client, connection: Connection) -> None:
    digits = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))"
    tables = ", ".join(f"{digits} AS t{i}(d)" for i in range(4))
    number = "t3.d * 1000 + t2.d * 100 + t1.d * 10 + t0.d"
    reply = connection.run(f"SELECT {number} AS n, 'row ' + CAST({number} AS varchar(10)) AS s FROM {tables} ORDER BY n")
    assert reply.rows == [[str(n), f"row {n}"] for n in range(10_000)]

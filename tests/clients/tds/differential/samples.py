"""The table that expressions are about: a column of each type, nullable ones and others, with edges, ordinary values and NULL."""

from __future__ import annotations

from random import Random
from typing import Any

from calendar_model import DATETIME_DAY, SECOND, TICKS_DAY
from data_type import (
    BIGINT,
    BIT,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MAX,
    MONEY,
    REAL,
    SMALLDATETIME,
    SMALLINT,
    SMALLMONEY,
    TINYINT,
    DataType,
    datetime2,
    decimal,
    text,
    time,
)
from expression import Column, Row, constant

COLUMNS = [
    Column("id", INT, False),
    Column("i", INT),
    Column("i2", INT, False),
    Column("si", SMALLINT),
    Column("ti", TINYINT),
    Column("bi", BIGINT),
    Column("b", BIT),
    Column("d52", decimal(5, 2)),
    Column("d186", decimal(18, 6), False),
    Column("d284", decimal(28, 4)),
    Column("d380", decimal(38, 0)),
    Column("m", MONEY),
    Column("sm", SMALLMONEY),
    Column("f", FLOAT),
    Column("r", REAL),
    Column("c5", text("char", 5)),
    Column("v10", text("varchar", 10)),
    Column("v8", text("varchar", 8), False),
    Column("vm", text("varchar", MAX)),
    Column("n10", text("nvarchar", 10)),
    Column("nc4", text("nchar", 4)),
    Column("da", DATE),
    Column("t3", time(3)),
    Column("dt", DATETIME),
    Column("sd", SMALLDATETIME),
    Column("d23", datetime2(3)),
    Column("d27", datetime2(7), False),
    Column("vb", DataType("varbinary", size=6)),
    Column("b4", DataType("binary", size=4)),
]
DAY_2024 = 738_900
WORDS = ("", "a", "A", "ab", "AB ", "abc", "b", "B", "Zz", "x y", "0", "7", "12", "-3", "1.5", "cab", "  lead", "trail  ")
ROW_COUNT = 16


def value_of(kind: DataType, random: Random) -> Any:
    """A value that is not NULL: an edge now and then."""
    if kind.is_float:
        # All of them are floats of four bytes, too.
        return random.choice([0.0, 1.0, -1.5, 0.25, 2.0, 1024.0, -7.75, float(3 << 33), random.randint(-4000, 4000) / 8])
    if kind.is_exact:
        smallest, largest = kind.limits
        edge = random.choice([smallest, largest, largest - 1])
        small = random.choice([0, 1, -1, 2, 3, 5, 7, -4, 10, 25, 99, -100]) * random.choice([1, kind.unit])
        other = random.randint(-50_000, 50_000)
        found = random.choices([edge, small, other], [1, 5, 3])[0]
        return min(max(found, smallest), largest)
    if kind.is_text:
        word = random.choice(WORDS)
        size = 20 if kind.size in (MAX, None) else kind.size
        return word[:size].ljust(size if kind.is_fixed else 0)
    if kind.is_binary:
        size = kind.size or 4
        # No zeros at the end: whether they count in a comparison is a known difference.
        return bytes(random.randint(1, 255) for _ in range(size if kind.is_fixed else random.randint(1, size)))
    return moment(kind, random)


def moment(kind: DataType, random: Random) -> int:
    day = DAY_2024 + random.choice([0, 1, -1, 30, 59, 60, 365, 366, -20_000, random.randint(-9000, 9000)])
    second = random.choice([0, 1, 59, 43_200, 86_399, random.randrange(86_400)])
    # A second below the next whole one is left out: what rounds up to another day is not documented for a time.
    part = random.choice([0, 0, SECOND // 2, SECOND // 1000 * random.randrange(990)])
    if kind.name == "date":
        return day
    if kind.name in ("time", "datetime2"):
        part = part // 10 ** (7 - kind.scale) * 10 ** (7 - kind.scale)
    if kind.name == "time":
        return second * SECOND + part
    if kind.name == "datetime2":
        extra = random.choice([0, 1, 9_999]) if kind.scale == 7 else 0
        return day * TICKS_DAY + second * SECOND + part + extra
    if kind.name == "datetime":
        return (day - 693_595) * DATETIME_DAY + second * 300 + random.randrange(300)
    return min(max(day - 693_595, 1), 65_000) * 1440 + second // 60


def rows(random: Random) -> list[Row]:
    """The last one is NULL wherever it may be."""
    made = []
    for number in range(ROW_COUNT):
        row: Row = {"id": number + 1}
        for column in COLUMNS[1:]:
            absent = column.nullable and (number == ROW_COUNT - 1 or random.random() < 0.12)
            row[column.name] = None if absent else value_of(column.type, random)
        made.append(row)
    return made


def definition(made: list[Row]) -> list[str]:
    """The batches that create and fill the table."""
    columns = ", ".join(f"{one.name} {one.type} {'NULL' if one.nullable else 'NOT NULL'}" for one in COLUMNS)
    values = ", ".join("(" + ", ".join(constant(row[one.name], one.type).sql() for one in COLUMNS) + ")" for row in made)
    batches = ["DROP TABLE IF EXISTS samples", f"CREATE TABLE samples ({columns}, PRIMARY KEY (id))", f"INSERT samples VALUES {values}"]
    # So that conditions are answered from an index where the server can.
    indexed = [one.name for one in COLUMNS if one.type.size != MAX]
    return [*batches, "; ".join(f"CREATE INDEX i_{name} ON samples ({name})" for name in indexed)]


def declarations(row: Row, names: set[str]) -> str:
    """The same values as variables."""
    declared = [one for one in COLUMNS if one.name in names]
    parts = [f"@{one.name} {one.type} = {constant(row[one.name], one.type).sql()}" for one in declared]
    return "DECLARE " + ", ".join(parts) + "; " if parts else ""

"""SQL Server's types as its documentation has them: names, precedence, and the type that several have in common.

Values of the model: whole numbers and bit are `int`; decimal and money are `int`, scaled; float is `float`; text is `str`, with
its padding; binary is `bytes`; date is days since 0001-01-01; time is 100 ns since midnight; datetime2 is 100 ns since
0001-01-01; datetime is 1/300 s since 1900-01-01; smalldatetime is minutes since 1900-01-01; datetimeoffset is a datetime2 in UTC
and the minutes of its offset. NULL is `None`.
"""

from __future__ import annotations

from dataclasses import dataclass

# The size of varchar(max) and the like.
MAX = -1
# A size or precision that the documentation does not tell.
UNTOLD = None


class Unsettled(Exception):
    """What the documentation does not tell, such as the order of punctuation: such an expression is not compared."""


@dataclass(frozen=True)
class DataType:
    """A type. `size` is characters or bytes; `scale` also counts the digits behind the second."""

    name: str
    size: int | None = UNTOLD
    precision: int | None = UNTOLD
    scale: int = 0

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.precision or 38}, {self.scale})"
        if self.name in ("time", "datetime2", "datetimeoffset"):
            return f"{self.name}({self.scale})"
        if self.name in SIZED:
            largest = 4000 if self.is_national else 8000
            return f"{self.name}({'max' if self.size == MAX else self.size or largest})"
        return self.name

    @property
    def rank(self) -> int:
        """Its precedence: the smaller wins."""
        return PRECEDENCE.index(self.name)

    @property
    def is_integer(self) -> bool:
        return self.name in INTEGERS

    @property
    def is_exact(self) -> bool:
        """A number that is stored as a whole one, times a power of ten."""
        return self.is_integer or self.name in ("decimal", "money", "smallmoney", "bit")

    @property
    def is_float(self) -> bool:
        return self.name in ("float", "real")

    @property
    def is_number(self) -> bool:
        return self.is_exact or self.is_float

    @property
    def is_money(self) -> bool:
        return self.name in ("money", "smallmoney")

    @property
    def is_text(self) -> bool:
        return self.name in TEXTS

    @property
    def is_national(self) -> bool:
        return self.name in ("nchar", "nvarchar")

    @property
    def is_fixed(self) -> bool:
        return self.name in ("char", "nchar", "binary")

    @property
    def is_binary(self) -> bool:
        return self.name in ("binary", "varbinary")

    @property
    def is_moment(self) -> bool:
        return self.name in MOMENTS

    @property
    def family(self) -> str:
        for family in ("number", "text", "moment", "binary"):
            if getattr(self, f"is_{family}"):
                return family
        return self.name

    @property
    def digits(self) -> tuple[int, int]:
        """Precision and scale as a decimal."""
        if self.name == "decimal":
            return self.precision or 38, self.scale
        return AS_DECIMAL[self.name]

    @property
    def unit(self) -> int:
        """What 1 is stored as."""
        return 10 ** (4 if self.is_money else self.scale if self.name == "decimal" else 0)

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest stored value of an exact number."""
        if self.name == "decimal":
            largest = 10 ** (self.precision or 38) - 1
            return -largest, largest
        return LIMITS[self.name]


INTEGERS = ("tinyint", "smallint", "int", "bigint")
TEXTS = ("char", "varchar", "nchar", "nvarchar")
SIZED = (*TEXTS, "binary", "varbinary")
MOMENTS = ("date", "time", "smalldatetime", "datetime", "datetime2")
# "Data type precedence", without the types that are not modelled.
PRECEDENCE = (
    *("datetimeoffset", "datetime2", "datetime", "smalldatetime", "date", "time", "float", "real", "decimal", "money", "smallmoney"),
    *("bigint", "int", "smallint", "tinyint", "bit", "nvarchar", "nchar", "varchar", "char", "varbinary", "binary"),
    "boolean",
)
LIMITS = {
    "bit": (0, 1),
    "tinyint": (0, 255),
    "smallint": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "bigint": (-(2**63), 2**63 - 1),
    "smallmoney": (-(2**31), 2**31 - 1),
    "money": (-(2**63), 2**63 - 1),
}
AS_DECIMAL = {
    "bit": (1, 0),
    "tinyint": (3, 0),
    "smallint": (5, 0),
    "int": (10, 0),
    "bigint": (19, 0),
    "smallmoney": (10, 4),
    "money": (19, 4),
}

BIT, TINYINT, SMALLINT, INT, BIGINT = map(DataType, ("bit", "tinyint", "smallint", "int", "bigint"))
MONEY, SMALLMONEY, FLOAT, REAL = map(DataType, ("money", "smallmoney", "float", "real"))
DATE, DATETIME, SMALLDATETIME = map(DataType, ("date", "datetime", "smalldatetime"))
BOOLEAN = DataType("boolean")


def decimal(precision: int | None, scale: int) -> DataType:
    return DataType("decimal", precision=precision, scale=scale)


def text(name: str, size: int | None) -> DataType:
    return DataType(name, size=size)


def datetime2(scale: int) -> DataType:
    return DataType("datetime2", scale=scale)


def time(scale: int) -> DataType:
    return DataType("time", scale=scale)


def common(types: list[DataType]) -> DataType:
    """The type of CASE, COALESCE and UNION: the highest precedence, with room for all ("Precision, scale, and length")."""
    winner = min(types, key=lambda one: one.rank)
    if winner.name == "decimal":
        digits = [one.digits for one in types if one.is_exact]
        if any(one.name == "decimal" and one.precision is UNTOLD for one in types):
            return decimal(UNTOLD, max(scale for _, scale in digits))
        scale = max(scale for _, scale in digits)
        whole = max(precision - scale for precision, scale in digits)
        if whole + scale > 38:
            scale = max(38 - whole, 0)
        return decimal(min(whole + scale, 38), scale)
    if winner.name in ("time", "datetime2"):
        return DataType(winner.name, scale=max(scale_of(one) for one in types if one.is_moment))
    if winner.name in SIZED:
        return common_size(winner, types)
    return winner


def scale_of(moment: DataType) -> int:
    """Digits behind the second as a datetime2."""
    return {"datetime": 3}.get(moment.name, moment.scale)


def common_size(winner: DataType, types: list[DataType]) -> DataType:
    if any(one.size == MAX for one in types):
        size = MAX
    elif any(one.size is UNTOLD for one in types):
        size = UNTOLD
    else:
        size = min(max(one.size or 0 for one in types), 4000 if winner.is_national else 8000)
    name = winner.name
    if not all(one.is_fixed for one in types):
        name = {"char": "varchar", "nchar": "nvarchar", "binary": "varbinary"}.get(name, name)
    return DataType(name, size=size)

"""Python's values, and the texts by which they travel to and from the tests.

NULL is None; a bit is 0 or 1; bytes are 0x and hexadecimal digits; dates and times are as in ISO 8601 with a blank
between them; a GUID is in capitals. Everything else is as Python writes it.
"""

import datetime
import uuid
from decimal import Decimal
from typing import Any


def text_of(value: Any) -> str | None:
    """The text by which a value travels."""
    match value:
        case None:
            return None
        case bool():
            return str(int(value))
        case Decimal():
            return format(value, "f")
        case bytes() | bytearray() | memoryview():
            return "0x" + bytes(value).hex().upper()
        case datetime.datetime():
            # With the offset, where there is one.
            return value.isoformat(" ")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case uuid.UUID():
            return str(value).upper()
        case float():
            return repr(value)
        case _:
            return str(value)


def value_of(kind: str, text: str | None) -> Any:
    """The value that a client of Python's is given for a parameter of a T-SQL type."""
    if text is None:
        return None
    match kind.partition("(")[0]:
        case "bit":
            return text == "1"
        case "tinyint" | "smallint" | "int" | "bigint":
            return int(text)
        case "decimal" | "numeric" | "money" | "smallmoney":
            return Decimal(text)
        case "float" | "real":
            return float(text)
        case "binary" | "varbinary":
            return bytes.fromhex(text[2:])
        case "date":
            return datetime.date.fromisoformat(text)
        case "time":
            return datetime.time.fromisoformat(text)
        case "datetime" | "smalldatetime" | "datetime2" | "datetimeoffset":
            return datetime.datetime.fromisoformat(text)
        case "uniqueidentifier":
            return uuid.UUID(text)
        case _:
            return text


def set_of(columns: list[str], rows: Any) -> dict[str, Any]:
    """A result set as it travels."""
    return {"columns": columns, "rows": [[text_of(value) for value in row] for row in rows]}

"""Values of every type, and when two texts mean the same one."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from client import Client


@dataclass(frozen=True)
class Kind:
    """A declared type and values of it: the smallest, the largest, what lies between, and what is odd."""

    name: str
    values: tuple[str, ...]

    @property
    def base(self) -> str:
        return self.name.partition("(")[0]

    @property
    def scale(self) -> int:
        """Digits after the point, or after the second."""
        sizes = re.findall(r"\d+", self.name)
        if self.base in ("decimal", "numeric"):
            return int(sizes[1])
        if self.base in ("time", "datetime2", "datetimeoffset"):
            return int(sizes[0])
        return {"datetime": 3, "money": 4, "smallmoney": 4}.get(self.base, 0)

    def literal(self, text: str | None) -> str:
        """A value as it is written in T-SQL."""
        if text is None:
            return f"CAST(NULL AS {self.name})"
        if self.base in ("binary", "varbinary"):
            return f"CAST({text} AS {self.name})"
        if self.base in NUMBERS:
            return f"CAST({text} AS {self.name})"
        quoted = "'" + text.replace("'", "''") + "'"
        return f"CAST({'N' if self.base in ('nchar', 'nvarchar') else ''}{quoted} AS {self.name})"

    def sent_by(self, client: Client) -> list[str]:
        """The values that a client can send, no finer than it holds them."""
        year_min = {"date": client.year_min, "datetimeoffset": client.offset_year_min}.get(self.base, 1)
        digits = {"decimal": client.decimal_digits, "numeric": client.decimal_digits, "money": client.money_digits}
        digit_count_max = digits.get(self.base)
        return [
            self.coarsened(text, client, client.sent_time_digits)
            for text in self.values
            if self._year(text) >= year_min
            and (digit_count_max is None or sum(digit.isdigit() for digit in text.strip("-0.")) <= digit_count_max)
        ]

    def coarsened(self, text: str, client: Client, time_digits: int = 7) -> str:
        """The value without the digits that the client has no room for."""
        if self.base == "time" and time_digits == 0:
            return text.partition(".")[0]
        if self.base in MOMENTS and self.base != "date":
            return re.sub(rf"(\.\d{{{client.second_digits}}})\d+", r"\1", text)
        if self.base in ("decimal", "numeric"):
            return re.sub(rf"(\.\d{{{client.scale_max}}})\d+", r"\1", text)
        return text

    def is_same(self, expected: str | None, got: str | None, client: Client) -> bool:
        """Whether a client's text means the value, as far as the client can tell."""
        if expected is None or got is None:
            return expected == got
        if self.base in ("float", "real"):
            # Clients write four bytes with as many digits as they take to be told apart.
            return single(got) == single(expected) if self.base == "real" else float(got) == float(expected)
        if self.base in ("decimal", "numeric", "money", "smallmoney"):
            digits = client.money_digits if "money" in self.base else client.decimal_digits
            if digits < 38:
                return float(got) == float(expected)
            return Decimal(got) == Decimal(expected)
        if self.base in MOMENTS:
            return moment(self.coarsened(expected, client), client) == moment(self.coarsened(got, client), client)
        if self.base == "uniqueidentifier":
            return got.upper() == expected.upper()
        return got == expected

    @staticmethod
    def _year(text: str) -> int:
        year = re.match(r"(\d{4})-", text)
        return int(year[1]) if year else 9999


def single(text: str) -> float:
    """The nearest value of four bytes."""
    import struct

    return struct.unpack("<f", struct.pack("<f", float(text)))[0]


def moment(text: str, client: Client) -> str:
    """A date or time in one form: no zeros at the end, every part there, and in UTC where the client has no offsets."""
    text = text.replace("T", " ")
    if found := re.fullmatch(r"(.* \d\d:\d\d|\d\d:\d\d)", text):
        text = found[1] + ":00"
    offset = re.search(r"[+-]\d\d:\d\d$", text)
    zone = offset[0] if offset else ""
    text = text.removesuffix(zone).strip()
    if re.search(r":\d\d$", text) and text.count(":") == 1:
        text += ":00"
    whole, _, part = text.partition(".")
    if zone and not client.offsets:
        whole = instant(whole, zone)
        zone = "+00:00"
    part = part.rstrip("0")
    return whole + (f".{part}" if part else "") + zone


def instant(whole: str, zone: str) -> str:
    """A moment of another zone, in UTC."""
    sign = -1 if zone[0] == "-" else 1
    away = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6])) * sign
    there = datetime.fromisoformat(whole).replace(tzinfo=timezone(away))
    return there.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")


NUMBERS = (
    "bit",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "decimal",
    "numeric",
    "money",
    "smallmoney",
    "float",
    "real",
)
MOMENTS = ("date", "time", "smalldatetime", "datetime", "datetime2", "datetimeoffset")

KINDS = [
    Kind("bit", ("0", "1")),
    Kind("tinyint", ("0", "1", "255")),
    Kind("smallint", ("-32768", "0", "32767")),
    Kind("int", ("-2147483648", "-1", "0", "2147483647")),
    Kind("bigint", ("-9223372036854775808", "-1", "0", "4294967296", "9223372036854775807")),
    Kind("decimal(5,2)", ("-999.99", "-0.01", "0.00", "123.40", "999.99")),
    Kind("numeric(18,4)", ("-99999999999999.9999", "0.0001", "99999999999999.9999")),
    Kind("decimal(28,10)", ("-999999999999999999.9999999999", "1.0000000000")),
    Kind("decimal(38,0)", ("-" + "9" * 38, "0", "18446744073709551616", "9" * 38)),
    Kind("decimal(38,38)", ("-0." + "9" * 38, "0." + "0" * 37 + "1", "0." + "9" * 38)),
    Kind("money", ("-922337203685477.5808", "-0.0001", "0.0000", "1234.5678", "922337203685477.5807")),
    Kind("smallmoney", ("-214748.3648", "0.0000", "214748.3647")),
    Kind("float", ("-1.7976931348623157E+308", "0.0", "2.2250738585072014E-308", "0.1", "1.7976931348623157E+308")),
    Kind("real", ("-3.4028234663852886E+38", "0.0", "1.1754943508222875E-38", "0.10000000149011612", "3.4028234663852886E+38")),
    Kind("char(5)", ("     ", "a    ", "abcde")),
    Kind("varchar(10)", ("", "a", "it's", "0123456789", "caf\u00e9 \u20ac")),
    Kind("varchar(max)", ("", "a", "x" * 9000)),
    Kind("nchar(3)", ("   ", "\u00fc  ", "\u6f22\u5b57\u0416")),
    Kind("nvarchar(20)", ("", "Gr\u00fc\u00dfe", "\u6f22\u5b57", "\U0001f71b \U0001d11e", "\u0416\u0301", "tab\tand\nline")),
    Kind("nvarchar(max)", ("", "\u6f22", "\u6f22" * 5000)),
    Kind("binary(4)", ("0x00000000", "0x01020300", "0xFFFFFFFF")),
    Kind("varbinary(8)", ("0x00", "0xFF", "0x0001020304050607")),
    Kind("varbinary(max)", ("0x00", "0x" + "AB" * 9000)),
    Kind("date", ("0001-01-01", "1582-10-15", "2024-02-29", "9999-12-31")),
    Kind("time(0)", ("00:00:00", "23:59:59")),
    Kind("time(3)", ("00:00:00.001", "12:34:56.789")),
    Kind("time(7)", ("00:00:00.0000000", "12:34:56.7890123", "23:59:59.9999999")),
    Kind("smalldatetime", ("1900-01-01 00:00:00", "2024-02-29 12:34:00", "2079-06-06 23:59:00")),
    Kind("datetime", ("1753-01-01 00:00:00.000", "2024-02-29 12:34:56.787", "9999-12-31 23:59:59.997")),
    Kind("datetime2(0)", ("0001-01-01 00:00:00", "2024-02-29 12:34:56")),
    Kind("datetime2(3)", ("0001-01-01 00:00:00.001", "2024-02-29 12:34:56.789")),
    Kind("datetime2(7)", ("0001-01-01 00:00:00.0000000", "2024-02-29 12:34:56.7890123", "9999-12-31 23:59:59.9999999")),
    Kind("datetimeoffset(0)", ("2024-02-29 12:34:56+02:00",)),
    Kind("datetimeoffset(7)", ("0001-01-02 00:00:00.0000000+14:00", "2024-02-29 12:34:56.7890123-05:30")),
    Kind("uniqueidentifier", ("00000000-0000-0000-0000-000000000000", "01020304-0506-0708-090A-0B0C0D0E0F10")),
]

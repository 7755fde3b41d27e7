"""CAST and implicit conversion, as "CAST and CONVERT" and "Data type conversion" describe them."""

from __future__ import annotations

import math
import re
import struct
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

from calendar_model import DATETIME_DAY, SECOND, TICKS_DAY, datetime_text, moment_of, moment_text, parse_moment
from data_type import MAX, DataType, Unsettled

OVERFLOW = 8115
UNLIMITED = Context(prec=400)


class Fault(Exception):
    """An error of a statement: the numbers that it may have."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(numbers)
        self.numbers = frozenset(numbers)


def convert(value: Any, source: DataType, target: DataType) -> Any:
    """A value of one type as another; NULL is NULL in all."""
    if value is None or source == target:
        return value
    if source.is_number and target.is_number:
        return number(value, source, target)
    convert_family = {
        ("number", "text"): number_to_text,
        ("text", "number"): text_to_number,
        ("text", "text"): lambda value, _, target: fit(value, target),
        ("moment", "moment"): lambda value, source, target: moment_of(value, source, target, Fault),
        ("moment", "text"): moment_to_text,
        ("text", "moment"): text_to_moment,
        ("number", "moment"): number_to_moment,
        ("moment", "number"): moment_to_number,
        ("binary", "binary"): lambda value, _, target: fit_bytes(value, target),
        ("text", "binary"): lambda value, source, target: fit_bytes(encoded(value, source), target),
        ("binary", "text"): lambda value, _, target: fit(decoded(value, target), target),
        ("number", "binary"): integer_to_binary,
        ("binary", "number"): binary_to_integer,
    }[source.family, target.family]
    return convert_family(value, source, target)


def assign(value: Any, source: DataType, target: DataType) -> Any:
    """The value of a column: text that would be cut is an error, but for blanks."""
    if source.is_text and target.is_text and target.size not in (MAX, None) and len(value.rstrip(" ")) > target.size:
        raise Fault(2628, 8152)
    return convert(value, source, target)


def number(value: Any, source: DataType, target: DataType) -> Any:
    if target.name == "bit":
        return int(value != 0)
    if target.is_float:
        exact = value if source.is_float else float(Fraction(value, source.unit))
        return as_float(exact, target)
    if source.is_float:
        return from_float(value, target)
    shifted = Fraction(value * target.unit, source.unit)
    # Of the exact numbers decimal alone is truncated, and to whole numbers alone.
    whole = truncated(shifted) if source.name == "decimal" and target.is_integer else rounded(shifted)
    return in_range(whole, source, target)


def as_float(value: float, target: DataType) -> float:
    if target.name == "real":
        try:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            raise Fault(OVERFLOW, 232) from None
    if math.isinf(value) or math.isnan(value):
        raise Fault(OVERFLOW)
    return value + 0.0


def from_float(value: float, target: DataType) -> int:
    exact = Fraction(value)
    whole = truncated(exact) if target.is_integer else rounded(exact * target.unit)
    smallest, largest = target.limits
    if not smallest <= whole <= largest:
        # 232 for whole numbers, 8115 for decimals; money is documented with neither.
        raise Fault(232, OVERFLOW)
    return whole


def in_range(whole: int, source: DataType, target: DataType) -> int:
    smallest, largest = target.limits
    if smallest <= whole <= largest:
        return whole
    small = target.name in ("tinyint", "smallint")
    # "Arithmetic overflow error for data type tinyint, value = 256."
    if small and source.name in ("int", "smallint", "tinyint"):
        raise Fault(220)
    if source.is_money:
        # "There is insufficient result space to convert a money value to int."
        raise Fault(OVERFLOW, 220, 232, 237)
    raise Fault(OVERFLOW, 220) if small or target.is_money else Fault(OVERFLOW)


def truncated(value: Fraction) -> int:
    return math.trunc(value)


def rounded(value: Fraction) -> int:
    """Half away from zero."""
    magnitude = math.floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


def decimal_text(value: int, scale: int) -> str:
    digits = str(abs(value)).rjust(scale + 1, "0")
    whole, part = digits[: len(digits) - scale], digits[len(digits) - scale :]
    return ("-" if value < 0 else "") + whole + ("." + part if scale else "")


def number_to_text(value: Any, source: DataType, target: DataType) -> str:
    if source.is_float:
        text, fault = float_text(value), Fault(232, OVERFLOW)
    elif source.is_money:
        # Style 0: two digits behind the point.
        text, fault = decimal_text(rounded(Fraction(value, 100)), 2), Fault(234, OVERFLOW)
    else:
        text, fault = decimal_text(value, source.scale), Fault(OVERFLOW)
    if target.size not in (MAX, None) and len(text) > target.size:
        # "Truncating and rounding results": an asterisk for what is too short for char.
        if source.name in ("tinyint", "smallint", "int") and not target.is_national:
            return fit("*", target)
        raise fault
    return fit(text, target)


def float_text(value: float) -> str:
    """Style 0: six digits at most, half away from zero. How a zero with a sign is written is not told."""
    if value == 0:
        raise Unsettled
    shortest = Decimal(value)
    digit = Decimal(1).scaleb(shortest.adjusted() - 5)
    text = f"{float(shortest.quantize(digit, ROUND_HALF_UP, UNLIMITED)):.6g}"
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:].rjust(3, '0')}" if mark else text


def text_to_number(text: str, source: DataType, target: DataType) -> Any:
    text = text.strip(" ")
    if target.name == "bit":
        return text_to_bit(text)
    if target.is_integer:
        return text_to_integer(text, target)
    if target.name == "decimal":
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text):
            raise Fault(8114)
        return in_range(rounded(Fraction(text) * target.unit), source, target)
    if target.is_float:
        if not text:
            return 0.0
        if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", text.lower()):
            raise Fault(8114)
        return as_float(float(text), target)
    return text_to_money(text, source, target)


def text_to_bit(text: str) -> int:
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    if text in ("", "+", "-"):
        return 0
    if not re.fullmatch(r"[+-]?\d+", text):
        raise Fault(245)
    return int(int(text) != 0)


def text_to_integer(text: str, target: DataType) -> int:
    # A sign alone is 0.
    if text in ("", "+", "-"):
        return 0
    if not re.fullmatch(r"[+-]?\d+", text):
        raise Fault(8114 if target.name == "bigint" else 245)
    smallest, largest = target.limits
    if not smallest <= int(text) <= largest:
        raise Fault({"bigint": OVERFLOW, "int": 248}.get(target.name, 244))
    return int(text)


def text_to_money(text: str, source: DataType, target: DataType) -> int:
    if text in ("", "+", "-"):
        return 0
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", text):
        raise Fault(235 if target.name == "money" else 293)
    whole = rounded(Fraction(text) * target.unit)
    smallest, largest = target.limits
    if not smallest <= whole <= largest:
        raise Fault(OVERFLOW, 235, 293, 294)
    return whole


def fit(text: str, target: DataType) -> str:
    """Cut, or padded, to the type's size."""
    if target.size in (MAX, None):
        return text if target.size == MAX else text[: 4000 if target.is_national else 8000]
    text = text[: target.size]
    return text.ljust(target.size, " ") if target.is_fixed else text


def fit_bytes(value: bytes, target: DataType) -> bytes:
    if target.size in (MAX, None):
        return value
    value = value[: target.size]
    return value.ljust(target.size, b"\0") if target.is_fixed else value


def encoded(text: str, source: DataType) -> bytes:
    return text.encode("utf-16-le" if source.is_national else "cp1252")


def decoded(value: bytes, target: DataType) -> str:
    return value.decode("utf-16-le" if target.is_national else "cp1252")


def integer_to_binary(value: int, source: DataType, target: DataType) -> bytes:
    """Right-aligned: cut or filled on the left."""
    size = {"bit": 1, "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}[source.name]
    data = (value % (1 << (8 * size))).to_bytes(size, "big")
    if target.size not in (MAX, None):
        data = data[-target.size :]
        data = data.rjust(target.size, b"\0") if target.is_fixed else data
    return data


def binary_to_integer(value: bytes, _: DataType, target: DataType) -> int:
    size = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}[target.name]
    whole = int.from_bytes(value[-size:].rjust(size, b"\0"), "big")
    signed = target.name != "tinyint" and whole >= 1 << (8 * size - 1)
    return whole - (1 << (8 * size)) if signed else whole


def moment_to_text(value: Any, source: DataType, target: DataType) -> str:
    text = datetime_text(value, source) if source.name in ("datetime", "smalldatetime") else moment_text(value, source)
    return fit(text, target)


def text_to_moment(text: str, _: DataType, target: DataType) -> Any:
    parsed = parse_moment(text.strip(" "), target)
    if parsed is None:
        raise Fault(295 if target.name == "smalldatetime" else 241)
    days, ticks = parsed
    if target.name == "date":
        return days
    if target.name == "time":
        return rounded_ticks(ticks, target) % TICKS_DAY
    as_datetime2 = DataType("datetime2", scale=7)
    return moment_of(days * TICKS_DAY + ticks, as_datetime2, target, lambda *_: Fault(242))


def rounded_ticks(ticks: int, target: DataType) -> int:
    step = SECOND // 10**target.scale
    return (ticks + step // 2) // step * step


def number_to_moment(value: Any, source: DataType, target: DataType) -> Any:
    """Days since 1900-01-01."""
    days = Fraction(value) if source.is_float else Fraction(value, source.unit)
    steps = days * (DATETIME_DAY if target.name == "datetime" else 1440)
    if steps.denominator == 2:
        # Half a step: where to is not told.
        raise Unsettled
    return moment_of(rounded(steps), target, target, Fault)


def moment_to_number(value: Any, source: DataType, target: DataType) -> Any:
    days = Fraction(value, DATETIME_DAY if source.name == "datetime" else 1440)
    if target.is_float:
        return as_float(float(days), target)
    if target.is_integer:
        return in_range(rounded(days), source, target)
    return in_range(rounded(days * target.unit), source, target)

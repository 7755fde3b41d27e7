"""Functions of text, numbers, dates and choice: for each, which operands it takes, its type, and its value.

A function of this list is a `Function`: the generator draws operands of the families that it names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import calendar_model as calendar
from conversion import OVERFLOW, Fault, as_float, convert, in_range, rounded
from data_type import BIGINT, DATE, DATETIME, FLOAT, INT, MAX, MONEY, DataType, Unsettled, datetime2, decimal, text
from expression import ABSENT, Apply, Node, Outcome, after, converted

# Families of operands beside those of `DataType.family`.
SMALL, INTEGER, EXACT, ANY, DAYS = "small", "integer", "exact", "any", "days"


@dataclass(frozen=True)
class Function:
    """`make` builds the node, or gives nothing where the operands don't suit."""

    operands: tuple[str, ...]
    make: Callable[..., Node | None]


def varying(kind: DataType, size: int | None = None) -> DataType:
    """varchar or nvarchar, as the argument is."""
    return text("nvarchar" if kind.is_national else "varchar", MAX if kind.size == MAX else size)


def call(name: str, operands: list[Node], kind: DataType, apply: Callable[..., Any], **more: Any) -> Apply:
    places = ", ".join(f"{{{index}}}" for index in range(len(operands)))
    return Apply(f"{name}({places})", operands, kind, apply, **more)


def of_text(name: str, apply: Callable[..., Any]) -> Function:
    """Text in, text of the same kind out."""
    return Function(("text",), lambda a: call(name, [a], varying(a.type, a.type.size), apply))


def with_count(name: str, apply: Callable[[str, int], Any]) -> Function:
    return Function(("text", SMALL), lambda a, n: call(name, [a, n], varying(a.type), apply))


def left(value: str, count: int) -> str:
    if count < 0:
        raise Fault(536, 537)
    return value[:count]


def right(value: str, count: int) -> str:
    if count < 0:
        raise Fault(536, 537)
    return value[max(len(value) - count, 0) :]


def substring(value: Any, start: int, count: int) -> Any:
    if count < 0:
        raise Fault(537, 536)
    end = start - 1 + count
    return value[max(start - 1, 0) : max(end, 0)]


def replicate(a: Node, n: Node) -> Node:
    kind = varying(a.type)
    largest = 4000 if kind.is_national else 8000

    def apply(value: Callable[[], Outcome], count: Callable[[], Outcome]) -> Outcome:
        found, times = value(), count()
        errors = found.errors | times.errors
        if ABSENT in (found.value, times.value) and None not in (found.value, times.value):
            return Outcome(ABSENT, errors)
        if found.value is None or times.value is None or times.value < 0:
            return Outcome(None, errors)
        repeated = found.value * times.value
        return Outcome(repeated if kind.size == MAX else repeated[:largest], errors)

    return call("REPLICATE", [a, n], kind, apply, strict=False)


def lazily(apply: Callable[..., Any]) -> Callable[..., Outcome]:
    """A function whose value may be NULL though no argument is."""

    def run(*parts: Callable[[], Outcome]) -> Outcome:
        outcomes = [part() for part in parts]
        errors = frozenset().union(*(one.errors for one in outcomes))
        if any(one.value is None for one in outcomes):
            return Outcome(None, errors)
        if any(one.value is ABSENT for one in outcomes):
            return Outcome(ABSENT, errors)
        try:
            return Outcome(apply(*(one.value for one in outcomes)), errors)
        except Fault as fault:
            return Outcome(ABSENT, errors | fault.numbers)

    return run


def stuff(a: Node, s: Node, n: Node, b: Node) -> Node | None:
    """NULL in the place of the inserted text is none."""
    if not same_kind(a, b):
        return None
    apply = lazily(stuffed)

    def run(*parts: Callable[[], Outcome]) -> Outcome:
        *others, last = (part() for part in parts)
        inserted = Outcome("", last.errors) if last.value is None else last
        return apply(*(lambda one=one: one for one in (*others, inserted)))

    return call("STUFF", [a, s, n, b], varying(a.type), run, strict=False)


def stuffed(value: str, start: int, count: int, other: str) -> str | None:
    if start < 1 or start > len(value) or count < 0:
        return None
    return value[: start - 1] + other + value[start - 1 + count :]


def char_index(sought: str, value: str, start: int = 1) -> int:
    """Without regard to case; 0 where it is not found."""
    if not sought:
        return 0
    return value.upper().find(sought.upper(), max(start, 1) - 1) + 1


def replace(value: str, old: str, new: str) -> str:
    if not old:
        return value
    parts, at, lowered = [], 0, value.upper()
    while (found := lowered.find(old.upper(), at)) >= 0:
        parts.append(value[at:found] + new)
        at = found + len(old)
    return "".join(parts) + value[at:]


def concat(*operands: Node) -> Node:
    """NULL is an empty text; what is no text is converted."""
    national = any(one.type.is_national for one in operands)
    sizes = [one.type.size if one.type.is_text else 0 for one in operands]
    size = MAX if MAX in sizes else None
    kind = text("nvarchar" if national else "varchar", size)
    room = text(kind.name, MAX)

    def apply(*parts: Callable[[], Outcome]) -> Outcome:
        joined, errors = "", frozenset()
        for part, operand in zip(parts, operands, strict=True):
            found = after(errors, converted(part(), operand.type, room))
            errors = found.errors
            if found.value is ABSENT or joined is ABSENT:
                joined = ABSENT
            else:
                joined += found.value or ""
        # Cut as a concatenation is.
        largest = None if size == MAX or joined is ABSENT else 4000 if national else 8000
        return Outcome(joined[:largest] if largest else joined, errors)

    return call("CONCAT", list(operands), kind, apply, strict=False)


def cut_at(kind: DataType, apply: Callable[..., str]) -> Callable[..., str]:
    """A text of 8,000 bytes at most, unless it is one of max."""
    largest = None if kind.size == MAX else 4000 if kind.is_national else 8000
    return lambda *values: apply(*values)[:largest]


def translate(value: str, mapping: dict[str, str]) -> str:
    return "".join(mapping.get(letter.lower(), letter) for letter in value)


def quote_name(value: str) -> str | None:
    return None if len(value) > 128 else "[" + value.replace("]", "]]") + "]"


TEXT_FUNCTIONS = [
    Function(("text",), lambda a: call("LEN", [a], BIGINT if a.type.size == MAX else INT, lambda v: len(v.rstrip(" ")))),
    Function(
        ("text",),
        lambda a: call("DATALENGTH", [a], BIGINT if a.type.size == MAX else INT, lambda v: len(v) * (1 + a.type.is_national)),
    ),
    of_text("UPPER", str.upper),
    of_text("LOWER", str.lower),
    of_text("LTRIM", lambda v: v.lstrip(" ")),
    of_text("RTRIM", lambda v: v.rstrip(" ")),
    of_text("TRIM", lambda v: v.strip(" ")),
    of_text("REVERSE", lambda v: v[::-1]),
    with_count("LEFT", left),
    with_count("RIGHT", right),
    Function(("text", SMALL, SMALL), lambda a, s, n: call("SUBSTRING", [a, s, n], varying(a.type), substring)),
    Function(("text", SMALL), replicate),
    Function(("text", SMALL, SMALL, "text"), stuff),
    Function(("text", "text"), lambda a, b: call("CHARINDEX", [a, b], BIGINT if b.type.size == MAX else INT, char_index)),
    Function(
        ("text", "text", SMALL),
        lambda a, b, n: call("CHARINDEX", [a, b, n], BIGINT if b.type.size == MAX else INT, char_index),
    ),
    Function(
        ("text", "text", "text"),
        lambda a, b, c: same_kind(a, b, c) and call("REPLACE", [a, b, c], varying(a.type), cut_at(a.type, replace)),
    ),
    Function((ANY, ANY), concat),
    Function(("text", ANY, "text"), concat),
    Function(("text",), lambda a: call("QUOTENAME", [a], text("nvarchar", 258), lazily(quote_name), strict=False)),
    Function(("text",), lambda a: Apply("TRANSLATE({0}, 'abc', 'xyz')", [a], varying(a.type), lambda v: translate(v, XYZ))),
    Function((SMALL,), lambda n: call("SPACE", [n], varying(text("varchar", 1)), lazily(spaces), strict=False)),
    Function(("text",), lambda a: call("ASCII", [a], INT, lazily(lambda v: ord(v[0]) if v else None), strict=False)),
    Function(("text",), lambda a: call("UNICODE", [a], INT, lazily(lambda v: ord(v[0]) if v else None), strict=False)),
]
def spaces(count: int) -> str | None:
    return " " * min(count, 8000) if count >= 0 else None


XYZ = {"a": "x", "b": "y", "c": "z"}


def same_kind(*operands: Node) -> bool:
    """All varchar or all nvarchar, all of max or none, and none of them padded: what the result's kind is otherwise is not told."""
    kinds = {(one.type.is_national, one.type.size == MAX) for one in operands}
    return len(kinds) == 1 and not any(one.type.is_fixed for one in operands)


# Numbers.


def widened(kind: DataType) -> DataType:
    """The type that ABS, SIGN, ROUND and POWER give."""
    if kind.name in ("tinyint", "smallint"):
        return INT
    return {"smallmoney": MONEY, "real": FLOAT}.get(kind.name, kind)


def of_number(name: str, exact: Callable[[Fraction], Any]) -> Function:
    """A function of one number that gives a number of the same type, whose precision is not told."""

    def make(a: Node) -> Node | None:
        if a.type.name == "bit":
            return None
        kind, scale = widened(a.type), 0
        if kind.name == "decimal":
            scale = 0 if name in ("CEILING", "FLOOR") else kind.scale
            kind = decimal(None, scale)

        def apply(value: Any) -> Any:
            result = exact(Fraction(value) if kind.is_float else Fraction(value, a.type.unit))
            if kind.name == "decimal" and abs(result) >= 10 ** (a.type.digits[0] - scale):
                # 1 may have no room in the argument's type.
                raise Unsettled
            if kind.is_float:
                return as_float(float(result), kind)
            return in_range(rounded(result * kind.unit), BIGINT, kind)

        return call(name, [a], kind, apply)

    return Function(("number",), make)


def round_number(places: int, cut: bool) -> Function:
    """ROUND to a number of places, or TRUNCATE with a third argument."""

    def make(a: Node) -> Node | None:
        # An overflow depends on the precision, which ABS and others do not tell.
        if a.type.name == "bit" or a.type.is_float or (a.type.name == "decimal" and a.type.precision is None):
            return None
        kind = widened(a.type)

        def apply(value: int) -> int:
            step = Fraction(10) ** -places
            steps = Fraction(value, a.type.unit) / step
            whole = math.trunc(steps) if cut else rounded(steps)
            return in_range(rounded(whole * step * kind.unit), BIGINT, kind)

        return Apply(f"ROUND({{0}}, {places}{', 1' if cut else ''})", [a], kind, apply)

    return Function(("number",), make)


def of_float(name: str, compute: Callable[[float], float], *errors: int) -> Function:
    """A function of a float, to which any number is converted."""

    def make(a: Node) -> Node:
        def apply(value: Any) -> float:
            try:
                return as_float(compute(convert(value, a.type, FLOAT)), FLOAT)
            except (ValueError, OverflowError):
                raise Fault(*errors, OVERFLOW) from None

        return call(name, [a], FLOAT, apply)

    return Function(("number",), make)


NUMBER_FUNCTIONS = [
    of_number("ABS", abs),
    of_number("SIGN", lambda v: (v > 0) - (v < 0)),
    of_number("CEILING", math.ceil),
    of_number("FLOOR", math.floor),
    *(round_number(places, cut) for places in (-2, -1, 0, 1, 2, 3) for cut in (False, True)),
    of_float("SQRT", math.sqrt, 3623),
    of_float("SQUARE", lambda v: v * v),
    of_float("EXP", math.exp),
    of_float("LOG", math.log, 3623),
    of_float("LOG10", math.log10, 3623),
    of_float("SIN", math.sin),
    of_float("ATAN", math.atan),
    of_float("COS", math.cos),
]


# Dates.


def date_add(part: str) -> Function:
    clock = part in ("hour", "minute", "second", "millisecond")

    def make(a: Node, n: Node) -> Node | None:
        if (a.type.name == "date" and clock) or (a.type.name == "time" and not clock):
            return None
        # Steps of a datetime are no whole milliseconds.
        if (part == "millisecond" and a.type.scale < 3) or (clock and a.type.name == "smalldatetime"):
            return None
        return Apply(
            f"DATEADD({part}, {{1}}, {{0}})",
            [a, n],
            a.type,
            lambda value, count: calendar.date_add(part, count, value, a.type, Fault),
        )

    return Function(("moment", INTEGER), make)


def date_diff(part: str) -> Function:
    def make(a: Node, b: Node) -> Node | None:
        if part == "millisecond" and "datetime" in (a.type.name, b.type.name):
            return None
        return Apply(
            f"DATEDIFF({part}, {{0}}, {{1}})",
            [a, b],
            INT,
            lambda x, y: calendar.date_diff(part, calendar.split(x, a.type), calendar.split(y, b.type), Fault),
        )

    return Function(("moment", "moment"), make)


def date_part(part: str, name: str = "DATEPART({part}, {{0}})") -> Function:
    clock = part in ("hour", "minute", "second", "millisecond")

    def make(a: Node) -> Node | None:
        if (a.type.name == "date" and clock) or (a.type.name == "time" and not clock):
            return None
        return Apply(name.format(part=part), [a], INT, lambda value: calendar.date_part(part, value, a.type))

    return Function(("moment",), make)


def date_name(part: str, written: str) -> Function:
    def make(a: Node) -> Node | None:
        if a.type.name == "time":
            return None

        def apply(value: int) -> str:
            days, _ = calendar.split(value, a.type)
            return date.fromordinal(days + 1).strftime(written)

        return Apply(f"DATENAME({part}, {{0}})", [a], text("nvarchar", 30), apply)

    return Function(("moment",), make)


def end_of_month(a: Node, n: Node) -> Node | None:
    if a.type.name == "time":
        return None

    def apply(value: int, months: int) -> int:
        days, _ = calendar.split(value, a.type)
        moved = calendar.date_add("month", months, days, DATE, Fault)
        first = date.fromordinal(moved + 1).replace(day=1)
        return first.toordinal() - 1 + calendar.month_size(first) - 1

    return call("EOMONTH", [a, n], DATE, apply)


def date_from_parts(year: int, month: int, day: int) -> int:
    try:
        return date(year, month, day).toordinal() - 1
    except (ValueError, OverflowError):
        raise Fault(289) from None


def datetime_from_parts(year: int, month: int, day: int, hour: int, minute: int) -> int:
    if not (0 <= hour < 24 and 0 <= minute < 60 and year >= 1753):
        raise Fault(289)
    days = date_from_parts(year, month, day) - calendar.DAYS_1900
    return days * calendar.DATETIME_DAY + (hour * 60 + minute) * 60 * 300


def datetime2_from_parts(year: int, month: int, day: int, hour: int, part: int) -> int:
    if not (0 <= hour < 24 and 0 <= part < 1000):
        raise Fault(289)
    days = date_from_parts(year, month, day)
    return days * calendar.TICKS_DAY + (hour * 3600 * 1000 + part) * (calendar.SECOND // 1000)


def days_after(a: Node, n: Node) -> Node | None:
    """datetime + a number of days."""
    if a.type.name != "datetime":
        return None

    def apply(value: int, count: int) -> int:
        moved = value + count * calendar.DATETIME_DAY
        calendar.in_days(moved // calendar.DATETIME_DAY + calendar.DAYS_1900, calendar.DATETIME_FIRST, lambda *_: Fault(OVERFLOW, 517))
        return moved

    return Apply("({0} + {1})", [a, n], DATETIME, apply)


MOMENT_FUNCTIONS = [
    *(date_add(part) for part in ("year", "quarter", "month", "day", "week", "hour", "minute", "second", "millisecond")),
    Function(("moment", SMALL), end_of_month),
    Function((SMALL, SMALL, SMALL), lambda y, m, d: call("DATEFROMPARTS", [y, m, d], DATE, date_from_parts)),
    Function(
        (DAYS, SMALL, SMALL, SMALL, SMALL),
        lambda y, *more: Apply("DATETIMEFROMPARTS({0}, {1}, {2}, {3}, {4}, 0, 0)", [y, *more], DATETIME, datetime_from_parts),
    ),
    Function(
        (DAYS, SMALL, SMALL, SMALL, SMALL),
        lambda y, *more: Apply("DATETIME2FROMPARTS({0}, {1}, {2}, {3}, 0, 0, {4}, 3)", [y, *more], datetime2(3), datetime2_from_parts),
    ),
    Function(("moment", SMALL), days_after),
]
MOMENT_PARTS = [
    *(date_diff(part) for part in ("year", "quarter", "month", "day", "week", "hour", "minute", "second", "millisecond")),
    *(
        date_part(part)
        for part in (
            *("year", "quarter", "month", "day", "dayofyear", "week", "weekday", "iso_week"),
            *("hour", "minute", "second", "millisecond"),
        )
        if part != "week"
    ),
    *(date_part(part, f"{part.upper()}({{{{0}}}})") for part in ("year", "month", "day")),
]
MOMENT_NAMES = [date_name("month", "%B"), date_name("weekday", "%A")]

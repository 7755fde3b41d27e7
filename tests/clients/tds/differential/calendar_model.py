"""Dates and times: how each type counts them, writes them, and what DATEADD, DATEDIFF and DATEPART make of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

from data_type import DataType, Unsettled

SECOND = 10_000_000
TICKS_DAY = 86_400 * SECOND
DATETIME_DAY = 86_400 * 300
DAYS_1900 = date(1900, 1, 1).toordinal() - 1
DAYS_MAX = date(9999, 12, 31).toordinal() - 1
# 1753-01-01, the first day of datetime.
DATETIME_FIRST = date(1753, 1, 1).toordinal() - 1
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def split(value: int, kind: DataType) -> tuple[int, int]:
    """Days since 0001-01-01, and 100 ns since midnight."""
    if kind.name == "date":
        return value, 0
    if kind.name == "time":
        return DAYS_1900, value
    if kind.name == "datetime2":
        return divmod(value, TICKS_DAY)
    if kind.name == "smalldatetime":
        days, minutes = divmod(value, 1440)
        return days + DAYS_1900, minutes * 60 * SECOND
    days, parts = divmod(value, DATETIME_DAY)
    # From 300ths: 3 1/3 ms each, half up to 100 ns.
    return days + DAYS_1900, (parts * SECOND * 2 + 300) // 600


def moment_of(value: int, source: DataType, target: DataType, fault: Callable[..., Exception]) -> int:
    """A date or time as another type's."""
    if {source.name, target.name} == {"date", "time"}:
        raise fault(529)
    days, ticks = split(value, source)
    if target.name == "date":
        return in_days(days, 0, fault)
    step = SECOND // 10**target.scale if target.name in ("time", "datetime2") else 1
    if target.name == "time":
        return (ticks + step // 2) // step * step % TICKS_DAY
    if target.name == "datetime2":
        total = days * TICKS_DAY + (ticks + step // 2) // step * step
        in_days(total // TICKS_DAY, 0, fault)
        return total
    if target.name == "datetime":
        parts = value % DATETIME_DAY if source.name == "datetime" else (ticks * 600 + SECOND) // (2 * SECOND)
        total = (days - DAYS_1900) * DATETIME_DAY + parts
        in_days(total // DATETIME_DAY + DAYS_1900, DATETIME_FIRST, fault)
        return total
    return smalldatetime(days, ticks, source, fault)


def smalldatetime(days: int, ticks: int, source: DataType, fault: Callable[..., Exception]) -> int:
    """To the nearest minute: 29.998 seconds and below are rounded down."""
    limit = 29_998 if source.name == "datetime" else 29_999
    minutes, rest = divmod(ticks, 60 * SECOND)
    milliseconds = rest / 10_000
    total = (days - DAYS_1900) * 1440 + minutes + (1 if milliseconds > limit else 0)
    if not 0 <= total < 65_536 * 1440:
        raise fault(242, 8115, 298)
    return total


def in_days(days: int, first: int, fault: Callable[..., Exception]) -> int:
    if not first <= days <= DAYS_MAX:
        raise fault(242, 8115, 517)
    return days


def moment_text(value: int, kind: DataType) -> str:
    """Style 121."""
    days, ticks = split(value, kind)
    seconds, part = divmod(ticks, SECOND)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if kind.scale:
        clock += "." + str(part).rjust(7, "0")[: kind.scale]
    day = date.fromordinal(days + 1).isoformat()
    return {"date": day, "time": clock}.get(kind.name, f"{day} {clock}")


def datetime_text(value: int, kind: DataType) -> str:
    """Style 0: `Jan  2 2024  3:04PM`."""
    days, ticks = split(value, kind)
    day = date.fromordinal(days + 1)
    minutes = ticks // (60 * SECOND)
    hour = minutes // 60 % 12 or 12
    half = "PM" if minutes >= 720 else "AM"
    return f"{MONTHS[day.month - 1]} {day.day:2} {day.year} {hour:2}:{minutes % 60:02}{half}"


def parse_moment(text: str, target: DataType) -> tuple[int, int] | None:
    """A text in one of the forms that the generator writes: ISO 8601 with a space or T, a day or a time alone, or nothing. What
    other texts with digits mean is left out."""
    if not text:
        return DAYS_1900, 0
    day = r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    # datetime takes three digits behind the second.
    digits = 3 if target.name in ("datetime", "smalldatetime") else 7
    clock = rf"(?P<hour>\d\d):(?P<minute>\d\d)(:(?P<second>\d\d)(\.(?P<part>\d{{1,{digits}}}))?)?"
    found = re.fullmatch(re.sub(r"\?P<\w+>", "?:", f"{day}|{day}[ T]{clock}|{clock}"), text)
    if not found:
        if any(letter.isdigit() for letter in text):
            raise Unsettled
        return None
    found_day, found_clock = re.match(day, text), re.search(clock + "$", text)
    days = DAYS_1900
    if found_day:
        try:
            days = date(*(int(found_day[name]) for name in ("year", "month", "day"))).toordinal() - 1
        except ValueError:
            return None
    return days, clock_ticks(found_clock) if found_clock else 0


def clock_ticks(found: re.Match[str]) -> int:
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    part = int((found["part"] or "").ljust(7, "0"))
    return (hour * 3600 + minute * 60 + second) * SECOND + part


def joined(days: int, ticks: int, kind: DataType, fault: Callable[..., Exception]) -> int:
    """The value of a type, of what may be out of its range. 517: an addition's overflow."""
    days, ticks = days + ticks // TICKS_DAY, ticks % TICKS_DAY
    if kind.name == "time":
        return ticks
    first = {"datetime": DATETIME_FIRST, "smalldatetime": DAYS_1900}.get(kind.name, 0)
    last = DAYS_1900 + 65_535 if kind.name == "smalldatetime" else DAYS_MAX
    if not first <= days <= last:
        raise fault(517)
    if kind.name == "date":
        return days
    return moment_of(days * TICKS_DAY + ticks, DataType("datetime2", scale=7), kind, fault)


def date_add(part: str, count: int, value: int, kind: DataType, fault: Callable[..., Exception]) -> int:
    days, ticks = split(value, kind)
    months = {"year": 12, "quarter": 3, "month": 1}.get(part)
    if months:
        day = date.fromordinal(days + 1)
        total = day.year * 12 + day.month - 1 + count * months
        if not 12 <= total < 120_000:
            raise fault(517)
        first = date(total // 12, total % 12 + 1, 1)
        # "If the return month has fewer days, the last day of the month."
        return joined(first.toordinal() - 1 + min(day.day, month_size(first)) - 1, ticks, kind, fault)
    if part in ("day", "week", "dayofyear", "weekday"):
        return joined(days + count * (7 if part == "week" else 1), ticks, kind, fault)
    if kind.name == "datetime":
        # Sums of a datetime are rounded to its own steps; those of the clock's parts are whole ones.
        steps = {"hour": 3600 * 300, "minute": 60 * 300, "second": 300}.get(part)
        moved = value + count * steps if steps else value + round_steps(count)
        in_days(moved // DATETIME_DAY + DAYS_1900, DATETIME_FIRST, lambda *_: fault(517))
        return moved
    unit = {"hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND, "millisecond": SECOND // 1000}[part]
    return joined(days, ticks + count * unit, kind, fault)


def round_steps(milliseconds: int) -> int:
    """Milliseconds as 300ths, half away from zero."""
    magnitude = (abs(milliseconds) * 600 + 1000) // 2000
    return magnitude if milliseconds >= 0 else -magnitude


def month_size(first: date) -> int:
    following = date(first.year + first.month // 12, first.month % 12 + 1, 1) if (first.year, first.month) < (9999, 12) else None
    return 31 if following is None else (following - first).days


def date_diff(part: str, begin: tuple[int, int], end: tuple[int, int], fault: Callable[..., Exception]) -> int:
    """Boundaries crossed. Weeks begin on Sunday, whatever DATEFIRST is."""
    counted = boundary(part, *end) - boundary(part, *begin)
    if not -(2**31) <= counted < 2**31:
        raise fault(535)
    return counted


def boundary(part: str, days: int, ticks: int) -> int:
    day = date.fromordinal(days + 1)
    if part in ("year", "quarter", "month"):
        return {"year": day.year, "quarter": day.year * 4 + (day.month - 1) // 3, "month": day.year * 12 + day.month}[part]
    if part == "week":
        # 0001-01-01 was a Monday.
        return (days + 1) // 7
    if part in ("day", "dayofyear", "weekday"):
        return days
    unit = {"hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND, "millisecond": SECOND // 1000}[part]
    return (days * TICKS_DAY + ticks) // unit


def date_part(part: str, value: int, kind: DataType) -> int:
    days, ticks = split(value, kind)
    day = date.fromordinal(days + 1)
    # The parts of a datetime are shown as milliseconds: .000, .003, .007.
    milliseconds = (value % 300 * 10 + 1) // 3 if kind.name == "datetime" else ticks // (SECOND // 1000) % 1000
    of: dict[str, Any] = {
        "year": day.year,
        "quarter": (day.month + 2) // 3,
        "month": day.month,
        "day": day.day,
        "dayofyear": day.timetuple().tm_yday,
        # DATEFIRST is 7: Sunday is the first day.
        "weekday": day.isoweekday() % 7 + 1,
        "iso_week": day.isocalendar()[1],
        "hour": ticks // (3600 * SECOND),
        "minute": ticks // (60 * SECOND) % 60,
        "second": ticks // SECOND % 60,
        "millisecond": milliseconds,
    }
    return of[part]

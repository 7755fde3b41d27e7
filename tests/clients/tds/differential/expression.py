"""Expressions: trees that write themselves as T-SQL, know their type, and compute their value.

What the documentation leaves open is open here: an `Outcome` may be a value or one of several errors, because SQL Server
promises no order in which operands are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from calendar_model import moment_text
from conversion import Fault, convert, decimal_text
from data_type import BOOLEAN, MAX, DataType, Unsettled

ABSENT = object()
# False or NULL, and true or NULL, where an error may keep the server from telling which.
UNTRUE, UNFALSE = object(), object()
Row = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The value, unless it is `ABSENT`, or one of the errors."""

    value: Any
    errors: frozenset[int] = frozenset()


class Node:
    """A part of an expression."""

    type: DataType
    operands: Sequence[Node]
    # Whether a client is told that it is never NULL; `None` where that is not documented.
    nullable: bool | None = None

    def sql(self, column: Callable[[str], str] = str) -> str:
        raise NotImplementedError

    def outcome(self, row: Row) -> Outcome:
        raise NotImplementedError

    def size(self) -> int:
        return 1 + sum(operand.size() for operand in self.operands)

    def columns(self) -> set[str]:
        return set().union(*(operand.columns() for operand in self.operands))


@dataclass
class Constant(Node):
    """A literal, or a literal that is cast."""

    written: str
    type: DataType
    value: Any
    # An integer literal is a decimal of its own digits beside decimals.
    is_literal: bool = False
    operands = ()

    def __post_init__(self) -> None:
        self.nullable = self.value is None if self.is_literal else None

    def sql(self, column: Callable[[str], str] = str) -> str:
        return self.written

    def outcome(self, row: Row) -> Outcome:
        return Outcome(self.value)


@dataclass
class Column(Node):
    name: str
    type: DataType
    nullable: bool | None = True
    operands = ()

    def sql(self, column: Callable[[str], str] = str) -> str:
        return column(self.name)

    def outcome(self, row: Row) -> Outcome:
        return Outcome(row[self.name])

    def columns(self) -> set[str]:
        return {self.name}


@dataclass
class Apply(Node):
    """An operator or function. `template` names the operands by number.

    A strict one gets values that are not NULL; any other gets one `Outcome` after the other, as it asks for them.
    """

    template: str
    operands: list[Node]
    type: DataType
    apply: Callable[..., Any]
    strict: bool = True
    nullable: bool | None = None

    def sql(self, column: Callable[[str], str] = str) -> str:
        return self.template.format(*(operand.sql(column) for operand in self.operands))

    def outcome(self, row: Row) -> Outcome:
        if not self.strict:
            return self.apply(*(lambda operand=operand: operand.outcome(row) for operand in self.operands))
        outcomes = [operand.outcome(row) for operand in self.operands]
        return strictly(self.apply, outcomes)


def strictly(apply: Callable[..., Any], outcomes: list[Outcome]) -> Outcome:
    """NULL if an operand is; an error of any operand may come before that."""
    errors = frozenset().union(*(one.errors for one in outcomes))
    if any(one.value is None for one in outcomes):
        return Outcome(None, errors)
    if any(one.value is ABSENT for one in outcomes):
        return Outcome(ABSENT, errors)
    try:
        return Outcome(apply(*(one.value for one in outcomes)), errors)
    except Fault as fault:
        return Outcome(ABSENT, errors | fault.numbers)


def converted(outcome: Outcome, source: DataType, target: DataType) -> Outcome:
    if source == target or outcome.value in (None, ABSENT):
        return outcome
    return strictly(lambda value: convert(value, source, target), [outcome])


def conversion(operand: Node, target: DataType, template: str = "CAST({0} AS %s)") -> Node:
    """CAST; the same without a template is implicit."""
    return Apply(template % target, [operand], target, lambda value: convert(value, operand.type, target))


def implicit(operand: Node, target: DataType) -> Node:
    if operand.type == target or target == BOOLEAN:
        return operand
    return Apply("{0}", [operand], target, lambda value: convert(value, operand.type, target))


# Three-valued logic.


def conjunction(left: Node, right: Node) -> Node:
    return Apply("({0} AND {1})", [left, right], BOOLEAN, lambda *sides: both(sides, False), strict=False)


def disjunction(left: Node, right: Node) -> Node:
    return Apply("({0} OR {1})", [left, right], BOOLEAN, lambda *sides: both(sides, True), strict=False)


def negation(operand: Node) -> Node:
    return Apply("(NOT {0})", [operand], BOOLEAN, lambda part: inverted(part()), strict=False)


def both(sides: tuple[Callable[[], Outcome], ...], decisive: bool) -> Outcome:
    outcomes = [side() for side in sides]
    return all_of(outcomes) if decisive is False else any_of(outcomes)


def all_of(outcomes: list[Outcome]) -> Outcome:
    """AND. A side that decides may keep the other from being evaluated, or not; so may a side that is NULL, where the whole
    can't become true any more."""
    errors = frozenset().union(*(one.errors for one in outcomes))
    values = [one.value for one in outcomes]
    has = {found: any(value is found for value in values) for found in (False, None, ABSENT, UNTRUE, UNFALSE)}
    if has[False]:
        return Outcome(False, errors)
    if has[UNTRUE] or (has[None] and has[ABSENT]):
        return Outcome(UNTRUE, errors)
    found = next((found for found in (None, ABSENT, UNFALSE) if has[found]), True)
    return Outcome(found, errors)


def any_of(outcomes: list[Outcome]) -> Outcome:
    return inverted(all_of([inverted(one) for one in outcomes]))


def inverted(outcome: Outcome) -> Outcome:
    value = outcome.value
    opposite = {id(True): False, id(False): True, id(UNTRUE): UNFALSE, id(UNFALSE): UNTRUE}.get(id(value), value)
    return Outcome(opposite, outcome.errors)


# Choices: an alternative that is not taken is not evaluated.


def case(conditions: list[Node], results: list[Node], target: DataType) -> Node:
    """CASE WHEN .. ELSE .. END; `results` has one more than `conditions` where there is an ELSE."""
    count = len(conditions)
    whens = " ".join(f"WHEN {{{index}}} THEN {{{count + index}}}" for index in range(count))
    otherwise = f" ELSE {{{2 * count}}}" if len(results) > count else ""
    types = [one.type for one in results]

    def choose(*parts: Callable[[], Outcome]) -> Outcome:
        errors: frozenset[int] = frozenset()
        for index in range(count):
            decided = parts[index]()
            errors |= decided.errors
            if decided.value in (ABSENT, UNFALSE):
                return Outcome(ABSENT, errors)
            if decided.value is True:
                return after(errors, converted(parts[count + index](), types[index], target))
        if len(results) == count:
            return Outcome(None, errors)
        return after(errors, converted(parts[2 * count](), types[count], target))

    return Apply(f"(CASE {whens}{otherwise} END)", [*conditions, *results], target, choose, strict=False)


def iif(condition: Node, yes: Node, no: Node, target: DataType) -> Node:
    node = case([condition], [yes, no], target)
    assert isinstance(node, Apply)
    node.template = "IIF({0}, {1}, {2})"
    return node


def coalesce(operands: list[Node], target: DataType) -> Node:
    types = [one.type for one in operands]

    def choose(*parts: Callable[[], Outcome]) -> Outcome:
        errors: frozenset[int] = frozenset()
        for part, kind in zip(parts, types, strict=True):
            found = after(errors, converted(part(), kind, target))
            errors = found.errors
            if found.value is not None:
                return found
        return Outcome(None, errors)

    places = ", ".join(f"{{{index}}}" for index in range(len(operands)))
    return Apply(f"COALESCE({places})", operands, target, choose, strict=False)


def is_null(value: Node, replacement: Node) -> Node:
    """ISNULL: of the first argument's type."""
    target = value.type

    def choose(first: Callable[[], Outcome], second: Callable[[], Outcome]) -> Outcome:
        found = first()
        if found.value is not None:
            return found
        return after(found.errors, converted(second(), replacement.type, target))

    nullable = False if replacement.nullable is False or value.nullable is False else None
    return Apply("ISNULL({0}, {1})", [value, replacement], target, choose, strict=False, nullable=nullable)


def null_if(value: Node, other: Node, equal: Callable[[list[Outcome]], Outcome]) -> Node:
    def choose(first: Callable[[], Outcome], second: Callable[[], Outcome]) -> Outcome:
        left, right = first(), second()
        compared = equal([left, right])
        if compared.value is ABSENT:
            return compared
        return Outcome(None if compared.value is True else left.value, compared.errors)

    return Apply("NULLIF({0}, {1})", [value, other], value.type, choose, strict=False)


def after(errors: frozenset[int], outcome: Outcome) -> Outcome:
    return Outcome(outcome.value, outcome.errors | errors)


def constant(value: Any, kind: DataType) -> Constant:
    """A value as a literal that is cast to a type."""
    return Constant(f"CAST({literal(value, kind)} AS {kind})", kind, value)


def literal(value: Any, kind: DataType) -> str:
    if value is None:
        return "NULL"
    if kind.is_text:
        quoted = "'" + value.replace("'", "''") + "'"
        return "N" + quoted if kind.is_national else quoted
    if kind.is_binary:
        return "0x" + value.hex()
    if kind.is_moment:
        return "'" + written_moment(value, kind) + "'"
    if kind.name == "datetimeoffset":
        ticks, offset = value
        local = moment_text(ticks + offset * 600_000_000, DataType("datetime2", scale=kind.scale))
        return f"'{local} {'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}'"
    if kind.is_float:
        return f"{value!r}e0" if "e" not in repr(value) else repr(value)
    return decimal_text(value, 4 if kind.is_money else kind.scale)


def written_moment(value: int, kind: DataType) -> str:
    """In a form that every date format reads alike, exactly."""
    if kind.name == "datetime":
        days, parts = divmod(value, 86_400 * 300)
        as_datetime2 = DataType("datetime2", scale=3)
        ticks = (days + 693_595) * 864_000_000_000 + (parts * 10 + 1) // 3 * 10_000
        return moment_text(ticks, as_datetime2).replace(" ", "T")
    return moment_text(value, kind).replace(" ", "T")


def size_of_concatenation(left: DataType, right: DataType, largest: int) -> int | None:
    if MAX in (left.size, right.size):
        return MAX
    if left.size is None or right.size is None:
        return None
    return min(left.size + right.size, largest)

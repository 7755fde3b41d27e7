"""Operators: arithmetic with its types, bits, concatenation, comparison, LIKE and IN."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from conversion import OVERFLOW, Fault, as_float, convert, in_range, rounded, truncated
from data_type import BOOLEAN, INT, MAX, SMALLINT, DataType, common, decimal, scale_of, text
from expression import ABSENT, Apply, Constant, Node, Outcome, Unsettled, all_of, any_of, converted, implicit, inverted, literal, size_of_concatenation, strictly

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def arithmetic(sign: str, left: Node, right: Node) -> Node | None:
    """`+ - * / %` of numbers, or nothing where the operator does not take these types."""
    types = [left.type, right.type]
    if any(one.name == "bit" for one in types) and not any(one.is_exact and one.name != "bit" for one in types):
        return None
    winner = min(types, key=lambda one: one.rank)
    template = f"({{0}} {sign} {{1}})"
    if winner.is_float:
        return None if sign == "%" else Apply(template, as_type(winner, left, right), winner, float_operation(sign, winner))
    if winner.name == "decimal":
        sides = [digits_beside_decimal(one) for one in (left, right)]
        if any(one.precision is None for one in sides):
            return None
        result = decimal_result(sign, *sides)

        def apply(a: Any, b: Any) -> int:
            exact = [Fraction(convert(v, t, s), s.unit) for v, t, s in zip((a, b), types, sides, strict=True)]
            return decimal_operation(sign, *exact, result)

        return Apply(template, [left, right], result, apply)
    if winner.is_money:
        # How products and quotients of money are rounded is not told.
        return None if sign in "*/%" else Apply(template, as_type(winner, left, right), winner, integer_operation(sign, winner))
    return Apply(template, as_type(winner, left, right), winner, integer_operation(sign, winner))


def as_type(kind: DataType, *operands: Node) -> list[Node]:
    """Operands as they are converted implicitly."""
    return [implicit(operand, kind) for operand in operands]


def digits_beside_decimal(node: Node) -> DataType:
    """An integer constant is a decimal with just the digits that it has ("decimal and numeric")."""
    if isinstance(node, Constant) and node.is_literal and node.type.is_integer:
        return decimal(len(str(abs(node.value))), 0)
    if node.type.name == "decimal":
        return node.type
    return decimal(*node.type.digits)


def decimal_result(sign: str, left: DataType, right: DataType) -> DataType:
    """The table of "Precision, scale, and length", and what becomes of more than 38 digits."""
    (p1, s1), (p2, s2) = left.digits, right.digits
    if sign in "+-":
        scale = max(s1, s2)
        whole = max(p1 - s1, p2 - s2)
        precision = whole + scale + 1
        if precision > 38:
            return decimal(38, min(scale, 38 - whole))
        return decimal(precision, scale)
    if sign == "%":
        scale = max(s1, s2)
        return decimal(min(min(p1 - s1, p2 - s2) + scale, 38), scale)
    if sign == "*":
        precision, scale = p1 + p2 + 1, s1 + s2
    else:
        scale = max(6, s1 + p2 + 1)
        precision = p1 - s1 + s2 + scale
    if precision > 38:
        whole = precision - scale
        scale = min(scale, 38 - whole) if whole < 32 else min(scale, 6)
        precision = 38
    return decimal(precision, scale)


def decimal_operation(sign: str, left: Fraction, right: Fraction, result: DataType) -> int:
    if sign in "/%" and right == 0:
        raise Fault(8134)
    if sign == "/":
        # A quotient is cut off.
        whole = truncated(left / right * result.unit)
    elif sign == "%":
        whole = truncated((left - right * math.trunc(left / right)) * result.unit)
    else:
        whole = rounded(ARITHMETIC[sign](left, right) * result.unit)
    return in_range(whole, result, result)


def integer_operation(sign: str, kind: DataType) -> Callable[[int, int], int]:
    def apply(left: int, right: int) -> int:
        if sign in "/%" and right == 0:
            raise Fault(8134)
        if sign == "/":
            whole = truncated(Fraction(left, right))
        elif sign == "%":
            if right == -1 and left == kind.limits[0]:
                # Whether it overflows is not told.
                raise Unsettled
            whole = left - right * truncated(Fraction(left, right))
        else:
            whole = ARITHMETIC[sign](left, right)
        smallest, largest = kind.limits
        if not smallest <= whole <= largest:
            raise Fault(OVERFLOW)
        return whole

    return apply


def float_operation(sign: str, kind: DataType) -> Callable[[float, float], float]:
    def apply(left: float, right: float) -> float:
        if sign == "/":
            if right == 0:
                raise Fault(8134)
            return as_float(left / right, kind)
        return as_float(ARITHMETIC[sign](left, right), kind)

    return apply


def minus(operand: Node) -> Node:
    """A tinyint becomes a smallint, the only type that is not the operand's."""
    kind = SMALLINT if operand.type.name == "tinyint" else operand.type

    def apply(value: Any) -> Any:
        if kind.is_float:
            return 0.0 - value
        return in_range(-value, DataType("bigint"), kind)

    return Apply("(- {0})", [operand], kind, apply)


def bits(sign: str, left: Node, right: Node) -> Node:
    apply = {"&": operator.and_, "|": operator.or_, "^": operator.xor}[sign]
    kind = common([left.type, right.type])
    return Apply(f"({{0}} {sign} {{1}})", as_type(kind, left, right), kind, apply)


def complement(operand: Node) -> Node:
    kind = operand.type
    apply = {"bit": lambda value: 1 - value, "tinyint": lambda value: 255 - value}.get(kind.name, operator.invert)
    return Apply("(~ {0})", [operand], kind, apply)


def concatenation(left: Node, right: Node) -> Node:
    """Of texts, or of binary values."""
    winner = common([left.type, right.type])
    largest = 4000 if winner.is_national else 8000
    size = size_of_concatenation(left.type, right.type, largest)
    # A varchar beside an nvarchar is one first.
    cut = {True: 4000, False: 8000}[winner.is_national] if size != MAX else None
    return Apply("({0} + {1})", [left, right], DataType(winner.name, size=size), lambda a, b: (a[:cut] + b[:cut])[:cut])


# Comparison.


def key(value: Any, kind: DataType) -> Any:
    """What a value is compared by: of text, neither case nor blanks at its end count."""
    if kind.is_binary and value.endswith(b"\0"):
        # A known difference: here such zeros count.
        raise Unsettled
    if kind.name == "datetimeoffset":
        # The instant alone.
        return value[0]
    return value.rstrip(" ").upper() if kind.is_text else value


def comparer(left: DataType, right: DataType, sign: str) -> Callable[[Any, Any], bool]:
    kind = comparison_type(left, right)
    compare = COMPARISONS[sign]

    def apply(a: Any, b: Any) -> bool:
        keys = [key(convert(a, left, kind), kind), key(convert(b, right, kind), kind)]
        if kind.is_text and sign not in ("=", "<>") and not all(one.replace(" ", "x").isalnum() for one in keys if one):
            raise Unsettled
        return compare(*keys)

    return apply


def comparison_type(left: DataType, right: DataType) -> DataType:
    """The type in which values of two types are compared: nothing is cut off."""
    winner = min((left, right), key=lambda one: one.rank)
    if winner.is_text:
        return text("nvarchar" if winner.is_national else "varchar", MAX)
    if winner.is_binary:
        return DataType("varbinary", size=MAX)
    if winner.name == "decimal" and left.is_exact and right.is_exact:
        scale = max(left.digits[1], right.digits[1])
        return DataType("decimal", precision=77, scale=scale)
    if winner.name in ("time", "datetime2"):
        return DataType(winner.name, scale=max(scale_of(left), scale_of(right)) if left.is_moment and right.is_moment else 7)
    return winner


def comparison(sign: str, left: Node, right: Node) -> Node:
    kind = comparison_type(left.type, right.type)
    return Apply(f"({{0}} {sign} {{1}})", as_type(kind, left, right), BOOLEAN, comparer(kind, kind, sign))


def compared_outcome(sign: str, kinds: list[DataType], outcomes: list[Outcome]) -> Outcome:
    """A comparison of values of two types, each of which is converted first."""
    kind = comparison_type(*kinds)
    sides = [converted(outcome, source, kind) for outcome, source in zip(outcomes, kinds, strict=True)]
    return strictly(comparer(kind, kind, sign), sides)


def between(value: Node, low: Node, high: Node) -> Node:
    """`value >= low AND value <= high`."""
    def apply(*parts: Callable[[], Outcome]) -> Outcome:
        outcomes = [part() for part in parts]
        above = compared_outcome(">=", [value.type, low.type], outcomes[:2])
        return all_of([above, compared_outcome("<=", [value.type, high.type], [outcomes[0], outcomes[2]])])

    return Apply("({0} BETWEEN {1} AND {2})", [value, low, high], BOOLEAN, apply, strict=False)


def in_list(value: Node, members: list[Node], is_inverted: bool) -> Node:
    """`value = a OR value = b ..`."""
    def apply(*parts: Callable[[], Outcome]) -> Outcome:
        first, *others = (part() for part in parts)
        pairs = [([value.type, member.type], [first, other]) for member, other in zip(members, others, strict=True)]
        found = any_of([compared_outcome("=", kinds, outcomes) for kinds, outcomes in pairs])
        return inverted(found) if is_inverted else found

    places = ", ".join(f"{{{index + 1}}}" for index in range(len(members)))
    word = "NOT IN" if is_inverted else "IN"
    return Apply(f"({{0}} {word} ({places}))", [value, *members], BOOLEAN, apply, strict=False)


def is_null_test(value: Node, is_inverted: bool) -> Node:
    def apply(part: Callable[[], Outcome]) -> Outcome:
        found = part()
        if found.value is ABSENT:
            return found
        return Outcome((found.value is None) != is_inverted, found.errors)

    return Apply("({0} IS NOT NULL)" if is_inverted else "({0} IS NULL)", [value], BOOLEAN, apply, strict=False)


def like(value: Node, pattern: str, is_inverted: bool) -> Node:
    """A pattern of `%`, `_` and sets. Blanks at the end count in the pattern."""
    expression = pattern_expression(pattern)
    # A char's padding may be matched or not; nchar's and nvarchar's is as it is.
    ansi = not value.type.is_national

    def apply(found: str) -> bool:
        matches = expression.fullmatch(found) is not None
        if ansi and not matches:
            matches = any(expression.fullmatch(found[:end]) for end in range(len(found.rstrip(" ")), len(found)))
        return matches != is_inverted

    word = "NOT LIKE" if is_inverted else "LIKE"
    return Apply(f"({{0}} {word} {literal(pattern, text('varchar', len(pattern)))})", [value], BOOLEAN, apply)


def pattern_expression(pattern: str) -> re.Pattern[str]:
    parts = []
    for found in re.finditer(r"\[(\^?)([^\]]+)\]|.", pattern, re.DOTALL):
        if found[2]:
            inside = re.escape(found[2]).replace(r"\-", "-")
            parts.append(f"[{found[1]}{inside}]")
        else:
            parts.append({"%": ".*", "_": "."}.get(found[0]) or re.escape(found[0]))
    return re.compile("".join(parts), re.DOTALL | re.IGNORECASE | re.ASCII)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NULL_INT = Constant("NULL", INT, None, is_literal=True)

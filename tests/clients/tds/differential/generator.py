"""Random expressions. What the documentation does not settle is not drawn; each place says what that is."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import functions
import operators
from conversion import Fault, assign, convert
from data_type import (
    BIGINT,
    BIT,
    BOOLEAN,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    INTEGERS,
    MAX,
    MONEY,
    REAL,
    SMALLDATETIME,
    SMALLINT,
    SMALLMONEY,
    TINYINT,
    DataType,
    common,
    datetime2,
    decimal,
    text,
    time,
)
from expression import (
    ABSENT,
    Apply,
    Column,
    Constant,
    Node,
    Outcome,
    case,
    coalesce,
    conjunction,
    constant,
    disjunction,
    iif,
    implicit,
    is_null,
    literal,
    negation,
    null_if,
)
from samples import WORDS, value_of

FAMILIES = ("number", "text", "moment", "binary")
SIGNS = tuple(operators.COMPARISONS)


class Generator:
    """Draws expressions over some columns."""

    def __init__(self, random: Random, columns: list[Column]) -> None:
        self.random = random
        self.columns = columns

    def expression(self, depth: int) -> Node:
        family = self.random.choices((*FAMILIES, "boolean"), (8, 5, 4, 1, 2))[0]
        if family == "boolean":
            condition = self.condition(depth - 1)
            return case([condition, negation(condition)], [whole(1), whole(0)], INT)
        return self.of(family, depth)

    def of(self, family: str, depth: int) -> Node:
        """A node of a family of types."""
        if family == functions.ANY:
            family = self.random.choices(FAMILIES[:3], (2, 3, 1))[0]
            # A float's and a moment's text is tested by itself; within a text it tells nothing more.
        if family == functions.SMALL:
            return self.small(depth)
        if family == functions.DAYS:
            return whole(self.random.choice([1753, 1900, 2000, 2024, 9999, 1752]))
        if family == functions.INTEGER:
            return self.integer(depth)
        if depth <= 0 or self.random.random() < 0.08:
            return self.leaf(family)
        makers = {"number": self.numbers, "text": self.texts, "moment": self.moments, "binary": self.binaries}[family]
        for _ in range(20):
            node = makers(depth - 1)
            if node is not None:
                return node
        return self.leaf(family)

    def assigned(self, depth: int) -> Node:
        """An expression that is assigned to a column: another type, by an implicit conversion."""
        draw = self.random
        while True:
            operand = self.of(draw.choice(FAMILIES[:3]), depth)
            source = operand.type
            target = self.type_of(draw.choice(FAMILIES[:3]))
            pair = (source.family, target.family)
            if not is_convertible(source, target) or pair == ("moment", "number") or (pair == ("number", "text") and source.is_money):
                continue
            if pair[0] != "text" and pair[1] == "text" and target.size not in (30, MAX):
                continue
            return Apply("{0}", [operand], target, lambda value: assign(value, source, target))

    def leaf(self, family: str) -> Node:
        fitting = [one for one in self.columns if one.type.family == family]
        if fitting and self.random.random() < 0.6:
            return self.random.choice(fitting)
        if self.random.random() < 0.5:
            if found := self.bare_literal(family):
                return found
        kind = self.type_of(family)
        value = None if self.random.random() < 0.06 else value_of(kind, self.random)
        return constant(value, kind)

    def bare_literal(self, family: str) -> Node | None:
        draw = self.random
        if family == "number":
            value = draw.choice([0, 1, 2, 3, 7, 10, 100, 255, 40_000, 2**31 - 1])
            if draw.random() < 0.7:
                return whole(value)
            written = draw.choice(["1.5", "0.25", "2.0", "12.345", "999.99", "2147483648"])
            digits = written.replace(".", "").lstrip("0")
            scale = len(written.partition(".")[2])
            return Constant(written, decimal(max(len(digits), scale), scale), int(digits), is_literal=True)
        if family == "text":
            word = draw.choice([one for one in WORDS if one])
            kind = text(draw.choice(["varchar", "nvarchar"]), len(word))
            return Constant(literal(word, kind), kind, word, is_literal=True)
        if family == "binary":
            data = draw.randbytes(draw.randint(1, 4))
            return Constant("0x" + data.hex(), DataType("varbinary", size=len(data)), data, is_literal=True)
        return None

    def type_of(self, family: str) -> DataType:
        draw = self.random
        if family == "number":
            scale = draw.randint(0, 8)
            other = decimal(draw.randint(scale + 1, draw.choice([9, 18, 38])), scale)
            return draw.choice([BIT, TINYINT, SMALLINT, INT, INT, BIGINT, MONEY, SMALLMONEY, FLOAT, REAL, other, other, other])
        if family == "text":
            name = draw.choice(["char", "varchar", "varchar", "nchar", "nvarchar"])
            if name in ("varchar", "nvarchar") and draw.random() < 0.1:
                return text(name, MAX)
            return text(name, draw.choice([1, 3, 5, 12, 30]))
        if family == "binary":
            return DataType(draw.choice(["binary", "varbinary"]), size=draw.choice([1, 2, 4, 8]))
        return draw.choice([DATE, DATETIME, SMALLDATETIME, time(draw.randint(0, 7)), datetime2(draw.randint(0, 7))])

    # Numbers.

    def small(self, depth: int) -> Node:
        """A small int."""
        if self.random.random() < 0.8:
            return signed(self.random.choice([0, 1, 2, 3, 4, 12, 31, -1, 2024]))
        return self.integer(depth)

    def integer(self, depth: int) -> Node:
        """An int that is not large, because counts of dates and of characters are ints."""
        found = [one for one in self.columns if one.type in (TINYINT, SMALLINT)]
        if found and self.random.random() < 0.4:
            return self.random.choice(found)
        return signed(self.random.choice([0, 1, 5, 12, 40, 365, -1, -13, -366, 5000]))

    def numbers(self, depth: int) -> Node | None:
        draw = self.random
        choice = draw.randrange(20)
        if choice < 7:
            return operators.arithmetic(draw.choice("+-*/%"), self.of("number", depth), self.of("number", depth))
        if choice == 7:
            operand = self.of("number", depth)
            return None if operand.type.name == "bit" or is_bare(operand) else operators.minus(operand)
        if choice == 8:
            sides = [self.cast(self.of("number", depth), draw.choice([TINYINT, SMALLINT, INT, BIGINT])) for _ in range(2)]
            return operators.bits(draw.choice("&|^"), *sides)
        if choice == 9:
            return operators.complement(self.cast(self.of("number", depth), draw.choice([BIT, TINYINT, SMALLINT, INT])))
        if choice < 13:
            return self.function(functions.NUMBER_FUNCTIONS, depth)
        if choice == 13:
            named = [one for one in functions.TEXT_FUNCTIONS if one.make is not None]
            node = self.function(named, depth)
            return node if node and node.type.is_number else None
        if choice == 14:
            return self.function(functions.MOMENT_PARTS, depth)
        if choice < 17:
            return self.casting("number", depth)
        if choice == 17:
            return self.mixed(depth)
        return self.choosing("number", depth)

    def mixed(self, depth: int) -> Node | None:
        """Arithmetic of a number and a text, which becomes the number's type: of int and float alone, as money and
        decimal have texts with a scale of their own."""
        number = self.of("number", depth)
        if number.type not in (INT, BIGINT, FLOAT):
            return None
        words = [Constant(f"'{word}'", text("varchar", len(word)), word, True) for word in ("12", "7", "-3", " 5 ", "x", "1.5")]
        sides = [number, implicit(self.random.choice(words), number.type)]
        self.random.shuffle(sides)
        return operators.arithmetic(self.random.choice("+-*"), *sides)

    # Texts, moments, binaries.

    def texts(self, depth: int) -> Node | None:
        choice = self.random.randrange(12)
        if choice < 3:
            return operators.concatenation(self.of("text", depth), self.of("text", depth))
        if choice < 7:
            node = self.function(functions.TEXT_FUNCTIONS, depth)
            return node if node and node.type.is_text else None
        if choice == 7:
            return self.function(functions.MOMENT_NAMES, depth)
        return self.casting("text", depth) if choice < 10 else self.choosing("text", depth)

    def moments(self, depth: int) -> Node | None:
        choice = self.random.randrange(10)
        if choice < 5:
            return self.function(functions.MOMENT_FUNCTIONS, depth)
        return self.casting("moment", depth) if choice < 8 else self.choosing("moment", depth)

    def binaries(self, depth: int) -> Node | None:
        choice = self.random.randrange(6)
        if choice < 2:
            return operators.concatenation(self.of("binary", depth), self.of("binary", depth))
        if choice < 5:
            return self.casting("binary", depth)
        return self.choosing("binary", depth)

    def function(self, of: list[functions.Function], depth: int) -> Node | None:
        chosen = self.random.choice(of)
        return chosen.make(*(self.of(family, depth) for family in chosen.operands)) or None

    def casting(self, family: str, depth: int) -> Node | None:
        """CAST, CONVERT, and their forms with TRY_."""
        target = self.type_of(family)
        sources = {
            "number": ("number", "number", "text", "moment", "binary"),
            "text": ("text", "number", "moment", "binary"),
            "moment": ("moment", "moment", "text", "number"),
            "binary": ("binary", "text", "number"),
        }[family]
        operand = self.of(self.random.choice(sources), depth)
        return self.cast(operand, target) if is_convertible(operand.type, target) else None

    def cast(self, operand: Node, target: DataType) -> Node:
        form = self.random.choice(["CAST({0} AS %s)", "CONVERT(%s, {0})"])
        trying = self.random.random() < 0.25

        def apply(part: Callable[[], Outcome]) -> Outcome:
            found = part()
            if found.value in (None, ABSENT):
                return found
            try:
                return Outcome(convert(found.value, operand.type, target), found.errors)
            except Fault as fault:
                return Outcome(None, found.errors) if trying else Outcome(ABSENT, found.errors | fault.numbers)

        template = ("TRY_" if trying else "") + form % target
        return Apply(template, [operand], target, apply, strict=False)

    def choosing(self, family: str, depth: int) -> Node | None:
        draw = self.random
        operands = [self.of(family, depth) for _ in range(draw.choice([2, 2, 3]))]
        if not is_settled(operands):
            return None
        target = common([one.type for one in operands])
        choice = draw.randrange(5)
        if choice == 0:
            conditions = [self.condition(depth) for _ in operands[draw.choice([0, 1]) :]]
            return case(conditions, operands, target)
        if choice == 1:
            return iif(self.condition(depth), operands[0], operands[1], common([one.type for one in operands[:2]]))
        if choice == 2:
            return coalesce(operands, target)
        if choice == 3:
            # It is cut to the size of the first.
            return is_null(operands[0], operands[1]) if operands[0].type.size is not None or family != "text" else None
        kinds = [one.type for one in operands[:2]]
        return null_if(operands[0], operands[1], lambda outcomes: operators.compared_outcome("=", kinds, outcomes))

    # Conditions.

    def condition(self, depth: int) -> Node:
        draw = self.random
        choice = draw.randrange(10)
        if depth > 0 and choice < 3:
            join = draw.choice([conjunction, disjunction])
            return join(self.condition(depth - 1), self.condition(depth - 1))
        if depth > 0 and choice == 3:
            return negation(self.condition(depth - 1))
        family = draw.choices(FAMILIES, (5, 4, 3, 1))[0]
        value = self.of(family, depth - 1)
        if choice == 4:
            return operators.is_null_test(value, draw.random() < 0.5)
        if choice == 5 and family == "text":
            patterns = ("a%", "%b%", "_b%", "[a-c]%", "[^a]%", "%", "A_", "%[0-9]", "abc")
            return operators.like(value, draw.choice(patterns), draw.random() < 0.3)
        others = [self.of(family, depth - 1) for _ in range(2)]
        if not is_settled([value, *others]):
            others = [constant(value_of(value.type, draw), value.type) for _ in range(2)]
        if choice == 6:
            return operators.between(value, *others)
        if choice == 7:
            return operators.in_list(value, others, draw.random() < 0.4)
        return operators.comparison(draw.choice(SIGNS), value, others[0])


def whole(value: int) -> Constant:
    return Constant(str(value), INT, value, is_literal=True)


def signed(value: int) -> Node:
    return whole(value) if value >= 0 else Constant(f"({value})", INT, value)


def is_bare(node: Node) -> bool:
    """A minus before a literal is a part of it."""
    return isinstance(node, Constant) and node.is_literal


def is_settled(operands: list[Node]) -> bool:
    """Whether the documentation tells the common type, to the last digit."""
    types = [one.type for one in operands]
    names = {one.name for one in types}
    # A literal's digits count beside a decimal in arithmetic; whether here, too, is not told.
    if "decimal" in names and any(is_bare(one) and one.type.is_integer for one in operands):
        return False
    if any(one.name == "decimal" and one.precision is None for one in types):
        return False
    # Of three types at once it is not told, either.
    if "decimal" in names and names & {"money", "smallmoney"} and names & set(INTEGERS):
        return False
    # 1/300 of a second have no scale of their own.
    if "datetime" in names and names & {"datetime2", "time"}:
        return False
    if {"date", "time"} <= names or ("time" in names and names - {"time"}):
        return False
    return True


def is_convertible(source: DataType, target: DataType) -> bool:
    """What the table of "CAST and CONVERT" allows, without what has a form of its own."""
    pair = (source.family, target.family)
    if pair == ("moment", "moment"):
        return {source.name, target.name} != {"date", "time"} and not (source.name == "datetime" and target.name in ("datetime2", "time"))
    if pair in (("number", "moment"), ("moment", "number")):
        moment, number = (target, source) if pair[0] == "number" else (source, target)
        return moment.name in ("datetime", "smalldatetime") and number.name in ("int", "smallint", "decimal", "float")
    if pair in (("number", "binary"), ("binary", "number")):
        number = source if pair[0] == "number" else target
        return number.is_integer
    if pair in (("text", "binary"), ("binary", "text")):
        return pair == ("text", "binary")
    if pair == ("moment", "text"):
        # Cut texts of dates are errors for some types.
        return target.size in (30, MAX)
    if pair == ("number", "text") and source.is_float:
        return target.size in (30, MAX)
    return source.family in FAMILIES and target.family in FAMILIES and BOOLEAN not in (source, target)

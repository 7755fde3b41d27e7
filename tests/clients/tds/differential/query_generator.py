"""Random queries over three small tables, whose values meet often and are NULL often."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import operators
import relation
from data_type import DATE, DATETIME, FLOAT, INT, MONEY, SMALLINT, DataType, common, decimal, text
from expression import (
    Apply,
    Column,
    Node,
    Row,
    case,
    coalesce,
    conjunction,
    constant,
    disjunction,
    implicit,
    is_null,
    negation,
)
from functions import TEXT_FUNCTIONS
from generator import whole
from relation import Aggregate, Combined, Derived, Join, Pivot, Query, Recursive, Relation, Select, Table, Window

SHAPE = {"id": INT, "a": INT, "b": SMALLINT, "s": text("varchar", 8), "d": decimal(7, 2), "k": DATE}
# Each has a storage of its own: 18 digits and more, doubles, units of money, texts of dates.
SHAPE |= {"z": DataType("datetimeoffset", scale=0), "w": decimal(28, 4), "f": FLOAT, "m": MONEY, "t": DATETIME, "u": text("nvarchar", 6)}
NAMES = ("t1", "t2", "t3")
WORDS = ("", "a", "A", "ab", "AB ", "b", "c", "c ", "zz")
UPPER = next(one for one in TEXT_FUNCTIONS if one.operands == ("text",) and one.make(Column("x", SHAPE["s"])).template == "UPPER({0})")


def tables(random: Random) -> dict[str, list[Row]]:
    """Rows of each table; one may have none."""
    return {name: rows(random, random.choice([0, 1, 4, 6, 8, 9]) if name == "t3" else random.randint(4, 9)) for name in NAMES}


def rows(random: Random, count: int) -> list[Row]:
    def maybe(found: Any) -> Any:
        return None if random.random() < 0.2 else found

    return [
        {
            "id": number + 1,
            "a": maybe(random.randint(-2, 5)),
            "b": maybe(random.randint(0, 3)),
            "s": maybe(random.choice(WORDS)),
            "d": maybe(random.choice([0, 100, 150, -275, 1, 99_999, random.randint(-2000, 2000)])),
            "k": maybe(738_900 + random.randint(0, 4)),
            "z": maybe(((738_900 * 24 + random.randint(0, 3)) * 36_000_000_000, random.choice([0, 0, 60, -330]))),
            "w": maybe(random.choice([0, 10_000, 15_000, -27_500, 10**12 + 1, -(10**12), random.randint(-9, 9) * 10_000])),
            "f": maybe(random.choice([0.0, 1.0, 1.5, -2.75, 3.0, 1e10])),
            "m": maybe(random.choice([0, 10_000, 15_000, -27_500, 1, 20_000])),
            "t": maybe(45_300 * 25_920_000 + random.choice([0, 1, 2, 300, 25_920_000])),
            "u": maybe(random.choice(WORDS)),
        }
        for number in range(count)
    ]


INDEXES = ("(a)", "(s, b)", "(d DESC)", "(k)", "(b) INCLUDE (a)", "(a) WHERE b > 1", "(s) WHERE a IS NOT NULL", "(z)", "(w)", "(f, m)", "(t DESC)", "(u)")


def definition(data: dict[str, list[Row]], indexes: list[str]) -> str:
    """The batch that creates and fills the tables."""
    parts = []
    for name, made in data.items():
        columns = ", ".join(f"{one} {kind} {'NOT NULL PRIMARY KEY' if one == 'id' else 'NULL'}" for one, kind in SHAPE.items())
        parts.append(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns})")
        for row in made:
            values = ", ".join(constant(row[one], kind).sql() for one, kind in SHAPE.items())
            parts.append(f"INSERT {name} VALUES ({values})")
        parts += [f"CREATE INDEX i{number} ON {name} {index}" for number, index in enumerate(indexes)]
    return "; ".join(parts)


@dataclass(frozen=True)
class Statement:
    """A query with the common table expressions before it."""

    query: Query
    definitions: tuple[tuple[str, Any], ...] = ()

    @property
    def is_ordered(self) -> bool:
        return bool(getattr(self.query, "order", None)) and getattr(self.query, "top_words", "") != "WITH TIES"

    def sql(self) -> str:
        if not self.definitions:
            return self.query.sql()
        parts = []
        for name, query in self.definitions:
            columns = ", ".join(query.names)
            inside = query.definition() if isinstance(query, Recursive) else query.sql()
            parts.append(f"{name} ({columns}) AS ({inside})")
        return f"WITH {', '.join(parts)} {self.query.sql()}"


class QueryGenerator:
    def __init__(self, random: Random, data: dict[str, list[Row]]) -> None:
        self.random = random
        self.data = data
        self.number = 0

    def statement(self) -> Statement:
        draw = self.random
        choice = draw.randrange(12)
        if choice == 0:
            return self.with_recursion()
        if choice == 1:
            inner = self.select([], 1)
            source = Derived(inner, self._alias("q"), "cte")
            other = Derived(inner, self._alias("q"), "cte") if draw.random() < 0.5 else self.table()
            joined = Join("INNER", source, other, self.matching(source.columns, other.columns))
            return Statement(self.finished(self.plain(joined, [], 1)), (("cte", inner),))
        if choice == 2:
            return Statement(self.finished(self.pivoted()))
        if choice < 5:
            return Statement(self.finished(self.combined(2)))
        return Statement(self.finished(self.select([], 2)))

    def finished(self, query: Any) -> Any:
        """ORDER BY all columns, so that the order of rows is determined, and what depends on it."""
        draw = self.random
        if draw.random() < 0.6:
            places = list(range(len(query.names)))
            draw.shuffle(places)
            query.order = [(place, draw.random() < 0.4) for place in places]
            if draw.random() < 0.3:
                query.offset = (draw.randint(0, 3), draw.randint(1, 4))
            elif isinstance(query, Select) and draw.random() < 0.3:
                query.top, query.top_words = draw.randint(0, 4), draw.choice(["", "", "PERCENT", "WITH TIES"])
                if query.top_words == "PERCENT":
                    query.top = draw.choice([0, 10, 50, 99, 100])
                if query.top_words == "WITH TIES":
                    query.order = query.order[: draw.randint(1, len(query.order))]
        return query

    # Sources.

    def table(self) -> Table:
        name = self.random.choice(NAMES)
        return Table(name, self._alias("x"), SHAPE, self.data[name])

    def _alias(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.number}"

    def source(self, outer: list[Column], depth: int) -> Relation:
        draw = self.random
        if depth <= 0 or draw.random() < 0.3:
            return self.table()
        choice = draw.randrange(8)
        if choice == 0:
            return Derived(self.select([], depth - 1), self._alias("q"))
        left = self.source(outer, depth - 1)
        if choice == 1:
            inner = self.applied(left.columns)
            return Join(draw.choice(["CROSS APPLY", "OUTER APPLY"]), left, Derived(inner, self._alias("q")))
        right = self.table() if draw.random() < 0.7 else self.source(outer, depth - 1)
        if choice == 2:
            return Join("CROSS", self.table(), self.table())
        kind = draw.choice(["INNER", "LEFT", "LEFT", "RIGHT", "FULL"])
        return Join(kind, left, right, self.matching(left.columns, right.columns))

    def applied(self, outer: list[Column]) -> Select:
        """A query that refers to the rows on the left."""
        draw = self.random
        source = self.table()
        where = self.matching(outer, source.columns)
        query = Select(source, [*draw.sample(source.columns, 2), self.integer([*source.columns, *outer], 1)], where=where)
        if draw.random() < 0.4:
            query.order = [(place, draw.random() < 0.5) for place in range(3)]
            query.top = draw.randint(1, 2)
        return query

    def matching(self, left: list[Column], right: list[Column]) -> Node:
        pairs = [(a, b) for a in left for b in right if a.type == b.type]
        if self.random.random() < 0.2:
            pairs = [(a, b) for a in left for b in right if a.type.is_number and b.type.is_number]
        if not pairs:
            return operators.comparison("=", whole(1), whole(1))
        condition = operators.comparison(self.random.choice(["=", "=", "=", "<", ">="]), *self.random.choice(pairs))
        if self.random.random() < 0.3:
            condition = conjunction(condition, self.condition([*left, *right], 0))
        return condition

    # Expressions: none of them has errors.

    def of(self, columns: list[Column], family: str) -> list[Column]:
        return [one for one in columns if one.type.name == family]

    def integer(self, columns: list[Column], depth: int) -> Node:
        draw = self.random
        found = self.of(columns, "int") + self.of(columns, "smallint")
        if depth <= 0 or not found or draw.random() < 0.4:
            return draw.choice(found) if found and draw.random() < 0.8 else whole(draw.randint(0, 4))
        choice = draw.randrange(5)
        if choice == 0:
            return coalesce([implicit(self.integer(columns, depth - 1), INT), whole(draw.randint(0, 3))], INT)
        if choice == 1:
            sides = [self.integer(columns, depth - 1) for _ in range(2)]
            return case([self.condition(columns, depth - 1)], sides, common([one.type for one in sides]))
        if choice == 2:
            return is_null(draw.choice(found), whole(draw.randint(0, 3)))
        made = operators.arithmetic(draw.choice("+-"), self.integer(columns, depth - 1), whole(draw.randint(0, 3)))
        assert made
        return made

    def scalar(self, columns: list[Column], depth: int) -> Node:
        draw = self.random
        choice = draw.randrange(6)
        texts, decimals = self.of(columns, "varchar"), self.of(columns, "decimal")
        if choice == 0 and texts:
            return UPPER.make(draw.choice(texts))
        if choice == 1 and decimals:
            sides = [draw.choice(decimals), self.integer(columns, 0) if draw.random() < 0.6 else draw.choice(decimals)]
            return operators.arithmetic(draw.choice("+-*"), *sides) or whole(1)
        if choice == 2 and columns and depth > 1 and draw.random() < 0.3:
            return relation.single(self.counted(columns))
        if choice < 4 and columns:
            return draw.choice(columns)
        return self.integer(columns, depth)

    def counted(self, outer: list[Column]) -> Select:
        """An aggregate of the rows of a table that match a row of the outer query."""
        source = self.table()
        operand = self.random.choice(self.of(source.columns, "int"))
        aggregate = Aggregate(self.random.choice(["MAX", "MIN", "COUNT", "SUM"]), operand)
        where = self.matching(outer, source.columns)
        return Select(source, [aggregate.column()], where=where, groups=[], sets=[()], aggregates=[aggregate])

    def condition(self, columns: list[Column], depth: int) -> Node:
        draw = self.random
        choice = draw.randrange(9)
        if depth > 0 and choice < 3:
            sides = [self.condition(columns, depth - 1) for _ in range(2)]
            return draw.choice([conjunction, disjunction])(*sides)
        if depth > 0 and choice == 3:
            return negation(self.condition(columns, depth - 1))
        if depth > 0 and choice < 6:
            return self.subquery(columns)
        found = draw.choice(columns)
        if choice == 6:
            return operators.is_null_test(found, draw.random() < 0.5)
        if found.type.name == "varchar":
            if draw.random() < 0.4:
                return operators.like(found, draw.choice(["a%", "%b", "_", "[a-b]%"]), draw.random() < 0.3)
            other = constant(draw.choice(WORDS), found.type)
        elif found.type.is_integer:
            other = self.integer(columns, 1)
        else:
            same = [one for one in columns if one.type == found.type]
            if found.type.is_number and draw.random() < 0.5:
                same = [one for one in columns if one.type.is_number]
            other = draw.choice(same)
        if choice == 7 and found.type.is_integer:
            return operators.in_list(found, [whole(draw.randint(-1, 4)) for _ in range(3)], draw.random() < 0.4)
        return operators.comparison(draw.choice(list(operators.COMPARISONS)), found, other)

    def subquery(self, outer: list[Column]) -> Node:
        draw = self.random
        source = self.table()
        where = self.matching(outer, source.columns) if draw.random() < 0.6 else None
        integers = self.of(source.columns, "int")
        query = Select(source, [draw.choice(integers)], where=where)
        choice = draw.randrange(5)
        operand = self.integer(outer, 1)
        if choice == 0:
            return relation.exists(query, draw.random() < 0.4)
        if choice < 3:
            return relation.in_query(operand, query, draw.random() < 0.5)
        if choice == 3:
            return relation.compared(operand, query, draw.choice(["=", "<>", "<", ">", "<=", ">="]), draw.choice(["ANY", "ALL"]))
        return operators.comparison(draw.choice(["=", "<", ">="]), operand, relation.single(self.counted(outer)))

    # Queries.

    def select(self, outer: list[Column], depth: int) -> Select:
        source = self.source(outer, depth)
        choice = self.random.randrange(8)
        if choice < 3:
            return self.grouped(source, outer, depth)
        if choice == 3:
            return self.windowed()
        return self.plain(source, outer, depth)

    def plain(self, source: Relation, outer: list[Column], depth: int) -> Select:
        draw = self.random
        columns = source.columns
        items = [self.scalar(columns, 2) for _ in range(draw.randint(1, 4))]
        where = self.condition(columns, depth) if draw.random() < 0.6 else None
        return Select(source, items, where=where, distinct=draw.random() < 0.25)

    def aggregate(self, columns: list[Column]) -> Aggregate:
        draw = self.random
        numbers = [one for one in columns if one.type.is_number and one.type.name != "tinyint"]
        choice = draw.randrange(7)
        if choice == 0 or not numbers:
            return Aggregate(draw.choice(["COUNT", "COUNT_BIG"]))
        if choice == 1:
            return Aggregate("COUNT", draw.choice(columns), draw.random() < 0.5)
        if choice == 2:
            return Aggregate(draw.choice(["MIN", "MAX"]), draw.choice(columns))
        operand = draw.choice(numbers) if draw.random() < 0.7 else self.integer(columns, 1)
        # How an average of money is rounded is not told.
        return Aggregate("SUM" if operand.type.is_money else draw.choice(["SUM", "AVG"]), operand, draw.random() < 0.2)

    def grouped(self, source: Relation, outer: list[Column], depth: int) -> Select:
        draw = self.random
        columns = source.columns
        groups = draw.sample(columns, min(draw.randint(0, 3), len(columns)))
        aggregates = [self.aggregate(columns) for _ in range(draw.randint(1, 3))]
        query = Select(source, [], groups=groups, aggregates=aggregates)
        if draw.random() < 0.2:
            node = operators.arithmetic(draw.choice("+-"), draw.choice(self.of(columns, "int") or [whole(1)]), whole(1))
            if node and not isinstance(node, Column) and node.columns():
                groups.append(Column(node.sql(), node.type))
                query.computed[node.sql()] = node
        if isinstance(source, Table) and draw.random() < 0.2:
            aggregates.append(Aggregate("STRING_AGG", self.of(columns, "varchar")[0], within=source.columns[0]))
        names = ", ".join(one.name for one in groups)
        form = draw.randrange(6) if groups else 0
        query.sets, query.grouping = [tuple(range(len(groups)))], names
        if form == 3:
            query.sets, query.grouping = relation.rollup(len(groups)), f"ROLLUP ({names})"
        elif form == 4:
            query.sets, query.grouping = relation.cube(len(groups)), f"CUBE ({names})"
        elif form == 5:
            every = relation.cube(len(groups))
            query.sets = draw.sample(every, draw.randint(1, len(every)))
            inside = ", ".join("(" + ", ".join(groups[place].name for place in one) + ")" for one in query.sets)
            query.grouping = f"GROUPING SETS ({inside})"
            # A column that is in no set is not one of GROUP BY.
            used = sorted({place for one in query.sets for place in one})
            groups = [groups[place] for place in used]
        keys = [is_null(one, whole(9)) if one.type.is_integer and draw.random() < 0.2 else one for one in groups]
        query.items = [*keys, *(one.column() for one in aggregates)]
        if form >= 3:
            query.items += [Column(f"GROUPING({one.name})", DataType("tinyint"), None) for one in groups]
        if draw.random() < 0.6:
            query.where = self.condition(columns, depth)
        if draw.random() < 0.3:
            query.having = operators.comparison(draw.choice([">", "<=", "<>"]), Aggregate("COUNT").column(), whole(draw.randint(0, 2)))
            query.aggregates = [*aggregates, Aggregate("COUNT")]
        return query

    def windowed(self) -> Select:
        """Over one table, whose key makes each order total."""
        draw = self.random
        source = self.table()
        columns = source.columns
        windows = [self.window(columns) for _ in range(draw.randint(1, 3))]
        items: list[Node] = [columns[0], *(one.column() for one in windows)]
        where = self.condition(columns, 1) if draw.random() < 0.4 else None
        return Select(source, items, where=where, windows=windows)

    def window(self, columns: list[Column]) -> Window:
        draw = self.random
        partition = draw.sample(columns[1:], draw.randint(0, 2))
        order = [(one, draw.random() < 0.5) for one in draw.sample(columns[1:], draw.randint(0, 2))]
        function = draw.choice([*relation.RANKINGS, "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "SUM", "AVG", "COUNT", "MIN", "MAX"])
        numbers = [one for one in columns if one.type.is_number]
        total = [*order, (columns[0], draw.random() < 0.5)]
        if function in ("RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"):
            return Window(function, None, partition, order or total)
        if function in ("ROW_NUMBER", "NTILE"):
            return Window(function, None, partition, total, count=draw.randint(1, 4))
        if function in ("LAG", "LEAD"):
            return Window(function, draw.choice(columns), partition, total, count=draw.randint(0, 2))
        operand = draw.choice(numbers if function in ("SUM", "AVG") else columns)
        function = "SUM" if function == "AVG" and operand.type.is_money else function
        if draw.random() < 0.4:
            frame = draw.choice([(None, 0), (1, 1), (None, None), (2, 0), (0, None), (0, 1)])
            return Window(function, operand, partition, total, frame)
        if function in ("FIRST_VALUE", "LAST_VALUE"):
            return Window(function, operand, partition, total)
        return Window(function, operand, partition, order)

    def combined(self, depth: int) -> Combined | Select:
        """Sides with the same families of types."""
        draw = self.random
        left = self.plain(self.source([], 1), [], 1)
        right_source = self.source([], 1)
        items: list[Node] = []
        for item in left.items:
            fitting = [one for one in right_source.columns if one.type.family == item.type.family]
            items.append(draw.choice(fitting) if fitting else constant(None, item.type))
        right = Select(right_source, items)
        word = draw.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
        made = Combined(word, left, right)
        if depth > 1 and draw.random() < 0.3:
            third_source = self.table()
            third = Select(third_source, [self._like(one, third_source) for one in made.types])
            made = Combined(draw.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]), made, third)
        return made

    def _like(self, kind: DataType, source: Relation) -> Node:
        fitting = [one for one in source.columns if one.type.family == kind.family]
        return self.random.choice(fitting) if fitting else constant(None, kind)

    def pivoted(self) -> Select:
        draw = self.random
        table = self.table()
        by_name = {one.name.rpartition(".")[2]: one for one in table.columns}
        inner = Select(table, [by_name["b"], by_name[draw.choice(["a", "d"])], by_name[draw.choice(["s", "k"])]])
        source = Derived(inner, self._alias("q"))
        function = draw.choice(["SUM", "COUNT", "MIN", "MAX", "AVG"])
        by, of, _ = (one.name for one in source.columns)
        pivot = Pivot(source, function, of, by, [0, 1, 2], self._alias("p"))
        return Select(pivot, list(pivot.columns))

    def with_recursion(self) -> Statement:
        """Rows that lead from id to a, upwards alone, so that there is an end."""
        draw = self.random
        table = self.table()
        by_name = {one.name.rpartition(".")[2]: one for one in table.columns}
        level = Apply("CAST({0} AS int)", [whole(0)], INT, lambda found: found)
        anchor = Select(table, [by_name["id"], by_name["a"], level], where=operators.comparison("<=", by_name["id"], whole(draw.randint(1, 3))))
        inner = self.table()
        inner_names = {one.name.rpartition(".")[2]: one for one in inner.columns}

        def step(previous: Relation) -> Select:
            first, second, depth = previous.columns
            on = operators.comparison("=", inner_names["a"], first)
            upwards = operators.comparison(">", inner_names["id"], first)
            joined = Join("INNER", previous, inner, conjunction(on, upwards))
            return Select(joined, [inner_names["id"], inner_names["a"], operators.arithmetic("+", depth, whole(1)) or depth])

        recursive = Recursive("rec", anchor, step)
        outer = Derived(recursive, self._alias("q"), "rec")
        return Statement(self.finished(Select(outer, list(outer.columns))), (("rec", recursive),))

"""Queries over small tables: each writes itself as T-SQL and computes its rows, clause after clause as "SELECT" orders them.

A column's name is what T-SQL calls it, such as `x1.a`, `SUM(x1.a)` or a window function's whole text; a row maps such names to
values. A row of an outer query is passed inwards, where its names are known, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol

import operators
from conversion import Fault, convert
from data_type import BOOLEAN, INT, DataType, common
from expression import ABSENT, Column, Node, Outcome, Row

NOTHING: Row = {}


class Relation(Protocol):
    """What stands in FROM."""

    columns: list[Column]

    def sql(self) -> str: ...

    def rows(self, outer: Row) -> list[Row]: ...


class Query(Protocol):
    """What has named columns: a SELECT, or several with UNION."""

    @property
    def names(self) -> list[str]: ...

    @property
    def types(self) -> list[DataType]: ...

    def sql(self) -> str: ...

    def rows(self, outer: Row) -> list[tuple]: ...


def value(node: Node, row: Row) -> Any:
    """The value, or the error that it has for certain."""
    outcome = node.outcome(row)
    if outcome.value is ABSENT:
        raise Fault(*outcome.errors)
    return outcome.value


def key(found: Any, kind: DataType) -> Any:
    """What a value is grouped by."""
    return None if found is None else operators.key(found, kind)


def order_key(found: Any, kind: DataType) -> tuple:
    """NULL comes first."""
    return (0,) if found is None else (1, operators.key(found, kind))


@dataclass
class Table:
    """A table under an alias; `data` has its columns without it."""

    name: str
    alias: str
    shape: dict[str, DataType]
    data: list[Row]

    def __post_init__(self) -> None:
        self.columns = [Column(f"{self.alias}.{name}", kind) for name, kind in self.shape.items()]

    def sql(self) -> str:
        return f"{self.name} AS {self.alias}"

    def rows(self, outer: Row) -> list[Row]:
        return [{f"{self.alias}.{name}": found for name, found in row.items()} for row in self.data]


@dataclass
class Derived:
    """A query in FROM; a common table expression, where it has a name."""

    query: Query
    alias: str
    name: str = ""

    def __post_init__(self) -> None:
        self.columns = [Column(f"{self.alias}.{n}", t) for n, t in zip(self.query.names, self.query.types, strict=True)]

    def sql(self) -> str:
        return f"{self.name} AS {self.alias}" if self.name else f"({self.query.sql()}) AS {self.alias}"

    def rows(self, outer: Row) -> list[Row]:
        names = [one.name for one in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.query.rows(outer)]


@dataclass
class Join:
    """INNER, LEFT, RIGHT, FULL and CROSS JOIN, CROSS and OUTER APPLY."""

    kind: str
    left: Relation
    right: Relation
    on: Node | None = None

    def __post_init__(self) -> None:
        self.columns = [*self.left.columns, *self.right.columns]

    def sql(self) -> str:
        words = self.kind if self.kind.endswith("APPLY") else f"{self.kind} JOIN"
        right = f"({self.right.sql()})" if isinstance(self.right, Join) else self.right.sql()
        return f"{self.left.sql()} {words} {right}" + (f" ON {self.on.sql()}" if self.on else "")

    def rows(self, outer: Row) -> list[Row]:
        lefts = self.left.rows(outer)
        made: list[Row] = []
        if self.kind.endswith("APPLY"):
            for left in lefts:
                found = self.right.rows(outer | left)
                made += [left | right for right in found or self._absent(self.right, self.kind == "OUTER APPLY")]
            return made
        rights = self.right.rows(outer)
        met: set[int] = set()
        for left in lefts:
            matches = [i for i, right in enumerate(rights) if self._is_match(outer | left | right)]
            met.update(matches)
            made += [left | rights[i] for i in matches]
            if not matches and self.kind in ("LEFT", "FULL"):
                made += [left | absent for absent in self._absent(self.right, True)]
        if self.kind in ("RIGHT", "FULL"):
            unmet = [right for i, right in enumerate(rights) if i not in met]
            made += [absent | right for right in unmet for absent in self._absent(self.left, True)]
        return made

    def _is_match(self, row: Row) -> bool:
        return self.on is None or value(self.on, row) is True

    @staticmethod
    def _absent(side: Relation, is_kept: bool) -> list[Row]:
        return [{one.name: None for one in side.columns}] if is_kept else []


@dataclass
class Pivot:
    """`source PIVOT (aggregate(of) FOR by IN ([v], ..)) AS alias`: groups by the columns that it does not name."""

    source: Derived
    aggregate: str
    of: str
    by: str
    values: list[int]
    alias: str

    def __post_init__(self) -> None:
        plain = [one for one in self.source.columns if one.name not in (self.of, self.by)]
        self.groups = plain
        operand = next(one for one in self.source.columns if one.name == self.of)
        self.computed = Aggregate(self.aggregate, operand)
        self.columns = [Column(f"{self.alias}.{bare(one.name)}", one.type) for one in plain]
        self.columns += [Column(f"{self.alias}.[{number}]", self.computed.type) for number in self.values]

    def sql(self) -> str:
        places = ", ".join(f"[{number}]" for number in self.values)
        return f"{self.source.sql()} PIVOT ({self.aggregate}({bare(self.of)}) FOR {bare(self.by)} IN ({places})) AS {self.alias}"

    def rows(self, outer: Row) -> list[Row]:
        grouped: dict[tuple, list[Row]] = {}
        for row in self.source.rows(outer):
            grouped.setdefault(tuple(key(row[one.name], one.type) for one in self.groups), []).append(row)
        made = []
        for members in grouped.values():
            made_row = {f"{self.alias}.{bare(one.name)}": members[0][one.name] for one in self.groups}
            for number in self.values:
                of_value = [row for row in members if row[self.by] == number]
                made_row[f"{self.alias}.[{number}]"] = self.computed.compute(of_value)
            made.append(made_row)
        return made


def bare(name: str) -> str:
    return name.rpartition(".")[2]


@dataclass
class Aggregate:
    """An aggregate of a group's rows."""

    function: str
    operand: Node | None = None
    distinct: bool = False
    separator: str = ","
    within: Column | None = None

    @property
    def name(self) -> str:
        if self.function == "STRING_AGG":
            return f"STRING_AGG({self.operand.sql()}, '{self.separator}') WITHIN GROUP (ORDER BY {self.within.sql()})"
        return f"{self.function}({'DISTINCT ' if self.distinct else ''}{self.operand.sql() if self.operand else '*'})"

    @property
    def type(self) -> DataType:
        if self.function in ("COUNT", "COUNT_BIG"):
            return DataType("int" if self.function == "COUNT" else "bigint")
        kind = self.operand.type
        if self.function == "STRING_AGG":
            return DataType("varchar", size=8000)
        if self.function in ("MIN", "MAX"):
            return kind
        if kind.name in ("float", "money"):
            return kind
        if kind.name == "decimal":
            return DataType("decimal", precision=38, scale=kind.scale if self.function == "SUM" else max(kind.scale, 6))
        return INT if kind.name in ("smallint", "tinyint") else kind

    def column(self) -> Column:
        return Column(self.name, self.type, None)

    def compute(self, rows: Sequence[Row]) -> Any:
        if self.operand is None:
            return len(rows)
        pairs = [(row, value(self.operand, row)) for row in rows]
        kind = self.operand.type
        found = [one for _, one in pairs if one is not None]
        if self.distinct:
            found = list({operators.key(one, kind): one for one in found}.values())
        if self.function in ("COUNT", "COUNT_BIG"):
            return len(found)
        if not found:
            return None
        if self.function == "STRING_AGG":
            ordered = sorted(pairs, key=lambda pair: order_key(pair[0][self.within.name], self.within.type))
            return self.separator.join(one for _, one in ordered if one is not None)
        if self.function in ("MIN", "MAX"):
            choose = min if self.function == "MIN" else max
            return choose(found, key=lambda one: operators.key(one, kind))
        if kind.is_float:
            return sum(found) / (len(found) if self.function == "AVG" else 1)
        total = in_type(sum(found), DataType(self.type.name, precision=38, scale=kind.scale))
        if self.function == "SUM":
            return total
        unit = 10 ** (self.type.scale - kind.scale)
        magnitude = abs(total) * unit // len(found)
        return magnitude if total >= 0 else -magnitude


def in_type(total: int, kind: DataType) -> int:
    smallest, largest = kind.limits
    if not smallest <= total <= largest:
        raise Fault(8115)
    return total


@dataclass
class Window:
    """A window function over the rows of a query: its text is its name."""

    function: str
    operand: Node | None
    partition: list[Column]
    order: list[tuple[Column, bool]]
    # ROWS BETWEEN n PRECEDING AND m FOLLOWING; `None` is without an end. Without a frame: RANGE to the current row.
    frame: tuple[int | None, int | None] | None = None
    count: int = 1

    @property
    def name(self) -> str:
        inside = []
        if self.partition:
            inside.append("PARTITION BY " + ", ".join(one.name for one in self.partition))
        if self.order:
            inside.append("ORDER BY " + ", ".join(one.name + (" DESC" if down else "") for one, down in self.order))
        if self.frame:
            inside.append(f"ROWS BETWEEN {bound(self.frame[0], 'PRECEDING')} AND {bound(self.frame[1], 'FOLLOWING')}")
        return f"{self._call()} OVER ({' '.join(inside)})"

    def _call(self) -> str:
        if self.function in RANKINGS:
            return f"{self.function}()"
        if self.function == "NTILE":
            return f"NTILE({self.count})"
        operand = self.operand.sql() if self.operand else "*"
        return f"{self.function}({operand}, {self.count})" if self.function in ("LAG", "LEAD") else f"{self.function}({operand})"

    @property
    def type(self) -> DataType:
        if self.function in (*RANKINGS, "NTILE"):
            return DataType("float" if self.function in ("PERCENT_RANK", "CUME_DIST") else "bigint")
        if self.function in ("LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE"):
            return self.operand.type
        return Aggregate(self.function, self.operand).type

    def column(self) -> Column:
        return Column(self.name, self.type, None)

    def extend(self, rows: list[Row]) -> None:
        """Gives each row its value."""
        parts: dict[tuple, list[Row]] = {}
        for row in rows:
            parts.setdefault(tuple(key(row[one.name], one.type) for one in self.partition), []).append(row)
        for part in parts.values():
            ordered = sorted_rows(part, self.order)
            keys = [tuple(key(row[one.name], one.type) for one, _ in self.order) for row in ordered]
            for index, row in enumerate(ordered):
                row[self.name] = self._value(ordered, keys, index)

    def _value(self, rows: list[Row], keys: list[tuple], index: int) -> Any:
        first, last = keys.index(keys[index]), len(keys) - 1 - keys[::-1].index(keys[index])
        count = len(rows)
        if self.function in RANKINGS:
            return {
                "ROW_NUMBER": index + 1,
                "RANK": first + 1,
                "DENSE_RANK": len(set(keys[: first + 1])),
                "PERCENT_RANK": first / (count - 1) if count > 1 else 0.0,
                "CUME_DIST": (last + 1) / count,
            }[self.function]
        if self.function == "NTILE":
            size, larger = divmod(count, self.count)
            edge = larger * (size + 1)
            return index // (size + 1) + 1 if index < edge else larger + (index - edge) // size + 1
        if self.function in ("LAG", "LEAD"):
            other = index + (self.count if self.function == "LEAD" else -self.count)
            return value(self.operand, rows[other]) if 0 <= other < count else None
        frame = self._frame(rows, index, last)
        if self.function in ("FIRST_VALUE", "LAST_VALUE"):
            return value(self.operand, frame[0 if self.function == "FIRST_VALUE" else -1]) if frame else None
        return Aggregate(self.function, self.operand).compute(frame)

    def _frame(self, rows: list[Row], index: int, last: int) -> list[Row]:
        if not self.order:
            return rows
        if not self.frame:
            return rows[: last + 1]
        before, behind = self.frame
        begin = 0 if before is None else max(index - before, 0)
        return rows[begin : len(rows) if behind is None else max(index + behind + 1, 0)]


RANKINGS = ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")


def bound(count: int | None, word: str) -> str:
    return f"UNBOUNDED {word}" if count is None else "CURRENT ROW" if count == 0 else f"{count} {word}"


def sorted_rows(rows: list[Row], order: list[tuple[Column, bool]]) -> list[Row]:
    for column, down in reversed(order):
        rows = sorted(rows, key=lambda row: order_key(row[column.name], column.type), reverse=down)
    return rows


@dataclass
class Select:
    """One SELECT. `items` are named c1, c2 ..; `order` has their numbers."""

    source: Relation
    items: list[Node]
    where: Node | None = None
    # Each set of GROUP BY has the places of its columns among `groups`.
    groups: list[Column] | None = None
    sets: list[tuple[int, ...]] = field(default_factory=list)
    grouping: str = ""
    aggregates: list[Aggregate] = field(default_factory=list)
    # Expressions among the groups: their texts are their names.
    computed: dict[str, Node] = field(default_factory=dict)
    having: Node | None = None
    windows: list[Window] = field(default_factory=list)
    distinct: bool = False
    order: list[tuple[int, bool]] = field(default_factory=list)
    top: int | None = None
    # PERCENT, or WITH TIES.
    top_words: str = ""
    offset: tuple[int, int] | None = None

    @property
    def names(self) -> list[str]:
        return [f"c{number + 1}" for number in range(len(self.items))]

    @property
    def types(self) -> list[DataType]:
        return [one.type for one in self.items]

    def sql(self) -> str:
        words = ["SELECT"]
        if self.distinct:
            words.append("DISTINCT")
        if self.top is not None:
            words.append(f"TOP ({self.top}) {self.top_words}".rstrip())
        words.append(", ".join(f"{one.sql()} AS {name}" for one, name in zip(self.items, self.names, strict=True)))
        words.append(f"FROM {self.source.sql()}")
        if self.where:
            words.append(f"WHERE {self.where.sql()}")
        if self.grouping:
            words.append(f"GROUP BY {self.grouping}")
        if self.having:
            words.append(f"HAVING {self.having.sql()}")
        if self.order:
            words.append("ORDER BY " + ", ".join(f"c{place + 1}{' DESC' if down else ''}" for place, down in self.order))
        if self.offset:
            words.append(f"OFFSET {self.offset[0]} ROWS FETCH NEXT {self.offset[1]} ROWS ONLY")
        return " ".join(words)

    def rows(self, outer: Row) -> list[tuple]:
        rows = [outer | row for row in self.source.rows(outer)]
        if self.where:
            rows = [row for row in rows if value(self.where, row) is True]
        if self.groups is not None:
            for row in rows if self.computed else []:
                row |= {name: value(node, row) for name, node in self.computed.items()}
            rows = self._grouped(rows, outer)
        if self.having:
            rows = [row for row in rows if value(self.having, row) is True]
        for window in self.windows:
            window.extend(rows)
        made = [tuple(value(one, row) for one in self.items) for row in rows]
        return limited(distinct(made, self.types) if self.distinct else made, self)

    def _grouped(self, rows: list[Row], outer: Row) -> list[Row]:
        made = []
        for places in self.sets:
            grouped: dict[tuple, list[Row]] = {} if places else {(): []}
            columns = [self.groups[place] for place in places]
            for row in rows:
                grouped.setdefault(tuple(key(row[one.name], one.type) for one in columns), []).append(row)
            for members in grouped.values():
                row = dict(outer)
                for place, one in enumerate(self.groups):
                    row[one.name] = members[0][one.name] if place in places else None
                    row[f"GROUPING({one.name})"] = 0 if place in places else 1
                row |= {one.name: one.compute(members) for one in self.aggregates}
                made.append(row)
        return made


def distinct(rows: list[tuple], types: list[DataType]) -> list[tuple]:
    found: dict[tuple, tuple] = {}
    for row in rows:
        found.setdefault(row_key(row, types), row)
    return list(found.values())


def row_key(row: tuple, types: list[DataType]) -> tuple:
    return tuple(key(one, kind) for one, kind in zip(row, types, strict=True))


def limited(rows: list[tuple], query: Any) -> list[tuple]:
    """ORDER BY, TOP and OFFSET."""
    for place, down in reversed(query.order):
        rows = sorted(rows, key=lambda row: order_key(row[place], query.types[place]), reverse=down)
    if query.top is not None:
        words = getattr(query, "top_words", "")
        count = -(-len(rows) * query.top // 100) if words == "PERCENT" else query.top
        if words == "WITH TIES" and 0 < count < len(rows):
            last = [key(rows[count - 1][place], query.types[place]) for place, _ in query.order]
            while count < len(rows) and [key(rows[count][place], query.types[place]) for place, _ in query.order] == last:
                count += 1
        rows = rows[:count]
    if query.offset:
        rows = rows[query.offset[0] :][: query.offset[1]]
    return rows


@dataclass
class Combined:
    """UNION [ALL], EXCEPT, INTERSECT."""

    word: str
    left: Query
    right: Query
    order: list[tuple[int, bool]] = field(default_factory=list)
    top: None = None
    offset: tuple[int, int] | None = None

    @property
    def names(self) -> list[str]:
        return self.left.names

    @property
    def types(self) -> list[DataType]:
        return [common([a, b]) for a, b in zip(self.left.types, self.right.types, strict=True)]

    def sql(self) -> str:
        sides = [f"({one.sql()})" if isinstance(one, Combined) else one.sql() for one in (self.left, self.right)]
        text = f"{sides[0]} {self.word} {sides[1]}"
        if self.order:
            text += " ORDER BY " + ", ".join(f"c{place + 1}{' DESC' if down else ''}" for place, down in self.order)
        if self.offset:
            text += f" OFFSET {self.offset[0]} ROWS FETCH NEXT {self.offset[1]} ROWS ONLY"
        return text

    def rows(self, outer: Row) -> list[tuple]:
        left, right = (self._side(one, outer) for one in (self.left, self.right))
        if self.word == "UNION ALL":
            return limited(left + right, self)
        if self.word == "UNION":
            return limited(distinct(left + right, self.types), self)
        others = {row_key(row, self.types) for row in right}
        wanted = self.word == "INTERSECT"
        return limited([row for row in distinct(left, self.types) if (row_key(row, self.types) in others) == wanted], self)

    def _side(self, query: Query, outer: Row) -> list[tuple]:
        kinds = list(zip(query.types, self.types, strict=True))
        return [tuple(convert(one, a, b) for one, (a, b) in zip(row, kinds, strict=True)) for row in query.rows(outer)]


@dataclass
class Recursive:
    """`WITH name AS (anchor UNION ALL step)`, whose step reads the rows of the step before."""

    name: str
    anchor: Select
    step: Callable[[Relation], Select]
    previous: list[tuple] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return self.anchor.names

    @property
    def types(self) -> list[DataType]:
        return self.anchor.types

    def definition(self) -> str:
        return f"{self.anchor.sql()} UNION ALL {self.step(self._last()).sql()}"

    def _last(self) -> Derived:
        return Derived(Fixed(self.names, self.types, self.previous), "rec", self.name)

    def rows(self, outer: Row) -> list[tuple]:
        self.previous = self.anchor.rows(outer)
        made = list(self.previous)
        while self.previous:
            self.previous = self.step(self._last()).rows(outer)
            made += self.previous
        return made

    def sql(self) -> str:
        return f"SELECT * FROM {self.name}"


@dataclass
class Fixed:
    """Rows that are there."""

    names: list[str]
    types: list[DataType]
    data: list[tuple]

    def sql(self) -> str:
        raise NotImplementedError

    def rows(self, outer: Row) -> list[tuple]:
        return self.data


# Subqueries in expressions.


class Subquery(Node):
    """EXISTS, IN, ANY, ALL, or a value."""

    def __init__(self, template: str, query: Query, operand: Node | None, kind: DataType, apply: Callable) -> None:
        self.template, self.query, self.operand, self.type, self.apply = template, query, operand, kind, apply
        self.operands = [operand] if operand else []

    def sql(self, column: Callable[[str], str] = str) -> str:
        operand = self.operand.sql(column) if self.operand else ""
        return self.template.format(operand, self.query.sql())

    def outcome(self, row: Row) -> Outcome:
        try:
            operand = value(self.operand, row) if self.operand else None
            return Outcome(self.apply(operand, self.query.rows(row)))
        except Fault as fault:
            return Outcome(ABSENT, fault.numbers)


def exists(query: Query, inverted: bool) -> Node:
    word = "NOT EXISTS" if inverted else "EXISTS"
    return Subquery(f"({word} ({{1}}))", query, None, BOOLEAN, lambda _, rows: bool(rows) != inverted)


def in_query(operand: Node, query: Query, inverted: bool) -> Node:
    equal = quantified(operand, query, "=", "ANY")
    word = "NOT IN" if inverted else "IN"

    def apply(found: Any, rows: list[tuple]) -> Any:
        truth = equal(found, rows)
        return truth if truth is None else truth != inverted

    return Subquery(f"({{0}} {word} ({{1}}))", query, operand, BOOLEAN, apply)


def compared(operand: Node, query: Query, sign: str, word: str) -> Node:
    return Subquery(f"({{0}} {sign} {word} ({{1}}))", query, operand, BOOLEAN, quantified(operand, query, sign, word))


def quantified(operand: Node, query: Query, sign: str, word: str) -> Callable[[Any, list[tuple]], Any]:
    compare = operators.comparer(operand.type, query.types[0], sign)

    def apply(found: Any, rows: list[tuple]) -> Any:
        verdicts = [None if found is None or row[0] is None else compare(found, row[0]) for row in rows]
        decisive = word == "ANY"
        if decisive in verdicts:
            return decisive
        return None if None in verdicts else not decisive

    return apply


def single(query: Query) -> Node:
    """A query's only value; 512 for more rows than one."""

    def apply(_: Any, rows: list[tuple]) -> Any:
        if len(rows) > 1:
            raise Fault(512)
        return rows[0][0] if rows else None

    return Subquery("({1})", query, None, query.types[0], apply)


def rollup(count: int) -> list[tuple[int, ...]]:
    return [tuple(range(size)) for size in range(count, -1, -1)]


def cube(count: int) -> list[tuple[int, ...]]:
    return [tuple(i for i, kept in enumerate(chosen) if kept) for chosen in product([True, False], repeat=count)]



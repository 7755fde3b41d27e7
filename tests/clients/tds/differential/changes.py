"""Random INSERT, UPDATE, DELETE and MERGE with OUTPUT: what the statement outputs, and what the table is afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import operators
from conversion import Fault, convert
from expression import Column, Node, Row
from generator import whole
from query_generator import NAMES, SHAPE, QueryGenerator
from relation import Select, Table, Window, value

# The OUTPUT of each kind of statement; in the place behind it there may be INTO.
PLACE = "/* into */"
UPDATED = "OUTPUT deleted.id, deleted.a, inserted.a, inserted.b"
DELETED = "OUTPUT deleted.id, deleted.s"
INSERTED = "OUTPUT inserted.id, inserted.a, inserted.s, inserted.d"
MERGED = "OUTPUT $action, deleted.id, inserted.id, inserted.a"
# The columns of what they output.
OUTPUT_TYPES = {
    UPDATED: "c1 int, c2 int, c3 int, c4 smallint",
    DELETED: "c1 int, c2 varchar(8)",
    INSERTED: "c1 int, c2 int, c3 varchar(8), c4 decimal(7, 2)",
    MERGED: "c1 nvarchar(10), c2 int, c3 int, c4 int",
}
# What the clauses of a change set.
SETTABLE = ("a", "b", "s", "d")


# What a statement does: the rows that it outputs, the rows that the table has then, and each changed row before and after.
Done = tuple[list[tuple], list[Row], list[tuple[Row | None, Row | None]]]


@dataclass(frozen=True)
class Change:
    """A statement, the table that it changes, its OUTPUT clause, and what it does, or an error."""

    sql: str
    table: str
    clause: str
    output: list[tuple]
    after: list[tuple]
    pairs: list[tuple[Row | None, Row | None]]
    errors: frozenset[int]

    def audit(self) -> list[tuple]:
        """What triggers see: `inserted` and `deleted`."""
        olds = [("d", old["id"], old["a"]) for old, _ in self.pairs if old is not None]
        return olds + [("i", new["id"], new["a"]) for _, new in self.pairs if new is not None]


class ChangeGenerator:
    def __init__(self, random: Random, data: dict[str, list[Row]]) -> None:
        self.random = random
        self.data = data
        self.queries = QueryGenerator(random, data)

    def change(self) -> Change:
        made = [self.update, self.update_join, self.update_numbered, self.delete, self.delete_join, self.insert, self.merge, self.merge]
        return self.random.choice(made)()

    def _target(self) -> Table:
        name = self.random.choice(NAMES)
        return Table(name, "x", SHAPE, self.data[name])

    def _source(self) -> Table:
        name = self.random.choice(NAMES)
        return Table(name, "y", SHAPE, self.data[name])

    def _sets(self, columns: list[Column]) -> dict[str, Node]:
        """New values of some columns, of the columns' own families."""
        draw = self.random
        sets: dict[str, Node] = {}
        for name in draw.sample(SETTABLE, draw.randint(1, 3)):
            kind = SHAPE[name]
            fitting = [one for one in columns if one.type == kind]
            sets[name] = self.queries.integer(columns, 1) if kind.is_integer and draw.random() < 0.6 else draw.choice(fitting)
        return sets

    def update(self) -> Change:
        target = self._target()
        sets, where = self._sets(target.columns), self.queries.condition(target.columns, 1)
        assigned = ", ".join(f"{name} = {node.sql()}" for name, node in sets.items())
        sql = f"UPDATE x SET {assigned} {UPDATED} {PLACE} FROM {target.sql()} WHERE {where.sql()}"

        def run() -> Done:
            def new(row: Row) -> Row | None:
                named = named_as("x", row)
                return row | assigned_values(sets, named) if value(where, named) is True else None

            return updated(self.data[target.name], new)

        return made(sql, target.name, UPDATED, run)

    def update_join(self) -> Change:
        """Of each row with the one row of another table that has its key."""
        draw = self.random
        target, source = self._target(), self._source()
        kind = draw.choice(["JOIN", "LEFT JOIN"])
        sets, where = self._sets([*target.columns, *source.columns]), self.queries.condition([*target.columns, *source.columns], 0)
        assigned = ", ".join(f"{name} = {node.sql()}" for name, node in sets.items())
        joined = f"{target.sql()} {kind} {source.sql()} ON y.id = x.id"
        sql = f"UPDATE x SET {assigned} {UPDATED} {PLACE} FROM {joined} WHERE {where.sql()}"

        def run() -> Done:
            others = {row["y.id"]: row for row in source.rows({})}
            absent = {one.name: None for one in source.columns}

            def new(row: Row) -> Row | None:
                other = others.get(row["id"], absent if kind == "LEFT JOIN" else None)
                if other is None:
                    return None
                named = named_as("x", row) | other
                return row | assigned_values(sets, named) if value(where, named) is True else None

            return updated(self.data[target.name], new)

        return made(sql, target.name, UPDATED, run)

    def update_numbered(self) -> Change:
        """Through a common table expression that numbers its rows."""
        target = self._target()
        columns = target.columns
        by_name = {one.name: one for one in columns}
        window = Window("ROW_NUMBER", None, [by_name["x.b"]], [(by_name["x.k"], True), (by_name["x.id"], False)])
        inner = f"SELECT x.id, x.a, x.b, {window.name} AS n FROM {target.sql()}"
        sql = f"WITH c AS ({inner}) UPDATE c SET a = n {UPDATED} {PLACE} WHERE n > 1"

        def run() -> Done:
            rows = target.rows({})
            window.extend(rows)
            numbers = {row["x.id"]: row[window.name] for row in rows}
            return updated(self.data[target.name], lambda row: row | {"a": numbers[row["id"]]} if numbers[row["id"]] > 1 else None)

        return made(sql, target.name, UPDATED, run)

    def delete(self) -> Change:
        target = self._target()
        where = self.queries.condition(target.columns, 1)
        sql = f"DELETE x {DELETED} {PLACE} FROM {target.sql()} WHERE {where.sql()}"

        def run() -> Done:
            return deleted(self.data[target.name], lambda row: value(where, named_as("x", row)) is True)

        return made(sql, target.name, DELETED, run)

    def delete_join(self) -> Change:
        """Of the rows that match any row of another table."""
        target, source = self._target(), self._source()
        on = self.queries.matching(target.columns, source.columns)
        sql = f"DELETE x {DELETED} {PLACE} FROM {target.sql()} JOIN {source.sql()} ON {on.sql()}"

        def run() -> Done:
            others = source.rows({})
            return deleted(self.data[target.name], lambda row: any(value(on, named_as("x", row) | one) is True for one in others))

        return made(sql, target.name, DELETED, run)

    def insert(self) -> Change:
        """Rows of another table, behind those that are there; a key may be there already (2627)."""
        target = self._target()
        source = self._source()
        number = operators.arithmetic("+", Column("y.id", SHAPE["id"]), whole(self.random.choice([100, 100, 100, 5])))
        assert number
        nodes = [number, self.queries.integer(source.columns, 2), *(Column(f"y.{name}", SHAPE[name]) for name in ("b", "s"))]
        query = Select(source, nodes, where=self.queries.condition(source.columns, 1))
        sql = f"INSERT {target.name} (id, a, b, s) {INSERTED} {PLACE} {query.sql()}"

        def run() -> Done:
            rows = list(self.data[target.name])
            keys = {row["id"] for row in rows}
            output = []
            for found in query.rows({}):
                row = dict.fromkeys(SHAPE) | dict(zip(("id", "a", "b", "s"), found, strict=True))
                if row["id"] in keys:
                    raise Fault(2627)
                output.append((row["id"], row["a"], row["s"], None))
                rows.append(row)
            return output, rows, [(None, row) for row in rows[len(keys) :]]

        return made(sql, target.name, INSERTED, run)

    def merge(self) -> Change:
        draw = self.random
        target = self._target()
        source = self._source()
        name = draw.choice(["id", "id", "a", "b"])
        on = operators.comparison("=", Column(f"x.{name}", SHAPE[name]), Column(f"y.{name}", SHAPE[name]))
        clauses = self._clauses(target, source)
        words = [f"MERGE {target.name} AS x USING {source.sql()} ON {on.sql()}"]
        words += [clause.sql() for clause in clauses]
        words.append(f"{MERGED} {PLACE};")

        def run() -> Done:
            return merged(self.data[target.name], source.rows({}), on, clauses)

        return made(" ".join(words), target.name, MERGED, run)

    def _clauses(self, target: Table, source: Table) -> list[Clause]:
        draw = self.random
        both = [*target.columns, *source.columns]
        clauses = []
        if draw.random() < 0.8:
            if draw.random() < 0.4:
                clauses.append(Clause("MATCHED", self.queries.condition(both, 0), "DELETE", {}))
                clauses.append(Clause("MATCHED", None, "UPDATE", self._sets(both)))
            else:
                condition = self.queries.condition(both, 0) if draw.random() < 0.5 else None
                clauses.append(Clause("MATCHED", condition, draw.choice(["UPDATE", "DELETE"]), self._sets(both)))
        if draw.random() < 0.7 or not clauses:
            number = operators.arithmetic("+", Column("y.id", SHAPE["id"]), whole(100))
            assert number
            condition = self.queries.condition(source.columns, 0) if draw.random() < 0.4 else None
            clauses.append(Clause("NOT MATCHED", condition, "INSERT", {"id": number} | self._sets(source.columns)))
        if draw.random() < 0.5:
            condition = self.queries.condition(target.columns, 0) if draw.random() < 0.4 else None
            action = draw.choice(["UPDATE", "DELETE"])
            clauses.append(Clause("NOT MATCHED BY SOURCE", condition, action, self._sets(target.columns)))
        return clauses


@dataclass(frozen=True)
class Clause:
    """One WHEN of a MERGE."""

    when: str
    condition: Node | None
    action: str
    sets: dict[str, Node]

    def sql(self) -> str:
        also = f" AND {self.condition.sql()}" if self.condition else ""
        if self.action == "INSERT":
            names, values = ", ".join(self.sets), ", ".join(node.sql() for node in self.sets.values())
            return f"WHEN {self.when}{also} THEN INSERT ({names}) VALUES ({values})"
        assigned = ", ".join(f"{name} = {node.sql()}" for name, node in self.sets.items())
        return f"WHEN {self.when}{also} THEN {self.action}" + (f" SET {assigned}" if self.action == "UPDATE" else "")

    def applies(self, row: Row) -> bool:
        return self.condition is None or value(self.condition, row) is True


def merged(data: list[Row], sources: list[Row], on: Node, clauses: list[Clause]) -> Done:
    """8672 for a row that would be updated twice, or updated and deleted; 2627 for a key that is there."""
    output: list[tuple] = []
    new: dict[int, Row | None] = {}
    met: set[int] = set()
    inserted: list[Row] = []
    named = [{f"x.{name}": found for name, found in row.items()} for row in data]
    for source in sources:
        matches = [index for index, row in enumerate(named) if value(on, row | source) is True]
        met.update(matches)
        for index in matches:
            clause = first(clauses, "MATCHED", named[index] | source)
            if clause:
                # A row may be deleted twice.
                if index in new and not (new[index] is None and clause.action == "DELETE"):
                    raise Fault(8672)
                new[index] = changed(clause, data[index], named[index] | source)
        if not matches and (clause := first(clauses, "NOT MATCHED", source)):
            inserted.append(dict.fromkeys(SHAPE) | assigned_values(clause.sets, source))
    for index, row in enumerate(named):
        if index not in met and (clause := first(clauses, "NOT MATCHED BY SOURCE", row)):
            new[index] = changed(clause, data[index], row)
    for index, row in new.items():
        output.append(("DELETE", data[index]["id"], None, None) if row is None else ("UPDATE", data[index]["id"], row["id"], row["a"]))
    output += [("INSERT", None, row["id"], row["a"]) for row in inserted]
    kept = [new.get(index, row) for index, row in enumerate(data)]
    after = [row for row in kept if row is not None] + inserted
    if len({row["id"] for row in after}) < len(after):
        raise Fault(2627)
    return output, after, [(data[index], row) for index, row in new.items()] + [(None, row) for row in inserted]


def named_as(alias: str, row: Row) -> Row:
    return {f"{alias}.{name}": found for name, found in row.items()}


def updated(rows: list[Row], new: Callable[[Row], Row | None]) -> Done:
    pairs = [(row, changed) for row in rows if (changed := new(row)) is not None]
    changes = {id(row): changed for row, changed in pairs}
    output = [(row["id"], row["a"], changed["a"], changed["b"]) for row, changed in pairs]
    return output, [changes.get(id(row), row) for row in rows], pairs


def deleted(rows: list[Row], is_gone: Callable[[Row], bool]) -> Done:
    gone = [row for row in rows if is_gone(row)]
    kept = [row for row in rows if not any(row is one for one in gone)]
    return [(row["id"], row["s"]) for row in gone], kept, [(row, None) for row in gone]


def first(clauses: list[Clause], when: str, row: Row) -> Clause | None:
    return next((one for one in clauses if one.when == when and one.applies(row)), None)


def changed(clause: Clause, row: Row, named: Row) -> Row | None:
    return None if clause.action == "DELETE" else row | assigned_values(clause.sets, named)


def assigned_values(sets: dict[str, Node], row: Row) -> Row:
    return {name: convert(value(node, row), node.type, SHAPE[name]) for name, node in sets.items()}


def made(sql: str, table: str, output: str, run: Callable[[], Done]) -> Change:
    try:
        told, after, pairs = run()
    except Fault as fault:
        return Change(sql, table, output, [], [], [], fault.numbers)
    return Change(sql, table, output, told, [tuple(row.values()) for row in after], pairs, frozenset())

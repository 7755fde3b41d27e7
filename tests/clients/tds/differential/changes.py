"""Random INSERT, UPDATE, DELETE and MERGE with OUTPUT: what the statement outputs, and what the table is afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import operators
from conversion import Fault, convert
from expression import Column, Node, Row
from generator import whole
from query_generator import NAMES, SHAPE, QueryGenerator
from relation import Select, Table, value

# What the clauses of a change set.
SETTABLE = ("a", "b", "s", "d")


@dataclass(frozen=True)
class Change:
    """A statement, the table that it changes, the rows that it outputs and the rows that the table has then, or an error."""

    sql: str
    table: str
    output: list[tuple]
    after: list[tuple]
    errors: frozenset[int]


class ChangeGenerator:
    def __init__(self, random: Random, data: dict[str, list[Row]]) -> None:
        self.random = random
        self.data = data
        self.queries = QueryGenerator(random, data)

    def change(self) -> Change:
        return self.random.choice([self.update, self.delete, self.insert, self.merge, self.merge])()

    def _target(self) -> Table:
        name = self.random.choice(NAMES)
        return Table(name, "x", SHAPE, self.data[name])

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
        sql = f"UPDATE x SET {assigned} OUTPUT deleted.id, deleted.a, inserted.a, inserted.b FROM {target.sql()} WHERE {where.sql()}"

        def run() -> tuple[list[tuple], list[Row]]:
            output, after = [], []
            for row in self.data[target.name]:
                named = {f"x.{name}": found for name, found in row.items()}
                new = row
                if value(where, named) is True:
                    new = row | assigned_values(sets, named)
                    output.append((row["id"], row["a"], new["a"], new["b"]))
                after.append(new)
            return output, after

        return made(sql, target.name, run)

    def delete(self) -> Change:
        target = self._target()
        where = self.queries.condition(target.columns, 1)
        sql = f"DELETE x OUTPUT deleted.id, deleted.s FROM {target.sql()} WHERE {where.sql()}"

        def run() -> tuple[list[tuple], list[Row]]:
            gone = {id(row) for row in self.data[target.name] if value(where, {f"x.{k}": v for k, v in row.items()}) is True}
            rows = self.data[target.name]
            output = [(row["id"], row["s"]) for row in rows if id(row) in gone]
            return output, [row for row in rows if id(row) not in gone]

        return made(sql, target.name, run)

    def insert(self) -> Change:
        """Rows of another table, behind those that are there; a key may be there already (2627)."""
        target = self._target()
        source = Table(self.random.choice(NAMES), "y", SHAPE, [])
        source.data = self.data[source.name]
        number = operators.arithmetic("+", Column("y.id", SHAPE["id"]), whole(self.random.choice([100, 100, 100, 5])))
        assert number
        nodes = [number, self.queries.integer(source.columns, 2), *(Column(f"y.{name}", SHAPE[name]) for name in ("b", "s"))]
        query = Select(source, nodes, where=self.queries.condition(source.columns, 1))
        sql = f"INSERT {target.name} (id, a, b, s) OUTPUT inserted.id, inserted.a, inserted.s, inserted.d {query.sql()}"

        def run() -> tuple[list[tuple], list[Row]]:
            rows = list(self.data[target.name])
            keys = {row["id"] for row in rows}
            output = []
            for found in query.rows({}):
                row = dict.fromkeys(SHAPE) | dict(zip(("id", "a", "b", "s"), found, strict=True))
                if row["id"] in keys:
                    raise Fault(2627)
                output.append((row["id"], row["a"], row["s"], None))
                rows.append(row)
            return output, rows

        return made(sql, target.name, run)

    def merge(self) -> Change:
        draw = self.random
        target = self._target()
        source = Table(draw.choice(NAMES), "y", SHAPE, [])
        source.data = self.data[source.name]
        name = draw.choice(["id", "id", "a", "b"])
        on = operators.comparison("=", Column(f"x.{name}", SHAPE[name]), Column(f"y.{name}", SHAPE[name]))
        clauses = self._clauses(target, source)
        words = [f"MERGE {target.name} AS x USING {source.sql()} ON {on.sql()}"]
        words += [clause.sql() for clause in clauses]
        words.append("OUTPUT $action, deleted.id, inserted.id, inserted.a;")

        def run() -> tuple[list[tuple], list[Row]]:
            return merged(self.data[target.name], source.rows({}), on, clauses)

        return made(" ".join(words), target.name, run)

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


def merged(data: list[Row], sources: list[Row], on: Node, clauses: list[Clause]) -> tuple[list[tuple], list[Row]]:
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
    return output, after


def first(clauses: list[Clause], when: str, row: Row) -> Clause | None:
    return next((one for one in clauses if one.when == when and one.applies(row)), None)


def changed(clause: Clause, row: Row, named: Row) -> Row | None:
    return None if clause.action == "DELETE" else row | assigned_values(clause.sets, named)


def assigned_values(sets: dict[str, Node], row: Row) -> Row:
    return {name: convert(value(node, row), node.type, SHAPE[name]) for name, node in sets.items()}


def made(sql: str, table: str, run: Any) -> Change:
    try:
        output, after = run()
    except Fault as fault:
        return Change(sql, table, [], [], fault.numbers)
    return Change(sql, table, output, [tuple(row.values()) for row in after], frozenset())

"""Runs queries and changes on the server, and compares rows, types and errors with the model's."""

from __future__ import annotations

import math
from collections import Counter
from random import Random
from typing import Any

import operators
import query_generator
from changes import OUTPUT_TYPES, PLACE, Change, ChangeGenerator
from conversion import Fault
from data_type import DataType, Unsettled
from query_generator import NAMES, SHAPE, QueryGenerator, Statement
from session import NAME_OF_ERROR, REFUSALS, Got, Session, attempt
from wire import Answer

# Queries over the same rows; then there are others.
QUERIES_PER_DATA = 200
BATCH_SIZE = 20


class QueryRunner:
    def __init__(self, session: Session, random: Random) -> None:
        self.session = session
        self.random = random
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def run(self, count: int, changes: bool) -> list[tuple[str, str]]:
        """Runs queries or changes; gives those that are wrong, and why."""
        wrong = []
        for begin in range(0, count, QUERIES_PER_DATA):
            data = query_generator.tables(self.random)
            indexes = self.random.sample(query_generator.INDEXES, self.random.choice([0, 0, 3, len(query_generator.INDEXES)]))
            fill = query_generator.definition(data, indexes)
            answer = self.session.run(fill)
            assert not answer.errors, answer.errors
            size = min(QUERIES_PER_DATA, count - begin)
            found = self._changes(data, size) if changes else self._queries(data, size)
            wrong += [(sql, f"{why}; the tables: {fill}") for sql, why in found]
        return wrong

    def _queries(self, data: dict[str, list], count: int) -> list[tuple[str, str]]:
        generator = QueryGenerator(self.random, data)
        wrong = []
        for begin in range(0, count, BATCH_SIZE):
            statements = [generator.statement() for _ in range(min(BATCH_SIZE, count - begin))]
            wrong += self._batch(statements)
            wrong += self._elsewhere(self.random.choice(statements))
        return wrong

    def _elsewhere(self, statement: Statement) -> list[tuple[str, str]]:
        """The same query by a cursor, and in a procedure, a view or SELECT INTO."""
        sql = statement.sql()
        kind = self.random.choice(["STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD", "SCROLL"])
        forms = [
            [f"DECLARE c CURSOR LOCAL {kind} FOR {sql}; OPEN c; FETCH NEXT FROM c; WHILE @@FETCH_STATUS = 0 FETCH NEXT FROM c"],
            [f"CREATE OR ALTER PROCEDURE of_query AS {sql}", "EXEC of_query"],
        ]
        if not statement.query.order:
            forms.append([f"CREATE OR ALTER VIEW of_query_view AS {sql}", "SELECT * FROM of_query_view"])
            forms += [] if statement.definitions else [[f"DROP TABLE IF EXISTS #q; SELECT * INTO #q FROM ({sql}) q; SELECT * FROM #q"]]
        wrong = []
        for batches in forms:
            self.counts["queries"] += 1
            if verdict := self._judge(statement, self._last(batches)):
                wrong.append((batches[0], verdict))
        return wrong

    def _last(self, batches: list[str]) -> Got:
        """What the last batch gives: rows that come one by one are those of one result."""
        answer = Answer()
        for batch in batches:
            answer = self.session.run(batch)
            if answer.errors:
                return Got(error=answer.errors[0])
        for other in answer.sets[1:]:
            answer.sets[0].rows += other.rows
        return Got(result=answer.sets[0] if answer.sets else None)

    def _batch(self, statements: list[Statement]) -> list[tuple[str, str]]:
        got = self.session.each([one.sql() for one in statements])
        wrong = []
        for statement, one in zip(statements, got, strict=True):
            self.counts["queries"] += 1
            verdict = self._judge(statement, one)
            if verdict:
                wrong.append((statement.sql(), verdict))
        return wrong

    def _judge(self, statement: Statement, got: Got) -> str | None:
        query = statement.query
        try:
            expected, errors = query.rows({}), frozenset()
        except Fault as fault:
            expected, errors = [], fault.numbers
        except Unsettled:
            self.counts["unsettled"] += 1
            return None
        if got.error:
            return self._error(got.error, errors)
        if errors or got.result is None:
            return f"{got.result}, expected one of the errors {sorted(errors)}"
        for place, (told, kind) in enumerate(zip(got.result.types, query.types, strict=True)):
            if not is_told(told, kind):
                return f"column {place + 1} has type {told}, expected {kind}"
        return differing(got.result.rows, expected, query.types, statement.is_ordered)

    def _error(self, got: tuple[int, str], expected: frozenset[int]) -> str | None:
        number, said = got
        if number in REFUSALS:
            self.counts["refused"] += 1
            self.refused[said[:90]] += 1
            return None
        self.counts["errors"] += 1
        return None if number in expected else f"error {number} ({said}), expected errors {sorted(expected)}"

    def _changes(self, data: dict[str, list], count: int) -> list[tuple[str, str]]:
        generator = ChangeGenerator(self.random, data)
        wrong = []
        has_triggers = self.random.random() < 0.5
        for sql in triggers() if has_triggers else []:
            answer = self.session.run(sql)
            assert not answer.errors, answer.errors
        for _ in range(count):
            change = generator.change()
            self.counts["changes"] += 1
            if verdict := self._change(change, has_triggers):
                wrong.append((change.sql, verdict))
        return wrong

    def _change(self, change: Change, has_triggers: bool) -> str | None:
        """With triggers, OUTPUT is INTO a table variable (334), and what the triggers have seen is compared, too."""
        after = f"SELECT {', '.join(SHAPE)} FROM {change.table} ORDER BY id"
        both = f"{change.sql}; {after}"
        if has_triggers:
            into = change.sql.replace(PLACE, "INTO @o")
            both = f"DECLARE @o TABLE ({OUTPUT_TYPES[change.clause]}); {into}; SELECT * FROM @o; {after}; SELECT * FROM audit"
        answer = self.session.run(f"BEGIN TRAN; {attempt(both, 0)}; ROLLBACK")
        if answer.errors:
            self.session.run("IF @@TRANCOUNT > 0 ROLLBACK")
            return self._error(answer.errors[0], change.errors)
        last = answer.sets[-1]
        if last.names[0] == NAME_OF_ERROR:
            return self._error(tuple(last.rows[0][1:]), change.errors)
        if change.errors:
            return f"{last.rows}, expected one of the errors {sorted(change.errors)}"
        expected = [change.output, change.after, change.audit()]
        for got, rows in zip(answer.sets, expected, strict=False):
            if verdict := differing(got.rows, rows, got.types, False):
                return verdict
        return None


def triggers() -> list[str]:
    """Triggers that note the rows that they see."""
    seen = "SELECT 'd', id, a FROM deleted UNION ALL SELECT 'i', id, a FROM inserted"
    made = ["DROP TABLE IF EXISTS audit; CREATE TABLE audit (what char(1), id int, a int)"]
    return made + [f"CREATE TRIGGER tr_{name} ON {name} AFTER INSERT, UPDATE, DELETE AS INSERT audit {seen}" for name in NAMES]


def is_told(told: DataType, kind: DataType) -> bool:
    if told.name != kind.name:
        return False
    if kind.name == "decimal":
        return (told.precision, told.scale) == (kind.precision, kind.scale)
    return not kind.is_text or kind.size in (None, told.size)


def differing(got: list, expected: list, kinds: list[DataType], is_ordered: bool) -> str | None:
    """Text is compared without case and blanks at its end: which of two equal texts comes is not documented."""
    here, there = ([folded(row, kinds) for row in rows] for rows in (got, expected))
    if not is_ordered:
        here, there = sorted(here, key=repr), sorted(there, key=repr)
    if len(here) == len(there) and all(is_near(a, b) for a, b in zip(here, there, strict=True)):
        return None
    return f"rows {got}, expected {expected}"


def folded(row: Any, kinds: list[DataType]) -> list[Any]:
    return [None if one is None else operators.key(one, kind) for one, kind in zip(row, kinds, strict=True)]


def is_near(left: list[Any], right: list[Any]) -> bool:
    return all(
        a == b or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-12))
        for a, b in zip(left, right, strict=True)
    )

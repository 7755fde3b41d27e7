"""Runs expressions on the server by the thousand, and compares what comes with what the model expects."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

import samples
from data_type import BOOLEAN, DataType
from expression import ABSENT, UNFALSE, Apply, Constant, Node, Outcome, Row, Unsettled, constant
from generator import Generator
from session import REFUSALS, Got, Session
from wire import ResultSet

FORMS = ("column", "variable", "constant", "where", "assigned")


@dataclass(frozen=True)
class Case:
    """An expression, the row that it is about, and how it is asked."""

    node: Node
    row: Row
    form: str
    rows: list[Row]
    # Of the batch: the name of a table variable.
    number: int = 0

    @property
    def select(self) -> str:
        """The statement; `where` asks for all rows for which a condition is true, `assigned` writes into a column first."""
        node = self.node
        if self.form == "assigned":
            name = f"@t{self.number}"
            insert = f"INSERT {name} SELECT {node.sql()} FROM samples WHERE id = {self.row['id']}"
            return f"DECLARE {name} TABLE (c {node.type}); {insert}; SELECT c AS r FROM {name}"
        if self.form == "where":
            return f"SELECT id AS r FROM samples WHERE {node.sql()} ORDER BY id"
        if self.form == "column":
            return f"SELECT {node.sql()} AS r FROM samples WHERE id = {self.row['id']}"
        if self.form == "variable":
            return f"SELECT {node.sql(lambda name: '@' + name)} AS r"
        return f"SELECT {node.sql(self._constant)} AS r"

    def _constant(self, name: str) -> str:
        column = next(one for one in samples.COLUMNS if one.name == name)
        return constant(self.row[name], column.type).sql()

    def expected(self) -> Outcome:
        if self.form != "where":
            return self.node.outcome(self.row)
        outcomes = [self.node.outcome(row) for row in self.rows]
        errors = frozenset().union(*(one.errors for one in outcomes))
        if any(one.value in (ABSENT, UNFALSE) for one in outcomes):
            return Outcome(ABSENT, errors)
        return Outcome([row["id"] for row, one in zip(self.rows, outcomes, strict=True) if one.value is True], errors)


class Runner:
    def __init__(self, session: Session, random: Random) -> None:
        self.session = session
        self.random = random
        self.rows = samples.rows(random)
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        for batch in samples.definition(self.rows):
            answer = session.run(batch)
            assert not answer.errors, (answer.errors, batch)

    def draw(self, count: int, depth: int) -> list[Case]:
        generator = Generator(self.random, samples.COLUMNS)
        cases = []
        row = self.random.choice(self.rows)
        form = self.random.choice(FORMS)
        draw = {"where": generator.condition, "assigned": generator.assigned}.get(form, generator.expression)
        for number in range(count):
            cases.append(Case(draw(self.random.randint(1, depth)), row, form, self.rows, number))
        return cases

    def run(self, cases: list[Case]) -> list[tuple[Case, str]]:
        """The cases that are wrong, and why."""
        names = set().union(*(case.node.columns() for case in cases)) if cases[0].form == "variable" else set()
        declared = samples.declarations(cases[0].row, names) if names else ""
        got = self.session.each([case.select for case in cases], declared)
        verdicts = [(case, self.judge(case, one)) for case, one in zip(cases, got, strict=True)]
        if cases[0].form == "column" and len(cases) > 1:
            verdicts += [(case, self.in_function(case)) for case in cases[: len(cases) // 40]]
        return [(case, verdict) for case, verdict in verdicts if verdict]

    def in_function(self, case: Case) -> str | None:
        """The same expression as the body of a function that is called for the row."""
        columns = [one for one in samples.COLUMNS if one.name in case.node.columns()]
        if case.node.type.size is None and (case.node.type.is_text or case.node.type.is_binary):
            return None
        parameters = ", ".join(f"@{one.name} {one.type}" for one in columns)
        body = case.node.sql(lambda name: "@" + name)
        made = self.session.run(f"CREATE OR ALTER FUNCTION dbo.f ({parameters}) RETURNS {case.node.type} AS BEGIN RETURN {body} END")
        if made.errors:
            return self.judge(case, Got(error=made.errors[0]))
        call = f"SELECT dbo.f({', '.join(one.name for one in columns)}) AS r FROM samples WHERE id = {case.row['id']}"
        verdict = self.judge(case, self.session.each([call])[0])
        return f"in a function: {verdict}" if verdict and "nullable" not in verdict else None

    def judge(self, case: Case, got: Got) -> str | None:
        """Nothing, or what is wrong."""
        self.counts["expressions"] += 1
        try:
            expected = case.expected()
        except Unsettled:
            self.counts["unsettled"] += 1
            return None
        if got.error:
            number, said = got.error
            if number in REFUSALS:
                self.counts["refused"] += 1
                self.refused[said[:90]] += 1
                return None
            self.counts["errors"] += 1
            if number in expected.errors:
                return None
            return f"error {number} ({said}), expected {shown(expected)}"
        if got.result is None:
            return "no result"
        values = [row[0] for row in got.result.rows]
        if expected.value is ABSENT:
            return f"{values}, expected one of the errors {sorted(expected.errors)}"
        if case.form == "where":
            return None if values == expected.value else f"rows {values}, expected {expected.value}"
        if told := wrong_type(case, got.result):
            return told
        if len(values) != 1 or not is_same(values[0], expected.value, case.node.type):
            return f"{values!r} of type {got.result.types[0]}, expected {expected.value!r} of {case.node.type}"
        return None


def shown(expected: Outcome) -> str:
    value = "no value" if expected.value is ABSENT else repr(expected.value)
    return f"{value} or errors {sorted(expected.errors)}"


def wrong_type(case: Case, about: ResultSet) -> str | None:
    """The type that a client is told, as far as the documentation has it."""
    node = case.node
    told, kind = about.types[0], node.type
    if told.name != kind.name:
        return f"type {told}, expected {kind}"
    if kind.name == "decimal":
        if told.scale != kind.scale or kind.precision not in (None, told.precision):
            return f"type {told}, expected {kind}"
    elif kind.name in ("time", "datetime2") and told.scale != kind.scale:
        return f"type {told}, expected {kind}"
    elif (kind.is_text or kind.is_binary) and kind.size is not None and told.size != kind.size:
        return f"type {told}, expected {kind}"
    # What stands in a column's place may be NULL.
    if node.nullable is not None and case.form == "column" and about.nullable[0] != node.nullable:
        return f"nullable {about.nullable[0]}, expected {node.nullable}"
    if not about.nullable[0] and about.rows and about.rows[0][0] is None:
        return "NULL in a column that is NOT NULL"
    return None


def is_same(got: Any, expected: Any, kind: DataType) -> bool:
    if got is None or expected is None:
        return got is expected
    if kind.is_float:
        return got == expected or math.isclose(got, expected, rel_tol=1e-12 if kind.name == "float" else 1e-6, abs_tol=1e-300)
    return got == expected


# The smallest failing part.


def shrunk(runner: Runner, case: Case) -> Case:
    """Ever smaller expressions that fail still: a part by itself, or a part that a constant replaces."""
    while True:
        for node in smaller(case.node, case.row):
            form = case.form
            if (form == "where") != (node.type == BOOLEAN):
                continue
            other = Case(node, case.row, form, case.rows)
            if runner.run([other]):
                case = other
                break
        else:
            return case


def smaller(node: Node, row: Row) -> list[Node]:
    parts = [written(operand) for operand in node.operands if operand.type != BOOLEAN or node.type == BOOLEAN]
    found = sorted(parts, key=Node.size)
    if not isinstance(node, Apply):
        return found
    for index, operand in enumerate(node.operands):
        if written(operand) is not operand:
            found += [with_operand(node, index, with_operand(operand, 0, other)) for other in replacements(operand.operands[0], row)]
        else:
            found += [with_operand(node, index, other) for other in replacements(operand, row)]
    return found


def replacements(node: Node, row: Row) -> list[Node]:
    """Smaller nodes of the same type."""
    candidates = [*smaller(node, row), *as_constant(node, row)]
    return [one for one in candidates if one.type == node.type and one.size() < node.size()]


def written(node: Node) -> Node:
    """What is written where a conversion is implicit."""
    return written(node.operands[0]) if isinstance(node, Apply) and node.template == "{0}" else node


def as_constant(node: Node, row: Row) -> list[Node]:
    if isinstance(node, Constant) or node.type == BOOLEAN:
        return []
    try:
        outcome = node.outcome(row)
    except Unsettled:
        return []
    if outcome.value is ABSENT:
        return []
    return [constant(outcome.value, node.type)]


def with_operand(node: Apply, index: int, operand: Node) -> Apply:
    operands = [*node.operands[:index], operand, *node.operands[index + 1 :]]
    return Apply(node.template, operands, node.type, node.apply, node.strict, node.nullable)

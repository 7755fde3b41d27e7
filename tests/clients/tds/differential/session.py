"""A session of the differential test: a batch goes out, an `Answer` comes back; or many statements, and what each one gave."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wire import Answer, Reader, ResultSet

sys.path.append(str(Path(__file__).resolve().parents[1] / "figures"))
from raw_connection import RawConnection  # noqa: E402

# What drivers ask for, and a raw login does not.
OPTIONS = "SET ANSI_NULLS, ANSI_WARNINGS, ANSI_PADDING, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON"
# Refusals: 40510 and 40517 say what is not supported, 8623 and 8631 that a statement is too large.
REFUSALS = {40510, 40517, 8623, 8631}
NAME_OF_ERROR = "failed"


@dataclass
class Got:
    """What a statement gave: a result, an error, or a result that an error ended."""

    result: ResultSet | None = None
    error: tuple[int, str] | None = None


class Session:
    def __init__(self, port: int, password: str) -> None:
        self.connection = RawConnection(port, password, encrypted=False)
        answer = self.run(f"{OPTIONS} SET NOCOUNT ON")
        assert not answer.errors, answer.errors

    def run(self, sql: str) -> Answer:
        self.connection.batch(sql)
        data = bytearray()
        while True:
            is_last, part = self.connection.packet()
            data += part
            if is_last:
                return Reader(bytes(data)).answer()

    def each(self, statements: Sequence[str], declarations: str = "") -> list[Got]:
        """Runs queries in one batch, where an error of one keeps no other from running. A batch that does not compile is
        halved until its culprit is alone."""
        answer = self.run(declarations + "\n".join(attempt(sql, number) for number, sql in enumerate(statements)))
        if not answer.errors:
            return told(answer, len(statements))
        if len(statements) == 1:
            return [Got(error=answer.errors[0])]
        middle = len(statements) // 2
        return self.each(statements[:middle], declarations) + self.each(statements[middle:], declarations)

    def close(self) -> None:
        self.connection.close()


def attempt(sql: str, number: int) -> str:
    caught = f"SELECT {number} AS {NAME_OF_ERROR}, ERROR_NUMBER() AS n, ERROR_MESSAGE() AS m"
    return f"BEGIN TRY; {sql}; END TRY BEGIN CATCH {caught} END CATCH"


def told(answer: Answer, count: int) -> list[Got]:
    """The result of each statement, and the error behind it or in its place."""
    got = [Got() for _ in range(count)]
    at = 0
    for number, one in enumerate(got):
        if at < len(answer.sets) and answer.sets[at].names[0] != NAME_OF_ERROR:
            one.result = answer.sets[at]
            at += 1
        if at < len(answer.sets) and answer.sets[at].names[0] == NAME_OF_ERROR and answer.sets[at].rows[0][0] == number:
            one.error = tuple(answer.sets[at].rows[0][1:])
            at += 1
    assert at == len(answer.sets), f"{len(answer.sets)} results of {count} statements"
    return got

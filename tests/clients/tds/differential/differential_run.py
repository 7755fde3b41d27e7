"""Sends random expressions, queries and changes to a server, and compares what it answers with a model of SQL Server.

usage: differential_run.py [--count N] [--seed N] [--only expressions|queries|changes] [--folder DIR]

A refusal is counted, any other difference is printed with the smallest expression that has it, and fails the run. The seed is
printed; the same seed draws the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random, SystemRandom

sys.path.append(str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[2]))

from query_runner import QueryRunner  # noqa: E402
from runner import Runner, shrunk  # noqa: E402
from server import Server  # noqa: E402
from servers import Servers  # noqa: E402
from session import Session  # noqa: E402

BATCH_SIZE = 400
DEPTH = 4
# Of a hundred statements, so many are queries, and so many are changes.
QUERIES, CHANGES = 15, 5
PRINTED_MAX, PRINTED_LENGTH_MAX = 40, 800


class Differential:
    """One run against one server."""

    def __init__(self, server: Server, seed: int) -> None:
        self.session = Session(server.port, server.password)
        created = self.session.run("CREATE DATABASE differential")
        assert not created.errors or created.errors[0][0] == 1801, created.errors
        self.session.run("USE differential")
        random = Random(seed)
        self.expressions = Runner(self.session, random)
        self.queries = QueryRunner(self.session, random)
        self.wrong: dict[str, str] = {}
        self.wrong_count = 0

    def run(self, count: int, only: str = "") -> None:
        if only in ("", "expressions"):
            self._expressions(count if only else count * (100 - QUERIES - CHANGES) // 100)
        for name, share in (("queries", QUERIES), ("changes", CHANGES)):
            if only in ("", name):
                found = self.queries.run(count if only else count * share // 100, changes=name == "changes")
                self.wrong_count += len(found)
                self.wrong |= dict(found[:PRINTED_MAX])

    def _expressions(self, count: int) -> None:
        for begin in range(0, count, BATCH_SIZE):
            for case, why in self.expressions.run(self.expressions.draw(min(BATCH_SIZE, count - begin), DEPTH)):
                self.wrong_count += 1
                if len(self.wrong) < PRINTED_MAX:
                    small = shrunk(self.expressions, case)
                    ((_, why),) = self.expressions.run([small]) or [(case, why)]
                    self.wrong[f"{small.select} -- {small.form}, {self._values(small)}"] = why

    @staticmethod
    def _values(case) -> str:
        return ", ".join(f"{name} = {case.row[name]!r}" for name in sorted(case.node.columns()))

    @property
    def summary(self) -> str:
        counts: Counter[str] = self.expressions.counts + self.queries.counts
        return ", ".join(f"{counts[name]} {name}" for name in ("expressions", "queries", "changes", "errors", "refused"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(2**31))
    parser.add_argument("--only", default="", choices=["", "expressions", "queries", "changes"])
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="selenite-differential-") as folder:
        server = Servers(Path(folder)).of("off")
        try:
            run = Differential(server, arguments.seed)
            run.run(arguments.count, arguments.only)
            assert not server.panics(), server.panics()
        finally:
            server.stop()
    for sql, why in run.wrong.items():
        print(f"\n{sql[:PRINTED_LENGTH_MAX]}\n  {why[:PRINTED_LENGTH_MAX]}")
    for refused in (run.expressions.refused, run.queries.refused):
        for said, count in refused.most_common(10):
            print(f"refused {count} times: {said}")
    print(f"{run.summary}, {run.wrong_count} wrong; {time.monotonic() - started:.0f} s, seed {arguments.seed}")
    return 1 if run.wrong_count else 0


if __name__ == "__main__":
    sys.exit(main())

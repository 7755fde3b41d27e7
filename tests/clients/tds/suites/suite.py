"""A driver's own tests against `selenite serve`: what each did, beside what is known of those that do not pass.

A file of known failures has a line for each reason, `fails: why` or `left out: why`, and behind it, indented, the
names of tests; `*` stands for any text. A test that fails must be listed, and one that is listed must fail. What is
left out is not run.
"""

import argparse
import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from server import Server  # noqa: E402
from servers import Servers  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "suites"
FAILS, LEFT_OUT = "fails: ", "left out: "


@dataclass
class Known:
    """Why tests fail or are left out."""

    fails: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> "Known":
        known = cls()
        names, reason = None, ""
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith(" "):
                assert names is not None, f"{file}:{number}: a test without a reason"
                assert line.strip() not in known.fails | known.left_out, f"{file}:{number}: {line.strip()} is there twice"
                names[line.strip()] = reason
            elif line.startswith(FAILS):
                names, reason = known.fails, line.removeprefix(FAILS)
            elif line.startswith(LEFT_OUT):
                names, reason = known.left_out, line.removeprefix(LEFT_OUT)
            else:
                raise AssertionError(f"{file}:{number}: neither a reason nor a test: {line}")
        return known

    def differences(self, results: dict[str, str]) -> list[str]:
        """What is not as it is known to be."""
        wrong = []
        fails = {name: pattern(name) for name in self.fails}
        for name, result in results.items():
            listed = [known for known, one in fails.items() if one.fullmatch(name)]
            if result == "failed" and not listed:
                wrong.append(f"failed: {name}")
            if result != "failed" and listed:
                wrong.append(f"{result}, but listed as failing ({listed[0]}): {name}")
        for known, one in fails.items():
            if not any(map(one.fullmatch, results)):
                wrong.append(f"listed as failing, but there is no such test: {known}")
        return wrong


def pattern(name: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, name.split("*"))))


@contextlib.contextmanager
def server(*flags: str, mode: str = "optional") -> Iterator[Server]:
    """A server with no files of before. It fails the run if it panics or does not end as it should."""
    folder = Path(tempfile.mkdtemp(prefix="selenite-suite-"))
    try:
        running = Servers(folder).start("server", mode, *flags)
        try:
            yield running
        finally:
            status = running.stop() if running.is_running() else running.process.returncode
            (TARGET / "server.log").write_text("\n".join(running.log))
        assert status == 0, f"the server ended with {status}: {running.log[-20:]}"
        assert not running.panics(), running.panics()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def execute(server: Server, *statements: str) -> None:
    """What the administrator does before the tests."""
    import pymssql

    with pymssql.connect(server.host, "sa", server.password, "master", port=str(server.port), autocommit=True) as sa:
        for statement in statements:
            sa.cursor().execute(statement)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("filter", nargs="*", help="run these tests alone, and compare nothing")
    return parser.parse_args()


def report(suite: str, known: Known, results: dict[str, str], partial: bool) -> int:
    """Prints what differs and the numbers, and gives the status of the run."""
    wrong = [] if partial else known.differences(results)
    if partial:
        print(*(f"{result}: {name}" for name, result in results.items() if result != "passed"), sep="\n")
    print(*wrong, sep="\n")
    count = {result: sum(one == result for one in results.values()) for result in ("passed", "failed", "skipped")}
    left_out = "" if partial else f", {len(known.left_out)} left out"
    print(f"{suite}: {count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped{left_out}")
    return 1 if wrong or not results else 0

"""Traces of processes that end without closing their database (FORMAT 14)."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from host import EXTENSION, uri
from test_command import COMMAND, selenite

CHILD = """
import ctypes, os, sqlite3, sys
action, extension, database, trace = sys.argv[1:]
loader = sqlite3.connect(":memory:")
loader.enable_load_extension(True)
loader.load_extension(extension)
trace += f".{os.getpid()}"
db = sqlite3.connect(database, uri=True, isolation_level=None)
# A leak: Python does not close it at its end either.
ctypes.pythonapi.Py_IncRef(ctypes.py_object(db))
db.execute("PRAGMA cache_size = 10")
read = lambda: db.execute("SELECT sum(length(body)) FROM note").fetchone()
if action == "exit":
    read()
    sys.exit(0)
before = os.stat(trace).st_size if os.path.exists(trace) else 0
while os.stat(trace).st_size == before:
    read()
print("a section is written", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def traced(folder: Path) -> list[str]:
    """The command line of the child in a trace, without its action."""
    with sqlite3.connect(folder / "app.db") as db:
        db.execute("CREATE TABLE note(body)")
        db.executemany("INSERT INTO note VALUES (?)", [("x" * 3000,)] * 100)
    db.close()
    selenite(folder, "keygen", "-o", "key.txt")
    lines = (folder / "key.txt").read_text().splitlines()
    recipient = next(line.removeprefix("# public key: ") for line in lines if line.startswith("# public key: "))
    return [COMMAND, "trace", "--recipient", recipient, "--output", "app.trace", "--", sys.executable, "-c", CHILD]


def start(folder: Path, traced: list[str], action: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
    database = uri(folder / "app.db", vfs="selenite", plain="allow")
    command = [*traced, action, EXTENSION, database, str(folder / "app.trace")]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, cwd=folder, stdin=pipe, stdout=pipe, text=True)


def observe(folder: Path, child: subprocess.Popen[str]) -> tuple[str, float]:
    """What is said of the trace, and the pages that were read."""
    trace = folder / f"app.trace.{child.pid}"
    said = selenite(folder, "-i", "key.txt", "plan", "observe", "trace", str(trace), "--cores", "2", "-o", "o.json")
    loads = [interval["load"] for interval in json.loads((folder / "o.json").read_text())["intervals"]]
    names = "read-sequential", "read-random"
    return said, sum(load[name]["count"] for load in loads for name in names if name in load)


def test_a_process_that_exits_without_closing_loses_nothing(folder: Path, traced: list[str]) -> None:
    with start(folder, traced, "exit") as child:
        assert child.wait() == 0
    said, pages = observe(folder, child)
    assert pages >= 100
    assert "at the end" not in said and "no whole section" not in said


def test_of_a_process_that_is_killed_the_trace_lacks_the_end_and_says_so(folder: Path, traced: list[str]) -> None:
    with start(folder, traced, "killed") as child:
        assert child.stdout and child.stdout.readline() == "a section is written\n"
        child.send_signal(signal.SIGKILL)
    said, pages = observe(folder, child)
    assert pages >= 100
    assert "files are open at the end" in said or "no whole section" in said

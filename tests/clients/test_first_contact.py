"""What a new user runs first: the lines that `selenite init` prints, two copies of the extension, `selenite doctor`."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from host import EXTENSION
from test_command import COMMAND, selenite

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"


def lines(folder: Path, language: str, *arguments: str) -> list[str]:
    found = json.loads(selenite(folder, "init", "--lang", language, "--json", *arguments))
    assert found["created"] and found["identity_created"], found
    return [line.replace("/path/to/libselenite.so", EXTENSION) for line in found["lines"]]


def run(folder: Path, *command: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
    return subprocess.run(
        command, cwd=folder, env=clean | environment, input=text, capture_output=True, text=True, timeout=120
    )


def test_the_lines_for_python_open_the_database(folder: Path) -> None:
    package = folder / "packages/selenite"
    shutil.copytree(ROOT / "packages/python/src/selenite", package, ignore=shutil.ignore_patterns("__pycache__"))
    for file, place in ((EXTENSION, "lib/libselenite.so"), (COMMAND, "bin/selenite")):
        (package / place).parent.mkdir()
        (package / place).symlink_to(file)
    program = [
        *lines(folder, "python", "it's 50%.db"),
        "db.execute('CREATE TABLE note(body)')",
        "db.execute(\"INSERT INTO note VALUES ('a secret')\")",
        "db.commit()",
        "print(db.execute('SELECT body FROM note').fetchone()[0])",
    ]
    ended = run(folder, PYTHON, "-c", "\n".join(program), PYTHONPATH=str(folder / "packages"))
    assert (ended.stdout, ended.returncode) == ("a secret\n", 0), ended
    assert b"a secret" not in (folder / "it's 50%.db").read_bytes()


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="no sqlite3 shell")
def test_the_line_for_the_shell_opens_the_database(folder: Path) -> None:
    (line,) = lines(folder, "shell", "it's 50%.db")
    text = "CREATE TABLE note(body); INSERT INTO note VALUES ('a secret'); SELECT body FROM note;\n"
    ended = run(folder, "/bin/sh", "-c", line, text=text)
    assert ended.stdout.splitlines()[-1:] == ["a secret"], ended
    assert b"a secret" not in (folder / "it's 50%.db").read_bytes()


LOAD = """
import sqlite3
def load(path, version=None):
    db = sqlite3.connect(":memory:")
    if version:
        db.create_function("selenite_version", 0, lambda: version)
    db.enable_load_extension(True)
    db.load_extension(path)
    return db
before = sqlite3.connect(":memory:")
load({extension!r})
"""


def test_a_second_copy_of_the_same_version_changes_nothing(folder: Path) -> None:
    copy = folder / "libselenite.so"
    shutil.copy(EXTENSION, copy)
    program = LOAD.format(extension=EXTENSION) + (
        f"load({str(copy)!r}).execute('SELECT selenite_version()').fetchone()\n"
        "db = sqlite3.connect('file:app.db?vfs=selenite', uri=True)\n"
        "db.execute('CREATE TABLE note(body)')\n"
        "print(db.execute(\"SELECT value FROM selenite_status WHERE name = 'encrypted'\").fetchone()[0])"
    )
    selenite(folder, "keygen", "-o", "key.txt")
    ended = run(folder, PYTHON, "-c", program, SELENITE_IDENTITY="key.txt")
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    assert (folder / "app.db").read_bytes().startswith(b"Selenite")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("load({copy!r}, '0.0.9')", "two versions of the extension in one process: selenite 0.0.9 is loaded, and this is "),
        (
            "before.enable_load_extension(True); before.load_extension({copy!r})",
            "two copies of the extension in one process: another one was loaded after this connection was opened",
        ),
    ],
)
def test_another_copy_is_refused_in_one_line(folder: Path, call: str, told: str) -> None:
    copy = folder / "libselenite.so"
    shutil.copy(EXTENSION, copy)
    program = LOAD.format(extension=EXTENSION) + call.format(copy=str(copy))
    ended = run(folder, PYTHON, "-c", program)
    last = ended.stderr.splitlines()[-1]
    assert ended.returncode == 1 and told in last and last.endswith("load one of them only"), ended


def test_doctor_loads_the_extension_into_pythons_of_this_machine(folder: Path) -> None:
    ended = run(folder, COMMAND, "doctor", "--extension", EXTENSION, "--json", PATH="/usr/bin", HOME=str(folder))
    checks = {check["name"]: check for check in json.loads(ended.stdout)}
    found = checks[PYTHON]
    assert found["verdict"] == "ok" and found["finding"].endswith(": loads the extension"), found
    if shell := checks.get("/usr/bin/sqlite3"):
        assert shell["verdict"] == "ok" and shell["finding"].endswith(": loads the extension"), shell
    assert checks["extension"]["verdict"] == "ok", checks

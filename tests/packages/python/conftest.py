"""A fresh virtual environment with the wheel, for each Python of this machine, and nothing of the repository.

SELENITE_TEST_WHEEL names the wheel. A test that is decorated by `inside` is not run by pytest's Python: its source runs in the
environment, in an empty folder, where neither the repository nor Rust is in PATH.
"""

import glob
import inspect
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

# A job in the background of a script begins with SIGINT ignored, and its children inherit that; a handler they do not.
signal.signal(signal.SIGINT, signal.default_int_handler)

WHEEL = os.environ.get("SELENITE_TEST_WHEEL", "")
PREAMBLE = """\
import contextlib, dataclasses, os, pathlib, re, sqlite3, subprocess, sys, threading
import selenite
CAN_LOAD = hasattr(sqlite3.Connection, "enable_load_extension")

@contextlib.contextmanager
def raises(kind, match=""):
    try:
        yield (caught := [])
    except kind as error:
        caught.append(error)
        assert type(error).__name__ == kind.__name__, f"{type(error)} is only a subclass"
        assert re.search(match, str(error)), f"{error!s} does not match {match}"
        assert "\\n" not in str(error), f"not one line: {error!s}"
    else:
        raise AssertionError(f"did not raise {kind.__name__}")

def key(name="key.txt"):
    if not os.path.exists(name):
        selenite.keygen(name)
    return name

def new_database(name="app.db", rows=3, **more):
    db = selenite.connect(name, identity=key(), **more)
    with db:
        db.execute("CREATE TABLE note(body)")
        db.executemany("INSERT INTO note VALUES (?)", [("a secret body",)] * rows)
    return db

def plain_database(name="plain.db"):
    with contextlib.closing(sqlite3.connect(name)) as db, db:
        db.execute("CREATE TABLE note(body)")
        db.execute("INSERT INTO note VALUES ('in clear')")
    return name

def flip_a_bit(name, at):
    with open(name, "r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1]))
"""


@dataclass(frozen=True)
class Environment:
    """A virtual environment into which the wheel was installed."""

    folder: Path
    home: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin/python"

    @property
    def package(self) -> Path:
        (found,) = self.folder.glob("lib/python3*/site-packages/selenite")
        return found

    def variables(self) -> dict[str, str]:
        """Neither the caller's PATH nor the extension's variables, nor the configuration of who runs the tests."""
        return {
            "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "LANG": "C.UTF-8",
        }

    def run(self, *command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=cwd, env=self.variables() | variables, capture_output=True, text=True, timeout=120
        )

    def execute(self, source: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs Python code."""
        file = self.home / "inside.py"
        file.write_text(f"{PREAMBLE}\n{source}")
        return self.run(self.python, "-W", "error", "-W", "ignore::ResourceWarning", file, cwd=cwd, **variables)


def pythons() -> dict[str, str]:
    """Debian's, which can load extensions, and the oldest and the newest of pyenv's, which cannot."""
    found = {}
    if os.path.exists("/usr/bin/python3"):
        found["debian"] = "/usr/bin/python3"
    by_version = {}
    for path in glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python")):
        version = tuple(int(part) for part in path.split("/")[-3].split(".")[:2])
        probe = "import sqlite3; print(hasattr(sqlite3.Connection, 'enable_load_extension'))"
        if version >= (3, 9):
            ended = subprocess.run([path, "-c", probe], capture_output=True, text=True)
            if ended.stdout.strip() == "False":
                by_version[version] = path
    for version in {min(by_version), max(by_version)} if by_version else ():
        found["without-load-extension-{}.{}".format(*version)] = by_version[version]
    return found


PYTHONS = pythons()


def install(python: str, folder: Path) -> Environment:
    """A new environment with the wheel and nothing else."""
    environment = Environment(folder / "venv", folder / "home")
    environment.home.mkdir()
    subprocess.run([python, "-m", "venv", environment.folder], check=True)
    pip = [environment.python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    ended = environment.run(*pip, "install", "--quiet", "--no-index", "--no-deps", WHEEL, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return environment


@pytest.fixture(scope="session", params=sorted(PYTHONS))
def environment(request: pytest.FixtureRequest) -> Iterator[Environment]:
    with tempfile.TemporaryDirectory(prefix="selenite-package-") as folder:
        yield install(PYTHONS[request.param], Path(folder))


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="selenite-test-") as folder:
        yield Path(folder)


def pytest_configure(config: pytest.Config) -> None:
    if not WHEEL:
        raise pytest.UsageError("SELENITE_TEST_WHEEL names no wheel: run tests/packages/python/run.sh")


def inside(body: Callable[[], None]) -> Callable[[Environment, Path], None]:
    """A test whose source runs in the environment, by its Python, in an empty folder."""

    def test(environment: Environment, folder: Path) -> None:
        source = textwrap.dedent(inspect.getsource(body))
        source = source[source.index("def ") :] + f"\n\n{body.__name__}()\n"
        ended = environment.execute(source, folder)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert ended.stderr == "", ended.stderr

    return test

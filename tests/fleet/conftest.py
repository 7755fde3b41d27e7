"""The Python package of this tree with the binaries of this tree, and folders of databases."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# A job in the background of a script begins with SIGINT ignored, and its children inherit that; a handler they do not.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
COMMAND = Path(os.environ.get("SELENITE_TEST_COMMAND", TARGET / "debug/selenite"))
EXTENSION = Path(os.environ.get("SELENITE_TEST_EXTENSION", TARGET / "debug/libselenite.so"))

# Processes that the tests start have it from the environment.
_PACKAGE = tempfile.TemporaryDirectory(prefix="selenite-fleet-package-")
_COPY = Path(_PACKAGE.name, "selenite")
shutil.copytree(ROOT / "packages/python/src/selenite", _COPY)
for folder, binary, name in (("bin", COMMAND, "selenite"), ("lib", EXTENSION, "libselenite.so")):
    (_COPY / folder).mkdir(exist_ok=True)
    shutil.copy(binary, _COPY / folder / name)
sys.path.insert(0, _PACKAGE.name)
os.environ["PYTHONPATH"] = _PACKAGE.name
for variable in [name for name in os.environ if name.startswith("SELENITE_")]:
    if not variable.startswith("SELENITE_TEST_"):
        del os.environ[variable]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder that is the present one, with two identities in it."""
    with tempfile.TemporaryDirectory(prefix="selenite-fleet-") as name:
        monkeypatch.chdir(name)
        # The configuration of the user who runs the tests does not count.
        for variable in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(variable, str(Path(name, "home")))
        for key in ("key.txt", "new.txt"):
            subprocess.run([COMMAND, "keygen", "-o", key], check=True, capture_output=True)
        yield Path(name)


def make_databases(folder: Path, count: int, kilobytes: int = 20) -> list[Path]:
    """Plain databases 0.db, 1.db and so on, each with its number in it."""
    databases = folder / "databases"
    databases.mkdir(exist_ok=True)
    paths = [databases / f"{number}.db" for number in range(count)]
    for number, path in enumerate(paths):
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("CREATE TABLE t(number, filler)")
            connection.execute("INSERT INTO t VALUES (?, randomblob(?))", (number, kilobytes * 1000))
        connection.close()
    return paths

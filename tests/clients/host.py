"""Hosts: the programs that the tests run, each around another copy of SQLite.

A host is run as a process of its own, because what is tested is between processes: locks, crashes, keys in the
environment. `Peer` is such a process.
"""

import json
import os
import re
import signal
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
EXTENSION = os.environ.get("SELENITE_TEST_EXTENSION", str(TARGET / "debug/libselenite.so"))
SQLITE_NEW = os.environ.get("SELENITE_TEST_SQLITE_NEW", str(ROOT / "target/stock/libsqlite3-new.so"))
NODE = HERE / "node/node_modules/.bin/node"


class Refused(Exception):
    """What SQLite said; `reason` is what the extension says about it."""

    def __init__(self, message: str, code: int | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason or ""


@dataclass(frozen=True)
class Host:
    """A program around a copy of SQLite."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    takes_uri: bool = True

    def start(self, folder: Path, extension: str | None = EXTENSION, **environment: str) -> "Peer":
        """Runs it in `folder`. Of the caller's environment nothing is left that is the extension's."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
        # The configuration of the user who runs the tests does not count.
        own = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config")}
        command = self.command + ([extension] if extension else [])
        kind = ShellPeer if self.name == "sqlite3-shell" else Peer
        return kind(self, command, folder, inherited | own | self.environment | environment)

    def without_the_rights_of_root(self) -> "Host":
        """The same, bound by a file's mode even where root runs the tests."""
        if os.geteuid() != 0:
            return self
        drop = ["setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override"]
        return replace(self, command=drop + self.command)

    def missing(self) -> str | None:
        """Why it can't be run here."""
        if self.command[0] == str(NODE) and not NODE.exists():
            return "no Node of the version asked for: run scripts/need.sh tests"
        return None


class Peer:
    """A running host. It does one request after the other, when it is asked."""

    def __init__(self, host: Host, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.host = host
        self.folder = folder
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, action: str, **request: Any) -> None:
        """Asks for something, and does not wait."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"action": action, **request}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """One line of its answer."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(f"{self.host.name} ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, action: str, **request: Any) -> Any:
        self.send(action, **request)
        reply = self.receive()
        while "done" in reply:
            reply = self.receive()
        if "error" not in reply:
            return reply["answer"]
        raise Refused(reply["error"], reply["code"])

    def open(self, path: Path | str, name: str = "main", **parameters: str | int) -> None:
        """Opens a database through the extension, with its parameters."""
        self.open_plainly(uri(path, vfs="selenite", **parameters) if self.host.takes_uri else str(path), name)

    def open_plainly(self, path: Path | str, name: str = "main") -> None:
        """Opens a database as it is named: through the default VFS, if the name says no other."""
        self._explain("open", name=name, path=str(path))

    def run(self, sql: str, *values: Any, on: str = "main") -> list[list[Any]]:
        return self._explain("run", name=on, sql=sql, values=list(values))

    def value(self, sql: str, *values: Any, on: str = "main") -> Any:
        """The one value of the one row."""
        ((value,),) = self.run(sql, *values, on=on)
        return value

    def close(self, name: str = "main") -> None:
        self.ask("close", name=name)

    def last_error(self) -> str | None:
        return self.ask("run", name="memory", sql="SELECT selenite_last_error()", values=[])[0][0]

    def stop(self) -> None:
        """Ends it; its connections are closed as they would be by any program that ends."""
        assert self.process.stdin and self.process.stdout
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()
        self.process.stdout.close()

    def kill(self) -> None:
        """Ends it where it is: no destructor runs, nothing is flushed."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.stop()

    def _explain(self, action: str, **request: Any) -> Any:
        try:
            return self.ask(action, **request)
        except Refused as error:
            try:
                reason = self.last_error()
            except Refused:
                reason = None
            raise Refused(str(error), error.code, reason) from None


class ShellPeer(Peer):
    """SQLite's own shell, which is told what to do as a person would."""

    END = "-- end of answer --"

    def __init__(self, host: Host, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.slots: list[str] = []
        self.host = host
        self.folder = folder
        program, *extension = command
        # A pipe is buffered by the block, unless stdbuf says by the line.
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", program, "-batch", ":memory:"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.slots.append("memory")
        self._tell(".timeout 60000")
        self._tell(".mode json")
        for path in extension:
            self._tell(f".load {path}")

    def ask(self, action: str, **request: Any) -> Any:
        match action:
            case "open":
                return self._open(**request)
            case "run":
                return self._run(**request)
            case "close":
                slot = self._slot(request["name"])
                self.slots[slot] = ""
                # The one in use can't be closed.
                return self._tell(".connection 0", f".connection close {slot}")
            case _:
                raise NotImplementedError(action)

    def _open(self, name: str, path: str) -> None:
        if "" in self.slots:
            self.slots[self.slots.index("")] = name
        else:
            self.slots.append(name)
        try:
            # .open would go on with an empty database in memory, had it not this one's schema to read.
            self._tell(f".connection {self._slot(name)}", f".open '{path}'", "SELECT count(*) FROM sqlite_master;")
        except Refused:
            self.ask("close", name=name)
            raise

    def _run(self, name: str, sql: str, values: list[Any]) -> list[list[Any]]:
        for value in values:
            sql = sql.replace("?", "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value), 1)
        answer = self._tell(f".connection {self._slot(name)}", sql + ";")
        return [list(row.values()) for row in json.loads(answer)] if answer.strip() else []

    def _slot(self, name: str) -> int:
        return self.slots.index(name)

    def _tell(self, *lines: str) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write("\n".join([*lines, f".print '{self.END}'", ""]))
        self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            if line.rstrip("\n") == self.END:
                break
            said.append(line)
        text = "".join(said)
        if re.search(r"^(Runtime |Parse )?[Ee]rror", text, re.MULTILINE):
            raise Refused(text)
        return text


def uri(path: Path | str, **parameters: str | int) -> str:
    """A file's name as SQLite's URI (sqlite.org/uri.html)."""
    return f"file:{quote(str(path))}?{urlencode(parameters, safe='/:')}"


def _python(name: str, program: str, **environment: str) -> Host:
    return Host(name, ["/usr/bin/python3", str(HERE / "peer" / program)], environment)


def _node(name: str, program: str, takes_uri: bool = True) -> Host:
    return Host(name, [str(NODE), str(HERE / "node" / program)], takes_uri=takes_uri)


DEBIAN_PYTHON = _python("debian-python", "python_sqlite3.py")
# Before what the tests run under.
PRELOADED = f"{SQLITE_NEW} {os.environ.get('LD_PRELOAD', '')}".strip()
NEWEST_PYTHON = _python("python-newest-sqlite", "python_sqlite3.py", LD_PRELOAD=PRELOADED)
APSW = Host("apsw", [str(ROOT / ".venv/bin/python"), str(HERE / "peer/apsw_client.py")])
SHELL = Host("sqlite3-shell", ["/usr/bin/sqlite3"])
NODE_SQLITE = _node("node-sqlite", "node_sqlite.mjs")
BETTER_SQLITE3 = _node("better-sqlite3", "better_sqlite3.mjs", takes_uri=False)
# Two copies of SQLite in one process.
TWO_COPIES = Host("two-copies", [str(ROOT / ".venv/bin/python"), str(HERE / "peer/two_copies.py")])

ALL = [DEBIAN_PYTHON, NEWEST_PYTHON, APSW, SHELL, NODE_SQLITE, BETTER_SQLITE3]
# The oldest SQLite that is supported, and the newest.
OLD_AND_NEW = [DEBIAN_PYTHON, NEWEST_PYTHON]

"""Looks at databases and verifies them by a process of the command that stays: starting one for each database costs more
than the work on a small one."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable, Optional, TypeVar

from .. import _results
from .._command import command_path
from .._errors import command_error
from .._results import Status, Verification

T = TypeVar("T")


def status(path: str, identity: Optional[str]) -> Status:
    """As ``selenite.status``."""
    return _ask(("status",), identity, path, _results.status)


def verify(path: str, identity: Optional[str], physical_only: bool) -> Verification:
    """As ``selenite.verify``."""
    command = ("verify", "--physical-only") if physical_only else ("verify",)
    return _ask(command, identity, path, _results.verification)


class _Process:
    """A process that answers for one database after another."""

    def __init__(self, command: tuple[str, ...], identity: Optional[str]):
        self._command = command[0]
        self._said = tempfile.TemporaryFile()
        own = ["--identity", identity] if identity is not None else []
        self._process = subprocess.Popen(
            [command_path(), *own, *command, "--json", "--files0-from=-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )

    def ask(self, path: str) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        # A process that has ended reads nothing: its answer below is missing, too.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(os.fsencode(path) + b"\0")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if line.endswith(b"\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        exit_status = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        raise command_error(self._command, exit_status, f"ended without an answer: {said or exit_status}")

    def close(self) -> None:
        """The end of its input ends it."""
        for stream in (self._process.stdin, self._process.stdout, self._said):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._process.wait()


class Processes:
    """The processes of some threads; each thread has its own, since a process answers one question at a time."""

    def __init__(self) -> None:
        self._all: set[_Process] = set()
        self._lock = threading.Lock()

    def use(self) -> None:
        """Makes them those of this thread."""
        _thread.processes = self

    def start(self, command: tuple[str, ...], identity: Optional[str]) -> _Process:
        process = _Process(command, identity)
        with self._lock:
            self._all.add(process)
        return process

    def end(self, process: _Process) -> None:
        with self._lock:
            self._all.discard(process)
        process.close()

    def close(self) -> None:
        """Ends all of them, when their threads ask nothing any more."""
        for process in list(self._all):
            self.end(process)


_of_other_threads = Processes()
atexit.register(_of_other_threads.close)


class _Thread(threading.local):
    def __init__(self) -> None:
        self.processes = _of_other_threads
        self.started: dict[tuple[tuple[str, ...], Optional[str]], _Process] = {}


_thread = _Thread()


def _ask(command: tuple[str, ...], identity: Optional[str], path: str, read: Callable[[Path, Any], T]) -> T:
    key = (command, identity)
    process = _thread.started.get(key)
    if process is None:
        process = _thread.started[key] = _thread.processes.start(command, identity)
    try:
        answer = process.ask(path)
    except BaseException:
        # The next question would get the answer to this one.
        del _thread.started[key]
        _thread.processes.end(process)
        raise
    if answer["exit_status"]:
        error = answer["error"]
        raise command_error(command[0], answer["exit_status"], error["message"], error["advice"])
    return read(Path(path), answer["result"])

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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from .. import _results
from .._command import command_path
from .._errors import CommandError, command_error
from .._results import Status


def status(path: str, identity: Optional[str]) -> Status:
    """As ``selenite.status``.

    Raises:
        CommandError: it failed.
    """
    [found] = statuses([path], identity)
    if isinstance(found, Exception):
        raise found
    return _results.status(Path(path), found)


def statuses(paths: Sequence[str], identity: Optional[str]) -> Iterator[Union[dict[str, Any], Exception]]:
    """What ``selenite status`` answers about each, or its error."""
    return _ask(("status",), identity, paths)


def verify(
    paths: Sequence[str], identity: Optional[str], physical_only: bool
) -> Iterator[Union[dict[str, Any], Exception]]:
    """What ``selenite verify`` answers about each, with ``selenite status`` after it as ``status``, or its error."""
    return _ask(("verify", "--with-status", *(["--physical-only"] if physical_only else [])), identity, paths)


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

    def ask(self, names: bytes) -> None:
        """Asks for databases: their names, each with a zero byte behind it, no more than a pipe holds."""
        assert self._process.stdin
        # A process that has ended reads nothing: its answers are missing, too.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(names)
            self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The next answer."""
        assert self._process.stdout
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


def _ask(
    command: tuple[str, ...], identity: Optional[str], paths: Sequence[str]
) -> Iterator[Union[dict[str, Any], Exception]]:
    """The result of the command for each database, or its error; to be taken to the end."""
    names = [os.fsencode(path) + b"\0" for path in paths]
    first = 0
    while first < len(names):
        end = first + 1
        size = len(names[first])
        while end < len(names) and size + len(names[end]) <= _PIPE_SIZE:
            size += len(names[end])
            end += 1
        for answer in _ask_process(command, identity, names[first:end]):
            first += 1
            yield answer


def _ask_process(
    command: tuple[str, ...], identity: Optional[str], names: list[bytes]
) -> Iterator[Union[dict[str, Any], Exception]]:
    """One answer for each name, but none after that for which the process ended."""
    key = (command, identity)
    process = _thread.started.get(key)
    if process is None:
        process = _thread.started[key] = _thread.processes.start(command, identity)
    answered = 0
    try:
        process.ask(b"".join(names))
        while answered < len(names):
            try:
                answer = process.answer()
            except CommandError as error:
                yield error
                return
            answered += 1
            if answer["exit_status"]:
                said = answer["error"]
                yield command_error(command[0], answer["exit_status"], said["message"], said["advice"])
            else:
                yield answer["result"]
    finally:
        if answered < len(names):
            # The next question would get an answer to these.
            del _thread.started[key]
            _thread.processes.end(process)


_PIPE_SIZE = 32768
"""Bytes of names that are sent before their answers are read: less than a pipe holds, so that no side waits for the other
to read."""

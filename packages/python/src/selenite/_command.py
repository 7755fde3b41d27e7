"""Runs the command of this package: its progress to a callback, its errors to exceptions."""

from __future__ import annotations

import errno
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Optional, Union

from ._errors import CommandError, ExtensionError, command_error
from ._platform import COMMAND, misfit, require
from ._results import Progress
from ._uri import Identity, specification

ProgressCallback = Callable[[Progress], None]
Argument = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_logger = logging.getLogger("selenite")
_PHASES = "copying|backing up|restoring|comparing|verifying|checking integrity|sealing|finishing|checking"
_PROGRESS = re.compile(rf"({_PHASES})(?: (\d[\d.]* \w+))?(?:: (\d+) %| \.\.\.)")
_CLEANUP_SECONDS = 5
_WAITING = re.compile(r".+, for \d+ s")


@dataclass(frozen=True)
class Ended:
    """A command that ended with exit status 0, or with an error that has to be raised."""

    output: str
    error: Optional[CommandError]


def command_path() -> str:
    """The path of the command that this package contains.

    Example:
        >>> subprocess.run([selenite.command_path(), "keys", "renew", "app.db"], check=True)
    """
    return str(require(COMMAND))


def run(
    command: str,
    *arguments: Argument,
    identity: Optional[Identity] = None,
    progress: Optional[ProgressCallback] = None,
) -> str:
    """Runs any command of ``selenite`` and returns what it prints.

    Args:
        command: its name, such as ``"keys"``.
        arguments: its arguments: options, then names of files.
        identity: what opens the database; see ``connect``.
        progress: is called with how far the command is: when a phase begins, then every ten seconds. What takes less
            than a second reports nothing. An exception in it stops the command.

    Raises:
        CommandError: the command failed; the subclass says why.
        ExtensionError: the command does not run on this machine.

    Example:
        >>> selenite.run("keys", "add", "app.db", "age1...", identity="key.txt")
    """
    ended = run_to_end(command, arguments, identity, progress)
    if ended.error:
        raise ended.error
    return ended.output


def run_to_end(
    command: str,
    arguments: Sequence[Argument],
    identity: Optional[Identity],
    progress: Optional[ProgressCallback],
) -> Ended:
    """Runs a command whose output counts although it failed."""
    own = specification(identity)
    line = [command_path(), *(["--identity", own] if own is not None else []), command, *arguments]
    try:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise ExtensionError(_cannot_run(error)) from error
    with process:
        output: list[bytes] = []
        assert process.stdout and process.stderr
        reader = threading.Thread(target=lambda stream: output.append(stream.read()), args=(process.stdout,))
        reader.start()
        try:
            said = _listen(process.stderr, progress)
        except KeyboardInterrupt:
            # A terminal sends it to the command, too; a second signal would end that before it has cleaned up.
            try:
                process.wait(_CLEANUP_SECONDS)
            except subprocess.TimeoutExpired:
                process.terminate()
            raise
        except BaseException:
            process.terminate()
            raise
        finally:
            reader.join()
    text = b"".join(output).decode(errors="replace")
    if process.returncode == 0:
        for note in said:
            _logger.log(logging.WARNING if note.startswith("warning: ") else logging.INFO, "%s: %s", command, note)
        return Ended(text, None)
    return Ended(text, _error_of(command, process.returncode, said))


def main() -> None:
    """The console script: replaces this process by the command."""
    try:
        path = command_path()
        os.execv(path, [path, *sys.argv[1:]])
    except ExtensionError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {_cannot_run(error)}")


def _cannot_run(error: OSError) -> str:
    # The kernel's errors for another architecture, and for a missing dynamic linker.
    why = misfit() if error.errno in (errno.ENOEXEC, errno.ENOENT) else None
    return why or f"{COMMAND} does not run: {error.strerror}"


def _listen(stream: object, progress: Optional[ProgressCallback]) -> list[str]:
    """Reads standard error to its end: progress goes to the callback, everything else is returned."""
    said = []
    for raw in stream:  # type: ignore[attr-defined]
        line = raw.decode(errors="replace").rstrip("\n")
        found = _PROGRESS.fullmatch(line)
        if found:
            phase, total, percent = found.groups()
            one = Progress(phase, total, int(percent) if percent else None, line)
        elif _WAITING.fullmatch(line):
            one = Progress("waiting", None, None, line)
        else:
            said.append(line)
            continue
        if progress:
            progress(one)
    return said


def _error_of(command: str, exit_status: int, said: list[str]) -> CommandError:
    """An error is `error: WHAT`, then ` next: ADVICE`; what stands before it are details."""
    lines = [line for line in said if line]
    if exit_status < 0:
        return command_error(command, exit_status, f"was killed by {signal.Signals(-exit_status).name}", "", lines)
    start = next((index for index, line in enumerate(lines) if line.startswith("error: ")), None)
    if start is None:
        return command_error(command, exit_status, f"exit status {exit_status}", "", lines)
    message, advice = [lines[start][len("error: ") :]], ""
    for line in lines[start + 1 :]:
        if line.startswith(" next: "):
            advice = line[len(" next: ") :]
        elif advice or line.startswith("Usage: "):
            break
        else:
            message.append(line.strip())
    return command_error(command, exit_status, " ".join(message), advice, lines[:start])

"""What can go wrong outside SQLite: the extension does not load, or a command fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Optional


class SeleniteError(Exception):
    """The base of all errors of this package.

    An error of a connection is not one of them: it is one of ``sqlite3``'s, as with stock SQLite.

    Example:
        >>> try:
        ...     selenite.verify("app.db", identity="key.txt")
        ... except selenite.SeleniteError as error:
        ...     print(error)
    """


class ExtensionError(SeleniteError, sqlite3.NotSupportedError):
    """The extension cannot be used in this process. The message says why, and what to do.

    Example:
        >>> try:
        ...     selenite.load()
        ... except selenite.ExtensionError as error:
        ...     sys.exit(str(error))
    """


class CommandError(SeleniteError):
    """A command ended with another exit status than 0.

    Each exit status that the documentation lists has a subclass. This class itself stands for 1, "anything else",
    and for a command that was killed (``exit_status`` is then the negative number of the signal).

    Example:
        >>> try:
        ...     selenite.encrypt("app.db", identity="key.txt")
        ... except selenite.CommandError as error:
        ...     print(error.exit_status, error.message, error.advice)

    Attributes:
        command: the name of the command, such as ``verify``.
        exit_status: the exit status of the command.
        message: what happened.
        advice: what to do next; may be empty.
        details: the lines that the command printed before, such as one for each bad page.
        report: what the command found, if it printed that in spite of the error: a ``Verification`` of ``verify``, a
            ``Backup`` of ``backup``, a ``Restore`` of ``restore``.
    """

    def __init__(
        self, command: str, exit_status: int, message: str, advice: str = "", details: Sequence[str] = ()
    ) -> None:
        super().__init__(command, exit_status, message, advice, details)
        self.command = command
        self.exit_status = exit_status
        self.message = message
        self.advice = advice
        self.details = tuple(details)
        self.report: Optional[Any] = None

    def __str__(self) -> str:
        advice = f" (next: {self.advice})" if self.advice else ""
        return f"selenite {self.command}: {self.message}{advice}"


class UsageError(CommandError):
    """Exit status 2: an option or a file name that the command does not accept."""


class NotEncryptedError(CommandError):
    """Exit status 3: an unencrypted database, or no database."""


class IdentityError(CommandError):
    """Exit status 4: no key, a wrong one, or one that is refused."""


class DamagedError(CommandError):
    """Exit status 5: data that is not authentic, missing or damaged. ``report`` says which, if it is known."""


class StorageError(CommandError):
    """Exit status 6: a missing file, a full disk, a store that does not answer."""


class BusyError(CommandError):
    """Exit status 7: the database is in use by another process."""


class InterruptedCommandError(CommandError):
    """Exit status 130: the command was interrupted. ``advice`` says how to continue."""


_BY_EXIT_STATUS = {
    2: UsageError,
    3: NotEncryptedError,
    4: IdentityError,
    5: DamagedError,
    6: StorageError,
    7: BusyError,
    130: InterruptedCommandError,
}


def command_error(
    command: str, exit_status: int, message: str, advice: str = "", details: Sequence[str] = ()
) -> CommandError:
    """The error of an exit status."""
    kind = _BY_EXIT_STATUS.get(exit_status, CommandError)
    return kind(command, exit_status, message, advice, details)

"""Operations on whole databases. Each runs the command of this package, in a process of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Optional, TypeVar, Union

from . import _results
from ._command import Argument, ProgressCallback, command_path, run, run_to_end
from ._errors import ExtensionError
from ._results import Backup, Conversion, KeyList, Restore, Status, Verification
from ._uri import Identity, specification
from ._version import __version__

FilePath = Union[str, "os.PathLike[str]"]
T = TypeVar("T")


def keygen(path: FilePath) -> str:
    """Generates an identity, an age key, in a new file that only its owner can read.

    Keep a copy of the file elsewhere: without it, what is encrypted for it cannot be opened.

    Returns:
        the recipient, ``age1...``: the public part, for ``recipients=``.

    Raises:
        UsageError: the file exists.

    Example:
        >>> selenite.keygen("key.txt")
        'age1...'
    """
    text = run("keygen", "--output", path)
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name == "recipient":
            return value.strip()
    raise _mixed("keygen", text)


def encrypt(
    database: FilePath,
    *,
    identity: Optional[Identity] = None,
    to: Optional[FilePath] = None,
    online: bool = False,
    cipher: Optional[str] = None,
    recipients: Iterable[Union[str, Identity]] = (),
    progress: Optional[ProgressCallback] = None,
) -> Conversion:
    """Encrypts a database of stock SQLite, in place or to a new file, and compares every value.

    In place, no other process can use the database meanwhile, unless ``online`` is set. Freed disk blocks contain the
    original until they are reused.

    Args:
        to: a new file; the original is kept then.
        online: others go on reading and writing, and then in the encrypted database. They have to have opened it with
            the extension, ``plain=allow`` and an identity, in WAL mode.
        cipher: the cipher suite. Without it, AES_256.
        recipients: additional key holders: ``age1...``, or identities.
        progress: see ``run``.

    Raises:
        CommandError: it is encrypted already, or a value differs. Its subclasses say what else.

    Example:
        >>> selenite.encrypt("app.db", identity="key.txt", progress=print)
    """
    more: list[Argument] = ["--json"]
    if to is not None:
        more.append(f"--to={os.fspath(to)}")
    if online:
        more.append("--online")
    if cipher is not None:
        more.append(f"--cipher={cipher}")
    more += _recipients(recipients)
    text = run("encrypt", *more, "--", database, identity=identity, progress=progress)
    return _read("encrypt", text, lambda found: _results.conversion(Path(to if to is not None else database), found))


def decrypt(
    database: FilePath,
    *,
    identity: Optional[Identity] = None,
    to: Optional[FilePath] = None,
    progress: Optional[ProgressCallback] = None,
) -> Conversion:
    """Decrypts a database, in place or to a new file: the result is one of stock SQLite.

    Example:
        >>> selenite.decrypt("app.db", identity="key.txt", to="clear.db")
    """
    more: list[Argument] = ["--json", *([f"--to={os.fspath(to)}"] if to is not None else [])]
    text = run("decrypt", *more, "--", database, identity=identity, progress=progress)
    return _read("decrypt", text, lambda found: _results.conversion(Path(to if to is not None else database), found))


def status(database: FilePath, *, identity: Optional[Identity] = None) -> Status:
    """The status of a database. Without an identity it is not authenticated: ``superblock.authentic`` says so.

    Of a folder, run the command: ``selenite.run("status", "--json", "/srv")``.

    Example:
        >>> selenite.status("app.db", identity="key.txt").superblock.suite
        'AES_256'
    """
    if os.path.isdir(database):
        raise IsADirectoryError(
            f'{os.fspath(database)} is a folder: status takes a database; selenite.run("status", "--json", FOLDER) '
            "lists the databases of a folder"
        )
    text = run("status", "--json", "--", database, identity=identity)
    return _read("status", text, lambda found: _results.status(Path(database), found))


def verify(
    database: FilePath,
    *,
    identity: Optional[Identity] = None,
    physical_only: bool = False,
    anchor: Optional[FilePath] = None,
    write_anchor: Optional[FilePath] = None,
    progress: Optional[ProgressCallback] = None,
) -> Verification:
    """Verifies that every page is authentic and that the database is consistent.

    Args:
        physical_only: leave out SQLite's integrity check.
        anchor: compare with this anchor, to detect an older copy.
        write_anchor: write an anchor if everything is authentic.
        progress: see ``run``.

    Raises:
        DamagedError: a page is not authentic, or older than the anchor, or the database is not consistent; its
            ``report`` is the ``Verification``, with the bad pages.

    Example:
        >>> selenite.verify("app.db", identity="key.txt").page_count
        42
    """
    more: list[Argument] = ["--json"]
    if physical_only:
        more.append("--physical-only")
    for name, file in (("--anchor", anchor), ("--write-anchor", write_anchor)):
        if file is not None:
            more.append(f"{name}={os.fspath(file)}")
    path = Path(database)
    return _run_json(
        "verify", [*more, "--", database], identity, progress, lambda found: _results.verification(path, found)
    )


def backup(
    database: FilePath,
    destination: FilePath,
    *,
    identity: Optional[Identity] = None,
    incremental: bool = False,
    resume: bool = False,
    digest: bool = False,
    skip_bad: bool = False,
    recipients: Iterable[str] = (),
    progress: Optional[ProgressCallback] = None,
) -> Backup:
    """Backs up a database, compressed and encrypted, while others use it.

    Args:
        destination: a folder, or ``s3://BUCKET/PREFIX``.
        incremental: only the changes since the newest backup at the destination.
        resume: continue an interrupted backup at once.
        digest: include a digest of all rows, which ``selenite drill`` compares.
        skip_bad: leave out pages that are not authentic. ``DamagedError`` is raised in the end, too; its ``report``
            is the ``Backup``.
        recipients: additional recipients of this backup, ``age1...``.
        progress: see ``run``.

    Example:
        >>> selenite.backup("app.db", "/backups", identity="key.txt", incremental=True).name
        '20261123T212437Z-74b22d93187a4d93'
    """
    flags = {"--incremental": incremental, "--resume": resume, "--digest": digest, "--skip-bad": skip_bad}
    more: list[Argument] = ["--json", *(name for name, is_set in flags.items() if is_set), *_recipients(recipients)]
    return _run_json("backup", [*more, "--", database, destination], identity, progress, _results.backup)


def restore(
    destination: FilePath,
    to: FilePath,
    *,
    identity: Optional[Identity] = None,
    at: Optional[str] = None,
    name: Optional[str] = None,
    force: bool = False,
    progress: Optional[ProgressCallback] = None,
) -> Restore:
    """Restores a database from the newest backup at a destination.

    Args:
        to: the new file.
        at: restore to this time (UTC), such as ``"2026-03-01T12:00:00Z"``.
        name: the name of a backup, instead of the newest.
        force: replace an existing file.
        progress: see ``run``.

    Example:
        >>> selenite.restore("/backups", "app.db", identity="key.txt").pages
        42
    """
    more: list[Argument] = ["--json", f"--to={os.fspath(to)}", *(["--force"] if force else [])]
    for option, value in (("--at", at), ("--backup", name)):
        if value is not None:
            more.append(f"{option}={value}")
    path = Path(to)
    return _run_json(
        "restore", [*more, "--", destination], identity, progress, lambda found: _results.restore(path, found)
    )


def keys(database: FilePath, *, identity: Optional[Identity] = None) -> KeyList:
    """The key slots of a database: who can open it. Needs no key; with one, ``origin`` and ``commitment`` are known.

    Slots are changed by the command: ``selenite.run("keys", "add", "app.db", "age1...", identity="key.txt")``.

    Example:
        >>> [slot.who for slot in selenite.keys("app.db").slots]
        ['age1...']
    """
    return _read("keys", run("keys", "list", "--json", "--", database, identity=identity), _results.key_list)


def _recipients(recipients: Iterable[Union[str, Identity]]) -> list[Argument]:
    if isinstance(recipients, (str, os.PathLike)):
        raise TypeError("recipients is a list of recipients, not one of them")
    found: list[Argument] = []
    for one in recipients:
        spec = one if isinstance(one, str) and one.startswith("age1") else specification(one)
        found.append(f"--recipient={spec}")
    return found


def _run_json(
    command: str,
    arguments: list[Argument],
    identity: Optional[Identity],
    progress: Optional[ProgressCallback],
    read: Callable[[Any], T],
) -> T:
    ended = run_to_end(command, arguments, identity, progress)
    if ended.error:
        # A command that was killed may have printed a part.
        with suppress(ExtensionError):
            ended.error.report = _read(command, ended.output, read)
        raise ended.error
    return _read(command, ended.output, read)


def _read(command: str, text: str, read: Callable[[Any], T]) -> T:
    """What the command answered, as a result."""
    try:
        return read(json.loads(text))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _mixed(command, text) from error


def _mixed(command: str, text: str) -> ExtensionError:
    return ExtensionError(
        f"{command_path()} is not of this package's version ({__version__}): its answer to {command} is not as expected: "
        f"{text[:200]!r}; install both again: python -m pip install --force-reinstall selenite"
    )

"""Connections to encrypted databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional, TypeVar, Union, cast, overload

from ._extension import check_version, load, version_of
from ._uri import Identity, Options, PathLike, admits_plain, path_of, refuses_plain
from ._uri import uri as make_uri

C = TypeVar("C", bound=sqlite3.Connection)


class _Default:
    """Stands for an argument that sqlite3 decides: its defaults differ between versions of Python."""

    def __repr__(self) -> str:
        return "<as sqlite3.connect>"


_NOT_GIVEN = cast(Any, _Default())


@overload
def connect(
    database: PathLike,
    timeout: float = ...,
    detect_types: int = ...,
    isolation_level: Optional[str] = ...,
    check_same_thread: bool = ...,
    *,
    cached_statements: int = ...,
    uri: bool = ...,
    autocommit: Union[bool, int] = ...,
    identity: Optional[Identity] = ...,
    cipher: Optional[str] = ...,
    mode: Optional[str] = ...,
    plain: bool = ...,
    options: Optional[Options] = ...,
) -> sqlite3.Connection: ...


@overload
def connect(
    database: PathLike,
    timeout: float = ...,
    detect_types: int = ...,
    isolation_level: Optional[str] = ...,
    check_same_thread: bool = ...,
    factory: type[C] = ...,
    cached_statements: int = ...,
    uri: bool = ...,
    *,
    autocommit: Union[bool, int] = ...,
    identity: Optional[Identity] = ...,
    cipher: Optional[str] = ...,
    mode: Optional[str] = ...,
    plain: bool = ...,
    options: Optional[Options] = ...,
) -> C: ...


def connect(
    database: PathLike,
    timeout: float = _NOT_GIVEN,
    detect_types: int = _NOT_GIVEN,
    isolation_level: Optional[str] = _NOT_GIVEN,
    check_same_thread: bool = _NOT_GIVEN,
    factory: Any = _NOT_GIVEN,
    cached_statements: int = _NOT_GIVEN,
    uri: bool = False,
    *,
    autocommit: Union[bool, int] = _NOT_GIVEN,
    identity: Optional[Identity] = None,
    cipher: Optional[str] = None,
    mode: Optional[str] = None,
    plain: bool = False,
    options: Optional[Options] = None,
) -> sqlite3.Connection:
    """Opens an encrypted database, or creates it. The first call in a process loads the extension.

    The arguments up to ``autocommit`` are those of ``sqlite3.connect``, with its defaults.

    Args:
        database: a path; ``":memory:"``; ``""`` for a temporary database; with ``uri=True`` also ``file:...``. The
            temporary files of every connection are encrypted, those of databases in memory, too.
        identity: what opens the database: the path of a key file (see ``keygen``), or a specification such as
            ``"passphrase:PATH"`` or ``"command:NAME"``. Without it, the variable ``SELENITE_IDENTITY`` and the
            configuration file count.
        cipher: the cipher suite of a database that does not exist yet, such as ``"AEGIS_256X4"``. Without it, AES_256.
        mode: ``"ro"``, ``"rw"`` (no new database), ``"rwc"`` (the default) or ``"memory"``, as in SQLite's URIs.
        plain: admit an unencrypted database, for the time before it is encrypted.
        options: other parameters of the URI, such as ``{"pool_size": "256M", "origin": "any", "immutable": 1}``.

    Returns:
        a ``sqlite3.Connection``.

    Raises:
        sqlite3.Error: as by ``sqlite3.connect``, with the extension's reason in the message.
        ExtensionError: the extension does not load. It is a ``sqlite3.NotSupportedError``, too.
        ValueError: see ``uri``.

    Example:
        >>> db = selenite.connect("app.db", identity="key.txt")
        >>> with db:
        ...     db.execute("CREATE TABLE note(body)")
        ...     db.execute("INSERT INTO note VALUES ('secret')")
    """
    load()
    stock = {
        "timeout": timeout,
        "detect_types": detect_types,
        "isolation_level": isolation_level,
        "check_same_thread": check_same_thread,
        "factory": factory,
        "cached_statements": cached_statements,
        "autocommit": autocommit,
    }
    given = {name: value for name, value in stock.items() if value is not _NOT_GIVEN}
    name = make_uri(database, identity=identity, cipher=cipher, mode=mode, plain=plain, options=options, is_uri=uri)
    with explained(name):
        connection = cast(sqlite3.Connection, sqlite3.connect(name, uri=True, **given))
    return checked(connection, name)


def last_error(connection: Optional[sqlite3.Connection] = None) -> Optional[str]:
    """Why a file of the connection was last refused, such as which page is not authentic.

    SQLite's own message is short: ``disk I/O error`` may stand for a page that was altered.

    Args:
        connection: the connection whose statement failed. Without it, the latest error of the process.

    Example:
        >>> try:
        ...     db.execute("SELECT * FROM note").fetchall()
        ... except sqlite3.Error as error:
        ...     print(error, selenite.last_error(db))
    """
    load(connection)
    if connection is not None:
        return _last_error_of(connection)
    boot = sqlite3.connect(":memory:")
    try:
        return _last_error_of(boot)
    finally:
        boot.close()


def checked(connection: C, uri: str) -> C:
    """A connection whose database is encrypted, and whose extension is of this package's version."""
    try:
        check_version(version_of(connection))
        if not (refuses_plain(uri) or admits_plain(uri) or _is_encrypted(connection)):
            raise sqlite3.DatabaseError(
                f"file is not encrypted: {path_of(uri)} is an unencrypted database; encrypt it (selenite.encrypt), or "
                "admit it with plain=True"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def _is_encrypted(connection: sqlite3.Connection) -> bool:
    """Whether the main database is encrypted, or will be (its file is empty), or has no file."""
    cursor = sqlite3.Connection.cursor(connection)
    cursor.row_factory = None
    rows = cursor.execute("SELECT value FROM selenite_status WHERE section = 'database' AND name = 'encrypted'")
    return all(value in ("yes", "no database yet") for (value,) in rows)


@contextmanager
def explained(uri: str) -> Iterator[None]:
    """Adds the extension's reason to an error of opening a database. The class of the error stays."""
    try:
        yield
    except sqlite3.Error as error:
        boot = sqlite3.connect(":memory:")
        reason = _last_error_of(boot, path_of(uri))
        boot.close()
        if reason and error.args:
            error.args = (f"{error.args[0]}: {reason}", *error.args[1:])
        raise


def _last_error_of(connection: sqlite3.Connection, path: Optional[str] = None) -> Optional[str]:
    cursor = sqlite3.Connection.cursor(connection)
    cursor.row_factory = None
    of_file = ("SELECT selenite_last_error(?)", (path,)) if path else ("SELECT selenite_last_error()", ())
    (text,) = cursor.execute(*of_file).fetchone()
    return cast(Optional[str], text)

"""Loads the extension, once for each copy of SQLite in the process.

- auto-extension: the extension, once loaded, adds itself to every connection that its copy of SQLite opens later.
- one-version: the VFS of a process is of one version. Another one that was loaded before is not replaced.
- checked-by-result: whether a way to load worked is seen by a new connection that knows ``selenite_version()``.
"""

from __future__ import annotations

import ctypes
import inspect
import os
import sqlite3
import threading
from typing import Any, Optional

from ._errors import ExtensionError
from ._platform import EXTENSION, misfit, require
from ._version import __version__

_OLDEST_SQLITE = (3, 40, 0)
_WAY_OUT = (
    "use a Python that can (Debian's, python.org's, conda's; pyenv: "
    'PYTHON_CONFIGURE_OPTS="--enable-loadable-sqlite-extensions" pyenv install), '
    "or pip install apsw and open the database by it: see selenite.load"
)
_loaded = False
_lock = threading.Lock()


def load(connection: Optional[Any] = None) -> None:
    """Loads the extension into the process, and its functions into a connection that is open already.

    Every connection that is opened afterwards has the functions and can use ``vfs=selenite``. ``connect`` does this by
    itself. A Python whose ``sqlite3`` cannot load extensions (pyenv's, for example) is served, too: the extension is then
    loaded through the SQLite library that Python's ``_sqlite3`` module is linked to.

    Args:
        connection: a connection of ``sqlite3``, or of another module that brings its own copy of SQLite, such as
            ``apsw`` and ``pysqlite3``: the extension is loaded into that copy. Without it, into that of ``sqlite3``.

    Raises:
        ExtensionError: the message says why, and what to do.

    Example:
        >>> import apsw, selenite
        >>> selenite.load(apsw.Connection(":memory:"))
        >>> flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        >>> db = apsw.Connection(selenite.uri("app.db", identity="key.txt"), flags=flags)
    """
    if connection is None:
        _load_into_sqlite3()
        return
    kind = _connection_class(connection)
    if kind is sqlite3.Connection:
        _load_into_sqlite3()
    else:
        _load_by(kind)
    if version_of(connection) is None:
        # It was opened before.
        if not _can_load(connection):
            raise ExtensionError(
                "this connection was opened before the extension was loaded, and this Python cannot load extensions "
                "into an open connection; call selenite.load() first, or open it by selenite.connect()"
            )
        _load_on(connection)


def version_of(connection: Any) -> Optional[str]:
    """The version of the extension that a connection has, or ``None`` if it has none."""
    cursor = connection.cursor()
    if isinstance(cursor, sqlite3.Cursor):
        cursor.row_factory = None
    try:
        (row,) = list(cursor.execute("SELECT selenite_version()"))
    except Exception as error:  # Each module has its own class for it.
        if "no such function" in str(error):
            return None
        raise
    return str(row[0])


def check_version(found: Optional[str]) -> None:
    """Refuses another version than that of the package."""
    if found is not None and found != __version__:
        raise ExtensionError(
            f"two versions of the extension in one process: {found} is loaded"
            f"{_loaded_from()}, and this package is {__version__}; remove the other call of load_extension, "
            f"or install selenite=={found}"
        )


def _load_into_sqlite3() -> None:
    global _loaded
    with _lock:
        if not _loaded:
            _load_by(sqlite3.Connection)
            _loaded = True


def _load_by(kind: Any) -> None:
    """Loads the extension into the copy of SQLite that a class of connections uses."""
    boot = kind(":memory:")
    try:
        _check_sqlite(boot)
        found = version_of(boot)
        check_version(found)
        if found is None:
            require(EXTENSION)
            if _can_load(boot):
                _load_on(boot)
            else:
                _load_through_library()
            _check_loaded(kind)
    finally:
        boot.close()


def _check_loaded(kind: Any) -> None:
    probe = kind(":memory:")
    try:
        found = version_of(probe)
    finally:
        probe.close()
    if found is None:
        raise ExtensionError(
            "the extension was loaded, but not into the copy of SQLite that this Python uses: another one hides it "
            "(LD_PRELOAD, or a module that exports SQLite's symbols); start Python without it"
        )
    if found != __version__:
        raise ExtensionError(
            f"{EXTENSION} is version {found}, and this package is {__version__}: the installation is mixed; "
            "install it again: python -m pip install --force-reinstall selenite"
        )


def _check_sqlite(connection: Any) -> None:
    asked = "SELECT sqlite_version(), sqlite_compileoption_used('OMIT_LOAD_EXTENSION')"
    ((text, omits),) = list(connection.cursor().execute(asked))
    version = tuple(int(part) for part in str(text).split("."))
    if version < _OLDEST_SQLITE:
        raise ExtensionError(
            f"SQLite {text} is too old: selenite needs 3.40 or later; use a newer Python or a newer libsqlite3, or "
            "a module that brings its own SQLite (apsw, pysqlite3)"
        )
    if omits:
        raise ExtensionError(
            f"SQLite {text} cannot load extensions: it was compiled with SQLITE_OMIT_LOAD_EXTENSION; {_WAY_OUT}"
        )


def _connection_class(connection: Any) -> Any:
    """The class below all subclasses: that of the module whose copy of SQLite is used."""
    # A wrapper, such as aiosqlite's, has the name, but is written in Python.
    kinds = [
        kind
        for kind in type(connection).__mro__
        if kind.__name__ == "Connection" and not inspect.isfunction(getattr(kind, "__init__"))
    ]
    if not kinds:
        name = f"{type(connection).__module__}.{type(connection).__qualname__}"
        raise TypeError(
            f"{name} is not a connection of sqlite3, or of a module like it (apsw, pysqlite3); if it has one of "
            "sqlite3 inside, call selenite.load() without it"
        )
    return kinds[-1]


def _can_load(connection: Any) -> bool:
    return hasattr(connection, "enable_load_extension") or hasattr(connection, "enableloadextension")


def _load_on(connection: Any) -> None:
    """Loads by the connection's own method. Loading extensions is permitted afterwards only if it was before."""
    modern = hasattr(connection, "enable_load_extension")
    enable = connection.enable_load_extension if modern else connection.enableloadextension
    load_extension = connection.load_extension if modern else connection.loadextension
    was_enabled = _loading_is_enabled(connection)
    enable(True)
    try:
        load_extension(str(EXTENSION))
    except Exception as error:  # Each module has its own class for it.
        raise _cannot_load(str(error)) from error
    finally:
        enable(was_enabled)


def _loading_is_enabled(connection: Any) -> bool:
    # Python tells since 3.12.
    option = getattr(sqlite3, "SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION", None)
    if option is None or not isinstance(connection, sqlite3.Connection):
        return False
    return bool(connection.getconfig(option))  # type: ignore[attr-defined,unused-ignore]


def _load_through_library() -> None:
    """Loads through SQLite's C interface, on a connection of its own."""
    library = _library_of_sqlite3()
    database, message = ctypes.c_void_p(), ctypes.c_char_p()
    try:
        if library.sqlite3_open(b":memory:", ctypes.byref(database)):
            raise ExtensionError("SQLite cannot open a database in memory")
        library.sqlite3_enable_load_extension(database, 1)
        if library.sqlite3_load_extension(database, os.fsencode(EXTENSION), None, ctypes.byref(message)):
            raise _cannot_load((message.value or b"").decode(errors="replace"))
    finally:
        library.sqlite3_free(message)
        library.sqlite3_close(database)


def _library_of_sqlite3() -> ctypes.CDLL:
    """The copy of SQLite that Python's ``_sqlite3`` calls: the one with its version and source id.

    The linker takes SQLite's symbols from the whole process first (a static Python, LD_PRELOAD), then from the
    libraries that the module itself needs.
    """
    boot = sqlite3.connect(":memory:")
    ((source_id,),) = boot.execute("SELECT sqlite_source_id()")
    boot.close()
    found = []
    for name in (None, _file_of_module()):
        try:
            library = ctypes.CDLL(name)
            library.sqlite3_sourceid.restype = ctypes.c_char_p
            found.append(library.sqlite3_sourceid())
            if found[-1] == source_id.encode():
                for function in ("sqlite3_enable_load_extension", "sqlite3_load_extension"):
                    getattr(library, function)
                library.sqlite3_free.argtypes = [ctypes.c_void_p]
                return library
        except (OSError, AttributeError):
            continue
    why = (
        "it is linked into Python, which does not export its functions"
        if not found
        else "the copy of SQLite that the process exports is another one"
    )
    raise ExtensionError(
        f"this Python's sqlite3 (SQLite {sqlite3.sqlite_version}) cannot load extensions, and its SQLite cannot be "
        f"reached through ctypes: {why}; {_WAY_OUT}"
    )


def _file_of_module() -> Optional[str]:
    import _sqlite3

    return getattr(_sqlite3, "__file__", None)


def _cannot_load(why: str) -> ExtensionError:
    return ExtensionError(misfit() or f"{EXTENSION} cannot be loaded: {why or 'SQLite gives no reason'}")


def _loaded_from() -> str:
    """The files of other copies of the extension in this process, for a message."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            files = {line.split(maxsplit=5)[5].strip() for line in maps if "selenite" in line and ".so" in line}
    except (OSError, IndexError):
        return ""
    others = sorted(file for file in files if file != str(EXTENSION))
    return f" from {', '.join(others)}" if others else ""

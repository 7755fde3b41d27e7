"""URIs of encrypted databases (sqlite.org/uri.html), and the parameters of the extension in them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Optional, Union
from urllib.parse import quote, quote_from_bytes, unquote

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Identity = Union[str, "os.PathLike[str]"]
Options = Mapping[str, Union[str, int]]

# Not a colon: "file:a:b" is a path to SQLite, but %3A is one to every reader of URIs.
_SAFE_IN_PATH = "/"
_SAFE_IN_VALUE = "/:,"


def uri(
    database: PathLike,
    *,
    identity: Optional[Identity] = None,
    cipher: Optional[str] = None,
    mode: Optional[str] = None,
    plain: bool = False,
    options: Optional[Options] = None,
    is_uri: bool = False,
) -> str:
    """The URI of an encrypted database, for programs that open it themselves, such as apsw and aiosqlite.

    The extension has to be loaded first: see ``load``. Every byte of a path is escaped where SQLite's syntax asks for
    it, so that a path may contain ``?``, ``#``, ``%``, spaces, and bytes that are not UTF-8.

    Args:
        database: a path; ``":memory:"`` for a database in memory; ``""`` for a temporary one. With ``is_uri``, also
            a URI (``file:...``), to which the parameters are added.
        identity: what opens the database: the path of a key file, or a specification such as ``"passphrase:PATH"`` or
            ``"command:NAME"``. Without it, the variable ``SELENITE_IDENTITY`` and the configuration file count.
        cipher: the cipher suite of a database that does not exist yet.
        mode: SQLite's: ``"ro"``, ``"rw"`` (no new database), ``"rwc"`` (the default) or ``"memory"``.
        plain: admit an unencrypted database although an identity is in force. (Without any identity one is opened as
            it is; ``connect`` refuses it. ``options={"encrypted": "required"}`` refuses it, and a file that is new.)
        options: other parameters of the URI, such as ``{"pool_size": "256M", "origin": "any", "immutable": 1}``.
        is_uri: whether a ``database`` that begins with ``file:`` is a URI. Otherwise it is the name of a file.

    Raises:
        ValueError: the identity is a key and not the path of one; a value cannot be written in a URI; a parameter is
            given twice; the URI names another VFS.

    Example:
        >>> selenite.uri("50% off?.db", identity="key.txt")
        'file:50%25%20off%3F.db?vfs=selenite&selenite_identity=key.txt'
    """
    start, given = _split(database, is_uri)
    parameters: dict[str, str] = {}
    vfs = given.pop("vfs", "selenite")
    if vfs != "selenite":
        raise ValueError(f"the URI names the VFS {vfs!r}: an encrypted database needs vfs=selenite")
    parameters["vfs"] = "selenite"
    own = {name: _text(name, value) for name, value in (options or {}).items()}
    if plain:
        own.setdefault("plain", "allow")
    for name, value in (("mode", mode), ("cipher", cipher), ("selenite_identity", specification(identity))):
        if value is not None:
            if name in own:
                raise ValueError(f"{name} is given twice: as an argument and in options")
            own[name] = _text(name, value)
    for name in own:
        if name in given:
            raise ValueError(f"{name} is given twice: as an argument and in the URI")
    parameters.update(given)
    parameters.update(own)
    query = "&".join(
        f"{quote(name, safe='')}={quote(value, safe=_SAFE_IN_VALUE, errors='surrogateescape')}"
        for name, value in parameters.items()
    )
    return f"{start}?{query}"


def path_of(uri: str) -> str:
    """The path in a URI, as the extension names the file in its messages."""
    path = unquote(uri.partition("?")[0].partition(":")[2], errors="surrogateescape")
    if path.startswith("//"):
        path = "/" + path[2:].partition("/")[2]
    return os.fsencode(path).decode(errors="replace")


def admits_plain(uri: str) -> bool:
    """Whether an unencrypted database is admitted: by the URI, or by the environment."""
    values = [part for part in uri.partition("?")[2].split("&") if part.startswith("plain=")]
    return "plain=allow" in values if values else os.environ.get("SELENITE_PLAIN") == "allow"


def refuses_plain(uri: str) -> bool:
    """Whether the VFS refuses an unencrypted database by itself: an identity is in force, and nothing admits one.

    Without an identity it opens an unencrypted database as it is.
    """
    return not admits_plain(uri) and ("&selenite_identity=" in uri or bool(os.environ.get("SELENITE_IDENTITY")))


def _split(database: PathLike, is_uri: bool) -> tuple[str, dict[str, str]]:
    """The URI up to its parameters, and the parameters that it has."""
    raw = os.fsencode(database)
    if b"\0" in raw:
        raise ValueError("embedded null character")
    if not (is_uri and raw.startswith(b"file:")):
        # After two slashes SQLite expects an authority, which may be empty.
        scheme = "file://" if raw.startswith(b"/") else "file:"
        return scheme + quote_from_bytes(raw, safe=_SAFE_IN_PATH), {}
    text = raw.partition(b"#")[0].decode("utf-8", "surrogateescape")
    start, _, query = text.partition("?")
    given: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name:
            # The first one counts, as in SQLite.
            given.setdefault(unquote(name, errors="surrogateescape"), unquote(value, errors="surrogateescape"))
    # Python takes a text, and SQLite its UTF-8: bytes that are none of it are escaped.
    return "".join(
        character if character.isascii() else quote(character, errors="surrogateescape") for character in start
    ), given


def specification(identity: Optional[Identity]) -> Optional[str]:
    if identity is None:
        return None
    path = os.fspath(identity)
    if not isinstance(path, str):
        raise TypeError("an identity is a str or an os.PathLike[str], not bytes")
    if path.upper().startswith(("AGE-SECRET-KEY-", "AGE-PLUGIN-")):
        # The key is not repeated: messages end in logs.
        raise ValueError(
            "the identity is a key, and not the path of a file that contains it; write the key to a file that no "
            "other user can read, and give its path"
        )
    if path.startswith("age1"):
        raise ValueError(f"{path} is a recipient, which cannot open a database; give the path of its key file")
    if not isinstance(identity, str) and path.startswith(("age:", "raw:", "passphrase:", "command:")):
        # Otherwise the name of a file would be read as a specification.
        path = "./" + path
    return path


def _text(name: str, value: Union[str, int]) -> str:
    """A value as the extension reads it: UTF-8 but for paths, and no zero byte, at which SQLite ends it."""
    if isinstance(value, bool):
        raise TypeError(f"{name} is a str or an int, not bool: see docs/CONFIGURATION.md for its values")
    text = str(value)
    try:
        # The path of a key file need not be UTF-8: Python has its other bytes as surrogates (PEP 383).
        text.encode(errors="surrogateescape" if name == "selenite_identity" else "strict")
    except UnicodeEncodeError:
        raise ValueError(f"{name}: a parameter of a URI has to be UTF-8") from None
    if "\0" in text or "\0" in name:
        raise ValueError(f"{name}: embedded null character")
    return text

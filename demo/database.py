"""How an application opens a database: in clear, or through the extension. Nothing else differs."""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

EXTENSION = os.environ.get("SELENITE_EXTENSION", "libselenite")
# An extension stays with the process, whatever becomes of the connection that loaded it.
_loader: list[sqlite3.Connection] = []


def load() -> sqlite3.Connection:
    if not _loader:
        loader = sqlite3.connect(":memory:")
        loader.enable_load_extension(True)
        loader.load_extension(EXTENSION)
        _loader.append(loader)
    return _loader[0]


def connect(path: Path, encrypted: bool | None = None) -> sqlite3.Connection:
    """Opens a database; whether it is encrypted is seen by its first bytes, if the caller does not say it."""
    if is_encrypted(path) if encrypted is None else encrypted:
        load()
        name = f"file:{quote(str(path))}?vfs=selenite"
    else:
        name = f"file:{quote(str(path))}"
    return sqlite3.connect(name, uri=True, isolation_level=None, timeout=60)


def is_encrypted(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8) == b"Selenite"


def last_error() -> str:
    """What the extension said last, in words."""
    return load().execute("SELECT selenite_last_error()").fetchone()[0] or ""


def quoted(name: str) -> str:
    """An identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def tables(connection: sqlite3.Connection) -> list[str]:
    """The tables that hold rows themselves, the demonstration's own left out."""
    names = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'selenite\\_%' ESCAPE '\\' ORDER BY name"
    )
    return [name for (name,) in names]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({quoted(table)})")]


def row_count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()[0])

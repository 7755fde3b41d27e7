"""Makes databases of SQLCipher 3 (one iteration, so that they open at once): closed, with a WAL, with a hot journal.

Needs the wheel sqlcipher3. Run once: SQLCipher draws a salt and nonces.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PASSPHRASE = "import"
ROWS = 24
SCHEMA = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE INDEX by_body ON t(body);
    CREATE TABLE keyed(a TEXT PRIMARY KEY, b) WITHOUT ROWID;
"""


def body(number: int, version: int) -> str:
    return f"version {version} of row {number} " * (2 + number * 53 % 2000 // 20)


def connect(path: str):
    from sqlcipher3 import dbapi2

    connection = dbapi2.connect(path, isolation_level=None)
    for pragma in (f"key = '{PASSPHRASE}'", "cipher_compatibility = 3", "kdf_iter = 1"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def write(connection, version: int, numbers: range) -> None:
    for number in numbers:
        connection.execute("INSERT OR REPLACE INTO t VALUES(?, ?)", (number, body(number, version)))
        connection.execute("INSERT OR REPLACE INTO keyed VALUES('key ' || ?1, zeroblob(?1))", (number,))


def crash(path: str, log: str) -> None:
    """Ends without closing: with committed changes in a WAL, or in the middle of a transaction."""
    connection = connect(path)
    if log == "wal":
        connection.execute("PRAGMA journal_mode = wal")
        write(connection, 2, range(3, 9))
    else:
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("BEGIN")
        write(connection, 2, range(1, ROWS))
    os._exit(0)


def main() -> None:
    if len(sys.argv) > 1:
        crash(*sys.argv[1:])
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        closed = Path(folder) / "closed.db"
        connection = connect(str(closed))
        connection.executescript(SCHEMA)
        write(connection, 1, range(1, ROWS))
        connection.close()
        shutil.copy(closed, here)
        for log in ("wal", "journal"):
            path = shutil.copy(closed, f"{folder}/{log}.db")
            subprocess.run([sys.executable, __file__, path, log], check=True)
            shutil.copy(path, here)
            shutil.copy(f"{path}-{log}", here)


main()

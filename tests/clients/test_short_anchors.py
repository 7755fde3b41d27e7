"""Short anchors of a database that several processes write (FORMAT 10.8): each process is a session of its own."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from host import EXTENSION, uri
from test_command import COMMAND, selenite

WRITER = """
import sqlite3, sys
extension, database, *statements = sys.argv[1:]
loader = sqlite3.connect(":memory:")
loader.enable_load_extension(True)
loader.load_extension(extension)
db = sqlite3.connect(database, uri=True, isolation_level=None)
for statement in statements:
    db.execute(statement).fetchall()
"""


@pytest.fixture
def database(folder: Path, loaded: None) -> sqlite3.Connection:
    """One that stays open: its log is not removed."""
    selenite(folder, "keygen", "-o", "key.txt")
    db = connect(folder / "app.db")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, number, filler)")
    db.executemany("INSERT INTO t VALUES (?, 0, randomblob(3000))", [(number,) for number in range(120)])
    return db


@pytest.fixture(scope="module")
def loaded() -> sqlite3.Connection:
    loader = sqlite3.connect(":memory:")
    loader.enable_load_extension(True)
    loader.load_extension(EXTENSION)
    return loader


def name(path: Path, **parameters: str) -> str:
    key = path.parent / "key.txt" if path.name == "app.db" else path.parent.parent / "key.txt"
    return uri(path, vfs="selenite", selenite_identity=str(key), **parameters)


def connect(path: Path, **parameters: str) -> sqlite3.Connection:
    return sqlite3.connect(name(path, **parameters), uri=True, isolation_level=None)


def write(path: Path, *statements: str) -> None:
    subprocess.run([sys.executable, "-c", WRITER, EXTENSION, name(path), *statements], check=True)


def follow(folder: Path) -> None:
    selenite(folder, "-i", "key.txt", "follow", "app.db", "--anchor-to", "anchors", "--once")


def copy(folder: Path, to: str) -> Path:
    place = folder / to
    place.mkdir()
    for suffix in ("", "-wal"):
        if Path(f"{folder}/app.db{suffix}").exists():
            # In another process: closing the file here would release the locks of this one.
            subprocess.run(["cp", f"{folder}/app.db{suffix}", place / f"copy.db{suffix}"], check=True)
    return place / "copy.db"


def is_refused(path: Path, anchors: Path) -> bool:
    db = connect(path, anchor=str(anchors))
    try:
        db.execute("SELECT count(*) FROM t").fetchone()
    except sqlite3.OperationalError as error:
        assert "disk I/O error" in str(error)
        return True
    finally:
        db.close()
    return False


def test_an_image_that_was_overwritten_at_once_is_known(folder: Path, database: sqlite3.Connection) -> None:
    follow(folder)
    copies = []
    for number in range(1, 4):
        write(folder / "app.db", f"UPDATE t SET number = {number} WHERE id = 7")
        copies.append(copy(folder, f"copy{number}"))
    follow(folder)
    assert [is_refused(path, folder / "anchors") for path in copies] == [True, True, False]
    assert not is_refused(folder / "app.db", folder / "anchors")
    database.close()


def test_the_last_commit_is_named_however_many_sessions_there_are(folder: Path, database: sqlite3.Connection) -> None:
    for number in range(70):
        write(folder / "app.db", f"UPDATE t SET number = 1 WHERE id = {number}")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    follow(folder)
    database.execute("UPDATE t SET number = 2 WHERE id = 119")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    follow(folder)
    old = copy(folder, "old")
    database.execute("UPDATE t SET number = 3 WHERE id = 119")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert not is_refused(old, folder / "anchors")
    follow(folder)
    assert is_refused(old, folder / "anchors")
    assert not is_refused(folder / "app.db", folder / "anchors")
    database.close()


def test_a_page_that_a_checkpoint_seals_again_is_not_older(folder: Path, database: sqlite3.Connection) -> None:
    database.execute("PRAGMA wal_autocheckpoint = 0")
    database.execute("UPDATE t SET filler = randomblob(3000)")
    reader = connect(folder / "app.db")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM t").fetchone()
    command = [COMMAND, "-i", "key.txt", "reencrypt", "app.db", "--new-key", "--max-rate=1MB/s"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as reencryption:
        while database.execute("SELECT count(*) FROM selenite_status WHERE section = 'epoch'").fetchone()[0] < 2:
            assert reencryption.poll() is None
            database.execute("SELECT count(*) FROM t").fetchone()
        reencryption.kill()
    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    database.execute("UPDATE t SET number = 1 WHERE id = 3")
    follow(folder)
    reader.execute("ROLLBACK")
    reader.close()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert not is_refused(folder / "app.db", folder / "anchors")
    follow(folder)
    database.close()

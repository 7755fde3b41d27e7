"""Databases past 1 GiB, where SQLite's file locks lie in the middle of the file (FORMAT 2.3)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from database_file import PREFIX_SIZE
from host import DEBIAN_PYTHON, NEWEST_PYTHON, Host, Peer

Start = Callable[..., Peer]
LOCK_BYTES = 1 << 30
LOCK_SIZE = 512
# No value of SQLite's is larger (SQLITE_MAX_LENGTH).
BLOB_MAX = 990_000_000
# The trailer, and the number of the next page of a long value.
OVERHEAD = 48 + 4
ROWS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'row ' || i, ? FROM n"


def fill_to(peer: Peer, size: int, page_size: int) -> None:
    """Zeros up to about 2 MB before `size`, then 4 MB of rows that are known by their text."""
    rest = size // page_size * (page_size - OVERHEAD) - 2_000_000
    while rest > 0:
        peer.run("INSERT INTO filler VALUES (zeroblob(?))", min(rest, BLOB_MAX))
        rest -= BLOB_MAX
    peer.run(f"INSERT INTO note(body, data) {ROWS}", "x" * 4000)


def bytes_at(path: Path, offset: int, size: int) -> bytes:
    with path.open("rb") as file:
        return os.pread(file.fileno(), size, offset)


def assert_all_is_there(peer: Peer, letter: str) -> None:
    whole = "SELECT count(*), min(length(data)), count(DISTINCT data), max(substr(data, 1, 1)) FROM note"
    assert peer.run(whole) == [[1000, 4000, 1, letter]]
    assert peer.value("SELECT count(DISTINCT body) FROM note") == 1000


@pytest.mark.parametrize(
    ("host", "page_size", "journal_mode"),
    [(DEBIAN_PYTHON, 4096, "wal"), (NEWEST_PYTHON, 65536, "delete")],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_lock_bytes_stay_free_in_a_database_that_grows_over_them(
    host: Host, page_size: int, journal_mode: str, start: Start, folder: Path
) -> None:
    path = folder / "large.db"
    displaced = (LOCK_BYTES - PREFIX_SIZE) // page_size + 1
    lock_page = LOCK_BYTES // page_size + 1
    peer = start(host)
    peer.open(path, page_size=page_size, auto_vacuum="full")
    peer.run("PRAGMA synchronous = off")
    peer.run("CREATE TABLE filler(data)")
    peer.run("CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, data TEXT)")
    fill_to(peer, LOCK_BYTES, page_size)
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    assert LOCK_BYTES - 2_000_000 < path.stat().st_size - 4_000_000 < LOCK_BYTES
    assert_all_is_there(peer, "x")
    assert bytes_at(path, LOCK_BYTES, LOCK_SIZE) == bytes(LOCK_SIZE)
    assert bytes_at(path, PREFIX_SIZE + (lock_page - 1) * page_size, page_size) != bytes(page_size)
    assert PREFIX_SIZE + (displaced - 1) * page_size == LOCK_BYTES

    # A transaction over both sides of the lock bytes is rolled back by the next process.
    peer.run("PRAGMA cache_size = 4")
    peer.run("BEGIN")
    peer.run("UPDATE note SET data = replace(data, 'x', 'y')")
    peer.kill()
    peer = start(host)
    peer.open(path)
    peer.run("PRAGMA synchronous = off")
    assert_all_is_there(peer, "x")
    peer.run("UPDATE note SET data = replace(data, 'x', 'z')")
    peer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    assert_all_is_there(peer, "z")

    # It shrinks to less than the lock bytes, and grows over them again.
    peer.run("DELETE FROM note")
    peer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    assert path.stat().st_size < LOCK_BYTES
    peer.run(f"INSERT INTO note(body, data) {ROWS}", "w" * 4000)
    peer.stop()
    peer = start(host)
    peer.open(path)
    assert_all_is_there(peer, "w")
    assert peer.value("PRAGMA integrity_check") == "ok"
    assert bytes_at(path, LOCK_BYTES, LOCK_SIZE) == bytes(LOCK_SIZE)


@pytest.mark.skipif("SELENITE_SOAK" not in os.environ, reason="writes 4 GiB: SELENITE_SOAK=1 runs it")
def test_a_database_grows_past_4_gib(start: Start, folder: Path) -> None:
    path = folder / "large.db"
    peer = start(NEWEST_PYTHON)
    peer.open(path)
    peer.run("PRAGMA synchronous = off")
    peer.run("CREATE TABLE filler(data)")
    peer.run("CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, data TEXT)")
    fill_to(peer, 1 << 32, page_size=4096)
    assert path.stat().st_size > 1 << 32
    peer.stop()
    peer = start(DEBIAN_PYTHON)
    peer.open(path)
    assert_all_is_there(peer, "x")
    assert peer.value("PRAGMA integrity_check") == "ok"

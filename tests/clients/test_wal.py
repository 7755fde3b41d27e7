"""The write-ahead log, where SQLite does with it what is rare."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from database_file import DatabaseFile
from host import OLD_AND_NEW, Host, Peer
from note_table import fill

each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
REWRITE = "UPDATE note SET body = upper(body), data = randomblob(3000)"


@each_host
@pytest.mark.parametrize("ending", ["COMMIT", "ROLLBACK"])
def test_a_transaction_reads_what_it_spilled(
    host: Host, ending: str, start: Callable[..., Peer], folder: Path
) -> None:
    """Once it has rewritten a frame in place, SQLite signs the later ones at the commit only (walRewriteChecksums)."""
    file = DatabaseFile(folder / "app.db")
    peer = start(host)
    peer.open(file.path)
    peer.run("PRAGMA journal_mode = wal")
    peer.run("PRAGMA wal_autocheckpoint = 0")
    fill(peer)
    peer.run("PRAGMA cache_size = 2")
    peer.run("BEGIN")
    peer.run(REWRITE)
    assert peer.value("SELECT count(*) FROM note WHERE length(data) = 3000") == 500
    peer.run("SAVEPOINT inner")
    peer.run("DELETE FROM note WHERE id > 100")
    peer.run("ROLLBACK TO inner")
    peer.run(ending)
    rewritten = 500 if ending == "COMMIT" else 0
    assert peer.value("SELECT count(*) FROM note WHERE length(data) = 3000") == rewritten

    # What is recovered from the log is what was committed.
    peer.kill()
    file.shm.unlink()
    peer = start(host)
    peer.open(file.path)
    assert peer.value("SELECT count(*) FROM note WHERE length(data) = 3000") == rewritten
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_commit_after_rollback_to_is_recovered(
    host: Host, seed: int, start: Callable[..., Peer], folder: Path
) -> None:
    """ROLLBACK TO cuts the log; SQLite 3.40 then leaves the frames unsigned that lie before one it had rewritten."""
    file = DatabaseFile(folder / "app.db")
    chance = random.Random(seed)
    peer = start(host)
    peer.open(file.path)
    peer.run("PRAGMA journal_mode = wal")
    peer.run("PRAGMA wal_autocheckpoint = 0")
    peer.run("CREATE TABLE note(id INT PRIMARY KEY, data BLOB)")
    peer.run("PRAGMA cache_size = 5")
    for number in range(1, 61):
        peer.run("BEGIN IMMEDIATE")
        peer.run("INSERT INTO note VALUES(?, randomblob(?))", number, chance.choice([10, 3000, 20000]))
        peer.run("SAVEPOINT inner")
        for _ in range(chance.randrange(4)):
            size, changed = chance.choice([10, 9000]), chance.randrange(1, number + 1)
            peer.run("UPDATE note SET data = randomblob(?) WHERE id = ?", size, changed)
        if chance.random() < 0.4:
            peer.run("ROLLBACK TO inner")
        peer.run("COMMIT")
        peer.value("SELECT sum(length(data)) FROM note")
    sizes = peer.run("SELECT id, length(data) FROM note ORDER BY id")

    peer.kill()
    file.shm.unlink()
    peer = start(host)
    peer.open(file.path)
    assert peer.run("SELECT id, length(data) FROM note ORDER BY id") == sizes
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
def test_a_commit_after_frames_that_were_never_written(host: Host, start: Callable[..., Peer], folder: Path) -> None:
    """ROLLBACK TO cuts off frames that were only gathered; SQLite 3.40 then reads the checksum of one of them."""
    file = DatabaseFile(folder / "app.db")
    peer = start(host)
    peer.open(file.path)
    peer.run("PRAGMA journal_mode = wal")
    peer.run("PRAGMA wal_autocheckpoint = 0")
    peer.run("CREATE TABLE note(id INT PRIMARY KEY, data BLOB)")
    peer.run("PRAGMA cache_size = 5")
    for number in range(1, 21):
        peer.run("BEGIN IMMEDIATE")
        peer.run("SAVEPOINT inner")
        for row in range(12 if number % 2 else 60):
            peer.run("INSERT INTO note VALUES(?, randomblob(3000))", 1000 + row)
        peer.run("UPDATE note SET data = randomblob(3001) WHERE id > 1004")
        peer.run("UPDATE note SET data = randomblob(3002) WHERE id > 1004")
        peer.run("ROLLBACK TO inner")
        peer.run("INSERT INTO note VALUES(?, randomblob(10))", number)
        peer.run("COMMIT")
        assert peer.value("SELECT count(*) FROM note") == number

    peer.kill()
    file.shm.unlink()
    peer = start(host)
    peer.open(file.path)
    assert peer.value("SELECT count(*) FROM note") == 20
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
def test_a_log_whose_index_may_only_be_read_is_read(host: Host, start: Callable[..., Peer], folder: Path) -> None:
    """xShmMap then answers SQLITE_READONLY, and the region (walIndexPageRealloc)."""
    writer, reader = start(host), start(host)
    writer.open(folder / "app.db")
    writer.run("PRAGMA journal_mode = wal")
    fill(writer)
    reader.open(folder / "app.db", mode="ro", readonly_shm=1)
    assert reader.value("SELECT count(*) FROM note") == 500
    writer.run("DELETE FROM note WHERE id > 100")
    assert reader.value("SELECT count(*) FROM note") == 100

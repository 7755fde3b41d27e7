"""A SQLite without the extension must not destroy what it can't read, whatever state a crash has left it in.

It deletes a hot journal, a WAL that it does not understand, and cuts the file, wherever it takes them for its own.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from database_file import DatabaseFile
from host import DEBIAN_PYTHON, NEWEST_PYTHON, OLD_AND_NEW, Host, Peer, Refused, uri
from note_table import fill

Start = Callable[..., Peer]
Stock = Callable[[Host], Peer]
each_stock = pytest.mark.parametrize("stock_host", OLD_AND_NEW, ids=lambda host: host.name)
each_writer = pytest.mark.parametrize("writer_host", OLD_AND_NEW, ids=lambda host: host.name)

# All that people try when a database does not open.
ATTEMPTS = [
    "SELECT count(*) FROM sqlite_master",
    "PRAGMA integrity_check",
    "PRAGMA user_version = 7",
    "PRAGMA wal_checkpoint(PASSIVE)",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA journal_mode = delete",
    "PRAGMA journal_mode = truncate",
    "PRAGMA journal_mode = wal",
    "BEGIN IMMEDIATE",
    "BEGIN EXCLUSIVE",
    "CREATE TABLE mine(x)",
    "PRAGMA page_size = 1024",
    "VACUUM",
    "PRAGMA auto_vacuum = full",
    "PRAGMA incremental_vacuum",
    "REINDEX",
    "PRAGMA optimize",
    "PRAGMA locking_mode = exclusive",
    "SELECT count(*) FROM sqlite_master",
]


def attempt_everything(peer: Peer, path: Path, **parameters: str | int) -> None:
    """Opens it, tries everything, closes it."""
    peer.open_plainly(uri(path, **parameters))
    succeeded = [sql for sql in ATTEMPTS if succeeds(peer, sql)]
    peer.close()
    assert [sql for sql in succeeded if sql.startswith(("SELECT", "CREATE", "VACUUM"))] == []


def succeeds(peer: Peer, sql: str) -> bool:
    try:
        peer.run(sql)
        return True
    except Refused:
        return False


def crash_with_hot_journal(writer: Peer, path: Path) -> DatabaseFile:
    """Leaves a file that is half of a new transaction, and the journal that takes it back."""
    file = DatabaseFile(path)
    writer.open(path)
    fill(writer)
    before = file.digests()[path.name]
    writer.run("PRAGMA cache_size = 2")
    writer.run("BEGIN")
    writer.run("UPDATE note SET body = upper(body), data = randomblob(3000)")
    writer.kill()
    assert file.journal.stat().st_size > 0
    assert file.digests()[path.name] != before, "nothing was written yet: no test of a hot journal"
    return file


def crash_with_unfinished_wal(writer: Peer, path: Path) -> DatabaseFile:
    """Leaves commits that are in the WAL alone, and behind them half a transaction."""
    file = DatabaseFile(path)
    writer.open(path)
    writer.run("PRAGMA journal_mode = wal")
    writer.run("PRAGMA wal_autocheckpoint = 0")
    fill(writer)
    committed = file.wal.stat().st_size
    writer.run("PRAGMA cache_size = 2")
    writer.run("BEGIN")
    writer.run("UPDATE note SET body = upper(body), data = randomblob(3000)")
    writer.kill()
    assert file.wal.stat().st_size > committed, "nothing was written yet: no test of an unfinished WAL"
    return file


def assert_all_is_there(peer: Peer, path: Path) -> None:
    peer.open(path)
    assert peer.value("SELECT count(*) FROM note WHERE body LIKE 'the quick%' AND length(data) = 200") == 500
    assert peer.value("SELECT count(*) FROM note WHERE body <> lower(body)") == 0
    assert peer.value("PRAGMA integrity_check") == "ok"
    peer.run("INSERT INTO note(body) VALUES ('and it goes on')")
    peer.close()


@each_stock
@each_writer
def test_a_hot_journal_is_left_alone_and_heals_the_file(
    writer_host: Host, stock_host: Host, start: Start, stock: Stock, folder: Path
) -> None:
    file = crash_with_hot_journal(start(writer_host), folder / "app.db")
    before = file.digests()
    attempt_everything(stock(stock_host), file.path)
    assert file.digests() == before
    assert_all_is_there(start(writer_host), file.path)


@each_stock
@each_writer
@pytest.mark.parametrize("shm", ["kept", "lost"])
def test_an_unfinished_wal_is_left_alone_and_recovered(
    writer_host: Host, stock_host: Host, shm: str, start: Start, stock: Stock, folder: Path
) -> None:
    file = crash_with_unfinished_wal(start(writer_host), folder / "app.db")
    if shm == "lost":
        file.shm.unlink()
    before = file.digests()
    attempt_everything(stock(stock_host), file.path)
    assert file.digests() == before
    assert_all_is_there(start(writer_host), file.path)


@each_stock
@pytest.mark.parametrize("parameters", [{"mode": "ro"}, {"immutable": 1}, {"nolock": 1}], ids=str)
@pytest.mark.parametrize("crash", [crash_with_hot_journal, crash_with_unfinished_wal], ids=["journal", "wal"])
def test_no_parameter_of_a_uri_makes_a_stock_sqlite_change_it(
    crash: Callable[[Peer, Path], DatabaseFile],
    parameters: dict[str, str | int],
    stock_host: Host,
    start: Start,
    stock: Stock,
    folder: Path,
) -> None:
    file = crash(start(DEBIAN_PYTHON), folder / "app.db")
    before = file.digests()
    attempt_everything(stock(stock_host), file.path, **parameters)
    assert file.digests() == before
    assert_all_is_there(start(DEBIAN_PYTHON), file.path)


@each_stock
@each_writer
@pytest.mark.parametrize("ending", ["closed", "killed"])
def test_a_stock_sqlite_that_closes_last_does_not_checkpoint(
    writer_host: Host, stock_host: Host, ending: str, start: Start, stock: Stock, folder: Path
) -> None:
    """The decoy page size at bytes 16 and 17 is there for this (FORMAT 3.1)."""
    file = DatabaseFile(folder / "app.db")
    writer = start(writer_host)
    writer.open(file.path)
    writer.run("PRAGMA journal_mode = wal")
    writer.run("PRAGMA wal_autocheckpoint = 0")
    fill(writer)
    assert file.wal.stat().st_size > 0

    idle, busy = stock(stock_host), stock(stock_host)
    idle.open_plainly(file.path)
    succeeds(idle, "PRAGMA page_size = 4096")
    assert not succeeds(idle, "SELECT count(*) FROM sqlite_master")
    before = file.digests()
    attempt_everything(busy, file.path)
    assert file.digests() == before
    writer.run("UPDATE note SET body = body WHERE id = 1")

    if ending == "closed":
        writer.close()
        writer.stop()
    else:
        writer.kill()
    before = file.digests()
    assert not succeeds(idle, "SELECT count(*) FROM sqlite_master")
    idle.close()
    idle.stop()
    attempt_everything(busy, file.path)
    assert file.digests() == before
    assert_all_is_there(start(writer_host), file.path)


@each_stock
def test_a_writer_goes_on_while_a_stock_sqlite_tries_everything(
    stock_host: Host, start: Start, stock: Stock, folder: Path
) -> None:
    path = folder / "app.db"
    writer, intruder = start(NEWEST_PYTHON), stock(stock_host)
    writer.open(path)
    writer.run("PRAGMA journal_mode = wal")
    fill(writer)
    writer.send("repeat", name="main", sql="INSERT INTO note(body) VALUES (?)", values=list(range(300)))
    intruder.open_plainly(path)
    while "done" in writer.receive():
        for sql in ATTEMPTS:
            if sql.startswith("BEGIN"):
                continue  # a lock that anyone may take makes the writer wait, and no more
            succeeds(intruder, sql)
    intruder.close()
    assert writer.value("SELECT count(*) FROM note") == 800
    assert writer.value("PRAGMA integrity_check") == "ok"
    writer.close()
    assert start(DEBIAN_PYTHON).open(path) is None

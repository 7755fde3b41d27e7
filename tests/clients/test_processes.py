"""More than one process, more than one copy of SQLite, a process that becomes two."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from database_file import DatabaseFile, Image, assert_no_nonce_is_used_twice
from host import APSW, DEBIAN_PYTHON, NEWEST_PYTHON, OLD_AND_NEW, TWO_COPIES, Host, Peer, Refused, uri
from note_table import fill

Start = Callable[..., Peer]
each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
INSERT = "INSERT INTO note(body) VALUES (?)"


def insert_at_once(writers: Iterable[Peer], count: int) -> None:
    """All of them insert the texts "0", "1" and so on, each waiting for the other's locks."""
    writers = list(writers)
    for writer in writers:
        writer.send("repeat", name="main", sql=INSERT, values=[str(number) for number in range(count)])
    for writer in writers:
        reply = writer.receive()
        while "done" in reply:
            reply = writer.receive()
        assert reply == {"answer": count}


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
@pytest.mark.parametrize("other", [NEWEST_PYTHON, APSW], ids=lambda host: host.name)
def test_two_processes_write_at_once(other: Host, journal_mode: str, start: Start, folder: Path) -> None:
    file = DatabaseFile(folder / "app.db")
    writers = [start(DEBIAN_PYTHON), start(other)]
    writers[0].open(file.path)
    writers[0].run(f"PRAGMA journal_mode = {journal_mode}")
    fill(writers[0])
    writers[1].open(file.path)
    insert_at_once(writers, 60)
    for writer in writers:
        assert writer.value("SELECT count(*) FROM note WHERE body = '59'") == 2
        assert writer.value("SELECT count(*) FROM note") == 620
        assert writer.value("PRAGMA integrity_check") == "ok"
    assert_no_nonce_is_used_twice(file.images())


@each_host
@pytest.mark.parametrize("journal_mode", ["delete", "truncate", "persist", "wal"])
@pytest.mark.parametrize("count", [1, 9, 20])
def test_every_acknowledged_commit_outlives_a_kill(
    host: Host, journal_mode: str, count: int, start: Start, folder: Path
) -> None:
    """The writer goes on while it is killed, wherever it is by then: most of its time it writes spilled pages."""
    file = DatabaseFile(folder / "app.db")
    writer = start(host)
    writer.open(file.path)
    writer.run(f"PRAGMA journal_mode = {journal_mode}")
    writer.run("CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, data BLOB DEFAULT (randomblob(100000)))")
    writer.run("PRAGMA cache_size = 4")
    writer.send("repeat", name="main", sql=INSERT, values=[str(number) for number in range(10_000)])
    acknowledged = [writer.receive()["done"] for _ in range(count)]
    writer.kill()

    reader = start(host)
    reader.open(file.path)
    found = [body for (body,) in reader.run("SELECT body FROM note ORDER BY id")]
    assert found[:count] == acknowledged
    assert found == [str(number) for number in range(len(found))]
    assert reader.value("SELECT count(*) FROM note WHERE length(data) = 100000") == len(found)
    assert reader.value("PRAGMA integrity_check") == "ok"
    reader.run(INSERT, "and it goes on")


@each_host
@pytest.mark.parametrize("count", [1, 5, 12])
def test_a_commit_over_two_databases_is_in_both_or_in_neither(
    host: Host, count: int, start: Start, folder: Path, other_key: Path
) -> None:
    """A super-journal ties their journals together (sqlite.org/atomiccommit.html, 5).

    Recovery removes it with the last journal that names it. If the kill came before any journal did, it stays
    behind: nothing leads to it, and nothing is lost.
    """
    second = uri(folder / "second.db", vfs="selenite", selenite_identity=other_key)
    columns = "(id INTEGER PRIMARY KEY, body TEXT, data BLOB DEFAULT (randomblob(50000)))"

    def open_both() -> Peer:
        peer = start(host)
        peer.open(folder / "first.db")
        peer.run("ATTACH ? AS second", second)
        peer.run("PRAGMA cache_size = 4")
        peer.run("PRAGMA second.cache_size = 4")
        return peer

    writer = open_both()
    writer.run(f"CREATE TABLE note{columns}")
    writer.run(f"CREATE TABLE second.copy{columns}")
    # One statement, and so one commit over both.
    writer.run("CREATE TEMP TRIGGER both AFTER INSERT ON main.note BEGIN INSERT INTO copy(body) VALUES (new.body); END")
    writer.send("repeat", name="main", sql=INSERT, values=[str(number) for number in range(10_000)])
    acknowledged = [writer.receive()["done"] for _ in range(count)]
    writer.kill()

    journals = [journal.read_bytes() for journal in folder.glob("*-journal")]
    left = list(folder.glob("*-mj*"))
    named = [file for file in left if any(file.name.encode() in journal for journal in journals)]
    reader = open_both()
    one, two = (reader.run(f"SELECT id, body FROM {table} ORDER BY id") for table in ("note", "second.copy"))
    assert one == two
    assert [body for _, body in one][:count] == acknowledged
    for schema in ["main", "second"]:
        assert reader.value(f"PRAGMA {schema}.integrity_check") == "ok"
    assert len(left) <= 1
    assert [file.name for file in named if file.exists()] == []


@each_host
@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_no_nonce_is_used_twice_after_a_fork(host: Host, journal_mode: str, start: Start, folder: Path) -> None:
    file = DatabaseFile(folder / "app.db")
    seen: set[Image] = set()
    peer = start(host)

    def write(name: str) -> None:
        peer.open(file.path, name=name)
        for _ in range(5):
            peer.run("UPDATE note SET data = randomblob(200)", on=name)
            seen.update(file.images())

    peer.open(file.path)
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    peer.run("PRAGMA wal_autocheckpoint = 0")
    fill(peer)
    seen.update(file.images())
    peer.close()

    for child in range(3):
        assert peer.ask("fork") == 0
        write(f"child{child}")
        peer.close(f"child{child}")
        peer.send("leave")
        assert peer.receive()["answer"] > 0
        write(f"parent{child}")
        peer.close(f"parent{child}")
    assert len(seen) > 6 * 5 * 30
    assert_no_nonce_is_used_twice(seen)
    peer.open(file.path)
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
def test_parent_and_child_write_the_database_that_was_open_at_the_fork(
    host: Host, start: Start, folder: Path
) -> None:
    """The parent keeps its connection; the child opens one of its own (sqlite.org/howtocorrupt.html, 2.6)."""
    file = DatabaseFile(folder / "app.db")
    peer = start(host)
    peer.open(file.path)
    peer.run("PRAGMA journal_mode = wal")
    fill(peer)
    seen = file.images()
    assert peer.ask("fork") == 0
    peer.open(file.path, name="child")
    peer.run("UPDATE note SET data = 1 WHERE id % 2", on="child")
    seen |= file.images()
    peer.send("leave")
    assert peer.receive()["answer"] > 0
    assert peer.value("SELECT count(*) FROM note WHERE data = 1") == 250
    peer.run("UPDATE note SET data = 2")
    assert_no_nonce_is_used_twice(seen | file.images())
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_parent_and_child_with_a_pool_at_the_fork_see_each_others_writes(
    host: Host, journal_mode: str, start: Start, folder: Path
) -> None:
    """The parent's pool is full; the child finds zeros in its place, and what either writes the other reads."""
    path = folder / "app.db"
    peer = start(host)
    hits = "SELECT value FROM selenite_status WHERE section = 'pool' AND name = 'hits'"
    total = "SELECT total(data) FROM note"

    def read(name: str, expected: int) -> int:
        peer.run("PRAGMA cache_size = 5", on=name)
        before = peer.value(hits, on=name)
        for _ in range(4):
            assert peer.value(total, on=name) == expected
        return peer.value(hits, on=name) - before

    peer.open(path, name="parent")
    peer.run(f"PRAGMA journal_mode = {journal_mode}", on="parent")
    peer.run("CREATE TABLE note(id INTEGER PRIMARY KEY, data INTEGER, body TEXT)", on="parent")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
    peer.run(f"INSERT INTO note {numbers} SELECT i, 0, hex(randomblob(300)) FROM n", on="parent")
    checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)"
    peer.run(checkpoint, on="parent")
    assert read("parent", 0) > 50
    for round in range(3):
        assert peer.ask("fork") == 0
        peer.open(path, name="child")
        read("child", 500 * 2 * round)
        peer.run("UPDATE note SET data = data + 1", on="child")
        peer.run(checkpoint, on="child")
        read("child", 500 * (2 * round + 1))
        peer.close("child")
        peer.send("leave")
        assert peer.receive()["answer"] > 0
        read("parent", 500 * (2 * round + 1))
        peer.run("UPDATE note SET data = data + 1", on="parent")
        peer.run(checkpoint, on="parent")
        assert read("parent", 500 * 2 * (round + 1)) > 50
    assert peer.value("PRAGMA integrity_check", on="parent") == "ok"


def test_two_copies_of_sqlite_in_one_process_use_two_files(start: Start, folder: Path) -> None:
    peer = start(TWO_COPIES)
    for name in ["debian", "apsw"]:
        peer.open(folder / f"{name}.db", name=name)
        peer.run("CREATE TABLE note(body)", on=name)
        peer.run(INSERT, name, on=name)
    versions = {peer.value("SELECT sqlite_version()", on=name) for name in ["debian", "apsw"]}
    assert len(versions) == 2
    for name in ["debian", "apsw"]:
        assert peer.value("SELECT body FROM note", on=name) == name
        assert peer.value("PRAGMA integrity_check", on=name) == "ok"


@pytest.mark.parametrize(("first", "second"), [("debian", "apsw"), ("apsw", "debian")])
def test_two_copies_of_sqlite_in_one_process_do_not_share_a_file(
    first: str, second: str, start: Start, folder: Path
) -> None:
    """POSIX gives up all locks of a process on a file when it closes any descriptor of it."""
    peer = start(TWO_COPIES)
    peer.open(folder / "app.db", name=first)
    peer.run("CREATE TABLE note(body)", on=first)
    with pytest.raises(Refused):
        peer.open(folder / "app.db", name=second)
    with pytest.raises(Refused):
        peer.open(folder / "." / "app.db", name=second)
    link = folder / "link.db"
    link.symlink_to(folder / "app.db")
    with pytest.raises(Refused):
        peer.open(link, name=second)
    reason = peer.value("SELECT selenite_last_error()", on=f"{second}:memory")
    assert "this process has the file open without vfs=selenite" in reason

    # The first one still holds its locks: another process can't write.
    peer.run("BEGIN IMMEDIATE", on=first)
    outsider = start(DEBIAN_PYTHON)
    outsider.open(folder / "app.db")
    outsider.run("PRAGMA busy_timeout = 0")
    with pytest.raises(Refused, match="locked"):
        outsider.run(INSERT, "meanwhile")
    peer.run("COMMIT", on=first)
    outsider.run(INSERT, "later")
    assert peer.value("SELECT count(*) FROM note", on=first) == 1

    peer.close(first)
    peer.open(folder / "app.db", name=second)
    assert peer.value("SELECT body FROM note", on=second) == "later"


def test_a_hard_link_is_the_same_file_to_the_second_copy(start: Start, folder: Path) -> None:
    peer = start(TWO_COPIES)
    peer.open(folder / "app.db", name="debian")
    peer.run("CREATE TABLE note(body)", on="debian")
    (folder / "link.db").hardlink_to(folder / "app.db")
    with pytest.raises(Refused):
        peer.open(folder / "link.db", name="apsw")


def test_the_same_copy_opens_a_file_as_often_as_it_likes(start: Start, folder: Path) -> None:
    peer = start(NEWEST_PYTHON)
    peer.open(folder / "app.db", name="one")
    fill_on = "CREATE TABLE note(body)"
    peer.run(fill_on, on="one")
    (folder / "link.db").symlink_to(folder / "app.db")
    peer.open(folder / "app.db", name="two")
    peer.open(folder / "link.db", name="three")
    peer.open_plainly(uri(folder / "app.db", vfs="selenite", mode="ro"), name="four")
    for name in ["one", "two", "three"]:
        peer.run(INSERT, name, on=name)
    assert peer.value("SELECT count(*) FROM note", on="four") == 3

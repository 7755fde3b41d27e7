"""selenite_backup(): a full backup by an application's own connection, restored by the command."""

import os
import re
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from database_file import PREFIX_SIZE
from host import DEBIAN_PYTHON, EXTENSION, NEWEST_PYTHON, OLD_AND_NEW, Host, Peer, Refused, uri
from note_table import fill
from test_command import selenite

Start = Callable[..., Peer]
each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
each_journal_mode = pytest.mark.parametrize("journal_mode", ["delete", "wal"])
BACKUP = "SELECT selenite_backup(?)"
INSERT = "INSERT INTO note(body) VALUES (?)"
NAME = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{16}")


def restored(folder: Path, key: Path, name: str, identity: str | None = None, *options: str) -> sqlite3.Connection:
    """The backup of that name as an unencrypted database."""
    for old in folder.glob("restored*"):
        old.unlink()
    identity = identity or f"raw:{key}"
    selenite(folder, "--identity", identity, "restore", "backups", "--backup", name, "--to", "restored.db", *options)
    selenite(folder, "--identity", identity, "decrypt", "restored.db", "--to", "restored-plain.db")
    plain = sqlite3.connect(folder / "restored-plain.db")
    assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return plain


def open_filled(peer: Peer, path: Path, journal_mode: str) -> None:
    peer.open(path, backup="allow")
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    fill(peer)


@each_host
@each_journal_mode
def test_what_is_backed_up_is_what_was_committed(
    host: Host, journal_mode: str, start: Start, folder: Path, key: Path
) -> None:
    peer = start(host)
    open_filled(peer, folder / "app.db", journal_mode)
    text = "SELECT group_concat(id || body || hex(data)) FROM note"
    name = peer.value(BACKUP, str(folder / "backups"))
    assert NAME.fullmatch(name)
    assert restored(folder, key, name).execute(text).fetchone()[0] == peer.value(text)

    # Again, by another name for the place; the log has more than the file now.
    peer.run("PRAGMA wal_autocheckpoint = 0")
    peer.run("UPDATE note SET body = 'changed' WHERE id % 3 = 0")
    later = peer.value(BACKUP, f"file://{folder}/backups")
    assert later != name
    assert restored(folder, key, later).execute(text).fetchone()[0] == peer.value(text)
    assert restored(folder, key, name).execute("SELECT count(*) FROM note WHERE body = 'changed'").fetchone() == (0,)
    assert not any(b"quick brown" in file.read_bytes() for file in (folder / "backups").rglob("*") if file.is_file())


@each_host
@each_journal_mode
def test_writers_in_other_processes_go_on(
    host: Host, journal_mode: str, start: Start, folder: Path, key: Path
) -> None:
    peer = start(host)
    peer.open(folder / "app.db", backup="allow")
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    peer.run("CREATE TABLE note(id INTEGER PRIMARY KEY, body)")
    writer = start(DEBIAN_PYTHON)
    writer.open(folder / "app.db")
    writer.send("repeat", name="main", sql=INSERT, values=list(range(1, 401)))
    seen = []
    for _ in range(4):
        committed = [writer.receive()["done"] for _ in range(50)][-1]
        seen.append((committed, peer.value(BACKUP, str(folder / "backups")), peer.value("SELECT count(*) FROM note")))
    while "done" in writer.receive():
        pass
    for committed, name, afterwards in seen:
        count, last = restored(folder, key, name).execute("SELECT count(*), max(body) FROM note").fetchone()
        assert committed <= count == last <= afterwards
    assert peer.value("SELECT count(*) FROM note") == 400
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
@each_journal_mode
def test_the_processs_locks_are_as_before(host: Host, journal_mode: str, start: Start, folder: Path) -> None:
    """POSIX gives up all locks of a process on a file when it closes any descriptor of it."""
    peer = start(host)
    open_filled(peer, folder / "app.db", journal_mode)
    peer.open(folder / "app.db", name="second")
    outsider = start(DEBIAN_PYTHON)
    outsider.open(folder / "app.db")
    outsider.run("PRAGMA busy_timeout = 0")
    peer.run("BEGIN IMMEDIATE", on="second")
    peer.run(INSERT, "by the second connection", on="second")
    assert NAME.fullmatch(peer.value(BACKUP, str(folder / "backups")))
    with pytest.raises(Refused, match="locked"):
        outsider.run(INSERT, "meanwhile")
    peer.run("COMMIT", on="second")

    # Its own transaction, that of the connection which asks: what it began it ended, and no more.
    outsider.run(INSERT, "later")
    peer.run("BEGIN")
    assert peer.value("SELECT count(*) FROM note") == 502
    peer.value(BACKUP, str(folder / "backups"))
    outsider.run("BEGIN IMMEDIATE")
    outsider.run(INSERT, "last")
    if journal_mode == "delete":
        with pytest.raises(Refused, match="locked"):
            outsider.run("COMMIT")
    else:
        outsider.run("COMMIT")
        assert outsider.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 1
    assert peer.value("SELECT count(*) FROM note") == 502
    peer.run("COMMIT")
    if journal_mode == "delete":
        outsider.run("COMMIT")
    else:
        assert outsider.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0
    assert peer.value("SELECT count(*) FROM note") == 503
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
def test_it_is_of_the_transaction_that_the_connection_is_in(
    host: Host, start: Start, folder: Path, key: Path
) -> None:
    peer = start(host)
    open_filled(peer, folder / "app.db", "wal")
    peer.run("BEGIN")
    assert peer.value("SELECT count(*) FROM note") == 500
    other = start(DEBIAN_PYTHON)
    other.open(folder / "app.db")
    other.run("DELETE FROM note WHERE id > 7")
    name = peer.value(BACKUP, str(folder / "backups"))
    peer.run("COMMIT")
    assert restored(folder, key, name).execute("SELECT count(*) FROM note").fetchone() == (500,)
    name = peer.value(BACKUP, str(folder / "backups"))
    assert restored(folder, key, name).execute("SELECT count(*) FROM note").fetchone() == (7,)


@each_host
@each_journal_mode
def test_who_writes_or_keeps_others_out_is_refused(
    host: Host, journal_mode: str, start: Start, folder: Path
) -> None:
    peer = start(host)
    open_filled(peer, folder / "app.db", journal_mode)
    place = str(folder / "backups")
    peer.run("BEGIN IMMEDIATE")
    with pytest.raises(Refused, match="cannot back up inside a write transaction: commit it first"):
        peer.value(BACKUP, place)
    peer.run("ROLLBACK")
    with pytest.raises(Refused, match="commit it first"):
        peer.run(f"INSERT INTO note(body) SELECT selenite_backup('{place}')")
    assert not (folder / "backups").exists()

    peer.run("PRAGMA locking_mode = exclusive")
    peer.run(INSERT, "alone")
    with pytest.raises(Refused, match="locking_mode=exclusive"):
        peer.value(BACKUP, place)
    peer.run("PRAGMA locking_mode = normal")
    assert peer.value("SELECT count(*) FROM note") == 501
    assert NAME.fullmatch(peer.value(BACKUP, place))


@each_host
def test_where_it_can_not_go_is_said(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    open_filled(peer, folder / "app.db", "wal")
    with pytest.raises(Refused, match="use selenite backup for object stores"):
        peer.value(BACKUP, "s3://bucket/backups")
    with pytest.raises(Refused, match="takes a folder"):
        peer.value(BACKUP, None)
    (folder / "file").write_text("no folder")
    with pytest.raises(Refused, match="can't list .*file.*check the destination"):
        peer.value(BACKUP, str(folder / "file"))
    with pytest.raises(Refused, match="main2|not open through selenite"):
        peer.value("SELECT selenite_backup(?, 'main2')", str(folder / "backups"))
    with pytest.raises(Refused, match="takes a folder"):
        peer.value("SELECT selenite_backup()")
    assert not (folder / "backups").exists()
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
def test_what_others_wrote_into_a_schema_can_not_call_it(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    open_filled(peer, folder / "app.db", "wal")
    place = folder / "backups"
    peer.run(f"CREATE VIEW trap AS SELECT selenite_backup('{place}')")
    peer.run(f"CREATE TRIGGER trap2 AFTER INSERT ON note BEGIN SELECT selenite_backup('{place}'); END")
    for sql in ("SELECT * FROM trap", "INSERT INTO note(body) VALUES ('x')"):
        with pytest.raises(Refused, match="unsafe use of selenite_backup"):
            peer.run(sql)
    assert not place.exists()


@each_host
@each_journal_mode
def test_a_bad_page_is_named(host: Host, journal_mode: str, start: Start, folder: Path) -> None:
    path = folder / "app.db"
    peer = start(host)
    open_filled(peer, path, journal_mode)
    page_count = peer.value("PRAGMA page_count")
    peer.stop()
    bad = page_count - 3
    with path.open("r+b") as file:
        file.seek(PREFIX_SIZE + (bad - 1) * 4096 + 700)
        file.write(os.urandom(16))
    peer = start(host)
    peer.open(path, backup="allow")
    with pytest.raises(Refused, match=rf"page {bad}\b.*selenite verify"):
        peer.value(BACKUP, str(folder / "backups"))
    assert not list((folder / "backups").rglob("manifest"))
    assert peer.value("SELECT count(*) FROM note WHERE id < 3") == 2


@each_host
def test_an_attached_database_is_backed_up_by_its_name(
    host: Host, start: Start, folder: Path, key: Path, other_key: Path
) -> None:
    peer = start(host)
    open_filled(peer, folder / "app.db", "wal")
    second = uri(folder / "second.db", vfs="selenite", selenite_identity=f"raw:{other_key}")
    peer.run("ATTACH ? AS \"the second's\"", second)
    peer.run("CREATE TABLE \"the second's\".word(body)")
    peer.run("INSERT INTO \"the second's\".word VALUES ('hello')")
    name = peer.value("SELECT selenite_backup(?, ?)", str(folder / "backups"), "the second's")
    assert restored(folder, other_key, name).execute("SELECT body FROM word").fetchall() == [("hello",)]
    with pytest.raises(AssertionError, match="restore|key"):
        restored(folder, key, name)


def test_a_recipient_restores_without_the_databases_keys(start: Start, folder: Path, key: Path) -> None:
    selenite(folder, "keygen", "-o", "escrow.key")
    recipient = re.search(r"age1[0-9a-z]+", (folder / "escrow.key").read_text())
    assert recipient
    peer = start(NEWEST_PYTHON)
    open_filled(peer, folder / "app.db", "wal")
    name = peer.value("SELECT selenite_backup(?, 'main', ?)", str(folder / "backups"), recipient[0])
    rows = restored(folder, key, name, str(folder / "escrow.key"), "--for", recipient[0], "--origin", "any")
    assert rows.execute("SELECT count(*) FROM note").fetchone() == (500,)
    with pytest.raises(Refused):
        peer.value("SELECT selenite_backup(?, 'main', 'age1nobody')", str(folder / "backups"))


def test_who_interrupts_the_connection_stops_it(folder: Path, key: Path) -> None:
    """From SQLite 3.41 on, which tells a function so. The interrupt comes from within the statement: nothing waits."""
    script = """
import sqlite3, sys
extension, path, place = sys.argv[1:]
memory = sqlite3.connect(":memory:")
memory.enable_load_extension(True)
memory.load_extension(extension)
database = sqlite3.connect(path, uri=True, isolation_level=None)
database.execute("CREATE TABLE note(body)")
database.create_function("stop", 0, database.interrupt)
# In a transaction: the interrupt meets the copy itself, and not a query that would begin one.
database.execute("BEGIN")
database.execute("SELECT count(*) FROM note").fetchall()
try:
    database.execute("SELECT stop(), selenite_backup(?)", [place]).fetchall()
except sqlite3.Error as error:
    print(error)
database.execute("COMMIT")
print(database.execute("SELECT selenite_backup(?)", [place]).fetchone()[0])
"""
    path = uri(folder / "app.db", vfs="selenite", selenite_identity=f"raw:{key}", backup="allow")
    command = [*NEWEST_PYTHON.command[:1], "-c", script, EXTENSION, path, str(folder / "backups")]
    done = subprocess.run(command, env=os.environ | NEWEST_PYTHON.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said, name = done.stdout.splitlines()
    assert said == "interrupted"
    assert [file.parent.name for file in (folder / "backups").rglob("manifest")] == [name]

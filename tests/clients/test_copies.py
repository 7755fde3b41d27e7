"""VACUUM, VACUUM INTO and the backup API: whole databases written by SQLite itself."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from database_file import DatabaseFile, assert_no_nonce_is_used_twice
from host import APSW, DEBIAN_PYTHON, NEWEST_PYTHON, OLD_AND_NEW, Host, Peer, Refused, uri
from note_table import fill

Start = Callable[..., Peer]
each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
each_journal_mode = pytest.mark.parametrize("journal_mode", ["delete", "wal"])
ALL_TEXT = "SELECT group_concat(id || body) FROM note"


def make_plain(path: Path, journal_mode: str = "delete") -> None:
    plain = sqlite3.connect(path)
    plain.execute(f"PRAGMA journal_mode = {journal_mode}")
    plain.executescript("CREATE TABLE note(id INTEGER PRIMARY KEY, body); INSERT INTO note VALUES (1, 'in clear')")
    plain.close()


@each_host
@each_journal_mode
def test_vacuum_keeps_everything_and_gives_pages_back(
    host: Host, journal_mode: str, start: Start, folder: Path
) -> None:
    file = DatabaseFile(folder / "app.db")
    peer = start(host)
    peer.open(file.path)
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    fill(peer)
    peer.run("UPDATE note SET data = randomblob(5000)")
    peer.run("DELETE FROM note WHERE id % 5")
    peer.run("CREATE INDEX by_body ON note(body)")
    text = peer.value(ALL_TEXT)
    pages = peer.value("PRAGMA page_count")
    peer.run("VACUUM")
    assert peer.value("PRAGMA page_count") < pages / 3
    assert peer.value(ALL_TEXT) == text
    assert peer.value("PRAGMA integrity_check") == "ok"
    peer.run("INSERT INTO note(body) VALUES ('more')")
    assert_no_nonce_is_used_twice(file.images())
    peer.stop()
    peer = start(host)
    peer.open(file.path)
    assert peer.value("SELECT count(*) FROM note") == 101


@each_host
@each_journal_mode
def test_a_vacuum_that_is_killed_changes_nothing(host: Host, journal_mode: str, start: Start, folder: Path) -> None:
    """It rewrites the whole file in one transaction; who is killed right after it was asked is somewhere in it."""
    path = folder / "app.db"
    peer = start(host)
    peer.open(path)
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    fill(peer)
    peer.run("UPDATE note SET data = randomblob(20000)")
    peer.run("DELETE FROM note WHERE id % 2")
    text = peer.value(ALL_TEXT)
    peer.send("run", name="main", sql="VACUUM", values=[])
    peer.kill()
    peer = start(host)
    peer.open(path)
    assert peer.value(ALL_TEXT) == text
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
def test_another_page_size_is_not_had_by_vacuum(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    peer.open(folder / "app.db")
    fill(peer)
    text = peer.value(ALL_TEXT)
    assert peer.value("PRAGMA page_size = 8192") == "4096"
    peer.run("VACUUM")
    assert peer.value("PRAGMA page_size") == 4096
    assert peer.value(ALL_TEXT) == text
    assert peer.value("PRAGMA integrity_check") == "ok"


def test_vacuum_into_writes_another_encrypted_database(start: Start, folder: Path, other_key: Path) -> None:
    peer = start(NEWEST_PYTHON)
    peer.open(folder / "app.db")
    fill(peer)
    text = peer.value(ALL_TEXT)
    # A file that is given without a URI goes through the VFS of the connection.
    peer.run("VACUUM INTO ?", str(folder / "copy.db"))
    peer.run("VACUUM INTO ?", uri(folder / "named.db", vfs="selenite", selenite_identity=other_key))
    for name, key in [("copy", None), ("named", other_key)]:
        path = folder / f"{name}.db"
        assert path.read_bytes()[:8] == b"Selenite"
        assert b"quick brown" not in path.read_bytes()
        reader = start(DEBIAN_PYTHON, **({"SELENITE_IDENTITY": str(key)} if key else {}))
        reader.open(path)
        assert reader.value(ALL_TEXT) == text
        assert reader.value("PRAGMA integrity_check") == "ok"
    ids = {DatabaseFile(folder / f"{name}.db").database_id for name in ["app", "copy", "named"]}
    assert len(ids) == 3


def test_vacuum_into_of_an_old_sqlite_is_an_error_and_harms_nothing(start: Start, folder: Path) -> None:
    """Up to 3.52 it can't give a copy the layout that a file asks for: out of memory, it would say, which Python has no text for."""
    peer = start(DEBIAN_PYTHON)
    peer.open(folder / "app.db")
    fill(peer)
    before = DatabaseFile(folder / "app.db").digests()
    with pytest.raises(Refused, match="output file already exists"):
        peer.run("VACUUM INTO ?", str(folder / "copy.db"))
    assert "use selenite encrypt --to, or the backup API" in peer.value("SELECT selenite_last_error()")
    assert not list(folder.glob("copy.db*"))
    # A file that was there is not removed.
    (folder / "empty.db").touch()
    with pytest.raises(Refused):
        peer.run("VACUUM INTO ?", str(folder / "empty.db"))
    assert (folder / "empty.db").exists()
    assert DatabaseFile(folder / "app.db").digests() == before
    assert peer.value("PRAGMA integrity_check") == "ok"
    # Where SQLite takes no locks at all, a new database is told from such a copy.
    peer.open(folder / "unlocked.db", name="unlocked", nolock=1)
    fill(peer, on="unlocked")


def test_vacuum_into_a_plain_file_works_where_another_vfs_is_named(start: Start, folder: Path) -> None:
    """Who has the key may have a plain copy: SQLite writes it then, through a VFS that is not the extension's."""
    peer = start(NEWEST_PYTHON)
    peer.open(folder / "app.db")
    fill(peer)
    peer.run("VACUUM INTO ?", uri(folder / "plain.db", vfs="unix"))
    assert sqlite3.connect(folder / "plain.db").execute(ALL_TEXT).fetchone()[0] == peer.value(ALL_TEXT)


@pytest.mark.parametrize("host", [*OLD_AND_NEW, APSW], ids=lambda host: host.name)
@each_journal_mode
def test_a_backup_is_encrypted_by_its_own_key(
    host: Host, journal_mode: str, start: Start, folder: Path, other_key: Path
) -> None:
    peer = start(host)
    peer.open(folder / "app.db")
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    fill(peer)
    peer.open(folder / "backup.db", name="backup", selenite_identity=other_key)
    peer.ask("backup", name="main", target="backup")
    assert peer.value(ALL_TEXT, on="backup") == peer.value(ALL_TEXT)
    # Again, over what is there.
    peer.run("DELETE FROM note WHERE id > 7")
    peer.ask("backup", name="main", target="backup")
    text = peer.value(ALL_TEXT)
    peer.stop()
    assert (folder / "backup.db").read_bytes()[:8] == b"Selenite"

    reader = start(host, SELENITE_IDENTITY=str(other_key))
    reader.open(folder / "backup.db")
    assert reader.value(ALL_TEXT) == text
    assert reader.value("PRAGMA integrity_check") == "ok"


@each_host
@each_journal_mode
def test_a_backup_of_a_plain_database_into_an_encrypted_one_is_refused(
    host: Host, journal_mode: str, start: Start, folder: Path
) -> None:
    """Its pages have no room for a trailer."""
    make_plain(folder / "plain.db", journal_mode)
    file = DatabaseFile(folder / "app.db")
    peer = start(host)
    peer.open(file.path)
    fill(peer)
    text = peer.value(ALL_TEXT)
    peer.open_plainly(folder / "plain.db", name="plain")
    with pytest.raises(Refused):
        peer.ask("backup", name="plain", target="main")
    assert "settings mismatch" in (peer.last_error() or "")
    assert b"in clear" not in file.path.read_bytes()
    peer.stop()
    peer = start(host)
    peer.open(file.path)
    assert peer.value(ALL_TEXT) == text
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
def test_a_backup_of_a_plain_database_into_a_new_file_is_refused(host: Host, start: Start, folder: Path) -> None:
    make_plain(folder / "plain.db")
    peer = start(host)
    peer.open(folder / "app.db")
    peer.open_plainly(folder / "plain.db", name="plain")
    with pytest.raises(Refused):
        peer.ask("backup", name="plain", target="main")
    assert b"in clear" not in (folder / "app.db").read_bytes()


@each_host
def test_a_backup_of_an_encrypted_database_may_be_plain_if_it_is_asked_for(
    host: Host, start: Start, folder: Path
) -> None:
    """Who has the key and opens a plain file for the copy has a plain copy: SQLite writes it, not this extension."""
    peer = start(host)
    peer.open(folder / "app.db")
    fill(peer)
    peer.open_plainly(folder / "plain.db", name="plain")
    peer.ask("backup", name="main", target="plain")
    assert peer.value(ALL_TEXT, on="plain") == peer.value(ALL_TEXT)
    assert sqlite3.connect(folder / "plain.db").execute(ALL_TEXT).fetchone()[0] == peer.value(ALL_TEXT)

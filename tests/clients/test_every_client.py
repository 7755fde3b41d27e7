"""What holds for every client, whatever its language and its copy of SQLite."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from host import ALL, Host, Peer, Refused, uri
from note_table import fill

Start = Callable[..., Peer]
every_client = pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)
NOT_ENCRYPTED = "not encrypted: it is an unencrypted database, and an identity is set"


@every_client
@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_what_is_written_is_read_back_and_lies_on_disk_sealed(
    host: Host, journal_mode: str, start: Start, folder: Path
) -> None:
    path = folder / "app.db"
    peer = start(host)
    peer.open(path)
    assert peer.value(f"PRAGMA journal_mode = {journal_mode}") == journal_mode
    fill(peer)
    peer.run("UPDATE note SET body = ? WHERE id = 7", "seven: the quick brown fox")
    assert [file for file in folder.glob("app.db*") if b"quick brown" in file.read_bytes()] == []
    peer.close()
    peer.stop()

    peer = start(host)
    peer.open(path)
    assert peer.value("SELECT count(*) FROM note WHERE body LIKE 'the quick%'") == 499
    assert peer.run("SELECT body, length(data) FROM note WHERE id = 7") == [["seven: the quick brown fox", 200]]
    assert peer.value("PRAGMA integrity_check") == "ok"
    assert path.read_bytes()[:8] == b"Selenite"
    assert b"quick brown" not in path.read_bytes()


@every_client
def test_a_wrong_key_is_refused_with_an_error_of_its_own(
    host: Host, start: Start, folder: Path, other_key: Path
) -> None:
    with start(host) as peer:
        peer.open(folder / "app.db")
        fill(peer)
    before = (folder / "app.db").read_bytes()
    with start(host, SELENITE_IDENTITY=str(other_key)) as peer, pytest.raises(Refused) as refused:
        peer.open(folder / "app.db")
        peer.run("SELECT count(*) FROM note")
    assert "none of the keys given opens this database" in refused.value.reason
    assert (folder / "app.db").read_bytes() == before


@every_client
def test_no_key_is_refused_with_an_error_of_its_own(host: Host, start: Start, folder: Path) -> None:
    with start(host) as peer:
        peer.open(folder / "app.db")
        fill(peer)
    with start(host, SELENITE_IDENTITY="") as peer, pytest.raises(Refused) as refused:
        peer.open(folder / "app.db")
        peer.run("SELECT count(*) FROM note")
    assert "no key given for an encrypted database" in refused.value.reason


@every_client
def test_a_plain_file_is_refused_where_an_identity_is_in_force(host: Host, start: Start, folder: Path) -> None:
    path = folder / "plain.db"
    plain = sqlite3.connect(path)
    plain.executescript("CREATE TABLE note(body); INSERT INTO note VALUES ('in clear')")
    plain.close()
    with start(host) as peer, pytest.raises(Refused) as refused:
        peer.open(path)
        peer.run("SELECT count(*) FROM note")
    assert NOT_ENCRYPTED in refused.value.reason

    allowed = start(host, SELENITE_PLAIN="allow")
    allowed.open(path)
    assert allowed.value("SELECT body FROM note") == "in clear"
    allowed.run("INSERT INTO note VALUES ('more')")
    allowed.stop()
    assert path.read_bytes()[:15] == b"SQLite format 3"


@every_client
def test_a_second_database_is_attached_with_a_key_of_its_own(
    host: Host, start: Start, folder: Path, other_key: Path
) -> None:
    if not host.takes_uri:
        pytest.skip("its SQLite is built without URIs, so ATTACH can't name a key")
    name = uri(folder / "second.db", vfs="selenite", selenite_identity=other_key)
    with start(host) as peer:
        peer.open(folder / "first.db")
        fill(peer)
        peer.run("ATTACH ? AS second", name)
        peer.run("CREATE TABLE second.copy AS SELECT * FROM note")
        peer.run("BEGIN")
        peer.run("DELETE FROM note WHERE id = 1")
        peer.run("DELETE FROM second.copy WHERE id = 1")
        peer.run("COMMIT")
        joined = "SELECT count(*) FROM note JOIN second.copy USING (id, body, data)"
        assert peer.value(joined) == 499

    with start(host) as peer, pytest.raises(Refused) as refused:
        peer.open(folder / "second.db")
        peer.run("SELECT count(*) FROM copy")
    assert "none of the keys given opens this database" in refused.value.reason
    with start(host, SELENITE_IDENTITY=str(other_key)) as peer:
        peer.open(folder / "second.db")
        assert peer.value("SELECT count(*) FROM copy") == 499


@every_client
def test_an_encrypted_database_is_not_attached_to_a_plain_one(host: Host, start: Start, folder: Path) -> None:
    """Its temporary files would be written by the other VFS, in clear."""
    if not host.takes_uri:
        pytest.skip("its default VFS is the extension's")
    with start(host) as peer:
        peer.open(folder / "app.db")
        fill(peer)
        peer.open_plainly(folder / "elsewhere.db", name="elsewhere")
        with pytest.raises(Refused) as refused:
            peer.run("ATTACH ? AS app", uri(folder / "app.db", vfs="selenite"), on="elsewhere")
            peer.run("SELECT count(*) FROM app.note", on="elsewhere")
    assert "attached to a main database on another VFS" in refused.value.reason


@every_client
def test_the_status_names_suite_state_and_slot(host: Host, start: Start, folder: Path) -> None:
    with start(host, SELENITE_CIPHER="AEGIS_256X4", SELENITE_PAGE_SIZE="8192") as peer:
        peer.open(folder / "app.db")
        fill(peer)
        rows = peer.run("SELECT section, name, value FROM selenite_status")
        status = {(section, name): value for section, name, value in rows}
        text = peer.value("PRAGMA selenite_status")
    assert status["database", "suite"] == "AEGIS_256X4"
    assert status["database", "encrypted"] == "yes"
    assert status["database", "state"] == "steady"
    assert int(status["database", "page_size"]) == 8192
    assert int(status["database", "pages"]) > 10
    assert [section for section, _, _ in rows].count("slot") == 1
    assert "suite AEGIS_256X4" in text


@every_client
def test_sql_works_as_it_does_on_a_plain_database(host: Host, start: Start, folder: Path) -> None:
    with start(host) as peer:
        peer.open(folder / "app.db")
        fill(peer)
        peer.run("CREATE VIRTUAL TABLE search USING fts5(body, content='note', content_rowid='id')")
        peer.run("INSERT INTO search(search) VALUES ('rebuild')")
        assert peer.run("SELECT rowid FROM search WHERE search MATCH 'fox AND 42'") == [[42]]
        peer.run("INSERT INTO search(search) VALUES ('integrity-check')")

        peer.run("CREATE TABLE word(word TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID")
        peer.run("INSERT INTO word SELECT body, id FROM note")
        assert peer.value("SELECT count FROM word WHERE word = 'the quick brown fox 99'") == 99

        peer.run("BEGIN")
        peer.run("DELETE FROM word WHERE count > 400")
        peer.run("SAVEPOINT inner")
        peer.run("DELETE FROM word")
        peer.run("ROLLBACK TO inner")
        peer.run("RELEASE inner")
        peer.run("COMMIT")
        assert peer.value("SELECT count(*) FROM word") == 400

        tree = "WITH RECURSIVE up(i, d) AS (SELECT 400, 0 UNION ALL SELECT i / 2, d + 1 FROM up WHERE i > 1) "
        assert peer.run(tree + "SELECT max(d), sum(count) FROM up JOIN word ON count = i") == [[8, 797]]

        peer.run("CREATE TEMP TABLE scratch AS SELECT * FROM note ORDER BY data")
        assert peer.value("SELECT count(DISTINCT data) FROM scratch") == 500
        assert peer.value("PRAGMA integrity_check") == "ok"


@every_client
def test_an_altered_page_is_named_and_the_others_are_still_read(host: Host, start: Start, folder: Path) -> None:
    path = folder / "app.db"
    with start(host) as peer:
        peer.open(path)
        fill(peer)
        pages = peer.value("PRAGMA page_count")
    offset = 65536 + (pages - 1) * 4096 + 1000
    with path.open("r+b") as file:
        file.seek(offset)
        (byte,) = file.read(1)
        file.seek(offset)
        file.write(bytes([byte ^ 1]))
    with start(host) as peer:
        peer.open(path)
        with pytest.raises(Refused) as refused:
            peer.run("SELECT count(*) FROM note WHERE length(data) = 200")
        assert f"page {pages} of the database is not authentic" in refused.value.reason
        assert peer.value("SELECT body FROM note WHERE id = 1") == "the quick brown fox 1"

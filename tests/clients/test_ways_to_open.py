"""What a connection may ask for when it opens a database, and what it may change afterwards."""

from collections.abc import Callable
from pathlib import Path

import pytest
from database_file import PREFIX_SIZE, DatabaseFile, assert_no_nonce_is_used_twice
from host import DEBIAN_PYTHON, NEWEST_PYTHON, OLD_AND_NEW, Host, Peer, Refused, uri
from note_table import fill

Start = Callable[..., Peer]
each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
each_journal_mode = pytest.mark.parametrize("journal_mode", ["delete", "wal"])
INSERT = "INSERT INTO note(body) VALUES ('more')"


def make(start: Start, path: Path, journal_mode: str = "delete") -> None:
    """A database that no process has open."""
    peer = start(NEWEST_PYTHON)
    peer.open(path)
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    fill(peer)
    peer.stop()


def assert_reads_only(peer: Peer) -> None:
    assert peer.value("SELECT count(*) FROM note") == 500
    assert peer.value("PRAGMA integrity_check") == "ok"
    with pytest.raises(Refused, match="readonly"):
        peer.run(INSERT)


@each_host
@each_journal_mode
def test_a_file_is_read_where_it_may_not_be_written(
    host: Host, journal_mode: str, start: Start, folder: Path
) -> None:
    make(start, folder / "app.db", journal_mode)
    (folder / "app.db").chmod(0o444)
    peer = start(host.without_the_rights_of_root())
    peer.open(folder / "app.db")
    assert_reads_only(peer)


@each_host
def test_a_file_is_read_in_a_folder_that_may_not_be_written(host: Host, start: Start, folder: Path) -> None:
    archive = folder / "archive"
    archive.mkdir()
    make(start, archive / "app.db")
    (archive / "app.db").chmod(0o444)
    archive.chmod(0o555)
    peer = start(host.without_the_rights_of_root())
    peer.open(archive / "app.db")
    assert_reads_only(peer)
    archive.chmod(0o755)


@each_host
@each_journal_mode
def test_mode_ro_reads_only(host: Host, journal_mode: str, start: Start, folder: Path) -> None:
    make(start, folder / "app.db", journal_mode)
    before = DatabaseFile(folder / "app.db").digests()
    peer = start(host)
    peer.open(folder / "app.db", mode="ro")
    assert_reads_only(peer)
    peer.close()
    assert DatabaseFile(folder / "app.db").digests()["app.db"] == before["app.db"]


@each_host
@each_journal_mode
def test_immutable_reads_without_locks_and_files_beside_it(
    host: Host, journal_mode: str, start: Start, folder: Path
) -> None:
    archive = folder / "archive"
    archive.mkdir()
    make(start, archive / "app.db", journal_mode)
    archive.chmod(0o555)
    peer = start(host.without_the_rights_of_root())
    peer.open(archive / "app.db", immutable=1)
    assert_reads_only(peer)
    assert [file.name for file in archive.iterdir()] == ["app.db"]
    archive.chmod(0o755)


@each_host
def test_a_wal_in_exclusive_mode_needs_no_shared_memory(host: Host, start: Start, folder: Path) -> None:
    file = DatabaseFile(folder / "app.db")
    peer = start(host)
    peer.open(file.path)
    peer.run("PRAGMA locking_mode = exclusive")
    assert peer.value("PRAGMA journal_mode = wal") == "wal"
    fill(peer)
    peer.run("PRAGMA cache_size = 2")
    peer.run("UPDATE note SET data = randomblob(3000)")
    peer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    peer.run("UPDATE note SET data = randomblob(2000)")
    assert not file.shm.exists()
    outsider = start(DEBIAN_PYTHON)
    with pytest.raises(Refused, match="locked"):
        outsider.open(file.path)
        outsider.run("PRAGMA busy_timeout = 0")
        outsider.run("SELECT count(*) FROM note")
    peer.kill()

    outsider = start(host)
    outsider.open(file.path)
    outsider.run("PRAGMA locking_mode = exclusive")
    assert outsider.value("SELECT count(*) FROM note WHERE length(data) = 2000") == 500
    outsider.run("PRAGMA locking_mode = normal")
    assert outsider.value("PRAGMA integrity_check") == "ok"


@each_host
def test_the_journal_mode_is_switched_to_and_fro(host: Host, start: Start, folder: Path) -> None:
    file = DatabaseFile(folder / "app.db")
    peer = start(host)
    peer.open(file.path)
    fill(peer)
    count = 500
    modes = ["wal", "delete", "truncate", "persist", "memory", "off", "wal", "persist", "wal", "truncate", "delete"]
    for mode in modes:
        assert peer.value(f"PRAGMA journal_mode = {mode}") == mode
        peer.run(INSERT)
        peer.run("BEGIN")
        peer.run("UPDATE note SET data = randomblob(300)")
        # Without a journal there is no way back.
        peer.run("COMMIT" if mode == "off" else "ROLLBACK")
        count += 1
        assert peer.value("SELECT count(*) FROM note") == count
        assert peer.value("PRAGMA integrity_check") == "ok"
    assert_no_nonce_is_used_twice(file.images())
    peer.stop()
    peer = start(host)
    peer.open(file.path)
    assert peer.value("SELECT count(*) FROM note") == count


@each_host
@each_journal_mode
def test_a_mapped_database_shrinks_and_grows(host: Host, journal_mode: str, start: Start, folder: Path) -> None:
    """With mmap_size set, a size hint passed down would cut the file to the size that SQLite knows."""
    path = folder / "app.db"
    peer = start(host)
    peer.open(path)
    peer.run("PRAGMA mmap_size = 268435456")
    # The older SQLite of some hosts is built without it.
    limit = peer.run("PRAGMA mmap_size")
    assert limit in ([[268435456]], [[0]], [])
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    fill(peer)
    peer.run("UPDATE note SET data = randomblob(2000)")
    peer.run("DELETE FROM note WHERE id > 250")
    peer.run("VACUUM")
    peer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    assert peer.value("SELECT count(*) FROM note") == 250
    assert peer.value("PRAGMA integrity_check") == "ok"
    maps = Path(f"/proc/{peer.pid}/maps").read_text()
    is_mapped = any(line.endswith("app.db") for line in maps.splitlines())
    assert is_mapped == (limit == [[268435456]])


@each_host
@each_journal_mode
def test_psow_0_changes_nothing(host: Host, journal_mode: str, start: Start, folder: Path) -> None:
    """Its split frames and page-sized journal headers could not be sealed."""
    file = DatabaseFile(folder / "app.db")
    peer = start(host)
    peer.open(file.path, psow=0)
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    peer.run("PRAGMA synchronous = full")
    fill(peer)
    peer.run("PRAGMA cache_size = 2")
    peer.run("BEGIN")
    peer.run("UPDATE note SET data = randomblob(3000)")
    peer.kill()
    peer = start(host)
    peer.open(file.path, psow=0)
    assert peer.value("SELECT count(*) FROM note WHERE length(data) = 200") == 500
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
@pytest.mark.parametrize("page_size", [1024, 8192, 65536])
@pytest.mark.parametrize("auto_vacuum", ["full", "incremental"])
def test_page_size_and_auto_vacuum_come_from_the_uri(
    host: Host, page_size: int, auto_vacuum: str, start: Start, folder: Path
) -> None:
    path = folder / "app.db"
    peer = start(host)
    peer.open(path, page_size=page_size, auto_vacuum=auto_vacuum)
    fill(peer)
    peer.run("UPDATE note SET data = randomblob(3000)")
    assert peer.value("PRAGMA page_size") == page_size
    assert peer.value("PRAGMA auto_vacuum") == {"full": 1, "incremental": 2}[auto_vacuum]
    size = path.stat().st_size
    peer.run("DELETE FROM note WHERE id > 10")
    while peer.value("PRAGMA freelist_count"):
        peer.run("PRAGMA incremental_vacuum")  # Python steps once, and so frees one page
    assert path.stat().st_size < size / 4
    assert (path.stat().st_size - PREFIX_SIZE) % page_size == 0
    assert peer.value("PRAGMA integrity_check") == "ok"
    assert_no_nonce_is_used_twice(DatabaseFile(path, page_size).images())


@pytest.mark.parametrize(
    "cipher", ["AES_128", "AES_192", "AES_256", "AEGIS_128X4", "AEGIS_256X4", "CHACHA20", "TRIPLE_DES_3KEY", "NONE"]
)
def test_each_suite_is_written_by_one_host_and_read_by_the_other(cipher: str, start: Start, folder: Path) -> None:
    leave = {"TRIPLE_DES_3KEY": {"deprecated": "allow"}, "NONE": {"plain": "allow"}}.get(cipher, {})
    path = folder / "app.db"
    peer = start(DEBIAN_PYTHON)
    if leave:
        with pytest.raises(Refused):
            peer.open(path, cipher=cipher)
        assert not path.exists()
    peer.open(path, cipher=cipher, **leave)
    fill(peer)
    peer.stop()
    assert (b"quick brown" in path.read_bytes()) == (cipher == "NONE")
    peer = start(NEWEST_PYTHON)
    if leave:
        with pytest.raises(Refused):
            peer.open(path)
            peer.run("SELECT count(*) FROM note")
    # The suite is the file's: no one names it again.
    peer.open(path, **leave)
    assert peer.value("SELECT count(*) FROM note WHERE length(data) = 200") == 500
    assert peer.value("SELECT value FROM selenite_status WHERE name = 'suite'") == cipher
    assert peer.value("PRAGMA integrity_check") == "ok"


@each_host
@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"cipher": "ROT13"}, 'unknown cipher "ROT13"; known: '),
        ({"page_size": 3000}, "page_size 3000 is not a power of two"),
        ({"page_size": 512}, "page_size 512 is not a power of two"),
        ({"auto_vacuum": "perhaps"}, "auto_vacuum perhaps is none of"),
        ({"plain": "yes"}, "invalid plain=yes"),
        ({"encrypted": "require"}, "invalid encrypted=require; the only value is `required`"),
        ({"backup": "yes"}, "invalid backup=yes"),
        ({"encryptd": "required"}, "unknown URI parameter encryptd; did you mean encrypted?"),
        ({"cypher": "AES_128"}, "unknown URI parameter cypher; did you mean cipher?"),
        ({"key": "x"}, "keys cannot be given in a URI"),
        ({"selenite_identity": "/nowhere/key"}, "can't read /nowhere/key"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_a_bad_parameter_is_named(
    host: Host, parameters: dict[str, str | int], reason: str, start: Start, folder: Path
) -> None:
    peer = start(host)
    with pytest.raises(Refused) as refused:
        peer.open(folder / "app.db", **parameters)
        fill(peer)
    assert reason in refused.value.reason
    assert not (folder / "app.db").exists() or (folder / "app.db").stat().st_size == 0


@each_host
def test_the_default_vfs_is_set(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    peer.open_plainly(folder / "plain.db", name="plain")
    peer.run("CREATE TABLE note(body)", on="plain")
    assert peer.value("SELECT selenite_default(1)", on="plain") == 1
    peer.open_plainly(folder / "sealed.db", name="sealed")
    peer.run("CREATE TABLE note(body)", on="sealed")
    starts = {file.stem: file.read_bytes()[:8] for file in folder.glob("*.db")}
    assert starts == {"plain": b"SQLite f", "sealed": b"Selenite"}


@each_host
def test_a_path_with_strange_characters_is_a_path(host: Host, start: Start, folder: Path) -> None:
    path = folder / "50% of a \u00e4\u00df?&#.db"
    peer = start(host)
    peer.open_plainly(uri(path, vfs="selenite"))
    fill(peer)
    peer.stop()
    assert path.read_bytes()[:8] == b"Selenite"
    peer = start(host)
    peer.open(path)
    assert peer.value("SELECT value FROM selenite_status WHERE name = 'path'") == str(path)


@each_host
def test_the_status_of_every_attached_database_is_joined(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    peer.open(folder / "app.db")
    peer.run("CREATE TABLE one(a)")
    peer.run("ATTACH ? AS other", uri(folder / "other.db", vfs="selenite"))
    peer.run("CREATE TABLE other.two(a)")
    sql = "SELECT l.name, s.value FROM pragma_database_list l, selenite_status(l.name) s WHERE s.name = 'path' ORDER BY 1"
    assert peer.run(sql) == [["main", str(folder / "app.db")], ["other", str(folder / "other.db")]]

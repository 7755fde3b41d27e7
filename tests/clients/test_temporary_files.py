"""Files without a name: temporary tables, sorters, statement journals. SQLite unlinks them as soon as they are open."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from host import OLD_AND_NEW, Host, Peer, Refused
from note_table import fill

Start = Callable[..., Peer]
each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
SECRET = b"the quick brown fox"


def temporary_files(peer: Peer, folder: Path) -> list[bytes]:
    """What lies in the files of that folder that only their process can name."""
    found = []
    for descriptor in Path(f"/proc/{peer.pid}/fd").iterdir():
        if os.readlink(descriptor).startswith(str(folder)):
            found.append(descriptor.read_bytes())
    return [content for content in found if content]


def use_temporary_table(peer: Peer) -> None:
    peer.run("PRAGMA temp.cache_size = 2")
    peer.run("CREATE TEMP TABLE scratch AS SELECT * FROM note")
    peer.run("INSERT INTO scratch SELECT id + 500, body, data FROM scratch")


def use_sorter(peer: Peer) -> None:
    peer.ask("first", name="main", sql="SELECT a.body, a.data FROM note a, note b WHERE b.id < 99 ORDER BY a.data")


def use_statement_journal(peer: Peer) -> None:
    peer.run("BEGIN")
    peer.run("UPDATE note SET data = randomblob(100)")
    peer.run("SAVEPOINT inner")
    peer.run("UPDATE note SET data = randomblob(200)")


@each_host
@pytest.mark.parametrize("use", [use_temporary_table, use_sorter, use_statement_journal])
@pytest.mark.parametrize("sealed", [True, False], ids=["encrypted", "plain"])
def test_temporary_files_are_encrypted(
    use: Callable[[Peer], None], host: Host, sealed: bool, start: Start, folder: Path
) -> None:
    """The plain twin shows that the files are there, and what they hold without the extension."""
    temporary = folder / "temporary"
    temporary.mkdir()
    peer = start(host, SQLITE_TMPDIR=str(temporary))
    if sealed:
        peer.open(folder / "app.db")
    else:
        peer.open_plainly(folder / "app.db")
    fill(peer)
    peer.run("UPDATE note SET data = CAST(body || printf('%1000c', 'x') AS BLOB)")
    peer.run("PRAGMA temp_store = file")
    peer.run("PRAGMA cache_size = 2")
    use(peer)
    files = temporary_files(peer, temporary)
    assert files != []
    assert any(SECRET in content for content in files) != sealed


@each_host
@pytest.mark.parametrize("page_size", [1024, 4096, 8192])
def test_a_temporary_table_outlives_a_disk_that_is_full(
    host: Host, page_size: int, start: Start, folder: Path
) -> None:
    """What it held before can be read, and written over, as in an unencrypted file."""
    full = replace(host, command=["prlimit", "--fsize=2097152", *host.command])
    peer = start(full, SQLITE_TMPDIR=str(folder))
    peer.open(folder / "app.db", page_size=page_size)
    peer.run("PRAGMA temp_store = file")
    peer.run(f"PRAGMA temp.page_size = {page_size}")
    peer.run("CREATE TEMP TABLE scratch(id INTEGER PRIMARY KEY, data BLOB)")
    peer.run("PRAGMA temp.cache_size = 5")
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO scratch(data) "
    peer.run(rows % 500 + "SELECT randomblob(900) FROM n")
    for _ in range(2):
        with pytest.raises(Refused):
            peer.run(rows % 9000 + "SELECT randomblob(900) FROM n")
        assert peer.run("SELECT count(*), sum(length(data)) FROM scratch") == [[500, 500 * 900]]
        peer.run("UPDATE scratch SET data = randomblob(900)")
        assert peer.value("PRAGMA temp.integrity_check") == "ok"

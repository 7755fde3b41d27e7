"""The write-ahead log, where SQLite does with it what is rare."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import fill
from database_file import DatabaseFile
from host import OLD_AND_NEW, Host, Peer

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

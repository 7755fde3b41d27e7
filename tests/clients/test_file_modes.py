"""Who may read new files, and whose key files are taken."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from host import OLD_AND_NEW, Host, Peer, Refused, uri
from note_table import fill

Start = Callable[..., Peer]
each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)


@pytest.fixture(autouse=True)
def _usual_umask() -> object:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    return {file.name: oct(file.stat().st_mode & 0o777)[2:] for file in folder.glob("app.db*")}


@each_host
@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_a_new_database_is_its_owners_alone(host: Host, journal_mode: str, start: Start, folder: Path) -> None:
    peer = start(host)
    peer.open(folder / "app.db")
    assert modes(folder) == {"app.db": "600"}
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    fill(peer)
    peer.run("BEGIN IMMEDIATE")
    peer.run("UPDATE note SET body = 'x'")
    found = modes(folder)
    assert len(found) > 1 and set(found.values()) == {"600"}, found
    peer.run("ROLLBACK")


@each_host
def test_a_file_that_is_there_or_named_says_otherwise(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    (folder / "app.db").touch(mode=0o640)
    peer.open(folder / "app.db")
    peer.run("PRAGMA journal_mode = wal")
    fill(peer)
    assert set(modes(folder).values()) == {"640"}
    peer.open(folder / "app.db-2", name="other", modeof=str(folder / "app.db"))
    peer.run("CREATE TABLE t(a)", on="other")
    assert modes(folder)["app.db-2"] == "640"


@each_host
def test_a_key_file_that_others_can_write_is_refused(host: Host, start: Start, folder: Path, key: Path) -> None:
    key.chmod(0o666)
    peer = start(host)
    with pytest.raises(Refused) as refused:
        peer.open(folder / "app.db")
        fill(peer)
    assert "is not trusted: users other than its owner can write there" in refused.value.reason
    assert "chmod go-w" in refused.value.reason
    assert not (folder / "app.db").exists()


@each_host
def test_a_key_file_that_others_can_read_is_told_in_the_status(
    host: Host, start: Start, folder: Path, key: Path
) -> None:
    sql = "SELECT value FROM selenite_status WHERE section = 'warning' AND name = 'key_readable'"
    key.chmod(0o644)
    peer = start(host)
    peer.open(folder / "app.db")
    fill(peer)
    assert peer.run(sql) == [[str(key)]]
    key.chmod(0o600)
    assert peer.run(sql) == []


@each_host
def test_memory_is_locked_or_the_file_is_refused(host: Host, start: Start, folder: Path) -> None:
    def locked(peer: Peer) -> int:
        lines = Path(f"/proc/{peer.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmLck:"))

    def dumped(peer: Peer) -> str:
        return Path(f"/proc/{peer.pid}/coredump_filter").read_text().strip()

    bound = ["setpriv", "--inh-caps=-ipc_lock", "--bounding-set=-ipc_lock"] if os.geteuid() == 0 else []
    bounded = replace(host, command=[*bound, "prlimit", "--memlock=65536:65536", *host.command])
    peer = start(bounded)
    with pytest.raises(Refused) as refused:
        peer.open(folder / "app.db", lock_memory=1)
    assert "this process may lock 65536 bytes; raise the limit" in refused.value.reason
    assert not (folder / "app.db").exists() and locked(peer) == 0
    peer = start(bounded, SELENITE_LOCK_MEMORY="1")
    with pytest.raises(Refused):
        peer.open(folder / "app.db")
    if os.geteuid() != 0:
        pytest.skip("only root may lock all of its memory here")
    peer = start(host)
    assert dumped(peer) != "00000000"
    peer.open(folder / "app.db", lock_memory=1, pool_size="1M")
    fill(peer)
    assert locked(peer) > 1000 and dumped(peer) == "00000000"


@each_host
def test_an_error_is_of_its_own_file(host: Host, start: Start, folder: Path, other_key: Path) -> None:
    peer = start(host)
    peer.open(folder / "app.db")
    fill(peer)
    other = uri(folder / "app.db", vfs="selenite", selenite_identity=other_key)
    for on in ("memory", "main"):
        with pytest.raises(Refused, match="unable to open database"):
            peer.run("ATTACH ? AS other", other, on=on)
    wrong = "none of the keys given opens this database"
    assert wrong in peer.value("SELECT selenite_last_error()")
    assert wrong in peer.value("SELECT selenite_last_error('main')")
    with pytest.raises(Refused, match="file is not a database"):
        peer.open_plainly(other, name="wrong")
    peer.open(folder / "second.db", name="second")
    fill(peer, on="second")
    assert peer.value("SELECT selenite_last_error()", on="second") is None
    assert wrong in peer.value("SELECT selenite_last_error(?)", str(folder / "app.db"), on="second")
    assert wrong in peer.value("SELECT selenite_last_error('app.db')", on="second")
    # What kept it from being opened is over when it is.
    peer.open(folder / "app.db", name="again")
    assert peer.value("SELECT selenite_last_error()", on="again") is None

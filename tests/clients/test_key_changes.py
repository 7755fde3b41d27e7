"""A process holds a database open while another changes its keys: who lost a key slot reads nothing more (FORMAT 3.8)."""

from collections.abc import Callable
from pathlib import Path

import pytest
from host import OLD_AND_NEW, Host, Peer, Refused
from note_table import fill
from test_command import selenite

Start = Callable[..., Peer]
COUNT = "SELECT count(*) FROM note"
MODES = ["delete", "truncate", "persist", "wal"]


def shared(peer: Peer, folder: Path, journal_mode: str, key: Path, other_key: Path) -> str:
    """A database that both keys open, held open by the peer under the first; the first key's slot."""
    peer.open(folder / "app.db")
    peer.run(f"PRAGMA journal_mode = {journal_mode}")
    fill(peer)
    slot = selenite(folder, "keys", "list", "app.db")[:8]
    selenite(folder, "--identity", f"raw:{key}", "keys", "add", "app.db", f"raw:{other_key}")
    return slot


@pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
@pytest.mark.parametrize("journal_mode", MODES)
@pytest.mark.parametrize("change", ["remove", "renew", "compromised"])
def test_who_lost_a_slot_reads_nothing_more(
    change: str, journal_mode: str, host: Host, start: Start, folder: Path, key: Path, other_key: Path
) -> None:
    peer = start(host)
    slot = shared(peer, folder, journal_mode, key, other_key)
    count = peer.value(COUNT)
    commands = {
        "remove": ["keys", "remove", "app.db", slot],
        "renew": ["keys", "renew", "app.db", "--drop"],
        "compromised": ["compromised", "app.db", slot],
    }
    selenite(folder, "--identity", f"raw:{other_key}", *commands[change])
    for _ in range(2):
        with pytest.raises(Refused):
            peer.value(COUNT)
    with pytest.raises(Refused):
        peer.run("DELETE FROM note")
    assert selenite(folder, "--identity", f"raw:{other_key}", "exec", "app.db", COUNT).split()[-1] == str(count)


@pytest.mark.parametrize("journal_mode", MODES)
@pytest.mark.parametrize("change", ["renew", "reencrypt"])
def test_who_keeps_a_slot_reads_and_writes_on(
    change: str, journal_mode: str, start: Start, folder: Path, key: Path, other_key: Path
) -> None:
    peer = start(OLD_AND_NEW[-1])
    shared(peer, folder, journal_mode, key, other_key)
    count = peer.value(COUNT)
    commands = {
        "renew": ["keys", "renew", "app.db", "--recipient", f"raw:{key}"],
        "reencrypt": ["reencrypt", "--new-key", "app.db"],
    }
    selenite(folder, "--identity", f"raw:{other_key}", *commands[change])
    assert peer.value(COUNT) == count
    peer.run("INSERT INTO note(body) VALUES ('more')")
    assert peer.value(COUNT) == count + 1

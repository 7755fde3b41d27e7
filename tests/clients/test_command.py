"""A database that the command `selenite` encrypted, in the hands of every client; and one of theirs in its hands."""

import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from host import ALL, TARGET, Host, Peer, Refused
from note_table import fill

Start = Callable[..., Peer]
COMMAND = os.environ.get("SELENITE_TEST_COMMAND", str(TARGET / "debug/selenite"))
every_client = pytest.mark.parametrize("host", ALL, ids=lambda host: host.name)


def selenite(folder: Path, *arguments: str | Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
    # The configuration of the user who runs the tests does not count.
    environment |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config")}
    done = subprocess.run([COMMAND, *arguments], env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@every_client
def test_what_the_command_encrypts_every_client_goes_on_with(host: Host, start: Start, folder: Path) -> None:
    plain = sqlite3.connect(folder / "app.db")
    plain.executescript(
        "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); CREATE INDEX by_body ON note(body);"
        "INSERT INTO note(body) VALUES ('one'), ('two'), ('three');"
    )
    plain.close()
    selenite(folder, "keygen", "-o", "age.key")
    selenite(folder, "--identity", "age.key", "encrypt", "app.db")

    peer = start(host, SELENITE_IDENTITY=str(folder / "age.key"))
    peer.open(folder / "app.db")
    assert peer.value("SELECT group_concat(body) FROM note WHERE body > 'p'") in ("three,two", "two,three")
    peer.run("INSERT INTO note(body) VALUES ('four')")
    assert peer.value("PRAGMA integrity_check") == "ok"
    peer.stop()

    assert "all of it" in selenite(folder, "--identity", "age.key", "verify", "app.db")
    selenite(folder, "--identity", "age.key", "decrypt", "app.db", "--to", "clear.db")
    assert sqlite3.connect(folder / "clear.db").execute("SELECT count(*) FROM note").fetchone() == (4,)


@every_client
def test_an_identity_is_replaced_with_no_client_stopped(
    host: Host, start: Start, folder: Path, key: Path, other_key: Path
) -> None:
    """The new one is added, every process that starts after that uses it, and the old one is removed when no process does."""
    old = start(host)
    old.open(folder / "app.db")
    old.run("PRAGMA journal_mode = wal")
    fill(old)
    slot = selenite(folder, "keys", "list", "app.db")[:8]
    selenite(folder, "--identity", f"raw:{key}", "keys", "add", "app.db", f"raw:{other_key}")
    old.run("DELETE FROM note WHERE id = 1")
    new = start(host, SELENITE_IDENTITY=str(other_key))
    new.open(folder / "app.db")
    new.run("DELETE FROM note WHERE id = 2")
    old.run("DELETE FROM note WHERE id = 3")
    old.stop()

    selenite(folder, "--identity", f"raw:{other_key}", "keys", "remove", "app.db", slot)
    new.run("DELETE FROM note WHERE id = 4")
    assert new.value("SELECT count(*) FROM note") == 496
    late = start(host)
    with pytest.raises(Refused) as refused:
        late.open(folder / "app.db")
        late.run("SELECT count(*) FROM note")
    assert "none of the keys given opens this database" in refused.value.reason

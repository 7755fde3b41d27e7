"""What a statement can't do that someone else wrote into an application's SQL."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from host import OLD_AND_NEW, Host, Peer, Refused, uri
from note_table import fill
from test_command import selenite

Start = Callable[..., Peer]
each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
RECIPIENT = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
# Of the engine alone.
ENGINE_FUNCTIONS = [
    "announce('main', 1)",
    "apply(1)",
    "cut('main')",
    "drop_pages()",
    "old_pages('main', 1, 1, 1)",
    "open_references()",
    "page_reads()",
    "read(1)",
    "retire('main')",
    "sync_ns()",
]


@each_host
@pytest.mark.parametrize("argument", ["0", "'0'", "NULL", "0.0", "''"])
def test_encryption_is_not_turned_off(host: Host, argument: str, start: Start, folder: Path) -> None:
    peer = start(host)
    assert peer.value("SELECT selenite_default(1)", on="memory") == 1
    peer.open_plainly(folder / "app.db")
    with pytest.raises(Refused, match="selenite_default"):
        peer.value(f"SELECT selenite_default({argument})")
    peer.open_plainly(folder / "other.db", name="other")
    peer.run("CREATE TABLE note(body)", on="other")
    assert (folder / "other.db").read_bytes()[:8] == b"Selenite"


@each_host
def test_a_backup_is_made_only_where_the_program_allowed_it(host: Host, start: Start, folder: Path) -> None:
    peer = start(host, SELENITE_BACKUP="allow")
    place = folder / "stolen"
    for name, parameters in (("app", {}), ("refused", {"backup": "refuse"})):
        peer.open(folder / f"{name}.db", name=name, **parameters)
        fill(peer, name)
        for sql in (f"selenite_backup('{place}')", f"selenite_backup('{place}', 'main', '{RECIPIENT}')"):
            with pytest.raises(Refused, match="selenite_backup is not allowed on this connection"):
                peer.value(f"SELECT {sql}", on=name)
    # What ATTACH says is SQL, too: of the same database, and from a connection that has no other.
    allowed = uri(folder / "app.db", vfs="selenite", backup="allow")
    for name in ("app", "memory"):
        if name == "memory":
            allowed = uri(folder / "app.db", vfs="selenite", backup="allow", plain="allow")
        peer.run("ATTACH ? AS again", allowed, on=name)
        with pytest.raises(Refused, match="not allowed on this connection"):
            peer.value(f"SELECT selenite_backup('{place}', 'again')", on=name)
    assert not place.exists()


@each_host
def test_the_operations_on_databases_are_out_of_reach(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    peer.open(folder / "app.db")
    fill(peer)
    for function in ENGINE_FUNCTIONS:
        with pytest.raises(Refused, match="no such function"):
            peer.value(f"SELECT selenite_{function}")
    assert peer.value("SELECT count(*) FROM note") == 500


@each_host
def test_a_view_that_others_wrote_does_not_read_the_status(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    peer.open(folder / "app.db")
    fill(peer)
    for table in ("selenite_status", "selenite_epochs", "selenite_file_counts"):
        peer.run(f"CREATE VIEW of_{table} AS SELECT * FROM {table}")
        with pytest.raises(Refused, match="unsafe use of virtual table"):
            peer.run(f"SELECT * FROM of_{table}")
        assert peer.run(f"SELECT * FROM {table}")


@each_host
def test_an_attach_admits_no_origin_that_the_program_did_not(host: Host, start: Start, folder: Path) -> None:
    recipient = keygen(folder, "victim.key")
    keygen(folder, "forger.key")
    selenite(folder, "-i", "forger.key", "exec", "--create", "forged.db", "CREATE TABLE loot(body)")
    selenite(folder, "-i", "forger.key", "keys", "add", "forged.db", recipient)
    listed = json.loads(selenite(folder, "-i", "forger.key", "keys", "list", "--json", "forged.db"))
    commitment = listed["commitment"]
    peer = start(host, SELENITE_IDENTITY=f"age:{folder / 'victim.key'}")
    forged = {"vfs": "selenite", "origin": "any"}
    pinned = {"vfs": "selenite", "commitment": commitment}
    peer.open(folder / "app.db")
    fill(peer)
    for parameters in (forged, pinned, forged | pinned):
        with pytest.raises(Refused) as refused:
            peer.run("ATTACH ? AS forged", uri(folder / "forged.db", **parameters))
            peer.run("CREATE TABLE forged.copy AS SELECT * FROM main.note")
        assert "origin" in str(peer.last_error()) or "origin" in str(refused.value)
        if [row for row in peer.run("PRAGMA database_list") if row[1] == "forged"]:
            peer.run("DETACH forged")
    assert selenite(folder, "-i", "forger.key", "exec", "forged.db", "SELECT count(*) FROM sqlite_schema").split()[-1] == "1"
    # Of one's own database a commitment refuses as before.
    peer.open(folder / "own.db", name="own")
    fill(peer, "own")
    peer.close("own")
    with pytest.raises(Refused):
        peer.run("ATTACH ? AS own", uri(folder / "own.db", **pinned))
    peer.run("ATTACH ? AS own", uri(folder / "own.db", **forged))
    assert peer.value("SELECT count(*) FROM own.note") == 500
    # The program itself may admit any origin.
    peer.open(folder / "app.db", name="any", origin="any")
    peer.run("ATTACH ? AS forged", uri(folder / "forged.db", **forged), on="any")
    assert peer.value("SELECT count(*) FROM forged.loot", on="any") == 0
    peer.open(folder / "forged.db", name="pinned", commitment=commitment)
    assert peer.value("SELECT count(*) FROM loot", on="pinned") == 0


def keygen(folder: Path, name: str) -> str:
    """An age identity's public recipient."""
    selenite(folder, "keygen", "-o", name)
    recipient = re.search(r"age1[0-9a-z]+", (folder / name).read_text())
    assert recipient
    return recipient[0]

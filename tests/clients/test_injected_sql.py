"""What a statement can't do that somebody else wrote into an application's SQL."""

from collections.abc import Callable
from pathlib import Path

import pytest
from host import OLD_AND_NEW, Host, Peer, Refused, uri
from note_table import fill

Start = Callable[..., Peer]
each_host = pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
RECIPIENT = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
# Of the engine alone.
ENGINE_FUNCTIONS = [
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
    for table in ("selenite_status", "selenite_epochs"):
        peer.run(f"CREATE VIEW of_{table} AS SELECT * FROM {table}")
        with pytest.raises(Refused, match="unsafe use of virtual table"):
            peer.run(f"SELECT * FROM of_{table}")
        assert peer.run(f"SELECT * FROM {table}")

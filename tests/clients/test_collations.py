"""Any SQLite with the extension sorts, finds and checks text by the collations of the server's columns."""

from collections.abc import Callable
from pathlib import Path

import pytest
from host import OLD_AND_NEW, Host, Peer

Start = Callable[..., Peer]

# Of each: the order of the texts below, how many are equal to 'B', and how many to 'e'.
COLLATIONS = {
    "SQL_Latin1_General_CP1_CI_AS": ("A a b B e \u00e9 \u00c9", 2, 1),
    "SQL_Latin1_General_CP1_CS_AS": ("A a B b e \u00c9 \u00e9", 1, 1),
    "Latin1_General_CS_AS": ("a A b B e \u00e9 \u00c9", 1, 1),
    "Latin1_General_CI_AI": ("A a b B \u00e9 \u00c9 e", 2, 3),
    "Latin1_General_BIN": ("A B a b e \u00c9 \u00e9", 1, 1),
    "Latin1_General_BIN2": ("A B a b e \u00c9 \u00e9", 1, 1),
}
TEXTS = ["b", "A", "\u00e9", "a", "B", "\u00c9", "e"]


@pytest.mark.parametrize("host", OLD_AND_NEW, ids=lambda host: host.name)
def test_an_index_of_each_collation_is_used_and_checked(host: Host, start: Start, folder: Path) -> None:
    peer = start(host)
    peer.open(folder / "texts.db")
    for collation, (order, of_b, of_e) in COLLATIONS.items():
        table = f"of_{collation}"
        peer.run(f"CREATE TABLE {table}(n INTEGER PRIMARY KEY, s TEXT COLLATE {collation})")
        peer.run(f"CREATE INDEX by_{collation} ON {table}(s)")
        for text in TEXTS:
            peer.run(f"INSERT INTO {table}(s) VALUES ('{text}')")
        plan = str(peer.run(f"EXPLAIN QUERY PLAN SELECT s FROM {table} ORDER BY s"))
        assert f"INDEX by_{collation}" in plan, plan
        rows = peer.run(f"SELECT s FROM {table} ORDER BY s")
        # Those that are equal are in the order in which they were written.
        assert " ".join(row[0] for row in rows) == order, collation
        counts = peer.run(f"SELECT sum(s = 'B '), sum(s = 'e') FROM {table}")
        assert list(counts[0]) == [of_b, of_e], collation
    assert peer.run("PRAGMA integrity_check")[0][0] == "ok"

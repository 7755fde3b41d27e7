"""The table that most tests begin with."""

from host import Peer


def fill(peer: Peer, on: str = "main") -> None:
    """A table of 500 rows, about 40 pages. Each is known by its text."""
    peer.run("CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT NOT NULL, data BLOB)", on=on)
    peer.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
        "INSERT INTO note SELECT i, 'the quick brown fox ' || i, randomblob(200) FROM n",
        on=on,
    )

"""Cancelling: ATTENTION, time-outs, and clients that go away."""

from collections.abc import Callable

import pytest
from client import ALL, Client, Connection, Desk, Program
from servers import Servers

BATCHES = {
    # Rows without end, and the client stops reading after the first.
    "rows": ("DECLARE @i int = 0; WHILE 1 = 1 BEGIN SET @i += 1; SELECT @i AS i, REPLICATE('x', 1000) AS x END", None),
    # Nothing comes but DONE.
    "loop": ("DECLARE @i bigint = 0; WHILE 1 = 1 SET @i += 1", 300),
    # Nothing comes at all.
    "delay": ("WAITFOR DELAY '00:05:00'", 300),
}


@pytest.mark.parametrize(
    ("client", "what"), [pytest.param(one, what, id=f"{one.name}-{what}") for one in ALL for what in one.cancels]
)
def test_a_batch_without_an_end_is_cancelled(client: Client, what: str, desk: Callable[..., Desk]) -> None:
    connection = desk(client).connect()
    sql, after_ms = BATCHES[what]
    for _ in range(2):
        # How long it takes is measured by figures/cancel_times.py.
        connection.cancel(sql, after_ms)
        # The connection goes on, and nothing is left of the answer that was not wanted.
        assert connection.run("SELECT 'on' AS v").value == "on"


@pytest.mark.parametrize("client", [one for one in ALL if "rows" in one.cancels], ids=lambda one: one.name)
def test_a_transaction_outlives_a_cancelled_batch(client: Client, connection: Connection) -> None:
    """Without XACT_ABORT, ATTENTION leaves what was begun before (SQL Server's documentation of SET XACT_ABORT)."""
    connection.run("SET XACT_ABORT OFF; BEGIN TRANSACTION")
    connection.cancel(*BATCHES["rows"])
    assert connection.run("SELECT @@TRANCOUNT AS n").value == "1"
    connection.run("ROLLBACK")


def test_a_client_that_is_killed_leaves_the_server_to_others(
    client: Client, servers: Servers, desk: Callable[..., Desk]
) -> None:
    """Its loop ends with it: the server could not be stopped in time else, nor could others go on."""
    server = servers.of("require")
    lonely = Program(client)
    try:
        with Desk(lonely, server).closing() as at:
            at.connect()
            busy = at.connect()
            request = {"action": "batch", "name": busy.name, "sql": BATCHES["loop"][0]}
            assert lonely.process.stdin
            lonely.process.stdin.write(__import__("json").dumps(request).encode() + b"\n")
            lonely.process.stdin.flush()
            assert desk(client).connect().run("SELECT 1 AS one").value == "1"
            lonely.process.kill()
            lonely.process.wait()
    finally:
        lonely.stop()
    assert desk(client).connect().run("SELECT 1 AS one").value == "1"


def test_a_server_that_is_told_to_stop_ends_what_runs(client: Client, servers: Servers) -> None:
    server = servers.start(f"stopped-{client.name}", "require")
    lonely = Program(client)
    try:
        with Desk(lonely, server).closing() as at:
            busy = at.connect()
            request = {"action": "batch", "name": busy.name, "sql": BATCHES["loop"][0]}
            assert lonely.process.stdin
            lonely.process.stdin.write(__import__("json").dumps(request).encode() + b"\n")
            lonely.process.stdin.flush()
            assert server.stop() == 0
            assert server.panics() == []
            lonely.process.kill()
    finally:
        del servers.running[f"stopped-{client.name}"]
        lonely.process.kill()
        lonely.process.wait()
        lonely.stop()

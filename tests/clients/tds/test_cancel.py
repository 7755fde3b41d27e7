"""Cancelling: ATTENTION, time-outs, and clients that go away."""

import time
from collections.abc import Callable

import pytest
from client import ALL, Client, Connection, Desk, Program
from servers import Servers

# A session is seen at once, but on a machine that does other things too.
SEEN_SECONDS = 60
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
    """Its loop ends with it."""
    server = servers.of("require")
    other = desk(client).connect()
    lonely = Program(client)
    try:
        with Desk(lonely, server).closing() as at:
            at.connect()
            at.connect().begin_batch(BATCHES["loop"][0])
            wait_until_loops_are(1, other)
            lonely.kill()
    finally:
        lonely.stop()
    wait_until_loops_are(0, other)
    assert desk(client).connect().run("SELECT 1 AS one").value == "1"


def test_a_server_that_is_told_to_stop_ends_what_runs(client: Client, servers: Servers) -> None:
    server = servers.start(f"stopped-{client.name}", "require")
    lonely = Program(client)
    watching = Program(client)
    try:
        with Desk(lonely, server).closing() as at, Desk(watching, server).closing() as beside:
            at.connect().begin_batch(BATCHES["loop"][0])
            wait_until_loops_are(1, beside.connect())
            assert server.stop() == 0
            assert server.panics() == []
            lonely.kill()
    finally:
        del servers.running[f"stopped-{client.name}"]
        server.kill()
        for program in (lonely, watching):
            program.kill()
            program.stop()


def wait_until_loops_are(count: int, other: Connection) -> None:
    """Waits until so many sessions are in the loop, as another one sees them."""
    sql = (
        "SELECT COUNT(*) AS n FROM sys.dm_exec_requests r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) t "
        "WHERE r.session_id <> @@SPID AND t.text LIKE 'DECLARE @i bigint = 0; WHILE%'"
    )
    deadline = time.monotonic() + SEEN_SECONDS
    while (seen := other.run(sql).value) != str(count):
        assert time.monotonic() < deadline, f"{seen} sessions are in the loop, not {count}"

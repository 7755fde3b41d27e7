"""Servers and clients, each started once for all tests."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from client import ALL, Client, Connection, Desk, Program
from servers import Servers


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    folder = Path(tempfile.mkdtemp(prefix="selenite-tds-"))
    servers = Servers(folder)
    yield servers
    faults = []
    for name, server in servers.running.items():
        status = server.stop() if server.is_running() else server.process.returncode
        if status != 0 or server.panics():
            faults.append(f"{name}: status {status}; {server.panics()}")
    shutil.rmtree(folder, ignore_errors=True)
    assert not faults, faults


@pytest.fixture(autouse=True)
def no_panic(servers: Servers) -> Iterator[None]:
    """Fails the test in which a server panicked or ended."""
    before = {name: len(server.panics()) for name, server in servers.running.items()}
    yield
    for name, server in servers.running.items():
        assert server.is_running(), f"{name} ended with {server.process.returncode}; its log: {server.log[-20:]}"
        assert server.panics()[before.get(name, 0) :] == [], f"{name}: {server.log[-20:]}"


@pytest.fixture(scope="session")
def programs() -> Iterator[Callable[[Client], Program]]:
    running: dict[str, Program] = {}

    def program(client: Client) -> Program:
        # Its absence is an error, and no reason to leave tests out.
        assert not client.missing(), client.missing()
        if client.name not in running or not running[client.name].is_running():
            running[client.name] = Program(client)
        return running[client.name]

    yield program
    for one in running.values():
        one.stop()


@pytest.fixture
def desk(programs: Callable[[Client], Program], servers: Servers) -> Iterator[Callable[..., Desk]]:
    """A client at the server of a mode: the one that servers have by default, unless the test says otherwise."""
    opened: list = []

    def at(client: Client, encryption: str = "require") -> Desk:
        closing = Desk(programs(client), servers.of(encryption)).closing()
        opened.append(closing)
        return closing.__enter__()

    yield at
    for closing in opened:
        closing.__exit__(None, None, None)


@pytest.fixture(params=ALL, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param


@pytest.fixture
def connection(client: Client, desk: Callable[..., Desk]) -> Connection:
    """A connection of each client, one after the other."""
    return desk(client).connect()

"""Every client in every mode of encryption: who comes in, and what can be read on the wire."""

import time
from collections.abc import Callable

import pytest
from client import ALL, Client, ClientFailed, Desk, SqlError
from server import MODES
from servers import Servers
from tap import Tap

At = Callable[..., Desk]
SEEN = "nobody reads this"
# A session that was left ends at once, but on a machine that does other things too.
LEAVING_SECONDS = 60

# What comes of what both say (MS-TDS 2.2.6.5): all in clear, the login alone encrypted, everything encrypted, or nothing.
OUTCOMES = {
    "off": {"not supported": "clear", "off": "clear", "on": "refused", "required": "refused", "strict": "refused"},
    "optional": {"not supported": "clear", "off": "login", "on": "whole", "required": "whole", "strict": "whole"},
    "require": {"not supported": "refused", "off": "whole", "on": "whole", "required": "whole", "strict": "whole"},
    "strict": {"not supported": "refused", "off": "refused", "on": "refused", "required": "refused", "strict": "whole"},
}
SETTINGS = [
    pytest.param(client, word, mode, id=f"{client.name}-{word}-to-{mode}")
    for client in ALL
    for word in client.announces
    for mode in MODES
]


@pytest.mark.parametrize(("client", "encryption", "mode"), SETTINGS)
def test_what_is_encrypted_is_what_both_agreed_on(client: Client, encryption: str, mode: str, desk: At) -> None:
    outcome = OUTCOMES[mode][client.announces[encryption]]
    if client.insists_on_login and (mode, encryption) == ("off", "login"):
        outcome = "refused"
    at = desk(client, mode)
    with Tap(at.server.port) as tap:
        if outcome == "refused":
            with pytest.raises((SqlError, ClientFailed)):
                at.connect(encryption, port=tap.port)
            is_told = client.logs_in_regardless and mode == "off" and encryption != "strict"
            assert (hidden(at.server.password) in tap.sent) == is_told
            # It left, and did not break.
            assert at.program.is_running()
            return
        connection = at.connect(encryption, port=tap.port)
        assert connection.run(f"SELECT '{SEEN}' AS v").value == SEEN
        # It is asked for in UTF-16, and answered as a varchar.
        is_seen = (SEEN.encode("utf-16-le") in tap.sent, SEEN.encode() in tap.received)
        assert is_seen == ((False, False) if outcome == "whole" else (True, True))
        assert has_login_in_clear(tap.sent) == (outcome == "clear")
        assert (hidden(at.server.password) in tap.sent) == (outcome == "clear")
        # The server's own word for it is of what is encrypted after the login.
        about = "SELECT encrypt_option AS e, auth_scheme AS a FROM sys.dm_exec_connections WHERE session_id = @@SPID"
        assert connection.run(about).rows == [["TRUE" if outcome == "whole" else "FALSE", "SQL"]]


@pytest.mark.parametrize(
    ("client", "mode"),
    [
        pytest.param(client, mode, id=f"{client.name}-{mode}")
        for client in ALL
        for mode in MODES
        if mode != "strict" or "strict" in client.announces
    ],
)
def test_a_wrong_password_is_refused(client: Client, mode: str, desk: At) -> None:
    at = desk(client, mode)
    with pytest.raises(SqlError) as refused:
        at.connect(password="not " + at.server.password)
    assert "Login failed for user 'sa'" in refused.value.text or not client.tells_login_text
    if "number" in client.tells and client.tells_login_number:
        assert refused.value.number == 18456
    # Who knows it comes in as before.
    assert at.connect().run("SELECT 1 AS one").value == "1"


def test_a_login_that_is_not_there_is_refused_in_the_same_words(client: Client, desk: At) -> None:
    # One name for all would be locked out in the end.
    user = f"nobody of {client.name}"
    with pytest.raises(SqlError) as refused:
        desk(client).connect(user=user)
    assert f"Login failed for user '{user}'" in refused.value.text or not client.tells_login_text
    assert refused.value.number in (18456, None)


def test_a_database_that_is_not_there_is_refused(client: Client, desk: At) -> None:
    with pytest.raises(SqlError) as refused:
        desk(client).connect(database="nowhere")
    # Some clients tell the error that comes after it.
    assert "nowhere" in refused.value.text or "Login failed" in refused.value.text or not client.tells_login_text
    assert refused.value.number in (4060, 18456, None)


def test_a_login_chooses_its_database(client: Client, desk: At) -> None:
    assert desk(client).connect(database="TempDB").run("SELECT DB_NAME() AS d").value == "tempdb"
    assert desk(client).connect().run("SELECT DB_NAME() AS d").value == "master"


@pytest.mark.parametrize(
    ("client", "size"),
    [pytest.param(client, size, id=f"{client.name}-{size}") for client in ALL for size in client.packet_sizes],
)
def test_packets_are_of_the_size_that_was_asked_for(client: Client, size: int, desk: At) -> None:
    at = desk(client, "off")
    with Tap(at.server.port) as tap:
        connection = at.connect(port=tap.port, packet_size=size)
        text = "0123456789abcdef" * 2500
        assert connection.run(f"SELECT '{text}' AS v, REPLICATE(CAST('z' AS varchar(max)), 100000) AS z").rows == [
            [text, "z" * 100_000]
        ]
        sizes = packet_sizes(tap.received)
    assert max(sizes) == size


@pytest.mark.parametrize(
    ("client", "encryption"),
    [
        pytest.param(client, word, id=f"{client.name}-{word}")
        for client in ALL
        for word in ("verified", "strict")
        if word in client.announces
    ],
)
def test_a_certificate_is_checked_where_the_client_is_told_to(
    client: Client, encryption: str, desk: At, servers: Servers
) -> None:
    at = desk(client, "strict" if encryption == "strict" else "require")
    assert at.connect(encryption).run("SELECT 1 AS one").value == "1"
    other = servers.of("optional").certificate
    with pytest.raises((SqlError, ClientFailed)):
        at.connect(encryption, certificate=str(other))


def test_connections_come_and_go(client: Client, desk: At) -> None:
    """And nothing is left of them in the server."""
    at = desk(client)
    counting = "SELECT COUNT(*) AS n FROM sys.dm_exec_sessions WHERE is_user_process = 1"
    watching = at.connect()
    # Those of tests before may still be leaving: fewer there can be, not more.
    before = int(watching.run(counting).value or 0)
    for _ in range(10):
        opened = [at.connect() for _ in range(3)]
        spids = {one.run("SELECT @@SPID AS spid").value for one in opened}
        # tsql leaves between two of them.
        assert len(spids) == 3 or client.name == "tsql"
        for one in opened:
            one.close()
    deadline = time.monotonic() + LEAVING_SECONDS
    while (left := int(watching.run(counting).value or 0)) > before:
        assert time.monotonic() < deadline, f"{left} sessions, and {before} before"


def packet_sizes(stream: bytes) -> list[int]:
    """The sizes of the packets in a stream (MS-TDS 2.2.3.1)."""
    sizes = []
    at = 0
    while at + 8 <= len(stream):
        sizes.append(int.from_bytes(stream[at + 2 : at + 4], "big"))
        at += sizes[-1]
    assert at == len(stream)
    return sizes


def hidden(password: str) -> bytes:
    """A password as LOGIN7 has it (MS-TDS 2.2.6.4): halves of bytes are exchanged, and bits turned; all can read it."""
    return bytes(((byte << 4 & 0xF0) | byte >> 4) ^ 0xA5 for byte in password.encode("utf-16-le"))


def has_login_in_clear(stream: bytes) -> bool:
    """Whether the packet after the first one is a LOGIN7. A stream of TLS has no packets."""
    first = int.from_bytes(stream[2:4], "big")
    return stream[0] == 0x12 and stream[first] == 0x10

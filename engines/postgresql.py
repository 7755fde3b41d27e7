"""PostgreSQL: its own client, TLS to it. There is no encryption of files.

- own-server: initdb, data folder and port of its own; no socket. The system's cluster is not looked at.
- not-as-root: PostgreSQL refuses to run as root. In a user namespace in which root has another number, it does.
- background-rests: no autovacuum, no parallel workers, no JIT, so that the work is that of one process.
"""

import os
import re
import secrets
import signal
import socket
import ssl
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import installation
from conversation import Refused
from engine import TLS, Engine, Session
from server_process import ServerProcess, free_port
from tls_certificate import certificate

NOT_AS_ROOT = ["/usr/bin/unshare", "--user", "--map-user=1000", "--map-group=1000", "setpriv", "--pdeathsig", "KILL", "--"]
# PQ_SEND_BUFFER_SIZE.
PACKET_SIZE = 8192
PROTOCOL_VERSION = 196608
SSL_REQUEST = struct.pack("!II", 8, 80877103)
INTEGER_TYPES = {20, 21, 23}
# 256 KiB: few system calls.
ROOM = 256 << 10
READY = b"Z\0\0\0\5I"
SYNC = {"off": ("off", "off"), "normal": ("on", "off"), "full": ("on", "on"), "extra": ("on", "on")}
TIME = "'YYYY-MM-DD HH24:MI:SS'"
TABLES = {
    "scan": ["CREATE TABLE SomeData(Id bigint, SomeText varchar(80))"],
    "statements": [
        "CREATE TABLE testtable(code serial PRIMARY KEY, date timestamp(0), "
        f"name char(25) DEFAULT '{'SQLSHACK':25}')"
    ],
    "cards": [
        "CREATE TABLE Vendor(VendorID serial PRIMARY KEY, BusinessName varchar(40), City varchar(20), "
        "PostalCode char(5), Changed timestamp(0))",
        "CREATE TABLE Card(CardID serial PRIMARY KEY, CardNumber char(16), SecurityCode char(3), "
        "SecureString varchar(36), Changed timestamp(0))",
        "CREATE TABLE Purchase(PurchaseID serial PRIMARY KEY, CardID int, VendorID int, Amount int, "
        "PurchaseDate timestamp(0))",
    ],
}
COLUMNS = {"testtable": "(code, date, name)"}
KEYS = {"testtable": "code", "Vendor": "VendorID", "Card": "CardID", "Purchase": "PurchaseID"}
INDEXES = {
    "scan": [],
    "statements": [
        "CREATE INDEX TestByDate ON testtable(date)",
        "CREATE INDEX TestByNameAndDate ON testtable(name, date)",
    ],
    "cards": [
        "CREATE INDEX VendorByBusinessName ON Vendor(BusinessName)",
        "CREATE UNIQUE INDEX CardByNumber ON Card(CardNumber, SecurityCode)",
        "CREATE INDEX CardBySecurityCode ON Card(SecurityCode, CardNumber)",
        "CREATE INDEX CardBySecureString ON Card(SecureString)",
        "CREATE INDEX PurchaseByCard ON Purchase(CardID)",
        "CREATE INDEX PurchaseByVendor ON Purchase(VendorID)",
    ],
}
ROWS = {
    "SomeData": "SELECT Id, SomeText FROM SomeData ORDER BY Id",
    "testtable": f"SELECT code, to_char(date, {TIME}), rpad(name, 25) FROM testtable ORDER BY code",
    "Vendor": f"SELECT VendorID, BusinessName, City, PostalCode, to_char(Changed, {TIME}) FROM Vendor ORDER BY VendorID",
    "Card": f"SELECT CardID, CardNumber, SecurityCode, SecureString, to_char(Changed, {TIME}) FROM Card ORDER BY CardID",
    "Purchase": f"SELECT PurchaseID, CardID, VendorID, Amount, to_char(PurchaseDate, {TIME}) FROM Purchase "
    "ORDER BY PurchaseID",
}
HUMMER = Path(__file__).with_name("postgresql_hummer.sql")


class PostgresqlSession(Session):
    """A connection: protocol 3.0, simple queries."""

    def __init__(self, port: int, password: str, trusted: Path | None = None) -> None:
        self._socket: socket.socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if trusted:
            self._socket.sendall(SSL_REQUEST)
            if self._socket.recv(1) != b"S":
                raise Refused("the server does not offer TLS")
            context = ssl.create_default_context(cafile=str(trusted))
            self._socket = context.wrap_socket(self._socket, server_hostname="127.0.0.1")
        self._held = b""
        first = struct.pack("!I", PROTOCOL_VERSION) + b"user\0lab\0database\0postgres\0\0"
        self._socket.sendall(struct.pack("!I", len(first) + 4) + first)
        for kind, body in self._messages():
            if kind == b"R" and body[:4] == struct.pack("!I", 3):
                self._send(b"p", password.encode() + b"\0")
            elif kind == b"Z":
                return

    def execute(self, sql: str) -> int:
        self._send(b"Q", sql.encode() + b"\0")
        changed = 0
        for kind, body in self._messages():
            if kind == b"C":
                words = body[:-1].decode().split()
                changed = int(words[-1]) if words[-1].isdigit() else 0
            elif kind == b"Z":
                return changed
        return changed

    def query(self, sql: str) -> list[tuple]:
        return list(self.stream(sql))

    def stream(self, sql: str) -> Iterator[tuple]:
        self._send(b"Q", sql.encode() + b"\0")
        types: list[int] = []
        for kind, body in self._messages():
            if kind == b"T":
                types = column_types(body)
            elif kind == b"D":
                yield row_of(types, body)
            elif kind == b"Z":
                return

    def fetch(self, sql: str) -> Callable[[], list[tuple]]:
        """Receives until the server is ready; what came is looked at later."""
        self._send(b"Q", sql.encode() + b"\0")
        pieces, receive = [], self._socket.recv
        while True:
            piece = receive(ROOM)
            if not piece:
                raise Refused("the server closed the connection")
            pieces.append(piece)
            if piece.endswith(READY) or len(piece) < len(READY) and b"".join(pieces[-6:]).endswith(READY):
                break

        def rows() -> list[tuple]:
            types: list[int] = []
            found = []
            for kind, body in split(b"".join(pieces))[0]:
                raise_error(kind, body)
                if kind == b"T":
                    types = column_types(body)
                elif kind == b"D":
                    found.append(row_of(types, body))
            return found

        return rows

    def discard(self, sql: str) -> int:
        """Receives an answer, and gives the number of its bytes."""
        self._send(b"Q", sql.encode() + b"\0")
        room = memoryview(bytearray(ROOM))
        total = 0
        tail = b""
        while not tail.endswith(READY):
            size = self._socket.recv_into(room)
            if not size:
                raise Refused("the server closed the connection")
            total += size
            tail = (tail + bytes(room[max(0, size - 6) : size]))[-6:]
        return total

    def close(self) -> None:
        with suppress(OSError):
            self._send(b"X", b"")
        self._socket.close()

    def _send(self, kind: bytes, body: bytes) -> None:
        self._socket.sendall(kind + struct.pack("!I", len(body) + 4) + body)

    def _messages(self) -> Iterator[tuple[bytes, bytes]]:
        """Messages up to the one after which it is ready. An error is raised when it is ready again."""
        error: Refused | None = None
        while True:
            found, self._held = split(self._held)
            for place, (kind, body) in enumerate(found):
                try:
                    raise_error(kind, body)
                except Refused as refused:
                    error = refused
                    if body.find(b"SFATAL") >= 0:
                        raise
                    continue
                if kind == b"Z":
                    assert place == len(found) - 1
                    if error:
                        raise error
                yield kind, body
                if kind == b"Z":
                    return
            piece = self._socket.recv(ROOM)
            if not piece:
                raise Refused("the server closed the connection")
            self._held += piece


def split(data: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Whole messages, and what is left."""
    found, place = [], 0
    while place + 5 <= len(data):
        size = int.from_bytes(data[place + 1 : place + 5], "big")
        if place + 1 + size > len(data):
            break
        found.append((data[place : place + 1], data[place + 5 : place + 1 + size]))
        place += 1 + size
    return found, data[place:]


def raise_error(kind: bytes, body: bytes) -> None:
    if kind == b"E":
        fields = {field[:1]: field[1:].decode(errors="replace") for field in body.split(b"\0") if field}
        raise Refused(f"the server says: {fields.get(b'M', '')} ({fields.get(b'C', '')})")


def column_types(body: bytes) -> list[int]:
    types, place = [], 2
    for _ in range(int.from_bytes(body[:2], "big")):
        place = body.index(b"\0", place) + 1
        types.append(int.from_bytes(body[place + 6 : place + 10], "big"))
        place += 18
    return types


def row_of(types: list[int], body: bytes) -> tuple:
    values, place = [], 2
    for kind in types:
        size = int.from_bytes(body[place : place + 4], "big", signed=True)
        place += 4
        if size < 0:
            values.append(None)
            continue
        text = body[place : place + size].decode()
        values.append(int(text) if kind in INTEGER_TYPES else text)
        place += size
    return tuple(values)


class Postgresql(Engine):
    """A version of PostgreSQL."""

    works = (
        "like",
        "equal",
        "insert",
        "update-all",
        "select-all",
        "hummer",
        "integrity-check",
        "quick-check",
        "messages",
    )
    ciphers = (TLS,)
    limits = (
        "PostgreSQL's encryption at rest: it has none. Files are in clear in every arm; only connections are encrypted.",
    )
    page_sizes = (8192,)
    cache_kib_min = 1 << 10

    def __init__(self, name: str) -> None:
        self.name = name
        self._process: ServerProcess | None = None
        self._port = 0
        self._password = ""
        self._trusted: Path | None = None

    def library(self) -> str:
        version = version_of(self.name)
        installation.check_version(self.name, version)
        return f"PostgreSQL {version}"

    def create(self, database: dict) -> None:
        folder = Path(database["path"])
        initdb = program(self.name, "initdb")
        folder.mkdir(mode=0o700)
        command = [*as_user(initdb), "--pgdata", str(folder), "--username", "lab", "--encoding", "UTF8", "--locale", "C"]
        command += ["--no-instructions", "--no-sync", "--auth", "trust"]
        made = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if made.returncode:
            raise Refused(f"no data folder could be made: {'; '.join(made.stderr.strip().splitlines()[-3:])}")
        (folder / "pg_hba.conf").write_text("host all all 127.0.0.1/32 password\n")

    def start(self, database: dict) -> None:
        folder = Path(database["path"])
        self._port, self._password = free_port(), secrets.token_hex(16)
        # Anyone on this machine may connect to the port, so a password is drawn for each start.
        set_password(program(self.name, "postgres"), folder, self._password)
        fsync, commit = SYNC[database["synchronous"]]
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port),
            "unix_socket_directories": "",
            "shared_buffers": f"{database['cache_kib']}kB",
            "fsync": fsync,
            "synchronous_commit": commit,
            "max_parallel_workers_per_gather": "0",
            "max_parallel_maintenance_workers": "0",
            "jit": "off",
            "autovacuum": "off",
            "checkpoint_timeout": "1h",
            "max_wal_size": "16GB",
            "client_connection_check_interval": "1s",
        }
        self._trusted = None
        if database["cipher"] == TLS:
            self._trusted, key = certificate(folder.parent)
            settings |= {"ssl": "on", "ssl_cert_file": str(self._trusted), "ssl_key_file": str(key)}
        command = [*as_user(program(self.name, "postgres")), "-D", str(folder)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self._process = ServerProcess(command, folder, folder.with_name(folder.name + ".log"))
        self._process.wait_until_ready(self._answers)

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except ConnectionError:
            return False
        except Refused as error:
            # 57P03: it is starting up.
            if "57P03" in str(error):
                return False
            raise
        return True

    def stop(self) -> None:
        process, self._process = self._process, None
        # The fast shutdown.
        process.stop(signal.SIGINT)

    def kill(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()

    def pid(self) -> int:
        return self._process.pid

    def connect(self) -> PostgresqlSession:
        return PostgresqlSession(self._port, self._password, self._trusted)

    def connect_through(self, port: int) -> PostgresqlSession:
        """A connection by way of another port."""
        return PostgresqlSession(port, self._password, self._trusted)

    def make_tables(self, session: Session, kind: str) -> None:
        for statement in TABLES[kind]:
            session.execute(statement)

    def copy_rows(self, session: Session, table: str, path: Path) -> None:
        session.execute(f"COPY {table}{COLUMNS.get(table, '')} FROM '{path}'")
        if table in KEYS:
            key = KEYS[table]
            session.query(f"SELECT setval(pg_get_serial_sequence('{table.lower()}', '{key.lower()}'), max({key})) FROM {table}")

    def make_indexes(self, session: Session, dataset: dict) -> None:
        kind = dataset["kind"]
        for statement in INDEXES[kind][: dataset.get("indexes", 0) if kind == "statements" else None]:
            session.execute(statement)
        if kind == "cards":
            for statement in HUMMER.read_text().split("\n//\n"):
                session.execute(statement)

    def settle(self, session: Session, database: dict) -> None:
        # Hint bits are set now, and not by the first query that is measured.
        session.execute("VACUUM ANALYZE")
        session.execute("CHECKPOINT")

    def rows_of(self, table: str) -> str:
        return ROWS[table]

    def select_all(self) -> str:
        return f"SELECT code, rpad(name, 25), to_char(date, {TIME}) FROM testtable"

    def opened(self, session: Session, database: dict) -> dict:
        version, cipher = session.query(
            "SELECT coalesce(version, ''), coalesce(cipher, '') FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        )[0]
        shown = {
            name: session.query(f"SELECT setting FROM pg_settings WHERE name = '{name}'")[0][0]
            for name in ("block_size", "shared_buffers", "fsync", "synchronous_commit")
        }
        asked = database["synchronous"]
        found = (shown["fsync"], shown["synchronous_commit"])
        status = {"TLS": version, "cipher suite": cipher} if version else {}
        return {
            "status": {"encrypted in transit": "all" if version else "nothing", "at rest": "nothing"} | status,
            "encrypted": bool(version),
            "pages": self._pages(session),
            "layout": {
                "page_size": shown["block_size"],
                "cache_size": f"-{int(shown['shared_buffers']) * 8}",
                "synchronous": asked if SYNC[asked] == found else f"fsync, synchronous_commit = {found}",
            },
        }

    def counters(self, session: Session) -> dict[str, int]:
        session.query("SELECT pg_stat_force_next_flush()")
        # A block of another one's statistics is a snapshot of the transaction, so each statement is one.
        read = session.query("SELECT blks_read FROM pg_stat_database WHERE datname = 'postgres'")[0][0]
        written = session.query(
            "SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter"
            if self.name == "postgresql"
            else "SELECT coalesce(sum(writes), 0)::bigint FROM pg_stat_io"
        )[0][0]
        log = session.query("SELECT wal_bytes::bigint FROM pg_stat_wal")[0][0]
        return {"pages_read": read, "pages_written": written, "wal_bytes": log, "pages": self._pages(session)}

    @staticmethod
    def _pages(session: Session) -> int:
        return session.query(
            "SELECT coalesce(sum(relpages), 0)::bigint FROM pg_class "
            "WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')"
        )[0][0]

    def checkpoint(self, session: Session, table: str) -> None:
        session.execute("CHECKPOINT")

    def check(self, session: Session, is_quick: bool) -> str:
        session.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
        session.query(
            f"SELECT bt_index_check(oid, {str(not is_quick).lower()}) FROM pg_class "
            "WHERE relnamespace = 'public'::regnamespace AND relkind = 'i'"
        )
        bad = session.query(
            "SELECT msg FROM pg_class, verify_heapam(pg_class.oid) "
            "WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        )
        if bad:
            raise Refused(f"verify_heapam: {bad[0][0]}")
        return "ok"

    def call_hummer(self, session: Session, seed: int, process: int, loops: int) -> tuple:
        rows = session.query(f"CALL Hummer({seed & 0x7FFF_FFFF}, {process}, {loops}, 0, 0, 0, '')")
        return rows[0]

    def port(self) -> int:
        return self._port

    def set_packet_size(self, session: Session, size: int) -> None:
        if size != PACKET_SIZE:
            raise Refused(f"PostgreSQL sends packets of {PACKET_SIZE} bytes, not {size}: set packet_size")

    def messages_query(self, turns: int) -> str:
        return f"SELECT i FROM generate_series(1, {turns}) AS i"

    def recorded_query(self, rows: int, marker: str) -> str:
        return f"SELECT '{marker}' AS a, i FROM generate_series(1, {rows}) AS i"


def program(name: str, called: str) -> Path:
    return installation.program(name, f"usr/lib/postgresql/{installation.pinned(name)['major']}/bin/{called}")


@cache
def version_of(name: str) -> str:
    server = program(name, "postgres")
    text = subprocess.run([server, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\(PostgreSQL\) (\d+\.\d+)", text.stdout)
    if not found:
        raise Refused(f"{server} does not run: {(text.stderr or text.stdout).strip().splitlines()[-1:]}")
    return found[1]


def as_user(called: Path) -> list[str]:
    """The command of a program that does not run as root."""
    return [str(called)] if os.geteuid() else [*NOT_AS_ROOT, str(called)]


def set_password(server: Path, folder: Path, password: str) -> None:
    """Sets the password of the only user, in a server of one user without a port."""
    done = subprocess.run(
        [*as_user(server), "--single", "-D", folder, "postgres"],
        input=f"ALTER USER lab PASSWORD '{password}';\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or "ERROR" in done.stderr or "FATAL" in done.stderr:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line or "FATAL" in line] or [done.stderr]
        raise Refused(f"the server does not start: {lines[0].strip()}")

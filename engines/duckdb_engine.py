"""DuckDB, in a process of its own (duckdb_host.py), with its encryption of databases.

- one-thread: work is that of one thread, so that counters do not depend on what else the machine does.
"""

import importlib.metadata
import json
import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import installation
from conversation import PLAIN, Refused
from engine import Engine, Session
from server_process import ServerProcess, free_port, is_listening

HOST = Path(__file__).with_name("duckdb_host.py")
FILE = "lab.duckdb"
TIME = "'%Y-%m-%d %H:%M:%S'"
TABLES = {
    "scan": ["CREATE TABLE SomeData(Id BIGINT, SomeText VARCHAR)"],
    "statements": [
        "CREATE SEQUENCE code_of_testtable",
        "CREATE TABLE testtable(code INTEGER PRIMARY KEY DEFAULT nextval('code_of_testtable'), date TIMESTAMP, "
        f"name VARCHAR DEFAULT '{'SQLSHACK':25}')",
    ],
}
ROWS = {
    "SomeData": "SELECT Id, SomeText FROM SomeData ORDER BY Id",
    "testtable": f"SELECT code, strftime(date, {TIME}), name FROM testtable ORDER BY code",
}


class DuckdbSession(Session):
    def __init__(self, port: int, token: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rwb")
        self._stream.write(token.encode() + b"\n")

    def execute(self, sql: str) -> int:
        return int(self._ask(sql, "count")() or 0)

    def query(self, sql: str) -> list[tuple]:
        return [tuple(row) for row in self._ask(sql, "rows")()]

    def stream(self, sql: str) -> Iterator[tuple]:
        """Pieces of bounded size: an answer is one line."""
        piece, place = 100_000, 0
        while rows := self.query(f"{sql} LIMIT {piece} OFFSET {place}"):
            yield from rows
            place += piece

    def fetch(self, sql: str) -> Callable[[], list[tuple]]:
        answer = self._ask(sql, "rows")
        return lambda: [tuple(row) for row in answer()]

    def _ask(self, sql: str, wants: str) -> Callable[[], object]:
        self._stream.write(json.dumps({"sql": sql, "wants": wants}).encode() + b"\n")
        self._stream.flush()
        line = self._stream.readline()
        if not line:
            raise Refused("DuckDB's process ended")
        if line.startswith(b'{"error"'):
            raise Refused(f"DuckDB says: {json.loads(line)['error']}")
        return lambda: json.loads(line)["ok"]

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


class Duckdb(Engine):
    name = "duckdb"
    works = ("like", "equal", "insert", "update-all", "select-all", "integrity-check")
    ciphers = ("gcm", "ctr")
    limits = (
        "DuckDB with more than one thread: it has one here.",
        "A check of all pages by DuckDB: it has none, and `integrity-check` reads every column of every row.",
    )
    page_sizes = (16384, 32768, 65536)
    cache_kib_min = 32 << 10

    def __init__(self) -> None:
        self._process: ServerProcess | None = None
        self._port = 0
        self._token = ""

    def library(self) -> str:
        try:
            version = importlib.metadata.version("duckdb")
        except importlib.metadata.PackageNotFoundError:
            raise Refused("duckdb is not installed: run make engines") from None
        installation.check_version("duckdb", version)
        return f"DuckDB {version}"

    def create(self, database: dict) -> None:
        Path(database["path"]).mkdir(mode=0o700)

    def start(self, database: dict) -> None:
        folder = Path(database["path"])
        self._port, self._token = free_port(), secrets.token_hex(16)
        secret = folder.with_name(folder.name + ".secrets")
        secret.touch(mode=0o600)
        key = "" if database["cipher"] == PLAIN else Path(database["key_file"]).read_bytes().hex()
        secret.write_text(f"{self._token}\n{database['cipher']}\n{key}\n")
        os.environ["SELENITE_DUCKDB_SECRETS"] = str(secret)
        extensions = [] if database["cipher"] == PLAIN else [str(httpfs())]
        command = [sys.executable, "-B", str(HOST), str(self._port), str(folder / FILE)]
        command += [str(database["cache_kib"]), ":".join(extensions)]
        self._process = ServerProcess(command, folder, folder.with_name(folder.name + ".log"))
        self._process.wait_until_ready(lambda: is_listening(self._port))

    def stop(self) -> None:
        process, self._process = self._process, None
        process.stop()

    def kill(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()

    def pid(self) -> int:
        return self._process.pid

    def connect(self) -> DuckdbSession:
        return DuckdbSession(self._port, self._token)

    def make_tables(self, session: Session, kind: str) -> None:
        if kind not in TABLES:
            raise Refused(f"DuckDB has no data of kind {kind}: it has no procedures")
        for statement in TABLES[kind]:
            session.execute(statement)

    def copy_rows(self, session: Session, table: str, path: Path) -> None:
        session.execute(f"COPY {table} FROM '{path}' (DELIMITER '\t', HEADER false, QUOTE '')")
        if table == "testtable":
            session.query("SELECT max(nextval('code_of_testtable')) FROM testtable")

    def make_indexes(self, session: Session, dataset: dict) -> None:
        statements = ["CREATE INDEX TestByDate ON testtable(date)", "CREATE INDEX TestByNameAndDate ON testtable(name, date)"]
        for statement in statements[: dataset.get("indexes", 0)]:
            session.execute(statement)

    def rows_of(self, table: str) -> str:
        return ROWS[table]

    def select_all(self) -> str:
        return f"SELECT code, name, strftime(date, {TIME}) FROM testtable"

    def opened(self, session: Session, database: dict) -> dict:
        found = session.query("SELECT encrypted, cipher FROM duckdb_databases() WHERE database_name = 'lab'")[0]
        wanted = database["cipher"]
        is_encrypted = bool(found[0]) and str(found[1] or "").lower() == wanted
        return {
            "status": {"encrypted": str(found[0]), "cipher": str(found[1])},
            "encrypted": is_encrypted,
            "pages": self._pages(session),
            "layout": {},
            "encrypted_files": {FILE: "pages"} if is_encrypted else {},
        }

    def counters(self, session: Session) -> dict[str, int]:
        return {"pages_read": 0, "pages_written": 0, "wal_bytes": 0, "pages": self._pages(session)}

    @staticmethod
    def _pages(session: Session) -> int:
        return int(session.query("SELECT total_blocks FROM pragma_database_size() WHERE database_name = 'lab'")[0][0])

    def checkpoint(self, session: Session, table: str) -> None:
        session.execute("CHECKPOINT lab")

    def check(self, session: Session, is_quick: bool) -> str:
        for (table,) in session.query("SELECT table_name FROM duckdb_tables() WHERE database_name = 'lab'"):
            session.query(f"SELECT bit_xor(hash(COLUMNS(*))) FROM {table}")
        return "ok"


def httpfs() -> Path:
    """The extension whose OpenSSL encrypts: without it DuckDB writes no encrypted database."""
    for file in importlib.metadata.files("duckdb-extension-httpfs") or []:
        if file.name.endswith(".duckdb_extension"):
            return Path(file.locate())
    raise Refused("duckdb-extension-httpfs is not installed: run make engines")

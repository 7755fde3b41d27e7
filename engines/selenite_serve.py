"""`selenite serve`, by python-tds: T-SQL's databases, unencrypted and encrypted by SET ENCRYPTION ON."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import installation
from conversation import PLAIN, Refused
from engine import Engine, Session
from server_process import ServerProcess, free_port, is_listening

PROGRAM_VARIABLE = "SELENITE_PROGRAM"
ENCRYPTION_SECONDS = 60
# Of the rows of one INSERT.
ROWS_MAX = 500
TABLES = {
    "scan": ["CREATE TABLE SomeData(Id bigint, SomeText varchar(80))"],
    "statements": [
        "CREATE TABLE testtable(code int IDENTITY PRIMARY KEY, date datetime2(0), "
        f"name char(25) DEFAULT '{'SQLSHACK':25}')"
    ],
    "cards": [
        "CREATE TABLE Vendor(VendorID int IDENTITY PRIMARY KEY, BusinessName varchar(40), City varchar(20), "
        "PostalCode char(5), Changed datetime2(0))",
        "CREATE TABLE Card(CardID int IDENTITY PRIMARY KEY, CardNumber char(16), SecurityCode char(3), "
        "SecureString varchar(36), Changed datetime2(0))",
        "CREATE TABLE Purchase(PurchaseID int IDENTITY PRIMARY KEY, CardID int, VendorID int, Amount int, "
        "PurchaseDate datetime2(0))",
    ],
}
# Those that rows give; keys of tables are IDENTITY's.
COLUMNS = {
    "SomeData": "(Id, SomeText)",
    "testtable": "(date, name)",
    "Vendor": "(BusinessName, City, PostalCode, Changed)",
    "Card": "(CardNumber, SecurityCode, SecureString, Changed)",
    "Purchase": "(CardID, VendorID, Amount, PurchaseDate)",
}
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
DATE = "CONVERT(varchar(19), date, 120)"
CHANGED = "CONVERT(varchar(19), Changed, 120)"
ROWS = {
    "SomeData": "SELECT Id, SomeText FROM SomeData ORDER BY Id",
    "testtable": f"SELECT code, {DATE}, name FROM testtable ORDER BY code",
    "Vendor": f"SELECT VendorID, BusinessName, City, PostalCode, {CHANGED} FROM Vendor ORDER BY VendorID",
    "Card": f"SELECT CardID, CardNumber, SecurityCode, SecureString, {CHANGED} FROM Card ORDER BY CardID",
    "Purchase": "SELECT PurchaseID, CardID, VendorID, Amount, CONVERT(varchar(19), PurchaseDate, 120) FROM Purchase "
    "ORDER BY PurchaseID",
}
HUMMER = Path(__file__).with_name("serve_hummer.sql")


class ServeSession(Session):
    def __init__(self, port: int, password: str, database: str | None = "lab") -> None:
        import pytds

        self._connection = pytds.connect(
            dsn="127.0.0.1",
            port=port,
            user="sa",
            password=password,
            database=database,
            autocommit=True,
            login_timeout=20,
            disable_connect_retry=True,
        )

    def execute(self, sql: str) -> int:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.rowcount

    def query(self, sql: str) -> list[tuple]:
        return list(self.stream(sql))

    def stream(self, sql: str) -> Iterator[tuple]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            while row := cursor.fetchone():
                yield tuple(row)

    def fetch(self, sql: str) -> Callable[[], list[tuple]]:
        rows = self.query(sql)
        return lambda: rows

    def close(self) -> None:
        self._connection.close()


class Serve(Engine):
    name = "serve"
    works = ("like", "equal", "insert", "update-all", "select-all", "hummer", "integrity-check")
    ciphers = ("AES_128", "AES_256")
    limits = (
        "Connections of `selenite serve`: they are unencrypted here; engine `tds` measures them.",
        "`selenite serve` against stock SQLite: its unencrypted databases have suite NONE, which computes a SHA-256 of "
        "each page and can cost more than AES.",
    )

    def __init__(self) -> None:
        self._process: ServerProcess | None = None
        self._port = 0
        self._password = ""

    def library(self) -> str:
        text = subprocess.run([program(), "--version"], capture_output=True, text=True, check=False).stdout
        return f"selenite serve {text.split()[1]}"

    def create(self, database: dict) -> None:
        Path(database["path"]).mkdir(mode=0o700)
        self._password = ""

    def start(self, database: dict) -> None:
        folder = Path(database["path"])
        log = folder.with_name(folder.name + ".log")
        password = folder / "sa-password"
        self._port = free_port()
        command = [str(program()), "--identity", f"raw:{database['key_file']}", "serve", "--data", str(folder)]
        command += ["--listen", f"127.0.0.1:{self._port}", "--encryption", "off", "--new-databases", "clear"]
        command += ["--audit-log", "none"]
        if not (folder / "master.db").exists():
            command += ["--password-file", str(password)]
        self._process = ServerProcess(command, folder, log)
        self._process.wait_until_ready(lambda: is_listening(self._port) and self._logs_in(password))

    def _logs_in(self, password: Path) -> bool:
        import pytds

        with suppress(OSError, pytds.Error):
            self._password = password.read_text().strip()
            ServeSession(self._port, self._password, None).close()
            return True
        return False

    def stop(self) -> None:
        process, self._process = self._process, None
        process.stop()

    def kill(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()

    def pid(self) -> int:
        return self._process.pid

    def connect(self) -> ServeSession:
        return ServeSession(self._port, self._password)

    def prepare(self, database: dict) -> None:
        """Makes the database, and encrypts it while it is empty."""
        session = ServeSession(self._port, self._password, None)
        session.execute("CREATE DATABASE lab")
        cipher = database["cipher"]
        if cipher != PLAIN:
            session.execute("CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'aB3$aB3$aB3$'")
            session.execute("CREATE CERTIFICATE LabCertificate WITH SUBJECT = 'lab'")
            session.execute("USE lab")
            session.execute(
                f"CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = {cipher} ENCRYPTION BY SERVER CERTIFICATE LabCertificate"
            )
            session.execute("ALTER DATABASE lab SET ENCRYPTION ON")
            deadline = time.monotonic() + ENCRYPTION_SECONDS
            while self._state(session)[0] != 3:
                if time.monotonic() > deadline:
                    raise Refused(f"{ENCRYPTION_SECONDS} s later the empty database was not encrypted")
                time.sleep(0.02)
        session.close()

    @staticmethod
    def _state(session: Session) -> tuple:
        found = session.query(
            "SELECT encryption_state, encryption_state_desc, key_algorithm, key_length FROM sys.dm_database_encryption_keys "
            "WHERE database_id = DB_ID('lab')"
        )
        return found[0] if found else (0, "no key", "", 0)

    def make_tables(self, session: Session, kind: str) -> None:
        for statement in TABLES[kind]:
            session.execute(statement)

    def copy_rows(self, session: Session, table: str, path: Path) -> None:
        skipped = 0 if table == "SomeData" else 1
        with path.open() as lines:
            while rows := [line.rstrip("\n").split("\t")[skipped:] for _, line in zip(range(ROWS_MAX), lines)]:
                # Texts, numbers too: they are converted, and digits of a card stay as they are.
                values = ", ".join("('" + "', '".join(row) + "')" for row in rows)
                session.execute(f"INSERT INTO {table}{COLUMNS[table]} VALUES {values}")

    def make_indexes(self, session: Session, dataset: dict) -> None:
        kind = dataset["kind"]
        for statement in INDEXES[kind][: dataset.get("indexes", 0) if kind == "statements" else None]:
            session.execute(statement)
        if kind == "cards":
            for statement in HUMMER.read_text().split("\n//\n"):
                session.execute(statement)

    def rows_of(self, table: str) -> str:
        return ROWS[table]

    def first_row(self) -> str:
        return f"SELECT TOP (1) code, {DATE}, name FROM testtable ORDER BY code"

    def select_all(self) -> str:
        # An index on name and date has all columns, too, and another order.
        return f"SELECT code, name, {DATE} FROM testtable ORDER BY code"

    def opened(self, session: Session, database: dict) -> dict:
        state, text, algorithm, length = self._state(session)
        is_encrypted = state == 3
        folder = Path(database["path"])
        files = [path.name for path in folder.iterdir() if re.fullmatch(r"lab\.[a-z]+", path.name)]
        return {
            "status": {"encryption_state": f"{state} {text}", "algorithm": f"{algorithm} {length}"},
            "encrypted": is_encrypted,
            "pages": sum((folder / name).stat().st_size for name in files) // 4096,
            "layout": {},
            "encrypted_files": dict.fromkeys(files, "pages") if is_encrypted else {},
        }

    def counters(self, session: Session) -> dict[str, int]:
        return {"pages_read": 0, "pages_written": 0, "wal_bytes": 0, "pages": 1}

    def checkpoint(self, session: Session, table: str) -> None:
        session.execute("CHECKPOINT")

    def check(self, session: Session, is_quick: bool) -> str:
        session.execute("DBCC CHECKDB WITH NO_INFOMSGS")
        return "ok"

    def call_hummer(self, session: Session, seed: int, process: int, loops: int) -> tuple:
        return session.query(f"EXEC Hummer {seed & 0x7FFF_FFFF}, {process}, {loops}")[0]


def program() -> Path:
    """The program of this project: that of the environment, the lab that started this worker, or a release build."""
    if named := os.environ.get(PROGRAM_VARIABLE):
        return Path(named)
    with suppress(OSError):
        parent = Path(os.readlink(f"/proc/{os.getppid()}/exe"))
        if parent.name == "selenite":
            return parent
    found = installation.folder("").parent / "release" / "selenite"
    if not found.is_file():
        raise Refused(f"there is no {found}: run make build, or set {PROGRAM_VARIABLE}")
    return found

"""MariaDB: InnoDB, with file_key_management.

- own-server: `--no-defaults`, and a data folder, socket and port of its own. The system's server is not looked at.
- background-rests: the encryption threads encrypt the system's tables after loading, and rest during work.
"""

import re
import secrets
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import installation
from conversation import PLAIN, Refused
from engine import TLS, Engine, Session, is_tls
from mariadb_session import DATABASE, MariadbSession
from open_files import deleted_files
from server_process import ServerProcess, free_port
from tls_certificate import certificate

# Seconds until all tablespaces are encrypted.
ENCRYPTION_SECONDS = 120
LOG_FILE_BYTES = 64 << 20
# What is encrypted, by which algorithm of file_key_management, and the bytes of its key.
CIPHERS = {
    "tables-cbc": ("tables", "AES_CBC", 32),
    "tables-ctr": ("tables", "AES_CTR", 32),
    "tables-cbc-128": ("tables", "AES_CBC", 16),
    "tables-cbc-192": ("tables", "AES_CBC", 24),
    "all-cbc": ("all", "AES_CBC", 32),
    "all-ctr": ("all", "AES_CTR", 32),
}
# What a query that spills had in temporary files: kept in the data folder, since the server deletes them at once.
SPILLED = "selenite-lab.spilled"
# A text of each dataset, with the marker in it. One of few bytes is sorted with its key; of a longer one, its place is.
SPILLED_TEXT = {
    "scan": "SELECT CONVERT(SomeText USING latin1) AS text FROM SomeData",
    "statements": "SELECT CONVERT(name USING latin1) AS text FROM testtable",
    "cards": "SELECT CONVERT(BusinessName USING latin1) AS text FROM Vendor",
}
# Rows of the sort, some MiB, and its memory.
SPILLED_ROWS, SPILLED_COPIES, SORT_BYTES = 400, 100, 64 << 10
SPILL_SECONDS = 60
# Those that there are with an encrypted connection, too.
WITH_TLS = ("all-cbc", "all-ctr")
# OPENSSL_ia32cap(3): without AES-NI, PCLMULQDQ, VAES and VPCLMULQDQ.
WITHOUT_AES = "~0x200000200000000:~0x60000000000"
# Of a measurement of AES; a few milliseconds with AES instructions.
CIPHER_TURNS = 20_000
# Variables that are on if redo log, temporary files and Aria's tables are encrypted.
ALL_ENCRYPTED = ("innodb_encrypt_log", "encrypt_tmp_files", "innodb_encrypt_temporary_tables", "aria_encrypt_tables")
FLUSH = {"off": 0, "normal": 2, "full": 1, "extra": 1}
TABLES = {
    "scan": ["CREATE TABLE SomeData(Id BIGINT, SomeText VARCHAR(80))"],
    "statements": [
        "CREATE TABLE testtable(code INT AUTO_INCREMENT PRIMARY KEY, date DATETIME, "
        f"name CHAR(25) DEFAULT '{'SQLSHACK':25}')"
    ],
    "cards": [
        "CREATE TABLE Vendor(VendorID INT AUTO_INCREMENT PRIMARY KEY, BusinessName VARCHAR(40), City VARCHAR(20), "
        "PostalCode CHAR(5), Changed DATETIME)",
        "CREATE TABLE Card(CardID INT AUTO_INCREMENT PRIMARY KEY, CardNumber CHAR(16), SecurityCode CHAR(3), "
        "SecureString VARCHAR(36), Changed DATETIME)",
        "CREATE TABLE Purchase(PurchaseID INT AUTO_INCREMENT PRIMARY KEY, CardID INT, VendorID INT, Amount INT, "
        "PurchaseDate DATETIME)",
    ],
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
ROWS = {
    "SomeData": "SELECT Id, SomeText FROM SomeData ORDER BY Id",
    "testtable": "SELECT code, date, RPAD(name, 25, ' ') AS name FROM testtable ORDER BY code",
    "Vendor": "SELECT VendorID, BusinessName, City, PostalCode, Changed FROM Vendor ORDER BY VendorID",
    "Card": "SELECT CardID, CardNumber, SecurityCode, SecureString, Changed FROM Card ORDER BY CardID",
    "Purchase": "SELECT PurchaseID, CardID, VendorID, Amount, PurchaseDate FROM Purchase ORDER BY PurchaseID",
}
TABLES_OF = {"scan": ["SomeData"], "statements": ["testtable"], "cards": ["Vendor", "Card", "Purchase"]}
HUMMER = Path(__file__).with_name("mariadb_hummer.sql")


class Mariadb(Engine):
    """A version of MariaDB."""

    works = (
        "like",
        "equal",
        "insert",
        "update-all",
        "select-all",
        "hummer",
        "integrity-check",
        "quick-check",
        "convert",
        "messages",
    )
    ciphers = (*CIPHERS, TLS, *(f"{cipher}+{TLS}" for cipher in WITH_TLS))
    limits = (
        "MariaDB's key management by a key server: file_key_management reads the key from a file when it starts.",
        "MariaDB's binary log: it is off, as Debian has it.",
    )
    page_sizes = (4096, 8192, 16384, 32768, 65536)
    cache_kib_min = 8 << 10

    def __init__(self, name: str) -> None:
        self.name = name
        self._process: ServerProcess | None = None
        self._port = 0
        self._password = ""
        self._trusted: Path | None = None

    def without_aes(self) -> dict[str, str]:
        return {"OPENSSL_ia32cap": WITHOUT_AES}

    def cipher_time(self, cipher: str) -> dict[str, float]:
        """The time of the server's own AES functions: OpenSSL's, as those of its pages are."""
        with tempfile.TemporaryDirectory() as place:
            database = {"path": f"{place}/folder", "cipher": PLAIN, "key_file": "", "synchronous": "off"}
            database |= {"page_size": 16384, "cache_kib": self.cache_kib_min}
            self.create(database)
            try:
                self.start(database)
                session = self.connect()
                session.execute("SET @text = REPEAT('a', 4096), @sealed = AES_ENCRYPT(REPEAT('a', 4096), 'key')")
                times = []
                for call in ("AES_ENCRYPT(@text, 'key')", "AES_DECRYPT(@sealed, 'key')"):
                    began = time.monotonic_ns()
                    session.query(f"SELECT BENCHMARK({CIPHER_TURNS}, {call})")
                    times.append((time.monotonic_ns() - began) / CIPHER_TURNS)
                session.close()
            finally:
                self.kill()
        return {"seal_ns": times[0], "open_ns": times[1]}

    def library(self) -> str:
        version = version_of(self.name)
        installation.check_version(self.name, version)
        return f"MariaDB {version}"

    def create(self, database: dict) -> None:
        folder = Path(database["path"])
        base = installation.folder(self.name) / "usr"
        script = installation.program(self.name, "usr/bin/mariadb-install-db")
        folder.mkdir(mode=0o700)
        (folder / "tmp").mkdir()
        command = [
            str(script),
            "--no-defaults",
            f"--basedir={base}",
            f"--datadir={folder}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--user=root",
            f"--innodb-page-size={database['page_size']}",
            f"--innodb-log-file-size={LOG_FILE_BYTES}",
            "--innodb-buffer-pool-dump-at-shutdown=OFF",
        ]
        made = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if made.returncode:
            lines = (made.stdout + made.stderr).splitlines()
            errors = [line for line in lines if "ERROR" in line or "rror:" in line or "No space" in line]
            raise Refused(f"no data folder could be made: {'; '.join((errors or lines)[-3:])}")

    def start(self, database: dict) -> None:
        self._start(database, encryption(database))

    def start_conversion(self, database: dict, to: str) -> None:
        # The key is there, whichever way; new files are as they were until the conversion begins.
        ends = [database["cipher"], to]
        options = encryption(database | {"cipher": ends[ends[0] == PLAIN]})
        self._start(database, [*options, "--innodb-encrypt-tables=OFF"] if options and ends[0] == PLAIN else options)

    def _start(self, database: dict, of_encryption: list[str]) -> None:
        folder, log = Path(database["path"]), log_of(database)
        server = installation.program(self.name, "usr/sbin/mariadbd")
        base = installation.folder(self.name) / "usr"
        self._port, self._password = free_port(), secrets.token_hex(16)
        first = folder.with_name(folder.name + ".init")
        first.touch(mode=0o600)
        first.write_text(
            f"CREATE DATABASE IF NOT EXISTS {DATABASE};\n"
            f"CREATE OR REPLACE USER lab@127.0.0.1 IDENTIFIED BY '{self._password}';\n"
            "GRANT ALL ON *.* TO lab@127.0.0.1;\n"
        )
        command = [
            str(server),
            "--no-defaults",
            "--user=root",
            f"--basedir={base}",
            f"--datadir={folder}",
            f"--tmpdir={folder / 'tmp'}",
            "--socket=lab.sock",
            "--pid-file=lab.pid",
            "--bind-address=127.0.0.1",
            f"--port={self._port}",
            f"--init-file={first}",
            "--skip-name-resolve",
            "--skip-log-bin",
            "--performance-schema=OFF",
            "--secure-file-priv=",
            f"--innodb-page-size={database['page_size']}",
            f"--innodb-buffer-pool-size={database['cache_kib']}K",
            "--innodb-buffer-pool-chunk-size=1M",
            # A pool that is filled by itself would be a cold cell that is warm.
            "--innodb-buffer-pool-dump-at-shutdown=OFF",
            "--innodb-buffer-pool-load-at-startup=OFF",
            f"--innodb-log-file-size={LOG_FILE_BYTES}",
            f"--innodb-flush-log-at-trx-commit={FLUSH[database['synchronous']]}",
            # Through the system's cache, so that cells differ in what is there.
            "--innodb-flush-method=fsync",
            *of_encryption,
        ]
        self._trusted = None
        if is_tls(database["cipher"]):
            self._trusted, key = certificate(folder.parent)
            command += [f"--ssl-cert={self._trusted}", f"--ssl-key={key}", "--require-secure-transport=ON"]
        if self.name != "mariadb":
            command.remove("--innodb-buffer-pool-chunk-size=1M")
        self._process = ServerProcess(command, folder, log)
        self._process.wait_until_ready(self._answers)
        first.unlink()

    def _answers(self) -> bool:
        with suppress(OSError, self._driver_error()):
            self.connect().close()
            return True
        return False

    @staticmethod
    def _driver_error() -> type[Exception]:
        from pymysql.err import MySQLError

        return MySQLError

    def stop(self) -> None:
        process, self._process = self._process, None
        process.stop()

    def kill(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()

    def pid(self) -> int:
        return self._process.pid

    def connect(self) -> MariadbSession:
        return self.connect_through(self._port)

    def connect_through(self, port: int) -> MariadbSession:
        return MariadbSession(port, self._password, self._trusted)

    def port(self) -> int:
        return self._port

    def set_packet_size(self, session: Session, size: int) -> None:
        if size % 1024 or size < 1024:
            raise Refused(f"packets of MariaDB have multiples of 1024 bytes, not {size}: set packet_size")
        session.execute(f"SET GLOBAL net_buffer_length = {size}")
        session.renew()

    def messages_query(self, turns: int) -> str:
        return f"SELECT seq FROM seq_1_to_{turns}"

    def recorded_query(self, rows: int, marker: str) -> str:
        return f"SELECT '{marker}' AS a, seq FROM seq_1_to_{rows}"

    def make_tables(self, session: Session, kind: str) -> None:
        for statement in TABLES[kind]:
            session.execute(statement)

    def copy_rows(self, session: Session, table: str, path: Path) -> None:
        session.execute(f"LOAD DATA INFILE '{path}' INTO TABLE {table} CHARACTER SET ascii")

    def make_indexes(self, session: Session, dataset: dict) -> None:
        kind = dataset["kind"]
        for statement in INDEXES[kind][: dataset.get("indexes", 0) if kind == "statements" else None]:
            session.execute(statement)
        for table in TABLES_OF[kind]:
            # With histograms and extreme values, which are copies of what is in the rows.
            session.query(f"ANALYZE TABLE {table} PERSISTENT FOR ALL")
        if kind == "cards":
            for statement in HUMMER.read_text().split("\n//\n"):
                session.execute(statement)

    def settle(self, session: Session, database: dict) -> None:
        """Encrypts what is older than the tables: the system's tablespaces, by the background threads."""
        folder = Path(database["path"])
        leave_traces(session, folder)
        (folder / SPILLED).write_bytes(self._spilled(session, folder))
        if at_rest(database) is None:
            return
        run_background_threads(session, "MIN_KEY_VERSION = 0", {"innodb_system"})

    def convert(self, session: Session, database: dict, to: str) -> None:
        tables = [table for (table,) in session.query("SHOW TABLES")]
        if database["cipher"] == to == PLAIN:
            for table in tables:
                session.execute(f"ALTER TABLE {table} FORCE")
            return
        # The view that is waited for lists tablespaces that have been opened.
        for table in tables:
            session.query(f"SELECT * FROM {table} LIMIT 0")
        session.execute(f"SET GLOBAL innodb_encrypt_tables = {'OFF' if to == PLAIN else 'ON'}")
        files_of_tables = {f"{DATABASE}/{table}" for table in tables}
        run_background_threads(session, f"MIN_KEY_VERSION {'<>' if to == PLAIN else '='} 0", files_of_tables)

    def checksum(self, session: Session) -> str:
        tables = ", ".join(sorted(name for (name,) in session.query("SHOW TABLES")))
        return ", ".join(f"{table} {number}" for table, number in session.query(f"CHECKSUM TABLE {tables} EXTENDED"))

    def table_files(self, folder: Path) -> list[Path]:
        found = [folder / DATABASE / f"{table}.ibd" for tables in TABLES_OF.values() for table in tables]
        return [path for path in found if path.exists()]

    def _spilled(self, session: Session, folder: Path) -> bytes:
        """What a sort has in its temporary files while it waits with its first row."""
        tables = {name for (name,) in session.query("SHOW TABLES")}
        kind = next(kind for kind, names in TABLES_OF.items() if tables.issuperset(names))
        sorting = self.connect()
        sorting.execute(f"SET SESSION sort_buffer_size = {SORT_BYTES}, tmp_table_size = {SORT_BYTES}")
        number = sorting.query("SELECT CONNECTION_ID()")[0][0]
        # Each LIMIT keeps a part from being merged with the next: what sleeps is the result of a sort of one table.
        many = (
            f"SELECT text, seq FROM ({SPILLED_TEXT[kind]} LIMIT {SPILLED_ROWS}) AS some "
            f"JOIN seq_1_to_{SPILLED_COPIES} LIMIT {SPILLED_ROWS * SPILLED_COPIES}"
        )
        sql = f"SELECT SLEEP({SPILL_SECONDS}), text FROM ({many}) AS many ORDER BY seq"
        waiting = threading.Thread(target=suppressed, args=(self._driver_error(), sorting.query, sql), daemon=True)
        waiting.start()
        try:
            while not session.query(
                f"SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {number} AND STATE = 'User sleep'"
            ):
                if not waiting.is_alive():
                    raise Refused("the query that spills ended before its temporary files were looked at")
                time.sleep(0.01)
            found = b"".join(deleted_files(self.pid(), folder))
        finally:
            with suppress(self._driver_error()):
                session.execute(f"KILL QUERY {number}")
            waiting.join()
            sorting.close()
        if not found:
            raise Refused("a sort in little memory had no temporary file that could be looked at")
        return found

    def rows_of(self, table: str) -> str:
        return ROWS[table]

    def select_all(self) -> str:
        # An index on name and date has all columns, too, and another order.
        return "SELECT code, name, date FROM testtable FORCE INDEX (PRIMARY)"

    def opened(self, session: Session, database: dict) -> dict:
        tables = [table for (table,) in session.query("SHOW TABLES")]
        connection = self._opened_wire(session)
        if not tables:
            return connection
        # The views list tablespaces that have been opened.
        for table in tables:
            session.query(f"SELECT * FROM {table} LIMIT 0")
        opened = self._opened_files(session, database)
        if is_tls(cipher := database["cipher"]):
            opened["status"] |= connection["status"]
            opened["encrypted"] = connection["encrypted"] and (cipher == TLS or opened["encrypted"])
        return opened

    def _opened_files(self, session: Session, database: dict) -> dict:
        files_of_tables = [name for (name,) in session.query(
            f"SELECT NAME FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE '{DATABASE}/%'"
        )]
        spaces = session.query(
            "SELECT NAME FROM information_schema.INNODB_TABLESPACES_ENCRYPTION "
            "WHERE ENCRYPTION_SCHEME = 1 AND MIN_KEY_VERSION > 0"
        )
        encrypted = {name for (name,) in spaces}
        values = variables(
            session,
            "innodb_page_size",
            "innodb_buffer_pool_size",
            "innodb_flush_log_at_trx_commit",
            "innodb_encrypt_tables",
            *ALL_ENCRYPTED,
            "file_key_management_encryption_algorithm",
        )
        is_all = (at_rest(database) or [""])[0] == "all"
        is_encrypted = bool(files_of_tables) and encrypted.issuperset(files_of_tables)
        is_encrypted &= not is_all or all(values.get(name) == "ON" for name in ALL_ENCRYPTED)
        files = {}
        if is_encrypted:
            # Page 0 of each file is a header in clear, which is much of a small table such as the hummer's control.
            of_rows = {f"{DATABASE}/{table}" for tables in TABLES_OF.values() for table in tables}
            files = {file_of(name): "pages" if name in of_rows else "records" for name in encrypted}
            if is_all:
                files |= dict.fromkeys(("ib_logfile0", SPILLED), "records")
        flush = int(values["innodb_flush_log_at_trx_commit"])
        asked = database["synchronous"]
        status = {name: value for name, value in values.items() if "encrypt" in name}
        status["encrypted tablespaces"] = ", ".join(sorted(encrypted)) or "none"
        return {
            "status": status,
            "encrypted": is_encrypted,
            "pages": self._pages(session),
            "layout": {
                "page_size": values["innodb_page_size"],
                "cache_size": f"-{int(values['innodb_buffer_pool_size']) >> 10}",
                "synchronous": asked if FLUSH[asked] == flush else f"innodb_flush_log_at_trx_commit = {flush}",
            },
            "encrypted_files": files,
        }

    @staticmethod
    def _opened_wire(session: Session) -> dict:
        status = dict(session.query("SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_cipher', 'Ssl_version')"))
        is_encrypted = bool(status.get("Ssl_cipher"))
        return {"status": status, "encrypted": is_encrypted, "pages": 0, "layout": {}}

    def counters(self, session: Session) -> dict[str, int]:
        names = ("Innodb_pages_read", "Innodb_pages_written", "Innodb_os_log_written")
        status = dict(session.query(f"SHOW GLOBAL STATUS WHERE Variable_name IN {names}"))
        read, written, log = (int(status[name]) for name in names)
        return {"pages_read": read, "pages_written": written, "wal_bytes": log, "pages": self._pages(session)}

    @staticmethod
    def _pages(session: Session) -> int:
        found = session.query(
            "SELECT CAST(SUM(FILE_SIZE) DIV @@innodb_page_size AS CHAR) "
            f"FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE '{DATABASE}/%'"
        )
        return int(found[0][0] or 0)

    def checkpoint(self, session: Session, table: str) -> None:
        session.execute(f"FLUSH TABLES {table} FOR EXPORT")
        session.execute("UNLOCK TABLES")

    def check(self, session: Session, is_quick: bool) -> str:
        tables = ", ".join(name for (name,) in session.query("SHOW TABLES"))
        results = session.query(f"CHECK TABLE {tables} {'QUICK' if is_quick else 'EXTENDED'}")
        bad = [f"{row[0]}: {row[3]}" for row in results if row[3] != "OK"]
        if bad:
            raise Refused(f"CHECK TABLE: {'; '.join(bad)}")
        return "ok"

    def call_hummer(self, session: Session, seed: int, process: int, loops: int) -> tuple:
        rows = session.query(f"CALL Hummer({seed & 0xFFFF_FFFF}, {process}, {loops})")
        reads, updates, inserts, digest = rows[0]
        return int(reads), int(updates), int(inserts), digest


def run_background_threads(session: Session, is_left: str, needed: set[str]) -> None:
    """Lets the encryption threads work until no tablespace is left that a condition is true of.

    Of an opened tablespace the view may have no row for a moment: what it does not list is left.
    """
    # Its default of 100 pages a second is for servers with other work.
    session.execute("SET GLOBAL innodb_encryption_rotation_iops = 1000000, GLOBAL innodb_encryption_threads = 2")
    deadline = time.monotonic() + ENCRYPTION_SECONDS
    while True:
        listed = dict(session.query(
            f"SELECT NAME, {is_left} OR ROTATING_OR_FLUSHING <> 0 FROM information_schema.INNODB_TABLESPACES_ENCRYPTION"
        ))
        left = needed.difference(listed) | {name for name, is_one in listed.items() if int(is_one)}
        if not left:
            break
        if time.monotonic() > deadline:
            names = ", ".join(sorted(left))
            raise Refused(f"{ENCRYPTION_SECONDS} s later the background threads were not done with {names}")
        time.sleep(0.02)
    session.execute("SET GLOBAL innodb_encryption_threads = 0")


def suppressed(error: type[Exception], job: Callable[..., object], *arguments: object) -> None:
    """Does a job that another thread ends by an error."""
    with suppress(error):
        job(*arguments)


@cache
def version_of(name: str) -> str:
    server = installation.program(name, "usr/sbin/mariadbd")
    text = subprocess.run([server, "--no-defaults", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Ver (\d+\.\d+\.\d+)-MariaDB", text.stdout)
    if not found:
        raise Refused(f"{server} does not run: {(text.stderr or text.stdout).strip().splitlines()[-1:]}")
    return found[1]


def at_rest(database: dict) -> tuple[str, str, int] | None:
    """What of the files a cipher encrypts, and how; none if it is nothing."""
    return CIPHERS.get(database["cipher"].removesuffix(f"+{TLS}"))


def encryption(database: dict) -> list[str]:
    """The server's options for a cipher."""
    files = at_rest(database)
    if files is None:
        return []
    scope, algorithm, key_bytes = files
    options = [
        "--plugin-load-add=file_key_management",
        f"--file-key-management-filename={key_file(database, key_bytes)}",
        f"--file-key-management-encryption-algorithm={algorithm}",
        "--innodb-encrypt-tables=ON",
        "--innodb-encryption-threads=0",
    ]
    if scope == "all":
        options += [
            "--innodb-encrypt-log=ON",
            "--innodb-encrypt-temporary-tables=ON",
            "--encrypt-tmp-files=ON",
            "--encrypt-tmp-disk-tables=ON",
            "--aria-encrypt-tables=ON",
        ]
    return options


def key_file(database: dict, size: int) -> Path:
    """The first bytes of the key in the plugin's form, beside the lab's key: not in the data folder."""
    key = Path(database["key_file"])
    own = key.with_name(f"{key.name}.mariadb-{size}")
    text = f"1;{key.read_bytes()[:size].hex()}\n"
    if not own.exists() or own.read_text() != text:
        own.touch(mode=0o600)
        own.write_text(text)
    return own


def log_of(database: dict) -> Path:
    folder = Path(database["path"])
    return folder.with_name(folder.name + ".log")


def file_of(tablespace: str) -> str:
    """The file of a tablespace."""
    if tablespace == "innodb_system":
        return "ibdata1"
    if found := re.fullmatch(r"innodb_undo(\d+)", tablespace):
        return f"undo{found[1]}"
    return f"{tablespace}.ibd"


def variables(session: Session, *names: str) -> dict[str, str]:
    rows = session.query(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN {names}")
    return dict(rows)


def leave_traces(session: Session, folder: Path) -> None:
    """Runs one query with each of the logs on that a server may have, so that the proof sees what they hold."""
    table = session.query("SHOW TABLES")[0][0]
    for name in ("general_log", "slow_query_log"):
        session.execute(f"SET GLOBAL {name}_file = '{folder / name}'")
        session.execute(f"SET GLOBAL {name} = ON")
    session.execute("SET SESSION long_query_time = 0")
    row = session.query(f"SELECT * FROM {table} LIMIT 1")[0]
    for value in row:
        session.query(f"SELECT COUNT(*) FROM {table} WHERE '{value}' = 'searched for'")
    for name in ("general_log", "slow_query_log"):
        session.execute(f"SET GLOBAL {name} = OFF")

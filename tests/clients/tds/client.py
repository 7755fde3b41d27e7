"""Clients of SQL Server: programs that the tests talk to in JSON, each around another driver.

What a driver can't do or can't tell is said in its `Client`, and nowhere else.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from host import NODE, ROOT, TARGET
from server import Server

HERE = Path(__file__).resolve().parent
PYTHON = str(ROOT / ".venv/bin/python")
# Where scripts/need.sh puts what is fetched and built for the clients that `make test` leaves out.
BUILT = Path(os.environ.get("SELENITE_TEST_TDS_CLIENTS", TARGET / "tds-clients"))
# Nothing here takes long; a client that waits for what never comes is ended.
ANSWER_SECONDS = 90


@dataclass(frozen=True)
class Client:
    """A driver, and what tests have to know about it."""

    name: str
    command: tuple[str, ...]
    # In `make test`; the others are in `make test-clients` besides.
    quick: bool
    # Its settings for encryption, and what it says of each in PRELOGIN (MS-TDS 2.2.6.5).
    announces: dict[str, str]
    # Digits after the second that its type for moments holds.
    second_digits: int = 7
    # The same of a time without a date, as it sends it.
    sent_time_digits: int = 7
    # Digits that its type for decimals holds, and for money.
    decimal_digits: int = 38
    money_digits: int = 38
    # Digits behind the point that it sends.
    scale_max: int = 38
    # Gives a decimal with the scale of its type.
    keeps_scale: bool = True
    # The first year of a date that it sends.
    year_min: int = 1
    # The first year of a datetimeoffset that it sends.
    offset_year_min: int = 1
    # Sends parameters beside the text.
    parameters: bool = True
    # Has cursors on the server: result sets that scroll, and that change rows.
    cursors: bool = False
    # Calls procedures by name, and gives their status and what comes back.
    calls: bool = False
    # Of a procedure that gives rows too.
    calls_with_rows: bool = True
    # What of the catalog it asks by functions of its own.
    catalog: frozenset[str] = frozenset()
    # Ways to send many rows by one statement: as arrays or in one message, and one after the other.
    many: tuple[bool, ...] = ()
    # Copies rows in bulk.
    bulk: bool = False
    # Sends table-valued parameters.
    tables: bool = False
    # Gives the offset of a datetimeoffset, and not the instant alone.
    offsets: bool = True
    # How it cancels: after the first row, within a loop, within a delay.
    cancels: tuple[str, ...] = ("rows", "loop", "delay")
    # Sizes of packets that it can ask for.
    packet_sizes: tuple[int, ...] = (512, 32767)
    # What it tells of errors and messages.
    tells: frozenset[str] = frozenset({"number", "state", "severity", "line"})
    tells_login_number: bool = True
    # pymssql has no text of any login that fails after the first one of its process.
    tells_login_text: bool = True
    tells_messages: bool = True
    tells_counts: bool = True
    # Asks for an encrypted login, and leaves a server that has none.
    insists_on_login: bool = False
    # Sends its login in clear where it asked for encryption and the server has none, which refuses it then.
    logs_in_regardless: bool = False
    # Results that come after an error in a batch reach the caller.
    goes_on_after_errors: bool = True
    # Begins, commits and rolls back by calls.
    transactions: bool = True
    # Gives values with their own types; without, as the texts that the program writes.
    typed: bool = True
    environment: dict[str, str] = field(default_factory=dict)

    def missing(self) -> str | None:
        """Why it can't be run here."""
        for part in self.command:
            if part.startswith("/") and not Path(part.split(":")[0]).exists():
                return f"{part} is not there: run scripts/need.sh tests clients"
        return None


class SqlError(Exception):
    """What the server answered, as far as the client tells it. `reply` is what came besides."""

    def __init__(self, notice: dict[str, Any], reply: "Reply | None" = None) -> None:
        super().__init__(f"{notice['number']}: {notice['text']}")
        self.text: str = notice["text"]
        self.number: int | None = notice["number"]
        self.state: int | None = notice["state"]
        self.severity: int | None = notice["severity"]
        self.line: int | None = notice["line"]
        self.reply = reply


class ClientFailed(Exception):
    """The driver itself said no: it found what it was sent unfit, or lost the connection."""


@dataclass(frozen=True)
class Reply:
    """All that came of a request."""

    sets: list[dict[str, Any]]
    counts: list[int]
    messages: list[dict[str, Any]]
    errors: list[dict[str, Any]]
    status: int | None = None
    outputs: list[str | None] = field(default_factory=list)
    cancelled_ms: float | None = None

    @property
    def rows(self) -> list[list[str | None]]:
        """The rows of the one result set."""
        (only,) = self.sets
        return only["rows"]

    @property
    def value(self) -> str | None:
        """The one value of the one row."""
        ((value,),) = self.rows
        return value

    @property
    def texts(self) -> list[str]:
        """What was said besides."""
        return [message["text"] for message in self.messages]


class Program:
    """A running client."""

    def __init__(self, client: Client) -> None:
        self.client = client
        # What it leaves where it is killed goes with the folder.
        self.folder = tempfile.TemporaryDirectory(prefix="selenite-client-")
        # Of the caller's environment nothing is left that is ours.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
        self.process = subprocess.Popen(
            client.command,
            env=inherited | {"TMPDIR": self.folder.name} | client.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A group of its own: tsql's client runs tsql.
            start_new_session=True,
        )

    def tell(self, action: str, **request: Any) -> None:
        """Asks, and does not wait for the answer."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"action": action, **request}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, action: str, **request: Any) -> Any:
        self.tell(action, **request)
        answer = json.loads(self._line(action))
        if "failed" in answer:
            raise ClientFailed(f"{self.client.name}: {answer['failed']}\n{answer['trace']}")
        if "refused" in answer:
            raise SqlError(answer["refused"][0])
        return answer["answer"]

    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        assert self.process.stdin and self.process.stdout
        if self.is_running():
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process.stdout.close()
        self.folder.cleanup()

    def kill(self) -> None:
        """Ends it in the middle of whatever it does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _line(self, action: str) -> bytes:
        assert self.process.stdout
        # An answer is one line, and nothing follows it: what is buffered is part of it.
        ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_SECONDS)
        if not ready:
            self.kill()
            raise ClientFailed(f"{self.client.name} did not answer {action} in {ANSWER_SECONDS} s")
        line = self.process.stdout.readline()
        if not line:
            raise ClientFailed(f"{self.client.name} ended with {self.process.wait()} at {action}")
        return line


class Connection:
    """A connection of a running client."""

    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.client = program.client
        self.name = name

    def begin_batch(self, sql: str) -> None:
        """Sends a batch, and waits for nothing."""
        self.program.tell("batch", name=self.name, sql=sql)

    def batch(self, sql: str) -> Reply:
        """All that came of a batch, errors included."""
        return checked(self.program.ask("batch", name=self.name, sql=sql))

    def run(self, sql: str) -> Reply:
        """What came of a batch that has no error."""
        return faultless(self.batch(sql))

    def execute(self, sql: str, *parameters: tuple[str, str | None]) -> Reply:
        """What came of a statement with the parameters @p1, @p2, ..; each has its type and its text."""
        request = {"name": self.name, "sql": sql, "parameters": [list(parameter) for parameter in parameters]}
        return faultless(checked(self.program.ask("execute", **request)))

    def cancel(self, sql: str, after_ms: int | None) -> float:
        """Cancels a batch after its first row or so many milliseconds; how many more until it had ended."""
        took_ms = self.program.ask("cancel", name=self.name, sql=sql, after_ms=after_ms)["cancelled_ms"]
        assert took_ms is not None
        return took_ms

    def do(self, action: str, **request: Any) -> Any:
        """Anything else that the client can do."""
        answer = self.program.ask(action, name=self.name, **request)
        return checked(answer) if isinstance(answer, dict) and "sets" in answer else answer

    def close(self) -> None:
        self.program.ask("close", name=self.name)


class Desk:
    """One client at one server: connections that end with the test."""

    def __init__(self, program: Program, server: Server) -> None:
        self.program = program
        self.server = server
        self._opened: list[Connection] = []

    @cached_property
    def usual(self) -> str:
        """The client's best encryption that this server takes."""
        wanted = ["strict"] if self.server.encryption == "strict" else ["on", "verified", "login", "off"]
        if self.server.encryption == "off":
            wanted = ["off", "login"]
        return next(word for word in wanted if word in self.program.client.announces)

    def connect(self, encryption: str | None = None, **request: Any) -> Connection:
        asked: dict[str, Any] = {"port": self.server.port, "user": "sa", "password": self.server.password}
        asked |= {"certificate": str(self.server.certificate), "database": None, "packet_size": None} | request
        name = f"c{next(NAMES)}"
        self.program.ask("connect", name=name, encryption=encryption or self.usual, **asked)
        self._opened.append(Connection(self.program, name))
        return self._opened[-1]

    @contextmanager
    def closing(self) -> Iterator["Desk"]:
        try:
            yield self
        finally:
            for connection in self._opened:
                try:
                    connection.close()
                except (ClientFailed, SqlError, OSError):
                    # What a test broke, or closed itself.
                    pass


def numbers() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


NAMES = numbers()


def checked(answer: dict[str, Any]) -> Reply:
    """An answer as a reply."""
    return Reply(**{name: answer[name] for name in Reply.__dataclass_fields__ if answer.get(name) is not None})


def faultless(reply: Reply) -> Reply:
    if reply.errors:
        raise SqlError(reply.errors[0], reply)
    return reply


# ODBC's catalog functions that its bindings for Python have alike, and JDBC's.
ODBC_CATALOG = frozenset(
    "catalogs schemas tables columns primary_keys foreign_keys statistics row_id procedures types".split()
)
JDBC_CATALOG = ODBC_CATALOG | {"procedure_columns"}


def _python(name: str, program: str, **traits: Any) -> Client:
    return Client(name, (PYTHON, str(HERE / "python" / program)), **traits)


TSQL = _python(
    "tsql",
    "tsql_client.py",
    quick=True,
    announces={"off": "not supported", "login": "off", "on": "on"},
    parameters=False,
    # It asks for no smaller ones than this.
    packet_sizes=(4096, 32767),
    cancels=(),
    tells_counts=False,
    transactions=False,
    typed=False,
)
PYMSSQL = _python(
    "pymssql",
    "pymssql_client.py",
    quick=True,
    bulk=True,
    announces={"off": "not supported", "login": "off", "on": "on"},
    second_digits=6,
    parameters=False,
    calls=True,
    # What comes back it reads before the rows, or not at all.
    calls_with_rows=False,
    cancels=("rows",),
    packet_sizes=(),
    tells_login_text=False,
    goes_on_after_errors=False,
)
PYTDS = _python(
    "python-tds",
    "pytds_client.py",
    quick=True,
    bulk=True,
    tables=True,
    announces={"off": "not supported", "login": "off", "verified": "on"},
    second_digits=6,
    keeps_scale=False,
    calls=True,
    cancels=("rows", "delay"),
    goes_on_after_errors=False,
)
MSSQL_PYTHON = _python(
    "mssql-python",
    "mssql_python_client.py",
    quick=True,
    # It looks at ServerCertificate in strict mode alone, and else asks the machine's authorities.
    announces={"login": "off", "on": "on", "strict": "strict"},
    second_digits=6,
    year_min=1753,
    # Of databases it asks a procedure that SQL Server does not document, sp_tableswc.
    catalog=ODBC_CATALOG - {"catalogs"},
    many=(True,),
    tells=frozenset(),
    goes_on_after_errors=False,
)
PYODBC = _python(
    "pyodbc",
    "pyodbc_client.py",
    quick=False,
    announces={"login": "off", "on": "on", "strict": "strict"},
    second_digits=6,
    # SQL_TYPE_TIME has no parts of a second.
    sent_time_digits=0,
    # For a row's best key it sends the name of a table as whatever stands in memory.
    catalog=ODBC_CATALOG - {"row_id"},
    many=(True, False),
    tells=frozenset({"number"}),
    goes_on_after_errors=False,
)
TEDIOUS = Client(
    "tedious",
    (str(NODE), str(HERE / "node/tedious.mjs")),
    quick=False,
    bulk=True,
    tables=True,
    announces={"off": "not supported", "on": "on", "verified": "on", "strict": "strict"},
    logs_in_regardless=True,
    decimal_digits=15,
    money_digits=15,
    keeps_scale=False,
    tells_login_number=False,
    calls=True,
    offsets=False,
)
JDBC = Client(
    "mssql-jdbc",
    ("java", "-XX:TieredStopAtLevel=1", "-cp", f"{BUILT}/java:{BUILT}/java/*", "JdbcClient"),
    quick=False,
    bulk=True,
    tables=True,
    announces={"login": "off", "on": "on", "verified": "on", "strict": "strict"},
    # Before the reform it counts days as Julius did.
    offset_year_min=1583,
    calls=True,
    catalog=JDBC_CATALOG,
    cursors=True,
    many=(True,),
)
GO = Client(
    "go-mssqldb",
    (str(BUILT / "go-client"),),
    quick=False,
    bulk=True,
    tables=True,
    announces={"off": "not supported", "login": "off", "on": "on", "verified": "on", "strict": "strict"},
    calls=True,
)
TIBERIUS = Client(
    "tiberius",
    (str(BUILT / "tiberius-client"),),
    quick=False,
    bulk=True,
    announces={"off": "not supported", "login": "off", "on": "required", "verified": "required", "strict": "strict"},
    money_digits=15,
    # It counts the zero before the point as a digit.
    scale_max=37,
    # Money comes as a binary fraction.
    keeps_scale=False,
    # It looks for the ATTENTION's DONE in the next message alone, where SQL Server ends the cancelled request.
    cancels=(),
    insists_on_login=True,
    tells_messages=False,
    tells_counts=False,
    goes_on_after_errors=False,
)

EVERY = [TSQL, PYMSSQL, PYTDS, MSSQL_PYTHON, PYODBC, TEDIOUS, JDBC, GO, TIBERIUS]
# `make test-clients` says so.
ALL = EVERY if os.environ.get("SELENITE_TEST_CLIENTS") == "all" else [client for client in EVERY if client.quick]

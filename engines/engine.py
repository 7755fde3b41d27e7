"""What differs between servers: a class of each engine, and of its sessions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path

from conversation import Refused


class Session(ABC):
    """A connection to the server."""

    @abstractmethod
    def execute(self, sql: str) -> int:
        """Runs a statement without rows. Gives the number of rows that it changed."""

    @abstractmethod
    def query(self, sql: str) -> list[tuple]:
        """All rows of a statement: numbers and texts."""

    @abstractmethod
    def stream(self, sql: str) -> Iterable[tuple]:
        """The same, one after the other, for many rows."""

    @abstractmethod
    def fetch(self, sql: str) -> Callable[[], list[tuple]]:
        """Receives the whole answer with as little work as possible. What is given makes rows of it later."""

    def discard(self, sql: str) -> int:
        """Receives the whole answer, and drops it. Gives the number of its bytes without encryption."""
        raise Refused("this session keeps what it receives")

    @abstractmethod
    def close(self) -> None: ...


# The cipher of a connection; after a cipher of files and a plus sign, of both.
TLS = "tls"


def is_tls(cipher: str) -> bool:
    return cipher == TLS or cipher.endswith(f"+{TLS}")


class Engine(ABC):
    """What differs between servers."""

    name: str
    ciphers: tuple[str, ...]
    works: tuple[str, ...]
    limits: tuple[str, ...] = ()
    # The smallest page cache that it takes, in KiB.
    cache_kib_min = 0
    page_sizes: tuple[int, ...] = ()

    @abstractmethod
    def library(self) -> str:
        """Its name and version. Another one than pinned, or none, is refused."""

    @abstractmethod
    def create(self, database: dict) -> None:
        """Makes the data folder, without rows."""

    @abstractmethod
    def start(self, database: dict) -> None:
        """Starts the server on the folder, and waits until it answers."""

    @abstractmethod
    def stop(self) -> None:
        """Ends the server in order."""

    @abstractmethod
    def kill(self) -> None:
        """Ends the server at once, whatever its state. Idempotent, and called from another thread, too."""

    @abstractmethod
    def pid(self) -> int:
        """The server's process."""

    @abstractmethod
    def connect(self) -> Session: ...

    def prepare(self, database: dict) -> None:
        """Makes the database in a server that was just made, if that is not done yet."""

    @abstractmethod
    def make_tables(self, session: Session, kind: str) -> None:
        """Makes the tables of a dataset without indexes that are made faster later."""

    @abstractmethod
    def copy_rows(self, session: Session, table: str, path: Path) -> None:
        """Fills a table from a file with a row in each line and tabs between columns."""

    @abstractmethod
    def make_indexes(self, session: Session, dataset: dict) -> None: ...

    def settle(self, session: Session, database: dict) -> None:
        """Waits until what was loaded is as it should be, encrypted in the background for instance."""

    @abstractmethod
    def rows_of(self, table: str) -> str:
        """The query for all rows of a table in their order, as numbers and as texts of SQLite's form."""

    def first_row(self) -> str:
        """The query for the first row of testtable."""
        return self.rows_of("testtable") + " LIMIT 1"

    def select_all(self) -> str:
        """The query for all rows of testtable: code, name, date."""
        return "SELECT code, name, date FROM testtable"

    @abstractmethod
    def opened(self, session: Session, database: dict) -> dict:
        """`status`, `encrypted`, `pages`, `layout`, `encrypted_files` of the protocol."""

    @abstractmethod
    def counters(self, session: Session) -> dict[str, int]:
        """`pages_read`, `pages_written`, `wal_bytes` so far, and `pages` now."""

    @abstractmethod
    def checkpoint(self, session: Session, table: str) -> None:
        """Writes changed pages to the files."""

    @abstractmethod
    def check(self, session: Session, is_quick: bool) -> str:
        """The engine's own check of all tables; what it says, if it is well."""

    def start_conversion(self, database: dict, to: str) -> None:
        """Starts the server on a folder so that it can be converted to another cipher."""
        raise Refused(f"{self.name} converts nothing")

    def convert(self, session: Session, database: dict, to: str) -> None:
        """Converts the files of all tables; from clear into clear, writes them again."""
        raise Refused(f"{self.name} converts nothing")

    def checksum(self, session: Session) -> str:
        """The engine's checksums of all tables."""
        raise Refused(f"{self.name} has no checksums")

    def table_files(self, folder: Path) -> list[Path]:
        """The files with the rows of the lab's tables."""
        raise Refused(f"{self.name} does not tell the files of its tables")

    def without_aes(self) -> dict[str, str]:
        """The environment in which its server uses no AES instructions; empty if there is none."""
        return {}

    def cipher_time(self, cipher: str) -> dict[str, float]:
        """Nanoseconds to encrypt (`seal_ns`) and to decrypt (`open_ns`) 4096 bytes."""
        raise Refused(f"this engine can't tell how long {cipher} takes")

    def port(self) -> int:
        """The server's port."""
        raise Refused(f"{self.name} has no port")

    def connect_through(self, port: int) -> Session:
        """A connection by way of another port."""
        raise Refused(f"{self.name} has no connection to read along")

    def recorded_query(self, rows: int, marker: str) -> str:
        """A query of so many rows with a marker in them."""
        raise Refused(f"{self.name} sends no messages")

    def messages_query(self, turns: int) -> str:
        """A query of so many rows with a number in each, as fast as the server sends them."""
        raise Refused(f"{self.name} sends no messages")

    def set_packet_size(self, session: Session, size: int) -> None:
        """Makes the server send pieces of so many bytes."""
        raise Refused(f"{self.name} sends no packets of {size} bytes")

    def insert(self, session: Session, dates: list[str]) -> None:
        """Inserts rows into testtable, in a transaction each."""
        for date in dates:
            session.execute(f"INSERT INTO testtable(date) VALUES ('{date}')")

    def set_hummer(self, session: Session, hummer: dict) -> None:
        """Writes the control table."""
        reads, updates, inserts = hummer["mix"]
        session.execute(
            f"UPDATE HummerControl SET read_share = {reads}, update_share = {updates}, insert_share = {inserts}, stopped = 0, "
            f"pause_every = {hummer['pause_every']}, pause_ms = {hummer['pause_ms']}"
        )

    def call_hummer(self, session: Session, seed: int, process: int, loops: int) -> tuple:
        """Runs the loop of one process: reads, updates, inserts, and a digest of what was read."""
        raise Refused(f"{self.name} has no procedure of the hummer")

"""A worker around a server: what is the same for every engine.

- own-folder: a data folder is made by this worker and carries its mark; another one is never touched.
- server-is-measured: counters are those of the server's process and its descendants, from the first statement of the
  work to the last byte of its answer. The client is this process, measured apart. Starting, stopping, preparing and
  reading counters are outside.
- preparation-excluded: what the client does with an answer, it does after the clock has stopped.
"""

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import dataset as data
from conversation import PLAIN, PROTOCOL, Controls, Refused
from conversion import Conversion
from engine import TLS, Engine, Session, is_tls
from process_meter import PartTimer, ProcessMeter, wait_until, wait_until_idle
from tap import Tap

# In a data folder that a worker made, and in none of another one.
MARK = "selenite-lab.json"
LIKE = "SELECT * FROM SomeData WHERE SomeText LIKE '%Wibble%'"
EQUAL = "SELECT * FROM SomeData WHERE Id = 100000000"
# A page cache is level once a run is at most so much slower than the fastest before it.
LEVEL_SHARE = 0.05
REHEARSALS_MAX = 10
# Enough bytes for a test of randomness.
RECORDED_ROWS = 20_000
# In a data folder with tables: a recording of a connection, if that is what is encrypted.
RECORDING = "selenite-lab.connection"


@dataclass
class Figures:
    """What only the work knows of itself."""

    operations: int = 1
    retries: int = 0
    checkpoint_ns: int = 0
    checkpoint_cpu_ns: int = 0
    altered: bool = False
    # Counters that the client knows better than the server's process.
    counters: dict[str, int] = field(default_factory=dict)
    # What the answer is made of, after the clock has stopped.
    answer: Callable[[], str] = field(default=lambda: "done")


class ServerWorker:
    """Carries out requests. One at a time, but for `abandon`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._database: dict | None = None
        self._session: Session | None = None
        self._kind = ""
        # Deletes what work that did not end may have left.
        self._undo: Callable[[], None] = lambda: None

    def hello(self) -> dict:
        engine = self._engine
        return {
            "protocol": PROTOCOL,
            "engine": engine.name,
            "library": engine.library(),
            "ciphers": list(engine.ciphers),
            "server": True,
            "works": list(engine.works),
            "limits": list(engine.limits),
            "without_aes": engine.without_aes(),
        }

    def cipher(self, name: str) -> dict[str, float]:
        self.close()
        if name not in self._engine.ciphers:
            raise Refused(f"{self._engine.name} has no cipher {name}")
        return self._engine.cipher_time(name)

    def load(self, database: dict, dataset: dict, _seed: int, rows: str | None) -> dict:
        self.close()
        database = absolute(database)
        self._check(database)
        kind, folder = dataset["kind"], Path(database["path"])
        if kind == "wire":
            return self._load_wire(database)
        if kind not in data.TABLES:
            raise Refused(f"this engine has no data of kind {kind}")
        if rows is None:
            raise Refused("a server is loaded from a database with rows, and there is none in the request")
        if folder.exists():
            raise Refused(f"{folder} is there already")
        try:
            digest = self._fill(database, dataset, rows)
        except BaseException:
            self.abandon()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return digest | {"marker": data.MARKERS[kind]}

    def _fill(self, database: dict, dataset: dict, rows: str) -> dict:
        engine, folder, kind = self._engine, Path(database["path"]), dataset["kind"]
        engine.library()
        engine.create(database)
        (folder / MARK).write_text(self._mark(database, kind))
        engine.start(database)
        engine.prepare(database)
        session = engine.connect()
        engine.make_tables(session, kind)
        text = folder.with_name(folder.name + ".rows")
        try:
            for table in data.TABLES[kind]:
                write_rows(text, data.rows(rows, table))
                engine.copy_rows(session, table, text)
        finally:
            text.unlink(missing_ok=True)
        engine.make_indexes(session, dataset)
        engine.settle(session, database)
        if TLS in engine.ciphers and (database["cipher"] == PLAIN or is_tls(database["cipher"])):
            (folder / RECORDING).write_bytes(self._record(data.MARKERS[kind])[0])
        digest = self._digest(session, kind)
        session.close()
        engine.stop()
        return digest

    def _load_wire(self, database: dict) -> dict:
        """Records the traffic of a connection as someone sees it who reads along."""
        path = Path(database["path"])
        if path.exists():
            raise Refused(f"{path} is there already")
        try:
            self._start_wire(database)
            traffic, digest = self._record(data.WIRE_MARKER)
            self._engine.stop()
        finally:
            self.abandon()
        path.write_bytes(traffic)
        return digest | {"marker": data.WIRE_MARKER}

    def _start_wire(self, database: dict) -> None:
        """Starts the server without tables that belongs to a recording, in the folder beside it."""
        if "messages" not in self._engine.works:
            raise Refused(f"{self._engine.name} has no data of kind wire")
        if database["cipher"] not in (PLAIN, TLS):
            raise Refused(f"{database['cipher']} encrypts files, and no connection: its data is not of kind wire")
        server = database | {"path": str(wire_folder(database))}
        folder = Path(server["path"])
        if folder.exists():
            self._kind_of(server)
        else:
            try:
                self._engine.create(server)
                (folder / MARK).write_text(self._mark(database, "wire"))
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        self._engine.start(server)

    def _record(self, marker: str) -> tuple[bytes, dict]:
        tap = Tap(self._engine.port())
        session = self._engine.connect_through(tap.port)
        rows = session.query(self._engine.recorded_query(RECORDED_ROWS, marker))
        session.close()
        digest = hashlib.sha256(repr(rows).encode()).hexdigest()
        return tap.recorded(), {"digest": digest, "rows": len(rows)}

    def _mark(self, database: dict, kind: str) -> str:
        return json.dumps({"engine": self._engine.name, "cipher": database["cipher"], "kind": kind})

    def open(self, database: dict) -> dict:
        self.close()
        database = absolute(database)
        self._check(database)
        is_wire = Path(database["path"]).is_file()
        self._kind = "wire" if is_wire else self._kind_of(database)
        try:
            if is_wire:
                self._start_wire(database)
            else:
                self._engine.start(database)
            self._session = self._engine.connect()
            opened = self._engine.opened(self._session, database)
            if not is_wire and opened["encrypted"] and is_tls(database["cipher"]):
                opened["encrypted_files"] = opened.get("encrypted_files", {}) | {RECORDING: "pages"}
        except BaseException:
            self.abandon()
            raise
        self._database = database
        return opened

    def close(self) -> None:
        if self._database is None:
            return
        self._database = None
        session, self._session = self._session, None
        try:
            session.close()
            self._engine.stop()
        finally:
            self._engine.kill()
            self._undo()

    def abandon(self) -> None:
        self._database = self._session = None
        self._engine.kill()
        self._undo()

    def digest(self) -> dict:
        if self._kind == "wire" and self._session:
            return self._record(data.WIRE_MARKER)[1]
        return self._digest(self._open_session(), self._kind)

    def run(self, work: dict, seed: int, share: dict, start_at_ns: int, controls: Controls) -> dict:
        session, engine = self._open_session(), self._engine
        if work["kind"] not in engine.works:
            raise Refused(f"{engine.name} does no such work: {work['kind']}")
        if share["index"] != 0:
            raise Refused("the worker of a server does the work of all processes: its index is 0")
        job = self._job(session, work, seed, share["count"], controls)
        # Some work has a server of its own.
        session = self._open_session()
        wait_until_idle(engine.pid())
        before = engine.counters(session)
        wait_until(start_at_ns)
        meter = ProcessMeter(engine.pid())
        figures = job()
        sample = meter.stop()
        after = engine.counters(session)
        folder = wire_folder(self._database) if self._kind == "wire" else Path(self._database["path"])
        return sample | {
            "pages_read": max(0, after["pages_read"] - before["pages_read"]),
            "pages_written": max(0, after["pages_written"] - before["pages_written"]),
            "wal_bytes": max(0, after["wal_bytes"] - before["wal_bytes"]),
            "pages": after["pages"],
            "database_bytes": folder_bytes(folder),
            "operations": figures.operations,
            "retries": figures.retries,
            "checkpoint_ns": figures.checkpoint_ns,
            "checkpoint_cpu_ns": figures.checkpoint_cpu_ns,
            "altered": figures.altered,
            "answer": figures.answer(),
        } | figures.counters

    def _job(self, session: Session, work: dict, seed: int, count: int, controls: Controls) -> Callable[[], Figures]:
        needs = {"like": "scan", "equal": "scan", "insert": "statements", "update-all": "statements"}
        needs |= {"select-all": "statements", "hummer": "cards", "messages": "wire"}
        kind = work["kind"]
        if needs.get(kind, self._kind) != self._kind:
            raise Refused(f"{kind} needs data of kind {needs[kind]}, and this is {self._kind}")
        match kind:
            case "like" | "equal":
                return self._query(session, LIKE if kind == "like" else EQUAL, work.get("rehearsals", 0))
            case "select-all":
                return self._query(session, self._engine.select_all(), 0)
            case "insert":
                return self._insert(session, work["rows"], seed, count)
            case "update-all":
                return self._update_all(session, seed)
            case "integrity-check" | "quick-check":
                return lambda: said(self._engine.check(session, kind == "quick-check"))
            case "convert":
                return self._convert(work["to"])
            case "messages":
                return self._messages(session, work["turns"], work["packet_size"])
            case "hummer":
                return self._hummer(session, work["hummer"], seed, count, controls)
        raise Refused(f"{self._engine.name} does no such work: {kind}")

    def _query(self, session: Session, sql: str, rehearsals: int) -> Callable[[], Figures]:
        if rehearsals:
            rehearse(lambda: session.fetch(sql), self._engine.pid(), rehearsals)

        def job() -> Figures:
            received = session.fetch(sql)
            return Figures(answer=lambda: answer_of(received()))

        return job

    def _messages(self, session: Session, turns: int, packet_size: int) -> Callable[[], Figures]:
        self._engine.set_packet_size(session, packet_size)
        sql = self._engine.messages_query(turns)
        # Compiled, and the first packet sent, before the clock starts.
        session.discard(self._engine.messages_query(1))

        def job() -> Figures:
            received = session.discard(sql)
            counters = {"write_chars": received, "pages_written": -(-received // packet_size), "pages_read": 0}
            return Figures(operations=turns, counters=counters, answer=lambda: f"{turns} rows, {received} bytes")

        return job

    def _convert(self, to: str) -> Callable[[], Figures]:
        engine, database = self._engine, self._database
        if to != PLAIN and to not in engine.ciphers:
            raise Refused(f"{engine.name} has no cipher {to}: it has {', '.join(engine.ciphers)}")
        if self._kind == "wire":
            raise Refused("a connection is not converted")
        conversion = Conversion(engine, database, self._kind, to)
        self._undo = conversion.discard
        self._session.close()
        engine.stop()
        self._session = session = conversion.start()

        def restart() -> None:
            engine.start(database)
            self._session = engine.connect()

        def answer() -> str:
            try:
                return conversion.finish(session, restart)
            except BaseException:
                self.abandon()
                raise

        def job() -> Figures:
            engine.convert(session, database, to)
            return Figures(answer=answer)

        return self._with_checkpoint(session, ", ".join(data.TABLES[self._kind]), job)

    def _insert(self, session: Session, rows: int, seed: int, count: int) -> Callable[[], Figures]:
        engine = self._engine
        sessions = [session] + [engine.connect() for _ in range(count - 1)]
        randoms = [data.Random(seed, process) for process in range(count)]
        dates = [[random.date() for _ in range(rows)] for random in randoms]

        def job() -> Figures:
            together([lambda one=one, its=its: engine.insert(one, its) for one, its in zip(sessions, dates, strict=True)])
            return Figures(operations=rows * count, answer=lambda: f"{rows * count} inserted")

        return self._with_checkpoint(session, "testtable", closing(job, sessions[1:]))

    def _update_all(self, session: Session, seed: int) -> Callable[[], Figures]:
        first = session.query(self._engine.first_row())
        names = (f"SQL Server {number & 0xFFFF_FFFF:08x}".ljust(25) for number in (seed, seed + 1))
        name = next(name for name in names if not first or name != first[0][2])

        def job() -> Figures:
            changed = session.execute(f"UPDATE testtable SET name = '{name}'")
            return Figures(answer=lambda: f"{changed} updated to {name.rstrip()}")

        return self._with_checkpoint(session, "testtable", job)

    def _hummer(self, session: Session, hummer: dict, seed: int, count: int, controls: Controls) -> Callable[[], Figures]:
        if sum(hummer["mix"]) != 10:
            raise Refused("the numbers of the mix must add up to 10")
        engine = self._engine
        engine.set_hummer(session, hummer)
        sessions = [engine.connect() for _ in range(count)]

        def job() -> Figures:
            results: list[tuple] = [()] * count

            def loop(process: int) -> None:
                results[process] = engine.call_hummer(sessions[process], seed, process, hummer["loops"])

            watch = ControlWatch(engine, session, hummer, controls)
            together([lambda process=process: loop(process) for process in range(count)], watch)
            reads, updates, inserts = (sum(result[place] for result in results) for place in range(3))
            read = f", {results[0][3]}" if count == 1 else ""
            return Figures(
                operations=reads + updates + inserts,
                altered=watch.altered,
                answer=lambda: f"{reads} read, {updates} updated, {inserts} inserted{read}",
            )

        return self._with_checkpoint(session, "Vendor, Purchase", closing(job, sessions))

    def _with_checkpoint(self, session: Session, table: str, job: Callable[[], Figures]) -> Callable[[], Figures]:
        def whole() -> Figures:
            figures = job()
            part = PartTimer(self._engine.pid())
            self._engine.checkpoint(session, table)
            figures.checkpoint_ns, figures.checkpoint_cpu_ns = part.stop()
            return figures

        return whole

    def _digest(self, session: Session, kind: str) -> dict:
        digest = data.RowDigest()
        for table in sorted(data.TABLES[kind]):
            digest.table(table, session.stream(self._engine.rows_of(table)))
        return digest.result()

    def _open_session(self) -> Session:
        if self._session is None:
            raise Refused("no database is open: open one first")
        return self._session

    def _check(self, database: dict) -> None:
        engine, cipher = self._engine, database["cipher"]
        if cipher != PLAIN and cipher not in engine.ciphers:
            raise Refused(f"{engine.name} has no cipher {cipher}: it has {', '.join(engine.ciphers)}")
        for name in database.get("settings", {}):
            raise Refused(f"there is no setting {name}")
        if engine.page_sizes and database["page_size"] not in engine.page_sizes:
            known = ", ".join(map(str, engine.page_sizes))
            raise Refused(f"pages of {engine.name} have {known} bytes, not {database['page_size']}: set layout.page_size")
        if database["cache_kib"] < engine.cache_kib_min:
            raise Refused(
                f"the page cache of {engine.name} has {engine.cache_kib_min >> 10} MiB at least, "
                f"not {database['cache_kib']} KiB: set layout.cache"
            )

    def _kind_of(self, database: dict) -> str:
        folder = Path(database["path"])
        if not folder.is_dir():
            raise Refused(f"{folder} is no data folder")
        try:
            mark = json.loads((folder / MARK).read_text())
        except FileNotFoundError:
            raise Refused(f"{folder} was not made by this worker, and is left alone: it has no {MARK}") from None
        made = {"engine": self._engine.name, "cipher": database["cipher"]}
        for key, value in made.items():
            if mark.get(key) != value:
                raise Refused(f"{folder} was made with {key} {mark.get(key)}, not {value}")
        return mark["kind"]


class ControlWatch:
    """Writes controls that arrive during a hummer into its control table."""

    def __init__(self, engine: Engine, session: Session, hummer: dict, controls: Controls) -> None:
        self._engine, self._session, self._hummer, self._controls = engine, session, dict(hummer), controls
        self.altered = False

    def __call__(self, seconds: float) -> None:
        """Waits for a control, and takes it."""
        control = self._controls.next(seconds)
        if control is None:
            return
        mix = control.get("mix")
        if mix and sum(mix) == 10:
            self.altered = True
            self._hummer["mix"] = mix
            self._engine.set_hummer(self._session, self._hummer)
        if control.get("stop"):
            self.altered = True
            self._session.execute("UPDATE HummerControl SET stopped = 1")


def together(jobs: list[Callable[[], None]], watch: Callable[[float], None] | None = None) -> None:
    """Runs jobs in a thread each, and `watch` meanwhile. The first error is raised when all have ended."""
    if len(jobs) == 1 and watch is None:
        jobs[0]()
        return
    errors: list[BaseException] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - raised by the thread that asked
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            if watch is None:
                thread.join()
            else:
                thread.join(0.002)
                if thread.is_alive():
                    watch(0.05)
    if errors:
        raise errors[0]


def closing(job: Callable[[], Figures], sessions: list[Session]) -> Callable[[], Figures]:
    """Closes the sessions of a job when its answer is made."""

    def with_end() -> Figures:
        figures = job()
        answer = figures.answer

        def last() -> str:
            for session in sessions:
                session.close()
            return answer()

        figures.answer = last
        return figures

    return with_end


def rehearse(job: Callable[[], object], server: int, times: int) -> None:
    """Repeats until the CPU time is level: a cache is full, and nothing is compiled for the first time."""
    fastest = None
    for number in range(times + REHEARSALS_MAX):
        part = PartTimer(server)
        job()
        took = part.stop()[1]
        is_level = fastest is not None and took <= fastest * (1 + LEVEL_SHARE)
        fastest = took if fastest is None else min(fastest, took)
        if number + 1 >= times and is_level:
            return


def said(text: str) -> Figures:
    return Figures(answer=lambda: text)


def answer_of(rows: Iterable[tuple]) -> str:
    digest = data.AnswerDigest()
    for row in rows:
        digest.row(row)
    return digest.text()


def write_rows(path: Path, rows: Iterable[tuple]) -> None:
    """A row in each line, tabs between columns. Another user may have to read it."""
    with path.open("w", encoding="ascii") as file:
        os.fchmod(file.fileno(), 0o644)
        for row in rows:
            file.write("\t".join(map(str, row)) + "\n")


def absolute(database: dict) -> dict:
    """With whole paths: a server may work in a folder of its own."""
    return database | {name: os.path.abspath(database[name]) for name in ("path", "key_file")}


def wire_folder(database: dict) -> Path:
    return Path(database["path"]).with_suffix(".server")


def folder_bytes(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                # A temporary file that has just gone.
                continue
    return total

"""Sources 000 and 002, run against `selenite serve` by tsql, and what comes of them beside what the sources found.

usage: sources.py [ITERATIONS]   of the context switches loop; 10,000,000 if nothing is said

Source 000: "Excessive Context Switching due to TDS Encryption" (2018), SQL Server 2014 and 2017, 100,000,000 iterations.
Source 002: SQL Shack's comparison of four statements before and after TDE, 10,000 rows.
Their figures are of other machines: what can be compared is each with and without encryption.
"""

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from figures.tsql_session import TsqlSession  # noqa: E402
from script import batches, shortened, text  # noqa: E402
from server import Server  # noqa: E402

ITERATIONS = 10_000_000
SAMPLE_SECONDS = 0.05
# How the server and the client are told to speak: in clear, encrypted, and encrypted by another thread, as until SQL Server 2014.
TRANSIT = [
    ("off", "off", ()),
    ("require", "require", ()),
    ("require", "require", ("--tls-offload", "thread")),
]
SOURCE_000 = {
    "elapsed, ms": ("62,442", "66,196", "62,127", "99,690"),
    "CPU, ms": ("63,165", "65,114", "60,764", "84,490"),
    "waits to encrypt, ms": ("0", "0", "0", "28,266"),
    "context switches": ("500", "508", "1,117", "1,273,235"),
}
SOURCE_002 = {
    "INSERT": ("2,078", "44,000", "194", "2,091", "46,000", "483"),
    "UPDATE": ("31", "32", "146", "15", "259", "169"),
    "SELECT": ("0", "242", "248", "16", "244", "162"),
    "BACKUP": ("124", "791", "2,317", "185", "848", "2,950"),
}


@dataclass(frozen=True)
class Cost:
    """What a script took; none where the server did not tell."""

    cpu_ms: int | None
    elapsed_ms: int
    physical_io: int | None

    @property
    def cells(self) -> list[str]:
        return [number(self.cpu_ms), number(self.elapsed_ms), number(self.physical_io)]


def source_000(server: Server, encryption: str, iterations: int) -> list[str]:
    """The load, and its session's samples meanwhile."""
    load = TsqlSession(server.port, server.password, encryption)
    watch = TsqlSession(server.port, server.password, encryption)
    # The statement of the source's second script; the script itself waits a second between two of them.
    sample = text("000_samples").split("begin", 2)[2].split("waitfor")[0]
    sample = sample.replace("@spid", load.value("SELECT @@SPID AS spid"))
    started = time.monotonic()
    load.send((shortened(text("000_load"), iterations), 1))
    cpu_ms = None
    answer: list[list[str]] = []
    waits = watch_thread(load, answer)
    while waits.is_alive():
        lines = watch.run((sample, 1))
        if len(lines) > 1:
            cpu_ms = int(lines[1][0])
        waits.join(SAMPLE_SECONDS)
    elapsed_ms = round((time.monotonic() - started) * 1000)
    load.close()
    watch.close()
    switches = below(answer, "context_switches")
    encrypting = below(answer, "wait_type")
    return [
        number(elapsed_ms),
        number(cpu_ms),
        number(int(encrypting[2]) if encrypting else None),
        number(int(switches[0]) if switches else None),
    ]


def watch_thread(load: TsqlSession, into: list[list[str]]):
    """Waits for the load elsewhere."""
    import threading

    thread = threading.Thread(target=lambda: into.extend(load.answer()))
    thread.start()
    return thread


def below(lines: list[list[str]], heading: str) -> list[str] | None:
    """The row below a heading."""
    for line, after in zip(lines, lines[1:], strict=False):
        if line[0] == heading:
            return after
    return None


def measured(server: Server, script: str) -> Cost:
    """Runs a script in a session of its own, and asks sysprocesses what it took, as the source did."""
    session = TsqlSession(server.port, server.password, "require")
    spid = session.value("SELECT @@SPID AS spid")
    session.run(("DBCC DROPCLEANBUFFERS", 1))
    started = time.monotonic()
    session.run(*batches(text(script)))
    elapsed_ms = round((time.monotonic() - started) * 1000)
    other = TsqlSession(server.port, server.password, "require")
    found = below(other.run((text("002_processes").replace("56", spid), 1)), "spid")
    other.close()
    session.close()
    return Cost(int(found[1]) if found else None, elapsed_ms, int(found[2]) if found else None)


def four_statements(server: Server) -> dict[str, Cost]:
    scripts = {"INSERT": "002_insert", "UPDATE": "002_update", "SELECT": "002_select", "BACKUP": "002_backup_mended"}
    return {name: measured(server, script) for name, script in scripts.items()}


def source_002(folder: Path, identity: Path) -> list[list[str]]:
    """Before TDE, and after it; between them the server is restarted, as the source's was."""
    server = Server(folder, "require", identity)
    password = server.password
    try:
        session = TsqlSession(server.port, password, "require")
        session.run(*batches(text("002_prepare")))
        before = four_statements(server)
        print("\nSource 002's BACKUP, as it is printed there:")
        session.told.clear()
        session.run(*batches(text("002_backup"))[1:2])
        print("\n".join(f"    {line}" for line in session.told))
        session.run(*batches(text("002_encrypt")))
        states = encrypted(session)
        session.close()
        assert server.stop() == 0, server.log
        server = Server(folder, "require", identity)
        server.password = password
        after = four_statements(server)
    finally:
        server.kill()
    print("\nSource 002's look at the keys:")
    print("\n".join("    " + "  ".join(line) for line in states))
    return [[name, *before[name].cells, *after[name].cells, *SOURCE_002[name]] for name in SOURCE_002]


def encrypted(session: TsqlSession) -> list[list[str]]:
    """What source 002's last script shows as soon as nothing is on its way any more."""
    while True:
        lines = session.run(*batches(text("002_keys")))
        if not any("IN_PROGRESS" in cell for line in lines for cell in line):
            return lines
        time.sleep(0.1)


def number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def table(headings: list[list[str]], rows: list[list[str]]) -> None:
    lines = [*headings, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(rows[0]))]
    for line in lines:
        first, *others = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        print("    " + "   ".join([first.strip().ljust(widths[0]), *others]))


def new_identity(folder: Path) -> Path:
    identity = folder / "identity.key"
    identity.touch(mode=0o600)
    identity.write_bytes(bytes(range(32)))
    return identity


def main(iterations: int) -> None:
    with tempfile.TemporaryDirectory(prefix="selenite-demo-") as name:
        place = Path(name)
        columns = []
        for index, (mode, encryption, flags) in enumerate(TRANSIT):
            folder = place / str(index)
            folder.mkdir()
            server = Server(folder, mode, new_identity(folder), *flags)
            try:
                columns.append(source_000(server, encryption, iterations))
            finally:
                server.kill()
        folder = place / "rest"
        folder.mkdir()
        rows = source_002(folder, new_identity(folder))
    print(f"\nSource 000: {iterations:,} iterations here, 100,000,000 there\n")
    kinds = list(SOURCE_000)
    table(
        [
            ["", *["Selenite"] * 3, *["SQL Server"] * 4],
            ["", "", "", "", "2017", "2017", "2014", "2014"],
            ["", "in clear", "TLS", "TLS, offloaded", "in clear", "TLS", "in clear", "TLS"],
        ],
        [[kind, *(column[row] for column in columns), *SOURCE_000[kind]] for row, kind in enumerate(kinds)],
    )
    print("\nSource 002: 10,000 rows, before TDE and after it, over TLS here\n")
    table(
        [
            ["", *["before"] * 3, *["after"] * 3, *["there, before"] * 3, *["there, after"] * 3],
            ["", *["CPU, ms", "elapsed, ms", "I/O"] * 4],
        ],
        rows,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ITERATIONS)

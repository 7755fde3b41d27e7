"""What a power failure leaves of a database whose files are exchanged while a program writes, and of one that is made from
another product's or for it: strace(1) lists what is done.

- synced-is-there: what was written to a file before its fsync is on the disk; of later writes any may be, the last one in
  part.
- names-in-order: of the changes to a folder since its fsync, the first few are on the disk.
- index-is-garbage: the index of a log is memory that is shared, and nobody syncs it.
"""

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from host import EXTENSION, uri
from test_command import COMMAND, selenite
from test_import import PASSPHRASE, Oracle

SEED = int(os.environ.get("SELENITE_SEED", random.randrange(1 << 32)))
CALLS = (
    "open,openat,creat,write,pwrite64,writev,pwritev,pwritev2,truncate,ftruncate,fallocate,fsync,fdatasync,"
    "sync_file_range,rename,renameat,renameat2,link,linkat,unlink,unlinkat,copy_file_range,sendfile,splice"
)
SECTOR = 512

# A program that commits rows while the command runs, and notes each number before and after its commit.
PROGRAM = """
import os, sqlite3, subprocess, sys, threading
extension, database, notes, *command = sys.argv[1:]
loader = sqlite3.connect(":memory:")
loader.enable_load_extension(True)
loader.load_extension(extension)
notes = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
is_over = threading.Event()

def write():
    db = sqlite3.connect(database, uri=True, isolation_level=None, timeout=60)
    db.execute("PRAGMA synchronous = EXTRA")
    (number,) = db.execute("SELECT max(id) FROM t").fetchone()
    left = 6
    while left:
        left -= is_over.is_set()
        number += 1
        os.write(notes, b"+%d\\n" % number)
        db.execute("INSERT INTO t VALUES (?, hex(randomblob(400)))", (number,))
        os.write(notes, b"=%d\\n" % number)
        begun.set()
        # In rollback mode a program that commits without rest leaves the command no moment for its lock.
        is_over.wait(0.005)
    db.close()

begun = threading.Event()
writer = threading.Thread(target=write)
writer.start()
begun.wait()
# A command that does not get its lock says so (7), and is run again.
for _ in range(50):
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 7:
        break
is_over.set()
writer.join()
sys.stderr.buffer.write(done.stderr)
sys.exit(done.returncode)
"""


@dataclass
class File:
    synced: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def content(self, pending: list[tuple[int, bytes | None]]) -> bytes:
        """After some of the writes; one of None truncates."""
        data = bytearray(self.synced)
        for offset, written in pending:
            if written is None:
                del data[offset:]
                data.extend(bytes(offset - len(data)))
            else:
                data.extend(bytes(max(0, offset - len(data))))
                data[offset : offset + len(written)] = written
        return bytes(data)

    def sync(self) -> None:
        self.synced = self.content(self.pending)
        self.pending = []


class Disk:
    """The files of a folder, as a power failure would leave them."""

    def __init__(self, folder: Path, contents: dict[str, bytes]) -> None:
        self.folder = folder
        self.names = {name: File(content) for name, content in contents.items()}
        self.synced = dict(self.names)
        self.pending: list[dict[str, File | None]] = []

    def change(self, names: dict[str, File | None]) -> None:
        """Names become those of other files, or of none."""
        self.pending.append(names)
        self.names = self.changed(self.names, [names])

    @staticmethod
    def changed(names: dict[str, File], changes: list[dict[str, File | None]]) -> dict[str, File]:
        for change in changes:
            names = {name: file for name, file in (names | change).items() if file is not None}
        return names

    def sync(self) -> None:
        self.synced, self.pending = dict(self.names), []

    def image(self, to: Path, chance: random.Random) -> str:
        """Writes what is left; returns how it came to be."""
        count = chance.choice([0, len(self.pending), chance.randint(0, len(self.pending))])
        names = self.changed(self.synced, self.pending[:count])
        kind = chance.choice(["synced", "written", "some", "torn"])
        to.mkdir()
        for name, file in names.items():
            if name.endswith("-shm"):
                (to / name).write_bytes(chance.randbytes(32768))
                continue
            left = list(file.pending) if kind != "synced" else []
            if kind in ("some", "torn"):
                left = [one for one in left if chance.random() < 0.5]
            if kind == "torn" and left and left[-1][1]:
                offset, written = left[-1]
                left[-1] = (offset, written[: chance.randrange(len(written) // SECTOR + 1) * SECTOR])
            (to / name).write_bytes(file.content(left))
        return f"{kind}, {count} of {len(self.pending)} changes of names"


class Replay:
    """Reads a trace, and shows the disk after each call."""

    LINE = re.compile(r"^(\d+) +(.*)$")
    CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+)(?:<(.*)>)?(?:\(deleted\))?(?: .*)?$")
    FILE = re.compile(r"^\d+<([^>]*)>(\(deleted\))?(?:, )?(.*)$")

    def __init__(self, disk: Disk, notes: Path) -> None:
        self.disk, self.notes = disk, notes
        self.begun, self.committed = 0, 0
        self.unfinished: dict[str, str] = {}

    def calls(self, trace: Path):
        """Each call that has succeeded, by its name, with its arguments."""
        for line in trace.read_text().splitlines():
            process, rest = self.LINE.match(line).groups()
            if rest.startswith(("+++", "---")):
                continue
            if rest.endswith("<unfinished ...>"):
                self.unfinished[process] = rest.removesuffix("<unfinished ...>").rstrip()
                continue
            if resumed := re.match(r"^<\.\.\. \w+ resumed>(.*)$", rest):
                rest = self.unfinished.pop(process) + resumed[1]
            if (found := self.CALL.match(rest)) and int(found[3]) >= 0:
                yield found[1], found[2], int(found[3])

    def steps(self, trace: Path):
        """Yields after each call that changed the disk."""
        for call, arguments, result in self.calls(trace):
            if self.step(call, arguments, result):
                yield call

    def step(self, call: str, arguments: str, result: int) -> bool:
        if call in ("open", "openat", "creat", "rename", "renameat", "renameat2", "unlink", "unlinkat"):
            return self.named(call, arguments)
        path, is_deleted, rest = self.FILE.match(arguments).groups()
        path = Path(plain(path).decode(errors="replace"))
        if path == self.notes:
            note = plain(rest.split('"')[1]).decode()
            if note.startswith("+"):
                self.begun = int(note[1:])
            else:
                self.committed = int(note[1:])
            return False
        if path == self.disk.folder and call in ("fsync", "fdatasync"):
            self.disk.sync()
            return True
        if path.parent != self.disk.folder or is_deleted or path.name not in self.disk.names:
            return False
        file = self.disk.names[path.name]
        if call in ("fsync", "fdatasync"):
            file.sync()
        elif call == "pwrite64":
            _, data, tail = rest.split('"')
            file.pending.append((int(tail.split(",")[2]), plain(data)[:result]))
        elif call == "ftruncate":
            file.pending.append((int(rest), None))
        else:
            raise AssertionError(f"{call} of {path}")
        return True

    def named(self, call: str, arguments: str) -> bool:
        names = [Path(plain(text).decode(errors="replace")) for text in re.findall(r'"([^"]*)"', arguments)]
        names = [name.name for name in names if name.parent == self.disk.folder]
        if not names:
            return False
        if call.startswith("rename"):
            old, new = names
            self.disk.change({new: self.disk.names[old], old: None})
        elif call.startswith("unlink"):
            self.disk.change({names[0]: None})
        elif names[0] not in self.disk.names:
            self.disk.change({names[0]: File()})
        elif "O_TRUNC" in arguments:
            self.disk.names[names[0]].pending.append((0, None))
        else:
            return False
        return True


def plain(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


@pytest.fixture(scope="module")
def loaded() -> sqlite3.Connection:
    loader = sqlite3.connect(":memory:")
    loader.enable_load_extension(True)
    loader.load_extension(EXTENSION)
    return loader


def name(path: Path, key: Path) -> str:
    return uri(path, vfs="selenite", selenite_identity=str(key), plain="allow")


def rows(path: Path, key: Path) -> list[int]:
    with closing(sqlite3.connect(name(path, key), uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [number for (number,) in db.execute("SELECT id FROM t ORDER BY id")]


def moments(calls: list[str], chance: random.Random, count: int = 80) -> set[int]:
    """Those around a change of a file's name, and others by chance."""
    renames = [number for number, call in enumerate(calls) if call.startswith("rename")]
    near = {moment for number in renames for moment in range(number - 20, number + 40)}
    return near | set(chance.sample(range(len(calls)), min(len(calls), count)))


def run_traced(trace: Path, *command: str) -> None:
    """Skips the test where processes can't be traced."""
    if shutil.which("strace") is None or subprocess.run(["strace", "-o", os.devnull, "true"]).returncode:
        pytest.skip("strace is not there, or is not allowed")
    print("seed", SEED)
    traced = ["strace", "-f", "-y", "-xx", "-s", "1000000", "-e", f"trace={CALLS}", "-o", str(trace)]
    # Without the library that makes tests wait for no disk: it takes the calls that count here.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run([*traced, *command], check=True, env=environment)


def make(folder: Path, mode: str, goal: str) -> Path:
    """A database of 59 rows that is to be encrypted or decrypted, in a folder of its own."""
    selenite(folder, "keygen", "-o", "key.txt")
    database = folder / "place" / "app.db"
    database.parent.mkdir()
    with closing(sqlite3.connect(database)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, filler)")
        db.executemany("INSERT INTO t VALUES (?, hex(randomblob(400)))", [(number,) for number in range(1, 60)])
        db.commit()
    if goal != "encrypt":
        selenite(folder, "-i", "key.txt", "encrypt", str(database))
    return database


@pytest.mark.parametrize("mode", ["wal", "delete"])
@pytest.mark.parametrize("goal", ["encrypt", "decrypt"])
def test_each_commit_is_there_after_a_power_failure(goal: str, mode: str, folder: Path, loaded: None) -> None:
    chance = random.Random(SEED)
    database = make(folder, mode, goal)
    key, place, notes, trace = folder / "key.txt", folder / "place", folder / "notes", folder / "trace"
    online = ["--online", "--ignore-unseen"]
    more = {"encrypt": online, "decrypt": [*online, "--confirm", "app.db"]}[goal]
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    program = [sys.executable, "-c", PROGRAM, EXTENSION, name(database, key), str(notes)]
    command = [COMMAND, "-i", str(key), goal, str(database), *more]
    run_traced(trace, *program, *command)
    chosen = moments(list(Replay(Disk(place, before), notes).steps(trace)), chance)
    disk = Disk(place, before)
    replay = Replay(disk, notes)
    found = []
    for number, call in enumerate(replay.steps(trace)):
        if number not in chosen:
            continue
        image = folder / f"image-{number}"
        how = f"after call {number} ({call}): {disk.image(image, chance)}"
        left = rows(image / "app.db", key)
        assert left == list(range(1, len(left) + 1)), how
        assert replay.committed <= len(left) <= max(replay.begun, 59), how
        found.append(len(left))
        shutil.rmtree(image)
    assert replay.committed == replay.begun == len(rows(database, key))
    assert len(found) > 50


@pytest.mark.parametrize("mode", ["wal", "delete"])
@pytest.mark.parametrize("goal", ["encrypt", "decrypt"])
def test_a_database_that_no_one_uses_is_whole_after_a_power_failure(
    goal: str, mode: str, folder: Path, loaded: None
) -> None:
    chance = random.Random(SEED)
    database = make(folder, mode, goal)
    key, place, trace = folder / "key.txt", folder / "place", folder / "trace"
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    run_traced(trace, COMMAND, "-i", str(key), goal, str(database))
    chosen = moments(list(Replay(Disk(place, before), folder / "notes").steps(trace)), chance, 30)
    disk = Disk(place, before)
    is_plain = []
    for number, call in enumerate(Replay(disk, folder / "notes").steps(trace)):
        for copy in range(3 if number in chosen else 0):
            image = folder / f"image-{number}-{copy}"
            how = f"after call {number} ({call}): {disk.image(image, chance)}"
            assert rows(image / "app.db", key) == list(range(1, 60)), how
            is_plain.append((image / "app.db").read_bytes().startswith(b"SQLite format 3"))
            if is_plain[-1]:
                # Once the extension has opened it, any program does.
                with closing(sqlite3.connect(image / "app.db")) as db:
                    assert db.execute("SELECT count(*) FROM t").fetchall() == [(59,)], how
            shutil.rmtree(image)
    assert any(is_plain) and not all(is_plain) and len(is_plain) > 45
    assert rows(database, key) == list(range(1, 60))


MARKER = "a row that is in no file"
QUERY = "SELECT count(*), sum(t LIKE '%" + MARKER + "%') FROM t"
MADE = [
    "CREATE TABLE t(id INTEGER PRIMARY KEY, t)",
    "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000)"
    f" INSERT INTO t SELECT i, i || ' {MARKER} ' || hex(randomblob(500)) FROM c",
]


@pytest.mark.parametrize("goal", ["import", "export"])
def test_a_new_database_is_whole_or_absent_after_a_power_failure(goal: str, folder: Path, loaded: None) -> None:
    chance = random.Random(SEED)
    selenite(folder, "keygen", "-o", "key.txt")
    (folder / "passphrase").write_text(PASSPHRASE + "\n")
    (folder / "passphrase").chmod(0o600)
    key, place, trace = folder / "key.txt", folder / "place", folder / "trace"
    place.mkdir()
    if goal == "import":
        Oracle("sqlcipher", place / "old.db", MADE)
        more: list[str] = []
    else:
        selenite(folder, "-i", "key.txt", "exec", "--create", "place/old.db", ";".join(MADE))
        more = ["--format", "sqlcipher4"]
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    command = [COMMAND, "-i", str(key), goal, str(place / "old.db"), "--to", str(place / "new.db"), *more]
    run_traced(trace, *command, "--passphrase-file", str(folder / "passphrase"))

    def count(database: Path) -> list:
        if goal == "export":
            return Oracle("sqlcipher", database, [QUERY, "PRAGMA integrity_check"]).rows
        with closing(sqlite3.connect(name(database, key), uri=True)) as db:
            return [[list(row) for row in db.execute(query)] for query in (QUERY, "PRAGMA integrity_check")]

    whole = [[[2000, 2000]], [["ok"]]]
    chosen = moments(list(Replay(Disk(place, before), folder / "notes").steps(trace)), chance, 30)
    disk = Disk(place, before)
    is_there = []
    for number, call in enumerate(Replay(disk, folder / "notes").steps(trace)):
        if number not in chosen:
            continue
        image = folder / f"image-{number}"
        how = f"after call {number} ({call}): {disk.image(image, chance)}"
        for path in image.iterdir():
            assert MARKER.encode() not in path.read_bytes(), f"{path.name} {how}"
        assert (image / "old.db").read_bytes() == before["old.db"], how
        is_there.append((image / "new.db").exists())
        assert not is_there[-1] or count(image / "new.db") == whole, how
        shutil.rmtree(image)
    # What the command has said to be done stays.
    disk.image(folder / "last", chance)
    assert count(folder / "last" / "new.db") == whole
    assert any(is_there) and not all(is_there) and len(is_there) > 15

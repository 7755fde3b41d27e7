"""Short anchors of a database that several processes write (FORMAT 10.8): each process is a session of its own."""

import os
import random
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from host import EXTENSION, uri
from test_command import COMMAND, selenite

WRITER = """
import sqlite3, sys
extension, database, *statements = sys.argv[1:]
loader = sqlite3.connect(":memory:")
loader.enable_load_extension(True)
loader.load_extension(extension)
db = sqlite3.connect(database, uri=True, isolation_level=None)
for statement in statements:
    db.execute(statement).fetchall()
"""

# Reads the number of a row. Another process has put a log there just before SQLite opens it.
SURPRISED = """
import ctypes, os, sqlite3, sys
extension, database, found, log = sys.argv[1:]
loader = sqlite3.connect(":memory:")
loader.enable_load_extension(True)
loader.load_extension(extension)
system = ctypes.CDLL(None, use_errno=True)
sqlite = ctypes.CDLL("libsqlite3.so.0")
sqlite.sqlite3_vfs_find.restype = ctypes.c_void_p
Open = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, use_errno=True)

@Open
def open_file(path, flags, mode):
    if os.fsdecode(path) == log and os.path.exists(found):
        os.rename(found, log)
    file = system.open(path, flags, ctypes.c_uint(mode))
    ctypes.set_errno(ctypes.get_errno())
    return file

# sqlite3_vfs (sqlite3.h): three numbers, a pointer, a name, data, and twelve methods, another one, and xSetSystemCall.
unix = sqlite.sqlite3_vfs_find(b"unix")
method = ctypes.cast(unix + 16 + 3 * 8 + 13 * 8, ctypes.POINTER(ctypes.c_void_p))[0]
set_call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, Open)(method)
assert set_call(unix, b"open", open_file) == 0
db = sqlite3.connect(database, uri=True)
try:
    print(db.execute("SELECT number FROM t WHERE id = 7").fetchone()[0])
except sqlite3.OperationalError as error:
    print(error)
print(os.path.exists(found))
os._exit(0)
"""


@pytest.fixture
def database(folder: Path, loaded: None) -> sqlite3.Connection:
    """One that stays open: its log is not removed."""
    selenite(folder, "keygen", "-o", "key.txt")
    db = connect(folder / "app.db")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, number, filler)")
    db.executemany("INSERT INTO t VALUES (?, 0, randomblob(3000))", [(number,) for number in range(120)])
    return db


@pytest.fixture(scope="module")
def loaded() -> sqlite3.Connection:
    loader = sqlite3.connect(":memory:")
    loader.enable_load_extension(True)
    loader.load_extension(EXTENSION)
    return loader


def name(path: Path, **parameters: str) -> str:
    key = path.parent / "key.txt" if path.name == "app.db" else path.parent.parent / "key.txt"
    return uri(path, vfs="selenite", selenite_identity=str(key), **parameters)


def connect(path: Path, **parameters: str) -> sqlite3.Connection:
    return sqlite3.connect(name(path, **parameters), uri=True, isolation_level=None)


def write(path: Path, *statements: str) -> None:
    subprocess.run([sys.executable, "-c", WRITER, EXTENSION, name(path), *statements], check=True)


def follow(folder: Path, *more: str) -> None:
    selenite(folder, "-i", "key.txt", "follow", "app.db", "--anchor-to", "anchors", *first(folder), "--once", *more)


def first(folder: Path) -> list[str]:
    return [] if (folder / "anchors").exists() else ["--first-anchor"]


def copy(folder: Path, to: str) -> Path:
    place = folder / to
    place.mkdir()
    for suffix in ("", "-wal"):
        if Path(f"{folder}/app.db{suffix}").exists():
            # In another process: closing the file here would release the locks of this one.
            subprocess.run(["cp", f"{folder}/app.db{suffix}", place / f"copy.db{suffix}"], check=True)
    return place / "copy.db"


def is_refused(path: Path, anchors: Path) -> bool:
    try:
        # An older superblock is refused when it is opened.
        with closing(connect(path, anchor=str(anchors))) as db:
            db.execute("SELECT count(*) FROM t").fetchone()
    except sqlite3.OperationalError as error:
        assert "disk I/O error" in str(error)
        return True
    return False


def test_an_image_that_was_overwritten_at_once_is_known(folder: Path, database: sqlite3.Connection) -> None:
    follow(folder)
    copies = []
    for number in range(1, 4):
        write(folder / "app.db", f"UPDATE t SET number = {number} WHERE id = 7")
        copies.append(copy(folder, f"copy{number}"))
    follow(folder)
    assert [is_refused(path, folder / "anchors") for path in copies] == [True, True, False]
    assert not is_refused(folder / "app.db", folder / "anchors")
    database.close()


def test_the_last_commit_is_named_however_many_sessions_there_are(folder: Path, database: sqlite3.Connection) -> None:
    for number in range(70):
        write(folder / "app.db", f"UPDATE t SET number = 1 WHERE id = {number}")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    follow(folder)
    database.execute("UPDATE t SET number = 2 WHERE id = 119")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    follow(folder)
    old = copy(folder, "old")
    database.execute("UPDATE t SET number = 3 WHERE id = 119")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert not is_refused(old, folder / "anchors")
    follow(folder)
    assert is_refused(old, folder / "anchors")
    assert not is_refused(folder / "app.db", folder / "anchors")
    database.close()


def test_a_page_that_a_checkpoint_seals_again_is_not_older(folder: Path, database: sqlite3.Connection) -> None:
    database.execute("PRAGMA wal_autocheckpoint = 0")
    database.execute("UPDATE t SET filler = randomblob(3000)")
    reader = connect(folder / "app.db")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM t").fetchone()
    command = [COMMAND, "-i", "key.txt", "reencrypt", "app.db", "--new-key", "--max-rate=1MB/s"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as reencryption:
        while database.execute("SELECT count(*) FROM selenite_status WHERE section = 'epoch'").fetchone()[0] < 2:
            assert reencryption.poll() is None
            database.execute("SELECT count(*) FROM t").fetchone()
        reencryption.kill()
    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    database.execute("UPDATE t SET number = 1 WHERE id = 3")
    follow(folder)
    reader.execute("ROLLBACK")
    reader.close()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert not is_refused(folder / "app.db", folder / "anchors")
    follow(folder)
    database.close()


CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"


def put_back(old: Path, path: Path) -> None:
    """No connection is open."""
    for suffix in ("-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    subprocess.run(["cp", old, path], check=True)
    if Path(f"{old}-wal").exists():
        subprocess.run(["cp", f"{old}-wal", f"{path}-wal"], check=True)


def refuses_to_follow(folder: Path) -> str:
    """What ``follow`` says, which has to be an error."""
    command = [COMMAND, "-i", "key.txt", "follow", "app.db", "--anchor-to", "anchors", "--once"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ended.returncode, ended
    return ended.stderr


@pytest.mark.parametrize("renewal", [["keys", "renew", "app.db"], ["compromised", "app.db", "leaver"]])
def test_a_copy_from_before_a_renewed_master_key_does_not_become_the_newest_state(
    folder: Path, database: sqlite3.Connection, renewal: list[str]
) -> None:
    database.close()
    selenite(folder, "keygen", "-o", "other.txt")
    selenite(folder, "-i", "key.txt", "keys", "add", "app.db", "other.txt", "--label", "leaver")
    follow(folder)
    old = copy(folder, "old")
    selenite(folder, "-i", "key.txt", *renewal)
    write(folder / "app.db", "UPDATE t SET number = 1 WHERE id = 7")
    assert "is under another master key" in refuses_to_follow(folder)
    follow(folder, "--accept-older")
    put_back(old, folder / "app.db")
    for _ in range(2):
        assert is_refused(folder / "app.db", folder / "anchors")
        assert "older than its anchor" in refuses_to_follow(folder)


def test_a_text_that_anyone_can_append_does_not_make_an_old_copy_the_newest_state(
    folder: Path, database: sqlite3.Connection
) -> None:
    database.close()
    follow(folder)
    old = copy(folder, "old")
    write(folder / "app.db", "UPDATE t SET number = 1 WHERE id = 7")
    follow(folder)
    own = (folder / "anchors").read_text()
    first = own[: own.index("\n", own.index("\nmac ") + 1) + 1]
    forged = re.sub(r"\nkey [0-9a-f]+\n", f"\nkey {'0' * 32}\n", first)
    forged = re.sub(r"\nnumber 1\n", "\nnumber 99\n", forged)
    assert forged != first
    put_back(old, folder / "app.db")
    assert "older than its anchor" in refuses_to_follow(folder)
    # So many that no anchor of the database is found among them.
    zero = forged.replace("\nnumber 99\n", "\nnumber 0\n")
    for text in (forged * 64, zero * 64, forged):
        (folder / "anchors").write_text(own + text)
        said = refuses_to_follow(folder)
        assert "is under another master key" in said or "older than its anchor" in said
        assert is_refused(folder / "app.db", folder / "anchors")


def test_no_journal_is_played_back_by_the_witness(folder: Path, database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = DELETE").fetchall()
    database.execute("PRAGMA cache_size = 2")
    database.execute("PRAGMA cache_spill = 1")
    database.execute("BEGIN")
    database.execute("UPDATE t SET number = 1, filler = randomblob(3000)")
    subprocess.run(["cp", folder / "app.db-journal", folder / "journal"], check=True)
    database.execute("ROLLBACK")
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    database.close()
    write(folder / "app.db", "UPDATE t SET number = 2")
    follow(folder)
    subprocess.run(["cp", folder / "journal", folder / "app.db-journal"], check=True)
    assert "a rollback journal is beside the database" in refuses_to_follow(folder)
    (folder / "backups").mkdir()
    command = [COMMAND, "-i", "key.txt", "follow", "app.db", "backups", "--anchor-to", "anchors", "--once"]
    assert subprocess.run(command, cwd=folder, capture_output=True).returncode
    assert (folder / "app.db-journal").exists()
    (folder / "app.db-journal").unlink()
    assert not is_refused(folder / "app.db", folder / "anchors")


def test_images_of_the_file_below_the_log_are_known(folder: Path, database: sqlite3.Connection) -> None:
    write(folder / "app.db", "UPDATE t SET number = 1 WHERE id = 7", CHECKPOINT)
    write(folder / "app.db", "UPDATE t SET number = 2 WHERE id = 7")
    follow(folder)
    whole, cut = copy(folder, "whole"), copy(folder, "cut")
    assert not is_refused(whole, folder / "anchors")
    Path(f"{cut}-wal").unlink()
    assert is_refused(cut, folder / "anchors")
    database.close()


def test_an_old_log_beside_the_newest_file_is_refused(folder: Path, database: sqlite3.Connection) -> None:
    database.execute("UPDATE t SET number = 1 WHERE id = 7")
    follow(folder)
    old = copy(folder, "old")
    database.execute(CHECKPOINT).fetchall()
    database.execute("UPDATE t SET number = 2 WHERE id = 7")
    follow(folder)
    # Page by page, until the newest anchor does not name that row's any more.
    for number in range(20, 120):
        database.execute("UPDATE t SET filler = randomblob(3000) WHERE id = ?", (number,))
    follow(folder)
    database.execute(CHECKPOINT).fetchall()
    database.close()
    follow(folder)
    now = copy(folder, "now")
    assert not is_refused(now, folder / "anchors")
    subprocess.run(["cp", f"{old}-wal", f"{now}-wal"], check=True)
    assert is_refused(now, folder / "anchors")
    subprocess.run(["cp", f"{old}-wal", folder / "app.db-wal"], check=True)
    assert "older than its anchor" in refuses_to_follow(folder)


def test_an_old_file_beside_the_newest_log_is_refused(folder: Path, database: sqlite3.Connection) -> None:
    """Although more pages of the file are named than may be, and a small commit came after those that the log has."""
    database.execute("PRAGMA wal_autocheckpoint = 0")
    database.execute("UPDATE t SET filler = randomblob(3000) WHERE id > 20")
    follow(folder)
    for number in (1, 2):
        database.execute(CHECKPOINT).fetchall()
        database.execute("UPDATE t SET number = ? WHERE id = 119", (number,))
        follow(folder)
    old = copy(folder, "old")
    database.execute("UPDATE t SET number = 7 WHERE id < 15")
    follow(folder)
    database.execute("UPDATE t SET number = 3 WHERE id = 119")
    follow(folder)
    database.execute(CHECKPOINT).fetchall()
    database.execute("UPDATE t SET number = 4 WHERE id = 119")
    follow(folder)
    now, mixed, again = (copy(folder, name) for name in ("now", "mixed", "again"))
    database.close()
    assert not is_refused(now, folder / "anchors")
    subprocess.run(["cp", old, mixed], check=True)
    assert is_refused(mixed, folder / "anchors")
    subprocess.run(["cp", old, folder / "app.db"], check=True)
    subprocess.run(["cp", f"{again}-wal", folder / "app.db-wal"], check=True)
    assert "older than its anchor" in refuses_to_follow(folder)


def test_a_log_that_takes_the_name_of_the_followed_one_is_an_error(
    folder: Path, database: sqlite3.Connection
) -> None:
    database.execute("UPDATE t SET number = 1 WHERE id = 7")
    command = [COMMAND, "-i", "key.txt", "follow", "app.db", "--anchor-to", "anchors", "--first-anchor"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        while not (folder / "anchors").exists() or b"mac" not in (folder / "anchors").read_bytes():
            assert process.poll() is None
        subprocess.run(["cp", folder / "app.db-wal", folder / "old-wal"], check=True)
        database.execute("UPDATE t SET number = 2 WHERE id = 7")
        (folder / "old-wal").rename(folder / "app.db-wal")
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2 and "another file has taken the name" in said, said


def test_a_log_with_an_index_in_memory_is_not_compared(folder: Path, database: sqlite3.Connection) -> None:
    """`readonly_shm` is what happens to an index that can't be written, and that no other connection keeps."""
    database.execute("UPDATE t SET number = 1 WHERE id = 7")
    follow(folder)
    place = copy(folder, "now")
    Path(f"{place}-shm").touch()
    only_read = {"mode": "ro", "readonly_shm": "1"}
    with closing(connect(place, **only_read)) as db:
        assert db.execute("SELECT number FROM t WHERE id = 7").fetchone() == (1,)
    assert Path(f"{place}-shm").stat().st_size == 0
    with closing(connect(place, **only_read, anchor=str(folder / "anchors"))) as db:
        with pytest.raises(sqlite3.OperationalError):
            db.execute("SELECT number FROM t WHERE id = 7").fetchone()
    # Another connection keeps the index: it is compared.
    with closing(connect(place)) as writer:
        assert writer.execute("SELECT number FROM t WHERE id = 7").fetchone() == (1,)
        with closing(connect(place, **only_read, anchor=str(folder / "anchors"))) as db:
            assert db.execute("SELECT number FROM t WHERE id = 7").fetchone() == (1,)


def test_an_anchor_that_is_appended_again_does_not_count(folder: Path, database: sqlite3.Connection) -> None:
    follow(folder)
    first = (folder / "anchors").read_text()
    old = copy(folder, "old")
    database.execute("UPDATE t SET number = 1 WHERE id = 7")
    follow(folder)
    with open(folder / "anchors", "a") as anchors:
        anchors.write(first)
    assert is_refused(old, folder / "anchors")
    database.execute("UPDATE t SET number = 2 WHERE id = 7")
    follow(folder)
    assert is_refused(old, folder / "anchors") and not is_refused(folder / "app.db", folder / "anchors")
    numbers = [line for line in (folder / "anchors").read_text().splitlines() if line.startswith("number")]
    assert numbers == ["number 1", "number 2", "number 1", "number 3"]
    database.close()


def test_a_log_that_is_read_again_after_its_pages_were_sealed_again_is_not_older(
    folder: Path, database: sqlite3.Connection
) -> None:
    database.execute(CHECKPOINT).fetchall()
    database.execute("PRAGMA wal_autocheckpoint = 0")
    database.execute("UPDATE t SET number = 1 WHERE id = 3")
    command = [COMMAND, "-i", "key.txt", "reencrypt", "app.db", "--new-key", "--max-rate=1MB/s"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as reencryption:
        while database.execute("SELECT count(*) FROM selenite_status WHERE section = 'epoch'").fetchone()[0] < 2:
            assert reencryption.poll() is None
            database.execute("SELECT count(*) FROM t").fetchone()
        reencryption.kill()
    database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    follow(folder)
    # As after a kill of all that have it open: the log is there, and is recovered.
    now = copy(folder, "now")
    assert Path(f"{now}-wal").stat().st_size
    assert not is_refused(now, folder / "anchors")
    database.close()


def test_an_older_database_is_accepted_until_that_is_written_and_once(
    folder: Path, database: sqlite3.Connection
) -> None:
    follow(folder)
    old = copy(folder, "old")
    database.execute("UPDATE t SET number = 1 WHERE id = 7")
    follow(folder)
    database.close()
    put_back(old, folder / "app.db")
    # A place that fails once.
    script = folder / "witness"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = anchor ] && exec cat {folder}/anchors\n'
        f"[ -e {folder}/failed ] || {{ touch {folder}/failed; exit 1; }}\nexec cat >>{folder}/anchors\n"
    )
    script.chmod(0o700)
    config = folder / "config.toml"
    config.write_text(f'[commands]\nwitness = ["{script}"]\n')
    place = ("--anchor-to", "command:witness", "--anchor-interval", "1", "--accept-older")
    command = [COMMAND, "-i", "key.txt", "follow", "app.db", *place]
    environment = os.environ | {"SELENITE_CONFIG": str(config)}
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL) as process:
        while b"number 3" not in (folder / "anchors").read_bytes():
            assert process.poll() is None
        process.terminate()
    assert (folder / "failed").exists() and not is_refused(folder / "app.db", folder / "anchors")
    write(folder / "app.db", "UPDATE t SET number = 2 WHERE id = 7")
    follow(folder)
    put_back(old, folder / "app.db")
    assert "older than its anchor" in refuses_to_follow(folder)


def test_a_log_that_comes_before_sqlite_opens_it_is_compared(folder: Path, database: sqlite3.Connection) -> None:
    database.execute(CHECKPOINT).fetchall()
    write(folder / "app.db", "UPDATE t SET number = 1 WHERE id = 7")
    follow(folder)
    log = Path(f"{folder}/app.db-wal")
    subprocess.run(["cp", log, folder / "old-log"], check=True)
    write(folder / "app.db", "UPDATE t SET number = 100 WHERE id = 7", CHECKPOINT)
    follow(folder)
    database.close()
    assert not log.exists()
    program = [sys.executable, "-c", SURPRISED, EXTENSION]
    place = str(folder / "anchors")

    def surprised(found: Path) -> list[str]:
        opened = [name(folder / "app.db", anchor=place), str(found), str(log)]
        return subprocess.run([*program, *opened], check=True, capture_output=True, text=True).stdout.split("\n")[:2]

    assert surprised(folder / "old-log") == ["disk I/O error", "False"]
    log.unlink()
    assert surprised(folder / "none") == ["100", "False"]


def test_an_older_database_is_accepted_although_the_master_key_was_renewed(
    folder: Path, database: sqlite3.Connection
) -> None:
    database.close()
    follow(folder)
    old = copy(folder, "old")
    selenite(folder, "-i", "key.txt", "keys", "renew", "app.db")
    follow(folder, "--accept-older")
    write(folder / "app.db", "UPDATE t SET number = 1 WHERE id = 7")
    follow(folder)
    put_back(old, folder / "app.db")
    follow(folder, "--accept-older")
    assert not is_refused(folder / "app.db", folder / "anchors")


def test_follow_says_by_its_exit_that_its_last_anchor_is_not_written(
    folder: Path, database: sqlite3.Connection
) -> None:
    command = [COMMAND, "-i", "key.txt", "follow", "app.db", "--anchor-to", "anchors", "--first-anchor"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        while not (folder / "anchors").exists() or b"mac" not in (folder / "anchors").read_bytes():
            assert process.poll() is None
        (folder / "anchors").unlink()
        (folder / "anchors").mkdir()
        database.execute("UPDATE t SET number = 1 WHERE id = 7")
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert process.returncode == 6 and "not a regular file" in said, said
    database.close()


def test_a_persistent_journal_is_over_after_each_transaction(folder: Path, loaded: None) -> None:
    seed = int(os.environ.get("SELENITE_SEED", random.randrange(1 << 32)))
    print("seed", seed)
    chance = random.Random(seed)
    selenite(folder, "keygen", "-o", "key.txt")
    for number in range(30):
        place = folder / f"{number}"
        place.mkdir()
        path = place / "data.db"
        with closing(connect(path)) as db:
            db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, filler)")
            db.executemany("INSERT INTO t VALUES (?, zeroblob(200))", [(row,) for row in range(500)])
            db.execute("PRAGMA journal_mode = PERSIST")
            db.execute("PRAGMA cache_size = 2")
            for _ in range(4):
                before = db.execute("SELECT count(*), sum(length(filler)) FROM t").fetchone()
                db.execute("BEGIN IMMEDIATE")
                rows = [(chance.randrange(3000), chance.choice([100, 5000])) for _ in range(chance.choice([1, 5, 60]))]
                db.executemany("INSERT OR REPLACE INTO t VALUES (?, randomblob(?))", rows)
                end = chance.choice(["ROLLBACK", "COMMIT"])
                db.execute(end)
                with open(f"{path}-journal", "rb") as journal:
                    assert journal.read(8)[1:] == bytes(7), f"{number}: hot after {end}"
                after = db.execute("SELECT count(*), sum(length(filler)) FROM t").fetchone()
                assert end == "COMMIT" or after == before
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

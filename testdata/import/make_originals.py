"""Makes databases by a sqlcipher shell: closed, with a WAL, and with a hot journal.

make_originals.py SHELL FOLDER [PRAGMA...]: what is set after the key, such as "kdf_iter = 4000".
Run once for each: SQLCipher draws a salt and nonces.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MADE = """
    CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE INDEX by_body ON t(body);
"""
WAL = "PRAGMA journal_mode = wal; UPDATE t SET body = 'row ' || id || ' in the WAL' WHERE id % 3 = 0;"
JOURNAL = "PRAGMA cache_size = 1; BEGIN; UPDATE t SET body = 'not committed ' || body;"


def rows() -> str:
    return "".join(f"INSERT INTO t VALUES({id}, 'row {id}{' and more' * 10}');" for id in range(1, 61))


def run(shell: str, database: Path, pragmas: list[str], sql: str, ends: bool) -> None:
    """Runs statements, and ends the shell by closing the database or by killing it."""
    process = subprocess.Popen([shell, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    key = "".join(f"PRAGMA {pragma};" for pragma in ("key = 'import'", *pragmas))
    process.stdin.write(f"{key}\n{sql}\nSELECT 'it is ' || 'done';\n")
    process.stdin.flush()
    while (line := process.stdout.readline()) != "it is done\n":
        assert line, "the shell has ended"
    if ends:
        process.communicate(".quit\n")
    else:
        process.kill()
        process.wait()


def main() -> None:
    shell, to, pragmas = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    to.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        closed = Path(folder) / "closed.db"
        run(shell, closed, pragmas, f"{MADE} BEGIN; {rows()} COMMIT;", ends=True)
        shutil.copy(closed, to)
        for log, sql in (("wal", WAL), ("journal", JOURNAL)):
            path = shutil.copy(closed, f"{folder}/{log}.db")
            run(shell, path, pragmas, sql, ends=False)
            shutil.copy(path, to)
            shutil.copy(f"{path}-{log}", to)
        # The transaction has spilled pages.
        assert closed.read_bytes() != (to / "journal.db").read_bytes()[: closed.stat().st_size]


main()

"""Makes the plain SQLite files here, from which the vectors are sealed.

Run by hand, once: another version of SQLite writes other bytes, and vectors are never changed.
Needs the sqlite3 shell, which can reserve bytes in every page.

sample.db                       a database at rest
rollback.db, rollback.db-journal  the same one while a transaction is spilling: the journal is hot
wal.db, wal.db-wal              in WAL mode: two transactions are in the log only
"""

import os
import shutil
import sqlite3
import subprocess
import sys


def create(path):
    subprocess.run(
        ["sqlite3", path],
        input=".filectrl reserve_bytes 48\nPRAGMA page_size=1024;VACUUM;"
        "CREATE TABLE mineral(id INTEGER PRIMARY KEY, name TEXT, note TEXT);"
        "INSERT INTO mineral VALUES(1,'selenite','clear gypsum'),(2,'halite',hex(zeroblob(700)));",
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def keep(source, *names):
    for name in names:
        shutil.copyfile(source + name[name.index(".db") + 3 :], name)


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    work = sys.argv[1]
    os.makedirs(work)
    os.chdir(folder)

    create(work + "/sample.db")
    keep(work + "/sample.db", "sample.db")

    path = work + "/rollback.db"
    create(path)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA cache_size=2")
    database.execute("BEGIN")
    database.execute("UPDATE mineral SET note='gone' WHERE id=2")
    database.execute("INSERT INTO mineral VALUES(3,'beryl',hex(zeroblob(2000)))")
    database.execute("UPDATE mineral SET name='emerald', note=hex(randomblob(0)) WHERE id=1")
    keep(path, "rollback.db", "rollback.db-journal")
    database.execute("ROLLBACK")

    path = work + "/wal.db"
    create(path)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("UPDATE mineral SET note='rock salt' WHERE id=2")
    database.execute("INSERT INTO mineral VALUES(3,'beryl','six-sided')")
    keep(path, "wal.db", "wal.db-wal")


main()

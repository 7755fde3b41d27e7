"""Opens every vector of a database with the reader: python3 testdata/reader/test_vectors.py

Prints "N passed, 0 failed", and exits with 1 if one failed. pytest runs it too, each vector by its name.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import primitives
import selenite_reader as reader
from primitives import sha256
from selenite_reader import Refused

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors")


class Sparse:
    """A file of a vector: extents, and zeros between them."""

    def __init__(self, size):
        self.size, self.extents = size, []

    def read(self, offset, size):
        out = bytearray(max(0, min(size, self.size - offset)))
        for start, data in self.extents:
            first, last = max(start, offset), min(start + len(data), offset + len(out))
            if first < last:
                out[first - offset : last - offset] = data[first - start : last - start]
        return bytes(out)


class Vector:
    def __init__(self, path):
        with open(path, "rb") as file:
            head, body = file.read().split(b"\n\n", 1)
        self.lines = [line.split(": ", 1) for line in head.decode().split("\n")]
        self.files = {}
        for name, value in self.lines:
            if name == "file":
                file, size = value.split(" ")
                self.files[file] = Sparse(int(size))
            elif name == "extent":
                file, offset, size = value.split(" ")
                self.files[file].extents.append((int(offset), body[: int(size)]))
                body = body[int(size) :]
        self.body = body

    def all(self, name):
        return [value for line, value in self.lines if line == name]

    def one(self, name):
        return next(iter(self.all(name)), None)

    def key(self):
        kind, secret = self.one("key").split(" ", 1)
        if kind == "raw":
            return reader.RAW, bytes.fromhex(secret)
        return (reader.PASSPHRASE, secret.encode()) if kind == "passphrase" else (reader.AGE, secret)


def differences(vector):
    """What the reader answered otherwise than the vector expects."""
    answers = {}
    try:
        found = answer(vector, answers)
    except Refused as refused:
        found = str(refused)
    expected = {name: value for name, value in vector.lines if name in answers}
    pages = dict(value.split(" ", 1) for value in vector.all("page"))
    if pages != answers.pop("page", {}):
        yield "other pages"
    if found != vector.one("expect"):
        yield f"{found!r}, not {vector.one('expect')!r}"
    for name, value in answers.items():
        if str(value) != expected.get(name, str(value)):
            yield f"{name}: {value}, not {expected[name]}"
    for name in "pages", "frames", "committed", "end", "records", "super", "counts":
        if vector.one(name) is not None and name not in answers:
            yield f"{name} has no answer"


def answer(vector, answers):
    """Fills `answers`; the error's name, or "ok"."""
    origin = vector.one("origin") or "any"
    key = vector.key()
    if "exported" in vector.files:
        file = vector.files["exported"]
        key = reader.EXPORTED, reader.exported(file.read(0, file.size), key[1])
    database = reader.Database(vector.files["main"], key, vector.all("allow"), origin)
    answers["counts"] = database.counts
    log = None
    if "wal" in vector.files:
        log = reader.Wal(database, vector.files["wal"])
        answers.update(frames=log.frames, committed=log.committed, end=log.end)
        if vector.one("read"):
            page_no, page = log.read(int(vector.one("read").removeprefix("frame ")))
            answers["page"] = {str(page_no): sha256(page).hex()}
            return "ok"
    if "journal" in vector.files:
        log = reader.Journal(database, vector.files["journal"])
        answers.update(records=log.records)
        if vector.one("super"):
            answers["super"] = log.super_journal()
    count = log.page_count if log and log.page_count is not None else database.page_count()
    answers["pages"] = count
    listed = [int(value.split(" ")[0]) for value in vector.all("page")]
    answers["page"], result, plain = {}, "ok", []
    for page_no in listed:
        try:
            page = (log.pages.get(page_no) if log else None) or database.page(page_no)
            answers["page"][str(page_no)] = sha256(page).hex()
            plain.append(page)
        except Refused as refused:
            result = str(refused) if result == "ok" else result
            answers["page"][str(page_no)] = str(refused).split(" ")[0]
    if vector.one("integrity"):
        check_with_sqlite(plain)
    return result


def check_with_sqlite(pages):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plain.db")
        with open(path, "wb") as file:
            file.writelines(pages)
        database = sqlite3.connect(path)
        (result,) = database.execute("PRAGMA integrity_check").fetchone()
        rows = database.execute("SELECT count(*) FROM mineral").fetchone()
        database.close()
        assert result == "ok" and rows[0] >= 2, result


def check_command_line(vector):
    """The reader as a program, on files."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sealed.db")
        for name, file in vector.files.items():
            with open(path + {"main": ""}.get(name, "-" + name), "wb") as out:
                out.write(file.read(0, file.size))
        with open(path + ".key", "w", encoding="ascii") as out:
            out.write(vector.key()[1].hex() + "\n")
        arguments = [path, "--raw-key", path + ".key", "--out", path + ".plain"]
        subprocess.run([sys.executable, reader.__file__, *arguments], check=True)
        with open(path + ".plain", "rb") as file:
            plain = file.read()
        size = len(plain) // int(vector.one("pages"))
        pages = [plain[at : at + size] for at in range(0, len(plain), size)]
        found = [f"{page_no} {sha256(page).hex()}" for page_no, page in enumerate(pages, 1)]
        assert found == vector.all("page"), "the program wrote other pages"


AREAS = ("superblock", "slot", "origin", "page", "wal", "journal", "exported")


def names_of(*areas):
    for area in areas:
        for file in os.listdir(os.path.join(VECTORS, area)):
            if file.endswith(".vec"):
                yield os.path.join(area, file)


def pytest_generate_tests(metafunc):
    metafunc.parametrize("name", sorted(names_of(*AREAS)))


def test_vector_is_answered_as_it_says(name):
    vector = Vector(os.path.join(VECTORS, name))
    assert not vector.body, "bytes behind the last extent"
    if primitives.pyrage is None and vector.one("key").startswith("age "):
        raise unittest.SkipTest("no pyrage")
    found = list(differences(vector))
    assert not found, "; ".join(found)
    if name.endswith("good.vec") and "exported" not in vector.files:
        check_command_line(vector)


def main():
    passed, failed, skipped = 0, 0, 0
    for name in sorted(names_of(*AREAS)):
        try:
            test_vector_is_answered_as_it_says(name)
            passed += 1
        except unittest.SkipTest:
            skipped += 1
        except Exception as error:  # a reader that raises anything else is as wrong as one that answers wrongly
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped (no pyrage)" if skipped else ""))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()

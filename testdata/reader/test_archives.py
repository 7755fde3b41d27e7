"""Opens every vector of archives and of what was followed: python3 testdata/reader/test_archives.py

Prints "N passed, 0 failed", and exits with 1 if one failed. pytest runs it too, each vector by its name.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import primitives
import selenite_archive as archive
from primitives import sha256
from row_digest import row_digest
from selenite_reader import Refused
from test_vectors import VECTORS, Vector, check_with_sqlite, names_of


class Place(Vector):
    """A vector of objects: a place that keeps backups."""

    def __init__(self, name, known):
        super().__init__(os.path.join(VECTORS, name))
        self.objects, shared = {}, dict(known)
        for line, value in self.lines:
            if line == "shared":
                object_name, size, vector, there = value.split(" ")
                if vector not in shared:
                    shared[vector] = Place(vector + ".vec", shared).objects
                self.objects[object_name] = shared[vector][there][: int(size)]
                assert len(self.objects[object_name]) == int(size), "it shares more than there is"
            elif line == "object":
                object_name, size = value.split(" ")
                self.objects[object_name], self.body = self.body[: int(size)], self.body[int(size) :]
        assert not self.body, "bytes behind the last object"


def answer(vector):
    """The archive, and what it was restored to."""
    name, key = vector.one("archive"), vector.key()
    opened = archive.Archive(vector.objects, name, key)
    if vector.one("origin") == "own":
        archive.check_origins(opened, key)
    log = None
    if vector.one("log"):
        at = None if vector.one("log") == "last" else int(vector.one("log"))
        log = archive.Log(opened, at)
        chosen = archive.database_at(vector.objects, key, at)
        assert chosen[0].name == name and chosen[1].pages == log.pages, "another archive tells of a later moment"
    return opened, archive.Restored(opened, key, log)


def check(vector):
    expected = vector.one("expect")
    try:
        opened, restored = answer(vector)
    except Refused as refused:
        assert str(refused) == expected, f"{str(refused)!r}, not {expected!r}"
        return
    assert expected == "ok", f"it was restored, not {expected!r}"
    found = [f"{page_no} {sha256(page).hex() if page else 'missing'}" for page_no, page in restored.pages.items()]
    assert str(restored.page_count) == vector.one("pages") and found == vector.all("page"), f"other pages: {found}"
    assert opened.is_for(vector.all("recipient")) and not opened.is_for(["age1other"]), "for other recipients"
    if vector.one("integrity"):
        check_with_sqlite(restored.pages.values())
    if vector.one("rows"):
        check_rows(restored, vector.one("rows"))


def check_rows(restored, expected):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plain.db")
        with open(path, "wb") as file:
            file.write(restored.plain())
        database = sqlite3.connect(path)
        found = row_digest(database)
        database.close()
    assert found == restored.row_digest and found.hex() == expected, f"a digest of other rows: {found.hex()}"


def check_command_line(vector):
    """The reader as a program, on a folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in vector.objects.items():
            path = os.path.join(folder, "place", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        key, plain = os.path.join(folder, "key"), os.path.join(folder, "plain")
        with open(key, "w", encoding="ascii") as file:
            file.write(vector.key()[1].hex() + "\n")
        named = [] if vector.one("log") else [vector.one("archive")]
        arguments = [os.path.join(folder, "place"), *named, "--raw-key", key, "--out", plain]
        arguments += ["--origin", vector.one("origin") or "any"]
        subprocess.run([sys.executable, archive.__file__, *arguments], check=True)
        with open(plain, "rb") as file:
            data = file.read()
    size = len(data) // int(vector.one("pages"))
    pages = [data[at : at + size] for at in range(0, len(data), size)]
    found = [f"{page_no} {sha256(page).hex()}" for page_no, page in enumerate(pages, 1)]
    assert found == vector.all("page"), "the program wrote other pages"


def pytest_generate_tests(metafunc):
    metafunc.parametrize("name", sorted(names_of("archive", "log")))


def test_vector_is_answered_as_it_says(name):
    vector = Place(name, {})
    if primitives.pyrage is None and vector.one("key").startswith("age "):
        raise unittest.SkipTest("no pyrage")
    check(vector)
    if name.endswith(("good.vec", "own.vec")):
        check_command_line(vector)


def main():
    passed, failed, skipped = 0, 0, 0
    for name in sorted(names_of("archive", "log")):
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

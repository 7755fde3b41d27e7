"""Makes the files here: exported keys (FORMAT 13), good and bad. Run by hand, once, from the root: age draws its own nonces,
and vectors are never changed. Needs pyrage and cryptography."""

import hashlib
import os
import sys

import pyrage

sys.path.insert(0, "testdata/reader")
from primitives import expand, extract  # noqa: E402

MADE, CREATED = 1_700_000_600, 1_700_000_000


def named(size, name):
    return hashlib.sha256(b"selenite vector " + name.encode()).digest()[:size]


def record(magic=b"selenite mkey 1\n", database="database id", master="master key"):
    database, master = named(16, database), named(32, master)
    commitment = expand(extract(database, master), b"selenite/1 commitment", 32)
    return magic + database + master + MADE.to_bytes(8, "big") + CREATED.to_bytes(8, "big") + commitment


def main():
    with open("testdata/age/recipient.txt", encoding="ascii") as file:
        recipient = pyrage.x25519.Recipient.from_str(file.read().strip())
    stranger = pyrage.x25519.Identity.generate().to_public()
    good = record()
    files = {
        "good": pyrage.encrypt(good, [recipient]),
        "short": pyrage.encrypt(good[:-1], [recipient]),
        "long": pyrage.encrypt(good + b"\0", [recipient]),
        "magic": pyrage.encrypt(record(magic=b"selenite mkey 2\n"), [recipient]),
        "commitment": pyrage.encrypt(good[:-1] + bytes([good[-1] ^ 1]), [recipient]),
        "elsewhere": pyrage.encrypt(record(database="another database id"), [recipient]),
        "other": pyrage.encrypt(record(master="another master key"), [recipient]),
        "closed": pyrage.encrypt(good, [stranger]),
        "armored": pyrage.encrypt(good, [recipient], armored=True),
    }
    for name, data in files.items():
        with open(os.path.join("testdata/exported", name + ".age"), "xb") as file:
            file.write(data)


if __name__ == "__main__":
    main()

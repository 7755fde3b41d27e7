"""Makes the files here: traces (FORMAT 14), good and bad, and what a reader finds in them. Run by hand, once, from the root:
age draws its own nonces, and vectors are never changed. Needs pyrage and cryptography."""

import hashlib
import json
import os
import sys

import pyrage
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

sys.path.insert(0, "testdata/reader")
from primitives import expand, extract  # noqa: E402

FIRST = 1_700_000_000_000_000
RECORDS = [
    [1, FIRST, 1, 1, 0],
    [1, FIRST + 5, 2, 1, 1],
    [1, FIRST + 6, 3, 0, 3],
    [8, FIRST + 90, 1],
    [2, FIRST + 127, 1, 4096, 4096],
    [2, FIRST + 300, 1, (1 << 40) + 8192, 65536],
    [3, FIRST + 400, 2, 32, 4120],
    [6, FIRST + 401, 1, 1],
    [4, FIRST + 20_000, 2],
    [9, FIRST + 20_001, 7, 80],
    [10, FIRST + 20_002, 7, 4096],
]
LATER = [[3, FIRST + 30_000_000, 1, 4096, 4096], [5, FIRST + 30_000_001, 1], [7, FIRST + 30_000_001]]


def named(size, name):
    return hashlib.sha256(b"selenite vector " + name.encode()).digest()[:size]


def leb(value):
    data = b""
    while value >= 0x80:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def section(records):
    data, last = b"", 0
    for kind, time, *numbers in records:
        data += bytes([kind]) + leb(time - last) + b"".join(map(leb, numbers))
        last = time
    return data


def header(recipient, magic=b"selenite-trace-1"):
    wrapped = pyrage.encrypt(named(32, "trace key"), [recipient])
    return magic + named(16, "trace id") + named(16, "trace salt") + len(wrapped).to_bytes(2, "big") + wrapped


def sealed(number, plain):
    key = expand(extract(named(16, "trace id"), named(32, "trace key")), b"selenite/1 trace" + named(16, "trace salt"), 32)
    data = AESGCM(key).encrypt(bytes(7) + number.to_bytes(4, "big") + b"\0", plain, None)
    return len(data).to_bytes(4, "big") + data


def main():
    with open("testdata/age/recipient.txt", encoding="ascii") as file:
        recipient = pyrage.x25519.Recipient.from_str(file.read().strip())
    head = header(recipient)
    one, two = sealed(0, section(RECORDS)), sealed(1, section(LATER))
    flipped = bytes([*two[:-1], two[-1] ^ 1])
    stranger = header(pyrage.x25519.Identity.generate().to_public())
    cases = {
        "good": ("ok", head + one + two, RECORDS + LATER),
        "empty": ("ok", head, []),
        "cut": ("ok", head + one + two[:-1], RECORDS),
        "cut-size": ("ok", head + one + two[:3], RECORDS),
        "altered": ("not authentic", head + one + flipped, RECORDS),
        "swapped": ("not authentic", head + two + one, []),
        "missing": ("not authentic", head + two, []),
        "twice": ("not authentic", head + one + one, RECORDS),
        "large": ("no trace", head + one + ((1 << 20) + 1).to_bytes(4, "big"), RECORDS),
        "kind": ("no trace", head + sealed(0, section(RECORDS) + b"\x0b\x00"), []),
        "role": ("no trace", head + sealed(0, section([[1, FIRST, 1, 1, 4]])), []),
        "zeros": ("no trace", head + sealed(0, b"\x05" + leb(FIRST) + b"\x81\x00"), []),
        "over": ("no trace", head + sealed(0, b"\x05" + leb(FIRST) + leb(1 << 32)), []),
        "magic": ("no trace", header(recipient, b"selenite-trace-2"), []),
        "short": ("no trace", head[:-1], []),
        "closed": ("wrong key", stranger + one, []),
    }
    for name, (_, data, _) in cases.items():
        with open(os.path.join("testdata/trace", name + ".trace"), "xb") as file:
            file.write(data)
    with open("testdata/trace/expected.json", "x", encoding="ascii") as file:
        found = {name: {"expect": expect, "records": records} for name, (expect, _, records) in cases.items()}
        json.dump(found, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()

"""Reads a trace (FORMAT 14): python3 testdata/reader/selenite_trace.py TRACE AGE-SECRET-KEY-...

Written from FORMAT.md alone. Prints the records, a JSON list in each line.
"""

import json
import sys

import primitives
from primitives import Unauthentic, expand, extract
from selenite_reader import Refused

# The numbers behind the time, and the largest of each, by the kind of a record.
WORD, LONG = (1 << 32) - 1, (1 << 64) - 1
KINDS = {
    1: [WORD, WORD, 3],
    2: [WORD, LONG, WORD],
    3: [WORD, LONG, WORD],
    4: [WORD],
    5: [WORD],
    6: [WORD, WORD],
    7: [],
    8: [WORD],
    9: [WORD, WORD],
    10: [WORD, WORD],
}
SECTION_MAX = 1_048_576


def must(condition):
    if not condition:
        raise Refused("no trace")


def records(data, identity):
    """Yields the records; refuses what is wrong when it is reached."""
    must(data[:16] == b"selenite-trace-1" and len(data) >= 50)
    size = int.from_bytes(data[48:50], "big")
    must(len(data) >= 50 + size)
    trace_id, salt, wrapped, rest = data[16:32], data[32:48], data[50 : 50 + size], data[50 + size :]
    try:
        key = primitives.open_age(identity, wrapped)
    except Unauthentic:
        raise Refused("wrong key") from None
    key = expand(extract(trace_id, key), b"selenite/1 trace" + salt, 32)
    number = 0
    while len(rest) >= 4:
        size = int.from_bytes(rest[:4], "big")
        must(size <= SECTION_MAX)
        sealed, rest = rest[4 : 4 + size], rest[4 + size :]
        if len(sealed) < size:
            return
        try:
            plain = primitives.open_gcm(key, bytes(7) + number.to_bytes(4, "big") + b"\0", None, sealed)
        except Unauthentic:
            raise Refused("not authentic") from None
        yield from section(plain)
        number += 1


def section(plain):
    """The records of a section: all of them, or none."""
    found, time = [], 0
    while plain:
        must(plain[0] in KINDS)
        kind, plain = plain[0], plain[1:]
        numbers = []
        for most in [LONG, *KINDS[kind]]:
            value, plain = leb(plain)
            must(value <= most)
            numbers.append(value)
        time += numbers[0]
        must(time <= LONG)
        found.append([kind, time, *numbers[1:]])
    return found


def leb(data):
    value, shift = 0, 0
    while True:
        must(data)
        byte, data = data[0], data[1:]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            must(byte or not shift)
            return value, data
        shift += 7


def main():
    path, identity = sys.argv[1:]
    with open(path, "rb") as file:
        for record in records(file.read(), identity):
            print(json.dumps(record))


if __name__ == "__main__":
    main()

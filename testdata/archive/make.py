"""Makes the files here. Run by hand, once, from the root: vectors are never changed. Needs zstd 1.5.4 and pyrage."""

import hashlib
import subprocess

import pyrage


def named(size, name):
    return hashlib.sha256(b"selenite vector " + name.encode()).digest()[:size]


def word(value):
    return value.to_bytes(4, "big")


def main():
    with open("testdata/sqlite/sample.db", "rb") as file:
        pages = file.read()
    numbers = range(1, len(pages) // 1024 + 1)
    marks = b"".join(named(8, f"mark of page {page_no}") for page_no in numbers)
    block = word(len(numbers)) + b"".join(map(word, numbers)) + marks + pages
    packed = subprocess.run(["zstd", "-c", "-19"], input=block, stdout=subprocess.PIPE, check=True).stdout
    with open("testdata/archive/pages.zst", "xb") as file:
        file.write(packed)
    with open("testdata/age/recipient.txt", encoding="ascii") as file:
        recipient = pyrage.x25519.Recipient.from_str(file.read().strip())
    with open("testdata/archive/key.age", "xb") as file:
        file.write(pyrage.encrypt(named(32, "archive key of escrow"), [recipient]))


if __name__ == "__main__":
    main()

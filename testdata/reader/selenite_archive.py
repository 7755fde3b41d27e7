"""Reads backup archives and what was followed: the second reader's part for FORMAT 12, from docs/FORMAT.md alone.

    python3 selenite_archive.py PLACE [DATABASE/TIME-ID] --raw-key FILE --out PLAIN

PLACE is a folder of the objects. It writes SQLite's unencrypted pages, as the archive that is named has them, or, where
none is, as they were last (or --at MILLISECONDS). Needs what selenite_reader.py needs, and the package `zstandard`.
"""

import argparse
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

import primitives
import selenite_reader as reader
import zstandard
from primitives import Unauthentic, expand, extract, hmac_sha256, sha256
from selenite_reader import Refused, number, word

PIECE = BLOCK = 1048576
PAGES, INDEX, MANIFEST, LOG = 1, 2, 3, 4


class Fields:
    """Bytes that are read from the front; whatever is wrong with them refuses `name`."""

    def __init__(self, name, data):
        self.name, self.data, self.at = name, data, 0

    def must(self, condition):
        if not condition:
            raise Refused(f"{self.name} refused")

    def take(self, size):
        self.must(self.at + size <= len(self.data))
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size=4):
        return int.from_bytes(self.take(size), "big")

    def flag(self):
        flag = self.number(1)
        self.must(flag <= 1)
        return flag == 1

    def ascending(self, count):
        """Page numbers, each above the one before and above 0."""
        data = self.take(4 * count)
        numbers = [number(data, at, 4) for at in range(0, len(data), 4)]
        self.must(all(above > below for below, above in zip([0, *numbers], numbers)))
        return numbers

    def end(self):
        self.must(self.at == len(self.data))


# --- FORMAT 12.4: a part


def unpacked(part, block):
    """The bytes of a block; never more than a block may hold."""
    part.must(block[0] <= 1)
    if block[0] == 0:
        return block[1:]
    try:
        plain = zstandard.ZstdDecompressor().stream_reader(block[1:]).read(BLOCK + 1)
        part.must(len(plain) <= BLOCK)
        frame = zstandard.ZstdDecompressor().decompressobj()
        frame.decompress(block[1:])
    except zstandard.ZstdError:
        part.must(False)
    part.must(frame.eof and not frame.unused_data)
    return plain


def blocks(part, content):
    """What is in the blocks of a part's content, in order."""
    fields, found = Fields(part.name, content), []
    while len(content) - fields.at >= 4 and (size := fields.number()):
        part.must(size <= BLOCK + 1)
        found.append(unpacked(part, fields.take(size)))
    part.must(not any(content[fields.at :]) and 1 <= len(found) <= 512)
    return found


def pages_of(part, block, page_size):
    """Pairs of page number and page, and the marks."""
    fields = Fields(part.name, block)
    count = fields.number()
    fields.must(count > 0)
    numbers, marks = fields.ascending(count), fields.take(8 * count)
    pages = [fields.take(page_size) for _ in range(count)]
    fields.end()
    return list(zip(numbers, pages)), [marks[at : at + 8] for at in range(0, len(marks), 8)]


# --- FORMAT 12.3 and 12.5: an archive


class Archive:
    """What opens it, and its manifest. `objects` has bytes by names; `key` is as for a database."""

    def __init__(self, objects, name, key):
        self.objects, self.name = objects, name
        self._open(Fields("begun", self.object("begun")), key)
        self._read_manifest()

    def object(self, name):
        data = self.objects.get(f"{self.name}/{name}")
        if data is None:
            raise Refused(f"{name} missing")
        return data

    def _open(self, begun, key):
        begun.must(begun.take(16) == b"selenite begun 1")
        self.id, self.database, self.begun = begun.take(16), begun.take(16), begun.number(8)
        wrapped, superblock = begun.take(60), begun.take(begun.number())
        count = begun.number()
        begun.must(len(superblock) <= 32768 and count <= 32)
        files = []
        for _ in range(count):
            size = begun.number()
            begun.must(1 <= size <= 8192)
            files.append(begun.take(size))
        self.before_tag = begun.data[: begun.at]
        self.recipients_mac = begun.take(32)
        begun.take(32)
        begun.end()
        begun.must(self._take_key(begun, self._key(begun, key, superblock, wrapped, files)))
        begun.must(self.name == name_of(self.database, self.begun, self.id))
        self.begun_hash = sha256(begun.data)

    def check_origin(self, key):
        """FORMAT 12.8: that of the database. What only a recipient's file opens has none that could be proved."""
        if not self.is_own:
            raise Refused("foreign origin")
        reader.check_origin(reader.Superblock(reader.whole(self.superblock)), self.wrapping_key, key)

    def _key(self, begun, key, superblock, wrapped, files):
        """The archive key: by a slot of the database, or else by one of the files for recipients."""
        self.superblock, self.wrapping_key, self.origin_key = superblock, None, None
        try:
            wrapping_key, prk = wrapping_key_of(begun, self.database, superblock, key)
            opened = primitives.unwrap_gcm(wrapping_key, b"selenite/1 archive key" + self.database + self.id, wrapped)
            self.wrapping_key = wrapping_key
            self.origin_key = expand(prk, b"selenite/1 archive origin" + self.id, 32)
            return opened
        except Unauthentic:
            begun.must(False)
        except Refused as refused:
            for file in files if key[0] == reader.AGE else ():
                try:
                    opened = primitives.open_age(key[1], file)
                except Unauthentic:
                    continue
                # Anyone who knows a recipient can make a file.
                if self._take_key(begun, opened):
                    return opened
            raise refused

    def _take_key(self, begun, key):
        """Whether it is the archive's."""
        self.prk = extract(self.id, key)
        self.mac_key = expand(self.prk, b"selenite/1 archive mac", 32)
        return hmac_sha256(self.mac_key, begun.data[:-32]) == begun.data[-32:]

    def is_for(self, recipients):
        """Whether the archive was begun for exactly these recipients."""
        listed = b"".join(b"\n" + recipient.encode() for recipient in sorted(recipients))
        label = b"selenite/1 archive recipients"
        if self.is_own:
            return hmac_sha256(self.origin_key, label + self.before_tag + listed) == self.recipients_mac
        return hmac_sha256(self.mac_key, label + listed) == self.recipients_mac

    def part(self, name, kind, index, salt=None, part_salt=b""):
        """What is in the blocks of a part. Where the manifest's salt is an origin MAC, every other must be one."""
        part = Fields(name, self.object(name))
        part.must(part.take(16) == b"selenite part 1\n")
        part.must(part.number(1) == kind and part.take(3) == bytes(3) and part.number() == index)
        part.must(part.take(16) == self.id)
        found = part.take(16)
        part.must(salt in (None, found))
        key = expand(self.prk, b"selenite/1 archive part" + bytes([kind]) + word(index) + found, 32)
        count = -(-(len(part.data) - part.at) // (PIECE + 16))
        part.must(1 <= count <= 16)
        content = b""
        for piece in range(count):
            sealed = part.take(min(PIECE + 16, len(part.data) - part.at))
            nonce = bytes(7) + word(piece) + bytes([piece == count - 1])
            try:
                content += primitives.open_gcm(key, nonce, b"", sealed)
            except Unauthentic:
                part.must(False)
        is_own = self.origin_key is not None and (
            hmac_sha256(self.origin_key, part.data[:40] + part_salt + content)[:16] == found
        )
        if kind == MANIFEST:
            self.is_own = is_own
        part.must(is_own or not self.is_own)
        return part, blocks(part, content)

    def _read_manifest(self):
        part, found = self.part("manifest", MANIFEST, 0)
        fields = Fields("manifest", b"".join(found))
        fields.must(fields.take(32) == self.begun_hash)
        self.base = (fields.take(16), fields.take(32)) if fields.flag() else None
        self.page_size, self.page_count = fields.number(), fields.number()
        fields.must(self.page_size in reader.POWERS_OF_TWO[10:])
        self.change_counter, self.generation, self.taken = fields.number(), fields.number(8), fields.number(8)
        self.place = fields.take(12) if fields.flag() else None
        self.row_digest = fields.take(32) if fields.flag() else None
        self.part_salts = [fields.take(16) for _ in range(fields.number())]
        self.index_salts = [fields.take(16) for _ in range(fields.number())]
        fields.must(len(self.part_salts) == len(self.index_salts))
        self.missing = fields.ascending(fields.number())
        fields.must(not self.missing or self.missing[-1] <= self.page_count)
        fields.end()
        self.manifest_hash = sha256(part.data)

    def pages(self):
        """Every page that the archive has; each part is compared with its index."""
        found = {}
        for index, salt in enumerate(self.part_salts):
            part, contents = self.part(f"part-{index:08}", PAGES, index, salt)
            listed = []
            for block in contents:
                pages, marks = pages_of(part, block, self.page_size)
                found.update(pages)
                listed += [(page_no, mark) for (page_no, _), mark in zip(pages, marks)]
            part, contents = self.part(f"index-{index:08}", INDEX, index, self.index_salts[index], salt)
            indexed = []
            for block in contents:
                fields = Fields(part.name, block)
                numbers = [fields.number() for _ in range(fields.number())]
                indexed += [(page_no, fields.take(8)) for page_no in numbers]
                fields.end()
            part.must(indexed == listed)
        return found


def name_of(database, begun, archive):
    when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(begun))
    return f"{database.hex()}/{when}-{archive[:8].hex()}"


def wrapping_key_of(begun, database, data, key):
    """The wrapping key of the database whose superblock this is, and what it is derived from."""
    data = reader.whole(data)
    begun.must(data is not None)
    superblock = reader.Superblock(data)
    begun.must(superblock.id == database)
    prk, end = extract(superblock.id, reader.master_key(superblock, key)), len(data) - 64
    begun.must(hmac_sha256(expand(prk, b"selenite/1 superblock mac", 32), data[:end]) == data[end : end + 32])
    return expand(prk, b"selenite/1 key wrap", 32), prk


# --- FORMAT 12.6: what was written afterwards


@dataclass
class Turn:
    time: int
    begins: bytes
    ends: bytes
    page_count: int


class Log:
    """The whole turns behind an archive, as far as they are not later than `at` (milliseconds)."""

    def __init__(self, archive, at=None):
        self.archive, self.at = archive, at
        self.pages, self.page_count, self.turn = {}, archive.page_count, None
        if archive.place is not None:
            self._read()

    def _read(self):
        before, latest, begun, gathered = self.archive.manifest_hash, 0, None, {}
        for index in range(max(log_numbers(self.archive), default=-1) + 1):
            name = f"log-{index:08}"
            if f"{self.archive.name}/{name}" not in self.archive.objects:
                raise Refused(f"{name} refused")
            part, contents = self.archive.part(name, LOG, index)
            part.must(contents)
            turn, first, last = facts_of(part, contents.pop(), before)
            before = sha256(part.data)
            part.must(turn.time >= latest)
            latest = turn.time
            if self.at is not None and turn.time > self.at:
                return
            if first:
                # Of the manifest's place the checksum is not known.
                ended = self.turn.ends if self.turn else self.archive.place
                part.must(turn.begins.startswith(ended))
                begun, gathered = turn, {}
            part.must(turn == begun)
            gathered.update(self._pages(part, contents))
            if last:
                self.pages.update(gathered)
                self.turn, self.page_count, begun = turn, turn.page_count, None

    def _pages(self, part, contents):
        found = [page for block in contents for page in pages_of(part, block, self.archive.page_size)[0]]
        numbers = [page_no for page_no, _ in found]
        part.must(all(below < above for below, above in zip(numbers, numbers[1:])))
        return found

    def is_after(self, other):
        """Whether it tells of a later moment than another archive with its log. Manifests tell seconds."""
        second, others = self._second(), other._second()
        if second != others:
            return second > others
        place, others = self._place(), other._place()
        if place and others and place[:8] == others[:8]:
            return place[8:12] > others[8:12]
        return bool(self.turn and other.turn) and self.turn.time > other.turn.time

    def _second(self):
        return self.turn.time // 1000 if self.turn else self.archive.taken

    def _place(self):
        return self.turn.ends if self.turn else self.archive.place


def facts_of(part, block, before):
    fields = Fields(part.name, block)
    fields.must(fields.take(32) == before)
    turn = Turn(fields.number(8), fields.take(20), fields.take(20), fields.number())
    bits = fields.number(1)
    fields.end()
    fields.must(bits <= 3)
    for place in turn.begins, turn.ends:
        fields.must(any(place[8:12]) or not any(place[12:]))
    return turn, bits & 1, bits & 2


def log_numbers(archive):
    names = [name.removeprefix(archive.name + "/log-") for name in archive.objects]
    return [int(name) for name in names if len(name) == 8 and name.isdigit()]


# --- FORMAT 12.8: reading


def chain_of(archive, key):
    """The archive and all that it rests on."""
    chain, seen = [archive], {archive.id}
    while chain[-1].base:
        base_id, manifest_hash = chain[-1].base
        base = base_of(archive, base_id, key)
        if base.id in seen or manifest_hash != base.manifest_hash:
            raise Refused("base refused")
        if base.database != archive.database or base.page_size != archive.page_size:
            raise Refused("base refused")
        seen.add(base.id)
        chain.append(base)
    return chain


def check_origins(archive, key):
    """That of an archive on which another rests: the hash in the manifest says which superblock it has."""
    archive.check_origin(key)
    if not all(link.is_own for link in chain_of(archive, key)):
        raise Refused("foreign origin")


def base_of(archive, base_id, key):
    for name in names_in(archive.objects):
        if name.startswith(archive.database.hex()) and name.endswith("-" + base_id[:8].hex()):
            if f"{name}/manifest" not in archive.objects:
                raise Refused("base refused")
            base = Archive(archive.objects, name, key)
            if base.id == base_id:
                return base
    raise Refused("base missing")


def names_in(objects):
    return sorted({name.rpartition("/")[0] for name in objects if name.endswith("/begun")})


class Restored:
    """The pages of an archive, and of what was followed where `log` is given; None for a page that is missing."""

    def __init__(self, archive, key, log=None):
        self.page_size, self.row_digest = archive.page_size, archive.row_digest
        self.page_count = log.page_count if log else archive.page_count
        found = self._below(archive, key)
        if log:
            found.update(log.pages)
        self.pages = {}
        for page_no in range(1, self.page_count + 1):
            if page_no > archive.page_count or page_no == 1073741824 // self.page_size + 1:
                self.pages[page_no] = found.get(page_no) or bytes(self.page_size)
            elif page_no in found or page_no in archive.missing:
                self.pages[page_no] = found.get(page_no)
            else:
                raise Refused("incomplete")

    def _below(self, archive, key):
        """Every page of the archive and all that it rests on, but for those above its page count."""
        found, gone = {}, set()
        for link in chain_of(archive, key):
            gone |= set(link.missing) - found.keys()
            for page_no, page in link.pages().items():
                if page_no not in gone and page_no <= archive.page_count:
                    found.setdefault(page_no, page)
        return found

    def plain(self):
        return b"".join(page or bytes(self.page_size) for page in self.pages.values())


def database_at(objects, key, at=None):
    """The archive of which the database at a time is, and its log."""
    best = None
    for name in names_in(objects):
        if f"{name}/manifest" in objects:
            archive = Archive(objects, name, key)
            if at is None or archive.taken * 1000 <= at:
                log = Log(archive, at)
                # Of two of one moment the one with the later name.
                if best is None or not best[1].is_after(log):
                    best = archive, log
    if best is None:
        raise Refused("no backup")
    return best


class Folder(Mapping):
    """Objects that are files below a folder."""

    def __init__(self, path):
        self.path = path

    def __getitem__(self, name):
        try:
            with open(os.path.join(self.path, name), "rb") as file:
                return file.read()
        except FileNotFoundError as error:
            raise KeyError(name) from error

    def __iter__(self):
        for folder, _, files in os.walk(self.path):
            yield from (os.path.relpath(os.path.join(folder, file), self.path) for file in files)

    def __len__(self):
        return sum(1 for _ in self)


def main():
    parser = argparse.ArgumentParser(description="Decrypts a backup of a Selenite database.")
    parser.add_argument("place")
    parser.add_argument("archive", nargs="?")
    parser.add_argument("--at", type=int, metavar="MILLISECONDS")
    parser.add_argument("--raw-key", metavar="FILE", help="32 bytes, or 64 hexadecimal digits")
    parser.add_argument("--passphrase", metavar="FILE")
    parser.add_argument("--age-identity", metavar="FILE")
    parser.add_argument("--origin", default="own", choices=["own", "any"])
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    objects, key = Folder(arguments.place), reader.key_of(parser, arguments)
    try:
        if arguments.archive:
            archive, log = Archive(objects, arguments.archive, key), None
        else:
            archive, log = database_at(objects, key, arguments.at)
        if arguments.origin == "own":
            check_origins(archive, key)
        with open(arguments.out, "xb") as out:
            out.write(Restored(archive, key, log).plain())
    except Refused as refused:
        sys.exit(f"{arguments.place}: {refused}")


if __name__ == "__main__":
    main()

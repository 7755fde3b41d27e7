"""Reads a Selenite database: a second reader, written from docs/FORMAT.md alone.

    python3 selenite_reader.py DATABASE --raw-key FILE --out PLAIN

writes SQLite's unencrypted pages, with what DATABASE-wal commits or DATABASE-journal rolls back: SQLite opens them. The
key may instead be --passphrase FILE or --age-identity FILE; a database that the age identity did not make or accept
(FORMAT 4.7) needs --origin any. It is short and slow, wipes no secret from its own memory
and takes no lock: use it on copies. Needs the package `cryptography` (46 or later), and `pyrage` for age.
"""

import argparse
import os
import sys
from dataclasses import dataclass

import primitives
from primitives import Unauthentic, expand, extract, sha256

PREFIX = 65536
MAGIC = b"Selenite\r\n\x1a\n" + bytes(4)
RAW, PASSPHRASE, AGE = 1, 2, 3
# No kind of slot: the pair of database id and master key in an exported key.
EXPORTED = "exported"
STEADY, SWITCHING_ON, SWITCHING_OFF, CHANGING, FINISHING, RETIRED = range(6)
NONE, AEGIS_128X4, AEGIS_256X4, CHACHA20, TRIPLE_DES, CTR_HMAC = 0, 4, 5, 6, 7, 8
POWERS_OF_TWO = [1 << bit for bit in range(17)]
KEY_SIZES = {0: 0, 1: 16, 2: 24, 3: 32, 4: 16, 5: 32, 6: 32, 7: 80, 8: 64}


class Refused(Exception):
    """Its text is the error's name in FORMAT 9."""


class FileBytes:
    """A file: anything that has a size and reads bytes at an offset, fewer at the end."""

    def __init__(self, path):
        self.file = open(path, "rb")
        self.size = os.fstat(self.file.fileno()).st_size

    def read(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)


def number(data, offset, size):
    return int.from_bytes(data[offset : offset + size], "big")


def word(value, size=4):
    return value.to_bytes(size, "big")


# --- FORMAT 3: the superblock


def whole(place):
    """The bytes of a whole superblock, or None."""
    size = number(place, 24, 4)
    if len(place) < 512 or place[:16] != MAGIC or size not in range(512, 32769, 512) or len(place) < size:
        return None
    return place[:size] if sha256(place[: size - 32]) == place[size - 32 : size] else None


def cut_off(place):
    return all(byte in (0, of_magic) for byte, of_magic in zip(place[:16], MAGIC))


def choose(file):
    """Which superblock counts, "A" or "B", and its bytes; None for an empty file."""
    places = {"A": file.read(0, 32768), "B": file.read(32768, 32768)}
    found = {name: superblock for name, place in places.items() if (superblock := whole(place))}
    if found:
        # Of equal generations the first, A, is what max gives back.
        name = max(found, key=lambda name: number(found[name], 32, 8))
        return name, found[name]
    if file.size <= PREFIX and all(map(cut_off, places.values())):
        return None
    if any(place.startswith(MAGIC) for place in places.values()):
        raise Refused("damaged superblock")
    raise Refused("not encrypted")


def must(condition):
    if not condition:
        raise Refused("tampered superblock")


@dataclass
class Epoch:
    number: int
    suite: int
    wrapped: bytes


@dataclass
class Slot:
    kind: int
    id: bytes
    identifier: bytes
    parameters: bytes
    wrapped: bytes


class Superblock:
    def __init__(self, data):
        if number(data, 18, 2) > 1:
            raise Refused("unsupported version")
        must(data[16:20] == b"\x02\0\0\1")
        for start, end in (20, 24), (28, 32), (88, 128), (188, 192):
            must(not any(data[start:end]))
        self.generation = number(data, 32, 8)
        self.id = data[40:56]
        self.page_size = number(data, 56, 4)
        self.state = data[61]
        flags = number(data, 62, 2)
        self.pages_exist = flags == 1
        self.epoch_max = number(data, 64, 4)
        self.cursor = number(data, 72, 4)
        self.log_key = data[128:188]
        must(self.generation > 0 and self.page_size in POWERS_OF_TWO[10:])
        must(data[60] == 48 and self.state <= RETIRED and flags <= 1)
        must(self.state not in (STEADY, RETIRED) or self.cursor == 0)
        epoch_count, slot_count = number(data, 76, 2), number(data, 78, 2)
        must(1 <= epoch_count <= 2 and 1 <= slot_count <= 32)
        end = len(data) - 64
        self.epochs = [self._epoch(data[at : at + 80]) for at in range(192, 192 + 80 * epoch_count, 80)]
        numbers = {epoch.number for epoch in self.epochs}
        must(len(numbers) == epoch_count and number(data, 68, 4) in numbers)
        must(self.state != CHANGING or all(epoch.suite != NONE for epoch in self.epochs))
        self.slots = []
        at = 192 + 80 * epoch_count
        for _ in range(slot_count):
            slot, at = self._slot(data[:end], at)
            self.slots.append(slot)
        must(len({slot.id for slot in self.slots}) == slot_count)
        must(not any(data[at:end]))

    def _epoch(self, data):
        must(not any(data[6:8] + data[76:80]))
        epoch = Epoch(number(data, 0, 4), number(data, 4, 2), data[16:76])
        must(1 <= epoch.number <= self.epoch_max and epoch.suite in KEY_SIZES)
        return epoch

    def _slot(self, data, at):
        must(at + 48 <= len(data))
        head = data[at : at + 48]
        must(not any(head[6:8] + head[40:48]))
        sizes = [number(head, offset, 2) for offset in (32, 34, 36, 38)]
        must(all(size <= limit for size, limit in zip(sizes, (64, 512, 64, 8192))) and sizes[3] > 0)
        must(number(head, 0, 4) == 48 + sum(sizes) and at + 48 + sum(sizes) <= len(data))
        at, parts = at + 48, []
        for size in sizes:
            parts.append(data[at : at + size])
            at += size
        try:
            parts[0].decode()
        except UnicodeDecodeError:
            must(False)
        return Slot(number(head, 4, 2), head[8:24], *parts[1:]), at


# --- FORMAT 4: keys


def master_key(superblock, key):
    """The master key from the first slot that `key`, a pair of kind and secret, opens."""
    if key[0] == EXPORTED:
        if key[1][0] != superblock.id:
            raise Refused("another database")
        return key[1][1]
    for slot in superblock.slots:
        try:
            if slot.kind == key[0]:
                plain = slot_plain(superblock, slot, key[1])
                if plain[:32] == superblock.id + slot.id and len(plain) == 64:
                    return plain[32:]
        except Unauthentic:
            pass
    raise Refused("wrong key")


def slot_plain(superblock, slot, secret):
    if slot.kind == AGE:
        return primitives.open_age(secret, slot.wrapped)
    if slot.kind == RAW:
        if expand(extract(b"", secret), b"selenite/1 key id", 16) != slot.identifier:
            raise Unauthentic
        kek = expand(extract(slot.id, secret), b"selenite/1 slot raw", 32)
    elif len(slot.parameters) == 20:
        iterations = number(slot.parameters, 0, 4)
        if len(slot.wrapped) != 92 or not 600000 <= iterations <= 16777216:
            raise Refused("key refused")
        kek = primitives.pbkdf2(secret, slot.parameters[4:], iterations)
    else:
        memory, passes, lanes = (number(slot.parameters, at, 4) for at in (0, 4, 8))
        cheap = 8192 <= memory <= 1048576 and 1 <= passes <= 16 and 1 <= lanes <= 16
        if len(slot.parameters) != 28 or len(slot.wrapped) != 92 or not cheap:
            raise Refused("key refused")
        kek = primitives.argon2id(secret, slot.parameters[12:], memory, passes, lanes)
    if len(slot.wrapped) != 92:
        raise Unauthentic
    aad = b"selenite/1 slot" + superblock.id + slot.id + word(slot.kind, 2)
    return primitives.unwrap_gcm(kek, aad, slot.wrapped)


def bech32_payload(text):
    """The bytes in a Bech32 text, whose checksum age has checked."""
    digits = ["qpzry9x8gf2tvdw0s3jn54khce6mua7l".index(letter) for letter in text.lower().rpartition("1")[2][:-6]]
    bits = "".join(f"{digit:05b}" for digit in digits)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))


def check_origin(superblock, wrapping_key, key):
    """FORMAT 4.7. Raw keys and passphrases need no mark."""
    if key[0] != AGE:
        return
    origin_key = extract(b"", bech32_payload(key[1]))
    for slot in superblock.slots:
        if slot.kind == AGE and len(slot.parameters) == 60:
            names = superblock.id + slot.id
            try:
                token = primitives.unwrap_gcm(wrapping_key, b"selenite/1 origin mark" + names, slot.parameters)
            except Unauthentic:
                continue
            if token == expand(origin_key, b"selenite/1 origin" + names, 32):
                return
    raise Refused("foreign origin")


# --- FORMAT 13: the exported key


def exported(data, identity):
    """The pair of database id and master key in an exported key."""
    refused = Refused("exported key refused")
    if not data.startswith(b"age-encryption.org/v1\n"):
        raise refused
    try:
        record = primitives.open_age(identity, data)
    except Unauthentic as error:
        raise Refused("wrong key") from error
    if len(record) != 112 or record[:16] != b"selenite mkey 1\n":
        raise refused
    database, master = record[16:32], record[32:64]
    if expand(extract(database, master), b"selenite/1 commitment", 32) != record[80:]:
        raise refused
    return database, master


# --- FORMAT 2 and 5: the database file


class Database:
    """`key` is a pair of kind and secret; `allow` may hold "plain" and "deprecated"; `origin` is "own" or "any"."""

    def __init__(self, file, key, allow=(), origin="own"):
        self.file, self.allow, self.keys = file, allow, {}
        chosen = choose(file)
        if chosen is None:
            raise Refused("empty")
        self.counts, data = chosen
        self.superblock = superblock = Superblock(data)
        prk = extract(superblock.id, master_key(superblock, key))
        end = len(data) - 64
        mac = primitives.hmac_sha256(expand(prk, b"selenite/1 superblock mac", 32), data[:end])
        if key[0] == EXPORTED and mac != data[end : end + 32]:
            raise Refused("another master key")
        must(mac == data[end : end + 32])
        if superblock.state == RETIRED:
            raise Refused("retired")
        if superblock.pages_exist and self.page_count() == 0:
            raise Refused("not encrypted")
        wrapping_key = expand(prk, b"selenite/1 key wrap", 32)
        if origin == "own":
            check_origin(superblock, wrapping_key, key)
        self.data_keys = {}
        try:
            for epoch in superblock.epochs:
                aad = b"selenite/1 data key" + superblock.id + word(epoch.number) + word(epoch.suite, 2)
                key = primitives.unwrap_gcm(wrapping_key, aad, epoch.wrapped)
                self.data_keys[epoch.number] = epoch.suite, extract(superblock.id, key)
            aad = b"selenite/1 log key" + superblock.id
            log_key = extract(superblock.id, primitives.unwrap_gcm(wrapping_key, aad, superblock.log_key))
        except Unauthentic:
            must(False)
        self.frame_key = expand(log_key, b"selenite/1 wal frame", 64)
        self.journal_key = expand(log_key, b"selenite/1 journal checksum", 32)

    def page_count(self):
        page_size = self.superblock.page_size
        count = -(-max(0, self.file.size - PREFIX) // page_size)
        return count - 1 if count == self.lock_page() else count

    def lock_page(self):
        return 1073741824 // self.superblock.page_size + 1

    def image(self, page_no):
        page_size = self.superblock.page_size
        displaced = (1073741824 - PREFIX) // page_size + 1
        place = self.lock_page() if page_no == displaced else page_no
        return self.file.read(PREFIX + (place - 1) * page_size, page_size)

    def page(self, page_no):
        return self.open(page_no, self.image(page_no))

    def check_deprecated(self, epoch):
        if self.data_keys[epoch][0] == TRIPLE_DES and "deprecated" not in self.allow:
            raise Refused("deprecated suite")

    def accepts_none(self, page_no):
        """FORMAT 5.4; only called where an epoch of suite NONE is listed."""
        superblock = self.superblock
        if superblock.state == SWITCHING_ON:
            return page_no > superblock.cursor
        plain = len(superblock.epochs) == 1 and "plain" in self.allow
        return plain or superblock.state in (SWITCHING_OFF, FINISHING)

    def open(self, page_no, image):
        """The page of a sealed image."""
        superblock, epoch = self.superblock, number(image, -48, 4)
        unauthentic = Refused(f"unauthentic page {page_no}")
        if len(image) != superblock.page_size or epoch not in self.data_keys:
            raise unauthentic
        self.check_deprecated(epoch)
        suite, data_key = self.data_keys[epoch]
        if suite == NONE and not self.accepts_none(page_no):
            raise unauthentic
        head, sealed = image[-48:-16], image[:-48] + image[-16:]
        identity = epoch, suite, head[4:20]
        if identity not in self.keys:
            info = b"selenite/1 page" + superblock.id + head[:4] + word(suite, 2) + head[4:20]
            self.keys[identity] = expand(data_key, info, KEY_SIZES[suite])
        aad = word(1, 2) + superblock.id + word(page_no) + word(epoch) + word(suite, 2)
        try:
            return open_page(suite, self.keys[identity], aad, head, sealed) + bytes(48)
        except Unauthentic:
            raise unauthentic from None


def open_page(suite, key, aad, head, sealed):
    nonce = head[20:]
    if suite == NONE:
        if sha256(aad + head + sealed[:-16])[:16] != sealed[-16:]:
            raise Unauthentic
        return sealed[:-16]
    if suite == AEGIS_128X4:
        return primitives.open_aegis_128x4(key, nonce + bytes(4), aad, sealed)
    if suite == AEGIS_256X4:
        return primitives.open_aegis_256x4(key, nonce + bytes(20), aad, sealed)
    if suite == CHACHA20:
        return primitives.open_chacha20(key, nonce, aad, sealed)
    if suite == TRIPLE_DES:
        return primitives.open_triple_des(key, nonce[:8], nonce[8:], aad, head, sealed)
    if suite == CTR_HMAC:
        return primitives.open_ctr_hmac(key, nonce, aad, head, sealed)
    return primitives.open_gcm(key, nonce, aad, sealed)


# --- FORMAT 6: the WAL


def wal_sum(order, seed, data):
    first, second = seed
    for at in range(0, len(data), 8):
        first = first + int.from_bytes(data[at : at + 4], order) + second & 0xFFFFFFFF
        second = second + int.from_bytes(data[at + 4 : at + 8], order) + first & 0xFFFFFFFF
    return first, second


class Wal:
    """The pages that the log commits, their count after that, and how far and why the log goes no further."""

    def __init__(self, database, file):
        self.database, self.file = database, file
        self.pages, self.page_count, self.committed, self.frames, self.end = {}, None, 0, 0, "header"
        self.frame_size = 24 + database.superblock.page_size
        header = file.read(0, 32)
        self.order = {0x377F0682: "little", 0x377F0683: "big"}.get(number(header, 0, 4))
        self.salts = header[16:24]
        if len(header) < 32 or not self.order:
            return
        if wal_sum(self.order, (0, 0), header[:24]) != (number(header, 24, 4), number(header, 28, 4)):
            return
        if number(header, 4, 4) != 3007001 or number(header, 8, 4) != database.superblock.page_size:
            raise Refused("wal refused")
        self.sum = wal_sum(self.order, (0, 0), header[:4] + word(3007000) + header[8:24])
        self._recover()

    def _split(self, index):
        """Page number, size after commit, salts, checksum and image of a frame; the block is opened."""
        frame = self.file.read(32 + index * self.frame_size, self.frame_size)
        tweak = word(index, 8) + frame[:8]
        block = primitives.open_xts(self.database.frame_key, tweak, frame[8:24])
        return number(frame, 0, 4), number(frame, 4, 4), block[:8], block[8:], frame[24:]

    def _recover(self):
        gathered = {}
        while self._goes_on(self.frames):
            page_no, size, _, _, image = self._split(self.frames)
            gathered[page_no] = self.database.open(page_no, image)
            self.frames += 1
            if size:
                self.pages.update(gathered)
                gathered, self.page_count, self.committed = {}, size, self.frames

    def _goes_on(self, index):
        """FORMAT 6.4."""
        database = self.database
        self.end = "file"
        if self.file.size < 32 + (index + 1) * self.frame_size:
            return False
        page_no, size, salts, total, image = self._split(index)
        self.end = "salts"
        if salts != self.salts:
            return False
        self.end, epoch = "epoch", number(image, -48, 4)
        if epoch not in database.data_keys:
            if epoch > database.superblock.epoch_max and self._is_newer(index, image[-48:]):
                raise Refused("wal of another time")
            return False
        database.check_deprecated(epoch)
        self.end = "unauthentic"
        try:
            page = database.open(page_no, image)
        except Refused:
            return False
        self.end = "checksum"
        self.sum = wal_sum(self.order, wal_sum(self.order, self.sum, word(page_no) + word(size)), page)
        return page_no != 0 and b"".join(map(word, self.sum)) == total

    def _is_newer(self, index, trailer):
        """FORMAT 6.4 number 2: whether the next frame is of the same unknown epoch, with another trailer."""
        if self.file.size < 32 + (index + 2) * self.frame_size:
            return False
        _, _, salts, _, image = self._split(index + 1)
        return salts == self.salts and image[-48:-44] == trailer[:4] and image[-48:] != trailer

    def read(self, index):
        """FORMAT 6.5: the page of a frame that recovery has passed."""
        page_no, _, salts, _, image = self._split(index)
        try:
            if salts == self.salts:
                return page_no, self.database.open(page_no, image)
        except Refused:
            pass
        raise Refused(f"unauthentic frame {index}")


# --- FORMAT 7: the rollback journal


class Journal:
    """The pages that the journal rolls back, their count before, and how many records it has."""

    MAGIC = bytes.fromhex("d9d505f920a163d7")

    def __init__(self, database, file):
        self.database, self.file = database, file
        self.pages, self.page_count, self.records = {}, None, 0
        at, sector = 0, 512
        while True:
            at = -(-at // sector) * sector
            header = file.read(at, 28)
            magic = self.MAGIC if at == 0 and header[1:8] == self.MAGIC[1:] else header[:8]
            if len(header) < 28 or magic != self.MAGIC:
                return
            count, self.nonce, page_count, sector_size, page_size = (number(header, o, 4) for o in range(8, 28, 4))
            if at == 0:
                # As readJournalHdr in SQLite: a journal with other sizes is at its end.
                if sector_size not in POWERS_OF_TWO[5:] or page_size not in [0, *POWERS_OF_TWO[9:]]:
                    return
                self.page_count, sector = page_count, sector_size
            at += sector
            record_size = page_size_of(database) + 8
            covered = count != 0xFFFFFFFF
            for _ in range(count if covered else max(0, file.size - at) // record_size):
                if not self._roll_back(file.read(at, record_size), covered):
                    return
                at += record_size

    def _roll_back(self, record, covered):
        """Whether there is a record; FORMAT 7.3."""
        page_no, image = number(record, 0, 4), record[4:-4]
        if len(record) < page_size_of(self.database) + 8 or page_no in (0, self.database.lock_page()):
            return False
        try:
            page = self.database.open(page_no, image)
        except Refused:
            if covered:
                raise
            return False
        mask = number(primitives.cmac(self.database.journal_key, image[-48:-16]), 0, 4)
        total = self.nonce + sum(page[at] for at in range(len(page) - 200, 0, -200)) + mask
        if total & 0xFFFFFFFF != number(record[-4:], 0, 4):
            return False
        if page_no <= self.page_count:
            self.pages.setdefault(page_no, page)
        self.records += 1
        return True

    def super_journal(self):
        """The name at the end, if there is one (SQLite's file format, section 3)."""
        end = self.file.read(self.file.size - 16, 16) if self.file.size > 16 else bytes(16)
        size = number(end, 0, 4)
        name = self.file.read(self.file.size - 16 - size, size) if size < self.file.size - 16 else b""
        return name.decode() if end[8:] == self.MAGIC and sum(name) == number(end, 4, 4) else None


def page_size_of(database):
    return database.superblock.page_size


def plain_pages(database, log):
    """SQLite's pages, in order, as `log` (a Wal, a Journal or None) leaves them."""
    pages = log.pages if log else {}
    count = log.page_count if log and log.page_count is not None else database.page_count()
    for page_no in range(1, count + 1):
        if page_no == database.lock_page():
            yield bytes(page_size_of(database))
        else:
            yield pages.get(page_no) or database.page(page_no)


def main():
    parser = argparse.ArgumentParser(description="Decrypts a Selenite database, with its WAL or journal.")
    parser.add_argument("database")
    parser.add_argument("--raw-key", metavar="FILE", help="32 bytes, or 64 hexadecimal digits")
    parser.add_argument("--passphrase", metavar="FILE")
    parser.add_argument("--age-identity", metavar="FILE")
    parser.add_argument("--allow", action="append", default=[], choices=["plain", "deprecated"])
    parser.add_argument("--origin", default="own", choices=["own", "any"])
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    try:
        file = FileBytes(arguments.database)
        database = Database(file, key_of(parser, arguments), arguments.allow, arguments.origin)
        log = None
        for suffix, kind in ("-wal", Wal), ("-journal", Journal):
            if log is None and os.path.exists(arguments.database + suffix):
                log = kind(database, FileBytes(arguments.database + suffix))
        with open(arguments.out, "xb") as out:
            out.writelines(plain_pages(database, log))
    except Refused as refused:
        sys.exit(f"{arguments.database}: {refused}")


def key_of(parser, arguments):
    if arguments.raw_key:
        with open(arguments.raw_key, "rb") as file:
            data = file.read()
        return RAW, data if len(data) == 32 else bytes.fromhex(data.decode().strip())
    if arguments.passphrase:
        with open(arguments.passphrase, "rb") as file:
            data = file.read()
        return PASSPHRASE, data.removesuffix(b"\r\n" if data.endswith(b"\r\n") else b"\n")
    if arguments.age_identity:
        with open(arguments.age_identity, encoding="utf-8") as file:
            return AGE, next(line.strip() for line in file if line.startswith("AGE-SECRET-KEY-"))
    parser.error("one of --raw-key, --passphrase and --age-identity is needed")


if __name__ == "__main__":
    main()

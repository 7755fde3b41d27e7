"""Computes what crates/storage/cipher must compute, from docs/FORMAT.md sections 4 to 7 alone.

Usage: python3 testdata/generate/cipher_known_answers.py > testdata/vectors/cipher/known_answers.txt

Needs the package `cryptography` (46 or later). The output is frozen: where it changes, the format does.
"""

import hashlib
import hmac

from aegis import seal_128x4, seal_256x4
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id


def u16(x):
    return x.to_bytes(2, "big")


def u32(x):
    return x.to_bytes(4, "big")


def u64(x):
    return x.to_bytes(8, "big")


def run(first, size):
    return bytes((first + i) % 256 for i in range(size))


DATABASE_ID = run(0x10, 16)
SLOT_ID = run(0x20, 16)
SESSION = run(0x30, 16)
SALT = run(0x40, 8)
COUNTER = 0x51525354
EPOCH = 0x61626364
PAGE_NO = 0x71727374
NONCE = run(0x80, 12)
MASTER_KEY = run(0xA0, 32)
DATA_KEY = run(0xB0, 32)
LOG_KEY = run(0xC0, 32)
RAW_KEY = run(0xD0, 32)
PASSPHRASE = "na\u00efve passphrase".encode()
PASSPHRASE_SALT = run(0xE0, 16)
PLAIN = bytes(i * i % 251 for i in range(1024 - 48))
FRAME, COMMIT_SIZE = 0x0102030405060708, 0x090A0B0C
FRAME_BLOCK = run(0xF0, 16)

SUITES = {
    "NONE": (0, 0),
    "AES_128": (1, 16),
    "AES_192": (2, 24),
    "AES_256": (3, 32),
    "AEGIS_128X4": (4, 16),
    "AEGIS_256X4": (5, 32),
    "CHACHA20": (6, 32),
    "TRIPLE_DES_3KEY": (7, 80),
    "AES_256_CTR_HMAC": (8, 64),
}


def hmac_sha256(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def extract(salt, ikm):
    return hmac_sha256(salt, ikm)


def expand(prk, info, size):
    out, block, count = b"", b"", 0
    while len(out) < size:
        count += 1
        block = hmac_sha256(prk, block + info + bytes([count]))
        out += block
    return out[:size]


def wrap(key, associated_data, plain):
    return NONCE + AESGCM(key).encrypt(NONCE, plain, associated_data)


def ecb(algorithm, block):
    encryptor = Cipher(algorithm, modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def triple_des(key, associated_data, head):
    k, v, h = key[:24], key[24:48], key[48:]
    iv = ecb(TripleDES(v), SALT[:4] + u32(COUNTER))
    encryptor = Cipher(TripleDES(k), modes.CBC(iv)).encryptor()
    sealed = encryptor.update(PLAIN) + encryptor.finalize()
    return sealed, hmac_sha256(h, associated_data + head + sealed)[:16]


def ctr_hmac(key, associated_data, head):
    encryptor = Cipher(AES(key[:32]), modes.CTR(SALT + u32(COUNTER) + bytes(4))).encryptor()
    sealed = encryptor.update(PLAIN) + encryptor.finalize()
    return sealed, hmac_sha256(key[32:], associated_data + head + sealed)[:16]


def seal_page(name):
    suite, key_size = SUITES[name]
    info = b"selenite/1 page" + DATABASE_ID + u32(EPOCH) + u16(suite) + SESSION
    key = expand(extract(DATABASE_ID, DATA_KEY), info, key_size)
    associated_data = u16(1) + DATABASE_ID + u32(PAGE_NO) + u32(EPOCH) + u16(suite)
    assert len(associated_data) == 28
    nonce = SALT + u32(COUNTER)
    head = u32(EPOCH) + SESSION + nonce
    match name:
        case "NONE":
            sealed = PLAIN
            tag = hashlib.sha256(associated_data + head + PLAIN).digest()[:16]
        case "AES_128" | "AES_192" | "AES_256":
            both = AESGCM(key).encrypt(nonce, PLAIN, associated_data)
            sealed, tag = both[:-16], both[-16:]
        case "AEGIS_128X4":
            sealed, tag = seal_128x4(key, nonce + bytes(4), associated_data, PLAIN)
        case "AEGIS_256X4":
            sealed, tag = seal_256x4(key, nonce + bytes(20), associated_data, PLAIN)
        case "CHACHA20":
            both = ChaCha20Poly1305(key).encrypt(nonce, PLAIN, associated_data)
            sealed, tag = both[:-16], both[-16:]
        case "TRIPLE_DES_3KEY":
            sealed, tag = triple_des(key, associated_data, head)
        case "AES_256_CTR_HMAC":
            sealed, tag = ctr_hmac(key, associated_data, head)
    return sealed, head + tag


def master_answers():
    m = extract(DATABASE_ID, MASTER_KEY)
    mac_key = expand(m, b"selenite/1 superblock mac", 32)
    wrapping_key = expand(m, b"selenite/1 key wrap", 32)
    yield "mac", hmac_sha256(mac_key, PLAIN)
    yield "commitment", expand(m, b"selenite/1 commitment", 32)
    place = b"selenite/1 data key" + DATABASE_ID + u32(EPOCH) + u16(3)
    yield "wrapped data key", wrap(wrapping_key, place, DATA_KEY)
    yield "wrapped log key", wrap(wrapping_key, b"selenite/1 log key" + DATABASE_ID, LOG_KEY)


def anchor_answers():
    m = extract(DATABASE_ID, MASTER_KEY)
    yield "anchor mac", hmac_sha256(expand(m, b"selenite/1 anchor mac", 32), PLAIN)
    yield "anchor key id", expand(m, b"selenite/1 anchor key id", 16)
    yield "data key id", expand(extract(DATABASE_ID, DATA_KEY), b"selenite/1 data key id", 16)


def origin_answers():
    """FORMAT 4.7. The bytes of the raw key stand for those of an age identity."""
    token = expand(extract(b"", RAW_KEY), b"selenite/1 origin" + DATABASE_ID + SLOT_ID, 32)
    yield "origin token", token
    wrapping_key = expand(extract(DATABASE_ID, MASTER_KEY), b"selenite/1 key wrap", 32)
    yield "origin mark", wrap(wrapping_key, b"selenite/1 origin mark" + DATABASE_ID + SLOT_ID, token)


def slot_answers():
    plain = DATABASE_ID + SLOT_ID + MASTER_KEY
    place = b"selenite/1 slot" + DATABASE_ID + SLOT_ID
    yield "raw key id", expand(extract(b"", RAW_KEY), b"selenite/1 key id", 16)
    kek = expand(extract(SLOT_ID, RAW_KEY), b"selenite/1 slot raw", 32)
    yield "raw slot", wrap(kek, place + u16(1), plain)
    kek = Argon2id(salt=PASSPHRASE_SALT, length=32, iterations=3, lanes=2, memory_cost=8192)
    yield "passphrase slot", wrap(kek.derive(PASSPHRASE), place + u16(2), plain)
    kek = hashlib.pbkdf2_hmac("sha256", PASSPHRASE, PASSPHRASE_SALT, 600000)
    yield "pbkdf2 slot", wrap(kek, place + u16(2), plain)


def page_answers():
    for name in SUITES:
        sealed, trailer = seal_page(name)
        yield f"{name} trailer", trailer
        yield f"{name} sealed", hashlib.sha256(sealed).digest()


def log_answers():
    g = extract(DATABASE_ID, LOG_KEY)
    frame_key = expand(g, b"selenite/1 wal frame", 64)
    tweak = u64(FRAME) + u32(PAGE_NO) + u32(COMMIT_SIZE)
    encryptor = Cipher(AES(frame_key), modes.XTS(tweak)).encryptor()
    yield "frame block", encryptor.update(FRAME_BLOCK) + encryptor.finalize()
    cmac = CMAC(AES(expand(g, b"selenite/1 journal checksum", 32)))
    cmac.update(seal_page("AES_256")[1][:32])
    yield "journal mask", cmac.finalize()[:4]


def main():
    print("# Made by testdata/generate/cipher_known_answers.py, which says from what.")
    print("# Of sealed pages, the SHA-256 of all but the trailer.")
    all_answers = master_answers(), slot_answers(), page_answers(), log_answers(), anchor_answers(), origin_answers()
    for answers in all_answers:
        for name, answer in answers:
            print(f"{name} = {answer.hex()}")


if __name__ == "__main__":
    main()

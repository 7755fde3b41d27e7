"""Computes messages of ENCRYPTBYKEY from Microsoft's description of them alone ("SQL Server EncryptByKey cryptographic
message description", 2009).

Usage: python3 testdata/generate/key_messages.py > testdata/tsql/key_messages.txt

Needs the package `cryptography`. The integrity bytes are not described: SHA-1 of the cleartext and the authenticator,
as in messages of SQL Server's (testdata/tsql/encrypted_values.txt).
"""

import hashlib

from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.padding import PKCS7

HEADER = """# Messages of ENCRYPTBYKEY, computed by testdata/generate/key_messages.py: the GUID of the key in bytes, the
# authenticator or -, the cleartext in hexadecimal digits or -, the message. The size of a key is the first byte of its
# GUID, and its bytes count up from that. The initialization vector is 16 times 7."""


def message(guid, version, authenticator, clear):
    size = guid[0]
    key = bytes((size + at) % 256 for at in range(size))
    integrity = b"" if authenticator is None else hashlib.sha1(clear + authenticator).digest()
    inner = 0xBAADF00D.to_bytes(4, "little")
    inner += len(integrity).to_bytes(2, "little") + len(clear).to_bytes(2, "little")
    inner += integrity + clear
    padder = PKCS7(128).padder()
    padded = padder.update(inner) + padder.finalize()
    iv = bytes([7]) * 16
    encryptor = Cipher(AES(key), modes.CBC(iv)).encryptor()
    return guid + bytes([version, 0, 0, 0]) + iv + encryptor.update(padded) + encryptor.finalize()


def main():
    print(HEADER)
    clears = [b"", b"a", b"exactly8", b"Hello, World!", "caf\xe9".encode("utf-16-le"), bytes(range(200))]
    for size in [16, 24, 32]:
        guid = bytes([size]) + bytes(range(1, 16))
        for at, clear in enumerate(clears):
            for authenticator in [None, b"row_7"]:
                made = message(guid, 1 + at % 2, authenticator, clear)
                told = "-" if authenticator is None else authenticator.decode()
                print(guid.hex(), told, clear.hex() or "-", made.hex().upper())


main()

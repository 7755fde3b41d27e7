"""The primitives of FORMAT 1.4, as far as `cryptography` does not have them by that name."""

import hashlib
import hmac
import os
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "generate"))
import aegis  # noqa: E402

try:
    import pyrage
except ImportError:
    pyrage = None


class Unauthentic(Exception):
    """What was given does not open."""


def sha256(data):
    return hashlib.sha256(data).digest()


def hmac_sha256(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def extract(salt, ikm):
    return hmac_sha256(salt or bytes(32), ikm)


def expand(prk, info, size):
    out, block, index = b"", b"", 0
    while len(out) < size:
        index += 1
        block = hmac_sha256(prk, block + info + bytes([index]))
        out += block
    return out[:size]


def argon2id(passphrase, salt, memory_kib, passes, lanes):
    kdf = Argon2id(salt=salt, length=32, iterations=passes, lanes=lanes, memory_cost=memory_kib)
    return kdf.derive(passphrase)


def pbkdf2(passphrase, salt, iterations):
    return hashlib.pbkdf2_hmac("sha256", passphrase, salt, iterations)


def unwrap_gcm(key, aad, wrapped):
    """nonce (12) || ciphertext || tag (16)."""
    return open_gcm(key, wrapped[:12], aad, wrapped[12:])


def open_gcm(key, nonce, aad, sealed):
    return _opened(AESGCM(key), nonce, aad, sealed)


def open_chacha20(key, nonce, aad, sealed):
    return _opened(ChaCha20Poly1305(key), nonce, aad, sealed)


def _opened(aead, nonce, aad, sealed):
    try:
        return aead.decrypt(nonce, sealed, aad)
    except (InvalidTag, ValueError) as error:
        raise Unauthentic from error


def open_aegis_128x4(key, nonce, aad, sealed):
    return _compared(aegis.open_128x4(key, nonce, aad, sealed[:-16]), sealed[-16:])


def open_aegis_256x4(key, nonce, aad, sealed):
    return _compared(aegis.open_256x4(key, nonce, aad, sealed[:-16]), sealed[-16:])


def _compared(opened, tag):
    plain, expected = opened
    if not hmac.compare_digest(tag, expected):
        raise Unauthentic
    return plain


def open_triple_des(key, salt, counter, aad, head, sealed):
    """FORMAT 5.2, suite 7."""
    cipher_key, iv_key, mac_key = key[:24], key[24:48], key[48:]
    if hmac_sha256(mac_key, aad + head + sealed[:-16])[:16] != sealed[-16:]:
        raise Unauthentic
    iv = _run(Cipher(TripleDES(iv_key), modes.ECB()).encryptor(), salt[:4] + counter)
    return _run(Cipher(TripleDES(cipher_key), modes.CBC(iv)).decryptor(), sealed[:-16])


def open_ctr_hmac(key, nonce, aad, head, sealed):
    """FORMAT 5.2, suite 8."""
    if hmac_sha256(key[32:], aad + head + sealed[:-16])[:16] != sealed[-16:]:
        raise Unauthentic
    return _run(Cipher(AES(key[:32]), modes.CTR(nonce + bytes(4))).decryptor(), sealed[:-16])


def open_xts(key, tweak, block):
    return _run(Cipher(AES(key), modes.XTS(tweak)).decryptor(), block)


def cmac(key, data):
    mac = CMAC(AES(key))
    mac.update(data)
    return mac.finalize()


def open_age(identity, wrapped):
    try:
        return pyrage.decrypt(wrapped, [pyrage.x25519.Identity.from_str(identity)])
    except pyrage.DecryptError as error:
        raise Unauthentic from error


def _run(context, data):
    return context.update(data) + context.finalize()

"""AEGIS-128X4 and AEGIS-256X4 with 128-bit tags, in plain Python (draft-irtf-cfrg-aegis-aead).

Written from the draft, to be compared with the library that Selenite uses. Slow, and not constant in
time: for known answers only.
"""

LANES = 4
C0 = bytes.fromhex("000101020305080d1522375990e97962")
C1 = bytes.fromhex("db3d18556dc22ff12011314273b528dd")


def _sbox():
    box, p, q = [0] * 256, 1, 1
    while True:
        p = p ^ (p << 1) & 0xFF ^ (0x1B if p & 0x80 else 0)
        q ^= q << 1
        q ^= q << 2
        q ^= q << 4
        q &= 0xFF
        if q & 0x80:
            q ^= 0x09
        x = q ^ (q << 1 | q >> 7) ^ (q << 2 | q >> 6) ^ (q << 3 | q >> 5) ^ (q << 4 | q >> 4)
        box[p] = (x & 0xFF) ^ 0x63
        if p == 1:
            box[0] = 0x63
            return box


SBOX = _sbox()
DOUBLE = [(x << 1) & 0xFF ^ (0x1B if x & 0x80 else 0) for x in range(256)]


def _aes_round(block, key):
    """SubBytes, ShiftRows, MixColumns, AddRoundKey of one 16-byte block."""
    out = bytearray(16)
    for column in range(4):
        a = [SBOX[block[(4 * column + 5 * row) % 16]] for row in range(4)]
        every = a[0] ^ a[1] ^ a[2] ^ a[3]
        for row in range(4):
            mixed = a[row] ^ every ^ DOUBLE[a[row] ^ a[(row + 1) % 4]]
            out[4 * column + row] = mixed ^ key[4 * column + row]
    return bytes(out)


def _round(vector, key):
    pairs = (slice(16 * lane, 16 * lane + 16) for lane in range(LANES))
    return b"".join(_aes_round(vector[lane], key[lane]) for lane in pairs)


def xor(*vectors):
    return bytes(_fold(group) for group in zip(*vectors, strict=True))


def _fold(group):
    total = 0
    for byte in group:
        total ^= byte
    return total


def _and(a, b):
    return bytes(x & y for x, y in zip(a, b, strict=True))


def _blocks(data, size):
    return [data[at : at + size].ljust(size, b"\0") for at in range(0, len(data), size)]


CONTEXT = b"".join(bytes([lane, LANES - 1]).ljust(16, b"\0") for lane in range(LANES))


class _State128:
    rate = 32 * LANES

    def __init__(self, key, nonce):
        k, n, c0, c1 = (x * LANES for x in (key, nonce, C0, C1))
        kn = xor(k, n)
        self.v = [kn, c1, c0, c1, kn, xor(k, c0), xor(k, c1), xor(k, c0)]
        for _ in range(10):
            self.v[3] = xor(self.v[3], CONTEXT)
            self.v[7] = xor(self.v[7], CONTEXT)
            self._update(n, k)

    def _update(self, m0, m1):
        v = self.v
        keys = [xor(v[0], m0), v[1], v[2], v[3], xor(v[4], m1), v[5], v[6], v[7]]
        self.v = [_round(v[i - 1], keys[i]) for i in range(8)]

    def absorb(self, block):
        self._update(block[: self.rate // 2], block[self.rate // 2 :])

    def keystream(self):
        v = self.v
        return xor(v[6], v[1], _and(v[2], v[3])) + xor(v[2], v[5], _and(v[6], v[7]))

    def tag(self, lengths):
        t = xor(self.v[2], lengths * LANES)
        for _ in range(7):
            self._update(t, t)
        return xor(*_blocks(xor(*self.v[:7]), 16))


class _State256:
    rate = 16 * LANES

    def __init__(self, key, nonce):
        k0, k1, n0, n1 = (x * LANES for x in (key[:16], key[16:], nonce[:16], nonce[16:]))
        c0, c1 = C0 * LANES, C1 * LANES
        kn0, kn1 = xor(k0, n0), xor(k1, n1)
        self.v = [kn0, kn1, c1, c0, xor(k0, c0), xor(k1, c1)]
        for _ in range(4):
            for m in (k0, k1, kn0, kn1):
                self.v[3] = xor(self.v[3], CONTEXT)
                self.v[5] = xor(self.v[5], CONTEXT)
                self.absorb(m)

    def absorb(self, m):
        v = self.v
        keys = [xor(v[0], m), *v[1:]]
        self.v = [_round(v[i - 1], keys[i]) for i in range(6)]

    def keystream(self):
        v = self.v
        return xor(v[1], v[4], v[5], _and(v[2], v[3]))

    def tag(self, lengths):
        t = xor(self.v[3], lengths * LANES)
        for _ in range(7):
            self.absorb(t)
        return xor(*_blocks(xor(*self.v), 16))


def _seal(state, associated_data, plain):
    for block in _blocks(associated_data, state.rate):
        state.absorb(block)
    sealed = b""
    for block in _blocks(plain, state.rate):
        sealed += xor(block, state.keystream())
        state.absorb(block)
    lengths = (8 * len(associated_data)).to_bytes(8, "little")
    lengths += (8 * len(plain)).to_bytes(8, "little")
    return sealed[: len(plain)], state.tag(lengths)


def seal_128x4(key, nonce, associated_data, plain):
    """Ciphertext and tag."""
    return _seal(_State128(key, nonce), associated_data, plain)


def seal_256x4(key, nonce, associated_data, plain):
    """Ciphertext and tag."""
    return _seal(_State256(key, nonce), associated_data, plain)


def _open(state, associated_data, sealed):
    for block in _blocks(associated_data, state.rate):
        state.absorb(block)
    plain = b""
    for block in _blocks(sealed, state.rate):
        room = len(sealed) - len(plain)
        part = xor(block, state.keystream())[:room]
        state.absorb(part.ljust(state.rate, b"\0"))
        plain += part
    lengths = (8 * len(associated_data)).to_bytes(8, "little")
    lengths += (8 * len(plain)).to_bytes(8, "little")
    return plain, state.tag(lengths)


def open_128x4(key, nonce, associated_data, sealed):
    """Plaintext, and the tag that it must have."""
    return _open(_State128(key, nonce), associated_data, sealed)


def open_256x4(key, nonce, associated_data, sealed):
    """Plaintext, and the tag that it must have."""
    return _open(_State256(key, nonce), associated_data, sealed)


def _check():
    """Test vector 2 of each, from the appendix of the draft."""
    key, nonce = bytes(range(32)), bytes(range(16, 48))
    associated_data, plain = bytes.fromhex("01020304" * 2), bytes.fromhex("04050607" * 30)
    sealed, tag = seal_128x4(key[:16], nonce[:16], associated_data, plain)
    assert sealed.hex().startswith("e836118562f4479c9d35c17356a833114c21f9aa39e4dda5")
    assert tag.hex() == "0e56ab94e2e85db80f9d54010caabfb4"
    assert open_128x4(key[:16], nonce[:16], associated_data, sealed) == (plain, tag)
    sealed, tag = seal_256x4(key, nonce, associated_data, plain)
    assert sealed.hex().startswith("bfc2085b7e8017da99b0b6d646ae4d01f4ba8f2e7dfca1d7")
    assert tag.hex() == "b63b611b13975e2f3dc3cb6c2397bfcd"
    assert open_256x4(key, nonce, associated_data, sealed) == (plain, tag)


_check()

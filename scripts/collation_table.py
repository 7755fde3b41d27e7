#!/usr/bin/env python3
"""Writes the tables of the collation, as they were made once and for all.

An index in a file depends on them: they are frozen, and a test of selenite-collation pins them by a hash. This script is kept
to show where they came from (Unicode 14.0.0); what it writes today with another Unicode is not to be taken over.

    scripts/collation_table.py weights > crates/collation/src/weight_table.rs
    scripts/collation_table.py folding > crates/collation/src/folding_table.rs
"""

import re
import sys
import unicodedata

LATIN_END = 0x2B0
EXTENDED = range(0x1E00, 0x1F00)
LIGATURES = {
    0xE6: "ae", 0x1E3: "ae", 0x1FD: "ae", 0x153: "oe", 0xDF: "ss",
    0x133: "ij", 0x1C6: "dz", 0x1F3: "dz", 0x1C9: "lj", 0x1CC: "nj",
}  # fmt: skip
# What the code page has that is a symbol to SQL Server's sort order 52, letter or not.
SYMBOLS = {0xAA, 0xB5, 0xBA, 0x2C6, 0x2DC}


def fold(code):
    """Simple case folding: one code point becomes one."""
    full = chr(code).casefold()
    lower = chr(code).lower()
    if code == 0xB5:  # a symbol of the code page, no Greek letter
        return code
    if len(full) == 1:
        return ord(full)
    return ord(lower) if len(lower) == 1 else code


def code_page(byte):
    try:
        return ord(bytes([byte]).decode("cp1252"))
    except UnicodeDecodeError:
        return byte


def is_letter(code):
    return code not in SYMBOLS and unicodedata.category(chr(code)).startswith("L")


def base_letter(code):
    """The ASCII letter that a folded letter is a form of, or None."""
    if code in LIGATURES:
        return LIGATURES[code][0]
    first = unicodedata.normalize("NFD", chr(code))[0]
    if first.isascii():
        return first.lower()
    name = unicodedata.name(chr(code), "")
    found = re.fullmatch(r"LATIN SMALL LETTER (?:DOTLESS )?([A-Z])(?: (?:WITH|PRECEDED) .*)?", name)
    return found.group(1).lower() if found else None


def weights():
    """Every code point of the table with its packed weight: primary, second primary, accent."""
    covered = [*range(LATIN_END), *EXTENDED]
    order = [*range(0x30), *range(0x3A, 0x41), *range(0x5B, 0x61), *range(0x7B, 0x80)]
    for byte in range(0x80, 0xC0):
        order += [byte] if byte < 0xA0 else []
        order += [code_page(byte)] if code_page(byte) not in order and not is_letter(code_page(byte)) else []
    order += [0xD7, 0xF7, *range(0x30, 0x3A)]
    letters = sorted({fold(code) for code in covered if is_letter(code)} & set(covered))
    others = [code for code in letters if base_letter(code) is None and code not in (0xF0, 0xFE)]
    order += [*range(0x61, 0x7B), 0xF0, 0xFE, *others]
    loose = [code for code in covered if fold(code) in covered and base_letter(fold(code)) is None]
    for code in loose:
        assert fold(code) in order or unicodedata.category(chr(code)) == "Cn", hex(code)
    primary = {code: place + 1 for place, code in enumerate(order)}
    packed, accents = {}, {}
    for code in letters:
        base = base_letter(code)
        if base is not None and code != ord(base):
            accents[base] = accents.get(base, 0) + 1
            second = primary[ord(LIGATURES[code][1])] if code in LIGATURES else 0
            packed[code] = primary[ord(base)] | second << 12 | accents[base] << 24
    assert max(accents.values()) < 256 and max(primary.values()) < 4096
    packed.update({code: place for code, place in primary.items() if code not in packed})
    every = {code: packed.get(fold(code), 0) for code in covered}
    every.update({code: packed[code] for code in order if code not in every})
    return every


def rows(values):
    line = "    "
    for value in values:
        if len(line) + len(value) > 118:
            yield line.rstrip()
            line = "    "
        line += value + ", "
    yield line.rstrip()


def write_weights():
    table = weights()
    print("//! The frozen weights: made once by `scripts/collation_table.py weights`, never to change.\n")
    print("/// Of U+0000 to U+02AF: primary weight in bits 0 to 11, of a ligature's second letter in bits 12 to 23, accent in")
    print("/// bits 24 to 31. 0: as of a code point beyond the tables.")
    print("#[rustfmt::skip]")
    print(f"pub(super) const LATIN: [u32; 0x{LATIN_END:x}] = [")
    print("\n".join(rows(f"0x{table[code]:x}" for code in range(LATIN_END))))
    print("];\n\n/// Of U+1E00 to U+1EFF, in the same form.\n#[rustfmt::skip]")
    print(f"pub(super) const LATIN_ADDITIONAL: [u32; 0x{len(EXTENDED):x}] = [")
    print("\n".join(rows(f"0x{table[code]:x}" for code in EXTENDED)))
    print("];\n\n/// Of what else code page 1252 has, by code point.\n#[rustfmt::skip]")
    rest = sorted(code for code in table if code >= LATIN_END and code not in EXTENDED)
    print(f"pub(super) const SYMBOLS: [(u32, u32); {len(rest)}] = [")
    print("\n".join(rows(f"(0x{code:x}, 0x{table[code]:x})" for code in rest)))
    print("];")


def write_folding():
    pairs = [(code, fold(code) - code) for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000]
    pairs = [pair for pair in pairs if pair[1]]
    runs = []
    for code, delta in pairs:
        if runs and runs[-1][3] == delta:
            first, last, stride, _ = runs[-1]
            step = code - last
            if step in (1, 2) and (first == last or step == stride):
                runs[-1] = (first, code, step, delta)
                continue
        runs.append((code, code, 1, delta))
    print("//! The frozen case folding: made once by `scripts/collation_table.py folding`, never to change.\n")
    print("/// Runs of code points from U+0080 that fold: first, last, step, and what is added.")
    print("#[rustfmt::skip]")
    print(f"pub(super) const RUNS: [(u32, u32, u32, i32); {len(runs)}] = [")
    print("\n".join(rows(f"(0x{a:x}, 0x{b:x}, {s}, {d})" for a, b, s, d in runs)))
    print("];")


if __name__ == "__main__":
    {"weights": write_weights, "folding": write_folding}[sys.argv[1]]()

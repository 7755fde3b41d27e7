"""Makes a database of payment cards, the same one every time: cards.py FILE.

No card is real: numbers begin with 9999, which no bank has.
"""

import random
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from terminal import progress

SEED = 20080806
VENDORS = 20_000
CARDS = 190_000
PURCHASES = 800_000
SCHEMA = """
    CREATE TABLE Vendor(VendorID INTEGER PRIMARY KEY, BusinessName TEXT NOT NULL, Street TEXT NOT NULL,
        City TEXT NOT NULL, PhoneNumber TEXT NOT NULL, DateCreated TEXT NOT NULL);
    CREATE TABLE Card(CardID INTEGER PRIMARY KEY, CardNumber TEXT NOT NULL, SecurityCode TEXT NOT NULL,
        Holder TEXT NOT NULL, ValidThru TEXT NOT NULL, SecureString TEXT NOT NULL);
    CREATE TABLE Purchase(PurchaseID INTEGER PRIMARY KEY, CardID INTEGER NOT NULL REFERENCES Card,
        VendorID INTEGER NOT NULL REFERENCES Vendor, Cents INTEGER NOT NULL, PurchaseDate TEXT NOT NULL,
        Receipt BLOB NOT NULL);
"""
INDEXES = """
    CREATE INDEX Vendor_BusinessName ON Vendor(BusinessName);
    CREATE UNIQUE INDEX Card_CardNumber ON Card(CardNumber, SecurityCode);
    CREATE INDEX Card_SecurityCode ON Card(SecurityCode, CardNumber);
    CREATE INDEX Card_SecureString ON Card(SecureString);
    CREATE INDEX Purchase_CardID ON Purchase(CardID);
    CREATE INDEX Purchase_VendorID ON Purchase(VendorID);
"""
TRADES = "Bakery Bookshop Brewery Cafe Chandlery Chemist Cinema Cobbler Florist Garage Grocer Hotel".split()
NAMES = "Ada Amit Anna Chen Dmitri Elif Fatima Grace Hugo Ines Jonas Kofi Lena Maria Noor Omar Pia Quentin".split()
SURNAMES = "Abara Berg Castro Dufour Eriksen Fischer Garcia Haddad Ito Jansen Kaya Lopez Moreau Nowak Okafor".split()
CITIES = "Aarhus Bergen Cadiz Dresden Esbjerg Faro Ghent Haarlem Ipswich Jena Krakow Lyon Malmo Nantes".split()


def main(path: Path) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    connection = sqlite3.connect(unfinished, isolation_level=None)
    connection.executescript("PRAGMA journal_mode = off; PRAGMA synchronous = off;" + SCHEMA)
    connection.execute("BEGIN")
    randomly = random.Random(SEED)
    rows = [("Vendor", VENDORS, vendors), ("Card", CARDS, cards), ("Purchase", PURCHASES, purchases)]
    for table, count, make in rows:
        places = ", ".join("?" * len(next(make(randomly, 1))))
        made = progress(make(randomly, count), count, f"rows of {table}")
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", made)
    connection.execute("COMMIT")
    connection.executescript(INDEXES)
    connection.close()
    unfinished.rename(path)


def vendors(randomly: random.Random, count: int) -> Iterator[tuple[object, ...]]:
    for number in range(1, count + 1):
        name = f"{randomly.choice(SURNAMES)} & {randomly.choice(SURNAMES)} {randomly.choice(TRADES)} {number}"
        street = f"{randomly.choice(SURNAMES)} Street {randomly.randrange(1, 400)}"
        phone = f"+99 {randomly.randrange(10**9):09}"
        yield number, name, street, randomly.choice(CITIES), phone, day(randomly)


def cards(randomly: random.Random, count: int) -> Iterator[tuple[object, ...]]:
    for number in range(1, count + 1):
        card_number = f"9999{randomly.randrange(10**12):012}"
        holder = f"{randomly.choice(NAMES)} {randomly.choice(SURNAMES)}"
        valid_thru = f"{randomly.randrange(1, 13):02}/{randomly.randrange(26, 32)}"
        secure = f"{randomly.getrandbits(128):032x}"
        yield number, card_number, f"{randomly.randrange(1000):03}", holder, valid_thru, secure


def purchases(randomly: random.Random, count: int) -> Iterator[tuple[object, ...]]:
    random_float, bits = randomly.random, randomly.randbytes
    for number in range(1, count + 1):
        card, vendor = int(random_float() * CARDS) + 1, int(random_float() * VENDORS) + 1
        yield number, card, vendor, int(random_float() * 50_000) + 50, day(randomly), bits(16)


def day(randomly: random.Random) -> str:
    second = int(randomly.random() * 86_400)
    month, day_of_month = int(randomly.random() * 12) + 1, int(randomly.random() * 28) + 1
    return f"2025-{month:02}-{day_of_month:02} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))

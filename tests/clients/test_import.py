"""Databases that SQLCipher and SQLite3 Multiple Ciphers have made are imported, and SQLCipher reads what is exported."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from test_command import COMMAND, selenite

HERE = Path(__file__).parent
SQLITE3MC = Path(sys.prefix) / "sqlite3mc"
PASSPHRASE = "pa'ss"
QUOTED = "'pa''ss'"
DIGITS = "0123456789abcdef" * 4
RAW = f"\"x'{DIGITS}'\""
SALT = "cd" * 16

SCHEMA = [
    "CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT, b BLOB, r REAL)",
    "CREATE TABLE n(x, y TEXT COLLATE NOCASE)",
    "CREATE TABLE w(k TEXT PRIMARY KEY, v) WITHOUT ROWID",
    "CREATE TABLE g(i INT, d AS (i * 2) VIRTUAL, s AS (i || 'x') STORED)",
    "CREATE TABLE au(id INTEGER PRIMARY KEY AUTOINCREMENT, z)",
    "CREATE INDEX ay ON n(y)",
    "CREATE UNIQUE INDEX at ON a(t)",
    "CREATE VIEW v AS SELECT * FROM a JOIN n ON a.id = n.x",
    "CREATE TRIGGER tr AFTER INSERT ON au BEGIN INSERT INTO n VALUES (new.id, 'trigger'); END",
    "CREATE VIRTUAL TABLE f USING fts5(body)",
    "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 400)"
    " INSERT INTO a SELECT i * 3, 'row ' || i, zeroblob(i * 7), i / 7.0 FROM c",
    "INSERT INTO n(rowid, x, y) SELECT id * 5 + 1, id, 'Y' || id FROM a",
    "DELETE FROM n WHERE x % 7 = 0",
    "INSERT INTO w SELECT 'k' || id, id FROM a",
    "INSERT INTO g(i) SELECT id FROM a",
    "INSERT INTO au(z) VALUES ('q')",
    "INSERT INTO f VALUES ('hello imported world')",
    "ANALYZE",
    "PRAGMA user_version = 77",
    "PRAGMA application_id = 78",
]
TABLES = ["a", "n", "g", "au", "f", "sqlite_sequence", "sqlite_stat1"]
DUMP = (
    [f"SELECT rowid, * FROM {table} ORDER BY rowid" for table in TABLES]
    + ["SELECT * FROM w", "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2", "SELECT count(*) FROM v"]
    + [f"PRAGMA {name}" for name in ("user_version", "application_id", "encoding", "integrity_check")]
    # SQLCipher answers with a text.
    + ["SELECT CAST(page_size AS INT) FROM pragma_page_size"]
)

SQLCIPHER = {
    "sqlcipher4": ([], QUOTED, []),
    "sqlcipher3": (["cipher_compatibility = 3"], QUOTED, []),
    "sqlcipher2": (["cipher_compatibility = 2"], QUOTED, []),
    "sqlcipher1": (["cipher_compatibility = 1"], QUOTED, []),
    "sqlcipher4 with pages of 8192 bytes": (["cipher_page_size = 8192"], QUOTED, []),
    "sqlcipher4 with pages of 65536 bytes": (["cipher_page_size = 65536"], QUOTED, []),
    "sqlcipher4 without HMAC": (["cipher_use_hmac = OFF"], QUOTED, []),
    "sqlcipher4 with a raw key": ([], RAW, []),
    "sqlcipher4 with a raw key and a salt": ([], f"\"x'{DIGITS}{SALT}'\"", []),
    "sqlcipher4 with other settings": (
        ["kdf_iter = 1000", "cipher_kdf_algorithm = PBKDF2_HMAC_SHA256", "cipher_hmac_algorithm = HMAC_SHA1"],
        QUOTED,
        ["kdf_iter=1000", "cipher_kdf_algorithm=PBKDF2_HMAC_SHA256", "cipher_hmac_algorithm=HMAC_SHA1"],
    ),
    "sqlcipher4 with a plaintext header": (
        ["cipher_plaintext_header_size = 32", f"cipher_salt = \"x'{SALT}'\""],
        QUOTED,
        ["cipher_plaintext_header_size=32", f"cipher_salt={SALT}"],
    ),
    "sqlcipher4 in UTF-16": (["encoding = 'UTF-16le'"], QUOTED, []),
    "sqlcipher4 with auto_vacuum": (["auto_vacuum = incremental"], QUOTED, []),
}
PLAIN_HEADER = ["plaintext_header_size = 32", f"cipher_salt = '{SALT}'"]
SQLITE3MC_FORMATS = {
    "chacha20": (["cipher = 'chacha20'"], QUOTED),
    "chacha20 with other iterations": (["cipher = 'chacha20'", "kdf_iter = 100"], QUOTED),
    "chacha20 with a plaintext header": (["cipher = 'chacha20'", *PLAIN_HEADER], QUOTED),
    "aegis with other costs": (["cipher = 'aegis'", "tcost = 3", "mcost = 1024", "pcost = 2"], QUOTED),
    "aegis with a plaintext header": (["cipher = 'aegis'", *PLAIN_HEADER], QUOTED),
    "ascon128": (["cipher = 'ascon128'"], QUOTED),
    "ascon128 with other iterations": (["cipher = 'ascon128'", "kdf_iter = 3"], QUOTED),
    "ascon128 with a plaintext header": (["cipher = 'ascon128'", *PLAIN_HEADER], QUOTED),
    "ascon128 with a raw key": (["cipher = 'ascon128'"], f"'raw:{DIGITS}'"),
    "sqlcipher with a plaintext header": (["cipher = 'sqlcipher'", *PLAIN_HEADER], QUOTED),
    "rc4 with pages of 8192 bytes": (["cipher = 'rc4'", "legacy_page_size = 8192"], QUOTED),
    "aes256cbc, legacy, with pages of 2048 bytes": (
        ["cipher = 'aes256cbc'", "legacy = 1", "legacy_page_size = 2048"],
        QUOTED,
    ),
    "chacha20 with a raw key": (["cipher = 'chacha20'"], f"'raw:{DIGITS}'"),
    "sqleet": (["cipher = 'chacha20'", "legacy = 1", "legacy_page_size = 4096"], QUOTED),
    "aes256cbc": (["cipher = 'aes256cbc'"], QUOTED),
    "aes128cbc": (["cipher = 'aes128cbc'"], QUOTED),
    "aes256cbc, legacy": (["cipher = 'aes256cbc'", "legacy = 1"], QUOTED),
    "aes128cbc, legacy": (["cipher = 'aes128cbc'", "legacy = 1"], QUOTED),
    "rc4": (["cipher = 'rc4'"], QUOTED),
    "sqlcipher": (["cipher = 'sqlcipher'"], QUOTED),
    "sqlcipher, legacy 4": (["cipher = 'sqlcipher'", "legacy = 4"], QUOTED),
} | {
    f"aegis-{variant}": (["cipher = 'aegis'", f"algorithm = 'aegis-{variant}'"], QUOTED)
    for variant in ("128l", "128x2", "128x4", "256", "256x2", "256x4")
}


class Oracle:
    """A process with the product in it."""

    def __init__(self, product: str, database: Path, statements: list[str], end: str = "close", **how) -> None:
        search = f"{SQLITE3MC}" if product == "sqlite3mc" else ""
        self.process = subprocess.Popen(
            [sys.executable, HERE / "oracle.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": search},
        )
        asked = {"product": product, "database": str(database), "pragmas": [], "key": QUOTED, "end": end} | how
        self.process.stdin.write(json.dumps(asked | {"statements": statements}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        self.rows = json.loads(line) if line else None
        if end != "wait":
            self.finish()

    def finish(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0


@pytest.fixture
def secrets(folder: Path) -> Path:
    selenite(folder, "keygen", "-o", "age.key")
    (folder / "passphrase").write_text(PASSPHRASE + "\n")
    (folder / "raw").write_text(DIGITS)
    (folder / "raw and salt").write_text(DIGITS + SALT)
    return folder


def key_of(key: str) -> list[str]:
    if DIGITS + SALT in key:
        return ["--raw-key-file", "raw and salt"]
    return ["--raw-key-file", "raw"] if DIGITS in key else ["--passphrase-file", "passphrase"]


def run_import(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """`selenite import old.db --to new.db`, which may fail."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SELENITE_")}
    environment |= {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config")}
    command = [COMMAND, "--identity", "age.key", "import", "old.db", "--to", "new.db", *arguments]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)


def rows_of_new(folder: Path) -> list:
    selenite(folder, "--identity", "age.key", "decrypt", "new.db", "--to", "clear.db")
    clear = sqlite3.connect(folder / "clear.db")
    rows = [[list(row) for row in clear.execute(statement)] for statement in DUMP]
    return json.loads(json.dumps(rows, default=bytes.hex))


@pytest.mark.parametrize("name", SQLCIPHER)
def test_a_database_of_sqlcipher_is_imported(name: str, secrets: Path) -> None:
    pragmas, key, settings = SQLCIPHER[name]
    made = Oracle("sqlcipher", secrets / "old.db", [*SCHEMA, *DUMP], pragmas=pragmas, key=key)
    format = ["--format", "sqlcipher4", *(word for setting in settings for word in ("--set", setting))]
    done = run_import(secrets, *key_of(key), *(format if settings else []))
    assert done.returncode == 0, done.stderr
    assert rows_of_new(secrets) == made.rows[len(SCHEMA) :]
    assert ("does not authenticate" in done.stderr) == ("without HMAC" in name or name == "sqlcipher1")


@pytest.mark.parametrize("name", SQLITE3MC_FORMATS)
def test_a_database_of_sqlite3mc_is_imported(name: str, secrets: Path) -> None:
    pragmas, key = SQLITE3MC_FORMATS[name]
    made = Oracle("sqlite3mc", secrets / "old.db", [*SCHEMA, *DUMP], pragmas=pragmas, key=key)
    named: list[str] = []
    if "with other" in name or "header" in name:
        settings = [pragma.replace(" ", "").replace("'", "") for pragma in pragmas[1:]]
        named = ["--format", name.split()[0], *(word for setting in settings for word in ("--set", setting))]
    done = run_import(secrets, *key_of(key), *named)
    assert done.returncode == 0, done.stderr
    assert rows_of_new(secrets) == made.rows[len(SCHEMA) :]


def product_of(name: str) -> tuple[str, dict]:
    if name in SQLCIPHER:
        pragmas, key, _ = SQLCIPHER[name]
        return "sqlcipher", {"pragmas": pragmas, "key": key}
    pragmas, key = SQLITE3MC_FORMATS[name]
    return "sqlite3mc", {"pragmas": pragmas, "key": key}


WITH_LOGS = [*(f"sqlcipher{version}" for version in (4, 3, 2, 1)), "chacha20", "aes256cbc", "aegis-256"]


@pytest.mark.parametrize("name", WITH_LOGS)
def test_what_is_committed_in_a_wal_is_imported(name: str, secrets: Path) -> None:
    """The product's process ends with a WAL that no checkpoint has emptied, and an open transaction in it."""
    product, how = product_of(name)
    Oracle(product, secrets / "old.db", SCHEMA, **how)
    wal = ["PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "PRAGMA cache_size = 5"]
    commits = ["UPDATE a SET t = t || ' new'", "INSERT INTO au(z) VALUES ('from the WAL')"]
    open_transaction = ["BEGIN", "UPDATE a SET b = zeroblob(900)", "DELETE FROM n"]
    made = Oracle(product, secrets / "old.db", [*wal, *commits, *DUMP, *open_transaction], end="abort", **how)
    assert (secrets / "old.db-wal").stat().st_size > 100_000
    done = run_import(secrets, *key_of(how["key"]))
    assert done.returncode == 0, done.stderr
    expected = made.rows[len(wal + commits) : -len(open_transaction)]
    assert rows_of_new(secrets) == expected


@pytest.mark.parametrize("name", WITH_LOGS)
def test_a_hot_journal_is_rolled_back(name: str, secrets: Path) -> None:
    """The product's process ends in a transaction of which the cache has spilled pages into the database."""
    product, how = product_of(name)
    made = Oracle(product, secrets / "old.db", [*SCHEMA, *DUMP], **how)
    before = (secrets / "old.db").read_bytes()
    spilling = ["PRAGMA cache_size = 5", "BEGIN", "UPDATE a SET t = t || ' lost'", "DELETE FROM n", "UPDATE w SET v = 0"]
    Oracle(product, secrets / "old.db", spilling, end="abort", **how)
    assert (secrets / "old.db-journal").stat().st_size > 10_000
    assert (secrets / "old.db").read_bytes()[: len(before)] != before
    done = run_import(secrets, *key_of(how["key"]))
    assert done.returncode == 0, done.stderr
    assert rows_of_new(secrets) == made.rows[len(SCHEMA) :]
    # The product itself comes to the same.
    again = Oracle(product, secrets / "old.db", DUMP, **how)
    assert again.rows == made.rows[len(SCHEMA) :]


@pytest.mark.parametrize("name", [name for name in WITH_LOGS if name.startswith("sqlcipher")])
def test_a_hot_journal_that_does_not_count_its_records_is_rolled_back_or_refused(name: str, secrets: Path) -> None:
    """As `synchronous = OFF` writes it. Behind it, `journal_mode = PERSIST` leaves what an earlier transaction wrote."""
    product, how = product_of(name)
    made = Oracle(product, secrets / "old.db", [*SCHEMA, *DUMP], **how)
    settings = ["PRAGMA journal_mode = persist", "PRAGMA synchronous = off", "PRAGMA cache_size = 5"]
    earlier = ["UPDATE a SET t = t || ' x'", "UPDATE a SET t = substr(t, 1, length(t) - 2)"]
    lost = ["BEGIN", "UPDATE w SET v = 0"]
    Oracle(product, secrets / "old.db", [*settings, *earlier, *lost, "SELECT * FROM a"], end="abort", **how)
    journal = secrets / "old.db-journal"
    content = bytearray(journal.read_bytes())
    assert content[8:12] == b"\xff" * 4
    done = run_import(secrets, *key_of(how["key"]))
    assert done.returncode == 0, done.stderr
    assert rows_of_new(secrets) == made.rows[len(SCHEMA) :]
    # The checksum of the first record: records behind it are right, as the transaction changes every page of the table.
    page_size = int.from_bytes(content[24:28], "big")
    sector = int.from_bytes(content[20:24], "big")
    content[sector + 4 + page_size] ^= 1
    journal.write_bytes(content)
    (secrets / "new.db").unlink()
    done = run_import(secrets, *key_of(how["key"]))
    damage = f"journal record 0, page {int.from_bytes(content[sector : sector + 4], 'big')}: its checksum is wrong"
    assert done.returncode == 5 and damage in done.stderr, done.stderr
    assert not (secrets / "new.db").exists()
    done = run_import(secrets, *key_of(how["key"]), "--skip-bad")
    assert done.returncode == 5 and f"{damage}: not rolled back" in done.stderr, done.stderr
    assert done.stderr.count("not rolled back") == 1, done.stderr


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_in_use_is_refused(journal: str, secrets: Path) -> None:
    Oracle("sqlcipher", secrets / "old.db", SCHEMA)
    using = [f"PRAGMA journal_mode = {journal}", "BEGIN IMMEDIATE", "INSERT INTO w VALUES ('now', 1)"]
    user = Oracle("sqlcipher", secrets / "old.db", using, end="wait")
    try:
        done = run_import(secrets, "--passphrase-file", "passphrase")
        assert done.returncode == 7, done.stderr
        assert not (secrets / "new.db").exists()
    finally:
        user.finish()


def test_a_file_of_a_key_is_the_users_alone(secrets: Path) -> None:
    Oracle("sqlcipher", secrets / "old.db", SCHEMA)
    (secrets / "passphrase").chmod(0o666)
    done = run_import(secrets, "--passphrase-file", "passphrase")
    assert done.returncode != 0 and "not trusted" in done.stderr, done.stderr
    assert not (secrets / "new.db").exists()
    (secrets / "passphrase").chmod(0o644)
    done = run_import(secrets, "--passphrase-file", "passphrase")
    assert done.returncode == 0 and "other users can read passphrase" in done.stderr, done.stderr
    (secrets / "new.db").unlink()
    (secrets / "passphrase").chmod(0o600)
    done = run_import(secrets, "--passphrase-file", "passphrase")
    assert done.returncode == 0 and "other users" not in done.stderr, done.stderr


def test_a_wrong_key_is_refused(secrets: Path) -> None:
    Oracle("sqlcipher", secrets / "old.db", SCHEMA)
    (secrets / "wrong").write_text("another")
    (secrets / "empty").write_text("\n")
    for arguments, status in (
        (["--passphrase-file", "wrong"], 4),
        (["--raw-key-file", "raw"], 4),
        (["--passphrase-file", "passphrase", "--format", "sqlcipher3"], 4),
        (["--passphrase-file", "empty"], 2),
        (["--raw-key-file", "passphrase"], 2),
        (["--passphrase-file", "missing"], 6),
        (["--passphrase-file", "passphrase", "--format", "sqlcipher5"], 2),
        (["--passphrase-file", "passphrase", "--format", "sqlcipher4", "--set", "kdf_iter=none"], 2),
        (["--passphrase-file", "passphrase", "--raw-key-file", "raw"], 2),
        ([], 2),
    ):
        done = run_import(secrets, *arguments)
        assert done.returncode == status, (arguments, done.stderr)
        assert PASSPHRASE not in done.stderr and DIGITS not in done.stderr
    assert not (secrets / "new.db").exists()


@pytest.mark.parametrize("name", ["sqlcipher4", "chacha20", "aegis-128x2"])
def test_damaged_pages_are_named(name: str, secrets: Path) -> None:
    product, how = product_of(name)
    Oracle(product, secrets / "old.db", SCHEMA, **how)
    with open(secrets / "old.db", "r+b") as file:
        file.seek(4096 * 11 + 100)
        file.write(b"damage")
    done = run_import(secrets, "--passphrase-file", "passphrase")
    assert done.returncode == 5 and "page 12" in done.stderr, done.stderr
    assert not (secrets / "new.db").exists()

    done = run_import(secrets, "--passphrase-file", "passphrase", "--skip-bad")
    assert done.returncode == 5 and "page 12: not authentic" in done.stderr, done.stderr
    selenite(secrets, "--identity", "age.key", "decrypt", "new.db", "--to", "clear.db")
    clear = sqlite3.connect(secrets / "clear.db")
    assert clear.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    counts = {table: clear.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("a", "n", "w", "g")}
    # One page of all these tables is lost.
    assert sum(counts.values()) > 1200 and all(count > 200 for count in counts.values()), counts
    assert clear.execute("SELECT b FROM a WHERE id = 3").fetchone() in ((bytes(7),), None)


@pytest.mark.parametrize("version", [4, 3, 2])
@pytest.mark.parametrize("key", [QUOTED, RAW], ids=["passphrase", "raw key"])
def test_sqlcipher_opens_what_is_exported(version: int, key: str, secrets: Path) -> None:
    plain = sqlite3.connect(secrets / "app.db")
    for statement in SCHEMA:
        plain.execute(statement)
    plain.commit()
    expected = [[list(row) for row in plain.execute(statement)] for statement in DUMP]
    plain.close()
    selenite(secrets, "--identity", "age.key", "encrypt", "app.db")
    export = ["export", "app.db", "--to", "old.db", "--format", f"sqlcipher{version}", *key_of(key)]
    selenite(secrets, "--identity", "age.key", *export)
    assert b"row 300" not in (secrets / "old.db").read_bytes()
    pragmas = [f"cipher_compatibility = {version}", "cipher_page_size = 4096"]
    check = [*DUMP, "PRAGMA cipher_integrity_check", "INSERT INTO au(z) VALUES ('goes on')", "SELECT count(*) FROM au"]
    read = Oracle("sqlcipher", secrets / "old.db", check, pragmas=pragmas, key=key)
    assert read.rows[: len(DUMP)] == json.loads(json.dumps(expected, default=bytes.hex))
    assert read.rows[len(DUMP) :] == [[], [], [[2]]]

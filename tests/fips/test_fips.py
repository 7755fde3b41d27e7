"""The FIPS build beside the normal one: what it makes, opens, refuses and says (docs/FIPS.md).

scripts/test-fips.sh builds both and names them in the environment.
"""

import json
import os
import sqlite3
import subprocess
import sys

import pytest

FIPS = os.environ["SELENITE_FIPS_COMMAND"]
FIPS_EXTENSION = os.environ["SELENITE_FIPS_EXTENSION"]
NORMAL = os.environ["SELENITE_TEST_COMMAND"]
NORMAL_EXTENSION = os.environ["SELENITE_TEST_EXTENSION"]
PASSPHRASE = "a passphrase of fourteen bytes and more\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("SELENITE_") and "TEST" not in name and "FIPS" not in name:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    plain = sqlite3.connect("plain.db")
    plain.executescript("CREATE TABLE t(x); INSERT INTO t VALUES ('shown'), ('again')")
    plain.close()
    for name, content in [("key.raw", os.urandom(32)), ("pass.txt", PASSPHRASE.encode())]:
        private(name, content)
    return tmp_path


def private(name, content):
    with open(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)


def run(command, *arguments):
    return subprocess.run([command, *arguments], capture_output=True, text=True)


def good(command, *arguments):
    done = run(command, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(command, *arguments):
    done = run(command, *arguments)
    assert done.returncode != 0, done.stdout
    return done.stderr


SQL = """
import sqlite3, sys
extension, path, identity, statement, *rest = sys.argv[1:]
loader = sqlite3.connect(":memory:")
loader.enable_load_extension(True)
loader.load_extension(extension)
uri = f"file:{path}?vfs=selenite&selenite_identity={identity}" + "".join(rest)
database = sqlite3.connect(uri, uri=True)
print(database.execute(statement).fetchall())
database.commit()
database.close()
"""


def sql(extension, path, identity, statement, *rest):
    """In a process of its own, since a process registers one VFS of that name."""
    return run(sys.executable, "-c", SQL, extension, path, identity, statement, *rest)


def encrypt(command, path, *options, identity="raw:key.raw"):
    good(command, "-i", identity, "encrypt", "plain.db", "--to", path, *options)


def test_version_names_the_module(folder):
    assert "FIPS build, AWS-LC FIPS " in good(FIPS, "--version")
    assert "FIPS" not in good(NORMAL, "--version")


def test_a_new_database_is_in_the_approved_suite_and_both_builds_use_it(folder):
    encrypt(FIPS, "one.db")
    text = good(FIPS, "-i", "raw:key.raw", "status", "one.db")
    assert "AES_256_CTR_HMAC" in text and "FIPS build" in text
    assert json.loads(good(FIPS, "status", "--json", "one.db"))["fips"]["not_approved"] == "nothing"
    for extension, row in [(NORMAL_EXTENSION, "normal"), (FIPS_EXTENSION, "fips")]:
        done = sql(extension, "one.db", "raw:key.raw", f"INSERT INTO t VALUES ('{row}') RETURNING x")
        assert row in done.stdout, done.stderr
    for command in (NORMAL, FIPS):
        good(command, "-i", "raw:key.raw", "verify", "one.db")
    for extension in (NORMAL_EXTENSION, FIPS_EXTENSION):
        done = sql(extension, "one.db", "raw:key.raw", "SELECT group_concat(x) FROM t")
        assert "shown,again,normal,fips" in done.stdout, done.stderr


def test_the_log_of_either_build_is_read_by_the_other(folder):
    encrypt(FIPS, "log.db")
    for writer, reader, row in [(FIPS_EXTENSION, NORMAL_EXTENSION, "one"), (NORMAL_EXTENSION, FIPS_EXTENSION, "two")]:
        # Killed, so that the frames stay in the log and are recovered by the other.
        code = SQL.replace("database.commit()", "database.commit(); import os; os._exit(0)").replace(
            "print(", "database.execute('PRAGMA journal_mode=WAL'); print(", 1
        )
        done = run(sys.executable, "-c", code, writer, "log.db", "raw:key.raw", f"INSERT INTO t VALUES ('{row}') RETURNING x")
        assert done.returncode == 0, done.stderr
        assert os.path.getsize("log.db-wal") > 0
        done = sql(reader, "log.db", "raw:key.raw", "SELECT group_concat(x) FROM t")
        assert row in done.stdout, done.stderr


@pytest.mark.parametrize("suite", ["AES_128", "AES_256"])
def test_a_database_in_gcm_is_read_not_written_and_re_encrypted(folder, suite):
    encrypt(NORMAL, "gcm.db", "--cipher", suite)
    assert f"suite {suite} (opened, not written)" in good(FIPS, "status", "gcm.db")
    assert f"not approved: suite {suite}" in run(FIPS, "doctor", "gcm.db").stdout
    done = sql(FIPS_EXTENSION, "gcm.db", "raw:key.raw", "SELECT group_concat(x) FROM t")
    assert "shown,again" in done.stdout, done.stderr
    assert sql(FIPS_EXTENSION, "gcm.db", "raw:key.raw", "DELETE FROM t").returncode != 0
    good(FIPS, "-i", "raw:key.raw", "verify", "gcm.db")
    good(FIPS, "-i", "raw:key.raw", "reencrypt", "gcm.db", "--cipher", "AES_256_CTR_HMAC")
    done = sql(FIPS_EXTENSION, "gcm.db", "raw:key.raw", "INSERT INTO t VALUES ('written') RETURNING x")
    assert "written" in done.stdout, done.stderr
    good(NORMAL, "-i", "raw:key.raw", "verify", "gcm.db")


@pytest.mark.parametrize("suite", ["AES_192", "CHACHA20", "AEGIS_128X4", "AEGIS_256X4", "TRIPLE_DES_3KEY"])
def test_other_suites_are_refused_by_name(folder, suite):
    encrypt(NORMAL, "other.db", "--cipher", suite, "--allow-deprecated")
    wanted = f"the suite {suite}: not approved in the FIPS build"
    assert wanted in refused(FIPS, "-i", "raw:key.raw", "--allow-deprecated", "verify", "other.db")
    assert sql(FIPS_EXTENSION, "other.db", "raw:key.raw", "SELECT * FROM t", "&deprecated=allow").returncode != 0
    arguments = ["-i", "raw:key.raw", "--allow-deprecated", "encrypt", "plain.db", "--to", "new.db", "--cipher", suite]
    assert wanted in refused(FIPS, *arguments)
    good(NORMAL, "-i", "raw:key.raw", "--allow-deprecated", "reencrypt", "other.db", "--cipher", "AES_256_CTR_HMAC")
    good(FIPS, "-i", "raw:key.raw", "verify", "other.db")


def test_no_build_seals_in_gcm_that_may_not(folder):
    for suite in ("AES_128", "AES_256"):
        text = refused(FIPS, "-i", "raw:key.raw", "encrypt", "plain.db", "--to", "new.db", "--cipher", suite)
        assert f"the suite {suite}: not approved in the FIPS build" in text


def test_passphrases_of_this_build_open_in_both_and_argon2id_is_refused(folder):
    encrypt(FIPS, "pbkdf2.db", identity="passphrase:pass.txt")
    for command in (FIPS, NORMAL):
        good(command, "-i", "passphrase:pass.txt", "verify", "pbkdf2.db")
    encrypt(NORMAL, "argon2.db", "--cipher", "AES_256_CTR_HMAC", identity="passphrase:pass.txt")
    assert "Argon2id" in refused(FIPS, "-i", "passphrase:pass.txt", "verify", "argon2.db")
    assert "1 passphrase slot(s) of Argon2id" in good(FIPS, "status", "argon2.db")
    private("short.txt", b"13 bytes long\n")
    text = refused(FIPS, "-i", "passphrase:short.txt", "encrypt", "plain.db", "--to", "short.db")
    assert "fewer than 14 bytes" in text


def test_age_is_refused_by_name_and_its_slots_stay(folder):
    made = good(NORMAL, "keygen", "-o", "age.txt")
    recipient = next(word for word in made.split() if word.startswith("age1"))
    encrypt(NORMAL, "age.db", "--cipher", "AES_256_CTR_HMAC", "--recipient", recipient)
    assert "an age identity: not approved" in refused(FIPS, "-i", "age.txt", "verify", "age.db")
    arguments = ["-i", "raw:key.raw", "keys", "add", "age.db", recipient]
    assert "an age recipient: not approved" in refused(FIPS, *arguments)
    assert "1 age key slot(s)" in good(FIPS, "status", "age.db")
    good(FIPS, "-i", "raw:key.raw", "verify", "age.db")
    good(NORMAL, "-i", "age.txt", "--origin", "any", "verify", "age.db")


def test_keygen_makes_a_raw_key(folder):
    good(FIPS, "keygen", "-o", "new.raw")
    assert os.path.getsize("new.raw") == 32
    encrypt(FIPS, "new.db", identity="raw:new.raw")
    good(NORMAL, "-i", "raw:new.raw", "verify", "new.db")


def test_a_key_command_opens_in_both_builds(folder):
    private("kms.sh", b'#!/bin/sh\n# Reverses the bytes: a stand-in for a key service.\npython3 -c '
            b'"import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])"\n')
    os.chmod("kms.sh", 0o700)
    os.makedirs("selenite", exist_ok=True)
    private("selenite/config.toml", f'[commands]\nkms = ["{folder}/kms.sh"]\n'.encode())
    encrypt(FIPS, "kms.db", identity="command:kms")
    for command in (FIPS, NORMAL):
        good(command, "-i", "command:kms", "--origin", "any", "verify", "kms.db")


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "plain.db", "--to", "x.db", "--passphrase-file", "pass.txt"],
        ["export", "one.db", "--to", "x.db", "--passphrase-file", "pass.txt"],
        ["backup", "one.db", "backups"],
        ["follow", "one.db", "backups"],
        ["trace", "--recipient", "age1", "--output", "x", "--", "true"],
        ["serve"],
    ],
)
def test_commands_outside_the_module_are_refused_by_name(folder, arguments):
    encrypt(FIPS, "one.db")
    text = refused(FIPS, "-i", "raw:key.raw", *arguments)
    assert f"the command {arguments[0]}: not approved in the FIPS build" in text


def test_short_anchors_are_written_and_compared_by_both_builds(folder):
    encrypt(FIPS, "one.db")
    key = ("-i", "raw:key.raw")
    good(FIPS, *key, "exec", "one.db", "PRAGMA journal_mode = WAL")
    for command, first in ((FIPS, ["--first-anchor"]), (NORMAL, [])):
        good(command, *key, "exec", "one.db", "INSERT INTO t VALUES ('more')")
        good(command, *key, "follow", "one.db", "--anchor-to", "anchors", *first, "--once")
    for extension in (FIPS_EXTENSION, NORMAL_EXTENSION):
        done = sql(extension, "one.db", "raw:key.raw", "SELECT count(*) FROM t", "&anchor=anchors")
        assert "[(4,)]" in done.stdout, done.stderr


def test_the_backup_function_is_refused(folder):
    encrypt(FIPS, "one.db")
    done = sql(FIPS_EXTENSION, "one.db", "raw:key.raw", "SELECT selenite_backup('backups')", "&backup=allow")
    assert "a backup: not approved in the FIPS build" in done.stderr
    assert not os.path.exists("backups") or not os.listdir("backups")


def test_a_backup_of_the_normal_build_is_restored(folder):
    encrypt(FIPS, "one.db")
    good(NORMAL, "-i", "raw:key.raw", "backup", "one.db", "backups")
    good(FIPS, "-i", "raw:key.raw", "restore", "backups", "--to", "back.db")
    done = sql(FIPS_EXTENSION, "back.db", "raw:key.raw", "SELECT group_concat(x) FROM t")
    assert "shown,again" in done.stdout, done.stderr
    assert "AES_256_CTR_HMAC" in good(FIPS, "status", "back.db")


def test_doctor_names_the_module(folder):
    assert "FIPS build: AWS-LC FIPS " in run(FIPS, "doctor").stdout
    assert "FIPS build: no, the normal one" in run(NORMAL, "doctor").stdout


def test_the_extension_has_the_module_and_no_other_library_for_pages_and_passphrases(folder):
    def linked(extension, name):
        return name in run("nm", "--demangle", extension).stdout

    for name in ("aegis", "argon2::", "des::tdes", "ring_core"):
        assert linked(NORMAL_EXTENSION, name) and not linked(FIPS_EXTENSION, name), name
    assert linked(FIPS_EXTENSION, "aws_lc_fips_") and not linked(NORMAL_EXTENSION, "aws_lc_fips_")
    # The other module of AWS-LC, under the prefix of its version.
    assert linked(NORMAL_EXTENSION, "aws_lc_0_") and not linked(FIPS_EXTENSION, "aws_lc_0_")

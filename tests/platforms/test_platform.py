"""An extension and a command that were built for another platform, beside those of this machine.

SELENITE_TEST_TARGET        the target's name, such as aarch64-unknown-linux-musl
SELENITE_TEST_TARGET_ROOT   a folder with that platform's libc, and Debian's Python for glibc
SELENITE_TEST_TARGET_FILES  libselenite.so, selenite and run_sql of that platform
SELENITE_TEST_NATIVE_FILES  the same of this machine
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "clients/tds"))
from ports import free_port

TARGET = os.environ["SELENITE_TEST_TARGET"]
ROOT = os.environ["SELENITE_TEST_TARGET_ROOT"]
FOLDERS = {"native": Path(os.environ["SELENITE_TEST_NATIVE_FILES"]), "target": Path(os.environ["SELENITE_TEST_TARGET_FILES"])}
EMULATOR = [f"qemu-{TARGET.partition('-')[0]}-static", "-L", ROOT]
MUSL = f"{ROOT}/lib/ld-musl-{TARGET.partition('-')[0]}.so.1"
SUITES = ["AES_128", "AES_192", "AES_256", "AEGIS_128X4", "AEGIS_256X4", "CHACHA20"]
DIRECTIONS = [("target", "native"), ("native", "target")]
# Rows of many sizes, overflow pages among them, that are the same wherever they are made.
CREATE = "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)"
FILL = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
    " INSERT INTO note SELECT i, printf('marker %d ', i) || hex(zeroblob((i * i * 7) % 9000)) FROM n"
)
SUM = "SELECT count(*), sum(length(body)), sum(length(body) * id), min(body), max(substr(body, 1, 12)) FROM note"


def command_line(side, program, *arguments):
    command = [FOLDERS[side] / program, *arguments]
    if side == "target":
        # The command for musl is static; another program names a loader that this machine need not have.
        command = ([MUSL] if "musl" in TARGET and program != "selenite" else []) + command
        command = (EMULATOR if "x86_64" not in TARGET else []) + command
    return [str(word) for word in command]


def runs(side, program, *arguments):
    """A program of one side, run to its end."""
    return subprocess.run(command_line(side, program, *arguments), capture_output=True, text=True, timeout=300)


def sql(side, file, key, *statements, **parameters):
    """What statements print."""
    uri = f"file:{file}?vfs=selenite&selenite_identity={key}" + "".join(f"&{name}={value}" for name, value in parameters.items())
    ended = runs(side, "run_sql", FOLDERS[side] / "libselenite", uri, *statements)
    assert ended.returncode in (0, -9, 137), ended.stderr
    return ended.stdout


@pytest.fixture
def key(tmp_path):
    ended = runs("target", "selenite", "keygen", "-o", tmp_path / "key.txt")
    assert ended.returncode == 0, ended.stderr
    return tmp_path / "key.txt"


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("writer, reader", DIRECTIONS)
def test_a_database_is_the_same_on_both(tmp_path, key, suite, writer, reader):
    file = tmp_path / "app.db"
    wrote = sql(writer, file, key, "PRAGMA journal_mode = WAL", CREATE, FILL, SUM, cipher=suite)
    assert b"marker" not in file.read_bytes()
    read = sql(reader, file, key, SUM, "PRAGMA integrity_check", "SELECT value FROM selenite_status WHERE name = 'suite'")
    assert read.splitlines() == [wrote.splitlines()[1], "ok", suite]


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
@pytest.mark.parametrize("writer, reader", DIRECTIONS)
def test_what_a_killed_process_left_is_recovered(tmp_path, key, mode, writer, reader):
    file = tmp_path / "app.db"
    # A cache of one page: the transaction that is cut off has written to the file, and to its journal.
    pragmas = [f"PRAGMA journal_mode = {mode}", "PRAGMA cache_size = 1", "PRAGMA wal_autocheckpoint = 0"]
    wrote = sql(
        writer, file, key, *pragmas, CREATE, FILL, SUM, "BEGIN", "UPDATE note SET body = body || 'unfinished'", ".kill"
    )
    assert (tmp_path / f"app.db-{'wal' if mode == 'WAL' else 'journal'}").stat().st_size > 0
    read = sql(reader, file, key, SUM, "PRAGMA integrity_check")
    assert read.splitlines() == [wrote.splitlines()[-1], "ok"]


@pytest.mark.parametrize("writer, reader", DIRECTIONS)
def test_commands_read_each_others_files(tmp_path, key, writer, reader):
    file = tmp_path / "app.db"
    subprocess.run(["/usr/bin/sqlite3", file, f"{CREATE}; {FILL};"], check=True)

    def command(side, *arguments):
        ended = runs(side, "selenite", "--identity", key, *arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    command(writer, "encrypt", file)
    command(reader, "verify", file)
    command(reader, "backup", file, tmp_path / "backups")
    command(writer, "restore", tmp_path / "backups", "--to", tmp_path / "restored.db")
    assert sql(reader, tmp_path / "restored.db", key, SUM) == sql(writer, file, key, SUM)
    command(reader, "reencrypt", file, "--cipher", "AEGIS_256X4")
    command(writer, "verify", file)
    command(reader, "decrypt", file)
    assert b"marker 17 " in file.read_bytes()


def test_a_wrong_key_and_an_altered_page_are_refused(tmp_path, key):
    file = tmp_path / "app.db"
    sql("native", file, key, CREATE, FILL)
    assert runs("target", "selenite", "keygen", "-o", tmp_path / "other.txt").returncode == 0
    assert runs("target", "selenite", "--identity", tmp_path / "other.txt", "verify", file).returncode == 4
    with file.open("r+b") as stream:
        stream.seek(-2000, os.SEEK_END)
        byte = stream.read(1)[0]
        stream.seek(-2000, os.SEEK_END)
        stream.write(bytes([byte ^ 1]))
    assert runs("target", "selenite", "--identity", key, "verify", file).returncode == 5


@pytest.mark.skipif("gnu" not in TARGET, reason="Debian has Python for glibc")
def test_debians_python_of_that_platform_loads_it(tmp_path, key):
    script = f"""
import platform, sqlite3
boot = sqlite3.connect(":memory:")
boot.enable_load_extension(True)
boot.load_extension("{FOLDERS["target"] / "libselenite"}")
db = sqlite3.connect("file:{tmp_path / "app.db"}?vfs=selenite&selenite_identity={key}", uri=True)
db.execute("{CREATE}")
with db:
    db.execute("INSERT INTO note(body) VALUES ('from Python')")
print(platform.machine(), db.execute("SELECT body FROM note").fetchone()[0])
"""
    python = [*EMULATOR, f"{ROOT}/usr/bin/python3.11", "-c", script]
    ended = subprocess.run(python, capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONHOME": f"{ROOT}/usr"})
    assert ended.stdout.split(maxsplit=1) == [TARGET.partition("-")[0], "from Python\n"], ended.stderr
    assert sql("native", tmp_path / "app.db", key, "SELECT body FROM note") == "from Python\n"


@pytest.mark.skipif("aarch64" not in TARGET, reason="x86-64's instructions are shown by the lab")
@pytest.mark.parametrize("suite, instruction", [("AES_256", "aese"), ("AES_256", "pmull"), ("AEGIS_256X4", "aese")])
def test_arms_instructions_are_executed(tmp_path, key, suite, instruction):
    file, log = tmp_path / "app.db", tmp_path / "executed"
    sql("native", file, key, CREATE, FILL, cipher=suite)
    uri = f"file:{file}?vfs=selenite&selenite_identity={key}"
    loader = [MUSL] if "musl" in TARGET else []
    run = [*EMULATOR[:1], "-d", "in_asm", "-D", log, *EMULATOR[1:], *loader, FOLDERS["target"] / "run_sql"]
    run += [FOLDERS["target"] / "libselenite", uri, SUM]
    subprocess.run([str(word) for word in run], check=True, capture_output=True, timeout=300)
    # What the emulator translates is what is executed: the blocks of the program that were reached.
    found = len(re.findall(rf" {instruction}2? ", log.read_text()))
    assert found > 8, f"{found} in {shlex.join(map(str, run))}"


def test_the_server_answers_a_client(tmp_path):
    port = free_port()
    command = command_line("target", "selenite", "serve", "--data", tmp_path / "data", "--listen", f"127.0.0.1:{port}")
    environment = {**os.environ, "HOME": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as server:
        try:
            said = ""
            for line in server.stdout:
                said += line
                if line.startswith("listening on "):
                    break
            password = re.search(r"password of login sa: (\S+)", said)[1]
            script = f"CREATE DATABASE shop\nGO\nUSE shop\nGO\n{CREATE.replace('TEXT', 'NVARCHAR(40)')}\nGO\n"
            script += "INSERT note VALUES (1, N'from a client')\nSELECT body FROM note\nGO\n"
            client = ["tsql", "-H", "127.0.0.1", "-p", str(port), "-U", "sa", "-P", password]
            ended = subprocess.run(client, input=script, capture_output=True, text=True, timeout=300)
            assert "from a client\n" in ended.stdout, ended.stdout + ended.stderr
        finally:
            server.terminate()
        assert server.wait(timeout=60) == 0

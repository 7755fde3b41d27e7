"""scripts/test.sh: runs what is left after a failure, and its last lines are a table of its parts and the total however it ends."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WATCHDOG_SECONDS = 60
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

GOOD = """\
     Running unittests src/lib.rs (target/debug/deps/good-1)
running 3 tests
test one ... ok
test two ... ok
test three ... ignored, make soak: long
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
FAILING = """\
     Running tests/a.rs (target/debug/deps/failing-1)
running 2 tests
test one ... ok
test two ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
# It ends by a signal in the middle.
CRASHED = """\
     Running tests/b.rs (target/debug/deps/crashed-1)
running 5 tests
test one ... ok
test two ... ok
"""
UNIT_TESTS = """\
     Running unittests src/lib.rs (target/debug/deps/selenite_good-2)
running 1 test
test four ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 71.40s
"""
DOC_TESTS = """\
   Doc-tests selenite_good
running 1 test
test crates/good/src/lib.rs - (line 3) ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
"""
PYTEST = """\
============================= test session starts ==============================
collected 4 items
==================== 1 failed, 2 passed, 1 skipped in 0.51s ====================
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The script among stand-ins for what it runs."""
    (tmp_path / "scripts/sqlite").mkdir(parents=True)
    for name in ("test.sh", "test-environment.sh", "test-total.awk"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    program(tmp_path / "scripts/sqlite/build-shell.sh", "exit 0")
    program(tmp_path / "scripts/sqlite/suite.sh", "exit 0")
    (tmp_path / "tests/clients").mkdir(parents=True)
    (tmp_path / "tests/clients/test_a.py").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / ".venv/bin").mkdir(parents=True)
    program(tmp_path / ".venv/bin/python", "exit 0")
    return tmp_path


def program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def cargo(folder: Path, said: str, status: int, then: str = "") -> None:
    (folder / "said").write_text(said)
    program(
        folder / "bin/cargo",
        f'if [ "$1" = test ]; then echo "$@" >"{folder}/asked"; cat "{folder}/said"; {then or ":"}; exit {status}; fi',
    )


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}"}
    return subprocess.Popen(
        [folder / "scripts/test.sh", *words],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=heed_signals,
    )


def heed_signals() -> None:
    """In the child: nohup ignores SIGHUP, a shell without job control SIGINT in the background, and children inherit that."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def run(folder: Path, *words: str) -> tuple[int, str]:
    process = start(folder, *words)
    said = ended(process)
    return process.returncode, said.splitlines()[-1]


def rows(said: str) -> dict[str, list[str]]:
    """The table before the total: each part with its tests, if it has any, and its seconds."""
    lines = said.splitlines()
    start = next(number for number, line in enumerate(lines) if line.split() == ["part", "tests", "seconds"])
    return {line[:24].rstrip(): line[24:].split() for line in lines[start + 1 : -2]}


def ended(process: subprocess.Popen[str]) -> str:
    try:
        return process.communicate(timeout=WATCHDOG_SECONDS)[0]
    finally:
        process.kill()


def test_all_that_passes_is_added_up(folder: Path) -> None:
    cargo(folder, GOOD + GOOD, 0)
    program(folder / ".venv/bin/python", f"cat <<'END'\n{PYTEST.replace('1 failed, ', '')}END")
    assert run(folder) == (0, "6 passed, 0 failed, 3 skipped")


def test_each_part_is_listed_with_its_tests_and_each_crate_with_its_seconds(folder: Path) -> None:
    cargo(folder, UNIT_TESTS + GOOD.replace("0.00s", "8.70s") + FAILING + DOC_TESTS, 101)
    program(folder / ".venv/bin/python", f"cat <<'END'\n{PYTEST}END\nexit 1")
    listed = rows(ended(start(folder)))
    assert list(listed) == ["build", "shell", "rust", "  good", "  failing", "tests/clients", "sqlite-suite"]
    assert listed["  good"] == ["5", "81"]
    assert listed["  failing"] == ["2", "0"]
    assert [listed[part][0] for part in ("rust", "tests/clients")] == ["7", "4"]
    # A part without tests has its seconds alone.
    assert [len(listed[part]) for part in ("build", "rust", "sqlite-suite")] == [1, 2, 1]


def test_what_is_left_runs_after_a_failure(folder: Path) -> None:
    cargo(folder, FAILING + GOOD, 101)
    program(folder / ".venv/bin/python", f"cat <<'END'\n{PYTEST}END\nexit 1")
    assert run(folder) == (101, "5 passed, 2 failed, 2 skipped")
    assert "--no-fail-fast" in (folder / "asked").read_text()


def test_an_executable_that_crashes_fails_with_all_that_it_had_left(folder: Path) -> None:
    cargo(folder, CRASHED + GOOD, 101)
    assert run(folder) == (101, "4 passed, 3 failed, 1 skipped")


def test_colours_and_lines_of_an_executable_started_by_a_test_count_nothing(folder: Path) -> None:
    own = "running 1 test\ntest child ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored\n"
    lines = GOOD.splitlines(keepends=True)
    coloured = lines[0].replace("     Running", "\033[1m\033[92m     Running\033[0m")
    cargo(folder, coloured + lines[1] + own + "".join(lines[2:]), 0)
    assert run(folder) == (0, "2 passed, 0 failed, 1 skipped")


def test_a_build_that_fails_is_a_failure_in_the_total(folder: Path) -> None:
    program(folder / "bin/cargo", "exit 101")
    assert run(folder) == (101, "0 passed, 1 failed, 0 skipped")


def test_pytest_that_ends_without_a_word_has_failed(folder: Path) -> None:
    cargo(folder, GOOD, 0)
    program(folder / ".venv/bin/python", "kill -9 $$")
    assert run(folder) == (137, "2 passed, 1 failed, 1 skipped")


@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_ends_what_runs_and_prints_the_total(folder: Path, number: signal.Signals) -> None:
    ready = folder / "ready"
    os.mkfifo(ready)
    # As a test executable that has a child of its own.
    cargo(folder, GOOD + CRASHED, 0, then=f'sh -c "echo \\$\\$ >{ready}; exec cat {ready}.never"')
    os.mkfifo(f"{ready}.never")
    process = start(folder)
    child = int(ready.read_text())
    # What cargo said is in the log when the total is made: the pipe is drained first.
    process.send_signal(number)
    said = ended(process)
    assert process.returncode == 128 + number
    assert said.splitlines()[-1] == "4 passed, 0 failed, 1 skipped"
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while is_running(child):
        assert time.monotonic() < deadline


def test_an_interrupt_ends_what_runs_beside(folder: Path) -> None:
    children = []
    for name in ("cargo", "python"):
        os.mkfifo(folder / f"{name}.ready")
        os.mkfifo(folder / f"{name}.never")
    waits = "sh -c 'echo $$ >{0}.ready; exec cat {0}.never'"
    cargo(folder, GOOD, 0, then=waits.format(folder / "cargo"))
    program(folder / ".venv/bin/python", waits.format(folder / "python"))
    process = start(folder)
    for name in ("cargo", "python"):
        children.append(int((folder / f"{name}.ready").read_text()))
    process.send_signal(signal.SIGTERM)
    said = ended(process)
    assert said.splitlines()[-1] == "2 passed, 0 failed, 1 skipped"
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while any(is_running(child) for child in children):
        assert time.monotonic() < deadline


def is_running(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False

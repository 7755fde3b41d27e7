"""Fleets on this machine: every operation, errors of single databases, limits, and drivers that die."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

import pytest
import selenite
from conftest import make_databases
from selenite.fleet import Database, Fleet, Limits, LocalExecutor, Run, operations
from selenite.fleet._executor import Ended, Task, perform
from selenite.fleet._state import State, StateError

OLD, NEW = "key.txt", "new.txt"


def execute(state: str, fleet: Fleet, operation: operations.Operation, **how: Any):
    with Run(state, fleet, operation, identity=OLD, **how) as run:
        return run.execute()


def recipients(path: Path) -> list[str]:
    return [slot.who for slot in selenite.keys(path).slots]


def numbers(paths: list[Path], identity: str, **options: str) -> list[int]:
    found = []
    for path in paths:
        connection = selenite.connect(path, identity=identity, options=options)
        found += [row[0] for row in connection.execute("SELECT number FROM t")]
        connection.close()
    return found


def test_every_operation_is_done_on_every_database(folder: Path) -> None:
    paths = make_databases(folder, 6)
    fleet = Fleet(paths)
    for state, operation in (
        ("encrypt", operations.encrypt(identity=OLD, cipher="AEGIS_256X4")),
        ("verify", operations.verify(identity=OLD)),
        ("rotate", operations.rotate_identity(old=OLD, new=NEW)),
        ("reencrypt", operations.reencrypt(identity=NEW, cipher="AES_256")),
        ("backup", operations.backup(str(folder / "backups"), identity=NEW)),
        ("drill", operations.drill(str(folder / "backups"), identity=NEW)),
        ("command", operations.command("status", "--json", "{}", identity=NEW)),
        ("status", operations.status(identity=NEW)),
    ):
        report = execute(f"{state}.state", fleet, operation)
        assert report.counts == {"done": 6}, (state, report.findings()["failures"])
        # A look before an operation is no attempt.
        assert {one["attempts"] for one in report.databases} == {1}, state
    assert numbers(paths, NEW) == list(range(6))
    found = report.findings()
    assert found["unencrypted"] == found["never_verified"] == []
    [(who, holder)] = found["holders"].items()
    assert holder["databases"] == 6 and [who] == recipients(paths[0])
    assert {one["result"]["status"]["suite"] for one in report.databases} == {"AES_256"}


def test_backups_at_a_destination_are_a_fleet(folder: Path) -> None:
    paths = make_databases(folder, 3)
    execute("encrypt.state", Fleet(paths), operations.encrypt(identity=OLD))
    backed_up = execute("backup.state", Fleet(paths[:2]), operations.backup("backups", identity=OLD))
    assert backed_up.findings()["without_backup"] == []
    looked = execute("status.state", Fleet(paths), operations.status(identity=OLD, backups="backups")).findings()
    assert looked["without_backup"] == [str(paths[2])]
    times = {one["path"]: one["result"]["status"]["last_backup"] for one in backed_up.databases}
    assert looked["oldest_backup"]["time"] == min(times.values())

    ids = {selenite.status(path, identity=OLD).superblock.database_id for path in paths[:2]}
    for path in paths[:2]:
        path.unlink()
    fleet = Fleet.backups("backups", identity=OLD) + Fleet.backups(folder / "backups", identity=OLD)
    assert len(fleet) == len(fleet.duplicates) == 2
    assert {one.path for one in fleet} == {f"backups:{folder}/backups/{one}" for one in ids}
    (folder / "restored").mkdir()
    for name, operation in (
        ("status", operations.status(identity=OLD)),
        ("verify", operations.verify(identity=OLD)),
        ("drill", operations.drill(identity=OLD)),
        ("restore", operations.restore("restored", identity=OLD)),
    ):
        report = execute(f"{name} of backups", fleet, operation)
        assert report.counts == {"done": 2}, (name, report.findings()["failures"])
        assert (report.findings()["oldest_backup"] is None) == (name == "restore")
        report.write("report.html")
    restored = [folder / "restored" / f"{one}.db" for one in ids]
    assert sorted(numbers(restored, OLD)) == [0, 1]
    again = execute("restore again", fleet, operations.restore("restored", identity=OLD))
    assert [one["result"]["changed"] for one in again.databases] == [False, False]

    part = next((folder / "backups").glob("*/*/part-*"))
    part.write_bytes(part.read_bytes()[:-1])
    execute("verify damaged", fleet, operations.verify(identity=OLD))
    assert execute("status damaged", fleet, operations.status(identity=OLD)).findings()["without_backup"] == [
        f"backups:{part.parents[2]}/{part.parents[1].name}"
    ]
    refused = execute("encrypt backups", fleet, operations.encrypt(identity=OLD))
    assert all("backups, not a database" in one["error"]["message"] for one in refused.failed) and refused.failed
    refused = execute("restore databases", Fleet(paths[2:]), operations.restore("restored", identity=OLD))
    assert "a database, not backups" in refused.failed[0]["error"]["message"]


def test_the_cost_of_encryption_is_added_up(folder: Path) -> None:
    calibration = Path(__file__).parents[2] / "testdata/plan/calibration.json"
    paths = [folder / f"{number}.db" for number in range(3)]
    for path, reads in zip(paths, ("1000/s", "3000/s")):
        more = ("--database-size=100MiB", "--cores=2", "--page-size=4096")
        observation = f"--output={path}.observation.json"
        selenite.run("plan", "observe", "numbers", f"--reads={reads}", *more, observation)
    report = execute("plan.state", Fleet(paths), operations.plan(calibration, cipher="CHACHA20"))
    assert report.counts == {"done": 2, "failed": 1}
    each = [one["result"]["plan"] for one in report.databases if one["state"] == "done"]
    total = report.findings()["plan"]
    assert total["databases"] == total["converted"] == 2
    for name in ("value", "low", "high"):
        assert total["added_cores"][name] == sum(one["added_cores"][name] for one in each)
    assert each[1]["added_cores"]["value"] == pytest.approx(3 * each[0]["added_cores"]["value"])
    assert each[0]["conversion_seconds"]["value"] > 0 and total["needed_mib"] > 100
    assert "Encryption of 2 databases adds" in report.page()


def test_what_is_done_already_is_left_as_it_is(folder: Path) -> None:
    paths = make_databases(folder, 2)
    selenite.encrypt(paths[0], identity=OLD)
    before = paths[0].read_bytes()
    report = execute("encrypt", Fleet(paths), operations.encrypt(identity=OLD))
    assert [one["result"]["changed"] for one in report.databases] == [False, True]
    assert paths[0].read_bytes() == before
    # A finished run does nothing when it is executed again.
    after = [path.read_bytes() for path in paths]
    assert execute("encrypt", Fleet(paths), operations.encrypt(identity=OLD)).counts == {"done": 2}
    assert [path.read_bytes() for path in paths] == after


def test_databases_are_encrypted_while_connections_have_them_open(folder: Path) -> None:
    paths = make_databases(folder, 2)
    connections = [selenite.connect(path, identity=OLD, plain=True, isolation_level=None) for path in paths]
    for connection in connections:
        connection.execute("PRAGMA journal_mode = WAL")
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (1,)
    report = execute("state", Fleet(paths), operations.encrypt(identity=OLD, online=True))
    assert report.counts == {"done": 2}, report.findings()["failures"]
    for connection in connections:
        connection.execute("INSERT INTO t VALUES (7, NULL)")
        connection.close()
    assert all(selenite.status(path, identity=OLD).encrypted for path in paths)


def test_a_key_holder_is_shut_out_of_all_databases(folder: Path) -> None:
    paths = make_databases(folder, 3)
    other = selenite.keygen("other.txt")
    for path in paths[:2]:
        selenite.encrypt(path, identity=OLD, recipients=[other])
    selenite.encrypt(paths[2], identity=OLD)
    assert numbers(paths[:1], "other.txt", origin="any") == [0]
    report = execute("compromised", Fleet(paths), operations.compromised(other, identity=OLD))
    assert [one["result"]["changed"] for one in report.databases] == [True, True, False]
    assert other not in [who for path in paths for who in recipients(path)]
    with pytest.raises(sqlite3.Error, match="key"):
        numbers(paths[:1], "other.txt", origin="any")
    assert numbers(paths, OLD) == [0, 1, 2]


def test_a_key_holder_that_no_database_has_is_no_success(folder: Path) -> None:
    paths = make_databases(folder, 2)
    other = selenite.keygen("other.txt")
    for path in paths:
        selenite.encrypt(path, identity=OLD, recipients=[other])
    line = [sys.executable, "-m", "selenite.fleet", "compromised", *map(str, paths), "--identity", OLD]
    misspelt = other[:-1] + ("q" if other[-1] != "q" else "p")
    ended = subprocess.run([*line, "--state", "one", "--slot", misspelt], capture_output=True, text=True)
    assert ended.returncode == 1 and f"no database has the key slot {misspelt}" in ended.stderr, ended
    done = subprocess.run([*line, "--state", "two", "--slot", other], capture_output=True, text=True)
    assert done.returncode == 0 and "no database" not in done.stderr, done
    # What was done by an earlier run of the same state counts.
    again = subprocess.run([*line, "--state", "two", "--slot", other], capture_output=True, text=True)
    assert again.returncode == 0, again


def test_a_strange_name_is_an_error_of_its_database(folder: Path) -> None:
    paths = make_databases(folder, 1)
    strange = os.fsdecode(b"\xff\xfe.db")
    Path(strange).write_bytes(b"x")
    report = execute("strange", Fleet([*paths, strange, "a\0b.db"]), operations.status())
    assert report.counts == {"done": 1, "failed": 2}
    assert all("not UTF-8" in one["error"]["message"] for one in report.failed)
    report.write("report.html")
    evil = folder / "databases" / "a\x1b]0;pwn\x07\nOK all done.db"
    evil.write_bytes(b"x" * 100)
    line = [sys.executable, "-m", "selenite.fleet", "verify", str(evil), "--state", "evil", "--identity", OLD]
    said = subprocess.run(line, capture_output=True, text=True).stderr
    assert "\x1b" not in said and "\nOK" not in said and "\\x1b]0;pwn" in said, said


def test_secrets_and_reports_are_kept(folder: Path) -> None:
    secret = Path(OLD).read_text().splitlines()[-1]
    with pytest.raises(ValueError, match="secret key"):
        operations.command("keys", "add", "{}", secret)
    paths = make_databases(folder, 1)
    (folder / "report.html").write_text("")
    (folder / "report.html").chmod(0o644)
    execute("kept", Fleet(paths), operations.status()).write("report.html")
    assert (folder / "report.html").stat().st_mode & 0o777 == 0o600
    (folder / "link").symlink_to(folder / "kept")
    with Run("kept", Fleet(paths), operations.status(), identity=OLD):
        with pytest.raises(StateError, match="another driver"):
            Run("link", Fleet(paths), operations.status(), identity=OLD)


def test_the_state_is_no_database_of_its_run(folder: Path) -> None:
    paths = make_databases(folder, 2)
    for path in paths:
        selenite.encrypt(path, identity=OLD)
    state = paths[0].parent / "state.db"
    operation = operations.rotate_identity(old=OLD, new=NEW)
    pattern = str(paths[0].parent / "*.db")
    assert execute(str(state), Fleet.glob(pattern), operation).counts == {"done": 2}
    (folder / "link.db").symlink_to(state)
    fleet = Fleet.glob(pattern) + Fleet([folder / "link.db"])
    assert len(fleet) == 3 and execute(str(state), fleet, operation).counts == {"done": 2}


def test_a_revocation_that_ended_after_its_first_step_is_gone_on_with(folder: Path) -> None:
    """The slot is gone then, and nothing else shows that the data key is still the one that its holder knows."""
    [path] = make_databases(folder, 1)
    other = selenite.keygen("other.txt")
    selenite.encrypt(path, identity=OLD, recipients=[other])
    operation = operations.compromised(other, identity=OLD)
    before = operation.before(str(path))
    selenite.run("keys", "remove", path, other, identity=OLD)
    result = operation.run(str(path), before)
    superblock = selenite.status(path, identity=OLD).superblock
    assert result["changed"] and superblock and [epoch.epoch for epoch in superblock.epochs] == [2]
    # Once more: it is done.
    operation.run(str(path), before)
    superblock = selenite.status(path, identity=OLD).superblock
    assert superblock and [epoch.epoch for epoch in superblock.epochs] == [2]


def test_another_reencryption_in_progress_does_not_count_as_this_one(folder: Path) -> None:
    [path] = make_databases(folder, 1, kilobytes=4000)
    selenite.encrypt(path, identity=OLD)
    other = subprocess.Popen(
        [selenite.command_path(), "--identity", OLD, "reencrypt", "--new-key", "--max-rate", "1MB/s", path],
        stderr=subprocess.DEVNULL,
    )
    while True:
        superblock = selenite.status(path, identity=OLD).superblock
        if superblock and superblock.state != "steady":
            break
        assert other.poll() is None
    other.kill()
    other.wait()
    execute("state", Fleet([path]), operations.reencrypt(identity=OLD))
    superblock = selenite.status(path, identity=OLD).superblock
    # The other one's key, and then one of this run.
    assert superblock and superblock.state == "steady" and [epoch.epoch for epoch in superblock.epochs] == [3]


def test_two_runs_on_the_same_databases_leave_them_whole(folder: Path) -> None:
    paths = make_databases(folder, 20)
    execute("encrypt", Fleet(paths), operations.encrypt(identity=OLD))
    operation = operations.rotate_identity(old=OLD, new=NEW)
    reports = []
    threads = [
        threading.Thread(target=lambda name=name: reports.append(execute(name, Fleet(paths), operation)))
        for name in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.counts for report in reports] == [{"done": 20}] * 2, [report.findings() for report in reports]
    assert all(len(recipients(path)) == 1 for path in paths)
    assert numbers(paths, NEW) == list(range(20))


def test_a_new_holder_that_is_there_already_stays_once(folder: Path) -> None:
    paths = make_databases(folder, 2)
    for path in paths:
        selenite.encrypt(path, identity=OLD)
    selenite.run("keys", "add", paths[0], NEW, identity=OLD)
    assert len(recipients(paths[0])) == 2
    report = execute("rotate", Fleet(paths), operations.rotate_identity(old=OLD, new=NEW))
    assert report.counts == {"done": 2}
    assert len(recipients(paths[0])) == 1 and recipients(paths[0]) == recipients(paths[1])
    assert numbers(paths, NEW) == [0, 1]


def test_errors_are_of_their_database_and_the_others_go_on(folder: Path) -> None:
    paths = make_databases(folder, 4)
    execute("encrypt", Fleet(paths), operations.encrypt(identity=OLD))
    with open(paths[1], "r+b") as file:
        file.seek(65536 + 4096 * 2 + 9)
        file.write(b"damage")
    foreign = folder / "<b>foreign.db"
    foreign.write_bytes(os.urandom(9000))
    fleet = Fleet([*paths, foreign, folder / "missing.db"])
    report = execute("verify", fleet, operations.verify(identity=OLD))
    assert report.counts == {"done": 3, "failed": 3}
    kinds = {Path(one["path"]).name: one["error"]["kind"] for one in report.failed}
    assert kinds == {"1.db": "DamagedError", "<b>foreign.db": "NotEncryptedError", "missing.db": "StorageError"}
    assert all(one["attempts"] == 1 for one in report.databases)
    report.write("report.html")
    page = Path("report.html").read_text()
    assert "&lt;b&gt;foreign.db" in page and "<b>" not in page and "<script" not in page
    report.write("report.json")
    assert json.loads(Path("report.json").read_text())["counts"] == report.counts
    assert Path("report.html").stat().st_mode & 0o777 == 0o600


def test_a_wrong_identity_changes_nothing(folder: Path) -> None:
    paths = make_databases(folder, 2)
    execute("encrypt", Fleet(paths), operations.encrypt(identity=OLD))
    selenite.keygen("stranger.txt")
    before = [path.read_bytes() for path in paths]
    for number, operation in enumerate(
        [
            operations.rotate_identity(old="stranger.txt", new=NEW),
            operations.reencrypt(identity="stranger.txt"),
            operations.compromised("age1nobody", identity="stranger.txt"),
            operations.verify(identity="stranger.txt"),
        ]
    ):
        report = execute(f"{number}.state", Fleet(paths), operation)
        assert {one["error"]["kind"] for one in report.failed} == {"IdentityError"} and len(report.failed) == 2
    assert [path.read_bytes() for path in paths] == before


def test_a_database_is_in_a_fleet_once(folder: Path) -> None:
    paths = make_databases(folder, 3)
    (folder / "link.db").symlink_to(paths[0])
    os.link(paths[1], folder / "hard.db")
    names = [paths[0], folder / "link.db", paths[1], folder / "hard.db", "missing.db", "missing.db", paths[2]]
    fleet = Fleet(names)
    assert [one.path for one in fleet] == [str(paths[0]), str(paths[1]), str(folder / "missing.db"), str(paths[2])]
    assert fleet.duplicates == [str(folder / "link.db"), str(folder / "hard.db"), str(folder / "missing.db")]
    both = fleet + Fleet.glob(str(folder / "databases/*.db"))
    assert len(both) == 4 and len(both.duplicates) == 6


def test_fleets_come_from_globs_tables_and_queries(folder: Path) -> None:
    paths = make_databases(folder, 2)
    for suffix in ("-wal", "-shm", "-journal"):
        Path(f"{paths[0]}{suffix}").touch()
    assert [one.path for one in Fleet.glob("databases/*")] == [str(path) for path in paths]
    Path("fleet.csv").write_text("path,node,tenant\ndatabases/0.db,north,acme\ndatabases/1.db,,\n")
    expected = [Database(str(paths[0]), "north", {"tenant": "acme"}), Database(str(paths[1]), None, {"tenant": ""})]
    assert list(Fleet.csv("fleet.csv")) == expected
    table = sqlite3.connect(":memory:")
    table.execute("CREATE TABLE tenant(file, name)")
    table.execute("INSERT INTO tenant VALUES ('databases/0.db', 'acme')")
    assert list(Fleet.query(table, "SELECT file AS path, name FROM tenant")) == [
        Database(str(paths[0]), None, {"name": "acme"})
    ]
    Path("bad.csv").write_text("file\na.db\n")
    for bad in (lambda: Fleet.csv("bad.csv"), lambda: Fleet.query(table, "SELECT file FROM tenant")):
        with pytest.raises(ValueError, match="path"):
            bad()
    with pytest.raises(TypeError):
        Fleet("a.db")


def test_a_budget_of_failures_ends_a_run_that_can_go_on(folder: Path) -> None:
    paths = make_databases(folder, 8)
    fleet = Fleet([*(folder / f"missing{number}.db" for number in range(5)), *paths])
    limits = Limits(failures=3)
    how = {"limits": limits, "executor": LocalExecutor(1)}
    report = execute("encrypt", fleet, operations.encrypt(identity=OLD), **how)
    assert report.counts == {"failed": 3, "waiting": 10}
    how["executor"] = LocalExecutor(2)
    report = execute("encrypt", fleet, operations.encrypt(identity=OLD), **how)
    assert report.counts == {"failed": 5, "done": 8}
    assert numbers(paths, OLD) == list(range(8))


def test_a_database_in_use_is_tried_again(folder: Path) -> None:
    [path] = make_databases(folder, 1)
    user = sqlite3.connect(path, isolation_level=None)
    user.execute("BEGIN IMMEDIATE")
    limits = Limits(attempts=2, retry_seconds=0.01)
    with Run("state", Fleet([path]), operations.encrypt(identity=OLD), identity=OLD, limits=limits) as run:
        [failed] = run.execute().failed
        assert failed["error"]["kind"] == "BusyError" and failed["attempts"] == 2
        user.close()
        assert run.execute().counts == {"failed": 1}
        run.retry_failed()
        assert run.execute().counts == {"done": 1}


def children() -> list[int]:
    """The processes that this one has started."""
    return [int(child) for one in Path("/proc/self/task").iterdir() for child in (one / "children").read_text().split()]


def test_processes_that_are_killed_are_started_again_and_end_with_their_run(folder: Path) -> None:
    paths = make_databases(folder, 12)
    before = set(children())
    assert execute("encrypt", Fleet(paths), operations.encrypt(identity=OLD)).counts == {"done": 12}
    limits = Limits(attempts=30, retry_seconds=0.001)
    killed = []

    def kill_all(_: object) -> None:
        for child in set(children()) - before:
            os.kill(child, signal.SIGKILL)
            killed.append(child)

    operation = operations.verify(identity=OLD)
    with Run("verify", Fleet(paths), operation, identity=OLD, limits=limits) as run:
        assert run.execute(progress=kill_all).counts == {"done": 12}
        assert killed
    assert set(children()) <= before


def test_a_state_has_one_driver_and_one_operation(folder: Path) -> None:
    fleet = Fleet(make_databases(folder, 1))
    with Run("state", fleet, operations.status(), identity=OLD):
        with pytest.raises(StateError, match="another driver"):
            Run("state", fleet, operations.status(), identity=OLD)
    with pytest.raises(StateError, match="another run"):
        Run("state", fleet, operations.encrypt(identity=OLD), identity=OLD)
    with pytest.raises(sqlite3.Error):
        Run("state", fleet, operations.status(), identity=NEW)
    Run("state", fleet, operations.status(), identity=OLD).close()


def test_a_secret_key_is_not_taken_for_a_name(folder: Path) -> None:
    secret = next(line for line in Path(OLD).read_text().splitlines() if line.startswith("AGE-SECRET"))
    for take in (
        lambda: operations.verify(identity=secret),
        lambda: operations.rotate_identity(old=OLD, new=secret),
        lambda: operations.compromised(secret, identity=OLD),
        lambda: operations.encrypt(identity=OLD, recipients=[secret]),
    ):
        with pytest.raises(ValueError, match="secret key") as caught:
            take()
        assert secret not in str(caught.value)


def test_the_state_is_encrypted_and_has_no_key(folder: Path) -> None:
    paths = make_databases(folder, 3)
    execute("run.state", Fleet(paths), operations.encrypt(identity=OLD))
    secret = next(line for line in Path(OLD).read_text().splitlines() if line.startswith("AGE-SECRET"))
    for file in folder.glob("run.state*"):
        content = file.read_bytes()
        assert b"databases/" not in content and b"CREATE TABLE" not in content
    connection = selenite.connect("run.state", identity=OLD)
    assert secret not in "".join(connection.iterdump())


class Counting:
    """Counts how many tasks run at a time, and ends them when it is asked for results."""

    capacity = 10

    def __init__(self) -> None:
        self.running: list[list[Task]] = []
        self.largest = 0
        self.most: dict[str, int] = {}
        self.starts: list[float] = []

    def host(self, task: Task) -> str:
        return task.node or ""

    def host_capacity(self, host: str) -> Optional[int]:
        return 4 if host == "a" else None

    def start(self, batch: Sequence[Task]) -> None:
        node = batch[0].node
        assert all(task.node == node for task in batch)
        self.running.append(list(batch))
        self.starts.append(time.monotonic())
        self.largest = max(self.largest, len(batch))
        on_host = sum(one[0].node == node for one in self.running)
        self.most[node or ""] = max(on_host, self.most.get(node or "", 0))

    def wait(self, seconds: float) -> Optional[Ended]:
        if not self.running:
            time.sleep(seconds)
            return None
        ended = self.running[0].pop(0).number
        if not self.running[0]:
            del self.running[0]
        return Ended(ended, "here", result={})

    def close(self) -> None:
        pass


def test_limits_hold_for_each_host_and_for_all(folder: Path) -> None:
    fleet = Fleet([Database(f"{number}.db", "abc"[number % 3]) for number in range(90)])
    executor = Counting()
    limits = Limits(per_host=5)
    assert execute("hosts", fleet, operations.status(), executor=executor, limits=limits).counts == {"done": 90}
    assert executor.most["a"] <= 4 and executor.most["b"] <= 5 and executor.most["c"] <= 5
    assert sum(executor.most.values()) >= 10 and executor.largest > 1
    executor = Counting()
    limits = Limits(per_second=200)
    execute("rate", fleet, operations.status(), executor=executor, limits=limits)
    assert executor.largest == 1
    # No timed bound from above: machines that test are busy.
    assert executor.starts[-1] - executor.starts[0] >= 89 / 200 * 0.99


def test_results_that_come_one_by_one_are_stored_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Counting):
        def wait(self, seconds: float) -> Optional[Ended]:
            return super().wait(seconds) if seconds > 0 else None

    commits: list[None] = []
    commit = State.commit
    monkeypatch.setattr(State, "commit", lambda state: (commits.append(None), commit(state)))
    fleet = Fleet([Database(f"{number}.db") for number in range(300)])
    assert execute("state", fleet, operations.status(), executor=Late()).counts == {"done": 300}
    assert 0 < len(commits) < 100


def test_a_node_with_another_version_is_refused(folder: Path) -> None:
    [path] = make_databases(folder, 1)
    [ended] = perform([Task(1, str(path), None, operations.encrypt(identity=OLD), {})], "9.9.9", "node")
    assert ended.error and ended.error["kind"] == "VersionError" and "9.9.9" in ended.error["message"]
    assert path.read_bytes().startswith(b"SQLite format 3")


def test_an_interrupted_run_ends_what_it_has_begun(folder: Path) -> None:
    fleet = Fleet(make_databases(folder, 10))

    def stop(progress: Any) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    with Run("state", fleet, operations.encrypt(identity=OLD), identity=OLD) as run:
        with pytest.raises(KeyboardInterrupt):
            run.execute(stop)
        counts = run.report().counts
        assert "started" not in counts and counts["done"] >= 3 and counts["waiting"] >= 1
        assert run.execute().counts == {"done": 10}


def test_an_interrupted_command_line_goes_on(folder: Path) -> None:
    """A terminal interrupts the driver and the commands that it runs: none of these has failed."""
    make_databases(folder, 30, kilobytes=2000)
    line = [sys.executable, "-m", "selenite.fleet", "encrypt", "--glob", "databases/*.db", "--state", "state"]
    line += ["--identity", OLD]
    interrupted = 0
    while True:
        run = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        if interrupted < 2:
            while not list(folder.glob("databases/.*selenite-tmp*")) and run.poll() is None:
                time.sleep(0.001)
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGINT)
            interrupted += 1
        said, errors = run.communicate()
        if run.returncode == 0:
            break
        assert run.returncode == 130 and "Traceback" not in errors, errors
    assert said == "30 done\n" and interrupted == 2


DRIVER = """
import sys
from selenite.fleet import Fleet, LocalExecutor, Run, operations
make, paths = getattr(operations, sys.argv[1]), sys.argv[2:]
how = dict(old="key.txt", new="new.txt") if sys.argv[1] == "rotate_identity" else dict(identity="key.txt")
print("begun", flush=True)
with Run("run.state", Fleet(paths), make(**how), identity="key.txt", executor=LocalExecutor(3)) as run:
    def said(progress):
        print(progress.done, flush=True)
        if progress.done == 3 and sys.argv[1] == "verify":
            sys.stdin.read()
    run.execute(said)
"""


@pytest.mark.parametrize("operation", ["rotate_identity", "reencrypt"])
def test_drivers_that_are_killed_lose_nothing_and_repeat_nothing(operation: str, folder: Path) -> None:
    """Each driver, and what it has started, is killed after it has ended a few more databases."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    paths = make_databases(folder, 40)
    execute("encrypt", Fleet(paths), operations.encrypt(identity=OLD))
    kills = 0
    while True:
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, operation, *paths], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert driver.stdout
        stop_after = rng.randrange(1, 12)
        for line in driver.stdout:
            stop_after -= 1
            if stop_after == 0:
                os.killpg(driver.pid, signal.SIGKILL)
                kills += 1
        if driver.wait() == 0:
            break
    assert kills > 2
    identity = NEW if operation == "rotate_identity" else OLD
    assert numbers(paths, identity) == list(range(40))
    for path in paths:
        superblock = selenite.status(path, identity=identity).superblock
        assert superblock and superblock.state == "steady" and len(superblock.slots) == 1
        if operation == "reencrypt":
            # One new data key, not two.
            assert [epoch.epoch for epoch in superblock.epochs] == [2]
        selenite.verify(path, identity=identity)


def test_a_driver_that_is_killed_while_it_looks_leaves_databases_that_wait(folder: Path) -> None:
    """What it had looked at may be looked at again; none is under way, and none has lost an attempt."""
    paths = make_databases(folder, 40)
    execute("encrypt", Fleet(paths), operations.encrypt(identity=OLD))
    line = [sys.executable, "-c", DRIVER, "verify", *paths]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as driver:
        assert driver.stdout
        for said in driver.stdout:
            if said == "3\n":
                os.killpg(driver.pid, signal.SIGKILL)
    assert driver.returncode == -signal.SIGKILL
    connection = selenite.connect("run.state", identity=OLD)
    states = {state for (state,) in connection.execute("SELECT state FROM task")}
    connection.close()
    assert "waiting" in states and states <= {"waiting", "done"}
    operation = operations.verify(identity=OLD)
    report = execute("run.state", Fleet(paths), operation)
    assert report.counts == {"done": 40}
    assert {one["attempts"] for one in report.databases} == {1}
    assert all(one["started"] <= one["ended"] for one in report.databases)
    # A later process reads the same from the state.
    with Run("run.state", Fleet(paths), operation, identity=OLD) as run:
        assert run.report().json() == report.json()


def test_the_command_line_does_the_same(folder: Path) -> None:
    make_databases(folder, 3)
    line = [sys.executable, "-m", "selenite.fleet", "encrypt", "--glob", "databases/*.db", "--state", "state"]
    line += ["--identity", OLD, "--report", "report.html", "--report", "report.json"]
    done = subprocess.run([*line, "missing.db"], capture_output=True, text=True)
    assert done.returncode == 1 and "3 done, 1 failed" in done.stdout and "missing.db" in done.stderr
    found: Mapping[str, Any] = json.loads(Path("report.json").read_text())
    assert found["counts"] == {"done": 3, "failed": 1}
    assert "no such file" in next(iter(found["findings"]["failures"])).lower() and "1 failed: " in done.stderr
    bad = subprocess.run(
        [*line[:3], "drill", "a.db", "--state", "other", "--identity", OLD], capture_output=True, text=True
    )
    assert bad.returncode == 2 and bad.stderr == "error: drill needs --destination or --from-backups\n"


def test_the_command_line_says_what_is_wrong(folder: Path) -> None:
    (folder / "fleet.csv").write_text("file\na.db\n")
    # A Ray of ours in the place of an installed one.
    (folder / "ray.py").write_text("raise ModuleNotFoundError(\"No module named 'ray'\")\n")
    line = [sys.executable, "-m", "selenite.fleet", "status", "--state", "state", "--identity", OLD]
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ['PYTHONPATH']}"}
    damaged = folder / "damaged"
    damaged.write_bytes(b"x" * 5000)
    for more, said in (
        ([], "no database: nothing is named, or matches"),
        (["--glob", "nothing/*.db"], "no database: nothing is named, or matches"),
        (["a.db", "--report", "report.pdf"], "report.pdf: a report ends with .html or .json"),
        (["a.db", "--report", "missing/report.html"], "there is no such folder"),
        (["a.db", "--identity", "missing.txt"], "missing.txt"),
        (["a.db", "--state", str(damaged)], "damaged"),
        (["--csv", "fleet.csv"], "fleet.csv: a table of databases has a column 'path'"),
        (["--csv", "missing.csv"], "missing.csv"),
        (["a.db", "--workers", "0"], "workers is at least 1"),
        (["--ray", "a.db"], "RayExecutor needs Ray: python -m pip install ray"),
    ):
        ended = subprocess.run([*line, *more], env=environment, capture_output=True, text=True)
        assert ended.returncode in (1, 2) and ended.stderr.count("\n") == 1, ended.stderr
        assert ended.stderr.startswith("error: ") and said in ended.stderr

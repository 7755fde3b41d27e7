"""Studies of a server by the lab itself: one that runs to its report, and faults that it has to find."""

import json
import sys
from pathlib import Path

import pytest
from conftest import PROGRAM, if_installed, lab

FAULTY = Path(__file__).with_name("faulty.py")
pytestmark = [
    pytest.mark.skipif(not PROGRAM, reason="SELENITE_TEST_COMMAND names no program"),
    if_installed("mariadb"),
]
STUDY = """
[study]
name = "s"
seed = 7
sessions = 2
pairs = 2
[layout]
page_size = 16384
cache = "{cache}"
[data]
kind = "scan"
size = "16MiB"
[arms.encrypted]
engine = "mariadb"
cipher = "{cipher}"
{worker}
"""
CELL = """
[[cells]]
name = "{kind}-{cache}"
work = {{ kind = "{kind}" }}
cache = "{cache}"
gating = true
"""


def study(folder: Path, *cells: tuple[str, str], cipher: str = "all-cbc", worker: str = "", cache: str = "16MiB") -> None:
    text = STUDY.format(cipher=cipher, worker=worker, cache=cache)
    text += "".join(CELL.format(kind=kind, cache=state) for kind, state in cells)
    (folder / "s.toml").write_text(text)


def faulty(folder: Path, fault: str) -> str:
    """The line of an arm for a worker with a fault."""
    worker = folder / fault
    worker.write_text(f"#!/bin/sh\nexec '{sys.executable}' -B '{FAULTY}' {fault}\n")
    worker.chmod(0o755)
    return f'worker = "{worker}"'


def summary_of(folder: Path) -> dict:
    reported = lab(folder, "report", "s.lab.db", "--json", "s.json", "--html", "s.html")
    assert reported.returncode == 0, reported.stderr
    return json.loads((folder / "s.json").read_text())


def test_a_study_of_a_server_runs_to_its_report(tmp_path):
    study(tmp_path, ("like", "cold"), ("equal", "os"))
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode == 0, ran.stderr
    summary = summary_of(tmp_path)
    labels = [arm["label"] for arm in summary["arms"]]
    assert labels[0].startswith("MariaDB 10.11") and labels[0].endswith("in clear")
    assert labels[1].endswith("in clear, second copy")
    proof = dict(summary["arms"][2]["proof"])
    assert proof["verdict"] == "encrypted"
    # What MariaDB leaves in clear is told, by the files' names.
    assert proof["in clear: general_log"].startswith("rows: ")
    assert "in clear: lab/SomeData.frm" in proof
    assert proof["encrypted: selenite-lab.spilled"] == "records"
    assert "selenite-lab.spilled" in proof["marker in the unencrypted copy"]
    assert any("general_log" in text for text in [(tmp_path / "s.html").read_text()])
    assert not summary["evidence"]["void"]
    cold = next(cell for cell in summary["cells"] if cell["name"] == "like-cold")
    assert all(level["metrics"]["read-bytes"] > 10 << 20 for level in cold["levels"].values())
    assert not list(tmp_path.glob("*.copies"))


def test_an_arm_that_is_not_encrypted_is_found(tmp_path):
    study(tmp_path, ("equal", "os"), worker=faulty(tmp_path, "not-encrypted"))
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode != 0
    assert "SomeData.ibd is reported as encrypted, but is not: found the text" in ran.stderr


def test_temporary_files_that_are_not_encrypted_are_found_although_the_server_has_deleted_them(tmp_path):
    study(tmp_path, ("equal", "os"), worker=faulty(tmp_path, "temporary-files-in-clear"))
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode != 0
    assert "selenite-lab.spilled is reported as encrypted, but is not: found the text" in ran.stderr


def test_a_connection_that_is_not_encrypted_is_found_on_data_with_tables(tmp_path):
    study(tmp_path, ("equal", "os"), cipher="tls", worker=faulty(tmp_path, "connection-in-clear"))
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode != 0
    assert "selenite-lab.connection is reported as encrypted, but is not: found the text" in ran.stderr


def test_files_and_the_connection_are_encrypted_together(tmp_path):
    study(tmp_path, ("equal", "os"), cipher="all-ctr+tls")
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode == 0, ran.stderr
    proof = dict(summary_of(tmp_path)["arms"][2]["proof"])
    assert proof["verdict"] == "encrypted" and proof["engine: Ssl_version"].startswith("TLSv1.")
    assert proof["encrypted: selenite-lab.connection"].startswith("pages: ")
    assert proof["encrypted: lab/SomeData.ibd"].startswith("pages: ")


def test_a_cold_cell_that_is_warm_does_not_count(tmp_path):
    study(tmp_path, ("like", "cold"), worker=faulty(tmp_path, "warm"), cache="64MiB")
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode != 0
    assert "its file was not cold: its server read nothing from storage" in ran.stderr


def test_a_client_slower_than_its_server_is_told(tmp_path):
    study(tmp_path, ("equal", "os"), worker=faulty(tmp_path, "slow-client"))
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode == 0, ran.stderr
    assert [limit for limit in summary_of(tmp_path)["limits"] if "generator-bound" in limit]


def test_work_that_a_server_does_not_do_is_refused_before_anything_is_written(tmp_path):
    study(tmp_path, ("physical-verify", "os"))
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode != 0
    assert "engine `mariadb` does no work `physical-verify`" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


def test_a_page_size_that_a_server_does_not_have_is_refused(tmp_path):
    study(tmp_path, ("equal", "os"), cache="2MiB")
    ran = lab(tmp_path, "run", "s.toml")
    assert ran.returncode != 0
    assert "8 MiB at least" in ran.stderr and "set layout.cache" in ran.stderr

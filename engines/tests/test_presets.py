"""Each preset of a server runs from its data to its report, at a small size."""

import json
import re
from pathlib import Path

import pytest
from conftest import ENGINES as WORKERS
from conftest import PROGRAM, if_installed, lab

PRESETS_FOLDER = WORKERS.parent / "crates" / "lab" / "lab" / "src" / "presets"
ONE = ["study.sessions=1", "study.pairs=2"]
ROWS, SIZE = "data.rows=5000", "data.size=8MiB"
PRESETS = {
    "mariadb-scan": [SIZE],
    "mariadb-dml": [ROWS],
    "mariadb-hummer": [],
    "mariadb-mixes": [],
    "mariadb-messages": [],
    "percona-2019": ["data.rows=50000"],
    "mdev-36024": [ROWS],
    "mariadb-convert": [SIZE],
    "mariadb-redo": [ROWS],
    "mariadb-tls": [ROWS],
    "postgresql-messages": [],
    "postgresql-hummer": [],
    "duckdb-scan": [SIZE, "data.statements.rows=5000"],
    "serve-hummer": [],
    "serve-tde": [SIZE, "data.statements.rows=5000"],
}
ENGINES = {"percona-2019": ["mariadb"], "mdev-36024": ["mariadb"], "mariadb-redo": ["mariadb", "mariadb118"]}


def with_few_mixes(preset: str, folder: Path) -> str:
    """What to run for a preset: the file of one with two of sixteen mixes, if it has as many."""
    text = (PRESETS_FOLDER / f"{preset}.toml").read_text()
    few = re.sub(r"^mixes = \[ .*?^\]", 'mixes = ["4/3/3", "0/5/5"]', text, flags=re.MULTILINE | re.DOTALL)
    if few == text:
        return preset
    study = folder / f"{preset}.toml"
    study.write_text(few)
    return str(study)


def with_engines(preset: str):
    marks = [if_installed(engine) for engine in ENGINES.get(preset, [preset.split("-")[0]])]
    return pytest.param(preset, marks=marks)


@pytest.mark.skipif(not PROGRAM, reason="SELENITE_TEST_COMMAND names no program")
@pytest.mark.parametrize("preset", [with_engines(preset) for preset in PRESETS])
def test_a_preset_runs_to_its_report(preset, tmp_path, tmp_path_factory):
    settings = [word for setting in ONE + PRESETS[preset] for word in ("--set", setting)]
    ran = lab(tmp_path, "run", with_few_mixes(preset, tmp_path_factory.mktemp("few")), *settings)
    assert ran.returncode == 0, ran.stderr
    reported = lab(tmp_path, "report", f"{preset}.lab.db", "--json", "s.json", "--md", "s.md", "--html", "s.html")
    assert reported.returncode == 0, reported.stderr
    summary = json.loads((tmp_path / "s.json").read_text())
    assert not summary["evidence"]["void"]
    encrypted = [arm for arm in summary["arms"] if arm["role"] == "encrypted"]
    assert encrypted
    for arm in encrypted:
        # One of each dataset.
        verdicts = [value for name, value in arm["proof"] if name.endswith("verdict")]
        assert verdicts and set(verdicts) == {"encrypted"}, verdicts
    for cell in summary["cells"]:
        effects = {(effect["arm"], effect["metric"]) for effect in cell["effects"]}
        assert {(arm["name"], "cpu") for arm in encrypted} <= effects, cell["name"]
    assert ("published" in summary) == preset.endswith(("2019", "36024"))
    # Nothing but the store and the reports is left.
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([f"{preset}.lab.db", "s.html", "s.json", "s.md"])

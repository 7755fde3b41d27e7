"""What every worker owes: the answers of SQLite to the same requests, and the encryption that it claims."""

import json
from pathlib import Path

import pytest
from conftest import database, workers
from engine import is_tls

DATASETS = {
    "scan": {"kind": "scan", "bytes": 1 << 20},
    "statements": {"kind": "statements", "rows": 500, "indexes": 2},
    "cards": {"kind": "cards", "rows": 300},
}
WORKS = {
    "scan": [("like", {"rehearsals": 1}), ("equal", {})],
    "statements": [
        ("select-all", {}),
        ("insert", {"rows": 50}),
        ("update-all", {}),
        ("select-all", {}),
        ("integrity-check", {}),
    ],
    "cards": [],
}
# Ciphers that differ from others by a key's length or the connection alone.
ONCE = {"tables-cbc-128", "tables-cbc-192", "all-cbc+tls", "all-ctr+tls"}
# Engines whose keys of new rows leave a gap after a restart, as SQL Server's do: what is inserted is
# compared between ciphers, and with SQLite's by the number of rows.
GAPS = {"serve"}
MIX = {"mix": [4, 3, 3], "loops": 100, "pause_every": 50, "pause_ms": 1}


def hello_of(start, engine: str):
    worker = start(engine)
    return worker, worker.ask("hello", protocol=5)


@pytest.mark.parametrize("engine", workers())
def test_requests_that_cannot_be_done_are_errors_and_it_goes_on(engine, start, tmp_path):
    worker, hello = hello_of(start, engine)
    assert hello["engine"] == engine and hello["server"] and hello["ciphers"] is not None
    for line in ("rubbish", '{"do":"dance"}', '{"do":"digest","x":1}', '{"do":"hello","protocol":6}', "[]"):
        worker.send(line)
        assert "error" in worker.receive(), line
    assert "open one first" in worker.refused("digest")
    assert "no data folder" in worker.refused("open", database=database(engine, tmp_path))
    none = database(engine, tmp_path) | {"cipher": "rot13"}
    assert "no cipher rot13" in worker.refused("open", database=none)
    assert "no setting colour" in worker.refused("open", database=database(engine, tmp_path) | {"settings": {"colour": "red"}})
    assert worker.end() == 0


@pytest.mark.parametrize("kind", DATASETS)
@pytest.mark.parametrize("engine", workers())
def test_answers_are_those_of_sqlite_in_every_cipher(engine, kind, start, references, tmp_path):
    worker, hello = hello_of(start, engine)
    needed = {"scan": "like", "statements": "insert", "cards": "hummer"}[kind]
    if needed not in hello["works"]:
        pytest.skip(f"{engine} does no {needed}")
    of_ciphers = set()
    for cipher in ["plain", *(cipher for cipher in hello["ciphers"] if kind == "scan" or cipher not in ONCE)]:
        place = tmp_path / cipher
        place.mkdir()
        reference = references(place, DATASETS[kind])
        spec = database(engine, place, cipher)
        loaded = worker.ask("load", database=spec, dataset=DATASETS[kind], seed=1, rows=str(reference.rows))
        assert loaded == reference.loaded
        check_files(worker, spec, loaded["marker"])
        has_gap = False
        for work, fields in WORKS[kind]:
            if work not in hello["works"]:
                continue
            sample = worker.run(work, **fields)
            check_sample(sample, work)
            expected = reference.worker.run(work, **fields)
            answers = [answer["answer"] for answer in (sample, expected)]
            if has_gap and work == "select-all":
                of_ciphers.add(answers[0])
                answers = [answer.split()[0] for answer in answers]
            assert answers[0] == answers[1], work
            assert sample["operations"] == expected["operations"], work
            has_gap |= work == "insert" and engine in GAPS
        if kind == "cards":
            sample = worker.run("hummer", hummer=MIX)
            check_sample(sample, "hummer")
            assert sample["answer"].startswith("40 read, 30 updated, 30 inserted, ")
            # The procedures' random numbers are the engine's own, so the rows are compared between ciphers.
            of_ciphers.add((sample["answer"], json.dumps(worker.ask("digest"))))
            assert worker.run("integrity-check")["answer"] == "ok"
            together = worker.run("hummer", count=3, hummer=MIX)
            assert together["answer"] == "120 read, 90 updated, 90 inserted"
        elif has_gap:
            of_ciphers.add(json.dumps(worker.ask("digest")))
        else:
            assert worker.ask("digest") == reference.worker.ask("digest")
        worker.ask("close")
    # An answer and a digest where there is a gap; a pair of both of the hummer.
    assert len(of_ciphers) == {"cards": 1, "statements": 2 if engine in GAPS else 0}.get(kind, 0), of_ciphers


def check_sample(sample: dict, work: str) -> None:
    for name in ("began_ns", "elapsed_ns", "cpu_ns", "client_cpu_ns", "pages", "database_bytes"):
        assert sample[name] > 0, name
    if work in ("insert", "update-all", "hummer"):
        assert 0 < sample["checkpoint_ns"] <= sample["elapsed_ns"]


def check_files(worker, spec: dict, marker: str) -> None:
    """Rows are in a file exactly if the engine does not claim to encrypt it; a claim is not empty."""
    opened = worker.ask("open", database=spec)
    worker.ask("close")
    is_plain = spec["cipher"] == "plain"
    folder = Path(spec["path"])
    if is_tls(spec["cipher"]):
        assert opened["encrypted_files"]["selenite-lab.connection"] == "pages"
        assert (folder / "selenite-lab.connection").stat().st_size > 200_000
    assert opened["encrypted"] != is_plain
    assert bool(opened.get("encrypted_files")) != is_plain
    for name in opened.get("encrypted_files", {}):
        assert marker.encode() not in (folder / name).read_bytes(), name
    if is_plain:
        assert any(marker.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
        # What is recorded for the proof has what the proof searches for.
        for path in folder.glob("selenite-lab.*"):
            assert path.suffix == ".json" or marker.encode() in path.read_bytes(), path
    for key in ("page_size", "synchronous"):
        if key in opened["layout"]:
            assert opened["layout"][key] == str(spec[key])
    worker.ask("open", database=spec)


@pytest.mark.parametrize("engine", workers())
def test_another_key_opens_nothing(engine, start, references, tmp_path):
    worker, hello = hello_of(start, engine)
    reference = references(tmp_path, DATASETS["scan"])
    ciphers = [cipher for cipher in hello["ciphers"] if not is_tls(cipher)]
    for cipher in ciphers:
        spec = database(engine, tmp_path, cipher)
        worker.ask("load", database=spec, dataset=DATASETS["scan"], seed=1, rows=str(reference.rows))
        other = tmp_path / "other" / "key"
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(bytes(32))
        worker.refused("open", database=spec | {"key_file": str(other)})


@pytest.mark.parametrize("engine", workers())
def test_a_control_ends_a_hummer_under_way(engine, start, references, tmp_path):
    worker, hello = hello_of(start, engine)
    if "hummer" not in hello["works"]:
        pytest.skip(f"{engine} has no hummer")
    reference = references(tmp_path, DATASETS["cards"])
    spec = database(engine, tmp_path)
    worker.ask("load", database=spec, dataset=DATASETS["cards"], seed=1, rows=str(reference.rows))
    worker.ask("open", database=spec)
    endless = {"mix": [10, 0, 0], "loops": 1_000_000, "pause_every": 1, "pause_ms": 3_600_000}
    request = {"work": {"kind": "hummer", "hummer": endless}, "seed": 1, "process": {"index": 0, "count": 2}}
    worker.send(json.dumps({"do": "run"} | request))
    worker.send(json.dumps({"do": "control", "stop": True, "mix": [8, 1, 1]}))
    sample = worker.receive()["ok"]
    assert sample["altered"] and sample["operations"] < 1_000_000


@pytest.mark.parametrize("engine", workers())
def test_the_mix_of_a_hummer_changes_while_it_runs(engine, start, references, tmp_path):
    worker, hello = hello_of(start, engine)
    if "hummer" not in hello["works"]:
        pytest.skip(f"{engine} has no hummer")
    reference = references(tmp_path, DATASETS["cards"])
    spec = database(engine, tmp_path)
    worker.ask("load", database=spec, dataset=DATASETS["cards"], seed=1, rows=str(reference.rows))
    worker.ask("open", database=spec)
    # Five seconds at least, in which the control table is read a hundred times.
    hummer = {"mix": [10, 0, 0], "loops": 100, "pause_every": 1, "pause_ms": 50}
    request = {"work": {"kind": "hummer", "hummer": hummer}, "seed": 1, "process": {"index": 0, "count": 1}}
    worker.send(json.dumps({"do": "run"} | request))
    worker.send(json.dumps({"do": "control", "mix": [0, 5, 5]}))
    sample = worker.receive()["ok"]
    counts = [int(part.split()[0]) for part in sample["answer"].split(", ")[:3]]
    assert sample["altered"] and sum(counts) == 100
    assert counts[1] > 10 and counts[2] > 10, counts


@pytest.mark.parametrize("engine", workers())
def test_a_database_may_be_named_by_a_relative_path(engine, start, references, tmp_path, monkeypatch):
    reference = references(tmp_path, DATASETS["scan"])
    spec = database(engine, tmp_path)
    monkeypatch.chdir(tmp_path)
    relative = spec | {"path": Path(spec["path"]).name, "key_file": "key"}
    worker = start(engine)
    worker.ask("load", database=relative, dataset=DATASETS["scan"], seed=1, rows=str(reference.rows))
    worker.ask("open", database=relative)
    assert worker.run("equal")["answer"].startswith("0 rows")


@pytest.mark.parametrize("engine", workers())
def test_what_is_read_along_is_random_with_tls_and_clear_without(engine, start, tmp_path):
    worker, hello = hello_of(start, engine)
    if "messages" not in hello["works"]:
        pytest.skip(f"{engine} sends no messages")
    digests = set()
    for cipher in ("plain", "tls"):
        spec = database(engine, tmp_path, cipher)
        loaded = worker.ask("load", database=spec, dataset={"kind": "wire"}, seed=1)
        assert (loaded["marker"].encode() in Path(spec["path"]).read_bytes()) == (cipher == "plain")
        opened = worker.ask("open", database=spec)
        assert opened["encrypted"] == (cipher == "tls")
        digests |= {loaded["digest"], worker.ask("digest")["digest"]}
        sample = worker.run("messages", turns=50_000, packet_size=8192)
        # Each row has its digits, and five bytes at least of the protocol's own.
        digits = sum(len(str(number)) for number in range(1, 50_001))
        assert sample["operations"] == 50_000 and sample["write_chars"] > 50_000 * 5 + digits
        assert sample["pages_written"] == -(-sample["write_chars"] // 8192)
        worker.ask("close")
    assert len(digests) == 1

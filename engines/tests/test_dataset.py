"""Rows, digests and random numbers are those of the native worker."""

from pathlib import Path

import dataset as data
import pytest
from server_worker import answer_of

DATASETS = [
    {"kind": "scan", "bytes": 1 << 20},
    {"kind": "statements", "rows": 500, "indexes": 2},
    {"kind": "cards", "rows": 300},
]


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset["kind"])
def test_the_digest_of_rows_is_that_of_the_native_worker(dataset, references, tmp_path):
    reference = references(tmp_path, dataset)
    digest = data.RowDigest()
    for table in sorted(data.TABLES[dataset["kind"]]):
        digest.table(table, data.rows(str(reference.rows), table))
    expected = {name: reference.loaded[name] for name in ("digest", "rows")}
    assert digest.result() == expected
    assert reference.loaded["marker"] == data.MARKERS[dataset["kind"]]


def test_an_answer_is_that_of_the_native_worker(references, tmp_path):
    reference = references(tmp_path, DATASETS[0])
    rows = [row for row in data.rows(str(reference.rows), "SomeData") if "Wibble" in row[1]]
    assert answer_of(rows) == reference.worker.run("like")["answer"]


def test_random_dates_are_those_of_the_native_worker(references, tmp_path):
    reference = references(tmp_path, DATASETS[1])
    reference.worker.run("insert", rows=200)
    digest = reference.worker.ask("digest")
    from conftest import SEED

    random = data.Random(SEED)
    rows = list(data.rows(str(reference.rows), "testtable"))
    rows += [(501 + number, random.date(), f"{'SQLSHACK':25}") for number in range(200)]
    ours = data.RowDigest()
    ours.table("testtable", rows)
    assert ours.result() == digest


def test_the_stream_of_a_process_differs():
    one, other = data.Random(7, 0), data.Random(7, 1)
    assert [one.next_u32() for _ in range(40)] != [other.next_u32() for _ in range(40)]


def test_texts_have_no_w():
    assert "W" not in data.Random(1).string(10_000)


def test_rows_are_read_only(tmp_path: Path):
    with pytest.raises(Exception, match="unable to open"):
        list(data.rows(str(tmp_path / "none.db"), "SomeData"))

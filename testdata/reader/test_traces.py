"""Opens every trace of testdata/trace, as expected.json says."""

import json
import pathlib

import primitives
import pytest
import selenite_trace
from selenite_reader import Refused

TRACES = pathlib.Path(__file__).parent.parent / "trace"
IDENTITY = (TRACES.parent / "age" / "identity.txt").read_text("ascii").strip()
EXPECTED = json.loads((TRACES / "expected.json").read_text("ascii"))


def test_every_trace_is_expected():
    assert sorted(EXPECTED) == sorted(path.stem for path in TRACES.glob("*.trace"))


@pytest.mark.skipif(primitives.pyrage is None, reason="no pyrage")
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_trace_has_the_records_that_are_expected(name):
    expect, wanted = EXPECTED[name]["expect"], EXPECTED[name]["records"]
    found = []
    try:
        for record in selenite_trace.records((TRACES / (name + ".trace")).read_bytes(), IDENTITY):
            found.append(record)
    except Refused as refused:
        assert str(refused) == expect
    else:
        assert expect == "ok"
    assert found == wanted

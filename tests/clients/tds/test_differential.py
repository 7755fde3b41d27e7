"""The server's answers to random statements are those of a model of SQL Server's: `make test-differential` draws more."""

import sys
from pathlib import Path

import pytest
from servers import Servers

sys.path.append(str(Path(__file__).resolve().parent / "differential"))

import conversion  # noqa: E402
from differential_run import Differential  # noqa: E402

SEED = 20_240_229


def test_random_statements_have_the_answers_of_the_model(servers: Servers) -> None:
    run = Differential(servers.of("off"), SEED)
    run.run(3000)
    assert not run.wrong, f"{run.wrong}; {run.summary}"


def test_a_wrong_rounding_is_found(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it is the model that rounds wrongly: conversions cut off what they should round."""
    monkeypatch.setattr(conversion, "rounded", conversion.truncated)
    run = Differential(servers.of("off"), SEED)
    run.run(1000, only="expressions")
    assert run.wrong

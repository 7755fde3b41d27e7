"""The list of what the server does not do yet names tests that there are, and reasons."""

import re
from pathlib import Path

from not_yet import NOT_YET

HERE = Path(__file__).resolve().parent


def test_the_list_names_tests() -> None:
    tests = {name for file in HERE.glob("test_*.py") for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)}
    assert set(NOT_YET) - tests == set()
    assert all(NOT_YET.values())

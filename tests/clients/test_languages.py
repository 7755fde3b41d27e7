"""Hosts in other languages, from Debian, by the scripts of tests/hosts: each writes from four connections at once."""

import os
import subprocess
from pathlib import Path

import pytest
from host import EXTENSION
from test_command import COMMAND

HOSTS = Path(__file__).resolve().parents[1] / "hosts"


@pytest.mark.parametrize("language", ["perl", "php", "ruby"])
def test_a_host_of_another_language_uses_an_encrypted_database(language: str, folder: Path) -> None:
    environment = os.environ | {"CARGO_TARGET_DIR": str(folder), "HOME": str(folder)}
    command = [HOSTS / "run.sh", EXTENSION, COMMAND, language]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended
    assert ended.stdout.startswith(f"{language}: SQLite 3.") and ended.stdout.endswith(": encrypted\n"), ended

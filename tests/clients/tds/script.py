"""The scripts of sources 000 and 002, and what sqlcmd does with a script before the server sees it."""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "scripts"


def text(name: str) -> str:
    """A script, in the source's own words."""
    return (FOLDER / f"{name}.sql").read_text()


def batches(script: str) -> list[tuple[str, int]]:
    """The batches of a script, and how often each is sent: GO stands between them, in any case, with a number or none."""
    found = []
    lines: list[str] = []
    for line in [*script.splitlines(), "GO"]:
        if go := re.fullmatch(r"\s*go(?:\s+(\d+))?\s*", line, re.IGNORECASE):
            if "\n".join(lines).strip():
                found.append(("\n".join(lines), int(go[1] or 1)))
            lines = []
        else:
            lines.append(line)
    return found


def shortened(script: str, iterations: int) -> str:
    """Source 000's load with fewer iterations, and otherwise as it is."""
    short, count = re.subn(r"\b100000000\b", str(iterations), script)
    assert count == 1
    return short

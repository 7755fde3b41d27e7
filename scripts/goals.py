#!/usr/bin/env python3
"""Writes a table of what the full study was meant to reach and what it found, of docs/goals.toml and docs/studies/*.json.

usage: scripts/goals.py FOLDER   the Markdown goes to standard output

Met: the whole interval is at or below the goal; missed: all of it is above; else the interval holds the goal, and on which
side the estimate lies is said.
"""

import json
import pathlib
import sys
import tomllib

SUITES = ("AES_256", "AEGIS_256X4")


def effect(studies, row, arm, metric):
    """The effect of an arm in a cell, as the study found it; None where there is none."""
    study = studies.get(row["study"], {})
    for cell in study.get("cells", []):
        if cell["name"] == row["cell"]:
            for found in cell["effects"]:
                if found["arm"] == arm and found["metric"] == metric:
                    return found
    return None


def ratio(found):
    """A ratio to the control with its interval, as 1.02 (0.98 to 1.06)."""
    if found is None:
        return "-"
    text = f"{1 + found['ratio']:.2f}"
    if found.get("interval"):
        low, high = (1 + bound for bound in found["interval"])
        text += f" ({low:.2f} to {high:.2f})"
    return text


def judged(found, goal):
    """Whether a goal was met."""
    if found is None or not found.get("interval"):
        return "not measured"
    low, high = (1 + bound for bound in found["interval"])
    if high <= goal:
        return "met"
    if low > goal:
        return "**missed**"
    return "met within the interval" if 1 + found["ratio"] <= goal else "missed within the interval"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    rows = tomllib.loads((folder.parent / "goals.toml").read_text())["rows"]
    studies = {
        row["study"]: json.loads((folder / f"{row['study']}.json").read_text())
        for row in rows
        if (folder / f"{row['study']}.json").exists()
    }
    print("## Against the goals\n")
    print("CPU time (where said, elapsed time) of encrypted / stock SQLite in the same run, with 95 % intervals, beside what was to be reached; then")
    print("elapsed time, which was to be at most 1.00, and CPU time against suite NONE (what the cipher adds to the same way; NONE itself spends")
    print("about 2.5 us on a SHA-256 of each page, so that a cipher can cost less than it).\n")
    print("| work | suite | goal | CPU | | elapsed | against NONE |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        metric = row.get("metric", "cpu")
        for suite in SUITES:
            found = effect(studies, row, suite, metric)
            elapsed = effect(studies, row, suite, "elapsed")
            none = (found or {}).get("against_none")
            cells = (row["work"], suite, f"{row[suite]:.2f}", ratio(found), judged(found, row[suite]), ratio(elapsed), ratio(none))
            print("| " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    main()

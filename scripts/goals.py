#!/usr/bin/env python3
"""Writes a table of what the full study was meant to reach and what it found, of docs/goals.toml and docs/studies/*.json.

usage: scripts/goals.py FOLDER   the Markdown goes to standard output

Met: the whole interval is at or below the goal; missed: all of it is above; else the interval holds the goal, and on which
side the estimate lies is said.
"""

import json
import math
import pathlib
import statistics
import sys
import tomllib

SUITES = ("AES_256", "AEGIS_256X4")
# Student's t, 97.5 %, for 2 sessions and more.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


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


def beside(found, other):
    """What an arm takes of what another takes, both beside the same control: of their sessions, as the lab works out its ratios."""
    if found is None or other is None:
        return None
    others = dict(other["by_session"])
    logs = [math.log1p(ratio) - math.log1p(others[session]) for session, ratio in found["by_session"] if session in others]
    if len(logs) < 2 or len(logs) - 2 >= len(STUDENT):
        return None
    center = statistics.mean(logs)
    half = STUDENT[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs))
    return {"ratio": math.expm1(center), "interval": [math.expm1(center - half), math.expm1(center + half)]}


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


def whole(studies, rows):
    """The table of work on a whole database; nothing if none of it was measured."""
    rows = [row for row in rows if row["study"] in studies]
    if not rows:
        return
    print("### A whole database at once\n")
    print("Elapsed time of the operation / of the one after the slash, done to the unencrypted copy in the")
    print("same run, with 95 % intervals; then CPU time, shared by the cores; then elapsed time relative to")
    print("AES_256 where there is a goal.\n")
    print("| work | suite | goal | elapsed | | CPU | goal | beside AES_256 | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        first = effect(studies, row, "AES_256", "elapsed")
        for suite in row["suites"]:
            found = effect(studies, row, suite, "elapsed")
            cells = [row["work"], suite, f"{row['goal']:.2f}", ratio(found), judged(found, row["goal"])]
            cells.append(ratio(effect(studies, row, suite, "cpu")))
            if "of_AES_256" in row and suite != "AES_256":
                near = beside(found, first)
                cells += [f"{row['of_AES_256']:.2f}", ratio(near), judged(near, row["of_AES_256"])]
            else:
                cells += ["", "", ""]
            print("| " + " | ".join(cells) + " |")
    print()


def level(studies, row, arm, metric):
    """What a block of an arm took, the median; None where it was not measured."""
    for cell in studies.get(row["study"], {}).get("cells", []):
        if cell["name"] == row["cell"]:
            return cell["levels"].get(arm, {}).get("metrics", {}).get(metric)
    return None


def backups(studies, rows):
    """The table of backups; nothing if none of it was measured."""
    rows = [row for row in rows if row["study"] in studies]
    if not rows:
        return
    print("### Backups\n")
    print("CPU time with its 95 % interval; sizes and memory are medians. Suite NONE is Selenite's layout")
    print("without encryption: a SHA-256 a page instead of a cipher. Its backup is encrypted as all backups")
    print("are.\n")
    print("| work | suite | goal | measured | |")
    print("|---|---|---|---|---|")
    for row in rows:
        for suite in SUITES:
            if row["measure"] == "none":
                found = (effect(studies, row, suite, "cpu") or {}).get("against_none")
                goal, text, verdict = f"{row['goal']:.2f}", ratio(found), judged(found, row["goal"])
            else:
                metric = "peak-memory" if row["measure"] == "memory" else "archive-bytes"
                value = level(studies, row, suite, metric)
                beside = {
                    "size": level(studies, row, "plain", metric),
                    "share": level(studies, row, suite, "database-bytes"),
                    "memory": 1,
                }[row["measure"]]
                share = value / beside if value and beside else None
                form = "{:,.0f}" if row["measure"] == "memory" else "{:.3f}"
                goal, text = form.format(row["goal"]), "-" if share is None else form.format(share)
                verdict = "not measured" if share is None else "met" if share <= row["goal"] else "**missed**"
            print("| " + " | ".join((row["work"], suite, goal, text, verdict)) + " |")
    print()


def transit(studies, rows):
    """The table of what a server sends; nothing if it was not measured."""
    rows = [row for row in rows if row["study"] in studies]
    if not rows:
        return
    print("### What a server sends\n")
    print("The loop of 100 million iterations; the server's process alone. Ratios and differences are")
    print("relative to the same server without encryption in the same run, with 95 % intervals; a figure")
    print("without one is a median.\n")
    print("| work | encryption | goal | measured | |")
    print("|---|---|---|---|---|")
    for row in rows:
        cell = next(cell for cell in studies[row["study"]]["cells"] if cell["name"] == row["cell"])
        for arm in row["suites"]:
            text, verdict = "-", "not measured"
            found, taken = effect(studies, row, arm, "cpu"), cell["levels"].get(arm)
            if row["measure"] == "packet" and found and found.get("per_page_ns"):
                middle, low, high = (bound / 1000 for bound in found["per_page_ns"])
                text = f"{middle:.2f} ({low:.2f} to {high:.2f})"
                verdict = "met" if high <= row["goal"] else "**missed**" if low > row["goal"] else "within the interval"
            elif row["measure"] == "switches":
                found = effect(studies, row, arm, "switches")
                text, verdict = ratio(found), judged(found, row["goal"])
            elif row["measure"] in ("turns", "each") and taken:
                metrics = taken["metrics"]
                turns = taken["operations"] / metrics["cpu"] * 1e9
                value = turns if row["measure"] == "turns" else metrics["switches"] / taken["pages"]
                text = f"{value:,.0f}" if row["measure"] == "turns" else f"{value:.2f}"
                verdict = "met" if value >= row["goal"] else "**missed**"
            goal = f"{row['goal']:,}"
            print("| " + " | ".join((row["work"], arm, goal, text, verdict)) + " |")
    print()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    goals = tomllib.loads((folder.parent / "goals.toml").read_text())
    rows = goals["rows"]
    studies = {
        row["study"]: json.loads((folder / f"{row['study']}.json").read_text())
        for row in rows + goals["whole"] + goals["backup"] + goals["transit"]
        if (folder / f"{row['study']}.json").exists()
    }
    print("## Against the goals\n")
    print("CPU time (elapsed time where stated) of Selenite / stock SQLite in the same run with its 95 %")
    print("interval, beside the goal; then elapsed time, whose goal is 1.00, and CPU time relative to suite")
    print("NONE.\n")
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
    whole(studies, goals["whole"])
    backups(studies, goals["backup"])
    transit(studies, goals["transit"])


if __name__ == "__main__":
    main()

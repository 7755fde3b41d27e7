"""Writes sequential.json beside this file: how often a measurement of one arm after the other errs, by enumeration of
all that it may draw, for crates/lab/stats/tests/stats/sequential.rs.

Run: python3 testdata/stats/sequential.py (needs Python alone).
"""

import json
import math
import pathlib
import random

SEED = 20261124


def centred(sessions, arm):
    means = [sum(session[arm]) / len(session[arm]) for session in sessions]
    centre = sum(means) / len(means)
    enlarged = math.sqrt(len(means) / (len(means) - 1))
    instances = [(mean - centre) * enlarged for mean in means]
    courses = [[value - mean for value in session[arm]] for session, mean in zip(sessions, means)]
    return instances, courses


def stretches(courses, place, runs):
    """All (probability, runs, place after them) of successive runs from a place on."""
    if runs == 0:
        yield 1.0, [], place
        return
    session, at = place
    if at >= len(courses[session]):
        places = [(1 / len(courses), (other, 0)) for other in range(len(courses))]
    else:
        places = [(1.0, place)]
    for chance, (session, at) in places:
        for rest, values, after in stretches(courses, (session, at + 1), runs - 1):
            yield chance * rest, [courses[session][at], *values], after


def errors(sessions, runs, restarted):
    """All (probability, error)."""
    (first, second) = (centred(sessions, 0), centred(sessions, 1))
    count = len(sessions)
    log_mean = lambda values: math.log(sum(map(math.exp, values)) / len(values))
    for session in range(count):
        starts = len(first[1][session])
        for start in range(starts):
            for chance, before, after in stretches(first[1], (session, start), runs):
                if restarted:
                    others = [other for other in range(count) if other != session]
                    begun = [
                        (1 / len(others) / len(second[1][other]), other, (other, at))
                        for other in others
                        for at in range(len(second[1][other]))
                    ]
                else:
                    begun = [(1.0, session, after)]
                for more, other, place in begun:
                    for rest, later, _ in stretches(second[1], place, runs):
                        error = second[0][other] - first[0][session] + log_mean(later) - log_mean(before)
                        yield chance * more * rest / count / starts, error


def main():
    source = random.Random(SEED)
    cases = []
    for count, length, runs, restarted in [(3, 4, 1, False), (3, 4, 1, True), (4, 3, 2, False), (3, 3, 3, True), (2, 2, 5, False)]:
        sessions = []
        for _ in range(count):
            drift = source.gauss(0, 0.03)
            level = [source.gauss(0, 0.04), 0.05 + source.gauss(0, 0.04)]
            session = [[], []]
            for _ in range(length):
                drift = 0.8 * drift + source.gauss(0, 0.02)
                for arm in (0, 1):
                    session[arm].append(round(level[arm] + drift + source.gauss(0, 0.01), 6))
            sessions.append(session)
        found = sorted((error, chance) for chance, error in errors(sessions, runs, restarted))
        assert abs(sum(chance for _, chance in found) - 1) < 1e-9
        share = lambda is_one: sum(chance for error, chance in found if is_one(error))
        cases.append(
            {
                "sessions": sessions,
                "runs": runs,
                "restarted": restarted,
                "false_alarms": [[size, share(lambda e: e >= size)] for size in (0.0101, 0.0502)],
                "false_savings": [[size, share(lambda e: e <= size)] for size in (-0.0101, -0.0502)],
                "wrong_signs": [[size, share(lambda e: e + size < 0)] for size in (0.0101, 0.0502)],
                "mean": sum(error * chance for error, chance in found),
            }
        )
    path = pathlib.Path(__file__).with_name("sequential.json")
    path.write_text(json.dumps({"seed": SEED, "cases": cases}, indent=1) + "\n")


main()

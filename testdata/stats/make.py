"""Writes golden.json beside this file: what SciPy and brute force say about samples, for crates/lab/stats/tests/stats/golden.rs.

Run: python3 testdata/stats/make.py (needs numpy and scipy; the versions used are recorded in the file).
"""

import itertools
import json
import pathlib
import platform

import numpy
import scipy
from scipy import optimize, stats

SEED = 20261121


def walsh(values):
    values = numpy.asarray(values)
    return numpy.sort([(a + b) / 2 for a, b in itertools.combinations_with_replacement(values, 2)])


def signed_rank_p_value(values, location, method):
    return stats.wilcoxon(values - location, zero_method="wilcox", correction=method == "approx", method=method).pvalue


def signed_rank_ends(values, confidence):
    """Inverts SciPy's exact test: the locations between two neighbouring means that it does not reject."""
    means = walsh(values)
    if signed_rank_p_value(values, means[0] - 1, "exact") > 1 - confidence:
        return None
    between = (means[1:] + means[:-1]) / 2
    kept = [
        index
        for index, location in enumerate(between)
        if signed_rank_p_value(values, location, "exact") > 1 - confidence
    ]
    return [means[kept[0]], means[kept[-1] + 1]]


def samples(random):
    for size in (1, 2, 3, 5, 6, 7, 8, 10, 13, 16, 20, 25):
        yield random.normal(0.02, 0.05, size)
        yield 0.01 + 0.04 * random.standard_t(3, size)
    yield numpy.array([0.01] * 6 + [0.35, 0.02])


def locations(random):
    found = []
    for values in samples(random):
        means = walsh(values)
        # Ties with the location have no exact distribution in SciPy.
        distinct = len(set(numpy.round(means, 12))) == len(means)
        interval = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values)) if len(values) > 1 else None
        found.append(
            {
                "values": list(values),
                "hodges_lehmann": float(numpy.median(means)),
                "signed_rank": {
                    str(confidence): signed_rank_ends(values, confidence) if len(values) > 1 and distinct else None
                    for confidence in (0.8, 0.95, 0.99)
                },
                "has_signed_rank": bool(len(values) > 1 and distinct),
                "t": interval and list(interval),
                "median": float(numpy.median(values)),
                "mad": float(stats.median_abs_deviation(values)),
            }
        )
    return found


def large(random):
    """Above 25 values: the interval's ends by the normal approximation, from SciPy's own p-values."""
    found = []
    for size in (26, 40, 64):
        values = random.normal(0.02, 0.05, size)
        means = walsh(values)
        between = (means[1:] + means[:-1]) / 2
        kept = [i for i, location in enumerate(between) if signed_rank_p_value(values, location, "approx") > 0.05]
        found.append({"values": list(values), "signed_rank": [means[kept[0]], means[kept[-1] + 1]]})
    return found


def quantiles():
    grid = itertools.product((0.0005, 0.025, 0.2, 0.5, 0.8, 0.95, 0.975, 0.995, 0.9999), (1, 2, 4, 7, 15, 63, 500))
    return [[p, freedom, float(stats.t.ppf(p, freedom))] for p, freedom in grid]


def p_values():
    grid = itertools.product((0.0, 0.3, -1.0, 2.5, 6.0, 40.0), (1, 4, 7, 31))
    return [[t, freedom, float(2 * stats.t.sf(abs(t), freedom))] for t, freedom in grid]


def bootstraps(random):
    found = []
    for values in (random.normal(0, 1, 8), random.exponential(1, 12), random.lognormal(0, 1, 30)):
        result = stats.bootstrap(
            (values,), numpy.mean, n_resamples=200_000, method="BCa", confidence_level=0.95, rng=SEED, batch=1000
        )
        ends = result.confidence_interval
        found.append({"values": list(values), "interval": [float(ends.low), float(ends.high)]})
    return found


def adjusted_by_definition(p_values):
    """Holm by closed testing: a hypothesis falls if every set of hypotheses that has it falls by Bonferroni."""
    count = len(p_values)
    sets = [s for size in range(1, count + 1) for s in itertools.combinations(range(count), size)]
    return [
        max(min(1.0, len(s) * min(p_values[i] for i in s)) for s in sets if index in s) for index in range(count)
    ]


def holms(random):
    cases = [random.uniform(0, 1, size) ** 3 for size in (1, 2, 4, 7, 9)] + [numpy.array([0.01, 0.01, 0.2, 1.0, 0.0])]
    return [{"p": list(case), "adjusted": [float(p) for p in adjusted_by_definition(case)]} for case in cases]


def smallest_effects():
    """The standardised mean that a t test of so many values finds with the power, by the noncentral t."""

    def power_of(effect, count):
        edge = stats.t.ppf(0.975, count - 1)
        shift = effect * numpy.sqrt(count)
        # The other tail is far below the tolerance of the comparison.
        return stats.nct.sf(edge, count - 1, shift)

    grid = itertools.product((5, 6, 8, 12, 16, 32, 64), (0.8, 0.9))
    return [
        [count, power, float(optimize.brentq(lambda effect: power_of(effect, count) - power, 0.2, 3))]
        for count, power in grid
    ]


def main():
    random = numpy.random.default_rng(SEED)
    golden = {
        "made_with": {"python": platform.python_version(), "numpy": numpy.__version__, "scipy": scipy.__version__},
        "seed": SEED,
        "locations": locations(random),
        "large": large(random),
        "t_quantiles": quantiles(),
        "t_p_values": p_values(),
        "bca": bootstraps(random),
        "holm": holms(random),
        "smallest_effects": smallest_effects(),
    }
    path = pathlib.Path(__file__).with_name("golden.json")
    path.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Damaged files and random options for every reader: accepted or refused, never a traceback.

Runs for the given time, goes through all kinds of inputs again and again, and prints the smallest
input that Hypothesis finds for every failure.
"""

import os
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
os.environ.setdefault("COLUMNS", "100")
from inputs import TARGETS, tally

# Inputs of a kind in one round; files of models go through five commands each.
EXAMPLES = {"claims": 20, "model": 30, "multinet": 20, "gbnc": 30, "skops": 20}


def failure(kind, number):
    """Try inputs of a kind; the traceback of the smallest one that fails, or None."""
    generate, use = TARGETS[kind]

    @seed(number)
    @settings(
        max_examples=EXAMPLES.get(kind, 300),
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(generate())
    def check(content):
        use(content)

    try:
        check()
    except Exception as error:
        lines = traceback.format_exception(error)
        return f"{''.join(lines[-6:])[:3000]}\n{' '.join(getattr(error, '__notes__', ()))[:2000]}"
    return None


def main(minutes=1.0, number=0, kinds=()):
    end, failures, rounds = time.monotonic() + 60 * minutes, Counter(), 0
    while time.monotonic() < end:
        for kind in kinds or TARGETS:
            wrong = failure(kind, number + rounds)
            if wrong is not None:
                failures[kind] += 1
                print(f"{kind}, seed {number + rounds}:\n{wrong}")
                print(f"reproduce: bash scripts/fuzz inputs 0.01 {number + rounds} {kind}\n")
            if time.monotonic() >= end:
                break
        rounds += 1
        done = sum(tally.values())
        print(f"round {rounds}: {done} inputs, failures {dict(failures)}", flush=True)
    for key, times in sorted(tally.items()):
        print(f"{' '.join(key):<32}{times:>8}")
    return 1 if failures else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(
        main(
            float(arguments[0]) if arguments else 1.0,
            int(arguments[1]) if len(arguments) > 1 else 0,
            arguments[2:],
        )
    )

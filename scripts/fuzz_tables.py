"""Read, learn from and predict random tables: never a traceback, never a silent loss.

Prints the seed and the complaint for every table that is treated wrongly.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from random_tables import complaint


def main(number=2000, seed=0):
    tally = Counter()
    with tempfile.TemporaryDirectory() as name:
        for k in range(seed, seed + number):
            wrong = complaint(k, Path(name))
            tally["refused" if wrong is None else "wrong" if wrong else "learned from"] += 1
            if wrong:
                print(f"seed {k}: {wrong}\nreproduce: bash scripts/fuzz tables 1 {k}", flush=True)
            if (k + 1 - seed) % 100 == 0:
                print(f"{k + 1 - seed} tables: {dict(tally)}", flush=True)
    print(f"{number} tables (seeds {seed} to {seed + number - 1}): {dict(tally)}")
    return 1 if tally["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))

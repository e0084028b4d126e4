"""Forge certificates of random problems: none may prove less than brute force finds.

One in ten changes a true certificate in one to four places, and one in ten writes a proof from
nothing: random rows, the largest and the smallest multipliers, random branchings, removals with
large limits, families left out for worse ones, and claims below the best score. The others are
those of an adversary who sees inside the checker, and takes the multipliers that prove the least
from a linear program. A forgery is refused, or it proves a bound that is true. The structure of the
run is not shown to the checker: a bound below its score would be refused for that alone.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
import pytest
from adversary import Adversary
from certified import WEAK, certified, certified_resolutions, certified_sights, solvable
from forged import changed, written

from milpbn.engines.branch_and_cut import node_processor as worker
from milpbn.errors import CertificateError

# Forgeries of one problem.
_PER_PROBLEM = 400


def problem(seed, folder):
    """A random problem with its certificate, which has a tree."""
    path, kind = folder / "c.gz", seed % 4
    if kind == 3:
        return certified_resolutions(seed, path)
    if kind == 2:
        return certified_sights(seed, path)
    return certified(solvable(seed % 2000), path)


def forgery(rng, case, adversary):
    """What a forged certificate proves, or None; and its lines."""
    kind = rng.random()
    if kind < 0.8:
        return adversary.attack()
    lines = changed(rng, case) if kind < 0.9 else written(rng, case)
    try:
        return case.check(lines, alone=True).bound, lines
    except CertificateError:
        return None, lines


def main(tries=10_000, seed=None):
    seed = int(time.time()) if seed is None else seed
    patch = pytest.MonkeyPatch()
    for name, value in WEAK.items():
        patch.setattr(worker, name, value)
    done = accepted = problems = 0
    with tempfile.TemporaryDirectory() as folder:
        while done < tries:
            own = seed + problems
            problems += 1
            try:
                case = problem(own, Path(folder))
            except pytest.skip.Exception:
                continue
            rng, least = np.random.default_rng(own), 1e-9 * max(1.0, abs(case.best))
            adversary = Adversary(case, rng)
            for k in range(min(_PER_PROBLEM, tries - done)):
                bound, lines = forgery(rng, case, adversary)
                done, accepted = done + 1, accepted + (bound is not None)
                if bound is not None and bound < case.best - least:
                    print(f"problem {own}, try {k}: {bound!r} < {case.best!r}")
                    print("\n".join(map(json.dumps, lines)))
                    return 1
            if problems % 25 == 0:
                print(f"{done:,} forgeries of {problems} problems", flush=True)
    print(
        f"{done:,} forgeries of {problems} problems (seeds {seed} to {seed + problems - 1}): "
        f"{done - accepted:,} refused, {accepted:,} true, none proves less than brute force"
    )
    return 0


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:3]]
    sys.exit(main(*numbers))

"""``python -m milpbn.compile``: compile the numerical code once, at installation.

Without it, the first runs compile what they need, which takes some seconds. The machine code is
stored where later runs find it; see :mod:`milpbn.compiled`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from milpbn import compiled
from milpbn.bar import Bar
from milpbn.datasets import load_dataset
from milpbn.estimators import BNClassifier

# Small problems that together call every compiled loop: a data set, and settings. Tables of more
# than eight classes have their own loop, which is compiled when it is needed.
_RUNS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "two classes": ("corral", {}),
    "up to eight classes": ("iris", {"penalty": 0.01}),
    "generative scores": ("iris", {"structure_score": "mdl"}),
    "likelihood of two classes": ("corral", {"structure_score": "cll"}),
    "likelihood of several classes": ("iris", {"structure_score": "cll"}),
    "mutual information": ("iris", {"method": "tan-cmi"}),
    "parameters": ("iris", {"method": "nb", "parameters": "cl:penalty=0.1"}),
    "fine bins": ("iris", {"method": "tan-residual", "parameters": "cl", "bins": "fine"}),
}


def main() -> int:
    """Learn from small data sets, so that everything is compiled and stored."""
    if sys.argv[1:]:
        print("usage: python -m milpbn.compile", file=sys.stderr)
        return 2
    begun, compiled.compile_all = time.perf_counter(), True
    with Bar(sys.stderr, "compiling") as bar:
        for done, (what, (name, settings)) in enumerate(_RUNS.items(), 1):
            _learn(name, settings)
            bar.show(done, len(_RUNS), f"compiled: {what}")
    print(f"{len(compiled.functions)} functions are ready ({time.perf_counter() - begun:.1f} s)")
    return 0


def _learn(name: str, settings: Mapping[str, Any]) -> None:
    table = load_dataset(name)
    model = BNClassifier(time_limit=20.0, **settings).fit(table.features, table.target)
    unknown = table.features.mask(table.features.notna(), None)
    model.predict(unknown)
    half = table.features.head(1).copy()
    half.iloc[0, 0] = None
    model.explain(half)


if __name__ == "__main__":
    sys.exit(main())

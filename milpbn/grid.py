"""One data set, several p: the soft margin for a grid of desired probabilities.

A concave cut holds for every gamma once its constant is computed anew, and tables do not
depend on gamma at all. So the runs share tables and cuts, and each starts from the best of
the structures that its neighbours found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from milpbn.anytime import SolveOptions
from milpbn.clock import Clock
from milpbn.encoding.data import EncodedData
from milpbn.engines.relaxation import Pool
from milpbn.errors import OptionError
from milpbn.families import Constraints
from milpbn.learning import SearchSpace, build_objective, run_method
from milpbn.result import Listener, Result, Status
from milpbn.scores import MarginObjective, MarginScore, Score, applicable_settings, make_score
from milpbn.search.local_search import LocalSearch
from milpbn.structure import Structure


def learn_grid(
    data: EncodedData,
    ps: Sequence[float],
    *,
    score: str = "sm",
    method: str = "branch-and-cut",
    smoothing: str = "laplace",
    max_parents: int = 2,
    class_parents: bool = True,
    constraints: Constraints | None = None,
    time_limit: float | None = None,
    options: SolveOptions | None = None,
    listener: Listener | None = None,
) -> dict[float, Result]:
    """Solve for every p of a grid, in increasing order.

    Parameters
    ----------
    data
        Encoded rows.
    ps
        Desired class probabilities.
    score
        ``"sm"`` or ``"sbm"``.
    method
        An exact engine; branch-and-cut shares its cuts over the grid.
    smoothing, max_parents, class_parents, constraints, options, listener
        See :func:`milpbn.learn_structure`.
    time_limit
        Seconds for the whole grid; every p gets an equal share of what is left.

    Returns
    -------
    dict
        Results by p. After Ctrl-C only those that were begun.

    Examples
    --------
    >>> from milpbn import Encoder, load_dataset
    >>> table = load_dataset("iris")
    >>> data = Encoder.fit(table).encode(table)
    >>> results = learn_grid(data, [0.9, 0.6], max_parents=1)
    >>> [(p, str(r.status), round(r.objective, 4)) for p, r in results.items()]
    [(0.6, 'optimal', 46.1784), (0.9, 'optimal', 298.8924)]
    """
    scores = {
        p: make_score(score, **applicable_settings(score, {"p": p, "smoothing": smoothing}))
        for p in ps
    }
    space = SearchSpace(max_parents, class_parents, constraints)
    runs = run_grid(
        data,
        scores,
        space,
        method=method,
        clock=Clock(time_limit),
        options=options,
        listener=None if listener is None else lambda p: listener,
    )
    return dict(runs)


def run_grid(
    data: EncodedData,
    scores: Mapping[float, Score],
    space: SearchSpace,
    *,
    method: str,
    clock: Clock,
    options: SolveOptions | None = None,
    listener: Callable[[float], Listener] | None = None,
) -> Iterator[tuple[float, Result]]:
    """Solve for each score in increasing order of p, and give each result as it comes.

    See :func:`learn_grid`; `listener` makes the listener of a p.
    """
    options = options or SolveOptions()
    if not scores:
        raise OptionError("the grid of p is empty")
    ordered = sorted(scores.items())
    limit = options.memory_limit
    first = build_objective(data, ordered[0][1], space, clock=clock, memory_limit=limit)
    if not isinstance(first, MarginObjective):
        raise OptionError(f"a grid of p needs a margin score, not {ordered[0][1].name}")
    clock.close_phase("scoring")
    pool = Pool() if method == "branch-and-cut" else None
    found: list[Structure] = []
    for k, (p, score) in enumerate(ordered):
        assert isinstance(score, MarginScore)
        objective = replace(first, gamma=score.hinge)
        part = Clock(clock.remaining / (len(ordered) - k))
        best = max(found, key=lambda s: objective.value(objective.space.families(s)), default=None)
        result = run_method(
            data,
            score,
            space,
            method=method,
            clock=part,
            start=LocalSearch.name,
            begin=best,
            options=options,
            listener=None if listener is None else listener(p),
            objective=objective,
            pool=pool,
        )
        assert isinstance(result.structure, Structure)  # engines do not learn multinets
        found.append(result.structure)
        yield p, result
        if result.status is Status.INTERRUPTED:
            return

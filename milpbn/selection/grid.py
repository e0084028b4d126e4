"""The soft margin for a grid of desired probabilities p or of penalties, on one data set.

Tables depend neither on gamma nor on the penalty, so the runs share them, and each starts from the
best of the structures that its neighbours found. A concave cut holds for every gamma once its
constant is recomputed, so runs with different p share their cuts, too. Cuts would also hold for
every penalty, which is a separate linear cost; but those of a sparse optimum are of little use for
a dense one and make the linear programs larger: sharing them took 1.3 to 1.7 times as long on heart
and crx.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Unpack

from milpbn.clock import Clock
from milpbn.encoding.data import EncodedData
from milpbn.engines.branch_and_cut.rows import Pool
from milpbn.errors import OptionError
from milpbn.learning.maximise import Shared
from milpbn.learning.methods import engine_of
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import Settings, settings_for_codes
from milpbn.learning.structure import run_method
from milpbn.result import Listener, Result, Status
from milpbn.scores import Objective, Score
from milpbn.settings import SettingNames
from milpbn.structure import Structure


def learn_grid(
    data: EncodedData,
    ps: Sequence[float],
    *,
    listener: Listener | None = None,
    **settings: Unpack[SettingNames],
) -> dict[float, Result]:
    """Solve for every p of a grid, in increasing order.

    Parameters
    ----------
    data
        Encoded rows.
    ps
        Desired class probabilities.
    listener
        Called with every any-time event.
    settings
        As for :func:`milpbn.learn_structure`, with a margin score and an exact engine;
        branch-and-cut shares its cuts over the grid. The time limit is for the whole grid:
        every p gets an equal share of what is left.

    Returns
    -------
    dict
        The results, by p. After Ctrl-C, only those of the runs that had begun.

    Examples
    --------
    >>> from milpbn import Encoder, load_dataset
    >>> table = load_dataset("iris")
    >>> data = Encoder.fit(table).encode(table)
    >>> results = learn_grid(data, [0.9, 0.6], max_parents=1)
    >>> [(p, str(r.status), round(r.objective, 4)) for p, r in results.items()]
    [(0.6, 'optimal', 46.1784), (0.9, 'optimal', 298.8924)]
    """
    made = settings_for_codes(**settings).for_variables(data.variables)
    runs = run_grid(
        data,
        settings_by_p(made, ps),
        clock=Clock(made.time_limit),
        listener=None if listener is None else lambda p: listener,
    )
    return dict(runs)


def settings_by_p(settings: Settings, ps: Sequence[float]) -> dict[float, Settings]:
    """The settings of each run of a grid, in increasing order of p."""
    score = settings.score
    if "p" not in score.parameter_names():
        raise OptionError(f"a grid of p needs a margin score, not {score.name}, which has no p")
    if not ps:
        raise OptionError("the grid of p is empty")
    return {p: replace(settings, score=score.with_settings(p=p, gamma=None)) for p in sorted(ps)}


def settings_by_penalty(settings: Settings, penalties: Sequence[float]) -> dict[float, Settings]:
    """The settings of each run of a path, from the largest penalty down."""
    score = penalised_score(settings)
    ordered = sorted(set(penalties), reverse=True)
    return {x: replace(settings, score=score.with_settings(penalty=x)) for x in ordered}


def penalised_score(settings: Settings) -> Score:
    """The score of the settings, which must have a penalty."""
    if "penalty" not in settings.score.parameter_names():
        raise OptionError(
            f"a path needs a score with a penalty for parameters, not {settings.score.name}"
        )
    return settings.score


def grid_objective(data: EncodedData, settings: Settings, clock: Clock) -> Objective:
    """The objective whose tables all runs of a grid share; `settings` has the least penalty."""
    objective = build_objective(
        data,
        settings.score,
        settings.space,
        clock=clock,
        options=settings.options,
    )
    clock.close_phase("scoring")
    return objective


def run_grid(
    data: EncodedData,
    runs: dict[float, Settings],
    *,
    clock: Clock,
    listener: Callable[[float], Listener] | None = None,
    objective: Objective | None = None,
    share_cuts: bool = True,
) -> Iterator[tuple[float, Result]]:
    """Solve for each p or penalty in turn, and yield each result as it comes.

    `runs` comes from :func:`settings_by_p` or :func:`settings_by_penalty`; `listener` returns the
    listener for a value. The time that is left is shared out equally over the runs that are left.
    """
    settings = next(iter(runs.values()))
    first = objective or grid_objective(data, settings, clock)
    engine = engine_of(settings.method)
    pool = Pool() if share_cuts and engine is not None and engine.shares_cuts else None
    found: list[Structure] = []
    for k, (value, own) in enumerate(runs.items()):
        objective = first.with_score(own.score)
        result = run_method(
            data,
            own,
            clock=Clock(clock.remaining / (len(runs) - k)),
            listener=None if listener is None else listener(value),
            shared=Shared(objective, tuple(found), pool),
        )
        assert isinstance(result.structure, Structure)  # engines do not learn multinets
        found.append(result.structure)
        yield value, result
        if result.status is Status.INTERRUPTED:
            return

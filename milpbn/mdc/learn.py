"""The chain from a table to a GBNC; the command line, the estimator and folds all call it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from milpbn.anytime import SolveOptions
from milpbn.clock import Clock, OutOfTime
from milpbn.datasets.table import Table
from milpbn.errors import TimeLimitError
from milpbn.learning.maximise import maximise
from milpbn.learning.settings import Settings
from milpbn.mdc.base_estimators import Base
from milpbn.mdc.candidates import ParentChoice, parent_choices
from milpbn.mdc.dynamic import best_score
from milpbn.mdc.features import FeatureEncoder
from milpbn.mdc.local_models import Fits, LocalModel, weight_parameter
from milpbn.mdc.local_scores import LocalScore, make_local_score
from milpbn.mdc.model import GBNCModel
from milpbn.mdc.regularisation import ChosenBase, choose_base
from milpbn.mdc.rescore import check_equal, score_by_prediction
from milpbn.mdc.rows import TrainingRows, class_states, encode_rows
from milpbn.mdc.score import HeldOutCLL, PenalisedCLL
from milpbn.mdc.settings import GBNCSettings
from milpbn.mdc.training import TrainedFamilies, Trainer, TrainingListener, best_class_network
from milpbn.result import Listener, Result, Status, TracePoint
from milpbn.scores import LinearObjective
from milpbn.structure import Structure

# A simple start with variable 0 as the parent of all others is not naive Bayes here.
_SOURCES = {"naive-bayes": "star"}
# Up to this many class variables the optimum is computed a second time, in milliseconds.
_CROSS_CHECK = 10
# The part of a time limit that is reserved for the class network: share, and maximum in seconds.
_SOLVE_SHARE, _SOLVE_SECONDS = 0.1, 5.0
# The part of the rest that the choice of the base models may take.
_CHOICE_SHARE = 0.3


@dataclass(frozen=True)
class Trained:
    """Base models of the families that a class network may choose from.

    Attributes
    ----------
    settings
        The settings of the run.
    encoder, rows, classes, data
        How features are encoded, the encoded rows, the labels of each class variable, and where
        the rows came from.
    base, bases
        The kind of base model that was chosen, and an untrained one for each class variable.
    score
        What families score.
    families
        The families, their base models and their scores.
    fits
        How the training of base models went.
    """

    settings: GBNCSettings
    encoder: FeatureEncoder
    rows: TrainingRows
    classes: dict[str, Any]
    data: dict[str, Any]
    base: Base
    bases: Sequence[Any]
    score: LocalScore
    families: TrainedFamilies
    fits: Fits

    @property
    def objective(self) -> LinearObjective:
        """The scores of the families, whose sum the class network maximises."""
        return self.families.objective


def learn_gbnc(
    table: Table,
    settings: GBNCSettings | None = None,
    *,
    clock: Clock | None = None,
    listener: Listener | None = None,
    watch: TrainingListener | None = None,
) -> GBNCModel:
    """Learn base models and the class network from the training rows of a table.

    Parameters
    ----------
    table
        The rows; held-out rows are not used.
    settings
        The settings of the run.
    clock
        A running clock; by default a new one with the time limit of the settings.
    listener
        Called with every any-time event of the class network.
    watch
        Called with the progress of the training of base models.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> from milpbn.mdc.base_estimators import make_base
    >>> settings = GBNCSettings(make_base("gaussian-nb"), max_parents=1)
    >>> model = learn_gbnc(load_dataset("Jura"), settings)
    >>> str(model.result.status), list(model.classes)
    ('optimal', ['class_1', 'class_2'])
    """
    settings = settings or GBNCSettings()
    clock = clock or Clock(settings.time_limit)
    return choose_network(train_families(table, settings, clock, watch), clock, listener)


def train_families(
    table: Table, settings: GBNCSettings, clock: Clock, watch: TrainingListener | None = None
) -> Trained:
    """The first half of :func:`learn_gbnc`: base models for every family that may be needed."""
    table = table.train()
    encoder, rows = encode_rows(table, settings.mixed)
    clock.close_phase("encoding")
    choices = parent_choices(
        rows.nodes,
        max_parents=settings.max_parents,
        max_discrete_parents=settings.max_discrete_parents,
        constraints=settings.constraints,
    )
    # Part of the time is reserved for the class network.
    reserve = min(_SOLVE_SECONDS, _SOLVE_SHARE * clock.limit)
    limited = clock if np.isinf(clock.limit) else clock.until(clock.end - reserve)
    chosen = _choose(rows, choices, settings, limited)
    if settings.chooses:
        clock.close_phase("choosing")
    bases = base_estimators(chosen.base, rows, settings)
    score = make_local_score(rows, settings.validation, settings.seed or 0)
    trainer = Trainer(
        rows, choices, bases, score, n_jobs=settings.n_jobs, clock=limited, listener=watch
    )
    if not chosen.finished:
        trainer.fits.messages.add(
            f"the time limit ended the choice of the base models early; {chosen.base} is the best "
            "one so far"
        )
    try:
        families = trainer.run()
    except OutOfTime:
        raise TimeLimitError(
            f"the time limit of {clock.limit:g} s was reached before every class variable had a "
            "base model; allow more time"
        ) from None
    clock.close_phase("training")
    classes = {name: np.array(s, dtype=object) for name, s in class_states(table).items()}
    data = describe_table(table)
    more = chosen.base, bases, score, families, trainer.fits
    return Trained(settings, encoder, rows, classes, data, *more)


def _choose(
    rows: TrainingRows, choices: Sequence[ParentChoice], settings: GBNCSettings, clock: Clock
) -> ChosenBase:
    """The settings of the base models, chosen in a part of the time."""
    return choose_base(
        settings.base,
        rows,
        [[c.forced, *c.extensions(c.forced)] for c in choices],
        partial(best_class_network, rows.nodes),
        seed=settings.seed or 0,
        n_jobs=settings.n_jobs,
        clock=clock.until(clock.elapsed + _CHOICE_SHARE * clock.remaining),
    )


def base_estimators(base: Base, rows: TrainingRows, settings: GBNCSettings) -> list[Any]:
    """An untrained base model for each class variable."""
    n_columns, cards = rows.matrix.shape[1], rows.nodes.cards[: rows.nodes.d]
    made = [base.estimator(n_columns, card, settings.base_seed) for card in cards]
    if rows.weights is not None:
        weight_parameter(made[0])
    return made


def choose_network(trained: Trained, clock: Clock, listener: Listener | None = None) -> GBNCModel:
    """The second half of :func:`learn_gbnc`: the class network with the highest score."""
    rows, families = trained.rows, trained.families
    result = _solve(trained, clock, listener)
    assert isinstance(result.structure, Structure)
    chosen = trained.objective.space.families(result.structure)[: rows.nodes.d]
    models = tuple(families.models[f] for f in chosen)
    again = score_by_prediction(models, trained.bases, rows, trained.score)
    check_equal("prediction", again, "training", result.objective)
    clock.close_phase("checking")
    return GBNCModel(
        trained.encoder,
        trained.classes,
        models,
        replace(
            result,
            structure=_shown(result.structure, models, rows.nodes.d),
            seconds=dict(clock.phases),
        ),
        families.training,
        trained.settings,
        trained.base,
        trained.data,
        trained.fits,
    )


def _shown(structure: Structure, models: Sequence[LocalModel], d: int) -> Structure:
    """The structure without the features that no class variable uses."""
    names = structure.variables
    used = sorted({p for m in models for p in m.parents if p >= d})
    return Structure.from_arcs((*names[:d], *(names[p] for p in used)), structure.arcs)


def _solve(trained: Trained, clock: Clock, listener: Listener | None) -> Result:
    """The best class network over the families that were scored."""
    settings, families, d = trained.settings, trained.families, trained.rows.nodes.d
    bound, start = families.open_bound, settings.start
    seed = settings.seed or 0

    def covering(point: TracePoint) -> TracePoint:
        point = replace(point, source=_SOURCES.get(point.source, point.source))
        # Families that were never scored: every bound must cover them too.
        if bound is None or point.bound is None:
            return point
        return replace(point, bound=max(point.bound, bound))

    result = maximise(
        families.objective,
        Settings(
            score=_score_of(trained),
            method=settings.engine,
            start=families.nearest(start) if isinstance(start, Structure) else start,
            start_source=settings.start_source,
            options=SolveOptions(seed=seed, emit=settings.emit),
        ),
        clock,
        None if listener is None else lambda point: listener(covering(point)),
    )
    if result.status is Status.OPTIMAL and d <= _CROSS_CHECK:
        second = best_score(families.objective, d)
        check_equal("dynamic programming", second, "the engine", result.objective)
    result = replace(
        result,
        source=_SOURCES.get(result.source, result.source),
        trace=tuple(map(covering, result.trace)),
    )
    return result if bound is None else replace(result, status=families.status, bound=bound)


def _score_of(trained: Trained) -> PenalisedCLL:
    """The score in reports."""
    settings = trained.settings
    told = trained.objective, "base models", str(settings.base), settings.mixed
    if settings.validation is None:
        return PenalisedCLL(*told)
    return HeldOutCLL(*told, validation=settings.validation, fold_seed=settings.seed or 0)


def describe_table(table: Table) -> dict[str, Any]:
    """Which rows were used, so that they can be found and read again."""
    return {
        **table.source,
        "name": table.name,
        "n_rows": len(table),
        "missing": table.missing,
        "readings": {name: r.to_dict() for name, r in table.readings.items()},
    }
